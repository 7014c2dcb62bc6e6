// SPDX-License-Identifier: Apache-2.0
//
// Drops for the tetrahedral solver: a ball filled as the node tetrahedralize does it, bent to the shape asked
// for, its volume that of the ball to rounding.
#ifndef MENISCUS_TESTS_SUPPORT_TET_DROP_H
#define MENISCUS_TESTS_SUPPORT_TET_DROP_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/remesh.h"

typedef struct tet_drop_shape {
    double radius; ///< m, of a ball of the same volume
    double edge;   ///< of the lattice, in radii: 0.2 gives about 6,700 tetrahedra, 0.31 2,000, 0.125 28,000
    double p2;     ///< r = R (1 + p2 P2(cos theta)) about x
    double aspect; ///< 0 or 1: none; else an ellipsoid of revolution about x, length over width
} tet_drop_shape;

static inline void tet_drop_level(void *user, int64_t count, const mn_vec3 *x, double *values)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) values[i] = mn_norm(x[i]) - 1;
}

static inline void tet_drop_must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static inline mn_tet_mesh *tet_drop(mn_context *ctx, tet_drop_shape shape)
{
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    mn_tet_stuffing filled = {0};
    mn_tet_mesh *mesh;
    def.level = tet_drop_level, def.size = shape.edge;
    def.bounds = (mn_box){{-1.1, -1.1, -1.1}, {1.1, 1.1, 1.1}};
    tet_drop_must(ctx, mn_tet_stuff(ctx, &def, &filled));
    tet_drop_must(ctx, mn_tet_mesh_build(ctx, filled.positions.count, filled.positions.data,
                                         filled.tets.count, (const int32_t(*)[4])filled.tets.data, &mesh));
    mn_tet_stuffing_free(ctx, &filled);
    mn_tet_remesh_def remesh = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    remesh.quality = 0.5;
    tet_drop_must(ctx, mn_tet_remesh(mesh, &remesh, &report));
    tet_drop_must(ctx, mn_tet_mesh_compact(mesh, NULL, NULL));
    const double along = shape.aspect > 0 ? pow(shape.aspect, 2.0 / 3) : 1, across = 1 / sqrt(along);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        mn_vec3 x = mesh->position[i];
        if (mn_tet_vertex_on_boundary(mesh, i)) x = mn_normalize(x);
        const double r = mn_norm(x), mu = r > 0 ? x.x / r : 0;
        x = mn_scale(1 + shape.p2 * 0.5 * (3 * mu * mu - 1), x);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(along * x.x, across * x.y, across * x.z));
    }
    const double volume = 4.0 / 3 * 3.14159265358979323846;
    const double scale = shape.radius * cbrt(volume / mn_tet_mesh_volume(mesh));
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        mn_tet_mesh_move_vertex(mesh, i, mn_scale(scale, mesh->position[i]));
    return mesh;
}

#endif
