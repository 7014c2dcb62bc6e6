// SPDX-License-Identifier: Apache-2.0
//
// Bodies as a wall that a liquid touches: where they are, and how their surface and what rides on it moves
// with their nodes.
//
//   E(x) u = sum_k w_k u_k + omega(u) x (x - foot)     w: of the foot of x in its nearest triangle,
//                                                      omega: the rotation of that triangle
//   rigid bodies: the affine motion of their four nodes at x
//
// E reproduces every rigid motion, so forces that are handed on through its transpose keep both momenta
// wherever they act. Closed bodies end at their surface. Sheets have two sides: for the liquid they are as
// thick as they are, and at least `sheet` on either side, so that no grid cell sees past them.
#ifndef MENISCUS_ELASTIC_WALL_H
#define MENISCUS_ELASTIC_WALL_H

#include "meniscus/elastic.h"
#include "space/moving_solids.h"

typedef struct mn_elastic_wall mn_elastic_wall;

/// E at one place.
typedef struct mn_wall_map {
    int32_t node[4]; ///< -1 after the last
    mn_mat3 e[4];
} mn_wall_map;

/// `sheet`: m, the least that a sheet reaches to either side. `band`: m, how far away bodies are looked for.
mn_status mn_elastic_wall_create(mn_elastic *elastic, double sheet, double band, mn_elastic_wall **wall);
/// NULL is fine.
void mn_elastic_wall_free(mn_elastic_wall *wall);
/// Contact angles of all points, degrees, NULL: none are painted; borrowed.
void mn_elastic_wall_paint(mn_elastic_wall *wall, const double *contact_angle);

/// Puts the wall where the nodes `x` have it, with their velocities `u`, m/s.
mn_status mn_elastic_wall_place(mn_elastic_wall *wall, const mn_vec3 *x, const mn_vec3 *u);
mn_moving_solids mn_elastic_wall_solids(const mn_elastic_wall *wall);
/// E at x, for the body nearest to it; false when none is within the band.
bool mn_elastic_wall_map(const mn_elastic_wall *wall, mn_vec3 x, mn_wall_map *map);

/// E u
static inline mn_vec3 mn_wall_velocity(const mn_wall_map *map, const mn_vec3 *u)
{
    mn_vec3 v = {0, 0, 0};
    for (int k = 0; k < 4 && map->node[k] >= 0; k++) v = mn_add(v, mn_m3_apply(map->e[k], u[map->node[k]]));
    return v;
}

/// E^T f
static inline void mn_wall_react(const mn_wall_map *map, mn_vec3 f, mn_vec3 *to)
{
    for (int k = 0; k < 4 && map->node[k] >= 0; k++)
        to[map->node[k]] = mn_add(to[map->node[k]], mn_m3_apply(mn_m3_transpose(map->e[k]), f));
}

#endif
