// SPDX-License-Identifier: Apache-2.0
//
// Tubes around threads. A thread is followed from an end or a branch to the next; its points and radii are
// joined by cubics (Catmull and Rom), rings stand across it and do not twist, and each end is a piece of a
// ball that goes on with the slope of the last link: a bud is round, a thin thread ends in half a ball. Each
// tube is closed, and reaches into the film, the drop or the other tubes that it meets. A thread thicker than
// the link to its film is long has come to it already, and ends there, flatter than a ball.
#include "base/elementary.h"
#include "mesh/film_skin_state.h"

enum { SIDES = 12, PARTS = 3, DOME = 4 };
static const double FLARE = 1.6;
static const double FLAT = 0.5; // slope of such an end
static const double PI = MN_PI;

/// One ring of the tube.
typedef struct ring {
    mn_vec3 center, along;
    double radius, slope; ///< slope: how the radius grows along
    int64_t a, b;
    double part; ///< between points a and b
} ring;

// Like drops, threads are as thick as their volume; a film's rim that they end on is as thick as it is drawn.
static double radius_of(const mn_film_skin *s, const mn_film_skin_def *def, int64_t p)
{
    const double h = fmax(s->thickness.data[p], def->min_thickness);
    return 0.5 * (s->used.data[p] ? fmin(h, def->max_thickness) : h);
}

// ---- chains ----

static mn_status index_links(mn_film_skin *s, const mn_film_sheet *sheet)
{
    MN_TRY(mn_array_resize(s->ctx, &s->link_start, sheet->count + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->link_at, 2 * sheet->link_count));
    MN_TRY(mn_array_resize(s->ctx, &s->drawn_links, sheet->link_count));
    int64_t *start = s->link_start.data;
    for (int64_t p = 0; p <= sheet->count; p++) start[p] = 0;
    for (int64_t i = 0; i < sheet->link_count; i++) {
        s->drawn_links.data[i] = sheet->links[i][0] == sheet->links[i][1];
        for (int k = 0; k < 2; k++) start[sheet->links[i][k]]++;
    }
    int64_t sum = 0;
    for (int64_t p = 0; p <= sheet->count; p++) sum += start[p], start[p] = sum;
    for (int64_t i = sheet->link_count - 1; i >= 0; i--)
        for (int k = 0; k < 2; k++) s->link_at.data[--start[sheet->links[i][k]]] = i;
    return MN_OK;
}

static int64_t degree_of(const mn_film_skin *s, int64_t p)
{
    return s->link_start.data[p + 1] - s->link_start.data[p];
}

// From p along link i to where the thread ends or branches.
static mn_status follow(mn_film_skin *s, const mn_film_sheet *sheet, int64_t p, int64_t i)
{
    s->chain.count = 0;
    MN_TRY(mn_array_push(s->ctx, &s->chain, &p));
    while (i >= 0) {
        s->drawn_links.data[i] = 1;
        p = sheet->links[i][0] == p ? sheet->links[i][1] : sheet->links[i][0];
        MN_TRY(mn_array_push(s->ctx, &s->chain, &p));
        i = -1;
        for (int64_t e = s->link_start.data[p]; degree_of(s, p) == 2 && e < s->link_start.data[p + 1]; e++)
            if (!s->drawn_links.data[s->link_at.data[e]]) i = s->link_at.data[e];
    }
    return MN_OK;
}

// Leaves out a film at the end of the chain that the thread has come to; true when it did.
static bool leave_film(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet, bool first)
{
    const int64_t count = s->chain.count;
    int64_t *chain = s->chain.data;
    const int64_t film = chain[first ? 0 : count - 1], thread = chain[first ? 1 : count - 2];
    if (count < 3 || s->used.data[film] != 1) return false;
    if (mn_distance(sheet->positions[film], sheet->positions[thread]) > radius_of(s, def, thread))
        return false;
    for (int64_t i = 1; first && i < count; i++) chain[i - 1] = chain[i];
    s->chain.count--;
    return true;
}

// ---- a tube ----

static double cubic(double a, double b, double c, double d, double t)
{
    return b + 0.5 * t * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a)));
}

static double cubic_slope(double a, double b, double c, double d, double t)
{
    return 0.5 * (c - a) + t * (2 * a - 5 * b + 4 * c - d) + 1.5 * t * t * (3 * (b - c) + d - a);
}

// A film that a thread ends on has no radius of its own: a thin thread widens to meet it.
static double at_film(const mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet,
                      int64_t film, int64_t thread)
{
    const double r = radius_of(s, def, thread);
    return mn_distance(sheet->positions[film], sheet->positions[thread]) > r ? FLARE * r : r;
}

static ring ring_at(const mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet, int64_t k,
                    double t)
{
    int64_t p[4];
    double r[4];
    mn_vec3 x[4];
    for (int i = 0; i < 4; i++) {
        const int64_t at = k + i - 1;
        p[i] = s->chain.data[at < 0 ? 0 : at >= s->chain.count ? s->chain.count - 1 : at];
        x[i] = sheet->positions[p[i]];
    }
    for (int i = 0; i < 4; i++) {
        const int64_t thread = p[s->used.data[p[1]] == 1 ? 2 : 1];
        r[i] = s->used.data[p[i]] == 1 ? at_film(s, def, sheet, p[i], thread) : radius_of(s, def, p[i]);
    }
    ring out = {.a = p[1], .b = p[2], .part = t};
    out.center = mn_v3(cubic(x[0].x, x[1].x, x[2].x, x[3].x, t), cubic(x[0].y, x[1].y, x[2].y, x[3].y, t),
                       cubic(x[0].z, x[1].z, x[2].z, x[3].z, t));
    const mn_vec3 speed =
        mn_v3(cubic_slope(x[0].x, x[1].x, x[2].x, x[3].x, t), cubic_slope(x[0].y, x[1].y, x[2].y, x[3].y, t),
              cubic_slope(x[0].z, x[1].z, x[2].z, x[3].z, t));
    const double fast = mn_norm(speed);
    out.along = fast > 0 ? mn_scale(1 / fast, speed) : mn_normalize(mn_sub(x[2], x[1]));
    const double least = 0.5 * fmin(r[1], r[2]);
    out.radius = fmax(least, cubic(r[0], r[1], r[2], r[3], t));
    out.slope = fast > 0 ? cubic_slope(r[0], r[1], r[2], r[3], t) / fast : 0;
    return out;
}

static mn_status push_ring(mn_film_skin *s, const ring *at, mn_vec3 u, mn_vec3 v)
{
    const double h =
        s->thickness.data[at->a] + at->part * (s->thickness.data[at->b] - s->thickness.data[at->a]);
    const double lean = 1 / sqrt(1 + at->slope * at->slope);
    for (int32_t side = 0; side < SIDES; side++) {
        const double angle = 2 * PI * side / SIDES;
        const mn_vec3 out = mn_axpy(mn_scale(mn_cos(angle), u), mn_sin(angle), v);
        const mn_film_skin_vertex vertex = {.position = mn_axpy(at->center, at->radius, out),
                                            .normal = mn_scale(lean, mn_axpy(out, -at->slope, at->along)),
                                            .thickness = h,
                                            .point = at->a,
                                            .other = at->b,
                                            .part = at->part};
        MN_TRY(mn_array_push(s->ctx, &s->vertices, &vertex));
    }
    return MN_OK;
}

static mn_status join_rings(mn_film_skin *s, int64_t first, int64_t second)
{
    for (int32_t side = 0; side < SIDES; side++) {
        const int32_t next = (side + 1) % SIDES;
        MN_TRY(mn_film_skin_push_quad(s, first + side, first + next, second + next, second + side));
    }
    return MN_OK;
}

// The rest of a ball beyond a ring that it touches smoothly; way is 1 at the far end and -1 at the near one.
static mn_status push_dome(mn_film_skin *s, const ring *at, mn_vec3 u, mn_vec3 v, double way, int64_t base)
{
    const double open = fmin(fmax(mn_atan2(1, -way * at->slope), PI / 6), 2 * PI / 3);
    const double ball = at->radius / mn_sin(open);
    int64_t last = base;
    for (int32_t k = 1; k < DOME; k++) {
        const double angle = open * (DOME - k) / DOME;
        ring r = *at;
        r.radius = ball * mn_sin(angle);
        r.center = mn_axpy(at->center, way * ball * (mn_cos(angle) - mn_cos(open)), at->along);
        r.slope = -way / mn_tan(angle);
        const int64_t first = s->vertices.count;
        MN_TRY(push_ring(s, &r, u, v));
        MN_TRY(way > 0 ? join_rings(s, last, first) : join_rings(s, first, last));
        last = first;
    }
    const mn_film_skin_vertex tip = {.position =
                                         mn_axpy(at->center, way * ball * (1 - mn_cos(open)), at->along),
                                     .normal = mn_scale(way, at->along),
                                     .thickness = s->thickness.data[at->a],
                                     .point = at->a,
                                     .other = at->b,
                                     .part = at->part};
    const int64_t top = s->vertices.count;
    MN_TRY(mn_array_push(s->ctx, &s->vertices, &tip));
    for (int32_t side = 0; side < SIDES; side++) {
        const int64_t here = last + side, next = last + (side + 1) % SIDES;
        MN_TRY(mn_film_skin_push_triangle(s, top, way > 0 ? here : next, way > 0 ? next : here));
    }
    return MN_OK;
}

// u turned with the thread: what is left of it across the new direction.
static mn_vec3 carry(mn_vec3 u, mn_vec3 along)
{
    const mn_vec3 across = mn_normalize(mn_axpy(u, -mn_dot(u, along), along));
    if (mn_norm2(across) > 0) return across;
    mn_vec3 first, second;
    mn_frame(along, &first, &second);
    return first;
}

static mn_status make_tube(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    const bool flat_start = leave_film(s, def, sheet, true), flat_end = leave_film(s, def, sheet, false);
    const int64_t pieces = s->chain.count - 1;
    ring at = ring_at(s, def, sheet, 0, 0);
    mn_vec3 u, v;
    if (!(mn_norm2(at.along) > 0)) return MN_OK; // all in one place
    mn_frame(at.along, &u, &v);
    v = mn_cross(at.along, u);
    int64_t last = s->vertices.count;
    MN_TRY(push_ring(s, &at, u, v));
    ring end = at;
    if (flat_start) end.slope = FLAT;
    MN_TRY(push_dome(s, &end, u, v, -1, last));
    for (int64_t k = 0; k < pieces; k++)
        for (int32_t part = 1; part <= PARTS; part++) {
            ring next = ring_at(s, def, sheet, k, (double)part / PARTS);
            if (!(mn_norm2(next.along) > 0)) next.along = at.along;
            at = next;
            u = carry(u, at.along), v = mn_cross(at.along, u);
            const int64_t first = s->vertices.count;
            MN_TRY(push_ring(s, &at, u, v));
            MN_TRY(join_rings(s, last, first));
            last = first;
        }
    if (flat_end) at.slope = -FLAT;
    return push_dome(s, &at, u, v, 1, last);
}

mn_status mn_film_skin_make_tubes(mn_film_skin *s, const mn_film_skin_def *def, const mn_film_sheet *sheet)
{
    if (sheet->link_count == 0) return MN_OK;
    MN_TRY(index_links(s, sheet));
    for (int round = 0; round < 2; round++) // ends and branches first, then rings without any
        for (int64_t p = 0; p < sheet->count; p++) {
            if (round == 0 && degree_of(s, p) == 2) continue;
            for (int64_t e = s->link_start.data[p]; e < s->link_start.data[p + 1]; e++) {
                if (s->drawn_links.data[s->link_at.data[e]]) continue;
                MN_TRY(follow(s, sheet, p, s->link_at.data[e]));
                MN_TRY(make_tube(s, def, sheet));
            }
        }
    for (int64_t i = 0; i < sheet->link_count; i++)
        for (int k = 0; k < 2; k++)
            if (s->used.data[sheet->links[i][k]] == 0) s->used.data[sheet->links[i][k]] = 2;
    return MN_OK;
}
