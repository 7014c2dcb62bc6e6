// SPDX-License-Identifier: Apache-2.0
//
// Packed geometry, .bgeo.sc and .bgeo.gz by the first byte: no input may crash, hang, leak or read out of
// bounds.
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(size > 0 && data[0] == 0x1f ? MN_FORMAT_BGEO_GZ : MN_FORMAT_BGEO_SC, data, size);
    return 0;
}
