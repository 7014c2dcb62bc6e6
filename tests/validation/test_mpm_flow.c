// SPDX-License-Identifier: Apache-2.0
//
// Liquid in motion, with the MPM solver: the breakup of a thread (V15) and of a dam (V16). What is measured
// is what the particles show. Lengths in metres, water; cells are given so that other sizes can be tried by
// hand.
#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/validation.h"

typedef struct flow {
    mn_context *ctx;
    mn_mpm *mpm;
    mn_mpm_point *points;
    int64_t count;
} flow;

static void fail(const flow *f, const char *what)
{
    fprintf(stderr, "%s: %s\n", what, mn_context_message(f->ctx));
    exit(1);
}

/// Whether liquid is at x.
typedef bool region(const void *shape, mn_vec3 x);

// Eight particles a cell, one in each octant at a random place within half of it.
static flow make_flow(const mn_mpm_def *def, mn_box box, region *inside, const void *shape)
{
    static const mn_hooks hooks = {.max_workers = 1};
    flow f = {.ctx = mn_context_create(&hooks)};
    const double h = 0.5 * def->dx;
    const int64_t n[3] = {(int64_t)ceil((box.max.x - box.min.x) / h),
                          (int64_t)ceil((box.max.y - box.min.y) / h),
                          (int64_t)ceil((box.max.z - box.min.z) / h)};
    mn_vec3 *x = malloc(sizeof *x * (size_t)(n[0] * n[1] * n[2]));
    for (int64_t i = 0; i < n[0] * n[1] * n[2]; i++) {
        const mn_vec3 cell = mn_v3((double)(i / n[2] / n[1]), (double)(i / n[2] % n[1]), (double)(i % n[2]));
        const mn_vec3 jitter = mn_scale(0.5, mn_random_unit3(1, (uint64_t)i, 0));
        const mn_vec3 at = mn_axpy(box.min, h, mn_add(cell, mn_add(jitter, mn_v3(0.25, 0.25, 0.25))));
        if (inside(shape, at)) x[f.count++] = at;
    }
    if (mn_mpm_create(f.ctx, def, &f.mpm) != MN_OK) fail(&f, "create");
    const mn_mpm_source source = {.count = f.count, .position = x};
    if (mn_mpm_add(f.mpm, &source) != MN_OK) fail(&f, "add");
    free(x);
    f.points = malloc(sizeof *f.points * (size_t)f.count);
    return f;
}

static void advance(flow *f, double seconds)
{
    if (mn_mpm_advance(f->mpm, NULL, seconds) != MN_OK) fail(f, "advance");
    mn_mpm_get_points(f->mpm, f->points);
}

static void free_flow(flow *f)
{
    mn_mpm_free(f->mpm);
    mn_context_free(f->ctx);
    free(f->points);
}

// ---- V16: Martin and Moyce's column of width a and height 2 a ----

static bool in_box(const void *shape, mn_vec3 x)
{
    const mn_box *b = shape;
    return x.x > b->min.x && x.x < b->max.x && x.y > b->min.y && x.y < b->max.y && x.z > b->min.z &&
           x.z < b->max.z;
}

// The front: so far that one particle in a thousand is ahead of it. A spray of a few is no front.
static int rising(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double front(const flow *f)
{
    double *x = malloc(sizeof *x * (size_t)f->count);
    for (int64_t i = 0; i < f->count; i++) x[i] = f->points[i].position.x;
    qsort(x, (size_t)f->count, sizeof *x, rising);
    const double at = x[f->count - 1 - f->count / 1000];
    free(x);
    return at;
}

// Water on a floor that it slips along or that holds it: a real one holds it, but through a layer of half a
// millimetre, a fraction of a cell.
static void dam_break(double cells, mn_mpm_wall floor_kind, const char *name)
{
    if (!validation_wanted("V16", name)) return;
    static const double when[6] = {0.84, 1.43, 1.98, 2.51, 2.98, 3.33};
    static const double where[6] = {1.22, 1.67, 2.33, 3.00, 3.67, 4.11};
    const double a = 0.05715, g = 9.81, dx = a / cells, wide = 4 * dx;
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = dx, def.density = 998, def.sigma = 0.0728, def.viscosity = 1e-3, def.gravity = mn_v3(0, -g, 0);
    def.max_substeps = 10000000;
    def.domain = (mn_box){{0, 0, 0}, {a * 8, a * 8, wide}};
    def.wall[0] = def.wall[1] = MN_MPM_SEPARATE;
    def.wall[2] = floor_kind;
    def.wall[4] = def.wall[5] = MN_MPM_SLIP;
    const mn_box column = {{0, 0, 0}, {a, 2 * a, wide}};
    flow f = make_flow(&def, column, in_box, &column);
    double t = 0, worst = 0, mean = 0;
    for (int k = 0; k < 6; k++) {
        const double next = when[k] / sqrt(2 * g / a);
        advance(&f, next - t);
        t = next;
        const double error = front(&f) / a / where[k] - 1;
        worst = fmax(worst, fabs(error));
        mean += error / 6;
    }
    char text[160];
    snprintf(text, sizeof text, "%s: front of Martin and Moyce's column, worst of six (mean %+.1f %%)", name,
             100 * mean);
    validation_row_below("V16", text, worst, "of the front", 0.1);
    free_flow(&f);
}

// ---- V15: a thread of radius R between two mirrors, r = R (1 + e cos kx) ----

static const double pi = 3.14159265358979323846;

typedef struct thread {
    double radius, k, wave;
} thread;

static bool in_thread(const void *shape, mn_vec3 x)
{
    const thread *t = shape;
    return x.x < pi / t->k && hypot(x.y, x.z) < t->radius * (1 + t->wave * cos(t->k * x.x));
}

// The section's area is pi R^2 (1 + 2 e cos kx), so e is the mean of cos kx.
static double wave_of(const flow *f, double k)
{
    double sum = 0;
    for (int64_t i = 0; i < f->count; i++) sum += cos(k * f->points[i].position.x);
    return sum / (double)f->count;
}

static flow make_thread(double kr, double cells, double wave, thread *t)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    *t = (thread){.radius = 1e-3, .k = kr / 1e-3, .wave = wave};
    const double length = pi / t->k, reach = 1.2 * t->radius;
    def.dx = t->radius / cells, def.density = 998, def.sigma = 0.0728, def.viscosity = 1e-5;
    def.max_substeps = 10000000;
    def.domain = (mn_box){{0, -1, -1}, {length, 1, 1}};
    def.wall[0] = def.wall[1] = MN_MPM_SLIP;
    const mn_box box = {{0, -reach, -reach}, {length, reach, reach}};
    return make_flow(&def, box, in_thread, t);
}

// From rest a wave grows as cosh(w t): w from when it is three times what it was.
static void breakup(double cells, const char *name)
{
    if (!validation_wanted("V15", name)) return;
    thread t;
    flow f = make_thread(0.697, cells, 0.04, &t);
    const double unit = sqrt(998 * pow(t.radius, 3) / 0.0728);
    advance(&f, 1e-9 * unit);
    const double first = wave_of(&f, t.k);
    double time = 0, now = first, before = first;
    while (now < 3 * first && time < 12)
        before = now, advance(&f, 0.1 * unit), time += 0.1, now = wave_of(&f, t.k);
    const double when = time - 0.1 * (now - 3 * first) / (now - before);
    char text[160];
    snprintf(text, sizeof text, "%s: growth rate of a wave on a thread", name);
    validation_row("V15", text, acosh(3) / when, 0.34334, "1/t_c", 0.2);
    free_flow(&f);
}

static void no_breakup(double cells, const char *name)
{
    if (!validation_wanted("V15", name)) return;
    thread t;
    flow f = make_thread(1.3, cells, 0.06, &t);
    const double unit = sqrt(998 * pow(t.radius, 3) / 0.0728);
    advance(&f, 1e-9 * unit);
    const double first = wave_of(&f, t.k);
    double most = 0;
    for (int i = 0; i < 12; i++) advance(&f, 0.25 * unit), most = fmax(most, fabs(wave_of(&f, t.k)));
    char text[160];
    snprintf(text, sizeof text, "%s: largest wave within 3 t_c over the first", name);
    validation_row_below("V15", text, most / first, "", 1.0);
    free_flow(&f);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    dam_break(10, MN_MPM_SLIP, "a = 10 dx, floor slips");
    if (validation_long()) {
        dam_break(10, MN_MPM_STICK, "a = 10 dx, floor sticks");
        dam_break(16, MN_MPM_SLIP, "a = 16 dx, floor slips");
        no_breakup(4, "R = 4 dx, kR 1.3");
        breakup(4, "R = 4 dx, kR 0.697");
    }
    return validation_end();
}
