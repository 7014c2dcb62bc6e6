// SPDX-License-Identifier: Apache-2.0
//
// How much memory a context may hold: by hand, by the environment, or what the machine has.
#define _DEFAULT_SOURCE
#include "context_state.h"
#include "meniscus/context.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

bool mn_bytes_from_text(const char *text, int64_t *bytes)
{
    static const char units[] = "kMGT";
    char *end;
    double value = strtod(text, &end);
    if (end == text || !(value >= 0)) return false;
    const char *unit = *end ? strchr(units, *end == 'K' ? 'k' : *end) : NULL;
    if (*end && !unit) return false;
    if (unit) {
        end++;
        for (const char *at = units; at <= unit; at++) value *= 1000;
    }
    if (*end == 'B') end++;
    if (*end != 0 || value < 1 || value > 9e18) return false;
    *bytes = (int64_t)value;
    return true;
}

static int64_t machine_bytes(void)
{
#if defined(_SC_PHYS_PAGES)
    const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGE_SIZE);
    if (pages > 0 && page > 0 && pages < INT64_MAX / page) return (int64_t)pages * page;
#endif
    return INT64_MAX;
}

void mn_context_set_memory_limit(mn_context *ctx)
{
    const char *told = getenv("MENISCUS_MEMORY");
    ctx->memory_given = true;
    ctx->memory_limit = ctx->hooks.memory_limit;
    if (ctx->memory_limit > 0 || (told && mn_bytes_from_text(told, &ctx->memory_limit))) return;
    ctx->memory_given = false;
    ctx->memory_limit = machine_bytes();
}

int64_t mn_context_memory_limit(const mn_context *ctx, bool *given)
{
    if (given) *given = ctx->memory_given;
    return ctx->memory_limit;
}

static void format_bytes(double bytes, char text[32])
{
    const bool small = bytes < 999.5e6;
    snprintf(text, 32, "%.3g %s", bytes * (small ? 1e-6 : 1e-9), small ? "MB" : "GB");
}

mn_status mn_fail_memory(mn_context *ctx, double bytes, bool allowed)
{
    if (allowed)
        return mn_fail(ctx, MN_ERROR_MEMORY, "Out of memory: %.1f MB more were asked for.", bytes * 1e-6);
    char limit[32];
    format_bytes((double)ctx->memory_limit, limit);
    return mn_fail(
        ctx, MN_ERROR_MEMORY,
        "Out of memory: %.1f MB more were asked for, beyond the limit of %s. Raise it with --memory or "
        "MENISCUS_MEMORY.",
        bytes * 1e-6, limit);
}

mn_status mn_check_memory(mn_context *ctx, double bytes, const char *what, const char *advice)
{
    const double left = (double)(ctx->memory_limit - mn_context_bytes(ctx));
    if (bytes <= left) return MN_OK;
    char needed[32], room[32];
    format_bytes(bytes, needed);
    format_bytes(left > 0 ? left : 0, room);
    return mn_fail(
        ctx, MN_ERROR_MEMORY,
        "%s would need about %s of memory but %s are left; %s, or raise the limit with --memory or "
        "MENISCUS_MEMORY.",
        what, needed, room, advice);
}
