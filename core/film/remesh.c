// SPDX-License-Identifier: Apache-2.0
//
// Splits, collapses and flips (remesh.h). Mass is kept to rounding, momentum as well: a split hands over mass
// with its own velocity, a collapse adds momenta. Angular momentum is kept by a collapse to the common centre
// of mass up to the spin of the pair; vertices of borders and rims stay where they are and lose more.
#include "film/remesh.h"

#include <stdlib.h>

enum { PAUSE = 1024 };                    // moves between two looks at whether the host wants to stop
static const double LEAST_TURN = 0.3;     // cosine between a triangle's normal before and after a collapse
static const double FLAT = 0.5;           // cosine between neighbours that may flip: 60 degrees
static const double SLIVER = 0.35;        // quality below which a triangle's plane means nothing
static const double LEAST_QUALITY = 0.05; // of a triangle after a collapse; 1 is equilateral

bool mn_complex_on_rim(const mn_complex *c, int32_t v)
{
    if (mn_complex_held(c, v)) return false;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        for (int32_t k = 1; k < 3; k++) {
            const int32_t w = c->triangles.data[at / 3].v[(at % 3 + k) % 3];
            if (mn_complex_edge(c, v, w, NULL, 0) == 1 && !mn_complex_on_wall(c, v, w)) return true;
        }
    return false;
}

bool mn_complex_on_volume(const mn_complex *c, const int32_t *triangles, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!mn_complex_is_film(c, triangles[i])) return true;
    return false;
}

// ---- split ----

static void hand_over(mn_complex *c, int32_t from, double share, mn_complex_vertex *to)
{
    mn_complex_vertex *v = mn_complex_edit_vertex(c, from);
    const double m = share * v->mass, area = share * v->rest_area;
    to->velocity = mn_axpy(to->velocity, m, v->velocity); // momentum until the end
    to->mass += m, to->rest_area += area;
    v->mass -= m, v->rest_area -= area;
}

int32_t mn_complex_split(mn_complex *c, int32_t a, int32_t b)
{
    int32_t list[MN_COMPLEX_EDGE_MAX];
    const int32_t count = mn_complex_edge(c, a, b, list, MN_COMPLEX_EDGE_MAX);
    const int32_t segment = mn_complex_find_segment(c, a, b);
    if (count > MN_COMPLEX_EDGE_MAX) return -1;
    // Edges of a volume alone are not for films to split.
    if (mn_complex_on_volume(c, list, count) && count == 2) return -1;
    if (c->vertices.data[a].jet != 0 && c->vertices.data[b].jet != 0) return -1;
    mn_complex_vertex fresh = {.wire = {-1, -1}};
    const mn_complex_vertex va = c->vertices.data[a], vb = c->vertices.data[b];
    fresh.position = mn_lerp(va.position, vb.position, 0.5);
    fresh.least = 0.5 * (va.least + vb.least);
    fresh.fine = mn_complex_fine(c, a, b);
    double along[2];
    if (mn_complex_on_wire(c, a, b, fresh.wire, along)) fresh.along = 0.5 * (along[0] + along[1]);
    if (mn_complex_on_wall(c, a, b)) fresh.slide = va.slide;
    const int32_t m = mn_complex_add_vertex(c, &fresh);
    if (m < 0) return -1;
    const bool rim_a = count != 1 && count > 0 && mn_complex_on_rim(c, a);
    const bool rim_b = count != 1 && count > 0 && mn_complex_on_rim(c, b);
    if (rim_a == rim_b) {
        hand_over(c, a, 1.0 / 3, &fresh);
        hand_over(c, b, 1.0 / 3, &fresh);
    } else {
        hand_over(c, rim_a ? b : a, 0.5, &fresh);
    }
    mn_complex_vertex *v = &c->vertices.data[m];
    v->mass = fresh.mass, v->rest_area = fresh.rest_area;
    v->velocity =
        fresh.mass > 0 ? mn_scale(1 / fresh.mass, fresh.velocity) : mn_lerp(va.velocity, vb.velocity, 0.5);
    if (!mn_complex_split_tets(c, a, b, m)) return -1;
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_triangle t = c->triangles.data[list[i]];
        const int32_t k = mn_complex_corner(&t, b), at_a = mn_complex_corner(&t, a);
        int32_t v2[3] = {t.v[0], t.v[1], t.v[2]};
        v2[at_a] = m;
        mn_complex_move_corner(c, list[i], k, m);
        if (mn_complex_add_triangle(c, v2[0], v2[1], v2[2], t.region[0], t.region[1]) < 0) return -1;
    }
    if (segment >= 0) {
        mn_complex_move_end(c, segment, c->segments.data[segment].v[0] == b ? 0 : 1, m);
        if (mn_complex_add_segment(c, m, b) < 0) return -1;
    }
    return m;
}

// ---- flip ----

static double quality(const mn_complex *c, int32_t t)
{
    const int32_t *v = c->triangles.data[t].v;
    double edges = 0;
    for (int k = 0; k < 3; k++)
        edges += mn_norm2(mn_sub(mn_complex_position(c, v[k]), mn_complex_position(c, v[(k + 1) % 3])));
    return edges > 0 ? 2 * sqrt(3.0) * mn_norm(mn_complex_normal2(c, t)) / edges : 0;
}

static double cotangent(mn_vec3 a, mn_vec3 b, mn_vec3 d)
{
    const mn_vec3 u = mn_sub(a, b), v = mn_sub(d, b);
    return mn_dot(u, v) / fmax(mn_norm(mn_cross(u, v)), 1e-300);
}

// The angle at p between a and b.
static bool is_obtuse(const mn_complex *c, int32_t p, int32_t a, int32_t b)
{
    const mn_vec3 x = mn_complex_position(c, p);
    return mn_dot(mn_sub(mn_complex_position(c, a), x), mn_sub(mn_complex_position(c, b), x)) < 0;
}

static bool cosine_above(mn_vec3 a, mn_vec3 b, double least)
{
    return mn_dot(a, b) > least * sqrt(mn_norm2(a) * mn_norm2(b));
}

static mn_vec3 normal_of(const mn_complex *c, int32_t a, int32_t b, int32_t d)
{
    const mn_vec3 x = mn_complex_position(c, a);
    return mn_cross(mn_sub(mn_complex_position(c, b), x), mn_sub(mn_complex_position(c, d), x));
}

static double ring_area(const mn_complex *c, int32_t v)
{
    double area = 0;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        area += mn_complex_area(c, at / 3);
    return area;
}

// A flip takes area from its ends and gives it to the apexes: the liquid on it goes along, with its momentum.
static void follow_area(mn_complex *c, const int32_t v[4], const double before[4])
{
    double gain[2], all = 0;
    for (int i = 0; i < 2; i++) all += gain[i] = fmax(0, ring_area(c, v[2 + i]) - before[2 + i]);
    for (int i = 0; i < 2 && all > 0; i++) {
        const double lost = before[i] > 0 ? fmax(0, 1 - ring_area(c, v[i]) / before[i]) : 0;
        for (int k = 0; k < 2; k++) {
            mn_complex_vertex *from = mn_complex_edit_vertex(c, v[i]),
                              *to = mn_complex_edit_vertex(c, v[2 + k]);
            // the second share is of what the first has left
            const double share = k == 0 ? lost * gain[0] / all : lost * gain[1] / (all - lost * gain[0]);
            const double m = share * from->mass, area = share * from->rest_area, mass = to->mass + m;
            if (mass > 0)
                to->velocity =
                    mn_scale(1 / mass, mn_axpy(mn_scale(to->mass, to->velocity), m, from->velocity));
            to->mass = mass, to->rest_area += area;
            from->mass -= m, from->rest_area -= area;
        }
    }
}

static bool all_inside(const mn_complex *c, const int32_t v[4])
{
    for (int i = 0; i < 4; i++)
        if (mn_complex_class_of(c, v[i]) != MN_COMPLEX_INSIDE) return false;
    return true;
}

bool mn_complex_flip(mn_complex *c, int32_t a, int32_t b)
{
    int32_t list[2];
    if (mn_complex_edge(c, a, b, list, 2) != 2 || (mn_complex_held(c, a) && mn_complex_held(c, b)) ||
        mn_complex_on_wall(c, a, b) || mn_complex_find_segment(c, a, b) >= 0)
        return false;
    if (mn_complex_on_volume(c, list, 2)) return false;
    const mn_complex_triangle *t = &c->triangles.data[list[0]], *o = &c->triangles.data[list[1]];
    const int32_t p = mn_complex_apex(t, a, b), q = mn_complex_apex(o, a, b);
    const mn_vec3 xa = mn_complex_position(c, a), xb = mn_complex_position(c, b);
    const mn_vec3 xp = mn_complex_position(c, p), xq = mn_complex_position(c, q);
    if (!(cotangent(xa, xp, xb) + cotangent(xa, xq, xb) < -1e-3)) return false;
    const bool forward = t->v[(mn_complex_corner(t, a) + 1) % 3] == b;
    const bool other = o->v[(mn_complex_corner(o, b) + 1) % 3] == a;
    const bool same = forward == other;
    if (t->region[0] != o->region[same ? 0 : 1] || t->region[1] != o->region[same ? 1 : 0]) return false;
    const mn_vec3 n1 = normal_of(c, a, b, p), n2 = normal_of(c, b, a, q);
    const mn_vec3 m1 = normal_of(c, a, q, p), m2 = normal_of(c, q, b, p);
    // A sliver along a border has the plane of the border's bend, not of its film: it has no say.
    const bool say1 = quality(c, list[0]) > SLIVER, say2 = quality(c, list[1]) > SLIVER;
    if ((say1 && say2 && !cosine_above(n1, n2, FLAT)) || !cosine_above(m1, m2, FLAT) ||
        (say1 && !(cosine_above(n1, m1, FLAT) && cosine_above(n1, m2, FLAT))) ||
        (say2 && !(cosine_above(n2, m1, FLAT) && cosine_above(n2, m2, FLAT))) ||
        mn_complex_edge(c, p, q, NULL, 0) > 0)
        return false;
    const int32_t v[4] = {a, b, p, q};
    double before[4];
    for (int i = 0; i < 4; i++) before[i] = ring_area(c, v[i]);
    mn_complex_move_corner(c, list[0], mn_complex_corner(t, b), q);
    mn_complex_move_corner(c, list[1], mn_complex_corner(&c->triangles.data[list[1]], a), p);
    if (all_inside(c, v)) follow_area(c, v, before);
    return true;
}

// ---- merge and collapse ----

static bool unite_twins(mn_complex *c, int32_t t)
{
    const mn_complex_triangle one = c->triangles.data[t];
    const int32_t twin = mn_complex_find(c, one.v[0], one.v[1], one.v[2], t);
    if (twin < 0) return true;
    const mn_complex_triangle other = c->triangles.data[twin];
    const int32_t k = mn_complex_corner(&other, one.v[0]);
    const bool same = other.v[(k + 1) % 3] == one.v[1];
    const int32_t m[2] = {other.region[same ? 0 : 1], other.region[same ? 1 : 0]};
    int32_t result[2];
    if (one.region[1] == m[0])
        result[0] = one.region[0], result[1] = m[1];
    else if (one.region[0] == m[1])
        result[0] = m[0], result[1] = one.region[1];
    else
        return false;
    mn_complex_remove_triangle(c, twin);
    // Of two open films one is left: labels cannot tell whether air was only between them. Two sides of a
    // volume with nothing between them any more are a film.
    const bool drained = one.region[1] == m[0] ? m[0] == MN_COMPLEX_LIQUID : m[1] == MN_COMPLEX_LIQUID;
    const bool open = drained || (one.region[0] == one.region[1] && m[0] == m[1]);
    if (result[0] == result[1] && !open)
        mn_complex_remove_triangle(c, t);
    else
        mn_complex_set_regions(c, t, result[0], result[1]);
    return true;
}

static void take_all(mn_complex *c, int32_t kept, int32_t gone, mn_vec3 x)
{
    mn_complex_vertex *k = mn_complex_edit_vertex(c, kept);
    const mn_complex_vertex *g = &c->vertices.data[gone];
    const double mass = mn_complex_inertia(k) + g->mass;
    if (mass > 0)
        k->velocity =
            mn_scale(1 / mass, mn_axpy(mn_scale(mn_complex_inertia(k), k->velocity), g->mass, g->velocity));
    k->mass += g->mass, k->rest_area += g->rest_area;
    k->least = fmax(k->least, g->least);
    k->position = x;
}

bool mn_complex_merge(mn_complex *c, int32_t kept, int32_t gone, mn_vec3 x)
{
    int32_t star[MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_star(c, gone, star, MN_COMPLEX_STAR_MAX);
    if (count > MN_COMPLEX_STAR_MAX || !mn_complex_merge_tets(c, kept, gone)) return false;
    take_all(c, kept, gone, x);
    for (int32_t i = 0; i < count; i++) {
        const mn_complex_triangle t = c->triangles.data[star[i]];
        if (mn_complex_corner(&t, kept) < 0) {
            mn_complex_move_corner(c, star[i], mn_complex_corner(&t, gone), kept);
            continue;
        }
        const int32_t w = mn_complex_apex(&t, kept, gone);
        const bool is_film = mn_complex_is_film(c, star[i]);
        mn_complex_remove_triangle(c, star[i]);
        if (!is_film) continue;
        // A film that was this triangle wide goes on as a thread.
        if (mn_complex_edge(c, kept, w, NULL, 0) == 0 && mn_complex_edge(c, gone, w, NULL, 0) == 0 &&
            !(mn_complex_held(c, kept) && mn_complex_held(c, w)) && mn_complex_find_segment(c, kept, w) < 0 &&
            mn_complex_find_segment(c, gone, w) < 0)
            mn_complex_add_segment(c, kept, w);
        if (c->broken) return false;
    }
    for (int32_t i = 0; i < count; i++)
        if (c->triangles.data[star[i]].v[0] >= 0 && !unite_twins(c, star[i])) return false;
    while (c->vertices.data[gone].first_segment >= 0 && !c->broken) {
        const int32_t end = c->vertices.data[gone].first_segment, s = end / 2;
        const int32_t w = c->segments.data[s].v[1 - end % 2];
        if (w == kept || mn_complex_find_segment(c, kept, w) >= 0)
            mn_complex_remove_segment(c, s);
        else
            mn_complex_move_end(c, s, end % 2, kept);
    }
    if (c->broken) return false;
    mn_complex_remove_vertex(c, gone);
    return true;
}

// Ordinary topology: common neighbours are apexes of triangles at the edge, and no border runs into another.
static bool may_collapse(const mn_complex *c, int32_t a, int32_t b, int32_t edge_count)
{
    int32_t na[2 * MN_COMPLEX_STAR_MAX], common = 0;
    const int32_t count = mn_complex_neighbours(c, a, na, 2 * MN_COMPLEX_STAR_MAX);
    for (int32_t i = 0; i < count; i++) {
        const int32_t w = na[i];
        if (w == b || mn_complex_edge(c, b, w, NULL, 0) == 0) continue;
        common++;
        if (mn_complex_find(c, a, b, w, -1) < 0) return false;
        const int32_t at_a = mn_complex_edge(c, a, w, NULL, 0), at_b = mn_complex_edge(c, b, w, NULL, 0);
        // An ear has a free edge here, and goes; two borders would become one.
        if (at_a > 2 && at_b > 2) return false;
        if (mn_complex_find_segment(c, a, w) >= 0 || mn_complex_find_segment(c, b, w) >= 0) return false;
    }
    return common == edge_count;
}

int32_t mn_complex_collapse(mn_complex *c, int32_t a, int32_t b)
{
    const int32_t edge_count = mn_complex_edge(c, a, b, NULL, 0);
    const mn_complex_class ca = mn_complex_class_of(c, a), cb = mn_complex_class_of(c, b);
    const bool thread = edge_count == 0;
    if (ca == MN_COMPLEX_FIXED && cb == MN_COMPLEX_FIXED) return -1;
    if (mn_complex_wet(c, a) && mn_complex_wet(c, b)) return mn_complex_collapse_wet(c, a, b);
    if (!thread) {
        if (ca != MN_COMPLEX_INSIDE && cb != MN_COMPLEX_INSIDE && edge_count == 2) return -1;
        if (ca >= MN_COMPLEX_POINT && cb >= MN_COMPLEX_POINT) return -1;
        if (!may_collapse(c, a, b, edge_count)) return -1;
    } else if (ca == MN_COMPLEX_FIXED || cb == MN_COMPLEX_FIXED) {
        if (c->vertices.data[a].first >= 0 && c->vertices.data[b].first >= 0) return -1;
    }
    const bool slides_b = mn_complex_slides(c, b) && !mn_complex_slides(c, a);
    const bool keep_b =
        mn_complex_wet(c, b) || (!mn_complex_wet(c, a) && (cb > ca || (cb == ca && slides_b)));
    if (mn_complex_held(c, keep_b ? a : b)) return -1;
    if (ca != cb && mn_complex_slides(c, keep_b ? a : b) && !mn_complex_slides(c, keep_b ? b : a)) return -1;
    const int32_t kept = keep_b ? b : a, gone = keep_b ? a : b;
    const mn_complex_vertex *k = &c->vertices.data[kept], *g = &c->vertices.data[gone];
    mn_vec3 x = k->position;
    const double mass = k->mass + g->mass;
    const bool alike = ca == cb && mn_complex_slides(c, a) == mn_complex_slides(c, b);
    if (alike || (thread && k->first < 0 && ca != MN_COMPLEX_FIXED && cb != MN_COMPLEX_FIXED))
        x = mass > 0 ? mn_scale(1 / mass, mn_axpy(mn_scale(k->mass, x), g->mass, g->position))
                     : mn_lerp(x, g->position, 0.5);
    mn_vec3 before[2 * MN_COMPLEX_STAR_MAX];
    int32_t star[2 * MN_COMPLEX_STAR_MAX], count = 0;
    for (int side = 0; side < 2; side++)
        for (int32_t at = c->vertices.data[side ? gone : kept].first; at >= 0;
             at = c->triangles.data[at / 3].next[at % 3]) {
            if (count == 2 * MN_COMPLEX_STAR_MAX) return -1;
            star[count] = at / 3, before[count++] = mn_complex_normal2(c, at / 3);
        }
    mn_complex_begin(c);
    bool good = mn_complex_merge(c, kept, gone, x);
    for (int32_t i = 0; i < count && good; i++) {
        if (c->triangles.data[star[i]].v[0] < 0) continue;
        good = cosine_above(before[i], mn_complex_normal2(c, star[i]), LEAST_TURN) &&
               quality(c, star[i]) > LEAST_QUALITY;
    }
    if (!good) {
        mn_complex_undo(c);
        return -1;
    }
    mn_complex_commit(c);
    return kept;
}

// ---- passes ----

static int by_length(const void *a, const void *b)
{
    const mn_edge_entry *x = a, *y = b;
    if (x->length2 != y->length2) return x->length2 < y->length2 ? -1 : 1;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return (x->b > y->b) - (x->b < y->b);
}

static mn_status list_edge(mn_complex *c, mn_edge_list *edges, int32_t a, int32_t b, double low, double high,
                           bool graded)
{
    const double l2 = mn_norm2(mn_sub(mn_complex_position(c, a), mn_complex_position(c, b)));
    const double fine = graded ? mn_complex_fine(c, a, b) : 1;
    if (l2 >= fine * fine * low * low && l2 <= fine * fine * high * high) return MN_OK;
    const mn_edge_entry e = {l2, a < b ? a : b, a < b ? b : a};
    return mn_array_push(c->ctx, edges, &e);
}

mn_status mn_complex_list_edges(mn_complex *c, mn_edge_list *edges, double low, double high, bool graded)
{
    edges->count = 0;
    for (int64_t t = 0; t < c->triangles.count; t++) {
        if (t % PAUSE == 0) MN_TRY(mn_check_cancelled(c->ctx));
        for (int k = 0; k < 3 && c->triangles.data[t].v[0] >= 0; k++)
            MN_TRY(list_edge(c, edges, c->triangles.data[t].v[k], c->triangles.data[t].v[(k + 1) % 3], low,
                             high, graded));
    }
    for (int64_t s = 0; s < c->segments.count; s++)
        if (c->segments.data[s].v[0] >= 0)
            MN_TRY(
                list_edge(c, edges, c->segments.data[s].v[0], c->segments.data[s].v[1], low, high, graded));
    MN_TRY(mn_check_cancelled(c->ctx));
    if (edges->count > 1) qsort(edges->data, (size_t)edges->count, sizeof *edges->data, by_length);
    return MN_OK;
}

static bool still_there(const mn_complex *c, const mn_edge_entry *e)
{
    return c->vertices.data[e->a].alive && c->vertices.data[e->b].alive &&
           (mn_complex_edge(c, e->a, e->b, NULL, 0) > 0 || mn_complex_find_segment(c, e->a, e->b) >= 0) &&
           mn_norm2(mn_sub(mn_complex_position(c, e->a), mn_complex_position(c, e->b))) == e->length2;
}

// A thread along an edge of films is part of them: its liquid is on their vertices already. Left there it
// would make points of them, which neither collapse nor settle.
static void take_up_threads(mn_complex *c)
{
    for (int32_t s = 0; s < (int32_t)c->segments.count; s++) {
        const int32_t *v = c->segments.data[s].v;
        if (v[0] >= 0 && mn_complex_edge(c, v[0], v[1], NULL, 0) > 0) mn_complex_remove_segment(c, s);
    }
}

mn_status mn_complex_remesh(mn_complex *c, double shortest, double longest, mn_remesh_counts *counts)
{
    mn_edge_list edges = {0};
    mn_status status = MN_OK;
    take_up_threads(c);
    MN_TRY_TO(out, status, mn_complex_list_edges(c, &edges, 0, longest, true));
    for (int64_t i = edges.count - 1; i >= 0; i--) {
        if (i % PAUSE == 0) MN_TRY_TO(out, status, mn_check_cancelled(c->ctx));
        if (!still_there(c, &edges.data[i])) continue;
        mn_complex_begin(c);
        if (mn_complex_split(c, edges.data[i].a, edges.data[i].b) >= 0 && !c->broken) {
            mn_complex_commit(c);
            counts->splits++;
        } else {
            mn_complex_undo(c);
        }
    }
    MN_TRY_TO(out, status, mn_complex_list_edges(c, &edges, shortest, INFINITY, true));
    for (int64_t i = 0; i < edges.count; i++) {
        if (i % PAUSE == 0) MN_TRY_TO(out, status, mn_check_cancelled(c->ctx));
        if (still_there(c, &edges.data[i]) && mn_complex_collapse(c, edges.data[i].a, edges.data[i].b) >= 0)
            counts->collapses++;
    }
    for (int64_t t = 0; t < c->triangles.count; t++) {
        if (t % PAUSE == 0) MN_TRY_TO(out, status, mn_check_cancelled(c->ctx));
        for (int k = 0; k < 3 && c->triangles.data[t].v[0] >= 0; k++) {
            const int32_t *v = c->triangles.data[t].v;
            // The two angles opposite to an edge that flips are more than 180 degrees together: it is seen
            // from the obtuse one.
            if (is_obtuse(c, v[(k + 2) % 3], v[k], v[(k + 1) % 3]) &&
                mn_complex_flip(c, v[k], v[(k + 1) % 3]))
                counts->flips++;
        }
    }
out:
    mn_array_free(c->ctx, &edges);
    return status;
}
