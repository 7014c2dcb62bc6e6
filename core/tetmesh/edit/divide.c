// SPDX-License-Identifier: Apache-2.0
//
// Division of edges and faces at any number of tetrahedra, manifold or not, without a condition on quality:
// what cracks and the repair of boundaries are made of.
//
// Tetrahedra are exchanged one by one, so that each part gets exactly its share by volume of what its own
// parent held; with linear fields interpolated at the new vertex the momentum of each parent stays as well:
// m/4 [v_m + (1-f) v_b + f v_a + v_c + v_d] = m/4 [v_a + v_b + v_c + v_d]  for v_m = (1-f) v_a + f v_b.
#include "base/predicates.h"
#include "tetmesh/internal.h"

#include <string.h>

/// t with corner k at x is still positive.
static bool stays_positive(const mn_tet_mesh *mesh, int32_t t, int32_t k, mn_vec3 x)
{
    mn_vec3 p[4];
    for (int32_t i = 0; i < 4; i++) p[i] = i == k ? x : mesh->position[mesh->tet[t][i]];
    return mn_orient3d(p[0], p[1], p[2], p[3]) > 0;
}

/// Everything that the exchanges below could lack, so that they do not fail half-way.
static mn_status make_room(mn_tet_mesh *mesh, int64_t more_tets)
{
    MN_TRY(mn_tet_mesh_reserve(mesh, 1, more_tets));
    return mn_tet_scratch_reserve(mesh, 3);
}

bool mn_tet_can_divide_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b, double fraction)
{
    const mn_vec3 x = mn_lerp(mesh->position[a], mesh->position[b], fraction);
    bool found = false;
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t t = code / 4, k = mn_tet_corner_of(mesh, t, b);
        if (k < 0) continue;
        if (!stays_positive(mesh, t, k, x) || !stays_positive(mesh, t, code % 4, x)) return false;
        found = true;
    }
    return found;
}

mn_status mn_tet_divide_edge(mn_tet_mesh *mesh, int32_t a, int32_t b, double fraction, mn_tet_list *around,
                             int32_t *vertex)
{
    const int32_t parents[2] = {a, b};
    const double weights[2] = {1 - fraction, fraction};
    const mn_vec3 x = mn_lerp(mesh->position[a], mesh->position[b], fraction);
    int32_t middle;
    *vertex = -1;
    if (!mn_tet_can_divide_edge(mesh, a, b, fraction)) return MN_OK;
    around->count = 0;
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t t = code / 4;
        if (mn_tet_corner_of(mesh, t, b) >= 0) MN_TRY(mn_array_push(mesh->ctx, around, &t));
    }
    MN_TRY(make_room(mesh, around->count + 2));
    MN_TRY(mn_tet_mesh_add_vertex(mesh, x, 2, parents, weights, &middle));
    for (int64_t i = 0; i < around->count; i++) {
        int32_t halves[2][4];
        memcpy(halves[0], mesh->tet[around->data[i]], sizeof halves[0]);
        memcpy(halves[1], halves[0], sizeof halves[0]);
        halves[0][mn_tet_corner_of(mesh, around->data[i], a)] = middle;
        halves[1][mn_tet_corner_of(mesh, around->data[i], b)] = middle;
        MN_TRY(mn_tet_mesh_replace(mesh, 1, &around->data[i], 2, (const int32_t(*)[4])halves, NULL));
    }
    *vertex = middle;
    return MN_OK;
}

mn_status mn_tet_divide_face(mn_tet_mesh *mesh, int32_t t, int32_t face, int32_t *vertex)
{
    const int32_t sides[2] = {4 * t + face, mesh->mate[t][face]};
    const double weights[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3};
    int32_t parents[3], middle;
    mn_vec3 x = mn_v3(0, 0, 0);
    *vertex = -1;
    for (int32_t i = 0; i < 3; i++) {
        parents[i] = mesh->tet[t][mn_tet_face_corners[face][i]];
        x = mn_axpy(x, weights[i], mesh->position[parents[i]]);
    }
    for (int32_t s = 0; s < 2 && sides[s] >= 0; s++)
        for (int32_t i = 0; i < 3; i++)
            if (!stays_positive(mesh, sides[s] / 4, mn_tet_face_corners[sides[s] % 4][i], x)) return MN_OK;
    MN_TRY(make_room(mesh, 6));
    MN_TRY(mn_tet_mesh_add_vertex(mesh, x, 3, parents, weights, &middle));
    for (int32_t s = 0; s < 2 && sides[s] >= 0; s++) {
        const int32_t old = sides[s] / 4;
        int32_t thirds[3][4];
        for (int32_t i = 0; i < 3; i++) {
            memcpy(thirds[i], mesh->tet[old], sizeof thirds[i]);
            thirds[i][mn_tet_face_corners[sides[s] % 4][i]] = middle;
        }
        MN_TRY(mn_tet_mesh_replace(mesh, 1, &old, 3, (const int32_t(*)[4])thirds, NULL));
    }
    *vertex = middle;
    return MN_OK;
}
