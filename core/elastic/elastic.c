// SPDX-License-Identifier: Apache-2.0
//
// The life of elastic bodies: their def and its checks, what they hold, their report and their stream.
#include "base/point_sums.h"
#include "contact/barrier.h"
#include "elastic/elastic_state.h"

#include <string.h>

enum { SAVE_VERSION = 1 };

mn_elastic_def mn_elastic_default_def(void)
{
    return (mn_elastic_def){
        .density = 1000,
        .young = 1e5,
        .poisson = 0.4,
        .model = MN_ELASTIC_NEO_HOOKEAN,
        .damping = 0,
        .friction = 0.3,
        .thickness = 0.001,
        .bending = 1,
        .prestress = 0,
        .contact_distance = 0,
        .self_contact = true,
        .integrator = MN_ELASTIC_BDF2,
        .gravity = {0, -9.81, 0},
        .max_dt = 0.004,
        .min_substeps = 1,
        .max_substeps = 100000,
    };
}

static mn_status check_def(mn_context *ctx, const mn_elastic_def *d)
{
    MN_TRY(mn_check_number(ctx, "density", d->density, 0, 1e9, false));
    MN_TRY(mn_check_number(ctx, "young", d->young, 0, 1e15, false));
    MN_TRY(mn_check_number(ctx, "poisson", d->poisson, -1, 0.4999, false));
    MN_TRY(mn_check_number(ctx, "damping", d->damping, 0, 1e6, true));
    MN_TRY(mn_check_number(ctx, "friction", d->friction, 0, 1e9, true));
    MN_TRY(mn_check_number(ctx, "thickness", d->thickness, 0, 1e6, false));
    MN_TRY(mn_check_number(ctx, "bending", d->bending, 0, 1e9, true));
    MN_TRY(mn_check_number(ctx, "prestress", d->prestress, 0, 1e12, true));
    MN_TRY(mn_check_number(ctx, "contact_distance", d->contact_distance, 0, 1e6, true));
    MN_TRY(mn_check_number(ctx, "max_dt", d->max_dt, 0, 1e6, false));
    MN_TRY(mn_check_number(ctx, "min_substeps", d->min_substeps, 1, 1e9, true));
    MN_TRY(mn_check_number(ctx, "max_substeps", d->max_substeps, 1, 1e10, true));
    if (!mn_is_finite3(d->gravity)) return mn_fail(ctx, MN_ERROR_ARGUMENT, "gravity must be finite numbers.");
    return MN_OK;
}

mn_status mn_elastic_create(mn_context *ctx, const mn_elastic_def *def, mn_elastic **out)
{
    *out = NULL;
    MN_TRY(check_def(ctx, def));
    mn_elastic *s = mn_allocate_zero(ctx, sizeof *s);
    if (!s) return MN_ERROR_MEMORY;
    s->ctx = ctx, s->def = *def, s->smallest_gap = INFINITY;
    const mn_status status = mn_contact_create(ctx, &s->contact);
    if (status != MN_OK)
        mn_elastic_free(s);
    else
        *out = s;
    return status;
}

void mn_elastic_free(mn_elastic *s)
{
    if (!s) return;
    mn_context *ctx = s->ctx;
    mn_vec3s *vectors[] = {
        &s->x,     &s->v,           &s->x_old,      &s->v_old,    &s->target_begin, &s->target_end,
        &s->force, &s->rest,        &s->point_x,    &s->point_v,  &s->point_force,  &s->reference,
        &s->trial, &s->trial_point, &s->step_point, &s->dx,       &s->x_start,      &s->x_tilde,
        &s->x_hat, &s->goal,        &s->backup_x,   &s->backup_v, &s->backup_x_old, &s->backup_v_old};
    for (size_t i = 0; i < sizeof vectors / sizeof *vectors; i++) mn_array_free(ctx, vectors[i]);
    mn_doubles *doubles[] = {
        &s->mass,        &s->point_stress, &s->point_share, &s->element_gradient, &s->element_stiffness,
        &s->element_old, &s->reach,        &s->gradient,    &s->direction};
    for (size_t i = 0; i < sizeof doubles / sizeof *doubles; i++) mn_array_free(ctx, doubles[i]);
    mn_indices *indices[] = {&s->point_body, &s->triangle, &s->around,      &s->entry_row, &s->entry_at,
                             &s->unknown,    &s->order,    &s->block_order, &s->island};
    for (size_t i = 0; i < sizeof indices / sizeof *indices; i++) mn_array_free(ctx, indices[i]);
    mn_array_free(ctx, &s->flags);
    mn_array_free(ctx, &s->anchor);
    mn_array_free(ctx, &s->part);
    mn_array_free(ctx, &s->element);
    mn_array_free(ctx, &s->tie);
    mn_array_free(ctx, &s->around_start);
    mn_array_free(ctx, &s->terms);
    mn_array_free(ctx, &s->lag_terms);
    mn_array_free(ctx, &s->lagged);
    mn_array_free(ctx, &s->row);
    mn_array_free(ctx, &s->entry);
    mn_array_free(ctx, &s->entry_start);
    mn_array_free(ctx, &s->islands);
    mn_elastic_free_system(s);
    mn_contact_free(s->contact);
    mn_release(ctx, s, sizeof *s);
}

mn_status mn_elastic_set_def(mn_elastic *s, const mn_elastic_def *def)
{
    MN_TRY(check_def(s->ctx, def));
    if (def->contact_distance != s->def.contact_distance || def->self_contact != s->def.self_contact)
        s->is_ready = false;
    s->def = *def;
    return MN_OK;
}

// ---- getting ready ----

static mn_status resize_all(mn_elastic *s)
{
    const int64_t nodes = s->x.count, points = s->anchor.count, elements = s->element.count;
    mn_vec3s *of_nodes[] = {&s->target_begin, &s->target_end,   &s->force,       &s->trial, &s->dx,
                            &s->x_start,      &s->x_tilde,      &s->x_hat,       &s->goal,  &s->backup_x,
                            &s->backup_v,     &s->backup_x_old, &s->backup_v_old};
    mn_vec3s *of_points[] = {&s->point_x,   &s->point_v,     &s->point_force,
                             &s->reference, &s->trial_point, &s->step_point};
    for (size_t i = 0; i < sizeof of_nodes / sizeof *of_nodes; i++)
        MN_TRY(mn_array_resize(s->ctx, of_nodes[i], nodes));
    for (size_t i = 0; i < sizeof of_points / sizeof *of_points; i++)
        MN_TRY(mn_array_resize(s->ctx, of_points[i], points));
    for (int64_t i = 0; i < points; i++) s->point_force.data[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < nodes; i++) s->force.data[i] = mn_v3(0, 0, 0);
    MN_TRY(mn_array_resize(s->ctx, &s->point_stress, points));
    MN_TRY(mn_array_resize(s->ctx, &s->point_share, points));
    MN_TRY(mn_array_resize(s->ctx, &s->reach, points));
    MN_TRY(mn_array_resize(s->ctx, &s->gradient, 3 * nodes));
    MN_TRY(mn_array_resize(s->ctx, &s->element_gradient, 12 * elements));
    MN_TRY(mn_array_resize(s->ctx, &s->element_stiffness, 144 * elements));
    MN_TRY(mn_array_resize(s->ctx, &s->element_old, 6 * elements));
    for (int64_t i = 0; i < 6 * elements; i++) s->element_old.data[i] = 0;
    return MN_OK;
}

static mn_status list_around(mn_elastic *s)
{
    const int64_t nodes = s->x.count;
    MN_TRY(mn_array_resize(s->ctx, &s->around_start, nodes + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->around, 4 * s->element.count));
    MN_TRY(mn_array_resize(s->ctx, &s->unknown, nodes));
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
    MN_TRY_TO(done, status, mn_array_resize(s->ctx, &flags, groups));
    MN_TRY_TO(done, status, mn_array_resize(s->ctx, &stiffness, groups));
    for (int32_t i = 0; i < groups; i++) {
        const mn_elastic_part *p = &s->part.data[i];
        const bool soft = p->kind == MN_ELASTIC_SOLID || p->kind == MN_ELASTIC_CLOTH;
        flags.data[i] = soft && s->def.self_contact ? MN_CONTACT_SELF : 0;
        if (p->kind == MN_ELASTIC_COLLIDER) flags.data[i] |= MN_CONTACT_FIXED;
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
    mn_array_free(s->ctx, &flags);
    mn_array_free(s->ctx, &stiffness);
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
            s->ctx, MN_ERROR_INPUT,
            "Body %d (%s) intersects or touches itself near (%.4g, %.4g, %.4g); unfold it there, or "
            "turn self_contact off.",
            a, names[s->part.data[a].kind], x.x, x.y, x.z);
    return mn_fail(
        s->ctx, MN_ERROR_INPUT,
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
    for (int64_t i = 0; i < s->anchor.count; i++) s->reach.data[i] = 0;
    MN_TRY(mn_contact_find_candidates(s->contact, s->point_x.data, s->reach.data, s->distance));
    MN_TRY(mn_contact_collect(s->contact, s->point_x.data, s->distance, &s->terms));
    for (int64_t i = 0; i < s->terms.count; i++) {
        const mn_contact_term *t = &s->terms.data[i];
        n->contact_energy += t->mollifier * t->weight * mn_barrier(t->near.distance, s->distance, NULL, NULL);
        n->smallest_gap = fmin(n->smallest_gap, t->near.distance);
    }
    n->contacts = s->terms.count;
    n->elastic_energy = mn_elastic_potential(s);
    for (int64_t i = 0; i < s->x.count; i++)
        n->gravity_energy -= s->mass.data[i] * mn_dot(s->def.gravity, s->x.data[i]);
    return MN_OK;
}

void mn_elastic_report(const mn_elastic *s, mn_report *report)
{
    double sums[MN_SUM_COUNT] = {0}, speed = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        if (!(s->flags.data[i] & MN_NODE_FIXED))
            mn_sum_point(sums, s->mass.data[i], s->x.data[i], s->v.data[i]);
        speed = fmax(speed, mn_norm(s->v.data[i]));
    }
    mn_report_set(report, MN_REPORT_substeps, (double)s->substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)s->rollbacks);
    mn_report_set(report, MN_REPORT_newton_iterations, (double)s->newton_iterations);
    if (s->substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, s->dt_min);
        mn_report_set(report, MN_REPORT_dt_max, s->dt_max);
    }
    mn_report_point_sums(report, sums);
    mn_report_set(report, MN_REPORT_max_speed, speed);
    report->seconds = s->seconds;
}

// ---- saving ----

mn_status mn_elastic_save(const mn_elastic *s, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, "elastic", SAVE_VERSION));
    MN_TRY(mn_write_f64(out, s->dt_old));
    MN_TRY(mn_write_array(out, &s->x));
    MN_TRY(mn_write_array(out, &s->v));
    MN_TRY(mn_write_array(out, &s->x_old));
    MN_TRY(mn_write_array(out, &s->v_old));
    MN_TRY(mn_write_array(out, &s->mass));
    MN_TRY(mn_write_array(out, &s->flags));
    MN_TRY(mn_write_array(out, &s->anchor));
    MN_TRY(mn_write_array(out, &s->rest));
    MN_TRY(mn_write_array(out, &s->point_body));
    MN_TRY(mn_write_array(out, &s->triangle));
    MN_TRY(mn_write_array(out, &s->part));
    MN_TRY(mn_write_array(out, &s->element));
    MN_TRY(mn_write_array(out, &s->tie));
    MN_TRY(mn_write_f64(out, s->smallest_gap));
    return mn_write_i64(out, s->is_ready);
}

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
        s->triangle.count % 3 != 0 || !(s->dt_old >= 0 && s->dt_old < 1e9))
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
        if (!in_range(e->body, parts) || !in_range(e->type, 3) || e->model < -1 || e->model > 2) return false;
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

static mn_status load_into(mn_elastic *s, mn_reader *in)
{
    int32_t version;
    int64_t ready;
    MN_TRY(mn_read_tag(in, "elastic", SAVE_VERSION, &version));
    MN_TRY(mn_read_f64(in, &s->dt_old));
    MN_TRY(mn_read_array(in, &s->x));
    MN_TRY(mn_read_array(in, &s->v));
    MN_TRY(mn_read_array(in, &s->x_old));
    MN_TRY(mn_read_array(in, &s->v_old));
    MN_TRY(mn_read_array(in, &s->mass));
    MN_TRY(mn_read_array(in, &s->flags));
    MN_TRY(mn_read_array(in, &s->anchor));
    MN_TRY(mn_read_array(in, &s->rest));
    MN_TRY(mn_read_array(in, &s->point_body));
    MN_TRY(mn_read_array(in, &s->triangle));
    MN_TRY(mn_read_array(in, &s->part));
    MN_TRY(mn_read_array(in, &s->element));
    MN_TRY(mn_read_array(in, &s->tie));
    MN_TRY(mn_read_f64(in, &s->smallest_gap));
    MN_TRY(mn_read_i64(in, &ready));
    if (!is_sound(s)) return mn_fail(s->ctx, MN_ERROR_FORMAT, "The saved elastic bodies are damaged.");
    return MN_OK;
}

mn_status mn_elastic_load(mn_context *ctx, const mn_elastic_def *def, mn_reader *in, mn_elastic **out)
{
    mn_elastic *s;
    *out = NULL;
    MN_TRY(mn_elastic_create(ctx, def, &s));
    const mn_status status = load_into(s, in);
    if (status != MN_OK)
        mn_elastic_free(s);
    else
        *out = s;
    return status;
}
