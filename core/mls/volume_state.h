// SPDX-License-Identifier: Apache-2.0
//
// Volumes of liquid (codimension 0) beside the films: particles on a sparse MAC grid, and the skin.
//
//   - The skin is a closed cloud of points without mass, triangulated anew in each step like a film. It says
//     where the liquid is, and its area is the surface energy: one side, so sigma and not 2 sigma.
//   - Particles inside carry mass and momentum, and give the grid its velocities (volume_transfer.c).
//   - The grid knows from the skin which cells are liquid and where between two cell centres the surface runs
//     (volume_grid.c). There, at the crossings, grid and skin exchange impulses (volume_coupling.c):
//     pressure and surface tension are one linear system, eq. 24 of [wang2020] in its symmetric form.
//
// A cell is block * 64 + cell of the block set; the face 3 * cell + axis is the cell's lower one on the axis.
#ifndef MENISCUS_MLS_VOLUME_STATE_H
#define MENISCUS_MLS_VOLUME_STATE_H

#include "meniscus/collider.h"
#include "meniscus/isosurface.h"
#include "meniscus/sparse.h"
#include "meniscus/triangles.h"
#include "mls/mls_state.h"
#include "space/halving.h"

typedef MN_ARRAY(int32_t) volume_index_array;

/// What a step needs to know.
typedef struct volume_settings {
    double dx, spacing; ///< m, of the cells and of the skin's points
    double radius;      ///< m, around a crossing: the points of the skin that it exchanges impulses with
    double density, sigma, viscosity;
    double theta;         ///< 1/2 keeps the energy of waves, 1 the least
    double contact_angle; ///< degrees, where colliders have none painted on
    mn_vec3 gravity;
    const mn_collider *collider; ///< or NULL
    double before;               ///< s, from the start of the step to the end of the frame
    int64_t spring_count;        ///< where liquid comes from
    const mn_mls_spring *springs;
} volume_settings;

enum {
    VOLUME_ROW_MAX = 64,
    VOLUME_SPRING_ID = 1 << 30 ///< from here on, points of the skin that a spring holds
};

/// Where the skin crosses the line between the centre of a liquid cell and the next cell's.
typedef struct volume_crossing {
    int32_t face, unknown; ///< which pressure it belongs to
    int32_t axis, count;   ///< points of the skin around it
    int32_t loose; ///< 1: most of them are fixed, so that air begins here and not a skin that could yield
    double side;   ///< m^2, open area of the face, negative on a lower face
    double mass;   ///< kg, of the liquid from the cell's centre to the skin
    int32_t point[VOLUME_ROW_MAX];
    double weight[VOLUME_ROW_MAX]; ///< sum 1
} volume_crossing;

/// One entry of a row while a matrix is put together.
typedef struct volume_entry {
    double value;
    int32_t column;
} volume_entry;

/// Entries of a matrix in any order; equal ones are added.
typedef struct volume_entries {
    volume_index_array rows, columns;
    mls_double_array values;
} volume_entries;

/// The memory of a matrix (volume_matrix.c).
typedef struct volume_matrix {
    MN_ARRAY(int64_t) room, start; ///< of a row: before and after equal entries are added
    MN_ARRAY(volume_entry) entry;
    volume_index_array column;
    mls_double_array value;
} volume_matrix;

/// Incomplete factors N S N^T of a matrix (volume_factor.c), whose rows are sorted by parts.
typedef struct volume_factor {
    mn_context *ctx;
    int64_t negative;                ///< rows before this have the sign -1
    volume_index_array order, place; ///< the row at a place, and the place of a row
    volume_index_array part;         ///< of a site
    MN_ARRAY(mn_site) sites;         ///< while the parts are found
    volume_index_array part_start;   ///< places
    MN_ARRAY(int64_t) start;         ///< entries of N left of the diagonal, by places
    volume_index_array column;       ///< a place
    mls_double_array value, inverse; ///< of them, and of the diagonal
    mls_double_array rest;           ///< of a solve that symmetric QMR has not finished
    mls_double_array work, square;   ///< N^-1 r, and the sum of its squares in each part, by sign
} volume_factor;

typedef enum volume_face_kind { FACE_AIR, FACE_INNER, FACE_SKIN, FACE_CLOSED, FACE_SPRING } volume_face_kind;

/// A connected piece of liquid.
typedef struct volume_body {
    double volume, mass;          ///< m^3 enclosed by its skin, kg of its particles
    int64_t crossings, held, fed; ///< faces: where the skin crosses, that a solid closes, of a spring
    mn_vec3 momentum;             ///< before the step
    mn_vec3 angular;              ///< and angular momentum, about the origin
    mn_vec3 pull, turn;           ///< N s and N m s, of the films that end at it
} volume_body;

/// What a film gives to the particles around a place.
typedef struct volume_push {
    mn_vec3 at, impulse; ///< m, N s
} volume_push;

typedef MN_ARRAY(mn_mls_particle) volume_particle_array;
typedef MN_ARRAY(mn_mls_skin_point) volume_skin_array;

struct mls_volume {
    mn_context *ctx;
    volume_settings set;

    // the state
    volume_particle_array particles;
    volume_skin_array skin;
    mls_double_array poured; ///< m, that liquid from each spring has moved since the start

    // the skin in this step, one for each point
    film_surface surface;
    film_matrix matrix;
    mn_triangles *mesh;
    bool clean;            ///< no holes, and no parts of the skin that overlap
    bool overlaps;         ///< some do
    mls_vec3_array doubts; ///< where there are holes, parts that face each other, or points that have gone
    mls_vec3_array x0, x1, normals, u0, change, skin_mass;
    MN_ARRAY(int64_t) ids;
    MN_ARRAY(uint8_t) none;     ///< zeros, or marks
    MN_ARRAY(uint8_t) doubt;    ///< 1: another part of the skin faces it
    MN_ARRAY(uint8_t) fixed;    ///< 1: moves as the grid does or not at all: on a solid, or at the spring
    MN_ARRAY(uint8_t) wet;      ///< 1: on a solid; those of the line where the skin leaves it are not fixed
    mls_vec3_array outward;     ///< unit normals; at the line, of the free skin
    mls_vec3_array wall_normal; ///< unit, of the solid under wet points; zero elsewhere
    mls_vec3_array line_pull;   ///< m, of points on the line: times sigma, what the solid pulls with
    volume_index_array corners, skin_body; ///< triangles, three each; -1: of no body

    // the grid in this step
    mn_blocks *blocks;
    mn_block_table table;
    mn_point_sort *sort;
    mn_sorted_points sorted;
    int32_t cells;
    mls_vec3_array sites;
    volume_index_array next;     ///< [6 * cell + 2 * axis + up] the cell beside, -1: none
    mls_double_array phi, solid; ///< at cell centres; at the cells' lowest corners
    mls_double_array
        layer; ///< of a cell: part of the way from a solid to its centre that a layer is thick; 1: it is none
    volume_index_array unknown;      ///< which pressure the cell has; -1: air
    volume_index_array liquid, body; ///< the cell of a pressure, and its body
    MN_ARRAY(volume_body) bodies;
    mls_double_array open, wall; ///< of a face: open part, and speed of the solid that closes the rest
    mls_double_array speed, before, weight;
    mls_double_array strain, face_mass, face_right, face_speed; ///< of the viscous solve
    MN_ARRAY(uint8_t) kind, known, newly;

    // the coupling
    MN_ARRAY(volume_crossing) crossings;
    MN_ARRAY(int64_t) cell_start;
    mls_double_array component, right, solution;
    mls_double_array pressure; ///< Pa, of the step
    volume_entries entries;    ///< of the system before they are sorted
    mn_sparse system;          ///< in `own`
    mn_sparse joint;           ///< about the system with the films that end here, in `with_films`
    volume_matrix own, with_films;
    volume_factor factor; ///< of one of both
    mn_krylov *krylov;
    double dt, strength; ///< of the solve that runs: time step, and dt^2 theta^2 sigma
    int64_t iterations;
    MN_ARRAY(volume_push) pushes; ///< of the films that end here

    volume_index_array stack;
    volume_particle_array spare;
    mls_point_array lost;   ///< what the grid does not hold any more: drops for the films to take
    mls_point_array sheets; ///< and film
    volume_particle_array particle_backup;
    volume_skin_array skin_backup, template; ///< template: the springs' own skin
    mls_double_array poured_backup;
    mls_double_array spring_share; ///< of a lattice cell's mass, that a particle of each spring has; measured
                                   ///< in each frame
};

static inline double volume_part(mn_vec3 v, int32_t axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static inline mn_vec3 volume_along(int32_t axis, double length)
{
    return mn_v3(axis == 0 ? length : 0, axis == 1 ? length : 0, axis == 2 ? length : 0);
}

static inline mn_vec3 volume_cell_center(const mls_volume *v, int32_t cell)
{
    const double h = 0.5 * v->set.dx;
    return mn_add(mn_block_node_position(&v->table, cell / MN_BLOCK_CELLS, cell % MN_BLOCK_CELLS),
                  mn_v3(h, h, h));
}

/// The cell beside on the axis, `up` 0 or 1; -1: none.
static inline int32_t volume_beside(const mls_volume *v, int32_t cell, int32_t axis, int32_t up)
{
    return v->next.data[6 * (int64_t)cell + 2 * axis + up];
}

/// The face of the cell on the axis, `up` 0 or 1; -1: at the end of the grid.
static inline int64_t volume_face(const mls_volume *v, int32_t cell, int32_t axis, int32_t up)
{
    const int32_t owner = up ? volume_beside(v, cell, axis, 1) : cell;
    return owner < 0 ? -1 : 3 * (int64_t)owner + axis;
}

/// The cell of a position; -1: outside of the grid.
int32_t volume_cell_at(const mls_volume *volume, mn_vec3 x);

// ---- volume_transitions.c ----
/// What was lost becomes drops.
mn_status mls_liquid_release(mn_mls *mls);
/// Points inside of volumes become particles of them.
mn_status mls_liquid_absorb(mn_mls *mls);
// ---- volume_sheets.c ----
enum {
    VOLUME_SHEET = 2, ///< in `none`: skin of a sheet that is too thin for the grid
    VOLUME_BURIED = 3 ///< inside of the liquid
};
/// Sheets go over into `sheets`, with the particles between them.
mn_status volume_peel(mls_volume *volume, int64_t *next_id);

/// What has left the box of the def goes.
void mls_liquid_limit(mn_mls *mls);

// ---- volume_step.c ----
mn_status volume_create(mn_context *ctx, mls_volume **volume);
void volume_free(mls_volume *volume);

/// Everything up to the solve: skin, grid, velocities on it. New points are numbered from *next_id on.
mn_status volume_prepare(mls_volume *volume, const volume_settings *settings, int64_t *next_id);
/// How fast the ends of the skin's edges part, and how fast its fastest point is.
mn_status volume_speeds(const mls_volume *volume, double *edge, double *fastest);
/// Tries a step; *stretch is the largest change of an edge of the skin, m.
mn_status volume_step(mls_volume *volume, double dt, double *stretch);
/// Its parts: all up to the system, and what follows from `solution`.
mn_status volume_begin(mls_volume *volume, double dt);
mn_status volume_end(mls_volume *volume, double *stretch);
/// Takes the step that was tried; new points are numbered from *next_id on.
mn_status volume_commit(mls_volume *volume, int64_t *next_id);

// ---- volume_skin.c ----
/// Triangles, matrix and mesh of the skin as it is.
mn_status volume_skin_build(mls_volume *volume);
/// Splits long edges and merges short ones where the step has brought them.
mn_status volume_skin_reseed(mls_volume *volume, int64_t *next_id);

// ---- volume_wetting.c ----
/// Points that touch a solid, before the triangles are known.
mn_status volume_find_wet(mls_volume *volume);
/// Which of them stay, and what holds on the line where the skin leaves the solid.
mn_status volume_find_line(mls_volume *volume);
/// Triangle i of p's fan lies on a solid.
bool volume_is_wet_triangle(const mls_volume *volume, int64_t p, int32_t i);
/// Projects on the directions in which a point of the skin may move by itself.
mn_mat3 volume_freedom(const mls_volume *volume, int64_t p);
/// Unit: which side of the skin is which; halfway between both at the line.
mn_vec3 volume_side(const mls_volume *volume, int64_t p);
/// A velocity of a point of the skin, with that of the solid across it where it is wet.
mn_vec3 volume_along_wall(const mls_volume *volume, int64_t p, mn_vec3 u);
/// Out of the solids, where they are at the end of the step; what is wet comes nearer.
mn_vec3 volume_keep_out(const mls_volume *volume, mn_vec3 x, double dt, bool wet);
/// Not lower than a layer drains to, for the top of a layer on a solid: the rest is held by its viscosity.
mn_vec3 volume_keep_layer(const mls_volume *volume, int64_t point, mn_vec3 x, double dt);

// ---- volume_source.c ----
/// The skin of a region, appended. `inside` are positions in it, not farther apart than a few cells.
mn_status volume_skin_of_region(mls_volume *volume, const mn_region *region, int64_t count,
                                const mn_vec3 *inside, int64_t *next_id);
/// Unit normals of the vertices of an isosurface, out of the liquid.
mn_status volume_vertex_normals(mn_context *ctx, const mn_iso_mesh *mesh, mls_vec3_array *normals);
/// The skin around particles, whose volumes it encloses, appended.
mn_status volume_skin_of_particles(mls_volume *volume, int64_t *next_id);

// ---- volume_spring.c ----
/// INFINITY without a spring.
double volume_spring_distance(const mls_volume *volume, mn_vec3 x);
/// Of what the nearest spring pours.
mn_vec3 volume_spring_velocity(const mls_volume *volume, mn_vec3 x);
/// Before a step: the springs' own skin, and at first their particles.
mn_status volume_spring_open(mls_volume *volume, int64_t *next_id);
/// After a step: what has come.
mn_status volume_spring_pour(mls_volume *volume, double dt, int64_t *next_id);
static inline bool volume_is_held(const mn_mls_skin_point *point)
{
    return point->id >= VOLUME_SPRING_ID;
}

// ---- volume_mend.c ----
/// Takes out and closes the skin where volumes join and part.
mn_status volume_mend(mls_volume *volume, int64_t *next_id);
/// Signed distance from the skin, at most 3 dx; smooth across its holes.
double volume_distance(const mls_volume *volume, mn_vec3 x);

// ---- volume_grid.c ----
mn_status volume_grid_build(mls_volume *volume);
/// Whether there is liquid at x, or at its mirror image where that is in a solid.
bool volume_holds(const mls_volume *volume, mn_vec3 x);

// ---- volume_transfer.c ----
/// Velocities of faces from particles, and of those next to them from these.
mn_status volume_to_grid(mls_volume *volume);
/// Fills `layers` of unknown faces from known ones.
mn_status volume_extend(mls_volume *volume, int32_t layers);
/// Velocity of the grid, and its gradient (may be NULL), at a position.
mn_vec3 volume_velocity(const mls_volume *volume, mn_vec3 x, mn_mat3 *gradient);
/// Velocities of particles from the grid.
mn_status volume_to_particles(mls_volume *volume);
/// Moves the particles through the grid's velocities.
mn_status volume_carry(mls_volume *volume, double dt);

// ---- volume_viscosity.c ----
/// Speeds of faces after dt seconds of viscosity.
mn_status volume_diffuse(mls_volume *volume, double dt);

// ---- volume_crossings.c ----
/// Crossings of the skin with the lines between cell centres.
mn_status volume_cross(mls_volume *volume);

// ---- volume_matrix.c ----
/// The sum of the entries as a square matrix; `result` lives in `matrix` until the next time.
mn_status volume_matrix_build(mn_context *ctx, int32_t size, const volume_entries *list,
                              volume_matrix *matrix, mn_sparse *result);
void volume_matrix_free(mn_context *ctx, volume_matrix *matrix);

// ---- volume_factor.c ----
/// `matrix` is symmetric with its whole pattern; its first `negative` rows are the negative ones. `at`: where
/// the unknowns are, one for each three of those and one for each of the others; NULL: all in one part.
mn_status volume_factor_build(mn_context *ctx, const mn_sparse *matrix, int64_t negative, const mn_vec3 *at,
                              volume_factor *factor);
void volume_factor_free(mn_context *ctx, volume_factor *factor);
/// An mn_split_fn: z = (N S N^T)^-1 r.
mn_status volume_factor_split(void *factor, const double *r, double *z, double square[2]);
/// An mn_apply_fn: z = (N N^T)^-1 r, positive definite.
mn_status volume_factor_apply(void *factor, const double *r, double *z);
/// Solves A x = b from x, A as `problem` applies it (its own preconditioner is not used), to the tolerance
/// times |N^-1 b|: by symmetric QMR, and where that breaks down or lingers, by MINRES. b may change.
mn_status volume_factor_solve(volume_factor *factor, mn_krylov *krylov, const mn_linear_problem *problem,
                              const mn_krylov_def *def, double *b, double *x, mn_krylov_result *result);

// ---- volume_parts.c ----
/// The part of each site, from 0 to 2^times - 1. `scratch` holds `count` sites.
void volume_parts_find(int64_t count, const mn_vec3 *at, int32_t times, mn_site *scratch, int32_t *part);

// ---- volume_coupling.c ----
/// Pressure and skin together: the system and its right-hand side, `solution` (skin first), and what follows
/// from it: speeds of faces, pressures, and `change` of the skin's velocities.
mn_status volume_assemble(mls_volume *volume, double dt);
mn_status volume_solve(mls_volume *volume);
mn_status volume_take(mls_volume *volume);
/// One more entry of the system while it is put together.
mn_status volume_add_entry(mls_volume *volume, int64_t row, int64_t column, double value);
void volume_clear_entries(mls_volume *volume);
/// The pressures that the particles remember, after zeros for the skin.
void volume_guess(const mls_volume *volume, double *guess);

#endif
