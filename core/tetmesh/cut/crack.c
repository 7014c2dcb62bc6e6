// SPDX-License-Identifier: Apache-2.0
//
// Split faces become boundary [clausen2013] section 7.1, "creating surfaces". A face opens where its two
// sides belong to different sets of tetrahedra around one of its vertices, sets being connected across faces
// that are not split. A face that opens nowhere is divided: in the middle of an edge around which the split
// faces part its sides, else in its own middle, where they always do. Then all of them lose their mates and
// each vertex gets a copy for every further set.
#include "tetmesh/internal.h"

#include <string.h>

/// Faces with a hash table over them; a removed one keeps its place with v[0] = -1.
typedef struct face_set {
    mn_context *ctx;
    mn_tet_faces faces;
    MN_ARRAY(int32_t) table;
} face_set;

static mn_tet_face face_of(int32_t a, int32_t b, int32_t c)
{
    const int32_t tet[4] = {a, b, c, -1};
    mn_tet_face face;
    mn_tet_face_key(tet, 3, face.v);
    return face;
}

static mn_status set_rehash(face_set *set, int64_t size)
{
    MN_TRY(mn_array_resize(set->ctx, &set->table, size));
    memset(set->table.data, 0xff, mn_bytes(size, sizeof *set->table.data));
    for (int32_t i = 0; i < set->faces.count; i++) {
        uint32_t at = mn_tet_face_hash(set->faces.data[i].v) & (uint32_t)(size - 1);
        if (set->faces.data[i].v[0] < 0) continue;
        while (set->table.data[at] >= 0) at = (at + 1) & (uint32_t)(size - 1);
        set->table.data[at] = i;
    }
    return MN_OK;
}

/// Index of the face, -1 when it is not in the set.
static int32_t set_find(const face_set *set, const mn_tet_face *face)
{
    const uint32_t mask = (uint32_t)(set->table.count - 1);
    for (uint32_t at = mn_tet_face_hash(face->v) & mask; set->table.data[at] >= 0; at = (at + 1) & mask)
        if (memcmp(set->faces.data[set->table.data[at]].v, face->v, sizeof face->v) == 0)
            return set->table.data[at];
    return -1;
}

static mn_status set_add(face_set *set, mn_tet_face face)
{
    if (set->table.count < 4 * (set->faces.count + 1))
        MN_TRY(set_rehash(set, set->table.count ? 2 * set->table.count : 64));
    if (set_find(set, &face) >= 0) return MN_OK;
    const uint32_t mask = (uint32_t)(set->table.count - 1);
    uint32_t at = mn_tet_face_hash(face.v) & mask;
    while (set->table.data[at] >= 0) at = (at + 1) & mask;
    set->table.data[at] = (int32_t)set->faces.count;
    return mn_array_push(set->ctx, &set->faces, &face);
}

static bool is_split(const mn_tet_mesh *mesh, const face_set *set, int32_t t, int32_t k)
{
    mn_tet_face face;
    mn_tet_face_key(mesh->tet[t], k, face.v);
    return set_find(set, &face) >= 0;
}

/// From `from` one can come to `to` across faces that are not split and contain a and b (b -1: only a).
static mn_status are_joined(mn_tet_mesh *mesh, const face_set *set, int32_t a, int32_t b, int32_t from,
                            int32_t to, mn_tet_list *walk, bool *joined)
{
    const uint32_t mark = mn_tet_mark_next(mesh);
    walk->count = 0;
    mesh->mark[from] = mark;
    *joined = false;
    MN_TRY(mn_array_push(mesh->ctx, walk, &from));
    for (int64_t i = 0; i < walk->count && !*joined; i++) {
        const int32_t t = walk->data[i];
        *joined = t == to;
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[t][k], v = mesh->tet[t][k];
            if (v == a || v == b || mate < 0 || mesh->mark[mate / 4] == mark || is_split(mesh, set, t, k))
                continue;
            const int32_t next = mate / 4;
            mesh->mark[next] = mark;
            MN_TRY(mn_array_push(mesh->ctx, walk, &next));
        }
    }
    return MN_OK;
}

/// Divides edge a-b and the split faces at it with it.
static mn_status divide_edge(mn_tet_mesh *mesh, face_set *set, int32_t a, int32_t b, mn_tet_list *around,
                             int32_t *middle)
{
    MN_TRY(mn_tet_divide_edge(mesh, a, b, 0.5, around, middle));
    if (*middle < 0) return MN_OK;
    MN_TET_STAR(mesh, *middle, code)
    {
        // Tetrahedra at a: each face (a, middle, w) was a face (a, b, w).
        const int32_t t = code / 4, at = mn_tet_corner_of(mesh, t, a);
        for (int32_t k = 0; at >= 0 && k < 4; k++) {
            const int32_t w = mesh->tet[t][k];
            if (k == at || k == code % 4) continue;
            const mn_tet_face whole = face_of(a, b, w);
            const int32_t found = set_find(set, &whole);
            if (found < 0) continue;
            MN_TRY(set_add(set, face_of(a, *middle, w)));
            MN_TRY(set_add(set, face_of(b, *middle, w)));
            // Out of the list; the table's entry no longer matches any face.
            set->faces.data[found].v[0] = -1;
        }
    }
    return MN_OK;
}

/// Sees to it that face i opens: nothing, or a division of it.
static mn_status open_face(mn_tet_mesh *mesh, face_set *set, int32_t i, mn_tet_list *scratch)
{
    const mn_tet_face face = set->faces.data[i];
    const int32_t *v = face.v;
    const int32_t t = v[0] < 0 ? -1 : mn_tet_mesh_find_face(mesh, v[0], v[1], v[2]);
    int32_t k = 0, middle = -1;
    bool joined = true;
    if (t < 0) return MN_OK;
    while (mesh->tet[t][k] == v[0] || mesh->tet[t][k] == v[1] || mesh->tet[t][k] == v[2]) k++;
    const int32_t other = mesh->mate[t][k] / 4;
    if (mesh->mate[t][k] < 0) {
        set->faces.data[i].v[0] = -1;
        return MN_OK;
    }
    for (int32_t c = 0; c < 3 && joined; c++)
        MN_TRY(are_joined(mesh, set, v[c], -1, t, other, scratch, &joined));
    for (int32_t c = 0; c < 3 && joined; c++) {
        MN_TRY(are_joined(mesh, set, v[c], v[(c + 1) % 3], t, other, scratch, &joined));
        if (!joined) return divide_edge(mesh, set, v[c], v[(c + 1) % 3], scratch, &middle);
    }
    if (!joined) return MN_OK;
    MN_TRY(mn_tet_divide_face(mesh, t, k, &middle));
    set->faces.data[i].v[0] = -1;
    for (int32_t c = 0; c < 3 && middle >= 0; c++)
        MN_TRY(set_add(set, face_of(v[c], v[(c + 1) % 3], middle)));
    return MN_OK;
}

/// Takes the mates apart.
static int64_t unmate(mn_tet_mesh *mesh, const face_set *set)
{
    int64_t opened = 0;
    for (int64_t i = 0; i < set->faces.count; i++) {
        const int32_t *v = set->faces.data[i].v;
        const int32_t t = v[0] < 0 ? -1 : mn_tet_mesh_find_face(mesh, v[0], v[1], v[2]);
        int32_t k = 0;
        if (t < 0) continue;
        while (mesh->tet[t][k] == v[0] || mesh->tet[t][k] == v[1] || mesh->tet[t][k] == v[2]) k++;
        const int32_t mate = mesh->mate[t][k];
        if (mate < 0) continue;
        mesh->mate[t][k] = mesh->mate[mate / 4][mate % 4] = -1;
        for (int32_t c = 0; c < 3; c++) mesh->boundary_faces[v[c]] += 2;
        opened++;
    }
    mesh->now++;
    return opened;
}

mn_status mn_tet_open_faces(mn_tet_mesh *mesh, const mn_tet_faces *faces, mn_tet_list *touched,
                            int64_t *opened)
{
    face_set set = {.ctx = mesh->ctx};
    mn_tet_list scratch = {0};
    mn_status status = MN_OK;
    *opened = 0;
    for (int64_t i = 0; i < faces->count; i++)
        MN_TRY_TO(done, status,
                  set_add(&set, face_of(faces->data[i].v[0], faces->data[i].v[1], faces->data[i].v[2])));
    for (int32_t i = 0; i < set.faces.count; i++) MN_TRY_TO(done, status, open_face(mesh, &set, i, &scratch));
    // Room for the copies first: a face without mate must get a vertex of its own.
    for (int64_t i = 0; i < set.faces.count; i++)
        for (int32_t c = 0; set.faces.data[i].v[0] >= 0 && c < 3; c++)
            MN_TRY_TO(done, status, mn_array_push(mesh->ctx, touched, &set.faces.data[i].v[c]));
    mn_tet_list_sort_unique(touched);
    const int64_t corners = touched->count;
    MN_TRY_TO(done, status, mn_array_reserve(mesh->ctx, touched, touched->count + 4 * corners));
    MN_TRY_TO(done, status, mn_array_reserve(mesh->ctx, &scratch, 4096));
    MN_TRY_TO(done, status, mn_tet_mesh_reserve(mesh, 4 * corners, 0));
    *opened = unmate(mesh, &set);
    for (int64_t i = touched->count; i-- > 0;)
        MN_TRY_TO(done, status, mn_tet_part_vertex(mesh, touched->data[i], &scratch, touched));
done:
    mn_array_free(mesh->ctx, &set.faces);
    mn_array_free(mesh->ctx, &set.table);
    mn_array_free(mesh->ctx, &scratch);
    return status;
}
