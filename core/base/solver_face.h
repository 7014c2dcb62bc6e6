// SPDX-License-Identifier: Apache-2.0
//
// The typed functions of a solver that are its table's, word for word: a line in its file gives them all.
//
//   MN_SOLVER_FACE(wax)           mn_wax_free, _set_def, _report, _save, _load
//   MN_SOLVER_FACE_CREATE(wax)    mn_wax_create, where a def is all that it takes
//
// with the types mn_wax, mn_wax_def and the table mn_wax_solver. What they do is said in meniscus/wax.h.
#ifndef MENISCUS_BASE_SOLVER_FACE_H
#define MENISCUS_BASE_SOLVER_FACE_H

#include "meniscus/solver.h"

#define MN_SOLVER_FACE_CREATE(name_)                                                                         \
    mn_status mn_##name_##_create(mn_context *ctx, const mn_##name_##_def *def, mn_##name_ **solver)         \
    {                                                                                                        \
        return mn_solver_create(ctx, &mn_##name_##_solver, def, (mn_solver **)solver);                       \
    }

#define MN_SOLVER_FACE(name_)                                                                                \
    void mn_##name_##_free(mn_##name_ *solver)                                                               \
    {                                                                                                        \
        mn_solver_free(&mn_##name_##_solver, (mn_solver *)solver);                                           \
    }                                                                                                        \
    mn_status mn_##name_##_set_def(mn_##name_ *solver, const mn_##name_##_def *def)                          \
    {                                                                                                        \
        return mn_solver_set_def(&mn_##name_##_solver, (mn_solver *)solver, def);                            \
    }                                                                                                        \
    void mn_##name_##_report(const mn_##name_ *solver, mn_report *report)                                    \
    {                                                                                                        \
        mn_solver_report(&mn_##name_##_solver, (const mn_solver *)solver, report);                           \
    }                                                                                                        \
    mn_status mn_##name_##_save(const mn_##name_ *solver, mn_writer *out)                                    \
    {                                                                                                        \
        return mn_solver_save(&mn_##name_##_solver, (const mn_solver *)solver, out);                         \
    }                                                                                                        \
    mn_status mn_##name_##_load(mn_context *ctx, const mn_##name_##_def *def, mn_reader *in,                 \
                                mn_##name_ **solver)                                                         \
    {                                                                                                        \
        return mn_solver_load(ctx, &mn_##name_##_solver, def, in, (mn_solver **)solver);                     \
    }

#endif
