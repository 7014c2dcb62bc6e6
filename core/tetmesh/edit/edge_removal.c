// SPDX-License-Identifier: Apache-2.0
//
// Edge removal: the ring of tetrahedra around edge a-b becomes a triangulation of the ring's vertices, joined
// to a and to b. The triangulation whose worst tetrahedron is best is found by dynamic programming over
// sub-polygons [shewchuk2002]:
//
//   Q(i, j) = max over k of min(q(i, k, j), Q(i, k), Q(k, j)),   q = min(quality(a, i, k, j), quality(i, k,
//   j, b))
//
// Three in the ring give the 3-2 flip, four the 4-4. A boundary edge has an open ring; its removal turns the
// edge of the surface, which is allowed where the surface is flat enough to stay in its band.
#include "tetmesh/edit/edit.h"

#include "base/predicates.h"
#include "tetmesh/quality.h"
#include "tetmesh/surface_model.h"

/// Would turning boundary edge a-b into first-last keep the surface where it is?
static bool may_turn(const mn_tet_edit *edit, const mn_tet_ring *ring)
{
    if (!edit->surface) return false;
    const mn_tet_mesh *mesh = edit->mesh;
    const int32_t c = ring->vertex[0], d = ring->vertex[ring->count - 1];
    if (ring->count > 2 && mn_tet_mesh_find_edge(mesh, c, d) >= 0) return false;
    const mn_vec3 a = mesh->position[ring->a], b = mesh->position[ring->b], p = mesh->position[c],
                  q = mesh->position[d];
    // Counter-clockwise about a -> b, so (a, b, p) and (b, a, q) are seen from inside and outside alike.
    const mn_vec3 n1 = mn_cross(mn_sub(p, a), mn_sub(b, a)), n2 = mn_cross(mn_sub(b, a), mn_sub(q, a));
    const mn_vec3 m1 = mn_cross(mn_sub(p, a), mn_sub(q, a)), m2 = mn_cross(mn_sub(q, b), mn_sub(p, b));
    const mn_vec3 mean = mn_normalize(mn_add(n1, n2));
    if (mn_dot(mn_normalize(n1), mn_normalize(n2)) < mn_tet_surface_feature_cosine(edit->surface))
        return false;
    if (mn_dot(mn_normalize(m1), mean) < 0.7 || mn_dot(mn_normalize(m2), mean) < 0.7) return false;
    // The distance between the two diagonals is how far the surface moves.
    const mn_vec3 across = mn_cross(mn_sub(b, a), mn_sub(q, p));
    const double height = fabs(mn_dot(mn_sub(p, a), across)), area = mn_norm(across);
    return height <=
           mn_tet_surface_band(edit->surface) * area * 0.5 * (mn_distance(a, b) + mn_distance(p, q));
}

static double triangle_quality(const mn_tet_mesh *mesh, const mn_tet_ring *ring, int32_t i, int32_t k,
                               int32_t j)
{
    const mn_vec3 a = mesh->position[ring->a], b = mesh->position[ring->b];
    const mn_vec3 p = mesh->position[ring->vertex[i]], q = mesh->position[ring->vertex[k]],
                  r = mesh->position[ring->vertex[j]];
    return fmin(mn_tet_quality(a, p, q, r), mn_tet_quality(p, q, r, b));
}

static mn_status put_triangles(mn_tet_edit *edit, const mn_tet_ring *ring, int8_t best[][MN_TET_RING_MAX],
                               int32_t i, int32_t j)
{
    if (j - i < 2) return MN_OK;
    const int32_t k = best[i][j], *v = ring->vertex;
    MN_TRY(mn_tet_edit_put(edit, ring->a, v[i], v[k], v[j]));
    MN_TRY(mn_tet_edit_put(edit, v[i], v[k], v[j], ring->b));
    MN_TRY(put_triangles(edit, ring, best, i, k));
    return put_triangles(edit, ring, best, k, j);
}

/// No edge of the triangulation, and with three in the ring no face, is in the mesh already. Where a mesh
/// overlaps itself it may be, elsewhere; two edges between the same vertices would be one to everybody.
static bool triangles_are_new(const mn_tet_mesh *mesh, const mn_tet_ring *ring,
                              int8_t best[][MN_TET_RING_MAX], int32_t i, int32_t j)
{
    const int32_t n = ring->count, *v = ring->vertex;
    if (n == 3) return mn_tet_mesh_find_face(mesh, v[0], v[1], v[2]) < 0;
    if (j - i < 2) return true;
    if (j - i < n - 1 && mn_tet_mesh_find_edge(mesh, v[i], v[j]) >= 0) return false;
    const int32_t k = best[i][j];
    return triangles_are_new(mesh, ring, best, i, k) && triangles_are_new(mesh, ring, best, k, j);
}

static mn_status remove_ring(mn_tet_edit *edit, const mn_tet_ring *ring, double above, bool *done)
{
    double quality[MN_TET_RING_MAX][MN_TET_RING_MAX];
    int8_t best[MN_TET_RING_MAX][MN_TET_RING_MAX];
    const int32_t n = ring->count;
    if (n < 3 || n > MN_TET_RING_MAX || (!ring->closed && !may_turn(edit, ring))) return MN_OK;
    for (int32_t i = 0; i + 1 < n; i++) quality[i][i + 1] = INFINITY;
    for (int32_t length = 2; length < n; length++)
        for (int32_t i = 0; i + length < n; i++) {
            const int32_t j = i + length;
            quality[i][j] = -INFINITY;
            best[i][j] = (int8_t)(i + 1);
            for (int32_t k = i + 1; k < j; k++) {
                const double sides = fmin(quality[i][k], quality[k][j]);
                if (sides <= quality[i][j]) continue;
                const double q = fmin(sides, triangle_quality(edit->mesh, ring, i, k, j));
                if (q > quality[i][j]) quality[i][j] = q, best[i][j] = (int8_t)k;
            }
        }
    if (!(quality[0][n - 1] > above)) return MN_OK;
    if (!triangles_are_new(edit->mesh, ring, best, 0, n - 1)) return MN_OK;
    mn_tet_edit_begin(edit);
    for (int32_t i = 0; i < ring->tet_count; i++) MN_TRY(mn_tet_edit_take(edit, ring->tet[i]));
    MN_TRY(put_triangles(edit, ring, best, 0, n - 1));
    return mn_tet_edit_accept(edit, above, done);
}

mn_status mn_tet_remove_edge(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    mn_tet_ring ring;
    *done = false;
    if (mn_tet_edge_is_kept(edit->mesh, a, b)) return MN_OK;
    return mn_tet_ring_of(edit->mesh, a, b, &ring) ? remove_ring(edit, &ring, above, done) : MN_OK;
}

/// Boundary faces that have both c and d.
static int32_t boundary_faces_at(const mn_tet_mesh *mesh, int32_t c, int32_t d)
{
    int32_t count = 0;
    MN_TET_STAR(mesh, c, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4, j = mn_tet_corner_of(mesh, t, d);
        count += j >= 0 && k != code % 4 && k != j && mesh->mate[t][k] < 0;
    }
    return count;
}

mn_status mn_tet_peel(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    const mn_tet_mesh *mesh = edit->mesh;
    mn_tet_ring ring;
    *done = false;
    if (mn_tet_edge_is_kept(mesh, a, b)) return MN_OK;
    if (!mn_tet_ring_of(mesh, a, b, &ring) || ring.closed || ring.tet_count != 1 || !may_turn(edit, &ring))
        return MN_OK;
    const int32_t t = ring.tet[0], c = ring.vertex[0], d = ring.vertex[1];
    const int32_t behind[2] = {mesh->mate[t][mn_tet_corner_of(mesh, t, a)],
                               mesh->mate[t][mn_tet_corner_of(mesh, t, b)]};
    if (behind[0] < 0 || behind[1] < 0 || boundary_faces_at(mesh, c, d) > 0) return MN_OK;
    mn_tet_edit_begin(edit);
    MN_TRY(mn_tet_edit_take(edit, t));
    for (int32_t i = 0; i < 2; i++) {
        const int32_t *v = mesh->tet[behind[i] / 4];
        MN_TRY(mn_tet_edit_take(edit, behind[i] / 4));
        MN_TRY(mn_tet_edit_put(edit, v[0], v[1], v[2], v[3]));
    }
    return mn_tet_edit_accept(edit, above, done);
}

static mn_status flip(mn_tet_edit *edit, int32_t a, int32_t b, int32_t tets, bool closed, double above,
                      bool *done)
{
    mn_tet_ring ring;
    *done = false;
    if (!mn_tet_ring_of(edit->mesh, a, b, &ring) || ring.tet_count != tets || ring.closed != closed)
        return MN_OK;
    return remove_ring(edit, &ring, above, done);
}

mn_status mn_tet_flip32(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    return flip(edit, a, b, 3, true, above, done);
}

mn_status mn_tet_flip44(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    return flip(edit, a, b, 4, true, above, done);
}

mn_status mn_tet_flip22(mn_tet_edit *edit, int32_t a, int32_t b, double above, bool *done)
{
    return flip(edit, a, b, 2, false, above, done);
}
