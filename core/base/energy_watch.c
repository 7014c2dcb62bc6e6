// SPDX-License-Identifier: Apache-2.0
//
//   E = kinetic + surface - m g . x            x: centre of mass
//   E <= E_0                                   nothing drives the liquid; walls and viscosity only take
//   warn    E > min E + 0.25 S                 S: kinetic + surface energy at first, and what the weight gave
//   refuse  E > E_0 + 0.5 S
//
// Surface energy is measured on a grid and what compression stores is not counted, so a few percent of rise
// are noise; what blows up passes these bounds within a few frames.
#include "base/energy_watch.h"

#include <math.h>

static double value_of(const mn_report *report, mn_report_key key, int component)
{
    return report->set[key] ? report->value[key][component] : 0;
}

mn_status mn_energy_watch_look(mn_context *ctx, mn_energy_watch *watch, const mn_report *report,
                               mn_vec3 gravity, bool driven)
{
    const double rise = 0.25, growth = 0.5;
    const double mass = value_of(report, MN_REPORT_mass, 0),
                 surface = value_of(report, MN_REPORT_surface_energy, 0);
    const double kinetic = value_of(report, MN_REPORT_kinetic_energy, 0);
    const mn_vec3 centre = {value_of(report, MN_REPORT_center, 0), value_of(report, MN_REPORT_center, 1),
                            value_of(report, MN_REPORT_center, 2)};
    const double weight = -mass * mn_dot(gravity, centre), total = kinetic + surface + weight;
    // Without surface tension what was squeezed together may push apart, and no scale tells how much that is.
    if (!isfinite(total) || !(surface > 0)) return MN_OK;
    if (driven || !watch->begun || fabs(mass - watch->mass) > 1e-9 * mass) {
        *watch = (mn_energy_watch){true, watch->warned, mass, weight, total, total, kinetic + fabs(surface)};
        return MN_OK;
    }
    const double given = fmax(0, watch->weight - weight);
    watch->scale += given;
    watch->weight -= given; // the lowest it has been
    watch->least = fmin(watch->least, total);
    if (total > watch->budget + growth * watch->scale)
        return mn_fail(
            ctx, MN_ERROR_DIVERGED,
            "The energy has grown from %.3g J to %.3g J with nothing that drives it, so the result can no longer be trusted; lower cfl or max_dt, or use a finer resolution.",
            watch->budget, total);
    if (!watch->warned && total > watch->least + rise * watch->scale) {
        watch->warned = true;
        mn_log(ctx, MN_LOG_WARNING,
               "The energy has risen from %.3g J to %.3g J with nothing that drives it; lower cfl or "
               "max_dt if the motion looks too lively.",
               watch->least, total);
    }
    return MN_OK;
}
