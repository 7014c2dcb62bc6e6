// SPDX-License-Identifier: Apache-2.0
//
// .ply files: foreign headers in all encodings, exact round trips of our own, and damage of every kind.
#include "plugin/io/formats.h"

#include "base/random.h"
#include "support/check.h"
#include "support/failing_allocator.h"

#include <unistd.h>

static mn_status read_text(mn_context *ctx, const char *text, mn_geo **geo)
{
    return mn_ply_read_memory(ctx, text, strlen(text), "test.ply", geo);
}

static const char *const foreign =
    "ply\nformat ascii 1.0\ncomment made by hand\nobj_info none\n"
    "element vertex 3\nproperty double x\nproperty double y\nproperty double z\n"
    "property float nx\nproperty float ny\nproperty float nz\n"
    "property uchar red\nproperty uchar green\nproperty uchar blue\nproperty uchar alpha\n"
    "property float quality\nproperty uint label\n"
    "element face 1\nproperty list uchar int vertex_indices\nproperty short material\n"
    "element edge 1\nproperty int vertex1\nproperty int vertex2\n"
    "end_header\n"
    "0 0 0  0 0 1  255 0 51 255  0.5 4000000000\n"
    "1 0 0  0 0 1  0 255 0 0  nan 1\n1 1 0  0 0 1  0 0 255 0  2 2\n"
    "3 0 1 2 -7\n2 0";

static void foreign_properties_find_their_attributes(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, read_text(ctx, foreign, &geo));
    assert_int_equal(mn_geo_point_count(geo), 3);
    check_close(mn_distance(mn_geo_position(geo, 2), mn_v3(1, 1, 0)), 0, 0);
    const float *colour = mn_attribute_data(mn_geo_find_numeric(geo, MN_POINT, "Cd", 3));
    check_close(colour[0], 1, 0);
    check_close(colour[2], 0.2f, 1e-7);
    assert_int_equal(mn_attribute_hint(mn_geo_find(geo, MN_POINT, "N")), MN_HINT_NORMAL);
    check_close(((const float *)mn_attribute_data(mn_geo_find(geo, MN_POINT, "Alpha")))[0], 1, 0);
    assert_true(isnan(((const float *)mn_attribute_data(mn_geo_find(geo, MN_POINT, "quality")))[1]));
    assert_int_equal(((const int64_t *)mn_attribute_data(mn_geo_find(geo, MN_POINT, "label")))[0],
                     4000000000);
    const int32_t *material = mn_attribute_data(mn_geo_find(geo, MN_PRIMITIVE, "material"));
    assert_int_equal(material[0], -7);
    assert_int_equal(mn_geo_primitive_kinds(geo)[1], MN_POLYLINE);
    assert_int_equal(mn_geo_vertex_points(geo)[3], 2);
    mn_geo_free(geo);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void both_byte_orders_are_read(void **state)
{
    (void)state;
    static const char *const header =
        "ply\nformat binary_%s_endian 1.0\nelement vertex 1\nproperty float x\nproperty float y\n"
        "property short z\nend_header\n";
    for (int big = 0; big < 2; big++) {
        unsigned char bytes[512];
        const int length = snprintf((char *)bytes, sizeof bytes, header, big ? "big" : "little");
        const unsigned char little[] = {0, 0, 0x80, 0x3f, 0, 0, 0x20, 0xc1, 0xfe, 0xff};
        const unsigned char other[] = {0x3f, 0x80, 0, 0, 0xc1, 0x20, 0, 0, 0xff, 0xfe};
        memcpy(bytes + length, big ? other : little, sizeof little);
        mn_context *ctx = mn_context_create(NULL);
        mn_geo *geo;
        check_ok(ctx, mn_ply_read_memory(ctx, bytes, (size_t)length + 10, "test.ply", &geo));
        check_close(mn_distance(mn_geo_position(geo, 0), mn_v3(1, -10, -2)), 0, 0);
        mn_geo_free(geo);
        mn_context_free(ctx);
    }
}

// Everything that .ply can hold.
static mn_status make_rich(mn_context *ctx, mn_geo **out)
{
    mn_geo *geo = NULL;
    mn_attribute *a;
    mn_group *group;
    mn_status status;
    static const struct {
        mn_owner owner;
        const char *name;
        mn_type type;
        int32_t size;
        mn_hint hint;
    } all[] = {
        {MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR},          {MN_POINT, "N", MN_F64, 3, MN_HINT_NORMAL},
        {MN_POINT, "Cd", MN_F32, 3, MN_HINT_COLOR},          {MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE},
        {MN_POINT, "id", MN_I64, 1, MN_HINT_NONE},           {MN_POINT, "uv", MN_F32, 2, MN_HINT_TEXTURE},
        {MN_POINT, "orient", MN_F32, 4, MN_HINT_QUATERNION}, {MN_PRIMITIVE, "area", MN_F64, 1, MN_HINT_NONE},
        {MN_PRIMITIVE, "pair", MN_I32, 2, MN_HINT_NONE},     {MN_DETAIL, "time", MN_F64, 1, MN_HINT_NONE},
        {MN_DETAIL, "up", MN_F32, 3, MN_HINT_VECTOR},
    };
    MN_TRY_TO(done, status, mn_geo_create(ctx, &geo));
    MN_TRY_TO(done, status, mn_geo_add_points(geo, 7, NULL));
    MN_TRY_TO(done, status,
              mn_geo_add_primitives(geo, MN_POLYGON, 2, (int32_t[]){3, 4}, 0,
                                    (int64_t[]){0, 1, 2, 3, 4, 5, 6}, NULL));
    MN_TRY_TO(done, status, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 2, (int64_t[]){6, 0}, NULL));
    for (int i = 0; i < 21; i++) mn_geo_write_positions(geo)[i] = (float)mn_random_normal(1, (uint64_t)i, 0);
    for (size_t k = 0; k < sizeof all / sizeof *all; k++) {
        MN_TRY_TO(
            done, status,
            mn_geo_add_attribute(geo, all[k].owner, all[k].name, all[k].type, all[k].size, all[k].hint, &a));
        double values[64];
        for (int i = 0; i < 64; i++) values[i] = 1000 * mn_random_normal(2, k, (uint32_t)i);
        MN_TRY_TO(done, status, mn_attribute_set(geo, a, 0, mn_attribute_count(a), values));
    }
    MN_TRY_TO(done, status, mn_geo_add_group(geo, MN_POINT, "wet", &group));
    mn_group_write(geo, group)[3] = 1;
    MN_TRY_TO(done, status, mn_geo_add_group(geo, MN_PRIMITIVE, "rim", &group));
    mn_group_write(geo, group)[2] = 1;
    *out = geo;
    return MN_OK;
done:
    mn_geo_free(geo);
    *out = NULL;
    return status;
}

static size_t write_bytes(mn_context *ctx, const mn_geo *geo, bool ascii, unsigned char *bytes,
                          size_t capacity)
{
    char path[] = "/tmp/meniscus_ply_XXXXXX.ply";
    close(mkstemps(path, 4));
    check_ok(ctx, mn_io_write_as(ctx, path, ascii ? MN_FORMAT_PLY_ASCII : MN_FORMAT_PLY, geo));
    FILE *file = fopen(path, "rb");
    const size_t size = fread(bytes, 1, capacity, file);
    fclose(file);
    unlink(path);
    assert_true(size < capacity);
    return size;
}

static void what_is_written_comes_back_exactly(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo, *back;
    check_ok(ctx, make_rich(ctx, &geo));
    static unsigned char bytes[65536];
    for (int ascii = 0; ascii < 2; ascii++) {
        const size_t size = write_bytes(ctx, geo, ascii, bytes, sizeof bytes);
        check_ok(ctx, mn_ply_read_memory(ctx, bytes, size, "test.ply", &back));
        assert_int_equal(mn_geo_hash(back), mn_geo_hash(geo));
        mn_geo_free(back);
    }
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void damage_is_named(void **state)
{
    (void)state;
#define HEAD "ply\nformat ascii 1.0\n"
#define XYZ "property float x\nproperty float y\nproperty float z\n"
    static const struct {
        const char *text, *part;
    } bad[] = {
        {"plyformat", "begin with 'ply'"},
        {"ply\n", "ends inside its header"},
        {"ply\nformat ascii 2.0\n", "version 1.0"},
        {"ply\nformat xml 1.0\n", "none of ascii"},
        {"ply\nelement vertex 0\nend_header\n", "names no format"},
        {HEAD "property float x\n", "before any element"},
        {HEAD "element vertex -1\n", "negative"},
        {HEAD "element vertex many\n", "'many' is not a number"},
        {HEAD "element vertex 1\nproperty quad x\n", "'quad'"},
        {HEAD "element vertex 1\n" XYZ "property float x\n", "two properties 'x'"},
        {HEAD "element vertex 1\n" XYZ "end_header\n0.0 0.0", "truncated"},
        {HEAD "element vertex 1000000000000\n" XYZ "end_header\n0 0 0\n", "too short"},
        {HEAD "element vertex 1\n" XYZ "property list uchar int ring\nend_header\n0 0 0 0\n", "'ring'"},
        {HEAD "element vertex 1\n" XYZ
              "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n3 0 0 1\n",
         "vertex 1"},
        {HEAD "element vertex 1\n" XYZ
              "element face 1\nproperty list uchar int vertex_indices\nend_header\n0 0 0\n2 0 0\n",
         "2 corners"},
        {HEAD "element vertex 1\n" XYZ "element face 1\nproperty int material\nend_header\n0 0 0\n2\n",
         "which vertices"},
        {HEAD "element vertex 1\n" XYZ
              "element tristrips 1\nproperty list int int vertex_indices\nend_header\n0 0 0\n1 0\n",
         "'tristrips'"},
        {HEAD "element vertex 2\nend_header\n", "no properties"},
        {HEAD "element vertex 1\n" XYZ "property int i\nend_header\n0 0 0 5000000000\n", "'i'"},
        {HEAD "element vertex 1\nproperty list float int x\n", "counted by a real"},
    };
    mn_context *ctx = mn_context_create(NULL);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        mn_geo *geo;
        const mn_status status = read_text(ctx, bad[i].text, &geo);
        assert_true(status == MN_ERROR_FORMAT || status == MN_ERROR_UNSUPPORTED);
        assert_null(geo);
        if (!strstr(mn_context_message(ctx), bad[i].part))
            fail_msg("%s: %s", bad[i].text, mn_context_message(ctx));
    }
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void what_ply_cannot_hold_is_refused_by_name(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    static const char *const path = "/tmp/meniscus_never.ply";
    mn_geo *geo;
    mn_attribute *a;
    check_ok(ctx, make_rich(ctx, &geo));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "name", MN_STRING, 1, MN_HINT_NONE, &a));
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "'name'");
    check_ok(ctx, mn_geo_remove_attribute(geo, MN_POINT, "name"));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_VERTEX, "uv", MN_F32, 2, MN_HINT_NONE, &a));
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "'uv'");
    check_ok(ctx, mn_geo_remove_attribute(geo, MN_VERTEX, "uv"));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "vx", MN_F32, 1, MN_HINT_NONE, &a));
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "'vx'");
    check_ok(ctx, mn_geo_remove_attribute(geo, MN_POINT, "vx"));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "big", MN_I64, 1, MN_HINT_NONE, &a));
    ((int64_t *)mn_attribute_write(geo, a))[0] = (int64_t)1 << 40;
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "'big'");
    check_ok(ctx, mn_geo_remove_attribute(geo, MN_POINT, "big"));
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 3, (int64_t[]){0, 1, 2}, NULL));
    check_fails(ctx, mn_io_write(ctx, path, geo), MN_ERROR_UNSUPPORTED, "more than two points");
    assert_int_not_equal(access(path, F_OK), 0);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void every_truncation_flip_and_failing_allocation_ends_well(void **state)
{
    (void)state;
    static unsigned char bytes[65536];
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, make_rich(ctx, &geo));
    for (int ascii = 0; ascii < 2; ascii++) {
        const size_t size = write_bytes(ctx, geo, ascii, bytes, sizeof bytes);
        unsigned char *exact = malloc(size);
        for (size_t cut = 0; cut < size; cut++) {
            mn_geo *back = NULL;
            memcpy(exact, bytes, size);
            const mn_status status = mn_ply_read_memory(ctx, exact, cut, "test.ply", &back);
            // Only the last line end, and the last digits of an ascii number, can be missed.
            if (cut + 24 < size) assert_int_not_equal(status, MN_OK);
            mn_geo_free(back);
            exact[cut] ^= (unsigned char)(1u << cut % 8);
            back = NULL;
            if (mn_ply_read_memory(ctx, exact, size, "test.ply", &back) != MN_OK) assert_null(back);
            mn_geo_free(back);
        }
        free(exact);
        for (int64_t n = 1;; n++) {
            failing_allocator memory = {.fail_at = n};
            const mn_hooks hooks = failing_hooks(&memory);
            mn_context *small = mn_context_create(&hooks);
            mn_geo *back;
            const mn_status status = mn_ply_read_memory(small, bytes, size, "test.ply", &back);
            assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
            mn_geo_free(back);
            mn_context_free(small);
            assert_int_equal(memory.held, 0);
            if (!memory.failed) break;
        }
    }
    mn_geo_free(geo);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(foreign_properties_find_their_attributes),
        cmocka_unit_test(both_byte_orders_are_read),
        cmocka_unit_test(what_is_written_comes_back_exactly),
        cmocka_unit_test(damage_is_named),
        cmocka_unit_test(what_ply_cannot_hold_is_refused_by_name),
        cmocka_unit_test(every_truncation_flip_and_failing_allocation_ends_well),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
