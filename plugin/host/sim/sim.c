// SPDX-License-Identifier: Apache-2.0
//
// What happens at a frame: create, advance, load and emit, in the order that sim.h promises.
#include "plugin/host/sim/sim.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/float_mode.h"
#include "meniscus/stream.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/sim/sim_state.h"

enum { LARGEST_FRAME = 10000000 };

uint64_t mn_sim_signature(const mn_sim *sim, const mn_sim_sample *sample)
{
    const uint64_t hash = mn_hash_u64(mn_parm_hash(0, sim->type, sample->parms), sample->stamp);
    return hash ? hash : 1;
}

int32_t mn_sim_start_frame(const mn_sim *sim, const mn_parm_value *parms)
{
    return (int32_t)mn_parm_number(sim->type, parms, "start_frame", 1);
}

double mn_sim_dt(const mn_node_type *type, const mn_parm_value *parms, double fps)
{
    return mn_parm_number(type, parms, "time_scale", 1) / fps;
}

// ---- calls of the node ----

static void lose_state(mn_sim *sim)
{
    if (sim->state) sim->type->sim->free(sim->ctx, sim->state);
    sim->state = NULL;
}

static mn_cook cook_at(const mn_sim *sim, const mn_sim_host *host, int32_t frame, const mn_sim_sample *sample)
{
    const mn_cook cook = {
        .ctx = sim->ctx,
        .services = host->services,
        .type = sim->type,
        .node_name = host->node_name,
        .parms = sample->parms,
        .inputs = sample->inputs,
        .input_count = sample->input_count,
        .input_keys = sample->input_keys,
        .frame = frame,
        .fps = host->fps,
        .dt = mn_sim_dt(sim->type, sample->parms, host->fps),
        .warn = host->warn,
        .warn_user = host->user,
        .parm_at = host->parm_at,
        .parm_user = host->user,
    };
    return cook;
}

static mn_status append_bytes(void *user, const void *bytes, size_t size)
{
    mn_sim_snapshot *snapshot = ((void **)user)[0];
    mn_context *ctx = ((void **)user)[1];
    const int64_t at = snapshot->bytes.count;
    MN_TRY(mn_array_resize(ctx, &snapshot->bytes, at + (int64_t)size));
    memcpy(snapshot->bytes.data + at, bytes, size);
    return MN_OK;
}

static mn_status take_snapshot(mn_sim *sim, const mn_cook *cook, uint64_t signature)
{
    mn_sim_snapshot snapshot = {.frame = sim->state_frame, .signature = signature};
    void *sink[2] = {&snapshot, sim->ctx};
    mn_writer out = {sim->ctx, sink, append_bytes};
    // Most states keep their size from frame to frame: room for the last one is room enough.
    const mn_sim_snapshot *last = mn_sim_find_snapshot(sim, INT32_MAX);
    mn_status status = mn_array_reserve(sim->ctx, &snapshot.bytes, last ? last->bytes.count : 0);
    if (status == MN_OK) status = sim->type->sim->save(cook, sim->state, &out);
    if (status == MN_OK) status = mn_sim_keep_snapshot(sim, &snapshot);
    mn_array_free(sim->ctx, &snapshot.bytes);
    return status;
}

typedef struct byte_source {
    mn_context *ctx;
    const uint8_t *at;
    size_t left;
} byte_source;

static mn_status take_bytes(void *user, void *bytes, size_t size)
{
    byte_source *source = user;
    if (size > source->left) return mn_fail(source->ctx, MN_ERROR_FORMAT, "The saved state ends too early.");
    memcpy(bytes, source->at, size);
    source->at += size;
    source->left -= size;
    return MN_OK;
}

mn_status mn_sim_read_snapshot(const mn_sim *sim, const mn_cook *cook, const mn_sim_snapshot *snapshot,
                               void **state)
{
    mn_cook alone = *cook;
    alone.inputs = NULL;
    alone.input_count = 0;
    byte_source source = {sim->ctx, snapshot->bytes.data, (size_t)snapshot->bytes.count};
    mn_reader in = {sim->ctx, &source, take_bytes};
    *state = NULL;
    return sim->type->sim->load(&alone, &in, state);
}

mn_status mn_sim_load_snapshot(mn_sim *sim, const mn_sim_host *host, const mn_sim_snapshot *snapshot)
{
    lose_state(sim);
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, snapshot->frame, MN_SIM_PARMS, &sample));
    const mn_cook cook = cook_at(sim, host, snapshot->frame, &sample);
    void *state;
    const mn_status status = mn_sim_read_snapshot(sim, &cook, snapshot, &state);
    if (status != MN_OK) return mn_node_blame(sim->ctx, sim->type, host->node_name, status);
    sim->state = state;
    sim->state_frame = snapshot->frame;
    sim->state_seconds = 0;
    return MN_OK;
}

static void total_seconds(mn_report *report, double seconds)
{
    mn_timer_begin(&report->seconds, "total");
    for (int32_t i = 0; i < report->seconds.count; i++)
        if (strcmp(report->seconds.name[i], "total") == 0) report->seconds.seconds[i] = seconds;
}

static bool wants(const mn_sim *sim, int32_t output)
{
    return sim->outputs == 0 || output >= 64 || (sim->outputs >> output & 1) != 0;
}

// Makes the outputs that somebody reads and that are not there yet, from the current state.
static mn_status emit_missing(mn_sim *sim, const mn_cook *cook, mn_cooked *cooked)
{
    for (int32_t i = 0; i < cooked->count; i++) {
        if (cooked->outputs[i] || !wants(sim, i)) continue;
        MN_TRY(sim->type->sim->emit(cook, sim->state, i, &cooked->outputs[i]));
        if (!cooked->outputs[i])
            return mn_fail(sim->ctx, MN_ERROR_UNSUPPORTED, "output %d was not made.", (int)i + 1);
    }
    return MN_OK;
}

// Outputs of the current state, kept as its frame.
static mn_status emit_frame(mn_sim *sim, const mn_cook *cook)
{
    const double begun = mn_seconds();
    mn_cooked *cooked;
    MN_TRY(mn_cooked_create(sim->ctx, sim->type->output_count, &cooked));
    mn_status status = emit_missing(sim, cook, cooked);
    if (status == MN_OK) {
        mn_report report = {0};
        if (sim->type->sim->report) sim->type->sim->report(sim->state, &report);
        total_seconds(&report, sim->state_seconds + mn_seconds() - begun);
        status = mn_sim_keep_frame(sim, sim->state_frame, cooked, &report);
    }
    mn_cooked_release(cooked);
    return status;
}

// The cached frame with every output that is read, or NULL.
static mn_sim_frame *find_whole_frame(const mn_sim *sim, int32_t frame)
{
    mn_sim_frame *found = mn_sim_find_frame(sim, frame);
    for (int32_t i = 0; found && i < sim->type->output_count; i++)
        if (wants(sim, i) && !found->cooked->outputs[i]) return NULL;
    return found;
}

static bool comes_back(mn_status status)
{
    return status != MN_ERROR_CANCELLED && status != MN_ERROR_MEMORY && status != MN_ERROR_IO;
}

static mn_status remember_failure(mn_sim *sim, const mn_sim_host *host, int32_t frame, mn_status status)
{
    lose_state(sim);
    (void)mn_node_blame(sim->ctx, sim->type, host->node_name, status);
    if (host->recipe_is_whole && comes_back(status)) {
        sim->failure = status;
        sim->failure_frame = frame;
        snprintf(sim->failure_sentence, sizeof sim->failure_sentence, "%s", mn_context_message(sim->ctx));
    }
    return status;
}

uint64_t mn_sim_known_signature(const mn_sim *sim, int32_t frame)
{
    const int64_t at = (int64_t)frame - sim->start;
    return at >= 0 && at < sim->signatures.count ? sim->signatures.data[at] : 0;
}

mn_status mn_sim_note_signature(mn_sim *sim, int32_t frame, uint64_t signature)
{
    const uint64_t known = mn_sim_known_signature(sim, frame);
    if (known != 0 && known != signature) mn_sim_forget_from(sim, frame);
    const int64_t at = (int64_t)frame - sim->start, old_count = sim->signatures.count;
    if (at >= old_count) {
        MN_TRY(mn_array_resize(sim->ctx, &sim->signatures, at + 1));
        memset(sim->signatures.data + old_count, 0, mn_bytes(at + 1 - old_count, sizeof signature));
    }
    sim->signatures.data[at] = signature;
    return MN_OK;
}

static mn_status create_or_advance(mn_sim *sim, const mn_cook *cook, const char *initial)
{
    if (sim->state) return sim->type->sim->advance(cook, sim->state);
    void *state = NULL;
    MN_TRY(initial ? mn_sim_read_initial(sim, cook, initial, &state) : sim->type->sim->create(cook, &state));
    sim->state = state;
    return MN_OK;
}

// Creates the state at the start frame, or advances it by one frame, and keeps what comes out.
static mn_status step(mn_sim *sim, const mn_sim_host *host, int32_t frame)
{
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, frame, MN_SIM_INPUTS, &sample));
    // With a whole recipe nothing is compared: contents are looked at when a checkpoint is written.
    const uint64_t signature = host->recipe_is_whole ? 0 : mn_sim_signature(sim, &sample);
    if (signature != 0) MN_TRY(mn_sim_note_signature(sim, frame, signature));
    const mn_cook cook = cook_at(sim, host, frame, &sample);
    const double begun = mn_seconds();
    const mn_status status = create_or_advance(sim, &cook, host->initial_state);
    if (status != MN_OK) return remember_failure(sim, host, frame, status);
    sim->state_seconds = mn_seconds() - begun;
    sim->state_frame = frame;
    sim->step_count++;
    mn_status kept = emit_frame(sim, &cook);
    if (kept == MN_OK) kept = take_snapshot(sim, &cook, signature);
    return kept == MN_OK ? MN_OK : mn_node_blame(sim->ctx, sim->type, host->node_name, kept);
}

// ---- from where to where ----

void mn_sim_reset(mn_sim *sim)
{
    lose_state(sim);
    mn_sim_forget_from(sim, INT32_MIN);
    sim->signatures.count = 0;
    sim->recipe = MN_SIM_NO_RECIPE;
}

static mn_status looks_changed(mn_sim *sim, const mn_sim_host *host, int32_t frame, bool *changed)
{
    const uint64_t known = mn_sim_known_signature(sim, frame);
    if (*changed || known == 0) return MN_OK;
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, frame, MN_SIM_STAMP, &sample));
    *changed = known != mn_sim_signature(sim, &sample);
    return MN_OK;
}

// Starts again when the simulation is not the one that is remembered.
static mn_status notice_change(mn_sim *sim, const mn_sim_host *host, int32_t start, int32_t target)
{
    bool changed = host->recipe != sim->recipe || start != sim->start;
    if (!changed && !host->recipe_is_whole) {
        if (host->look == MN_SIM_LOOK_ALL) MN_TRY(looks_changed(sim, host, start, &changed));
        if (host->look != MN_SIM_LOOK_NONE) MN_TRY(looks_changed(sim, host, target, &changed));
    }
    if (changed) mn_sim_reset(sim);
    sim->recipe = host->recipe;
    sim->start = start;
    return MN_OK;
}

// Brings the state as near before `target` as memory allows; no state means that it has to be created.
static mn_status go_back(mn_sim *sim, const mn_sim_host *host, int32_t target)
{
    if (sim->state && sim->state_frame > target) lose_state(sim);
    const mn_sim_snapshot *snapshot = mn_sim_find_snapshot(sim, target);
    if (snapshot && (!sim->state || sim->state_frame < snapshot->frame))
        return mn_sim_load_snapshot(sim, host, snapshot);
    return MN_OK;
}

static mn_status go_on(mn_sim *sim, const mn_sim_host *host, int32_t target)
{
    const int32_t first = sim->state ? sim->state_frame + 1 : sim->start;
    const double frames = (double)target - first + 1;
    for (int32_t frame = first; frame <= target; frame++) {
        MN_TRY(mn_check_cancelled(sim->ctx));
        char what[160];
        snprintf(what, sizeof what, "%.120s: frame %d", host->node_name, (int)frame);
        const mn_progress_part around =
            mn_progress_enter(sim->ctx, (frame - first) / frames, (frame - first + 1) / frames);
        mn_progress(sim->ctx, 0, what);
        const mn_status status = step(sim, host, frame);
        mn_progress_leave(sim->ctx, around);
        MN_TRY(status);
    }
    return MN_OK;
}

// The frame of a state that was loaded, or whose frame has left the cache, or lacks an output.
static mn_status emit_again(mn_sim *sim, const mn_sim_host *host, int32_t frame)
{
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, frame, MN_SIM_INPUTS, &sample));
    const mn_cook cook = cook_at(sim, host, frame, &sample);
    mn_sim_frame *found = mn_sim_find_frame(sim, frame);
    mn_status status = found ? emit_missing(sim, &cook, found->cooked) : emit_frame(sim, &cook);
    if (status == MN_OK && found) mn_sim_weigh_frame(sim, found);
    return status == MN_OK ? MN_OK : mn_node_blame(sim->ctx, sim->type, host->node_name, status);
}

static mn_status make_frame(mn_sim *sim, const mn_sim_host *host, int32_t target)
{
    if (sim->failure != MN_OK && target >= sim->failure_frame)
        return mn_fail(sim->ctx, sim->failure, "%s", sim->failure_sentence);
    MN_TRY(go_back(sim, host, target));
    MN_TRY(go_on(sim, host, target));
    return find_whole_frame(sim, target) ? MN_OK : emit_again(sim, host, target);
}

double mn_sim_snap_frame(double frame)
{
    const double rounding = 1e-6; // frames; the worst over nine rates and 100,000 frames is 1.5e-11
    const double nearest = round(frame);
    return fabs(frame - nearest) < rounding ? nearest : frame;
}

static mn_status cook_in_mode(mn_sim *sim, const mn_sim_host *host, double frame, mn_cooked **cooked)
{
    *cooked = NULL;
    if (!(fabs(frame) <= LARGEST_FRAME))
        return mn_fail(sim->ctx, MN_ERROR_ARGUMENT, "%s '%s': frame %g is not between %d and %d.",
                       sim->type->name, host->node_name, frame, -LARGEST_FRAME, LARGEST_FRAME);
    const int32_t whole = (int32_t)floor(mn_sim_snap_frame(frame));
    mn_sim_sample sample = {0};
    MN_TRY(host->sample(host->user, whole, MN_SIM_PARMS, &sample));
    const int32_t start = mn_sim_start_frame(sim, sample.parms);
    const int32_t target = whole > start ? whole : start;
    MN_TRY(notice_change(sim, host, start, target));
    sim->outputs = host->outputs == 0 ? 0 : sim->outputs | host->outputs;
    if (!find_whole_frame(sim, target)) MN_TRY(make_frame(sim, host, target));
    mn_sim_frame *found = mn_sim_find_frame(sim, target);
    found->last_use = ++sim->use_count;
    sim->report = found->report;
    *cooked = mn_cooked_retain(found->cooked);
    return MN_OK;
}

mn_status mn_sim_cook(mn_sim *sim, const mn_sim_host *host, double frame, mn_cooked **cooked)
{
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = cook_in_mode(sim, host, frame, cooked);
    mn_float_mode_restore(mode);
    return status;
}

mn_status mn_sim_create(mn_context *ctx, const mn_node_type *type, mn_sim **sim)
{
    *sim = mn_allocate_zero(ctx, sizeof **sim);
    if (!*sim) return MN_ERROR_MEMORY;
    (*sim)->ctx = ctx;
    (*sim)->type = type;
    (*sim)->cache_limit = MN_SIM_CACHE_LIMIT;
    return MN_OK;
}

void mn_sim_free(mn_sim *sim)
{
    if (!sim) return;
    mn_sim_reset(sim);
    mn_array_free(sim->ctx, &sim->signatures);
    mn_array_free(sim->ctx, &sim->frames);
    mn_array_free(sim->ctx, &sim->snapshots);
    mn_release(sim->ctx, sim, sizeof *sim);
}

int64_t mn_sim_step_count(const mn_sim *sim)
{
    return sim->step_count;
}

const mn_report *mn_sim_report(const mn_sim *sim)
{
    return &sim->report;
}
