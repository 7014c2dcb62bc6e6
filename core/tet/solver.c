// SPDX-License-Identifier: Apache-2.0
//
// The table that the house knows the solver by, and its typed face.
#include "base/solver_face.h"
#include "tet/state.h"

// ---- the def ----

static void more_defaults(void *def)
{
    *(mn_tet_liquid_def *)def = mn_tet_liquid_default_def();
}

// What rows cannot say.
static mn_status check_def(mn_context *ctx, const void *checked)
{
    const mn_tet_liquid_def *def = checked;
    MN_TRY(mn_check_number(ctx, "soft_stiffness", def->soft_stiffness, 0, 1e6, true));
    MN_TRY(mn_check_number(ctx, "soft_memory", def->soft_memory, 0, 1e300, false));
    for (int k = 0; k < 6; k++)
        if (def->wall[k] && mn_box_is_empty(def->domain))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "A side of the domain is a wall but the domain is empty; give it a size.");
    return MN_OK;
}

static mn_status set_def(mn_solver *solver, const void *next)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    const mn_tet_liquid_def *def = next;
    if (!(def->size > 0) && !(liquid->def.size > 0)) return MN_OK; // that of the first mesh
    return mn_tet_liquid_find_size(liquid, def);
}

// ---- the table ----

const mn_solver_type mn_tet_liquid_solver = {
    .name = "tet",
    .fields = mn_tet_liquid_fields,
    .field_count = MN_TET_LIQUID_FIELD_COUNT,
    .def_size = sizeof(mn_tet_liquid_def),
    .sized = true,
    .state_size = sizeof(mn_tet_liquid),
    .def_offset = offsetof(mn_tet_liquid, def),
    .takes = MN_TAKES_COLLIDER | MN_TAKES_SINK | MN_TAKES_OWN | MN_TAKES_FORCE | MN_TAKES_HEAT,
    .paint =
        1 << MN_PAINT_CONTACT_ANGLE | 1 << MN_PAINT_FRICTION | 1 << MN_PAINT_SLIP | 1 << MN_PAINT_TEMPERATURE,
    .output_count = MN_TET_OUTPUT_COUNT,
    .more_defaults = more_defaults,
    .check_def = check_def,
    .init = mn_tet_liquid_init,
    .free = mn_tet_liquid_release,
    .set_def = set_def,
    .begin = mn_tet_liquid_begin,
    .limit = mn_tet_liquid_limit,
    .prepare = mn_tet_liquid_prepare_step,
    .attempt = mn_tet_liquid_attempt,
    .rescue = mn_tet_liquid_rescue,
    .commit = mn_tet_liquid_commit,
    .end = mn_tet_liquid_end,
    .abandon = mn_tet_liquid_abandon,
    .view = mn_tet_liquid_view,
    .report = mn_tet_fill_report,
    .energy = mn_tet_tell_energy,
    .saved = mn_tet_liquid_saved,
    .saved_count = MN_TET_SAVED_COUNT,
    .version = MN_TET_SAVED_VERSION,
    .oldest = 7, // materials are saved as they lie, and have grown
    .save = mn_tet_liquid_save_mesh,
    .load = mn_tet_liquid_load_mesh,
    .loaded = mn_tet_liquid_loaded,
};

// ---- the typed face ----

mn_status mn_tet_liquid_create(mn_context *ctx, const mn_tet_liquid_def *def, const mn_tet_mesh *mesh,
                               mn_tet_liquid **out)
{
    mn_solver *solver;
    *out = NULL;
    MN_TRY(mn_solver_create(ctx, &mn_tet_liquid_solver, def, &solver));
    const mn_status status = mn_tet_liquid_set_mesh((mn_tet_liquid *)solver, mesh);
    if (status == MN_OK)
        *out = (mn_tet_liquid *)solver;
    else
        mn_solver_free(&mn_tet_liquid_solver, solver);
    return status;
}

MN_SOLVER_FACE(tet_liquid)

mn_status mn_tet_liquid_advance(mn_tet_liquid *liquid, const mn_solver_inputs *inputs, double seconds)
{
    return mn_solver_advance(&mn_tet_liquid_solver, &liquid->solver, inputs, seconds);
}

const mn_tet_liquid_def *mn_tet_liquid_get_def(const mn_tet_liquid *liquid)
{
    return &liquid->def;
}

const mn_tet_mesh *mn_tet_liquid_mesh(const mn_tet_liquid *liquid)
{
    return liquid->mesh;
}
