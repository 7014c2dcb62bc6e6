// SPDX-License-Identifier: Apache-2.0
//
// One binary for every processor: a hot kernel marked MN_MULTIVERSION is compiled for AVX2 with fused
// multiply-add and for the baseline, and the loader picks by what the processor can do (a clone for
// "arch=haswell" would be picked on that one processor only, not on AMD's). Sanitizers and clang take the
// baseline only.
#ifndef MENISCUS_BASE_SIMD_H
#define MENISCUS_BASE_SIMD_H

#include <stdint.h>

#if defined(__GNUC__) && !defined(__clang__) && defined(__x86_64__) && !defined(MN_SANITIZED)
#define MN_MULTIVERSION __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define MN_MULTIVERSION
#endif

/// Helpers that a multiversioned kernel calls must melt into it to be compiled for its target.
#if defined(__GNUC__)
#define MN_INLINE static inline __attribute__((always_inline))
#else
#define MN_INLINE static inline
#endif

/// Four doubles that compile to one 256-bit register or two of 128. Not for parameters or return values.
typedef double mn_double4 __attribute__((vector_size(32)));
typedef int64_t mn_mask4 __attribute__((vector_size(32)));
/// a < b ? a : b, each of the four; both are evaluated twice.
#define MN_MIN4(a, b) ((mn_double4)(((mn_mask4)(a) & ((a) < (b))) | ((mn_mask4)(b) & ~((a) < (b)))))

/// Eight floats or integers, likewise.
typedef float mn_float4 __attribute__((vector_size(16)));
typedef float mn_float8 __attribute__((vector_size(32)));
typedef int32_t mn_int8 __attribute__((vector_size(32)));

/// The eight masks as bits 0 to 7.
#if defined(__x86_64__) && defined(__GNUC__)
#define MN_MASK_BITS8(m)                                                                                     \
    ((uint32_t)(__builtin_ia32_movmskps((mn_float4)__builtin_shufflevector((m), (m), 0, 1, 2, 3)) |          \
                __builtin_ia32_movmskps((mn_float4)__builtin_shufflevector((m), (m), 4, 5, 6, 7)) << 4))
#else
#define MN_MASK_BITS8(m)                                                                                     \
    ((uint32_t)(((m)[0] & 1) | ((m)[1] & 2) | ((m)[2] & 4) | ((m)[3] & 8) | ((m)[4] & 16) | ((m)[5] & 32) |  \
                ((m)[6] & 64) | ((m)[7] & 128)))
#endif

/// v[i] becomes v[places[i]], for all eight at once.
#if defined(__GNUC__) && !defined(__clang__)
#define MN_PACK8(v, places) ((v) = __builtin_shuffle((v), (places)))
#else
#define MN_PACK8(v, places)                                                                                  \
    do {                                                                                                     \
        const mn_int8 from = (v);                                                                            \
        for (int32_t i = 0; i < 8; i++) (v)[i] = from[(places)[i]];                                          \
    } while (0)
#endif

#endif
