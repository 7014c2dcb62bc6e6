// SPDX-License-Identifier: Apache-2.0
//
// Polygons seen from the other side: vertices (a, b, c, ..., z) become (a, z, ..., c, b), and what the
// vertices carry goes with them.
#include "geo/geo_state.h"

#include <string.h>

static void swap_elements(uint8_t *bytes, size_t element_bytes, int64_t i, int64_t j)
{
    uint8_t *a = bytes + (size_t)i * element_bytes, *b = bytes + (size_t)j * element_bytes;
    for (size_t k = 0; k < element_bytes; k++) {
        const uint8_t kept = a[k];
        a[k] = b[k];
        b[k] = kept;
    }
}

static mn_status reverse_column(mn_geo *geo, mn_column *column)
{
    const int64_t *starts = mn_geo_primitive_starts(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    uint8_t *bytes = mn_column_write(geo->ctx, column);
    if (!bytes) return MN_ERROR_MEMORY;
    for (int64_t p = 0; p < geo->counts[MN_PRIMITIVE]; p++) {
        if (kinds[p] != MN_POLYGON) continue;
        for (int64_t i = starts[p] + 1, j = starts[p + 1] - 1; i < j; i++, j--)
            swap_elements(bytes, column->element_bytes, i, j);
    }
    return MN_OK;
}

// Every column that must not be shared any more, so that the rest cannot fail half-way.
static mn_status unshare(mn_geo *geo, mn_column *column)
{
    return mn_column_write(geo->ctx, column) ? MN_OK : MN_ERROR_MEMORY;
}

static mn_status for_each_column(mn_geo *geo, mn_status (*change)(mn_geo *, mn_column *))
{
    MN_TRY(change(geo, &geo->vertex_points));
    for (int64_t i = 0; i < geo->attributes[MN_VERTEX].count; i++)
        MN_TRY(change(geo, &geo->attributes[MN_VERTEX].data[i]->values));
    for (int64_t i = 0; i < geo->groups[MN_VERTEX].count; i++)
        MN_TRY(change(geo, &geo->groups[MN_VERTEX].data[i]->members));
    return MN_OK;
}

mn_status mn_geo_reverse_polygons(mn_geo *geo)
{
    if (mn_geo_kind_count(geo, MN_POLYGON) == 0) return MN_OK;
    MN_TRY(for_each_column(geo, unshare));
    MN_TRY(for_each_column(geo, reverse_column));
    return MN_OK;
}
