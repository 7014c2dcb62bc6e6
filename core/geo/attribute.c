// SPDX-License-Identifier: Apache-2.0
//
// Attributes: named columns of numbers or strings on an owner.
#include "geo/geo_state.h"

#include <string.h>

enum { SIZE_MAX_COMPONENTS = 64 };

const char *mn_type_name(mn_type type)
{
    static const char *const names[] = {"f32", "f64", "i32", "i64", "string"};
    return (unsigned)type < MN_TYPE_COUNT ? names[type] : "";
}

size_t mn_type_bytes(mn_type type)
{
    static const size_t bytes[] = {4, 8, 4, 8, 4};
    return (unsigned)type < MN_TYPE_COUNT ? bytes[type] : 0;
}

const char *mn_hint_name(mn_hint hint)
{
    static const char *const names[] = {"none",  "point",      "vector", "normal",
                                        "color", "quaternion", "texture"};
    return (unsigned)hint < MN_HINT_COUNT ? names[hint] : "";
}

void mn_attribute_free(mn_context *ctx, mn_attribute *attribute)
{
    if (!attribute) return;
    mn_geo_free_name(ctx, attribute->name);
    mn_column_free(&attribute->values);
    mn_string_table_free(attribute->strings);
    mn_release(ctx, attribute, sizeof *attribute);
}

int32_t mn_geo_attribute_count(const mn_geo *geo, mn_owner owner)
{
    return (int32_t)geo->attributes[owner].count;
}

const mn_attribute *mn_geo_attribute_at(const mn_geo *geo, mn_owner owner, int32_t index)
{
    return index >= 0 && index < geo->attributes[owner].count ? geo->attributes[owner].data[index] : NULL;
}

static int64_t index_of(const mn_geo *geo, mn_owner owner, const char *name)
{
    for (int64_t i = 0; i < geo->attributes[owner].count; i++)
        if (strcmp(geo->attributes[owner].data[i]->name, name) == 0) return i;
    return -1;
}

const mn_attribute *mn_geo_find(const mn_geo *geo, mn_owner owner, const char *name)
{
    const int64_t index = index_of(geo, owner, name);
    return index < 0 ? NULL : geo->attributes[owner].data[index];
}

const mn_attribute *mn_geo_find_numeric(const mn_geo *geo, mn_owner owner, const char *name, int32_t size)
{
    const mn_attribute *attribute = mn_geo_find(geo, owner, name);
    return attribute && attribute->type != MN_STRING && attribute->size == size ? attribute : NULL;
}

// A new attribute without values, appended to its owner's list.
static mn_status append_attribute(mn_geo *geo, mn_owner owner, const char *name, mn_type type, int32_t size,
                                  mn_hint hint, mn_attribute **attribute)
{
    MN_TRY(mn_array_reserve(geo->ctx, &geo->attributes[owner], geo->attributes[owner].count + 1));
    mn_attribute *made = mn_allocate_zero(geo->ctx, sizeof *made);
    if (!made) return MN_ERROR_MEMORY;
    made->name = mn_geo_copy_name(geo->ctx, name);
    if (!made->name) {
        mn_attribute_free(geo->ctx, made);
        return MN_ERROR_MEMORY;
    }
    made->owner = owner, made->type = type, made->size = size, made->hint = hint;
    made->values.element_bytes = mn_type_bytes(type) * (size_t)size;
    geo->attributes[owner].data[geo->attributes[owner].count++] = made;
    *attribute = made;
    return MN_OK;
}

static void drop_last(mn_geo *geo, mn_owner owner)
{
    mn_attribute_free(geo->ctx, geo->attributes[owner].data[--geo->attributes[owner].count]);
}

static mn_status fill_new(mn_geo *geo, mn_attribute *attribute)
{
    const int64_t count = geo->counts[attribute->owner];
    if (attribute->type == MN_STRING) MN_TRY(mn_string_table_create(geo->ctx, &attribute->strings));
    MN_TRY(mn_column_reserve(geo->ctx, &attribute->values, count));
    mn_column_set_count(&attribute->values, count);
    if (attribute->type == MN_STRING && count > 0)
        memset(mn_column_write(geo->ctx, &attribute->values), 0xff,
               mn_bytes(count, attribute->values.element_bytes));
    return MN_OK;
}

mn_status mn_geo_add_attribute(mn_geo *geo, mn_owner owner, const char *name, mn_type type, int32_t size,
                               mn_hint hint, mn_attribute **attribute)
{
    *attribute = NULL;
    if (!name[0] || size < 1 || size > SIZE_MAX_COMPONENTS || (unsigned)type >= MN_TYPE_COUNT)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT,
                       "An attribute needs a name and 1 to %d components; '%s' with %d was asked for.",
                       SIZE_MAX_COMPONENTS, name, (int)size);
    const int64_t index = index_of(geo, owner, name);
    if (index >= 0) {
        mn_attribute *found = geo->attributes[owner].data[index];
        if (found->type != type || found->size != size)
            return mn_fail(geo->ctx, MN_ERROR_INPUT,
                           "The %s attribute '%s' is %s with %d components, but %s with %d is needed.",
                           mn_owner_name(owner), name, mn_type_name(found->type), (int)found->size,
                           mn_type_name(type), (int)size);
        found->hint = hint;
        *attribute = found;
        return MN_OK;
    }
    mn_attribute *made;
    MN_TRY(append_attribute(geo, owner, name, type, size, hint, &made));
    const mn_status status = fill_new(geo, made);
    if (status != MN_OK) {
        drop_last(geo, owner);
        return status;
    }
    *attribute = made;
    return MN_OK;
}

mn_status mn_geo_share_attribute(mn_geo *geo, const mn_attribute *source)
{
    mn_attribute *made;
    MN_TRY(
        append_attribute(geo, source->owner, source->name, source->type, source->size, source->hint, &made));
    made->values = mn_column_share(&source->values);
    if (source->strings) made->strings = mn_string_table_share(source->strings);
    return MN_OK;
}

mn_status mn_geo_remove_attribute(mn_geo *geo, mn_owner owner, const char *name)
{
    const int64_t index = index_of(geo, owner, name);
    if (index < 0)
        return mn_fail(geo->ctx, MN_ERROR_NOT_FOUND, "There is no %s attribute '%s' to remove.",
                       mn_owner_name(owner), name);
    if (owner == MN_POINT && strcmp(name, "P") == 0)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "The point attribute 'P' cannot be removed.");
    mn_attribute_free(geo->ctx, geo->attributes[owner].data[index]);
    geo->attributes[owner].count--;
    for (int64_t i = index; i < geo->attributes[owner].count; i++)
        geo->attributes[owner].data[i] = geo->attributes[owner].data[i + 1];
    return MN_OK;
}

const char *mn_attribute_name(const mn_attribute *attribute)
{
    return attribute->name;
}

mn_owner mn_attribute_owner(const mn_attribute *attribute)
{
    return attribute->owner;
}

mn_type mn_attribute_type(const mn_attribute *attribute)
{
    return attribute->type;
}

int32_t mn_attribute_size(const mn_attribute *attribute)
{
    return attribute->size;
}

mn_hint mn_attribute_hint(const mn_attribute *attribute)
{
    return attribute->hint;
}

int64_t mn_attribute_count(const mn_attribute *attribute)
{
    return attribute->values.count;
}

// ---- values ----

const void *mn_attribute_data(const mn_attribute *attribute)
{
    return mn_column_data(&attribute->values);
}

void *mn_attribute_write(mn_geo *geo, mn_attribute *attribute)
{
    return mn_column_write(geo->ctx, &attribute->values);
}

const float *mn_geo_positions(const mn_geo *geo)
{
    return mn_column_data(&geo->attributes[MN_POINT].data[0]->values);
}

float *mn_geo_write_positions(mn_geo *geo)
{
    return mn_attribute_write(geo, geo->attributes[MN_POINT].data[0]);
}

mn_vec3 mn_geo_position(const mn_geo *geo, int64_t point)
{
    const float *p = mn_geo_positions(geo) + 3 * point;
    return mn_v3(p[0], p[1], p[2]);
}

void mn_attribute_get(const mn_attribute *attribute, int64_t begin, int64_t count, double *values)
{
    const int64_t from = begin * attribute->size, n = count * attribute->size;
    const void *data = mn_attribute_data(attribute);
    if (n <= 0) return;
    switch (attribute->type) {
    case MN_F32:
        for (int64_t i = 0; i < n; i++) values[i] = (double)((const float *)data)[from + i];
        break;
    case MN_F64:
        memcpy(values, (const double *)data + from, mn_bytes(n, sizeof(double)));
        break;
    case MN_I32:
        for (int64_t i = 0; i < n; i++) values[i] = ((const int32_t *)data)[from + i];
        break;
    case MN_I64:
        for (int64_t i = 0; i < n; i++) values[i] = (double)((const int64_t *)data)[from + i];
        break;
    default:
        memset(values, 0, mn_bytes(n, sizeof(double)));
    }
}

// Nearest integer inside [-limit, limit]; 0 for NaN, whose conversion would be undefined.
static int64_t rounded(double value, double limit)
{
    return isnan(value) ? 0 : (int64_t)fmin(fmax(nearbyint(value), -limit), limit);
}

mn_status mn_attribute_set(mn_geo *geo, mn_attribute *attribute, int64_t begin, int64_t count,
                           const double *values)
{
    const int64_t from = begin * attribute->size, n = count * attribute->size;
    if (n <= 0) return MN_OK;
    if (attribute->type == MN_STRING)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "The string attribute '%s' cannot take numbers.",
                       attribute->name);
    void *data = mn_attribute_write(geo, attribute);
    if (!data) return MN_ERROR_MEMORY;
    switch (attribute->type) {
    case MN_F32:
        for (int64_t i = 0; i < n; i++) ((float *)data)[from + i] = (float)values[i];
        break;
    case MN_F64:
        memcpy((double *)data + from, values, mn_bytes(n, sizeof(double)));
        break;
    case MN_I32:
        for (int64_t i = 0; i < n; i++)
            ((int32_t *)data)[from + i] = (int32_t)rounded(values[i], 2147483647.0);
        break;
    default:
        for (int64_t i = 0; i < n; i++)
            ((int64_t *)data)[from + i] = rounded(values[i], 9223372036854774784.0);
    }
    return MN_OK;
}

// ---- strings ----

const char *mn_attribute_string(const mn_attribute *attribute, int64_t element, int32_t component)
{
    if (attribute->type != MN_STRING || element < 0 || element >= attribute->values.count) return "";
    const int32_t *indices = mn_attribute_data(attribute);
    return mn_string_table_at(attribute->strings, indices[element * attribute->size + component]);
}

mn_status mn_attribute_intern(mn_geo *geo, mn_attribute *attribute, const char *string, int32_t *index)
{
    if (attribute->type != MN_STRING)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "The attribute '%s' holds numbers, not strings.",
                       attribute->name);
    return mn_string_table_intern(&attribute->strings, string, index);
}

mn_status mn_attribute_set_string(mn_geo *geo, mn_attribute *attribute, int64_t element, int32_t component,
                                  const char *string)
{
    int32_t index;
    MN_TRY(mn_attribute_intern(geo, attribute, string, &index));
    int32_t *indices = mn_attribute_write(geo, attribute);
    if (!indices) return MN_ERROR_MEMORY;
    indices[element * attribute->size + component] = index;
    return MN_OK;
}

int32_t mn_attribute_table_count(const mn_attribute *attribute)
{
    return attribute->strings ? mn_string_table_count(attribute->strings) : 0;
}

const char *mn_attribute_table_at(const mn_attribute *attribute, int32_t index)
{
    return attribute->strings ? mn_string_table_at(attribute->strings, index) : "";
}
