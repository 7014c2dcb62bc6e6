// SPDX-License-Identifier: Apache-2.0
//
// Friction of wetted nodes. With v the velocity along the solid relative to it, A the wetted area of a node
// and N what presses it on:
//
//   drag       force = - drag A v                               [clausen2013] 8.2, per area here
//   Coulomb    v = 0 while the force that this takes is at most friction N, else
//              force = - friction N v/|v|
//
// Drag is linear and part of the matrix. A node that Coulomb's law holds has no freedom in a stage, one that
// slides gets a constant force. Afterwards the holding forces tell which nodes must slide, the velocities
// which must be held, the pressing forces what friction they have, and the stage is solved again.
#include "tet/state.h"

enum { SLIDES, HELD }; // 0 is what find_contacts() leaves

static bool has_coulomb(const mn_tet_liquid *liquid)
{
    return mn_tet_liquid_rubs(liquid);
}

bool mn_tet_liquid_is_held(const mn_tet_liquid *liquid, int32_t i)
{
    return mn_tet_liquid_sticks(liquid, liquid->mesh, i) ||
           (has_coulomb(liquid) && liquid->friction.slip.data[i] == HELD);
}

mn_status mn_tet_liquid_begin_friction(mn_tet_liquid *liquid, double h, mn_tet_stage *stage)
{
    const double slow = 0.02; // of the size a stage: what slides less is taken to be held at first
    const int32_t n = liquid->system.node_count;
    const double unit = h / (liquid->def.density * liquid->size * liquid->size * liquid->size);
    const bool all_stick = liquid->def.stick && !mn_collider_is_painted(liquid->run.collider, MN_PAINT_SLIP);
    if (all_stick || (!(liquid->def.drag > 0) && !has_coulomb(liquid))) return MN_OK;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->friction.drag, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->friction.push, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->friction.solid, n));
    for (int32_t i = 0; i < n; i++) {
        liquid->friction.drag.data[i] = liquid->def.drag * liquid->contacts.wetted_area.data[i] * unit;
        liquid->friction.push.data[i] = liquid->friction.solid.data[i] = mn_v3(0, 0, 0);
        liquid->friction.slip.data[i] = SLIDES;
        if (!liquid->contacts.touch.data[i]) continue;
        liquid->friction.solid.data[i] = mn_scale(h / liquid->size, mn_tet_liquid_solid_velocity(liquid, i));
        const mn_vec3 slip = mn_sub(stage->drift[i], liquid->friction.solid.data[i]);
        if (liquid->contacts.wetted_area.data[i] > 0 && mn_norm(slip) < slow &&
            mn_tet_liquid_friction(liquid, i) > 0)
            liquid->friction.slip.data[i] = HELD;
    }
    stage->drag = liquid->friction.drag.data;
    stage->push = liquid->friction.push.data;
    stage->solid = liquid->friction.solid.data;
    return MN_OK;
}

// What Coulomb's law gives node i, from the force R that the solids have on it.
static void revise_node(mn_tet_liquid *liquid, const mn_tet_stage *stage, int32_t i, mn_vec3 force,
                        bool *changed)
{
    const mn_vec3 along = mn_m3_apply(liquid->contacts.tangent.data[i], force);
    const double most = mn_tet_liquid_friction(liquid, i) * mn_tet_liquid_pressing(liquid, stage, i, force);
    const mn_vec3 slip =
        mn_m3_apply(liquid->contacts.tangent.data[i], mn_sub(stage->u[i], liquid->friction.solid.data[i]));
    if (liquid->friction.slip.data[i] == HELD) {
        if (mn_norm(along) <= most) return;
        liquid->friction.slip.data[i] = SLIDES;
        liquid->friction.push.data[i] = mn_scale(most, mn_normalize(along));
        *changed = true;
        return;
    }
    const mn_vec3 had = liquid->friction.push.data[i];
    if (mn_norm2(had) > 0 && mn_dot(slip, had) > 0) { // friction alone would drive it
        liquid->friction.slip.data[i] = HELD;
        liquid->friction.push.data[i] = mn_v3(0, 0, 0);
        *changed = true;
        return;
    }
    const mn_vec3 now = mn_scale(-most, mn_normalize(slip));
    if (mn_distance(now, had) > 0.01 * most + 1e-9 * liquid->system.force_scale) {
        liquid->friction.push.data[i] = now;
        *changed = true;
    }
}

mn_status mn_tet_liquid_revise_friction(mn_tet_liquid *liquid, const mn_tet_stage *stage, bool *changed)
{
    if (!has_coulomb(liquid) || !stage->push) return MN_OK;
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        if (!liquid->contacts.touch.data[i] || !(liquid->contacts.wetted_area.data[i] > 0)) continue;
        if (mn_tet_liquid_sticks(liquid, liquid->mesh, i)) continue;
        const double *r = stage->reaction + 3 * (int64_t)i;
        revise_node(liquid, stage, i, mn_v3(r[0], r[1], r[2]), changed);
    }
    return MN_OK;
}
