// SPDX-License-Identifier: Apache-2.0
//
// Dimensionless numbers, step limit and memory of a simulation before it runs.
//
//   Oh = mu/sqrt(rho sigma R),  Bo = rho g R^2/sigma,  We = rho U^2 R/sigma,  t = sqrt(rho R^3/sigma)
//
// with R the radius of a ball of the body's volume.
#include "mpm/solver.h"

static const double pi = 3.14159265358979323846;

mn_status mn_mpm_diagnose(mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers)
{
    // Records twice, sort keys and order, nodes at eight particles a cell with half of them at the rim, and
    // the level set.
    const double bytes_per_particle = 2 * (sizeof(mn_mpm_particle) + sizeof(mn_mpm_material)) + 20 + 40;
    *numbers = (mn_mpm_numbers){.binding = ""};
    if (mpm->particles.count == 0) return MN_OK;
    MN_TRY(mn_mpm_sort_again(mpm));
    MN_TRY(mn_mpm_find_extremes(mpm));
    mn_mpm_update_bulk_modulus(mpm);
    MN_TRY(mn_mpm_find_surface(mpm, mpm->def.dx, mpm->def.smoothing));
    const mn_level_set_view view = mn_level_set_get(mpm->surface);
    const mn_mpm_extremes *e = &mpm->extremes;
    double least = INFINITY, most = 0;
    for (int32_t b = 0; b < view.body_count; b++) {
        least = fmin(least, mpm->body_volume.data[b]);
        most = fmax(most, mpm->body_volume.data[b]);
    }
    const double small = isfinite(least) ? cbrt(0.75 / pi * least) : 0, large = cbrt(0.75 / pi * most);
    const double rho = e->min_density, sigma = e->max_sigma, mu = e->max_kinematic_viscosity * rho;
    numbers->cells_across = 2 * small / mpm->def.dx;
    if (sigma > 0 && small > 0) {
        numbers->capillary_time = sqrt(rho * small * small * small / sigma);
        numbers->ohnesorge = mu / sqrt(rho * sigma * small);
        numbers->bond = rho * mn_norm(mpm->def.gravity) * large * large / sigma;
        numbers->weber = rho * e->max_speed * e->max_speed * large / sigma;
    }
    numbers->bulk_modulus = mpm->bulk_modulus;
    numbers->step = mn_mpm_step_limit(mpm, &numbers->binding);
    numbers->steps = ceil(seconds / numbers->step);
    numbers->bytes = bytes_per_particle * (double)mpm->particles.count;
    return MN_OK;
}
