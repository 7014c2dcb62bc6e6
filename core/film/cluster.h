// SPDX-License-Identifier: Apache-2.0
//
// Clusters of bubbles from overlapping balls, as a labelled complex to start from.
#ifndef MENISCUS_FILM_CLUSTER_H
#define MENISCUS_FILM_CLUSTER_H

#include "film/remesh.h"

/// Fills `c` (initialised, empty) with the films between the balls and around them: ball i is region i + 1,
/// and a place in several balls belongs to that whose power |x - center|^2 - radius^2 is lowest. Edges are
/// about `size` long. Fails on balls that are not finite, that no film of this size can go around, or that
/// would take more than `max_cells` cells.
mn_status mn_film_cluster(mn_complex *c, int64_t count, const mn_vec3 *centers, const double *radii,
                          double size, int64_t max_cells);

#endif
