// SPDX-License-Identifier: Apache-2.0
//
// Additive conservative advancement [li2021]: an element pair cannot close its distance d sooner than in
// d / (sum of the largest speeds of both sides), so time goes on by nine tenths of that again and again. The
// common translation is taken out first. It needs distances only and never steps past a contact.
#include "contact/surface.h"

enum { MAX_ADVANCES = 200 }; ///< then the time reached so far is the answer, which is safe

typedef mn_closest closest_fn(const mn_vec3 x[4]);

static double advance(closest_fn *closest, const mn_vec3 x[4], const mn_vec3 p[4], double speed, double keep)
{
    const double start = closest(x).distance;
    if (!(speed > 0)) return 1;
    double t = 0, step = 0.9 * (1 - keep) * start / speed;
    for (int i = 0; i < MAX_ADVANCES; i++) {
        if (t + step >= 1) return 1;
        mn_vec3 y[4];
        for (int k = 0; k < 4; k++) y[k] = mn_axpy(x[k], t + step, p[k]);
        const double d = closest(y).distance;
        if (!(d > keep * start)) return t;
        t += step;
        step = 0.9 * (d - 0.5 * keep * start) / speed;
        if (d - keep * start < 1e-3 * keep * start) return t;
    }
    return t;
}

static void without_mean(const mn_vec3 dx[4], mn_vec3 p[4])
{
    const mn_vec3 mean = mn_scale(0.25, mn_add(mn_add(dx[0], dx[1]), mn_add(dx[2], dx[3])));
    for (int k = 0; k < 4; k++) p[k] = mn_sub(dx[k], mean);
}

double mn_advance_point_triangle(const mn_vec3 x[4], const mn_vec3 dx[4], double keep)
{
    mn_vec3 p[4];
    without_mean(dx, p);
    const double speed = mn_norm(p[0]) + sqrt(fmax(mn_norm2(p[1]), fmax(mn_norm2(p[2]), mn_norm2(p[3]))));
    return advance(mn_closest_point_triangle, x, p, speed, keep);
}

double mn_advance_edge_edge(const mn_vec3 x[4], const mn_vec3 dx[4], double keep)
{
    mn_vec3 p[4];
    without_mean(dx, p);
    const double speed =
        sqrt(fmax(mn_norm2(p[0]), mn_norm2(p[1]))) + sqrt(fmax(mn_norm2(p[2]), mn_norm2(p[3])));
    return advance(mn_closest_edge_edge, x, p, speed, keep);
}
