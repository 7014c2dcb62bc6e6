// SPDX-License-Identifier: Apache-2.0
//
// One binary for every processor: a hot kernel marked MN_MULTIVERSION is compiled for AVX2 with fused
// multiply-add and for the baseline, and the loader picks by what the processor can do (a clone for
// "arch=haswell" would be picked on that one processor only, not on AMD's). Sanitizers and clang take the
// baseline only.
#ifndef MENISCUS_BASE_SIMD_H
#define MENISCUS_BASE_SIMD_H

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

#endif
