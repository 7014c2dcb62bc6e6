// SPDX-License-Identifier: Apache-2.0
//
// What a solver says about one frame: named SI quantities, and seconds per phase. A quantity a solver does
// not have is not set, never invented.
#ifndef MENISCUS_REPORT_H
#define MENISCUS_REPORT_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// ---- timers ----
//
// Wall-clock seconds per named phase of a step, for the report.

enum { MN_PHASE_MAX = 16 };

/// Zero-initialised is empty. Names are string literals; a name may begin and end many times and adds up.
typedef struct mn_timers {
    int32_t count;
    const char *name[MN_PHASE_MAX];
    double seconds[MN_PHASE_MAX];
    double begun[MN_PHASE_MAX];
} mn_timers;

/// Monotonic seconds since some fixed moment.
MN_API double mn_seconds(void);

MN_API void mn_timer_begin(mn_timers *timers, const char *phase);
MN_API void mn_timer_end(mn_timers *timers, const char *phase);
MN_API void mn_timers_reset(mn_timers *timers);

// ---- quantities ----

// X(name, components)
#define MN_REPORT_LIST(X)                                                                                    \
    X(substeps, 1)                                                                                           \
    X(dt_min, 1)                                                                                             \
    X(dt_max, 1)                                                                                             \
    X(particles, 1)                                                                                          \
    X(mass, 1)                                                                                               \
    X(volume, 1)                                                                                             \
    X(area, 1)                                                                                               \
    X(momentum, 3)                                                                                           \
    X(angular_momentum, 3)                                                                                   \
    X(center, 3)                                                                                             \
    X(kinetic_energy, 1)                                                                                     \
    X(surface_energy, 1)                                                                                     \
    X(max_speed, 1)                                                                                          \
    X(newton_iterations, 1)                                                                                  \
    X(linear_iterations, 1)                                                                                  \
    X(rollbacks, 1)                                                                                          \
    X(coasted_steps, 1)                                                                                      \
    X(elastic_energy, 1)                                                                                     \
    X(contact_energy, 1)                                                                                     \
    X(contacts, 1)                                                                                           \
    X(smallest_gap, 1)                                                                                       \
    X(thermal_energy, 1)                                                                                     \
    X(heat_in, 1)

typedef enum mn_report_key {
#define X(name, components) MN_REPORT_##name,
    MN_REPORT_LIST(X)
#undef X
        MN_REPORT_COUNT
} mn_report_key;

enum { MN_LIMIT_MAX = 8 };

/// How many steps were as long as what allowed; names are string literals. When all places are taken, the
/// last one counts the rest. Zero-initialised is empty.
typedef struct mn_step_limits {
    int32_t count;
    const char *name[MN_LIMIT_MAX];
    int64_t steps[MN_LIMIT_MAX];
} mn_step_limits;
MN_API void mn_step_limits_add(mn_step_limits *limits, const char *name);

/// Zero-initialised is empty.
typedef struct mn_report {
    bool set[MN_REPORT_COUNT];
    double value[MN_REPORT_COUNT][3];
    mn_timers seconds;
    mn_step_limits limited_by;
} mn_report;

MN_API const char *mn_report_key_name(mn_report_key key);
MN_API int32_t mn_report_key_components(mn_report_key key);
MN_API void mn_report_set(mn_report *report, mn_report_key key, double value);
MN_API void mn_report_set3(mn_report *report, mn_report_key key, mn_vec3 value);

/// What the steps of one advance added up to.
typedef struct mn_step_counts {
    int64_t substeps, rollbacks;
    int64_t newton_iterations, linear_iterations; ///< for solvers that have them
    double dt_min, dt_max;                        ///< s, of the steps taken
    mn_step_limits limited_by;
} mn_step_counts;
/// Sets substeps, rollbacks, dt_min and dt_max (when there were steps), the iterations where there were any,
/// and the seconds per phase.
MN_API void mn_report_counts(mn_report *report, const mn_step_counts *counts, const mn_timers *timers);

#ifdef __cplusplus
}
#endif
#endif
