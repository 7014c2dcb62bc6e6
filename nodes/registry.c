// SPDX-License-Identifier: Apache-2.0
//
// All node types of this build. A new type is one line here and one file beside it. A build that defines
// MN_REGISTRY_EXTRA as the variable of one more type has that type in every host; tests do.
#include "nodes/node.h"

#include <string.h>

// X(variable), in menu order
#define NODE_TYPES(X)                                                                                        \
    X(mn_shape_node)                                                                                         \
    X(mn_file_node)                                                                                          \
    X(mn_transform_node)                                                                                     \
    X(mn_merge_node)                                                                                         \
    X(mn_collider_node)                                                                                      \
    X(mn_field_node)                                                                                         \
    X(mn_velocity_volume_node)                                                                               \
    X(mn_fill_node)                                                                                          \
    X(mn_film_source_node)                                                                                   \
    X(mn_jet_source_node)                                                                                    \
    X(mn_surface_node)                                                                                       \
    X(mn_film_settle_node)                                                                                   \
    X(mn_film_skin_node)                                                                                     \
    X(mn_tetrahedralize_node)                                                                                \
    X(mn_tet_remesh_node)                                                                                    \
    X(mn_tet_material_node)                                                                                  \
    X(mn_tet_surface_node)                                                                                   \
    X(mn_trace_node)                                                                                         \
    X(mn_spray_solver_node)                                                                                  \
    X(mn_mpm_solver_node)                                                                                    \
    X(mn_tet_solver_node)                                                                                    \
    X(mn_codim_solver_node)                                                                                  \
    X(mn_elastic_solver_node)                                                                                \
    X(mn_film_solver_node)                                                                                   \
    X(mn_flow_solver_node)

#ifdef MN_REGISTRY_EXTRA
#define EXTRA_TYPES(X) X(MN_REGISTRY_EXTRA)
#else
#define EXTRA_TYPES(X)
#endif

#define X(type) extern const mn_node_type type;
NODE_TYPES(X)
EXTRA_TYPES(X)
#undef X

const mn_node_type *const *mn_node_types(int32_t *count)
{
    static const mn_node_type *const types[] = {
#define X(type) &type,
        NODE_TYPES(X) EXTRA_TYPES(X)
#undef X
            NULL};
    *count = MN_COUNT_OF(types) - 1;
    return types;
}

const mn_node_type *mn_node_type_find(const char *name)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++)
        if (strcmp(types[i]->name, name) == 0) return types[i];
    return NULL;
}
