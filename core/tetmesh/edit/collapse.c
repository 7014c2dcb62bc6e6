// SPDX-License-Identifier: Apache-2.0
//
// Face and tetrahedron contraction [clausen2013] section 6.2: a flat face loses its height by moving one
// vertex onto the opposite edge, a flat tetrahedron by moving one vertex onto the opposite face. Each is a
// split followed by the contraction of the new vertex, done in one step so that the valley between the two is
// never seen.
//
//   (a, b, u, w) around the edge  ->  (a, c, u, w) and (c, b, u, w), c now on the edge
//   (a, b, d, e) behind the face  ->  three tetrahedra with c now on the face
//
// With c left where it is these would be an edge removal and a 2-3 flip; what is new here is that c moves. An
// inner c may go anywhere on the edge or face, also onto the surface; a boundary vertex only along a boundary
// face it belongs to.
#include "tetmesh/edit/edit.h"

#include "tetmesh/surface_model.h"

#include <stdlib.h>
#include <string.h>

/// Two places to try for c: the foot on the edge or face, and half way to it.
static mn_status try_places(mn_tet_edit *edit, int32_t c, mn_vec3 foot, bool only_foot, int32_t parent_count,
                            const int32_t *parents, const double *weights, double above, bool *done)
{
    const mn_vec3 from = edit->mesh->position[c];
    double best = above, share = 0;
    edit->moved = c;
    for (int32_t i = 0; i < (only_foot ? 1 : 2); i++) {
        edit->moved_to = i ? mn_lerp(from, foot, 0.5) : foot;
        const double worst = mn_tet_edit_new_worst(edit);
        if (worst > best) best = worst, share = i ? 0.5 : 1;
    }
    if (share == 0) return MN_OK;
    edit->moved_to = share == 1 ? foot : mn_lerp(from, foot, 0.5);
    MN_TRY(mn_tet_edit_accept(edit, above, done));
    if (!*done) return MN_OK;
    int32_t all[4] = {c};
    double part[4] = {1 - share};
    for (int32_t i = 0; i < parent_count; i++) all[i + 1] = parents[i], part[i + 1] = share * weights[i];
    mn_tet_mesh_blend_vertex(edit->mesh, c, parent_count + 1, all, part);
    return MN_OK;
}

/// The star of c without what the caller has marked as vanishing; all of it goes out and comes back with c
/// moved.
static mn_status propose_star(mn_tet_edit *edit, int32_t c, const int32_t *vanishing, int32_t count)
{
    const mn_tet_mesh *mesh = edit->mesh;
    MN_TET_STAR(mesh, c, code)
    {
        const int32_t t = code / 4, *v = mesh->tet[t];
        bool gone = false;
        for (int32_t i = 0; i < count; i++) gone = gone || vanishing[i] == t;
        MN_TRY(mn_tet_edit_take(edit, t));
        if (!gone) MN_TRY(mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]));
    }
    return MN_OK;
}

static mn_status put_with(mn_tet_edit *edit, int32_t t, int32_t corner, int32_t c)
{
    int32_t v[4];
    memcpy(v, edit->mesh->tet[t], sizeof v);
    v[corner] = c;
    return mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]);
}

/// Of a c that is in the ring: an edge joins it to one of the ring that is not beside it, or a face to both
/// that are. Where a mesh overlaps itself there can be such an edge or face, and it would be made twice.
static bool joined_across(const mn_tet_mesh *mesh, const mn_tet_ring *ring, int32_t c)
{
    const int32_t n = ring->count;
    int32_t at = 0;
    while (at < n && ring->vertex[at] != c) at++;
    if (ring->closed && n == 3)
        return mn_tet_mesh_find_face(mesh, ring->vertex[0], ring->vertex[1], ring->vertex[2]) >= 0;
    for (int32_t i = 0; i < n; i++) {
        const int32_t apart = abs(i - at);
        const bool beside = apart <= 1 || (ring->closed && apart == n - 1);
        if (!beside && mn_tet_mesh_find_edge(mesh, c, ring->vertex[i]) >= 0) return true;
    }
    return false;
}

/// On the surface: a-b and c make a boundary face, and c is smooth.
static bool may_cross_surface(const mn_tet_edit *edit, const mn_tet_ring *ring, int32_t c)
{
    const mn_tet_mesh *mesh = edit->mesh;
    if (!edit->surface || ring->closed || mn_tet_surface_feature(edit->surface, c) != MN_TET_SMOOTH)
        return false;
    const int32_t last = ring->count - 1;
    if (ring->vertex[0] != c && ring->vertex[last] != c) return false;
    // The edge must not be sharp, and c must be near it: within the band of its length.
    const mn_vec3 a = mesh->position[ring->a], b = mesh->position[ring->b], x = mesh->position[c];
    const mn_vec3 p = mesh->position[ring->vertex[0]], q = mesh->position[ring->vertex[last]];
    const mn_vec3 n = mn_normalize(mn_cross(mn_sub(p, a), mn_sub(b, a))),
                  m = mn_normalize(mn_cross(mn_sub(b, a), mn_sub(q, a)));
    if (mn_dot(n, m) < 0.7) return false;
    const double length = mn_distance(a, b), height = mn_norm(mn_cross(mn_sub(x, a), mn_sub(b, a))) / length;
    return height <= 2 * mn_tet_surface_band(edit->surface) * length;
}

mn_status mn_tet_contract_face(mn_tet_edit *edit, int32_t a, int32_t b, int32_t c, double above, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    mn_tet_ring ring;
    *done = false;
    if (mn_tet_edge_is_kept(mesh, a, b)) return MN_OK;
    if (c == a || c == b || !mn_tet_ring_of(mesh, a, b, &ring) || (mesh->vertex_flags[c] & MN_TET_FIXED))
        return MN_OK;
    const bool boundary = mn_tet_vertex_on_boundary(mesh, c);
    if ((boundary && !may_cross_surface(edit, &ring, c)) || (!ring.closed && !edit->surface)) return MN_OK;
    const mn_vec3 along = mn_sub(mesh->position[b], mesh->position[a]);
    const double fraction = mn_dot(mn_sub(mesh->position[c], mesh->position[a]), along) / mn_norm2(along);
    if (!(fraction > 0.1 && fraction < 0.9)) return MN_OK;
    const mn_vec3 foot = mn_axpy(mesh->position[a], fraction, along);
    if (boundary && !mn_tet_normals_stay(mesh, c, a, b, foot)) return MN_OK;
    mn_tet_edit_begin(edit);
    int32_t vanishing[MN_TET_RING_MAX], count = 0;
    for (int32_t i = 0; i < ring.tet_count; i++)
        if (mn_tet_corner_of(mesh, ring.tet[i], c) >= 0) vanishing[count++] = ring.tet[i];
    if (count == 0 || joined_across(mesh, &ring, c)) return MN_OK;
    MN_TRY(propose_star(edit, c, vanishing, count));
    for (int32_t i = 0; i < ring.tet_count; i++) {
        const int32_t t = ring.tet[i];
        if (mn_tet_corner_of(mesh, t, c) >= 0) continue;
        MN_TRY(mn_tet_edit_take(edit, t));
        MN_TRY(put_with(edit, t, mn_tet_corner_of(mesh, t, a), c));
        MN_TRY(put_with(edit, t, mn_tet_corner_of(mesh, t, b), c));
    }
    const int32_t parents[2] = {a, b};
    const double weights[2] = {1 - fraction, fraction};
    // An inner vertex that becomes part of the surface must lie on it.
    const bool only_foot = !ring.closed && !boundary;
    MN_TRY(try_places(edit, c, foot, only_foot, 2, parents, weights, above, done));
    if (*done && edit->surface && only_foot) return mn_tet_surface_adopt(edit->surface, c, parents, 2, false);
    return MN_OK;
}

mn_status mn_tet_contract_tet(mn_tet_edit *edit, int32_t t, int32_t corner, double above, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    *done = false;
    if (!mn_tet_alive(mesh, t)) return MN_OK;
    const int32_t c = mesh->tet[t][corner], mate = mesh->mate[t][corner];
    if (mn_tet_vertex_on_boundary(mesh, c) || (mesh->vertex_flags[c] & MN_TET_FIXED) ||
        (mate < 0 && !edit->surface) ||
        (mate >= 0 && mn_tet_mesh_find_edge(mesh, c, mesh->tet[mate / 4][mate % 4]) >= 0))
        return MN_OK;
    int32_t parents[3];
    mn_vec3 x[3];
    for (int32_t i = 0; i < 3; i++) {
        parents[i] = mesh->tet[t][mn_tet_face_corners[corner][i]];
        x[i] = mesh->position[parents[i]];
    }
    // Barycentric coordinates of the foot of c on the face.
    const mn_vec3 n = mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]));
    const double area = mn_norm2(n);
    double weights[3];
    mn_vec3 foot = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < 3; i++) {
        const mn_vec3 p = x[(i + 1) % 3], q = x[(i + 2) % 3];
        weights[i] = area > 0 ? mn_dot(n, mn_cross(mn_sub(q, p), mn_sub(mesh->position[c], p))) / area : -1;
        if (!(weights[i] > 0.05)) return MN_OK;
        foot = mn_axpy(foot, weights[i], x[i]);
    }
    mn_tet_edit_begin(edit);
    MN_TRY(propose_star(edit, c, &t, 1));
    if (mate >= 0) {
        MN_TRY(mn_tet_edit_take(edit, mate / 4));
        for (int32_t i = 0; i < 3; i++) MN_TRY(put_with(edit, mate / 4, mn_tet_face_corners[mate % 4][i], c));
    }
    MN_TRY(try_places(edit, c, foot, mate < 0, 3, parents, weights, above, done));
    if (*done && edit->surface && mate < 0) return mn_tet_surface_adopt(edit->surface, c, parents, 3, false);
    return MN_OK;
}
