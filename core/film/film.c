// SPDX-License-Identifier: Apache-2.0
//
// A film solver's life: made, given films and wires, looked at, saved and loaded. Its advance is advance.c.
#include "base/elementary.h"
#include "base/solver_face.h"
#include "film/film_state.h"
#include "meniscus/array.h"
#include "meniscus/tetmesh.h"

#include <stdlib.h>
#include <string.h>

static const double PI = MN_PI;
static const double ON_WIRE = 0.02; // of the size: films nearer to a wire when they are added are held by it

// ---- life ----

static mn_status init(mn_solver *solver)
{
    mn_film *film = (mn_film *)solver;
    film->stale = true;
    film->next_dt = film->def.max_dt;
    film->travelled = 1e300;
    film->bulk.left_quality = film->bulk.left_shortest = 1e300;
    mn_complex_init(&film->c, solver->ctx);
    const mn_film_pocket outside = {0};
    MN_TRY(mn_array_push(solver->ctx, &film->pockets, &outside));
    return mn_krylov_create(solver->ctx, &film->krylov);
}

static void release(mn_solver *solver)
{
    mn_film *film = (mn_film *)solver;
    mn_context *ctx = solver->ctx;
    if (film->c.ctx) mn_complex_free(&film->c);
    mn_film_system_free(ctx, &film->system);
    mn_film_bulk_free(ctx, &film->bulk);
    mn_film_preconditioner_free(ctx, &film->preconditioner);
    mn_film_touch_free(ctx, &film->touch);
    mn_krylov_free(film->krylov);
    mn_array_free(ctx, &film->pockets);
    mn_array_free(ctx, &film->frame);
    mn_array_free(ctx, &film->frame_end);
    mn_array_free(ctx, &film->x0);
    mn_array_free(ctx, &film->x1);
    mn_array_free(ctx, &film->v0);
    mn_array_free(ctx, &film->d);
    mn_array_free(ctx, &film->right);
    mn_array_free(ctx, &film->scratch);
    mn_array_free(ctx, &film->base);
    mn_array_free(ctx, &film->mass);
    mn_array_free(ctx, &film->inverse);
    mn_array_free(ctx, &film->drag);
    mn_array_free(ctx, &film->wind);
    mn_array_free(ctx, &film->rim_force);
    mn_array_free(ctx, &film->drained);
    mn_array_free(ctx, &film->excess);
    mn_array_free(ctx, &film->stiffness);
    mn_array_free(ctx, &film->part);
    mn_array_free(ctx, &film->measured);
    mn_array_free(ctx, &film->foreseen);
    mn_array_free(ctx, &film->shape);
    mn_array_free(ctx, &film->windward);
    mn_array_free(ctx, &film->bodies.parent);
    mn_array_free(ctx, &film->bodies.volume);
    mn_array_free(ctx, &film->bodies.region);
    mn_array_free(ctx, &film->bodies.drop);
    mn_array_free(ctx, &film->thin.mark);
    mn_array_free(ctx, &film->thin.tets);
    mn_array_free(ctx, &film->thin.faces);
    mn_array_free(ctx, &film->thin.walls);
    mn_array_free(ctx, &film->thin.inner);
    film->grid.ctx = ctx;
    mn_box_grid_free(&film->grid);
    mn_array_free(ctx, &film->found);
    mn_array_free(ctx, &film->mouths);
    mn_array_free(ctx, &film->inlets);
    mn_array_free(ctx, &film->arc);
    mn_array_free(ctx, &film->row);
    mn_array_free(ctx, &film->next_row);
    mn_array_free(ctx, &film->shown);
    mn_array_free(ctx, &film->shown_triangles);
    mn_array_free(ctx, &film->shown_regions);
    mn_array_free(ctx, &film->shown_segments);
    mn_array_free(ctx, &film->shown_tets);
    mn_array_free(ctx, &film->shown_volumes);
    mn_array_free(ctx, &film->shown_excess);
    mn_array_free(ctx, &film->shown_amounts);
}

static mn_status set_def(mn_solver *solver, const void *def)
{
    mn_film *film = (mn_film *)solver;
    const mn_film_def *next = def;
    if (next->size != film->def.size && film->c.vertices.count > 0)
        return mn_fail(solver->ctx, MN_ERROR_ARGUMENT,
                       "The size of films cannot change while they are simulated.");
    film->next_dt = fmin(film->next_dt, next->max_dt);
    return MN_OK;
}

// ---- wires ----

static int by_ends(const void *a, const void *b)
{
    const mn_complex_wire *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static mn_status add_wire(mn_film *film, int32_t a, int32_t b)
{
    const mn_complex_wire wire = {a < b ? a : b, a < b ? b : a};
    return a == b ? MN_OK : mn_array_push(film->solver.ctx, &film->c.wires, &wire);
}

static void sort_wires(mn_film *film)
{
    if (film->c.wires.count > 1)
        qsort(film->c.wires.data, (size_t)film->c.wires.count, sizeof(mn_complex_wire), by_ends);
}

mn_status mn_film_set_frame(mn_film *film, const mn_film_frame *frame)
{
    if (film->frame.count > 0)
        return mn_fail(film->solver.ctx, MN_ERROR_ARGUMENT,
                       "The film already has a frame; set it once, before films.");
    for (int64_t i = 0; i < frame->point_count; i++)
        if (!mn_is_finite3(frame->positions[i]))
            return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                           "Point %lld of the frame has a position that is not finite.", (long long)i);
    for (int64_t i = 0; i < frame->edge_count; i++)
        for (int k = 0; k < 2; k++)
            if (frame->edges[i][k] < 0 || frame->edges[i][k] >= frame->point_count)
                return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                               "Wire %lld of the frame ends at point %d, which is not there.", (long long)i,
                               frame->edges[i][k]);
    for (int64_t i = 0; i < frame->point_count; i++)
        MN_TRY(mn_array_push(film->solver.ctx, &film->frame, &frame->positions[i]));
    for (int64_t i = 0; i < frame->edge_count; i++)
        MN_TRY(add_wire(film, frame->edges[i][0], frame->edges[i][1]));
    sort_wires(film);
    film->frame_points = frame->point_count;
    return MN_OK;
}

// Holds the vertex by the nearest wire that it touches.
static bool hold(const mn_film *film, mn_complex_vertex *v)
{
    double least = ON_WIRE * film->def.size;
    for (int64_t i = 0; i < film->frame_points; i++) {
        const double d = mn_distance(v->position, film->frame.data[i]);
        if (d <= least) least = d, v->wire[0] = v->wire[1] = (int32_t)i, v->along = 0;
    }
    if (v->wire[0] >= 0) return true;
    for (int64_t i = 0; i < film->c.wires.count; i++) {
        const mn_complex_wire *w = &film->c.wires.data[i];
        if (w->b >= film->frame_points) continue;
        const mn_vec3 a = film->frame.data[w->a], e = mn_sub(film->frame.data[w->b], a);
        const double t = fmin(1, fmax(0, mn_dot(mn_sub(v->position, a), e) / fmax(mn_norm2(e), 1e-300)));
        const double d = mn_distance(v->position, mn_axpy(a, t, e));
        if (d <= least) least = d, v->wire[0] = w->a, v->wire[1] = w->b, v->along = t;
    }
    return v->wire[0] >= 0;
}

// ---- films ----

static mn_status check_source(mn_film *film, const mn_film_source *s)
{
    mn_context *ctx = film->solver.ctx;
    for (int64_t i = 0; i < s->point_count; i++) {
        if (!mn_is_finite3(s->positions[i]) || (s->velocities && !mn_is_finite3(s->velocities[i])))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has a position or velocity that is not finite.",
                           (long long)i);
        if (s->thickness && !(s->thickness[i] >= 0 && s->thickness[i] < 1e6))
            return mn_fail(ctx, MN_ERROR_INPUT, "Point %lld of the film has the thickness %g m.",
                           (long long)i, s->thickness[i]);
        if (s->min_thickness && !(s->min_thickness[i] >= 0 && s->min_thickness[i] < 1e6))
            return mn_fail(ctx, MN_ERROR_INPUT, "Point %lld of the film has the minimum thickness %g m.",
                           (long long)i, s->min_thickness[i]);
    }
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles[t];
        for (int k = 0; k < 3; k++)
            if (v[k] < 0 || v[k] >= s->point_count || v[k] == v[(k + 1) % 3])
                return mn_fail(ctx, MN_ERROR_INPUT,
                               "Triangle %lld of the film does not have three points of its own; remove it.",
                               (long long)t);
        const mn_vec3 a = s->positions[v[0]];
        const mn_vec3 n = mn_cross(mn_sub(s->positions[v[1]], a), mn_sub(s->positions[v[2]], a));
        const double l2 =
            fmax(mn_norm2(mn_sub(s->positions[v[1]], a)), mn_norm2(mn_sub(s->positions[v[2]], a)));
        if (!(mn_norm(n) > 1e-9 * l2))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Triangle %lld of the film has no area; clean the mesh first.", (long long)t);
        if (s->regions && (s->regions[t][0] < 0 || s->regions[t][1] < 0))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Triangle %lld of the film has a negative region; use 0 for the air around.",
                           (long long)t);
    }
    for (int64_t i = 0; i < s->segment_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->segments[i][k] < 0 || s->segments[i][k] >= s->point_count ||
                s->segments[i][0] == s->segments[i][1])
                return mn_fail(ctx, MN_ERROR_INPUT, "Segment %lld does not have two points of its own.",
                               (long long)i);
    for (int64_t t = 0; t < s->tet_count; t++) {
        const int32_t *v = s->tets[t];
        double longest = 0;
        for (int k = 0; k < 6; k++) {
            const int32_t a = v[mn_tet_edge_corners[k][0]], b = v[mn_tet_edge_corners[k][1]];
            if (a < 0 || b < 0 || a >= s->point_count || b >= s->point_count || a == b)
                return mn_fail(ctx, MN_ERROR_INPUT, "Tetrahedron %lld does not have four points of its own.",
                               (long long)t);
            longest = fmax(longest, mn_distance(s->positions[a], s->positions[b]));
        }
        const double volume =
            mn_tet_volume(s->positions[v[0]], s->positions[v[1]], s->positions[v[2]], s->positions[v[3]]);
        if (!(fabs(volume) > 1e-9 * longest * longest * longest))
            return mn_fail(ctx, MN_ERROR_INPUT, "Tetrahedron %lld has no volume; clean the mesh first.",
                           (long long)t);
    }
    return MN_OK;
}

static mn_status add_points(mn_film *film, const mn_film_source *s)
{
    for (int64_t i = 0; i < s->point_count; i++) {
        mn_complex_vertex v = {.position = s->positions[i], .wire = {-1, -1}};
        if (s->velocities) v.velocity = s->velocities[i];
        if (s->min_thickness) v.least = s->min_thickness[i];
        if (s->slides) v.slide = mn_normalize(s->slides[i]);
        const bool held = film->frame_points > 0 && hold(film, &v);
        if (!held && s->pinned && s->pinned[i]) {
            MN_TRY(mn_array_push(film->solver.ctx, &film->frame, &v.position));
            v.wire[0] = v.wire[1] = (int32_t)(film->frame.count - 1);
        }
        if (mn_complex_add_vertex(&film->c, &v) < 0) return MN_ERROR_MEMORY;
    }
    return MN_OK;
}

static bool is_surface(const mn_complex *c, int32_t a, int32_t b, int32_t d)
{
    const int32_t t = mn_complex_find(c, a, b, d, -1);
    return t >= 0 && !mn_complex_is_film(c, t);
}

static mn_status add_tets(mn_film *film, const mn_film_source *s, int32_t first)
{
    const int64_t first_tet = film->c.tets.count;
    for (int64_t t = 0; t < s->tet_count; t++) {
        int32_t v[4];
        for (int k = 0; k < 4; k++) v[k] = first + s->tets[t][k];
        double volume =
            mn_tet_volume(mn_complex_position(&film->c, v[0]), mn_complex_position(&film->c, v[1]),
                          mn_complex_position(&film->c, v[2]), mn_complex_position(&film->c, v[3]));
        if (volume < 0) {
            const int32_t swap = v[2];
            v[2] = v[3], v[3] = swap, volume = -volume;
        }
        if (mn_complex_add_tet(&film->c, v, film->def.density * volume, volume) < 0) return MN_ERROR_MEMORY;
    }
    return mn_complex_close_tets(&film->c, first_tet, 0);
}

static mn_status add_elements(mn_film *film, const mn_film_source *s, int32_t first)
{
    const bool labelled = s->regions && s->tet_count == 0;
    if (s->tet_count > 0) MN_TRY(add_tets(film, s, first));
    for (int64_t t = 0; t < s->triangle_count; t++) {
        const int32_t *v = s->triangles[t];
        // The surface of a volume may come with it: it is there already.
        if (s->tet_count > 0 && is_surface(&film->c, first + v[0], first + v[1], first + v[2])) continue;
        if (mn_complex_add_triangle(&film->c, first + v[0], first + v[1], first + v[2],
                                    labelled ? s->regions[t][0] : 0, labelled ? s->regions[t][1] : 0) < 0)
            return MN_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < s->segment_count; i++)
        if (mn_complex_add_segment(&film->c, first + s->segments[i][0], first + s->segments[i][1]) < 0)
            return MN_ERROR_MEMORY;
    return MN_OK;
}

// Pinned points that are neighbours on the edge of a film are joined by a wire of their own.
static mn_status wire_pinned(mn_film *film, int64_t first_triangle)
{
    mn_complex *c = &film->c;
    for (int64_t t = first_triangle; t < c->triangles.count; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t a = c->triangles.data[t].v[k], b = c->triangles.data[t].v[(k + 1) % 3];
            const int32_t wa = c->vertices.data[a].wire[0], wb = c->vertices.data[b].wire[0];
            if (wa >= film->frame_points && wb >= film->frame_points &&
                mn_complex_edge(c, a, b, NULL, 0) == 1)
                MN_TRY(add_wire(film, wa, wb));
        }
    sort_wires(film);
    return MN_OK;
}

static void weigh(mn_film *film, const mn_film_source *s, int32_t first)
{
    const mn_complex *c = &film->c;
    const double rho = film->def.density;
    for (int32_t v = first; v < (int32_t)c->vertices.count; v++) {
        const double h = s->thickness ? s->thickness[v - first] : film->def.thickness;
        double area = 0, length = 0;
        for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
            area += mn_complex_is_film(c, at / 3) ? mn_complex_area(c, at / 3) / 3 : 0;
        for (int32_t at = c->vertices.data[v].first_segment; at >= 0;
             at = c->segments.data[at / 2].next[at % 2])
            length += 0.5 * mn_distance(mn_complex_position(c, c->segments.data[at / 2].v[0]),
                                        mn_complex_position(c, c->segments.data[at / 2].v[1]));
        const double volume = area > 0               ? h * area
                              : length > 0           ? PI / 4 * h * h * length
                              : mn_complex_wet(c, v) ? 0
                                                     : PI / 6 * h * h * h;
        c->vertices.data[v].mass = rho * volume;
    }
}

mn_status mn_film_add(mn_film *film, const mn_film_source *source)
{
    MN_TRY(check_source(film, source));
    if (film->c.vertices.count + source->point_count > film->def.max_vertices)
        return mn_fail(
            film->solver.ctx, MN_ERROR_INPUT, "The film has %lld points; at most %lld are allowed.",
            (long long)(film->c.vertices.count + source->point_count), (long long)film->def.max_vertices);
    const int32_t first = (int32_t)film->c.vertices.count;
    const int64_t first_triangle = film->c.triangles.count, first_segment = film->c.segments.count;
    const int64_t first_tet = film->c.tets.count;
    mn_status status = add_points(film, source);
    if (status == MN_OK) status = add_elements(film, source, first);
    if (status == MN_OK && source->regions && source->tet_count == 0) {
        // Regions are checked as they were given, then those of this source start without gas.
        status = mn_complex_check(&film->c);
        for (int64_t t = first_triangle; t < film->c.triangles.count; t++)
            for (int k = 0; k < 2; k++)
                if (film->c.triangles.data[t].region[k] > 0)
                    film->c.triangles.data[t].region[k] += (int32_t)film->pockets.count - 1;
    } else if (status == MN_OK) {
        status = mn_complex_check(&film->c);
    }
    if (status == MN_OK) status = wire_pinned(film, first_triangle);
    if (status != MN_OK) { // nothing is added
        while (film->c.triangles.count > first_triangle)
            mn_complex_remove_triangle(&film->c, (int32_t)--film->c.triangles.count);
        while (film->c.segments.count > first_segment)
            mn_complex_remove_segment(&film->c, (int32_t)--film->c.segments.count);
        while (film->c.tets.count > first_tet) mn_complex_remove_tet(&film->c, (int32_t)--film->c.tets.count);
        film->c.vertices.count = first;
        return status;
    }
    weigh(film, source, first);
    film->travelled = 1e300;
    film->stale = true;
    return mn_film_find_pockets(film, true);
}

mn_status mn_film_set_volume(mn_film *film, int32_t region, double volume)
{
    if (region < 1 || region >= film->pockets.count)
        return mn_fail(film->solver.ctx, MN_ERROR_ARGUMENT, "There is no pocket %d; there are %lld.", region,
                       (long long)film->pockets.count - 1);
    MN_TRY(mn_check_number(film->solver.ctx, "volume", volume, 0, 1e12, false));
    film->pockets.data[region].target = volume;
    return MN_OK;
}

mn_status mn_film_check(const mn_film *film)
{
    return mn_complex_check(&film->c);
}

mn_film_ledger mn_film_get_ledger(const mn_film *film)
{
    return film->ledger;
}

// ---- streams ----

static const mn_saved saved[] = {
    MN_SAVED_F64(mn_film, solver.time, 1),
    MN_SAVED_F64(mn_film, def.size, 1),
    MN_SAVED_F64(mn_film, next_dt, 1),
    MN_SAVED_I64(mn_film, c.next_id, 1),
    MN_SAVED_I64(mn_film, frame_points, 1),
    MN_SAVED_ARRAY(mn_film, c.vertices, 1),
    MN_SAVED_ARRAY(mn_film, c.triangles, 1),
    MN_SAVED_ARRAY(mn_film, c.segments, 1),
    MN_SAVED_ARRAY(mn_film, c.wires, 1),
    MN_SAVED_ARRAY(mn_film, pockets, 1),
    MN_SAVED_ARRAY(mn_film, frame, 1),
    MN_SAVED_F64(mn_film, travelled, 1),
    MN_SAVED_ARRAY(mn_film, c.tets, 1),
    MN_SAVED_F64(mn_film, bulk.left_quality, 1),
    MN_SAVED_F64(mn_film, bulk.left_shortest, 1),
    MN_SAVED_F64(mn_film, bulk.left_longest, 1),
    MN_SAVED_ARRAY(mn_film, mouths, 1),
    MN_SAVED_ARRAY(mn_film, inlets, 8),
};

static mn_status save_ledger(const mn_solver *solver, mn_writer *out)
{
    return mn_write_block(out, &((const mn_film *)solver)->ledger, 1, sizeof(mn_film_ledger));
}

static mn_status load_ledger(mn_solver *solver, mn_reader *in, int32_t version)
{
    const size_t size = version < 7   ? offsetof(mn_film_ledger, shed)
                        : version < 8 ? offsetof(mn_film_ledger, liquid_out)
                                      : sizeof(mn_film_ledger);
    return mn_read_block(in, &((mn_film *)solver)->ledger, 1, size);
}

// Jets start with what is in their pipes, sheets with their first strip.
static mn_status place(mn_solver *solver, const mn_solver_inputs *inputs)
{
    const mn_film_inputs *own = inputs->own;
    if (!own) return MN_OK;
    MN_TRY(mn_film_open_jets((mn_film *)solver, own->pipes));
    return mn_film_open_inlets((mn_film *)solver, own->inlet_count, own->inlets);
}

// What a damaged stream could hold is refused before anything follows an index.
static mn_status check_loaded(mn_solver *solver)
{
    mn_film *film = (mn_film *)solver;
    mn_complex *c = &film->c;
    bool good = film->pockets.count >= 1 && film->frame_points >= 0 &&
                film->frame_points <= film->frame.count && film->def.size > 0 &&
                c->vertices.count < INT32_MAX / 2;
    const int32_t n = good ? (int32_t)c->vertices.count : 0;
    for (int64_t t = 0; t < c->triangles.count && good; t++) {
        const mn_complex_triangle *triangle = &c->triangles.data[t];
        for (int k = 0; k < 3; k++) good = good && triangle->v[k] >= 0 && triangle->v[k] < n;
        for (int k = 0; k < 2; k++)
            good = good && triangle->region[k] >= 0 &&
                   (triangle->region[k] < film->pockets.count || triangle->region[k] == MN_COMPLEX_LIQUID);
    }
    for (int64_t s = 0; s < c->segments.count && good; s++)
        for (int k = 0; k < 2; k++)
            good = good && c->segments.data[s].v[k] >= 0 && c->segments.data[s].v[k] < n;
    for (int64_t t = 0; t < c->tets.count && good; t++) {
        for (int k = 0; k < 4; k++) good = good && c->tets.data[t].v[k] >= 0 && c->tets.data[t].v[k] < n;
        good = good && c->tets.data[t].mass >= 0 && c->tets.data[t].soft > 0 &&
               isfinite(c->tets.data[t].mass + c->tets.data[t].soft);
    }
    for (int64_t v = 0; v < n && good; v++) {
        mn_complex_vertex *vertex = &c->vertices.data[v];
        good = mn_is_finite3(vertex->position) && mn_is_finite3(vertex->velocity) && vertex->mass >= 0 &&
               vertex->least >= 0 && isfinite(vertex->pressure);
        for (int k = 0; k < 2; k++)
            good = good && vertex->wire[k] >= -1 && vertex->wire[k] < (int32_t)film->frame.count;
        good = good && (vertex->wire[0] < 0) == (vertex->wire[1] < 0) && vertex->jet >= -film->inlets.count &&
               vertex->jet <= film->mouths.count && isfinite(vertex->along);
        vertex->alive = 1;
    }
    if (!good) return mn_fail(film->solver.ctx, MN_ERROR_FORMAT, "The saved film is damaged.");
    MN_TRY(mn_complex_compact(c));
    return mn_complex_check(c) == MN_OK
               ? MN_OK
               : mn_fail(film->solver.ctx, MN_ERROR_FORMAT, "The saved film is damaged.");
}

const mn_solver_type mn_film_solver = {
    .name = "film",
    .fields = mn_film_fields,
    .field_count = MN_FILM_FIELD_COUNT,
    .def_size = sizeof(mn_film_def),
    .sized = true,
    .state_size = sizeof(mn_film),
    .def_offset = offsetof(mn_film, def),
    .takes = MN_TAKES_COLLIDER | MN_TAKES_WIND | MN_TAKES_OWN,
    .output_count = 1,
    .init = init,
    .free = release,
    .set_def = set_def,
    .place = place,
    .begin = mn_film_begin,
    .limit = mn_film_limit,
    .attempt = mn_film_attempt,
    .commit = mn_film_commit,
    .end = mn_film_end,
    .abandon = mn_film_abandon,
    .view = mn_film_show,
    .report = mn_film_add_up,
    .energy = mn_film_tell_energy,
    .saved = saved,
    .saved_count = MN_COUNT_OF(saved),
    .version = 8,
    .oldest = 6,
    .save = save_ledger,
    .load = load_ledger,
    .loaded = check_loaded,
};

// ---- the typed face ----

MN_SOLVER_FACE_CREATE(film)
MN_SOLVER_FACE(film)

mn_status mn_film_advance(mn_film *film, const mn_solver_inputs *inputs, double dt)
{
    return mn_solver_advance(&mn_film_solver, &film->solver, inputs, dt);
}
