// SPDX-License-Identifier: Apache-2.0
//
// Volumes of the MLS solver with known answers: the pressure in a resting ball (V1) and the period of a small
// oscillation (V3), measured from what the solver shows.
#include "support/liquid_region.h"
#include "support/validation.h"

#include "meniscus/meniscus.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const double R = 0.01;

static mn_context *ctx;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s\n", mn_status_name(status), mn_context_message(ctx));
    exit(1);
}

// r = R (1 + swell P2(cos theta)); the distance is first order near the surface, which is all that counts.
static void drop_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const double swell = *(const double *)user;
    for (int64_t i = 0; i < count; i++) {
        const double r = mn_norm(x[i]), c = r > 0 ? x[i].y / r : 0;
        d[i] = r - R * (1 + swell * 0.5 * (3 * c * c - 1));
    }
}

static mn_codim *open_drop(double cells, double swell, double viscosity, double max_dt)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.dx = R / cells, def.spacing = 0.5 * def.dx, def.density = 1000, def.sigma = 0.07;
    def.viscosity = viscosity, def.max_dt = max_dt;
    const double box = 1.2 * R;
    const mn_region region = {&swell, drop_distance, {{-box, -box, -box}, {box, box, box}}};
    mn_codim *mls;
    must(open_region(ctx, &def, &region, 4.0 / 3 * pi * R * R * R, false, &mls));
    return mls;
}

static double inner_pressure(double cells)
{
    const double time = sqrt(1000 * R * R * R / 0.07);
    mn_codim *mls = open_drop(cells, 0, 0.02, 0.02 * time);
    double sum = 0, mean = 0;
    for (int i = 0; i < 4; i++) {
        must(mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.04 * time));
        const mn_codim_view view = mn_codim_get_view(mls);
        double mass = 0, p = 0;
        for (int64_t k = 0; k < view.particle_count; k++) {
            if (mn_norm(view.particles[k].position) > 0.7 * R) continue;
            mass += view.particles[k].mass, p += view.particles[k].mass * view.particles[k].pressure;
        }
        if (i >= 2) sum += 0.5, mean += 0.5 * p / mass;
    }
    mn_codim_free(mls);
    return mean / sum;
}

// The difference of the half axes by second moments, in R.
static double stretch_of(const mn_codim_view *view)
{
    double mass = 0;
    mn_vec3 square = {0};
    for (int64_t k = 0; k < view->particle_count; k++) {
        const mn_codim_particle *p = &view->particles[k];
        mass += p->mass;
        square = mn_axpy(square, p->mass, mn_mul(p->position, p->position));
    }
    return (sqrt(5 * square.y / mass) - sqrt(2.5 * (square.x + square.z) / mass)) / R;
}

// What is left of the samples after the best a cos(w t) + b sin(w t) + c.
static double misfit(const double *t, const double *y, int count, double w)
{
    mn_mat3 m = {{{0}}}, inverse;
    mn_vec3 r = {0};
    double left = 0;
    for (int i = 0; i < count; i++) {
        const mn_vec3 f = mn_v3(cos(w * t[i]), sin(w * t[i]), 1);
        m = mn_m3_add(m, mn_outer(f, f));
        r = mn_axpy(r, y[i], f);
    }
    if (!mn_m3_inverse(m, &inverse)) return INFINITY;
    const mn_vec3 k = mn_m3_apply(inverse, r);
    for (int i = 0; i < count; i++) left += pow(y[i] - k.x * cos(w * t[i]) - k.y * sin(w * t[i]) - k.z, 2);
    return left;
}

static double period(double cells)
{
    enum { SAMPLES = 44 };
    const double T = 2 * pi * sqrt(1000 * R * R * R / (8 * 0.07)), dt = T / 40;
    double t[SAMPLES], y[SAMPLES], best = 0, least = INFINITY;
    mn_codim *mls = open_drop(cells, 0.05, 0, dt);
    for (int i = 0; i < SAMPLES; i++) {
        must(mn_codim_advance(mls, &(mn_codim_inputs){0}, dt));
        const mn_codim_view view = mn_codim_get_view(mls);
        t[i] = (i + 1) * dt, y[i] = stretch_of(&view);
    }
    mn_codim_free(mls);
    for (double f = 0.8; f < 1.25; f += 1e-3) {
        const double left = misfit(t, y, SAMPLES, 2 * pi * f / T);
        if (left < least) least = left, best = T / f;
    }
    return best;
}

int main(int argc, char **argv)
{
    static const mn_hooks hooks = {.max_workers = 1};
    validation_begin(argc, argv);
    ctx = mn_context_create(&hooks);
    const double T = 2 * pi * sqrt(1000 * R * R * R / (8 * 0.07));
    validation_row("V1", "mls, R = 6 dx", inner_pressure(6), 2 * 0.07 / R, "Pa", 0.05);
    if (validation_long()) {
        validation_row("V1", "mls, R = 12 dx", inner_pressure(12), 2 * 0.07 / R, "Pa", 0.05);
        validation_row("V3", "mls, R = 12 dx, 40 steps a period", period(12), T, "s", 0.03);
        validation_short("half of the resolution that the bound is for");
        validation_row("V3", "mls, R = 6 dx, 40 steps a period", period(6), T, "s", 0.03);
    }
    mn_context_free(ctx);
    return validation_end();
}
