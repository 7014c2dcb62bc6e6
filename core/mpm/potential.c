// SPDX-License-Identifier: Apache-2.0
//
// The incremental potential of implicit.h: value, gradient, and its second derivative applied to a vector.
//
//   dE/dv_i  = m_i (v_i - v^_i) + sum_p [ S_p (D_p v + q_p) + N_p (L_p + L_p^T) ] grad w_ip + dt sum_r P_r
//   grad w_ir (H x)_i  = m_i x_i          + sum_p [ S_p (D_p x) + N_p (L_p + L_p^T) ] grad w_ip + dt sum_r
//   dP_r grad w_ir
//
// A block at a time between two tiles, blocks in eight colours as in the scatter: the same sums in the same
// order for any number of workers. Tested by differences, for symmetry and for its sign
// (tests/unit/mpm/test_implicit.c).
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/tile.h"

#include <string.h>

enum { BATCH = 16, BLOCK_GRAIN = 4, NODE_GRAIN = 32, CONTACT_GRAIN = 1024 };

/// Both kinds of spline at once: (c2 t + c1) t + c0 in each lane is a weight or, on its own axis, a
/// derivative.
typedef struct slope_table {
    vec4 c[3][3][3]; ///< axis, node, power of t
} slope_table;

static void make_slopes(double per_dx, slope_table *table)
{
    static const double weight[3][3] = {{0.5, -1, 0.5}, {0.5, 1, -1}, {0, 0, 0.5}};
    static const double slope[3][3] = {{-1, 1, 0}, {1, -2, 0}, {0, 1, 0}};
    memset(table, 0, sizeof *table);
    for (int axis = 0; axis < 3; axis++)
        for (int node = 0; node < 3; node++)
            for (int power = 0; power < 3; power++)
                for (int lane = 0; lane < 3; lane++)
                    table->c[axis][node][power][1 + lane] =
                        lane == axis ? per_dx * slope[node][power] : weight[node][power];
}

typedef struct potential_job {
    const mn_mpm *mpm;
    const mn_block_table *table;
    const int32_t *cell_start; ///< of the particles
    mn_mpm_implicit *implicit;
    const mn_mpm_node *x;     ///< velocity, or direction
    const mn_mpm_node *start; ///< v_n when the potential is evaluated, NULL when H is applied
    mn_mpm_node *out;
    slope_table slopes;
    int32_t colour;
} potential_job;

/// P grad w_i added to the sample's nodes.
MN_INLINE void sample_push(vec4 *restrict out, const tile_weights *s, const vec4 stress[3])
{
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        const vec4 x = s->g[0][a] * stress[0], y = s->w[0][a] * stress[1], z = s->w[0][a] * stress[2];
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++) {
            vec4 *row = out + tile_index(a, b, 0);
            const vec4 w = s->w[1][b] * x + s->g[1][b] * y, g = s->w[1][b] * z;
            for (int32_t c = 0; c < 3; c++) row[c] += s->w[2][c] * w + s->g[2][c] * g;
        }
    }
}

// ---- particles ----

/// (S (D x + q) I + N (L + L^T)) grad w_i; returns S/2 (D x + q)^2 + N/4 |L + L^T|^2. `more` is q and what
/// walls add to D; `pressure` is S (D x + q).
MN_INLINE double press_particle(const mn_mpm_pressed *p, double more, double per_dx, const vec4 *restrict in,
                                vec4 *restrict out, double *pressure)
{
    tile_weights s;
    vec4 column[3], stress[3];
    for (int32_t a = 0; a < 3; a++) tile_spline(p->t[a], per_dx, s.w[a], s.g[a]);
    tile_gradient(in, &s, column);
    const double divergence = column[0][1] + column[1][2] + column[2][3] + more;
    *pressure = p->stiffness * divergence;
    double square = 0;
    for (int32_t a = 0; a < 3; a++) {
        const vec4 strain = {0, column[a][1] + column[0][1 + a], column[a][2] + column[1][1 + a],
                             column[a][3] + column[2][1 + a]};
        square += strain[1] * strain[1] + strain[2] * strain[2] + strain[3] * strain[3];
        stress[a] = p->viscous * strain;
        stress[a][1 + a] += *pressure;
    }
    sample_push(out, &s, stress);
    return 0.5 * *pressure * divergence + 0.25 * p->viscous * square;
}

/// One particle of a liquid without viscosity: the lanes of x_a y_b z_c are grad w of node (a, b, c) of
/// its 27.
typedef struct slopes {
    vec4 x[3], y[3], z[3];
} slopes;

MN_INLINE void find_slopes(const slope_table *table, const double t[3], slopes *s)
{
    vec4 *to[3] = {s->x, s->y, s->z};
#pragma GCC unroll 3
    for (int axis = 0; axis < 3; axis++)
#pragma GCC unroll 3
        for (int node = 0; node < 3; node++) {
            const vec4 *c = table->c[axis][node];
            to[axis][node] = (c[2] * t[axis] + c[1]) * t[axis] + c[0];
        }
}

MN_INLINE double divergence_of(const slopes *s, const vec4 *restrict in)
{
    vec4 sum = {0};
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        vec4 plane = {0};
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++) {
            const vec4 *row = in + tile_index(a, b, 0);
            plane += s->y[b] * (s->z[0] * row[0] + s->z[1] * row[1] + s->z[2] * row[2]);
        }
        sum += s->x[a] * plane;
    }
    return sum[1] + sum[2] + sum[3];
}

/// Adds the gradients of a few particles of one cell, already multiplied by their pressures, to its nodes.
MN_INLINE void push_slopes(const slopes *restrict batch, int32_t count, vec4 *restrict out)
{
#pragma GCC unroll 3
    for (int32_t a = 0; a < 3; a++) {
        vec4 sum[9] = {{0}};
        for (int32_t i = 0; i < count; i++) {
            const slopes *s = &batch[i];
#pragma GCC unroll 3
            for (int32_t b = 0; b < 3; b++) {
                const vec4 xy = s->x[a] * s->y[b];
                sum[3 * b] += xy * s->z[0];
                sum[3 * b + 1] += xy * s->z[1];
                sum[3 * b + 2] += xy * s->z[2];
            }
        }
#pragma GCC unroll 3
        for (int32_t b = 0; b < 3; b++)
            for (int32_t c = 0; c < 3; c++) out[tile_index(a, b, c)] += sum[3 * b + c];
    }
}

// ---- surface samples ----

MN_INLINE mn_vec3 along(const vec4 column[3], mn_vec3 w)
{
    const vec4 d = w.x * column[0] + w.y * column[1] + w.z * column[2];
    return mn_v3(d[1], d[2], d[3]);
}

/// dP = y0 w0^T + y1 w1^T, times dt, in columns.
MN_INLINE void stress_columns(const mn_surface_hessian *h, mn_vec3 y0, mn_vec3 y1, double dt, vec4 stress[3])
{
    const vec4 a = {0, dt * y0.x, dt * y0.y, dt * y0.z}, b = {0, dt * y1.x, dt * y1.y, dt * y1.z};
    stress[0] = h->w0.x * a + h->w1.x * b;
    stress[1] = h->w0.y * a + h->w1.y * b;
    stress[2] = h->w0.z * a + h->w1.z * b;
}

/// psi at F = I + dt D x, its stress as (y0, y1), and the curvature there.
MN_INLINE double bend_sample(mn_surface_hessian *h, mn_surface_curvature kind, mn_vec3 d0, mn_vec3 d1,
                             mn_vec3 *y0, mn_vec3 *y1)
{
    const mn_surface_patch patch = {h->w0, h->w1, h->s};
    const mn_vec3 f0 = mn_add(patch.w0, d0), f1 = mn_add(patch.w1, d1);
    if (kind == MN_SURFACE_MAJORANT && patch.s < 0) {
        // Nothing quadratic and convex lies above an energy that falls with area: its tangent at F = I.
        *y0 = mn_scale(patch.s, patch.w0), *y1 = mn_scale(patch.s, patch.w1);
        return patch.s * (1 + mn_dot(patch.w0, d0) + mn_dot(patch.w1, d1));
    }
    if (kind == MN_SURFACE_MAJORANT) {
        *y0 = mn_scale(patch.s, f0), *y1 = mn_scale(patch.s, f1);
        return 0.5 * patch.s * (mn_norm2(f0) + mn_norm2(f1));
    }
    const mn_vec3 m = mn_cross(f0, f1), n = mn_normalize(m);
    *h = mn_surface_linearize_frame(patch, f0, f1);
    *y0 = mn_scale(patch.s, mn_cross(f1, n)), *y1 = mn_scale(patch.s, mn_cross(n, f0));
    return patch.s * mn_norm(m);
}

/// The majorant's second derivative, dt^2 s L T: no frame is needed.
MN_INLINE void stretch_sample(const mn_mpm_curved *sample, double dt, double per_dx, const vec4 *restrict in,
                              vec4 *restrict out)
{
    tile_weights s;
    vec4 column[3];
    for (int32_t a = 0; a < 3; a++) tile_spline(sample->t[a], per_dx, s.w[a], s.g[a]);
    tile_gradient(in, &s, column);
    const mn_vec3 n = mn_cross(sample->hessian.w0, sample->hessian.w1);
    const double scale = dt * dt * fmax(sample->hessian.s, 0);
    const vec4 across = n.x * column[0] + n.y * column[1] + n.z * column[2];
    const vec4 stress[3] = {scale * (column[0] - n.x * across), scale * (column[1] - n.y * across),
                            scale * (column[2] - n.z * across)};
    sample_push(out, &s, stress);
}

MN_INLINE double curve_sample(const potential_job *job, mn_mpm_curved *sample, const vec4 *in, vec4 *out)
{
    const double per_dx = 1.0 / job->table->dx, dt = job->implicit->dt;
    const mn_surface_curvature kind = job->implicit->curvature;
    if (!job->start && kind == MN_SURFACE_MAJORANT) {
        stretch_sample(sample, dt, per_dx, in, out);
        return 0;
    }
    tile_weights s;
    vec4 column[3];
    for (int32_t a = 0; a < 3; a++) tile_spline(sample->t[a], per_dx, s.w[a], s.g[a]);
    tile_gradient(in, &s, column);
    const mn_vec3 d0 = mn_scale(dt, along(column, sample->hessian.w0));
    const mn_vec3 d1 = mn_scale(dt, along(column, sample->hessian.w1));
    mn_vec3 y0, y1;
    if (!job->start) {
        mn_surface_hessian_apply_frame(&sample->hessian, kind, d0, d1, &y0, &y1);
        stress_columns(&sample->hessian, y0, y1, dt, column);
        sample_push(out, &s, column);
        return 0;
    }
    double energy = bend_sample(&sample->hessian, kind, d0, d1, &y0, &y1);
    vec4 stress[3];
    stress_columns(&sample->hessian, y0, y1, dt, stress);
    for (int32_t a = 0; a < 3; a++) {
        const mn_vec3 q = mn_scale(dt, sample->damping[a]);
        energy += q.x * column[a][1] + q.y * column[a][2] + q.z * column[a][3];
        stress[a] += (vec4){0, q.x, q.y, q.z};
    }
    sample_push(out, &s, stress);
    return energy;
}

// ---- walls ----

// What the walls add to D at a particle.
static double inflow_of(const potential_job *job, int32_t particle)
{
    double sum = 0;
    for (int64_t c = mn_mpm_first_contact(job->mpm, particle); mn_mpm_is_contact(job->mpm, c, particle); c++)
        sum += job->implicit->inflow.data[c];
    return sum;
}

static void note_impulse(const potential_job *job, int32_t particle, double pressure)
{
    for (int64_t c = mn_mpm_first_contact(job->mpm, particle); mn_mpm_is_contact(job->mpm, c, particle); c++)
        job->implicit->impulse.data[c] = pressure;
}

static mn_status find_inflow(void *user, mn_range range)
{
    const potential_job *job = user;
    for (int64_t c = range.begin; c < range.end; c++) {
        const mn_mpm_contact *contact = &job->mpm->walls.contacts.data[c];
        const mn_mpm_foot *foot = &job->implicit->feet.data[c];
        double speed = job->start ? -foot->sum * mn_dot(contact->velocity, contact->normal) : 0;
        if (!job->start && job->mpm->bodies.shared) speed -= foot->sum * job->mpm->bodies.direction.data[c];
        for (int32_t i = 0; i < foot->count; i++)
            speed += foot->w[i] * mn_dot(job->x[foot->node[i]].v, contact->normal);
        job->implicit->inflow.data[c] = contact->held ? contact->weight * speed : 0;
    }
    return MN_OK;
}

// In the order of the contacts: one node has many.
static void push_from_walls(const potential_job *job)
{
    for (int64_t c = 0; c < job->mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &job->mpm->walls.contacts.data[c];
        const mn_mpm_foot *foot = &job->implicit->feet.data[c];
        const double push = contact->held ? contact->weight * job->implicit->impulse.data[c] : 0;
        for (int32_t i = 0; push != 0 && i < foot->count; i++)
            job->out[foot->node[i]].v =
                mn_axpy(job->out[foot->node[i]].v, foot->w[i] * push, contact->normal);
    }
}

// ---- blocks ----

/// S (D x + q) grad w_i of the particles [first, last) of one cell; returns the sum of S/2 (D x + q)^2.
MN_INLINE double press_cell(const potential_job *job, int32_t first, int32_t last, bool walled,
                            const vec4 *restrict in, vec4 *restrict out)
{
    slopes batch[BATCH];
    double energy = 0;
    for (int32_t i = first; i < last;) {
        int32_t held = 0;
        for (; i < last && held < BATCH; i++, held++) {
            const mn_mpm_pressed *p = &job->implicit->pressed[i];
            slopes *s = &batch[held];
            find_slopes(&job->slopes, p->t, s);
            double divergence = divergence_of(s, in) + (job->start ? p->bulge : 0);
            if (walled) divergence += inflow_of(job, i);
            const double pressure = p->stiffness * divergence;
            for (int32_t a = 0; a < 3; a++) s->x[a] *= pressure;
            if (walled) note_impulse(job, i, pressure);
            energy += 0.5 * pressure * divergence;
        }
        push_slopes(batch, held, out);
    }
    return energy;
}

/// The same with viscosity.
MN_INLINE double shear_cell(const potential_job *job, int32_t first, int32_t last, bool walled,
                            const vec4 *restrict in, vec4 *restrict out)
{
    double energy = 0, pressure;
    for (int32_t i = first; i < last; i++) {
        const mn_mpm_pressed *p = &job->implicit->pressed[i];
        const double more = (job->start ? p->bulge : 0) + (walled ? inflow_of(job, i) : 0);
        energy += press_particle(p, more, job->table->inverse_dx, in, out, &pressure);
        if (walled) note_impulse(job, i, pressure);
    }
    return energy;
}

MN_MULTIVERSION
static mn_status stress_blocks(void *user, mn_range range)
{
    const potential_job *job = user;
    mn_mpm_implicit *implicit = job->implicit;
    const mn_block_table *table = job->table;
    const bool walled = job->mpm->walls.contacts.count > 0;
    tile in, out;
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = table->coloured[table->colour_start[job->colour] + k];
        const int32_t *start = &job->cell_start[block * MN_BLOCK_CELLS];
        const int32_t *samples = &implicit->first_sample.data[block];
        double energy = 0;
        if (job->start) implicit->block_energy.data[block] = 0;
        if (start[MN_BLOCK_CELLS] == start[0] && samples[1] == samples[0]) continue;
        tile_load(&in, table, block, job->x);
        memset(&out, 0, sizeof out);
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            if (start[cell + 1] == start[cell]) continue;
            const vec4 *from = &in.node[tile_of_cell(cell)];
            vec4 *to = &out.node[tile_of_cell(cell)];
            energy += implicit->viscous ? shear_cell(job, start[cell], start[cell + 1], walled, from, to)
                                        : press_cell(job, start[cell], start[cell + 1], walled, from, to);
        }
        if (job->start && samples[1] > samples[0]) {
            tile before;
            tile_load(&before, table, block, job->start);
            for (int32_t i = 0; i < TILE_NODES; i++) in.node[i] -= implicit->memory * before.node[i];
        }
        for (int32_t s = samples[0]; s < samples[1]; s++) {
            mn_mpm_curved *sample = &implicit->samples[s];
            const int32_t first = tile_of_cell(sample->cell);
            energy += curve_sample(job, sample, &in.node[first], &out.node[first]);
        }
        if (job->start) implicit->block_energy.data[block] = energy;
        tile_add(&out, table, block, job->out);
    }
    return MN_OK;
}

static mn_status stress(mn_mpm *mpm, potential_job *job)
{
    make_slopes(mpm->grid.table.inverse_dx, &job->slopes);
    MN_TRY(mn_parallel_for(mpm->solver.ctx, mpm->walls.contacts.count, CONTACT_GRAIN, find_inflow, job));
    for (job->colour = 0; job->colour < MN_BLOCK_COLOURS; job->colour++) {
        const int32_t count =
            mpm->grid.table.colour_start[job->colour + 1] - mpm->grid.table.colour_start[job->colour];
        MN_TRY(mn_parallel_for(mpm->solver.ctx, count, BLOCK_GRAIN, stress_blocks, job));
    }
    push_from_walls(job);
    return MN_OK;
}

// ---- inertia ----

typedef struct inertia_job {
    const mn_mpm_node *x, *target; ///< target NULL: zero
    const mn_mpm_node *mass;       ///< in the first lane
    mn_mpm_node *out;
} inertia_job;

static void add_inertia(void *user, mn_range range, double *sums)
{
    const inertia_job *job = user;
    for (int64_t i = range.begin * MN_BLOCK_CELLS; i < range.end * MN_BLOCK_CELLS; i++) {
        const double m = job->mass[i].mass;
        const mn_vec3 off = job->target ? mn_sub(job->x[i].v, job->target[i].v) : job->x[i].v;
        job->out[i] = (mn_mpm_node){0, mn_scale(m, off)};
        sums[0] += 0.5 * m * mn_norm2(off);
    }
}

mn_status mn_mpm_potential(mn_mpm *mpm, const mn_mpm_node *v, double *energy)
{
    mn_mpm_implicit *implicit = &mpm->implicit;
    inertia_job inertia = {v, implicit->target.data, mpm->grid.before.data, implicit->gradient.data};
    MN_TRY(mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, add_inertia, &inertia, 1,
                           energy));
    potential_job job = {.mpm = mpm,
                         .table = &mpm->grid.table,
                         .cell_start = mpm->grid.cell_start,
                         .implicit = implicit,
                         .x = v,
                         .start = mpm->grid.before.data,
                         .out = implicit->gradient.data};
    MN_TRY(stress(mpm, &job));
    for (int32_t b = 0; b < mpm->grid.table.count; b++) *energy += implicit->block_energy.data[b];
    return MN_OK;
}

mn_status mn_mpm_potential_apply(mn_mpm *mpm, const mn_mpm_node *direction, mn_mpm_node *image)
{
    double unused;
    inertia_job inertia = {direction, NULL, mpm->grid.before.data, image};
    MN_TRY(mn_parallel_sum(mpm->solver.ctx, mpm->grid.table.count, NODE_GRAIN, add_inertia, &inertia, 1,
                           &unused));
    potential_job job = {.mpm = mpm,
                         .table = &mpm->grid.table,
                         .cell_start = mpm->grid.cell_start,
                         .implicit = &mpm->implicit,
                         .x = direction,
                         .out = image};
    return stress(mpm, &job);
}
