// SPDX-License-Identifier: Apache-2.0
//
// A solver is a table, as a node is: the rows of its def, the inputs it takes, and functions of one shape.
// One loop (core/base/stepping.c) cuts a frame into steps for all of them, and one adapter
// (nodes/solver_node.c) makes a node of any of them, with progress, cancel, checkpoints, report and help in
// every host.
//
// To write a solver `wax`:
//
//   1. meniscus/wax.h: `typedef struct mn_wax_def {...}` with unit and range at each member, and the typed
//      face (mn_wax_default_def, _create, _set_def, _advance, _report, _save, _load, _free), each one line
//      over the table.
//   2. wax/fields.c: one row per member (meniscus/field.h; shared groups in base/field_groups.h).
//      MN_FIELDS_STEPS is required. The header gets `enum { MN_WAX_FIELD_COUNT = n };` and
//      `extern const mn_field mn_wax_fields[];`; the table ends with MN_FIELDS_END, which says when the
//      count is wrong.
//   3. wax/state.h: `struct mn_wax { mn_solver solver; mn_wax_def def; ... }`. The head comes first: it holds
//      the context, the clock, counts and timers. Functions of the table get `mn_solver *` and cast it.
//   4. wax/wax.c: the functions below, and `const mn_solver_type mn_wax_solver = {...}`. What a solver does
//      not have stays NULL.
//   5. nodes/wax_solver.c: an mn_node_type with .parms = mn_wax_fields, .sim = &mn_solver_ops and .solver
//      pointing to an mn_solver_node (nodes/solver_node.h): which input is what, and hooks for what is its
//      own; one line in nodes/registry.c.
//
// tests/toy/toy_solver.c is a whole one.
//
// How an advance runs. The loop checks the time and refuses inputs that the solver does not take; then
//
//   begin(inputs, seconds, &plan)       look at the frame; the plan has the defaults below, change what
//                                       differs
//   until no time is left:
//     (cancelled? then stop with the state at the last good step)
//     limit(inputs, &limit)             the longest step from here, and what sets it ("capillary waves")
//     prepare(inputs, dt)               what every try of this step shares
//     attempt(inputs, dt, &verdict)     compute the step beside the state; verdict.good when it is physical;
//                                       otherwise the state is what it was, and the step is tried again with
//                                       dt * verdict.factor, down to the plan's floor
//     rescue(inputs, ..., &taken)       when no try was good, for solvers that have a step that always works
//     commit(inputs, dt)                take the step over; time, left and counts are those after it
//   end(inputs)                         once, when all time is spent
//   abandon()                           instead of end, when anything failed: drop what was borrowed
//
// The failure contract. An advance completes or leaves the state at the last good step; it is never lost. So
// attempt must not change the state, or must put it back when it is not good, and only commit moves it. A
// failure (status other than MN_OK) comes with a sentence that an artist can act on. A failed attempt is not
// a failure: it is a verdict. Nothing in the loop allocates: keep scratch memory in the solver.
//
// Inputs are borrowed for one advance. What a solver does not take (`takes`) is refused with a sentence,
// never ignored. What only one solver knows (anchors of a film, the mouth of a pipe) it gets through `own`, a
// struct of its header.
//
// A report starts empty: mn_solver_report() sets what the loop counted (substeps, dt_min, dt_max, rollbacks,
// seconds), then calls report(), which sets the quantities that the solver has. What it does not have stays
// unset.
//
// A view (mn_view) lends out columns; `output` counts from 0. It may fill scratch memory but leaves
// the state as it is, and it is called only for outputs that somebody reads.
//
// save and load: a table of members (mn_saved) with the version that has each first. Load and advance
// give the same bits as an advance without the detour.
#ifndef MENISCUS_SOLVER_H
#define MENISCUS_SOLVER_H

#include "meniscus/collider.h"
#include "meniscus/context.h"
#include "meniscus/field.h"
#include "meniscus/geo.h"
#include "meniscus/report.h"
#include "meniscus/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- columns ----
//
// What a solver shows and what it reads: columns of numbers that stay where they are, and how they become
// geometry. A column is an attribute of the geometry on one side and a place in memory on the other. Columns
// are borrowed; attributes are looked up once per column, not once per point.
//
//   static const mn_column_def shown[] = {
//       {"P", MN_F32, 3, MN_HINT_POINT, MN_COLUMN_AT(mn_drop, position)},
//       {"id", MN_I32, 1, MN_HINT_NONE, MN_COLUMN_AT(mn_drop, id)},
//   };
//   mn_view_rows(view, spray->drops.count, sizeof(mn_drop), spray->drops.data, shown, MN_COUNT_OF(shown));

/// A column of an array of structs.
typedef struct mn_column_def {
    const char *name;   ///< of the attribute
    mn_type type;       ///< of the attribute
    int32_t size;       ///< components, 1 to 16
    mn_hint hint;       ///< of the attribute
    mn_storage storage; ///< of each component in the struct
    size_t offset;      ///< of the first component in the struct, bytes
} mn_column_def;
#define MN_COLUMN_AT(type_, member_) MN_STORE_OF(type_, member_), offsetof(type_, member_)

/// A column somewhere: component k of row i is at data + i stride + k bytes of the storage. Or, with `value`,
/// what that gives for the row, for quantities that are not stored. Of an MN_STRING column it
/// is the place of the string in the view's `texts`.
typedef struct mn_column_view {
    const char *name;
    mn_type type;
    int32_t size;
    mn_hint hint;
    mn_storage storage;
    const void *data;
    size_t stride; ///< bytes
    void (*value)(const void *data, int64_t row, double *value);
} mn_column_view;

/// Primitives of one kind, each with `size` corners.
typedef struct mn_view_part {
    mn_primitive_kind kind;
    int32_t size;
    int64_t count;
    const int32_t *corners; ///< shown points, size x count
} mn_view_part;

enum { MN_VIEW_COLUMNS = 32, MN_VIEW_PARTS = 4 };

/// What one output shows, borrowed until the solver changes. Zero-initialised is empty.
typedef struct mn_view {
    int64_t point_count;
    const int32_t *order; ///< row of each shown point; NULL: all rows as they are
    mn_column_view columns[MN_VIEW_COLUMNS];
    int32_t column_count;
    mn_view_part parts[MN_VIEW_PARTS]; ///< in this order
    int32_t part_count;
    mn_column_view primitive_columns[MN_VIEW_COLUMNS]; ///< over the primitives of all parts
    int32_t primitive_column_count;
    const char *const *texts; ///< that columns of strings show
} mn_view;

/// Adds points as rows of structs with these columns.
MN_API void mn_view_rows(mn_view *view, int64_t count, size_t stride, const void *rows,
                         const mn_column_def *columns, int32_t column_count);
/// Adds one column over the points; at most MN_VIEW_COLUMNS are kept.
MN_API void mn_view_column(mn_view *view, mn_column_view column);
/// Adds one column over the primitives, likewise.
MN_API void mn_view_primitive_column(mn_view *view, mn_column_view column);
/// Adds one part; at most MN_VIEW_PARTS are kept. Parts without primitives are left out.
MN_API void mn_view_primitives(mn_view *view, mn_primitive_kind kind, int32_t size, int64_t count,
                               const int32_t *corners);

/// The geometry that the view shows. A whole number that does not fit its attribute fails with a sentence.
MN_API mn_status mn_geo_from_view(mn_context *ctx, const mn_view *view, mn_geo **geo);

/// Point attributes into rows of structs: each column that the geometry has is written to all rows, and its
/// bit set in *present (bit k for columns[k]); the others stay as they are. `rows` has room for all points.
MN_API void mn_geo_read_rows(const mn_geo *geo, const mn_column_def *columns, int32_t column_count,
                             void *rows, size_t stride, uint64_t *present);

// ---- saved members ----
//
// A state as a stream of named members: which member, of which kind, since which version. A member that an
// older stream does not have keeps what the caller put there; a stream that is too old or too new is refused
// by name.
//
//   static const mn_saved saved[] = {
//       MN_SAVED_I64(mn_spray, next_id, 1),
//       MN_SAVED_ARRAY(mn_spray, drops, 1),
//       MN_SAVED_F64(mn_spray, age, 2),       // new in version 2
//   };
//   mn_save_members(out, "spray", 2, saved, MN_COUNT_OF(saved), spray);

typedef struct mn_saved {
    const char *name;   ///< at most 31 characters
    mn_storage storage; ///< of each number; MN_STORE_NONE for an MN_ARRAY
    int32_t size;       ///< numbers
    size_t element;     ///< bytes of an array's element, which has no padding
    size_t offset;      ///< in the struct
    int32_t since;      ///< the version that has it first
} mn_saved;

#define MN_SAVED_I64(type_, member_, since_)                                                                 \
    {                                                                                                        \
#member_, MN_STORE_I64, 1, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_F64(type_, member_, since_)                                                                 \
    {                                                                                                        \
#member_, MN_STORE_F64, 1, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_BOOL(type_, member_, since_)                                                                \
    {                                                                                                        \
#member_, MN_STORE_U8, 1, 0, offsetof(type_, member_), since_                                        \
    }
#define MN_SAVED_VEC3(type_, member_, since_)                                                                \
    {                                                                                                        \
#member_, MN_STORE_F64, 3, 0, offsetof(type_, member_), since_                                       \
    }
#define MN_SAVED_ARRAY(type_, member_, since_)                                                               \
    {                                                                                                        \
#member_, MN_STORE_NONE, 0, sizeof *((type_ *)0)->member_.data, offsetof(type_, member_), since_     \
    }

MN_API mn_status mn_save_members(mn_writer *out, const char *tag, int32_t version, const mn_saved *members,
                                 int32_t count, const void *state);
/// Versions from `oldest` to `newest` are read; *version is the one that was. Doubles that are not finite are
/// refused.
MN_API mn_status mn_load_members(mn_reader *in, const char *tag, int32_t oldest, int32_t newest,
                                 const mn_saved *members, int32_t count, void *state, int32_t *version);

// ---- what a solver is made of ----

/// Energy that nothing drives can only fall (base/energy_watch.c). Zero-initialised is not begun.
typedef struct mn_energy_watch {
    bool begun, warned;
    double mass;   ///< kg, that it began with
    double weight; ///< J, of its weight then
    double budget; ///< J, all that there was then
    double least;  ///< J, that there was since
    double scale;  ///< J, of motion and surface then, and what its weight has given since
} mn_energy_watch;

/// What a solver knows of its energy beside motion, surface and weight; the defaults in brackets.
typedef struct mn_energy_books {
    double stored; ///< J: elastic, of contacts, of gas [0]
    double noise;  ///< J, by which the method may err where nothing moves [0]
    double loss;   ///< fraction of the mass that comes and goes by the method's errors [1e-9]
    double growth; ///< fraction of the energy by which it may be above its start [0.05]
    bool driven;   ///< something of its own gives energy, so nothing can be said [when an input may: not for
                   ///< `own`, sinks and solids at rest]
    bool unsure;   ///< the surface cannot be measured, so only what it had at first counts [false]
} mn_energy_books;

/// The head of every solver, set and kept by the loop.
typedef struct mn_solver {
    mn_context *ctx;
    double time;          ///< s, since the start
    double seconds, left; ///< s, of the running advance and still to go
    mn_step_counts counts;
    mn_timers timers; ///< begin and end phases here: mn_timer_begin(&solver->timers, "solve")
    bool warned;      ///< that a frame takes many steps
    mn_energy_watch energy;
} mn_solver;

// ---- what an advance sees ----

/// Points or triangles that something comes out of, as they are at the end of the advance. Arrays are
/// borrowed.
typedef struct mn_emitter {
    int64_t point_count;
    const mn_vec3 *positions;  ///< m
    const mn_vec3 *velocities; ///< m/s, or NULL: the motion since the advance before is taken
    const mn_vec3 *normals;    ///< or NULL: triangles have their own, points have none
    int64_t triangle_count;    ///< 0: emission from the points
    const int64_t (*triangles)[3];
} mn_emitter;

enum {
    MN_TAKES_COLLIDER = 1 << 0,
    MN_TAKES_SINK = 1 << 1,
    MN_TAKES_WIND = 1 << 2,
    MN_TAKES_FORCE = 1 << 3,
    MN_TAKES_EMITTER = 1 << 4,
    MN_TAKES_OWN = 1 << 5,
    MN_TAKES_MATERIAL = 1 << 10, ///< sigma and viscosity
    MN_TAKES_HEAT = 1 << 11,
};

/// Zero-initialised is nothing at all.
typedef struct mn_solver_inputs {
    const mn_collider *collider; ///< solids, as they are at the end of the advance
    const mn_collider *sink;     ///< volumes that take out what enters them, in the same way
    mn_volume wind;              ///< vector volume, m/s: velocity of the air, added to the def's
    mn_volume force;             ///< vector volume, m/s^2: acceleration, added to gravity
    mn_volume sigma, viscosity;  ///< N/m, Pa s: where they reach, instead of what the liquid has
    mn_volume heat;              ///< W/m^3, what a source gives where it reaches
    const mn_emitter *emitter;
    const void *own; ///< of the solver's own type
} mn_solver_inputs;

// ---- steps ----

/// How a solver wants its frame cut; begin() gets the def's rows of these names, or the defaults in brackets.
typedef struct mn_step_plan {
    const char *what;             ///< for progress [the solver's name]
    int64_t min_substeps;         ///< [1]
    int64_t max_substeps;         ///< [100000]; never taken below min_substeps
    double max_dt;                ///< s [INFINITY]
    double growth;                ///< a step is at most this times the one before [INFINITY]
    int32_t halvings;             ///< how often a step is tried again [12]
    double least;                 ///< s: no try is shorter [0]
    double rounding;              ///< of a count of steps that is whole but for rounding [1e-12]
    double crumb;                 ///< of the advance: time that is not worth a step [0]
    const char *failure, *advice; ///< "%s even in steps of %g s; %s." [sentences that fit all]
    const char *too_many;         ///< what to do about more steps than max_substeps [the same]
} mn_step_plan;

typedef struct mn_step_limit {
    double longest;      ///< s [INFINITY]
    const char *binding; ///< what sets it [""]
    double piece;        ///< s: a step ends here at the latest [what is left of the advance]
    bool idle;           ///< nothing to move: time passes to the end of the piece without a step [false]
} mn_step_limit;

typedef struct mn_verdict {
    bool good;     ///< [false]
    double factor; ///< of dt for the next try [0.5]; 0: no more tries
} mn_verdict;

typedef struct mn_solver_type {
    const char *name; ///< "spray"
    const mn_field *fields;
    int32_t field_count;
    size_t def_size;
    size_t state_size; ///< of the struct that begins with mn_solver
    size_t def_offset; ///< of the def in it
    uint32_t takes;    ///< MN_TAKES_*
    uint32_t paint;    ///< 1 << MN_PAINT_*: what it reads off colliders; other paint is warned about
    /// What of its energy the report and the row `gravity` do not tell, after an advance: growth that nothing
    /// drives is an error of the method, warned about and then refused. NULL: it stores none.
    void (*energy)(const mn_solver *solver, const mn_solver_inputs *inputs, mn_energy_books *books);
    int32_t output_count;
    bool sized; ///< the def begins with size_t struct_size, which must be def_size

    /// Members of the def that have no row: fills the whole def with its defaults.
    void (*more_defaults)(void *def);
    /// What rows cannot say about a def.
    mn_status (*check_def)(mn_context *ctx, const void *def);
    /// After the struct was made: zeros, the context and a checked def.
    mn_status (*init)(mn_solver *solver);
    /// Gives back what the struct holds; the struct itself is the house's.
    void (*free)(mn_solver *solver);
    /// A new def, checked against its fields, is about to replace the old one: refuse it, or note what
    /// changes.
    mn_status (*set_def)(mn_solver *solver, const void *def);

    /// What the first input brings: `count` rows of `row_size` bytes with the columns of `reads`; bit k of
    /// `present` is set where the input has columns[k], the other members are zero and the solver's to fill.
    mn_status (*add)(mn_solver *solver, int64_t count, void *rows, uint64_t present);
    const mn_column_def *reads;
    int32_t read_count;
    size_t row_size;

    /// The inputs as they are at the start, so that the first advance knows how they move.
    mn_status (*place)(mn_solver *solver, const mn_solver_inputs *inputs);

    mn_status (*begin)(mn_solver *solver, const mn_solver_inputs *inputs, double seconds, mn_step_plan *plan);
    mn_status (*limit)(mn_solver *solver, const mn_solver_inputs *inputs, mn_step_limit *limit);
    mn_status (*prepare)(mn_solver *solver, const mn_solver_inputs *inputs, double dt);
    mn_status (*attempt)(mn_solver *solver, const mn_solver_inputs *inputs, double dt,
                         mn_verdict *verdict); ///< required
    /// When no try was good: a step that always works, for solvers that have one. *taken is its length, at
    /// most `limit`.
    mn_status (*rescue)(mn_solver *solver, const mn_solver_inputs *inputs, double asked, double limit,
                        double *taken);
    mn_status (*commit)(mn_solver *solver, const mn_solver_inputs *inputs, double dt); ///< required
    mn_status (*end)(mn_solver *solver, const mn_solver_inputs *inputs);
    void (*abandon)(mn_solver *solver);

    mn_status (*view)(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output,
                      mn_view *view); ///< required
    void (*report)(const mn_solver *solver, mn_report *report);

    /// The state as members of the struct, in versions `oldest` to `version`.
    const mn_saved *saved;
    int32_t saved_count, version, oldest;
    /// What is not a member, after them; `version` is the one that was written.
    mn_status (*save)(const mn_solver *solver, mn_writer *out);
    mn_status (*load)(mn_solver *solver, mn_reader *in, int32_t version);
    /// Refuses what save cannot have written, and makes what follows from the state.
    mn_status (*loaded)(mn_solver *solver);
} mn_solver_type;

// ---- the verbs, for any solver ----

MN_API void mn_solver_default_def(const mn_solver_type *type, void *def);
/// Checks the def and creates.
MN_API mn_status mn_solver_create(mn_context *ctx, const mn_solver_type *type, const void *def,
                                  mn_solver **solver);
/// NULL is fine.
MN_API void mn_solver_free(const mn_solver_type *type, mn_solver *solver);
/// Checks the def and sets it; on failure the old one stays.
MN_API mn_status mn_solver_set_def(const mn_solver_type *type, mn_solver *solver, const void *def);
/// `inputs` may be NULL. See above.
MN_API mn_status mn_solver_advance(const mn_solver_type *type, mn_solver *solver,
                                   const mn_solver_inputs *inputs, double seconds);
/// What a frame of `seconds` would begin with: the longest step, about how many, and what sets it.
typedef struct mn_step_forecast {
    double longest, steps;
    const char *binding;
} mn_step_forecast;
MN_API mn_status mn_solver_forecast(const mn_solver_type *type, mn_solver *solver,
                                    const mn_solver_inputs *inputs, double seconds,
                                    mn_step_forecast *forecast);
/// Empties the report and fills it.
MN_API void mn_solver_report(const mn_solver_type *type, const mn_solver *solver, mn_report *report);
MN_API mn_status mn_solver_save(const mn_solver_type *type, const mn_solver *solver, mn_writer *out);
/// Checks the def and loads; `def` is the one to advance with.
MN_API mn_status mn_solver_load(mn_context *ctx, const mn_solver_type *type, const void *def, mn_reader *in,
                                mn_solver **solver);

#ifdef __cplusplus
}
#endif
#endif
