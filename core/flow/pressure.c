// SPDX-License-Identifier: Apache-2.0
//
// The pressure equation of the collocated grid [gagniere2020], with natural walls: one field, no
// multipliers.
//
//   M_i  = int_fluid N_i                                            lumped
//   G_ai = - int_fluid grad(chi_a) N_i + int_surface chi_a N_i n    walls by leaving their term out
//   S p  = -(G u + wall flux),  u += M^-1 G^T p,  S = G M^-1 G^T + s C
//
// A wall needs no cut of G at all in this form; the chapter's multipliers for walls give a singular system.
// The pair of spaces is not inf-sup stable: pressures that alternate along two axes are null, so s C with
//   C = sum over axis pairs Q^T Q,  Q = d2_a d2_b / 16 on nodes that have all eight neighbours in that plane
// takes them out; it vanishes on multilinear pressure and its columns sum to zero.
//
// In the box alone every factor is a product of factors along the axes, with other numbers at its ends:
// splines whose cells are all full take these (three passes of four taps). The others, near the surface and
// solids, keep a stencil of 3 x 64 numbers each.
//
// Masses are lumped and then corrected (pressure_mass.c). Tested: adjoint, fast path against stencils,
// constants, hydrostatics (tests/unit/flow/test_pressure.c).
#include "flow/pressure_parts.h"
#include "meniscus/array.h"

#include <string.h>

static const double correction_estimate = 0.6; ///< what the correction adds to 1 / M in the diagonal of S
static const double smallest_diagonal = 1e-3;  ///< of the bulk's; nodes with less follow a neighbour
static const double least_corrected =
    0.02; ///< of a full spline's mass; those with less take no part in the correction
static const double shallow = 3, deep = 6; ///< cells under the surface: all of the correction, and none
static const double wall = 2, clear = 4;   ///< cells from a solid or an open side: none of it, and all

// ---- one axis of the box ----

static mn_status build_axis(mn_context *ctx, int32_t cells, bool open_low, bool open_high, mn_flow_axis *axis)
{
    const int32_t pad = MN_FLOW_TAP_PAD;
    axis->length = (cells + 2 + MN_BLOCK_SIDE) / MN_BLOCK_SIDE * MN_BLOCK_SIDE + 3 * pad;
    MN_TRY(mn_array_resize(ctx, &axis->memory, 12 * (int64_t)axis->length));
    mn_fill_bytes(axis->memory.data, 0, mn_bytes(axis->memory.count, sizeof(double)));
    for (int32_t t = 0; t < 4; t++) {
        axis->mass[t] = axis->memory.data + t * axis->length;
        axis->slope[t] = axis->memory.data + (4 + t) * axis->length;
    }
    axis->lumped = axis->memory.data + 8 * axis->length;
    for (int32_t t = 0; t < 3; t++) axis->spread[t] = axis->memory.data + (9 + t) * axis->length;
    for (int32_t i = 0; i <= cells + 1; i++)
        for (int32_t o = -1; o <= 1; o++) {
            const int32_t c = i - o; // the spline lies o cells above it
            if (c < 1 || c > cells) continue;
            axis->lumped[i + pad] += mn_flow_cell_lump[o + 1];
            for (int32_t e = 0; e < 2; e++) {
                const int32_t t = c + e - i + 1;
                axis->mass[t][i + pad] += mn_flow_cell_mass[o + 1][e];
                axis->slope[t][i + pad] += e == 0 ? mn_flow_cell_lump[o + 1] : -mn_flow_cell_lump[o + 1];
            }
        }
    for (int32_t o = 0; o < 2; o++) { // N is 1/2 on the face from either side
        if (open_low) axis->slope[1 - o + 1][o + pad] -= 0.5;
        if (open_high) axis->slope[1 - o + 1][cells + o + pad] += 0.5;
    }
    mn_flow_build_spread(cells, axis);
    return MN_OK;
}

mn_status mn_flow_pressure_create(const mn_flow_grid *grid, const bool open[6], mn_flow_pressure *s)
{
    memset(s, 0, sizeof *s);
    s->grid = grid;
    memcpy(s->open, open, sizeof s->open);
    for (int32_t a = 0; a < 3; a++)
        MN_TRY(build_axis(grid->ctx, grid->cells[a], open[2 * a], open[2 * a + 1], &s->axis[a]));
    MN_TRY(mn_krylov_create(grid->ctx, &s->krylov));
    return mn_flow_levels_create(grid->ctx, &s->levels);
}

void mn_flow_pressure_free(mn_flow_pressure *s)
{
    if (!s->grid) return;
    mn_context *ctx = s->grid->ctx;
    for (int32_t a = 0; a < 3; a++) {
        mn_array_free(ctx, &s->axis[a].memory);
    }
    mn_array_free(ctx, &s->own[0]);
    mn_array_free(ctx, &s->own[1]);
    mn_array_free(ctx, &s->kind);
    mn_array_free(ctx, &s->node);
    mn_array_free(ctx, &s->layer);
    mn_array_free(ctx, &s->follower);
    mn_array_free(ctx, &s->live);
    mn_array_free(ctx, &s->mass);
    mn_array_free(ctx, &s->root);
    mn_array_free(ctx, &s->fraction);
    mn_array_free(ctx, &s->irregular);
    mn_array_free(ctx, &s->irregular_start);
    mn_array_free(ctx, &s->stencil);
    mn_array_free(ctx, &s->w);
    mn_array_free(ctx, &s->wall);
    mn_array_free(ctx, &s->rhs);
    mn_array_free(ctx, &s->p);
    mn_krylov_free(s->krylov);
    mn_flow_levels_free(s->levels);
    memset(s, 0, sizeof *s);
}

// ---- which cells, nodes and splines ----

static bool in_box(const mn_flow_grid *grid, mn_ivec3 c)
{
    return c.x >= 1 && c.y >= 1 && c.z >= 1 && c.x <= grid->cells[0] && c.y <= grid->cells[1] &&
           c.z <= grid->cells[2];
}

static void classify_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    const mn_flow_grid *grid = s->grid;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        double surface[8], solid[8];
        uint8_t kind = MN_FLOW_EMPTY;
        if (in_box(grid, mn_block_cell(&grid->table, block, cell))) {
            kind = MN_FLOW_FULL;
            if (job->region->surface || job->region->solid) {
                kind = MN_FLOW_EMPTY;
                if (mn_flow_load_region(grid, job->region, block, cell, surface, solid))
                    kind = (uint8_t)mn_flow_classify(job->region->surface ? surface : NULL,
                                                     job->region->solid ? solid : NULL);
            }
        }
        s->kind.data[at] = kind;
    }
}

typedef enum spline_kind { IN_AIR, REGULAR, IRREGULAR } spline_kind;

// A spline is regular when each of its cells is full or outside of the box; one that reaches no fluid has no
// mass.
MN_INLINE spline_kind kind_of_spline(const mn_flow_pressure *s, int32_t block, int32_t cell)
{
    const mn_flow_grid *grid = s->grid;
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    bool full = true, empty = true;
    for (int32_t k = 0; k < 27; k++) {
        const int32_t x = k / 9 - 1, y = k / 3 % 3 - 1, z = k % 3 - 1;
        if (!in_box(grid, mn_iv3(c.x + x, c.y + y, c.z + z))) continue;
        const int32_t at =
            mn_block_reach(&grid->table, block, (cell >> 4) + x, (cell >> 2 & 3) + y, (cell & 3) + z);
        const uint8_t kind = at < 0 ? MN_FLOW_EMPTY : s->kind.data[at];
        full &= kind == MN_FLOW_FULL, empty &= kind == MN_FLOW_EMPTY;
    }
    return full ? REGULAR : empty ? IN_AIR : IRREGULAR;
}

static void count_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    int32_t count = 0;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const spline_kind kind = kind_of_spline(s, block, cell);
        count += kind == IRREGULAR;
        s->layer.data[at] = kind == IRREGULAR;
        s->mass.data[at] = kind == REGULAR ? mn_flow_full_mass(s, block, cell) : 0;
        uint8_t node = 0;
        for (int32_t k = 0; k < 8 && !node; k++) {
            const int32_t c = mn_block_reach(&s->grid->table, block, (cell >> 4) - (k >> 2),
                                             (cell >> 2 & 3) - (k >> 1 & 1), (cell & 3) - (k & 1));
            node = c >= 0 && s->kind.data[c] != MN_FLOW_EMPTY;
        }
        s->node.data[at] = node;
    }
    s->irregular_start.data[block] = count;
}

MN_INLINE double ramp(double x, double none, double all)
{
    return fmin(fmax((x - none) / (all - none), 0), 1);
}

/// How much of the mass correction a spline takes (pressure_mass.c): all under the surface, none at solids,
/// at open sides and in the depth.
static double corrected_fraction(const mn_flow_matrix_job *job, int32_t block, int32_t cell)
{
    const mn_flow_grid *grid = job->s->grid;
    const mn_flow_region *region = job->region;
    const mn_ivec3 c = mn_block_cell(&grid->table, block, cell);
    const int32_t *n = grid->cells;
    double surface = 0, solid = 0;
    if (!region->surface || job->s->mass.data[(int64_t)block * 64 + cell] <
                                least_corrected * mn_flow_full_mass(job->s, block, cell))
        return 0;
    for (int32_t k = 0; k < 8; k++) { // nodes of the box: beyond it the distances are not the surface's
        const int32_t x = c.x + (k >> 2), y = c.y + (k >> 1 & 1), z = c.z + (k & 1);
        const int32_t at = mn_flow_cell_at(grid,
                                           x < 1          ? 1
                                           : x > n[0] + 1 ? n[0] + 1
                                                          : x,
                                           y < 1          ? 1
                                           : y > n[1] + 1 ? n[1] + 1
                                                          : y,
                                           z < 1          ? 1
                                           : z > n[2] + 1 ? n[2] + 1
                                                          : z);
        if (at < 0) return 0;
        surface += region->surface[at] / 8;
        if (region->solid) solid += region->solid[at] / 8;
    }
    double fraction = ramp(-surface, deep, shallow);
    if (region->solid) fraction *= ramp(solid, wall, clear);
    for (int32_t k = 0; k < 6; k++) {
        const int32_t place = k / 2 == 0 ? c.x : k / 2 == 1 ? c.y : c.z;
        if (job->s->open[k]) fraction *= ramp(k & 1 ? n[k / 2] - place + 0.5 : place - 0.5, wall, clear);
    }
    return fraction;
}

// diag S without C, scattered to the nodes that a block's splines reach.
static void diagonal_block(void *user, int32_t block)
{
    const mn_flow_matrix_job *job = user;
    mn_flow_pressure *s = job->s;
    int32_t next = s->irregular_start.data[block];
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        const int32_t irregular = s->layer.data[at] ? next++ : -1;
        if (s->corrected) s->root.data[at] = 0;
        if (s->mass.data[at] <= mn_flow_smallest_mass) continue;
        double g[3][64];
        mn_flow_stencil(s, block, cell, irregular, g);
        const double corrected = s->corrected ? corrected_fraction(job, block, cell) : 0;
        if (corrected > 0) s->root.data[at] = sqrt(corrected * s->mass.data[at]);
        const double inverse = (1 + correction_estimate * corrected) / s->mass.data[at];
        for (int32_t k = 0; k < 64; k++) {
            const int32_t to = mn_block_reach(&s->grid->table, block, (cell >> 4) + (k >> 4) - 1,
                                              (cell >> 2 & 3) + (k >> 2 & 3) - 1, (cell & 3) + (k & 3) - 1);
            if (to >= 0)
                s->rhs.data[to] += inverse * (g[0][k] * g[0][k] + g[1][k] * g[1][k] + g[2][k] * g[2][k]);
        }
    }
}

// diag S in the middle of the box, where nothing is cut.
static double bulk_diagonal(const mn_flow_pressure *s)
{
    double mass[3], slope[3];
    for (int32_t a = 0; a < 3; a++) {
        const mn_flow_axis *axis = &s->axis[a];
        const int32_t node = s->grid->cells[a] / 2 + 1;
        mass[a] = slope[a] = 0;
        for (int32_t t = 0; t < 4; t++) {
            const int32_t i = node + 1 - t + MN_FLOW_TAP_PAD;
            if (axis->lumped[i] <= 0) continue;
            mass[a] += axis->mass[t][i] * axis->mass[t][i] / axis->lumped[i];
            slope[a] += axis->slope[t][i] * axis->slope[t][i] / axis->lumped[i];
        }
    }
    return slope[0] * mass[1] * mass[2] + mass[0] * slope[1] * mass[2] + mass[0] * mass[1] * slope[2];
}

// Nodes of which no spline is left, and those that hardly any fluid sees. The equation of the latter would
// find thousands of times the pressure beside them for a sliver's velocity, and hold up the solver: slivers
// are local modes with hardly any energy that neither smoothing nor coarse levels see. At 1e-5 a cut tank of
// 64^3 takes 46 cycles, at 1e-4 19, at 1e-3 14, the same as one of 32^3. They take the pressure of a
// neighbour, so constants stay in the space.
static void drop_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    const double least = smallest_diagonal * bulk_diagonal(s);
    for (int64_t at = (int64_t)block * 64; at < (int64_t)block * 64 + 64; at++)
        if (!(s->rhs.data[at] > least))
            s->node.data[at] = s->rhs.data[at] > 0 && (s->node.data[at] & 1) ? MN_FLOW_FOLLOWS : 0;
}

/// The neighbour with the largest diagonal leads; without one the node is left out.
static mn_status find_leaders(mn_flow_pressure *s)
{
    s->follower.count = 0;
    for (int64_t at = 0; at < s->node.count; at++) {
        if (!(s->node.data[at] & MN_FLOW_FOLLOWS)) continue;
        mn_flow_follower f = {(int32_t)at, -1};
        const int32_t cell = (int32_t)(at & 63);
        double most = 0;
        for (int32_t k = 0; k < 27; k++) {
            const int32_t n = mn_block_reach(&s->grid->table, (int32_t)(at / 64), (cell >> 4) + k / 9 - 1,
                                             (cell >> 2 & 3) + k / 3 % 3 - 1, (cell & 3) + k % 3 - 1);
            if (n >= 0 && (s->node.data[n] & 1) && s->rhs.data[n] > most) most = s->rhs.data[n], f.leader = n;
        }
        if (f.leader < 0)
            s->node.data[at] = 0;
        else
            MN_TRY(mn_array_push(s->grid->ctx, &s->follower, &f));
    }
    return MN_OK;
}

// A pool has as many blocks of air above it as it needs for its ripples; they take no part.
static void live_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    const int64_t first = (int64_t)block * 64;
    bool live = false;
    for (int64_t at = first; at < first + 64 && !live; at++)
        live = s->mass.data[at] > mn_flow_smallest_mass || s->node.data[at];
    s->live.data[block] = live ? MN_FLOW_PLAIN : MN_FLOW_DEAD;
    for (int32_t k = 0; k < 216 && live; k++) {
        const int32_t n = mn_block_reach(&s->grid->table, block, k / 36 - 1, k / 6 % 6 - 1, k % 6 - 1);
        if (n >= 0 && (s->node.data[n] & 14) == 14) continue;
        s->live.data[block] = MN_FLOW_LIVE;
        break;
    }
    for (int32_t k = s->irregular_start.data[block]; k < s->irregular_start.data[block + 1] && !live; k++)
        memset(s->w.data + 3 * (int64_t)k, 0, 3 * sizeof(double));
}

// Velocities of blocks that take no part are zero.
static void clear_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    const int64_t first = (int64_t)block * 64;
    for (int32_t d = 0; d < 3 && s->live.data[block] == MN_FLOW_DEAD; d++) {
        memset(s->v[d] + first, 0, 64 * sizeof(double));
        if (s->corrected) memset(s->t[d] + first, 0, 64 * sizeof(double));
    }
}

mn_status mn_flow_pressure_clear(mn_flow_pressure *s)
{
    mn_flow_matrix_job job = {.s = s};
    return mn_flow_for_blocks(s->grid, clear_block, &job);
}

void mn_flow_pressure_lend(mn_flow_pressure *s, mn_double4 *v, mn_double4 *t)
{
    const int64_t size = mn_flow_size(s->grid);
    s->lent[0] = v, s->lent[1] = t;
    for (int32_t d = 0; d < 3; d++) {
        if (v) s->v[d] = (double *)v + d * size;
        if (t) s->t[d] = (double *)t + d * size;
    }
}

static mn_status find_room(mn_flow_pressure *s)
{
    const int64_t size = mn_flow_size(s->grid);
    for (int32_t k = 0; k < 2; k++) {
        if (s->lent[k] || (k == 1 && !s->corrected)) continue;
        MN_TRY(MN_FLOW_ROOM(s->grid->ctx, &s->own[k], 3 * size));
        for (int32_t d = 0; d < 3; d++) (k ? s->t : s->v)[d] = s->own[k].data + d * size;
    }
    return MN_OK;
}

// The checkerboard pairs whose eight neighbours are active.
static void node_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(s->node.data[at] & 1)) continue;
        for (int32_t pair = 0; pair < 3; pair++) {
            bool all = true;
            for (int32_t k = 0; k < 9 && all; k++) {
                const int32_t o[3] = {pair == 0 ? 0 : k / 3 - 1,
                                      pair == 1   ? 0
                                      : pair == 0 ? k / 3 - 1
                                                  : k % 3 - 1,
                                      pair == 2 ? 0 : k % 3 - 1};
                const int32_t n = mn_block_reach(&s->grid->table, block, (cell >> 4) + o[0],
                                                 (cell >> 2 & 3) + o[1], (cell & 3) + o[2]);
                all = n >= 0 && (s->node.data[n] & 1);
            }
            if (all) s->node.data[at] |= (uint8_t)(2 << pair);
        }
    }
}

// diag C: each Q that reaches a node does so with weight 1, 2 or 4 of sixteen.
static void checkerboard_block(void *user, int32_t block)
{
    mn_flow_pressure *s = ((mn_flow_matrix_job *)user)->s;
    for (int32_t cell = 0; cell < 64; cell++) {
        const int64_t at = (int64_t)block * 64 + cell;
        if (!(s->node.data[at] & 1)) continue;
        double sum = 0;
        for (int32_t pair = 0; pair < 3; pair++)
            for (int32_t k = 0; k < 9; k++) {
                const int32_t a = k / 3 - 1, b = k % 3 - 1;
                const int32_t n = mn_block_reach(&s->grid->table, block, (cell >> 4) + (pair == 0 ? 0 : a),
                                                 (cell >> 2 & 3) + (pair == 0   ? a
                                                                    : pair == 1 ? 0
                                                                                : b),
                                                 (cell & 3) + (pair == 2 ? 0 : b));
                const double w = (a ? 1.0 : 2.0) * (b ? 1.0 : 2.0) / 16.0;
                if (n >= 0 && (s->node.data[n] >> pair & 2)) sum += w * w;
            }
        s->rhs.data[at] += s->checkerboard * sum;
    }
}

mn_status mn_flow_pressure_build(mn_flow_pressure *s, const mn_flow_region *region, double alpha,
                                 bool corrected)
{
    const mn_flow_grid *grid = s->grid;
    mn_context *ctx = grid->ctx;
    const int64_t size = mn_flow_size(grid);
    mn_flow_matrix_job job = {.s = s, .region = region};
    s->corrected = corrected;
    s->sealed = !region->surface;
    for (int32_t k = 0; k < 6; k++) s->sealed &= !s->open[k];
    MN_TRY(MN_FLOW_ROOM(ctx, &s->kind, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->node, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->layer, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->live, grid->table.count));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->mass, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->root, corrected ? size : 0));
    s->wall.count = 0;
    MN_TRY(MN_FLOW_ROOM(ctx, &s->rhs, size));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->p, size));
    MN_TRY(find_room(s));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->irregular_start, grid->table.count + 1));
    mn_fill_bytes(s->rhs.data, 0, mn_bytes(size, sizeof(double)));
    MN_TRY(mn_flow_for_blocks(grid, classify_block, &job));
    MN_TRY(mn_flow_for_blocks(grid, count_block, &job));
    s->irregular_start.data[grid->table.count] = 0;
    const int32_t irregular = mn_prefix_sum_i32(s->irregular_start.data, (int64_t)grid->table.count + 1);
    MN_TRY(MN_FLOW_ROOM(ctx, &s->irregular, irregular));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->stencil, 192 * (int64_t)irregular));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->fraction, irregular));
    MN_TRY(MN_FLOW_ROOM(ctx, &s->w, 3 * (int64_t)irregular));
    MN_TRY(mn_flow_build_stencils(s, region));
    MN_TRY(mn_flow_for_coloured_blocks(grid, diagonal_block, &job));
    MN_TRY(mn_flow_for_blocks(grid, drop_block, &job));
    MN_TRY(mn_check_cancelled(ctx));
    MN_TRY(find_leaders(s));
    MN_TRY(mn_check_cancelled(ctx));
    MN_TRY(mn_flow_for_coloured_blocks(grid, node_block, &job)); // a block reads the bits of its neighbours
    MN_TRY(mn_flow_for_blocks(grid, live_block, &job));
    MN_TRY(mn_flow_pressure_clear(s));
    s->checkerboard = alpha * bulk_diagonal(s);
    MN_TRY(mn_flow_for_blocks(grid, checkerboard_block, &job));
    return mn_flow_levels_build(s->levels, s);
}
