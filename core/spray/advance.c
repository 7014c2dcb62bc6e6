// SPDX-License-Identifier: Apache-2.0
//
// One frame of a spray, cut into equal substeps. Each emits the drops born in it (emission.c) and marches
// every drop on (march.c); the marches are independent of each other, so any number of threads gives the same
// bits. When some drop ends at a place that is not a number, the whole frame is taken back and tried with
// twice the substeps.
#include "meniscus/parallel.h"
#include "spray/emission.h"
#include "spray/march.h"
#include "spray/spray_state.h"

#include <string.h>

enum { GRAIN = 256 }; ///< drops per chunk

typedef struct frame {
    mn_spray *spray;
    mn_march march;
    mn_emission emission;
    bool emits;
    double dt, phase_begin;
    // the substep: [begin, end] in seconds of the frame, drops from `first_born` on are born in it
    double begin, end;
    int64_t first_born, first_number;
} frame;

// Areas of the source's triangles, summed up.
static mn_status sum_areas(mn_spray *spray, const mn_spray_source *source)
{
    MN_TRY(mn_array_resize(spray->ctx, &spray->cumulative_area, source->triangle_count));
    double area = 0;
    for (int64_t i = 0; i < source->triangle_count; i++) {
        const int64_t *t = source->triangles[i];
        const mn_vec3 a = source->positions[t[0]];
        area +=
            0.5 * mn_norm(mn_cross(mn_sub(source->positions[t[1]], a), mn_sub(source->positions[t[2]], a)));
        spray->cumulative_area.data[i] = area;
    }
    if (source->triangle_count > 0 && !(area > 0))
        return mn_fail(spray->ctx, MN_ERROR_INPUT,
                       "The source's polygons have no area; scale the source up, or give it points only.");
    return MN_OK;
}

static mn_status prepare(frame *f, mn_spray *spray, const mn_spray_inputs *inputs, double dt)
{
    memset(f, 0, sizeof *f);
    f->spray = spray;
    f->dt = dt;
    f->phase_begin = spray->phase;
    f->march = mn_march_prepare(&spray->def, inputs);
    const mn_spray_source *source = inputs->source;
    if (!source || source->point_count == 0) return MN_OK;
    MN_TRY(mn_spray_check_source(spray->ctx, source));
    if (!(spray->def.rate > 0)) return MN_OK;
    MN_TRY(sum_areas(spray, source));
    const bool same =
        spray->source.count == source->point_count && spray->source_triangles == source->triangle_count;
    f->emission =
        (mn_emission){&spray->def, source, same ? spray->source.data : NULL, spray->cumulative_area.data, dt};
    f->emits = true;
    return MN_OK;
}

// Room for the drops born in the substep; they are made when they are moved.
static mn_status emit(frame *f)
{
    mn_spray *spray = f->spray;
    const mn_spray_def *def = &spray->def;
    f->first_born = spray->drops.count;
    if (!f->emits) return MN_OK;
    const double phase0 = f->phase_begin + def->rate * f->begin, phase1 = f->phase_begin + def->rate * f->end;
    if ((double)spray->drops.count + (phase1 - phase0) > (double)def->max_drops + 1)
        return mn_spray_too_many(spray, (double)spray->drops.count + (phase1 - phase0));
    f->first_number = mn_birth_number(def->seed, phase0);
    const int64_t born = mn_birth_number(def->seed, phase1) - f->first_number;
    return mn_array_resize(spray->ctx, &spray->drops, f->first_born + (born > 0 ? born : 0));
}

// A drop that has died has a negative id until the sweep.
static void move(const frame *f, int64_t i)
{
    mn_spray *spray = f->spray;
    mn_drop *drop = &spray->drops.data[i];
    double seconds = f->end - f->begin;
    if (i >= f->first_born) {
        const int64_t k = i - f->first_born;
        const double phase = mn_birth_phase(spray->def.seed, f->first_number + k) - f->phase_begin;
        const double moment = fmin(fmax(phase / spray->def.rate, f->begin), f->end);
        *drop = mn_emission_birth(&f->emission, spray->next_id + k, moment / f->dt);
        seconds = f->end - moment;
    }
    bool alive = mn_march_drop(&f->march, seconds, f->dt - f->end, drop);
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
    const frame *f = user;
    mn_status status = MN_OK;
    for (int64_t i = range.begin; i < range.end; i++) {
        move(f, i);
        const mn_drop *drop = &f->spray->drops.data[i];
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

// The frame in n substeps. MN_ERROR_DIVERGED without a sentence when some drop went bad.
static mn_status try_substeps(frame *f, int64_t n)
{
    mn_spray *spray = f->spray;
    for (int64_t i = 0; i < n; i++) {
        MN_TRY(mn_check_cancelled(spray->ctx));
        f->begin = f->dt * (double)i / (double)n;
        f->end = f->dt * (double)(i + 1) / (double)n;
        mn_timer_begin(&spray->seconds, "emit");
        const mn_status status = emit(f);
        mn_timer_end(&spray->seconds, "emit");
        MN_TRY(status);
        mn_timer_begin(&spray->seconds, "fly");
        const mn_status flown = mn_parallel_for(spray->ctx, spray->drops.count, GRAIN, move_range, f);
        mn_timer_end(&spray->seconds, "fly");
        MN_TRY(flown);
        spray->next_id += spray->drops.count - f->first_born;
        sweep(spray);
    }
    return MN_OK;
}

static mn_status keep_backup(mn_spray *spray)
{
    MN_TRY(mn_array_resize(spray->ctx, &spray->backup, spray->drops.count));
    if (spray->drops.count > 0)
        memcpy(spray->backup.data, spray->drops.data, mn_bytes(spray->drops.count, sizeof(mn_drop)));
    return MN_OK;
}

// The backup has at most as many drops as the array has held, so there is always room.
static void restore(mn_spray *spray, int64_t next_id)
{
    if (spray->backup.count > 0)
        memcpy(spray->drops.data, spray->backup.data, mn_bytes(spray->backup.count, sizeof(mn_drop)));
    spray->drops.count = spray->backup.count;
    spray->next_id = next_id;
}

mn_status mn_spray_advance(mn_spray *spray, const mn_spray_inputs *inputs, double dt)
{
    if (!(dt >= 0) || !isfinite(dt))
        return mn_fail(spray->ctx, MN_ERROR_ARGUMENT,
                       "The time step is %g s; it must be finite and at least 0.", dt);
    frame f;
    mn_timers_reset(&spray->seconds);
    MN_TRY(prepare(&f, spray, inputs, dt));
    MN_TRY(keep_backup(spray));
    const int64_t first_id = spray->next_id;
    int64_t n = spray->def.min_substeps, rollbacks = 0;
    mn_status status = dt > 0 ? try_substeps(&f, n) : MN_OK;
    while (status == MN_ERROR_DIVERGED && n <= spray->def.max_substeps / 2) {
        restore(spray, first_id);
        n *= 2, rollbacks++;
        status = try_substeps(&f, n);
    }
    if (status == MN_ERROR_DIVERGED)
        mn_fail(spray->ctx, status,
                "A drop left the numbers even with %lld substeps; look for extreme values in gravity, wind, "
                "speed or the collider's velocity.",
                (long long)n);
    if (status == MN_OK && inputs->source) status = mn_spray_set_source(spray, inputs->source);
    if (status != MN_OK) {
        restore(spray, first_id);
        return status;
    }
    if (f.emits) spray->phase = f.phase_begin + spray->def.rate * dt;
    spray->substeps = n, spray->rollbacks = rollbacks, spray->dt = dt / (double)n;
    return MN_OK;
}
