// SPDX-License-Identifier: Apache-2.0
//
// Point attributes as arrays.
#include "nodes/columns.h"

#include <string.h>

mn_status mn_column_read_vec3(mn_context *ctx, const mn_geo *geo, const char *name, mn_vec3_array *array,
                              const mn_vec3 **values)
{
    *values = NULL;
    const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_POINT, name, 3);
    if (!attribute || mn_geo_point_count(geo) == 0) return MN_OK;
    MN_TRY(mn_array_resize(ctx, array, mn_geo_point_count(geo)));
    mn_attribute_get(attribute, 0, array->count, &array->data[0].x);
    *values = array->data;
    return MN_OK;
}

double mn_column_number(const mn_geo *geo, const char *name, int64_t point, double fallback)
{
    const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    if (attribute) mn_attribute_get(attribute, point, 1, &fallback);
    return fallback;
}

mn_status mn_column_add(mn_geo *geo, const char *name, mn_type type, int32_t size, mn_hint hint, void *column)
{
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, name, type, size, hint, &attribute));
    void *values = mn_attribute_write(geo, attribute);
    if (!values && mn_geo_point_count(geo) > 0) return MN_ERROR_MEMORY;
    memcpy(column, &values, sizeof values);
    return MN_OK;
}
