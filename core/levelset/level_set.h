// SPDX-License-Identifier: Apache-2.0
//
// A narrow-band level set on sparse blocks, and the surface of particles: union of spheres, redistance,
// smooth, find the bodies, shift each so that it holds the volume it should.
//
//   mn_level_set_union(set, &def, points);            phi = min |x - x_p| - r_p
//   mn_level_set_redistance(set);                     |grad phi| = 1 on both sides, zero level kept
//   mn_level_set_smooth(set, 1);
//   mn_level_set_find_bodies(set);
//   mn_level_set_bodies_of_points(set, points, body); sum the volumes of each body's particles, then
//   mn_level_set_calibrate(set, volumes, NULL);       the zero level encloses just these volumes
//
// Never shift a raw union inward: between its particles phi is hardly below zero, and holes open there.
// Redistance first.
//
// phi lives at nodes (see blocks.h), negative inside, in metres, within +-band of the surface; beyond, it is
// +band or -band. Nodes of blocks that do not exist are outside. Blocks deep inside exist, hold -band and are
// skipped by every stage, so the work follows the surface.
#ifndef MENISCUS_LEVELSET_LEVEL_SET_H
#define MENISCUS_LEVELSET_LEVEL_SET_H

#include "space/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_level_set mn_level_set;

typedef struct mn_union_def {
    mn_vec3 origin; ///< m, of node (0, 0, 0)
    double dx;      ///< m, spacing of the nodes, > 0
    double band;    ///< half width of the band in cells, 1 to 4
    double
        radius; ///< m, of every sphere when `radii` is NULL, > 0; at least 0.867 dx so that each holds a node
    const double *radii; ///< m, one for each point, > 0; NULL: all `radius`
} mn_union_def;

/// dx 0 and radius 0 (to be set), band 3.
mn_union_def mn_union_default_def(void);

/// A connected piece of phi < 0 (nodes joined by the edges of marching tetrahedra).
typedef struct mn_body {
    double volume;      ///< m^3, enclosed by the zero level and not solid
    double area;        ///< m^2, of the zero level outside of the solid, cavities included
    double wetted;      ///< m^2, of the solid's surface inside of the zero level
    double shift;       ///< m, what was added to phi so far by calibration
    int32_t first_node; ///< block * 64 + cell of its first node
} mn_body;

/// What callers read; valid until the next stage runs.
typedef struct mn_level_set_view {
    mn_block_table blocks;
    double band;           ///< m
    double *phi;           ///< m, [blocks.count * 64]; may be written between stages
    const int32_t *active; ///< blocks that are not deep inside, rising
    int32_t active_count;
    const mn_body *bodies; ///< numbered by their first node
    int32_t body_count;
    /// [blocks.count * 64] whose node it is: of its own body inside, of a near one outside, -1 beyond. NULL
    /// before mn_level_set_find_bodies.
    const int32_t *node_body;
    /// [blocks.count * 64] m, distance from the solid, in blocks with cut[block] != 0 only; NULL without one.
    const double *solid;
    const uint8_t *cut;
} mn_level_set_view;

mn_status mn_level_set_create(mn_context *ctx, mn_level_set **set);
void mn_level_set_free(mn_level_set *set);
mn_level_set_view mn_level_set_get(const mn_level_set *set);
const mn_blocks *mn_level_set_blocks(const mn_level_set *set);

/// phi = min over points of |x - x_p| - r_p, exact at every node that has one of its 26 neighbours on the
/// other side; all others are +band or -band, which redistance fills in. Positions and radii that are not
/// finite, and radii of zero or less, are errors.
mn_status mn_level_set_union(mn_level_set *set, const mn_union_def *def, mn_points points);

/// phi from a function on given blocks (and a ring of blocks around them), clamped to +-band cells.
typedef double mn_field_fn(void *user, mn_vec3 x);
mn_status mn_level_set_fill(mn_level_set *set, mn_vec3 origin, double dx, double band, int64_t block_count,
                            const mn_ivec3 *block_coords, mn_field_fn *phi, void *user);

/// Makes phi the distance to its own zero level, on both sides, to the band's width.
mn_status mn_level_set_redistance(mn_level_set *set);

/// `passes` times: phi averaged with its 26 neighbours, weights (1 2 1)/4 along each axis.
mn_status mn_level_set_smooth(mn_level_set *set, int32_t passes);

/// phi += shift. Outward (negative) shifts are as good as the band is wide.
mn_status mn_level_set_shift(mn_level_set *set, double shift);

/// A solid that the liquid ends at: from now on volumes and areas count only what lies outside of it
/// (distance > 0). phi must go on smoothly for a few cells into it. NULL: no solid, as after every new phi.
mn_status mn_level_set_set_solid(mn_level_set *set, mn_field_fn *distance, void *user);

/// Ends phi < 0 so many metres inside of the solid. Bodies have to be found again; blocks that were deep
/// inside and are cut are so no more.
mn_status mn_level_set_cut_solid(mn_level_set *set, double depth);

/// The solid's distance in dx at the corners of the cells of a block (with cut != 0).
void mn_level_set_load_solid(const mn_level_set *set, int32_t block, double solid[5][5][5]);

/// Connected pieces of phi < 0. Their volume and area are zero until measured or calibrated.
mn_status mn_level_set_find_bodies(mn_level_set *set);

/// Volume and area of every body again, as phi is now; labels stay.
mn_status mn_level_set_measure(mn_level_set *set);

/// The fraction of each cell, [blocks.count * 64], that is inside and not solid.
mn_status mn_level_set_fractions(mn_level_set *set, double *fraction);

/// body[i] = the body that point i lies in or nearest to, -1 when there is none next to it.
mn_status mn_level_set_bodies_of_points(mn_level_set *set, mn_points points, int32_t *body);

/// Adds to phi, body by body, the shift with which it encloses volumes[body] (m^3, > 0), to 1e-6 of it.
/// A body that cannot (its last node would be lost, or the band is too narrow) gets as near as it can.
/// `guess` (m, may be NULL) is where to start, the last step's shift.
mn_status mn_level_set_calibrate(mn_level_set *set, const double *volumes, const double *guess);

/// Trilinear phi, and its gradient (may be NULL), at `count` positions; +band in blocks that do not exist.
mn_status mn_level_set_sample(mn_level_set *set, mn_points positions, double *phi, mn_vec3 *gradient);

#ifdef __cplusplus
}
#endif
#endif
