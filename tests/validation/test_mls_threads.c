// SPDX-License-Identifier: Apache-2.0
//
// A thread of liquid breaks up: growth of its waves and the drops they make (F9).
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;
static const double R = 0.001, sigma = 0.072, density = 1000; // water, 1 mm

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s\n", mn_status_name(status), mn_context_message(ctx));
    exit(1);
}

static double capillary_time(void)
{
    return sqrt(density * R * R * R / sigma);
}

typedef struct stage {
    mn_context *ctx;
    mn_mls *mls;
    double k; ///< 1/m, of the wave
} stage;

// A thread along x, held at its ends, that is `waves` long and has the radius R (1 + amplitude cos(k x)).
static stage open_thread(double kR, double waves, int per_wave, double amplitude, double max_dt)
{
    static const mn_hooks hooks = {.max_workers = 1};
    stage s = {.ctx = mn_context_create(&hooks), .k = kR / R};
    const double wave = 2 * pi / s.k;
    const int64_t count = llround(waves * per_wave) + 1;
    mn_vec3 *x = malloc(sizeof *x * (size_t)count), *t = malloc(sizeof *t * (size_t)count);
    double *thickness = malloc(sizeof *thickness * (size_t)count);
    uint8_t *pinned = calloc((size_t)count, 1), *codim = malloc((size_t)count);
    for (int64_t i = 0; i < count; i++) {
        x[i] = mn_v3(wave * (double)i / per_wave, 0, 0);
        t[i] = mn_v3(1, 0, 0);
        thickness[i] = 2 * R * (1 + amplitude * cos(s.k * x[i].x));
        codim[i] = MN_MLS_THREAD;
    }
    pinned[0] = pinned[count - 1] = 1;
    mn_mls_def def = mn_mls_default_def();
    def.spacing = wave / per_wave, def.sigma = sigma, def.density = density;
    def.max_dt = max_dt * capillary_time();
    must(s.ctx, mn_mls_create(s.ctx, &def, &s.mls));
    const mn_mls_source source = {
        .count = count, .position = x, .normal = t, .thickness = thickness, .pinned = pinned, .codim = codim};
    must(s.ctx, mn_mls_add(s.mls, &source));
    free(x), free(t), free(thickness), free(pinned), free(codim);
    return s;
}

static void advance(stage *s, double times)
{
    must(s->ctx, mn_mls_advance(s->mls, &(mn_mls_inputs){0}, times * capillary_time()));
}

static void close_thread(stage *s)
{
    mn_mls_free(s->mls);
    mn_context_free(s->ctx);
}

// Of the wave in the radii of the points, in R.
static double amplitude_of(const stage *s)
{
    const mn_mls_view view = mn_mls_get_view(s->mls);
    double sum = 0, length = 0;
    for (int64_t i = 0; i < view.link_count; i++) {
        const int32_t a = view.links[i][0], b = view.links[i][1];
        const double xa = view.points[a].position.x, xb = view.points[b].position.x, l = fabs(xb - xa);
        sum +=
            0.5 * l * (0.5 * view.thickness[a] * cos(s->k * xa) + 0.5 * view.thickness[b] * cos(s->k * xb));
        length += l;
    }
    return 2 * sum / length / R;
}

// From rest the wave grows as cosh: its rate per capillary time.
static double growth(double kR, int per_wave, double max_dt)
{
    const double time = 4;
    stage s = open_thread(kR, 2, per_wave, 1e-3, max_dt);
    const double before = amplitude_of(&s);
    advance(&s, time);
    const double rate = acosh(amplitude_of(&s) / before) / time;
    close_thread(&s);
    return rate;
}

// The largest amplitude on the way, over that at the start.
static double decay(double kR, int per_wave)
{
    stage s = open_thread(kR, 2, per_wave, 1e-2, 0.1);
    const double before = amplitude_of(&s);
    double most = 0;
    for (int i = 0; i < 40; i++) {
        advance(&s, 0.5);
        most = fmax(most, fabs(amplitude_of(&s)) / before);
    }
    close_thread(&s);
    return most;
}

// Mean radius of the drops that are at least half as large as they should be, in R.
static double drop_radius(int per_wave, int64_t *drops)
{
    stage s = open_thread(0.697, 5, per_wave, 0.02, 1);
    for (int i = 0; i < 60; i++) advance(&s, 0.5);
    const mn_mls_view view = mn_mls_get_view(s.mls);
    double sum = 0;
    *drops = 0;
    for (int64_t i = 0; i < view.count; i++) {
        if (view.points[i].codim != MN_MLS_DROP || view.thickness[i] < 1.891 * R) continue;
        sum += 0.5 * view.thickness[i] / R;
        ++*drops;
    }
    close_thread(&s);
    return sum / (double)*drops;
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    validation_row("F9", "growth at kR = 0.697, 32 points a wave", growth(0.697, 32, 0.05), 0.34334, "1/t_c",
                   0.2);
    validation_row("F9", "growth at kR = 0.697, 16 points, steps of 0.2 t_c", growth(0.697, 16, 0.2), 0.34334,
                   "1/t_c", 0.2);
    validation_row("F9", "growth at kR = 0.4, 32 points a wave", growth(0.4, 32, 0.05), 0.25669, "1/t_c",
                   0.2);
    validation_row_below("F9", "kR = 1.2 for 20 t_c: largest amplitude over the first", decay(1.2, 32), "",
                         1.05);
    int64_t drops;
    validation_row("F9", "drops from the most unstable wave", drop_radius(32, &drops), 1.891, "R", 0.2);
    validation_row("F9", "how many of them from five waves", (double)drops, 4, "", 0);
    if (validation_long())
        validation_row("F9", "growth at kR = 0.697, 64 points a wave", growth(0.697, 64, 0.05), 0.34334,
                       "1/t_c", 0.2);
    return validation_end();
}
