// SPDX-License-Identifier: Apache-2.0
//
// .geo, .bgeo, .bgeo.gz and .bgeo.sc: what is written comes back bit for bit, and equal geometry gives equal
// bytes.
#define _GNU_SOURCE
#include "plugin/io/io.h"
#include "random_geometry.h"
#include "support/file_fixture.h"

#include <locale.h>
#include <unistd.h>

static const mn_format formats[] = {MN_FORMAT_GEO, MN_FORMAT_BGEO, MN_FORMAT_BGEO_GZ, MN_FORMAT_BGEO_SC};

static mn_geo *through(fixture *f, mn_format format, const mn_geo *geo)
{
    size_t size;
    mn_geo *back;
    check_ok(f->ctx, mn_io_write_as(f->ctx, f->path, format, geo));
    void *bytes = load_file(f->path, &size);
    check_ok(f->ctx, mn_io_read_memory(f->ctx, format, bytes, size, "test", &back));
    free(bytes);
    return back;
}

static void random_geometry_comes_back_bit_for_bit(void **state)
{
    fixture *f = *state;
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++)
        for (uint64_t seed = 0; seed < 25; seed++) {
            mn_geo *geo = random_geometry(f->ctx, seed, (int64_t)(seed * seed * seed) / 4); // 0 to 3456
            mn_geo *back = through(f, formats[i], geo);
            assert_true(mn_geo_hash(back) == mn_geo_hash(geo));
            mn_geo_free(geo);
            mn_geo_free(back);
        }
    assert_string_equal(f->log, "");
}

/// Read through the file, in pieces of its buffer, and not only from memory.
static void long_files_come_back_from_disk(void **state)
{
    fixture *f = *state;
    mn_geo *geo = random_geometry(f->ctx, 1, 100000);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        char path[128];
        mn_geo *back;
        snprintf(path, sizeof path, "%s.%s", f->path, mn_format_ending(formats[i]));
        check_ok(f->ctx, mn_io_write(f->ctx, path, geo));
        check_ok(f->ctx, mn_io_read(f->ctx, path, &back));
        assert_true(mn_geo_hash(back) == mn_geo_hash(geo));
        mn_geo_free(back);
        unlink(path);
    }
    mn_geo_free(geo);
}

static void nan_stays_nan_and_exact_in_binary(void **state)
{
    fixture *f = *state;
    mn_geo *geo;
    check_ok(f->ctx, mn_geo_create(f->ctx, &geo));
    check_ok(f->ctx, mn_geo_add_points(geo, 2, NULL));
    const uint32_t bits[6] = {0x7fc00001, 0xffc12345, 0, 0x3f800000, 0, 0};
    memcpy(mn_geo_write_positions(geo), bits, sizeof bits);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        mn_geo *back = through(f, formats[i], geo);
        const float *p = mn_geo_positions(back);
        assert_true(isnan(p[0]) && isnan(p[1]) && p[2] == 0);
        if (formats[i] != MN_FORMAT_GEO) assert_memory_equal(p, bits, sizeof bits);
        mn_geo_free(back);
    }
    mn_geo_free(geo);
}

/// The same bytes from a copy, from what was read back, with other workers, and in another language.
static void bytes_depend_on_the_geometry_alone(void **state)
{
    fixture *f = *state;
    const mn_hooks one_worker = {.max_workers = 1};
    mn_context *other = mn_context_create(&one_worker);
    for (size_t i = 0; i < sizeof formats / sizeof *formats; i++) {
        mn_geo *geo = random_geometry(f->ctx, 7, 60000), *back = through(f, formats[i], geo);
        size_t size, again_size;
        void *bytes = load_file(f->path, &size);
        check_ok(other, mn_io_write_as(other, f->path, formats[i], back));
        void *again = load_file(f->path, &again_size);
        assert_int_equal(size, again_size);
        assert_memory_equal(bytes, again, size);
        free(bytes);
        free(again);
        mn_geo_free(geo);
        mn_geo_free(back);
    }
    mn_context_free(other);
}

static void the_hosts_language_does_not_matter(void **state)
{
    fixture *f = *state;
    if (!setlocale(LC_ALL, "de_DE.UTF-8") && !setlocale(LC_ALL, "fr_FR.UTF-8")) {
        print_message("note: no language with a decimal comma is installed; this is not tested\n");
        return;
    }
    mn_geo *geo = random_geometry(f->ctx, 3, 20), *back = through(f, MN_FORMAT_GEO, geo);
    assert_true(mn_geo_hash(back) == mn_geo_hash(geo));
    assert_true(localeconv()->decimal_point[0] == ',');
    setlocale(LC_ALL, "C");
    mn_geo_free(geo);
    mn_geo_free(back);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        TEST(random_geometry_comes_back_bit_for_bit), TEST(long_files_come_back_from_disk),
        TEST(nan_stays_nan_and_exact_in_binary),      TEST(bytes_depend_on_the_geometry_alone),
        TEST(the_hosts_language_does_not_matter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
