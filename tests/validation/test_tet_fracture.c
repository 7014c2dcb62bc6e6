// SPDX-License-Identifier: Apache-2.0
//
// Where a crack goes on (M18): a plate of width 1 with a crack of a = 1/4 from its side, pulled by a uniform
// stress, has K_I = 1.50 sigma sqrt(MN_PI a). What the solver takes for K_I must not depend on the mesh.
#include "meniscus/meniscus.h"
#include "support/tet_lattice_brick.h"
#include "support/validation.h"
#include "tet/solid_steps.h"
#include "tet/state.h"
#include "tetmesh/cut/cut.h"

static const double crack = 0.25, height = 2.5, loaded = 0.25; // lengths; both ends are pulled over the last
static const mn_hooks hooks = {.max_workers = 1};

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

// A force field that pulls the ends of the plate apart.
static void pull(const void *handle, int64_t count, const mn_vec3 *x, double *values)
{
    const double strength = *(const double *)handle;
    for (int64_t i = 0; i < count; i++) {
        values[3 * i] = values[3 * i + 2] = 0;
        values[3 * i + 1] = x[i].y > height - loaded - 1e-6 ? strength
                            : x[i].y < loaded + 1e-6        ? -strength
                                                            : 0;
    }
}

static void pull_info(const void *handle, mn_volume_info *info)
{
    (void)handle;
    *info = (mn_volume_info){.name = "force", .components = 3, .voxel_size = 1};
}

// K_I over toughness at which the crack goes on.
static double edge_crack(int32_t cells)
{
    mn_context *ctx = mn_context_create(&hooks);
    const double edge = crack / cells;
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 4 * cells, (int32_t)(height / edge), 1, edge, 0);
    mn_tet_cut_def slit = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    slit.point = mn_v3(0, height / 2, edge / 2), slit.reach = crack;
    must(ctx, mn_tet_mesh_cut(mesh, &slit, &report));
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0), def.density = 1, def.sigma = def.viscosity = 0, def.quality = 0;
    def.merge = false, def.split_threshold = 0, def.integrator = MN_TET_SDIRK2;
    def.max_dt = 64, def.capillary_step = 1e9; // waves are damped, rest is near after a few steps
    mn_tet_liquid *q;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    mn_tet_material m = {.name = "glass",
                         .density = 1,
                         .young = 1,
                         .poisson = 0.3,
                         .heat_capacity = 1,
                         .reference_temperature = 293.15};
    must(ctx, mn_tet_liquid_set_materials(q, 1, &m));
    // The force is that of half a row more where nodes of the border of the field have it too.
    double strength = 1e-4;
    static const mn_volume_ops ops = {.sample = pull, .info = pull_info};
    const mn_solver_inputs inputs = {.force = {&ops, &strength}};
    must(ctx, mn_tet_liquid_advance(q, &inputs, 512));
    // The stress in the middle between crack and ends, by what is above it.
    const mn_vec3 *rest = mn_tet_field_vectors(q, MN_TET_REST);
    double force = 0;
    for (int32_t t = 0; t < q->mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++)
            if (rest[q->mesh->tet[t][k]].y > height - loaded - 1e-6)
                force += 0.25 * strength * mn_tet_field_numbers(q, MN_TET_REST_VOLUME)[t];
    const double stress = force / edge, intensity = 1.50 * stress * sqrt(MN_PI * crack);
    m.toughness = 1.5 * intensity; // bears it
    must(ctx, mn_tet_liquid_set_materials(q, 1, &m));
    double limit, most = 0;
    must(ctx, mn_tet_solids_break(q, &limit));
    for (int32_t t = 0; t < q->mesh->tet_slots; t++)
        most = fmax(most, mn_tet_field_numbers(q, MN_TET_DAMAGE)[t]);
    mn_tet_liquid_free(q);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return 1 / (1.5 * most);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    double low = 9, high = 0;
    for (int32_t cells = 4; cells <= (validation_long() ? 16 : 4); cells *= 2) {
        char name[96];
        snprintf(name, sizeof name, "edge crack, a/size = %d: goes on at K_I", cells);
        if (!validation_wanted("M18", name)) continue;
        const double found = edge_crack(cells);
        low = fmin(low, found), high = fmax(high, found);
        validation_row("M18", name, found, 1, "toughness", 0.15);
    }
    if (high > low)
        validation_row_below("M18", "edge crack, all of these: largest over smallest", high / low - 1, "",
                             0.10);
    return validation_end();
}
