// SPDX-License-Identifier: Apache-2.0
//
// Speeds, steps and memory of films, threads and jets before they run.
//
//   film edges and waves   u = sqrt(2 sigma / (rho h))                                  [taylor1959]
//   ends of threads        u = sqrt(sigma / (rho r))
//   fastest thread wave    lambda = 9.016 r, growth 0.343 sqrt(sigma / (rho r^3))       [rayleigh1878]
//   round sheet of a jet   rho Q U = 2 sigma 2 pi R: D We / 16 of a round jet           [taylor1959]
#include "codim/state.h"

static const double STEP = 0.35;            // spacings that an edge may cross in one, as in codim/advance.c
static const double BYTES_PER_POINT = 2500; // counted once against the allocator

static double mean_of(const mn_codim_source *source, uint8_t codim)
{
    double count = 0, sum = 0;
    for (int64_t i = 0; i < source->count; i++)
        if ((source->codim ? source->codim[i] : MN_CODIM_FILM) == codim) count++, sum += source->thickness[i];
    return count > 0 ? sum / count : 0;
}

static void look_at_points(const mn_codim_def *def, const mn_codim_source *source, double seconds,
                           mn_codim_numbers *n)
{
    const double film = mean_of(source, MN_CODIM_FILM), r = 0.5 * mean_of(source, MN_CODIM_THREAD);
    n->points = (double)source->count;
    n->bytes = BYTES_PER_POINT * n->points;
    if (film > 0) {
        n->film_speed = sqrt(2 * def->sigma / (def->density * film));
        n->film_step =
            n->film_speed > 0 ? fmin(def->max_dt, STEP * def->spacing / n->film_speed) : def->max_dt;
        n->film_steps = ceil(seconds / n->film_step);
    }
    if (r > 0 && def->sigma > 0) {
        n->thread_speed = sqrt(def->sigma / (def->density * r));
        n->thread_time = sqrt(def->density * r * r * r / def->sigma) / 0.343;
        n->points_per_wave = 9.016 * r / def->spacing;
    }
}

static void look_at_jets(const mn_codim_def *def, const mn_codim_inputs *inputs, double seconds,
                         mn_codim_numbers *n)
{
    double speed = 0, length = 0;
    for (int64_t i = 0; i < inputs->inlet_count; i++) {
        const mn_codim_inlet_measure m = mn_codim_measure_inlet(&inputs->inlets[i]);
        n->jet_flow += m.flow, speed = fmax(speed, m.speed), length = fmax(length, m.length);
    }
    n->jet_outlet = length / (2 * MN_PI);
    if (!(n->jet_flow > 0)) return;
    n->jet_step = fmin(def->max_dt, STEP * def->spacing / speed);
    n->jet_steps = ceil(seconds / n->jet_step);
    if (!(def->sigma > 0)) return;
    n->jet_reach =
        def->density * n->jet_flow / (double)inputs->inlet_count * speed / (4 * MN_PI * def->sigma);
    n->jet_points = MN_PI * n->jet_reach * n->jet_reach / (def->spacing * def->spacing);
}

void mn_codim_diagnose(const mn_codim_def *def, const mn_codim_source *source, const mn_codim_inputs *inputs,
                       double seconds, mn_codim_numbers *numbers)
{
    *numbers = (mn_codim_numbers){0};
    if (source) look_at_points(def, source, seconds, numbers);
    if (inputs) look_at_jets(def, inputs, seconds, numbers);
}
