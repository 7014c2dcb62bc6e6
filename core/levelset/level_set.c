// SPDX-License-Identifier: Apache-2.0
//
// The level set's life, fills, shifts and samples; each stage that computes something has a file of its own.
// The method as a whole: docs/theory/surfaces.md.
#include "levelset/level_set_state.h"

#include "levelset/sphere_classes.h"
#include "space/block_set.h"

#include <string.h>

enum { SAMPLE_GRAIN = 2048 };

mn_status mn_level_set_create(mn_context *ctx, mn_level_set **set)
{
    *set = mn_allocate_zero(ctx, sizeof **set);
    if (!*set) return MN_ERROR_MEMORY;
    (*set)->ctx = ctx;
    const mn_status status = mn_blocks_create(ctx, &(*set)->blocks);
    if (status != MN_OK) {
        mn_level_set_free(*set);
        *set = NULL;
        return status;
    }
    (*set)->table = mn_blocks_table((*set)->blocks);
    return MN_OK;
}

void mn_level_set_free(mn_level_set *set)
{
    if (!set) return;
    mn_context *ctx = set->ctx;
    mn_sphere_classes_free(set);
    mn_blocks_free(set->blocks);
    mn_array_free(ctx, &set->phi);
    mn_array_free(ctx, &set->other);
    mn_array_free(ctx, &set->third);
    mn_array_free(ctx, &set->inside);
    mn_array_free(ctx, &set->deep);
    mn_array_free(ctx, &set->active);
    mn_array_free(ctx, &set->node_body);
    mn_array_free(ctx, &set->bodies);
    mn_array_free(ctx, &set->solid);
    mn_array_free(ctx, &set->cut);
    mn_array_free(ctx, &set->open);
    mn_array_free(ctx, &set->deep_wetted);
    mn_array_free(ctx, &set->wanted);
    mn_array_free(ctx, &set->near);
    mn_array_free(ctx, &set->outside);
    mn_array_free(ctx, &set->pieces);
    mn_array_free(ctx, &set->piece_start);
    mn_array_free(ctx, &set->piece_body);
    mn_array_free(ctx, &set->spread);
    mn_array_free(ctx, &set->block_body);
    mn_array_free(ctx, &set->block_sums);
    mn_array_free(ctx, &set->reaches);
    mn_array_free(ctx, &set->done);
    mn_array_free(ctx, &set->trial);
    mn_array_free(ctx, &set->bracket);
    mn_array_free(ctx, &set->measured);
    mn_release(ctx, set, sizeof *set);
}

mn_level_set_view mn_level_set_get(const mn_level_set *set)
{
    return (mn_level_set_view){.blocks = set->table,
                               .band = set->band,
                               .phi = set->phi.data,
                               .active = set->active.data,
                               .active_count = (int32_t)set->active.count,
                               .bodies = set->bodies.data,
                               .body_count = (int32_t)set->bodies.count,
                               .node_body = set->labelled ? set->node_body.data : NULL,
                               .solid = set->has_solid ? set->solid.data : NULL,
                               .cut = set->has_solid ? set->cut.data : NULL};
}

const mn_blocks *mn_level_set_blocks(const mn_level_set *set)
{
    return set->blocks;
}

mn_status mn_level_set_reset(mn_level_set *set, double band)
{
    mn_context *ctx = set->ctx;
    set->table = mn_blocks_table(set->blocks);
    set->band = band;
    set->labelled = set->has_solid = false;
    set->bodies.count = set->active.count = 0;
    const int64_t blocks = set->table.count, nodes = blocks * MN_BLOCK_CELLS;
    MN_TRY(mn_array_resize(ctx, &set->phi, nodes));
    MN_TRY(mn_array_resize(ctx, &set->other, nodes));
    MN_TRY(mn_array_resize(ctx, &set->inside, blocks));
    MN_TRY(mn_array_resize(ctx, &set->deep, blocks));
    MN_TRY(mn_array_resize(ctx, &set->active, blocks));
    set->active.count = 0;
    if (blocks > 0) memset(set->deep.data, 0, (size_t)blocks);
    return MN_OK;
}

void mn_level_set_swap(mn_level_set *set)
{
    double *phi = set->phi.data;
    const int64_t capacity = set->phi.capacity;
    set->phi.data = set->other.data, set->phi.capacity = set->other.capacity;
    set->other.data = phi, set->other.capacity = capacity;
}

mn_status mn_level_set_list_active(mn_level_set *set)
{
    set->active.count = 0;
    for (int32_t b = 0; b < set->table.count; b++)
        if (!set->deep.data[b]) set->active.data[set->active.count++] = b;
    return MN_OK;
}

static mn_status find_inside(void *user, mn_range range)
{
    mn_level_set *set = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        const double *phi = set->phi.data + b * MN_BLOCK_CELLS;
        uint64_t mask = 0;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) mask |= (uint64_t)(phi[i] < 0.0) << i;
        set->inside.data[b] = mask;
    }
    return MN_OK;
}

mn_status mn_level_set_find_inside(mn_level_set *set)
{
    return mn_parallel_for(set->ctx, set->table.count, 256, find_inside, set);
}

// ---- fill ----

typedef struct fill_job {
    mn_level_set *set;
    mn_field_fn *phi;
    void *user;
} fill_job;

static mn_status fill_blocks(void *user, mn_range range)
{
    const fill_job *job = user;
    mn_level_set *set = job->set;
    for (int64_t b = range.begin; b < range.end; b++)
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) {
            const mn_vec3 x = mn_block_node_position(&set->table, (int32_t)b, i);
            const double phi = job->phi(job->user, x);
            if (isnan(phi))
                return mn_fail(set->ctx, MN_ERROR_INPUT, "The field at (%g, %g, %g) is not finite.", x.x, x.y,
                               x.z);
            set->phi.data[b * MN_BLOCK_CELLS + i] = fmax(-set->band, fmin(set->band, phi));
        }
    return MN_OK;
}

mn_status mn_level_set_fill(mn_level_set *set, mn_vec3 origin, double dx, double band, int64_t block_count,
                            const mn_ivec3 *block_coords, mn_field_fn *phi, void *user)
{
    if (!(band >= 1.0 && band <= 4.0))
        return mn_fail(set->ctx, MN_ERROR_ARGUMENT, "The level set's band is %g cells; 1 to 4 are possible.",
                       band);
    MN_TRY(mn_blocks_build_from_coords(set->blocks, origin, dx, block_count, block_coords, 1));
    MN_TRY(mn_level_set_reset(set, band * dx));
    fill_job job = {set, phi, user};
    MN_TRY(mn_parallel_for(set->ctx, set->table.count, ACTIVE_GRAIN, fill_blocks, &job));
    return mn_level_set_list_active(set);
}

// ---- shift ----

typedef struct shift_job {
    mn_level_set *set;
    double shift;
} shift_job;

static mn_status shift_blocks(void *user, mn_range range)
{
    const shift_job *job = user;
    double *phi = job->set->phi.data;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) phi[i] += job->shift;
    return MN_OK;
}

mn_status mn_level_set_shift(mn_level_set *set, double shift)
{
    if (!isfinite(shift))
        return mn_fail(set->ctx, MN_ERROR_ARGUMENT, "The level set's shift %g m is not finite.", shift);
    shift_job job = {set, shift};
    return mn_parallel_for(set->ctx, set->table.count, 256, shift_blocks, &job);
}

// ---- sample ----

typedef struct sample_job {
    const mn_level_set *set;
    mn_points points;
    double *phi;
    mn_vec3 *gradient;
} sample_job;

static mn_status sample_points(void *user, mn_range range)
{
    const sample_job *job = user;
    const mn_level_set *set = job->set;
    mn_ivec3 last = {0, 0, 0};
    int32_t block = mn_blocks_find(set->blocks, last);
    for (int64_t p = range.begin; p < range.end; p++) {
        mn_ivec3 cell;
        if (!cells_of(set->table.origin, set->table.dx, &job->points, p, 1, &cell))
            return mn_blocks_fail_position(set->ctx, set->table.origin, set->table.dx, &job->points, p, 1);
        const mn_vec3 u =
            mn_scale(set->table.inverse_dx, mn_sub(mn_points_at(&job->points, p), set->table.origin));
        const double f[3] = {u.x - cell.x, u.y - cell.y, u.z - cell.z};
        const mn_ivec3 coord = block_of_cell(cell);
        if (coord.x != last.x || coord.y != last.y || coord.z != last.z) // points often come in their order
            last = coord, block = mn_blocks_find(set->blocks, coord);
        double value = 0.0, g[3] = {0};
        for (int32_t corner = 0; corner < 8; corner++) {
            const int32_t o[3] = {corner >> 2, corner >> 1 & 1, corner & 1};
            const mn_ivec3 at = mn_iv3(cell.x + o[0], cell.y + o[1], cell.z + o[2]);
            const int32_t node = block < 0 ? mn_blocks_find_cell(set->blocks, at)
                                           : mn_block_reach(&set->table, block, (cell.x & 3) + o[0],
                                                            (cell.y & 3) + o[1], (cell.z & 3) + o[2]);
            const double phi = node < 0 ? set->band : set->phi.data[node];
            double w[3];
            for (int32_t a = 0; a < 3; a++) w[a] = o[a] ? f[a] : 1.0 - f[a];
            value += w[0] * w[1] * w[2] * phi;
            for (int32_t a = 0; a < 3; a++)
                g[a] += (o[a] ? phi : -phi) * w[(a + 1) % 3] * w[(a + 2) % 3] * set->table.inverse_dx;
        }
        if (job->phi) job->phi[p] = value;
        if (job->gradient) job->gradient[p] = mn_v3(g[0], g[1], g[2]);
    }
    return MN_OK;
}

mn_status mn_level_set_sample(mn_level_set *set, mn_points positions, double *phi, mn_vec3 *gradient)
{
    sample_job job = {set, positions, phi, gradient};
    return mn_parallel_for(set->ctx, positions.count, SAMPLE_GRAIN, sample_points, &job);
}
