// SPDX-License-Identifier: Apache-2.0
//
// The header of a .ply file, for its reader and writer.
//
// Tuples become several properties: P is x y z, N is nx ny nz, Cd is red green blue, v is vx vy vz, any other
// attribute `a` of n components is a_0 .. a_n-1 (just `a` for one), a group `g` is the uchar property
// group_g. Our own files say in comments what the properties are, so that types, sizes and hints come back as
// they were:
//
//   comment meniscus attribute point v f32 3 vector
//   comment meniscus group primitive wet
//   comment meniscus detail time f64 1 none 0.5
//
// Polygons are the element `face`, polylines of two points the element `edge`.
#ifndef MENISCUS_PLUGIN_IO_PLY_H
#define MENISCUS_PLUGIN_IO_PLY_H

#include "meniscus/array.h"
#include "plugin/io/formats.h"
#include "plugin/io/text.h"

enum { MN_PLY_NAME = 256, MN_PLY_PROPERTIES = 1024, MN_PLY_ELEMENTS = 16 };

typedef enum mn_ply_type {
    MN_PLY_I8,
    MN_PLY_U8,
    MN_PLY_I16,
    MN_PLY_U16,
    MN_PLY_I32,
    MN_PLY_U32,
    MN_PLY_F32,
    MN_PLY_F64,
    MN_PLY_TYPE_COUNT
} mn_ply_type;

typedef enum mn_ply_encoding { MN_PLY_ASCII, MN_PLY_LITTLE, MN_PLY_BIG } mn_ply_encoding;

typedef struct mn_ply_property {
    char name[MN_PLY_NAME];
    mn_ply_type type;
    bool is_list;
    mn_ply_type count_type; ///< of a list
} mn_ply_property;

typedef struct mn_ply_element {
    char name[MN_PLY_NAME];
    int64_t count;
    MN_ARRAY(mn_ply_property) properties;
} mn_ply_element;

/// What a comment of ours says.
typedef struct mn_ply_remark {
    char what; ///< 'a' attribute, 'g' group, 'd' detail
    mn_owner owner;
    char name[MN_PLY_NAME];
    mn_type type;
    int32_t size;
    mn_hint hint;
    double values[64]; ///< detail
} mn_ply_remark;

typedef struct mn_ply_header {
    mn_ply_encoding encoding;
    int32_t element_count;
    mn_ply_element elements[MN_PLY_ELEMENTS];
    MN_ARRAY(mn_ply_remark) remarks;
} mn_ply_header;

size_t mn_ply_type_bytes(mn_ply_type type);
const char *mn_ply_type_name(mn_ply_type type);
/// Reads up to and with the line end_header.
mn_status mn_ply_read_header(mn_text *text, mn_ply_header *header);
void mn_ply_free_header(mn_context *ctx, mn_ply_header *header);

/// The properties a component of an attribute is called by: "x" for P[0], "pscale", "uv_2".
void mn_ply_component_name(const char *attribute, int32_t size, int32_t component,
                           char name[MN_PLY_NAME + 16]);

#endif
