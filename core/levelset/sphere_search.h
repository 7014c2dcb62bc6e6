// SPDX-License-Identifier: Apache-2.0
//
// Search for the sphere with the least |x - x_p| - r_p at a node: cells of a class around it, those left out
// that hold nothing or cannot beat what was found. Coordinates are in units of dx.
#ifndef MENISCUS_LEVELSET_SPHERE_SEARCH_H
#define MENISCUS_LEVELSET_SPHERE_SEARCH_H

#include "levelset/level_set_state.h"

/// The 12 x 12 x 12 cells of a class around a block of nodes: its own block of cells and the 26 neighbours.
typedef struct sphere_window {
    const sphere_class *s;
    int32_t block;         ///< of cells; -1: nothing there
    mn_ivec3 first;        ///< cell 0 of the window
    mn_ivec3 node;         ///< first node of the block of nodes
    uint16_t rows[12][12]; ///< [x][y], bit z: the cell holds a sphere
    uint16_t columns[12];  ///< [x], bit y: the row holds one
} sphere_window;

MN_INLINE void window_open(sphere_window *w, const sphere_class *s, mn_ivec3 node)
{
    const int32_t shift = s->level + 2;
    const mn_ivec3 home = {node.x >> shift, node.y >> shift, node.z >> shift};
    w->s = s;
    w->node = node;
    w->block = mn_blocks_find(s->cells, home);
    w->first = mn_iv3(4 * home.x - 4, 4 * home.y - 4, 4 * home.z - 4);
    if (w->block < 0) return;
    for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n += 3) {
        uint64_t bits[3];
        for (int32_t k = 0; k < 3; k++) {
            const int32_t other = s->table.neighbours[w->block][n + k];
            bits[k] = other < 0 ? 0 : s->table.occupied[other];
        }
        for (int32_t k = 0; k < 16; k++)
            w->rows[n / 9 * 4 + k / 4][n / 3 % 3 * 4 + k % 4] =
                (uint16_t)((bits[0] >> (4 * k) & 15) | (bits[1] >> (4 * k) & 15) << 4 |
                           (bits[2] >> (4 * k) & 15) << 8);
    }
    for (int32_t x = 0; x < 12; x++) {
        uint32_t any = 0;
        for (int32_t y = 0; y < 12; y++) any |= (uint32_t)(w->rows[x][y] != 0) << y;
        w->columns[x] = (uint16_t)any;
    }
}

/// Where a node stands along one axis of the window.
typedef struct window_place {
    double at;      ///< the node, in cells of the class from the window's first
    int32_t middle; ///< the cell it stands in
    int32_t inside; ///< 1 when it stands inside of that cell, 0 at its lower end
} window_place;

MN_INLINE window_place place_of(int32_t node, int32_t level, int32_t first)
{
    const int32_t middle = (node >> level) - first;
    return (window_place){node / (double)((int64_t)1 << level) - first, middle,
                          (node & ((1 << level) - 1)) != 0};
}

/// Squared distance from a place to cell c along its axis, in cells.
MN_INLINE double gap_squared(window_place place, int32_t cell)
{
    const double below = cell - place.at, above = place.at - (cell + 1);
    const double gap = below > above ? below : above;
    return gap > 0.0 ? gap * gap : 0.0;
}

/// Cells along an axis, as bits, that may come nearer to the place than sqrt(limit) cells (limit > 0).
MN_INLINE uint32_t cells_within(window_place place, double limit)
{
    // How many whole k >= 0 have k^2 < limit, or one more.
    static const uint8_t steps[17] = {1, 2, 2, 2, 3, 3, 3, 3, 3, 4, 4, 4, 4, 4, 4, 4, 5};
    const int32_t n = steps[limit < 16.0 ? (int32_t)limit : 16];
    const int32_t low = place.middle - n, high = place.middle + n - 1 + place.inside;
    return (2u << (high < 11 ? high : 11)) - (1u << (low > 0 ? low : 0));
}

/// Spheres of one cell of the window.
MN_INLINE void window_cell(const sphere_window *w, int32_t x, int32_t y, int32_t z, int32_t *begin,
                           int32_t *end)
{
    const int32_t other = w->s->table.neighbours[w->block][9 * (x >> 2) + 3 * (y >> 2) + (z >> 2)];
    const int32_t *start = w->s->cell_start + other * MN_BLOCK_CELLS + 16 * (x & 3) + 4 * (y & 3) + (z & 3);
    *begin = start[0];
    *end = start[1];
}

/// A search under way: the least value so far, and whose it is.
typedef struct sphere_best {
    double phi;   ///< |x - x_p| - r_p; kept for classes of different radii
    double limit; ///< squared distance within which a sphere can still be better
    int32_t sphere;
} sphere_best;

MN_INLINE void try_sphere(const sphere_class *s, int32_t p, double x, double y, double z, bool equal,
                          sphere_best *best)
{
    const double dx = x - s->x.data[p], dy = y - s->y.data[p], dz = z - s->z.data[p];
    const double d2 = dx * dx + dy * dy + dz * dz;
    if (d2 >= best->limit) return;
    if (equal) {
        best->limit = d2;
        best->sphere = p;
        return;
    }
    const double phi = sqrt(d2) - s->r.data[p];
    if (phi >= best->phi) return;
    best->phi = phi;
    best->limit = (phi + s->radius) * (phi + s->radius);
    best->sphere = p;
}

/// The least of `phi` and |x - x_p| - r_p over the spheres of the window, at node i (16 x + 4 y + z) of the
/// block. `equal`: all radii are the same. `any`: stop at the first sphere that does better. *hint (-1: none)
/// is a sphere to try first, and then the one that was best: that of the node before is mostly near.
MN_INLINE double window_search(const sphere_window *w, int32_t i, double phi, bool equal, bool any,
                               int32_t *hint)
{
    const sphere_class *s = w->s;
    const int32_t level = s->level;
    const mn_ivec3 node = {w->node.x + (i >> 4), w->node.y + (i >> 2 & 3), w->node.z + (i & 3)};
    const window_place px = place_of(node.x, level, w->first.x), py = place_of(node.y, level, w->first.y),
                       pz = place_of(node.z, level, w->first.z);
    const double width = (double)((int64_t)1 << level), scale = 1.0 / (width * width);
    sphere_best best = {phi, (phi + s->radius) * (phi + s->radius), -1};
    if (*hint >= 0) try_sphere(s, *hint, node.x, node.y, node.z, equal, &best);
    for (uint32_t xs = cells_within(px, best.limit * scale); xs; xs &= xs - 1) {
        const int32_t cx = __builtin_ctz(xs);
        const double left_x = best.limit * scale - gap_squared(px, cx);
        if (left_x <= 0.0) continue;
        for (uint32_t ys = w->columns[cx] & cells_within(py, left_x); ys; ys &= ys - 1) {
            const int32_t cy = __builtin_ctz(ys);
            const double left = best.limit * scale - gap_squared(px, cx) - gap_squared(py, cy);
            if (left <= 0.0) continue;
            for (uint32_t zs = w->rows[cx][cy] & cells_within(pz, left); zs; zs &= zs - 1) {
                int32_t begin, end;
                window_cell(w, cx, cy, __builtin_ctz(zs), &begin, &end);
                for (int32_t p = begin; p < end; p++) try_sphere(s, p, node.x, node.y, node.z, equal, &best);
                if (any && best.sphere >= 0) return -1.0;
            }
        }
    }
    if (best.sphere < 0) return phi;
    *hint = best.sphere;
    return equal ? sqrt(best.limit) - s->radius : best.phi;
}

#endif
