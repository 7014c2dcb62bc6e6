// SPDX-License-Identifier: Apache-2.0
//
// A loop that may take long: in slices, between which the driving thread asks whether to stop. The chunks are
// those of the whole loop, so the results are the same.
#include "base/parallel.h"

typedef struct slice {
    int64_t begin;
    mn_range_fn *fn;
    void *user;
} slice;

static mn_status run_part(void *user, mn_range range)
{
    const slice *s = user;
    range.begin += s->begin, range.end += s->begin;
    return s->fn(s->user, range);
}

mn_status mn_parallel_long(mn_context *ctx, int64_t count, int64_t grain, mn_range_fn *fn, void *user)
{
    enum { CHUNKS = 64 }; // for each worker, so that waiting for the last one costs little
    const int64_t size = (grain > 1 ? grain : 1) * CHUNKS * mn_worker_count(ctx);
    for (int64_t begin = 0; begin < count; begin += size) {
        slice s = {begin, fn, user};
        MN_TRY(mn_check_cancelled(ctx));
        MN_TRY(mn_parallel_for(ctx, count - begin < size ? count - begin : size, grain, run_part, &s));
    }
    return MN_OK;
}
