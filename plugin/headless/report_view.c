// SPDX-License-Identifier: Apache-2.0
//
// A frame small enough for a page: its surface, welded on a lattice whose cells grow until few enough
// triangles are left (each cell shows the mean of its vertices), and at most so many of its points.
//
//   positions   u16 x 3 per vertex, from min to max of the frame
//   triangles   u32 x 3
//   speed       u8 per vertex: |v| / top;  rgb: u8 x 3 instead, from Cd
#include "plugin/headless/report_page.h"
#include "plugin/host/network/network.h"
#include "plugin/io/glb.h"
#include "plugin/preview/scene.h"

#include <math.h>
#include <string.h>

typedef struct view_vertex {
    double x[3], color[3], speed, weight;
} view_vertex;

typedef struct view {
    mn_context *ctx;
    MN_ARRAY(view_vertex) vertices;
    MN_ARRAY(uint32_t) triangles;
    MN_ARRAY(view_vertex) points;
    bool has_color, has_speed;
    double radius; ///< of points, m
    mn_box box;
    MN_ARRAY(int64_t) cells;  ///< a hash table: 3 cell numbers and a vertex each
    MN_ARRAY(uint32_t) place; ///< by vertex before welding
} view;

static const double FIRST_CELLS = 400, GROWTH = 1.25; ///< over the longest side; of a cell from try to try

// ---- in ----

static view_vertex vertex_of(const mn_geo *geo, int64_t point, const mn_attribute *color,
                             const mn_attribute *v)
{
    const mn_vec3 x = mn_geo_position(geo, point);
    view_vertex made = {.x = {x.x, x.y, x.z}, .weight = 1};
    double velocity[3] = {0, 0, 0};
    if (v) mn_attribute_get(v, point, 1, velocity);
    if (color) mn_attribute_get(color, point, 1, made.color);
    const double speed =
        sqrt(velocity[0] * velocity[0] + velocity[1] * velocity[1] + velocity[2] * velocity[2]);
    made.speed = isfinite(speed) ? speed : 0;
    for (int k = 0; k < 3; k++) made.color[k] = made.color[k] >= 0 ? fmin(made.color[k], 1) : 0;
    return made;
}

static mn_status add_geo(view *w, const mn_geo *geo, int64_t most_points)
{
    mn_glb mesh = {.ctx = w->ctx, .geo = geo};
    const mn_attribute *color = mn_geo_find_numeric(geo, MN_POINT, "Cd", 3);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    const mn_attribute *radius = mn_geo_find_numeric(geo, MN_POINT, "pscale", 1);
    mn_status status = mn_glb_make(&mesh);
    const mn_glb_part *surface = &mesh.parts[MN_GLB_SURFACE], *points = &mesh.parts[MN_GLB_POINTS];
    const uint32_t base = (uint32_t)w->vertices.count;
    w->has_color = w->has_color || color;
    w->has_speed = w->has_speed || v;
    for (int64_t i = 0; i < surface->vertices.count && status == MN_OK; i++) {
        const view_vertex made = vertex_of(geo, surface->vertices.data[i].point, color, v);
        status = mn_array_push(w->ctx, &w->vertices, &made);
    }
    for (int64_t i = 0; i < surface->indices.count && status == MN_OK; i++) {
        const uint32_t index = base + surface->indices.data[i];
        status = mn_array_push(w->ctx, &w->triangles, &index);
    }
    const int64_t stride = points->vertices.count / most_points + 1;
    for (int64_t i = 0; i < points->vertices.count && status == MN_OK; i += stride) {
        const int64_t point = points->vertices.data[i].point;
        const view_vertex made = vertex_of(geo, point, color, v);
        double r = 0;
        if (radius) mn_attribute_get(radius, point, 1, &r);
        if (isfinite(r)) w->radius = fmax(w->radius, r);
        status = mn_array_push(w->ctx, &w->points, &made);
    }
    mn_glb_free(&mesh);
    return status;
}

/// Level sets and fogs by the surfaces that previews draw.
static mn_status add_volumes(view *w, const mn_geo *geo, int64_t most_points)
{
    const int64_t count = mn_geo_kind_count(geo, MN_VOLUME);
    mn_preview_notes notes = {0};
    int32_t made = 0;
    if (count == 0) return MN_OK;
    mn_geo **meshes = mn_allocate(w->ctx, mn_bytes(count, sizeof *meshes));
    if (!meshes) return MN_ERROR_MEMORY;
    memset(meshes, 0, mn_bytes(count, sizeof *meshes));
    mn_status status = mn_preview_mesh_volumes(w->ctx, mn_host_services(), &geo, 1, meshes, &made, &notes);
    for (int32_t i = 0; i < made; i++) {
        if (status == MN_OK) status = add_geo(w, meshes[i], most_points);
        mn_geo_free(meshes[i]);
    }
    mn_release(w->ctx, meshes, mn_bytes(count, sizeof *meshes));
    return status;
}

/// Of geometry, which may hold tetrahedra, and of its volumes.
static mn_status add_all(view *w, mn_geo *geo, int64_t most_points)
{
    mn_geo *skinned = NULL;
    MN_TRY(add_volumes(w, geo, most_points));
    mn_status status = MN_OK;
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0) status = mn_glb_with_skin(w->ctx, geo, &skinned);
    if (status == MN_OK) status = add_geo(w, skinned ? skinned : geo, most_points);
    mn_geo_free(skinned);
    return status;
}

// ---- welding ----

static uint32_t weld_vertex(view *w, const view_vertex *from, double cell, int64_t *count, view_vertex *out)
{
    int64_t key[3];
    for (int k = 0; k < 3; k++) key[k] = (int64_t)floor(from->x[k] / cell);
    const uint64_t mask = (uint64_t)(w->cells.count / 4) - 1;
    uint64_t at =
        ((uint64_t)key[0] * 73856093u ^ (uint64_t)key[1] * 19349663u ^ (uint64_t)key[2] * 83492791u) & mask;
    for (;; at = (at + 1) & mask) {
        int64_t *slot = &w->cells.data[4 * at];
        if (slot[3] < 0) {
            memcpy(slot, key, sizeof key);
            slot[3] = (*count)++;
            memset(&out[slot[3]], 0, sizeof *out);
        }
        if (memcmp(slot, key, sizeof key) != 0) continue;
        view_vertex *to = &out[slot[3]];
        for (int k = 0; k < 3; k++) to->x[k] += from->x[k], to->color[k] += from->color[k];
        to->speed += from->speed, to->weight += 1;
        return (uint32_t)slot[3];
    }
}

/// How many triangles are left on a lattice; with `keep` they and the vertices are replaced.
static mn_status weld(view *w, double cell, view_vertex *out, bool keep, int64_t *left)
{
    int64_t size = 8, count = 0, kept = 0;
    while (size < 2 * w->vertices.count) size *= 2;
    MN_TRY(mn_array_resize(w->ctx, &w->cells, 4 * size));
    MN_TRY(mn_array_resize(w->ctx, &w->place, w->vertices.count));
    for (int64_t i = 0; i < size; i++) w->cells.data[4 * i + 3] = -1;
    for (int64_t i = 0; i < w->vertices.count; i++)
        w->place.data[i] = weld_vertex(w, &w->vertices.data[i], cell, &count, out);
    for (int64_t i = 0; i + 2 < w->triangles.count; i += 3) {
        const uint32_t a = w->place.data[w->triangles.data[i]], b = w->place.data[w->triangles.data[i + 1]],
                       c = w->place.data[w->triangles.data[i + 2]];
        if (a == b || b == c || c == a) continue;
        if (keep) {
            w->triangles.data[kept] = a, w->triangles.data[kept + 1] = b, w->triangles.data[kept + 2] = c;
        }
        kept += 3;
    }
    *left = kept / 3;
    if (!keep) return MN_OK;
    w->triangles.count = kept;
    w->vertices.count = count;
    for (int64_t i = 0; i < count; i++) {
        view_vertex *v = &out[i];
        for (int k = 0; k < 3; k++) v->x[k] /= v->weight, v->color[k] /= v->weight;
        v->speed /= v->weight;
        w->vertices.data[i] = *v;
    }
    return MN_OK;
}

static mn_status weld_until(view *w, int64_t most)
{
    if (w->vertices.count == 0) return MN_OK;
    const mn_vec3 sides = mn_sub(w->box.max, w->box.min);
    double cell = fmax(fmax(sides.x, sides.y), sides.z) / FIRST_CELLS;
    const size_t size = mn_bytes(w->vertices.count, sizeof(view_vertex));
    if (!(cell > 0) || w->triangles.count <= 3 * most) return MN_OK;
    view_vertex *out = mn_allocate(w->ctx, size);
    if (!out) return MN_ERROR_MEMORY;
    int64_t left;
    mn_status status = weld(w, cell, out, false, &left);
    while (status == MN_OK && left > most) {
        cell *= fmax(GROWTH, sqrt((double)left / (double)most));
        status = weld(w, cell, out, false, &left);
    }
    if (status == MN_OK) status = weld(w, cell, out, true, &left);
    mn_release(w->ctx, out, size);
    return status;
}

// ---- out ----

static void grow_box(view *w)
{
    w->box = mn_box_empty();
    for (int64_t i = 0; i < w->vertices.count; i++) {
        const double *x = w->vertices.data[i].x;
        w->box = mn_box_add(w->box, mn_v3(x[0], x[1], x[2]));
    }
    for (int64_t i = 0; i < w->points.count; i++) {
        const double *x = w->points.data[i].x;
        w->box = mn_box_add(w->box, mn_v3(x[0], x[1], x[2]));
    }
}

typedef MN_ARRAY(uint8_t) byte_list;

static mn_status put_u16(view *w, byte_list *bytes, double value, double low, double high)
{
    const double unit = high > low ? (value - low) / (high - low) : 0;
    const uint16_t word = (uint16_t)lrint(fmin(fmax(unit, 0), 1) * 65535);
    const uint8_t pair[2] = {(uint8_t)(word & 255), (uint8_t)(word >> 8)};
    MN_TRY(mn_array_push(w->ctx, bytes, &pair[0]));
    return mn_array_push(w->ctx, bytes, &pair[1]);
}

static mn_status put_byte(view *w, byte_list *bytes, double unit)
{
    const uint8_t byte = (uint8_t)lrint(fmin(fmax(unit, 0), 1) * 255);
    return mn_array_push(w->ctx, bytes, &byte);
}

/// Surface vertices first, then points.
static const view_vertex *vertex_at(const view *w, int64_t i)
{
    return i < w->vertices.count ? &w->vertices.data[i] : &w->points.data[i - w->vertices.count];
}

static mn_status put_bytes(mn_page *page, view *w, const char *key, byte_list *bytes)
{
    bool first = false;
    mn_json_text_put_key(&page->text, &first, ", ", key);
    MN_TRY(mn_page_base64(page, bytes->data, (size_t)bytes->count));
    bytes->count = 0;
    return mn_check_cancelled(w->ctx);
}

static mn_status put_arrays(mn_page *page, view *w, double top, byte_list *bytes)
{
    const int64_t count = w->vertices.count + w->points.count;
    const double low[3] = {w->box.min.x, w->box.min.y, w->box.min.z};
    const double high[3] = {w->box.max.x, w->box.max.y, w->box.max.z};
    for (int64_t i = 0; i < count; i++)
        for (int k = 0; k < 3; k++) MN_TRY(put_u16(w, bytes, vertex_at(w, i)->x[k], low[k], high[k]));
    MN_TRY(put_bytes(page, w, "positions", bytes));
    for (int64_t i = 0; i < count; i++)
        if (w->has_color)
            for (int k = 0; k < 3; k++) MN_TRY(put_byte(w, bytes, vertex_at(w, i)->color[k]));
        else
            MN_TRY(put_byte(w, bytes, top > 0 ? vertex_at(w, i)->speed / top : 0));
    MN_TRY(put_bytes(page, w, w->has_color ? "rgb" : "speed", bytes));
    bool first = false;
    mn_json_text_put_key(&page->text, &first, ", ", "triangles");
    return mn_page_base64(page, w->triangles.data, mn_bytes(w->triangles.count, sizeof(uint32_t)));
}

static mn_status put_view(mn_page *page, view *w, int32_t frame, int64_t source_triangles)
{
    mn_json_text *out = &page->text;
    double top = 0;
    for (int64_t i = 0; i < w->vertices.count + w->points.count; i++) top = fmax(top, vertex_at(w, i)->speed);
    bool first = true;
    const struct {
        const char *key;
        double number;
    } numbers[] = {{"frame", frame},
                   {"vertices", (double)w->vertices.count},
                   {"points", (double)w->points.count},
                   {"source_triangles", (double)source_triangles},
                   {"radius", w->radius},
                   {"top", w->has_speed ? top : 0}};
    mn_json_text_put(out, "{");
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        mn_json_text_put_key(out, &first, ", ", numbers[i].key);
        mn_json_text_put_number(out, numbers[i].number);
    }
    const mn_vec3 corners[2] = {w->box.min, w->box.max};
    for (int i = 0; i < 2; i++) {
        mn_json_text_put_key(out, &first, ", ", i == 0 ? "min" : "max");
        const double x[3] = {corners[i].x, corners[i].y, corners[i].z};
        for (int k = 0; k < 3; k++) {
            mn_json_text_put(out, k > 0 ? ", " : "[");
            mn_json_text_put_number(out, x[k]);
        }
        mn_json_text_put(out, "]");
    }
    byte_list bytes = {0};
    const mn_status status = put_arrays(page, w, top, &bytes);
    mn_array_free(w->ctx, &bytes);
    mn_json_text_put(out, "}");
    return status;
}

mn_status mn_page_view(mn_page *page, const char *path, int32_t frame, int64_t triangles)
{
    view w = {.ctx = page->session->ctx};
    mn_geo *geo;
    mn_status status = mn_io_read(w.ctx, path, &geo);
    if (status != MN_OK && status != MN_ERROR_MEMORY && status != MN_ERROR_CANCELLED) {
        mn_json_text_put(&page->text, "null"); // a damaged frame does not spoil the page
        return MN_OK;
    }
    MN_TRY(status);
    status = add_all(&w, geo, triangles);
    mn_geo_free(geo);
    const int64_t source = w.triangles.count / 3;
    if (status == MN_OK) {
        grow_box(&w);
        status = weld_until(&w, triangles);
    }
    if (status == MN_OK && w.vertices.count + w.points.count > 0)
        status = put_view(page, &w, frame, source);
    else
        mn_json_text_put(&page->text, "null");
    mn_array_free(w.ctx, &w.vertices);
    mn_array_free(w.ctx, &w.triangles);
    mn_array_free(w.ctx, &w.points);
    mn_array_free(w.ctx, &w.cells);
    mn_array_free(w.ctx, &w.place);
    return status;
}
