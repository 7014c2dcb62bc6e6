// SPDX-License-Identifier: Apache-2.0
//
// Solids: the sides of the domain and colliders. A node of the surface that touches a solid may not leave
// along its normal n; in a frame that is turned with the solids its other directions stay free, which is the
// projector
//
//   P = I - sum t t^T,   t: the normals of all solids that it touches, made orthogonal    [chentanez2009]
//
// or 0 where liquid sticks or friction holds it (friction.c). A face whose nodes all touch the same solid is
// wetted: its energy per area is that between liquid and solid, sigma_LS = -sigma cos(angle) (Young), and
// contact angles come out by themselves [clausen2013] 4.3. Nodes that a stage moves into a solid are caught,
// those that it would have to hold back by more than contact line and adhesion can are let go, and the stage
// is solved again. Nodes in the cap of a pipe (pipes.c) move with it and nowhere else.
#include "base/elementary.h"
#include "space/sides.h"
#include "tet/pipes.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

static const double touch_distance = 0.01; // of the size: what is nearer touches [clausen2013]
static const double radians = 0.017453292519943295;

enum { COLLIDER_BIT = 6, PIPE = 1 << 7 };
_Static_assert(MN_TET_TOUCHES_COLLIDER == 1 << COLLIDER_BIT, "bits of touch");

bool mn_tet_liquid_has_solids(const mn_tet_liquid *liquid)
{
    bool walls = false;
    for (int k = 0; k < 6; k++) walls = walls || liquid->def.wall[k];
    return walls || liquid->run.collider || mn_tet_liquid_has_mouth(liquid) || liquid->solids.pins ||
           liquid->solids.grains;
}

/// Distance from a solid (negative inside), its normal out of the solid and its velocity, at x.
static mn_contact probe(const mn_tet_liquid *liquid, int solid, mn_vec3 x)
{
    if (solid == COLLIDER_BIT) return mn_collider_probe(liquid->run.collider, liquid->run.frame_left, x);
    const int axis = solid / 2;
    const bool upper = solid % 2 == 1;
    mn_contact c = {0};
    (&c.normal.x)[axis] = upper ? -1 : 1;
    c.distance = upper ? (&liquid->def.domain.max.x)[axis] - (&x.x)[axis]
                       : (&x.x)[axis] - (&liquid->def.domain.min.x)[axis];
    return c;
}

// ---- what is painted, and what each side has ----

/// Contact angle of a solid at x, radians.
static double angle_of(const mn_tet_liquid *liquid, int solid, mn_vec3 x)
{
    const mn_tet_liquid_def *def = &liquid->def;
    const double degrees =
        solid == COLLIDER_BIT
            ? mn_collider_painted(liquid->run.collider, MN_PAINT_CONTACT_ANGLE, def->contact_angle,
                                  liquid->run.frame_left, x)
            : mn_side_value(def->contact_angle_min, def->contact_angle_max, solid, def->contact_angle);
    return radians * fmin(degrees, 180);
}

bool mn_tet_liquid_sticks(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t i)
{
    const bool painted = mn_collider_is_painted(liquid->run.collider, MN_PAINT_SLIP);
    if (!painted || liquid->contacts.touch.count <= i ||
        !(liquid->contacts.touch.data[i] >> COLLIDER_BIT & 1))
        return liquid->def.stick;
    return mn_collider_painted(liquid->run.collider, MN_PAINT_SLIP, liquid->def.stick ? 0 : 1,
                               liquid->run.frame_left, mesh->position[i]) < 0.5;
}

double mn_tet_liquid_friction_of(const mn_tet_liquid *liquid, int solid, mn_vec3 x)
{
    const mn_tet_liquid_def *def = &liquid->def;
    return solid == COLLIDER_BIT ? mn_collider_painted(liquid->run.collider, MN_PAINT_FRICTION, def->friction,
                                                       liquid->run.frame_left, x)
                                 : mn_side_value(def->friction_min, def->friction_max, solid, def->friction);
}

double mn_tet_liquid_friction(const mn_tet_liquid *liquid, int32_t i)
{
    double most = 0;
    for (int solid = 0; solid <= COLLIDER_BIT; solid++)
        if (liquid->contacts.touch.data[i] >> solid & 1)
            most = fmax(most, mn_tet_liquid_friction_of(liquid, solid, liquid->mesh->position[i]));
    return most;
}

bool mn_tet_liquid_rubs(const mn_tet_liquid *liquid)
{
    const mn_tet_liquid_def *def = &liquid->def;
    bool any = def->friction > 0 || mn_collider_is_painted(liquid->run.collider, MN_PAINT_FRICTION);
    for (int side = 0; side < 6; side++)
        any = any || (def->wall[side] && mn_side_value(def->friction_min, def->friction_max, side, 0) > 0);
    return any;
}

static bool is_solid(const mn_tet_liquid *liquid, int solid)
{
    return solid == COLLIDER_BIT ? liquid->run.collider != NULL : liquid->def.wall[solid];
}

bool mn_tet_liquid_probe(const mn_tet_liquid *liquid, int *solid, mn_vec3 x, mn_contact *contact)
{
    while (*solid <= COLLIDER_BIT && !is_solid(liquid, *solid)) ++*solid;
    if (*solid > COLLIDER_BIT) return false;
    *contact = probe(liquid, *solid, x);
    return true;
}

// Whether node i is not solved for.
static bool is_fixed(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t i)
{
    return mn_tet_liquid_is_pinned(liquid, mesh, i) ||
           (mesh == liquid->mesh && mn_tet_liquid_is_grain(liquid, i));
}

static mn_vec3 cap_velocity(const mn_tet_liquid *liquid, int32_t i)
{
    return liquid->mouths.data[liquid->cap.data[i] - 1].velocity;
}

// Where the solid is from node i at the start of the step.
static double gap_of(const mn_tet_liquid *liquid, mn_contact c)
{
    return c.distance + liquid->run.step * mn_dot(c.velocity, c.normal);
}

// Nodes of tetrahedra that would hardly be left when all that touch lay on the solids keep their distance.
static void find_loose(mn_tet_liquid *liquid)
{
    enum { ROUNDS = 8 };
    const double least = 0.3; // of its volume that a tetrahedron must keep
    const mn_tet_mesh *mesh = liquid->mesh;
    bool more = liquid->contacts.touching > 0;
    for (int round = 0; round < ROUNDS && more; round++) {
        more = false;
        for (int32_t t = 0; t < mesh->tet_slots; t++) {
            const int32_t *v = mesh->tet[t];
            uint8_t touch = 0;
            for (int k = 0; k < 4; k++)
                touch |=
                    liquid->contacts.loose.data[v[k]] == MN_TET_PUT ? liquid->contacts.touch.data[v[k]] : 0;
            if (!touch) continue;
            mn_vec3 x[4];
            for (int k = 0; k < 4; k++) x[k] = mn_tet_liquid_on_solids(liquid, v[k]);
            if (mn_tet_volume(x[0], x[1], x[2], x[3]) > least * mn_tet_mesh_tet_volume(mesh, t)) continue;
            for (int k = 0; k < 4; k++) liquid->contacts.loose.data[v[k]] = MN_TET_LOOSE;
            more = true;
        }
    }
    for (int32_t i = 0; more && i < mesh->vertex_slots; i++) liquid->contacts.loose.data[i] = MN_TET_LOOSE;
}

// A node of a body that is solid stays at the distance at which it came to touch: put onto the collider in
// one step, however short, it would be thrown back by the stress that this makes. Only what lies deep is put
// out.
static void keep_gaps_of_solids(mn_tet_liquid *liquid)
{
    for (int32_t i = 0; liquid->solids.any && i < liquid->mesh->vertex_slots; i++) {
        double deepest = 0;
        if (!liquid->solids.solid_node.data[i]) continue;
        for (int solid = 0; solid <= COLLIDER_BIT; solid++)
            if (liquid->contacts.touch.data[i] >> solid & 1)
                deepest = fmin(deepest, probe(liquid, solid, liquid->mesh->position[i]).distance);
        if (deepest > -touch_distance * liquid->size) liquid->contacts.loose.data[i] = MN_TET_LOOSE;
    }
}

mn_status mn_tet_liquid_find_contacts(mn_tet_liquid *liquid)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const int32_t n = mesh->vertex_slots;
    liquid->contacts.touching = 0;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.touch, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.released, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->friction.slip, n));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.loose, n));
    for (int32_t i = 0; i < n; i++)
        liquid->contacts.touch.data[i] = liquid->contacts.released.data[i] = liquid->friction.slip.data[i] =
            liquid->contacts.loose.data[i] = 0;
    for (int solid = 0; solid <= COLLIDER_BIT; solid++) {
        if (!is_solid(liquid, solid)) continue;
        for (int32_t i = 0; i < n; i++) {
            if (!mn_tet_vertex_on_boundary(mesh, i) || mn_tet_liquid_is_grain(liquid, i)) continue;
            if (probe(liquid, solid, mesh->position[i]).distance < touch_distance * liquid->size)
                liquid->contacts.touch.data[i] |= (uint8_t)(1 << solid);
        }
    }
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->cap, n));
    for (int32_t i = 0; i < n; i++) {
        liquid->cap.data[i] = (uint8_t)mn_tet_liquid_cap_of(liquid, mesh, i);
        if (liquid->cap.data[i]) liquid->contacts.touch.data[i] |= PIPE;
    }
    for (int32_t i = 0; i < n; i++)
        liquid->contacts.touching +=
            liquid->contacts.touch.data[i] != 0 || mn_tet_liquid_is_pinned(liquid, mesh, i);
    find_loose(liquid);
    keep_gaps_of_solids(liquid);
    return MN_OK;
}

// Wetted faces: all three nodes touch one solid, and the face looks into it.
mn_status mn_tet_liquid_find_wetted(mn_tet_liquid *liquid)
{
    const mn_tet_system *s = &liquid->system;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.face_sigma, s->face_count));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.wetted_area, s->node_count));
    for (int32_t i = 0; i < s->node_count; i++) liquid->contacts.wetted_area.data[i] = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *v = s->face.data + 3 * (int64_t)f;
        const mn_vec3 *x = liquid->mesh->position;
        const uint8_t common = liquid->contacts.touch.data[v[0]] & liquid->contacts.touch.data[v[1]] &
                               liquid->contacts.touch.data[v[2]];
        liquid->contacts.face_sigma.data[f] = 1;
        if (!common) continue;
        if (common & PIPE) {
            liquid->contacts.face_sigma.data[f] = 0; // there is liquid behind it
            continue;
        }
        const mn_vec3 normal = mn_cross(mn_sub(x[v[1]], x[v[0]]), mn_sub(x[v[2]], x[v[0]]));
        const mn_vec3 middle = mn_scale(1.0 / 3, mn_add(x[v[0]], mn_add(x[v[1]], x[v[2]])));
        int at = -1;
        for (int solid = 0; solid <= COLLIDER_BIT && at < 0; solid++)
            if ((common >> solid & 1) &&
                mn_dot(normal, probe(liquid, solid, middle).normal) < -0.5 * mn_norm(normal))
                at = solid;
        if (at < 0) continue;
        liquid->contacts.face_sigma.data[f] = -mn_cos(angle_of(liquid, at, middle));
        for (int k = 0; k < 3; k++)
            if (!(liquid->contacts.touch.data[v[k]] & PIPE))
                liquid->contacts.wetted_area.data[v[k]] += mn_norm(normal) / 6;
    }
    return MN_OK;
}

mn_status mn_tet_liquid_check_solids(const mn_tet_liquid *liquid)
{
    static const char *const sides[6] = {"left side", "right side", "floor",
                                         "ceiling",   "back side",  "front side"};
    const double wall_depth = 0.25, collider_depth = 1; // of the size that it may lie inside at first
    for (int solid = 0; solid <= COLLIDER_BIT; solid++) {
        double deepest = 0;
        int32_t outside = 0;
        mn_vec3 where = {0};
        for (int32_t i = 0; is_solid(liquid, solid) && i < liquid->mesh->vertex_slots; i++) {
            const double depth = -probe(liquid, solid, liquid->mesh->position[i]).distance;
            outside += depth < 0;
            if (depth > deepest) deepest = depth, where = liquid->mesh->position[i];
        }
        if (solid < COLLIDER_BIT && deepest > wall_depth * liquid->size)
            return mn_fail(
                liquid->ctx, MN_ERROR_INPUT,
                "The liquid reaches %g m beyond the %s of the domain; enlarge the domain, move the "
                "liquid, or set that side to open.",
                deepest, sides[solid]);
        // The mouth of a pipe may stand in a wall.
        if (solid == COLLIDER_BIT && deepest > collider_depth * liquid->size &&
            (outside == 0 || !mn_tet_liquid_has_mouth(liquid)))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "A collider lies in the liquid at the start: its surface is %g m from the point "
                           "(%g, %g, %g) of the liquid inside it, more than the size of %g m; move one of "
                           "them, or cut the liquid's shape out around it.",
                           deepest, where.x, where.y, where.z, liquid->size);
    }
    return MN_OK;
}

mn_status mn_tet_liquid_find_directions(mn_tet_liquid *liquid, const mn_tet_mesh *mesh)
{
    MN_ARRAY(uint8_t) cap = {0};
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.tangent, mesh->vertex_slots));
    MN_TRY(mn_array_resize(liquid->ctx, &cap, mesh->vertex_slots));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) cap.data[i] = 0;
    if (mesh->vertex_slots > 0) mn_tet_liquid_mark_cap(liquid, mesh, cap.data, PIPE);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const bool fixed = cap.data[i] || is_fixed(liquid, mesh, i);
        mn_mat3 p = mn_m3_scale(fixed ? 0 : 1, mn_m3_identity());
        for (int solid = 0; liquid->contacts.touching > 0 && solid <= COLLIDER_BIT; solid++) {
            if (!is_solid(liquid, solid) || !mn_tet_vertex_alive(mesh, i) ||
                !mn_tet_vertex_on_boundary(mesh, i))
                continue;
            const mn_contact c = probe(liquid, solid, mesh->position[i]);
            if (c.distance >= touch_distance * liquid->size) continue;
            mn_vec3 t = mn_m3_apply(p, c.normal);
            const double part = mn_norm(t);
            if (part < 0.1) continue; // this direction is taken
            t = mn_scale(1 / part, t);
            p = mn_tet_liquid_sticks(liquid, mesh, i) ? mn_m3_scale(0, p)
                                                      : mn_m3_add(p, mn_m3_scale(-1, mn_outer(t, t)));
        }
        liquid->contacts.tangent.data[i] = p;
    }
    mn_array_free(liquid->ctx, &cap);
    return MN_OK;
}

mn_vec3 mn_tet_liquid_solid_velocity(const mn_tet_liquid *liquid, int32_t i)
{
    if (!(liquid->contacts.touch.data[i] >> COLLIDER_BIT & 1)) return mn_v3(0, 0, 0); // walls rest
    return probe(liquid, COLLIDER_BIT, liquid->mesh->position[i]).velocity;
}

mn_vec3 mn_tet_liquid_on_solids(const mn_tet_liquid *liquid, int32_t i)
{
    mn_vec3 x = liquid->mesh->position[i];
    for (int solid = 0; solid <= COLLIDER_BIT && liquid->contacts.loose.data[i] == MN_TET_PUT; solid++) {
        if (!(liquid->contacts.touch.data[i] >> solid & 1)) continue;
        const mn_contact c = probe(liquid, solid, x);
        x = mn_axpy(x, -gap_of(liquid, c), c.normal);
    }
    return x;
}

mn_vec3 mn_tet_liquid_free_velocity(const mn_tet_liquid *liquid, int32_t i, mn_vec3 velocity)
{
    if (liquid->contacts.touch.data[i] & PIPE) return cap_velocity(liquid, i);
    for (int solid = 0; solid <= COLLIDER_BIT; solid++) {
        if (!(liquid->contacts.touch.data[i] >> solid & 1)) continue;
        const mn_contact c = probe(liquid, solid, liquid->mesh->position[i]);
        if (mn_tet_liquid_sticks(liquid, liquid->mesh, i)) return c.velocity;
        velocity = mn_axpy(velocity, fmax(0, mn_dot(mn_sub(c.velocity, velocity), c.normal)), c.normal);
    }
    return velocity;
}

double mn_tet_liquid_pressing(const mn_tet_liquid *liquid, const mn_tet_stage *stage, int32_t i,
                              mn_vec3 force)
{
    const mn_vec3 x = mn_scale(liquid->size, mn_add(stage->start[i], stage->u[i]));
    double sum = 0;
    for (int solid = 0; solid <= COLLIDER_BIT; solid++)
        if (liquid->contacts.touch.data[i] >> solid & 1)
            sum += fmax(0, mn_dot(probe(liquid, solid, x).normal, force));
    return sum;
}

mn_status mn_tet_liquid_constrain(mn_tet_liquid *liquid, double h, const mn_vec3 *a, mn_tet_stage *stage)
{
    if (liquid->contacts.touching == 0 && !liquid->solids.grains) return MN_OK;
    const double length = liquid->size;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.freedom, liquid->system.node_count));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->contacts.tangent, liquid->system.node_count));
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        mn_mat3 p = mn_m3_identity();
        const int touch = liquid->contacts.touch.data[i];
        const bool held = touch && mn_tet_liquid_is_held(liquid, i);
        if (touch & PIPE) {
            stage->u[i] = mn_scale(h / length, cap_velocity(liquid, i));
            liquid->contacts.tangent.data[i] = liquid->contacts.freedom.data[i] = mn_m3_scale(0, p);
            continue;
        }
        if (is_fixed(liquid, liquid->mesh, i)) {
            stage->u[i] = mn_scale(1 / length, mn_sub(liquid->mesh->position[i], a[i]));
            if (mn_tet_liquid_is_grain(liquid, i)) liquid->trial.drift.data[i] = stage->u[i];
            liquid->contacts.tangent.data[i] = liquid->contacts.freedom.data[i] = mn_m3_scale(0, p);
            continue;
        }
        if (held) stage->u[i] = mn_v3(0, 0, 0);
        for (int solid = 0; solid <= COLLIDER_BIT; solid++) {
            if (!(touch >> solid & 1)) continue;
            const mn_contact c = probe(liquid, solid, a[i]);
            if (held) stage->u[i] = mn_scale(h / length, c.velocity);
            mn_vec3 t = mn_m3_apply(p, c.normal);
            const double part = mn_norm(t);
            if (part < 0.1) continue; // this direction is taken
            t = mn_scale(1 / part, t);
            // To the solid's surface, which is where it is at the end of the step.
            const double gap = liquid->contacts.loose.data[i] == MN_TET_LOOSE
                                   ? gap_of(liquid, probe(liquid, solid, liquid->mesh->position[i]))
                                   : 0;
            const double missing = (gap - c.distance) / length - mn_dot(stage->u[i], c.normal);
            stage->u[i] = mn_axpy(stage->u[i], missing / part, t);
            p = mn_m3_add(p, mn_m3_scale(-1, mn_outer(t, t)));
        }
        liquid->contacts.tangent.data[i] = p;
        liquid->contacts.freedom.data[i] = held ? mn_m3_scale(0, p) : p;
    }
    stage->freedom = liquid->contacts.freedom.data;
    return MN_OK;
}

// What the contact line pulls with along an edge, and what wetted liquid holds on with: to part from an
// area A takes the work sigma (1 + cos angle) A (Dupre), which a pull must do within a tenth of the size.
// A solid is let go as soon as it is pulled.
static double hold_of(const mn_tet_liquid *liquid, const mn_tet_stage *stage, int32_t i, double angle,
                      bool is_body)
{
    const double length = liquid->size, least = 1e-6 * liquid->system.force_scale;
    if (is_body) return least;
    const double line = 1.5 * stage->sigma * (mn_sin(angle) + 1 + mn_cos(angle)) + least;
    const double adhesion = 10 * stage->sigma * (1 + mn_cos(angle));
    return line + adhesion * liquid->contacts.wetted_area.data[i] / (length * length);
}

mn_status mn_tet_liquid_revise_contacts(mn_tet_liquid *liquid, const mn_tet_stage *stage,
                                        const double *reaction, bool *changed)
{
    const double length = liquid->size;
    *changed = false;
    for (int32_t i = 0; i < liquid->system.node_count; i++) {
        if (!mn_tet_vertex_on_boundary(liquid->mesh, i) || (liquid->contacts.touch.data[i] & PIPE)) continue;
        if (is_fixed(liquid, liquid->mesh, i)) continue;
        const mn_vec3 x = mn_scale(length, mn_add(stage->start[i], stage->u[i]));
        for (int solid = 0; solid <= COLLIDER_BIT; solid++) {
            const uint8_t bit = (uint8_t)(1 << solid);
            if (!is_solid(liquid, solid)) continue;
            const mn_contact c = probe(liquid, solid, x);
            if (!(liquid->contacts.touch.data[i] & bit)) {
                if (c.distance >= -1e-3 * length || (liquid->contacts.released.data[i] & bit)) continue;
                liquid->contacts.touching += liquid->contacts.touch.data[i] == 0;
                liquid->contacts.touch.data[i] |= bit;
                if (liquid->contacts.loose.data[i] == MN_TET_PUT)
                    liquid->contacts.loose.data[i] = MN_TET_CAUGHT;
                *changed = true;
            } else if (reaction) {
                const double push =
                    mn_dot(c.normal, mn_v3(reaction[3 * i], reaction[3 * i + 1], reaction[3 * i + 2]));
                const bool is_body = liquid->solids.any && liquid->solids.solid_node.data[i];
                if (push >= -hold_of(liquid, stage, i, angle_of(liquid, solid, x), is_body)) continue;
                liquid->contacts.touch.data[i] &= (uint8_t)~bit;
                liquid->contacts.touching -= liquid->contacts.touch.data[i] == 0;
                liquid->contacts.released.data[i] |= bit;
                *changed = true;
            }
        }
    }
    return MN_OK;
}
