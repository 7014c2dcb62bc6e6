// SPDX-License-Identifier: Apache-2.0
//
// Frames, inverses, rotations and boxes.
#include "base/elementary.h"
#include "meniscus/vec.h"

void mn_frame(mn_vec3 n, mn_vec3 *u, mn_vec3 *v)
{
    // Branch-free and continuous but for the sign of n.z [duff2017].
    const double sign = copysign(1.0, n.z);
    const double a = -1.0 / (sign + n.z), b = n.x * n.y * a;
    *u = mn_v3(1.0 + sign * n.x * n.x * a, sign * b, -sign * n.x);
    *v = mn_v3(b, sign + n.y * n.y * a, -n.y);
}

bool mn_m3_inverse(mn_mat3 a, mn_mat3 *inverse)
{
    const double determinant = mn_m3_determinant(a);
    if (determinant == 0.0 || !isfinite(determinant)) return false;
    *inverse = mn_m3_scale(1.0 / determinant, mn_m3_transpose(mn_m3_cofactor(a)));
    return true;
}

double mn_m3_norm(mn_mat3 a)
{
    double sum = 0;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) sum += a.m[i][j] * a.m[i][j];
    return sqrt(sum);
}

mn_mat3 mn_m3_rotation(mn_vec3 degrees)
{
    const double radians = MN_PI / 180.0;
    const double cx = mn_cos(radians * degrees.x), sx = mn_sin(radians * degrees.x);
    const double cy = mn_cos(radians * degrees.y), sy = mn_sin(radians * degrees.y);
    const double cz = mn_cos(radians * degrees.z), sz = mn_sin(radians * degrees.z);
    const mn_mat3 x = {{{1, 0, 0}, {0, cx, -sx}, {0, sx, cx}}};
    const mn_mat3 y = {{{cy, 0, sy}, {0, 1, 0}, {-sy, 0, cy}}};
    const mn_mat3 z = {{{cz, -sz, 0}, {sz, cz, 0}, {0, 0, 1}}};
    return mn_m3_mul(z, mn_m3_mul(y, x));
}

mn_mat4 mn_m4_identity(void)
{
    return mn_m4_affine(mn_m3_identity(), mn_v3(0, 0, 0));
}

mn_mat4 mn_m4_mul(mn_mat4 a, mn_mat4 b)
{
    mn_mat4 r;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) {
            r.m[i][j] = 0;
            for (int k = 0; k < 4; k++) r.m[i][j] += a.m[i][k] * b.m[k][j];
        }
    return r;
}

mn_mat4 mn_m4_affine(mn_mat3 linear, mn_vec3 translation)
{
    mn_mat4 r = {{{0}}};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r.m[i][j] = linear.m[i][j];
    r.m[0][3] = translation.x, r.m[1][3] = translation.y, r.m[2][3] = translation.z;
    r.m[3][3] = 1;
    return r;
}

mn_mat3 mn_m4_linear(mn_mat4 a)
{
    mn_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r.m[i][j] = a.m[i][j];
    return r;
}

mn_vec3 mn_m4_apply_point(mn_mat4 a, mn_vec3 x)
{
    return mn_add(mn_m3_apply(mn_m4_linear(a), x), mn_v3(a.m[0][3], a.m[1][3], a.m[2][3]));
}

mn_box mn_box_empty(void)
{
    return (mn_box){{INFINITY, INFINITY, INFINITY}, {-INFINITY, -INFINITY, -INFINITY}};
}

bool mn_box_is_empty(mn_box box)
{
    return !(box.min.x <= box.max.x && box.min.y <= box.max.y && box.min.z <= box.max.z);
}

mn_box mn_box_add(mn_box box, mn_vec3 x)
{
    return (mn_box){mn_min3(box.min, x), mn_max3(box.max, x)};
}

mn_box mn_box_join(mn_box a, mn_box b)
{
    return (mn_box){mn_min3(a.min, b.min), mn_max3(a.max, b.max)};
}

mn_box mn_box_grow(mn_box box, double margin)
{
    const mn_vec3 m = mn_v3(margin, margin, margin);
    return (mn_box){mn_sub(box.min, m), mn_add(box.max, m)};
}
