// SPDX-License-Identifier: Apache-2.0
//
// The coupled solve of volumes and their skin, against the one of the paper: eq. 24 of [wang2020] as it is
// printed, with pressures, velocities of the skin and impulses, by BiCGSTAB [vandervorst1992] with an
// incomplete LU factor. Same matrices, same right-hand sides, both from zero to a millionth of the residual,
// each in its own norm; one thread.
#include "mls/volume_state.h"

#include "meniscus/meniscus.h"

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

static mls_volume *ball(mn_context *ctx, const volume_settings *set, double R, int64_t *id)
{
    mls_volume *v;
    must(ctx, volume_create(ctx, &v));
    const int64_t points = (int64_t)(4 * pi * R * R / (0.866 * set->spacing * set->spacing));
    for (int64_t i = 0; i < points; i++) {
        const double y = 1 - (2 * (double)i + 1) / (double)points, turn = (double)i * pi * (3 - sqrt(5));
        const mn_vec3 n = mn_v3(sqrt(1 - y * y) * cos(turn), y, sqrt(1 - y * y) * sin(turn));
        const mn_mls_skin_point p = {mn_scale(R * (1 + 0.1 * n.y * n.y), n), mn_v3(0, 0, 0), n, (*id)++};
        must(ctx, mn_array_push(ctx, &v->skin, &p));
    }
    const double s = 0.5 * set->dx;
    const int side = (int)(1.1 * R / s) + 1;
    for (int i = -side; i <= side; i++)
        for (int j = -side; j <= side; j++)
            for (int k = -side; k <= side; k++) {
                const mn_vec3 x = mn_scale(s, mn_v3(i + 0.25, j + 0.25, k + 0.25));
                const double r = mn_norm(x), c = x.y / r;
                const mn_mls_particle p = {.position = x, .mass = set->density * s * s * s, .id = (*id)++};
                if (r < R * (1 + 0.1 * c * c)) must(ctx, mn_array_push(ctx, &v->particles, &p));
            }
    return v;
}

// ---- eq. 24 as printed ----

typedef struct triplets {
    mn_context *ctx;
    MN_ARRAY(int32_t) row, column;
    mls_double_array value;
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

static mn_sparse printed(const mls_volume *v)
{
    const int64_t p0 = 0, u0 = v->liquid.count, l0 = u0 + 3 * v->skin.count;
    triplets t = {.ctx = v->ctx};
    mn_sparse matrix = {0};
    double *own = malloc((size_t)(3 * v->skin.count) * sizeof *own); // the skin's mass without the crossings'
    memcpy(own, v->skin_mass.data, (size_t)(3 * v->skin.count) * sizeof *own);
    for (int64_t i = 0; i < v->crossings.count; i++)
        for (int32_t k = 0; k < v->crossings.data[i].count; k++)
            own[3 * v->crossings.data[i].point[k] + v->crossings.data[i].axis] -=
                v->crossings.data[i].weight[k] * v->crossings.data[i].mass;
    for (int32_t i = (int32_t)(3 * v->skin.count); i < v->system.rows; i++) // without crossings
        for (int64_t k = v->system.start[i]; k < v->system.start[i + 1]; k++) {
            const int64_t j = v->system.column[k] - 3 * v->skin.count;
            if (j >= 0) add(&t, p0 + i - 3 * v->skin.count, p0 + j, v->system.value[k]);
        }
    for (int64_t q = 0; q < v->skin.count; q++)
        for (int32_t axis = 0; axis < 3; axis++) {
            const int64_t r = u0 + 3 * q + axis;
            add(&t, r, r, -own[3 * q + axis] - v->strength * v->matrix.diagonal.data[q]);
            for (int64_t e = v->matrix.start.data[q]; e < v->matrix.start.data[q + 1]; e++)
                add(&t, r, u0 + 3 * (int64_t)v->matrix.column.data[e] + axis,
                    v->strength * v->matrix.weight.data[e]);
        }
    for (int64_t i = 0; i < v->crossings.count; i++) {
        const volume_crossing *c = &v->crossings.data[i];
        add(&t, p0 + c->unknown, p0 + c->unknown, c->side * c->side / c->mass);
        add_both(&t, p0 + c->unknown, l0 + i, c->side / c->mass);
        add(&t, l0 + i, l0 + i, 1 / c->mass);
        for (int32_t k = 0; k < c->count; k++)
            add_both(&t, u0 + 3 * (int64_t)c->point[k] + c->axis, l0 + i, -c->weight[k]);
    }
    const int32_t size = (int32_t)(l0 + v->crossings.count);
    must(v->ctx, mn_sparse_from_triplets(v->ctx, size, size, t.row.count, t.row.data, t.column.data,
                                         t.value.data, NULL, &matrix));
    free(own);
    mn_array_free(v->ctx, &t.row);
    mn_array_free(v->ctx, &t.column);
    mn_array_free(v->ctx, &t.value);
    return matrix;
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
    const mls_volume *v = user;
    return mn_sparse_apply(v->ctx, &v->system, x, y);
}

static void compare(mn_context *ctx, double cells, double dt)
{
    const double R = 0.01;
    const volume_settings set = {.dx = R / cells,
                                 .spacing = 0.5 * R / cells,
                                 .radius = 2 * R / cells,
                                 .density = 1000,
                                 .sigma = 0.07,
                                 .theta = 0.5};
    int64_t id = 0;
    mls_volume *v = ball(ctx, &set, R, &id);
    must(ctx, volume_prepare(v, &set, &id));
    double stretch;
    must(ctx, volume_step(v, dt, &stretch)); // assembles the system
    const mn_sparse m = printed(v);
    double *b = calloc((size_t)m.rows, sizeof *b), *x = calloc((size_t)m.rows, sizeof *x);
    double *c = calloc((size_t)m.rows, sizeof *b), *y = calloc((size_t)m.rows, sizeof *x);
    for (int64_t p = 0; p < v->skin.count; p++) { // at rest, surface tension is all of the right-hand side
        const mn_vec3 pull = mn_scale(dt * set.sigma, film_matrix_row(&v->matrix, v->x0.data, p));
        memcpy(b + v->liquid.count + 3 * p, &pull, sizeof pull);
        memcpy(c + 3 * p, &pull, sizeof pull);
    }
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    const mn_linear_problem problem = {v->system.rows, apply_system, v, volume_factor_apply, &v->factor};
    def.tolerance = 1e-6, def.max_iterations = 2000;
    double start = mn_seconds();
    must(ctx, volume_factor_build(ctx, &v->system, 3 * v->skin.count, &v->factor));
    must(ctx, mn_minres(v->krylov, &problem, &def, c, y, &result));
    const double own = mn_seconds() - start;
    start = mn_seconds();
    const int steps = bicgstab(ctx, &m, b, x, 2000);
    const double other = mn_seconds() - start;
    printf("R = %4.1f dx, dt %.0e s: %6lld pressures, %6lld skin, %5lld crossings; MINRES %4d iterations "
           "%7.3f s; BiCGSTAB + ILU(0) %5d iterations%s %7.3f s; ratio %.1f\n",
           cells, dt, (long long)v->liquid.count, (long long)v->skin.count, (long long)v->crossings.count,
           result.iterations, own, steps < 0 ? 2000 : steps, steps < 0 ? " (not there yet)" : "", other,
           other / own);
    double mean[2] = {0};
    for (int64_t i = 0; i < v->liquid.count; i++) {
        mean[0] += y[3 * v->skin.count + i] / dt / (double)v->liquid.count;
        mean[1] += x[i] / dt / (double)v->liquid.count;
    }
    printf("    mean pressure %.4f Pa by the one, %.4f Pa by the other\n", mean[0], mean[1]);
    mn_sparse copy = m;
    mn_sparse_free(ctx, &copy);
    free(b), free(x), free(c), free(y);
    volume_free(v);
}

int main(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    compare(ctx, 6, 1e-3);
    compare(ctx, 6, 5e-3);
    compare(ctx, 12, 1e-3);
    compare(ctx, 12, 5e-3);
    mn_context_free(ctx);
    return 0;
}
