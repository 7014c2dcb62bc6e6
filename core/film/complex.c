// SPDX-License-Identifier: Apache-2.0
//
// Slots, stars and the log of a complex (complex.h).
#include "film/complex.h"
#include "meniscus/tetmesh.h"

#include <string.h>

enum { KIND_VERTEX, KIND_TRIANGLE, KIND_SEGMENT, KIND_TET, LOG_ROOM = 16 };

void mn_complex_init(mn_complex *c, mn_context *ctx)
{
    memset(c, 0, sizeof *c);
    c->ctx = ctx;
}

void mn_complex_free(mn_complex *c)
{
    mn_array_free(c->ctx, &c->vertices);
    mn_array_free(c->ctx, &c->triangles);
    mn_array_free(c->ctx, &c->segments);
    mn_array_free(c->ctx, &c->tets);
    mn_array_free(c->ctx, &c->wires);
    mn_array_free(c->ctx, &c->log);
    mn_array_free(c->ctx, &c->renumber);
}

// ---- the log ----

void mn_complex_begin(mn_complex *c)
{
    c->logging = true;
    c->broken = false;
    c->log.count = 0;
    c->begin = mn_complex_here(c);
}

mn_complex_place mn_complex_here(const mn_complex *c)
{
    return (mn_complex_place){c->log.count, c->vertices.count, c->triangles.count, c->segments.count,
                              c->tets.count};
}

void mn_complex_commit(mn_complex *c)
{
    c->logging = c->broken = false;
    c->log.count = 0;
}

void mn_complex_undo_to(mn_complex *c, mn_complex_place place)
{
    while (c->log.count > place.log) {
        const mn_complex_record *record = &c->log.data[--c->log.count];
        if (record->kind == KIND_VERTEX) c->vertices.data[record->index] = record->old.vertex;
        if (record->kind == KIND_TRIANGLE) c->triangles.data[record->index] = record->old.triangle;
        if (record->kind == KIND_SEGMENT) c->segments.data[record->index] = record->old.segment;
        if (record->kind == KIND_TET) c->tets.data[record->index] = record->old.tet;
    }
    c->vertices.count = place.vertices, c->triangles.count = place.triangles;
    c->segments.count = place.segments, c->tets.count = place.tets;
    c->broken = false;
}

void mn_complex_undo(mn_complex *c)
{
    mn_complex_undo_to(c, c->begin);
    c->logging = false;
}

// Room for the records of one more edit, asked for before anything changes.
static bool log_has_room(mn_complex *c)
{
    if (c->logging && c->log.capacity - c->log.count < LOG_ROOM &&
        mn_array_reserve(c->ctx, &c->log, 2 * c->log.count + LOG_ROOM) != MN_OK)
        c->broken = true;
    return !c->broken;
}

static void log_slot(mn_complex *c, int32_t kind, int32_t index)
{
    if (!c->logging) return;
    mn_complex_record *record = &c->log.data[c->log.count++];
    record->kind = kind, record->index = index;
    if (kind == KIND_VERTEX) record->old.vertex = c->vertices.data[index];
    if (kind == KIND_TRIANGLE) record->old.triangle = c->triangles.data[index];
    if (kind == KIND_SEGMENT) record->old.segment = c->segments.data[index];
    if (kind == KIND_TET) record->old.tet = c->tets.data[index];
}

mn_complex_vertex *mn_complex_edit_vertex(mn_complex *c, int32_t v)
{
    if (!log_has_room(c)) return &c->nobody;
    log_slot(c, KIND_VERTEX, v);
    return &c->vertices.data[v];
}

// ---- stars ----

static void link_corner(mn_complex *c, int32_t t, int32_t k)
{
    mn_complex_vertex *v = &c->vertices.data[c->triangles.data[t].v[k]];
    log_slot(c, KIND_VERTEX, c->triangles.data[t].v[k]);
    c->triangles.data[t].next[k] = v->first;
    v->first = 3 * t + k;
}

static void unlink_corner(mn_complex *c, int32_t t, int32_t k)
{
    const int32_t v = c->triangles.data[t].v[k], corner = 3 * t + k, after = c->triangles.data[t].next[k];
    if (c->vertices.data[v].first == corner) {
        log_slot(c, KIND_VERTEX, v);
        c->vertices.data[v].first = after;
        return;
    }
    int32_t at = c->vertices.data[v].first;
    while (c->triangles.data[at / 3].next[at % 3] != corner) at = c->triangles.data[at / 3].next[at % 3];
    log_slot(c, KIND_TRIANGLE, at / 3);
    c->triangles.data[at / 3].next[at % 3] = after;
}

static void link_end(mn_complex *c, int32_t s, int32_t k)
{
    const int32_t v = c->segments.data[s].v[k];
    log_slot(c, KIND_VERTEX, v);
    c->segments.data[s].next[k] = c->vertices.data[v].first_segment;
    c->vertices.data[v].first_segment = 2 * s + k;
}

static void unlink_end(mn_complex *c, int32_t s, int32_t k)
{
    const int32_t v = c->segments.data[s].v[k], end = 2 * s + k, after = c->segments.data[s].next[k];
    if (c->vertices.data[v].first_segment == end) {
        log_slot(c, KIND_VERTEX, v);
        c->vertices.data[v].first_segment = after;
        return;
    }
    int32_t at = c->vertices.data[v].first_segment;
    while (c->segments.data[at / 2].next[at % 2] != end) at = c->segments.data[at / 2].next[at % 2];
    log_slot(c, KIND_SEGMENT, at / 2);
    c->segments.data[at / 2].next[at % 2] = after;
}

// Its vertex has a quarter of the mass, too.
static void link_tet_corner(mn_complex *c, int32_t t, int32_t k)
{
    const int32_t v = c->tets.data[t].v[k];
    log_slot(c, KIND_VERTEX, v);
    c->tets.data[t].next[k] = c->vertices.data[v].first_tet;
    c->vertices.data[v].first_tet = 4 * t + k;
    c->vertices.data[v].bulk += 0.25 * c->tets.data[t].mass;
}

static void unlink_tet_corner(mn_complex *c, int32_t t, int32_t k)
{
    const int32_t v = c->tets.data[t].v[k], corner = 4 * t + k, after = c->tets.data[t].next[k];
    log_slot(c, KIND_VERTEX, v);
    c->vertices.data[v].bulk -= 0.25 * c->tets.data[t].mass;
    if (c->vertices.data[v].first_tet == corner) {
        c->vertices.data[v].first_tet = after;
        if (after < 0) c->vertices.data[v].bulk = c->vertices.data[v].pressure = 0;
        return;
    }
    int32_t at = c->vertices.data[v].first_tet;
    while (c->tets.data[at / 4].next[at % 4] != corner) at = c->tets.data[at / 4].next[at % 4];
    log_slot(c, KIND_TET, at / 4);
    c->tets.data[at / 4].next[at % 4] = after;
}

// ---- edits ----

// Memory is out: the move is broken, and -1 is no index.
static int32_t refuse(mn_complex *c)
{
    c->broken = c->logging;
    return -1;
}

int32_t mn_complex_add_vertex(mn_complex *c, const mn_complex_vertex *vertex)
{
    mn_complex_vertex copy = *vertex;
    copy.first = copy.first_segment = copy.first_tet = -1;
    copy.bulk = copy.pressure = 0;
    copy.alive = 1;
    copy.id = c->next_id;
    if (c->broken || mn_array_push(c->ctx, &c->vertices, &copy) != MN_OK) return refuse(c);
    c->next_id++;
    return (int32_t)(c->vertices.count - 1);
}

int32_t mn_complex_add_triangle(mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t behind, int32_t front)
{
    const mn_complex_triangle triangle = {{a, b, d}, {behind, front}, {-1, -1, -1}};
    if (!log_has_room(c) || mn_array_push(c->ctx, &c->triangles, &triangle) != MN_OK) return refuse(c);
    const int32_t t = (int32_t)(c->triangles.count - 1);
    for (int32_t k = 0; k < 3; k++) link_corner(c, t, k);
    return t;
}

int32_t mn_complex_add_segment(mn_complex *c, int32_t a, int32_t b)
{
    const mn_complex_segment segment = {{a, b}, {-1, -1}};
    if (!log_has_room(c) || mn_array_push(c->ctx, &c->segments, &segment) != MN_OK) return refuse(c);
    const int32_t s = (int32_t)(c->segments.count - 1);
    for (int32_t k = 0; k < 2; k++) link_end(c, s, k);
    return s;
}

int32_t mn_complex_add_tet(mn_complex *c, const int32_t v[4], double mass, double soft)
{
    const mn_complex_tet tet = {{v[0], v[1], v[2], v[3]}, {-1, -1, -1, -1}, mass, soft};
    if (!log_has_room(c) || mn_array_push(c->ctx, &c->tets, &tet) != MN_OK) return refuse(c);
    const int32_t t = (int32_t)(c->tets.count - 1);
    for (int32_t k = 0; k < 4; k++) link_tet_corner(c, t, k);
    return t;
}

void mn_complex_remove_tet(mn_complex *c, int32_t t)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_TET, t);
    for (int32_t k = 0; k < 4; k++) unlink_tet_corner(c, t, k);
    c->tets.data[t].v[0] = -1;
}

void mn_complex_remove_triangle(mn_complex *c, int32_t t)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_TRIANGLE, t);
    for (int32_t k = 0; k < 3; k++) unlink_corner(c, t, k);
    c->triangles.data[t].v[0] = -1;
}

void mn_complex_remove_segment(mn_complex *c, int32_t s)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_SEGMENT, s);
    for (int32_t k = 0; k < 2; k++) unlink_end(c, s, k);
    c->segments.data[s].v[0] = -1;
}

void mn_complex_remove_vertex(mn_complex *c, int32_t v)
{
    mn_complex_edit_vertex(c, v)->alive = 0;
}

void mn_complex_move_corner(mn_complex *c, int32_t t, int32_t k, int32_t to)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_TRIANGLE, t);
    unlink_corner(c, t, k);
    c->triangles.data[t].v[k] = to;
    link_corner(c, t, k);
}

void mn_complex_move_end(mn_complex *c, int32_t s, int32_t k, int32_t to)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_SEGMENT, s);
    unlink_end(c, s, k);
    c->segments.data[s].v[k] = to;
    link_end(c, s, k);
}

void mn_complex_set_regions(mn_complex *c, int32_t t, int32_t behind, int32_t front)
{
    if (!log_has_room(c)) return;
    log_slot(c, KIND_TRIANGLE, t);
    c->triangles.data[t].region[0] = behind, c->triangles.data[t].region[1] = front;
}

mn_status mn_complex_compact(mn_complex *c)
{
    MN_TRY(mn_array_resize(c->ctx, &c->renumber, c->vertices.count));
    int32_t kept = 0;
    for (int64_t v = 0; v < c->vertices.count; v++) {
        c->renumber.data[v] = c->vertices.data[v].alive ? kept : -1;
        if (!c->vertices.data[v].alive) continue;
        c->vertices.data[kept] = c->vertices.data[v];
        mn_complex_vertex *vertex = &c->vertices.data[kept];
        vertex->first = vertex->first_segment = vertex->first_tet = -1;
        vertex->bulk = 0;
        kept++;
    }
    c->vertices.count = kept;
    kept = 0;
    for (int64_t t = 0; t < c->triangles.count; t++) {
        if (c->triangles.data[t].v[0] < 0) continue;
        mn_complex_triangle triangle = c->triangles.data[t];
        for (int k = 0; k < 3; k++) triangle.v[k] = c->renumber.data[triangle.v[k]];
        c->triangles.data[kept] = triangle;
        for (int32_t k = 0; k < 3; k++) link_corner(c, kept, k);
        kept++;
    }
    c->triangles.count = kept;
    kept = 0;
    for (int64_t s = 0; s < c->segments.count; s++) {
        if (c->segments.data[s].v[0] < 0) continue;
        mn_complex_segment segment = c->segments.data[s];
        for (int k = 0; k < 2; k++) segment.v[k] = c->renumber.data[segment.v[k]];
        c->segments.data[kept] = segment;
        for (int32_t k = 0; k < 2; k++) link_end(c, kept, k);
        kept++;
    }
    c->segments.count = kept;
    kept = 0;
    for (int64_t t = 0; t < c->tets.count; t++) {
        if (c->tets.data[t].v[0] < 0) continue;
        mn_complex_tet tet = c->tets.data[t];
        for (int k = 0; k < 4; k++) tet.v[k] = c->renumber.data[tet.v[k]];
        c->tets.data[kept] = tet;
        for (int32_t k = 0; k < 4; k++) link_tet_corner(c, kept, k);
        kept++;
    }
    c->tets.count = kept;
    return MN_OK;
}

// ---- queries ----

int32_t mn_complex_star(const mn_complex *c, int32_t v, int32_t *triangles, int32_t max)
{
    int32_t count = 0;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        if (count < max) triangles[count] = at / 3;
        count++;
    }
    return count;
}

int32_t mn_complex_edge(const mn_complex *c, int32_t a, int32_t b, int32_t *triangles, int32_t max)
{
    int32_t count = 0;
    for (int32_t at = c->vertices.data[a].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        if (mn_complex_corner(&c->triangles.data[at / 3], b) < 0) continue;
        if (count < max) triangles[count] = at / 3;
        count++;
    }
    return count;
}

int32_t mn_complex_find(const mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t but)
{
    for (int32_t at = c->vertices.data[a].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        const mn_complex_triangle *t = &c->triangles.data[at / 3];
        if (at / 3 != but && mn_complex_corner(t, b) >= 0 && mn_complex_corner(t, d) >= 0) return at / 3;
    }
    return -1;
}

int32_t mn_complex_find_segment(const mn_complex *c, int32_t a, int32_t b)
{
    for (int32_t at = c->vertices.data[a].first_segment; at >= 0; at = c->segments.data[at / 2].next[at % 2])
        if (c->segments.data[at / 2].v[1 - at % 2] == b) return at / 2;
    return -1;
}

int32_t mn_complex_find_tet(const mn_complex *c, int32_t a, int32_t b, int32_t d, int32_t but)
{
    for (int32_t at = c->vertices.data[a].first_tet; at >= 0; at = c->tets.data[at / 4].next[at % 4]) {
        const int32_t *v = c->tets.data[at / 4].v;
        int32_t found = 0;
        for (int k = 0; k < 4; k++) found += v[k] == b || v[k] == d;
        if (at / 4 != but && found == 2) return at / 4;
    }
    return -1;
}

double mn_complex_tet_volume(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->tets.data[t].v;
    return mn_tet_volume(mn_complex_position(c, v[0]), mn_complex_position(c, v[1]),
                         mn_complex_position(c, v[2]), mn_complex_position(c, v[3]));
}

mn_status mn_complex_close_tets(mn_complex *c, int64_t first, int32_t outside)
{
    for (int32_t t = (int32_t)first; t < (int32_t)c->tets.count; t++)
        for (int k = 0; k < 4 && c->tets.data[t].v[0] >= 0; k++) {
            const int32_t *v = c->tets.data[t].v, *face = mn_tet_face_corners[k];
            const int32_t a = v[face[0]], b = v[face[1]], d = v[face[2]];
            if (mn_complex_find_tet(c, a, b, d, t) < 0 && mn_complex_find(c, a, b, d, -1) < 0 &&
                mn_complex_add_triangle(c, a, b, d, MN_COMPLEX_LIQUID, outside) < 0)
                return MN_ERROR_MEMORY;
        }
    return MN_OK;
}

int32_t mn_complex_neighbours(const mn_complex *c, int32_t v, int32_t *neighbours, int32_t max)
{
    int32_t count = 0;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        for (int32_t k = 1; k < 3; k++) {
            const int32_t w = c->triangles.data[at / 3].v[(at % 3 + k) % 3];
            int32_t i = 0;
            while (i < count && neighbours[i] != w) i++;
            if (i == count && count < max) neighbours[count++] = w;
        }
    return count;
}

mn_vec3 mn_complex_normal2(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->triangles.data[t].v;
    const mn_vec3 a = mn_complex_position(c, v[0]);
    return mn_cross(mn_sub(mn_complex_position(c, v[1]), a), mn_sub(mn_complex_position(c, v[2]), a));
}

bool mn_complex_on_wall(const mn_complex *c, int32_t a, int32_t b)
{
    return fabs(mn_dot(c->vertices.data[a].slide, c->vertices.data[b].slide)) > 0.5 &&
           fabs(mn_dot(c->vertices.data[a].slide,
                       mn_sub(mn_complex_position(c, a), mn_complex_position(c, b)))) <=
               0.2 * mn_distance(mn_complex_position(c, a), mn_complex_position(c, b));
}

bool mn_complex_on_wire(const mn_complex *c, int32_t a, int32_t b, int32_t wire[2], double along[2])
{
    if (!mn_complex_held(c, a) || !mn_complex_held(c, b)) return false;
    const mn_complex_vertex *end[2] = {&c->vertices.data[a], &c->vertices.data[b]};
    int32_t low = INT32_MAX, high = -1;
    for (int i = 0; i < 4; i++) {
        const int32_t p = end[i / 2]->wire[i % 2];
        low = p < low ? p : low, high = p > high ? p : high;
    }
    for (int i = 0; i < 4; i++)
        if (end[i / 2]->wire[i % 2] != low && end[i / 2]->wire[i % 2] != high) return false;
    int64_t from = 0, to = c->wires.count;
    while (from < to) {
        const int64_t middle = (from + to) / 2;
        const mn_complex_wire *w = &c->wires.data[middle];
        if (w->a < low || (w->a == low && w->b < high))
            from = middle + 1;
        else
            to = middle;
    }
    if (from == c->wires.count || c->wires.data[from].a != low || c->wires.data[from].b != high) return false;
    wire[0] = low, wire[1] = high;
    for (int i = 0; i < 2; i++) {
        const int32_t *p = end[i]->wire;
        along[i] = p[0] == p[1] ? (p[0] == low ? 0 : 1) : p[0] == low ? end[i]->along : 1 - end[i]->along;
    }
    return true;
}

mn_complex_class mn_complex_class_of(const mn_complex *c, int32_t v)
{
    if (mn_complex_held(c, v)) return MN_COMPLEX_FIXED;
    if (mn_complex_wet(c, v)) return MN_COMPLEX_POINT;
    int32_t w[2 * MN_COMPLEX_STAR_MAX], times[2 * MN_COMPLEX_STAR_MAX], count = 0;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        for (int32_t k = 1; k < 3; k++) {
            const int32_t u = c->triangles.data[at / 3].v[(at % 3 + k) % 3];
            int32_t i = 0;
            while (i < count && w[i] != u) i++;
            if (i == count) {
                if (count == 2 * MN_COMPLEX_STAR_MAX) return MN_COMPLEX_POINT;
                w[count] = u, times[count++] = 0;
            }
            times[i]++;
        }
    int32_t odd = 0;
    for (int32_t i = 0; i < count; i++) odd += times[i] != 2;
    if (c->vertices.data[v].first_segment >= 0) return MN_COMPLEX_POINT;
    return odd == 0 ? MN_COMPLEX_INSIDE : odd == 2 ? MN_COMPLEX_CURVE : MN_COMPLEX_POINT;
}
