// SPDX-License-Identifier: Apache-2.0
//
// Spray: drops that fly on their own. Gravity, air drag, wind, emission from a moving source, and solids that
// they bounce off, stick to or die on. Drops do not see each other.
//
// At the end of this header: points that are carried by a velocity volume (mn_trace).
// Spray is the smallest complete solver of the house; meniscus/solver.h tells the pattern.
//
//   mn_spray_def def = mn_spray_default_def();
//   def.rate = 5000;
//   mn_spray_create(ctx, &def, &spray);
//   mn_spray_advance(spray, &(mn_solver_inputs){.emitter = &nozzle}, 1.0 / 24);
#ifndef MENISCUS_SPRAY_H
#define MENISCUS_SPRAY_H

#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_impact {
    MN_IMPACT_BOUNCE, ///< restitution along the normal, Coulomb friction along the surface
    MN_IMPACT_STICK,  ///< rides on the solid from then on
    MN_IMPACT_DIE,    ///< is removed
} mn_impact;

typedef enum mn_spray_from {
    MN_SPRAY_FROM_SURFACE, ///< the source's triangles; its points when it has none
    MN_SPRAY_FROM_POINTS
} mn_spray_from;

typedef enum mn_spray_along {
    MN_SPRAY_ALONG_NORMAL, ///< the source's normals, where it has them
    MN_SPRAY_ALONG_AXIS    ///< `direction`
} mn_spray_along;

/// Ranges, defaults and sentences are those of mn_spray_fields.
typedef struct mn_spray_def {
    size_t struct_size; ///< of this struct; mn_spray_default_def() sets it, create compares
    // the drops that are emitted
    double rate; ///< drops per second, >= 0
    mn_spray_from emit_from;
    double speed;           ///< m/s along the direction of emission
    double speed_variation; ///< in [0, 1]: speed (1 + variation u), u uniform in [-1, 1]
    mn_spray_along along;
    mn_vec3 direction;       ///< need not be a unit vector
    double spread;           ///< degrees, half angle of the cone around the direction, in [0, 180]
    double inherit_velocity; ///< fraction of the source's own velocity that a drop starts with
    double radius;           ///< m, > 0
    double radius_variation; ///< in [0, 0.99], as for the speed
    double density;          ///< kg/m^3, > 0
    double life;             ///< s; 0: until something removes it
    double life_variation;   ///< in [0, 1], as for the speed

    // the air
    mn_vec3 gravity;      ///< m/s^2
    mn_vec3 wind;         ///< m/s, velocity of the air
    double air_density;   ///< kg/m^3, >= 0; 0 for a vacuum
    double air_viscosity; ///< Pa s, >= 0
    double drag;          ///< factor on the drag of a sphere, >= 0

    // impacts
    mn_impact impact;
    double restitution; ///< normal speed after over before, in [0, 1]
    double friction;    ///< Coulomb's coefficient, >= 0
    double cfl;         ///< a drop at a solid moves at most this many voxels of its level set at once, > 0

    // limits
    bool use_limits;
    mn_box limits;     ///< drops outside are removed
    int64_t max_drops; ///< an advance that would hold more fails before it takes the memory
    uint64_t seed;
    int32_t min_substeps; ///< >= 1
    int32_t max_substeps; ///< an advance that does not succeed with this many fails
} mn_spray_def;

enum { MN_SPRAY_FIELD_COUNT = 32 };
MN_API extern const mn_field mn_spray_fields[];
MN_API extern const mn_solver_type mn_spray_solver;

MN_API mn_spray_def mn_spray_default_def(void);

/// m/s, at which drag balances gravity for a sphere of this radius (m) and mass (kg); INFINITY in a vacuum, 0
/// without gravity.
MN_API double mn_spray_terminal_speed(const mn_spray_def *def, double radius, double mass);

/// What to expect of a spray, before it runs.
typedef struct mn_spray_numbers {
    double terminal_speed; ///< m/s, of a drop of the mean radius; INFINITY in a vacuum
    double reynolds;       ///< at that speed; 0 without air
    double drops_per_frame;
    double drops; ///< at most; INFINITY when none dies of age
    double bytes; ///< of them
} mn_spray_numbers;
MN_API void mn_spray_diagnose(const mn_spray_def *def, double seconds, mn_spray_numbers *numbers);

/// kg, of a ball.
static inline double mn_drop_mass(double radius, double density)
{
    return density * (4.0 / 3.0 * MN_PI) * radius * radius * radius;
}

/// One drop. No padding: states are saved as they are.
typedef struct mn_drop {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    double radius;    ///< m
    double mass;      ///< kg
    double age;       ///< s
    double life;      ///< s; negative: for ever
    int64_t id;       ///< counts births; drops are kept in this order
    int64_t flags;    ///< MN_DROP_*
} mn_drop;
enum { MN_DROP_STUCK = 1 };

typedef struct mn_spray mn_spray;

/// A spray without drops.
MN_API mn_status mn_spray_create(mn_context *ctx, const mn_spray_def *def, mn_spray **spray);
/// NULL is fine.
MN_API void mn_spray_free(mn_spray *spray);
/// Parameters may change between advances. Fails without change on values outside their range.
MN_API mn_status mn_spray_set_def(mn_spray *spray, const mn_spray_def *def);

/// Adds drops as they are but for their ids, which go on from the last.
MN_API mn_status mn_spray_add(mn_spray *spray, int64_t count, const mn_drop *drops);
/// Where the source is at the start, so that the first frame's emission follows its motion.
MN_API mn_status mn_spray_set_source(mn_spray *spray, const mn_emitter *source);

/// `dt` seconds on; takes a collider, wind and an emitter. On failure, also when cancelled, the state is that
/// of the last good step.
MN_API mn_status mn_spray_advance(mn_spray *spray, const mn_solver_inputs *inputs, double dt);

/// Borrowed until the next call that changes the spray.
MN_API const mn_drop *mn_spray_drops(const mn_spray *spray, int64_t *count);
MN_API void mn_spray_report(const mn_spray *spray, mn_report *report);

MN_API mn_status mn_spray_save(const mn_spray *spray, mn_writer *out);
MN_API mn_status mn_spray_load(mn_context *ctx, const mn_spray_def *def, mn_reader *in, mn_spray **spray);

// ---- points that are carried ----
//
// Points that are carried by a velocity volume: tracers, dye, bubbles without weight.
//
// A volume is known at the ends of frames only. With u1 the one at the end of this frame and v0 the velocity
// that a point had at its start, x0, the change over the frame is taken to be the same along its path,
//
//   u(x, s) = u1(x) + (1 - s) (v0 - u1(x0)),     s from 0 to 1 over the frame,
//
// and steps are Heun's: second order in the length of frames and steps, without a second volume in memory.

typedef struct mn_trace_def {
    size_t struct_size;   ///< of this struct; mn_trace_default_def() sets it, create compares
    double cfl;           ///< voxels that a point may cross in one step, (0, 10]
    double max_dt;        ///< s, > 0
    int32_t min_substeps; ///< >= 1
    int32_t max_substeps; ///< >= 1
} mn_trace_def;

enum { MN_TRACE_FIELD_COUNT = 6 };
MN_API extern const mn_field mn_trace_fields[];
/// Takes the wind, which is required.
MN_API extern const mn_solver_type mn_trace_solver;
MN_API mn_trace_def mn_trace_default_def(void);

/// One point; rows of add() and of the output.
typedef struct mn_trace_point {
    mn_vec3 position; ///< m
    mn_vec3 velocity; ///< m/s
    double age;       ///< s
    int64_t id;
} mn_trace_point;

#ifdef __cplusplus
}
#endif
#endif
