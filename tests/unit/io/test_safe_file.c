// SPDX-License-Identifier: Apache-2.0
//
// A safe file is whole or not there: after commit the new bytes, after anything else the old ones, and never
// a stray part beside it.
#define _GNU_SOURCE
#include "plugin/io/io.h"
#include "support/check.h"

#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct fixture {
    mn_context *ctx;
    char folder[64];
    char path[128];
} fixture;

static int set_up(void **state)
{
    fixture *f = calloc(1, sizeof *f);
    f->ctx = mn_context_create(NULL);
    strcpy(f->folder, "/tmp/meniscus-safe-XXXXXX");
    if (!mkdtemp(f->folder)) return 1;
    snprintf(f->path, sizeof f->path, "%s/drop.0001.bgeo", f->folder);
    *state = f;
    return 0;
}

static int tear_down(void **state)
{
    fixture *f = *state;
    (void)chmod(f->folder, 0700);
    (void)unlink(f->path);
    assert_int_equal(rmdir(f->folder), 0); // fails when a part is left behind
    mn_context_free(f->ctx);
    free(f);
    return 0;
}

static void write_whole(fixture *f, const char *text)
{
    mn_safe_file *file;
    check_ok(f->ctx, mn_safe_file_open(f->ctx, f->path, &file));
    check_ok(f->ctx, mn_safe_file_write(file, text, strlen(text)));
    check_ok(f->ctx, mn_safe_file_commit(file));
}

static void check_holds(fixture *f, const char *text)
{
    char bytes[64] = {0};
    FILE *file = fopen(f->path, "rb");
    assert_non_null(file);
    assert_int_equal(fread(bytes, 1, sizeof bytes - 1, file), strlen(text));
    fclose(file);
    assert_string_equal(bytes, text);
}

static void commit_puts_the_file_in_place(void **state)
{
    fixture *f = *state;
    write_whole(f, "one");
    check_holds(f, "one");
    write_whole(f, "two");
    check_holds(f, "two");
}

static void many_sizes_arrive_in_order(void **state)
{
    fixture *f = *state;
    enum { SIZE = 5 << 20 };
    unsigned char *bytes = malloc(SIZE), *back = malloc(SIZE);
    for (int i = 0; i < SIZE; i++) bytes[i] = (unsigned char)(i * 2654435761u >> 24);
    mn_safe_file *file;
    check_ok(f->ctx, mn_safe_file_open(f->ctx, f->path, &file));
    size_t at = 0;
    for (size_t piece = 0; at < SIZE; piece = piece * 3 + 1) {
        const size_t size = piece < SIZE - at ? piece : SIZE - at;
        check_ok(f->ctx, mn_safe_file_write(file, bytes + at, size));
        at += size;
    }
    check_ok(f->ctx, mn_safe_file_commit(file));
    FILE *in = fopen(f->path, "rb");
    assert_int_equal(fread(back, 1, SIZE, in), SIZE);
    assert_int_equal(fgetc(in), EOF);
    fclose(in);
    assert_memory_equal(bytes, back, SIZE);
    free(bytes);
    free(back);
}

static void abandon_keeps_the_old_file(void **state)
{
    fixture *f = *state;
    write_whole(f, "old");
    mn_safe_file *file;
    check_ok(f->ctx, mn_safe_file_open(f->ctx, f->path, &file));
    check_ok(f->ctx, mn_safe_file_write(file, "new", 3));
    mn_safe_file_abandon(file);
    check_holds(f, "old");
    mn_safe_file_abandon(NULL);
}

/// RLIMIT_FSIZE stands in for a full disk: write(2) fails half-way in the same manner.
static void full_disk_keeps_the_old_file(void **state)
{
    fixture *f = *state;
    write_whole(f, "old");
    signal(SIGXFSZ, SIG_IGN);
    struct rlimit before, small;
    getrlimit(RLIMIT_FSIZE, &before);
    small = before;
    small.rlim_cur = 3 << 20;
    setrlimit(RLIMIT_FSIZE, &small);
    char *bytes = calloc(1, 1 << 16);
    mn_safe_file *file;
    check_ok(f->ctx, mn_safe_file_open(f->ctx, f->path, &file));
    mn_status status = MN_OK;
    for (int i = 0; i < 1024 && status == MN_OK; i++) status = mn_safe_file_write(file, bytes, 1 << 16);
    check_fails(f->ctx, status, MN_ERROR_IO, "drop.0001.bgeo: cannot write");
    // The failure stays, also when the caller goes on.
    assert_int_equal(mn_safe_file_write(file, bytes, 1), MN_ERROR_IO);
    assert_int_equal(mn_safe_file_commit(file), MN_ERROR_IO);
    setrlimit(RLIMIT_FSIZE, &before);
    signal(SIGXFSZ, SIG_DFL);
    free(bytes);
    check_holds(f, "old");
}

static void what_cannot_be_written_says_why(void **state)
{
    fixture *f = *state;
    mn_safe_file *file;
    char path[256];
    snprintf(path, sizeof path, "%s/missing/x.geo", f->folder);
    check_fails(f->ctx, mn_safe_file_open(f->ctx, path, &file), MN_ERROR_IO, "make the folder first");
    assert_null(file);
    check_fails(f->ctx, mn_safe_file_open(f->ctx, f->folder, &file), MN_ERROR_IO, "this is a folder");
    check_fails(f->ctx, mn_safe_file_open(f->ctx, "/dev/null", &file), MN_ERROR_IO, "a device or pipe");
    // Root may write anywhere, so become nobody for a moment.
    const uid_t user = geteuid();
    chmod(f->folder, 0500);
    if (user == 0) assert_int_equal(seteuid(65534), 0);
    const mn_status status = mn_safe_file_open(f->ctx, f->path, &file);
    if (user == 0) assert_int_equal(seteuid(0), 0);
    check_fails(f->ctx, status, MN_ERROR_IO, "permissions");
}

static void two_writers_of_one_target_are_kept_apart(void **state)
{
    fixture *f = *state;
    mn_safe_file *first, *second;
    check_ok(f->ctx, mn_safe_file_open(f->ctx, f->path, &first));
    check_fails(f->ctx, mn_safe_file_open(f->ctx, f->path, &second), MN_ERROR_IO, "another process");
    check_ok(f->ctx, mn_safe_file_write(first, "one", 3));
    check_ok(f->ctx, mn_safe_file_commit(first));
    check_holds(f, "one");
}

/// The next writer takes over what a killed one left.
static void killed_writer_leaves_no_litter(void **state)
{
    fixture *f = *state;
    write_whole(f, "old");
    const pid_t child = fork();
    if (child == 0) {
        mn_safe_file *file;
        if (mn_safe_file_open(f->ctx, f->path, &file) != MN_OK) _exit(1);
        static char bytes[2 << 20];
        mn_safe_file_write(file, bytes, sizeof bytes);
        kill(getpid(), SIGKILL);
    }
    int status;
    waitpid(child, &status, 0);
    assert_true(WIFSIGNALED(status));
    check_holds(f, "old");
    write_whole(f, "new");
    check_holds(f, "new");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
        TEST(commit_puts_the_file_in_place),   TEST(many_sizes_arrive_in_order),
        TEST(abandon_keeps_the_old_file),      TEST(full_disk_keeps_the_old_file),
        TEST(what_cannot_be_written_says_why), TEST(two_writers_of_one_target_are_kept_apart),
        TEST(killed_writer_leaves_no_litter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
