// SPDX-License-Identifier: Apache-2.0
//
// Bodies over an advance and its steps: where they are for the liquid, what of it they touch, and what they
// get in the end (bodies.h).
#include "mpm/walls.h"

#include "space/moving_solids.h"

#include <string.h>

// Sheets reach this far to either side, in cells: all nodes that liquid on one side sees behind the sheet
// are then inside of it.
static const double sheet_reach = 0.75;
// Bodies are looked for this far away, in cells: as far as blocks ask.
static const double band = 8;

// ---- an advance ----

mn_status mn_mpm_set_bodies(mn_mpm *mpm, mn_elastic *elastic, const mn_elastic_inputs *inputs,
                            const double *contact_angle)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (elastic != bodies->elastic) {
        mn_elastic_wall_free(bodies->wall);
        bodies->wall = NULL;
    }
    bodies->elastic = elastic;
    bodies->inputs = inputs ? *inputs : (mn_elastic_inputs){0};
    if (elastic && !bodies->wall)
        MN_TRY(mn_elastic_wall_create(elastic, sheet_reach * mpm->def.dx, band * mpm->def.dx, &bodies->wall));
    if (elastic) mn_elastic_wall_paint(bodies->wall, contact_angle);
    return MN_OK;
}

// The collider that everything asks: the bodies where they are now, and `fixed`.
static mn_status join(mn_mpm *mpm, const mn_collider *fixed)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    MN_TRY(mn_elastic_wall_place(bodies->wall, mn_elastic_nodes(bodies->elastic),
                                 mn_elastic_node_velocities(bodies->elastic)));
    const mn_moving_solids solids = mn_elastic_wall_solids(bodies->wall);
    if (!bodies->joined)
        MN_TRY(mn_collider_join(mpm->solver.ctx, fixed, &solids, &bodies->joined));
    else
        mn_collider_rejoin(bodies->joined, fixed, &solids);
    bodies->fixed = fixed;
    mpm->run.collider = bodies->joined;
    return MN_OK;
}

mn_status mn_mpm_bodies_begin(mn_mpm *mpm, const mn_collider *collider, double seconds)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    mpm->run.collider = collider;
    bodies->open = bodies->shared = false;
    if (!bodies->elastic) return MN_OK;
    if (mpm->def.integrator == MN_MPM_EXPLICIT)
        return mn_fail(mpm->solver.ctx, MN_ERROR_ARGUMENT,
                       "Bodies move with the liquid in one solve; set integrator to implicit.");
    const int64_t nodes = mn_elastic_node_count(bodies->elastic);
    mn_context *ctx = mpm->solver.ctx;
    MN_TRY(mn_elastic_shared_begin(bodies->elastic, &bodies->inputs, seconds));
    MN_TRY(mn_array_resize(ctx, &bodies->u, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->load, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->own, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->gradient, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->x, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->r, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->z, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->p, nodes));
    MN_TRY(mn_array_resize(ctx, &bodies->hp, nodes));
    return join(mpm, collider);
}

mn_status mn_mpm_bodies_show(mn_mpm *mpm, const mn_collider *collider, const mn_collider **shown)
{
    *shown = collider;
    if (!mpm->bodies.elastic) return MN_OK;
    MN_TRY(join(mpm, collider));
    mpm->run.collider = NULL;
    *shown = mpm->bodies.joined;
    return MN_OK;
}

mn_status mn_mpm_bodies_end(mn_mpm *mpm)
{
    return mpm->bodies.elastic ? mn_elastic_shared_end(mpm->bodies.elastic) : MN_OK;
}

void mn_mpm_bodies_free(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    mn_mpm_bodies *bodies = &mpm->bodies;
    mn_elastic_wall_free(bodies->wall);
    mn_collider_free(bodies->joined);
    mn_array_free(ctx, &bodies->holds);
    mn_array_free(ctx, &bodies->hold_of);
    mn_array_free(ctx, &bodies->turned);
    mn_array_free(ctx, &bodies->contact_rows);
    mn_array_free(ctx, &bodies->held_rows);
    mn_array_free(ctx, &bodies->direction);
    mn_array_free(ctx, &bodies->u);
    mn_array_free(ctx, &bodies->load);
    mn_array_free(ctx, &bodies->own);
    mn_array_free(ctx, &bodies->gradient);
    mn_array_free(ctx, &bodies->x);
    mn_array_free(ctx, &bodies->r);
    mn_array_free(ctx, &bodies->z);
    mn_array_free(ctx, &bodies->p);
    mn_array_free(ctx, &bodies->hp);
}

bool mn_mpm_is_body(const mn_mpm *mpm, double before, mn_vec3 x)
{
    return mpm->bodies.elastic && mpm->run.collider == mpm->bodies.joined &&
           mn_collider_is_moving(mpm->bodies.joined, before, x);
}

// ---- what they touch ----

static mn_status find_holds(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    bodies->holds.count = 0;
    for (int64_t i = 0; i < mpm->implicit.held.count; i++) {
        const mn_mpm_held *held = &mpm->implicit.held.data[i];
        const int32_t block = held->node / MN_BLOCK_CELLS, cell = held->node % MN_BLOCK_CELLS;
        const mn_vec3 x = mn_mpm_node_position(&mpm->grid.table, block, cell);
        mn_mpm_grip hold = {.held = (int32_t)i, .sides = 1};
        if (!held->contacts[0].is_solid || !mn_mpm_is_body(mpm, mpm->run.frame_left, x)) continue;
        if (!mn_elastic_wall_map(bodies->wall, x, &hold.map)) continue;
        MN_TRY(mn_array_push(mpm->solver.ctx, &bodies->holds, &hold));
    }
    return mn_mpm_bodies_find_edges(mpm);
}

// E at the middle of the nodes that take a contact's push; nodes without mass take none.
static bool make_contact_row(mn_mpm *mpm, const mn_mpm_contact *contact, mn_mpm_foot *foot, mn_wall_row *row)
{
    const mn_mpm_foot all = *foot;
    mn_vec3 middle = {0, 0, 0};
    mn_wall_map map;
    foot->count = 0, foot->sum = 0;
    for (int32_t i = 0; i < all.count; i++) {
        if (!(mpm->grid.before.data[all.node[i]].mass > 0)) continue;
        foot->node[foot->count] = all.node[i], foot->w[foot->count] = all.w[i];
        foot->sum += foot->w[foot->count++];
        middle = mn_axpy(middle, all.w[i],
                         mn_mpm_node_position(&mpm->grid.table, all.node[i] / MN_BLOCK_CELLS,
                                              all.node[i] % MN_BLOCK_CELLS));
    }
    if (!(foot->sum > 0)) return false;
    if (!mn_elastic_wall_map(mpm->bodies.wall, mn_scale(1 / foot->sum, middle), &map)) return false;
    for (int k = 0; k < 4; k++) {
        row->node[k] = map.node[k];
        if (map.node[k] < 0) break;
        row->r[k] = mn_m3_apply(mn_m3_transpose(map.e[k]), contact->normal);
    }
    return true;
}

static void add_row(const mn_wall_row *row, double s, mn_vec3 *to)
{
    for (int k = 0; k < 4 && row->node[k] >= 0; k++)
        to[row->node[k]] = mn_axpy(to[row->node[k]], s, row->r[k]);
}

static mn_status find_contact_rows(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    const int64_t count = mpm->walls.contacts.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &bodies->contact_rows, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &bodies->direction, count));
    for (int64_t c = 0; c < count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        mn_mpm_foot *foot = &mpm->implicit.feet.data[c];
        mn_wall_row *row = &bodies->contact_rows.data[c];
        *row = (mn_wall_row){.node = {-1, -1, -1, -1}};
        bodies->direction.data[c] = 0;
        if (!contact->is_body) continue;
        if (!make_contact_row(mpm, contact, foot, row)) {
            row->node[0] = -1, foot->count = 0, foot->sum = 0;
            continue;
        }
        add_row(row, foot->sum * mn_mpm_wall_impulse(mpm, contact, mpm->implicit.dt), bodies->load.data);
        bodies->shared = true;
    }
    return MN_OK;
}

// Whether what is at x lies on a body and not on a side of the domain, which is nearer.
static bool is_nearest_body(const mn_mpm *mpm, mn_vec3 x)
{
    double side, solid;
    if (!mn_mpm_is_body(mpm, mpm->run.frame_begin, x)) return false;
    (void)mn_mpm_nearest_side(&mpm->def, x, &side);
    mn_collider_distance(mpm->run.collider, mpm->run.frame_begin, 1, &x, &solid);
    return solid <= side;
}

// Contact lines pull at the bodies as at the liquid.
static void add_line_forces(mn_mpm *mpm)
{
    mn_wall_map map;
    for (int64_t i = 0; i < mpm->surface.patches.count; i++) {
        const mn_mpm_patch *patch = &mpm->surface.patches.data[i];
        if (mn_norm2(patch->force) == 0 || !is_nearest_body(mpm, patch->x)) continue;
        if (!mn_elastic_wall_map(mpm->bodies.wall, patch->x, &map)) continue;
        mn_wall_react(&map, mn_scale(mpm->implicit.dt, patch->force), mpm->bodies.load.data);
        mpm->bodies.shared = true;
    }
}

mn_status mn_mpm_bodies_find(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    bodies->shared = false;
    if (!bodies->elastic) return MN_OK;
    for (int64_t i = 0; i < bodies->load.count; i++) bodies->load.data[i] = mn_v3(0, 0, 0);
    MN_TRY(find_holds(mpm));
    MN_TRY(find_contact_rows(mpm));
    add_line_forces(mpm);
    bodies->shared = bodies->shared || bodies->holds.count > 0;
    return MN_OK;
}

// ---- a step ----

mn_status mn_mpm_bodies_open(mn_mpm *mpm, double dt)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (!bodies->elastic) return MN_OK;
    const double all = mpm->solver.seconds, done = all - mpm->solver.left + dt;
    const double fraction = done >= all * (1 - 1e-12) ? 1 : done / all;
    bodies->open = true;
    return mn_elastic_shared_open(bodies->elastic, dt, fraction);
}

// ---- what is left over ----

/// Liquid and bodies as one: mass, first and second moment, and the momenta that are missing, all about a
/// place in it.
typedef struct whole {
    mn_vec3 about, first, push, spin;
    mn_mat3 inertia;
    double mass;
} whole;

/// `lost`: momentum that is missing at x.
static void add_mass(whole *w, double mass, mn_vec3 x, mn_vec3 lost)
{
    const mn_vec3 r = mn_sub(x, w->about);
    w->mass += mass;
    w->first = mn_axpy(w->first, mass, r);
    w->push = mn_add(w->push, lost), w->spin = mn_add(w->spin, mn_cross(r, lost));
    w->inertia = mn_m3_add(w->inertia, mn_m3_scale(-mass, mn_outer(r, r)));
    for (int k = 0; k < 3; k++) w->inertia.m[k][k] += mass * mn_norm2(r);
}

static mn_vec3 grid_place(const mn_mpm *mpm, int64_t node)
{
    return mn_mpm_node_position(&mpm->grid.table, (int32_t)(node / MN_BLOCK_CELLS),
                                (int32_t)(node % MN_BLOCK_CELLS));
}

// Whether nothing holds the liquid but bodies, nothing holds these, and no force field or air acts on it.
static bool all_is_free(const mn_mpm *mpm)
{
    const mn_mpm_bodies *bodies = &mpm->bodies;
    if (mpm->def.air_density > 0 || (mpm->run.fields && mpm->run.fields->force.ops)) return false;
    for (int64_t i = 0; i < bodies->u.count; i++)
        if (mn_elastic_node_is_fixed(bodies->elastic, i)) return false;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++)
        if (!mpm->walls.contacts.data[c].is_body) return false;
    for (int64_t i = 0; i < bodies->holds.count; i++) {
        const mn_mpm_grip *hold = &bodies->holds.data[i];
        if (mpm->implicit.held.data[hold->held].contact_count != hold->sides) return false;
    }
    return bodies->holds.count == mpm->implicit.held.count;
}

// The momenta of all are those before the step and what gravity and the forces on bodies gave.
static void restore_momenta(mn_mpm *mpm)
{
    mn_elastic *elastic = mpm->bodies.elastic;
    const mn_vec3 fall = mn_scale(mpm->implicit.dt, mpm->def.gravity);
    const mn_vec3 own_fall = mn_scale(mpm->implicit.dt, mn_elastic_gravity(elastic));
    const mn_vec3 *x = mn_elastic_nodes(elastic), *v = mn_elastic_node_velocities(elastic);
    const mn_vec3 *x_before = mn_elastic_start_nodes(elastic),
                  *v_before = mn_elastic_start_velocities(elastic);
    whole w = {.about = x[0]};
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) {
        const mn_mpm_node *before = &mpm->grid.before.data[i];
        const mn_vec3 due = mn_add(before->v, fall);
        if (before->mass > 0)
            add_mass(&w, before->mass, grid_place(mpm, i),
                     mn_scale(before->mass, mn_sub(due, mpm->grid.nodes.data[i].v)));
    }
    for (int64_t i = 0; i < mpm->bodies.u.count; i++) {
        const double mass = mn_elastic_node_mass(elastic, i);
        const mn_vec3 way = mn_sub(x[i], x_before[i]), push = mn_elastic_node_force(elastic, i);
        const mn_vec3 due = mn_scale(mass, mn_sub(mn_add(v_before[i], own_fall), v[i]));
        add_mass(&w, mass, x[i], mn_axpy(due, mpm->implicit.dt, push));
        // what it had at the place where it was, and gravity's lever on the way
        w.spin = mn_axpy(w.spin, -mass, mn_cross(way, mn_axpy(v_before[i], 0.5, own_fall)));
    }
    const mn_vec3 middle = mn_scale(1 / w.mass, w.first), shift = mn_scale(1 / w.mass, w.push);
    mn_mat3 inertia = mn_m3_add(w.inertia, mn_m3_scale(w.mass, mn_outer(middle, middle))), inverse;
    for (int k = 0; k < 3; k++) inertia.m[k][k] -= w.mass * mn_norm2(middle);
    mn_vec3 turn = {0, 0, 0};
    if (mn_m3_inverse(inertia, &inverse))
        turn = mn_m3_apply(inverse, mn_sub(w.spin, mn_cross(middle, w.push)));
    const mn_vec3 center = mn_add(w.about, middle);
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
        if (mpm->grid.before.data[i].mass > 0)
            mpm->grid.nodes.data[i].v = mn_add(
                mpm->grid.nodes.data[i].v, mn_add(shift, mn_cross(turn, mn_sub(grid_place(mpm, i), center))));
    mn_elastic_shared_nudge(elastic, shift, turn, center);
}

mn_status mn_mpm_bodies_finish(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (!bodies->elastic) return MN_OK;
    if (!bodies->shared) MN_TRY(mn_elastic_shared_alone(bodies->elastic));
    MN_TRY(mn_elastic_shared_finish(bodies->elastic, !bodies->shared));
    if (bodies->shared && all_is_free(mpm)) restore_momenta(mpm);
    return join(mpm, bodies->fixed);
}

void mn_mpm_bodies_undo(mn_mpm *mpm)
{
    mn_mpm_bodies *bodies = &mpm->bodies;
    if (!bodies->elastic || !bodies->open) return;
    bodies->open = false;
    mn_elastic_shared_undo(bodies->elastic);
    if (mpm->run.collider) join(mpm, bodies->fixed);
}
