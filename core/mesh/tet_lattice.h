// SPDX-License-Identifier: Apache-2.0
//
// The background lattice of isosurface stuffing: corners and centres of cubes, uniform or of a balanced
// octree. Coordinates are integers in units of half the smallest cube, so corners of smallest cubes are even
// and their centres odd.
#ifndef MENISCUS_MESH_TET_LATTICE_H
#define MENISCUS_MESH_TET_LATTICE_H

#include "meniscus/tet_stuffing.h"

typedef struct mn_lattice_point {
    int32_t x, y, z;
} mn_lattice_point;

typedef struct mn_tet_lattice {
    mn_vec3 origin;
    double unit; ///< m
    MN_ARRAY(mn_lattice_point) points;
    MN_ARRAY(double) values;       ///< level set at the points
    MN_ARRAY(mn_tet_indices) tets; ///< positive, each with at least one point inside
    int64_t lost_features, lost_gaps;
    mn_vec3 first_lost;
} mn_tet_lattice;

static inline mn_vec3 mn_lattice_position(const mn_tet_lattice *lattice, mn_lattice_point p)
{
    return mn_v3(lattice->origin.x + lattice->unit * p.x, lattice->origin.y + lattice->unit * p.y,
                 lattice->origin.z + lattice->unit * p.z);
}

mn_status mn_tet_lattice_uniform(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice);
mn_status mn_tet_lattice_graded(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice);
void mn_tet_lattice_free(mn_context *ctx, mn_tet_lattice *lattice);

/// The middle of an edge along an axis whose ends lie on one side and nearer to the surface than the edge is
/// long: for a true distance only such an edge can pass through the other side.
typedef struct mn_lattice_middle {
    mn_vec3 position;
    bool outside; ///< where the ends are
} mn_lattice_middle;
typedef MN_ARRAY(mn_lattice_middle) mn_lattice_middles;

/// Counts the middles that lie on the other side: features and gaps thinner than the lattice.
mn_status mn_lattice_look_between(mn_context *ctx, const mn_tet_stuffing_def *def,
                                  const mn_lattice_middles *middles, mn_tet_lattice *lattice);

/// Values of the level set at many places, in parallel.
mn_status mn_level_sample(mn_context *ctx, const mn_tet_stuffing_def *def, int64_t count,
                          const mn_vec3 *positions, double *values);

#endif
