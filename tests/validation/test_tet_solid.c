// SPDX-License-Identifier: Apache-2.0
//
// Solids in the tetrahedral solver, with known answers: beams (M3, M7, M14), two layers (M8, M13), a bar that
// hits a wall (M9), one that spins (M15), a cube that melts (M16), a block that is squeezed (M19).
#include "meniscus/meniscus.h"
#include "support/tet_lattice_brick.h"
#include "support/tet_remesh_solid.h"
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

static mn_tet_material elastic(double young, double poisson)
{
    return (mn_tet_material){.name = "test",
                             .density = 1,
                             .young = young,
                             .poisson = poisson,
                             .heat_capacity = 1,
                             .reference_temperature = 300};
}

// A beam along x from the wall x = 0, to which it is clamped: height and width 1, E = rho = 1.
typedef struct beam {
    mn_context *ctx;
    mn_tet_liquid *solver;
    double length;
} beam;

static beam beam_make(int32_t cells, double slender, double poisson, double gravity,
                      mn_tet_integrator integrator, double step)
{
    beam b = {.ctx = mn_context_create(&hooks), .length = slender};
    mn_tet_mesh *mesh = tet_lattice_brick(b.ctx, (int32_t)(cells * slender), cells, cells, 1.0 / cells, 0.05);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 1, def.sigma = def.viscosity = 0, def.quality = 0, def.merge = false,
    def.split_threshold = 0;
    def.gravity = mn_v3(0, -gravity, 0), def.integrator = integrator;
    def.max_dt = step, def.capillary_step = 1e9;
    mn_tet_field *pin;
    must(b.ctx, mn_tet_mesh_add_field(mesh, MN_TET_PIN, MN_TET_LINEAR, 1, &pin));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) pin->data[i] = mesh->position[i].x < 1e-9;
    must(b.ctx, mn_tet_liquid_create(b.ctx, &def, mesh, &b.solver));
    const mn_tet_material material = elastic(1, poisson);
    must(b.ctx, mn_tet_liquid_set_materials(b.solver, 1, &material));
    mn_tet_mesh_free(mesh);
    return b;
}

static void beam_free(beam *b)
{
    mn_tet_liquid_free(b->solver);
    mn_context_free(b->ctx);
}

// How far the free end has come down.
static double beam_tip(const beam *b)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(b->solver);
    const mn_vec3 *rest = mn_tet_field_vectors(b->solver, MN_TET_REST);
    double sum = 0;
    int32_t count = 0;
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        if (rest[i].x > b->length - 1e-6) sum += rest[i].y - mesh->position[i].y, count++;
    return sum / count;
}

static void bent_beam(int32_t cells, double slender, double poisson, double bound)
{
    char name[96];
    snprintf(name, sizeof name, "beam, L/h = %g, %d cells, Poisson's ratio %g: deflection", slender, cells,
             poisson);
    if (!validation_wanted("M3", name)) return;
    const double l4 = slender * slender * slender * slender, gravity = 1e-3 * slender / (1.5 * l4);
    const double period = 2 * pi / (1.8751 * 1.8751) * sqrt(12 * l4);
    beam b = beam_make(cells, slender, poisson, gravity, MN_TET_SDIRK2, period);
    must(b.ctx, mn_tet_liquid_advance(b.solver, NULL, 20 * period));
    validation_row("M3", name, beam_tip(&b) / slender, 1e-3, "of the length", bound);
    beam_free(&b);
}

// A beam bent far by its weight, remeshed all over five times under load, unloaded: it must be straight.
static void remeshed_beam(void)
{
    if (!validation_wanted("M14", "remeshed beam")) return;
    const int32_t cells = 3;
    const double slender = 6, l4 = slender * slender * slender * slender,
                 gravity = 0.14 * slender / (1.5 * l4);
    const double period = 2 * pi / (1.8751 * 1.8751) * sqrt(12 * l4);
    beam b = beam_make(cells, slender, 0.3, gravity, MN_TET_SDIRK2, 0.5 * period);
    mn_tet_material damped = elastic(1, 0.3);
    damped.viscosity = 0.075 * period; // so that it comes to rest within a period or two
    must(b.ctx, mn_tet_liquid_set_materials(b.solver, 1, &damped));
    must(b.ctx, mn_tet_liquid_advance(b.solver, NULL, 4 * period));
    const double bent = beam_tip(&b);
    const double energy = mn_tet_solids_elastic_energy(b.solver);
    double jump = 0;
    for (int i = 0; i < 5; i++) {
        // Every other time edges are divided and contracted: vertices come and go.
        mn_tet_remesh_def def = mn_tet_remesh_default_def();
        mn_tet_resample_report report;
        def.quality = 0.9, def.feature_angle = 40;
        def.min_edge = (i % 2 ? 0.6 : 0.4) / cells, def.max_edge = (i % 2 ? 2 : 1.2) / cells;
        must(b.ctx, tet_remesh_solid(b.solver, &def, &report));
        if (i == 0) jump = mn_tet_solids_elastic_energy(b.solver) / energy - 1;
        must(b.ctx, mn_tet_liquid_advance(b.solver, NULL, 2 * period));
    }
    const double loaded = beam_tip(&b);

    b.solver->def.gravity = mn_v3(0, 0, 0);
    // After 4 periods it still moves, by up to 7e-4; after 8 it is at rest to three digits of what is left.
    must(b.ctx, mn_tet_liquid_advance(b.solver, NULL, 8 * period));
    validation_row_below("M14", "bent beam remeshed 5 times and unloaded: left", fabs(beam_tip(&b)) / bent,
                         "of the deflection", 1e-3);
    validation_row_below("M14", "the same: change of the deflection under load", fabs(loaded / bent - 1), "",
                         0.03);
    validation_row_below("M14", "the same: elastic energy made or lost at the first", fabs(jump), "", 0.1);
    beam_free(&b);
}

// The beam's swing from a push in the shape of its first mode.
static void swinging_beam(void)
{
    if (!validation_wanted("M7", "swing")) return;
    const double slender = 8, l4 = 4096, k = 1.8751, steps = 100;
    const double period = 2 * pi / (k * k) * sqrt(12 * l4);
    beam b = beam_make(4, slender, 0.3, 0, MN_TET_BDF2, period / steps);
    mn_vec3 *v = mn_tet_field_vectors(b.solver, MN_TET_V);
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(b.solver);
    const double mix = (cosh(k) + cos(k)) / (sinh(k) + sin(k));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const double z = k * mesh->position[i].x / slender;
        const double shape = 0.5 * (cosh(z) - cos(z) - mix * (sinh(z) - sin(z)));
        const double slope = 0.5 * k / slender * (sinh(z) + sin(z) - mix * (cosh(z) - cos(z)));
        const double speed = 1e-3 * slender * 2 * pi / period;
        v[i] = mn_v3(-speed * slope * (mesh->position[i].y - 0.5), speed * shape, 0);
    }
    mn_report report;
    mn_tet_liquid_report(b.solver, &report);
    const double first = report.value[MN_REPORT_kinetic_energy][0];
    double before = 0, crossing[2] = {0};
    int crossings = 0;
    for (int i = 1; i <= 105 && crossings < 2; i++) {
        must(b.ctx, mn_tet_liquid_advance(b.solver, NULL, period / steps));
        const double tip = beam_tip(&b);
        if (i > 1 && before * tip < 0) crossing[crossings++] = (i - tip / (tip - before)) / steps;
        before = tip;
    }
    mn_tet_liquid_report(b.solver, &report);
    const double left = report.value[MN_REPORT_kinetic_energy][0] + mn_tet_solids_elastic_energy(b.solver);
    validation_row("M7", "swing of a beam, L/h = 8, 4 cells, 100 steps: period", crossing[1], 1, "period",
                   0.03);
    validation_row_below("M7", "the same: energy lost in a period", 1 - left / first, "of the first", 0.01);
    beam_free(&b);
}

// A solid layer under liquid between slippery walls.
static void layers(int32_t cells)
{
    if (!validation_wanted("M13", "layer")) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double edge = 1.0 / cells, gravity = 1e-3, poisson = 0.3;
    mn_tet_mesh *mesh = tet_lattice_layers(ctx, cells / 2, cells, cells / 2, edge, 0.1, cells / 2);
    mn_tet_field *material;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double y = 0;
        for (int k = 0; k < 4; k++) y += 0.25 * mesh->position[mesh->tet[t][k]].y;
        material->data[t] = y > 0.5;
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 1, def.sigma = 0, def.viscosity = 0, def.quality = 0, def.merge = false,
    def.split_threshold = 0;
    def.soft_stiffness = 0, def.integrator = MN_TET_SDIRK2;
    def.gravity = mn_v3(0, -gravity, 0), def.max_dt = 10, def.capillary_step = 1e9;
    def.domain = (mn_box){{0, 0, 0}, {0.5, 9, 0.5}};
    for (int k = 0; k < 6; k++) def.wall[k] = k != 3;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    mn_tet_material materials[2] = {elastic(1, poisson), elastic(0, 0)};
    materials[1].viscosity = 0.01;
    must(ctx, mn_tet_liquid_set_materials(solver, 2, materials));
    must(ctx, mn_tet_liquid_advance(solver, NULL, 300));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
    const mn_vec3 *rest = mn_tet_field_vectors(solver, MN_TET_REST);
    double sunk = 0, sideways = 0, lower = 0;
    for (int32_t i = 0; i < now->vertex_slots; i++) {
        const mn_vec3 d = mn_sub(now->position[i], rest[i]);
        sideways = fmax(sideways, hypot(d.x, d.z));
    }
    // Of the solid's volume.
    for (int32_t t = 0; t < now->tet_slots; t++)
        if (mn_tet_liquid_is_solid(solver, t))
            sunk += mn_tet_mesh_tet_volume(now, t),
                lower += mn_tet_volume(rest[now->tet[t][0]], rest[now->tet[t][1]], rest[now->tet[t][2]],
                                       rest[now->tet[t][3]]);
    const double height = lower / 0.25, above = 1 - height;
    const double g = 1 / (2 * (1 + poisson)), k = 1 / (3 * (1 - 2 * poisson));
    const double exact = gravity * (above * height + height * height / 2) / (k + 4 * g / 3);
    char name[96];
    snprintf(name, sizeof name, "elastic layer under liquid, %d cells: sinks", cells);
    validation_row("M13", name, (lower - sunk) / 0.25, exact, "of the height", 0.01);
    validation_row_below("M13", "the same: largest way sideways", sideways / exact, "of the sinking", 0.15);
    mn_report report;
    mn_tet_liquid_report(solver, &report);
    validation_row_below("M13", "the same: speed at the end", report.value[MN_REPORT_max_speed][0] / (exact),
                         "sinkings a second", 1e-3);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// A copper bar hits a slippery wall.
static void taylor_bar(int32_t across, int32_t along, double step)
{
    if (!validation_wanted("M9", "bar")) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double length = 32.4e-3, radius = 3.2e-3;
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, across, along, across, 1, 0);
    mn_tet_field *v;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const double x = 2 * mesh->position[i].x / across - 1, z = 2 * mesh->position[i].z / across - 1;
        const double square = fmax(fabs(x), fabs(z)), disc = hypot(x, z);
        const double part = radius * (disc > 0 ? 1 + square * (square / disc - 1) : 1);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(part * x, length * mesh->position[i].y / along, part * z));
        v->data[3 * i + 1] = -227;
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 8930, def.sigma = 0, def.quality = 0, def.merge = false, def.split_threshold = 0;
    def.max_dt = step, def.capillary_step = 1e9;
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}}, def.wall[2] = true;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    const mn_tet_material copper = {.name = "copper",
                                    .density = 8930,
                                    .young = 117e9,
                                    .poisson = 0.35,
                                    .yield = 400e6,
                                    .hardening = 100e6,
                                    .heat_capacity = 385,
                                    .reference_temperature = 293.15};
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &copper));
    mn_report report;
    mn_tet_liquid_report(solver, &report);
    const double mass = report.value[MN_REPORT_mass][0];
    must(ctx, mn_tet_liquid_advance(solver, NULL, 80e-6));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
    double low = 1, high = 0, wide = 0, volume = 0;
    for (int32_t i = 0; i < now->vertex_slots; i++) {
        low = fmin(low, now->position[i].y), high = fmax(high, now->position[i].y);
        wide = fmax(wide, hypot(now->position[i].x, now->position[i].z));
    }
    for (int32_t t = 0; t < now->tet_slots; t++) volume += mn_tet_mesh_tet_volume(now, t);
    mn_tet_liquid_report(solver, &report);
    char name[96];
    snprintf(name, sizeof name, "copper bar, %d tetrahedra: length", now->tet_count);
    validation_row("M9", name, 1e3 * (high - low), 21.45, "mm", 0.015);
    validation_row("M9", "the same: largest radius", 1e3 * wide, 7.15, "mm", 0.03);
    validation_row_below("M9", "the same: volume gained or lost", fabs(volume * 8930 / mass - 1), "", 1e-3);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// Two layers that expand differently bend: curvature 1.5 d(alpha) dT/h for equal layers.
static void bimetal(int32_t cells, double slender)
{
    if (!validation_wanted("M8", "bimetal")) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double expansion = 1e-3, warm = 1,
                 period = 2 * pi / (1.8751 * 1.8751) * sqrt(12) * slender * slender;
    mn_tet_mesh *mesh =
        tet_lattice_layers(ctx, (int32_t)(cells * slender), cells, cells, 1.0 / cells, 0.05, cells / 2);
    mn_tet_field *material, *pin, *temperature;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double y = 0;
        for (int k = 0; k < 4; k++) y += 0.25 * mesh->position[mesh->tet[t][k]].y;
        material->data[t] = y > 0.5;
    }
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_PIN, MN_TET_LINEAR, 1, &pin));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) pin->data[i] = mesh->position[i].x < 1e-9;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_TEMPERATURE, MN_TET_LINEAR, 1, &temperature));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) temperature->data[i] = 300;
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 1, def.sigma = def.viscosity = 0, def.quality = 0, def.merge = false,
    def.split_threshold = 0;
    def.integrator = MN_TET_SDIRK2, def.max_dt = period, def.capillary_step = 1e9;
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    mn_tet_material materials[2] = {elastic(1, 0.3), elastic(1, 0.3)};
    materials[0].expansion = expansion;
    must(ctx, mn_tet_liquid_set_materials(solver, 2, materials));
    double *degrees = mn_tet_field_numbers(solver, MN_TET_TEMPERATURE);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) degrees[i] = 300 + warm;
    must(ctx, mn_tet_liquid_advance(solver, NULL, 20 * period));
    // y = a + b x + c x^2 over what is far from the clamp and the end: curvature 2 c.
    const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
    const mn_vec3 *rest = mn_tet_field_vectors(solver, MN_TET_REST);
    mn_mat3 sums = {0}, inverse;
    mn_vec3 side = {0};
    for (int32_t i = 0; i < now->vertex_slots; i++) {
        if (rest[i].x < 1.5 || rest[i].x > slender - 1) continue;
        const mn_vec3 basis = mn_v3(1, rest[i].x, rest[i].x * rest[i].x);
        sums = mn_m3_add(sums, mn_outer(basis, basis));
        side = mn_axpy(side, now->position[i].y - rest[i].y, basis);
    }
    if (!mn_m3_inverse(sums, &inverse)) exit(1);
    char name[96];
    snprintf(name, sizeof name, "bimetal, L/h = %g, %d cells: curvature", slender, cells);
    validation_row("M8", name, 2 * mn_m3_apply(inverse, side).z, 1.5 * expansion * warm, "1/h", 0.05);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// A stiff bar that turns freely, 0.1 rad a step.
static void spinning_bar(double stiffness)
{
    char name[96];
    snprintf(name, sizeof name, "bar that spins, E/(rho w^2 L^2) = %g: energy lost in a turn", stiffness);
    if (!validation_wanted("M15", name)) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double length = 4;
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 8, 2, 2, 0.5, 0.05);
    mn_tet_field *v;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 r = mn_sub(mesh->position[i], mn_v3(2, 0.5, 0.5));
        v->data[3 * i] = -r.y, v->data[3 * i + 1] = r.x;
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 1, def.sigma = 0, def.quality = 0, def.merge = false, def.split_threshold = 0;
    def.max_dt = 0.1, def.capillary_step = 1e9, def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    const mn_tet_material material = elastic(stiffness * length * length, 0.3);
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &material));
    mn_report report;
    mn_tet_liquid_report(solver, &report);
    const double first = report.value[MN_REPORT_kinetic_energy][0];
    must(ctx, mn_tet_liquid_advance(solver, NULL, 2 * pi));
    mn_tet_liquid_report(solver, &report);
    const double left = report.value[MN_REPORT_kinetic_energy][0] + mn_tet_solids_elastic_energy(solver);
    validation_row_below("M15", name, fabs(1 - left / first), "of it", 0.02);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// A block squeezed by its own motion: 0.9 of yield stress times plastic strain is heat.
static void squeezed_block(void)
{
    if (!validation_wanted("M19", "squeezed block")) return;
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 4, 4, 4, 0.25, 0.05);
    mn_tet_field *v;
    must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 r = mn_sub(mesh->position[i], mn_v3(0.5, 0.5, 0.5));
        const mn_vec3 speed = mn_v3(0.5 * r.x, -r.y, 0.5 * r.z);
        memcpy(v->data + 3 * i, &speed, sizeof speed);
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 1, def.sigma = 0, def.quality = 0, def.merge = false, def.split_threshold = 0;
    def.max_dt = 0.01, def.capillary_step = 1e9, def.heat = true, def.air_transfer = 0;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    mn_tet_material metal = elastic(100, 0.3);
    metal.yield = 0.1, metal.hardening = 0.2, metal.conductivity = 0.1;
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &metal));
    must(ctx, mn_tet_solids_find_melted(solver));
    const double before = mn_tet_solids_thermal_energy(solver);
    must(ctx, mn_tet_liquid_advance(solver, NULL, 0.5));
    const double *strain = mn_tet_field_numbers(solver, MN_TET_PLASTIC_STRAIN);
    double work = 0, most = 0;
    for (int32_t t = 0; t < solver->mesh->tet_slots; t++) {
        work += (metal.yield + 0.5 * metal.hardening * strain[t]) * strain[t] * mn_tet_liquid_room(solver, t);
        most = fmax(most, strain[t]);
    }
    char name[96];
    snprintf(name, sizeof name, "squeezed block, plastic strain up to %.2g: heat over plastic work", most);
    validation_row("M19", name, (mn_tet_solids_thermal_energy(solver) - before) / work, 0.9, "", 1e-6);
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// A frozen cube melts in warm gas, and becomes a ball.
static void melting_cube(int32_t cells, bool remesh)
{
    char name[96];
    snprintf(name, sizeof name, "frozen cube in warm gas, %d tetrahedra%s", 12 * cells * cells * cells,
             remesh ? ", remeshed" : "");
    if (!validation_wanted("M16", name)) return;
    mn_context *ctx = mn_context_create(&hooks);
    const double radius = cbrt(0.75 / pi); // of the ball that it becomes
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, cells, cells, cells, 1.0 / cells, 0.05);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 1, def.quality = remesh ? 0.25 : 0, def.merge = false, def.split_threshold = 0,
    def.capillary_step = 0.5;
    def.heat = true, def.air_temperature = 320, def.air_transfer = 0.5;
    mn_tet_liquid *solver;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &solver));
    const mn_tet_material frozen = {.name = "frozen",
                                    .density = 1,
                                    .young = 60 / radius,
                                    .poisson = 0.4,
                                    .sigma = 1,
                                    .viscosity = 0.3,
                                    .conductivity = 5,
                                    .heat_capacity = 1,
                                    .latent_heat = 50,
                                    .melting_point = 300,
                                    .reference_temperature = 300};
    must(ctx, mn_tet_liquid_set_materials(solver, 1, &frozen));
    double *temperature = mn_tet_field_numbers(solver, MN_TET_TEMPERATURE),
           *solid = mn_tet_field_numbers(solver, MN_TET_SOLID);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) temperature[i] = 299;
    for (int32_t t = 0; t < mesh->tet_slots; t++) solid[t] = 1;
    must(ctx, mn_tet_solids_prepare(solver));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) mn_tet_field_numbers(solver, MN_TET_HEAT)[i] = 0;
    must(ctx, mn_tet_solids_find_melted(solver));
    const double before = mn_tet_solids_thermal_energy(solver);
    for (int i = 0; i < 60; i++) must(ctx, mn_tet_liquid_advance(solver, NULL, 0.1));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(solver);
    double volume = 0, least = 9, most = 0;
    for (int32_t t = 0; t < now->tet_slots; t++) volume += mn_tet_mesh_tet_volume(now, t);
    mn_vec3 center = mn_tet_liquid_center(solver);
    for (int32_t i = 0; i < now->vertex_slots; i++)
        if (mn_tet_vertex_on_boundary(now, i)) {
            const double r = mn_distance(now->position[i], center) / radius;
            least = fmin(least, r), most = fmax(most, r);
        }
    char text[160];
    snprintf(text, sizeof text, "%s: volume gained or lost", name);
    validation_row_below("M16", text, fabs(volume - 1), "of it", 1e-10);
    snprintf(text, sizeof text, "%s: heat kept less heat that came in", name);
    validation_row_below("M16", text,
                         fabs(mn_tet_solids_thermal_energy(solver) - before - solver->solids.heat_in) /
                             solver->solids.heat_in,
                         "of it", 1e-8);
    if (cells > 4) { // the bound is for about 5,000 tetrahedra
        snprintf(text, sizeof text, "%s: smallest radius", name);
        validation_row("M16", text, least, 1, "R", 0.02);
        snprintf(text, sizeof text, "%s: largest radius", name);
        validation_row("M16", text, most, 1, "R", 0.02);
    }
    mn_tet_liquid_free(solver);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    bent_beam(4, 8, 0.3, 0.05);
    layers(8);
    squeezed_block();
    spinning_bar(625);
    melting_cube(4, false);
    melting_cube(4, true);
    if (validation_long()) {
        melting_cube(7, true);
        bent_beam(4, 8, 0.49, 0.05);
        spinning_bar(6);
        bimetal(4, 8);
        swinging_beam();
        remeshed_beam();
        taylor_bar(4, 18, 0.25e-6);
    }
    return validation_end();
}
