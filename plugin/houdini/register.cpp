// SPDX-License-Identifier: Apache-2.0
//
// What Houdini calls when it loads the plugin: every node type becomes an operator, its dialog made from the
// table.
#include "plugin/houdini/output_sop.hpp"
#include "plugin/houdini/scheduler.hpp"
#include "plugin/houdini/sop.hpp"
#include "plugin/houdini/text_files.h"
#include "plugin/houdini/verb.hpp"
#include "plugin/tbb/tbb_scheduler.h"

#include <list>
#include <string>
#include <vector>

#include <OP/OP_OperatorTable.h>
#include <PRM/PRM_TemplateBuilder.h>
#include <UT/UT_DSOVersion.h>

namespace mn_houdini
{

const mn_scheduler *scheduler()
{
    static mn_scheduler *const tbb = mn_tbb_scheduler_create(0);
    return tbb;
}

/// Houdini keeps pointers to templates and labels, and nothing says that the builder copies its text: all of
/// them stay for good.
template <typename Make> static PRM_TemplateBuilder *builder_of(const char *name, const Make &make)
{
    static std::list<std::string> texts;
    static std::list<PRM_TemplateBuilder> kept;
    mn_context *ctx = mn_context_create(nullptr);
    char *text = nullptr;
    if (!ctx || make(ctx, &text) != MN_OK) {
        mn_context_free(ctx);
        return nullptr;
    }
    texts.emplace_back(text);
    kept.emplace_back(name, texts.back().c_str());
    mn_scene_free_text(ctx, text);
    mn_context_free(ctx);
    return &kept.back();
}

/// Ends with a null. Given to the operator, not by SOP_Node::inputLabel, whose argument's type is not the
/// same in every version of Houdini.
static const char **input_labels_of(const mn_node_type &type)
{
    static std::list<std::vector<const char *>> kept;
    kept.emplace_back();
    for (int32_t i = 0; i < type.input_count; i++) kept.back().push_back(type.inputs[i].label);
    kept.back().push_back(nullptr);
    return kept.back().data();
}

static void register_one(OP_OperatorTable *table, const mn_node_type &type)
{
    PRM_TemplateBuilder *builder = builder_of(
        type.name, [&type](mn_context *ctx, char **text) { return mn_houdini_dialog(ctx, &type, text); });
    if (!builder) return;
    if (type.sim) builder->setCallback(MN_HOUDINI_RESET, PRM_Callback(&sop::reset));
    char name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(type.name, name);
    unsigned least = 0, most = static_cast<unsigned>(type.input_count);
    for (int32_t i = 0; i < type.input_count; i++) {
        if (type.inputs[i].required) least = static_cast<unsigned>(i) + 1;
        if (type.inputs[i].many) most = OP_MULTI_INPUT_MAX;
    }
    const unsigned flags = type.input_count == 0 ? OP_FLAG_GENERATOR : 0;
    auto *op = new OP_Operator(name, type.label, sop::create, builder->templates(), least, most, nullptr,
                               flags, input_labels_of(type), type.output_count, type.menu);
    op->setIconName((std::string("meniscus_") + type.name).c_str());
    table->addOperator(op);
    // Houdini has these itself; ours are for scenes and what is made of them.
    const std::string known = type.name;
    if (known == "file" || known == "merge") table->addOpHidden(name);
    if (!type.sim) register_verb(type, name, builder->templates());
}

static void register_output(OP_OperatorTable *table)
{
    static const char *inputs[] = {MN_HOUDINI_OUTPUT_INPUT, nullptr};
    PRM_TemplateBuilder *builder = builder_of(MN_HOUDINI_OUTPUT, mn_houdini_output_dialog);
    if (!builder) return;
    char name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(MN_HOUDINI_OUTPUT, name);
    auto *op = new OP_Operator(name, MN_HOUDINI_OUTPUT_LABEL, output_sop::create, builder->templates(), 1, 1,
                               nullptr, 0, inputs, 1, "Meniscus");
    op->setIconName("meniscus_" MN_HOUDINI_OUTPUT);
    table->addOperator(op);
}

void register_all(OP_OperatorTable *table)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++) register_one(table, *types[i]);
    register_one(table, mn_houdini_render_geometry);
    register_output(table);
}

} // namespace mn_houdini

extern "C" SYS_VISIBILITY_EXPORT void newSopOperator(OP_OperatorTable *table)
{
    mn_houdini::register_all(table);
}
