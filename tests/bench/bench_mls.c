// SPDX-License-Identifier: Apache-2.0
//
// Speed of core/mls: fits of the points on one thread, next to the search for the neighbours alone;
// frames of the catenoid and the bursting bubble at the sizes of the paper, with the parameters of the
// scenes; steps of a sheet fed by a jet, at three sizes.
#include "codim/cloud_fit.h"
#include "meniscus/codim.h"
#include "sources/film_source.h"
#include "sources/jet_source.h"
#include "space/blocks.h"
#include "space/neighbours.h"
#include "support/film_stage.h"
#include "support/point_clouds.h"
#include "support/sheet_stage.h"

#include <stdio.h>

enum { REPEATS = 3 };

static double assemble(mn_context *ctx, const point_cloud *cloud, double radius, int32_t degree)
{
    mn_codim_cloud_fit *o;
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    def.radius = radius, def.degree = degree;
    const mn_codim_cloud input = {cloud->count, cloud->x, cloud->toward, NULL};
    double best = 1e300;
    if (mn_codim_cloud_fit_create(ctx, &o) != MN_OK) exit(1);
    for (int r = 0; r < REPEATS; r++) {
        const double start = mn_seconds();
        if (mn_codim_cloud_fit_build(o, &def, &input) != MN_OK) exit(1);
        best = fmin(best, mn_seconds() - start);
    }
    mn_codim_cloud_fit_free(o);
    return best;
}

static double search(mn_context *ctx, const point_cloud *cloud, double radius)
{
    mn_neighbours *n;
    mn_neighbour_table table;
    double best = 1e300;
    if (mn_neighbours_create(ctx, &n) != MN_OK) exit(1);
    for (int r = 0; r < REPEATS; r++) {
        const double start = mn_seconds();
        if (mn_neighbours_build(n, mn_points_of(cloud->x, cloud->count), radius) != MN_OK) exit(1);
        if (mn_neighbours_find(n, radius, NULL, &table) != MN_OK) exit(1);
        best = fmin(best, mn_seconds() - start);
    }
    mn_neighbours_free(n);
    return best;
}

// A frame of `seconds` after one to warm up: what it takes, and where the time goes.
static void frame_of(const char *name, const mn_codim_def *def, const mn_film_source_def *source,
                     double seconds)
{
    mn_context *ctx = mn_context_create(NULL);
    film_stage stage = film_open(ctx, def, source, NULL, NULL);
    film_advance(&stage, seconds);
    const double start = mn_seconds();
    film_advance(&stage, seconds);
    const double taken = mn_seconds() - start;
    const mn_report r = film_report(&stage);
    printf("%-28s %8.0f points %4.0f steps %7.2f s a frame, %8.0f points/s a step;", name,
           r.value[MN_REPORT_particles][0], r.value[MN_REPORT_substeps][0], taken,
           r.value[MN_REPORT_particles][0] * r.value[MN_REPORT_substeps][0] / taken);
    for (int32_t i = 0; i < r.seconds.count; i++) printf(" %s %.2f", r.seconds.name[i], r.seconds.seconds[i]);
    printf("\n");
    film_close(&stage);
    mn_context_free(ctx);
}

static mn_vec3 outward(mn_vec3 x)
{
    return mn_scale(2 / hypot(x.x, x.z), mn_v3(x.x, 0, x.z));
}

// A round sheet of a jet as it stands, with its feed: some steps of a frame of the water bell, at several
// sizes to see how the cost grows.
static void sheet_steps(double spacing, double seconds)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_film_source_def source = mn_film_source_default_def();
    mn_jet_source_def jet = mn_jet_source_default_def();
    sheet_stage feed;
    jet.angle = 90, jet.radius = 0.003, jet.spacing = spacing;
    source.radius = 0.031, source.hole = 0.0045, source.thickness = 5e-5, source.pin = false;
    source.spacing = def.spacing = spacing, def.sigma = 0.072, def.viscosity = 0.001;
    sheet_open(&feed, ctx, &def, &jet);
    film_stage stage = film_open(ctx, &def, &source, NULL, outward);
    const mn_codim_inputs inputs = {.inlet_count = 1, .inlets = &feed.jet.inlet};
    const double start = mn_seconds();
    film_must(&stage, mn_codim_advance(stage.mls, &inputs, seconds), "advance");
    const double taken = mn_seconds() - start;
    const mn_report r = film_report(&stage);
    const double steps = r.value[MN_REPORT_substeps][0], points = r.value[MN_REPORT_particles][0];
    printf("%-28s %8.0f points %4.0f steps %7.3f s a step,  %8.0f points/s a step;", "sheet of a jet", points,
           steps, taken / steps, points * steps / taken);
    for (int32_t i = 0; i < r.seconds.count; i++) printf(" %s %.2f", r.seconds.name[i], r.seconds.seconds[i]);
    printf("\n");
    film_close(&stage);
    sheet_close(&feed);
    mn_context_free(ctx);
}

static void frames(void)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_CYLINDER, source.radius = 0.0512, source.height = 0.0384;
    source.spacing = def.spacing = 0.00048;
    def.sigma = 0.015, def.air_drag = 0.1;
    frame_of("catenoid", &def, &source, 0.12 / 24);
    source.kind = MN_FILM_BUBBLE, source.radius = 0.0576, source.hole = 0.012;
    source.spacing = def.spacing = 0.00076;
    def.sigma = 0.025, def.air_drag = 8;
    frame_of("bursting bubble", &def, &source, 0.04 / 24);
    sheet_steps(0.00056, 1e-3);
    sheet_steps(0.00028, 5e-4);
    sheet_steps(0.00014, 1.5e-4);
}

int main(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    point_cloud cloud = cloud_sphere(60000, 1, 0.2);
    printf("%-44s %10s %14s %10s\n", "fits, 60,000 points, one thread", "seconds", "points/s", "search");
    const struct {
        double radius;
        int32_t degree;
        const char *name;
    } cases[] = {{3.2, 2, "degree 2, radius 3.2 spacings"},
                 {4.2, 3, "degree 3, radius 4.2 spacings"},
                 {4.9, 4, "degree 4, radius 4.9 spacings"}};
    for (int i = 0; i < 3; i++) {
        const double seconds = assemble(ctx, &cloud, cases[i].radius * cloud.spacing, cases[i].degree);
        printf("%-44s %10.3f %14.0f %10.3f\n", cases[i].name, seconds, (double)cloud.count / seconds,
               search(ctx, &cloud, cases[i].radius * cloud.spacing));
    }
    cloud_free(&cloud);
    mn_context_free(ctx);
    frames();
    return 0;
}
