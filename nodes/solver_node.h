// SPDX-License-Identifier: Apache-2.0
//
// A node of any solver (meniscus/solver.h). The node type says which input is what; the adapter fills the def
// from the parameters, prepares the inputs (again only when they change), and turns what the solver shows
// into geometry.
//
//   static const mn_role roles[] = {MN_ROLE_SOURCE, MN_ROLE_COLLIDER};
//   static const mn_solver_node wax = {.solver = &mn_wax_solver, .roles = roles};
//   const mn_node_type mn_wax_solver_node = {
//       MN_SOLVER_NODE("wax_solver", "Meniscus Wax Solver", "Simulates wax.", inputs_of, outputs_of,
//                      mn_wax_fields, MN_WAX_FIELD_COUNT, wax, NULL, NULL)};
//
// What the adapter cannot know, a node does in hooks; each may be NULL.
#ifndef MENISCUS_NODES_SOLVER_NODE_H
#define MENISCUS_NODES_SOLVER_NODE_H

#include "meniscus/solver.h"
#include "nodes/parm.h"

typedef enum mn_role {
    MN_ROLE_OWN,      ///< read by the node's hooks
    MN_ROLE_SOURCE,   ///< points that the solver starts with: rows of its `reads`
    MN_ROLE_COLLIDER, ///< level sets from collider nodes
    MN_ROLE_SINK,     ///< the same, taking out what enters
    MN_ROLE_WIND,     ///< a velocity volume named vel
    MN_ROLE_FORCE,    ///< a vector volume named force
    MN_ROLE_FIELDS,   ///< volumes: force, vel (wind), sigma, viscosity, heat
    MN_ROLE_EMITTER,  ///< points or polygons with P, v and N
} mn_role;

enum { MN_SOLVER_INPUTS = 8 }; ///< no solver has more

// Rows of inputs that many solvers have.
#define MN_INPUT_COLLIDERS                                                                                   \
    {                                                                                                        \
        "Colliders", "level sets, from collider nodes, moving or still", false, false                        \
    }
#define MN_INPUT_SINKS                                                                                       \
    {                                                                                                        \
        "Sinks", "level sets, from collider nodes, that liquid vanishes in", false, false                    \
    }
#define MN_INPUT_WIND                                                                                        \
    {                                                                                                        \
        "Wind", "a velocity volume named vel", false, false                                                  \
    }

/// What a node feeds its solver for.
typedef enum mn_feeding {
    MN_FEED_START,   ///< the inputs at the start frame, for place()
    MN_FEED_ADVANCE, ///< an advance
    MN_FEED_EMIT,    ///< an output: only what showing needs
} mn_feeding;

typedef struct mn_solver_node {
    const mn_solver_type *solver;
    const mn_role *roles; ///< one per input of the node type
    /// Without any source, emitter or own input connected: the sentence to fail with. NULL: the solver needs
    /// none.
    const char *needs;

    /// After the parameters were filled in: what a row cannot say (walls from a domain). `solver` is NULL
    /// when it is being created or loaded, the latter without inputs.
    mn_status (*finish_def)(const mn_cook *cook, const mn_solver *solver, void *def);
    /// After the solver was created and its sources added; `own` is zeroed memory of own_size bytes.
    mn_status (*start)(const mn_cook *cook, mn_solver *solver, void *own);
    /// What the node's own inputs bring, into the solver or into inputs->own.
    mn_status (*feed)(const mn_cook *cook, mn_solver *solver, void *own, mn_feeding feeding,
                      mn_solver_inputs *inputs);
    /// An output in place of the solver's view: volumes. Leaving *geo as it is asks for the view.
    mn_status (*show)(const mn_cook *cook, mn_solver *solver, int32_t output, mn_geo **geo);
    /// After the start and after each advance that succeeded: warnings.
    mn_status (*after)(const mn_cook *cook, mn_solver *solver);
    size_t own_size;
    mn_status (*save_own)(const void *own, mn_writer *out);
    mn_status (*load_own)(const mn_cook *cook, void *own, mn_reader *in);
    void (*free_own)(mn_context *ctx, void *own);
} mn_solver_node;

/// The callbacks of every such node.
extern const mn_sim_ops mn_solver_ops;

/// Members of an mn_node_type: what it is called, tables of inputs and outputs, the solver's rows, its
/// mn_solver_node, and the doctor's callback and the guides, or NULL.
#define MN_SOLVER_NODE(name_, label_, help_, inputs_, outputs_, fields_, field_count_, node_, doctor_,       \
                       guides_)                                                                              \
    .name = name_, .label = label_, .menu = "Meniscus/Solvers", .help = help_, .inputs = inputs_,            \
    .input_count = MN_COUNT_OF(inputs_), .outputs = outputs_, .output_count = MN_COUNT_OF(outputs_),         \
    .parms = fields_, .parm_count = field_count_, .time_dependent = true, .sim = &mn_solver_ops,             \
    .solver = &node_, .doctor = doctor_, .guides = guides_

/// Members of an mn_solver_node: memory of its own, what fills it for an advance, and what frees it.
#define MN_SOLVER_NODE_OWN(type_, feed_, free_) .own_size = sizeof(type_), .feed = feed_, .free_own = free_

/// The def of the node's parameters, defaults where it has no row; `def` has room for the solver's def_size.
mn_status mn_solver_node_def(const mn_cook *cook, void *def);
/// The solver of a state that mn_solver_ops.create made, and the node's own memory; for doctors.
mn_solver *mn_solver_node_solver(void *state);
void *mn_solver_node_own(void *state);
/// The first input of a role, or NULL.
const mn_geo *mn_solver_node_input(const mn_cook *cook, mn_role role);

#endif
