// SPDX-License-Identifier: Apache-2.0
//
// One read of a fuzzed file, in bounded memory.
#ifndef MENISCUS_TESTS_FUZZ_FUZZ_READ_H
#define MENISCUS_TESTS_FUZZ_FUZZ_READ_H

#include <stdint.h>
#include <stdlib.h>

#include "plugin/io/io.h"

enum { FUZZ_MEMORY = 256 << 20 };

/// As much as a file may legitimately unfold to here; beyond it memory is out.
static inline void *fuzz_allocate(void *user, size_t size)
{
    size_t *held = (size_t *)user;
    if (size > FUZZ_MEMORY - *held) return NULL;
    *held += size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static inline void fuzz_release(void *user, void *memory, size_t size)
{
    *(size_t *)user -= size;
    free(memory);
}

static inline void fuzz_read(mn_format format, const uint8_t *data, size_t size)
{
    size_t held = 0;
    const mn_hooks hooks = {
        .user = &held, .allocate = fuzz_allocate, .release = fuzz_release, .max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_geo *geo;
    const mn_status status = mn_io_read_memory(ctx, format, data, size, "fuzz", &geo);
    // A failure has a sentence and no geometry; a success can be walked over.
    if (status == MN_OK ? geo == NULL : geo != NULL || !mn_context_message(ctx)[0]) abort();
    if (geo) (void)mn_geo_hash(geo);
    mn_geo_free(geo);
    mn_context_free(ctx);
    if (held != 0) abort();
}

#endif
