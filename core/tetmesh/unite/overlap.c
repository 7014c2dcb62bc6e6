// SPDX-License-Identifier: Apache-2.0
//
// The volume that two tetrahedra have in common: one is cut by the four face planes of the other, a plane at
// a time, and what stays on the inner side is kept as tetrahedra (at most three for each one cut).
#include "tetmesh/resample.h"

typedef struct plane {
    mn_vec3 normal; ///< points in
    double offset;
} plane;

static double side(const plane *p, mn_vec3 x)
{
    return mn_dot(p->normal, x) - p->offset;
}

static void inner_planes(const mn_vec3 x[4], plane planes[4])
{
    for (int32_t k = 0; k < 4; k++) {
        const int32_t *corner = mn_tet_face_corners[k];
        const mn_vec3 a = x[corner[0]];
        planes[k].normal = mn_cross(mn_sub(x[corner[2]], a), mn_sub(x[corner[1]], a));
        planes[k].offset = mn_dot(planes[k].normal, a);
    }
}

static double clip(const mn_vec3 x[4], const plane *planes, int32_t count);

/// A prism with triangles a and b, cut into three tetrahedra.
static double clip_prism(const mn_vec3 a[3], const mn_vec3 b[3], const plane *planes, int32_t count)
{
    const mn_vec3 first[4] = {a[0], a[1], a[2], b[0]}, second[4] = {a[1], a[2], b[0], b[1]},
                  third[4] = {a[2], b[0], b[1], b[2]};
    return clip(first, planes, count) + clip(second, planes, count) + clip(third, planes, count);
}

static double clip(const mn_vec3 x[4], const plane *planes, int32_t count)
{
    if (count == 0) return fabs(mn_tet_volume(x[0], x[1], x[2], x[3]));
    double s[4];
    int32_t in[4], out[4], in_count = 0, out_count = 0;
    for (int32_t k = 0; k < 4; k++) {
        s[k] = side(planes, x[k]);
        if (s[k] > 0)
            in[in_count++] = k;
        else
            out[out_count++] = k;
    }
    if (in_count == 0) return 0;
    if (out_count == 0) return clip(x, planes + 1, count - 1);
    mn_vec3 cut[4][4];
    for (int32_t i = 0; i < in_count; i++)
        for (int32_t j = 0; j < out_count; j++)
            cut[i][j] = mn_lerp(x[in[i]], x[out[j]], s[in[i]] / (s[in[i]] - s[out[j]]));
    if (in_count == 1) {
        const mn_vec3 tip[4] = {x[in[0]], cut[0][0], cut[0][1], cut[0][2]};
        return clip(tip, planes + 1, count - 1);
    }
    if (in_count == 3) {
        const mn_vec3 a[3] = {x[in[0]], x[in[1]], x[in[2]]}, b[3] = {cut[0][0], cut[1][0], cut[2][0]};
        return clip_prism(a, b, planes + 1, count - 1);
    }
    const mn_vec3 a[3] = {x[in[0]], cut[0][0], cut[0][1]}, b[3] = {x[in[1]], cut[1][0], cut[1][1]};
    return clip_prism(a, b, planes + 1, count - 1);
}

/// All corners of x lie outside one of the planes.
static bool is_apart(const mn_vec3 x[4], const plane planes[4])
{
    for (int32_t k = 0; k < 4; k++)
        if (side(&planes[k], x[0]) <= 0 && side(&planes[k], x[1]) <= 0 && side(&planes[k], x[2]) <= 0 &&
            side(&planes[k], x[3]) <= 0)
            return true;
    return false;
}

double mn_tet_overlap(const mn_vec3 a[4], const mn_vec3 b[4])
{
    // Relative to a corner, so that distance from the origin costs no digits.
    mn_vec3 x[4], y[4];
    plane of_x[4], of_y[4];
    for (int32_t k = 0; k < 4; k++) x[k] = mn_sub(a[k], a[0]), y[k] = mn_sub(b[k], a[0]);
    inner_planes(x, of_x);
    if (is_apart(y, of_x)) return 0;
    inner_planes(y, of_y);
    if (is_apart(x, of_y)) return 0;
    return clip(x, of_y, 4);
}
