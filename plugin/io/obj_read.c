// SPDX-License-Identifier: Apache-2.0
//
// Reads Wavefront .obj: v (with colour as Cd), vn (vertex N), vt (vertex uv), f, l, p, g and o (primitive
// groups), usemtl (primitive string shop_materialpath). Display settings (s, mtllib, ...) are passed over
// with a note in the log; curves and surfaces are refused.
#include "meniscus/array.h"
#include "plugin/io/formats.h"
#include "plugin/io/text.h"

#include <string.h>

enum { NAME_MAX_LENGTH = 4096 };

typedef struct primitive {
    uint8_t kind;
    int32_t vertex_count;
    int32_t groups;   ///< which line of names; -1 none
    int32_t material; ///< -1 none
} primitive;

/// Names that stood in one g or o line: [begin, end) of `memberships`.
typedef struct name_set {
    int64_t begin, end;
} name_set;

typedef struct obj {
    mn_text text;
    MN_ARRAY(float) positions, colours, normals, textures;
    MN_ARRAY(int64_t) points, normal_of, texture_of; ///< per vertex; -1 none
    MN_ARRAY(primitive) primitives;
    MN_ARRAY(char *) names, materials; ///< copies
    MN_ARRAY(int32_t) memberships;
    MN_ARRAY(name_set) sets;
    bool has_colour, has_normal, has_texture;
    int32_t set, material; ///< in force
    bool told;             ///< that display settings are passed over
} obj;

static void free_names(mn_context *ctx, char **names, int64_t count)
{
    for (int64_t i = 0; i < count; i++) mn_release(ctx, names[i], strlen(names[i]) + 1);
}

static void free_obj(obj *o)
{
    mn_context *ctx = o->text.ctx;
    free_names(ctx, o->names.data, o->names.count);
    free_names(ctx, o->materials.data, o->materials.count);
    mn_array_free(ctx, &o->positions);
    mn_array_free(ctx, &o->colours);
    mn_array_free(ctx, &o->normals);
    mn_array_free(ctx, &o->textures);
    mn_array_free(ctx, &o->points);
    mn_array_free(ctx, &o->normal_of);
    mn_array_free(ctx, &o->texture_of);
    mn_array_free(ctx, &o->primitives);
    mn_array_free(ctx, &o->names);
    mn_array_free(ctx, &o->materials);
    mn_array_free(ctx, &o->memberships);
    mn_array_free(ctx, &o->sets);
    mn_text_close(&o->text);
}

// Up to `most` numbers of this line.
static mn_status read_numbers(obj *o, int32_t least, int32_t most, double *numbers, int32_t *count)
{
    mn_word word;
    *count = 0;
    while (mn_text_word(&o->text, &word)) {
        if (*count == most) return mn_text_fail(&o->text, MN_ERROR_FORMAT, "more than %d numbers", (int)most);
        MN_TRY(mn_text_real(&o->text, word, &numbers[(*count)++]));
    }
    if (*count < least) return mn_text_fail(&o->text, MN_ERROR_FORMAT, "fewer than %d numbers", (int)least);
    return MN_OK;
}

#define PUSH3(array, x, y, z)                                                                                \
    do {                                                                                                     \
        MN_TRY(mn_array_reserve(o->text.ctx, &(array), (array).count + 3));                                  \
        (array).data[(array).count++] = (float)(x);                                                          \
        (array).data[(array).count++] = (float)(y);                                                          \
        (array).data[(array).count++] = (float)(z);                                                          \
    } while (0)

// v x y z [w] [r g b]: 3, 4, 6 or 7 numbers.
static mn_status read_point(obj *o)
{
    double n[7];
    int32_t count;
    MN_TRY(read_numbers(o, 3, 7, n, &count));
    if (count == 5)
        return mn_text_fail(&o->text, MN_ERROR_FORMAT,
                            "a point has 5 numbers; it takes 3, or 6 with a colour");
    PUSH3(o->positions, n[0], n[1], n[2]);
    if (count < 6)
        PUSH3(o->colours, 1, 1, 1);
    else
        PUSH3(o->colours, n[count - 3], n[count - 2], n[count - 1]);
    o->has_colour = o->has_colour || count >= 6;
    return MN_OK;
}

static mn_status read_normal(obj *o)
{
    double n[3];
    int32_t count;
    MN_TRY(read_numbers(o, 3, 3, n, &count));
    PUSH3(o->normals, n[0], n[1], n[2]);
    return MN_OK;
}

static mn_status read_texture(obj *o)
{
    double n[3] = {0};
    int32_t count;
    MN_TRY(read_numbers(o, 1, 3, n, &count));
    PUSH3(o->textures, n[0], n[1], n[2]);
    return MN_OK;
}

// A reference counts from 1, or from the end when negative.
static mn_status resolve(obj *o, mn_word word, int64_t count, const char *what, int64_t *index)
{
    int64_t number;
    MN_TRY(mn_text_integer(&o->text, word, &number));
    *index = number > 0 ? number - 1 : number < 0 && number >= -count ? count + number : -1;
    if (*index < 0 || *index >= count)
        return mn_text_fail(&o->text, MN_ERROR_FORMAT,
                            "%s %lld is referred to, but there are only %lld so far", what, (long long)number,
                            (long long)count);
    return MN_OK;
}

// a, a/b, a//c or a/b/c: point, texture, normal.
static mn_status read_corner(obj *o, mn_word word)
{
    int64_t index[3] = {-1, -1, -1};
    const int64_t counts[3] = {o->positions.count / 3, o->textures.count / 3, o->normals.count / 3};
    static const char *const what[3] = {"point", "texture coordinate", "normal"};
    const char *at = word.begin, *end = word.begin + word.length;
    for (int k = 0;; k++) {
        const char *slash = memchr(at, '/', (size_t)(end - at));
        const mn_word part = {at, (size_t)((slash ? slash : end) - at)};
        if (k == 3) return mn_text_fail(&o->text, MN_ERROR_FORMAT, "a corner has more than three numbers");
        if (part.length > 0)
            MN_TRY(resolve(o, part, counts[k], what[k], &index[k]));
        else if (k == 0)
            return mn_text_fail(&o->text, MN_ERROR_FORMAT, "a corner has no point");
        if (!slash) break;
        at = slash + 1;
    }
    o->has_texture = o->has_texture || index[1] >= 0;
    o->has_normal = o->has_normal || index[2] >= 0;
    MN_TRY(mn_array_push(o->text.ctx, &o->points, &index[0]));
    MN_TRY(mn_array_push(o->text.ctx, &o->texture_of, &index[1]));
    return mn_array_push(o->text.ctx, &o->normal_of, &index[2]);
}

static mn_status read_primitive(obj *o, mn_primitive_kind kind, int32_t least)
{
    primitive p = {(uint8_t)kind, 0, o->set, o->material};
    mn_word word;
    for (; mn_text_word(&o->text, &word); p.vertex_count++) MN_TRY(read_corner(o, word));
    if (p.vertex_count < least)
        return mn_text_fail(&o->text, MN_ERROR_FORMAT, "a %s needs %d corners or more and has %d",
                            mn_primitive_kind_name(kind), (int)least, (int)p.vertex_count);
    return mn_array_push(o->text.ctx, &o->primitives, &p);
}

// The number of a name in a list, added when new.
#define INTERN(o, list, word, index)                                                                         \
    intern((o), &(list).data, &(list).count, &(list).capacity, (word), (index))
static mn_status intern(obj *o, char ***names, int64_t *count, int64_t *capacity, mn_word word,
                        int32_t *index)
{
    if (word.length > NAME_MAX_LENGTH || memchr(word.begin, 0, word.length))
        return mn_text_fail(&o->text, MN_ERROR_FORMAT, "a name has more than %d characters, or a zero byte",
                            NAME_MAX_LENGTH);
    for (*index = 0; *index < *count; (*index)++)
        if (mn_word_is(word, (*names)[*index])) return MN_OK;
    char *copy = mn_allocate(o->text.ctx, word.length + 1);
    if (!copy) return MN_ERROR_MEMORY;
    memcpy(copy, word.begin, word.length);
    copy[word.length] = '\0';
    const mn_status status = mn_array_push_bytes(o->text.ctx, names, count, capacity, sizeof *names, &copy);
    if (status != MN_OK) mn_release(o->text.ctx, copy, word.length + 1);
    return status;
}

static mn_status read_groups(obj *o)
{
    name_set set = {o->memberships.count, 0};
    mn_word word;
    while (mn_text_word(&o->text, &word)) {
        int32_t name;
        MN_TRY(INTERN(o, o->names, word, &name));
        MN_TRY(mn_array_push(o->text.ctx, &o->memberships, &name));
    }
    set.end = o->memberships.count;
    o->set = set.end > set.begin ? (int32_t)o->sets.count : -1;
    return set.end > set.begin ? mn_array_push(o->text.ctx, &o->sets, &set) : MN_OK;
}

static mn_status read_material(obj *o)
{
    const mn_word word = mn_text_rest(&o->text);
    o->material = -1;
    return word.length > 0 ? INTERN(o, o->materials, word, &o->material) : MN_OK;
}

static mn_status read_statement(obj *o, mn_word word)
{
    static const char *const display[] = {"s",   "mg",     "mtllib", "bevel",      "c_interp", "d_interp",
                                          "lod", "usemap", "maplib", "shadow_obj", "trace_obj"};
    mn_word unused;
    if (mn_word_is(word, "v")) return read_point(o);
    if (mn_word_is(word, "vn")) return read_normal(o);
    if (mn_word_is(word, "vt")) return read_texture(o);
    if (mn_word_is(word, "f") || mn_word_is(word, "fo")) return read_primitive(o, MN_POLYGON, 3);
    if (mn_word_is(word, "l")) return read_primitive(o, MN_POLYLINE, 2);
    if (mn_word_is(word, "g") || mn_word_is(word, "o")) return read_groups(o);
    if (mn_word_is(word, "usemtl")) return read_material(o);
    if (mn_word_is(word, "p")) { // points are there already
        while (mn_text_word(&o->text, &unused)) continue;
        return MN_OK;
    }
    for (size_t i = 0; i < sizeof display / sizeof *display; i++)
        if (mn_word_is(word, display[i])) {
            if (!o->told)
                mn_log(o->text.ctx, MN_LOG_WARNING, "%s: display settings and material files are not read.",
                       o->text.name);
            o->told = true;
            while (mn_text_word(&o->text, &unused)) continue;
            return MN_OK;
        }
    const int shown = word.length < 40 ? (int)word.length : 40;
    return mn_text_fail(&o->text, MN_ERROR_UNSUPPORTED,
                        "'%.*s' is not something that can be read from an .obj file", shown, word.begin);
}

static mn_status read_all(obj *o)
{
    mn_word word;
    do {
        if (!mn_text_word(&o->text, &word) || word.begin[0] == '#') {
            mn_text_rest(&o->text);
            continue;
        }
        MN_TRY(read_statement(o, word));
    } while (mn_text_next_line(&o->text));
    return o->text.status;
}

// ---- building ----

static mn_status build_points(const obj *o, mn_geo *geo)
{
    const int64_t count = o->positions.count / 3;
    MN_TRY(mn_geo_add_points(geo, count, NULL));
    if (count == 0) return MN_OK;
    memcpy(mn_geo_write_positions(geo), o->positions.data, mn_bytes(3 * count, sizeof(float)));
    if (!o->has_colour) return MN_OK;
    mn_attribute *colour;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "Cd", MN_F32, 3, MN_HINT_COLOR, &colour));
    memcpy(mn_attribute_write(geo, colour), o->colours.data, mn_bytes(3 * count, sizeof(float)));
    return MN_OK;
}

static mn_status build_primitives(const obj *o, mn_geo *geo)
{
    int64_t vertex = 0;
    for (int64_t i = 0; i < o->primitives.count;) {
        // A run of one kind and one size at a time, in the file's order.
        const primitive *p = &o->primitives.data[i];
        int64_t run = 1;
        while (i + run < o->primitives.count && p[run].kind == p->kind &&
               p[run].vertex_count == p->vertex_count)
            run++;
        MN_TRY(mn_geo_add_primitives(geo, (mn_primitive_kind)p->kind, run, NULL, p->vertex_count,
                                     o->points.data + vertex, NULL));
        vertex += run * p->vertex_count;
        i += run;
    }
    return MN_OK;
}

static mn_status build_vertex_attribute(mn_geo *geo, const char *name, mn_hint hint, const float *values,
                                        const int64_t *of)
{
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_VERTEX, name, MN_F32, 3, hint, &attribute));
    float *data = mn_attribute_write(geo, attribute);
    for (int64_t v = 0; data && v < mn_geo_vertex_count(geo); v++)
        if (of[v] >= 0) memcpy(data + 3 * v, values + 3 * of[v], 3 * sizeof(float));
    return MN_OK;
}

static mn_status build_groups(const obj *o, mn_geo *geo)
{
    for (int64_t n = 0; n < o->names.count; n++) {
        mn_group *group;
        MN_TRY(mn_geo_add_group(geo, MN_PRIMITIVE, o->names.data[n], &group));
        uint8_t *members = mn_group_write(geo, group);
        for (int64_t i = 0; i < o->primitives.count; i++) {
            if (o->primitives.data[i].groups < 0) continue;
            const name_set set = o->sets.data[o->primitives.data[i].groups];
            for (int64_t m = set.begin; m < set.end && members; m++)
                if (o->memberships.data[m] == n) members[i] = 1;
        }
    }
    if (o->materials.count == 0) return MN_OK;
    mn_attribute *material;
    MN_TRY(
        mn_geo_add_attribute(geo, MN_PRIMITIVE, "shop_materialpath", MN_STRING, 1, MN_HINT_NONE, &material));
    for (int64_t i = 0; i < o->primitives.count; i++)
        if (o->primitives.data[i].material >= 0)
            MN_TRY(mn_attribute_set_string(geo, material, i, 0,
                                           o->materials.data[o->primitives.data[i].material]));
    return MN_OK;
}

static mn_status build(const obj *o, mn_geo *geo)
{
    MN_TRY(build_points(o, geo));
    MN_TRY(build_primitives(o, geo));
    if (o->has_normal)
        MN_TRY(build_vertex_attribute(geo, "N", MN_HINT_NORMAL, o->normals.data, o->normal_of.data));
    if (o->has_texture)
        MN_TRY(build_vertex_attribute(geo, "uv", MN_HINT_TEXTURE, o->textures.data, o->texture_of.data));
    return build_groups(o, geo);
}

mn_status mn_obj_read(mn_context *ctx, mn_source *source, mn_geo **geo)
{
    obj o = {.set = -1, .material = -1};
    *geo = NULL;
    mn_plain_locale locale;
    MN_TRY(mn_plain_locale_begin(ctx, &locale));
    mn_geo *made = NULL;
    mn_status status = mn_text_open(ctx, source, true, &o.text);
    if (status == MN_OK) status = read_all(&o);
    if (status == MN_OK) status = mn_geo_create(ctx, &made);
    if (status == MN_OK) status = build(&o, made);
    if (status == MN_OK)
        *geo = made;
    else
        mn_geo_free(made);
    mn_plain_locale_end(&locale);
    free_obj(&o);
    return status;
}
