// SPDX-License-Identifier: Apache-2.0
//
// Gels with surface tension in the tetrahedral solver, with known answers: a ball that oscillates (M11), a
// thread that shrinks, stays or beads (M12).
#include "meniscus/meniscus.h"
#include "support/tet_drop.h"
#include "support/tet_lattice_brick.h"
#include "support/validation.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

static const double pi = 3.14159265358979323846;
static const mn_hooks hooks = {.max_workers = 1};

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

// Of density and shear modulus 1.
static mn_tet_material make_gel(double poisson, double viscosity, double sigma)
{
    return (mn_tet_material){.name = "gel",
                             .density = 1,
                             .young = 2 * (1 + poisson),
                             .poisson = poisson,
                             .viscosity = viscosity,
                             .sigma = sigma,
                             .heat_capacity = 1,
                             .reference_temperature = 300};
}

// j_2, and (r j_2(k r))'/r.
static double bessel2(double x)
{
    return x < 1e-2 ? x * x / 15 : (3 / (x * x * x) - 1 / x) * sin(x) - 3 / (x * x) * cos(x);
}
static double bessel2_slope(double k, double r)
{
    const double h = 1e-4;
    return ((r + h) * bessel2(k * (r + h)) - (r - h) * bessel2(k * (r - h))) / (2 * h * r);
}

// The lowest mode of a ball of gel of radius 1 that oscillates with k, about x:
//   u = U Y rhat + W r grad Y,  Y = P2,   U = 2 r + 6 b j2(k r)/r,   W = r + b (r j2(k r))'/r
// with b so that its surface has no shear: W' - W + U = 0.
static mn_vec3 ball_mode(double k, mn_vec3 x)
{
    const double h = 1e-3, r = mn_norm(x), mu = r > 0 ? x.x / r : 0;
    const double shear =
        (bessel2_slope(k, 1 + h) - bessel2_slope(k, 1 - h)) / (2 * h) - bessel2_slope(k, 1) + 6 * bessel2(k);
    const double b = -2 / shear;
    if (!(r > 1e-3)) return mn_v3(0, 0, 0);
    const double radial = 2 * r + 6 * b * bessel2(k * r) / r, along = r + b * bessel2_slope(k, r);
    const mn_vec3 out = mn_scale(1 / r, x), turn = mn_sub(mn_v3(1, 0, 0), mn_scale(mu, out));
    return mn_add(mn_scale(radial * 0.5 * (3 * mu * mu - 1), out), mn_scale(3 * along * mu, turn));
}

// A ball of gel, pushed in its lowest mode: others than that would shift where the moment passes 0.
static mn_tet_liquid *pushed_ball(mn_context *ctx, double push, double elasticity, double exact)
{
    mn_tet_mesh *mesh = tet_drop(ctx, (tet_drop_shape){.radius = 1, .edge = 0.27});
    mn_tet_field *v;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 speed = mn_scale(push, ball_mode(exact, mesh->position[i]));
        memcpy(v->data + 3 * i, &speed, sizeof speed);
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 1, def.sigma = 0, def.quality = 0, def.merge = false, def.split_threshold = 0;
    def.max_dt = 2 * pi / exact / 100, def.capillary_step = 1e9;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    const mn_tet_material gel = make_gel(0.4999, 0, elasticity);
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &gel));
    mn_tet_mesh_free(mesh);
    return solver;
}

static double ball_moment(const mn_tet_liquid *solver)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(solver);
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            const mn_vec3 x = mesh->position[mesh->tet[t][k]];
            sum += mn_tet_mesh_tet_volume(mesh, t) * (x.x * x.x - 0.5 * (x.y * x.y + x.z * x.z));
        }
    return sum;
}

// A ball of gel in its lowest mode: omega R sqrt(rho/G) [theory: exact for nu = 1/2]. A mesh is not at rest
// under its tension where it is a ball, and settles: two balls pushed apart and together have that in common,
// and their difference oscillates.
static void gel_ball(double elasticity, double exact)
{
    char name[96];
    snprintf(name, sizeof name, "gel ball, sigma/(G R) = %g: frequency", elasticity);
    if (!validation_wanted("M11", name)) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double period = 2 * pi / exact, steps = 100;
    mn_tet_liquid *balls[2] = {pushed_ball(ctx, 0.01, elasticity, exact),
                               pushed_ball(ctx, -0.01, elasticity, exact)};
    double before = 0, time = 0;
    for (int i = 1; i <= 60 && time == 0; i++) {
        for (int k = 0; k < 2; k++) must(ctx, mn_tet_liquid_advance(balls[k], NULL, period / steps));
        const double moment = ball_moment(balls[0]) - ball_moment(balls[1]);
        if (i > 10 && before * moment < 0) time = (i - moment / (moment - before)) * period / steps;
        before = moment;
    }
    snprintf(name, sizeof name, "gel ball, sigma/(G R) = %g, %d tetrahedra: frequency", elasticity,
             mn_tet_liquid_mesh(balls[0])->tet_count);
    validation_row("M11", name, pi / time, exact, "sqrt(G/rho)/R", 0.03);
    for (int k = 0; k < 2; k++) mn_tet_liquid_free(balls[k]);
    mn_context_free(ctx);
}

static const double half_thread = 10; // of its length, in radii

static mn_tet_mesh *make_thread(mn_context *ctx, int32_t across, double half)
{
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, across, (int32_t)half * across, across, 1, 0);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const double x = 2 * mesh->position[i].x / across - 1, z = 2 * mesh->position[i].z / across - 1;
        const double square = fmax(fabs(x), fabs(z)), disc = hypot(x, z);
        const double part = disc > 0 ? 1 + square * (square / disc - 1) : 1;
        const double y = 2 * mesh->position[i].y / across - half;
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(part * x, y, part * z));
    }
    return mesh;
}

static mn_tet_liquid *make_gel_thread(mn_context *ctx, const mn_tet_mesh *mesh, double tension,
                                      double poisson, double viscosity)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0), def.density = 1, def.sigma = tension;
    def.quality = 0, def.merge = false, def.split_threshold = 0, def.max_dt = 1, def.capillary_step = 1e9;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    const mn_tet_material gel = make_gel(poisson, viscosity, tension);
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &gel));
    return solver;
}

// A thread of gel, 20 radii long, shrinks under its surface tension: the stretch of its middle at rest.
static void soft_thread(int32_t across, double tension, double exact)
{
    char name[96];
    snprintf(name, sizeof name, "thread of gel, sigma/(G R) = %g: length", tension);
    if (!validation_wanted("M12", name)) return;
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_mesh *mesh = make_thread(ctx, across, half_thread);
    mn_tet_liquid *solver = make_gel_thread(ctx, mesh, tension, 0.495, 7); // damps the slowest wave along it
    must(ctx, mn_tet_liquid_advance(solver, NULL, 60));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
    double products = 0, squares = 0;
    for (int32_t i = 0; i < now->vertex_slots; i++) {
        const double y = mesh->position[i].y;
        if (fabs(y) < 0.5 * half_thread) products += y * now->position[i].y, squares += y * y;
    }
    validation_row("M12", name, products / squares, exact, "of its own", 0.02);
    mn_report report;
    mn_tet_liquid_report(solver, &report);
    validation_row_below("M12", "the same: speed at the end", report.value[MN_REPORT_max_speed][0],
                         "sqrt(G/rho)", 1e-3);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// The same thread with held ends, pushed towards one bead in its middle: it beads where sigma/(G R) >
// 2 (k^2 I_0(k)^2/I_1(k)^2 - 1 - k^2)/(1 - k^2), k = 2 pi R/length: 6 for long waves, 6.15 for 40 radii, 6.66
// for 20, and more as held ends take a part of the length. So 7 is asked of 40 radii.
static void held_thread(int32_t across, double half, double tension, bool beads)
{
    char name[128];
    snprintf(name, sizeof name,
             "thread of gel %g R long, held ends, sigma/(G R) = %g: largest over smallest radius", 2 * half,
             tension);
    if (!validation_wanted("M12", name)) return;
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_mesh *mesh = make_thread(ctx, across, half);
    mn_tet_field *pin;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_PIN, MN_TET_LINEAR, 1, &pin));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) pin->data[i] = fabs(mesh->position[i].y) > half - 1e-9;
    mn_tet_liquid *solver = make_gel_thread(ctx, mesh, tension, 0.499, 0.5);
    mn_vec3 *v = mn_tet_field_vectors(solver, MN_TET_V);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const double k = pi / half, push = 0.01, y = mesh->position[i].y;
        v[i] = mn_v3(push * cos(k * y) * mesh->position[i].x, -2 * push / k * sin(k * y),
                     push * cos(k * y) * mesh->position[i].z);
    }
    double high = 0, low = 0;
    for (int time = 0; time < 150 && !(high > 2 * low && low > 0); time += 10) {
        must(ctx, mn_tet_liquid_advance(solver, NULL, 10));
        const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
        high = 0, low = INFINITY;
        for (int32_t i = 0; i < now->vertex_slots; i++) {
            const double radius = hypot(now->position[i].x, now->position[i].z);
            // Its surface, without what the held ends keep.
            if (hypot(mesh->position[i].x, mesh->position[i].z) < 1 - 1e-9) continue;
            if (fabs(mesh->position[i].y) > 0.8 * half) continue;
            high = fmax(high, radius), low = fmin(low, radius);
        }
    }
    if (beads)
        validation_row_below("M12", name, low / high, "smallest over largest", 0.5);
    else
        validation_row_below("M12", name, high / low - 1, "more", 0.05);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    gel_ball(0, 2.66562);
    if (validation_long()) {
        gel_ball(0.5, 3.27311);
        gel_ball(1, 3.76318);
        soft_thread(4, 0.5, 0.84791);
        soft_thread(4, 1, 0.72556);
        held_thread(4, half_thread, 5, false);
        held_thread(4, 2 * half_thread, 7, true);
    }
    return validation_end();
}
