// SPDX-License-Identifier: Apache-2.0
//
// The SOP: parameters, inputs, cooking, messages.
#include "plugin/houdini/sop.hpp"
#include "plugin/host/network/guides.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/scheduler.hpp"
#include "plugin/houdini/text_files.h"

#include "base/float_mode.h"
#include "meniscus/stream.h"

#include <CH/CH_Manager.h>
#include <GU/GU_Detail.h>
#include <SOP/SOP_Guide.h>
#include <UT/UT_InfoTree.h>
#include <UT/UT_Interrupt.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

namespace mn_houdini
{

// ---- life ----

sop::sop(OP_Network *network, const char *name, OP_Operator *op) : SOP_Node(network, name, op)
{
    char type_name[MN_HOUDINI_NAME];
    if (mn_houdini_type_name(op->getName().c_str(), type_name)) type = mn_node_type_find(type_name);
    mn_hooks hooks = {};
    hooks.user = this;
    hooks.cancelled = cancelled;
    hooks.progress = progress;
    hooks.scheduler = scheduler();
    ctx = mn_context_create(&hooks);
    if (ctx && type && type->sim) mn_sim_create(ctx, type, &sim);
    if (!type) return;
    mySopFlags.setNeedGuide1(mn_guides_exist(type));
    const auto count = static_cast<size_t>(type->parm_count);
    parms.resize(count);
    strings.resize(count);
    strings_elsewhere.resize(count);
}

sop::~sop()
{
    forget_readings();
    mn_sim_free(sim);
    mn_context_free(ctx);
}

OP_Node *sop::create(OP_Network *network, const char *name, OP_Operator *op)
{
    return new sop(network, name, op);
}

int sop::reset(void *node, int, fpreal64, const PRM_Template *)
{
    auto *self = static_cast<sop *>(static_cast<OP_Node *>(node));
    if (self->sim) mn_sim_reset(self->sim);
    self->is_reset = true;
    self->forceRecook();
    return 1;
}

/// Of a parameter here, a wire, or anything above: the next cook compares all that it knows.
void sop::opChanged(OP_EventType reason, void *data)
{
    SOP_Node::opChanged(reason, data);
    edited = true;
}

/// The last input's stands for all that follow, where it takes many.
const char *sop::label_of(int input) const
{
    return type->input_count > 0 ? type->inputs[std::min(input, type->input_count - 1)].label : "";
}

// ---- what the context asks ----

bool sop::cancelled(void *user)
{
    const auto *self = static_cast<sop *>(user);
    if (!self->current) return false;
    return self->current->interrupt->wasInterrupted(static_cast<int>(100 * self->current->progress));
}

void sop::progress(void *user, double fraction, const char *what)
{
    const auto *self = static_cast<sop *>(user);
    if (!self->current) return;
    self->current->progress = fraction;
    UT_Interrupt *interrupt = UTgetInterrupt();
    if (interrupt && what && *what) interrupt->setLongOpText(what);
}

void sop::warn(void *user, const char *sentence)
{
    auto *self = static_cast<sop *>(user);
    if (self->current && (self->current->silent || !self->current->said.insert(sentence).second)) return;
    self->addWarning(SOP_MESSAGE, sentence);
}

// ---- parameters ----

void sop::evaluate_one(int32_t parm, double frame, mn_parm_value *value)
{
    const mn_parm_def &def = type->parms[parm];
    const fpreal time = CHgetTimeFromFrame(frame);
    if (mn_parm_is_text(&def)) {
        UT_String text;
        evalString(text, def.name, 0, time);
        std::string &kept = strings_elsewhere[static_cast<size_t>(parm)];
        kept = text.isstring() ? text.c_str() : "";
        value->string = kept.c_str();
        return;
    }
    for (int32_t i = 0; i < def.size; i++)
        value->number[i] = def.kind == MN_PARM_FLOAT ? evalFloat(def.name, i, time)
                                                     : static_cast<double>(evalInt(def.name, i, time));
}

void sop::parm_at(void *user, int32_t parm, double frame, mn_parm_value *value)
{
    static_cast<sop *>(user)->evaluate_one(parm, frame, value);
}

mn_status sop::evaluate(double frame, std::vector<mn_parm_value> &values)
{
    for (int32_t i = 0; i < type->parm_count; i++) {
        const auto at = static_cast<size_t>(i);
        evaluate_one(i, frame, &values[at]);
        const mn_parm_def &def = type->parms[i];
        if (mn_parm_is_text(&def)) {
            strings[at] = values[at].string;
            values[at].string = strings[at].c_str();
            continue;
        }
        for (int32_t k = 0; k < def.size; k++)
            MN_TRY(mn_parm_check_number(ctx, type, getName().c_str(), &def, k, values[at].number[k]));
    }
    return MN_OK;
}

// ---- inputs ----

void sop::forget_readings()
{
    inputs.clear();
    for (const reading &last : readings) mn_geo_free(last.geo);
    readings.clear();
}

/// The input's geometry, locked: converted, unless it is what was read last.
mn_status sop::read_input(int input, OP_Context &there)
{
    const GU_Detail *detail = inputGeo(static_cast<unsigned>(input), there);
    if (!detail)
        return mn_fail(ctx, MN_ERROR_INPUT, "Input %d (%s) could not be cooked.", input + 1, label_of(input));
    reading &last = readings[static_cast<size_t>(input)];
    if (!last.geo || last.detail != detail->getUniqueId() || last.count != detail->getMetaCacheCount()) {
        mn_geo_free(last.geo);
        last = {};
        MN_TRY(read_detail(
            ctx, *detail, [&last](const std::string &text) { last.warnings.push_back(text); }, &last.geo));
        last.detail = detail->getUniqueId();
        last.count = detail->getMetaCacheCount();
        last.hash = mn_geo_hash(last.geo);
    }
    for (const std::string &sentence : last.warnings) warn(this, sentence.c_str());
    return MN_OK;
}

/// Cooks the inputs at a frame and takes them over.
mn_status sop::gather(double frame)
{
    inputs.clear();
    input_stamp = 0;
    OP_Context there(*current->context);
    there.setTime(CHgetTimeFromFrame(frame));
    const int count = static_cast<int>(nInputs());
    while (readings.size() > static_cast<size_t>(count)) {
        mn_geo_free(readings.back().geo);
        readings.pop_back();
    }
    readings.resize(static_cast<size_t>(count));
    for (int i = 0; i < count; i++) {
        inputs.push_back(nullptr);
        if (!getInput(static_cast<unsigned>(i))) continue;
        if (lockInput(static_cast<unsigned>(i), there) >= UT_ERROR_ABORT)
            return mn_fail(ctx, MN_ERROR_INPUT, "Input %d (%s) could not be cooked.", i + 1, label_of(i));
        const mn_status status = read_input(i, there);
        unlockInput(static_cast<unsigned>(i));
        MN_TRY(status);
        inputs.back() = readings[static_cast<size_t>(i)].geo;
        input_stamp = mn_hash_u64(input_stamp, readings[static_cast<size_t>(i)].hash);
    }
    for (int32_t i = 0; i < type->input_count; i++) {
        const bool there_is = static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)];
        if (type->inputs[i].required && !there_is)
            return mn_fail(ctx, MN_ERROR_INPUT, "%s '%s': connect input %d (%s): %s.", type->name,
                           getName().c_str(), i + 1, type->inputs[i].label, type->inputs[i].expects);
    }
    return MN_OK;
}

mn_status sop::sample(void *user, int32_t frame, mn_sim_want want, mn_sim_sample *taken)
{
    auto *self = static_cast<sop *>(user);
    MN_TRY(self->evaluate(frame, self->parms));
    taken->parms = self->parms.data();
    if (want == MN_SIM_PARMS) return MN_OK;
    MN_TRY(self->gather(frame));
    taken->inputs = self->inputs.data();
    taken->input_count = static_cast<int32_t>(self->inputs.size());
    taken->stamp = self->input_stamp;
    return MN_OK;
}

// ---- cooking ----

mn_status sop::cook_once(double frame, mn_cooked **cooked)
{
    MN_TRY(evaluate(frame, parms));
    MN_TRY(gather(frame));
    mn_cook cook = {};
    cook.ctx = ctx;
    cook.services = mn_host_services();
    cook.type = type;
    cook.node_name = getName().c_str();
    cook.parms = parms.data();
    cook.inputs = inputs.data();
    cook.input_count = static_cast<int32_t>(inputs.size());
    cook.frame = frame;
    cook.fps = CHgetManager()->getSamplesPerSec();
    cook.warn = warn;
    cook.warn_user = this;
    cook.parm_at = parm_at;
    cook.parm_user = this;
    const bool follows_time = type->is_time_dependent ? type->is_time_dependent(&cook) : type->time_dependent;
    if (follows_time) flags().setTimeDep(true);
    MN_TRY(mn_cooked_create(ctx, type->output_count, cooked));
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = type->cook(&cook, (*cooked)->outputs);
    mn_float_mode_restore(mode);
    if (status == MN_OK) return MN_OK;
    mn_cooked_release(*cooked);
    *cooked = nullptr;
    return mn_node_blame(ctx, type, getName().c_str(), status);
}

/// Comparing the start frame makes Houdini cook everything above at that frame and then back at this one, so
/// it is done after an edit or a jump, and not while frames are played one after the other.
mn_sim_look sop::look_at(double frame)
{
    const double whole = std::floor(frame);
    const mn_sim_look look = edited || (whole != last_frame && whole != last_frame + 1) ? MN_SIM_LOOK_ALL
                             : whole == last_frame                                      ? MN_SIM_LOOK_TARGET
                                                                                        : MN_SIM_LOOK_NONE;
    edited = false; // before the cook: an edit in the middle of it counts
    last_frame = whole;
    return look;
}

/// `outputs`: bits of those that are read, 0 for all.
mn_status sop::simulate(double frame, uint64_t outputs, mn_cooked **cooked)
{
    if (!sim) return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory.");
    flags().setTimeDep(true);
    const auto megabytes = static_cast<int64_t>(evalInt(MN_HOUDINI_CACHE, 0, CHgetTimeFromFrame(frame)));
    mn_sim_set_cache_limit(sim, megabytes << 20);
    mn_sim_host host = {};
    host.user = this;
    host.node_name = getName().c_str();
    host.services = mn_host_services();
    host.fps = CHgetManager()->getSamplesPerSec();
    // Nothing above the inputs can be seen from here, so the driver compares what arrives.
    host.recipe = MN_SIM_NO_RECIPE + 1;
    host.recipe_is_whole = false;
    host.look = look_at(frame);
    host.outputs = outputs;
    host.sample = sample;
    host.warn = warn;
    host.parm_at = parm_at;
    UT_String path;
    evalString(path, MN_HOUDINI_CHECKPOINT, 0, CHgetTimeFromFrame(frame));
    if (!path.isstring()) return mn_sim_cook(sim, &host, frame, cooked);
    if (mn_sim_snapshot_frame(sim, INT32_MAX) == INT32_MIN && !is_reset) resume(host, path.c_str());
    const mn_status status = mn_sim_cook(sim, &host, frame, cooked);
    is_reset = false;
    const auto every =
        static_cast<int32_t>(evalInt(MN_HOUDINI_CHECKPOINT_EVERY, 0, CHgetTimeFromFrame(frame)));
    write_checkpoint(path.c_str(), every);
    return status;
}

/// A new session goes on where the last one stopped. A checkpoint of another set-up is left alone, with a
/// word, until frames are made that replace it.
void sop::resume(const mn_sim_host &host, const char *path)
{
    int32_t frame = INT32_MIN;
    const mn_status status = mn_sim_read_checkpoint(sim, &host, host.recipe, path, &frame);
    if (status == MN_OK) written = frame;
    if (status != MN_OK && status != MN_ERROR_NOT_FOUND) warn(this, mn_context_message(ctx));
}

/// After every so many new frames. A disk that is full must not end the simulation: it is a warning.
void sop::write_checkpoint(const char *path, int32_t every)
{
    const int32_t newest = mn_sim_snapshot_frame(sim, INT32_MAX);
    if (newest == INT32_MIN || newest == written) return;
    if (written != INT32_MIN && newest > written && newest - written < std::max<int32_t>(every, 1)) return;
    if (written == INT32_MIN && newest % std::max<int32_t>(every, 1) != 0) return;
    if (mn_sim_write_checkpoint(sim, MN_SIM_NO_RECIPE + 1, newest, path) == MN_OK)
        written = newest;
    else
        warn(this, mn_context_message(ctx));
}

mn_status sop::cook_outputs(OP_Context &context, int output, mn_cooked **cooked)
{
    *cooked = nullptr;
    if (!ctx || !type) return MN_ERROR_MEMORY;
    UT_AutoInterrupt interrupt(type->label);
    visit now = {&context, &interrupt, 0, false, {}};
    current = &now;
    const double frame = mn_sim_snap_frame(CHgetSampleFromTime(context.getTime()));
    const mn_status status =
        type->sim ? simulate(frame, uint64_t(1) << output, cooked) : cook_once(frame, cooked);
    if (status != MN_OK) edited = true; // look again at everything when it is tried again
    current = nullptr;
    return status;
}

/// A failure on the node, where the artist looks. A cancel is Houdini's own to show.
void sop::say(mn_status status)
{
    const char *sentence = ctx ? mn_context_message(ctx) : "Out of memory.";
    if (status == MN_ERROR_CANCELLED) {
        addWarning(SOP_MESSAGE, "Cancelled; the frames made so far are kept.");
        if (type && type->sim) flags().setTimeDep(true); // another frame is cooked, not this one shown again
    } else
        addError(SOP_MESSAGE, *sentence ? sentence : mn_status_message(status));
}

OP_ERROR sop::cookMySop(OP_Context &context)
{
    mn_cooked *cooked;
    mn_status status = cook_outputs(context, 0, &cooked);
    if (status == MN_OK) status = write_detail(ctx, cooked->outputs[0], *gdp);
    if (status != MN_OK) say(status);
    mn_cooked_release(cooked);
    return error();
}

GU_DetailHandle sop::cookMySopOutput(OP_Context &context, int output, SOP_Node *interests)
{
    if (output <= 0 || !type || output >= type->output_count)
        return SOP_Node::cookMySopOutput(context, output, interests);
    GU_DetailHandle result;
    mn_cooked *cooked;
    mn_status status = cook_outputs(context, output, &cooked);
    if (status == MN_OK) {
        auto *detail = new GU_Detail();
        result.allocateAndSet(detail);
        status = write_detail(ctx, cooked->outputs[output], *detail);
    }
    if (status != MN_OK) say(status);
    mn_cooked_release(cooked);
    return result;
}

std::string sop::give_output(OP_Context &context, int output, GU_Detail &detail)
{
    if (!type || output < 0 || output >= type->output_count)
        return std::string("'") + getName().c_str() + "' has " +
               std::to_string(type ? type->output_count : 0) + " outputs; output " +
               std::to_string(output + 1) + " is not one of them.";
    mn_cooked *cooked;
    mn_status status = cook_outputs(context, output, &cooked);
    if (status == MN_OK) status = write_detail(ctx, cooked->outputs[output], detail);
    mn_cooked_release(cooked);
    if (status == MN_OK) return "";
    const char *sentence = ctx ? mn_context_message(ctx) : "";
    return *sentence ? sentence : mn_status_message(status);
}

// ---- the information window ----

/// What the solver says of the frame that is shown.
void sop::fillInfoTreeNodeSpecific(UT_InfoTree &tree, const OP_NodeInfoTreeParms &asked)
{
    SOP_Node::fillInfoTreeNodeSpecific(tree, asked);
    if (!sim) return;
    UT_InfoTree *branch = tree.addChildMap("Meniscus");
    const mn_report *report = mn_sim_report(sim);
    for (int key = 0; branch && key < MN_REPORT_COUNT; key++) {
        if (!report->set[key]) continue;
        std::string text;
        for (int32_t i = 0; i < mn_report_key_components(static_cast<mn_report_key>(key)); i++) {
            char number[32];
            std::snprintf(number, sizeof number, "%s%.6g", i > 0 ? " " : "", report->value[key][i]);
            text += number;
        }
        branch->addProperties(mn_report_key_name(static_cast<mn_report_key>(key)), text.c_str());
    }
    for (int32_t i = 0; branch && i < report->seconds.count; i++) {
        char number[32];
        std::snprintf(number, sizeof number, "%.3g s", report->seconds.seconds[i]);
        branch->addProperties(report->seconds.name[i], number);
    }
}

// ---- guides ----

/// Lines beside the result: domain, emitters, contact lines. A simulation is asked for the frame that it has
/// just given and for no other, so that a guide never starts one; after a failure or a cancel the guides show
/// what there is without it.
mn_status sop::cook_guides(double frame)
{
    mn_cooked *cooked = nullptr;
    frame = std::floor(frame);
    MN_TRY(evaluate(frame, parms));
    const auto shown =
        static_cast<int32_t>(std::max(frame, mn_parm_number(type, parms.data(), "start_frame", frame)));
    if (sim && mn_sim_is_cached(sim, shown)) simulate(shown, 0, &cooked);
    mn_status status = evaluate(frame, parms);
    if (status == MN_OK) status = gather(frame);
    mn_guide_source source = {};
    source.type = type;
    source.parms = parms.data();
    source.inputs = inputs.data();
    source.input_count = static_cast<int32_t>(inputs.size());
    source.outputs = cooked ? cooked->outputs : nullptr;
    source.fps = CHgetManager()->getSamplesPerSec();
    mn_geo *guides = nullptr;
    if (status == MN_OK) status = mn_guides_create(ctx, &source, &guides);
    if (status == MN_OK) status = write_detail(ctx, guides, *myGuide1);
    mn_geo_free(guides);
    mn_cooked_release(cooked);
    return status;
}

OP_ERROR sop::cookMyGuide1(OP_Context &context)
{
    myGuide1->clearAndDestroy();
    if (!ctx || !type || !mn_guides_exist(type)) return error();
    UT_AutoInterrupt interrupt(type->label);
    visit now = {&context, &interrupt, 0, true, {}};
    current = &now;
    if (type->sim) mySopFlags.setTimeDepGuide1(true);
    if (cook_guides(mn_sim_snap_frame(CHgetSampleFromTime(context.getTime()))) != MN_OK)
        myGuide1->clearAndDestroy();
    current = nullptr;
    return error();
}

} // namespace mn_houdini
