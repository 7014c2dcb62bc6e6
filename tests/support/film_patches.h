// SPDX-License-Identifier: Apache-2.0
//
// Angles between films along a border, from a quadratic patch fitted to each film near the place:
//
//   h(u, w) = a + b u + c w + d u^2 + e u w + f w^2,   normal ~ n - b e_u - c e_w at the border
//
// Films of a cluster have one mean curvature but need not be spheres, so a sphere fitted to the whole of one
// is off by degrees however fine the mesh is. Angles between triangles are of first order only.
#ifndef MENISCUS_TESTS_SUPPORT_FILM_PATCHES_H
#define MENISCUS_TESTS_SUPPORT_FILM_PATCHES_H

#include "film/film_state.h"

#include <math.h>

enum { PATCH_UNKNOWNS = 6, PATCH_LEAST = 9, PATCH_MOST = 512 };

typedef struct film_patch {
    int32_t triangle[PATCH_MOST], triangle_count;
    int32_t vertex[PATCH_MOST], vertex_count;
} film_patch;

static inline bool patch_push(int32_t *list, int32_t *count, int32_t value)
{
    for (int32_t i = 0; i < *count; i++)
        if (list[i] == value) return true;
    if (*count == PATCH_MOST) return false;
    list[(*count)++] = value;
    return true;
}

// The part of the film of triangle t that is connected to it within `reach` of x.
static inline bool patch_gather(const mn_complex *c, mn_vec3 x, int32_t t, double reach, film_patch *p)
{
    p->triangle_count = p->vertex_count = 0;
    bool good = patch_push(p->triangle, &p->triangle_count, t);
    for (int32_t i = 0; i < p->triangle_count && good; i++) {
        const int32_t *v = c->triangles.data[p->triangle[i]].v;
        for (int k = 0; k < 3 && good; k++) {
            const int32_t a = v[k], b = v[(k + 1) % 3];
            int32_t pair[2];
            const bool near_a = mn_distance(mn_complex_position(c, a), x) < reach;
            if (near_a) good = patch_push(p->vertex, &p->vertex_count, a);
            if ((!near_a && mn_distance(mn_complex_position(c, b), x) >= reach) ||
                mn_complex_edge(c, a, b, pair, 2) != 2)
                continue;
            for (int j = 0; j < 2 && good; j++) good = patch_push(p->triangle, &p->triangle_count, pair[j]);
        }
    }
    return good;
}

static inline bool patch_solve(double a[PATCH_UNKNOWNS][PATCH_UNKNOWNS + 1])
{
    for (int i = 0; i < PATCH_UNKNOWNS; i++) {
        int best = i;
        for (int k = i + 1; k < PATCH_UNKNOWNS; k++)
            if (fabs(a[k][i]) > fabs(a[best][i])) best = k;
        if (fabs(a[best][i]) < 1e-14) return false;
        for (int j = 0; j <= PATCH_UNKNOWNS; j++) {
            const double swap = a[i][j];
            a[i][j] = a[best][j], a[best][j] = swap;
        }
        for (int k = 0; k < PATCH_UNKNOWNS; k++)
            for (int j = PATCH_UNKNOWNS; k != i && j >= i; j--) a[k][j] -= a[k][i] / a[i][i] * a[i][j];
    }
    for (int i = 0; i < PATCH_UNKNOWNS; i++) a[i][PATCH_UNKNOWNS] /= a[i][i];
    return true;
}

/// The direction in which the film of triangle t leaves the border at its vertex v, where it comes from the
/// vertex `from` of t and runs along `tangent`.
static inline bool patch_direction(const mn_complex *c, int32_t v, int32_t from, mn_vec3 tangent, int32_t t,
                                   double reach, mn_vec3 *direction)
{
    film_patch p;
    const mn_vec3 x = mn_complex_position(c, v);
    mn_vec3 n = {0};
    if (!patch_gather(c, x, t, reach, &p) || p.vertex_count < PATCH_LEAST) return false;
    const mn_complex_triangle *own = &c->triangles.data[t];
    for (int32_t i = 0; i < p.triangle_count; i++) // from region to region, however they are stored
        n = mn_axpy(n, c->triangles.data[p.triangle[i]].region[0] == own->region[0] ? 1 : -1,
                    mn_complex_normal2(c, p.triangle[i]));
    n = mn_normalize(n);
    for (int pass = 0; pass < 3; pass++) {
        double a[PATCH_UNKNOWNS][PATCH_UNKNOWNS + 1] = {{0}};
        mn_vec3 e[2];
        mn_frame(n, &e[0], &e[1]);
        for (int32_t i = 0; i < p.vertex_count; i++) {
            const mn_vec3 d = mn_scale(1 / reach, mn_sub(mn_complex_position(c, p.vertex[i]), x));
            const double u = mn_dot(d, e[0]), w = mn_dot(d, e[1]);
            const double row[PATCH_UNKNOWNS + 1] = {1, u, w, u * u, u * w, w * w, mn_dot(d, n)};
            for (int k = 0; k < PATCH_UNKNOWNS; k++)
                for (int j = 0; j <= PATCH_UNKNOWNS; j++) a[k][j] += row[k] * row[j];
        }
        if (!patch_solve(a)) return false;
        n = mn_normalize(mn_axpy(mn_axpy(n, -a[1][PATCH_UNKNOWNS], e[0]), -a[2][PATCH_UNKNOWNS], e[1]));
    }
    // The triangle's order says on which side of the border the film is. Where the middle of the patch is
    // does not: the border of a narrow film bends around it.
    const bool forward = own->v[(mn_complex_corner(own, from) + 1) % 3] == v;
    *direction = mn_normalize(forward ? mn_cross(n, tangent) : mn_cross(tangent, n));
    return true;
}

/// Mean along the borders of three films of the deviation from 120 degrees, and the largest one; *share of
/// their length is what could be measured: films of fewer than PATCH_LEAST vertices within two and a half
/// sizes of a place say nothing. Patches are two and a half edges large, as long as edges should be there, or
/// as large as it takes.
static inline void patch_angles(const mn_film *film, double *mean, double *most, double *share)
{
    const mn_complex *c = &film->c;
    double sum = 0, measured = 0, all = 0;
    *most = 0;
    for (int32_t v = 0; v < (int32_t)c->vertices.count; v++) {
        int32_t w[2 * MN_COMPLEX_STAR_MAX], along[2], list[3], found = 0;
        mn_vec3 out[3];
        if (mn_complex_class_of(c, v) != MN_COMPLEX_CURVE) continue;
        const int32_t n = mn_complex_neighbours(c, v, w, 2 * MN_COMPLEX_STAR_MAX);
        for (int32_t i = 0; i < n; i++)
            if (mn_complex_edge(c, v, w[i], NULL, 0) == 3 && found < 2) along[found++] = w[i];
        if (found != 2 || mn_complex_edge(c, v, along[0], list, 3) != 3) continue;
        const mn_vec3 tangent =
            mn_normalize(mn_sub(mn_complex_position(c, along[1]), mn_complex_position(c, along[0])));
        const double length = mn_distance(mn_complex_position(c, v), mn_complex_position(c, along[0])) +
                              mn_distance(mn_complex_position(c, v), mn_complex_position(c, along[1]));
        bool good = true;
        for (int i = 0; i < 3 && good; i++) {
            double reach = 2.5 * film->def.size * mn_complex_fine(c, v, v);
            good = patch_direction(c, v, along[0], tangent, list[i], reach, &out[i]);
            while (!good && reach < 2.5 * film->def.size) {
                reach = fmin(1.2 * reach, 2.5 * film->def.size);
                good = patch_direction(c, v, along[0], tangent, list[i], reach, &out[i]);
            }
        }
        all += length;
        if (good) measured += length;
        for (int i = 0; i < 3 && good; i++) {
            const double cosine = fmax(-1, fmin(1, mn_dot(out[i], out[(i + 1) % 3])));
            const double error = fabs(acos(cosine) * 180 / 3.14159265358979323846 - 120);
            sum += length * error / 3;
            *most = fmax(*most, error);
        }
    }
    *mean = measured > 0 ? sum / measured : INFINITY;
    *share = all > 0 ? measured / all : 0;
}

#endif
