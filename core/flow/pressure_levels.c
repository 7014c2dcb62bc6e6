// SPDX-License-Identifier: Apache-2.0
//
// Multigrid for the pressure equation: coarse nodes are every second node, interpolation is linear, coarse
// matrices are P^T S P, smoothing is Chebyshev's polynomial of the Jacobi-scaled matrix.
//
//   level 1    sum over splines of (P^T g)(P^T g)^T / M, g the spline's stencil, so S itself is never stored;
//              the checkerboard term likewise (the mass correction is left out here)
//   level l+1  P^T A P; every level has stencils of 5 x 5 x 5, held in single precision
//
// One cycle is symmetric and positive, so it preconditions conjugate gradients. Scatters run in 27 colours:
// blocks of one colour are three apart, and what a block of splines reaches spans 5 coarse nodes of the 6
// between them. Tested: symmetry, flat iterations (tests/unit/flow/test_pressure.c).
#include "flow/pressure.h"
#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

enum {
    LEVEL_LIMIT = 12,
    COARSEST = 5,  ///< nodes along the longest axis
    SMOOTHING = 4, ///< degree on every level but the coarsest
    COARSEST_STEPS = 24,
    POWER_STEPS = 10,
    REACH = 125,
    VECTOR_GRAIN = 4096
};
static const double band_width = 18.0;      ///< largest over least eigenvalue that smoothing aims at
static const double coarsest_width = 400.0; ///< the same on the coarsest level
static const double safety = 1.2;           ///< on the largest eigenvalue found by a few power steps

typedef struct level {
    mn_flow_grid grid;
    MN_ARRAY(float) stencil; ///< [block][125][64]
    mn_flow_values inverse_diagonal, x, b, r, d, y;
    double largest; ///< eigenvalue of D^-1 A
} level;

struct mn_flow_levels {
    mn_context *ctx;
    int32_t count; ///< coarse levels
    level level[LEVEL_LIMIT];
    mn_flow_values inverse_diagonal, r, d, y; ///< of the finest
    double largest;
    MN_ARRAY(int32_t) coloured; ///< fine blocks by colour of 27
    int32_t colour_start[28];
};

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
    for (int32_t l = 0; l < LEVEL_LIMIT; l++) {
        level *v = &levels->level[l];
        mn_flow_grid_free(&v->grid);
        mn_array_free(ctx, &v->stencil);
        mn_array_free(ctx, &v->inverse_diagonal);
        mn_array_free(ctx, &v->x);
        mn_array_free(ctx, &v->b);
        mn_array_free(ctx, &v->r);
        mn_array_free(ctx, &v->d);
        mn_array_free(ctx, &v->y);
    }
    mn_array_free(ctx, &levels->inverse_diagonal);
    mn_array_free(ctx, &levels->r);
    mn_array_free(ctx, &levels->d);
    mn_array_free(ctx, &levels->y);
    mn_array_free(ctx, &levels->coloured);
    mn_release(ctx, levels, sizeof *levels);
}

// ---- grids ----

// The blocks of coarse nodes that the nodes of these blocks are interpolated from.
static mn_status coarsen_grid(const mn_flow_grid *fine, mn_flow_grid *coarse)
{
    mn_context *ctx = fine->ctx;
    int32_t cells[3];
    for (int32_t a = 0; a < 3; a++) cells[a] = 2 * fine->sides[a];
    if (!coarse->ctx || cells[0] != coarse->cells[0] || cells[1] != coarse->cells[1] ||
        cells[2] != coarse->cells[2]) {
        mn_flow_grid_free(coarse);
        MN_TRY(mn_flow_grid_create(ctx, fine->origin, 2 * fine->dx, cells, coarse));
    }
    MN_TRY(mn_array_resize(ctx, &coarse->coords, 8 * (int64_t)fine->table.count));
    for (int32_t b = 0; b < fine->table.count; b++) {
        const mn_ivec3 c = fine->table.coords[b];
        for (int32_t k = 0; k < 8; k++)
            coarse->coords.data[8 * (int64_t)b + k] =
                mn_iv3((2 * c.x + (k >> 2) * 2) >> 2, (2 * c.y + (k >> 1 & 1) * 2) >> 2,
                       (2 * c.z + (k & 1) * 2) >> 2);
    }
    return mn_flow_grid_set(coarse, 8 * (int64_t)fine->table.count, coarse->coords.data);
}

static mn_status colour_blocks(mn_flow_levels *levels, const mn_flow_grid *grid)
{
    MN_TRY(mn_array_resize(levels->ctx, &levels->coloured, grid->table.count));
    int32_t next = 0;
    for (int32_t colour = 0; colour < 27; colour++) {
        levels->colour_start[colour] = next;
        for (int32_t b = 0; b < grid->table.count; b++) {
            const mn_ivec3 c = grid->table.coords[b];
            if (9 * (c.x % 3) + 3 * (c.y % 3) + c.z % 3 == colour) levels->coloured.data[next++] = b;
        }
    }
    levels->colour_start[27] = next;
    return MN_OK;
}

// ---- level 1 from the splines ----

typedef struct assemble_job {
    const mn_flow_pressure *s;
    level *coarse;
    const int32_t *list;
    const float (
        *regular)[REACH]; ///< what a block of regular splines far from the box's sides adds; NULL: unknown
} assemble_job;

/// Linear interpolation of four nodes from three coarse ones, by the parity of the first.
static const double four_from_three[2][4][3] = {{{1, 0, 0}, {0.5, 0.5, 0}, {0, 1, 0}, {0, 0.5, 0.5}},
                                                {{0.5, 0.5, 0}, {0, 1, 0}, {0, 0.5, 0.5}, {0, 0, 1}}};

MN_INLINE void restrict_stencil(const double g[64], const int32_t parity[3], double out[27])
{
    double z[16][3], y[4][9];
    for (int32_t r = 0; r < 16; r++)
        for (int32_t k = 0; k < 3; k++) {
            z[r][k] = 0;
            for (int32_t t = 0; t < 4; t++) z[r][k] += g[4 * r + t] * four_from_three[parity[2]][t][k];
        }
    for (int32_t x = 0; x < 4; x++)
        for (int32_t j = 0; j < 3; j++)
            for (int32_t k = 0; k < 3; k++) {
                y[x][3 * j + k] = 0;
                for (int32_t t = 0; t < 4; t++)
                    y[x][3 * j + k] += z[4 * x + t][k] * four_from_three[parity[1]][t][j];
            }
    for (int32_t i = 0; i < 3; i++)
        for (int32_t k = 0; k < 9; k++) {
            out[9 * i + k] = 0;
            for (int32_t t = 0; t < 4; t++) out[9 * i + k] += y[t][k] * four_from_three[parity[0]][t][i];
        }
}

// scratch[node of 5^3][125] += sum_d g_d g_d^T, with the 27 nodes starting at `first`.
MN_INLINE void add_outer(int32_t count, const double (*g)[27], double scale, const int32_t first[3],
                         float (*scratch)[REACH])
{
    for (int32_t a = 0; a < 27; a++) {
        const int32_t ax = a / 9, ay = a / 3 % 3, az = a % 3;
        float *row = scratch[25 * (first[0] + ax) + 5 * (first[1] + ay) + first[2] + az];
        for (int32_t bx = 0; bx < 3; bx++)
            for (int32_t by = 0; by < 3; by++)
                for (int32_t bz = 0; bz < 3; bz++) {
                    double sum = 0;
                    for (int32_t d = 0; d < count; d++) sum += g[d][a] * g[d][9 * bx + 3 * by + bz];
                    row[25 * (bx - ax + 2) + 5 * (by - ay + 2) + bz - az + 2] += (float)(scale * sum);
                }
    }
}

// The coarse nodes of a block of splines start at 2 b - 1 along each axis.
static void spline_outers(const mn_flow_pressure *s, int32_t block, float (*scratch)[REACH])
{
    int32_t next = s->irregular_start.data[block];
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const int32_t irregular = s->layer.data[at] ? next++ : -1;
        if (s->mass.data[at] <= 1e-9) continue;
        double g[3][64], coarse[3][27];
        mn_flow_stencil(s, block, cell, irregular, g);
        const int32_t place[3] = {cell >> 4, cell >> 2 & 3,
                                  cell & 3}; // lowest node is place - 1 in the block
        int32_t parity[3], first[3];
        for (int32_t a = 0; a < 3; a++) parity[a] = (place[a] + 1) & 1, first[a] = (place[a] + 1) >> 1;
        for (int32_t d = 0; d < 3; d++) restrict_stencil(g[d], parity, coarse[d]);
        add_outer(3, (const double(*)[27])coarse, 1.0 / s->mass.data[at], first, scratch);
    }
}

// Q on a node that is even along both its axes is (1 -2 1)/2 in coarse nodes, elsewhere zero.
static void checkerboard_outers(const mn_flow_pressure *s, int32_t block, float (*scratch)[REACH])
{
    static const double bend[3] = {0.5, -1, 0.5};
    for (int32_t cell = 0; cell < 64; cell++) {
        const uint8_t node = s->node.data[(int64_t)block * 64 + cell];
        const int32_t place[3] = {cell >> 4, cell >> 2 & 3, cell & 3};
        for (int32_t pair = 0; pair < 3; pair++) {
            const int32_t a = (pair + 1) % 3, b = (pair + 2) % 3;
            if (!(node >> pair & 2) || place[a] & 1 || place[b] & 1) continue;
            const int32_t first[3] = {(place[0] >> 1), (place[1] >> 1), (place[2] >> 1)}; // of place/2 - 1
            const double along[3] = {0, place[pair] & 1 ? 0.5 : 1.0, place[pair] & 1 ? 0.5 : 0.0};
            double q[1][27];
            for (int32_t k = 0; k < 27; k++) {
                const int32_t o[3] = {k / 9, k / 3 % 3, k % 3};
                q[0][k] = along[o[pair]] * bend[o[a]] * bend[o[b]] / 16.0;
            }
            add_outer(1, (const double(*)[27])q, s->checkerboard, first, scratch);
        }
    }
}

static bool is_plain(const mn_flow_pressure *s, int32_t block)
{
    const mn_ivec3 c = s->grid->table.coords[block];
    const int32_t low[3] = {4 * c.x, 4 * c.y, 4 * c.z};
    for (int32_t a = 0; a < 3; a++)
        if (low[a] < 4 || low[a] + 8 > s->grid->cells[a]) return false;
    if (s->irregular_start.data[block] != s->irregular_start.data[block + 1]) return false;
    for (int32_t cell = 0; cell < 64; cell++)
        if (s->node.data[(int64_t)block * 64 + cell] != 15 || s->mass.data[(int64_t)block * 64 + cell] < 0.99)
            return false;
    return true;
}

static void flush(level *coarse, mn_ivec3 block, const float (*scratch)[REACH])
{
    for (int32_t n = 0; n < 125; n++) {
        const int32_t at = mn_flow_cell_at(&coarse->grid, 2 * block.x - 1 + n / 25,
                                           2 * block.y - 1 + n / 5 % 5, 2 * block.z - 1 + n % 5);
        if (at < 0) continue;
        float *to = coarse->stencil.data + (int64_t)(at / 64) * (REACH * 64) + at % 64;
        for (int32_t o = 0; o < REACH; o++) to[64 * o] += scratch[n][o];
    }
}

static mn_status assemble_range(void *user, mn_range range)
{
    const assemble_job *job = user;
    float scratch[125][REACH];
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = job->list[k];
        const mn_ivec3 c = job->s->grid->table.coords[block];
        if (job->regular && is_plain(job->s, block)) {
            flush(job->coarse, c, job->regular);
            continue;
        }
        memset(scratch, 0, sizeof scratch);
        spline_outers(job->s, block, scratch);
        checkerboard_outers(job->s, block, scratch);
        flush(job->coarse, c, (const float(*)[REACH])scratch);
    }
    return MN_OK;
}

static mn_status clear_level(mn_context *ctx, level *v)
{
    const int64_t size = mn_flow_size(&v->grid);
    MN_TRY(mn_array_resize(ctx, &v->stencil, REACH * size));
    mn_fill_bytes(v->stencil.data, 0, mn_bytes(v->stencil.count, sizeof(float)));
    MN_TRY(mn_array_resize(ctx, &v->inverse_diagonal, size));
    MN_TRY(mn_array_resize(ctx, &v->x, size));
    MN_TRY(mn_array_resize(ctx, &v->b, size));
    MN_TRY(mn_array_resize(ctx, &v->r, size));
    MN_TRY(mn_array_resize(ctx, &v->y, size));
    return mn_array_resize(ctx, &v->d, size);
}

static mn_status assemble_first(mn_flow_levels *levels, const mn_flow_pressure *s)
{
    level *coarse = &levels->level[0];
    MN_TRY(coarsen_grid(s->grid, &coarse->grid));
    MN_TRY(clear_level(levels->ctx, coarse));
    MN_TRY(colour_blocks(levels, s->grid));
    float regular[125][REACH];
    bool found = false;
    for (int32_t b = 0; b < s->grid->table.count && !found; b++) {
        if (!is_plain(s, b)) continue;
        memset(regular, 0, sizeof regular);
        spline_outers(s, b, regular);
        checkerboard_outers(s, b, regular);
        found = true;
    }
    for (int32_t colour = 0; colour < 27; colour++) {
        const int32_t first = levels->colour_start[colour], count = levels->colour_start[colour + 1] - first;
        assemble_job job = {s, coarse, levels->coloured.data + first,
                            found ? (const float(*)[REACH])regular : NULL};
        MN_TRY(mn_parallel_for(levels->ctx, count, 4, assemble_range, &job));
    }
    return MN_OK;
}

// ---- the next levels ----

typedef struct coarsen_job {
    const level *fine;
    level *coarse;
} coarsen_job;

// Seven fine offsets -3 .. 3 to five coarse ones, along one axis of `outer` x 7 x `inner`.
static void restrict_seven(int32_t outer, int32_t inner, const double *from, double *to)
{
    for (int32_t o = 0; o < outer; o++)
        for (int32_t i = 0; i < inner; i++) {
            const double *f = from + (int64_t)o * 7 * inner + i;
            double *t = to + (int64_t)o * 5 * inner + i;
            const double a = f[0], b = f[inner], c = f[2 * inner], d = f[3 * inner], e = f[4 * inner],
                         g = f[5 * inner], h = f[6 * inner];
            t[0] = 0.5 * a, t[inner] = 0.5 * a + b + 0.5 * c, t[2 * inner] = 0.5 * c + d + 0.5 * e;
            t[3 * inner] = 0.5 * e + g + 0.5 * h, t[4 * inner] = 0.5 * h;
        }
}

static void coarsen_block(void *user, int32_t block)
{
    const coarsen_job *job = user;
    const level *fine = job->fine;
    for (int32_t cell = 0; cell < 64; cell++) {
        const mn_ivec3 c = mn_block_cell(&job->coarse->grid.table, block, cell);
        double all[343], two[5 * 49], three[125 * 7];
        memset(all, 0, sizeof all);
        bool any = false;
        for (int32_t r = 0; r < 27; r++) {
            const int32_t x = r / 9 - 1, y = r / 3 % 3 - 1, z = r % 3 - 1;
            const int32_t at = mn_flow_cell_at(&fine->grid, 2 * c.x + x, 2 * c.y + y, 2 * c.z + z);
            if (at < 0 || fine->inverse_diagonal.data[at] == 0) continue;
            any = true;
            const double w = 1.0 / (1 << (abs(x) + abs(y) + abs(z)));
            const float *stencil = fine->stencil.data + (int64_t)(at / 64) * (REACH * 64) + at % 64;
            for (int32_t o = 0; o < REACH; o++)
                all[49 * (x + o / 25 + 1) + 7 * (y + o / 5 % 5 + 1) + z + o % 5 + 1] += w * stencil[64 * o];
        }
        if (!any) continue;
        double next[125];
        restrict_seven(1, 49, all, two);
        restrict_seven(5, 7, two, three);
        restrict_seven(25, 1, three, next);
        float *to = job->coarse->stencil.data + (int64_t)block * (REACH * 64) + cell;
        for (int32_t o = 0; o < REACH; o++) to[64 * o] = (float)next[o];
    }
}

static void invert_diagonal(level *v)
{
    for (int64_t at = 0; at < mn_flow_size(&v->grid); at++) {
        const float d = v->stencil.data[at / 64 * (REACH * 64) + (int64_t)(REACH / 2) * 64 + at % 64];
        v->inverse_diagonal.data[at] = d > 1e-12F ? 1.0 / d : 0;
    }
}

// ---- applying a level ----

typedef double row4 __attribute__((vector_size(32), aligned(8)));

typedef struct level_job {
    const level *v;
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
    const float *stencil = job->v->stencil.data + (int64_t)block * (REACH * 64);
    for (int32_t o = 0; o < REACH; o++) {
        const int32_t x = o / 25, y = o / 5 % 5, z = o % 5;
        for (int32_t r = 0; r < 16; r++)
            sum[r] += __builtin_convertvector(*(const mn_float4 *)(stencil + 64 * o + 4 * r), mn_double4) *
                      *(const row4 *)&tile[(r >> 2) + x][(r & 3) + y][z];
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
                      levels->r.data,
                      levels->d.data,
                      levels->y.data,
                      levels->largest};
    level *v = &levels->level[l];
    return (view){
        s, l, mn_flow_size(&v->grid), v->inverse_diagonal.data, v->r.data, v->d.data, v->y.data, v->largest};
}

static mn_status apply_view(const view *v, const double *x, double *y)
{
    if (v->l < 0) return mn_flow_pressure_apply(v->s, x, y);
    level *at = &v->s->levels->level[v->l];
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
    MN_TRY(mn_array_resize(ctx, &levels->inverse_diagonal, size));
    MN_TRY(mn_array_resize(ctx, &levels->r, size));
    MN_TRY(mn_array_resize(ctx, &levels->d, size));
    MN_TRY(mn_array_resize(ctx, &levels->y, size));
    for (int64_t i = 0; i < size; i++)
        levels->inverse_diagonal.data[i] = s->node.data[i] & 1 ? 1.0 / s->diagonal.data[i] : 0;
    MN_TRY(assemble_first(levels, s));
    invert_diagonal(&levels->level[0]);
    levels->count = 1;
    while (levels->count < LEVEL_LIMIT) {
        level *fine = &levels->level[levels->count - 1], *coarse = &levels->level[levels->count];
        int32_t longest = 0;
        for (int32_t a = 0; a < 3; a++)
            longest = fine->grid.cells[a] > longest ? fine->grid.cells[a] : longest;
        if (longest <= COARSEST) break;
        MN_TRY(coarsen_grid(&fine->grid, &coarse->grid));
        MN_TRY(clear_level(ctx, coarse));
        coarsen_job job = {fine, coarse};
        MN_TRY(mn_flow_for_blocks(&coarse->grid, coarsen_block, &job));
        invert_diagonal(coarse);
        levels->count++;
        if (coarse->grid.cells[0] >= fine->grid.cells[0] && coarse->grid.cells[1] >= fine->grid.cells[1] &&
            coarse->grid.cells[2] >= fine->grid.cells[2])
            break;
    }
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
    level *coarse = &levels->level[l + 1];
    const mn_flow_grid *fine = l < 0 ? s->grid : &levels->level[l].grid;
    transfer_job down = {fine, &coarse->grid, v.r, coarse->inverse_diagonal.data, coarse->b.data};
    MN_TRY(mn_flow_for_blocks(&coarse->grid, restrict_block, &down));
    MN_TRY(cycle(s, l + 1, coarse->b.data, coarse->x.data));
    transfer_job up = {fine, &coarse->grid, coarse->x.data, v.inverse_diagonal, x};
    MN_TRY(mn_flow_for_blocks(fine, prolong_block, &up));
    return smooth(&v, SMOOTHING, band_width, false, b, x);
}

mn_status mn_flow_levels_cycle(void *pressure, const double *r, double *z)
{
    return cycle(pressure, -1, r, z);
}
