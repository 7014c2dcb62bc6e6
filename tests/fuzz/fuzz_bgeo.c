// SPDX-License-Identifier: Apache-2.0
//
// .bgeo, binary JSON: no input may crash, hang, leak or read out of bounds.
#include "fuzz/fuzz_read.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    fuzz_read(MN_FORMAT_BGEO, data, size);
    return 0;
}
