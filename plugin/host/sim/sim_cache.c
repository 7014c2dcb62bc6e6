// SPDX-License-Identifier: Apache-2.0
//
// What a simulation keeps in memory: frames (least recently used out first) and snapshots (thinned evenly).
#include <limits.h>
#include <string.h>

#include "plugin/host/sim/sim_state.h"

// The newest snapshot stays whatever the limit: it is the way back to the last good frame.
enum { SNAPSHOT_SHARE = 4 }; // snapshots take one part in four of the limit

static int64_t frame_bytes(const mn_cooked *cooked)
{
    return mn_cooked_bytes(cooked) + (int64_t)sizeof(mn_sim_frame);
}

static void remove_frame(mn_sim *sim, int64_t index)
{
    mn_sim_frame *frame = &sim->frames.data[index];
    sim->frame_bytes -= frame->bytes;
    mn_cooked_release(frame->cooked);
    *frame = sim->frames.data[--sim->frames.count];
}

static void remove_snapshot(mn_sim *sim, int64_t index)
{
    mn_sim_snapshot *snapshot = &sim->snapshots.data[index];
    sim->snapshot_bytes -= snapshot->bytes.capacity;
    mn_array_free(sim->ctx, &snapshot->bytes);
    sim->snapshots.count--;
    memmove(snapshot, snapshot + 1, mn_bytes(sim->snapshots.count - index, sizeof *snapshot));
}

mn_sim_frame *mn_sim_find_frame(const mn_sim *sim, int32_t frame)
{
    for (int64_t i = 0; i < sim->frames.count; i++)
        if (sim->frames.data[i].frame == frame) return &sim->frames.data[i];
    return NULL;
}

// The snapshot, not the newest, whose neighbours are nearest to each other. The start frame counts as a
// neighbour before the first, since going back to it costs nothing.
static int64_t least_useful_snapshot(const mn_sim *sim)
{
    int64_t best = -1;
    int64_t smallest_gap = INT64_MAX;
    for (int64_t i = 0; i + 1 < sim->snapshots.count; i++) {
        const int64_t before = i > 0 ? sim->snapshots.data[i - 1].frame : sim->start;
        const int64_t gap = sim->snapshots.data[i + 1].frame - before;
        if (gap < smallest_gap) smallest_gap = gap, best = i;
    }
    return best;
}

static int64_t least_recent_frame(const mn_sim *sim)
{
    int64_t oldest = 0;
    for (int64_t i = 1; i < sim->frames.count; i++)
        if (sim->frames.data[i].last_use < sim->frames.data[oldest].last_use) oldest = i;
    return oldest;
}

void mn_sim_trim(mn_sim *sim)
{
    while (sim->snapshot_bytes > sim->cache_limit / SNAPSHOT_SHARE) {
        const int64_t index = least_useful_snapshot(sim);
        if (index < 0) break;
        remove_snapshot(sim, index);
    }
    // The frame used last is the one that a caller is about to get: it stays.
    while (sim->frames.count > 1 && sim->frame_bytes + sim->snapshot_bytes > sim->cache_limit)
        remove_frame(sim, least_recent_frame(sim));
}

mn_status mn_sim_keep_frame(mn_sim *sim, int32_t frame, mn_cooked *cooked, const mn_report *report)
{
    MN_TRY(mn_array_reserve(sim->ctx, &sim->frames, sim->frames.count + 1));
    for (int64_t i = 0; i < sim->frames.count; i++) {
        if (sim->frames.data[i].frame != frame) continue;
        remove_frame(sim, i);
        break;
    }
    const mn_sim_frame kept = {frame, frame_bytes(cooked), ++sim->use_count, mn_cooked_retain(cooked),
                               *report};
    sim->frames.data[sim->frames.count++] = kept;
    sim->frame_bytes += kept.bytes;
    mn_sim_trim(sim);
    return MN_OK;
}

void mn_sim_weigh_frame(mn_sim *sim, mn_sim_frame *frame)
{
    const int64_t bytes = frame_bytes(frame->cooked);
    sim->frame_bytes += bytes - frame->bytes;
    frame->bytes = bytes;
    frame->last_use = ++sim->use_count;
    mn_sim_trim(sim);
}

const mn_sim_snapshot *mn_sim_find_snapshot(const mn_sim *sim, int32_t frame)
{
    for (int64_t i = sim->snapshots.count; i-- > 0;)
        if (sim->snapshots.data[i].frame <= frame) return &sim->snapshots.data[i];
    return NULL;
}

mn_status mn_sim_keep_snapshot(mn_sim *sim, mn_sim_snapshot *snapshot)
{
    MN_TRY(mn_array_reserve(sim->ctx, &sim->snapshots, sim->snapshots.count + 1));
    int64_t at = sim->snapshots.count;
    while (at > 0 && sim->snapshots.data[at - 1].frame >= snapshot->frame) at--;
    if (at < sim->snapshots.count && sim->snapshots.data[at].frame == snapshot->frame)
        remove_snapshot(sim, at);
    memmove(&sim->snapshots.data[at + 1], &sim->snapshots.data[at],
            mn_bytes(sim->snapshots.count - at, sizeof *snapshot));
    sim->snapshots.data[at] = *snapshot;
    sim->snapshots.count++;
    sim->snapshot_bytes += snapshot->bytes.capacity;
    memset(snapshot, 0, sizeof *snapshot);
    mn_sim_trim(sim);
    return MN_OK;
}

void mn_sim_forget_from(mn_sim *sim, int32_t frame)
{
    for (int64_t i = sim->frames.count; i-- > 0;)
        if (sim->frames.data[i].frame >= frame) remove_frame(sim, i);
    for (int64_t i = sim->snapshots.count; i-- > 0;)
        if (sim->snapshots.data[i].frame >= frame) remove_snapshot(sim, i);
    const int64_t known = (int64_t)frame - sim->start;
    if (known < sim->signatures.count) sim->signatures.count = known > 0 ? known : 0;
    if (sim->failure != MN_OK && sim->failure_frame >= frame) sim->failure = MN_OK;
}

void mn_sim_set_cache_limit(mn_sim *sim, int64_t bytes)
{
    sim->cache_limit = bytes > 0 ? bytes : 0;
    mn_sim_trim(sim);
}

int64_t mn_sim_cache_bytes(const mn_sim *sim)
{
    return sim->frame_bytes + sim->snapshot_bytes;
}

bool mn_sim_is_cached(const mn_sim *sim, int32_t frame)
{
    return mn_sim_find_frame(sim, frame < sim->start ? sim->start : frame) != NULL;
}

int32_t mn_sim_snapshot_frame(const mn_sim *sim, int32_t limit)
{
    const mn_sim_snapshot *snapshot = mn_sim_find_snapshot(sim, limit);
    return snapshot ? snapshot->frame : INT32_MIN;
}
