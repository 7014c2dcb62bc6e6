// SPDX-License-Identifier: Apache-2.0
//
// A sphere of film carried by LeVeque's field there and back (F3): points are split and merged on the way, no
// hole may open, and the sphere must come back. The velocities are set from outside, with no tension.
#include "codim/state.h"
#include "sources/film_source.h"
#include "support/film_stage.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

static mn_vec3 field(mn_vec3 x)
{
    const double a = sin(2 * pi * x.x), b = sin(2 * pi * x.y), c = sin(2 * pi * x.z);
    const double d = sin(pi * x.x), e = sin(pi * x.y), f = sin(pi * x.z);
    return mn_v3(2 * d * d * b * c, -a * e * e * c, -a * b * f * f);
}

// The midpoint rule of the case: the velocity half a step ahead.
static void carry(film_stage *stage, double way, double dt)
{
    mn_codim *mls = stage->mls;
    for (int64_t i = 0; i < mls->points.count; i++) {
        mn_codim_point *p = &mls->points.data[i];
        const mn_vec3 half = mn_axpy(p->position, 0.5 * way * dt, field(p->position));
        p->velocity = mn_scale(way, field(half));
    }
    mls->surface_is_fresh = false;
    mls->solver.energy.begun = false; // this drives it
    film_advance(stage, dt);
}

static void there_and_back(int64_t count, const char *names[4])
{
    static const mn_hooks hooks = {.max_workers = 1};
    const double R = 0.15, dt = 0.01;
    mn_context *ctx = mn_context_create(&hooks);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = R, source.center = mn_v3(0.35, 0.35, 0.35);
    source.spacing = def.spacing = sqrt(4 * pi * R * R / (double)count);
    def.sigma = 0, def.gas = false, def.max_dt = dt;
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    const double mass = film_report(&stage).value[MN_REPORT_mass][0];
    int64_t open = 0, most = 0;
    for (int step = 0; step < 122; step++) {
        carry(&stage, step < 61 ? 1 : -1, dt);
        const mn_codim_view view = mn_codim_get_view(stage.mls);
        if (view.open_edges > open) open = view.open_edges;
        if (view.count > most) most = view.count;
    }
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    double sum = 0;
    for (int64_t i = 0; i < view.count; i++)
        sum += fabs(mn_distance(view.points[i].position, source.center) - R) / R;
    validation_row_below("F3", names[0], (double)open, "edges", 0);
    validation_row_below("F3", names[1], sum / (double)view.count, "R", 0.01);
    validation_row_below("F3", names[2], fabs(film_report(&stage).value[MN_REPORT_mass][0] / mass - 1), "",
                         1e-12);
    validation_row_above("F3", names[3], (double)most, "points", (double)count);
    film_close(&stage);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    const char *coarse[4] = {"free edges at any time, 4,000 points", "mean radial error", "mass lost",
                             "points at most"};
    const char *fine[4] = {"free edges at any time, 100,000 points", "mean radial error, 100,000 points",
                           "mass lost, 100,000 points", "points at most, from 100,000"};
    there_and_back(4000, coarse);
    if (validation_long()) there_and_back(100000, fine);
    return validation_end();
}
