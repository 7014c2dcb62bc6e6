// SPDX-License-Identifier: Apache-2.0
//
// What a film solver is made of.
#ifndef MENISCUS_CODIM_STATE_H
#define MENISCUS_CODIM_STATE_H

#include "base/elementary.h"
#include "codim/film/surface.h"
#include "codim/thread/graph.h"
#include "linear/krylov.h"
#include "linear/triplets.h"
#include "meniscus/codim.h"
#include "sources/inlet_curve.h"

typedef MN_ARRAY(mn_codim_point) mn_codim_point_array;
typedef MN_ARRAY(mn_vec3) mn_codim_vec3_array;
typedef mn_triplets_numbers mn_codim_double_array;

/// Gas in a closed film: pressure times volume stays what it is.
typedef struct mn_codim_pocket {
    double amount;   ///< J, pressure times volume
    double pressure; ///< Pa, when it was last looked at
    int64_t lid;     ///< 1: a ring with a lid closes it
} mn_codim_pocket;
typedef MN_ARRAY(mn_codim_pocket) mn_codim_pocket_array;

/// How far an inlet has got with the row of points that it is making.
typedef struct mn_codim_feed {
    double phase;         ///< in [0, 1]: where the row is between its birth and the outlet
    double speed;         ///< m/s, of the row; 0: there is none
    int64_t rows;         ///< born so far
    mn_vec3 center, axis; ///< m, of its curve, and across it; no axis without area
    mn_vec3 motion;       ///< m/s, of its curve in this frame
} mn_codim_feed;
typedef MN_ARRAY(mn_codim_feed) mn_codim_feed_array;

typedef struct mn_codim_edge {
    double length2;
    int32_t p, q;
} mn_codim_edge;

/// Symmetric weights k_pq >= or < 0 of the cotangent matrix, (K x)_p = sum_q k_pq (x_p - x_q), by rows.
typedef struct mn_codim_film_matrix {
    MN_ARRAY(int64_t) start;
    MN_ARRAY(int32_t) column;
    mn_codim_double_array weight, diagonal;
} mn_codim_film_matrix;

enum { MN_CODIM_APART, MN_CODIM_NEAR, MN_CODIM_TOUCHES, MN_CODIM_PIERCED };

/// Solids in a step, see solids.c; one of each for each point.
typedef struct mn_codim_solids {
    const mn_collider *collider; ///< NULL: there are none
    double before;               ///< s, from the start of the step to the end of the frame
    MN_ARRAY(uint8_t) touches;   ///< MLS_*
    MN_ARRAY(mn_contact) contacts;
    mn_codim_double_array removed; ///< m/s, along the normal, at the start of the step
    mn_codim_double_array impulse; ///< N s, of the solid on the point
    mn_codim_vec3_array load;      ///< N s, what pulled at it
    mn_codim_vec3_array right;     ///< a right-hand side along the solids
} mn_codim_solids;

enum { MN_CODIM_HOLD_MAX = 32 };

/// A point of a film or thread that moves with the skin of a volume, see film_attach.c.
typedef struct mn_codim_hold {
    int32_t point, body; ///< of the films, of the volumes
    int32_t count;
    int32_t skin[MN_CODIM_HOLD_MAX];
    double weight[MN_CODIM_HOLD_MAX]; ///< sum 1
    int32_t nearest;                  ///< of the skin
    double gap;                       ///< m, to where it comes to, of an edge or end
    mn_vec3 jump; ///< m/s, that the skin is faster at the start of the step, and what brings it nearer
} mn_codim_hold;

typedef struct mn_codim_holds {
    MN_ARRAY(mn_codim_hold) list;
    MN_ARRAY(int32_t) of; ///< of each point; -1: no volume holds it
    // scratch of a step
    mn_codim_vec3_array full, pull; ///< all velocities; right-hand side of the films with all that acts
    mn_codim_double_array right, solution, guess, scratch;
    double mass; ///< kg, of the liquid that moves with each of them
    bool factored;
} mn_codim_holds;

/// Points of two films, one above the other.
typedef struct mn_codim_meeting {
    int32_t p, q;
    mn_vec3 normal; ///< unit, from p to q
    double gap;     ///< m, along it
} mn_codim_meeting;

/// What drops that become one have in all, see drop_joining.c.
typedef struct mn_codim_drop_sum {
    double mass;
    mn_vec3 momentum, moment;
    int32_t heaviest, members;
} mn_codim_drop_sum;

/// Scratch of that; one of each for each drop.
typedef struct mn_codim_drops {
    mn_neighbours *near;
    MN_ARRAY(int32_t) point, parent;
    mn_codim_vec3_array position;
    mn_codim_double_array reach; ///< m, twice its radius
    MN_ARRAY(mn_codim_drop_sum) sum;
} mn_codim_drops;

/// A point of a rim that may run into another one, see rim_collision.c.
typedef struct mn_codim_rim_site {
    mn_vec3 outward;
    double radius;   ///< m, of its round section
    int32_t partner; ///< the point across; -1: none
    int32_t point;
} mn_codim_rim_site;
typedef MN_ARRAY(mn_codim_rim_site) mn_codim_rim_array;

typedef struct mn_codim_volume mn_codim_volume;

/// Scratch of codim/film/gas.c.
typedef struct mn_codim_gas {
    MN_ARRAY(int32_t) component; ///< the lowest point of the closed film that a point belongs to; -1: none
    MN_ARRAY(int32_t) pocket_of; ///< of the lowest point of a closed film: which pocket it is
    mn_codim_pocket_array new_pockets;
    mn_codim_double_array volumes;    ///< coefficients of each pocket's volume
    mn_codim_double_array part, ease; ///< of each pocket
    MN_ARRAY(uint8_t) known;
} mn_codim_gas;

/// Scratch of what adds, takes and changes points: film/reseed.c, thread/reseed.c, rim_collision.c,
/// transitions.c.
typedef struct mn_codim_reseeding {
    MN_ARRAY(uint8_t) touched; ///< of each point, 1: it has taken part in a change
    MN_ARRAY(mn_codim_edge) edges;
    MN_ARRAY(int32_t) patch;
    mn_codim_rim_array rims; ///< one for each point of a rim
    mn_neighbours *moved;    ///< the points where the step has brought them
} mn_codim_reseeding;

/// The state before an advance.
typedef struct mn_codim_backup {
    mn_codim_point_array points;
    mn_codim_pocket_array pockets;
    mn_codim_feed_array feeds;
} mn_codim_backup;

/// Which rows of the view an output shows, and the corners between them; view.c.
typedef struct mn_codim_shown_rows {
    MN_ARRAY(int32_t) points, corners, place;
} mn_codim_shown_rows;

/// How a shown point lies; curvature.c.
typedef struct mn_codim_bend {
    mn_vec3 normal;
    double curvature; ///< 1/m
} mn_codim_bend;

typedef struct mn_codim_bends {
    struct mn_codim_cloud_fit *fit;
    MN_ARRAY(int32_t) row; ///< that each point of the cloud is
    MN_ARRAY(mn_vec3) position, normal;
    MN_ARRAY(uint8_t) codim;
    MN_ARRAY(mn_codim_bend) shown; ///< of points, then of the skin
} mn_codim_bends;

/// What stays the same through an advance, and the step that is being tried.
typedef struct mn_codim_frame {
    mn_codim_inputs inputs;
    bool idle; ///< there is nothing to move
    bool backed_up;
    double row;             ///< s, that a row of points of the jets takes; INFINITY: there are none
    double done, remaining; ///< s, of the advance, up to the step and from it on
    double asked;           ///< s, of the step
    double time;            ///< s, of the solver when it was backed up
    int64_t next_id;
} mn_codim_frame;

struct mn_codim {
    mn_solver solver;
    mn_codim_def def;
    double spacing; ///< m: that of the def, which may leave it out later
    double density; ///< kg/m^3, that the masses were made with; 0: there are none yet

    // the state
    mn_codim_point_array points;
    mn_codim_pocket_array pockets;
    mn_codim_feed_array feeds;
    int64_t next_id;
    mn_codim_volume *liquid; ///< or NULL: there has been no volume of it

    // what follows from it
    mn_codim_film_surface surface;
    mn_codim_thread_graph threads; ///< of the points as they are, like the surface
    bool surface_is_fresh;         ///< it is that of the points as they are
    mn_codim_double_array thickness, pressure;
    MN_ARRAY(int32_t) triangles; ///< three each
    MN_ARRAY(int32_t) links;     ///< two each

    // scratch of a step, one for each point unless said otherwise
    mn_codim_vec3_array x0, v0, normals, right, solution, swell, gradient, x1, wind;
    MN_ARRAY(int64_t) ids;
    MN_ARRAY(uint8_t) skip, pinned, use, sheet;
    mn_codim_double_array mass, drag, volume, diagonal;
    mn_codim_film_matrix matrix;
    mn_krylov *krylov;
    inlet_room arc; ///< of the curve of an inlet: lengths and flows up to each of its points
    mn_codim_gas gas;
    mn_codim_reseeding reseed;

    mn_codim_solids solids;
    mn_codim_holds holds;
    mn_codim_drops drops;
    MN_ARRAY(mn_codim_meeting) meetings;

    double pump; ///< J, that the step tried last blows into each pocket with a lid

    mn_codim_frame frame;
    mn_codim_backup before; ///< the advance: what a failure goes back to
    mn_codim_view shown;
    mn_codim_shown_rows rows;
    mn_codim_bends bends;
};

/// Moves as it is told: by its source, or by the jet that it leaves.
static inline bool mn_codim_is_held(const mn_codim_point *point)
{
    return point->anchor != MN_CODIM_FREE;
}

// ---- advance.c, report.c, view.c: the functions of mn_codim_solver ----
mn_status mn_codim_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                         mn_step_plan *plan);
mn_status mn_codim_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_codim_prepare(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_codim_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict);
mn_status mn_codim_take(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_codim_end(mn_solver *solver, const mn_solver_inputs *inputs);
void mn_codim_abandon(mn_solver *solver);
void mn_codim_report_sums(const mn_solver *solver, mn_report *report);
void mn_codim_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books);
mn_status mn_codim_show_output(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output,
                               mn_view *view);

/// Lays the triangles through the points as they are, when that has not been done yet.
mn_status mn_codim_refresh(mn_codim *mls);
/// Lists the triangles and pressures for the view.
mn_status mn_codim_show(mn_codim *mls);
/// Fills `bends.shown` for what `shown` holds.
mn_status mn_codim_find_curvature(mn_codim *mls);
void mn_codim_bends_free(mn_context *ctx, mn_codim_bends *bends);

// ---- codim/film/matrix.c ----
/// Triangles with three wet corners (or NULL: none has) are counted as edges, but have no weight.
mn_status mn_codim_film_matrix_build(mn_context *ctx, const mn_codim_film_surface *surface, const mn_vec3 *x,
                                     const uint8_t *wet, mn_codim_film_matrix *matrix);
void mn_codim_film_matrix_free(mn_context *ctx, mn_codim_film_matrix *matrix);
/// sum_q k_pq (x_p - x_q)
mn_vec3 mn_codim_film_matrix_row(const mn_codim_film_matrix *matrix, const mn_vec3 *x, int64_t p);

// ---- codim/film/projection.c ----
/// Where the film is at the fraction t from p to q; false, and `position` as it was: too few are around them.
bool mn_codim_project_between(const mn_codim *mls, int32_t p, int32_t q, double t, mn_vec3 *position);

// ---- codim/film/step.c: one time step; *stretch is the largest change of an edge's vector, in spacings ----
mn_status mn_codim_step(mn_codim *mls, double dt, double *stretch);
/// Takes the step that was tried.
void mn_codim_commit(mn_codim *mls);

// ---- codim/thread/step.c: what threads add to a step; nothing without them ----
bool mn_codim_has_threads(const mn_codim *mls);
/// The matrix, about its diagonal, the right-hand side, and what the second pass adds to it at positions x.
void mn_codim_threads_apply(mn_codim *mls, double dt, double theta, const mn_vec3 *u, mn_vec3 *out);
void mn_codim_threads_diagonal(mn_codim *mls, double dt, double theta, double *diagonal);
void mn_codim_threads_right(mn_codim *mls, double dt, double theta, mn_vec3 *right);
mn_status mn_codim_threads_correct(mn_codim *mls, double dt, const mn_vec3 *x, mn_vec3 *right);
/// The largest change of a link's vector; of the vector itself without `from`.
double mn_codim_threads_stretch(const mn_codim *mls, const mn_vec3 *moved_to, const mn_vec3 *from);

// ---- codim/film/gas.c ----
/// Which closed film each point belongs to, and the gas in it.
mn_status mn_codim_find_pockets(mn_codim *mls);
/// area vectors: d(volume)/dx of the closed films at positions x; zero elsewhere
mn_status mn_codim_volume_gradient(mn_codim *mls, const mn_vec3 *x, mn_vec3 *gradient);
/// Where volumes are asked for: x = from + part (to - from) + t along, `part` for each pocket.
typedef struct mn_codim_line {
    const mn_vec3 *from, *to;
    const double *part;   ///< NULL: 0
    const mn_vec3 *along; ///< or NULL
} mn_codim_line;
/// The pressures (into pockets) for which Boyle's law holds on the line at t = part factor (p - p0).
mn_status mn_codim_solve_pressures(mn_codim *mls, const mn_codim_line *line, double factor);
/// Whether each pocket's breathing is too fast for a step: `part` from 1/2 to 1. mls->right holds the
/// gradient of the volumes.
mn_status mn_codim_breathing(mn_codim *mls, double dt);
/// Takes fast breathing out of the velocities after a step.
mn_status mn_codim_calm_breathing(mn_codim *mls, double dt);

// ---- solids.c ----
/// Which points touch a solid at the start of a step, `before` seconds before the frame ends; their v0 goes
/// along with it.
mn_status mn_codim_find_contacts(mn_codim *mls, const mn_codim_inputs *inputs, double before);
/// The longest step in which nothing passes through a solid.
double mn_codim_solids_step(const mn_codim *mls);
/// Film that is free to break.
bool mn_codim_may_tear(const mn_codim *mls, int64_t p);
/// Leaves what is along the solid that a point touches.
void mn_codim_slide(const mn_codim *mls, mn_vec3 *u);
/// Adhesion of points that are near.
void mn_codim_draw_near(mn_codim *mls, double dt, mn_vec3 *right);
/// Lets go of points that would have to be pulled too hard: `load` pulled at them, A d = `applied`.
void mn_codim_judge_contacts(mn_codim *mls, double dt, const mn_vec3 *load, const mn_vec3 *applied,
                             bool *released);
/// Friction, and what has come to lie inside: after x1 and the solution are known.
mn_status mn_codim_settle(mn_codim *mls, double dt);
void mn_codim_solids_free(mn_codim *mls);

// ---- film_attach.c: films and threads that end at volumes ----
/// Which points are held in this step; after the volumes are prepared.
mn_status mn_codim_find_holds(mn_codim *mls);
static inline bool mn_codim_has_holds(const mn_codim *mls)
{
    return mls->holds.list.count > 0;
}
/// True when the point p of the step moves with a volume.
static inline bool mn_codim_is_attached(const mn_codim *mls, int64_t p)
{
    return p < mls->holds.of.count && mls->holds.of.data[p] >= 0;
}
/// Before the solves of a step: the volume's part of the system.
mn_status mn_codim_begin_holds(mn_codim *mls, double dt);
/// A1 d = right together with the volumes; `alone`: what a pull does by itself, without all that acts on
/// them.
/// `stiff`: dt^2 theta^2 2 sigma.
mn_status mn_codim_solve_held(mn_codim *mls, const mn_linear_problem *film, double stiff,
                              const mn_vec3 *right, bool alone, mn_vec3 *solution);
/// The preconditioner of that (film_factor.c), with the inverse of the diagonal of A1.
mn_status mn_codim_factor_held(mn_codim *mls, double stiff, const mn_vec3 *inverse);
/// What is held has the skin's velocity at the start of the step, not its own: x1 += factor (W u* - v0).
void mn_codim_move_held(mn_codim *mls, double factor);
/// Hands on to the volumes what pulls at their films, A1 d = `applied`; *sum, N s: all of it.
mn_status mn_codim_pull_bodies(mn_codim *mls, const mn_vec3 *applied, const mn_vec3 *right, mn_vec3 *sum);
void mn_codim_holds_free(mn_codim *mls);

// ---- codim/film/contact.c ----
/// Changes x1 and the solution so that films do not pass through each other.
mn_status mn_codim_keep_films_apart(mn_codim *mls, double dt);

// ---- codim/film/thickness_diffusion.c ----
/// Evens out the thickness around points that were split or merged lately.
mn_status mn_codim_level_thickness(mn_codim *mls);

// ---- codim/film/inlet.c ----
/// Which inlets flow in this frame of `frame` seconds; rows of those that do not are let go.
mn_status mn_codim_open_inlets(mn_codim *mls, const mn_codim_inputs *inputs, double frame);
/// The longest step in which no inlet makes more than one row; INFINITY when none flows.
double mn_codim_inlet_step(const mn_codim *mls);
/// What comes out of the inlets in dt seconds, `rest` before the end of the frame.
mn_status mn_codim_feed_film(mn_codim *mls, const mn_codim_inputs *inputs, double dt, double rest);
/// A row that is being born has part of its mass only: it is as thick as the film that it feeds.
void mn_codim_born_thickness(mn_codim *mls);

// ---- codim/film/rim.c ----
/// True when free edges pull otherwise than the film does.
bool mn_codim_has_rim_tension(const mn_codim *mls);
/// N, the difference at a point.
mn_vec3 mn_codim_rim_pull(const mn_codim *mls, int64_t p);
/// Where the rim at p looks, away from the film and along it, and the length of it that is p's; zero without
/// one.
mn_vec3 mn_codim_rim_outward(const mn_codim *mls, int32_t p, double *length);
/// The rim at p as a round jet: its length and radius; false when p is not on a rim that is free to move.
bool mn_codim_rim_jet(const mn_codim *mls, int32_t p, double *length, double *radius);
/// Evens out the mass along such rims.
mn_status mn_codim_level_rims(mn_codim *mls);
/// Lets drops leave rims that have become too thick.
mn_status mn_codim_shed_rims(mn_codim *mls);

// ---- rim_collision.c ----
/// Rims that run into each other open into film across; a part of mn_codim_reseed.
mn_status mn_codim_collide_rims(mn_codim *mls);

// ---- codim/film/reseed.c ----
/// Splits long edges, merges short ones, tears thin film, and lets points change their codimension.
mn_status mn_codim_reseed(mn_codim *mls);

/// Orders mls_edges by their length, for qsort().
int mn_codim_by_length(const void *first, const void *second);

// ---- transitions.c, codim/thread/reseed.c: parts of it ----
/// Points whose surroundings have become those of another codimension.
mn_status mn_codim_transitions(mn_codim *mls);
/// Drops that touch become one (drop_joining.c).
mn_status mn_codim_join_drops(mn_codim *mls);
void mn_codim_drops_free(mn_codim *mls);
/// Necks of threads break, short links become points, long ones get some.
mn_status mn_codim_reseed_threads(mn_codim *mls);

// ---- codim/thread/inflow.c ----
/// What comes out of spouts in dt seconds.
mn_status mn_codim_pour(mn_codim *mls, const mn_codim_inputs *inputs, double dt);

enum { MN_CODIM_UNREST = 20 }; ///< steps

static inline bool mn_codim_is_dead(const mn_codim_point *point)
{
    return !(point->mass > 0);
}

/// Mass with its momentum; the place moves with the mass. What is held stays where it is and moves as it is
/// moved.
static inline void mn_codim_give(mn_codim_point *to, const mn_codim_point *from, double mass)
{
    const double total = to->mass + mass;
    if (!mn_codim_is_held(to)) {
        to->velocity = mn_lerp(to->velocity, from->velocity, mass / total);
        to->position = mn_lerp(to->position, from->position, mass / total);
    }
    to->mass = total;
}

/// Gives all that a point has, and ends it.
static inline void mn_codim_give_all(mn_codim_point *to, mn_codim_point *from)
{
    mn_codim_give(to, from, from->mass);
    from->mass = 0;
}

/// Of a set in a forest of sets; shortens the way there.
static inline int32_t mn_codim_find_root(int32_t *parent, int32_t n)
{
    while (parent[n] != n) n = parent[n] = parent[parent[n]];
    return n;
}

/// m, of a ball.
static inline double mn_codim_ball_radius(double volume)
{
    return mn_cbrt(volume * 0.238732414637843); // 3 / (4 pi)
}

// ---- advance.c ----
/// Brings the masses to the density of the def; volumes and velocities stay.
void mn_codim_follow_density(mn_codim *mls);

// ---- volume_solver.c: volumes as the solver sees them; without any, nothing is done ----
/// m, of the cells.
double mn_codim_cell_size(const mn_codim_def *def);
mn_status mn_codim_require_liquid(mn_codim *mls);
/// Multiplies the mass of every particle.
void mn_codim_liquid_scale_mass(mn_codim *mls, double ratio);
/// Films that are thick for the grid become volumes; before a step.
mn_status mn_codim_thick_films(mn_codim *mls);
/// Whether a particle of that mass is no larger than a few cells: others would need grids beyond any memory.
bool mn_codim_fits_cells(const mn_codim *mls, double mass);
bool mn_codim_has_liquid(const mn_codim *mls, const mn_codim_inputs *inputs);
/// Before a step; *longest becomes shorter when the liquid asks for it.
mn_status mn_codim_liquid_prepare(mn_codim *mls, const mn_codim_inputs *inputs, double remaining,
                                  double *longest);
/// Tries a step; *stretch, in spacings, becomes larger when the skin stretches more.
mn_status mn_codim_liquid_step(mn_codim *mls, double dt, double *stretch);
mn_status mn_codim_liquid_commit(mn_codim *mls);
/// The skin's triangles for the view.
mn_status mn_codim_liquid_show(mn_codim *mls);
mn_status mn_codim_liquid_backup(mn_codim *mls);
/// At the start of an advance.
void mn_codim_liquid_begin(mn_codim *mls);
void mn_codim_liquid_restore(mn_codim *mls);
void mn_codim_liquid_free(mn_codim *mls);
mn_status mn_codim_liquid_save(const mn_codim *mls, mn_writer *out);
mn_status mn_codim_liquid_load(mn_codim *mls, mn_reader *in);
void mn_codim_liquid_view(const mn_codim *mls, mn_codim_view *view);

#endif
