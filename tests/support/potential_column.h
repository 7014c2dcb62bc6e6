// SPDX-License-Identifier: Apache-2.0
//
// The front of a collapsing column of liquid, a wide and 2a high, as fully nonlinear potential flow: nothing
// in common with the solvers that it is compared with. Markers move with the surface between the wall, x = 0,
// and the floor, y = 0 [longuethiggins1976]:
//
//   dx/dt = grad phi,   dphi/dt = |grad phi|^2/2 - g y,
//   c phi(P) = 1/2pi int ( phi d/dn - dphi/dn ) ln r ds     over the surface and its mirror images
//
// so that wall and floor need no elements. Each marker has a panel of two straight halves on which phi and
// dphi/dn are constant; the unknown is dphi/dn. Midpoint rule in time; markers are spread anew along splines,
// and smoothed in fifth order. In units of a and g.
#ifndef MENISCUS_TESTS_SUPPORT_POTENTIAL_COLUMN_H
#define MENISCUS_TESTS_SUPPORT_POTENTIAL_COLUMN_H

#include <math.h>
#include <stdbool.h>
#include <string.h>

enum { COLUMN_MARKERS = 80, COLUMN_MIRRORED = 6, COLUMN_ALL = COLUMN_MARKERS + 2 * COLUMN_MIRRORED };

/// The surface from the wall to the toe.
typedef struct potential_column {
    double x[COLUMN_MARKERS], y[COLUMN_MARKERS], phi[COLUMN_MARKERS];
    double time;
} potential_column;

/// The surface with what mirrors make of its ends, and the length along it.
typedef struct mirrored_column {
    double s[COLUMN_ALL], x[COLUMN_ALL], y[COLUMN_ALL], phi[COLUMN_ALL];
} mirrored_column;

static inline mirrored_column column_mirrored(const potential_column *c)
{
    mirrored_column m;
    for (int k = 0; k < COLUMN_ALL; k++) {
        const int i = k - COLUMN_MIRRORED, last = 2 * COLUMN_MARKERS - 1 - i;
        const int from = i < 0 ? -1 - i : i < COLUMN_MARKERS ? i : last;
        m.x[k] = i < 0 ? -c->x[from] : c->x[from];
        m.y[k] = i < COLUMN_MARKERS ? c->y[from] : -c->y[from];
        m.phi[k] = c->phi[from];
        m.s[k] = k == 0 ? 0 : m.s[k - 1] + hypot(m.x[k] - m.x[k - 1], m.y[k] - m.y[k - 1]);
    }
    return m;
}

/// Adds int ln r ds and int d/dn ln r ds over the segment from (ax, ay) to (bx, by); n to its left.
static inline void column_segment(double px, double py, double ax, double ay, double bx, double by,
                                  double *single, double *twofold)
{
    const double length = hypot(bx - ax, by - ay), tx = (bx - ax) / length, ty = (by - ay) / length;
    const double s = (px - ax) * tx + (py - ay) * ty, h = (px - ax) * ty - (py - ay) * tx;
    const double near = hypot(s, h), far = hypot(s - length, h);
    const double angle = fabs(h) < 1e-14 ? 0 : atan((length - s) / h) + atan(s / h);
    *single += (near > 0 ? s * log(near) : 0) + (far > 0 ? (length - s) * log(far) : 0) - length + h * angle;
    *twofold += angle;
}

/// Solves a full system in place, by elimination with pivots.
static inline void column_eliminate(double (*a)[COLUMN_MARKERS], double *b)
{
    for (int k = 0; k < COLUMN_MARKERS; k++) {
        int pivot = k;
        for (int i = k; i < COLUMN_MARKERS; i++)
            if (fabs(a[i][k]) > fabs(a[pivot][k])) pivot = i;
        for (int j = 0; j < COLUMN_MARKERS; j++) {
            const double swap = a[k][j];
            a[k][j] = a[pivot][j], a[pivot][j] = swap;
        }
        const double swap = b[k];
        b[k] = b[pivot], b[pivot] = swap;
        for (int i = k + 1; i < COLUMN_MARKERS; i++) {
            const double factor = a[i][k] / a[k][k];
            for (int j = k; j < COLUMN_MARKERS; j++) a[i][j] -= factor * a[k][j];
            b[i] -= factor * b[k];
        }
    }
    for (int i = COLUMN_MARKERS - 1; i >= 0; i--) {
        for (int j = i + 1; j < COLUMN_MARKERS; j++) b[i] -= a[i][j] * b[j];
        b[i] /= a[i][i];
    }
}

/// dphi/dn of every marker.
static inline void column_flux(const potential_column *c, double *flux)
{
    static const double mirror[4][2] = {{1, 1}, {-1, 1}, {1, -1}, {-1, -1}};
    enum { N = COLUMN_MARKERS };
    double a[N][N], ex[N + 1], ey[N + 1];
    for (int i = 1; i < N; i++) ex[i] = 0.5 * (c->x[i] + c->x[i - 1]), ey[i] = 0.5 * (c->y[i] + c->y[i - 1]);
    ex[0] = 0, ey[0] = c->y[0], ex[N] = c->x[N - 1], ey[N] = 0;
    for (int i = 0; i < N; i++) {
        double solid_angle = 0;
        flux[i] = 0;
        for (int j = 0; j < N; j++) {
            double single = 0, twofold = 0;
            for (int m = 0; m < 4; m++) {
                const double px = mirror[m][0] * c->x[i], py = mirror[m][1] * c->y[i];
                column_segment(px, py, ex[j], ey[j], c->x[j], c->y[j], &single, &twofold);
                column_segment(px, py, c->x[j], c->y[j], ex[j + 1], ey[j + 1], &single, &twofold);
            }
            a[i][j] = single;
            solid_angle += twofold;
            flux[i] += twofold * c->phi[j];
        }
        flux[i] -= solid_angle * c->phi[i]; // a constant phi has no flux
    }
    column_eliminate(a, flux);
}

static inline double column_slope(const double *s, const double *f, int i)
{
    const double a = s[i] - s[i - 1], b = s[i + 1] - s[i];
    return (f[i + 1] * a * a - f[i - 1] * b * b + f[i] * (b * b - a * a)) / (a * b * (a + b));
}

/// The rates of x, y and phi.
static inline void column_rates(const potential_column *c, potential_column *rate)
{
    double flux[COLUMN_MARKERS];
    const mirrored_column m = column_mirrored(c);
    column_flux(c, flux);
    for (int i = 0; i < COLUMN_MARKERS; i++) {
        const int k = i + COLUMN_MIRRORED;
        double tx = column_slope(m.s, m.x, k), ty = column_slope(m.s, m.y, k);
        const double along = column_slope(m.s, m.phi, k), length = hypot(tx, ty);
        tx /= length, ty /= length;
        rate->x[i] = along * tx - flux[i] * ty, rate->y[i] = along * ty + flux[i] * tx;
        rate->phi[i] = 0.5 * (rate->x[i] * rate->x[i] + rate->y[i] * rate->y[i]) - c->y[i];
    }
}

static inline void column_add(potential_column *c, double dt, const potential_column *rate)
{
    for (int i = 0; i < COLUMN_MARKERS; i++)
        c->x[i] += dt * rate->x[i], c->y[i] += dt * rate->y[i], c->phi[i] += dt * rate->phi[i];
}

/// The natural cubic spline through (s, f), at t.
static inline void column_spline(const double *s, const double *f, const double *t, double *out)
{
    double bend[COLUMN_ALL] = {0}, c[COLUMN_ALL] = {0}, d[COLUMN_ALL] = {0};
    for (int i = 1; i < COLUMN_ALL - 1; i++) {
        const double a = s[i] - s[i - 1], b = s[i + 1] - s[i], pivot = 2 * (a + b) - a * c[i - 1];
        c[i] = b / pivot;
        d[i] = (6 * ((f[i + 1] - f[i]) / b - (f[i] - f[i - 1]) / a) - a * d[i - 1]) / pivot;
    }
    for (int i = COLUMN_ALL - 2; i > 0; i--) bend[i] = d[i] - c[i] * bend[i + 1];
    for (int k = 0, i = 1; k < COLUMN_MARKERS; k++) {
        while (i < COLUMN_ALL - 1 && s[i] < t[k]) i++;
        const double h = s[i] - s[i - 1], a = (s[i] - t[k]) / h, b = 1 - a;
        out[k] =
            a * f[i - 1] + b * f[i] + ((a * a * a - a) * bend[i - 1] + (b * b * b - b) * bend[i]) * h * h / 6;
    }
}

/// Where marker i belongs between 0 and 1: panels at the toe are a third of those at the wall.
static inline double column_share(int i)
{
    const double finer = log(3.0);
    double sum = 0;
    for (int k = 0; k < 2; k++) sum += 0.5 * (1 - exp(-finer * (i + k) / COLUMN_MARKERS)) / (1 - exp(-finer));
    return sum;
}

static inline void column_spread(potential_column *c)
{
    const mirrored_column m = column_mirrored(c);
    const int first = COLUMN_MIRRORED, last = COLUMN_ALL - COLUMN_MIRRORED;
    const double begin = 0.5 * (m.s[first - 1] + m.s[first]), end = 0.5 * (m.s[last - 1] + m.s[last]);
    double t[COLUMN_MARKERS];
    for (int i = 0; i < COLUMN_MARKERS; i++) t[i] = begin + (end - begin) * column_share(i);
    column_spline(m.s, m.x, t, c->x);
    column_spline(m.s, m.y, t, c->y);
    column_spline(m.s, m.phi, t, c->phi);
}

static inline double column_filter(const double *f)
{
    return (-f[-2] + 4 * f[-1] + 10 * f[0] + 4 * f[1] - f[2]) / 16;
}

static inline void column_smooth(potential_column *c)
{
    const mirrored_column m = column_mirrored(c);
    for (int i = 0; i < COLUMN_MARKERS; i++) {
        const int k = i + COLUMN_MIRRORED;
        c->x[i] = column_filter(m.x + k), c->y[i] = column_filter(m.y + k);
        c->phi[i] = column_filter(m.phi + k);
    }
}

/// The column at rest, its upper edge rounded by a twentieth.
static inline potential_column column_start(void)
{
    const double r = 0.05, top = 1 - r, round = top + r * 0.5 * 3.14159265358979323846, all = round + 2 - r;
    potential_column c = {.time = 0};
    for (int i = 0; i < COLUMN_MARKERS; i++) {
        const double s = all * column_share(i), angle = (s - top) / r;
        c.x[i] = s < top ? s : s < round ? 1 - r + r * sin(angle) : 1;
        c.y[i] = s < top ? 2 : s < round ? 2 - r + r * cos(angle) : 2 - r - (s - round);
    }
    return c;
}

static inline void column_advance(potential_column *c, double until)
{
    for (int step = 1; c->time < until; step++) {
        potential_column rate = {.time = 0}, half = *c;
        double nearest = INFINITY, fastest = 0;
        column_rates(c, &rate);
        for (int i = 0; i < COLUMN_MARKERS; i++) {
            fastest = fmax(fastest, hypot(rate.x[i], rate.y[i]));
            if (i > 0) nearest = fmin(nearest, hypot(c->x[i] - c->x[i - 1], c->y[i] - c->y[i - 1]));
        }
        const double dt = fmin(until - c->time, c->time > 0 ? fmin(0.01, 0.3 * nearest / fastest) : 0.002);
        column_add(&half, 0.5 * dt, &rate);
        column_rates(&half, &rate);
        column_add(c, dt, &rate);
        c->time = until - c->time > dt ? c->time + dt : until;
        if (step % 3 == 0) column_spread(c);
        if (step % 6 == 0) column_smooth(c);
    }
}

/// So far that this part of the liquid is ahead.
static inline double column_front(const potential_column *c, double part)
{
    double ahead = 0, x = c->x[COLUMN_MARKERS - 1], y = 0;
    for (int i = COLUMN_MARKERS - 1; i >= 0; i--) {
        const double slice = 0.5 * (y + c->y[i]) * (x - c->x[i]), missing = 2 * part - ahead;
        if (slice > missing) return x - missing / slice * (x - c->x[i]);
        ahead += slice, x = c->x[i], y = c->y[i];
    }
    return 0;
}

#endif
