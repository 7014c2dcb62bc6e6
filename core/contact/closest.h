// SPDX-License-Identifier: Apache-2.0
//
// Closest points of a point and a triangle, and of two segments, as weights of the four vertices.
//
//   r = sum c_i x_i = distance n       point-triangle: c = (1, -w1, -w2, -w3)
//   d distance / dx_i = c_i n          edge-edge: c = (1-s, s, -(1-t), -t)
//
// whichever part is the closest (the derivative of the weights drops out at the minimum), so forces along n
// have neither sum nor torque. Zero weights name the feature: an edge or a corner of the triangle.
// Tested: against a dense search, and the derivative by differences (tests/unit/contact/test_closest.c).
#ifndef MENISCUS_CONTACT_CLOSEST_H
#define MENISCUS_CONTACT_CLOSEST_H

#include "meniscus/vec.h"

typedef struct mn_closest {
    double c[4];
    mn_vec3 normal; ///< unit, from the second element to the first; zero where they touch
    double distance;
} mn_closest;

/// Where on the segment a..b the point nearest to x lies, in [0, 1].
static inline double mn_segment_foot(mn_vec3 a, mn_vec3 b, mn_vec3 x)
{
    const mn_vec3 e = mn_sub(b, a);
    const double length2 = mn_norm2(e), t = mn_dot(mn_sub(x, a), e);
    return !(t > 0) ? 0 : t >= length2 ? 1 : t / length2;
}

static inline mn_closest mn_closest_of_weights(const mn_vec3 x[4], const double c[4])
{
    mn_closest r = {{c[0], c[1], c[2], c[3]}, {0, 0, 0}, 0};
    // differences first: far from the origin the sum of c_i x_i would lose digits
    mn_vec3 apart = mn_scale(c[0], mn_sub(x[0], x[3]));
    apart = mn_axpy(apart, c[1], mn_sub(x[1], x[3]));
    apart = mn_axpy(apart, c[2], mn_sub(x[2], x[3]));
    r.distance = mn_norm(apart);
    r.normal = mn_normalize(apart);
    return r;
}

/// m^4, |u x v|^2 below which rounding of numbers near zero decides: edges shorter than any, or parallel.
static const double mn_closest_least_area2 = 1e-200;

/// x[0] and the triangle x[1] x[2] x[3].
static inline mn_closest mn_closest_point_triangle(const mn_vec3 x[4])
{
    const mn_vec3 e1 = mn_sub(x[2], x[1]), e2 = mn_sub(x[3], x[1]), p = mn_sub(x[0], x[1]);
    const mn_vec3 m = mn_cross(e1, e2);
    const double m2 = mn_norm2(m);
    const double w2 = mn_dot(mn_cross(p, e2), m), w3 = mn_dot(mn_cross(e1, p), m), w1 = m2 - w2 - w3;
    mn_closest best = {.distance = INFINITY};
    if (m2 > mn_closest_least_area2 && w1 > 0 && w2 > 0 && w3 > 0) {
        const double c[4] = {1, -(1 - w2 / m2 - w3 / m2), -w2 / m2, -w3 / m2};
        best = mn_closest_of_weights(x, c);
        if (m2 > 1e-8 * mn_norm2(e1) * mn_norm2(e2))
            return best; // else a sliver, of which rounding decides where the foot is: the nearest of all
    }
    for (int k = 1; k < 4; k++) {
        const int next = k % 3 + 1;
        const double t = mn_segment_foot(x[k], x[next], x[0]);
        double c[4] = {1, 0, 0, 0};
        c[k] = -(1 - t), c[next] = -t;
        const mn_closest r = mn_closest_of_weights(x, c);
        if (r.distance < best.distance) best = r;
    }
    return best;
}

/// The segments x[0] x[1] and x[2] x[3] [ericson2004]. u x v has an error of about 5e-16 |u| |v|:
///
///   sin(u, v)     nearest points
///   above 1e-2    inside of both along the common normal, else an end of one
///   above 1e-14   the nearest of both kinds: rounding may put the foot of the common normal anywhere
///   below         an end of one, which is as near as the inside to rounding
static inline mn_closest mn_closest_edge_edge(const mn_vec3 x[4])
{
    const mn_vec3 u = mn_sub(x[1], x[0]), v = mn_sub(x[3], x[2]), r = mn_sub(x[0], x[2]);
    const mn_vec3 m = mn_cross(u, v);
    const double uu = mn_norm2(u), vv = mn_norm2(v), det = mn_norm2(m);
    mn_closest best = {.distance = INFINITY};
    if (det > fmax(mn_closest_least_area2, 1e-28 * uu * vv)) {
        // of cross products, which lose 1 / sin of their digits where dot products lose its square; and t as
        // the foot of s, so that what s has lost moves both points along the edges, not apart
        const double s = mn_dot(m, mn_cross(v, r)) / det, t = (mn_dot(v, r) + s * mn_dot(u, v)) / vv;
        if (s > 0 && s < 1 && t > 0 && t < 1) {
            const double weights[4] = {1 - s, s, -(1 - t), -t};
            best = mn_closest_of_weights(x, weights);
            if (det > 1e-4 * uu * vv) {
                const double height = mn_dot(r, m) / sqrt(det); // has a direction down to the last digit
                if (fabs(height) > 0) {
                    best.distance = fabs(height);
                    best.normal = mn_scale((height > 0 ? 1 : -1) / sqrt(det), m);
                }
                return best;
            }
        }
    }
    for (int k = 0; k < 4; k++) { // an end of one and the other
        const double t = k < 2 ? mn_segment_foot(x[2], x[3], x[k]) : mn_segment_foot(x[0], x[1], x[k]);
        double weights[4] = {0};
        if (k < 2)
            weights[k] = 1, weights[2] = -(1 - t), weights[3] = -t;
        else
            weights[k] = -1, weights[0] = 1 - t, weights[1] = t;
        const mn_closest end = mn_closest_of_weights(x, weights);
        if (end.distance < best.distance) best = end;
    }
    return best;
}

#endif
