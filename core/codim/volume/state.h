// SPDX-License-Identifier: Apache-2.0
//
// Volumes of liquid (codimension 0) beside the films: particles on a sparse MAC grid, and the skin.
//
//   - The skin is a closed cloud of points without mass, triangulated anew in each step like a film. It says
//     where the liquid is, and its area is the surface energy: one side, so sigma and not 2 sigma.
//   - Particles inside carry mass and momentum, and give the grid its velocities (transfer.c).
//   - The grid knows from the skin which cells are liquid and where between two cell centres the surface runs
//     (grid.c). There, at the crossings, grid and skin exchange impulses (volume_coupling.c):
//     pressure and surface tension are one linear system, eq. 24 of [wang2020] in its symmetric form.
//
// A cell is block * 64 + cell of the block set; the face 3 * cell + axis is the cell's lower one on the axis.
#ifndef MENISCUS_CODIM_VOLUME_STATE_H
#define MENISCUS_CODIM_VOLUME_STATE_H

#include "codim/state.h"
#include "linear/quasi_definite_factor.h"
#include "linear/sparse.h"
#include "meniscus/collider.h"
#include "mesh/isosurface.h"
#include "trimesh/halving.h"
#include "trimesh/triangles.h"

typedef mn_triplets_indices mn_codim_volume_index_array;

/// What a step needs to know.
typedef struct mn_codim_volume_settings {
    double dx, spacing; ///< m, of the cells and of the skin's points
    double radius;      ///< m, around a crossing: the points of the skin that it exchanges impulses with
    double density, sigma, viscosity;
    double theta;         ///< 1/2 keeps the energy of waves, 1 the least
    double contact_angle; ///< degrees, where colliders have none painted on
    double flip_ratio;    ///< in [0, 1], that particles keep of what the grid does not see
    mn_vec3 gravity;
    const mn_collider *collider; ///< or NULL
    double before;               ///< s, from the start of the step to the end of the frame
    int64_t inflow_count;        ///< where liquid comes from
    const mn_codim_volume_inflow *inflows;
} mn_codim_volume_settings;

enum {
    MN_CODIM_VOLUME_ROW_MAX = 64,
    MN_CODIM_VOLUME_INFLOW_ID = 1 << 30 ///< from here on, points of the skin that an inflow holds
};

/// Where the skin crosses the line between the centre of a liquid cell and the next cell's.
typedef struct mn_codim_volume_crossing {
    int32_t face, unknown; ///< which pressure it belongs to
    int32_t axis, count;   ///< points of the skin around it
    int32_t loose; ///< 1: most of them are fixed, so that air begins here and not a skin that could yield
    double side;   ///< m^2, open area of the face, negative on a lower face
    double mass;   ///< kg, of the liquid from the cell's centre to the skin
    int32_t point[MN_CODIM_VOLUME_ROW_MAX];
    double weight[MN_CODIM_VOLUME_ROW_MAX]; ///< sum 1
} mn_codim_volume_crossing;

typedef enum volume_face_kind { FACE_AIR, FACE_INNER, FACE_SKIN, FACE_CLOSED, FACE_INFLOW } volume_face_kind;

/// A connected piece of liquid.
typedef struct mn_codim_volume_body {
    double volume, mass;          ///< m^3 enclosed by its skin, kg of its particles
    int64_t crossings, held, fed; ///< faces: where the skin crosses, that a solid closes, of a inflow
    mn_vec3 momentum;             ///< before the step
    mn_vec3 angular;              ///< and angular momentum, about the origin
    mn_vec3 pull, turn;           ///< N s and N m s, of the films that end at it
} mn_codim_volume_body;

/// What a film gives to the particles around a place.
typedef struct mn_codim_volume_push {
    mn_vec3 at, impulse; ///< m, N s
} mn_codim_volume_push;

typedef MN_ARRAY(mn_codim_particle) mn_codim_volume_particle_array;
typedef MN_ARRAY(mn_codim_skin_point) mn_codim_volume_skin_array;

/// The skin in this step, one entry for each of its points unless said.
typedef struct mn_codim_volume_hull {
    mn_codim_film_surface surface;
    mn_codim_film_matrix matrix;
    mn_triangles *mesh;
    bool clean;    ///< no holes, and no parts of the skin that overlap
    bool overlaps; ///< some do
    mn_codim_vec3_array
        doubts; ///< where there are holes, parts that face each other, or points that have gone
    mn_codim_vec3_array x0, x1, normals, u0, change, mass;
    MN_ARRAY(int64_t) ids;
    MN_ARRAY(uint8_t) none;      ///< zeros, or marks
    MN_ARRAY(uint8_t) doubt;     ///< 1: another part of the skin faces it
    MN_ARRAY(uint8_t) fixed;     ///< 1: moves as the grid does or not at all: on a solid, or at an inflow
    MN_ARRAY(uint8_t) wet;       ///< 1: on a solid; those of the line where the skin leaves it are not fixed
    mn_codim_vec3_array outward; ///< unit normals; at the line, of the free skin
    mn_codim_vec3_array wall_normal; ///< unit, of the solid under wet points; zero elsewhere
    mn_codim_vec3_array line_pull;   ///< m, of points on the line: times sigma, what the solid pulls with
    mn_codim_volume_index_array corners, body; ///< triangles, three each; -1: of no body
} mn_codim_volume_hull;

/// The grid in this step.
typedef struct mn_codim_volume_grid {
    mn_blocks *blocks;
    mn_block_table table;
    mn_point_sort *sort;
    mn_sorted_points sorted;
    int32_t cells;
    mn_codim_vec3_array sites;
    mn_codim_volume_index_array next; ///< [6 * cell + 2 * axis + up] the cell beside, -1: none
    mn_codim_double_array phi, solid; ///< at cell centres; at the cells' lowest corners
    mn_codim_double_array
        layer; ///< of a cell: part of the way from a solid to its centre that a layer is thick; 1: it is none
    mn_codim_volume_index_array unknown;      ///< which pressure the cell has; -1: air
    mn_codim_volume_index_array liquid, body; ///< the cell of a pressure, and its body
    MN_ARRAY(mn_codim_volume_body) bodies;
    mn_codim_double_array open, wall; ///< of a face: open part, and speed of the solid that closes the rest
    mn_codim_double_array speed, before, weight;
    mn_codim_double_array strain, face_mass, face_right, face_speed; ///< of the viscous solve
    MN_ARRAY(uint8_t) kind, known, newly;
} mn_codim_volume_grid;

/// Pressure and skin in one system (couple/volume_coupling.c).
typedef struct mn_codim_volume_coupling {
    MN_ARRAY(mn_codim_volume_crossing) crossings;
    MN_ARRAY(int64_t) cell_start;
    mn_codim_double_array component, right, solution;
    mn_codim_double_array pressure; ///< Pa, of the step
    mn_triplets entries;            ///< of the system before they are sorted
    mn_sparse system;               ///< in `own`
    mn_sparse joint;                ///< about the system with the films that end here, in `with_films`
    mn_triplets_matrix own, with_films;
    mn_quasi_definite_factor factor; ///< of one of both
    mn_krylov *krylov;
    double dt, strength; ///< of the solve that runs: time step, and dt^2 theta^2 sigma
    int64_t iterations;
    MN_ARRAY(mn_codim_volume_push) pushes; ///< of the films that end here
} mn_codim_volume_coupling;

/// Where liquid comes from, in this advance.
typedef struct mn_codim_volume_pouring {
    mn_codim_volume_skin_array template; ///< the inflows' own skin
    mn_codim_double_array fraction;      ///< of a lattice cell's mass, that a particle of each inflow has;
                                         ///< measured in each frame
} mn_codim_volume_pouring;

/// The state at the start of a step that is tried.
typedef struct mn_codim_volume_backup {
    mn_codim_volume_particle_array particles;
    mn_codim_volume_skin_array skin;
    mn_codim_double_array poured;
} mn_codim_volume_backup;

struct mn_codim_volume {
    mn_context *ctx;
    mn_codim_volume_settings set;

    // The state.
    mn_codim_volume_particle_array particles;
    mn_codim_volume_skin_array skin;
    mn_codim_double_array poured; ///< m, that liquid from each inflow has moved since the start

    // What a step works in.
    mn_codim_volume_hull hull;
    mn_codim_volume_grid grid;
    mn_codim_volume_coupling coupling;
    mn_codim_volume_pouring pouring;
    mn_codim_volume_backup backup;
    mn_codim_volume_index_array stack;
    mn_codim_volume_particle_array spare;
    mn_codim_point_array lost;   ///< what the grid does not hold any more: drops for the films to take
    mn_codim_point_array sheets; ///< and film
};

static inline mn_vec3 mn_codim_volume_along(int32_t axis, double length)
{
    return mn_v3(axis == 0 ? length : 0, axis == 1 ? length : 0, axis == 2 ? length : 0);
}

static inline mn_vec3 mn_codim_volume_cell_center(const mn_codim_volume *v, int32_t cell)
{
    const double h = 0.5 * v->set.dx;
    return mn_add(mn_block_node_position(&v->grid.table, cell / MN_BLOCK_CELLS, cell % MN_BLOCK_CELLS),
                  mn_v3(h, h, h));
}

/// The cell beside on the axis, `up` 0 or 1; -1: none.
static inline int32_t mn_codim_volume_beside(const mn_codim_volume *v, int32_t cell, int32_t axis, int32_t up)
{
    return v->grid.next.data[6 * (int64_t)cell + 2 * axis + up];
}

/// The face of the cell on the axis, `up` 0 or 1; -1: at the end of the grid.
static inline int64_t mn_codim_volume_face(const mn_codim_volume *v, int32_t cell, int32_t axis, int32_t up)
{
    const int32_t owner = up ? mn_codim_volume_beside(v, cell, axis, 1) : cell;
    return owner < 0 ? -1 : 3 * (int64_t)owner + axis;
}

/// The cell of a position; -1: outside of the grid.
int32_t mn_codim_volume_cell_at(const mn_codim_volume *volume, mn_vec3 x);

// ---- volume_transitions.c ----
/// What was lost becomes drops.
mn_status mn_codim_liquid_release(mn_codim *mls);
/// Points inside of volumes become particles of them.
mn_status mn_codim_liquid_absorb(mn_codim *mls);
// ---- volume_sheets.c ----
enum {
    MN_CODIM_VOLUME_SHEET = 2, ///< in `none`: skin of a sheet that is too thin for the grid
    MN_CODIM_VOLUME_BURIED = 3 ///< inside of the liquid
};
/// Sheets go over into `sheets`, with the particles between them.
mn_status mn_codim_volume_peel(mn_codim_volume *volume, int64_t *next_id);

/// What has left the box of the def goes.
void mn_codim_liquid_limit(mn_codim *mls);

// ---- step.c ----
mn_status mn_codim_volume_create(mn_context *ctx, mn_codim_volume **volume);
void mn_codim_volume_free(mn_codim_volume *volume);

/// Everything up to the solve: skin, grid, velocities on it. New points are numbered from *next_id on.
mn_status mn_codim_volume_prepare(mn_codim_volume *volume, const mn_codim_volume_settings *settings,
                                  int64_t *next_id);
/// How fast the ends of the skin's edges part, and how fast its fastest point is.
mn_status mn_codim_volume_speeds(const mn_codim_volume *volume, double *edge, double *fastest);
/// Tries a step; *stretch is the largest change of an edge of the skin, m.
mn_status mn_codim_volume_step(mn_codim_volume *volume, double dt, double *stretch);
/// Its parts: all up to the system, and what follows from `solution`.
mn_status mn_codim_volume_begin(mn_codim_volume *volume, double dt);
mn_status mn_codim_volume_end(mn_codim_volume *volume, double *stretch);
/// Takes the step that was tried; new points are numbered from *next_id on.
mn_status mn_codim_volume_commit(mn_codim_volume *volume, int64_t *next_id);

// ---- skin.c ----
/// Triangles, matrix and mesh of the skin as it is.
mn_status mn_codim_volume_skin_build(mn_codim_volume *volume);
/// Splits long edges and merges short ones where the step has brought them.
mn_status mn_codim_volume_skin_reseed(mn_codim_volume *volume, int64_t *next_id);

// ---- wetting.c ----
/// Points that touch a solid, before the triangles are known.
mn_status mn_codim_volume_find_wet(mn_codim_volume *volume);
/// Which of them stay, and what holds on the line where the skin leaves the solid.
mn_status mn_codim_volume_find_line(mn_codim_volume *volume);
/// Triangle i of p's fan lies on a solid.
bool mn_codim_volume_is_wet_triangle(const mn_codim_volume *volume, int64_t p, int32_t i);
/// Projects on the directions in which a point of the skin may move by itself.
mn_mat3 mn_codim_volume_freedom(const mn_codim_volume *volume, int64_t p);
/// Unit: which side of the skin is which; halfway between both at the line.
mn_vec3 mn_codim_volume_side(const mn_codim_volume *volume, int64_t p);
/// A velocity of a point of the skin, with that of the solid across it where it is wet.
mn_vec3 mn_codim_volume_along_wall(const mn_codim_volume *volume, int64_t p, mn_vec3 u);
/// Out of the solids, where they are at the end of the step; what is wet comes nearer.
mn_vec3 mn_codim_volume_keep_out(const mn_codim_volume *volume, mn_vec3 x, double dt, bool wet);
/// Not lower than a layer drains to, for the top of a layer on a solid: the rest is held by its viscosity.
mn_vec3 mn_codim_volume_keep_layer(const mn_codim_volume *volume, int64_t point, mn_vec3 x, double dt);

// ---- source.c ----
/// The skin of a region, appended. `inside` are positions in it, not farther apart than a few cells.
mn_status mn_codim_volume_skin_of_region(mn_codim_volume *volume, const mn_region *region, int64_t count,
                                         const mn_vec3 *inside, int64_t *next_id);
/// Unit normals of the vertices of an isosurface, out of the liquid.
mn_status mn_codim_volume_vertex_normals(mn_context *ctx, const mn_iso_mesh *mesh,
                                         mn_codim_vec3_array *normals);
/// The skin around particles, whose volumes it encloses, appended.
mn_status mn_codim_volume_skin_of_particles(mn_codim_volume *volume, int64_t *next_id);

// ---- inflow.c ----
/// INFINITY without a inflow.
double mn_codim_volume_inflow_distance(const mn_codim_volume *volume, mn_vec3 x);
/// Of what the nearest inflow pours.
mn_vec3 mn_codim_volume_inflow_velocity(const mn_codim_volume *volume, mn_vec3 x);
/// Before a step: the inflows' own skin, and at first their particles.
mn_status mn_codim_volume_inflow_open(mn_codim_volume *volume, int64_t *next_id);
/// After a step: what has come.
mn_status mn_codim_volume_inflow_pour(mn_codim_volume *volume, double dt, int64_t *next_id);
static inline bool mn_codim_volume_is_held(const mn_codim_skin_point *point)
{
    return point->id >= MN_CODIM_VOLUME_INFLOW_ID;
}

// ---- topology.c ----
/// Takes out and closes the skin where volumes join and part.
mn_status mn_codim_volume_join_and_part(mn_codim_volume *volume, int64_t *next_id);
/// Signed distance from the skin, at most 3 dx; smooth across its holes.
double mn_codim_volume_distance(const mn_codim_volume *volume, mn_vec3 x);

// ---- grid.c ----
mn_status mn_codim_volume_grid_build(mn_codim_volume *volume);
/// Whether there is liquid at x, or at its mirror image where that is in a solid.
bool mn_codim_volume_holds(const mn_codim_volume *volume, mn_vec3 x);

// ---- transfer.c ----
/// Velocities of faces from particles, and of those next to them from these.
mn_status mn_codim_volume_to_grid(mn_codim_volume *volume);
/// Fills `layers` of unknown faces from known ones.
mn_status mn_codim_volume_extend(mn_codim_volume *volume, int32_t layers);
/// Velocity of the grid, and its gradient (may be NULL), at a position.
mn_vec3 mn_codim_volume_velocity(const mn_codim_volume *volume, mn_vec3 x, mn_mat3 *gradient);
/// Velocities of particles from the grid.
mn_status mn_codim_volume_to_particles(mn_codim_volume *volume);
/// Moves the particles through the grid's velocities.
mn_status mn_codim_volume_carry(mn_codim_volume *volume, double dt);

// ---- viscosity.c ----
/// Speeds of faces after dt seconds of viscosity.
mn_status mn_codim_volume_diffuse(mn_codim_volume *volume, double dt);

// ---- crossings.c ----
/// Crossings of the skin with the lines between cell centres.
mn_status mn_codim_volume_cross(mn_codim_volume *volume);

// ---- volume_coupling.c ----
/// Pressure and skin together: the system and its right-hand side, `solution` (skin first), and what follows
/// from it: speeds of faces, pressures, and `change` of the skin's velocities.
mn_status mn_codim_volume_assemble(mn_codim_volume *volume, double dt);
mn_status mn_codim_volume_solve(mn_codim_volume *volume);
mn_status mn_codim_volume_take(mn_codim_volume *volume);
/// One more entry of the system while it is put together.
mn_status mn_codim_volume_add_entry(mn_codim_volume *volume, int64_t row, int64_t column, double value);
void mn_codim_volume_clear_entries(mn_codim_volume *volume);
/// The pressures that the particles remember, after zeros for the skin.
void mn_codim_volume_guess(const mn_codim_volume *volume, double *guess);

#endif
