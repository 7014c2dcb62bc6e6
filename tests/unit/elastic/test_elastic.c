// SPDX-License-Identifier: Apache-2.0
//
// Elastic bodies as a whole: momenta, falling, resting, rigid bodies, pins, bad input, states.
#include "base/parallel.h"
#include "meniscus/elastic.h"
#include "support/elastic_shapes.h"
#include "support/one_context.h"
#include "support/stream_buffer.h"
#include "support/thread_scheduler.h"

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

typedef struct totals {
    mn_vec3 momentum, spin, center;
    double kinetic, elastic, contact, gap;
} totals;

static totals totals_of(mn_elastic *s)
{
    mn_report r = {0};
    mn_elastic_numbers n;
    mn_elastic_report(s, &r);
    check_ok(ctx, mn_elastic_get_numbers(s, &n));
    const double *p = r.value[MN_REPORT_momentum], *l = r.value[MN_REPORT_angular_momentum],
                 *c = r.value[MN_REPORT_center];
    return (totals){
        {p[0], p[1], p[2]}, {l[0], l[1], l[2]}, {c[0], c[1], c[2]}, r.value[MN_REPORT_kinetic_energy][0],
        n.elastic_energy,   n.contact_energy,   n.smallest_gap};
}

static mn_elastic_def soft_def(void)
{
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.max_dt = 0.002;
    def.friction = 0;
    return def;
}

/// Two balls that meet off centre keep both momenta, with friction and spin too; energy does not grow.
static void colliding_balls(void **state)
{
    (void)state;
    for (int rough = 0; rough < 2; rough++) {
        mn_elastic_def def = soft_def();
        def.friction = rough ? 0.5 : 0;
        mn_elastic *s = create(&def);
        for (int side = 0; side < 2; side++) {
            const double sign = side ? 1 : -1;
            const mn_vec3 at = mn_v3(sign * 0.052, sign * 0.0075, 0);
            shape_ball(shape, at, 0.05, 4);
            shape_move(shape, at, mn_v3(-sign * 0.25, 0, 0), mn_v3(0, 0, rough ? 20 : 0));
            add(s, MN_ELASTIC_SOLID);
        }
        const totals before = totals_of(s);
        const double scale = 0.5 * 0.25, mass = 0.5;
        double touched = INFINITY;
        for (int frame = 0; frame < 12; frame++) {
            check_ok(ctx, mn_elastic_advance(s, NULL, 0.01));
            const totals now = totals_of(s);
            touched = fmin(touched, now.gap);
            check_close(mn_distance(now.momentum, before.momentum), 0, 1e-12 * scale);
            check_close(mn_distance(now.spin, before.spin), 0, 1e-12 * mass * 0.25 * 0.05);
            assert_true(now.kinetic + now.elastic + now.contact <=
                        (before.kinetic + before.elastic) * (1 + 1e-6));
        }
        assert_true(touched < 1e-3);
        const totals after = totals_of(s);
        if (!rough) assert_true(after.kinetic > 0.8 * before.kinetic);
        mn_elastic_free(s);
    }
}

/// Impulses keep both momenta, with friction and spin, explicit and implicit, let nothing through, and do not
/// let energy grow.
static void impulses(void **state)
{
    (void)state;
    for (int implicit = 0; implicit < 2; implicit++) {
        mn_elastic_def def = soft_def();
        def.friction = 0.5, def.method = MN_ELASTIC_IMPULSES;
        def.integrator = implicit ? MN_ELASTIC_BDF2 : MN_ELASTIC_EXPLICIT;
        mn_elastic *s = create(&def);
        for (int side = 0; side < 2; side++) {
            const double sign = side ? 1 : -1;
            const mn_vec3 at = mn_v3(sign * 0.052, sign * 0.0075, 0);
            shape_ball(shape, at, 0.05, 2);
            shape_move(shape, at, mn_v3(-sign * 0.25, 0, 0), mn_v3(0, 0, 5));
            add(s, MN_ELASTIC_SOLID);
        }
        const totals before = totals_of(s);
        for (int frame = 0; frame < 8; frame++) {
            check_ok(ctx, mn_elastic_advance(s, NULL, 0.01));
            const totals now = totals_of(s);
            check_close(mn_distance(now.momentum, before.momentum), 0, 1e-12 * 0.5 * 0.25);
            check_close(mn_distance(now.spin, before.spin), 0, 1e-12 * 0.5 * 0.25 * 0.05);
            assert_true(now.kinetic + now.elastic <= before.kinetic * (1 + 1e-3));
            check_ok(ctx, mn_elastic_check_apart(s));
        }
        assert_true(totals_of(s).kinetic < 0.999 * before.kinetic); // they have met
        mn_elastic_free(s);
    }
}

/// A damped block on a slope that friction holds comes to rest under impulses: the last steps of an advance
/// are as long as the others, since what rests is strained by dt^2 and moves when that changes (0.4 mm/s).
static void rest_under_impulses(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(4.9, -8.5, 0), def.friction = 0.7, def.damping = 0.002, def.max_dt = 0.005;
    def.young = 1e6, def.method = MN_ELASTIC_IMPULSES;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0.02 + 2.5e-4, 0), mn_v3(0.08, 0.04, 0.08), 2, 1, 2);
    add(s, MN_ELASTIC_SOLID);
    shape_sheet(shape, mn_v3(0, 0, 0), 1, 1, 2, 2);
    add(s, MN_ELASTIC_COLLIDER);
    for (int k = 0; k < 3; k++) check_ok(ctx, mn_elastic_advance(s, NULL, 0.1));
    const double mass = 1000 * 0.08 * 0.04 * 0.08; // kg
    check_close(totals_of(s).momentum.x / mass, 0, 1e-5);
    mn_elastic_free(s);
}

/// A rigid body falls by g t^2/2, turns freely about its axes, and keeps its shape.
static void free_rigid_body(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(0, -9.81, 0);
    mn_elastic *s = create(&def);
    shape_box(shape, mn_v3(0, 0, 0), mn_v3(0.1, 0.2, 0.3));
    shape_move(shape, mn_v3(0, 0, 0), mn_v3(1, 0, 0), mn_v3(0, 0, 8));
    add(s, MN_ELASTIC_RIGID);
    const totals before = totals_of(s);
    // 6 kg about z: m (a^2 + b^2)/12
    check_close(before.spin.z, 6 * (0.01 + 0.04) / 12 * 8, 1e-12);
    check_close(before.kinetic, 0.5 * 6 + 0.5 * before.spin.z * 8, 1e-10);
    check_ok(ctx, mn_elastic_advance(s, NULL, 0.1));
    const totals now = totals_of(s);
    check_close(now.momentum.y, -6 * 9.81 * 0.1, 1e-10);
    check_close(now.momentum.x, 6, 1e-10);
    check_close(now.center.x, 0.1, 1e-10);
    check_close(now.center.y, -0.5 * 9.81 * 0.01, 0.002 * 9.81 * 0.1); // the first step is first order
    mn_elastic_view view;
    check_ok(ctx, mn_elastic_get_view(s, &view));
    check_close(mn_distance(view.positions[0], view.positions[7]), sqrt(0.14), 1e-5);
    const mn_vec3 along = mn_sub(view.positions[1], view.positions[0]);
    check_close(atan2(along.y, along.x), 0.8, 0.01);
    mn_elastic_free(s);
}

/// A soft block dropped onto a floor comes to rest on it: no intersection, and the floor carries its weight.
static void block_on_floor(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(0, -9.81, 0);
    def.damping = 0.01, def.friction = 0.5, def.max_dt = 0.01;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0.06, 0), mn_v3(0.1, 0.1, 0.1), 3, 3, 3);
    add(s, MN_ELASTIC_SOLID);
    const int32_t first = shape->points;
    shape_sheet(shape, mn_v3(0, 0, 0), 1, 1, 1, 1);
    add(s, MN_ELASTIC_COLLIDER);
    for (int frame = 0; frame < 40; frame++) check_ok(ctx, mn_elastic_advance(s, NULL, 0.02));
    mn_elastic_view view;
    double push = 0, lowest = INFINITY;
    check_ok(ctx, mn_elastic_get_view(s, &view));
    for (int32_t i = 0; i < first; i++) {
        push += view.contact_forces[i].y;
        lowest = fmin(lowest, view.positions[i].y);
        assert_true(mn_norm(view.velocities[i]) < 2e-3);
    }
    assert_true(lowest > 0 && lowest < view.contact_distance);
    check_close(push, 9.81, 0.02);
    mn_elastic_free(s);
}

/// A pinned sheet hangs; its pins stand still to the last bit and go where they are told.
static void pins(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.gravity = mn_v3(0, -9.81, 0);
    def.young = 1e6;
    mn_elastic *s = create(&def);
    shape_sheet(shape, mn_v3(0, 0, 0), 0.2, 0.2, 6, 6);
    shape->pinned[0] = shape->pinned[6] = 1;
    add(s, MN_ELASTIC_CLOTH);
    mn_vec3 targets[49];
    memcpy(targets, shape->x, sizeof targets);
    const mn_elastic_inputs inputs = {.targets = targets};
    mn_elastic_view view;
    for (int frame = 0; frame < 5; frame++) {
        check_ok(ctx, mn_elastic_advance(s, &inputs, 0.04));
        check_ok(ctx, mn_elastic_get_view(s, &view));
        assert_memory_equal(&view.positions[0], &targets[0], sizeof targets[0]);
        targets[0].x += 0.01, targets[6].y += 0.02;
    }
    check_close(mn_distance(view.velocities[6], mn_v3(0, 0.5, 0)), 0, 1e-9);
    assert_true(view.positions[48].y < -0.03);
    mn_elastic_free(s);
}

/// Saved and loaded, the rest of the run has the same bits; and so it has with other numbers of threads.
static void same_bits(void **state)
{
    (void)state;
    mn_vec3 reference[200];
    for (int run = 0; run < 4; run++) {
        const int32_t workers = run == 0 ? 1 : run == 1 ? 2 : 8;
        const mn_scheduler scheduler = mn_thread_scheduler(&workers);
        const mn_hooks hooks = {.scheduler = &scheduler};
        mn_context *own = mn_context_create(&hooks);
        mn_elastic_def def = soft_def();
        def.gravity = mn_v3(0, -9.81, 0), def.friction = 0.4, def.max_dt = 0.01;
        mn_elastic *s;
        check_ok(own, mn_elastic_create(own, &def, &s));
        shape_ball(shape, mn_v3(0, 0.051, 0), 0.05, 4);
        shape_move(shape, mn_v3(0, 0.051, 0), mn_v3(0.3, -0.5, 0), mn_v3(0, 0, 3));
        mn_elastic_body body = shape_body(shape, MN_ELASTIC_SOLID);
        check_ok(own, mn_elastic_add(s, &body));
        shape_sheet(shape, mn_v3(0, 0, 0), 1, 1, 3, 3);
        body = shape_body(shape, MN_ELASTIC_COLLIDER);
        check_ok(own, mn_elastic_add(s, &body));
        for (int frame = 0; frame < 4; frame++) {
            check_ok(own, mn_elastic_advance(s, NULL, 0.03));
            if (run != 3 || frame != 1) continue;
            buffer bytes = {.ctx = own};
            mn_writer out = {own, &bytes, buffer_write};
            check_ok(own, mn_elastic_save(s, &out));
            mn_elastic_free(s);
            mn_reader in = {own, &bytes, buffer_read};
            check_ok(own, mn_elastic_load(own, &def, &in, &s));
            free(bytes.bytes);
        }
        mn_elastic_view view;
        check_ok(own, mn_elastic_get_view(s, &view));
        assert_true(view.point_count == 125 + 16);
        if (run == 0) memcpy(reference, view.positions, 125 * sizeof *reference);
        assert_memory_equal(reference, view.positions, 125 * sizeof *reference);
        mn_elastic_free(s);
        mn_context_free(own);
    }
}

/// Two triangles bent by a small angle have the energy of a hinge, D/2 |e|^2/(A1 + A2) angle^2, whether they
/// are flat at rest or not.
static void bent_cloth(void **state)
{
    (void)state;
    for (int shell = 0; shell < 2; shell++) {
        mn_elastic_def def = soft_def();
        def.young = 1e6, def.poisson = 0.3, def.thickness = 1e-3;
        const double plate = 1e6 * 1e-9 / (12 * (1 - 0.09)), bend = 0.05, flat = shell ? 0.2 : 0;
        mn_elastic *s = create(&def);
        const int32_t triangles[2][3] = {{0, 1, 2}, {1, 0, 3}};
        mn_vec3 rest[4] = {{0, 0, 0}, {0.02, 0, 0}, {0.01, 0, 0.015}, {0.01, 0, -0.015}}, x[4];
        memcpy(x, rest, sizeof x);
        // the wings turned up by half of the angle each
        for (int k = 2; k < 4; k++) {
            const double side = k == 2 ? 1 : -1;
            rest[k] = mn_v3(0.01, 0.015 * sin(flat / 2), side * 0.015 * cos(flat / 2));
            x[k] = mn_v3(0.01, 0.015 * sin((flat + bend) / 2), side * 0.015 * cos((flat + bend) / 2));
        }
        const mn_elastic_body body = {.kind = MN_ELASTIC_CLOTH,
                                      .point_count = 4,
                                      .positions = x,
                                      .rest = rest,
                                      .element_count = 2,
                                      .triangles = triangles};
        check_ok(ctx, mn_elastic_add(s, &body));
        const double expected = 0.5 * plate * 0.0004 / (2 * 0.00015) * bend * bend;
        check_close(totals_of(s).elastic, expected, 2e-3 * expected);
        mn_elastic_free(s);
    }
}

/// A block hangs from a pinned one that it is attached to, and falls without.
static void attached_bodies(void **state)
{
    (void)state;
    for (int tied = 0; tied < 2; tied++) {
        mn_elastic_def def = soft_def();
        def.gravity = mn_v3(0, -9.81, 0), def.young = 1e6, def.max_dt = 0.01, def.damping = 0.01;
        mn_elastic *s = create(&def);
        int64_t attached;
        shape_block(shape, mn_v3(0, 0.15, 0), mn_v3(0.1, 0.1, 0.1), 2, 2, 2);
        for (int32_t i = 0; i < shape->points; i++) shape->pinned[i] = shape->x[i].y > 0.19;
        add(s, MN_ELASTIC_SOLID);
        shape_block(shape, mn_v3(0, 0.048, 0), mn_v3(0.1, 0.1, 0.1), 2, 2, 2);
        add(s, MN_ELASTIC_SOLID);
        check_ok(ctx, mn_elastic_attach_near(s, tied ? 0.005 : 0, &attached));
        assert_int_equal(attached, tied ? 9 : 0);
        check_ok(ctx, mn_elastic_advance(s, NULL, 0.3));
        mn_elastic_view view;
        check_ok(ctx, mn_elastic_get_view(s, &view));
        const double fallen = shape->x[0].y - view.positions[27].y;
        assert_true(tied ? fabs(fallen) < 0.002 : fallen > 0.3);
        mn_elastic_free(s);
    }
}

static void bad_input(void **state)
{
    (void)state;
    mn_elastic_def def = soft_def();
    def.poisson = 0.6;
    mn_elastic *s;
    check_fails(ctx, mn_elastic_create(ctx, &def, &s), MN_ERROR_ARGUMENT, "poisson");
    def = soft_def();
    s = create(&def);
    shape_block(shape, mn_v3(0, 0, 0), mn_v3(1, 1, 1), 1, 1, 1);
    const int32_t swap = shape->tet[2][0];
    shape->tet[2][0] = shape->tet[2][1], shape->tet[2][1] = swap;
    mn_elastic_body body = shape_body(shape, MN_ELASTIC_SOLID);
    check_fails(ctx, mn_elastic_add(s, &body), MN_ERROR_INPUT, "Tetrahedron 2 of body 0 is inverted");
    for (int k = 0; k < 2; k++) {
        shape_block(shape, mn_v3(0.7 * k, 0.1 * k, 0), mn_v3(1, 1, 1), 1, 1, 1);
        add(s, MN_ELASTIC_SOLID);
    }
    check_fails(ctx, mn_elastic_advance(s, NULL, 0.1), MN_ERROR_INPUT, "intersect or touch at the start");
    mn_elastic_free(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(colliding_balls), cmocka_unit_test(free_rigid_body),
        cmocka_unit_test(impulses),        cmocka_unit_test(rest_under_impulses),
        cmocka_unit_test(block_on_floor),  cmocka_unit_test(pins),
        cmocka_unit_test(same_bits),       cmocka_unit_test(bad_input),
        cmocka_unit_test(bent_cloth),      cmocka_unit_test(attached_bodies),
    };
    shape = shape_create();
    const int failed = cmocka_run_group_tests(tests, setup, teardown);
    free(shape);
    return failed;
}
