// SPDX-License-Identifier: Apache-2.0
//
// Aggregates for multigrid [vanek1996], greedily in the order of the rows:
//
//   1. a row none of whose strong neighbours is taken takes them all
//   2. what is left joins the aggregate of the first round that holds it most strongly
//   3. what is left still takes its strong neighbours that are left
#include "linear/multigrid_state.h"

typedef struct strength {
    const mn_sparse *matrix;
    const double *inverse_diagonal;
    double threshold2;
} strength;

static bool is_strong(const strength *s, int32_t i, int64_t entry)
{
    const int32_t j = s->matrix->column[entry];
    const double a = s->matrix->value[entry];
    return j != i && a * a * s->inverse_diagonal[i] * s->inverse_diagonal[j] > s->threshold2;
}

// Row i and its strong neighbours that are free become an aggregate.
static void take(const strength *s, int32_t i, int32_t number, int32_t *aggregate)
{
    aggregate[i] = number;
    for (int64_t e = s->matrix->start[i]; e < s->matrix->start[i + 1]; e++)
        if (is_strong(s, i, e) && aggregate[s->matrix->column[e]] < 0)
            aggregate[s->matrix->column[e]] = number;
}

// Strong neighbours of row i that are free and that are taken.
static void count_neighbours(const strength *s, int32_t i, const int32_t *aggregate, int32_t *idle,
                             int32_t *taken)
{
    *idle = *taken = 0;
    for (int64_t e = s->matrix->start[i]; e < s->matrix->start[i + 1]; e++)
        if (is_strong(s, i, e)) ++*(aggregate[s->matrix->column[e]] < 0 ? idle : taken);
}

// The aggregate of the first round, numbers below `first`, that holds row i most strongly; -1: none.
static int32_t strongest(const strength *s, int32_t i, const int32_t *aggregate, int32_t first)
{
    int32_t best = -1;
    double most = 0;
    for (int64_t e = s->matrix->start[i]; e < s->matrix->start[i + 1]; e++) {
        const int32_t j = s->matrix->column[e], number = aggregate[j];
        if (!is_strong(s, i, e) || number < 0 || number >= first) continue;
        const double a = s->matrix->value[e], weight = a * a * s->inverse_diagonal[j];
        if (weight > most) most = weight, best = number;
    }
    return best;
}

int32_t mn_aggregate(const mn_sparse *matrix, const double *inverse_diagonal, double threshold,
                     int32_t *aggregate)
{
    const strength s = {matrix, inverse_diagonal, threshold * threshold};
    int32_t idle, taken, number = 0;
    for (int32_t i = 0; i < matrix->rows; i++) aggregate[i] = -1;
    for (int32_t i = 0; i < matrix->rows; i++) {
        if (aggregate[i] >= 0) continue;
        count_neighbours(&s, i, aggregate, &idle, &taken);
        if (idle > 0 && taken == 0) take(&s, i, number++, aggregate);
    }
    // Those that join are not seen by each other: they have numbers from -2 down until all have joined.
    for (int32_t i = 0; i < matrix->rows; i++) {
        if (aggregate[i] != -1) continue;
        const int32_t best = strongest(&s, i, aggregate, number);
        if (best >= 0) aggregate[i] = -2 - best;
    }
    for (int32_t i = 0; i < matrix->rows; i++)
        if (aggregate[i] < -1) aggregate[i] = -2 - aggregate[i];
    for (int32_t i = 0; i < matrix->rows; i++) {
        if (aggregate[i] >= 0) continue;
        count_neighbours(&s, i, aggregate, &idle, &taken);
        if (idle > 0) take(&s, i, number++, aggregate);
    }
    return number;
}
