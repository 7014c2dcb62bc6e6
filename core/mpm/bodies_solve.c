// SPDX-License-Identifier: Apache-2.0
//
// The bodies' part of the solve (bodies.h), beside newton.c, potential.c and grid_cg.c. Loops run in the
// order of held nodes and contacts, so that sums are the same for any number of workers.
#include "mpm/state.h"

#include <string.h>

// ---- velocities ----

// l_k: what of the held speeds follows the body, by asking for them with one component of it at a time.
static void find_shares(const mn_mpm *mpm, mn_mpm_grip *hold)
{
    for (int axis = 0; axis < 3; axis++) {
        mn_mpm_held held = mpm->implicit.held.data[hold->held];
        for (int32_t k = 0; k < held.contact_count; k++) held.contacts[k].velocity = mn_v3(0, 0, 0);
        for (int32_t k = 0; k < hold->sides; k++) (&held.contacts[k].velocity.x)[axis] = 1;
        mn_mpm_find_directions(&held);
        for (int32_t k = 0; k < held.rank; k++) (&hold->l[k].x)[axis] = held.speed[k];
    }
}

static double row_speed(const mn_wall_row *row, const mn_vec3 *u)
{
    double speed = 0;
    for (int k = 0; k < 4 && row->node[k] >= 0; k++) speed += mn_dot(row->r[k], u[row->node[k]]);
    return speed;
}

void mn_mpm_bodies_follow(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    mn_elastic_shared_velocities(bodies->elastic, bodies->u.data);
    for (int64_t i = 0; i < bodies->holds.count; i++) {
        mn_mpm_grip *hold = &bodies->holds.data[i];
        mn_mpm_held *held = &mpm->implicit.held.data[hold->held];
        const mn_vec3 velocity = mn_wall_velocity(&hold->map, bodies->u.data);
        for (int32_t k = 0; k < hold->sides; k++) held->contacts[k].velocity = velocity;
        mn_mpm_find_directions(held);
    }
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_wall_row *row = &bodies->contact_rows.data[c];
        mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        if (row->node[0] < 0) continue;
        const double off = row_speed(row, bodies->u.data) - mn_dot(contact->velocity, contact->normal);
        contact->velocity = mn_axpy(contact->velocity, off, contact->normal);
    }
}

mn_status mn_mpm_bodies_start(mn_mpm *mpm)
{
    // Liquid that falls freely is then at rest with its forces, and leaves nothing over for the bodies.
    const mn_vec3 fall = mn_scale(mpm->implicit.dt, mpm->def.gravity);
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
        if (mpm->grid.nodes.data[i].mass > 0)
            mpm->grid.nodes.data[i].v = mn_add(mpm->grid.nodes.data[i].v, fall);
    MN_TRY(mn_elastic_shared_start(mpm->bodies.elastic));
    mn_mpm_bodies_follow(mpm);
    return MN_OK;
}

// ---- energy ----

mn_status mn_mpm_bodies_energy(mn_mpm *mpm, double *energy)
{
    const mn_mpm_bodies *bodies = &mpm->bodies;
    MN_TRY(mn_elastic_shared_evaluate(bodies->elastic, energy, NULL));
    for (int64_t i = 0; i < bodies->u.count; i++) *energy += mn_dot(bodies->load.data[i], bodies->u.data[i]);
    return MN_OK;
}

// E^T of the grid's gradient or image at the held nodes, without the inertia of a `direction` there, and of
// the contacts' impulses.
static void react(const mn_mpm *mpm, const mn_mpm_node *grid, const mn_mpm_node *direction, mn_vec3 *held_to,
                  mn_vec3 *contact_to)
{
    const mn_mpm_bodies *bodies = &mpm->bodies;
    for (int64_t i = 0; i < bodies->holds.count; i++) {
        const mn_mpm_grip *hold = &bodies->holds.data[i];
        const mn_mpm_held *held = &mpm->implicit.held.data[hold->held];
        mn_vec3 value = grid[held->node].v, f = {0, 0, 0};
        if (direction)
            value = mn_axpy(value, -mpm->grid.before.data[held->node].mass, direction[held->node].v);
        for (int32_t k = 0; k < held->rank; k++) f = mn_axpy(f, mn_dot(value, held->axis[k]), hold->l[k]);
        mn_wall_react(&hold->map, f, held_to);
    }
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_wall_row *row = &bodies->contact_rows.data[c];
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        if (row->node[0] < 0 || !contact->held) continue;
        const double push = -contact->weight * mpm->implicit.impulse.data[c] * mpm->implicit.feet.data[c].sum;
        for (int k = 0; k < 4 && row->node[k] >= 0; k++)
            contact_to[row->node[k]] = mn_axpy(contact_to[row->node[k]], push, row->r[k]);
    }
}

// Entries of fixed nodes are none.
static void keep_free(const mn_mpm *mpm, mn_vec3 *vector)
{
    for (int64_t i = 0; i < mpm->bodies.u.count; i++)
        if (mn_elastic_node_is_fixed(mpm->bodies.elastic, i)) vector[i] = mn_v3(0, 0, 0);
}

static mn_status find_held_rows(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    bodies->held_rows.count = 0;
    for (int64_t i = 0; i < bodies->holds.count; i++) {
        mn_mpm_grip *hold = &bodies->holds.data[i];
        const mn_mpm_held *held = &mpm->implicit.held.data[hold->held];
        find_shares(mpm, hold);
        for (int32_t k = 0; k < held->rank; k++) {
            mn_wall_row row = {.mass = mpm->grid.before.data[held->node].mass};
            if (mn_norm2(hold->l[k]) == 0) continue;
            for (int n = 0; n < 4; n++) {
                row.node[n] = hold->map.node[n];
                if (row.node[n] < 0) break;
                row.r[n] = mn_m3_apply(mn_m3_transpose(hold->map.e[n]), hold->l[k]);
            }
            MN_TRY(mn_array_push(mpm->solver.ctx, &bodies->held_rows, &row));
        }
    }
    return MN_OK;
}

mn_status mn_mpm_bodies_linearise(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    double energy;
    MN_TRY(find_held_rows(mpm));
    MN_TRY(mn_elastic_shared_evaluate(bodies->elastic, &energy, bodies->own.data));
    if (!isfinite(energy)) return MN_ERROR_DIVERGED;
    for (int64_t i = 0; i < bodies->u.count; i++) {
        bodies->own.data[i] = mn_add(bodies->own.data[i], bodies->load.data[i]);
        bodies->gradient.data[i] = mn_v3(0, 0, 0);
    }
    react(mpm, mpm->implicit.gradient.data, NULL, bodies->gradient.data, bodies->own.data);
    for (int64_t i = 0; i < bodies->u.count; i++)
        bodies->gradient.data[i] = mn_add(bodies->gradient.data[i], bodies->own.data[i]);
    keep_free(mpm, bodies->own.data), keep_free(mpm, bodies->gradient.data);
    return mn_elastic_shared_factor(bodies->elastic, bodies->held_rows.count, bodies->held_rows.data);
}

double mn_mpm_bodies_slope(const mn_mpm *mpm)
{
    double slope = 0;
    for (int64_t i = 0; i < mpm->bodies.u.count; i++)
        slope += mn_dot(mpm->bodies.own.data[i], mpm->bodies.x.data[i]);
    return slope;
}

// ---- conjugate gradients ----

static double product(const mn_mpm_bodies *bodies, const mn_vec3 *a, const mn_vec3 *b)
{
    double sum = 0;
    for (int64_t i = 0; i < bodies->u.count; i++) sum += mn_dot(a[i], b[i]);
    return sum;
}

mn_status mn_mpm_bodies_cg_begin(mn_mpm *mpm, double *rz)
{
    mn_mpm_bodies *b = &mpm->bodies;
    for (int64_t i = 0; i < b->u.count; i++) {
        b->r.data[i] = mn_scale(-1, b->gradient.data[i]);
        b->x.data[i] = b->p.data[i] = mn_v3(0, 0, 0);
    }
    MN_TRY(mn_elastic_shared_solve(b->elastic, b->r.data, b->z.data));
    *rz += product(b, b->r.data, b->z.data);
    return MN_OK;
}

void mn_mpm_bodies_cg_turn(mn_mpm *mpm, double beta, mn_mpm_node *direction)
{
    mn_mpm_bodies *b = &mpm->bodies;
    for (int64_t i = 0; i < b->u.count; i++) b->p.data[i] = mn_axpy(b->z.data[i], beta, b->p.data[i]);
    for (int64_t i = 0; i < b->holds.count; i++) {
        const mn_mpm_grip *hold = &b->holds.data[i];
        const mn_mpm_held *held = &mpm->implicit.held.data[hold->held];
        const mn_vec3 wall = mn_wall_velocity(&hold->map, b->p.data);
        mn_mpm_node *node = &direction[held->node];
        mn_mpm_free_part(held, node);
        for (int32_t k = 0; k < held->rank; k++)
            node->v = mn_axpy(node->v, mn_dot(hold->l[k], wall), held->axis[k]);
    }
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++)
        b->direction.data[c] = row_speed(&b->contact_rows.data[c], b->p.data);
}

mn_status mn_mpm_bodies_cg_measure(mn_mpm *mpm, const mn_mpm_node *direction, const mn_mpm_node *image,
                                   double *curvature)
{
    mn_mpm_bodies *b = &mpm->bodies;
    MN_TRY(mn_elastic_shared_apply(b->elastic, b->p.data, b->hp.data));
    react(mpm, image, direction, b->hp.data, b->hp.data);
    keep_free(mpm, b->hp.data);
    *curvature = product(b, b->p.data, b->hp.data);
    return MN_OK;
}

double mn_mpm_bodies_cg_rest(const mn_mpm *mpm)
{
    return product(&mpm->bodies, mpm->bodies.r.data, mpm->bodies.z.data);
}

mn_status mn_mpm_bodies_cg_walk(mn_mpm *mpm, double alpha, double sums[2])
{
    mn_mpm_bodies *b = &mpm->bodies;
    for (int64_t i = 0; i < b->u.count; i++) {
        b->x.data[i] = mn_axpy(b->x.data[i], alpha, b->p.data[i]);
        b->r.data[i] = mn_axpy(b->r.data[i], -alpha, b->hp.data[i]);
    }
    MN_TRY(mn_elastic_shared_solve(b->elastic, b->r.data, b->z.data));
    sums[0] += product(b, b->r.data, b->z.data);
    sums[1] += mn_elastic_shared_norm2(b->elastic, b->x.data);
    return MN_OK;
}
