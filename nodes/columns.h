// SPDX-License-Identifier: Apache-2.0
//
// Point attributes as arrays: how nodes hand geometry to the core and take results back.
#ifndef MENISCUS_NODES_COLUMNS_H
#define MENISCUS_NODES_COLUMNS_H

#include "meniscus/collider.h"
#include "nodes/node.h"

/// A point attribute of three numbers as doubles; *values is NULL when there is none, and the array's
/// otherwise.
mn_status mn_column_read_vec3(mn_context *ctx, const mn_geo *geo, const char *name, mn_vec3_array *array,
                              const mn_vec3 **values);
/// One number of a point; `fallback` without the attribute.
double mn_column_number(const mn_geo *geo, const char *name, int64_t point, double fallback);

/// Adds a point attribute and gives its values to write to: `column` is the address of a pointer of its type.
mn_status mn_column_add(mn_geo *geo, const char *name, mn_type type, int32_t size, mn_hint hint,
                        void *column);

static inline void mn_column_put3(float *column, int64_t point, mn_vec3 x)
{
    column[3 * point] = (float)x.x, column[3 * point + 1] = (float)x.y, column[3 * point + 2] = (float)x.z;
}

#endif
