// SPDX-License-Identifier: Apache-2.0
//
// Incomplete Cholesky without fill [meijerink1977]: L has the pattern of A's lower triangle and
//
//   L_ik = (A_ik - sum_{j<k} L_ij L_kj) / L_kk,   L_ii = sqrt(A_ii (1 + shift) - sum_j L_ij^2)
//
// with the shift of [manteuffel1980] where a pivot would not be positive.
#include "linear/sparse.h"

#include <math.h>
#include <string.h>

struct mn_incomplete_cholesky {
    mn_context *ctx;
    int32_t rows;
    int64_t entries;
    int64_t *start; ///< rows of L, the diagonal last in each
    int32_t *column;
    double *value;
    double shift;
};

void mn_incomplete_cholesky_free(mn_incomplete_cholesky *factor)
{
    if (!factor) return;
    mn_release(factor->ctx, factor->start, mn_bytes((int64_t)factor->rows + 1, sizeof *factor->start));
    mn_release(factor->ctx, factor->column, mn_bytes(factor->entries, sizeof *factor->column));
    mn_release(factor->ctx, factor->value, mn_bytes(factor->entries, sizeof *factor->value));
    mn_release(factor->ctx, factor, sizeof *factor);
}

double mn_incomplete_cholesky_shift(const mn_incomplete_cholesky *factor)
{
    return factor->shift;
}

// The lower triangle of the matrix; false when a row has no diagonal.
static bool copy_lower(mn_incomplete_cholesky *factor, const mn_sparse *matrix)
{
    int64_t at = 0;
    for (int32_t i = 0; i < matrix->rows; i++) {
        factor->start[i] = at;
        bool diagonal = false;
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1] && matrix->column[k] <= i; k++) {
            factor->column[at] = matrix->column[k], factor->value[at++] = matrix->value[k];
            diagonal = matrix->column[k] == i;
        }
        if (!diagonal) return false;
    }
    factor->start[matrix->rows] = at;
    return true;
}

// sum_{j<k} L_ij L_kj by merging two rows up to their diagonals.
static double row_product(const mn_incomplete_cholesky *f, int64_t a, int64_t a_end, int64_t b, int64_t b_end)
{
    double sum = 0;
    while (a < a_end && b < b_end) {
        if (f->column[a] == f->column[b])
            sum += f->value[a++] * f->value[b++];
        else if (f->column[a] < f->column[b])
            a++;
        else
            b++;
    }
    return sum;
}

static bool factor_in_place(mn_incomplete_cholesky *f)
{
    for (int32_t i = 0; i < f->rows; i++) {
        const int64_t begin = f->start[i], diagonal = f->start[i + 1] - 1;
        double pivot = f->value[diagonal] * (1 + f->shift);
        for (int64_t e = begin; e < diagonal; e++) {
            const int32_t k = f->column[e];
            const int64_t other = f->start[k], other_diagonal = f->start[k + 1] - 1;
            f->value[e] =
                (f->value[e] - row_product(f, begin, e, other, other_diagonal)) / f->value[other_diagonal];
            pivot -= f->value[e] * f->value[e];
        }
        if (!(pivot > 1e-12 * f->value[diagonal])) return false;
        f->value[diagonal] = sqrt(pivot);
    }
    return true;
}

static mn_status factor_with_shift(mn_incomplete_cholesky *f, const mn_sparse *matrix)
{
    for (f->shift = 0; f->shift<1e3; f->shift = f->shift> 0 ? 2 * f->shift : 1e-3) {
        if (!copy_lower(f, matrix))
            return mn_fail(f->ctx, MN_ERROR_INPUT, "Incomplete Cholesky needs an entry on every diagonal.");
        if (factor_in_place(f)) return MN_OK;
    }
    return mn_fail(f->ctx, MN_ERROR_INPUT, "Incomplete Cholesky needs a positive diagonal.");
}

mn_status mn_incomplete_cholesky_create(mn_context *ctx, const mn_sparse *matrix,
                                        mn_incomplete_cholesky **factor)
{
    mn_incomplete_cholesky *f = mn_allocate_zero(ctx, sizeof *f);
    *factor = NULL;
    if (!f) return MN_ERROR_MEMORY;
    f->ctx = ctx, f->rows = matrix->rows;
    for (int32_t i = 0; i < matrix->rows; i++)
        for (int64_t k = matrix->start[i]; k < matrix->start[i + 1]; k++)
            f->entries += matrix->column[k] <= i;
    f->start = mn_allocate(ctx, mn_bytes((int64_t)f->rows + 1, sizeof *f->start));
    f->column = mn_allocate(ctx, mn_bytes(f->entries, sizeof *f->column));
    f->value = mn_allocate(ctx, mn_bytes(f->entries, sizeof *f->value));
    mn_status status = MN_ERROR_MEMORY;
    if (f->start && (f->entries == 0 || (f->column && f->value))) status = factor_with_shift(f, matrix);
    if (status == MN_OK)
        *factor = f;
    else
        mn_incomplete_cholesky_free(f);
    return status;
}

mn_status mn_incomplete_cholesky_apply(void *factor, const double *r, double *z)
{
    const mn_incomplete_cholesky *f = factor;
    for (int32_t i = 0; i < f->rows; i++) { // L y = r
        const int64_t diagonal = f->start[i + 1] - 1;
        double sum = r[i];
        for (int64_t k = f->start[i]; k < diagonal; k++) sum -= f->value[k] * z[f->column[k]];
        z[i] = sum / f->value[diagonal];
    }
    for (int32_t i = f->rows - 1; i >= 0; i--) { // L^T z = y
        const int64_t diagonal = f->start[i + 1] - 1;
        z[i] /= f->value[diagonal];
        for (int64_t k = f->start[i]; k < diagonal; k++) z[f->column[k]] -= f->value[k] * z[i];
    }
    return MN_OK;
}
