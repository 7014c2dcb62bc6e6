// SPDX-License-Identifier: Apache-2.0
//
// Both sides of a sheet of triangles, and a rim where it ends; balls for drops. Tubes are in thread_skin.c.
//
// Corners of triangles that meet at a point across shared edges are one place of the sheet; a point where two
// pieces of film touch has two. Each place gets a vertex on either side and, when the film ends there,
// RIM_ROWS more around its rim. An edge is shared when one triangle runs along it in each direction, and free
// otherwise. So every edge of the result has two triangles, whatever the input is. Films that meet, more than
// two at an edge, are in sector_skin.c.
#include "base/elementary.h"
#include "mesh/film_skin_state.h"

#include <stdlib.h>

enum { RIM_ROWS = 3, DROP_RINGS = 10, DROP_SIDES = 16 };
enum { ON_RIM = 2 }; // of mn_film_skin.used
static const double PI = MN_PI;
static const double THICKEST = 1.5; // diameters of the ball that a point's liquid would be

mn_film_skin_def mn_film_skin_default_def(void)
{
    return (mn_film_skin_def){.min_thickness = 1e-4, .max_thickness = INFINITY, .smooth = 2, .drops = true};
}

mn_status mn_film_skin_create(mn_context *ctx, mn_film_skin **skin)
{
    *skin = mn_allocate_zero(ctx, sizeof **skin);
    if (!*skin) return MN_ERROR_MEMORY;
    (*skin)->ctx = ctx;
    return MN_OK;
}

void mn_film_skin_free(mn_film_skin *s)
{
    if (!s) return;
    mn_array_free(s->ctx, &s->edges);
    mn_array_free(s->ctx, &s->root);
    mn_array_free(s->ctx, &s->piece);
    mn_array_free(s->ctx, &s->free);
    mn_array_free(s->ctx, &s->used);
    mn_array_free(s->ctx, &s->places);
    mn_array_free(s->ctx, &s->rims);
    mn_array_free(s->ctx, &s->thickness);
    mn_array_free(s->ctx, &s->sum);
    mn_array_free(s->ctx, &s->count);
    mn_array_free(s->ctx, &s->link_start);
    mn_array_free(s->ctx, &s->link_at);
    mn_array_free(s->ctx, &s->drawn_links);
    mn_array_free(s->ctx, &s->chain);
    mn_array_free(s->ctx, &s->vertices);
    mn_array_free(s->ctx, &s->triangles);
    mn_array_free(s->ctx, &s->sides);
    mn_release(s->ctx, s, sizeof *s);
}

static mn_status check(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    if (!(def->min_thickness > 0) || !isfinite(def->min_thickness) ||
        !(def->max_thickness >= def->min_thickness))
        return mn_fail(s->ctx, MN_ERROR_ARGUMENT,
                       "min_thickness is %g m; it must be above 0, and max_thickness no less.",
                       def->min_thickness);
    if (sheet->count > INT32_MAX)
        return mn_fail(s->ctx, MN_ERROR_UNSUPPORTED, "The film has more than two billion points.");
    for (int64_t i = 0; i < sheet->count; i++)
        if (!mn_is_finite3(sheet->positions[i]) || !isfinite(sheet->thickness[i]))
            return mn_fail(s->ctx, MN_ERROR_INPUT,
                           "Point %lld of the film has a position or thickness that is not finite.",
                           (long long)i);
    for (int64_t t = 0; t < sheet->triangle_count; t++)
        for (int i = 0; i < 3; i++)
            if (sheet->triangles[t][i] < 0 || sheet->triangles[t][i] >= sheet->count)
                return mn_fail(s->ctx, MN_ERROR_INPUT,
                               "Triangle %lld of the film has a corner that does not exist.", (long long)t);
    for (int64_t i = 0; i < 2 * sheet->link_count; i++)
        if (sheet->links[i / 2][i % 2] < 0 || sheet->links[i / 2][i % 2] >= sheet->count)
            return mn_fail(s->ctx, MN_ERROR_INPUT,
                           "Segment %lld of the threads has an end that does not exist.", (long long)(i / 2));
    return MN_OK;
}

// ---- which corners are one place ----

static int by_ends(const void *first, const void *second)
{
    const sheet_edge *a = first, *b = second;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    return a->corner < b->corner ? -1 : a->corner > b->corner;
}

static mn_status join_corners(mn_film_skin *s, const mn_film_sheet *sheet)
{
    const int64_t corners = 3 * sheet->triangle_count;
    MN_TRY(mn_array_resize(s->ctx, &s->edges, corners));
    MN_TRY(mn_array_resize(s->ctx, &s->root, corners));
    MN_TRY(mn_array_resize(s->ctx, &s->free, corners));
    for (int64_t c = 0; c < corners; c++) {
        const int32_t p = sheet->triangles[c / 3][c % 3],
                      q = sheet->triangles[c / 3][mn_film_skin_next_corner(c) % 3];
        s->edges.data[c] = (sheet_edge){p < q ? p : q, p < q ? q : p, c, p < q};
        s->root.data[c] = c;
        s->free.data[c] = 1;
    }
    if (corners > 0) qsort(s->edges.data, (size_t)corners, sizeof *s->edges.data, by_ends);
    for (int64_t i = 0, end; i < corners; i = end) {
        const sheet_edge *e = &s->edges.data[i];
        for (end = i + 1;
             end < corners && e->low == s->edges.data[end].low && e->high == s->edges.data[end].high;)
            end++;
        if (end != i + 2 || e[0].rising == e[1].rising || e->low == e->high) continue;
        s->free.data[e[0].corner] = s->free.data[e[1].corner] = 0;
        mn_union_join_64(s->root.data, e[0].corner, mn_film_skin_next_corner(e[1].corner));
        mn_union_join_64(s->root.data, e[1].corner, mn_film_skin_next_corner(e[0].corner));
    }
    for (int64_t c = 0; c < corners; c++) s->root.data[c] = mn_union_root_64(s->root.data, c);
    return MN_OK;
}

// Numbers the places, with the normal of each and, on a rim, the way out of the film.
static mn_status find_places(mn_film_skin *s, const mn_film_sheet *sheet)
{
    const int64_t corners = 3 * sheet->triangle_count;
    const mn_vec3 *x = sheet->positions;
    s->places.count = 0;
    MN_TRY(mn_array_resize(s->ctx, &s->used, sheet->count));
    for (int64_t i = 0; i < sheet->count; i++) s->used.data[i] = 0;
    // A root is the lowest of its corners, so its number is there when they ask for it.
    for (int64_t c = 0; c < corners; c++) {
        const int32_t p = sheet->triangles[c / 3][c % 3];
        const sheet_place place = {.point = p};
        if (s->root.data[c] != c) {
            s->root.data[c] = s->root.data[s->root.data[c]];
            continue;
        }
        s->root.data[c] = s->places.count;
        s->used.data[p] = 1;
        MN_TRY(mn_array_push(s->ctx, &s->places, &place));
    }
    for (int64_t c = 0; c < corners; c++) {
        const int32_t *t = sheet->triangles[c / 3];
        const mn_vec3 n = mn_cross(mn_sub(x[t[1]], x[t[0]]), mn_sub(x[t[2]], x[t[0]]));
        sheet_place *place = &s->places.data[s->root.data[c]];
        place->normal = mn_add(place->normal, n);
        if (!s->free.data[c]) continue;
        sheet_place *next = &s->places.data[s->root.data[mn_film_skin_next_corner(c)]];
        const mn_vec3 out = mn_normalize(mn_cross(mn_sub(x[next->point], x[place->point]), n));
        place->outward = mn_add(place->outward, out), next->outward = mn_add(next->outward, out);
        place->on_rim = next->on_rim = true;
        s->used.data[place->point] = s->used.data[next->point] = ON_RIM;
    }
    for (int64_t k = 0; k < s->places.count; k++) {
        sheet_place *place = &s->places.data[k];
        place->normal = mn_normalize(place->normal);
        place->outward =
            mn_normalize(mn_axpy(place->outward, -mn_dot(place->outward, place->normal), place->normal));
    }
    return MN_OK;
}

// ---- thickness ----

// Where points crowd, a point's liquid stands on next to no area: without a limit it would be drawn as a
// needle. A sheet with even points is limited from 2.4 times their spacing on.
static void limit_thickness(mn_film_skin *s, const mn_film_sheet *sheet)
{
    const mn_vec3 *x = sheet->positions;
    for (int64_t i = 0; i < sheet->count; i++) s->sum.data[i] = 0;
    for (int64_t t = 0; t < sheet->triangle_count; t++) {
        const int32_t *c = sheet->triangles[t];
        const double area = 0.5 * mn_norm(mn_cross(mn_sub(x[c[1]], x[c[0]]), mn_sub(x[c[2]], x[c[0]])));
        for (int i = 0; i < 3; i++) s->sum.data[c[i]] += area / 3;
    }
    double *h = s->thickness.data;
    for (int64_t i = 0; i < sheet->count; i++)
        if (s->used.data[i]) h[i] = fmin(h[i], THICKEST * mn_cbrt(6 / PI * h[i] * s->sum.data[i]));
}

// Nor is a thread thicker than the ball of all its liquid, where its points crowd.
static mn_status limit_threads(mn_film_skin *s, const mn_film_sheet *sheet)
{
    double *h = s->thickness.data, *volume = s->sum.data;
    MN_TRY(mn_array_resize(s->ctx, &s->piece, sheet->count));
    for (int64_t i = 0; i < sheet->count; i++) s->piece.data[i] = i, volume[i] = 0;
    for (int64_t k = 0; k < sheet->link_count; k++)
        mn_union_join_64(s->piece.data, sheet->links[k][0], sheet->links[k][1]);
    for (int64_t k = 0; k < sheet->link_count; k++) {
        const int32_t a = sheet->links[k][0], b = sheet->links[k][1];
        const double half = 0.5 * mn_distance(sheet->positions[a], sheet->positions[b]);
        volume[mn_union_root_64(s->piece.data, a)] += 0.25 * PI * (h[a] * h[a] + h[b] * h[b]) * half;
    }
    for (int64_t k = 0; k < 2 * sheet->link_count; k++) {
        const int32_t p = sheet->links[k / 2][k % 2];
        if (!s->used.data[p]) h[p] = fmin(h[p], mn_cbrt(6 / PI * volume[mn_union_root_64(s->piece.data, p)]));
    }
    return MN_OK;
}

static mn_status smooth_thickness(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    MN_TRY(mn_array_resize(s->ctx, &s->thickness, sheet->count));
    MN_TRY(mn_array_resize(s->ctx, &s->sum, sheet->count));
    MN_TRY(mn_array_resize(s->ctx, &s->count, sheet->count));
    double *h = s->thickness.data;
    for (int64_t i = 0; i < sheet->count; i++) h[i] = fmax(0, sheet->thickness[i]);
    limit_thickness(s, sheet);
    MN_TRY(limit_threads(s, sheet));
    for (int32_t pass = 0; pass < def->smooth; pass++) {
        for (int64_t i = 0; i < sheet->count; i++) s->sum.data[i] = h[i], s->count.data[i] = 1;
        for (int64_t t = 0; t < sheet->triangle_count; t++)
            for (int i = 0; i < 6; i++) {
                const int32_t p = sheet->triangles[t][i % 3],
                              q = sheet->triangles[t][(i % 3 + 1 + i / 3) % 3];
                if (s->used.data[p] != s->used.data[q]) continue; // a rim stays a rim
                s->sum.data[p] += h[q], s->count.data[p] += 1;
            }
        for (int64_t i = 0; i < sheet->count; i++) h[i] = s->sum.data[i] / s->count.data[i];
    }
    return MN_OK;
}

// ---- the surface ----

mn_status mn_film_skin_push_vertex(mn_film_skin *s, int64_t point, mn_vec3 middle, mn_vec3 normal,
                                   double reach)
{
    const mn_film_skin_vertex v = {
        mn_axpy(middle, reach, normal), normal, s->thickness.data[point], point, point, 0};
    return mn_array_push(s->ctx, &s->vertices, &v);
}

mn_status mn_film_skin_push_triangle(mn_film_skin *s, int64_t a, int64_t b, int64_t c)
{
    const int64_t corners[3] = {a, b, c};
    for (int i = 0; i < 3; i++) MN_TRY(mn_array_push(s->ctx, &s->triangles, &corners[i]));
    const int64_t none = -1;
    return mn_array_push(s->ctx, &s->sides, &none);
}

mn_status mn_film_skin_push_side(mn_film_skin *s, int64_t side, int64_t a, int64_t b, int64_t c)
{
    MN_TRY(mn_film_skin_push_triangle(s, a, b, c));
    s->sides.data[s->sides.count - 1] = side;
    return MN_OK;
}

mn_status mn_film_skin_push_quad(mn_film_skin *s, int64_t a, int64_t b, int64_t c, int64_t d)
{
    MN_TRY(mn_film_skin_push_triangle(s, a, b, c));
    return mn_film_skin_push_triangle(s, a, c, d);
}

// Top, bottom and, from top to bottom, the rim of every place.
static mn_status make_vertices(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    for (int64_t k = 0; k < s->places.count; k++) {
        sheet_place *place = &s->places.data[k];
        const mn_vec3 x = sheet->positions[place->point], n = place->normal;
        const double reach = 0.5 * mn_film_skin_drawn(def, s->thickness.data[place->point]);
        place->first = s->vertices.count;
        MN_TRY(mn_film_skin_push_vertex(s, place->point, x, n, reach));
        MN_TRY(mn_film_skin_push_vertex(s, place->point, x, mn_scale(-1, n), reach));
        for (int32_t row = 1; place->on_rim && row <= RIM_ROWS; row++) {
            const double a = PI * row / (RIM_ROWS + 1);
            MN_TRY(mn_film_skin_push_vertex(
                s, place->point, x, mn_axpy(mn_scale(mn_cos(a), n), mn_sin(a), place->outward), reach));
        }
    }
    return MN_OK;
}

// Vertex of a place on row 0 (top), 1 .. RIM_ROWS, RIM_ROWS + 1 (bottom).
static int64_t vertex_on(const sheet_place *place, int32_t row)
{
    if (row == 0) return place->first;
    return row == RIM_ROWS + 1 ? place->first + 1 : place->first + 1 + row;
}

static mn_status make_sides(mn_film_skin *s, const mn_film_sheet *sheet)
{
    for (int64_t t = 0; t < sheet->triangle_count; t++) {
        const sheet_place *p[3];
        for (int i = 0; i < 3; i++) p[i] = &s->places.data[s->root.data[3 * t + i]];
        MN_TRY(mn_film_skin_push_side(s, 2 * t + 1, p[0]->first, p[1]->first, p[2]->first));
        MN_TRY(mn_film_skin_push_side(s, 2 * t, p[0]->first + 1, p[2]->first + 1, p[1]->first + 1));
        for (int i = 0; i < 3; i++) {
            if (!s->free.data[3 * t + i]) continue;
            const sheet_place *from = p[i], *to = p[(i + 1) % 3];
            for (int32_t row = 0; row <= RIM_ROWS; row++)
                MN_TRY(mn_film_skin_push_quad(s, vertex_on(to, row), vertex_on(from, row),
                                              vertex_on(from, row + 1), vertex_on(to, row + 1)));
        }
    }
    return MN_OK;
}

// Radius of make_drop's vertices around a ball of radius 1 with the volume that their faces enclose: cut
// cones between regular polygons.
static double drop_radius(void)
{
    const double wide = 0.5 * DROP_SIDES * mn_sin(2 * PI / DROP_SIDES);
    double volume = 0;
    for (int32_t ring = 0; ring < DROP_RINGS; ring++) {
        const double a = PI * ring / DROP_RINGS, b = PI * (ring + 1) / DROP_RINGS;
        const double squares = mn_sin(a) * mn_sin(a) + mn_sin(a) * mn_sin(b) + mn_sin(b) * mn_sin(b);
        volume += wide * (mn_cos(a) - mn_cos(b)) * squares / 3;
    }
    return mn_cbrt(4 * PI / 3 / volume);
}

static mn_status make_drop(mn_film_skin *s, int64_t point, mn_vec3 x, double radius)
{
    const int64_t first = s->vertices.count;
    MN_TRY(mn_film_skin_push_vertex(s, point, x, mn_v3(0, 1, 0), radius));
    MN_TRY(mn_film_skin_push_vertex(s, point, x, mn_v3(0, -1, 0), radius));
    for (int32_t ring = 1; ring < DROP_RINGS; ring++)
        for (int32_t side = 0; side < DROP_SIDES; side++) {
            const double a = PI * ring / DROP_RINGS, b = 2 * PI * side / DROP_SIDES;
            MN_TRY(mn_film_skin_push_vertex(
                s, point, x, mn_v3(mn_sin(a) * mn_cos(b), mn_cos(a), -mn_sin(a) * mn_sin(b)), radius));
        }
    for (int32_t side = 0; side < DROP_SIDES; side++) {
        const int64_t here = first + 2 + side, next = first + 2 + (side + 1) % DROP_SIDES;
        const int64_t last = (int64_t)(DROP_RINGS - 2) * DROP_SIDES;
        MN_TRY(mn_film_skin_push_triangle(s, first, here, next));
        MN_TRY(mn_film_skin_push_triangle(s, first + 1, next + last, here + last));
        for (int64_t down = 0; down < last; down += DROP_SIDES)
            MN_TRY(mn_film_skin_push_quad(s, here + down, here + down + DROP_SIDES, next + down + DROP_SIDES,
                                          next + down));
    }
    return MN_OK;
}

mn_status mn_film_skin_run(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet,
                           mn_film_skin_mesh *mesh)
{
    *mesh = (mn_film_skin_mesh){0};
    MN_TRY(check(s, def, sheet));
    s->vertices.count = s->triangles.count = s->sides.count = 0;
    MN_TRY(join_corners(s, sheet));
    MN_TRY(find_places(s, sheet));
    MN_TRY(smooth_thickness(s, def, sheet));
    if (mn_film_skin_meets(s)) {
        MN_TRY(mn_film_skin_make_sectors(s, def, sheet));
    } else {
        MN_TRY(make_vertices(s, def, sheet));
        MN_TRY(make_sides(s, sheet));
    }
    MN_TRY(mn_film_skin_make_tubes(s, def, sheet));
    const double half = 0.5 * drop_radius();
    for (int64_t i = 0; def->drops && i < sheet->count; i++)
        if (!s->used.data[i] && !(sheet->wet && sheet->wet[i]))
            MN_TRY(
                make_drop(s, i, sheet->positions[i], half * fmax(def->min_thickness, s->thickness.data[i])));
    *mesh = (mn_film_skin_mesh){s->vertices.count, s->vertices.data, s->triangles.count / 3,
                                (const int64_t(*)[3])s->triangles.data, s->sides.data};
    return MN_OK;
}
