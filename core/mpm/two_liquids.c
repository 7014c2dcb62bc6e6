// SPDX-License-Identifier: Apache-2.0
//
// Two liquids a and b in air, with a tension between them.
//
//   sigma_a = g_0 + g_a,   sigma_b = g_0 + g_b,   sigma_ab = g_a + g_b
//   g_0 = (sigma_a + sigma_b - sigma_ab)/2,  g_a = (sigma_a - sigma_b + sigma_ab)/2,  g_b likewise
//
// Three closed surfaces have a tension each: g_0 that around all liquid, g_a and g_b those around the two.
// Where two of them lie together they have the tension of what is there [smith2002], and on the line where
// all three meet forces balance at Neumann's angles, with no rule for the line. Each surface is found as that
// of one liquid is (surface_samples.c), from the particles that are inside of it. The shares are those of the
// means of sigma_a and sigma_b; what sigma differs from its mean, by a field or attribute, goes to g_0, the
// surface against air. No share may be below zero, or one liquid would spread over the other without end:
// |sigma_a - sigma_b| <= sigma_ab <= sigma_a + sigma_b. At a wall all three have the contact angle theta,
// which is sigma_ab cos(theta_ab) = (sigma_a - sigma_b) cos(theta) between the liquids, as Young's law asks.
#include "mpm/step.h"
#include "mpm/surface.h"

#include "base/parallel.h"

enum { PARTICLE_GRAIN = 4096 };

static void sum_liquids(void *user, mn_range range, double *sums)
{
    const mn_mpm *mpm = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_material *q = &mpm->materials.data[i];
        const int32_t k = mn_mpm_liquid_of(q);
        sums[k] += q->volume;
        sums[2 + k] += q->volume * q->sigma;
    }
}

mn_status mn_mpm_find_liquids(mn_mpm *mpm)
{
    const double between = mpm->def.interfacial_tension;
    double sums[4];
    mpm->liquids = (mn_mpm_liquids){0};
    mpm->surface.layer = MN_MPM_ALL;
    if (!(between > 0)) return MN_OK;
    MN_TRY(mn_parallel_sum(mpm->solver.ctx, mpm->particles.count, PARTICLE_GRAIN, sum_liquids, mpm, 4, sums));
    if (!(sums[0] > 0) || !(sums[1] > 0)) return MN_OK;
    mn_mpm_liquids *l = &mpm->liquids;
    l->two = true;
    for (int k = 0; k < 2; k++) l->volume[k] = sums[k], l->sigma[k] = sums[2 + k] / sums[k];
    for (int k = 0; k < 2; k++) l->share[k] = 0.5 * (l->sigma[k] - l->sigma[1 - k] + between);
    return MN_OK;
}

mn_status mn_mpm_check_liquids(const mn_mpm *mpm)
{
    const mn_mpm_liquids *l = &mpm->liquids;
    const double between = mpm->def.interfacial_tension, least = -1e-9 * between;
    const double of_all = 0.5 * (l->sigma[0] + l->sigma[1] - between);
    if (!l->two || (l->share[0] >= least && l->share[1] >= least && of_all >= least)) return MN_OK;
    return mn_fail(
        mpm->solver.ctx, MN_ERROR_ARGUMENT,
        "Two liquids of %g and %g N/m cannot meet with interfacial_tension %g N/m, because no angles balance the three tensions; use one between %g and %g N/m, or another sigma.",
        l->sigma[0], l->sigma[1], between, fabs(l->sigma[0] - l->sigma[1]), l->sigma[0] + l->sigma[1]);
}

double mn_mpm_tension(const mn_mpm *mpm, int32_t layer, int32_t owner)
{
    const mn_mpm_material *q = &mpm->materials.data[owner];
    if (!mpm->liquids.two) return q->sigma;
    return layer == MN_MPM_ALL ? q->sigma - mpm->liquids.share[mn_mpm_liquid_of(q)]
                               : mpm->liquids.share[layer];
}

mn_status mn_mpm_layer_points(mn_mpm *mpm, int64_t more, int64_t *count)
{
    void *memory;
    MN_TRY(mn_mpm_borrow(mpm, mpm->particles.count + more, sizeof *mpm->surface.mirrored, &memory));
    mpm->surface.mirrored = memory;
    *count = 0;
    for (int64_t i = 0; i < mpm->particles.count; i++)
        if (mn_mpm_in_layer(mpm, i))
            mpm->surface.mirrored[(*count)++] = mn_mpm_position(&mpm->particles.data[i]);
    return MN_OK;
}
