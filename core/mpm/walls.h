// SPDX-License-Identifier: Apache-2.0
//
// Where the liquid meets walls and solids: their pressure, contact lines, what lies too deep, liquid at rest.
#ifndef MENISCUS_MPM_WALLS_H
#define MENISCUS_MPM_WALLS_H

#include "mpm/state.h"

// ---- wall_pressure.c ----

void mn_mpm_find_foot(const mn_mpm *mpm, const mn_mpm_contact *contact, mn_mpm_foot *foot);
/// What the liquid between a particle and its foot weighs against the wall, J (times contact->weight: N).
double mn_mpm_wall_weight(const mn_mpm *mpm, const mn_mpm_contact *contact);
/// The contacts of a particle: from the first, -1 when there is none, while it is one.
static inline int64_t mn_mpm_first_contact(const mn_mpm *mpm, int32_t particle)
{
    return mpm->walls.contacts.count > 0 ? mpm->walls.first_of_particle.data[particle] : -1;
}
static inline bool mn_mpm_is_contact(const mn_mpm *mpm, int64_t contact, int32_t particle)
{
    return contact >= 0 && contact < mpm->walls.contacts.count &&
           mpm->walls.contacts.data[contact].particle == particle;
}
/// Finds the particles next to walls.
mn_status mn_mpm_find_contacts(mn_mpm *mpm);
/// The impulse of a wall on the nodes in front of it over dt, along its normal, kg m/s.
double mn_mpm_wall_impulse(const mn_mpm *mpm, const mn_mpm_contact *contact, double dt);
/// Adds the impulse of the walls' pressure over dt to the nodes in front of them.
mn_status mn_mpm_push_from_walls(mn_mpm *mpm, mn_mpm_node *nodes, double dt);
/// What the walls add to the divergence at particle k, from the velocity in mpm->nodes; and the part of its
/// velocity that would lead through them, m/s.
double mn_mpm_contact_divergence(const mn_mpm *mpm, int32_t k, mn_vec3 *through);
/// Coulomb's rule on the velocity of nodes in front of walls, with the impulse that the walls' pressure gave
/// them over dt. Nodes behind have theirs already.
mn_status mn_mpm_rub_on_walls(mn_mpm *mpm, mn_mpm_node *nodes, double dt);
/// If the way of particle k to x leads through a wall: back in front of it, without the part of its velocity
/// that goes into it.
void mn_mpm_keep_out(const mn_mpm *mpm, int32_t k, double dt, mn_vec3 *x, mn_vec3 *v);

// ---- wetting.c ----

/// The points that the surface is found from: the particles, with their mirror images behind walls.
mn_status mn_mpm_mirror(mn_mpm *mpm, mn_points *points);
/// Tells the level set where the solids are.
mn_status mn_mpm_set_surface_solid(mn_mpm *mpm);
/// What the wall carries of a piece of contact line of this length, between a free surface with outward unit
/// normal `free` and a solid with normal `wall` into the liquid, per N/m of surface tension.
mn_vec3 mn_mpm_line_force(const mn_mpm *mpm, mn_vec3 x, mn_vec3 free, mn_vec3 wall, double length);
/// |n_t| of a mirrored and smoothed wedge of this angle at its edge.
double mn_mpm_edge_sine(const mn_mpm *mpm, double angle);
/// How far a flat piece of surface is from a wall, in cells: the corners of its triangles, and their shares
/// of its area.
typedef struct mn_mpm_depth {
    double corner[3][3], share[3];
    int32_t count;
} mn_mpm_depth;
/// The wall's pull on a piece of free surface, per N/m.
mn_vec3 mn_mpm_wetting_force(const mn_mpm *mpm, mn_vec3 x, mn_vec3 area, mn_vec3 wall,
                             const mn_mpm_depth *depth);
/// -sigma cos(theta) on what is wet, J, for the surface and the contacts found last.
double mn_mpm_wetting_energy(const mn_mpm *mpm);
/// Contact angle at a place, rad.
double mn_mpm_contact_angle(const mn_mpm *mpm, mn_vec3 x);
/// How far outside of the smoothed surface a particle may lie that is `distance` from a wall (m): as far as
/// the edge of the wedge in which liquid ends there, which smoothing takes off (surface_settling.c).
double mn_mpm_wedge_edge(const mn_mpm *mpm, double distance, mn_vec3 x);

// ---- trapped.c ----

/// Puts particles that lie inside walls or solids out of them, and takes out those that lie too deep.
mn_status mn_mpm_free_trapped(mn_mpm *mpm);

// ---- hydrostatic.c ----

/// Gives the particles the pressures with which nothing moves, for the surface and the contacts found last.
mn_status mn_mpm_balance(mn_mpm *mpm);

#endif
