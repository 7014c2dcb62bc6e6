// SPDX-License-Identifier: Apache-2.0
//
// Walls and solids in an implicit step: which nodes they hold, and in which directions.
//
//   slip      v.n = u.n                         u the boundary's velocity
//   stick     v = u
//   separate  v.n >= u.n, impulse R.n >= 0, one of them zero; |R_t| <= friction R.n
//
// The held directions of a node are made orthonormal, so that what is free is a projection, and conjugate
// gradients run in the space of what is free. Contacts that may separate are switched between solves: let go
// when the wall would have to pull, held when the liquid would pass. R is the gradient of the potential at
// the solution: what the wall has to add. Friction acts on the solved velocity with that R.
#include "mpm/nozzles.h"

enum { BLOCK_GRAIN = 32 };

static void hold_direction(mn_mpm_held *held, mn_vec3 n, mn_vec3 velocity)
{
    // Two normals closer than this are one.
    const double least = 1e-4;
    mn_vec3 e = n;
    for (int32_t k = 0; k < held->rank; k++) e = mn_axpy(e, -mn_dot(n, held->axis[k]), held->axis[k]);
    const double size = mn_norm(e);
    if (held->rank == 3 || !(size > least)) return;
    e = mn_scale(1 / size, e);
    // The offset that gives v.n = velocity.n together with the directions held before.
    double speed = mn_dot(velocity, n);
    for (int32_t k = 0; k < held->rank; k++) speed -= mn_dot(n, held->axis[k]) * held->speed[k];
    held->axis[held->rank] = e;
    held->speed[held->rank++] = speed / size;
}

void mn_mpm_find_directions(mn_mpm_held *held)
{
    held->rank = 0;
    // What sticks first: nothing slips there any more.
    for (int32_t k = 0; k < held->contact_count; k++) {
        const mn_mpm_touch *touch = &held->contacts[k];
        if (touch->kind != MN_MPM_STICK) continue;
        hold_direction(held, mn_v3(1, 0, 0), touch->velocity);
        hold_direction(held, mn_v3(0, 1, 0), touch->velocity);
        hold_direction(held, mn_v3(0, 0, 1), touch->velocity);
    }
    for (int32_t k = 0; k < held->contact_count; k++)
        if (held->on[k] && held->contacts[k].kind != MN_MPM_STICK)
            hold_direction(held, held->contacts[k].normal, held->contacts[k].velocity);
}

mn_status mn_mpm_find_held(mn_mpm *mpm)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &implicit->first_held, mpm->grid.table.count + 1));
    implicit->held.count = 0;
    for (int32_t b = 0; b < mpm->grid.table.count; b++) {
        implicit->first_held.data[b] = (int32_t)implicit->held.count;
        const bool at_wall = mn_mpm_block_meets_wall(&mpm->def, &mpm->grid.table, b);
        const bool at_solid =
            mpm->run.collider &&
            mn_mpm_block_meets_collider(mpm->run.collider, mpm->run.frame_left, &mpm->grid.table, b);
        for (int32_t cell = 0; (at_wall || at_solid || mpm->nozzles.held.count > 0) && cell < MN_BLOCK_CELLS;
             cell++) {
            const int32_t node = b * MN_BLOCK_CELLS + cell;
            const double mass = mpm->grid.before.data[node].mass;
            mn_mpm_held held = {.node = node};
            mn_vec3 nozzle;
            if (!(mass > 0)) continue;
            if (mn_mpm_node_is_held(mpm, node, mass, &nozzle))
                held.contacts[held.contact_count++] =
                    (mn_mpm_touch){MN_MPM_STICK, mn_v3(0, 1, 0), nozzle, 0, false};
            else if (at_wall || at_solid)
                held.contact_count =
                    mn_mpm_find_touches(&mpm->def, at_solid ? mpm->run.collider : NULL, mpm->run.frame_left,
                                        mn_mpm_node_position(&mpm->grid.table, b, cell), held.contacts);
            if (held.contact_count == 0) continue;
            for (int32_t k = 0; k < held.contact_count; k++) {
                const mn_mpm_touch *touch = &held.contacts[k];
                const mn_vec3 off = mn_sub(implicit->target.data[node].v, touch->velocity);
                held.on[k] = touch->kind != MN_MPM_SEPARATE || mn_dot(off, touch->normal) < 0;
            }
            mn_mpm_find_directions(&held);
            MN_TRY(mn_array_push(mpm->solver.ctx, &implicit->held, &held));
        }
    }
    implicit->first_held.data[mpm->grid.table.count] = (int32_t)implicit->held.count;
    return MN_OK;
}

void mn_mpm_hold(const mn_mpm *mpm, mn_mpm_node *v)
{
    for (int64_t i = 0; i < mpm->implicit.held.count; i++) {
        const mn_mpm_held *held = &mpm->implicit.held.data[i];
        mn_vec3 *u = &v[held->node].v;
        for (int32_t k = 0; k < held->rank; k++)
            *u = mn_axpy(*u, held->speed[k] - mn_dot(*u, held->axis[k]), held->axis[k]);
    }
}

mn_vec3 mn_mpm_free_everywhere(const mn_mpm *mpm, mn_vec3 v)
{
    const double least = 1e-9;
    mn_mat3 sum = {0}, axes;
    mn_vec3 values, left = v;
    for (int64_t i = 0; i < mpm->implicit.held.count; i++) {
        const mn_mpm_held *held = &mpm->implicit.held.data[i];
        for (int32_t k = 0; k < held->rank; k++) sum = mn_m3_add(sum, mn_outer(held->axis[k], held->axis[k]));
    }
    mn_m3_eigen_symmetric(sum, &values, &axes);
    const double size[3] = {values.x, values.y, values.z};
    for (int a = 0; a < 3; a++) {
        const mn_vec3 axis = mn_m3_column(axes, a);
        if (size[a] > least) left = mn_axpy(left, -mn_dot(v, axis), axis);
    }
    return left;
}

bool mn_mpm_switch_contacts(mn_mpm *mpm, const mn_mpm_node *v)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    bool any = false;
    for (int64_t i = 0; i < implicit->held.count; i++) {
        mn_mpm_held *held = &implicit->held.data[i];
        bool changed = false;
        for (int32_t k = 0; k < held->contact_count; k++) {
            const mn_mpm_touch *touch = &held->contacts[k];
            if (touch->kind != MN_MPM_SEPARATE) continue;
            const double pull = mn_dot(implicit->gradient.data[held->node].v, touch->normal);
            const double gap = mn_dot(mn_sub(v[held->node].v, touch->velocity), touch->normal);
            const bool on = held->on[k] ? pull >= 0 : gap < 0;
            changed = changed || on != held->on[k];
            held->on[k] = on;
        }
        if (changed) mn_mpm_find_directions(held);
        any = any || changed;
    }
    return any;
}

void mn_mpm_rub(const mn_mpm *mpm, mn_mpm_node *v)
{
    for (int64_t i = 0; i < mpm->implicit.held.count; i++) {
        const mn_mpm_held *held = &mpm->implicit.held.data[i];
        const double mass = mpm->grid.before.data[held->node].mass;
        for (int32_t k = 0; k < held->contact_count; k++) {
            const mn_mpm_touch *touch = &held->contacts[k];
            if (touch->kind != MN_MPM_SEPARATE || !held->on[k] || !(touch->friction > 0)) continue;
            const double push = mn_dot(mpm->implicit.gradient.data[held->node].v, touch->normal);
            const mn_vec3 off = mn_sub(v[held->node].v, touch->velocity);
            // Coulomb's rule as for explicit steps, with the wall's impulse as the speed that it took away.
            const mn_vec3 into =
                mn_axpy(off, -fmax(push, 0) / mass - mn_dot(off, touch->normal), touch->normal);
            v[held->node].v = mn_add(touch->velocity, mn_mpm_bound_velocity(MN_MPM_SEPARATE, touch->friction,
                                                                            touch->normal, into));
        }
    }
}
