// SPDX-License-Identifier: Apache-2.0
//
// Viscosity on the grid, implicit, with the whole stress, so that a free surface feels no traction by itself
// [batty2008]:
//
//   v = argmin  sum_f M_f (v - v*)^2 / 2  +  dt mu sum_cells V |grad_a v_a|^2
//             + dt mu/2 sum_edges V (grad_a v_b + grad_b v_a)^2
//
// Stretching lives at cell centres and shear at edges; edges that touch air are left out, those that touch a
// wall hold on to it. The sums are zero for rigid motions: momentum and angular momentum are kept. Symmetric
// positive definite: conjugate gradients.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 512 };
static const double TOLERANCE = 1e-7;

static bool moves(const mn_codim_volume *v, int64_t f)
{
    return v->grid.kind.data[f] == FACE_INNER || v->grid.kind.data[f] == FACE_SKIN;
}

static bool has_speed(const mn_codim_volume *v, int32_t cell, int32_t axis)
{
    return cell >= 0 && v->grid.kind.data[3 * (int64_t)cell + axis] != FACE_AIR;
}

typedef struct product {
    mn_codim_volume *volume;
    const double *in;
    double *out;
} product;

// Stretching (into weight) and shear (into strain), times what they resist with.
static mn_status strain_range(void *user, mn_range range)
{
    const product *job = user;
    mn_codim_volume *v = job->volume;
    const double factor = v->set.viscosity * v->set.dx * v->coupling.dt; // dt mu V / dx^2
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t cell = (int32_t)i;
        for (int32_t m = 0; m < 3; m++) {
            const int32_t a = (m + 1) % 3, b = (m + 2) % 3;
            const int32_t up = mn_codim_volume_beside(v, cell, m, 1),
                          low_a = mn_codim_volume_beside(v, cell, a, 0),
                          low_b = mn_codim_volume_beside(v, cell, b, 0);
            const double *x = job->in;
            v->grid.weight.data[3 * i + m] = v->grid.strain.data[3 * i + m] = 0;
            if (v->grid.unknown.data[i] >= 0 && up >= 0)
                v->grid.weight.data[3 * i + m] = 2 * factor * (x[3 * (int64_t)up + m] - x[3 * i + m]);
            if (has_speed(v, cell, a) && has_speed(v, cell, b) && has_speed(v, low_a, b) &&
                has_speed(v, low_b, a))
                v->grid.strain.data[3 * i + m] = factor * (x[3 * i + b] - x[3 * (int64_t)low_a + b] +
                                                           x[3 * i + a] - x[3 * (int64_t)low_b + a]);
        }
    }
    return MN_OK;
}

static double strain_at(const mn_codim_volume *v, int32_t cell, int32_t axis)
{
    return cell < 0 ? 0 : v->grid.strain.data[3 * (int64_t)cell + axis];
}

static mn_status force_range(void *user, mn_range range)
{
    const product *job = user;
    const mn_codim_volume *v = job->volume;
    for (int64_t f = range.begin; f < range.end; f++) {
        job->out[f] = 0;
        if (!moves(v, f)) continue;
        const int32_t cell = (int32_t)(f / 3), m = (int32_t)(f % 3),
                      low = mn_codim_volume_beside(v, cell, m, 0);
        double y = -v->grid.weight.data[f] + (low < 0 ? 0 : v->grid.weight.data[3 * (int64_t)low + m]);
        for (int32_t k = 1; k < 3; k++) {
            const int32_t c = (m + k) % 3, other = (m + 3 - k) % 3;
            y += strain_at(v, cell, c) - strain_at(v, mn_codim_volume_beside(v, cell, other, 1), c);
        }
        job->out[f] = v->grid.face_mass.data[f] * job->in[f] + y;
    }
    return MN_OK;
}

static mn_status apply(void *user, const double *x, double *y)
{
    mn_codim_volume *v = user;
    product job = {v, x, y};
    MN_TRY(mn_parallel_for(v->ctx, v->grid.cells, GRAIN, strain_range, &job));
    return mn_parallel_for(v->ctx, 3 * (int64_t)v->grid.cells, GRAIN, force_range, &job);
}

static mn_status precondition(void *user, const double *r, double *z)
{
    const mn_codim_volume *v = user;
    const double stiffness = 8 * v->set.viscosity * v->set.dx * v->coupling.dt;
    for (int64_t f = 0; f < 3 * (int64_t)v->grid.cells; f++)
        z[f] = moves(v, f) ? r[f] / (v->grid.face_mass.data[f] + stiffness) : 0;
    return MN_OK;
}

static mn_status make_room(mn_codim_volume *v)
{
    const int64_t faces = 3 * (int64_t)v->grid.cells;
    MN_TRY(mn_array_resize(v->ctx, &v->grid.strain, faces));
    MN_TRY(mn_array_resize(v->ctx, &v->grid.face_mass, faces));
    MN_TRY(mn_array_resize(v->ctx, &v->grid.face_right, faces));
    return mn_array_resize(v->ctx, &v->grid.face_speed, faces);
}

static void weigh_faces(mn_codim_volume *v)
{
    const double full = v->set.density * v->set.dx * v->set.dx * v->set.dx;
    for (int64_t f = 0; f < 3 * (int64_t)v->grid.cells; f++)
        v->grid.face_mass.data[f] = moves(v, f) ? full * v->grid.open.data[f] : 0;
    for (int64_t i = 0; i < v->coupling.crossings.count; i++)
        v->grid.face_mass.data[v->coupling.crossings.data[i].face] = v->coupling.crossings.data[i].mass;
}

mn_status mn_codim_volume_diffuse(mn_codim_volume *v, double dt)
{
    if (!(v->set.viscosity > 0)) return MN_OK;
    const int64_t faces = 3 * (int64_t)v->grid.cells;
    v->coupling.dt = dt;
    MN_TRY(make_room(v));
    weigh_faces(v);
    for (int64_t f = 0; f < faces; f++) { // what is held, and then what that leaves to the rest
        const bool held = v->grid.kind.data[f] == FACE_CLOSED || v->grid.kind.data[f] == FACE_INFLOW;
        v->grid.face_speed.data[f] = held ? v->grid.wall.data[f] : 0;
    }
    MN_TRY(apply(v, v->grid.face_speed.data, v->grid.face_right.data));
    for (int64_t f = 0; f < faces; f++) {
        v->grid.face_right.data[f] =
            moves(v, f) ? v->grid.face_mass.data[f] * v->grid.speed.data[f] - v->grid.face_right.data[f] : 0;
        v->grid.face_speed.data[f] = moves(v, f) ? v->grid.speed.data[f] : 0;
    }
    const mn_linear_problem problem = {faces, apply, v, precondition, v};
    mn_krylov_def def = mn_krylov_default_def();
    mn_krylov_result result;
    def.tolerance = TOLERANCE;
    MN_TRY(mn_conjugate_gradients(v->coupling.krylov, &problem, &def, v->grid.face_right.data,
                                  v->grid.face_speed.data, &result));
    v->coupling.iterations += result.iterations;
    if (result.end == MN_KRYLOV_BREAKDOWN)
        return mn_fail(v->ctx, MN_ERROR_DIVERGED,
                       "The equations of the liquid's viscosity cannot be solved; use a smaller max_dt.");
    for (int64_t f = 0; f < faces; f++) {
        v->grid.known.data[f] = v->grid.kind.data[f] != FACE_AIR;
        if (moves(v, f)) v->grid.speed.data[f] = v->grid.face_speed.data[f];
        if (v->grid.known.data[f] && !moves(v, f)) v->grid.speed.data[f] = v->grid.wall.data[f];
    }
    return mn_codim_volume_extend(v, 2); // air beside the skin moves as the liquid does now
}
