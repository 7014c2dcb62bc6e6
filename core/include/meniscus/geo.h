// SPDX-License-Identifier: Apache-2.0
//
// mn_geo: what every node eats and returns. Points, vertices, primitives, attributes and groups, close enough
// to Houdini's model that its shim is a translation.
//
//   - A primitive owns a run of vertices; a vertex refers to one point. Vertices are numbered primitive by
//   primitive.
//   - `P` always exists: point owner, f32, size 3, hint point.
//   - Copies share attribute data until one of them is written, so a copy costs a few pointers per attribute.
//   - Detail attributes have exactly one element.
//   - New elements get zero, "" and no group.
// A geo belongs to the context it was created with; copies too. Volumes, which primitives may hold, come
// first.
#ifndef MENISCUS_GEO_H
#define MENISCUS_GEO_H

#include "meniscus/context.h"
#include "meniscus/vec.h"

#ifdef __cplusplus
extern "C" {
#endif

// ---- volumes ----
//
// A volume is an opaque handle with a small table of operations; plugin/vdb implements it on OpenVDB. Core
// and nodes see level sets and velocity fields through this table only. Handles are immutable and counted: a
// change makes a new one, so copies of geometry can share them.

typedef enum mn_volume_kind {
    MN_VOLUME_FOG,       ///< zero outside
    MN_VOLUME_LEVEL_SET, ///< signed distance, negative inside, metres, clamped to +-background outside its
                         ///< band
} mn_volume_kind;

typedef struct mn_volume_info {
    const char *name; ///< "surface", "vel", "density"; lives as long as the handle
    mn_volume_kind kind;
    int32_t components; ///< 1 or 3
    mn_mat4 index_to_world;
    double voxel_size; ///< m, the mean edge length of a voxel
    double background; ///< value outside the active voxels (first component)
    int64_t active_voxels;
    mn_box bounds; ///< world box of the active voxels, empty when there are none
    size_t bytes;
} mn_volume_info;

typedef struct mn_volume_ops {
    void (*retain)(void *handle);
    void (*release)(void *handle);
    void (*info)(const void *handle, mn_volume_info *info);
    /// Trilinear values at world positions: `components` doubles each. Safe to call from many threads at
    /// once.
    void (*sample)(const void *handle, int64_t count, const mn_vec3 *positions, double *values);
    /// A new handle: the same voxels seen through world -> transform world. A level set keeps its distances,
    /// so only rigid motions and uniform scales (which scale the distances) are allowed for it.
    mn_status (*transform)(mn_context *ctx, const void *handle, mn_mat4 transform, void **result);
    /// A new handle under another name.
    mn_status (*rename)(mn_context *ctx, const void *handle, const char *name, void **result);
    /// Optional: a hash of every voxel's value and whether it is active, chained like mn_hash_bytes().
    /// Without it a change of values alone goes unnoticed by mn_geo_hash().
    uint64_t (*hash)(const void *handle, uint64_t seed);
} mn_volume_ops;

/// Held by value; who holds one owns a reference. {0} stands for none.
typedef struct mn_volume {
    const mn_volume_ops *ops;
    void *handle;
} mn_volume;

MN_API mn_volume mn_volume_retain(mn_volume volume);
/// Gives the reference back and zeroes *volume. NULL and {0} are fine.
MN_API void mn_volume_release(mn_volume *volume);
MN_API mn_volume_info mn_volume_get_info(mn_volume volume);
MN_API double mn_volume_sample(mn_volume volume, mn_vec3 position);
MN_API mn_vec3 mn_volume_sample_vec3(mn_volume volume, mn_vec3 position);
/// Central differences over one voxel.
MN_API mn_vec3 mn_volume_gradient(mn_volume volume, mn_vec3 position);

// ---- geometry ----

typedef struct mn_geo mn_geo;
typedef struct mn_attribute mn_attribute; ///< belongs to its geo; valid until it or the geo is removed
typedef struct mn_group mn_group;         ///< the same

typedef enum mn_owner { MN_POINT, MN_VERTEX, MN_PRIMITIVE, MN_DETAIL, MN_OWNER_COUNT } mn_owner;

typedef enum mn_type {
    MN_F32,
    MN_F64,
    MN_I32,
    MN_I64,
    MN_STRING, ///< an i32 index into the attribute's table of strings; -1 is ""
    MN_TYPE_COUNT
} mn_type;

/// How an attribute's values behave under a transform, and what they mean to a host.
typedef enum mn_hint {
    MN_HINT_NONE,
    MN_HINT_POINT,      ///< moves with the whole transform
    MN_HINT_VECTOR,     ///< by its linear part
    MN_HINT_NORMAL,     ///< by the inverse transpose, length kept
    MN_HINT_COLOR,      ///< not at all
    MN_HINT_QUATERNION, ///< by the rotation
    MN_HINT_TEXTURE,    ///< not at all
    MN_HINT_COUNT
} mn_hint;

typedef enum mn_primitive_kind {
    MN_POLYLINE,
    MN_POLYGON,     ///< counter-clockwise seen from outside
    MN_TETRAHEDRON, ///< four vertices; positive when (p1-p0) x (p2-p0) . (p3-p0) > 0
    MN_VOLUME,      ///< one vertex, whose point says where a host draws its handle
    MN_PRIMITIVE_KIND_COUNT
} mn_primitive_kind;

MN_API const char *mn_owner_name(mn_owner owner);                  ///< "point"
MN_API const char *mn_type_name(mn_type type);                     ///< "f32"
MN_API size_t mn_type_bytes(mn_type type);                         ///< of one component
MN_API const char *mn_hint_name(mn_hint hint);                     ///< "vector"
MN_API const char *mn_primitive_kind_name(mn_primitive_kind kind); ///< "polygon"

// ---- life ----

MN_API mn_status mn_geo_create(mn_context *ctx, mn_geo **geo);
MN_API void mn_geo_free(mn_geo *geo);
MN_API mn_status mn_geo_copy(const mn_geo *geo, mn_geo **copy);
MN_API mn_context *mn_geo_context(const mn_geo *geo);
/// Bytes held, shared ones counted in full.
MN_API int64_t mn_geo_bytes(const mn_geo *geo);
/// A hash of everything in it (volumes by name and voxel count), for change detection and tests.
MN_API uint64_t mn_geo_hash(const mn_geo *geo);

// ---- elements ----

MN_API int64_t mn_geo_point_count(const mn_geo *geo);
MN_API int64_t mn_geo_vertex_count(const mn_geo *geo);
MN_API int64_t mn_geo_primitive_count(const mn_geo *geo);
/// Elements of an owner; 1 for detail.
MN_API int64_t mn_geo_count(const mn_geo *geo, mn_owner owner);
MN_API int64_t mn_geo_kind_count(const mn_geo *geo, mn_primitive_kind kind);

/// Appends `count` points at the origin; *first (may be NULL) is the index of the first of them.
MN_API mn_status mn_geo_add_points(mn_geo *geo, int64_t count, int64_t *first);

/// Appends `count` primitives of one kind (not volumes). Primitive i takes vertex_counts[i] of `points` in
/// order; with vertex_counts NULL each takes `vertices_each`. Fails without change when an index is out of
/// range or a count does not fit the kind (polyline 2+, polygon 3+, tetrahedron 4).
MN_API mn_status mn_geo_add_primitives(mn_geo *geo, mn_primitive_kind kind, int64_t count,
                                       const int32_t *vertex_counts, int32_t vertices_each,
                                       const int64_t *points, int64_t *first);

/// Appends a volume primitive with its vertex on `point`; point -1 adds one at the origin. Takes its own
/// reference.
MN_API mn_status mn_geo_add_volume(mn_geo *geo, mn_volume volume, int64_t point, int64_t *primitive);

/// The point of each vertex.
MN_API const int64_t *mn_geo_vertex_points(const mn_geo *geo);
/// primitive_count + 1 numbers: primitive i owns vertices [starts[i], starts[i+1]).
MN_API const int64_t *mn_geo_primitive_starts(const mn_geo *geo);
/// mn_primitive_kind of each primitive.
MN_API const uint8_t *mn_geo_primitive_kinds(const mn_geo *geo);
/// Borrowed, {0} when the primitive is not a volume.
MN_API mn_volume mn_geo_volume(const mn_geo *geo, int64_t primitive);
/// The first volume of that name, borrowed; {0} when there is none. NULL: the first volume.
MN_API mn_volume mn_geo_find_volume(const mn_geo *geo, const char *name);

// ---- attributes ----

MN_API int32_t mn_geo_attribute_count(const mn_geo *geo, mn_owner owner);
/// In the order they were added; `P` is the first point attribute.
MN_API const mn_attribute *mn_geo_attribute_at(const mn_geo *geo, mn_owner owner, int32_t index);
/// NULL when there is none.
MN_API const mn_attribute *mn_geo_find(const mn_geo *geo, mn_owner owner, const char *name);
/// The attribute if it is numeric, and of this size; NULL otherwise.
MN_API const mn_attribute *mn_geo_find_numeric(const mn_geo *geo, mn_owner owner, const char *name,
                                               int32_t size);

/// Adds one, zero-filled, or finds the one of the same owner, name, type and size (whose hint is then set).
/// One of another type or size is an error. `size` in [1, 64].
MN_API mn_status mn_geo_add_attribute(mn_geo *geo, mn_owner owner, const char *name, mn_type type,
                                      int32_t size, mn_hint hint, mn_attribute **attribute);
/// Removing what is not there, or `P`, is an error.
MN_API mn_status mn_geo_remove_attribute(mn_geo *geo, mn_owner owner, const char *name);

MN_API const char *mn_attribute_name(const mn_attribute *attribute);
MN_API mn_owner mn_attribute_owner(const mn_attribute *attribute);
MN_API mn_type mn_attribute_type(const mn_attribute *attribute);
MN_API int32_t mn_attribute_size(const mn_attribute *attribute);
MN_API mn_hint mn_attribute_hint(const mn_attribute *attribute);
/// Elements, each of mn_attribute_size components.
MN_API int64_t mn_attribute_count(const mn_attribute *attribute);

/// The values, element by element, in the attribute's own type (i32 indices for strings). NULL when empty.
MN_API const void *mn_attribute_data(const mn_attribute *attribute);
/// The same to write to, no longer shared. NULL when memory is out, or when empty.
MN_API void *mn_attribute_write(mn_geo *geo, mn_attribute *attribute);
/// Typed shorthands; NULL when the attribute is missing, of another type or empty.
MN_API const float *mn_geo_positions(const mn_geo *geo);
MN_API float *mn_geo_write_positions(mn_geo *geo);

/// Components of elements [begin, begin + count) as doubles, whatever numeric type they are stored in.
MN_API void mn_attribute_get(const mn_attribute *attribute, int64_t begin, int64_t count, double *values);
/// The other way; integers are rounded. Fails only when memory is out.
MN_API mn_status mn_attribute_set(mn_geo *geo, mn_attribute *attribute, int64_t begin, int64_t count,
                                  const double *values);
/// Point position as doubles.
MN_API mn_vec3 mn_geo_position(const mn_geo *geo, int64_t point);

/// The string of one component; "" when unset. Lives until the attribute changes.
MN_API const char *mn_attribute_string(const mn_attribute *attribute, int64_t element, int32_t component);
MN_API mn_status mn_attribute_set_string(mn_geo *geo, mn_attribute *attribute, int64_t element,
                                         int32_t component, const char *string);
MN_API int32_t mn_attribute_table_count(const mn_attribute *attribute);
MN_API const char *mn_attribute_table_at(const mn_attribute *attribute, int32_t index);
/// The index of `string` in the table, added when it is new.
MN_API mn_status mn_attribute_intern(mn_geo *geo, mn_attribute *attribute, const char *string,
                                     int32_t *index);

// ---- groups: a byte per element, 0 or 1; detail has none ----

MN_API int32_t mn_geo_group_count(const mn_geo *geo, mn_owner owner);
MN_API const mn_group *mn_geo_group_at(const mn_geo *geo, mn_owner owner, int32_t index);
MN_API const mn_group *mn_geo_find_group(const mn_geo *geo, mn_owner owner, const char *name);
/// Adds an empty one or finds the one that is there.
MN_API mn_status mn_geo_add_group(mn_geo *geo, mn_owner owner, const char *name, mn_group **group);
MN_API mn_status mn_geo_remove_group(mn_geo *geo, mn_owner owner, const char *name);
MN_API const char *mn_group_name(const mn_group *group);
MN_API const uint8_t *mn_group_data(const mn_group *group);
MN_API uint8_t *mn_group_write(mn_geo *geo, mn_group *group);
MN_API int64_t mn_group_member_count(const mn_group *group);

// ---- operations ----

/// Appends everything in `source`: attributes and groups of either end up in both, with zeros where one had
/// none. The same name with another type or size is an error that names it. Detail attributes that `geo` has
/// already stay.
MN_API mn_status mn_geo_append(mn_geo *geo, const mn_geo *source);

/// Keeps the points and primitives whose byte is not 0; NULL keeps all. A primitive that loses a point goes
/// too. Points stay even when no primitive uses them any more.
MN_API mn_status mn_geo_compact(mn_geo *geo, const uint8_t *keep_points, const uint8_t *keep_primitives);

/// Moves every attribute by its hint, and volumes with it.
MN_API mn_status mn_geo_transform(mn_geo *geo, mn_mat4 transform);

/// Turns every polygon round, its first vertex staying first; vertex attributes and groups go along. Ours
/// face out counter-clockwise, as those of most programs; Houdini's face out clockwise.
MN_API mn_status mn_geo_reverse_polygons(mn_geo *geo);

/// Of the points (NaN ones left out) and the active voxels of volumes; empty when there are none.
MN_API mn_box mn_geo_bounds(const mn_geo *geo);

#ifdef __cplusplus
}
#endif
#endif
