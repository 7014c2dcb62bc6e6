// SPDX-License-Identifier: Apache-2.0
//
// What walls and solids do to the velocity of a grid node.
//
//   slip      v <- v - (v.n) n
//   stick     v <- 0
//   separate  if v.n < 0: tangential part shortened by friction, |v_t| <- max(0, |v_t| + mu v.n), v.n <- 0
//
// n points into the liquid; v is relative to a solid that moves. Nodes at or behind a wall's plane, or inside
// a solid, belong to it.
#ifndef MENISCUS_MPM_BOUNDARY_H
#define MENISCUS_MPM_BOUNDARY_H

#include "meniscus/collider.h"
#include "meniscus/mpm.h"
#include "space/blocks.h"

/// Where node `cell` of `block` lies: the block table of the transfers begins half a cell above the nodes.
static inline mn_vec3 mn_mpm_node_position(const mn_block_table *table, int32_t block, int32_t cell)
{
    const double half = 0.5 * table->dx;
    return mn_sub(mn_block_node_position(table, block, cell), mn_v3(half, half, half));
}

/// The velocity that is left of `v` at a boundary that does not move, with inward normal n.
mn_vec3 mn_mpm_bound_velocity(mn_mpm_wall kind, double friction, mn_vec3 n, mn_vec3 v);

/// A boundary that a node lies at or behind.
typedef struct mn_mpm_touch {
    mn_mpm_wall kind; ///< slip, stick or separate
    mn_vec3 normal;   ///< into the liquid
    mn_vec3 velocity; ///< m/s, of the boundary
    double friction;
    bool is_solid; ///< a collider or a body, not a wall of the domain
} mn_mpm_touch;
enum { MN_MPM_TOUCH_MAX = 6 }; ///< three sides of a solid at its corner, and one wall on each axis

/// What a wall or a collider does to liquid along it.
typedef struct mn_mpm_law {
    mn_mpm_wall kind;
    double friction;
} mn_mpm_law;

/// The side with a wall that is nearest to x, -1: none; *distance is INFINITY then.
int32_t mn_mpm_nearest_side(const mn_mpm_def *def, mn_vec3 x, double *distance);
/// The law of a side of the domain, or with side -1 of the collider at x, with what is painted there.
mn_mpm_law mn_mpm_find_law(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x,
                           int32_t side);

/// The boundaries of a node; `collider` may be NULL. Returns how many.
int32_t mn_mpm_find_touches(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 node,
                            mn_mpm_touch touches[MN_MPM_TOUCH_MAX]);

/// All walls of the domain, one after the other.
mn_vec3 mn_mpm_apply_walls(const mn_mpm_def *def, mn_vec3 node, mn_vec3 v);

/// `v` at a node that may lie inside a solid, which is seen `before` seconds before the end of the frame.
mn_vec3 mn_mpm_apply_collider(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 node,
                              mn_vec3 v);
/// Whether some node of the block may lie inside a solid.
bool mn_mpm_block_meets_collider(const mn_collider *collider, double before, const mn_block_table *table,
                                 int32_t block);

/// A wall of the domain or a solid, as seen from a place.
typedef struct mn_mpm_solid {
    double distance;          ///< m, negative inside
    mn_vec3 normal, velocity; ///< into the liquid; m/s
    mn_mpm_wall kind;         ///< without what is painted on a collider
    int32_t side;             ///< of the domain; -1: a collider
} mn_mpm_solid;

enum { MN_MPM_SOLIDS_MAX = 7 };

/// Whether there is anything that liquid may rest on.
bool mn_mpm_has_solids(const mn_mpm_def *def, const mn_collider *collider);
/// All walls and solids within `reach` of x; how many.
int32_t mn_mpm_solids_near(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x,
                           double reach, mn_mpm_solid solids[MN_MPM_SOLIDS_MAX]);
/// The distance to the nearest of them; no more than that is known far away.
double mn_mpm_solid_distance(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x);

/// Whether some node of the block may lie at or behind a wall.
bool mn_mpm_block_meets_wall(const mn_mpm_def *def, const mn_block_table *table, int32_t block);

#endif
