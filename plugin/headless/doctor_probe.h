// SPDX-License-Identifier: Apache-2.0
//
// How long a cook will take, found by cooking the beginning of it for a few seconds.
//
//   t(i) = a + b i      seconds of the i-th frame after the first, by least squares over those that were
//   cooked low  = t_0 + N mean(t) high = t_0 + sum of max(t(i), mean(t)) over all N frames
//
// where N counts the frames after the first. The trend b holds where cost grows, as with an inflow; a trend
// below the noise counts as none. A frame that was not whole by the end of the time counts with its time over
// the fraction that its solver told. Nothing is known of what comes later: a splash may cost more than the
// fall before it.
#ifndef MENISCUS_PLUGIN_HEADLESS_DOCTOR_PROBE_H
#define MENISCUS_PLUGIN_HEADLESS_DOCTOR_PROBE_H

#include "plugin/headless/scene_session.h"

typedef struct mn_probe {
    int32_t frames;       ///< cooked whole, after the first
    double fraction;      ///< of the frame that was not
    double frame_seconds; ///< of a frame; 0: not known
    double low, high;     ///< s for all frames; 0: not known
    double bytes;         ///< of the largest frame
    int32_t failed_frame; ///< with `sentence`, when one failed
    char sentence[1024];
} mn_probe;

/// Cooks frames after `first`, which took `first_seconds` and is cooked, for about `seconds`.
mn_status mn_probe_time(mn_session *session, mn_network *network, mn_target target, int32_t first,
                        int32_t last, double first_seconds, double seconds, mn_probe *probe);

/// Seconds of frames 1 to `count`, and of all `all` of them; `seconds` may have a guess as its last one.
void mn_probe_extrapolate(const double *seconds, int32_t count, int32_t all, double *mean, double *low,
                          double *high);

#endif
