// SPDX-License-Identifier: Apache-2.0
//
// Remeshes all solids of a solver at once, whatever their quality: what remeshing after a step does near bad
// ones.
#ifndef MENISCUS_TESTS_SUPPORT_TET_REMESH_SOLID_H
#define MENISCUS_TESTS_SUPPORT_TET_REMESH_SOLID_H

#include "tet/solid_steps.h"
#include "tet/state.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"

/// What it did is in *report.
static inline mn_status tet_remesh_solid(mn_tet_liquid *q, const mn_tet_remesh_def *wanted,
                                         mn_tet_resample_report *report)
{
    const mn_tet_resample_def names = {
        .velocity = MN_TET_V, .mass = MN_TET_REST_VOLUME, .region = MN_TET_REGION, .reaching = MN_TET_REST};
    mn_tet_remesh_def def = *wanted;
    mn_tet_remesh_report remeshed;
    mn_tet_mesh *before = NULL, *work = NULL, *fresh = NULL;
    mn_status status;
    def.region = MN_TET_REGION;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(q->mesh, &before));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_heat(q, before));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_state(q, before));
    MN_TRY_TO(done, status, mn_tet_solids_open(q, before, 2));
    MN_TRY_TO(done, status, mn_tet_mesh_copy(before, &work));
    MN_TRY_TO(done, status, mn_tet_remesh(work, &def, &remeshed));
    MN_TRY_TO(done, status, mn_tet_resample(before, work, &names, report));
    for (int32_t v = 0; v < work->vertex_slots; v++)
        if (mn_tet_vertex_alive(work, v) && work->star_first[v] < 0) mn_tet_mesh_remove_vertex(work, v);
    MN_TRY_TO(done, status, mn_tet_mesh_compact(work, NULL, NULL));
    MN_TRY_TO(done, status, mn_tet_solids_mend(q, work));
    MN_TRY_TO(done, status, mn_tet_liquid_rebuild(work, &fresh));
    MN_TRY_TO(done, status, mn_tet_solids_take_mesh(q, fresh));
    MN_TRY_TO(done, status, mn_tet_solids_settle_energy(q));
done:
    mn_tet_mesh_free(before);
    mn_tet_mesh_free(work);
    return status;
}

#endif
