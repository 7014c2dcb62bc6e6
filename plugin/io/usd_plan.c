// SPDX-License-Identifier: Apache-2.0
//
// Which prims and columns a geometry becomes; see usd.h. Nothing is written here.
#include "plugin/io/usd.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
    const char *name, *type;
    mn_primitive_kind kind;
} prims[MN_USD_PRIM_COUNT] = {
    [MN_USD_ROOT] = {"", "Xform", MN_PRIMITIVE_KIND_COUNT},
    [MN_USD_MESH] = {"mesh", "Mesh", MN_POLYGON},
    [MN_USD_TETS] = {"tets", "TetMesh", MN_TETRAHEDRON},
    [MN_USD_CURVES] = {"curves", "BasisCurves", MN_POLYLINE},
    [MN_USD_POINTS] = {"points", "Points", MN_PRIMITIVE_KIND_COUNT},
    [MN_USD_VOLUME] = {"volume", "Volume", MN_VOLUME},
};

const char *mn_usd_prim_name(mn_usd_prim prim)
{
    return prims[prim].name;
}

const char *mn_usd_prim_type(mn_usd_prim prim)
{
    return prims[prim].type;
}

mn_primitive_kind mn_usd_prim_kind(mn_usd_prim prim)
{
    return prims[prim].kind;
}

// ---- names ----

void mn_usd_identifier(const char *text, char name[MN_USD_NAME])
{
    size_t length = 0;
    if (isdigit((unsigned char)*text) || !*text) name[length++] = '_';
    for (; *text && length < MN_USD_NAME - 1; text++)
        name[length++] = (unsigned char)*text < 128 && isalnum((unsigned char)*text) ? *text : '_';
    name[length] = 0;
}

void mn_usd_split_name(const char *path, char root[MN_USD_NAME], double *frame)
{
    char stem[MN_USD_NAME];
    const char *slash = strrchr(path, '/');
    snprintf(stem, sizeof stem, "%s", slash ? slash + 1 : path);
    char *dot = strrchr(stem, '.');
    if (dot) *dot = 0;
    *frame = 0;
    dot = strrchr(stem, '.');
    char *end = NULL;
    const long number = dot ? strtol(dot + 1, &end, 10) : 0;
    if (dot && dot[1] && *end == 0) {
        *frame = (double)number;
        *dot = 0;
    }
    mn_usd_identifier(stem, root);
}

// ---- types ----

/// The tuple that fits an attribute; what fits none becomes scalars of several per element.
static void choose_type(const mn_attribute *attribute, mn_usd_column *column)
{
    static const char *const roles[MN_HINT_COUNT] = {[MN_HINT_POINT] = "point3",
                                                     [MN_HINT_VECTOR] = "vector3",
                                                     [MN_HINT_NORMAL] = "normal3",
                                                     [MN_HINT_COLOR] = "color3",
                                                     [MN_HINT_TEXTURE] = "texCoord3"};
    const mn_type type = mn_attribute_type(attribute);
    const mn_hint hint = mn_attribute_hint(attribute);
    const int32_t size = mn_attribute_size(attribute);
    const bool real = type == MN_F32 || type == MN_F64;
    const char *scalar = type == MN_F32   ? "float"
                         : type == MN_F64 ? "double"
                         : type == MN_I32 ? "int"
                         : type == MN_I64 ? "int64"
                                          : "string";
    column->element_size = 1;
    if (real && size == 3 && roles[hint])
        snprintf(column->type, sizeof column->type, "%s%c", roles[hint], *scalar);
    else if (real && size == 4 && hint == MN_HINT_QUATERNION)
        snprintf(column->type, sizeof column->type, "quat%c", *scalar);
    else if (real && size == 4 && hint == MN_HINT_COLOR)
        snprintf(column->type, sizeof column->type, "color4%c", *scalar);
    else if (real && size == 2 && hint == MN_HINT_TEXTURE)
        snprintf(column->type, sizeof column->type, "texCoord2%c", *scalar);
    else if (real && (size == 9 || size == 16))
        snprintf(column->type, sizeof column->type, "matrix%dd", size == 9 ? 3 : 4);
    else if ((real || type == MN_I32) && size >= 2 && size <= 4)
        snprintf(column->type, sizeof column->type, "%s%d", scalar, (int)size);
    else {
        snprintf(column->type, sizeof column->type, "%s", scalar);
        column->element_size = size;
    }
}

// ---- columns ----

static bool is_taken(const mn_usd_plan *plan, mn_usd_prim prim, const char *name)
{
    for (int64_t i = 0; i < plan->columns.count; i++)
        if (plan->columns.data[i].prim == prim && strcmp(plan->columns.data[i].name, name) == 0) return true;
    return false;
}

static mn_status add(mn_usd_plan *plan, mn_usd_column column)
{
    return mn_array_push(plan->ctx, &plan->columns, &column);
}

/// A column that a schema knows.
static mn_status add_known(mn_usd_plan *plan, mn_usd_prim prim, mn_usd_source source,
                           const mn_attribute *attribute, const char *type, const char *name,
                           const char *interpolation)
{
    mn_usd_column column = {.prim = prim, .source = source, .attribute = attribute, .element_size = 1};
    column.owner = attribute ? mn_attribute_owner(attribute) : MN_POINT;
    column.interpolation = interpolation;
    snprintf(column.type, sizeof column.type, "%s", type);
    snprintf(column.name, sizeof column.name, "%s", name);
    return add(plan, column);
}

/// primvars:NAME; names that became the same get a number.
static void name_primvar(const mn_usd_plan *plan, const char *before, const char *text, mn_usd_column *column)
{
    char name[MN_USD_NAME];
    mn_usd_identifier(text, name);
    snprintf(column->name, sizeof column->name, "primvars:%s%.100s", before, name);
    for (int i = 1; is_taken(plan, column->prim, column->name); i++)
        snprintf(column->name, sizeof column->name, "primvars:%s%.100s_%d", before, name, i);
}

/// By which elements of a prim an owner's values go; NULL when the prim has none of them.
static const char *interpolation_of(mn_usd_prim prim, mn_owner owner)
{
    if (prim == MN_USD_ROOT) return owner == MN_DETAIL ? "constant" : NULL;
    if (owner == MN_POINT) return "vertex";
    if (owner == MN_VERTEX)
        return prim == MN_USD_MESH ? "faceVarying" : prim == MN_USD_CURVES ? "vertex" : NULL;
    return owner == MN_PRIMITIVE && prim != MN_USD_POINTS ? "uniform" : NULL;
}

static bool is_real(const mn_attribute *attribute, const char *name, int32_t size)
{
    const mn_type type = mn_attribute_type(attribute);
    return strcmp(mn_attribute_name(attribute), name) == 0 && mn_attribute_size(attribute) == size &&
           (type == MN_F32 || type == MN_F64);
}

/// Takes an attribute to which USD gives a name of its own; *known says so.
static mn_status add_known_attribute(mn_usd_plan *plan, mn_usd_prim prim, const mn_attribute *a, bool *known)
{
    const mn_owner owner = mn_attribute_owner(a);
    const char *interpolation = interpolation_of(prim, owner);
    const bool number = mn_attribute_type(a) == MN_I32 || mn_attribute_type(a) == MN_I64;
    *known = true;
    if (owner == MN_POINT && is_real(a, "P", 3)) return MN_OK;
    if (owner == MN_POINT && is_real(a, "v", 3))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "vector3f", "velocities", NULL);
    if (owner != MN_PRIMITIVE && is_real(a, "N", 3) && !is_taken(plan, prim, "normals"))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "normal3f", "normals", interpolation);
    if (is_real(a, "Cd", 3) && !is_taken(plan, prim, "primvars:displayColor"))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "color3f", "primvars:displayColor", interpolation);
    if (is_real(a, "Alpha", 1) && !is_taken(plan, prim, "primvars:displayOpacity"))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "float", "primvars:displayOpacity", interpolation);
    if (is_real(a, "uv", 3) && !is_taken(plan, prim, "primvars:st"))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "texCoord3f", "primvars:st", interpolation);
    if (is_real(a, "uv", 2) && !is_taken(plan, prim, "primvars:st"))
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "texCoord2f", "primvars:st", interpolation);
    if (owner == MN_POINT && is_real(a, "pscale", 1) && (prim == MN_USD_POINTS || prim == MN_USD_CURVES))
        return add_known(plan, prim, MN_USD_WIDTHS, a, "float", "widths", "vertex");
    if (owner == MN_POINT && prim == MN_USD_POINTS && number && mn_attribute_size(a) == 1 &&
        strcmp(mn_attribute_name(a), "id") == 0)
        return add_known(plan, prim, MN_USD_ATTRIBUTE, a, "int64", "ids", NULL);
    *known = false;
    return MN_OK;
}

static mn_status add_attribute(mn_usd_plan *plan, mn_usd_prim prim, const mn_attribute *attribute)
{
    bool known = false;
    if (prim != MN_USD_ROOT) MN_TRY(add_known_attribute(plan, prim, attribute, &known));
    if (known) return MN_OK;
    mn_usd_column column = {.prim = prim, .attribute = attribute, .owner = mn_attribute_owner(attribute)};
    column.interpolation = interpolation_of(prim, column.owner);
    choose_type(attribute, &column);
    name_primvar(plan, "", mn_attribute_name(attribute), &column);
    if (mn_attribute_type(attribute) != MN_STRING || column.element_size != 1) return add(plan, column);
    column.source = MN_USD_STRINGS;
    MN_TRY(add(plan, column));
    const size_t length = strlen(column.name);
    snprintf(column.name + length, sizeof column.name - length, ":indices");
    snprintf(column.type, sizeof column.type, "int");
    column.source = MN_USD_INDICES;
    column.interpolation = NULL;
    return add(plan, column);
}

static mn_status add_group(mn_usd_plan *plan, mn_usd_prim prim, mn_owner owner, const mn_group *group)
{
    mn_usd_column column = {.prim = prim, .source = MN_USD_GROUP, .group = group, .owner = owner};
    column.element_size = 1;
    column.interpolation = interpolation_of(prim, owner);
    snprintf(column.type, sizeof column.type, "bool");
    name_primvar(plan, "group_", mn_group_name(group), &column);
    return add(plan, column);
}

static mn_status add_topology(mn_usd_plan *plan, mn_usd_prim prim)
{
    if (prim == MN_USD_MESH) {
        MN_TRY(add_known(plan, prim, MN_USD_COUNTS, NULL, "int", "faceVertexCounts", NULL));
        MN_TRY(add_known(plan, prim, MN_USD_VERTICES, NULL, "int", "faceVertexIndices", NULL));
    }
    if (prim == MN_USD_CURVES)
        MN_TRY(add_known(plan, prim, MN_USD_COUNTS, NULL, "int", "curveVertexCounts", NULL));
    if (prim == MN_USD_TETS) {
        MN_TRY(add_known(plan, prim, MN_USD_TET_VERTICES, NULL, "int4", "tetVertexIndices", NULL));
        MN_TRY(add_known(plan, prim, MN_USD_TET_SKIN, NULL, "int3", "surfaceFaceVertexIndices", NULL));
    }
    MN_TRY(add_known(plan, prim, MN_USD_EXTENT, NULL, "float3", "extent", NULL));
    const mn_attribute *position = mn_geo_find(plan->geo, MN_POINT, "P");
    return add_known(plan, prim, MN_USD_ATTRIBUTE, position, "point3f", "points", NULL);
}

static mn_status add_columns(mn_usd_plan *plan, mn_usd_prim prim)
{
    const mn_geo *geo = plan->geo;
    if (prim != MN_USD_ROOT) MN_TRY(add_topology(plan, prim));
    // Normals of vertices before those of points: they are the finer ones.
    static const mn_owner order[] = {MN_VERTEX, MN_POINT, MN_PRIMITIVE, MN_DETAIL};
    for (int o = 0; o < MN_OWNER_COUNT; o++) {
        const mn_owner owner = order[o];
        if (!interpolation_of(prim, owner)) continue;
        for (int32_t i = 0; i < mn_geo_attribute_count(geo, owner); i++)
            MN_TRY(add_attribute(plan, prim, mn_geo_attribute_at(geo, owner, i)));
        for (int32_t i = 0; owner != MN_DETAIL && i < mn_geo_group_count(geo, owner); i++)
            MN_TRY(add_group(plan, prim, owner, mn_geo_group_at(geo, owner, i)));
    }
    if (prim != MN_USD_MESH || is_taken(plan, prim, "normals")) return MN_OK;
    const bool creases = mn_has_creases(geo);
    MN_TRY(mn_corner_normals_make(plan->ctx, geo, creases, &plan->normals));
    return creases ? add_known(plan, prim, MN_USD_CORNER_NORMALS, NULL, "normal3f", "normals", "faceVarying")
                   : add_known(plan, prim, MN_USD_POINT_NORMALS, NULL, "normal3f", "normals", "vertex");
}

// ---- which points ----

/// Marks in plan->index the points of one kind's primitives.
static void mark(mn_usd_plan *plan, mn_primitive_kind kind)
{
    const int64_t *starts = mn_geo_primitive_starts(plan->geo), *points = mn_geo_vertex_points(plan->geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(plan->geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(plan->geo); i++)
        for (int64_t v = starts[i];
             v < starts[i + 1] && (kinds[i] == kind || kind == MN_PRIMITIVE_KIND_COUNT); v++)
            plan->index[points[v]] = 1;
}

static mn_status list_points(mn_usd_plan *plan, mn_usd_prim prim)
{
    const int64_t count = mn_geo_point_count(plan->geo);
    const bool free_ones = prim == MN_USD_POINTS;
    for (int64_t i = 0; i < count; i++) plan->index[i] = 0;
    mark(plan, mn_usd_prim_kind(prim));
    for (int64_t i = 0; i < count; i++)
        if (!plan->index[i] == free_ones) MN_TRY(mn_array_push(plan->ctx, &plan->points[prim], &i));
    return MN_OK;
}

/// Curves have no indices: each vertex brings its point along.
static mn_status list_curve_points(mn_usd_plan *plan)
{
    const int64_t *starts = mn_geo_primitive_starts(plan->geo), *points = mn_geo_vertex_points(plan->geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(plan->geo); i++)
        for (int64_t v = starts[i]; v < starts[i + 1] && mn_geo_primitive_kinds(plan->geo)[i] == MN_POLYLINE;
             v++)
            MN_TRY(mn_array_push(plan->ctx, &plan->points[MN_USD_CURVES], &points[v]));
    return MN_OK;
}

mn_status mn_usd_plan_make(mn_usd_plan *plan)
{
    const mn_geo *geo = plan->geo;
    const int64_t points = mn_geo_point_count(geo);
    if (points > INT32_MAX || mn_geo_vertex_count(geo) > INT32_MAX)
        return mn_fail(plan->ctx, MN_ERROR_UNSUPPORTED,
                       "%s: USD counts points and vertices by 32 bits, and there are %lld points and %lld "
                       "vertices; write .bgeo.sc.",
                       plan->name, (long long)points, (long long)mn_geo_vertex_count(geo));
    mn_usd_split_name(plan->name, plan->root, &plan->time);
    plan->index = mn_allocate(plan->ctx, mn_bytes(points + 1, sizeof *plan->index));
    if (!plan->index) return MN_ERROR_MEMORY;
    MN_TRY(add_columns(plan, MN_USD_ROOT));
    MN_TRY(list_points(plan, MN_USD_POINTS));
    plan->counts[MN_USD_POINTS] = plan->points[MN_USD_POINTS].count;
    plan->counts[MN_USD_VOLUME] = mn_geo_kind_count(geo, MN_VOLUME);
    for (int p = MN_USD_MESH; p <= MN_USD_POINTS; p++) {
        const mn_usd_prim prim = (mn_usd_prim)p;
        if (prim != MN_USD_POINTS) plan->counts[prim] = mn_geo_kind_count(geo, mn_usd_prim_kind(prim));
        if (plan->counts[prim] == 0) continue;
        if (prim == MN_USD_CURVES)
            MN_TRY(list_curve_points(plan));
        else if (prim != MN_USD_POINTS)
            MN_TRY(list_points(plan, prim));
        MN_TRY(add_columns(plan, prim));
    }
    return plan->counts[MN_USD_TETS] > 0 ? mn_tet_skin_make(plan->ctx, geo, &plan->skin) : MN_OK;
}

void mn_usd_plan_free(mn_usd_plan *plan)
{
    for (int p = 0; p < MN_USD_PRIM_COUNT; p++) mn_array_free(plan->ctx, &plan->points[p]);
    mn_array_free(plan->ctx, &plan->columns);
    if (plan->index)
        mn_release(plan->ctx, plan->index, mn_bytes(mn_geo_point_count(plan->geo) + 1, sizeof *plan->index));
    mn_corner_normals_free(plan->ctx, &plan->normals);
    mn_tet_skin_free(plan->ctx, &plan->skin);
    plan->index = NULL;
}
