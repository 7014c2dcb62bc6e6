// SPDX-License-Identifier: Apache-2.0
//
// One cycle of multigrid: a forward sweep of Gauss-Seidel, a correction from the level below, a backward
// sweep. It is symmetric, and positive definite as Gauss-Seidel is for any matrix that is. Residuals are
// kept, not computed: the forward sweep leaves -U x, a correction e changes it by A P e, where A P is known
// from the set-up, and the backward sweep of e leaves -L e. So z and A z together cost two products with A.
//
// Conjugate gradients with it (q = A p):
//
//   z, A z from r,   p = z + b p,   q = A z + b q,   a = r.z/p.q,   x += a p,   r -= a q
#include "linear/multigrid_state.h"

#include "base/parallel.h"
#include "base/simd.h"

#include <math.h>
#include <string.h>

enum { ROW_GRAIN = 512, VECTOR_GRAIN = 4096 };

// ---- cycle ----

typedef struct correction {
    const mn_grid *grid;
    const double *below; ///< what the level below found
    double *x, *r;
} correction;

// x += P e, r -= A P e
MN_MULTIVERSION
static mn_status correct_rows(void *user, mn_range range)
{
    const correction *c = user;
    const mn_sparse *p = mn_grid_prolong(c->grid), *ap = &c->grid->image;
    const float *image = c->grid->image_value.data;
    for (int64_t i = range.begin; i < range.end; i++) {
        double x = 0, r[2] = {0};
        for (int64_t e = p->start[i]; e < p->start[i + 1]; e++) x += p->value[e] * c->below[p->column[e]];
        int64_t e = ap->start[i];
        for (; e + 2 <= ap->start[i + 1]; e += 2)
            for (int k = 0; k < 2; k++) r[k] += (double)image[e + k] * c->below[ap->column[e + k]];
        if (e < ap->start[i + 1]) r[0] += (double)image[e] * c->below[ap->column[e]];
        c->x[i] += x;
        c->r[i] -= r[0] + r[1];
    }
    return MN_OK;
}

// x = M^-1 r; r is used up. The last change is in the level's own vector.
static mn_status cycle(mn_multigrid *m, int32_t level, double *r, double *x)
{
    mn_grid *g = &m->grid[level], *next = g + 1;
    const bool last = level + 1 == m->count;
    if (last && m->direct) return mn_cholesky_solve(m->cholesky, r, x);
    MN_TRY(mn_sweep_forward(m->ctx, &g->sweep, r, x));
    if (!last) {
        MN_TRY(mn_sparse_apply(m->ctx, &g->restricted, r, next->r.data));
        MN_TRY(cycle(m, level + 1, next->r.data, next->x.data));
        correction c = {g, next->x.data, x, r};
        MN_TRY(mn_parallel_for(m->ctx, g->rows, ROW_GRAIN, correct_rows, &c));
    }
    return mn_sweep_backward(m->ctx, &g->sweep, r, g->change.data, x);
}

static mn_status check_ready(const mn_multigrid *m)
{
    return m->ready ? MN_OK : mn_fail(m->ctx, MN_ERROR_ARGUMENT, "There is no multigrid to solve with.");
}

mn_status mn_multigrid_apply(void *multigrid, const double *r, double *z)
{
    mn_multigrid *m = multigrid;
    MN_TRY(check_ready(m));
    memcpy(m->grid[0].r.data, r, mn_bytes(m->grid[0].rows, sizeof *r));
    return cycle(m, 0, m->grid[0].r.data, z);
}

// ---- conjugate gradients ----

typedef struct iteration {
    const double *inverse; ///< D^-1
    const double *z, *az;
    double *x, *r, *p, *q;
    double a, b;
} iteration;

// r.D^-1 r
static void add_norm(void *user, mn_range range, double *sums)
{
    const iteration *t = user;
    for (int64_t i = range.begin; i < range.end; i++) sums[0] += t->inverse[i] * t->r[i] * t->r[i];
}

// r.z
static void add_match(void *user, mn_range range, double *sums)
{
    const iteration *t = user;
    for (int64_t i = range.begin; i < range.end; i++) sums[0] += t->r[i] * t->z[i];
}

// p = z + b p, q = A z + b q; p.q
static void turn(void *user, mn_range range, double *sums)
{
    const iteration *t = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        t->p[i] = t->z[i] + t->b * t->p[i];
        t->q[i] = t->az[i] + t->b * t->q[i];
        sums[0] += t->p[i] * t->q[i];
    }
}

// x += a p, r -= a q; r.D^-1 r
static void advance(void *user, mn_range range, double *sums)
{
    const iteration *t = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        t->x[i] += t->a * t->p[i];
        t->r[i] -= t->a * t->q[i];
        sums[0] += t->inverse[i] * t->r[i] * t->r[i];
    }
}

static mn_status cycle_with_image(mn_multigrid *m, const double *r, double *z, double *az)
{
    MN_TRY(mn_multigrid_apply(m, r, z));
    if (m->count > 1 || !m->direct)
        return mn_sweep_image(m->ctx, &m->grid[0].sweep, r, m->grid[0].change.data, az);
    memcpy(az, r, mn_bytes(m->grid[0].rows, sizeof *az)); // a factor solves it
    return MN_OK;
}

mn_status mn_multigrid_solve(mn_multigrid *m, double tolerance, int32_t most, const double *b, double *x,
                             int32_t *iterations)
{
    MN_TRY(check_ready(m));
    const int64_t n = m->grid[0].rows;
    MN_TRY(mn_array_resize(m->ctx, &m->krylov, 5 * n));
    memset(m->krylov.data, 0, mn_bytes(5 * n, sizeof *m->krylov.data));
    memset(x, 0, mn_bytes(n, sizeof *x));
    double *z = m->krylov.data, *az = z + n, norm, goal, match, last = 0, curvature;
    iteration t = {m->grid[0].inverse.data, z, az, x, az + n, az + 2 * n, az + 3 * n, 0, 0};
    memcpy(t.r, b, mn_bytes(n, sizeof *b));
    MN_TRY(mn_parallel_sum(m->ctx, n, VECTOR_GRAIN, add_norm, &t, 1, &norm));
    goal = tolerance * tolerance * norm;
    int32_t k = 0;
    for (; k < most && norm > goal; k++) {
        MN_TRY(cycle_with_image(m, t.r, z, az));
        MN_TRY(mn_parallel_sum(m->ctx, n, VECTOR_GRAIN, add_match, &t, 1, &match));
        t.b = last > 0 ? match / last : 0;
        last = match;
        MN_TRY(mn_parallel_sum(m->ctx, n, VECTOR_GRAIN, turn, &t, 1, &curvature));
        if (!(match > 0) || !(curvature > 0)) break; // no further within rounding
        t.a = match / curvature;
        MN_TRY(mn_parallel_sum(m->ctx, n, VECTOR_GRAIN, advance, &t, 1, &norm));
    }
    if (iterations) *iterations = k;
    return MN_OK;
}
