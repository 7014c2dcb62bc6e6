// SPDX-License-Identifier: Apache-2.0
//
// Which nodes touch solids and where they may go then (contact.c), and what solids do to liquid that slides
// along them (friction.c).
#ifndef MENISCUS_TET_CONTACT_H
#define MENISCUS_TET_CONTACT_H

#include "meniscus/tet.h"
#include "tet/arrays.h"
#include "tet/system.h"
#include "tetmesh/internal.h"

/// Of `touch`: the bit of the colliders.
enum { MN_TET_TOUCHES_COLLIDER = 1 << 6 };

/// How a node comes onto the solid that it touches.
typedef enum mn_tet_looseness {
    MN_TET_PUT,    ///< it is put there
    MN_TET_LOOSE,  ///< it keeps its distance: on the solid it would turn a tetrahedron over
    MN_TET_CAUGHT, ///< its own motion in this step has brought it there
} mn_tet_looseness;

/// Where the nodes touch.
typedef struct mn_tet_contacts {
    int32_t touching;                   ///< how many nodes touch solids
    MN_ARRAY(uint8_t) touch, released;  ///< bit k: side k of the domain, bit 6: the colliders, bit 7: a pipe
    MN_ARRAY(uint8_t) loose;            ///< mn_tet_looseness
    MN_ARRAY(mn_mat3) freedom, tangent; ///< where a node may go; where it could without friction
    MN_ARRAY(double) face_sigma, wetted_area;
} mn_tet_contacts;

/// What rubs there.
typedef struct mn_tet_rubbing {
    MN_ARRAY(uint8_t) slip;        ///< whether friction holds a node or it slides
    MN_ARRAY(double) drag;         ///< in units of a stage, as the two below
    MN_ARRAY(mn_vec3) push, solid; ///< friction of a node that slides; how the solid moves
} mn_tet_rubbing;

// ---- contact.c ----

bool mn_tet_liquid_has_solids(const mn_tet_liquid *liquid);
/// Fails, with a sentence, when the liquid lies in solids so deep that they cannot be what was meant.
mn_status mn_tet_liquid_check_solids(const mn_tet_liquid *liquid);
/// What the solid `*solid` or the next one that there is, from 0 on, is like at x; false: there are no more.
bool mn_tet_liquid_probe(const mn_tet_liquid *liquid, int *solid, mn_vec3 x, mn_contact *contact);
/// Coulomb's coefficient of a solid at x.
double mn_tet_liquid_friction_of(const mn_tet_liquid *liquid, int solid, mn_vec3 x);
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

// ---- friction.c ----

/// Whether a node that touches may not slide.
bool mn_tet_liquid_is_held(const mn_tet_liquid *liquid, int32_t i);
/// Gives a stage its drag, and says which nodes Coulomb's law holds at first.
mn_status mn_tet_liquid_begin_friction(mn_tet_liquid *liquid, double h, mn_tet_stage *stage);
/// What Coulomb's law says after a solve.
mn_status mn_tet_liquid_revise_friction(mn_tet_liquid *liquid, const mn_tet_stage *stage, bool *changed);

#endif
