// SPDX-License-Identifier: Apache-2.0
//
// Attributes of the points of film and jet sources.
#ifndef MENISCUS_SOURCES_FILM_COLUMNS_H
#define MENISCUS_SOURCES_FILM_COLUMNS_H

#include "meniscus/geo.h"

/// Adds a point attribute; `out` is the address of a pointer of its type, to write values to.
static inline mn_status mn_codim_film_add_column(mn_geo *geo, const char *name, mn_type type, int32_t size,
                                                 mn_hint hint, void *out)
{
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, name, type, size, hint, &attribute));
    *(void **)out = mn_attribute_write(geo, attribute);
    return *(void **)out ? MN_OK : MN_ERROR_MEMORY;
}

static inline void mn_codim_film_put3(float *column, int64_t i, mn_vec3 v)
{
    column[3 * i] = (float)v.x, column[3 * i + 1] = (float)v.y, column[3 * i + 2] = (float)v.z;
}

/// What the solver should keep between points, as a detail attribute, whatever stood there.
static inline mn_status mn_codim_film_put_spacing(mn_geo *geo, double spacing)
{
    mn_attribute *attribute;
    if (mn_geo_find(geo, MN_DETAIL, "spacing")) MN_TRY(mn_geo_remove_attribute(geo, MN_DETAIL, "spacing"));
    MN_TRY(mn_geo_add_attribute(geo, MN_DETAIL, "spacing", MN_F64, 1, MN_HINT_NONE, &attribute));
    return mn_attribute_set(geo, attribute, 0, 1, &spacing);
}

#endif
