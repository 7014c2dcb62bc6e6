// SPDX-License-Identifier: Apache-2.0
//
// The swing of a drop as fully nonlinear potential flow: no mesh, no viscosity, no step of ours in it. The
// drop is a body of revolution about x and its own mirror image, r = R(mu, t) with mu the cosine of the polar
// angle, in units of its volume's radius, density and surface tension.
//
//   phi = sum a_n r^n P_n(mu), n even      fitted to its values on the surface by least squares
//   R_t = u_r - u_theta R_theta / R
//   phi_t = - |u|^2/2 - curvature + u_r R_t         on the surface, at fixed mu (Bernoulli)
//
// R and phi are held at Gauss points and kept to MODES even Legendre polynomials; steps are Runge and
// Kutta's.
#ifndef MENISCUS_TESTS_SUPPORT_POTENTIAL_DROP_H
#define MENISCUS_TESTS_SUPPORT_POTENTIAL_DROP_H

#include <math.h>

enum { POTENTIAL_DROP_POINTS = 64, POTENTIAL_DROP_MODES = 12, POTENTIAL_DROP_FITTED = 10 };

typedef struct potential_drop {
    double mu[POTENTIAL_DROP_POINTS], weight[POTENTIAL_DROP_POINTS];
    /// P_2k and its derivatives by mu
    double p[POTENTIAL_DROP_POINTS][POTENTIAL_DROP_MODES], p1[POTENTIAL_DROP_POINTS][POTENTIAL_DROP_MODES],
        p2[POTENTIAL_DROP_POINTS][POTENTIAL_DROP_MODES];
    double radius[POTENTIAL_DROP_POINTS], phi[POTENTIAL_DROP_POINTS];
} potential_drop;

static inline void potential_drop_legendre(double x, int most, double *p, double *d, double *d2)
{
    p[0] = 1, p[1] = x, d[0] = 0, d[1] = 1, d2[0] = d2[1] = 0;
    for (int n = 2; n <= most; n++) {
        p[n] = ((2 * n - 1) * x * p[n - 1] - (n - 1) * p[n - 2]) / n;
        d[n] = d[n - 2] + (2 * n - 1) * p[n - 1];
        d2[n] = d2[n - 2] + (2 * n - 1) * d[n - 1];
    }
}

static inline void potential_drop_modes(const potential_drop *s, const double *f, double *c)
{
    for (int k = 0; k < POTENTIAL_DROP_MODES; k++) {
        c[k] = 0;
        for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) c[k] += s->weight[i] * s->p[i][k] * f[i];
        c[k] *= 0.5 * (4 * k + 1);
    }
}

static inline void potential_drop_filter(const potential_drop *s, double *f)
{
    double c[POTENTIAL_DROP_MODES];
    potential_drop_modes(s, f, c);
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) {
        f[i] = 0;
        for (int k = 0; k < POTENTIAL_DROP_MODES; k++) f[i] += s->p[i][k] * c[k];
    }
}

/// An ellipsoid of revolution at rest, length over width.
static inline void potential_drop_start(potential_drop *s, double aspect)
{
    enum { N = POTENTIAL_DROP_POINTS };
    const double pi = 3.14159265358979323846, along = pow(aspect, 2.0 / 3), across = 1 / sqrt(along);
    for (int i = 0; i < N; i++) {
        double x = cos(pi * (i + 0.75) / (N + 0.5)), p[N + 1], d[N + 1], d2[N + 1];
        for (int k = 0; k < 20; k++) {
            potential_drop_legendre(x, N, p, d, d2);
            x -= p[N] / d[N];
        }
        potential_drop_legendre(x, N, p, d, d2);
        s->mu[i] = x, s->weight[i] = 2 / ((1 - x * x) * d[N] * d[N]);
        for (int k = 0; k < POTENTIAL_DROP_MODES; k++)
            s->p[i][k] = p[2 * k], s->p1[i][k] = d[2 * k], s->p2[i][k] = d2[2 * k];
        s->radius[i] = 1 / sqrt(x * x / (along * along) + (1 - x * x) / (across * across));
        s->phi[i] = 0;
    }
    potential_drop_filter(s, s->radius);
}

// min |A x - b| by Householder's reflections.
static inline void potential_drop_fit(double a[POTENTIAL_DROP_POINTS][POTENTIAL_DROP_FITTED], double *b,
                                      double *x)
{
    enum { M = POTENTIAL_DROP_POINTS, N = POTENTIAL_DROP_FITTED };
    for (int k = 0; k < N; k++) {
        double v[M], length = 0, square = 0;
        for (int i = k; i < M; i++) length += a[i][k] * a[i][k], v[i] = a[i][k];
        v[k] += a[k][k] > 0 ? sqrt(length) : -sqrt(length);
        for (int i = k; i < M; i++) square += v[i] * v[i];
        for (int j = k; j <= N; j++) {
            double sum = 0;
            for (int i = k; i < M; i++) sum += v[i] * (j < N ? a[i][j] : b[i]);
            for (int i = k; i < M; i++) *(j < N ? &a[i][j] : &b[i]) -= 2 * sum / square * v[i];
        }
    }
    for (int k = N - 1; k >= 0; k--) {
        x[k] = b[k];
        for (int j = k + 1; j < N; j++) x[k] -= a[k][j] * x[j];
        x[k] /= a[k][k];
    }
}

static inline void potential_drop_rates(const potential_drop *s, const double *radius, const double *phi,
                                        double *radius_rate, double *phi_rate)
{
    double a[POTENTIAL_DROP_POINTS][POTENTIAL_DROP_FITTED], b[POTENTIAL_DROP_POINTS], c[POTENTIAL_DROP_MODES],
        fit[POTENTIAL_DROP_FITTED], most = 0;
    potential_drop_modes(s, radius, c);
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) most = fmax(most, radius[i]);
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) {
        const double w = sqrt(s->weight[i]);
        for (int k = 0; k < POTENTIAL_DROP_FITTED; k++)
            a[i][k] = w * s->p[i][k] * pow(radius[i] / most, 2 * k);
        b[i] = w * phi[i];
    }
    potential_drop_fit(a, b, fit);
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) {
        const double mu = s->mu[i], sine = sqrt(1 - mu * mu), r = radius[i];
        double d = 0, d2 = 0, out = 0, along = 0;
        for (int k = 0; k < POTENTIAL_DROP_MODES; k++) d += s->p1[i][k] * c[k], d2 += s->p2[i][k] * c[k];
        const double slope = -sine * d, bend = sine * sine * d2 - mu * d; // by the angle
        for (int k = 1; k < POTENTIAL_DROP_FITTED; k++) {
            const double power = fit[k] * pow(r / most, 2 * k) / r;
            out += 2 * k * power * s->p[i][k], along -= sine * power * s->p1[i][k];
        }
        const double q = r * r + slope * slope;
        const double curvature =
            (r * r + 2 * slope * slope - r * bend) / (q * sqrt(q)) + (1 - mu / sine * slope / r) / sqrt(q);
        radius_rate[i] = out - along / r * slope;
        phi_rate[i] = -0.5 * (out * out + along * along) - curvature + 2 + out * radius_rate[i];
    }
    potential_drop_filter(s, radius_rate);
    potential_drop_filter(s, phi_rate);
}

static inline void potential_drop_step(potential_drop *s, double dt)
{
    static const double part[4] = {0, 0.5, 0.5, 1}, share[4] = {1.0 / 6, 1.0 / 3, 1.0 / 3, 1.0 / 6};
    double r[POTENTIAL_DROP_POINTS], f[POTENTIAL_DROP_POINTS],
        dr[POTENTIAL_DROP_POINTS] = {0}, df[POTENTIAL_DROP_POINTS] = {0}, sum_r[POTENTIAL_DROP_POINTS] = {0},
        sum_f[POTENTIAL_DROP_POINTS] = {0};
    for (int stage = 0; stage < 4; stage++) {
        for (int i = 0; i < POTENTIAL_DROP_POINTS; i++)
            r[i] = s->radius[i] + part[stage] * dt * dr[i], f[i] = s->phi[i] + part[stage] * dt * df[i];
        potential_drop_rates(s, r, f, dr, df);
        for (int i = 0; i < POTENTIAL_DROP_POINTS; i++)
            sum_r[i] += share[stage] * dr[i], sum_f[i] += share[stage] * df[i];
    }
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) s->radius[i] += dt * sum_r[i], s->phi[i] += dt * sum_f[i];
}

/// (a - b)/(a + b) of the semi-axes by second moments.
static inline double potential_drop_elongation(const potential_drop *s)
{
    double xx = 0, rr = 0;
    for (int i = 0; i < POTENTIAL_DROP_POINTS; i++) {
        const double w = s->weight[i] * pow(s->radius[i], 5), mu2 = s->mu[i] * s->mu[i];
        xx += w * mu2, rr += 0.5 * w * (1 - mu2);
    }
    return (sqrt(xx) - sqrt(rr)) / (sqrt(xx) + sqrt(rr));
}

/// When the elongation comes back to its next maximum, in sqrt(rho R^3/sigma), and how much of it is left.
static inline void potential_drop_period(double aspect, double *period, double *left)
{
    const double dt = 1e-3;
    potential_drop s;
    potential_drop_start(&s, aspect);
    const double first = potential_drop_elongation(&s);
    double before = first, here = first;
    for (int k = 1; k < 10000; k++) {
        potential_drop_step(&s, dt);
        const double next = potential_drop_elongation(&s);
        if (k > 10 && here > 0 && here >= before && here > next) {
            const double shift = 0.5 * (before - next) / (before - 2 * here + next);
            *period = dt * (k - 1 + shift), *left = (here - 0.25 * (before - next) * shift) / first;
            return;
        }
        before = here, here = next;
    }
    *period = *left = NAN;
}

#endif
