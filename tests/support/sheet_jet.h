// SPDX-License-Identifier: Apache-2.0
//
// The curve of a jet from mn_jet_source_create(), as an inlet of a solver.
#ifndef MENISCUS_TESTS_SUPPORT_SHEET_JET_H
#define MENISCUS_TESTS_SUPPORT_SHEET_JET_H

#include "meniscus/meniscus.h"
#include "sources/jet_source.h"

#include <stdlib.h>

enum { SHEET_RING_MAX = 512 };

typedef struct sheet_jet {
    mn_codim_inlet inlet;
    mn_vec3 position[SHEET_RING_MAX], velocity[SHEET_RING_MAX];
    double thickness[SHEET_RING_MAX];
} sheet_jet;

/// The inlet points into *jet, which must stay where it is.
static inline mn_status sheet_jet_make(mn_context *ctx, const mn_jet_source_def *def, sheet_jet *jet)
{
    mn_geo *geo = NULL;
    MN_TRY(mn_jet_source_create(ctx, def, &geo));
    const int64_t count = mn_geo_point_count(geo);
    if (count > SHEET_RING_MAX) exit(1);
    mn_attribute_get(mn_geo_find(geo, MN_POINT, "v"), 0, count, &jet->velocity[0].x);
    mn_attribute_get(mn_geo_find(geo, MN_POINT, "thickness"), 0, count, jet->thickness);
    for (int64_t i = 0; i < count; i++) jet->position[i] = mn_geo_position(geo, i);
    jet->inlet = (mn_codim_inlet){count, jet->position, jet->velocity, jet->thickness, true};
    mn_geo_free(geo);
    return MN_OK;
}

#endif
