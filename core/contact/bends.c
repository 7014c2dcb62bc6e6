// SPDX-License-Identifier: Apache-2.0
//
// How the distance of a pair bends. With weights c of the closest points and n along d, let the foot move
// over the other element along tangents t_k, at which the weights change by p_k per metre. Then
//
//   -d''(x) = sum_k [ (p_k n)(c t_k)^T + (c t_k)(p_k n)^T + d (p_k n)(p_k n)^T ] - (c t)(c t)^T/d across the
//             tangents along which it cannot move (a corner, an edge),
//
// where (p n) has p_i n at vertex i: the Schur complement of |sum c_i x_i|^2/2 by the parameters of c. For
// each tangent it is a 2 x 2 matrix with one positive and one negative eigenvalue, in the directions of (p n)
// and (c t). A barrier pushes with b' < 0, so b' d'' has the positive ones. Tested: by differences
// (tests/unit/contact/test_terms.c).
#include "contact/surface.h"

#include <string.h>

/// How the weights change with the parameters of the foot that are free, and how the foot moves with them.
static int foot_motions(const mn_contact_term *t, const mn_vec3 x[4], double rate[2][4], mn_vec3 move[2])
{
    const double *c = t->near.c;
    int count = 0;
    memset(rate, 0, 2 * sizeof *rate);
    if (t->is_edge_edge) {
        for (int k = 0; k < 4; k += 2)
            if (c[k] != 0 && c[k + 1] != 0) {
                const double sign = k == 0 ? 1 : -1;
                rate[count][k] = -sign, rate[count][k + 1] = sign;
                move[count++] = mn_scale(sign, mn_sub(x[k + 1], x[k]));
            }
        return count;
    }
    int corner[3], corners = 0;
    for (int k = 1; k < 4; k++)
        if (c[k] != 0) corner[corners++] = k;
    for (int k = 1; k < corners; k++) {
        rate[count][corner[0]] = 1, rate[count][corner[k]] = -1;
        move[count++] = mn_sub(x[corner[0]], x[corner[k]]);
    }
    return count;
}

// The rows of one tangent: of the positive eigenvalue and of the negative one.
static void bend_along(const mn_closest *near, const double rate[4], mn_vec3 move, double c2,
                       mn_vec3 rows[2][4], double value[2])
{
    double p2 = 0;
    for (int i = 0; i < 4; i++) p2 += rate[i] * rate[i];
    // [[d p2, p c], [p c, 0]] in the directions (p n)/|p| and (c t)/|c|
    const double bend = near->distance * p2, cross = sqrt(p2 * c2),
                 root = sqrt(bend * bend + 4 * cross * cross);
    for (int side = 0; side < 2; side++) {
        value[side] = 0.5 * (side == 0 ? bend + root : bend - root);
        const double norm = sqrt(value[side] * value[side] + cross * cross);
        for (int i = 0; i < 4; i++)
            rows[side][i] = mn_axpy(mn_scale(value[side] * rate[i] / (sqrt(p2) * norm), near->normal),
                                    cross * near->c[i] / (sqrt(c2) * norm), move);
    }
}

int mn_contact_bends(const mn_contact_term *t, const mn_vec3 x[4], mn_vec3 rows[4][4], double value[4])
{
    double rate[2][4], c2 = 0;
    mn_vec3 move[2];
    const int count = foot_motions(t, x, rate, move);
    for (int i = 0; i < 4; i++) c2 += t->near.c[i] * t->near.c[i];
    for (int k = 0; k < count; k++) { // tangents made orthonormal, each with the rates that belong to it
        const double before = mn_norm(move[k]);
        if (k == 1) {
            const double off = mn_dot(move[1], move[0]);
            move[1] = mn_axpy(move[1], -off, move[0]);
            for (int i = 0; i < 4; i++) rate[1][i] -= off * rate[0][i];
        }
        const double length = mn_norm(move[k]);
        if (!(length > 1e-6 * before)) return 2 * k; // nearly parallel edges
        move[k] = mn_scale(1 / length, move[k]);
        for (int i = 0; i < 4; i++) rate[k][i] /= length;
        bend_along(&t->near, rate[k], move[k], c2, rows + 2 * k, value + 2 * k);
    }
    return 2 * count;
}
