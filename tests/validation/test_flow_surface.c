// SPDX-License-Identifier: Apache-2.0
//
// Liquids of the flow solver: still water (W3), ripples against the dispersion relation (W5), drops that
// oscillate (W6) and rest (W7), and their volume (W8). Heights and speeds are read as a user would, in two
// dimensions.
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

static mn_flow_def water(double dx, double width, double height)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = dx, def.density = 998, def.sigma = 0.072;
    def.domain_size = mn_v3(width, height, dx), def.domain_center = mn_v3(0.5 * width, 0.5 * height, 0);
    def.use_level = false, def.tolerance = 1e-7, def.max_substeps = 1000000;
    return def;
}

static double volume_of(const mn_flow *flow)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[MN_REPORT_volume][0];
}

static double speed_of(const mn_flow *flow)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[MN_REPORT_max_speed][0];
}

// ---- W3 ----

static void still_water(int32_t steps)
{
    char name[80];
    snprintf(name, sizeof name, "flow, still water over a ball, %d steps", steps);
    if (!validation_wanted("W3", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow_def def = water(0.01, 0.2, 0.2);
    def.use_level = true, def.level = 0.1237;
    mn_geo *geo = NULL;
    check(ctx, mn_geo_create(ctx, &geo));
    mn_volume ball = analytic_ball(mn_v3(0.09, 0.05, 0.005), 0.031, 0.01);
    check(ctx, mn_geo_add_volume(geo, ball, -1, NULL));
    mn_volume_release(&ball);
    mn_collider_def collider_def = mn_collider_default_def();
    collider_def.geo = geo;
    mn_collider *collider = NULL;
    check(ctx, mn_collider_create(ctx, &collider_def, &collider));
    const mn_solver_inputs inputs = {.collider = collider};
    mn_flow *flow = NULL;
    check(ctx, mn_flow_create(ctx, &def, &inputs, &flow));
    for (int32_t k = 0; k < steps; k++) check(ctx, mn_flow_advance(flow, &inputs, 0.001));
    validation_row_below("W3", name, speed_of(flow), "m/s", 1e-10);
    mn_flow_free(flow);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

// ---- W5 ----

typedef struct wave {
    double k, amplitude, level;
} wave;

static double wave_distance(void *user, mn_vec3 x)
{
    const wave *w = user;
    return x.y - w->level - w->amplitude * cos(w->k * x.x);
}

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

/// Half a wave between walls; the period between two rising zeros and the amplitude after one period.
static void ripple(double length, double depth, int32_t cells, double amplitude, double bound)
{
    char name[96];
    const double rho = 998, sigma = 0.072, g = 9.81;
    snprintf(name, sizeof name, "flow, wave of %g mm, %g high, on %g mm of water, %d cells", 1e3 * length,
             1e3 * amplitude, 1e3 * depth, cells);
    if (!validation_wanted("W5", name)) return;
    const double dx = length / cells, k = 2 * pi / length;
    const double period = 2 * pi / sqrt((g * k + sigma * k * k * k / rho) * tanh(k * depth));
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow_def def = water(dx, 0.5 * length, ceil(depth / dx + 6) * dx);
    wave w = {k, amplitude, depth};
    mn_flow *flow = NULL;
    check(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check(ctx, mn_flow_set_surface(flow, wave_distance, &w));
    const double volume = volume_of(flow);
    double last = 1, first_zero = -1, zero = -1, crest = 0, drift = 0;
    const int32_t frames = 80;
    for (int32_t f = 1; f <= 2.1 * frames && zero < 0; f++) {
        check(ctx, mn_flow_advance(flow, NULL, period / frames));
        const double a = 0.5 *
                         (height_at(flow, 0, 0.2 * depth, depth + 5.5 * dx) -
                          height_at(flow, 0.5 * length, 0.2 * depth, depth + 5.5 * dx)) /
                         w.amplitude;
        if (last < 0 && a >= 0) {
            const double t = (f - 1 + last / (last - a)) / frames;
            if (first_zero < 0)
                first_zero = t;
            else
                zero = t;
        }
        if (first_zero >= 0) crest = fmax(crest, a);
        drift = fmax(drift, fabs(volume_of(flow) / volume - 1));
        last = a;
    }
    validation_row("W5", name, 1e3 * period * (zero - first_zero), 1e3 * period, "ms", bound);
    validation_row_above("W5", name, crest, "amplitude left", 0.97);
    validation_row_below("W5", name, crest, "amplitude left", 1.01);
    validation_row_below("W8", name, drift, "volume", 0.001);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    still_water(validation_long() ? 1000 : 100);
    ripple(0.01, 0.01, 16, 1e-4, 0.02);
    ripple(0.01, 0.01 + 0.5 * 0.01 / 16, 16, 2e-5, 0.02); // a level inside a cell, and a wave of 0.03 cells
    if (validation_long()) {
        ripple(0.05, 0.02, 16, 5e-4, 0.02);
        ripple(0.005, 0.01, 16, 5e-5, 0.02);
        ripple(0.01, 0.01 + 0.25 * 0.01 / 16, 16, 2e-5, 0.02);
        ripple(0.01, 0.01 + 0.75 * 0.01 / 16, 16, 2e-5, 0.02);
        ripple(0.02, 0.004, 16, 2e-4, 0.02); // shallow
        ripple(0.01, 0.01, 32, 1e-4, 0.007);
        ripple(0.01, 0.01 + 0.6 * 0.01 / 32, 32, 2e-5, 0.007);
    }
    return validation_end();
}
