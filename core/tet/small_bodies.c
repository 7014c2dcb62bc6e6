// SPDX-License-Identifier: Apache-2.0
//
// Bodies of fewer than about eight tetrahedra, whose own waves are faster than any step. What moves in one
// moves as one, with its momentum. A small solid of a material that breaks is a grain, and leaves the solve:
// it flies as a rigid body about its centre of mass c, whatever it weighs and however fast it turns,
//
//   m V = sum m_i v_i,   L = sum m_i (x_i - c) x v_i,   w = J^-1 L
//   c += dt V + dt^2 g/2,   V += dt g,   x_i = c + R (x_i - c),   R = exp(dt w), J turns with it, L stays
//
// so that a solid may shatter to dust and the dust does not hold the step. Momentum of both kinds stays to
// rounding in flight. Where a node of a grain has come behind a face of a larger solid, or into a collider or
// a wall, the grain is put out and an impulse takes the speed at which the two points meet,
//
//   I = -n . (v_p - v_q) / (1/m + n . (J^-1 (r x n)) x r + sum w_c^2/m_c)
//
// along the face's normal n, the same for both, and on colliders Coulomb's friction with it. Grains do not
// meet each other.
// Tested: tests/unit/tet/test_grains.c.
#include "base/elementary.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

static const double small_body = 1.0; // of size^3
static const double turning = 0.2;    // rad of a grain between two values of w
static const double depth = 0.35;     // of the size, behind a face: deeper is another side of the body

// ---- which ----

bool mn_tet_liquid_is_small(const mn_tet_liquid *liquid, int32_t body)
{
    return liquid->bodies.count > 1 &&
           liquid->bodies.room.data[body] < small_body * liquid->size * liquid->size * liquid->size;
}

mn_status mn_tet_liquid_find_grains(mn_tet_liquid *liquid)
{
    mn_tet_bodies *bodies = &liquid->bodies;
    const mn_tet_mesh *mesh = liquid->mesh;
    MN_TRY(mn_array_resize(liquid->ctx, &bodies->grain, bodies->count));
    for (int32_t b = 0; b < bodies->count; b++) bodies->grain.data[b] = mn_tet_liquid_is_small(liquid, b);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        bool grain = mn_tet_solids_is_breakable(liquid, t);
        for (int k = 0; k < 4; k++) grain = grain && !mn_tet_liquid_is_pinned(liquid, mesh, mesh->tet[t][k]);
        if (!grain) bodies->grain.data[bodies->of_node.data[mesh->tet[t][0]]] = 0;
    }
    liquid->solids.grains = false;
    for (int32_t b = 0; b < bodies->count; b++)
        liquid->solids.grains = liquid->solids.grains || bodies->grain.data[b];
    return MN_OK;
}

bool mn_tet_liquid_is_grain(const mn_tet_liquid *liquid, int32_t node)
{
    return liquid->solids.grains && liquid->bodies.grain.data[liquid->bodies.of_node.data[node]];
}

// ---- how they move ----

/// How a body moves.
typedef struct motion {
    double mass;
    mn_vec3 place, velocity; ///< of the centre of mass
    mn_vec3 angular;         ///< about it
    mn_mat3 inertia;         ///< about it
    mn_vec3 spin;
} motion;
typedef MN_ARRAY(motion) motions;

static motion *motion_of(const mn_tet_liquid *liquid, motions *all, int32_t node)
{
    return &all->data[liquid->bodies.of_node.data[node]];
}

static mn_mat3 inertia_of(double mass, mn_vec3 r)
{
    return mn_m3_add(mn_m3_scale(mass * mn_norm2(r), mn_m3_identity()), mn_m3_scale(-mass, mn_outer(r, r)));
}

static void find_motions(const mn_tet_liquid *liquid, const mn_vec3 *v, motions *all)
{
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    const mn_vec3 *x = liquid->mesh->position;
    memset(all->data, 0, mn_bytes(all->count, sizeof *all->data));
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        motion *body = motion_of(liquid, all, liquid->mesh->tet[t][0]);
        mn_vec3 mean = {0};
        for (int k = 0; k < 4; k++) {
            const int32_t i = liquid->mesh->tet[t][k];
            mean = mn_axpy(mean, 0.25, v[i]), body->place = mn_axpy(body->place, 0.25 * rest[t], x[i]);
        }
        body->mass += rest[t], body->velocity = mn_axpy(body->velocity, rest[t], mean);
    }
    for (int64_t b = 0; b < all->count; b++) {
        motion *body = &all->data[b];
        body->place = mn_scale(1 / body->mass, body->place);
        body->velocity = mn_scale(1 / body->mass, body->velocity);
    }
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t i = liquid->mesh->tet[t][k];
            motion *body = motion_of(liquid, all, i);
            const double m = 0.25 * rest[t];
            const mn_vec3 r = mn_sub(x[i], body->place);
            body->angular = mn_axpy(body->angular, m, mn_cross(r, mn_sub(v[i], body->velocity)));
            body->inertia = mn_m3_add(body->inertia, inertia_of(m, r));
        }
    for (int64_t b = 0; b < all->count; b++) {
        mn_mat3 inverse;
        if (mn_m3_inverse(all->data[b].inertia, &inverse))
            all->data[b].spin = mn_m3_apply(inverse, all->data[b].angular);
    }
}

static void hold(mn_tet_liquid *liquid, motions *all)
{
    static const char *const names[] = {MN_TET_V, MN_TET_LAST_V, MN_TET_LAST_MOVE};
    for (int f = 0; f < 3; f++) {
        mn_vec3 *v = mn_tet_field_vectors(liquid, names[f]);
        find_motions(liquid, v, all);
        for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
            const motion *body = motion_of(liquid, all, i);
            if (!mn_tet_liquid_is_small(liquid, liquid->bodies.of_node.data[i])) continue;
            v[i] = body->velocity;
            if (mn_tet_liquid_is_grain(liquid, i))
                v[i] = mn_add(v[i], mn_cross(body->spin, mn_sub(liquid->mesh->position[i], body->place)));
        }
    }
}

// ---- what they meet ----

/// A point of a grain and what it has come into.
typedef struct meeting {
    int32_t node;
    double distance;  ///< m, below 0
    mn_vec3 normal;   ///< out of it
    mn_vec3 velocity; ///< of it there
    double friction;
    int32_t face[3]; ///< of a larger solid; face[0] is -1: a collider or a wall
    double weight[3];
} meeting;

typedef struct meetings {
    mn_tet_liquid *liquid;
    motions *all;
    MN_ARRAY(double) mass; ///< of nodes
    mn_box_grid grid;
    MN_ARRAY(int32_t) faces; ///< of the grid
    mn_tet_list found;
    MN_ARRAY(meeting) deepest; ///< of each body; node is -1: none
} meetings;

static void keep_deepest(meetings *m, const meeting *one)
{
    meeting *best = &m->deepest.data[m->liquid->bodies.of_node.data[one->node]];
    if (one->distance < (best->node < 0 ? 0 : best->distance)) *best = *one;
}

static mn_status list_faces(meetings *m)
{
    mn_tet_liquid *liquid = m->liquid;
    const mn_tet_system *s = &liquid->system;
    const mn_vec3 *x = liquid->mesh->position;
    const double grow = depth * liquid->size;
    m->grid.ctx = liquid->ctx;
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *c = s->face.data + 3 * (int64_t)f;
        mn_box box = mn_box_empty();
        if (!mn_tet_liquid_is_solid(liquid, liquid->solids.behind.data[f]) ||
            mn_tet_liquid_is_grain(liquid, c[0]))
            continue;
        for (int k = 0; k < 3; k++) box = mn_box_join(box, (mn_box){x[c[k]], x[c[k]]});
        box.min = mn_sub(box.min, mn_v3(grow, grow, grow)),
        box.max = mn_add(box.max, mn_v3(grow, grow, grow));
        MN_TRY(mn_array_push(liquid->ctx, &m->grid.boxes, &box));
        MN_TRY(mn_array_push(liquid->ctx, &m->faces, &f));
    }
    return m->faces.count > 0 ? mn_box_grid_build(&m->grid) : MN_OK;
}

// The face that node i lies behind, the nearest of them.
static mn_status find_face(meetings *m, int32_t i)
{
    const mn_tet_liquid *liquid = m->liquid;
    const mn_vec3 *x = liquid->mesh->position, *v = mn_tet_field_vectors(liquid, MN_TET_V);
    meeting best = {.node = -1};
    MN_TRY(mn_box_grid_find(&m->grid, (mn_box){x[i], x[i]}, &m->found));
    for (int64_t k = 0; k < m->found.count; k++) {
        const int32_t *c = liquid->system.face.data + 3 * (int64_t)m->faces.data[m->found.data[k]];
        const mn_vec3 at[4] = {x[i], x[c[0]], x[c[1]], x[c[2]]};
        mn_contact_term term;
        if (!mn_tet_pair_term(at, &term) || term.near.distance < -depth * liquid->size) continue;
        const double *w = term.near.c;
        if (w[1] > 0 || w[2] > 0 || w[3] > 0) continue; // its foot lies outside
        if (best.node >= 0 && term.near.distance < best.distance) continue;
        best = (meeting){.node = i,
                         .distance = term.near.distance,
                         .normal = term.near.normal,
                         .face = {c[0], c[1], c[2]},
                         .weight = {-w[1], -w[2], -w[3]}};
        for (int j = 0; j < 3; j++) best.velocity = mn_axpy(best.velocity, best.weight[j], v[c[j]]);
    }
    if (best.node >= 0) keep_deepest(m, &best);
    return MN_OK;
}

static mn_status find_meetings(meetings *m)
{
    const mn_tet_liquid *liquid = m->liquid;
    for (int32_t b = 0; b < liquid->bodies.count; b++) m->deepest.data[b] = (meeting){.node = -1};
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        if (!mn_tet_liquid_is_grain(liquid, i)) continue;
        if (m->faces.count > 0) MN_TRY(find_face(m, i));
        meeting one = {.node = i, .face = {-1, -1, -1}};
        mn_contact c;
        for (int solid = 0; mn_tet_liquid_probe(liquid, &solid, liquid->mesh->position[i], &c); solid++) {
            one.distance = c.distance, one.normal = c.normal, one.velocity = c.velocity;
            one.friction = mn_tet_liquid_friction_of(liquid, solid, liquid->mesh->position[i]);
            keep_deepest(m, &one);
        }
    }
    return MN_OK;
}

// What an impulse of one unit along `way` at r changes of the speed there along it, 1/kg.
static double ease(const motion *body, const mn_mat3 *inverse, mn_vec3 r, mn_vec3 way)
{
    return 1 / body->mass + mn_dot(way, mn_cross(mn_m3_apply(*inverse, mn_cross(r, way)), r));
}

// One impulse, in units of the solver's density, and the grain is put out.
static void push_apart(meetings *m, const meeting *one)
{
    mn_tet_liquid *liquid = m->liquid;
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V), *last = mn_tet_field_vectors(liquid, MN_TET_LAST_V);
    motion *body = motion_of(liquid, m->all, one->node);
    const mn_vec3 r = mn_sub(liquid->mesh->position[one->node], body->place);
    mn_mat3 inverse;
    if (!mn_m3_inverse(body->inertia, &inverse)) return;
    const mn_vec3 meets = mn_sub(mn_add(body->velocity, mn_cross(body->spin, r)), one->velocity);
    const double speed = mn_dot(meets, one->normal);
    double give = ease(body, &inverse, r, one->normal);
    for (int k = 0; k < 3 && one->face[0] >= 0; k++)
        give += one->weight[k] * one->weight[k] / m->mass.data[one->face[k]];
    const double push = fmax(-speed, 0) / give;
    mn_vec3 impulse = mn_scale(push, one->normal);
    const mn_vec3 slip = mn_axpy(meets, -speed, one->normal);
    const double fast = mn_norm(slip);
    if (one->friction > 0 && fast > 0) {
        const mn_vec3 way = mn_scale(-1 / fast, slip);
        impulse = mn_axpy(impulse, fmin(one->friction * push, fast / ease(body, &inverse, r, way)), way);
    }
    body->velocity = mn_axpy(body->velocity, 1 / body->mass, impulse);
    body->spin = mn_add(body->spin, mn_m3_apply(inverse, mn_cross(r, impulse)));
    body->place = mn_axpy(body->place, -one->distance, one->normal);
    for (int k = 0; k < 3 && one->face[0] >= 0;
         k++) { // the history too: a jump does not count as acceleration
        const double part = -one->weight[k] / m->mass.data[one->face[k]];
        v[one->face[k]] = mn_axpy(v[one->face[k]], part, impulse);
        last[one->face[k]] = mn_axpy(last[one->face[k]], part, impulse);
    }
}

// Grains that have met something move on as it made them.
static void take_motions(meetings *m)
{
    mn_tet_liquid *liquid = m->liquid;
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        const int32_t b = liquid->bodies.of_node.data[i];
        if (!liquid->bodies.grain.data[b] || m->deepest.data[b].node < 0) continue;
        const meeting *one = &m->deepest.data[b];
        const motion *body = &m->all->data[b];
        const mn_vec3 x = mn_axpy(liquid->mesh->position[i], -one->distance, one->normal);
        mn_tet_mesh_move_vertex(liquid->mesh, i, x);
        v[i] = mn_add(body->velocity, mn_cross(body->spin, mn_sub(x, body->place)));
    }
}

static mn_status meet(mn_tet_liquid *liquid, motions *all)
{
    meetings m = {.liquid = liquid, .all = all};
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    mn_status status;
    find_motions(liquid, mn_tet_field_vectors(liquid, MN_TET_V), all);
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &m.mass, liquid->system.node_count));
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &m.deepest, liquid->bodies.count));
    for (int32_t i = 0; i < liquid->system.node_count; i++) m.mass.data[i] = 0;
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) m.mass.data[liquid->mesh->tet[t][k]] += 0.25 * rest[t];
    MN_TRY_TO(done, status, list_faces(&m));
    MN_TRY_TO(done, status, find_meetings(&m));
    for (int32_t b = 0; b < liquid->bodies.count; b++)
        if (m.deepest.data[b].node >= 0) push_apart(&m, &m.deepest.data[b]);
    take_motions(&m);
done:
    mn_array_free(liquid->ctx, &m.mass);
    mn_array_free(liquid->ctx, &m.deepest);
    mn_array_free(liquid->ctx, &m.faces);
    mn_array_free(liquid->ctx, &m.found);
    mn_box_grid_free(&m.grid);
    return status;
}

mn_status mn_tet_liquid_hold_small(mn_tet_liquid *liquid)
{
    motions all = {0};
    bool any = false;
    for (int32_t b = 0; b < liquid->bodies.count && !any; b++) any = mn_tet_liquid_is_small(liquid, b);
    if (!any) return MN_OK;
    mn_status status = mn_array_resize(liquid->ctx, &all, liquid->bodies.count);
    if (status == MN_OK) hold(liquid, &all);
    if (status == MN_OK && liquid->solids.grains) status = meet(liquid, &all);
    mn_array_free(liquid->ctx, &all);
    return status;
}

// The rotation by the vector w.
static mn_mat3 rotation_by(mn_vec3 w)
{
    const double angle = mn_norm(w);
    if (!(angle > 0)) return mn_m3_identity();
    const mn_vec3 n = mn_scale(1 / angle, w);
    const double c = mn_cos(angle), s = mn_sin(angle);
    const mn_mat3 cross = {{{0, -n.z, n.y}, {n.z, 0, -n.x}, {-n.y, n.x, 0}}};
    return mn_m3_add(mn_m3_add(mn_m3_scale(c, mn_m3_identity()), mn_m3_scale(s, cross)),
                     mn_m3_scale(1 - c, mn_outer(n, n)));
}

// Turns the inertia of a body; its spin is what its angular momentum says then.
static void turn_by(motion *body, mn_mat3 r)
{
    mn_mat3 inverse;
    body->inertia = mn_m3_mul(r, mn_m3_mul(body->inertia, mn_m3_transpose(r)));
    if (mn_m3_inverse(body->inertia, &inverse)) body->spin = mn_m3_apply(inverse, body->angular);
}

// How a body has turned after dt, by the spins in the middle of short parts of it; its spin then.
static mn_mat3 turn(motion *body, double dt)
{
    enum { MOST = 64 };
    const int parts = (int)fmin(fmax(ceil(mn_norm(body->spin) * dt / turning), 1), MOST);
    const double part = dt / parts;
    mn_mat3 turned = mn_m3_identity();
    for (int i = 0; i < parts; i++) {
        motion middle = *body;
        turn_by(&middle, rotation_by(mn_scale(0.5 * part, body->spin)));
        const mn_mat3 r = rotation_by(mn_scale(part, middle.spin));
        turned = mn_m3_mul(r, turned);
        turn_by(body, r);
    }
    return turned;
}

mn_status mn_tet_liquid_fly_grains(mn_tet_liquid *liquid, double dt)
{
    motions all = {0};
    MN_ARRAY(mn_mat3) turned = {0};
    mn_status status;
    if (!liquid->solids.grains) return MN_OK;
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &all, liquid->bodies.count));
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &turned, liquid->bodies.count));
    find_motions(liquid, mn_tet_field_vectors(liquid, MN_TET_V), &all);
    for (int32_t b = 0; b < liquid->bodies.count; b++)
        if (liquid->bodies.grain.data[b]) turned.data[b] = turn(&all.data[b], dt);
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        if (!mn_tet_liquid_is_grain(liquid, i)) continue;
        const int32_t b = liquid->bodies.of_node.data[i];
        const motion *body = &all.data[b];
        mn_vec3 pull = liquid->def.gravity;
        if (liquid->run.force.ops) pull = mn_add(pull, mn_volume_sample_vec3(liquid->run.force, body->place));
        const mn_vec3 r = mn_m3_apply(turned.data[b], mn_sub(liquid->mesh->position[i], body->place));
        const mn_vec3 c = mn_axpy(mn_axpy(body->place, dt, body->velocity), 0.5 * dt * dt, pull);
        liquid->trial.place.data[i] = mn_add(c, r);
        liquid->trial.velocity.data[i] = mn_add(mn_axpy(body->velocity, dt, pull), mn_cross(body->spin, r));
    }
done:
    mn_array_free(liquid->ctx, &all);
    mn_array_free(liquid->ctx, &turned);
    return status;
}
