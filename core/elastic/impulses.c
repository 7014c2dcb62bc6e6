// SPDX-License-Identifier: Apache-2.0
//
// Contact by impulses [marquez2021] appendix A, [bridson2002]. A step without contact moves the nodes by d0.
// Pairs that this would bring nearer than half of the contact distance exchange impulses along their normal,
//
//   minimise |d - d0|^2_M / 2   subject to   n.(sum c_i d_i) >= -allowed,      allowed = gap - rest, >= 0
//   I = -(n.(sum c_i d_i) + allowed) / sum c_i^2/m_i,   accumulated I >= 0     (A.16), n of unit length
//
// pair after pair until nothing changes. I acts along the line through both nearest points, so linear and
// angular momentum are exact. d = 0 fulfils every condition, so impulses never add energy, but for what is
// nearer than rest, which goes apart slowly. Friction,
//
//   |I_t| <= mu I,   against the slip of contact/slip.c
//
// has no torque either; f, -f at the two nearest points, as the papers have it, has gap n x f. The papers'
// way may end with surfaces that cross; here such a step fails and is tried at half its length.
#include "elastic/elastic_state.h"

enum { MAX_ROUNDS = 4, MAX_SWEEPS = 400 };
static const double rest_gap = 0.5;    ///< of the contact distance
static const double most_of_gap = 0.8; ///< that one step may close
static const double settled = 1e-6;    ///< of the contact distance: a change that is not worth another sweep
static const double goes_apart = 0.1;  ///< of what is missing to the rest gap, in a longest step

static double along_row(const mn_elastic *s, const mn_row *row, const mn_vec3 *d)
{
    double sum = 0;
    for (int64_t k = row->first; k < row->first + row->count; k++)
        sum += mn_dot(s->entry.data[k].r, d[s->entry.data[k].node]);
    return sum;
}

static double softness_of(const mn_elastic *s, const mn_row *row)
{
    double sum = 0;
    for (int64_t k = row->first; k < row->first + row->count; k++)
        if (s->unknown.data[s->entry.data[k].node] >= 0)
            sum += mn_norm2(s->entry.data[k].r) / s->mass.data[s->entry.data[k].node];
    return sum;
}

static void push_along(mn_elastic *s, const mn_row *row, double impulse)
{
    for (int64_t k = row->first; k < row->first + row->count; k++) {
        const int32_t node = s->entry.data[k].node;
        if (s->unknown.data[node] >= 0)
            s->dx.data[node] = mn_axpy(s->dx.data[node], impulse / s->mass.data[node], s->entry.data[k].r);
    }
}

static double allowed_of(const mn_elastic *s, double gap)
{
    const double rest = rest_gap * s->distance, free_way = fmin(gap - rest, most_of_gap * gap);
    return free_way >= 0 ? free_way : goes_apart * fmin(1, s->dt / s->def.max_dt) * free_way;
}

/// The pairs that s->dx may bring nearer than the rest gap; each nearest feature once, as for the barrier, so
/// that a point does not feel the edges of a flat floor.
static mn_status find_pairs(mn_elastic *s)
{
    const mn_vec3 *motion = s->point_v.data, *x = s->step_point.data;
    const double rest = rest_gap * s->distance;
    double most = 0;
    int64_t count = 0;
    for (int64_t i = 0; i < s->anchor.count; i++) most = fmax(most, mn_norm2(mn_sub(motion[i], motion[0])));
    MN_TRY(mn_contact_weigh_edges(s->contact, x, s->distance, false));
    MN_TRY(mn_contact_collect(s->contact, x, rest + 2 * sqrt(most), &s->terms));
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term t = s->terms.data[i];
        double closing = 0;
        for (int k = 0; k < 3; k++) closing = fmax(closing, mn_norm2(mn_sub(motion[t.v[k]], motion[t.v[3]])));
        if (t.weight > 0 && t.near.distance - 2 * sqrt(closing) < rest) s->terms.data[count++] = t;
    }
    s->terms.count = count;
    return MN_OK;
}

/// The pairs with three rows each.
static mn_status list_pairs(mn_elastic *s)
{
    MN_TRY(find_pairs(s));
    s->row.count = s->entry.count = s->impulse.count = 0;
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term *t = &s->terms.data[i];
        mn_impulse impulse = {.allowed = allowed_of(s, t->near.distance)};
        mn_vec3 x[4], r[4];
        double slip[2][12];
        for (int k = 0; k < 4; k++) x[k] = s->step_point.data[t->v[k]];
        mn_contact_slip(t, x, slip);
        for (int axis = 0; axis < 3; axis++) {
            for (int k = 0; k < 4; k++) {
                const double *q = slip[axis > 0 ? axis - 1 : 0] + 3 * k;
                r[k] = axis == 0 ? mn_scale(t->near.c[k], t->near.normal) : mn_v3(q[0], q[1], q[2]);
            }
            MN_TRY(mn_elastic_push_row(s, 4, t->v, r, 1));
            impulse.softness[axis] = softness_of(s, &s->row.data[s->row.count - 1]);
        }
        MN_TRY(mn_array_push(s->solver.ctx, &s->impulse, &impulse));
    }
    return MN_OK;
}

/// Stops the slip of a pair, or slows it by as much as Coulomb allows. Returns how far it moved it, m.
static double rub(mn_elastic *s, mn_impulse *impulse, const mn_row *row)
{
    const double limit = s->def.friction * impulse->given[0];
    const double softness = fmax(impulse->softness[1], impulse->softness[2]);
    if (!(softness > 0)) return 0;
    double wanted[2];
    for (int t = 0; t < 2; t++)
        wanted[t] = impulse->given[t + 1] - along_row(s, &row[t + 1], s->dx.data) / softness;
    const double length = sqrt(wanted[0] * wanted[0] + wanted[1] * wanted[1]);
    const double keep = length > limit ? limit / length : 1;
    double most = 0;
    for (int t = 0; t < 2; t++) {
        const double change = keep * wanted[t] - impulse->given[t + 1];
        push_along(s, &row[t + 1], change);
        impulse->given[t + 1] += change;
        most = fmax(most, fabs(change) * softness);
    }
    return most;
}

static mn_status exchange(mn_elastic *s)
{
    for (int sweep = 0; sweep < MAX_SWEEPS; sweep++) {
        double most = 0;
        MN_TRY(mn_check_cancelled(s->solver.ctx));
        for (int64_t i = 0; i < s->impulse.count; i++) {
            mn_impulse *impulse = &s->impulse.data[i];
            const mn_row *row = s->row.data + 3 * i;
            if (!(impulse->softness[0] > 0)) continue;
            const double rate = along_row(s, row, s->dx.data);
            const double given =
                fmax(0, impulse->given[0] - (rate + impulse->allowed) / impulse->softness[0]);
            const double change = given - impulse->given[0];
            push_along(s, row, change);
            impulse->given[0] = given;
            most = fmax(most, fabs(change) * impulse->softness[0]);
            if (s->def.friction > 0) most = fmax(most, rub(s, impulse, row));
        }
        if (most <= settled * s->distance) return MN_OK;
    }
    return MN_OK; // whether anything passes through anything is asked of the motion itself
}

/// Forces of the step, and the pairs that have pushed, which join islands.
static void keep_pushing(mn_elastic *s)
{
    int64_t count = 0;
    s->smallest_gap = INFINITY, s->contact_energy = 0;
    for (int64_t i = 0; i < s->anchor.count; i++) s->point_force.data[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term t = s->terms.data[i];
        s->smallest_gap = fmin(s->smallest_gap, t.near.distance);
        if (!(s->impulse.data[i].given[0] > 0)) continue;
        const double force = s->impulse.data[i].given[0] / (s->dt * s->dt);
        for (int k = 0; k < 4; k++)
            s->point_force.data[t.v[k]] =
                mn_axpy(s->point_force.data[t.v[k]], force * t.near.c[k], t.near.normal);
        s->terms.data[count++] = t;
    }
    s->contacts = s->terms.count = count;
}

mn_status mn_elastic_give_impulses(mn_elastic *s)
{
    mn_vec3 *end = s->point_end.data, *motion = s->point_v.data, *start = s->trial_point.data;
    for (int64_t i = 0; i < s->x.count; i++) s->trial.data[i] = s->dx.data[i];
    for (int round = 0; round < MAX_ROUNDS; round++) {
        double fraction;
        mn_elastic_place_points(s, s->x_start.data, start);
        mn_elastic_place_points(s, s->dx.data, motion);
        for (int64_t i = 0; i < s->anchor.count; i++) end[i] = mn_add(start[i], motion[i]);
        MN_TRY(mn_elastic_find_candidates(s, start, end));
        mn_timer_begin(&s->solver.timers, "impulses");
        mn_status status = list_pairs(s);
        for (int64_t i = 0; i < s->x.count; i++) s->dx.data[i] = s->trial.data[i];
        if (status == MN_OK) status = exchange(s);
        mn_timer_end(&s->solver.timers, "impulses");
        MN_TRY(status);
        mn_elastic_place_points(s, s->dx.data, motion);
        for (int64_t i = 0; i < s->anchor.count; i++) end[i] = mn_add(start[i], motion[i]);
        if (!mn_elastic_within_reach(s, end)) continue; // what was hit goes farther than was looked at
        MN_TRY(mn_contact_longest_step(s->contact, start, motion, &fraction, NULL));
        if (fraction < 1) return MN_ERROR_DIVERGED;
        keep_pushing(s);
        return MN_OK;
    }
    return MN_ERROR_DIVERGED;
}
