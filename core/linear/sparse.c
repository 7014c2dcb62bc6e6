// SPDX-License-Identifier: Apache-2.0
//
// Sparse matrices by rows: assembly from triplets by two stable counting sorts, products, transposes.
#include "linear/sparse.h"

#include "base/parallel.h"
#include "meniscus/array.h"

#include <string.h>

enum { ROW_GRAIN = 1024 };

int64_t mn_sparse_entries(const mn_sparse *matrix)
{
    return matrix->start ? matrix->start[matrix->rows] : 0;
}

void mn_sparse_free(mn_context *ctx, mn_sparse *matrix)
{
    mn_release(ctx, matrix->column, mn_bytes(matrix->column_room, sizeof *matrix->column));
    mn_release(ctx, matrix->value, mn_bytes(matrix->value_room, sizeof *matrix->value));
    mn_release(ctx, matrix->start, mn_bytes(matrix->start_room, sizeof *matrix->start));
    memset(matrix, 0, sizeof *matrix);
}

mn_status mn_sparse_set_size(mn_context *ctx, mn_sparse *matrix, int32_t rows, int32_t columns)
{
    const int64_t starts = (int64_t)rows + 1;
    MN_TRY(mn_array_reserve_bytes(ctx, &matrix->start, &matrix->start_room, sizeof *matrix->start, starts));
    memset(matrix->start, 0, mn_bytes(starts, sizeof *matrix->start));
    matrix->rows = rows, matrix->columns = columns;
    return MN_OK;
}

mn_status mn_sparse_set_entries(mn_context *ctx, mn_sparse *matrix, int64_t entries)
{
    MN_TRY(
        mn_array_reserve_bytes(ctx, &matrix->column, &matrix->column_room, sizeof *matrix->column, entries));
    MN_TRY(mn_array_reserve_bytes(ctx, &matrix->value, &matrix->value_room, sizeof *matrix->value, entries));
    mn_fill_bytes(matrix->value, 0, mn_bytes(entries, sizeof *matrix->value));
    return MN_OK;
}

// order = the indices 0..count-1 in `from`'s order, sorted stably by key; `heads` has room for keys + 1.
static void counting_sort(int64_t count, int32_t keys, const int32_t *key, const int64_t *from,
                          int64_t *order, int64_t *heads)
{
    memset(heads, 0, mn_bytes((int64_t)keys + 1, sizeof *heads));
    for (int64_t k = 0; k < count; k++) heads[key[k]]++;
    mn_prefix_sum_i64(heads, keys);
    for (int64_t k = 0; k < count; k++) {
        const int64_t entry = from ? from[k] : k;
        order[heads[key[entry]]++] = entry;
    }
}

static mn_status check_triplets(mn_context *ctx, int32_t rows, int32_t columns, int64_t count,
                                const int32_t *row, const int32_t *column)
{
    for (int64_t k = 0; k < count; k++)
        if (row[k] < 0 || row[k] >= rows || column[k] < 0 || column[k] >= columns)
            return mn_fail(ctx, MN_ERROR_ARGUMENT, "Entry (%d, %d) lies outside a matrix of %d by %d.",
                           (int)row[k], (int)column[k], (int)rows, (int)columns);
    return MN_OK;
}

mn_status mn_sparse_from_triplets(mn_context *ctx, int32_t rows, int32_t columns, int64_t count,
                                  const int32_t *row, const int32_t *column, const double *value,
                                  int64_t *slots, mn_sparse *matrix)
{
    MN_TRY(check_triplets(ctx, rows, columns, count, row, column));
    const int32_t keys = rows > columns ? rows : columns;
    const size_t order_bytes = mn_bytes(count, sizeof(int64_t)),
                 head_bytes = mn_bytes((int64_t)keys + 1, sizeof(int64_t));
    int64_t *by_column = mn_allocate(ctx, order_bytes), *by_row = mn_allocate(ctx, order_bytes);
    int64_t *heads = mn_allocate(ctx, head_bytes);
    mn_status status = MN_ERROR_MEMORY;
    if (!heads || (count > 0 && (!by_column || !by_row))) goto done;
    MN_TRY_TO(done, status, mn_sparse_set_size(ctx, matrix, rows, columns));
    counting_sort(count, columns, column, NULL, by_column, heads);
    counting_sort(count, rows, row, by_column, by_row, heads);
    // Equal entries now stand together, in the order they came.
    int64_t distinct = 0;
    for (int64_t k = 0; k < count; k++) {
        const int64_t entry = by_row[k], last = k > 0 ? by_row[k - 1] : -1;
        if (last < 0 || row[entry] != row[last] || column[entry] != column[last])
            distinct++, matrix->start[row[entry] + 1]++;
    }
    for (int32_t i = 0; i < rows; i++) matrix->start[i + 1] += matrix->start[i];
    MN_TRY_TO(done, status, mn_sparse_set_entries(ctx, matrix, distinct));
    int64_t slot = -1;
    for (int64_t k = 0; k < count; k++) {
        const int64_t entry = by_row[k], last = k > 0 ? by_row[k - 1] : -1;
        if (last < 0 || row[entry] != row[last] || column[entry] != column[last])
            matrix->column[++slot] = column[entry];
        matrix->value[slot] += value[entry];
        if (slots) slots[entry] = slot;
    }
done:
    mn_release(ctx, by_column, order_bytes);
    mn_release(ctx, by_row, order_bytes);
    mn_release(ctx, heads, head_bytes);
    if (status != MN_OK) mn_sparse_free(ctx, matrix);
    return status;
}

typedef struct product {
    const mn_sparse *matrix;
    const double *x;
    double *y;
} product;

static mn_status apply_rows(void *user, mn_range range)
{
    const product *p = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        double sum = 0;
        for (int64_t k = p->matrix->start[i]; k < p->matrix->start[i + 1]; k++)
            sum += p->matrix->value[k] * p->x[p->matrix->column[k]];
        p->y[i] = sum;
    }
    return MN_OK;
}

mn_status mn_sparse_apply(mn_context *ctx, const mn_sparse *matrix, const double *x, double *y)
{
    product p = {matrix, x, y};
    return mn_parallel_for(ctx, matrix->rows, ROW_GRAIN, apply_rows, &p);
}

mn_status mn_sparse_transpose(mn_context *ctx, const mn_sparse *matrix, mn_sparse *transpose)
{
    MN_TRY(mn_sparse_set_size(ctx, transpose, matrix->columns, matrix->rows));
    for (int64_t k = 0; k < mn_sparse_entries(matrix); k++) transpose->start[matrix->column[k] + 1]++;
    for (int32_t i = 0; i < transpose->rows; i++) transpose->start[i + 1] += transpose->start[i];
    const mn_status status = mn_sparse_set_entries(ctx, transpose, mn_sparse_entries(matrix));
    if (status != MN_OK) {
        mn_sparse_free(ctx, transpose);
        return status;
    }
    // start[j] serves as the next free slot of row j, and is then the start of row j + 1: shift back at the
    // end.
    for (int32_t i = 0; i < matrix->rows; i++)
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++) {
            const int64_t slot = transpose->start[matrix->column[k]]++;
            transpose->column[slot] = i, transpose->value[slot] = matrix->value[k];
        }
    memmove(transpose->start + 1, transpose->start, mn_bytes(transpose->rows, sizeof *transpose->start));
    transpose->start[0] = 0;
    return MN_OK;
}
