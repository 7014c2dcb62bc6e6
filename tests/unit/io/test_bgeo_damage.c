// SPDX-License-Identifier: Apache-2.0
//
// Files that are truncated, altered, hostile or endless, and memory that runs out: a status and a sentence,
// nothing leaked, nothing read or written out of bounds (under the address sanitizer).
#define _GNU_SOURCE
#include "plugin/io/io.h"
#include "random_geometry.h"
#include "support/failing_allocator.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

static const mn_format formats[] = {MN_FORMAT_GEO, MN_FORMAT_BGEO, MN_FORMAT_BGEO_GZ, MN_FORMAT_BGEO_SC};
enum { FORMATS = sizeof formats / sizeof *formats };

typedef struct file {
    uint8_t *bytes;
    size_t size;
} file;

static file files[FORMATS]; ///< the same small geometry in every format
static uint64_t whole_hash;

static int write_files(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/meniscus-damage-%d", (int)getpid());
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = random_geometry(ctx, 5, 4);
    whole_hash = mn_geo_hash(geo);
    for (int i = 0; i < FORMATS; i++) {
        check_ok(ctx, mn_io_write_as(ctx, path, formats[i], geo));
        FILE *in = fopen(path, "rb");
        fseek(in, 0, SEEK_END);
        files[i].size = (size_t)ftell(in);
        rewind(in);
        files[i].bytes = malloc(files[i].size);
        assert_int_equal(fread(files[i].bytes, 1, files[i].size, in), files[i].size);
        fclose(in);
    }
    unlink(path);
    mn_geo_free(geo);
    mn_context_free(ctx);
    return 0;
}

static int free_files(void **state)
{
    (void)state;
    for (int i = 0; i < FORMATS; i++) free(files[i].bytes);
    return 0;
}

/// Reads and says whether it is whole; a failure must come with a sentence that begins with the name.
static mn_status try_read(mn_format format, const uint8_t *bytes, size_t size, uint64_t *hash)
{
    const mn_hooks hooks = {.max_workers = 1}; // thousands of tiny reads
    mn_context *ctx = mn_context_create(&hooks);
    // An exact copy, so that one byte too far is seen.
    uint8_t *copy = malloc(size ? size : 1);
    memcpy(copy, bytes, size);
    mn_geo *geo;
    const mn_status status = mn_io_read_memory(ctx, format, copy, size, "test", &geo);
    if (status == MN_OK) {
        if (hash) *hash = mn_geo_hash(geo);
        mn_geo_free(geo);
    } else {
        assert_null(geo);
        assert_true(mn_context_message(ctx)[0] != '\0');
        if (status != MN_ERROR_MEMORY && status != MN_ERROR_INPUT)
            assert_memory_equal(mn_context_message(ctx), "test: ", 6);
    }
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
    free(copy);
    return status;
}

/// Every byte of small files, every third of long ones: reading them over and over costs the square.
static size_t stride(size_t size)
{
    return size > 4096 ? 3 : 1;
}

static void a_file_cut_anywhere_is_refused(void **state)
{
    (void)state;
    for (int i = 0; i < FORMATS; i++) {
        uint64_t hash = 0;
        assert_int_equal(try_read(formats[i], files[i].bytes, files[i].size, &hash), MN_OK);
        assert_true(hash == whole_hash);
        // The last byte of text is a newline, which may go.
        const size_t end = files[i].size - (formats[i] == MN_FORMAT_GEO);
        for (size_t size = 0; size < end; size += stride(files[i].size))
            assert_int_not_equal(try_read(formats[i], files[i].bytes, size, NULL), MN_OK);
    }
}

/// Bits of numbers may flip unnoticed; where the format has sums of its own they must not.
static void altered_bits_do_no_harm(void **state)
{
    (void)state;
    for (int i = 0; i < FORMATS; i++) {
        uint8_t *bytes = malloc(files[i].size);
        memcpy(bytes, files[i].bytes, files[i].size);
        for (size_t at = 0; at < files[i].size; at += stride(files[i].size)) {
            // Every bit of small files, a different one of each third byte of long ones.
            for (int bit = 0; bit < 8; bit++) {
                if (files[i].size > 4096 && bit != (int)(at % 8)) continue;
                uint64_t hash = 0;
                bytes[at] ^= (uint8_t)(1 << bit);
                const mn_status status = try_read(formats[i], bytes, files[i].size, &hash);
                bytes[at] ^= (uint8_t)(1 << bit);
                // gzip's header has bits that mean nothing; behind it the check sum sees all.
                if (formats[i] == MN_FORMAT_BGEO_GZ && status == MN_OK) assert_true(hash == whole_hash);
            }
        }
        free(bytes);
    }
}

static void random_noise_is_refused(void **state)
{
    (void)state;
    random_source r = {1234567};
    for (int n = 0; n < 2000; n++) {
        uint8_t noise[512];
        const size_t size = (size_t)random_below(&r, sizeof noise);
        for (size_t i = 0; i < size; i++) noise[i] = (uint8_t)random_next(&r);
        for (int i = 0; i < FORMATS; i++) {
            // Behind the right beginning, to get further.
            uint8_t bytes[sizeof noise + 16];
            const size_t head = formats[i] == MN_FORMAT_BGEO_SC ? 12 : formats[i] == MN_FORMAT_BGEO ? 6 : 2;
            memcpy(bytes, files[i].bytes, head);
            memcpy(bytes + head, noise, size);
            assert_int_not_equal(try_read(formats[i], bytes, head + size, NULL), MN_OK);
        }
    }
}

/// Every allocation fails in turn, in reading and in writing.
static void running_out_of_memory_is_survived(void **state)
{
    (void)state;
    char path[64];
    snprintf(path, sizeof path, "/tmp/meniscus-memory-%d", (int)getpid());
    for (int i = 0; i < FORMATS; i++) {
        for (int64_t n = 0;; n++) {
            failing_allocator memory = {.fail_at = n};
            const mn_hooks hooks = failing_hooks(&memory);
            mn_context *ctx = mn_context_create(&hooks);
            if (ctx) {
                mn_geo *geo = NULL;
                mn_status status =
                    mn_io_read_memory(ctx, formats[i], files[i].bytes, files[i].size, "test", &geo);
                if (status == MN_OK) status = mn_io_write_as(ctx, path, formats[i], geo);
                assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
                mn_geo_free(geo);
                mn_context_free(ctx);
            }
            assert_int_equal(memory.held, 0);
            if (!memory.failed) break;
        }
    }
    unlink(path);
}

static void names_of_a_megabyte_are_refused(void **state)
{
    (void)state;
    enum { LENGTH = 1 << 20 };
    char *text = malloc(LENGTH + 4096), *at = text;
    at += sprintf(at, "[\"pointcount\",0,\"vertexcount\",0,\"primitivecount\",0,\"topology\",[\"pointref\",["
                      "\"indices\",[]]],"
                      "\"attributes\",[\"pointattributes\",[[[\"type\",\"numeric\",\"name\",\"");
    memset(at, 'n', LENGTH);
    sprintf(at + LENGTH, "\"],[]]]],\"primitives\",[]]");
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_fails(ctx, mn_io_read_memory(ctx, MN_FORMAT_GEO, text, strlen(text), "test", &geo), MN_ERROR_FORMAT,
                "name of an attribute is 1048576 bytes long");
    mn_context_free(ctx);
    free(text);
}

static void a_million_levels_are_refused(void **state)
{
    (void)state;
    enum { LEVELS = 1000000 };
    char *text = malloc(LEVELS + 32);
    sprintf(text, "[\"info\",");
    memset(text + 8, '[', LEVELS);
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_fails(ctx, mn_io_read_memory(ctx, MN_FORMAT_GEO, text, LEVELS, "test", &geo), MN_ERROR_FORMAT,
                "256 levels");
    mn_context_free(ctx);
    free(text);
}

/// Pipes and devices never end; they are refused before the first byte.
static void endless_files_are_refused(void **state)
{
    (void)state;
    char path[64], link[80];
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    snprintf(path, sizeof path, "/tmp/meniscus-pipe-%d.bgeo", (int)getpid());
    assert_int_equal(mkfifo(path, 0600), 0);
    check_fails(ctx, mn_io_read(ctx, path, &geo), MN_ERROR_IO, "a device or pipe");
    unlink(path);
    snprintf(link, sizeof link, "/tmp/meniscus-zero-%d.bgeo", (int)getpid());
    assert_int_equal(symlink("/dev/zero", link), 0);
    check_fails(ctx, mn_io_read(ctx, link, &geo), MN_ERROR_IO, "a device or pipe");
    unlink(link);
    mn_context_free(ctx);
}

static bool always(void *user)
{
    (void)user;
    return true;
}

static void cancel_stops_a_read(void **state)
{
    (void)state;
    const mn_hooks hooks = {.cancelled = always};
    mn_context *ctx = mn_context_create(&hooks);
    mn_geo *geo;
    check_fails(ctx, mn_io_read_memory(ctx, MN_FORMAT_GEO, files[0].bytes, files[0].size, "test", &geo),
                MN_ERROR_CANCELLED, "Cancelled");
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_file_cut_anywhere_is_refused),
        cmocka_unit_test(altered_bits_do_no_harm),
        cmocka_unit_test(random_noise_is_refused),
        cmocka_unit_test(running_out_of_memory_is_survived),
        cmocka_unit_test(names_of_a_megabyte_are_refused),
        cmocka_unit_test(a_million_levels_are_refused),
        cmocka_unit_test(endless_files_are_refused),
        cmocka_unit_test(cancel_stops_a_read),
    };
    return cmocka_run_group_tests(tests, write_files, free_files);
}
