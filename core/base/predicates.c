// SPDX-License-Identifier: Apache-2.0
//
// Orientation and in-sphere tests with exact signs [shewchuk1997].
//
//   orient3d  | b-a  c-a  d-a |
//   insphere  | x_i - e, |x_i - e|^2 |, i = a, b, c, d
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

static double insphere_exact(const mn_vec3 points[5])
{
    mn_vec3 p[5];
    const double scale = unit_scale(points, 5);
    if (scale == 0) return 0;
    exact3 d[4];
    for (int32_t i = 0; i < 5; i++) p[i] = mn_scale(scale, points[i]);
    for (int32_t i = 0; i < 4; i++) d[i] = exact_difference(p[i], p[4]);
    // Expansion along the column of squares; positive inside for the orientation of mn_orient3d.
    static const int32_t rest[4][3] = {{1, 2, 3}, {0, 3, 2}, {0, 1, 3}, {0, 2, 1}};
    mn_expansion sum = {.count = 0};
    for (int32_t i = 0; i < 4; i++) {
        const mn_expansion lift = exact_square(&d[i]);
        const mn_expansion triple = exact_triple(&d[rest[i][0]], &d[rest[i][1]], &d[rest[i][2]]);
        const mn_expansion term = mn_expansion_product(&lift, &triple);
        sum = mn_expansion_sum(&sum, &term);
    }
    return mn_expansion_value(&sum);
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

double mn_insphere(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 d, mn_vec3 e)
{
    const mn_vec3 p = mn_sub(a, e), q = mn_sub(b, e), r = mn_sub(c, e), s = mn_sub(d, e);
    const double ab1 = p.x * q.y, ab2 = q.x * p.y, bc1 = q.x * r.y, bc2 = r.x * q.y;
    const double cd1 = r.x * s.y, cd2 = s.x * r.y, da1 = s.x * p.y, da2 = p.x * s.y;
    const double ac1 = p.x * r.y, ac2 = r.x * p.y, bd1 = q.x * s.y, bd2 = s.x * q.y;
    const double ab = ab1 - ab2, bc = bc1 - bc2, cd = cd1 - cd2, da = da1 - da2, ac = ac1 - ac2,
                 bd = bd1 - bd2;
    const double abc = p.z * bc - q.z * ac + r.z * ab, bcd = q.z * cd - r.z * bd + s.z * bc;
    const double cda = r.z * da + s.z * ac + p.z * cd, dab = s.z * ab + p.z * bd + q.z * da;
    const double lp = mn_norm2(p), lq = mn_norm2(q), lr = mn_norm2(r), ls = mn_norm2(s);
    // The paper's orientation is the opposite of ours, hence the sign.
    const double value = -((ls * abc - lr * dab) + (lq * cda - lp * bcd));

    const double m_ab = fabs(ab1) + fabs(ab2), m_bc = fabs(bc1) + fabs(bc2), m_cd = fabs(cd1) + fabs(cd2);
    const double m_da = fabs(da1) + fabs(da2), m_ac = fabs(ac1) + fabs(ac2), m_bd = fabs(bd1) + fabs(bd2);
    const double pz = fabs(p.z), qz = fabs(q.z), rz = fabs(r.z), sz = fabs(s.z);
    const double permanent =
        (m_cd * qz + m_bd * rz + m_bc * sz) * lp + (m_da * rz + m_ac * sz + m_cd * pz) * lq +
        (m_ab * sz + m_bd * pz + m_da * qz) * lr + (m_bc * pz + m_ac * qz + m_ab * rz) * ls;
    const double bound = (16.0 + 224.0 * half_ulp) * half_ulp * permanent;
    if (permanent > filter_floor && permanent < 1 / filter_floor && fabs(value) > bound) return value;
    const mn_vec3 points[5] = {a, b, c, d, e};
    return insphere_exact(points);
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
