// SPDX-License-Identifier: Apache-2.0
//
// Films that meet do not pass through each other. A pair of points of two sheets, one above the other by less
// than MN_FILM_CROWD, may come as near as LEAST in a step and no nearer,
//
//   N . (u_q - u_p) >= -max(0, N . (x_q - x_p) - LEAST) / dt,    N the mean of their normals,
//
// and the same for the way that they go; kept by impulses along N that are equal and opposite, pair by pair
// over some rounds: momentum stays, nothing is thrown back. Two sheets are told apart as the stars do
// (stars.c): by more than 45 degrees off the plane. Walls that meet from inside, across the gas of a
// thin tube, are let through: that is how a neck pinches off.
#include "codim/state.h"

enum { ROUNDS = 6 };
static const double LEAST = 0.4; // spacings
static const double ABOVE = 0.3; // least cosine between their distance and both normals

/// Who is searched for.
typedef struct search {
    mn_codim *mls;
    int32_t self;
    mn_status status;
} search;

static bool is_film(const mn_codim *mls, int32_t p)
{
    return mls->points.data[p].codim == MN_CODIM_FILM && mls->points.data[p].anchor >= MN_CODIM_FREE &&
           mls->surface.fans.data[p].count > 0;
}

static bool are_linked(const mn_codim_film_matrix *m, int32_t p, int32_t q)
{
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        if (m->column.data[e] == q) return true;
    return false;
}

// Within two edges of each other.
static bool are_one_sheet(const mn_codim_film_matrix *m, int32_t p, int32_t q)
{
    if (are_linked(m, p, q)) return true;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++)
        if (are_linked(m, m->column.data[e], q)) return true;
    return false;
}

static void try_pair(void *user, int32_t other, double distance2)
{
    search *s = user;
    mn_codim *mls = s->mls;
    if (other == s->self || !is_film(mls, other) || s->status != MN_OK) return;
    if (other < s->self && mls->surface.crowded.data[other]) return; // each pair once
    const mn_vec3 d = mn_sub(mls->x0.data[other], mls->x0.data[s->self]);
    const double length = sqrt(distance2);
    const mn_vec3 np = mls->surface.normal.data[s->self], nq = mls->surface.normal.data[other];
    const double p = mn_dot(d, np), q = mn_dot(d, nq);
    if (!(fabs(p) > ABOVE * length && fabs(q) > ABOVE * length)) return;
    if (p < 0 && q > 0) return; // from inside
    if (are_one_sheet(&mls->matrix, s->self, other)) return;
    const mn_vec3 n = mn_normalize(mn_add(mn_scale(p < 0 ? -1 : 1, np), mn_scale(q < 0 ? -1 : 1, nq)));
    const mn_codim_meeting pair = {s->self, other, n, mn_dot(n, d)};
    s->status = mn_array_push(mls->solver.ctx, &mls->meetings, &pair);
}

static mn_status find_pairs(mn_codim *mls)
{
    mls->meetings.count = 0;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++) {
        if (!mls->surface.crowded.data[p] || !is_film(mls, p)) continue;
        search s = {mls, p, MN_OK};
        mn_neighbours_visit(mls->surface.neighbours, mls->x0.data[p], MN_FILM_CROWD * mls->def.spacing,
                            try_pair, &s);
        MN_TRY(s.status);
    }
    return MN_OK;
}

static double moved_mass(const mn_codim *mls, int32_t p)
{
    return mls->pinned.data[p] ? INFINITY : mls->mass.data[p];
}

// The velocity, and the way of the step where that is not enough.
static void push(mn_codim *mls, int32_t p, mn_vec3 n, double change, double way)
{
    if (mls->pinned.data[p]) return;
    mls->solution.data[p] = mn_axpy(mls->solution.data[p], change / mls->mass.data[p], n);
    mls->x1.data[p] = mn_axpy(mls->x1.data[p], way / mls->mass.data[p], n);
}

static void part(mn_codim *mls, const mn_codim_meeting *m, double dt)
{
    const double ease = 1 / moved_mass(mls, m->p) + 1 / moved_mass(mls, m->q),
                 near = LEAST * mls->def.spacing;
    if (!(ease > 0)) return;
    const mn_vec3 up = mn_add(mls->v0.data[m->p], mls->solution.data[m->p]),
                  uq = mn_add(mls->v0.data[m->q], mls->solution.data[m->q]);
    const double opening = mn_dot(m->normal, mn_sub(uq, up));
    const double gap = mn_dot(m->normal, mn_sub(mls->x1.data[m->q], mls->x1.data[m->p]));
    const double change = fmax(0, -fmax(0, m->gap - near) / dt - opening) / ease;
    const double way = fmax(0, fmin(m->gap, near) - gap) / ease;
    push(mls, m->q, m->normal, change, way);
    push(mls, m->p, m->normal, -change, -way);
}

mn_status mn_codim_keep_films_apart(mn_codim *mls, double dt)
{
    if (!mls->def.contact || mls->surface.triangles == 0) return MN_OK;
    MN_TRY(find_pairs(mls));
    for (int round = 0; round < ROUNDS; round++)
        for (int64_t i = 0; i < mls->meetings.count; i++) part(mls, &mls->meetings.data[i], dt);
    return MN_OK;
}
