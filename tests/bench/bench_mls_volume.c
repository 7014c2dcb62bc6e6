// SPDX-License-Identifier: Apache-2.0
//
// The coupled solve of volumes and their skin, against the one of the paper: eq. 24 of [wang2020] as it is
// printed, with pressures, velocities of the skin and impulses, by BiCGSTAB [vandervorst1992] with an
// incomplete LU factor. Same matrices, same right-hand sides, both from zero to a millionth of the residual,
// each in its own norm; one thread. First a ball alone, then one in the middle of a film on a ring.
#include "codim/volume/state.h"

#include "meniscus/meniscus.h"
#include "support/liquid_region.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const double pi = 3.14159265358979323846;

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

// ---- a ball that swings ----

static mn_codim_volume *ball(mn_context *ctx, const mn_codim_volume_settings *set, double R, int64_t *id)
{
    mn_codim_volume *v;
    must(ctx, mn_codim_volume_create(ctx, &v));
    const int64_t points = (int64_t)(4 * pi * R * R / (0.866 * set->spacing * set->spacing));
    for (int64_t i = 0; i < points; i++) {
        const double y = 1 - (2 * (double)i + 1) / (double)points, turn = (double)i * pi * (3 - sqrt(5));
        const mn_vec3 n = mn_v3(sqrt(1 - y * y) * cos(turn), y, sqrt(1 - y * y) * sin(turn));
        const mn_codim_skin_point p = {mn_scale(R * (1 + 0.1 * n.y * n.y), n), mn_v3(0, 0, 0), n, (*id)++};
        must(ctx, mn_array_push(ctx, &v->skin, &p));
    }
    const double s = 0.5 * set->dx;
    const int side = (int)(1.1 * R / s) + 1;
    for (int i = -side; i <= side; i++)
        for (int j = -side; j <= side; j++)
            for (int k = -side; k <= side; k++) {
                const mn_vec3 x = mn_scale(s, mn_v3(i + 0.25, j + 0.25, k + 0.25));
                const double r = mn_norm(x), c = x.y / r;
                const mn_codim_particle p = {.position = x, .mass = set->density * s * s * s, .id = (*id)++};
                if (r < R * (1 + 0.1 * c * c)) must(ctx, mn_array_push(ctx, &v->particles, &p));
            }
    return v;
}

// ---- eq. 24 as printed ----

typedef struct triplets {
    mn_context *ctx;
    MN_ARRAY(int32_t) row, column;
    mn_codim_double_array value;
} triplets;

static void add(triplets *t, int64_t row, int64_t column, double value)
{
    const int32_t r = (int32_t)row, c = (int32_t)column;
    must(t->ctx, mn_array_push(t->ctx, &t->row, &r));
    must(t->ctx, mn_array_push(t->ctx, &t->column, &c));
    must(t->ctx, mn_array_push(t->ctx, &t->value, &value));
}

static void add_both(triplets *t, int64_t a, int64_t b, double value)
{
    add(t, a, b, value);
    add(t, b, a, value);
}

// Rows of films (without what is pinned): a point that a volume holds stands for the skin under it.
typedef struct film_rows {
    const mn_codim *mls;
    double stiff;       ///< dt^2 theta^2 2 sigma
    int64_t film, skin; ///< first rows
} film_rows;

// The skin, or itself, that a point of film moves with.
static int32_t stands_for(const film_rows *f, int64_t p, int64_t *row, double *weight)
{
    const int32_t hold = f->mls->holds.of.data[p];
    row[0] = f->film + 3 * p, weight[0] = 1;
    if (hold < 0) return 1;
    const mn_codim_hold *h = &f->mls->holds.list.data[hold];
    for (int32_t k = 0; k < h->count; k++)
        row[k] = f->skin + 3 * (int64_t)h->skin[k], weight[k] = h->weight[k];
    return h->count;
}

static void add_pair(triplets *t, const film_rows *f, int64_t p, int64_t q, double value)
{
    int64_t a[MN_CODIM_HOLD_MAX], b[MN_CODIM_HOLD_MAX];
    double wa[MN_CODIM_HOLD_MAX], wb[MN_CODIM_HOLD_MAX];
    const int32_t m = stands_for(f, p, a, wa), n = stands_for(f, q, b, wb);
    for (int32_t i = 0; i < m; i++)
        for (int32_t k = 0; k < n; k++)
            for (int32_t axis = 0; axis < 3; axis++) add(t, a[i] + axis, b[k] + axis, value * wa[i] * wb[k]);
}

// -(M + stiff K) with what is held put in for by the skin.
static void add_film(triplets *t, const film_rows *f)
{
    const mn_codim *mls = f->mls;
    const mn_codim_film_matrix *m = &mls->matrix;
    for (int64_t p = 0; p < mls->points.count; p++) {
        const double dragged = mls->holds.of.data[p] < 0 ? 0 : mls->holds.mass;
        if (mls->pinned.data[p] || mls->holds.of.data[p] >= 0) // rows without a meaning of their own
            for (int32_t axis = 0; axis < 3; axis++)
                add(t, f->film + 3 * p + axis, f->film + 3 * p + axis, -1e-6);
        if (mls->pinned.data[p]) continue;
        add_pair(t, f, p, p, -mls->mass.data[p] - dragged - f->stiff * m->diagonal.data[p]);
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
            if (!mls->pinned.data[m->column.data[e]])
                add_pair(t, f, p, m->column.data[e], f->stiff * m->weight.data[e]);
    }
}

static mn_sparse to_matrix(triplets *t, int64_t size)
{
    mn_sparse matrix = {0};
    must(t->ctx, mn_sparse_from_triplets(t->ctx, (int32_t)size, (int32_t)size, t->row.count, t->row.data,
                                         t->column.data, t->value.data, NULL, &matrix));
    mn_array_free(t->ctx, &t->row);
    mn_array_free(t->ctx, &t->column);
    mn_array_free(t->ctx, &t->value);
    return matrix;
}

// p, then the skin's velocities, those of the films (or NULL), then lambda.
static mn_sparse printed(const mn_codim_volume *v, film_rows *films)
{
    const int64_t p0 = 0, u0 = v->grid.liquid.count, f0 = u0 + 3 * v->skin.count;
    const int64_t l0 = f0 + (films ? 3 * films->mls->points.count : 0);
    triplets t = {.ctx = v->ctx};
    if (films) films->film = f0, films->skin = u0, add_film(&t, films);
    double *own = malloc((size_t)(3 * v->skin.count) * sizeof *own); // the skin's mass without the crossings'
    memcpy(own, v->hull.mass.data, (size_t)(3 * v->skin.count) * sizeof *own);
    for (int64_t i = 0; i < v->coupling.crossings.count; i++)
        for (int32_t k = 0; k < v->coupling.crossings.data[i].count; k++)
            own[3 * v->coupling.crossings.data[i].point[k] + v->coupling.crossings.data[i].axis] -=
                v->coupling.crossings.data[i].weight[k] * v->coupling.crossings.data[i].mass;
    for (int32_t i = (int32_t)(3 * v->skin.count); i < v->coupling.system.rows; i++) // without crossings
        for (int64_t k = v->coupling.system.start[i]; k < v->coupling.system.start[i + 1]; k++) {
            const int64_t j = v->coupling.system.column[k] - 3 * v->skin.count;
            if (j >= 0) add(&t, p0 + i - 3 * v->skin.count, p0 + j, v->coupling.system.value[k]);
        }
    for (int64_t q = 0; q < v->skin.count; q++)
        for (int32_t axis = 0; axis < 3; axis++) {
            const int64_t r = u0 + 3 * q + axis;
            add(&t, r, r, -own[3 * q + axis] - v->coupling.strength * v->hull.matrix.diagonal.data[q]);
            for (int64_t e = v->hull.matrix.start.data[q]; e < v->hull.matrix.start.data[q + 1]; e++)
                add(&t, r, u0 + 3 * (int64_t)v->hull.matrix.column.data[e] + axis,
                    v->coupling.strength * v->hull.matrix.weight.data[e]);
        }
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
        const mn_codim_volume_crossing *c = &v->coupling.crossings.data[i];
        add(&t, p0 + c->unknown, p0 + c->unknown, c->side * c->side / c->mass);
        add_both(&t, p0 + c->unknown, l0 + i, c->side / c->mass);
        add(&t, l0 + i, l0 + i, 1 / c->mass);
        for (int32_t k = 0; k < c->count; k++)
            add_both(&t, u0 + 3 * (int64_t)c->point[k] + c->axis, l0 + i, -c->weight[k]);
    }
    free(own);
    return to_matrix(&t, l0 + v->coupling.crossings.count);
}

// The symmetric system: films, skin, pressures.
static mn_sparse reduced(const mn_codim_volume *v, film_rows *films)
{
    const int64_t first = 3 * films->mls->points.count;
    triplets t = {.ctx = v->ctx};
    films->film = 0, films->skin = first;
    add_film(&t, films);
    for (int32_t i = 0; i < v->coupling.system.rows; i++)
        for (int64_t k = v->coupling.system.start[i]; k < v->coupling.system.start[i + 1]; k++)
            add(&t, first + i, first + v->coupling.system.column[k], v->coupling.system.value[k]);
    return to_matrix(&t, first + v->coupling.system.rows);
}

// ---- incomplete LU without fill ----

static double *factor(const mn_sparse *m, int64_t *diagonal)
{
    const int64_t entries = mn_sparse_entries(m);
    double *lu = malloc((size_t)entries * sizeof *lu);
    int64_t *where = malloc((size_t)m->rows * sizeof *where);
    memcpy(lu, m->value, (size_t)entries * sizeof *lu);
    for (int32_t j = 0; j < m->rows; j++) where[j] = -1;
    for (int32_t i = 0; i < m->rows; i++) {
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) where[m->column[k]] = k;
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) {
            const int32_t j = m->column[k];
            if (j == i) diagonal[i] = k;
            if (j >= i) break;
            lu[k] /= lu[diagonal[j]];
            for (int64_t e = diagonal[j] + 1; e < m->start[j + 1]; e++)
                if (where[m->column[e]] >= 0) lu[where[m->column[e]]] -= lu[k] * lu[e];
        }
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) where[m->column[k]] = -1;
        if (fabs(lu[diagonal[i]]) < 1e-30) lu[diagonal[i]] = 1e-30;
    }
    free(where);
    return lu;
}

static void solve_factors(const mn_sparse *m, const double *lu, const int64_t *diagonal, const double *r,
                          double *z)
{
    for (int32_t i = 0; i < m->rows; i++) {
        z[i] = r[i];
        for (int64_t k = m->start[i]; k < diagonal[i]; k++) z[i] -= lu[k] * z[m->column[k]];
    }
    for (int32_t i = m->rows - 1; i >= 0; i--) {
        for (int64_t k = diagonal[i] + 1; k < m->start[i + 1]; k++) z[i] -= lu[k] * z[m->column[k]];
        z[i] /= lu[diagonal[i]];
    }
}

static double dot(int64_t n, const double *x, const double *y)
{
    double sum = 0;
    for (int64_t i = 0; i < n; i++) sum += x[i] * y[i];
    return sum;
}

// Iterations to a millionth of |b|; -1 when it does not get there.
static int bicgstab(mn_context *ctx, const mn_sparse *m, const double *b, double *x, int most)
{
    const int64_t n = m->rows;
    int64_t *diagonal = malloc((size_t)n * sizeof *diagonal);
    double *lu = factor(m, diagonal), *space = calloc((size_t)(8 * n), sizeof *space);
    double *r = space, *first = r + n, *p = first + n, *v = p + n, *s = v + n, *t = s + n, *y = t + n,
           *z = y + n;
    double rho = 1, alpha = 1, omega = 1;
    const double goal = 1e-6 * sqrt(dot(n, b, b));
    int count = 0;
    memset(x, 0, (size_t)n * sizeof *x);
    memcpy(r, b, (size_t)n * sizeof *r);
    memcpy(first, b, (size_t)n * sizeof *r);
    while (sqrt(dot(n, r, r)) > goal && count < most) {
        const double next = dot(n, first, r), beta = next / rho * alpha / omega;
        for (int64_t i = 0; i < n; i++) p[i] = r[i] + beta * (p[i] - omega * v[i]);
        solve_factors(m, lu, diagonal, p, y);
        must(ctx, mn_sparse_apply(ctx, m, y, v));
        alpha = next / dot(n, first, v), rho = next;
        for (int64_t i = 0; i < n; i++) s[i] = r[i] - alpha * v[i];
        solve_factors(m, lu, diagonal, s, z);
        must(ctx, mn_sparse_apply(ctx, m, z, t));
        omega = dot(n, t, s) / dot(n, t, t);
        for (int64_t i = 0; i < n; i++) x[i] += alpha * y[i] + omega * z[i], r[i] = s[i] - omega * t[i];
        count++;
    }
    const bool there = sqrt(dot(n, r, r)) <= goal;
    free(space), free(lu), free(diagonal);
    return there ? count : -1;
}

static mn_status apply_system(void *user, const double *x, double *y)
{
    const mn_codim_volume *v = user;
    return mn_sparse_apply(v->ctx, &v->coupling.system, x, y);
}

static void compare(mn_context *ctx, double cells, double dt)
{
    const double R = 0.01;
    const mn_codim_volume_settings set = {.dx = R / cells,
                                          .spacing = 0.5 * R / cells,
                                          .radius = 2 * R / cells,
                                          .density = 1000,
                                          .sigma = 0.07,
                                          .theta = 0.5};
    int64_t id = 0;
    mn_codim_volume *v = ball(ctx, &set, R, &id);
    must(ctx, mn_codim_volume_prepare(v, &set, &id));
    double stretch;
    must(ctx, mn_codim_volume_step(v, dt, &stretch)); // assembles the system
    const mn_sparse m = printed(v, NULL);
    double *b = calloc((size_t)m.rows, sizeof *b), *x = calloc((size_t)m.rows, sizeof *x);
    double *c = calloc((size_t)m.rows, sizeof *b), *y = calloc((size_t)m.rows, sizeof *x);
    for (int64_t p = 0; p < v->skin.count; p++) { // at rest, surface tension is all of the right-hand side
        const mn_vec3 pull =
            mn_scale(dt * set.sigma, mn_codim_film_matrix_row(&v->hull.matrix, v->hull.x0.data, p));
        memcpy(b + v->grid.liquid.count + 3 * p, &pull, sizeof pull);
        memcpy(c + 3 * p, &pull, sizeof pull);
    }
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    const mn_linear_problem problem = {v->coupling.system.rows, apply_system, v, NULL, NULL};
    def.tolerance = 1e-6, def.max_iterations = 2000;
    double start = mn_seconds();
    must(ctx, mn_quasi_definite_factor_build(ctx, &v->coupling.system, 3 * v->skin.count, NULL,
                                             &v->coupling.factor));
    must(ctx, mn_quasi_definite_factor_solve(&v->coupling.factor, v->coupling.krylov, &problem, &def, c, y,
                                             &result));
    const double own = mn_seconds() - start;
    start = mn_seconds();
    const int steps = bicgstab(ctx, &m, b, x, 2000);
    const double other = mn_seconds() - start;
    printf(
        "R = %4.1f dx, dt %.0e s: %6lld pressures, %6lld skin, %5lld crossings; symmetric QMR %4d iterations "
        "%7.3f s; BiCGSTAB + ILU(0) %5d iterations%s %7.3f s; ratio %.1f\n",
        cells, dt, (long long)v->grid.liquid.count, (long long)v->skin.count,
        (long long)v->coupling.crossings.count, result.iterations, own, steps < 0 ? 2000 : steps,
        steps < 0 ? " (not there yet)" : "", other, other / own);
    double mean[2] = {0};
    for (int64_t i = 0; i < v->grid.liquid.count; i++) {
        mean[0] += y[3 * v->skin.count + i] / dt / (double)v->grid.liquid.count;
        mean[1] += x[i] / dt / (double)v->grid.liquid.count;
    }
    printf("    mean pressure %.4f Pa by the one, %.4f Pa by the other\n", mean[0], mean[1]);
    mn_sparse copy = m;
    mn_sparse_free(ctx, &copy);
    free(b), free(x), free(c), free(y);
    mn_codim_volume_free(v);
}

// ---- a ball in the middle of a film on a ring ----

static void ball_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    for (int64_t i = 0; i < count; i++) d[i] = mn_norm(x[i]) - *(double *)user;
}

static mn_codim *ball_in_film(mn_context *ctx, double R, double cells, double thickness, double dt)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.dx = R / cells, def.spacing = 0.5 * def.dx, def.sigma = 0.07, def.max_dt = dt, def.gas = false;
    const double s = def.spacing, *radius = &R;
    const mn_region region = {(void *)radius, ball_distance, {mn_v3(-R, -R, -R), mn_v3(R, R, R)}};
    mn_codim *mls;
    must(ctx, open_region(ctx, &def, &region, 0, false, &mls));
    MN_ARRAY(mn_vec3) x = {0};
    const int rows = (int)(1.2 * R / (0.866 * s));
    int64_t last = 0;
    for (int k = 0; k <= rows; k++) {
        const double r = R + 0.2 * def.dx + 0.866 * s * k;
        const int around = (int)(2 * pi * r / s);
        last = x.count;
        for (int i = 0; i < around; i++) {
            const double t = 2 * pi * (i + 0.5 * (k & 1)) / around;
            const mn_vec3 at = mn_v3(r * cos(t), 0, r * sin(t));
            must(ctx, mn_array_push(ctx, &x, &at));
        }
    }
    mn_vec3 *n = malloc((size_t)x.count * sizeof *n);
    double *h = malloc((size_t)x.count * sizeof *h);
    uint8_t *pinned = malloc((size_t)x.count);
    for (int64_t i = 0; i < x.count; i++) n[i] = mn_v3(0, 1, 0), h[i] = thickness, pinned[i] = i >= last;
    must(ctx, mn_codim_add(mls, &(mn_codim_source){x.count, x.data, NULL, n, h, pinned, NULL}));
    free(n), free(h), free(pinned);
    mn_array_free(ctx, &x);
    return mls;
}

typedef struct matrix_job {
    mn_context *ctx;
    const mn_sparse *matrix;
} matrix_job;

static mn_status apply_matrix(void *user, const double *x, double *y)
{
    const matrix_job *job = user;
    return mn_sparse_apply(job->ctx, job->matrix, x, y);
}

static double diagonal_of(const mn_sparse *m, int64_t row)
{
    for (int64_t k = m->start[row]; k < m->start[row + 1]; k++)
        if (m->column[k] == row) return m->value[k];
    return 0;
}

// The forces are random, of the size of what a velocity of 1 m/s would take. The printed system has J^T M J
// where ours has it lumped, so the answers are not the same.
static void compare_films(mn_context *ctx, double cells, double thickness, double dt)
{
    mn_codim *mls = ball_in_film(ctx, 0.01, cells, thickness, dt);
    must(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.999 * dt)); // leaves its matrices
    mn_codim_volume *v = mls->liquid;
    v->skin.count = v->hull.mass.count, mls->points.count = mls->holds.of.count; // as they were in it
    film_rows rows = {.mls = mls, .stiff = 0.25 * dt * dt * 2 * mls->def.sigma};
    const int64_t films = 3 * mls->points.count, skin = 3 * v->skin.count, pressures = v->grid.liquid.count;
    mn_sparse ours = reduced(v, &rows), theirs = printed(v, &rows);
    double *b = calloc((size_t)theirs.rows, sizeof *b), *x = calloc((size_t)theirs.rows, sizeof *x);
    double *c = calloc((size_t)ours.rows, sizeof *c), *y = calloc((size_t)ours.rows, sizeof *y);
    srand(1);
    for (int64_t i = 0; i < films + skin; i++) {
        c[i] = diagonal_of(&ours, i) * ((double)rand() / RAND_MAX - 0.5);
        b[i < films ? pressures + skin + i : pressures + i - films] = c[i];
    }
    mn_quasi_definite_factor whole = {0};
    matrix_job matrix = {ctx, &ours};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    def.tolerance = 1e-6, def.max_iterations = 4000;
    const mn_linear_problem problem = {ours.rows, apply_matrix, &matrix, NULL, NULL};
    double start = mn_seconds();
    must(ctx, mn_quasi_definite_factor_build(ctx, &ours, films + skin, NULL, &whole));
    must(ctx, mn_quasi_definite_factor_solve(&whole, v->coupling.krylov, &problem, &def, c, y, &result));
    const double own = mn_seconds() - start;
    start = mn_seconds();
    const int steps = bicgstab(ctx, &theirs, b, x, 2000);
    const double other = mn_seconds() - start;
    printf("film %.0e m, R = %4.1f dx, dt %.0e s: %6lld film, %4lld held, %6d rows; symmetric QMR %4d "
           "iterations "
           "%7.3f s; "
           "BiCGSTAB + ILU(0) %5d iterations%s %7.3f s; ratio %.1f\n",
           thickness, cells, dt, (long long)films / 3, (long long)mls->holds.list.count, ours.rows,
           result.iterations, own, steps < 0 ? 2000 : steps, steps < 0 ? " (not there yet)" : "", other,
           other / own);
    mn_quasi_definite_factor_free(ctx, &whole);
    mn_sparse_free(ctx, &ours);
    mn_sparse_free(ctx, &theirs);
    free(b), free(c), free(x), free(y);
    mn_codim_free(mls);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    static const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    for (double cells = 6; cells < 13; cells += 6)
        for (double dt = 1e-3; dt < 6e-3; dt += 4e-3) compare(ctx, cells, dt);
    for (double cells = 6; cells < 13; cells += 6)
        for (double thickness = 1e-5; thickness < 2e-4; thickness *= 10)
            compare_films(ctx, cells, thickness, 1e-3);
    mn_context_free(ctx);
    return 0;
}
