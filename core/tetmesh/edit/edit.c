// SPDX-License-Identifier: Apache-2.0
//
// Proposals for a change of a cavity, their judgement, and the ring of tetrahedra around an edge.
#include "tetmesh/edit/edit.h"

#include "base/predicates.h"
#include "tetmesh/quality.h"

#include <string.h>

void mn_tet_edit_free(mn_tet_edit *edit)
{
    mn_context *ctx = edit->mesh->ctx;
    mn_array_free(ctx, &edit->old);
    mn_array_free(ctx, &edit->fresh);
    mn_array_free(ctx, &edit->touched);
    mn_array_free(ctx, &edit->near);
    mn_array_free(ctx, &edit->other);
}

void mn_tet_edit_begin(mn_tet_edit *edit)
{
    edit->old.count = edit->fresh.count = 0;
    edit->moved = -1;
}

mn_status mn_tet_edit_take(mn_tet_edit *edit, int32_t t)
{
    return mn_array_push(edit->mesh->ctx, &edit->old, &t);
}

mn_status mn_tet_edit_put(mn_tet_edit *edit, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const mn_tet_indices tet = {{a, b, c, d}};
    return mn_array_push(edit->mesh->ctx, &edit->fresh, &tet);
}

double mn_tet_edit_old_worst(const mn_tet_edit *edit)
{
    double worst = INFINITY;
    for (int64_t i = 0; i < edit->old.count; i++)
        worst = fmin(worst, mn_tet_mesh_quality_of(edit->mesh, edit->old.data[i]));
    return worst;
}

double mn_tet_edit_new_worst(const mn_tet_edit *edit)
{
    double worst = INFINITY;
    for (int64_t i = 0; i < edit->fresh.count; i++) {
        mn_vec3 x[4];
        for (int32_t k = 0; k < 4; k++) x[k] = mn_tet_edit_position(edit, edit->fresh.data[i].v[k]);
        if (!(mn_orient3d(x[0], x[1], x[2], x[3]) > 0)) return -1;
        worst = fmin(worst, mn_tet_quality(x[0], x[1], x[2], x[3]));
    }
    return worst;
}

bool mn_tet_edit_may_mix(const mn_tet_edit *edit, int32_t s, int32_t t)
{
    if (!edit->region) return true;
    const double *region = mn_tet_mesh_find_field(edit->mesh, edit->region)->data;
    // Means of equal values are equal but for rounding.
    return region[s] > -0.5 && fabs(region[s] - region[t]) < 0.5;
}

mn_status mn_tet_edit_accept(mn_tet_edit *edit, double above, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    *done = false;
    const double worst = mn_tet_edit_new_worst(edit);
    if (edit->fresh.count == 0 || !(worst > above)) return MN_OK;
    for (int64_t i = 0; i < edit->old.count; i++)
        if (!mn_tet_edit_may_mix(edit, edit->old.data[0], edit->old.data[i])) return MN_OK;
    MN_TRY(mn_array_resize(mesh->ctx, &edit->touched, edit->fresh.count));
    MN_TRY(mn_tet_mesh_replace(mesh, (int32_t)edit->old.count, edit->old.data, (int32_t)edit->fresh.count,
                               (const int32_t(*)[4])edit->fresh.data, edit->touched.data));
    if (edit->moved >= 0) mn_tet_mesh_move_vertex(mesh, edit->moved, edit->moved_to);
    edit->worst = worst;
    *done = true;
    return MN_OK;
}

// ---- rings ----

/// The two corners of a tetrahedron that are neither a nor b, so that (a, b, first, second) is positive.
static bool ring_pair(const mn_tet_mesh *mesh, int32_t t, int32_t a, int32_t b, int32_t *first,
                      int32_t *second)
{
    // For an even permutation (i, j, k, l) of the corners, (i, j, k, l) keeps the orientation.
    static const int8_t follow[4][4][2] = {
        {{-1, -1}, {2, 3}, {3, 1}, {1, 2}},
        {{3, 2}, {-1, -1}, {0, 3}, {2, 0}},
        {{1, 3}, {3, 0}, {-1, -1}, {0, 1}},
        {{2, 1}, {0, 2}, {1, 0}, {-1, -1}},
    };
    const int32_t i = mn_tet_corner_of(mesh, t, a), j = mn_tet_corner_of(mesh, t, b);
    if (i < 0 || j < 0 || i == j) return false;
    *first = follow[i][j][0], *second = follow[i][j][1];
    return true;
}

bool mn_tet_ring_of(const mn_tet_mesh *mesh, int32_t a, int32_t b, mn_tet_ring *ring)
{
    const int32_t start = mn_tet_mesh_find_edge(mesh, a, b);
    int32_t first = 0, second = 0, t = start, around = 0;
    if (start < 0 || a == b) return false;
    ring->a = a, ring->b = b, ring->closed = true;
    // Clockwise until it closes or meets the boundary, to find where a fan begins.
    for (;;) {
        ring_pair(mesh, t, a, b, &first, &second);
        const int32_t mate = mesh->mate[t][second]; // across the face (a, b, first)
        if (mate < 0) {
            ring->closed = false;
            break;
        }
        t = mate / 4;
        if (t == start) break;
        if (++around > 4 * MN_TET_RING_MAX) return false;
    }
    // Counter-clockwise from there.
    const int32_t begin = t;
    ring->tet_count = 0;
    do {
        if (ring->tet_count == MN_TET_RING_MAX) return false;
        ring_pair(mesh, t, a, b, &first, &second);
        ring->tet[ring->tet_count] = t;
        ring->vertex[ring->tet_count++] = mesh->tet[t][first];
        ring->vertex[ring->tet_count] = mesh->tet[t][second];
        const int32_t mate = mesh->mate[t][first];
        t = mate < 0 ? begin : mate / 4;
    } while (t != begin);
    ring->count = ring->closed ? ring->tet_count : ring->tet_count + 1;
    // A second fan at the same edge is not manifold.
    int32_t all = 0;
    MN_TET_STAR(mesh, a, code) all += mn_tet_corner_of(mesh, code / 4, b) >= 0;
    return all == ring->tet_count;
}
