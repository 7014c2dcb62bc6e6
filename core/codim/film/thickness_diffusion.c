// SPDX-License-Identifier: Apache-2.0
//
// Evens out the thickness where points have just been split or merged, which shares mass by points and not by
// area. Along the film's edges with a restless end, mass flows from thick to thin,
//
//   m_pq = c rho min(A_p, A_q) (h_q - h_p - (g_p + g_q)/2 . (x_q - x_p)),
//   c    = 0.8 / the neighbours of the end that has more,
//
// with the momentum of the end it leaves; both are kept. g is the slope of the thickness along the film by
// moving least squares of degree 1 over a point's edges, so that a film which is thicker on one side stays
// so: only what the splits and merges have made uneven is levelled. Free edges take no part: what they have
// swept up is theirs. Where no point is restless the film keeps its thickness as it is.
#include "codim/state.h"

#include "base/parallel.h"

enum { GRAIN = 512 };
static const double SHARE = 0.8; // of a point's mass at most, however many neighbours it has
static const double FEWEST = 10; // neighbours that the share is cut for
static const double REACH = 2.5; // spacings, of the least squares
static const double FLAT = 1e-4; // determinant below which neighbours are on a line

static bool flows(const mn_codim *mls, int64_t p, int32_t q)
{
    return !mls->surface.edge.data[q] && (mls->points.data[p].unrest > 0 || mls->points.data[q].unrest > 0);
}

static double degree(const mn_codim_film_matrix *m, int64_t p)
{
    return (double)(m->start.data[p + 1] - m->start.data[p]);
}

// grad h at one point: h - h_p = a + g . d over its edges, with Wendland's weight and the point itself at 1.
static mn_vec3 slope_at(const mn_codim *mls, int64_t p)
{
    const mn_codim_film_matrix *m = &mls->matrix;
    const mn_vec3 n = mls->points.data[p].normal, side = fabs(n.x) < 0.7 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0);
    const mn_vec3 x = mn_normalize(mn_cross(n, side)), y = mn_cross(n, x);
    double w = 1, wx = 0, wy = 0, xx = 0, xy = 0, yy = 0, wh = 0, hx = 0, hy = 0;
    for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
        const int32_t q = m->column.data[e];
        if (mls->surface.edge.data[q]) continue;
        const mn_vec3 d = mn_sub(mls->points.data[q].position, mls->points.data[p].position);
        const double a = mn_dot(d, x), b = mn_dot(d, y), h = mls->thickness.data[q] - mls->thickness.data[p];
        const double r = fmin(1, mn_norm(d) / (REACH * mls->def.spacing)), t = 1 - r;
        const double k = t * t * t * t * (4 * r + 1);
        w += k, wx += k * a, wy += k * b, xx += k * a * a, xy += k * a * b, yy += k * b * b;
        wh += k * h, hx += k * h * a, hy += k * h * b;
    }
    xx -= wx * wx / w, xy -= wx * wy / w, yy -= wy * wy / w; // a eliminated
    hx -= wh * wx / w, hy -= wh * wy / w;
    const double det = xx * yy - xy * xy;
    if (!(det > FLAT * xx * yy)) return mn_v3(0, 0, 0); // neighbours on a line
    return mn_axpy(mn_scale((yy * hx - xy * hy) / det, x), (xx * hy - xy * hx) / det, y);
}

static mn_status slope_range(void *user, mn_range range)
{
    mn_codim *mls = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        bool any = false; // of the edges that mass flows along
        for (int64_t e = mls->matrix.start.data[p]; e < mls->matrix.start.data[p + 1] && !any; e++)
            any = flows(mls, p, mls->matrix.column.data[e]);
        mls->gradient.data[p] = any && !mls->surface.edge.data[p] ? slope_at(mls, p) : mn_v3(0, 0, 0);
    }
    return MN_OK;
}

// What of h_q - h_p is not a slope of the film.
static double step_between(const mn_codim *mls, int64_t p, int32_t q)
{
    const mn_vec3 d = mn_sub(mls->points.data[q].position, mls->points.data[p].position);
    const mn_vec3 slope = mn_scale(0.5, mn_add(mls->gradient.data[p], mls->gradient.data[q]));
    return mls->thickness.data[q] - mls->thickness.data[p] - mn_dot(slope, d);
}

// New mass and momentum, from what the points have.
static mn_status gather_range(void *user, mn_range range)
{
    const mn_codim *mls = user;
    const mn_codim_film_matrix *m = &mls->matrix;
    const double *area = mls->surface.area.data;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_codim_point *point = &mls->points.data[p];
        mls->drag.data[p] = point->mass;
        mls->right.data[p] = mn_scale(point->mass, point->velocity);
        if (mls->surface.edge.data[p]) continue;
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            const int32_t q = m->column.data[e];
            if (!flows(mls, p, q)) continue;
            const double share = SHARE / fmax(FEWEST, fmax(degree(m, p), degree(m, q)));
            const double wish = share * mls->def.density * fmin(area[p], area[q]) * step_between(mls, p, q);
            // A point at a jet is as thick as its film, not as its mass: no more than it has.
            const double most = share * mls->points.data[wish > 0 ? q : p].mass;
            const double flow = fmin(fmax(wish, -most), most);
            mls->drag.data[p] += flow;
            mls->right.data[p] =
                mn_axpy(mls->right.data[p], flow, mls->points.data[flow > 0 ? q : p].velocity);
        }
    }
    return MN_OK;
}

mn_status mn_codim_level_thickness(mn_codim *mls)
{
    bool any = false;
    for (int64_t p = 0; p < mls->points.count && !any; p++) any = mls->points.data[p].unrest > 0;
    if (!any) return MN_OK;
    MN_TRY(mn_parallel_for(mls->solver.ctx, mls->points.count, GRAIN, slope_range, mls));
    MN_TRY(mn_parallel_for(mls->solver.ctx, mls->points.count, GRAIN, gather_range, mls));
    for (int64_t p = 0; p < mls->points.count; p++) {
        mn_codim_point *point = &mls->points.data[p];
        if (point->unrest > 0 && point->codim == MN_CODIM_FILM) point->unrest--;
        if (point->mass == mls->drag.data[p]) continue;
        point->mass = mls->drag.data[p];
        if (!mn_codim_is_held(point)) point->velocity = mn_scale(1 / point->mass, mls->right.data[p]);
    }
    return MN_OK;
}
