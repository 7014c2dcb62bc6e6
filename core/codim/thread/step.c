// SPDX-License-Identifier: Apache-2.0
//
// Threads in the time step of codim/film/step.c: one matrix for films and threads,
//
//   A = ... + dt^2 theta^2 B + dt N,   r = ... + dt (F(x0) - theta dt B u0 - N u0)
//
// with F, B and N of energy.c. B leaves out what is negative in the energy's second derivative, and
// does not know that links turn: a second pass adds dt (F(x_t) - F(x0) + B (x_t - x0)) at the x_t of the
// first, which makes the step second order and the instability grow at its rate for long steps too.
#include "codim/state.h"

#include <string.h>

static mn_codim_thread_operator operator_of(mn_codim *mls, double stiff, double viscous)
{
    return (mn_codim_thread_operator){&mls->threads,    mls->def.sigma, mls->def.viscosity,
                                      mls->def.density, stiff,          viscous};
}

bool mn_codim_has_threads(const mn_codim *mls)
{
    return mls->threads.links.count > 0;
}

static void hold_pinned(const mn_codim *mls, mn_vec3 *out)
{
    for (int64_t n = 0; n < mls->threads.nodes.count; n++) {
        const int32_t p = mls->threads.nodes.data[n].point;
        if (mls->pinned.data[p]) out[p] = mn_v3(0, 0, 0);
    }
}

void mn_codim_threads_apply(mn_codim *mls, double dt, double theta, const mn_vec3 *u, mn_vec3 *out)
{
    const mn_codim_thread_operator op = operator_of(mls, dt * dt * theta * theta, dt);
    mn_codim_thread_apply(&op, u, out);
    hold_pinned(mls, out);
}

void mn_codim_threads_diagonal(mn_codim *mls, double dt, double theta, double *diagonal)
{
    const mn_codim_thread_operator op = operator_of(mls, dt * dt * theta * theta, dt);
    mn_codim_thread_add_diagonal(&op, diagonal);
}

void mn_codim_threads_right(mn_codim *mls, double dt, double theta, mn_vec3 *right)
{
    const mn_codim_thread_operator op = operator_of(mls, -dt * dt * theta, -dt);
    mn_codim_thread_add_forces(&mls->threads, &mls->threads.shape, mls->x0.data, dt, right);
    mn_codim_thread_apply(&op, mls->v0.data, right);
    hold_pinned(mls, right);
}

mn_status mn_codim_threads_correct(mn_codim *mls, double dt, const mn_vec3 *x, mn_vec3 *right)
{
    mn_codim_thread_graph *g = &mls->threads;
    const mn_codim_thread_operator op = operator_of(mls, dt, 0);
    MN_TRY(mn_codim_thread_measure(g, x, mls->def.sigma, &g->trial));
    mn_codim_thread_add_forces(g, &g->trial, x, dt, right);
    mn_codim_thread_add_forces(g, &g->shape, mls->x0.data, -dt, right);
    memset(mls->swell.data, 0, mn_bytes(mls->points.count, sizeof(mn_vec3)));
    for (int64_t n = 0; n < g->nodes.count; n++) {
        const int32_t p = g->nodes.data[n].point;
        mls->swell.data[p] = mn_sub(x[p], mls->x0.data[p]);
    }
    mn_codim_thread_apply(&op, mls->swell.data, right);
    hold_pinned(mls, right);
    return MN_OK;
}

double mn_codim_threads_stretch(const mn_codim *mls, const mn_vec3 *moved_to, const mn_vec3 *from)
{
    double most = 0;
    for (int64_t i = 0; i < mls->threads.links.count; i++) {
        const mn_codim_thread_link *link = &mls->threads.links.data[i];
        const int32_t p = mls->threads.nodes.data[link->a].point, q = mls->threads.nodes.data[link->b].point;
        const mn_vec3 ends = mn_sub(moved_to[q], moved_to[p]);
        const mn_vec3 change = from ? mn_sub(ends, mn_sub(from[q], from[p])) : ends;
        if (!mn_is_finite3(change)) return INFINITY;
        most = fmax(most, mn_norm(change));
    }
    return most;
}
