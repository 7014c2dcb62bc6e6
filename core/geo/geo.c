// SPDX-License-Identifier: Apache-2.0
//
// Life of a geo and its elements: points, vertices, primitives and volumes.
#include "geo/geo_state.h"

#include "meniscus/stream.h"

#include <string.h>

const char *mn_owner_name(mn_owner owner)
{
    static const char *const names[] = {"point", "vertex", "primitive", "detail"};
    return (unsigned)owner < MN_OWNER_COUNT ? names[owner] : "";
}

const char *mn_primitive_kind_name(mn_primitive_kind kind)
{
    static const char *const names[] = {"polyline", "polygon", "tetrahedron", "volume"};
    return (unsigned)kind < MN_PRIMITIVE_KIND_COUNT ? names[kind] : "";
}

char *mn_geo_copy_name(mn_context *ctx, const char *name)
{
    const size_t size = strlen(name) + 1;
    char *copy = mn_allocate(ctx, size);
    if (copy) memcpy(copy, name, size);
    return copy;
}

void mn_geo_free_name(mn_context *ctx, char *name)
{
    if (name) mn_release(ctx, name, strlen(name) + 1);
}

// ---- life ----

static mn_geo *allocate_geo(mn_context *ctx)
{
    mn_geo *geo = mn_allocate_zero(ctx, sizeof *geo);
    if (!geo) return NULL;
    geo->ctx = ctx;
    geo->counts[MN_DETAIL] = 1;
    geo->vertex_points.element_bytes = geo->primitive_starts.element_bytes = sizeof(int64_t);
    geo->primitive_kinds.element_bytes = sizeof(uint8_t);
    return geo;
}

mn_status mn_geo_create(mn_context *ctx, mn_geo **geo)
{
    *geo = allocate_geo(ctx);
    if (!*geo) return MN_ERROR_MEMORY;
    mn_attribute *position;
    const mn_status status = mn_geo_add_attribute(*geo, MN_POINT, "P", MN_F32, 3, MN_HINT_POINT, &position);
    if (status != MN_OK) {
        mn_geo_free(*geo);
        *geo = NULL;
    }
    return status;
}

void mn_geo_free(mn_geo *geo)
{
    if (!geo) return;
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            mn_attribute_free(geo->ctx, geo->attributes[owner].data[i]);
        for (int64_t i = 0; i < geo->groups[owner].count; i++)
            mn_group_free(geo->ctx, geo->groups[owner].data[i]);
        mn_array_free(geo->ctx, &geo->attributes[owner]);
        mn_array_free(geo->ctx, &geo->groups[owner]);
    }
    for (int64_t i = 0; i < geo->volumes.count; i++) mn_volume_release(&geo->volumes.data[i].volume);
    mn_array_free(geo->ctx, &geo->volumes);
    mn_column_free(&geo->vertex_points);
    mn_column_free(&geo->primitive_starts);
    mn_column_free(&geo->primitive_kinds);
    mn_release(geo->ctx, geo, sizeof *geo);
}

static mn_status copy_into(const mn_geo *geo, mn_geo *copy)
{
    memcpy(copy->counts, geo->counts, sizeof copy->counts);
    copy->vertex_points = mn_column_share(&geo->vertex_points);
    copy->primitive_starts = mn_column_share(&geo->primitive_starts);
    copy->primitive_kinds = mn_column_share(&geo->primitive_kinds);
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            MN_TRY(mn_geo_share_attribute(copy, geo->attributes[owner].data[i]));
        for (int64_t i = 0; i < geo->groups[owner].count; i++)
            MN_TRY(mn_geo_share_group(copy, geo->groups[owner].data[i]));
    }
    for (int64_t i = 0; i < geo->volumes.count; i++) {
        MN_TRY(mn_array_push(copy->ctx, &copy->volumes, &geo->volumes.data[i]));
        mn_volume_retain(geo->volumes.data[i].volume);
    }
    return MN_OK;
}

mn_status mn_geo_copy(const mn_geo *geo, mn_geo **copy)
{
    *copy = allocate_geo(geo->ctx);
    if (!*copy) return MN_ERROR_MEMORY;
    const mn_status status = copy_into(geo, *copy);
    if (status != MN_OK) {
        mn_geo_free(*copy);
        *copy = NULL;
    }
    return status;
}

mn_context *mn_geo_context(const mn_geo *geo)
{
    return geo->ctx;
}

static int64_t column_bytes(const mn_column *column)
{
    return column->count * (int64_t)column->element_bytes;
}

int64_t mn_geo_bytes(const mn_geo *geo)
{
    int64_t bytes = column_bytes(&geo->vertex_points) + column_bytes(&geo->primitive_starts) +
                    column_bytes(&geo->primitive_kinds);
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            bytes += column_bytes(&geo->attributes[owner].data[i]->values);
        for (int64_t i = 0; i < geo->groups[owner].count; i++)
            bytes += column_bytes(&geo->groups[owner].data[i]->members);
    }
    for (int64_t i = 0; i < geo->volumes.count; i++)
        bytes += (int64_t)mn_volume_get_info(geo->volumes.data[i].volume).bytes;
    return bytes;
}

// ---- hash ----

static uint64_t hash_column(uint64_t hash, const mn_column *column)
{
    hash = mn_hash_u64(hash, (uint64_t)column->count);
    return column->count
               ? mn_hash_bytes(hash, mn_column_data(column), mn_bytes(column->count, column->element_bytes))
               : hash;
}

static uint64_t hash_attribute(uint64_t hash, const mn_attribute *attribute)
{
    hash = mn_hash_string(hash, attribute->name);
    hash = mn_hash_u64(hash, (uint64_t)attribute->type << 32 | (uint64_t)(uint32_t)attribute->size);
    hash = mn_hash_u64(hash, (uint64_t)attribute->hint);
    hash = hash_column(hash, &attribute->values);
    if (attribute->strings)
        for (int32_t i = 0; i < mn_string_table_count(attribute->strings); i++)
            hash = mn_hash_string(hash, mn_string_table_at(attribute->strings, i));
    return hash;
}

uint64_t mn_geo_hash(const mn_geo *geo)
{
    uint64_t hash = 0;
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        hash = mn_hash_u64(hash, (uint64_t)geo->counts[owner]);
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            hash = hash_attribute(hash, geo->attributes[owner].data[i]);
        for (int64_t i = 0; i < geo->groups[owner].count; i++) {
            hash = mn_hash_string(hash, geo->groups[owner].data[i]->name);
            hash = hash_column(hash, &geo->groups[owner].data[i]->members);
        }
    }
    hash = hash_column(hash, &geo->vertex_points);
    hash = hash_column(hash, &geo->primitive_starts);
    hash = hash_column(hash, &geo->primitive_kinds);
    for (int64_t i = 0; i < geo->volumes.count; i++) {
        const mn_volume volume = geo->volumes.data[i].volume;
        const mn_volume_info info = mn_volume_get_info(volume);
        hash = mn_hash_string(mn_hash_u64(hash, (uint64_t)info.active_voxels), info.name);
        hash = mn_hash_bytes(hash, &info.index_to_world, sizeof info.index_to_world);
        hash = mn_hash_bytes(hash, &info.bounds, sizeof info.bounds);
        hash = mn_hash_u64(hash, (uint64_t)info.kind);
        if (volume.ops && volume.ops->hash) hash = volume.ops->hash(volume.handle, hash);
    }
    return hash;
}

// ---- elements ----

int64_t mn_geo_point_count(const mn_geo *geo)
{
    return geo->counts[MN_POINT];
}

int64_t mn_geo_vertex_count(const mn_geo *geo)
{
    return geo->counts[MN_VERTEX];
}

int64_t mn_geo_primitive_count(const mn_geo *geo)
{
    return geo->counts[MN_PRIMITIVE];
}

int64_t mn_geo_count(const mn_geo *geo, mn_owner owner)
{
    return geo->counts[owner];
}

int64_t mn_geo_kind_count(const mn_geo *geo, mn_primitive_kind kind)
{
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    int64_t count = 0;
    for (int64_t i = 0; i < geo->counts[MN_PRIMITIVE]; i++) count += kinds[i] == kind;
    return count;
}

const int64_t *mn_geo_vertex_points(const mn_geo *geo)
{
    return mn_column_data(&geo->vertex_points);
}

const int64_t *mn_geo_primitive_starts(const mn_geo *geo)
{
    static const int64_t none = 0;
    return geo->counts[MN_PRIMITIVE] ? mn_column_data(&geo->primitive_starts) : &none;
}

const uint8_t *mn_geo_primitive_kinds(const mn_geo *geo)
{
    return mn_column_data(&geo->primitive_kinds);
}

mn_status mn_geo_reserve(mn_geo *geo, mn_owner owner, int64_t count)
{
    for (int64_t i = 0; i < geo->attributes[owner].count; i++)
        MN_TRY(mn_column_reserve(geo->ctx, &geo->attributes[owner].data[i]->values, count));
    for (int64_t i = 0; i < geo->groups[owner].count; i++)
        MN_TRY(mn_column_reserve(geo->ctx, &geo->groups[owner].data[i]->members, count));
    if (owner == MN_VERTEX) MN_TRY(mn_column_reserve(geo->ctx, &geo->vertex_points, count));
    if (owner == MN_PRIMITIVE) {
        MN_TRY(mn_column_reserve(geo->ctx, &geo->primitive_starts, count + 1));
        MN_TRY(mn_column_reserve(geo->ctx, &geo->primitive_kinds, count));
    }
    return MN_OK;
}

void mn_geo_set_count(mn_geo *geo, mn_owner owner, int64_t count)
{
    for (int64_t i = 0; i < geo->attributes[owner].count; i++) {
        mn_attribute *attribute = geo->attributes[owner].data[i];
        const int64_t old = attribute->values.count;
        mn_column_set_count(&attribute->values, count);
        // No string yet: -1 in every component. The column is unshared, so this cannot fail.
        if (attribute->type == MN_STRING && count > old)
            memset((int32_t *)mn_column_write(geo->ctx, &attribute->values) + old * attribute->size, 0xff,
                   mn_bytes(count - old, attribute->values.element_bytes));
    }
    for (int64_t i = 0; i < geo->groups[owner].count; i++)
        mn_column_set_count(&geo->groups[owner].data[i]->members, count);
    if (owner == MN_VERTEX) mn_column_set_count(&geo->vertex_points, count);
    if (owner == MN_PRIMITIVE) {
        mn_column_set_count(&geo->primitive_starts, count > 0 ? count + 1 : 0);
        mn_column_set_count(&geo->primitive_kinds, count);
    }
    geo->counts[owner] = count;
}

mn_status mn_geo_add_points(mn_geo *geo, int64_t count, int64_t *first)
{
    if (count < 0) return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "A negative number of points was asked for.");
    if (first) *first = geo->counts[MN_POINT];
    if (count == 0) return MN_OK;
    MN_TRY(mn_geo_reserve(geo, MN_POINT, geo->counts[MN_POINT] + count));
    mn_geo_set_count(geo, MN_POINT, geo->counts[MN_POINT] + count);
    return MN_OK;
}

// How many vertices the new primitives have in all; fails on counts and indices that cannot be.
static mn_status check_primitives(const mn_geo *geo, mn_primitive_kind kind, int64_t count,
                                  const int32_t *vertex_counts, int32_t vertices_each, const int64_t *points,
                                  int64_t *total)
{
    static const int32_t least[] = {2, 3, 4, 1}, most[] = {INT32_MAX, INT32_MAX, 4, 1};
    if (count < 0 || (unsigned)kind >= MN_PRIMITIVE_KIND_COUNT)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT,
                       "A negative number of primitives, or an unknown kind, was asked for.");
    *total = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t n = vertex_counts ? vertex_counts[i] : vertices_each;
        if (n < least[kind] || n > most[kind])
            return mn_fail(geo->ctx, MN_ERROR_INPUT,
                           "A %s cannot have %d vertices (primitive %lld of this call).",
                           mn_primitive_kind_name(kind), (int)n, (long long)i);
        *total += n;
    }
    for (int64_t v = 0; v < *total; v++)
        if (points[v] < 0 || points[v] >= geo->counts[MN_POINT])
            return mn_fail(
                geo->ctx, MN_ERROR_INPUT, "A %s refers to point %lld, but there are only %lld points.",
                mn_primitive_kind_name(kind), (long long)points[v], (long long)geo->counts[MN_POINT]);
    return MN_OK;
}

mn_status mn_geo_add_primitives(mn_geo *geo, mn_primitive_kind kind, int64_t count,
                                const int32_t *vertex_counts, int32_t vertices_each, const int64_t *points,
                                int64_t *first)
{
    if (kind == MN_VOLUME)
        return mn_fail(geo->ctx, MN_ERROR_ARGUMENT,
                       "Volumes are added one at a time with mn_geo_add_volume.");
    int64_t total = 0;
    MN_TRY(check_primitives(geo, kind, count, vertex_counts, vertices_each, points, &total));
    const int64_t old_vertices = geo->counts[MN_VERTEX], old_primitives = geo->counts[MN_PRIMITIVE];
    if (first) *first = old_primitives;
    if (count == 0) return MN_OK;
    MN_TRY(mn_geo_reserve(geo, MN_VERTEX, old_vertices + total));
    MN_TRY(mn_geo_reserve(geo, MN_PRIMITIVE, old_primitives + count));
    mn_geo_set_count(geo, MN_VERTEX, old_vertices + total);
    mn_geo_set_count(geo, MN_PRIMITIVE, old_primitives + count);
    // Unshared by the reservations: these cannot fail.
    int64_t *vertex_points = mn_column_write(geo->ctx, &geo->vertex_points);
    int64_t *starts = mn_column_write(geo->ctx, &geo->primitive_starts);
    uint8_t *kinds = mn_column_write(geo->ctx, &geo->primitive_kinds);
    memcpy(vertex_points + old_vertices, points, mn_bytes(total, sizeof *points));
    memset(kinds + old_primitives, (int)kind, (size_t)count);
    for (int64_t i = 0; i < count; i++)
        starts[old_primitives + i + 1] =
            starts[old_primitives + i] + (vertex_counts ? vertex_counts[i] : vertices_each);
    return MN_OK;
}

// ---- volumes ----

mn_status mn_geo_add_volume(mn_geo *geo, mn_volume volume, int64_t point, int64_t *primitive)
{
    if (!volume.ops) return mn_fail(geo->ctx, MN_ERROR_ARGUMENT, "An empty volume handle cannot be added.");
    if (point < -1 || point >= geo->counts[MN_POINT])
        return mn_fail(geo->ctx, MN_ERROR_INPUT,
                       "A volume refers to point %lld, but there are only %lld points.", (long long)point,
                       (long long)geo->counts[MN_POINT]);
    MN_TRY(mn_array_reserve(geo->ctx, &geo->volumes, geo->volumes.count + 1));
    MN_TRY(mn_geo_reserve(geo, MN_VERTEX, geo->counts[MN_VERTEX] + 1));
    MN_TRY(mn_geo_reserve(geo, MN_PRIMITIVE, geo->counts[MN_PRIMITIVE] + 1));
    if (point < 0) MN_TRY(mn_geo_add_points(geo, 1, &point));
    const int64_t vertex = geo->counts[MN_VERTEX], index = geo->counts[MN_PRIMITIVE];
    mn_geo_set_count(geo, MN_VERTEX, vertex + 1);
    mn_geo_set_count(geo, MN_PRIMITIVE, index + 1);
    ((int64_t *)mn_column_write(geo->ctx, &geo->vertex_points))[vertex] = point;
    ((int64_t *)mn_column_write(geo->ctx, &geo->primitive_starts))[index + 1] = vertex + 1;
    ((uint8_t *)mn_column_write(geo->ctx, &geo->primitive_kinds))[index] = MN_VOLUME;
    geo->volumes.data[geo->volumes.count++] = (mn_volume_entry){index, mn_volume_retain(volume)};
    if (primitive) *primitive = index;
    return MN_OK;
}

mn_volume mn_geo_volume(const mn_geo *geo, int64_t primitive)
{
    int64_t low = 0, high = geo->volumes.count;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (geo->volumes.data[middle].primitive < primitive)
            low = middle + 1;
        else
            high = middle;
    }
    const bool found = low < geo->volumes.count && geo->volumes.data[low].primitive == primitive;
    return found ? geo->volumes.data[low].volume : (mn_volume){0};
}

mn_volume mn_geo_find_volume(const mn_geo *geo, const char *name)
{
    for (int64_t i = 0; i < geo->volumes.count; i++)
        if (!name || strcmp(mn_volume_get_info(geo->volumes.data[i].volume).name, name) == 0)
            return geo->volumes.data[i].volume;
    return (mn_volume){0};
}

// ---- bounds ----

// In floats, whose order is that of the doubles: this is asked for on every frame that is written.
static mn_box point_bounds(const float *positions, int64_t count)
{
    float min[3] = {INFINITY, INFINITY, INFINITY}, max[3] = {-INFINITY, -INFINITY, -INFINITY};
    for (int64_t i = 0; i < count; i++) {
        const float *x = positions + 3 * i;
        if (!(isfinite(x[0]) && isfinite(x[1]) && isfinite(x[2]))) continue;
        for (int axis = 0; axis < 3; axis++) {
            min[axis] = x[axis] < min[axis] ? x[axis] : min[axis];
            max[axis] = x[axis] > max[axis] ? x[axis] : max[axis];
        }
    }
    mn_box box = mn_box_empty();
    if (min[0] <= max[0])
        box.min = mn_v3((double)min[0], (double)min[1], (double)min[2]),
        box.max = mn_v3((double)max[0], (double)max[1], (double)max[2]);
    return box;
}

mn_box mn_geo_bounds(const mn_geo *geo)
{
    mn_box box = point_bounds(mn_geo_positions(geo), geo->counts[MN_POINT]);
    for (int64_t i = 0; i < geo->volumes.count; i++) {
        const mn_box voxels = mn_volume_get_info(geo->volumes.data[i].volume).bounds;
        if (!mn_box_is_empty(voxels)) box = mn_box_join(box, voxels);
    }
    return box;
}
