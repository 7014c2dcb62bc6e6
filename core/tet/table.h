// SPDX-License-Identifier: Apache-2.0
//
// The functions of the solver's table (solver.c), and what its outputs show (view.c).
#ifndef MENISCUS_TET_TABLE_H
#define MENISCUS_TET_TABLE_H

#include "meniscus/report.h"
#include "meniscus/tet.h"

/// What an output shows, by vertex but for the first.
typedef struct mn_tet_shown {
    MN_ARRAY(int32_t)
    order, place, corners, tets; ///< the shown vertices; their points, -1: none; the corners of
                                 ///< primitives; the tetrahedron of each
    MN_ARRAY(float) normals;
    MN_ARRAY(const char *) names; ///< of materials
} mn_tet_shown;

mn_status mn_tet_liquid_init(mn_solver *solver);
void mn_tet_liquid_release(mn_solver *solver);
mn_status mn_tet_liquid_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                              mn_step_plan *plan);
mn_status mn_tet_liquid_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_tet_liquid_prepare_step(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_tet_liquid_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt,
                                mn_verdict *verdict);
mn_status mn_tet_liquid_rescue(mn_solver *solver, const mn_solver_inputs *inputs, double asked, double limit,
                               double *taken);
mn_status mn_tet_liquid_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_tet_liquid_end(mn_solver *solver, const mn_solver_inputs *inputs);
void mn_tet_liquid_abandon(mn_solver *solver);
mn_status mn_tet_liquid_view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output,
                             mn_view *view);
void mn_tet_fill_report(const mn_solver *solver, mn_report *report);
void mn_tet_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books);
enum { MN_TET_SAVED_COUNT = 6, MN_TET_SAVED_VERSION = 8 };
extern const mn_saved mn_tet_liquid_saved[MN_TET_SAVED_COUNT];
mn_status mn_tet_liquid_save_mesh(const mn_solver *solver, mn_writer *out);
mn_status mn_tet_liquid_load_mesh(mn_solver *solver, mn_reader *in, int32_t version);
mn_status mn_tet_liquid_loaded(mn_solver *solver);

#endif
