// SPDX-License-Identifier: Apache-2.0
//
// Liquids with surface tension on a tetrahedral mesh that moves with them: sharp surface, volume exact to
// rounding, numerical viscosity far below water's [clausen2013]. See docs/theory/tet.md.
//
//   mn_tet_liquid_def def = mn_tet_liquid_default_def();
//   def.sigma = 0.072;
//   mn_tet_liquid_create(ctx, &def, mesh, &liquid);
//   mn_tet_liquid_advance(liquid, NULL, 1.0 / 24);
//   const mn_tet_mesh *now = mn_tet_liquid_mesh(liquid);
#ifndef MENISCUS_TET_H
#define MENISCUS_TET_H

#include "meniscus/solver.h"
#include "meniscus/tetmesh.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct mn_tet_liquid mn_tet_liquid;

typedef enum mn_tet_integrator {
    MN_TET_BDF2,   ///< second order, one solve a step, started by one step of SDIRK2; damps small waves
    MN_TET_SDIRK2, ///< second order, two solves a step, damps them less
    /// Second order, one solve and one linear solve a step, keeps energy. BDF2 while the liquid touches
    /// solids or pipes or is so viscous that it needs damping.
    MN_TET_SYMMETRIC,
} mn_tet_integrator;

/// Ranges, defaults and sentences are those of mn_tet_liquid_fields.
typedef struct mn_tet_liquid_def {
    size_t struct_size; ///< of this struct; mn_tet_liquid_default_def() sets it, create compares
    double density;     ///< kg/m^3
    double sigma;       ///< surface tension, N/m
    double viscosity;   ///< Pa s
    mn_vec3 gravity;    ///< m/s^2

    /// Edge of the tetrahedra, m; 0: the mean of the mesh given. It scales the steps and the limits below.
    double size;
    double min_size; ///< shorter edges are contracted, m; 0: half the size
    double max_size; ///< longer edges are split, m, at least 2.5 min_size; 0: 1.7 times the size
    double quality;  ///< tetrahedra below this volume-length ratio are repaired; 0: no remeshing

    mn_tet_integrator integrator;
    double max_dt;         ///< s
    double capillary_step; ///< of sqrt(density size^3/sigma) that a step may last
    int64_t max_substeps;  ///< of one advance
    int64_t min_substeps;  ///< of one advance

    /// Stiffness of the soft volume that every tetrahedron has beside the exact one of its nodes, in units of
    /// sigma/size + density g size, >= 0, and how long it remembers, in units of sqrt(density size^3/sigma),
    /// > 0.
    double soft_stiffness, soft_memory;

    /// Divide tetrahedra between surface nodes, and edges that join them through the liquid, for the time of
    /// a step: films of one element and thin corners flow then. Costs a new factor every step.
    bool unlock;

    mn_box domain; ///< m
    bool wall[6];  ///< which of its sides are solid: x min, x max, y min, y max, z min, z max
    bool merge;    ///< liquid that overlaps becomes one: bodies that meet, and one that folds
    /// A neck is cut when the stress that it carries is above this many times sigma/size; a thread then has
    /// the radius size/split_threshold. 0: necks are never cut.
    double split_threshold;
    bool stick;                         ///< liquid sticks to solids; otherwise it slips along them
    double friction;                    ///< Coulomb's coefficient of liquid that slips
    double drag;                        ///< force per wetted area and speed of liquid that slips, Pa s/m
    double contact_angle;               ///< at solids, measured in the liquid, degrees
    mn_vec3 friction_min, friction_max; ///< of the sides x, y, z min and max of the domain; -1: `friction`
    mn_vec3 contact_angle_min, contact_angle_max; ///< degrees, the same; -1: `contact_angle`

    // With materials (mn_tet_liquid_set_materials).
    bool heat;                   ///< follow temperatures, melting and freezing
    double air_temperature;      ///< K
    double air_transfer;         ///< heat to the air, W/(m^2 K)
    bool radiation;              ///< also by radiation, with each material's emissivity
    double collider_temperature; ///< K, of solids that are touched
    double collider_transfer;    ///< heat to them, W/(m^2 K)
} mn_tet_liquid_def;

enum { MN_TET_LIQUID_FIELD_COUNT = 44 };
MN_API extern const mn_field mn_tet_liquid_fields[];
MN_API extern const mn_solver_type mn_tet_liquid_solver;

/// Water under gravity, no solids, 90 degrees.
MN_API mn_tet_liquid_def mn_tet_liquid_default_def(void);

/// A solver with a mesh (mn_tet_liquid_set_mesh).
MN_API mn_status mn_tet_liquid_create(mn_context *ctx, const mn_tet_liquid_def *def, const mn_tet_mesh *mesh,
                                      mn_tet_liquid **liquid);
/// Copies the mesh; its fields `v` (linear, 3, m/s) and `rest_volume` (amount, m^3) are used when there.
/// Tetrahedra must be positive. Once, before the first advance.
MN_API mn_status mn_tet_liquid_set_mesh(mn_tet_liquid *liquid, const mn_tet_mesh *mesh);
MN_API void mn_tet_liquid_free(mn_tet_liquid *liquid);
/// New parameters from the next advance on.
MN_API mn_status mn_tet_liquid_set_def(mn_tet_liquid *liquid, const mn_tet_liquid_def *def);
MN_API const mn_tet_liquid_def *mn_tet_liquid_get_def(const mn_tet_liquid *liquid);

/// Materials: the mesh's field `material` (value, 1) says which of these each tetrahedron is; without the
/// field all are the first. Solids start at rest in the places of the field `rest` (linear, 3, m), or where
/// they are, at the field `temperature` (linear, K). Copied. Once more to change their numbers, and after
/// a load.
typedef struct mn_tet_material mn_tet_material;
MN_API mn_status mn_tet_liquid_set_materials(mn_tet_liquid *liquid, int32_t count,
                                             const mn_tet_material *materials);
/// Those in use; NULL without any. Then the mesh has the fields `material`, `solid` (value, 1 or 0),
/// `plastic_strain` (value), `temperature` and `melted` (linear).
MN_API const mn_tet_material *mn_tet_liquid_materials(const mn_tet_liquid *liquid, int32_t *count);
/// Von Mises stress of tetrahedron t, Pa.
MN_API double mn_tet_liquid_stress(const mn_tet_liquid *liquid, int32_t t);

/// Liquid that comes out of a pipe: `own` of the solver's inputs. It is pushed out of the mouth, and
/// tetrahedra are added behind it, a layer of one size at a time. Where the mouth is empty the slug is put in
/// at the next layer; a liquid whose faces lie in the mouth at the start continues from there.
typedef struct mn_tet_pipe {
    /// What fills the mouth of a pipe, with a flat end across the velocity: the end is the mouth. All
    /// positive; borrowed. NULL: no inflow.
    const mn_tet_mesh *slug;
    mn_vec3
        velocity; ///< of the inflow, m/s; 0: the pipe is shut, and holds its liquid where it was open before
    /// m^3/s, >= 0, of all pipes together; sets their speed; 0: what velocities and mouths give. Only that of
    /// the first pipe counts.
    double flow_rate;
    const struct mn_tet_pipe *next; ///< another pipe with its own direction; NULL: this is the last
} mn_tet_pipe;
/// Rest volume that came and went in the last advance, m^3.
MN_API void mn_tet_liquid_get_piped(const mn_tet_liquid *liquid, double *added, double *removed);

/// Advances by `seconds` in as many steps as it takes, with colliders, a sink that takes out the tetrahedra
/// inside it (the mesh may become empty) and, as `own`, an mn_tet_pipe. A step that fails is taken again at
/// half its length; when none can be solved, time passes by inertia alone and the mesh is repaired.
MN_API mn_status mn_tet_liquid_advance(mn_tet_liquid *liquid, const mn_solver_inputs *inputs, double seconds);

/// What its outputs show.
enum {
    MN_TET_OUTPUT_TETRAHEDRA,
    MN_TET_OUTPUT_SURFACE,
    MN_TET_OUTPUT_SOLID_SURFACE,  ///< what of the surface is solid
    MN_TET_OUTPUT_LIQUID_SURFACE, ///< what of the surface is liquid
    MN_TET_OUTPUT_COUNT
};

/// What the last advance had to do to get through.
typedef struct mn_tet_rescues {
    int64_t coasted; ///< steps without forces, since none could be solved
    int64_t limited; ///< steps before which tetrahedra lost speed that no step could follow
    int64_t opened;  ///< places where sheets too thin for the mesh opened
    double boiling;  ///< K, of the hottest melt before it was kept at 3 melting points; 0: none
} mn_tet_rescues;
MN_API void mn_tet_liquid_get_rescues(const mn_tet_liquid *liquid, mn_tet_rescues *rescues);

/// The mesh now, without gaps, with the fields `v` (m/s), `pressure` (Pa) and `rest_volume` (m^3); others are
/// the solver's own. Borrowed until the next advance.
MN_API const mn_tet_mesh *mn_tet_liquid_mesh(const mn_tet_liquid *liquid);

/// Quantities of the state now, and counts and seconds of the last advance.
MN_API void mn_tet_liquid_report(const mn_tet_liquid *liquid, mn_report *report);

/// What to expect of a simulation, before it runs.
typedef struct mn_tet_liquid_numbers {
    double radius;         ///< m, of a ball of the liquid's volume
    double edges_across;   ///< sizes in the diameter of that ball
    double capillary_time; ///< s, sqrt(rho R^3/sigma); 0 without surface tension
    double ohnesorge, bond, weber;
    double step, steps; ///< s, and how many an advance of `seconds` takes
    double bytes;       ///< that the solver will hold
} mn_tet_liquid_numbers;
MN_API void mn_tet_liquid_diagnose(const mn_tet_liquid *liquid, double seconds,
                                   mn_tet_liquid_numbers *numbers);

/// Everything that the next advance depends on.
MN_API mn_status mn_tet_liquid_save(const mn_tet_liquid *liquid, mn_writer *out);
/// `def` is the one to advance with.
MN_API mn_status mn_tet_liquid_load(mn_context *ctx, const mn_tet_liquid_def *def, mn_reader *in,
                                    mn_tet_liquid **liquid);

#ifdef __cplusplus
}
#endif
#endif
