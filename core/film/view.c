// SPDX-License-Identifier: Apache-2.0
//
// What a film solver shows: its points, films, threads and pockets, and the sums of a report and of energy.
#include "base/elementary.h"
#include "base/energy_watch.h"
#include "film/film_state.h"
#include "meniscus/array.h"

static const double PI = MN_PI;

static void show_vertex(mn_film *film, int32_t v)
{
    const mn_complex *c = &film->c;
    const mn_complex_vertex *vertex = &c->vertices.data[v];
    mn_film_point *p = &film->shown.data[v];
    double area = 0, length = 0, excess = 0;
    mn_vec3 normal = {0};
    for (int32_t at = vertex->first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        const mn_complex_triangle *t = &c->triangles.data[at / 3];
        const mn_vec3 n2 = mn_complex_normal2(c, at / 3);
        area += mn_complex_is_film(c, at / 3) ? mn_norm(n2) / 6 : 0;
        normal = mn_add(normal, n2);
        for (int side = 0; side < 2; side++)
            if (t->region[side] != MN_COMPLEX_LIQUID)
                excess = fmax(excess, film->pockets.data[t->region[side]].excess);
    }
    for (int32_t at = vertex->first_segment; at >= 0; at = c->segments.data[at / 2].next[at % 2]) {
        const mn_vec3 e = mn_sub(mn_complex_position(c, c->segments.data[at / 2].v[1]),
                                 mn_complex_position(c, c->segments.data[at / 2].v[0]));
        length += 0.5 * mn_norm(e);
        if (area == 0) normal = mn_add(normal, at % 2 ? e : e);
    }
    // Where a film has next to no area it looks like the drop of its liquid.
    const double volume = vertex->mass / film->def.density, ball = mn_cbrt(6 * volume / PI);
    *p = (mn_film_point){.position = vertex->position,
                         .velocity = vertex->velocity,
                         .normal = mn_normalize(normal),
                         .mass = mn_complex_inertia(vertex),
                         .pressure = vertex->first_tet >= 0 ? vertex->pressure : excess,
                         .id = vertex->id,
                         .kind = (int32_t)mn_complex_class_of(c, v),
                         .codim = vertex->first_tet >= 0 ? 0
                                  : area > 0             ? 1
                                  : length > 0           ? 2
                                                         : 3};
    p->thickness = area > 0                 ? fmin(volume / area, ball)
                   : vertex->first_tet >= 0 ? 0
                   : length > 0             ? 2 * sqrt(volume / (PI * length))
                                            : ball;
    p->radius = 0.5 * p->thickness;
}

mn_status mn_film_get_view(mn_film *film, mn_film_view *view)
{
    mn_context *ctx = film->solver.ctx;
    const mn_complex *c = &film->c;
    const int64_t n = c->vertices.count, s = c->segments.count, tets = c->tets.count;
    const int64_t b = film->pockets.count;
    int64_t t = 0; // films; the surface of a volume is shown by its tetrahedra
    for (int64_t i = 0; i < c->triangles.count; i++) t += mn_complex_is_film(c, (int32_t)i);
    MN_TRY(mn_array_resize(ctx, &film->shown, n));
    MN_TRY(mn_array_resize(ctx, &film->shown_triangles, 3 * t));
    MN_TRY(mn_array_resize(ctx, &film->shown_regions, 2 * (t + s + tets)));
    mn_fill_bytes(film->shown_regions.data, 0, mn_bytes(2 * (t + s + tets), sizeof(int32_t)));
    MN_TRY(mn_array_resize(ctx, &film->shown_segments, 2 * s));
    MN_TRY(mn_array_resize(ctx, &film->shown_tets, 4 * tets));
    MN_TRY(mn_array_resize(ctx, &film->shown_volumes, b));
    MN_TRY(mn_array_resize(ctx, &film->shown_excess, b));
    MN_TRY(mn_array_resize(ctx, &film->shown_amounts, b));
    for (int64_t v = 0; v < n; v++) show_vertex(film, (int32_t)v);
    for (int64_t i = 0, at = 0; i < c->triangles.count; i++) {
        if (!mn_complex_is_film(c, (int32_t)i)) continue;
        for (int k = 0; k < 3; k++) film->shown_triangles.data[3 * at + k] = c->triangles.data[i].v[k];
        for (int k = 0; k < 2; k++) film->shown_regions.data[2 * at + k] = c->triangles.data[i].region[k];
        at++;
    }
    for (int64_t i = 0; i < s; i++)
        for (int k = 0; k < 2; k++) film->shown_segments.data[2 * i + k] = c->segments.data[i].v[k];
    for (int64_t i = 0; i < tets; i++)
        for (int k = 0; k < 4; k++) film->shown_tets.data[4 * i + k] = c->tets.data[i].v[k];
    for (int64_t i = 0; i < b; i++) {
        film->shown_volumes.data[i] = film->pockets.data[i].volume;
        film->shown_excess.data[i] = film->pockets.data[i].excess;
        film->shown_amounts.data[i] = film->pockets.data[i].amount;
    }
    *view = (mn_film_view){.count = n,
                           .points = film->shown.data,
                           .triangle_count = t,
                           .triangles = (const int32_t(*)[3])film->shown_triangles.data,
                           .regions = (const int32_t(*)[2])film->shown_regions.data,
                           .segment_count = s,
                           .segments = (const int32_t(*)[2])film->shown_segments.data,
                           .pocket_count = b,
                           .pocket_volumes = film->shown_volumes.data,
                           .pocket_excess = film->shown_excess.data,
                           .pocket_amounts = film->shown_amounts.data,
                           .tet_count = tets,
                           .tets = (const int32_t(*)[4])film->shown_tets.data};
    return MN_OK;
}

void mn_film_add_up(const mn_solver *solver, mn_report *report)
{
    const mn_film *film = (const mn_film *)solver;
    const mn_complex *c = &film->c;
    double mass = 0, area = 0, energy = 0, kinetic = 0, fastest = 0;
    mn_vec3 momentum = {0}, angular = {0}, center = {0};
    for (int64_t v = 0; v < c->vertices.count; v++) {
        const mn_complex_vertex *vertex = &c->vertices.data[v];
        const double own = mn_complex_inertia(vertex);
        const mn_vec3 p = mn_scale(own, vertex->velocity);
        mass += own;
        momentum = mn_add(momentum, p);
        angular = mn_add(angular, mn_cross(vertex->position, p));
        center = mn_axpy(center, own, vertex->position);
        kinetic += 0.5 * mn_dot(p, vertex->velocity);
        fastest = fmax(fastest, mn_norm(vertex->velocity));
    }
    for (int32_t t = 0; t < (int32_t)c->triangles.count; t++) {
        const double a = mn_complex_area(c, t), sides = mn_complex_is_film(c, t) ? 2 : 1;
        area += a, energy += sides * film->def.sigma * a;
    }
    if (c->tets.count > 0) {
        kinetic += mn_film_bulk_kinetic(film);
        angular = mn_add(angular, mn_film_bulk_angular(film, NULL, NULL, mn_v3(0, 0, 0)));
    }
    mn_report_set(report, MN_REPORT_particles, (double)c->vertices.count);
    mn_report_set(report, MN_REPORT_mass, mass);
    mn_report_set(report, MN_REPORT_volume, mass / film->def.density);
    mn_report_set(report, MN_REPORT_area, area);
    mn_report_set3(report, MN_REPORT_momentum, momentum);
    mn_report_set3(report, MN_REPORT_angular_momentum, angular);
    mn_report_set3(report, MN_REPORT_center, mass > 0 ? mn_scale(1 / mass, center) : center);
    mn_report_set(report, MN_REPORT_kinetic_energy, kinetic);
    mn_report_set(report, MN_REPORT_surface_energy, energy);
    mn_report_set(report, MN_REPORT_max_speed, fastest);
}

static const mn_column_def columns_shown[] = {
    {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_film_point, position)},
    {"v", MN_F32, 3, MN_HINT_VECTOR, MN_COLUMN_AT(mn_film_point, velocity)},
    {"N", MN_F32, 3, MN_HINT_NORMAL, MN_COLUMN_AT(mn_film_point, normal)},
    {"thickness", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, thickness)},
    {"pscale", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, radius)},
    {"mass", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, mass)},
    {"pressure", MN_F32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, pressure)},
    {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, id)},
    {"border", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, kind)},
    {"codim", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_film_point, codim)},
};

mn_status mn_film_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view)
{
    mn_film *film = (mn_film *)solver;
    mn_film_view v;
    (void)inputs, (void)output;
    MN_TRY(mn_film_get_view(film, &v));
    mn_view_rows(view, v.count, sizeof(mn_film_point), v.points, columns_shown, MN_COUNT_OF(columns_shown));
    mn_view_primitives(view, MN_POLYGON, 3, v.triangle_count, film->shown_triangles.data);
    mn_view_primitives(view, MN_POLYLINE, 2, v.segment_count, film->shown_segments.data);
    mn_view_primitives(view, MN_TETRAHEDRON, 4, v.tet_count, film->shown_tets.data);
    mn_view_primitive_column(view, (mn_column_view){.name = "region",
                                                    .type = MN_I32,
                                                    .size = 2,
                                                    .storage = MN_STORE_I32,
                                                    .data = film->shown_regions.data,
                                                    .stride = 2 * sizeof(int32_t)});
    return MN_OK;
}

/// Wires and pinned points that move, gas that is blown in and wind do work. What Gibbs' elasticity stores is
/// not told: it is of the order of its tension times the area.
void mn_film_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books)
{
    const mn_film *film = (const mn_film *)solver;
    const mn_film_inputs *own = inputs->own;
    double area = 0;
    books->driven |= mn_norm(film->def.wind) > 0 && film->def.drag > 0;
    if (own) books->driven |= own->inflow_count > 0 || (own->prick_count > 0 && fabs(film->def.inflow) > 0);
    for (int64_t v = 0; v < film->c.vertices.count && !books->driven; v++) {
        const mn_complex_vertex *vertex = &film->c.vertices.data[v];
        books->driven = mn_complex_held(&film->c, (int32_t)v) && mn_norm(vertex->velocity) > 0;
    }
    for (int64_t b = 1; b < film->pockets.count; b++)
        books->stored += mn_gas_energy(film->pockets.data[b].amount,
                                       film->def.ambient_pressure + film->pockets.data[b].excess,
                                       film->def.ambient_pressure);
    for (int64_t t = 0; t < film->c.triangles.count; t++) area += mn_complex_area(&film->c, (int32_t)t);
    books->noise = film->def.gibbs * film->def.sigma * area;
}
