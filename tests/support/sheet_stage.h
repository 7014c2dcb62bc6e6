// SPDX-License-Identifier: Apache-2.0
//
// A film solver fed by a jet from mn_jet_source_create(), for tests.
#ifndef MENISCUS_TESTS_SUPPORT_SHEET_STAGE_H
#define MENISCUS_TESTS_SUPPORT_SHEET_STAGE_H

#include "support/sheet_jet.h"

#include <stdio.h>

typedef struct sheet_stage {
    mn_context *ctx;
    mn_codim *mls;
    sheet_jet jet;
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
    s->ctx = ctx;
    sheet_must(s, sheet_jet_make(ctx, jet, &s->jet), "jet");
    sheet_must(s, mn_codim_create(ctx, def, &s->mls), "create");
}

static inline void sheet_advance(sheet_stage *s, double dt)
{
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &s->jet.inlet};
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
