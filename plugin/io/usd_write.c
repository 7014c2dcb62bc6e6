// SPDX-License-Identifier: Apache-2.0
//
// Writes a geometry as a layer of USD in text (.usda); see usd.h. Floats have nine digits and doubles
// seventeen, so that they read back as the same bits. Volumes go into a .vdb of the same name beside it,
// which is whole before the layer is.
#include "plugin/io/formats.h"
#include "plugin/io/text.h"
#include "plugin/io/usd.h"
#include "plugin/vdb/vdb.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

typedef struct usd_writer {
    const mn_usd_plan *plan;
    mn_safe_file *file; ///< keeps the first failure
} usd_writer;

#define put(w, ...) ((void)mn_text_print((w)->file, __VA_ARGS__))

// ---- values ----

static void put_real(const usd_writer *w, double value, bool is_double)
{
    if (isnan(value))
        put(w, "nan");
    else if (isinf(value))
        put(w, value > 0 ? "inf" : "-inf");
    else
        put(w, is_double ? "%.17g" : "%.9g", value);
}

static void put_string(const usd_writer *w, const char *string)
{
    put(w, "\"");
    for (const char *c = string; *c; c++) {
        if (*c == '"' || *c == '\\')
            put(w, "\\%c", *c);
        else if (*c == '\n')
            put(w, "\\n");
        else if ((unsigned char)*c < ' ')
            put(w, "\\x%02x", (unsigned)(unsigned char)*c);
        else
            (void)mn_safe_file_write(w->file, c, 1);
    }
    put(w, "\"");
}

static void put_component(const usd_writer *w, const mn_usd_column *c, int64_t element, int32_t component)
{
    const mn_attribute *a = c->attribute;
    const int64_t at = element * mn_attribute_size(a) + component;
    const size_t length = strlen(c->type);
    const bool is_double = c->type[length - 1] == 'd' || strncmp(c->type, "double", 6) == 0;
    switch (mn_attribute_type(a)) {
    case MN_F32:
        put_real(w, (double)((const float *)mn_attribute_data(a))[at], false);
        break;
    case MN_F64:
        put_real(w, ((const double *)mn_attribute_data(a))[at], is_double);
        break;
    case MN_I32:
        put(w, "%d", (int)((const int32_t *)mn_attribute_data(a))[at]);
        break;
    case MN_I64:
        put(w, "%lld", (long long)((const int64_t *)mn_attribute_data(a))[at]);
        break;
    default:
        put_string(w, mn_attribute_string(a, element, component));
        break;
    }
}

/// A quaternion is x y z w with us and w x y z in USD; matrices are rows in brackets.
static void put_tuple(const usd_writer *w, const mn_usd_column *c, int64_t element)
{
    const int32_t size = mn_attribute_size(c->attribute);
    const bool quaternion = strncmp(c->type, "quat", 4) == 0, matrix = strncmp(c->type, "matrix", 6) == 0;
    const int32_t row = matrix ? (size == 9 ? 3 : 4) : size;
    if (c->element_size > 1 || size == 1) {
        for (int32_t k = 0; k < size; k++) {
            if (k > 0) put(w, ", ");
            put_component(w, c, element, k);
        }
        return;
    }
    if (matrix) put(w, "(");
    for (int32_t k = 0; k < size; k++) {
        put(w, k % row > 0 ? ", " : k > 0 ? ", (" : "(");
        put_component(w, c, element, quaternion ? (k + 3) % 4 : k);
        if (k % row == row - 1) put(w, ")");
    }
    if (matrix) put(w, ")");
}

static void put_vector(const usd_writer *w, const float *x)
{
    put(w, "(%.9g, %.9g, %.9g)", (double)x[0], (double)x[1], (double)x[2]);
}

/// One value of a column for an element (point, vertex or primitive) of the geometry.
static void put_value(const usd_writer *w, const mn_usd_column *c, int64_t element)
{
    if (c->source == MN_USD_ATTRIBUTE) {
        put_tuple(w, c, element);
    } else if (c->source == MN_USD_INDICES) {
        const int32_t at = ((const int32_t *)mn_attribute_data(c->attribute))[element];
        put(w, "%d", at >= 0 ? (int)at : (int)mn_attribute_table_count(c->attribute)); // "" is the last
    } else if (c->source == MN_USD_GROUP) {
        put(w, mn_group_data(c->group)[element] ? "1" : "0");
    } else {
        double radius;
        mn_attribute_get(c->attribute, element, 1, &radius);
        put_real(w, 2 * radius, false);
    }
}

/// Calls for each primitive of the prim; `first` lets the values put their commas.
typedef void put_primitive(const usd_writer *w, const mn_usd_column *c, int64_t primitive, bool *first);

static void comma(const usd_writer *w, bool *first)
{
    if (!*first) put(w, ", ");
    *first = false;
}

static void each_primitive(const usd_writer *w, const mn_usd_column *c, put_primitive *call)
{
    const mn_primitive_kind kind = mn_usd_prim_kind(c->prim);
    const uint8_t *kinds = mn_geo_primitive_kinds(w->plan->geo);
    bool first = true;
    for (int64_t i = 0; i < mn_geo_primitive_count(w->plan->geo); i++)
        if (kinds[i] == kind) call(w, c, i, &first);
}

static void put_one(const usd_writer *w, const mn_usd_column *c, int64_t primitive, bool *first)
{
    comma(w, first);
    put_value(w, c, primitive);
}

static void put_count(const usd_writer *w, const mn_usd_column *c, int64_t primitive, bool *first)
{
    (void)c;
    const int64_t *starts = mn_geo_primitive_starts(w->plan->geo);
    comma(w, first);
    put(w, "%lld", (long long)(starts[primitive + 1] - starts[primitive]));
}

static void put_vertices(const usd_writer *w, const mn_usd_column *c, int64_t primitive, bool *first)
{
    const int64_t *starts = mn_geo_primitive_starts(w->plan->geo);
    const int64_t *points = mn_geo_vertex_points(w->plan->geo);
    for (int64_t v = starts[primitive]; v < starts[primitive + 1]; v++) {
        comma(w, first);
        if (c->source == MN_USD_VERTICES)
            put(w, "%lld", (long long)w->plan->index[points[v]]);
        else if (c->source == MN_USD_CORNER_NORMALS)
            put_vector(w, w->plan->normals.normal[v]);
        else
            put_value(w, c, v);
    }
}

static void put_tet(const usd_writer *w, const mn_usd_column *c, int64_t primitive, bool *first)
{
    (void)c;
    const int64_t *p = mn_geo_vertex_points(w->plan->geo) + mn_geo_primitive_starts(w->plan->geo)[primitive];
    const int64_t *index = w->plan->index;
    comma(w, first);
    put(w, "(%lld, %lld, %lld, %lld)", (long long)index[p[0]], (long long)index[p[1]], (long long)index[p[2]],
        (long long)index[p[3]]);
}

static void put_tet_skin(const usd_writer *w)
{
    const int64_t *points = mn_geo_vertex_points(w->plan->geo), *index = w->plan->index;
    for (int64_t i = 0; i < w->plan->skin.count; i++) {
        const int64_t *face = w->plan->skin.faces[i];
        put(w, "%s(%lld, %lld, %lld)", i > 0 ? ", " : "", (long long)index[points[face[0]]],
            (long long)index[points[face[1]]], (long long)index[points[face[2]]]);
    }
}

/// All corners of a point have one normal: the last is as good as the first.
static void put_point_normals(const usd_writer *w, const mn_usd_column *c)
{
    const mn_usd_plan *plan = w->plan;
    const int64_t *points = mn_geo_vertex_points(plan->geo);
    int64_t *corner = plan->index; // put back by the caller
    for (int64_t v = 0; v < mn_geo_vertex_count(plan->geo); v++) {
        const float *n = plan->normals.normal[v];
        if (n[0] != 0 || n[1] != 0 || n[2] != 0) corner[points[v]] = v;
    }
    for (int64_t i = 0; i < plan->points[c->prim].count; i++) {
        if (i > 0) put(w, ", ");
        put_vector(w, plan->normals.normal[corner[plan->points[c->prim].data[i]]]);
    }
}

static void put_box(const usd_writer *w, mn_box box)
{
    if (mn_box_is_empty(box)) box = (mn_box){mn_v3(0, 0, 0), mn_v3(0, 0, 0)};
    const float low[3] = {(float)box.min.x, (float)box.min.y, (float)box.min.z};
    const float high[3] = {(float)box.max.x, (float)box.max.y, (float)box.max.z};
    put_vector(w, low);
    put(w, ", ");
    put_vector(w, high);
}

static void put_extent(const usd_writer *w, mn_usd_prim prim)
{
    const mn_usd_plan *plan = w->plan;
    const mn_attribute *radius = prim == MN_USD_POINTS || prim == MN_USD_CURVES
                                     ? mn_geo_find_numeric(plan->geo, MN_POINT, "pscale", 1)
                                     : NULL;
    mn_box box = mn_box_empty();
    for (int64_t i = 0; i < plan->points[prim].count; i++) {
        const int64_t point = plan->points[prim].data[i];
        const mn_vec3 x = mn_geo_position(plan->geo, point);
        double r = 0;
        if (radius) mn_attribute_get(radius, point, 1, &r);
        if (!isfinite(x.x + x.y + x.z) || !isfinite(r)) continue;
        box = mn_box_add(box, mn_sub(x, mn_v3(r, r, r)));
        box = mn_box_add(box, mn_add(x, mn_v3(r, r, r)));
    }
    put_box(w, box);
}

static void put_elements(const usd_writer *w, const mn_usd_column *c)
{
    const mn_usd_plan *plan = w->plan;
    if (c->owner == MN_POINT)
        for (int64_t i = 0; i < plan->points[c->prim].count; i++) {
            if (i > 0) put(w, ", ");
            put_value(w, c, plan->points[c->prim].data[i]);
        }
    else if (c->owner == MN_DETAIL)
        put_value(w, c, 0);
    else
        each_primitive(w, c, c->owner == MN_VERTEX ? put_vertices : put_one);
}

static void number_points(const mn_usd_plan *plan, mn_usd_prim prim)
{
    for (int64_t i = 0; i < plan->points[prim].count; i++) plan->index[plan->points[prim].data[i]] = i;
}

static void put_list(const usd_writer *w, const mn_usd_column *c)
{
    switch (c->source) {
    case MN_USD_STRINGS:
        for (int32_t i = 0; i < mn_attribute_table_count(c->attribute); i++) {
            put_string(w, mn_attribute_table_at(c->attribute, i));
            put(w, ", ");
        }
        put(w, "\"\"");
        break;
    case MN_USD_COUNTS:
        each_primitive(w, c, put_count);
        break;
    case MN_USD_VERTICES:
    case MN_USD_CORNER_NORMALS:
        each_primitive(w, c, put_vertices);
        break;
    case MN_USD_TET_VERTICES:
        each_primitive(w, c, put_tet);
        break;
    case MN_USD_TET_SKIN:
        put_tet_skin(w);
        break;
    case MN_USD_POINT_NORMALS:
        put_point_normals(w, c);
        number_points(w->plan, c->prim);
        break;
    case MN_USD_EXTENT:
        put_extent(w, c->prim);
        break;
    default:
        put_elements(w, c);
        break;
    }
}

// ---- prims ----

static void put_column(const usd_writer *w, const mn_usd_column *c, const char *indent)
{
    if (c->interpolation || c->element_size > 1) {
        put(w, "%s%s[] %s (\n", indent, c->type, c->name);
        if (c->element_size > 1) put(w, "%s    elementSize = %d\n", indent, (int)c->element_size);
        if (c->interpolation) put(w, "%s    interpolation = \"%s\"\n", indent, c->interpolation);
        put(w, "%s)\n", indent);
    }
    put(w, "%s%s[] %s.timeSamples = {\n%s    %g: [", indent, c->type, c->name, indent, w->plan->time);
    put_list(w, c);
    put(w, "],\n%s}\n", indent);
}

static mn_status put_columns(const usd_writer *w, mn_usd_prim prim, const char *indent)
{
    number_points(w->plan, prim);
    for (int64_t i = 0; i < w->plan->columns.count; i++) {
        const mn_usd_column *column = &w->plan->columns.data[i];
        if (column->prim != prim) continue;
        put_column(w, column, indent);
        MN_TRY(mn_check_cancelled(w->plan->ctx));
    }
    return MN_OK;
}

static mn_status put_prim(const usd_writer *w, mn_usd_prim prim)
{
    put(w, "\n    def %s \"%s\"\n    {\n", mn_usd_prim_type(prim), mn_usd_prim_name(prim));
    if (prim == MN_USD_MESH) put(w, "        uniform token subdivisionScheme = \"none\"\n");
    if (prim == MN_USD_CURVES) put(w, "        uniform token type = \"linear\"\n");
    MN_TRY(put_columns(w, prim, "        "));
    put(w, "    }\n");
    return MN_OK;
}

// ---- volumes ----

/// The name of the prim of a volume: unlike those of the volumes before it. *place: how many of them have the
/// same name as a grid.
static void name_field(const mn_geo *geo, int64_t volume, char name[MN_USD_NAME], int32_t *place)
{
    const char *own = mn_volume_get_info(mn_geo_volume(geo, volume)).name;
    int32_t alike = 0;
    *place = 0;
    mn_usd_identifier(own, name);
    for (int64_t i = 0; i < volume; i++) {
        const mn_volume other = mn_geo_volume(geo, i);
        if (!other.ops) continue;
        char before[MN_USD_NAME];
        mn_usd_identifier(mn_volume_get_info(other).name, before);
        alike += strcmp(before, name) == 0;
        *place += strcmp(mn_volume_get_info(other).name, own) == 0;
    }
    const size_t length = strlen(name);
    if (alike > 0 && length < MN_USD_NAME - 12)
        snprintf(name + length, MN_USD_NAME - length, "_%d", (int)alike);
}

static void put_field(const usd_writer *w, int64_t volume, const char *vdb)
{
    const mn_volume_info info = mn_volume_get_info(mn_geo_volume(w->plan->geo, volume));
    const char *slash = strrchr(vdb, '/');
    char name[MN_USD_NAME];
    int32_t place;
    name_field(w->plan->geo, volume, name, &place);
    put(w, "\n        def OpenVDBAsset \"%s\"\n        {\n", name);
    put(w, "            token fieldClass = \"%s\"\n            token fieldDataType = \"%s\"\n",
        info.kind == MN_VOLUME_LEVEL_SET ? "levelSet" : "fogVolume",
        info.components == 3 ? "float3" : "float");
    put(w, "            int fieldIndex = %d\n            token fieldName = ", (int)place);
    put_string(w, info.name);
    put(w,
        "\n            asset filePath.timeSamples = {\n                %g: @./%s@,\n            }\n        }\n",
        w->plan->time, slash ? slash + 1 : vdb);
}

static void put_volumes(const usd_writer *w, const char *vdb)
{
    const mn_geo *geo = w->plan->geo;
    mn_box box = mn_box_empty();
    put(w, "\n    def Volume \"volume\"\n    {\n");
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        if (!mn_geo_volume(geo, i).ops) continue;
        const mn_volume_info info = mn_volume_get_info(mn_geo_volume(geo, i));
        char name[MN_USD_NAME];
        int32_t place;
        name_field(geo, i, name, &place);
        put(w, "        rel field:%s = </%s/volume/%s>\n", name, w->plan->root, name);
        if (!mn_box_is_empty(info.bounds))
            box = mn_box_add(mn_box_add(box, info.bounds.min), info.bounds.max);
    }
    put(w, "        float3[] extent.timeSamples = {\n            %g: [", w->plan->time);
    put_box(w, box);
    put(w, "],\n        }\n");
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        if (mn_geo_volume(geo, i).ops) put_field(w, i, vdb);
    put(w, "    }\n");
}

static mn_status write_bytes(void *user, const void *bytes, size_t size)
{
    return mn_safe_file_write(user, bytes, size);
}

/// Names that would need care in quotes within quotes are refused.
static mn_status check_volume_names(const mn_usd_plan *plan)
{
    for (int64_t i = 0; i < mn_geo_primitive_count(plan->geo); i++) {
        if (!mn_geo_volume(plan->geo, i).ops) continue;
        for (const char *c = mn_volume_get_info(mn_geo_volume(plan->geo, i)).name; *c; c++)
            if ((unsigned char)*c < ' ' || strchr("\"'\\", *c))
                return mn_fail(
                    plan->ctx, MN_ERROR_UNSUPPORTED,
                    "%s: the name of volume %lld has quotes or unprintable letters; give it another.",
                    plan->name, (long long)i);
    }
    return MN_OK;
}

static mn_status write_volumes(const mn_usd_plan *plan, char vdb[MN_USD_PATH])
{
    const char *dot = strrchr(plan->name, '.');
    const int length = dot ? (int)(dot - plan->name) : (int)strlen(plan->name);
    if (snprintf(vdb, MN_USD_PATH, "%.*s.vdb", length, plan->name) >= MN_USD_PATH)
        return mn_fail(plan->ctx, MN_ERROR_ARGUMENT, "%s: the path is too long.", plan->name);
    MN_TRY(check_volume_names(plan));
    mn_safe_file *file;
    MN_TRY(mn_safe_file_open(plan->ctx, vdb, &file));
    const mn_status status = mn_vdb_write(plan->ctx, plan->geo, write_bytes, file);
    if (status == MN_OK) return mn_safe_file_commit(file);
    mn_safe_file_abandon(file);
    return status;
}

// ---- the layer ----

/// What the stage has to declare for this layer to show, in a form that usd_stage.c reads.
static void put_declarations(const usd_writer *w)
{
    const mn_usd_plan *plan = w->plan;
    put(w, "    customLayerData = {\n        string[] declares = [\"/ Xform\"");
    for (int p = MN_USD_MESH; p < MN_USD_PRIM_COUNT; p++)
        if (plan->counts[p] > 0)
            put(w, ",\n            \"/%s %s\"", mn_usd_prim_name((mn_usd_prim)p),
                mn_usd_prim_type((mn_usd_prim)p));
    for (int64_t i = 0; i < plan->columns.count; i++) {
        const mn_usd_column *c = &plan->columns.data[i];
        put(w, ",\n            \"/%s %s[] %s %s %d\"", mn_usd_prim_name(c->prim), c->type, c->name,
            c->interpolation ? c->interpolation : "-", (int)c->element_size);
    }
    for (int64_t i = 0; i < mn_geo_primitive_count(plan->geo); i++) {
        if (!mn_geo_volume(plan->geo, i).ops) continue;
        const mn_volume_info info = mn_volume_get_info(mn_geo_volume(plan->geo, i));
        char name[MN_USD_NAME];
        int32_t place;
        name_field(plan->geo, i, name, &place);
        put(w, ",\n            \"/volume/%s OpenVDBAsset %s %s %d %s\"", name,
            info.kind == MN_VOLUME_LEVEL_SET ? "levelSet" : "fogVolume",
            info.components == 3 ? "float3" : "float", (int)place, info.name);
    }
    put(w, "]\n    }\n");
}

static mn_status write_layer(const mn_usd_plan *plan, mn_safe_file *file)
{
    const usd_writer w = {plan, file};
    char vdb[MN_USD_PATH] = "";
    if (plan->counts[MN_USD_VOLUME] > 0) MN_TRY(write_volumes(plan, vdb));
    put(&w, "#usda 1.0\n(\n");
    put_declarations(&w);
    put(&w, "    defaultPrim = \"%s\"\n    endTimeCode = %g\n    metersPerUnit = 1\n", plan->root,
        plan->time);
    put(&w, "    startTimeCode = %g\n    upAxis = \"Y\"\n)\n\ndef Xform \"%s\"\n{\n", plan->time, plan->root);
    MN_TRY(put_columns(&w, MN_USD_ROOT, "    "));
    for (int p = MN_USD_MESH; p <= MN_USD_POINTS; p++)
        if (plan->counts[p] > 0) MN_TRY(put_prim(&w, (mn_usd_prim)p));
    if (plan->counts[MN_USD_VOLUME] > 0) put_volumes(&w, vdb);
    return mn_safe_file_write(file, "}\n", 2);
}

/// Vertices of tetrahedra and volumes have no values in USD.
static void warn_left_out(const mn_usd_plan *plan)
{
    const int32_t found =
        mn_geo_attribute_count(plan->geo, MN_VERTEX) + mn_geo_group_count(plan->geo, MN_VERTEX);
    if (found > 0 && plan->counts[MN_USD_TETS] > 0)
        mn_log(
            plan->ctx, MN_LOG_WARNING,
            "USD has no place for values on the vertices of tetrahedra; promote them to points or write .bgeo.sc "
            "to keep them.");
}

mn_status mn_usd_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    mn_usd_plan plan = {.ctx = ctx, .geo = geo, .name = name};
    mn_plain_locale locale;
    MN_TRY(mn_plain_locale_begin(ctx, &locale));
    mn_status status = mn_usd_plan_make(&plan);
    if (status == MN_OK) warn_left_out(&plan);
    if (status == MN_OK) status = write_layer(&plan, file);
    mn_usd_plan_free(&plan);
    mn_plain_locale_end(&locale);
    return status;
}
