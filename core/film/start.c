// SPDX-License-Identifier: Apache-2.0
//
// Films to start with, as geometry: clusters of bubbles, packed balls, cones in frames.
#include "base/elementary.h"
#include "film/cluster.h"

#include "base/random.h"
#include "meniscus/film.h"

#include <string.h>

enum { PACKING_STEPS = 400, MAX_CONE = 160 };

// Vertices with a wire are shown as pinned.
static mn_status show_pinned(const mn_complex *c, mn_geo *geo)
{
    mn_attribute *attribute;
    bool any = false;
    for (int64_t v = 0; v < c->vertices.count; v++) any = any || mn_complex_held(c, (int32_t)v);
    if (!any) return MN_OK;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "pinned", MN_I32, 1, MN_HINT_NONE, &attribute));
    int32_t *pinned = mn_attribute_write(geo, attribute);
    for (int64_t v = 0; v < c->vertices.count; v++) pinned[v] = mn_complex_held(c, (int32_t)v);
    return MN_OK;
}

static mn_status geo_of(const mn_complex *c, double thickness, mn_geo **result)
{
    mn_context *ctx = c->ctx;
    mn_geo *geo = NULL;
    mn_attribute *attribute;
    MN_ARRAY(int64_t) corners = {0};
    mn_status status;
    MN_TRY_TO(out, status, mn_geo_create(ctx, &geo));
    MN_TRY_TO(out, status, mn_geo_add_points(geo, c->vertices.count, NULL));
    MN_TRY_TO(out, status, mn_array_resize(ctx, &corners, 3 * c->triangles.count));
    float *p = mn_geo_write_positions(geo);
    if (!p && c->vertices.count > 0) MN_TRY_TO(out, status, MN_ERROR_MEMORY);
    for (int64_t v = 0; v < c->vertices.count; v++) {
        const mn_vec3 x = c->vertices.data[v].position;
        p[3 * v] = (float)x.x, p[3 * v + 1] = (float)x.y, p[3 * v + 2] = (float)x.z;
    }
    for (int64_t i = 0; i < corners.count; i++) corners.data[i] = c->triangles.data[i / 3].v[i % 3];
    MN_TRY_TO(out, status,
              mn_geo_add_primitives(geo, MN_POLYGON, c->triangles.count, NULL, 3, corners.data, NULL));
    MN_TRY_TO(out, status,
              mn_geo_add_attribute(geo, MN_PRIMITIVE, "region", MN_I32, 2, MN_HINT_NONE, &attribute));
    int32_t *region = mn_attribute_write(geo, attribute);
    for (int64_t t = 0; t < c->triangles.count; t++)
        memcpy(&region[2 * t], c->triangles.data[t].region, 2 * sizeof(int32_t));
    MN_TRY_TO(out, status,
              mn_geo_add_attribute(geo, MN_POINT, "thickness", MN_F32, 1, MN_HINT_NONE, &attribute));
    float *h = mn_attribute_write(geo, attribute);
    for (int64_t v = 0; v < c->vertices.count; v++) h[v] = (float)thickness;
    MN_TRY_TO(out, status, show_pinned(c, geo));
    *result = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_array_free(ctx, &corners);
    return status;
}

mn_status mn_film_cluster_create(mn_context *ctx, const mn_film_cluster_def *def, mn_geo **geo)
{
    mn_complex c;
    mn_complex_init(&c, ctx);
    mn_status status =
        mn_film_cluster(&c, def->count, def->centers, def->radii, def->size, (int64_t)400 * 1000 * 1000);
    if (status == MN_OK) status = geo_of(&c, def->thickness, geo);
    mn_complex_free(&c);
    return status;
}

void mn_film_pack(uint64_t seed, int64_t count, mn_vec3 center, double overlap, const double *radii,
                  mn_vec3 *centers)
{
    double volume = 0, mean = 0;
    for (int64_t i = 0; i < count; i++)
        volume += radii[i] * radii[i] * radii[i], mean += radii[i] / (double)count;
    const double reach = 1.5 * mn_cbrt(volume);
    for (int64_t i = 0; i < count; i++)
        centers[i] = mn_scale(reach * mn_cbrt(mn_random_unit(seed, (uint64_t)i, 0)),
                              mn_random_direction(seed, (uint64_t)i, 1));
    for (int32_t step = 0; step < PACKING_STEPS; step++) {
        const double pull = 0.02 * (1 - (double)step / PACKING_STEPS);
        for (int64_t i = 0; i < count; i++) centers[i] = mn_scale(1 - pull, centers[i]);
        for (int64_t i = 0; i < count; i++)
            for (int64_t k = i + 1; k < count; k++) {
                mn_vec3 e = mn_sub(centers[k], centers[i]);
                const double d = mn_norm(e), want = (1 - overlap) * (radii[i] + radii[k]);
                if (d >= want) continue;
                e = d > 1e-9 * mean ? mn_scale(0.5 * (want - d) / d, e) : mn_v3(0.5 * want, 0, 0);
                centers[i] = mn_sub(centers[i], e), centers[k] = mn_add(centers[k], e);
            }
    }
    for (int64_t i = 0; i < count; i++) centers[i] = mn_add(centers[i], center);
}

void mn_film_row(int64_t count, mn_vec3 center, double overlap, const double *radii, mn_vec3 *centers)
{
    double x = 0;
    for (int64_t i = 0; i < count; i++) {
        x += i > 0 ? (1 - overlap) * (radii[i - 1] + radii[i]) : 0;
        centers[i] = mn_add(center, mn_v3(x, 0, 0));
    }
    for (int64_t i = 0; i < count; i++) centers[i].x -= 0.5 * x;
}

mn_status mn_film_cone_create(mn_context *ctx, const mn_film_frame *frame, double thickness, mn_geo **geo)
{
    mn_complex c;
    mn_vec3 sum = {0};
    double length = 0;
    if (frame->edge_count < 3 || frame->edge_count > MAX_CONE)
        return mn_fail(
            ctx, MN_ERROR_INPUT,
            "A film needs a frame of 3 to %d wires, and this one has %lld; resample its polylines.", MAX_CONE,
            (long long)frame->edge_count);
    for (int64_t i = 0; i < frame->edge_count; i++) {
        const mn_vec3 a = frame->positions[frame->edges[i][0]], b = frame->positions[frame->edges[i][1]];
        const double l = mn_distance(a, b);
        sum = mn_axpy(sum, l, mn_lerp(a, b, 0.5));
        length += l;
    }
    if (!(length > 0)) return mn_fail(ctx, MN_ERROR_INPUT, "The wires of the frame have no length.");
    mn_complex_init(&c, ctx);
    mn_complex_vertex v = {.wire = {-1, -1}};
    bool good = true;
    for (int64_t i = 0; i < frame->point_count && good; i++) {
        v.position = frame->positions[i];
        good = mn_complex_add_vertex(&c, &v) >= 0;
    }
    v.position = mn_scale(1 / length, sum);
    const int32_t middle = good ? mn_complex_add_vertex(&c, &v) : -1;
    good = middle >= 0;
    for (int64_t i = 0; i < frame->edge_count && good; i++)
        good = mn_complex_add_triangle(&c, middle, frame->edges[i][0], frame->edges[i][1], 0, 0) >= 0;
    const mn_status status = good ? geo_of(&c, thickness, geo) : MN_ERROR_MEMORY;
    mn_complex_free(&c);
    return status;
}

// ---- sheets ----

static const double PI = MN_PI;
static const double ROW = 0.8660254037844386; // of the size: height of an equilateral triangle

// A ring of `count` vertices, turned by `turn` of a spacing; the first of them.
static int32_t add_ring(mn_complex *c, mn_vec3 center, double radius, int32_t count, double turn, bool pin)
{
    int32_t first = -1;
    for (int32_t i = 0; i < count; i++) {
        const double angle = 2 * PI * (i + turn) / count;
        mn_complex_vertex v = {.position =
                                   mn_add(center, mn_v3(radius * mn_cos(angle), 0, radius * mn_sin(angle))),
                               .wire = {pin ? 0 : -1, pin ? 0 : -1}};
        const int32_t at = mn_complex_add_vertex(c, &v);
        if (at < 0) return -1;
        if (i == 0) first = at;
    }
    return first;
}

// Triangles between two rings: of the two ways to go on the one that is behind.
static bool join_rings(mn_complex *c, int32_t a, int32_t count_a, double turn_a, int32_t b, int32_t count_b,
                       double turn_b)
{
    int32_t i = 0, k = 0;
    while (i < count_a || k < count_b) {
        const double next_a = (i + 1 + turn_a) / count_a, next_b = (k + 1 + turn_b) / count_b;
        const int32_t at_a = a + i % count_a, at_b = b + k % count_b;
        const bool step_a = k == count_b || (i < count_a && next_a <= next_b);
        const int32_t next = step_a ? a + (i + 1) % count_a : b + (k + 1) % count_b;
        if (mn_complex_add_triangle(c, at_a, at_b, next, 0, 0) < 0) return false;
        if (step_a)
            i++;
        else
            k++;
    }
    return true;
}

static bool fill_cylinder(mn_complex *c, const mn_film_sheet_def *def)
{
    const int32_t around = (int32_t)fmax(8, floor(2 * PI * def->radius / def->size + 0.5));
    const int32_t rows = (int32_t)fmax(1, floor(def->height / (ROW * def->size) + 0.5));
    int32_t before = -1;
    for (int32_t row = 0; row <= rows; row++) {
        const mn_vec3 at = mn_add(def->center, mn_v3(0, def->height * ((double)row / rows - 0.5), 0));
        const double turn = row % 2 ? 0.5 : 0;
        const int32_t first =
            add_ring(c, at, def->radius, around, turn, def->pin && (row == 0 || row == rows));
        if (first < 0) return false;
        if (row > 0 && !join_rings(c, before, around, row % 2 ? 0 : 0.5, first, around, turn)) return false;
        before = first;
    }
    return true;
}

static int32_t disc_rows(const mn_film_sheet_def *def)
{
    return (int32_t)fmax(2, floor(def->radius / (ROW * def->size) + 0.5));
}

// The last ring and its middle.
static bool close_disc(mn_complex *c, int32_t ring, int32_t count, mn_vec3 x, int32_t wire, bool below)
{
    const mn_complex_vertex middle = {.position = x, .wire = {wire, wire}};
    const int32_t m = mn_complex_add_vertex(c, &middle);
    bool good = m >= 0;
    for (int32_t i = 0; i < count && good; i++) {
        const int32_t a = ring + i, b = ring + (i + 1) % count;
        good = mn_complex_add_triangle(c, below ? b : a, m, below ? a : b, 0, 0) >= 0;
    }
    return good;
}

static bool fill_disc(mn_complex *c, const mn_film_sheet_def *def)
{
    const int32_t rows = disc_rows(def);
    int32_t before = -1, count_before = 0;
    for (int32_t row = rows; row >= 1; row--) {
        const int32_t around = 6 * row;
        const int32_t first =
            add_ring(c, def->center, def->radius * row / rows, around, 0, def->pin && row == rows);
        if (first < 0) return false;
        if (before >= 0 && !join_rings(c, before, count_before, 0, first, around, 0)) return false;
        before = first, count_before = around;
    }
    return close_disc(c, before, count_before, def->center, -1, false);
}

// A bowl below the disc, all of it pinned: what a pipe is to the film on its mouth.
static bool fill_lid(mn_complex *c, const mn_film_sheet_def *def)
{
    const int32_t rows = disc_rows(def);
    int32_t before = 0; // the rim is the first ring of the disc
    for (int32_t row = rows - 1; row >= 1; row--) {
        const double part = (double)row / rows;
        const mn_vec3 at = mn_add(def->center, mn_v3(0, -def->lid * (1 - part * part), 0));
        const int32_t first = add_ring(c, at, def->radius * part, 6 * row, 0, true);
        if (first < 0 || !join_rings(c, first, 6 * row, 0, before, 6 * (row + 1), 0)) return false;
        before = first;
    }
    return close_disc(c, before, 6, mn_add(def->center, mn_v3(0, -def->lid, 0)), 0, true);
}

mn_status mn_film_sheet_create(mn_context *ctx, const mn_film_sheet_def *def, mn_geo **geo)
{
    mn_complex c;
    const double points =
        (def->height > 0 ? 2 * PI * def->radius * def->height : PI * def->radius * def->radius) /
        (ROW * def->size * def->size);
    if (!(points < 1e8))
        return mn_fail(ctx, MN_ERROR_INPUT, "The film would have %.3g points; use a larger size.", points);
    mn_complex_init(&c, ctx);
    bool good = def->height > 0 ? fill_cylinder(&c, def) : fill_disc(&c, def);
    if (good && def->lid > 0 && !(def->height > 0)) good = fill_lid(&c, def);
    const mn_status status = good ? geo_of(&c, def->thickness, geo) : MN_ERROR_MEMORY;
    mn_complex_free(&c);
    return status;
}
