// SPDX-License-Identifier: Apache-2.0
//
// The linear system of one Newton step: blocks of 3 x 3 gathered row by row from mass, elements and rows of
// contacts, a sparse Cholesky factor of the unknown nodes, and fixed nodes on the right-hand side:
//
//   H_uu dx_u = -g_u - H_uf dx_f,     H = M/h^2 + K + sum w r r^T
//
// The pattern stays until a contact asks for a block that it does not have. A factor costs ten to
// fifteen solves, and H changes little once most contacts are found: the last factor then preconditions
// conjugate gradients, in a new pattern too, and a new one is made when that takes too many iterations.
// Directions need few digits: Newton's method takes as many steps with one and a half as with four.
#include "elastic/elastic_state.h"
#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

enum { ROW_GRAIN = 512 };
enum { REUSE_ROWS = 1500, REUSE_ITERATIONS = 12, REUSE_REST = 2 };
static const double reuse_tolerance = 3e-2; ///< of the right-hand side, in the norm of the factor's inverse

void mn_elastic_free_system(mn_elastic *s)
{
    mn_sparse_free(s->solver.ctx, &s->pattern);
    mn_sparse_free(s->solver.ctx, &s->matrix);
    mn_cholesky_free(s->cholesky);
    mn_krylov_free(s->krylov);
    s->cholesky = NULL, s->krylov = NULL;
    s->factor_rest = 0, s->has_factor = s->factor_is_fresh = false;
}

// ---- rows around nodes ----

static mn_status list_entries(mn_elastic *s)
{
    const int64_t nodes = s->x.count;
    MN_TRY(mn_array_resize(s->solver.ctx, &s->entry_start, nodes + 1));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->entry_row, s->entry.count));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->entry_at, s->entry.count));
    for (int64_t i = 0; i <= nodes; i++) s->entry_start.data[i] = 0;
    for (int64_t i = 0; i < s->entry.count; i++) s->entry_start.data[s->entry.data[i].node + 1]++;
    for (int64_t i = 0; i < nodes; i++) s->entry_start.data[i + 1] += s->entry_start.data[i];
    for (int64_t r = 0; r < s->row.count; r++)
        for (int32_t k = 0; k < s->row.data[r].count; k++) {
            const int64_t at = s->entry_start.data[s->entry.data[s->row.data[r].first + k].node]++;
            s->entry_row.data[at] = (int32_t)r, s->entry_at.data[at] = k;
        }
    for (int64_t i = nodes; i > 0; i--) s->entry_start.data[i] = s->entry_start.data[i - 1];
    s->entry_start.data[0] = 0;
    return MN_OK;
}

// ---- pattern ----

static int compare_indices(const void *a, const void *b)
{
    const int32_t p = *(const int32_t *)a, q = *(const int32_t *)b;
    return p < q ? -1 : p > q;
}

/// The unknowns that share an element or a row with a node, sorted, itself included.
static mn_status neighbours_of(mn_elastic *s, int64_t node, mn_indices *list)
{
    list->count = 0;
    for (int64_t k = s->around_start.data[node]; k < s->around_start.data[node + 1]; k++) {
        const mn_element *e = &s->element.data[s->around.data[k] / 4];
        for (int a = 0; a < 4; a++)
            if (e->node[a] >= 0 && s->unknown.data[e->node[a]] >= 0)
                MN_TRY(mn_array_push(s->solver.ctx, list, &s->unknown.data[e->node[a]]));
    }
    for (int64_t k = s->entry_start.data[node]; k < s->entry_start.data[node + 1]; k++) {
        const mn_row *row = &s->row.data[s->entry_row.data[k]];
        for (int32_t i = 0; i < row->count; i++) {
            const int32_t other = s->unknown.data[s->entry.data[row->first + i].node];
            if (other >= 0) MN_TRY(mn_array_push(s->solver.ctx, list, &other));
        }
    }
    MN_TRY(mn_array_push(s->solver.ctx, list, &s->unknown.data[node]));
    if (list->count > 0) qsort(list->data, (size_t)list->count, sizeof *list->data, compare_indices);
    int64_t kept = 0;
    for (int64_t i = 0; i < list->count; i++)
        if (i == 0 || list->data[i] != list->data[i - 1]) list->data[kept++] = list->data[i];
    list->count = kept;
    return MN_OK;
}

static int64_t find_block(const mn_sparse *pattern, int32_t row, int32_t column)
{
    int64_t low = pattern->start[row], high = pattern->start[row + 1];
    const int64_t end = high;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (pattern->column[middle] < column)
            low = middle + 1;
        else
            high = middle;
    }
    return low < end && pattern->column[low] == column ? low : -1;
}

static bool has_all_blocks(const mn_elastic *s)
{
    if (s->pattern.rows != s->unknown_count) return false;
    for (int64_t r = 0; r < s->row.count; r++) {
        const mn_row_entry *e = s->entry.data + s->row.data[r].first;
        for (int32_t i = 0; i < s->row.data[r].count; i++)
            for (int32_t j = 0; j < i; j++) {
                const int32_t a = s->unknown.data[e[i].node], b = s->unknown.data[e[j].node];
                if (a >= 0 && b >= 0 && find_block(&s->pattern, a, b) < 0) return false;
            }
    }
    return true;
}

static mn_status size_sparse(mn_context *ctx, int32_t rows, int64_t entries, mn_sparse *m)
{
    MN_TRY(mn_sparse_set_size(ctx, m, rows, rows));
    m->start[rows] = entries;
    return mn_sparse_set_entries(ctx, m, entries);
}

static mn_status find_pattern(mn_elastic *s, mn_indices *columns, mn_indices *list, int64_t *start)
{
    for (int64_t node = 0; node < s->x.count; node++) {
        const int32_t row = s->unknown.data[node];
        if (row < 0) continue;
        MN_TRY(neighbours_of(s, node, list));
        start[row] = columns->count;
        for (int64_t k = 0; k < list->count; k++)
            MN_TRY(mn_array_push(s->solver.ctx, columns, &list->data[k]));
    }
    return MN_OK;
}

/// Where the blocks of an element are in the pattern: 16 for each, -1 where a node is fixed or missing.
static mn_status list_blocks(mn_elastic *s)
{
    MN_TRY(mn_array_resize(s->solver.ctx, &s->element_block, 16 * s->element.count));
    for (int64_t e = 0; e < s->element.count; e++)
        for (int a = 0; a < 4; a++)
            for (int b = 0; b < 4; b++) {
                const int32_t *node = s->element.data[e].node;
                const int32_t row = node[a] < 0 ? -1 : s->unknown.data[node[a]];
                const int32_t column = node[b] < 0 ? -1 : s->unknown.data[node[b]];
                s->element_block.data[16 * e + 4 * a + b] =
                    row < 0 || column < 0 ? -1 : find_block(&s->pattern, row, column);
            }
    return MN_OK;
}

/// Rows come in the order of nodes, which is that of unknowns.
static mn_status build_pattern(mn_elastic *s)
{
    const int32_t n = s->unknown_count;
    mn_indices columns = {0}, list = {0};
    MN_ARRAY(int64_t) start = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(s->solver.ctx, &start, (int64_t)n + 1));
    MN_TRY_TO(done, status, find_pattern(s, &columns, &list, start.data));
    start.data[n] = columns.count;
    MN_TRY_TO(done, status, size_sparse(s->solver.ctx, n, columns.count, &s->pattern));
    mn_copy_bytes(s->pattern.start, start.data, ((size_t)n + 1) * sizeof *start.data);
    mn_copy_bytes(s->pattern.column, columns.data, (size_t)columns.count * sizeof *columns.data);
    // three rows for each node
    MN_TRY_TO(done, status, size_sparse(s->solver.ctx, 3 * n, 9 * columns.count, &s->matrix));
    for (int32_t row = 0; row < n; row++)
        for (int32_t i = 0; i < 3; i++) {
            const int64_t count = start.data[row + 1] - start.data[row];
            const int64_t at = 9 * start.data[row] + 3 * i * count;
            s->matrix.start[3 * row + i] = at;
            for (int64_t k = 0; k < count; k++)
                for (int32_t j = 0; j < 3; j++)
                    s->matrix.column[at + 3 * k + j] = 3 * columns.data[start.data[row] + k] + j;
        }
    status = list_blocks(s);
done:
    mn_array_free(s->solver.ctx, &columns);
    mn_array_free(s->solver.ctx, &list);
    mn_array_free(s->solver.ctx, &start);
    return status;
}

/// The order of elimination and what a factor in it has, for the pattern at hand.
static mn_status analyse(mn_elastic *s)
{
    const int32_t n = s->unknown_count;
    mn_vec3 *places = s->dx.data; // scratch: the solve has not begun
    MN_TRY(mn_array_resize(s->solver.ctx, &s->block_order, n));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->order, 3 * (int64_t)n));
    for (int64_t node = 0; node < s->x.count; node++)
        if (s->unknown.data[node] >= 0) places[s->unknown.data[node]] = s->x.data[node];
    if (!s->cholesky) MN_TRY(mn_cholesky_create(s->solver.ctx, &s->cholesky));
    MN_TRY(mn_cholesky_order(s->cholesky, &s->pattern, places, s->block_order.data));
    for (int32_t k = 0; k < n; k++)
        for (int32_t i = 0; i < 3; i++) s->order.data[3 * k + i] = 3 * s->block_order.data[k] + i;
    return mn_cholesky_analyze(s->cholesky, &s->matrix, s->order.data);
}

// ---- numbers ----

typedef struct gathering {
    mn_elastic *elastic;
    const mn_vec3 *x;
} gathering;

/// Adds a block to the matrix at `at` in the pattern, or what it does to a fixed node's step to the
/// right-hand side.
static void add_block(const gathering *q, int32_t row, int64_t at, int32_t other, const double *block,
                      int32_t stride, double *rhs)
{
    mn_elastic *s = q->elastic;
    if (at < 0) {
        const mn_vec3 d = mn_sub(s->goal.data[other], q->x[other]);
        for (int i = 0; i < 3; i++)
            rhs[i] -= block[stride * i] * d.x + block[stride * i + 1] * d.y + block[stride * i + 2] * d.z;
        return;
    }
    const int64_t first = s->pattern.start[row];
    const int64_t width = 3 * (s->pattern.start[row + 1] - first);
    for (int i = 0; i < 3; i++) {
        double *value = s->matrix.value + 9 * first + i * width + 3 * (at - first);
        for (int j = 0; j < 3; j++) value[j] += block[stride * i + j];
    }
}

static int64_t block_of(const mn_elastic *s, int32_t row, int32_t other)
{
    const int32_t column = s->unknown.data[other];
    return column < 0 ? -1 : find_block(&s->pattern, row, column);
}

static mn_status gather_range(void *user, mn_range range)
{
    const gathering *q = user;
    mn_elastic *s = q->elastic;
    for (int64_t node = range.begin; node < range.end; node++) {
        const int32_t row = s->unknown.data[node];
        if (row < 0) continue;
        const double *g = s->gradient.data + 3 * node;
        double rhs[3] = {-g[0], -g[1], -g[2]};
        const int64_t begin = 9 * s->pattern.start[row], end = 9 * s->pattern.start[row + 1];
        mn_fill_bytes(s->matrix.value + begin, 0, (size_t)(end - begin) * sizeof(double));
        const double inertia = s->mass.data[node] / (s->h * s->h);
        const double diagonal[9] = {inertia, 0, 0, 0, inertia, 0, 0, 0, inertia};
        add_block(q, row, block_of(s, row, (int32_t)node), (int32_t)node, diagonal, 3, rhs);
        for (int64_t k = s->around_start.data[node]; k < s->around_start.data[node + 1]; k++) {
            const int64_t e = s->around.data[k] / 4;
            const int32_t a = s->around.data[k] % 4;
            for (int b = 0; b < 4; b++)
                if (s->element.data[e].node[b] >= 0)
                    add_block(q, row, s->element_block.data[16 * e + 4 * a + b], s->element.data[e].node[b],
                              s->element_stiffness.data + 144 * e + 12 * (3 * a) + 3 * b, 12, rhs);
        }
        for (int64_t k = s->entry_start.data[node]; k < s->entry_start.data[node + 1]; k++) {
            const mn_row *r = &s->row.data[s->entry_row.data[k]];
            const mn_row_entry *entry = s->entry.data + r->first;
            const mn_vec3 own = mn_scale(r->weight, entry[s->entry_at.data[k]].r);
            for (int32_t i = 0; i < r->count; i++) {
                const mn_mat3 block = mn_outer(own, entry[i].r);
                add_block(q, row, block_of(s, row, entry[i].node), entry[i].node, &block.m[0][0], 3, rhs);
            }
        }
        memcpy(s->direction.data + 3 * row, rhs, sizeof rhs);
    }
    return MN_OK;
}

static mn_status assemble(mn_elastic *s, const mn_vec3 *x)
{
    MN_TRY(list_entries(s));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->direction, 3 * (int64_t)s->unknown_count));
    if (s->unknown_count == 0) return MN_OK;
    if (!has_all_blocks(s)) {
        mn_timer_begin(&s->solver.timers, "analyse");
        const mn_status built = build_pattern(s);
        mn_timer_end(&s->solver.timers, "analyse");
        MN_TRY(built);
        s->pattern_is_new = true;
    }
    gathering q = {s, x};
    mn_timer_begin(&s->solver.timers, "assemble");
    const mn_status gathered = mn_parallel_for(s->solver.ctx, s->x.count, ROW_GRAIN, gather_range, &q);
    mn_timer_end(&s->solver.timers, "assemble");
    return gathered;
}

static mn_status factor(mn_elastic *s)
{
    if (s->pattern_is_new) {
        mn_timer_begin(&s->solver.timers, "analyse");
        const mn_status analysed = analyse(s);
        mn_timer_end(&s->solver.timers, "analyse");
        s->has_factor = false;
        MN_TRY(analysed);
        s->pattern_is_new = false;
    }
    mn_timer_begin(&s->solver.timers, "solve");
    const mn_status factored = mn_cholesky_factor(s->cholesky, &s->matrix);
    mn_timer_end(&s->solver.timers, "solve");
    s->has_factor = s->factor_is_fresh = factored == MN_OK;
    return factored == MN_ERROR_INPUT ? MN_ERROR_DIVERGED : factored; // not a number, or indefinite
}

mn_status mn_elastic_factor(mn_elastic *s, const mn_vec3 *x)
{
    MN_TRY(assemble(s, x));
    return s->unknown_count > 0 ? factor(s) : MN_OK;
}

static mn_status apply_matrix(void *user, const double *x, double *y)
{
    const mn_elastic *s = user;
    return mn_sparse_apply(s->solver.ctx, &s->matrix, x, y);
}

static mn_status apply_factor(void *user, const double *x, double *y)
{
    return mn_cholesky_solve(user, x, y);
}

/// s->image from s->direction by the factor of an earlier matrix; false when that is not worth it.
static mn_status solve_with_old_factor(mn_elastic *s, bool *solved)
{
    *solved = false;
    if (!s->has_factor || 3 * s->unknown_count < REUSE_ROWS) return MN_OK;
    if (s->factor_rest > 0) {
        s->factor_rest--;
        return MN_OK;
    }
    if (!s->krylov) MN_TRY(mn_krylov_create(s->solver.ctx, &s->krylov));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->image, s->direction.count));
    for (int64_t i = 0; i < s->image.count; i++) s->image.data[i] = 0;
    const mn_linear_problem problem = {s->direction.count, apply_matrix, s, apply_factor, s->cholesky};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    def.tolerance = reuse_tolerance, def.max_iterations = REUSE_ITERATIONS, def.from_zero = true;
    MN_TRY(mn_conjugate_gradients(s->krylov, &problem, &def, s->direction.data, s->image.data, &result));
    *solved = result.end == MN_KRYLOV_CONVERGED;
    if (!*solved && s->factor_is_fresh) s->factor_rest = REUSE_REST; // H changes too fast
    s->factor_is_fresh = false;
    return MN_OK;
}

static mn_status solve_any(mn_elastic *s)
{
    bool solved;
    mn_timer_begin(&s->solver.timers, "solve");
    mn_status status = solve_with_old_factor(s, &solved);
    mn_timer_end(&s->solver.timers, "solve");
    MN_TRY(status);
    if (solved) {
        mn_copy_bytes(s->direction.data, s->image.data, mn_bytes(s->image.count, sizeof *s->image.data));
        return MN_OK;
    }
    MN_TRY(factor(s));
    mn_timer_begin(&s->solver.timers, "solve");
    status = mn_cholesky_solve(s->cholesky, s->direction.data, s->direction.data);
    mn_timer_end(&s->solver.timers, "solve");
    return status;
}

mn_status mn_elastic_solve(mn_elastic *s, const mn_vec3 *x)
{
    MN_TRY(assemble(s, x));
    if (s->unknown_count > 0) MN_TRY(solve_any(s));
    for (int64_t node = 0; node < s->x.count; node++) {
        const int32_t row = s->unknown.data[node];
        s->dx.data[node] = row < 0 ? mn_sub(s->goal.data[node], x[node])
                                   : mn_v3(s->direction.data[3 * row], s->direction.data[3 * row + 1],
                                           s->direction.data[3 * row + 2]);
    }
    return MN_OK;
}
