// SPDX-License-Identifier: Apache-2.0
//
// Any bytes as a .vdb file: grids that can be sampled, moved and written, or a sentence.
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(MN_FORMAT_VDB, data, size);
    return 0;
}
