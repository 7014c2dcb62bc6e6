// SPDX-License-Identifier: Apache-2.0
//
// What `meniscus doctor` says about mpm_solver: its numbers, what they mean, and what to do about them.
#include "nodes/mpm_doctor.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static void say(mn_doctor *d, const char *format, ...)
{
    char text[400];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof text, format, arguments);
    va_end(arguments);
    d->sentence(d->user, text);
}

void mn_mpm_doctor_emitters(const mn_cook *cook, const mn_mpm_numbers *n, mn_doctor *d)
{
    const double dx = mn_cook_float(cook, "dx"), across = sqrt(n->emitter_area) / dx;
    d->number(d->user, "flow rate", n->flow_rate, "m^3/s",
              n->flow_rate > 0 ? "" : "nothing comes out at this frame");
    if (!(n->flow_rate > 0)) return;
    d->number(d->user, "cells across the emitters", across, "",
              across < 4 ? "use a smaller dx: at least 4" : "");
    d->number(d->user, "emission speed", n->emitter_speed, "m/s", "the fastest");
    d->number(d->user, "particles per second", 8 * n->flow_rate / (dx * dx * dx), "", "simulated");
}

static void show_liquid(const mn_cook *cook, const mn_mpm_numbers *n, mn_doctor *d)
{
    const bool automatic = mn_cook_float(cook, "bulk_modulus") == 0;
    d->number(d->user, "bodies of liquid", n->bodies, "", "");
    d->number(d->user, "cells across the smallest drop", n->cells_across, "",
              n->cells_across < 8 ? "use a smaller dx: at least 8" : "");
    if (n->capillary_time > 0) {
        d->number(d->user, "capillary time", n->capillary_time, "s", "time scale of the drop's oscillation");
        d->number(d->user, "Ohnesorge number", n->ohnesorge, "",
                  n->ohnesorge > 1 ? "viscosity wins" : "it will oscillate");
        d->number(d->user, "Bond number", n->bond, "",
                  n->bond > 1 ? "gravity flattens it" : "it stays round");
        d->number(d->user, "Weber number", n->weber, "",
                  n->weber > 10 ? "it will splash" : "surface tension holds it together");
    } else {
        d->sentence(d->user, "There is no surface tension: sigma is zero everywhere.");
    }
    d->number(d->user, "bulk modulus", n->bulk_modulus, "Pa", automatic ? "automatic" : "");
    d->number(d->user, "time step", n->step, "s", n->binding);
    d->number(d->user, "steps per frame", n->steps, "", "");
    d->number(d->user, "memory", n->bytes * 1e-6, "MB", "without the frames that are kept");
}

bool mn_mpm_many_steps(const mn_mpm_def *def, const mn_mpm_numbers *n, char *sentence, size_t size)
{
    const double many = 2000, half = 2;
    if (n->steps > (double)def->max_substeps)
        snprintf(sentence, size,
                 "A frame needs about %.3g steps, more than max_substeps (%lld), and will end with an error: "
                 "use a larger dx, a lower time_scale or a softer liquid.",
                 n->steps, (long long)def->max_substeps);
    else if (n->steps > many)
        snprintf(sentence, size,
                 "A frame needs about %.3g steps because of %s. Twice the dx costs about %.0f times less, "
                 "half the time_scale half as much.",
                 n->steps, n->binding, pow(half, 4));
    else
        return false;
    return true;
}

// What an artist can do about numbers that look wrong.
static void advise(const mn_cook *cook, const mn_mpm_def *def, const mn_mpm_numbers *n, mn_doctor *d)
{
    char text[400];
    if (n->bodies > 0 && n->cells_across < 8)
        say(d, "The smallest drop, of radius %.3g m, is %.1f cells across; dx of %.2g m would give it 8.",
            n->smallest_radius, n->cells_across, n->smallest_radius / 4);
    if (mn_mpm_many_steps(def, n, text, sizeof text)) d->sentence(d->user, text);
    if (def->integrator == MN_MPM_EXPLICIT && strcmp(n->binding, "viscosity") == 0)
        say(d, "Set integrator to semi_implicit: viscosity alone makes the steps of %.2g s this short.",
            n->step);
    if (def->bulk_modulus > 0 && n->capillary_time > 0) {
        const double squeeze = def->sigma > 0 ? 2 * def->sigma / n->smallest_radius / def->bulk_modulus : 0;
        if (squeeze > 0.03)
            say(d,
                "The bulk modulus lets surface tension squeeze the smallest drop by %.0f %%; 0 chooses a "
                "stiffer one.",
                100 * squeeze);
    }
    if (cook->dt > 0 && n->capillary_time > 0 && n->capillary_time < cook->dt)
        say(d,
            "A frame is %.2g s, longer than the oscillation period of the smallest drop (%.2g s): its "
            "motion will not be seen. A time_scale of %.2g shows it in ten frames.",
            cook->dt, n->capillary_time,
            mn_cook_float(cook, "time_scale") * n->capillary_time / (10 * cook->dt));
}

void mn_mpm_doctor_liquid(const mn_cook *cook, const mn_mpm_def *def, const mn_mpm_numbers *n, mn_doctor *d)
{
    show_liquid(cook, n, d);
    advise(cook, def, n, d);
}

void mn_mpm_warn_resolution(const mn_cook *cook, const mn_geo *geo, const mn_mpm *mpm)
{
    const double dx = mn_cook_float(cook, "dx");
    if (!geo || mn_geo_point_count(geo) == 0) return;
    const mn_box box = mn_geo_bounds(geo);
    const double least = fmin(box.max.x - box.min.x, fmin(box.max.y - box.min.y, box.max.z - box.min.z));
    if (!(least > 0))
        mn_cook_warn(cook,
                     "The liquid's points lie in one plane, so it has no thickness; give the solver the "
                     "points of a fill node.");
    else if (least < 4 * dx)
        mn_cook_warn(
            cook, "dx is %g m but the liquid spans only %g m; use dx below %g m for at least 8 cells across.",
            dx, least, least / 8);
    const mn_mpm_packing packing = mn_mpm_get_packing(mpm);
    if (packing.crowded > 0.05)
        mn_cook_warn(cook,
                     "%.0f %% of the liquid lies where other liquid is: move sources that overlap apart, "
                     "or remove the mass attribute or lower it: it exceeds what the particles' volume "
                     "allows.",
                     100 * packing.crowded);
    else if (packing.per_cell > 0 && packing.per_cell < 3)
        mn_cook_warn(
            cook,
            "There are only %.1f particles in a cell, so the liquid has holes; fill it with the solver's dx "
            "(%g m) for 8.",
            packing.per_cell, dx);
}
