// SPDX-License-Identifier: Apache-2.0
//
// Small vectors and matrices by value, and their decompositions.
#ifndef MENISCUS_VEC_H
#define MENISCUS_VEC_H

#include "meniscus/context.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_vec3 {
    double x, y, z;
} mn_vec3;

/// Row-major: m[row][column].
typedef struct mn_mat3 {
    double m[3][3];
} mn_mat3;

/// Row-major; acts on column vectors, so m[0..2][3] is the translation.
typedef struct mn_mat4 {
    double m[4][4];
} mn_mat4;

/// Axis-aligned box; empty when min > max on some axis.
typedef struct mn_box {
    mn_vec3 min, max;
} mn_box;

#define MN_PI 3.14159265358979323846

static inline mn_vec3 mn_v3(double x, double y, double z)
{
    mn_vec3 r;
    r.x = x, r.y = y, r.z = z;
    return r;
}
/// The component along x, y or z: 0, 1, 2.
static inline double mn_component(mn_vec3 v, int32_t axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}
/// m^3, of a ball.
static inline double mn_ball_volume(double radius)
{
    return (4.0 / 3.0 * MN_PI) * radius * radius * radius;
}
static inline mn_vec3 mn_add(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(a.x + b.x, a.y + b.y, a.z + b.z);
}
static inline mn_vec3 mn_sub(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(a.x - b.x, a.y - b.y, a.z - b.z);
}
static inline mn_vec3 mn_mul(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(a.x * b.x, a.y * b.y, a.z * b.z);
}
static inline mn_vec3 mn_scale(double s, mn_vec3 a)
{
    return mn_v3(s * a.x, s * a.y, s * a.z);
}
/// a + s b
static inline mn_vec3 mn_axpy(mn_vec3 a, double s, mn_vec3 b)
{
    return mn_v3(a.x + s * b.x, a.y + s * b.y, a.z + s * b.z);
}
static inline mn_vec3 mn_lerp(mn_vec3 a, mn_vec3 b, double t)
{
    return mn_axpy(a, t, mn_sub(b, a));
}
static inline double mn_dot(mn_vec3 a, mn_vec3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline mn_vec3 mn_cross(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x);
}
static inline double mn_norm2(mn_vec3 a)
{
    return mn_dot(a, a);
}
static inline double mn_norm(mn_vec3 a)
{
    return sqrt(mn_dot(a, a));
}
static inline double mn_distance(mn_vec3 a, mn_vec3 b)
{
    return mn_norm(mn_sub(a, b));
}
/// a / |a|, or zero for a vector too short to have a direction.
static inline mn_vec3 mn_normalize(mn_vec3 a)
{
    const double n = mn_norm(a);
    return n > 1e-300 ? mn_scale(1.0 / n, a) : mn_v3(0, 0, 0);
}
static inline mn_vec3 mn_min3(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(fmin(a.x, b.x), fmin(a.y, b.y), fmin(a.z, b.z));
}
static inline mn_vec3 mn_max3(mn_vec3 a, mn_vec3 b)
{
    return mn_v3(fmax(a.x, b.x), fmax(a.y, b.y), fmax(a.z, b.z));
}
static inline bool mn_is_finite3(mn_vec3 a)
{
    return isfinite(a.x) && isfinite(a.y) && isfinite(a.z);
}
/// Two unit vectors that complete the unit vector n to a right-handed frame (u, v, n) [duff2017].
MN_API void mn_frame(mn_vec3 n, mn_vec3 *u, mn_vec3 *v);

static inline mn_mat3 mn_m3_diagonal(double a, double b, double c)
{
    mn_mat3 r = {{{a, 0, 0}, {0, b, 0}, {0, 0, c}}};
    return r;
}
static inline mn_mat3 mn_m3_identity(void)
{
    return mn_m3_diagonal(1, 1, 1);
}
static inline mn_mat3 mn_m3_columns(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
    mn_mat3 r = {{{a.x, b.x, c.x}, {a.y, b.y, c.y}, {a.z, b.z, c.z}}};
    return r;
}
static inline mn_vec3 mn_m3_column(mn_mat3 a, int j)
{
    return mn_v3(a.m[0][j], a.m[1][j], a.m[2][j]);
}
static inline mn_vec3 mn_m3_row(mn_mat3 a, int i)
{
    return mn_v3(a.m[i][0], a.m[i][1], a.m[i][2]);
}
static inline mn_mat3 mn_m3_add(mn_mat3 a, mn_mat3 b)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] += b.m[i][j];
    return a;
}
static inline mn_mat3 mn_m3_scale(double s, mn_mat3 a)
{
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) a.m[i][j] *= s;
    return a;
}
static inline mn_mat3 mn_m3_mul(mn_mat3 a, mn_mat3 b)
{
    mn_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++)
            r.m[i][j] = a.m[i][0] * b.m[0][j] + a.m[i][1] * b.m[1][j] + a.m[i][2] * b.m[2][j];
    return r;
}
static inline mn_mat3 mn_m3_transpose(mn_mat3 a)
{
    mn_mat3 r;
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) r.m[i][j] = a.m[j][i];
    return r;
}
static inline mn_vec3 mn_m3_apply(mn_mat3 a, mn_vec3 v)
{
    return mn_v3(a.m[0][0] * v.x + a.m[0][1] * v.y + a.m[0][2] * v.z,
                 a.m[1][0] * v.x + a.m[1][1] * v.y + a.m[1][2] * v.z,
                 a.m[2][0] * v.x + a.m[2][1] * v.y + a.m[2][2] * v.z);
}
/// a b^T
static inline mn_mat3 mn_outer(mn_vec3 a, mn_vec3 b)
{
    mn_mat3 r = {{{a.x * b.x, a.x * b.y, a.x * b.z},
                  {a.y * b.x, a.y * b.y, a.y * b.z},
                  {a.z * b.x, a.z * b.y, a.z * b.z}}};
    return r;
}
static inline double mn_m3_trace(mn_mat3 a)
{
    return a.m[0][0] + a.m[1][1] + a.m[2][2];
}
static inline double mn_m3_determinant(mn_mat3 a)
{
    return mn_dot(mn_m3_row(a, 0), mn_cross(mn_m3_row(a, 1), mn_m3_row(a, 2)));
}
/// det(A) A^-T, defined for singular A too.
static inline mn_mat3 mn_m3_cofactor(mn_mat3 a)
{
    const mn_vec3 r0 = mn_m3_row(a, 0), r1 = mn_m3_row(a, 1), r2 = mn_m3_row(a, 2);
    return mn_m3_transpose(mn_m3_columns(mn_cross(r1, r2), mn_cross(r2, r0), mn_cross(r0, r1)));
}
/// False, and *inverse untouched, when the determinant is zero or not finite.
MN_API bool mn_m3_inverse(mn_mat3 a, mn_mat3 *inverse);
/// sqrt(sum of squares)
MN_API double mn_m3_norm(mn_mat3 a);
/// Rotation by Euler angles in degrees, applied x then y then z, as Houdini's default order.
MN_API mn_mat3 mn_m3_rotation(mn_vec3 degrees);

MN_API mn_mat4 mn_m4_identity(void);
MN_API mn_mat4 mn_m4_mul(mn_mat4 a, mn_mat4 b);
/// x -> linear x + translation
MN_API mn_mat4 mn_m4_affine(mn_mat3 linear, mn_vec3 translation);
MN_API mn_mat3 mn_m4_linear(mn_mat4 a);
MN_API mn_vec3 mn_m4_apply_point(mn_mat4 a, mn_vec3 x);

/// A = V diag(values) V^T for symmetric A (its upper triangle is read): values fall, V is a rotation. Jacobi
/// sweeps, accurate to rounding relative to |A|.
MN_API void mn_m3_eigen_symmetric(mn_mat3 a, mn_vec3 *values, mn_mat3 *vectors);

/// A = U diag(S) V^T with U and V rotations (determinant +1): |S| falls, and only the last may be negative,
/// with the sign of det A [irving2004].
MN_API void mn_m3_svd(mn_mat3 a, mn_mat3 *u, mn_vec3 *s, mn_mat3 *v);

/// A = R S with R a rotation and S symmetric; S has a negative eigenvalue when det A < 0.
MN_API void mn_m3_polar(mn_mat3 a, mn_mat3 *r, mn_mat3 *s);

/// The box that contains nothing.
MN_API mn_box mn_box_empty(void);
MN_API bool mn_box_is_empty(mn_box box);
MN_API mn_box mn_box_add(mn_box box, mn_vec3 x);
MN_API mn_box mn_box_join(mn_box a, mn_box b);
MN_API mn_box mn_box_grow(mn_box box, double margin);

#ifdef __cplusplus
}
#endif
#endif
