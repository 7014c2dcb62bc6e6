// SPDX-License-Identifier: Apache-2.0
//
// A collider gives distances, normals and velocities of what it was made from, also between frames.
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/out_of_memory.h"

#include "base/random.h"
#include "meniscus/collider.h"
#include "mesh/shape.h"
#include "space/rigid_motion.h"

static mn_collider *make(mn_context *ctx, mn_geo **geo, mn_volume surface, mn_volume velocity, double scale)
{
    check_ok(ctx, mn_geo_create(ctx, geo));
    check_ok(ctx, analytic_add(*geo, surface));
    if (velocity.ops) check_ok(ctx, analytic_add(*geo, velocity));
    mn_collider_def def = mn_collider_default_def();
    def.geo = *geo;
    def.velocity_scale = scale;
    mn_collider *collider = NULL;
    check_ok(ctx, mn_collider_create(ctx, &def, &collider));
    return collider;
}

static void a_ball_gives_its_distance_and_normal(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    mn_collider *c = make(ctx, &geo, analytic_ball(mn_v3(1, 2, 3), 0.5, 0.02), (mn_volume){0}, 1);
    const mn_vec3 direction = mn_normalize(mn_v3(1, -2, 0.5));
    const mn_contact contact = mn_collider_probe(c, 0, mn_axpy(mn_v3(1, 2, 3), 0.53, direction));
    check_close(contact.distance, 0.03, 1e-14);
    // Central differences of a ball's distance over h = 0.02 at radius 0.53: O(h^2 / r^2).
    check_close(mn_distance(contact.normal, direction), 0, 2e-3);
    assert_true(mn_norm(contact.velocity) == 0);
    // Far away: a lower bound of the true distance 9.5 that is better than the band of 0.06.
    double far;
    mn_collider_distance(c, 0, 1, &(mn_vec3){11, 2, 3}, &far);
    assert_true(far <= 9.5 && far > 9.3);
    // Deep inside there is no normal.
    assert_true(mn_norm(mn_collider_probe(c, 0, mn_v3(1, 2, 3.2)).normal) == 0);
    mn_collider_free(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void a_moving_ball_was_elsewhere_before(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    const mn_vec3 center = {0.2, 0, 0}, linear = {3, 1, 0};
    // Time runs at a quarter: the same motion is four times as fast for the simulation.
    mn_collider *c = make(ctx, &geo, analytic_ball(center, 0.1, 0.005),
                          analytic_motion(mn_scale(0.25, linear), mn_v3(0, 0, 0), center), 4.0);
    check_close(mn_collider_max_speed(c), mn_norm(linear), 1e-9);
    const double before = 0.04;
    const mn_vec3 center_then = mn_axpy(center, -before, linear);
    const mn_vec3 x = mn_add(center_then, mn_v3(0, 0.108, 0));
    const mn_contact contact = mn_collider_probe(c, before, x);
    check_close(contact.distance, 0.008, 1e-9);
    check_close(contact.normal.y, 1, 1e-9);
    check_close(mn_distance(contact.velocity, linear), 0, 1e-9);
    const mn_vec3 carried = mn_collider_carry(c, before, 0.03, x);
    check_close(mn_distance(carried, mn_axpy(x, 0.03, linear)), 0, 1e-9);
    mn_collider_free(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void a_spinning_ball_carries_round(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    const mn_vec3 center = {0, 1, 0}, angular = {0, 0, 20};
    mn_collider *c = make(ctx, &geo, analytic_ball(center, 0.1, 0.005),
                          analytic_motion(mn_v3(0, 0, 0), angular, center), 1.0);
    const mn_vec3 x = {0.1, 1, 0};
    const mn_contact contact = mn_collider_probe(c, 0.05, x);
    check_close(contact.distance, 0, 1e-12);
    // O(h^2 / r^2), as above
    check_close(mn_distance(contact.normal, mn_v3(1, 0, 0)), 0, 2.5e-3);
    check_close(mn_distance(contact.velocity, mn_v3(0, 2, 0)), 0, 1e-9);
    const mn_vec3 carried = mn_collider_carry(c, 0.05, 0.05, x);
    check_close(carried.x, 0.1 * cos(1.0), 1e-12);
    check_close(carried.y, 1 + 0.1 * sin(1.0), 1e-12);
    mn_collider_free(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void several_solids_are_one(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_ball(mn_v3(0, 0, 0), 0.5, 0.02)));
    check_ok(ctx, analytic_add(geo, analytic_ball(mn_v3(2, 0, 0), 0.5, 0.02)));
    check_ok(ctx, analytic_add(geo, analytic_motion(mn_v3(0, 1, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0))));
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    mn_collider *c;
    check_ok(ctx, mn_collider_create(ctx, &def, &c));
    const mn_contact first = mn_collider_probe(c, 0, mn_v3(0, 0.51, 0)),
                     second = mn_collider_probe(c, 0, mn_v3(2, 0.51, 0));
    check_close(first.distance, 0.01, 1e-14);
    check_close(second.distance, 0.01, 1e-14);
    check_close(first.velocity.y, 0, 0);
    check_close(second.velocity.y, 1, 1e-12);
    mn_collider_free(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

// A contact angle that grows along x, painted on a box: read at the nearest point of its surface.
static void paint_is_read_from_the_nearest_point(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_shape_def shape = mn_shape_default_def();
    shape.kind = MN_SHAPE_BOX;
    shape.size = mn_v3(2, 2, 2);
    mn_geo *geo;
    mn_attribute *angle;
    check_ok(ctx, mn_shape_create(ctx, &shape, &geo));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "contact_angle", MN_F32, 1, MN_HINT_NONE, &angle));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const double value = 90 + 30 * mn_geo_position(geo, i).x;
        check_ok(ctx, mn_attribute_set(geo, angle, i, 1, &value));
    }
    check_ok(ctx, analytic_add(geo, analytic_half_space(mn_v3(0, 1, 0), mn_v3(0, 1, 0), 0.05)));
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    def.paint = true;
    mn_collider *c;
    check_ok(ctx, mn_collider_create(ctx, &def, &c));
    const mn_vec3 x[3] = {{0.5, 1.3, 0.2}, {-0.9, 0.99, 0}, {7, 0, 0}};
    double value[3];
    mn_collider_paint(c, MN_PAINT_CONTACT_ANGLE, 45, 3, x, value);
    check_close(value[0], 105, 1e-4);
    check_close(value[1], 63, 1e-4);
    check_close(value[2], 120, 1e-4);
    mn_collider_paint(c, MN_PAINT_FRICTION, 0.5, 3, x, value);
    check_close(value[1], 0.5, 0);
    mn_collider_free(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void bad_colliders_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    mn_collider *c = NULL;
    check_fails(ctx, mn_collider_create(ctx, &def, &c), MN_ERROR_INPUT, "holds no level set");
    check_ok(ctx, analytic_add(geo, analytic_ball(mn_v3(0, 0, 0), NAN, 0.02)));
    // A ball without a size has no box either.
    ((analytic_volume *)mn_geo_find_volume(geo, "surface").handle)->bounds =
        (mn_box){{-1, -1, -1}, {1, 1, 1}};
    check_fails(ctx, mn_collider_create(ctx, &def, &c), MN_ERROR_INPUT, "not finite");
    assert_null(c);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static mn_status stand_a_plane(mn_context *ctx, failing_allocator *memory)
{
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.02)));
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    mn_collider *c = NULL;
    failing_begin(memory);
    const mn_status status = mn_collider_create(ctx, &def, &c);
    mn_collider_free(c);
    mn_geo_free(geo);
    return status;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(stand_a_plane, INT64_MAX);
}

static void a_rigid_motion_is_found_again(void **state)
{
    (void)state;
    const mn_rigid_motion motion = {{1, 2, 3}, {0.5, -1, 2}, {3, 1, -2}};
    mn_vec3 x[20], v[20];
    for (int i = 0; i < 20; i++) {
        x[i] = mn_random_unit3(7, (uint64_t)i, 0);
        v[i] = mn_rigid_motion_velocity(&motion, x[i]);
    }
    mn_rigid_motion fit = mn_rigid_motion_fit(20, x, v);
    check_close(mn_distance(fit.angular, motion.angular), 0, 1e-12);
    check_close(mn_distance(mn_rigid_motion_velocity(&fit, mn_v3(5, 5, 5)),
                            mn_rigid_motion_velocity(&motion, mn_v3(5, 5, 5))),
                0, 1e-11);
    // Points on a line say nothing about a spin around it.
    for (int i = 0; i < 20; i++) x[i] = mn_v3(0, i, 0), v[i] = mn_v3(1, 0, 0);
    fit = mn_rigid_motion_fit(20, x, v);
    check_close(mn_norm(fit.angular), 0, 1e-12);
    // There and back again.
    const mn_vec3 y = mn_rigid_motion_forward(&motion, 0.3, mn_v3(4, 4, 4));
    check_close(mn_distance(mn_rigid_motion_back(&motion, 0.3, y), mn_v3(4, 4, 4)), 0, 1e-14);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_gives_its_distance_and_normal),
        cmocka_unit_test(a_moving_ball_was_elsewhere_before),
        cmocka_unit_test(a_spinning_ball_carries_round),
        cmocka_unit_test(several_solids_are_one),
        cmocka_unit_test(paint_is_read_from_the_nearest_point),
        cmocka_unit_test(bad_colliders_are_refused),
        cmocka_unit_test(no_memory_is_a_status),
        cmocka_unit_test(a_rigid_motion_is_found_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
