// SPDX-License-Identifier: Apache-2.0
//
// Long sequences of local operations on small meshes, every invariant after each: positive orientation,
// symmetric adjacency, Euler characteristic, closed manifold boundary, amounts conserved. Five bytes are one
// operation.
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
    MUST(topology.euler == 1 && topology.parts == 1);
    MUST(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices == 0);
    MUST(fabs(tet_total_mass(mesh) - mass) <= 1e-10 * mass);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) return 0;
    mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    MUST(ctx);
    mn_tet_mesh *mesh = data[0] & 1 ? tet_ball(ctx, 3) : tet_block(ctx, 2 + (data[0] >> 1 & 1));
    mn_tet_surface_model *model = NULL;
    const double band = 0.02 * (data[1] % 16);
    MUST(tet_add_fields(mesh) == MN_OK);
    MUST(mn_tet_surface_model_create(mesh, (mn_tet_surface_def){0.3, band}, &model) == MN_OK);
    mn_tet_edit edit = {.mesh = mesh, .surface = data[1] & 128 ? NULL : model, .moved = -1};
    const double mass = tet_total_mass(mesh);
    for (size_t i = 2; i + 5 <= size && mesh->tet_count < 2000; i += 5) {
        const uint32_t where =
            (uint32_t)data[i + 1] | (uint32_t)data[i + 2] << 8 | (uint32_t)data[i + 3] << 16;
        // From anything positive to real improvement.
        const double above = data[i + 4] / 512.0;
        bool done;
        MUST(tet_operate(&edit, data[i] % TET_OPERATIONS, where, above, &done) == MN_OK);
        if (done) check_all(ctx, mesh, mass);
    }
    check_all(ctx, mesh, mass);
    mn_tet_edit_free(&edit);
    mn_tet_surface_model_free(model);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return 0;
}
