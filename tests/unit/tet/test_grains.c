// SPDX-License-Identifier: Apache-2.0
//
// What has shattered: a bar comes apart to its end in bounded steps, with its momentum and no new energy;
// grains fly and turn as rigid bodies do, come to rest on floors, and give a larger body what they hit it
// with; a crack along faces divides nothing.
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "tet/solid_steps.h"
#include "tet/state.h"
#include "tetmesh/cut/cut.h"

static mn_tet_material glass(double strength)
{
    return (mn_tet_material){.name = "glass",
                             .density = 1,
                             .young = 1000,
                             .poisson = 0.3,
                             .viscosity = 0.05,
                             .strength = strength,
                             .heat_capacity = 1,
                             .reference_temperature = 300};
}

static mn_tet_liquid *make(mn_context *ctx, mn_tet_mesh *mesh, mn_tet_material m, double gravity)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, -gravity, 0), def.density = 1, def.sigma = 0, def.merge = false, def.quality = 0;
    def.max_dt = 0.01, def.capillary_step = 1e9, def.size = 0.5;
    if (gravity > 0) def.domain = (mn_box){{-9, 0, -9}, {9, 9, 9}}, def.wall[2] = true, def.friction = 0.5;
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    check_ok(ctx, mn_tet_liquid_set_materials(q, 1, &m));
    mn_tet_mesh_free(mesh);
    return q;
}

static double energy_of(const mn_tet_liquid *q)
{
    mn_report r;
    mn_tet_liquid_report(q, &r);
    return r.value[MN_REPORT_kinetic_energy][0] + r.value[MN_REPORT_elastic_energy][0];
}

// A bar of 384 tetrahedra whose ends fly apart, with `rate` times what moves one metre a second a metre.
static void shatter(double rate, mn_tet_material m, int32_t least)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 8, 2, 2, 0.5, 0.05);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 r = mn_sub(mesh->position[i], mn_v3(2, 0.5, 0.5));
        const mn_vec3 speed = mn_v3(0.7 + rate * r.x, 0.2 * r.z, 0.3 - 0.2 * r.y);
        memcpy(v->data + 3 * i, &speed, sizeof speed);
    }
    mn_tet_liquid *q = make(ctx, mesh, m, 0);
    mn_report before, after;
    check_ok(ctx, mn_tet_liquid_advance(q, NULL, 1e-3));
    mn_tet_liquid_report(q, &before);
    const double energy = energy_of(q);
    int64_t steps = 0, back = 0;
    for (int frame = 0; frame < 20; frame++) {
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.05));
        steps += q->solver.counts.substeps, back += q->solver.counts.rollbacks;
        assert_true(energy_of(q) < 1.02 * energy);
    }
    mn_tet_liquid_report(q, &after);
    assert_true(q->bodies.count >= least && steps < 400 && back < 40 && q->mesh->tet_count < 2 * 384);
    check_close(after.value[MN_REPORT_mass][0], before.value[MN_REPORT_mass][0], 1e-12);
    for (int a = 0; a < 3; a++)
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-11);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void a_brittle_bar_shatters_to_its_end(void **state)
{
    (void)state;
    shatter(6, glass(10), 100);
}

static void a_ductile_bar_shatters_to_its_end(void **state)
{
    (void)state;
    mn_tet_material m = glass(20);
    m.yield = 5, m.hardening = 1, m.ductility = 0.2;
    shatter(2, m, 20);
}

// A tetrahedron with three right angles at c, of edges a, b and d.
static void add_grain(mn_vec3 *x, mn_vec3 c, double a, double b, double d)
{
    x[0] = c, x[1] = mn_add(c, mn_v3(a, 0, 0)), x[2] = mn_add(c, mn_v3(0, b, 0)),
    x[3] = mn_add(c, mn_v3(0, 0, d));
}

static mn_tet_liquid *two_grains(mn_context *ctx, mn_vec3 spin, double gravity)
{
    static const int32_t tets[2][4] = {{0, 1, 2, 3}, {4, 5, 6, 7}};
    mn_tet_mesh *mesh;
    mn_tet_field *v;
    mn_vec3 x[8];
    add_grain(x, mn_v3(0, 1, 0), 0.3, 0.2, 0.1), add_grain(x + 4, mn_v3(3, 1, 0), 0.2, 0.2, 0.2);
    check_ok(ctx, mn_tet_mesh_build(ctx, 8, x, 2, tets, &mesh));
    check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int i = 0; i < 4; i++) {
        const mn_vec3 speed = mn_add(mn_v3(0.5, 0, 0), mn_cross(spin, mn_sub(x[i], x[0])));
        memcpy(v->data + 3 * i, &speed, sizeof speed);
    }
    return make(ctx, mesh, glass(10), gravity);
}

// It turns by 4 rad in the longest step, far from any axis of its own.
static void grains_turn_as_rigid_bodies_do(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = two_grains(ctx, mn_v3(300, 200, 150), 0);
    assert_true(q->solids.grains && q->bodies.count == 2);
    const double edge = mn_distance(q->mesh->position[1], q->mesh->position[2]);
    mn_report before, after;
    mn_tet_liquid_report(q, &before);
    for (int i = 0; i < 10; i++) check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.02));
    mn_tet_liquid_report(q, &after);
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-15);
        check_close(after.value[MN_REPORT_angular_momentum][a], before.value[MN_REPORT_angular_momentum][a],
                    1e-12 * mn_norm(mn_v3(300, 200, 150)));
    }
    check_close(after.value[MN_REPORT_kinetic_energy][0], before.value[MN_REPORT_kinetic_energy][0],
                0.05 * before.value[MN_REPORT_kinetic_energy][0]);
    check_close(mn_distance(q->mesh->position[1], q->mesh->position[2]), edge, 1e-12);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void grains_fall_and_come_to_rest(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = two_grains(ctx, mn_v3(5, 3, 2), 10);
    double mass;
    const double before = mn_tet_momentum(q->mesh, MN_TET_V, &mass).y;
    check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.2));
    check_close(mn_tet_momentum(q->mesh, MN_TET_V, &mass).y - before, -2 * mass, 1e-12 * mass);
    for (int i = 0; i < 60; i++) check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.05));
    const mn_vec3 *v = mn_tet_field_vectors(q, MN_TET_V);
    for (int i = 0; i < 8; i++) {
        assert_true(q->mesh->position[i].y > -0.01 && q->mesh->position[i].y < 0.4);
        assert_true(mn_norm(v[i]) < 0.5);
    }
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// A grain that hits a block is stopped, stays outside, and the block has its momentum.
static void a_grain_pushes_a_larger_body(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_mesh *block = tet_lattice_brick(ctx, 3, 3, 3, 0.5, 0.05), *both;
    const int32_t n = block->vertex_slots, m = block->tet_slots;
    mn_vec3 x[200];
    int32_t tets[700][4];
    assert_true(n + 4 <= 200 && m + 1 <= 700);
    memcpy(x, block->position, sizeof *x * (size_t)n);
    memcpy(tets, block->tet, sizeof *tets * (size_t)m);
    add_grain(x + n, mn_v3(0.7, 1.6, 0.7), 0.2, 0.2, 0.2);
    for (int k = 0; k < 4; k++) tets[m][k] = n + k;
    check_ok(ctx, mn_tet_mesh_build(ctx, n + 4, x, m + 1, (const int32_t(*)[4])tets, &both));
    mn_tet_mesh_free(block);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(both, MN_TET_V, MN_TET_LINEAR, 3, &v));
    for (int k = 0; k < 4; k++) v->data[3 * (n + k) + 1] = -2;
    mn_tet_liquid *q = make(ctx, both, glass(1000), 0);
    mn_report before, after;
    mn_tet_liquid_report(q, &before);
    for (int i = 0; i < 10; i++) check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.02));
    mn_tet_liquid_report(q, &after);
    const int32_t grain = q->bodies.of_node.data[q->mesh->vertex_slots - 1];
    assert_true(q->bodies.grain.data[grain] && !q->bodies.grain.data[1 - grain]);
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        if (mn_tet_liquid_is_grain(q, i)) assert_true(q->mesh->position[i].y > 1.45);
    double speed = 0;
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        if (!mn_tet_liquid_is_grain(q, i)) speed = fmin(speed, mn_tet_field_vectors(q, MN_TET_V)[i].y);
    assert_true(speed < 0);
    for (int a = 0; a < 3; a++)
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-12);
    assert_true(after.value[MN_REPORT_kinetic_energy][0] < before.value[MN_REPORT_kinetic_energy][0]);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void a_crack_along_faces_divides_nothing(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 4, 2, 2, 0.5, 0.05);
    mn_tet_cut_def def = mn_tet_cut_default_def();
    mn_tet_cut_report report;
    const int32_t tets = mesh->tet_count, vertices = mesh->vertex_slots;
    def.point = mn_v3(1.03, 0, 0), def.normal = mn_v3(1, 0.1, 0), def.along_faces = true;
    check_ok(ctx, mn_tet_mesh_cut(mesh, &def, &report));
    assert_true(report.split_edges == 0 && report.split_faces > 10);
    assert_true(mesh->tet_count == tets && mesh->vertex_slots > vertices);
    for (int32_t t = 0; t < mesh->tet_slots; t++) // no face is left between the sides
        for (int k = 0; k < 4; k++)
            if (mesh->mate[t][k] >= 0) {
                const int32_t both[2] = {t, mesh->mate[t][k] / 4};
                double side[2];
                for (int s = 0; s < 2; s++) {
                    mn_vec3 middle = {0};
                    for (int c = 0; c < 4; c++)
                        middle = mn_axpy(middle, 0.25, mesh->position[mesh->tet[both[s]][c]]);
                    side[s] = mn_dot(mn_sub(middle, def.point), def.normal);
                }
                assert_true((side[0] < 0) == (side[1] < 0));
            }
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_brittle_bar_shatters_to_its_end),
        cmocka_unit_test(a_ductile_bar_shatters_to_its_end),
        cmocka_unit_test(grains_turn_as_rigid_bodies_do),
        cmocka_unit_test(grains_fall_and_come_to_rest),
        cmocka_unit_test(a_grain_pushes_a_larger_body),
        cmocka_unit_test(a_crack_along_faces_divides_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
