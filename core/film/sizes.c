// SPDX-License-Identifier: Apache-2.0
//
// How long the edges of films should be, vertex by vertex: `size` times
//
//   min(1, max(f0, l / (ALONG size)))         at borders, l the length of the border between two points
//   f_v <= f_w + GRADE |x_v - x_w| / size     everywhere
//
// so that short borders, and the small films between them, have edges enough to show how they curve. A border
// that closes on itself counts a third of its length: it goes around something a third as wide. f0 keeps what
// collapses above min_size, below which borders rearrange.
//
// Borders count only in films that come to rest. In motion finer edges take shorter steps: a foam that bursts
// took 99 instead of 36. There a row of an inlet that fans out (inlet.c) asks for edges as long as its own.
#include "film/film_state.h"

#include "base/union_find.h"
#include "meniscus/array.h"

static const double ALONG = 6; // edges that a border should have at least
static const double GRADE = 0.3;
static const double MARGIN = 2; // of min_size: the finest edges

// Lengths of borders by their first edge; parent[i]: that of edge i.
static mn_status measure_borders(mn_film *film, int32_t *parent, double *length)
{
    const mn_film_system *s = &film->system;
    const int32_t count = (int32_t)s->borders.count;
    int32_t *at = s->border_at.data; // two edges of each vertex, and how many it has
    mn_fill_bytes(at, 0, mn_bytes(3 * s->vertex_count, sizeof *at));
    for (int32_t i = 0; i < count; i++) {
        parent[i] = i, length[i] = 0;
        for (int side = 0; side < 2; side++) {
            int32_t *of = at + 3 * (side ? s->borders.data[i].b : s->borders.data[i].a);
            if (of[2] < 2) of[of[2]] = i;
            of[2]++;
        }
    }
    for (int64_t v = 0; v < s->vertex_count; v++)
        if (at[3 * v + 2] == 2) mn_union_join(parent, at[3 * v], at[3 * v + 1]);
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_wire e = s->borders.data[i];
        length[mn_union_root(parent, i)] +=
            mn_distance(mn_complex_position(&film->c, e.a), mn_complex_position(&film->c, e.b));
    }
    // Negative until an end is found: closed.
    for (int32_t i = 0; i < count; i++)
        if (parent[i] == i) length[i] = -length[i];
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_wire e = s->borders.data[i];
        double *of = &length[mn_union_root(parent, i)];
        if (at[3 * e.a + 2] != 2 || at[3 * e.b + 2] != 2) *of = fabs(*of);
    }
    for (int32_t i = 0; i < count; i++)
        if (length[i] < 0) length[i] /= -3;
    return MN_OK;
}

static void grade(mn_film *film, int64_t v)
{
    const mn_film_system *s = &film->system;
    mn_complex_vertex *vertices = film->c.vertices.data;
    for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1]; k++) {
        const mn_complex_vertex *w = &vertices[s->column.data[k]];
        if (w->fine >= vertices[v].fine) continue;
        const double most = w->fine + GRADE * mn_distance(vertices[v].position, w->position) / film->def.size;
        vertices[v].fine = fmin(vertices[v].fine, most);
    }
}

// True where there are any.
static bool size_inlets(mn_film *film)
{
    const mn_film_system *s = &film->system;
    mn_complex_vertex *vertices = film->c.vertices.data;
    bool any = false;
    for (int64_t v = 0; v < s->vertex_count && film->inlets.count > 0; v++)
        for (int64_t k = s->row_start.data[v]; k < s->row_start.data[v + 1] && vertices[v].jet < 0; k++) {
            const mn_complex_vertex *w = &vertices[s->column.data[k]];
            if (w->jet != vertices[v].jet) continue;
            const double gap = mn_distance(vertices[v].position, w->position) / film->def.size;
            vertices[v].fine = fmin(vertices[v].fine, gap);
            any = true;
        }
    return any;
}

double mn_film_min_size(const mn_film *film)
{
    return film->def.min_size > 0 ? film->def.min_size : 0.2 * film->def.size;
}

// Edges of short borders. *finer: there are any.
static mn_status size_borders(mn_film *film, bool *finer)
{
    mn_film_system *s = &film->system;
    mn_context *ctx = film->solver.ctx;
    const int64_t n = s->vertex_count, count = s->borders.count;
    MN_TRY(mn_array_resize(ctx, &s->border_at, 3 * n));
    MN_TRY(mn_array_resize(ctx, &s->border_parent, count));
    MN_TRY(mn_array_resize(ctx, &s->border_length, count));
    MN_TRY(measure_borders(film, s->border_parent.data, s->border_length.data));
    const double finest = fmin(1, MARGIN * mn_film_min_size(film) / film->def.size);
    for (int64_t i = 0; i < count; i++) {
        const double l = s->border_length.data[mn_union_root(s->border_parent.data, (int32_t)i)];
        const double fine = fmax(finest, l / (ALONG * film->def.size));
        if (!(fine < 1)) continue;
        *finer = true;
        for (int side = 0; side < 2; side++) {
            const mn_complex_wire e = s->borders.data[i];
            mn_complex_vertex *vertex = &film->c.vertices.data[side ? e.b : e.a];
            if (fine < vertex->fine) vertex->fine = fine;
        }
    }
    return MN_OK;
}

mn_status mn_film_find_sizes(mn_film *film)
{
    mn_film_system *s = &film->system;
    if (film->stale) {
        MN_TRY(mn_complex_compact(&film->c)); // moves may have come before
        MN_TRY(mn_film_system_pattern(film));
    }
    const int64_t n = s->vertex_count, count = s->borders.count;
    for (int64_t v = 0; v < n; v++) film->c.vertices.data[v].fine = 1;
    bool finer = film->inputs && size_inlets(film);
    if (!film->inputs && count > 0) MN_TRY(size_borders(film, &finer));
    for (int64_t v = 0; v < n && finer; v++) grade(film, v);
    for (int64_t v = n - 1; v >= 0 && finer; v--) grade(film, v);
    return MN_OK;
}
