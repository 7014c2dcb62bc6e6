// SPDX-License-Identifier: Apache-2.0
//
// The candidates near enough to push each other, each closest feature once [li2023]:
//
//   E_p = w_p ( sum_triangles b(p, t) - sum_inner edges b(p, e) + sum_inner vertices b(p, v) )
//
// Where the foot of p lies on an edge or a vertex, all triangles around have the same distance, and the sums
// cancel to one; where it lies inside of a triangle the others' parts cancel to nothing. A point thus slides
// over the edges of a flat surface without feeling them. w_p is the area of p, k the smaller stiffness. Where
// there are more features than room for them, among triangles much smaller than the distance, the nearest one
// counts alone.
//
// Edges: w_e m(c) b(e, f), c = |u x v|^2, m = (2 - c/e) c/e below e = 1e-3 |u|^2 |v|^2 at rest, else 1: the
// mollifier that nearly parallel edges need [li2020]. Edges count by how far they stand out (surface.c), but
// neighbours of one surface fully: they meet where it folds onto itself.
#include "contact/pairs_state.h"
#include "meniscus/array.h"

#include <string.h>

enum { TERM_GRAIN = 256, FEATURE_MAX = 192 };
static const double parallel = 1e-3; ///< of |u|^2 |v|^2, below which edges count as nearly parallel

typedef struct collecting {
    mn_contact_pairs *contact;
    const mn_vec3 *x;
    double distance;
    int64_t chunks_before;
    bool edges;
} collecting;

/// A corner, an edge or the inside of a triangle near a point: `low` and `high` name it.
typedef struct feature {
    int32_t low, high, triangle, count;
    mn_closest near;
} feature;

typedef struct features {
    feature list[FEATURE_MAX];
    int32_t count;
    bool full; ///< there were more: then the nearest one stands for all
} features;

/// Adds `sign` to the feature that has these weights on the triangle: its corners with a weight.
static void count_feature(features *f, const mn_contact_pairs *c, int32_t triangle, const mn_closest *near,
                          int32_t sign)
{
    const int32_t *t = c->triangle.data[triangle];
    int32_t low = -1, high = -1, corners = 0;
    for (int k = 0; k < 3; k++)
        if (near->c[k + 1] != 0) {
            corners++;
            if (low < 0)
                low = t[k];
            else
                high = t[k];
        }
    if (corners == 3) low = -2, high = triangle; // an inside of its own
    if (corners == 2 && low > high) {
        const int32_t swap = low;
        low = high, high = swap;
    }
    for (int32_t i = 0; i < f->count; i++)
        if (f->list[i].low == low && f->list[i].high == high) {
            f->list[i].count += sign;
            return;
        }
    if (f->count == FEATURE_MAX) {
        f->full = true;
        return;
    }
    f->list[f->count++] = (feature){low, high, triangle, sign, *near};
}

static bool has(const int32_t *list, int64_t count, int32_t value)
{
    int64_t low = 0, high = count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (list[middle] < value)
            low = middle + 1;
        else
            high = middle;
    }
    return low < count && list[low] == value;
}

static mn_closest closest_on_edge(const mn_vec3 x[4], int k)
{
    const int a = 1 + k, b = 1 + (k + 1) % 3;
    const double t = mn_segment_foot(x[a], x[b], x[0]);
    double c[4] = {1, 0, 0, 0};
    c[a] = -(1 - t), c[b] = -t;
    return mn_closest_of_weights(x, c);
}

static mn_status push_point(const collecting *q, mn_contact_terms *terms, int32_t p, const feature *f)
{
    const mn_contact_pairs *c = q->contact;
    const int32_t *t = c->triangle.data[f->triangle];
    mn_contact_term term = {.v = {p, t[0], t[1], t[2]}, .near = f->near, .mollifier = 1};
    const double k = fmin(c->stiffness.data[c->group.data[p]], c->stiffness.data[c->group.data[t[0]]]);
    term.weight = f->count * k * c->area.data[p];
    return mn_array_push(c->ctx, terms, &term);
}

/// Whether boxes around the first `split` of four places and around the others are at least `distance` apart:
/// most candidates are, and are told by this without a root.
static bool are_far(const mn_vec3 x[4], int split, double distance)
{
    for (int axis = 0; axis < 3; axis++) {
        double low[2] = {INFINITY, INFINITY}, high[2] = {-INFINITY, -INFINITY};
        for (int k = 0; k < 4; k++) {
            const double at = (&x[k].x)[axis];
            low[k >= split] = at < low[k >= split] ? at : low[k >= split];
            high[k >= split] = at > high[k >= split] ? at : high[k >= split];
        }
        if (low[0] - high[1] >= distance || low[1] - high[0] >= distance) return true;
    }
    return false;
}

static mn_status collect_point(const collecting *q, mn_contact_terms *terms, int32_t p)
{
    const mn_contact_pairs *c = q->contact;
    const int32_t *list = c->point_triangle.data + c->point_start.data[p];
    const int64_t count = c->point_start.data[p + 1] - c->point_start.data[p];
    features f = {.count = 0};
    feature nearest = {.count = 1, .near = {.distance = INFINITY}};
    int32_t corner[3 * FEATURE_MAX], corners = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t *t = c->triangle.data[list[i]];
        const mn_vec3 x[4] = {q->x[p], q->x[t[0]], q->x[t[1]], q->x[t[2]]};
        if (are_far(x, 1, q->distance)) continue;
        const mn_closest near = mn_closest_point_triangle(x);
        if (!(near.distance < q->distance)) continue;
        count_feature(&f, c, list[i], &near, 1);
        if (near.distance < nearest.near.distance) nearest.triangle = list[i], nearest.near = near;
        for (int k = 0; k < 3; k++) {
            const int32_t across = c->neighbour.data[list[i]][k];
            if (across > list[i] && has(list, count, across)) {
                const mn_closest edge = closest_on_edge(x, k);
                if (edge.distance < q->distance) count_feature(&f, c, list[i], &edge, -1);
            }
            if (corners < 3 * FEATURE_MAX && c->valence.data[t[k]] > 0 &&
                mn_distance(x[0], x[k + 1]) < q->distance)
                corner[corners++] = t[k];
        }
    }
    if (f.full) return push_point(q, terms, p, &nearest);
    // a corner with all of its triangles around, once: at its first mention
    for (int32_t i = 0; i < corners; i++) {
        int32_t mentions = 0;
        for (int32_t k = 0; k < corners; k++) {
            if (corner[k] == corner[i] && k < i) break;
            mentions += corner[k] == corner[i];
        }
        if (mentions != c->valence.data[corner[i]]) continue;
        for (int64_t k = 0; k < count; k++) { // as a corner of the first triangle that has it
            const int32_t *t = c->triangle.data[list[k]];
            const int at = t[0] == corner[i] ? 0 : t[1] == corner[i] ? 1 : t[2] == corner[i] ? 2 : -1;
            if (at < 0) continue;
            const mn_vec3 x[4] = {q->x[p], q->x[t[0]], q->x[t[1]], q->x[t[2]]};
            double w[4] = {1, 0, 0, 0};
            w[1 + at] = -1;
            const mn_closest near = mn_closest_of_weights(x, w);
            count_feature(&f, c, list[k], &near, 1);
            break;
        }
    }
    for (int32_t i = 0; i < f.count; i++)
        if (f.list[i].count != 0) MN_TRY(push_point(q, terms, p, &f.list[i]));
    return MN_OK;
}

/// m(c) and its gradient.
static double mollify(const mn_vec3 x[4], double edge, mn_vec3 gradient[4])
{
    const mn_vec3 u = mn_sub(x[1], x[0]), v = mn_sub(x[3], x[2]), w = mn_cross(u, v);
    const double c = mn_norm2(w), y = c / edge;
    memset(gradient, 0, 4 * sizeof *gradient);
    if (y >= 1) return 1;
    const double slope = 2 * (1 - y) / edge;
    gradient[1] = mn_scale(2 * slope, mn_cross(v, w)), gradient[0] = mn_scale(-1, gradient[1]);
    gradient[3] = mn_scale(2 * slope, mn_cross(w, u)), gradient[2] = mn_scale(-1, gradient[3]);
    return (2 - y) * y;
}

/// Whether a triangle of one edge shares a corner with a triangle of the other: a surface that folds there
/// brings the edges together while no point comes near anything, however flat or hollow they are.
static bool are_neighbours(const mn_contact_pairs *c, int32_t e, int32_t f)
{
    const int32_t *a = c->edge.data[e], *b = c->edge.data[f];
    const int32_t *over = c->edge_wing.data[e], *under = c->edge_wing.data[f];
    for (int k = 0; k < 2; k++) {
        if (over[k] >= 0 &&
            (over[k] == b[0] || over[k] == b[1] || over[k] == under[0] || over[k] == under[1]))
            return true;
        if (under[k] >= 0 && (under[k] == a[0] || under[k] == a[1])) return true;
    }
    return false;
}

static mn_status collect_edge(const collecting *q, mn_contact_terms *terms, int32_t e)
{
    const mn_contact_pairs *c = q->contact;
    const int32_t *a = c->edge.data[e];
    for (int64_t i = c->edge_start.data[e]; i < c->edge_start.data[e + 1]; i++) {
        const int32_t f = c->edge_edge.data[i], *b = c->edge.data[f];
        double counts = c->edge_weight.data[e] * c->edge_weight.data[f];
        if (counts == 0 && c->group.data[a[0]] != c->group.data[b[0]]) continue;
        const mn_vec3 x[4] = {q->x[a[0]], q->x[a[1]], q->x[b[0]], q->x[b[1]]};
        if (are_far(x, 2, q->distance)) continue;
        if (counts < 1 && c->group.data[a[0]] == c->group.data[b[0]] && are_neighbours(c, e, f)) counts = 1;
        if (counts == 0) continue;
        mn_contact_term term = {.v = {a[0], a[1], b[0], b[1]}, .is_edge_edge = true};
        term.near = mn_closest_edge_edge(x);
        if (!(term.near.distance < q->distance)) continue;
        const double k = fmin(c->stiffness.data[c->group.data[a[0]]], c->stiffness.data[c->group.data[b[0]]]);
        const double area = 0.5 * (c->edge_area.data[e] + c->edge_area.data[f]);
        term.weight = k * area * counts;
        term.mollifier = mollify(x, parallel * c->edge_length2.data[e] * c->edge_length2.data[f], term.turn);
        if (term.mollifier > 0) MN_TRY(mn_array_push(c->ctx, terms, &term));
    }
    return MN_OK;
}

static mn_status collect_range(void *user, mn_range range)
{
    const collecting *q = user;
    mn_contact_terms *terms = &q->contact->chunk_terms.data[q->chunks_before + range.chunk];
    terms->count = 0;
    for (int64_t i = range.begin; i < range.end; i++)
        MN_TRY(q->edges ? collect_edge(q, terms, (int32_t)i) : collect_point(q, terms, (int32_t)i));
    return MN_OK;
}

mn_status mn_contact_collect(mn_contact_pairs *c, const mn_vec3 *x, double distance, mn_contact_terms *terms)
{
    const int64_t points = mn_chunk_count(c->vertex_count, TERM_GRAIN);
    const int64_t chunks = points + mn_chunk_count(c->edge_count, TERM_GRAIN);
    const int64_t had = c->chunk_terms.capacity;
    MN_TRY(mn_array_reserve(c->ctx, &c->chunk_terms, chunks));
    if (c->chunk_terms.capacity > had)
        mn_fill_bytes(c->chunk_terms.data + had, 0,
                      (size_t)(c->chunk_terms.capacity - had) * sizeof *c->chunk_terms.data);
    collecting q = {.contact = c, .x = x, .distance = distance};
    MN_TRY(mn_parallel_for(c->ctx, c->vertex_count, TERM_GRAIN, collect_range, &q));
    q.edges = true, q.chunks_before = points;
    MN_TRY(mn_parallel_for(c->ctx, c->edge_count, TERM_GRAIN, collect_range, &q));
    int64_t total = 0;
    for (int64_t i = 0; i < chunks; i++) total += c->chunk_terms.data[i].count;
    MN_TRY(mn_array_resize(c->ctx, terms, total));
    total = 0;
    for (int64_t i = 0; i < chunks; i++) {
        const mn_contact_terms *part = &c->chunk_terms.data[i];
        if (part->count > 0)
            mn_copy_bytes(terms->data + total, part->data, (size_t)part->count * sizeof *part->data);
        total += part->count;
    }
    return MN_OK;
}
