// SPDX-License-Identifier: Apache-2.0
//
// Edge contraction: b moves into a, the tetrahedra between them vanish, the rest of b's star goes to a.
//
// What a and b have in common must be the link of their edge: positive volumes are not enough (edit.h)
// where a mesh overlaps itself. With both ends on the boundary the edge must lie on it, the same must hold
// for the surface, and the surface must stay in its band with its normals and sharp edges.
#include "tetmesh/edit/edit.h"

#include "base/predicates.h"
#include "tetmesh/surface_model.h"

#include <string.h>

// ---- what a and b have in common ----

static bool in_ring(const mn_tet_ring *ring, int32_t v)
{
    for (int32_t i = 0; i < ring->count; i++)
        if (ring->vertex[i] == v) return true;
    return false;
}

/// Vertices and edges around both a and b are those of the ring.
static bool links_agree(const mn_tet_mesh *mesh, const mn_tet_ring *ring)
{
    const int32_t a = ring->a, b = ring->b;
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t t = code / 4;
        if (mn_tet_corner_of(mesh, t, b) >= 0) continue;
        int32_t common[3], count = 0;
        for (int32_t k = 0; k < 4; k++) {
            const int32_t u = mesh->tet[t][k];
            if (u == a || mn_tet_mesh_find_edge(mesh, b, u) < 0) continue;
            if (!in_ring(ring, u)) return false;
            common[count++] = u;
        }
        for (int32_t i = 0; i < count; i++)
            for (int32_t j = i + 1; j < count; j++) {
                if (mn_tet_mesh_find_face(mesh, b, common[i], common[j]) < 0) continue;
                bool filled = false;
                for (int32_t k = 0; k < ring->tet_count && !filled; k++)
                    filled = mn_tet_corner_of(mesh, ring->tet[k], common[i]) >= 0 &&
                             mn_tet_corner_of(mesh, ring->tet[k], common[j]) >= 0;
                if (!filled) return false;
            }
    }
    return true;
}

static bool is_boundary_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    MN_TET_STAR(mesh, a, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t j = mn_tet_corner_of(mesh, code / 4, b);
        if (j >= 0 && k != code % 4 && k != j && mesh->mate[code / 4][k] < 0) return true;
    }
    return false;
}

/// On the surface a and b have exactly the two ends of the fan in common.
static bool surface_links_agree(const mn_tet_mesh *mesh, const mn_tet_ring *ring)
{
    const int32_t ends[2] = {ring->vertex[0], ring->vertex[ring->count - 1]};
    if (ends[0] == ends[1]) return false;
    for (int32_t i = 1; i + 1 < ring->count; i++)
        if (is_boundary_edge(mesh, ring->a, ring->vertex[i]) &&
            is_boundary_edge(mesh, ring->b, ring->vertex[i]))
            return false;
    // A surface that would collapse to two faces glued together.
    MN_TET_STAR(mesh, ring->a, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4;
        if (k == code % 4 || mesh->mate[t][k] >= 0) continue;
        int32_t at_ends = 0;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
            at_ends += u == ends[0] || u == ends[1];
        }
        if (at_ends == 2 && mn_tet_mesh_find_face(mesh, ring->b, ends[0], ends[1]) >= 0) return false;
    }
    return true;
}

// ---- how the surface changes ----

/// Distance from x to triangle abc.
static double triangle_distance(mn_vec3 a, mn_vec3 b, mn_vec3 c, mn_vec3 x)
{
    const mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(c, a));
    const mn_vec3 corner[3] = {a, b, c};
    bool inside = mn_norm2(n) > 0;
    double nearest = INFINITY;
    for (int32_t i = 0; i < 3; i++) {
        const mn_vec3 p = corner[i], edge = mn_sub(corner[(i + 1) % 3], p), to = mn_sub(x, p);
        const double length = mn_norm2(edge),
                     t = length > 0 ? fmin(fmax(mn_dot(to, edge) / length, 0), 1) : 0;
        nearest = fmin(nearest, mn_norm(mn_axpy(to, -t, edge)));
        inside = inside && mn_dot(mn_cross(n, edge), to) >= 0;
    }
    return inside ? fabs(mn_dot(mn_normalize(n), mn_sub(x, a))) : nearest;
}

/// Boundary faces around a and b after b went into a at `place`: normals stay within 60 degrees of what they
/// were, and the places that vertices left are within the band of the new surface.
static bool surface_stays(const mn_tet_edit *edit, const mn_tet_ring *ring, mn_vec3 place)
{
    const mn_tet_mesh *mesh = edit->mesh;
    const mn_vec3 left[2] = {mesh->position[ring->a], mesh->position[ring->b]};
    double distance[2] = {INFINITY, INFINITY}, edge_sum = 0;
    int32_t faces = 0;
    for (int32_t end = 0; end < 2; end++) {
        const int32_t v = end ? ring->b : ring->a, other = end ? ring->a : ring->b;
        MN_TET_STAR(mesh, v, code)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = code / 4, gone = mn_tet_corner_of(mesh, t, other);
            if (k == code % 4 || mesh->mate[t][k] >= 0 || (gone >= 0 && gone != k)) continue;
            mn_vec3 x[3];
            for (int32_t i = 0; i < 3; i++) {
                const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
                x[i] = u == v ? place : mesh->position[u];
                if (u != v) edge_sum += mn_distance(x[i], place);
            }
            const mn_vec3 after = mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]));
            if (mn_dot(mn_normalize(after), mn_normalize(mn_tet_face_normal(mesh, t, k))) < 0.5) return false;
            for (int32_t i = 0; i < 2; i++)
                distance[i] = fmin(distance[i], triangle_distance(x[0], x[1], x[2], left[i]));
            faces++;
        }
    }
    if (faces == 0) return false;
    const double band = mn_tet_surface_band(edit->surface) * edge_sum / (2 * faces);
    return distance[0] <= band && distance[1] <= band;
}

/// May a vertex with this feature leave its place along the edge to one with the other?
static bool may_leave(mn_tet_feature leaving, mn_tet_feature staying, bool sharp_edge)
{
    if (leaving == MN_TET_SMOOTH) return true;
    return leaving == MN_TET_CURVE && staying >= MN_TET_CURVE && sharp_edge;
}

static bool is_sharp(const mn_tet_edit *edit, const mn_tet_ring *ring)
{
    const mn_vec3 *x = edit->mesh->position;
    const mn_vec3 a = x[ring->a], b = x[ring->b], p = x[ring->vertex[0]],
                  q = x[ring->vertex[ring->count - 1]];
    const mn_vec3 n = mn_cross(mn_sub(p, a), mn_sub(b, a)), m = mn_cross(mn_sub(b, a), mn_sub(q, a));
    return mn_dot(mn_normalize(n), mn_normalize(m)) < mn_tet_surface_feature_cosine(edit->surface);
}

// ---- the operation ----

typedef struct place {
    mn_vec3 position;
    double fraction; ///< from a to b, for the fields
} place;

/// Where the joined vertex may be, best guesses first; none when the edge may not be contracted.
static int32_t list_places(mn_tet_edit *edit, const mn_tet_ring *ring, place places[3])
{
    const mn_tet_mesh *mesh = edit->mesh;
    const int32_t a = ring->a, b = ring->b;
    const bool on_a = mn_tet_vertex_on_boundary(mesh, a), on_b = mn_tet_vertex_on_boundary(mesh, b);
    const bool fixed_a = mesh->vertex_flags[a] & MN_TET_FIXED, fixed_b = mesh->vertex_flags[b] & MN_TET_FIXED;
    const mn_vec3 x = mesh->position[a], y = mesh->position[b], middle = mn_lerp(x, y, 0.5);
    int32_t count = 0;
    if (!on_a && !on_b) {
        if (!fixed_a && !fixed_b) places[count++] = (place){middle, 0.5};
        if (!fixed_b) places[count++] = (place){x, 0};
        if (!fixed_a) places[count++] = (place){y, 1};
        return count;
    }
    if (on_a != on_b) {
        if (on_a ? !fixed_b : !fixed_a) places[count++] = on_a ? (place){x, 0} : (place){y, 1};
        return count;
    }
    if (ring->closed || !edit->surface || !surface_links_agree(mesh, ring)) return 0;
    const mn_tet_feature fa = mn_tet_surface_feature(edit->surface, a),
                         fb = mn_tet_surface_feature(edit->surface, b);
    const bool sharp = is_sharp(edit, ring);
    const bool a_leaves = !fixed_a && may_leave(fa, fb, sharp),
               b_leaves = !fixed_b && may_leave(fb, fa, sharp);
    if (a_leaves && b_leaves && fa == fb) {
        const mn_vec3 projected = mn_tet_surface_project(edit->surface, a, middle);
        if (surface_stays(edit, ring, projected)) places[count++] = (place){projected, 0.5};
    }
    if (b_leaves && surface_stays(edit, ring, x)) places[count++] = (place){x, 0};
    if (a_leaves && surface_stays(edit, ring, y)) places[count++] = (place){y, 1};
    return count;
}

static mn_status propose(mn_tet_edit *edit, int32_t a, int32_t b)
{
    const mn_tet_mesh *mesh = edit->mesh;
    mn_tet_edit_begin(edit);
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t *v = mesh->tet[code / 4];
        MN_TRY(mn_tet_edit_take(edit, code / 4));
        if (mn_tet_corner_of(mesh, code / 4, b) < 0) MN_TRY(mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]));
    }
    MN_TET_STAR(mesh, b, code)
    {
        const int32_t t = code / 4;
        if (mn_tet_corner_of(mesh, t, a) >= 0) continue;
        int32_t v[4];
        memcpy(v, mesh->tet[t], sizeof v);
        v[code % 4] = a;
        MN_TRY(mn_tet_edit_take(edit, t));
        MN_TRY(mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]));
    }
    return MN_OK;
}

mn_status mn_tet_contract_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    mn_tet_ring ring;
    place places[3];
    *done = false;
    if (mn_tet_edge_is_kept(mesh, a, b)) return MN_OK;
    if (mesh->vertex_flags[b] & MN_TET_KEPT) { // it is b that goes
        const int32_t swap = a;
        a = b, b = swap;
    }
    if (!mn_tet_ring_of(mesh, a, b, &ring)) return MN_OK;
    const int32_t count = list_places(edit, &ring, places);
    if (count == 0) return MN_OK;
    MN_TRY(propose(edit, a, b));
    double best = above;
    int32_t choice = -1;
    edit->moved = a;
    for (int32_t i = 0; i < count; i++) {
        edit->moved_to = places[i].position;
        const double worst = mn_tet_edit_new_worst(edit);
        if (worst > best) best = worst, choice = i;
    }
    if (choice < 0 || !links_agree(mesh, &ring)) return MN_OK;
    edit->moved_to = places[choice].position;
    MN_TRY(mn_tet_edit_accept(edit, above, done));
    if (!*done) return MN_OK;
    const int32_t parents[2] = {a, b};
    const double weights[2] = {1 - places[choice].fraction, places[choice].fraction};
    mn_tet_mesh_blend_vertex(mesh, a, 2, parents, weights);
    mesh->vertex_flags[a] |= mesh->vertex_flags[b];
    if (edit->surface) mn_tet_surface_inherit(edit->surface, a, b);
    mn_tet_mesh_remove_vertex(mesh, b);
    return MN_OK;
}
