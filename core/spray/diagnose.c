// SPDX-License-Identifier: Apache-2.0
//
// Terminal speed, Reynolds number and count of drops before they fly: Re = 2 r rho u / mu.
#include "meniscus/spray.h"

void mn_spray_diagnose(const mn_spray_def *def, double seconds, mn_spray_numbers *n)
{
    const double mass = mn_drop_mass(def->radius, def->density);
    *n = (mn_spray_numbers){.terminal_speed = mn_spray_terminal_speed(def, def->radius, mass),
                            .drops_per_frame = def->rate * seconds,
                            .drops = def->life > 0 ? def->rate * def->life : INFINITY};
    if (def->air_viscosity > 0 && isfinite(n->terminal_speed))
        n->reynolds = 2.0 * def->radius * def->air_density * n->terminal_speed / def->air_viscosity;
    n->bytes = 2.0 * sizeof(mn_drop) * n->drops;
}
