// SPDX-License-Identifier: Apache-2.0
//
// Which tetrahedra of a mesh overlap others with which they share no vertex, at a cost that follows the
// surface and the overlap.
//
// How often a place is covered changes at the surface only. So a region that is covered twice ends at pieces
// of surface, and there are two cases. Either two of these cross: then tetrahedra behind them overlap, which
// a grid over the tetrahedra at the surface finds. Or the region ends at a whole closed surface, which lies
// inside another layer: then a place behind that surface has winding number 2 or more, and one place for each
// closed surface is enough. From the pairs found in this way the rest is reached step by step: a path through
// the region passes from one pair to another by crossing a face of the one, of the other, or, where faces lie
// on each other, of both. A region to look in is where this starts; what is connected is found as a whole.
#include "base/predicates.h"
#include "base/random.h"
#include "tetmesh/resample.h"
#include "tetmesh/unite/union.h"

#include <stdlib.h>
#include <string.h>

typedef struct search {
    mn_tet_mesh *mesh;
    mn_box region;            ///< empty: everywhere
    mn_tet_list skin;         ///< tetrahedra with boundary faces
    mn_box_grid grid;         ///< over them
    mn_tet_list part;         ///< per slot: its part, -1 for none; empty until it is asked for
    MN_ARRAY(uint64_t) table; ///< pairs that were looked at, a hash set; 0: free
    int64_t entries;
    mn_tet_pairs queue; ///< pairs that overlap, in the order of finding
    mn_tet_list found;  ///< scratch
} search;

// ---- single pairs ----

static bool share_vertex(const mn_tet_mesh *mesh, int32_t s, int32_t t)
{
    for (int32_t k = 0; k < 4; k++)
        if (mn_tet_corner_of(mesh, t, mesh->tet[s][k]) >= 0) return true;
    return false;
}

static uint64_t mix(uint64_t key)
{
    key = (key ^ key >> 31) * 0x9E3779B97F4A7C15u;
    return key ^ key >> 29;
}

static void place_key(search *f, uint64_t key, bool *fresh)
{
    const uint64_t mask = (uint64_t)f->table.count - 1;
    uint64_t at = mix(key) & mask;
    while (f->table.data[at] != 0 && f->table.data[at] != key) at = (at + 1) & mask;
    *fresh = f->table.data[at] == 0;
    f->table.data[at] = key;
    f->entries += *fresh;
}

/// Enters a pair, s < t, into the set; *fresh says whether it is new there.
static mn_status enter(search *f, int32_t s, int32_t t, bool *fresh)
{
    if (2 * f->entries >= f->table.count) {
        mn_context *ctx = f->mesh->ctx;
        search bigger = {.mesh = f->mesh};
        MN_TRY(mn_array_resize(ctx, &bigger.table, f->table.count ? 4 * f->table.count : 1024));
        memset(bigger.table.data, 0, mn_bytes(bigger.table.count, sizeof *bigger.table.data));
        for (int64_t i = 0; i < f->table.count; i++)
            if (f->table.data[i]) place_key(&bigger, f->table.data[i], fresh);
        mn_array_free(ctx, &f->table);
        f->table.data = bigger.table.data, f->table.count = bigger.table.count;
        f->table.capacity = bigger.table.capacity;
    }
    place_key(f, (uint64_t)(uint32_t)s << 32 | (uint32_t)t, fresh); // t > 0, so no key is 0
    return MN_OK;
}

/// Numbers the parts, by the first slot of each.
static mn_status label_parts(search *f)
{
    mn_tet_mesh *mesh = f->mesh;
    mn_tet_list *stack = &f->found;
    MN_TRY(mn_array_resize(mesh->ctx, &f->part, mesh->tet_slots));
    MN_TRY(mn_array_reserve(mesh->ctx, stack, mesh->tet_slots));
    for (int32_t t = 0; t < mesh->tet_slots; t++) f->part.data[t] = -1;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t) || f->part.data[t] >= 0) continue;
        stack->count = 0;
        stack->data[stack->count++] = t, f->part.data[t] = t;
        while (stack->count > 0) {
            const int32_t *mate = mesh->mate[stack->data[--stack->count]];
            for (int32_t k = 0; k < 4; k++)
                if (mate[k] >= 0 && f->part.data[mate[k] / 4] < 0)
                    stack->data[stack->count++] = mate[k] / 4, f->part.data[mate[k] / 4] = t;
        }
    }
    return MN_OK;
}

static bool in_region(const search *f, mn_box box)
{
    return mn_box_is_empty(f->region) || !mn_boxes_apart(box, f->region);
}

static double overlap_of(const mn_tet_mesh *mesh, int32_t s, int32_t t)
{
    mn_vec3 x[4], y[4];
    for (int32_t k = 0; k < 4; k++)
        x[k] = mesh->position[mesh->tet[s][k]], y[k] = mesh->position[mesh->tet[t][k]];
    return mn_tet_overlap(x, y);
}

/// Adds the pair to the queue when it overlaps and was not looked at before.
static mn_status look_at(search *f, int32_t s, int32_t t)
{
    const mn_tet_mesh *mesh = f->mesh;
    mn_tet_overlap_pair pair = {s < t ? s : t, s < t ? t : s, 0};
    if (s == t || share_vertex(mesh, s, t)) return MN_OK;
    const mn_box box_s = mn_tet_box(mesh, s), box_t = mn_tet_box(mesh, t);
    bool fresh;
    if (mn_boxes_apart(box_s, box_t)) return MN_OK;
    MN_TRY(enter(f, pair.a, pair.b, &fresh));
    if (!fresh) return MN_OK;
    pair.volume = overlap_of(mesh, pair.a, pair.b);
    return pair.volume > 0 ? mn_array_push(mesh->ctx, &f->queue, &pair) : MN_OK;
}

// ---- surfaces that cross ----

static mn_status collect_skin(search *f)
{
    const mn_tet_mesh *mesh = f->mesh;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t *mate = mesh->mate[t];
        if ((mate[0] | mate[1] | mate[2] | mate[3]) >= 0 || !mn_tet_alive(mesh, t)) continue;
        const mn_box box = mn_tet_box(mesh, t);
        MN_TRY(mn_array_push(mesh->ctx, &f->skin, &t));
        MN_TRY(mn_array_push(mesh->ctx, &f->grid.boxes, &box));
    }
    return mn_box_grid_build(&f->grid);
}

static mn_status look_along_skin(search *f)
{
    for (int64_t i = 0; i < f->skin.count; i++) {
        if (i % 1024 == 0) MN_TRY(mn_check_cancelled(f->mesh->ctx));
        if (!in_region(f, f->grid.boxes.data[i])) continue;
        MN_TRY(mn_box_grid_find(&f->grid, f->grid.boxes.data[i], &f->found));
        for (int64_t j = 0; j < f->found.count; j++) {
            // Neighbours are most of what is found: they go first, and without a look at their places.
            if (f->found.data[j] <= i || !in_region(f, f->grid.boxes.data[f->found.data[j]])) continue;
            const int32_t s = f->skin.data[i], t = f->skin.data[f->found.data[j]];
            if (share_vertex(f->mesh, s, t) || overlap_of(f->mesh, s, t) <= 0) continue;
            MN_TRY(look_at(f, s, t));
        }
    }
    return MN_OK;
}

// ---- surfaces inside other layers ----

/// A closed surface: its box and a tetrahedron behind it.
typedef struct surface {
    mn_box box;
    int32_t tet;
} surface;
typedef MN_ARRAY(surface) surface_array;

static mn_status list_surfaces(search *f, surface_array *surfaces)
{
    const mn_tet_mesh *mesh = f->mesh;
    mn_tet_list group = {0}; // per vertex: the surface that it is on
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(mesh->ctx, &group, mesh->vertex_slots));
    for (int32_t v = 0; v < mesh->vertex_slots; v++) group.data[v] = v;
    for (int64_t i = 0; i < f->skin.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = f->skin.data[i], *corner = mn_tet_face_corners[k], *v = mesh->tet[t];
            if (mesh->mate[t][k] >= 0) continue;
            mn_tet_unite(group.data, v[corner[0]], v[corner[1]]);
            mn_tet_unite(group.data, v[corner[0]], v[corner[2]]);
        }
    // The vertex that names a surface is its first; its number takes the name's place as -1 - number.
    for (int64_t i = 0; i < f->skin.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = f->skin.data[i];
            if (mesh->mate[t][k] >= 0) continue;
            int32_t v = mesh->tet[t][mn_tet_face_corners[k][0]];
            while (group.data[v] >= 0 && group.data[v] != v) v = group.data[v];
            if (group.data[v] >= 0) {
                const surface fresh = {mn_box_empty(), t};
                group.data[v] = -1 - (int32_t)surfaces->count;
                MN_TRY_TO(done, status, mn_array_push(mesh->ctx, surfaces, &fresh));
            }
            mn_box *box = &surfaces->data[-1 - group.data[v]].box;
            for (int32_t c = 0; c < 3; c++)
                *box = mn_box_add(*box, mesh->position[mesh->tet[t][mn_tet_face_corners[k][c]]]);
        }
done:
    mn_array_free(mesh->ctx, &group);
    return status;
}

/// How the segment p-q crosses boundary face k of t: 1 outward, -1 inward, 0 not at all, 2 degenerate.
static int32_t crossing(const mn_tet_mesh *mesh, int32_t t, int32_t k, mn_vec3 p, mn_vec3 q)
{
    const int32_t *corner = mn_tet_face_corners[k], *v = mesh->tet[t];
    const mn_vec3 a = mesh->position[v[corner[0]]], b = mesh->position[v[corner[1]]],
                  c = mesh->position[v[corner[2]]];
    const double ab = mn_orient3d(p, q, a, b), bc = mn_orient3d(p, q, b, c), ca = mn_orient3d(p, q, c, a);
    if (fmin(ab, fmin(bc, ca)) < 0 && fmax(ab, fmax(bc, ca)) > 0) return 0;
    const double at_p = mn_orient3d(a, b, c, p), at_q = mn_orient3d(a, b, c, q);
    if ((at_p > 0 && at_q > 0) || (at_p < 0 && at_q < 0)) return 0;
    if (ab == 0 || bc == 0 || ca == 0 || at_p == 0 || at_q == 0) return 2;
    return at_p < 0 ? 1 : -1; // inside is the side of negative orientation
}

/// How many tetrahedra cover p: crossings of a ray, outward ones less inward ones. When every ray meets an
/// edge, as many as may be.
static mn_status winding_at(search *f, mn_vec3 p, double far, int32_t *winding)
{
    enum { RAYS = 8 };
    for (uint64_t ray = 0; ray < RAYS; ray++) {
        const mn_vec3 tilt = mn_random_direction(17, ray, 0);
        const mn_vec3 q = mn_add(p, mn_v3(far, 1e-3 * far * tilt.y, 1e-3 * far * tilt.z));
        bool degenerate = false;
        *winding = 0;
        MN_TRY(mn_box_grid_find(&f->grid, mn_box_add((mn_box){p, p}, q), &f->found));
        for (int64_t i = 0; i < f->found.count && !degenerate; i++)
            for (int32_t k = 0; k < 4 && !degenerate; k++) {
                const int32_t t = f->skin.data[f->found.data[i]];
                if (f->mesh->mate[t][k] >= 0) continue;
                const int32_t passed = crossing(f->mesh, t, k, p, q);
                degenerate = passed == 2;
                *winding += passed;
            }
        if (!degenerate) return MN_OK;
    }
    *winding = INT32_MAX;
    return MN_OK;
}

static bool contains(const mn_tet_mesh *mesh, int32_t t, mn_vec3 x)
{
    for (int32_t k = 0; k < 4; k++) {
        mn_vec3 p[4];
        for (int32_t j = 0; j < 4; j++) p[j] = j == k ? x : mesh->position[mesh->tet[t][j]];
        if (mn_orient3d(p[0], p[1], p[2], p[3]) < 0) return false;
    }
    return true;
}

/// Looks at a place behind each surface whose box lies in that of another.
static mn_status look_behind(search *f, const surface_array *surfaces)
{
    const mn_tet_mesh *mesh = f->mesh;
    mn_box_grid boxes = {.ctx = mesh->ctx};
    mn_tet_list around = {0};
    mn_box all = mn_box_empty();
    mn_status status = MN_OK;
    for (int64_t i = 0; i < surfaces->count; i++) {
        all = mn_box_join(all, surfaces->data[i].box);
        MN_TRY_TO(done, status, mn_array_push(mesh->ctx, &boxes.boxes, &surfaces->data[i].box));
    }
    MN_TRY_TO(done, status, mn_box_grid_build(&boxes));
    for (int64_t i = 0; i < surfaces->count; i++) {
        const int32_t s = surfaces->data[i].tet, *v = mesh->tet[s];
        const mn_vec3 *x = mesh->position;
        const mn_vec3 middle = mn_scale(0.25, mn_add(mn_add(x[v[0]], x[v[1]]), mn_add(x[v[2]], x[v[3]])));
        int32_t winding = 0;
        MN_TRY_TO(done, status, mn_box_grid_find(&boxes, (mn_box){middle, middle}, &around));
        if (around.count < 2 || !in_region(f, mn_tet_box(mesh, s))) continue;
        MN_TRY_TO(done, status, winding_at(f, middle, 1.1 * (all.max.x - middle.x) + f->grid.cell, &winding));
        for (int32_t t = 0; winding > 1 && t < mesh->tet_slots; t++)
            if (mn_tet_alive(mesh, t) && !mn_boxes_apart(mn_tet_box(mesh, t), (mn_box){middle, middle}) &&
                contains(mesh, t, middle))
                MN_TRY_TO(done, status, look_at(f, s, t));
    }
done:
    mn_box_grid_free(&boxes);
    mn_array_free(mesh->ctx, &around);
    return status;
}

static mn_status look_inside(search *f)
{
    surface_array surfaces = {0};
    mn_status status = list_surfaces(f, &surfaces);
    if (status == MN_OK && surfaces.count > 1) status = look_behind(f, &surfaces);
    mn_array_free(f->mesh->ctx, &surfaces);
    return status;
}

// ---- the rest ----

static mn_status look_around(search *f)
{
    const mn_tet_mesh *mesh = f->mesh;
    for (int64_t i = 0; i < f->queue.count; i++) {
        const int32_t s = f->queue.data[i].a, t = f->queue.data[i].b;
        if (i % 1024 == 0) MN_TRY(mn_check_cancelled(mesh->ctx));
        for (int32_t k = 0; k < 4; k++) {
            const int32_t beside_s = mesh->mate[s][k] / 4, beside_t = mesh->mate[t][k] / 4;
            if (mesh->mate[t][k] >= 0) MN_TRY(look_at(f, s, beside_t));
            if (mesh->mate[s][k] < 0) continue;
            MN_TRY(look_at(f, beside_s, t));
            for (int32_t j = 0; j < 4; j++)
                if (mesh->mate[t][j] >= 0) MN_TRY(look_at(f, beside_s, mesh->mate[t][j] / 4));
        }
    }
    return MN_OK;
}

static int compare_pairs(const void *a, const void *b)
{
    const mn_tet_overlap_pair *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

void mn_tet_pairs_sort(mn_tet_pairs *pairs)
{
    if (pairs->count) qsort(pairs->data, (size_t)pairs->count, sizeof *pairs->data, compare_pairs);
}

static double extent_of(mn_box box)
{
    const mn_vec3 e = mn_sub(box.max, box.min);
    return fmax(e.x, fmax(e.y, e.z));
}

/// Sorts what was found into sure and weak pairs; without within_parts only those of different parts.
static mn_status hand_over(search *f, bool within_parts, mn_tet_pairs *sure, mn_tet_pairs *weak)
{
    const mn_tet_mesh *mesh = f->mesh;
    if (!within_parts && f->queue.count) MN_TRY(label_parts(f));
    for (int64_t i = 0; i < f->queue.count; i++) {
        const mn_tet_overlap_pair pair = f->queue.data[i];
        if (f->part.count && f->part.data[pair.a] == f->part.data[pair.b]) continue;
        // Sides of a crack lie on each other without overlapping: rounding alone is no overlap.
        const double extent = fmin(extent_of(mn_tet_box(mesh, pair.a)), extent_of(mn_tet_box(mesh, pair.b)));
        MN_TRY(mn_array_push(mesh->ctx, pair.volume > 1e-9 * extent * extent * extent ? sure : weak, &pair));
    }
    mn_tet_pairs_sort(sure);
    mn_tet_pairs_sort(weak);
    return MN_OK;
}

mn_status mn_tet_find_overlaps(mn_tet_mesh *mesh, mn_box region, bool within_parts, mn_tet_pairs *sure,
                               mn_tet_pairs *weak)
{
    search f = {.mesh = mesh, .region = region, .grid = {.ctx = mesh->ctx}};
    mn_status status;
    MN_TRY_TO(done, status, collect_skin(&f));
    MN_TRY_TO(done, status, look_along_skin(&f));
    MN_TRY_TO(done, status, look_inside(&f));
    MN_TRY_TO(done, status, look_around(&f));
    MN_TRY_TO(done, status, hand_over(&f, within_parts, sure, weak));
done:
    mn_array_free(mesh->ctx, &f.skin);
    mn_box_grid_free(&f.grid);
    mn_array_free(mesh->ctx, &f.part);
    mn_array_free(mesh->ctx, &f.table);
    mn_array_free(mesh->ctx, &f.queue);
    mn_array_free(mesh->ctx, &f.found);
    return status;
}
