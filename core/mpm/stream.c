// SPDX-License-Identifier: Apache-2.0
//
// The solver's state out and in. Particles are written in the order they lie, and sorting is stable, so a
// loaded solver goes on with the same bits.
#include "mpm/step.h"

const mn_saved mn_mpm_saved[MN_MPM_SAVED_COUNT] = {
    MN_SAVED_F64(mn_mpm, solver.time, 6),
    MN_SAVED_F64(mn_mpm, saved_dx, 6),
    MN_SAVED_F64(mn_mpm, bulk_modulus, 6),
    MN_SAVED_F64(mn_mpm, recent_stiffness, 6),
    MN_SAVED_F64(mn_mpm, shift, 6),
    MN_SAVED_F64(mn_mpm, area, 6),
    MN_SAVED_F64(mn_mpm, surface_energy, 6),
    MN_SAVED_F64(mn_mpm, relaxation_due, 6),
    MN_SAVED_I64(mn_mpm, next_id, 6),
    MN_SAVED_BOOL(mn_mpm, fresh, 6),
    MN_SAVED_BOOL(mn_mpm, unbalanced, 6),
    MN_SAVED_I64(mn_mpm, emitter_points, 6),
    MN_SAVED_I64(mn_mpm, emitter_triangles, 6),
    MN_SAVED_I64(mn_mpm, emitter_follows, 7),
    MN_SAVED_F64(mn_mpm, grid_origin.x, 8),
    MN_SAVED_F64(mn_mpm, grid_origin.y, 8),
    MN_SAVED_F64(mn_mpm, grid_origin.z, 8),
    MN_SAVED_ARRAY(mn_mpm, sites, 6),
    MN_SAVED_ARRAY(mn_mpm, particles, 6),
    MN_SAVED_ARRAY(mn_mpm, materials, 6),
};

static mn_status damaged(const mn_solver *solver, const char *what)
{
    return mn_fail(solver->ctx, MN_ERROR_FORMAT, "The saved state is damaged: %s.", what);
}

// Bytes from anywhere: what is used as an index must be one.
static mn_status check(const mn_mpm *mpm)
{
    const mn_solver *solver = &mpm->solver;
    if (mpm->particles.count != mpm->materials.count || mpm->particles.count > INT32_MAX ||
        mpm->sites.count > INT32_MAX)
        return damaged(solver, "it claims particles that it does not hold");
    for (int64_t k = 0; k < mpm->sites.count; k++)
        for (int c = 0; c < 3; c++) {
            const int64_t corner = mpm->sites.data[k].corner[c];
            if (corner < 0 || corner >= mpm->emitter_points)
                return damaged(solver, "a site is at no point of its emitter");
        }
    for (int64_t i = 0; i < mpm->materials.count; i++)
        if (mpm->materials.data[i].marks < 0 || mn_mpm_site_of(&mpm->materials.data[i]) > mpm->sites.count)
            return damaged(solver, "a particle is in no nozzle");
    return MN_OK;
}

mn_status mn_mpm_loaded(mn_solver *solver)
{
    mn_mpm *mpm = (mn_mpm *)solver;
    if (mpm->saved_dx != mpm->def.dx)
        return mn_fail(solver->ctx, MN_ERROR_ARGUMENT, "The saved state has dx %g m, the solver %g m.",
                       mpm->saved_dx, mpm->def.dx);
    MN_TRY(check(mpm));
    mpm->emitter_follows &= MN_MPM_FOLLOWS;
    MN_TRY(mn_mpm_copy_to_next(mpm, mpm->particles.count));
    return mn_mpm_sort_next(mpm);
}
