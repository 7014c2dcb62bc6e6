// SPDX-License-Identifier: Apache-2.0
//
// Liquid between walls, with the tetrahedral solver: a thread breaking up (V15) and a dam break (V16).
#include "meniscus/meniscus.h"
#include "support/potential_column.h"
#include "support/tet_shapes.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static const mn_hooks hooks = {.max_workers = 1};

// sum V cos(k x): what the wave holds more in its crests than in its troughs.
static double wave(const mn_tet_mesh *mesh, double k)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double mean = 0;
        for (int i = 0; i < 4; i++) mean += 0.25 * cos(k * mesh->position[mesh->tet[t][i]].x);
        sum += mean * mn_tet_mesh_tet_volume(mesh, t);
    }
    return sum;
}

// A thread of radius 1 between two walls half a wave apart, which liquid meets at 90 degrees: to it they are
// mirrors. From rest the amplitude goes with cosh(rate t). In units of radius, density and sigma.
static double growth(double k, double edge, double until, int32_t *tets)
{
    mn_context *ctx = mn_context_create(&hooks);
    const double length = pi / k, amplitude = 0.03;
    const int32_t across = 2 * (int32_t)(1 / edge + 0.5);
    mn_tet_mesh *mesh = tet_brick(ctx, (int32_t)(length / edge + 0.5), across, across);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        const double square = fmax(fabs(p.y), fabs(p.z)), disc = hypot(p.y, p.z), x = length * (p.x + 0.5);
        const double radial =
            2 * (1 + amplitude * cos(k * x)) * (disc > 0 ? 1 + 2 * square * (square / disc - 1) : 1);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(x, radial * p.y, radial * p.z));
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = def.sigma = 1, def.viscosity = 0, def.size = edge, def.max_substeps = 1000000;
    def.domain = (mn_box){{0, -9, -9}, {length, 9, 9}};
    def.wall[0] = def.wall[1] = true;
    mn_tet_liquid *liquid;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    const double start = wave(mn_tet_liquid_mesh(liquid), k);
    must(ctx, mn_tet_liquid_advance(liquid, NULL, until));
    const double ratio = wave(mn_tet_liquid_mesh(liquid), k) / start;
    *tets = mn_tet_liquid_mesh(liquid)->tet_count;
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return ratio;
}

static void thread(double k, double edge, double until, double rate)
{
    int32_t tets;
    const double ratio = growth(k, edge, until, &tets);
    char text[96];
    snprintf(text, sizeof text, "thread, kR = %g, %d tetrahedra: growth rate", k, tets);
    if (rate > 0)
        validation_row("V15", text, acosh(ratio) / until, rate, "sqrt(sigma/(rho R^3))", 0.1);
    else {
        snprintf(text, sizeof text, "thread, kR = %g, %d tetrahedra: amplitude after %g", k, tets, until);
        validation_row_below("V15", text, ratio, "of the first", 1);
    }
}

// The part of a tetrahedron with x above `from`: sum (x_i - from)_+^3 / prod (x_i - x_j).
static double part_ahead(const mn_tet_mesh *mesh, int32_t t, double from, double scale)
{
    double x[4], part = 0;
    // Corners at one place would divide by zero.
    for (int i = 0; i < 4; i++) x[i] = mesh->position[mesh->tet[t][i]].x + 1e-5 * scale * (i * i + i);
    for (int i = 0; i < 4; i++) {
        double product = 1;
        for (int j = 0; j < 4; j++) product *= i == j ? 1 : x[i] - x[j];
        part += pow(fmax(0, x[i] - from), 3) / product;
    }
    return part;
}

// The front: so far that a thousandth of the liquid is ahead of it, as for the particles of the other solver.
// A film or a drop is no front.
static double front_of(const mn_tet_mesh *mesh, double scale)
{
    double low = 0, high = 10 * scale;
    const double wanted = 1e-3 * mn_tet_mesh_volume(mesh);
    for (int i = 0; i < 40; i++) {
        const double middle = 0.5 * (low + high);
        double ahead = 0;
        for (int32_t t = 0; t < mesh->tet_slots; t++)
            ahead += mn_tet_mesh_tet_volume(mesh, t) * part_ahead(mesh, t, middle, scale);
        *(ahead > wanted ? &low : &high) = middle;
    }
    return low;
}

// Martin and Moyce's column: a wide, 2a high, water, walls that slip.
static void dam_break(int32_t n)
{
    static const double times[] = {0.84, 1.43, 1.98, 2.51, 2.98, 3.33},
                        fronts[] = {1.22, 1.67, 2.33, 3.00, 3.67, 4.11};
    mn_context *ctx = mn_context_create(&hooks);
    const double a = 0.05715, g = 9.81;
    mn_tet_mesh *mesh = tet_brick(ctx, n, 2 * n, n / 2);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mn_add(mesh->position[i], mn_v3(0.5, 0.5, 0.5));
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(a * p.x, 2 * a * p.y, 0.5 * a * p.z));
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.gravity = mn_v3(0, -g, 0), def.capillary_step = 0.15;
    def.domain = (mn_box){{0, 0, 0}, {10 * a, 10 * a, 0.5 * a}};
    def.wall[0] = def.wall[2] = def.wall[4] = def.wall[5] = true;
    mn_tet_liquid *liquid;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    const double volume = mn_tet_mesh_volume(mesh);
    double now = 0, worst = 0;
    potential_column column = column_start();
    for (int k = 0; k < 6; k++) {
        const double t = times[k] / sqrt(2 * g / a);
        must(ctx, mn_tet_liquid_advance(liquid, NULL, t - now));
        now = t;
        const mn_tet_mesh *m = mn_tet_liquid_mesh(liquid);
        const double front = front_of(m, a);
        char text[64];
        snprintf(text, sizeof text, "column, front at T = %.2f", times[k]);
        if (k < 2)
            validation_short(
                "potential flow has it there too, see the row below; all six times fit one delay of "
                "10 ms, as a gate would give it, see docs/theory/tet.md");
        validation_row("V16", text, front / a, fronts[k], "a", 0.1);
        column_advance(&column, times[k] / sqrt(2));
        worst = fmax(worst, fabs(front / a / column_front(&column, 1e-3) - 1));
    }
    validation_row_below("V16", "column, front against potential flow, worst of six", worst, "of the front",
                         0.03);
    validation_row_below("V16", "column, volume drift",
                         fabs(mn_tet_mesh_volume(mn_tet_liquid_mesh(liquid)) / volume - 1), "", 1e-6);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    thread(0.697, 0.5, 4, 0.34334);

    if (validation_long()) {
        thread(0.697, 0.3, 4, 0.34334);
        thread(0.4, 0.3, 4, 0.25669);
        thread(1.3, 0.35, 2, 0);
        dam_break(10);
    }
    return validation_end();
}
