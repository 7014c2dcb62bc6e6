// SPDX-License-Identifier: Apache-2.0
//
// Flow: smoke, ink, ponds and waves in a box, on a grid of quadratic B-splines. Smoke and ink fill the box; a
// liquid has a free surface with tension, and its cost follows the liquid, not the box.
#ifndef MENISCUS_FLOW_H
#define MENISCUS_FLOW_H

#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_flow_fluid {
    MN_FLOW_SMOKE,  ///< a fluid that fills the box and carries density, temperature and colour: smoke, ink
    MN_FLOW_LIQUID, ///< a liquid with a free surface
} mn_flow_fluid;

typedef enum mn_flow_advection {
    MN_FLOW_RK2,      ///< midpoint rule along the characteristic
    MN_FLOW_IMPLICIT, ///< the velocity at the foot, by Newton; keeps steep fronts sharp
    MN_FLOW_EXPLICIT, ///< one step along the velocity at the cell: first order
} mn_flow_advection;

typedef enum mn_flow_boundary {
    MN_FLOW_CLOSED,   ///< walls on all sides
    MN_FLOW_OPEN,     ///< fluid passes all sides freely
    MN_FLOW_OPEN_TOP, ///< walls but for the top
    MN_FLOW_TUNNEL,   ///< `stream` comes in on one side and leaves through the opposite one; walls elsewhere
} mn_flow_boundary;

typedef struct mn_flow_def {
    size_t struct_size; ///< of this struct; mn_flow_default_def() sets it, create compares
    mn_flow_fluid fluid;
    double dx;             ///< m, edge of a cell, > 0
    mn_vec3 domain_center; ///< m; the box is moved to whole cells of the world
    mn_vec3 domain_size;   ///< m, > 0; rounded to whole cells
    bool flat;             ///< one cell deep along z: two dimensions
    mn_flow_boundary boundary;
    mn_vec3 stream; ///< m/s, of a tunnel: its largest component says which sides are open

    double density;       ///< kg/m^3, of the fluid, > 0
    double viscosity;     ///< Pa s, >= 0
    bool no_slip;         ///< the fluid sticks to solids
    mn_vec3 gravity;      ///< m/s^2, of a liquid; for smoke only its direction counts
    double sigma;         ///< N/m, >= 0
    double contact_angle; ///< degrees, at the sides of the box and at solids without paint, 0 to 180
    bool use_level;       ///< still water fills the box at the start
    double level;         ///< m, up to this height

    double buoyancy;      ///< m/s^2 against gravity, of smoke of density 1; negative sinks
    double heat_buoyancy; ///< m/s^2 per kelvin above the surroundings
    double cooling;       ///< 1/s, rate at which temperature falls to that of the surroundings, >= 0
    double dissipation;   ///< 1/s, rate at which smoke disappears, >= 0
    double confinement;   ///< 1/s, how fast eddies of a cell are turned, >= 0; 0: not at all
    double source_density;
    double source_temperature; ///< K above the surroundings
    mn_vec3 source_color;
    double inherit_velocity; ///< fraction of the source's own velocity that the fluid in it takes

    mn_flow_advection advection;
    double cfl;          ///< cells that the fastest fluid moves in a step, > 0
    double band;         ///< cells below the surface that carry particles, 0 to 4; 0: none
    double spray_radius; ///< cells: bodies of liquid smaller than a ball of this radius fly as drops; 0: none
    double surface_tension_limit; ///< longest step in units of sqrt(density dx^3 / (pi sigma)), > 0
    double tolerance;             ///< of the divergence, relative, in (0, 0.1]
    int32_t min_substeps, max_substeps;
} mn_flow_def;

MN_API mn_flow_def mn_flow_default_def(void);

enum { MN_FLOW_FIELD_COUNT = 36 };
MN_API extern const mn_field mn_flow_fields[];
MN_API extern const mn_solver_type mn_flow_solver;

/// A drop that falls into a liquid, or was thrown off it.
typedef struct mn_flow_drop {
    mn_vec3 position, velocity; ///< m, m/s
    double radius;              ///< m
    double mass;                ///< kg; 0: that of a ball of the liquid
    int64_t id;                 ///< of those that the solver made, in the order of their birth
} mn_flow_drop;

/// What an advance sees beside colliders: the `own` of its inputs.
typedef struct mn_flow_inputs {
    const mn_collider *source; ///< region that gives smoke, or liquid; NULL: none
    int64_t drop_count;
    const mn_flow_drop
        *drops; ///< handed over during this advance: each joins the liquid where its path meets it
} mn_flow_inputs;

typedef struct mn_flow mn_flow;

/// A box of fluid at rest; a liquid fills it up to `level` and where the source is. `inputs` may be NULL.
MN_API mn_status mn_flow_create(mn_context *ctx, const mn_flow_def *def, const mn_solver_inputs *inputs,
                                mn_flow **flow);
MN_API void mn_flow_free(mn_flow *flow);
/// Parameters may change between advances, all but those of the box, the cells and the fluid.
MN_API mn_status mn_flow_set_def(mn_flow *flow, const mn_flow_def *def);
/// `dt` seconds on. On failure, also when cancelled, the state is that of the last good step. `inputs` may be
/// NULL.
MN_API mn_status mn_flow_advance(mn_flow *flow, const mn_solver_inputs *inputs, double dt);

/// Sets the velocity (m/s) from a function of position; takes its divergence out.
typedef mn_vec3 mn_flow_velocity_fn(void *user, mn_vec3 x);
MN_API mn_status mn_flow_set_velocity(mn_flow *flow, mn_flow_velocity_fn *fn, void *user);
/// Adds smoke: density, temperature and colour from a function of position.
typedef void mn_flow_smoke_fn(void *user, mn_vec3 x, double *density, double *temperature, mn_vec3 *color);
MN_API mn_status mn_flow_set_smoke(mn_flow *flow, mn_flow_smoke_fn *fn, void *user);
/// The liquid becomes where `distance` (m) is negative.
typedef double mn_flow_distance_fn(void *user, mn_vec3 x);
MN_API mn_status mn_flow_set_surface(mn_flow *flow, mn_flow_distance_fn *fn, void *user);

/// Values at the centres of cells, in blocks of 4 x 4 x 4; borrowed until the next call that changes the
/// flow.
typedef struct mn_flow_view {
    mn_vec3 origin;   ///< m; cell (i, j, k) is centred at origin + dx (i + 1/2, j + 1/2, k + 1/2)
    double dx;        ///< m
    int32_t cells[3]; ///< of the box: numbers 1 .. cells; what lies around them belongs to the walls
    int64_t block_count;
    const int32_t (*blocks)[3]; ///< the first cell of block b is 4 blocks[b]; within it z runs fastest
    const double (*velocity)[4];
    const double *density;     ///< of smoke; NULL for a liquid
    const double *temperature; ///< of smoke, K above the surroundings; NULL: nothing is warm
    const double *color[3];    ///< of smoke, times density; NULL: all of it is white
    const double *surface;     ///< distance to the surface in cells, negative inside; NULL for smoke
    const double *fraction;    ///< of a cell that is fluid
} mn_flow_view;
MN_API mn_status mn_flow_get(mn_flow *flow, mn_flow_view *view);
/// The velocity at a point of the box, m/s.
MN_API mn_vec3 mn_flow_velocity_at(const mn_flow *flow, mn_vec3 x);
/// Drops that fly: thrown off the liquid as `spray_radius` says, until they fall in again. Borrowed.
MN_API const mn_flow_drop *mn_flow_drops(const mn_flow *flow, int64_t *count);
/// The distance to the free surface, m.
MN_API double mn_flow_distance_at(const mn_flow *flow, mn_vec3 x);

MN_API void mn_flow_report(const mn_flow *flow, mn_report *report);
/// What to expect of a box of fluid, before it runs.
typedef struct mn_flow_numbers {
    double cells;        ///< in the box
    double bytes;        ///< at most
    double ripple;       ///< m, the shortest that runs as it should: ten cells
    double ripple_speed; ///< m/s
    double step;         ///< s, that surface tension allows; INFINITY without
    double steps;        ///< in the frame, at least
} mn_flow_numbers;
MN_API void mn_flow_diagnose(const mn_flow_def *def, double seconds, mn_flow_numbers *numbers);

MN_API mn_status mn_flow_save(const mn_flow *flow, mn_writer *out);
MN_API mn_status mn_flow_load(mn_context *ctx, const mn_flow_def *def, mn_reader *in, mn_flow **flow);

#ifdef __cplusplus
}
#endif
#endif
