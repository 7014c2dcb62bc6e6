// SPDX-License-Identifier: Apache-2.0
//
// Bodies of solid that never pass through each other: the barrier of core/contact between the surfaces of
// different bodies, points against triangles and edges against edges,
//
//   E = k A b(d) for d < distance,   k = 0.1 of the softer one's Young's modulus      contact/barrier.h
//
// and no correction of Newton's method goes further than nothing passes through anything. A barrier needs
// surfaces that are apart. What is not, because it was given so, or because a crack opened there, has the
// field `torn` on its nodes and is left to solid_contact.c, as is a body that touches itself:
//
//   torn at the start    nodes nearer than the distance to another body, or of bodies that cross
//   torn in a crack      nodes around it (fracture.c), and where parts that were one body are nearer than the
//                        distance when they come apart: the barrier would push with energy from nowhere
//   torn later           nodes that came nearer than 0.02 of the distance, as freezing and remeshing can
//
// Lengths are in units of the size. Tested: tests/unit/tet/test_solid_contact.c.
#include "contact/barrier.h"
#include "contact/surface.h"
#include "meniscus/array.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

static const double distance = 0.1;       // of the size, from which bodies push each other
static const double too_near = 0.02;      // of the distance
static const double contact_share = 0.1;  // of Young's modulus
static const double reach_least = 0.3;    // of the size that nodes may move in a step beside what they do
static const double reach_of_motion = 2;  // times what the velocities say
static const double slip_of_speed = 0.02; // of the speed of a contact below which friction grows with it
static const double slip_of_waves = 1e-3; // of size over the time scale, the same

typedef int32_t corners[3];

struct mn_tet_barrier {
    mn_contact_pairs *contact;
    bool on;                    ///< bodies may come near each other in this step
    MN_ARRAY(int32_t) node;     ///< of each point
    MN_ARRAY(int32_t) point;    ///< of each node, -1: none
    MN_ARRAY(int32_t) group;    ///< of each point: its body
    MN_ARRAY(corners) triangle; ///< of points
    MN_ARRAY(mn_vec3) x, dx;    ///< of points
    MN_ARRAY(mn_vec3) start;    ///< of points, where they were
    MN_ARRAY(double) reach, group_reach, stiffness;
    MN_ARRAY(uint32_t) flags;
    mn_contact_terms terms;
    double range; ///< how far a node may go from where all go together
};

// ---- the surface ----

static bool is_torn(const double *torn, const int32_t *c)
{
    return torn[c[0]] > 0 || torn[c[1]] > 0 || torn[c[2]] > 0;
}

static mn_status add_point(mn_tet_liquid *liquid, mn_tet_barrier *b, int32_t node, int32_t *point)
{
    if (b->point.data[node] < 0) {
        b->point.data[node] = (int32_t)b->node.count;
        MN_TRY(mn_array_push(liquid->ctx, &b->node, &node));
        MN_TRY(mn_array_push(liquid->ctx, &b->group, &liquid->bodies.of_node.data[node]));
        const mn_vec3 x = mn_scale(1 / liquid->size, liquid->mesh->position[node]);
        MN_TRY(mn_array_push(liquid->ctx, &b->start, &x));
    }
    *point = b->point.data[node];
    return MN_OK;
}

// Faces of solids that are not torn. *bodies is whether they belong to more than one body.
static mn_status list_surface(mn_tet_liquid *liquid, mn_tet_barrier *b, bool *bodies)
{
    const mn_tet_system *s = &liquid->system;
    const double *torn = mn_tet_field_numbers(liquid, MN_TET_TORN);
    b->node.count = b->group.count = b->triangle.count = b->start.count = 0;
    MN_TRY(mn_array_resize(liquid->ctx, &b->point, s->node_count));
    MN_TRY(mn_array_resize(liquid->ctx, &b->stiffness, liquid->bodies.count));
    MN_TRY(mn_array_resize(liquid->ctx, &b->flags, liquid->bodies.count));
    for (int32_t i = 0; i < s->node_count; i++) b->point.data[i] = -1;
    for (int32_t g = 0; g < liquid->bodies.count; g++) b->stiffness.data[g] = INFINITY, b->flags.data[g] = 0;
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *c = s->face.data + 3 * (int64_t)f, t = liquid->solids.behind.data[f];
        corners triangle;
        if (!mn_tet_liquid_is_solid(liquid, t) || is_torn(torn, c) || mn_tet_liquid_is_grain(liquid, c[0]))
            continue;
        for (int k = 0; k < 3; k++) MN_TRY(add_point(liquid, b, c[k], &triangle[k]));
        double *stiffness = &b->stiffness.data[liquid->bodies.of_node.data[c[0]]];
        *stiffness = fmin(
            *stiffness, contact_share * liquid->solids.materials.data[liquid->solids.material.data[t]].young);
        MN_TRY(mn_array_push(liquid->ctx, &b->triangle, &triangle));
    }
    *bodies = false;
    for (int64_t i = 1; i < b->group.count; i++) *bodies = *bodies || b->group.data[i] != b->group.data[0];
    return MN_OK;
}

static mn_status set_surface(mn_tet_liquid *liquid, mn_tet_barrier *b)
{
    const mn_contact_surface surface = {.vertex_count = (int32_t)b->node.count,
                                        .triangle_count = (int32_t)b->triangle.count,
                                        .group_count = liquid->bodies.count,
                                        .rest = b->start.data,
                                        .triangles = (const int32_t(*)[3])b->triangle.data,
                                        .group = b->group.data,
                                        .flags = b->flags.data,
                                        .stiffness = b->stiffness.data};
    MN_TRY(mn_contact_set_surface(b->contact, &surface));
    return mn_contact_sort(b->contact, b->start.data);
}

// ---- a step ----

// How far nodes may go in a step of length dt, and the candidates for that.
static mn_status find_candidates(mn_tet_liquid *liquid, mn_tet_barrier *b, double dt)
{
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    const int64_t n = b->node.count;
    mn_vec3 mean = {0};
    double fastest = 0;
    for (int64_t i = 0; i < n; i++) mean = mn_axpy(mean, 1 / (double)n, v[b->node.data[i]]);
    for (int64_t i = 0; i < n; i++) fastest = fmax(fastest, mn_norm(mn_sub(v[b->node.data[i]], mean)));
    b->range = reach_least + reach_of_motion * fastest * dt / liquid->size;
    MN_TRY(mn_array_resize(liquid->ctx, &b->reach, n));
    MN_TRY(mn_array_resize(liquid->ctx, &b->group_reach, liquid->bodies.count));
    // Points lie within the range of the mean motion, so within twice that of their body's.
    for (int64_t i = 0; i < n; i++) b->reach.data[i] = 2 * b->range;
    for (int32_t g = 0; g < liquid->bodies.count; g++) b->group_reach.data[g] = b->range;
    return mn_contact_find_candidates(b->contact, b->start.data, b->reach.data, b->group_reach.data,
                                      distance);
}

// Marks what a barrier cannot hold: nodes too near to another body, and bodies that cross.
static mn_status mark_torn(mn_tet_liquid *liquid, mn_tet_barrier *b, bool *marked)
{
    double *torn = mn_tet_field_numbers(liquid, MN_TET_TORN);
    const double near = (liquid->solver.time == 0 ? 1 : too_near) * distance;
    bool crosses;
    int32_t v[2];
    *marked = false;
    MN_TRY(mn_contact_collect(b->contact, b->start.data, near, &b->terms));
    for (int64_t i = 0; i < b->terms.count; i++)
        for (int k = 0; k < 4; k++) torn[b->node.data[b->terms.data[i].v[k]]] = 1, *marked = true;
    MN_TRY(mn_contact_find_crossing(b->contact, b->start.data, &crosses, v));
    for (int64_t i = 0; crosses && i < b->node.count; i++)
        if (b->group.data[i] == b->group.data[v[0]] || b->group.data[i] == b->group.data[v[1]])
            torn[b->node.data[i]] = 1, *marked = true;
    return MN_OK;
}

static mn_status open_barrier(mn_tet_liquid *liquid)
{
    if (!liquid->solids.barrier) {
        liquid->solids.barrier = mn_allocate_zero(liquid->ctx, sizeof *liquid->solids.barrier);
        if (!liquid->solids.barrier) return MN_ERROR_MEMORY;
    }
    mn_tet_barrier *b = liquid->solids.barrier;
    return b->contact ? MN_OK : mn_contact_create(liquid->ctx, &b->contact);
}

// One round of mn_tet_solids_tear_parted, with the body that each body was a part of; -1: not known.
static mn_status tear_parted(mn_tet_liquid *liquid, mn_tet_barrier *b, const int32_t *origin, bool *marked)
{
    double *torn = mn_tet_field_numbers(liquid, MN_TET_TORN);
    bool bodies;
    *marked = false;
    MN_TRY(list_surface(liquid, b, &bodies));
    if (!bodies) return MN_OK;
    MN_TRY(set_surface(liquid, b));
    MN_TRY(find_candidates(liquid, b, 0));
    MN_TRY(mn_contact_collect(b->contact, b->start.data, distance, &b->terms));
    for (int64_t i = 0; i < b->terms.count; i++) {
        const int32_t *v = b->terms.data[i].v;
        const int32_t first = origin[b->group.data[v[0]]], other = origin[b->group.data[v[3]]];
        if (first != other && first >= 0 && other >= 0) continue;
        for (int k = 0; k < 4; k++) torn[b->node.data[v[k]]] = 1, *marked = true;
    }
    return MN_OK;
}

mn_status mn_tet_solids_tear_parted(mn_tet_liquid *liquid, int64_t count, const int32_t *was)
{
    MN_ARRAY(int32_t) origin = {0};
    mn_status status = open_barrier(liquid);
    if (status == MN_OK) status = mn_array_resize(liquid->ctx, &origin, liquid->bodies.count);
    if (status != MN_OK) return status;
    for (int32_t g = 0; g < liquid->bodies.count; g++) origin.data[g] = -1;
    for (int64_t i = 0; i < count; i++) origin.data[liquid->bodies.of_node.data[i]] = was[i];
    for (bool marked = true; marked && status == MN_OK;)
        status = tear_parted(liquid, liquid->solids.barrier, origin.data, &marked);
    mn_array_free(liquid->ctx, &origin);
    return status;
}

// Places of points at nodes.
static mn_status place_points(mn_context *ctx, mn_tet_barrier *b, const mn_vec3 *nodes)
{
    MN_TRY(mn_array_resize(ctx, &b->x, b->node.count));
    for (int64_t i = 0; i < b->node.count; i++) b->x.data[i] = nodes[b->node.data[i]];
    return MN_OK;
}

mn_status mn_tet_solids_begin_barrier(mn_tet_liquid *liquid, double dt)
{
    if (liquid->solids.barrier) liquid->solids.barrier->on = false;
    if (!liquid->solids.any || liquid->bodies.count < 2) return MN_OK;
    MN_TRY(open_barrier(liquid));
    mn_tet_barrier *b = liquid->solids.barrier;
    for (bool marked = true; marked;) {
        bool bodies;
        marked = false;
        MN_TRY(list_surface(liquid, b, &bodies));
        if (!bodies) return MN_OK;
        MN_TRY(set_surface(liquid, b));
        MN_TRY(find_candidates(liquid, b, dt));
        if (mn_contact_candidate_count(b->contact) == 0) return MN_OK;
        MN_TRY(mark_torn(liquid, b, &marked)); // ends: it marks more each time
    }
    b->on = true;
    return mn_contact_weigh_edges(b->contact, b->start.data, distance, false);
}

mn_tet_barrier *mn_tet_solids_barrier(const mn_tet_liquid *liquid)
{
    return liquid->solids.any && liquid->solids.barrier && liquid->solids.barrier->on ? liquid->solids.barrier
                                                                                      : NULL;
}

bool mn_tet_solids_barrier_holds(const mn_tet_liquid *liquid, int32_t i, const int32_t c[3])
{
    const double *torn = mn_tet_field_numbers(liquid, MN_TET_TORN);
    return liquid->bodies.of_node.data[i] != liquid->bodies.of_node.data[c[0]] && !(torn[i] > 0) &&
           !is_torn(torn, c);
}

void mn_tet_solids_free_barrier(mn_tet_liquid *liquid)
{
    mn_tet_barrier *b = liquid->solids.barrier;
    if (!b) return;
    mn_contact_free(b->contact);
    mn_array_free(liquid->ctx, &b->node);
    mn_array_free(liquid->ctx, &b->point);
    mn_array_free(liquid->ctx, &b->group);
    mn_array_free(liquid->ctx, &b->triangle);
    mn_array_free(liquid->ctx, &b->x);
    mn_array_free(liquid->ctx, &b->dx);
    mn_array_free(liquid->ctx, &b->start);
    mn_array_free(liquid->ctx, &b->reach);
    mn_array_free(liquid->ctx, &b->group_reach);
    mn_array_free(liquid->ctx, &b->stiffness);
    mn_array_free(liquid->ctx, &b->flags);
    mn_array_free(liquid->ctx, &b->terms);
    mn_release(liquid->ctx, b, sizeof *b);
    liquid->solids.barrier = NULL;
}

// ---- friction ----

// Coulomb's friction of a contact with a normal force, in the weight's unit of pairs.
static mn_status add_slip(mn_tet_liquid *liquid, const mn_contact_term *term, const int32_t v[4],
                          double force)
{
    const mn_vec3 *speed = mn_tet_field_vectors(liquid, MN_TET_V);
    const double scale = mn_tet_liquid_time_scale(liquid), dt = liquid->run.step;
    mn_tet_slip slip = {.force = liquid->def.friction * force};
    mn_vec3 x[4];
    double fast[2] = {0, 0};
    if (!(slip.force > 0)) return MN_OK;
    for (int k = 0; k < 4; k++) slip.v[k] = v[k], x[k] = liquid->solids.before.data[v[k]];
    mn_contact_slip(term, x, slip.rows);
    for (int k = 0; k < 4; k++)
        for (int t = 0; t < 2; t++)
            fast[t] += slip.rows[t][3 * k] * speed[v[k]].x + slip.rows[t][3 * k + 1] * speed[v[k]].y +
                       slip.rows[t][3 * k + 2] * speed[v[k]].z;
    const double least = isfinite(scale) ? slip_of_waves * dt / scale : 1e-6;
    slip.smooth =
        fmax(least, slip_of_speed * sqrt(fast[0] * fast[0] + fast[1] * fast[1]) * dt / liquid->size);
    return mn_array_push(liquid->ctx, &liquid->solids.slips, &slip);
}

mn_status mn_tet_solids_begin_friction(mn_tet_liquid *liquid)
{
    mn_tet_barrier *b = mn_tet_solids_barrier(liquid);
    liquid->solids.slips.count = 0;
    if (!liquid->solids.any || (!b && liquid->solids.pairs.count == 0)) return MN_OK;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->solids.before, liquid->system.node_count));
    for (int32_t i = 0; i < liquid->system.node_count; i++)
        liquid->solids.before.data[i] = mn_scale(1 / liquid->size, liquid->mesh->position[i]);
    if (!(liquid->def.friction > 0)) return MN_OK;
    for (int64_t p = 0; p < liquid->solids.pairs.count; p++) {
        const mn_tet_pair *pair = &liquid->solids.pairs.data[p];
        mn_contact_term term;
        mn_vec3 x[4];
        for (int k = 0; k < 4; k++) x[k] = liquid->solids.before.data[pair->v[k]];
        if (mn_tet_pair_term(x, &term))
            MN_TRY(add_slip(liquid, &term, pair->v, -pair->weight * (term.near.distance - pair->rest)));
    }
    if (!b) return MN_OK;
    MN_TRY(mn_contact_collect(b->contact, b->start.data, distance, &b->terms));
    for (int64_t i = 0; i < b->terms.count; i++) {
        const mn_contact_term *term = &b->terms.data[i];
        int32_t v[4];
        double first;
        mn_barrier(term->near.distance, distance, &first, NULL);
        for (int k = 0; k < 4; k++) v[k] = b->node.data[term->v[k]];
        MN_TRY(add_slip(liquid, term, v, -liquid->size * term->mollifier * term->weight * first));
    }
    return MN_OK;
}

// ---- a stage ----

static mn_status push_row(mn_tet_system *s, const int32_t v[4], const mn_vec3 r[4], double weight)
{
    mn_tet_pair_row row = {.weight = weight};
    if (!(weight > 0)) return MN_OK;
    for (int k = 0; k < 4; k++) row.v[k] = v[k], row.r[k] = r[k];
    return mn_array_push(s->ctx, &s->pair_rows, &row);
}

static mn_status add_term(mn_tet_system *s, const mn_contact_term *term)
{
    mn_tet_barrier *b = s->stage->barrier;
    const double k = s->stage->barrier_unit * term->weight;
    double first, second, value[4];
    const double energy = k * mn_barrier(term->near.distance, distance, &first, &second);
    mn_vec3 r[4], x[4], bend[4][4];
    int32_t v[4];
    for (int i = 0; i < 4; i++) {
        v[i] = b->node.data[term->v[i]], x[i] = b->x.data[term->v[i]];
        r[i] = mn_scale(term->near.c[i], term->near.normal);
        mn_vec3 *pull = &s->pair_pull.data[v[i]];
        *pull = mn_axpy(*pull, term->mollifier * k * first, r[i]);
        *pull = mn_axpy(*pull, energy, term->turn[i]);
    }
    MN_TRY(push_row(s, v, r, term->mollifier * k * second));
    const int bends = mn_contact_bends(term, x, bend, value);
    for (int i = 0; i < bends; i++) MN_TRY(push_row(s, v, bend[i], -term->mollifier * k * first * value[i]));
    return MN_OK;
}

static mn_status add_friction(mn_tet_system *s, const mn_tet_slip *f)
{
    double u[2] = {0, 0}, over, second, along[2] = {1, 0};
    for (int k = 0; k < 4; k++) {
        const mn_vec3 moved = mn_sub(s->x.data[f->v[k]], s->stage->before[f->v[k]]);
        for (int t = 0; t < 2; t++)
            u[t] += f->rows[t][3 * k] * moved.x + f->rows[t][3 * k + 1] * moved.y +
                    f->rows[t][3 * k + 2] * moved.z;
    }
    const double length = sqrt(u[0] * u[0] + u[1] * u[1]), force = s->stage->pair_unit * f->force;
    mn_friction(length, f->smooth, &over, &second);
    if (length > 0) along[0] = u[0] / length, along[1] = u[1] / length;
    mn_vec3 r[4], across[4];
    for (int k = 0; k < 4; k++) {
        const mn_vec3 p = mn_v3(f->rows[0][3 * k], f->rows[0][3 * k + 1], f->rows[0][3 * k + 2]);
        const mn_vec3 q = mn_v3(f->rows[1][3 * k], f->rows[1][3 * k + 1], f->rows[1][3 * k + 2]);
        r[k] = mn_axpy(mn_scale(along[0], p), along[1], q);
        across[k] = mn_axpy(mn_scale(-along[1], p), along[0], q);
        s->pair_pull.data[f->v[k]] = mn_axpy(s->pair_pull.data[f->v[k]], force * over * length, r[k]);
    }
    MN_TRY(push_row(s, f->v, r, force * second));
    return push_row(s, f->v, across, force * over);
}

mn_status mn_tet_barrier_measure(mn_tet_system *s)
{
    mn_tet_barrier *b = s->stage->barrier;
    for (int64_t i = 0; i < s->stage->slip_count; i++) MN_TRY(add_friction(s, &s->stage->slips[i]));
    if (!b) return MN_OK;
    MN_TRY(place_points(s->ctx, b, s->x.data));
    MN_TRY(mn_contact_collect(b->contact, b->x.data, distance, &b->terms));
    for (int64_t i = 0; i < b->terms.count; i++) MN_TRY(add_term(s, &b->terms.data[i]));
    return MN_OK;
}

mn_status mn_tet_barrier_fraction(const mn_tet_system *s, const double *change, double *fraction)
{
    mn_tet_barrier *b = s->stage->barrier;
    MN_TRY(place_points(s->ctx, b, s->x.data));
    MN_TRY(mn_array_resize(s->ctx, &b->dx, b->node.count));
    // What all do together does not count: candidates know pairs that come near each other.
    mn_vec3 before = {0}, after = {0};
    for (int64_t i = 0; i < b->node.count; i++) {
        const double *d = change + 3 * (int64_t)b->node.data[i], part = 1 / (double)b->node.count;
        b->dx.data[i] = mn_v3(d[0], d[1], d[2]);
        const mn_vec3 gone = mn_sub(b->x.data[i], b->start.data[i]);
        before = mn_axpy(before, part, gone), after = mn_axpy(after, part, mn_add(gone, b->dx.data[i]));
    }
    double within = 1;
    for (int64_t i = 0; i < b->node.count; i++) {
        const mn_vec3 gone = mn_sub(b->x.data[i], b->start.data[i]);
        const double now = mn_norm(mn_sub(gone, before)),
                     then = mn_norm(mn_sub(mn_add(gone, b->dx.data[i]), after));
        if (then > b->range) within = fmin(within, fmax(b->range - now, 0) / (then - now));
    }
    for (int64_t i = 0; i < b->node.count; i++) b->dx.data[i] = mn_scale(within, b->dx.data[i]);
    MN_TRY(mn_contact_longest_step(b->contact, b->x.data, b->dx.data, fraction, NULL));
    *fraction *= within;
    return MN_OK;
}
