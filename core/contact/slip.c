// SPDX-License-Identifier: Apache-2.0
//
// The slip of a contact without the part that a rigid rotation across its gap has (surface.h).
//
//   w(dx) = n x dn + n ((n x e1).de1 + (n x e2).de2)/(|e1|^2 + |e2|^2),   e1, e2 two edges of a triangle
//   dn    = (I - n n^T) dm/|m|,  m = e1 x e2,  n = m/|m|
//
// is the rotation of the triangle, exact for rigid motions.
#include "contact/surface.h"

#include <string.h>

/// The three vertices that carry the frame: the triangle, or the widest three of two edges.
static void choose_frame(const mn_contact_term *term, const mn_vec3 x[4], int corner[3])
{
    static const int triples[4][3] = {{1, 2, 3}, {0, 2, 3}, {0, 1, 3}, {0, 1, 2}};
    int best = 0;
    double most = -1;
    for (int k = 0; k < (term->is_edge_edge ? 4 : 1); k++) {
        const int *t = triples[k];
        const double area = mn_norm2(mn_cross(mn_sub(x[t[1]], x[t[0]]), mn_sub(x[t[2]], x[t[0]])));
        if (area > most) most = area, best = k;
    }
    memcpy(corner, triples[best], 3 * sizeof *corner);
}

mn_vec3 mn_triangle_rotation(const mn_vec3 e[2], int k, mn_vec3 delta)
{
    const mn_vec3 m = mn_cross(e[0], e[1]), n = mn_normalize(m);
    const double length = mn_norm(m), size2 = mn_norm2(e[0]) + mn_norm2(e[1]);
    if (!(length > 1e-12 * size2)) return mn_v3(0, 0, 0);
    const mn_vec3 zero = {0, 0, 0};
    const mn_vec3 d0 = k == 0 ? mn_scale(-1, delta) : k == 1 ? delta : zero;
    const mn_vec3 d1 = k == 0 ? mn_scale(-1, delta) : k == 2 ? delta : zero;
    const mn_vec3 dm = mn_add(mn_cross(d0, e[1]), mn_cross(e[0], d1));
    const mn_vec3 dn = mn_scale(1 / length, mn_axpy(dm, -mn_dot(n, dm), n));
    const double spin = (mn_dot(mn_cross(n, e[0]), d0) + mn_dot(mn_cross(n, e[1]), d1)) / size2;
    return mn_axpy(mn_cross(n, dn), spin, n);
}

void mn_contact_slip(const mn_contact_term *term, const mn_vec3 x[4], double rows[2][12])
{
    int corner[3];
    mn_vec3 tangent[2];
    const mn_vec3 n = term->near.normal;
    choose_frame(term, x, corner);
    const mn_vec3 e[2] = {mn_sub(x[corner[1]], x[corner[0]]), mn_sub(x[corner[2]], x[corner[0]])};
    mn_frame(n, &tangent[0], &tangent[1]);
    for (int i = 0; i < 4; i++)
        for (int axis = 0; axis < 3; axis++) {
            mn_vec3 delta = {0, 0, 0};
            (&delta.x)[axis] = 1;
            mn_vec3 motion = mn_scale(term->near.c[i], delta);
            for (int k = 0; k < 3; k++)
                if (corner[k] == i)
                    motion =
                        mn_axpy(motion, -term->near.distance, mn_cross(mn_triangle_rotation(e, k, delta), n));
            for (int t = 0; t < 2; t++) rows[t][3 * i + axis] = mn_dot(tangent[t], motion);
        }
}
