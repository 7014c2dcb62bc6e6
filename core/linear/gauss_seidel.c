// SPDX-License-Identifier: Apache-2.0
//
// Gauss-Seidel on blocks of rows in colours: blocks of one colour have no entry in common, so they are swept
// at once by as many workers as there are, with the bits of one. With A = L + D + U in the order of the
// sweep, the forward sweep from zero needs L only and leaves the residual -U x; the backward one of a
// residual needs U only: together one and a half times the entries of A, and one is the other's transpose.
#include "linear/multigrid_state.h"

#include "base/parallel.h"
#include "base/simd.h"

#include <string.h>

enum { ROW_GRAIN = 512, BLOCK_GRAIN = 8 };

static void free_half(mn_context *ctx, mn_half *h)
{
    mn_array_free(ctx, &h->start);
    mn_array_free(ctx, &h->column);
    mn_array_free(ctx, &h->value);
}

void mn_sweep_free(mn_context *ctx, mn_sweep *s)
{
    mn_array_free(ctx, &s->row);
    mn_array_free(ctx, &s->place);
    free_half(ctx, &s->before);
    free_half(ctx, &s->after);
    mn_array_free(ctx, &s->diagonal);
    mn_array_free(ctx, &s->block_start);
    mn_array_free(ctx, &s->colour_start);
}

// ---- order ----

typedef struct colouring {
    int32_t blocks, colours;
    int32_t *block_of;      ///< [rows]
    int32_t *first, *next;  ///< rows of a block as a list
    int32_t *colour, *seen; ///< [blocks] its colour; the last block that found this colour at a neighbour
    int32_t *size;          ///< [blocks] how many have this colour
} colouring;

static void make_blocks(const mn_sparse *a, const int32_t *aggregate, int32_t count, colouring *c)
{
    c->blocks = count;
    for (int32_t i = 0; i < a->rows; i++) c->block_of[i] = aggregate[i] >= 0 ? aggregate[i] : c->blocks++;
    for (int32_t b = 0; b < c->blocks; b++) c->first[b] = -1;
    for (int32_t i = a->rows - 1; i >= 0; i--) {
        c->next[i] = c->first[c->block_of[i]];
        c->first[c->block_of[i]] = i;
    }
}

// Each block gets the first colour that no neighbour has.
static void colour_blocks(const mn_sparse *a, colouring *c)
{
    c->colours = 0;
    for (int32_t b = 0; b < c->blocks; b++) c->colour[b] = c->seen[b] = -1, c->size[b] = 0;
    for (int32_t b = 0; b < c->blocks; b++) {
        for (int32_t i = c->first[b]; i >= 0; i = c->next[i])
            for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
                const int32_t other = c->colour[c->block_of[a->column[e]]];
                if (other >= 0) c->seen[other] = b;
            }
        int32_t colour = 0;
        while (c->seen[colour] == b) colour++;
        c->colour[b] = colour;
        c->size[colour]++;
        if (colour >= c->colours) c->colours = colour + 1;
    }
}

static mn_status order_rows(mn_context *ctx, colouring *c, mn_sweep *s)
{
    MN_TRY(mn_array_resize(ctx, &s->colour_start, (int64_t)c->colours + 1));
    MN_TRY(mn_array_resize(ctx, &s->block_start, (int64_t)c->blocks + 1));
    s->colour_start.data[0] = 0;
    for (int32_t k = 0; k < c->colours; k++)
        s->colour_start.data[k + 1] = s->colour_start.data[k] + c->size[k];
    // seen becomes the order of the blocks, size the next place of a colour.
    for (int32_t k = 0; k < c->colours; k++) c->size[k] = s->colour_start.data[k];
    for (int32_t b = 0; b < c->blocks; b++) c->seen[c->size[c->colour[b]]++] = b;
    int32_t at = 0;
    for (int32_t k = 0; k < c->blocks; k++) {
        s->block_start.data[k] = at;
        for (int32_t i = c->first[c->seen[k]]; i >= 0; i = c->next[i]) {
            s->place.data[i] = at;
            s->row.data[at++] = i;
        }
    }
    s->block_start.data[c->blocks] = at;
    return MN_OK;
}

// Makes room for the entries on one side of the diagonal.
static mn_status size_half(mn_context *ctx, const mn_sparse *a, const mn_sweep *s, bool after, mn_half *h)
{
    int64_t entries = 0;
    MN_TRY(mn_array_resize(ctx, &h->start, (int64_t)a->rows + 1));
    for (int32_t k = 0; k < a->rows; k++) {
        const int32_t i = s->row.data[k];
        h->start.data[k] = entries;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++)
            entries += a->column[e] != i && (s->place.data[a->column[e]] > k) == after;
    }
    h->start.data[a->rows] = entries;
    MN_TRY(mn_array_resize(ctx, &h->column, entries));
    return mn_array_resize(ctx, &h->value, entries);
}

mn_status mn_sweep_order(mn_context *ctx, const mn_sparse *a, const int32_t *aggregate, int32_t count,
                         mn_sweep *s)
{
    const int64_t n = a->rows;
    MN_TRY(mn_array_resize(ctx, &s->row, n));
    MN_TRY(mn_array_resize(ctx, &s->place, n));
    MN_TRY(mn_array_resize(ctx, &s->diagonal, n));
    const size_t bytes = mn_bytes(6 * n, sizeof(int32_t));
    int32_t *scratch = mn_allocate(ctx, bytes);
    if (n > 0 && !scratch) return MN_ERROR_MEMORY;
    colouring c = {.block_of = scratch,
                   .first = scratch + n,
                   .next = scratch + 2 * n,
                   .colour = scratch + 3 * n,
                   .seen = scratch + 4 * n,
                   .size = scratch + 5 * n};
    make_blocks(a, aggregate, count, &c);
    colour_blocks(a, &c);
    const mn_status status = order_rows(ctx, &c, s);
    mn_release(ctx, scratch, bytes);
    MN_TRY(status);
    MN_TRY(size_half(ctx, a, s, false, &s->before));
    return size_half(ctx, a, s, true, &s->after);
}

void mn_sweep_fill(const mn_sparse *a, mn_sweep *s)
{
    for (int32_t k = 0; k < a->rows; k++) {
        const int32_t i = s->row.data[k];
        int64_t at[2] = {s->before.start.data[k], s->after.start.data[k]};
        double diagonal = 0;
        for (int64_t e = a->start[i]; e < a->start[i + 1]; e++) {
            const int32_t j = a->column[e], side = s->place.data[j] > k;
            diagonal += a->value[e];
            if (j == i) continue;
            mn_half *h = side ? &s->after : &s->before;
            h->column.data[at[side]] = j;
            h->value.data[at[side]] = (float)a->value[e];
            diagonal -= (double)h->value.data[at[side]++];
        }
        s->diagonal.data[k] = diagonal;
    }
}

// ---- sweeps ----

typedef struct sweep_job {
    const mn_sweep *sweep;
    int32_t first; ///< block of the running colour
    const double *from, *side;
    double *to, *sum;
} sweep_job;

// The k-th row of a half times x, in four chains that hide the latency of the addition.
MN_INLINE double half_row(const mn_half *h, int64_t k, const double *x)
{
    const float *a = h->value.data;
    const int32_t *j = h->column.data;
    int64_t e = h->start.data[k];
    const int64_t end = h->start.data[k + 1];
    double sum[4] = {0};
    for (; e + 4 <= end; e += 4)
        for (int c = 0; c < 4; c++) sum[c] += (double)a[e + c] * x[j[e + c]];
    for (; e < end; e++) sum[0] += (double)a[e] * x[j[e]];
    return (sum[0] + sum[1]) + (sum[2] + sum[3]);
}

MN_MULTIVERSION
static mn_status forward_blocks(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_sweep *s = job->sweep;
    const int32_t *block = s->block_start.data + job->first;
    for (int32_t k = block[range.begin]; k < block[range.end]; k++) {
        const int32_t i = s->row.data[k];
        job->to[i] = (job->from[i] - half_row(&s->before, k, job->to)) / s->diagonal.data[k];
    }
    return MN_OK;
}

MN_MULTIVERSION
static mn_status leftover_rows(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_sweep *s = job->sweep;
    for (int64_t k = range.begin; k < range.end; k++)
        job->to[s->row.data[k]] = -half_row(&s->after, k, job->from);
    return MN_OK;
}

MN_MULTIVERSION
static mn_status backward_blocks(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_sweep *s = job->sweep;
    const int32_t *block = s->block_start.data + job->first;
    for (int32_t k = block[range.end] - 1; k >= block[range.begin]; k--) {
        const int32_t i = s->row.data[k];
        job->to[i] = (job->from[i] - half_row(&s->after, k, job->to)) / s->diagonal.data[k];
        job->sum[i] += job->to[i];
    }
    return MN_OK;
}

MN_MULTIVERSION
static mn_status image_rows(void *user, mn_range range)
{
    const sweep_job *job = user;
    const mn_sweep *s = job->sweep;
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t i = s->row.data[k];
        job->to[i] = job->side[i] + half_row(&s->before, k, job->from);
    }
    return MN_OK;
}

static mn_status sweep_colour(mn_context *ctx, sweep_job *job, int64_t colour, mn_range_fn *fn)
{
    const int32_t *start = job->sweep->colour_start.data + colour;
    job->first = start[0];
    return mn_parallel_for(ctx, start[1] - start[0], BLOCK_GRAIN, fn, job);
}

mn_status mn_sweep_forward(mn_context *ctx, const mn_sweep *s, double *r, double *x)
{
    sweep_job job = {.sweep = s, .from = r, .to = x};
    for (int64_t c = 0; c < s->colour_start.count - 1; c++)
        MN_TRY(sweep_colour(ctx, &job, c, forward_blocks));
    sweep_job rest = {.sweep = s, .from = x, .to = r};
    return mn_parallel_for(ctx, s->row.count, ROW_GRAIN, leftover_rows, &rest);
}

mn_status mn_sweep_backward(mn_context *ctx, const mn_sweep *s, const double *r, double *e, double *x)
{
    sweep_job job = {.sweep = s, .from = r, .to = e, .sum = x};
    for (int64_t c = s->colour_start.count - 2; c >= 0; c--)
        MN_TRY(sweep_colour(ctx, &job, c, backward_blocks));
    return MN_OK;
}

mn_status mn_sweep_image(mn_context *ctx, const mn_sweep *s, const double *r, const double *e, double *y)
{
    sweep_job job = {.sweep = s, .from = e, .to = y, .side = r};
    return mn_parallel_for(ctx, s->row.count, ROW_GRAIN, image_rows, &job);
}
