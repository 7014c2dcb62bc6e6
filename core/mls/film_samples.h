// SPDX-License-Identifier: Apache-2.0
//
// Points of a film while its source makes them.
#ifndef MENISCUS_MLS_FILM_SAMPLES_H
#define MENISCUS_MLS_FILM_SAMPLES_H

#include "meniscus/array.h"
#include "meniscus/film_source.h"

typedef struct film_sample {
    mn_vec3 position, normal, velocity;
    double thickness;
    int32_t pinned;
    int32_t codim; ///< MN_MLS_*; 0 is taken for film
} film_sample;
typedef MN_ARRAY(film_sample) film_sample_array;

enum { FILM_SAMPLE_LIMIT = 1 << 26 };

/// Even points on the polygons of def->geo.
mn_status film_sample_polygons(mn_context *ctx, const mn_film_source_def *def, film_sample_array *samples);
/// Threads along the polylines of def->geo, and a straight one down the y axis.
mn_status film_sample_lines(mn_context *ctx, const mn_film_source_def *def, film_sample_array *samples);
mn_status film_sample_thread(mn_context *ctx, const mn_film_source_def *def, film_sample_array *samples);

/// From -1 to 1, smoothly from one whole number to the next in each direction.
double film_noise(uint64_t seed, mn_vec3 at);

#endif
