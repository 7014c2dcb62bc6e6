// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as an .stl file: a geometry or a sentence, and nothing left behind.
#include <stdint.h>
#include <stdlib.h>

#include "plugin/io/io.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    const mn_status status = mn_io_read_memory(ctx, MN_FORMAT_STL, data, size, "fuzz.stl", &geo);
    if ((status == MN_OK) != (geo != NULL)) abort();
    mn_geo_free(geo);
    if (mn_context_bytes(ctx) != 0) abort();
    mn_context_free(ctx);
    return 0;
}
