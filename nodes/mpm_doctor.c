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
