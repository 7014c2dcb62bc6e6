// SPDX-License-Identifier: Apache-2.0
//
// PEEL, OPEN and the choice between them (resolve.h).
//
//   PEEL A off v     A's fan moves to a new vertex a; at each edge (v, w) of the fan where the sector behind
//                    A changes from C1 to C2, the film between C1 and C2 grows by the triangle (v, w, a).
//   OPEN (A, B) at v A and B share v only: a prism. Each wall between the sectors around gets a vertex p_i,
//                    the chains of films between two walls are cut in their middle, and the polygon p_1 ..
//                    p_n is the new film between A and B.
//
// The mass of v is shared equally and the middle of what it is shared between stays where v was: mass,
// momentum and angular momentum are kept to rounding. A move is chosen by trial: the change of area for a
// small opening, per opening; the lowest that is negative is done with a larger one.
#include "film/resolve.h"

#include <string.h>

static const double TRIAL = 0.03, OPENING = 0.4; // of the size

bool mn_resolve_push(mn_resolve_list *list, int32_t v)
{
    for (int32_t i = 0; i < list->count; i++)
        if (list->vertex[i] == v) return true;
    if (list->count == MN_RESOLVE_MAX) return false;
    list->vertex[list->count++] = v;
    return true;
}

// -d(area)/dx of the triangle at its corner v: what it pulls with, per tension.
static mn_vec3 pull(const mn_complex *c, int32_t t, int32_t v)
{
    const mn_complex_triangle *triangle = &c->triangles.data[t];
    const int32_t k = mn_complex_corner(triangle, v);
    const mn_vec3 e = mn_sub(mn_complex_position(c, triangle->v[(k + 2) % 3]),
                             mn_complex_position(c, triangle->v[(k + 1) % 3]));
    return mn_scale(0.5, mn_cross(e, mn_normalize(mn_complex_normal2(c, t))));
}

static mn_vec3 keep_to_wall(mn_vec3 slide, mn_vec3 d)
{
    return mn_axpy(d, -mn_dot(slide, d), slide);
}

// ---- peel ----

/// One edge (v, w) of the fan of a sector: the triangles before and after the sector there, as places in the
/// list; -1 at a wall.
typedef struct fan_edge {
    int32_t w, before, after;
} fan_edge;

// The edges of the fan; -1 when the sector passes an edge twice or a triangle on both sides.
static int32_t list_fan(const mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, fan_edge *edges)
{
    int32_t neighbours[2 * MN_COMPLEX_STAR_MAX], found = 0;
    for (int32_t i = 0; i < s->count; i++)
        if (s->sector[2 * i] == a && s->sector[2 * i + 1] == a) return -1;
    const int32_t count = mn_complex_neighbours(c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
    for (int32_t k = 0; k < count; k++) {
        mn_edge_turn turn;
        if (!mn_edge_turn_around(c, v, neighbours[k], &turn)) return -1;
        fan_edge e = {neighbours[k], -1, -1};
        for (int32_t i = 0; i < turn.count; i++) {
            const int32_t at = mn_sectors_find(s, turn.triangle[i]);
            if (s->sector[2 * at + turn.after[i]] == a) {
                if (e.before >= 0) return -1;
                e.before = at;
            }
            if (s->sector[2 * at + 1 - turn.after[i]] == a) {
                if (e.after >= 0) return -1;
                e.after = at;
            }
        }
        if (e.before < 0 && e.after < 0) continue;
        if (found == MN_COMPLEX_STAR_MAX) return -1;
        edges[found++] = e;
    }
    return found;
}

// The sector on the other side of a triangle of the fan.
static int32_t behind(const mn_sectors *s, int32_t at, int32_t a)
{
    return s->sector[2 * at] == a ? s->sector[2 * at + 1] : s->sector[2 * at];
}

bool mn_peel(mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, double opening, mn_resolve_list *made)
{
    fan_edge edges[MN_COMPLEX_STAR_MAX];
    const int32_t count = list_fan(c, v, s, a, edges);
    if (count < 0) return false;
    int32_t changes = 0;
    for (int32_t i = 0; i < count; i++)
        changes += edges[i].before >= 0 && edges[i].after >= 0 &&
                   behind(s, edges[i].before, a) != behind(s, edges[i].after, a);
    if (changes == 0) return false;
    mn_vec3 towards = {0}, away = {0};
    for (int32_t i = 0; i < s->count; i++) {
        const bool fan = s->sector[2 * i] == a || s->sector[2 * i + 1] == a;
        const mn_vec3 f = pull(c, s->triangle[i], v);
        if (fan)
            towards = mn_add(towards, f);
        else
            away = mn_add(away, f);
    }
    mn_complex_vertex *old = mn_complex_edit_vertex(c, v);
    const mn_vec3 d = mn_normalize(keep_to_wall(old->slide, mn_sub(towards, away)));
    if (mn_norm2(d) < 0.5) return false;
    old->mass *= 0.5, old->rest_area *= 0.5;
    mn_complex_vertex fresh = *old;
    fresh.position = mn_axpy(old->position, 0.5 * opening, d);
    old->position = mn_axpy(old->position, -0.5 * opening, d);
    const int32_t p = mn_complex_add_vertex(c, &fresh);
    if (p < 0) return false;
    for (int32_t i = 0; i < count; i++) {
        if (edges[i].before < 0 || edges[i].after < 0) continue;
        const int32_t c1 = behind(s, edges[i].before, a), c2 = behind(s, edges[i].after, a);
        if (c1 != c2) mn_complex_add_triangle(c, v, edges[i].w, p, s->label[c1], s->label[c2]);
    }
    for (int32_t i = 0; i < s->count; i++) {
        if (s->sector[2 * i] != a && s->sector[2 * i + 1] != a) continue;
        mn_complex_move_corner(c, s->triangle[i], mn_complex_corner(&c->triangles.data[s->triangle[i]], v),
                               p);
    }
    return !c->broken && mn_resolve_push(made, p);
}

// ---- open ----

/// One wall of the prism: from the border of a to the border of b.
typedef struct prism_wall {
    int32_t corner;                  ///< link vertex on a's border
    int32_t foot;                    ///< on b's
    int32_t count;                   ///< of triangles
    int32_t at[MN_COMPLEX_STAR_MAX]; ///< places in the list
} prism_wall;

enum { WALL_MAX = 6 };

static int32_t at_edge(const mn_complex *c, const mn_sectors *s, int32_t w, int32_t *at, int32_t max)
{
    int32_t count = 0;
    for (int32_t i = 0; i < s->count; i++)
        if (mn_complex_corner(&c->triangles.data[s->triangle[i]], w) >= 0) {
            if (count < max) at[count] = i;
            count++;
        }
    return count;
}

static bool faces(const mn_sectors *s, int32_t at, int32_t a)
{
    return s->sector[2 * at] == a || s->sector[2 * at + 1] == a;
}

// Follows the wall that starts at link vertex `corner` of a's border to b's border.
static bool follow_wall(const mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, int32_t b,
                        int32_t corner, prism_wall *wall)
{
    int32_t at[4], w = corner, last = -1;
    wall->corner = corner, wall->count = 0;
    for (int32_t step = 0; step <= s->count; step++) {
        const int32_t n = at_edge(c, s, w, at, 4);
        int32_t next = -1, bordering = 0, at_b = 0;
        if (n > 3) return false;
        for (int32_t i = 0; i < n; i++) {
            if (faces(s, at[i], a)) {
                bordering++;
            } else if (faces(s, at[i], b)) {
                at_b++;
            } else if (at[i] != last) {
                if (next >= 0) return false;
                next = at[i];
            }
        }
        if (step > 0 && at_b == 2 && next < 0) {
            wall->foot = w;
            return n == 3;
        }
        if (next < 0 || at_b > 0 || (step == 0) != (bordering == 2) || n != (step == 0 ? 3 : 2)) return false;
        wall->at[wall->count++] = next;
        w = mn_complex_apex(&c->triangles.data[s->triangle[next]], v, w);
        last = next;
    }
    return false;
}

// The chain of triangles that face `a`, from link vertex `from` on, the way that leads along `first`, until
// the next corner of the prism. u[0] = from .. u[count].
static int32_t follow_chain(const mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, int32_t from,
                            int32_t first, int32_t *at, int32_t *u)
{
    int32_t count = 0, w = from, now = first, list[4];
    u[0] = from;
    for (;;) {
        at[count++] = now;
        w = mn_complex_apex(&c->triangles.data[s->triangle[now]], v, w);
        u[count] = w;
        const int32_t n = at_edge(c, s, w, list, 4);
        if (n != 2) return n == 3 ? count : -1;
        const int32_t next = list[0] == now ? list[1] : list[0];
        if (!faces(s, next, a) || count >= s->count) return -1;
        now = next;
    }
}

// Cuts the chain between two walls in its middle and bridges the gap.
static bool cut_chain(mn_complex *c, int32_t v, const mn_sectors *s, const int32_t *at, const int32_t *u,
                      int32_t count, int32_t from, int32_t to)
{
    const int32_t middle = count / 2;
    const mn_complex_triangle first = c->triangles.data[s->triangle[at[0]]];
    const bool forward = first.v[(mn_complex_corner(&first, v) + 1) % 3] == u[0];
    for (int32_t i = 0; i < count; i++) {
        const int32_t t = s->triangle[at[i]], p = i < middle ? from : to;
        if (p != v) mn_complex_move_corner(c, t, mn_complex_corner(&c->triangles.data[t], v), p);
    }
    const int32_t ends[2] = {forward ? from : to, forward ? to : from};
    return mn_complex_add_triangle(c, ends[0], u[middle], ends[1], first.region[0], first.region[1]) >= 0;
}

bool mn_open(mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, int32_t b, double opening,
             mn_resolve_list *made)
{
    if (mn_complex_slides(c, v)) return false;
    fan_edge edges[MN_COMPLEX_STAR_MAX];
    const int32_t count = list_fan(c, v, s, a, edges);
    if (count < 3 || list_fan(c, v, s, b, edges) < 3) return false;
    if (list_fan(c, v, s, a, edges) != count) return false;
    prism_wall wall[WALL_MAX];
    int32_t at[WALL_MAX][MN_COMPLEX_STAR_MAX], u[WALL_MAX][MN_COMPLEX_STAR_MAX + 1], length[WALL_MAX];
    int32_t n = 0, used = 0, w = -1;
    for (int32_t i = 0; i < count && w < 0; i++)
        if (edges[i].before >= 0 && edges[i].after >= 0 &&
            behind(s, edges[i].before, a) != behind(s, edges[i].after, a))
            w = edges[i].w;
    if (w < 0) return false;
    const int32_t start = w;
    do { // around a's border, turning the way that leaves each corner by the triangle after it
        int32_t e = 0;
        while (e < count && edges[e].w != w) e++;
        if (e == count || n == WALL_MAX || edges[e].after < 0) return false;
        if (!follow_wall(c, v, s, a, b, w, &wall[n])) return false;
        length[n] = follow_chain(c, v, s, a, w, edges[e].after, at[n], u[n]);
        if (length[n] < 0) return false;
        used += length[n] + wall[n].count;
        w = u[n][length[n]];
        n++;
    } while (w != start);
    // b's border: from each foot to the next, the way that keeps to the same sector
    int32_t at_b[WALL_MAX][MN_COMPLEX_STAR_MAX], u_b[WALL_MAX][MN_COMPLEX_STAR_MAX + 1], length_b[WALL_MAX];
    for (int32_t i = 0; i < n; i++) {
        const int32_t between = behind(s, at[i][0], a);
        int32_t list[4], first = -1;
        if (at_edge(c, s, wall[i].foot, list, 4) != 3) return false;
        for (int32_t k = 0; k < 3; k++)
            if (faces(s, list[k], b) && behind(s, list[k], b) == between) first = list[k];
        if (first < 0) return false;
        length_b[i] = follow_chain(c, v, s, b, wall[i].foot, first, at_b[i], u_b[i]);
        if (length_b[i] < 0 || u_b[i][length_b[i]] != wall[(i + 1) % n].foot) return false;
        used += length_b[i];
    }
    if (n < 3 || used != s->count) return false;

    const bool middle = n > 3; // a polygon of more than three corners gets a vertex in its middle
    const double share = 1.0 / (n + middle);
    int32_t p[WALL_MAX];
    mn_vec3 out[WALL_MAX], mean = {0};
    for (int32_t i = 0; i < n; i++) {
        mn_vec3 f = {0};
        for (int32_t k = 0; k < wall[i].count; k++) f = mn_add(f, pull(c, s->triangle[wall[i].at[k]], v));
        out[i] = mn_normalize(f);
        mean = mn_axpy(mean, 1.0 / n, out[i]);
    }
    mn_complex_vertex copy = c->vertices.data[v];
    const mn_vec3 x = copy.position;
    copy.mass *= share, copy.rest_area *= share;
    for (int32_t i = 0; i < n; i++) {
        copy.position = mn_axpy(x, opening, mn_sub(out[i], mean));
        p[i] = i == 0 && !middle ? v : mn_complex_add_vertex(c, &copy);
        if (p[i] < 0) return false;
    }
    mn_complex_vertex *old = mn_complex_edit_vertex(c, v);
    old->mass = copy.mass, old->rest_area = copy.rest_area;
    if (!middle) old->position = mn_axpy(x, opening, mn_sub(out[0], mean));

    const mn_complex_triangle first = c->triangles.data[s->triangle[at[0][0]]];
    const bool forward = first.v[(mn_complex_corner(&first, v) + 1) % 3] == u[0][0];
    const bool a_behind =
        s->sector[2 * at[0][0]] == a; // side of a on the film, as the polygon goes on from it
    const int32_t la = s->label[a], lb = s->label[b];
    for (int32_t i = 0; i < n; i++)
        for (int32_t k = 0; k < wall[i].count; k++) {
            const int32_t t = s->triangle[wall[i].at[k]];
            if (p[i] != v) mn_complex_move_corner(c, t, mn_complex_corner(&c->triangles.data[t], v), p[i]);
        }
    for (int32_t i = 0; i < n; i++) {
        const int32_t k = (i + 1) % n;
        if (!cut_chain(c, v, s, at[i], u[i], length[i], p[i], p[k])) return false;
        if (!cut_chain(c, v, s, at_b[i], u_b[i], length_b[i], p[i], p[k])) return false;
    }
    const int32_t region[2] = {a_behind ? la : lb, a_behind ? lb : la};
    for (int32_t i = middle ? 0 : 2; i < (middle ? n : 3); i++) {
        const int32_t q[3] = {middle ? v : p[0], middle ? p[i] : p[1], middle ? p[(i + 1) % n] : p[2]};
        const int32_t t = forward ? mn_complex_add_triangle(c, q[0], q[1], q[2], region[0], region[1])
                                  : mn_complex_add_triangle(c, q[0], q[2], q[1], region[0], region[1]);
        if (t < 0) return false;
    }
    for (int32_t i = 0; i < n; i++)
        if (!mn_resolve_push(made, p[i])) return false;
    return !c->broken;
}

// ---- come apart ----

bool mn_come_apart(mn_complex *c, int32_t v, mn_resolve_list *made)
{
    int32_t star[MN_COMPLEX_STAR_MAX], part[MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_star(c, v, star, MN_COMPLEX_STAR_MAX);
    if (count > MN_COMPLEX_STAR_MAX || mn_complex_held(c, v)) return false;
    int32_t parts = 0;
    double area[MN_SECTOR_MAX] = {0}, whole = 0;
    for (int32_t i = 0; i < count; i++) part[i] = -1;
    for (int32_t i = 0; i < count; i++) {
        if (part[i] >= 0) continue;
        if (parts == MN_SECTOR_MAX) return false;
        part[i] = parts;
        for (bool grows = true; grows;) {
            grows = false;
            for (int32_t k = 0; k < count; k++) {
                if (part[k] >= 0) continue;
                for (int32_t m = 0; m < count && part[k] < 0; m++) {
                    if (part[m] != parts) continue;
                    for (int32_t j = 0; j < 3; j++) {
                        const int32_t w = c->triangles.data[star[m]].v[j];
                        if (w != v && mn_complex_corner(&c->triangles.data[star[k]], w) >= 0)
                            part[k] = parts, grows = true;
                    }
                }
            }
        }
        parts++;
    }
    if (parts < 2) return false;
    for (int32_t i = 0; i < count; i++) {
        const double one = mn_complex_area(c, star[i]);
        area[part[i]] += one, whole += one;
    }
    if (!(whole > 0)) return false;
    const mn_complex_vertex old = c->vertices.data[v];
    double mass = old.mass, rest = old.rest_area;
    for (int32_t k = 1; k < parts; k++) {
        mn_complex_vertex fresh = old;
        fresh.mass = old.mass * area[k] / whole, fresh.rest_area = old.rest_area * area[k] / whole;
        mass -= fresh.mass, rest -= fresh.rest_area;
        const int32_t p = mn_complex_add_vertex(c, &fresh);
        if (p < 0) return false;
        for (int32_t i = 0; i < count; i++)
            if (part[i] == k)
                mn_complex_move_corner(c, star[i], mn_complex_corner(&c->triangles.data[star[i]], v), p);
        mn_resolve_push(made, p);
    }
    mn_complex_vertex *kept = mn_complex_edit_vertex(c, v);
    kept->mass = mass, kept->rest_area = rest;
    return true;
}

// ---- the choice ----

bool mn_is_crowded(const mn_complex *c, int32_t v)
{
    int32_t neighbours[2 * MN_COMPLEX_STAR_MAX];
    const int32_t count = mn_complex_neighbours(c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
    bool borders = false;
    for (int32_t i = 0; i < count; i++) {
        const int32_t n = mn_complex_edge(c, v, neighbours[i], NULL, 0);
        if (n > 3) return true;
        borders = borders || n > 2;
    }
    mn_sectors s;
    return borders && mn_sectors_build(c, &v, 1, &s) && s.sector_count > 4;
}

static double area_around(const mn_complex *c, const int32_t *centers, int32_t count)
{
    double sum = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t at = c->vertices.data[centers[i]].first; at >= 0;
             at = c->triangles.data[at / 3].next[at % 3]) {
            bool counted = false;
            for (int32_t k = 0; k < i && !counted; k++)
                counted = mn_complex_corner(&c->triangles.data[at / 3], centers[k]) >= 0;
            if (!counted) sum += mn_complex_area(c, at / 3);
        }
    return sum;
}

typedef struct choice {
    double slope; ///< change of area per opening
    int32_t a, b; ///< b < 0: peel a
} choice;

static void try_move(mn_complex *c, int32_t v, const mn_sectors *s, int32_t a, int32_t b, double size,
                     choice *best)
{
    const mn_complex_place place = mn_complex_here(c);
    mn_resolve_list made = {1, {v}};
    const double before = area_around(c, &v, 1), opening = TRIAL * size;
    const bool done = b < 0 ? mn_peel(c, v, s, a, opening, &made) : mn_open(c, v, s, a, b, opening, &made);
    const double slope = done ? (area_around(c, made.vertex, made.count) - before) / opening : INFINITY;
    mn_complex_undo_to(c, place);
    if (slope < best->slope) *best = (choice){slope, a, b};
}

// The best move at one vertex.
static bool resolve_one(mn_complex *c, int32_t v, double size, mn_resolve_list *list)
{
    mn_sectors s;
    if (mn_complex_held(c, v) || mn_complex_wet(c, v) || !mn_sectors_build(c, &v, 1, &s) ||
        s.sector_count < 4)
        return false;
    choice best = {-1e-6 * size, -1, -1};
    for (int32_t a = 0; a < s.sector_count; a++) {
        try_move(c, v, &s, a, -1, size, &best);
        for (int32_t b = a + 1; b < s.sector_count; b++) try_move(c, v, &s, a, b, size, &best);
    }
    if (best.a < 0) return false;
    const mn_complex_place place = mn_complex_here(c);
    const mn_resolve_list kept = *list;
    const bool done = best.b < 0 ? mn_peel(c, v, &s, best.a, OPENING * size, list)
                                 : mn_open(c, v, &s, best.a, best.b, OPENING * size, list);
    if (done) return true;
    mn_complex_undo_to(c, place);
    *list = kept;
    return false;
}

bool mn_resolve(mn_complex *c, mn_resolve_list *list, double size)
{
    bool changed = false;
    for (int32_t i = 0; i < list->count && !c->broken; i++)
        if (c->vertices.data[list->vertex[i]].alive && !mn_complex_wet(c, list->vertex[i]) &&
            mn_come_apart(c, list->vertex[i], list))
            changed = true;
    for (int32_t round = 0; round < MN_RESOLVE_MAX && !c->broken; round++) {
        bool again = false;
        for (int32_t i = 0; i < list->count && list->count < MN_RESOLVE_MAX - 8; i++)
            if (c->vertices.data[list->vertex[i]].alive && resolve_one(c, list->vertex[i], size, list))
                again = changed = true;
        if (!again) break;
    }
    return changed;
}
