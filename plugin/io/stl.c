// SPDX-License-Identifier: Apache-2.0
//
// STL, the format of scanners and printers: triangles that repeat their corners, without units (ours are
// metres) and without attributes.
//
//   binary   80 bytes of anything, a count, then for each triangle a normal, three corners and two bytes
//   text     solid NAME / facet normal nx ny nz / outer loop / vertex x y z (3 times) / endloop / endfacet
//
// A text file begins with "solid", but so do some binary ones: a file whose size fits its count is binary.
// Corners at the same place, to the bit, become one point, in the order in which they come first.
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/io/formats.h"
#include "plugin/io/text.h"

enum { HEADER = 84, TRIANGLE = 50 };

typedef struct corners {
    MN_ARRAY(float) x;
} corners;

// ---- reading ----

static uint32_t little(const uint8_t *bytes)
{
    return (uint32_t)bytes[0] | (uint32_t)bytes[1] << 8 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[3] << 24;
}

static bool is_binary(const uint8_t *bytes, size_t size)
{
    return size >= HEADER && (size - HEADER) / TRIANGLE == little(bytes + 80) &&
           (size - HEADER) % TRIANGLE == 0;
}

static mn_status read_binary(mn_context *ctx, const uint8_t *bytes, corners *c)
{
    const int64_t count = little(bytes + 80);
    MN_TRY(mn_array_resize(ctx, &c->x, 9 * count));
    for (int64_t t = 0; t < count; t++)
        for (int64_t i = 0; i < 9; i++) {
            const uint32_t bits = little(bytes + HEADER + t * TRIANGLE + 12 + 4 * i);
            memcpy(&c->x.data[9 * t + i], &bits, sizeof bits);
        }
    return MN_OK;
}

static mn_status read_lines(mn_text *text, corners *c)
{
    do {
        mn_word word;
        if (!mn_text_word(text, &word) || !mn_word_is(word, "vertex")) continue;
        for (int k = 0; k < 3; k++) {
            double value;
            if (!mn_text_word(text, &word))
                return mn_text_fail(text, MN_ERROR_FORMAT, "a corner should be three numbers");
            MN_TRY(mn_text_real(text, word, &value));
            const float x = (float)value;
            MN_TRY(mn_array_push(text->ctx, &c->x, &x));
        }
    } while (mn_text_next_line(text));
    return MN_OK;
}

static mn_status read_text(mn_context *ctx, const char *bytes, size_t size, const char *name, corners *c)
{
    mn_text text = {.ctx = ctx, .name = name, .at = bytes, .end = bytes + size, .line = 1};
    mn_plain_locale locale;
    MN_TRY(mn_plain_locale_begin(ctx, &locale));
    const mn_status status = read_lines(&text, c);
    mn_plain_locale_end(&locale);
    return status;
}

typedef struct place {
    float x[3];
    int64_t corner;
} place;

static int compare_places(const void *a, const void *b)
{
    const int order = memcmp(a, b, sizeof((const place *)a)->x);
    return order ? order : (((const place *)a)->corner > ((const place *)b)->corner) * 2 - 1;
}

// The point of each corner: the number of the first corner at its place, then counted up.
static mn_status merge(mn_context *ctx, const corners *c, int64_t count, int64_t *points,
                       int64_t *point_count)
{
    place *places = mn_allocate(ctx, mn_bytes(count, sizeof *places));
    if (!places) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        for (int k = 0; k < 3; k++) places[i].x[k] = c->x.data[3 * i + k] + 0.0f; // no -0
        places[i].corner = i;
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t i = 0, first = 0; i < count; i++) {
        if (memcmp(places[i].x, places[first].x, sizeof places[i].x) != 0) first = i;
        points[places[i].corner] = places[first].corner;
    }
    mn_release(ctx, places, mn_bytes(count, sizeof *places));
    *point_count = 0;
    for (int64_t i = 0; i < count; i++) points[i] = points[i] == i ? (*point_count)++ : points[points[i]];
    return MN_OK;
}

static mn_status fill(mn_context *ctx, const corners *c, const char *name, int64_t *points, mn_geo *geo)
{
    const int64_t count = c->x.count / 3;
    int64_t point_count, thin = 0;
    MN_TRY(merge(ctx, c, count, points, &point_count));
    MN_TRY(mn_geo_add_points(geo, point_count, NULL));
    float *positions = mn_geo_write_positions(geo);
    if (!positions) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++)
        memcpy(positions + 3 * points[i], c->x.data + 3 * i, 3 * sizeof(float));
    int64_t kept = 0;
    for (int64_t t = 0; t + 2 < count; t += 3) {
        int64_t *p = points + t;
        if (p[0] == p[1] || p[1] == p[2] || p[2] == p[0]) {
            thin++;
            continue;
        }
        memmove(points + kept, p, 3 * sizeof *p);
        kept += 3;
    }
    if (thin > 0)
        mn_log(ctx, MN_LOG_WARNING, "%s: %lld triangles with two corners in one place are left out.", name,
               (long long)thin);
    return mn_geo_add_primitives(geo, MN_POLYGON, kept / 3, NULL, 3, points, NULL);
}

static mn_status build(mn_context *ctx, const corners *c, const char *name, mn_geo **geo)
{
    const int64_t count = c->x.count / 3;
    for (int64_t i = 0; i < c->x.count; i++)
        if (!isfinite(c->x.data[i]))
            return mn_fail(ctx, MN_ERROR_FORMAT, "%s: corner %lld has a position that is not finite.", name,
                           (long long)(i / 3));
    if (count % 3 != 0)
        return mn_fail(ctx, MN_ERROR_FORMAT, "%s: %lld corners are not a whole number of triangles.", name,
                       (long long)count);
    MN_TRY(mn_geo_create(ctx, geo));
    if (count == 0) return MN_OK;
    int64_t *points = mn_allocate(ctx, mn_bytes(count, sizeof *points));
    if (!points) return MN_ERROR_MEMORY;
    const mn_status status = fill(ctx, c, name, points, *geo);
    mn_release(ctx, points, mn_bytes(count, sizeof *points));
    return status;
}

mn_status mn_stl_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name, mn_geo **geo)
{
    corners c = {0};
    mn_status status;
    *geo = NULL;
    if (is_binary(bytes, size))
        status = read_binary(ctx, bytes, &c);
    else if (size >= 5 && memcmp(bytes, "solid", 5) == 0)
        status = read_text(ctx, bytes, size, name, &c);
    else
        status = mn_fail(
            ctx, MN_ERROR_FORMAT,
            "%s: this is neither a text STL (\"solid ...\") nor a binary one of its size; it may be cut off.",
            name);
    if (status == MN_OK) status = build(ctx, &c, name, geo);
    mn_array_free(ctx, &c.x);
    if (status == MN_OK) return MN_OK;
    mn_geo_free(*geo);
    *geo = NULL;
    return status;
}

// ---- writing ----

static void put_little(uint8_t *bytes, uint32_t value)
{
    for (int i = 0; i < 4; i++) bytes[i] = (uint8_t)(value >> 8 * i);
}

static void put_vector(uint8_t *bytes, mn_vec3 v)
{
    const float x[3] = {(float)v.x, (float)v.y, (float)v.z};
    for (int k = 0; k < 3; k++) {
        uint32_t bits;
        memcpy(&bits, &x[k], sizeof bits);
        put_little(bytes + 4 * k, bits);
    }
}

static mn_status count_triangles(mn_context *ctx, const mn_geo *geo, const char *name, int64_t *count)
{
    const int64_t *starts = mn_geo_primitive_starts(geo);
    *count = 0;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_primitive_kind kind = (mn_primitive_kind)mn_geo_primitive_kinds(geo)[i];
        if (kind != MN_POLYGON)
            return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                           "%s: an .stl file cannot hold a %s (primitive %lld); write .ply or .bgeo.sc.",
                           name, mn_primitive_kind_name(kind), (long long)i);
        *count += starts[i + 1] - starts[i] - 2;
    }
    if (*count <= UINT32_MAX) return MN_OK;
    return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%s: an .stl file cannot hold %lld triangles.", name,
                   (long long)*count);
}

static void say_what_is_left_out(mn_context *ctx, const mn_geo *geo)
{
    int32_t attributes = -1; // P is written
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        attributes += mn_geo_attribute_count(geo, (mn_owner)owner);
    if (attributes > 0)
        mn_log(
            ctx, MN_LOG_WARNING,
            "An .stl file holds triangles alone: %d attributes are left out; write .ply or .bgeo.sc to keep them.",
            (int)attributes);
}

mn_status mn_stl_write(mn_context *ctx, const mn_geo *geo, const char *name, mn_safe_file *file)
{
    int64_t count;
    MN_TRY(count_triangles(ctx, geo, name, &count));
    say_what_is_left_out(ctx, geo);
    uint8_t head[HEADER] = "binary STL, metres";
    put_little(head + 80, (uint32_t)count);
    MN_TRY(mn_safe_file_write(file, head, sizeof head));
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++)
        for (int64_t v = starts[i] + 1; v + 1 < starts[i + 1]; v++) {
            const int64_t corner[3] = {points[starts[i]], points[v], points[v + 1]};
            uint8_t triangle[TRIANGLE] = {0};
            mn_vec3 x[3];
            for (int k = 0; k < 3; k++) {
                x[k] = mn_geo_position(geo, corner[k]);
                put_vector(triangle + 12 + 12 * k, x[k]);
            }
            put_vector(triangle, mn_normalize(mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]))));
            MN_TRY(mn_safe_file_write(file, triangle, sizeof triangle));
        }
    return MN_OK;
}
