// SPDX-License-Identifier: Apache-2.0
//
// One step of a spray: emits the drops born in it (emission.c) and marches every drop on (march.c). The
// marches are independent of each other, so any number of threads gives the same bits. When some drop ends at
// a place that is not finite, the drops are what they were and the step is tried at half its length.
#include "base/parallel.h"
#include "spray/emission.h"
#include "spray/march.h"
#include "spray/state.h"

#include <string.h>

enum { GRAIN = 256 }; ///< drops per chunk

// Areas of the source's triangles, summed up.
static mn_status sum_areas(mn_spray *spray, const mn_emitter *source)
{
    MN_TRY(mn_array_resize(spray->solver.ctx, &spray->cumulative_area, source->triangle_count));
    double area = 0;
    for (int64_t i = 0; i < source->triangle_count; i++) {
        const int64_t *t = source->triangles[i];
        const mn_vec3 a = source->positions[t[0]];
        area +=
            0.5 * mn_norm(mn_cross(mn_sub(source->positions[t[1]], a), mn_sub(source->positions[t[2]], a)));
        spray->cumulative_area.data[i] = area;
    }
    if (source->triangle_count > 0 && !(area > 0))
        return mn_fail(spray->solver.ctx, MN_ERROR_INPUT,
                       "The source's polygons have no area; scale the source up, or give it points only.");
    return MN_OK;
}

// Room for the drops born in the substep; they are made when they are moved.
static mn_status emit(mn_spray *spray)
{
    mn_spray_frame *f = &spray->frame;
    const mn_spray_def *def = &spray->def;
    f->first_born = spray->drops.count;
    if (!f->emits) return MN_OK;
    const double phase0 = f->phase_begin + def->rate * f->begin, phase1 = f->phase_begin + def->rate * f->end;
    if ((double)spray->drops.count + (phase1 - phase0) > (double)def->max_drops + 1)
        return mn_spray_too_many(spray, (double)spray->drops.count + (phase1 - phase0));
    f->first_number = mn_birth_number(def->seed, phase0);
    const int64_t born = mn_birth_number(def->seed, phase1) - f->first_number;
    return mn_array_resize(spray->solver.ctx, &spray->drops, f->first_born + (born > 0 ? born : 0));
}

// A drop that has died has a negative id until the sweep.
static void move(mn_spray *spray, int64_t i)
{
    const mn_spray_frame *f = &spray->frame;
    const double frame = spray->solver.seconds;
    mn_drop *drop = &spray->drops.data[i];
    double seconds = f->end - f->begin;
    if (i >= f->first_born) {
        const int64_t k = i - f->first_born;
        const double phase = mn_birth_phase(spray->def.seed, f->first_number + k) - f->phase_begin;
        const double moment = fmin(fmax(phase / spray->def.rate, f->begin), f->end);
        *drop = mn_emission_birth(&f->emission, spray->next_id + k, moment / frame);
        seconds = f->end - moment;
    }
    bool alive = mn_march_drop(&f->march, seconds, frame - f->end, drop);
    drop->age += seconds;
    if (drop->life >= 0 && drop->age >= drop->life) alive = false;
    if (spray->def.use_limits) {
        const mn_vec3 x = drop->position, low = spray->def.limits.min, high = spray->def.limits.max;
        if (x.x < low.x || x.y < low.y || x.z < low.z || x.x > high.x || x.y > high.y || x.z > high.z)
            alive = false;
    }
    if (!alive) drop->id = -1;
}

static mn_status move_range(void *user, mn_range range)
{
    mn_spray *spray = user;
    mn_status status = MN_OK;
    for (int64_t i = range.begin; i < range.end; i++) {
        move(spray, i);
        const mn_drop *drop = &spray->drops.data[i];
        if (!mn_is_finite3(drop->position) || !mn_is_finite3(drop->velocity)) status = MN_ERROR_DIVERGED;
    }
    return status;
}

static void sweep(mn_spray *spray)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < spray->drops.count; i++)
        if (spray->drops.data[i].id >= 0) spray->drops.data[kept++] = spray->drops.data[i];
    spray->drops.count = kept;
}

// The backup has at most as many drops as the array has held, so there is always room.
static void restore(mn_spray *spray)
{
    if (spray->backup.count > 0)
        memcpy(spray->drops.data, spray->backup.data, mn_bytes(spray->backup.count, sizeof(mn_drop)));
    spray->drops.count = spray->backup.count;
}

// ---- the steps ----

mn_status mn_spray_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                         mn_step_plan *plan)
{
    mn_spray *spray = (mn_spray *)solver;
    mn_spray_frame *f = &spray->frame;
    memset(f, 0, sizeof *f);
    f->phase_begin = spray->phase;
    f->march = mn_march_prepare(&spray->def, inputs);
    plan->halvings = INT32_MAX;
    plan->least = 0.999 * seconds / fmax(spray->def.min_substeps, spray->def.max_substeps);
    plan->failure = "A drop's position became NaN or infinite";
    plan->advice = "look for extreme values in gravity, wind, speed or the collider's velocity";
    if (!inputs->emitter || inputs->emitter->point_count == 0) return MN_OK;
    f->source = mn_spray_source_of(spray, inputs->emitter);
    const mn_emitter *source = &f->source;
    MN_TRY(mn_spray_check_source(solver->ctx, source));
    if (!(spray->def.rate > 0)) return MN_OK;
    MN_TRY(sum_areas(spray, source));
    const bool same =
        spray->source.count == source->point_count && spray->source_triangles == source->triangle_count;
    f->emission = (mn_emission){&spray->def, source, same ? spray->source.data : NULL,
                                spray->cumulative_area.data, seconds};
    f->emits = true;
    return MN_OK;
}

mn_status mn_spray_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)inputs, (void)dt;
    mn_spray *spray = (mn_spray *)solver;
    MN_TRY(mn_array_resize(solver->ctx, &spray->backup, spray->drops.count));
    if (spray->drops.count > 0)
        memcpy(spray->backup.data, spray->drops.data, mn_bytes(spray->drops.count, sizeof(mn_drop)));
    return MN_OK;
}

mn_status mn_spray_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict)
{
    (void)inputs;
    mn_spray *spray = (mn_spray *)solver;
    mn_spray_frame *f = &spray->frame;
    f->begin = solver->seconds - solver->left;
    f->end = dt < solver->left ? f->begin + dt : solver->seconds;
    mn_timer_begin(&solver->timers, "emit");
    mn_status status = emit(spray);
    mn_timer_end(&solver->timers, "emit");
    mn_timer_begin(&solver->timers, "fly");
    if (status == MN_OK) status = mn_parallel_for(solver->ctx, spray->drops.count, GRAIN, move_range, spray);
    mn_timer_end(&solver->timers, "fly");
    verdict->good = status == MN_OK;
    if (status != MN_OK) restore(spray);
    return status == MN_ERROR_DIVERGED ? MN_OK : status;
}

mn_status mn_spray_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt)
{
    (void)inputs, (void)dt;
    mn_spray *spray = (mn_spray *)solver;
    const mn_spray_frame *f = &spray->frame;
    spray->next_id += spray->drops.count - f->first_born;
    if (f->emits) spray->phase = f->phase_begin + spray->def.rate * f->end;
    sweep(spray);
    return MN_OK;
}

mn_status mn_spray_end(mn_solver *solver, const mn_solver_inputs *inputs)
{
    return inputs->emitter ? mn_spray_set_source((mn_spray *)solver, inputs->emitter) : MN_OK;
}

mn_status mn_spray_advance(mn_spray *spray, const mn_solver_inputs *inputs, double dt)
{
    return mn_solver_advance(&mn_spray_solver, &spray->solver, inputs, dt);
}
