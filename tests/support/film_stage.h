// SPDX-License-Identifier: Apache-2.0
//
// A film solver on a film from mn_film_source_create(), for tests.
#ifndef MENISCUS_TESTS_SUPPORT_FILM_STAGE_H
#define MENISCUS_TESTS_SUPPORT_FILM_STAGE_H

#include <stdio.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "sources/film_source.h"

typedef struct film_stage {
    mn_context *ctx;
    mn_codim *mls;
    int64_t source_count;
    mn_vec3 *anchors; ///< positions of the source's points
} film_stage;

static inline void film_must(const film_stage *stage, mn_status status, const char *what)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, mn_status_name(status), mn_context_message(stage->ctx));
    exit(1);
}

/// Positions are those that `shape` (NULL: as they are) makes of the source's.
static inline film_stage film_open(mn_context *ctx, const mn_codim_def *def, const mn_film_source_def *source,
                                   mn_vec3 (*shape)(mn_vec3 x), mn_vec3 (*speed)(mn_vec3 x))
{
    film_stage stage = {.ctx = ctx};
    mn_geo *geo = NULL;
    film_must(&stage, mn_film_source_create(ctx, source, &geo), "source");
    const int64_t n = stage.source_count = mn_geo_point_count(geo);
    mn_vec3 *x = stage.anchors = malloc(sizeof *x * (size_t)n),
            *normals = malloc(sizeof *normals * (size_t)n);
    mn_vec3 *v = malloc(sizeof *v * (size_t)n);
    double *thickness = malloc(sizeof *thickness * (size_t)n);
    uint8_t *pinned = malloc((size_t)n);
    for (int64_t i = 0; i < n; i++) {
        double held;
        x[i] = mn_geo_position(geo, i);
        if (shape) x[i] = shape(x[i]);
        v[i] = speed ? speed(x[i]) : mn_v3(0, 0, 0);
        mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "N", 3), i, 1, &normals[i].x);
        mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "pinned", 1), i, 1, &held);
        pinned[i] = held != 0;
        thickness[i] = source->thickness;
    }
    film_must(&stage, mn_codim_create(ctx, def, &stage.mls), "create");
    film_must(&stage, mn_codim_add(stage.mls, &(mn_codim_source){n, x, v, normals, thickness, pinned, NULL}),
              "add");
    free(normals), free(v), free(thickness), free(pinned);
    mn_geo_free(geo);
    return stage;
}

static inline void film_advance(film_stage *stage, double dt)
{
    film_must(stage, mn_codim_advance(stage->mls, &(mn_codim_inputs){0}, dt), "advance");
}

static inline mn_report film_report(const film_stage *stage)
{
    mn_report report = {0};
    mn_codim_report(stage->mls, &report);
    return report;
}

static inline void film_close(film_stage *stage)
{
    mn_codim_free(stage->mls);
    free(stage->anchors);
}

#endif
