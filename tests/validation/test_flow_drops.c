// SPDX-License-Identifier: Apache-2.0
//
// Drops of the flow solver: they oscillate with the right period (W6), rest without currents of their own
// (W7) and keep their volume (W8). The sides of the box at a contact angle of 90 degrees are planes of
// symmetry: a quarter of a drop, a half for n = 3, an eighth in three dimensions.
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846, rho = 998, sigma = 0.072, radius = 0.002;
static const mn_hooks one_worker = {.max_workers = 1};

static void check(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

typedef struct drop {
    int32_t n;
    bool flat;
    double amplitude, dx;
} drop;

// r (1 + a cos(n angle)) or r (1 + a P2(cos angle)), over the length of its gradient.
static double drop_distance(void *user, mn_vec3 x)
{
    const drop *d = user;
    if (d->flat) x.z = 0;
    const double r = fmax(mn_norm(x), 1e-12), angle = atan2(x.y, x.x), y = x.y / r;
    const double shape = d->flat ? cos(d->n * angle) : 0.5 * (3 * y * y - 1);
    const double slope = d->flat ? -d->n * sin(d->n * angle) : -3 * y * sqrt(fmax(1 - y * y, 0));
    const double tilt = radius * d->amplitude * slope / r;
    return (r - radius * (1 + d->amplitude * shape)) / sqrt(1 + tilt * tilt);
}

static mn_flow *make(mn_context *ctx, drop *d)
{
    mn_flow_def def = mn_flow_default_def();
    const double edge = 13 * d->dx;
    def.fluid = MN_FLOW_LIQUID, def.flat = d->flat, def.dx = d->dx, def.density = rho, def.sigma = sigma;
    def.use_level = false, def.gravity = mn_v3(0, 0, 0), def.max_substeps = 1000000, def.tolerance = 1e-6;
    def.domain_size = mn_v3(d->n == 3 ? 2 * edge : edge, edge, d->flat ? d->dx : edge);
    def.domain_center = mn_v3(d->n == 3 ? 0 : 0.5 * edge, 0.5 * edge, d->flat ? 0 : 0.5 * edge);
    mn_flow *flow = NULL;
    check(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check(ctx, mn_flow_set_surface(flow, drop_distance, d));
    return flow;
}

static double report_of(const mn_flow *flow, mn_report_key key)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[key][0];
}

static double reach(const mn_flow *flow, mn_vec3 along)
{
    double low = 0.3 * radius, high = 1.25 * radius;
    for (int32_t k = 0; k < 50; k++) {
        const double middle = 0.5 * (low + high);
        if (mn_flow_distance_at(flow, mn_scale(middle, along)) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

/// Amplitude of the mode. For n = 3 a drop may move along x meanwhile, which it does not see.
static double deformation(const mn_flow *flow, const drop *d)
{
    const mn_vec3 x = {1, 0, 0}, y = {0, 1, 0}, back = {-1, 0, 0};
    if (!d->flat) return reach(flow, y) - reach(flow, x);
    if (d->n == 2) return reach(flow, x) - reach(flow, y);
    const double root = sqrt(0.75);
    return (reach(flow, x) - reach(flow, back)) +
           2 * (reach(flow, mn_v3(-0.5, root, 0)) - reach(flow, mn_v3(0.5, root, 0)));
}

/// The period between two zeros of one direction, and the amplitude at the crest between them.
static void oscillate(drop d, double period, double bound, double crest_bound)
{
    char name[96];
    snprintf(name, sizeof name, "flow, drop in %s, n = %d, radius of %g cells", d.flat ? "2D" : "3D", d.n,
             radius / d.dx);
    if (!validation_wanted("W6", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow *flow = make(ctx, &d);
    const double volume = report_of(flow, MN_REPORT_volume);
    double start = 0, last = 1, first_zero = -1, zero = -1, crest = 0, drift = 0;
    start = deformation(flow, &d);
    const int32_t frames = 40;
    for (int32_t f = 1; f <= 1.5 * frames && zero < 0; f++) {
        check(ctx, mn_flow_advance(flow, NULL, period / frames));
        const double a = deformation(flow, &d) / start;
        if (last >= 0 && a < 0) {
            const double t = (f - 1 + last / (last - a)) / frames;
            if (first_zero < 0)
                first_zero = t;
            else
                zero = t;
        }
        if (f > frames / 2) crest = fmax(crest, a);
        drift = fmax(drift, fabs(report_of(flow, MN_REPORT_volume) / volume - 1));
        last = a;
    }
    validation_row("W6", name, 1e3 * period * (zero - first_zero), 1e3 * period, "ms", bound);
    validation_row_above("W6", name, crest, "amplitude left", crest_bound);
    validation_row_below("W8", name, drift, "volume", 0.001);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

/// Of the liquid, at points of it; coefficients outside of it are nobody's speed.
static double fastest(const mn_flow *flow, double dx)
{
    double most = 0;
    for (int32_t i = 0; i < 22; i++)
        for (int32_t j = 0; j < 22; j++) {
            const mn_vec3 x = mn_v3((0.5 * i + 0.25) * dx, (0.5 * j + 0.25) * dx, 0.5 * dx);
            if (mn_flow_distance_at(flow, x) < 0) most = fmax(most, mn_norm(mn_flow_velocity_at(flow, x)));
        }
    return most;
}

static void rest(double times)
{
    char name[96];
    drop d = {.n = 2, .flat = true, .amplitude = 0, .dx = radius / 10};
    snprintf(name, sizeof name, "flow, drop at rest in 2D, radius of 10 cells, %g sqrt(rho R^3/sigma)",
             times);
    if (!validation_wanted("W7", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow *flow = make(ctx, &d);
    const double scale = sqrt(sigma / (rho * radius)), time = sqrt(rho * radius * radius * radius / sigma);
    double most = 0;
    for (int32_t k = 0; k < 10 * times; k++) {
        check(ctx, mn_flow_advance(flow, NULL, 0.1 * time));
        most = fmax(most, fastest(flow, d.dx) / scale);
    }
    const double energy = report_of(flow, MN_REPORT_kinetic_energy), mass = report_of(flow, MN_REPORT_mass);
    validation_row_below("W7", name, most, "sqrt(sigma/(rho R)), largest", 1e-2);
    validation_row_below("W7", name, sqrt(2 * energy / mass) / scale, "sqrt(sigma/(rho R)), rms", 2e-3);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    const double unit = sqrt(rho * radius * radius * radius / sigma);
    const double two = 2 * pi * unit / sqrt(6), three = 2 * pi * unit / sqrt(24),
                 ball = 2 * pi * unit / sqrt(8);
    rest(1);
    if (validation_long()) rest(10);
    oscillate((drop){2, true, 0.05, radius / 10}, two, 0.015, 0.95);
    if (validation_long()) {
        oscillate((drop){3, true, 0.05, radius / 10}, three, 0.015, 0.95);
        oscillate((drop){2, false, 0.05, radius / 10}, ball, 0.03, 0.95);
    }
    return validation_end();
}
