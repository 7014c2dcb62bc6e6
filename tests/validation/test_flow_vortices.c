// SPDX-License-Identifier: Apache-2.0
//
// Advection and projection of the flow solver: Burgers' equation against its characteristics (W1), the
// projection of a random velocity in a cut tank (W2), Taylor-Green vortices and leapfrogging pairs (W4).
#include <stdlib.h>
#include <string.h>

#include "flow/advect.h"
#include "flow/pressure.h"
#include "meniscus/flow.h"
#include "support/flow_rows.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

static const mn_hooks one_worker = {.max_workers = 1};

static void check(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

// ---- W1 ----

/// u_k = x_k (A x)_k on the unit square, or u = (x . A x) x.
static bool burgers_radial;
static mn_vec3 burgers_data(mn_vec3 x)
{
    if (burgers_radial)
        return mn_scale(0.12 * x.x * x.x + 0.18 * x.x * x.y + 0.14 * x.y * x.y, mn_v3(x.x, x.y, 0));
    return mn_v3(x.x * (0.3 * x.x + 0.2 * x.y), x.y * (0.25 * x.x + 0.35 * x.y), 0);
}

// w = u0(x - t w) by fixed-point steps, which contract for these data up to t = 0.5.
static mn_vec3 burgers_exact(mn_vec3 x, double t)
{
    mn_vec3 w = burgers_data(x);
    for (int k = 0; k < 200; k++) w = burgers_data(mn_axpy(x, -t, w));
    return w;
}

static FILE *figures; // what scripts/flow_figures.py draws

static double burgers_error(int32_t n, mn_flow_advection scheme)
{
    mn_context *ctx = mn_context_create(&one_worker);
    const int32_t cells[3] = {n, n, 1};
    const double dx = 1.0 / n, end = 0.5;
    mn_flow_grid grid;
    check(ctx, mn_flow_grid_create(ctx, mn_v3(0, 0, 0), dx, cells, &grid));
    check(ctx, mn_flow_grid_fill(&grid));
    mn_flow_quads u = {0}, w = {0};
    check(ctx, mn_array_resize(ctx, &u, mn_flow_size(&grid)));
    check(ctx, mn_array_resize(ctx, &w, mn_flow_size(&grid)));
    for (int64_t at = 0; at < w.count; at++) {
        const mn_ivec3 c = mn_block_cell(&grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
        const mn_vec3 v = burgers_data(mn_flow_to_world(&grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5)));
        w.data[at] = (mn_double4){v.x, v.y, 0, 0};
        u.data[at] = w.data[at];
    }
    check(ctx, mn_flow_coefficients(&grid, NULL, w.data, u.data));
    const int32_t steps = (int32_t)(end / dx + 0.5);
    for (int32_t k = 0; k < steps; k++) {
        const mn_flow_carrier carrier = {&grid, u.data, end / steps, scheme, NULL, NULL, -1, NULL};
        const mn_flow_carried carried = {u.data, w.data, {0, 0, 0, 0}, NULL};
        check(ctx, mn_flow_advect(&carrier, &carried));
        check(ctx, mn_flow_coefficients(&grid, NULL, w.data, u.data));
    }
    double worst = 0;
    for (int64_t at = 0; at < w.count; at++) {
        const mn_ivec3 c = mn_block_cell(&grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
        if (c.x < 1 || c.y < 1 || c.x > n || c.y > n || c.z != 1) continue;
        const mn_vec3 e = burgers_exact(mn_flow_to_world(&grid, mn_v3(c.x + 0.5, c.y + 0.5, c.z + 0.5)), end);
        worst = fmax(worst, fmax(fabs(w.data[at][0] - e.x), fabs(w.data[at][1] - e.y)));
    }
    mn_array_free(ctx, &u);
    mn_array_free(ctx, &w);
    mn_flow_grid_free(&grid);
    mn_context_free(ctx);
    if (figures) fprintf(figures, "burgers %d %d %g\n", (int)scheme, (int)n, worst);
    return worst;
}

static void burgers(void)
{
    const struct {
        mn_flow_advection scheme;
        const char *name;
        bool radial;
    } rows[] = {{MN_FLOW_IMPLICIT, "flow, Burgers, implicit, 32 to 128", false},
                {MN_FLOW_EXPLICIT, "flow, Burgers, explicit, 32 to 128", false},
                {MN_FLOW_IMPLICIT, "flow, Burgers with u = (x.Ax) x, implicit, 32 to 128", true}};
    for (int k = 0; k < 3; k++) {
        burgers_radial = rows[k].radial;
        if (!validation_wanted("W1", rows[k].name)) continue;
        for (int32_t n = 16; figures && !burgers_radial && n <= 64; n *= 2)
            if (n != 32) burgers_error(n, rows[k].scheme);
        const double order =
            0.5 * log2(burgers_error(32, rows[k].scheme) / burgers_error(128, rows[k].scheme));
        if (rows[k].scheme == MN_FLOW_EXPLICIT)
            validation_row_absolute("W1", rows[k].name, order, 1.0, "order", 0.1);
        else
            validation_row_above("W1", rows[k].name, order, "order", 1.9);
    }
}

// ---- W2 ----

static double noise(int64_t i)
{
    return (double)((((uint64_t)i + 7) * 0x9e3779b97f4a7c15u) >> 40) / 16777216.0 - 0.5;
}

static void projection(int32_t n)
{
    char name[80];
    snprintf(name, sizeof name, "flow, cut tank with a disc, %d^3", n);
    if (!validation_wanted("W2", name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    const int32_t cells[3] = {n, n, n};
    const bool open[6] = {false};
    mn_flow_grid grid;
    mn_flow_pressure p;
    mn_flow_values surface = {0}, solid = {0};
    mn_flow_quads u = {0};
    check(ctx, mn_flow_grid_create(ctx, mn_v3(0, 0, 0), 1.0, cells, &grid));
    check(ctx, mn_flow_grid_fill(&grid));
    const int64_t size = mn_flow_size(&grid);
    check(ctx, mn_array_resize(ctx, &surface, size));
    check(ctx, mn_array_resize(ctx, &solid, size));
    check(ctx, mn_array_resize(ctx, &u, size));
    for (int64_t at = 0; at < size; at++) {
        const mn_ivec3 c = mn_block_cell(&grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
        surface.data[at] = c.y - 0.54 * n - 0.03 * c.x - 0.4 * sin(0.3 * c.z);
        solid.data[at] = hypot(c.x - 0.51 * n, c.y - 0.32 * n) - 0.166 * n;
        for (int d = 0; d < 3; d++) u.data[at][d] = noise(3 * at + d);
    }
    check(ctx, mn_flow_pressure_create(&grid, open, &p));
    const mn_flow_region region = {surface.data, solid.data};
    check(ctx, mn_flow_pressure_build(&p, &region, 0.5, true));
    mn_flow_projection result;
    double *b = flow_right_side(&p, u.data);
    check(ctx, mn_flow_project(&p, 1e-11, NULL, u.data, &result));
    validation_row_below("W2", name, flow_residual(&p, b), "left", 1e-10);
    validation_row_below("W2", name, result.iterations, "cycles", 40);
    mn_array_free(ctx, &surface);
    mn_array_free(ctx, &solid);
    mn_array_free(ctx, &u);
    mn_flow_pressure_free(&p);
    mn_flow_grid_free(&grid);
    mn_context_free(ctx);
}

// ---- W4 ----

static mn_vec3 taylor_green(void *user, mn_vec3 x)
{
    (void)user;
    return mn_v3(sin(pi * x.x) * cos(pi * x.y), -cos(pi * x.x) * sin(pi * x.y), 0);
}

/// Two pairs of vortices, one behind the other; each with a Gaussian core, by the curl of a stream function.
static mn_vec3 leapfrog(void *user, mn_vec3 x)
{
    (void)user;
    static const double place[4][3] = {{0.25, 0.62, 1}, {0.25, 0.38, -1}, {0.45, 0.60, 1}, {0.45, 0.40, -1}};
    mn_vec3 v = {0, 0, 0};
    for (int k = 0; k < 4; k++) {
        const double dx = x.x - place[k][0], dy = x.y - place[k][1], r2 = dx * dx + dy * dy, core = 0.03;
        const double f = place[k][2] * 0.1 * (1 - exp(-r2 / (2 * core * core))) / fmax(r2, 1e-12);
        v = mn_add(v, mn_v3(f * dy, -f * dx, 0));
    }
    return v;
}

static mn_flow *flat_box(mn_context *ctx, int32_t n, double cfl, mn_flow_velocity_fn *fn)
{
    mn_flow_def def = mn_flow_default_def();
    def.dx = 1.0 / n, def.flat = true, def.cfl = cfl, def.buoyancy = 0;
    def.domain_center = mn_v3(0.5, 0.5, 0), def.tolerance = 1e-6;
    mn_flow *flow;
    check(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check(ctx, mn_flow_set_velocity(flow, fn, NULL));
    return flow;
}

static double energy_of(mn_flow *flow)
{
    mn_flow_view view;
    if (mn_flow_get(flow, &view) != MN_OK) return NAN;
    double sum = 0;
    for (int64_t at = 0; at < view.block_count * 64; at++)
        if (view.fraction[at] > 0) sum += 0.5 * (pow(view.velocity[at][0], 2) + pow(view.velocity[at][1], 2));
    return sum;
}

static double velocity_error(mn_flow *flow)
{
    double sum = 0, scale = 0;
    for (int k = 0; k < 400; k++) {
        const mn_vec3 x = mn_v3((k % 20 + 0.5) / 20, (k / 20 + 0.5) / 20, 0), e = taylor_green(NULL, x);
        sum += mn_norm2(mn_sub(mn_flow_velocity_at(flow, x), e)), scale += mn_norm2(e);
    }
    return sqrt(sum / scale);
}

static double kept(int32_t n, double cfl, mn_flow_velocity_fn *fn, double t, double *error)
{
    mn_context *ctx = mn_context_create(&one_worker);
    mn_flow *flow = flat_box(ctx, n, cfl, fn);
    const double before = energy_of(flow);
    check(ctx, mn_flow_advance(flow, NULL, t));
    const double after = energy_of(flow);
    if (error) *error = velocity_error(flow);
    mn_flow_free(flow);
    mn_context_free(ctx);
    return after / before;
}

static void vortices(void)
{
    if (validation_wanted("W4", "flow, Taylor-Green")) {
        validation_row_above("W4", "flow, Taylor-Green 64^2, t = 2, CFL 4",
                             kept(64, 4, taylor_green, 2, NULL), "energy kept", 0.985);
    }
    if (validation_long() && validation_wanted("W4", "flow, Taylor-Green")) {
        validation_row_above("W4", "flow, Taylor-Green 64^2, t = 2, CFL 1",
                             kept(64, 1, taylor_green, 2, NULL), "energy kept", 0.995);
        double coarse, fine;
        kept(32, 1, taylor_green, 0.5, &coarse);
        kept(64, 1, taylor_green, 0.5, &fine);
        validation_row_above("W4", "flow, Taylor-Green velocity, 32 to 64", log2(coarse / fine), "order",
                             1.9);
    }
    if (validation_long() && validation_wanted("W4", "flow, leapfrogging pairs"))
        validation_row_above("W4", "flow, leapfrogging pairs 96^2, t = 3", kept(96, 1, leapfrog, 3, NULL),
                             "energy kept", 0.96);
}

/// The chapter's circle that turns in a box at rest: energy left, by scheme.
static mn_vec3 turning_circle(void *user, mn_vec3 x)
{
    (void)user;
    const double dx = x.x - 0.5, dy = x.y - 0.5;
    return dx * dx + dy * dy < 0.04 ? mn_v3(-4 * dy, 4 * dx, 0) : mn_v3(0, 0, 0);
}

static void rotation(void)
{
    static const mn_flow_advection schemes[] = {MN_FLOW_RK2, MN_FLOW_IMPLICIT, MN_FLOW_EXPLICIT};
    for (int k = 0; k < 3; k++) {
        mn_context *ctx = mn_context_create(&one_worker);
        mn_flow *flow = flat_box(ctx, 64, 3, turning_circle);
        mn_flow_def def = mn_flow_default_def();
        def.dx = 1.0 / 64, def.flat = true, def.cfl = 3, def.buoyancy = 0,
        def.domain_center = mn_v3(0.5, 0.5, 0);
        def.advection = schemes[k];
        check(ctx, mn_flow_set_def(flow, &def));
        const double first = energy_of(flow);
        for (int t = 0; t <= 30; t++) {
            fprintf(figures, "rotation %d %g %g\n", (int)schemes[k], 0.1 * t, energy_of(flow) / first);
            check(ctx, mn_flow_advance(flow, NULL, 0.1));
        }
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    const char *path = getenv("FLOW_FIGURES");
    figures = path ? fopen(path, "w") : NULL;
    burgers();
    if (figures) {
        rotation();
        fclose(figures);
        return validation_end();
    }
    projection(32);
    if (validation_long()) projection(64);
    vortices();
    return validation_end();
}
