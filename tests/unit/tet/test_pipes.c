// SPDX-License-Identifier: Apache-2.0
//
// Pipes: what comes and goes is booked to rounding, at the flow rate asked for, and a stream stays one.
#include "meniscus/tet.h"
#include "support/analytic_volume.h"
#include "support/one_context.h"
#include "support/tet_shapes.h"

static const double width = 2e-3; // m, of a slug's three edges

/// A slug of n^3 cubes around a place.
static mn_tet_mesh *slug_at(mn_vec3 centre)
{
    mn_tet_mesh *mesh = tet_block(ctx, 3);
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        mn_tet_mesh_move_vertex(mesh, v, mn_axpy(centre, width, mesh->position[v]));
    return mesh;
}

static mn_tet_liquid *liquid_of(const mn_tet_mesh *mesh, mn_vec3 velocity)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *liquid;
    mn_tet_mesh *moving;
    mn_tet_field *v;
    def.max_dt = 5e-4, def.viscosity = 0.01;
    check_ok(ctx, mn_tet_mesh_copy(mesh, &moving));
    check_ok(ctx, mn_tet_mesh_add_field(moving, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < moving->vertex_slots; i++) memcpy(&v->data[3 * i], &velocity, sizeof velocity);
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, moving, &liquid));
    mn_tet_mesh_free(moving);
    return liquid;
}

static double rest_of(const mn_tet_liquid *liquid)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
    const double *rest = mn_tet_mesh_find_field(mesh, "rest_volume")->data;
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) sum += rest[t];
    return sum;
}

/// Layers at a flow rate: the volume is what the rate says, and all of it is one stream that goes on from the
/// mouth.
static void test_inflow(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 0, 0));
    const double volume = mn_tet_mesh_volume(slug), speed = 0.5, rate = speed * width * width;
    mn_tet_liquid *liquid = liquid_of(slug, mn_v3(0, -speed, 0));
    const mn_tet_pipe pipe = {.slug = slug, .velocity = {0, -1, 0}, .flow_rate = rate};
    const mn_solver_inputs inputs = {.own = &pipe};
    mn_tet_topology topology;
    double booked = 0;
    for (int frame = 0; frame < 4; frame++) {
        double added, removed;
        check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 3e-3));
        mn_tet_liquid_get_piped(liquid, &added, &removed);
        booked += added;
        assert_true(removed == 0);
        check_close(rest_of(liquid), volume + booked, 1e-12 * volume);
        check_ok(ctx, mn_tet_mesh_topology(mn_tet_liquid_mesh(liquid), &topology));
        assert_int_equal(topology.parts, 1);
        // What came lags behind the rate by less than a layer, which is one edge of about 0.84 mm long.
        const double due = rate * ((mn_solver *)liquid)->time;
        assert_true(booked <= due * (1 + 1e-6) && booked > due - 0.9e-3 * width * width);
    }
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
}

/// Two pipes along x and -y share a rate that changes: each pours its own way, and what came is what the rate
/// gave, also over a save.
static void test_two_pipes_with_a_rate_that_changes(void **state)
{
    (void)state;
    mn_tet_mesh *slugs[2] = {slug_at(mn_v3(0, 0, 0)), slug_at(mn_v3(0.02, 0, 0))};
    const double volume = mn_tet_mesh_volume(slugs[0]), rates[4] = {2, 0.5, 3, 1}, area = width * width;
    mn_tet_liquid *liquid = liquid_of(slugs[0], mn_v3(0, 0, 0));
    mn_tet_pipe pipes[2] = {{.slug = slugs[0], .velocity = {0, -1, 0}, .next = &pipes[1]},
                            {.slug = slugs[1], .velocity = {2, 0, 0}}};
    const mn_solver_inputs inputs = {.own = pipes};
    double booked = 0, due = 0;
    for (int frame = 0; frame < 4; frame++) {
        double added, removed;
        pipes[0].flow_rate = rates[frame] * 0.2 * area;
        check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 4e-3));
        mn_tet_liquid_get_piped(liquid, &added, &removed);
        booked += added, due += 4e-3 * pipes[0].flow_rate;
    }
    // The second slug comes whole, in place of a layer; each pipe lags by less than another, of about 0.84
    // mm.
    assert_true(booked - volume <= due && booked - volume > due - 3 * 0.9e-3 * area);
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
    mn_box box = mn_box_empty();
    for (int32_t i = 0; i < mesh->vertex_slots; i++) box = mn_box_add(box, mesh->position[i]);
    const double way = due / (2 * area);
    check_close(box.min.y, -0.5 * width - way, 0.3 * way); // surface tension rounds the fronts
    assert_true(box.max.x > 0.02 + 0.5 * width && box.max.y < 1.2 * width);
    mn_tet_liquid_free(liquid);
    for (int k = 0; k < 2; k++) mn_tet_mesh_free(slugs[k]);
}

/// A pipe that is shut holds its liquid, and goes on from there.
static void test_a_pipe_that_is_shut_holds(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 0, 0));
    mn_tet_liquid *liquid = liquid_of(slug, mn_v3(0, -0.5, 0));
    mn_tet_pipe pipe = {.slug = slug, .velocity = {0, -0.5, 0}};
    const mn_solver_inputs inputs = {.own = &pipe};
    mn_tet_topology topology;
    double added, removed, booked = 0;
    for (int frame = 0; frame < 3; frame++) {
        pipe.velocity.y = frame == 1 ? 0 : -0.5;
        check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 2.5e-3));
        mn_tet_liquid_get_piped(liquid, &added, &removed);
        if (frame == 1) assert_true(added == 0);
        booked += added;
    }
    check_ok(ctx, mn_tet_mesh_topology(mn_tet_liquid_mesh(liquid), &topology));
    assert_int_equal(topology.parts, 1); // no second slug was put in
    assert_true(booked > 0.5 * 5e-3 * width * width - 0.9e-3 * width * width);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
}

/// A flow that falls to a tenth at once keeps its cap in its place.
static void test_a_flow_that_drops_keeps_its_cap(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 0, 0));
    const double fast = 0.5, slow = 0.05;
    mn_tet_liquid *liquid = liquid_of(slug, mn_v3(0, -fast, 0));
    mn_tet_pipe pipe = {.slug = slug, .velocity = {0, -fast, 0}};
    const mn_solver_inputs inputs = {.own = &pipe};
    check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3));
    pipe.velocity.y = -slow;
    check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 2e-3));
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
    mn_box box = mn_box_empty();
    for (int32_t i = 0; i < mesh->vertex_slots; i++) box = mn_box_add(box, mesh->position[i]);
    check_close(box.max.y, 0.5 * width - fast * 1e-3 - slow * 2e-3, 1e-9 * width);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
}

/// Where the mouth is empty the slug comes, at its own place.
static void test_empty_mouth(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 0, 0)), *far = slug_at(mn_v3(0, 0.02, 0));
    const double volume = mn_tet_mesh_volume(slug);
    mn_tet_liquid *liquid = liquid_of(far, mn_v3(0, 0, 0));
    const mn_tet_pipe pipe = {.slug = slug, .velocity = {0, -0.5, 0}};
    const mn_solver_inputs inputs = {.own = &pipe};
    mn_tet_topology topology;
    double added, removed;
    check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 2e-3));
    mn_tet_liquid_get_piped(liquid, &added, &removed);
    check_close(added, volume, 1e-12 * volume);
    check_ok(ctx, mn_tet_mesh_topology(mn_tet_liquid_mesh(liquid), &topology));
    assert_int_equal(topology.parts, 2);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
    mn_tet_mesh_free(far);
}

/// A slug falls into a drain that fills everything below: what is left and what went is what was there.
static void test_outflow(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 1.5 * width, 0));
    const double volume = mn_tet_mesh_volume(slug);
    mn_tet_liquid *liquid = liquid_of(slug, mn_v3(0, -1, 0));
    mn_collider_def def = mn_collider_default_def();
    mn_collider *drain;
    mn_geo *geo;
    double gone = 0;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.01)));
    def.geo = geo;
    check_ok(ctx, mn_collider_create(ctx, &def, &drain));
    const mn_solver_inputs inputs = {.sink = drain};
    for (int frame = 0; frame < 8; frame++) {
        double added, removed;
        mn_tet_topology topology;
        check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3));
        mn_tet_liquid_get_piped(liquid, &added, &removed);
        gone += removed;
        check_close(rest_of(liquid) + gone, volume, 1e-12 * volume);
        check_ok(ctx, mn_tet_mesh_topology(mn_tet_liquid_mesh(liquid), &topology));
        assert_int_equal(topology.nonmanifold_edges + topology.face_type_vertices, 0);
    }
    check_close(gone, volume, 0.05 * volume);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
    mn_collider_free(drain);
    mn_geo_free(geo);
}

static void test_bad_pipes(void **state)
{
    (void)state;
    mn_tet_mesh *slug = slug_at(mn_v3(0, 0, 0));
    mn_tet_liquid *liquid = liquid_of(slug, mn_v3(0, 0, 0));
    mn_tet_pipe pipe = {.slug = slug, .velocity = {0, NAN, 0}};
    const mn_solver_inputs inputs = {.own = &pipe};
    double added, removed;
    check_fails(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3), MN_ERROR_ARGUMENT, "velocity");
    pipe.velocity = mn_v3(0, 0, 0), pipe.flow_rate = -1;
    check_fails(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3), MN_ERROR_ARGUMENT, "flow rate");
    pipe.velocity = mn_v3(0.3, -0.2, 0.1), pipe.flow_rate = 0;
    check_fails(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3), MN_ERROR_INPUT, "flat end");
    // Without a direction nothing comes.
    pipe.velocity = mn_v3(0, 0, 0), pipe.flow_rate = 1;
    check_ok(ctx, mn_tet_liquid_advance(liquid, &inputs, 1e-3));
    mn_tet_liquid_get_piped(liquid, &added, &removed);
    assert_true(added == 0 && removed == 0);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(slug);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_inflow),
        cmocka_unit_test(test_empty_mouth),
        cmocka_unit_test(test_two_pipes_with_a_rate_that_changes),
        cmocka_unit_test(test_a_pipe_that_is_shut_holds),
        cmocka_unit_test(test_outflow),
        cmocka_unit_test(test_a_flow_that_drops_keeps_its_cap),
        cmocka_unit_test(test_bad_pipes),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
