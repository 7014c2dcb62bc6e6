// SPDX-License-Identifier: Apache-2.0
#include "plugin/headless/doctor_probe.h"
#include "meniscus/report.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { SAMPLES_MAX = 256 };
static const double FRACTION_LEAST = 0.01; ///< of a frame that says something about its time
static const double TREND_LEAST = 0.3; ///< growth over the samples, of their mean, below which it is noise

void mn_probe_extrapolate(const double *seconds, int32_t count, int32_t all, double *mean, double *low,
                          double *high)
{
    double sum = 0, moment = 0, spread = 0;
    *mean = *low = *high = 0;
    if (count < 1) return;
    for (int32_t i = 0; i < count; i++) sum += seconds[i];
    *mean = sum / count;
    const double middle = 0.5 * (count + 1);
    for (int32_t i = 0; i < count; i++) {
        moment += (i + 1 - middle) * (seconds[i] - *mean);
        spread += (i + 1 - middle) * (i + 1 - middle);
    }
    double trend = count >= 4 ? moment / spread : 0;
    if (trend * (count - 1) < TREND_LEAST * *mean) trend = 0;
    *low = *high = *mean * all;
    // Frames beyond the middle of the samples cost more than the mean of them, by the trend.
    const double beyond = all - middle;
    if (trend > 0 && beyond > 0) *high += 0.5 * trend * beyond * beyond;
}

mn_status mn_probe_time(mn_session *session, mn_network *network, mn_target target, int32_t first,
                        int32_t last, double first_seconds, double seconds, mn_probe *probe)
{
    double samples[SAMPLES_MAX];
    int32_t count = 0;
    mn_status status = MN_OK;
    const double end = mn_seconds() + seconds;
    memset(probe, 0, sizeof *probe);
    session->deadline = end;
    while (count < SAMPLES_MAX && first + count < last && mn_seconds() < end) {
        const mn_geo *geo;
        const double begun = mn_seconds();
        session->fraction = 0;
        status = mn_network_cook(network, target.node, target.output, first + count + 1, &geo);
        const double took = mn_seconds() - begun;
        if (status == MN_OK) {
            samples[count++] = took, probe->frames++;
            probe->bytes = fmax(probe->bytes, (double)mn_geo_bytes(geo));
            continue;
        }
        if (status == MN_ERROR_CANCELLED) {
            probe->fraction = session->fraction;
            // A longer one says that the frames before it were cheap; a shorter guess says nothing.
            const double guess = probe->fraction >= FRACTION_LEAST ? took / probe->fraction : 0;
            if (guess > (count > 0 ? samples[count - 1] : 0)) samples[count++] = guess;
        }
        break;
    }
    session->deadline = 0;
    if (mn_stop_requested()) return MN_ERROR_CANCELLED;
    mn_probe_extrapolate(samples, count, last - first, &probe->frame_seconds, &probe->low, &probe->high);
    if (count > 0 || last == first) probe->low += first_seconds, probe->high += first_seconds;
    if (status != MN_OK && status != MN_ERROR_CANCELLED) {
        probe->failed_frame = first + probe->frames + 1;
        snprintf(probe->sentence, sizeof probe->sentence, "%s", mn_context_message(session->ctx));
    }
    return status == MN_ERROR_MEMORY ? status : MN_OK;
}
