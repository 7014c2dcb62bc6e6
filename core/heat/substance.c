// SPDX-License-Identifier: Apache-2.0
//
// Energy against temperature of a mixture: E(T) is piecewise linear and rises, with a step where a substance
// melts at one temperature. Its inverse walks along the corners.
#include "heat/substance.h"

static double energy_of(const mn_heat_substance *s, double t, double melted)
{
    const double solidus = mn_heat_solidus(s), liquidus = mn_heat_liquidus(s);
    if (t < solidus) return s->capacity[0] * t;
    const double base = s->melting_point > 0 ? s->capacity[0] * solidus : 0;
    const double fusion = s->melting_point > 0 ? mn_heat_fusion(s) : 0;
    if (t > liquidus) return base + fusion + s->capacity[1] * (t - fmax(liquidus, 0));
    return base + fusion * (s->melting_range > 0 ? (t - solidus) / s->melting_range : melted);
}

double mn_heat_energy(int count, const mn_heat_share *shares, double temperature, double melted)
{
    double sum = 0;
    for (int i = 0; i < count; i++)
        sum += shares[i].mass * energy_of(shares[i].substance, temperature, melted);
    return sum;
}

// The corners of E(T), rising.
static int list_corners(int count, const mn_heat_share *shares, double corners[])
{
    int n = 0;
    for (int i = 0; i < count; i++)
        for (int side = 0; side < 2; side++) {
            const mn_heat_substance *s = shares[i].substance;
            const double t = side == 0 ? mn_heat_solidus(s) : mn_heat_liquidus(s);
            if (!(t > 0) || !isfinite(t) || !(shares[i].mass > 0) || (side == 1 && !(s->melting_range > 0)))
                continue;
            int at = n++;
            for (; at > 0 && corners[at - 1] > t; at--) corners[at] = corners[at - 1];
            corners[at] = t;
        }
    return n;
}

// dE/dT just above t.
static double capacity_above(int count, const mn_heat_share *shares, double t)
{
    double sum = 0;
    for (int i = 0; i < count; i++) {
        const mn_heat_substance *s = shares[i].substance;
        const double c = t < mn_heat_solidus(s)     ? s->capacity[0]
                         : t >= mn_heat_liquidus(s) ? s->capacity[1]
                                                    : mn_heat_fusion(s) / s->melting_range;
        sum += shares[i].mass * c;
    }
    return sum;
}

static void find_melted(int count, mn_heat_share *shares, double t, double melting)
{
    for (int i = 0; i < count; i++) {
        const mn_heat_substance *s = shares[i].substance;
        const double solidus = mn_heat_solidus(s), liquidus = mn_heat_liquidus(s);
        shares[i].melted = t < solidus            ? 0
                           : t > liquidus         ? 1
                           : s->melting_range > 0 ? (t - solidus) / s->melting_range
                                                  : melting;
    }
}

double mn_heat_temperature(int count, mn_heat_share *shares, double energy, double *slope)
{
    double corners[2 * MN_HEAT_SUBSTANCES_MAX], from = 0, below = 0;
    const int n = list_corners(count, shares, corners);
    energy = fmax(energy, 0);
    for (int i = 0; i < n; i++) {
        const double low = mn_heat_energy(count, shares, corners[i], 0);
        if (energy < low) break;
        const double high = mn_heat_energy(count, shares, corners[i], 1);
        from = corners[i], below = high;
        if (energy > high || high == low) continue;
        *slope = 0;
        find_melted(count, shares, from, (energy - low) / (high - low));
        return from;
    }
    const double capacity = capacity_above(count, shares, from);
    *slope = 1 / capacity;
    const double t = from + (energy - below) / capacity;
    find_melted(count, shares, t, 1);
    return t;
}

mn_status mn_heat_check_substance(mn_context *ctx, const char *name, const mn_heat_substance *s)
{
    for (int i = 0; i < 2; i++) {
        const char *phase = i == 0 ? "solid" : "molten";
        if (!(s->capacity[i] > 0) || !isfinite(s->capacity[i]))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "The heat capacity of %s %s is %g J/(kg K); give a number above 0.", phase, name,
                           s->capacity[i]);
        if (!(s->conductivity[i] >= 0) || !isfinite(s->conductivity[i]))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "The heat conductivity of %s %s is %g W/(m K); give 0 or more.", phase, name,
                           s->conductivity[i]);
    }
    if (!(s->latent_heat >= 0) || !isfinite(s->latent_heat))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The latent heat of %s is %g J/kg; give 0 or more.", name,
                       s->latent_heat);
    if (!(s->melting_point >= 0))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The melting point of %s is %g K; temperatures are in kelvin, 0 or more.", name,
                       s->melting_point);
    if (!(s->melting_range >= 0) || (s->melting_point > 0 && s->melting_range > 2 * s->melting_point))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The melting range of %s is %g K around %g K; give a width of 0 or more that stays "
                       "above absolute zero.",
                       name, s->melting_range, s->melting_point);
    return MN_OK;
}
