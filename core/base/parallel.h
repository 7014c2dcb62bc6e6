// SPDX-License-Identifier: Apache-2.0
//
// The only way to run in parallel. Chunks depend on `count` and `grain` alone and reductions add them in
// order, so the same binary gives the same bits with any number of workers and any scheduler.
#ifndef MENISCUS_BASE_PARALLEL_H
#define MENISCUS_BASE_PARALLEL_H

#include "meniscus/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/// What one call of a loop body works on.
typedef struct mn_range {
    int64_t begin, end; ///< indices [begin, end)
    int64_t chunk;      ///< which chunk this is: a function of count and grain alone
    int32_t worker;     ///< for scratch memory only: whose turn it is must never change a result
} mn_range;

typedef mn_status mn_range_fn(void *user, mn_range range);
/// Adds what [begin, end) contributes to `sums`, which starts at zero for every chunk.
typedef void mn_sum_fn(void *user, mn_range range, double *sums);

/// How many chunks [0, count) is cut into: ceil(count / grain).
int64_t mn_chunk_count(int64_t count, int64_t grain);

/// How many workers a loop may use: the size for arrays of per-worker scratch.
int32_t mn_worker_count(const mn_context *ctx);

/// Runs `fn` on consecutive chunks of `grain` indices. Every chunk runs even when another fails; the failure
/// of the first chunk in order is returned. Loops do not nest.
mn_status mn_parallel_for(mn_context *ctx, int64_t count, int64_t grain, mn_range_fn *fn, void *user);

/// The same for a loop that may take longer than a tenth of a second: it asks for cancel now and then and
/// stops with MN_ERROR_CANCELLED.
mn_status mn_parallel_long(mn_context *ctx, int64_t count, int64_t grain, mn_range_fn *fn, void *user);

/// sums[k] = sum over chunks, in order, of what `fn` put into its sums. At most MN_SUM_MAX of them.
enum { MN_SUM_MAX = 32 };
mn_status mn_parallel_sum(mn_context *ctx, int64_t count, int64_t grain, mn_sum_fn *fn, void *user,
                          int32_t sum_count, double *sums);

/// The largest of what `fn` returns for each chunk; NaN when any is; -INFINITY when count is 0.
typedef double mn_max_fn(void *user, mn_range range);
mn_status mn_parallel_max(mn_context *ctx, int64_t count, int64_t grain, mn_max_fn *fn, void *user,
                          double *max);

/// Exclusive prefix sum in place: values[i] becomes the sum of those before it; the total is returned.
int64_t mn_prefix_sum_i64(int64_t *values, int64_t count);
int32_t mn_prefix_sum_i32(int32_t *values, int64_t count);

#ifdef __cplusplus
}
#endif
#endif
