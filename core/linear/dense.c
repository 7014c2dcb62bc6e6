// SPDX-License-Identifier: Apache-2.0
//
// Dense kernels: C = X Y^T in tiles of 8 by 4 held in registers, and a blocked Cholesky on top of it.
#include "linear/dense.h"

#include "base/simd.h"
#include "meniscus/context.h"

#include <math.h>
#include <string.h>

enum { TILE_ROWS = 8, TILE_COLUMNS = 4, ROW_GRAIN = 128 };
static const double parallel_flops = 2e6;

typedef double lanes __attribute__((vector_size(32), aligned(8)));

MN_INLINE void tile(int64_t k, const double *x, const double *y, int64_t lx, double *c, int64_t lc)
{
    lanes low[TILE_COLUMNS] = {{0}}, high[TILE_COLUMNS] = {{0}};
    for (int64_t p = 0; p < k; p++, x += lx, y += lx) {
        const lanes a = *(const lanes *)x, b = *(const lanes *)(x + 4);
        for (int j = 0; j < TILE_COLUMNS; j++) {
            const lanes s = {y[j], y[j], y[j], y[j]};
            low[j] += a * s, high[j] += b * s;
        }
    }
    for (int j = 0; j < TILE_COLUMNS; j++) {
        *(lanes *)(c + j * lc) = low[j];
        *(lanes *)(c + j * lc + 4) = high[j];
    }
}

MN_INLINE void edge(int64_t rows, int64_t columns, int64_t k, const double *x, const double *y, int64_t lx,
                    double *c, int64_t lc)
{
    for (int64_t j = 0; j < columns; j++)
        for (int64_t i = 0; i < rows; i++) {
            double sum = 0;
            for (int64_t p = 0; p < k; p++) sum += x[i + p * lx] * y[j + p * lx];
            c[i + j * lc] = sum;
        }
}

// Rows [begin, end) of C.
MN_MULTIVERSION static void outer_rows(int64_t begin, int64_t end, int64_t w, int64_t k, const double *x,
                                       int64_t lx, double *c, int64_t lc)
{
    int64_t j = 0;
    for (; j + TILE_COLUMNS <= w; j += TILE_COLUMNS) {
        int64_t i = begin;
        for (; i + TILE_ROWS <= end; i += TILE_ROWS) tile(k, x + i, x + j, lx, c + i + j * lc, lc);
        edge(end - i, TILE_COLUMNS, k, x + i, x + j, lx, c + i + j * lc, lc);
    }
    edge(end - begin, w - j, k, x + begin, x + j, lx, c + begin + j * lc, lc);
}

typedef struct outer_job {
    int64_t m, w, k, lx;
    const double *x;
    double *c;
} outer_job;

static mn_status outer_chunk(void *user, mn_range range)
{
    const outer_job *o = user;
    outer_rows(range.begin, range.end, o->w, o->k, o->x, o->lx, o->c, o->m);
    return MN_OK;
}

mn_status mn_dense_outer(mn_context *ctx, int64_t m, int64_t w, int64_t k, const double *x, int64_t lx,
                         double *c)
{
    outer_job o = {m, w, k, lx, x, c};
    const bool large = 2.0 * (double)m * (double)w * (double)k > parallel_flops;
    return mn_parallel_for(ctx, m, large ? ROW_GRAIN : m, outer_chunk, &o);
}

// Columns [begin, end) of the panel, already free of what stands left of them.
MN_MULTIVERSION static int64_t factor_columns(int64_t m, int64_t begin, int64_t end, double *panel)
{
    for (int64_t j = begin; j < end; j++) {
        double *column = panel + j * m;
        if (!(column[j] > 0)) return j;
        const double pivot = sqrt(column[j]), inverse = 1 / pivot;
        column[j] = pivot;
        for (int64_t i = j + 1; i < m; i++) column[i] *= inverse;
        for (int64_t k = j + 1; k < end; k++) {
            double *other = panel + k * m;
            const double s = column[k];
            for (int64_t i = k; i < m; i++) other[i] -= s * column[i];
        }
    }
    return -1;
}

mn_status mn_dense_cholesky(mn_context *ctx, int64_t m, int64_t n, double *panel, double *scratch,
                            int64_t *bad_column)
{
    for (int64_t begin = 0; begin < n; begin += MN_DENSE_BLOCK) {
        const int64_t end = begin + MN_DENSE_BLOCK < n ? begin + MN_DENSE_BLOCK : n, rows = m - begin;
        // What the columns to the left give: rows and columns from `begin` on.
        if (begin > 0) {
            MN_TRY(mn_check_cancelled(ctx)); // a block of a large matrix takes long
            MN_TRY(mn_dense_outer(ctx, rows, end - begin, begin, panel + begin, m, scratch));
            for (int64_t j = begin; j < end; j++)
                for (int64_t i = j; i < m; i++) panel[i + j * m] -= scratch[(i - begin) + (j - begin) * rows];
        }
        *bad_column = factor_columns(m, begin, end, panel);
        if (*bad_column >= 0) return MN_OK;
    }
    *bad_column = -1;
    return MN_OK;
}
