// SPDX-License-Identifier: Apache-2.0
//
// Solids in the tetrahedral solver, with known answers: beams (M3, M7), two layers (M8, M13), gels (M11), a bar
// that hits a wall (M9).
#include "meniscus/meniscus.h"
#include "support/tet_lattice_brick.h"
#include "support/validation.h"
#include "tet/liquid.h"

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

static beam beam_make(int32_t cells, double slender, double poisson, double gravity, mn_tet_integrator integrator,
                      double step)
{
    beam b = {.ctx = mn_context_create(&hooks), .length = slender};
    mn_tet_mesh *mesh = tet_lattice_brick(b.ctx, (int32_t)(cells * slender), cells, cells, 1.0 / cells, 0.05);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 1, def.sigma = def.viscosity = 0, def.quality = 0, def.merge = false, def.split_threshold = 0;
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

static void beam_say(const beam *b)
{
    mn_report report;
    mn_tet_liquid_get_report(b->solver, &report);
    fprintf(stderr, "substeps %g rollbacks %g newton %g linear %g\n", report.value[MN_REPORT_substeps][0],
            report.value[MN_REPORT_rollbacks][0], report.value[MN_REPORT_newton_iterations][0],
            report.value[MN_REPORT_linear_iterations][0]);
}

static void bent_beam(int32_t cells, double slender, double poisson, double bound)
{
    char name[96];
    snprintf(name, sizeof name, "beam, L/h = %g, %d cells, Poisson's ratio %g: deflection", slender, cells, poisson);
    if (!validation_wanted("M3", name)) return;
    const double l4 = slender * slender * slender * slender, gravity = 1e-3 * slender / (1.5 * l4);
    const double period = 2 * pi / (1.8751 * 1.8751) * sqrt(12 * l4);
    beam b = beam_make(cells, slender, poisson, gravity, MN_TET_SDIRK2, period);
    must(b.ctx, mn_tet_liquid_advance(b.solver, 20 * period));
    beam_say(&b);
    validation_row("M3", name, beam_tip(&b) / slender, 1e-3, "of the length", bound);
    beam_free(&b);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    bent_beam(4, 8, 0.3, 0.05);
    return validation_end();
}
