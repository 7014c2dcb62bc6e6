// SPDX-License-Identifier: Apache-2.0
//
// The generalized winding number [jacobson2013],
//
//   w(x) = sum over triangles of their solid angle seen from x / 4 pi,
//
// near triangles one by one [oosterom1983], far groups of them by their dipole [barill2018],
//
//   w ~ a . (m - x) / (4 pi |m - x|^3),    a area-weighted normal, m middle,
//
// when x is further than FAR_FACTOR times the group's reach from its middle.
#include "base/elementary.h"
#include "trimesh/triangles_state.h"

#include <math.h>

static const double FAR_FACTOR = 3.0;
static const double FOUR_PI = 12.566370614359172;

/// tan(omega / 2) = det(a, b, c) / (|a||b||c| + (a.b)|c| + (b.c)|a| + (c.a)|b|)
static double solid_angle(const mn_vec3 corner[3], mn_vec3 x)
{
    const mn_vec3 a = mn_sub(corner[0], x), b = mn_sub(corner[1], x), c = mn_sub(corner[2], x);
    const double la = mn_norm(a), lb = mn_norm(b), lc = mn_norm(c);
    const double det = mn_dot(a, mn_cross(b, c));
    return 2.0 * mn_atan2(det, la * lb * lc + mn_dot(a, b) * lc + mn_dot(b, c) * la + mn_dot(c, a) * lb);
}

double mn_triangles_winding(const mn_triangles *triangles, mn_vec3 x)
{
    if (!mn_is_finite3(x)) return 0.0;
    double sum = 0.0;
    int32_t stack[TREE_DEPTH_MAX], depth = 0;
    if (triangles->nodes.count > 0) stack[depth++] = 0;
    while (depth > 0) {
        const int32_t at = stack[--depth];
        const tree_node *node = &triangles->nodes.data[at];
        const tree_dipole *dipole = &triangles->dipoles.data[at];
        const mn_vec3 d = mn_sub(dipole->middle, x);
        const double distance = mn_norm(d);
        if (distance > FAR_FACTOR * dipole->reach && distance > 0.0) {
            sum += mn_dot(dipole->area_normal, d) / (distance * distance * distance);
            continue;
        }
        if (node->right >= 0) {
            stack[depth++] = node->right;
            stack[depth++] = at + 1;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++)
            sum += solid_angle(triangles->triangles.data[i].corner, x);
    }
    return sum / FOUR_PI;
}
