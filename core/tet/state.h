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
#include "mesh/box_grid.h"
#include "tet/solid.h"
#include "tetmesh/internal.h"
#include "tetmesh/mouth.h"

typedef MN_ARRAY(mn_vec3) mn_tet_vectors;
typedef MN_ARRAY(double) mn_tet_numbers;

typedef struct mn_tet_counts {
    int64_t newton, linear, remeshed, splits, merges, opened, limited, coasted;
    int64_t cracks;        ///< faces that broke open
    int64_t coasted_at;    ///< the step that coasted last
    int64_t spoilt;        ///< the step at which a merge came to nothing last; 0: none
    double added, removed; ///< rest volume through pipes, m^3
} mn_tet_counts;

/// Of `touch`: the bit of the colliders.
enum { MN_TET_TOUCHES_COLLIDER = 1 << 6 };

/// How a node comes onto the solid that it touches.
typedef enum mn_tet_looseness {
    MN_TET_PUT,    ///< it is put there
    MN_TET_LOOSE,  ///< it keeps its distance: on the solid it would turn a tetrahedron over
    MN_TET_CAUGHT, ///< its own motion in this step has brought it there
} mn_tet_looseness;

/// A connected part of the liquid; energy.c.
typedef struct mn_tet_body {
    double mass, kinetic, relative, surface, owed; ///< kg; J: all, of what is not linear in x; J
    mn_vec3 center, drift;                         ///< m, m/s
    mn_mat3 gradient;                              ///< 1/s, of the motion linear in x
    mn_mat3 places, flows;                         ///< sum m x x^T, kg m^2, and sum m v x^T, kg m^2/s
    double factor;                                 ///< on what is not linear in x
    bool free;                                     ///< it touches nothing
} mn_tet_body;

/// Scratch memory of self_overlap.c.
typedef struct mn_tet_folds {
    MN_ARRAY(int32_t) tets; ///< behind each boundary face
    mn_tet_vectors normals;
    mn_box_grid grid; ///< of the boxes of those tetrahedra
    mn_tet_list found;
} mn_tet_folds;

struct mn_tet_liquid {
    mn_solver solver;
    mn_tet_liquid_def def;
    mn_context *ctx; ///< the solver's
    double size;     ///< m, in use
    double last_dt;  ///< s, of the step that the history fields hold; 0: none
    /// What the last remeshing could not better: repair waits until it is worse. INFINITY, INFINITY, 0
    /// before.
    double left_quality, left_shortest, left_longest;

    mn_tet_mesh *mesh;  ///< without gaps
    mn_tet_mesh *whole; ///< the mesh before what locks was divided; NULL outside a step
    bool ready;         ///< neighbourhoods and bodies are those of the mesh
    mn_tet_system system;
    mn_krylov *krylov;
    // Of the running advance; none outside of one.
    const mn_collider *collider, *drain;
    mn_volume force;                    ///< m/s^2, added to gravity; {0}: none
    double strongest;                   ///< m/s^2, of it where the liquid was at the start of the advance
    MN_ARRAY(mn_vec3) field;            ///< of each node, in units of a stage
    mn_tet_pipe pipe;                   ///< the first
    int32_t open;                       ///< how many mouths
    double step_begin;                  ///< s, the time at the start of the step
    int32_t tries;                      ///< of the step
    bool coasted;                       ///< the step could not be solved
    mn_tet_mouths mouths;               ///< part of the state
    MN_ARRAY(uint8_t) cap;              ///< of each node, 1 + the mouth whose cap it is on; 0: none
    double step;                        ///< s, of the step that is tried; 0 where no time passes
    double frame_left;                  ///< s, from the end of the step to the end of the advance
    int32_t touching;                   ///< how many nodes touch solids
    MN_ARRAY(uint8_t) touch, released;  ///< bit k: side k of the domain, bit 6: the colliders, bit 7: a pipe
    MN_ARRAY(uint8_t) loose;            ///< mn_tet_looseness
    MN_ARRAY(mn_mat3) freedom, tangent; ///< where a node may go; where it could without friction
    MN_ARRAY(double) face_sigma, wetted_area;
    MN_ARRAY(uint8_t) slip;        ///< whether friction holds a node or it slides
    MN_ARRAY(double) drag;         ///< in units of a stage, as the two below
    MN_ARRAY(mn_vec3) push, solid; ///< friction of a node that slides; how the solid moves

    int32_t body_count;
    MN_ARRAY(int32_t) body; ///< of each node
    MN_ARRAY(mn_tet_body) bodies;
    mn_tet_numbers body_sum; ///< scratch of newton.c, four for each

    // A stage in its units, and the places and velocities that a step tries.
    double recovery; ///< of a node's volume that a solve may give back at most
    mn_tet_vectors start, drift, u, end, place, velocity, middle;
    mn_tet_numbers p, mass, soft_volume, node_volume, volume_before, residual, side, change, pressure,
        reaction;

    mn_tet_solids solids;
    mn_tet_counts counts;
    mn_tet_folds folds;
    mn_tet_vectors neck_normals;             ///< scratch of neck.c
    MN_ARRAY(uint8_t) thin_fixed, thin_mark; ///< sheet_detection.c

    // What an output shows, by vertex but for the first: the shown vertices, their points (-1 for none), the
    // corners of primitives, the tetrahedron of each, normals.
    MN_ARRAY(int32_t) shown_order, shown_place, shown_corners, shown_tets;
    MN_ARRAY(float) shown_normals;
    MN_ARRAY(const char *) shown_names; ///< of materials
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

// ---- the table (solver.c) ----

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

/// One implicit solve of length h: from places `a` and velocities `b` to `velocity`, which comes with a
/// guess; pressure likewise. *solved is false when it does not converge or a tetrahedron would turn over.
mn_status mn_tet_liquid_solve_stage(mn_tet_liquid *liquid, double h, const mn_vec3 *a, const mn_vec3 *b,
                                    mn_vec3 *velocity, double *pressure, bool *solved);

// ---- symmetric.c ----

/// One symmetric step of liquid that touches nothing, from places x and velocities v to `place` and
/// `velocity`, which comes with a guess of the mean velocity of the step. *solved is also false when a node
/// comes to touch a solid.
mn_status mn_tet_liquid_solve_symmetric(mn_tet_liquid *liquid, double dt, const mn_vec3 *x, const mn_vec3 *v,
                                        mn_vec3 *place, mn_vec3 *velocity, double *pressure, bool *solved);
/// Makes the velocity one that changes no volume, as a symmetric step leaves it.
mn_status mn_tet_liquid_project_velocity(mn_tet_liquid *liquid);

/// Moves places as little as the mass allows until every node has its volume. What does not converge is left
/// for the next step.
mn_status mn_tet_liquid_recover_volumes(mn_tet_liquid *liquid);

// ---- contact.c ----

bool mn_tet_liquid_has_solids(const mn_tet_liquid *liquid);
/// Fails, with a sentence, when the liquid lies in solids so deep that they cannot be what was meant.
mn_status mn_tet_liquid_check_solids(const mn_tet_liquid *liquid);
/// Which nodes touch which solids.
mn_status mn_tet_liquid_find_contacts(mn_tet_liquid *liquid);
/// The surface energy of each face, in units of sigma, from what touches.
mn_status mn_tet_liquid_find_wetted(mn_tet_liquid *liquid);
/// Fills `tangent` with where the nodes of a mesh may go: P = I - sum t t^T where they touch, else I.
mn_status mn_tet_liquid_find_directions(mn_tet_liquid *liquid, const mn_tet_mesh *mesh);
/// Gives a stage from places `a` its freedom, and puts the nodes that touch onto the solids.
mn_status mn_tet_liquid_constrain(mn_tet_liquid *liquid, double h, const mn_vec3 *a, mn_tet_stage *stage);
/// Where node i would be if it lay on the solids that it touches as they are at the start of the step.
mn_vec3 mn_tet_liquid_on_solids(const mn_tet_liquid *liquid, int32_t i);
/// A velocity of node i, without what leads into the solids that it touches.
mn_vec3 mn_tet_liquid_free_velocity(const mn_tet_liquid *liquid, int32_t i, mn_vec3 velocity);
/// Catches nodes that went into solids and lets go those that are held back too hard. `reaction`: 3 numbers a
/// node, NULL to let none go.
mn_status mn_tet_liquid_revise_contacts(mn_tet_liquid *liquid, const mn_tet_stage *stage,
                                        const double *reaction, bool *changed);

/// How the solid that node i touches moves, m/s.
mn_vec3 mn_tet_liquid_solid_velocity(const mn_tet_liquid *liquid, int32_t i);
/// The part of a force of the solids on node i that presses, in its unit.
double mn_tet_liquid_pressing(const mn_tet_liquid *liquid, const mn_tet_stage *stage, int32_t i,
                              mn_vec3 force);

/// Whether liquid sticks at node i of a mesh, friction or not; and Coulomb's coefficient there, the largest
/// of what it touches, and whether any solid has one.
bool mn_tet_liquid_sticks(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t i);
double mn_tet_liquid_friction(const mn_tet_liquid *liquid, int32_t i);
bool mn_tet_liquid_rubs(const mn_tet_liquid *liquid);

// ---- pipes.c ----

/// Whether liquid comes out of a pipe.
bool mn_tet_liquid_has_mouth(const mn_tet_liquid *liquid);
/// 1 + the mouth whose cap a node of a mesh is on, 0: none.
int32_t mn_tet_liquid_cap_of(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t node);
/// Sets a bit in the marks of the nodes of a mesh that lie in the cap of a pipe, and takes it from the
/// others.
void mn_tet_liquid_mark_cap(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, uint8_t *marks,
                            uint8_t mark);

// ---- friction.c ----

/// Whether a node that touches may not slide.
bool mn_tet_liquid_is_held(const mn_tet_liquid *liquid, int32_t i);
/// Gives a stage its drag, and says which nodes Coulomb's law holds at first.
mn_status mn_tet_liquid_begin_friction(mn_tet_liquid *liquid, double h, mn_tet_stage *stage);
/// What Coulomb's law says after a solve.
mn_status mn_tet_liquid_revise_friction(mn_tet_liquid *liquid, const mn_tet_stage *stage, bool *changed);

/// Stiffness of the soft volume energy, Pa.
double mn_tet_liquid_stiffness(const mn_tet_liquid *liquid);
/// sqrt(density size^3/sigma), or what gravity gives; INFINITY without either.
double mn_tet_liquid_time_scale(const mn_tet_liquid *liquid);
/// The longest step from this state, s.
double mn_tet_liquid_step_limit(const mn_tet_liquid *liquid);

// ---- solid.c ----

/// Whether tetrahedron t of the mesh is solid.
bool mn_tet_liquid_is_solid(const mn_tet_liquid *liquid, int32_t t);
/// Whether a node of the mesh is held where it is.
bool mn_tet_liquid_is_pinned(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t node);
/// The volume that the books give tetrahedron t, m^3.
double mn_tet_liquid_room(const mn_tet_liquid *liquid, int32_t t);
/// The largest surface tension of what is there, N/m: faces count in units of it.
double mn_tet_liquid_tension(const mn_tet_liquid *liquid);
/// Classes and pressures of the mesh as it is now; after every build and change of phase.
mn_status mn_tet_solids_prepare(mn_tet_liquid *liquid);
/// How fast the fastest body with a solid in it turns, rad/s.
double mn_tet_solids_spin(const mn_tet_liquid *liquid);
/// The longest step in which what yields strains by a few times what it bears without flowing, s.
double mn_tet_solids_flow_limit(const mn_tet_liquid *liquid);
/// What a stage of length h asks of materials.
mn_status mn_tet_solids_fill_stage(mn_tet_liquid *liquid, double h, mn_tet_stage *stage);
/// What flowed in a step that moved the mesh stays so.
void mn_tet_solids_accept(mn_tet_liquid *liquid);
/// The energy of each face, in units of the largest tension; `wetted`: what touches stands there already.
mn_status mn_tet_solids_find_tension(mn_tet_liquid *liquid, bool wetted);
/// Pressures beyond those of nodes, from and to the mesh.
void mn_tet_solids_load_pressures(const mn_tet_liquid *liquid, double *pressure);
void mn_tet_solids_save_pressures(mn_tet_liquid *liquid, const double *pressure);
/// J, of the shape of tetrahedron t; and of all solids.
double mn_tet_solids_tet_energy(const mn_tet_liquid *liquid, int32_t t);
double mn_tet_solids_elastic_energy(const mn_tet_liquid *liquid);
/// Cauchy stress of tetrahedron t, Pa: xx yy zz yz zx xy.
void mn_tet_solids_stress(const mn_tet_liquid *liquid, int32_t t, double stress[6]);
void mn_tet_solids_free(mn_tet_liquid *liquid);
/// Masses of liquid become what its tetrahedra hold times how full their nodes are, in `mesh`, a copy of the
/// state's; every material keeps its own, and heat that rides on it goes along.
mn_status mn_tet_solids_refresh_masses(mn_tet_liquid *liquid, mn_tet_mesh *mesh);

// ---- solid_transfer.c ----

/// Whether a solid tetrahedron has become bad.
bool mn_tet_solids_need_repair(const mn_tet_liquid *liquid);
/// Opens solids of `mesh`, a copy of the state's, to remeshing near those that are bad, or worse than
/// `below`.
mn_status mn_tet_solids_open(mn_tet_liquid *liquid, mn_tet_mesh *mesh, double below);
/// What repair left is not tried again before it is worse.
void mn_tet_solids_note_left(mn_tet_liquid *liquid);
/// The state of solids onto `mesh`, a copy of the state's; and back from what a change has made of it.
mn_status mn_tet_solids_deposit_state(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
mn_status mn_tet_solids_mend(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
/// What the change has taken of the elastic energy becomes heat.
mn_status mn_tet_solids_settle_energy(mn_tet_liquid *liquid);

// ---- solid_contact.c ----

/// Which nodes of solids may come to touch which faces in a step of length dt.
mn_status mn_tet_solids_find_pairs(mn_tet_liquid *liquid, double dt);
/// The longest step in which no solid can pass through another, s.
mn_status mn_tet_solids_approach_limit(mn_tet_liquid *liquid, double *limit);

// ---- solid_barrier.c ----

/// Finds what the barrier holds in a step of length dt, and marks what it cannot hold as torn.
mn_status mn_tet_solids_begin_barrier(mn_tet_liquid *liquid, double dt);
/// After a crack has parted bodies: marks nodes of parts of one body that are nearer than the barrier's
/// distance. `was`: the body, before, of each of the first `count` nodes.
mn_status mn_tet_solids_tear_parted(mn_tet_liquid *liquid, int64_t count, const int32_t *was);
/// Friction of what touches at the start of a step.
mn_status mn_tet_solids_begin_friction(mn_tet_liquid *liquid);
/// The barrier of the step; NULL: nothing comes near anything.
mn_tet_barrier *mn_tet_solids_barrier(const mn_tet_liquid *liquid);
/// Whether the barrier keeps node i and a face of solids apart.
bool mn_tet_solids_barrier_holds(const mn_tet_liquid *liquid, int32_t i, const int32_t face[3]);
void mn_tet_solids_free_barrier(mn_tet_liquid *liquid);

// ---- fracture.c ----

/// Breaks solids where they bear more than they can. *limit is how long the next step may be after that, s;
/// INFINITY: nothing broke.
mn_status mn_tet_solids_break(mn_tet_liquid *liquid, double *limit);

// ---- melt.c ----

/// What an advance begins with: a heat source, which must be finite where the mesh is; {0}: none.
mn_status mn_tet_solids_begin(mn_tet_liquid *liquid, mn_volume source);
/// Heat of a step that has moved the mesh, with melting and freezing.
mn_status mn_tet_solids_warm(mn_tet_liquid *liquid, double dt);
/// Temperatures and what has melted, from energies.
mn_status mn_tet_solids_find_melted(mn_tet_liquid *liquid);
/// J, from absolute zero on.
double mn_tet_solids_thermal_energy(const mn_tet_liquid *liquid);
/// Energies of nodes onto the tetrahedra of `mesh`, a copy of the state's.
mn_status mn_tet_solids_deposit_heat(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
/// Takes over what became of such a copy, and gives its nodes their energies.
mn_status mn_tet_solids_take_mesh(mn_tet_liquid *liquid, mn_tet_mesh *mesh);

// ---- rescue.c ----

/// The largest rate at which an edge changes, 1/s.
double mn_tet_liquid_strain_rate(const mn_tet_liquid *liquid);
/// Slows the nodes of tetrahedra whose edges change faster, 1/s; momentum stays.
mn_status mn_tet_liquid_limit_strain(mn_tet_liquid *liquid, double rate);
/// Fills place and velocity with where inertia leads in dt, as far as nothing turns over.
mn_status mn_tet_liquid_coast(mn_tet_liquid *liquid, double dt);

// ---- energy.c ----

/// What a step from the mesh to `place` puts into the soft volumes is owed.
void mn_tet_liquid_owe_soft(mn_tet_liquid *liquid, const mn_vec3 *place);
/// The energy of every body, with what it is owed, onto `mesh`, a copy of the state's.
mn_status mn_tet_liquid_deposit_energy(mn_tet_liquid *liquid, mn_tet_mesh *mesh);
/// Of what rides on the mesh, what the bodies do not have is owed.
mn_status mn_tet_liquid_withdraw_energy(mn_tet_liquid *liquid);
/// Nothing is owed.
void mn_tet_liquid_forget_owed(mn_tet_mesh *mesh);
/// Pays what is owed as far as the motion allows; a calm liquid forgets it.
mn_status mn_tet_liquid_pay_owed(mn_tet_liquid *liquid, bool calm);

/// Remeshes what the last step left bad.
mn_status mn_tet_liquid_adapt(mn_tet_liquid *liquid);
/// Whether liquid lies in one place twice: bodies that have met, or one that has folded onto itself.
mn_status mn_tet_liquid_overlaps(mn_tet_liquid *liquid, bool *overlaps);
void mn_tet_folds_free(mn_context *ctx, mn_tet_folds *folds);
/// Gives the nodes of bodies too small for their own motion one velocity; momentum stays.
mn_status mn_tet_liquid_hold_small(mn_tet_liquid *liquid);
/// The sum of a field of vectors over the mesh, weighted by rest volume, and that weight's sum.
mn_vec3 mn_tet_momentum(const mn_tet_mesh *mesh, const char *velocity, double *mass);

/// Slides the nodes of the surface along it towards where surface tension has no part along it.
mn_status mn_tet_liquid_slide(mn_tet_liquid *liquid);

/// Centre of mass, m.
mn_vec3 mn_tet_liquid_center(const mn_tet_liquid *liquid);
/// Moves everything so that the centre of mass is there.
void mn_tet_liquid_set_center(mn_tet_liquid *liquid, mn_vec3 center);

/// Surface area, m^2, of the mesh now.
double mn_tet_liquid_area(const mn_tet_liquid *liquid);

#endif
