// SPDX-License-Identifier: Apache-2.0
//
// Products of sparse matrices by rows [gustavson1978]: row i of A B is the sum of the rows of B that row i of
// A names. The pattern is found once; the numbers are filled in again while the patterns stay.
#include "base/parallel.h"
#include "linear/sparse.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_GRAIN = 256 };

typedef struct product_job {
    const mn_sparse *a, *b;
    mn_sparse *c;
    int32_t *scratch; ///< for each worker one number a column of B
    bool list;        ///< the columns, not only how many they are
} product_job;

static int by_index(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

static mn_status find_rows(void *user, mn_range range)
{
    const product_job *job = user;
    const mn_sparse *a = job->a, *b = job->b;
    int32_t *seen = job->scratch + (int64_t)range.worker * b->columns;
    for (int32_t j = 0; j < b->columns; j++) seen[j] = -1;
    for (int64_t i = range.begin; i < range.end; i++) {
        int32_t *row = job->list ? job->c->column + job->c->start[i] : NULL;
        int64_t count = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            for (int64_t f = b->start[a->column[e]]; f < b->start[a->column[e] + 1]; f++) {
                const int32_t j = b->column[f];
                if (seen[j] == i) continue;
                seen[j] = (int32_t)i;
                if (row) row[count] = j;
                count++;
            }
        if (row)
            qsort(row, (size_t)count, sizeof *row, by_index);
        else
            job->c->start[i + 1] = count;
    }
    return MN_OK;
}

static mn_status fill_rows(void *user, mn_range range)
{
    const product_job *job = user;
    const mn_sparse *a = job->a, *b = job->b, *c = job->c;
    int32_t *place = job->scratch + (int64_t)range.worker * b->columns;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int64_t begin = c->start[i], end = c->start[i + 1];
        double *row = c->value + begin;
        for (int64_t k = begin; k < end; k++) place[c->column[k]] = (int32_t)(k - begin), c->value[k] = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            const double factor = a->value[e];
            for (int64_t f = b->start[a->column[e]]; f < b->start[a->column[e] + 1]; f++)
                row[place[b->column[f]]] += factor * b->value[f];
        }
    }
    return MN_OK;
}

static mn_status find_pattern(mn_context *ctx, product_job *job)
{
    mn_sparse *c = job->c;
    const int32_t rows = c->rows;
    MN_TRY(mn_parallel_for(ctx, rows, ROW_GRAIN, find_rows, job));
    for (int32_t i = 0; i < rows; i++) c->start[i + 1] += c->start[i];
    MN_TRY(mn_sparse_set_entries(ctx, c, c->start[rows]));
    job->list = true;
    return mn_parallel_for(ctx, rows, ROW_GRAIN, find_rows, job);
}

static size_t scratch_bytes(const mn_context *ctx, const mn_sparse *b)
{
    return mn_bytes((int64_t)mn_worker_count(ctx) * b->columns, sizeof(int32_t));
}

mn_status mn_sparse_product_pattern(mn_context *ctx, const mn_sparse *a, const mn_sparse *b, mn_sparse *c)
{
    if (a->columns != b->rows)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A matrix of %d columns cannot multiply one of %d rows.",
                       (int)a->columns, (int)b->rows);
    product_job job = {.a = a, .b = b, .c = c};
    mn_status status = mn_sparse_set_size(ctx, c, a->rows, b->columns);
    if (status != MN_OK) return status;
    job.scratch = mn_allocate(ctx, scratch_bytes(ctx, b));
    status = b->columns == 0 || job.scratch ? find_pattern(ctx, &job) : MN_ERROR_MEMORY;
    mn_release(ctx, job.scratch, scratch_bytes(ctx, b));
    if (status != MN_OK) mn_sparse_free(ctx, c);
    return status;
}

mn_status mn_sparse_product(mn_context *ctx, const mn_sparse *a, const mn_sparse *b, mn_sparse *c)
{
    product_job job = {.a = a, .b = b, .c = c};
    job.scratch = mn_allocate(ctx, scratch_bytes(ctx, b));
    if (b->columns > 0 && !job.scratch) return MN_ERROR_MEMORY;
    const mn_status status = mn_parallel_for(ctx, a->rows, ROW_GRAIN, fill_rows, &job);
    mn_release(ctx, job.scratch, scratch_bytes(ctx, b));
    return status;
}
