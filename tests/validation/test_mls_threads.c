// SPDX-License-Identifier: Apache-2.0
//
// A thread of liquid breaks up: growth of its waves and the drops they make (F9); mass and momentum while
// points change their codimension (F10).
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
    mn_codim *mls;
    double k; ///< 1/m, of the wave
} stage;

// A thread along x, held at its ends, that is `waves` long and has the radius R (1 + amplitude cos(k x)).
static stage open_thread(double kR, double waves, int per_wave, double amplitude, double max_dt,
                         double viscosity)
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
        codim[i] = MN_CODIM_THREAD;
    }
    pinned[0] = pinned[count - 1] = 1;
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = wave / per_wave, def.sigma = sigma, def.density = density, def.viscosity = viscosity;
    def.max_dt = max_dt * capillary_time();
    must(s.ctx, mn_codim_create(s.ctx, &def, &s.mls));
    const mn_codim_source source = {
        .count = count, .position = x, .normal = t, .thickness = thickness, .pinned = pinned, .codim = codim};
    must(s.ctx, mn_codim_add(s.mls, &source));
    free(x), free(t), free(thickness), free(pinned), free(codim);
    return s;
}

static void advance(stage *s, double times)
{
    must(s->ctx, mn_codim_advance(s->mls, &(mn_codim_inputs){0}, times * capillary_time()));
}

static void close_thread(stage *s)
{
    mn_codim_free(s->mls);
    mn_context_free(s->ctx);
}

// Of the wave in the radii of the points, in R.
static double amplitude_of(const stage *s)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
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
    stage s = open_thread(kR, 2, per_wave, 1e-3, max_dt, 0);
    const double before = amplitude_of(&s);
    advance(&s, time);
    const double rate = acosh(amplitude_of(&s) / before) / time;
    close_thread(&s);
    return rate;
}

// The largest amplitude between two times (in capillary times), over that at the start.
static double largest(double kR, int per_wave, double ohnesorge, double from, double to)
{
    stage s = open_thread(kR, 2, per_wave, 1e-2, 0.1, ohnesorge * sqrt(density * sigma * R));
    const double before = amplitude_of(&s);
    double most = 0;
    for (double t = 0; t < to; t += 0.5) {
        advance(&s, 0.5);
        if (t >= from) most = fmax(most, fabs(amplitude_of(&s)) / before);
    }
    close_thread(&s);
    return most;
}

// Mean radius of the drops that are at least half as large as they should be, in R.
static double drop_radius(int per_wave, int64_t *drops)
{
    stage s = open_thread(0.697, 5, per_wave, 0.02, 1, 0);
    for (int i = 0; i < 60; i++) advance(&s, 0.5);
    const mn_codim_view view = mn_codim_get_view(s.mls);
    double sum = 0;
    *drops = 0;
    for (int64_t i = 0; i < view.count; i++) {
        if (view.points[i].codim != MN_CODIM_DROP || view.thickness[i] < 1.891 * R) continue;
        sum += 0.5 * view.thickness[i] / R;
        ++*drops;
    }
    close_thread(&s);
    return sum / (double)*drops;
}

// ---- a free end ----

// How fast the free end of a thread draws back, in sqrt(sigma / (rho R)): d(m V)/dt = pi R sigma with what it
// has swept up. `spacing` in R. The tip of the bud stays behind its middle as it grows, by some percent.
static double retraction(double spacing)
{
    stage s = {.ctx = mn_context_create(NULL)};
    const int64_t count = llround(200 / spacing) + 1;
    mn_vec3 *x = malloc(sizeof *x * (size_t)count), *t = malloc(sizeof *t * (size_t)count);
    double *thickness = malloc(sizeof *thickness * (size_t)count);
    uint8_t *pinned = calloc((size_t)count, 1), *codim = malloc((size_t)count);
    for (int64_t i = 0; i < count; i++)
        x[i] = mn_v3((double)i * spacing * R, 0, 0), t[i] = mn_v3(1, 0, 0), thickness[i] = 2 * R,
        codim[i] = MN_CODIM_THREAD;
    pinned[count - 1] = 1;
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = spacing * R, def.sigma = sigma, def.density = density;
    must(s.ctx, mn_codim_create(s.ctx, &def, &s.mls));
    must(s.ctx, mn_codim_add(s.mls, &(mn_codim_source){count, x, NULL, t, thickness, pinned, codim}));
    double at[2];
    for (int k = 0; k < 2; k++) {
        advance(&s, 10); // a uniform thread has no wave that would grow in this time
        const mn_codim_view view = mn_codim_get_view(s.mls);
        at[k] = INFINITY;
        for (int64_t i = 0; i < view.count; i++) at[k] = fmin(at[k], view.points[i].position.x);
    }
    free(x), free(t), free(thickness), free(pinned), free(codim);
    close_thread(&s);
    return (at[1] - at[0]) / (10 * capillary_time()) / sqrt(sigma / (density * R));
}

// ---- F10 ----

/// Points to start with, spacing 1 mm.
typedef struct cast {
    int64_t count;
    mn_vec3 x[2000], v[2000], n[2000];
    double h[2000];
    uint8_t codim[2000];
} cast;

static void put(cast *c, uint8_t codim, mn_vec3 x, mn_vec3 n, mn_vec3 v, double h)
{
    if (c->count == 2000) exit(1);
    c->x[c->count] = x, c->n[c->count] = n, c->v[c->count] = v, c->h[c->count] = h;
    c->codim[c->count++] = codim;
}

// A strip of film that becomes a thread and falls into drops; a sheet; a thread and drops that fly into it
// and into each other: 1 to 2, 2 to 3, 3 to 3, 3 to 2, 3 to 1, 2 to 1, and 1 to 2 to 3 where the sheet has
// drawn together.
static void fill(cast *c)
{
    const mn_vec3 up = {0, 1, 0}, drift = {0.2, -0.1, 0.3};
    const double step = 0.001;
    for (int i = 0; i < 2; i++)
        for (int j = 0; j < 60; j++)
            put(c, MN_CODIM_FILM, mn_v3(step * (j + 0.5 * i), 0.03, 0.87 * step * i), up, drift, 5e-4);
    for (int i = 0; i < 16; i++)
        for (int j = 0; j < 30; j++)
            put(c, MN_CODIM_FILM, mn_v3(step * (j + 0.5 * (i % 2)), 0, 0.87 * step * i), up, drift, 2e-4);
    for (int i = 0; i < 25; i++)
        put(c, MN_CODIM_THREAD, mn_v3(step * i, 0.004, 0.006), mn_v3(1, 0, 0), mn_add(drift, mn_v3(0, -1, 0)),
            5e-4);
    for (int i = 0; i < 12; i++) {
        put(c, MN_CODIM_DROP, mn_v3(2 * step * i, 0.006, 0.006), up, mn_add(drift, mn_v3(0, -2, 0)), 6e-4);
        put(c, MN_CODIM_DROP, mn_v3(2 * step * i, 0.003, 0.002), up, mn_add(drift, mn_v3(0, -1, 0)), 6e-4);
        put(c, MN_CODIM_DROP, mn_v3(2 * step * i, 0.0035, 0.002), up, mn_add(drift, mn_v3(0, -1.5, 0)), 6e-4);
    }
}

static void measure_transitions(double *mass_drift, double *momentum_drift, int64_t *drops)
{
    cast *c = calloc(1, sizeof *c);
    stage s = {.ctx = mn_context_create(NULL)};
    fill(c);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = 0.001, def.sigma = sigma, def.max_dt = 5e-4;
    must(s.ctx, mn_codim_create(s.ctx, &def, &s.mls));
    must(s.ctx, mn_codim_add(s.mls, &(mn_codim_source){c->count, c->x, c->v, c->n, c->h, NULL, c->codim}));
    double mass[2] = {0}, scale = 0;
    mn_vec3 momentum[2] = {{0, 0, 0}, {0, 0, 0}};
    for (int k = 0; k < 2; k++) {
        for (int i = 0; k == 1 && i < 60; i++)
            must(s.ctx, mn_codim_advance(s.mls, &(mn_codim_inputs){0}, 0.001));
        const mn_codim_view view = mn_codim_get_view(s.mls);
        *drops = 0;
        for (int64_t i = 0; i < view.count; i++) {
            const mn_codim_point *p = &view.points[i];
            mass[k] += p->mass;
            momentum[k] = mn_axpy(momentum[k], p->mass, p->velocity);
            scale += p->mass * mn_norm(p->velocity);
            *drops += p->codim == MN_CODIM_DROP;
        }
    }
    *mass_drift = fabs(mass[1] / mass[0] - 1);
    *momentum_drift = mn_distance(momentum[0], momentum[1]) / (0.5 * scale);
    close_thread(&s);
    free(c);
}

// ---- P9: a stream ----

// How far the thread reaches that begins at the spout, m: along links from one point to the next.
static double reach_of(const mn_codim_view *view)
{
    uint8_t *joined = calloc((size_t)view->count + 1, 1);
    double reach = 0;
    for (int64_t i = 0; i < view->count; i++) joined[i] = view->points[i].anchor == 0;
    for (bool more = true; more;) {
        more = false;
        for (int64_t l = 0; l < view->link_count; l++) {
            const int32_t a = view->links[l][0], b = view->links[l][1];
            if (joined[a] == joined[b]) continue;
            joined[a] = joined[b] = 1, more = true;
        }
    }
    for (int64_t i = 0; i < view->count; i++)
        if (joined[i]) reach = fmax(reach, view->points[i].position.x);
    free(joined);
    return reach;
}

// A spout whose speed is U + u cos(k U t) makes, to who goes with the stream, a wave of speed u cos(k x) on a
// thread at rest. Mass gives it d eta/dt = R k u/2 at first, and with Rayleigh's rate w of k
//
//   eta = R k u/(2 w) sinh(w t),   eta = R at t_b = asinh(2 w/(k u))/w,   so the stream is U t_b long.
//
// Speeds in sqrt(sigma/(rho R)). The mean of what is left just after the drops of the last third of the time
// have come off, in R.
static double stream_length(double speed, double wave, double k, double spacing, double times)
{
    stage s = {.ctx = mn_context_create(NULL)};
    const double unit = R / capillary_time(), frame = 0.1;
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = spacing * R, def.sigma = sigma, def.density = density, def.viscosity = 0;
    must(s.ctx, mn_codim_create(s.ctx, &def, &s.mls));
    const mn_vec3 x[2] = {{0, 0, 0}, {0.5 * spacing * R, 0, 0}}, t[2] = {{1, 0, 0}, {1, 0, 0}},
                  v[2] = {{0, 0, 0}, {speed * unit, 0, 0}};
    const double width[2] = {2 * R, 2 * R};
    const uint8_t pinned[2] = {1, 0}, codim[2] = {MN_CODIM_THREAD, MN_CODIM_THREAD};
    must(s.ctx, mn_codim_add(s.mls, &(mn_codim_source){2, x, v, t, width, pinned, codim}));
    double sum = 0, before = 0;
    int count = 0;
    for (double now = 0; now < times; now += frame) {
        const double u = speed + wave * cos(k * speed * (now + 0.5 * frame));
        const mn_vec3 flow[2] = {{u * unit, 0, 0}, {0, 0, 0}};
        const mn_codim_inputs inputs = {.anchor_count = 2, .anchors = x, .flow = flow, .width = width};
        must(s.ctx, mn_codim_advance(s.mls, &inputs, frame * capillary_time()));
        const mn_codim_view view = mn_codim_get_view(s.mls);
        const double reach = reach_of(&view) / R;
        if (reach < before - 1 && now > 2 * times / 3) sum += reach, count++;
        before = reach;
    }
    close_thread(&s);
    return count > 0 ? sum / count : NAN;
}

static void stream(double speed)
{
    static const double k = 0.697, rate = 0.34334, wave = 0.15;
    char text[80];
    const double time = asinh(2 * rate / (k * wave)) / rate;
    snprintf(text, sizeof text, "stream at %g sqrt(sigma/(rho R)): length", speed);
    validation_row("P9", text, stream_length(speed, wave, k, 0.5, 4 * time), speed * time, "R", 0.2);
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
    validation_row_below("F9", "kR = 1.2 for 20 t_c: largest amplitude over the first",
                         largest(1.2, 32, 0, 0, 20), "", 1.05);
    // 3 mu k^2 / (2 rho) takes it to 0.04.
    validation_row_below("F9", "the same with Oh = 0.1, from 15 t_c on", largest(1.2, 32, 0.1, 15, 20), "",
                         0.1);
    int64_t drops;
    validation_row("F9", "drops from the most unstable wave", drop_radius(32, &drops), 1.891, "R", 0.2);
    validation_row("F9", "how many of them from five waves", (double)drops, 4, "", 0);
    validation_row("F9", "free end drawing back, spacing R/2", retraction(0.5), 1, "sqrt(sigma/(rho R))",
                   0.1);
    validation_row("F9", "free end drawing back, spacing 4 R", retraction(4), 1, "sqrt(sigma/(rho R))", 0.1);
    stream(4);
    stream(8);
    double mass, momentum;
    measure_transitions(&mass, &momentum, &drops);
    validation_row_below("F10", "film, threads and drops in a tumble for 60 ms: mass", mass, "", 1e-12);
    validation_row_below("F10", "momentum over its scale", momentum, "", 1e-10);
    validation_row_above("F10", "drops that are left of 685 points", (double)drops, "", 1);
    if (validation_long())
        validation_row("F9", "growth at kR = 0.697, 64 points a wave", growth(0.697, 64, 0.05), 0.34334,
                       "1/t_c", 0.2);
    return validation_end();
}
