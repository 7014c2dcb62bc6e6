// SPDX-License-Identifier: Apache-2.0
//
// Samples of the liquid's surface, each with its nearest particle.
#include "mpm/solver.h"

mn_status mn_mpm_sample_surface(mn_mpm *mpm)
{
    mpm->loose_patches.count = 0;
    return mn_mpm_assign_patches(mpm);
}
