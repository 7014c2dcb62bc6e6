// SPDX-License-Identifier: Apache-2.0
//
// Heat with known answers: melting fronts (M6, M10) and a wall in warm air (M17).
#include "meniscus/meniscus.h"
#include "support/heat_bar.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

// The front is at 2 lambda sqrt(alpha t) with Ste exp(-l^2)/erf l - cold exp(-l^2)/erfc l = l sqrt(pi).
static double front_number(double stefan, double cold)
{
    double low = 1e-6, high = 5;
    for (int i = 0; i < 200; i++) {
        const double l = 0.5 * (low + high);
        const double balance = stefan * exp(-l * l) / erf(l) - cold * exp(-l * l) / erfc(l) - l * sqrt(pi);
        if (balance > 0)
            low = l;
        else
            high = l;
    }
    return low;
}

// A bar at or below its melting point whose end is held above it: c = k = rho = 1, latent heat 1, so that the
// superheat is the Stefan number.
static void stefan(const char *row, double number, double cold, int32_t cells, double until)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    const mn_heat_substance unit = {
        .capacity = {1, 1}, .conductivity = {1, 1}, .latent_heat = 1, .melting_point = 10};
    const double lambda = front_number(number, cold), end = until * until / (4 * lambda * lambda);
    heat_bar bar = heat_bar_make(ctx, cells, unit, 10 - cold);
    heat_bar_start(&bar);
    heat_bar_heat(&bar, 0, 1e6, 10 + number);
    const double before = heat_bar_energy(&bar);
    double in = 0;
    for (int i = 0; i < 100; i++) {
        mn_heat_flow flow;
        heat_bar_must(&bar, mn_heat_advance(bar.heat, &bar.view, end / 100, bar.energy, &flow));
        in += flow.surface;
    }
    char text[120];
    snprintf(text, sizeof text, "melting front, Stefan number %g%s, %d cells, 100 steps", number,
             cold > 0 ? ", cold solid" : "", cells);
    validation_row(row, text, heat_bar_front(&bar), until, "of the length", 0.03);
    snprintf(text, sizeof text, "the same: energy kept less energy that came in");
    validation_row_below(row, text, fabs(heat_bar_energy(&bar) - before - in) / in, "of what came in", 1e-10);
    heat_bar_free(&bar);
    mn_context_free(ctx);
}

// A half space in warm air: surface temperature against 1 - exp(b^2) erfc(b), b = h sqrt(alpha t)/k.
static void convection(double b)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    const mn_heat_substance unit = {.capacity = {1, 1}, .conductivity = {1, 1}, .melting_point = INFINITY};
    const double end = 0.02, h = b / sqrt(end);
    heat_bar bar = heat_bar_make(ctx, 40, unit, 300);
    heat_bar_start(&bar);
    heat_bar_heat(&bar, 0, h, 301);
    for (int i = 0; i < 100; i++) {
        mn_heat_flow flow;
        heat_bar_must(&bar, mn_heat_advance(bar.heat, &bar.view, end / 100, bar.energy, &flow));
    }
    char text[96];
    snprintf(text, sizeof text, "wall in warm air, h sqrt(alpha t)/k = %g: surface", b);
    validation_row("M17", text, heat_bar_temperature(&bar, 0) - 300, 1 - exp(b * b) * erfc(b),
                   "of the difference", 0.02);
    heat_bar_free(&bar);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    stefan("M6", 0.1, 0, 20, 0.8);
    stefan("M6", 0.5, 0, 20, 0.8);
    stefan("M6", 1, 0, 20, 0.8);
    stefan("M10", 0.5, 0.25, 60, 0.2);
    convection(0.5);
    convection(1);
    return validation_end();
}
