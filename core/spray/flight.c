// SPDX-License-Identifier: Apache-2.0
//
// Free flight of a sphere through air.
//
//   dv/dt = g - k(|v - w|) (v - w),       k = f(Re) 6 pi mu r / m
//   Re    = 2 r rho |v - w| / mu
//   f(Re) = max(1 + 0.15 Re^0.687, 0.44 Re / 24)          [schiller1933], Newton's drag above Re = 1000
//
// Taking the larger of the two laws makes f continuous: they cross at Re = 990. For a frozen k the equation
// is linear and solved exactly, with z = k t:
//
//   v(t) = v + a t phi1(z),   x(t) = x + v t + a t^2 phi2(z),   a = g - k (v - w)
//   phi1 = (1 - e^-z) / z,    phi2 = (z - 1 + e^-z) / z^2
//
// so a flight in vacuum is a parabola to the last bit that rounding leaves, Stokes drag (f = 1) is exact, and
// so is a drop at its terminal speed. k is taken at the middle of the arc, predicted with the k at its start
// (exponential midpoint rule, order 2); the difference of the two speeds at the end bounds the length of the
// arc. Hence no step is unstable, however long. The whole method is in docs/theory/spray.md.
#include "spray/flight.h"
#include "base/elementary.h"

static const double pi = MN_PI;

double mn_drag_rate(const mn_air *air, double radius, double mass, double speed)
{
    if (air->viscosity > 0) {
        const double re = 2.0 * radius * air->density * speed / air->viscosity;
        const double f = fmax(1.0 + 0.15 * mn_pow(re, 0.687), 0.44 / 24.0 * re);
        return air->drag * f * 6.0 * pi * air->viscosity * radius / mass;
    }
    // The limit of no viscosity: Newton's drag alone, c_d = 0.44.
    return air->drag * 0.5 * 0.44 * air->density * pi * radius * radius * speed / mass;
}

// phi1 and phi2 above; by their series where the closed forms cancel.
static void exponential_weights(double z, double *phi1, double *phi2)
{
    if (z < 1e-2) {
        *phi2 = 1.0 / 2 - z * (1.0 / 6 - z * (1.0 / 24 - z * (1.0 / 120 - z * (1.0 / 720 - z / 5040))));
        *phi1 = 1.0 - z * *phi2;
        return;
    }
    *phi1 = -mn_expm1(-z) / z;
    *phi2 = (1.0 - *phi1) / z;
}

void mn_arc_at(const mn_arc *arc, double t, mn_vec3 *position, mn_vec3 *velocity)
{
    double phi1, phi2;
    exponential_weights(arc->rate * t, &phi1, &phi2);
    const mn_vec3 a = mn_axpy(arc->gravity, -arc->rate, mn_sub(arc->velocity, arc->wind));
    if (position) *position = mn_axpy(mn_axpy(arc->position, t, arc->velocity), t * t * phi2, a);
    if (velocity) *velocity = mn_axpy(arc->velocity, t * phi1, a);
}

mn_arc mn_arc_begin(const mn_air *air, const mn_drop *drop, double tolerance, double *seconds)
{
    mn_arc arc = {drop->position, drop->velocity, air->wind, air->gravity, 0};
    const double speed = mn_distance(drop->velocity, air->wind);
    const double rate = mn_drag_rate(air, drop->radius, drop->mass, speed);
    double t = *seconds;
    const double shortest = ldexp(t, -20);
    for (;;) {
        mn_vec3 middle, end_first, end_second;
        arc.rate = rate;
        mn_arc_at(&arc, 0.5 * t, NULL, &middle);
        mn_arc_at(&arc, t, NULL, &end_first);
        arc.rate = mn_drag_rate(air, drop->radius, drop->mass, mn_distance(middle, air->wind));
        mn_arc_at(&arc, t, NULL, &end_second);
        const double error = mn_distance(end_first, end_second);
        const double scale = fmax(speed, mn_distance(end_second, air->wind));
        if (!(error > tolerance * scale) || t <= shortest) break;
        // error ~ t^2
        t = fmax(shortest, t * fmax(0.2, 0.9 * sqrt(tolerance * scale / error)));
    }
    *seconds = t;
    return arc;
}

double mn_spray_terminal_speed(const mn_spray_def *def, double radius, double mass)
{
    // k(v) v = g; the left side rises from 0.
    const mn_air air = {def->gravity, def->wind, def->air_density, def->air_viscosity, def->drag};
    const double g = mn_norm(def->gravity);
    if (g == 0) return 0;
    double low = 0, high = 1;
    while (mn_drag_rate(&air, radius, mass, high) * high < g) {
        low = high;
        high *= 2;
        if (high > 1e12) return INFINITY;
    }
    for (int i = 0; i < 60; i++) {
        const double v = 0.5 * (low + high);
        if (mn_drag_rate(&air, radius, mass, v) * v < g)
            low = v;
        else
            high = v;
    }
    return 0.5 * (low + high);
}
