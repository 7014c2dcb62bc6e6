// SPDX-License-Identifier: Apache-2.0
//
// Friction against known answers: a block so viscous that it is stiff, on a floor. Drag stops it like
// exp(-drag t/(density height)); Coulomb's law holds it below the angle of friction, and above lets it slide
// with g (sin a - friction cos a).
#include "support/check.h"
#include "support/tet_shapes.h"

#include "tet/state.h"

static const double height = 0.05, density = 1000;

static mn_tet_liquid_def stiff(void)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = density, def.sigma = 0, def.viscosity = 3000, def.quality = 0;
    def.gravity = mn_v3(0, -9.81, 0);
    def.domain = (mn_box){{-9, 0, -9}, {9, 9, 9}};
    def.wall[2] = true;
    return def;
}

static mn_tet_liquid *make_block(mn_context *ctx, const mn_tet_liquid_def *def, double speed)
{
    mn_tet_mesh *mesh = tet_brick(ctx, 4, 2, 4);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(2 * height * p.x, height * (p.y + 0.5), 2 * height * p.z));
        v->data[3 * i] = speed;
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static double speed_of(const mn_tet_liquid *liquid)
{
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    return report.value[MN_REPORT_momentum][0] / report.value[MN_REPORT_mass][0];
}

static void drag_slows_down_exponentially(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = stiff();
    const double time = 0.05;
    def.drag = density * height / time, def.max_dt = time / 20;
    mn_tet_liquid *liquid = make_block(ctx, &def, 0.1);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, time));
    // Steps of second order: (drag dt)^2/6 of it and the start.
    check_close(speed_of(liquid), 0.1 * exp(-1), 2e-3 * 0.1);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// On a slope of `degrees`, from `start`; the speed after `time`.
static double slide(double degrees, double friction, double start, double time)
{
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = stiff();
    const double angle = degrees * 0.017453292519943295;
    def.friction = friction, def.max_dt = 2e-3;
    def.gravity = mn_v3(9.81 * sin(angle), -9.81 * cos(angle), 0);
    mn_tet_liquid *liquid = make_block(ctx, &def, start);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, time));
    const double speed = speed_of(liquid);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
    return speed;
}

static void coulomb_holds_below_and_slides_above(void **state)
{
    (void)state;
    const double g = 9.81, radian = 0.017453292519943295, time = 0.03;
    // tan 20 degrees = 0.364. What moves at 15 degrees is the block that leans.
    assert_true(fabs(slide(15, 0.364, 0, time)) < 0.02 * g * sin(15 * radian) * time);
    const double free_speed = g * sin(30 * radian) * time;
    check_close(slide(30, 0, 0, time), free_speed, 1e-6 * free_speed);
    check_close(slide(30, 0.364, 0, time), free_speed - 0.364 * g * cos(30 * radian) * time,
                0.02 * free_speed);
    // Thrown along the level it stops, and stays. The throw tips it first, as it is not quite stiff.
    const double thrown = 0.5 * 0.364 * g * time;
    check_close(slide(0, 0.364, 2 * thrown, time / 2), thrown, 0.1 * thrown);
    check_close(slide(0, 0.364, thrown, time), 0, 0.02 * thrown);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(drag_slows_down_exponentially),
        cmocka_unit_test(coulomb_holds_below_and_slides_above),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
