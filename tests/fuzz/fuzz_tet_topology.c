// SPDX-License-Identifier: Apache-2.0
//
// Sequences of cracks, shifts of parts and merges on small meshes, with every invariant after each: positive
// orientation, symmetric adjacency, closed manifold boundary, Euler characteristics of mesh and boundary that
// fit, amounts conserved. Eight bytes are one operation.
#include "meniscus/meniscus.h"
#include "support/tet_operations.h"
#include "support/tet_shapes.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define MUST(condition)                                                                                      \
    do {                                                                                                     \
        if (!(condition)) {                                                                                  \
            fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, #condition);                                  \
            abort();                                                                                         \
        }                                                                                                    \
    } while (0)

static void check_all(mn_context *ctx, mn_tet_mesh *mesh, double mass)
{
    mn_tet_topology topology;
    if (mn_tet_mesh_check(mesh) != MN_OK) {
        fprintf(stderr, "%s\n", mn_context_message(ctx));
        abort();
    }
    MUST(mn_tet_mesh_topology(mesh, &topology) == MN_OK);
    MUST(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices == 0);
    MUST(2 * topology.boundary_edges == 3 * topology.boundary_faces);
    MUST(topology.boundary_vertices - topology.boundary_edges + topology.boundary_faces ==
         2 * topology.euler);
    MUST(fabs(tet_total_mass(mesh) - mass) <= 1e-10 * mass);
}

static double byte_to_unit(uint8_t byte)
{
    return ((double)byte - 127.5) / 127.5;
}

/// Shifts everything that hangs together with tetrahedron t.
static void shift_part(mn_tet_mesh *mesh, int32_t t, mn_vec3 by)
{
    int32_t *stack = malloc(sizeof *stack * (size_t)mesh->tet_slots), count = 0;
    uint8_t *seen = calloc((size_t)mesh->tet_slots, 1), *moved = calloc((size_t)mesh->vertex_slots, 1);
    stack[count++] = t, seen[t] = 1;
    while (count > 0) {
        const int32_t at = stack[--count];
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = mesh->tet[at][k], next = mesh->mate[at][k] / 4;
            if (!moved[v]) mn_tet_mesh_move_vertex(mesh, v, mn_add(mesh->position[v], by)), moved[v] = 1;
            if (mesh->mate[at][k] >= 0 && !seen[next]) seen[next] = 1, stack[count++] = next;
        }
    }
    free(stack);
    free(seen);
    free(moved);
}

/// A shift rounds places, so an element flatter than rounding may turn over: such a mesh is no input.
static bool is_positive(mn_tet_mesh *mesh)
{
    return mn_tet_mesh_check(mesh) == MN_OK;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 9) return 0;
    mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    MUST(ctx);
    mn_tet_mesh *mesh = data[0] & 1 ? tet_ball(ctx, 2) : tet_block(ctx, 2 + (data[0] >> 1 & 1));
    MUST(tet_add_fields(mesh) == MN_OK);
    const double mass = tet_total_mass(mesh);
    for (size_t i = 1; i + 8 <= size && mesh->tet_count < 3000; i += 8) {
        const mn_vec3 a = {byte_to_unit(data[i + 1]), byte_to_unit(data[i + 2]), byte_to_unit(data[i + 3])};
        const mn_vec3 b = {byte_to_unit(data[i + 4]), byte_to_unit(data[i + 5]), byte_to_unit(data[i + 6])};
        const int32_t t = (int32_t)((uint32_t)data[i + 7] * 7919u % (uint32_t)mesh->tet_slots);
        if (data[i] % 3 == 0) {
            mn_tet_cut_def def = mn_tet_cut_default_def();
            mn_tet_cut_report report;
            def.point = mn_scale(0.5, a), def.normal = b;
            def.snap = (data[i] >> 4) / 40.0;
            if (data[i] & 8) def.reach = 0.3;
            MUST(mn_tet_mesh_cut(mesh, &def, &report) == MN_OK);
        } else if (data[i] % 3 == 1) {
            if (!mn_tet_alive(mesh, t)) continue;
            shift_part(mesh, t, mn_scale(0.3, a));
            if (!is_positive(mesh)) break;
        } else {
            mn_tet_merge_def def = mn_tet_merge_default_def();
            mn_tet_merge_report report;
            def.within_parts = data[i] & 8;
            MUST(mn_tet_mesh_merge(mesh, &def, &report) == MN_OK);
        }
        check_all(ctx, mesh, mass);
    }
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return 0;
}
