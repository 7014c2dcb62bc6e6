// SPDX-License-Identifier: Apache-2.0
//
// A drop alone, with the tetrahedral solver: Laplace pressure (V1), parasitic currents (V2), oscillation (V3,
// V4), viscous decay (V5), conservation (V6) and scale (V13). What is measured is what the mesh and the
// report show.
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "support/potential_drop.h"
#include "support/tet_drop.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

typedef struct drop_case {
    tet_drop_shape shape;
    double sigma, density, ohnesorge;
    double step; ///< of sqrt(density size^3/sigma); 0: the solver's own
    mn_vec3 velocity, spin;
} drop_case;

typedef struct drop {
    mn_context *ctx;
    mn_tet_liquid *liquid;
    mn_tet_liquid_def def;
    double radius, time; ///< m; s, sqrt(rho R^3/sigma)
} drop;

static drop make_drop(const drop_case *c)
{
    static const mn_hooks hooks = {.max_workers = 1};
    drop d = {.radius = c->shape.radius};
    d.ctx = mn_context_create(&hooks);
    d.time = sqrt(c->density * pow(d.radius, 3) / c->sigma);
    d.def = mn_tet_liquid_default_def();
    d.def.gravity = mn_v3(0, 0, 0);
    d.def.sigma = c->sigma, d.def.density = c->density, d.def.max_substeps = 10000000;
    d.def.viscosity = c->ohnesorge * sqrt(c->density * c->sigma * d.radius);
    d.def.max_dt = 1e6; // s: drops of every size take the steps of their own time
    if (c->step > 0) d.def.capillary_step = c->step;
    mn_tet_mesh *mesh = tet_drop(d.ctx, c->shape);
    mn_tet_field *v;
    tet_drop_must(d.ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 w = mn_add(c->velocity, mn_cross(c->spin, mesh->position[i]));
        v->data[3 * i] = w.x, v->data[3 * i + 1] = w.y, v->data[3 * i + 2] = w.z;
    }
    tet_drop_must(d.ctx, mn_tet_liquid_create(d.ctx, &d.def, mesh, &d.liquid));
    mn_tet_mesh_free(mesh);
    return d;
}

static void free_drop(drop *d)
{
    mn_tet_liquid_free(d->liquid);
    mn_context_free(d->ctx);
}

static void advance(drop *d, double capillary_times)
{
    tet_drop_must(d->ctx, mn_tet_liquid_advance(d->liquid, NULL, capillary_times * d->time));
}

static mn_report report_of(const drop *d)
{
    mn_report report;
    mn_tet_liquid_report(d->liquid, &report);
    return report;
}

static double energy_of(const drop *d)
{
    const mn_report r = report_of(d);
    return r.value[MN_REPORT_kinetic_energy][0] + r.value[MN_REPORT_surface_energy][0];
}

// (a - b)/(a + b) of the semi-axes by second moments: the drop's own swing along x.
static double elongation(const drop *d)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(d->liquid);
    double xx = 0, rr = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_vec3 sum = {0}, squares = {0};
        for (int k = 0; k < 4; k++) {
            const mn_vec3 x = mesh->position[mesh->tet[t][k]];
            sum = mn_add(sum, x), squares = mn_add(squares, mn_mul(x, x));
        }
        const mn_vec3 moment = mn_scale(mn_tet_mesh_tet_volume(mesh, t), mn_add(mn_mul(sum, sum), squares));
        xx += moment.x, rr += 0.5 * (moment.y + moment.z);
    }
    return (sqrt(xx) - sqrt(rr)) / (sqrt(xx) + sqrt(rr));
}

/// A return of the elongation to a maximum.
typedef struct peak {
    double time, height; ///< in capillary times; of the elongation
    double energy;       ///< J, there
} peak;

// The next maximum, by a parabola through its three highest values. `now` is the time already gone.
static peak find_peak(drop *d, double step, double *now, double longest)
{
    double before = elongation(d), here = before;
    bool low = before < 0;
    while (*now < longest) {
        advance(d, step), *now += step;
        const double next = elongation(d);
        low = low || next < 0;
        if (low && here > 0 && here >= before && here > next) {
            const double shift = 0.5 * (before - next) / (before - 2 * here + next);
            return (peak){*now - step + shift * step, here - 0.25 * (before - next) * shift, energy_of(d)};
        }
        before = here, here = next;
    }
    return (peak){NAN, NAN, NAN};
}

static const tet_drop_shape ball = {.radius = 2e-3, .edge = 0.2};

// ---- the rows ----

static double inner_pressure(const drop *d)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(d->liquid);
    const double *p = mn_tet_mesh_find_field(mesh, "pressure")->data;
    double sum = 0;
    int64_t count = 0;
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        if (!mn_tet_vertex_on_boundary(mesh, i)) sum += p[i], count++;
    return sum / (double)count;
}

// A ball left to itself at Oh 0.3.
static double pressure_error(double edge, double times)
{
    drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .ohnesorge = 0.3};
    c.shape.edge = edge;
    drop d = make_drop(&c);
    advance(&d, times);
    const double pressure = inner_pressure(&d), expected = 2 * c.sigma / ball.radius;
    char text[96];
    snprintf(text, sizeof text, "%d tetrahedra, Oh 0.3, %g t_c: mean inner pressure",
             mn_tet_liquid_mesh(d.liquid)->tet_count, times);
    validation_row("V1", text, pressure, expected, "Pa", 0.01);
    free_drop(&d);
    return fabs(pressure / expected - 1);
}

// Rings out at Oh 0.3, then is held at Oh 0.02.
static void parasitic_currents(void)
{
    const drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .ohnesorge = 0.3};
    drop d = make_drop(&c);
    const double speed = sqrt(c.sigma / (c.density * ball.radius));
    double early = 0, late = 0;
    advance(&d, 6);
    d.def.viscosity *= 0.02 / 0.3;
    tet_drop_must(d.ctx, mn_tet_liquid_set_def(d.liquid, &d.def));
    for (double t = 0.25; t <= 10 + 1e-9; t += 0.25) {
        advance(&d, 0.25);
        const double now = report_of(&d).value[MN_REPORT_max_speed][0] / speed;
        if (t <= 5)
            early = fmax(early, now);
        else
            late = fmax(late, now);
    }
    validation_row_below("V2", "6,700 tetrahedra, 10 t_c at Oh 0.02 after 6 at 0.3: largest speed",
                         fmax(early, late), "sqrt(sigma/(rho R))", 1e-6);
    // Both halves lie at the solver's tolerance, 1e-8 of the forces, and wander there.
    validation_row_below("V2", "its growth: second half less first", fmax(late - early, 0),
                         "sqrt(sigma/(rho R))", 1e-7);
    validation_row("V1", "6,700 tetrahedra, then: mean inner pressure", inner_pressure(&d),
                   2 * c.sigma / ball.radius, "Pa", 0.01);
    free_drop(&d);
}

static void small_oscillation(void)
{
    drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .step = 0.18};
    c.shape.p2 = 0.05;
    drop d = make_drop(&c);
    double now = 0;
    const double start = elongation(&d);
    const peak first = find_peak(&d, 0.05, &now, 3.5);
    validation_row("V3", "6,700 tetrahedra: period", first.time, 2 * pi / sqrt(8), "sqrt(rho R^3/sigma)",
                   0.005);
    validation_row_above("V3", "amplitude left after it", first.height / start, "", 0.98);
    free_drop(&d);
}

static void large_oscillation(void)
{
    // 4 x 2 x 2 mm; the reference is a converged axisymmetric computation.
    const drop_case c = {.shape = {.radius = 1e-3 * cbrt(4.0 * 2 * 2), .edge = 0.2, .aspect = 2},
                         .sigma = 0.07038,
                         .density = 997,
                         .step = 0.18};
    drop d = make_drop(&c);
    const double start = elongation(&d), area = 4 * pi * d.radius * d.radius;
    const double energy = energy_of(&d) - c.sigma * area;
    const mn_report before = report_of(&d);
    double now = 0;
    const peak first = find_peak(&d, 0.05, &now, 4);
    const mn_report after = report_of(&d);
    mn_vec3 drift = {0};
    for (int k = 0; k < 3; k++)
        (&drift.x)[k] = after.value[MN_REPORT_center][k] - before.value[MN_REPORT_center][k];
    validation_row("V4", "6,700 tetrahedra, remeshed: first period", first.time * d.time, 37.2e-3, "s", 0.01);
    validation_row_above("V4", "amplitude left after it", first.height / start, "", 0.96);
    double period, left;
    potential_drop_period(2, &period, &left);
    validation_row("V4", "first period, against potential flow", first.time, period, "sqrt(rho R^3/sigma)",
                   0.01);
    validation_row("V4", "amplitude left after it, against potential flow", first.height / start, left, "",
                   0.005);
    validation_row_below("V4", "volume drift",
                         fabs(after.value[MN_REPORT_volume][0] / before.value[MN_REPORT_volume][0] - 1), "",
                         1e-4);
    validation_row_below("V4", "drift of the centre", mn_norm(drift) / d.radius, "R", 1e-4);
    // Energy decays at twice the amplitude's rate 5 nu/R^2.
    const double lost = (energy - (first.energy - c.sigma * area)) / energy;
    const double viscosity = 0.5 * lost / (first.time * d.time) * d.radius * d.radius * c.density / 5;
    validation_row_below("V4", "numerical viscosity from the energy lost or won", fabs(viscosity), "Pa s",
                         1e-5);
    free_drop(&d);
}

static void viscous_decay(void)
{
    drop_case c = {.shape = ball, .sigma = 0.0728, .density = 998, .ohnesorge = 0.02, .step = 0.18};
    c.shape.p2 = 0.05;
    drop d = make_drop(&c);
    double now = 0;
    const peak first = find_peak(&d, 0.05, &now, 3.5), second = find_peak(&d, 0.05, &now, 6);
    // a(t) = a0 exp(-5 nu t/R^2), and nu t_c/R^2 = Oh; the first period holds the start of the viscous layer.
    validation_row("V5", "6,700 tetrahedra, Oh 0.02: decay rate in the second period",
                   log(first.height / second.height) / (second.time - first.time), 5 * c.ohnesorge, "1/t_c",
                   0.1);
    free_drop(&d);
}

static void conservation(double edge, int least_steps)
{
    drop_case c = {.shape = {.radius = 2e-3, .edge = edge, .aspect = 1.5}, .sigma = 0.0728, .density = 998};
    const double speed = sqrt(c.sigma / (c.density * c.shape.radius));
    c.velocity = mn_v3(speed, 0.5 * speed, 0);
    c.spin = mn_scale(speed / c.shape.radius, mn_v3(0.2, 0.3, 1));
    drop d = make_drop(&c);
    const mn_report before = report_of(&d);
    mn_report after = before;
    double steps = 0;
    while (steps < least_steps) {
        advance(&d, 0.1);
        after = report_of(&d);
        steps += after.value[MN_REPORT_substeps][0];
    }
    double linear = 0, angular = 0;
    for (int a = 0; a < 3; a++) {
        linear = fmax(linear, fabs(after.value[MN_REPORT_momentum][a] - before.value[MN_REPORT_momentum][a]));
        angular = fmax(angular, fabs(after.value[MN_REPORT_angular_momentum][a] -
                                     before.value[MN_REPORT_angular_momentum][a]));
    }
    const double mass = before.value[MN_REPORT_mass][0];
    char text[96];
    snprintf(text, sizeof text, "edge R/%g, %d steps, remeshed: mass", 1 / edge, least_steps);
    validation_row("V6", text, after.value[MN_REPORT_mass][0], mass, "kg", 1e-12);
    validation_row_below("V6", "linear momentum", linear / (mass * speed), "M U", 1e-10);
    validation_row_below("V6", "angular momentum", angular / (mass * speed * d.radius), "M U R", 1e-3);
    free_drop(&d);
}

// The same drop at other scales: elongation after a third of a swing.
static void scales(void)
{
    double reference = 0, worst = 0;
    const double radii[] = {1, 1e-3, 1e-6};
    for (int k = 0; k < 3; k++) {
        drop_case c = {.shape = {.radius = radii[k], .edge = 0.4, .p2 = 0.05},
                       .sigma = 0.0728,
                       .density = 998,
                       .ohnesorge = 0.02};
        drop d = make_drop(&c);
        advance(&d, 0.7);
        const double now = elongation(&d);
        if (k == 0) reference = now;
        worst = fmax(worst, fabs(now - reference) / 0.05);
        free_drop(&d);
    }
    validation_row_below("V13", "elongation at 0.7 t_c, R = 1 m, 1 mm, 1 um: relative spread", worst, "",
                         1e-6);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    if (validation_wanted("V13", "scale")) scales();
    if (validation_wanted("V6", "conservation, coarse")) conservation(0.4, 100);
    const bool pressure = validation_wanted("V1", "pressure");
    const double coarse = pressure ? pressure_error(0.4, 3) : 0;
    if (validation_long()) {
        if (pressure)
            validation_row_above("V1", "its order from edge R/2.5 to R/5",
                                 log2(coarse / pressure_error(0.2, 3)), "", 1.8);
        if (validation_wanted("V2", "parasitic currents")) parasitic_currents();
        if (validation_wanted("V3", "small oscillation")) small_oscillation();
        if (validation_wanted("V4", "large oscillation")) large_oscillation();
        if (validation_wanted("V5", "viscous decay")) viscous_decay();
        if (validation_wanted("V6", "conservation, fine")) conservation(0.2, 500);
    }
    return validation_end();
}
