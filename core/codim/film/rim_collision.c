// SPDX-License-Identifier: Apache-2.0
//
// Rims that run into each other and open into the next sheet: the links of a fluid chain [bush2004].
//
// A rim is a round jet that the film only knows the middle line of. Where two of them meet from both sides of
// the film between them, the liquid is stopped and leaves across, in the plane between both, as it does where
// two jets meet. No film and no grid of the film's resolution has the pressure that does this, so it is put
// in as what it comes to: a pair of rim points a and b, nearer than their radii r_a + r_b, becomes a row of
// film of the same width d at right angles to the film that they were the rims of. The sheets on both sides
// of the collision are told apart by `link`; no triangle joins them.
//
//   e from b to a,  n along the film's normal,  x = c + y n,  y in [-d/2, d/2]
//   v = v_c + (2 y/d) (w n + s e),     S = sum m (2 y/d)^2
//   w^2 S = k sum m ((v - v_c) . e)^2,   s S = -2 m_ab u . n,   u = v_a - v_b,   m_ab = m_a m_b/(m_a + m_b)
//
// the sum over both and the film between them, which goes with them. A row has many points, which are to be
// on their way apart: ends that had to be split would leave their energy there. So mass, momentum, and the
// moment about the rims are kept, and the part k (rim_collision) of the energy across. Jets without viscosity
// lose none of it [hasson1964]. Rims that would open less wide than some spacings, by that energy over 2
// sigma, are left to join to a thread (transitions.c).
#include "codim/state.h"

static const double LEAST_GAP = 1.2; // spacings: thin rims meet there
static const double OPPOSED = 0.15;  // least cosine between where a rim looks and the way from the other one
static const double OPENS = 3.0;     // spacings, the width that is worth it
enum { ROW_LEAST = 5, ROW_MOST = 24 };
static const double APART = 0.25; // spacings, along a new row

static double line_mass(const mn_codim *mls, const mn_codim_rim_site *rim) // kg/m
{
    return mls->def.density * MN_PI * rim->radius * rim->radius;
}

static bool make_site(const mn_codim *mls, int32_t p, mn_codim_rim_site *rim)
{
    double length;
    *rim = (mn_codim_rim_site){.partner = -1, .point = p};
    if (!mn_codim_rim_jet(mls, p, &length, &rim->radius)) return false;
    rim->outward = mn_codim_rim_outward(mls, p, &length);
    return true;
}

// ---- who meets whom ----

typedef struct rim_search {
    const mn_codim *mls;
    const mn_codim_rim_site *sites, *self;
    const int32_t *site_of;
    double least2;
    int32_t nearest;
} rim_search;

static bool collide(const mn_codim *mls, const mn_codim_rim_site *a, const mn_codim_rim_site *b, double *d2)
{
    const mn_codim_point *pa = &mls->points.data[a->point], *pb = &mls->points.data[b->point];
    const mn_vec3 way = mn_sub(pa->position, pb->position);
    const double d = mn_norm(way), touch = fmax(a->radius + b->radius, LEAST_GAP * mls->def.spacing);
    if (!(d < touch) || !(d > 0) || pa->link != pb->link) return false;
    const mn_vec3 e = mn_scale(1 / d, way);
    if (!(mn_dot(a->outward, e) > OPPOSED) || !(mn_dot(b->outward, e) < -OPPOSED)) return false;
    const double closing = -mn_dot(mn_sub(pa->velocity, pb->velocity), e);
    const double la = line_mass(mls, a), lb = line_mass(mls, b);
    const double energy = 0.5 * la * lb / (la + lb) * closing * closing; // J/m
    *d2 = d * d;
    return closing > 0 && mls->def.rim_collision * energy > OPENS * mls->def.spacing * 2 * mls->def.sigma;
}

static void try_rim(void *user, int32_t other, double unused)
{
    rim_search *s = user;
    double d2;
    (void)unused;
    if (s->site_of[other] < 0 || other == s->self->point) return;
    if (!collide(s->mls, s->self, &s->sites[s->site_of[other]], &d2)) return;
    if (d2 < s->least2 || (d2 == s->least2 && other < s->nearest)) s->least2 = d2, s->nearest = other;
}

// ---- the turn ----

typedef struct around_row {
    mn_codim *mls;
    int32_t a, b;
    mn_vec3 middle, e, n;
    double reach2;
    double facing; ///< of film there that is turned already: which way its normals are along e
    double mass, momentum, square; ///< of all that is turned: sums of m, m v and m v^2 along e
} around_row;

static void take_along(around_row *r, const mn_codim_point *point)
{
    const double v = mn_dot(point->velocity, r->e);
    r->mass += point->mass, r->momentum += point->mass * v, r->square += point->mass * v * v;
}

// Film between the rims goes with them.
static void sweep_up(void *user, int32_t other, double unused)
{
    around_row *r = user;
    mn_codim_point *point = &r->mls->points.data[other];
    (void)unused;
    if (other == r->a || other == r->b || mn_codim_is_dead(point) || point->codim != MN_CODIM_FILM) return;
    const int64_t link = r->mls->points.data[r->a].link;
    const mn_vec3 d = mn_sub(point->position, r->middle);
    if (point->link == link + 1) r->facing += mn_dot(point->normal, r->e) * point->mass;
    if (mn_codim_is_held(point) || point->link != link || !(mn_norm2(d) < r->reach2)) return;
    take_along(r, point);
    mn_codim_give_all(&r->mls->points.data[mn_dot(d, r->e) > 0 ? r->a : r->b], point);
}

static mn_status place_row(mn_codim *mls, const around_row *r, double d)
{
    const mn_codim_point a = mls->points.data[r->a], b = mls->points.data[r->b];
    const int32_t count = (int32_t)fmin(ROW_MOST, fmax(ROW_LEAST, round(d / (APART * mls->def.spacing)) + 1));
    const double mass = a.mass + b.mass, both = a.mass * b.mass / mass;
    const mn_vec3 u = mn_sub(a.velocity, b.velocity), c = mn_lerp(a.position, b.position, b.mass / mass),
                  vc = mn_lerp(a.velocity, b.velocity, b.mass / mass);
    const double S = mass * (count + 1) / (3.0 * (count - 1));
    const double across = fmax(0, r->square - r->momentum * r->momentum / r->mass); // m v^2 about the mean
    const double w = sqrt(mls->def.rim_collision * across / S), s = -2 * both * mn_dot(u, r->n) / S;
    const mn_vec3 way = mn_axpy(mn_scale(w, r->n), s, r->e);
    if (mls->points.count + count > mls->def.max_points)
        return mn_fail(mls->solver.ctx, MN_ERROR_ARGUMENT,
                       "Rims that meet would make more than %lld points; raise max_points, or the spacing.",
                       (long long)mls->def.max_points);
    for (int32_t i = 0; i < count; i++) {
        const double at = 2.0 * i / (count - 1) - 1; // 2 y/d
        mn_codim_point point = i == 0 ? b : a;
        point.position = mn_axpy(c, 0.5 * d * at, r->n);
        point.velocity = mn_axpy(vc, at, way);
        point.normal = r->facing < 0 ? mn_scale(-1, r->e) : r->e;
        point.mass = mass / count;
        point.pocket = -1;
        point.link++;
        point.unrest = MN_CODIM_UNREST;
        if (i == 0)
            mls->points.data[r->b] = point;
        else if (i == count - 1)
            mls->points.data[r->a] = point;
        else {
            point.id = mls->next_id++;
            MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, &point));
        }
    }
    mls->reseed.touched.data[r->a] = mls->reseed.touched.data[r->b] = 1;
    return MN_OK;
}

static mn_status turn(mn_codim *mls, int32_t a, int32_t b)
{
    const mn_codim_point *pa = &mls->points.data[a], *pb = &mls->points.data[b];
    around_row r = {.mls = mls, .a = a, .b = b};
    const double d = mn_distance(pa->position, pb->position);
    r.e = mn_normalize(mn_sub(pa->position, pb->position));
    const mn_vec3 n = mn_add(mls->surface.normal.data[a], mls->surface.normal.data[b]);
    r.n = mn_normalize(mn_axpy(n, -mn_dot(n, r.e), r.e));
    if (!(mn_norm2(r.n) > 0)) return MN_OK;
    r.middle = mn_lerp(pa->position, pb->position, 0.5);
    r.reach2 = 0.25 * d * d;
    take_along(&r, pa);
    take_along(&r, pb);
    mn_neighbours_visit(mls->surface.neighbours, r.middle, fmax(d, MN_FILM_REACH * mls->def.spacing),
                        sweep_up, &r);
    return place_row(mls, &r, d);
}

// A rim point beside one that has a partner, whose own has another, goes along with it.
static void join_odd(mn_codim *mls, const mn_codim_rim_site *sites, const int32_t *site_of,
                     const mn_codim_rim_site *odd)
{
    const int32_t across = odd->partner, beside = sites[site_of[across]].partner;
    if (beside < 0 || beside == odd->point || sites[site_of[beside]].partner != across) return;
    mn_codim_point *to = &mls->points.data[beside], *from = &mls->points.data[odd->point];
    if (mn_codim_is_dead(to) || mn_codim_is_dead(from)) return;
    if (mn_distance(to->position, from->position) < LEAST_GAP * mls->def.spacing) mn_codim_give_all(to, from);
}

mn_status mn_codim_collide_rims(mn_codim *mls)
{
    if (!(mls->def.rim_collision > 0)) return MN_OK;
    mn_codim_rim_array *rims = &mls->reseed.rims;
    const int32_t count = (int32_t)mls->surface.count;
    double largest = 0;
    rims->count = 0;
    MN_TRY(mn_array_resize(mls->solver.ctx, &mls->reseed.patch, count));
    for (int32_t p = 0; p < count; p++) {
        mn_codim_rim_site rim;
        mls->reseed.patch.data[p] = -1;
        if (!make_site(mls, p, &rim)) continue;
        mls->reseed.patch.data[p] = (int32_t)rims->count;
        largest = fmax(largest, rim.radius);
        MN_TRY(mn_array_push(mls->solver.ctx, rims, &rim));
    }
    for (int64_t i = 0; i < rims->count; i++) {
        mn_codim_rim_site *rim = &rims->data[i];
        rim_search s = {mls, rims->data, rim, mls->reseed.patch.data, INFINITY, -1};
        const double reach = fmax(rim->radius + largest, LEAST_GAP * mls->def.spacing) + mls->def.spacing;
        mn_neighbours_visit(mls->surface.neighbours, mls->x0.data[rim->point], reach, try_rim, &s);
        rim->partner = s.nearest;
    }
    for (int64_t i = 0; i < rims->count; i++)
        if (rims->data[i].partner >= 0) join_odd(mls, rims->data, mls->reseed.patch.data, &rims->data[i]);
    for (int64_t i = 0; i < rims->count; i++) {
        const mn_codim_rim_site *rim = &rims->data[i];
        if (rim->partner < rim->point ||
            rims->data[mls->reseed.patch.data[rim->partner]].partner != rim->point)
            continue;
        if (mn_codim_is_dead(&mls->points.data[rim->point]) ||
            mn_codim_is_dead(&mls->points.data[rim->partner]))
            continue;
        MN_TRY(turn(mls, rim->point, rim->partner));
    }
    return MN_OK;
}
