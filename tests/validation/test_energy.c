// SPDX-License-Identifier: Apache-2.0
//
// Energy that nothing drives (G2): every solver over ten of its natural periods, without viscosity, at its
// own steps and at the longest that it accepts. What is shown never has more than 5 % above its start; an
// advance that would have is refused with a sentence.
//
//   E = kinetic + surface + elastic + contact + gas     of the report and of the solver's books
//
// All solvers are driven through their tables, so that what is measured is the same for each.
#include <stdlib.h>

#include "meniscus/meniscus.h"
#include "support/elastic_shapes.h"
#include "support/film_bubbles.h"
#include "support/film_stage.h"
#include "support/tet_drop.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846, sigma = 0.0728, rho = 998, radius = 2e-3;
static const mn_hooks one_worker = {.max_workers = 1};
enum { PERIODS = 10, FRAMES = 8 }; ///< frames a period

static double energy_of(const mn_solver_type *type, const mn_solver *solver)
{
    static const mn_solver_inputs none = {0};
    mn_report report;
    mn_energy_books books = {0};
    mn_solver_report(type, solver, &report);
    if (type->energy) type->energy(solver, &none, &books);
    return report.value[MN_REPORT_kinetic_energy][0] + report.value[MN_REPORT_surface_energy][0] +
           books.stored;
}

/// Ten periods; the first frame sets the start, for surfaces are first measured in a step.
static void watch(const char *name, const mn_solver_type *type, mn_solver *solver, double period,
                  const char *reason)
{
    double start = 0, most = 0;
    int32_t f = 0;
    mn_status status = MN_OK;
    for (; f <= PERIODS * FRAMES && status == MN_OK; f++) {
        status = mn_solver_advance(type, solver, NULL, f == 0 ? 1e-4 * period : period / FRAMES);
        if (status != MN_OK) break;
        const double energy = energy_of(type, solver);
        if (f == 0) start = energy;
        most = fmax(most, energy / start - 1);
    }
    if (status != MN_OK && status != MN_ERROR_DIVERGED) {
        fprintf(stderr, "%s: %s\n", name, mn_context_message(solver->ctx));
        exit(1);
    }
    char text[200];
    if (status == MN_OK)
        snprintf(text, sizeof text, "%s: energy above its start", name);
    else
        snprintf(text, sizeof text, "%s: energy above its start, refused after %.1f periods", name,
                 (double)(f - 1) / FRAMES);
    if (reason) validation_short(reason);
    validation_row_below("G2", text, most, "", 0.05);
}

static bool wanted(const char *name)
{
    return validation_wanted("G2", name);
}

/// Of an ellipsoid, length over width 1.5, about its sphere: a small oscillation's.
static double drop_period(void)
{
    return 2 * pi * sqrt(rho * radius * radius * radius / (8 * sigma));
}

/// Below zero inside, and nearer than the true distance.
static void ellipsoid(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    (void)user;
    const double a = radius * pow(1.5, 2.0 / 3), b = radius * pow(1.5, -1.0 / 3);
    for (int64_t i = 0; i < count; i++)
        distances[i] = b * (mn_norm(mn_v3(x[i].x / a, x[i].y / b, x[i].z / b)) - 1);
}

static void particles(const char *name, mn_mpm_integrator integrator, double cells, double cfl)
{
    if (!wanted(name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = radius / cells, def.sigma = sigma, def.density = rho, def.viscosity = 0, def.cfl = cfl;
    def.integrator = integrator, def.gravity = mn_v3(0, 0, 0), def.max_substeps = 10000000;
    mn_fill_def fill = mn_fill_default_def();
    fill.dx = def.dx;
    mn_vec3_array x = {0};
    const double half = 1.5 * radius;
    const mn_region region = {NULL, ellipsoid, {{-half, -half, -half}, {half, half, half}}};
    mn_mpm *mpm;
    tet_drop_must(ctx, mn_fill(ctx, &fill, &region, &x));
    tet_drop_must(ctx, mn_mpm_create(ctx, &def, &mpm));
    tet_drop_must(ctx, mn_mpm_add(mpm, &(mn_mpm_source){.count = x.count, .position = x.data}));
    watch(name, &mn_mpm_solver, (mn_solver *)mpm, drop_period(), NULL);
    mn_array_free(ctx, &x);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void tetrahedra(const char *name, double edge)
{
    if (!wanted(name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_tet_mesh *mesh = tet_drop(ctx, (tet_drop_shape){.radius = radius, .edge = edge, .aspect = 1.5});
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0), def.sigma = sigma, def.density = rho, def.viscosity = 0, def.max_dt = 1e6;
    mn_tet_liquid *liquid;
    tet_drop_must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    watch(name, &mn_tet_liquid_solver, (mn_solver *)liquid, drop_period(), NULL);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

/// A bubble that is pulled long and let go, in units of its film: gamma = rho h = R = 1.
static void bubble(const char *name)
{
    if (!wanted(name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    const mn_vec3 center = {0};
    const double one = 1;
    mn_film_def def = bubbles_def(0.3);
    def.max_dt = 1e6;
    mn_film *film = bubbles_cluster(ctx, 1, &center, &one, &def);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        mn_complex_vertex *vertex = &film->c.vertices.data[v];
        vertex->velocity =
            mn_scale(0.4, mn_v3(2 * vertex->position.x, -vertex->position.y, -vertex->position.z));
    }
    watch(name, &mn_film_solver, (mn_solver *)film, 2 * pi / sqrt(8.0), NULL);
    mn_film_free(film);
    mn_context_free(ctx);
}

static mn_vec3 pulled(mn_vec3 x)
{
    return mn_v3(1.3 * x.x, x.y / sqrt(1.3), x.z / sqrt(1.3));
}

/// The same of points.
static void bubble_of_points(const char *name)
{
    if (!wanted(name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = 0.01, source.spacing = 0.0015, source.thickness = 1e-5;
    mn_codim_def def = mn_codim_default_def();
    def.spacing = 0.0015, def.gravity = mn_v3(0, 0, 0), def.air_drag = 0, def.viscosity = 0, def.max_dt = 1e6;
    film_stage stage = film_open(ctx, &def, &source, pulled, NULL);
    const double period = 2 * pi * sqrt(def.density * source.thickness * 1e-4 / (8 * 2 * def.sigma));
    watch(name, &mn_codim_solver, (mn_solver *)stage.mls, period, NULL);
    film_close(&stage);
    mn_context_free(ctx);
}

/// A ball of jelly that is pulled long and let go.
static void jelly(const char *name, mn_elastic_integrator integrator)
{
    if (!wanted(name)) return;
    mn_context *ctx = mn_context_create(&one_worker);
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0), def.integrator = integrator, def.damping = 0, def.max_dt = 1e6;
    elastic_shape *shape = shape_create();
    shape_ball(shape, mn_v3(0, 0, 0), 0.05, 6);
    const double shear = def.young / (2 * (1 + def.poisson)), speed = sqrt(shear / def.density);
    for (int32_t i = 0; i < shape->points; i++)
        shape->v[i] = mn_scale(0.1 * speed / 0.05, mn_v3(2 * shape->x[i].x, -shape->x[i].y, -shape->x[i].z));
    const mn_elastic_body body = shape_body(shape, MN_ELASTIC_SOLID);
    mn_elastic *elastic;
    tet_drop_must(ctx, mn_elastic_create(ctx, &def, &elastic));
    tet_drop_must(ctx, mn_elastic_add(elastic, &body));
    watch(name, &mn_elastic_solver, (mn_solver *)elastic, 2 * pi * 0.05 / (2.66 * speed), NULL);
    mn_elastic_free(elastic);
    free(shape);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    tetrahedra("tet, 648 tetrahedra", 0.4);
    bubble("film, bubble");
    bubble_of_points("mls, bubble");
    jelly("elastic, ball of 1,296 tetrahedra, BDF2", MN_ELASTIC_BDF2);
    particles("mpm, R = 4 dx, implicit", MN_MPM_IMPLICIT, 4, 0.6);
    if (validation_long()) {
        particles("mpm, R = 4 dx, explicit", MN_MPM_EXPLICIT, 4, 0.6);
        particles("mpm, R = 4 dx, explicit, cfl 10", MN_MPM_EXPLICIT, 4, 10);
        particles("mpm, R = 4 dx, semi_implicit", MN_MPM_SEMI_IMPLICIT, 4, 0.6);
        particles("mpm, R = 8 dx, implicit", MN_MPM_IMPLICIT, 8, 0.6);
        jelly("elastic, ball of 1,296 tetrahedra, explicit", MN_ELASTIC_EXPLICIT);
    }
    return validation_end();
}
