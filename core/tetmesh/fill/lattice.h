// SPDX-License-Identifier: Apache-2.0
//
// The background lattice of isosurface stuffing: corners and centres of cubes, uniform or of a balanced
// octree. Coordinates are integers in units of half the smallest cube, so corners of smallest cubes are even
// and their centres odd.
#ifndef MENISCUS_TETMESH_FILL_LATTICE_H
#define MENISCUS_TETMESH_FILL_LATTICE_H

#include "tetmesh/fill/stuffing.h"

typedef struct mn_lattice_point {
    int32_t x, y, z;
} mn_lattice_point;

/// Places that are thinner than the lattice (lattice_thin.c).
typedef struct mn_thin_report {
    int64_t features, gaps;
    mn_vec3 first;
} mn_thin_report;

typedef struct mn_tet_lattice {
    mn_vec3 origin;
    double unit; ///< m
    MN_ARRAY(mn_lattice_point) points;
    MN_ARRAY(double) values;       ///< level set at the points
    MN_ARRAY(mn_tet_indices) tets; ///< positive, each with at least one point inside
    mn_thin_report thin;           ///< what lies between the points
} mn_tet_lattice;

static inline mn_vec3 mn_lattice_position(const mn_tet_lattice *lattice, mn_lattice_point p)
{
    return mn_v3(lattice->origin.x + lattice->unit * p.x, lattice->origin.y + lattice->unit * p.y,
                 lattice->origin.z + lattice->unit * p.z);
}

mn_status mn_tet_lattice_uniform(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice);
mn_status mn_tet_lattice_graded(mn_context *ctx, const mn_tet_stuffing_def *def, mn_tet_lattice *lattice);
void mn_tet_lattice_free(mn_context *ctx, mn_tet_lattice *lattice);

/// Both ends on one side of the surface, or on it; something of the other side may be in between.
typedef struct mn_thin_segment {
    mn_vec3 a, b;
    double value_a, value_b;
    bool outside; ///< where the ends are
    bool found;   ///< scratch
    double at;    ///< where the other side was found, from a to b
} mn_thin_segment;
typedef MN_ARRAY(mn_thin_segment) mn_thin_segments;

/// Adds a lattice edge when it can pass through something thin: its ends lie on one side, together nearer to
/// the surface than it is long, and the surface is not nearer still at the points behind them, as it is
/// everywhere at a smooth one. Behind: value at the next point along the edge; 0 when there is none.
mn_status mn_thin_add_edge(mn_context *ctx, mn_thin_segments *segments, const mn_thin_segment *edge,
                           double behind_a, double behind_b);
/// Counts the segments that pass through the other side between faces that look away from each other.
mn_status mn_thin_count(mn_context *ctx, const mn_tet_stuffing_def *def, mn_thin_segments *segments,
                        mn_thin_report *report);

/// Values of the level set at many places, in parallel.
mn_status mn_level_sample(mn_context *ctx, const mn_tet_stuffing_def *def, int64_t count,
                          const mn_vec3 *positions, double *values);

#endif
