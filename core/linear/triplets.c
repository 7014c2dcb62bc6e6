// SPDX-License-Identifier: Apache-2.0
//
// The sum of listed entries as a sparse matrix, in memory that is kept from step to step: entries go to their
// rows in the order in which they were listed, each row is sorted by columns, and equal ones are added in
// that order. The same bits as mn_sparse_from_triplets() gives, without its memory and on all workers.
#include "linear/triplets.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512 };

// Sorts one row, stably, and adds what stands at the same column; returns what is left.
static int64_t tidy(mn_triplet *e, int64_t count)
{
    int64_t kept = 0;
    for (int64_t i = 1; i < count; i++) {
        const mn_triplet moving = e[i];
        int64_t j = i;
        for (; j > 0 && e[j - 1].column > moving.column; j--) e[j] = e[j - 1];
        e[j] = moving;
    }
    for (int64_t i = 0; i < count; i++) {
        if (kept > 0 && e[kept - 1].column == e[i].column)
            e[kept - 1].value += e[i].value;
        else
            e[kept++] = e[i];
    }
    return kept;
}

static mn_status tidy_range(void *user, mn_range range)
{
    mn_triplets_matrix *m = user;
    for (int64_t r = range.begin; r < range.end; r++)
        m->start.data[r] = tidy(m->entry.data + m->room.data[r], m->room.data[r + 1] - m->room.data[r]);
    return MN_OK;
}

static mn_status copy_range(void *user, mn_range range)
{
    mn_triplets_matrix *m = user;
    for (int64_t r = range.begin; r < range.end; r++) {
        const mn_triplet *from = m->entry.data + m->room.data[r];
        for (int64_t k = m->start.data[r]; k < m->start.data[r + 1]; k++, from++)
            m->column.data[k] = from->column, m->value.data[k] = from->value;
    }
    return MN_OK;
}

mn_status mn_triplets_build(mn_context *ctx, int32_t size, const mn_triplets *list, mn_triplets_matrix *m,
                            mn_sparse *result)
{
    const int64_t count = list->columns.count;
    memset(result, 0, sizeof *result);
    MN_TRY(mn_array_resize(ctx, &m->room, (int64_t)size + 1));
    MN_TRY(mn_array_resize(ctx, &m->start, (int64_t)size + 1));
    MN_TRY(mn_array_resize(ctx, &m->entry, count));
    int64_t *room = m->room.data;
    memset(room, 0, mn_bytes((int64_t)size + 1, sizeof *room));
    for (int64_t k = 0; k < count; k++) room[list->rows.data[k]]++;
    mn_prefix_sum_i64(room, (int64_t)size + 1);
    for (int64_t k = 0; k < count; k++)
        m->entry.data[room[list->rows.data[k]]++] = (mn_triplet){list->values.data[k], list->columns.data[k]};
    memmove(room + 1, room, mn_bytes(size, sizeof *room)); // each is now the next one's
    room[0] = 0;
    MN_TRY(mn_parallel_for(ctx, size, GRAIN, tidy_range, m));
    m->start.data[size] = 0;
    const int64_t left = mn_prefix_sum_i64(m->start.data, (int64_t)size + 1);
    MN_TRY(mn_array_resize(ctx, &m->column, left));
    MN_TRY(mn_array_resize(ctx, &m->value, left));
    MN_TRY(mn_parallel_for(ctx, size, GRAIN, copy_range, m));
    *result = (mn_sparse){.rows = size,
                          .columns = size,
                          .start = m->start.data,
                          .column = m->column.data,
                          .value = m->value.data};
    return MN_OK;
}

void mn_triplets_free(mn_context *ctx, mn_triplets_matrix *m)
{
    mn_array_free(ctx, &m->room);
    mn_array_free(ctx, &m->start);
    mn_array_free(ctx, &m->entry);
    mn_array_free(ctx, &m->column);
    mn_array_free(ctx, &m->value);
}
