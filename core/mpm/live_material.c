// SPDX-License-Identifier: Apache-2.0
//
// Materials that live: a def that changes acts on the liquid that there is.
//
//   sigma, viscosity <- the def's          of particles that follow it
//   m <- rho V                             density changes the mass; volume, velocity and J stay
//   sigma, viscosity <- fields             inside of the boxes that they reach, whoever's they were
//
// Particles that brought a value of their own keep it until mn_mpm_set_materials() gives them another.
#include "mpm/step.h"

#include "base/parallel.h"

#include <stdlib.h>

enum { PARTICLE_GRAIN = 4096 };

static void set_density(mn_mpm_particle *p, const mn_mpm_material *q, double density)
{
    const double mass = density * q->volume, rounding = 1e-12;
    if (fabs(mass - p->mass) > rounding * mass) p->mass = mass;
}

static mn_status follow_def(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_mpm_material *q = &mpm->materials.data[i];
        if (q->marks & MN_MPM_FOLLOWS_SIGMA) q->sigma = mpm->def.sigma;
        if (q->marks & MN_MPM_FOLLOWS_VISCOSITY) q->viscosity = (float)mpm->def.viscosity;
        if (q->marks & MN_MPM_FOLLOWS_DENSITY) set_density(&mpm->particles.data[i], q, mpm->def.density);
    }
    return MN_OK;
}

/// One field, and where it reaches.
typedef struct field_job {
    mn_mpm *mpm;
    mn_volume volume;
    mn_box bounds;
    double margin; ///< m, half a voxel: nearer to the border its samples fade
    bool is_sigma;
} field_job;

static bool reaches(mn_box box, mn_vec3 x)
{
    return x.x >= box.min.x && x.y >= box.min.y && x.z >= box.min.z && x.x <= box.max.x && x.y <= box.max.y &&
           x.z <= box.max.z;
}

static mn_status follow_field(void *user, mn_range range)
{
    const field_job *job = user;
    mn_mpm *mpm = job->mpm;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
        if (!reaches(job->bounds, x)) continue;
        const mn_box inner = mn_box_grow(job->bounds, -job->margin);
        const double value = mn_volume_sample(job->volume, mn_max3(inner.min, mn_min3(inner.max, x)));
        if (!(value >= 0) || !isfinite(value))
            return mn_fail(mpm->solver.ctx, MN_ERROR_INPUT,
                           "The field %s is %g at (%g, %g, %g); it must be a number of at least 0.",
                           job->is_sigma ? "sigma" : "viscosity", value, x.x, x.y, x.z);
        if (job->is_sigma)
            mpm->materials.data[i].sigma = value;
        else
            mpm->materials.data[i].viscosity = (float)value;
    }
    return MN_OK;
}

mn_status mn_mpm_update_materials(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    MN_TRY(mn_parallel_for(ctx, mpm->particles.count, PARTICLE_GRAIN, follow_def, mpm));
    for (int k = 0; mpm->run.fields && k < 2; k++) {
        const mn_volume volume = k == 0 ? mpm->run.fields->sigma : mpm->run.fields->viscosity;
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        field_job job = {mpm, volume, info.bounds, 0.5 * info.voxel_size, k == 0};
        MN_TRY(mn_parallel_for(ctx, mpm->particles.count, PARTICLE_GRAIN, follow_field, &job));
    }
    return MN_OK;
}

// ---- by id ----

static int by_id(const void *a, const void *b)
{
    const int64_t x = ((const mn_mpm_rank *)a)->id, y = ((const mn_mpm_rank *)b)->id;
    return (x > y) - (x < y);
}

static mn_status check_values(const mn_mpm *mpm, int64_t count, const double *values, const char *name,
                              bool zero_allowed)
{
    for (int64_t i = 0; values && i < count; i++)
        if (!isfinite(values[i]) || values[i] < 0 || (values[i] == 0 && !zero_allowed))
            return mn_fail(mpm->solver.ctx, MN_ERROR_INPUT, "Point %lld has %s %g; it must be a number %s 0.",
                           (long long)i, name, values[i], zero_allowed ? "of at least" : "above");
    return MN_OK;
}

mn_status mn_mpm_set_materials(mn_mpm *mpm, int64_t count, const int64_t *id, const double *sigma,
                               const double *viscosity, const double *density)
{
    MN_TRY(check_values(mpm, count, sigma, "sigma", true));
    MN_TRY(check_values(mpm, count, viscosity, "viscosity", true));
    MN_TRY(check_values(mpm, count, density, "density", false));
    const int64_t particles = mpm->materials.count;
    if (count <= 0 || particles == 0) return MN_OK;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->shown.ranks, particles));
    for (int64_t i = 0; i < particles; i++)
        mpm->shown.ranks.data[i] = (mn_mpm_rank){mpm->materials.data[i].id, (int32_t)i};
    qsort(mpm->shown.ranks.data, (size_t)particles, sizeof *mpm->shown.ranks.data, by_id);
    for (int64_t i = 0; i < count; i++) {
        const mn_mpm_rank key = {id[i], 0};
        const mn_mpm_rank *found =
            bsearch(&key, mpm->shown.ranks.data, (size_t)particles, sizeof *mpm->shown.ranks.data, by_id);
        if (!found) continue;
        mn_mpm_material *q = &mpm->materials.data[found->particle];
        if (sigma) q->sigma = sigma[i], q->marks &= ~MN_MPM_FOLLOWS_SIGMA;
        if (viscosity) q->viscosity = (float)viscosity[i], q->marks &= ~MN_MPM_FOLLOWS_VISCOSITY;
        if (density) {
            set_density(&mpm->particles.data[found->particle], q, density[i]);
            q->marks &= ~MN_MPM_FOLLOWS_DENSITY;
        }
    }
    mpm->solver.energy.begun = false;
    return MN_OK;
}
