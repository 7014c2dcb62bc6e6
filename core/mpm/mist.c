// SPDX-License-Identifier: Apache-2.0
//
// Mist: bodies smaller than half a cell, four particles or less. The grid sees no shape in them: their
// samples stand for a surface whose curvature it cannot carry, and the forces, felt by whatever liquid is
// within two cells, made single particles speed up next to a resting drop until no step was short enough. So
// mist has neither surface tension nor pressure. It flies, and is liquid again where it meets more of it.
#include "mpm/solver.h"

void mn_mpm_settle_mist(mn_mpm *mpm)
{
    for (int64_t i = 0; i < mpm->materials.count; i++)
        if (mn_mpm_is_mist(mpm, i)) mpm->materials.data[i].j = 1;
}
