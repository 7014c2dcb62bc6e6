// SPDX-License-Identifier: Apache-2.0
//
// Pressure and surface tension in one symmetric system: eq. 24 of [wang2020] with forces from an energy.
//
// Between the centre of a liquid cell and the next centre outside, the skin crosses the grid. There the
// ghost-fluid method [gibou2002] has a pressure of its own; with the impulse lambda that it stands for,
//
//   M_f (v - v*) = D^T p + lambda      M_f = rho dx^3 open theta, theta the part of the way that is liquid
//   v = J u                            at the crossings: the liquid moves as the skin around does
//   (M1 + c K) d = -dt sigma K (x + dt u*/2) - J^T lambda,      u = u* + d,   c = dt^2 sigma/2
//   D v = 0
//
// K is the gradient of the skin's area as a matrix (film_matrix.c), p here pressure times dt, M1 a hundredth
// of a cell's mass for points that no crossing sees. lambda has a diagonal matrix of its own, so it is
// eliminated exactly; and J^T M_k J is lumped, which keeps its sum, so that the skin carries the mass of the
// crossings as M2. What is left is symmetric quasi-definite:
//
//   [ D_i M^-1 D_i^T       D_k J       ] [p]   [ -D_i v* - D_k J u*                 ]
//   [ J^T D_k^T    -(M1 + M2 + c K)    ] [d] = [ J^T M_k (J u* - v*) + dt sigma K x_t ]
//
// i: faces between liquid cells, k: crossings. No division by theta is left, so a crossing next to a cell's
// centre needs no clamp. MINRES, preconditioned by blocks: incomplete Cholesky of D M^-1 D^T over all faces
// for the pressures, and of M1 + M2 + c K for each component of the skin.
//
// The force is that of x + dt u/2 with the new u, while the skin moves by the mean of the old and the new
// velocity: waves of any length keep their energy, however long the step, and what has no mass goes to rest
// in one step instead of ringing.
#include "mls/volume_state.h"

#include "meniscus/parallel.h"

#include <string.h>

enum { GRAIN = 256, MOST_ITERATIONS = 2000 };
static const double TOLERANCE = 1e-6;
static const double LEAST_THETA = 0.05;  // in the preconditioner only
static const double SKIN_DEPTH = 0.01;   // dx
static const double HELD_DEPTH = 1e6;    // dx, of skin that does not move
static const double FASTEST_FILL = 0.02; // of a body's volume, corrected in one step at most

// (J u)_row
static double skin_speed(const volume_crossing *row, const double *u)
{
    double sum = 0;
    for (int32_t k = 0; k < row->count; k++)
        sum += row->weight[k] * u[3 * (int64_t)row->point[k] + row->axis];
    return sum;
}

// ---- the matrix ----

typedef struct product {
    mls_volume *volume;
    const double *in; ///< pressures, then the skin's velocities
    double *out;
} product;

static double row_product(const volume_rows *rows, int64_t i, const double *x)
{
    double sum = 0;
    for (int64_t k = rows->start.data[i]; k < rows->start.data[i + 1]; k++)
        sum += rows->value.data[k] * x[rows->column.data[k]];
    return sum;
}

// The Poisson matrix has the crossings on its diagonal, for the preconditioner; here they are not.
static mn_status pressure_range(void *user, mn_range range)
{
    const product *job = user;
    const mls_volume *v = job->volume;
    const mn_sparse *m = &v->poisson;
    for (int64_t i = range.begin; i < range.end; i++) {
        double y = row_product(&v->flow_rows, i, job->in + v->liquid.count) - v->shore.data[i] * job->in[i];
        for (int64_t k = m->start[i]; k < m->start[i + 1]; k++) y += m->value[k] * job->in[m->column[k]];
        job->out[i] = y;
    }
    return MN_OK;
}

static mn_status skin_range(void *user, mn_range range)
{
    const product *job = user;
    const mls_volume *v = job->volume;
    const mn_vec3 *u = (const mn_vec3 *)(job->in + v->liquid.count);
    mn_vec3 *out = (mn_vec3 *)(job->out + v->liquid.count);
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_vec3 own =
            mn_axpy(mn_mul(v->skin_mass.data[p], u[p]), v->strength, film_matrix_row(&v->matrix, u, p));
        const mn_vec3 push = {row_product(&v->push_rows, 3 * p, job->in),
                              row_product(&v->push_rows, 3 * p + 1, job->in),
                              row_product(&v->push_rows, 3 * p + 2, job->in)};
        out[p] = mn_sub(push, own);
    }
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    mls_volume *v = user;
    product job = {v, x, y};
    MN_TRY(mn_parallel_for(v->ctx, v->liquid.count, GRAIN, pressure_range, &job));
    return mn_parallel_for(v->ctx, v->skin.count, GRAIN, skin_range, &job);
}

// ---- the preconditioner ----

// D M^-1 D^T over all open faces, crossings with no pressure beyond.
static mn_status assemble_poisson(mls_volume *v)
{
    MN_ARRAY(int32_t) row = {0}, column = {0};
    mls_double_array value = {0};
    const double scale = v->set.dx / v->set.density;
    mn_status status = MN_OK;
    mn_sparse_free(v->ctx, &v->poisson);
    MN_TRY(mn_array_resize(v->ctx, &v->shore, v->liquid.count));
    for (int32_t i = 0; i < (int32_t)v->liquid.count && status == MN_OK; i++) {
        const int32_t cell = v->liquid.data[i];
        double diagonal = 0, shore = 1e-9 * scale; // a sealed body's pressure has no level
        for (int32_t side = 0; side < 6; side++) {
            const int64_t f = volume_face(v, cell, side / 2, side % 2);
            if (f < 0 || v->kind.data[f] != FACE_INNER) continue;
            const int32_t other = v->unknown.data[v->next.data[6 * (int64_t)cell + side]];
            const double w = -scale * v->open.data[f];
            diagonal -= w;
            MN_TRY_TO(out, status, mn_array_push(v->ctx, &row, &i));
            MN_TRY_TO(out, status, mn_array_push(v->ctx, &column, &other));
            MN_TRY_TO(out, status, mn_array_push(v->ctx, &value, &w));
        }
        for (int64_t k = v->cell_start.data[i]; k < v->cell_start.data[i + 1]; k++) {
            const volume_crossing *c = &v->crossings.data[k];
            const double least = LEAST_THETA * v->set.density * fabs(c->side) * v->set.dx;
            shore += c->side * c->side / fmax(c->mass, least);
        }
        diagonal += shore;
        v->shore.data[i] = shore;
        MN_TRY_TO(out, status, mn_array_push(v->ctx, &row, &i));
        MN_TRY_TO(out, status, mn_array_push(v->ctx, &column, &i));
        MN_TRY_TO(out, status, mn_array_push(v->ctx, &value, &diagonal));
    }
    status = mn_sparse_from_triplets(v->ctx, (int32_t)v->liquid.count, (int32_t)v->liquid.count, row.count,
                                     row.data, column.data, value.data, NULL, &v->poisson);
out:
    mn_array_free(v->ctx, &row);
    mn_array_free(v->ctx, &column);
    mn_array_free(v->ctx, &value);
    return status;
}

// M1 + c K + J^T M_k J lumped, for one component of the skin's velocities.
static mn_status assemble_skin(mls_volume *v, int32_t axis)
{
    const film_matrix *m = &v->matrix;
    const int64_t points = v->skin.count, entries = m->start.data[points] + points;
    volume_rows *f = &v->skin_factor[axis].rows;
    MN_TRY(volume_rows_resize(v->ctx, f, points, entries));
    int64_t at = 0;
    for (int64_t p = 0; p < points; p++) {
        const int64_t begin = f->start.data[p] = at;
        const double mass = volume_part(v->skin_mass.data[p], axis);
        const double diagonal = mass + v->strength * m->diagonal.data[p];
        f->column.data[at] = (int32_t)p, f->value.data[at++] = fmax(diagonal, mass);
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            f->column.data[at] = m->column.data[e];
            f->value.data[at++] = -v->strength * m->weight.data[e];
        }
        for (int64_t i = begin + 1; i < at; i++) // columns rise
            for (int64_t j = i; j > begin && f->column.data[j - 1] > f->column.data[j]; j--) {
                const int32_t column = f->column.data[j];
                const double value = f->value.data[j];
                f->column.data[j] = f->column.data[j - 1], f->value.data[j] = f->value.data[j - 1];
                f->column.data[j - 1] = column, f->value.data[j - 1] = value;
            }
    }
    f->start.data[points] = at;
    const mn_sparse matrix = {(int32_t)points, (int32_t)points, f->start.data, f->column.data, f->value.data};
    mn_incomplete_cholesky_free(v->skin_factor[axis].factor);
    v->skin_factor[axis].factor = NULL;
    return mn_incomplete_cholesky_create(v->ctx, &matrix, &v->skin_factor[axis].factor);
}

static mn_status build_preconditioner(mls_volume *v)
{
    MN_TRY(assemble_poisson(v));
    mn_incomplete_cholesky_free(v->factor);
    v->factor = NULL;
    MN_TRY(mn_incomplete_cholesky_create(v->ctx, &v->poisson, &v->factor));
    for (int32_t axis = 0; axis < 3; axis++) MN_TRY(assemble_skin(v, axis));
    return MN_OK;
}

static mn_status precondition(void *user, const double *r, double *z)
{
    mls_volume *v = user;
    const int64_t points = v->skin.count;
    double *in = v->component.data, *out = in + points;
    r += v->liquid.count;
    for (int32_t axis = 0; axis < 3; axis++) {
        for (int64_t p = 0; p < points; p++) in[p] = r[3 * p + axis];
        MN_TRY(mn_incomplete_cholesky_apply(v->skin_factor[axis].factor, in, out));
        for (int64_t p = 0; p < points; p++) z[v->liquid.count + 3 * p + axis] = out[p];
    }
    return mn_incomplete_cholesky_apply(v->factor, r - v->liquid.count, z);
}

// ---- the solve ----

// M1 + M2 of each point, by components.
static void weigh_skin(mls_volume *v)
{
    for (int64_t p = 0; p < v->skin.count; p++) {
        const double area = fmax(v->surface.area.data[p], 0.1 * v->set.spacing * v->set.spacing);
        const double depth = volume_is_held(&v->skin.data[p]) ? HELD_DEPTH : SKIN_DEPTH;
        const double own = depth * v->set.dx * v->set.density * area;
        v->skin_mass.data[p] = mn_v3(own, own, own);
    }
    double *mass = &v->skin_mass.data->x;
    for (int64_t i = 0; i < v->crossings.count; i++) {
        const volume_crossing *row = &v->crossings.data[i];
        for (int32_t k = 0; k < row->count; k++)
            mass[3 * (int64_t)row->point[k] + row->axis] += row->weight[k] * row->mass;
    }
}

// What flows out of each liquid cell, with the skin at u0, less what its body should grow by.
static mn_status flow_range(void *user, mn_range range)
{
    mls_volume *v = user;
    const double dx2 = v->set.dx * v->set.dx;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t cell = v->liquid.data[i];
        double flow = 0;
        for (int32_t side = 0; side < 6; side++) {
            const int64_t f = volume_face(v, cell, side / 2, side % 2);
            if (f < 0) continue;
            const double out = side % 2 ? dx2 : -dx2, open = v->open.data[f];
            if (v->kind.data[f] == FACE_INNER) flow += out * open * v->speed.data[f];
            flow += out * (1 - open) * v->wall.data[f];
        }
        flow += row_product(&v->flow_rows, i, &v->u0.data->x);
        const volume_body *body = &v->bodies.data[v->body.data[i]];
        double grow = 0;
        if (body->volume > 0 && body->mass > 0 && body->fed == 0)
            grow = body->mass / (v->set.density * body->volume) - 1;
        grow = fmin(FASTEST_FILL, fmax(-FASTEST_FILL, 0.2 * grow));
        v->right.data[i] = grow * dx2 * v->set.dx / v->dt - flow;
    }
    return MN_OK;
}

static mn_status force_range(void *user, mn_range range)
{
    mls_volume *v = user;
    mn_vec3 *right = (mn_vec3 *)(v->right.data + v->liquid.count);
    for (int64_t p = range.begin; p < range.end; p++)
        right[p] = mn_scale(v->dt * v->set.sigma, film_matrix_row(&v->matrix, v->x1.data, p));
    return MN_OK;
}

static mn_status right_side(mls_volume *v)
{
    double *right = v->right.data + v->liquid.count;
    for (int64_t p = 0; p < v->skin.count; p++)
        v->x1.data[p] = mn_axpy(v->x0.data[p], v->set.theta * v->dt, v->u0.data[p]);
    MN_TRY(mn_parallel_for(v->ctx, v->liquid.count, GRAIN, flow_range, v));
    MN_TRY(mn_parallel_for(v->ctx, v->skin.count, GRAIN, force_range, v));
    for (int64_t i = 0; i < v->crossings.count; i++) { // J^T M_k (J u* - v*)
        const volume_crossing *row = &v->crossings.data[i];
        const double behind = row->mass * (skin_speed(row, &v->u0.data->x) - v->speed.data[row->face]);
        for (int32_t k = 0; k < row->count; k++)
            right[3 * (int64_t)row->point[k] + row->axis] += row->weight[k] * behind;
    }
    return MN_OK;
}

// The pressures that the particles remember, as a start: most of it does not change from step to step.
static void guess_pressures(mls_volume *v)
{
    memset(v->guess.data, 0, mn_bytes(v->guess.count, sizeof(double)));
    for (int64_t i = 0; i < v->liquid.count; i++) {
        const int32_t cell = v->liquid.data[i];
        const int32_t begin = v->sorted.cell_start[cell], end = v->sorted.cell_start[cell + 1];
        for (int32_t k = begin; k < end; k++)
            v->guess.data[i] += v->dt * v->particles.data[k].pressure / (end - begin);
    }
}

// Solves for what is left of the right-hand side after the guess, to the same accuracy as without one.
static mn_status solve_from_guess(mls_volume *v, int64_t size)
{
    const mn_linear_problem problem = {size, apply, v, precondition, v};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    double norm = 0;
    MN_TRY(precondition(v, v->right.data, v->solution.data));
    for (int64_t i = 0; i < size; i++) norm += v->right.data[i] * v->solution.data[i];
    guess_pressures(v);
    MN_TRY(apply(v, v->guess.data, v->solution.data));
    for (int64_t i = 0; i < size; i++) v->right.data[i] -= v->solution.data[i];
    def.tolerance = 1e-14, def.absolute = TOLERANCE * sqrt(fmax(0, norm));
    def.max_iterations = MOST_ITERATIONS;
    MN_TRY(mn_minres(v->krylov, &problem, &def, v->right.data, v->solution.data, &result));
    for (int64_t i = 0; i < size; i++) v->solution.data[i] += v->guess.data[i];
    v->iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(v->ctx, MN_ERROR_DIVERGED, "The liquid's pressure cannot be solved for.");
    return MN_OK;
}

static mn_status speed_range(void *user, mn_range range)
{
    mls_volume *v = user;
    const double factor = 1 / (v->set.density * v->set.dx);
    for (int64_t f = range.begin; f < range.end; f++) {
        v->known.data[f] = v->kind.data[f] == FACE_INNER || v->kind.data[f] == FACE_SKIN;
        if (v->kind.data[f] == FACE_CLOSED || v->kind.data[f] == FACE_SPRING) {
            v->known.data[f] = 1;
            v->speed.data[f] = v->wall.data[f];
        }
        if (v->kind.data[f] != FACE_INNER) continue;
        const int32_t high = (int32_t)(f / 3), low = volume_beside(v, high, (int32_t)(f % 3), 0);
        v->speed.data[f] +=
            factor * (v->solution.data[v->unknown.data[low]] - v->solution.data[v->unknown.data[high]]);
    }
    return MN_OK;
}

mn_status volume_solve(mls_volume *v, double dt)
{
    mn_context *ctx = v->ctx;
    const int64_t size = v->liquid.count + 3 * v->skin.count;
    v->dt = dt;
    v->strength = dt * dt * v->set.theta * v->set.sigma;
    MN_TRY(mn_array_resize(ctx, &v->skin_mass, v->skin.count));
    MN_TRY(mn_array_resize(ctx, &v->component, 2 * v->skin.count));
    MN_TRY(mn_array_resize(ctx, &v->right, size));
    MN_TRY(mn_array_resize(ctx, &v->solution, size));
    MN_TRY(mn_array_resize(ctx, &v->guess, size));
    weigh_skin(v);
    MN_TRY(build_preconditioner(v));
    MN_TRY(right_side(v));
    MN_TRY(solve_from_guess(v, size));
    if (v->skin.count > 0)
        memcpy(v->change.data, v->solution.data + v->liquid.count, mn_bytes(v->skin.count, sizeof(mn_vec3)));
    MN_TRY(mn_parallel_for(ctx, 3 * (int64_t)v->cells, 4 * GRAIN, speed_range, v));
    for (int64_t i = 0; i < v->crossings.count; i++) {
        const volume_crossing *row = &v->crossings.data[i];
        v->speed.data[row->face] = skin_speed(row, &v->u0.data->x) + skin_speed(row, &v->change.data->x);
    }
    return MN_OK;
}
