// SPDX-License-Identifier: Apache-2.0
//
// Symplectic Euler, v += dt f/m, x += dt v, at steps that the stiffest element and contact allow:
//
//   dt <= 1/sqrt(max_i sum_j |K_ij| / m_i)          half of the limit by Gershgorin's bound
//
// Forces have no torque where they act, so both momenta are exact. Friction is an impulse of at most mu times
// the normal one, and at most what stops the slip. A step that would pass through something fails, and is
// tried again at half its length.
#include "contact/barrier.h"
#include "elastic/elastic_state.h"

static double row_sum(const double *k, int a)
{
    double most = 0;
    for (int i = 0; i < 3; i++) {
        double sum = 0;
        for (int j = 0; j < 12; j++) sum += fabs(k[12 * (3 * a + i) + j]);
        most = fmax(most, sum);
    }
    return most;
}

/// What one contact adds to the stiffness of the nodes of its points.
static void add_contact_stiffness(mn_elastic *s, const mn_contact_term *t, double *stiffness)
{
    double second, sum = 0;
    mn_barrier(t->near.distance, s->distance, NULL, &second);
    for (int k = 0; k < 4; k++) sum += fabs(t->near.c[k]);
    for (int k = 0; k < 4; k++) {
        const mn_anchor *a = &s->anchor.data[t->v[k]];
        for (int n = 0; n < 4 && a->node[n] >= 0; n++)
            stiffness[a->node[n]] +=
                fabs(t->weight) * t->mollifier * second * fabs(t->near.c[k] * a->weight[n]) * sum;
    }
}

static double stable_step(mn_elastic *s)
{
    double *stiffness = s->direction.data, least = INFINITY;
    for (int64_t i = 0; i < s->x.count; i++) {
        stiffness[i] = 0;
        for (int64_t n = s->around_start.data[i]; n < s->around_start.data[i + 1]; n++)
            stiffness[i] += row_sum(s->element_stiffness.data + 144 * (int64_t)(s->around.data[n] / 4),
                                    s->around.data[n] % 4);
    }
    for (int64_t i = 0; i < s->terms.count; i++) add_contact_stiffness(s, &s->terms.data[i], stiffness);
    for (int64_t i = 0; i < s->tie.count; i++)
        for (int k = 0; k < 2; k++) {
            const mn_anchor *a = &s->anchor.data[k ? s->tie.data[i].b : s->tie.data[i].a];
            stiffness[a->node[0]] += 2 * s->tie.data[i].stiffness;
        }
    for (int64_t i = 0; i < s->x.count; i++)
        if (!(s->flags.data[i] & MN_NODE_FIXED) && stiffness[i] > 0)
            least = fmin(least, 1 / sqrt(stiffness[i] / s->mass.data[i]));
    return least;
}

static mn_vec3 velocity_at(const mn_elastic *s, int32_t point)
{
    const mn_anchor *a = &s->anchor.data[point];
    mn_vec3 v = {0, 0, 0};
    for (int k = 0; k < 4 && a->node[k] >= 0; k++) v = mn_axpy(v, a->weight[k], s->v.data[a->node[k]]);
    return v;
}

/// Stops the slip of one contact, or slows it by as much as Coulomb allows.
static void rub(mn_elastic *s, const mn_lagged *f)
{
    double u[2] = {0, 0}, softness = 0;
    for (int k = 0; k < 4; k++) {
        const mn_vec3 v = velocity_at(s, f->v[k]);
        for (int t = 0; t < 2; t++)
            u[t] += f->rows[t][3 * k] * v.x + f->rows[t][3 * k + 1] * v.y + f->rows[t][3 * k + 2] * v.z;
    }
    const double speed = sqrt(u[0] * u[0] + u[1] * u[1]);
    if (!(speed > 0)) return;
    mn_vec3 along[4];
    for (int k = 0; k < 4; k++) {
        const double *p = f->rows[0] + 3 * k, *q = f->rows[1] + 3 * k;
        along[k] = mn_scale(1 / speed, mn_v3(u[0] * p[0] + u[1] * q[0], u[0] * p[1] + u[1] * q[1],
                                             u[0] * p[2] + u[1] * q[2]));
        const mn_anchor *a = &s->anchor.data[f->v[k]];
        for (int n = 0; n < 4 && a->node[n] >= 0; n++)
            if (!(s->flags.data[a->node[n]] & MN_NODE_FIXED))
                softness += mn_norm2(along[k]) * a->weight[n] * a->weight[n] / s->mass.data[a->node[n]];
    }
    if (!(softness > 0)) return;
    const double impulse = fmin(f->force * s->dt, speed / softness);
    for (int k = 0; k < 4; k++) {
        const mn_anchor *a = &s->anchor.data[f->v[k]];
        for (int n = 0; n < 4 && a->node[n] >= 0; n++) {
            const int32_t node = a->node[n];
            if (s->flags.data[node] & MN_NODE_FIXED) continue;
            s->v.data[node] =
                mn_axpy(s->v.data[node], -impulse * a->weight[n] / s->mass.data[node], along[k]);
        }
    }
}

static mn_status forces(mn_elastic *s)
{
    double energy;
    mn_elastic_place_points(s, s->x.data, s->trial_point.data);
    for (int64_t i = 0; i < s->anchor.count; i++)
        s->reference.data[i] = mn_axpy(s->trial_point.data[i], s->dt, velocity_at(s, (int32_t)i));
    MN_TRY(mn_elastic_find_candidates(s, s->trial_point.data, s->reference.data));
    MN_TRY(mn_contact_weigh_edges(s->contact, s->step_point.data, s->distance, false));
    for (int64_t i = 0; i < s->gradient.count; i++) s->gradient.data[i] = 0;
    MN_TRY(mn_elastic_elements(s, s->x.data, true, &energy));
    s->lagged.count = 0;
    MN_TRY(mn_elastic_contacts(s, s->x.data, true, &energy));
    MN_TRY(mn_elastic_lag_friction(s, s->x.data));
    for (int64_t i = 0; i < s->x.count; i++)
        for (int64_t n = s->around_start.data[i]; n < s->around_start.data[i + 1]; n++)
            for (int k = 0; k < 3; k++)
                s->gradient.data[3 * i + k] +=
                    s->element_gradient
                        .data[12 * (int64_t)(s->around.data[n] / 4) + 3 * (s->around.data[n] % 4) + k];
    return MN_OK;
}

mn_status mn_elastic_stable_step(mn_elastic *s, double *dt)
{
    MN_TRY(mn_elastic_keep_strains(s, s->x.data));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->direction, s->x.count));
    MN_TRY(forces(s));
    *dt = stable_step(s);
    return MN_OK;
}

mn_status mn_elastic_explicit_step(mn_elastic *s)
{
    double fraction;
    MN_TRY(mn_elastic_keep_strains(s, s->x.data));
    MN_TRY(forces(s));
    for (int64_t i = 0; i < s->x.count; i++) {
        const double *g = s->gradient.data + 3 * i;
        if (s->flags.data[i] & MN_NODE_FIXED) {
            s->v.data[i] = mn_scale(1 / s->dt, mn_sub(s->goal.data[i], s->x.data[i]));
            continue;
        }
        const mn_vec3 f = mn_sub(s->force.data[i], mn_v3(g[0], g[1], g[2]));
        s->v.data[i] = mn_axpy(mn_axpy(s->v.data[i], s->dt, s->def.gravity), s->dt / s->mass.data[i], f);
    }
    for (int64_t i = 0; i < s->lagged.count; i++) rub(s, &s->lagged.data[i]);
    for (int64_t i = 0; i < s->x.count; i++) s->dx.data[i] = mn_scale(s->dt, s->v.data[i]);
    if (s->def.method == MN_ELASTIC_IMPULSES) {
        MN_TRY(mn_elastic_give_impulses(s));
        for (int64_t i = 0; i < s->x.count; i++) {
            s->x.data[i] = mn_add(s->x.data[i], s->dx.data[i]);
            s->v.data[i] = mn_scale(1 / s->dt, s->dx.data[i]);
        }
        return MN_OK;
    }
    mn_elastic_place_points(s, s->dx.data, s->point_v.data);
    for (int64_t i = 0; i < s->anchor.count; i++)
        s->point_end.data[i] = mn_add(s->step_point.data[i], s->point_v.data[i]);
    if (!mn_elastic_within_reach(s, s->point_end.data)) return MN_ERROR_DIVERGED;
    MN_TRY(mn_contact_longest_step(s->contact, s->step_point.data, s->point_v.data, &fraction, NULL));
    if (fraction < 1) return MN_ERROR_DIVERGED;
    for (int64_t i = 0; i < s->x.count; i++) s->x.data[i] = mn_add(s->x.data[i], s->dx.data[i]);
    return MN_OK;
}
