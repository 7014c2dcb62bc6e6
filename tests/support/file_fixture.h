// SPDX-License-Identifier: Apache-2.0
//
// A context and a path of its own for each test that writes a file; every warning is kept. Afterwards the
// file is gone and nothing is held.
//
//   cmocka_unit_test_setup_teardown(a_test, set_up, tear_down)
#ifndef MENISCUS_TESTS_SUPPORT_FILE_FIXTURE_H
#define MENISCUS_TESTS_SUPPORT_FILE_FIXTURE_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "meniscus/context.h"
#include "support/check.h"

typedef struct fixture {
    mn_context *ctx;
    char path[64];
    char log[4096]; ///< every warning, one per line
} fixture;

static inline void keep_log(void *user, mn_log_level level, const char *sentence)
{
    fixture *f = (fixture *)user;
    assert_int_equal(level, MN_LOG_WARNING);
    strncat(f->log, sentence, sizeof f->log - strlen(f->log) - 1);
    strncat(f->log, "\n", sizeof f->log - strlen(f->log) - 1);
}

/// The bytes of a file; free() gives them back.
static inline void *load_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "rb");
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    *size = (size_t)ftell(file);
    rewind(file);
    void *bytes = malloc(*size);
    assert_int_equal(fread(bytes, 1, *size, file), *size);
    fclose(file);
    return bytes;
}

static inline int set_up(void **state)
{
    fixture *f = (fixture *)calloc(1, sizeof *f);
    mn_hooks hooks = {0};
    hooks.user = f;
    hooks.log = keep_log;
    f->ctx = mn_context_create(&hooks);
    snprintf(f->path, sizeof f->path, "/tmp/meniscus-test-%d", (int)getpid());
    *state = f;
    return 0;
}

static inline int tear_down(void **state)
{
    fixture *f = (fixture *)*state;
    (void)unlink(f->path);
    assert_int_equal(mn_context_bytes(f->ctx), 0);
    mn_context_free(f->ctx);
    free(f);
    return 0;
}

#endif
