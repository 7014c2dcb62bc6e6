// SPDX-License-Identifier: Apache-2.0
//
// Free edges beyond what the area's gradient does for them by itself: a tension that the artist sets, and
// drops that leave a rim which has collected too much.
//
// Tension. A film pulls its edge in by 2 sigma per length. With the factor f it pulls by 2 f sigma: the
// difference is a force on the ends of each free edge e with the outward direction n_e in the film,
//
//   F = -(f - 1) sigma |e| n_e      on either end,
//
// f = rim_factor g(t), t the angle around the axis of the jet. In a sheet that spreads evenly from the axis
// the rim stands where rho h u_n^2 = 2 f sigma, with h ~ 1/r and u_n the speed across the rim. On the side of
// a polygon with s sides r ~ 1/cos t and u_n ~ cos t, t from the middle of the side, so straight sides ask
// for
//
//   g(t) = cos^3 t / mean of cos^3 over (-pi/s, pi/s),
//
// and polygon_strength k takes 1 + k (g - 1). [wang2020] uses a saw-tooth.
//
// Rims that collide (rim_collision.c) are round jets by themselves, of radius r by their mass and length.
// They have their own tension along, as threads have (codim/thread/energy.c), and their mass evens out along
// them: both keep waves down that are shorter than a jet is around.
//
//   T = pi r sigma      m_pq = c min(1, r/spacing) min(L_p, L_q) (m_q/L_q - m_p/L_p)    a step
//
// Drops. A rim of round section that is thicker than rim_thickness gives off half of what a point of it
// holds. The drop takes the mean velocity of the rim around it, not that of the point: a point that has just
// taken up film is faster than the rim is, and drops that left then would carry its speed away and shrink the
// sheet. It also gets a small push off the rim, which the rim gets the other way. Mass and momentum are kept.
#include "base/elementary.h"
#include "codim/state.h"

#include "base/random.h"

static const double PI = MN_PI;
static const double EVEN = 0.25, MIX = 0.3; // of what neighbours along a rim differ by, in a step
static const double STRAIGHT = 0.85;        // least cosine between where they look: not around corners
enum { ALONG = 6 }; // points of the rim to either side that its mean velocity is taken over

// ---- along the rim ----

// Where the free edge that leaves p leads; -1 when there is none.
static int32_t next_along(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
    for (int32_t i = 0; i < fan->count; i++)
        if (!fan_has_reverse_edge(fan, fan->pair[i][0])) return fan->pair[i][0];
    return -1;
}

static int32_t last_along(const mn_codim *mls, int32_t p)
{
    const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
    for (int32_t i = 0; i < fan->count; i++)
        if (!fan_has_edge(fan, fan->pair[i][1])) return fan->pair[i][1];
    return -1;
}

mn_vec3 mn_codim_rim_outward(const mn_codim *mls, int32_t p, double *length)
{
    const int32_t next = next_along(mls, p), last = last_along(mls, p);
    *length = 0;
    if (next < 0 || last < 0) return mn_v3(0, 0, 0);
    const mn_vec3 *x = mls->x0.data;
    *length = 0.5 * (mn_distance(x[p], x[next]) + mn_distance(x[p], x[last]));
    return mn_normalize(mn_cross(mn_sub(x[next], x[last]), mls->surface.normal.data[p]));
}

bool mn_codim_rim_jet(const mn_codim *mls, int32_t p, double *length, double *radius)
{
    const mn_codim_point *point = &mls->points.data[p];
    if (!mls->surface.edge.data[p] || mls->surface.fans.data[p].count == 0 || mn_codim_is_held(point) ||
        mn_codim_is_dead(point) || point->codim != MN_CODIM_FILM || mn_codim_is_attached(mls, p))
        return false;
    if (!(mn_norm2(mn_codim_rim_outward(mls, p, length)) > 0)) return false;
    *length = fmax(*length, 0.5 * mls->def.spacing);
    *radius = sqrt(point->mass / (mls->def.density * PI * *length));
    return true;
}

// ---- tension ----

static double mean_cube(double sides)
{
    const double end = PI / sides, s = mn_sin(end);
    return (s - s * s * s / 3) / end;
}

// The jet that a place belongs to: the nearest.
static const mn_codim_feed *feed_of(const mn_codim *mls, mn_vec3 x)
{
    const mn_codim_feed *nearest = NULL;
    double least = INFINITY;
    for (int64_t i = 0; i < mls->feeds.count; i++) {
        const double d = mn_norm2(mn_sub(x, mls->feeds.data[i].center));
        if (d < least) least = d, nearest = &mls->feeds.data[i];
    }
    return nearest;
}

static double factor_at(const mn_codim *mls, mn_vec3 x)
{
    const mn_codim_def *def = &mls->def;
    const mn_codim_feed *feed = def->polygon_sides >= 2 ? feed_of(mls, x) : NULL;
    if (!feed || !(mn_norm2(feed->axis) > 0)) return def->rim_factor;
    mn_vec3 u, v;
    mn_frame(feed->axis, &u, &v);
    const mn_vec3 d = mn_sub(x, feed->center);
    const double sides = def->polygon_sides, turn = 2 * PI / sides;
    const double angle = mn_atan2(mn_dot(d, v), mn_dot(d, u)), t = angle - turn * round(angle / turn);
    const double g = mn_pow(fmax(0, mn_cos(t)), 3) / mean_cube(sides);
    return def->rim_factor * fmax(0, 1 + def->polygon_strength * (g - 1));
}

static mn_vec3 pull_of_edge(const mn_codim *mls, int32_t from, int32_t to)
{
    const mn_vec3 *x = mls->x0.data, *normal = mls->surface.normal.data;
    if (mn_codim_is_attached(mls, from) && mn_codim_is_attached(mls, to))
        return mn_v3(0, 0, 0); // no free edge
    const mn_vec3 e = mn_sub(x[to], x[from]),
                  out = mn_cross(e, mn_normalize(mn_add(normal[from], normal[to])));
    const double f = factor_at(mls, mn_lerp(x[from], x[to], 0.5));
    return mn_scale(-(f - 1) * mls->def.sigma, out);
}

// N, of the round rim from p to q on p.
static mn_vec3 pull_along(const mn_codim *mls, int32_t p, int32_t q)
{
    double length, rp, rq;
    if (!(mls->def.rim_collision > 0) || !mn_codim_rim_jet(mls, p, &length, &rp) ||
        !mn_codim_rim_jet(mls, q, &length, &rq))
        return mn_v3(0, 0, 0);
    const mn_vec3 e = mn_normalize(mn_sub(mls->x0.data[q], mls->x0.data[p]));
    return mn_scale(0.5 * PI * (rp + rq) * mls->def.sigma, e);
}

bool mn_codim_has_rim_tension(const mn_codim *mls)
{
    return mls->def.rim_factor != 1 || mls->def.rim_collision > 0 ||
           (mls->def.polygon_sides >= 2 && mls->feeds.count > 0);
}

mn_vec3 mn_codim_rim_pull(const mn_codim *mls, int64_t p)
{
    mn_vec3 sum = {0};
    if (!mls->surface.edge.data[p]) return sum;
    const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
    for (int32_t i = 0; i < fan->count; i++) {
        const int32_t to = fan->pair[i][0], from = fan->pair[i][1];
        if (!fan_has_reverse_edge(fan, to))
            sum = mn_add(sum, mn_add(pull_of_edge(mls, (int32_t)p, to), pull_along(mls, (int32_t)p, to)));
        if (!fan_has_edge(fan, from))
            sum = mn_add(sum, mn_add(pull_of_edge(mls, from, (int32_t)p), pull_along(mls, (int32_t)p, from)));
    }
    return sum;
}

// ---- evening out ----

// What p gives to q, less what it gets, by its own velocity; and the same mass to and fro evens the
// velocities.
static void exchange(mn_codim_point *p, mn_codim_point *q, double flow, double mixed)
{
    mn_codim_point *from = flow > 0 ? p : q, *to = flow > 0 ? q : p;
    const double mass = fmin(fabs(flow), 0.5 * from->mass);
    to->velocity = mn_lerp(to->velocity, from->velocity, mass / (to->mass + mass));
    to->mass += mass, from->mass -= mass;
    const mn_vec3 impulse = mn_scale(mixed * fmin(p->mass, q->mass), mn_sub(q->velocity, p->velocity));
    p->velocity = mn_axpy(p->velocity, 1 / p->mass, impulse);
    q->velocity = mn_axpy(q->velocity, -1 / q->mass, impulse);
}

mn_status mn_codim_level_rims(mn_codim *mls)
{
    if (!(mls->def.rim_collision > 0)) return MN_OK;
    const int32_t count = (int32_t)mls->surface.count;
    for (int32_t p = 0; p < count; p++) {
        double length, lp, lq, rp, rq;
        const int32_t q = mls->surface.edge.data[p] ? next_along(mls, p) : -1;
        if (q < 0 || !mn_codim_rim_jet(mls, p, &lp, &rp) || !mn_codim_rim_jet(mls, q, &lq, &rq)) continue;
        if (mn_dot(mn_codim_rim_outward(mls, p, &length), mn_codim_rim_outward(mls, q, &length)) < STRAIGHT)
            continue;
        mn_codim_point *a = &mls->points.data[p], *b = &mls->points.data[q];
        const double pace = fmin(1, fmin(rp, rq) / mls->def.spacing);
        const bool opens = a->link > 0 && (a->unrest > 0 || b->unrest > 0); // with all of its energy
        exchange(a, b, EVEN * pace * fmin(lp, lq) * (a->mass / lp - b->mass / lq),
                 (opens ? 0.3 : 1) * MIX * pace);
    }
    return MN_OK;
}

// ---- drops ----

// Diameter of the rim at p over the thickness at which it breaks, a little different from point to point.
static double ripeness(const mn_codim *mls, int32_t p)
{
    const mn_codim_point *point = &mls->points.data[p];
    if (!mls->surface.edge.data[p] || mls->surface.fans.data[p].count == 0 || mn_codim_is_held(point) ||
        mn_codim_is_dead(point) || point->codim != MN_CODIM_FILM || mn_codim_is_attached(mls, p))
        return 0;
    const double d = 2 * sqrt(point->mass / (mls->def.density * PI * mls->def.spacing));
    return d / mls->def.rim_thickness * (0.85 + 0.3 * mn_random_unit(mls->def.seed, (uint64_t)point->id, 1));
}

/// A piece of rim: its mass, its momentum, and where its middle looks.
typedef struct rim_piece {
    double mass;
    mn_vec3 momentum, outward;
    bool is_ripest; ///< its middle is
} rim_piece;

static rim_piece look_along(const mn_codim *mls, int32_t p)
{
    rim_piece piece = {.is_ripest = true};
    const double own = ripeness(mls, p);
    const int32_t next = next_along(mls, p), last = last_along(mls, p);
    const mn_vec3 *normal = mls->surface.normal.data;
    if (next >= 0 && last >= 0)
        piece.outward = mn_normalize(
            mn_cross(mn_sub(mls->points.data[next].position, mls->points.data[last].position), normal[p]));
    for (int side = 0; side < 2; side++) {
        int32_t at = side ? last : p;
        for (int32_t i = 0; i <= ALONG - side && at >= 0; i++) {
            const mn_codim_point *point = &mls->points.data[at];
            piece.mass += point->mass;
            piece.momentum = mn_axpy(piece.momentum, point->mass, point->velocity);
            if (i + side <= 1 && at != p) {
                const double other = ripeness(mls, at);
                if (other > own || (other == own && at < p)) piece.is_ripest = false;
            }
            at = side ? last_along(mls, at) : next_along(mls, at);
            if (at == p) break;
        }
    }
    return piece;
}

// m/s off a rim of this diameter: a part of the speed at which it necks.
static mn_vec3 push_off(const mn_codim *mls, const rim_piece *piece, int32_t p, double diameter)
{
    const mn_codim_point *point = &mls->points.data[p];
    const mn_vec3 chance =
        mn_random_unit3(mls->def.seed, (uint64_t)point->id, (uint32_t)(mls->next_id & 0xffff));
    const double speed = 0.5 * sqrt(2 * mls->def.sigma / (mls->def.density * diameter));
    const mn_vec3 across = mls->surface.normal.data[p];
    const mn_vec3 way = mn_axpy(mn_scale(0.2, piece->outward), chance.x - 0.5, across);
    return mn_scale(speed, way);
}

static mn_status shed(mn_codim *mls, int32_t p)
{
    const rim_piece piece = look_along(mls, p);
    if (!piece.is_ripest || !(mn_norm2(piece.outward) > 0)) return MN_OK;
    if (mls->points.count >= mls->def.max_points)
        return mn_fail(
            mls->solver.ctx, MN_ERROR_ARGUMENT,
            "The rims would shed more than %lld points; raise max_points, or the spacing, or set a "
            "limit box that removes what has left the picture.",
            (long long)mls->def.max_points);
    mn_codim_point drop = mls->points.data[p];
    drop.mass *= 0.5;
    const double radius = mn_codim_ball_radius(drop.mass / mls->def.density);
    const double reach = fmax(mls->def.spacing, radius + 0.6 * mls->def.rim_thickness);
    drop.velocity =
        mn_add(mn_scale(1 / piece.mass, piece.momentum), push_off(mls, &piece, p, mls->def.rim_thickness));
    drop.position = mn_axpy(drop.position, reach, piece.outward);
    drop.id = mls->next_id++;
    drop.codim = MN_CODIM_DROP;
    drop.pocket = -1;
    drop.unrest = MN_CODIM_UNREST;
    mn_codim_point *rim = &mls->points.data[p];
    rim->velocity = mn_sub(mn_scale(2, rim->velocity), drop.velocity); // both are half of what it was
    rim->mass -= drop.mass;
    return mn_array_push(mls->solver.ctx, &mls->points, &drop);
}

mn_status mn_codim_shed_rims(mn_codim *mls)
{
    if (!(mls->def.rim_thickness > 0)) return MN_OK;
    for (int32_t p = 0; p < (int32_t)mls->surface.count; p++)
        if (ripeness(mls, p) > 1) MN_TRY(shed(mls, p));
    return MN_OK;
}
