// SPDX-License-Identifier: Apache-2.0
//
// The solver's state out and in. Particles are written in the order they lie, and sorting is stable, so a
// loaded solver goes on with the same bits.
#include "mpm/solver.h"

static const char *const tag = "mpm";
enum { VERSION = 1 };

mn_status mn_mpm_save(const mn_mpm *mpm, mn_writer *out)
{
    MN_TRY(mn_write_tag(out, tag, VERSION));
    MN_TRY(mn_write_f64(out, mpm->def.dx));
    MN_TRY(mn_write_f64(out, mpm->bulk_modulus));
    MN_TRY(mn_write_f64(out, mpm->time));
    MN_TRY(mn_write_f64(out, mpm->shift));
    MN_TRY(mn_write_f64(out, mpm->relaxation_due));
    MN_TRY(mn_write_i64(out, mpm->next_id));
    MN_TRY(mn_write_i64(out, mpm->fresh));
    MN_TRY(mn_write_i64(out, mpm->particles.count));
    MN_TRY(mn_write_block(out, mpm->particles.data, mpm->particles.count, sizeof(mn_mpm_particle)));
    return mn_write_block(out, mpm->materials.data, mpm->materials.count, sizeof(mn_mpm_material));
}

static mn_status read_state(mn_mpm *mpm, mn_reader *in)
{
    int32_t version;
    double dx;
    int64_t count, fresh;
    MN_TRY(mn_read_tag(in, tag, VERSION, &version));
    MN_TRY(mn_read_f64(in, &dx));
    if (dx != mpm->def.dx)
        return mn_fail(mpm->ctx, MN_ERROR_ARGUMENT, "The saved state has dx %g m, the solver %g m.", dx,
                       mpm->def.dx);
    MN_TRY(mn_read_f64(in, &mpm->bulk_modulus));
    MN_TRY(mn_read_f64(in, &mpm->time));
    MN_TRY(mn_read_f64(in, &mpm->shift));
    MN_TRY(mn_read_f64(in, &mpm->relaxation_due));
    MN_TRY(mn_read_i64(in, &mpm->next_id));
    MN_TRY(mn_read_i64(in, &fresh));
    mpm->fresh = fresh != 0;
    MN_TRY(mn_read_i64(in, &count));
    if (count < 0 || count > INT32_MAX)
        return mn_fail(mpm->ctx, MN_ERROR_FORMAT, "The saved state claims %lld particles.", (long long)count);
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->next, count));
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->next_materials, count));
    MN_TRY(mn_read_block(in, mpm->next.data, count, sizeof(mn_mpm_particle)));
    MN_TRY(mn_read_block(in, mpm->next_materials.data, count, sizeof(mn_mpm_material)));
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
