// SPDX-License-Identifier: Apache-2.0
//
// The simulation driver: gives a simulating node the same behaviour at frame f in every host.
//
//   f is cached                      that frame
//   f is the next frame              advance once
//   f is later                       advance through, with progress; every frame passed is cached
//   f is earlier and not cached      load the nearest snapshot before it (or create), then advance
//   f is before the start frame      the initial state
//   parameters or inputs changed     forget everything and start again
//   f lies between whole frames      the whole frame before it
//
// What counts as a change. A host says two things. Its `recipe` is a number made from all it knows of how the
// simulation is defined: parameters with their animation, and what is connected. Another recipe is a change.
// An animated parameter is part of the recipe as its keys, not as its value at a frame, so playing it changes
// nothing and editing a key does. A network knows everything above a node, so its recipe is whole and nothing
// more is looked at. A host that cannot see above its inputs (Houdini) says so, and the driver then compares
// evaluated parameters and input stamps with those seen before: at the start frame and at the asked frame
// (where `look` does not say that nothing was edited), and at each frame it passes again. A difference at the
// start or at the asked frame starts again; one met in passing makes that frame and all after it new.
//
// Memory. Cached frames and snapshots (what the node's save() wrote) share one limit. Frames go out when they
// were last used longest ago. Snapshots take at most a quarter; the one whose neighbours are nearest to each
// other goes first, so those that stay are spread evenly and going back never starts from the beginning
// unless there is no room. The newest one always stays: a cancelled or failed advance may lose the state, and
// the simulation then goes on from the last good frame.
//
// A failure that would come back (anything but cancel, memory and files) is remembered for its frame and
// given again without work, until something changes or the node is reset. Frames before it stay usable.
#ifndef MENISCUS_PLUGIN_HOST_SIM_SIM_H
#define MENISCUS_PLUGIN_HOST_SIM_SIM_H

#include "nodes/node.h"
#include "plugin/host/network/cooked.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_sim mn_sim;

/// How much of a sample is needed.
typedef enum mn_sim_want {
    MN_SIM_PARMS,  ///< the evaluated parameters
    MN_SIM_STAMP,  ///< and the stamp of the inputs
    MN_SIM_INPUTS, ///< parameters and inputs, and the stamp unless the recipe is whole
} mn_sim_want;

/// A node's parameters and inputs at one frame, borrowed from the host until it is asked again.
typedef struct mn_sim_sample {
    const mn_parm_value *parms;
    const mn_geo *const *inputs;
    int32_t input_count;
    /// Changes when the contents of the inputs do: mn_geo_hash() of each together, or what the host knows
    /// better.
    uint64_t stamp;
    const uint64_t *input_keys; ///< see mn_cook; NULL where the host cannot say
} mn_sim_sample;

/// Which frames a recipe that is not whole makes the driver compare with what it has seen there.
typedef enum mn_sim_look {
    MN_SIM_LOOK_ALL,    ///< the start frame and the asked one
    MN_SIM_LOOK_TARGET, ///< the asked one: nothing was edited since the last call
    MN_SIM_LOOK_NONE,   ///< nothing was edited, and the host plays on
} mn_sim_look;

/// What a host hands to each call.
typedef struct mn_sim_host {
    void *user;
    const char *node_name;
    const mn_services *services;
    double fps; ///< > 0
    uint64_t recipe;
    bool recipe_is_whole; ///< an unchanged recipe means unchanged inputs at every frame
    mn_sim_look look;
    /// Bit k: somebody reads output k. Only these are made, at this frame and at those passed on the way; one
    /// that was read once is made from then on. 0: all of them.
    uint64_t outputs;
    mn_status (*sample)(void *user, int32_t frame, mn_sim_want want, mn_sim_sample *sample);
    void (*warn)(void *user, const char *sentence); ///< never NULL
    /// A checkpoint of any simulation of this type and of any frame, which the start frame shows and
    /// everything after it comes of; the inputs act from the next frame on. NULL: the node creates its state.
    /// Part of the recipe.
    const char *initial_state;
    /// See mn_cook.parm_at; NULL where the host cannot.
    void (*parm_at)(void *user, int32_t parm, double frame, mn_parm_value *value);
} mn_sim_host;

/// The recipe that never was: what a fresh driver holds. Hosts may give any other.
#define MN_SIM_NO_RECIPE 0

mn_status mn_sim_create(mn_context *ctx, const mn_node_type *type, mn_sim **sim);
void mn_sim_free(mn_sim *sim);

/// Bytes for cached frames and snapshots together; takes effect at once. Default MN_SIM_CACHE_LIMIT.
#define MN_SIM_CACHE_LIMIT ((int64_t)1 << 30)
void mn_sim_set_cache_limit(mn_sim *sim, int64_t bytes);
/// Bytes held by cached frames and snapshots.
int64_t mn_sim_cache_bytes(const mn_sim *sim);

/// A frame that is whole but for rounding as a whole one. Hosts that count in seconds come to
/// 29.999999999999996 for frame 30 at 25 frames a second.
double mn_sim_snap_frame(double frame);

/// The node's outputs at a frame, NULL where host->outputs does not ask for one; the caller gives the
/// reference back. Fails with the node's sentence.
mn_status mn_sim_cook(mn_sim *sim, const mn_sim_host *host, double frame, mn_cooked **cooked);
/// Forgets frames, snapshots and state.
void mn_sim_reset(mn_sim *sim);

/// Simulated seconds of a frame by these parameters: time_scale / fps.
double mn_sim_dt(const mn_node_type *type, const mn_parm_value *parms, double fps);

/// How often the node was created or advanced.
int64_t mn_sim_step_count(const mn_sim *sim);
/// True when the frame would be returned without work, if nothing has changed.
bool mn_sim_is_cached(const mn_sim *sim, int32_t frame);
/// What the node said about the frame that mn_sim_cook gave last, with `total` seconds among its phases;
/// empty before that.
const mn_report *mn_sim_report(const mn_sim *sim);

// ---- checkpoints: one snapshot in a file (checkpoint.c) ----

/// The latest frame at or before `limit` that a checkpoint can be written for, or INT32_MIN.
int32_t mn_sim_snapshot_frame(const mn_sim *sim, int32_t limit);
/// Looks at the contents of the inputs at that frame, which its checkpoint carries: where the recipe is whole
/// nothing has done so before. Once for each snapshot.
mn_status mn_sim_stamp_snapshot(mn_sim *sim, const mn_sim_host *host, int32_t frame);
/// Writes the snapshot of that frame, whole or not at all. `recipe` names the simulation across processes; it
/// is host->recipe unless that holds something of this process only.
mn_status mn_sim_write_checkpoint(const mn_sim *sim, uint64_t recipe, int32_t frame, const char *path);
/// Resets the driver and makes the file's snapshot its only one. Fails with a sentence and leaves the driver
/// reset when the file is damaged (MN_ERROR_FORMAT), or of another node type, build, recipe or inputs
/// (MN_ERROR_UNSUPPORTED); MN_ERROR_NOT_FOUND when there is none.
mn_status mn_sim_read_checkpoint(mn_sim *sim, const mn_sim_host *host, uint64_t recipe, const char *path,
                                 int32_t *frame);

/// Resets the driver and goes on from another's snapshot of exactly this frame as if it were its own: with
/// other parameters and inputs from there on. The start frame must be the same.
mn_status mn_sim_branch(mn_sim *sim, const mn_sim_host *host, const mn_sim *source, int32_t frame);

#ifdef __cplusplus
}
#endif
#endif
