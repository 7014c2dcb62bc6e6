// SPDX-License-Identifier: Apache-2.0
//
// tetrahedralize, tet_remesh and tet_surface.
#include "meniscus/geo.h"
#include "meniscus/tetmesh.h"
#include "support/analytic_volume.h"
#include "support/mesh_facts.h"
#include "support/node_stage.h"

static mn_geo *ball_volume(mn_context *ctx)
{
    mn_geo *geo;
    mn_volume volume = analytic_ball(mn_v3(0.1, 0.2, 0.3), 0.05, 0.004);
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_volume(geo, volume, -1, NULL));
    mn_volume_release(&volume);
    return geo;
}

static double detail(const mn_geo *geo, const char *name)
{
    double value = NAN;
    const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_DETAIL, name, 1);
    assert_non_null(attribute);
    mn_attribute_get(attribute, 0, 1, &value);
    return value;
}

static double tet_volume(const mn_geo *geo)
{
    const int64_t *points = mn_geo_vertex_points(geo), *starts = mn_geo_primitive_starts(geo);
    double sum = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        mn_vec3 x[4];
        for (int k = 0; k < 4; k++) x[k] = mn_geo_position(geo, points[starts[p] + k]);
        const double volume = mn_tet_volume(x[0], x[1], x[2], x[3]);
        assert_true(volume > 0);
        sum += volume;
    }
    return sum;
}

static const double ball = 4.0 / 3 * 3.141592653589793 * 0.05 * 0.05 * 0.05;

static void a_level_set_is_filled_and_gives_its_surface(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = ball_volume(s.ctx);
    const int32_t file = stage_node(&s, "file", "in"), fill = stage_node(&s, "tetrahedralize", "fill"),
                  skin = stage_node(&s, "tet_surface", "skin");
    stage_set(&s, file, "path", "a");
    stage_set(&s, fill, "size", "0.006");
    stage_connect(&s, fill, 0, file);
    stage_connect(&s, skin, 0, fill);
    for (int graded = 0; graded < 2; graded++) {
        stage_set(&s, fill, "gradation", graded ? "1" : "0");
        const mn_geo *tets = stage_cook(&s, fill, 1);
        check_close(tet_volume(tets), ball, 0.01 * ball);
        check_close(detail(tets, "volume"), ball, 0.01 * ball);
        assert_true(detail(tets, "worst_quality") >= 0.35);
        assert_non_null(mn_geo_find_numeric(tets, MN_POINT, "rest", 3));
        assert_non_null(mn_geo_find_numeric(tets, MN_PRIMITIVE, "quality", 1));
        assert_non_null(mn_geo_find_numeric(tets, MN_PRIMITIVE, "rest_volume", 1));
        const mn_geo *polygons = stage_cook(&s, skin, 1);
        const mesh_facts facts = mesh_facts_of(polygons);
        assert_int_equal(facts.bad_edges, 0);
        assert_int_equal(mesh_euler(&facts), 2);
        // Faces out: positive; positions are floats.
        check_close(facts.volume, tet_volume(tets), 1e-6 * ball);
        assert_non_null(mn_geo_find_numeric(polygons, MN_POINT, "rest", 3));
    }
    // Without improvement the filling keeps its own bound.
    stage_set(&s, fill, "quality", "0");
    const mn_geo *tets = stage_cook(&s, fill, 1);
    assert_true(detail(tets, "smallest_dihedral") > 10.7 && detail(tets, "largest_dihedral") < 164.8);
    stage_close(&s);
}

static void bad_surfaces_are_named(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const mn_geo *geo;
    const int32_t grid = stage_node(&s, "shape", "grid"), fill = stage_node(&s, "tetrahedralize", "fill"),
                  remesh = stage_node(&s, "tet_remesh", "better"),
                  skin = stage_node(&s, "tet_surface", "skin");
    stage_set(&s, grid, "kind", "grid");
    stage_connect(&s, fill, 0, grid);
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT, "open edges");
    stage_connect(&s, remesh, 0, grid);
    check_fails(s.ctx, mn_network_cook(s.network, remesh, 0, 1, &geo), MN_ERROR_INPUT, "no tetrahedra");
    stage_connect(&s, skin, 0, grid);
    check_fails(s.ctx, mn_network_cook(s.network, skin, 0, 1, &geo), MN_ERROR_INPUT, "no tetrahedra");
    s.files[0] = ball_volume(s.ctx);
    const int32_t file = stage_node(&s, "file", "in");
    stage_set(&s, file, "path", "a");
    stage_connect(&s, fill, 0, file);
    stage_set(&s, fill, "size", "0.5");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT, "smaller size");
    stage_set(&s, fill, "size", "0.00001");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_ARGUMENT, "larger size");
    stage_close(&s);
}

/// A tube of tetrahedra, sheared by hand, with an inverted, a flat and a duplicate one among them.
static mn_geo *damaged(mn_context *ctx)
{
    mn_geo *geo;
    enum { N = 5 };
    const int32_t m = N + 1;
    static const int64_t step[3] = {1, 6, 36};
    static const int order[6][3] = {{0, 1, 2}, {1, 2, 0}, {2, 0, 1}, {0, 2, 1}, {2, 1, 0}, {1, 0, 2}};
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, m * m * m, NULL));
    float *x = mn_geo_write_positions(geo);
    for (int32_t i = 0; i < m * m * m; i++) {
        const double z = (double)(i / (m * m)) / N;
        x[3 * i] = (float)((double)(i % m) / N + 1.5 * z), x[3 * i + 1] = (float)((double)(i / m % m) / N),
              x[3 * i + 2] = (float)z;
    }
    for (int32_t c = 0; c < N * N * N; c++)
        for (int p = 0; p < 6; p++) {
            int64_t v[4] = {c % N + m * (c / N % N) + m * m * (c / (N * N))};
            for (int k = 0; k < 3; k++) v[k + 1] = v[k] + step[order[p][k]];
            const bool turn = (p >= 3) != (c == 7 && p == 0);
            const int64_t swap = v[2];
            if (turn) v[2] = v[3], v[3] = swap;
            check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, v, NULL));
            if (c == 9 && p == 2)
                check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, v, NULL));
        }
    const int64_t flat[4] = {0, 1, 6, 7};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, flat, NULL));
    mn_attribute *mass, *v;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_PRIMITIVE, "mass", MN_F64, 1, MN_HINT_NONE, &mass));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const double one = i + 1 < mn_geo_primitive_count(geo) ? 1 : 0;
        check_ok(ctx, mn_attribute_set(geo, mass, i, 1, &one));
    }
    return geo;
}

// A box of edge 2 whose Cd is the position.
static mn_geo *painted_box(mn_context *ctx)
{
    static const int64_t corners[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                        2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    mn_geo *geo;
    mn_attribute *position, *color;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 8, NULL));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "P", MN_F32, 3, MN_HINT_POINT, &position));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "Cd", MN_F32, 3, MN_HINT_COLOR, &color));
    for (int64_t i = 0; i < 8; i++) {
        const double at[3] = {i & 1 ? 1 : -1, i & 2 ? 1 : -1, i & 4 ? 1 : -1};
        check_ok(ctx, mn_attribute_set(geo, position, i, 1, at));
        check_ok(ctx, mn_attribute_set(geo, color, i, 1, at));
    }
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 6, NULL, 4, corners, NULL));
    return geo;
}

static void tetrahedra_have_what_the_surface_has_nearest_to_them(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = painted_box(s.ctx);
    const int32_t file = stage_node(&s, "file", "in"), tets = stage_node(&s, "tetrahedralize", "tets");
    stage_set(&s, file, "path", "a");
    stage_set(&s, tets, "size", "0.5");
    stage_connect(&s, tets, 0, file);
    const mn_geo *geo = stage_cook(&s, tets, 1);
    const mn_attribute *position = mn_geo_find(geo, MN_POINT, "P"), *color = mn_geo_find(geo, MN_POINT, "Cd");
    assert_non_null(color);
    int64_t outer = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        double x[3], c[3], depth = 0, far = 0, gap = 0;
        mn_attribute_get(position, i, 1, x);
        mn_attribute_get(color, i, 1, c);
        for (int k = 0; k < 3; k++)
            depth = fmax(depth, fabs(x[k])), far = fmax(far, fabs(c[k])), gap = fmax(gap, fabs(c[k] - x[k]));
        check_close(far, 1, 1e-5);               // Cd is a place on the box
        check_close(gap, fabs(1 - depth), 1e-5); // the nearest one
        outer += fabs(1 - depth) < 1e-5;
    }
    assert_true(outer > 50 && outer < mn_geo_point_count(geo));
    stage_close(&s);
}

static void a_mesh_is_repaired_and_improved(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = damaged(s.ctx);
    const int32_t file = stage_node(&s, "file", "in"), remesh = stage_node(&s, "tet_remesh", "better");
    stage_set(&s, file, "path", "a");
    stage_set(&s, remesh, "quality", "0.4");
    stage_set(&s, remesh, "feature_angle", "30");
    stage_connect(&s, remesh, 0, file);
    const mn_geo *geo = stage_cook(&s, remesh, 1);
    assert_true(mn_network_warning_count(s.network, remesh) >= 1);
    check_close(tet_volume(geo), 1, 1e-5);
    assert_true(detail(geo, "bad_before") > 50);
    assert_true(detail(geo, "bad_after") < 0.1 * detail(geo, "bad_before"));
    // 750 tetrahedra of mass 1 went in once the duplicate was out.
    const mn_attribute *mass = mn_geo_find_numeric(geo, MN_PRIMITIVE, "mass", 1),
                       *v = mn_geo_find(geo, MN_POINT, "v");
    double sum = 0;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        double value;
        mn_attribute_get(mass, i, 1, &value);
        sum += value;
    }
    check_close(sum, 750, 1e-9);
    assert_int_equal(mn_attribute_hint(v), MN_HINT_VECTOR);
    assert_int_equal(mn_attribute_type(v), MN_F32);
    stage_close(&s);
}

/// Polygons go through the build's own conversion to a level set.
static void polygons_are_filled(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "shape"), fill = stage_node(&s, "tetrahedralize", "fill");
    stage_set(&s, shape, "kind", "box");
    stage_set(&s, shape, "size", "0.1 0.08 0.06");
    stage_set(&s, fill, "size", "0.008");
    stage_connect(&s, fill, 0, shape);
    const double box = 0.1 * 0.08 * 0.06;
    const mn_geo *tets = stage_cook(&s, fill, 1);
    check_close(tet_volume(tets), box, 0.01 * box);
    assert_int_equal(mn_network_warning_count(s.network, fill), 0);
    // With features kept the corners are there: bounds to a tenth of the size.
    const mn_box bounds = mn_geo_bounds(tets);
    check_close(bounds.max.x, 0.05, 0.0008);
    check_close(bounds.min.z, -0.03, 0.0008);
    // Two isolated parts are both filled.
    const int32_t other = stage_node(&s, "shape", "other"), both = stage_node(&s, "merge", "both");
    stage_set(&s, other, "kind", "sphere");
    stage_set(&s, other, "radius", "0.03 0.03 0.03");
    stage_set(&s, other, "center", "0.2 0 0");
    stage_connect(&s, both, 0, shape);
    stage_connect(&s, both, 1, other);
    stage_connect(&s, fill, 0, both);
    const double sphere = 4.0 / 3 * 3.141592653589793 * 0.03 * 0.03 * 0.03;
    check_close(tet_volume(stage_cook(&s, fill, 1)), box + sphere, 0.02 * (box + sphere));
    // Passing through each other, the union is filled and the polygons are named.
    stage_set(&s, other, "center", "0.05 0 0");
    tets = stage_cook(&s, fill, 1);
    assert_int_equal(mn_network_warning_count(s.network, fill), 1);
    assert_non_null(strstr(mn_network_warning(s.network, fill, 0), "pass through each other"));
    check_close(tet_volume(tets), box + sphere / 2, 0.02 * (box + sphere));
    // A sheet thinner than the size is reported, not lost in silence.
    stage_set(&s, shape, "size", "0.1 0.003 0.06");
    stage_connect(&s, fill, 0, shape);
    const mn_geo *thin = NULL;
    const mn_status status = mn_network_cook(s.network, fill, 0, 1, &thin);
    assert_true(status == MN_ERROR_INPUT ? strstr(mn_context_message(s.ctx), "smaller size") != NULL
                                         : mn_network_warning_count(s.network, fill) > 0);
    stage_close(&s);
}

static mn_geo *box_with(mn_context *ctx, bool hole, bool nan, bool duplicate)
{
    static const int64_t corners[24] = {0, 2, 3, 1, 4, 5, 7, 6, 0, 1, 5, 4,
                                        2, 6, 7, 3, 0, 4, 6, 2, 1, 3, 7, 5};
    mn_geo *box;
    check_ok(ctx, mn_geo_create(ctx, &box));
    check_ok(ctx, mn_geo_add_points(box, 8, NULL));
    float *at = mn_geo_write_positions(box);
    for (int i = 0; i < 8; i++)
        for (int k = 0; k < 3; k++) at[3 * i + k] = (i >> k & 1) ? 0.02f : -0.02f;
    if (nan) at[13] = NAN;
    check_ok(ctx, mn_geo_add_primitives(box, MN_POLYGON, hole ? 5 : 6, NULL, 4, corners, NULL));
    if (duplicate) check_ok(ctx, mn_geo_add_primitives(box, MN_POLYGON, 6, NULL, 4, corners, NULL));
    return box;
}

static void bad_polygons_are_named(void **state)
{
    (void)state;
    node_stage s;
    const mn_geo *geo;
    stage_open(&s, NULL);
    s.files[0] = box_with(s.ctx, true, false, false);
    s.files[1] = box_with(s.ctx, false, true, false);
    s.files[2] = box_with(s.ctx, false, false, true);
    const int32_t file = stage_node(&s, "file", "in"), fill = stage_node(&s, "tetrahedralize", "fill");
    stage_connect(&s, fill, 0, file);
    stage_set(&s, fill, "size", "0.005");
    stage_set(&s, file, "path", "a");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT, "4 open edges");
    stage_set(&s, file, "path", "b");
    check_fails(s.ctx, mn_network_cook(s.network, fill, 0, 1, &geo), MN_ERROR_INPUT, "point 4");
    // Every polygon twice is the same surface.
    stage_set(&s, file, "path", "c");
    check_close(tet_volume(stage_cook(&s, fill, 1)), 6.4e-5, 1.3e-6); // a level set rounds the edges
    stage_close(&s);
}

/// Smaller elements where the surface is curved, fewer in all, as good as before.
static void curvature_refines(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    const int32_t shape = stage_node(&s, "shape", "shape"), fill = stage_node(&s, "tetrahedralize", "fill");
    stage_set(&s, shape, "kind", "ellipsoid");
    stage_set(&s, shape, "radius", "0.05 0.05 0.008");
    stage_set(&s, shape, "divisions", "60 30 0");
    stage_set(&s, fill, "size", "0.016");
    stage_set(&s, fill, "gradation", "0.5");
    stage_connect(&s, fill, 0, shape);
    const double exact = mesh_facts_of(stage_cook(&s, shape, 1)).volume;
    stage_set(&s, fill, "curvature_refine", "1");
    const mn_geo *tets = stage_cook(&s, fill, 1);
    check_close(tet_volume(tets), exact, 0.02 * exact);
    // At the rim elements are an eighth of the size, on the flat sides as large as before.
    double least = INFINITY, most = 0;
    const mn_attribute *rest = mn_geo_find_numeric(tets, MN_PRIMITIVE, "rest_volume", 1);
    for (int64_t i = 0; i < mn_geo_primitive_count(tets); i++) {
        double volume;
        mn_attribute_get(rest, i, 1, &volume);
        least = fmin(least, volume), most = fmax(most, volume);
    }
    assert_true(least < 0.01 * most);
    assert_true(detail(tets, "worst_quality") > 0.2);
    stage_close(&s);
}

/// Subdivided, the skin stays closed, keeps its volume and carries its attributes.
static void a_skin_is_subdivided(void **state)
{
    (void)state;
    node_stage s;
    stage_open(&s, NULL);
    s.files[0] = ball_volume(s.ctx);
    const int32_t file = stage_node(&s, "file", "in"), fill = stage_node(&s, "tetrahedralize", "fill"),
                  skin = stage_node(&s, "tet_surface", "skin");
    stage_set(&s, file, "path", "a");
    stage_set(&s, fill, "size", "0.012");
    stage_connect(&s, fill, 0, file);
    stage_connect(&s, skin, 0, fill);
    const mesh_facts before = mesh_facts_of(stage_cook(&s, skin, 1));
    for (int levels = 1; levels <= 2; levels++) {
        char text[2] = {(char)('0' + levels), 0};
        stage_set(&s, skin, "subdivide", text);
        const mn_geo *smooth = stage_cook(&s, skin, 1);
        const mesh_facts facts = mesh_facts_of(smooth);
        assert_int_equal(facts.bad_edges, 0);
        assert_int_equal(mesh_euler(&facts), 2);
        check_close(facts.volume, before.volume, 1e-5 * before.volume); // positions are floats
        // rest is where the point is, smoothed by the same rules but not moved for the volume.
        assert_non_null(mn_geo_find_numeric(smooth, MN_POINT, "rest", 3));
        for (int64_t i = 0; i < mn_geo_point_count(smooth); i += 7)
            assert_true(mn_distance(stage_vec3(smooth, "rest", i), mn_geo_position(smooth, i)) < 0.002);
        assert_non_null(mn_geo_find_numeric(smooth, MN_PRIMITIVE, "quality", 1));
        // Smoother than it was: all points near one radius.
        double low = INFINITY, high = 0;
        for (int64_t i = 0; i < mn_geo_point_count(smooth); i++) {
            const double r = mn_distance(mn_geo_position(smooth, i), mn_v3(0.1, 0.2, 0.3));
            low = fmin(low, r), high = fmax(high, r);
        }
        assert_true(high - low < 0.03 * 0.05);
    }
    stage_close(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_level_set_is_filled_and_gives_its_surface),
        cmocka_unit_test(bad_surfaces_are_named),
        cmocka_unit_test(tetrahedra_have_what_the_surface_has_nearest_to_them),
        cmocka_unit_test(a_mesh_is_repaired_and_improved),
        cmocka_unit_test(polygons_are_filled),
        cmocka_unit_test(bad_polygons_are_named),
        cmocka_unit_test(curvature_refines),
        cmocka_unit_test(a_skin_is_subdivided),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
