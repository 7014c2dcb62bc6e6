// SPDX-License-Identifier: Apache-2.0
//
// Multigrid for the pressure equation: Chebyshev's polynomial of the Jacobi-scaled matrix smooths, coarse
// levels (pressure_coarse.c) correct.
//
// One cycle is symmetric and positive, so it preconditions conjugate gradients. Tested: symmetry, flat
// iterations (tests/unit/flow/test_pressure.c).
#include "flow/pressure_levels.h"
#include "meniscus/array.h"

#include <string.h>

enum {
    SMOOTHING = 4, ///< degree on every level but the coarsest
    COARSEST_STEPS = 24,
    POWER_STEPS = 10,
    VECTOR_GRAIN = 4096
};
static const double band_width = 18.0;      ///< largest over least eigenvalue that smoothing aims at
static const double coarsest_width = 400.0; ///< the same on the coarsest level
static const double safety = 1.2;           ///< on the largest eigenvalue found by a few power steps

mn_status mn_flow_levels_create(mn_context *ctx, mn_flow_levels **out)
{
    *out = mn_allocate_zero(ctx, sizeof **out);
    if (!*out) return MN_ERROR_MEMORY;
    (*out)->ctx = ctx;
    return MN_OK;
}

void mn_flow_levels_free(mn_flow_levels *levels)
{
    if (!levels) return;
    mn_context *ctx = levels->ctx;
    for (int32_t l = 0; l < MN_FLOW_LEVELS; l++) {
        mn_flow_level *v = &levels->level[l];
        mn_flow_grid_free(&v->grid);
        mn_array_free(ctx, &v->stencil);
        mn_array_free(ctx, &v->slot);
        mn_array_free(ctx, &v->block_kind);
        mn_array_free(ctx, &v->inverse_diagonal);
        mn_array_free(ctx, &v->x);
        mn_array_free(ctx, &v->b);
        mn_array_free(ctx, &v->r);
        mn_array_free(ctx, &v->d);
        mn_array_free(ctx, &v->y);
    }
    mn_array_free(ctx, &levels->inverse_diagonal);
    mn_array_free(ctx, &levels->d);
    mn_array_free(ctx, &levels->y);
    mn_array_free(ctx, &levels->block_kind);
    mn_array_free(ctx, &levels->coloured);
    mn_release(ctx, levels, sizeof *levels);
}

// ---- applying a level ----

typedef struct level_job {
    const mn_flow_level *v;
    const double *x;
    double *y;
} level_job;

MN_MULTIVERSION static void apply_block(void *user, int32_t block)
{
    const level_job *job = user;
    double tile[8][8][8];
    mn_double4 sum[16];
    memset(sum, 0, sizeof sum);
    mn_flow_load_tile(&job->v->grid, block, job->x, -2, 8, 8, &tile[0][0][0]);
    const float *stencil = mn_flow_stencils_of(job->v, block);
    for (int32_t o = 0; o < MN_FLOW_REACH; o++) {
        const int32_t x = o / 25, y = o / 5 % 5, z = o % 5;
        for (int32_t r = 0; r < 16; r++)
            sum[r] += __builtin_convertvector(*(const mn_float4 *)(stencil + 64 * o + 4 * r), mn_double4) *
                      *(const mn_flow_row *)&tile[(r >> 2) + x][(r & 3) + y][z];
    }
    memcpy(job->y + (int64_t)block * 64, sum, sizeof sum);
}

/// A level as the smoother sees it; l = -1 is the finest.
typedef struct view {
    mn_flow_pressure *s;
    int32_t l;
    int64_t size;
    const double *inverse_diagonal;
    double *r, *d, *y;
    double largest;
} view;

static view view_of(mn_flow_pressure *s, int32_t l)
{
    mn_flow_levels *levels = s->levels;
    if (l < 0)
        return (view){s,
                      l,
                      mn_flow_size(s->grid),
                      levels->inverse_diagonal.data,
                      s->rhs.data,
                      levels->d.data,
                      levels->y.data,
                      levels->largest};
    mn_flow_level *v = &levels->level[l];
    return (view){
        s, l, mn_flow_size(&v->grid), v->inverse_diagonal.data, v->r.data, v->d.data, v->y.data, v->largest};
}

static mn_status apply_view(const view *v, const double *x, double *y)
{
    if (v->l < 0) return mn_flow_pressure_apply(v->s, x, y);
    mn_flow_level *at = &v->s->levels->level[v->l];
    level_job job = {at, x, y};
    return mn_flow_for_blocks(&at->grid, apply_block, &job);
}

// ---- smoothing ----

typedef struct vector_job {
    double *x, *d, *r;
    const double *b, *y, *inverse;
    double keep, step;
    bool first;
} vector_job;

// r = b - y (first) or r -= y;  d = keep d + step D^-1 r;  x += d.
MN_MULTIVERSION static mn_status smooth_range(void *user, mn_range range)
{
    const vector_job j = *(const vector_job *)user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const double r = j.first ? j.b[i] - (j.y ? j.y[i] : 0) : j.r[i] - j.y[i];
        const double d = (j.first ? 0 : j.keep * j.d[i]) + j.step * j.inverse[i] * r;
        j.r[i] = r, j.d[i] = d;
        j.x[i] = (j.first && !j.y ? 0 : j.x[i]) + d;
    }
    return MN_OK;
}

// Chebyshev's iteration on [largest / width, largest] of D^-1 A, `steps` of it; `zero`: x starts at 0.
static mn_status smooth(const view *v, int32_t steps, double width, bool zero, const double *b, double *x)
{
    double *y = v->y;
    mn_context *ctx = v->s->grid->ctx;
    const double high = v->largest, low = high / width;
    const double middle = 0.5 * (high + low), half = 0.5 * (high - low);
    double rho = half / middle;
    vector_job job = {x, v->d, v->r, b, NULL, v->inverse_diagonal, 0, 1.0 / middle, true};
    if (!zero) {
        MN_TRY(apply_view(v, x, y));
        job.y = y;
    }
    MN_TRY(mn_parallel_for(ctx, v->size, VECTOR_GRAIN, smooth_range, &job));
    job.first = false, job.y = y;
    for (int32_t k = 1; k < steps; k++) {
        MN_TRY(apply_view(v, v->d, y));
        const double next = 1.0 / (2.0 * middle / half - rho);
        job.keep = next * rho, job.step = 2.0 * next / half;
        rho = next;
        MN_TRY(mn_parallel_for(ctx, v->size, VECTOR_GRAIN, smooth_range, &job));
    }
    return MN_OK;
}

typedef struct power_job {
    double *x;
    const double *y, *inverse;
    double scale;
} power_job;

static void power_sum(void *user, mn_range range, double *sums)
{
    const power_job *j = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        if (!(j->inverse[i] > 0)) continue;
        sums[0] += j->x[i] * j->y[i];
        sums[1] += j->x[i] * j->x[i] / j->inverse[i];
    }
}

static mn_status power_range(void *user, mn_range range)
{
    const power_job *j = user;
    for (int64_t i = range.begin; i < range.end; i++) j->x[i] = j->scale * j->inverse[i] * j->y[i];
    return MN_OK;
}

// The largest eigenvalue of D^-1 A: Rayleigh's quotient after power steps from numbers that change sign
// often.
static mn_status find_largest(const view *v, double *largest)
{
    mn_context *ctx = v->s->grid->ctx;
    MN_TRY(mn_check_cancelled(ctx));
    for (int64_t i = 0; i < v->size; i++) {
        const uint64_t h = ((uint64_t)i + 1) * 0x9e3779b97f4a7c15u;
        v->d[i] = v->inverse_diagonal[i] > 0 ? (double)(h >> 40) / 16777216.0 - 0.5 : 0;
    }
    *largest = 1;
    for (int32_t k = 0; k < POWER_STEPS; k++) {
        MN_TRY(apply_view(v, v->d, v->y));
        power_job job = {v->d, v->y, v->inverse_diagonal, 1};
        double sums[2];
        MN_TRY(mn_parallel_sum(ctx, v->size, VECTOR_GRAIN, power_sum, &job, 2, sums));
        if (!(sums[0] > 0)) return MN_OK;
        *largest = sums[0] / sums[1] * safety;
        job.scale = 1.0 / *largest;
        MN_TRY(mn_parallel_for(ctx, v->size, VECTOR_GRAIN, power_range, &job));
    }
    return MN_OK;
}

mn_status mn_flow_levels_build(mn_flow_levels *levels, const mn_flow_pressure *pressure)
{
    mn_context *ctx = levels->ctx;
    mn_flow_pressure *s = (mn_flow_pressure *)pressure; // its scratch is used
    const int64_t size = mn_flow_size(s->grid);
    MN_TRY(MN_FLOW_ROOM(ctx, &levels->inverse_diagonal, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &levels->d, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &levels->y, size));
    for (int64_t i = 0; i < size; i++)
        levels->inverse_diagonal.data[i] = s->node.data[i] & 1 ? 1.0 / s->rhs.data[i] : 0;
    MN_TRY(mn_check_cancelled(ctx));
    MN_TRY(mn_flow_levels_assemble(levels, s));
    MN_TRY(mn_check_cancelled(ctx));
    for (int32_t l = -1; l < levels->count; l++) {
        const view v = view_of(s, l);
        MN_TRY(find_largest(&v, l < 0 ? &levels->largest : &levels->level[l].largest));
    }
    return MN_OK;
}

void mn_flow_levels_widen(mn_flow_levels *levels)
{
    levels->largest *= 1.5;
    for (int32_t l = 0; l < levels->count; l++) levels->level[l].largest *= 1.5;
}

// ---- between levels ----

typedef struct transfer_job {
    const mn_flow_grid *fine, *coarse;
    const double *from, *mask;
    double *to;
} transfer_job;

// b_coarse = P^T r, in one block of coarse nodes.
static void restrict_block(void *user, int32_t block)
{
    const transfer_job *job = user;
    const mn_ivec3 c = job->coarse->table.coords[block];
    double tile[9][9][9], z[9][9][4], y[9][4][4];
    for (int32_t i = 0; i < 9; i++)
        for (int32_t j = 0; j < 9; j++)
            for (int32_t k = 0; k < 9; k++) {
                const int32_t at =
                    mn_flow_cell_at(job->fine, 8 * c.x - 1 + i, 8 * c.y - 1 + j, 8 * c.z - 1 + k);
                tile[i][j][k] = at < 0 ? 0 : job->from[at];
            }
    for (int32_t i = 0; i < 9; i++)
        for (int32_t j = 0; j < 9; j++)
            for (int32_t k = 0; k < 4; k++)
                z[i][j][k] = 0.5 * tile[i][j][2 * k] + tile[i][j][2 * k + 1] + 0.5 * tile[i][j][2 * k + 2];
    for (int32_t i = 0; i < 9; i++)
        for (int32_t j = 0; j < 4; j++)
            for (int32_t k = 0; k < 4; k++)
                y[i][j][k] = 0.5 * z[i][2 * j][k] + z[i][2 * j + 1][k] + 0.5 * z[i][2 * j + 2][k];
    for (int32_t cell = 0; cell < 64; cell++) {
        const int32_t i = cell >> 4, j = cell >> 2 & 3, k = cell & 3;
        const int64_t at = (int64_t)block * 64 + cell;
        job->to[at] =
            job->mask[at] > 0 ? 0.5 * y[2 * i][j][k] + y[2 * i + 1][j][k] + 0.5 * y[2 * i + 2][j][k] : 0;
    }
}

// x += P x_coarse, in one block of fine nodes.
static void prolong_block(void *user, int32_t block)
{
    const transfer_job *job = user;
    const mn_ivec3 c = job->fine->table.coords[block];
    double t[3][3][3];
    for (int32_t n = 0; n < 27; n++) {
        const int32_t at =
            mn_flow_cell_at(job->coarse, 2 * c.x + n / 9, 2 * c.y + n / 3 % 3, 2 * c.z + n % 3);
        t[n / 9][n / 3 % 3][n % 3] = at < 0 ? 0 : job->from[at];
    }
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(job->mask[at] > 0)) continue;
        const int32_t i = cell >> 4, j = cell >> 2 & 3, k = cell & 3;
        double sum = 0;
        for (int32_t n = 0; n < 8; n++) {
            const int32_t a = n >> 2, b = n >> 1 & 1, d = n & 1;
            sum += t[(i + a) >> 1][(j + b) >> 1][(k + d) >> 1];
        }
        job->to[at] += 0.125 * sum;
    }
}

static mn_status subtract_range(void *user, mn_range range)
{
    const vector_job *j = user;
    for (int64_t i = range.begin; i < range.end; i++) j->r[i] = j->b[i] - j->y[i];
    return MN_OK;
}

static mn_status cycle(mn_flow_pressure *s, int32_t l, const double *b, double *x)
{
    mn_flow_levels *levels = s->levels;
    mn_context *ctx = levels->ctx;
    const view v = view_of(s, l);
    if (l == levels->count - 1) return smooth(&v, COARSEST_STEPS, coarsest_width, true, b, x);
    MN_TRY(smooth(&v, SMOOTHING, band_width, true, b, x));
    MN_TRY(apply_view(&v, x, v.y));
    vector_job job = {.r = v.r, .b = b, .y = v.y};
    MN_TRY(mn_parallel_for(ctx, v.size, VECTOR_GRAIN, subtract_range, &job));
    mn_flow_level *coarse = &levels->level[l + 1];
    const mn_flow_grid *fine = l < 0 ? s->grid : &levels->level[l].grid;
    transfer_job down = {fine, &coarse->grid, v.r, coarse->inverse_diagonal.data, coarse->b.data};
    MN_TRY(mn_flow_for_blocks(&coarse->grid, restrict_block, &down));
    MN_TRY(cycle(s, l + 1, coarse->b.data, coarse->x.data));
    transfer_job up = {fine, &coarse->grid, coarse->x.data, v.inverse_diagonal, x};
    MN_TRY(mn_flow_for_blocks(fine, prolong_block, &up));
    return smooth(&v, SMOOTHING, band_width, false, b, x);
}

void mn_flow_levels_scale(const mn_flow_levels *levels, const double *r, double *z)
{
    for (int64_t i = 0; i < levels->inverse_diagonal.count; i++)
        z[i] = levels->inverse_diagonal.data[i] * r[i];
}

double *mn_flow_levels_room(const mn_flow_levels *levels)
{
    return levels->y.data;
}

mn_status mn_flow_levels_cycle(void *pressure, const double *r, double *z)
{
    return cycle(pressure, -1, r, z);
}
