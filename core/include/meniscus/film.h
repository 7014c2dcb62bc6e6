// SPDX-License-Identifier: Apache-2.0
//
// Soap films, bubbles, foams and films in wire frames on a kept mesh. Bubbles share walls, three films meet
// at 120 degrees, borders rearrange, walls burst, free edges draw back and gather into threads and drops.
//
// The mesh is a complex of triangles with the regions of gas on both sides, segments and single points that
// share vertices; it is changed by local moves only, so vertices keep their ids and their liquid. Volumes of
// liquid are tetrahedra of the same complex, solved together with the films that hang on them.
#ifndef MENISCUS_FILM_H
#define MENISCUS_FILM_H

#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_film_def {
    size_t struct_size;      ///< of this struct; mn_film_default_def() sets it, create compares
    double size;             ///< m, target length of an edge, > 0
    double min_size;         ///< m, >= 0: borders nearer than this rearrange; 0: a fifth of the size
    double density;          ///< kg/m^3, > 0
    double sigma;            ///< N/m, >= 0, surface tension of one side
    double viscosity;        ///< Pa s, >= 0
    mn_vec3 gravity;         ///< m/s^2
    bool gas;                ///< closed pockets hold their gas (Boyle's law)
    double ambient_pressure; ///< Pa, > 0
    double gibbs;            ///< >= 0, elasticity of soap: how tension grows with area, over the tension
    double drag;             ///< Pa s/m, >= 0: pressure on a film for each m/s of air against it
    mn_vec3 wind;            ///< m/s, velocity of the air everywhere
    double thickness;        ///< m, > 0, of films that come without
    double min_thickness;    ///< m, >= 0: a film thinner than this bursts, where `burst` allows it
    bool burst;              ///< films burst where they are too thin, pricked or hit
    bool merge;              ///< films that touch get a common wall, drops join what they touch
    double inflow;    ///< m^3/s of gas at ambient pressure, shared by the pricks, which then burst nothing
    double diffusion; ///< m/(Pa s), >= 0: gas that passes a film for each Pa between its sides
    double damping;   ///< 0 to 1: how much waves that are too fast for the time step are damped
    double max_dt;    ///< s, > 0, the longest time step
    int64_t max_vertices; ///< an advance that would hold more fails
    uint64_t seed;
    int32_t min_substeps, max_substeps;
    double drainage;         ///< >= 0: how fast liquid drains, against films with rigid faces; 0: not
    double rim_factor;       ///< >= 0: how hard free edges are drawn in, over the tension of the film
    double thin_volumes;     ///< 0 to 1: volumes thinner than this, of the size, turn into film
    int32_t polygon_sides;   ///< 0, or at least 2: the pull on free edges varies so often around the vertical
    double polygon_strength; ///< >= 0: how much it varies; 1: straight sides
    bool use_limits;
    mn_box limits; ///< m; what leaves it is removed
} mn_film_def;

enum { MN_FILM_FIELD_COUNT = 36 };
MN_API extern const mn_field mn_film_fields[];
MN_API extern const mn_solver_type mn_film_solver;

/// Soap films with 2 mm edges, without gravity.
MN_API mn_film_def mn_film_default_def(void);

/// Films to start with. Arrays belong to the caller and are read during the call; all but the first two may
/// be NULL.
typedef struct mn_film_source {
    int64_t point_count;
    const mn_vec3 *positions;    ///< m
    const mn_vec3 *velocities;   ///< m/s
    const double *thickness;     ///< m, >= 0; of points with segments only and of drops, their diameter
    const double *min_thickness; ///< m, >= 0: thinner than this the film bursts there; 0: as the def says
    const mn_vec3 *slides;       ///< unit normals of walls that points slide on; zero: free
    const uint8_t *pinned;       ///< 1: held where it is, or by the frame
    int64_t triangle_count;
    const int32_t (*triangles)[3];
    const int32_t (*regions)[2]; ///< behind and in front of each triangle; 0 is the air around. NULL: found
    int64_t segment_count;
    const int32_t (*segments)[2];
    int64_t tet_count;
    const int32_t (*tets)[4]; ///< volumes, turned either way; with them regions are always found
} mn_film_source;

/// Wires: what films hang in. Films that touch a wire when they are added are held by it.
typedef struct mn_film_frame {
    int64_t point_count;
    const mn_vec3 *positions; ///< m, at the end of the advance
    int64_t edge_count;
    const int32_t (*edges)[2];
} mn_film_frame;

/// What an advance sees beside colliders and wind: mn_solver_inputs.own. All may be zero.
typedef struct mn_film_inputs {
    const mn_film_frame *frame; ///< as many points as at the start
    int64_t pinned_count;       ///< as many as were pinned at the start and not held by the frame, or 0
    const mn_vec3 *pinned;      ///< m: where they are at the end of the advance
    int64_t prick_count;
    const mn_vec3
        *pricks; ///< m: the film nearest to each, within a size, bursts; or where def.inflow is blown in
    int64_t inflow_count; ///< places where gas is blown into the pocket around them
    const mn_vec3 *inflow_positions;
    const double *inflow_rates;      ///< m^3/s of gas at ambient pressure
    const struct mn_tet_pipe *pipes; ///< jets of liquid (meniscus/tet.h); NULL: none
    int64_t inlet_count;
    const struct mn_codim_inlet *inlets; ///< curves that film comes out of (meniscus/codim.h)
} mn_film_inputs;

/// A vertex as it is shown.
typedef struct mn_film_point {
    mn_vec3 position, velocity, normal;
    double mass, thickness; ///< kg, m; thickness of threads and drops is their diameter, of volumes alone 0
    double radius;          ///< m, half of it
    double pressure;        ///< Pa above the ambient, in its volume, else highest of the pockets around it
    int64_t id;
    int32_t kind;  ///< 0 inside of a film, 1 on a border or rim, 2 where borders meet, 3 held by a wire
    int32_t codim; ///< 0 volume, 1 film, 2 thread, 3 drop
} mn_film_point;

typedef struct mn_film_view {
    int64_t count;
    const mn_film_point *points;
    int64_t triangle_count;
    const int32_t (*triangles)[3];
    const int32_t (*regions)[2];
    int64_t segment_count;
    const int32_t (*segments)[2];
    int64_t pocket_count;         ///< with region 0
    const double *pocket_volumes; ///< m^3
    const double *pocket_excess;  ///< Pa above the ambient
    const double *pocket_amounts; ///< Pa m^3
    int64_t tet_count;
    const int32_t (*tets)[4];
} mn_film_view;

/// What has happened to topology and gas since the start.
typedef struct mn_film_ledger {
    int64_t splits, collapses, flips, t1, undone, forced, bursts, vanished;
    int64_t contacts, absorbed; ///< walls made where films touched, drops and films taken up
    int64_t thinned;            ///< tetrahedra that turned into film
    int64_t united;             ///< volumes that came together
    double gas_in, gas_out;     ///< Pa m^3, blown in and lost to the air around
    double liquid_in;           ///< kg, by jets and inlets
    mn_vec3 momentum_in;        ///< kg m/s, with it
    mn_vec3 momentum_given;     ///< kg m/s, by gravity, air, wires and solids
    double angular_lost;        ///< kg m^2/s, by moves of the mesh, added up
    int64_t shed;               ///< volumes too small for a mesh that became drops
    double liquid_out;          ///< kg, that left the limits
    mn_vec3 momentum_out;       ///< kg m/s, with it
} mn_film_ledger;

typedef struct mn_film mn_film;

MN_API mn_status mn_film_create(mn_context *ctx, const mn_film_def *def, mn_film **film);
/// NULL is fine.
MN_API void mn_film_free(mn_film *film);
/// Parameters may change between advances, but for the size. Fails without change on values outside their
/// range.
MN_API mn_status mn_film_set_def(mn_film *film, const mn_film_def *def);
/// Before films are added: where the wires are at the start.
MN_API mn_status mn_film_set_frame(mn_film *film, const mn_film_frame *frame);
/// Adds films. Contradictions between regions, triangles twice or without area fail with a sentence that
/// names them. Closed pockets start with the gas that balances the tension around them.
MN_API mn_status mn_film_add(mn_film *film, const mn_film_source *source);
/// `dt` seconds on. On failure, also when cancelled, the state is that of the last good step. `inputs` may be
/// NULL.
MN_API mn_status mn_film_advance(mn_film *film, const mn_solver_inputs *inputs, double dt);

typedef struct mn_film_settle_def {
    double tolerance;  ///< largest force left, over tension times size
    int32_t max_steps; ///< of Newton's method, all rounds together
    bool rearrange;    ///< borders may rearrange (T1) on the way
} mn_film_settle_def;
MN_API mn_film_settle_def mn_film_settle_default_def(void);

typedef struct mn_film_settle_result {
    int32_t steps;
    double residual; ///< over tension times size
    bool settled;
} mn_film_settle_result;

/// Brings films to their equilibrium at the volumes that their pockets have now: the shape of least area.
/// They are at rest afterwards, and pockets hold the gas that keeps them there.
MN_API mn_status mn_film_settle(mn_film *film, const mn_film_settle_def *def, mn_film_settle_result *result);
/// Sets the volume that a pocket is settled at, m^3.
MN_API mn_status mn_film_set_volume(mn_film *film, int32_t region, double volume);

/// Borrowed until the next call that changes the solver.
MN_API mn_status mn_film_get_view(mn_film *film, mn_film_view *view);
MN_API void mn_film_report(const mn_film *film, mn_report *report);
MN_API mn_film_ledger mn_film_get_ledger(const mn_film *film);
/// MN_OK, or a sentence about the first broken invariant of the mesh.
MN_API mn_status mn_film_check(const mn_film *film);

/// What to expect of films of the def's thickness, before they run.
typedef struct mn_film_numbers {
    double speed;    ///< m/s, of waves, and of edges that draw back
    double shortest; ///< m, wave that steps of max_dt resolve; shorter ones are damped
    double bytes_per_vertex;
} mn_film_numbers;
MN_API void mn_film_diagnose(const mn_film_def *def, mn_film_numbers *numbers);

MN_API mn_status mn_film_save(const mn_film *film, mn_writer *out);
/// The size is that of the saved films, whatever the def says.
MN_API mn_status mn_film_load(mn_context *ctx, const mn_film_def *def, mn_reader *in, mn_film **film);

// ---- films to start with ----

typedef struct mn_film_cluster_def {
    int64_t count;          ///< of bubbles
    const mn_vec3 *centers; ///< m
    const double *radii;    ///< m; bubbles that overlap share a wall
    double size;            ///< m, of edges
    double thickness;       ///< m
} mn_film_cluster_def;
/// Triangles with region, points with thickness.
MN_API mn_status mn_film_cluster_create(mn_context *ctx, const mn_film_cluster_def *def, mn_geo **geo);
/// Places for `count` bubbles of these radii: packed around `center`, each overlapping its neighbours by
/// `overlap`, 0 to 0.5, of the sum of their radii.
MN_API void mn_film_pack(uint64_t seed, int64_t count, mn_vec3 center, double overlap, const double *radii,
                         mn_vec3 *centers);
/// The same in a row along x.
MN_API void mn_film_row(int64_t count, mn_vec3 center, double overlap, const double *radii, mn_vec3 *centers);
typedef struct mn_film_sheet_def {
    mn_vec3 center;   ///< m
    double radius;    ///< m, > 0
    double height;    ///< m: of an open cylinder about y; 0: a flat disc
    double size;      ///< m, > 0, of edges
    double thickness; ///< m
    bool pin;         ///< the rims get the point attribute pinned
    double lid;       ///< m, of a disc: depth of a pinned bowl below it that holds gas; 0: none
} mn_film_sheet_def;
/// A film on one ring or between two.
MN_API mn_status mn_film_sheet_create(mn_context *ctx, const mn_film_sheet_def *def, mn_geo **geo);
/// A film from the middle of a frame to each of its wires: what a dipped frame looks like before it settles.
MN_API mn_status mn_film_cone_create(mn_context *ctx, const mn_film_frame *frame, double thickness,
                                     mn_geo **geo);

#ifdef __cplusplus
}
#endif
#endif
