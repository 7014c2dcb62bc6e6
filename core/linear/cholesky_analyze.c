// SPDX-License-Identifier: Apache-2.0
//
// Symbolic Cholesky: elimination tree [liu1990], postorder, column counts, supernodes relaxed by merging a
// child into its parent where few zeros are stored for it, and the rows of each.
#include "linear/cholesky_state.h"

#include <stdlib.h>
#include <string.h>

/// The arrays of mn_cholesky_tree.
typedef struct tree {
    int32_t *parent, *ancestor, *counts, *mark;
} tree;

// Columns of P A P^T to the left of `row`, through the matrix's own rows.
#define FOR_EACH_LEFT(matrix, c, row, j)                                                                     \
    for (int64_t e_ = (matrix)->start[(c)->order.data[row]]; e_ < (matrix)->start[(c)->order.data[row] + 1]; \
         e_++)                                                                                               \
        for (int32_t j = (c)->inverse.data[(matrix)->column[e_]], once_ = 1; once_ && j < (row); once_ = 0)

static void elimination_tree(const mn_cholesky *c, const mn_sparse *matrix, tree *t)
{
    for (int32_t i = 0; i < c->n; i++) {
        t->parent[i] = t->ancestor[i] = -1;
        FOR_EACH_LEFT(matrix, c, i, j)
        {
            for (int32_t k = j, up; k != -1 && k < i; k = up) {
                up = t->ancestor[k];
                t->ancestor[k] = i; // shortens later walks
                if (up == -1) t->parent[k] = i;
            }
        }
    }
}

// Renumbers so that every subtree is a run of columns, children before parents.
static void postorder(mn_cholesky *c, tree *t)
{
    // mark: first child, counts: next sibling, ancestor: stack.
    int32_t *child = t->mark, *sibling = t->counts, *stack = t->ancestor, *post = c->super_of.data;
    for (int32_t i = 0; i < c->n; i++) child[i] = -1;
    int32_t roots = -1;
    for (int32_t i = c->n - 1; i >= 0; i--) {
        int32_t *list = t->parent[i] < 0 ? &roots : &child[t->parent[i]];
        sibling[i] = *list;
        *list = i;
    }
    int32_t at = 0;
    while (roots != -1) {
        int32_t depth = 0;
        stack[0] = roots;
        roots = sibling[roots];
        while (depth >= 0) {
            const int32_t i = stack[depth];
            if (child[i] != -1) {
                stack[++depth] = child[i];
                child[i] = sibling[child[i]];
            } else {
                post[at++] = i;
                depth--;
            }
        }
    }
    for (int32_t k = 0; k < c->n; k++) c->inverse.data[k] = c->order.data[post[k]];
    memcpy(c->order.data, c->inverse.data, mn_bytes(c->n, sizeof(int32_t)));
    for (int32_t k = 0; k < c->n; k++) c->inverse.data[c->order.data[k]] = k;
}

// Entries of each column of L, the diagonal included: row i meets every column on the way up from its
// entries.
static void column_counts(const mn_cholesky *c, const mn_sparse *matrix, tree *t)
{
    for (int32_t i = 0; i < c->n; i++) t->counts[i] = 1, t->mark[i] = -1;
    for (int32_t i = 0; i < c->n; i++) {
        t->mark[i] = i;
        FOR_EACH_LEFT(matrix, c, i, j)
        {
            for (int32_t k = j; t->mark[k] != i; k = t->parent[k]) t->mark[k] = i, t->counts[k]++;
        }
    }
}

static int64_t panel_size(int64_t columns, int64_t rows)
{
    return columns * rows - columns * (columns - 1) / 2;
}

// Whether two neighbours in the tree are better off as one panel.
static bool worth_merging(int64_t columns, int64_t zeros, int64_t size)
{
    if (columns <= 4) return true;
    if (columns <= 16) return 5 * zeros < 4 * size;
    if (columns <= 48) return 10 * zeros < size;
    return 20 * zeros < size;
}

static mn_status find_supernodes(mn_cholesky *c, const tree *t)
{
    mn_cholesky_tree *lists = &c->tree;
    c->first.count = lists->rows.count = lists->zeros.count = 0;
    for (int32_t j = 0; j < c->n; j++) {
        int64_t *rows = lists->rows.data, *zeros = lists->zeros.data;
        const int64_t none = 0, count = t->counts[j];
        const int64_t last = c->first.count - 1;
        if (last >= 0 && t->parent[j - 1] == j) {
            const int64_t columns = j - c->first.data[last];
            // Column j joins the supernode that ends before it: its rows are then j's and its own columns.
            const int64_t merged = columns + count;
            const int64_t extra =
                panel_size(columns + 1, merged) - (panel_size(columns, rows[last]) - zeros[last]) - count;
            if (extra == zeros[last] || worth_merging(columns + 1, extra, panel_size(columns + 1, merged))) {
                rows[last] = merged;
                zeros[last] = extra;
                continue;
            }
        }
        MN_TRY(mn_array_push(c->ctx, &c->first, &j));
        MN_TRY(mn_array_push(c->ctx, &lists->rows, &count));
        MN_TRY(mn_array_push(c->ctx, &lists->zeros, &none));
    }
    c->super_count = (int32_t)c->first.count;
    MN_TRY(mn_array_push(c->ctx, &c->first, &c->n));
    for (int32_t s = 0; s < c->super_count; s++)
        for (int32_t j = c->first.data[s]; j < c->first.data[s + 1]; j++) c->super_of.data[j] = s;
    return MN_OK;
}

static int compare_rows(const void *a, const void *b)
{
    const int32_t x = *(const int32_t *)a, y = *(const int32_t *)b;
    return (x > y) - (x < y);
}

// Adds a row to the structure of the supernode that `tag` marks.
static mn_status add_row(mn_cholesky *c, tree *t, int32_t tag, int32_t row)
{
    if (t->mark[row] == tag) return MN_OK;
    t->mark[row] = tag;
    return mn_array_push(c->ctx, &c->rows, &row);
}

static mn_status find_rows(mn_cholesky *c, const mn_sparse *matrix, tree *t)
{
    // Children of a supernode, as lists: ancestor = first child, counts = next sibling.
    int32_t *child = t->ancestor, *sibling = t->counts;
    for (int32_t i = 0; i < c->n; i++) t->mark[i] = -1, child[i] = -1;
    c->rows.count = 0;
    MN_TRY(mn_array_resize(c->ctx, &c->row_start, (int64_t)c->super_count + 1));
    MN_TRY(mn_array_resize(c->ctx, &c->value_start, (int64_t)c->super_count + 1));
    int64_t size = 0;
    for (int32_t s = 0; s < c->super_count; s++) {
        const int32_t first = c->first.data[s], columns = c->first.data[s + 1] - first;
        const int64_t begin = c->row_start.data[s] = c->rows.count;
        for (int32_t j = first; j < first + columns; j++) MN_TRY(add_row(c, t, s, j));
        for (int32_t j = first; j < first + columns; j++) {
            const int32_t row = c->order.data[j];
            for (int64_t e = matrix->start[row]; e < matrix->start[row + 1]; e++)
                if (c->inverse.data[matrix->column[e]] > j)
                    MN_TRY(add_row(c, t, s, c->inverse.data[matrix->column[e]]));
        }
        for (int32_t d = child[s]; d != -1; d = sibling[d])
            for (int64_t k = c->row_start.data[d]; k < c->row_start.data[d + 1]; k++)
                if (c->rows.data[k] >= first) MN_TRY(add_row(c, t, s, c->rows.data[k]));
        const int64_t count = c->rows.count - begin;
        qsort(c->rows.data + begin + columns, (size_t)(count - columns), sizeof(int32_t), compare_rows);
        c->row_start.data[s + 1] = c->rows.count;
        c->value_start.data[s] = size;
        size += count * columns;
        if (count == columns) continue;
        const int32_t parent = c->super_of.data[c->rows.data[begin + columns]];
        sibling[s] = child[parent];
        child[parent] = s;
    }
    c->value_start.data[c->super_count] = size;
    return MN_OK;
}

static mn_status analyze(mn_cholesky *c, const mn_sparse *matrix)
{
    mn_cholesky_tree *lists = &c->tree;
    MN_TRY(mn_array_resize(c->ctx, &lists->parent, c->n));
    MN_TRY(mn_array_resize(c->ctx, &lists->ancestor, c->n));
    MN_TRY(mn_array_resize(c->ctx, &lists->counts, c->n));
    MN_TRY(mn_array_resize(c->ctx, &lists->mark, c->n));
    tree t = {lists->parent.data, lists->ancestor.data, lists->counts.data, lists->mark.data};
    elimination_tree(c, matrix, &t);
    postorder(c, &t);
    elimination_tree(c, matrix, &t);
    column_counts(c, matrix, &t);
    MN_TRY(find_supernodes(c, &t));
    return find_rows(c, matrix, &t);
}

static mn_status set_order(mn_cholesky *c, const int32_t *order)
{
    for (int32_t k = 0; k < c->n; k++) c->inverse.data[k] = -1;
    for (int32_t k = 0; k < c->n; k++) {
        const int32_t row = order ? order[k] : k;
        if (row < 0 || row >= c->n || c->inverse.data[row] >= 0)
            return mn_fail(c->ctx, MN_ERROR_ARGUMENT,
                           "The order of elimination is not a permutation (place %d).", (int)k);
        c->order.data[k] = row;
        c->inverse.data[row] = k;
    }
    return MN_OK;
}

mn_status mn_cholesky_analyze(mn_cholesky *c, const mn_sparse *matrix, const int32_t *order)
{
    if (matrix->rows != matrix->columns)
        return mn_fail(c->ctx, MN_ERROR_ARGUMENT, "Cholesky needs a square matrix, not %d by %d.",
                       (int)matrix->rows, (int)matrix->columns);
    c->n = matrix->rows;
    c->factored = false;
    c->super_count = 0;
    c->pattern_entries = mn_sparse_entries(matrix);
    MN_TRY(mn_array_resize(c->ctx, &c->order, c->n));
    MN_TRY(mn_array_resize(c->ctx, &c->inverse, c->n));
    MN_TRY(mn_array_resize(c->ctx, &c->super_of, c->n));
    MN_TRY(set_order(c, order));
    const mn_status status = analyze(c, matrix);
    if (status != MN_OK) c->super_count = 0, c->n = 0;
    return status;
}
