// SPDX-License-Identifier: Apache-2.0
//
// Solids that touch each other: two blocks that meet bounce and keep both momenta, a block on a block comes
// to rest on it, and the pushes are derivatives of their energy.
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "tet/state.h"

static mn_tet_material rubber(void)
{
    return (mn_tet_material){.name = "rubber",
                             .density = 1,
                             .young = 200,
                             .poisson = 0.3,
                             .heat_capacity = 1,
                             .reference_temperature = 300};
}

// Two blocks in one mesh, the second shifted by `offset` and moving by `v` against the first.
static mn_tet_liquid *two_blocks(mn_context *ctx, mn_vec3 offset, mn_vec3 v, double gravity)
{
    mn_tet_mesh *one = tet_lattice_brick(ctx, 2, 2, 2, 0.5, 0.05), *both;
    const int32_t n = one->vertex_slots, m = one->tet_slots;
    mn_vec3 x[200];
    int32_t tets[400][4];
    assert_true(2 * n <= 200 && 2 * m <= 400);
    for (int32_t i = 0; i < n; i++) {
        const mn_vec3 y = one->position[i]; // the second is turned by half a turn: its nodes lie elsewhere
        x[i] = y, x[n + i] = mn_add(mn_v3(1 - y.x, y.y, 1 - y.z), offset);
    }
    for (int32_t t = 0; t < m; t++)
        for (int k = 0; k < 4; k++) tets[t][k] = one->tet[t][k], tets[m + t][k] = n + one->tet[t][k];
    check_ok(ctx, mn_tet_mesh_build(ctx, 2 * n, x, 2 * m, (const int32_t(*)[4])tets, &both));
    mn_tet_field *speed;
    check_ok(ctx, mn_tet_mesh_add_field(both, MN_TET_V, MN_TET_LINEAR, 3, &speed));
    for (int32_t i = n; i < 2 * n; i++) memcpy(speed->data + 3 * i, &v, sizeof v);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, -gravity, 0), def.density = 1, def.sigma = 0, def.max_dt = 0.01;
    def.capillary_step = 1e9;
    if (gravity > 0) def.domain = (mn_box){{-9, 0, -9}, {9, 9, 9}}, def.wall[2] = true;
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, both, &q));
    mn_tet_material material = rubber();
    material.viscosity = gravity > 0 ? 5 : 0; // so that bounces die away
    check_ok(ctx, mn_tet_liquid_set_materials(q, 1, &material));
    mn_tet_mesh_free(one);
    mn_tet_mesh_free(both);
    return q;
}

// The mean of x, or of v, over a body.
static mn_vec3 mean_of(const mn_tet_liquid *q, int32_t body, const mn_vec3 *field)
{
    const double *rest = mn_tet_field_numbers(q, MN_TET_REST_VOLUME);
    mn_vec3 sum = {0};
    double mass = 0;
    for (int32_t t = 0; t < q->mesh->tet_slots; t++)
        for (int k = 0; k < 4 && q->body.data[q->mesh->tet[t][0]] == body; k++)
            sum = mn_axpy(sum, 0.25 * rest[t], field[q->mesh->tet[t][k]]), mass += 0.25 * rest[t];
    return mn_scale(1 / mass, sum);
}

static void blocks_that_meet_bounce(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = two_blocks(ctx, mn_v3(0.13, 1.1, 0.21), mn_v3(0, -2, 0), 0);
    mn_report before, after;
    mn_tet_liquid_report(q, &before);
    assert_int_equal(q->body_count, 2);
    double nearest = 9;
    for (int i = 0; i < 20; i++) {
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.02));
        nearest = fmin(nearest, mean_of(q, 1, q->mesh->position).y - mean_of(q, 0, q->mesh->position).y);
    }
    mn_tet_liquid_report(q, &after);
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-12);
        check_close(after.value[MN_REPORT_angular_momentum][a], before.value[MN_REPORT_angular_momentum][a],
                    1e-3);
    }
    assert_int_equal(q->body_count, 2);
    assert_true(nearest > 0.7); // squeezed, but not through each other
    const mn_vec3 *v = mn_tet_field_vectors(q, MN_TET_V);
    assert_true(mean_of(q, 1, v).y > mean_of(q, 0, v).y); // they part
    assert_true(after.value[MN_REPORT_kinetic_energy][0] + after.value[MN_REPORT_elastic_energy][0] <
                1.01 * before.value[MN_REPORT_kinetic_energy][0]);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void a_block_rests_on_a_block(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = two_blocks(ctx, mn_v3(0.1, 1.02, 0.05), mn_v3(0, 0, 0), 1);
    for (int i = 0; i < 40; i++) check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.05));
    const double apart = mean_of(q, 1, q->mesh->position).y - mean_of(q, 0, q->mesh->position).y;
    assert_true(apart > 0.95 && apart < 1.02);
    mn_report report;
    mn_tet_liquid_report(q, &report);
    assert_true(report.value[MN_REPORT_max_speed][0] < 0.05);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// Differences of k g^2/2 along random motions; the Hessian leaves out a part of second order in the depth.
static void pushes_are_derivatives(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[4] = {{0.3, -0.1, 0.3}, {0, 0, 0}, {0, 0.1, 1}, {1, 0.05, 0}}, u[4] = {{0, 0, 0}};
    const mn_tet_pair pair = {{0, 1, 2, 3}, 3};
    mn_tet_stage stage = {.pairs = &pair, .pair_count = 1, .pair_unit = 1, .u = u};
    mn_tet_system system = {.ctx = ctx, .node_count = 4, .stage = &stage};
    check_ok(ctx, mn_array_resize(ctx, &system.x, 4));
    memcpy(system.x.data, x, sizeof x);
    check_ok(ctx, mn_tet_pairs_measure(&system));
    assert_true(system.pair_rows.data[0].weight == 3);
    mn_vec3 force[4], sum = {0}, moment = {0};
    memcpy(force, system.pair_pull.data, sizeof force);
    for (int k = 0; k < 4; k++) {
        sum = mn_add(sum, force[k]), moment = mn_add(moment, mn_cross(x[k], force[k]));
        for (int axis = 0; axis < 3; axis++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                memcpy(system.x.data, x, sizeof x);
                (&system.x.data[k].x)[axis] += side ? 1e-5 : -1e-5;
                const mn_vec3 *y = system.x.data;
                const mn_vec3 n = mn_normalize(mn_cross(mn_sub(y[2], y[1]), mn_sub(y[3], y[1])));
                const double gap = mn_dot(n, mn_sub(y[0], y[1]));
                energy[side] = 1.5 * gap * gap;
            }
            check_close((&force[k].x)[axis], (energy[1] - energy[0]) / 2e-5, 1e-8);
        }
    }
    check_close(mn_norm(sum), 0, 1e-15);
    check_close(mn_norm(moment), 0, 1e-15);
    mn_array_free(ctx, &system.x);
    mn_array_free(ctx, &system.pair_rows);
    mn_array_free(ctx, &system.pair_pull);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_are_derivatives),
        cmocka_unit_test(blocks_that_meet_bounce),
        cmocka_unit_test(a_block_rests_on_a_block),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
