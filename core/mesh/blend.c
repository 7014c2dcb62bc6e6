// SPDX-License-Identifier: Apache-2.0
//
// Values of particles blended at other places, f(x) = sum w_p f_p / sum w_p with w_p = (1 - |x - x_p|^2 /
// h_p^2)^3. Particles are sorted into classes by reach, a factor of two each, and each class into cells as
// large as its longest reach: at a place only the 27 cells around are looked at in each class, however
// different the reaches are.
#include "base/elementary.h"
#include "mesh/skin.h"

#include "base/parallel.h"
#include "meniscus/array.h"

#include <string.h>

enum { CLASS_LIMIT = 64 };

/// Particles of about one reach.
typedef struct reach_class {
    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_block_table table;
    mn_sorted_points sorted;
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(double) inverse_reach2; ///< 1 / h^2
    MN_ARRAY(int64_t) particles;     ///< which ones
    double longest;
} reach_class;

struct mn_blend {
    mn_context *ctx;
    reach_class classes[CLASS_LIMIT];
    int32_t class_count;
};

static void free_class(mn_context *ctx, reach_class *c)
{
    if (c->sort) mn_point_sort_free(c->sort);
    if (c->blocks) mn_blocks_free(c->blocks);
    mn_array_free(ctx, &c->positions);
    mn_array_free(ctx, &c->inverse_reach2);
    mn_array_free(ctx, &c->particles);
}

void mn_blend_free(mn_blend *blend)
{
    if (!blend) return;
    for (int32_t i = 0; i < CLASS_LIMIT; i++) free_class(blend->ctx, &blend->classes[i]);
    mn_release(blend->ctx, blend, sizeof *blend);
}

static mn_status add_particle(mn_blend *blend, int64_t particle, mn_vec3 x, double reach, double longest)
{
    // Class k holds reaches in (longest / 2^(k+1), longest / 2^k]; the last takes the rest.
    int32_t k = (int32_t)fmin(CLASS_LIMIT - 1, fmax(0, floor(mn_log2(longest / reach))));
    reach_class *c = &blend->classes[k];
    const double inverse = 1.0 / (reach * reach);
    MN_TRY(mn_array_push(blend->ctx, &c->positions, &x));
    MN_TRY(mn_array_push(blend->ctx, &c->inverse_reach2, &inverse));
    MN_TRY(mn_array_push(blend->ctx, &c->particles, &particle));
    c->longest = fmax(c->longest, reach);
    return MN_OK;
}

static mn_status sort_class(mn_context *ctx, reach_class *c)
{
    const mn_points points = mn_points_of(c->positions.data, c->positions.count);
    MN_TRY(mn_blocks_create(ctx, &c->blocks));
    MN_TRY(mn_point_sort_create(ctx, &c->sort));
    MN_TRY(mn_blocks_build(c->blocks, mn_v3(0, 0, 0), c->longest, points, 0, 0));
    MN_TRY(mn_point_sort_run(c->sort, c->blocks, points));
    c->table = mn_blocks_table(c->blocks);
    c->sorted = mn_point_sort_result(c->sort);
    return MN_OK;
}

static mn_status build(mn_blend *blend, int64_t count, const mn_vec3 *positions, const double *reach)
{
    double longest = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!mn_is_finite3(positions[i]) || !(reach[i] > 0) || !isfinite(reach[i]))
            return mn_fail(blend->ctx, MN_ERROR_INPUT,
                           "Particle %lld has a position or a radius that is not finite.", (long long)i);
        longest = fmax(longest, reach[i]);
    }
    for (int64_t i = 0; i < count; i++) MN_TRY(add_particle(blend, i, positions[i], reach[i], longest));
    for (int32_t k = 0; k < CLASS_LIMIT; k++) {
        if (blend->classes[k].positions.count == 0) continue;
        MN_TRY(sort_class(blend->ctx, &blend->classes[k]));
        blend->class_count = k + 1;
    }
    return MN_OK;
}

mn_status mn_blend_create(mn_context *ctx, int64_t count, const mn_vec3 *positions, const double *reach,
                          mn_blend **out)
{
    *out = NULL;
    mn_blend *blend = mn_allocate_zero(ctx, sizeof *blend);
    if (!blend) return MN_ERROR_MEMORY;
    blend->ctx = ctx;
    const mn_status status = build(blend, count, positions, reach);
    if (status != MN_OK) {
        mn_blend_free(blend);
        return status;
    }
    *out = blend;
    return MN_OK;
}

typedef struct blending {
    const mn_blend *blend;
    int32_t components;
    const double *values;
    const mn_vec3 *targets;
    double *results;
} blending;

// Adds what the particles of one cell contribute; returns the sum of their weights.
static double add_cell(const blending *b, const reach_class *c, int32_t cell, mn_vec3 x, double *result)
{
    double sum = 0;
    for (int32_t k = c->sorted.cell_start[cell]; k < c->sorted.cell_start[cell + 1]; k++) {
        const int32_t i = c->sorted.order[k];
        const double q = 1.0 - mn_norm2(mn_sub(x, c->positions.data[i])) * c->inverse_reach2.data[i];
        if (q <= 0) continue;
        const double weight = q * q * q, *value = b->values + c->particles.data[i] * b->components;
        for (int32_t m = 0; m < b->components; m++) result[m] += weight * value[m];
        sum += weight;
    }
    return sum;
}

static double add_class(const blending *b, const reach_class *c, mn_vec3 x, double *result)
{
    const mn_vec3 at = mn_scale(c->table.inverse_dx, x);
    if (!(fabs(at.x) < 1e9 && fabs(at.y) < 1e9 && fabs(at.z) < 1e9)) return 0;
    const int32_t i0 = (int32_t)floor(at.x), j0 = (int32_t)floor(at.y), k0 = (int32_t)floor(at.z);
    // One search for the block around; its neighbours are in its row.
    const int32_t block = mn_blocks_find(c->blocks, mn_iv3(i0 >> 2, j0 >> 2, k0 >> 2));
    double sum = 0;
    for (int32_t i = i0 - 1; i <= i0 + 1; i++)
        for (int32_t j = j0 - 1; j <= j0 + 1; j++)
            for (int32_t k = k0 - 1; k <= k0 + 1; k++) {
                const int32_t cell =
                    block >= 0 ? mn_block_reach(&c->table, block, i - (i0 & ~3), j - (j0 & ~3), k - (k0 & ~3))
                               : mn_blocks_find_cell(c->blocks, mn_iv3(i, j, k));
                if (cell >= 0) sum += add_cell(b, c, cell, x, result);
            }
    return sum;
}

static mn_status blend_range(void *user, mn_range range)
{
    const blending *b = user;
    for (int64_t t = range.begin; t < range.end; t++) {
        double *result = b->results + t * b->components, sum = 0;
        memset(result, 0, sizeof(double) * (size_t)b->components);
        for (int32_t k = 0; k < b->blend->class_count; k++)
            if (b->blend->classes[k].blocks)
                sum += add_class(b, &b->blend->classes[k], b->targets[t], result);
        for (int32_t m = 0; m < b->components && sum > 0; m++) result[m] /= sum;
    }
    return MN_OK;
}

mn_status mn_blend_values(const mn_blend *blend, int32_t components, const double *values,
                          int64_t target_count, const mn_vec3 *targets, double *results)
{
    blending b = {blend, components, values, targets, results};
    return mn_parallel_for(blend->ctx, target_count, 256, blend_range, &b);
}
