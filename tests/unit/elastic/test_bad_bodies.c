// SPDX-License-Identifier: Apache-2.0
//
// What nobody should ask of elastic bodies: a sentence, or a sane result and the last good state.
#include "meniscus/elastic.h"
#include "support/elastic_shapes.h"
#include "support/one_context.h"

static elastic_shape *shape;

static mn_elastic *create(const mn_elastic_def *def)
{
    mn_elastic *s;
    check_ok(ctx, mn_elastic_create(ctx, def, &s));
    return s;
}

static void add(mn_elastic *s, mn_elastic_kind kind)
{
    const mn_elastic_body body = shape_body(shape, kind);
    check_ok(ctx, mn_elastic_add(s, &body));
}

static mn_elastic_def soft_def(void)
{
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.max_dt = 0.01;
    return def;
}

static mn_elastic_view view_of(mn_elastic *s)
{
    mn_elastic_view view;
    check_ok(ctx, mn_elastic_get_view(s, &view));
    for (int32_t i = 0; i < view.point_count; i++) {
        assert_true(mn_is_finite3(view.positions[i]) && mn_is_finite3(view.velocities[i]));
        assert_true(mn_norm(view.positions[i]) < 10);
    }
    return view;
}

/// Targets that leave what is at rest where it is.
static mn_vec3 *targets_of(mn_elastic *s)
{
    const mn_elastic_view view = view_of(s);
    mn_vec3 *targets = malloc((size_t)view.point_count * sizeof *targets);
    memcpy(targets, view.positions, (size_t)view.point_count * sizeof *targets);
    return targets;
}

static void numbers_out_of_range(void **state)
{
    (void)state;
    mn_elastic *s;
    mn_elastic_def def = soft_def();
    def.thickness = 0;
    check_fails(ctx, mn_elastic_create(ctx, &def, &s), MN_ERROR_ARGUMENT, "thickness");
    def = soft_def(), def.density = -1;
    check_fails(ctx, mn_elastic_create(ctx, &def, &s), MN_ERROR_ARGUMENT, "density");
    def = soft_def(), def.young = NAN;
    check_fails(ctx, mn_elastic_create(ctx, &def, &s), MN_ERROR_ARGUMENT, "young");
}

/// A sheet of this material tears long before it has such a tension: it was stretched a million times
/// instead.
static void prestress_that_cannot_be_had(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.prestress = def.young * def.thickness;
    mn_elastic *s = create(&def);
    shape_sheet(shape, mn_v3(0, 0, 0), 0.2, 0.2, 2, 2);
    mn_elastic_body body = shape_body(shape, MN_ELASTIC_CLOTH);
    check_fails(ctx, mn_elastic_add(s, &body), MN_ERROR_INPUT, "prestress");
    mn_elastic_free(s);
}

/// Pinned ends that change places: the block is drawn through itself, without contact with itself, and comes
/// back when they do.
static void pins_inside_out(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.self_contact = false, def.damping = 0.05;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0, 0), mn_v3(0.1, 0.1, 0.1), 2, 2, 2);
    for (int32_t i = 0; i < shape->points; i++) shape->pinned[i] = fabs(shape->x[i].y) > 0.049;
    add(s, MN_ELASTIC_SOLID);
    mn_vec3 *targets = targets_of(s);
    const mn_elastic_inputs inputs = {.targets = targets};
    for (int way = 0; way < 2; way++) {
        for (int32_t i = 0; i < shape->points; i++) targets[i].y = -targets[i].y;
        check_ok(ctx, mn_elastic_advance(s, &inputs, 0.1));
        view_of(s);
    }
    check_ok(ctx, mn_elastic_advance(s, &inputs, 0.4));
    const mn_elastic_view view = view_of(s);
    for (int32_t i = 0; i < view.point_count; i++)
        assert_true(mn_distance(view.positions[i], view.rest[i]) < 0.005);
    free(targets);
    mn_elastic_free(s);
}

/// Two plates that meet with a block between them: refused with a sentence, and the block is what it was.
static void squeezed_to_nothing(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.max_substeps = 200;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0, 0), mn_v3(0.1, 0.1, 0.1), 1, 1, 1);
    add(s, MN_ELASTIC_SOLID);
    const int32_t first = shape->points;
    shape_sheet(shape, mn_v3(0, 0.06, 0), 0.3, 0.3, 1, 1);
    add(s, MN_ELASTIC_COLLIDER);
    shape_sheet(shape, mn_v3(0, -0.06, 0), 0.3, 0.3, 1, 1);
    add(s, MN_ELASTIC_COLLIDER);
    mn_vec3 *targets = targets_of(s);
    const mn_elastic_inputs inputs = {.targets = targets};
    const int32_t count = view_of(s).point_count;
    for (int32_t i = first; i < count; i++) targets[i].y *= -1; // through each other
    check_fails(ctx, mn_elastic_advance(s, &inputs, 0.1), MN_ERROR_DIVERGED, "colliders that meet");
    const mn_elastic_view view = view_of(s);
    for (int32_t i = 0; i < first; i++) assert_true(fabs(view.positions[i].y) < 0.06);
    check_ok(ctx, mn_elastic_check_apart(s));
    free(targets);
    mn_elastic_free(s);
}

/// Friction of a million is glue.
static void endless_friction(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(0, -9.81, 0), def.friction = 1e6, def.damping = 0.01;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0.0504, 0), mn_v3(0.1, 0.1, 0.1), 1, 1, 1);
    shape_move(shape, mn_v3(0, 0, 0), mn_v3(0.2, 0, 0), mn_v3(0, 0, 0));
    add(s, MN_ELASTIC_SOLID);
    shape_sheet(shape, mn_v3(0, 0, 0), 2, 2, 1, 1);
    add(s, MN_ELASTIC_COLLIDER);
    check_ok(ctx, mn_elastic_advance(s, NULL, 0.6));
    const mn_elastic_view view = view_of(s);
    for (int32_t i = 0; i < 8; i++) assert_true(mn_norm(view.velocities[i]) < 0.02);
    mn_elastic_free(s);
}

/// Cloth that lies on itself is named with the way out.
static void folded_cloth(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    mn_elastic *s = create(&def);
    shape_sheet(shape, mn_v3(0, 0, 0), 0.2, 0.2, 4, 4);
    for (int32_t i = 0; i < shape->points; i++) {
        const mn_vec3 x = shape->x[i];
        shape->x[i] = mn_v3(fabs(x.x) + 0.03 * x.z * (x.x > 0 ? 1 : 0), 0.001 * sin(40 * x.z), x.z);
    }
    mn_elastic_body body = shape_body(shape, MN_ELASTIC_CLOTH);
    check_ok(ctx, mn_elastic_add(s, &body));
    check_fails(ctx, mn_elastic_advance(s, NULL, 0.02), MN_ERROR_INPUT, "turn self_contact off");
    def.self_contact = false;
    check_ok(ctx, mn_elastic_set_def(s, &def));
    check_ok(ctx, mn_elastic_advance(s, NULL, 0.02));
    view_of(s);
    mn_elastic_free(s);
}

/// Cloth folded flat onto itself: one half lies on the other exactly, in one plane. Refused with the way
/// out; without contact it falls as it is, though its hinge is at the angle that jumps from pi to -pi (the
/// cloth made eleven times the energy of its fall).
static void cloth_folded_flat(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(0, -9.81, 0);
    mn_elastic *s = create(&def);
    shape_sheet(shape, mn_v3(0, 0, 0), 0.04, 0.02, 2, 1);
    for (int32_t i = 0; i < shape->points; i++) shape->x[i].x = fabs(shape->x[i].x);
    add(s, MN_ELASTIC_CLOTH);
    check_fails(ctx, mn_elastic_advance(s, NULL, 0.02), MN_ERROR_INPUT, "turn self_contact off");
    def.self_contact = false;
    check_ok(ctx, mn_elastic_set_def(s, &def));
    check_ok(ctx, mn_elastic_advance(s, NULL, 0.1));
    const mn_elastic_view view = view_of(s);
    for (int32_t i = 0; i < view.point_count; i++)
        assert_true(mn_norm(mn_sub(view.velocities[i], mn_v3(0, -0.981, 0))) < 1e-9);
    mn_elastic_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_out_of_range), cmocka_unit_test(pins_inside_out),
        cmocka_unit_test(squeezed_to_nothing),  cmocka_unit_test(endless_friction),
        cmocka_unit_test(folded_cloth),         cmocka_unit_test(prestress_that_cannot_be_had),
        cmocka_unit_test(cloth_folded_flat),
    };
    shape = shape_create();
    const int failed = cmocka_run_group_tests(tests, setup, teardown);
    free(shape);
    return failed;
}
