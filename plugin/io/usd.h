// SPDX-License-Identifier: Apache-2.0
//
// What one geometry becomes in USD: a layer of its own with one prim per kind of primitive under an Xform.
//
//   /skin            Xform       detail attributes
//   /skin/mesh       Mesh        polygons; subdivision none
//   /skin/tets       TetMesh     tetrahedra, with the faces of their skin
//   /skin/curves     BasisCurves polylines: linear, a point per vertex
//   /skin/points     Points      points that no primitive uses; widths = 2 pscale
//   /skin/volume     Volume      with an OpenVDBAsset for each grid of a .vdb beside the layer
//
// P, v, N, Cd, Alpha and uv become points, velocities, normals, primvars:displayColor, displayOpacity and st;
// pscale and id become widths and ids where a schema has them; all others and all groups are primvars.
// Everything that varies is a sample at the frame, so that layers serve as value clips; the head of each
// layer lists what it declares, from which the stage's topology is made (usd_stage.c).
#ifndef MENISCUS_PLUGIN_IO_USD_H
#define MENISCUS_PLUGIN_IO_USD_H

#include "meniscus/array.h"
#include "plugin/io/corner_normals.h"
#include "plugin/io/io.h"
#include "plugin/io/tet_skin.h"

enum { MN_USD_NAME = 160, MN_USD_PATH = 4096 };

typedef enum mn_usd_prim {
    MN_USD_ROOT,
    MN_USD_MESH,
    MN_USD_TETS,
    MN_USD_CURVES,
    MN_USD_POINTS,
    MN_USD_VOLUME,
    MN_USD_PRIM_COUNT
} mn_usd_prim;

/// Where a column's values come from.
typedef enum mn_usd_source {
    MN_USD_ATTRIBUTE,
    MN_USD_STRINGS, ///< the table of a string attribute
    MN_USD_INDICES, ///< into that table
    MN_USD_GROUP,
    MN_USD_WIDTHS, ///< 2 pscale
    MN_USD_CORNER_NORMALS,
    MN_USD_POINT_NORMALS, ///< of corners that agree
    MN_USD_COUNTS,        ///< vertices of each primitive
    MN_USD_VERTICES,      ///< the point of each vertex, as numbered in the prim
    MN_USD_TET_VERTICES,
    MN_USD_TET_SKIN,
    MN_USD_EXTENT,
} mn_usd_source;

typedef struct mn_usd_column {
    mn_usd_prim prim;
    mn_usd_source source;
    const mn_attribute *attribute;
    const mn_group *group;
    mn_owner owner;            ///< of the attribute or group
    char name[MN_USD_NAME];    ///< "primvars:age"
    char type[16];             ///< "float3", without []
    const char *interpolation; ///< or NULL
    int32_t element_size;      ///< of a primvar; 1: not written
} mn_usd_column;

typedef struct mn_usd_plan {
    mn_context *ctx;
    const mn_geo *geo;
    const char *name;       ///< of the file, for sentences
    char root[MN_USD_NAME]; ///< of the prim, from the file's name
    double time;            ///< the frame in the file's name, 0 without one
    MN_ARRAY(mn_usd_column) columns;
    MN_ARRAY(int64_t) points[MN_USD_PRIM_COUNT]; ///< of the geometry, that the prim holds, in order
    int64_t *index;                              ///< scratch: by point of the geometry
    int64_t counts[MN_USD_PRIM_COUNT];           ///< of primitives, or of points: 0 there is no such prim
    mn_corner_normals normals;
    mn_tet_skin skin;
} mn_usd_plan;

/// "mesh" and "Mesh".
const char *mn_usd_prim_name(mn_usd_prim prim);
const char *mn_usd_prim_type(mn_usd_prim prim);
/// The kind of primitives that a prim holds; MN_PRIMITIVE_KIND_COUNT for others.
mn_primitive_kind mn_usd_prim_kind(mn_usd_prim prim);
/// Letters that USD allows; others become _.
void mn_usd_identifier(const char *text, char name[MN_USD_NAME]);
/// "skin" and 12 of "out/skin.0012.usda".
void mn_usd_split_name(const char *path, char root[MN_USD_NAME], double *frame);
/// Free it in any case.
mn_status mn_usd_plan_make(mn_usd_plan *plan);
void mn_usd_plan_free(mn_usd_plan *plan);

#endif
