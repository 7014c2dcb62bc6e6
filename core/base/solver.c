// SPDX-License-Identifier: Apache-2.0
//
// The life of any solver, by its table: made, given a new def, reported on, saved, loaded, freed. Whatever
// computes does so in the core's floating-point mode (float_mode.h); so does an advance (stepping.c).
#include "meniscus/solver.h"

#include "base/float_mode.h"

#include <string.h>

static void *def_of(const mn_solver_type *type, mn_solver *solver)
{
    return (char *)solver + type->def_offset;
}

static mn_status check_def(mn_context *ctx, const mn_solver_type *type, const void *def)
{
    if (type->sized) MN_TRY(mn_check_def_size(ctx, type->name, *(const size_t *)def, type->def_size));
    MN_TRY(mn_def_check(ctx, type->fields, type->field_count, def));
    return type->check_def ? type->check_def(ctx, def) : MN_OK;
}

void mn_solver_default_def(const mn_solver_type *type, void *def)
{
    memset(def, 0, type->def_size);
    if (type->more_defaults)
        type->more_defaults(def);
    else
        mn_def_default(type->fields, type->field_count, def);
    if (type->sized) *(size_t *)def = type->def_size;
}

mn_status mn_solver_create(mn_context *ctx, const mn_solver_type *type, const void *def, mn_solver **out)
{
    *out = NULL;
    MN_TRY(check_def(ctx, type, def));
    mn_solver *solver = mn_allocate_zero(ctx, type->state_size);
    if (!solver) return MN_ERROR_MEMORY;
    solver->ctx = ctx;
    memcpy(def_of(type, solver), def, type->def_size);
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = type->init ? type->init(solver) : MN_OK;
    mn_float_mode_restore(mode);
    if (status != MN_OK) {
        mn_solver_free(type, solver);
        return status;
    }
    *out = solver;
    return MN_OK;
}

void mn_solver_free(const mn_solver_type *type, mn_solver *solver)
{
    if (!solver) return;
    if (type->free) type->free(solver);
    mn_release(solver->ctx, solver, type->state_size);
}

mn_status mn_solver_set_def(const mn_solver_type *type, mn_solver *solver, const void *def)
{
    MN_TRY(check_def(solver->ctx, type, def));
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = type->set_def ? type->set_def(solver, def) : MN_OK;
    mn_float_mode_restore(mode);
    MN_TRY(status);
    // Another surface tension or gravity is another store of energy.
    if (memcmp(def_of(type, solver), def, type->def_size) != 0) solver->energy.begun = false;
    memcpy(def_of(type, solver), def, type->def_size);
    return MN_OK;
}

void mn_solver_report(const mn_solver_type *type, const mn_solver *solver, mn_report *report)
{
    memset(report, 0, sizeof *report);
    mn_report_counts(report, &solver->counts, &solver->timers);
    const mn_float_mode mode = mn_float_mode_set();
    if (type->report) type->report(solver, report);
    mn_float_mode_restore(mode);
}

mn_status mn_solver_save(const mn_solver_type *type, const mn_solver *solver, mn_writer *out)
{
    MN_TRY(mn_save_members(out, type->name, type->version, type->saved, type->saved_count, solver));
    return type->save ? type->save(solver, out) : MN_OK;
}

static mn_status load_into(const mn_solver_type *type, mn_reader *in, mn_solver *solver)
{
    int32_t version;
    MN_TRY(mn_load_members(in, type->name, type->oldest, type->version, type->saved, type->saved_count,
                           solver, &version));
    if (type->load) MN_TRY(type->load(solver, in, version));
    return type->loaded ? type->loaded(solver) : MN_OK;
}

mn_status mn_solver_load(mn_context *ctx, const mn_solver_type *type, const void *def, mn_reader *in,
                         mn_solver **out)
{
    mn_solver *solver;
    *out = NULL;
    MN_TRY(mn_solver_create(ctx, type, def, &solver));
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = load_into(type, in, solver);
    mn_float_mode_restore(mode);
    if (status != MN_OK) {
        mn_solver_free(type, solver);
        return status;
    }
    *out = solver;
    return MN_OK;
}
