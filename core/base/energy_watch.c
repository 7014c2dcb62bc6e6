// SPDX-License-Identifier: Apache-2.0
//
//   E = kinetic + surface + stored - m g . x   x: centre of mass; stored: elastic, of contacts, of gas
//   E <= E_0                                   nothing drives it; walls, friction and viscosity only take
//   warn    E > min E + 0.25 S                 S: kinetic + surface + stored energy at first, what the weight
//   refuse  E > E_0 + g S                         gave, and the noise of the method; g = 0.05 unless it says
//
// What drops, bubbles and bodies that oscillate for ten periods gain is 0.4 % at most (row G2 of
// docs/validation.md), and 4 % what a drop of three cells that falls on a plate does. A body at rest has no
// energy to measure a rise by: speeds of 0.1 mm/s are noise in any case.
//
// Where a solver cannot measure its surface (liquid that spreads on a wall gets thinner than a cell), it
// counts as nothing later on: motion and weight must then be paid by all that there was at first, and by as
// much again as the surface had, for wetting gives sigma cos(angle) of each area.
//
// Gas that is squeezed at one temperature stores, over what the air around would do to it,
//   E = n (r - 1 - ln r)    r = p_0 / p, n = p V
#include "base/energy_watch.h"
#include "base/elementary.h"

#include <math.h>

static double value_of(const mn_report *report, mn_report_key key, int component)
{
    return report->set[key] ? report->value[key][component] : 0;
}

double mn_gas_energy(double amount, double pressure, double ambient)
{
    const double r = ambient / pressure;
    return amount > 0 && pressure > 0 ? fmax(0, amount * (r - 1 - mn_ln(r))) : 0;
}

mn_status mn_energy_watch_look(mn_context *ctx, mn_energy_watch *watch, const mn_report *report,
                               mn_vec3 gravity, const mn_energy_books *books)
{
    const double rise = 0.25, still = 1e-4; // m/s
    const double mass = value_of(report, MN_REPORT_mass, 0),
                 surface = value_of(report, MN_REPORT_surface_energy, 0) + books->stored;
    const double kinetic = value_of(report, MN_REPORT_kinetic_energy, 0);
    const mn_vec3 centre = {value_of(report, MN_REPORT_center, 0), value_of(report, MN_REPORT_center, 1),
                            value_of(report, MN_REPORT_center, 2)};
    const bool same = watch->begun && !(fabs(mass - watch->mass) > books->loss * fmax(mass, watch->mass));
    const double weight = -(same ? watch->mass : mass) * mn_dot(gravity, centre),
                 total = kinetic + (books->unsure ? books->stored : surface) + weight;
    if (!isfinite(total) || !isfinite(surface)) return MN_OK;
    if (books->driven || !same) {
        const double noise = mass * still * still + books->noise;
        const double paid = books->unsure ? 2 * fabs(surface - books->stored) : 0;
        *watch = (mn_energy_watch){
            true, watch->warned, mass, weight, total + paid, total, kinetic + fabs(surface) + noise};
        return MN_OK;
    }
    const double given = fmax(0, watch->weight - weight);
    watch->scale += given;
    watch->weight -= given; // the lowest it has been
    watch->least = fmin(watch->least, total);
    if (total > watch->budget + books->growth * watch->scale)
        return mn_fail(
            ctx, MN_ERROR_DIVERGED,
            "The energy has grown from %.3g J to %.3g J with nothing that drives it, so the result can no longer be trusted; lower cfl or max_dt, or use a finer resolution.",
            watch->budget, total);
    if (!watch->warned && !books->unsure && total > watch->least + rise * watch->scale) {
        watch->warned = true;
        mn_log(ctx, MN_LOG_WARNING,
               "The energy has risen from %.3g J to %.3g J with nothing that drives it; lower cfl or "
               "max_dt if the motion looks too lively.",
               watch->least, total);
    }
    return MN_OK;
}
