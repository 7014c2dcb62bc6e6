// SPDX-License-Identifier: Apache-2.0
//
// What is no physics must not cost energy: remeshing, in which no time passes, and the soft volumes that keep
// tetrahedra apart. What they take of a body's kinetic and surface energy is owed to it, what they bring it
// owes, and a factor on its velocity settles the account,
//
//   v <- w + f (v - w),    f^2 = 1 + owed / K_rel        w = U + G (x - c),  tr G = 0
//
// w is the nearest such motion in the norm of the mass and K_rel the kinetic energy of the rest. Neither soft
// volumes nor a new mesh act on w: a motion that is linear in x changes the volume of no tetrahedron, and
// every mesh has it exactly. So they have nothing to give back to the swing of a drop, and what they take
// comes from, and goes to, what is smaller. Momentum and angular momentum stay to rounding, since w has all
// of both, and B v = 0 stays, since it is linear and B w = 0. Where little moves, at the turning point
// of a swing, f is limited and the rest waits; a body is owed no more than a part of K_rel, so that one that
// rests is not set in motion.
//
// The account is an amount of the mesh, so that it survives remeshing and saving, and every body has its own.
// While the mesh changes, the body's whole energy rides on it. Bodies that come apart, merge or touch solids,
// and liquid that is calm, start anew.
#include "tet/solid_steps.h"
#include "tet/state.h"

static const double factor_most = 0.02; // of the velocity that one step may give or take
static const double owed_most = 0.25;   // of K_rel that a body may have coming

static double soft_energy(double stiffness, double volume, double soft)
{
    return 0.5 * stiffness * (volume - soft) * (volume - soft) / soft;
}

// ---- sums over bodies ----

// From sums to means about the centre, and to G.
static void find_motion(mn_tet_body *body, mn_vec3 origin)
{
    const double m = body->mass;
    const mn_vec3 c = mn_scale(1 / m, body->center), u = mn_scale(1 / m, body->drift);
    const mn_mat3 p = mn_m3_add(body->places, mn_m3_scale(-m, mn_outer(c, c)));
    const mn_mat3 flows = mn_m3_add(body->flows, mn_m3_scale(-m, mn_outer(u, c)));
    mn_mat3 inverse;
    body->center = mn_add(c, origin), body->drift = u;
    if (!mn_m3_inverse(p, &inverse)) {
        body->free = false;
        return;
    }
    const double growth = mn_m3_trace(mn_m3_mul(flows, inverse)) / mn_m3_trace(inverse);
    const mn_mat3 q = mn_m3_add(flows, mn_m3_scale(-growth, mn_m3_identity()));
    body->gradient = mn_m3_mul(q, inverse);
    double affine = 0; // tr(G P G^T), and G P = q
    for (int i = 0; i < 9; i++) affine += body->gradient.m[i / 3][i % 3] * q.m[i / 3][i % 3];
    body->relative = body->kinetic - 0.5 * m * mn_norm2(u) - 0.5 * affine;
}

static mn_status begin_bodies(mn_tet_liquid *liquid)
{
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->bodies.list, liquid->bodies.count));
    for (int32_t b = 0; b < liquid->bodies.count; b++)
        liquid->bodies.list.data[b] = (mn_tet_body){.free = true, .factor = 1};
    if (mn_tet_liquid_has_solids(liquid) && liquid->contacts.touch.count == liquid->system.node_count)
        for (int32_t i = 0; i < liquid->system.node_count; i++)
            if (liquid->contacts.touch.data[i])
                liquid->bodies.list.data[liquid->bodies.of_node.data[i]].free = false;
    return MN_OK;
}

// Mass, kinetic energy and the motion w of every body.
static void sum_motion(mn_tet_liquid *liquid, const mn_vec3 *field, mn_vec3 origin)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    mn_tet_body *bodies = liquid->bodies.list.data;
    for (int32_t b = 0; b < liquid->bodies.count; b++) {
        const mn_tet_body was = bodies[b];
        bodies[b] = (mn_tet_body){.free = was.free, .factor = was.factor};
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_tet_body *body = &bodies[liquid->bodies.of_node.data[mesh->tet[t][0]]];
        const double m = liquid->def.density * rest[t];
        mn_vec3 xs = {0}, vs = {0};
        mn_mat3 places = {0}, flows = {0};
        double squares = 0;
        for (int k = 0; k < 4; k++) {
            const mn_vec3 x = mn_sub(mesh->position[mesh->tet[t][k]], origin), v = field[mesh->tet[t][k]];
            xs = mn_add(xs, x), vs = mn_add(vs, v);
            places = mn_m3_add(places, mn_outer(x, x)), flows = mn_m3_add(flows, mn_outer(v, x));
            squares += mn_norm2(v);
        }
        body->mass += m;
        body->kinetic += m / 40 * (mn_norm2(vs) + squares);
        body->drift = mn_axpy(body->drift, 0.25 * m, vs);
        body->center = mn_axpy(body->center, 0.25 * m, xs);
        body->places = mn_m3_add(body->places, mn_m3_scale(m / 20, mn_m3_add(places, mn_outer(xs, xs))));
        body->flows = mn_m3_add(body->flows, mn_m3_scale(m / 20, mn_m3_add(flows, mn_outer(vs, xs))));
    }
    for (int32_t b = 0; b < liquid->bodies.count; b++) find_motion(&bodies[b], origin);
}

static void add_surface(mn_tet_liquid *liquid)
{
    const mn_vec3 *x = liquid->mesh->position;
    for (int32_t f = 0; f < liquid->system.face_count; f++) {
        const int32_t *v = liquid->system.face.data + 3 * (int64_t)f;
        liquid->bodies.list.data[liquid->bodies.of_node.data[v[0]]].surface +=
            0.5 * mn_tet_liquid_tension(liquid) *
            mn_norm(mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]])));
    }
}

static mn_status measure_bodies(mn_tet_liquid *liquid)
{
    MN_TRY(begin_bodies(liquid));
    const mn_vec3 origin = liquid->mesh->vertex_slots > 0 ? liquid->mesh->position[0] : mn_v3(0, 0, 0);
    sum_motion(liquid, mn_tet_field_vectors(liquid, MN_TET_V), origin);
    add_surface(liquid);
    const double *owed = mn_tet_field_numbers(liquid, MN_TET_OWED);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++)
        liquid->bodies.list.data[liquid->bodies.of_node.data[liquid->mesh->tet[t][0]]].owed += owed[t];
    return MN_OK;
}

// What a body is owed, spread over its mass.
static void spread_owed(const mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    double *owed = mn_tet_mesh_find_field(mesh, MN_TET_OWED)->data;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const mn_tet_body *body = &liquid->bodies.list.data[liquid->bodies.of_node.data[mesh->tet[t][0]]];
        owed[t] = body->owed * (liquid->def.density * rest[t] / body->mass);
    }
}

void mn_tet_liquid_forget_owed(mn_tet_mesh *mesh)
{
    double *owed = mn_tet_mesh_find_field(mesh, MN_TET_OWED)->data;
    for (int32_t t = 0; t < mesh->tet_slots; t++) owed[t] = 0;
}

// ---- the account ----

void mn_tet_liquid_owe_soft(mn_tet_liquid *liquid, const mn_vec3 *place)
{
    if (liquid->whole) return; // divided tetrahedra come and go with every step
    const double stiffness = mn_tet_liquid_stiffness(liquid);
    const double *soft = mn_tet_field_numbers(liquid, MN_TET_SOFT_VOLUME);
    double *owed = mn_tet_field_numbers(liquid, MN_TET_OWED);
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
        const int32_t *v = liquid->mesh->tet[t];
        const double volume = mn_tet_volume(place[v[0]], place[v[1]], place[v[2]], place[v[3]]);
        owed[t] += soft_energy(stiffness, volume, soft[t]) -
                   soft_energy(stiffness, mn_tet_mesh_tet_volume(liquid->mesh, t), soft[t]);
    }
}

mn_status mn_tet_liquid_deposit_energy(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    MN_TRY(measure_bodies(liquid));
    for (int32_t b = 0; b < liquid->bodies.count; b++) {
        mn_tet_body *body = &liquid->bodies.list.data[b];
        body->owed += body->kinetic + body->surface;
    }
    spread_owed(liquid, mesh);
    return MN_OK;
}

mn_status mn_tet_liquid_withdraw_energy(mn_tet_liquid *liquid)
{
    MN_TRY(measure_bodies(liquid));
    for (int32_t b = 0; b < liquid->bodies.count; b++) {
        mn_tet_body *body = &liquid->bodies.list.data[b];
        body->owed = body->free ? body->owed - body->kinetic - body->surface : 0;
    }
    spread_owed(liquid, liquid->mesh);
    return MN_OK;
}

static void scale_motion(mn_tet_liquid *liquid, mn_vec3 *v)
{
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
        const mn_tet_body *body = &liquid->bodies.list.data[liquid->bodies.of_node.data[i]];
        if (body->factor == 1) continue;
        const mn_vec3 w =
            mn_add(body->drift, mn_m3_apply(body->gradient, mn_sub(liquid->mesh->position[i], body->center)));
        v[i] = mn_axpy(w, body->factor, mn_sub(v[i], w));
    }
}

mn_status mn_tet_liquid_pay_owed(mn_tet_liquid *liquid, bool calm)
{
    if (liquid->whole || liquid->mesh->tet_count == 0) return MN_OK;
    if (calm) {
        mn_tet_liquid_forget_owed(liquid->mesh);
        return MN_OK;
    }
    MN_TRY(measure_bodies(liquid));
    for (int32_t b = 0; b < liquid->bodies.count; b++) {
        mn_tet_body *body = &liquid->bodies.list.data[b];
        const double most = owed_most * fmax(body->relative, 0);
        body->owed = body->free ? fmin(body->owed, most) : 0;
        if (!(most > 0) || body->owed == 0) continue;
        const double f = sqrt(fmax(1 + body->owed / body->relative, 0));
        body->factor = fmin(fmax(f, 1 - factor_most), 1 + factor_most);
        body->owed -= (body->factor * body->factor - 1) * body->relative;
        if (body->factor == f) body->owed = 0;
    }
    spread_owed(liquid, liquid->mesh);
    scale_motion(liquid, mn_tet_field_vectors(liquid, MN_TET_V));
    // The velocity one step ago belongs to the same motion: BDF2 would take half of what is paid twice.
    sum_motion(liquid, mn_tet_field_vectors(liquid, MN_TET_LAST_V), liquid->mesh->position[0]);
    scale_motion(liquid, mn_tet_field_vectors(liquid, MN_TET_LAST_V));
    return MN_OK;
}
