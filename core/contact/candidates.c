// SPDX-License-Identifier: Apache-2.0
//
// Which points may meet which triangles and which edges which edges: boxes around all that a vertex can
// reach, and two trees of them. Elements that share a vertex are no pair.
#include "base/parallel.h"
#include "base/predicates.h"
#include "contact/pairs_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { SEARCH_GRAIN = 256, STEP_GRAIN = 512 };
static const double kept_distance = 0.1; ///< of a pair's distance that one step leaves at least

typedef struct search {
    mn_contact_pairs *contact;
    const mn_vec3 *x, *dx;
    const double *reach, *group_reach;
    double distance;
    int64_t *start;
    bool edges;
} search;

// ---- boxes and trees ----

/// How far a vertex may be from its place, in all; 0 when only places matter.
static double reach_of(const search *s, int32_t v)
{
    return s->reach ? s->reach[v] + s->group_reach[s->contact->group.data[v]] : 0;
}

static mn_status triangle_boxes(void *user, mn_range range)
{
    const search *s = user;
    const mn_contact_pairs *c = s->contact;
    for (int64_t t = range.begin; t < range.end; t++) {
        mn_box box = mn_box_empty();
        for (int k = 0; k < 3; k++) {
            const int32_t v = c->triangle.data[t][k];
            const mn_box corner = {s->x[v], s->x[v]};
            box = mn_box_join(box, mn_box_grow(corner, reach_of(s, v)));
        }
        c->triangle_box.data[t] = box;
    }
    return MN_OK;
}

static mn_box box_of_edge(const search *s, int64_t e)
{
    const int32_t *v = s->contact->edge.data[e];
    const mn_box a = {s->x[v[0]], s->x[v[0]]}, b = {s->x[v[1]], s->x[v[1]]};
    return mn_box_join(mn_box_grow(a, reach_of(s, v[0])), mn_box_grow(b, reach_of(s, v[1])));
}

static mn_status edge_boxes(void *user, mn_range range)
{
    const search *s = user;
    for (int64_t e = range.begin; e < range.end; e++) s->contact->edge_box.data[e] = box_of_edge(s, e);
    return MN_OK;
}

static mn_status fit_boxes(search *s)
{
    mn_contact_pairs *c = s->contact;
    MN_TRY(mn_array_resize(c->ctx, &c->triangle_box, c->triangle_count));
    MN_TRY(mn_array_resize(c->ctx, &c->edge_box, c->edge_count));
    MN_TRY(mn_parallel_for(c->ctx, c->triangle_count, 1024, triangle_boxes, s));
    MN_TRY(mn_parallel_for(c->ctx, c->edge_count, 1024, edge_boxes, s));
    mn_box_tree_fit(&c->triangle_tree, c->triangle_box.data);
    mn_box_tree_fit(&c->edge_tree, c->edge_box.data);
    return MN_OK;
}

mn_status mn_contact_sort(mn_contact_pairs *c, const mn_vec3 *x)
{
    const int32_t most = c->triangle_count > c->edge_count ? c->triangle_count : c->edge_count;
    MN_TRY(mn_array_resize(c->ctx, &c->center, most));
    for (int32_t t = 0; t < c->triangle_count; t++) {
        const int32_t *v = c->triangle.data[t];
        c->center.data[t] = mn_scale(1.0 / 3, mn_add(x[v[0]], mn_add(x[v[1]], x[v[2]])));
    }
    MN_TRY(mn_box_tree_sort(c->ctx, &c->triangle_tree, c->triangle_count, c->center.data));
    for (int32_t e = 0; e < c->edge_count; e++)
        c->center.data[e] = mn_lerp(x[c->edge.data[e][0]], x[c->edge.data[e][1]], 0.5);
    return mn_box_tree_sort(c->ctx, &c->edge_tree, c->edge_count, c->center.data);
}

// ---- candidates ----

typedef struct asking {
    const search *search;
    const mn_contact_pairs *contact;
    mn_index_array *found;
    int32_t who;
} asking;

/// Whether a pair of elements, the first `split` of the four vertices and the others, can come near enough.
static bool can_meet(const search *s, const int32_t v[4], int split)
{
    const int32_t *group = s->contact->group.data;
    mn_vec3 x[4];
    double reach[2] = {0, 0};
    for (int k = 0; k < 4; k++) {
        x[k] = s->x[v[k]];
        reach[k >= split] = fmax(reach[k >= split], s->reach[v[k]]);
    }
    double most = s->distance + reach[0] + reach[1];
    if (group[v[0]] != group[v[3]]) most += s->group_reach[group[v[0]]] + s->group_reach[group[v[3]]];
    return (split == 1 ? mn_closest_point_triangle(x) : mn_closest_edge_edge(x)).distance <= most;
}

static mn_status found_triangle(void *user, int32_t triangle)
{
    asking *q = user;
    const mn_contact_pairs *c = q->contact;
    const int32_t *t = c->triangle.data[triangle];
    if (t[0] == q->who || t[1] == q->who || t[2] == q->who) return MN_OK;
    if (!mn_contact_may_touch(c, q->who, t[0])) return MN_OK;
    const int32_t v[4] = {q->who, t[0], t[1], t[2]};
    if (!can_meet(q->search, v, 1)) return MN_OK;
    return mn_array_push(c->ctx, q->found, &triangle);
}

static mn_status found_edge(void *user, int32_t edge)
{
    asking *q = user;
    const mn_contact_pairs *c = q->contact;
    if (edge <= q->who) return MN_OK;
    const int32_t *a = c->edge.data[q->who], *b = c->edge.data[edge];
    if (a[0] == b[0] || a[0] == b[1] || a[1] == b[0] || a[1] == b[1]) return MN_OK;
    if (!mn_contact_may_touch(c, a[0], b[0])) return MN_OK;
    const int32_t v[4] = {a[0], a[1], b[0], b[1]};
    if (!can_meet(q->search, v, 2)) return MN_OK;
    return mn_array_push(c->ctx, q->found, &edge);
}

static void sort_indices(int32_t *values, int64_t count)
{
    for (int64_t i = 1; i < count; i++) {
        const int32_t value = values[i];
        int64_t k = i;
        for (; k > 0 && values[k - 1] > value; k--) values[k] = values[k - 1];
        values[k] = value;
    }
}

static mn_status search_range(void *user, mn_range range)
{
    const search *s = user;
    mn_contact_pairs *c = s->contact;
    mn_index_array *found = &c->chunk.data[range.chunk];
    found->count = 0;
    for (int64_t i = range.begin; i < range.end; i++) {
        asking q = {s, c, found, (int32_t)i};
        const int64_t before = found->count;
        if (s->edges) {
            const mn_box box = mn_box_grow(c->edge_box.data[i], s->distance);
            MN_TRY(mn_box_tree_query(&c->edge_tree, &box, found_edge, &q));
        } else if (c->valence.data[i] != 0) { // else inside of a body
            const mn_box at = {s->x[i], s->x[i]},
                         box = mn_box_grow(at, s->distance + reach_of(s, (int32_t)i));
            MN_TRY(mn_box_tree_query(&c->triangle_tree, &box, found_triangle, &q));
        }
        sort_indices(found->data + before, found->count - before);
        s->start[i + 1] = found->count - before;
    }
    return MN_OK;
}

/// An array that keeps the memory of its members when it grows.
#define RESERVE_CHUNKS(c, array, count_)                                                                     \
    do {                                                                                                     \
        const int64_t had = (array)->capacity;                                                               \
        MN_TRY(mn_array_reserve((c)->ctx, (array), (count_)));                                               \
        if ((array)->capacity > had)                                                                         \
            mn_fill_bytes((array)->data + had, 0,                                                            \
                          (size_t)((array)->capacity - had) * sizeof *(array)->data);                        \
    } while (0)

static mn_status search_all(search *s, int64_t count, mn_index_array *result)
{
    mn_contact_pairs *c = s->contact;
    const int64_t chunks = mn_chunk_count(count, SEARCH_GRAIN);
    RESERVE_CHUNKS(c, &c->chunk, chunks);
    MN_TRY(mn_parallel_for(c->ctx, count, SEARCH_GRAIN, search_range, s));
    s->start[0] = 0;
    for (int64_t i = 0; i < count; i++) s->start[i + 1] += s->start[i];
    MN_TRY(mn_array_resize(c->ctx, result, s->start[count]));
    int64_t at = 0;
    for (int64_t i = 0; i < chunks; i++) {
        const mn_index_array *part = &c->chunk.data[i];
        if (part->count > 0)
            mn_copy_bytes(result->data + at, part->data, (size_t)part->count * sizeof(int32_t));
        at += part->count;
    }
    return MN_OK;
}

mn_status mn_contact_find_candidates(mn_contact_pairs *c, const mn_vec3 *x, const double *reach,
                                     const double *group_reach, double distance)
{
    search s = {.contact = c, .x = x, .reach = reach, .group_reach = group_reach, .distance = distance};
    MN_TRY(fit_boxes(&s));
    s.start = c->point_start.data;
    MN_TRY(search_all(&s, c->vertex_count, &c->point_triangle));
    s.start = c->edge_start.data, s.edges = true;
    return search_all(&s, c->edge_count, &c->edge_edge);
}

int64_t mn_contact_candidate_count(const mn_contact_pairs *c)
{
    return c->point_triangle.count + c->edge_edge.count;
}

// ---- the longest step ----

typedef struct stepping {
    const search *search;
    double fraction, gap;
} stepping;

static void try_pair(stepping *s, const int32_t v[4], bool edges)
{
    mn_vec3 x[4], dx[4];
    for (int k = 0; k < 4; k++) x[k] = s->search->x[v[k]], dx[k] = s->search->dx[v[k]];
    const double gap = (edges ? mn_closest_edge_edge(x) : mn_closest_point_triangle(x)).distance;
    s->gap = fmin(s->gap, gap);
    double speed = 0;
    for (int k = 0; k < 4; k++) speed = fmax(speed, mn_norm2(mn_sub(dx[k], dx[3])));
    if (2 * sqrt(speed) * s->fraction <= (1 - kept_distance) * 0.9 * gap) return; // cannot come near
    // only as far as the best so far
    for (int k = 0; k < 4; k++) dx[k] = mn_scale(s->fraction, dx[k]);
    s->fraction *=
        edges ? mn_advance_edge_edge(x, dx, kept_distance) : mn_advance_point_triangle(x, dx, kept_distance);
}

static mn_status step_range(void *user, mn_range range)
{
    const search *s = user;
    const mn_contact_pairs *c = s->contact;
    stepping best = {s, 1, INFINITY};
    for (int64_t i = range.begin; i < range.end; i++) {
        if (s->edges)
            for (int64_t k = c->edge_start.data[i]; k < c->edge_start.data[i + 1]; k++) {
                const int32_t *a = c->edge.data[i], *b = c->edge.data[c->edge_edge.data[k]];
                const int32_t v[4] = {a[0], a[1], b[0], b[1]};
                try_pair(&best, v, true);
            }
        else
            for (int64_t k = c->point_start.data[i]; k < c->point_start.data[i + 1]; k++) {
                const int32_t *t = c->triangle.data[c->point_triangle.data[k]];
                const int32_t v[4] = {(int32_t)i, t[0], t[1], t[2]};
                try_pair(&best, v, false);
            }
    }
    c->chunk_step.data[range.chunk][0] = best.fraction, c->chunk_step.data[range.chunk][1] = best.gap;
    return MN_OK;
}

mn_status mn_contact_longest_step(mn_contact_pairs *c, const mn_vec3 *x, const mn_vec3 *dx, double *fraction,
                                  double *gap)
{
    *fraction = 1;
    if (gap) *gap = INFINITY;
    for (int kind = 0; kind < 2; kind++) {
        const int64_t count = kind == 0 ? c->vertex_count : c->edge_count;
        const int64_t chunks = mn_chunk_count(count, STEP_GRAIN);
        MN_TRY(mn_array_resize(c->ctx, &c->chunk_step, chunks));
        search s = {.contact = c, .x = x, .dx = dx, .edges = kind == 1};
        MN_TRY(mn_parallel_for(c->ctx, count, STEP_GRAIN, step_range, &s));
        for (int64_t i = 0; i < chunks; i++) {
            *fraction = fmin(*fraction, c->chunk_step.data[i][0]);
            if (gap) *gap = fmin(*gap, c->chunk_step.data[i][1]);
        }
    }
    return MN_OK;
}

// ---- crossings ----

/// A gap below this fraction of an edge's length counts as contact between it and a triangle in its plane.
static const double coplanar_gap = 1e-12;

typedef struct crossing {
    const mn_contact_pairs *contact;
    const mn_vec3 *x;
    int32_t edge, triangle;
    bool found;
} crossing;

/// An edge in the plane of a triangle: whether an end is on it, or the edge on one of the triangle's.
static bool lies_on(mn_vec3 a, mn_vec3 b, const mn_vec3 corner[3])
{
    double gap = INFINITY;
    for (int k = 0; k < 3; k++) {
        const mn_vec3 x[4] = {a, b, corner[k], corner[(k + 1) % 3]};
        gap = fmin(gap, mn_closest_edge_edge(x).distance);
    }
    for (int k = 0; k < 2; k++) {
        const mn_vec3 x[4] = {k == 0 ? a : b, corner[0], corner[1], corner[2]};
        gap = fmin(gap, mn_closest_point_triangle(x).distance);
    }
    return gap <= coplanar_gap * mn_distance(a, b);
}

static mn_status crosses(void *user, int32_t triangle)
{
    crossing *q = user;
    const mn_contact_pairs *c = q->contact;
    const int32_t *e = c->edge.data[q->edge], *t = c->triangle.data[triangle];
    for (int i = 0; i < 2; i++)
        for (int k = 0; k < 3; k++)
            if (e[i] == t[k]) return MN_OK;
    if (q->found || !mn_contact_may_touch(c, e[0], t[0])) return MN_OK;
    const mn_vec3 a = q->x[e[0]], b = q->x[e[1]];
    const mn_vec3 corner[3] = {q->x[t[0]], q->x[t[1]], q->x[t[2]]};
    const double above = mn_orient3d(corner[0], corner[1], corner[2], a);
    const double below = mn_orient3d(corner[0], corner[1], corner[2], b);
    if ((above > 0 && below > 0) || (above < 0 && below < 0)) return MN_OK;
    if (above == 0 && below == 0) {
        if (lies_on(a, b, corner)) q->found = true, q->triangle = triangle;
        return MN_OK;
    }
    const double s0 = mn_orient3d(a, b, corner[0], corner[1]), s1 = mn_orient3d(a, b, corner[1], corner[2]),
                 s2 = mn_orient3d(a, b, corner[2], corner[0]);
    if ((s0 < 0 || s1 < 0 || s2 < 0) && (s0 > 0 || s1 > 0 || s2 > 0)) return MN_OK;
    q->found = true, q->triangle = triangle;
    return MN_OK;
}

mn_status mn_contact_find_crossing(mn_contact_pairs *c, const mn_vec3 *x, bool *found, int32_t v[2])
{
    search s = {.contact = c, .x = x};
    crossing q = {.contact = c, .x = x};
    *found = false;
    MN_TRY(fit_boxes(&s));
    for (q.edge = 0; q.edge < c->edge_count; q.edge++) {
        MN_TRY(mn_box_tree_query(&c->triangle_tree, &c->edge_box.data[q.edge], crosses, &q));
        if (!q.found) continue;
        *found = true;
        v[0] = c->edge.data[q.edge][0], v[1] = c->triangle.data[q.triangle][0];
        return MN_OK;
    }
    return MN_OK;
}
