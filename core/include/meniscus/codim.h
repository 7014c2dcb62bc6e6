// SPDX-License-Identifier: Apache-2.0
//
// Liquid films without a mesh: soap films on rings, bubbles with their gas, sheets that tear and draw back.
//
// A film is a cloud of points that carry its mass. In every step one consistent set of triangles is laid
// through them, and serves everything: surface tension as the gradient of its area, two sides to a film;
// enclosed gas as the gradient of its volume; viscosity; the points that are added where the film stretches
// and merged where it shrinks or an edge sweeps them up. Nothing of it is kept: films join, close and part as
// their points do. Points that no triangle holds any more fly on as drops.
#ifndef MENISCUS_CODIM_H
#define MENISCUS_CODIM_H

#include "meniscus/collider.h"
#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Ranges, defaults and sentences are those of mn_codim_fields.
typedef struct mn_codim_def {
    size_t struct_size;   ///< of this struct; mn_codim_default_def() sets it, create compares
    double dx;            ///< m, cells of the grid that volumes are solved on; 0: twice the spacing
    double radius;        ///< m, reach of a grid face on the skin of volumes; 0: 2 dx
    double sigma;         ///< surface tension of one side, N/m, >= 0
    double density;       ///< kg/m^3, > 0
    double viscosity;     ///< Pa s, >= 0
    mn_vec3 gravity;      ///< m/s^2
    double min_thickness; ///< m, >= 0: a film thinner than this breaks; 0: it never does by itself
    double rim_factor;    ///< >= 0, tension of free edges beside that of the film; 1 is physical
    double rim_thickness; ///< m, >= 0: a rim thicker than this sheds drops; 0: it keeps what it collects
    /// in [0, 1]: fraction of the energy of rims that meet which opens them into film across
    double rim_collision;
    int32_t polygon_sides;   ///< 0, or at least 2: the tension of free edges varies so often around the inlet
    double polygon_strength; ///< >= 0: how much; 1 gives straight sides to a sheet that spreads evenly
    mn_vec3 limit_center;    ///< m, of a box; what leaves it is removed
    bool gas;                ///< closed films hold their gas (Boyle's law)
    double ambient_pressure; ///< Pa, > 0, outside of them
    bool lids;               ///< rings that hold a film are closed, so that it holds gas in; needs `gas`
    double blow;             ///< m^3/s of gas, at ambient pressure, blown into each film with a lid
    mn_vec3 wind;            ///< m/s, velocity of the air everywhere
    double air_drag;         ///< Pa s/m, >= 0: pressure on a film for each m/s that the air blows against it
    bool contact;            ///< films do not pass through each other
    bool puncture;           ///< solids break the films that they touch
    double adhesion;         ///< N/m, >= 0: how solids hold on; as a pressure, this over the spacing
    double contact_angle;    ///< degrees, in [0, 180]: of volumes on solids, where these have none painted on
    double friction;         ///< >= 0, Coulomb's coefficient at solids
    /// in [0, 1]: 0 keeps all energy of waves too short or fast for the time step, 1 the least
    double damping;
    double flip_ratio;  ///< in [0, 1]: 0 APIC, towards 1 particles of volumes keep their own velocity (FLIP)
    double max_dt;      ///< s, > 0, the longest time step
    int64_t max_points; ///< an advance that would hold more fails before it takes the memory
    /// Outputs have `curvature` (1/m), and normals by moving least squares in place of those of the
    /// triangles.
    bool output_curvature;
    uint64_t seed;        ///< of what is left to chance: where rims break, how rows of a jet are turned
    int32_t min_substeps; ///< >= 1
    int32_t max_substeps; ///< an advance that needs more fails

    // without a row of their own
    double spacing;     ///< m, between the points of a film, > 0
    mn_vec3 limit_size; ///< m, >= 0, of the box; 0 in any direction: no box
} mn_codim_def;

enum { MN_CODIM_FIELD_COUNT = 39 };
MN_API extern const mn_field mn_codim_fields[];
MN_API extern const mn_solver_type mn_codim_solver;

/// Soap water with 1 mm spacing.
MN_API mn_codim_def mn_codim_default_def(void);

/// Codimensions.
enum { MN_CODIM_VOLUME = 0, MN_CODIM_FILM = 1, MN_CODIM_THREAD = 2, MN_CODIM_DROP = 3 };
enum { MN_CODIM_FREE = -1, MN_CODIM_BORN = -2 }; ///< anchors of points that no source holds

/// One point. No padding: states are saved as they are.
typedef struct mn_codim_point {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    mn_vec3 normal;   ///< unit, the side that the film's triangles face; of a thread, its direction
    double mass;      ///< kg
    int64_t id;       ///< counts births
    int64_t codim;    ///< MN_MLS_*
    int64_t
        anchor; ///< which point of the source holds it; MN_CODIM_FREE; MN_CODIM_BORN - i: inlet i drives it
    int64_t pocket; ///< which gas it holds in; -1: none
    int64_t unrest; ///< steps for which its thickness is evened out after it was split or merged
    int64_t link;   ///< of a chain: how often the rims that it comes from have collided
} mn_codim_point;

/// Film to start with. Arrays belong to the caller and are read during the call.
typedef struct mn_codim_source {
    int64_t count;
    const mn_vec3 *position; ///< m
    const mn_vec3 *velocity; ///< m/s, or NULL: at rest
    const mn_vec3 *normal;   ///< any length above 0: which side is which; of a thread, its direction
    const double *thickness; ///< m, > 0; of threads and drops, their diameter
    const uint8_t *pinned;   ///< 1: held, and moved by mn_codim_inputs.anchors; or NULL
    const uint8_t *codim;    ///< MN_CODIM_FILM, _THREAD or _DROP; or NULL: all are film
} mn_codim_source;

/// A curve that film comes out of, with the velocity of the liquid: how much comes is thickness times the
/// velocity across the curve, in the film. Without any of either it is shut.
typedef struct mn_codim_inlet {
    int64_t count;           ///< >= 2
    const mn_vec3 *position; ///< m
    const mn_vec3 *velocity; ///< m/s, of what leaves
    const double *thickness; ///< m, >= 0, of what leaves
    bool closed;             ///< from the last point back to the first
} mn_codim_inlet;

/// A particle of a volume. No padding.
typedef struct mn_codim_particle {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    mn_mat3 affine;   ///< 1/s, row a is the gradient of the a-th velocity
    double mass;      ///< kg
    double pressure;  ///< Pa above the ambient
    int64_t id;
} mn_codim_particle;

/// A point of the skin of a volume; it has no mass. No padding.
typedef struct mn_codim_skin_point {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    mn_vec3 normal;   ///< unit, out of the liquid
    int64_t id;
} mn_codim_skin_point;

/// A volume of liquid to start with. Arrays belong to the caller and are read during the call.
typedef struct mn_codim_liquid {
    int64_t count;
    const mn_vec3 *position; ///< m
    const mn_vec3 *velocity; ///< m/s, or NULL: at rest
    const double *mass;      ///< kg, > 0
    const mn_region *region; ///< where the liquid is; or NULL: around the particles
} mn_codim_liquid;

typedef struct mn_codim_inlet_measure {
    double length; ///< m
    double flow;   ///< m^3/s
    double speed;  ///< m/s, the fastest across it
} mn_codim_inlet_measure;

MN_API mn_codim_inlet_measure mn_codim_measure_inlet(const mn_codim_inlet *inlet);

/// A region that is always full and that liquid leaves: a nozzle, a tap.
typedef struct mn_codim_volume_inflow {
    mn_region region;
    mn_vec3 velocity; ///< m/s, with which it does
} mn_codim_volume_inflow;

/// What an advance sees; all may be zero. Through the table it is the `own` input, with collider and wind
/// from the inputs that all solvers share.
typedef struct mn_codim_inputs {
    int64_t anchor_count;        ///< 0: pinned points stay where they are
    const mn_vec3 *anchors;      ///< m, positions of the source's points at the end of the advance
    mn_volume wind;              ///< vector volume in m/s, added to the def's wind
    const mn_vec3 *flow;         ///< m/s, or NULL: held points of threads with a velocity are spouts
    const double *width;         ///< m, diameters of the spouts; needed with `flow`
    const mn_collider *collider; ///< or NULL: solids, at the end of the advance
    int64_t inlet_count;         ///< inlet i goes on with what inlet i of the advance before has begun
    const mn_codim_inlet *inlets;
    int64_t inflow_count; ///< inflow i continues what inflow i of the last advance has poured
    const mn_codim_volume_inflow *inflows;
} mn_codim_inputs;

/// What there is to see.
typedef struct mn_codim_view {
    double spacing; ///< m
    int64_t count;
    const mn_codim_point *points;
    const double *thickness; ///< m; of a thread or drop, its diameter
    const double
        *pressure; ///< Pa above the ambient, of the gas that the film holds in; 0 where it holds none
    int64_t triangle_count;
    const int32_t (*triangles)[3]; ///< counter-clockwise as seen from where the normals point
    int64_t open_edges;
    const uint8_t *on_edge; ///< of each point, 1: on an open edge; NULL: not known
    int64_t link_count;
    const int32_t (*links)[2]; ///< pieces of thread between two points
    int64_t particle_count;
    const mn_codim_particle *particles; ///< of volumes
    int64_t skin_count;
    const mn_codim_skin_point *skin; ///< of volumes
    int64_t skin_triangle_count;
    const int32_t (*skin_triangles)[3]; ///< counter-clockwise as seen from outside of the liquid
} mn_codim_view;

/// Outputs of the table: everything in one, told apart by codim and skin; and each by itself.
enum {
    MN_CODIM_OUTPUT_ALL,
    MN_CODIM_OUTPUT_FILMS,     ///< points of films with their triangles
    MN_CODIM_OUTPUT_THREADS,   ///< points of threads with their polylines, and drops
    MN_CODIM_OUTPUT_SKIN,      ///< surface of volumes
    MN_CODIM_OUTPUT_PARTICLES, ///< of volumes
    MN_CODIM_OUTPUT_SHEETS,    ///< films and threads with drops: all but volumes
    MN_CODIM_OUTPUT_COUNT
};

typedef struct mn_codim mn_codim;

/// Without any film.
MN_API mn_status mn_codim_create(mn_context *ctx, const mn_codim_def *def, mn_codim **mls);
/// NULL is fine.
MN_API void mn_codim_free(mn_codim *mls);
/// Parameters may change between advances, but for the spacing. Fails without change on values outside their
/// range.
MN_API mn_status mn_codim_set_def(mn_codim *mls, const mn_codim_def *def);
/// Adds a film; call once, before the first advance. Points nearer than a fifth of the spacing become one.
/// Closed films start with the gas that balances their tension.
MN_API mn_status mn_codim_add(mn_codim *mls, const mn_codim_source *source);
/// Adds a volume of liquid, before the first advance.
MN_API mn_status mn_codim_add_liquid(mn_codim *mls, const mn_codim_liquid *liquid);
/// `dt` seconds on. On failure, also when cancelled, the state is that of the last good step.
MN_API mn_status mn_codim_advance(mn_codim *mls, const mn_codim_inputs *inputs, double dt);

/// Borrowed until the next call that changes the solver.
MN_API mn_codim_view mn_codim_get_view(const mn_codim *mls);
MN_API void mn_codim_report(const mn_codim *mls, mn_report *report);

/// What to expect of films, threads and jets, before they run. Zero where there are none.
typedef struct mn_codim_numbers {
    double points;          ///< at the start
    double bytes;           ///< about, of them
    double film_speed;      ///< m/s, of a free edge, and of waves in the film
    double film_step;       ///< s, once an edge runs through the film
    double film_steps;      ///< in the frame, then
    double thread_speed;    ///< m/s, of a thread's end as it retracts
    double thread_time;     ///< s, in which its fastest wave grows by a factor of e
    double points_per_wave; ///< of that wave
    double jet_flow;        ///< m^3/s, of all inlets
    double jet_step;        ///< s, where the sheet runs into its rim
    double jet_steps;       ///< in the frame, then
    double jet_reach;       ///< m, from the axis to the rim of a round sheet, without gravity
    double jet_points;      ///< of such a sheet
    double jet_outlet;      ///< m, radius of a round inlet as long as the longest
} mn_codim_numbers;
/// `source` may be NULL; of `inputs` the inlets are used, and they may be NULL. `seconds` is the frame.
MN_API void mn_codim_diagnose(const mn_codim_def *def, const mn_codim_source *source,
                              const mn_codim_inputs *inputs, double seconds, mn_codim_numbers *numbers);

MN_API mn_status mn_codim_save(const mn_codim *mls, mn_writer *out);
/// The spacing is that of the saved film, whatever the def says.
MN_API mn_status mn_codim_load(mn_context *ctx, const mn_codim_def *def, mn_reader *in, mn_codim **mls);

#ifdef __cplusplus
}
#endif
#endif
