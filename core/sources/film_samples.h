// SPDX-License-Identifier: Apache-2.0
//
// Points of a film while its source makes them.
#ifndef MENISCUS_SOURCES_FILM_SAMPLES_H
#define MENISCUS_SOURCES_FILM_SAMPLES_H

#include "meniscus/array.h"
#include "sources/film_source.h"

typedef struct mn_film_source_sample {
    mn_vec3 position, normal, velocity;
    double thickness;
    int32_t pinned;
    int32_t codim; ///< MN_MLS_*; 0 is taken for film
} mn_film_source_sample;
typedef MN_ARRAY(mn_film_source_sample) mn_film_source_sample_array;

enum { MN_CODIM_FILM_SAMPLE_LIMIT = 1 << 26 };

/// Even points on the polygons of def->geo.
mn_status mn_film_source_polygons(mn_context *ctx, const mn_film_source_def *def,
                                  mn_film_source_sample_array *samples);
/// Threads along the polylines of def->geo, and a straight one down the y axis.
mn_status mn_film_source_lines(mn_context *ctx, const mn_film_source_def *def,
                               mn_film_source_sample_array *samples);
mn_status mn_film_source_thread(mn_context *ctx, const mn_film_source_def *def,
                                mn_film_source_sample_array *samples);

/// From -1 to 1, smoothly from one whole number to the next in each direction.
double mn_film_source_noise(uint64_t seed, mn_vec3 at);

#endif
