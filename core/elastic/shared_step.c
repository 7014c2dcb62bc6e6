// SPDX-License-Identifier: Apache-2.0
//
// Steps of bodies that a liquid shares (shared_step.h).
#include "elastic/shared_step.h"

#include "elastic/elastic_state.h"

#include <string.h>

// ---- opening and closing ----

mn_status mn_elastic_shared_begin(mn_elastic *s, const mn_elastic_inputs *inputs, double seconds)
{
    mn_step_plan plan = {0};
    if (s->def.method == MN_ELASTIC_IMPULSES)
        return mn_fail(s->solver.ctx, MN_ERROR_INPUT,
                       "Bodies in a liquid meet by a barrier; set method to barrier on the bodies.");
    const mn_solver_inputs own = {.own = inputs};
    s->solver.seconds = s->solver.left = seconds;
    s->shared = true;
    return mn_elastic_begin(&s->solver, &own, seconds, &plan);
}

static bool pins_move(const mn_elastic *s)
{
    for (int64_t i = 0; i < s->x.count; i++)
        if (s->unknown.data[i] < 0 && mn_norm2(mn_sub(s->goal.data[i], s->x.data[i])) > 0) return true;
    return false;
}

mn_status mn_elastic_shared_open(mn_elastic *s, double dt, double fraction)
{
    return mn_elastic_open_step(s, dt, fraction);
}

static void go_back(mn_elastic *s)
{
    mn_copy_bytes(s->x.data, s->x_start.data, mn_bytes(s->x.count, sizeof *s->x.data));
}

mn_status mn_elastic_shared_start(mn_elastic *s)
{
    double free_way;
    go_back(s);
    if (pins_move(s)) return mn_elastic_minimise(s); // they have to arrive: what follows cannot move them
    MN_TRY(mn_elastic_start_search(s));
    MN_TRY(mn_elastic_lag_friction(s, s->x.data));
    for (int64_t i = 0; i < s->x.count; i++)
        s->dx.data[i] = s->unknown.data[i] < 0 ? mn_v3(0, 0, 0) : mn_scale(s->dt, s->v.data[i]);
    MN_TRY(mn_elastic_longest_step(s, &free_way));
    const double go = free_way < 1 ? 0.5 * free_way : 1;
    for (int64_t i = 0; i < s->x.count; i++) s->x.data[i] = mn_axpy(s->x.data[i], go, s->dx.data[i]);
    return MN_OK;
}

mn_status mn_elastic_shared_alone(mn_elastic *s)
{
    go_back(s);
    return mn_elastic_minimise(s);
}

mn_status mn_elastic_shared_finish(mn_elastic *s, bool alone)
{
    return mn_elastic_close_step(s, alone);
}

void mn_elastic_shared_nudge(mn_elastic *s, mn_vec3 shift, mn_vec3 turn, mn_vec3 center)
{
    for (int64_t i = 0; i < s->x.count; i++)
        if (s->unknown.data[i] >= 0)
            s->v.data[i] = mn_add(s->v.data[i], mn_add(shift, mn_cross(turn, mn_sub(s->x.data[i], center))));
}

void mn_elastic_shared_undo(mn_elastic *s)
{
    mn_elastic_undo_step(s);
}

mn_status mn_elastic_shared_end(mn_elastic *s)
{
    return mn_elastic_end(&s->solver, NULL);
}

// ---- vectors ----

int64_t mn_elastic_node_count(const mn_elastic *s)
{
    return s->x.count;
}

const mn_vec3 *mn_elastic_nodes(const mn_elastic *s)
{
    return s->x.data;
}

const mn_vec3 *mn_elastic_node_velocities(const mn_elastic *s)
{
    return s->v.data;
}

bool mn_elastic_node_is_fixed(const mn_elastic *s, int64_t node)
{
    return s->unknown.data[node] < 0;
}

double mn_elastic_node_mass(const mn_elastic *s, int64_t node)
{
    return s->mass.data[node];
}

mn_vec3 mn_elastic_node_force(const mn_elastic *s, int64_t node)
{
    return s->force.data[node];
}

mn_vec3 mn_elastic_gravity(const mn_elastic *s)
{
    return s->def.gravity;
}

const mn_vec3 *mn_elastic_start_nodes(const mn_elastic *s)
{
    return s->x_start.data;
}

const mn_vec3 *mn_elastic_start_velocities(const mn_elastic *s)
{
    return s->backup_v.data;
}

static mn_vec3 velocity_of(const mn_elastic *s, int64_t i)
{
    return mn_scale(1 / s->h, mn_sub(s->x.data[i], s->x_tilde.data[i]));
}

void mn_elastic_shared_velocities(const mn_elastic *s, mn_vec3 *u)
{
    for (int64_t i = 0; i < s->x.count; i++) u[i] = velocity_of(s, i);
}

double mn_elastic_shared_norm2(const mn_elastic *s, const mn_vec3 *change)
{
    double sum = 0;
    for (int64_t i = 0; i < s->x.count; i++)
        if (s->unknown.data[i] >= 0) sum += s->mass.data[i] * mn_norm2(change[i]);
    return s->dt / s->h * sum;
}

double mn_elastic_shared_motion2(const mn_elastic *s)
{
    return mn_elastic_shared_norm2(s, s->v.data);
}

double mn_elastic_shared_distance2(const mn_elastic *s)
{
    double sum = 0;
    for (int64_t i = 0; i < s->x.count; i++)
        if (s->unknown.data[i] >= 0)
            sum += s->mass.data[i] * mn_norm2(mn_sub(velocity_of(s, i), s->v.data[i]));
    return s->dt / s->h * sum;
}

// ---- the energy and its derivatives ----

mn_status mn_elastic_shared_evaluate(mn_elastic *s, double *energy, mn_vec3 *gradient)
{
    if (gradient) {
        mn_elastic_place_points(s, s->x.data, s->trial_point.data);
        MN_TRY(mn_contact_weigh_edges(s->contact, s->trial_point.data, s->distance, true));
    }
    MN_TRY(mn_elastic_energy(s, s->x.data, gradient != NULL, energy));
    *energy *= s->dt / s->h;
    for (int64_t i = 0; gradient && i < s->x.count; i++) {
        const double *g = s->gradient.data + 3 * i;
        gradient[i] = s->unknown.data[i] < 0 ? mn_v3(0, 0, 0) : mn_scale(s->dt, mn_v3(g[0], g[1], g[2]));
    }
    return MN_OK;
}

mn_status mn_elastic_shared_factor(mn_elastic *s, int64_t count, const mn_wall_row *rows)
{
    const double scale = 1 / (s->dt * s->h);
    for (int64_t i = 0; i < count; i++) {
        mn_row row = {s->entry.count, 0, scale * rows[i].mass};
        for (int k = 0; k < 4 && rows[i].node[k] >= 0; k++) {
            const mn_row_entry entry = {rows[i].node[k], rows[i].r[k]};
            MN_TRY(mn_array_push(s->solver.ctx, &s->entry, &entry));
        }
        row.count = (int32_t)(s->entry.count - row.first);
        MN_TRY(mn_array_push(s->solver.ctx, &s->row, &row));
    }
    return mn_elastic_factor(s, s->x.data);
}

static void pack(mn_elastic *s, const mn_vec3 *from, double scale, double *to)
{
    for (int64_t i = 0; i < s->x.count; i++) {
        const int32_t row = s->unknown.data[i];
        if (row < 0) continue;
        to[3 * row] = scale * from[i].x, to[3 * row + 1] = scale * from[i].y;
        to[3 * row + 2] = scale * from[i].z;
    }
}

static void unpack(mn_elastic *s, const double *from, double scale, mn_vec3 *to)
{
    for (int64_t i = 0; i < s->x.count; i++) {
        const int32_t row = s->unknown.data[i];
        to[i] = row < 0 ? mn_v3(0, 0, 0)
                        : mn_scale(scale, mn_v3(from[3 * row], from[3 * row + 1], from[3 * row + 2]));
    }
}

mn_status mn_elastic_shared_apply(mn_elastic *s, const mn_vec3 *p, mn_vec3 *image)
{
    const int64_t size = 3 * (int64_t)s->unknown_count;
    MN_TRY(mn_array_resize(s->solver.ctx, &s->direction, size));
    MN_TRY(mn_array_resize(s->solver.ctx, &s->image, size));
    pack(s, p, s->dt * s->h, s->direction.data);
    if (size > 0) MN_TRY(mn_sparse_apply(s->solver.ctx, &s->matrix, s->direction.data, s->image.data));
    unpack(s, s->image.data, 1, image);
    return MN_OK;
}

mn_status mn_elastic_shared_solve(mn_elastic *s, const mn_vec3 *r, mn_vec3 *z)
{
    MN_TRY(mn_array_resize(s->solver.ctx, &s->direction, 3 * (int64_t)s->unknown_count));
    pack(s, r, 1 / (s->dt * s->h), s->direction.data);
    if (s->unknown_count > 0) MN_TRY(mn_cholesky_solve(s->cholesky, s->direction.data, s->direction.data));
    unpack(s, s->direction.data, 1, z);
    return MN_OK;
}

// ---- along a change ----

mn_status mn_elastic_shared_limit(mn_elastic *s, const mn_vec3 *change, double *fraction, double *longest)
{
    double most = 0;
    for (int64_t i = 0; i < s->x.count; i++) {
        s->dx.data[i] = mn_scale(s->h, change[i]);
        if (!mn_is_finite3(s->dx.data[i])) return MN_ERROR_DIVERGED;
        most = fmax(most, mn_norm2(s->dx.data[i]));
    }
    *longest = sqrt(most);
    return mn_elastic_longest_step(s, fraction);
}

double mn_elastic_shared_resolution(const mn_elastic *s)
{
    return s->terms.count > 0 ? 1e-2 * s->distance : INFINITY;
}

void mn_elastic_shared_keep(mn_elastic *s)
{
    mn_copy_bytes(s->trial.data, s->x.data, mn_bytes(s->x.count, sizeof *s->x.data));
}

void mn_elastic_shared_move(mn_elastic *s, const mn_vec3 *change, double length)
{
    for (int64_t i = 0; i < s->x.count; i++)
        s->x.data[i] = mn_axpy(s->trial.data[i], length * s->h, change[i]);
}
