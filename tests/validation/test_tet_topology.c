// SPDX-License-Identifier: Apache-2.0
//
// Balls, tori and sheets in random poses, cut by random planes and merged with each other: none may fail.
// After each, every invariant: orientation positive, adjacency symmetric, Euler characteristic, boundary
// closed and manifold, volume, fields conserved.
#include "support/tet_solids.h"
#include "support/validation.h"
#include "tetmesh/unite/merge.h"

static void cuts(mn_context *ctx, int count)
{
    int failed = 0;
    for (int i = 0; i < count; i++) {
        const char *fault = tet_cut_at_random(ctx, (uint64_t)i, 0.1);
        if (fault) fprintf(stderr, "cut %d: %s\n", i, fault);
        failed += fault != NULL;
    }
    char name[96];
    snprintf(name, sizeof name, "%d cuts of balls, tori and sheets in random poses: failures", count);
    validation_row_below("topology", name, failed, "", 0);
}

static void merges(mn_context *ctx, int first, int count, double size)
{
    int failed = 0, left = 0;
    int64_t made = 0;
    double moved = 0;
    for (int i = first; i < first + count; i++) {
        mn_tet_merge_report report = {0};
        const char *fault = tet_merge_at_random(ctx, (uint64_t)i, size, &report);
        if (fault) fprintf(stderr, "merge %d: %s\n", i, fault);
        failed += fault != NULL, left += report.left > 0, made += report.merges;
        moved = fmax(moved, report.moved / size);
    }
    char name[96];
    snprintf(name, sizeof name, "%d pairs in random poses at h = %g, %lld merges: failures", count, size,
             (long long)made);
    validation_row_below("topology", name, failed, "", 0);
    snprintf(name, sizeof name, "%d pairs at h = %g: furthest move of a retry", count, size);
    validation_row_below("topology", name, moved, "h", 0.01);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    mn_context *ctx = mn_context_create(NULL);
    if (!ctx) return 1;
    cuts(ctx, validation_long() ? 3000 : 60);
    merges(ctx, 0, validation_long() ? 2000 : 30, 0.2);
    merges(ctx, 5000, validation_long() ? 300 : 10, 0.13);
    mn_context_free(ctx);
    return validation_end();
}
