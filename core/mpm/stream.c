// SPDX-License-Identifier: Apache-2.0
//
// The solver's state out and in. Particles are written in the order they lie, and sorting is stable, so a
// loaded solver goes on with the same bits.
#include "mpm/solver.h"

static const char *const tag = "mpm";
enum { VERSION = 5 };

mn_status mn_mpm_save(const mn_mpm *mpm, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, tag, VERSION));
    MN_TRY(mn_write_f64(out, mpm->def.dx));
    MN_TRY(mn_write_f64(out, mpm->bulk_modulus));
    MN_TRY(mn_write_f64(out, mpm->recent_stiffness));
    MN_TRY(mn_write_f64(out, mpm->time));
    MN_TRY(mn_write_f64(out, mpm->shift));
    MN_TRY(mn_write_f64(out, mpm->area));
    MN_TRY(mn_write_f64(out, mpm->surface_energy));
    MN_TRY(mn_write_f64(out, mpm->relaxation_due));
    MN_TRY(mn_write_i64(out, mpm->next_id));
    MN_TRY(mn_write_i64(out, (mpm->fresh ? 1 : 0) + (mpm->unbalanced ? 2 : 0)));
    MN_TRY(mn_write_i64(out, mpm->emitter_points));
    MN_TRY(mn_write_i64(out, mpm->emitter_triangles));
    MN_TRY(mn_write_i64(out, mpm->sites.count));
    MN_TRY(mn_write_block(out, mpm->sites.data, mpm->sites.count, sizeof(mn_mpm_site)));
    MN_TRY(mn_write_i64(out, mpm->particles.count));
    MN_TRY(mn_write_block(out, mpm->particles.data, mpm->particles.count, sizeof(mn_mpm_particle)));
    return mn_write_block(out, mpm->materials.data, mpm->materials.count, sizeof(mn_mpm_material));
}

static mn_status read_sites(mn_mpm *mpm, mn_reader *in)
{
    int64_t count;
    MN_TRY(mn_read_i64(in, &mpm->emitter_points));
    MN_TRY(mn_read_i64(in, &mpm->emitter_triangles));
    MN_TRY(mn_read_i64(in, &count));
    if (count < 0 || count > INT32_MAX)
        return mn_fail(mpm->ctx, MN_ERROR_FORMAT, "The saved state claims %lld sites.", (long long)count);
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->sites, count));
    MN_TRY(mn_read_block(in, mpm->sites.data, count, sizeof(mn_mpm_site)));
    for (int64_t k = 0; k < count; k++)
        for (int c = 0; c < 3; c++) {
            const int64_t corner = mpm->sites.data[k].corner[c];
            if (corner < 0 || corner >= mpm->emitter_points)
                return mn_fail(mpm->ctx, MN_ERROR_FORMAT,
                               "The saved state has a site at no point of its emitter.");
        }
    return MN_OK;
}

// Bytes from anywhere: what is used as an index must be one.
static mn_status check_holders(mn_mpm *mpm)
{
    for (int64_t i = 0; i < mpm->next_materials.count; i++)
        if (mpm->next_materials.data[i].site < 0 || mpm->next_materials.data[i].site > mpm->sites.count)
            return mn_fail(mpm->ctx, MN_ERROR_FORMAT, "The saved state has a particle in no nozzle.");
    return MN_OK;
}

static mn_status read_state(mn_mpm *mpm, mn_reader *in)
{
    int32_t version;
    double dx;
    int64_t count, fresh;
    MN_TRY(mn_read_tag(in, tag, VERSION, &version));
    if (version < VERSION)
        return mn_fail(
            mpm->ctx, MN_ERROR_FORMAT,
            "The saved state is of version %d, from an older build; simulate from the start frame.",
            (int)version);
    MN_TRY(mn_read_f64(in, &dx));
    if (dx != mpm->def.dx)
        return mn_fail(mpm->ctx, MN_ERROR_ARGUMENT, "The saved state has dx %g m, the solver %g m.", dx,
                       mpm->def.dx);
    MN_TRY(mn_read_f64(in, &mpm->bulk_modulus));
    MN_TRY(mn_read_f64(in, &mpm->recent_stiffness));
    MN_TRY(mn_read_f64(in, &mpm->time));
    MN_TRY(mn_read_f64(in, &mpm->shift));
    MN_TRY(mn_read_f64(in, &mpm->area));
    MN_TRY(mn_read_f64(in, &mpm->surface_energy));
    MN_TRY(mn_read_f64(in, &mpm->relaxation_due));
    MN_TRY(mn_read_i64(in, &mpm->next_id));
    MN_TRY(mn_read_i64(in, &fresh));
    mpm->fresh = (fresh & 1) != 0;
    mpm->unbalanced = (fresh & 2) != 0;
    MN_TRY(read_sites(mpm, in));
    MN_TRY(mn_read_i64(in, &count));
    if (count < 0 || count > INT32_MAX)
        return mn_fail(mpm->ctx, MN_ERROR_FORMAT, "The saved state claims %lld particles.", (long long)count);
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->next, count));
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->next_materials, count));
    MN_TRY(mn_read_block(in, mpm->next.data, count, sizeof(mn_mpm_particle)));
    MN_TRY(mn_read_block(in, mpm->next_materials.data, count, sizeof(mn_mpm_material)));
    MN_TRY(check_holders(mpm));
    return mn_mpm_sort_next(mpm);
}

mn_status mn_mpm_load(mn_context *ctx, const mn_mpm_def *def, mn_reader *in, mn_mpm **out)
{
    mn_mpm *mpm;
    *out = NULL;
    MN_TRY(mn_mpm_create(ctx, def, &mpm));
    const mn_status status = read_state(mpm, in);
    if (status != MN_OK) {
        mn_mpm_free(mpm);
        return status;
    }
    *out = mpm;
    return MN_OK;
}
