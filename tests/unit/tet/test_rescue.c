// SPDX-License-Identifier: Apache-2.0
//
// What lets a simulation go on: sheets too thin for a mesh open, speeds that no step can follow fall, and
// where no step can be solved the liquid coasts. Rest volume and momentum stay through all of it.
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"

#include "tet/neck.h"

#include <string.h>

static mn_context *context_of(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_tet_liquid_def plain(void)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = def.sigma = 1, def.viscosity = 0.05, def.size = 1;
    return def;
}

// Two cubes of edge 3 side by side, joined by a sheet of this thickness and length 3; all drift, the sheet
// with a velocity of its own.
static mn_tet_mesh *make_sheet(mn_context *ctx, double thickness)
{
    mn_tet_mesh *mesh = tet_brick(ctx, 9, 1, 3);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        const double x = 9 * p.x;
        const bool thin = fabs(x) < 1.6;
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(x, (thin ? thickness : 3) * p.y, 3 * p.z));
        v->data[3 * i] = 0.1, v->data[3 * i + 1] = thin ? 0.3 : 0, v->data[3 * i + 2] = 0.02 * x;
    }
    return mesh;
}

static mn_tet_liquid *make_liquid(mn_context *ctx, const mn_tet_liquid_def *def, mn_tet_mesh *mesh)
{
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static void thin_sheets_open_and_keep_what_they_hold(void **state)
{
    (void)state;
    mn_context *ctx = context_of();
    const mn_tet_liquid_def def = plain();
    for (int thick = 0; thick < 2; thick++) {
        mn_tet_liquid *liquid = make_liquid(ctx, &def, make_sheet(ctx, thick ? 0.5 : 0.05));
        mn_tet_list thin = {0};
        mn_tet_mesh *work;
        mn_tet_topology topology;
        double before, after;
        bool shed = false;
        check_ok(ctx, mn_tet_mesh_copy(liquid->mesh, &work));
        check_ok(ctx, mn_tet_liquid_list_thin(liquid, work, &thin));
        assert_true(thick ? thin.count == 0 : thin.count > 0);
        const mn_vec3 was = mn_tet_momentum(work, MN_TET_V, &before);
        check_ok(ctx, mn_tet_liquid_shed(liquid, work, &thin, &shed));
        const mn_vec3 is = mn_tet_momentum(work, MN_TET_V, &after);
        assert_true(shed == !thick);
        check_close(after, before, 1e-13 * before);
        check_close(mn_distance(is, was), 0, 1e-13 * mn_norm(was));
        check_ok(ctx, mn_tet_mesh_compact(work, NULL, NULL));
        check_ok(ctx, mn_tet_mesh_check(work));
        check_ok(ctx, mn_tet_mesh_topology(work, &topology));
        // The sheet goes as a whole, and what it joined is apart.
        assert_int_equal((int)topology.parts, thick ? 1 : 2);
        assert_int_equal(
            (int)(topology.nonmanifold_edges + topology.face_type_vertices + topology.edge_type_vertices), 0);
        mn_array_free(ctx, &thin);
        mn_tet_mesh_free(work);
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

static void a_body_that_is_all_thin_stays(void **state)
{
    (void)state;
    mn_context *ctx = context_of();
    const mn_tet_liquid_def def = plain();
    mn_tet_mesh *mesh = tet_brick(ctx, 3, 1, 3);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(3 * p.x, 0.05 * p.y, 3 * p.z));
    }
    mn_tet_liquid *liquid = make_liquid(ctx, &def, mesh);
    mn_tet_list thin = {0};
    mn_tet_mesh *work;
    bool shed = true;
    check_ok(ctx, mn_tet_mesh_copy(liquid->mesh, &work));
    check_ok(ctx, mn_tet_liquid_list_thin(liquid, work, &thin));
    assert_int_equal((int)thin.count, work->tet_count);
    check_ok(ctx, mn_tet_liquid_shed(liquid, work, &thin, &shed));
    assert_false(shed);
    assert_int_equal(work->tet_count, liquid->mesh->tet_count);
    mn_array_free(ctx, &thin);
    mn_tet_mesh_free(work);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// A ball whose nodes have random velocities of about `speed`.
static mn_tet_liquid *make_wild(mn_context *ctx, const mn_tet_liquid_def *def, double speed)
{
    mn_tet_mesh *mesh = tet_ball(ctx, 3);
    mn_tet_field *v;
    uint32_t seed = 1;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < 3 * mesh->vertex_slots; i++) {
        seed = seed * 1664525u + 1013904223u;
        v->data[i] = speed * ((seed >> 8) / 8388608.0 - 1);
    }
    return make_liquid(ctx, def, mesh);
}

static double energy_of(const mn_tet_liquid *liquid)
{
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    return report.value[MN_REPORT_kinetic_energy][0];
}

static void limiting_keeps_momentum_and_takes_energy(void **state)
{
    (void)state;
    mn_context *ctx = context_of();
    mn_tet_liquid_def def = plain();
    def.size = 0.3;
    mn_tet_liquid *liquid = make_wild(ctx, &def, 10);
    double mass;
    const double energy = energy_of(liquid), rate = 0.1 * mn_tet_liquid_strain_rate(liquid);
    const mn_vec3 was = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass);
    check_ok(ctx, mn_tet_liquid_limit_strain(liquid, rate));
    const mn_vec3 is = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass);
    assert_true(mn_tet_liquid_strain_rate(liquid) <= rate);
    assert_true(energy_of(liquid) < energy);
    check_close(mn_distance(is, was), 0, 1e-12 * 10 * mass);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void coasting_turns_nothing_over(void **state)
{
    (void)state;
    mn_context *ctx = context_of();
    mn_tet_liquid_def def = plain();
    def.size = 0.3;
    double lowest = 0;
    for (int floor = 0; floor < 2; floor++) {
        if (floor) {
            def.domain = (mn_box){mn_v3(-5, lowest, -5), mn_v3(5, 5, 5)};
            def.wall[2] = true;
        }
        mn_tet_liquid *liquid = make_wild(ctx, &def, 10);
        const int32_t n = liquid->mesh->vertex_slots;
        const mn_vec3 *x = liquid->mesh->position;
        double mass;
        for (int32_t i = 0; i < n; i++) lowest = fmin(lowest, x[i].y);
        check_ok(ctx, mn_array_resize(ctx, &liquid->trial.place, n));
        check_ok(ctx, mn_array_resize(ctx, &liquid->trial.velocity, n));
        if (floor) check_ok(ctx, mn_tet_liquid_find_contacts(liquid));
        assert_true(floor ? liquid->contacts.touching > 0 : liquid->contacts.touching == 0);
        check_ok(ctx, mn_tet_liquid_coast(liquid, 1));
        const mn_vec3 was = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass), *y = liquid->trial.place.data;
        for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) {
            const int32_t *v = liquid->mesh->tet[t];
            assert_true(mn_tet_volume(y[v[0]], y[v[1]], y[v[2]], y[v[3]]) > 0);
        }
        for (int32_t i = 0; i < n; i++)
            if (floor && liquid->contacts.touch.data[i]) assert_true(y[i].y > x[i].y - 1e-9);
        memcpy(mn_tet_field_vectors(liquid, MN_TET_V), liquid->trial.velocity.data,
               sizeof(mn_vec3) * (size_t)n);
        const mn_vec3 is = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass);
        if (!floor) check_close(mn_distance(is, was), 0, 1e-12 * 10 * mass);
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

// However wild, an advance ends, with a mesh that is whole, all its mass and all its momentum.
static void wild_liquids_get_through(void **state)
{
    (void)state;
    mn_context *ctx = context_of();
    mn_tet_liquid_def def = plain();
    def.size = 0.3;
    mn_tet_liquid *liquid = make_wild(ctx, &def, 30);
    double mass, mass_after;
    const mn_vec3 was = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.02));
    const mn_vec3 is = mn_tet_momentum(liquid->mesh, MN_TET_V, &mass_after);
    check_ok(ctx, mn_tet_mesh_check(liquid->mesh));
    check_close(mass_after, mass, 1e-12 * mass);
    check_close(mn_distance(is, was), 0, 1e-10 * 30 * mass);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static mn_status open_sheet(mn_context *ctx, const mn_tet_mesh *mesh)
{
    const mn_tet_liquid_def def = plain();
    mn_tet_liquid *liquid = NULL;
    mn_tet_list thin = {0};
    mn_tet_mesh *work = NULL;
    bool shed;
    mn_status status = mn_tet_liquid_create(ctx, &def, mesh, &liquid);
    if (status == MN_OK) status = mn_tet_mesh_copy(liquid->mesh, &work);
    if (status == MN_OK) status = mn_tet_liquid_list_thin(liquid, work, &thin);
    if (status == MN_OK) status = mn_tet_liquid_shed(liquid, work, &thin, &shed);
    mn_array_free(ctx, &thin);
    mn_tet_mesh_free(work);
    mn_tet_liquid_free(liquid);
    return status;
}

static mn_status open_sheet_inside(mn_context *ctx, failing_allocator *memory)
{
    mn_tet_mesh *mesh = make_sheet(ctx, 0.05);
    failing_begin(memory);
    const mn_status status = open_sheet(ctx, mesh);
    mn_tet_mesh_free(mesh);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(open_sheet_inside, 16);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thin_sheets_open_and_keep_what_they_hold),
        cmocka_unit_test(a_body_that_is_all_thin_stays),
        cmocka_unit_test(limiting_keeps_momentum_and_takes_energy),
        cmocka_unit_test(coasting_turns_nothing_over),
        cmocka_unit_test(wild_liquids_get_through),
        cmocka_unit_test(memory_may_run_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
