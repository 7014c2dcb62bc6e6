// SPDX-License-Identifier: Apache-2.0
//
// Elastic energies of tetrahedra, sheets and hinges with their derivatives, element by element, and damping:
//
//   W = eta/(2 dt) |E - E_n|^2 weight,   E = (F^T F - I)/2        hinges: eta/(2 dt) (angle - angle_n)^2
//   folds: weight/2 |q|^2 + eta/(2 dt) (|q| - |q_n|)^2,  q = sum g_i x_i,  g_i n the gradient of the angle
//   when flat
//
// |q| is the angle for small ones; its energy has a constant Hessian, whereas Newton's method on angles,
// whose second derivatives are left out, oversteps where cloth is folded [bergou2006].
//
// E does not see rotations, so damping has no torque. Of its Hessian the part with (dE/dx)^T dE/dx is taken,
// which is never negative, and of the rest that of the positive part of the stress; of a hinge's the first
// alone.
#include "base/simd.h"
#include "elastic/elastic_state.h"

#include <string.h>

enum { ELEMENT_GRAIN = 256 };

typedef struct pass {
    mn_elastic *elastic;
    const mn_vec3 *x;
    bool derivatives;
} pass;

static int32_t corner_count(const mn_element *e)
{
    return e->type == MN_ELEMENT_SHEET ? 3 : 4;
}

static mn_mat3 motion_of(const mn_element *e, const mn_vec3 *x)
{
    mn_mat3 f = {{{0}}};
    for (int a = 0; a < 4; a++) f = mn_m3_add(f, mn_outer(x[e->node[a]], e->gradient[a]));
    return f;
}

static mn_sheet_motion sheet_of(const mn_element *e, const mn_vec3 *x)
{
    mn_sheet_motion f = {{{0}}};
    for (int a = 0; a < 3; a++) {
        f.f[0] = mn_axpy(f.f[0], e->gradient[a].x, x[e->node[a]]);
        f.f[1] = mn_axpy(f.f[1], e->gradient[a].y, x[e->node[a]]);
    }
    return f;
}

static mn_vec3 fold_of(const mn_element *e, const mn_vec3 *x)
{
    mn_vec3 q = {0, 0, 0};
    for (int a = 1; a < 4; a++) q = mn_axpy(q, e->gradient[a].x, mn_sub(x[e->node[a]], x[e->node[0]]));
    return q;
}

/// Green's strain as six numbers, those off the diagonal times sqrt 2, so that squares add up.
static const double root2 = 1.4142135623730951;
static const double small_stress = 1e-3; ///< of mu
static const int strain_axes[6][2] = {{0, 0}, {1, 1}, {2, 2}, {1, 2}, {2, 0}, {0, 1}};

static int32_t strains_of(const mn_element *e, const mn_vec3 *x, mn_vec3 column[3], double strain[6])
{
    if (e->type == MN_ELEMENT_HINGE) {
        const mn_vec3 corner[4] = {x[e->node[0]], x[e->node[1]], x[e->node[2]], x[e->node[3]]};
        strain[0] = mn_hinge_angle(corner, NULL);
        return 1;
    }
    if (e->type == MN_ELEMENT_FOLD) {
        strain[0] = mn_norm(fold_of(e, x));
        return 1;
    }
    const bool sheet = e->type == MN_ELEMENT_SHEET;
    if (sheet) {
        const mn_sheet_motion f = sheet_of(e, x);
        column[0] = f.f[0], column[1] = f.f[1], column[2] = mn_v3(0, 0, 0);
    } else {
        const mn_mat3 f = motion_of(e, x);
        for (int j = 0; j < 3; j++) column[j] = mn_m3_column(f, j);
    }
    for (int k = 0; k < 6; k++) {
        const int i = strain_axes[k][0], j = strain_axes[k][1];
        const double c = mn_dot(column[i], column[j]) - (i == j && (i < 2 || !sheet) ? 1 : 0);
        strain[k] = (i == j ? 0.5 : 0.5 * root2) * c;
    }
    return 6;
}

/// Adds what the second derivative of the strain does, S : dF^T dF, for the positive part of the stress S;
/// nothing where that is far below what the element's own stiffness has.
static void add_geometric(const mn_element *e, mn_mat3 stress, double *stiffness)
{
    mn_vec3 values;
    mn_mat3 q;
    if (mn_m3_norm(stress) < small_stress * e->weight * e->mu) return;
    mn_m3_eigen_symmetric(stress, &values, &q);
    for (int k = 0; k < 3; k++) {
        const double value = (&values.x)[k];
        double along[4] = {0};
        if (!(value > 0)) break; // they fall
        for (int a = 0; a < corner_count(e); a++) along[a] = mn_dot(e->gradient[a], mn_m3_column(q, k));
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++)
                for (int i = 0; i < 3; i++)
                    stiffness[12 * (3 * a + i) + 3 * b + i] += value * along[a] * along[b];
    }
}

/// Adds weight sum_k row_k row_k^T.
MN_MULTIVERSION
static void add_squares(double rows[6][12], double weight, double *stiffness)
{
    for (int p = 0; p < 12; p++) {
        double own[6];
        for (int k = 0; k < 6; k++) own[k] = weight * rows[k][p];
        for (int q = 0; q < 12; q++)
            stiffness[12 * p + q] +=
                ((own[0] * rows[0][q] + own[1] * rows[1][q]) + (own[2] * rows[2][q] + own[3] * rows[3][q])) +
                (own[4] * rows[4][q] + own[5] * rows[5][q]);
    }
}

/// Adds weight/2 |strain - old|^2 with its derivatives.
static double add_damping(const mn_element *e, const mn_vec3 *x, const double old[6], double weight,
                          double *gradient, double *stiffness)
{
    mn_vec3 column[3];
    mn_mat3 stress = {{{0}}};
    double strain[6], energy = 0, rows[6][12] = {{0}}; // d strain_k / dx
    strains_of(e, x, column, strain);
    for (int k = 0; k < 6; k++) {
        const double rate = strain[k] - old[k];
        energy += 0.5 * weight * rate * rate;
        if (!gradient) continue;
        const int i = strain_axes[k][0], j = strain_axes[k][1];
        stress.m[i][j] = stress.m[j][i] = weight * rate * (i == j ? 1 : 1 / root2);
        for (int a = 0; a < corner_count(e); a++) {
            const double *g = &e->gradient[a].x, scale = i == j ? 0.5 : 0.5 * root2;
            const mn_vec3 part = mn_scale(scale, mn_axpy(mn_scale(g[i], column[j]), g[j], column[i]));
            rows[k][3 * a] = part.x, rows[k][3 * a + 1] = part.y, rows[k][3 * a + 2] = part.z;
        }
        for (int p = 0; p < 12; p++) gradient[p] += weight * rate * rows[k][p];
    }
    if (!gradient) return energy;
    add_squares(rows, weight, stiffness);
    add_geometric(e, stress, stiffness);
    return energy;
}

static double tet_energy(const mn_elastic *s, const mn_element *e, const mn_vec3 *x, double *gradient,
                         double *stiffness)
{
    const mn_elastic_model model = e->model < 0 ? s->def.model : (mn_elastic_model)e->model;
    const mn_lame lame = {e->mu, e->lambda};
    mn_mat3 stress;
    mn_solid_tangent tangent;
    const double energy = mn_solid_energy(model, lame, motion_of(e, x), gradient ? &stress : NULL,
                                          gradient ? &tangent : NULL, true);
    if (!gradient) return e->weight * energy;
    for (int a = 0; a < 4; a++) {
        const mn_vec3 f = mn_scale(e->weight, mn_m3_apply(stress, e->gradient[a]));
        memcpy(gradient + 3 * a, &f, sizeof f);
    }
    mn_solid_add_stiffness(&tangent, e->gradient, e->weight, stiffness);
    return e->weight * energy;
}

static double sheet_energy(const mn_element *e, const mn_vec3 *x, double *gradient, double *stiffness)
{
    const mn_lame lame = {e->mu, e->lambda};
    mn_sheet_motion stress;
    mn_sheet_tangent tangent;
    const double energy =
        mn_sheet_energy(lame, sheet_of(e, x), gradient ? &stress : NULL, gradient ? &tangent : NULL, true);
    if (!gradient || !isfinite(energy)) return e->weight * energy;
    double plane[3][2], k[81] = {0};
    for (int a = 0; a < 3; a++) {
        plane[a][0] = e->gradient[a].x, plane[a][1] = e->gradient[a].y;
        const mn_vec3 f =
            mn_axpy(mn_scale(e->weight * plane[a][0], stress.f[0]), e->weight * plane[a][1], stress.f[1]);
        memcpy(gradient + 3 * a, &f, sizeof f);
    }
    mn_sheet_add_stiffness(&tangent, (const double(*)[2])plane, e->weight, k);
    for (int p = 0; p < 9; p++)
        for (int q = 0; q < 9; q++) stiffness[12 * p + q] += k[9 * p + q];
    return e->weight * energy;
}

/// How far a hinge has turned, the short way round: angles jump from pi to -pi where it is folded flat.
static double turn_between(double from, double to)
{
    const double turn = to - from;
    return turn > MN_PI ? turn - 2 * MN_PI : turn < -MN_PI ? turn + 2 * MN_PI : turn;
}

static double hinge_energy(const mn_element *e, const mn_vec3 *x, double old, double viscous,
                           double *gradient, double *stiffness)
{
    const mn_vec3 corner[4] = {x[e->node[0]], x[e->node[1]], x[e->node[2]], x[e->node[3]]};
    mn_vec3 g[4];
    const double angle = mn_hinge_angle(corner, gradient ? g : NULL);
    const double bent = turn_between(e->rest_angle, angle), rate = turn_between(old, angle);
    if (gradient) {
        const double slope = e->weight * bent + viscous * rate, *row = &g[0].x;
        for (int p = 0; p < 12; p++) {
            gradient[p] = slope * row[p];
            for (int q = 0; q < 12; q++) stiffness[12 * p + q] = (e->weight + viscous) * row[p] * row[q];
        }
    }
    return 0.5 * e->weight * bent * bent + 0.5 * viscous * rate * rate;
}

static double fold_energy(const mn_element *e, const mn_vec3 *x, double old, double viscous, double *gradient,
                          double *stiffness)
{
    const mn_vec3 q = fold_of(e, x), n = mn_normalize(q);
    const double size = mn_norm(q), rate = size - old;
    for (int a = 0; gradient && a < 4; a++) {
        const mn_vec3 f = mn_axpy(mn_scale(e->weight, q), viscous * rate, n);
        for (int i = 0; i < 3; i++) {
            gradient[3 * a + i] = e->gradient[a].x * (&f.x)[i];
            for (int b = 0; b < 4; b++)
                for (int j = 0; j < 3; j++)
                    stiffness[12 * (3 * a + i) + 3 * b + j] =
                        e->gradient[a].x * e->gradient[b].x *
                        ((i == j ? e->weight : 0) + viscous * (&n.x)[i] * (&n.x)[j]);
        }
    }
    return 0.5 * e->weight * size * size + 0.5 * viscous * rate * rate;
}

static double element_energy(const mn_elastic *s, int64_t i, const mn_vec3 *x, double *gradient,
                             double *stiffness)
{
    const mn_element *e = &s->element.data[i];
    const double *old = s->element_old.data + 6 * i;
    const double viscous = s->dt > 0 ? s->def.damping * e->viscous / s->dt : 0;
    if (gradient) memset(gradient, 0, 12 * sizeof *gradient), memset(stiffness, 0, 144 * sizeof *stiffness);
    if (e->type == MN_ELEMENT_HINGE) return hinge_energy(e, x, old[0], viscous, gradient, stiffness);
    if (e->type == MN_ELEMENT_FOLD) return fold_energy(e, x, old[0], viscous, gradient, stiffness);
    const double energy = e->type == MN_ELEMENT_TET ? tet_energy(s, e, x, gradient, stiffness)
                                                    : sheet_energy(e, x, gradient, stiffness);
    if (!(viscous > 0)) return energy;
    return energy + add_damping(e, x, old, viscous * e->weight, gradient, stiffness);
}

static void sum_range(void *user, mn_range range, double *sums)
{
    const pass *p = user;
    mn_elastic *s = p->elastic;
    for (int64_t i = range.begin; i < range.end; i++)
        sums[0] += element_energy(s, i, p->x, p->derivatives ? s->element_gradient.data + 12 * i : NULL,
                                  p->derivatives ? s->element_stiffness.data + 144 * i : NULL);
}

mn_status mn_elastic_elements(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy)
{
    pass p = {s, x, derivatives};
    *energy = 0;
    if (s->element.count == 0) return MN_OK;
    return mn_parallel_sum(s->solver.ctx, s->element.count, ELEMENT_GRAIN, sum_range, &p, 1, energy);
}

mn_status mn_elastic_keep_strains(mn_elastic *s, const mn_vec3 *x)
{
    for (int64_t i = 0; i < s->element.count; i++) {
        mn_vec3 column[3];
        strains_of(&s->element.data[i], x, column, s->element_old.data + 6 * i);
    }
    return MN_OK;
}

double mn_elastic_potential(const mn_elastic *s)
{
    mn_elastic still = *s;
    double energy = 0;
    still.dt = 0; // no damping
    for (int64_t i = 0; i < s->element.count; i++) energy += element_energy(&still, i, s->x.data, NULL, NULL);
    return energy;
}

/// Von Mises' stress of Cauchy's, P F^T / J; of a sheet its largest tension over its thickness.
static double stress_of(const mn_elastic *s, const mn_element *e)
{
    const mn_lame lame = {e->mu, e->lambda};
    if (e->type == MN_ELEMENT_SHEET) {
        const mn_sheet_motion f = sheet_of(e, s->x.data);
        mn_sheet_motion p;
        if (!isfinite(mn_sheet_energy(lame, f, &p, NULL, false))) return 0;
        const double j = mn_norm(mn_cross(f.f[0], f.f[1]));
        // F^T P / J in the rest plane has the tensions as eigenvalues
        const double a = mn_dot(f.f[0], p.f[0]) / j, b = mn_dot(f.f[0], p.f[1]) / j,
                     c = mn_dot(f.f[1], p.f[1]) / j;
        return (0.5 * (a + c) + sqrt(0.25 * (a - c) * (a - c) + b * b)) / s->part.data[e->body].thickness;
    }
    const mn_elastic_model model = e->model < 0 ? s->def.model : (mn_elastic_model)e->model;
    const mn_mat3 f = motion_of(e, s->x.data);
    mn_mat3 p;
    mn_solid_energy(model, lame, f, &p, NULL, false);
    const double j = mn_m3_determinant(f);
    if (!(fabs(j) > 1e-12)) return 0;
    mn_mat3 t = mn_m3_scale(1 / fabs(j), mn_m3_mul(p, mn_m3_transpose(f)));
    const double mean = mn_m3_trace(t) / 3;
    for (int i = 0; i < 3; i++) t.m[i][i] -= mean;
    return sqrt(1.5) * mn_m3_norm(t);
}

void mn_elastic_stresses(mn_elastic *s)
{
    double *stress = s->point_stress.data, *share = s->point_share.data;
    for (int64_t i = 0; i < s->anchor.count; i++) stress[i] = share[i] = 0;
    for (int64_t i = 0; i < s->element.count; i++) {
        const mn_element *e = &s->element.data[i];
        const mn_elastic_part *part = &s->part.data[e->body];
        if (e->type >= MN_ELEMENT_HINGE || part->kind == MN_ELASTIC_RIGID) continue;
        const double value = stress_of(s, e);
        for (int a = 0; a < corner_count(e); a++) {
            const int32_t point = part->first_point + e->node[a] - part->first_node;
            stress[point] += e->weight * value, share[point] += e->weight;
        }
    }
    for (int64_t i = 0; i < s->anchor.count; i++)
        if (share[i] > 0) stress[i] /= share[i];
}
