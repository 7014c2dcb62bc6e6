// SPDX-License-Identifier: Apache-2.0
//
// What an implicit step resists with, gathered before it is solved: stiffness and viscosity of the particles,
// and the surface's samples in the order of their cells (implicit.h).
//
// After the step J_p <- J_p (1 + dt (D_p v + q_p)). q matters in long steps: a drop that relaxes by 6 % of
// its length in one step loses 1 % of its volume at no divergence, and a pressure that does not see it lets
// the drop shrink. q of the velocity before the step is enough: what it misses in one step is made good by
// the next, so the volume does not drift.
#include "mpm/step.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/pressure.h"
#include "mpm/tile.h"
#include <string.h>

enum { BLOCK_GRAIN = 16, CONTACT_GRAIN = 256 };

static mn_status press_blocks(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    const mn_block_table *table = &mpm->grid.table;
    const double per_dx = table->inverse_dx, dt = mpm->implicit.dt;
    for (int64_t block = range.begin; block < range.end; block++)
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, (int32_t)block, cell);
            const int32_t *start = &mpm->grid.cell_start[block * MN_BLOCK_CELLS + cell];
            for (int32_t i = start[0]; i < start[1]; i++) {
                const mn_mpm_particle *p = &mpm->particles.data[i];
                const mn_mpm_material *q = &mpm->materials.data[i];
                mpm->implicit.pressed[i] =
                    (mn_mpm_pressed){{(p->axis[0].x - table->origin.x) * per_dx - base.x,
                                      (p->axis[1].x - table->origin.y) * per_dx - base.y,
                                      (p->axis[2].x - table->origin.z) * per_dx - base.z},
                                     dt * dt * mn_pressure_hessian(mpm->bulk_modulus, q->volume, q->j),
                                     dt * q->viscosity * q->volume * q->j,
                                     0};
            }
        }
    return MN_OK;
}

// ---- samples ----

/// Q = beta dt s/2 (e T + T e)
MN_INLINE void damp_sample(const mn_mpm *mpm, const vec4 *nodes, mn_mpm_curved *sample)
{
    tile_weights s;
    vec4 d[3];
    for (int32_t a = 0; a < 3; a++) tile_spline(sample->t[a], mpm->grid.table.inverse_dx, s.w[a], s.g[a]);
    tile_gradient(nodes, &s, d);
    const mn_vec3 w0 = sample->hessian.w0, w1 = sample->hessian.w1;
    const mn_mat3 tangent = mn_m3_add(mn_outer(w0, w0), mn_outer(w1, w1));
    const double share = 0.25 * mpm->implicit.beta * mpm->implicit.dt * fmax(sample->hessian.s, 0);
    mn_mat3 twice;
    for (int32_t i = 0; i < 3; i++)
        for (int32_t j = 0; j < 3; j++) twice.m[i][j] = share * (d[j][1 + i] + d[i][1 + j]);
    const mn_mat3 q = mn_m3_add(mn_m3_mul(twice, tangent), mn_m3_mul(tangent, twice));
    for (int32_t a = 0; a < 3; a++) sample->damping[a] = mn_m3_column(q, a);
}

static mn_status build_samples(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    const mn_block_table *table = &mpm->grid.table;
    const mn_sorted_points sorted = mn_point_sort_result(mpm->implicit.sample_sort);
    tile start;
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t *first = &sorted.cell_start[block * MN_BLOCK_CELLS];
        if (first[MN_BLOCK_CELLS] == first[0]) continue;
        tile_load(&start, table, (int32_t)block, mpm->grid.before.data);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 base = tile_base(table, (int32_t)block, cell);
            for (int32_t k = first[cell]; k < first[cell + 1]; k++) {
                const mn_mpm_patch *patch = &mpm->surface.patches.data[sorted.order[k]];
                const mn_vec3 t = mn_sub(mn_scale(table->inverse_dx, mn_sub(patch->x, table->origin)), base);
                const mn_surface_patch piece = mn_surface_patch_make(patch->area, patch->sigma);
                mn_mpm_curved *sample = &mpm->implicit.samples[k];
                *sample = (mn_mpm_curved){.t = {t.x, t.y, t.z},
                                          .cell = cell,
                                          .hessian = mn_surface_linearize(piece, mn_m3_identity())};
                damp_sample(mpm, &start.node[tile_of_cell(cell)], sample);
            }
        }
    }
    return MN_OK;
}

static mn_status find_samples(mn_mpm *mpm)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    const int64_t count = mpm->surface.patches.count;
    const mn_mpm_patch *patch = mpm->surface.patches.data;
    mn_points points = {0, NULL, NULL, NULL, (int64_t)(sizeof *patch / sizeof(double))};
    if (count > 0)
        points.count = count, points.x = &patch->x.x, points.y = &patch->x.y, points.z = &patch->x.z;
    MN_TRY(mn_point_sort_run(implicit->sample_sort, mpm->grid.blocks, points));
    const int32_t *cell_start = mn_point_sort_result(implicit->sample_sort).cell_start;
    for (int32_t b = 0; b <= mpm->grid.table.count; b++)
        implicit->first_sample.data[b] = cell_start[b * MN_BLOCK_CELLS];
    return mn_parallel_for(mpm->solver.ctx, mpm->grid.table.count, BLOCK_GRAIN, build_samples, mpm);
}

static mn_status weigh_feet(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    for (int64_t c = range.begin; c < range.end; c++)
        mn_mpm_find_foot(mpm, &mpm->walls.contacts.data[c], &mpm->implicit.feet.data[c]);
    return MN_OK;
}

// Both in one: what is borrowed is one piece of memory.
static mn_status borrow_stiffness(mn_mpm *mpm)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    const int64_t pressed = mpm->particles.count * (int64_t)sizeof(mn_mpm_pressed);
    const int64_t curved = mpm->surface.patches.count * (int64_t)sizeof(mn_mpm_curved);
    void *memory;
    MN_TRY(mn_mpm_borrow(mpm, pressed + curved, 1, &memory));
    implicit->pressed = memory;
    implicit->samples = (void *)((char *)memory + pressed);
    implicit->sample_count = mpm->surface.patches.count;
    return MN_OK;
}

mn_status mn_mpm_implicit_build(mn_mpm *mpm, double dt)
{
    mn_context *ctx = mpm->solver.ctx;
    mn_mpm_implicit *implicit = &mpm->implicit;
    const int32_t blocks = mpm->grid.table.count;
    const int64_t nodes = mpm->grid.nodes.count;
    implicit->dt = dt;
    implicit->viscous = mpm->extremes.max_kinematic_viscosity > 0;
    MN_TRY(mn_array_resize(ctx, &implicit->first_sample, blocks + 1));
    MN_TRY(mn_array_resize(ctx, &implicit->block_energy, blocks));
    MN_TRY(mn_array_resize(ctx, &implicit->gradient, nodes));
    MN_TRY(mn_array_resize(ctx, &implicit->residual, nodes));
    MN_TRY(mn_array_resize(ctx, &implicit->direction, nodes));
    MN_TRY(mn_array_resize(ctx, &implicit->image, nodes));
    MN_TRY(mn_array_resize(ctx, &implicit->change, nodes));
    MN_TRY(borrow_stiffness(mpm));
    MN_TRY(mn_parallel_for(ctx, blocks, BLOCK_GRAIN, press_blocks, mpm));
    MN_TRY(mn_array_resize(ctx, &implicit->feet, mpm->walls.contacts.count));
    MN_TRY(mn_array_resize(ctx, &implicit->inflow, mpm->walls.contacts.count));
    MN_TRY(mn_array_resize(ctx, &implicit->impulse, mpm->walls.contacts.count));
    MN_TRY(mn_parallel_for(ctx, mpm->walls.contacts.count, CONTACT_GRAIN, weigh_feet, mpm));
    MN_TRY(find_samples(mpm));
    MN_TRY(mn_mpm_find_held(mpm));
    return mn_mpm_bodies_find(mpm);
}

// ---- what a velocity does to volumes ----

typedef struct volume_job {
    mn_mpm *mpm;
    const mn_mpm_node *v;
    bool write; ///< the ratios, or q
} volume_job;

MN_MULTIVERSION
static mn_status find_volumes(void *user, mn_range range)
{
    const volume_job *job = user;
    mn_mpm *mpm = job->mpm;
    // What a lonely particle's gradient says beyond this is noise.
    const double dt = mpm->implicit.dt, limit = 0.1 / dt, catch_up = 0.3, per_dx = mpm->grid.table.inverse_dx;
    tile in;
    for (int64_t block = range.begin; block < range.end; block++) {
        const int32_t *start = &mpm->grid.cell_start[block * MN_BLOCK_CELLS];
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        tile_load(&in, &mpm->grid.table, (int32_t)block, job->v);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++)
            for (int32_t i = start[cell]; i < start[cell + 1]; i++) {
                mn_mpm_pressed *p = &mpm->implicit.pressed[i];
                tile_weights s;
                vec4 column[3];
                mn_mat3 f;
                for (int32_t a = 0; a < 3; a++) tile_spline(p->t[a], per_dx, s.w[a], s.g[a]);
                tile_gradient(&in.node[tile_of_cell(cell)], &s, column);
                for (int32_t k = 0; k < 3; k++)
                    for (int32_t j = 0; j < 3; j++) f.m[k][j] = (k == j) + dt * column[j][1 + k];
                const double divergence = column[0][1] + column[1][2] + column[2][3];
                const double full = fmin(fmax((mn_m3_determinant(f) - 1) / dt - divergence, -limit), limit);
                if (job->write)
                    mpm->implicit.ratio.data[i] =
                        1 + dt * (divergence + p->bulge + catch_up * (full - p->bulge));
                else
                    p->bulge = full;
            }
    }
    return MN_OK;
}

mn_status mn_mpm_implicit_bulge(mn_mpm *mpm, const mn_mpm_node *v)
{
    volume_job job = {mpm, v, false};
    return mn_parallel_for(mpm->solver.ctx, mpm->grid.table.count, BLOCK_GRAIN, find_volumes, &job);
}

mn_status mn_mpm_implicit_ratio(mn_mpm *mpm, const mn_mpm_node *v)
{
    volume_job job = {mpm, v, true};
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->implicit.ratio, mpm->particles.count));
    return mn_parallel_for(mpm->solver.ctx, mpm->grid.table.count, BLOCK_GRAIN, find_volumes, &job);
}
