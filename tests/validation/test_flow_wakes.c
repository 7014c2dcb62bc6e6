// SPDX-License-Identifier: Apache-2.0
//
// Flow past things, in two dimensions: the standing waves of a stream over a rod against the dispersion
// relation (W9), and the vortex street behind a cylinder (W10).
//
//   U^2 = g / k + sigma k / rho      ripples ahead, waves behind; none when U is below the slowest wave
//   St  = f D / U                    0.164 to 0.167 at Re = 100
#include <math.h>
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "support/analytic_volume.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;
static const mn_hooks one_worker = {.max_workers = 1};

static void check(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static mn_vec3 uniform(void *user, mn_vec3 x)
{
    (void)x;
    return *(const mn_vec3 *)user;
}

static void rod_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = hypot(x.x - v->a.x, x.y - v->a.y) - v->r;
}

/// A rod along z as a collider; both for the caller to free.
static mn_collider *rod(mn_context *ctx, mn_vec3 center, double radius, double dx, mn_geo **geo)
{
    mn_collider_def def = mn_collider_default_def();
    mn_collider *collider = NULL;
    const mn_volume volume = analytic_ball(center, fmax(radius, dx), dx);
    ((analytic_volume *)volume.handle)->value = rod_value;
    check(ctx, mn_geo_create(ctx, geo));
    check(ctx, analytic_add(*geo, volume));
    def.geo = *geo;
    check(ctx, mn_collider_create(ctx, &def, &collider));
    return collider;
}

// ---- W9 ----

typedef struct stream {
    double speed, dx, length, depth; ///< m/s, m
    double rod_x, rod_depth, rod_radius;
    double seconds;
} stream;

static double height_at(const mn_flow *flow, double x, double low, double high)
{
    for (int32_t k = 0; k < 60; k++) {
        const double middle = 0.5 * (low + high);
        if (mn_flow_distance_at(flow, mn_v3(x, middle, 0)) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

enum { SAMPLES = 2000 };

/// The water's height along the box after s.seconds, above its level; without a rod when its radius is 0.
static double run_stream(stream s, double height[SAMPLES])
{
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = s.dx, def.density = 998, def.sigma = 0.072,
    def.cfl = 1;
    def.boundary = MN_FLOW_TUNNEL, def.stream = mn_v3(s.speed, 0, 0), def.max_substeps = 1000000;
    const double top = ceil(s.depth / s.dx + 8) * s.dx;
    def.domain_size = mn_v3(s.length, top, s.dx), def.domain_center = mn_v3(0.5 * s.length, 0.5 * top, 0);
    def.use_level = true, def.level = s.depth;
    mn_geo *geo = NULL;
    mn_collider *collider =
        rod(ctx, mn_v3(s.rod_x, s.depth - s.rod_depth, 0.5 * s.dx), s.rod_radius, s.dx, &geo);
    const mn_solver_inputs inputs = {.collider = s.rod_radius > 0 ? collider : NULL};
    mn_flow *flow = NULL;
    mn_vec3 velocity = {s.speed, 0, 0};
    check(ctx, mn_flow_create(ctx, &def, &inputs, &flow));
    check(ctx, mn_flow_set_velocity(flow, uniform, &velocity));
    check(ctx, mn_flow_advance(flow, &inputs, s.seconds));
    for (int32_t k = 0; k < SAMPLES; k++)
        height[k] = height_at(flow, s.length * (k + 0.5) / SAMPLES, 0.3 * s.depth, top - s.dx) - s.depth;
    mn_report report = {0};
    mn_flow_report(flow, &report);
    mn_flow_free(flow);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
    return report.value[MN_REPORT_max_speed][0];
}

/// Water that nothing stands in comes in and leaves as it is.
static void uniform_stream(void)
{
    const char *name = "flow, uniform stream of water through a tunnel, 0.1 s";
    if (!validation_wanted("W9", name)) return;
    const stream s = {
        .speed = 0.3, .dx = 1e-3, .length = 0.04, .depth = 0.0143, .rod_x = 0.02, .seconds = 0.1};
    double height[SAMPLES], most = 0;
    const double speed = run_stream(s, height);
    for (int32_t k = 0; k < SAMPLES; k++) most = fmax(most, fabs(height[k]));
    validation_row_below("W9", name, fabs(speed / s.speed - 1), "of the speed", 1e-4);
    validation_row_below("W9", name, most / s.dx, "cells of height", 1e-3);
}

typedef struct bump {
    double x, level, height, width;
} bump;

static double below_bump(void *user, mn_vec3 x)
{
    const bump *b = user;
    const double s = (x.x - b->x) / b->width;
    return x.y - b->level - b->height * exp(-s * s);
}

/// The waves of a bump run on a stream as on still water: they do not grow as they are carried along.
static void carried_bump(void)
{
    const char *name =
        "flow, waves of a bump on a stream of 0.3 m/s, their speed after 60 ms of that after 20 ms";
    if (!validation_wanted("W9", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow_def def = mn_flow_default_def();
    const double speed = 0.3;
    bump b = {.x = 0.008, .level = 0.008, .height = 7e-4, .width = 2e-3};
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = 5e-4, def.density = 998, def.sigma = 0.072,
    def.cfl = 1;
    def.boundary = MN_FLOW_TUNNEL, def.stream = mn_v3(speed, 0, 0), def.max_substeps = 1000000;
    def.domain_size = mn_v3(0.036, 0.012, def.dx), def.domain_center = mn_v3(0.018, 0.006, 0);
    def.use_level = true, def.level = b.level;
    const mn_solver_inputs inputs = {0};
    mn_flow *flow = NULL;
    mn_vec3 velocity = {speed, 0, 0};
    check(ctx, mn_flow_create(ctx, &def, &inputs, &flow));
    check(ctx, mn_flow_set_surface(flow, below_bump, &b));
    check(ctx, mn_flow_set_velocity(flow, uniform, &velocity));
    double excess[2];
    for (int32_t k = 0; k < 2; k++) {
        mn_report report = {0};
        check(ctx, mn_flow_advance(flow, &inputs, k ? 0.04 : 0.02));
        mn_flow_report(flow, &report);
        excess[k] = report.value[MN_REPORT_max_speed][0] - speed;
    }
    validation_row_below("W9", name, excess[1] / excess[0], "of it", 1);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

/// The mean distance between the crests in a window of x, crests by parabolas; 0 without two of them.
static double wavelength(const double *height, double length, double from, double to, int32_t *count)
{
    double first = 0, last = 0;
    *count = 0;
    for (int32_t k = 1; k + 1 < SAMPLES; k++) {
        const double x = length * (k + 0.5) / SAMPLES;
        if (x < from || x > to || height[k] <= height[k - 1] || height[k] < height[k + 1]) continue;
        const double bend = height[k - 1] - 2 * height[k] + height[k + 1];
        const double crest = x + 0.5 * length / SAMPLES * (height[k - 1] - height[k + 1]) / bend;
        if ((*count)++ == 0) first = crest;
        last = crest;
    }
    return *count > 1 ? (last - first) / (*count - 1) : 0;
}

static double roughness(const double *height, double length, double from, double to)
{
    double sum = 0, square = 0;
    int32_t n = 0;
    for (int32_t k = 0; k < SAMPLES; k++) {
        const double x = length * (k + 0.5) / SAMPLES;
        if (x < from || x > to) continue;
        sum += height[k], square += height[k] * height[k], n++;
    }
    return sqrt(fmax(square / n - sum / n * sum / n, 0));
}

static double free_wave(double speed, bool gravity)
{
    const double g = 9.81, tension = 0.072 / 998, root = sqrt(pow(speed, 4) - 4 * g * tension);
    return 2 * pi / ((speed * speed + (gravity ? -root : root)) / (2 * tension));
}

static void ripples_ahead(double speed, double cells)
{
    char name[96];
    snprintf(name, sizeof name, "flow, stream of %g m/s over a rod, ripples ahead, %g cells each", speed,
             cells);
    if (!validation_wanted("W9", name)) return;
    const double expected = free_wave(speed, false);
    const stream s = {.speed = speed,
                      .dx = expected / cells,
                      .length = 12 * expected,
                      .depth = 1.6 * expected,
                      .rod_x = 7.5 * expected,
                      .rod_depth = 0.6 * expected,
                      .rod_radius = 0.13 * expected,
                      .seconds = 4 * expected / (0.4 * speed)};
    double height[SAMPLES];
    int32_t crests;
    run_stream(s, height);
    const double found =
        wavelength(height, s.length, s.rod_x - 4.2 * expected, s.rod_x - 0.6 * expected, &crests);
    validation_short(
        "waves of 12 cells are about 2.8 % slow, and the length of what stands answers 2.5-fold");
    validation_row("W9", name, 1e3 * found, 1e3 * expected, "mm", 0.05);
}

static void waves_behind(double speed)
{
    char name[96];
    snprintf(name, sizeof name, "flow, stream of %g m/s over a rod, waves behind", speed);
    if (!validation_wanted("W9", name)) return;
    const double expected = free_wave(speed, true);
    const stream s = {.speed = speed,
                      .dx = expected / 20,
                      .length = 7 * expected,
                      .depth = 0.8 * expected,
                      .rod_x = 2 * expected,
                      .rod_depth = 0.3 * expected,
                      .rod_radius = 0.08 * expected,
                      .seconds = 3.5 * expected / (0.5 * speed)};
    double height[SAMPLES];
    int32_t crests;
    run_stream(s, height);
    const double found =
        wavelength(height, s.length, s.rod_x + 0.4 * expected, s.rod_x + 3 * expected, &crests);
    validation_row("W9", name, 1e3 * found, 1e3 * expected, "mm", 0.05);
}

/// Below the slowest wave nothing stands: what is left ahead against what stands there at 0.30 m/s.
static void no_waves(void)
{
    const char *name = "flow, stream of 0.2 m/s over a rod, height ahead of that at 0.3 m/s";
    if (!validation_wanted("W9", name)) return;
    stream s = {.speed = 0.3,
                .dx = 0.45e-3,
                .length = 0.085,
                .depth = 0.014,
                .rod_x = 0.05,
                .rod_depth = 3.4e-3,
                .rod_radius = 0.75e-3,
                .seconds = 0.2};
    double height[SAMPLES];
    run_stream(s, height);
    const double fast = roughness(height, s.length, s.rod_x - 0.02, s.rod_x - 0.006);
    s.speed = 0.2;
    run_stream(s, height);
    validation_row_below("W9", name, roughness(height, s.length, s.rod_x - 0.02, s.rod_x - 0.006) / fast,
                         "of it", 0.05);
}

// ---- W10 ----

static mn_vec3 leaning(void *user, mn_vec3 x)
{
    (void)user, (void)x;
    return mn_v3(1, 0.2, 0);
}

/// Crossings of the velocity across the stream, four diameters behind the cylinder.
static void vortex_street(double reynolds, double cells)
{
    char name[96];
    snprintf(name, sizeof name, "flow, vortex street behind a cylinder of %g cells, Re %g", cells, reynolds);
    if (!validation_wanted("W10", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow_def def = mn_flow_default_def(); // diameter 1 m, stream 1 m/s
    def.flat = true, def.no_slip = true, def.dx = 1 / cells, def.density = 1, def.viscosity = 1 / reynolds;
    def.boundary = MN_FLOW_TUNNEL, def.stream = mn_v3(1, 0, 0), def.buoyancy = 0, def.cfl = 2;
    def.domain_size = mn_v3(16, 14, 1), def.domain_center = mn_v3(4, 0, 0), def.max_substeps = 1000000;
    mn_geo *geo = NULL;
    mn_collider *collider = rod(ctx, mn_v3(0, 0.01, 0), 0.5, def.dx, &geo);
    const mn_solver_inputs inputs = {.collider = collider};
    mn_flow *flow = NULL;
    check(ctx, mn_flow_create(ctx, &def, &inputs, &flow));
    check(ctx, mn_flow_set_velocity(flow, leaning, NULL));
    double last = 0, first_crossing = 0, crossing = 0, most = 0;
    int32_t crossings = 0;
    for (int32_t k = 1; k <= 1000; k++) {
        check(ctx, mn_flow_advance(flow, &inputs, 0.1));
        const double v = mn_flow_velocity_at(flow, mn_v3(4, 0, 0)).y;
        if (k > 600) most = fmax(most, fabs(v));
        if (k > 600 && last < 0 && v >= 0) {
            crossing = 0.1 * (k - 1 + last / (last - v));
            if (crossings++ == 0) first_crossing = crossing;
        }
        last = v;
    }
    validation_row("W10", name, crossings > 1 ? (crossings - 1) / (crossing - first_crossing) : 0, 0.1655,
                   "St", 0.05);
    validation_row_above("W10", name, most, "m/s across", 0.1);
    mn_flow_free(flow);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    uniform_stream();
    carried_bump();
    if (validation_long()) {
        ripples_ahead(0.3, 12);
        waves_behind(0.3);
        ripples_ahead(0.5, 14);
        waves_behind(0.5);
        no_waves();
        vortex_street(100, 8);
    }
    return validation_end();
}
