// SPDX-License-Identifier: Apache-2.0
//
// Seconds per named phase.
#define _POSIX_C_SOURCE 200809L
#include "meniscus/report.h"

#include <string.h>
#include <time.h>

double mn_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

// The slot of a phase; when all are taken, the last one counts the rest.
static int32_t slot_of(mn_timers *timers, const char *phase)
{
    for (int32_t i = 0; i < timers->count; i++)
        if (strcmp(timers->name[i], phase) == 0) return i;
    if (timers->count == MN_PHASE_MAX) return MN_PHASE_MAX - 1;
    timers->name[timers->count] = phase;
    timers->seconds[timers->count] = 0;
    return timers->count++;
}

void mn_timer_begin(mn_timers *timers, const char *phase)
{
    timers->begun[slot_of(timers, phase)] = mn_seconds();
}

void mn_timer_end(mn_timers *timers, const char *phase)
{
    const int32_t i = slot_of(timers, phase);
    timers->seconds[i] += mn_seconds() - timers->begun[i];
}

void mn_timers_reset(mn_timers *timers)
{
    timers->count = 0;
}
