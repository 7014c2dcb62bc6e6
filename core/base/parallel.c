// SPDX-License-Identifier: Apache-2.0
//
// Parallel loops whose results do not depend on who runs them: chunk k covers [k grain, (k+1) grain),
// reductions add chunks in order. Every chunk runs in the core's own floating-point mode, on whose thread
// ever.
#include "base/parallel.h"

#include "base/context_state.h"
#include "base/float_mode.h"

#include <math.h>
#include <string.h>

int64_t mn_chunk_count(int64_t count, int64_t grain)
{
    if (count <= 0) return 0;
    if (grain < 1) grain = 1;
    return (count - 1) / grain + 1;
}

// ---- which scheduler a context uses ----

int32_t mn_worker_count(const mn_context *ctx)
{
    // A scheduler of the host's numbers its workers itself, so its whole count is the bound.
    if (ctx->hooks.scheduler) return ctx->hooks.scheduler->worker_count(ctx->hooks.scheduler->user);
    // More than there are processors only when asked for, as tests of determinism do.
    if (ctx->hooks.max_workers < 1) return ctx->default_workers;
    return ctx->hooks.max_workers < MN_POOL_MAX ? ctx->hooks.max_workers : MN_POOL_MAX;
}

static void run_tasks(mn_context *ctx, int64_t count, mn_task_fn *task, void *user)
{
    if (count == 1) {
        task(user, 0, 0);
        return;
    }
    if (ctx->hooks.scheduler) {
        ctx->hooks.scheduler->run(ctx->hooks.scheduler->user, count, task, user);
        return;
    }
    const int32_t workers = mn_worker_count(ctx);
    if (workers == 1)
        for (int64_t i = 0; i < count; i++) task(user, i, 0);
    else
        mn_pool_run(&ctx->pool, workers, count, task, user);
}

// ---- loops ----

typedef struct loop {
    int64_t count, grain;
    void *user;
    mn_range_fn *range_fn;
    mn_sum_fn *sum_fn;
    mn_max_fn *max_fn;
    int32_t sum_count;
    double *chunk_values;
    atomic_flag lock;     ///< around the two below
    int64_t first_failed; ///< the first chunk in order that failed
    mn_status status;     ///< of that chunk
} loop;

static mn_range range_of(const loop *l, int64_t chunk, int32_t worker)
{
    const int64_t begin = chunk * l->grain;
    const int64_t end = l->count - begin < l->grain ? l->count : begin + l->grain;
    return (mn_range){begin, end, chunk, worker};
}

static void for_task(void *user, int64_t chunk, int32_t worker)
{
    loop *l = user;
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = l->range_fn(l->user, range_of(l, chunk, worker));
    mn_float_mode_restore(mode);
    if (status == MN_OK) return;
    while (atomic_flag_test_and_set_explicit(&l->lock, memory_order_acquire)) continue;
    if (chunk < l->first_failed) l->first_failed = chunk, l->status = status;
    atomic_flag_clear_explicit(&l->lock, memory_order_release);
}

static void sum_task(void *user, int64_t chunk, int32_t worker)
{
    loop *l = user;
    double sums[MN_SUM_MAX] = {0};
    const mn_float_mode mode = mn_float_mode_set();
    l->sum_fn(l->user, range_of(l, chunk, worker), sums);
    mn_float_mode_restore(mode);
    memcpy(l->chunk_values + chunk * l->sum_count, sums, sizeof(double) * (size_t)l->sum_count);
}

static void max_task(void *user, int64_t chunk, int32_t worker)
{
    loop *l = user;
    const mn_float_mode mode = mn_float_mode_set();
    l->chunk_values[chunk] = l->max_fn(l->user, range_of(l, chunk, worker));
    mn_float_mode_restore(mode);
}

static mn_status reserve_chunk_values(mn_context *ctx, int64_t count)
{
    if (count <= ctx->chunk_capacity) return MN_OK;
    double *values = mn_allocate(ctx, mn_bytes(count, sizeof *values));
    if (!values) return MN_ERROR_MEMORY;
    mn_release(ctx, ctx->chunk_values, mn_bytes(ctx->chunk_capacity, sizeof *values));
    ctx->chunk_values = values;
    ctx->chunk_capacity = count;
    return MN_OK;
}

mn_status mn_parallel_for(mn_context *ctx, int64_t count, int64_t grain, mn_range_fn *fn, void *user)
{
    loop l = {.count = count, .grain = grain < 1 ? 1 : grain, .user = user, .range_fn = fn};
    l.first_failed = INT64_MAX;
    l.lock = (atomic_flag)ATOMIC_FLAG_INIT;
    l.status = MN_OK;
    const int64_t chunks = mn_chunk_count(count, grain);
    if (chunks > 0) run_tasks(ctx, chunks, for_task, &l);
    return l.status;
}

mn_status mn_parallel_sum(mn_context *ctx, int64_t count, int64_t grain, mn_sum_fn *fn, void *user,
                          int32_t sum_count, double *sums)
{
    if (sum_count < 1 || sum_count > MN_SUM_MAX)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "mn_parallel_sum: %d sums asked for, 1 to %d are possible.",
                       (int)sum_count, (int)MN_SUM_MAX);
    memset(sums, 0, sizeof(double) * (size_t)sum_count);
    const int64_t chunks = mn_chunk_count(count, grain);
    MN_TRY(reserve_chunk_values(ctx, chunks * sum_count));
    loop l = {.count = count, .grain = grain < 1 ? 1 : grain, .user = user, .sum_fn = fn};
    l.sum_count = sum_count;
    l.chunk_values = ctx->chunk_values;
    if (chunks > 0) run_tasks(ctx, chunks, sum_task, &l);
    const mn_float_mode mode = mn_float_mode_set();
    for (int64_t c = 0; c < chunks; c++)
        for (int32_t k = 0; k < sum_count; k++) sums[k] += l.chunk_values[c * sum_count + k];
    mn_float_mode_restore(mode);
    return MN_OK;
}

mn_status mn_parallel_max(mn_context *ctx, int64_t count, int64_t grain, mn_max_fn *fn, void *user,
                          double *max)
{
    *max = -INFINITY;
    const int64_t chunks = mn_chunk_count(count, grain);
    MN_TRY(reserve_chunk_values(ctx, chunks));
    loop l = {.count = count, .grain = grain < 1 ? 1 : grain, .user = user, .max_fn = fn};
    l.chunk_values = ctx->chunk_values;
    if (chunks > 0) run_tasks(ctx, chunks, max_task, &l);
    for (int64_t c = 0; c < chunks && !isnan(*max); c++) // a NaN, once seen, stays
        if (!(l.chunk_values[c] <= *max)) *max = l.chunk_values[c];
    return MN_OK;
}

int64_t mn_prefix_sum_i64(int64_t *values, int64_t count)
{
    int64_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t value = values[i];
        values[i] = sum;
        sum += value;
    }
    return sum;
}

int32_t mn_prefix_sum_i32(int32_t *values, int64_t count)
{
    int32_t sum = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t value = values[i];
        values[i] = sum;
        sum += value;
    }
    return sum;
}
