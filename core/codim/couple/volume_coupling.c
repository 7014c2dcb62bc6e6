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
// K is the gradient of the skin's area as a matrix (codim/film/matrix.c), p here pressure times dt, M1 a
// hundredth of a cell's mass for points that no crossing sees. lambda has a diagonal matrix of its own, so it
// is eliminated exactly; and J^T M_k J is lumped, which keeps its sum, so that the skin carries the mass of
// the crossings as M2. What is left is symmetric quasi-definite:
//
//   [ D_i M^-1 D_i^T       D_k J       ] [p]   [ -D_i v* - D_k J u*                 ]
//   [ J^T D_k^T    -(M1 + M2 + c K)    ] [d] = [ J^T M_k (J u* - v*) + dt sigma K x_t ]
//
// i: faces between liquid cells, k: crossings. No division by theta is left, so a crossing next to a cell's
// centre needs no clamp. Symmetric QMR, preconditioned by incomplete factors of the whole matrix with the
// skin first and with its signs (linear/quasi_definite_factor.c): what the skin's inertia and tension leave
// of the pressure at the crossings, the factors find by themselves.
//
// The force is that of x + dt u/2 with the new u, while the skin moves by the mean of the old and the new
// velocity: waves of any length keep their energy, however long the step, and what has no mass goes to rest
// in one step instead of ringing.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256, MOST_ITERATIONS = 2000 };
static const double TOLERANCE = 1e-6;
static const double SKIN_DEPTH = 0.01; // dx
static const double LEAST_FREEDOM = 1e-12;
static const double FASTEST_FILL = 0.02; // of a body's volume, corrected in one step at most

// (J u)_row
static double skin_speed(const mn_codim_volume_crossing *row, const double *u)
{
    double sum = 0;
    for (int32_t k = 0; k < row->count; k++)
        sum += row->weight[k] * u[3 * (int64_t)row->point[k] + row->axis];
    return sum;
}

// ---- the matrix ----

mn_status mn_codim_volume_add_entry(mn_codim_volume *v, int64_t row, int64_t column, double value)
{
    const int32_t r = (int32_t)row, c = (int32_t)column;
    MN_TRY(mn_array_push(v->ctx, &v->coupling.entries.rows, &r));
    MN_TRY(mn_array_push(v->ctx, &v->coupling.entries.columns, &c));
    return mn_array_push(v->ctx, &v->coupling.entries.values, &value);
}

void mn_codim_volume_clear_entries(mn_codim_volume *v)
{
    v->coupling.entries.rows.count = v->coupling.entries.columns.count = v->coupling.entries.values.count = 0;
}

static bool is_on_line(const mn_codim_volume *v, int64_t p)
{
    return v->hull.wet.data[p] && !v->hull.fixed.data[p];
}

// weight P_p P_q, one row of it: points on the line where the skin leaves a solid move along the solid only.
static mn_status list_block(mn_codim_volume *v, int64_t p, int64_t q, int32_t axis, double weight)
{
    const mn_mat3 a = is_on_line(v, p) ? mn_codim_volume_freedom(v, p) : mn_m3_identity();
    const mn_mat3 b = is_on_line(v, q) ? mn_codim_volume_freedom(v, q) : mn_m3_identity();
    const mn_mat3 block = mn_m3_mul(a, b);
    for (int32_t k = 0; k < 3; k++)
        if (fabs(block.m[axis][k]) > LEAST_FREEDOM)
            MN_TRY(mn_codim_volume_add_entry(v, 3 * p + axis, 3 * q + k, weight * block.m[axis][k]));
    return MN_OK;
}

// A row of a point on that line; across the solid it has a diagonal and no more.
static mn_status list_line(mn_codim_volume *v, int64_t p, int32_t axis)
{
    const mn_codim_film_matrix *m = &v->hull.matrix;
    const mn_mat3 along = mn_codim_volume_freedom(v, p);
    const mn_vec3 mass = v->hull.mass.data[p], n = v->hull.wall_normal.data[p];
    const double level = (mass.x + mass.y + mass.z) / 3,
                 stiff = fmax(0, v->coupling.strength * m->diagonal.data[p]);
    for (int32_t k = 0; k < 3; k++) {
        double sum = mn_component(n, axis) * mn_component(n, k) * level;
        for (int32_t c = 0; c < 3; c++)
            sum += (along.m[axis][c] * along.m[c][k]) * (mn_component(mass, c) + stiff);
        if (k == axis || fabs(sum) > LEAST_FREEDOM * (level + stiff))
            MN_TRY(mn_codim_volume_add_entry(v, 3 * p + axis, 3 * p + k, -sum));
    }
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
        const int32_t q = m->column.data[e];
        if (!v->hull.fixed.data[q])
            MN_TRY(list_block(v, p, q, axis, v->coupling.strength * m->weight.data[e]));
    }
    return MN_OK;
}

// Row by row: first the skin's velocities, three for each point, then the pressures. Points that are fixed do
// not change their velocity: they have a diagonal and no more.
static mn_status list_skin(mn_codim_volume *v)
{
    const mn_codim_film_matrix *m = &v->hull.matrix;
    for (int64_t p = 0; p < v->skin.count; p++)
        for (int32_t axis = 0; axis < 3; axis++) {
            const int64_t row = 3 * p + axis;
            const double mass = mn_component(v->hull.mass.data[p], axis);
            if (is_on_line(v, p)) {
                MN_TRY(list_line(v, p, axis));
                continue;
            }
            MN_TRY(mn_codim_volume_add_entry(v, row, row,
                                             -fmax(mass, mass + v->coupling.strength * m->diagonal.data[p])));
            if (v->hull.fixed.data[p]) continue;
            for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
                const int32_t q = m->column.data[e];
                if (is_on_line(v, q))
                    MN_TRY(list_block(v, p, q, axis, v->coupling.strength * m->weight.data[e]));
                else if (!v->hull.fixed.data[q])
                    MN_TRY(mn_codim_volume_add_entry(v, row, 3 * (int64_t)q + axis,
                                                     v->coupling.strength * m->weight.data[e]));
            }
        }
    return MN_OK;
}

static mn_status list_pressures(mn_codim_volume *v)
{
    const int64_t first = 3 * v->skin.count;
    const double scale = v->set.dx / v->set.density;
    for (int32_t i = 0; i < (int32_t)v->grid.liquid.count; i++) {
        const int32_t cell = v->grid.liquid.data[i];
        double diagonal = 1e-9 * scale; // the pressure of a sealed body has no level
        for (int32_t side = 0; side < 6; side++) {
            const int64_t f = mn_codim_volume_face(v, cell, side / 2, side % 2);
            if (f < 0 || v->grid.kind.data[f] != FACE_INNER) continue;
            const int32_t other = v->grid.unknown.data[v->grid.next.data[6 * (int64_t)cell + side]];
            diagonal += scale * v->grid.open.data[f];
            MN_TRY(mn_codim_volume_add_entry(v, first + i, first + other, -scale * v->grid.open.data[f]));
        }
        for (int64_t k = v->coupling.cell_start.data[i]; k < v->coupling.cell_start.data[i + 1]; k++) {
            const mn_codim_volume_crossing *c = &v->coupling.crossings.data[k];
            if (c->loose) diagonal += c->side * c->side / c->mass;
        }
        MN_TRY(mn_codim_volume_add_entry(v, first + i, first + i, diagonal));
    }
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
        const mn_codim_volume_crossing *c = &v->coupling.crossings.data[i];
        for (int32_t k = 0; k < c->count && !c->loose; k++) {
            const int32_t point = c->point[k];
            if (v->hull.fixed.data[point]) continue;
            const mn_mat3 along = is_on_line(v, point) ? mn_codim_volume_freedom(v, point) : mn_m3_identity();
            for (int32_t a = 0; a < 3; a++) {
                const double value = c->side * c->weight[k] * along.m[a][c->axis];
                if (fabs(along.m[a][c->axis]) <= LEAST_FREEDOM) continue;
                MN_TRY(mn_codim_volume_add_entry(v, 3 * (int64_t)point + a, first + c->unknown, value));
                MN_TRY(mn_codim_volume_add_entry(v, first + c->unknown, 3 * (int64_t)point + a, value));
            }
        }
    }
    return MN_OK;
}

static mn_status assemble(mn_codim_volume *v)
{
    const int32_t size = (int32_t)(3 * v->skin.count + v->grid.liquid.count);
    mn_codim_volume_clear_entries(v);
    MN_TRY(list_skin(v));
    MN_TRY(list_pressures(v));
    return mn_triplets_build(v->ctx, size, &v->coupling.entries, &v->coupling.own, &v->coupling.system);
}

static mn_status apply(void *user, const double *x, double *y)
{
    const mn_codim_volume *v = user;
    return mn_sparse_apply(v->ctx, &v->coupling.system, x, y);
}

// ---- the solve ----

// M1 + M2 of each point, by components.
static void weigh_skin(mn_codim_volume *v)
{
    for (int64_t p = 0; p < v->skin.count; p++) {
        const double area = fmax(v->hull.surface.area.data[p], 0.1 * v->set.spacing * v->set.spacing);
        const double own = SKIN_DEPTH * v->set.dx * v->set.density * area;
        v->hull.mass.data[p] = mn_v3(own, own, own);
    }
    double *mass = &v->hull.mass.data->x;
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
        const mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
        for (int32_t k = 0; k < row->count && !row->loose; k++)
            mass[3 * (int64_t)row->point[k] + row->axis] += row->weight[k] * row->mass;
    }
}

// What flows out of each liquid cell, with the skin at u0, less what its body should grow by.
static mn_status flow_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    const double dx2 = v->set.dx * v->set.dx;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t cell = v->grid.liquid.data[i];
        double flow = 0;
        for (int32_t side = 0; side < 6; side++) {
            const int64_t f = mn_codim_volume_face(v, cell, side / 2, side % 2);
            if (f < 0) continue;
            const double out = side % 2 ? dx2 : -dx2, open = v->grid.open.data[f];
            if (v->grid.kind.data[f] == FACE_INNER) flow += out * open * v->grid.speed.data[f];
            flow += out * (1 - open) * v->grid.wall.data[f];
        }
        for (int64_t k = v->coupling.cell_start.data[i]; k < v->coupling.cell_start.data[i + 1]; k++) {
            const mn_codim_volume_crossing *c = &v->coupling.crossings.data[k];
            flow += c->side * (c->loose ? v->grid.speed.data[c->face] : skin_speed(c, &v->hull.u0.data->x));
        }
        const mn_codim_volume_body *body = &v->grid.bodies.data[v->grid.body.data[i]];
        double grow = 0;
        if (body->volume > 0 && body->mass > 0 && body->fed == 0)
            grow = body->mass / (v->set.density * body->volume) - 1;
        grow = fmin(FASTEST_FILL, fmax(-FASTEST_FILL, 0.2 * grow));
        v->coupling.right.data[3 * v->skin.count + i] = grow * dx2 * v->set.dx / v->coupling.dt - flow;
    }
    return MN_OK;
}

static mn_status force_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    mn_vec3 *right = (mn_vec3 *)v->coupling.right.data;
    for (int64_t p = range.begin; p < range.end; p++)
        right[p] = mn_scale(v->coupling.dt * v->set.sigma,
                            mn_codim_film_matrix_row(&v->hull.matrix, v->hull.x1.data, p));
    return MN_OK;
}

static mn_status right_side(mn_codim_volume *v)
{
    double *right = v->coupling.right.data;
    for (int64_t p = 0; p < v->skin.count; p++)
        v->hull.x1.data[p] = mn_axpy(v->hull.x0.data[p], v->set.theta * v->coupling.dt, v->hull.u0.data[p]);
    MN_TRY(mn_parallel_for(v->ctx, v->grid.liquid.count, GRAIN, flow_range, v));
    MN_TRY(mn_parallel_for(v->ctx, v->skin.count, GRAIN, force_range, v));
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) { // J^T M_k (J u* - v*)
        const mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
        const double behind =
            row->mass * (skin_speed(row, &v->hull.u0.data->x) - v->grid.speed.data[row->face]);
        for (int32_t k = 0; k < row->count && !row->loose; k++)
            right[3 * (int64_t)row->point[k] + row->axis] += row->weight[k] * behind;
    }
    for (int64_t p = 0; p < v->skin.count; p++) {
        mn_vec3 *at = (mn_vec3 *)right + p;
        if (v->hull.fixed.data[p]) *at = mn_v3(0, 0, 0);
        if (!is_on_line(v, p)) continue;
        *at = mn_axpy(*at, -v->coupling.dt * v->set.sigma, v->hull.line_pull.data[p]);
        *at = mn_m3_apply(mn_codim_volume_freedom(v, p), *at);
    }
    return MN_OK;
}

// The pressures that the particles remember, as a start: most of it does not change from step to step.
void mn_codim_volume_guess(const mn_codim_volume *v, double *guess)
{
    memset(guess, 0, mn_bytes(v->coupling.right.count, sizeof(double)));
    for (int64_t i = 0; i < v->grid.liquid.count; i++) {
        const int32_t cell = v->grid.liquid.data[i];
        const int32_t begin = v->grid.sorted.cell_start[cell], end = v->grid.sorted.cell_start[cell + 1];
        for (int32_t k = begin; k < end; k++)
            guess[3 * v->skin.count + i] += v->coupling.dt * v->particles.data[k].pressure / (end - begin);
    }
}

// Where the unknowns are: points of the skin, then cells.
static mn_status place_unknowns(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->grid.sites, v->skin.count + v->grid.liquid.count));
    for (int64_t p = 0; p < v->skin.count; p++) v->grid.sites.data[p] = v->hull.x0.data[p];
    for (int64_t i = 0; i < v->grid.liquid.count; i++)
        v->grid.sites.data[v->skin.count + i] = mn_codim_volume_cell_center(v, v->grid.liquid.data[i]);
    return MN_OK;
}

static mn_status speed_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    const double factor = 1 / (v->set.density * v->set.dx),
                 *pressure = v->coupling.solution.data + 3 * v->skin.count;
    for (int64_t f = range.begin; f < range.end; f++) {
        v->grid.known.data[f] = v->grid.kind.data[f] == FACE_INNER || v->grid.kind.data[f] == FACE_SKIN;
        if (v->grid.kind.data[f] == FACE_CLOSED || v->grid.kind.data[f] == FACE_INFLOW) {
            v->grid.known.data[f] = 1;
            v->grid.speed.data[f] = v->grid.wall.data[f];
        }
        if (v->grid.kind.data[f] != FACE_INNER) continue;
        const int32_t high = (int32_t)(f / 3), low = mn_codim_volume_beside(v, high, (int32_t)(f % 3), 0);
        v->grid.speed.data[f] +=
            factor * (pressure[v->grid.unknown.data[low]] - pressure[v->grid.unknown.data[high]]);
    }
    return MN_OK;
}

mn_status mn_codim_volume_assemble(mn_codim_volume *v, double dt)
{
    mn_context *ctx = v->ctx;
    const int64_t size = v->grid.liquid.count + 3 * v->skin.count;
    v->coupling.dt = dt;
    v->coupling.strength = dt * dt * v->set.theta * v->set.sigma;
    MN_TRY(mn_array_resize(ctx, &v->hull.mass, v->skin.count));
    MN_TRY(mn_array_resize(ctx, &v->coupling.pressure, v->grid.liquid.count));
    MN_TRY(mn_array_resize(ctx, &v->coupling.right, size));
    MN_TRY(mn_array_resize(ctx, &v->coupling.solution, size));
    if (v->grid.liquid.count == 0) return MN_OK;
    weigh_skin(v);
    MN_TRY(assemble(v));
    return right_side(v);
}

mn_status mn_codim_volume_solve(mn_codim_volume *v)
{
    if (v->grid.liquid.count == 0) return MN_OK;
    MN_TRY(place_unknowns(v));
    MN_TRY(mn_quasi_definite_factor_build(v->ctx, &v->coupling.system, 3 * v->skin.count, v->grid.sites.data,
                                          &v->coupling.factor));
    const mn_linear_problem problem = {v->coupling.right.count, apply, v, NULL, NULL};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    def.tolerance = TOLERANCE, def.max_iterations = MOST_ITERATIONS;
    mn_codim_volume_guess(v, v->coupling.solution.data);
    MN_TRY(mn_quasi_definite_factor_solve(&v->coupling.factor, v->coupling.krylov, &problem, &def,
                                          v->coupling.right.data, v->coupling.solution.data, &result));
    v->coupling.iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(v->ctx, MN_ERROR_DIVERGED,
                       "The equations of the liquid's pressure cannot be solved; use a smaller max_dt.");
    return MN_OK;
}

mn_status mn_codim_volume_take(mn_codim_volume *v)
{
    if (v->grid.liquid.count == 0) { // what is left fills no cell: it flies on
        for (int64_t p = 0; p < v->skin.count; p++) v->hull.change.data[p] = mn_v3(0, 0, 0);
        return MN_OK;
    }
    if (v->skin.count > 0)
        memcpy(v->hull.change.data, v->coupling.solution.data, mn_bytes(v->skin.count, sizeof(mn_vec3)));
    for (int64_t i = 0; i < v->grid.liquid.count; i++)
        v->coupling.pressure.data[i] = v->coupling.solution.data[3 * v->skin.count + i] / v->coupling.dt;
    MN_TRY(mn_parallel_for(v->ctx, 3 * (int64_t)v->grid.cells, 4 * GRAIN, speed_range, v));
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
        const mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
        if (row->loose)
            v->grid.speed.data[row->face] +=
                row->side / row->mass * v->coupling.dt * v->coupling.pressure.data[row->unknown];
        else
            v->grid.speed.data[row->face] =
                skin_speed(row, &v->hull.u0.data->x) + skin_speed(row, &v->hull.change.data->x);
    }
    return MN_OK;
}
