// SPDX-License-Identifier: Apache-2.0
//
// What is held while a .geo or .bgeo is read. The file lists points, vertices and primitives by their own
// numbers and may end with shared voxels, so primitives, and what belongs to them and to vertices, are
// gathered first and built when the file has ended (bgeo_build.c). Point attributes, the bulk of most files,
// go straight into the geometry.
//
// No count in the file is believed until data has come for it.
#ifndef MENISCUS_PLUGIN_IO_BGEO_READ_H
#define MENISCUS_PLUGIN_IO_BGEO_READ_H

#include "plugin/json/read.h"

enum {
    MN_BGEO_NAME_MAX = 1024,      ///< bytes in the name of an attribute or group
    MN_BGEO_TUPLE_MAX = 64,       ///< components, as in mn_geo
    MN_BGEO_PAGE_MAX = 4096,      ///< elements in a page; Houdini has 1024
    MN_BGEO_THINGS_MAX = 1 << 14, ///< attributes, and groups, in a file
    MN_BGEO_WHAT_SIZE = 1200,     ///< room for "the point attribute '...'"
    MN_BGEO_DEPTH_MAX = 16,       ///< packed geometry in packed geometry
};

typedef struct mn_bgeo_reader mn_bgeo_reader;

/// The strings of an attribute: `text` holds them all, each closed by a zero.
typedef struct mn_bgeo_strings {
    MN_ARRAY(char) text;
    MN_ARRAY(int64_t) starts;
} mn_bgeo_strings;

/// An attribute on its way in.
typedef struct mn_bgeo_attribute {
    char name[MN_BGEO_NAME_MAX + 1];
    mn_owner owner;
    mn_type type;
    int32_t size;
    mn_hint hint;
    mn_bgeo_strings strings;

    int64_t elements;        ///< how many there must be
    int64_t count, capacity; ///< elements here already, and room for how many
    unsigned char *data;     ///< ours unless `in_place`
    bool in_place;           ///< data lies in the geometry
} mn_bgeo_attribute;

typedef struct mn_bgeo_group {
    char name[MN_BGEO_NAME_MAX + 1];
    mn_owner owner;
    MN_ARRAY(uint8_t) members; ///< by the file's numbers
} mn_bgeo_group;

/// Voxels as the file has them: 16^3 tiles, x fastest, cut off at the far sides.
typedef struct mn_bgeo_tile {
    int64_t first;       ///< in values
    int32_t count;       ///< of values; 1 for a constant tile
    bool constant, full; ///< full: 16^3 values even where the volume ends before
} mn_bgeo_tile;

typedef struct mn_bgeo_voxels {
    char *key; ///< under which volumes share it, or NULL
    bool is_constant;
    float constant;
    MN_ARRAY(mn_bgeo_tile) tiles;
    MN_ARRAY(float) values;
} mn_bgeo_voxels;

/// A volume primitive: a VDB, ready, or a dense one, to be made when its voxels and its point are known.
typedef struct mn_bgeo_volume {
    mn_volume vdb;
    double transform[9]; ///< of the cube [-1, 1]^3, row vectors
    int32_t resolution[3];
    double border;
    bool is_distance;
    char *shared; ///< key of its voxels, or NULL for its own
    mn_bgeo_voxels voxels;
} mn_bgeo_volume;

/// A primitive that stands for geometry of its own (bgeo_inner.c): a sphere, or packed geometry.
typedef struct mn_bgeo_inner {
    bool is_sphere, has_transform;
    double transform[9], pivot[3]; ///< row vectors
    char *key;                     ///< of the embedded geometry; ours
    int64_t vertex, file_primitive;
} mn_bgeo_inner;

typedef struct mn_bgeo_embedded {
    char *key;
    mn_geo *geo;
} mn_bgeo_embedded;

/// Primitives of one kind, one after the other.
typedef struct mn_bgeo_part {
    mn_primitive_kind kind;
    int64_t primitives;
    int64_t file_primitive; ///< the file's number of the first
    bool from_one;          ///< all come from that one: a polygon soup
    int32_t each;           ///< vertices of each, or 0 when counts says
    int64_t first_count;    ///< in counts
    int64_t first_vertex;   ///< the file's number of the first vertex, others follow; -1 when listed
    int64_t first_listed;   ///< in listed
    int64_t vertices;
    int64_t volume; ///< in volumes
} mn_bgeo_part;

struct mn_bgeo_reader {
    mn_context *ctx;
    mn_json *json;
    mn_geo *geo;
    int64_t counts[MN_OWNER_COUNT]; ///< as the file says, -1 before it has; 1 for detail
    bool has_positions, has_topology, has_attributes, has_primitives;
    double constant_bytes; ///< that constant pages and instances of packed geometry have filled

    MN_ARRAY(int64_t) vertex_points; ///< of the file's vertices
    MN_ARRAY(mn_bgeo_attribute) attributes;
    MN_ARRAY(mn_bgeo_group) groups;
    int64_t primitives; ///< of the file, so far
    MN_ARRAY(mn_bgeo_part) parts;
    MN_ARRAY(int32_t) vertex_counts;
    MN_ARRAY(int64_t) listed;
    MN_ARRAY(mn_bgeo_volume) volumes;
    MN_ARRAY(mn_bgeo_voxels) shared;
    MN_ARRAY(mn_bgeo_inner) inners;
    MN_ARRAY(mn_bgeo_embedded) embedded;
    int32_t depth; ///< of packed geometry
};

/// "point" and so on is mn_owner_name.
mn_status mn_bgeo_read_attributes(mn_bgeo_reader *reader);
mn_status mn_bgeo_read_groups(mn_bgeo_reader *reader, mn_owner owner);
mn_status mn_bgeo_read_primitives(mn_bgeo_reader *reader);
mn_status mn_bgeo_read_shared(mn_bgeo_reader *reader);
/// Makes the primitives and everything on them; the last step.
mn_status mn_bgeo_build(mn_bgeo_reader *reader);

/// Whether so many bytes more may be made of what the file says once: a limit against small files that fill
/// the memory.
bool mn_bgeo_may_grow(const mn_bgeo_reader *reader, double more);
/// The values of an attribute ("values" or "indices"), at its opening bracket. Strings: type is I32.
mn_status mn_bgeo_read_values(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute);
/// Takes the values into the geometry, elements chosen by `map` (NULL: as they are), and frees them here.
mn_status mn_bgeo_place_attribute(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, const int64_t *map);
void mn_bgeo_free_attribute(mn_context *ctx, mn_bgeo_attribute *attribute);

/// One field of a Volume or VDB primitive.
mn_status mn_bgeo_read_volume_field(mn_bgeo_reader *reader, mn_bgeo_volume *volume, bool *known);
mn_status mn_bgeo_read_voxels(mn_bgeo_reader *reader, mn_bgeo_voxels *voxels);
/// Makes the handle of a volume at this point.
mn_status mn_bgeo_build_volume(mn_bgeo_reader *reader, mn_bgeo_volume *volume, int64_t point,
                               const char *name, mn_volume *result);
/// One field of a Sphere or PackedGeometry primitive.
mn_status mn_bgeo_read_inner_field(mn_bgeo_reader *reader, mn_bgeo_inner *inner, bool *known);
/// Takes over one whose fields have been read, with the last of the listed vertices.
mn_status mn_bgeo_add_inner(mn_bgeo_reader *reader, mn_bgeo_inner *inner, int64_t vertex_count);
/// The shared data of packed primitives, inside its array.
mn_status mn_bgeo_read_embedded(mn_bgeo_reader *reader);
/// A whole geometry inside this file.
mn_status mn_bgeo_read_nested(mn_bgeo_reader *reader, mn_geo **geo);
/// What all spheres and packed primitives stand for, in one; NULL when there is none. Before attributes and
/// groups are placed.
mn_status mn_bgeo_make_inners(mn_bgeo_reader *reader, mn_geo **all);
void mn_bgeo_free_inner(mn_context *ctx, mn_bgeo_inner *inner);
void mn_bgeo_free_embedded(mn_context *ctx, mn_bgeo_embedded *embedded);
void mn_bgeo_free_voxels(mn_context *ctx, mn_bgeo_voxels *voxels);
void mn_bgeo_free_volume(mn_context *ctx, mn_bgeo_volume *volume);

#endif
