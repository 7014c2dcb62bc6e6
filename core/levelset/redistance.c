// SPDX-License-Identifier: Apache-2.0
//
// Distance to the zero level on both sides of it, |grad d| = 1, in the narrow band.
//
//   - Nodes next to a change of sign get d = |phi| / |grad phi|, the gradient by the largest of the two
//     one-sided and the central difference along each axis [russo2000], as far as those neighbours are near
//     the surface themselves, and never more than the distance to a crossing on one of their own edges. That
//     keeps the zero level where it is, to second order.
//   - All others solve Godunov's upwind scheme [zhao2005],
//       sum over axes of max(d - min(d-, d+), 0)^2 = dx^2.
//     Its values depend on smaller ones only, along a path of at most sqrt(3) d / dx nodes; so that many
//     rounds of all nodes at once (Jacobi) from +infinity reach the exact solution of the scheme. That is
//     what sweeping reaches too, but here every round is parallel, in vectors, and in no order.
#include "levelset/level_set_state.h"

#include <math.h>

static const double LOCKED = 1e300;

typedef struct distance_job {
    mn_level_set *set;
    const double *from;
    double *to;
    double limit; ///< band, in dx
} distance_job;

/// Nodes with a neighbour along an axis on the other side of the zero level.
static uint64_t nodes_near(const mn_level_set *set, int32_t block)
{
    static const int32_t below[3] = {4, 10, 12}, above[3] = {22, 16, 14};
    const uint64_t own = set->inside.data[block];
    const int32_t *row = set->table.neighbours[block];
    uint64_t near = 0;
    for (int32_t axis = 0; axis < 3; axis++) {
        near |= own ^ mask_above(axis, own, mask_of(set->inside.data, row[above[axis]]));
        near |= own ^ mask_below(axis, own, mask_of(set->inside.data, row[below[axis]]));
    }
    return near;
}

static double larger(double a, double b)
{
    return a > b ? a : b;
}

/// Nodes whose neighbours below and above along each axis are near the surface.
typedef struct near_sides {
    uint64_t bits[3][2];
} near_sides;

static near_sides sides_near(const mn_level_set *set, int32_t block)
{
    static const int32_t below[3] = {4, 10, 12}, above[3] = {22, 16, 14};
    const int32_t *row = set->table.neighbours[block];
    const uint64_t own = set->near.data[block];
    near_sides sides;
    for (int32_t axis = 0; axis < 3; axis++) {
        sides.bits[axis][0] = mask_below(axis, own, mask_of(set->near.data, row[below[axis]]));
        sides.bits[axis][1] = mask_above(axis, own, mask_of(set->near.data, row[above[axis]]));
    }
    return sides;
}

/// |phi| / |grad phi| in units of dx, at most the distance to the nearest crossing on an edge.
static double near_distance(const tile *t, const near_sides *sides, int32_t i)
{
    const int32_t x = (i >> 4) + 1, y = (i >> 2 & 3) + 1, z = (i & 3) + 1;
    const double c = t->at[x][y][z];
    const double v[3][2] = {{t->at[x - 1][y][z], t->at[x + 1][y][z]},
                            {t->at[x][y - 1][z], t->at[x][y + 1][z]},
                            {t->at[x][y][z - 1], t->at[x][y][z + 1]}};
    double g2 = 0.0, crossing = 1.0;
    for (int32_t a = 0; a < 3; a++) {
        const bool low = sides->bits[a][0] >> i & 1, high = sides->bits[a][1] >> i & 1;
        double g = 0.0;
        if (low) g = larger(g, fabs(c - v[a][0]));
        if (high) g = larger(g, fabs(v[a][1] - c));
        if (low && high) g = larger(g, 0.5 * fabs(v[a][1] - v[a][0]));
        g2 += g * g;
        for (int32_t side = 0; side < 2; side++) {
            const bool crossed = (v[a][side] < 0.0) != (c < 0.0);
            const double at = c / (c - v[a][side]);
            if (crossed && at < crossing) crossing = at;
        }
    }
    const double d = fabs(c) / sqrt(g2);
    return d < crossing ? d : crossing;
}

static mn_status find_near(void *user, mn_range range)
{
    mn_level_set *set = ((distance_job *)user)->set;
    for (int64_t b = range.begin; b < range.end; b++)
        set->near.data[b] = set->deep.data[b] ? 0 : nodes_near(set, (int32_t)b);
    return MN_OK;
}

/// Distances of the nodes near the surface, in dx; `limit` at all others.
static mn_status start_blocks(void *user, mn_range range)
{
    const distance_job *job = user;
    mn_level_set *set = job->set;
    tile t;
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t b = set->active.data[a];
        double *to = job->to + (int64_t)b * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) to[i] = job->limit;
        if (!set->near.data[b]) continue;
        tile_load_faces(&set->table, b, set->phi.data, set->band, &t);
        const near_sides sides = sides_near(set, b);
        for (uint64_t bits = set->near.data[b]; bits; bits &= bits - 1) {
            const int32_t i = __builtin_ctzll(bits);
            to[i] = near_distance(&t, &sides, i);
        }
    }
    return MN_OK;
}

/// Godunov's scheme for unit spacing, from the smaller neighbour along each axis.
MN_INLINE double upwind(double a, double b, double c)
{
    const double lo = a < b ? a : b, hi = a < b ? b : a;
    const double first = lo < c ? lo : c, rest = lo < c ? c : lo;
    const double second = hi < rest ? hi : rest, third = hi < rest ? rest : hi;
    const double one = first + 1.0;
    const double gap = second - first, d2 = 2.0 - gap * gap;
    const double two = 0.5 * (first + second + sqrt(d2 > 0.0 ? d2 : 0.0));
    const double sum = first + second + third;
    const double d3 = sum * sum - 3.0 * (first * first + second * second + third * third - 1.0);
    const double three = (sum + sqrt(d3 > 0.0 ? d3 : 0.0)) * (1.0 / 3.0);
    const double at_most_two = one <= second ? one : two;
    return at_most_two <= third ? at_most_two : three;
}

/// One round: every node but the locked ones from its six neighbours.
MN_MULTIVERSION
static mn_status relax_blocks(void *user, mn_range range)
{
    const distance_job *job = user;
    const mn_level_set *set = job->set;
    tile t;
    double lock[MN_BLOCK_CELLS];
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t b = set->active.data[a];
        const uint64_t near = set->near.data[b];
        tile_load_faces(&set->table, b, job->from, job->limit, &t);
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) lock[i] = near >> i & 1 ? LOCKED : 0.0;
        double *restrict to = job->to + (int64_t)b * MN_BLOCK_CELLS;
        for (int32_t x = 1; x <= 4; x++)
            for (int32_t y = 1; y <= 4; y++)
                for (int32_t z = 1; z <= 4; z++) {
                    const double x0 = t.at[x - 1][y][z], x1 = t.at[x + 1][y][z];
                    const double y0 = t.at[x][y - 1][z], y1 = t.at[x][y + 1][z];
                    const double z0 = t.at[x][y][z - 1], z1 = t.at[x][y][z + 1];
                    const int32_t i = 16 * (x - 1) + 4 * (y - 1) + z - 1;
                    const double d =
                        upwind(x0 < x1 ? x0 : x1, y0 < y1 ? y0 : y1, z0 < z1 ? z0 : z1) + lock[i];
                    const double old = t.at[x][y][z];
                    to[i] = d < old ? d : old;
                }
    }
    return MN_OK;
}

/// phi = distance with the old sign.
static mn_status sign_blocks(void *user, mn_range range)
{
    const distance_job *job = user;
    mn_level_set *set = job->set;
    for (int64_t a = range.begin; a < range.end; a++) {
        const int64_t first = (int64_t)set->active.data[a] * MN_BLOCK_CELLS;
        const uint64_t inside = set->inside.data[set->active.data[a]];
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) {
            const double at = job->from[first + i], d = (at < job->limit ? at : job->limit) * set->table.dx;
            set->phi.data[first + i] = inside >> i & 1 ? -d : d;
        }
    }
    return MN_OK;
}

static void fill_deep(mn_level_set *set, double value, double *to)
{
    for (int32_t b = 0; b < set->table.count; b++)
        if (set->deep.data[b])
            for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) to[(int64_t)b * MN_BLOCK_CELLS + i] = value;
}

mn_status mn_level_set_redistance(mn_level_set *set)
{
    mn_context *ctx = set->ctx;
    MN_TRY(mn_array_resize(ctx, &set->near, set->table.count));
    MN_TRY(mn_array_resize(ctx, &set->third, set->phi.count));
    MN_TRY(mn_level_set_find_inside(set));
    distance_job job = {set, NULL, set->other.data, set->band * set->table.inverse_dx};
    fill_deep(set, job.limit, set->other.data);
    fill_deep(set, job.limit, set->third.data);
    MN_TRY(mn_parallel_for(ctx, set->table.count, 256, find_near, &job));
    MN_TRY(mn_parallel_for(ctx, set->active.count, ACTIVE_GRAIN, start_blocks, &job));
    const int32_t rounds = (int32_t)ceil(sqrt(3.0) * job.limit);
    job.from = set->other.data;
    for (int32_t round = 0; round < rounds; round++) {
        job.to = job.from == set->other.data ? set->third.data : set->other.data;
        MN_TRY(mn_parallel_for(ctx, set->active.count, ACTIVE_GRAIN, relax_blocks, &job));
        job.from = job.to;
    }
    fill_deep(set, -set->band, set->phi.data);
    return mn_parallel_for(ctx, set->active.count, ACTIVE_GRAIN, sign_blocks, &job);
}
