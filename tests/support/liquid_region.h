// SPDX-License-Identifier: Apache-2.0
//
// An mls liquid that fills a region with particles of one mass.
#ifndef MENISCUS_TESTS_SUPPORT_LIQUID_REGION_H
#define MENISCUS_TESTS_SUPPORT_LIQUID_REGION_H

#include "meniscus/array.h"
#include "meniscus/codim.h"
#include "meniscus/collider.h"

#include <math.h>
#include <stdlib.h>

/// All particles together have `volume`, or with 0 each its lattice cell's; `bare`: the solver finds the skin
/// by itself.
static inline mn_status open_region(mn_context *own, const mn_codim_def *def, const mn_region *region,
                                    double volume, bool bare, mn_codim **mls)
{
    mn_fill_def fill = mn_fill_default_def();
    mn_vec3_array x = {0};
    double *mass = NULL;
    fill.dx = def->dx;
    mn_status status = mn_codim_create(own, def, mls);
    if (status == MN_OK) status = mn_fill(own, &fill, region, &x);
    if (status == MN_OK) {
        mass = malloc((size_t)x.count * sizeof *mass);
        for (int64_t i = 0; i < x.count; i++)
            mass[i] = def->density * (volume > 0 ? volume / (double)x.count : pow(def->dx / 2, 3));
        const mn_codim_liquid liquid = {x.count, x.data, NULL, mass, bare ? NULL : region};
        status = mn_codim_add_liquid(*mls, &liquid);
    }
    free(mass);
    mn_array_free(own, &x);
    return status;
}

#endif
