// SPDX-License-Identifier: Apache-2.0
//
// The faces of b that lie on the seam, once no edge of b passes through it any more: each seam face is the
// union of some of them, and they are the walls between inside and outside of layer A.
#include "base/predicates.h"
#include "tetmesh/unite/union.h"

#include <string.h>

static mn_status mark_side(mn_tet_union *u, int32_t t, uint8_t side)
{
    if (u->side.data[t] != 0 && u->side.data[t] != side) return MN_TET_DEGENERATE;
    u->side.data[t] = side;
    return MN_OK;
}

/// Face k of t lies on seam face `index`: a part of it, and a wall between inside and outside.
static mn_status add_part(mn_tet_union *u, int32_t index, int32_t t, int32_t k)
{
    const mn_seam_face *face = &u->faces.data[index];
    const mn_vec3 *x = u->mesh->position;
    const int32_t mate = u->b->mate[t][k];
    if (mate < 0) return MN_TET_DEGENERATE;
    const int32_t sides[2] = {4 * t + k, mate};
    int32_t inside = -1;
    for (int32_t s = 0; s < 2; s++) {
        const int32_t tip = u->b->tet[sides[s] / 4][sides[s] % 4];
        const double height = mn_orient3d(x[face->v[0]], x[face->v[1]], x[face->v[2]], u->b->position[tip]);
        if (mn_tet_union_is_on(u, tip, index) || height == 0) return MN_TET_DEGENERATE;
        MN_TRY(mark_side(u, sides[s] / 4, height < 0 ? 1 : 2));
        u->wall.data[sides[s] / 4] |= (uint8_t)(1 << sides[s] % 4);
        if (height < 0) inside = sides[s];
    }
    if (inside < 0 || u->side.data[sides[0] / 4] == u->side.data[sides[1] / 4]) return MN_TET_DEGENERATE;
    mn_triangle_indices part;
    for (int32_t c = 0; c < 3; c++) part.v[c] = u->b->tet[inside / 4][mn_tet_face_corners[inside % 4][c]];
    return mn_array_push(u->ctx, &u->parts, &part);
}

mn_status mn_tet_union_find_parts(mn_tet_union *u)
{
    MN_TRY(mn_array_resize(u->ctx, &u->side, u->b->tet_slots));
    MN_TRY(mn_array_resize(u->ctx, &u->wall, u->b->tet_slots));
    memset(u->side.data, 0, (size_t)u->b->tet_slots);
    memset(u->wall.data, 0, (size_t)u->b->tet_slots);
    for (int32_t i = 0; i < u->faces.count; i++) {
        u->faces.data[i].first_part = (int32_t)u->parts.count;
        MN_TRY(mn_tet_union_pieces_near(u, mn_seam_face_box(u, &u->faces.data[i])));
        for (int64_t j = 0; j < u->tets.count; j++) {
            const int32_t t = u->tets.data[j], *v = u->b->tet[t];
            int32_t on = 0;
            for (int32_t k = 0; k < 4; k++) on |= mn_tet_union_is_on(u, v[k], i) << k;
            for (int32_t k = 0; k < 4; k++) {
                const int32_t mate = u->b->mate[t][k];
                if ((on | 1 << k) == 15 && (mate < 0 || 4 * t + k < mate)) MN_TRY(add_part(u, i, t, k));
            }
        }
        u->faces.data[i].part_count = (int32_t)u->parts.count - u->faces.data[i].first_part;
    }
    return MN_OK;
}
