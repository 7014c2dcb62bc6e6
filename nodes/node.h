// SPDX-License-Identifier: Apache-2.0
//
// What a node type is: one table that every host reads. Houdini's templates and help cards, the assets'
// DialogScript, Blender's properties, `meniscus nodes`, the scene schema and the Python signatures all come
// from it, and a parameter is written down nowhere else.
//
// A node includes core's public headers and this one. What lies outside (files, VDB operations) it gets from
// the services in its mn_cook.
#ifndef MENISCUS_NODES_NODE_H
#define MENISCUS_NODES_NODE_H

#include "meniscus/array.h"
#include "meniscus/context.h"
#include "meniscus/field.h"
#include "meniscus/geo.h"
#include "meniscus/report.h"
#include "meniscus/stream.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- parameters ----

/// One row of a node's table (meniscus/field.h, with macros that write it). A solver's rows stand in core,
/// where they also say which member of its def they fill; a node type of its own has rows that only it reads.
typedef mn_field mn_parm_def;

// ---- inputs and outputs ----

typedef struct mn_input_def {
    const char *label;   ///< "Liquid"
    const char *expects; ///< a phrase for help and errors: "closed polygons or a level set VDB"
    bool required;
    bool many; ///< this input takes any number of connections; only the last input of a node may
} mn_input_def;

typedef struct mn_output_def {
    const char *label; ///< "Particles"
    const char *gives; ///< a phrase for help: "points with v, mass, id"
} mn_output_def;

// ---- what the host hands to a node ----

/// Evaluated parameters of one node at one frame, owned by the host.
typedef struct mn_parm_value {
    double number[4];
    const char *string;
} mn_parm_value;

/// What lies outside core and nodes. `user` goes back into each call. Results belong to the caller.
typedef struct mn_services {
    void *user;
    /// Reads a geometry file of any known format.
    mn_status (*read_geometry)(void *user, mn_context *ctx, const char *path, mn_geo **geo);
    /// Narrow-band level set of closed polygons; `band` voxels on each side. The surface is not checked for
    /// holes: the caller does that (mn_triangles).
    mn_status (*mesh_to_level_set)(void *user, mn_context *ctx, const mn_geo *mesh, double voxel_size,
                                   double band, const char *name, mn_volume *volume);
    /// Polygons at `isovalue`; `adaptivity` in [0, 1] merges flat parts.
    mn_status (*level_set_to_mesh)(void *user, mn_context *ctx, mn_volume volume, double isovalue,
                                   double adaptivity, mn_geo **mesh);
    /// A volume from values on a set of blocks: block b covers voxels origin[b] + [0, block_size)^3, x
    /// fastest, `components` doubles per voxel; voxel (i,j,k) is centred at world ((i,j,k) + 0.5) *
    /// voxel_size.
    mn_status (*volume_from_blocks)(void *user, mn_context *ctx, const char *name, mn_volume_kind kind,
                                    double voxel_size, double background, int32_t components,
                                    int32_t block_size, int64_t block_count, const int32_t (*origins)[3],
                                    const double *values, mn_volume *volume);
} mn_services;

typedef struct mn_node_type mn_node_type;

/// One call of a node.
typedef struct mn_cook {
    mn_context *ctx;
    const mn_services *services;
    const mn_node_type *type;
    const char *node_name;      ///< for sentences: "mpm_solver 'drop': ..."
    const mn_parm_value *parms; ///< in the order of the type's table
    /// inputs[i]: what is connected, or NULL. `input_count` may exceed the table's when its last input takes
    /// many.
    const mn_geo *const *inputs;
    int32_t input_count;
    double frame; ///< may lie between whole frames for cook nodes; whole for simulations
    double fps;
    /// input_keys[i]: equal and not 0 means the same contents as in an earlier cook of this node. NULL where
    /// the host cannot say.
    const uint64_t *input_keys;
    /// The simulated time step of this frame in seconds, time_scale included; 0 for cook nodes.
    double dt;
    /// Puts a warning on the node; the cook goes on. Never NULL. The sentence is copied.
    void (*warn)(void *warn_user, const char *sentence);
    void *warn_user;
    /// A parameter of this node (by its place in the table) at another frame, so that a node can give
    /// animated motion its velocity: the host evaluates its keys there. NULL where the host cannot; the
    /// string lives until the cook returns. Use mn_cook_at().
    void (*parm_at)(void *parm_user, int32_t parm, double frame, mn_parm_value *value);
    void *parm_user;
} mn_cook;

/// Parameters by name. The name must be in the node's table: nodes call these with literals, and a test walks
/// every node through a default cook.
MN_API double mn_cook_float(const mn_cook *cook, const char *name);
MN_API int64_t mn_cook_int(const mn_cook *cook, const char *name);
MN_API bool mn_cook_toggle(const mn_cook *cook, const char *name);
MN_API mn_vec3 mn_cook_vec3(const mn_cook *cook, const char *name);
/// A menu's value as its index.
MN_API int32_t mn_cook_menu(const mn_cook *cook, const char *name);
MN_API const char *mn_cook_string(const mn_cook *cook, const char *name);
/// This cook as it would be at another frame: `at` reads `parms`, which has room for MN_PARM_LIMIT values.
/// The inputs are those of this frame still. False, and nothing written, when the host cannot look ahead.
enum { MN_PARM_LIMIT = 64 }; ///< no table is longer
MN_API bool mn_cook_at(const mn_cook *cook, double frame, mn_parm_value parms[MN_PARM_LIMIT], mn_cook *at);
/// Fills a def from the rows that stand for its members, each by its place; a material gives its own values.
MN_API void mn_cook_fill_def(const mn_cook *cook, void *def);
/// The input or NULL when nothing is connected or the index is past the last.
MN_API const mn_geo *mn_cook_input(const mn_cook *cook, int32_t index);
/// Equal and not 0 means the same contents as in an earlier cook of this node; 0 where the host cannot say.
MN_API uint64_t mn_cook_input_key(const mn_cook *cook, int32_t index);
/// True when $F stands in the path of a file parameter: it is another file at each frame.
MN_API bool mn_path_is_sequence(const char *path);
/// The path with the whole frame nearest to `frame` in place of each $F. False when it does not fit.
enum { MN_PATH_LIMIT = 4096 }; ///< with its end
MN_API bool mn_path_at_frame(const char *path, double frame, char out[MN_PATH_LIMIT]);
/// mn_fail() with "type 'name': " in front.
#if defined(__GNUC__)
__attribute__((format(printf, 3, 4)))
#endif
MN_API mn_status
mn_cook_fail(const mn_cook *cook, mn_status status, const char *format, ...);
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
MN_API void
mn_cook_warn(const mn_cook *cook, const char *format, ...);

// ---- doctor ----

/// A line of `meniscus doctor`: a number with a name and a unit, or a sentence (value NaN).
typedef struct mn_doctor {
    void *user;
    void (*number)(void *user, const char *name, double value, const char *unit, const char *remark);
    void (*sentence)(void *user, const char *sentence);
} mn_doctor;

// ---- guides ----

/// An input that something comes out of.
typedef struct mn_emitter_guide {
    int32_t input;
    /// m/s, with which it leaves a point that has this v and this normal, zero where it has none. NULL: with
    /// v.
    mn_vec3 (*velocity)(const mn_cook *cook, mn_vec3 v, mn_vec3 normal);
} mn_emitter_guide;

/// What a host may draw beside the results of a node.
typedef struct mn_guide_table {
    const mn_emitter_guide *emitters;
    int32_t emitter_count;
    bool contact_lines;     ///< where a surface meets solids:
    int32_t collider_input; ///< those solids
    int32_t surface_output; ///< that surface
} mn_guide_table;

// ---- the type ----

/// A node with memory. The state belongs to the host, which calls these in order and never two at once on one
/// state.
typedef struct mn_sim_ops {
    /// The state at the start frame, from the inputs at that frame.
    mn_status (*create)(const mn_cook *cook, void **state);
    /// From the frame before to cook->frame: cook->dt seconds in as many substeps as it takes. Parameters and
    /// inputs are those of cook->frame. On failure or cancel the state is whole, at the last good step: it
    /// can be shown, saved and advanced, but lies between two frames.
    mn_status (*advance)(const mn_cook *cook, void *state);
    /// One output at the state's frame, made when somebody reads it; the inputs are those of that frame.
    mn_status (*emit)(const mn_cook *cook, void *state, int32_t output, mn_geo **geo);
    /// Everything that the next advance depends on, so that load and advance give the same bits.
    mn_status (*save)(const mn_cook *cook, const void *state, mn_writer *out);
    /// The cook has the parameters of the saved frame and no inputs. The bytes may come from anywhere: refuse
    /// what save cannot have written. Like create, it owns nothing when it fails.
    mn_status (*load)(const mn_cook *cook, mn_reader *in, void **state);
    /// What happened in the last advance; after create, what the initial state has.
    void (*report)(const void *state, mn_report *report);
    void (*free)(mn_context *ctx, void *state);
} mn_sim_ops;

struct mn_node_type {
    const char *name;  ///< "mpm_solver"
    const char *label; ///< "Meniscus MPM Solver"
    const char *menu;  ///< "Meniscus/Solvers"
    const char *help;  ///< one line
    const mn_input_def *inputs;
    int32_t input_count;
    uint32_t references; ///< bit i: input i is only looked at; see mn_node_looks_at()
    const mn_output_def *outputs;
    int32_t output_count; ///< at least 1
    const mn_parm_def *parms;
    int32_t parm_count;
    /// The output depends on the frame even when no parameter or input does (a file sequence).
    bool time_dependent;
    /// Optional, for a type whose answer depends on its parameters: asked instead of time_dependent, with the
    /// parameters of the cook's frame and no inputs.
    bool (*is_time_dependent)(const mn_cook *cook);
    /// Exactly one of these two.
    mn_status (*cook)(const mn_cook *cook, mn_geo **outputs);
    const mn_sim_ops *sim;
    /// With sim == &mn_solver_ops: what the node is made of (nodes/solver_node.h).
    const struct mn_solver_node *solver;
    /// Optional: what doctor should say about this node, given its inputs at the first frame.
    mn_status (*doctor)(const mn_cook *cook, mn_doctor *doctor);
    /// Optional: emitters and contact lines for hosts that draw them; a domain is drawn from its parameters.
    const mn_guide_table *guides;
};

/// All node types of this build, in menu order (nodes/registry.c).
MN_API const mn_node_type *const *mn_node_types(int32_t *count);
/// NULL when there is none of that name.
MN_API const mn_node_type *mn_node_type_find(const char *name);
/// True when nothing of the input comes out again: colliders, sinks, wind, fields, and what the type says
/// itself. Hosts may draw its wire dashed.
MN_API bool mn_node_looks_at(const mn_node_type *type, int32_t input);

#ifdef __cplusplus
}
#endif
#endif
