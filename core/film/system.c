// SPDX-License-Identifier: Apache-2.0
//
// The operators of a complex.
//
//   (K x)_v = sum_w k_vw (x_v - x_w),  k_vw = sum over the triangles at vw of gamma (cot of the angle
//   opposite)/2
//
// K x = d(gamma area)/dx where the cotangents are those of x [pinkall1993], on any number of films at an
// edge. Frozen, x^T K x / 2 is at least the area for every other x and equal to it at x: a step that is
// stable with the frozen K is stable. Threads and rims add their tension over their length:
//
//   thread of volume V and length l   E = 2 sigma sqrt(pi V l)            tension pi r sigma
//   rim on a film meshed to its middle E = 2 (pi - 1) sigma sqrt(V l/pi)   tension (pi - 1) r sigma
//
// The tension of soap at a vertex is gamma_i = gamma (1 + gibbs ln(A_i / A_i0)), A_i a third of its ring; a
// triangle pulls with the mean of its corners. Element by element instead it would lock.
#include "base/elementary.h"
#include "film/film_state.h"
#include "meniscus/array.h"

#include <string.h>

static const double PI = MN_PI;
static const double LEAST_TENSION = 0.05; // of gamma: a film compressed to nothing still pulls

void mn_film_system_free(mn_context *ctx, mn_film_system *s)
{
    mn_array_free(ctx, &s->star_start);
    mn_array_free(ctx, &s->star);
    mn_array_free(ctx, &s->row_start);
    mn_array_free(ctx, &s->column);
    mn_array_free(ctx, &s->weight);
    mn_array_free(ctx, &s->slot);
    mn_array_free(ctx, &s->diagonal);
    mn_array_free(ctx, &s->elements);
    mn_array_free(ctx, &s->area);
    mn_array_free(ctx, &s->normal);
    mn_array_free(ctx, &s->face_start);
    mn_array_free(ctx, &s->faces);
    mn_array_free(ctx, &s->pocket_start);
    mn_array_free(ctx, &s->pocket_face);
    mn_array_free(ctx, &s->turn);
    mn_array_free(ctx, &s->tension);
    mn_array_free(ctx, &s->slack);
    mn_array_free(ctx, &s->spread);
    mn_array_free(ctx, &s->spread_back);
    mn_array_free(ctx, &s->spread_own);
    mn_array_free(ctx, &s->pull);
    mn_array_free(ctx, &s->twice);
    mn_array_free(ctx, &s->rims);
    mn_array_free(ctx, &s->borders);
    mn_array_free(ctx, &s->border_at);
    mn_array_free(ctx, &s->border_parent);
    mn_array_free(ctx, &s->border_length);
    mn_array_free(ctx, &s->small);
    mn_array_free(ctx, &s->small_vector);
}

// ---- pattern ----

static mn_status gather_stars(mn_film *film)
{
    mn_film_system *s = &film->system;
    const mn_complex *c = &film->c;
    const int64_t n = c->vertices.count;
    MN_TRY(mn_array_resize(film->solver.ctx, &s->star_start, n + 1));
    MN_TRY(mn_array_resize(film->solver.ctx, &s->star, 3 * c->triangles.count));
    mn_fill_bytes(s->star_start.data, 0, mn_bytes(n + 1, sizeof(int64_t)));
    for (int64_t t = 0; t < c->triangles.count; t++)
        for (int k = 0; k < 3; k++) s->star_start.data[c->triangles.data[t].v[k]]++;
    mn_prefix_sum_i64(s->star_start.data, n + 1);
    for (int64_t t = 0; t < c->triangles.count; t++)
        for (int k = 0; k < 3; k++)
            s->star.data[s->star_start.data[c->triangles.data[t].v[k]]++] = (int32_t)(3 * t + k);
    memmove(s->star_start.data + 1, s->star_start.data, mn_bytes(n, sizeof(int64_t)));
    s->star_start.data[0] = 0;
    return MN_OK;
}

// The neighbours of v in the order of its star and of its segments; places[2 i]: of the two other corners of
// its i-th triangle; films: how many triangles share each edge.
static int32_t list_row(const mn_film *film, int64_t v, int32_t *columns, int32_t *places, int32_t *films)
{
    const mn_film_system *s = &film->system;
    const mn_complex *c = &film->c;
    int32_t count = 0;
    for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
        const int32_t corner = s->star.data[i];
        for (int32_t k = 1; k < 3; k++) {
            const int32_t w = c->triangles.data[corner / 3].v[(corner % 3 + k) % 3];
            int32_t at = 0;
            while (at < count && columns[at] != w) at++;
            if (at == count) films[count] = 0, columns[count++] = w;
            films[at]++;
            places[2 * (i - s->star_start.data[v]) + k - 1] = at;
        }
    }
    for (int32_t at = c->vertices.data[v].first_segment; at >= 0;
         at = c->segments.data[at / 2].next[at % 2]) {
        const int32_t w = c->segments.data[at / 2].v[1 - at % 2];
        int32_t k = 0;
        while (k < count && columns[k] != w) k++;
        if (k == count) films[count] = 0, columns[count++] = w;
    }
    return count;
}

// Regions other than 0 around a vertex, each once.
static int32_t list_regions(const mn_film *film, int64_t v, int32_t *regions, int32_t max)
{
    const mn_film_system *s = &film->system;
    int32_t count = 0;
    for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++)
        for (int side = 0; side < 2; side++) {
            const int32_t region = film->c.triangles.data[s->star.data[i] / 3].region[side];
            if (region == MN_COMPLEX_LIQUID) continue;
            int32_t k = 0;
            while (k < count && regions[k] != region) k++;
            if (region > 0 && k == count && count < max) regions[count++] = region;
        }
    return count;
}

// Lists around a vertex have fixed lengths: what does not fit them is refused.
static mn_status check_star(const mn_film *film, int64_t v)
{
    const mn_complex *c = &film->c;
    const int64_t films = film->system.star_start.data[v + 1] - film->system.star_start.data[v];
    int64_t threads = 0;
    for (int32_t at = c->vertices.data[v].first_segment; at >= 0; at = c->segments.data[at / 2].next[at % 2])
        threads++;
    if (films <= MN_COMPLEX_STAR_MAX && threads <= MN_COMPLEX_STAR_MAX) return MN_OK;
    return mn_fail(film->solver.ctx, MN_ERROR_INPUT,
                   "%lld triangles and %lld threads meet at vertex %lld of the film; at most %d of each can.",
                   (long long)films, (long long)threads, (long long)v, MN_COMPLEX_STAR_MAX);
}

mn_status mn_film_system_pattern(mn_film *film)
{
    mn_film_system *s = &film->system;
    mn_context *ctx = film->solver.ctx;
    const int64_t n = film->c.vertices.count;
    int32_t columns[3 * MN_COMPLEX_STAR_MAX], films[3 * MN_COMPLEX_STAR_MAX];
    int32_t places[4 * MN_COMPLEX_STAR_MAX], regions[MN_SECTOR_MAX];
    s->vertex_count = n, s->triangle_count = film->c.triangles.count;
    MN_TRY(gather_stars(film));
    MN_TRY(mn_array_resize(ctx, &s->row_start, n + 1));
    MN_TRY(mn_array_resize(ctx, &s->face_start, n + 1));
    MN_TRY(mn_array_resize(ctx, &s->slot, 6 * s->triangle_count));
    s->column.count = s->faces.count = s->rims.count = s->borders.count = 0;
    for (int64_t v = 0; v < n; v++) {
        const int64_t around = s->star_start.data[v + 1] - s->star_start.data[v];
        MN_TRY(check_star(film, v));
        const int32_t count = list_row(film, v, columns, places, films);
        s->row_start.data[v] = s->column.count;
        MN_TRY(mn_array_reserve(ctx, &s->column,
                                s->column.count + count > s->column.capacity ? 2 * (s->column.count + count)
                                                                             : s->column.capacity));
        for (int32_t k = 0; k < count; k++) {
            s->column.data[s->column.count++] = columns[k];
            const mn_complex_wire rim = {(int32_t)v, columns[k]};
            if (films[k] == 1 && v < columns[k] && !mn_complex_on_wall(&film->c, rim.a, rim.b) &&
                !(mn_complex_held(&film->c, rim.a) && mn_complex_held(&film->c, rim.b)))
                MN_TRY(mn_array_push(ctx, &s->rims, &rim));
            if (films[k] > 2 && v < columns[k]) MN_TRY(mn_array_push(ctx, &s->borders, &rim));
        }
        for (int64_t i = 0; i < around; i++)
            for (int k = 0; k < 2; k++)
                s->slot.data[2 * s->star.data[s->star_start.data[v] + i] + k] = places[2 * i + k];
        s->face_start.data[v] = s->faces.count;
        const int32_t bordering = list_regions(film, v, regions, MN_SECTOR_MAX);
        for (int32_t k = 0; k < bordering; k++) {
            const mn_film_face face = {(int32_t)v, regions[k], {0, 0, 0}};
            MN_TRY(mn_array_push(ctx, &s->faces, &face));
        }
    }
    s->row_start.data[n] = s->column.count, s->face_start.data[n] = s->faces.count;
    MN_TRY(mn_array_resize(ctx, &s->weight, s->column.count));
    MN_TRY(mn_array_resize(ctx, &s->diagonal, n));
    MN_TRY(mn_array_resize(ctx, &s->elements, s->triangle_count));
    MN_TRY(mn_array_resize(ctx, &s->area, n));
    MN_TRY(mn_array_resize(ctx, &s->normal, n));
    MN_TRY(mn_array_resize(ctx, &s->tension, n));
    MN_TRY(mn_array_resize(ctx, &s->slack, n));
    MN_TRY(mn_array_resize(ctx, &s->twice, s->triangle_count));
    const int64_t pockets = film->pockets.count;
    MN_TRY(mn_array_resize(ctx, &s->pocket_start, pockets + 1));
    MN_TRY(mn_array_resize(ctx, &s->pocket_face, s->faces.count));
    mn_fill_bytes(s->pocket_start.data, 0, mn_bytes(pockets + 1, sizeof(int64_t)));
    for (int64_t f = 0; f < s->faces.count; f++) s->pocket_start.data[s->faces.data[f].region]++;
    mn_prefix_sum_i64(s->pocket_start.data, pockets + 1);
    for (int64_t f = 0; f < s->faces.count; f++)
        s->pocket_face.data[s->pocket_start.data[s->faces.data[f].region]++] = (int32_t)f;
    memmove(s->pocket_start.data + 1, s->pocket_start.data, mn_bytes(pockets, sizeof(int64_t)));
    s->pocket_start.data[0] = 0;
    if (film->c.tets.count > 0) MN_TRY(mn_film_bulk_pattern(film));
    film->stale = false;
    return MN_OK;
}

// ---- matrix ----

typedef struct system_job {
    mn_film *film;
    const mn_vec3 *x, *surface; ///< where films and threads are, and the surface of volumes
} system_job;

static mn_status measure_range(void *user, mn_range range)
{
    const system_job *job = user;
    mn_film_system *s = &job->film->system;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = job->film->c.triangles.data[t].v;
        const mn_vec3 *x = mn_complex_is_film(&job->film->c, (int32_t)t) ? job->x : job->surface;
        const mn_vec3 a = x[v[0]], b = x[v[1]], d = x[v[2]];
        const mn_vec3 n2 = mn_cross(mn_sub(b, a), mn_sub(d, a));
        const double size = mn_norm(n2);
        s->elements.data[t].area = 0.5 * size;
        s->elements.data[t].normal = size > 1e-300 ? mn_scale(1 / size, n2) : mn_v3(0, 0, 0);
    }
    return MN_OK;
}

static mn_status tension_range(void *user, mn_range range)
{
    const system_job *job = user;
    mn_film *film = job->film;
    mn_film_system *s = &film->system;
    const double gamma = 2 * film->def.sigma;
    for (int64_t v = range.begin; v < range.end; v++) {
        double area = 0;
        mn_vec3 normal = {0};
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const mn_film_element *e = &s->elements.data[s->star.data[i] / 3];
            if (!mn_complex_is_film(&film->c, s->star.data[i] / 3)) continue;
            area += e->area / 3;
            normal = mn_axpy(normal, e->area / 3, e->normal);
        }
        s->area.data[v] = area;
        s->normal.data[v] = normal;
        double tension = gamma;
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        if (film->def.gibbs > 0 && area > 0) {
            if (!(vertex->rest_area > 0)) vertex->rest_area = area;
            tension += gamma * film->def.gibbs * mn_ln(area / vertex->rest_area);
            tension = fmax(tension, LEAST_TENSION * gamma);
        }
        s->tension.data[v] = tension;
    }
    return MN_OK;
}

static mn_status weigh_range(void *user, mn_range range)
{
    const system_job *job = user;
    mn_film_system *s = &job->film->system;
    for (int64_t t = range.begin; t < range.end; t++) {
        const int32_t *v = job->film->c.triangles.data[t].v;
        mn_film_element *e = &s->elements.data[t];
        const bool is_film = mn_complex_is_film(&job->film->c, (int32_t)t);
        const mn_vec3 *x = is_film ? job->x : job->surface;
        const double gamma = is_film
                                 ? (s->tension.data[v[0]] + s->tension.data[v[1]] + s->tension.data[v[2]]) / 3
                                 : job->film->def.sigma; // one side
        mn_vec3 edge[3];
        double longest = 0;
        for (int k = 0; k < 3; k++) {
            edge[k] = mn_sub(x[v[(k + 2) % 3]], x[v[(k + 1) % 3]]);
            longest = fmax(longest, mn_norm2(edge[k]));
        }
        // As products of edges over the area the element stays positive semidefinite when a needle's area is
        // not let fall to zero.
        const double area = fmax(e->area, 1e-4 * longest);
        for (int k = 0; k < 3; k++) e->slope[k] = mn_scale(-0.5, mn_cross(edge[k], e->normal));
        for (int k = 0; k < 3; k++)
            e->cotangent[k] =
                area > 0 ? -gamma * mn_dot(edge[(k + 1) % 3], edge[(k + 2) % 3]) / (4 * area) : 0;
    }
    return MN_OK;
}

static mn_status rows_range(void *user, mn_range range)
{
    const system_job *job = user;
    mn_film_system *s = &job->film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        double *row = &s->weight.data[s->row_start.data[v]];
        const int64_t count = s->row_start.data[v + 1] - s->row_start.data[v];
        for (int64_t k = 0; k < count; k++) row[k] = 0;
        for (int64_t i = s->star_start.data[v]; i < s->star_start.data[v + 1]; i++) {
            const int32_t corner = s->star.data[i], k = corner % 3;
            const mn_film_element *e = &s->elements.data[corner / 3];
            row[s->slot.data[2 * corner]] += e->cotangent[(k + 2) % 3];
            row[s->slot.data[2 * corner + 1]] += e->cotangent[(k + 1) % 3];
        }
    }
    return MN_OK;
}

static void add_weight(mn_film_system *s, int32_t a, int32_t b, double weight)
{
    for (int side = 0; side < 2; side++) {
        const int32_t from = side ? b : a, to = side ? a : b;
        for (int64_t k = s->row_start.data[from]; k < s->row_start.data[from + 1]; k++)
            if (s->column.data[k] == to) s->weight.data[k] += weight;
    }
}

static int32_t segment_count_at(const mn_complex *c, int32_t v)
{
    int32_t count = 0;
    for (int32_t at = c->vertices.data[v].first_segment; at >= 0; at = c->segments.data[at / 2].next[at % 2])
        count++;
    return count;
}

// Liquid of a vertex beyond that of its film, which is as thick as its inner neighbours.
static double gathered_mass(const mn_film *film, int32_t v)
{
    const mn_film_system *s = &film->system;
    double mass = 0, area = 0;
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
        const int32_t w = s->column.data[k];
        if (s->area.data[w] > 0 && mn_complex_class_of(&film->c, w) == MN_COMPLEX_INSIDE)
            mass += film->c.vertices.data[w].mass, area += s->area.data[w];
    }
    const double film_mass = area > 0 ? mass / area * s->area.data[v] : 0;
    return fmax(0, film->c.vertices.data[v].mass - film_mass);
}

static void add_threads(mn_film *film, const mn_vec3 *x)
{
    const mn_complex *c = &film->c;
    mn_film_system *s = &film->system;
    for (int64_t i = 0; i < c->segments.count; i++) {
        const int32_t a = c->segments.data[i].v[0], b = c->segments.data[i].v[1];
        double volume = 0;
        for (int side = 0; side < 2; side++) {
            const int32_t v = side ? b : a;
            const double mass =
                c->vertices.data[v].first >= 0 || mn_complex_wet(c, v) ? 0 : c->vertices.data[v].mass;
            volume += mass / (film->def.density * segment_count_at(c, v));
        }
        const double l = fmax(mn_distance(x[a], x[b]), 1e-3 * film->def.size);
        add_weight(s, a, b, film->def.sigma * sqrt(PI * volume / l) / l);
    }
}

static void add_rims(mn_film *film, const mn_vec3 *x)
{
    for (int64_t i = 0; i < film->system.rims.count; i++) {
        const int32_t a = film->system.rims.data[i].a, b = film->system.rims.data[i].b;
        const double volume = 0.5 * (gathered_mass(film, a) + gathered_mass(film, b)) / film->def.density;
        const double l = fmax(mn_distance(x[a], x[b]), 1e-3 * film->def.size);
        add_weight(&film->system, a, b, (PI - 1) * film->def.sigma * sqrt(volume / (PI * l)) / l);
    }
}

static mn_status sums_range(void *user, mn_range range)
{
    const system_job *job = user;
    mn_film_system *s = &job->film->system;
    for (int64_t v = range.begin; v < range.end; v++) {
        double sum = 0;
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) sum += s->weight.data[k];
        s->diagonal.data[v] = sum;
    }
    return MN_OK;
}

mn_status mn_film_system_matrix(mn_film *film, const mn_vec3 *x)
{
    return mn_film_system_matrix_at(film, x, x);
}

mn_status mn_film_system_matrix_at(mn_film *film, const mn_vec3 *x, const mn_vec3 *surface)
{
    mn_film_system *s = &film->system;
    system_job job = {.film = film, .x = x, .surface = surface};
    MN_TRY(mn_parallel_for(film->solver.ctx, s->triangle_count, MN_FILM_GRAIN, measure_range, &job));
    MN_TRY(mn_parallel_for(film->solver.ctx, s->vertex_count, MN_FILM_GRAIN, tension_range, &job));
    MN_TRY(mn_parallel_for(film->solver.ctx, s->triangle_count, MN_FILM_GRAIN, weigh_range, &job));
    MN_TRY(mn_parallel_for(film->solver.ctx, s->vertex_count, MN_FILM_GRAIN, rows_range, &job));
    add_threads(film, x);
    add_rims(film, x);
    MN_TRY(mn_film_elastic_rows(film));
    return mn_parallel_for(film->solver.ctx, s->vertex_count, MN_FILM_GRAIN, sums_range, &job);
}

mn_vec3 mn_film_system_row(const mn_film_system *s, const mn_vec3 *x, int64_t v)
{
    mn_vec3 sum = {0};
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++)
        sum = mn_axpy(sum, s->weight.data[k], mn_sub(x[v], x[s->column.data[k]]));
    return sum;
}
