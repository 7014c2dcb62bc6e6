// SPDX-License-Identifier: Apache-2.0
//
// What a film solver holds, and the parts of its step.
#ifndef MENISCUS_FILM_FILM_STATE_H
#define MENISCUS_FILM_FILM_STATE_H

#include "film/bulk.h"
#include "film/events.h"

#include "base/parallel.h"
#include "linear/krylov.h"
#include "linear/surface_multigrid.h"
#include "meniscus/film.h"
#include "mesh/box_grid.h"
#include "sources/inlet_curve.h"
#include "tetmesh/mouth.h"

enum { MN_FILM_GRAIN = 2048 };

/// A region of gas. Region 0 is the air around: it has no amount and takes any.
typedef struct mn_film_pocket {
    double amount; ///< Pa m^3: pressure times volume
    double volume; ///< m^3
    double excess; ///< Pa above the ambient
    double target; ///< m^3, to settle at; 0: the volume it has
} mn_film_pocket;

/// What one triangle is for the solve.
typedef struct mn_film_element {
    mn_vec3 normal;      ///< unit
    mn_vec3 slope[3];    ///< d(area)/dx of each corner
    double cotangent[3]; ///< half of it, times the tension: weight of the edge opposite to each corner
    double area;
} mn_film_element;

/// dV/dx of a pocket at a vertex.
typedef struct mn_film_face {
    int32_t vertex, region;
    mn_vec3 gradient;
} mn_film_face;

/// The discrete operators of the mesh as it is, rebuilt when it changes.
typedef struct mn_film_system {
    int64_t vertex_count, triangle_count;
    MN_ARRAY(int64_t) star_start; ///< [vertices + 1]
    MN_ARRAY(int32_t) star;       ///< corners of each vertex, rising
    MN_ARRAY(int64_t) row_start;  ///< [vertices + 1]
    MN_ARRAY(int32_t) column;
    MN_ARRAY(double) weight;   ///< -K, off the diagonal
    MN_ARRAY(int32_t) slot;    ///< [6 triangles] where the two neighbours of a corner are in its row
    MN_ARRAY(double) diagonal; ///< of K
    MN_ARRAY(mn_film_element) elements;
    MN_ARRAY(double) area;        ///< a third of the ring
    MN_ARRAY(mn_vec3) normal;     ///< area-weighted, not unit; zero where films meet
    MN_ARRAY(int64_t) face_start; ///< [vertices + 1] of faces by vertex
    MN_ARRAY(mn_film_face) faces;
    MN_ARRAY(int64_t) pocket_start;             ///< [pockets + 1]
    MN_ARRAY(int32_t) pocket_face;              ///< faces by pocket
    MN_ARRAY(mn_complex_wire) rims;             ///< free edges of films that nothing holds
    MN_ARRAY(mn_complex_wire) borders;          ///< edges with more than two films
    MN_ARRAY(int32_t) border_at, border_parent; ///< scratch of sizes.c
    MN_ARRAY(double) border_length;             ///< the same
    MN_ARRAY(mn_vec3) turn;        ///< by entry of the rows: how pressures turn with films (volumes.c)
    MN_ARRAY(double) tension;      ///< [vertices] N/m, with elasticity
    MN_ARRAY(mn_vec3) spread;      ///< by entry of the rows: 3 dA_v/dx_w, of soap (elasticity.c)
    MN_ARRAY(mn_vec3) spread_back; ///< by entry of the rows: 3 dA_w/dx_v
    MN_ARRAY(mn_vec3) spread_own;  ///< [vertices] 3 dA_v/dx_v
    MN_ARRAY(double) slack;        ///< [vertices] scratch of elasticity
    MN_ARRAY(mn_vec3) pull;        ///< [3 triangles] scratch of viscosity, by corner
    MN_ARRAY(mn_vec3) twice;       ///< [triangles] scratch of volumes: normals by twice the area
    MN_ARRAY(double) small;        ///< pockets by pockets, factored
    MN_ARRAY(double) small_vector;
} mn_film_system;

/// What a step's solve is preconditioned with (preconditioner.c).
typedef struct mn_film_preconditioner {
    mn_surface_multigrid grid;
    MN_ARRAY(double) mass;      ///< [vertices] what the grid gets; infinite where held
    MN_ARRAY(double) lift;      ///< [vertices] one over the area
    MN_ARRAY(double) soft;      ///< [pockets] what a pocket's own mode costs besides gas
    MN_ARRAY(double) part, sum; ///< [pockets] scratch
    MN_ARRAY(mn_vec3) rest;     ///< [vertices] scratch
} mn_film_preconditioner;

/// A triangle of a patch, turned over or not so that all of a patch face one way.
typedef struct mn_film_patch_triangle {
    int32_t triangle;
    bool turned;
} mn_film_patch_triangle;

/// A part of a film that touches another one.
typedef struct mn_film_patch {
    MN_ARRAY(mn_film_patch_triangle) triangles;
    MN_ARRAY(int32_t) loop;  ///< vertices around it, in its direction
    MN_ARRAY(int32_t) inner; ///< the others
} mn_film_patch;

/// Who touches whom: scratch of contact.c.
typedef struct mn_film_touch {
    MN_ARRAY(int32_t) head, next; ///< vertices by their cells
    MN_ARRAY(int32_t) partner;    ///< [vertices] the vertex of another film that it touches, or -1
    MN_ARRAY(int32_t) stamp, follow;
    MN_ARRAY(int32_t) triangle_stamp;
    mn_film_patch a, b;
} mn_film_touch;

/// What a curve that film comes out of knows of its last row. 8-byte members: it is saved as it is.
typedef struct mn_film_inlet {
    double speed;    ///< m/s, of the fastest of the row; 0: shut
    double duration; ///< s since the row was born
    int64_t rows;    ///< born so far
} mn_film_inlet;

/// A vertex of a row and where on the curve it is.
typedef struct mn_film_place_on_row {
    double along; ///< 0 to 1 of the curve's length
    int32_t vertex;
} mn_film_place_on_row;
typedef MN_ARRAY(mn_film_place_on_row) mn_film_places;

/// Connected volumes: scratch of shed.c and leave.c. All but `parent` at roots.
typedef struct mn_film_bodies {
    MN_ARRAY(int32_t) parent; ///< of vertices
    MN_ARRAY(double) volume;  ///< m^3
    MN_ARRAY(int32_t) region; ///< what they face, a number below 0 for bodies that stay
    MN_ARRAY(int32_t) drop;   ///< the vertex that gets what nothing else hangs on
} mn_film_bodies;

/// Tetrahedra that turn into one film: scratch of thin.c.
typedef struct mn_film_thin {
    mn_tet_list mark;  ///< [tetrahedra] 0 thick, 1 thin, 2 taken
    mn_tet_list tets;  ///< of one sheet
    mn_tet_list faces; ///< of it: triangles on the surface; those above first
    mn_tet_list walls; ///< three vertices each, facing out of what stays
    mn_tet_list inner; ///< vertices
} mn_film_thin;

struct mn_film {
    mn_solver solver;
    mn_film_def def;
    mn_complex c;
    MN_ARRAY(mn_film_pocket) pockets;
    MN_ARRAY(mn_vec3)
    frame, frame_end;     ///< points of the wires now and at the end of the advance, then pinned
    int64_t frame_points; ///< of the wires that were given
    double next_dt;
    double travelled; ///< m, at most by any vertex since films that touch were looked for
    mn_film_ledger ledger;
    mn_vec3 angular_before;
    mn_film_system system;
    mn_film_bulk bulk;
    mn_film_preconditioner preconditioner;
    bool stale; ///< the mesh has changed since the system was built
    mn_krylov *krylov;
    mn_vec3 origin; ///< volumes are measured from here
    MN_ARRAY(mn_vec3) x0, x1, v0, d, right, scratch, base;
    MN_ARRAY(mn_vec3)
    windward; ///< [vertices] of volumes: the air's push against u is windward (windward . u)
    MN_ARRAY(double) mass, inverse, drag;
    MN_ARRAY(mn_vec3) wind, rim_force;
    MN_ARRAY(double) drained;                           ///< scratch of drainage.c
    MN_ARRAY(double) excess, stiffness, part, measured; ///< by pocket
    MN_ARRAY(double) foreseen;                          ///< [pockets] excess that a pass solved for
    MN_ARRAY(mn_mat3) shape; ///< while settling: projectors onto the directions that vertices may take
    bool settling;
    // view
    MN_ARRAY(mn_film_point) shown;
    MN_ARRAY(int32_t) shown_triangles, shown_regions, shown_segments, shown_tets;
    MN_ARRAY(double) shown_volumes, shown_excess, shown_amounts;
    const mn_film_inputs *inputs; ///< during an advance
    const mn_solver_inputs *around;
    double stretch; ///< of the step tried last
    mn_film_touch touch;
    mn_film_bodies bodies;
    mn_film_thin thin;
    mn_box_grid grid;     ///< of overlap.c
    mn_tet_list found;    ///< the same
    mn_tet_mouths mouths; ///< of jets
    MN_ARRAY(mn_film_inlet) inlets;
    inlet_room arc;               ///< of the curve of one of them
    mn_film_places row, next_row; ///< the same
};

// ---- system.c ----

/// Topology: stars, rows, faces. After every change of the mesh.
mn_status mn_film_system_pattern(mn_film *film);
/// K = d(energy)/dx as a matrix at positions x, elements and tensions with it.
mn_status mn_film_system_matrix(mn_film *film, const mn_vec3 *x);
/// The same with the surface of volumes at positions of its own.
mn_status mn_film_system_matrix_at(mn_film *film, const mn_vec3 *x, const mn_vec3 *surface);
/// (K x)_v
mn_vec3 mn_film_system_row(const mn_film_system *s, const mn_vec3 *x, int64_t v);
void mn_film_system_free(mn_context *ctx, mn_film_system *s);

// ---- volumes.c ----

/// dV/dx of every pocket at positions x, and the volumes where `volumes` is not NULL.
mn_status mn_film_system_volumes(mn_film *film, const mn_vec3 *x, double *volumes);
/// The volumes alone.
mn_status mn_film_volumes_at(mn_film *film, const mn_vec3 *x, double *volumes);
/// Pockets that a worker takes at a time.
int64_t mn_film_pocket_grain(const mn_film *film);
/// values[b] = sum over the vertices of pocket b of dV/dx . u
mn_status mn_film_pockets_gather(mn_film *film, const mn_vec3 *u, double *values);
/// out[v] += factor sum over pockets of dV/dx values[b]
mn_status mn_film_pockets_scatter(mn_film *film, const double *values, double factor, mn_vec3 *out);
/// The matrix dV/dx W dV/dx^T + diag(added) of the pockets, W the weights of vertices, factored into
/// system.small.
mn_status mn_film_pockets_factor(mn_film *film, const double *weights, const double *added);
/// How the forces of pressures `excess` change as films at x turn: T with sum_b q_b d2V_b/dx2 = T, for
/// mn_film_turn_row().
mn_status mn_film_pockets_turn(mn_film *film, const mn_vec3 *x, const double *excess);
/// (T u)_v
mn_vec3 mn_film_turn_row(const mn_film_system *s, const mn_vec3 *u, int64_t v);
/// x = (that)^-1 x
void mn_film_pockets_solve(const mn_film *film, double *x);

// ---- elasticity.c ----

/// The rows of dA/dx, at the elements of the system.
mn_status mn_film_elastic_rows(mn_film *film);
/// system.slack at v: factor (E / A_v) (dA_v/dx . u)
void mn_film_elastic_slack(mn_film *film, const mn_vec3 *u, double factor, int64_t v);
/// out_v += sum_i dA_i/dx_v slack_i, at all vertices
mn_status mn_film_elastic_pull(mn_film *film, mn_vec3 *out);
/// out += factor sum_i (E / A_i) dA_i/dx (dA_i/dx . u): the stiffness of soap, both of them.
mn_status mn_film_elastic_apply(mn_film *film, const mn_vec3 *u, double factor, mn_vec3 *out);

/// Hands soap on between neighbours.
mn_status mn_film_spread_soap(mn_film *film);

// ---- operator.c ----

/// A step on its way.
struct mn_film_step_job {
    mn_film *film;
    double dt, theta;
    const mn_vec3 *in;
    mn_vec3 *out;
    double shift;
    double mass; ///< kg, of all
    bool viscous, gas;
    bool bulk;         ///< there are tetrahedra
    bool turning;      ///< pressures that turn with the film are in the matrix
    bool held;         ///< some vertices are not free
    double norm;       ///< of the right-hand side of the first pass
    bool exact;        ///< the last pass was solved as well as a step has to be
    double stiff_area; ///< m^2, below which explicit viscosity is weakened
};

/// Area over the square of the longest edge: less is a sliver.
#define MN_FILM_PLUMP 0.1

/// The part of d that constraints leave.
mn_vec3 mn_film_allowed(const mn_film *film, int64_t v, mn_vec3 d);
/// system.pull, of which mn_film_viscous_row() adds up N u. `most`: area below which a vertex's part is too
/// stiff for an explicit term, and is weakened; 0 for none.
mn_status mn_film_viscous_pull(mn_film *film, const mn_vec3 *u, double most);
/// (N u)_v
mn_vec3 mn_film_viscous_row(const mn_film_system *s, int64_t v);
/// The air's push per velocity u against it.
mn_vec3 mn_film_against_air(const mn_film *film, int64_t v, mn_vec3 u);
/// Takes out of u what constraints forbid.
mn_status mn_film_project(mn_film_step_job *job, mn_vec3 *u);
/// out += Q^T C Q u
mn_status mn_film_add_gas_stiffness(mn_film *film, const mn_vec3 *u, mn_vec3 *out);
/// An mn_apply_fn: the matrix of all but tetrahedra.
mn_status mn_film_apply(void *job, const double *x, double *y);
/// Solves for d, from d, which is zero in the first pass; the tolerance falls from pass to pass. *definite is
/// false when the matrix is not, and d is of no use then.
mn_status mn_film_solve(mn_film_step_job *job, int32_t pass, const mn_vec3 *right, mn_vec3 *d,
                        bool *definite);

// ---- preconditioner.c ----

/// For the film's part of the matrix: masses and tensions as they are.
mn_status mn_film_preconditioner_build(mn_film_step_job *job);
/// For the gas of this pass: with another Q it would not be positive.
mn_status mn_film_preconditioner_take_gas(mn_film_step_job *job);
/// An mn_apply_fn; `job` is the mn_film_step_job.
mn_status mn_film_precondition(void *job, const double *r, double *z);
void mn_film_preconditioner_free(mn_context *ctx, mn_film_preconditioner *p);

// ---- momentum.c ----

/// After a step that nothing holds: the momentum and moment of gravity and air, and no more.
mn_status mn_film_balance(mn_film_step_job *job);
mn_vec3 mn_film_angular_momentum(const mn_film *film, mn_vec3 about);
/// After a change of the mesh: what it lost of the angular momentum `before`.
mn_status mn_film_restore_spin(mn_film *film, mn_vec3 about, mn_vec3 before);

// ---- step.c ----

/// One step of dt; *stretch is the largest motion of one vertex against a neighbour, over the size. Positions
/// and velocities of the complex are untouched until mn_film_step_accept().
mn_status mn_film_step_try(mn_film *film, double dt, double *stretch);
void mn_film_step_accept(mn_film *film);

// ---- pockets.c ----

/// Volumes and pressures of the mesh as it is.
mn_status mn_film_measure_pockets(mn_film *film);
/// Moves vertices until pockets have the volumes that they were measured with before the mesh changed.
mn_status mn_film_restore_volumes(mn_film *film);
/// Labels pockets anew where shells have come apart or closed: each shell is a pocket. Gas goes by volume.
/// `fresh`: pockets that were unknown before start with the gas that balances tension.
mn_status mn_film_find_pockets(mn_film *film, bool fresh);
/// Two regions become one: amounts add up, or go to the air.
mn_status mn_film_join_regions(mn_film *film, int32_t a, int32_t b);
/// Gas that passes through films, and gas that is blown in.
mn_status mn_film_move_gas(mn_film *film, double dt);
/// Pockets without triangles, or of next to no volume, are drawn together and forgotten.
mn_status mn_film_vanish_pockets(mn_film *film);

// ---- sizes.c ----

/// m, below which borders rearrange.
double mn_film_min_size(const mn_film *film);
/// How long edges should be, at every vertex; outside of an advance.
mn_status mn_film_find_sizes(mn_film *film);

// ---- contact.c ----

/// Films that have come near each other get a common wall, drops that touch films or drops join them.
/// Vertices and system still go together.
mn_status mn_film_touch_films(mn_film *film, bool *changed);
void mn_film_touch_free(mn_context *ctx, mn_film_touch *touch);

// ---- absorb.c ----

/// Volumes take up films that have drawn back onto them, and liquid that has come to their vertices.
void mn_film_absorb(mn_film *film, bool *changed);

// ---- empty.c ----

/// Vertices without liquid get some of their neighbours', or go.
void mn_film_feed_empty(mn_film *film, bool *changed);

// ---- shed.c ----

/// After a step of dt: volumes too small for a mesh become drops, and flat tetrahedra that hold steps up go.
mn_status mn_film_shed(mn_film *film, double dt, bool *changed);

// ---- thin.c ----

/// Tetrahedra that are thinner than a mesh can show turn into film.
mn_status mn_film_thin_volumes(mn_film *film, bool *changed);

// ---- jets.c ----

/// Takes the pipes of an advance, NULL for none, and puts in the slugs of those that have no liquid yet.
mn_status mn_film_open_jets(mn_film *film, const mn_tet_pipe *pipe);
/// The longest step that jets allow, s.
double mn_film_jets_limit(const mn_film *film);
/// After a step of dt: the caps have moved on, and get a layer behind them where it is due.
mn_status mn_film_emit(mn_film *film, double dt);

// ---- inlet.c ----

/// Takes the curves of an advance that film comes out of; those that open get their first strip.
mn_status mn_film_open_inlets(mn_film *film, int64_t count, const mn_codim_inlet *inlets);
/// The longest step that they allow, s.
double mn_film_inlets_limit(const mn_film *film);
/// After a step of dt: rows have moved on, and get a strip behind them where it is due.
mn_status mn_film_feed(mn_film *film, double dt);

// ---- leave.c ----

/// Takes out what has left the limits. Vertices and system still go together.
mn_status mn_film_leave(mn_film *film, bool *changed);

// ---- rim.c ----

/// rim_force: what free edges at x pull by besides their films.
mn_status mn_film_pull_rims(mn_film *film, const mn_vec3 *x);

// ---- drainage.c ----

/// Hands liquid on between vertices. Vertices and system still go together.
mn_status mn_film_drain(mn_film *film, double dt);

// ---- view.c ----

void mn_film_add_up(const mn_solver *solver, mn_report *report);
void mn_film_tell_energy(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books);
mn_status mn_film_show(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view);

// ---- advance.c ----

mn_status mn_film_begin(mn_solver *solver, const mn_solver_inputs *inputs, double seconds,
                        mn_step_plan *plan);
mn_status mn_film_limit(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
mn_status mn_film_attempt(mn_solver *solver, const mn_solver_inputs *inputs, double dt, mn_verdict *verdict);
mn_status mn_film_commit(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
mn_status mn_film_end(mn_solver *solver, const mn_solver_inputs *inputs);
void mn_film_abandon(mn_solver *solver);

/// The films at v go; what they kept apart is joined. *opened is false where that cannot be.
mn_status mn_film_open_at(mn_film *film, int32_t v, bool *opened);
/// Bursts, splits, collapses, flips, rearrangements (T1), contacts and what follows for the gas.
mn_status mn_film_change_mesh(mn_film *film, bool rearrange, double dt);

#endif
