// SPDX-License-Identifier: Apache-2.0
//
// Largest and smallest of what bounds a step, over all particles: at the start of every advance. Within it
// only the speed changes, and each step brings its own.
//
// The speed of the fastest part is the mean of v^2 over windows of eight cells in a row on each axis, two
// blocks, the largest of them: a drop that falls into a pool is fast though all the liquid, on the mean, is
// not. A window with less liquid than a ball of 2.5 dx counts by as much as it has, so that spray does not.
#include "base/elementary.h"
#include "mpm/step.h"
#include "mpm/surface.h"

#include "base/parallel.h"

enum { PARTICLE_GRAIN = 4096, BLOCK_GRAIN = 64 };

// Largest of what each chunk says; order does not matter for a maximum.
static double max_speed(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) most = fmax(most, mn_norm2(mpm->particles.data[i].v));
    return sqrt(most);
}

static double max_sigma(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) most = fmax(most, fabs(mpm->materials.data[i].sigma));
    return most;
}

static double max_specific_volume(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++)
        most = fmax(most, mpm->materials.data[i].volume / mpm->particles.data[i].mass);
    return most;
}

static double max_kinematic_viscosity(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_material *q = &mpm->materials.data[i];
        most = fmax(most, q->viscosity * q->volume / mpm->particles.data[i].mass);
    }
    return most;
}

static double max_height(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    const mn_vec3 up = mn_normalize(mpm->def.gravity);
    double most = -INFINITY;
    for (int64_t i = range.begin; i < range.end; i++)
        most = fmax(most, mn_dot(up, mn_mpm_position(&mpm->particles.data[i])));
    return most;
}

static double max_depth(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    const mn_vec3 up = mn_normalize(mpm->def.gravity);
    double most = -INFINITY;
    for (int64_t i = range.begin; i < range.end; i++)
        most = fmax(most, -mn_dot(up, mn_mpm_position(&mpm->particles.data[i])));
    return most;
}

static void sum_mass(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        sums[0] += p->mass;
        sums[1] += 0.5 * p->mass * mn_norm2(p->v);
        sums[2] += mpm->materials.data[i].volume;
    }
}

// ---- the fastest part ----

static mn_status sum_blocks(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        mn_mpm_step_stats *s = &mpm->grid.block_stats.data[b];
        s->mass = s->kinetic = 0;
        const int32_t end = mpm->grid.cell_start[(b + 1) * MN_BLOCK_CELLS];
        for (int32_t i = mpm->grid.cell_start[b * MN_BLOCK_CELLS]; i < end; i++) {
            const mn_mpm_particle *p = &mpm->particles.data[i];
            s->mass += p->mass;
            s->kinetic += 0.5 * p->mass * mn_norm2(p->v);
        }
    }
    return MN_OK;
}

double mn_mpm_fastest_part(const mn_mpm *mpm)
{
    const double density = mpm->extremes.mass / mpm->extremes.volume;
    const double least = MN_BLOCK_CELLS * density * mn_pow(mpm->def.dx, 3);
    double most = 0;
    for (int32_t b = 0; b < mpm->grid.table.count; b++) {
        double mass = 0, kinetic = 0;
        for (int32_t n = 0; n < 8; n++) {
            const int32_t at =
                mpm->grid.table.neighbours[b][MN_BLOCK_SELF + 9 * (n >> 2) + 3 * (n >> 1 & 1) + (n & 1)];
            if (at < 0) continue;
            mass += mpm->grid.block_stats.data[at].mass;
            kinetic += mpm->grid.block_stats.data[at].kinetic;
        }
        most = fmax(most, 2 * kinetic / fmax(mass, least));
    }
    return sqrt(most);
}

mn_status mn_mpm_find_extremes(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    const int64_t n = mpm->particles.count;
    mn_mpm_extremes e = {.min_density = mpm->def.density};
    mpm->extremes = e;
    if (n == 0) return MN_OK;
    double lightest, top, bottom, sums[3];
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_speed, mpm, &e.max_speed));
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_sigma, mpm, &e.max_sigma));
    MN_TRY(mn_mpm_find_liquids(mpm));
    if (mpm->liquids.two) e.max_sigma = fmax(e.max_sigma, mpm->def.interfacial_tension);
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_specific_volume, mpm, &lightest));
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_kinematic_viscosity, mpm, &e.max_kinematic_viscosity));
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_height, mpm, &top));
    MN_TRY(mn_parallel_max(ctx, n, PARTICLE_GRAIN, max_depth, mpm, &bottom));
    MN_TRY(mn_parallel_sum(ctx, n, PARTICLE_GRAIN, sum_mass, mpm, 3, sums));
    e.min_density = 1.0 / lightest;
    e.height = top + bottom;
    MN_TRY(mn_mpm_strongest_force(mpm, &e.force));
    e.mass = sums[0], e.kinetic = sums[1], e.volume = sums[2];
    mpm->extremes = e;
    MN_TRY(mn_array_resize(ctx, &mpm->grid.block_stats, mpm->grid.table.count));
    MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, sum_blocks, mpm));
    mpm->extremes.part_speed = mn_mpm_fastest_part(mpm);
    return MN_OK;
}
