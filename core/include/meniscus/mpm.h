// SPDX-License-Identifier: Apache-2.0
//
// Liquids with surface tension by the material point method: particles carry mass and motion, a background
// grid solves for the motion of one step, and the energy of the surface between liquid and air is part of
// what the grid minimises [hyde2020] [marquez2021]. See docs/theory/mpm.md.
//
//   mn_mpm_def def = mn_mpm_default_def();
//   def.dx = 1e-3, def.sigma = 0.072;
//   mn_mpm_create(ctx, &def, &mpm);
//   mn_mpm_add(mpm, &source);
//   mn_mpm_advance(mpm, NULL, 1.0 / 24);
#ifndef MENISCUS_MPM_H
#define MENISCUS_MPM_H

#include "meniscus/elastic.h"
#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_mpm mn_mpm;

/// How a step is taken. See docs/theory/mpm.md for what each damps.
typedef enum mn_mpm_integrator {
    MN_MPM_EXPLICIT,      ///< many cheap steps, bound by sound and capillary waves; conserves both momenta
    MN_MPM_SEMI_IMPLICIT, ///< one Newton step: long steps, bound by the flow alone
    MN_MPM_IMPLICIT       ///< Newton's method until nothing is left to change: the same, tighter
} mn_mpm_integrator;

/// How the surface's samples touch the grid.
typedef enum mn_mpm_surface_particles {
    MN_MPM_RESAMPLED, ///< samples borrow mass from the nearest particle: conserves both momenta
    MN_MPM_MASSLESS   ///< samples carry force only [hyde2020]: cheaper, noisier
} mn_mpm_surface_particles;

typedef enum mn_mpm_transfer {
    MN_MPM_APIC,     ///< calm
    MN_MPM_APIC_FLIP ///< blended with the particles' own velocity: livelier splashes
} mn_mpm_transfer;

/// What happens at a side of the domain.
typedef enum mn_mpm_wall {
    MN_MPM_OPEN,     ///< nothing
    MN_MPM_SLIP,     ///< no motion through or off the wall, free along it
    MN_MPM_STICK,    ///< no motion at all
    MN_MPM_SEPARATE, ///< no motion through the wall; may leave it; friction along it
    MN_MPM_SINK,     ///< what passes is taken out
    MN_MPM_WALL_COUNT
} mn_mpm_wall;

/// Ranges, defaults and sentences are those of mn_mpm_fields.
typedef struct mn_mpm_def {
    size_t struct_size; ///< of this struct; mn_mpm_default_def() sets it, create compares
    double dx;          ///< m, grid spacing, > 0
    double sigma;       ///< N/m, surface tension of particles that bring none, >= 0
    /// N/m, between particles whose `liquid` is 0 and those whose it is 1, >= 0; 0: they are one liquid
    double interfacial_tension;
    double density;      ///< kg/m^3, the same, > 0
    double viscosity;    ///< Pa s, the same, >= 0
    double bulk_modulus; ///< Pa, > 0; 0: stiff enough for `compression`
    mn_vec3 gravity;     ///< m/s^2
    mn_vec3 wind;        ///< m/s, velocity of the air everywhere
    double air_density;  ///< kg/m^3, of the air that presses on the surface, >= 0; 0: there is none
    bool hydrostatic;    ///< liquid that is added before the first step gets the pressures of a pool at rest

    mn_mpm_integrator integrator;
    double newton_tolerance; ///< of implicit steps: velocity left to change, of the step's change, (0, 1)
    double max_dt;           ///< s, > 0
    double cfl;              ///< cells that liquid, and sound where explicit, may cross in one step, (0, 10]
    mn_mpm_surface_particles surface_particles;
    int32_t smoothing; ///< passes over the particles' level set, 0 to 8
    bool sheets; ///< sheets and threads thinner than a cell, which smoothing loses, have surface tension too
    mn_mpm_transfer transfer;
    double flip_ratio; ///< fraction of the particles' own velocity with MN_MPM_APIC_FLIP, [0, 1]

    /// Coulomb's coefficient at separating walls and colliders, >= 0; a painted `friction` comes first
    double friction;
    /// degrees, between the liquid's surface and walls or colliders, through the liquid, [0, 180]; colliders
    /// with a painted `contact_angle` have their own
    double contact_angle;
    mn_vec3 friction_min, friction_max; ///< of the sides x, y, z min and max of the domain; -1: `friction`
    mn_vec3 contact_angle_min, contact_angle_max; ///< degrees, the same; -1: `contact_angle`
    bool output_surface;                          ///< whether the second output holds the surface
    double surface_scale;                         ///< spacing of that surface's level set, in cells, [0.1, 1]
    uint64_t seed;                                ///< of the places that emitters put particles at
    int64_t min_substeps;                         ///< of one advance, >= 1
    int64_t max_substeps;                         ///< of one advance, >= 1

    // without a row of their own
    double compression;   ///< volume change that the automatic bulk modulus allows, (0, 0.1]
    mn_box domain;        ///< m; walls stand on its sides
    mn_mpm_wall wall[6];  ///< x min, x max, y min, y max, z min, z max
    mn_mpm_wall collider; ///< what colliders do: slip, stick or separate
} mn_mpm_def;

enum { MN_MPM_FIELD_COUNT = 61 };
MN_API extern const mn_field mn_mpm_fields[];
MN_API extern const mn_solver_type mn_mpm_solver;

/// Water, dx 1 mm, gravity, no walls, explicit, resampled.
MN_API mn_mpm_def mn_mpm_default_def(void);

MN_API mn_status mn_mpm_create(mn_context *ctx, const mn_mpm_def *def, mn_mpm **mpm);
MN_API void mn_mpm_free(mn_mpm *mpm);
/// New parameters from the next advance on; dx must stay what it was. Sigma, viscosity and density act on
/// the liquid that there is too, but for particles that brought their own; density changes its mass, not its
/// volume.
MN_API mn_status mn_mpm_set_def(mn_mpm *mpm, const mn_mpm_def *def);

enum {
    MN_MPM_SOURCE_SIGMA = 1 << 28,
    MN_MPM_SOURCE_VISCOSITY = 1 << 29,
    MN_MPM_SOURCE_DENSITY = 1 << 30,
};

/// Particles to add. Arrays are `count` long or NULL for the def's values.
typedef struct mn_mpm_source {
    int64_t count;
    const mn_vec3 *position; ///< m, required
    const mn_vec3 *velocity; ///< m/s; NULL: at rest
    const double *mass;      ///< kg, > 0; NULL: density dx^3 / 8
    const double *density;   ///< kg/m^3, > 0
    const double *sigma;     ///< N/m, >= 0
    const double *viscosity; ///< Pa s, >= 0
    const int64_t *id;       ///< unique and not negative; NULL: numbered on
    /// MN_MPM_SOURCE_*, or NULL: values among these arrays that are the def's, and change with it, as those
    /// of missing arrays do
    const int32_t *follows;
    const int32_t *liquid; ///< 0 or 1: which of two liquids (mn_mpm_def.interfacial_tension); NULL: 0
    bool only_free;        ///< leaves out those that would lie in liquid that is there already
} mn_mpm_source;

/// All or none: a value that is not allowed names the particle and its attribute.
MN_API mn_status mn_mpm_add(mn_mpm *mpm, const mn_mpm_source *source);

/// New materials for particles that there are; ids that are in no particle are passed over. Arrays are
/// `count` long or NULL: left alone. The values are the particles' own from then on.
MN_API mn_status mn_mpm_set_materials(mn_mpm *mpm, int64_t count, const int64_t *id, const double *sigma,
                                      const double *viscosity, const double *density);

/// Surfaces that liquid comes out of, on the side that their triangles face (counter-clockwise from there).
/// Arrays are `point_count` long or NULL.
typedef struct mn_mpm_emitter {
    int64_t point_count, triangle_count;
    const mn_vec3 *positions;                  ///< m
    const mn_vec3 *velocities;                 ///< m/s, of the liquid; NULL: that of the emitter's own motion
    const double *sigma, *viscosity, *density; ///< NULL: the def's
    const int64_t (*triangles)[3];
    double speed;     ///< m/s, along the normals, on top of that
    double flow_rate; ///< m^3/s of all together, >= 0; 0: what velocities and speed give
} mn_mpm_emitter;

/// The emitter as it is at the end of the coming advance of `seconds`, from where it was at the last call;
/// copied. NULL: none. Liquid leaves it at constant density, volume v.n A per second relative to its motion,
/// whatever the frames and steps. It starts with a nozzle of three cells behind the surface, filled.
MN_API mn_status mn_mpm_set_emitter(mn_mpm *mpm, const mn_mpm_emitter *emitter, double seconds);
/// m^3/s that it gives now.
MN_API double mn_mpm_emitter_rate(const mn_mpm *mpm);

/// Bodies that the liquid touches and that it moves, from the next advance on (NULL: none any more): the two
/// are solved for together, and what one gets the other loses. Only implicit steps have them. `bodies` stays
/// the caller's, must outlive the solver and is advanced by it alone; `inputs` (may be NULL) and
/// `contact_angle` (degrees, of each of its points; NULL: the def's) are borrowed until the advance is over.
MN_API mn_status mn_mpm_set_bodies(mn_mpm *mpm, mn_elastic *bodies, const mn_elastic_inputs *inputs,
                                   const double *contact_angle);

/// Advances by `seconds` in as many steps as it takes. `inputs` may be NULL; it takes a collider, a sink,
/// volumes of force, wind, sigma and viscosity, and as `own` an mn_mpm_emitter, which is set as by
/// mn_mpm_set_emitter(). On failure the state is that of the last good step.
MN_API mn_status mn_mpm_advance(mn_mpm *mpm, const mn_solver_inputs *inputs, double seconds);

/// One particle as an artist sees it.
typedef struct mn_mpm_point {
    mn_vec3 position, velocity;
    int64_t id;
    double mass, density, j, pressure, sigma, viscosity, age;
    double radius;  ///< m, of a ball of the particle's volume
    int32_t liquid; ///< 0 or 1
} mn_mpm_point;

/// The liquid's surface as closed triangles, counter-clockwise from outside. Valid until the next call.
typedef struct mn_mpm_mesh {
    int32_t vertex_count, triangle_count;
    const mn_vec3 *positions;  ///< m
    const mn_vec3 *velocities; ///< m/s
    const int32_t (*triangles)[3];
    const double *liquids; ///< from 0 to 1, the second, at each vertex; NULL: there is one liquid
} mn_mpm_mesh;

/// `dx` is the spacing of the level set that it is drawn from, in (0, 1] of the grid's; the surface ends at
/// the collider, which may be NULL. The state stays as it is.
MN_API mn_status mn_mpm_get_surface(mn_mpm *mpm, const mn_collider *collider, double dx, mn_mpm_mesh *mesh);

MN_API int64_t mn_mpm_count(const mn_mpm *mpm);
/// The domain is closed on all sides and the liquid takes up all of it: emitters have stopped.
MN_API bool mn_mpm_is_full(const mn_mpm *mpm);

/// How the particles lie in the grid's cells.
typedef struct mn_mpm_packing {
    double per_cell; ///< particles in a cell that has some, on average over the particles; 0: there are none
    double crowded;  ///< share of the particles in cells with more than 1.75 times their volume
} mn_mpm_packing;

MN_API mn_mpm_packing mn_mpm_get_packing(const mn_mpm *mpm);

/// All particles by rising id; `points` has room for mn_mpm_count() of them.
MN_API mn_status mn_mpm_get_points(const mn_mpm *mpm, mn_mpm_point *points);

/// Quantities of the state now, and counts and seconds of the last advance.
MN_API void mn_mpm_report(const mn_mpm *mpm, mn_report *report);

/// What to expect of a simulation, before it runs.
typedef struct mn_mpm_numbers {
    double bodies;          ///< that are more than mist: three and a half cells or more
    double smallest_radius; ///< m, of the smallest of them, as a ball of its volume
    double cells_across;    ///< of that ball
    double capillary_time;  ///< s, sqrt(rho R^3/sigma) of that body
    double ohnesorge;       ///< mu/sqrt(rho sigma R)
    double bond;            ///< rho g R^2/sigma, of the largest body
    double weber;           ///< rho U^2 R/sigma, of the largest body and the fastest particle
    double bulk_modulus;    ///< Pa
    double step;            ///< s
    double steps;           ///< of one advance of `seconds`
    const char *binding;    ///< which limit sets the step
    double bytes;           ///< that the solver will hold, without the frames that a host keeps
    double flow_rate;       ///< m^3/s, of the emitters
    double emitter_area;    ///< m^2, of those that flow
    double emitter_speed;   ///< m/s, the fastest
} mn_mpm_numbers;

/// Of these only bulk_modulus, step, steps and binding, which takes no longer than a sort.
MN_API mn_status mn_mpm_expect_steps(mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers);
/// All of them. Implicit steps are those of liquid that surface tension has set in motion.
MN_API mn_status mn_mpm_diagnose(mn_mpm *mpm, double seconds, mn_mpm_numbers *numbers);

/// Everything that the next advance depends on.
MN_API mn_status mn_mpm_save(const mn_mpm *mpm, mn_writer *out);
/// `def` is the one to go on with.
MN_API mn_status mn_mpm_load(mn_context *ctx, const mn_mpm_def *def, mn_reader *in, mn_mpm **mpm);

#ifdef __cplusplus
}
#endif
#endif
