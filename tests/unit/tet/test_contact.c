// SPDX-License-Identifier: Apache-2.0
//
// Liquid and solids: what touches does not pass, what sticks does not move, and what is thrown at a wall
// stops there.
#include "support/check.h"
#include "support/painted_floor.h"
#include "support/tet_cap.h"

#include "tet/state.h"

static const double radius = 1e-3;

static mn_tet_liquid_def on_a_floor(void)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 998, def.sigma = 0.0728, def.viscosity = 0.05;
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = true;
    return def;
}

static mn_tet_liquid *make_cap(mn_context *ctx, const mn_tet_liquid_def *def)
{
    mn_tet_mesh *mesh = tet_half_ball(ctx, 4, radius);
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static double lowest(const mn_tet_mesh *mesh)
{
    double y = INFINITY;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) y = fmin(y, mesh->position[i].y);
    return y;
}

static void liquid_on_a_floor_keeps_its_volume_and_stays_above(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    for (int stick = 0; stick < 2; stick++) {
        mn_tet_liquid_def def = on_a_floor();
        def.gravity = mn_v3(0, -100, 0), def.stick = stick == 1, def.contact_angle = 60;
        mn_tet_liquid *liquid = make_cap(ctx, &def);
        mn_report before, after;
        mn_tet_liquid_report(liquid, &before);
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 4e-3));
        mn_tet_liquid_report(liquid, &after);
        check_close(after.value[MN_REPORT_volume][0] / before.value[MN_REPORT_volume][0], 1, 1e-7);
        // Nodes stand on the floor to rounding; remeshing may leave one within the distance that counts as
        // touching.
        assert_true(lowest(liquid->mesh) > -0.01 * liquid->size);
        assert_true(liquid->contacts.touching > 5);
        const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
        for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
            if (!liquid->contacts.touch.data[i] || after.value[MN_REPORT_substeps][0] < 1) continue;
            if (stick) check_close(mn_norm(v[i]), 0, 1e-9);
        }
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

static void a_thrown_drop_stops_at_the_wall(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.contact_angle = 180;
    mn_tet_mesh *mesh = tet_ball(ctx, 4);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mn_scale(2 * radius, mesh->position[i]);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(x.x, x.y + 1.2 * radius, x.z));
        v->data[3 * i + 1] = -0.3;
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    int32_t most = 0;
    for (int k = 0; k < 10; k++) {
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 1e-3));
        assert_true(lowest(liquid->mesh) > -0.02 * liquid->size);
        most = most > liquid->contacts.touching ? most : liquid->contacts.touching;
    }
    // It came down, was stopped, and goes up again.
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    assert_true(most > 0);
    assert_true(report.value[MN_REPORT_momentum][1] > 0);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

// A slippery floor pushes up and nowhere else, and remeshing takes no time in which anything could push: what
// spreads on it goes to no side. Without that a drop slid away at a tenth of the speed that it spreads with.
static void a_drop_that_spreads_on_a_slippery_floor_stays(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.contact_angle = 40, def.viscosity = 0.005;
    mn_tet_liquid *liquid = make_cap(ctx, &def);
    int64_t remeshed = 0;
    double aside = 0;
    mn_report report;
    for (int k = 0; k < 4; k++) {
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 1e-3));
        remeshed += liquid->counts.remeshed;
        mn_tet_liquid_report(liquid, &report);
        const double *p = report.value[MN_REPORT_momentum];
        aside = fmax(aside, hypot(p[0], p[2]));
        // Wetted faces have the energy -cos(angle); what is shown knows them by what they touch now.
        const double *energy = report.value[MN_REPORT_surface_energy], *area = report.value[MN_REPORT_area];
        assert_true(energy[0] < 0.6 * def.sigma * area[0]);
    }
    const double scale = report.value[MN_REPORT_mass][0] * sqrt(def.sigma / (def.density * radius));
    assert_true(remeshed > 0);
    // Each solve leaves 1e-8 of its forces, some hundred times.
    check_close(aside / scale, 0, 1e-5);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// A column of water hangs from a ceiling that it wets, and is jerked down. Where its pressure is below that
// of the air, suction holds it, and the contact line moves in; it came off from inside when nodes were let go
// whatever area they wet.
static void wetted_liquid_is_held_by_adhesion(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.gravity = mn_v3(0, -9.81, 0), def.contact_angle = 75, def.drag = 5;
    def.domain = (mn_box){{-1, -1, -1}, {1, 0, 1}}, def.wall[3] = true;
    mn_tet_mesh *mesh = tet_brick(ctx, 4, 6, 4);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        const double square = fmax(fabs(p.x), fabs(p.z)), disc = hypot(p.x, p.z);
        const double round = disc > 0 ? 1 + 2 * square * (square / disc - 1) : 1;
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(4e-3 * round * p.x, 6.2e-3 * (p.y - 0.5), 4e-3 * round * p.z));
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) v[i] = mn_v3(0, 160 * mesh->position[i].y, 0);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 4e-3));
    assert_true(liquid->contacts.touching > 17); // of 25; 12 without the work of adhesion
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

static void liquid_that_starts_in_a_solid_is_told(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.domain.min.y = 0.5 * radius;
    mn_tet_liquid *liquid = make_cap(ctx, &def);
    check_fails(ctx, mn_tet_liquid_advance(liquid, NULL, 1e-4), MN_ERROR_INPUT, "beyond the floor");
    mn_tet_liquid_free(liquid);
    // A little is put right.
    def.domain.min.y = 0.02 * radius;
    liquid = make_cap(ctx, &def);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 1e-4));
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// A box full of liquid that sticks to all its sides, whose mesh does not quite fit: no step can give its
// nodes the volumes that they should have. It rests, and time passes in steps that do not shrink. The
// constant pressure does nothing there, to a factor of S and to multigrid alike.
static void rest_in_a_full_box(int cells, int32_t direct_most, double seconds)
{
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.stick = true, def.gravity = mn_v3(0, -10, 0);
    def.domain = (mn_box){{-radius, -radius, -radius}, {radius, radius, radius}};
    for (int k = 0; k < 6; k++) def.wall[k] = true;
    mn_tet_mesh *mesh = tet_block(ctx, cells);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mn_scale(2 * radius, mesh->position[i]);
        mn_tet_mesh_move_vertex(mesh, i, mn_axpy(x, i % 3 == 0 ? 0.03 : 0, x));
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    liquid->system.direct_most = direct_most;
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, seconds));
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    const double limit = mn_tet_liquid_step_limit(liquid);
    assert_true(report.value[MN_REPORT_substeps][0] < 2 * 8 * seconds / limit + 10);
    check_close(report.value[MN_REPORT_max_speed][0], 0, 1e-3 * sqrt(def.sigma / (def.density * radius)));
    if (direct_most > 0) assert_true(mn_multigrid_levels(liquid->system.multigrid) > 1);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

static void a_full_box_that_holds_all_rests(void **state)
{
    (void)state;
    rest_in_a_full_box(2, 0, 5e-3);
    rest_in_a_full_box(5, 1, 2e-4);
}

// Faces on a painted floor have the energy of what is painted there, and nodes its slip and friction.
static void paint_is_read(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.wall[2] = false, def.contact_angle = 90, def.friction = 0.1;
    for (int paint = 0; paint < MN_PAINT_COUNT; paint++) {
        const double left = paint == MN_PAINT_CONTACT_ANGLE ? 60 : paint == MN_PAINT_FRICTION ? 0.7 : 0;
        painted_floor f = painted_floor_open(ctx, (mn_paint)paint, left, -1);
        mn_tet_liquid *liquid = make_cap(ctx, &def);
        liquid->run.collider = f.collider;
        check_ok(ctx, mn_tet_liquid_find_contacts(liquid));
        check_ok(ctx, mn_tet_liquid_find_wetted(liquid));
        int wetted[2] = {0};
        for (int32_t k = 0; k < liquid->system.face_count; k++) {
            const int32_t *v = liquid->system.face.data + 3 * (int64_t)k;
            const mn_vec3 *x = liquid->mesh->position;
            if (x[v[0]].y + x[v[1]].y + x[v[2]].y > 1e-9) continue;
            const bool right = x[v[0]].x + x[v[1]].x + x[v[2]].x > 0;
            wetted[right]++;
            const double known = paint == MN_PAINT_CONTACT_ANGLE && !right ? -0.5 : 0;
            check_close(liquid->contacts.face_sigma.data[k], known, 1e-9);
        }
        assert_true(wetted[0] > 0 && wetted[1] > 0);
        for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
            if (!liquid->contacts.touch.data[i] || fabs(liquid->mesh->position[i].x) < 1e-6) continue;
            const bool at_left = liquid->mesh->position[i].x < 0;
            check_close(mn_tet_liquid_friction(liquid, i), paint == MN_PAINT_FRICTION && at_left ? 0.7 : 0.1,
                        1e-6);
            assert_int_equal(mn_tet_liquid_sticks(liquid, liquid->mesh, i),
                             paint == MN_PAINT_SLIP && at_left);
        }
        liquid->run.collider = NULL;
        mn_tet_liquid_free(liquid);
        painted_floor_close(&f);
    }
    mn_context_free(ctx);
}

// A drop in a corner: floor and side have their own angles.
static void sides_have_their_own_angles(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.contact_angle = 90, def.contact_angle_min.y = 60, def.friction_min.y = 0.3;
    mn_tet_liquid *liquid = make_cap(ctx, &def);
    check_ok(ctx, mn_tet_liquid_find_contacts(liquid));
    check_ok(ctx, mn_tet_liquid_find_wetted(liquid));
    int32_t wetted = 0;
    for (int32_t k = 0; k < liquid->system.face_count; k++)
        wetted += fabs(liquid->contacts.face_sigma.data[k] + 0.5) < 1e-9;
    assert_true(wetted > 0);
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++)
        if (liquid->contacts.touch.data[i]) check_close(mn_tet_liquid_friction(liquid, i), 0.3, 0);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// A force field is an acceleration like gravity, everywhere its own.
static void a_force_field_accelerates(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = on_a_floor();
    def.wall[2] = false;
    mn_tet_liquid *liquid = make_cap(ctx, &def);
    mn_volume force = analytic_motion(mn_v3(3, -1, 2), mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    check_ok(ctx, mn_tet_liquid_advance(liquid, &(mn_solver_inputs){.force = force}, 1e-3));
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    const double *p = report.value[MN_REPORT_momentum], m = report.value[MN_REPORT_mass][0];
    check_close(mn_distance(mn_v3(p[0] / m, p[1] / m, p[2] / m), mn_v3(3e-3, -1e-3, 2e-3)), 0, 1e-9);
    mn_volume_release(&force);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(liquid_on_a_floor_keeps_its_volume_and_stays_above),
        cmocka_unit_test(a_thrown_drop_stops_at_the_wall),
        cmocka_unit_test(a_drop_that_spreads_on_a_slippery_floor_stays),
        cmocka_unit_test(wetted_liquid_is_held_by_adhesion),
        cmocka_unit_test(liquid_that_starts_in_a_solid_is_told),
        cmocka_unit_test(a_full_box_that_holds_all_rests),
        cmocka_unit_test(paint_is_read),
        cmocka_unit_test(a_force_field_accelerates),
        cmocka_unit_test(sides_have_their_own_angles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
