// SPDX-License-Identifier: Apache-2.0
//
// Particles that fill a region: one per cell of a lattice with the spacing
//
//   s = dx / particles_per_cell^(1/3)
//
// moved inside its own cell at random and kept when it lies inside the region. A lattice that is jittered
// cell by cell (stratified) has the mean density everywhere, without the clumps and holes of free random
// points. The lattice starts at the origin of the world, so regions that touch are filled without overlap,
// and for 8, 27, 64 particles per cell it fits the cells of a solver's grid.
#ifndef MENISCUS_FILL_H
#define MENISCUS_FILL_H

#include "meniscus/array.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_fill_def {
    double dx;                  ///< m, cell size of the solver that takes the particles, > 0
    int32_t particles_per_cell; ///< >= 1
    double jitter; ///< in [0, 1]: how much of its lattice cell a particle may use; 0 is the bare lattice
    uint64_t seed;
    int64_t max_particles; ///< more than this is an error, before the memory is taken
} mn_fill_def;

/// 8 particles per cell, jitter 0.5, at most 200 million; dx is to be set.
MN_API mn_fill_def mn_fill_default_def(void);

/// m, the spacing s of the lattice.
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
