// SPDX-License-Identifier: Apache-2.0
//
// A brick of a body-centred cubic lattice: corners and centres of nx x ny x nz cubes, 12 tetrahedra a cube.
#ifndef MENISCUS_TESTS_SUPPORT_TET_LATTICE_BRICK_H
#define MENISCUS_TESTS_SUPPORT_TET_LATTICE_BRICK_H

#include <stdio.h>
#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"

/// Cubes of this edge from the origin on. `jitter`, of the edge, moves what is inside. Between the cubes
/// below `plane` along y and those above it, all faces lie in that plane; 0: no such plane.
static inline mn_tet_mesh *tet_lattice_layers(mn_context *ctx, int32_t nx, int32_t ny, int32_t nz,
                                              double edge, double jitter, int32_t plane)
{
    const int32_t n[3] = {nx, ny, nz}, m[3] = {nx + 1, ny + 1, nz + 1};
    const int32_t corners = m[0] * m[1] * m[2], cubes = nx * ny * nz, points = corners + cubes;
    mn_vec3 *x = malloc(sizeof *x * (size_t)points);
    int32_t(*tets)[4] = malloc(sizeof *tets * (size_t)(24 * cubes)), count = 0;
    for (int32_t i = 0; i < points; i++) {
        const bool corner = i < corners;
        const int32_t c = corner ? i : i - corners, *size = corner ? m : n;
        const int32_t at[3] = {c % size[0], c / size[0] % size[1], c / (size[0] * size[1])};
        double p[3];
        bool inside = true;
        for (int a = 0; a < 3; a++) {
            p[a] = at[a] + (corner ? 0 : 0.5);
            inside = inside && p[a] > 0 && p[a] < n[a] && !(a == 1 && corner && at[a] == plane);
        }
        for (int a = 0; a < 3 && inside; a++)
            p[a] += jitter * (2 * mn_random_unit(7, (uint64_t)i, (uint64_t)a) - 1);
        x[i] = mn_v3(edge * p[0], edge * p[1], edge * p[2]);
    }
    for (int32_t axis = 0; axis < 3; axis++) {
        const int32_t b = (axis + 1) % 3, c = (axis + 2) % 3;
        const int32_t step[3] = {1, m[0], m[0] * m[1]}, cube_step[3] = {1, n[0], n[0] * n[1]};
        for (int32_t i = 0; i <= n[axis]; i++)
            for (int32_t j = 0; j < n[b]; j++)
                for (int32_t k = 0; k < n[c]; k++) {
                    // The square across `axis` between two cubes, counter-clockwise seen from above.
                    const int32_t base = i * step[axis] + j * step[b] + k * step[c];
                    const int32_t square[4] = {base, base + step[b], base + step[b] + step[c],
                                               base + step[c]};
                    const int32_t above = corners + i * cube_step[axis] + j * cube_step[b] + k * cube_step[c],
                                  below = above - cube_step[axis];
                    if (i > 0 && i < n[axis] && !(axis == 1 && i == plane)) {
                        for (int e = 0; e < 4; e++, count++)
                            tets[count][0] = below, tets[count][1] = above, tets[count][2] = square[e],
                            tets[count][3] = square[(e + 1) % 4];
                        continue;
                    }
                    const int turn = (j + k) % 2; // diagonals alternate
                    for (int e = 0; e < 4; e++) {
                        const int32_t p = square[(turn + 2 * e) % 4], q = square[(turn + 2 * e + 1) % 4],
                                      r = square[(turn + 2 * e + 2) % 4];
                        if (e < 2 ? i == n[axis] : i == 0) continue; // no cube on that side
                        tets[count][0] = e < 2 ? above : below, tets[count][1] = p, tets[count][2] = q,
                        tets[count][3] = r;
                        count++;
                    }
                }
    }
    for (int32_t t = 0; t < count; t++)
        if (mn_tet_volume(x[tets[t][0]], x[tets[t][1]], x[tets[t][2]], x[tets[t][3]]) < 0) {
            const int32_t swap = tets[t][2];
            tets[t][2] = tets[t][3], tets[t][3] = swap;
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

static inline mn_tet_mesh *tet_lattice_brick(mn_context *ctx, int32_t nx, int32_t ny, int32_t nz, double edge,
                                             double jitter)
{
    return tet_lattice_layers(ctx, nx, ny, nz, edge, jitter, 0);
}

#endif
