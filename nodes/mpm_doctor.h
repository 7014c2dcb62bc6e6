// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver's numbers in words.
#ifndef MENISCUS_NODES_MPM_DOCTOR_H
#define MENISCUS_NODES_MPM_DOCTOR_H

#include "nodes/node.h"

void mn_mpm_doctor_emitters(const mn_cook *cook, const mn_mpm_numbers *n, mn_doctor *d);
void mn_mpm_doctor_liquid(const mn_cook *cook, const mn_mpm_def *def, const mn_mpm_numbers *n, mn_doctor *d);

#endif
