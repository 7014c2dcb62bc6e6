// SPDX-License-Identifier: Apache-2.0
//
// Whole files as bytes in memory, and what hostile ones are made of.
#ifndef MENISCUS_TESTS_SUPPORT_BYTES_H
#define MENISCUS_TESTS_SUPPORT_BYTES_H

#include "support/check.h"

typedef struct bytes {
    uint8_t *data;
    size_t size;
} bytes;

static inline bytes load_bytes(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (!file) print_error("%s is missing\n", path);
    assert_non_null(file);
    fseek(file, 0, SEEK_END);
    bytes b = {NULL, (size_t)ftell(file)};
    rewind(file);
    b.data = malloc(b.size + 1);
    assert_non_null(b.data);
    assert_int_equal(fread(b.data, 1, b.size, file), b.size);
    fclose(file);
    return b;
}

/// A copy of just this size, so that the address sanitizer sees a read past its end.
static inline bytes copy_bytes(const void *data, size_t size)
{
    bytes b = {malloc(size ? size : 1), size};
    assert_non_null(b.data);
    if (size) memcpy(b.data, data, size);
    return b;
}

#endif
