// SPDX-License-Identifier: Apache-2.0
//
// Random local operations on a tetrahedral mesh, and everything that must hold after each, for tests and
// fuzzing.
#ifndef MENISCUS_TESTS_SUPPORT_TET_OPERATIONS_H
#define MENISCUS_TESTS_SUPPORT_TET_OPERATIONS_H

#include "tetmesh/edit/edit.h"
#include "tetmesh/quality.h"
#include "tetmesh/surface_model.h"

enum { TET_OPERATIONS = 15 };

static const char *const tet_operation_names[TET_OPERATIONS] = {
    "flip23",        "flip32",       "flip44",         "flip22",        "remove_edge",
    "remove_faces",  "split_edge",   "split_face",     "split_tet",     "contract_edge",
    "contract_face", "contract_tet", "insert_on_edge", "smooth_vertex", "peel"};

/// Applies one operation at a place given by `where`; *done says whether the mesh changed.
static inline mn_status tet_operate(mn_tet_edit *edit, int operation, uint32_t where, double above,
                                    bool *done)
{
    mn_tet_mesh *mesh = edit->mesh;
    static const double third[3] = {1.0 / 3, 1.0 / 3, 1.0 / 3}, quarter[4] = {0.25, 0.25, 0.25, 0.25};
    *done = false;
    if (mesh->tet_slots == 0) return MN_OK;
    const int32_t t = (int32_t)(where / 24 % (uint32_t)mesh->tet_slots);
    if (!mn_tet_alive(mesh, t)) return MN_OK;
    const int32_t *pair = mn_tet_edge_corners[where % 6], face = (int32_t)(where % 4);
    const int32_t a = mesh->tet[t][pair[0]], b = mesh->tet[t][pair[1]];
    const int32_t c = mesh->tet[t][mn_tet_edge_corners[5 - where % 6][where / 6 % 2]];
    int32_t vertex = -1;
    mn_status status = MN_OK;
    switch (operation) {
    case 0:
        return mn_tet_flip23(edit, t, face, above, done);
    case 1:
        return mn_tet_flip32(edit, a, b, above, done);
    case 2:
        return mn_tet_flip44(edit, a, b, above, done);
    case 3:
        return mn_tet_flip22(edit, a, b, above, done);
    case 4:
        return mn_tet_remove_edge(edit, a, b, above, done);
    case 5:
        return mn_tet_remove_faces(edit, t, face, above, done);
    case 6:
        status = mn_tet_split_edge(edit, a, b, 0.5, above, &vertex);
        break;
    case 7:
        status = mn_tet_split_face(edit, t, face, third, above, &vertex);
        break;
    case 8:
        status = mn_tet_split_tet(edit, t, quarter, above, &vertex);
        break;
    case 9:
        return mn_tet_contract_edge(edit, a, b, above, done);
    case 10:
        return mn_tet_contract_face(edit, a, b, c, above, done);
    case 11:
        return mn_tet_contract_tet(edit, t, face, above, done);
    case 12:
        return mn_tet_insert_on_edge(edit, a, b, above, done);
    case 13:
        return mn_tet_smooth_vertex(edit, mesh->tet[t][face], 1e-4, done);
    default:
        return mn_tet_peel(edit, a, b, above, done);
    }
    *done = vertex >= 0;
    return status;
}

/// The fields that the checks below follow.
static inline mn_status tet_add_fields(mn_tet_mesh *mesh)
{
    mn_tet_field *mass, *velocity;
    MN_TRY(mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass));
    MN_TRY(mn_tet_mesh_add_field(mesh, "x", MN_TET_LINEAR, 3, &velocity));
    mass = mn_tet_mesh_find_field(mesh, "mass");
    for (int32_t t = 0; t < mesh->tet_slots; t++) mass->data[t] = 1 + t % 7;
    // A linear field that is the place itself: interpolation inside must reproduce it.
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        velocity->data[3 * v] = mesh->position[v].x;
        velocity->data[3 * v + 1] = mesh->position[v].y;
        velocity->data[3 * v + 2] = mesh->position[v].z;
    }
    return MN_OK;
}

static inline double tet_total_mass(const mn_tet_mesh *mesh)
{
    const mn_tet_field *mass = mn_tet_mesh_find_field(mesh, "mass");
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (mn_tet_alive(mesh, t)) sum += mass->data[t];
    return sum;
}

#endif
