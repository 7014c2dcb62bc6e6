// SPDX-License-Identifier: Apache-2.0
//
// What the files of the tetrahedral mesh share and nobody else sees.
#ifndef MENISCUS_MESH_TET_INTERNAL_H
#define MENISCUS_MESH_TET_INTERNAL_H

#include "meniscus/tet_mesh.h"

/// A slot on its four stars, faces not connected; room must have been reserved.
int32_t mn_tet_slot_take(mn_tet_mesh *mesh, const int32_t vertices[4]);
/// Takes a tetrahedron off its stars and frees its slot; faces are the caller's business.
void mn_tet_slot_give_back(mn_tet_mesh *mesh, int32_t t);

/// A new value for mark[]: nothing is visited.
static inline uint32_t mn_tet_mark_next(mn_tet_mesh *mesh)
{
    if (++mesh->mark_now == 0) {
        for (int32_t t = 0; t < mesh->tet_slots; t++) mesh->mark[t] = 0;
        mesh->mark_now = 1;
    }
    return mesh->mark_now;
}

/// Three vertices in rising order: the same for both sides of a face.
static inline void mn_tet_face_key(const int32_t tet[4], int32_t face, int32_t key[3])
{
    int32_t a = tet[mn_tet_face_corners[face][0]], b = tet[mn_tet_face_corners[face][1]],
            c = tet[mn_tet_face_corners[face][2]], swap;
    if (a > b) swap = a, a = b, b = swap;
    if (b > c) swap = b, b = c, c = swap;
    if (a > b) swap = a, a = b, b = swap;
    key[0] = a, key[1] = b, key[2] = c;
}

static inline uint32_t mn_tet_face_hash(const int32_t key[3])
{
    uint64_t h = (uint64_t)(uint32_t)key[0] * 0x9E3779B97F4A7C15u;
    h = (h ^ (h >> 32) ^ (uint32_t)key[1]) * 0xC2B2AE3D27D4EB4Fu;
    h = (h ^ (h >> 32) ^ (uint32_t)key[2]) * 0x165667B19E3779F9u;
    return (uint32_t)(h >> 32);
}

#endif
