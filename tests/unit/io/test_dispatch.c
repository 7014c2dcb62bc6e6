// SPDX-License-Identifier: Apache-2.0
//
// Formats by ending, files whose first bytes say something else, and writing that cannot be done: the old
// file stays.
#define _GNU_SOURCE
#include "base/random.h"
#include "plugin/io/io.h"
#include "plugin/vdb/vdb.h"
#include "random_geometry.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

static void endings_name_formats(void **state)
{
    (void)state;
    static const struct {
        const char *path;
        mn_format format;
    } cases[] = {{"a/b.0001.bgeo.sc", MN_FORMAT_BGEO_SC},
                 {"x.bgeo.gz", MN_FORMAT_BGEO_GZ},
                 {"X.BGEO", MN_FORMAT_BGEO},
                 {"geo", MN_FORMAT_GEO},
                 {"bgeo.sc", MN_FORMAT_BGEO_SC},
                 {"d.obj", MN_FORMAT_OBJ},
                 {"d.ply", MN_FORMAT_PLY},
                 {"d.vdb", MN_FORMAT_VDB}};
    mn_format format;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        assert_true(mn_format_from_path(cases[i].path, &format));
        assert_int_equal(format, cases[i].format);
    }
    assert_true(mn_format_from_name("usd", &format) && format == MN_FORMAT_USD);
    assert_true(mn_format_from_name("bgeo.sc", &format) && format == MN_FORMAT_BGEO_SC);
    assert_false(mn_format_from_name("a.ply", &format));
    assert_false(mn_format_from_name("/ply", &format));
    assert_false(mn_format_from_name("", &format));
    assert_false(mn_format_from_path("ageo", &format));
    assert_false(mn_format_from_path("a.geo.txt", &format));
    assert_false(mn_format_from_path("", &format));
    for (int i = 0; i < MN_FORMAT_COUNT; i++) {
        assert_true(mn_format_from_path(mn_format_ending((mn_format)i), &format));
        assert_int_equal(format, i == MN_FORMAT_PLY_ASCII ? MN_FORMAT_PLY : (mn_format)i);
    }
}

static void first_bytes_of_another_format_are_said(void **state)
{
    (void)state;
    static const struct {
        mn_format asked;
        const char *bytes;
        size_t size;
        const char *part;
    } cases[] = {
        {MN_FORMAT_BGEO, "  [\"fileversion\"", 16, "holds text geometry (.geo), not .bgeo"},
        {MN_FORMAT_GEO, "\x7fNSJb[", 6, "holds binary geometry (.bgeo), not .geo"},
        {MN_FORMAT_BGEO, "scf1\0\0\0\0\0\0\0\0", 12, "give it the ending .bgeo.sc"},
        {MN_FORMAT_BGEO_SC, "\x1f\x8b\x08", 3, "give it the ending .bgeo.gz"},
        {MN_FORMAT_BGEO, " BDV\0\0\0\0", 8, "an OpenVDB file"},
        {MN_FORMAT_OBJ, "ply\nformat", 10, "a PLY file"},
        {MN_FORMAT_PLY, "\x7fNSJb[", 6, "binary geometry"},
        {MN_FORMAT_VDB, "[1]", 3, "text geometry"},
        {MN_FORMAT_BGEO, "", 0, "the file is empty"},
    };
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        check_fails(ctx, mn_io_read_memory(ctx, cases[i].asked, cases[i].bytes, cases[i].size, "x", &geo),
                    MN_ERROR_FORMAT, cases[i].part);
    check_fails(ctx, mn_io_read_memory(ctx, MN_FORMAT_BGEO, "BgeoV\0\0\0\5", 9, "x", &geo),
                MN_ERROR_UNSUPPORTED, "Houdini 11 or older");
    mn_context_free(ctx);
}

static void what_is_not_there_is_said(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_fails(ctx, mn_io_read(ctx, "/tmp/no such folder/a.bgeo", &geo), MN_ERROR_NOT_FOUND, "cannot open");
    check_fails(ctx, mn_io_read(ctx, "/tmp/a.txt", &geo), MN_ERROR_UNSUPPORTED, "use .geo .bgeo");
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_fails(ctx, mn_io_write(ctx, "/tmp/a.txt", geo), MN_ERROR_UNSUPPORTED, "use .geo .bgeo");
    check_fails(ctx, mn_io_write(ctx, "/tmp/no such folder/a.bgeo", geo), MN_ERROR_IO,
                "make the folder first");
    mn_geo_free(geo);
    mn_context_free(ctx);
}

/// RLIMIT_FSIZE stands in for a full disk.
static void a_full_disk_leaves_the_old_file(void **state)
{
    (void)state;
    static const char *const endings[] = {"geo", "bgeo", "bgeo.gz", "bgeo.sc"};
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *small = random_geometry(ctx, 1, 10), *large = random_geometry(ctx, 2, 50000);
    struct rlimit before, limit;
    getrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_IGN);
    for (int i = 0; i < 4; i++) {
        char path[64], part[64];
        mn_geo *back;
        snprintf(path, sizeof path, "/tmp/meniscus-full-%d.%s", (int)getpid(), endings[i]);
        snprintf(part, sizeof part, "/tmp/.meniscus-full-%d.%s.part", (int)getpid(), endings[i]);
        check_ok(ctx, mn_io_write(ctx, path, small));
        limit = before;
        limit.rlim_cur = 1 << 20;
        setrlimit(RLIMIT_FSIZE, &limit);
        const mn_status status = mn_io_write(ctx, path, large);
        setrlimit(RLIMIT_FSIZE, &before);
        check_fails(ctx, status, MN_ERROR_IO, "cannot write");
        assert_int_not_equal(access(part, F_OK), 0);
        check_ok(ctx, mn_io_read(ctx, path, &back));
        assert_true(mn_geo_hash(back) == mn_geo_hash(small));
        mn_geo_free(back);
        unlink(path);
    }
    signal(SIGXFSZ, SIG_DFL);
    mn_geo_free(small);
    mn_geo_free(large);
    mn_context_free(ctx);
}

typedef struct cutter {
    const char *path;
    int questions;
} cutter;

/// Points that do not compress, so that every format needs megabytes for them.
static void make_noisy_cloud(mn_context *ctx, int64_t count, mn_geo **geo)
{
    check_ok(ctx, mn_geo_create(ctx, geo));
    check_ok(ctx, mn_geo_add_points(*geo, count, NULL));
    float *x = mn_geo_write_positions(*geo);
    for (int64_t i = 0; i < 3 * count; i++) x[i] = (float)mn_random_unit(1, (uint64_t)i, 0);
}

static void make_noisy_grid(mn_context *ctx, int32_t side, mn_geo **geo)
{
    const int32_t size[3] = {side, side, side};
    const size_t count = (size_t)side * (size_t)side * (size_t)side;
    float *values = malloc(count * sizeof *values);
    for (size_t i = 0; i < count; i++) values[i] = (float)mn_random_unit(2, i, 0);
    mn_volume volume;
    check_ok(ctx, mn_vdb_from_dense(ctx, "density", MN_VOLUME_FOG,
                                    mn_m4_affine(mn_m3_diagonal(1, 1, 1), mn_v3(0, 0, 0)), 0, 1, size, values,
                                    &volume));
    check_ok(ctx, mn_geo_create(ctx, geo));
    check_ok(ctx, mn_geo_add_volume(*geo, volume, -1, NULL));
    mn_volume_release(&volume);
    free(values);
}

/// Asked between the pieces of a file: after the first, another process has cut it short.
static bool cut_the_file(void *user)
{
    cutter *c = user;
    if (c->questions++ == 1) assert_int_equal(truncate(c->path, 1 << 20), 0);
    return false;
}

static void a_file_cut_while_it_is_read_is_an_error(void **state)
{
    (void)state;
    const char *const endings[] = {"obj", "ply", "vdb", "bgeo", "bgeo.sc", "geo"};
    mn_context *plain = mn_context_create(NULL);
    mn_geo *cloud, *grid;
    make_noisy_cloud(plain, 400000, &cloud);
    make_noisy_grid(plain, 100, &grid);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        char path[64];
        snprintf(path, sizeof path, "/tmp/meniscus-cut-%d.%s", (int)getpid(), endings[i]);
        check_ok(plain, mn_io_write(plain, path, strcmp(endings[i], "vdb") == 0 ? grid : cloud));
        cutter c = {path, 0};
        const mn_hooks hooks = {.user = &c, .cancelled = cut_the_file, .max_workers = 1};
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo;
        check_fails(ctx, mn_io_read(ctx, path, &geo), MN_ERROR_FORMAT, "");
        assert_true(c.questions > 1 && !geo);
        assert_int_equal(mn_context_bytes(ctx), 0);
        mn_context_free(ctx);
        unlink(path);
    }
    mn_geo_free(cloud);
    mn_geo_free(grid);
    mn_context_free(plain);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(endings_name_formats),
        cmocka_unit_test(first_bytes_of_another_format_are_said),
        cmocka_unit_test(what_is_not_there_is_said),
        cmocka_unit_test(a_full_disk_leaves_the_old_file),
        cmocka_unit_test(a_file_cut_while_it_is_read_is_an_error),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
