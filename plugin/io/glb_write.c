// SPDX-License-Identifier: Apache-2.0
//
// Writes glTF 2.0 in its binary form (.glb): one mesh of triangles, lines and points with normals, colours
// and texture coordinates, in metres with y up, as glTF has it. Tetrahedra are shown by their skin. A vertex
// stands for a point, or for a corner where values differ from corner to corner.
//
//   header   "glTF", version 2, length of all
//   JSON     what lies where; padded with blanks to a multiple of 4 bytes
//   BIN      for each part: positions, normals, colours, texture coordinates (f32), indices (u32)
#include "plugin/io/formats.h"
#include "plugin/io/glb.h"
#include "plugin/io/usd.h"
#include "plugin/json/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { MODE_POINTS = 0, MODE_LINES = 1, MODE_TRIANGLES = 4, TYPE_FLOAT = 5126, TYPE_U32 = 5125 };
enum { TARGET_VERTICES = 34962, TARGET_INDICES = 34963 };

// ---- values ----

/// Its values at a vertex; false when it has none there.
static bool value_at(const mn_attribute *a, mn_glb_vertex v, double *values)
{
    const mn_owner owner = mn_attribute_owner(a);
    const int64_t element = owner == MN_VERTEX      ? v.corner
                            : owner == MN_POINT     ? v.point
                            : owner == MN_PRIMITIVE ? v.primitive
                                                    : 0;
    if (element < 0) return false;
    mn_attribute_get(a, element, 1, values);
    return true;
}

static void normal_at(const mn_glb *g, mn_glb_vertex v, float out[4])
{
    double n[3] = {0, 1, 0};
    if (g->normal)
        (void)value_at(g->normal, v, n);
    else
        for (int k = 0; k < 3; k++) n[k] = (double)g->computed.normal[v.corner][k];
    mn_vec3 unit = mn_normalize(mn_v3(n[0], n[1], n[2]));
    if (!(fabs(mn_norm2(unit) - 1) < 1e-6)) unit = mn_v3(0, 1, 0); // readers want unit length
    out[0] = (float)unit.x, out[1] = (float)unit.y, out[2] = (float)unit.z;
}

static void color_at(const mn_glb *g, mn_glb_vertex v, float out[4])
{
    double c[4] = {1, 1, 1, 1};
    if (g->color) (void)value_at(g->color, v, c);
    if (g->alpha) (void)value_at(g->alpha, v, &c[3]);
    for (int k = 0; k < 4; k++) out[k] = c[k] >= 0 ? (float)fmin(c[k], 1) : 0; // NaN too
}

static void texture_at(const mn_glb *g, mn_glb_vertex v, float out[4])
{
    double uv[3] = {0, 0, 0};
    (void)value_at(g->texture, v, uv);
    out[0] = isfinite(uv[0]) ? (float)uv[0] : 0;
    out[1] = isfinite(uv[1]) ? 1 - (float)uv[1] : 0; // glTF counts from the top
}

static void position_at(const mn_glb *g, mn_glb_vertex v, float out[4])
{
    const float *x = mn_geo_positions(g->geo) + 3 * v.point;
    out[0] = x[0], out[1] = x[1], out[2] = x[2];
}

/// The columns of a part, in the order of the file.
typedef struct glb_column {
    const char *semantic, *type;
    int32_t size;
    void (*at)(const mn_glb *g, mn_glb_vertex v, float out[4]);
} glb_column;

static int32_t list_columns(const mn_glb *g, const mn_glb_part *part, glb_column columns[4])
{
    int32_t count = 0;
    columns[count++] = (glb_column){"POSITION", "VEC3", 3, position_at};
    if (part->has_normals) columns[count++] = (glb_column){"NORMAL", "VEC3", 3, normal_at};
    if (g->color || g->alpha) columns[count++] = (glb_column){"COLOR_0", "VEC4", 4, color_at};
    if (g->texture && part->has_normals) columns[count++] = (glb_column){"TEXCOORD_0", "VEC2", 2, texture_at};
    return count;
}

// ---- JSON ----

static void put_number(mn_json_text *out, const char *before, double number)
{
    mn_json_text_put(out, before);
    mn_json_text_put_number(out, number);
}

/// The shortest decimals of a float would be read as another double; these are its exact value.
static void put_corner(mn_json_text *out, const char *before, mn_vec3 x)
{
    put_number(out, before, (double)(float)x.x);
    put_number(out, ", ", (double)(float)x.y);
    put_number(out, ", ", (double)(float)x.z);
    mn_json_text_put(out, "]");
}

/// Buffer views, accessors or the attributes of the parts, by `what`.
typedef enum listing { LIST_VIEWS, LIST_ACCESSORS, LIST_PARTS } listing;

static int64_t put_column(mn_json_text *out, listing what, const mn_glb_part *part, const glb_column *column,
                          int64_t offset, int32_t number)
{
    const int64_t count = column ? part->vertices.count : part->indices.count;
    const int64_t bytes = count * 4 * (column ? column->size : 1);
    const char *before = number > 0 ? ",\n    " : "\n    ";
    if (what == LIST_VIEWS) {
        mn_json_text_put(out, before);
        put_number(out, "{\"buffer\": 0, \"byteOffset\": ", (double)offset);
        put_number(out, ", \"byteLength\": ", (double)bytes);
        put_number(out, ", \"target\": ", column ? TARGET_VERTICES : TARGET_INDICES);
        mn_json_text_put(out, "}");
    } else if (what == LIST_ACCESSORS) {
        mn_json_text_put(out, before);
        put_number(out, "{\"bufferView\": ", number);
        put_number(out, ", \"componentType\": ", column ? TYPE_FLOAT : TYPE_U32);
        put_number(out, ", \"count\": ", (double)count);
        mn_json_text_put(out, ", \"type\": \"");
        mn_json_text_put(out, column ? column->type : "SCALAR");
        mn_json_text_put(out, "\"");
        if (column && strcmp(column->semantic, "POSITION") == 0) {
            put_corner(out, ", \"min\": [", part->box.min);
            put_corner(out, ", \"max\": [", part->box.max);
        }
        mn_json_text_put(out, "}");
    }
    return bytes;
}

/// Walks all columns of all parts. Returns the bytes of BIN.
static int64_t put_columns(mn_json_text *out, const mn_glb *g, listing what)
{
    int64_t offset = 0;
    int32_t number = 0;
    bool first_part = true;
    for (int p = 0; p < MN_GLB_PART_COUNT; p++) {
        const mn_glb_part *part = &g->parts[p];
        glb_column columns[4];
        if (part->vertices.count == 0) continue;
        const int32_t count = list_columns(g, part, columns);
        if (what == LIST_PARTS)
            mn_json_text_put(out, first_part ? "{\"attributes\": {" : ", {\"attributes\": {");
        first_part = false;
        for (int32_t i = 0; i < count; i++, number++) {
            offset += put_column(out, what, part, &columns[i], offset, number);
            if (what != LIST_PARTS) continue;
            mn_json_text_put(out, i > 0 ? ", \"" : "\"");
            mn_json_text_put(out, columns[i].semantic);
            put_number(out, "\": ", number);
        }
        if (part->indices.count > 0) offset += put_column(out, what, part, NULL, offset, number);
        if (what == LIST_PARTS) {
            if (part->indices.count > 0) put_number(out, "}, \"indices\": ", number);
            put_number(out, part->indices.count > 0 ? ", \"mode\": " : "}, \"mode\": ", part->mode);
            mn_json_text_put(out, ", \"material\": 0}");
        }
        number += part->indices.count > 0;
    }
    return offset;
}

static void put_json(mn_json_text *out, const mn_glb *g, int64_t bytes)
{
    char root[MN_USD_NAME];
    double frame;
    mn_usd_split_name(g->name, root, &frame);
    mn_json_text_put(out, "{\"asset\": {\"version\": \"2.0\", \"generator\": \"Meniscus\"}, \"scene\": 0");
    if (bytes == 0) {
        mn_json_text_put(out, ", \"scenes\": [{}]}");
        return;
    }
    mn_json_text_put(out, ", \"scenes\": [{\"nodes\": [0]}],\n  \"nodes\": [{\"mesh\": 0, \"name\": ");
    mn_json_text_put_string(out, root);
    mn_json_text_put(out, "}],\n  \"materials\": [{\"name\": \"surface\", \"doubleSided\": true");
    if (g->alpha) mn_json_text_put(out, ", \"alphaMode\": \"BLEND\"");
    mn_json_text_put(out, ", \"pbrMetallicRoughness\": {\"metallicFactor\": 0, \"roughnessFactor\": 0.25");
    if (!g->color) mn_json_text_put(out, ", \"baseColorFactor\": [0.55, 0.72, 0.85, 1]");
    mn_json_text_put(out, "}}],\n  \"meshes\": [{\"primitives\": [");
    (void)put_columns(out, g, LIST_PARTS);
    mn_json_text_put(out, "]}],\n  \"accessors\": [");
    (void)put_columns(out, g, LIST_ACCESSORS);
    mn_json_text_put(out, "],\n  \"bufferViews\": [");
    (void)put_columns(out, g, LIST_VIEWS);
    put_number(out, "],\n  \"buffers\": [{\"byteLength\": ", (double)bytes);
    mn_json_text_put(out, "}]}");
}

// ---- bytes ----

static mn_status write_u32(mn_safe_file *file, int64_t a, int64_t b)
{
    const uint32_t words[2] = {(uint32_t)a, (uint32_t)b};
    return mn_safe_file_write(file, words, sizeof words);
}

static mn_status write_parts(const mn_glb *g, mn_safe_file *file)
{
    for (int p = 0; p < MN_GLB_PART_COUNT; p++) {
        const mn_glb_part *part = &g->parts[p];
        glb_column columns[4];
        const int32_t count = part->vertices.count > 0 ? list_columns(g, part, columns) : 0;
        for (int32_t i = 0; i < count; i++) {
            for (int64_t v = 0; v < part->vertices.count; v++) {
                float values[4];
                columns[i].at(g, part->vertices.data[v], values);
                MN_TRY(mn_safe_file_write(file, values, sizeof(float) * (size_t)columns[i].size));
            }
            MN_TRY(mn_check_cancelled(g->ctx));
        }
        MN_TRY(mn_safe_file_write(file, part->indices.data, mn_bytes(part->indices.count, sizeof(uint32_t))));
    }
    return MN_OK;
}

static mn_status write_file(const mn_glb *g, mn_safe_file *file)
{
    static const char blanks[] = "    ";
    mn_json_text nothing = {.ctx = g->ctx}, out = {.ctx = g->ctx};
    const int64_t bytes = put_columns(&nothing, g, LIST_PARTS);
    mn_array_free(g->ctx, &nothing.bytes);
    MN_TRY(nothing.status);
    put_json(&out, g, bytes);
    const int64_t json = (out.bytes.count + 3) / 4 * 4, all = 12 + 8 + json + (bytes > 0 ? 8 + bytes : 0);
    mn_status status = out.status;
    if (status == MN_OK && all > UINT32_MAX)
        status = mn_fail(g->ctx, MN_ERROR_UNSUPPORTED,
                         "%s: a .glb file ends at 4 GiB, and this would have %.1f; write .usda.", g->name,
                         (double)all / (1 << 30));
    if (status == MN_OK) status = mn_safe_file_write(file, "glTF", 4);
    if (status == MN_OK) status = write_u32(file, 2, all);
    if (status == MN_OK) status = write_u32(file, json, 0x4E4F534A); // "JSON"
    if (status == MN_OK) status = mn_safe_file_write(file, out.bytes.data, (size_t)out.bytes.count);
    if (status == MN_OK) status = mn_safe_file_write(file, blanks, (size_t)(json - out.bytes.count));
    if (status == MN_OK && bytes > 0) status = write_u32(file, bytes, 0x004E4942); // "BIN"
    if (status == MN_OK && bytes > 0) status = write_parts(g, file);
    mn_array_free(g->ctx, &out.bytes);
    return status;
}

// ---- all of it ----

static mn_status check(mn_context *ctx, const mn_geo *geo, const char *name)
{
    if (mn_geo_kind_count(geo, MN_VOLUME) > 0)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "%s: a .glb file cannot hold a volume; make a surface of it, or write .vdb or .usda.",
                       name);
    if (mn_geo_vertex_count(geo) > INT32_MAX || mn_geo_point_count(geo) > INT32_MAX)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "%s: there are too many points for a .glb file; write .bgeo.sc.", name);
    return MN_OK;
}

/// glTF has columns of its own for what a picture needs; the rest stays in other formats.
static void warn_left_out(const mn_glb *g)
{
    int32_t count = 0;
    for (int o = 0; o < MN_OWNER_COUNT; o++)
        for (int32_t i = 0; i < mn_geo_attribute_count(g->geo, (mn_owner)o); i++) {
            const mn_attribute *a = mn_geo_attribute_at(g->geo, (mn_owner)o, i);
            count += a != g->normal && a != g->color && a != g->alpha && a != g->texture &&
                     strcmp(mn_attribute_name(a), "P") != 0;
        }
    if (count > 0)
        mn_log(
            g->ctx, MN_LOG_WARNING,
            "A .glb file keeps N, Cd, Alpha and uv; other attributes are left out. Write .usda or .bgeo.sc to keep "
            "them.");
    if (g->left_out > 0)
        mn_log(g->ctx, MN_LOG_WARNING,
               "%lld points or primitives are not finite and are left out of the .glb.",
               (long long)g->left_out);
}

mn_status mn_glb_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    static const int32_t modes[MN_GLB_PART_COUNT] = {MODE_TRIANGLES, MODE_LINES, MODE_POINTS};
    mn_glb g = {.ctx = ctx, .geo = geo, .name = name};
    mn_geo *skinned = NULL;
    mn_status status = check(ctx, geo, name);
    for (int p = 0; p < MN_GLB_PART_COUNT; p++)
        g.parts[p] =
            (mn_glb_part){.mode = modes[p], .has_normals = p == MN_GLB_SURFACE, .box = mn_box_empty()};
    if (status == MN_OK && mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0) {
        status = mn_glb_with_skin(ctx, geo, &skinned);
        g.geo = skinned ? skinned : geo;
    }
    if (status == MN_OK) status = mn_glb_make(&g);
    if (status == MN_OK) warn_left_out(&g);
    if (status == MN_OK) status = write_file(&g, file);
    mn_glb_free(&g);
    mn_geo_free(skinned);
    return status;
}
