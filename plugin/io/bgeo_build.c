// SPDX-License-Identifier: Apache-2.0
//
// From what was gathered of a geometry file to the geometry: primitives in order, vertices renumbered along
// them, then the attributes and groups that belong to vertices and primitives.
//
// mn_geo numbers vertices primitive by primitive. A file of runs does the same; where it does not, and where
// a polygon soup becomes many polygons, maps say which of the file's elements each of ours comes from.
#include "plugin/io/bgeo_read.h"

#include <stdlib.h>
#include <string.h>

typedef struct maps {
    int64_t *vertex, *primitive;  ///< NULL when every element is its own
    int64_t vertices, primitives; ///< lengths
} maps;

// ---- attributes ----

void mn_bgeo_free_attribute(mn_context *ctx, mn_bgeo_attribute *attribute)
{
    if (attribute->data && !attribute->in_place)
        mn_release(ctx, attribute->data,
                   mn_bytes(attribute->capacity, mn_type_bytes(attribute->type) * (size_t)attribute->size));
    mn_array_free(ctx, &attribute->strings.text);
    mn_array_free(ctx, &attribute->strings.starts);
    memset(attribute, 0, sizeof *attribute);
}

/// Homogeneous points of Houdini 13 and before: a weight that is not 1 becomes the attribute Pw, as in later
/// ones.
static mn_status place_homogeneous(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute)
{
    float *positions = mn_geo_write_positions(reader->geo);
    const float *from = (const float *)(const void *)attribute->data;
    bool weighted = false;
    for (int64_t i = 0; i < attribute->elements; i++) {
        memcpy(positions + 3 * i, from + 4 * i, 3 * sizeof *positions);
        weighted = weighted || from[4 * i + 3] != 1.0f;
    }
    if (!weighted) return MN_OK;
    mn_attribute *made;
    MN_TRY(mn_geo_add_attribute(reader->geo, MN_POINT, "Pw", MN_F32, 1, MN_HINT_NONE, &made));
    float *weights = mn_attribute_write(reader->geo, made);
    if (!weights) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < attribute->elements; i++) weights[i] = from[4 * i + 3];
    return MN_OK;
}

/// The numbers of the file's strings in the attribute's own table, which keeps each string once.
static mn_status intern(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute, mn_attribute *made,
                        int32_t *numbers)
{
    const mn_bgeo_strings *strings = &attribute->strings;
    for (int64_t i = 0; i < strings->starts.count; i++)
        MN_TRY(mn_attribute_intern(reader->geo, made, strings->text.data + strings->starts.data[i],
                                   &numbers[i]));
    return MN_OK;
}

static mn_status renumber_strings(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, mn_attribute *made)
{
    const int64_t count = attribute->strings.starts.count;
    const size_t bytes = mn_bytes(count, sizeof(int32_t));
    int32_t *numbers = mn_allocate(reader->ctx, bytes);
    if (!numbers && count > 0) return MN_ERROR_MEMORY;
    mn_status status = intern(reader, attribute, made, numbers);
    int32_t *indices = (int32_t *)(void *)attribute->data;
    for (int64_t i = 0; i < attribute->elements * attribute->size && status == MN_OK; i++) {
        if (indices[i] < -1 || indices[i] >= count)
            status = mn_fail(reader->ctx, MN_ERROR_FORMAT,
                             "%s: the %s attribute '%s' refers to string %d, but there are only %lld.",
                             reader->json->source->name, mn_owner_name(attribute->owner), attribute->name,
                             (int)indices[i], (long long)count);
        else if (indices[i] >= 0)
            indices[i] = numbers[indices[i]];
    }
    mn_release(reader->ctx, numbers, bytes);
    return status;
}

static void gather(void *to, const void *from, size_t size, int64_t count, const int64_t *map)
{
    if (!map && count > 0) memcpy(to, from, mn_bytes(count, size));
    for (int64_t i = 0; map && i < count; i++)
        memcpy((char *)to + mn_bytes(i, size), (const char *)from + mn_bytes(map[i], size), size);
}

mn_status mn_bgeo_place_attribute(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, const int64_t *map)
{
    mn_geo *geo = reader->geo;
    if (attribute->owner == MN_POINT && mn_geo_point_count(geo) == 0)
        MN_TRY(mn_geo_add_points(geo, attribute->elements, NULL));
    if (attribute->owner == MN_POINT && attribute->size == 4 && strcmp(attribute->name, "P") == 0) {
        MN_TRY(place_homogeneous(reader, attribute));
        mn_bgeo_free_attribute(reader->ctx, attribute);
        return MN_OK;
    }
    mn_attribute *made;
    MN_TRY(mn_geo_add_attribute(geo, attribute->owner, attribute->name, attribute->type, attribute->size,
                                attribute->hint, &made));
    if (attribute->type == MN_STRING) MN_TRY(renumber_strings(reader, attribute, made));
    const int64_t count = mn_geo_count(geo, attribute->owner);
    if (count > 0) {
        void *to = mn_attribute_write(geo, made);
        if (!to) return MN_ERROR_MEMORY;
        gather(to, attribute->data, mn_type_bytes(attribute->type) * (size_t)attribute->size, count, map);
    }
    mn_bgeo_free_attribute(reader->ctx, attribute);
    return MN_OK;
}

// ---- primitives ----

static const char *volume_name(const mn_bgeo_reader *reader, int64_t file_primitive)
{
    for (int64_t i = 0; i < reader->attributes.count; i++) {
        const mn_bgeo_attribute *a = &reader->attributes.data[i];
        if (a->owner != MN_PRIMITIVE || a->type != MN_STRING || strcmp(a->name, "name") != 0) continue;
        const int32_t index = ((const int32_t *)(const void *)a->data)[file_primitive * a->size];
        if (index >= 0 && index < a->strings.starts.count)
            return a->strings.text.data + a->strings.starts.data[index];
    }
    return "";
}

/// Whether an attribute only says what the volumes say themselves: their names, and nothing for other
/// primitives. The writer makes it for hosts that look for volumes by it.
static bool repeats_volume_names(const mn_bgeo_reader *reader, const mn_bgeo_attribute *a)
{
    bool any = false;
    if (a->owner != MN_PRIMITIVE || a->type != MN_STRING || a->size != 1 || strcmp(a->name, "name") != 0)
        return false;
    for (int64_t p = 0; p < reader->parts.count; p++) {
        const mn_bgeo_part *part = &reader->parts.data[p];
        any |= part->kind == MN_VOLUME;
        for (int64_t i = 0; i < part->primitives && part->kind != MN_VOLUME; i++)
            if (volume_name(reader, part->file_primitive + (part->from_one ? 0 : i))[0]) return false;
    }
    return any;
}

static mn_status add_volume(mn_bgeo_reader *reader, const mn_bgeo_part *part)
{
    const int64_t point = reader->vertex_points.data[reader->listed.data[part->first_listed]];
    mn_volume volume = {0};
    MN_TRY(mn_bgeo_build_volume(reader, &reader->volumes.data[part->volume], point,
                                volume_name(reader, part->file_primitive), &volume));
    const mn_status status = mn_geo_add_volume(reader->geo, volume, point, NULL);
    mn_volume_release(&volume);
    mn_bgeo_free_volume(reader->ctx, &reader->volumes.data[part->volume]);
    return status;
}

static mn_status add_part(mn_bgeo_reader *reader, const mn_bgeo_part *part)
{
    if (part->kind == MN_VOLUME) return add_volume(reader, part);
    const int32_t *counts = part->each ? NULL : reader->vertex_counts.data + part->first_count;
    if (part->first_vertex >= 0)
        return mn_geo_add_primitives(reader->geo, part->kind, part->primitives, counts, part->each,
                                     reader->vertex_points.data + part->first_vertex, NULL);
    const size_t bytes = mn_bytes(part->vertices, sizeof(int64_t));
    int64_t *points = mn_allocate(reader->ctx, bytes);
    if (!points) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < part->vertices; i++)
        points[i] = reader->vertex_points.data[reader->listed.data[part->first_listed + i]];
    const mn_status status =
        mn_geo_add_primitives(reader->geo, part->kind, part->primitives, counts, part->each, points, NULL);
    mn_release(reader->ctx, points, bytes);
    return status;
}

static int64_t part_vertex(const mn_bgeo_reader *reader, const mn_bgeo_part *part, int64_t i)
{
    return part->first_vertex >= 0 ? part->first_vertex + i : reader->listed.data[part->first_listed + i];
}

/// Whether the file's vertices and primitives come in our order, one for one.
static void compare_order(const mn_bgeo_reader *reader, bool *same_vertices, bool *same_primitives)
{
    int64_t vertex = 0;
    *same_vertices = *same_primitives = true;
    for (int64_t p = 0; p < reader->parts.count; p++) {
        const mn_bgeo_part *part = &reader->parts.data[p];
        if (part->from_one && part->primitives != 1) *same_primitives = false;
        const int64_t looks = part->first_vertex >= 0 ? 1 : part->vertices; // in order inside
        for (int64_t i = 0; i < looks && *same_vertices; i++)
            *same_vertices = part_vertex(reader, part, i) == vertex + i;
        vertex += part->vertices;
    }
    if (mn_geo_primitive_count(reader->geo) != reader->primitives) *same_primitives = false;
}

static mn_status make_maps(const mn_bgeo_reader *reader, maps *maps)
{
    bool same_vertices, same_primitives;
    compare_order(reader, &same_vertices, &same_primitives);
    maps->vertices = mn_geo_vertex_count(reader->geo);
    maps->primitives = mn_geo_primitive_count(reader->geo);
    if (!same_vertices && maps->vertices > 0) {
        maps->vertex = mn_allocate(reader->ctx, mn_bytes(maps->vertices, sizeof(int64_t)));
        if (!maps->vertex) return MN_ERROR_MEMORY;
    }
    if (!same_primitives && maps->primitives > 0) {
        maps->primitive = mn_allocate(reader->ctx, mn_bytes(maps->primitives, sizeof(int64_t)));
        if (!maps->primitive) return MN_ERROR_MEMORY;
    }
    int64_t vertex = 0, primitive = 0;
    for (int64_t p = 0; p < reader->parts.count; p++) {
        const mn_bgeo_part *part = &reader->parts.data[p];
        for (int64_t i = 0; maps->vertex && i < part->vertices; i++)
            maps->vertex[vertex + i] = part_vertex(reader, part, i);
        for (int64_t i = 0; maps->primitive && i < part->primitives; i++)
            maps->primitive[primitive + i] = part->file_primitive + (part->from_one ? 0 : i);
        vertex += part->vertices;
        primitive += part->primitives;
    }
    return MN_OK;
}

// ---- groups ----

static mn_status place_group(mn_bgeo_reader *reader, mn_bgeo_group *group, const int64_t *map)
{
    mn_group *made;
    if (mn_geo_find_group(reader->geo, group->owner, group->name))
        return mn_fail(reader->ctx, MN_ERROR_FORMAT, "%s: there are two %s groups '%s'.",
                       reader->json->source->name, mn_owner_name(group->owner), group->name);
    MN_TRY(mn_geo_add_group(reader->geo, group->owner, group->name, &made));
    const int64_t count = mn_geo_count(reader->geo, group->owner);
    if (count > 0) {
        uint8_t *members = mn_group_write(reader->geo, made);
        if (!members) return MN_ERROR_MEMORY;
        gather(members, group->members.data, 1, count, map);
    }
    mn_array_free(reader->ctx, &group->members);
    return MN_OK;
}

static mn_status place_all(mn_bgeo_reader *reader, const maps *maps)
{
    for (int64_t i = 0; i < reader->attributes.count; i++) {
        mn_bgeo_attribute *attribute = &reader->attributes.data[i];
        if (repeats_volume_names(reader, attribute)) continue;
        MN_TRY(mn_bgeo_place_attribute(reader, attribute,
                                       attribute->owner == MN_VERTEX ? maps->vertex : maps->primitive));
    }
    for (int64_t i = 0; i < reader->groups.count; i++) {
        mn_bgeo_group *group = &reader->groups.data[i];
        const int64_t *map = NULL;
        if (group->owner == MN_VERTEX) map = maps->vertex;
        if (group->owner == MN_PRIMITIVE) map = maps->primitive;
        MN_TRY(place_group(reader, group, map));
    }
    return MN_OK;
}

static int compare_keys(const void *a, const void *b)
{
    return strcmp(((const mn_bgeo_voxels *)a)->key, ((const mn_bgeo_voxels *)b)->key);
}

/// The places of spheres and packed geometry go, where nothing else stands on them.
static mn_status drop_places(mn_bgeo_reader *reader)
{
    const int64_t count = mn_geo_point_count(reader->geo), *points = mn_geo_vertex_points(reader->geo);
    uint8_t *keep = mn_allocate(reader->ctx, mn_bytes(count, 1));
    if (!keep) return MN_ERROR_MEMORY;
    memset(keep, 1, (size_t)count);
    for (int64_t i = 0; i < reader->inners.count; i++)
        keep[reader->vertex_points.data[reader->inners.data[i].vertex]] = 0;
    for (int64_t v = 0; v < mn_geo_vertex_count(reader->geo); v++) keep[points[v]] = 1;
    const mn_status status = mn_geo_compact(reader->geo, keep, NULL);
    mn_release(reader->ctx, keep, mn_bytes(count, 1));
    return status;
}

mn_status mn_bgeo_build(mn_bgeo_reader *reader)
{
    if (reader->shared.count > 0)
        qsort(reader->shared.data, (size_t)reader->shared.count, sizeof *reader->shared.data, compare_keys);
    for (int64_t i = 0; i < reader->parts.count; i++) MN_TRY(add_part(reader, &reader->parts.data[i]));
    if (mn_geo_vertex_count(reader->geo) + reader->inners.count < reader->counts[MN_VERTEX])
        mn_log(reader->ctx, MN_LOG_WARNING, "%s: vertices that no primitive uses are left out.",
               reader->json->source->name);
    mn_geo *inners = NULL;
    maps maps = {0};
    mn_status status = mn_bgeo_make_inners(reader, &inners);
    if (status == MN_OK) status = make_maps(reader, &maps);
    if (status == MN_OK) status = place_all(reader, &maps);
    if (status == MN_OK && inners) status = drop_places(reader);
    if (status == MN_OK && inners) status = mn_geo_append(reader->geo, inners);
    mn_geo_free(inners);
    mn_release(reader->ctx, maps.vertex, mn_bytes(maps.vertices, sizeof(int64_t)));
    mn_release(reader->ctx, maps.primitive, mn_bytes(maps.primitives, sizeof(int64_t)));
    return status;
}
