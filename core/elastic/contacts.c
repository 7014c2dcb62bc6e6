// SPDX-License-Identifier: Apache-2.0
//
// Contacts, friction and ties as the system sees them: an energy, forces on nodes, and rows r with weights
// whose products r r^T make the Hessian.
//
//   barrier    E = m k b(d)                 rows: c_i n with m k b''(d), and the positive part of
//                                           m k b' d''(x)
//   friction   E = mu lambda f0(|u|)        rows: u's direction with f0'', across it with f0'/|u|; where
//                                           the direction before would have turned the motion around,
//                                           f0'/|u| for both, which lies above f0'' and never oversteps
//                                           the kink at u = 0
//   tie        E = k/2 |x_a - x_b - apart|^2
//
// -d'' is that of contact/bends.c: without it two edges that slide over each other at a small gap stop the
// whole step, since the way that is straight along their normal bends through them. Terms that take back
// double counts push, but have no row.
#include "contact/barrier.h"
#include "elastic/elastic_state.h"
#include "meniscus/array.h"

#include <string.h>

static mn_vec3 point_of(const mn_elastic *s, const mn_vec3 *nodes, int64_t point)
{
    const mn_anchor *a = &s->anchor.data[point];
    if (a->node[1] < 0) return nodes[a->node[0]];
    mn_vec3 x = {0, 0, 0};
    for (int k = 0; k < 4; k++) x = mn_axpy(x, a->weight[k], nodes[a->node[k]]);
    return x;
}

void mn_elastic_place_points(const mn_elastic *s, const mn_vec3 *nodes, mn_vec3 *points)
{
    for (int64_t i = 0; i < s->anchor.count; i++) points[i] = point_of(s, nodes, i);
}

static void add_force(mn_elastic *s, int32_t point, mn_vec3 f)
{
    const mn_anchor *a = &s->anchor.data[point];
    for (int k = 0; k < 4 && a->node[k] >= 0; k++) {
        double *g = s->gradient.data + 3 * (int64_t)a->node[k];
        g[0] += a->weight[k] * f.x, g[1] += a->weight[k] * f.y, g[2] += a->weight[k] * f.z;
    }
}

mn_status mn_elastic_push_row(mn_elastic *s, int32_t count, const int32_t *v, const mn_vec3 *r, double weight)
{
    if (!(weight > 0)) return MN_OK;
    mn_row row = {s->entry.count, 0, weight};
    for (int32_t i = 0; i < count; i++) {
        const mn_anchor *a = &s->anchor.data[v[i]];
        if (r[i].x == 0 && r[i].y == 0 && r[i].z == 0) continue;
        for (int k = 0; k < 4 && a->node[k] >= 0; k++) {
            int64_t at = row.first;
            while (at < s->entry.count && s->entry.data[at].node != a->node[k]) at++;
            if (at < s->entry.count) {
                s->entry.data[at].r = mn_axpy(s->entry.data[at].r, a->weight[k], r[i]);
                continue;
            }
            const mn_row_entry entry = {a->node[k], mn_scale(a->weight[k], r[i])};
            MN_TRY(mn_array_push(s->solver.ctx, &s->entry, &entry));
        }
    }
    row.count = (int32_t)(s->entry.count - row.first);
    return mn_array_push(s->solver.ctx, &s->row, &row);
}

/// Rows of the positive part of `push` times -d''; push = -m k b'.
static mn_status push_bends(mn_elastic *s, const mn_contact_term *t, double push)
{
    mn_vec3 x[4], r[4][4];
    double value[4];
    for (int k = 0; k < 4; k++) x[k] = s->trial_point.data[t->v[k]];
    const int count = mn_contact_bends(t, x, r, value);
    for (int k = 0; k < count; k++)
        if (value[k] > 0) MN_TRY(mn_elastic_push_row(s, 4, t->v, r[k], push * value[k]));
    return MN_OK;
}

static mn_status add_barrier(mn_elastic *s, const mn_contact_term *t, bool derivatives, double *energy)
{
    double first, second;
    const double b = t->weight * mn_barrier(t->near.distance, s->distance, &first, &second);
    *energy += t->mollifier * b;
    if (!derivatives) return MN_OK;
    mn_vec3 r[4];
    for (int k = 0; k < 4; k++) {
        r[k] = mn_scale(t->near.c[k], t->near.normal);
        add_force(s, t->v[k], mn_axpy(mn_scale(b, t->turn[k]), t->mollifier * t->weight * first, r[k]));
    }
    MN_TRY(mn_elastic_push_row(s, 4, t->v, r, t->mollifier * t->weight * second));
    return push_bends(s, t, -t->mollifier * t->weight * first);
}

static void add_slip(const mn_lagged *f, int k, mn_vec3 moved, double u[2])
{
    for (int t = 0; t < 2; t++)
        u[t] +=
            f->rows[t][3 * k] * moved.x + f->rows[t][3 * k + 1] * moved.y + f->rows[t][3 * k + 2] * moved.z;
}

static mn_status add_friction(mn_elastic *s, const mn_lagged *f, bool derivatives, double *energy)
{
    double u[2] = {0, 0}, over, second;
    for (int k = 0; k < 4; k++)
        add_slip(f, k, mn_sub(s->trial_point.data[f->v[k]], s->reference.data[f->v[k]]), u);
    const double length = sqrt(u[0] * u[0] + u[1] * u[1]);
    *energy += f->force * mn_friction(length, f->slip, &over, &second);
    if (!derivatives) return MN_OK;
    double along[2] = {1, 0};
    if (length > 0) along[0] = u[0] / length, along[1] = u[1] / length;
    mn_vec3 r[4], across[4];
    for (int k = 0; k < 4; k++) {
        const mn_vec3 p = mn_v3(f->rows[0][3 * k], f->rows[0][3 * k + 1], f->rows[0][3 * k + 2]);
        const mn_vec3 q = mn_v3(f->rows[1][3 * k], f->rows[1][3 * k + 1], f->rows[1][3 * k + 2]);
        r[k] = mn_axpy(mn_scale(along[0], p), along[1], q);
        across[k] = mn_axpy(mn_scale(-along[1], p), along[0], q);
        add_force(s, f->v[k], mn_scale(f->force * over * length, r[k]));
    }
    MN_TRY(mn_elastic_push_row(s, 4, f->v, r, f->force * fmax(second, f->caution * over)));
    return mn_elastic_push_row(s, 4, f->v, across, f->force * over);
}

static mn_status add_tie(mn_elastic *s, const mn_elastic_tie *tie, bool derivatives, double *energy)
{
    const mn_vec3 *x = s->trial_point.data;
    const mn_vec3 off = mn_sub(mn_sub(x[tie->a], x[tie->b]), tie->apart);
    *energy += 0.5 * tie->stiffness * mn_norm2(off);
    if (!derivatives) return MN_OK;
    add_force(s, tie->a, mn_scale(tie->stiffness, off));
    add_force(s, tie->b, mn_scale(-tie->stiffness, off));
    const int32_t v[2] = {tie->a, tie->b};
    for (int axis = 0; axis < 3; axis++) {
        mn_vec3 r[2] = {{0, 0, 0}, {0, 0, 0}};
        (&r[0].x)[axis] = 1, (&r[1].x)[axis] = -1;
        MN_TRY(mn_elastic_push_row(s, 2, v, r, tie->stiffness));
    }
    return MN_OK;
}

mn_status mn_elastic_contacts(mn_elastic *s, const mn_vec3 *x, bool derivatives, double *energy)
{
    *energy = 0;
    mn_elastic_place_points(s, x, s->trial_point.data);
    s->terms.count = 0;
    if (s->def.method == MN_ELASTIC_BARRIER)
        MN_TRY(mn_contact_collect(s->contact, s->trial_point.data, s->distance, &s->terms));
    if (derivatives) s->row.count = s->entry.count = 0;
    for (int64_t i = 0; i < s->terms.count; i++)
        MN_TRY(add_barrier(s, &s->terms.data[i], derivatives, energy));
    for (int64_t i = 0; i < s->lagged.count; i++)
        MN_TRY(add_friction(s, &s->lagged.data[i], derivatives, energy));
    for (int64_t i = 0; i < s->tie.count; i++) MN_TRY(add_tie(s, &s->tie.data[i], derivatives, energy));
    return MN_OK;
}

mn_status mn_elastic_lag_friction(mn_elastic *s, const mn_vec3 *x)
{
    s->lagged.count = 0;
    if (!(s->def.friction > 0) || s->def.method != MN_ELASTIC_BARRIER) return MN_OK;
    mn_elastic_place_points(s, x, s->trial_point.data);
    MN_TRY(mn_contact_collect(s->contact, s->trial_point.data, s->distance, &s->lag_terms));
    for (int64_t i = 0; i < s->lag_terms.count; i++) {
        const mn_contact_term *t = &s->lag_terms.data[i];
        double first;
        mn_barrier(t->near.distance, s->distance, &first, NULL);
        mn_lagged f = {.v = {t->v[0], t->v[1], t->v[2], t->v[3]}};
        f.force = -s->def.friction * t->mollifier * t->weight * first;
        if (!(f.force > 0)) continue;
        mn_vec3 corner[4];
        for (int k = 0; k < 4; k++) corner[k] = s->trial_point.data[t->v[k]];
        mn_contact_slip(t, corner, f.rows);
        double speed[2] = {0, 0};
        for (int k = 0; k < 4; k++) add_slip(&f, k, point_of(s, s->v.data, t->v[k]), speed);
        f.slip = s->h * fmax(mn_elastic_slip_speed,
                             mn_elastic_slip_fraction * sqrt(speed[0] * speed[0] + speed[1] * speed[1]));
        MN_TRY(mn_array_push(s->solver.ctx, &s->lagged, &f));
    }
    return MN_OK;
}

void mn_elastic_watch_friction(mn_elastic *s, double fraction)
{
    s->caution = 0;
    for (int64_t i = 0; i < s->lagged.count; i++) {
        mn_lagged *f = &s->lagged.data[i];
        double u[2] = {0, 0}, next[2] = {0, 0};
        for (int k = 0; k < 4; k++) {
            const mn_vec3 moved = mn_sub(s->trial_point.data[f->v[k]], s->reference.data[f->v[k]]);
            add_slip(f, k, moved, u);
            add_slip(f, k, mn_axpy(moved, fraction, s->point_v.data[f->v[k]]), next);
        }
        const bool slips = u[0] * u[0] + u[1] * u[1] > f->slip * f->slip;
        const bool turns = u[0] * next[0] + u[1] * next[1] < 0;
        f->caution = !slips ? 0 : turns ? 1 : 0.5 * f->caution;
        s->caution = fmax(s->caution, f->caution);
    }
}

mn_status mn_elastic_contact_forces(mn_elastic *s)
{
    if (s->def.method == MN_ELASTIC_IMPULSES) return MN_OK; // those of the last step are known
    for (int64_t i = 0; i < s->anchor.count; i++) s->point_force.data[i] = mn_v3(0, 0, 0);
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_contact_collect(s->contact, s->point_x.data, s->distance, &s->terms));
    s->smallest_gap = INFINITY, s->contact_energy = 0, s->contacts = s->terms.count;
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term *t = &s->terms.data[i];
        double first;
        const double b = t->weight * mn_barrier(t->near.distance, s->distance, &first, NULL);
        s->smallest_gap = fmin(s->smallest_gap, t->near.distance);
        s->contact_energy += t->mollifier * b;
        for (int k = 0; k < 4; k++) {
            mn_vec3 *f = &s->point_force.data[t->v[k]];
            *f = mn_axpy(*f, -t->mollifier * t->weight * first * t->near.c[k], t->near.normal);
            *f = mn_axpy(*f, -b, t->turn[k]);
        }
    }
    return MN_OK;
}
