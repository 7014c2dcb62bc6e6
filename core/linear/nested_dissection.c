// SPDX-License-Identifier: Apache-2.0
//
// Nested dissection by coordinates [george1973, heath1995]: cut the rows at the median of their longest axis;
// those on the low side that touch the high side are the separator, eliminated last; go on in both parts. For
// meshes in space the factor has O(n^(4/3)) entries. Our matrices live on points, so no graph partitioner is
// needed.
#include "linear/cholesky_state.h"

#include <stdlib.h>

enum { LEAF = 48 };

typedef struct job {
    const mn_sparse *matrix;
    const mn_vec3 *positions;
    int32_t *side;  ///< of mn_dissection, as keys
    int32_t *order; ///< permuted in place
    double *keys;
} job;

typedef mn_dissection_piece piece;

static int longest_axis(const job *j, piece p)
{
    mn_box box = mn_box_empty();
    for (int32_t k = p.begin; k < p.end; k++) box = mn_box_add(box, j->positions[j->order[k]]);
    const mn_vec3 d = mn_sub(box.max, box.min);
    return d.x >= d.y && d.x >= d.z ? 0 : d.y >= d.z ? 1 : 2;
}

static int compare_doubles(const void *a, const void *b)
{
    const double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

// Cuts a piece; returns where the high side and the separator begin: [begin, high) low, [high, separator)
// high.
static void cut(job *j, piece p, int32_t label, int32_t *high_begin, int32_t *separator_begin)
{
    const int axis = longest_axis(j, p);
    const int32_t n = p.end - p.begin;
    for (int32_t k = 0; k < n; k++) j->keys[k] = mn_component(j->positions[j->order[p.begin + k]], axis);
    qsort(j->keys, (size_t)n, sizeof *j->keys, compare_doubles);
    const double median = j->keys[n / 2];
    // Labels: 3 label + 0 low, + 1 high, + 2 separator.
    for (int32_t k = p.begin; k < p.end; k++) {
        const int32_t row = j->order[k];
        j->side[row] = 3 * label + (mn_component(j->positions[row], axis) >= median);
    }
    for (int32_t k = p.begin; k < p.end; k++) {
        const int32_t row = j->order[k];
        if (j->side[row] != 3 * label) continue;
        for (int64_t e = j->matrix->start[row]; e < j->matrix->start[row + 1]; e++)
            if (j->side[j->matrix->column[e]] == 3 * label + 1) {
                j->side[row] = 3 * label + 2;
                break;
            }
    }
    // A stable partition into low, high, separator; keys double as scratch for the row numbers.
    int32_t *scratch = (int32_t *)j->keys, counts[3] = {0};
    for (int32_t k = p.begin; k < p.end; k++) counts[j->side[j->order[k]] - 3 * label]++;
    int32_t next[3] = {0, counts[0], counts[0] + counts[1]};
    for (int32_t k = p.begin; k < p.end; k++) scratch[next[j->side[j->order[k]] - 3 * label]++] = j->order[k];
    for (int32_t k = 0; k < n; k++) j->order[p.begin + k] = scratch[k];
    *high_begin = p.begin + counts[0];
    *separator_begin = p.begin + counts[0] + counts[1];
}

mn_status mn_cholesky_order(mn_cholesky *c, const mn_sparse *matrix, const mn_vec3 *positions, int32_t *order)
{
    const int32_t n = matrix->rows;
    mn_dissection *d = &c->dissection;
    MN_TRY(mn_array_resize(c->ctx, &d->side, n));
    MN_TRY(mn_array_resize(c->ctx, &d->keys, n));
    job j = {
        .matrix = matrix, .positions = positions, .side = d->side.data, .order = order, .keys = d->keys.data};
    for (int32_t i = 0; i < n; i++) {
        order[i] = i, j.side[i] = -1;
        if (!mn_is_finite3(positions[i]))
            return mn_fail(c->ctx, MN_ERROR_INPUT, "The position of row %d is not finite.", (int)i);
    }
    const piece whole = {0, n};
    d->pieces.count = 0;
    MN_TRY(mn_array_push(c->ctx, &d->pieces, &whole));
    for (int32_t label = 0; d->pieces.count > 0; label++) {
        const piece p = d->pieces.data[--d->pieces.count];
        if (p.end - p.begin <= LEAF) continue;
        int32_t high, separator;
        cut(&j, p, label, &high, &separator);
        // A cut that separates nothing (all on one spot, or a dense graph) would go on for ever.
        if (high == p.begin || separator == high) continue;
        const piece parts[2] = {{p.begin, high}, {high, separator}};
        MN_TRY(mn_array_push(c->ctx, &d->pieces, &parts[0]));
        MN_TRY(mn_array_push(c->ctx, &d->pieces, &parts[1]));
    }
    return MN_OK;
}
