// SPDX-License-Identifier: Apache-2.0
//
// Where the points of a film are too far apart, too near, too thin or alone. Works on the edges of the step's
// triangles with the points where the step has brought them; the next step lays new triangles. Every change
// keeps the mass and the momentum, and each point takes part in one change of a kind at most.
//
//   - A short edge becomes one point, on the film at the centre of mass of its ends (projection.c). This is
//     also how a free edge collects the film that it sweeps up: the inelastic meeting that makes it run at
//     sqrt(2 sigma/(rho h)) [taylor1959, culick1960].
//   - A long edge gets a point in its middle, on the film (projection.c; at free edges on the cubic through
//     its ends and normals), with a third of the mass of either end and that mass's own momentum.
//   - A film thinner than the artist allows opens a hole just larger than what would heal (MN_FILM_ALPHA);
//     what was in it goes to the rim.
//   - Points whose surroundings have changed change their codimension (transitions.c), and threads likewise
//     get and lose points (codim/thread/reseed.c).
#include "codim/state.h"

#include <stdlib.h>
#include <string.h>

static const double SPLIT = 1.4, MERGE = 0.5, CLOSEST = 0.1, HOLE = 2.3; // spacings
static const double PIERCED = 3.2; // spacings: what a solid has opened heals in no direction, see stars.c

// ---- edges ----

int mn_codim_by_length(const void *first, const void *second)
{
    const mn_codim_edge *a = first, *b = second;
    if (a->length2 != b->length2) return a->length2 < b->length2 ? -1 : 1;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    return a->q < b->q ? -1 : a->q > b->q;
}

static int by_falling_length(const void *first, const void *second)
{
    return mn_codim_by_length(second, first);
}

// Transitions may have made something else of it in this step.
static bool is_film(const mn_codim *mls, int32_t p)
{
    return mls->points.data[p].codim == MN_CODIM_FILM;
}

// Edges shorter than the one bound or longer than the other.
static mn_status list_edges(mn_codim *mls, double below, double above)
{
    mls->reseed.edges.count = 0;
    for (int32_t p = 0; p < (int32_t)mls->matrix.start.count - 1; p++)
        for (int64_t e = mls->matrix.start.data[p]; e < mls->matrix.start.data[p + 1]; e++) {
            const int32_t q = mls->matrix.column.data[e];
            if (q < p || !is_film(mls, p) || !is_film(mls, q)) continue;
            const double d2 = mn_norm2(mn_sub(mls->points.data[p].position, mls->points.data[q].position));
            if (d2 >= below * below && d2 <= above * above) continue;
            const mn_codim_edge edge = {d2, p, q};
            MN_TRY(mn_array_push(mls->solver.ctx, &mls->reseed.edges, &edge));
        }
    return MN_OK;
}

static void sort_edges(mn_codim *mls, int (*order)(const void *, const void *))
{
    if (mls->reseed.edges.count > 0)
        qsort(mls->reseed.edges.data, (size_t)mls->reseed.edges.count, sizeof *mls->reseed.edges.data, order);
}

// What a free edge sweeps up, and how it grows, is no matter of the film's thickness.
static bool on_edge(const mn_codim *mls, int32_t p, int32_t q)
{
    return mls->surface.edge.data[p] || mls->surface.edge.data[q];
}

// Film spreads as it leaves a jet: points that are close there but on their way apart are left alone, or they
// would be merged and split again, and lose speed in both.
static bool parts(const mn_codim *mls, const mn_codim_point *a, const mn_codim_point *b)
{
    const mn_vec3 d = mn_sub(b->position, a->position);
    return mls->feeds.count > 0 && mn_dot(d, mn_sub(b->velocity, a->velocity)) > 0 &&
           mn_norm2(d) > CLOSEST * CLOSEST * mls->def.spacing * mls->def.spacing;
}

static mn_status merge_short_edges(mn_codim *mls)
{
    MN_TRY(list_edges(mls, MERGE * mls->def.spacing, INFINITY));
    sort_edges(mls, mn_codim_by_length);
    for (int64_t i = 0; i < mls->reseed.edges.count; i++) {
        int32_t p = mls->reseed.edges.data[i].p, q = mls->reseed.edges.data[i].q;
        if (mls->reseed.touched.data[p] || mls->reseed.touched.data[q]) continue;
        // The one that is held stays, then the one on the free edge: in its place, so that an edge moves with
        // its velocity alone and not by what it takes in.
        const bool edge_p = mls->surface.edge.data[p], edge_q = mls->surface.edge.data[q];
        if (mn_codim_is_held(&mls->points.data[q]) ||
            (!mn_codim_is_held(&mls->points.data[p]) && edge_q && !edge_p)) {
            const int32_t swap = p;
            p = q, q = swap;
        }
        mn_codim_point *stays = &mls->points.data[p], *goes = &mls->points.data[q];
        if (parts(mls, stays, goes)) continue;
        if (mn_codim_is_held(goes)) continue;
        mls->reseed.touched.data[p] = mls->reseed.touched.data[q] = 1;
        const mn_vec3 n = mn_normalize(mn_add(stays->normal, goes->normal));
        if (mn_norm2(n) > 0) stays->normal = n;
        const mn_vec3 place = stays->position;
        const bool inner = !on_edge(mls, p, q) && !mn_codim_is_held(stays);
        mn_vec3 on_film = place;
        const bool found =
            inner && mn_codim_project_between(mls, p, q, goes->mass / (stays->mass + goes->mass), &on_film);
        mn_codim_give_all(stays, goes);
        if (edge_p != edge_q) stays->position = place;
        if (found) stays->position = on_film;
        if (!on_edge(mls, p, q)) stays->unrest = MN_CODIM_UNREST;
    }
    return MN_OK;
}

// The middle of the cubic that leaves p along the film and comes to q along it.
static mn_vec3 middle(const mn_codim_point *p, const mn_codim_point *q)
{
    const mn_vec3 e = mn_sub(q->position, p->position);
    const mn_vec3 bulge =
        mn_sub(mn_scale(mn_dot(q->normal, e), q->normal), mn_scale(mn_dot(p->normal, e), p->normal));
    return mn_axpy(mn_lerp(p->position, q->position, 0.5), 0.125, bulge);
}

// A third of each end's mass at the mean of their velocities has less energy than it had with them. A film
// that rims have opened into lives on that energy: there the ends, two thirds of which are left, get it back
// as motion apart.
static void keep_energy(mn_codim_point *a, mn_codim_point *b)
{
    const mn_vec3 e = mn_normalize(mn_sub(b->position, a->position));
    const double u = mn_dot(mn_sub(b->velocity, a->velocity), e),
                 both = a->mass * b->mass / (a->mass + b->mass);
    if (a->link == 0 || a->link != b->link || !(u > 0) || mn_codim_is_held(a) || mn_codim_is_held(b)) return;
    const double impulse = both * u * (sqrt(1.5) - 1);
    a->velocity = mn_axpy(a->velocity, -impulse / a->mass, e);
    b->velocity = mn_axpy(b->velocity, impulse / b->mass, e);
}

static mn_status split_long_edges(mn_codim *mls)
{
    MN_TRY(list_edges(mls, 0, SPLIT * mls->def.spacing));
    sort_edges(mls, by_falling_length);
    for (int64_t i = 0; i < mls->reseed.edges.count; i++) {
        const int32_t p = mls->reseed.edges.data[i].p, q = mls->reseed.edges.data[i].q;
        if (mls->reseed.touched.data[p] || mls->reseed.touched.data[q]) continue;
        mn_codim_point *a = &mls->points.data[p], *b = &mls->points.data[q];
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        const bool inner = fan_has_edge(fan, q) && fan_has_reverse_edge(fan, q);
        if (mn_codim_is_held(a) && mn_codim_is_held(b) && !inner) continue; // a piece of the ring
        mls->reseed.touched.data[p] = mls->reseed.touched.data[q] = 1;
        mn_codim_point born = *a;
        born.position = middle(a, b);
        if (!on_edge(mls, p, q)) mn_codim_project_between(mls, p, q, 0.5, &born.position);
        born.velocity = mn_lerp(a->velocity, b->velocity, b->mass / (a->mass + b->mass));
        born.normal = mn_normalize(mn_add(a->normal, b->normal));
        if (!(mn_norm2(born.normal) > 0)) born.normal = a->normal;
        born.mass = (a->mass + b->mass) / 3;
        born.id = mls->next_id++;
        born.anchor = MN_CODIM_FREE;
        if (!on_edge(mls, p, q)) born.unrest = a->unrest = b->unrest = MN_CODIM_UNREST;
        a->mass -= a->mass / 3;
        b->mass -= b->mass / 3;
        keep_energy(a, b);
        if (mls->points.count >= mls->def.max_points)
            return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                           "The film would hold more than %lld points; raise max_points, or the spacing.",
                           (long long)mls->def.max_points);
        MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, &born));
    }
    return MN_OK;
}

// ---- tearing ----

bool mn_codim_may_tear(const mn_codim *mls, int64_t p)
{
    const mn_codim_point *point = &mls->points.data[p];
    return mls->surface.fans.data[p].count > 0 && !mn_codim_is_held(point) && !mn_codim_is_dead(point);
}

static bool is_thin(const mn_codim *mls, int64_t p)
{
    return mls->thickness.data[p] < mls->def.min_thickness && !mls->surface.edge.data[p] &&
           mn_codim_may_tear(mls, p);
}

// Points of the film around `first` within the radius, then one more ring: patch[0 .. inner), [inner .. all).
static mn_status gather_patch(mn_codim *mls, int32_t first, double radius, int64_t *inner)
{
    mls->reseed.patch.count = 0;
    MN_TRY(mn_array_push(mls->solver.ctx, &mls->reseed.patch, &first));
    for (int64_t i = 0, within = 1;; i++) {
        if (i == within) { // every point in reach has been walked from: what was found last is the rim
            *inner = within;
            break;
        }
        const int32_t p = mls->reseed.patch.data[i];
        for (int64_t e = mls->matrix.start.data[p]; e < mls->matrix.start.data[p + 1]; e++) {
            const int32_t q = mls->matrix.column.data[e];
            int64_t seen = 0;
            while (seen < mls->reseed.patch.count && mls->reseed.patch.data[seen] != q) seen++;
            if (seen < mls->reseed.patch.count) continue;
            MN_TRY(mn_array_push(mls->solver.ctx, &mls->reseed.patch, &q));
            const bool near =
                mn_distance(mls->points.data[first].position, mls->points.data[q].position) < radius;
            if (!near) continue;
            const int64_t last = mls->reseed.patch.count - 1; // the near ones stand before the others
            const int32_t moved = mls->reseed.patch.data[within];
            mls->reseed.patch.data[within++] = q;
            if (last >= within) mls->reseed.patch.data[last] = moved;
        }
    }
    return MN_OK;
}

static mn_status tear(mn_codim *mls, int32_t first, double radius)
{
    int64_t inner = 0;
    MN_TRY(gather_patch(mls, first, radius, &inner));
    for (int64_t i = 0; i < inner; i++) {
        mn_codim_point *goes = &mls->points.data[mls->reseed.patch.data[i]];
        if (mn_codim_is_held(goes) || mn_codim_is_dead(goes)) continue;
        mn_codim_point *nearest = NULL;
        double least = INFINITY;
        for (int64_t k = inner; k < mls->reseed.patch.count; k++) {
            mn_codim_point *rim = &mls->points.data[mls->reseed.patch.data[k]];
            const double d = mn_distance(rim->position, goes->position);
            if (d < least && !mn_codim_is_dead(rim)) least = d, nearest = rim;
        }
        if (!nearest) return MN_OK; // a film as small as the hole
        const mn_vec3 place = nearest->position;
        mn_codim_give_all(nearest, goes);
        nearest->position = place; // the hole stays as wide as it is
    }
    return MN_OK;
}

static mn_status tear_thin_film(mn_codim *mls)
{
    if (!(mls->def.min_thickness > 0)) return MN_OK;
    while (true) { // thinnest first; each hole takes its thin neighbours along
        int64_t thinnest = -1;
        for (int64_t p = 0; p < mls->surface.count; p++)
            if (is_thin(mls, p) && (thinnest < 0 || mls->thickness.data[p] < mls->thickness.data[thinnest]))
                thinnest = p;
        if (thinnest < 0) return MN_OK;
        MN_TRY(tear(mls, (int32_t)thinnest, HOLE * mls->def.spacing));
        mls->thickness.data[thinnest] = INFINITY;
    }
}

// A dry solid takes the film apart where it touches it: the liquid there goes to the rim of the hole, which
// is as wide around every point that the solid touches.
static mn_status puncture_film(mn_codim *mls)
{
    if (!mls->def.puncture || !mls->solids.collider) return MN_OK;
    for (int64_t p = 0; p < mls->surface.count; p++)
        if (mls->solids.touches.data[p] == MN_CODIM_PIERCED)
            MN_TRY(tear(mls, (int32_t)p, PIERCED * mls->def.spacing));
    return MN_OK;
}

// Of the box that the artist has set. What is held stays: an inlet outside feeds what is inside.
static bool is_outside(const mn_codim *mls, const mn_codim_point *point)
{
    const mn_vec3 size = mls->def.limit_size, d = mn_sub(point->position, mls->def.limit_center);
    if (!(size.x > 0 && size.y > 0 && size.z > 0) || mn_codim_is_held(point)) return false;
    return fabs(d.x) > 0.5 * size.x || fabs(d.y) > 0.5 * size.y || fabs(d.z) > 0.5 * size.z;
}

mn_status mn_codim_reseed(mn_codim *mls)
{
    const int64_t count = mls->points.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->reseed.touched, count));
    if (count > 0) memset(mls->reseed.touched.data, 0, (size_t)count);
    MN_TRY(mn_codim_shed_rims(mls));
    MN_TRY(mn_codim_level_rims(mls));
    MN_TRY(mn_codim_collide_rims(mls));
    MN_TRY(mn_codim_transitions(mls));
    MN_TRY(tear_thin_film(mls));
    MN_TRY(puncture_film(mls));
    for (int64_t p = 0; p < count; p++) mls->reseed.touched.data[p] = mn_codim_is_dead(&mls->points.data[p]);
    MN_TRY(merge_short_edges(mls));
    MN_TRY(split_long_edges(mls));
    if (mn_codim_has_threads(mls)) MN_TRY(mn_codim_reseed_threads(mls));
    int64_t kept = 0;
    for (int64_t p = 0; p < mls->points.count; p++)
        if (!mn_codim_is_dead(&mls->points.data[p]) && !is_outside(mls, &mls->points.data[p]))
            mls->points.data[kept++] = mls->points.data[p];
    mls->points.count = kept;
    return MN_OK;
}
