// SPDX-License-Identifier: Apache-2.0
//
// Nodes behind more than one side of a body.
//
// A node inside a body is held along the normal of the side that it is nearest to. Near an edge, liquid that
// touches the other side sees it too: were the node free along that side's normal, the liquid would push it
// into the body instead of pushing the body, and flow after it. (A box of 6 cells lost an eighth of the
// pressure below it that way, and went on sinking.) So particles that touch a body say along which normals
// the nodes behind their side are to be held, and a node takes those that differ from its own by more than
// 60 degrees and that a part of its mass asks for: one at an edge, two at a corner. Round bodies have none.
#include "mpm/state.h"

static const double same_side = 0.5;    // cosine, above which two normals are of one side
static const double least_share = 0.02; // of a node's mass, that asks for a side

/// Whether a normal is of none of the sides that a hold has.
static bool is_other_side(const mn_mpm_held *held, int32_t sides, mn_vec3 normal)
{
    for (int32_t k = 0; k < sides; k++)
        if (mn_dot(held->contacts[k].normal, normal) > same_side) return false;
    return true;
}

/// What the particle of a contact asks of the nodes that it sees behind its side.
static void ask(mn_mpm *mpm, const mn_mpm_contact *contact, int32_t sides)
{
    const mn_block_table *table = &mpm->grid.table;
    mn_mpm_bodies *bodies = &mpm->bodies;
    const mn_mpm_particle *p = &mpm->particles.data[contact->particle];
    const mn_vec3 x = mn_mpm_position(p);
    const mn_vec3 place = mn_scale(table->inverse_dx, mn_sub(x, table->origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    const double t[3] = {place.x - cell.x, place.y - cell.y, place.z - cell.z};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    double w[3][3];
    if (at < 0) return;
    for (int a = 0; a < 3; a++) {
        w[a][0] = 0.5 * (1 - t[a]) * (1 - t[a]);
        w[a][1] = 0.5 + t[a] * (1 - t[a]);
        w[a][2] = 0.5 * t[a] * t[a];
    }
    for (int32_t k = 0; k < 27; k++) {
        const int32_t a = k / 9, b = k / 3 % 3, c = k % 3;
        const int32_t node =
            mn_block_reach(table, at / MN_BLOCK_CELLS, (cell.x & 3) + a, (cell.y & 3) + b, (cell.z & 3) + c);
        const int32_t hold = node < 0 ? -1 : bodies->hold_of.data[node];
        if (hold < 0 || bodies->holds.data[hold].sides != sides) continue;
        const mn_mpm_held *held = &mpm->implicit.held.data[bodies->holds.data[hold].held];
        if (!is_other_side(held, sides, contact->normal)) continue;
        const mn_vec3 off =
            mn_v3(a - 0.5 - t[0], b - 0.5 - t[1], c - 0.5 - t[2]); // from the particle, in cells
        if (mn_dot(off, contact->normal) > -contact->distance * table->inverse_dx) continue; // in front
        const double mass = p->mass * w[0][a] * w[1][b] * w[2][c];
        bodies->turned.data[hold] = mn_axpy(bodies->turned.data[hold], mass, contact->normal);
    }
}

/// One more side for every hold that has `sides` and is asked for it; whether there was any.
static bool add_sides(mn_mpm *mpm, int32_t sides)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    mn_mpm_implicit *implicit = &mpm->implicit;
    bool any = false;
    for (int64_t i = 0; i < bodies->holds.count; i++) bodies->turned.data[i] = mn_v3(0, 0, 0);
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++)
        if (mpm->walls.contacts.data[c].is_body) ask(mpm, &mpm->walls.contacts.data[c], sides);
    for (int64_t i = 0; i < bodies->holds.count; i++) {
        mn_mpm_grip *hold = &bodies->holds.data[i];
        mn_mpm_held *held = &implicit->held.data[hold->held];
        const double mass = mpm->grid.before.data[held->node].mass;
        if (!(mn_norm(bodies->turned.data[i]) > least_share * mass)) continue;
        if (held->contacts[0].kind == MN_MPM_STICK || held->contact_count == MN_MPM_TOUCH_MAX) continue;
        for (int32_t k = held->contact_count++; k > hold->sides; k--)
            held->contacts[k] = held->contacts[k - 1], held->on[k] = held->on[k - 1];
        mn_mpm_touch *touch = &held->contacts[hold->sides];
        *touch = held->contacts[0];
        touch->normal = mn_normalize(bodies->turned.data[i]);
        const mn_vec3 off = mn_sub(implicit->target.data[held->node].v, touch->velocity);
        held->on[hold->sides++] = touch->kind != MN_MPM_SEPARATE || mn_dot(off, touch->normal) < 0;
        mn_mpm_find_directions(held);
        any = true;
    }
    return any;
}

mn_status mn_mpm_bodies_find_edges(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (bodies->holds.count == 0) return MN_OK;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &bodies->hold_of, mpm->grid.nodes.count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &bodies->turned, bodies->holds.count));
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) bodies->hold_of.data[i] = -1;
    for (int64_t i = 0; i < bodies->holds.count; i++)
        bodies->hold_of.data[mpm->implicit.held.data[bodies->holds.data[i].held].node] = (int32_t)i;
    for (int32_t sides = 1; sides < 3; sides++)
        if (!add_sides(mpm, sides)) break;
    return MN_OK;
}
