// SPDX-License-Identifier: Apache-2.0
//
// The coarse levels of the pressure equation: coarse nodes are every second node, interpolation is linear,
// coarse matrices are P^T S P.
//
//   level 1    sum over splines of (P^T g)(P^T g)^T / M, g the spline's stencil, so S itself is never stored;
//              the checkerboard term likewise (the mass correction is left out here)
//   level l+1  P^T A P; every level has stencils of 5 x 5 x 5, held in single precision
//
// Blocks that nothing but regular splines far from the sides reaches have the same stencils: they share one
// slot. Those over the water that no fluid reaches share one of zeros.
//
// Scatters run in 27 colours: blocks of one colour are three apart, and what a block of splines reaches spans
// 5 coarse nodes of the 6 between them.
#include "flow/pressure_levels.h"
#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

enum { COARSEST = 5 }; ///< nodes along the longest axis

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
    MN_TRY(MN_FLOW_ROOM(levels->ctx, &levels->coloured, grid->table.count));
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
    mn_flow_level *coarse;
    const int32_t *list;
    const float (*regular)[MN_FLOW_REACH]; ///< what a block of regular splines far from the box's sides adds;
                                           ///< NULL: unknown
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
                         float (*scratch)[MN_FLOW_REACH])
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
static void spline_outers(const mn_flow_pressure *s, int32_t block, float (*scratch)[MN_FLOW_REACH])
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
static void checkerboard_outers(const mn_flow_pressure *s, int32_t block, float (*scratch)[MN_FLOW_REACH])
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

MN_INLINE bool is_computed(const mn_flow_level *v, int32_t block)
{
    return v->block_kind.data[block] == MN_FLOW_BLOCK_MIXED || block == v->representative;
}

static void flush(mn_flow_level *coarse, mn_ivec3 block, const float (*scratch)[MN_FLOW_REACH])
{
    for (int32_t n = 0; n < 125; n++) {
        const int32_t at = mn_flow_cell_at(&coarse->grid, 2 * block.x - 1 + n / 25,
                                           2 * block.y - 1 + n / 5 % 5, 2 * block.z - 1 + n % 5);
        if (at < 0 || !is_computed(coarse, at / 64)) continue;
        float *to = mn_flow_stencils_of(coarse, at / 64) + at % 64;
        for (int32_t o = 0; o < MN_FLOW_REACH; o++) to[64 * o] += scratch[n][o];
    }
}

static mn_status assemble_range(void *user, mn_range range)
{
    const assemble_job *job = user;
    float scratch[125][MN_FLOW_REACH];
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = job->list[k];
        const mn_ivec3 c = job->s->grid->table.coords[block];
        if (job->s->levels->block_kind.data[block] == MN_FLOW_BLOCK_DRY) continue;
        if (job->regular && job->s->levels->block_kind.data[block]) {
            flush(job->coarse, c, job->regular);
            continue;
        }
        memset(scratch, 0, sizeof scratch);
        spline_outers(job->s, block, scratch);
        checkerboard_outers(job->s, block, scratch);
        flush(job->coarse, c, (const float(*)[MN_FLOW_REACH])scratch);
    }
    return MN_OK;
}

/// Finds the kinds of blocks: plain are those of which `reach` finer blocks along each axis from 2 c - 1 on
/// are all plain, dry those of which all are dry or not there.
static mn_status find_kinds(mn_context *ctx, const mn_flow_grid *fine, const uint8_t *fine_kind,
                            int32_t reach, mn_flow_level *v)
{
    int32_t slots = 0, shared[3] = {-1, -1, -1};
    MN_TRY(MN_FLOW_ROOM(ctx, &v->block_kind, v->grid.table.count));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->slot, v->grid.table.count));
    v->representative = -1;
    for (int32_t b = 0; b < v->grid.table.count; b++) {
        const mn_ivec3 c = v->grid.table.coords[b];
        bool plain = true, dry = true;
        for (int32_t k = 0; k < reach * reach * reach && (plain || dry); k++) {
            const int32_t other = mn_flow_block_at(fine, 2 * c.x - 1 + k / (reach * reach),
                                                   2 * c.y - 1 + k / reach % reach, 2 * c.z - 1 + k % reach);
            plain &= other >= 0 && fine_kind[other] == MN_FLOW_BLOCK_PLAIN;
            dry &= other < 0 || fine_kind[other] == MN_FLOW_BLOCK_DRY;
        }
        const mn_flow_block_kind kind = plain ? MN_FLOW_BLOCK_PLAIN
                                        : dry ? MN_FLOW_BLOCK_DRY
                                              : MN_FLOW_BLOCK_MIXED;
        v->block_kind.data[b] = (uint8_t)kind;
        if (plain && shared[kind] < 0) v->representative = b;
        if (shared[kind] < 0 || kind == MN_FLOW_BLOCK_MIXED) shared[kind] = slots++;
        v->slot.data[b] = shared[kind];
    }
    return MN_FLOW_ROOM(ctx, &v->stencil, (int64_t)slots * (MN_FLOW_REACH * 64));
}

static mn_status clear_level(mn_context *ctx, mn_flow_level *v)
{
    const int64_t size = mn_flow_size(&v->grid);
    mn_fill_bytes(v->stencil.data, 0, mn_bytes(v->stencil.count, sizeof(float)));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->inverse_diagonal, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->x, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->b, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->r, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &v->y, size));
    return MN_FLOW_ROOM(ctx, &v->d, size);
}

static mn_status assemble_first(mn_flow_levels *levels, const mn_flow_pressure *s)
{
    mn_flow_level *coarse = &levels->level[0];
    MN_TRY(coarsen_grid(s->grid, &coarse->grid));
    MN_TRY(MN_FLOW_ROOM(levels->ctx, &levels->block_kind, s->grid->table.count));
    for (int32_t b = 0; b < s->grid->table.count; b++)
        levels->block_kind.data[b] = s->live.data[b] == MN_FLOW_DEAD ? MN_FLOW_BLOCK_DRY
                                     : is_plain(s, b)                ? MN_FLOW_BLOCK_PLAIN
                                                                     : MN_FLOW_BLOCK_MIXED;
    MN_TRY(find_kinds(levels->ctx, s->grid, levels->block_kind.data, 4, coarse));
    MN_TRY(mn_check_cancelled(levels->ctx));
    MN_TRY(clear_level(levels->ctx, coarse));
    MN_TRY(colour_blocks(levels, s->grid));
    MN_TRY(mn_check_cancelled(levels->ctx));
    float regular[125][MN_FLOW_REACH];
    bool found = false;
    for (int32_t b = 0; b < s->grid->table.count && !found; b++) {
        if (levels->block_kind.data[b] != MN_FLOW_BLOCK_PLAIN) continue;
        memset(regular, 0, sizeof regular);
        spline_outers(s, b, regular);
        checkerboard_outers(s, b, regular);
        found = true;
    }
    for (int32_t colour = 0; colour < 27; colour++) {
        const int32_t first = levels->colour_start[colour], count = levels->colour_start[colour + 1] - first;
        assemble_job job = {s, coarse, levels->coloured.data + first,
                            found ? (const float(*)[MN_FLOW_REACH])regular : NULL};
        MN_TRY(mn_parallel_long(levels->ctx, count, 4, assemble_range, &job));
    }
    return MN_OK;
}

// ---- the next levels ----

typedef struct coarsen_job {
    const mn_flow_level *fine;
    mn_flow_level *coarse;
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
    const mn_flow_level *fine = job->fine;
    if (!is_computed(job->coarse, block)) return;
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
            const float *stencil = mn_flow_stencils_of(fine, at / 64) + at % 64;
            for (int32_t o = 0; o < MN_FLOW_REACH; o++)
                all[49 * (x + o / 25 + 1) + 7 * (y + o / 5 % 5 + 1) + z + o % 5 + 1] += w * stencil[64 * o];
        }
        if (!any) continue;
        double next[125];
        restrict_seven(1, 49, all, two);
        restrict_seven(5, 7, two, three);
        restrict_seven(25, 1, three, next);
        float *to = mn_flow_stencils_of(job->coarse, block) + cell;
        for (int32_t o = 0; o < MN_FLOW_REACH; o++) to[64 * o] = (float)next[o];
    }
}

static void invert_diagonal(mn_flow_level *v)
{
    for (int64_t at = 0; at < mn_flow_size(&v->grid); at++) {
        const float d = mn_flow_stencils_of(v, (int32_t)(at / 64))[MN_FLOW_REACH / 2 * 64 + at % 64];
        v->inverse_diagonal.data[at] = d > 1e-12F ? 1.0 / d : 0;
    }
}

mn_status mn_flow_levels_assemble(mn_flow_levels *levels, const mn_flow_pressure *s)
{
    mn_context *ctx = levels->ctx;
    MN_TRY(assemble_first(levels, s));
    invert_diagonal(&levels->level[0]);
    levels->count = 1;
    while (levels->count < MN_FLOW_LEVELS) {
        mn_flow_level *fine = &levels->level[levels->count - 1], *coarse = &levels->level[levels->count];
        int32_t longest = 0;
        for (int32_t a = 0; a < 3; a++)
            longest = fine->grid.cells[a] > longest ? fine->grid.cells[a] : longest;
        if (longest <= COARSEST) break;
        MN_TRY(coarsen_grid(&fine->grid, &coarse->grid));
        MN_TRY(find_kinds(ctx, &fine->grid, fine->block_kind.data, 3, coarse));
        MN_TRY(clear_level(ctx, coarse));
        coarsen_job job = {fine, coarse};
        MN_TRY(mn_flow_for_blocks(&coarse->grid, coarsen_block, &job));
        invert_diagonal(coarse);
        levels->count++;
        if (coarse->grid.cells[0] >= fine->grid.cells[0] && coarse->grid.cells[1] >= fine->grid.cells[1] &&
            coarse->grid.cells[2] >= fine->grid.cells[2])
            break;
    }
    return MN_OK;
}
