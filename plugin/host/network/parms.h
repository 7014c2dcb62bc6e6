// SPDX-License-Identifier: Apache-2.0
//
// Parameters against their table: finding, checking, hashing. Knows no network, so that every host says the
// same about the same mistake.
#ifndef MENISCUS_PLUGIN_HOST_NETWORK_PARMS_H
#define MENISCUS_PLUGIN_HOST_NETWORK_PARMS_H

#include "nodes/node.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Its place in the table; -1 when there is none.
int32_t mn_parm_find(const mn_node_type *type, const char *name);
/// String and file.
static inline bool mn_parm_is_text(const mn_parm_def *def)
{
    return def->kind == MN_PARM_STRING || def->kind == MN_PARM_FILE;
}

/// The number of items in a menu; 0 for other kinds.
int32_t mn_parm_item_count(const mn_parm_def *def);

/// The first number of a parameter by name, or `otherwise` when the table has none: for the parameters that
/// the driver itself reads (start_frame, time_scale).
double mn_parm_number(const mn_node_type *type, const mn_parm_value *values, const char *name,
                      double otherwise);

/// Adds all values to a hash.
uint64_t mn_parm_hash(uint64_t hash, const mn_node_type *type, const mn_parm_value *values);

/// Fails with MN_ERROR_ARGUMENT unless `value` may stand in that component: finite, whole for int and menu,
/// 0 or 1 for a toggle, inside the hard range. The sentence names node and parameter and what is allowed.
mn_status mn_parm_check_number(mn_context *ctx, const mn_node_type *type, const char *node_name,
                               const mn_parm_def *def, int32_t component, double value);
/// The index of a menu's item; fails with all tokens and the nearest spelling.
mn_status mn_parm_check_token(mn_context *ctx, const mn_node_type *type, const char *node_name,
                              const mn_parm_def *def, const char *token, int32_t *index);
/// MN_ERROR_NOT_FOUND with the nearest spelling.
mn_status mn_parm_fail_unknown(mn_context *ctx, const mn_node_type *type, const char *node_name,
                               const char *name);
/// What a parameter takes, for sentences: "a number", "3 whole numbers", "one of box, sphere".
const char *mn_parm_expects(const mn_parm_def *def, char *buffer, size_t size);

/// Puts "type 'name': " before the context's sentence unless it stands there, and gives `status` back: for
/// failures that came out of the core without a node's name.
mn_status mn_node_blame(mn_context *ctx, const mn_node_type *type, const char *node_name, mn_status status);

#ifdef __cplusplus
}
#endif
#endif
