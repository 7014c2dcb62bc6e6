// SPDX-License-Identifier: Apache-2.0
//
// Half of the elastic energy at nodes: the force is minus the derivative of energy, the product is the
// derivative of the residual, also where nodes are held, and a turned body has none.
#include "base/random.h"
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "tet/newton.h"
#include "tet/solid_steps.h"

static mn_tet_liquid *make_gel(mn_context *ctx, bool pinned)
{
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 2, 2, 3, 0.5, 0.1);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 1, def.sigma = 0;
    mn_tet_field *pin;
    if (pinned) check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_PIN, MN_TET_LINEAR, 1, &pin));
    for (int32_t i = 0; pinned && i < mesh->vertex_slots; i++) pin->data[i] = mesh->position[i].x < 1e-9;
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    const mn_tet_material gel = {.name = "gel",
                                 .density = 1,
                                 .young = 4,
                                 .poisson = 0.4,
                                 .heat_capacity = 1,
                                 .expansion = 1e-3,
                                 .reference_temperature = 250};
    check_ok(ctx, mn_tet_liquid_set_materials(q, 1, &gel));
    mn_tet_mesh_free(mesh);
    return q;
}

static void shake(mn_tet_liquid *q, double size)
{
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        mn_tet_mesh_move_vertex(q->mesh, i,
                                mn_axpy(q->mesh->position[i], size, mn_random_unit3(3, (uint64_t)i, 1)));
}

// A stage of length 1 from the places of the mesh, at rest, with places on the way to others.
static void fill_stage(mn_context *ctx, mn_tet_liquid *q, mn_tet_stage *stage, mn_vec3 *zero)
{
    double part;
    static double pressure[200];
    check_ok(ctx, mn_tet_liquid_prepare(q));
    check_ok(ctx, mn_tet_stage_resize(q));
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++) zero[i] = mn_v3(0, 0, 0);
    check_ok(ctx, mn_tet_stage_fill(q, 1, q->mesh->position, zero, zero, pressure, stage, &part));
    assert_non_null(stage->nodal);
}

static void force_is_the_derivative_of_energy(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_gel(ctx, false);
    mn_tet_stage stage;
    static mn_vec3 zero[200];
    shake(q, 0.05);
    fill_stage(ctx, q, &stage, zero);
    check_ok(ctx, mn_tet_system_residual(&q->system, &stage, q->trial.residual.data));
    mn_vec3 *x = q->system.x.data;
    const int32_t *class_of = q->solids.class_of.data;
    for (int32_t k = 0; k < q->system.node_count; k += 3) {
        const mn_vec3 force = mn_tet_nodal_pull(&q->system, k);
        for (int axis = 0; axis < 3; axis++) {
            const double h = 1e-5, was = (&x[k].x)[axis];
            (&x[k].x)[axis] = was + h;
            const double up = mn_tet_nodal_energy(&q->system, stage.shapes, class_of, x);
            (&x[k].x)[axis] = was - h;
            const double down = mn_tet_nodal_energy(&q->system, stage.shapes, class_of, x);
            (&x[k].x)[axis] = was;
            check_close((&force.x)[axis], (up - down) / (2 * h), 1e-8); // of forces of order 1
        }
    }
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void product_is_the_derivative_of_the_residual(void **state)
{
    (void)state;
    for (int pinned = 0; pinned < 2; pinned++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_tet_liquid *q = make_gel(ctx, pinned);
        mn_tet_stage stage;
        static mn_vec3 zero[200];
        static double v[800], out[800], up[800], down[800];
        shake(q, 0.03);
        fill_stage(ctx, q, &stage, zero);
        const int32_t n = q->system.node_count;
        MN_ARRAY(mn_mat3) freedom = {0};
        check_ok(ctx, mn_array_resize(ctx, &freedom, n));
        for (int32_t i = 0; i < n; i++)
            freedom.data[i] = mn_m3_scale(!(pinned && q->mesh->position[i].x < 0.1), mn_m3_identity());
        stage.freedom = pinned ? freedom.data : NULL;
        check_ok(ctx, mn_tet_system_residual(&q->system, &stage, q->trial.residual.data));
        check_ok(ctx, mn_tet_system_assemble(&q->system));
        for (int32_t i = 0; i < n; i++) {
            const mn_vec3 r = mn_m3_apply(freedom.data[i], mn_random_unit3(5, (uint64_t)i, 2));
            memcpy(v + 3 * i, &r, sizeof r);
        }
        check_ok(ctx, mn_tet_system_apply(&q->system, v, out));
        const double h = 1e-6;
        for (int sign = -1; sign <= 1; sign += 2) {
            for (int32_t i = 0; i < n; i++)
                stage.u[i] = mn_v3(sign * h * v[3 * i], sign * h * v[3 * i + 1], sign * h * v[3 * i + 2]);
            check_ok(ctx, mn_tet_system_residual(&q->system, &stage, sign < 0 ? down : up));
        }
        for (int32_t i = 0; i < 3 * n; i++) check_close(out[i], (up[i] - down[i]) / (2 * h), 1e-7);
        mn_array_free(ctx, &freedom);
        mn_tet_liquid_free(q);
        mn_context_free(ctx);
    }
}

// Expansion changes the rest volume alone, so its stretch comes out of F and the energy of a body that has
// taken its room and was turned is 0.
static void a_turned_body_has_no_energy(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_gel(ctx, false);
    const mn_mat3 turn = mn_m3_rotation(mn_v3(30, 50, -70));
    double *temperature = mn_tet_field_numbers(q, MN_TET_TEMPERATURE);
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++) {
        temperature[i] = 450;
        mn_tet_mesh_move_vertex(
            q->mesh, i, mn_add(mn_v3(5, 0, 2), mn_m3_apply(turn, mn_scale(1.2, q->mesh->position[i]))));
    }
    check_ok(ctx, mn_tet_liquid_prepare(q));
    check_close(mn_tet_solids_elastic_energy(q), 0, 1e-12);
    shake(q, 0.02);
    assert_true(mn_tet_solids_elastic_energy(q) > 1e-5);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(force_is_the_derivative_of_energy),
        cmocka_unit_test(product_is_the_derivative_of_the_residual),
        cmocka_unit_test(a_turned_body_has_no_energy),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
