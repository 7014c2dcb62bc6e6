// SPDX-License-Identifier: Apache-2.0
//
// The context: memory through the host's allocator with its books kept, the last error's sentence, log,
// cancel and progress.
#include "base/context_state.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#if defined(__linux__)
#include <sys/mman.h>
#endif

enum { ALIGNMENT = 64, HUGE_PAGE = 2 << 20 };

/// Large arrays lie on huge pages where the system has them: the first touch of each page, and the search for
/// it ever after, cost more than many a kernel that runs over it.
static void *allocate_large(size_t size)
{
#if defined(__linux__) && defined(MADV_HUGEPAGE)
    void *memory;
    if (posix_memalign(&memory, HUGE_PAGE, size) != 0) return NULL;
    (void)madvise(memory, size / HUGE_PAGE * HUGE_PAGE, MADV_HUGEPAGE);
    return memory;
#else
    return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
#endif
}

static void *default_allocate(void *user, size_t size)
{
    (void)user;
    if (size > SIZE_MAX - HUGE_PAGE) return NULL;
    if (size >= 2 * HUGE_PAGE) return allocate_large(size);
    return aligned_alloc(ALIGNMENT, (size + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT);
}

static void default_release(void *user, void *memory, size_t size)
{
    (void)user;
    (void)size;
    free(memory);
}

mn_context *mn_context_create(const mn_hooks *hooks)
{
    mn_hooks used = {0};
    if (hooks) used = *hooks;
    if (!used.allocate || !used.release) used.allocate = default_allocate, used.release = default_release;
    mn_context *ctx = used.allocate(used.user, sizeof *ctx);
    if (!ctx) return NULL;
    memset(ctx, 0, sizeof *ctx);
    ctx->hooks = used;
    mn_context_set_memory_limit(ctx);
    ctx->progress.end = 1;
    ctx->default_workers = mn_pool_default_workers();
    atomic_flag_clear(&ctx->message_lock);
    return ctx;
}

void mn_context_free(mn_context *ctx)
{
    if (!ctx) return;
    mn_pool_free(&ctx->pool);
    mn_release(ctx, ctx->chunk_values, mn_bytes(ctx->chunk_capacity, sizeof *ctx->chunk_values));
    const mn_hooks hooks = ctx->hooks;
    hooks.release(hooks.user, ctx, sizeof *ctx);
}

const char *mn_context_message(const mn_context *ctx)
{
    return ctx->message;
}

void mn_context_clear_message(mn_context *ctx)
{
    ctx->message[0] = '\0';
}

mn_status mn_fail(mn_context *ctx, mn_status status, const char *format, ...)
{
    // Formatted aside first: an argument may be the old message itself.
    char sentence[MN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    while (atomic_flag_test_and_set_explicit(&ctx->message_lock, memory_order_acquire)) continue;
    memcpy(ctx->message, sentence, sizeof sentence);
    atomic_flag_clear_explicit(&ctx->message_lock, memory_order_release);
    return status;
}

mn_status mn_check_def_size(mn_context *ctx, const char *name, size_t size, size_t wanted)
{
    if (size == wanted) return MN_OK;
    return mn_fail(
        ctx, MN_ERROR_ARGUMENT,
        "The def of %s says that it has %zu bytes, but in this library (%s) it has %zu. Start from "
        "its default def, and compile against the headers of this version.",
        name, size, mn_version(), wanted);
}

mn_status mn_check_number(mn_context *ctx, const char *name, double value, double low, double high,
                          bool low_allowed)
{
    if (value > low && value <= high) return MN_OK;
    if (low_allowed && value == low) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g but must be %s %g and at most %g.", name, value,
                   low_allowed ? "at least" : "above", low, high);
}

void mn_log(mn_context *ctx, mn_log_level level, const char *format, ...)
{
    if (!ctx->hooks.log) return;
    char sentence[MN_MESSAGE_SIZE];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    ctx->hooks.log(ctx->hooks.user, level, sentence);
}

mn_status mn_check_cancelled(mn_context *ctx)
{
    if (!ctx->deaf && ctx->hooks.cancelled && ctx->hooks.cancelled(ctx->hooks.user))
        return mn_fail(ctx, MN_ERROR_CANCELLED, "Cancelled.");
    return MN_OK;
}

bool mn_context_heed_cancel(mn_context *ctx, bool heed)
{
    const bool before = !ctx->deaf;
    ctx->deaf = !heed;
    return before;
}

void mn_progress(mn_context *ctx, double fraction, const char *what)
{
    if (!ctx->hooks.progress) return;
    const double bounded = fraction > 0 ? (fraction < 1 ? fraction : 1) : 0;
    const mn_progress_part part = ctx->progress;
    ctx->hooks.progress(ctx->hooks.user, part.begin + bounded * (part.end - part.begin), what);
}

mn_progress_part mn_progress_enter(mn_context *ctx, double begin, double end)
{
    const mn_progress_part around = ctx->progress;
    const double length = around.end - around.begin;
    ctx->progress.begin = around.begin + begin * length;
    ctx->progress.end = around.begin + end * length;
    return around;
}

void mn_progress_leave(mn_context *ctx, mn_progress_part around)
{
    ctx->progress = around;
}

void *mn_allocate(mn_context *ctx, size_t size)
{
    if (size == 0) return NULL;
    const int64_t held = mn_context_bytes(ctx);
    const bool allowed = size <= PTRDIFF_MAX && (int64_t)size <= ctx->memory_limit - held;
    void *memory = allowed ? ctx->hooks.allocate(ctx->hooks.user, size) : NULL;
    if (!memory) {
        (void)mn_fail_memory(ctx, (double)size, allowed);
        return NULL;
    }
    atomic_fetch_add_explicit(&ctx->allocation_count, 1, memory_order_relaxed);
    const int_fast64_t now =
        atomic_fetch_add_explicit(&ctx->bytes, (int_fast64_t)size, memory_order_relaxed) + (int_fast64_t)size;
    int_fast64_t peak = atomic_load_explicit(&ctx->peak_bytes, memory_order_relaxed);
    while (now > peak && !atomic_compare_exchange_weak_explicit(&ctx->peak_bytes, &peak, now,
                                                                memory_order_relaxed, memory_order_relaxed))
        continue;
    return memory;
}

void *mn_allocate_zero(mn_context *ctx, size_t size)
{
    void *memory = mn_allocate(ctx, size);
    if (memory) memset(memory, 0, size);
    return memory;
}

void mn_release(mn_context *ctx, void *memory, size_t size)
{
    if (!memory) return;
    atomic_fetch_sub_explicit(&ctx->bytes, (int_fast64_t)size, memory_order_relaxed);
    ctx->hooks.release(ctx->hooks.user, memory, size);
}

size_t mn_bytes(int64_t count, size_t element_size)
{
    if (count < 0 || (element_size != 0 && (uint64_t)count > SIZE_MAX / element_size)) return SIZE_MAX;
    return (size_t)count * element_size;
}

int64_t mn_context_bytes(const mn_context *ctx)
{
    return atomic_load_explicit(&ctx->bytes, memory_order_relaxed);
}

int64_t mn_context_peak_bytes(const mn_context *ctx)
{
    return atomic_load_explicit(&ctx->peak_bytes, memory_order_relaxed);
}

int64_t mn_context_allocation_count(const mn_context *ctx)
{
    return atomic_load_explicit(&ctx->allocation_count, memory_order_relaxed);
}
