// SPDX-License-Identifier: Apache-2.0
//
// Particles that share their mass with the samples of the surface (resample.c).
#ifndef MENISCUS_MPM_RESAMPLE_H
#define MENISCUS_MPM_RESAMPLE_H

#include "mpm/state.h"

/// Where the balance point of a group lies, m.
mn_vec3 mn_mpm_balance_point(const mn_mpm *mpm, const mn_mpm_group *group);
/// Splats of the groups or, with massless samples, of the patches alone, with the impulse of the pressure
/// over dt, of viscosity and surface tension over explicit_dt.
mn_status mn_mpm_split(mn_mpm *mpm, double dt, double explicit_dt);
/// What a group's members say about the particle they are merged into.
mn_mpm_sample mn_mpm_merge(const mn_mpm *mpm, const mn_mpm_group *group, const mn_mpm_sample *own,
                           const mn_mpm_sample *splat_samples);

#endif
