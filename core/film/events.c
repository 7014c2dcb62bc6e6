// SPDX-License-Identifier: Apache-2.0
//
// Changes of topology (events.h).
//
//   T1       an edge that shrinks, (F_b - F_a).(x_b - x_a) < 0, between two points or between two borders:
//            merge its ends, take the vertex apart again by the move that lowers the area most. When the same
//            pairs of sectors meet after it as before, the edge was a stable short one: undo. Without this
//            foams flip to and fro and never come to rest.
//   forced   an edge that the link condition protects: a film tube one triangle around. Merge it with the
//            rest of its ring; the vertex comes apart into two, and the tube is cut.
//   strip    an edge across a film that air goes around: both its sides are one sector, so its free rim is
//            near and nothing can be exchanged between neighbours. The rim meets what is on the other side:
//            a border takes it up, another rim makes a thread of both.
#include "film/events.h"

#include <math.h>
#include <string.h>

enum { RING_MAX = 8, VANISH_MAX = 24, T1_MAX = 12, PAUSE = 256 };
static const double FORCED = 0.3; // of the size

mn_vec3 mn_film_force_at(const mn_complex *c, const mn_film_forces *forces, int32_t v)
{
    mn_vec3 sum = {0};
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        const mn_complex_triangle *t = &c->triangles.data[at / 3];
        const mn_vec3 n2 = mn_complex_normal2(c, at / 3);
        const mn_vec3 e = mn_sub(mn_complex_position(c, t->v[(at % 3 + 2) % 3]),
                                 mn_complex_position(c, t->v[(at % 3 + 1) % 3]));
        sum = mn_axpy(sum, 0.5 * forces->tension, mn_cross(e, mn_normalize(n2)));
        double push = 0;
        for (int side = 0; side < 2; side++)
            if (t->region[side] < forces->region_count)
                push += (side == 0 ? 1 : -1) * forces->excess[t->region[side]];
        sum = mn_axpy(sum, push / 6, n2);
    }
    return sum;
}

// ---- which sectors meet ----

typedef struct meetings {
    bool meet[MN_SECTOR_MAX][MN_SECTOR_MAX];
} meetings;

static void note_meeting(meetings *m, int32_t a, int32_t b)
{
    m->meet[a][b] = m->meet[b][a] = true;
}

static void meetings_before(const mn_sectors *s, meetings *m)
{
    memset(m, 0, sizeof *m);
    for (int32_t i = 0; i < s->count; i++) note_meeting(m, s->sector[2 * i], s->sector[2 * i + 1]);
}

// True when after the move the same sectors meet; sectors are known by the triangles that have survived.
static bool same_meetings(const mn_complex *c, const mn_sectors *before, const meetings *were,
                          const mn_resolve_list *list)
{
    mn_sectors now;
    int32_t alive[MN_RESOLVE_MAX], count = 0;
    for (int32_t i = 0; i < list->count; i++)
        if (c->vertices.data[list->vertex[i]].alive) alive[count++] = list->vertex[i];
    if (!mn_sectors_build(c, alive, count, &now)) return false;
    int32_t old[MN_SECTOR_MAX];
    for (int32_t i = 0; i < now.sector_count; i++) old[i] = -1;
    for (int32_t i = 0; i < now.count; i++) {
        const int32_t at = mn_sectors_find(before, now.triangle[i]);
        for (int32_t side = 0; at >= 0 && side < 2; side++)
            old[now.sector[2 * i + side]] = before->sector[2 * at + side];
    }
    meetings are;
    memset(&are, 0, sizeof are);
    for (int32_t i = 0; i < now.count; i++) {
        const int32_t a = old[now.sector[2 * i]], b = old[now.sector[2 * i + 1]];
        if (a < 0 || b < 0) return false;
        note_meeting(&are, a, b);
    }
    return memcmp(&are, were, sizeof are) == 0;
}

// ---- T1 ----

static mn_vec3 meeting_place(const mn_complex *c, int32_t kept, int32_t gone, bool middle)
{
    const mn_complex_vertex *k = &c->vertices.data[kept], *g = &c->vertices.data[gone];
    const double mass = k->mass + g->mass;
    if (!middle) return k->position;
    return mass > 0 ? mn_scale(1 / mass, mn_axpy(mn_scale(k->mass, k->position), g->mass, g->position))
                    : mn_lerp(k->position, g->position, 0.5);
}

// Which end stays, and whether it may move; false when neither may give way.
static bool choose_kept(const mn_complex *c, int32_t a, int32_t b, int32_t *kept, bool *middle)
{
    const bool held_a = mn_complex_held(c, a), held_b = mn_complex_held(c, b);
    const bool slides_a = mn_complex_slides(c, a), slides_b = mn_complex_slides(c, b);
    if (held_a && held_b) return false;
    *kept = held_b || (slides_b && !slides_a && !held_a) ? b : a;
    *middle = !held_a && !held_b && slides_a == slides_b;
    return true;
}

static bool shrinks(const mn_complex *c, const mn_film_forces *forces, int32_t a, int32_t b)
{
    mn_vec3 force[2];
    for (int i = 0; i < 2; i++) {
        const mn_complex_vertex *v = &c->vertices.data[i ? b : a];
        force[i] = mn_film_force_at(c, forces, i ? b : a);
        force[i] = mn_axpy(force[i], -mn_dot(force[i], v->slide), v->slide);
        if (v->wire[0] >= 0 || v->jet != 0) force[i] = mn_v3(0, 0, 0);
    }
    return mn_dot(mn_sub(force[1], force[0]), mn_sub(mn_complex_position(c, b), mn_complex_position(c, a))) <
           0;
}

static void push_crowded(const mn_complex *c, int32_t v, mn_resolve_list *list)
{
    int32_t neighbours[2 * MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_neighbours(c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
    for (int32_t i = 0; i < count && list->count < MN_RESOLVE_MAX / 3; i++)
        if (mn_complex_edge(c, v, neighbours[i], NULL, 0) > 3) mn_resolve_push(list, neighbours[i]);
}

/// What goes together in one T1: edges, and vertices inside of a film that has become a line.
typedef struct t1_edges {
    int32_t count, end[2 * T1_MAX];
    int32_t inner_count, inner[T1_MAX], beside[T1_MAX]; ///< each with an end that it is next to
} t1_edges;

static bool among(const t1_edges *t, int32_t v)
{
    for (int32_t i = 0; i < 2 * t->count; i++)
        if (t->end[i] == v) return true;
    for (int32_t i = 0; i < t->inner_count; i++)
        if (t->inner[i] == v) return true;
    return false;
}

// All films at v are needles.
static bool is_in_line(const mn_complex *c, int32_t v, double least)
{
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
        const int32_t *w = c->triangles.data[at / 3].v;
        double longest = 0;
        for (int k = 0; k < 3; k++)
            longest = fmax(longest,
                           mn_distance(mn_complex_position(c, w[k]), mn_complex_position(c, w[(k + 1) % 3])));
        if (mn_norm(mn_complex_normal2(c, at / 3)) > least * longest) return false;
    }
    return true;
}

// Adds what a triangle at v leads to: a vertex inside of the line, or the edge on its other side.
static void follow_triangle(const mn_complex *c, int32_t v, int32_t p, int32_t q, double least, t1_edges *t)
{
    for (int i = 0; i < 2; i++) {
        const int32_t m = i ? q : p;
        if (t->inner_count == T1_MAX || among(t, m) || mn_complex_class_of(c, m) != MN_COMPLEX_INSIDE ||
            mn_complex_slides(c, m) || !is_in_line(c, m, least))
            continue;
        t->inner[t->inner_count] = m, t->beside[t->inner_count++] = v;
    }
    if (mn_complex_wet(c, p) || mn_complex_wet(c, q)) return;
    if (t->count == T1_MAX || among(t, p) || among(t, q) || mn_complex_held(c, p) || mn_complex_held(c, q) ||
        mn_complex_slides(c, p) != mn_complex_slides(c, q))
        return;
    if (mn_distance(mn_complex_position(c, p), mn_complex_position(c, q)) > least ||
        mn_complex_class_of(c, p) == MN_COMPLEX_INSIDE || mn_complex_class_of(c, q) == MN_COMPLEX_INSIDE)
        return;
    t->end[2 * t->count] = p, t->end[2 * t->count + 1] = q;
    t->count++;
}

// A film that has become a line has a short edge at both of its ends and across its whole length: merged one
// by one none of them would help, for the film that is to open can only do so along the line. Vertices inside
// of it, which ordinary collapses keep for the shape of its triangles, go with their neighbours.
static void follow_line(const mn_complex *c, double least, t1_edges *t)
{
    int32_t ends = 0, inner = 0;
    while (ends < 2 * t->count || inner < t->inner_count) {
        const bool inside = ends == 2 * t->count;
        const int32_t v = inside ? t->inner[inner] : t->end[ends];
        const int32_t beside = inside ? t->beside[inner] : v;
        for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3]) {
            const int32_t *w = c->triangles.data[at / 3].v;
            follow_triangle(c, beside, w[(at % 3 + 1) % 3], w[(at % 3 + 2) % 3], least, t);
        }
        if (inside)
            inner++;
        else
            ends++;
    }
}

// Merges the edges and what is inside of the line; the vertices that stay are in the list.
static bool merge_line(mn_complex *c, const t1_edges *t, int32_t kept, bool middle, mn_resolve_list *list)
{
    for (int32_t i = 0; i < t->count; i++) {
        if (i > 0) kept = t->end[2 * i], middle = true;
        const int32_t gone = kept == t->end[2 * i] ? t->end[2 * i + 1] : t->end[2 * i];
        if (!mn_complex_merge(c, kept, gone, meeting_place(c, kept, gone, middle))) return false;
        mn_resolve_push(list, kept);
    }
    for (int32_t i = 0; i < t->inner_count; i++) {
        int32_t to = t->beside[i];
        for (int32_t k = 0; k < t->count && !c->vertices.data[to].alive; k++)
            if (t->end[2 * k] == to || t->end[2 * k + 1] == to)
                to = t->end[2 * k] == to ? t->end[2 * k + 1] : t->end[2 * k];
        if (!mn_complex_merge(c, to, t->inner[i], mn_complex_position(c, to))) return false;
    }
    return true;
}

static bool try_t1(mn_complex *c, int32_t a, int32_t b, double size, double least, mn_remesh_counts *counts)
{
    t1_edges edges = {.count = 1, .end = {a, b}};
    mn_sectors before;
    meetings were;
    int32_t kept;
    bool middle;
    if (!choose_kept(c, a, b, &kept, &middle)) return false;
    const bool crowded = mn_complex_edge(c, a, b, NULL, 0) > 3;
    follow_line(c, least, &edges);
    if (!mn_sectors_build(c, edges.end, 2 * edges.count, &before)) return false;
    meetings_before(&before, &were);
    mn_complex_begin(c);
    mn_resolve_list list = {0, {0}};
    bool good = merge_line(c, &edges, kept, middle, &list);
    if (good) {
        for (int32_t i = 0, n = list.count; i < n; i++) push_crowded(c, list.vertex[i], &list);
        mn_resolve(c, &list, size);
        good = !c->broken && (crowded || !same_meetings(c, &before, &were, &list));
        if (!good) counts->undone++;
    }
    if (!good) {
        mn_complex_undo(c);
        return false;
    }
    mn_complex_commit(c);
    counts->t1++;
    return true;
}

// ---- forced collapse ----

static bool force_collapse(mn_complex *c, int32_t a, int32_t b, double size, mn_remesh_counts *counts)
{
    int32_t kept;
    bool middle;
    if (!choose_kept(c, a, b, &kept, &middle)) return false;
    mn_complex_begin(c);
    const int32_t gone = kept == a ? b : a;
    mn_resolve_list list = {1, {kept}};
    bool good = mn_complex_merge(c, kept, gone, meeting_place(c, kept, gone, middle));
    for (int32_t i = 0; i < RING_MAX && good; i++) { // the rest of the ring
        int32_t neighbours[2 * MN_COMPLEX_STAR_MAX], next = -1;
        const int32_t count = mn_complex_neighbours(c, kept, neighbours, 2 * MN_COMPLEX_STAR_MAX);
        for (int32_t k = 0; k < count && next < 0; k++) {
            const int32_t w = neighbours[k];
            const double l = mn_distance(mn_complex_position(c, kept), mn_complex_position(c, w));
            if (l < size && mn_complex_edge(c, kept, w, NULL, 0) > 3 && !mn_complex_held(c, w) &&
                !mn_complex_slides(c, w))
                next = w;
        }
        if (next < 0) break;
        good = mn_complex_merge(c, kept, next, mn_complex_position(c, kept));
    }
    if (good) mn_resolve(c, &list, size);
    if (!good || c->broken) {
        mn_complex_undo(c);
        return false;
    }
    mn_complex_commit(c);
    counts->forced++;
    return true;
}

// ---- strips ----

static bool is_loose(const mn_complex *c, int32_t a, int32_t b)
{
    int32_t list[2];
    const int32_t ends[2] = {a, b};
    mn_sectors s;
    if (mn_complex_edge(c, a, b, list, 2) != 2) return false;
    for (int32_t i = 0; i < 2; i++)
        if (c->triangles.data[list[i]].region[0] != c->triangles.data[list[i]].region[1]) return false;
    if (!mn_sectors_build(c, ends, 2, &s)) return false;
    for (int32_t i = 0; i < 2; i++) {
        const int32_t at = mn_sectors_find(&s, list[i]);
        if (s.sector[2 * at] != s.sector[2 * at + 1]) return false;
    }
    return true;
}

static bool merge_strip(mn_complex *c, int32_t a, int32_t b, mn_remesh_counts *counts)
{
    int32_t kept;
    bool middle;
    if (!choose_kept(c, a, b, &kept, &middle)) return false;
    const int32_t gone = kept == a ? b : a;
    mn_complex_begin(c);
    if (!mn_complex_merge(c, kept, gone, meeting_place(c, kept, gone, middle)) || c->broken) {
        mn_complex_undo(c);
        return false;
    }
    mn_complex_commit(c);
    counts->collapses++;
    return true;
}

// ---- the pass ----

// Topology forbids the collapse, not shape: a common neighbour that is no apex of the edge's triangles.
static bool is_protected(const mn_complex *c, int32_t a, int32_t b)
{
    int32_t neighbours[2 * MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_neighbours(c, a, neighbours, 2 * MN_COMPLEX_STAR_MAX);
    for (int32_t i = 0; i < count; i++)
        if (neighbours[i] != b && mn_complex_edge(c, b, neighbours[i], NULL, 0) > 0 &&
            mn_complex_find(c, a, b, neighbours[i], -1) < 0)
            return true;
    return false;
}

mn_status mn_film_events(mn_complex *c, const mn_film_forces *forces, double size, double least,
                         mn_remesh_counts *counts)
{
    mn_edge_list edges = {0};
    mn_status status = MN_OK;
    const double longest = fmax(least, FORCED * size);
    MN_TRY_TO(out, status, mn_complex_list_edges(c, &edges, longest, INFINITY, false));
    for (int64_t i = 0; i < edges.count; i++) {
        const mn_edge_entry e = edges.data[i];
        if (i % PAUSE == 0) MN_TRY_TO(out, status, mn_check_cancelled(c->ctx));
        if (!c->vertices.data[e.a].alive || !c->vertices.data[e.b].alive || mn_complex_wet(c, e.a) ||
            mn_complex_wet(c, e.b))
            continue;
        const int32_t n = mn_complex_edge(c, e.a, e.b, NULL, 0);
        const double l2 = mn_norm2(mn_sub(mn_complex_position(c, e.a), mn_complex_position(c, e.b)));
        if (n == 0 || l2 > longest * longest) continue;
        const mn_complex_class ca = mn_complex_class_of(c, e.a), cb = mn_complex_class_of(c, e.b);
        const bool points = ca >= MN_COMPLEX_POINT && cb >= MN_COMPLEX_POINT;
        const bool across = ca != MN_COMPLEX_INSIDE && cb != MN_COMPLEX_INSIDE && n == 2;
        if (across && is_loose(c, e.a, e.b)) {
            merge_strip(c, e.a, e.b, counts);
        } else if (points || across) {
            if (l2 < least * least && shrinks(c, forces, e.a, e.b)) try_t1(c, e.a, e.b, size, least, counts);
        } else if (l2 < FORCED * FORCED * size * size && is_protected(c, e.a, e.b)) {
            force_collapse(c, e.a, e.b, size, counts);
        }
    }
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        if (!c->vertices.data[v].alive || mn_complex_class_of(c, v) == MN_COMPLEX_INSIDE ||
            mn_complex_held(c, v) || mn_complex_wet(c, v) || !mn_is_crowded(c, v))
            continue;
        mn_complex_begin(c);
        mn_resolve_list list = {1, {v}};
        if (mn_resolve(c, &list, size) && !c->broken)
            mn_complex_commit(c);
        else
            mn_complex_undo(c);
    }
out:
    mn_array_free(c->ctx, &edges);
    return status;
}

// ---- punctures and vanishing pockets ----

bool mn_film_puncture(mn_complex *c, int32_t v, int32_t joined[2 * MN_PUNCTURE_MAX], int32_t *joined_count)
{
    int32_t star[MN_COMPLEX_STAR_MAX], ring[2 * MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_star(c, v, star, MN_COMPLEX_STAR_MAX);
    const int32_t around = mn_complex_neighbours(c, v, ring, 2 * MN_COMPLEX_STAR_MAX);
    *joined_count = 0;
    if (count == 0 || count > MN_COMPLEX_STAR_MAX || mn_complex_held(c, v)) return false;
    mn_complex_begin(c);
    for (int32_t i = 0; i < count; i++) {
        const int32_t a = c->triangles.data[star[i]].region[0], b = c->triangles.data[star[i]].region[1];
        bool known = a == b;
        for (int32_t k = 0; k < *joined_count && !known; k++)
            known = joined[2 * k] == (a < b ? a : b) && joined[2 * k + 1] == (a < b ? b : a);
        if (!known) {
            if (*joined_count == MN_PUNCTURE_MAX) {
                mn_complex_undo(c);
                return false;
            }
            joined[2 * *joined_count] = a < b ? a : b, joined[2 * *joined_count + 1] = a < b ? b : a;
            ++*joined_count;
        }
        mn_complex_remove_triangle(c, star[i]);
    }
    mn_complex_vertex *old = mn_complex_edit_vertex(c, v);
    double mass = old->mass, rest = old->rest_area;
    const mn_vec3 velocity = old->velocity;
    const bool lone = old->first_segment < 0;
    for (int32_t i = 0; i < around && lone; i++) {
        mn_complex_vertex *w = mn_complex_edit_vertex(c, ring[i]);
        const double share = mass / (around - i), area = rest / (around - i);
        const double before = mn_complex_inertia(w), all = before + share;
        if (all > 0) w->velocity = mn_scale(1 / all, mn_axpy(mn_scale(before, w->velocity), share, velocity));
        w->mass += share, w->rest_area += area;
        mass -= share, rest -= area;
    }
    if (lone) mn_complex_remove_vertex(c, v);
    if (c->broken) {
        mn_complex_undo(c);
        return false;
    }
    mn_complex_commit(c);
    return true;
}

bool mn_film_vanish(mn_complex *c, int32_t region, double size)
{
    int32_t vertex[3 * VANISH_MAX], count = 0, triangles = 0;
    for (int64_t t = 0; t < c->triangles.count; t++) {
        const mn_complex_triangle *triangle = &c->triangles.data[t];
        if (triangle->v[0] < 0 || (triangle->region[0] != region && triangle->region[1] != region)) continue;
        if (++triangles > VANISH_MAX) return false;
        for (int k = 0; k < 3; k++) {
            int32_t i = 0;
            while (i < count && vertex[i] != triangle->v[k]) i++;
            if (mn_complex_held(c, triangle->v[k]) || mn_complex_slides(c, triangle->v[k]) ||
                mn_complex_wet(c, triangle->v[k]))
                return false;
            if (i == count) vertex[count++] = triangle->v[k];
        }
    }
    if (count < 2) return false;
    mn_complex_begin(c);
    double mass = 0;
    mn_vec3 x = {0}, mean = {0};
    for (int32_t i = 0; i < count; i++) {
        mass += c->vertices.data[vertex[i]].mass;
        x = mn_axpy(x, c->vertices.data[vertex[i]].mass, mn_complex_position(c, vertex[i]));
        mean = mn_axpy(mean, 1.0 / count, mn_complex_position(c, vertex[i]));
    }
    x = mass > 0 ? mn_scale(1 / mass, x) : mean;
    bool good = true;
    for (int32_t i = 1; i < count && good; i++) good = mn_complex_merge(c, vertex[0], vertex[i], x);
    mn_resolve_list list = {1, {vertex[0]}};
    if (good) mn_resolve(c, &list, size);
    for (int64_t t = 0; t < c->triangles.count && good; t++) {
        const mn_complex_triangle *triangle = &c->triangles.data[t];
        good = triangle->v[0] < 0 || (triangle->region[0] != region && triangle->region[1] != region);
    }
    if (!good || c->broken) {
        mn_complex_undo(c);
        return false;
    }
    mn_complex_commit(c);
    return true;
}
