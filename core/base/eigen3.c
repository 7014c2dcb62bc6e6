// SPDX-License-Identifier: Apache-2.0
//
// Decompositions of 3 x 3 matrices by cyclic Jacobi rotations: no closed-form roots, so nothing is lost for
// nearly equal or nearly zero eigenvalues.
//
//   A = V diag(l) V^T           symmetric, l falls, V a rotation
//   A = U diag(s) V^T           U, V rotations, |s| falls, sign of det A on the last [irving2004]
//   A = R S                     polar, R = U V^T, S = V diag(s) V^T
//
// The SVD orthogonalises the columns of A V directly (one-sided Jacobi), which keeps small singular values
// accurate; the eigenvalues of A^T A would lose half the digits.
#include "meniscus/vec.h"

enum { SWEEPS = 12 };

// c, s of the rotation that makes the off-diagonal of [[p, r], [r, q]] zero.
static void jacobi_angle(double p, double q, double r, double *c, double *s)
{
    const double theta = 0.5 * (q - p) / r;
    const double t = copysign(1.0, theta) / (fabs(theta) + sqrt(1.0 + theta * theta));
    *c = 1.0 / sqrt(1.0 + t * t);
    *s = t * *c;
}

// Columns i and j of a: (a_i, a_j) <- (c a_i - s a_j, s a_i + c a_j).
static void rotate_columns(mn_mat3 *a, int i, int j, double c, double s)
{
    for (int k = 0; k < 3; k++) {
        const double x = a->m[k][i], y = a->m[k][j];
        a->m[k][i] = c * x - s * y;
        a->m[k][j] = s * x + c * y;
    }
}

static void swap_columns(mn_mat3 *a, int i, int j)
{
    for (int k = 0; k < 3; k++) {
        const double x = a->m[k][i];
        a->m[k][i] = a->m[k][j];
        a->m[k][j] = -x; // keeps the determinant
    }
}

void mn_m3_eigen_symmetric(mn_mat3 a, mn_vec3 *values, mn_mat3 *vectors)
{
    a.m[1][0] = a.m[0][1], a.m[2][0] = a.m[0][2], a.m[2][1] = a.m[1][2];
    mn_mat3 v = mn_m3_identity();
    const double scale = mn_m3_norm(a);
    for (int sweep = 0; sweep < SWEEPS; sweep++) {
        double off = fabs(a.m[0][1]) + fabs(a.m[0][2]) + fabs(a.m[1][2]);
        if (!(off > 1e-16 * scale)) break; // below rounding: more rotations would only add their own
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++) {
                if (fabs(a.m[i][j]) <= 1e-300) continue;
                double c, s;
                jacobi_angle(a.m[i][i], a.m[j][j], a.m[i][j], &c, &s);
                // The diagonal moves by t a_ij, which is small where c^2 a_ii + ... would round.
                const int k = 3 - i - j;
                const double shift = s / c * a.m[i][j], x = a.m[k][i], y = a.m[k][j];
                a.m[i][i] -= shift, a.m[j][j] += shift;
                a.m[i][j] = a.m[j][i] = 0;
                a.m[k][i] = a.m[i][k] = c * x - s * y;
                a.m[k][j] = a.m[j][k] = s * x + c * y;
                rotate_columns(&v, i, j, c, s);
            }
    }
    double l[3] = {a.m[0][0], a.m[1][1], a.m[2][2]};
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (l[i] < l[i + 1]) {
                const double x = l[i];
                l[i] = l[i + 1], l[i + 1] = x;
                swap_columns(&v, i, i + 1);
            }
    *values = mn_v3(l[0], l[1], l[2]);
    *vectors = v;
}

void mn_m3_svd(mn_mat3 a, mn_mat3 *u, mn_vec3 *s, mn_mat3 *v)
{
    mn_mat3 b = a; // A V, whose columns become orthogonal
    *v = mn_m3_identity();
    for (int sweep = 0; sweep < 2 * SWEEPS; sweep++) {
        bool done = true;
        for (int i = 0; i < 2; i++)
            for (int j = i + 1; j < 3; j++) {
                const mn_vec3 bi = mn_m3_column(b, i), bj = mn_m3_column(b, j);
                const double p = mn_norm2(bi), q = mn_norm2(bj), r = mn_dot(bi, bj);
                if (!(fabs(r) > 1e-16 * sqrt(p * q)) || fabs(r) < 1e-300) continue;
                done = false;
                double c, sn;
                jacobi_angle(p, q, r, &c, &sn);
                rotate_columns(&b, i, j, c, sn);
                rotate_columns(v, i, j, c, sn);
            }
        if (done) break;
    }
    double l[3];
    for (int i = 0; i < 3; i++) l[i] = mn_norm(mn_m3_column(b, i));
    for (int pass = 0; pass < 2; pass++)
        for (int i = 0; i < 2; i++)
            if (l[i] < l[i + 1]) {
                const double x = l[i];
                l[i] = l[i + 1], l[i + 1] = x;
                swap_columns(&b, i, i + 1);
                swap_columns(v, i, i + 1);
            }
    // U from the columns that have a direction; the rest completes a right-handed frame, which puts the sign
    // of det A on the last singular value.
    const double tiny = 1e-15 * l[0];
    mn_vec3 u0 = l[0] > 0 ? mn_scale(1.0 / l[0], mn_m3_column(b, 0)) : mn_v3(1, 0, 0), u1, u2;
    if (l[1] > tiny) {
        u1 = mn_scale(1.0 / l[1], mn_m3_column(b, 1));
        u1 = mn_normalize(mn_axpy(u1, -mn_dot(u1, u0), u0));
    } else {
        mn_vec3 unused;
        mn_frame(u0, &u1, &unused);
    }
    u2 = mn_cross(u0, u1);
    *u = mn_m3_columns(u0, u1, u2);
    *s = mn_v3(l[0], l[1], mn_dot(u2, mn_m3_column(b, 2)));
}

void mn_m3_polar(mn_mat3 a, mn_mat3 *r, mn_mat3 *s)
{
    mn_mat3 u, v;
    mn_vec3 sigma;
    mn_m3_svd(a, &u, &sigma, &v);
    const mn_mat3 vt = mn_m3_transpose(v);
    *r = mn_m3_mul(u, vt);
    *s = mn_m3_mul(v, mn_m3_mul(mn_m3_diagonal(sigma.x, sigma.y, sigma.z), vt));
}
