// SPDX-License-Identifier: Apache-2.0
//
// The SOP: parameters, inputs, cooking, messages.
#include "plugin/houdini/sop.hpp"
#include "plugin/host/network/guides.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/houdini/cooking.hpp"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/scheduler.hpp"
#include "plugin/houdini/text_files.h"

#include "geo/drift.h"
#include "meniscus/stream.h"

#include <CH/CH_Manager.h>
#include <GU/GU_Detail.h>
#include <SOP/SOP_NodeVerb.h>
#include <UT/UT_Interrupt.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace mn_houdini
{

// ---- life ----

sop::sop(OP_Network *network, const char *name, OP_Operator *op) : SOP_Node(network, name, op)
{
    char type_name[MN_HOUDINI_NAME];
    if (mn_houdini_type_name(op->getName().c_str(), type_name)) type = mn_houdini_find_type(type_name);
    mn_hooks hooks = {};
    hooks.user = this;
    hooks.cancelled = cancelled;
    hooks.progress = progress;
    hooks.scheduler = scheduler();
    ctx = mn_context_create(&hooks);
    if (ctx && type && type->sim) mn_sim_create(ctx, type, &sim);
    mySopFlags.setManagesDataIDs(true); // write_detail() says what it has changed
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
    mn_geo_free(written_geo);
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

const SOP_NodeVerb *sop::cookVerb() const
{
    if (!type || type->sim) return nullptr;
    return SOP_NodeVerb::lookupVerb(getOperator()->getName());
}

sop::asks_of_input::result sop::isRefInput(asks_of_input::argument input) const
{
    return type && mn_node_looks_at(type, static_cast<int32_t>(input));
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
    evaluate_parm(*this, type->parms[parm], CHgetTimeFromFrame(frame),
                  strings_elsewhere[static_cast<size_t>(parm)], value);
}

void sop::parm_at(void *user, int32_t parm, double frame, mn_parm_value *value)
{
    static_cast<sop *>(user)->evaluate_one(parm, frame, value);
}

mn_status sop::evaluate(double frame, std::vector<mn_parm_value> &values)
{
    for (int32_t i = 0; i < type->parm_count; i++) {
        const auto at = static_cast<size_t>(i);
        evaluate_parm(*this, type->parms[i], CHgetTimeFromFrame(frame), strings[at], &values[at]);
    }
    return check_parms(ctx, *type, getName().c_str(), values);
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
    return check_inputs(ctx, *type, getName().c_str(), inputs);
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
    return cook_stateless(cook, cooked);
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

/// Asked for without work: a frame that was simulated, or one before the start.
bool sop::is_there(double frame)
{
    std::vector<mn_parm_value> values(parms.size());
    const double whole = std::floor(frame);
    for (int32_t i = 0; i < type->parm_count; i++) evaluate_one(i, whole, &values[static_cast<size_t>(i)]);
    const double start = mn_parm_number(type, values.data(), "start_frame", whole);
    return mn_sim_is_cached(sim, static_cast<int32_t>(std::max(whole, start)));
}

/// `outputs`: bits of those that are read, 0 for all.
mn_status sop::simulate(double frame, uint64_t outputs, mn_cooked **cooked)
{
    if (!sim) return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory.");
    flags().setTimeDep(true);
    held = !evalInt(MN_HOUDINI_SIMULATE, 0, CHgetTimeFromFrame(frame)) && (edited || !is_there(frame));
    if (held) return MN_ERROR_CANCELLED;
    between = 0;
    if (frame > std::floor(frame) && evalInt(MN_HOUDINI_SUBFRAMES, 0, CHgetTimeFromFrame(frame))) {
        MN_TRY(evaluate(std::floor(frame), parms));
        if (frame > mn_parm_number(type, parms.data(), "start_frame", frame))
            between = (frame - std::floor(frame)) *
                      mn_sim_dt(type, parms.data(), CHgetManager()->getSamplesPerSec());
    }
    const auto megabytes = static_cast<int64_t>(evalInt(MN_HOUDINI_CACHE, 0, CHgetTimeFromFrame(frame)));
    mn_sim_set_cache_limit(sim, megabytes << 20);
    mn_sim_host host = {};
    host.user = this;
    host.node_name = getName().c_str();
    host.services = mn_host_services();
    host.fps = CHgetManager()->getSamplesPerSec();
    // Nothing above the inputs can be seen from here, so the driver compares what arrives.
    UT_String initial;
    evalString(initial, MN_HOUDINI_INITIAL, 0, CHgetTimeFromFrame(frame));
    host.initial_state = initial.isstring() ? initial.c_str() : nullptr;
    host.recipe = initial.isstring() ? mn_hash_bytes(1, initial.c_str(), std::strlen(initial.c_str()))
                                     : MN_SIM_NO_RECIPE + 1;
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
    write_checkpoint(host, path.c_str(), every);
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
void sop::write_checkpoint(const mn_sim_host &host, const char *path, int32_t every)
{
    const int32_t newest = mn_sim_snapshot_frame(sim, INT32_MAX);
    if (newest == INT32_MIN || newest == written) return;
    if (written != INT32_MIN && newest > written && newest - written < std::max<int32_t>(every, 1)) return;
    if (written == INT32_MIN && newest % std::max<int32_t>(every, 1) != 0) return;
    if (mn_sim_write_checkpoint(sim, host.recipe, newest, path) == MN_OK)
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
    held = false;
    between = 0;
    const mn_status status =
        type->sim ? simulate(frame, uint64_t(1) << output, cooked) : cook_once(frame, cooked);
    if (status != MN_OK) edited = true; // look again at everything when it is tried again
    current = nullptr;
    return status;
}

static const char HELD[] =
    "Simulation is off on the playbar, so this frame is not made; the last one is shown.";
static const char CANCELLED[] = "Cancelled; the frames made so far are kept.";

/// A failure on the node, where the artist looks. A cancel is Houdini's own to show.
void sop::say(mn_status status)
{
    if (status == MN_ERROR_CANCELLED) {
        addWarning(SOP_MESSAGE, held ? HELD : CANCELLED);
        if (type && type->sim) flags().setTimeDep(true); // another frame is cooked, not this one shown again
    } else
        addError(SOP_MESSAGE, sentence_of(ctx, status));
}

/// Between two frames points go on by their velocity, so that motion blur of several samples sees them move.
mn_status sop::write_moved(const mn_geo *geo, GU_Detail &detail)
{
    mn_geo *moved;
    MN_TRY(mn_geo_copy(geo, &moved));
    mn_status status = mn_geo_drift(moved, between);
    if (status == MN_OK) status = write_detail(ctx, moved, detail);
    mn_geo_free(moved);
    return status;
}

/// Into this node's own detail, which holds what was written last: only what is another is written again.
mn_status sop::write_own(const mn_geo *geo)
{
    mn_geo *last = written_into == gdp->getUniqueId() ? written_geo : nullptr;
    mn_status status = between > 0 ? write_moved(geo, *gdp) : update_detail(ctx, geo, last, *gdp);
    mn_geo_free(written_geo);
    written_geo = nullptr;
    if (status == MN_OK && type->sim && between == 0) status = mn_geo_copy(geo, &written_geo);
    written_into = gdp->getUniqueId();
    return status;
}

OP_ERROR sop::cookMySop(OP_Context &context)
{
    mn_cooked *cooked;
    mn_status status = cook_outputs(context, 0, &cooked);
    if (status == MN_OK) status = write_own(cooked->outputs[0]);
    if (status != MN_OK) say(status);
    mn_cooked_release(cooked);
    return error();
}

mn_status sop::give_output(OP_Context &context, int output, GU_Detail &detail, std::string &sentence)
{
    if (!type || output < 0 || output >= type->output_count) {
        sentence = std::string("'") + getName().c_str() + "' has " +
                   std::to_string(type ? type->output_count : 0) + " outputs; output " +
                   std::to_string(output + 1) + " is not one of them.";
        return MN_ERROR_INPUT;
    }
    mn_cooked *cooked;
    mn_status status = cook_outputs(context, output, &cooked);
    if (status == MN_OK)
        status = between > 0 ? write_moved(cooked->outputs[output], detail)
                             : write_detail(ctx, cooked->outputs[output], detail);
    mn_cooked_release(cooked);
    if (status == MN_ERROR_CANCELLED) sentence = held ? HELD : CANCELLED;
    if (status != MN_OK && status != MN_ERROR_CANCELLED) sentence = sentence_of(ctx, status);
    return status;
}

GU_DetailHandle sop::cookMySopOutput(OP_Context &context, int output, SOP_Node *interests)
{
    if (output <= 0 || !type || output >= type->output_count)
        return SOP_Node::cookMySopOutput(context, output, interests);
    GU_DetailHandle result;
    std::string sentence;
    auto *detail = new GU_Detail();
    result.allocateAndSet(detail);
    const mn_status status = give_output(context, output, *detail, sentence);
    if (status == MN_OK) return result;
    say(status);
    return {};
}

} // namespace mn_houdini
