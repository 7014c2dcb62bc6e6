// SPDX-License-Identifier: Apache-2.0
//
// Elastic solids, cloth and rigid bodies that touch each other and never pass through each other.
//
// A step minimises inertia, elasticity, a barrier between surfaces and friction together, so it is stable at
// any length; linear and angular momentum are exact. Bodies are added once; what moves by itself (pinned
// points, colliders) is told where to be at the end of each advance.
#ifndef MENISCUS_ELASTIC_H
#define MENISCUS_ELASTIC_H

#include "meniscus/solver.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef enum mn_elastic_model {
    MN_ELASTIC_COROTATED,
    MN_ELASTIC_NEO_HOOKEAN,
    MN_ELASTIC_ST_VENANT_KIRCHHOFF,
} mn_elastic_model;

typedef enum mn_elastic_integrator {
    MN_ELASTIC_BDF2,           ///< second order, little damping
    MN_ELASTIC_BACKWARD_EULER, ///< first order, takes much energy
    MN_ELASTIC_EXPLICIT,       ///< symplectic Euler, at the short steps that stability asks for
} mn_elastic_integrator;

typedef enum mn_elastic_method {
    MN_ELASTIC_BARRIER,    ///< an energy between surfaces, and steps that pass through nothing
    MN_ELASTIC_NO_CONTACT, ///< bodies pass through each other
    MN_ELASTIC_IMPULSES,   ///< pairs exchange momentum after each step; not in a liquid
} mn_elastic_method;

typedef struct mn_elastic_def {
    size_t struct_size;      ///< of this struct; mn_elastic_default_def() sets it, create compares
    double density;          ///< kg/m^3, > 0
    double young;            ///< Pa, > 0; of rigid bodies: how hard their contacts are
    double poisson;          ///< in (-1, 0.5)
    mn_elastic_model model;  ///< of solids
    double damping;          ///< s, >= 0: viscous stress is damping * young * rate of strain
    double friction;         ///< Coulomb's coefficient, >= 0
    double thickness;        ///< m, > 0, of cloth
    double bending;          ///< factor on the bending stiffness of cloth, >= 0
    double prestress;        ///< N/m, >= 0: tension of cloth in the shape it comes in
    double contact_distance; ///< m, >= 0: where contact begins; 0: chosen from the bodies
    mn_elastic_method method;
    bool self_contact; ///< solids and cloth also touch themselves
    mn_elastic_integrator integrator;
    mn_vec3 gravity;      ///< m/s^2
    double max_dt;        ///< s, > 0: longest step
    int32_t min_substeps; ///< of an advance, >= 1
    int32_t max_substeps; ///< an advance that needs more fails
} mn_elastic_def;

MN_API mn_elastic_def mn_elastic_default_def(void);

enum { MN_ELASTIC_FIELD_COUNT = 23 };
MN_API extern const mn_field mn_elastic_fields[];
/// The table; its own input is an mn_elastic_inputs.
MN_API extern const mn_solver_type mn_elastic_solver;

typedef enum mn_elastic_kind {
    MN_ELASTIC_SOLID,    ///< tetrahedra
    MN_ELASTIC_CLOTH,    ///< triangles
    MN_ELASTIC_RIGID,    ///< triangles: a closed surface, or a shell of the thickness
    MN_ELASTIC_COLLIDER, ///< triangles that go where they are told
} mn_elastic_kind;

/// A body to add; arrays are the caller's and read during the call. The def's values stand in for NULL.
typedef struct mn_elastic_body {
    mn_elastic_kind kind;
    int32_t point_count;
    const mn_vec3 *positions;
    const mn_vec3 *velocities; ///< m/s, NULL: at rest
    const mn_vec3 *rest;       ///< undeformed positions, NULL: the positions
    const uint8_t *pinned;     ///< of points, NULL: none; not for rigid bodies
    int32_t element_count;
    const int32_t (*tetrahedra)[4]; ///< of a solid, positive at rest
    const int32_t (*triangles)[3];  ///< of all others, normals outward
    const double *density, *young;  ///< of elements, NULL: the def's
} mn_elastic_body;

/// What an advance sees. Both may be NULL.
typedef struct mn_elastic_inputs {
    const mn_vec3 *targets; ///< of all points, read for pinned ones and colliders: their place at the end
    const mn_vec3 *forces;  ///< N, of all points, constant over the advance
} mn_elastic_inputs;

typedef struct mn_elastic mn_elastic;

MN_API mn_status mn_elastic_create(mn_context *ctx, const mn_elastic_def *def, mn_elastic **elastic);
/// NULL is fine.
MN_API void mn_elastic_free(mn_elastic *elastic);
/// Parameters may change between advances; what was taken from them when bodies were added (densities,
/// stiffness, thickness, prestress) stays.
MN_API mn_status mn_elastic_set_def(mn_elastic *elastic, const mn_elastic_def *def);

/// Points are numbered through all bodies in the order they come. Elements that are inverted or flat at rest
/// are refused.
MN_API mn_status mn_elastic_add(mn_elastic *elastic, const mn_elastic_body *body);
/// Ties point a to point b where they are.
MN_API mn_status mn_elastic_attach(mn_elastic *elastic, int32_t a, int32_t b);
/// Ties each point to the nearest point of a body that was added before its own, where there is one within
/// `distance`, m. Solids, cloth, rigid bodies and colliders may hold on to each other.
MN_API mn_status mn_elastic_attach_near(mn_elastic *elastic, double distance, int64_t *attached);
/// Fails with a sentence that names the bodies when two intersect or touch. An advance asks this by itself
/// when bodies were added.
MN_API mn_status mn_elastic_check_apart(mn_elastic *elastic);

/// `dt` seconds on. On failure, also when cancelled, the state is that of the last whole step.
MN_API mn_status mn_elastic_advance(mn_elastic *elastic, const mn_elastic_inputs *inputs, double dt);

/// Borrowed until the next call that changes the bodies; one for each point.
typedef struct mn_elastic_view {
    int32_t point_count, body_count;
    const mn_vec3 *positions, *velocities, *rest;
    const mn_vec3 *contact_forces; ///< N, at the end of the last step
    const double *stress;          ///< Pa, von Mises, mean of the elements around; membrane stress of cloth
    const int32_t *body;
    double contact_distance; ///< m
} mn_elastic_view;
MN_API mn_status mn_elastic_get_view(mn_elastic *elastic, mn_elastic_view *view);

/// What the reports of other solvers do not have.
typedef struct mn_elastic_numbers {
    double elastic_energy, contact_energy, gravity_energy; ///< J
    double smallest_gap;                                   ///< m, INFINITY when nothing is near
    int64_t contacts;
} mn_elastic_numbers;
MN_API mn_status mn_elastic_get_numbers(mn_elastic *elastic, mn_elastic_numbers *numbers);
MN_API void mn_elastic_report(const mn_elastic *elastic, mn_report *report);

MN_API mn_status mn_elastic_save(const mn_elastic *elastic, mn_writer *out);
MN_API mn_status mn_elastic_load(mn_context *ctx, const mn_elastic_def *def, mn_reader *in,
                                 mn_elastic **elastic);

#ifdef __cplusplus
}
#endif
#endif
