// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver's numbers in words.
#ifndef MENISCUS_NODES_MPM_DOCTOR_H
#define MENISCUS_NODES_MPM_DOCTOR_H

#include "meniscus/mpm.h"
#include "nodes/node.h"

/// What to do about more steps in a frame than an artist would wait for; false when there are few.
bool mn_mpm_many_steps(const mn_mpm_def *def, const mn_mpm_numbers *n, char *sentence, size_t size);
void mn_mpm_doctor_emitters(const mn_cook *cook, const mn_mpm_numbers *n, mn_doctor *d);
void mn_mpm_doctor_liquid(const mn_cook *cook, const mn_mpm_def *def, const mn_mpm_numbers *n, mn_doctor *d);
/// Warns about liquid that is thin, crowded or full of holes for the solver's cells. `geo` is what it came
/// from, or NULL.
void mn_mpm_warn_resolution(const mn_cook *cook, const mn_geo *geo, const mn_mpm *mpm);

#endif
