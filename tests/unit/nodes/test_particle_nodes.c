// SPDX-License-Identifier: Apache-2.0
//
// fill and surface: counts, masses, volumes, attributes, and the sentences for what is wrong.
#include "mesh/shape.h"
#include "support/analytic_volume.h"
#include "support/mesh_facts.h"
#include "support/node_stage.h"

static const double pi = 3.14159265358979323846;

static double total(const mn_geo *geo, const char *name)
{
    double sum = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) sum += stage_number(geo, name, i);
    return sum;
}

static void a_filled_mesh_has_its_mass(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), fill = stage_node(&s, "fill", "fill");
    stage_connect(&s, fill, 0, shape);
    stage_set(&s, fill, "density", "1234");
    stage_set(&s, fill, "velocity", "1 2 3");
    const char *const kinds[] = {"sphere", "ellipsoid", "box", "tube", "torus", "ring"};
    for (int k = 0; k < 6; k++) {
        stage_set(&s, shape, "kind", kinds[k]);
        const double volume = mesh_facts_of(stage_cook(&s, shape, 1)).volume;
        const mn_geo *geo = stage_cook(&s, fill, 1);
        const double count = (double)mn_geo_point_count(geo);
        // 8 per cell of 1 mm; a stratified count is off by the root of the cells the surface cuts.
        check_close(count, volume / 1.25e-10, 0.02 * volume / 1.25e-10);
        check_close(total(geo, "mass"), 1234 * volume, 1e-5 * 1234 * volume);
        check_close(total(geo, "volume"), volume, 1e-5 * volume);
        const double r = stage_number(geo, "pscale", 5);
        check_close(4 * pi / 3 * r * r * r * count, volume, 1e-5 * volume);
        check_close(stage_number(geo, "density", 7), 1234, 1e-3);
        check_close(mn_distance(stage_vec3(geo, "v", 9), mn_v3(1, 2, 3)), 0, 1e-6);
        for (int64_t i = 0; i < mn_geo_point_count(geo); i += 97)
            check_close(stage_number(geo, "id", i), (double)i, 0);
    }
    const uint64_t first = mn_geo_hash(stage_cook(&s, fill, 1));
    stage_set(&s, fill, "seed", "5");
    assert_true(mn_geo_hash(stage_cook(&s, fill, 1)) != first);
    stage_set(&s, fill, "seed", "0");
    assert_true(mn_geo_hash(stage_cook(&s, fill, 1)) == first);
    stage_close(&s);
}

static void a_level_set_is_filled_too(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    check_ok(s.ctx, analytic_add(s.files[0], analytic_ball(mn_v3(0.1, 0, 0), 0.01, 0.0005)));
    check_ok(s.ctx,
             analytic_add(s.files[0], analytic_motion(mn_v3(0, 1, 0), mn_v3(0, 0, 0), mn_v3(0, 0, 0))));
    const int32_t file = stage_node(&s, "file", "vdb"), fill = stage_node(&s, "fill", "fill");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, fill, 0, file);
    stage_set(&s, fill, "velocity", "2 0 0");
    stage_set(&s, fill, "density", "1000");
    const mn_geo *geo = stage_cook(&s, fill, 1);
    const double mass = 1000 * 4 * pi / 3 * 1e-6;
    check_close(total(geo, "mass"), mass, 0.01 * mass);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i += 50) {
        assert_true(mn_distance(mn_geo_position(geo, i), mn_v3(0.1, 0, 0)) < 0.01 + 1e-7);
        check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(2, 1, 0)), 0, 1e-6);
    }
    stage_close(&s);
}

static void painted_values_reach_the_particles(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    mn_shape_def def = mn_shape_default_def();
    def.kind = MN_SHAPE_BOX;
    check_ok(s.ctx, mn_shape_create(s.ctx, &def, &s.files[0]));
    mn_attribute *sigma, *v;
    check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "sigma", MN_F32, 1, MN_HINT_NONE, &sigma));
    check_ok(s.ctx, mn_geo_add_attribute(s.files[0], MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int64_t i = 0; i < 8; i++) {
        const mn_vec3 x = mn_geo_position(s.files[0], i), u = {0, 10 * x.x, 0};
        const double value = 0.07 + x.x;
        check_ok(s.ctx, mn_attribute_set(s.files[0], sigma, i, 1, &value));
        check_ok(s.ctx, mn_attribute_set(s.files[0], v, i, 1, &u.x));
    }
    const int32_t file = stage_node(&s, "file", "box"), fill = stage_node(&s, "fill", "fill");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, fill, 0, file);
    const mn_geo *geo = stage_cook(&s, fill, 1);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i += 31) {
        // Nearest to a side, the value there; on the four sides along x that is the value of the field.
        const mn_vec3 x = mn_geo_position(geo, i);
        const double side = fmin(0.01 - fabs(x.y), 0.01 - fabs(x.z));
        if (0.01 - fabs(x.x) < side + 1e-6) continue;
        check_close(stage_number(geo, "sigma", i), 0.07 + x.x, 1e-6);
        check_close(stage_vec3(geo, "v", i).y, 10 * x.x, 1e-6);
    }
    stage_set(&s, fill, "transfer", "0");
    assert_null(mn_geo_find(stage_cook(&s, fill, 1), MN_POINT, "sigma"));
    stage_close(&s);
}

static void what_cannot_be_filled_is_said(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), fill = stage_node(&s, "fill", "fill"),
                  file = stage_node(&s, "file", "points");
    const mn_geo *geo;
    stage_connect(&s, fill, 0, shape);
    stage_set(&s, shape, "kind", "grid");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT,
                "not closed: 40 open edges");
    stage_set(&s, shape, "kind", "sphere");
    stage_set(&s, fill, "dx", "0.1");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_ARGUMENT,
                "dx is 0.1 m but the source spans only 0.02 m; use dx below 0.0025 m");
    stage_set(&s, fill, "dx", "0.01");
    stage_cook(&s, fill, 1);
    assert_int_equal(mn_network_warning_count(s.network, fill), 1);
    stage_set(&s, fill, "dx", "1e-6");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_ARGUMENT, "GB; use dx above");
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    check_ok(s.ctx, mn_geo_add_points(s.files[0], 4, NULL));
    stage_set(&s, file, "path", "a");
    stage_connect(&s, fill, 0, file);
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT,
                "no polygons and no level set");
    mn_shape_def def = mn_shape_default_def();
    check_ok(s.ctx, mn_shape_create(s.ctx, &def, &s.files[1]));
    mn_geo_write_positions(s.files[1])[33] = NAN;
    stage_set(&s, file, "path", "b");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT, "Point 11 of the mesh");
    stage_close(&s);
}

static void a_surface_holds_the_volume_of_its_particles(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), fill = stage_node(&s, "fill", "fill"),
                  skin = stage_node(&s, "surface", "skin");
    stage_connect(&s, fill, 0, shape);
    stage_connect(&s, skin, 0, fill);
    stage_set(&s, fill, "velocity", "0 -3 0");
    stage_set(&s, fill, "density", "1000");
    const char *const kinds[] = {"sphere", "torus"};
    for (int k = 0; k < 2; k++) {
        stage_set(&s, shape, "kind", kinds[k]);
        const double volume = mesh_facts_of(stage_cook(&s, shape, 1)).volume;
        const mn_geo *geo = stage_cook(&s, skin, 1);
        const mesh_facts facts = mesh_facts_of(geo);
        assert_int_equal(facts.bad_edges, 0);
        assert_int_equal(mesh_euler(&facts), k == 0 ? 2 : 0);
        check_close(facts.volume, volume, 0.01 * volume);
        for (int64_t i = 0; i < mn_geo_point_count(geo); i += 111)
            check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(0, -3, 0)), 0, 1e-6);
        assert_non_null(mn_geo_find(geo, MN_POINT, "density"));
        assert_null(mn_geo_find(geo, MN_POINT, "id"));
    }
    stage_set(&s, skin, "transfer", "0");
    assert_null(mn_geo_find(stage_cook(&s, skin, 1), MN_POINT, "density"));
    assert_non_null(mn_geo_find(stage_cook(&s, skin, 1), MN_POINT, "v"));
    const mn_geo *geo;
    stage_set(&s, skin, "dx", "1e-6");
    check_fails(s.ctx, mn_network_cook(s.network, skin, 0, 1, &geo), MN_ERROR_ARGUMENT, "voxels, about");
    stage_close(&s);
}

static void an_adaptive_surface_has_fewer_polygons_and_is_as_good(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "block"), fill = stage_node(&s, "fill", "fill"),
                  skin = stage_node(&s, "surface", "skin");
    stage_connect(&s, fill, 0, shape);
    stage_connect(&s, skin, 0, fill);
    stage_set(&s, shape, "kind", "box");
    stage_set(&s, fill, "velocity", "1 -3 2");
    stage_set(&s, fill, "density", "1000");
    const double volume = mesh_facts_of(stage_cook(&s, shape, 1)).volume;
    const int64_t uniform = mesh_facts_of(stage_cook(&s, skin, 1)).faces;
    int64_t before = uniform;
    const char *const adaptivities[] = {"0.2", "0.6", "1"};
    const double losses[] = {0.01, 0.02, 0.06}; // what the corners lose
    for (int k = 0; k < 3; k++) {
        stage_set(&s, skin, "adaptivity", adaptivities[k]);
        const mn_geo *geo = stage_cook(&s, skin, 1);
        const mesh_facts facts = mesh_facts_of(geo);
        // Watertight, one piece without holes, facing out.
        assert_int_equal(facts.bad_edges, 0);
        assert_int_equal(mesh_euler(&facts), 2);
        assert_true(facts.faces < before);
        check_close(facts.volume, volume, losses[k] * volume);
        before = facts.faces;
        for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
            check_close(mn_distance(stage_vec3(geo, "v", i), mn_v3(1, -3, 2)), 0, 1e-6);
        assert_non_null(mn_geo_find(geo, MN_POINT, "density"));
        check_close(stage_number(geo, "density", 0), 1000, 1e-3);
    }
    // The flat sides of a box are what can be merged.
    assert_true(before < uniform / 4);
    stage_close(&s);
}

static void a_surface_of_nothing_is_nothing(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[0]));
    const int32_t file = stage_node(&s, "file", "none"), skin = stage_node(&s, "surface", "skin");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, skin, 0, file);
    const mn_geo *geo = stage_cook(&s, skin, 1);
    assert_int_equal(mn_geo_point_count(geo), 0);
    assert_non_null(mn_geo_find(geo, MN_POINT, "v"));
    // One particle without any attribute, and one that is not finite.
    check_ok(s.ctx, mn_geo_create(s.ctx, &s.files[1]));
    check_ok(s.ctx, mn_geo_add_points(s.files[1], 1, NULL));
    stage_set(&s, file, "path", "b");
    stage_set(&s, skin, "radius", "0.005");
    const mesh_facts facts = mesh_facts_of(stage_cook(&s, skin, 1));
    check_close(facts.volume, 4 * pi / 3 * 1.25e-7, 0.01 * 4 * pi / 3 * 1.25e-7);
    check_ok(s.ctx, mn_geo_copy(s.files[1], &s.files[2]));
    mn_geo_write_positions(s.files[2])[1] = INFINITY;
    stage_set(&s, file, "path", "c");
    check_fails(s.ctx, mn_network_cook(s.network, skin, 0, 1, &geo), MN_ERROR_INPUT,
                "point 0 has a position");
    stage_close(&s);
}

// A sphere without its cap, as artists model eyes and bowls: filled as if it were closed, with a note.
static void a_mesh_with_a_hole_is_filled(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), file = stage_node(&s, "file", "open"),
                  fill = stage_node(&s, "fill", "fill");
    const mn_geo *ball = stage_cook(&s, shape, 1);
    const double volume = mesh_facts_of(ball).volume;
    check_ok(s.ctx, mn_geo_copy(ball, &s.files[0]));
    const int64_t count = mn_geo_primitive_count(ball);
    uint8_t *keep = test_malloc((size_t)count);
    memset(keep, 1, (size_t)count);
    const int64_t *starts = mn_geo_primitive_starts(ball), *points = mn_geo_vertex_points(ball);
    for (int64_t i = 0; i < count; i++)
        if (mn_geo_position(ball, points[starts[i]]).y > 0.0094) keep[i] = 0; // of a radius of 0.01
    check_ok(s.ctx, mn_geo_compact(s.files[0], NULL, keep));
    test_free(keep);
    stage_set(&s, file, "path", "a");
    stage_connect(&s, fill, 0, file);
    const mn_geo *geo = stage_cook(&s, fill, 1);
    assert_int_equal(mn_network_warning_count(s.network, fill), 1);
    assert_non_null(strstr(mn_network_warning(s.network, fill, 0), "has holes"));
    check_close(total(geo, "volume"), volume, 0.03 * volume); // the cap is under 1 % of it
    stage_close(&s);
}

static double cooked_mass(node_stage *s, int32_t solver)
{
    return total(stage_cook(s, solver, 1), "mass");
}

// What was not set does not override what was: a drop of mercury behind a plain fill weighs mercury.
static void a_material_is_said_once(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "ball"), fill = stage_node(&s, "fill", "fill"),
                  solver = stage_node(&s, "mpm_solver", "liquid");
    stage_connect(&s, fill, 0, shape);
    stage_connect(&s, solver, 0, fill);
    stage_set(&s, fill, "dx", "0.002");
    stage_set(&s, solver, "dx", "0.002");
    const double volume = mesh_facts_of(stage_cook(&s, shape, 1)).volume;
    check_close(cooked_mass(&s, solver), 1000 * volume, 1e-4 * 1000 * volume);
    stage_set(&s, solver, "material", "mercury");
    check_close(cooked_mass(&s, solver), 13534 * volume, 1e-4 * 13534 * volume);
    assert_int_equal(mn_network_warning_count(s.network, solver), 0);
    // Said at the fill it holds for the solver: all three values, without a warning.
    stage_set(&s, solver, "material", "custom");
    stage_set(&s, fill, "material", "mercury");
    check_close(cooked_mass(&s, solver), 13534 * volume, 1e-4 * 13534 * volume);
    check_close(stage_number(stage_cook(&s, solver, 1), "sigma", 3), 0.4855, 1e-5);
    assert_int_equal(mn_network_warning_count(s.network, solver), 0);
    // Said twice and differently, both nodes are named.
    stage_set(&s, solver, "material", "water");
    check_close(cooked_mass(&s, solver), 13534 * volume, 1e-4 * 13534 * volume);
    assert_int_equal(mn_network_warning_count(s.network, solver), 1);
    const char *sentence = mn_network_warning(s.network, solver, 0);
    assert_non_null(strstr(sentence, "'fill' gives its points a density of 13534 kg/m^3"));
    assert_non_null(strstr(sentence, "'liquid' is set to 998.2"));
    stage_close(&s);
}

// Two drops, of which only one says what it is: the other is the solver's.
static void merged_drops_keep_their_materials(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t a = stage_node(&s, "shape", "a"), b = stage_node(&s, "shape", "b"),
                  fa = stage_node(&s, "fill", "fa"), fb = stage_node(&s, "fill", "fb"),
                  both = stage_node(&s, "merge", "both"), solver = stage_node(&s, "mpm_solver", "liquid");
    stage_set(&s, b, "center", "0.05 0 0");
    stage_connect(&s, fa, 0, a);
    stage_connect(&s, fb, 0, b);
    stage_connect(&s, both, 0, fa);
    stage_connect(&s, both, 1, fb);
    stage_connect(&s, solver, 0, both);
    stage_set(&s, fa, "dx", "0.002");
    stage_set(&s, fb, "dx", "0.002");
    stage_set(&s, fa, "material", "mercury");
    stage_set(&s, solver, "dx", "0.002");
    const double volume = mesh_facts_of(stage_cook(&s, a, 1)).volume;
    const mn_geo *geo = stage_cook(&s, solver, 1);
    check_close(total(geo, "mass"), 14534 * volume, 1e-3 * 14534 * volume);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const bool first = mn_geo_position(geo, i).x < 0.025;
        check_close(stage_number(geo, "sigma", i), first ? 0.4855 : stage_number(geo, "sigma", i), 1e-5);
        assert_true(stage_number(geo, "sigma", i) > 0.05);
        check_close(stage_number(geo, "density", i), first ? 13534 : 1000, 1);
    }
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_filled_mesh_has_its_mass),
        cmocka_unit_test(a_mesh_with_a_hole_is_filled),
        cmocka_unit_test(a_material_is_said_once),
        cmocka_unit_test(merged_drops_keep_their_materials),
        cmocka_unit_test(a_level_set_is_filled_too),
        cmocka_unit_test(painted_values_reach_the_particles),
        cmocka_unit_test(what_cannot_be_filled_is_said),
        cmocka_unit_test(a_surface_holds_the_volume_of_its_particles),
        cmocka_unit_test(an_adaptive_surface_has_fewer_polygons_and_is_as_good),
        cmocka_unit_test(a_surface_of_nothing_is_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
