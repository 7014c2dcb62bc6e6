// SPDX-License-Identifier: Apache-2.0
//
// Wall-clock seconds per named phase of a step, for the report.
#ifndef MENISCUS_TIMER_H
#define MENISCUS_TIMER_H

#include "meniscus/api.h"

#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

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

#ifdef __cplusplus
}
#endif
#endif
