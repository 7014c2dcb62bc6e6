// SPDX-License-Identifier: Apache-2.0
//
// Half a ball of tetrahedra that stands on the plane y = 0, and the sphere that fits a surface best.
#ifndef MENISCUS_TESTS_SUPPORT_TET_CAP_H
#define MENISCUS_TESTS_SUPPORT_TET_CAP_H

#include <string.h>

#include "meniscus/tetmesh.h"
#include "support/tet_shapes.h"

/// n (even) cubes of six tetrahedra across; its volume is that of a ball of this radius.
static inline mn_tet_mesh *tet_half_ball(mn_context *ctx, int32_t n, double radius)
{
    mn_tet_mesh *ball = tet_ball(ctx, n), *half;
    int32_t(*tets)[4] = malloc(sizeof *tets * (size_t)ball->tet_slots), count = 0;
    for (int32_t t = 0; t < ball->tet_slots; t++) {
        double y = 0;
        for (int k = 0; k < 4; k++) y += ball->position[ball->tet[t][k]].y;
        if (y > 0) memcpy(tets[count++], ball->tet[t], sizeof tets[0]);
    }
    if (mn_tet_mesh_build(ctx, ball->vertex_slots, ball->position, count, (const int32_t(*)[4])tets, &half) !=
        MN_OK) {
        fprintf(stderr, "%s\n", mn_context_message(ctx));
        abort();
    }
    const double scale = radius * cbrt(4.0 / 3 * 3.14159265358979323846 / mn_tet_mesh_volume(half));
    for (int32_t i = 0; i < half->vertex_slots; i++)
        mn_tet_mesh_move_vertex(half, i, mn_scale(scale, half->position[i]));
    mn_tet_mesh_free(ball);
    free(tets);
    return half;
}

typedef struct fitted_sphere {
    mn_vec3 center;
    double radius, angle; ///< m; degrees at the plane y = 0, measured inside
} fitted_sphere;

/// Least squares of |x|^2 = 2 c.x + k over the boundary vertices above y = `above`.
static inline fitted_sphere fit_sphere(const mn_tet_mesh *mesh, double above)
{
    double a[4][5] = {{0}};
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mesh->position[i];
        if (!mn_tet_vertex_on_boundary(mesh, i) || x.y < above) continue;
        const double row[5] = {2 * x.x, 2 * x.y, 2 * x.z, 1, mn_norm2(x)};
        for (int p = 0; p < 4; p++)
            for (int q = 0; q < 5; q++) a[p][q] += row[p] * row[q];
    }
    for (int p = 0; p < 4; p++)
        for (int r = 0; r < 4; r++) {
            const double factor = a[r][p] / a[p][p];
            for (int q = p; r != p && q < 5; q++) a[r][q] -= factor * a[p][q];
        }
    const mn_vec3 c = mn_v3(a[0][4] / a[0][0], a[1][4] / a[1][1], a[2][4] / a[2][2]);
    const double radius = sqrt(a[3][4] / a[3][3] + mn_norm2(c));
    return (fitted_sphere){c, radius, acos(fmax(-1, fmin(1, -c.y / radius))) * 57.29577951308232};
}

#endif
