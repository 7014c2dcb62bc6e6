// SPDX-License-Identifier: Apache-2.0
//
// The energies of one tetrahedron and one triangle, with first and second derivatives.
//
//   V = (p1-p0) x (p2-p0) . (p3-p0) / 6
//   dV/dx_k          g_k = -(b-a) x (c-a) / 6         a, b, c: face k counter-clockwise from outside
//   d2V/dx_k dx_b    [c - a]x / 6                     zero for k = b
//   dA/dx_i          n x e_i / 2                      e_i: edge opposite vertex i, n: unit normal
//   d2A/dx_i dx_j    H_ij = (e_i.e_j)/(4A) n n^T - s_ij/2 [n]x
//                    s_01 = s_12 = s_20 = 1,   s_10 = s_21 = s_02 = -1,   s_ii = 0
//
// H has the eigenvalues of the cotangent Laplacian along n, and +-sqrt(3)/2 twice each in the plane, whatever
// the shape, so its positive part has a closed form:
//   H+_ij = (e_i.e_j)/(4A) n n^T - s_ij/4 [n]x + sqrt(3)/4 (delta_ij - 1/3)(I - n n^T)
// Tested: by differences, and H+ against an eigenvalue decomposition (tests/unit/tet/test_elements.c).
#ifndef MENISCUS_TET_ELEMENTS_H
#define MENISCUS_TET_ELEMENTS_H

#include "base/simd.h"
#include "meniscus/tetmesh.h"

/// Volume and its gradient with respect to the four vertices.
MN_INLINE double mn_tet_volume_gradient(const mn_vec3 x[4], mn_vec3 g[4])
{
    const mn_vec3 e1 = mn_sub(x[1], x[0]), e2 = mn_sub(x[2], x[0]), e3 = mn_sub(x[3], x[0]);
    g[1] = mn_scale(1.0 / 6, mn_cross(e2, e3));
    g[2] = mn_scale(1.0 / 6, mn_cross(e3, e1));
    g[3] = mn_scale(1.0 / 6, mn_cross(e1, e2));
    g[0] = mn_scale(-1, mn_add(g[1], mn_add(g[2], g[3])));
    return mn_dot(g[1], e1);
}

/// The vector w with d2V/dx_k dx_j y = w x y, for k != j.
MN_INLINE mn_vec3 mn_tet_volume_curl(const mn_vec3 x[4], int k, int j)
{
    const int32_t *face = mn_tet_face_corners[k];
    const int q = face[0] == j ? 0 : face[1] == j ? 1 : 2;
    return mn_scale(1.0 / 6, mn_sub(x[face[(q + 1) % 3]], x[face[(q + 2) % 3]]));
}

/// A triangle with what its derivatives need.
typedef struct mn_triangle_shape {
    mn_vec3 normal, edge[3]; ///< unit; edge i is opposite vertex i
    double area;
} mn_triangle_shape;

MN_INLINE mn_triangle_shape mn_triangle_measure(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
    mn_triangle_shape s;
    s.edge[0] = mn_sub(c, b), s.edge[1] = mn_sub(a, c), s.edge[2] = mn_sub(b, a);
    const mn_vec3 twice = mn_cross(s.edge[2], mn_sub(c, a));
    const double length = mn_norm(twice);
    s.area = 0.5 * length;
    s.normal = length > 0 ? mn_scale(1 / length, twice) : mn_v3(0, 0, 0);
    return s;
}

MN_INLINE mn_vec3 mn_triangle_area_gradient(const mn_triangle_shape *s, int i)
{
    return mn_scale(0.5, mn_cross(s->normal, s->edge[i]));
}

/// H_ij, or its positive part; h is added to with weight w.
MN_INLINE void mn_triangle_add_hessian(const mn_triangle_shape *s, int i, int j, bool positive, double w,
                                       double h[9])
{
    if (!(s->area > 0)) return;
    const double n[3] = {s->normal.x, s->normal.y, s->normal.z};
    const double sign = i == j ? 0 : j == (i + 1) % 3 ? 1 : -1;
    const double along = w * mn_dot(s->edge[i], s->edge[j]) / (4 * s->area);
    const double turn = w * sign * (positive ? 0.25 : 0.5);
    const double plane = positive ? w * 0.4330127018922193 * ((i == j) - 1.0 / 3) : 0;
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) h[3 * a + b] += (along - plane) * n[a] * n[b] + (a == b ? plane : 0);
    // - turn [n]x
    h[1] += turn * n[2], h[2] -= turn * n[1];
    h[3] -= turn * n[2], h[5] += turn * n[0];
    h[6] += turn * n[1], h[7] -= turn * n[0];
}

#endif
