// SPDX-License-Identifier: Apache-2.0
//
// What a tetrahedral mesh is as a complex: Euler characteristic, parts, non-manifold edges and vertices; and
// the check of every invariant of the structure.
//
//   chi = V - E + F - T
//
// A vertex is non-manifold of face type when the tetrahedra around it fall into several face-connected sets,
// of edge type when its boundary faces fall into several edge-connected sets [clausen2013] section 7.3. Both
// are told with a union-find over the star.
#include "base/predicates.h"
#include "meniscus/array.h"
#include "meniscus/tetmesh.h"

#include "tetmesh/internal.h"

#include <stdlib.h>
#include <string.h>

// ---- union-find ----

// ---- edges ----

static int compare_u64(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static uint64_t edge_key(int32_t a, int32_t b)
{
    return a < b ? (uint64_t)(uint32_t)a << 32 | (uint32_t)b : (uint64_t)(uint32_t)b << 32 | (uint32_t)a;
}

typedef MN_ARRAY(uint64_t) key_array;

static mn_status collect_edges(const mn_tet_mesh *mesh, bool boundary, key_array *keys)
{
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        if (!boundary)
            for (int32_t e = 0; e < 6; e++) {
                const uint64_t key = edge_key(mesh->tet[t][mn_tet_edge_corners[e][0]],
                                              mesh->tet[t][mn_tet_edge_corners[e][1]]);
                MN_TRY(mn_array_push(mesh->ctx, keys, &key));
            }
        for (int32_t k = 0; boundary && k < 4; k++) {
            if (mesh->mate[t][k] >= 0) continue;
            const int32_t *corner = mn_tet_face_corners[k];
            for (int32_t i = 0; i < 3; i++) {
                const uint64_t key = edge_key(mesh->tet[t][corner[i]], mesh->tet[t][corner[(i + 1) % 3]]);
                MN_TRY(mn_array_push(mesh->ctx, keys, &key));
            }
        }
    }
    if (keys->count) qsort(keys->data, (size_t)keys->count, sizeof *keys->data, compare_u64);
    return MN_OK;
}

static int64_t distinct(const key_array *keys, int32_t crowd, int64_t *crowded)
{
    int64_t count = 0, run = 0;
    for (int64_t i = 0; i < keys->count; i++) {
        run = i > 0 && keys->data[i] == keys->data[i - 1] ? run + 1 : 1;
        if (run == 1) count++;
        if (crowded && run == crowd) ++*crowded;
    }
    return count;
}

// ---- stars ----

enum { STAR_MAX = 1024 };

static int32_t index_in(const int32_t *list, int32_t count, int32_t value)
{
    for (int32_t i = 0; i < count; i++)
        if (list[i] == value) return i;
    return -1;
}

/// True when the two sides of a face run around it in opposite senses.
static bool opposite_sides(const mn_tet_mesh *mesh, int32_t code, int32_t mate)
{
    int32_t a[3], b[3];
    for (int32_t i = 0; i < 3; i++) {
        a[i] = mesh->tet[code / 4][mn_tet_face_corners[code % 4][i]];
        b[i] = mesh->tet[mate / 4][mn_tet_face_corners[mate % 4][i]];
    }
    const int32_t at = index_in(b, 3, a[0]);
    return at >= 0 && b[(at + 2) % 3] == a[1] && b[(at + 1) % 3] == a[2];
}

/// Face-connected sets among the tetrahedra of a star.
static int32_t count_face_sets(const mn_tet_mesh *mesh, const int32_t *codes, int32_t count, int32_t *parent)
{
    int32_t sets = count;
    for (int32_t i = 0; i < count; i++) parent[i] = i;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[codes[i] / 4][k];
            if (k == codes[i] % 4 || mate < 0) continue;
            for (int32_t j = 0; j < count; j++)
                if (codes[j] / 4 == mate / 4) sets -= mn_tet_unite(parent, i, j);
        }
    return sets;
}

/// Edge-connected sets among the boundary faces of a star: faces that share an edge at v.
static int32_t count_edge_sets(const mn_tet_mesh *mesh, int32_t v, const int32_t *codes, int32_t count,
                               int32_t *parent, int32_t *ends)
{
    // Nodes are the far ends of boundary edges at v; each boundary face joins two of them.
    int32_t nodes = 0, sets = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = codes[i] / 4;
            if (k == codes[i] % 4 || mesh->mate[t][k] >= 0) continue;
            int32_t pair[2], found = 0;
            for (int32_t j = 0; j < 3; j++) {
                const int32_t u = mesh->tet[t][mn_tet_face_corners[k][j]];
                if (u == v) continue;
                int32_t at = index_in(ends, nodes, u);
                if (at < 0 && nodes < 2 * STAR_MAX) {
                    at = nodes++;
                    ends[at] = u;
                    parent[at] = at;
                    sets++;
                }
                if (found < 2) pair[found++] = at;
            }
            if (found == 2 && pair[0] >= 0 && pair[1] >= 0) sets -= mn_tet_unite(parent, pair[0], pair[1]);
        }
    return sets;
}

static void classify_vertices(const mn_tet_mesh *mesh, mn_tet_topology *topology)
{
    int32_t codes[STAR_MAX], parent[2 * STAR_MAX], ends[2 * STAR_MAX];
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v)) continue;
        int32_t count = 0;
        MN_TET_STAR(mesh, v, code)
        {
            if (count < STAR_MAX) codes[count] = code;
            count++;
        }
        if (count == 0) continue;
        topology->vertices++;
        if (mesh->boundary_faces[v] == 0) continue;
        topology->boundary_vertices++;
        if (count > STAR_MAX) continue;
        if (count_face_sets(mesh, codes, count, parent) > 1)
            topology->face_type_vertices++;
        else if (count_edge_sets(mesh, v, codes, count, parent, ends) > 1)
            topology->edge_type_vertices++;
    }
}

mn_status mn_tet_mesh_topology(const mn_tet_mesh *mesh, mn_tet_topology *topology)
{
    mn_context *ctx = mesh->ctx;
    memset(topology, 0, sizeof *topology);
    key_array keys = {0};
    mn_status status;
    const size_t bytes = mn_bytes(mesh->tet_slots, sizeof(int32_t));
    int32_t *parent = mn_allocate(ctx, bytes);
    if (bytes && !parent) return MN_ERROR_MEMORY;
    MN_TRY_TO(done, status, collect_edges(mesh, false, &keys));
    topology->edges = distinct(&keys, 0, NULL);
    keys.count = 0;
    MN_TRY_TO(done, status, collect_edges(mesh, true, &keys));
    topology->boundary_edges = distinct(&keys, 3, &topology->nonmanifold_edges);
    int64_t inner = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) parent[t] = t;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        topology->tets++;
        topology->parts++;
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[t][k];
            if (mate < 0)
                topology->boundary_faces++;
            else if (mate > 4 * t + k)
                inner++;
        }
    }
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; mn_tet_alive(mesh, t) && k < 4; k++)
            if (mesh->mate[t][k] >= 0) topology->parts -= mn_tet_unite(parent, t, mesh->mate[t][k] / 4);
    classify_vertices(mesh, topology);
    topology->faces = inner + topology->boundary_faces;
    topology->euler = topology->vertices - topology->edges + topology->faces - topology->tets;
done:
    mn_array_free(ctx, &keys);
    mn_release(ctx, parent, bytes);
    return status;
}

// ---- invariants ----

static mn_status check_tet(const mn_tet_mesh *mesh, int32_t t)
{
    const int32_t *v = mesh->tet[t];
    for (int32_t k = 0; k < 4; k++) {
        if (!mn_tet_vertex_alive(mesh, v[k]))
            return mn_fail(mesh->ctx, MN_ERROR_INPUT, "tetrahedron %d uses vertex %d, which is gone", t,
                           v[k]);
        const int32_t mate = mesh->mate[t][k];
        if (mate >= 0) {
            int32_t key[3], other[3];
            if (!mn_tet_alive(mesh, mate / 4) || mesh->mate[mate / 4][mate % 4] != 4 * t + k)
                return mn_fail(mesh->ctx, MN_ERROR_INPUT, "face %d of tetrahedron %d has a one-sided mate", k,
                               t);
            mn_tet_face_key(v, k, key);
            mn_tet_face_key(mesh->tet[mate / 4], mate % 4, other);
            if (memcmp(key, other, sizeof key) != 0 || !opposite_sides(mesh, 4 * t + k, mate))
                return mn_fail(mesh->ctx, MN_ERROR_INPUT, "face %d of tetrahedron %d and its mate differ", k,
                               t);
        }
        const int32_t next = mesh->star_next[t][k];
        if (next >= 0 &&
            (mesh->tet[next / 4][next % 4] != v[k] || mesh->star_previous[next / 4][next % 4] != 4 * t + k))
            return mn_fail(mesh->ctx, MN_ERROR_INPUT, "the star of vertex %d is broken at tetrahedron %d",
                           v[k], t);
    }
    if (!(mn_orient3d(mesh->position[v[0]], mesh->position[v[1]], mesh->position[v[2]],
                      mesh->position[v[3]]) > 0))
        return mn_fail(mesh->ctx, MN_ERROR_INPUT, "tetrahedron %d (%d, %d, %d, %d) is flat or inverted", t,
                       v[0], v[1], v[2], v[3]);
    return MN_OK;
}

static mn_status check_vertex(const mn_tet_mesh *mesh, int32_t v, int64_t *corners)
{
    int32_t boundary = 0;
    if (!mn_is_finite3(mesh->position[v]))
        return mn_fail(mesh->ctx, MN_ERROR_INPUT, "vertex %d has a position that is not finite", v);
    MN_TET_STAR(mesh, v, code)
    {
        if (!mn_tet_alive(mesh, code / 4) || mesh->tet[code / 4][code % 4] != v)
            return mn_fail(mesh->ctx, MN_ERROR_INPUT, "the star of vertex %d holds a wrong corner", v);
        if (++*corners > 4 * (int64_t)mesh->tet_count)
            return mn_fail(mesh->ctx, MN_ERROR_INPUT, "the star of vertex %d does not end", v);
        for (int32_t k = 0; k < 4; k++) boundary += k != code % 4 && mesh->mate[code / 4][k] < 0;
    }
    if (boundary != mesh->boundary_faces[v])
        return mn_fail(mesh->ctx, MN_ERROR_INPUT, "vertex %d counts %d boundary faces but has %d", v,
                       mesh->boundary_faces[v], boundary);
    return MN_OK;
}

mn_status mn_tet_mesh_check(mn_tet_mesh *mesh)
{
    int64_t corners = 0, tets = 0, vertices = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t)) continue;
        tets++;
        MN_TRY(check_tet(mesh, t));
    }
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        if (!mn_tet_vertex_alive(mesh, v)) continue;
        vertices++;
        MN_TRY(check_vertex(mesh, v, &corners));
    }
    if (tets != mesh->tet_count || vertices != mesh->vertex_count || corners != 4 * tets)
        return mn_fail(mesh->ctx, MN_ERROR_INPUT,
                       "the mesh counts %d tetrahedra and %d vertices but has %lld and %lld", mesh->tet_count,
                       mesh->vertex_count, (long long)tets, (long long)vertices);
    return MN_OK;
}
