// SPDX-License-Identifier: Apache-2.0
//
// What the driver remembers; shared by sim.c (what happens at a frame), sim_cache.c (what is kept) and
// checkpoint.c (what goes to disk).
#ifndef MENISCUS_PLUGIN_HOST_SIM_SIM_STATE_H
#define MENISCUS_PLUGIN_HOST_SIM_SIM_STATE_H

#include "meniscus/array.h"
#include "plugin/host/sim/sim.h"

typedef struct mn_sim_frame {
    int32_t frame;
    int64_t bytes;
    int64_t last_use; ///< of mn_sim.use_count
    mn_cooked *cooked;
    mn_report report;
} mn_sim_frame;

/// What save() wrote at a frame.
typedef struct mn_sim_snapshot {
    int32_t frame;
    uint64_t signature; ///< of parameters and inputs at that frame; 0: not taken yet
    MN_ARRAY(uint8_t) bytes;
} mn_sim_snapshot;

struct mn_sim {
    mn_context *ctx;
    const mn_node_type *type;

    uint64_t recipe;
    int32_t start; ///< the start frame that everything below belongs to
    /// Signatures of parameters and inputs at frames start, start + 1, ...; 0 where none was seen.
    MN_ARRAY(uint64_t) signatures;

    void *state; ///< the node's; NULL when lost
    int32_t state_frame;
    double state_seconds; ///< that the last create or advance took

    MN_ARRAY(mn_sim_frame) frames;       ///< in no order
    MN_ARRAY(mn_sim_snapshot) snapshots; ///< frames rising
    int64_t cache_limit, frame_bytes, snapshot_bytes;
    int64_t use_count;
    uint64_t outputs; ///< bits of those that were ever asked for

    mn_status failure; ///< MN_OK: none remembered
    int32_t failure_frame;
    char failure_sentence[1024];

    int64_t step_count;
    mn_report report;
};

// ---- sim_cache.c ----

/// NULL when it is not cached. Valid until the cache changes.
mn_sim_frame *mn_sim_find_frame(const mn_sim *sim, int32_t frame);
/// Takes a reference of its own and makes room; the new frame itself always stays.
mn_status mn_sim_keep_frame(mn_sim *sim, int32_t frame, mn_cooked *cooked, const mn_report *report);
/// Counts the bytes of a frame again, whose outputs have become more.
void mn_sim_weigh_frame(mn_sim *sim, mn_sim_frame *frame);
/// The latest at or before `frame`, or NULL.
const mn_sim_snapshot *mn_sim_find_snapshot(const mn_sim *sim, int32_t frame);
/// Takes over the bytes, which replace what was there for that frame. On failure they stay the caller's.
mn_status mn_sim_keep_snapshot(mn_sim *sim, mn_sim_snapshot *snapshot);
/// Forgets frames, snapshots and signatures at `frame` and after it.
void mn_sim_forget_from(mn_sim *sim, int32_t frame);
/// Lets go of what is over the limit.
void mn_sim_trim(mn_sim *sim);

// ---- sim.c ----

/// One number for the parameters and inputs of a sample; never 0.
uint64_t mn_sim_signature(const mn_sim *sim, const mn_sim_sample *sample);
/// The one seen at a frame; 0 when none was.
uint64_t mn_sim_known_signature(const mn_sim *sim, int32_t frame);
/// Another one than was seen there makes that frame and all after it new.
mn_status mn_sim_note_signature(mn_sim *sim, int32_t frame, uint64_t signature);
/// The start frame by these parameters.
int32_t mn_sim_start_frame(const mn_sim *sim, const mn_parm_value *parms);
/// The state of a snapshot, loaded with these parameters and without inputs.
mn_status mn_sim_read_snapshot(const mn_sim *sim, const mn_cook *cook, const mn_sim_snapshot *snapshot,
                               void **state);
/// Makes the snapshot's state the current one.
mn_status mn_sim_load_snapshot(mn_sim *sim, const mn_sim_host *host, const mn_sim_snapshot *snapshot);

// ---- checkpoint.c ----

/// A state out of a checkpoint of whatever parameters, frame and build.
mn_status mn_sim_read_initial(const mn_sim *sim, const mn_cook *cook, const char *path, void **state);

#endif
