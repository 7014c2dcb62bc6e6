// SPDX-License-Identifier: Apache-2.0
//
// Moving an attribute to another owner. Elements correspond through the vertices: a vertex belongs to one
// point and one primitive; everything belongs to the detail.
#include "geo/geo_state.h"

#include <string.h>

typedef struct job {
    const mn_geo *geo;
    const mn_attribute *source;
    mn_owner from, to;
    mn_promotion how;
    bool raw;        ///< copy bytes instead of computing: first wins
    char *bytes;     ///< raw: target elements
    double *values;  ///< otherwise: target components
    int64_t *counts; ///< how many source elements have met in each target element
} job;

static void meet(job *j, int64_t source, int64_t target)
{
    const int32_t size = j->source->size;
    const int64_t met = j->counts[target]++;
    if (j->raw) {
        const size_t bytes = j->source->values.element_bytes;
        if (met == 0)
            memcpy(j->bytes + mn_bytes(target, bytes),
                   (const char *)mn_column_data(&j->source->values) + mn_bytes(source, bytes), bytes);
        return;
    }
    double value[64];
    mn_attribute_get(j->source, source, 1, value);
    double *sum = j->values + target * size;
    for (int32_t k = 0; k < size; k++) {
        if (met == 0)
            sum[k] = value[k];
        else if (j->how == MN_PROMOTE_MIN)
            sum[k] = fmin(sum[k], value[k]);
        else if (j->how == MN_PROMOTE_MAX)
            sum[k] = fmax(sum[k], value[k]);
        else
            sum[k] += value[k];
    }
}

static void visit_pairs(job *j)
{
    const mn_geo *geo = j->geo;
    if (j->from == MN_DETAIL || j->to == MN_DETAIL) {
        const mn_owner many = j->from == MN_DETAIL ? j->to : j->from;
        for (int64_t i = 0; i < geo->counts[many]; i++)
            meet(j, j->from == MN_DETAIL ? 0 : i, j->to == MN_DETAIL ? 0 : i);
        return;
    }
    const int64_t *points = mn_geo_vertex_points(geo), *starts = mn_geo_primitive_starts(geo);
    for (int64_t p = 0; p < geo->counts[MN_PRIMITIVE]; p++)
        for (int64_t v = starts[p]; v < starts[p + 1]; v++) {
            const int64_t element[] = {points[v], v, p};
            meet(j, element[j->from], element[j->to]);
        }
}

static mn_status store(mn_geo *geo, const job *j, mn_attribute *target)
{
    const int64_t count = geo->counts[j->to];
    if (count == 0) return MN_OK;
    if (j->raw) {
        void *data = mn_attribute_write(geo, target);
        if (!data) return MN_ERROR_MEMORY;
        memcpy(data, j->bytes, mn_bytes(count, target->values.element_bytes));
        return MN_OK;
    }
    if (j->how == MN_PROMOTE_AVERAGE)
        for (int64_t i = 0; i < count; i++)
            for (int32_t k = 0; k < target->size && j->counts[i] > 1; k++)
                j->values[i * target->size + k] /= (double)j->counts[i];
    return mn_attribute_set(geo, target, 0, count, j->values);
}

mn_status mn_geo_promote(mn_geo *geo, mn_owner from, const char *name, mn_owner to, mn_promotion how)
{
    const mn_attribute *source = mn_geo_find(geo, from, name);
    if (!source)
        return mn_fail(geo->ctx, MN_ERROR_NOT_FOUND, "There is no %s attribute '%s' to promote.",
                       mn_owner_name(from), name);
    if (from == to) return MN_OK;
    if (from == MN_POINT && strcmp(name, "P") == 0)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "The point attribute 'P' cannot be promoted.");
    if (mn_geo_find(geo, to, name))
        return mn_fail(geo->ctx, MN_ERROR_INPUT,
                       "There is a %s attribute '%s' already; remove or rename it first.", mn_owner_name(to),
                       name);
    // Where each target has one source at most, bytes are exact for every type.
    const bool single = from == MN_DETAIL || (to == MN_VERTEX && from != MN_DETAIL);
    job j = {.geo = geo, .source = source, .from = from, .to = to, .how = how};
    j.raw = single || how == MN_PROMOTE_FIRST || source->type == MN_STRING;
    const size_t bytes = mn_bytes(geo->counts[to], source->values.element_bytes);
    const size_t value_bytes = mn_bytes(geo->counts[to] * source->size, sizeof(double));
    const size_t count_bytes = mn_bytes(geo->counts[to], sizeof(int64_t));
    mn_attribute *target = NULL;
    mn_status status = MN_OK;
    if (geo->counts[to] > 0) {
        j.counts = mn_allocate_zero(geo->ctx, count_bytes);
        if (j.raw)
            j.bytes = mn_allocate(geo->ctx, bytes);
        else
            j.values = mn_allocate_zero(geo->ctx, value_bytes);
        if (!j.counts || (j.raw ? !j.bytes : !j.values)) status = MN_ERROR_MEMORY;
        // Elements that nothing reaches are zero, or no string.
        if (j.bytes) memset(j.bytes, source->type == MN_STRING ? 0xff : 0, bytes);
    }
    if (status == MN_OK)
        status = mn_geo_add_attribute(geo, to, name, source->type, source->size, source->hint, &target);
    if (status == MN_OK) {
        if (source->strings) {
            mn_string_table_free(target->strings);
            target->strings = mn_string_table_share(source->strings);
        }
        visit_pairs(&j);
        status = store(geo, &j, target);
        // Memory ran out in the middle: the geometry stays as it was.
        const mn_status removed = mn_geo_remove_attribute(geo, status == MN_OK ? from : to, name);
        if (status == MN_OK) status = removed;
    }
    mn_release(geo->ctx, j.counts, count_bytes);
    mn_release(geo->ctx, j.bytes, bytes);
    mn_release(geo->ctx, j.values, value_bytes);
    return status;
}
