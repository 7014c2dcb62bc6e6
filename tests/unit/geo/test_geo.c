// SPDX-License-Identifier: Apache-2.0
//
// mn_geo: elements, attributes and groups; copies share until written; every operation keeps what it should.
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "meniscus/vec.h"
#include "random_geo.h"
#include "support/out_of_memory.h"

static int make_context(void **state)
{
    *state = mn_context_create(NULL);
    return *state ? 0 : 1;
}

static int free_context(void **state)
{
    mn_context *ctx = *state;
    const int64_t held = mn_context_bytes(ctx);
    mn_context_free(ctx);
    return held == 0 ? 0 : 1; // every test gives back what it took
}

static void a_new_geo_is_empty_but_has_positions(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    assert_int_equal(mn_geo_point_count(geo), 0);
    assert_int_equal(mn_geo_count(geo, MN_DETAIL), 1);
    const mn_attribute *p = mn_geo_find(geo, MN_POINT, "P");
    assert_non_null(p);
    assert_int_equal(mn_attribute_size(p), 3);
    assert_int_equal(mn_attribute_hint(p), MN_HINT_POINT);
    assert_int_equal(mn_geo_primitive_starts(geo)[0], 0);
    assert_true(mn_box_is_empty(mn_geo_bounds(geo)));
    check_fails(ctx, mn_geo_remove_attribute(geo, MN_POINT, "P"), MN_ERROR_ARGUMENT, "'P'");
    check_fails(ctx, mn_geo_remove_attribute(geo, MN_POINT, "v"), MN_ERROR_NOT_FOUND, "'v'");
    check_fails(ctx, mn_geo_add_points(geo, -1, NULL), MN_ERROR_ARGUMENT, "negative");
    assert_int_equal(mn_geo_add_points(geo, INT64_MAX / 2, NULL), MN_ERROR_MEMORY);
    assert_int_equal(mn_geo_point_count(geo), 0);
    mn_geo_free(geo);
}

static void primitives_are_checked_before_anything_changes(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    int64_t first;
    check_ok(ctx, mn_geo_add_points(geo, 5, &first));
    assert_int_equal(first, 0);
    const int64_t good[] = {0, 1, 2, 3, 4, 0, 1}, bad[] = {0, 1, 5};
    const int32_t lengths[] = {3, 4};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 2, lengths, 0, good, &first));
    assert_int_equal(mn_geo_vertex_count(geo), 7);
    assert_int_equal(mn_geo_primitive_starts(geo)[1], 3);
    assert_int_equal(mn_geo_primitive_starts(geo)[2], 7);
    check_fails(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, bad, NULL), MN_ERROR_INPUT,
                "point 5");
    check_fails(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 2, good, NULL), MN_ERROR_INPUT,
                "2 vertices");
    check_fails(ctx, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 3, good, NULL), MN_ERROR_INPUT,
                "tetrahedron");
    check_fails(ctx, mn_geo_add_primitives(geo, MN_VOLUME, 1, NULL, 1, good, NULL), MN_ERROR_ARGUMENT,
                "mn_geo_add_volume");
    assert_int_equal(mn_geo_primitive_count(geo), 2);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 2);
    mn_geo_free(geo);
}

static void attributes_convert_and_refuse(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 3, NULL));
    mn_attribute *a, *b;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "id", MN_I32, 1, MN_HINT_NONE, &a));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "id", MN_I32, 1, MN_HINT_NONE, &b));
    assert_ptr_equal(a, b);
    check_fails(ctx, mn_geo_add_attribute(geo, MN_POINT, "id", MN_F32, 1, MN_HINT_NONE, &b), MN_ERROR_INPUT,
                "'id' is i32");
    check_fails(ctx, mn_geo_add_attribute(geo, MN_POINT, "", MN_F32, 1, MN_HINT_NONE, &b), MN_ERROR_ARGUMENT,
                "name");
    check_fails(ctx, mn_geo_add_attribute(geo, MN_POINT, "x", MN_F32, 65, MN_HINT_NONE, &b),
                MN_ERROR_ARGUMENT, "64");
    const double values[] = {1.6, -1e300, NAN};
    check_ok(ctx, mn_attribute_set(geo, a, 0, 3, values));
    const int32_t *stored = mn_attribute_data(a);
    assert_int_equal(stored[0], 2);
    assert_int_equal(stored[1], -2147483647);
    assert_int_equal(stored[2], 0);
    double back[2];
    mn_attribute_get(a, 0, 2, back);
    check_close(back[0], 2, 0);
    assert_non_null(mn_geo_find_numeric(geo, MN_POINT, "id", 1));
    assert_null(mn_geo_find_numeric(geo, MN_POINT, "id", 3));
    check_fails(ctx, mn_attribute_set_string(geo, a, 0, 0, "x"), MN_ERROR_ARGUMENT, "numbers");
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "name", MN_STRING, 2, MN_HINT_NONE, &b));
    assert_string_equal(mn_attribute_string(b, 0, 0), "");
    check_ok(ctx, mn_attribute_set_string(geo, b, 1, 1, "mercury"));
    check_ok(ctx, mn_attribute_set_string(geo, b, 2, 0, "mercury"));
    check_ok(ctx, mn_geo_add_points(geo, 1, NULL));
    assert_string_equal(mn_attribute_string(b, 1, 1), "mercury");
    assert_string_equal(mn_attribute_string(b, 3, 1), "");
    assert_int_equal(mn_attribute_table_count(b), 1);
    check_fails(ctx, mn_attribute_set(geo, b, 0, 1, values), MN_ERROR_ARGUMENT, "numbers");
    mn_geo_free(geo);
}

static void copies_share_until_one_writes(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo = random_geo(ctx, 1, 10000), *copy;
    const int64_t before = mn_context_bytes(ctx);
    const uint64_t hash = mn_geo_hash(geo);
    check_ok(ctx, mn_geo_copy(geo, &copy));
    assert_true(mn_context_bytes(ctx) - before < 20000); // names and pointers, not ten thousand points
    assert_true(mn_geo_hash(copy) == hash);
    assert_ptr_equal(mn_geo_positions(geo), mn_geo_positions(copy));

    mn_geo_write_positions(copy)[7] = 42;
    assert_ptr_not_equal(mn_geo_positions(geo), mn_geo_positions(copy));
    assert_true(mn_geo_hash(geo) == hash);
    assert_true(mn_geo_hash(copy) != hash);

    mn_attribute *names;
    check_ok(ctx, mn_geo_add_attribute(copy, MN_POINT, "point_string", MN_STRING, 2, MN_HINT_NONE, &names));
    check_ok(ctx, mn_attribute_set_string(copy, names, 0, 0, "only here"));
    check_ok(ctx, mn_geo_add_points(copy, 10, NULL));
    assert_true(mn_geo_hash(geo) == hash);
    mn_geo_free(geo);
    assert_string_equal(mn_attribute_string(names, 0, 0), "only here"); // outlives what it was copied from
    mn_geo_free(copy);
}

static void appending_keeps_both(void **state)
{
    mn_context *ctx = *state;
    mn_geo *a = random_geo(ctx, 1, 50), *b = random_geo(ctx, 2, 30), *both;
    mn_attribute *extra;
    check_ok(ctx, mn_geo_add_attribute(b, MN_POINT, "only_b", MN_F64, 1, MN_HINT_NONE, &extra));
    check_ok(ctx, mn_attribute_set(b, extra, 4, 1, (double[]){7}));
    check_ok(ctx, mn_geo_copy(a, &both));
    check_ok(ctx, mn_geo_append(both, b));
    assert_int_equal(mn_geo_point_count(both), 80);
    assert_int_equal(mn_geo_primitive_count(both), mn_geo_primitive_count(a) + mn_geo_primitive_count(b));
    for (int64_t i = 0; i < 30; i++)
        check_close(mn_distance(mn_geo_position(both, 50 + i), mn_geo_position(b, i)), 0, 0);
    const mn_attribute *strings = mn_geo_find(both, MN_VERTEX, "vertex_string"),
                       *from = mn_geo_find(b, MN_VERTEX, "vertex_string");
    for (int64_t v = 0; v < mn_geo_vertex_count(b); v++) {
        assert_int_equal(mn_geo_vertex_points(both)[mn_geo_vertex_count(a) + v],
                         50 + mn_geo_vertex_points(b)[v]);
        assert_string_equal(mn_attribute_string(strings, mn_geo_vertex_count(a) + v, 1),
                            mn_attribute_string(from, v, 1));
    }
    const double *only_b = mn_attribute_data(mn_geo_find(both, MN_POINT, "only_b"));
    assert_true(only_b[3] == 0 && only_b[54] == 7);
    const uint8_t *members = mn_group_data(mn_geo_find_group(both, MN_POINT, "every_third"));
    assert_true(members[0] && !members[1] && members[50] && members[53] && !members[54]);

    mn_geo *twice;
    check_ok(ctx, mn_geo_copy(a, &twice));
    check_ok(ctx, mn_geo_append(twice, twice));
    assert_int_equal(mn_geo_point_count(twice), 100);

    mn_attribute *clash;
    check_ok(ctx, mn_geo_add_attribute(a, MN_POINT, "only_b", MN_F32, 3, MN_HINT_NONE, &clash));
    const uint64_t hash = mn_geo_hash(a);
    check_fails(ctx, mn_geo_append(a, b), MN_ERROR_INPUT, "'only_b'");
    assert_true(mn_geo_hash(a) == hash);
    mn_geo_free(a), mn_geo_free(b), mn_geo_free(both), mn_geo_free(twice);
}

static void compacting_keeps_attributes_and_groups_in_step(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo = random_geo(ctx, 3, 200), *whole;
    mn_attribute *old;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_PRIMITIVE, "number", MN_I64, 1, MN_HINT_NONE, &old));
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        ((int64_t *)mn_attribute_write(geo, old))[i] = i;
    check_ok(ctx, mn_geo_copy(geo, &whole));
    uint8_t keep[200];
    int64_t kept = 0, map[200];
    for (int i = 0; i < 200; i++) {
        keep[i] = i % 7 != 3;
        map[kept] = i;
        kept += keep[i];
    }
    check_ok(ctx, mn_geo_compact(geo, keep, NULL));
    assert_int_equal(mn_geo_point_count(geo), kept);
    for (int64_t i = 0; i < kept; i++)
        check_close(mn_distance(mn_geo_position(geo, i), mn_geo_position(whole, map[i])), 0, 0);
    const int64_t *numbers = mn_attribute_data(mn_geo_find(geo, MN_PRIMITIVE, "number"));
    const int64_t *starts = mn_geo_primitive_starts(geo), *whole_starts = mn_geo_primitive_starts(whole);
    assert_true(mn_geo_primitive_count(geo) > 0 &&
                mn_geo_primitive_count(geo) < mn_geo_primitive_count(whole));
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        const int64_t was = numbers[p];
        assert_int_equal(starts[p + 1] - starts[p], whole_starts[was + 1] - whole_starts[was]);
        assert_int_equal(mn_geo_primitive_kinds(geo)[p], mn_geo_primitive_kinds(whole)[was]);
        for (int64_t k = 0; k < starts[p + 1] - starts[p]; k++)
            assert_int_equal(map[mn_geo_vertex_points(geo)[starts[p] + k]],
                             mn_geo_vertex_points(whole)[whole_starts[was] + k]);
        assert_int_equal(mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "every_third"))[p], was % 3 == 0);
    }
    // What was dropped had lost a point.
    int64_t survivors = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(whole); p++) {
        bool stays = true;
        for (int64_t v = whole_starts[p]; v < whole_starts[p + 1]; v++)
            stays = stays && keep[mn_geo_vertex_points(whole)[v]];
        survivors += stays;
    }
    assert_int_equal(survivors, mn_geo_primitive_count(geo));
    uint8_t none[200] = {0};
    check_ok(ctx, mn_geo_compact(geo, none, NULL));
    assert_int_equal(mn_geo_point_count(geo) + mn_geo_vertex_count(geo) + mn_geo_primitive_count(geo), 0);
    check_ok(ctx, mn_geo_add_points(geo, 3, NULL));
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, (int64_t[]){0, 1, 2}, NULL));
    assert_int_equal(mn_geo_primitive_starts(geo)[1], 3);
    mn_geo_free(geo), mn_geo_free(whole);
}

static void set3(mn_geo *geo, const char *name, mn_hint hint, mn_vec3 value)
{
    mn_attribute *a;
    check_ok(mn_geo_context(geo), mn_geo_add_attribute(geo, MN_POINT, name, MN_F64, 3, hint, &a));
    check_ok(mn_geo_context(geo), mn_attribute_set(geo, a, 0, 1, &value.x));
}

static mn_vec3 get3(const mn_geo *geo, const char *name)
{
    double v[3];
    mn_attribute_get(mn_geo_find(geo, MN_POINT, name), 0, 1, v);
    return mn_v3(v[0], v[1], v[2]);
}

static void transforms_follow_the_hint(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 1, NULL));
    // A plane with tangent (1,1,0) and normal (1,-1,0), stretched in x: the normal must stay orthogonal to
    // it.
    set3(geo, "at", MN_HINT_POINT, mn_v3(1, 1, 0));
    set3(geo, "v", MN_HINT_VECTOR, mn_v3(1, 1, 0));
    set3(geo, "N", MN_HINT_NORMAL, mn_v3(1, -1, 0));
    set3(geo, "Cd", MN_HINT_COLOR, mn_v3(1, 1, 0));
    mn_attribute *orient;
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "orient", MN_F64, 4, MN_HINT_QUATERNION, &orient));
    check_ok(ctx, mn_attribute_set(geo, orient, 0, 1, (double[]){0, 0, 0, 1}));
    const mn_mat3 linear = mn_m3_mul(mn_m3_rotation(mn_v3(0, 90, 0)), mn_m3_diagonal(2, 1, 1));
    check_ok(ctx, mn_geo_transform(geo, mn_m4_affine(linear, mn_v3(0, 5, 0))));
    check_close(mn_distance(get3(geo, "at"), mn_v3(0, 6, -2)), 0, 1e-14);
    check_close(mn_distance(get3(geo, "v"), mn_v3(0, 1, -2)), 0, 1e-14);
    check_close(mn_dot(get3(geo, "N"), get3(geo, "v")), 0, 1e-14);
    check_close(mn_norm(get3(geo, "N")), sqrt(2), 1e-14);
    check_close(mn_distance(get3(geo, "Cd"), mn_v3(1, 1, 0)), 0, 0);
    double q[4];
    mn_attribute_get(orient, 0, 1, q);
    check_close(q[1], sqrt(0.5), 1e-14);
    check_close(q[3], sqrt(0.5), 1e-14);
    // A mirror keeps normals on their side of the surface.
    check_ok(ctx, mn_geo_transform(geo, mn_m4_affine(mn_m3_diagonal(1, -1, 1), mn_v3(0, 0, 0))));
    check_close(mn_dot(get3(geo, "N"), get3(geo, "v")), 0, 1e-14);
    mn_geo_free(geo);
}

static void bounds_leave_nan_out(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 3, NULL));
    float *p = mn_geo_write_positions(geo);
    p[0] = NAN, p[3] = 1, p[7] = -2;
    const mn_box box = mn_geo_bounds(geo);
    check_close(mn_distance(box.min, mn_v3(0, -2, 0)), 0, 0);
    check_close(mn_distance(box.max, mn_v3(1, 0, 0)), 0, 0);
    mn_geo_free(geo);
}

static void reversing_turns_polygons_and_their_vertices_round(void **state)
{
    mn_context *ctx = *state;
    mn_geo *geo = random_geo(ctx, 5, 40), *turned;
    check_ok(ctx, mn_geo_copy(geo, &turned));
    check_ok(ctx, mn_geo_reverse_polygons(turned));
    const int64_t *starts = mn_geo_primitive_starts(geo), *before = mn_geo_vertex_points(geo),
                  *after = mn_geo_vertex_points(turned);
    const int32_t *values = mn_attribute_data(mn_geo_find(geo, MN_VERTEX, "vertex_i32")),
                  *turned_values = mn_attribute_data(mn_geo_find(turned, MN_VERTEX, "vertex_i32"));
    const int32_t size = mn_attribute_size(mn_geo_find(geo, MN_VERTEX, "vertex_i32"));
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        const bool polygon = mn_geo_primitive_kinds(geo)[p] == MN_POLYGON;
        for (int64_t i = starts[p]; i < starts[p + 1]; i++) {
            const int64_t from = polygon && i > starts[p] ? starts[p] + starts[p + 1] - i : i;
            assert_int_equal(after[i], before[from]);
            assert_memory_equal(&turned_values[size * i], &values[size * from],
                                (size_t)size * sizeof *values);
        }
    }
    assert_true(mn_geo_hash(turned) != mn_geo_hash(geo));
    check_ok(ctx, mn_geo_reverse_polygons(turned));
    assert_true(mn_geo_hash(turned) == mn_geo_hash(geo));
    mn_geo_free(geo);
    mn_geo_free(turned);
}

static mn_status do_everything(mn_context *ctx)
{
    mn_geo *a = NULL, *b = NULL;
    mn_status status;
    MN_TRY_TO(done, status, random_geo_try(ctx, 1, 12, &a));
    MN_TRY_TO(done, status, mn_geo_copy(a, &b));
    MN_TRY_TO(done, status, mn_geo_append(b, a));
    MN_TRY_TO(done, status, mn_geo_compact(b, (uint8_t[24]){1, 1, 1, 1, 1, 1, 1, 1}, NULL));
    MN_TRY_TO(done, status,
              mn_geo_transform(b, mn_m4_affine(mn_m3_rotation(mn_v3(1, 2, 3)), mn_v3(0, 0, 1))));
    MN_TRY_TO(done, status, mn_geo_reverse_polygons(b));
done:
    mn_geo_free(a);
    mn_geo_free(b);
    return status;
}

static void running_out_of_memory_anywhere_leaks_nothing(void **state)
{
    (void)state;
    check_memory_may_run_out(do_everything);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, make_context, free_context)
    const struct CMUnitTest tests[] = {
        TEST(a_new_geo_is_empty_but_has_positions),
        TEST(primitives_are_checked_before_anything_changes),
        TEST(attributes_convert_and_refuse),
        TEST(copies_share_until_one_writes),
        TEST(appending_keeps_both),
        TEST(compacting_keeps_attributes_and_groups_in_step),
        TEST(transforms_follow_the_hint),
        TEST(bounds_leave_nan_out),
        TEST(reversing_turns_polygons_and_their_vertices_round),
        TEST(running_out_of_memory_anywhere_leaks_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
