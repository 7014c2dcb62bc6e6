// SPDX-License-Identifier: Apache-2.0
//
// Bodies for tests of elastic_solver: blocks and balls of tetrahedra, sheets and boxes of triangles, and sums
// over their points.
#ifndef MENISCUS_TESTS_SUPPORT_ELASTIC_SHAPES_H
#define MENISCUS_TESTS_SUPPORT_ELASTIC_SHAPES_H

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "meniscus/elastic.h"

enum { SHAPE_POINTS = 20000, SHAPE_ELEMENTS = 40000 };

typedef struct elastic_shape {
    int32_t points, elements;
    mn_vec3 x[SHAPE_POINTS], v[SHAPE_POINTS];
    int32_t tet[SHAPE_ELEMENTS][4], triangle[SHAPE_ELEMENTS][3];
    uint8_t pinned[SHAPE_POINTS];
} elastic_shape;

static inline elastic_shape *shape_create(void)
{
    return calloc(1, sizeof(elastic_shape));
}

/// A block of nx ny nz cells of six tetrahedra around `center`.
static inline void shape_block(elastic_shape *s, mn_vec3 center, mn_vec3 size, int nx, int ny, int nz)
{
    static const int cut[6][4] = {{0, 1, 3, 7}, {0, 3, 2, 7}, {0, 2, 6, 7},
                                  {0, 6, 4, 7}, {0, 4, 5, 7}, {0, 5, 1, 7}};
    memset(s, 0, sizeof *s);
    for (int k = 0; k <= nz; k++)
        for (int j = 0; j <= ny; j++)
            for (int i = 0; i <= nx; i++)
                s->x[s->points++] = mn_v3(center.x + size.x * ((double)i / nx - 0.5),
                                          center.y + size.y * ((double)j / ny - 0.5),
                                          center.z + size.z * ((double)k / nz - 0.5));
    for (int k = 0; k < nz; k++)
        for (int j = 0; j < ny; j++)
            for (int i = 0; i < nx; i++)
                for (int t = 0; t < 6; t++, s->elements++)
                    for (int c = 0; c < 4; c++) {
                        const int b = cut[t][c];
                        s->tet[s->elements][c] =
                            (i + (b & 1)) + (nx + 1) * ((j + (b >> 1 & 1)) + (ny + 1) * (k + (b >> 2 & 1)));
                    }
}

/// The same block pulled into a ball.
static inline void shape_ball(elastic_shape *s, mn_vec3 center, double radius, int n)
{
    shape_block(s, mn_v3(0, 0, 0), mn_v3(2, 2, 2), n, n, n);
    for (int32_t i = 0; i < s->points; i++) {
        const mn_vec3 p = s->x[i];
        const double most = fmax(fabs(p.x), fmax(fabs(p.y), fabs(p.z))), length = mn_norm(p);
        // between the cube and the ball inside, so that tetrahedra at the old corners keep a volume
        const double pull = length > 0 ? 1 + most * (most / length - 1) : 1;
        s->x[i] = mn_axpy(center, radius * pull, p);
    }
}

/// A sheet of nx nz cells in the plane of x and z, diagonals alternating.
static inline void shape_sheet(elastic_shape *s, mn_vec3 center, double width, double depth, int nx, int nz)
{
    memset(s, 0, sizeof *s);
    for (int k = 0; k <= nz; k++)
        for (int i = 0; i <= nx; i++)
            s->x[s->points++] = mn_v3(center.x + width * ((double)i / nx - 0.5), center.y,
                                      center.z + depth * ((double)k / nz - 0.5));
    for (int k = 0; k < nz; k++)
        for (int i = 0; i < nx; i++) {
            const int32_t a = i + (nx + 1) * k, b = a + 1, c = a + nx + 1, d = c + 1;
            const int32_t even[2][3] = {{a, c, d}, {a, d, b}}, odd[2][3] = {{a, c, b}, {b, c, d}};
            memcpy(s->triangle[s->elements], (i + k) % 2 ? odd : even, sizeof even);
            s->elements += 2;
        }
}

/// A box of twelve triangles.
static inline void shape_box(elastic_shape *s, mn_vec3 center, mn_vec3 size)
{
    static const int32_t faces[12][3] = {{0, 2, 3}, {0, 3, 1}, {4, 5, 7}, {4, 7, 6}, {0, 1, 5}, {0, 5, 4},
                                         {2, 6, 7}, {2, 7, 3}, {0, 4, 6}, {0, 6, 2}, {1, 3, 7}, {1, 7, 5}};
    memset(s, 0, sizeof *s);
    for (int i = 0; i < 8; i++)
        s->x[s->points++] =
            mn_v3(center.x + size.x * ((i & 1) - 0.5), center.y + size.y * ((i >> 1 & 1) - 0.5),
                  center.z + size.z * ((i >> 2 & 1) - 0.5));
    memcpy(s->triangle, faces, sizeof faces);
    s->elements = 12;
}

/// v = shift + turn x (x - center) everywhere.
static inline void shape_move(elastic_shape *s, mn_vec3 center, mn_vec3 shift, mn_vec3 turn)
{
    for (int32_t i = 0; i < s->points; i++) s->v[i] = mn_add(shift, mn_cross(turn, mn_sub(s->x[i], center)));
}

static inline void shape_turn(elastic_shape *s, mn_mat3 turn, mn_vec3 about)
{
    for (int32_t i = 0; i < s->points; i++)
        s->x[i] = mn_add(about, mn_m3_apply(turn, mn_sub(s->x[i], about)));
}

static inline mn_elastic_body shape_body(const elastic_shape *s, mn_elastic_kind kind)
{
    return (mn_elastic_body){.kind = kind,
                             .point_count = s->points,
                             .positions = s->x,
                             .velocities = s->v,
                             .pinned = s->pinned,
                             .element_count = s->elements,
                             .tetrahedra = (const int32_t(*)[4])s->tet,
                             .triangles = (const int32_t(*)[3])s->triangle};
}

#endif
