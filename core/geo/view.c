// SPDX-License-Identifier: Apache-2.0
//
// Borrowed columns to geometry and back.
#include "meniscus/solver.h"

#include "base/parallel.h"
#include "meniscus/array.h"

enum { COMPONENTS_MAX = 16, GRAIN = 8192, BATCH = 64 };

// ---- what is shown ----

void mn_view_column(mn_view *view, mn_column_view column)
{
    if (view->column_count < MN_VIEW_COLUMNS) view->columns[view->column_count++] = column;
}

void mn_view_primitive_column(mn_view *view, mn_column_view column)
{
    if (view->primitive_column_count < MN_VIEW_COLUMNS)
        view->primitive_columns[view->primitive_column_count++] = column;
}

void mn_view_rows(mn_view *view, int64_t count, size_t stride, const void *rows, const mn_column_def *columns,
                  int32_t column_count)
{
    view->point_count = count;
    for (int32_t i = 0; i < column_count; i++) {
        const mn_column_def *def = &columns[i];
        const void *data = rows ? (const char *)rows + def->offset : NULL;
        mn_view_column(view, (mn_column_view){def->name, def->type, def->size, def->hint, def->storage, data,
                                              stride, NULL});
    }
}

void mn_view_primitives(mn_view *view, mn_primitive_kind kind, int32_t size, int64_t count,
                        const int32_t *corners)
{
    if (count > 0 && view->part_count < MN_VIEW_PARTS)
        view->parts[view->part_count++] = (mn_view_part){kind, size, count, corners};
}

// ---- to geometry ----

typedef struct copying {
    mn_context *ctx;
    const mn_column_view *column;
    const int32_t *order;
    const char *const *texts;
    void *values;
} copying;

static mn_status too_large(const copying *copy, double value)
{
    return mn_fail(copy->ctx, MN_ERROR_UNSUPPORTED,
                   "%s %.0f cannot be written: numbers of this attribute end at two billion.",
                   copy->column->name, value);
}

static mn_status put(const copying *copy, int64_t i, const double *value)
{
    const int32_t size = copy->column->size;
    for (int32_t k = 0; k < size; k++) {
        const int64_t at = i * size + k;
        switch (copy->column->type) {
        case MN_F32:
            ((float *)copy->values)[at] = (float)value[k];
            break;
        case MN_F64:
            ((double *)copy->values)[at] = value[k];
            break;
        case MN_I32:
            if (!(value[k] >= INT32_MIN && value[k] <= INT32_MAX)) return too_large(copy, value[k]);
            ((int32_t *)copy->values)[at] = (int32_t)value[k];
            break;
        default:
            ((int64_t *)copy->values)[at] = (int64_t)value[k];
            break;
        }
    }
    return MN_OK;
}

static void get(const copying *copy, int64_t i, double *value)
{
    const mn_column_view *column = copy->column;
    const int64_t row = copy->order ? copy->order[i] : i;
    if (column->value)
        column->value(column->data, row, value);
    else
        mn_storage_get(column->storage, column->size,
                       (const char *)column->data + (size_t)row * column->stride, value);
}

static mn_status copy_range(void *user, mn_range range)
{
    for (int64_t i = range.begin; i < range.end; i++) {
        double value[COMPONENTS_MAX];
        get(user, i, value);
        MN_TRY(put(user, i, value));
    }
    return MN_OK;
}

static mn_status copy_texts(const copying *copy, int64_t count, mn_attribute *attribute, mn_geo *geo)
{
    for (int64_t i = 0; i < count; i++) {
        double value[COMPONENTS_MAX];
        get(copy, i, value);
        MN_TRY(mn_attribute_set_string(geo, attribute, i, 0, copy->texts[(int64_t)value[0]]));
    }
    return MN_OK;
}

static mn_status write_column(mn_geo *geo, const mn_view *view, mn_owner owner, const mn_column_view *column)
{
    mn_context *ctx = mn_geo_context(geo);
    const bool points = owner == MN_POINT;
    const int64_t count = points ? view->point_count : mn_geo_primitive_count(geo);
    mn_attribute *attribute;
    MN_TRY(
        mn_geo_add_attribute(geo, owner, column->name, column->type, column->size, column->hint, &attribute));
    if (count == 0) return MN_OK;
    copying copy = {ctx, column, points ? view->order : NULL, view->texts, NULL};
    if (column->type == MN_STRING) return copy_texts(&copy, count, attribute, geo);
    copy.values = mn_attribute_write(geo, attribute);
    if (!copy.values) return MN_ERROR_MEMORY;
    return mn_parallel_for(ctx, count, GRAIN, copy_range, &copy);
}

static mn_status write_part(mn_geo *geo, const mn_view_part *part)
{
    mn_context *ctx = mn_geo_context(geo);
    MN_ARRAY(int64_t) points = {0};
    mn_status status = mn_array_resize(ctx, &points, part->size * part->count);
    if (status == MN_OK) {
        for (int64_t i = 0; i < points.count; i++) points.data[i] = part->corners[i];
        status = mn_geo_add_primitives(geo, part->kind, part->count, NULL, part->size, points.data, NULL);
    }
    mn_array_free(ctx, &points);
    return status;
}

static mn_status write_view(const mn_view *view, mn_geo *geo)
{
    MN_TRY(mn_geo_add_points(geo, view->point_count, NULL));
    for (int32_t i = 0; i < view->column_count; i++)
        MN_TRY(write_column(geo, view, MN_POINT, &view->columns[i]));
    for (int32_t i = 0; i < view->part_count; i++) MN_TRY(write_part(geo, &view->parts[i]));
    for (int32_t i = 0; i < view->primitive_column_count; i++)
        MN_TRY(write_column(geo, view, MN_PRIMITIVE, &view->primitive_columns[i]));
    return MN_OK;
}

mn_status mn_geo_from_view(mn_context *ctx, const mn_view *view, mn_geo **geo)
{
    MN_TRY(mn_geo_create(ctx, geo));
    const mn_status status = write_view(view, *geo);
    if (status != MN_OK) mn_geo_free(*geo), *geo = NULL;
    return status;
}

// ---- from geometry ----

void mn_geo_read_rows(const mn_geo *geo, const mn_column_def *columns, int32_t column_count, void *rows,
                      size_t stride, uint64_t *present)
{
    const int64_t count = mn_geo_point_count(geo);
    *present = 0;
    for (int32_t c = 0; c < column_count; c++) {
        const mn_column_def *def = &columns[c];
        const mn_attribute *attribute = mn_geo_find_numeric(geo, MN_POINT, def->name, def->size);
        if (!attribute) continue;
        *present |= (uint64_t)1 << c;
        for (int64_t begin = 0; begin < count; begin += BATCH) {
            double values[BATCH * COMPONENTS_MAX];
            const int64_t batch = count - begin < BATCH ? count - begin : BATCH;
            mn_attribute_get(attribute, begin, batch, values);
            for (int64_t i = 0; i < batch; i++)
                mn_storage_set(def->storage, def->size,
                               (char *)rows + (size_t)(begin + i) * stride + def->offset,
                               values + i * def->size);
        }
    }
}
