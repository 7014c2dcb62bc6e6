// SPDX-License-Identifier: Apache-2.0
//
// Some steps of a water bell made of volume, at the size of the paper ([wang2020] table 1: 273,000 particles,
// 163,000 points of surface, which are 46 cells) and smaller: half of a shell two and a half cells thick that
// spreads, without gravity (which the paper does not say), with its tension, viscosity and speed, in the
// steps that the solver takes by itself. Processor time of one thread, so that other programs do not count;
// at last of two, with their waiting for each other. With `frame` not some steps but all of 1/24 s from the
// start.
//   bench_mls_bell [frame] [radius in cells...]
#include "support/liquid_region.h"

#include "meniscus/meniscus.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

static const double THICK = 2.5;                                  // cells
static const double FRAME = 1.0 / 24, WARM = 0.002, SPAN = 0.006; // s

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

typedef struct shell {
    double radius, dx;
} shell;

static void shell_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const shell *s = user;
    for (int64_t i = 0; i < count; i++)
        d[i] = fmax(fabs(mn_norm(x[i]) - s->radius) - 0.5 * THICK * s->dx, -x[i].y);
}

static mn_codim *bell(mn_context *ctx, shell *s)
{
    const double side = s->radius + THICK * s->dx;
    const mn_region region = {s, shell_distance, {mn_v3(-side, -s->dx, -side), mn_v3(side, side, side)}};
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_fill_def fill = mn_fill_default_def();
    mn_vec3_array x = {0};
    mn_codim *mls;
    def.dx = fill.dx = s->dx, def.spacing = 0.5 * s->dx, def.sigma = 0.0075, def.viscosity = 1e-4,
    def.gravity = mn_v3(0, 0, 0);
    must(ctx, mn_codim_create(ctx, &def, &mls));
    must(ctx, mn_fill(ctx, &fill, &region, &x));
    double *mass = malloc((size_t)x.count * sizeof *mass);
    mn_vec3 *v = malloc((size_t)x.count * sizeof *v);
    for (int64_t i = 0; i < x.count; i++) { // along the shell, out and down
        const double r = hypot(x.data[i].x, x.data[i].z), up = x.data[i].y / (r > 0 ? r : 1);
        mass[i] = def.density * pow(0.5 * s->dx, 3);
        v[i] = mn_scale(0.12 / s->radius, mn_v3(x.data[i].x * up, -r, x.data[i].z * up));
    }
    must(ctx, mn_codim_add_liquid(mls, &(mn_codim_liquid){x.count, x.data, v, mass, &region}));
    free(mass), free(v);
    mn_array_free(ctx, &x);
    return mls;
}

static void steps(double cells, int32_t workers, bool whole)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    shell s = {.dx = 0.001, .radius = 0.001 * cells};
    mn_codim *mls = bell(ctx, &s);
    const double span = whole ? FRAME : SPAN;
    if (!whole) must(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, WARM));
    const clock_t start = clock();
    const double wall = mn_seconds();
    must(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, span));
    const double taken = (double)(clock() - start) / CLOCKS_PER_SEC, waited = mn_seconds() - wall;
    mn_report r = {0};
    mn_codim_report(mls, &r);
    const mn_codim_view view = mn_codim_get_view(mls);
    const double count = r.value[MN_REPORT_substeps][0], per = taken / count;
    printf("bell of %5.1f cells, %d threads: %7lld particles %7lld skin %6lld film; %2.0f steps in %.0f ms, "
           "%6.2f CPU s a step (%.2f waited), %6.1f CPU s for 1/24 s, %5.0f iterations a step;",
           cells, workers, (long long)view.particle_count, (long long)view.skin_count, (long long)view.count,
           count, 1e3 * span, per, waited / count, taken * FRAME / span,
           r.value[MN_REPORT_linear_iterations][0] / count);
    for (int32_t i = 0; i < r.seconds.count; i++) printf(" %s %.2f", r.seconds.name[i], r.seconds.seconds[i]);
    printf("\n");
    mn_codim_free(mls);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    const bool whole = argc > 1 && strcmp(argv[1], "frame") == 0;
    const int first = 1 + whole;
    for (int i = first; i < argc; i++) steps(atof(argv[i]), 1, whole);
    for (int i = 0; i < 3 && argc == first; i++) steps(11.5 * (1 << i), 1, whole);
    steps(argc > first ? atof(argv[argc - 1]) : 23, 2, whole);
    return 0;
}
