// SPDX-License-Identifier: Apache-2.0
//
// The level set of a union of spheres at the nodes of sparse blocks,
//
//   phi(x) = min over p of |x - x_p| - r_p,
//
// by gathering: a node looks at the spheres around it and keeps the least value, so nothing is written by two
// threads, and a minimum does not depend on order. Few nodes need their value: those near the surface.
//
//   1. Which nodes are covered by a sphere. Most blocks of a liquid are covered by the spheres of their own
//      cells alone; the nodes that are left search until they find one.
//   2. Nodes that are not covered search the spheres within 2 dx of their surface, and covered nodes search
//      the deepest sphere, when they lie within two nodes of one that is not covered. The others are
//      +-band.
#include "levelset/sphere_classes.h"
#include "levelset/sphere_search.h"

enum { UNION_GRAIN = 8 };
static const double FAR = 1e150;

typedef struct union_job {
    mn_level_set *set;
    double band; ///< in cells
} union_job;

mn_union_def mn_union_default_def(void)
{
    return (mn_union_def){.band = 3.0};
}

static mn_ivec3 first_node(const mn_level_set *set, int64_t block)
{
    const mn_ivec3 c = set->table.coords[block];
    return mn_iv3(4 * c.x, 4 * c.y, 4 * c.z);
}

// ---- 1. covered or not ----

/// Bits of the four nodes from (x, y, z) along z that spheres [begin, end) cover.
MN_INLINE uint32_t row_covered(const sphere_class *s, int32_t begin, int32_t end, double x, double y,
                               double z)
{
    const mn_double4 steps = {0, 1, 2, 3};
    mn_double4 least = {FAR, FAR, FAR, FAR};
    for (int32_t p = begin; p < end; p++) {
        const double dx = x - s->x.data[p], dy = y - s->y.data[p], r = s->equal ? s->radius : s->r.data[p];
        const mn_double4 dz = steps + (z - s->z.data[p]);
        const mn_double4 excess = dz * dz + (dx * dx + dy * dy - r * r);
        least = MN_MIN4(excess, least);
    }
    return (uint32_t)(least[0] < 0.0) | (uint32_t)(least[1] < 0.0) << 1 | (uint32_t)(least[2] < 0.0) << 2 |
           (uint32_t)(least[3] < 0.0) << 3;
}

/// Nodes that spheres in the cells they stand in, and those along z, cover.
MN_MULTIVERSION
static uint64_t covered_by_own(const mn_level_set *set, mn_ivec3 node)
{
    uint64_t covered = 0;
    for (int32_t c = 0; c < set->class_count; c++) {
        const sphere_class *s = &set->classes[c];
        const int32_t level = s->level;
        const int32_t block = mn_blocks_find(
            s->cells, mn_iv3(node.x >> (level + 2), node.y >> (level + 2), node.z >> (level + 2)));
        if (block < 0) continue;
        const int32_t *start = s->cell_start + block * MN_BLOCK_CELLS;
        for (int32_t row = 0; row < 16; row++) {
            const int32_t x = node.x + (row >> 2), y = node.y + (row & 3);
            const int32_t column = 16 * (x >> level & 3) + 4 * (y >> level & 3);
            const int32_t from = column + (node.z >> level & 3), to = column + ((node.z + 3) >> level & 3);
            covered |= (uint64_t)row_covered(s, start[from], start[to + 1], x, y, node.z) << (4 * row);
        }
    }
    return covered;
}

/// Nodes among `wanted` that any sphere covers.
MN_MULTIVERSION
static uint64_t covered_by_any(const mn_level_set *set, mn_ivec3 node, uint64_t wanted)
{
    uint64_t covered = 0;
    sphere_window window;
    for (int32_t c = 0; c < set->class_count; c++) {
        window_open(&window, &set->classes[c], node);
        if (window.block < 0) continue;
        const bool equal = set->classes[c].equal;
        for (uint64_t bits = wanted & ~covered; bits; bits &= bits - 1) {
            const int32_t i = __builtin_ctzll(bits);
            int32_t hint = -1;
            const double phi = equal ? window_search(&window, i, 0.0, true, true, &hint)
                                     : window_search(&window, i, 0.0, false, true, &hint);
            if (phi < 0.0) covered |= (uint64_t)1 << i;
        }
    }
    return covered;
}

static mn_status cover_blocks(void *user, mn_range range)
{
    mn_level_set *set = ((const union_job *)user)->set;
    for (int64_t b = range.begin; b < range.end; b++) {
        const mn_ivec3 node = first_node(set, b);
        const uint64_t own = covered_by_own(set, node);
        set->inside.data[b] = ~own ? own | covered_by_any(set, node, ~own) : own;
    }
    return MN_OK;
}

// ---- which nodes need a value ----

static uint64_t grown_along(int32_t axis, uint64_t own, uint64_t previous, uint64_t next)
{
    return own | mask_above(axis, own, next) | mask_below(axis, own, previous);
}

/// A mask grown by one node in all 26 directions, with what grows in from the neighbours.
static uint64_t grown(const mn_level_set *set, const uint64_t *masks, int64_t block)
{
    const int32_t *row = set->table.neighbours[block];
    uint64_t z[9], y[3];
    for (int32_t k = 0; k < 9; k++)
        z[k] = grown_along(2, mask_of(masks, row[3 * k + 1]), mask_of(masks, row[3 * k]),
                           mask_of(masks, row[3 * k + 2]));
    for (int32_t k = 0; k < 3; k++) y[k] = grown_along(1, z[3 * k + 1], z[3 * k], z[3 * k + 2]);
    return grown_along(0, y[1], y[0], y[2]);
}

/// The nodes of a block that are next to one of the other kind.
static uint64_t nodes_beside(const mn_level_set *set, int64_t block)
{
    const uint64_t covered = set->inside.data[block];
    return (covered & grown(set, set->outside.data, block)) |
           (~covered & grown(set, set->inside.data, block));
}

// ---- 2. values ----

/// Lowers phi of the wanted nodes by every sphere that can.
MN_MULTIVERSION
static void search_block(const mn_level_set *set, mn_ivec3 node, uint64_t wanted, double *phi)
{
    sphere_window window;
    for (int32_t c = 0; c < set->class_count; c++) {
        window_open(&window, &set->classes[c], node);
        if (window.block < 0) continue;
        const bool equal = set->classes[c].equal;
        int32_t hint = -1;
        for (uint64_t bits = wanted; bits; bits &= bits - 1) {
            const int32_t i = __builtin_ctzll(bits);
            phi[i] = equal ? window_search(&window, i, phi[i], true, false, &hint)
                           : window_search(&window, i, phi[i], false, false, &hint);
        }
    }
}

/// Covered together with its 26 neighbours, so that no surface is within the band.
static bool lies_deep(const mn_level_set *set, int64_t block)
{
    for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++)
        if (~mask_of(set->inside.data, set->table.neighbours[block][n])) return false;
    return true;
}

static mn_status fill_blocks(void *user, mn_range range)
{
    const union_job *job = user;
    mn_level_set *set = job->set;
    double phi[MN_BLOCK_CELLS];
    for (int64_t b = range.begin; b < range.end; b++) {
        const uint64_t covered = set->inside.data[b], wanted = nodes_beside(set, b);
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++)
            phi[i] = !(covered >> i & 1) ? job->band : wanted >> i & 1 ? 0.0 : -job->band;
        if (wanted) search_block(set, first_node(set, b), wanted, phi);
        double *to = set->phi.data + b * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) to[i] = phi[i] * set->table.dx;
        set->deep.data[b] = lies_deep(set, b);
    }
    return MN_OK;
}

mn_status mn_level_set_union(mn_level_set *set, const mn_union_def *def, mn_points points)
{
    mn_context *ctx = set->ctx;
    MN_TRY(mn_blocks_build_from_coords(set->blocks, mn_v3(0, 0, 0), 1.0, 0, NULL, 0));
    MN_TRY(mn_level_set_reset(set, 0.0));
    MN_TRY(mn_sphere_classes_build(set, def, &points));
    MN_TRY(mn_sphere_classes_want_blocks(set, def->band));
    MN_TRY(mn_blocks_build_from_coords(set->blocks, def->origin, def->dx, set->wanted.count, set->wanted.data,
                                       0));
    MN_TRY(mn_level_set_reset(set, def->band * def->dx));
    MN_TRY(mn_array_resize(ctx, &set->outside, set->table.count));
    union_job job = {.set = set, .band = def->band};
    MN_TRY(mn_parallel_long(ctx, set->table.count, UNION_GRAIN, cover_blocks, &job));
    for (int32_t b = 0; b < set->table.count; b++) set->outside.data[b] = ~set->inside.data[b];
    MN_TRY(mn_parallel_long(ctx, set->table.count, UNION_GRAIN, fill_blocks, &job));
    return mn_level_set_list_active(set);
}
