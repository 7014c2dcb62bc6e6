// SPDX-License-Identifier: Apache-2.0
//
// Speed of waves and what steps resolve of them, before films run: u = sqrt(2 sigma / (rho h)) [taylor1959].
#include "meniscus/film.h"

void mn_film_diagnose(const mn_film_def *def, mn_film_numbers *numbers)
{
    const double steps_per_wave = 6;
    numbers->speed = sqrt(2 * def->sigma / (def->density * def->thickness));
    numbers->shortest = steps_per_wave * numbers->speed * def->max_dt;
    numbers->bytes_per_vertex = 1200; // counted once against the allocator
}
