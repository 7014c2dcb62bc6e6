// SPDX-License-Identifier: Apache-2.0
//
// Orientation and in-circle tests with exact signs [shewchuk1997].
//
//   orient3d  | b-a  c-a  d-a |
//
// The filter takes the rounded determinant when it exceeds the error bound c eps P, with P the same
// expression with every term made positive and c from [shewchuk1997] section 4. What it cannot decide is
// computed again with expansions, from coordinates scaled by a power of two so that nothing overflows.
#include "base/predicates.h"

#include "base/expansion.h"

static const double half_ulp = 0x1p-53;
// Below this a product may have underflowed and the filter's relative bound means nothing.
static const double filter_floor = 1e-250;

// ---- exact ----

typedef struct exact3 {
    mn_expansion x, y, z;
} exact3;

static double largest_coordinate(const mn_vec3 *points, int32_t count)
{
    double largest = 0;
    for (int32_t i = 0; i < count; i++)
        largest = fmax(largest, fmax(fabs(points[i].x), fmax(fabs(points[i].y), fabs(points[i].z))));
    return largest;
}

/// The power of two that brings the largest coordinate to about one; 0 when there is nothing to scale.
static double unit_scale(const mn_vec3 *points, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!mn_is_finite3(points[i])) return 0;
    const double largest = largest_coordinate(points, count);
    if (largest == 0) return 0;
    int exponent;
    frexp(largest, &exponent);
    return ldexp(1.0, exponent < -1000 ? 1000 : -exponent);
}

static exact3 exact_difference(mn_vec3 a, mn_vec3 b)
{
    exact3 d;
    d.x = mn_expansion_difference(a.x, b.x);
    d.y = mn_expansion_difference(a.y, b.y);
    d.z = mn_expansion_difference(a.z, b.z);
    return d;
}

/// a b - c d
static mn_expansion exact_minor(const mn_expansion *a, const mn_expansion *b, const mn_expansion *c,
                                const mn_expansion *d)
{
    const mn_expansion ab = mn_expansion_product(a, b);
    const mn_expansion cd = mn_expansion_negative(mn_expansion_product(c, d));
    return mn_expansion_sum(&ab, &cd);
}

/// a x b . c
static mn_expansion exact_triple(const exact3 *a, const exact3 *b, const exact3 *c)
{
    const mn_expansion nx = exact_minor(&a->y, &b->z, &a->z, &b->y);
    const mn_expansion ny = exact_minor(&a->z, &b->x, &a->x, &b->z);
    const mn_expansion nz = exact_minor(&a->x, &b->y, &a->y, &b->x);
    const mn_expansion x = mn_expansion_product(&nx, &c->x), y = mn_expansion_product(&ny, &c->y);
    const mn_expansion z = mn_expansion_product(&nz, &c->z), xy = mn_expansion_sum(&x, &y);
    return mn_expansion_sum(&xy, &z);
}

static mn_expansion exact_square(const exact3 *a)
{
    const mn_expansion x = mn_expansion_product(&a->x, &a->x), y = mn_expansion_product(&a->y, &a->y);
    const mn_expansion z = mn_expansion_product(&a->z, &a->z), xy = mn_expansion_sum(&x, &y);
    return mn_expansion_sum(&xy, &z);
}

static double orient3d_exact(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    mn_vec3 p[4] = {a, b, c, d};
    const double scale = unit_scale(p, 4);
    if (scale == 0) return 0;
    exact3 e[3];
    for (int32_t i = 0; i < 4; i++) p[i] = mn_scale(scale, p[i]);
    for (int32_t i = 0; i < 3; i++) e[i] = exact_difference(p[i + 1], p[0]);
    const mn_expansion volume = exact_triple(&e[0], &e[1], &e[2]);
    return mn_expansion_value(&volume);
}

// ---- filtered ----

double mn_orient3d(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d)
{
    const mn_vec3 p = mn_sub(b, a), q = mn_sub(c, a), r = mn_sub(d, a);
    const double pyqz = p.y * q.z, pzqy = p.z * q.y, pzqx = p.z * q.x;
    const double pxqz = p.x * q.z, pxqy = p.x * q.y, pyqx = p.y * q.x;
    const double volume = r.x * (pyqz - pzqy) + r.y * (pzqx - pxqz) + r.z * (pxqy - pyqx);
    const double permanent = (fabs(pyqz) + fabs(pzqy)) * fabs(r.x) + (fabs(pzqx) + fabs(pxqz)) * fabs(r.y) +
                             (fabs(pxqy) + fabs(pyqx)) * fabs(r.z);
    const double bound = (7.0 + 56.0 * half_ulp) * half_ulp * permanent;
    if (permanent > filter_floor && permanent < 1 / filter_floor && fabs(volume) > bound) return volume;
    return orient3d_exact(a, b, c, d);
}

double mn_orient2d(const double a[2], const double b[2], const double c[2])
{
    const double left = (b[0] - a[0]) * (c[1] - a[1]), right = (b[1] - a[1]) * (c[0] - a[0]);
    const double value = left - right, permanent = fabs(left) + fabs(right);
    const double bound = (3.0 + 16.0 * half_ulp) * half_ulp * permanent;
    if (permanent > filter_floor && permanent < 1 / filter_floor && fabs(value) > bound) return value;
    mn_vec3 p[3] = {{a[0], a[1], 0}, {b[0], b[1], 0}, {c[0], c[1], 0}};
    const double scale = unit_scale(p, 3);
    if (scale == 0) return 0;
    for (int32_t i = 0; i < 3; i++) p[i] = mn_scale(scale, p[i]);
    const exact3 u = exact_difference(p[1], p[0]), v = exact_difference(p[2], p[0]);
    const mn_expansion area = exact_minor(&u.x, &v.y, &u.y, &v.x);
    return mn_expansion_value(&area);
}

double mn_incircle(const double a[2], const double b[2], const double c[2], const double d[2])
{
    const mn_vec3 p = mn_v3(a[0] - d[0], a[1] - d[1], 0), q = mn_v3(b[0] - d[0], b[1] - d[1], 0);
    const mn_vec3 r = mn_v3(c[0] - d[0], c[1] - d[1], 0);
    const double qr1 = q.x * r.y, qr2 = r.x * q.y, rp1 = r.x * p.y, rp2 = p.x * r.y, pq1 = p.x * q.y,
                 pq2 = q.x * p.y;
    const double lp = mn_norm2(p), lq = mn_norm2(q), lr = mn_norm2(r);
    const double value = lp * (qr1 - qr2) + lq * (rp1 - rp2) + lr * (pq1 - pq2);
    const double permanent =
        (fabs(qr1) + fabs(qr2)) * lp + (fabs(rp1) + fabs(rp2)) * lq + (fabs(pq1) + fabs(pq2)) * lr;
    const double bound = (10.0 + 96.0 * half_ulp) * half_ulp * permanent;
    if (permanent > filter_floor && permanent < 1 / filter_floor && fabs(value) > bound) return value;
    // Lift to the paraboloid: x, y and the square are the three coordinates.
    mn_vec3 x[4] = {{a[0], a[1], 0}, {b[0], b[1], 0}, {c[0], c[1], 0}, {d[0], d[1], 0}};
    const double scale = unit_scale(x, 4);
    if (scale == 0) return 0;
    exact3 e[3];
    for (int32_t i = 0; i < 4; i++) x[i] = mn_scale(scale, x[i]);
    for (int32_t i = 0; i < 3; i++) {
        e[i] = exact_difference(x[i], x[3]);
        e[i].z = exact_square(&e[i]);
    }
    const mn_expansion lifted = exact_triple(&e[0], &e[1], &e[2]);
    return mn_expansion_value(&lifted);
}
