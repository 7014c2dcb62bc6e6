// SPDX-License-Identifier: Apache-2.0
//
// The solver's state and the phases of a step, one file each.
//
//   sample     the surface: where, how much area, which particle is nearest        surface_samples.c
//   split      particles at the surface share their mass with its samples          resample.c
//   scatter    particles and splats to the grid                                    scatter.c
//   solve      forces, gravity and boundaries on the grid                          grid_update.c, newton.c
//   gather     grid to particles, groups merged back                               motion.c
//   emit       new particles from emitters                                         emit.c
//   sort       the new positions into cell order                                   sorted_state.c
//
// `particles` is the state; `next` is what a step makes of it and becomes the state by being sorted into it,
// so a step that fails has nothing to undo. From a sort to the next move it holds nothing, and its memory is
// lent to one phase after the other (mn_mpm_borrow).
#ifndef MENISCUS_MPM_STATE_H
#define MENISCUS_MPM_STATE_H

#include "levelset/level_set.h"
#include "levelset/thin_parts.h"
#include "meniscus/array.h"
#include "meniscus/mpm.h"
#include "meniscus/report.h"
#include "mesh/beads.h"
#include "mesh/isosurface.h"
#include "mpm/bodies.h"
#include "mpm/implicit.h"
#include "mpm/particles.h"
#include "mpm/transfer.h"
#include "space/blocks.h"

/// A piece of the surface between liquid and air.
typedef struct mn_mpm_patch {
    mn_vec3 x;     ///< m
    mn_vec3 area;  ///< m^2, outward
    mn_vec3 force; ///< N, besides that of its tension: of the wall at a contact line (wetting.c)
    double sigma;  ///< N/m
    int32_t owner; ///< the nearest particle
    int32_t layer; ///< of which surface it is: MN_MPM_ALL, or that of one of two liquids
} mn_mpm_patch;

/// A sample of the surface as it is shown, or the balance point of a group of them.
typedef struct mn_mpm_shown_sample {
    mn_vec3 x, normal, v; ///< m; unit, out; m/s, of the nearest particle
    double area, sigma;   ///< m^2, N/m
    int32_t layer, balance;
} mn_mpm_shown_sample;

/// The surface around all liquid, where those of two liquids are 0 and 1.
enum { MN_MPM_ALL = -1 };

/// Two liquids with a tension between them (two_liquids.c).
typedef struct mn_mpm_liquids {
    bool two;         ///< there are particles of both, and a tension
    double share[2];  ///< N/m, tension of the surface of each
    double volume[2]; ///< m^3, at rest
    double sigma[2];  ///< N/m, mean of each against air
} mn_mpm_liquids;

/// A particle next to a wall or a solid, and its foot, the place of the wall nearest to it (wall_pressure.c).
typedef struct mn_mpm_contact {
    mn_vec3 foot, normal; ///< m; into the liquid
    mn_vec3 velocity;     ///< m/s, of the wall
    double distance;      ///< m, from the particle to its foot
    double weight;        ///< 1/m, the particle's share of the wall over its volume
    double friction;      ///< Coulomb's coefficient there
    int32_t particle;
    bool held;    ///< pressure acts, both ways; otherwise only the wall's approach counts
    bool is_body; ///< the liquid moves what it touches there
} mn_mpm_contact;

/// A particle that shares its mass with the samples nearest to it, and their places.
typedef struct mn_mpm_group {
    int32_t owner, first_patch, patch_count;
    int32_t first_splat; ///< the owner, the balance point, then the sample of each patch
} mn_mpm_group;

/// A line of the emitter's lattice, where it meets the emitter's surface. 8-byte fields only: it is saved as
/// it lies.
typedef struct mn_mpm_site {
    int64_t corner[3]; ///< points of the emitter
    double weight[3];  ///< of them
    int64_t piece;     ///< of the emitter, connected
    double area;       ///< m^2, its share
    double filled;     ///< m, how far behind the surface the nozzle is full
    mn_vec3 x;         ///< m, at the end of the advance
    mn_vec3 motion;    ///< m/s, of the emitter
    mn_vec3 flow;      ///< m/s, of the liquid relative to the emitter; zero: closed
    mn_vec3 axis;      ///< unit, along the flow, or the last there was
    mn_vec3 normal;    ///< unit, out of the emitter
    double sigma, viscosity, density;
} mn_mpm_site;

/// A particle that an emitter has put in since the last sort.
typedef struct mn_mpm_birth {
    mn_vec3 x;
    int64_t piece;
    int32_t next; ///< birth of the same bucket, -1: none
} mn_mpm_birth;

/// A body of mist (subgrid_drops.c).
typedef struct mn_mpm_mote {
    double mass;              ///< kg
    mn_vec3 centre, velocity; ///< m, m/s
    mn_vec3 spin;             ///< its angular momentum, then 1/s
    mn_mat3 inertia;          ///< kg m^2
    bool small;
} mn_mpm_mote;

/// A particle and its id, to be sorted.
typedef struct mn_mpm_rank {
    int64_t id;
    int32_t particle;
} mn_mpm_rank;

/// What a step did, gathered block by block.
typedef struct mn_mpm_step_stats {
    double max_speed, max_move; ///< m/s, m
    double min_ratio;           ///< of a particle's volume after and before the step
    double mass, kinetic;       ///< kg, J
    mn_vec3 momentum;           ///< kg m/s
    double part_speed;          ///< m/s, of the fastest part; of all blocks together only
    bool finite;
} mn_mpm_step_stats;

/// What bounds a step, over all particles.
typedef struct mn_mpm_extremes {
    double max_speed, max_sigma, min_density, max_kinematic_viscosity;
    double mass, kinetic, volume; ///< kg, J, m^3 at rest
    double height;                ///< m, of the liquid along gravity
    double part_speed;            ///< m/s, of the fastest part of the liquid
    double force;                 ///< m/s^2, of the force field
} mn_mpm_extremes;

/// The step that is being tried.
typedef struct mn_mpm_trial {
    double end;              ///< s, from the start of the step to the end of the advance
    mn_mpm_step_stats stats; ///< of what `next` holds
    bool taken_on;           ///< from prepare to commit
} mn_mpm_trial;

struct mn_mpm {
    mn_solver solver;
    mn_mpm_def def;
    double bulk_modulus;
    double saved_dx;         ///< m, that the state was made with
    double recent_stiffness; ///< Pa, that the automatic bulk modulus had to have lately (step_limits.c)
    const mn_collider *collider, *sink;
    const mn_solver_inputs *fields; ///< of the running advance; NULL: none
    double frame_left;              ///< s, from the end of the step to the end of the advance
    double frame_begin;             ///< s, from the start of the step to the end of the advance
    int64_t next_id;
    bool fresh;      ///< particles were added since the last step
    bool unbalanced; ///< pressures at rest are to be found at the next step

    MN_ARRAY(mn_mpm_particle) particles, next;
    MN_ARRAY(mn_mpm_material) materials, next_materials;
    mn_mpm_extremes extremes;

    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_block_table table;
    const int32_t *cell_start;
    bool sorted;         ///< the grid belongs to the state
    mn_vec3 grid_origin; ///< m, of node (0, 0, 0)
    MN_ARRAY(mn_mpm_node) nodes, before;
    MN_ARRAY(mn_mpm_step_stats) block_stats;
    double relaxation_due;    ///< of volume ratios, since the last time
    MN_ARRAY(double) volumes; ///< two per node (volume_relaxation.c)

    mn_level_set *surface;
    mn_isosurface *isosurface;
    MN_ARRAY(mn_vec3) vertex_velocity, vertex_position;
    MN_ARRAY(double) vertex_liquid;
    mn_beads *beads;
    mn_thin_parts *thin_parts;    // surface_sheets.c
    MN_ARRAY(double) thin_volume; ///< of each particle
    MN_ARRAY(mn_vec3) shown_velocity;
    double shift; ///< m, the largest body's, where the next search starts
    MN_ARRAY(int32_t) body_of, sample_start;
    MN_ARRAY(double) body_volume, body_guess;
    MN_ARRAY(mn_mpm_mote) motes; ///< of each body
    MN_ARRAY(uint8_t) mist;      ///< of each particle; empty when there is none
    mn_mpm_liquids liquids;
    int32_t layer; ///< whose surface is looked for (mn_mpm_patch)
    MN_ARRAY(mn_mpm_shown_sample) shown_samples;
    MN_ARRAY(mn_mpm_patch) layered; ///< of the surfaces of two liquids, and of all
    MN_ARRAY(mn_mpm_patch) patches;
    mn_mpm_patch *loose_patches; ///< borrowed, or layered: as they are found, before they have owners
    int64_t loose_count;
    MN_ARRAY(mn_mpm_group) groups;
    mn_vec3 *mirrored;                 ///< borrowed: the particles, and their images in the walls near them
    MN_ARRAY(mn_mpm_contact) contacts; ///< by rising particle
    MN_ARRAY(int32_t) contact_start;   ///< of each block, first of its contacts or images
    MN_ARRAY(int32_t) contact_of;      ///< first contact of each particle, -1: none
    MN_ARRAY(int32_t) group_of;
    MN_ARRAY(mn_mpm_particle) splats;
    mn_mpm_push
        *pushes; ///< in the memory of splat_samples, which are gathered after they have been scattered
    MN_ARRAY(mn_mpm_sample) splat_samples, splat_before, particle_before;
    mn_point_sort *splat_sort;
    double area, surface_energy; ///< m^2, J, of the last sampled surface

    MN_ARRAY(mn_vec3) rim, rim_gradient; ///< particles near the surface (surface_settling.c)
    MN_ARRAY(int32_t) rim_owner;
    MN_ARRAY(double) rim_phi;
    MN_ARRAY(double) outside; ///< m, how far each particle lies outside of the surface

    MN_ARRAY(mn_mpm_site) sites;
    int64_t emitter_points, emitter_triangles;
    int64_t emitter_follows; ///< MN_MPM_FOLLOWS_*, of the liquid that comes out of it
    MN_ARRAY(mn_mpm_birth) births;
    MN_ARRAY(int32_t) birth_heads;
    MN_ARRAY(mn_mpm_node) held; ///< mass and momentum of what nozzles hold; empty when they hold nothing

    mn_mpm_implicit implicit;
    mn_mpm_bodies bodies;
    mn_mpm_trial trial;
    MN_ARRAY(int32_t) order; ///< particles by rising id (view.c)
    MN_ARRAY(mn_mpm_rank) ranks;
};

// ---- sorted_state.c ----

/// Sorts `next` (next_materials) into the state and rebuilds the grid around it.
mn_status mn_mpm_sort_next(mn_mpm *mpm);
/// The state as the first of `count` particles in `next`.
mn_status mn_mpm_copy_to_next(mn_mpm *mpm, int64_t count);
/// Takes out of `next` what has passed a sink, which is seen `before` seconds before the end of the advance.
void mn_mpm_drain_next(mn_mpm *mpm, double before);
/// Room for `count` elements of `size` bytes in the memory of `next`, until it is borrowed again or the
/// particles move.
mn_status mn_mpm_borrow(mn_mpm *mpm, int64_t count, size_t size, void **memory);
/// Moves the grid with liquid that flies free, after a step of dt that ended with these sums.
void mn_mpm_carry_grid(mn_mpm *mpm, double dt, const mn_mpm_step_stats *stats);
/// Rebuilds the grid around the state when a failure has left it without one.
mn_status mn_mpm_sort_again(mn_mpm *mpm);

// ---- live_material.c ----

/// Brings the liquid that there is to the materials of the def, and of the fields where they reach.
mn_status mn_mpm_update_materials(mn_mpm *mpm);

// ---- forces.c ----

/// What acts on the surface from outside, onto the patches: the air's pressure.
mn_status mn_mpm_press_from_air(mn_mpm *mpm);
/// Gravity, and the force field there, m/s^2.
mn_vec3 mn_mpm_acceleration(const mn_mpm *mpm, mn_vec3 x);
/// The strongest force field that a particle feels, m/s^2.
mn_status mn_mpm_strongest_force(mn_mpm *mpm, double *most);

// ---- extremes.c ----

mn_status mn_mpm_find_extremes(mn_mpm *mpm);
/// The speed of the fastest part of the liquid, m/s, from mass and energy of each block.
double mn_mpm_fastest_part(const mn_mpm *mpm);

// ---- step_limits.c ----

/// The longest step the integrator may take from this state, s, and what bounds it.
double mn_mpm_step_limit(const mn_mpm *mpm, const char **binding);
/// Chooses the automatic bulk modulus for the state, `seconds` after the last choice; pressures stay what
/// they are.
void mn_mpm_update_bulk_modulus(mn_mpm *mpm, double seconds);

// ---- two_liquids.c ----

/// Finds whether there are two liquids, and how their tensions are shared out.
mn_status mn_mpm_find_liquids(mn_mpm *mpm);
/// An error with a sentence when their tensions cannot balance.
mn_status mn_mpm_check_liquids(const mn_mpm *mpm);
/// N/m, of a piece of the surface of that layer at a particle.
double mn_mpm_tension(const mn_mpm *mpm, int32_t layer, int32_t owner);
/// Whether a particle's liquid is inside of the surface that is looked for.
static inline bool mn_mpm_in_layer(const mn_mpm *mpm, int64_t particle)
{
    return mpm->layer == MN_MPM_ALL || mn_mpm_liquid_of(&mpm->materials.data[particle]) == mpm->layer;
}
/// Its particles' positions, in the memory of mirrored, with room for `more` after them.
mn_status mn_mpm_layer_points(mn_mpm *mpm, int64_t more, int64_t *count);

// ---- surface_samples.c ----

/// Fills patches (in the order of their owners) and groups; none when no particle has surface tension.
mn_status mn_mpm_sample_surface(mn_mpm *mpm);
/// The same for the state as it is, to be shown; changes nothing that a step uses.
mn_status mn_mpm_show_samples(mn_mpm *mpm, const mn_collider *collider);
/// The level set of the particles at this spacing, m, in mpm->surface.
mn_status mn_mpm_find_surface(mn_mpm *mpm, double dx, int32_t smoothing);
/// Its first stage, the distance to the union of balls; and its last, the shift of each body to its volume.
mn_status mn_mpm_unite_balls(mn_mpm *mpm, double dx);
mn_status mn_mpm_calibrate_surface(mn_mpm *mpm);
/// The particle nearest to x within one cell, -1 when there is none; and how far it is (else a cell),
/// squared. A `guess` that is near (-1: none) makes it faster.
int32_t mn_mpm_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2);
/// Gives each patch its nearest particle within one cell, drops those that have none, and puts the rest in
/// the order of their owners.
mn_status mn_mpm_assign_patches(mn_mpm *mpm);

// ---- surface_sheets.c ----

/// Puts the sheets and threads that smoothing loses back into the surface found last: to be shown, or to have
/// surface tension.
mn_status mn_mpm_add_sheets(mn_mpm *mpm, bool shown);

// ---- subgrid_drops.c ----

/// m^3, of the largest body that the grid sees no shape in.
static inline double mn_mpm_mist_volume(const mn_mpm *mpm)
{
    return 3.5 * mpm->def.dx * mpm->def.dx * mpm->def.dx;
}
/// Whether a particle belongs to such a body, by the surface that was sampled last.
static inline bool mn_mpm_is_mist(const mn_mpm *mpm, int64_t particle)
{
    return mpm->mist.count > 0 && mpm->mist.data[particle];
}
/// Finds the mist, takes its pressure and makes each body of it move as a rigid one.
mn_status mn_mpm_settle_mist(mn_mpm *mpm);

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

// ---- hydrostatic.c ----

/// Gives the particles the pressures with which nothing moves, for the surface and the contacts found last.
mn_status mn_mpm_balance(mn_mpm *mpm);

// ---- trapped.c ----

/// Puts particles that lie inside walls or solids out of them, and takes out those that lie too deep.
mn_status mn_mpm_free_trapped(mn_mpm *mpm);

// ---- wall_pressure.c ----

void mn_mpm_find_foot(const mn_mpm *mpm, const mn_mpm_contact *contact, mn_mpm_foot *foot);
/// What the liquid between a particle and its foot weighs against the wall, J (times contact->weight: N).
double mn_mpm_wall_weight(const mn_mpm *mpm, const mn_mpm_contact *contact);
/// The contacts of a particle: from the first, -1 when there is none, while it is one.
static inline int64_t mn_mpm_first_contact(const mn_mpm *mpm, int32_t particle)
{
    return mpm->contacts.count > 0 ? mpm->contact_of.data[particle] : -1;
}
static inline bool mn_mpm_is_contact(const mn_mpm *mpm, int64_t contact, int32_t particle)
{
    return contact >= 0 && contact < mpm->contacts.count && mpm->contacts.data[contact].particle == particle;
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

// ---- surface_settling.c ----

/// Draws particles of `next` that lay outside of the surface back to it, by `amount` of their distance.
mn_status mn_mpm_settle_surface(mn_mpm *mpm, double amount);

// ---- resample.c ----

/// Where the balance point of a group lies, m.
mn_vec3 mn_mpm_balance_point(const mn_mpm *mpm, const mn_mpm_group *group);
/// Splats of the groups or, with massless samples, of the patches alone, with the impulse of the pressure
/// over dt, of viscosity and surface tension over explicit_dt.
mn_status mn_mpm_split(mn_mpm *mpm, double dt, double explicit_dt);
/// What a group's members say about the particle they are merged into.
mn_mpm_sample mn_mpm_merge(const mn_mpm *mpm, const mn_mpm_group *group, const mn_mpm_sample *own,
                           const mn_mpm_sample *splat_samples);

// ---- step.c ----

/// The grid's velocity at the end of a step of dt in mpm->nodes, from a sampled surface; `solved` is false
/// when there is none to be found.
mn_status mn_mpm_solve_grid(mn_mpm *mpm, double dt, bool *solved);

/// The steps of mn_mpm_solver.
mn_status mn_mpm_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan);
mn_status mn_mpm_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_mpm_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_mpm_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict);
mn_status mn_mpm_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_mpm_end(mn_solver *solver, const mn_solver_inputs *inputs);
void mn_mpm_abandon(mn_solver *solver);

// ---- report.c, view.c, stream.c ----

void mn_mpm_report_sums(const mn_solver *solver, mn_report *report);
mn_status mn_mpm_view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view);
extern const mn_saved mn_mpm_saved[];
enum { MN_MPM_SAVED_COUNT = 20 };
mn_status mn_mpm_loaded(mn_solver *solver);

// ---- grid_update.c ----

/// Momentum to velocity; gravity over dt; walls and solids when asked for.
mn_status mn_mpm_update_grid(mn_mpm *mpm, mn_mpm_node *nodes, double dt, bool bounded);

// ---- motion.c ----

/// Grid to `next`: velocity, affine velocity, position, volume.
mn_status mn_mpm_move(mn_mpm *mpm, double dt, mn_mpm_step_stats *stats);

// ---- volume_fraction.c ----

typedef struct mn_mpm_fullness {
    double fraction; ///< that liquid of others takes up there: 1 inside, one half at the surface
    double j;        ///< mean volume ratio there, of all
    int32_t nearest; ///< free particle, -1: none near
    double distance; ///< m, to it
} mn_mpm_fullness;

/// What the sorted state has at x, without the liquid that nozzles of `own_piece` (-1: of none) hold.
mn_mpm_fullness mn_mpm_fullness_at(const mn_mpm *mpm, mn_vec3 x, int64_t own_piece);
/// The weight of a particle at offset r.
double mn_mpm_hat(mn_vec3 r, double dx);

// ---- emit.c ----

/// Fills the nozzles of the state, `before` seconds before the end of the advance.
mn_status mn_mpm_fill_nozzles(mn_mpm *mpm, double before);
/// After a failure: what sites say is full may not be, so they are made anew when the emitter is set again.
void mn_mpm_forget_emitter(mn_mpm *mpm);
/// What nozzles do to `next` over a step that ends `before` seconds before the end of the advance: they carry
/// and let go what they hold, and fill up.
mn_status mn_mpm_emit_next(mn_mpm *mpm, double dt, double before, mn_mpm_step_stats *stats);
/// m/s, of the fastest thing that moves whatever the liquid does: solids and nozzles.
double mn_mpm_driven_speed(const mn_mpm *mpm);
/// What nozzles hold, on the grid, in mpm->held.
mn_status mn_mpm_scatter_nozzles(mn_mpm *mpm);
/// Whether a node belongs to nozzles, and then the velocity it has.
static inline bool mn_mpm_node_is_held(const mn_mpm *mpm, int64_t node, double mass, mn_vec3 *v)
{
    if (mpm->held.count == 0) return false;
    const mn_mpm_node *held = &mpm->held.data[node];
    if (!(held->mass >= 0.5 * mass) || !(held->mass > 0)) return false;
    *v = mn_scale(1 / held->mass, held->v);
    return true;
}

// ---- volume_relaxation.c ----

/// Moves every J by `amount` of its distance from the local mean.
mn_status mn_mpm_relax_volumes(mn_mpm *mpm, double amount);

#endif
