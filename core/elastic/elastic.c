// SPDX-License-Identifier: Apache-2.0
//
// The life of elastic bodies: their def and its checks, what they hold, their report and their stream.
#include "base/point_sums.h"
#include "base/solver_face.h"
#include "contact/barrier.h"
#include "elastic/elastic_state.h"

#include <string.h>

// ---- life ----

static mn_status init(mn_solver *solver)
{
    mn_elastic *s = (mn_elastic *)solver;
    s->smallest_gap = INFINITY;
    return mn_contact_create(solver->ctx, &s->contact);
}

static void release(mn_solver *solver)
{
    mn_elastic *s = (mn_elastic *)solver;
    mn_context *ctx = solver->ctx;
    mn_vec3s *vectors[] = {&s->x,           &s->v,           &s->x_old,    &s->v_old,       &s->target_begin,
                           &s->target_end,  &s->force,       &s->rest,     &s->point_x,     &s->point_v,
                           &s->point_force, &s->reference,   &s->trial,    &s->trial_point, &s->step_point,
                           &s->point_end,   &s->part_motion, &s->dx,       &s->x_start,     &s->x_tilde,
                           &s->x_hat,       &s->goal,        &s->backup_x, &s->backup_v,    &s->backup_x_old,
                           &s->backup_v_old};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) mn_array_free(ctx, vectors[i]);
    mn_doubles *doubles[] = {
        &s->mass,        &s->point_stress, &s->point_share, &s->element_gradient, &s->element_stiffness,
        &s->element_old, &s->reach,        &s->part_reach,  &s->gradient,         &s->direction,
        &s->image};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) mn_array_free(ctx, doubles[i]);
    mn_indices *indices[] = {&s->point_body, &s->triangle,  &s->around,         &s->entry_row,
                             &s->entry_at,   &s->unknown,   &s->order,          &s->block_order,
                             &s->island,     &s->shown_tet, &s->shown_triangle, &s->id};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) mn_array_free(ctx, indices[i]);
    mn_array_free(ctx, &s->flags);
    mn_array_free(ctx, &s->anchor);
    mn_array_free(ctx, &s->part);
    mn_array_free(ctx, &s->element);
    mn_array_free(ctx, &s->tie);
    mn_array_free(ctx, &s->around_start);
    mn_array_free(ctx, &s->element_block);
    mn_array_free(ctx, &s->terms);
    mn_array_free(ctx, &s->lag_terms);
    mn_array_free(ctx, &s->lagged);
    mn_array_free(ctx, &s->impulse);
    mn_array_free(ctx, &s->row);
    mn_array_free(ctx, &s->entry);
    mn_array_free(ctx, &s->entry_start);
    mn_array_free(ctx, &s->islands);
    mn_elastic_free_system(s);
    mn_contact_free(s->contact);
}

static mn_status set_def(mn_solver *solver, const void *def)
{
    mn_elastic *s = (mn_elastic *)solver;
    const mn_elastic_def *next = def;
    if (next->contact_distance != s->def.contact_distance || next->self_contact != s->def.self_contact ||
        next->method != s->def.method)
        s->is_ready = false;
    return MN_OK;
}

// ---- getting ready ----

static mn_status resize_all(mn_elastic *s)
{
    const int64_t nodes = s->x.count, points = s->anchor.count, elements = s->element.count;
    const int64_t had = s->point_force.count;
    mn_vec3s *of_nodes[] = {&s->target_begin, &s->target_end,   &s->force,       &s->trial, &s->dx,
                            &s->x_start,      &s->x_tilde,      &s->x_hat,       &s->goal,  &s->backup_x,
                            &s->backup_v,     &s->backup_x_old, &s->backup_v_old};
    mn_vec3s *of_points[] = {&s->point_x,     &s->point_v,    &s->point_force, &s->reference,
                             &s->trial_point, &s->step_point, &s->point_end};
    for (size_t i = 0; i < sizeof of_nodes / sizeof *of_nodes; i++)
        MN_TRY(mn_array_resize(s->solver.ctx, of_nodes[i], nodes));
    for (size_t i = 0; i < sizeof of_points / sizeof *of_points; i++)
        MN_TRY(mn_array_resize(s->solver.ctx, of_points[i], points));
    for (int64_t i = had; i < points; i++) s->point_force.data[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < nodes; i++) s->force.data[i] = mn_v3(0, 0, 0);
    MN_TRY(mn_array_resize(s->solver.ctx, &s->point_stress, points));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->point_share, points));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->reach, points));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->part_reach, s->part.count));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->part_motion, s->part.count + 1));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->gradient, 3 * nodes));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->element_gradient, 12 * elements));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->element_stiffness, 144 * elements));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->element_old, 6 * elements));
    for (int64_t i = 0; i < 6 * elements; i++) s->element_old.data[i] = 0;
    return MN_OK;
}

static mn_status list_around(mn_elastic *s)
{
    const int64_t nodes = s->x.count;
    MN_TRY(mn_array_resize(s->solver.ctx, &s->around_start, nodes + 1));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->around, 4 * s->element.count));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->unknown, nodes));
    s->unknown_count = 0;
    for (int64_t i = 0; i < nodes; i++)
        s->unknown.data[i] = s->flags.data[i] & MN_NODE_FIXED ? -1 : s->unknown_count++;
    int64_t *start = s->around_start.data;
    for (int64_t i = 0; i <= nodes; i++) start[i] = 0;
    for (int pass = 0; pass < 2; pass++) {
        for (int64_t e = 0; e < s->element.count; e++)
            for (int a = 0; a < 4; a++) {
                const int32_t node = s->element.data[e].node[a];
                if (node < 0) continue;
                if (pass == 0)
                    start[node + 1]++;
                else
                    s->around.data[start[node]++] = (int32_t)(4 * e + a);
            }
        if (pass == 0)
            for (int64_t i = 0; i < nodes; i++) start[i + 1] += start[i];
    }
    for (int64_t i = nodes; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
    return MN_OK;
}

/// Where contact begins: half a percent of the smallest body, and a quarter of the shortest edge at most.
static double choose_distance(const mn_elastic *s)
{
    double distance = s->def.contact_distance, size = INFINITY;
    for (int64_t i = 0; i < s->part.count; i++)
        if (s->part.data[i].kind != MN_ELASTIC_COLLIDER) size = fmin(size, s->part.data[i].size);
    if (!(distance > 0)) distance = isfinite(size) ? 0.005 * size : 0.001;
    return fmin(distance, 0.25 * mn_contact_shortest_edge(s->contact));
}

static mn_status set_surface(mn_elastic *s)
{
    const int32_t groups = (int32_t)s->part.count;
    MN_ARRAY(uint32_t) flags = {0};
    mn_doubles stiffness = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(s->solver.ctx, &flags, groups));
    MN_TRY_TO(done, status, mn_array_resize(s->solver.ctx, &stiffness, groups));
    for (int32_t i = 0; i < groups; i++) {
        const mn_elastic_part *p = &s->part.data[i];
        const bool soft = p->kind == MN_ELASTIC_SOLID || p->kind == MN_ELASTIC_CLOTH;
        flags.data[i] = soft && s->def.self_contact ? MN_CONTACT_SELF : 0;
        if (p->kind == MN_ELASTIC_COLLIDER) flags.data[i] |= MN_CONTACT_FIXED;
        if (s->def.method == MN_ELASTIC_NO_CONTACT) flags.data[i] = MN_CONTACT_FIXED; // none push each other
        if (p->kind == MN_ELASTIC_CLOTH || p->kind == MN_ELASTIC_COLLIDER) flags.data[i] |= MN_CONTACT_SHEET;
        stiffness.data[i] = p->stiffness;
    }
    const mn_contact_surface surface = {(int32_t)s->anchor.count,
                                        (int32_t)(s->triangle.count / 3),
                                        groups,
                                        s->rest.data,
                                        (const int32_t(*)[3])s->triangle.data,
                                        s->point_body.data,
                                        flags.data,
                                        stiffness.data};
    status = mn_contact_set_surface(s->contact, &surface);
done:
    mn_array_free(s->solver.ctx, &flags);
    mn_array_free(s->solver.ctx, &stiffness);
    return status;
}

static mn_status check_crossings(mn_elastic *s)
{
    static const char *const names[] = {"solid", "cloth", "rigid body", "collider"};
    bool found;
    int32_t v[2];
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_contact_find_crossing(s->contact, s->point_x.data, &found, v));
    if (!found) return MN_OK;
    const int32_t a = s->point_body.data[v[0]], b = s->point_body.data[v[1]];
    const mn_vec3 x = s->point_x.data[v[0]];
    if (a == b)
        return mn_fail(
            s->solver.ctx, MN_ERROR_INPUT,
            "Body %d (%s) intersects or touches itself near (%.4g, %.4g, %.4g); unfold it there, or "
            "turn self_contact off.",
            a, names[s->part.data[a].kind], x.x, x.y, x.z);
    return mn_fail(
        s->solver.ctx, MN_ERROR_INPUT,
        "Body %d (%s) and body %d (%s) intersect or touch at the start, near (%.4g, %.4g, %.4g); move "
        "them apart by about %.3g m.",
        a, names[s->part.data[a].kind], b, names[s->part.data[b].kind], x.x, x.y, x.z, s->distance);
}

mn_status mn_elastic_prepare(mn_elastic *s)
{
    if (s->is_ready) return MN_OK;
    MN_TRY(resize_all(s));
    MN_TRY(list_around(s));
    MN_TRY(set_surface(s));
    s->distance = choose_distance(s);
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_contact_sort(s->contact, s->point_x.data));
    MN_TRY(check_crossings(s));
    s->is_ready = true;
    return MN_OK;
}

mn_status mn_elastic_check_apart(mn_elastic *s)
{
    MN_TRY(mn_elastic_prepare(s));
    return check_crossings(s);
}

// ---- what they hold ----

mn_status mn_elastic_get_view(mn_elastic *s, mn_elastic_view *view)
{
    MN_TRY(mn_elastic_prepare(s));
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    mn_elastic_place_points(s, s->v.data, s->point_v.data);
    mn_elastic_stresses(s);
    *view = (mn_elastic_view){
        .point_count = (int32_t)s->anchor.count,
        .body_count = (int32_t)s->part.count,
        .positions = s->point_x.data,
        .velocities = s->point_v.data,
        .rest = s->rest.data,
        .contact_forces = s->point_force.data,
        .stress = s->point_stress.data,
        .body = s->point_body.data,
        .contact_distance = s->distance,
    };
    return MN_OK;
}

mn_status mn_elastic_get_numbers(mn_elastic *s, mn_elastic_numbers *n)
{
    MN_TRY(mn_elastic_prepare(s));
    *n = (mn_elastic_numbers){.smallest_gap = INFINITY};
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_elastic_find_candidates(s, s->point_x.data, s->point_x.data));
    MN_TRY(mn_contact_collect(s->contact, s->point_x.data, s->distance, &s->terms));
    const bool barrier = s->def.method == MN_ELASTIC_BARRIER;
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term *t = &s->terms.data[i];
        if (barrier)
            n->contact_energy +=
                t->mollifier * t->weight * mn_barrier(t->near.distance, s->distance, NULL, NULL);
        n->smallest_gap = fmin(n->smallest_gap, t->near.distance);
    }
    n->contacts = s->terms.count;
    n->elastic_energy = mn_elastic_potential(s);
    for (int64_t i = 0; i < s->x.count; i++)
        n->gravity_energy -= s->mass.data[i] * mn_dot(s->def.gravity, s->x.data[i]);
    return MN_OK;
}

static void report_on(const mn_solver *solver, mn_report *report)
{
    const mn_elastic *s = (const mn_elastic *)solver;
    double sums[MN_SUM_COUNT] = {0}, speed = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        if (!(s->flags.data[i] & MN_NODE_FIXED))
            mn_sum_point(sums, s->mass.data[i], s->x.data[i], s->v.data[i]);
        speed = fmax(speed, mn_norm(s->v.data[i]));
    }
    mn_report_set(report, MN_REPORT_newton_iterations, (double)s->newton_iterations);
    mn_report_point_sums(report, sums);
    mn_report_set(report, MN_REPORT_contacts, (double)s->contacts);
    mn_report_set(report, MN_REPORT_contact_energy, s->contact_energy);
    if (s->contacts > 0) mn_report_set(report, MN_REPORT_smallest_gap, s->smallest_gap);
    if (s->is_ready) mn_report_set(report, MN_REPORT_elastic_energy, mn_elastic_potential(s));
    mn_report_set(report, MN_REPORT_max_speed, speed);
}

/// Pinned points and colliders that move do work, and so do forces. What touches is where it should be to the
/// distance that contact begins at.
static void tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    const mn_elastic *s = (const mn_elastic *)solver;
    const mn_elastic_inputs *own = inputs->own;
    double mass = 0;
    books->driven |= own && own->forces;
    for (int64_t i = 0; i < s->mass.count; i++) mass += s->mass.data[i];
    books->noise = mass * mn_norm(s->def.gravity) * s->distance;
    for (int64_t i = 0; i < s->x.count && !books->driven; i++)
        if (s->flags.data[i] & MN_NODE_FIXED)
            books->driven = mn_distance(s->target_begin.data[i], s->target_end.data[i]) > 0;
    books->stored = s->contact_energy + (s->is_ready ? mn_elastic_potential(s) : 0);
}

// ---- saving ----

static const mn_saved saved[] = {
    MN_SAVED_F64(mn_elastic, solver.time, 1),  MN_SAVED_F64(mn_elastic, dt_old, 1),
    MN_SAVED_ARRAY(mn_elastic, x, 1),          MN_SAVED_ARRAY(mn_elastic, v, 1),
    MN_SAVED_ARRAY(mn_elastic, x_old, 1),      MN_SAVED_ARRAY(mn_elastic, v_old, 1),
    MN_SAVED_ARRAY(mn_elastic, mass, 1),       MN_SAVED_ARRAY(mn_elastic, flags, 1),
    MN_SAVED_ARRAY(mn_elastic, anchor, 1),     MN_SAVED_ARRAY(mn_elastic, rest, 1),
    MN_SAVED_ARRAY(mn_elastic, point_body, 1), MN_SAVED_ARRAY(mn_elastic, triangle, 1),
    MN_SAVED_ARRAY(mn_elastic, part, 1),       MN_SAVED_ARRAY(mn_elastic, element, 1),
    MN_SAVED_ARRAY(mn_elastic, tie, 1),        MN_SAVED_ARRAY(mn_elastic, point_force, 1),
    MN_SAVED_F64(mn_elastic, pace, 2),
};

static bool in_range(int64_t value, int64_t count)
{
    return value >= 0 && value < count;
}

/// Whether every index points at something and every number is one.
static bool is_sound(const mn_elastic *s)
{
    const int64_t nodes = s->x.count, points = s->anchor.count, parts = s->part.count;
    if (s->v.count != nodes || s->x_old.count != nodes || s->v_old.count != nodes || s->mass.count != nodes ||
        s->flags.count != nodes || s->rest.count != points || s->point_body.count != points ||
        s->triangle.count % 3 != 0 || (s->point_force.count != points && s->point_force.count != 0) ||
        !(s->dt_old >= 0 && s->dt_old < 1e9) || !(s->pace >= 0 && s->pace < 1e9))
        return false;
    for (int64_t i = 0; i < nodes; i++)
        if (!mn_is_finite3(s->x.data[i]) || !mn_is_finite3(s->v.data[i]) ||
            !mn_is_finite3(s->x_old.data[i]) || !mn_is_finite3(s->v_old.data[i]) ||
            !(s->mass.data[i] >= 0 && s->mass.data[i] < 1e30) ||
            (s->mass.data[i] == 0 && !(s->flags.data[i] & MN_NODE_FIXED)))
            return false;
    for (int64_t i = 0; i < points; i++) {
        const mn_anchor *a = &s->anchor.data[i];
        if (!in_range(s->point_body.data[i], parts) || !in_range(a->node[0], nodes) ||
            !mn_is_finite3(s->rest.data[i]))
            return false;
        for (int k = 0; k < 4; k++)
            if (a->node[k] < -1 || a->node[k] >= nodes || !isfinite(a->weight[k]) ||
                (a->node[1] >= 0 && a->node[k] < 0))
                return false;
    }
    for (int64_t i = 0; i < s->triangle.count; i++)
        if (!in_range(s->triangle.data[i], points)) return false;
    for (int64_t i = 0; i < s->element.count; i++) {
        const mn_element *e = &s->element.data[i];
        if (!in_range(e->body, parts) || !in_range(e->type, MN_ELEMENT_TYPES) || e->model < -1 ||
            e->model > 2)
            return false;
        for (int k = 0; k < 4; k++)
            if (e->node[k] < (k == 3 && e->type == MN_ELEMENT_SHEET ? -1 : 0) || e->node[k] >= nodes ||
                !mn_is_finite3(e->gradient[k]))
                return false;
        if (!isfinite(e->weight + e->mu + e->lambda + e->viscous + e->rest_angle)) return false;
    }
    for (int64_t i = 0; i < parts; i++) {
        const mn_elastic_part *p = &s->part.data[i];
        if (!in_range(p->kind, 4) || !in_range(p->first_node, nodes) || !in_range(p->first_point, points) ||
            p->node_count < 0 || p->point_count < 0 || p->first_point + (int64_t)p->point_count > points ||
            p->first_node + (int64_t)p->node_count > nodes || !(p->stiffness > 0) || !(p->size >= 0) ||
            !(p->thickness > 0))
            return false;
    }
    for (int64_t i = 0; i < s->tie.count; i++)
        if (!in_range(s->tie.data[i].a, points) || !in_range(s->tie.data[i].b, points)) return false;
    return true;
}

static mn_status loaded(mn_solver *solver)
{
    mn_elastic *s = (mn_elastic *)solver;
    if (!is_sound(s)) return mn_fail(solver->ctx, MN_ERROR_FORMAT, "The saved elastic bodies are damaged.");
    return MN_OK;
}

const mn_solver_type mn_elastic_solver = {
    .name = "elastic",
    .fields = mn_elastic_fields,
    .field_count = MN_ELASTIC_FIELD_COUNT,
    .def_size = sizeof(mn_elastic_def),
    .sized = true,
    .state_size = sizeof(mn_elastic),
    .def_offset = offsetof(mn_elastic, def),
    .takes = MN_TAKES_OWN,
    .output_count = 2,
    .init = init,
    .free = release,
    .set_def = set_def,
    .begin = mn_elastic_begin,
    .limit = mn_elastic_limit,
    .attempt = mn_elastic_attempt,
    .commit = mn_elastic_commit,
    .end = mn_elastic_end,
    .view = mn_elastic_show,
    .report = report_on,
    .energy = tell_energy,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 2,
    .oldest = 1,
    .loaded = loaded,
};

// ---- the typed face ----

MN_SOLVER_FACE_CREATE(elastic)
MN_SOLVER_FACE(elastic)

mn_status mn_elastic_advance(mn_elastic *elastic, const mn_elastic_inputs *inputs, double dt)
{
    const mn_solver_inputs all = {.own = inputs};
    return mn_solver_advance(&mn_elastic_solver, &elastic->solver, &all, dt);
}
