// SPDX-License-Identifier: Apache-2.0
//
// Who neighbours whom: the tetrahedra and boundary faces around each node, the rows of the matrix, and where
// each pair of an element's nodes stands in it.
#include "tet/system.h"

#include <stdlib.h>
#include <string.h>

void mn_tet_system_free(mn_tet_system *s)
{
    if (!s->ctx) return;
    mn_array_free(s->ctx, &s->corner_start);
    mn_array_free(s->ctx, &s->corner);
    mn_array_free(s->ctx, &s->face);
    mn_array_free(s->ctx, &s->face_start);
    mn_array_free(s->ctx, &s->face_corner);
    mn_array_free(s->ctx, &s->row_start);
    mn_array_free(s->ctx, &s->column);
    mn_array_free(s->ctx, &s->diagonal);
    mn_array_free(s->ctx, &s->tet_slot);
    mn_array_free(s->ctx, &s->face_slot);
    mn_array_free(s->ctx, &s->x);
    mn_array_free(s->ctx, &s->elements);
    mn_array_free(s->ctx, &s->ends);
    mn_array_free(s->ctx, &s->elastic);
    mn_array_free(s->ctx, &s->stiff_side);
    mn_array_free(s->ctx, &s->stiff_row);
    mn_array_free(s->ctx, &s->stiff_part);
    mn_array_free(s->ctx, &s->stiff_slot);
    mn_sparse_free(s->ctx, &s->stiff_nodes);
    mn_sparse_free(s->ctx, &s->stiff_blocks);
    mn_cholesky_free(s->stiff_factor);
    mn_tet_phases_free(s->ctx, &s->phases);
    mn_array_free(s->ctx, &s->pair_rows);
    mn_array_free(s->ctx, &s->pair_pull);
    mn_array_free(s->ctx, &s->blocks);
    mn_array_free(s->ctx, &s->diagonal_inverse);
    mn_array_free(s->ctx, &s->schur_b);
    mn_array_free(s->ctx, &s->schur_bt);
    mn_array_free(s->ctx, &s->schur_scratch);
    mn_array_free(s->ctx, &s->scratch);
    mn_sparse_free(s->ctx, &s->schur);
    mn_cholesky_free(s->cholesky);
    mn_multigrid_free(s->multigrid);
    memset(s, 0, sizeof *s);
}

// Lists of elements by node, in the order of the elements: codes size * e + k. `start` has one entry more
// than nodes.
static void list_by_node(int32_t nodes, int32_t codes, const int32_t *of, int32_t *start, int32_t *list)
{
    memset(start, 0, mn_bytes(nodes + 1, sizeof *start));
    for (int32_t c = 0; c < codes; c++) start[of[c] + 1]++;
    for (int32_t i = 0; i < nodes; i++) start[i + 1] += start[i];
    // Filling moves each start to its end, which is the next one's start.
    for (int32_t c = 0; c < codes; c++) list[start[of[c]]++] = c;
    for (int32_t i = nodes; i > 0; i--) start[i] = start[i - 1];
    start[0] = 0;
}

static mn_status list_elements(mn_tet_system *s, const mn_tet_mesh *mesh)
{
    const int32_t corners = 4 * s->tet_count, face_corners = 3 * s->face_count;
    MN_TRY(mn_array_resize(s->ctx, &s->corner_start, s->node_count + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->corner, corners));
    MN_TRY(mn_array_resize(s->ctx, &s->face_start, s->node_count + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->face_corner, face_corners));
    // A mesh that has drained away has no first tetrahedron.
    const int32_t *of = (const int32_t *)mesh->tet;
    list_by_node(s->node_count, corners, of, s->corner_start.data, s->corner.data);
    list_by_node(s->node_count, face_corners, s->face.data, s->face_start.data, s->face_corner.data);
    return MN_OK;
}

static mn_status find_faces(mn_tet_system *s, const mn_tet_mesh *mesh)
{
    s->face.count = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) {
            if (mesh->mate[t][k] >= 0) continue;
            for (int32_t i = 0; i < 3; i++)
                MN_TRY(mn_array_push(s->ctx, &s->face, &mesh->tet[t][mn_tet_face_corners[k][i]]));
        }
    s->face_count = (int32_t)(s->face.count / 3);
    return MN_OK;
}

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// The nodes that share a tetrahedron with each node, itself included, rising.
static mn_status find_rows(mn_tet_system *s)
{
    s->column.count = 0;
    MN_TRY(mn_array_resize(s->ctx, &s->row_start, s->node_count + 1));
    MN_TRY(mn_array_resize(s->ctx, &s->diagonal, s->node_count));
    int32_t *seen = mn_allocate(s->ctx, mn_bytes(s->node_count, sizeof *seen));
    if (s->node_count > 0 && !seen) return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < s->node_count; i++) seen[i] = -1;
    mn_status status = MN_OK;
    for (int32_t i = 0; i < s->node_count && status == MN_OK; i++) {
        const int64_t begin = s->column.count;
        s->row_start.data[i] = (int32_t)begin;
        status = mn_array_reserve(s->ctx, &s->column,
                                  begin + 4 * (s->corner_start.data[i + 1] - s->corner_start.data[i]));
        if (status != MN_OK) break;
        for (int32_t c = s->corner_start.data[i]; c < s->corner_start.data[i + 1]; c++)
            for (int32_t k = 0; k < 4; k++) {
                const int32_t j = s->tet[s->corner.data[c] / 4][k];
                if (seen[j] == i) continue;
                seen[j] = i;
                s->column.data[s->column.count++] = j;
            }
        qsort(s->column.data + begin, (size_t)(s->column.count - begin), sizeof(int32_t), by_index);
    }
    s->row_start.data[s->node_count] = (int32_t)s->column.count;
    mn_release(s->ctx, seen, mn_bytes(s->node_count, sizeof *seen));
    return status;
}

static int32_t slot_of(const mn_tet_system *s, int32_t row, int32_t column)
{
    int32_t low = s->row_start.data[row], high = s->row_start.data[row + 1] - 1;
    while (low < high) {
        const int32_t middle = (low + high) / 2;
        if (s->column.data[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

static mn_status find_slots(mn_tet_system *s)
{
    MN_TRY(mn_array_resize(s->ctx, &s->tet_slot, 16 * (int64_t)s->tet_count));
    MN_TRY(mn_array_resize(s->ctx, &s->face_slot, 9 * (int64_t)s->face_count));
    for (int32_t i = 0; i < s->node_count; i++) s->diagonal.data[i] = slot_of(s, i, i);
    for (int32_t t = 0; t < s->tet_count; t++)
        for (int32_t k = 0; k < 16; k++)
            s->tet_slot.data[16 * (int64_t)t + k] = slot_of(s, s->tet[t][k / 4], s->tet[t][k % 4]);
    for (int32_t f = 0; f < s->face_count; f++) {
        const int32_t *v = s->face.data + 3 * (int64_t)f;
        for (int32_t k = 0; k < 9; k++)
            s->face_slot.data[9 * (int64_t)f + k] = slot_of(s, v[k / 3], v[k % 3]);
    }
    return MN_OK;
}

mn_status mn_tet_system_build(mn_tet_system *s, const mn_tet_mesh *mesh)
{
    s->ctx = mesh->ctx;
    s->node_count = mesh->vertex_slots, s->tet_count = mesh->tet_slots;
    s->tet = (const int32_t(*)[4])mesh->tet;
    s->analyzed = s->factored = s->stiff_analyzed = s->phases.split = false;
    MN_TRY(find_faces(s, mesh));
    MN_TRY(list_elements(s, mesh));
    MN_TRY(find_rows(s));
    MN_TRY(find_slots(s));
    MN_TRY(mn_array_resize(s->ctx, &s->x, s->node_count));
    MN_TRY(mn_array_resize(s->ctx, &s->elements, s->tet_count));
    return mn_array_resize(s->ctx, &s->blocks, s->column.count);
}
