// SPDX-License-Identifier: Apache-2.0
//
// The factor for stiff solids: it leaves rigid motion to inertia, also of bodies that are out of shape;
// iterations stay few from jelly to ice; cut into slabs it gives the same answer.
#include "base/random.h"
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "tet/newton.h"
#include "tet/solid_steps.h"

// A brick whose lower half is solid, of this Young's modulus.
static mn_tet_liquid *make_brick(mn_context *ctx, double young, bool all_solid)
{
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 3, 3, 6, 0.5, 0.1);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0), def.density = 1, def.sigma = 0.1;
    mn_tet_field *material;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double z = 0;
        for (int k = 0; k < 4; k++) z += mesh->position[mesh->tet[t][k]].z / 4;
        material->data[t] = !all_solid && z > 1.5;
    }
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    mn_tet_material m[2] = {mn_tet_default_material(), mn_tet_default_material()};
    m[0].young = young, m[0].poisson = 0.4, m[0].density = m[1].density = 1;
    m[1].young = 0, m[1].sigma = m[0].sigma = 0.1;
    check_ok(ctx, mn_tet_liquid_set_materials(q, 2, m));
    mn_tet_mesh_free(mesh);
    return q;
}

static void rigid_motion_is_left_to_inertia(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_brick(ctx, 1e6, true);
    mn_tet_stage stage;
    double part;
    static mn_vec3 zero[1000];
    static double pressure[1000], force[3000], motion[3000], found[3000];
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        mn_tet_mesh_move_vertex(q->mesh, i,
                                mn_axpy(q->mesh->position[i], 0.03, mn_random_unit3(3, (uint64_t)i, 1)));
    check_ok(ctx, mn_tet_liquid_prepare(q));
    check_ok(ctx, mn_tet_stage_resize(q));
    check_ok(ctx, mn_tet_stage_fill(q, 1, q->mesh->position, zero, zero, pressure, &stage, &part));
    stage.sigma = 0; // surface tension resists rotation of a face once only its positive part is left
    check_ok(ctx, mn_tet_system_residual(&q->system, &stage, q->trial.residual.data));
    assert_true(q->system.stiff);
    check_ok(ctx, mn_tet_system_stiffen(&q->system));
    for (int kind = 0; kind < 2; kind++) {
        memset(force, 0, sizeof force);
        for (int32_t i = 0; i < q->system.node_count; i++) {
            const mn_vec3 axis = mn_v3(0.3, -0.5, 0.8);
            const mn_vec3 v = kind == 0 ? axis : mn_cross(axis, q->system.x.data[i]);
            memcpy(motion + 3 * i, &v, sizeof v);
        }
        for (int32_t t = 0; t < q->system.tet_count; t++)
            for (int k = 0; k < 4; k++)
                for (int j = 0; j < 4; j++)
                    for (int a = 0; a < 3; a++)
                        force[3 * q->system.tet[t][k] + a] += q->system.elements.data[t].mass *
                                                              (k == j ? 2 : 1) *
                                                              motion[3 * q->system.tet[t][j] + a];
        check_ok(ctx, mn_tet_system_solve_stiff(&q->system, force, found));
        // Rounding times the stiffness over the mass, 1e6 and more.
        for (int32_t i = 0; i < 3 * q->system.node_count; i++) check_close(found[i], motion[i], 1e-7);
    }
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// Half a brick that is sheared: iterations for a correction, and its positions.
static int64_t throw_brick(double young, int64_t most, mn_vec3 *places, int32_t *count)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_brick(ctx, young, false);
    mn_vec3 *v = mn_tet_field_vectors(q, MN_TET_V);
    q->system.stiff_most = most;
    for (int32_t i = 0; i < q->mesh->vertex_slots; i++)
        v[i] = mn_v3(0.02 * q->mesh->position[i].z * q->mesh->position[i].z, 0, 0);
    check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.3));
    const int64_t iterations = q->counts.linear / (q->counts.newton > 0 ? q->counts.newton : 1);
    *count = q->mesh->vertex_slots;
    for (int32_t i = 0; i < *count; i++) places[i] = q->mesh->position[i];
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
    return iterations;
}

static void iterations_stay_few_from_jelly_to_ice(void **state)
{
    (void)state;
    static mn_vec3 places[1000];
    int32_t count;
    // The diagonal blocks alone take 26 for the first and hundreds for the last.
    for (double young = 1e2; young < 1e9; young *= 100)
        assert_in_range(throw_brick(young, 0, places, &count), 1, 20);
}

static void slabs_give_the_same_answer(void **state)
{
    (void)state;
    static mn_vec3 one[1000], cut[1000];
    int32_t count, again;
    throw_brick(1e4, 0, one, &count), throw_brick(1e4, 5000, cut, &again);
    assert_int_equal(count, again);
    for (int32_t i = 0; i < count; i++)
        check_close(mn_norm(mn_sub(one[i], cut[i])), 0, 1e-7); // of a brick of 3; stages are solved to 1e-8
}

// What doctor counts for the factor, against what it has.
static void its_memory_is_counted(void **state)
{
    (void)state;
    double bytes[2], entries = 0;
    for (int stiff = 0; stiff < 2; stiff++) {
        static mn_vec3 zero[1000];
        static double pressure[1000];
        mn_context *ctx = mn_context_create(NULL);
        mn_tet_liquid *q = make_brick(ctx, stiff ? 1e6 : 1e-2, true);
        mn_tet_liquid_numbers n;
        mn_tet_stage stage;
        double part;
        mn_tet_liquid_diagnose(q, 0.04, &n);
        bytes[stiff] = n.bytes;
        check_ok(ctx, mn_tet_liquid_prepare(q));
        check_ok(ctx, mn_tet_stage_resize(q));
        check_ok(ctx, mn_tet_stage_fill(q, n.step, q->mesh->position, zero, zero, pressure, &stage, &part));
        check_ok(ctx, mn_tet_system_residual(&q->system, &stage, q->trial.residual.data));
        assert_true(q->system.stiff == (stiff == 1));
        if (stiff) check_ok(ctx, mn_tet_system_stiffen(&q->system));
        if (stiff) entries = (double)mn_cholesky_entries(q->system.stiff_factor);
        mn_tet_liquid_free(q);
        mn_context_free(ctx);
    }
    check_close((bytes[1] - bytes[0]) / (8 * entries), 1, 0.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(its_memory_is_counted),
        cmocka_unit_test(rigid_motion_is_left_to_inertia),
        cmocka_unit_test(iterations_stay_few_from_jelly_to_ice),
        cmocka_unit_test(slabs_give_the_same_answer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
