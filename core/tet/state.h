// SPDX-License-Identifier: Apache-2.0
//
// The solver's state and the parts of a step, one file each.
//
//   newton.c       one implicit solve: Newton's method on the moved geometry
//   symmetric.c   a step that neither damps nor drives
//   step.c        BDF2 and SDIRK2 from stages, and what the stepping loop calls
//   contact.c     which nodes touch solids, and where they may go then
//   friction.c    what solids do to liquid that slides along them
//   energy.c      what remeshing and soft volumes owe to the motion
//   adapt.c       remeshing after a step, with what the fields hold conserved
//   section.c     what a plane section of the liquid carries
//   neck.c        which necks are about to come apart
//   split.c       cuts them, and looks after parts that are too small
//   sheet_detection.c        sheets that have become too thin for a mesh
//   sheet_removal.c        takes them out
//   rescue.c      what lets it go on where no step can be solved
//   self_overlap.c        whether the surface has passed through itself
//   pipes.c       liquid that comes and goes
//   locking.c      division of what locks, for the time of a step
//   tangential_smoothing.c       slides the nodes of a calm surface along it
//   solid.h       materials: solids and heat
//   view.c        what the outputs show
//
// The state is the mesh with its fields, two clocks and nothing else: a step that fails leaves it alone, and
// what a step depends on is what is saved. Mesh and neighbourhoods are always those that the arrays of the
// mesh give when built anew, so that a loaded state goes on with the same bits.
#ifndef MENISCUS_TET_STATE_H
#define MENISCUS_TET_STATE_H

#include "meniscus/report.h"
#include "meniscus/tet.h"
#include "tet/bodies.h"
#include "tet/contact.h"
#include "tet/reshape.h"
#include "tet/solid.h"
#include "tet/table.h"
#include "tet/trial.h"
#include "tetmesh/internal.h"
#include "tetmesh/mouth.h"

typedef struct mn_tet_counts {
    int64_t newton, linear, remeshed, splits, merges, opened, limited, coasted;
    int64_t cracks;        ///< faces that broke open
    int64_t coasted_at;    ///< the step that coasted last
    int64_t spoilt;        ///< the step at which a merge came to nothing last; 0: none
    double added, removed; ///< rest volume through pipes, m^3
} mn_tet_counts;

/// What the last remeshing could not better: repair waits until it is worse. INFINITY, INFINITY, 0 before.
typedef struct mn_tet_left {
    double quality, shortest, longest;
} mn_tet_left;

/// Of the running advance and its step; none outside of one.
typedef struct mn_tet_run {
    const mn_collider *collider, *drain;
    mn_volume force;         ///< m/s^2, added to gravity; {0}: none
    double strongest;        ///< m/s^2, of it where the liquid was at the start of the advance
    MN_ARRAY(mn_vec3) field; ///< of each node, in units of a stage
    mn_tet_pipe pipe;        ///< the first
    int32_t open;            ///< how many mouths
    double step_begin;       ///< s, the time at the start of the step
    double step;             ///< s, of the step that is tried; 0 where no time passes
    double frame_left;       ///< s, from the end of the step to the end of the advance
    int32_t tries;           ///< of the step
    bool coasted;            ///< the step could not be solved
} mn_tet_run;

struct mn_tet_liquid {
    mn_solver solver;
    mn_tet_liquid_def def;
    mn_context *ctx; ///< the solver's
    double size;     ///< m, in use
    double last_dt;  ///< s, of the step that the history fields hold; 0: none
    mn_tet_left left;

    mn_tet_mesh *mesh;     ///< without gaps
    mn_tet_mesh *whole;    ///< the mesh before what locks was divided; NULL outside a step
    bool ready;            ///< neighbourhoods and bodies are those of the mesh
    mn_tet_mouths mouths;  ///< part of the state
    MN_ARRAY(uint8_t) cap; ///< of each node, 1 + the mouth whose cap it is on; 0: none
    mn_tet_run run;
    mn_tet_bodies bodies;
    mn_tet_solids solids;
    mn_tet_counts counts;

    // What the parts of a step work in.
    mn_tet_system system;
    mn_krylov *krylov;
    mn_tet_trial trial;
    mn_tet_contacts contacts;
    mn_tet_rubbing friction;
    mn_tet_folds folds;
    mn_tet_sheets sheets;
    mn_tet_vectors neck_normals; ///< neck.c
    mn_tet_shown shown;
};

/// Fields of the mesh; all are there once the solver is made.
static inline mn_vec3 *mn_tet_field_vectors(const mn_tet_liquid *liquid, const char *name)
{
    return (mn_vec3 *)(void *)mn_tet_mesh_find_field(liquid->mesh, name)->data;
}
static inline double *mn_tet_field_numbers(const mn_tet_liquid *liquid, const char *name)
{
    return mn_tet_mesh_find_field(liquid->mesh, name)->data;
}
#define MN_TET_V "v"                     ///< linear, m/s
#define MN_TET_PRESSURE "pressure"       ///< linear, Pa, as it is shown
#define MN_TET_MULTIPLIER "multiplier"   ///< linear, Pa, as it is solved for
#define MN_TET_REST_VOLUME "rest_volume" ///< amount, m^3; mass is density times it
#define MN_TET_SOFT_VOLUME "soft_volume" ///< amount, m^3: where the soft volume energy is least
#define MN_TET_LAST_V "last_v"           ///< linear, m/s, one step ago
#define MN_TET_LAST_MOVE "last_move"     ///< linear, m, what the last step moved
#define MN_TET_OWED "owed"               ///< amount, J, that its motion has coming; may be negative

/// The size in use, and whether the limits around it leave room.
mn_status mn_tet_liquid_find_size(mn_tet_liquid *liquid, const mn_tet_liquid_def *def);

/// Neighbourhoods and bodies, unless they are there already.
mn_status mn_tet_liquid_prepare(mn_tet_liquid *liquid);
/// Takes over `mesh` and makes neighbourhoods and bodies. The mesh is as mn_tet_mesh_build() makes it.
mn_status mn_tet_liquid_take_mesh(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
/// The mesh built anew from the arrays of `mesh`, with its fields and ids.
mn_status mn_tet_liquid_rebuild(const mn_tet_mesh *mesh, mn_tet_mesh **rebuilt);
/// Finds or adds all fields above; `fresh` fields get their first values.
mn_status mn_tet_liquid_add_fields(mn_tet_mesh *mesh);

/// Stiffness of the soft volume energy, Pa.
double mn_tet_liquid_stiffness(const mn_tet_liquid *liquid);
/// sqrt(density size^3/sigma), or what gravity gives; INFINITY without either.
double mn_tet_liquid_time_scale(const mn_tet_liquid *liquid);
/// The longest step from this state, s.
double mn_tet_liquid_step_limit(const mn_tet_liquid *liquid);

/// Centre of mass, m.
mn_vec3 mn_tet_liquid_center(const mn_tet_liquid *liquid);
/// Moves everything so that the centre of mass is there.
void mn_tet_liquid_set_center(mn_tet_liquid *liquid, mn_vec3 center);

/// Surface area, m^2, of the mesh now.
double mn_tet_liquid_area(const mn_tet_liquid *liquid);

#endif
