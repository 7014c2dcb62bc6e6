// SPDX-License-Identifier: Apache-2.0
//
// A 64-bit hash for change detection and checksums; not for secrets. The same on every machine.
#ifndef MENISCUS_HASH_H
#define MENISCUS_HASH_H

#include "meniscus/api.h"

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Hash of the bytes; chain calls by passing the last result as `seed` (the first is any number).
MN_API uint64_t mn_hash_bytes(uint64_t seed, const void *bytes, size_t size);
/// Of a string, its length included, so that ("ab","c") and ("a","bc") differ.
MN_API uint64_t mn_hash_string(uint64_t seed, const char *string);
MN_API uint64_t mn_hash_u64(uint64_t seed, uint64_t value);
/// Of the bits: 0 and -0 differ.
MN_API uint64_t mn_hash_f64(uint64_t seed, double value);

#ifdef __cplusplus
}
#endif
#endif
