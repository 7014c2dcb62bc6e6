// SPDX-License-Identifier: Apache-2.0
//
// Films that move: what a spinning cluster keeps (F17), a burst wall (F18), thickness of a bubble at rest
// (F19), iterations from thick films to thin ones (F20), a rim that draws back, a neck between rings (F21)
// and gas that passes through a film (F22). Lengths in radii, tension 2 sigma = 1, rho h = 1: times in
// sqrt(rho h r^2 / (2 sigma)).
#include "support/film_bubbles.h"
#include "support/validation.h"

#include "meniscus/context.h"
#include "meniscus/film.h"
#include "meniscus/report.h"

#include <math.h>
#include <string.h>

static const double PI = 3.14159265358979323846;
static mn_context *ctx;

// Films a ten-thousandth of a radius thick: rims and holes are larger than that.
static mn_film_def thin_def(double size)
{
    mn_film_def def = bubbles_def(size);
    def.thickness = 1e-4, def.density = 1e4;
    return def;
}

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

// ---- F17 ----

static mn_film *spinning(double size)
{
    mn_film_def def = bubbles_def(size);
    def.gibbs = 0.5;
    const mn_vec3 x[2] = {{0, 0, 0}, {0.95, 0, 0}};
    const double r[2] = {1, 0.6};
    mn_film *film = bubbles_cluster(ctx, 2, x, r, &def);
    bubbles_settle(film);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        vertex->velocity = mn_add(mn_v3(0.1, 0.05, -0.02), mn_cross(mn_v3(0.1, 0.3, 0.2), vertex->position));
    }
    return film;
}

static void momenta(void)
{
    if (!validation_wanted("F17", "momenta")) return;
    for (int remeshed = 1; remeshed >= 0; remeshed--) {
        mn_film *film = spinning(0.25);
        const mn_report before = bubbles_report(film);
        for (int i = 0; i < 500; i++) {
            if (remeshed) {
                must(mn_film_advance(film, NULL, 0.02));
            } else {
                double stretch;
                must(mn_film_step_try(film, 0.02, &stretch));
                mn_film_step_accept(film);
                must(mn_film_measure_pockets(film));
            }
        }
        const mn_report after = bubbles_report(film);
        const double mass = before.value[MN_REPORT_mass][0];
        const mn_vec3 p0 = bubbles_vector(&before, MN_REPORT_momentum),
                      p1 = bubbles_vector(&after, MN_REPORT_momentum);
        const mn_vec3 l0 = bubbles_vector(&before, MN_REPORT_angular_momentum);
        const mn_vec3 l1 = bubbles_vector(&after, MN_REPORT_angular_momentum);
        const char *how = remeshed ? "remeshed" : "mesh kept";
        char name[100];
        snprintf(name, sizeof name, "film, spinning double bubble, 500 steps, %s: mass", how);
        validation_row("F17", name, after.value[MN_REPORT_mass][0], mass, "m", 1e-12);
        snprintf(name, sizeof name, "film, spinning double bubble, 500 steps, %s: change of P over P", how);
        validation_row_below("F17", name, mn_distance(p0, p1) / mn_norm(p0), "", 1e-10);
        snprintf(name, sizeof name, "film, spinning double bubble, 500 steps, %s: change of L over L", how);
        validation_row_below("F17", name, mn_distance(l0, l1) / mn_norm(l0), "", remeshed ? 1e-3 : 1e-10);
        mn_film_free(film);
    }
}

// ---- F18 ----

static void burst_wall(void)
{
    if (!validation_wanted("F18", "wall")) return;
    mn_film_def def = thin_def(0.2);
    def.burst = true, def.drag = 2, def.damping = 1, def.max_dt = 0.05;
    mn_film *film = bubbles_double(ctx, &def);
    bubbles_settle(film);
    const mn_vec3 prick = {0, 0, 0};
    const mn_film_inputs own = {.prick_count = 1, .pricks = &prick};
    const mn_solver_inputs inputs = {.own = &own};
    must(mn_film_advance(film, &inputs, 0.02));
    for (int i = 0; i < 40; i++) must(mn_film_advance(film, NULL, 0.5));
    const double reference = cbrt(27.0 / 16), volume = film->pockets.data[1].volume;
    validation_row("F18", "film, double bubble whose wall bursts, radius", cbrt(volume * 3 / (4 * PI)),
                   reference, "r", 0.01);
    validation_row("F18", "film, double bubble whose wall bursts, excess pressure",
                   film->pockets.data[1].excess, 2 / reference, "gamma/r", 0.01);
    validation_row_absolute("F18", "film, double bubble whose wall bursts, pockets",
                            (double)film->pockets.count - 1, 1, "", 0.5);
    mn_film_free(film);
}

// ---- F19 ----

static void even_thickness(void)
{
    if (!validation_wanted("F19", "thickness")) return;
    mn_film_def def = bubbles_def(0.2);
    def.gibbs = 0.5;
    const mn_vec3 x = {0, 0, 0};
    const double r = 1;
    mn_film *film = bubbles_cluster(ctx, 1, &x, &r, &def);
    bubbles_settle(film);
    must(mn_film_advance(film, NULL, 12));
    must(mn_film_system_matrix(film, film->x0.data));
    double sum = 0, square = 0, area = 0;
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const double a = film->system.area.data[v], h = film->c.vertices.data[v].mass / a;
        area += a, sum += a * h, square += a * h * h;
    }
    const double mean = sum / area;
    validation_row_below("F19", "film, resting bubble after 12 t_c, Gibbs 0.5, deviation of its thickness",
                         sqrt(fmax(0, square / area - mean * mean)) / mean, "h", 0.01);
    mn_film_free(film);
}

// ---- F20 ----

// A bubble that wobbles in steps of one length, from thick films to thin ones.
static void iterations(void)
{
    if (!validation_wanted("F20", "iterations")) return;
    double most = 0, fewest = INFINITY;
    for (int i = 1; i <= 4; i++) {
        mn_film_def def = mn_film_default_def();
        const mn_vec3 x = {0, 0, 0};
        const double r = 0.01;
        def.size = 0.0008, def.gibbs = 0.5, def.drag = 0.2, def.max_dt = 0.001;
        def.thickness = r * pow(10, -i);
        mn_film *film = bubbles_cluster(ctx, 1, &x, &r, &def);
        for (int64_t v = 0; v < film->c.vertices.count; v++) {
            mn_complex_vertex *vertex = &film->c.vertices.data[v];
            const double c = vertex->position.y / r;
            vertex->velocity = mn_scale(0.05 * (3 * c * c - 1), mn_scale(1 / r, vertex->position));
        }
        must(mn_film_advance(film, NULL, 0.005));
        const mn_report report = bubbles_report(film);
        const double count =
            report.value[MN_REPORT_linear_iterations][0] / report.value[MN_REPORT_substeps][0];
        most = fmax(most, count), fewest = fmin(fewest, count);
        mn_film_free(film);
    }
    validation_short(
        "2 iterations where a film is solved by its mass alone (h/R 0.1), 8.2 where tension is all (1e-4); "
        "with its mesh a step costs 3.0 to 3.6 us a vertex, x 1.2");
    validation_row_below("F20", "film alone, most over fewest iterations, h/R 0.1 to 1e-4", most / fewest, "",
                         1.5);
}

// ---- F21 ----

static mn_film *sheet(const mn_film_def *def, double radius, double height)
{
    mn_geo *geo;
    mn_film *film;
    const mn_film_sheet_def shape = {{0, 0, 0}, radius, height, def->size, def->thickness, true, 0};
    must(mn_film_sheet_create(ctx, &shape, &geo));
    must(mn_film_create(ctx, def, &film));
    const int64_t n = mn_geo_point_count(geo), count = mn_geo_primitive_count(geo);
    mn_vec3 *x = malloc(sizeof *x * (size_t)n);
    uint8_t *pinned = malloc((size_t)n);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)count);
    for (int64_t i = 0; i < n; i++) {
        x[i] = mn_geo_position(geo, i);
        const double rim = height > 0 ? fabs(fabs(x[i].y) - 0.5 * height) : radius - mn_norm(x[i]);
        pinned[i] = rim < 1e-3 * def->size;
    }
    for (int64_t i = 0; i < 3 * count; i++) t[i / 3][i % 3] = (int32_t)mn_geo_vertex_points(geo)[i];
    const mn_film_source source = {.point_count = n,
                                   .positions = x,
                                   .pinned = pinned,
                                   .triangle_count = count,
                                   .triangles = (const int32_t(*)[3])t};
    must(mn_film_add(film, &source));
    free(x), free(pinned), free(t);
    mn_geo_free(geo);
    return film;
}

// A hole in a flat film: its rim reaches the speed of Taylor and Culick, sqrt(2 sigma / (rho h)) = 1.
static void rim(void)
{
    if (!validation_wanted("F21", "rim")) return;
    mn_film_def def = thin_def(0.025);
    def.burst = true, def.max_dt = 0.01;
    mn_film *film = sheet(&def, 1, 0);
    const mn_vec3 prick = {0, 0, 0};
    const mn_film_inputs own = {.prick_count = 1, .pricks = &prick};
    const mn_solver_inputs inputs = {.own = &own};
    must(mn_film_advance(film, &inputs, 0.01));
    double radius[2] = {0, 0};
    for (int i = 0; i < 2; i++) {
        must(mn_film_advance(film, NULL, i == 0 ? 0.35 : 0.3));
        int64_t count = 0;
        for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
            if (mn_complex_on_rim(&film->c, v))
                radius[i] += mn_norm(mn_complex_position(&film->c, v)), count++;
        radius[i] /= (double)count;
    }
    validation_row("F21", "film, hole in a film, speed of its rim", (radius[1] - radius[0]) / 0.3, 1, "V",
                   0.02);
    mn_film_free(film);
}

// Between rings of radius 1 and distance 1: the neck c with c cosh(1/(2 c)) = 1.
static void catenoid(void)
{
    if (!validation_wanted("F21", "catenoid")) return;
    const mn_film_def def = bubbles_def(0.1);
    mn_film *film = sheet(&def, 1, 1);
    bubbles_settle(film);
    double neck = INFINITY, c = 0.9;
    for (int i = 0; i < 100; i++) c = 1 / cosh(0.5 / c);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        const mn_vec3 x = film->c.vertices.data[v].position;
        neck = fmin(neck, sqrt(x.x * x.x + x.z * x.z));
    }
    validation_row("F21", "film, catenoid between rings 1 apart, radius of the neck", neck, c, "r", 0.005);
    mn_film_free(film);
}

// ---- F22 ----

// dV/dt = -k A q with q = 4 sigma / R: R^2 = R0^2 - 8 sigma k t.
static void diffusion(void)
{
    if (!validation_wanted("F22", "diffusion")) return;
    mn_film_def def = bubbles_def(0.12);
    def.diffusion = 0.05, def.damping = 1,
    def.ambient_pressure = 1e4; // without drag, which would push as well
    const mn_vec3 x = {0, 0, 0};
    const double r = 1, time = 2;
    mn_film *film = bubbles_cluster(ctx, 1, &x, &r, &def);
    bubbles_settle(film);
    const double start = cbrt(film->pockets.data[1].volume * 3 / (4 * PI));
    must(mn_film_advance(film, NULL, time));
    const double end = cbrt(film->pockets.data[1].volume * 3 / (4 * PI));
    validation_row("F22", "film, bubble that loses gas, its radius squared", end * end,
                   start * start - 8 * def.sigma * def.diffusion * time, "r^2", 0.02);
    const double gas = film->pockets.data[1].amount + film->ledger.gas_out - film->ledger.gas_in;
    validation_row_below("F22", "film, bubble that loses gas, gas that is unaccounted for",
                         fabs(gas) / film->ledger.gas_in, "", 1e-12);
    mn_film_free(film);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    const mn_hooks hooks = {.max_workers = 1};
    ctx = mn_context_create(&hooks);
    momenta();
    burst_wall();
    even_thickness();
    iterations();
    rim();
    catenoid();
    diffusion();
    mn_context_free(ctx);
    return validation_end();
}
