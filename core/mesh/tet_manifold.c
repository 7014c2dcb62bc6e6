// SPDX-License-Identifier: Apache-2.0
//
// Making boundaries manifold again [clausen2013] section 7.3, the two kinds that come from material that
// touches itself:
//
//   face type  the tetrahedra around a vertex fall into several face-connected sets: each set gets a vertex
//   of its own edge       more than two boundary faces meet in an edge: it is split, and its new vertex is of
//   the first kind
//
// Nothing moves: parts come apart where they only touched. Tetrahedra are exchanged one by one, so that each
// keeps exactly what it holds; a face that lost its mate in between finds it again when the neighbour
// follows.
#include "meniscus/tet_mesh.h"

#include "meniscus/array.h"
#include "tet_internal.h"

#include <string.h>

typedef MN_ARRAY(int32_t) int_list;

/// Adds to `set` what can be reached from `first` across faces at v and is not marked yet.
static mn_status collect_set(mn_tet_mesh *mesh, int32_t v, int32_t first, int_list *set)
{
    set->count = 0;
    mesh->mark[first] = mesh->mark_now;
    MN_TRY(mn_array_push(mesh->ctx, set, &first));
    for (int64_t i = 0; i < set->count; i++) {
        const int32_t t = set->data[i], corner = mn_tet_corner_of(mesh, t, v);
        for (int32_t k = 0; k < 4; k++) {
            const int32_t next = mesh->mate[t][k] / 4;
            if (k == corner || mesh->mate[t][k] < 0 || mesh->mark[next] == mesh->mark_now) continue;
            mesh->mark[next] = mesh->mark_now;
            MN_TRY(mn_array_push(mesh->ctx, set, &next));
        }
    }
    return MN_OK;
}

static mn_status give_copy(mn_tet_mesh *mesh, int32_t v, const int_list *set)
{
    const double one = 1;
    int32_t copy;
    MN_TRY(mn_tet_mesh_add_vertex(mesh, mesh->position[v], 1, &v, &one, &copy));
    mesh->vertex_flags[copy] = mesh->vertex_flags[v];
    for (int64_t i = 0; i < set->count; i++) {
        int32_t tet[1][4];
        memcpy(tet, mesh->tet[set->data[i]], sizeof tet);
        tet[0][mn_tet_corner_of(mesh, set->data[i], v)] = copy;
        MN_TRY(mn_tet_mesh_replace(mesh, 1, &set->data[i], 1, (const int32_t(*)[4])tet, NULL));
    }
    return MN_OK;
}

/// Sets go to copies until one is left, which keeps v.
static mn_status part_vertex(mn_tet_mesh *mesh, int32_t v, int_list *set, int64_t *parted)
{
    for (;; ++*parted) {
        int32_t count = 0;
        MN_TET_STAR(mesh, v, code) count++;
        if (count < 2) return MN_OK;
        mn_tet_mark_next(mesh);
        MN_TRY(collect_set(mesh, v, mesh->star_first[v] / 4, set));
        if (set->count == count) return MN_OK;
        MN_TRY(give_copy(mesh, v, set));
    }
}

/// A vertex u above v such that more than two boundary faces meet in their edge; -1 when there is none.
static int32_t crowded_edge(const mn_tet_mesh *mesh, int32_t v)
{
    enum { END_MAX = 128 };
    int32_t end[END_MAX], faces[END_MAX], count = 0;
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        if (k == code % 4 || mesh->mate[code / 4][k] >= 0) continue;
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[code / 4][mn_tet_face_corners[k][i]];
            if (u <= v) continue;
            int32_t at = 0;
            while (at < count && end[at] != u) at++;
            if (at == END_MAX) continue;
            if (at == count) end[count] = u, faces[count++] = 0;
            if (++faces[at] > 2) return u;
        }
    }
    return -1;
}

static mn_status split_crowded(mn_tet_mesh *mesh, int32_t a, int32_t b, int_list *around, int32_t *vertex)
{
    const int32_t parents[2] = {a, b};
    const double weights[2] = {0.5, 0.5};
    int32_t middle;
    around->count = 0;
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t t = code / 4;
        if (mn_tet_corner_of(mesh, t, b) >= 0) MN_TRY(mn_array_push(mesh->ctx, around, &t));
    }
    MN_TRY(mn_tet_mesh_add_vertex(mesh, mn_lerp(mesh->position[a], mesh->position[b], 0.5), 2, parents,
                                  weights, &middle));
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

mn_status mn_tet_mesh_part(mn_tet_mesh *mesh, int64_t *parted_vertices, int64_t *split_edges)
{
    int_list set = {0}, star = {0};
    mn_status status = MN_OK;
    *parted_vertices = *split_edges = 0;
    // Vertices, then edges with their new middles, then what the edges held together at their ends.
    for (int32_t walk = 0; walk < 2; walk++) {
        for (int32_t v = 0; v < mesh->vertex_slots; v++)
            if (mn_tet_vertex_alive(mesh, v) && mn_tet_vertex_on_boundary(mesh, v))
                MN_TRY_TO(done, status, part_vertex(mesh, v, &set, parted_vertices));
        for (int32_t v = 0; walk == 0 && v < mesh->vertex_slots; v++) {
            if (!mn_tet_vertex_alive(mesh, v) || !mn_tet_vertex_on_boundary(mesh, v)) continue;
            for (int32_t u, middle; (u = crowded_edge(mesh, v)) >= 0; ++*split_edges) {
                MN_TRY_TO(done, status, split_crowded(mesh, v, u, &star, &middle));
                MN_TRY_TO(done, status, part_vertex(mesh, middle, &set, parted_vertices));
            }
        }
    }
done:
    mn_array_free(mesh->ctx, &set);
    mn_array_free(mesh->ctx, &star);
    return status;
}
