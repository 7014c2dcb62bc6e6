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
    mn_vec3 frame;           ///< m/s, of liquid that flies free (free_flight.c)
    bool taken_on;           ///< from prepare to commit
} mn_mpm_trial;

/// Of the running advance; none outside of one.
typedef struct mn_mpm_run {
    const mn_collider *collider, *sink;
    const mn_solver_inputs *fields; ///< NULL: none
    double frame_left;              ///< s, from the end of the step to the end of the advance
    double frame_begin;             ///< s, from the start of the step to the end of the advance
} mn_mpm_run;

/// The grid around the particles.
typedef struct mn_mpm_grid {
    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_block_table table;
    const int32_t *cell_start;
    bool sorted; ///< the grid belongs to the state
    MN_ARRAY(mn_mpm_node) nodes, before;
    MN_ARRAY(mn_mpm_step_stats) block_stats;
    MN_ARRAY(double) volumes; ///< two per node (volume_relaxation.c)
} mn_mpm_grid;

/// The surface that was found last, its bodies and its pieces.
typedef struct mn_mpm_surface {
    mn_level_set *level_set;
    mn_isosurface *isosurface;
    mn_beads *beads;
    mn_thin_parts *thin_parts;    // surface_sheets.c
    MN_ARRAY(double) thin_volume; ///< of each particle
    MN_ARRAY(int32_t) body_of, sample_start;
    MN_ARRAY(double) body_volume, body_guess;
    MN_ARRAY(mn_mpm_mote) motes;    ///< of each body
    MN_ARRAY(uint8_t) mist;         ///< of each particle; empty when there is none
    int32_t layer;                  ///< whose surface is looked for (mn_mpm_patch)
    MN_ARRAY(mn_mpm_patch) layered; ///< of the surfaces of two liquids, and of all
    MN_ARRAY(mn_mpm_patch) patches;
    mn_mpm_patch *loose_patches; ///< borrowed, or layered: as they are found, before they have owners
    int64_t loose_count;
    mn_vec3 *mirrored; ///< borrowed: the particles, and their images in the walls near them
} mn_mpm_surface;

/// Where particles are next to walls.
typedef struct mn_mpm_walls {
    MN_ARRAY(mn_mpm_contact) contacts;   ///< by rising particle
    MN_ARRAY(int32_t) start;             ///< of each block, first of its contacts or images
    MN_ARRAY(int32_t) first_of_particle; ///< contact, -1: none
} mn_mpm_walls;

/// Particles at the surface that share their mass with its samples (resample.c).
typedef struct mn_mpm_split_state {
    MN_ARRAY(mn_mpm_group) groups;
    MN_ARRAY(int32_t) group_of;
    MN_ARRAY(mn_mpm_particle) splats;
    mn_mpm_push *pushes; ///< in the memory of samples, which are gathered after they have been scattered
    MN_ARRAY(mn_mpm_sample) samples, before, particle_before;
    mn_point_sort *sort;
} mn_mpm_split_state;

/// Particles near the surface (surface_settling.c).
typedef struct mn_mpm_settling {
    MN_ARRAY(mn_vec3) rim, gradient;
    MN_ARRAY(int32_t) owner;
    MN_ARRAY(double) phi;
    MN_ARRAY(double) outside;  ///< m, how far each particle lies outside of the surface
    MN_ARRAY(double) enclosed; ///< fraction of each cell of the level set that is inside (particle_spacing.c)
} mn_mpm_settling;

/// What emitters have put in since the last sort, and hold.
typedef struct mn_mpm_nozzles {
    MN_ARRAY(mn_mpm_birth) births;
    MN_ARRAY(int32_t) birth_heads;
    MN_ARRAY(mn_mpm_node) held; ///< mass and momentum of what nozzles hold; empty when they hold nothing
} mn_mpm_nozzles;

/// What outputs show (view.c, surface_mesh.c).
typedef struct mn_mpm_shown {
    MN_ARRAY(mn_vec3) vertex_velocity, vertex_position, particle_velocity;
    MN_ARRAY(double) vertex_liquid;
    MN_ARRAY(mn_mpm_shown_sample) samples;
    MN_ARRAY(int32_t) order; ///< particles by rising id
    MN_ARRAY(mn_mpm_rank) ranks;
} mn_mpm_shown;

struct mn_mpm {
    mn_solver solver;
    mn_mpm_def def;

    // The state, and what is saved with it.
    double bulk_modulus;
    double saved_dx;         ///< m, that the state was made with
    double recent_stiffness; ///< Pa, that the automatic bulk modulus had to have lately (step_limits.c)
    int64_t next_id;
    bool fresh;      ///< particles were added since the last step
    bool unbalanced; ///< pressures at rest are to be found at the next step
    MN_ARRAY(mn_mpm_particle) particles, next;
    MN_ARRAY(mn_mpm_material) materials, next_materials;
    mn_vec3 grid_origin;         ///< m, of node (0, 0, 0)
    double relaxation_due;       ///< of volume ratios, since the last time
    double shift;                ///< m, the largest body's, where the next search for the surface starts
    double area, surface_energy; ///< m^2, J, of the last sampled surface
    MN_ARRAY(mn_mpm_site) sites;
    int64_t emitter_points, emitter_triangles;
    int64_t emitter_follows; ///< MN_MPM_FOLLOWS_*, of the liquid that comes out of it

    // What the phases of a step work in.
    mn_mpm_run run;
    mn_mpm_extremes extremes;
    mn_mpm_grid grid;
    mn_mpm_liquids liquids;
    mn_mpm_surface surface;
    mn_mpm_walls walls;
    mn_mpm_split_state split;
    mn_mpm_settling settling;
    mn_mpm_nozzles nozzles;
    mn_mpm_implicit implicit;
    mn_mpm_bodies bodies;
    mn_mpm_trial trial;
    mn_mpm_shown shown;
};

#endif
