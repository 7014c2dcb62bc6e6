// SPDX-License-Identifier: Apache-2.0
//
// Linear and angular momentum of what nothing outside holds, to rounding. Implicit steps take a little of
// both: the torque of forces is zero at the end of the step but not about the middle of the motion, and BDF2
// remembers pushes of contacts that are over. For every island,
//
//   P = P_n + dt (m g + f),   L = L_n + dt (m (c + c_n)/2 x g + sum x x f)
//
// is what it should have, and it gets a velocity s + w x (x - c) on top that gives it these. Places stay, so
// no gap changes; the velocity is rigid, so no shape does.
#include "elastic/elastic_state.h"

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

static void join(int32_t *parent, int32_t a, int32_t b)
{
    const int32_t p = root_of(parent, a), q = root_of(parent, b);
    if (p < q)
        parent[q] = p;
    else
        parent[p] = q;
}

static void join_points(mn_elastic *s, int32_t a, int32_t b)
{
    join(s->island.data, s->anchor.data[a].node[0], s->anchor.data[b].node[0]);
}

static mn_status find_islands(mn_elastic *s)
{
    const int32_t count = (int32_t)s->x.count;
    MN_TRY(mn_array_resize(s->solver.ctx, &s->island, count));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->islands, count));
    int32_t *parent = s->island.data;
    for (int32_t i = 0; i < count; i++) parent[i] = i;
    for (int64_t e = 0; e < s->element.count; e++)
        for (int a = 1; a < 4; a++)
            if (s->element.data[e].node[a] >= 0)
                join(parent, s->element.data[e].node[0], s->element.data[e].node[a]);
    for (int64_t i = 0; i < s->terms.count; i++)
        for (int k = 1; k < 4; k++)
            if (s->terms.data[i].near.c[k] != 0) join_points(s, s->terms.data[i].v[0], s->terms.data[i].v[k]);
    for (int64_t i = 0; i < s->lagged.count; i++)
        for (int k = 1; k < 4; k++) join_points(s, s->lagged.data[i].v[0], s->lagged.data[i].v[k]);
    for (int64_t i = 0; i < s->tie.count; i++) join_points(s, s->tie.data[i].a, s->tie.data[i].b);
    for (int32_t i = 0; i < count; i++) parent[i] = root_of(parent, i);
    for (int32_t i = 0; i < count; i++) s->islands.data[i] = (mn_island){.at = s->x.data[parent[i]]};
    return MN_OK;
}

static void add_node(mn_elastic *s, int64_t i, mn_vec3 x_before, mn_vec3 v_before)
{
    mn_island *q = &s->islands.data[s->island.data[i]];
    const double m = s->mass.data[i];
    if (s->flags.data[i] & MN_NODE_FIXED) {
        q->held = true;
        return;
    }
    const mn_vec3 r = mn_sub(s->x.data[i], q->at), r_before = mn_sub(x_before, q->at), f = s->force.data[i];
    q->mass += m;
    q->center = mn_axpy(q->center, m, r), q->center_before = mn_axpy(q->center_before, m, r_before);
    q->push = mn_axpy(q->push, m, s->v.data[i]), q->push_before = mn_axpy(q->push_before, m, v_before);
    q->spin = mn_axpy(q->spin, m, mn_cross(r, s->v.data[i]));
    q->spin_before = mn_axpy(q->spin_before, m, mn_cross(r_before, v_before));
    q->push_before = mn_axpy(q->push_before, s->dt, f);
    q->spin_before = mn_axpy(q->spin_before, s->dt, mn_cross(r, f));
}

static void add_inertia(mn_elastic *s, int64_t i)
{
    mn_island *q = &s->islands.data[s->island.data[i]];
    const mn_vec3 r = mn_sub(mn_sub(s->x.data[i], q->at), q->center);
    const double m = s->mass.data[i], r2 = mn_norm2(r);
    q->inertia = mn_m3_add(q->inertia, mn_m3_scale(-m, mn_outer(r, r)));
    for (int k = 0; k < 3; k++) q->inertia.m[k][k] += m * r2;
}

mn_status mn_elastic_repair_momentum(mn_elastic *s, const mn_vec3 *x_before, const mn_vec3 *v_before)
{
    const mn_vec3 g = s->def.gravity;
    MN_TRY(find_islands(s));
    for (int64_t i = 0; i < s->x.count; i++) add_node(s, i, x_before[i], v_before[i]);
    for (int64_t i = 0; i < s->x.count; i++) {
        mn_island *q = &s->islands.data[i];
        if (s->island.data[i] != i || !(q->mass > 0)) continue;
        const mn_vec3 lever = mn_scale(0.5, mn_add(q->center, q->center_before)); // kg m
        q->center = mn_scale(1 / q->mass, q->center);
        const mn_vec3 push = mn_axpy(q->push_before, s->dt * q->mass, g);
        const mn_vec3 spin = mn_axpy(q->spin_before, s->dt, mn_cross(lever, g));
        q->shift = mn_scale(1 / q->mass, mn_sub(push, q->push));
        // the shift changes the spin about q->at as well
        q->turn = mn_sub(mn_sub(spin, q->spin), mn_scale(q->mass, mn_cross(q->center, q->shift)));
    }
    for (int64_t i = 0; i < s->x.count; i++)
        if (!(s->flags.data[i] & MN_NODE_FIXED)) add_inertia(s, i);
    for (int64_t i = 0; i < s->x.count; i++) {
        mn_island *q = &s->islands.data[i];
        mn_mat3 inverse;
        if (s->island.data[i] != i || q->held || !(q->mass > 0)) continue;
        if (mn_m3_inverse(q->inertia, &inverse))
            q->turn = mn_m3_apply(inverse, q->turn);
        else
            q->turn = mn_v3(0, 0, 0);
        if (!mn_is_finite3(q->turn)) q->turn = mn_v3(0, 0, 0);
    }
    for (int64_t i = 0; i < s->x.count; i++) {
        const mn_island *q = &s->islands.data[s->island.data[i]];
        if (q->held || (s->flags.data[i] & MN_NODE_FIXED)) continue;
        const mn_vec3 r = mn_sub(mn_sub(s->x.data[i], q->at), q->center);
        s->v.data[i] = mn_add(s->v.data[i], mn_add(q->shift, mn_cross(q->turn, r)));
    }
    return MN_OK;
}
