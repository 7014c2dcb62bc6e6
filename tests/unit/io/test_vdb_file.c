// SPDX-License-Identifier: Apache-2.0
//
// .vdb files: what OpenVDB's own writers made, with every compression and value type, is read to the last
// number; what we write comes back; what is damaged, hostile or not representable gets a sentence.
#include "base/random.h"
#include "plugin/io/formats.h"
#include "plugin/vdb/vdb.h"
#include "support/bytes.h"
#include "support/one_context.h"
#include "support/shapes.h"

#include <unistd.h>

#define SEED(name) MN_SOURCE_DIR "/tests/fuzz/seeds/fuzz_vdb/" name

static mn_geo *read_seed(const char *path)
{
    mn_geo *geo;
    check_ok(ctx, mn_io_read(ctx, path, &geo));
    return geo;
}

/// What the samples hold at voxel (i, j, k), each index in [3, 12).
static double linear(double i, double j, double k)
{
    return i + 16 * j + 256 * k;
}

/// Every voxel of the box, at its place in the world, against the numbers it was made of.
static void check_box(mn_volume volume, int end, double offset)
{
    const mn_volume_info info = mn_volume_get_info(volume);
    for (int k = 3; k < end; k++)
        for (int j = 3; j < end; j++)
            for (int i = 3; i < end; i++) {
                const mn_vec3 at = mn_m4_apply_point(info.index_to_world, mn_v3(i, j, k));
                // A sample at a centre is off by rounding of the position times the steepest step (about
                // 3000).
                check_close(mn_volume_sample(volume, at), linear(i, j, k) + offset, 1e-9);
            }
}

static void level_set_of_openvdb(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("level_set_blosc.vdb"));
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 1);
    const mn_volume volume = mn_geo_find_volume(geo, "surface");
    const mn_volume_info info = mn_volume_get_info(volume);
    assert_int_equal(info.kind, MN_VOLUME_LEVEL_SET);
    assert_int_equal(info.components, 1);
    check_close(info.background, 0.3, 1e-7);
    check_close(info.voxel_size, 0.1, 1e-8); // given in single precision
    // A sphere of radius 0.4 about (2, 2, 2); at voxel centres the distance is exact to single precision.
    for (int k = 12; k < 28; k++)
        for (int j = 12; j < 28; j++)
            for (int i = 12; i < 28; i++) {
                const mn_vec3 at = mn_v3(0.1 * i, 0.1 * j, 0.1 * k);
                const double phi = fmin(0.3, fmax(-0.3, mn_distance(at, mn_v3(2, 2, 2)) - 0.4));
                check_close(mn_volume_sample(volume, at), phi, 2e-6);
            }
    mn_geo_free(geo);
}

static void scalar_grids_of_openvdb(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("fog_mask.vdb"));
    mn_volume volume = mn_geo_find_volume(geo, "density");
    mn_volume_info info = mn_volume_get_info(volume);
    assert_int_equal(info.kind, MN_VOLUME_FOG);
    check_close(info.background, 0.5, 0);
    assert_int_equal(info.active_voxels, 9 * 9 * 9);
    check_close(info.index_to_world.m[1][1], 0.25, 0);
    check_box(volume, 12, 0);
    mn_geo_free(geo);

    geo = read_seed(SEED("half_blosc.vdb"));
    volume = mn_geo_find_volume(geo, "half");
    check_close(mn_volume_get_info(volume).index_to_world.m[2][3], 3, 0);
    // Half floats hold whole numbers to 2048, and even ones to 4096.
    const mn_vec3 at = mn_m4_apply_point(mn_volume_get_info(volume).index_to_world, mn_v3(5, 6, 7));
    check_close(mn_volume_sample(volume, at), linear(5, 6, 7), 1e-9);
    check_close(mn_volume_get_info(volume).background, 2, 0);
    mn_geo_free(geo);

    geo = read_seed(SEED("double_zip.vdb"));
    volume = mn_geo_find_volume(geo, "double");
    check_close(mn_volume_get_info(volume).background, -1, 0);
    check_close(mn_volume_get_info(volume).index_to_world.m[0][0], 0.2 * cos(0.5), 1e-15);
    check_box(volume, 12, 0.125);
    mn_geo_free(geo);
}

static void inactive_values_and_tiles(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("inactive_zip.vdb"));
    const mn_volume volume = mn_geo_find_volume(geo, NULL);
    const mn_mat4 to_world = mn_volume_get_info(volume).index_to_world;
#define AT(i, j, k) mn_volume_sample(volume, mn_m4_apply_point(to_world, mn_v3(i, j, k)))
    check_close(AT(3, 3, 4), 1000, 1e-9); // a leaf with nine inactive values
    check_close(AT(4, 5, 4), 1005, 1e-9);
    check_close(AT(5, 5, 5), linear(5, 5, 5), 1e-9);
    check_close(AT(9, 4, 4), 7, 1e-9); // with three
    check_close(AT(9, 4, 5), 8, 1e-9);
    check_close(AT(4, 9, 4), 9, 1e-9); // with one besides the background
    check_close(AT(4, 4, 10), 5, 1e-9);
    check_close(AT(4, 4, 9), 0, 1e-9);
    check_close(AT(68, 4, 4), 11, 1e-9); // tiles of every level
    check_close(AT(68, 12, 4), 12, 1e-9);
    check_close(AT(300, 64, 64), 13, 1e-9);
    check_close(AT(5000, 2000, 2000), 14, 1e-9);
#undef AT
    const int64_t voxels = 9 * 9 * 9 - 14 + 512 + 128 * 128 * 128 + (int64_t)4096 * 4096 * 4096;
    assert_int_equal(mn_volume_get_info(volume).active_voxels, voxels);
    // Leaves first, then tiles, and only as many as asked for.
    static int32_t at[2048][3];
    static double values[2048];
    int64_t count;
    check_ok(ctx, mn_vdb_voxels(ctx, volume, 9 * 9 * 9 - 14, 2048, at, values, &count));
    assert_int_equal(count, 2048);
    check_ok(ctx, mn_vdb_voxels(ctx, volume, voxels - 1, 2048, at, values, &count));
    assert_int_equal(count, 1);
    mn_geo_free(geo);
}

static void vector_grids_of_openvdb(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("staggered_blosc.vdb"));
    mn_volume volume = mn_geo_find_volume(geo, "vel");
    assert_int_equal(mn_volume_get_info(volume).components, 3);
    // Voxel (i, j, k) stands at (i + 1, j, k); its x is the velocity through the face half a voxel below.
    mn_vec3 v = mn_volume_sample_vec3(volume, mn_v3(6, 6, 7));
    check_close(v.x, 5.5, 1e-12);
    check_close(v.y, 6.5, 1e-12);
    check_close(v.z, 7.5, 1e-12);
    v = mn_volume_sample_vec3(volume, mn_v3(100, 6, 7));
    check_close(v.x, 1, 0);
    check_close(v.z, 3, 0);
    mn_geo_free(geo);

    geo = read_seed(SEED("vec3d_half_mask.vdb"));
    volume = mn_geo_find_volume(geo, "vec3d");
    const mn_vec3 at = mn_m4_apply_point(mn_volume_get_info(volume).index_to_world, mn_v3(4, 5, 3));
    v = mn_volume_sample_vec3(volume, at);
    check_close(v.x, 4, 1e-12);
    check_close(v.y, 5, 1e-12);
    check_close(v.z, -3, 1e-12);
    mn_geo_free(geo);
}

static void shared_trees_and_equal_names(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("instances.vdb"));
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 4);
    const char *names[] = {"same", "same", "same", ""};
    const double sizes[] = {1, 3, 1, 1};
    for (int i = 0; i < 4; i++) {
        assert_string_equal(mn_volume_get_info(mn_geo_volume(geo, i)).name, names[i]);
        check_close(mn_volume_get_info(mn_geo_volume(geo, i)).voxel_size, sizes[i], 0);
    }
    check_close(mn_volume_sample(mn_geo_volume(geo, 1), mn_v3(9, 12, 12)), linear(3, 4, 4), 1e-9);
    check_close(mn_volume_sample(mn_geo_volume(geo, 2), mn_v3(3, 4, 4)), 7, 1e-12);
    mn_geo_free(geo);
    geo = read_seed(SEED("empty.vdb"));
    assert_int_equal(mn_geo_primitive_count(geo), 0);
    mn_geo_free(geo);
}

static void other_grids_are_refused_by_name(void **state)
{
    (void)state;
    mn_geo *geo;
    check_fails(ctx, mn_io_read(ctx, SEED("refused_int32.vdb"), &geo), MN_ERROR_UNSUPPORTED, "'ids'");
    check_fails(ctx, mn_io_read(ctx, SEED("refused_bool.vdb"), &geo), MN_ERROR_UNSUPPORTED,
                "Tree_bool_5_4_3");
    check_fails(ctx, mn_io_read(ctx, SEED("refused_frustum.vdb"), &geo), MN_ERROR_UNSUPPORTED, "frustum");
    assert_null(geo);
}

typedef struct memory_sink {
    uint8_t *data;
    size_t size, capacity;
} memory_sink;

static mn_status take(void *user, const void *data, size_t size)
{
    memory_sink *sink = user;
    while (sink->size + size > sink->capacity) {
        sink->capacity = sink->capacity ? 2 * sink->capacity : 65536;
        sink->data = realloc(sink->data, sink->capacity);
        assert_non_null(sink->data);
    }
    memcpy(sink->data + sink->size, data, size);
    sink->size += size;
    return MN_OK;
}

static void what_is_written_comes_back(void **state)
{
    (void)state;
    const char *seeds[] = {SEED("level_set_blosc.vdb"), SEED("fog_mask.vdb"),   SEED("inactive_zip.vdb"),
                           SEED("half_blosc.vdb"),      SEED("double_zip.vdb"), SEED("staggered_blosc.vdb"),
                           SEED("vec3d_half_mask.vdb"), SEED("instances.vdb"),  SEED("empty.vdb")};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        mn_geo *geo = read_seed(seeds[s]), *back;
        memory_sink first = {0}, second = {0};
        check_ok(ctx, mn_vdb_write(ctx, geo, take, &first));
        check_ok(ctx, mn_vdb_read_memory(ctx, first.data, first.size, "memory", &back));
        // The same grids give the same bytes, metadata included, so equal bytes mean that nothing was lost.
        check_ok(ctx, mn_vdb_write(ctx, back, take, &second));
        assert_int_equal(first.size, second.size);
        assert_memory_equal(first.data, second.data, first.size);
        if (mn_geo_hash(geo) != mn_geo_hash(back)) print_error("%s came back changed\n", seeds[s]);
        assert_true(mn_geo_hash(geo) == mn_geo_hash(back));
        for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
            const mn_volume a = mn_geo_volume(geo, i), b = mn_geo_volume(back, i);
            const mn_volume_info info = mn_volume_get_info(a), info_back = mn_volume_get_info(b);
            assert_memory_equal(&info.index_to_world, &info_back.index_to_world, sizeof info.index_to_world);
            assert_int_equal(info.kind, info_back.kind);
            for (uint64_t n = 0; n < 500; n++) {
                const mn_vec3 x = mn_scale(20, mn_random_unit3(1, n, 0));
                const mn_vec3 at = mn_m4_apply_point(info.index_to_world, x);
                double u[3] = {0}, v[3] = {0};
                a.ops->sample(a.handle, 1, &at, u);
                b.ops->sample(b.handle, 1, &at, v);
                assert_memory_equal(u, v, sizeof u);
            }
        }
        free(first.data);
        free(second.data);
        mn_geo_free(geo);
        mn_geo_free(back);
    }
}

static void names_and_places_of_handles_are_written(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("level_set_blosc.vdb")), *back;
    const mn_volume volume = mn_geo_volume(geo, 0);
    mn_volume moved = {volume.ops, NULL}, named = {volume.ops, NULL};
    const mn_mat4 motion = mn_m4_affine(mn_m3_rotation(mn_v3(10, 20, 30)), mn_v3(1, 2, 3));
    check_ok(ctx, volume.ops->transform(ctx, volume.handle, motion, &moved.handle));
    check_ok(ctx, volume.ops->rename(ctx, moved.handle, "collider", &named.handle));
    memory_sink sink = {0};
    check_ok(ctx, mn_vdb_write_volume(ctx, named, take, &sink));
    check_ok(ctx, mn_vdb_read_memory(ctx, sink.data, sink.size, "memory", &back));
    const mn_volume_info info = mn_volume_get_info(mn_geo_find_volume(back, "collider"));
    const mn_mat4 want = mn_volume_get_info(moved).index_to_world;
    for (int i = 0; i < 4; i++)
        for (int j = 0; j < 4; j++) check_close(info.index_to_world.m[i][j], want.m[i][j], 1e-15);
    free(sink.data);
    mn_volume_release(&moved);
    mn_volume_release(&named);
    mn_geo_free(geo);
    mn_geo_free(back);
}

static mn_status full_after_a_while(void *user, const void *data, size_t size)
{
    (void)data;
    size_t *left = user;
    if (size > *left) return mn_fail(ctx, MN_ERROR_IO, "disk full");
    *left -= size;
    return MN_OK;
}

static void a_failing_sink_stops_the_writing(void **state)
{
    (void)state;
    mn_geo *geo = read_seed(SEED("inactive_zip.vdb"));
    for (size_t room = 0; room < 14000; room += 1000) {
        size_t left = room;
        const mn_status status = mn_vdb_write(ctx, geo, full_after_a_while, &left);
        if (status == MN_OK) break;
        check_fails(ctx, status, MN_ERROR_IO, "disk full");
    }
    mn_geo_free(geo);
}

static void micrometre_voxels_do_not_fit_a_file(void **state)
{
    (void)state;
    const int32_t voxel[1][3] = {{0, 0, 0}};
    const double value[1] = {1};
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_voxels(ctx, "tiny", MN_VOLUME_FOG, 1e-6, 0, 1, 1, voxel, value, &volume));
    memory_sink sink = {0};
    check_fails(ctx, mn_vdb_write_volume(ctx, volume, take, &sink), MN_ERROR_UNSUPPORTED, "'tiny'");
    assert_int_equal(sink.size, 0);
    mn_volume_release(&volume);
}

/// Reads and gives back; any answer will do but a crash, a hang or a leak.
static mn_status try_read(const uint8_t *data, size_t size)
{
    const bytes exact = copy_bytes(data, size);
    mn_geo *geo;
    const mn_status status = mn_vdb_read_memory(ctx, exact.data, exact.size, "damaged", &geo);
    if (status == MN_OK)
        mn_geo_free(geo);
    else
        assert_null(geo);
    free(exact.data);
    return status;
}

static void cut_anywhere(void **state)
{
    (void)state;
    const char *seeds[] = {SEED("level_set_blosc.vdb"), SEED("inactive_zip.vdb"),
                           SEED("vec3d_half_mask.vdb")};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        const bytes whole = load_bytes(seeds[s]);
        // The middle is mostly masks, which are all alike.
        for (size_t size = 0; size < whole.size; size += size < 800 || size + 300 > whole.size ? 1 : 131) {
            const mn_status status = try_read(whole.data, size);
            if (status != MN_ERROR_FORMAT) print_error("%s cut to %zu\n", seeds[s], size);
            assert_int_equal(status, MN_ERROR_FORMAT);
        }
        free(whole.data);
    }
}

static void flipped_bits(void **state)
{
    (void)state;
    const char *seeds[] = {SEED("level_set_blosc.vdb"), SEED("inactive_zip.vdb"), SEED("staggered_blosc.vdb"),
                           SEED("instances.vdb")};
    for (size_t s = 0; s < sizeof seeds / sizeof *seeds; s++) {
        const bytes whole = load_bytes(seeds[s]);
        for (size_t at = 0; at < whole.size; at += at < 800 || at + 300 > whole.size ? 1 : 131) {
            const uint8_t was = whole.data[at];
            whole.data[at] ^= (uint8_t)(1u << (int)(8 * mn_random_unit(9, at, 0)));
            const mn_status status = try_read(whole.data, whole.size);
            assert_true(status == MN_OK || status == MN_ERROR_FORMAT || status == MN_ERROR_UNSUPPORTED);
            whole.data[at] = was;
        }
        free(whole.data);
    }
}

static void hostile_counts(void **state)
{
    (void)state;
    const bytes whole = load_bytes(SEED("fog_mask.vdb"));
    // Every aligned and unaligned 32-bit number of the head, made huge and negative.
    const uint32_t hostile[] = {0xffffffffu, 0x7fffffffu, 0x00ffffffu};
    for (size_t at = 8; at < 800; at++)
        for (size_t h = 0; h < sizeof hostile / sizeof *hostile; h++) {
            uint8_t was[4];
            memcpy(was, whole.data + at, 4);
            memcpy(whole.data + at, &hostile[h], 4);
            const mn_status status = try_read(whole.data, whole.size);
            assert_true(status == MN_OK || status == MN_ERROR_FORMAT || status == MN_ERROR_UNSUPPORTED);
            memcpy(whole.data + at, was, 4);
        }
    free(whole.data);
}

static void not_vdb_at_all(void **state)
{
    (void)state;
    mn_geo *geo;
    check_fails(ctx, mn_vdb_read_memory(ctx, "", 0, "x.vdb", &geo), MN_ERROR_FORMAT, "x.vdb");
    check_fails(ctx, mn_vdb_read_memory(ctx, "solid ball\n", 11, "x.vdb", &geo), MN_ERROR_FORMAT,
                "not an OpenVDB");
    check_fails(ctx, mn_vdb_read(ctx, "/nowhere/at/all.vdb", &geo), MN_ERROR_IO, "cannot open");
    bytes whole = load_bytes(SEED("empty.vdb"));
    whole.data[8] = 225; // one version more than there is
    check_fails(ctx, mn_vdb_read_memory(ctx, whole.data, whole.size, "x", &geo), MN_ERROR_UNSUPPORTED,
                "newer");
    whole.data[8] = 200;
    check_fails(ctx, mn_vdb_read_memory(ctx, whole.data, whole.size, "x", &geo), MN_ERROR_UNSUPPORTED,
                "before");
    free(whole.data);
}

static void what_a_vdb_cannot_hold(void **state)
{
    (void)state;
    char path[] = "/tmp/meniscus_vdb_XXXXXX.vdb";
    const int descriptor = mkstemps(path, 4);
    assert_true(descriptor >= 0);
    close(descriptor);
    mn_geo *geo = read_seed(SEED("level_set_blosc.vdb")), *more;
    check_ok(ctx, mn_io_write(ctx, path, geo));
    check_ok(ctx, mn_io_read(ctx, path, &more));
    assert_true(mn_geo_hash(geo) == mn_geo_hash(more));
    mn_geo_free(more);

    check_ok(ctx, mn_geo_copy(geo, &more));
    check_ok(ctx, mn_geo_add_points(more, 1, NULL));
    check_fails(ctx, mn_io_write(ctx, path, more), MN_ERROR_UNSUPPORTED, "points besides");
    mn_geo_free(more);

    mn_geo *mesh = sphere_mesh(ctx, mn_v3(0, 0, 0), 1, 4);
    check_fails(ctx, mn_io_write(ctx, path, mesh), MN_ERROR_UNSUPPORTED, "polygon");
    mn_geo_free(mesh);

    check_ok(ctx, mn_geo_copy(geo, &more));
    mn_attribute *attribute;
    check_ok(ctx, mn_geo_add_attribute(more, MN_PRIMITIVE, "name", MN_STRING, 1, MN_HINT_NONE, &attribute));
    check_fails(ctx, mn_io_write(ctx, path, more), MN_ERROR_UNSUPPORTED, "'name'");
    check_ok(ctx, mn_attribute_set_string(more, attribute, 0, 0, "surface"));
    check_ok(ctx, mn_io_write(ctx, path, more)); // says again what the volume is called
    check_ok(ctx, mn_geo_add_attribute(more, MN_DETAIL, "time", MN_F32, 1, MN_HINT_NONE, &attribute));
    check_fails(ctx, mn_io_write(ctx, path, more), MN_ERROR_UNSUPPORTED, "detail attribute 'time'");
    mn_geo_free(more);

    check_ok(ctx, mn_geo_copy(geo, &more));
    mn_group *group;
    check_ok(ctx, mn_geo_add_group(more, MN_PRIMITIVE, "colliders", &group));
    check_fails(ctx, mn_io_write(ctx, path, more), MN_ERROR_UNSUPPORTED, "group 'colliders'");
    mn_geo_free(more);

    // The refusals left the file that was there before.
    check_ok(ctx, mn_io_read(ctx, path, &more));
    mn_geo_free(more);
    mn_geo_free(geo);
    unlink(path);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(level_set_of_openvdb),
        cmocka_unit_test(scalar_grids_of_openvdb),
        cmocka_unit_test(inactive_values_and_tiles),
        cmocka_unit_test(vector_grids_of_openvdb),
        cmocka_unit_test(shared_trees_and_equal_names),
        cmocka_unit_test(other_grids_are_refused_by_name),
        cmocka_unit_test(what_is_written_comes_back),
        cmocka_unit_test(names_and_places_of_handles_are_written),
        cmocka_unit_test(a_failing_sink_stops_the_writing),
        cmocka_unit_test(micrometre_voxels_do_not_fit_a_file),
        cmocka_unit_test(cut_anywhere),
        cmocka_unit_test(flipped_bits),
        cmocka_unit_test(hostile_counts),
        cmocka_unit_test(not_vdb_at_all),
        cmocka_unit_test(what_a_vdb_cannot_hold),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
