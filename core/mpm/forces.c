// SPDX-License-Identifier: Apache-2.0
//
// What acts on the liquid beside its own stresses: gravity, a force field, and the air.
//
//   a = g + f(x)
//   p = 1/2 rho_air (min(u . n, 0))^2        u: the air's velocity relative to the liquid, n: out of it
//
// The air stops where it blows against the surface and leaves no trace behind the liquid. A ball feels half
// of 1/2 rho_air u^2 times its cross-section: a drag coefficient of 0.5, where 0.44 is measured for balls
// from Re 1e3 to 2e5 [clift1978].
#include "mpm/step.h"

#include "base/parallel.h"

enum { PATCH_GRAIN = 1024, PARTICLE_GRAIN = 4096 };

mn_vec3 mn_mpm_acceleration(const mn_mpm *mpm, mn_vec3 x)
{
    if (!mpm->run.fields || !mpm->run.fields->force.ops) return mpm->def.gravity;
    return mn_add(mpm->def.gravity, mn_volume_sample_vec3(mpm->run.fields->force, x));
}

static double force_at(void *user, mn_range range)
{
    const mn_mpm *mpm = user;
    double most = 0;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
        const double size = mn_norm(mn_volume_sample_vec3(mpm->run.fields->force, x));
        most = size <= most ? most : size; // keeps what is not finite
    }
    return most;
}

mn_status mn_mpm_strongest_force(mn_mpm *mpm, double *most)
{
    *most = 0;
    if (!mpm->run.fields || !mpm->run.fields->force.ops) return MN_OK;
    MN_TRY(mn_parallel_max(mpm->solver.ctx, mpm->particles.count, PARTICLE_GRAIN, force_at, mpm, most));
    if (isfinite(*most)) return MN_OK;
    return mn_fail(mpm->solver.ctx, MN_ERROR_INPUT,
                   "The force field holds values that are not finite where the liquid is; check the volume "
                   "named force.");
}

static mn_status press(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    const mn_volume wind = mpm->run.fields ? mpm->run.fields->wind : (mn_volume){0};
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_mpm_patch *patch = &mpm->surface.patches.data[i];
        const double area = mn_norm(patch->area);
        if (!(area > 0)) continue;
        mn_vec3 air = mpm->def.wind;
        if (wind.ops) air = mn_add(air, mn_volume_sample_vec3(wind, patch->x));
        const mn_vec3 u = mn_sub(air, mpm->particles.data[patch->owner].v);
        const double against = fmin(mn_dot(u, patch->area) / area, 0);
        patch->force = mn_axpy(patch->force, -0.5 * mpm->def.air_density * against * against, patch->area);
    }
    return MN_OK;
}

mn_status mn_mpm_press_from_air(mn_mpm *mpm)
{
    if (!(mpm->def.air_density > 0)) return MN_OK;
    return mn_parallel_for(mpm->solver.ctx, mpm->surface.patches.count, PATCH_GRAIN, press, mpm);
}
