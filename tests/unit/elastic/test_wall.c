// SPDX-License-Identifier: Apache-2.0
//
// Bodies as walls: their motion at a place is that of a rigid body where the nodes move as one, and forces
// that go back to the nodes keep their sum and their torque.
#include "elastic/elastic_state.h"
#include "elastic/wall.h"

#include "base/random.h"
#include "support/elastic_shapes.h"
#include "support/one_context.h"

static elastic_shape *shape;

static mn_vec3 random_vector(uint64_t i, uint64_t what)
{
    return mn_sub(mn_scale(2, mn_random_unit3(7, i, what)), mn_v3(1, 1, 1));
}

static void check_wall(mn_elastic_kind kind)
{
    const mn_vec3 shift = {0.3, -0.2, 0.5}, turn = {1, 2, -0.5};
    const mn_elastic_def def = mn_elastic_default_def();
    const mn_elastic_body body = shape_body(shape, kind);
    mn_elastic *s;
    mn_elastic_wall *wall;
    mn_vec3 u[SHAPE_POINTS], f[SHAPE_POINTS];
    check_ok(ctx, mn_elastic_create(ctx, &def, &s));
    check_ok(ctx, mn_elastic_add(s, &body));
    check_ok(ctx, mn_elastic_wall_create(s, 0.05, 1, &wall));
    for (int64_t i = 0; i < s->x.count; i++) u[i] = mn_add(shift, mn_cross(turn, s->x.data[i]));
    for (uint64_t k = 0; k < 100; k++) {
        const mn_vec3 x = mn_scale(0.6, random_vector(k, 0)), force = random_vector(k, 1);
        mn_wall_map map;
        assert_true(mn_elastic_wall_map(wall, x, &map));
        const mn_vec3 rigid = mn_add(shift, mn_cross(turn, x));
        // rounding of weights of some tens, where x lies far past a small triangle
        assert_true(mn_distance(mn_wall_velocity(&map, u), rigid) < 1e-12);
        mn_vec3 sum = {0, 0, 0}, torque = {0, 0, 0};
        for (int64_t i = 0; i < s->x.count; i++) f[i] = mn_v3(0, 0, 0);
        mn_wall_react(&map, force, f);
        for (int64_t i = 0; i < s->x.count; i++)
            sum = mn_add(sum, f[i]), torque = mn_add(torque, mn_cross(s->x.data[i], f[i]));
        assert_true(mn_distance(sum, force) < 1e-12);
        assert_true(mn_distance(torque, mn_cross(x, force)) < 1e-12);
    }
    mn_elastic_wall_free(wall);
    mn_elastic_free(s);
}

static void maps_reproduce_rigid_motions(void **state)
{
    (void)state;
    shape_sheet(shape, mn_v3(0, 0, 0), 1, 1, 5, 5);
    check_wall(MN_ELASTIC_CLOTH);
    shape_block(shape, mn_v3(0, 0, 0), mn_v3(0.5, 0.6, 0.4), 2, 2, 2);
    check_wall(MN_ELASTIC_SOLID);
    shape_box(shape, mn_v3(0, 0.1, 0), mn_v3(0.5, 0.6, 0.4));
    check_wall(MN_ELASTIC_RIGID);
}

/// Outside, inside, and on both sides of a sheet.
static void distances_have_signs(void **state)
{
    (void)state;
    const mn_elastic_def def = mn_elastic_default_def();
    mn_elastic *s;
    mn_elastic_wall *wall;
    check_ok(ctx, mn_elastic_create(ctx, &def, &s));
    shape_box(shape, mn_v3(0, 0, 0), mn_v3(1, 1, 1));
    const mn_elastic_body box = shape_body(shape, MN_ELASTIC_RIGID);
    check_ok(ctx, mn_elastic_add(s, &box));
    shape_sheet(shape, mn_v3(0, 2, 0), 1, 1, 2, 2);
    const mn_elastic_body sheet = shape_body(shape, MN_ELASTIC_CLOTH);
    check_ok(ctx, mn_elastic_add(s, &sheet));
    check_ok(ctx, mn_elastic_wall_create(s, 0.1, 1, &wall));
    const mn_moving_solids solids = mn_elastic_wall_solids(wall);
    assert_float_equal(solids.distance(wall, mn_v3(0, 0.7, 0.1)), 0.2, 1e-12);
    assert_float_equal(solids.distance(wall, mn_v3(0, 0.4, 0.1)), -0.1, 1e-12);
    assert_float_equal(solids.distance(wall, mn_v3(0, 2.3, 0.1)), 0.2, 1e-12);
    assert_float_equal(solids.distance(wall, mn_v3(0, 1.7, 0.1)), 0.2, 1e-12);
    assert_float_equal(solids.distance(wall, mn_v3(0, 2.05, 0.1)), -0.05, 1e-12);
    assert_true(solids.probe(wall, mn_v3(0, 2.3, 0.1)).normal.y > 0.999);
    assert_true(solids.probe(wall, mn_v3(0, 1.7, 0.1)).normal.y < -0.999);
    assert_true(solids.distance(wall, mn_v3(9, 9, 9)) >= 0.9);
    mn_elastic_wall_free(wall);
    mn_elastic_free(s);
}

static int create_shape(void **state)
{
    shape = shape_create();
    return setup(state);
}

static int free_shape(void **state)
{
    free(shape);
    return teardown(state);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(maps_reproduce_rigid_motions),
                                       cmocka_unit_test(distances_have_signs)};
    return cmocka_run_group_tests(tests, create_shape, free_shape);
}
