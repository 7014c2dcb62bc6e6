// SPDX-License-Identifier: Apache-2.0
//
// The state in the order of the grid's cells: what a step made (or what is added) is sorted into it, and the
// sparse grid is built around it.
#include "base/elementary.h"
#include "mpm/step.h"
#include "mpm/surface.h"

#include "base/parallel.h"

#include <string.h>

enum { PARTICLE_GRAIN = 4096 };
// As full as the surface of a liquid (volume_fraction.c): beyond it is inside.
static const double half_full = 0.5;

typedef struct permute_job {
    mn_mpm *mpm;
    const int32_t *order;
} permute_job;

static mn_status permute(void *user, mn_range range)
{
    const permute_job *job = user;
    mn_mpm *mpm = job->mpm;
    for (int64_t k = range.begin; k < range.end; k++) {
        mpm->particles.data[k] = mpm->next.data[job->order[k]];
        mpm->materials.data[k] = mpm->next_materials.data[job->order[k]];
    }
    return MN_OK;
}

mn_status mn_mpm_sort_next(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    const int64_t count = mpm->next.count;
    const double half = 0.5 * mpm->def.dx;
    const mn_points points = mn_mpm_points(mpm->next.data, count);
    mpm->grid.sorted = false;
    // Surface samples and their balance points lie within a cell of a particle, hence one more on each side.
    const mn_vec3 knot = mn_add(mpm->grid_origin, mn_v3(half, half, half));
    MN_TRY(mn_blocks_build(mpm->grid.blocks, knot, mpm->def.dx, points, 1, 3));
    MN_TRY(mn_point_sort_run(mpm->grid.sort, mpm->grid.blocks, points));
    mpm->grid.table = mn_blocks_table(mpm->grid.blocks);
    MN_TRY(mn_array_resize(ctx, &mpm->grid.nodes, (int64_t)mpm->grid.table.count * MN_BLOCK_CELLS));
    MN_TRY(mn_array_reserve(ctx, &mpm->materials, count));
    MN_TRY(mn_array_resize(ctx, &mpm->particles, count));
    mpm->materials.count = count;
    const mn_sorted_points sorted = mn_point_sort_result(mpm->grid.sort);
    permute_job job = {mpm, sorted.order};
    MN_TRY(mn_parallel_for(ctx, count, PARTICLE_GRAIN, permute, &job));
    mpm->grid.cell_start = sorted.cell_start;
    mpm->grid.sorted = true;
    return MN_OK;
}

void mn_mpm_carry_grid(mn_mpm *mpm, double dt, const mn_mpm_step_stats *stats)
{
    // Below this part of the liquid's speed the mean is rounding, or as good as rest.
    const double least = 1e-6;
    if (!mn_mpm_flies_free(mpm) || !(stats->mass > 0)) return;
    const mn_vec3 mean = mn_scale(1 / stats->mass, stats->momentum);
    if (!(mn_norm2(mean) > least * least * 2 * stats->kinetic / stats->mass)) return;
    mpm->grid_origin = mn_axpy(mpm->grid_origin, dt, mean);
}

mn_status mn_mpm_borrow(mn_mpm *mpm, int64_t count, size_t size, void **memory)
{
    const int64_t each = (int64_t)sizeof(mn_mpm_particle), bytes = count * (int64_t)size;
    MN_TRY(mn_array_reserve(mpm->solver.ctx, &mpm->next, (bytes + each - 1) / each));
    *memory = mpm->next.data;
    return MN_OK;
}

static bool inside_sink(const mn_mpm *mpm, double before, mn_vec3 x)
{
    double distance;
    mn_collider_distance(mpm->run.sink, before, 1, &x, &distance);
    return distance <= 0;
}

void mn_mpm_drain_next(mn_mpm *mpm, double before)
{
    const mn_mpm_def *def = &mpm->def;
    bool any = mpm->run.sink != NULL;
    for (int i = 0; i < 6; i++) any = any || def->wall[i] == MN_MPM_SINK;
    if (!any) return;
    const double low[3] = {def->domain.min.x, def->domain.min.y, def->domain.min.z};
    const double high[3] = {def->domain.max.x, def->domain.max.y, def->domain.max.z};
    int64_t kept = 0;
    for (int64_t i = 0; i < mpm->next.count; i++) {
        bool gone = mpm->run.sink && inside_sink(mpm, before, mn_mpm_position(&mpm->next.data[i]));
        for (int a = 0; a < 3; a++) {
            const double x = mpm->next.data[i].axis[a].x;
            gone = gone || (def->wall[2 * a] == MN_MPM_SINK && x < low[a]) ||
                   (def->wall[2 * a + 1] == MN_MPM_SINK && x > high[a]);
        }
        if (gone) continue;
        mpm->next.data[kept] = mpm->next.data[i];
        mpm->next_materials.data[kept++] = mpm->next_materials.data[i];
    }
    mpm->next.count = mpm->next_materials.count = kept;
}

mn_status mn_mpm_copy_to_next(mn_mpm *mpm, int64_t count)
{
    const int64_t old = mpm->particles.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next_materials, count));
    if (old == 0) return MN_OK;
    memcpy(mpm->next.data, mpm->particles.data, mn_bytes(old, sizeof *mpm->next.data));
    memcpy(mpm->next_materials.data, mpm->materials.data, mn_bytes(old, sizeof *mpm->materials.data));
    return MN_OK;
}

mn_status mn_mpm_sort_again(mn_mpm *mpm)
{
    if (mpm->grid.sorted) return MN_OK;
    MN_TRY(mn_mpm_copy_to_next(mpm, mpm->particles.count));
    return mn_mpm_sort_next(mpm);
}

// ---- adding ----

static mn_status check_value(mn_context *ctx, const double *values, int64_t i, const char *name, double low,
                             bool low_allowed)
{
    if (!values) return MN_OK;
    const double value = values[i];
    if (isfinite(value) && (value > low || (low_allowed && value == low))) return MN_OK;
    return mn_fail(ctx, MN_ERROR_INPUT, "Particle %lld has %s %g; it must be a number %s %g.", (long long)i,
                   name, value, low_allowed ? "of at least" : "above", low);
}

// A particle many cells wide would be marked in millions of them.
static mn_status check_size(const mn_mpm *mpm, const mn_mpm_source *source, int64_t i)
{
    const double cells = 64, dx = mpm->def.dx;
    const double density = source->density ? source->density[i] : mpm->def.density;
    const double volume = source->mass ? source->mass[i] / density : 0;
    if (volume <= cells * dx * dx * dx) return MN_OK;
    return mn_fail(
        mpm->solver.ctx, MN_ERROR_INPUT,
        "dx is %g m but the particles are %.2g m wide (mass over density of particle %lld); use dx %.2g m, "
        "fill with the solver's dx, or check mass and density.",
        dx, mn_cbrt(volume), (long long)i, 2 * mn_cbrt(volume));
}

static mn_status check_source(mn_mpm *mpm, const mn_mpm_source *source)
{
    mn_context *ctx = mpm->solver.ctx;
    for (int64_t i = 0; i < source->count; i++) {
        if (!mn_is_finite3(source->position[i]))
            return mn_fail(ctx, MN_ERROR_INPUT, "Particle %lld has a position that is not finite.",
                           (long long)i);
        if (source->velocity && !mn_is_finite3(source->velocity[i]))
            return mn_fail(ctx, MN_ERROR_INPUT, "Particle %lld has a velocity (v) that is not finite.",
                           (long long)i);
        MN_TRY(check_value(ctx, source->mass, i, "mass", 0, false));
        MN_TRY(check_value(ctx, source->density, i, "density", 0, false));
        MN_TRY(check_size(mpm, source, i));
        MN_TRY(check_value(ctx, source->sigma, i, "sigma", 0, true));
        MN_TRY(check_value(ctx, source->viscosity, i, "viscosity", 0, true));
        if (source->liquid && source->liquid[i] != 0 && source->liquid[i] != 1)
            return mn_fail(ctx, MN_ERROR_INPUT, "Particle %lld has liquid %d; it must be 0 or 1.",
                           (long long)i, source->liquid[i]);
        if (source->id && source->id[i] < 0)
            return mn_fail(ctx, MN_ERROR_INPUT, "Particle %lld has the negative id %lld.", (long long)i,
                           (long long)source->id[i]);
    }
    return MN_OK;
}

static void make_particle(mn_mpm *mpm, const mn_mpm_source *source, int64_t i, int64_t slot)
{
    const mn_mpm_def *def = &mpm->def;
    const double density = source->density ? source->density[i] : def->density;
    const double mass = source->mass ? source->mass[i] : density * def->dx * def->dx * def->dx / 8;
    mn_mpm_particle *p = &mpm->next.data[slot];
    memset(p, 0, sizeof *p);
    p->mass = mass;
    if (source->velocity) p->v = source->velocity[i];
    mn_mpm_set_position(p, source->position[i]);
    const int64_t id = source->id ? source->id[i] : mpm->next_id;
    if (id >= mpm->next_id) mpm->next_id = id + 1;
    const int32_t absent = (source->sigma ? 0 : MN_MPM_FOLLOWS_SIGMA) |
                           (source->viscosity ? 0 : MN_MPM_FOLLOWS_VISCOSITY) |
                           (source->density ? 0 : MN_MPM_FOLLOWS_DENSITY);
    mpm->next_materials.data[slot] =
        (mn_mpm_material){.j = 1,
                          .volume = mass / density,
                          .sigma = source->sigma ? source->sigma[i] : def->sigma,
                          .viscosity = (float)(source->viscosity ? source->viscosity[i] : def->viscosity),
                          .id = id,
                          .marks = absent | (source->follows ? source->follows[i] & MN_MPM_FOLLOWS : 0) |
                                   (source->liquid && source->liquid[i] ? MN_MPM_SECOND_LIQUID : 0)};
}

mn_status mn_mpm_add(mn_mpm *mpm, const mn_mpm_source *source)
{
    if (source->count <= 0) return MN_OK;
    MN_TRY(check_source(mpm, source));
    const int64_t old = mpm->particles.count, first_id = mpm->next_id;
    MN_TRY(mn_mpm_copy_to_next(mpm, old + source->count));
    int64_t slot = old;
    for (int64_t i = 0; i < source->count; i++) {
        if (source->only_free && mpm->grid.sorted &&
            mn_mpm_fullness_at(mpm, source->position[i], -1).fraction >= half_full)
            continue;
        make_particle(mpm, source, i, slot++);
    }
    mpm->next.count = mpm->next_materials.count = slot;
    const mn_status status = mn_mpm_sort_next(mpm);
    if (status == MN_OK) {
        mpm->fresh = true;
        mpm->unbalanced = mpm->def.hydrostatic && mpm->solver.time == 0;
        return mn_mpm_find_extremes(mpm);
    }
    mpm->next_id = first_id;
    return status;
}
