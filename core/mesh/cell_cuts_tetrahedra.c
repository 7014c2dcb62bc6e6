// SPDX-License-Identifier: Apache-2.0
//
// Marching tetrahedra: the cell's six tetrahedra 0 -> e_a -> e_a + e_b -> (1,1,1) [kuhn1960] share all edges
// and faces with those of the neighbouring cells, and a linear field cuts each in at most one triangle or
// quadrilateral: no ambiguity, always a closed surface.
#include "mesh/cell_cuts.h"

#include "meniscus/vec.h"

static cut_vertex edge_between(int32_t a, int32_t b)
{
    const int32_t low = a & b; // one of the two, since corners of a tetrahedron contain one another
    return (cut_vertex)(8 * low + (a ^ b));
}

static mn_vec3 corner_at(int32_t corner)
{
    return mn_v3(corner >> 2 & 1, corner >> 1 & 1, corner & 1);
}

static mn_vec3 middle_of(cut_vertex v)
{
    return mn_lerp(corner_at(v >> 3), corner_at((v >> 3) | (v & 7)), 0.5);
}

/// Appends a triangle, turned so that its normal points along `outward`.
static void add_triangle(cell_cut *cut, cut_vertex a, cut_vertex b, cut_vertex c, mn_vec3 outward)
{
    const mn_vec3 p = middle_of(a);
    const mn_vec3 normal = mn_cross(mn_sub(middle_of(b), p), mn_sub(middle_of(c), p));
    const bool turned = mn_dot(normal, outward) < 0.0;
    cut_vertex *t = cut->triangles[cut->count++];
    t[0] = a;
    t[1] = turned ? c : b;
    t[2] = turned ? b : c;
}

static void cut_tetrahedron(cell_cut *cut, const int32_t corners[4], int32_t configuration)
{
    int32_t in[4], out[4], ins = 0, outs = 0;
    mn_vec3 in_sum = {0, 0, 0}, out_sum = {0, 0, 0};
    for (int32_t i = 0; i < 4; i++) {
        if (configuration >> corners[i] & 1)
            in[ins++] = corners[i], in_sum = mn_add(in_sum, corner_at(corners[i]));
        else
            out[outs++] = corners[i], out_sum = mn_add(out_sum, corner_at(corners[i]));
    }
    if (ins == 0 || outs == 0) return;
    const mn_vec3 outward = mn_sub(mn_scale(1.0 / outs, out_sum), mn_scale(1.0 / ins, in_sum));
    if (ins == 2) {
        const cut_vertex a = edge_between(in[0], out[0]), b = edge_between(in[0], out[1]),
                         c = edge_between(in[1], out[1]), d = edge_between(in[1], out[0]);
        add_triangle(cut, a, b, c, outward);
        add_triangle(cut, a, c, d, outward);
        return;
    }
    const int32_t lone = ins == 1 ? in[0] : out[0];
    const int32_t *others = ins == 1 ? out : in;
    add_triangle(cut, edge_between(lone, others[0]), edge_between(lone, others[1]),
                 edge_between(lone, others[2]), outward);
}

void mn_cell_cuts_tetrahedra(cell_cut cuts[256])
{
    static const int32_t paths[6][2] = {{4, 6}, {4, 5}, {2, 6}, {2, 3}, {1, 5}, {1, 3}};
    for (int32_t configuration = 0; configuration < 256; configuration++) {
        cuts[configuration] = (cell_cut){0};
        for (int32_t t = 0; t < 6; t++) {
            const int32_t corners[4] = {0, paths[t][0], paths[t][1], 7};
            cut_tetrahedron(&cuts[configuration], corners, configuration);
        }
    }
}
