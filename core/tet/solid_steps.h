// SPDX-License-Identifier: Apache-2.0
//
// What a step asks of materials, file by file (solid.h).
#ifndef MENISCUS_TET_SOLID_STEPS_H
#define MENISCUS_TET_SOLID_STEPS_H

#include "contact/surface.h"
#include "meniscus/tet.h"
#include "tet/solid.h"
#include "tetmesh/internal.h"

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
/// A node and the face that it has come behind as a term of core/contact, with a distance below zero; false:
/// it lies before the face.
bool mn_tet_pair_term(const mn_vec3 x[4], mn_contact_term *term);

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
/// Whether tetrahedron t is a solid that can break.
bool mn_tet_solids_is_breakable(const mn_tet_liquid *liquid, int32_t t);

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

#endif
