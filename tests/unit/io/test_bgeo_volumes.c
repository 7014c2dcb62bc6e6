// SPDX-License-Identifier: Apache-2.0
//
// Volumes in geometry files: dense ones in all the ways that Houdini stores their voxels, VDBs there and
// back, names, and what is refused.
#include "plugin/io/io.h"
#include "plugin/vdb/vdb.h"
#include "support/file_fixture.h"

#include <unistd.h>

// ---- dense volumes ----

/// One volume whose point is at (1, 2, 3), with these fields, and these sections after the primitives.
static mn_status read_volume(fixture *f, const char *fields, const char *sections, mn_geo **geo)
{
    char *text = malloc(1 << 16);
    snprintf(
        text, 1 << 16,
        "[\"pointcount\",1,\"vertexcount\",1,\"primitivecount\",1,\"topology\",[\"pointref\",[\"indices\",[0]"
        "]],"
        "\"attributes\",[\"pointattributes\",[[[\"type\",\"numeric\",\"name\",\"P\"],[\"values\",[\"size\",3,"
        "\"storage\",\"fpreal32\",\"tuples\",[[1,2,3]]]]]],"
        "\"primitiveattributes\",[[[\"type\",\"string\",\"name\",\"name\"],[\"strings\",[\"heat\"],"
        "\"indices\","
        "[\"size\",1,\"storage\",\"int32\",\"arrays\",[[0]]]]]]],"
        "\"primitives\",[[[\"type\",\"Volume\"],[\"vertex\",0,%s]]]%s]",
        fields, sections);
    const mn_status status = mn_io_read_memory(f->ctx, MN_FORMAT_GEO, text, strlen(text), "test", geo);
    free(text);
    return status;
}

/// Voxel (i, j, k) of a volume of this size with the transform diag(2, 3, 4) at (1, 2, 3).
static mn_vec3 centre(const int32_t size[3], int i, int j, int k)
{
    return mn_v3(1 + 2 * ((2.0 * i + 1) / size[0] - 1), 2 + 3 * ((2.0 * j + 1) / size[1] - 1),
                 3 + 4 * ((2.0 * k + 1) / size[2] - 1));
}

#define PLACE "\"transform\",[2,0,0,0,3,0,0,0,4],"

static void check_voxel(const mn_geo *geo, const int32_t size[3], int i, int j, int k, double expected)
{
    // The transform is a few roundings away from the one that is tested with; values are below 100.
    check_close(mn_volume_sample(mn_geo_volume(geo, 0), centre(size, i, j, k)), expected, 1e-9);
}

static void tiles_are_put_together(void **state)
{
    fixture *f = *state;
    mn_geo *geo;
    // 17 x 2 x 1: a tile of 16 x 2 values and one of 1 x 2.
    check_ok(f->ctx,
             read_volume(
                 f,
                 PLACE
                 "\"res\",[17,2,1],\"border\",{\"type\":\"constant\",\"value\":0},\"voxels\",[\"tiledarray\","
                 "[\"version\",1,\"compressiontypes\",[\"constant\",\"raw\"],\"tiles\",[[\"compression\",1,"
                 "\"data\","
                 "[0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,20,21,22,23,24,25,26,27,28,29,30,31,32,33,34,35]],"
                 "[\"compression\",0,\"data\",42]]]]",
                 "", &geo));
    const int32_t size[3] = {17, 2, 1};
    for (int i = 0; i < 16; i++) {
        check_voxel(geo, size, i, 0, 0, i);
        check_voxel(geo, size, i, 1, 0, 20 + i);
    }
    check_voxel(geo, size, 16, 0, 0, 42);
    check_voxel(geo, size, 16, 1, 0, 42);
    const mn_volume_info info = mn_volume_get_info(mn_geo_volume(geo, 0));
    assert_string_equal(info.name, "heat");
    assert_int_equal(info.kind, MN_VOLUME_FOG);
    mn_geo_free(geo);
}

static void a_transform_turns_the_right_way(void **state)
{
    fixture *f = *state;
    mn_geo *geo;
    // Row vectors: the first axis of the volume runs along y, the second along -x.
    check_ok(f->ctx,
             read_volume(
                 f,
                 "\"transform\",[0,2,0,-3,0,0,0,0,4],\"res\",[2,2,1],\"voxels\",[\"tiledarray\",[\"tiles\","
                 "[[\"compression\",0,\"data\",[1,2,3,4]]]]]",
                 "", &geo));
    const mn_volume volume = mn_geo_volume(geo, 0);
    check_close(mn_volume_sample(volume, mn_v3(1 + 1.5, 2 - 1, 3)), 1, 1e-9);
    check_close(mn_volume_sample(volume, mn_v3(1 + 1.5, 2 + 1, 3)), 2, 1e-9);
    check_close(mn_volume_sample(volume, mn_v3(1 - 1.5, 2 - 1, 3)), 3, 1e-9);
    check_close(mn_volume_sample(volume, mn_v3(1 - 1.5, 2 + 1, 3)), 4, 1e-9);
    mn_geo_free(geo);
}

static void full_tiles_and_constant_volumes_are_read(void **state)
{
    fixture *f = *state;
    static char fields[1 << 15];
    mn_geo *geo;
    char *at =
        fields +
        sprintf(fields,
                PLACE "\"res\",[2,2,2],\"voxels\",[\"tiledarray\",[\"tiles\",[[\"compression\",1,\"data\",[");
    for (int i = 0; i < 4096; i++)
        at += sprintf(at, "%s%d", i ? "," : "", i % 16 + i / 16 % 16 * 2 + i / 256 * 4);
    sprintf(at, "]]]]]");
    const int32_t size[3] = {2, 2, 2};
    check_ok(f->ctx, read_volume(f, fields, "", &geo));
    for (int i = 0; i < 8; i++) check_voxel(geo, size, i & 1, i >> 1 & 1, i >> 2, i);
    mn_geo_free(geo);

    check_ok(f->ctx, read_volume(f, PLACE "\"res\",[2,2,2],\"voxels\",[\"constantarray\",5]", "", &geo));
    for (int i = 0; i < 8; i++) check_voxel(geo, size, i & 1, i >> 1 & 1, i >> 2, 5);
    mn_geo_free(geo);

    // Nothing but background, however large it says it is.
    check_ok(f->ctx, read_volume(f, PLACE "\"res\",[100000,100000,100000],\"voxels\",[\"constantarray\",0]",
                                 "", &geo));
    assert_int_equal(mn_geo_primitive_count(geo), 1);
    mn_geo_free(geo);
}

static void shared_voxels_are_found_by_key(void **state)
{
    fixture *f = *state;
    mn_geo *geo;
    const int32_t size[3] = {1, 1, 2};
    check_ok(f->ctx, read_volume(f, PLACE "\"res\",[1,1,2],\"sharedvoxels\",\"v:2\"",
                                 ",\"sharedprimitivedata\",[\"Other\",[1],\"Volume\",[\"geo:voxels\",\"v:3\","
                                 "[\"constantarray\",9],"
                                 "\"geo:else\",\"v:2\",[4],\"geo:voxels\",\"v:2\",[\"tiledarray\",[\"tiles\","
                                 "[[\"compression\",3,\"data\",[7,8]]]]]]]",
                                 &geo));
    check_voxel(geo, size, 0, 0, 0, 7);
    check_voxel(geo, size, 0, 0, 1, 8);
    mn_geo_free(geo);
}

static void what_a_dense_volume_cannot_be_is_refused(void **state)
{
    fixture *f = *state;
    static const struct {
        const char *fields, *sections;
        mn_status status;
        const char *part;
    } cases[] = {
        {PLACE "\"res\",[1,1,1]", "", MN_ERROR_FORMAT, "has no voxels"},
        {PLACE "\"res\",[1,1,1],\"sharedvoxels\",\"a\"", "", MN_ERROR_FORMAT, "has no voxels"},
        {PLACE "\"res\",[0,1,1],\"voxels\",[\"constantarray\",1]", "", MN_ERROR_FORMAT,
         "0 voxels along an axis"},
        {PLACE "\"voxels\",[\"constantarray\",1]", "", MN_ERROR_FORMAT, "another number of tiles"},
        {PLACE "\"res\",[17,1,1],\"voxels\",[\"tiledarray\",[\"tiles\",[[\"compression\",2,\"data\",1]]]]",
         "", MN_ERROR_FORMAT, "another number of tiles"},
        {PLACE "\"res\",[2,1,1],\"voxels\",[\"tiledarray\",[\"tiles\",[[\"compression\",0,\"data\",[1]]]]]",
         "", MN_ERROR_FORMAT, "another number of voxels"},
        {PLACE "\"res\",[1,1,1],\"voxels\",[\"tiledarray\",[\"tiles\",[[\"compression\",4,\"data\",[1]]]]]",
         "", MN_ERROR_UNSUPPORTED, "compressed in a way"},
        {PLACE "\"res\",[1,1,1],\"taperx\",0.5,\"voxels\",[\"constantarray\",1]", "", MN_ERROR_UNSUPPORTED,
         "tapered"},
        {PLACE "\"res\",[2000,2000,2000],\"voxels\",[\"constantarray\",1]", "", MN_ERROR_UNSUPPORTED,
         "too large"},
        {PLACE "\"res\",[1,1],\"voxels\",[\"constantarray\",1]", "", MN_ERROR_FORMAT,
         "3 numbers but holds fewer"},
        {"\"transform\",[0,0,0,0,0,0,0,0,0],\"res\",[1,1,1],\"voxels\",[\"constantarray\",1]", "",
         MN_ERROR_FORMAT, "cannot be made"},
        {PLACE "\"res\",[2147483647,2147483647,2147483647],\"voxels\",[\"tiledarray\",[\"tiles\",[]]]", "",
         MN_ERROR_FORMAT, "has no voxels"},
        {PLACE "\"res\",[1,1,1],\"vdb\",[[1,2,3]]", "", MN_ERROR_FORMAT, "test"},
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        mn_geo *geo;
        check_fails(f->ctx, read_volume(f, cases[i].fields, cases[i].sections, &geo), cases[i].status,
                    cases[i].part);
        assert_null(geo);
    }
}

// ---- VDBs ----

static mn_volume make_ball(fixture *f, const char *name, mn_volume_kind kind, int32_t components)
{
    enum { SIDE = 9 };
    int32_t voxels[SIDE * SIDE * SIDE][3];
    double values[3 * SIDE * SIDE * SIDE];
    int64_t count = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const int x = i % SIDE - 4, y = i / SIDE % SIDE - 4, z = i / SIDE / SIDE - 4;
        const double r = 0.1 * sqrt(x * x + y * y + z * z);
        if (kind == MN_VOLUME_LEVEL_SET && fabs(r - 0.3) >= 0.3) continue;
        voxels[count][0] = x, voxels[count][1] = y, voxels[count][2] = z;
        for (int c = 0; c < components; c++)
            values[components * count + c] = kind == MN_VOLUME_LEVEL_SET ? r - 0.3 : 1 + c + 0.01 * x + y * y;
        count++;
    }
    mn_volume volume;
    check_ok(f->ctx, mn_vdb_from_voxels(f->ctx, name, kind, 0.1, kind == MN_VOLUME_LEVEL_SET ? 0.3 : 0.0,
                                        components, count, (const int32_t(*)[3])voxels, values, &volume));
    return volume;
}

static void check_same_volume(fixture *f, mn_volume a, mn_volume b)
{
    enum { MOST = 1000 };
    const mn_volume_info x = mn_volume_get_info(a), y = mn_volume_get_info(b);
    assert_string_equal(x.name, y.name);
    assert_int_equal(x.kind, y.kind);
    assert_int_equal(x.components, y.components);
    assert_true(x.background == y.background);
    assert_int_equal(x.active_voxels, y.active_voxels);
    assert_memory_equal(&x.index_to_world, &y.index_to_world, sizeof x.index_to_world);
    int32_t voxels[2][MOST][3];
    double values[2][3 * MOST];
    int64_t counts[2];
    check_ok(f->ctx, mn_vdb_voxels(f->ctx, a, 0, MOST, voxels[0], values[0], &counts[0]));
    check_ok(f->ctx, mn_vdb_voxels(f->ctx, b, 0, MOST, voxels[1], values[1], &counts[1]));
    assert_int_equal(counts[0], counts[1]);
    assert_memory_equal(voxels[0], voxels[1], (size_t)counts[0] * sizeof voxels[0][0]);
    assert_memory_equal(values[0], values[1], (size_t)(counts[0] * x.components) * sizeof(double));
}

static mn_geo *make_volumes(fixture *f)
{
    mn_geo *geo;
    check_ok(f->ctx, mn_geo_create(f->ctx, &geo));
    check_ok(f->ctx, mn_geo_add_points(geo, 3, NULL));
    check_ok(f->ctx, mn_geo_add_primitives(geo, MN_POLYGON, 1, NULL, 3, (const int64_t[]){0, 1, 2}, NULL));
    mn_volume surface = make_ball(f, "surface", MN_VOLUME_LEVEL_SET, 1),
              vel = make_ball(f, "vel", MN_VOLUME_FOG, 3), fog = make_ball(f, "fog", MN_VOLUME_FOG, 1);
    check_ok(f->ctx, mn_geo_add_volume(geo, surface, 1, NULL));
    check_ok(f->ctx, mn_geo_add_volume(geo, vel, -1, NULL));
    check_ok(f->ctx, mn_geo_add_volume(geo, fog, -1, NULL));
    check_ok(f->ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 2, (const int64_t[]){0, 1}, NULL));
    mn_volume_release(&surface);
    mn_volume_release(&vel);
    mn_volume_release(&fog);
    return geo;
}

static bool holds(const char *text, size_t size, const char *words)
{
    for (size_t i = 0; i + strlen(words) <= size; i++)
        if (memcmp(text + i, words, strlen(words)) == 0) return true;
    return false;
}

static void vdbs_come_back_voxel_for_voxel(void **state)
{
    fixture *f = *state;
    static const mn_format formats[] = {MN_FORMAT_GEO, MN_FORMAT_BGEO, MN_FORMAT_BGEO_GZ, MN_FORMAT_BGEO_SC};
    mn_geo *geo = make_volumes(f);
    for (int i = 0; i < 4; i++) {
        char path[80];
        mn_geo *back, *again;
        snprintf(path, sizeof path, "%s.%s", f->path, mn_format_ending(formats[i]));
        check_ok(f->ctx, mn_io_write(f->ctx, path, geo));
        check_ok(f->ctx, mn_io_read(f->ctx, path, &back));
        assert_int_equal(mn_geo_primitive_count(back), 5);
        for (int p = 1; p < 4; p++) check_same_volume(f, mn_geo_volume(geo, p), mn_geo_volume(back, p));
        assert_int_equal(mn_geo_vertex_points(back)[3], 1);
        // Houdini knows a volume by the attribute name, so the file has it; what is read has said it already.
        if (formats[i] == MN_FORMAT_GEO) {
            size_t size;
            char *text = load_file(path, &size);
            assert_true(holds(text, size, "\"name\",\"name\""));
            free(text);
        }
        assert_null(mn_geo_find(back, MN_PRIMITIVE, "name"));
        // Names of other primitives come back.
        mn_attribute *name;
        check_ok(f->ctx, mn_geo_add_attribute(back, MN_PRIMITIVE, "name", MN_STRING, 1, MN_HINT_NONE, &name));
        check_ok(f->ctx, mn_attribute_set_string(back, name, 0, 0, "ground"));
        check_ok(f->ctx, mn_attribute_set_string(back, name, 2, 0, "vel"));
        check_ok(f->ctx, mn_io_write(f->ctx, path, back));
        check_ok(f->ctx, mn_io_read(f->ctx, path, &again));
        const mn_attribute *found = mn_geo_find(again, MN_PRIMITIVE, "name");
        assert_non_null(found);
        assert_string_equal(mn_attribute_string(found, 0, 0), "ground");
        assert_string_equal(mn_attribute_string(found, 2, 0), "vel");
        mn_geo_free(back);
        mn_geo_free(again);
        unlink(path);
    }
    mn_geo_free(geo);
}

static void equal_volumes_give_equal_bytes(void **state)
{
    fixture *f = *state;
    void *bytes[2];
    size_t sizes[2];
    for (int i = 0; i < 2; i++) {
        mn_geo *geo = make_volumes(f);
        check_ok(f->ctx, mn_io_write_as(f->ctx, f->path, MN_FORMAT_BGEO, geo));
        bytes[i] = load_file(f->path, &sizes[i]);
        mn_geo_free(geo);
    }
    assert_int_equal(sizes[0], sizes[1]);
    assert_memory_equal(bytes[0], bytes[1], sizes[0]);
    free(bytes[0]);
    free(bytes[1]);
}

static mn_status collect(void *user, const void *bytes, size_t size)
{
    char **at = user;
    for (size_t i = 0; i < size; i++)
        *at += sprintf(*at, "%s%d", (*at)[-1] == '[' ? "" : ",", ((const uint8_t *)bytes)[i]);
    return MN_OK;
}

/// Houdini writes several VDBs in a row as a run with common fields, and names them by the attribute.
static void runs_of_vdbs_are_read_and_named(void **state)
{
    fixture *f = *state;
    char *text = malloc(1 << 20), *at = text;
    mn_volume fog = make_ball(f, "unnamed", MN_VOLUME_FOG, 1);
    at += sprintf(
        at,
        "[\"pointcount\",2,\"vertexcount\",2,\"primitivecount\",2,\"topology\",[\"pointref\",[\"indices\",[0,"
        "1]]],"
        "\"attributes\",[\"pointattributes\",[[[\"type\",\"numeric\",\"name\",\"P\"],[\"values\",[\"size\",3,"
        "\"storage\",\"fpreal32\",\"tuples\",[[0,0,0],[0,0,0]]]]]],\"primitiveattributes\",[[[\"type\","
        "\"string\","
        "\"name\",\"name\"],[\"strings\",[\"heat\"],\"indices\",[\"size\",1,\"storage\",\"int32\",\"arrays\","
        "[[0,-1]]]]]]],"
        "\"primitives\",[[[\"type\",\"run\",\"runtype\",\"VDB\",\"varyingfields\",[\"vertex\",\"vdb\"],"
        "\"uniformfields\","
        "{\"vdbvis\":{\"mode\":\"smoke\",\"iso\":0,\"density\":1}}],[");
    for (int i = 0; i < 2; i++) {
        at += sprintf(at, "%s[%d,[{\"tilesize\":32768},[", i ? "," : "", i);
        check_ok(f->ctx, mn_vdb_write_volume(f->ctx, fog, collect, &at));
        at += sprintf(at, "]]]");
    }
    sprintf(at, "]]]]");
    mn_geo *geo;
    check_ok(f->ctx, mn_io_read_memory(f->ctx, MN_FORMAT_GEO, text, strlen(text), "test", &geo));
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 2);
    check_same_volume(f, mn_geo_volume(geo, 1), fog);
    assert_string_equal(mn_volume_get_info(mn_geo_volume(geo, 0)).name, "heat");
    mn_volume_release(&fog);
    mn_geo_free(geo);
    free(text);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(tiles_are_put_together),
        TEST(a_transform_turns_the_right_way),
        TEST(full_tiles_and_constant_volumes_are_read),
        TEST(shared_voxels_are_found_by_key),
        TEST(what_a_dense_volume_cannot_be_is_refused),
        TEST(vdbs_come_back_voxel_for_voxel),
        TEST(equal_volumes_give_equal_bytes),
        TEST(runs_of_vdbs_are_read_and_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
