// SPDX-License-Identifier: Apache-2.0
//
// Solids, and regions that are filled with particles (at the end).
//
// A collider is a solid as a solver sees it: how far it is, which way is out, how it moves, and what is
// painted on it.
//
// It is made from the geometry that the `collider` node gives, once per frame:
//   - each level set named `surface` is a solid (without that name: every level set is);
//   - the vector volume `vel` that follows it in the geometry is its velocity in m/s, known near its surface.
//     A single solid may have it anywhere;
//   - polygons beside them carry painted point attributes: `contact_angle` (degrees), `friction` (Coulomb's
//     coefficient), `temperature` (K) and `slip` (below one half the solid holds what touches it, above it
//     lets it slip). Where a value is negative or not finite nothing is painted, and the solver's own counts.
// Several solids act as their union. The geometry is the solid at the end of the frame; with `before` seconds
// a query asks where the solid was that much earlier, moved back rigidly by the best fit to its velocity.
//
// Queries may run on many threads at once.
#ifndef MENISCUS_COLLIDER_H
#define MENISCUS_COLLIDER_H

#include "meniscus/array.h"
#include "meniscus/geo.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_collider mn_collider;

typedef struct mn_collider_def {
    const mn_geo *geo;     ///< kept by reference: must outlive the collider
    double velocity_scale; ///< turns the velocities of `geo` into those of the simulation: 1 / time scale
    bool paint;            ///< makes mn_collider_paint() ready; costs a tree over the polygons
} mn_collider_def;

MN_API mn_collider_def mn_collider_default_def(void);

/// Fails when the geometry holds no level set, or one that is not finite.
MN_API mn_status mn_collider_create(mn_context *ctx, const mn_collider_def *def, mn_collider **collider);
/// NULL is fine.
MN_API void mn_collider_free(mn_collider *collider);

/// What a query at one position gives.
typedef struct mn_contact {
    double
        distance;   ///< m, negative inside. Clamped to the level set's band inside; a lower bound far outside
    mn_vec3 normal; ///< unit, out of the solid; zero where the field is flat (deep inside)
    mn_vec3 velocity; ///< m/s, of the solid's material there
} mn_contact;

/// Signed distance alone, for many positions.
MN_API void mn_collider_distance(const mn_collider *collider, double before, int64_t count,
                                 const mn_vec3 *positions, double *distances);
/// To the nearest solid that moves, INFINITY when none does: what is farther than its speed takes it stays
/// untouched.
MN_API double mn_collider_moving_distance(const mn_collider *collider, double before, mn_vec3 position);
/// Everything, at one position.
MN_API mn_contact mn_collider_probe(const mn_collider *collider, double before, mn_vec3 position);
/// Where a particle that rides on the solid nearest to `position` goes within `seconds`, from `before`
/// seconds before the end of the frame on.
MN_API mn_vec3 mn_collider_carry(const mn_collider *collider, double before, double seconds,
                                 mn_vec3 position);

/// What may be painted on a solid.
typedef enum mn_paint {
    MN_PAINT_CONTACT_ANGLE, ///< degrees
    MN_PAINT_FRICTION,
    MN_PAINT_SLIP,
    MN_PAINT_TEMPERATURE, ///< K
    MN_PAINT_COUNT
} mn_paint;

/// The attribute's name.
MN_API const char *mn_paint_name(mn_paint paint);
/// Whether any solid has it, so that it is worth asking for. NULL has none.
MN_API bool mn_collider_is_painted(const mn_collider *collider, mn_paint paint);
/// The paint at the points of the polygons' surface that are nearest to the positions (at the end of the
/// frame). `fallback` where nothing is painted or the def asked for no paint.
MN_API void mn_collider_paint(const mn_collider *collider, mn_paint paint, double fallback, int64_t count,
                              const mn_vec3 *positions, double *values);
/// The same at one position, `before` seconds before the end of the frame.
MN_API double mn_collider_painted(const mn_collider *collider, mn_paint paint, double fallback, double before,
                                  mn_vec3 position);

/// The smallest voxel, the widest band (distance at which the level sets end), and the fastest material.
MN_API double mn_collider_voxel_size(const mn_collider *collider);
MN_API double mn_collider_band(const mn_collider *collider);
MN_API double mn_collider_max_speed(const mn_collider *collider);

// ---- fillings ----
//
// Particles that fill a region: one per cell of a lattice with the spacing
//
//   s = dx / particles_per_cell^(1/3)
//
// moved inside its own cell at random and kept when it lies inside the region. A lattice that is jittered
// cell by cell (stratified) has the mean density everywhere, without the clumps and holes of free random
// points. The lattice starts at the origin of the world, so regions that touch are filled without overlap,
// and for 8, 27, 64 particles per cell it fits the cells of a solver's grid.
//
// On Gauss points instead, two along each axis of every cell between half nodes, sums over particles
// integrate the quadratic splines of a grid exactly where liquid fills whole cells: a pool whose walls and
// level lie half a cell off multiples of dx can rest exactly [hyde2020] 5.3.

typedef struct mn_fill_def {
    double dx;                  ///< m, cell size of the solver that takes the particles, > 0
    int32_t particles_per_cell; ///< >= 1
    double jitter; ///< in [0, 1]: how much of its lattice cell a particle may use; 0 is the bare lattice
    uint64_t seed;
    bool gauss;            ///< 8 particles per cell on Gauss points, without jitter
    int64_t max_particles; ///< more than this is an error, before the memory is taken
} mn_fill_def;

/// 8 particles per cell, jitter 0.5, at most 200 million; dx is to be set.
MN_API mn_fill_def mn_fill_default_def(void);

/// m, the spacing s of the lattice; its mean on Gauss points.
MN_API double mn_fill_spacing(const mn_fill_def *def);

/// A region by its signed distance: negative inside, never larger in size than the true distance (a value
/// clamped to a band is fine). Called from many threads at once.
typedef struct mn_region {
    void *user;
    void (*distance)(void *user, int64_t count, const mn_vec3 *positions, double *distances);
    mn_box bounds; ///< nothing of the region is outside
} mn_region;

typedef MN_ARRAY(mn_vec3) mn_vec3_array;

/// Appends the particles, in an order that is a matter of the lattice alone. The same def and region give the
/// same bits for any number of threads.
MN_API mn_status mn_fill(mn_context *ctx, const mn_fill_def *def, const mn_region *region,
                         mn_vec3_array *positions);

#ifdef __cplusplus
}
#endif
#endif
