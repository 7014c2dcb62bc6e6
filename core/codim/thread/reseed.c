// SPDX-License-Identifier: Apache-2.0
//
// Where the points of a thread are too near, too far apart, or the thread is too thin. Works on the links of
// the step with the points where the step has brought them, keeps mass and momentum, and lets each point take
// part in one change at most.
//
//   - A short link becomes one point.
//   - A long link gets a point on the cubic through its ends. It takes l/2 of each end's 2 L_p: so much that
//     a thread of even thickness stays even.
//   - A neck, unresolved and far thinner than the thread to both of its sides, or thinner than the artist
//     allows, breaks: the points in a gap just larger than what would link again go to the ends of it.
#include "codim/state.h"

#include <stdlib.h>
#include <string.h>

static const double SPLIT = 1.4, MERGE = 0.5, GAP = 2.2; // spacings
static const double NECK = 0.15;                         // of the radius to either side
static const double UNRESOLVED = 0.5;                    // spacings
static const double PI = MN_PI;
static const double LEVEL = 0.05; // under 1/16: stable
enum { NECK_WALK = 10, GAP_MOST = 8 };

static mn_codim_point *point_of(mn_codim *mls, int32_t node)
{
    return &mls->points.data[mls->threads.nodes.data[node].point];
}

static bool is_free_thread(const mn_codim *mls, int32_t node)
{
    const mn_codim_point *p = &mls->points.data[mls->threads.nodes.data[node].point];
    return p->codim == MN_CODIM_THREAD && !mn_codim_is_dead(p);
}

static bool is_touched(const mn_codim *mls, int32_t node)
{
    return mls->reseed.touched.data[mls->threads.nodes.data[node].point];
}

static void touch(mn_codim *mls, int32_t node)
{
    mls->reseed.touched.data[mls->threads.nodes.data[node].point] = 1;
}

// The node after `node` when coming from `from`; -1 where the thread ends or branches.
static int32_t next_node(const mn_codim_thread_graph *g, int32_t from, int32_t node)
{
    const mn_codim_thread_node *at = &g->nodes.data[node];
    if (at->degree != 2) return -1;
    const int32_t first = mn_codim_thread_other(g, at->link[0], node);
    return first == from ? mn_codim_thread_other(g, at->link[1], node) : first;
}

// ---- breaking ----

static double thickest(const mn_codim_thread_graph *g, int32_t from, int32_t node)
{
    double most = 0;
    for (int i = 0; i < NECK_WALK && node >= 0; i++) {
        // A film is thicker than any neck.
        const double r = g->nodes.data[node].volume > 0 ? g->shape.beads.data[node].radius : INFINITY;
        most = fmax(most, r);
        const int32_t next = next_node(g, from, node);
        from = node, node = next;
    }
    return most;
}

static bool is_neck(const mn_codim *mls, int32_t node)
{
    const mn_codim_thread_graph *g = &mls->threads;
    const mn_codim_thread_node *at = &g->nodes.data[node];
    const double r = g->shape.beads.data[node].radius;
    if (at->degree != 2 || !is_free_thread(mls, node) || mn_codim_is_held(&mls->points.data[at->point]))
        return false;
    if (2 * r < mls->def.min_thickness) return true;
    const int32_t a = mn_codim_thread_other(g, at->link[0], node),
                  b = mn_codim_thread_other(g, at->link[1], node);
    if (r > g->shape.beads.data[a].radius && g->nodes.data[a].volume > 0) return false;
    if (r > g->shape.beads.data[b].radius && g->nodes.data[b].volume > 0) return false;
    return r < UNRESOLVED * mls->def.spacing && r < NECK * fmin(thickest(g, node, a), thickest(g, node, b));
}

// One end of the gap, moved on by a point, which is handed to where the end is then; false at a fixed end.
static bool widen(mn_codim *mls, int32_t *behind, int32_t *end)
{
    const int32_t next = next_node(&mls->threads, *behind, *end);
    if (next < 0 || is_touched(mls, next) || mn_codim_is_held(point_of(mls, *end))) return false;
    if (mn_codim_is_dead(point_of(mls, next)) || !is_free_thread(mls, *end)) return false;
    mn_codim_give_all(point_of(mls, next), point_of(mls, *end));
    touch(mls, *end);
    *behind = *end, *end = next;
    return true;
}

static void break_at(mn_codim *mls, int32_t node)
{
    const mn_codim_thread_graph *g = &mls->threads;
    int32_t end[2], behind[2] = {node, node};
    for (int k = 0; k < 2; k++) end[k] = mn_codim_thread_other(g, g->nodes.data[node].link[k], node);
    for (int k = 0; k < 2; k++)
        if (is_touched(mls, end[k]) || mn_codim_is_dead(point_of(mls, end[k]))) return;
    mn_codim_point *neck = point_of(mls, node);
    const double half = 0.5 * neck->mass;
    for (int k = 0; k < 2; k++) mn_codim_give(point_of(mls, end[k]), neck, half);
    neck->mass = 0;
    touch(mls, node);
    for (int i = 0; i < GAP_MOST; i++) {
        if (mn_distance(point_of(mls, end[0])->position, point_of(mls, end[1])->position) >
            GAP * mls->def.spacing)
            break;
        const int thin = g->shape.beads.data[end[1]].radius < g->shape.beads.data[end[0]].radius;
        if (!widen(mls, &behind[thin], &end[thin]) && !widen(mls, &behind[1 - thin], &end[1 - thin])) break;
    }
    touch(mls, end[0]), touch(mls, end[1]);
}

static void break_necks(mn_codim *mls)
{
    for (int32_t n = 0; n < (int32_t)mls->threads.nodes.count; n++)
        if (!is_touched(mls, n) && is_neck(mls, n)) break_at(mls, n);
}

// ---- links ----

static mn_status list_links(mn_codim *mls, double below, double above)
{
    mn_codim_thread_graph *g = &mls->threads;
    g->edges.count = 0;
    for (int64_t i = 0; i < g->links.count; i++) {
        const int32_t a = g->links.data[i].a, b = g->links.data[i].b;
        const double d2 = mn_norm2(mn_sub(point_of(mls, a)->position, point_of(mls, b)->position));
        const mn_codim_thread_edge edge = {d2, a, b};
        if (d2 < below * below || d2 > above * above) MN_TRY(mn_array_push(g->ctx, &g->edges, &edge));
    }
    if (g->edges.count > 0)
        qsort(g->edges.data, (size_t)g->edges.count, sizeof *g->edges.data, mn_codim_thread_by_length);
    return MN_OK;
}

static mn_status merge_short_links(mn_codim *mls)
{
    const mn_codim_thread_graph *g = &mls->threads;
    MN_TRY(list_links(mls, MERGE * mls->def.spacing, INFINITY));
    for (int64_t i = 0; i < g->edges.count; i++) {
        int32_t a = g->edges.data[i].a, b = g->edges.data[i].b;
        if (is_touched(mls, a) || is_touched(mls, b) || !is_free_thread(mls, a) || !is_free_thread(mls, b))
            continue;
        if (mn_codim_is_held(point_of(mls, b))) {
            const int32_t swap = a;
            a = b, b = swap;
        }
        mn_codim_point *stays = point_of(mls, a), *goes = point_of(mls, b);
        if (mn_codim_is_held(goes)) continue;
        touch(mls, a), touch(mls, b);
        mn_codim_give_all(stays, goes);
        stays->unrest = MN_CODIM_UNREST;
    }
    return MN_OK;
}

// Part of an end's mass that half of the link holds; none of a film's.
static double share_of(const mn_codim *mls, int32_t node, double length)
{
    if (!is_free_thread(mls, node)) return 0;
    const double room = mls->threads.shape.beads.data[node].room;
    return fmin(0.5, 0.5 * length / (2 * room));
}

// Direction of the thread at a node, towards b on the link from a to b.
static mn_vec3 heading(const mn_codim *mls, int32_t node, mn_vec3 link)
{
    const mn_codim_thread_node *at = &mls->threads.nodes.data[node];
    if (at->degree != 2 || !is_free_thread(mls, node)) return link;
    const mn_vec3 t = mls->points.data[at->point].normal;
    const double along = mn_dot(t, link);
    return fabs(along) < 0.3 ? link : mn_scale(along < 0 ? -1 : 1, t);
}

static mn_status split_long_links(mn_codim *mls)
{
    const mn_codim_thread_graph *g = &mls->threads;
    MN_TRY(list_links(mls, 0, SPLIT * mls->def.spacing));
    for (int64_t i = g->edges.count - 1; i >= 0; i--) {
        const int32_t a = g->edges.data[i].a, b = g->edges.data[i].b;
        if (is_touched(mls, a) || is_touched(mls, b)) continue;
        mn_codim_point *p = point_of(mls, a), *q = point_of(mls, b);
        if (mn_codim_is_dead(p) || mn_codim_is_dead(q)) continue;
        const double length = sqrt(g->edges.data[i].length2);
        const double from_p = p->mass * share_of(mls, a, length), from_q = q->mass * share_of(mls, b, length);
        if (!(from_p + from_q > 0)) continue;
        touch(mls, a), touch(mls, b);
        const mn_vec3 link = mn_normalize(mn_sub(q->position, p->position));
        const mn_vec3 tp = heading(mls, a, link), tq = heading(mls, b, link);
        mn_codim_point born = is_free_thread(mls, a) ? *p : *q;
        born.position = mn_axpy(mn_lerp(p->position, q->position, 0.5), 0.125 * length, mn_sub(tp, tq));
        born.velocity = mn_lerp(p->velocity, q->velocity, from_q / (from_p + from_q));
        born.normal = mn_normalize(mn_add(tp, tq));
        if (!(mn_norm2(born.normal) > 0)) born.normal = link;
        born.mass = from_p + from_q;
        born.id = mls->next_id++;
        born.anchor = MN_CODIM_FREE;
        born.unrest = MN_CODIM_UNREST;
        p->mass -= from_p, q->mass -= from_q;
        if (mls->points.count >= mls->def.max_points)
            return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                           "The threads would bring more than %lld points; raise max_points, or the spacing.",
                           (long long)mls->def.max_points);
        MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, &born));
    }
    return MN_OK;
}

// The direction of each point, from where its neighbours have come.
static void turn_directions(mn_codim *mls)
{
    const mn_codim_thread_graph *g = &mls->threads;
    for (int32_t n = 0; n < (int32_t)g->nodes.count; n++) {
        mn_codim_point *point = point_of(mls, n);
        const mn_codim_thread_node *node = &g->nodes.data[n];
        if (point->codim != MN_CODIM_THREAD || node->degree == 0 || node->degree > 2) continue;
        const mn_vec3 first = point_of(mls, mn_codim_thread_other(g, node->link[0], n))->position;
        const mn_vec3 last = node->degree == 2
                                 ? point_of(mls, mn_codim_thread_other(g, node->link[1], n))->position
                                 : point->position;
        const mn_vec3 t = mn_normalize(mn_sub(last, first));
        if (mn_norm2(t) > 0) point->normal = t;
    }
}

// ---- unevenness ----

// r^2 where the step has begun, at a node's neighbour across from `from`; at an end that of the node itself.
static double square_beyond(const mn_codim_thread_graph *g, int32_t from, int32_t node)
{
    const int32_t next = next_node(g, from, node);
    const double r = g->shape.beads.data[next >= 0 && g->nodes.data[next].volume > 0 ? next : node].radius;
    return r * r;
}

// Merged points are thick and split ones uneven. Along links with a restless end mass flows with the third
// difference of r^2, which evens out the shortest waves and leaves longer ones alone.
static void level(mn_codim *mls)
{
    const mn_codim_thread_graph *g = &mls->threads;
    for (int64_t i = 0; i < g->links.count; i++) {
        const int32_t a = g->links.data[i].a, b = g->links.data[i].b;
        mn_codim_point *p = point_of(mls, a), *q = point_of(mls, b);
        if (!is_free_thread(mls, a) || !is_free_thread(mls, b) || (p->unrest == 0 && q->unrest == 0))
            continue;
        if (g->nodes.data[a].degree > 2 || g->nodes.data[b].degree > 2 || mn_codim_is_held(p) ||
            mn_codim_is_held(q))
            continue;
        const mn_codim_thread_bead *at = &g->shape.beads.data[a], *to = &g->shape.beads.data[b];
        const double ra2 = at->radius * at->radius, rb2 = to->radius * to->radius;
        const double third = square_beyond(g, a, b) - 3 * rb2 + 3 * ra2 - square_beyond(g, b, a);
        const double flow = LEVEL * mls->def.density * PI * fmin(at->room, to->room) * third;
        const double most = 0.05 * fmin(p->mass, q->mass), sent = fmin(most, fabs(flow));
        mn_codim_point *giver = flow > 0 ? p : q, *taker = flow > 0 ? q : p;
        const mn_vec3 place = taker->position;
        mn_codim_give(taker, giver, sent);
        taker->position = place;
        giver->mass -= sent;
    }
    for (int64_t n = 0; n < g->nodes.count; n++) {
        mn_codim_point *point = &mls->points.data[g->nodes.data[n].point];
        if (point->codim == MN_CODIM_THREAD && point->unrest > 0) point->unrest--;
    }
}

mn_status mn_codim_reseed_threads(mn_codim *mls)
{
    turn_directions(mls);
    level(mls);
    break_necks(mls);
    MN_TRY(merge_short_links(mls));
    return split_long_links(mls);
}
