// SPDX-License-Identifier: Apache-2.0
//
// The surfaces that may touch: edges, neighbours, areas, and how much each edge stands out.
#include "base/parallel.h"
#include "contact/pairs_state.h"

#include <stdlib.h>
#include <string.h>

static const double least_weight = 1e-3; ///< of an edge that stands out too little to matter

mn_status mn_contact_create(mn_context *ctx, mn_contact_pairs **contact)
{
    *contact = mn_allocate_zero(ctx, sizeof **contact);
    if (!*contact) return MN_ERROR_MEMORY;
    (*contact)->ctx = ctx;
    return MN_OK;
}

void mn_contact_free(mn_contact_pairs *c)
{
    if (!c) return;
    mn_context *ctx = c->ctx;
    mn_array_free(ctx, &c->triangle);
    mn_array_free(ctx, &c->neighbour);
    mn_array_free(ctx, &c->side);
    mn_array_free(ctx, &c->edge);
    mn_array_free(ctx, &c->edge_wing);
    mn_array_free(ctx, &c->group);
    mn_array_free(ctx, &c->valence);
    mn_array_free(ctx, &c->flags);
    mn_array_free(ctx, &c->stiffness);
    mn_array_free(ctx, &c->area);
    mn_array_free(ctx, &c->edge_area);
    mn_array_free(ctx, &c->edge_length2);
    mn_array_free(ctx, &c->edge_weight);
    mn_box_tree_free(ctx, &c->triangle_tree);
    mn_box_tree_free(ctx, &c->edge_tree);
    mn_array_free(ctx, &c->triangle_box);
    mn_array_free(ctx, &c->edge_box);
    mn_array_free(ctx, &c->center);
    mn_array_free(ctx, &c->point_start);
    mn_array_free(ctx, &c->edge_start);
    mn_array_free(ctx, &c->point_triangle);
    mn_array_free(ctx, &c->edge_edge);
    for (int64_t i = 0; i < c->chunk.capacity; i++) mn_array_free(ctx, &c->chunk.data[i]);
    for (int64_t i = 0; i < c->chunk_terms.capacity; i++) mn_array_free(ctx, &c->chunk_terms.data[i]);
    mn_array_free(ctx, &c->chunk);
    mn_array_free(ctx, &c->chunk_terms);
    mn_array_free(ctx, &c->chunk_step);
    mn_release(ctx, c, sizeof *c);
}

// ---- edges ----

typedef struct half_edge {
    int32_t low, high, triangle, corner;
} half_edge;

static int compare_half_edges(const void *a, const void *b)
{
    const half_edge *p = a, *q = b;
    if (p->low != q->low) return p->low < q->low ? -1 : 1;
    if (p->high != q->high) return p->high < q->high ? -1 : 1;
    return p->triangle < q->triangle ? -1 : p->triangle > q->triangle;
}

static mn_status add_edge(mn_contact_pairs *c, const half_edge *h, int64_t count)
{
    const int32_t *first = c->triangle.data[h->triangle];
    int32_t ends[2] = {first[h->corner], first[(h->corner + 1) % 3]};
    int32_t wing[2] = {-1, -1};
    for (int64_t k = 0; k < count; k++) {
        if (count <= 2) wing[k] = c->triangle.data[h[k].triangle][(h[k].corner + 2) % 3];
        c->side.data[h[k].triangle][h[k].corner] = (int32_t)c->edge.count;
        c->neighbour.data[h[k].triangle][h[k].corner] = count == 2 ? h[1 - k].triangle : -1;
    }
    if (count != 2) // the rim, or a seam of many sheets: its ends are not inside
        c->valence.data[h->low] = c->valence.data[h->high] = -1;
    MN_TRY(mn_array_push(c->ctx, &c->edge, &ends));
    return mn_array_push(c->ctx, &c->edge_wing, &wing);
}

static mn_status find_edges(mn_contact_pairs *c)
{
    const int64_t count = 3 * (int64_t)c->triangle_count;
    half_edge *half = mn_allocate(c->ctx, mn_bytes(count, sizeof *half));
    if (count > 0 && !half) return MN_ERROR_MEMORY;
    for (int32_t t = 0; t < c->triangle_count; t++)
        for (int32_t k = 0; k < 3; k++) {
            const int32_t a = c->triangle.data[t][k], b = c->triangle.data[t][(k + 1) % 3];
            half[3 * t + k] = (half_edge){a < b ? a : b, a < b ? b : a, t, k};
            c->valence.data[a]++;
        }
    if (count > 0) qsort(half, (size_t)count, sizeof *half, compare_half_edges);
    mn_status status = MN_OK;
    c->edge.count = c->edge_wing.count = 0;
    for (int64_t i = 0, end; i < count && status == MN_OK; i = end) {
        for (end = i + 1; end < count && half[end].low == half[i].low && half[end].high == half[i].high;)
            end++;
        status = add_edge(c, half + i, end - i);
    }
    c->edge_count = (int32_t)c->edge.count;
    mn_release(c->ctx, half, mn_bytes(count, sizeof *half));
    return status;
}

static mn_status measure(mn_contact_pairs *c, const mn_vec3 *rest)
{
    MN_TRY(mn_array_resize(c->ctx, &c->edge_area, c->edge_count));
    MN_TRY(mn_array_resize(c->ctx, &c->edge_length2, c->edge_count));
    MN_TRY(mn_array_resize(c->ctx, &c->edge_weight, c->edge_count));
    for (int32_t e = 0; e < c->edge_count; e++) {
        c->edge_area.data[e] = 0, c->edge_weight.data[e] = 1;
        c->edge_length2.data[e] = mn_norm2(mn_sub(rest[c->edge.data[e][0]], rest[c->edge.data[e][1]]));
    }
    for (int32_t t = 0; t < c->triangle_count; t++) {
        const int32_t *v = c->triangle.data[t];
        const double third =
            mn_norm(mn_cross(mn_sub(rest[v[1]], rest[v[0]]), mn_sub(rest[v[2]], rest[v[0]]))) / 6;
        for (int k = 0; k < 3; k++)
            c->area.data[v[k]] += third, c->edge_area.data[c->side.data[t][k]] += third;
    }
    return MN_OK;
}

mn_status mn_contact_set_surface(mn_contact_pairs *c, const mn_contact_surface *s)
{
    mn_context *ctx = c->ctx;
    c->vertex_count = s->vertex_count, c->triangle_count = s->triangle_count, c->group_count = s->group_count;
    MN_TRY(mn_array_resize(ctx, &c->triangle, s->triangle_count));
    MN_TRY(mn_array_resize(ctx, &c->neighbour, s->triangle_count));
    MN_TRY(mn_array_resize(ctx, &c->side, s->triangle_count));
    MN_TRY(mn_array_resize(ctx, &c->group, s->vertex_count));
    MN_TRY(mn_array_resize(ctx, &c->valence, s->vertex_count));
    MN_TRY(mn_array_resize(ctx, &c->area, s->vertex_count));
    MN_TRY(mn_array_resize(ctx, &c->flags, s->group_count));
    MN_TRY(mn_array_resize(ctx, &c->stiffness, s->group_count));
    for (int32_t t = 0; t < s->triangle_count; t++)
        for (int k = 0; k < 3; k++) {
            const int32_t v = s->triangles[t][k];
            if (v < 0 || v >= s->vertex_count || v == s->triangles[t][(k + 1) % 3])
                return mn_fail(ctx, MN_ERROR_INPUT, "Triangle %d of the surface has corner %d.", t, v);
            c->triangle.data[t][k] = v;
        }
    for (int32_t i = 0; i < s->vertex_count; i++)
        c->group.data[i] = s->group[i], c->valence.data[i] = 0, c->area.data[i] = 0;
    for (int32_t g = 0; g < s->group_count; g++)
        c->flags.data[g] = s->flags[g], c->stiffness.data[g] = s->stiffness[g];
    MN_TRY(find_edges(c));
    MN_TRY(measure(c, s->rest));
    MN_TRY(mn_array_resize(ctx, &c->point_start, (int64_t)s->vertex_count + 1));
    MN_TRY(mn_array_resize(ctx, &c->edge_start, (int64_t)c->edge_count + 1));
    for (int64_t i = 0; i <= s->vertex_count; i++) c->point_start.data[i] = 0;
    for (int64_t i = 0; i <= c->edge_count; i++) c->edge_start.data[i] = 0;
    c->point_triangle.count = c->edge_edge.count = 0;
    return mn_contact_sort(c, s->rest);
}

const double *mn_contact_vertex_areas(const mn_contact_pairs *c)
{
    return c->area.data;
}

double mn_contact_shortest_edge(const mn_contact_pairs *c)
{
    double shortest = INFINITY, sum = 0;
    int32_t fixed = 0;
    for (int32_t e = 0; e < c->edge_count; e++) {
        if (c->flags.data[c->group.data[c->edge.data[e][0]]] & MN_CONTACT_FIXED)
            sum += sqrt(c->edge_length2.data[e]), fixed++;
        else
            shortest = fmin(shortest, c->edge_length2.data[e]);
    }
    return fmin(sqrt(shortest), fixed > 0 ? sum / fixed : INFINITY);
}

// ---- which edges matter ----

typedef struct weighing {
    mn_contact_pairs *contact;
    const mn_vec3 *x;
    double distance;
    bool raise;
} weighing;

/// An edge that is flat or hollow cannot be nearest to another edge without one of the points or of the edges
/// around being as near. It counts fully once it stands out by half of the barrier's distance.
static mn_status weigh_range(void *user, mn_range range)
{
    const weighing *w = user;
    mn_contact_pairs *c = w->contact;
    for (int64_t e = range.begin; e < range.end; e++) {
        const int32_t *v = c->edge.data[e], *wing = c->edge_wing.data[e];
        const double before = c->edge_weight.data[e];
        c->edge_weight.data[e] = 1;
        if (wing[1] < 0 || (w->raise && before == 1)) continue;
        const mn_vec3 a = w->x[v[0]], along = mn_normalize(mn_sub(w->x[v[1]], a));
        mn_vec3 p = mn_sub(w->x[wing[0]], a), q = mn_sub(w->x[wing[1]], a);
        p = mn_axpy(p, -mn_dot(p, along), along), q = mn_axpy(q, -mn_dot(q, along), along);
        // the height of the edge over the middle of its wings: |p/|p| + q/|q|| times half of a wing
        const mn_vec3 middle = mn_add(mn_normalize(p), mn_normalize(q));
        double height = 0.5 * mn_norm(middle) * fmin(mn_norm(p), mn_norm(q));
        const bool sheet = (c->flags.data[c->group.data[v[0]]] & MN_CONTACT_SHEET) != 0;
        if (!sheet && mn_dot(q, mn_cross(along, p)) > 0) height = 0; // hollow: over the first triangle
        const double y = fmin(1, height / (0.5 * w->distance)), smooth = y * y * (3 - 2 * y);
        const double weight = smooth < least_weight ? 0 : smooth;
        c->edge_weight.data[e] = w->raise ? fmax(before, weight) : weight;
    }
    return MN_OK;
}

mn_status mn_contact_weigh_edges(mn_contact_pairs *c, const mn_vec3 *x, double distance, bool raise)
{
    weighing w = {c, x, distance, raise};
    return mn_parallel_for(c->ctx, c->edge_count, 1024, weigh_range, &w);
}
