// SPDX-License-Identifier: Apache-2.0
//
// Surface samples that borrow their mass [marquez2021] 5.4.2 to 5.5.
//
// The samples s nearest to particle x are its group, and get a balance point b = x - mean(s - x). The
// particle's mass is shared: m~ = m / (2 g + 1) for itself and each of the g samples, g m~ for the balance
// point. Their centre stays x, so mass and momentum stay too. The step's surface force acts at s, where there
// is now mass to take it; afterwards the members' momenta and first moments are summed back into the
// particle. [marquez2021] has a balance point 2 x - s for each sample, half as many points again for nothing.
//
// We split affinely: with d the members' offsets and S = sum_r m~ d d^T / m the spread of the group, the
// members move with v + A d, A = C (I + 4 S/dx^2)^-1. C is the particle's first moment in units of m dx^2/4,
// which is what merging conserves and what [marquez2021] stores; A is the velocity gradient it stands for. A
// group in affine motion is then split and merged without change, where a constant split overstates the
// gradient. Linear and angular momentum are conserved to rounding (tests/unit/mpm/test_resample.c).
#include "mpm/resample.h"

#include "base/parallel.h"
#include "base/simd.h"
#include "mpm/pressure.h"
#include "mpm/viscosity.h"

enum { GROUP_GRAIN = 256 };

typedef struct split_job {
    mn_mpm *mpm;
    double dt, explicit_dt; ///< s, of the pressure; of viscosity and surface tension
} split_job;

MN_INLINE void set_splat(mn_mpm_particle *splat, mn_vec3 x, double mass, mn_vec3 v, mn_mat3 affine_momentum)
{
    splat->mass = mass;
    splat->v = mn_scale(mass, v);
    mn_mpm_set_position(splat, x);
    mn_mpm_set_affine(splat, affine_momentum);
}

MN_INLINE mn_mpm_push push_of(double dt, mn_mat3 stress)
{
    mn_mpm_push push = {0};
    for (int a = 0; a < 3; a++) push.axis[a].column = mn_scale(-dt, mn_m3_column(stress, a));
    return push;
}

// A piece of surface at rest: sigma |dA| (I - N N^T).
MN_INLINE mn_mat3 patch_stress(const mn_mpm_patch *patch)
{
    const double area = mn_norm(patch->area);
    if (!(area > 0)) return mn_m3_diagonal(0, 0, 0);
    const double s = patch->sigma * area;
    return mn_m3_add(mn_m3_diagonal(s, s, s),
                     mn_m3_scale(-patch->sigma / area, mn_outer(patch->area, patch->area)));
}

// From a group's owner to its balance point.
MN_INLINE mn_vec3 balance_offset(const mn_mpm *mpm, const mn_mpm_group *group, mn_vec3 x)
{
    mn_vec3 sum = {0, 0, 0};
    for (int32_t r = 0; r < group->patch_count; r++)
        sum = mn_add(sum, mn_sub(x, mpm->surface.patches.data[group->first_patch + r].x));
    return mn_scale(1.0 / group->patch_count, sum);
}

mn_vec3 mn_mpm_balance_point(const mn_mpm *mpm, const mn_mpm_group *group)
{
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[group->owner]);
    return mn_add(x, balance_offset(mpm, group, x));
}

// The gradient of the velocity inside a group, from its owner's first moment; `back`: to its balance point.
MN_INLINE mn_mat3 group_gradient(const mn_mpm *mpm, const mn_mpm_group *group, double share, mn_vec3 back)
{
    const mn_mpm_particle *p = &mpm->particles.data[group->owner];
    const mn_vec3 x = mn_mpm_position(p);
    const double unit = 4.0 * share / (mpm->def.dx * mpm->def.dx);
    mn_mat3 spread = mn_m3_identity(), inverse;
    for (int32_t r = 0; r < group->patch_count; r++) {
        const mn_vec3 d = mn_sub(mpm->surface.patches.data[group->first_patch + r].x, x);
        spread = mn_m3_add(spread, mn_m3_scale(unit, mn_outer(d, d)));
    }
    spread = mn_m3_add(spread, mn_m3_scale(unit * group->patch_count, mn_outer(back, back)));
    if (!mn_m3_inverse(spread, &inverse)) inverse = mn_m3_identity();
    return mn_m3_mul(mn_mpm_affine(p), inverse);
}

MN_MULTIVERSION
static mn_status split_groups(void *user, mn_range range)
{
    const split_job *job = user;
    mn_mpm *mpm = job->mpm;
    const double weight = -4.0 * job->explicit_dt / (mpm->def.dx * mpm->def.dx);
    for (int64_t g = range.begin; g < range.end; g++) {
        const mn_mpm_group *group = &mpm->split.groups.data[g];
        const mn_mpm_particle *p = &mpm->particles.data[group->owner];
        const mn_mpm_material *q = &mpm->materials.data[group->owner];
        const double share = 1.0 / (2.0 * group->patch_count + 1.0), mass = share * p->mass;
        const mn_vec3 x = mn_mpm_position(p), back = balance_offset(mpm, group, x);
        const mn_mat3 a = group_gradient(mpm, group, share, back), affine = mn_m3_scale(mass, a);
        const double k = mn_pressure_stress(mpm->bulk_modulus, q->volume, q->j, q->j);
        const mn_mat3 viscous = mn_m3_scale(weight, mn_viscosity_stress(q->viscosity, q->volume * q->j, a));
        mn_mpm_particle *splat = &mpm->split.splats.data[group->first_splat];
        mn_mpm_push *push = &mpm->split.pushes[group->first_splat];
        set_splat(splat++, x, mass, p->v, mn_m3_add(affine, viscous));
        *push++ = push_of(job->dt, mn_m3_diagonal(k, k, k));
        const double rest = group->patch_count;
        set_splat(splat++, mn_add(x, back), rest * mass, mn_add(p->v, mn_m3_apply(a, back)),
                  mn_m3_scale(rest, affine));
        *push++ = (mn_mpm_push){0};
        for (int32_t r = 0; r < group->patch_count; r++) {
            const mn_mpm_patch *patch = &mpm->surface.patches.data[group->first_patch + r];
            const mn_vec3 along = mn_m3_apply(a, mn_sub(patch->x, x));
            set_splat(splat, patch->x, mass, mn_add(p->v, along), affine);
            splat->v = mn_axpy(splat->v, job->dt, patch->force);
            splat++;
            *push++ = push_of(job->explicit_dt, patch_stress(patch));
        }
    }
    return MN_OK;
}

static mn_status splat_patches(void *user, mn_range range)
{
    const split_job *job = user;
    mn_mpm *mpm = job->mpm;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_mpm_patch *patch = &mpm->surface.patches.data[i];
        set_splat(&mpm->split.splats.data[i], patch->x, 0, mn_v3(0, 0, 0), mn_m3_diagonal(0, 0, 0));
        mpm->split.splats.data[i].v = mn_scale(job->dt, patch->force);
        mpm->split.pushes[i] = push_of(job->explicit_dt, patch_stress(patch));
    }
    return MN_OK;
}

mn_status mn_mpm_split(mn_mpm *mpm, double dt, double explicit_dt)
{
    const bool massless = mpm->def.surface_particles == MN_MPM_MASSLESS;
    split_job job = {mpm, dt, explicit_dt};
    const int64_t splats =
        massless ? mpm->surface.patches.count : mpm->surface.patches.count + 2 * mpm->split.groups.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->split.splats, splats));
    _Static_assert(sizeof(mn_mpm_push) <= sizeof(mn_mpm_sample), "pushes lie where samples will");
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->split.samples, splats));
    mpm->split.pushes = (void *)mpm->split.samples.data;
    if (massless)
        MN_TRY(
            mn_parallel_for(mpm->solver.ctx, mpm->surface.patches.count, GROUP_GRAIN, splat_patches, &job));
    else
        MN_TRY(mn_parallel_for(mpm->solver.ctx, mpm->split.groups.count, GROUP_GRAIN, split_groups, &job));
    return mn_point_sort_run(mpm->split.sort, mpm->grid.blocks,
                             mn_mpm_points(mpm->split.splats.data, splats));
}

// What a member of this mass, in shares, at offset d says.
MN_INLINE void add_member(mn_mpm_sample *sum, const mn_mpm_sample *member, double mass, mn_vec3 d,
                          double per_inertia)
{
    sum->v = mn_axpy(sum->v, mass, member->v);
    const mn_mat3 moment = mn_m3_scale(per_inertia, mn_outer(member->v, d));
    sum->gradient = mn_m3_add(sum->gradient, mn_m3_scale(mass, mn_m3_add(moment, member->gradient)));
}

mn_mpm_sample mn_mpm_merge(const mn_mpm *mpm, const mn_mpm_group *group, const mn_mpm_sample *own,
                           const mn_mpm_sample *splat_samples)
{
    const double share = 1.0 / (2.0 * group->patch_count + 1.0);
    const double per_inertia = 4.0 / (mpm->def.dx * mpm->def.dx);
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[group->owner]);
    const mn_mpm_sample *member = splat_samples + group->first_splat + 1;
    const mn_vec3 back = balance_offset(mpm, group, x);
    mn_mpm_sample sum = *own;
    add_member(&sum, member++, group->patch_count, back, per_inertia);
    for (int32_t r = 0; r < group->patch_count; r++)
        add_member(&sum, member++, 1, mn_sub(mpm->surface.patches.data[group->first_patch + r].x, x),
                   per_inertia);
    sum.v = mn_scale(share, sum.v);
    sum.gradient = mn_m3_scale(share, sum.gradient);
    return sum;
}
