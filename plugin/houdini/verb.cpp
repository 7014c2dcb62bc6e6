// SPDX-License-Identifier: Apache-2.0
//
// A cook without a node. Several may run at a time, each with a context of its own.
#include "plugin/houdini/verb.hpp"
#include "plugin/houdini/cooking.hpp"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/scheduler.hpp"

#include "plugin/host/sim/sim.h"

#include <CH/CH_Manager.h>
#include <GU/GU_Detail.h>
#include <SOP/SOP_NodeParmsOptions.h>
#include <UT/UT_Interrupt.h>

#include <memory>

namespace mn_houdini
{

namespace
{

class verb_cache final : public SOP_NodeCacheOptions
{
  public:
    explicit verb_cache(const mn_node_type &of) : type(of) {}
    using SOP_NodeCacheOptions::evalFloat; // for evaluate_parm()
    using SOP_NodeCacheOptions::evalInt;
    using SOP_NodeCacheOptions::evalString;

  protected:
    OP_ERROR cook(OP_Context &context) override;

  private:
    mn_status cook_with(mn_context *ctx, double time);
    mn_status read_inputs(mn_context *ctx, std::vector<mn_geo *> &inputs);
    static void warn(void *user, const char *sentence)
    {
        static_cast<verb_cache *>(user)->addWarning(SOP_MESSAGE, sentence);
    }

    const mn_node_type &type;
};

mn_status verb_cache::read_inputs(mn_context *ctx, std::vector<mn_geo *> &inputs)
{
    const int count = static_cast<int>(nInputs());
    for (int i = 0; i < count; i++) {
        inputs.push_back(nullptr);
        const GU_Detail *detail = inputGeo(i);
        if (!detail) continue;
        MN_TRY(read_detail(
            ctx, *detail, [this](const std::string &text) { addWarning(SOP_MESSAGE, text.c_str()); },
            &inputs.back()));
    }
    return check_inputs(ctx, type, type.name, inputs);
}

mn_status verb_cache::cook_with(mn_context *ctx, double time)
{
    const auto count = static_cast<size_t>(type.parm_count);
    std::vector<mn_parm_value> parms(count);
    std::vector<std::string> strings(count);
    for (size_t i = 0; i < count; i++) evaluate_parm(*this, type.parms[i], time, strings[i], &parms[i]);
    MN_TRY(check_parms(ctx, type, type.name, parms));
    std::vector<mn_geo *> inputs;
    mn_status status = read_inputs(ctx, inputs);
    mn_cook cook = {};
    cook.ctx = ctx;
    cook.type = &type;
    cook.node_name = type.name;
    cook.parms = parms.data();
    cook.inputs = inputs.data();
    cook.input_count = static_cast<int32_t>(inputs.size());
    cook.frame = mn_sim_snap_frame(CHgetSampleFromTime(time));
    cook.warn = warn;
    cook.warn_user = this;
    mn_cooked *cooked = nullptr;
    if (status == MN_OK) status = cook_stateless(cook, &cooked);
    if (status == MN_OK) status = write_detail(ctx, cooked->outputs[0], *gdp);
    mn_cooked_release(cooked);
    for (mn_geo *input : inputs) mn_geo_free(input);
    return status;
}

bool is_cancelled(void *user)
{
    return static_cast<UT_AutoInterrupt *>(user)->wasInterrupted();
}

OP_ERROR verb_cache::cook(OP_Context &context)
{
    UT_AutoInterrupt interrupt(type.label);
    mn_hooks hooks = {};
    hooks.user = &interrupt;
    hooks.cancelled = is_cancelled;
    hooks.scheduler = scheduler();
    mn_context *ctx = mn_context_create(&hooks);
    const mn_status status = ctx ? cook_with(ctx, context.getTime()) : MN_ERROR_MEMORY;
    if (status == MN_ERROR_CANCELLED)
        addWarning(SOP_MESSAGE, "Cancelled.");
    else if (status != MN_OK)
        addError(SOP_MESSAGE, sentence_of(ctx, status));
    mn_context_free(ctx);
    return error();
}

class verb final : public SOP_NodeVerb
{
  public:
    verb(const mn_node_type &of, const char *operator_name, PRM_Template *parameters)
        : type(of), full_name(operator_name), templates(parameters)
    {
    }
    SOP_NodeParms *allocParms() const override { return new SOP_NodeParmsOptions(templates); }
    SOP_NodeCache *allocCache() const override { return new verb_cache(type); }
    UT_StringHolder name() const override { return full_name; }
    CookMode cookMode(const SOP_NodeParms *) const override { return COOK_GENERATOR; }
    void cook(const CookParms &asked) const override
    {
        auto *cache = static_cast<verb_cache *>(asked.cache());
        if (cache) cache->doCook(this, asked);
    }

  private:
    const mn_node_type &type;
    const UT_StringHolder full_name;
    PRM_Template *templates;
};

} // namespace

void register_verb(const mn_node_type &type, const char *operator_name, PRM_Template *templates)
{
    SOP_NodeVerb::registerVerb(new verb(type, operator_name, templates));
}

} // namespace mn_houdini
