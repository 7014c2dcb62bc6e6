// SPDX-License-Identifier: Apache-2.0
//
// Values of a def by the rows of its table.
#include "meniscus/field.h"
#include "base/field_groups.h"

#include <stdio.h>
#include <string.h>

// ---- one component ----

static double load(mn_storage storage, const void *at)
{
    switch (storage) {
    case MN_STORE_F64:
        return *(const double *)at;
    case MN_STORE_F32:
        return (double)*(const float *)at;
    case MN_STORE_I64:
        return (double)*(const int64_t *)at;
    case MN_STORE_I32:
        return *(const int32_t *)at;
    case MN_STORE_U64:
        return (double)*(const uint64_t *)at;
    case MN_STORE_U32:
        return *(const uint32_t *)at;
    case MN_STORE_U8:
        return *(const uint8_t *)at;
    default:
        return 0;
    }
}

static void store(mn_storage storage, void *at, double value)
{
    switch (storage) {
    case MN_STORE_F64:
        *(double *)at = value;
        break;
    case MN_STORE_F32:
        *(float *)at = (float)value;
        break;
    case MN_STORE_I64:
        *(int64_t *)at = (int64_t)value;
        break;
    case MN_STORE_I32:
        *(int32_t *)at = (int32_t)value;
        break;
    case MN_STORE_U64:
        *(uint64_t *)at = (uint64_t)value;
        break;
    case MN_STORE_U32:
        *(uint32_t *)at = (uint32_t)value;
        break;
    case MN_STORE_U8:
        *(uint8_t *)at = value != 0;
        break;
    default:
        break;
    }
}

size_t mn_storage_bytes(mn_storage storage)
{
    static const size_t bytes[] = {
        [MN_STORE_F64] = 8, [MN_STORE_F32] = 4, [MN_STORE_I64] = 8, [MN_STORE_I32] = 4,
        [MN_STORE_U64] = 8, [MN_STORE_U32] = 4, [MN_STORE_U8] = 1};
    return (size_t)storage < sizeof bytes / sizeof *bytes ? bytes[storage] : 0;
}

void mn_storage_get(mn_storage storage, int32_t size, const void *at, double *value)
{
    const size_t step = mn_storage_bytes(storage);
    for (int32_t i = 0; i < size; i++) value[i] = load(storage, (const char *)at + (size_t)i * step);
}

void mn_storage_set(mn_storage storage, int32_t size, void *at, const double *value)
{
    const size_t step = mn_storage_bytes(storage);
    for (int32_t i = 0; i < size; i++) store(storage, (char *)at + (size_t)i * step, value[i]);
}

// ---- rows ----

void mn_field_get(const mn_field *field, const void *def, double *value)
{
    const void *at = (const char *)def + field->offset;
    const mn_box *box = at;
    if (field->storage == MN_STORE_BOX_CENTER) {
        const mn_vec3 center = mn_scale(0.5, mn_add(box->min, box->max));
        memcpy(value, &center, sizeof center);
    } else if (field->storage == MN_STORE_BOX_SIZE) {
        const mn_vec3 size = mn_sub(box->max, box->min);
        memcpy(value, &size, sizeof size);
    } else {
        mn_storage_get(field->storage, field->size, at, value);
    }
}

void mn_field_set(const mn_field *field, void *def, const double *value)
{
    void *at = (char *)def + field->offset;
    mn_box *box = at;
    const mn_vec3 v = mn_v3(value[0], value[1], value[2]);
    if (field->storage == MN_STORE_BOX_CENTER)
        box->min = box->max = v; // until the next row gives it edges
    else if (field->storage == MN_STORE_BOX_SIZE)
        *box = (mn_box){mn_axpy(box->min, -0.5, v), mn_axpy(box->min, 0.5, v)};
    else
        mn_storage_set(field->storage, field->size, at, value);
}

void mn_def_default(const mn_field *fields, int32_t count, void *def)
{
    for (int32_t i = 0; i < count; i++)
        if (fields[i].storage != MN_STORE_NONE) mn_field_set(&fields[i], def, fields[i].defaults);
}

static mn_status outside(mn_context *ctx, const mn_field *field, double value)
{
    const char *unit = field->unit ? field->unit : "", *space = *unit ? " " : "";
    const bool low = isfinite(field->hard_min), high = isfinite(field->hard_max);
    if (low && high)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g%s%s; it must be from %g to %g%s%s.", field->name,
                       value, space, unit, field->hard_min, field->hard_max, space, unit);
    if (low)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g%s%s; it must be at least %g%s%s.", field->name,
                       value, space, unit, field->hard_min, space, unit);
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s is %g%s%s; it must be a finite number.", field->name, value,
                   space, unit);
}

mn_status mn_def_check(mn_context *ctx, const mn_field *fields, int32_t count, const void *def)
{
    for (int32_t i = 0; i < count; i++) {
        const mn_field *field = &fields[i];
        if (field->storage == MN_STORE_NONE) continue;
        double value[4];
        mn_field_get(field, def, value);
        for (int32_t k = 0; k < field->size; k++)
            if (!isfinite(value[k]) || value[k] < field->hard_min || value[k] > field->hard_max)
                return outside(ctx, field, value[k]);
    }
    return MN_OK;
}

// ---- materials ----

const mn_menu_item mn_material_items[MN_MATERIAL_COUNT + 1] = {MN_MATERIAL_ITEMS, {NULL, NULL}};

double mn_material_value(int32_t material, mn_property property, double custom)
{
    static const double values[MN_MATERIAL_COUNT][3] = {MN_MATERIAL_VALUES};
    if (material <= 0 || material >= MN_MATERIAL_COUNT || property == MN_PROPERTY_NONE) return custom;
    return values[material][property - MN_PROPERTY_DENSITY];
}
