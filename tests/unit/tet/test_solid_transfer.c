// SPDX-License-Identifier: Apache-2.0
//
// Solids that are remeshed: each material keeps its mass and its place, heat stays, what never flowed keeps
// its rest shape, and stress that is the same everywhere stays as it is, whatever the rest places are.
#include "base/random.h"
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "support/tet_remesh_solid.h"

static mn_tet_liquid *make_two(mn_context *ctx, double yield)
{
    mn_tet_mesh *mesh = tet_lattice_layers(ctx, 3, 4, 3, 0.25, 0.1, 2);
    mn_tet_field *material;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double y = 0;
        for (int k = 0; k < 4; k++) y += 0.25 * mesh->position[mesh->tet[t][k]].y;
        material->data[t] = y > 0.5;
    }
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 1, def.sigma = 0, def.heat = true;
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    mn_tet_material m[2] = {{.name = "one",
                             .density = 1,
                             .young = 10,
                             .poisson = 0.3,
                             .yield = yield,
                             .heat_capacity = 1,
                             .conductivity = 1,
                             .reference_temperature = 300}};
    m[1] = m[0], m[1].density = 3, m[1].young = 20;
    snprintf(m[1].name, sizeof m[1].name, "two");
    check_ok(ctx, mn_tet_liquid_set_materials(q, 2, m));
    mn_tet_mesh_free(mesh);
    return q;
}

typedef struct sums {
    double mass[2], volume[2], heat;
} sums;

static sums add_up(const mn_tet_liquid *q)
{
    const double *material = mn_tet_field_numbers(q, MN_TET_MATERIAL),
                 *mass = mn_tet_field_numbers(q, MN_TET_REST_VOLUME);
    sums s = {.heat = mn_tet_solids_thermal_energy(q)};
    for (int32_t t = 0; t < q->mesh->tet_slots; t++) {
        const int m = material[t] > 0.5;
        check_close(material[t], m, 0);
        s.mass[m] += mass[t], s.volume[m] += mn_tet_mesh_tet_volume(q->mesh, t);
    }
    return s;
}

static void remesh_once(mn_context *ctx, mn_tet_liquid *q, double max_edge)
{
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_resample_report report;
    def.quality = 0.8, def.min_edge = fmin(0.12, 0.35 * max_edge), def.max_edge = max_edge,
    def.fixed_surface = true;
    check_ok(ctx, tet_remesh_solid(q, &def, &report));
    assert_true(report.targets > 100);
}

static void extremes(const mn_tet_liquid *q, double *least, double *most)
{
    const double *temperature = mn_tet_field_numbers(q, MN_TET_TEMPERATURE);
    *least = INFINITY, *most = 0;
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        *least = fmin(*least, temperature[i]), *most = fmax(*most, temperature[i]);
}

// Hot points in a cold block: no point gets hotter or colder than one was.
static void check_extremes(double cold, double hot, double max_edge)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_two(ctx, 0);
    double *temperature = mn_tet_field_numbers(q, MN_TET_TEMPERATURE), least, most;
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        temperature[i] = i % 5 == 0 ? hot : cold, mn_tet_field_numbers(q, MN_TET_HEAT)[i] = 0;
    check_ok(ctx, mn_tet_liquid_prepare(q));
    check_ok(ctx, mn_tet_solids_find_melted(q));
    const double before = mn_tet_solids_thermal_energy(q);
    remesh_once(ctx, q, max_edge);
    check_close(mn_tet_solids_thermal_energy(q), before, 1e-12 * before);
    extremes(q, &least, &most);
    assert_true(least > cold * (1 - 1e-9) && most < hot * (1 + 1e-9));
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void temperatures_stay_between(void **state)
{
    (void)state;
    check_extremes(10, 1e5, 0.32);
    check_extremes(300, 320, 0.22); // with more tetrahedra than before
}

static void materials_keep_mass_and_place(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_two(ctx, 0);
    check_ok(ctx, mn_tet_liquid_prepare(q));
    const sums before = add_up(q);
    remesh_once(ctx, q, 0.32);
    const sums after = add_up(q);
    for (int m = 0; m < 2; m++) {
        check_close(after.mass[m], before.mass[m], 1e-13);
        check_close(after.volume[m], before.volume[m], 1e-13);
    }
    check_close(after.heat, before.heat, 1e-12 * before.heat);
    // At rest, and of one density: nothing has a stress.
    for (int32_t t = 0; t < q->mesh->tet_slots; t++) check_close(mn_tet_liquid_stress(q, t), 0, 1e-11);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// b is one everywhere but X is any: after remeshing it is still b.
static void uniform_stress_stays(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_two(ctx, 5);
    const mn_mat3 stretch = {{{1.1, 0.05, 0}, {0.05, 0.95, 0.02}, {0, 0.02, 0.97}}};
    const mn_mat3 b = mn_m3_mul(stretch, stretch);
    mn_vec3 *rest = mn_tet_field_vectors(q, MN_TET_REST);
    double *metric = mn_tet_field_numbers(q, MN_TET_METRIC), want[2] = {0};
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        rest[i] = mn_axpy(rest[i], 0.03, mn_random_unit3(9, (uint64_t)i, 0));
    for (int32_t t = 0; t < q->mesh->tet_slots; t++) {
        mn_tet_solid_shape shape = {0};
        mn_vec3 x[4], y[4];
        mn_mat3 inverse;
        for (int k = 0; k < 4; k++)
            x[k] = rest[q->mesh->tet[t][k]], y[k] = q->mesh->position[q->mesh->tet[t][k]];
        assert_true(mn_tet_rest_gradients(x, shape.gradient, &shape.volume));
        assert_true(mn_m3_inverse(mn_tet_deformation(&shape, y), &inverse));
        mn_tet_pack_symmetric(mn_m3_mul(inverse, mn_m3_mul(b, mn_m3_transpose(inverse))),
                              metric + 6 * (int64_t)t);
    }
    check_ok(ctx, mn_tet_liquid_prepare(q));
    const double *material = mn_tet_field_numbers(q, MN_TET_MATERIAL);
    for (int32_t t = 0; t < q->mesh->tet_slots; t++) want[material[t] > 0.5] = mn_tet_liquid_stress(q, t);
    assert_true(want[0] > 0.5 && want[1] > 1);
    const sums before = add_up(q);
    remesh_once(ctx, q, 0.32);
    material = mn_tet_field_numbers(q, MN_TET_MATERIAL);
    for (int32_t t = 0; t < q->mesh->tet_slots; t++)
        check_close(mn_tet_liquid_stress(q, t), want[material[t] > 0.5], 1e-9);
    const sums after = add_up(q);
    for (int m = 0; m < 2; m++) check_close(after.mass[m], before.mass[m], 1e-13);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(materials_keep_mass_and_place),
        cmocka_unit_test(uniform_stress_stays),
        cmocka_unit_test(temperatures_stay_between),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
