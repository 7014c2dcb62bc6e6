// SPDX-License-Identifier: Apache-2.0
//
// Marching cubes [lorensen1987] that always closes: on each face of the cell the four corners alone decide
// how the cut edges are joined (where two inside corners lie opposite each other they are kept apart), so
// both cells that share the face agree. The segments on the six faces close to loops, each of which is cut
// into triangles without a diagonal that lies in a face, since the neighbour might have the same one and the
// edge would belong to four triangles; a loop for which that cannot be done gets a vertex inside.
#include "mesh/cell_cuts.h"

#include "meniscus/vec.h"

enum { LOOP_MAX = 12 };

/// Corners around each face, counter-clockwise seen from outside of the cell.
static const uint8_t faces[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                    {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};

static cut_vertex edge_between(int32_t a, int32_t b)
{
    return (cut_vertex)(8 * (a & b) + (a ^ b));
}

static mn_vec3 middle_of(cut_vertex v)
{
    const int32_t a = v >> 3, b = a | (v & 7);
    return mn_v3(0.5 * ((a >> 2) + (b >> 2)), 0.5 * ((a >> 1 & 1) + (b >> 1 & 1)), 0.5 * ((a & 1) + (b & 1)));
}

/// Whether both edges lie in one face of the cell: some coordinate is 0, or 1, on all of both.
static bool share_face(cut_vertex a, cut_vertex b)
{
    const mn_vec3 p = middle_of(a), q = middle_of(b);
    return (p.x == q.x && p.x != 0.5) || (p.y == q.y && p.y != 0.5) || (p.z == q.z && p.z != 0.5);
}

/// next[e] = the edge that follows e on the loop through it, seen from outside counter-clockwise around what
/// is inside; 0 where the edge is not cut (no vertex has the number 0 but the inner one).
static void join_edges(int32_t configuration, cut_vertex next[64])
{
    for (int32_t f = 0; f < 6; f++) {
        // Walking around the face, each run of inside corners is entered at one edge and left at another: the
        // surface cuts it off from the one to the other.
        for (int32_t i = 0; i < 4; i++) {
            const int32_t here = faces[f][i], after = faces[f][(i + 1) % 4];
            if (!(configuration >> here & 1) || configuration >> after & 1) continue;
            int32_t j = i;
            while (configuration >> faces[f][(j + 3) % 4] & 1) j = (j + 3) % 4;
            const int32_t entered = faces[f][j], before = faces[f][(j + 3) % 4];
            next[edge_between(before, entered)] = edge_between(here, after);
        }
    }
}

/// The smallest height over the longest side, squared, of a triangle between edge middles.
static double shape_of(cut_vertex a, cut_vertex b, cut_vertex c)
{
    const mn_vec3 p = middle_of(a), q = middle_of(b), r = middle_of(c);
    const double longest = fmax(mn_norm2(mn_sub(q, p)), fmax(mn_norm2(mn_sub(r, q)), mn_norm2(mn_sub(p, r))));
    return mn_norm2(mn_cross(mn_sub(q, p), mn_sub(r, p))) / (longest * longest);
}

/// The best triangulation of loop[first .. last] (closed by the edge last-first) without diagonals in faces:
/// its worst shape, -1 when there is none. The third vertex of the triangle on (i, j) goes to apex[i][j].
static double best_triangulation(const cut_vertex *loop, int32_t length, int32_t first, int32_t last,
                                 int8_t apex[LOOP_MAX][LOOP_MAX])
{
    if (last - first < 2) return 1e30;
    const bool diagonal = !(first == 0 && last == length - 1);
    if (diagonal && share_face(loop[first], loop[last])) return -1.0;
    double best = -1.0;
    for (int32_t k = first + 1; k < last; k++) {
        const double low = best_triangulation(loop, length, first, k, apex);
        const double high = best_triangulation(loop, length, k, last, apex);
        const double worst = fmin(shape_of(loop[first], loop[k], loop[last]), fmin(low, high));
        if (worst > best) {
            best = worst;
            apex[first][last] = (int8_t)k;
        }
    }
    return best;
}

static void add_triangle(cell_cut *cut, cut_vertex a, cut_vertex b, cut_vertex c)
{
    cut_vertex *t = cut->triangles[cut->count++];
    t[0] = a, t[1] = b, t[2] = c;
}

static void add_triangles(cell_cut *cut, const cut_vertex *loop, int32_t first, int32_t last,
                          int8_t apex[LOOP_MAX][LOOP_MAX])
{
    if (last - first < 2) return;
    const int32_t k = apex[first][last];
    add_triangle(cut, loop[first], loop[k], loop[last]);
    add_triangles(cut, loop, first, k, apex);
    add_triangles(cut, loop, k, last, apex);
}

static void add_loop(cell_cut *cut, const cut_vertex *loop, int32_t length)
{
    int8_t apex[LOOP_MAX][LOOP_MAX];
    if (best_triangulation(loop, length, 0, length - 1, apex) > 0.0) {
        add_triangles(cut, loop, 0, length - 1, apex);
        return;
    }
    cut->inner = true;
    cut->inner_count = length;
    for (int32_t i = 0; i < length; i++) {
        cut->inner_of[i] = loop[i];
        add_triangle(cut, loop[i], loop[(i + 1) % length], CUT_INNER);
    }
}

void mn_cell_cuts_cubes(cell_cut cuts[256])
{
    for (int32_t configuration = 0; configuration < 256; configuration++) {
        cuts[configuration] = (cell_cut){0};
        cut_vertex next[64] = {0};
        join_edges(configuration, next);
        for (int32_t e = 1; e < 64; e++) {
            cut_vertex loop[LOOP_MAX];
            int32_t length = 0;
            for (cut_vertex at = (cut_vertex)e; next[at];) {
                const cut_vertex after = next[at];
                next[at] = 0;
                loop[length++] = at;
                at = after;
            }
            if (length > 0) add_loop(&cuts[configuration], loop, length);
        }
    }
}
