// SPDX-License-Identifier: Apache-2.0
//
// The solver's parameters and its life.
#include "mpm/solver.h"

mn_mpm_def mn_mpm_default_def(void)
{
    return (mn_mpm_def){
        .dx = 1e-3,
        .sigma = 0.072,
        .density = 1000,
        .viscosity = 1e-3,
        .compression = 0.01,
        .newton_tolerance = 0.05,
        .max_dt = INFINITY,
        .cfl = 0.6,
        .max_substeps = 100000,
        .min_substeps = 1,
        .smoothing = 2,
        .sheets = true,
        .flip_ratio = 0.95,
        .domain = mn_box_empty(),
        .collider = MN_MPM_SEPARATE,
        .contact_angle = 90,
    };
}

// ---- checks ----

static mn_status check_def(mn_context *ctx, const mn_mpm_def *def)
{
    const double largest = 1e300;
    MN_TRY(mn_check_number(ctx, "dx", def->dx, 1e-12, 1e12, true));
    MN_TRY(mn_check_number(ctx, "sigma", def->sigma, 0, largest, true));
    MN_TRY(mn_check_number(ctx, "density", def->density, 0, largest, false));
    MN_TRY(mn_check_number(ctx, "viscosity", def->viscosity, 0, largest, true));
    MN_TRY(mn_check_number(ctx, "bulk_modulus", def->bulk_modulus, 0, largest, true));
    MN_TRY(mn_check_number(ctx, "compression", def->compression, 0, 0.1, false));
    MN_TRY(mn_check_number(ctx, "max_dt", def->max_dt, 0, INFINITY, false));
    MN_TRY(mn_check_number(ctx, "newton_tolerance", def->newton_tolerance, 0, 0.999, false));
    MN_TRY(mn_check_number(ctx, "cfl", def->cfl, 0, 10, false));
    MN_TRY(mn_check_number(ctx, "max_substeps", (double)def->max_substeps, 1, largest, true));
    MN_TRY(mn_check_number(ctx, "min_substeps", (double)def->min_substeps, 1, largest, true));
    MN_TRY(mn_check_number(ctx, "smoothing", def->smoothing, 0, 8, true));
    MN_TRY(mn_check_number(ctx, "flip_ratio", def->flip_ratio, 0, 1, true));
    MN_TRY(mn_check_number(ctx, "friction", def->friction, 0, largest, true));
    MN_TRY(mn_check_number(ctx, "contact_angle", def->contact_angle, 0, 180, true));
    if (!mn_is_finite3(def->gravity))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "gravity has a component that is not a number.");
    if (def->collider != MN_MPM_SLIP && def->collider != MN_MPM_STICK && def->collider != MN_MPM_SEPARATE)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "Colliders can slip, stick or separate, nothing else.");
    for (int i = 0; i < 6; i++)
        if (def->wall[i] != MN_MPM_OPEN && mn_box_is_empty(def->domain))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "A side of the domain is a wall but the domain is empty; give it a size.");
    return MN_OK;
}

// ---- life ----

mn_status mn_mpm_create(mn_context *ctx, const mn_mpm_def *def, mn_mpm **out)
{
    *out = NULL;
    MN_TRY(check_def(ctx, def));
    mn_mpm *mpm = mn_allocate_zero(ctx, sizeof *mpm);
    if (!mpm) return MN_ERROR_MEMORY;
    mpm->ctx = ctx;
    mpm->def = *def;
    mn_status status = MN_OK;
    MN_TRY_TO(fail, status, mn_blocks_create(ctx, &mpm->blocks));
    MN_TRY_TO(fail, status, mn_point_sort_create(ctx, &mpm->sort));
    MN_TRY_TO(fail, status, mn_point_sort_create(ctx, &mpm->splat_sort));
    MN_TRY_TO(fail, status, mn_point_sort_create(ctx, &mpm->implicit.sample_sort));
    MN_TRY_TO(fail, status, mn_level_set_create(ctx, &mpm->surface));
    MN_TRY_TO(fail, status, mn_isosurface_create(ctx, &mpm->isosurface));
    MN_TRY_TO(fail, status, mn_thin_parts_create(ctx, &mpm->thin_parts));
    MN_TRY_TO(fail, status, mn_beads_create(ctx, &mpm->beads));
    MN_TRY_TO(fail, status, mn_mpm_sort_next(mpm));
    *out = mpm;
    return MN_OK;
fail:
    mn_mpm_free(mpm);
    return status;
}

static void free_implicit(mn_context *ctx, mn_mpm_implicit *implicit)
{
    mn_array_free(ctx, &implicit->feet);
    mn_array_free(ctx, &implicit->inflow);
    mn_array_free(ctx, &implicit->impulse);
    mn_array_free(ctx, &implicit->held);
    mn_array_free(ctx, &implicit->first_sample);
    mn_array_free(ctx, &implicit->first_held);
    mn_array_free(ctx, &implicit->target);
    mn_array_free(ctx, &implicit->gradient);
    mn_array_free(ctx, &implicit->residual);
    mn_array_free(ctx, &implicit->direction);
    mn_array_free(ctx, &implicit->image);
    mn_array_free(ctx, &implicit->change);
    mn_array_free(ctx, &implicit->block_energy);
    mn_array_free(ctx, &implicit->ratio);
    mn_point_sort_free(implicit->sample_sort);
}

void mn_mpm_free(mn_mpm *mpm)
{
    if (!mpm) return;
    mn_context *ctx = mpm->ctx;
    mn_array_free(ctx, &mpm->particles);
    mn_array_free(ctx, &mpm->next);
    mn_array_free(ctx, &mpm->materials);
    mn_array_free(ctx, &mpm->next_materials);
    mn_array_free(ctx, &mpm->nodes);
    mn_array_free(ctx, &mpm->before);
    mn_array_free(ctx, &mpm->block_stats);
    mn_array_free(ctx, &mpm->volumes);
    mn_array_free(ctx, &mpm->body_of);
    mn_array_free(ctx, &mpm->sample_start);
    mn_array_free(ctx, &mpm->body_volume);
    mn_array_free(ctx, &mpm->body_guess);
    mn_array_free(ctx, &mpm->motes);
    mn_array_free(ctx, &mpm->mist);
    mn_array_free(ctx, &mpm->patches);
    mn_array_free(ctx, &mpm->groups);
    mn_array_free(ctx, &mpm->contacts);
    mn_array_free(ctx, &mpm->contact_start);
    mn_array_free(ctx, &mpm->contact_of);
    mn_array_free(ctx, &mpm->group_of);
    mn_array_free(ctx, &mpm->splats);
    mn_array_free(ctx, &mpm->splat_samples);
    mn_array_free(ctx, &mpm->splat_before);
    mn_array_free(ctx, &mpm->particle_before);
    mn_array_free(ctx, &mpm->vertex_velocity);
    mn_array_free(ctx, &mpm->vertex_position);
    mn_array_free(ctx, &mpm->rim);
    mn_array_free(ctx, &mpm->rim_owner);
    mn_array_free(ctx, &mpm->rim_gradient);
    mn_array_free(ctx, &mpm->rim_phi);
    mn_array_free(ctx, &mpm->outside);
    mn_array_free(ctx, &mpm->sites);
    mn_array_free(ctx, &mpm->births);
    mn_array_free(ctx, &mpm->birth_heads);
    mn_array_free(ctx, &mpm->held);
    free_implicit(ctx, &mpm->implicit);
    mn_isosurface_free(mpm->isosurface);
    mn_thin_parts_free(mpm->thin_parts);
    mn_beads_free(mpm->beads);
    mn_array_free(ctx, &mpm->thin_volume);
    mn_array_free(ctx, &mpm->shown_velocity);
    mn_level_set_free(mpm->surface);
    mn_point_sort_free(mpm->splat_sort);
    mn_point_sort_free(mpm->sort);
    mn_blocks_free(mpm->blocks);
    mn_release(ctx, mpm, sizeof *mpm);
}

mn_status mn_mpm_set_def(mn_mpm *mpm, const mn_mpm_def *def)
{
    MN_TRY(check_def(mpm->ctx, def));
    if (def->dx != mpm->def.dx)
        return mn_fail(mpm->ctx, MN_ERROR_ARGUMENT,
                       "dx changed from %g to %g m; it must stay the same over a simulation.", mpm->def.dx,
                       def->dx);
    mpm->def = *def;
    return MN_OK;
}

void mn_mpm_set_collider(mn_mpm *mpm, const mn_collider *collider)
{
    mpm->collider = collider;
}

void mn_mpm_set_sink(mn_mpm *mpm, const mn_collider *sink)
{
    mpm->sink = sink;
}

const mn_mpm_def *mn_mpm_get_def(const mn_mpm *mpm)
{
    return &mpm->def;
}

int64_t mn_mpm_count(const mn_mpm *mpm)
{
    return mpm->particles.count;
}

double mn_mpm_bulk_modulus(const mn_mpm *mpm)
{
    return mpm->bulk_modulus;
}

double mn_mpm_time(const mn_mpm *mpm)
{
    return mpm->time;
}
