// SPDX-License-Identifier: Apache-2.0
//
// Points change their codimension with their surroundings [wang2020] section 8, by the step's triangles and
// links. Every change hands mass over with its momentum.
//
//   1 to 2  a strip of film so narrow that it has no inner points within two rings becomes a thread: pairs
//           across it become one point each
//   1 to 3  a film's point without triangles is a drop
//   2 to 1  a thread's point that film has grown around becomes part of it; one that touches it is taken in
//   2 to 3  a thread no longer than it is thick, or of one point, is a drop
//   3 to 1, 3 to 2  a drop that touches something becomes part of it; drops among themselves: drop_joining.c
//
// The way from film to thread asks for more than the way back, so that nothing flips to and fro.
#include "codim/state.h"

#include <stdlib.h>
#include <string.h>

static const double FALL_IN = 0.6;  // spacings
static const double GROWN_IN = 1.3; // spacings to an inner point of the film
static const double BALL = 2.2;     // a thread this many radii of its ball long is one
static const double HEAP = 2.5;     // cubes of the spacing: film is not thicker than its points are wide
static const double SPIKE = 2;      // times the mean of its neighbours
static const double STOUT = 1;      // cubes of the spacing: more than film would take in
enum { SHARERS = 64, FILM = 0, THREAD };

// ---- 1 to 2 ----

static bool is_rim(const mn_codim *mls, int32_t p)
{
    return mls->surface.edge.data[p] && !mn_codim_is_held(&mls->points.data[p]) &&
           !mn_codim_is_dead(&mls->points.data[p]) && !mn_codim_is_attached(mls, p);
}

static bool ring_is_rim(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    if (!is_rim(mls, p)) return false;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        if (!is_rim(mls, m->column.data[e])) return false;
    return true;
}

// Rim, and so are the points up to two edges away.
static bool is_strip(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    if (mls->surface.fans.data[p].count == 0 || !ring_is_rim(mls, p)) return false;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        if (!ring_is_rim(mls, m->column.data[e])) return false;
    return true;
}

// Where the neighbours in the film lie.
static mn_vec3 way_along(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    mn_mat3 c = {{{0}}}, axes;
    mn_vec3 values;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
        const mn_vec3 d = mn_sub(mls->x0.data[m->column.data[e]], mls->x0.data[p]);
        c = mn_m3_add(c, mn_outer(d, d));
    }
    mn_m3_eigen_symmetric(c, &values, &axes);
    return mn_normalize(mn_m3_column(axes, 0));
}

// Edges between the points of strips with film on both sides: those across.
static mn_status list_rungs(mn_codim *mls)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    mls->reseed.edges.count = 0;
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        if (mls->reseed.touched.data[p] != 1) continue;
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            const int32_t q = m->column.data[e];
            const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
            if (q < p || mls->reseed.touched.data[q] != 1) continue;
            if (!fan_has_edge(fan, q) || !fan_has_reverse_edge(fan, q)) continue;
            const mn_codim_edge edge = {
                mn_norm2(mn_sub(mls->points.data[p].position, mls->points.data[q].position)), p, q};
            MN_TRY(mn_array_push(mls->solver.ctx, &mls->reseed.edges, &edge));
        }
    }
    if (mls->reseed.edges.count > 0)
        qsort(mls->reseed.edges.data, (size_t)mls->reseed.edges.count, sizeof *mls->reseed.edges.data,
              mn_codim_by_length);
    return MN_OK;
}

static mn_status strips_to_threads(mn_codim *mls)
{
    bool any = false;
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        const bool strip = mls->points.data[p].codim == MN_CODIM_FILM && is_strip(mls, p);
        mls->reseed.touched.data[p] = strip;
        any = any || strip;
    }
    if (!any) return MN_OK;
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (mls->reseed.touched.data[p] != 1) continue;
        const mn_vec3 along = way_along(mls, p);
        point->codim = MN_CODIM_THREAD, point->pocket = -1, point->unrest = 0;
        if (mn_norm2(along) > 0) point->normal = along;
    }
    MN_TRY(list_rungs(mls));
    for (int64_t i = 0; i < mls->reseed.edges.count; i++) {
        const int32_t p = mls->reseed.edges.data[i].p, q = mls->reseed.edges.data[i].q;
        if (mls->reseed.touched.data[p] != 1 || mls->reseed.touched.data[q] != 1) continue;
        mls->reseed.touched.data[p] = mls->reseed.touched.data[q] = 2;
        mn_codim_give_all(&mls->points.data[p], &mls->points.data[q]);
    }
    return MN_OK;
}

// m^3
static double volume_of(const mn_codim *mls, int32_t p)
{
    return mls->points.data[p].mass / mls->def.density;
}

static double cube(double a)
{
    return a * a * a;
}

static bool beside_rim(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
        const int32_t q = m->column.data[e];
        if (mls->surface.edge.data[q]) return true;
        for (int64_t f = m->start.data[q]; f < m->start.data[q + 1]; f++)
            if (mls->surface.edge.data[m->column.data[f]]) return true;
    }
    return false;
}

// Film that runs together at a point piles up there, and behind the fingers of a rim that may shed.
static bool is_heap(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    const mn_codim_point *point = &mls->points.data[p];
    if (point->codim != MN_CODIM_FILM || mn_codim_is_dead(point) || mn_codim_is_held(point)) return false;
    if (mls->surface.edge.data[p] || mls->surface.fans.data[p].count == 0 || mn_codim_is_attached(mls, p))
        return false;
    if (!(volume_of(mls, p) > HEAP * cube(mls->def.spacing))) return false;
    double sum = 0;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        sum += volume_of(mls, m->column.data[e]);
    if (!(volume_of(mls, p) * (double)(m->start.data[p + 1] - m->start.data[p]) > SPIKE * sum)) return false;
    return mls->def.rim_thickness > 0 || !beside_rim(mls, p); // other rims keep what they have
}

static void heaps_to_threads(mn_codim *mls)
{
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (!is_heap(mls, p)) continue;
        point->codim = MN_CODIM_THREAD, point->pocket = -1, point->unrest = 0;
        point->normal = mls->surface.normal.data[p]; // it leaves the film across
    }
}

// ---- what is near ----

typedef struct meeting {
    const mn_codim *mls;
    int32_t self;
    int32_t film, thread; ///< the nearest of each kind in touch; -1: none
    double nearest[2];
    int32_t sharers[2][SHARERS], sharer_count[2]; ///< film and thread in touch
    int32_t films;                                ///< points of film around
    int32_t beside;                               ///< the nearest of them; -1: none
    double beside2;
    bool inner, rim; ///< one of them is not on its rim; is
    mn_vec3 position;
    double radius;
} meeting;

static void keep_nearest(meeting *m, int kind, int32_t *slot, int32_t point, double d2)
{
    if (d2 < m->nearest[kind] || (d2 == m->nearest[kind] && point < *slot))
        m->nearest[kind] = d2, *slot = point;
}

static void meet(void *user, int32_t point, double unused)
{
    meeting *m = user;
    const mn_codim *mls = m->mls;
    const mn_codim_point *other = &mls->points.data[point];
    if (point == m->self || mn_codim_is_dead(other)) return;
    const double d2 = mn_norm2(mn_sub(other->position, m->position)); // where it is now
    const double near = FALL_IN * mls->def.spacing;
    (void)unused;
    switch (other->codim) {
    case MN_CODIM_FILM:
        if (d2 < GROWN_IN * GROWN_IN * mls->def.spacing * mls->def.spacing) {
            m->films++;
            if (d2 < m->beside2 || (d2 == m->beside2 && point < m->beside))
                m->beside = point, m->beside2 = d2;
            if (mls->surface.edge.data[point])
                m->rim = true;
            else
                m->inner = true;
        }
        if (d2 > fmax(near, m->radius) * fmax(near, m->radius)) return;
        keep_nearest(m, FILM, &m->film, point, d2);
        if (m->sharer_count[FILM] < SHARERS) m->sharers[FILM][m->sharer_count[FILM]++] = point;
        return;
    case MN_CODIM_THREAD: {
        const double touch = fmax(near, m->radius + 0.5 * mls->thickness.data[point]);
        if (d2 < touch * touch) {
            keep_nearest(m, THREAD, &m->thread, point, d2);
            if (m->sharer_count[THREAD] < SHARERS) m->sharers[THREAD][m->sharer_count[THREAD]++] = point;
        }
        return;
    }
    default:
        return;
    }
}

static meeting look_around(const mn_codim *mls, int32_t p, double radius, double reach)
{
    meeting m = {
        .mls = mls, .self = p, .film = -1, .thread = -1, .beside = -1, .beside2 = INFINITY, .radius = radius};
    for (int i = 0; i < 2; i++) m.nearest[i] = INFINITY;
    m.position = mls->points.data[p].position;
    mn_neighbours_visit(mls->reseed.moved, m.position, reach, meet, &m);
    return m;
}

// All that is in touch takes an equal part, so that a large drop does not become a spike.
static void fall_in(mn_codim *mls, const meeting *m, int kind, mn_codim_point *point)
{
    const int32_t count = m->sharer_count[kind];
    const double share = point->mass / count;
    for (int32_t i = 0; i < count; i++) {
        const int32_t taker = m->sharers[kind][i];
        mn_codim_point *other = &mls->points.data[taker];
        const mn_vec3 place = other->position;
        mn_codim_give(other, point, share);
        if (count > 1) other->position = place;
        if (kind == THREAD || !mls->surface.edge.data[taker]) other->unrest = MN_CODIM_UNREST;
    }
    point->mass = 0;
}

// ---- drops ----

static void films_to_drops(mn_codim *mls)
{
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (mn_codim_is_dead(point) || mn_codim_is_held(point) || point->codim != MN_CODIM_FILM) continue;
        if (point->unrest > 0 && mls->def.rim_collision > 0) continue; // the first row of a new sheet
        if (mls->surface.fans.data[p].count > 0) continue;
        point->codim = mls->threads.node_of.data[p] >= 0 ? MN_CODIM_THREAD : MN_CODIM_DROP;
        point->unrest = 0;
    }
}

// One that a rim has just shed is on its way, and does not fall back into it.
static void drops_fall_in(mn_codim *mls, double thickest)
{
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (point->codim != MN_CODIM_DROP || mn_codim_is_dead(point) || mn_codim_is_held(point)) continue;
        const bool shed = point->unrest > 0;
        point->unrest -= shed;
        const double r = mn_codim_ball_radius(point->mass / mls->def.density);
        const meeting m = look_around(mls, p, r, fmax(FALL_IN * mls->def.spacing, r + thickest));
        if (m.film >= 0 && !shed && m.nearest[FILM] <= m.nearest[THREAD])
            fall_in(mls, &m, FILM, point);
        else if (m.thread >= 0)
            fall_in(mls, &m, THREAD, point);
    }
}

// ---- 2 to 1, and thick threads ----

// What a thread thicker than film can be has run into.
static void take_film(mn_codim *mls, const meeting *m, mn_codim_point *point)
{
    for (int32_t i = 0; i < m->sharer_count[FILM]; i++) {
        mn_codim_point *film = &mls->points.data[m->sharers[FILM][i]];
        if (!mn_codim_is_held(film) && !mn_codim_is_dead(film)) mn_codim_give_all(point, film);
    }
}

static void threads_to_film(mn_codim *mls)
{
    const bool piles = !(mls->def.rim_collision > 0);
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (point->codim != MN_CODIM_THREAD || mn_codim_is_dead(point) || mn_codim_is_held(point)) continue;
        if (mls->use.data[p] != 1) continue; // it has just become one
        const meeting m = look_around(mls, p, 0, GROWN_IN * mls->def.spacing);
        const bool stout = piles && volume_of(mls, p) > STOUT * cube(mls->def.spacing) &&
                           (!m.rim || mls->def.rim_thickness > 0);
        if (stout) {
            take_film(mls, &m, point);
        } else if (m.film >= 0) {
            fall_in(mls, &m, FILM, point);
        } else if (m.inner && m.films >= 2) {
            point->codim = MN_CODIM_FILM;
            point->normal = mls->points.data[m.beside].normal; // which says which side is which
            point->link = mls->points.data[m.beside].link;
            point->unrest = MN_CODIM_UNREST;
        }
    }
}

// ---- 2 to 3 ----

typedef struct clump {
    double length, volume;
    int32_t held; ///< 1: on a film or a ring
} clump;

static mn_status threads_to_drops(mn_codim *mls)
{
    const mn_codim_thread_graph *g = &mls->threads;
    const int32_t count = (int32_t)g->nodes.count;
    MN_ARRAY(int32_t) parents = {0};
    MN_ARRAY(clump) clumps = {0};
    mn_status status;
    MN_TRY_TO(out, status, mn_array_resize(mls->solver.ctx, &parents, count));
    MN_TRY_TO(out, status, mn_array_resize(mls->solver.ctx, &clumps, count));
    for (int32_t n = 0; n < count; n++) parents.data[n] = n, clumps.data[n] = (clump){0};
    for (int64_t i = 0; i < g->links.count; i++) {
        const int32_t a = mn_codim_find_root(parents.data, g->links.data[i].a),
                      b = mn_codim_find_root(parents.data, g->links.data[i].b);
        parents.data[a < b ? b : a] = a < b ? a : b;
    }
    for (int64_t i = 0; i < g->links.count; i++) {
        const mn_codim_point *p = &mls->points.data[g->nodes.data[g->links.data[i].a].point],
                             *q = &mls->points.data[g->nodes.data[g->links.data[i].b].point];
        clumps.data[mn_codim_find_root(parents.data, g->links.data[i].a)].length +=
            mn_distance(p->position, q->position);
    }
    for (int32_t n = 0; n < count; n++) {
        const mn_codim_point *point = &mls->points.data[g->nodes.data[n].point];
        clump *c = &clumps.data[mn_codim_find_root(parents.data, n)];
        c->volume += point->mass / mls->def.density;
        if (point->codim != MN_CODIM_THREAD || mn_codim_is_held(point)) c->held = 1;
    }
    for (int32_t n = 0; n < count; n++) {
        const int32_t root = mn_codim_find_root(parents.data, n);
        const clump *c = &clumps.data[root];
        if (c->held || !(c->length <= BALL * mn_codim_ball_radius(c->volume))) continue;
        mn_codim_point *point = &mls->points.data[g->nodes.data[n].point],
                       *drop = &mls->points.data[g->nodes.data[root].point];
        if (mn_codim_is_dead(point)) continue;
        if (mn_codim_is_dead(drop)) { // a film has taken the first one in
            point->codim = MN_CODIM_DROP, point->unrest = 0;
            continue;
        }
        drop->codim = MN_CODIM_DROP, drop->unrest = 0;
        if (n != root) mn_codim_give_all(drop, point);
    }
    status = MN_OK;
out:
    mn_array_free(mls->solver.ctx, &parents);
    mn_array_free(mls->solver.ctx, &clumps);
    return status;
}

// Where they are now: a search among the places where the step began would miss what moves fast.
static mn_status sort_moved(mn_codim *mls)
{
    const int64_t stride = (int64_t)(sizeof *mls->points.data / sizeof(double));
    const mn_vec3 *first = &mls->points.data->position;
    const mn_points points = {mls->surface.count, &first->x, &first->y, &first->z, stride};
    return mn_neighbours_build(mls->reseed.moved, points, GROWN_IN * mls->def.spacing);
}

mn_status mn_codim_transitions(mn_codim *mls)
{
    double thickest = 0;
    bool drops = false, threads = false;
    films_to_drops(mls);
    for (int64_t p = 0; p < mls->surface.count; p++) {
        drops = drops || mls->points.data[p].codim == MN_CODIM_DROP;
        if (mls->points.data[p].codim != MN_CODIM_THREAD) continue;
        threads = true;
        thickest = fmax(thickest, 0.5 * mls->thickness.data[p]);
    }
    if (drops || threads) MN_TRY(sort_moved(mls));
    if (drops) drops_fall_in(mls, thickest);
    if (threads) threads_to_film(mls);
    if (threads) MN_TRY(threads_to_drops(mls));
    MN_TRY(strips_to_threads(mls));
    if (!(mls->def.rim_collision > 0)) heaps_to_threads(mls); // sheets of a chain stay film
    return mn_codim_join_drops(mls);
}
