// SPDX-License-Identifier: Apache-2.0
//
// Films that touch, by patch transfer: where film A comes near film B across a region O, the part of A within
// reach of B becomes the wall between what is behind both, the part of B goes, and a strip of B's film joins
// the two loops that are left:
//
//        behind A            behind A                   A's patch   (a, O) -> (a, b)
//     -----A------        ---.        .---              B's patch   gone, its liquid to the wall
//          O          ->   O  >--wall-<  O              strip       (b, O) between the loops
//     -----B------        ---'        '---
//        behind B            behind B
//
// Around each edge of A's loop the regions are then a, b, O: one border of three films, which tension pulls
// to 120 degrees. Both patches must be discs of ordinary film that share no neighbour; else the films wait.
// All or nothing, as every move. Liquid is handed over with its momentum. Gas behind B gains or loses half of
// the gap, which the volumes that are restored after all moves give back.
//
// A may be the surface of a volume, whose inside is then what is behind it: the film goes where it lies on
// the volume and hangs on it around there, the volume takes its liquid up (absorb.c) and does not move.
//
// Drops that come near a film join it, and drops that touch each other become one.
#include "base/elementary.h"
#include "film/film_state.h"
#include "meniscus/array.h"

static const double NEAR = 0.5;      // of the size: gap between films that touch
static const double BESIDE = 0.75;   // of the size: how far along the film the other one's vertex may be
static const double PARALLEL = 0.5;  // least cosine between the normals
static const double LONG_RUNG = 2.5; // of the size: a strip with longer edges is twisted
static const double OFTEN = 0.1;     // of the size: motion after which films are looked at again
enum { LEAST_PATCH = 4 };            // triangles

// ---- places ----

static uint32_t slot_of(const mn_film_touch *touch, int64_t x, int64_t y, int64_t z)
{
    const uint64_t h = (uint64_t)x * 73856093u ^ (uint64_t)y * 19349663u ^ (uint64_t)z * 83492791u;
    return (uint32_t)(h ^ h >> 17) & (uint32_t)(touch->head.count - 1);
}

static void cell_of(mn_vec3 x, double cell, int64_t at[3])
{
    at[0] = (int64_t)floor(x.x / cell), at[1] = (int64_t)floor(x.y / cell),
    at[2] = (int64_t)floor(x.z / cell);
}

// All vertices that are alive by their cells.
static mn_status sort_vertices(mn_film *film, double cell)
{
    mn_film_touch *touch = &film->touch;
    mn_context *ctx = film->solver.ctx;
    const int64_t n = film->c.vertices.count;
    int64_t slots = 1024;
    while (slots < 2 * n) slots *= 2;
    MN_TRY(mn_array_resize(ctx, &touch->head, slots));
    MN_TRY(mn_array_resize(ctx, &touch->next, n));
    mn_fill_bytes(touch->head.data, 0xff, mn_bytes(slots, sizeof(int32_t)));
    for (int64_t v = n - 1; v >= 0; v--) {
        if (!film->c.vertices.data[v].alive) continue;
        int64_t at[3];
        cell_of(film->c.vertices.data[v].position, cell, at);
        const uint32_t slot = slot_of(touch, at[0], at[1], at[2]);
        touch->next.data[v] = touch->head.data[slot];
        touch->head.data[slot] = (int32_t)v;
    }
    return MN_OK;
}

// ---- who touches whom ----

// The surface of a volume faces out.
static mn_vec3 normal_at(const mn_film *film, int32_t v)
{
    const mn_complex *c = &film->c;
    mn_vec3 n = mn_complex_wet(c, v) ? mn_v3(0, 0, 0) : film->system.normal.data[v];
    for (int32_t at = c->vertices.data[v].first; at >= 0 && mn_complex_wet(c, v);
         at = c->triangles.data[at / 3].next[at % 3])
        n = mn_add(n, mn_complex_normal2(c, at / 3));
    return mn_scale(1 / fmax(mn_norm(n), 1e-300), n);
}

static const int32_t *regions_at(const mn_complex *c, int32_t v)
{
    return c->triangles.data[c->vertices.data[v].first / 3].region;
}

// The two have a common neighbour, or are neighbours: parts of one film.
static bool are_near_by_mesh(const mn_complex *c, int32_t a, int32_t b)
{
    for (int32_t at = c->vertices.data[a].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        for (int k = 0; k < 3; k++) {
            const int32_t w = c->triangles.data[at / 3].v[k];
            if (w == b || (w != a && mn_complex_edge(c, w, b, NULL, 0) > 0)) return true;
        }
    return false;
}

// Inside a film, or on the surface of a volume that nothing hangs on there.
static bool is_plain(const mn_complex *c, int32_t v)
{
    if (!mn_complex_wet(c, v)) return mn_complex_class_of(c, v) == MN_COMPLEX_INSIDE;
    if (mn_complex_held(c, v) || mn_complex_slides(c, v) || c->vertices.data[v].first_segment >= 0)
        return false;
    for (int32_t at = c->vertices.data[v].first; at >= 0; at = c->triangles.data[at / 3].next[at % 3])
        if (mn_complex_is_film(c, at / 3)) return false;
    return c->vertices.data[v].first >= 0;
}

static bool faces(const mn_film *film, int32_t a, int32_t b, double *gap)
{
    const mn_complex *c = &film->c;
    const mn_vec3 n = normal_at(film, a), d = mn_sub(mn_complex_position(c, b), mn_complex_position(c, a));
    const double along = mn_dot(n, normal_at(film, b)), size = film->def.size;
    if (mn_complex_wet(c, a) && mn_complex_wet(c, b)) return false; // volumes unite (bulk_remesh.c)
    *gap = mn_dot(d, n);
    if (fabs(*gap) > NEAR * size || mn_norm2(d) - *gap * *gap > BESIDE * BESIDE * size * size ||
        fabs(along) < PARALLEL)
        return false;
    const int32_t *ra = regions_at(c, a), *rb = regions_at(c, b);
    // A closed film is not its own neighbour across a gap where both parts face the same way.
    if (ra[0] != ra[1] && ra[0] == rb[0] && ra[1] == rb[1] && along > 0) return false;
    if (ra[0] != rb[0] && ra[0] != rb[1] && ra[1] != rb[0] && ra[1] != rb[1]) return false;
    return !are_near_by_mesh(c, a, b);
}

// partner[v]: the vertex of another film that v touches, the nearest; -1: none.
static mn_status find_partners(mn_film *film, double cell, bool *any)
{
    mn_film_touch *touch = &film->touch;
    const mn_complex *c = &film->c;
    const int64_t n = film->system.vertex_count;
    MN_TRY(mn_array_resize(film->solver.ctx, &touch->partner, c->vertices.count));
    mn_fill_bytes(touch->partner.data, 0xff, mn_bytes(c->vertices.count, sizeof(int32_t)));
    *any = false;
    for (int32_t v = 0; v < (int32_t)n; v++) {
        if (!c->vertices.data[v].alive || c->vertices.data[v].first < 0 || mn_complex_held(c, v)) continue;
        int64_t at[3];
        int32_t best = -1;
        double least = INFINITY;
        cell_of(mn_complex_position(c, v), cell, at);
        for (int i = 0; i < 27; i++) {
            const uint32_t slot = slot_of(touch, at[0] + i % 3 - 1, at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1);
            for (int32_t w = touch->head.data[slot]; w >= 0; w = touch->next.data[w]) {
                double gap;
                const double d2 = mn_norm2(mn_sub(mn_complex_position(c, v), mn_complex_position(c, w)));
                if (w == v || d2 > cell * cell || d2 >= least || w >= n || c->vertices.data[w].first < 0 ||
                    !faces(film, v, w, &gap))
                    continue;
                best = w, least = d2;
            }
        }
        if (best < 0 || !is_plain(c, v) || !is_plain(c, best)) continue;
        touch->partner.data[v] = best;
        *any = true;
    }
    return MN_OK;
}

// ---- patches ----

static bool is_marked(const mn_film_touch *touch, const mn_complex_triangle *t, int32_t stamp)
{
    for (int k = 0; k < 3; k++)
        if (t->v[k] >= touch->partner.count || touch->partner.data[t->v[k]] < 0 ||
            (stamp > 0 && touch->stamp.data[touch->partner.data[t->v[k]]] != stamp))
            return false;
    return true;
}

// Triangles that are connected to `seed` and marked, all turned as it is; vertices get the stamp. `other`:
// the stamp of the vertices that partners must be of, or 0.
static mn_status grow_patch(mn_film *film, int32_t seed, int32_t stamp, int32_t other, mn_film_patch *patch)
{
    mn_film_touch *touch = &film->touch;
    const mn_complex *c = &film->c;
    const mn_film_patch_triangle first = {seed, false};
    patch->triangles.count = 0;
    MN_TRY(mn_array_push(film->solver.ctx, &patch->triangles, &first));
    touch->triangle_stamp.data[seed] = stamp;
    for (int64_t i = 0; i < patch->triangles.count; i++) {
        const mn_film_patch_triangle one = patch->triangles.data[i];
        const mn_complex_triangle *t = &c->triangles.data[one.triangle];
        for (int k = 0; k < 3; k++) {
            const int32_t a = t->v[k], b = t->v[(k + 1) % 3];
            int32_t pair[2];
            touch->stamp.data[a] = stamp;
            if (mn_complex_edge(c, a, b, pair, 2) != 2) continue;
            const int32_t next = pair[0] == one.triangle ? pair[1] : pair[0];
            const mn_complex_triangle *o = &c->triangles.data[next];
            if (touch->triangle_stamp.data[next] != 0 || !is_marked(touch, o, other)) continue;
            const bool same = o->v[(mn_complex_corner(o, b) + 1) % 3] == a;
            const mn_film_patch_triangle fresh = {next, same ? one.turned : !one.turned};
            touch->triangle_stamp.data[next] = stamp;
            MN_TRY(mn_array_push(film->solver.ctx, &patch->triangles, &fresh));
        }
    }
    return MN_OK;
}

// The way that the triangle is turned in the patch: its corners in order.
static void corners_of(const mn_complex *c, mn_film_patch_triangle p, int32_t v[3])
{
    const int32_t *w = c->triangles.data[p.triangle].v;
    v[0] = w[0], v[1] = w[p.turned ? 2 : 1], v[2] = w[p.turned ? 1 : 2];
}

// The loop around the patch, in its own direction. False when it is not a disc.
static mn_status find_loop(mn_film *film, int32_t stamp, mn_film_patch *patch, bool *disc)
{
    mn_film_touch *touch = &film->touch;
    const mn_complex *c = &film->c;
    int64_t edges = 0, rim = 0, vertices = 0;
    int32_t start = -1;
    *disc = false;
    patch->loop.count = patch->inner.count = 0;
    for (int64_t i = 0; i < patch->triangles.count; i++) {
        int32_t v[3], pair[2];
        corners_of(c, patch->triangles.data[i], v);
        for (int k = 0; k < 3; k++) {
            const int32_t a = v[k], b = v[(k + 1) % 3], t = patch->triangles.data[i].triangle;
            if (mn_complex_edge(c, a, b, pair, 2) != 2) return MN_OK;
            const bool border = touch->triangle_stamp.data[pair[0] == t ? pair[1] : pair[0]] != stamp;
            edges += border ? 2 : 1;
            if (touch->follow.data[a] == -1) vertices++, touch->follow.data[a] = -2;
            if (!border) continue;
            if (touch->follow.data[a] >= 0) return MN_OK; // the loop touches itself
            touch->follow.data[a] = b;
            rim++, start = a;
        }
    }
    if (rim < 3 || vertices - edges / 2 + patch->triangles.count != 1) return MN_OK;
    int32_t at = start;
    do {
        MN_TRY(mn_array_push(film->solver.ctx, &patch->loop, &at));
        at = touch->follow.data[at];
    } while (at >= 0 && at != start && patch->loop.count <= rim);
    if (at != start || patch->loop.count != rim) return MN_OK;
    for (int64_t i = 0; i < patch->triangles.count; i++) {
        const int32_t *v = c->triangles.data[patch->triangles.data[i].triangle].v;
        for (int k = 0; k < 3; k++)
            if (touch->follow.data[v[k]] == -2) {
                MN_TRY(mn_array_push(film->solver.ctx, &patch->inner, &v[k]));
                touch->follow.data[v[k]] = -3;
            }
    }
    *disc = patch->inner.count > 0;
    return MN_OK;
}

static void forget_loop(mn_film *film, const mn_film_patch *patch)
{
    for (int64_t i = 0; i < patch->triangles.count; i++)
        for (int k = 0; k < 3; k++)
            film->touch.follow.data[film->c.triangles.data[patch->triangles.data[i].triangle].v[k]] = -1;
}

// Films whose patches have a common neighbour meet in a border already, which tension closes.
static bool share_a_neighbour(const mn_film *film, const mn_film_patch *a, int32_t stamp_b)
{
    const mn_complex *c = &film->c;
    for (int64_t i = 0; i < a->loop.count; i++)
        for (int32_t at = c->vertices.data[a->loop.data[i]].first; at >= 0;
             at = c->triangles.data[at / 3].next[at % 3])
            for (int k = 0; k < 3; k++) {
                const int32_t w = c->triangles.data[at / 3].v[k];
                for (int32_t on = c->vertices.data[w].first; on >= 0;
                     on = c->triangles.data[on / 3].next[on % 3])
                    for (int j = 0; j < 3; j++)
                        if (film->touch.stamp.data[c->triangles.data[on / 3].v[j]] == stamp_b) return true;
            }
    return false;
}

// ---- the transfer ----

static mn_vec3 direction_of(const mn_complex *c, const mn_film_patch *patch, mn_vec3 *middle)
{
    mn_vec3 n = {0}, sum = {0};
    for (int64_t i = 0; i < patch->triangles.count; i++) {
        const mn_vec3 n2 = mn_complex_normal2(c, patch->triangles.data[i].triangle);
        n = mn_axpy(n, patch->triangles.data[i].turned ? -1 : 1, n2);
    }
    for (int64_t i = 0; i < patch->loop.count; i++)
        sum = mn_add(sum, mn_complex_position(c, patch->loop.data[i]));
    *middle = mn_scale(1 / (double)patch->loop.count, sum);
    return mn_normalize(n);
}

// Turns the patch over, so that its front is its back.
static void turn_over(mn_film_patch *patch)
{
    for (int64_t i = 0; i < patch->triangles.count; i++)
        patch->triangles.data[i].turned = !patch->triangles.data[i].turned;
    for (int64_t i = 0, k = patch->loop.count - 1; i < k; i++, k--) {
        const int32_t swap = patch->loop.data[i];
        patch->loop.data[i] = patch->loop.data[k], patch->loop.data[k] = swap;
    }
}

static void labels_of(const mn_complex *c, const mn_film_patch *patch, int32_t label[2])
{
    const mn_film_patch_triangle p = patch->triangles.data[0];
    for (int side = 0; side < 2; side++)
        label[side] = c->triangles.data[p.triangle].region[p.turned ? 1 - side : side];
}

// Turns both patches so that their fronts face each other across one region: as they lie, or as labels tell
// where films have passed each other within the step. False when neither goes.
static bool turn_to_each_other(const mn_complex *c, mn_film_patch *a, mn_film_patch *b)
{
    mn_vec3 xa, xb;
    int32_t la[2], lb[2];
    const mn_vec3 na = direction_of(c, a, &xa), nb = direction_of(c, b, &xb);
    if (mn_dot(na, mn_sub(xb, xa)) < 0) turn_over(a);
    if (mn_dot(nb, mn_sub(xa, xb)) < 0) turn_over(b);
    labels_of(c, a, la), labels_of(c, b, lb);
    if (la[1] == lb[1]) return true;
    if (la[0] != lb[0]) return false;
    turn_over(a), turn_over(b);
    return true;
}

static double rung(const mn_complex *c, int32_t a, int32_t b)
{
    return mn_norm2(mn_sub(mn_complex_position(c, a), mn_complex_position(c, b)));
}

// The strip between the loops, triangle by triangle the shorter way.
static bool add_strip(mn_complex *c, const mn_film_patch *a, const mn_film_patch *b, int32_t behind,
                      int32_t front, double size)
{
    const int64_t m = a->loop.count, n = b->loop.count;
    int64_t nearest = 0;
    for (int64_t k = 1; k < n; k++)
        if (rung(c, a->loop.data[0], b->loop.data[k]) < rung(c, a->loop.data[0], b->loop.data[nearest]))
            nearest = k;
    for (int64_t i = 0, k = 0; i < m || k < n;) {
        // b's loop runs against a's
        const int32_t pa = a->loop.data[i % m], next_a = a->loop.data[(i + 1) % m];
        const int32_t pb = b->loop.data[(nearest + 2 * n - k) % n],
                      next_b = b->loop.data[(nearest + 2 * n - k - 1) % n];
        const double longest = LONG_RUNG * size;
        if (rung(c, pa, pb) > longest * longest) return false;
        const bool on_a = k == n || (i < m && rung(c, next_a, pb) <= rung(c, pa, next_b));
        const int32_t t = on_a ? mn_complex_add_triangle(c, pa, next_a, pb, behind, front)
                               : mn_complex_add_triangle(c, next_b, pb, pa, behind, front);
        if (t < 0 || mn_complex_area(c, t) <= 0) return false;
        if (on_a)
            i++;
        else
            k++;
    }
    return true;
}

static void give_liquid(mn_complex *c, int32_t from, int32_t to)
{
    mn_complex_vertex *f = mn_complex_edit_vertex(c, from), *t = mn_complex_edit_vertex(c, to);
    const double before = mn_complex_inertia(t), mass = f->mass + before;
    if (mass > 0)
        t->velocity = mn_scale(1 / mass, mn_axpy(mn_scale(before, t->velocity), f->mass, f->velocity));
    t->mass += f->mass, t->rest_area += f->rest_area;
    f->mass = f->rest_area = 0;
}

static int32_t nearest_of(const mn_complex *c, const mn_film_patch *a, int32_t v)
{
    int32_t best = a->inner.data[0];
    for (int64_t i = 1; i < a->inner.count; i++)
        if (rung(c, v, a->inner.data[i]) < rung(c, v, best)) best = a->inner.data[i];
    return best;
}

static bool transfer(mn_film *film, const mn_film_patch *a, const mn_film_patch *b)
{
    mn_complex *c = &film->c;
    int32_t la[2], lb[2];
    labels_of(c, a, la), labels_of(c, b, lb);
    for (int64_t i = 0; i < a->inner.count; i++) { // half way, but for volumes
        const int32_t v = a->inner.data[i], w = film->touch.partner.data[v];
        if (mn_complex_wet(c, v)) continue;
        const mn_vec3 n = normal_at(film, v);
        mn_complex_vertex *vertex = mn_complex_edit_vertex(c, v);
        vertex->position = mn_axpy(vertex->position,
                                   0.5 * mn_dot(mn_sub(mn_complex_position(c, w), vertex->position), n), n);
    }
    for (int64_t i = 0; i < a->triangles.count; i++) {
        const mn_film_patch_triangle p = a->triangles.data[i];
        mn_complex_set_regions(c, p.triangle, p.turned ? lb[0] : la[0], p.turned ? la[0] : lb[0]);
    }
    for (int64_t i = 0; i < b->triangles.count; i++)
        mn_complex_remove_triangle(c, b->triangles.data[i].triangle);
    for (int64_t i = 0; i < b->inner.count; i++) {
        give_liquid(c, b->inner.data[i], nearest_of(c, a, b->inner.data[i]));
        mn_complex_remove_vertex(c, b->inner.data[i]);
    }
    if (!add_strip(c, a, b, lb[0], lb[1], film->def.size) || c->broken) return false;
    for (int64_t i = 0; i < a->loop.count && la[0] == MN_COMPLEX_LIQUID; i++)
        if (mn_complex_check_vertex(c, a->loop.data[i]) != MN_OK) return false;
    return true;
}

static bool is_of_volume(const mn_complex *c, const mn_film_patch *patch)
{
    return !mn_complex_is_film(c, patch->triangles.data[0].triangle);
}

// The seed's patch against what it touches.
static mn_status touch_at(mn_film *film, int32_t seed, int32_t *stamp, bool *changed)
{
    mn_film_touch *touch = &film->touch;
    mn_complex *c = &film->c;
    mn_film_patch *a = &touch->a, *b = &touch->b;
    const int32_t mark_a = ++*stamp, mark_b = ++*stamp;
    bool disc_a = false, disc_b = false;
    MN_TRY(grow_patch(film, seed, mark_a, 0, a));
    // b's seed: a marked triangle at the partner of a's seed whose vertices touch a
    int32_t other = -1;
    for (int k = 0; k < 3 && other < 0; k++) {
        const int32_t w = touch->partner.data[c->triangles.data[seed].v[k]];
        for (int32_t at = c->vertices.data[w].first; at >= 0 && other < 0;
             at = c->triangles.data[at / 3].next[at % 3])
            if (touch->triangle_stamp.data[at / 3] == 0 &&
                is_marked(touch, &c->triangles.data[at / 3], mark_a))
                other = at / 3;
    }
    if (other < 0 || a->triangles.count < LEAST_PATCH) return MN_OK;
    MN_TRY(grow_patch(film, other, mark_b, mark_a, b));
    if (b->triangles.count < LEAST_PATCH) return MN_OK;
    mn_status status = find_loop(film, mark_a, a, &disc_a);
    if (status == MN_OK && disc_a) status = find_loop(film, mark_b, b, &disc_b);
    forget_loop(film, a);
    forget_loop(film, b);
    MN_TRY(status);
    if (!disc_a || !disc_b || share_a_neighbour(film, a, mark_b) || !turn_to_each_other(c, a, b))
        return MN_OK;
    if (is_of_volume(c, b)) { // what stays is the volume's surface
        mn_film_patch *swap = a;
        a = b, b = swap;
    }
    mn_complex_begin(c);
    if (!transfer(film, a, b)) {
        mn_complex_undo(c);
        return MN_OK;
    }
    mn_complex_commit(c);
    film->ledger.contacts++;
    *changed = true;
    return MN_OK;
}

// ---- drops ----

static double radius_at(const mn_film *film, int32_t v)
{
    return mn_cbrt(film->c.vertices.data[v].mass / (4.18879020478639 * film->def.density));
}

// Whether drop v touches w, which is d away. A film is as near as its plane is: a drop that falls onto the
// middle of a triangle would pass between its vertices.
static bool reaches(const mn_film *film, int32_t v, int32_t w, mn_vec3 d)
{
    const mn_complex *c = &film->c;
    const bool is_drop = c->vertices.data[w].first < 0 && !mn_complex_wet(c, w);
    const double r = radius_at(film, v), size = film->def.size;
    const double reach = is_drop ? r + radius_at(film, w) : fmax(NEAR * size, r);
    if (mn_norm2(d) <= reach * reach) return true;
    if (is_drop || mn_complex_class_of(c, w) != MN_COMPLEX_INSIDE) return false;
    const double gap = mn_dot(d, normal_at(film, w));
    return fabs(gap) <= reach && mn_norm2(d) - gap * gap <= BESIDE * BESIDE * size * size;
}

// A drop joins the nearest vertex that it comes nearer to and touches.
static void absorb_drops(mn_film *film, double cell)
{
    mn_complex *c = &film->c;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        const mn_complex_vertex *drop = &c->vertices.data[v];
        if (!drop->alive || drop->first >= 0 || drop->first_segment >= 0 || mn_complex_held(c, v) ||
            mn_complex_wet(c, v))
            continue;
        int64_t at[3];
        int32_t best = -1;
        double least = INFINITY;
        cell_of(drop->position, cell, at);
        for (int i = 0; i < 27; i++)
            for (int32_t w = film->touch.head.data[slot_of(&film->touch, at[0] + i % 3 - 1,
                                                           at[1] + i / 3 % 3 - 1, at[2] + i / 9 - 1)];
                 w >= 0; w = film->touch.next.data[w]) {
                const mn_complex_vertex *other = &c->vertices.data[w];
                const mn_vec3 d = mn_sub(other->position, drop->position);
                if (w == v || !other->alive || mn_norm2(d) >= least || !reaches(film, v, w, d) ||
                    !(mn_dot(d, mn_sub(other->velocity, drop->velocity)) < 0))
                    continue;
                best = w, least = mn_norm2(d);
            }
        if (best < 0) continue;
        mn_complex_begin(c);
        mn_complex_vertex *to = mn_complex_edit_vertex(c, best);
        if (to->first < 0 && !mn_complex_held(c, best) &&
            !mn_complex_wet(c, best)) // drops meet in their common centre of mass
            to->position =
                mn_lerp(to->position, drop->position, drop->mass / fmax(to->mass + drop->mass, 1e-300));
        give_liquid(c, v, best);
        mn_complex_remove_vertex(c, v);
        if (c->broken)
            mn_complex_undo(c);
        else
            mn_complex_commit(c);
        film->ledger.absorbed += !c->broken;
    }
}

// Room for what is there now. New triangles, those of strips, are taken: they wait for the next step.
static mn_status extend_marks(mn_film *film)
{
    mn_film_touch *touch = &film->touch;
    mn_context *ctx = film->solver.ctx;
    const int64_t vertices = touch->stamp.count, triangles = touch->triangle_stamp.count;
    MN_TRY(mn_array_resize(ctx, &touch->stamp, film->c.vertices.count));
    MN_TRY(mn_array_resize(ctx, &touch->follow, film->c.vertices.count));
    MN_TRY(mn_array_resize(ctx, &touch->partner, film->c.vertices.count));
    MN_TRY(mn_array_resize(ctx, &touch->triangle_stamp, film->c.triangles.count));
    for (int64_t v = vertices; v < touch->stamp.count; v++)
        touch->stamp.data[v] = 0, touch->follow.data[v] = touch->partner.data[v] = -1;
    for (int64_t t = triangles; t < touch->triangle_stamp.count; t++) touch->triangle_stamp.data[t] = -1;
    return MN_OK;
}

mn_status mn_film_touch_films(mn_film *film, bool *changed)
{
    mn_film_touch *touch = &film->touch;
    mn_context *ctx = film->solver.ctx;
    const double cell = sqrt(NEAR * NEAR + BESIDE * BESIDE) * film->def.size;
    int32_t stamp = 0;
    bool any;
    if (film->c.vertices.count == 0 || film->travelled < OFTEN * film->def.size) return MN_OK;
    film->travelled = 0;
    MN_TRY(sort_vertices(film, cell));
    MN_TRY(find_partners(film, cell, &any));
    if (any) {
        MN_TRY(mn_array_resize(ctx, &touch->stamp, film->c.vertices.count));
        MN_TRY(mn_array_resize(ctx, &touch->follow, film->c.vertices.count));
        MN_TRY(mn_array_resize(ctx, &touch->triangle_stamp, film->c.triangles.count));
        mn_fill_bytes(touch->stamp.data, 0, mn_bytes(touch->stamp.count, sizeof(int32_t)));
        mn_fill_bytes(touch->follow.data, 0xff, mn_bytes(touch->follow.count, sizeof(int32_t)));
        mn_fill_bytes(touch->triangle_stamp.data, 0, mn_bytes(touch->triangle_stamp.count, sizeof(int32_t)));
        const int32_t count = (int32_t)touch->triangle_stamp.count;
        for (int32_t t = 0; t < count; t++)
            if (film->c.triangles.data[t].v[0] >= 0 && touch->triangle_stamp.data[t] == 0 &&
                is_marked(touch, &film->c.triangles.data[t], 0)) {
                MN_TRY(touch_at(film, t, &stamp, changed));
                MN_TRY(extend_marks(film));
            }
    }
    absorb_drops(film, cell);
    return MN_OK;
}

void mn_film_touch_free(mn_context *ctx, mn_film_touch *touch)
{
    mn_array_free(ctx, &touch->head);
    mn_array_free(ctx, &touch->next);
    mn_array_free(ctx, &touch->partner);
    mn_array_free(ctx, &touch->stamp);
    mn_array_free(ctx, &touch->follow);
    mn_array_free(ctx, &touch->triangle_stamp);
    for (int side = 0; side < 2; side++) {
        mn_film_patch *patch = side ? &touch->b : &touch->a;
        mn_array_free(ctx, &patch->triangles);
        mn_array_free(ctx, &patch->loop);
        mn_array_free(ctx, &patch->inner);
    }
}
