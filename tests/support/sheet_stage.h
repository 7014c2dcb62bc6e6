// SPDX-License-Identifier: Apache-2.0
//
// A film solver fed by a jet from mn_jet_source_create(), for tests.
#ifndef MENISCUS_TESTS_SUPPORT_SHEET_STAGE_H
#define MENISCUS_TESTS_SUPPORT_SHEET_STAGE_H

#include <stdio.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "sources/jet_source.h"

enum { SHEET_RING_MAX = 512 };

typedef struct sheet_stage {
    mn_context *ctx;
    mn_codim *mls;
    mn_codim_inlet inlet;
    mn_vec3 position[SHEET_RING_MAX], velocity[SHEET_RING_MAX];
    double thickness[SHEET_RING_MAX];
} sheet_stage;

static inline void sheet_must(const sheet_stage *s, mn_status status, const char *what)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s: %s\n", what, mn_status_name(status), mn_context_message(s->ctx));
    exit(1);
}

static inline void sheet_open(sheet_stage *s, mn_context *ctx, const mn_codim_def *def,
                              const mn_jet_source_def *jet)
{
    mn_geo *geo = NULL;
    s->ctx = ctx;
    sheet_must(s, mn_jet_source_create(ctx, jet, &geo), "jet");
    const int64_t count = mn_geo_point_count(geo);
    if (count > SHEET_RING_MAX) exit(1);
    mn_attribute_get(mn_geo_find(geo, MN_POINT, "v"), 0, count, &s->velocity[0].x);
    mn_attribute_get(mn_geo_find(geo, MN_POINT, "thickness"), 0, count, s->thickness);
    for (int64_t i = 0; i < count; i++) s->position[i] = mn_geo_position(geo, i);
    s->inlet = (mn_codim_inlet){count, s->position, s->velocity, s->thickness, true};
    mn_geo_free(geo);
    sheet_must(s, mn_codim_create(ctx, def, &s->mls), "create");
}

static inline void sheet_advance(sheet_stage *s, double dt)
{
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &s->inlet};
    sheet_must(s, mn_codim_advance(s->mls, &inputs, dt), "advance");
}

static inline mn_report sheet_report(const sheet_stage *s)
{
    mn_report report = {0};
    mn_codim_report(s->mls, &report);
    return report;
}

static inline void sheet_close(sheet_stage *s)
{
    mn_codim_free(s->mls);
}

#endif
