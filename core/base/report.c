// SPDX-License-Identifier: Apache-2.0
//
// The named quantities of a frame, from the one list in report.h.
#include "meniscus/report.h"

#include <string.h>

const char *mn_report_key_name(mn_report_key key)
{
    static const char *const names[] = {
#define X(name, components) #name,
        MN_REPORT_LIST(X)
#undef X
    };
    return (unsigned)key < MN_REPORT_COUNT ? names[key] : "";
}

int32_t mn_report_key_components(mn_report_key key)
{
    static const int32_t components_of[] = {
#define X(name, components) components,
        MN_REPORT_LIST(X)
#undef X
    };
    return (unsigned)key < MN_REPORT_COUNT ? components_of[key] : 0;
}

void mn_report_set(mn_report *report, mn_report_key key, double value)
{
    report->set[key] = true;
    report->value[key][0] = value;
}

void mn_report_set3(mn_report *report, mn_report_key key, mn_vec3 value)
{
    report->set[key] = true;
    report->value[key][0] = value.x, report->value[key][1] = value.y, report->value[key][2] = value.z;
}

void mn_step_limits_add(mn_step_limits *limits, const char *name)
{
    int32_t at = 0;
    while (at < limits->count && strcmp(limits->name[at], name) != 0) at++;
    if (at == MN_LIMIT_MAX) at--, limits->name[at] = "others";
    if (at == limits->count) limits->name[limits->count++] = name;
    limits->steps[at]++;
}

void mn_report_counts(mn_report *report, const mn_step_counts *counts, const mn_timers *timers)
{
    mn_report_set(report, MN_REPORT_substeps, (double)counts->substeps);
    mn_report_set(report, MN_REPORT_rollbacks, (double)counts->rollbacks);
    if (counts->substeps > 0) {
        mn_report_set(report, MN_REPORT_dt_min, counts->dt_min);
        mn_report_set(report, MN_REPORT_dt_max, counts->dt_max);
    }
    if (counts->newton_iterations > 0)
        mn_report_set(report, MN_REPORT_newton_iterations, (double)counts->newton_iterations);
    if (counts->linear_iterations > 0)
        mn_report_set(report, MN_REPORT_linear_iterations, (double)counts->linear_iterations);
    report->seconds = *timers;
    report->limited_by = counts->limited_by;
}
