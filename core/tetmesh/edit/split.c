// SPDX-License-Identifier: Apache-2.0
//
// New vertices: on an edge (every tetrahedron around it becomes two), on a face (one or two become three
// each), inside a tetrahedron (one becomes four). Linear fields are interpolated; amounts are divided by
// volume.
//
// A split keeps the region that is covered, so it needs no condition but positive volumes, which the exact
// predicate checks since the new place is rounded. On the boundary the new vertex first tries the smooth
// surface.
#include "tetmesh/edit/edit.h"

#include "tetmesh/surface_model.h"

#include <string.h>

/// Gives up the new vertex when the change was refused.
static mn_status finish(mn_tet_edit *edit, double above, int32_t fresh, int32_t *vertex)
{
    bool done;
    mn_status status = mn_tet_edit_accept(edit, above, &done);
    if (status != MN_OK || !done) {
        mn_tet_mesh_remove_vertex(edit->mesh, fresh);
        return status;
    }
    *vertex = fresh;
    return MN_OK;
}

/// On the boundary the vertex goes to the surface model when the worst quality there is above what is asked
/// for too.
static mn_status settle(mn_tet_edit *edit, double above, int32_t fresh, const int32_t *parents,
                        int32_t parent_count, bool boundary, bool sharp)
{
    if (!edit->surface) return MN_OK;
    MN_TRY(mn_tet_surface_adopt(edit->surface, fresh, parents, boundary ? parent_count : 0, sharp));
    if (!boundary) return MN_OK;
    const mn_vec3 x = edit->mesh->position[fresh];
    mn_tet_mesh_move_vertex(edit->mesh, fresh, mn_tet_surface_project(edit->surface, fresh, x));
    if (!(mn_tet_edit_new_worst(edit) > above)) mn_tet_mesh_move_vertex(edit->mesh, fresh, x);
    return MN_OK;
}

/// Proposes t with corner k replaced by `fresh`.
static mn_status put_with(mn_tet_edit *edit, int32_t t, int32_t k, int32_t fresh)
{
    int32_t v[4];
    memcpy(v, edit->mesh->tet[t], sizeof v);
    v[k] = fresh;
    return mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]);
}

/// Two boundary faces meet in edge a-b at an angle sharper than the threshold.
static bool is_sharp(const mn_tet_edit *edit, const mn_tet_ring *ring)
{
    if (ring->closed || !edit->surface) return false;
    const mn_vec3 *x = edit->mesh->position;
    const mn_vec3 a = x[ring->a], b = x[ring->b], p = x[ring->vertex[0]],
                  q = x[ring->vertex[ring->count - 1]];
    const mn_vec3 n = mn_cross(mn_sub(p, a), mn_sub(b, a)), m = mn_cross(mn_sub(b, a), mn_sub(q, a));
    return mn_dot(mn_normalize(n), mn_normalize(m)) < mn_tet_surface_feature_cosine(edit->surface);
}

mn_status mn_tet_split_edge(mn_tet_edit *edit, int32_t a, int32_t b, double fraction, double above,
                            int32_t *vertex)
{
    mn_tet_mesh *mesh = edit->mesh;
    mn_tet_ring ring;
    *vertex = -1;
    if (mn_tet_edge_is_kept(mesh, a, b)) return MN_OK;
    if (!mn_tet_ring_of(mesh, a, b, &ring) || !(fraction > 0 && fraction < 1)) return MN_OK;
    const int32_t parents[2] = {a, b};
    const double weights[2] = {1 - fraction, fraction};
    int32_t fresh;
    mn_tet_edit_begin(edit);
    MN_TRY(mn_tet_mesh_add_vertex(mesh, mn_lerp(mesh->position[a], mesh->position[b], fraction), 2, parents,
                                  weights, &fresh));
    mn_status status = MN_OK;
    for (int32_t i = 0; i < ring.tet_count; i++) {
        const int32_t t = ring.tet[i];
        MN_TRY_TO(failed, status, mn_tet_edit_take(edit, t));
        MN_TRY_TO(failed, status, put_with(edit, t, mn_tet_corner_of(mesh, t, a), fresh));
        MN_TRY_TO(failed, status, put_with(edit, t, mn_tet_corner_of(mesh, t, b), fresh));
    }
    MN_TRY_TO(failed, status, settle(edit, above, fresh, parents, 2, !ring.closed, is_sharp(edit, &ring)));
    return finish(edit, above, fresh, vertex);
failed:
    mn_tet_mesh_remove_vertex(mesh, fresh);
    return status;
}

mn_status mn_tet_insert_on_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    mn_tet_ring ring;
    *done = false;
    if (!mn_tet_ring_of(mesh, a, b, &ring) || !ring.closed) return MN_OK;
    const int32_t parents[2] = {a, b};
    const double weights[2] = {0.5, 0.5};
    int32_t fresh, vertex = -1;
    mn_tet_edit_begin(edit);
    const mn_vec3 middle = mn_lerp(mesh->position[a], mesh->position[b], 0.5);
    MN_TRY(mn_tet_mesh_add_vertex(mesh, middle, 2, parents, weights, &fresh));
    mn_status status = MN_OK;
    for (int32_t i = 0; i < ring.tet_count; i++) {
        const int32_t t = ring.tet[i];
        MN_TRY_TO(failed, status, mn_tet_edit_take(edit, t));
        MN_TRY_TO(failed, status, put_with(edit, t, mn_tet_corner_of(mesh, t, a), fresh));
        MN_TRY_TO(failed, status, put_with(edit, t, mn_tet_corner_of(mesh, t, b), fresh));
    }
    MN_TRY_TO(failed, status, settle(edit, above, fresh, parents, 2, false, false));
    const mn_vec3 place = mn_tet_edit_best_place(edit, fresh, middle);
    double at[4];
    const int32_t home = mn_tet_home_of(mesh, ring.tet_count, ring.tet, place, at);
    mn_tet_mesh_move_vertex(mesh, fresh, place);
    mn_tet_mesh_blend_vertex(mesh, fresh, 4, mesh->tet[home], at);
    status = finish(edit, above, fresh, &vertex);
    *done = vertex >= 0;
    return status;
failed:
    mn_tet_mesh_remove_vertex(mesh, fresh);
    return status;
}

mn_status mn_tet_split_face(mn_tet_edit *edit, int32_t t, int32_t face, const double weights[3], double above,
                            int32_t *vertex)
{
    mn_tet_mesh *mesh = edit->mesh;
    *vertex = -1;
    if (!mn_tet_alive(mesh, t)) return MN_OK;
    const int32_t mate = mesh->mate[t][face], sides[2] = {4 * t + face, mate};
    int32_t parents[3], fresh;
    mn_vec3 x = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < 3; i++) {
        parents[i] = mesh->tet[t][mn_tet_face_corners[face][i]];
        x = mn_axpy(x, weights[i], mesh->position[parents[i]]);
    }
    mn_tet_edit_begin(edit);
    MN_TRY(mn_tet_mesh_add_vertex(mesh, x, 3, parents, weights, &fresh));
    mn_status status = MN_OK;
    for (int32_t s = 0; s < 2 && sides[s] >= 0; s++) {
        MN_TRY_TO(failed, status, mn_tet_edit_take(edit, sides[s] / 4));
        for (int32_t i = 0; i < 3; i++)
            MN_TRY_TO(failed, status,
                      put_with(edit, sides[s] / 4, mn_tet_face_corners[sides[s] % 4][i], fresh));
    }
    MN_TRY_TO(failed, status, settle(edit, above, fresh, parents, 3, mate < 0, false));
    return finish(edit, above, fresh, vertex);
failed:
    mn_tet_mesh_remove_vertex(mesh, fresh);
    return status;
}

mn_status mn_tet_split_tet(mn_tet_edit *edit, int32_t t, const double weights[4], double above,
                           int32_t *vertex)
{
    mn_tet_mesh *mesh = edit->mesh;
    *vertex = -1;
    if (!mn_tet_alive(mesh, t)) return MN_OK;
    int32_t parents[4], fresh;
    mn_vec3 x = mn_v3(0, 0, 0);
    memcpy(parents, mesh->tet[t], sizeof parents);
    for (int32_t k = 0; k < 4; k++) x = mn_axpy(x, weights[k], mesh->position[parents[k]]);
    mn_tet_edit_begin(edit);
    MN_TRY(mn_tet_mesh_add_vertex(mesh, x, 4, parents, weights, &fresh));
    mn_status status;
    MN_TRY_TO(failed, status, mn_tet_edit_take(edit, t));
    for (int32_t k = 0; k < 4; k++) MN_TRY_TO(failed, status, put_with(edit, t, k, fresh));
    MN_TRY_TO(failed, status, settle(edit, above, fresh, parents, 4, false, false));
    return finish(edit, above, fresh, vertex);
failed:
    mn_tet_mesh_remove_vertex(mesh, fresh);
    return status;
}
