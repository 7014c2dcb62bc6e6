// SPDX-License-Identifier: Apache-2.0
//
// What the papers of the MPM solver show and do not measure: the return flow that a gradient of surface
// tension drives (P1), a slab on an incline with friction (P2), the parasitic speed of a drop that moves
// (P3); and tracers in a known flow (P4).
#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/analytic_volume.h"
#include "support/mpm_liquid.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

/// Whether liquid is at x.
typedef bool region(mn_vec3 x, const double *sizes);

static bool in_all(mn_vec3 x, const double *sizes)
{
    (void)x, (void)sizes;
    return true;
}

static bool in_ball(mn_vec3 x, const double *sizes)
{
    return mn_norm(x) < sizes[0];
}

// Eight particles a cell, one in each octant at a random place within half of it.
static liquid fill(const mn_mpm_def *def, mn_box box, region *inside, const double *sizes, mn_vec3 velocity)
{
    static const mn_hooks hooks = {.max_workers = 1};
    liquid f = {.ctx = mn_context_create(&hooks)};
    const double h = 0.5 * def->dx;
    const mn_vec3 e = mn_scale(1 / h, mn_sub(box.max, box.min));
    const int64_t n[3] = {llround(e.x), llround(e.y), llround(e.z)}, all = n[0] * n[1] * n[2];
    mn_vec3 *x = malloc(sizeof *x * (size_t)all), *v = malloc(sizeof *v * (size_t)all);
    for (int64_t i = 0; i < all; i++) {
        const mn_vec3 cell = mn_v3((double)(i / n[2] / n[1]), (double)(i / n[2] % n[1]), (double)(i % n[2]));
        const mn_vec3 jitter = mn_scale(0.5, mn_random_unit3(1, (uint64_t)i, 0));
        const mn_vec3 at = mn_axpy(box.min, h, mn_add(cell, mn_add(jitter, mn_v3(0.25, 0.25, 0.25))));
        if (inside(at, sizes)) v[f.count] = velocity, x[f.count++] = at;
    }
    if (mn_mpm_create(f.ctx, def, &f.mpm) != MN_OK) fail(&f, "create");
    if (mn_mpm_add(f.mpm, &(mn_mpm_source){.count = f.count, .position = x, .velocity = v}) != MN_OK)
        fail(&f, "add");
    free(x), free(v);
    f.points = malloc(sizeof *f.points * (size_t)f.count);
    return f;
}

// ---- P1: a shallow tank whose surface tension grows along x ----

static void tension_value(const analytic_volume *v, mn_vec3 x, double *out)
{
    out[0] = v->r + v->a.x * x.x;
}

// Far from the ends the liquid flows back below as much as it flows along the surface:
//
//   u(y) = (d sigma/dx h / (4 mu)) (3 (y/h)^2 - 2 y/h)
//
// fitted over the middle third as U (3 s^2 - 2 s), by least squares; U is the speed of the surface.
static void return_flow(double cells, double bound, const char *name)
{
    if (!validation_wanted("P1", name)) return;
    const double h = 6e-3, dx = h / cells, wide = 4 * dx, length = 4 * h, slope = 0.2, mu = 0.5;
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx, def.viscosity = mu, def.hydrostatic = true, def.contact_angle = 90;
    def.domain = (mn_box){{-0.5 * length, 0, 0}, {0.5 * length, 4 * h, wide}};
    def.wall[0] = def.wall[1] = def.wall[2] = MN_MPM_STICK;
    def.wall[4] = def.wall[5] = MN_MPM_SLIP;
    const mn_box pool = {def.domain.min, mn_v3(0.5 * length, h, wide)};
    liquid f = fill(&def, pool, in_all, NULL, mn_v3(0, 0, 0));
    mn_volume tension = analytic_make("sigma", 1, 1e-3, 1);
    analytic_volume *v = tension.handle;
    v->r = 0.05, v->a = mn_v3(slope, 0, 0), v->value = tension_value;
    const mn_solver_inputs inputs = {.sigma = tension};
    const double diffusion = 1000 * h * h / mu;
    // The surface tilts until what flows back balances: within 0.6 of the diffusion time.
    advance(&f, &inputs, 2.4 * diffusion);
    double top = 0, bottom = 0;
    enum { LOOKS = 4 };
    for (int k = 0; k < LOOKS; k++) {
        advance(&f, &inputs, 0.1 * diffusion);
        for (int64_t i = 0; i < f.count; i++) {
            const mn_vec3 x = f.points[i].position;
            if (fabs(x.x) > length / 6) continue;
            const double s = x.y / h, shape = 3 * s * s - 2 * s;
            top += shape * f.points[i].velocity.x, bottom += shape * shape;
        }
    }
    validation_row("P1", name, top / bottom, slope * h / (4 * mu), "m/s", bound);
    mn_volume_release(&tension);
    let_go(&f);
}

// ---- P2: a slab on an incline ----

/// A slab that slides, or sticks, and how long it is looked at.
typedef struct slide {
    double friction, viscosity, time;
    mn_mpm_integrator integrator;
    double tolerance; ///< newton_tolerance
} slide;

static mn_vec3 mean_velocity(const liquid *f)
{
    mn_vec3 sum = {0};
    for (int64_t i = 0; i < f->count; i++) sum = mn_axpy(sum, 1 / (double)f->count, f->points[i].velocity);
    return sum;
}

// It slides with g sin - mu N/m, N/m = g cos + what its middle, which sinks as the slab spreads, is stopped
// by; or it stays.
static void incline(const char *name, slide s)
{
    if (!validation_wanted("P2", name)) return;
    const double dx = 1e-3, angle = pi / 6, g = 9.81, h = 4 * dx;
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx, def.sigma = 0, def.viscosity = s.viscosity, def.friction = s.friction;
    def.gravity = mn_v3(g * sin(angle), -g * cos(angle), 0);
    def.integrator = s.integrator, def.max_dt = 2e-4, def.newton_tolerance = s.tolerance;
    def.domain = (mn_box){{-1, 0, 0}, {1, 1, 4 * dx}}, def.hydrostatic = true;
    def.wall[2] = MN_MPM_SEPARATE;
    def.wall[4] = def.wall[5] = MN_MPM_SLIP;
    const mn_box slab = {{0, 0, 0}, {24 * dx, h, 4 * dx}};
    liquid f = fill(&def, slab, in_all, NULL, mn_v3(0, 0, 0));
    // Over the later half: at first the upper layers run ahead of the lowest, until viscosity holds them.
    advance(&f, NULL, 0.5 * s.time);
    const mn_vec3 before = mean_velocity(&f);
    advance(&f, NULL, 0.5 * s.time);
    const mn_vec3 gained = mn_scale(2 / s.time, mn_sub(mean_velocity(&f), before));
    const bool slides = s.friction < tan(angle);
    char text[160];
    snprintf(text, sizeof text, "%s, incline of 30 deg, friction %g: acceleration", name, s.friction);
    const double known = slides ? g * sin(angle) - s.friction * (g * cos(angle) + gained.y) : 0;
    validation_row_absolute("P2", text, gained.x, known, "m/s^2", 0.002); // as M4
    let_go(&f);
}

// ---- P3: a drop that moves ----

// The parasitic speed: what the particles move against the drop, root of the mean square.
static double parasitic(double cells, double speed, mn_mpm_surface_particles kind)
{
    const double R = 1e-3, dx = R / cells, sigma = 0.072, rho = 1000;
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx, def.gravity = mn_v3(0, 0, 0), def.sigma = sigma, def.viscosity = 1e-3;
    def.surface_particles = kind;
    const mn_box box = {mn_v3(-R, -R, -R), mn_v3(R, R, R)};
    const mn_vec3 velocity = mn_scale(speed, mn_normalize(mn_v3(3, 2, 1)));
    liquid f = fill(&def, box, in_ball, &R, velocity);
    const double capillary = sqrt(rho * R * R * R / sigma);
    double sum = 0;
    for (int k = 0; k < 10; k++) { // the later half
        advance(&f, NULL, 0.2 * capillary);
        for (int64_t i = 0; k >= 5 && i < f.count; i++)
            sum += mn_norm2(mn_sub(f.points[i].velocity, velocity)) / (5 * (double)f.count);
    }
    let_go(&f);
    return sqrt(sum) / sqrt(sigma / (rho * R));
}

static void moving_drop(double cells)
{
    if (!validation_wanted("P3", "drop")) return;
    const double scale = sqrt(0.072 / (1000 * 1e-3));
    char text[160];
    for (int kind = 0; kind < 2; kind++) {
        const char *name = kind == MN_MPM_RESAMPLED ? "resampled" : "massless";
        const double rest = parasitic(cells, 0, (mn_mpm_surface_particles)kind);
        const double moving = parasitic(cells, scale, (mn_mpm_surface_particles)kind);
        snprintf(
            text, sizeof text,
            "%s, R = %g dx, moving at (sigma/(rho R))^1/2: parasitic speed, of that at rest (%.2g of it)",
            name, cells, rest);
        validation_row_below("P3", text, moving / rest, "", 1);
    }
}

// ---- P4: tracers ----

// How far from its start a point is after it has been carried once around a vortex.
static double miss_of_a_turn(int steps)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_volume flow = analytic_motion(mn_v3(0, 0, 0), mn_v3(0, 0, 1), mn_v3(0, 0, 0));
    const mn_solver_inputs inputs = {.wind = flow};
    mn_trace_point row = {.position = {1, 0, 0}};
    mn_trace_def def = mn_trace_default_def();
    mn_solver *solver;
    mn_view view = {0};
    mn_vec3 x = {NAN, NAN, NAN};
    def.max_dt = 2 * pi / steps, def.max_substeps = 1000000;
    ((analytic_volume *)flow.handle)->voxel_size = 1e3; // so that max_dt alone limits
    if (mn_solver_create(ctx, &mn_trace_solver, &def, &solver) != MN_OK ||
        mn_trace_solver.add(solver, 1, &row, 1) != MN_OK || mn_trace_solver.place(solver, &inputs) != MN_OK ||
        mn_solver_advance(&mn_trace_solver, solver, &inputs, 2 * pi) != MN_OK ||
        mn_trace_solver.view(solver, &inputs, 0, &view) != MN_OK)
        exit(1);
    memcpy(&x, view.columns[0].data, sizeof x);
    mn_solver_free(&mn_trace_solver, solver);
    mn_volume_release(&flow);
    mn_context_free(ctx);
    return mn_distance(x, mn_v3(1, 0, 0));
}

static void tracers(void)
{
    if (!validation_wanted("P4", "tracers")) return;
    validation_row_absolute("P4", "point carried once around a vortex, 80 against 160 steps: order",
                            log2(miss_of_a_turn(80) / miss_of_a_turn(160)), 2, "", 0.1);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    return_flow(6, 0.08, "tank of depth h = 6 dx, sigma grows by 0.2 N/m per m: speed of the surface");
    incline("explicit", (slide){0.3, 1, 0.1, MN_MPM_EXPLICIT, 0.05});
    if (validation_long()) {
        incline("explicit", (slide){0.65, 10, 0.2, MN_MPM_EXPLICIT, 0.05});
        incline("implicit, newton_tolerance 1e-3", (slide){0.3, 10, 0.1, MN_MPM_IMPLICIT, 1e-3});
    }
    if (validation_long()) moving_drop(6);
    tracers();
    return validation_end();
}
