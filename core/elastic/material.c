// SPDX-License-Identifier: Apache-2.0
//
// Energies, stresses and Hessians of material.h.
#include "elastic/material.h"
#include "base/elementary.h"

#include "base/simd.h"

#include <string.h>

static const double soft_stretch = 0.6; ///< below it St. Venant-Kirchhoff's strain is linear in the stretch

// ---- solids: derivatives by principal stretches ----

/// psi(s) with psi_i, psi_ik and the quotients of differences and of sums of psi_i for the pairs (1,2),
/// (2,0), (0,1).
typedef struct principal {
    double energy, d[3], dd[3][3], minus[3], plus[3];
} principal;

/// p J_i and its derivatives, for a function of J with first and second derivative p and q.
static void add_volume(const double s[3], double p, double q, principal *r)
{
    const double cof[3] = {s[1] * s[2], s[2] * s[0], s[0] * s[1]};
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        r->d[i] += p * cof[i];
        r->dd[i][i] += q * cof[i] * cof[i];
        r->dd[j][k] += q * cof[j] * cof[k] + p * s[i];
        r->dd[k][j] = r->dd[j][k];
        r->minus[i] -= p * s[i];
        r->plus[i] += p * s[i];
    }
}

/// A turn costs 2 a where psi_j + psi_k is that over s_j + s_k; inverted elements have no positive one.
static double over_sum(double a, double sum)
{
    return sum > 1e-9 ? a / sum : 0;
}

static principal corotated(mn_lame m, const double s[3])
{
    const double j = s[0] * s[1] * s[2];
    principal r = {.energy = 0.5 * m.lambda * (j - 1) * (j - 1)};
    for (int i = 0; i < 3; i++) {
        const double sum = s[(i + 1) % 3] + s[(i + 2) % 3];
        r.energy += m.mu * (s[i] - 1) * (s[i] - 1);
        r.d[i] = 2 * m.mu * (s[i] - 1);
        r.dd[i][i] = 2 * m.mu;
        r.minus[i] = 2 * m.mu;
        r.plus[i] = over_sum(2 * m.mu * (sum - 2), sum);
    }
    add_volume(s, m.lambda * (j - 1), m.lambda, &r);
    return r;
}

static principal neo_hookean(mn_lame m, const double s[3])
{
    const double j = s[0] * s[1] * s[2], a = m.lambda + m.mu;
    principal r = {.energy = 0.5 * m.mu * (s[0] * s[0] + s[1] * s[1] + s[2] * s[2] - 3) - m.mu * (j - 1) +
                             0.5 * a * (j - 1) * (j - 1)};
    for (int i = 0; i < 3; i++) r.d[i] = m.mu * s[i], r.dd[i][i] = r.minus[i] = r.plus[i] = m.mu;
    add_volume(s, a * (j - 1) - m.mu, a, &r);
    return r;
}

static principal st_venant_kirchhoff(mn_lame m, const double s[3])
{
    double e[3], slope[3], bend[3], trace = 0;
    principal r = {0};
    for (int i = 0; i < 3; i++) {
        const bool soft = s[i] < soft_stretch;
        const double at = soft ? soft_stretch : s[i];
        slope[i] = at, bend[i] = soft ? 0 : 1;
        e[i] = 0.5 * (at * at - 1) + at * (s[i] - at);
        trace += e[i];
    }
    r.energy = 0.5 * m.lambda * trace * trace;
    for (int i = 0; i < 3; i++) {
        r.energy += m.mu * e[i] * e[i];
        r.d[i] = (2 * m.mu * e[i] + m.lambda * trace) * slope[i];
    }
    for (int i = 0; i < 3; i++) {
        const int j = (i + 1) % 3, k = (i + 2) % 3;
        for (int l = 0; l < 3; l++) r.dd[i][l] = m.lambda * slope[i] * slope[l];
        r.dd[i][i] += 2 * m.mu * slope[i] * slope[i] + (2 * m.mu * e[i] + m.lambda * trace) * bend[i];
        const double apart = s[j] - s[k];
        if (bend[j] == bend[k]) // (s^3 - s)/2 above, a square below: quotients without the difference
            r.minus[i] = bend[j] > 0 ? m.mu * (s[j] * s[j] + s[j] * s[k] + s[k] * s[k] - 1) + m.lambda * trace
                                     : 2 * m.mu * soft_stretch * soft_stretch;
        else
            r.minus[i] = fabs(apart) > 1e-9 ? (r.d[j] - r.d[k]) / apart
                                            : 2 * m.mu * slope[j] * slope[j] + m.lambda * trace * bend[j];
        r.plus[i] = over_sum(r.d[j] + r.d[k], s[j] + s[k]);
    }
    return r;
}

static principal principal_of(mn_elastic_model model, mn_lame m, const double s[3])
{
    switch (model) {
    case MN_ELASTIC_NEO_HOOKEAN:
        return neo_hookean(m, s);
    case MN_ELASTIC_ST_VENANT_KIRCHHOFF:
        return st_venant_kirchhoff(m, s);
    case MN_ELASTIC_COROTATED:
        break;
    }
    return corotated(m, s);
}

// ---- solids: the Hessian ----

static bool is_positive(const double a[3][3])
{
    const double minor = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    const double det = a[2][2] * minor - a[0][0] * a[1][2] * a[1][2] - a[1][1] * a[0][2] * a[0][2] +
                       2 * a[0][1] * a[1][2] * a[0][2];
    return a[0][0] > 0 && minor > 0 && det > 0;
}

static void project_stretch(double a[3][3])
{
    if (is_positive((const double(*)[3])a)) return;
    mn_mat3 m, q;
    mn_vec3 values;
    memcpy(m.m, a, sizeof m.m);
    mn_m3_eigen_symmetric(m, &values, &q);
    const double w[3] = {fmax(values.x, 0), fmax(values.y, 0), fmax(values.z, 0)};
    for (int i = 0; i < 3; i++)
        for (int j = 0; j < 3; j++) {
            a[i][j] = 0;
            for (int k = 0; k < 3; k++) a[i][j] += w[k] * q.m[i][k] * q.m[j][k];
        }
}

/// The cofactors of F, dJ/dF.
static mn_mat3 cofactors(mn_mat3 f)
{
    const mn_vec3 a = mn_m3_column(f, 0), b = mn_m3_column(f, 1), c = mn_m3_column(f, 2);
    return mn_m3_columns(mn_cross(b, c), mn_cross(c, a), mn_cross(a, b));
}

/// The energy and the stress mu F + ((lambda + mu)(J - 1) - mu) cof F without a decomposition.
static double neo_hookean_stress(mn_lame m, mn_mat3 f, mn_mat3 *stress)
{
    const mn_mat3 cof = cofactors(f);
    const double j = mn_dot(mn_m3_column(f, 0), mn_m3_column(cof, 0)), a = m.lambda + m.mu;
    double norm2 = 0;
    for (int i = 0; i < 3; i++) norm2 += mn_norm2(mn_m3_column(f, i));
    if (stress) *stress = mn_m3_add(mn_m3_scale(m.mu, f), mn_m3_scale(a * (j - 1) - m.mu, cof));
    return 0.5 * m.mu * (norm2 - 3) - m.mu * (j - 1) + 0.5 * a * (j - 1) * (j - 1);
}

double mn_solid_energy(mn_elastic_model model, mn_lame lame, mn_mat3 f, mn_mat3 *stress,
                       mn_solid_tangent *tangent, bool projected)
{
    if (model == MN_ELASTIC_NEO_HOOKEAN && !tangent) return neo_hookean_stress(lame, f, stress);
    mn_mat3 u, v;
    mn_vec3 s;
    mn_m3_svd(f, &u, &s, &v);
    const double stretches[3] = {s.x, s.y, s.z};
    const principal r = principal_of(model, lame, stretches);
    if (stress) {
        const mn_mat3 scaled = mn_m3_mul(u, mn_m3_diagonal(r.d[0], r.d[1], r.d[2]));
        *stress = mn_m3_mul(scaled, mn_m3_transpose(v));
    }
    if (!tangent) return r.energy;
    tangent->u = u, tangent->v = v;
    memcpy(tangent->stretch, r.dd, sizeof r.dd);
    if (projected) project_stretch(tangent->stretch);
    for (int i = 0; i < 3; i++) {
        const double minus = projected ? fmax(r.minus[i], 0) : r.minus[i];
        const double plus = projected ? fmax(r.plus[i], 0) : r.plus[i];
        tangent->shear[i] = 0.5 * (minus + plus);
        tangent->turn[i] = 0.5 * (minus - plus);
    }
    return r.energy;
}

void mn_solid_add_stiffness(const mn_solid_tangent *t, const mn_vec3 gradients[4], double weight,
                            double k[144])
{
    double g[4][3];
    for (int a = 0; a < 4; a++) {
        const mn_vec3 local = mn_m3_apply(mn_m3_transpose(t->v), gradients[a]);
        g[a][0] = local.x, g[a][1] = local.y, g[a][2] = local.z;
    }
    // pair p of axes (i, j) is named by the third
    static const int pair[3][3] = {{0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    for (int a = 0; a < 4; a++)
        for (int b = a; b < 4; b++) { // the others are these turned over
            double block[3][3], half[3][3];
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++) {
                    double sum = t->stretch[i][l] * g[a][i] * g[b][l];
                    if (i != l) sum += t->turn[pair[i][l]] * g[a][l] * g[b][i];
                    if (i == l)
                        for (int j = 0; j < 3; j++)
                            if (j != i) sum += t->shear[pair[i][j]] * g[a][j] * g[b][j];
                    block[i][l] = weight * sum;
                }
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++)
                    half[i][l] =
                        t->u.m[i][0] * block[0][l] + t->u.m[i][1] * block[1][l] + t->u.m[i][2] * block[2][l];
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++) {
                    const double value =
                        half[i][0] * t->u.m[l][0] + half[i][1] * t->u.m[l][1] + half[i][2] * t->u.m[l][2];
                    k[12 * (3 * a + i) + 3 * b + l] += value;
                    if (b > a) k[12 * (3 * b + l) + 3 * a + i] += value;
                }
        }
}

// ---- sheets ----

double mn_sheet_energy(mn_lame m, mn_sheet_motion f, mn_sheet_motion *stress, mn_sheet_tangent *tangent,
                       bool projected)
{
    const double a = mn_norm2(f.f[0]), b = mn_dot(f.f[0], f.f[1]), c = mn_norm2(f.f[1]);
    const mn_vec3 area = mn_cross(f.f[0], f.f[1]);
    const double j = mn_norm(area);
    if (!(j > 0) || !isfinite(j)) return INFINITY;
    const double log_j = mn_ln(j), q = m.lambda * log_j - m.mu;
    const double energy = 0.5 * m.mu * (a + c - 2) - m.mu * log_j + 0.5 * m.lambda * log_j * log_j;
    const mn_vec3 n = mn_scale(1 / j, area);
    if (stress) { // P = mu F + (q / J) [f1 x n, n x f0]
        stress->f[0] = mn_axpy(mn_scale(m.mu, f.f[0]), q / j, mn_cross(f.f[1], n));
        stress->f[1] = mn_axpy(mn_scale(m.mu, f.f[1]), q / j, mn_cross(n, f.f[0]));
    }
    if (!tangent) return energy;
    // The axes of F^T F = [a b; b c].
    const double angle = 0.5 * mn_atan2(2 * b, a - c), cosine = mn_cos(angle), sine = mn_sin(angle);
    tangent->v[0][0] = cosine, tangent->v[0][1] = sine;
    tangent->v[1][0] = -sine, tangent->v[1][1] = cosine;
    double s[2];
    for (int i = 0; i < 2; i++) {
        const mn_vec3 w = mn_axpy(mn_scale(tangent->v[i][0], f.f[0]), tangent->v[i][1], f.f[1]);
        s[i] = mn_norm(w);
        tangent->u[i] = mn_scale(1 / s[i], w);
    }
    tangent->u[2] = n;
    for (int i = 0; i < 2; i++) {
        const double slope = m.mu * s[i] + q / s[i];
        tangent->stretch[i][i] = m.mu + (m.lambda - q) / (s[i] * s[i]);
        tangent->lift[i] = slope / s[i];
        if (projected) tangent->lift[i] = fmax(tangent->lift[i], 0);
    }
    tangent->stretch[0][1] = tangent->stretch[1][0] = m.lambda / j;
    if (projected) {
        const double p = tangent->stretch[0][0], r = tangent->stretch[1][1], o = m.lambda / j;
        const double mean = 0.5 * (p + r), gap = sqrt(0.25 * (p - r) * (p - r) + o * o);
        if (mean - gap < 0) { // keep the larger eigenvalue alone, or none
            const double large = fmax(mean + gap, 0), turn = 0.5 * mn_atan2(2 * o, p - r);
            const double x = mn_cos(turn), y = mn_sin(turn);
            tangent->stretch[0][0] = large * x * x, tangent->stretch[1][1] = large * y * y;
            tangent->stretch[0][1] = tangent->stretch[1][0] = large * x * y;
        }
    }
    double minus = m.mu - q / j, plus = m.mu + q / j;
    if (projected) minus = fmax(minus, 0), plus = fmax(plus, 0);
    tangent->shear = 0.5 * (minus + plus), tangent->turn = 0.5 * (minus - plus);
    return energy;
}

void mn_sheet_add_stiffness(const mn_sheet_tangent *t, const double gradients[3][2], double weight,
                            double k[81])
{
    double g[3][2];
    for (int a = 0; a < 3; a++)
        for (int j = 0; j < 2; j++) g[a][j] = gradients[a][0] * t->v[j][0] + gradients[a][1] * t->v[j][1];
    const double u[3][3] = {{t->u[0].x, t->u[0].y, t->u[0].z},
                            {t->u[1].x, t->u[1].y, t->u[1].z},
                            {t->u[2].x, t->u[2].y, t->u[2].z}};
    for (int a = 0; a < 3; a++)
        for (int b = 0; b < 3; b++) {
            double block[3][3] = {{0}};
            for (int i = 0; i < 2; i++) {
                block[i][i] = t->stretch[i][i] * g[a][i] * g[b][i] + t->shear * g[a][1 - i] * g[b][1 - i];
                block[i][1 - i] =
                    t->stretch[i][1 - i] * g[a][i] * g[b][1 - i] + t->turn * g[a][1 - i] * g[b][i];
                block[2][2] += t->lift[i] * g[a][i] * g[b][i];
            }
            for (int i = 0; i < 3; i++)
                for (int l = 0; l < 3; l++) {
                    double sum = 0;
                    for (int p = 0; p < 3; p++)
                        for (int q = 0; q < 3; q++) sum += u[p][i] * block[p][q] * u[q][l];
                    k[9 * (3 * a + i) + 3 * b + l] += weight * sum;
                }
        }
}

double mn_hinge_angle(const mn_vec3 x[4], mn_vec3 gradient[4])
{
    const mn_vec3 e = mn_sub(x[1], x[0]);
    const mn_vec3 n1 = mn_cross(e, mn_sub(x[2], x[0])), n2 = mn_cross(mn_sub(x[3], x[0]), e);
    const double length = mn_norm(e), a1 = mn_norm2(n1), a2 = mn_norm2(n2);
    const double angle = mn_atan2(mn_dot(mn_cross(n1, n2), e), length * mn_dot(n1, n2));
    if (!gradient) return angle;
    if (!(length > 0) || !(a1 > 0) || !(a2 > 0)) {
        memset(gradient, 0, 4 * sizeof *gradient);
        return angle;
    }
    gradient[2] = mn_scale(-length / a1, n1);
    gradient[3] = mn_scale(-length / a2, n2);
    // the wings' shares, by the feet of their heights on the edge
    const double along2 = mn_dot(mn_sub(x[2], x[0]), e) / (length * length);
    const double along3 = mn_dot(mn_sub(x[3], x[0]), e) / (length * length);
    gradient[0] = mn_scale(-1, mn_add(mn_scale(1 - along2, gradient[2]), mn_scale(1 - along3, gradient[3])));
    gradient[1] = mn_scale(-1, mn_add(mn_scale(along2, gradient[2]), mn_scale(along3, gradient[3])));
    return angle;
}
