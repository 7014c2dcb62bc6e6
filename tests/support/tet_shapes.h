// SPDX-License-Identifier: Apache-2.0
//
// Small tetrahedral meshes for tests: a block of cubes with six tetrahedra each, optionally bent to a ball.
#ifndef MENISCUS_TESTS_SUPPORT_TET_SHAPES_H
#define MENISCUS_TESTS_SUPPORT_TET_SHAPES_H

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"

/// nx x ny x nz cubes that fill the cube of edge 1 around the origin, each cut along its main diagonal
/// (Kuhn), positive.
static inline mn_tet_mesh *tet_brick(mn_context *ctx, int32_t nx, int32_t ny, int32_t nz)
{
    static const int32_t order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    const int32_t mx = nx + 1, my = ny + 1, points = mx * my * (nz + 1), cubes = nx * ny * nz;
    mn_vec3 *x = malloc(sizeof *x * (size_t)points);
    int32_t(*tets)[4] = malloc(sizeof *tets * (size_t)(6 * cubes));
    for (int32_t i = 0; i < points; i++)
        x[i] = mn_v3((double)(i % mx) / nx - 0.5, (double)(i / mx % my) / ny - 0.5,
                     (double)(i / (mx * my)) / nz - 0.5);
    int32_t count = 0;
    const int32_t step[3] = {1, mx, mx * my};
    for (int32_t c = 0; c < cubes; c++) {
        const int32_t base = c % nx + mx * (c / nx % ny) + mx * my * (c / (nx * ny));
        for (int32_t p = 0; p < 6; p++, count++) {
            const int32_t a = base, b = a + step[order[p][0]], e = b + step[order[p][1]],
                          d = e + step[order[p][2]];
            const bool even = p < 3;
            tets[count][0] = a, tets[count][1] = b, tets[count][2] = even ? e : d,
            tets[count][3] = even ? d : e;
        }
    }
    mn_tet_mesh *mesh;
    if (mn_tet_mesh_build(ctx, points, x, count, (const int32_t(*)[4])tets, &mesh) != MN_OK) {
        fprintf(stderr, "%s\n", mn_context_message(ctx));
        abort();
    }
    free(x);
    free(tets);
    return mesh;
}

/// The same number of cubes along each axis.
static inline mn_tet_mesh *tet_block(mn_context *ctx, int32_t n)
{
    return tet_brick(ctx, n, n, n);
}

/// The block above bent smoothly to a ball of radius 1/2.
static inline mn_tet_mesh *tet_ball(mn_context *ctx, int32_t n)
{
    mn_tet_mesh *mesh = tet_block(ctx, n);
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        const mn_vec3 p = mesh->position[v];
        const double cube = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))), ball = mn_norm(p);
        if (ball > 0) mn_tet_mesh_move_vertex(mesh, v, mn_scale(1 + cube * 2 * (cube / ball - 1), p));
    }
    return mesh;
}

#endif
