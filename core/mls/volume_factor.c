// SPDX-License-Identifier: Apache-2.0
//
// A preconditioner for MINRES on a symmetric quasi-definite matrix: the incomplete factors L D L^T without
// fill, with the pivots' signs dropped, P = L |D| L^T. With complete factors all eigenvalues of P^-1 A would
// be 1 and -1 [vanderbei1995]. The first `negative` rows have negative pivots, the others positive ones; a
// pivot that comes out wrong, which only the dropping of fill can do, is set to a part of the diagonal.
// Several such pivots after each other can make the rows below them grow without bound; then the factors are
// those of a matrix with a larger diagonal [manteuffel1980].
#include "mls/volume_state.h"

#include <string.h>

static const double LEAST_PIVOT = 0.01;                   // of the diagonal
static const double FIRST_SHIFT = 0.01, MOST_SHIFT = 1e3; // of the diagonal
static const double MOST_GROWTH =
    1e3; // of an entry of L, scaled by the pivots; 1 / sqrt(LEAST_PIVOT) is usual

static mn_status make_room(mn_context *ctx, const mn_sparse *m, volume_factor *f)
{
    MN_TRY(mn_array_resize(ctx, &f->value, mn_sparse_entries(m)));
    MN_TRY(mn_array_resize(ctx, &f->diagonal, m->rows));
    return mn_array_resize(ctx, &f->where, m->rows);
}

// Row i of L and U, U = D L^T, by the rows of U above.
static void eliminate(const mn_sparse *m, volume_factor *f, int32_t i)
{
    double *lu = f->value.data;
    for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
        const int32_t j = m->column[k];
        if (j >= i) {
            f->diagonal.data[i] = k;
            return;
        }
        lu[k] /= lu[f->diagonal.data[j]];
        for (int64_t e = f->diagonal.data[j] + 1; e < m->start[j + 1]; e++) {
            const int64_t to = f->where.data[m->column[e]];
            if (to >= 0) lu[to] -= lu[k] * lu[e];
        }
    }
}

static void factorise(const mn_sparse *m, int64_t negative, double shift, volume_factor *f)
{
    memcpy(f->value.data, m->value, mn_bytes(mn_sparse_entries(m), sizeof(double)));
    for (int32_t i = 0; i < m->rows; i++) f->where.data[i] = -1;
    for (int32_t i = 0; i < m->rows; i++) {
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            f->where.data[m->column[k]] = k;
            if (m->column[k] == i) f->value.data[k] *= 1 + shift;
        }
        eliminate(m, f, i);
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) f->where.data[m->column[k]] = -1;
        const double sign = i < negative ? -1 : 1, before = fabs(m->value[f->diagonal.data[i]]);
        double *pivot = &f->value.data[f->diagonal.data[i]];
        if (!(sign * *pivot > LEAST_PIVOT * before)) *pivot = sign * fmax(LEAST_PIVOT * before, 1e-300);
    }
}

// No entry of L |D|^1/2, beside the root of its row's pivot, is out of all proportion.
static bool is_sound(const mn_sparse *m, const volume_factor *f)
{
    const double *lu = f->value.data;
    for (int32_t i = 0; i < m->rows; i++) {
        const double own = fabs(lu[f->diagonal.data[i]]);
        for (int64_t k = m->start[i]; k < f->diagonal.data[i]; k++) {
            const double other = fabs(lu[f->diagonal.data[m->column[k]]]);
            if (!(lu[k] * lu[k] * (other / own) <= MOST_GROWTH * MOST_GROWTH)) return false;
        }
    }
    return true;
}

mn_status volume_factor_build(mn_context *ctx, const mn_sparse *m, int64_t negative, volume_factor *f)
{
    MN_TRY(make_room(ctx, m, f));
    f->matrix = m;
    factorise(m, negative, 0, f);
    for (double shift = FIRST_SHIFT; shift <= MOST_SHIFT && !is_sound(m, f); shift *= 10)
        factorise(m, negative, shift, f);
    return MN_OK;
}

void volume_factor_free(mn_context *ctx, volume_factor *f)
{
    mn_array_free(ctx, &f->value);
    mn_array_free(ctx, &f->diagonal);
    mn_array_free(ctx, &f->where);
}

mn_status volume_factor_apply(void *user, const double *r, double *z)
{
    const volume_factor *f = user;
    const mn_sparse *m = f->matrix;
    const double *lu = f->value.data;
    for (int32_t i = 0; i < m->rows; i++) { // L y = r
        double sum = r[i];
        for (int64_t k = m->start[i]; k < f->diagonal.data[i]; k++) sum -= lu[k] * z[m->column[k]];
        z[i] = sum;
    }
    for (int32_t i = m->rows - 1; i >= 0; i--) { // L^T z = |D|^-1 y
        const double pivot = lu[f->diagonal.data[i]];
        double sum = 0;
        for (int64_t k = f->diagonal.data[i] + 1; k < m->start[i + 1]; k++) sum += lu[k] * z[m->column[k]];
        z[i] = z[i] / fabs(pivot) - sum / pivot;
    }
    return MN_OK;
}
