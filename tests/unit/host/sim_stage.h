// SPDX-License-Identifier: Apache-2.0
//
// A host for the driver alone, whose inputs and parameters a test sets as it likes: the walker of
// host_nodes.h with a push that may change from frame to frame.
#ifndef MENISCUS_TESTS_UNIT_HOST_SIM_STAGE_H
#define MENISCUS_TESTS_UNIT_HOST_SIM_STAGE_H

#include "host_nodes.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/sim/sim.h"

enum { STAGE_FRAMES = 64 };

typedef struct stage {
    mn_context *ctx;
    mn_sim *sim;
    uint64_t recipe;
    bool whole;
    double start, fps;
    double speed[STAGE_FRAMES], time_scale[STAGE_FRAMES]; ///< at each frame
    int64_t push[STAGE_FRAMES];                           ///< points of the input at each frame
    int64_t ballast, fail_at;
    int32_t samples; ///< how often inputs were asked for
    int32_t stamps;  ///< how often only their contents were
    mn_parm_value values[MN_COUNT_OF(walker_parms)];
    mn_geo *input;
    const mn_geo *inputs[1];
} stage;

static inline int32_t stage_index(int32_t frame)
{
    return frame < 0 ? 0 : frame >= STAGE_FRAMES ? STAGE_FRAMES - 1 : frame;
}

static inline mn_status stage_sample(void *user, int32_t frame, mn_sim_want want, mn_sim_sample *sample)
{
    stage *self = (stage *)user;
    const int32_t at = stage_index(frame);
    memset(self->values, 0, sizeof self->values);
    self->values[mn_parm_find(&walker_type, "start_frame")].number[0] = self->start;
    self->values[mn_parm_find(&walker_type, "time_scale")].number[0] = self->time_scale[at];
    self->values[mn_parm_find(&walker_type, "speed")].number[0] = self->speed[at];
    self->values[mn_parm_find(&walker_type, "ballast")].number[0] = (double)self->ballast;
    self->values[mn_parm_find(&walker_type, "fail_at")].number[0] = (double)self->fail_at;
    sample->parms = self->values;
    sample->stamp = (uint64_t)self->push[at];
    self->stamps += want == MN_SIM_STAMP;
    if (want != MN_SIM_INPUTS) return MN_OK;
    self->samples++;
    mn_geo_free(self->input);
    self->input = NULL;
    MN_TRY(make_points(self->ctx, self->push[at], mn_v3(frame, 0, 0), mn_v3(1, 0, 0), &self->input));
    self->inputs[0] = self->input;
    sample->inputs = self->inputs;
    sample->input_count = 1;
    return MN_OK;
}

static inline void stage_warn(void *user, const char *sentence)
{
    (void)user, (void)sentence;
}

static inline mn_sim_host stage_host(stage *self)
{
    const mn_sim_host host = {.user = self,
                              .node_name = "walk",
                              .fps = self->fps,
                              .recipe = self->recipe,
                              .recipe_is_whole = self->whole,
                              .sample = stage_sample,
                              .warn = stage_warn};
    return host;
}

static inline mn_status stage_open(stage *self, mn_context *ctx)
{
    memset(self, 0, sizeof *self);
    self->ctx = ctx;
    self->recipe = 1;
    self->whole = true;
    self->start = 1;
    self->fps = 24;
    for (int32_t i = 0; i < STAGE_FRAMES; i++) {
        self->speed[i] = 1 + 0.1 * i;
        self->time_scale[i] = 1;
        self->push[i] = 3 + i % 5;
    }
    return mn_sim_create(ctx, &walker_type, &self->sim);
}

static inline void stage_close(stage *self)
{
    mn_sim_free(self->sim);
    mn_geo_free(self->input);
}

/// The hash of the output at a frame, which holds every bit of the walker's pace.
static inline mn_status stage_hash(stage *self, double frame, uint64_t *hash)
{
    const mn_sim_host host = stage_host(self);
    mn_cooked *cooked;
    *hash = 0;
    MN_TRY(mn_sim_cook(self->sim, &host, frame, &cooked));
    *hash = mn_cooked_hash(cooked, 0);
    mn_cooked_release(cooked);
    return MN_OK;
}

static inline uint64_t stage_check(stage *self, double frame)
{
    uint64_t hash;
    check_ok(self->ctx, stage_hash(self, frame, &hash));
    return hash;
}

#endif
