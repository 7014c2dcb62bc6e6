// SPDX-License-Identifier: Apache-2.0
//
// Which points lie near which: points sorted into the cells of a sparse grid, and searches in it. Results
// come in an order that follows from the positions alone.
#ifndef MENISCUS_SPACE_NEIGHBOURS_H
#define MENISCUS_SPACE_NEIGHBOURS_H

#include "space/blocks.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_neighbours mn_neighbours;

/// One row of points for each query; valid until the next search. Rows come in the order of the points'
/// cells, in which they are found and best used.
typedef struct mn_neighbour_table {
    int64_t count;        ///< rows
    const int32_t *query; ///< [count] whose row it is; NULL: row i is query i's
    const int64_t *start; ///< [count + 1] row k holds point[start[k] .. start[k + 1])
    const int32_t *point;
} mn_neighbour_table;

mn_status mn_neighbours_create(mn_context *ctx, mn_neighbours **neighbours);
void mn_neighbours_free(mn_neighbours *neighbours);

/// Sorts the points (they are copied). Searches are fastest with `cell_size` equal to their radius. At most
/// 2^31 - 1 points; positions that are not finite are an error.
mn_status mn_neighbours_build(mn_neighbours *neighbours, mn_points points, double cell_size);

/// For each point built: the others nearer than `radius` or, with `radii` (one for each), than its own.
mn_status mn_neighbours_find(mn_neighbours *neighbours, double radius, const double *radii,
                             mn_neighbour_table *table);

/// For each position, in their own order: the points nearer than `radius` or radii[i].
mn_status mn_neighbours_find_at(mn_neighbours *neighbours, mn_points positions, double radius,
                                const double *radii, mn_neighbour_table *table);

/// Calls visit for every point nearer than `radius`. Many threads may search at once.
typedef void mn_neighbour_fn(void *user, int32_t point, double distance_squared);
void mn_neighbours_visit(const mn_neighbours *neighbours, mn_vec3 position, double radius,
                         mn_neighbour_fn *visit, void *user);

/// The nearest point no further than `radius` (INFINITY: however far), -1 when there is none; of several, the
/// one with the lowest number. Many threads may search at once.
int32_t mn_neighbours_nearest(const mn_neighbours *neighbours, mn_vec3 position, double radius);

#ifdef __cplusplus
}
#endif
#endif
