// SPDX-License-Identifier: Apache-2.0
//
// The values of an attribute, in all the ways that Houdini writes them:
//
//   tuples       [[x, y, z], ...]                          text
//   arrays       [[x, x, ...], [y, y, ...], ...]           text, mostly for one component
//   rawpagedata  pages of 1024 elements in one array; each page holds slices of the tuple one after the other
//                ("packing": 3, 1 is xyz xyz ... w w ...), and a slice that is constant over the page holds
//                one value only ("constantpageflags", an array of bools per slice, empty for none)
//
// Memory is taken in full only where the file is long enough to fill it, and otherwise grows with the data.
#include "plugin/io/bgeo_read.h"

#include <stdio.h>
#include <string.h>

enum { GROWTH = 1 << 16 }; // elements asked for at a time when the count is not to be trusted

typedef struct layout {
    int64_t size, page_size;
    int32_t slices;
    int32_t widths[MN_BGEO_TUPLE_MAX];
    MN_ARRAY(uint8_t) flags;                ///< of all slices
    int64_t flag_starts[MN_BGEO_TUPLE_MAX]; ///< in flags; -1 when the slice has no constant page
    bool has_storage, has_flags, has_data;
} layout;

static size_t element_bytes(const mn_bgeo_attribute *attribute)
{
    return mn_type_bytes(attribute->type) * (size_t)attribute->size;
}

static void describe(const mn_bgeo_attribute *attribute, char *what, size_t size)
{
    snprintf(what, size, "the %s attribute '%s'", mn_owner_name(attribute->owner), attribute->name);
}

static mn_status fail_count(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute, const char *relation)
{
    char what[MN_BGEO_WHAT_SIZE];
    describe(attribute, what, sizeof what);
    return mn_json_fail(reader->json, "%s should have %lld values of %d numbers but has %s", what,
                        (long long)attribute->elements, (int)attribute->size, relation);
}

static mn_status make_room(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, int64_t count)
{
    return mn_array_reserve_bytes(reader->ctx, &attribute->data, &attribute->capacity,
                                  element_bytes(attribute), count);
}

/// A constant page is a few bytes in the file and thousands in memory, so a small file could fill any
/// machine. Without a limit by hand, constant pages may take so much, or so many times what has been read.
bool mn_bgeo_may_grow(const mn_bgeo_reader *reader, double more)
{
    enum { FLOOR = 256 << 20, FACTOR = 64 };
    bool given;
    (void)mn_context_memory_limit(reader->ctx, &given);
    const double read = (double)reader->json->source->passed;
    return given || reader->constant_bytes + more <= FLOOR + FACTOR * read;
}

static mn_status fail_growth(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute)
{
    return mn_fail(
        reader->ctx, MN_ERROR_MEMORY,
        "%s: the %s attribute '%s' repeats a few values %lld times, far more than a file of this size "
        "should need in memory. If you trust it, allow it with --memory or MENISCUS_MEMORY.",
        reader->json->source->name, mn_owner_name(attribute->owner), attribute->name,
        (long long)attribute->elements);
}

/// Where the values are to go, once type and size are known.
static mn_status choose_place(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, const layout *layout)
{
    const bool is_position = attribute->owner == MN_POINT && strcmp(attribute->name, "P") == 0;
    const int64_t left = mn_source_left(reader->json->source);
    // Each number takes a byte at least, unless pages are constant.
    const bool backed = !layout->has_flags && attribute->elements <= left / attribute->size;
    const bool plain = attribute->type != MN_STRING && !(is_position && attribute->size != 3);
    const bool points_stand =
        mn_geo_point_count(reader->geo) == attribute->elements &&
        mn_bgeo_may_grow(
            reader, layout->has_flags ? (double)attribute->elements * (double)element_bytes(attribute) : 0);
    if (attribute->owner == MN_POINT && plain && attribute->elements > 0 && (points_stand || backed)) {
        if (!points_stand) MN_TRY(mn_geo_add_points(reader->geo, attribute->elements, NULL));
        mn_attribute *made;
        MN_TRY(mn_geo_add_attribute(reader->geo, MN_POINT, attribute->name, attribute->type, attribute->size,
                                    attribute->hint, &made));
        attribute->data = mn_attribute_write(reader->geo, made);
        if (!attribute->data) return MN_ERROR_MEMORY;
        attribute->capacity = attribute->elements;
        attribute->in_place = true;
        return MN_OK;
    }
    return backed ? make_room(reader, attribute, attribute->elements) : MN_OK;
}

static void *element_at(const mn_bgeo_attribute *attribute, int64_t i)
{
    return attribute->data + mn_bytes(i, element_bytes(attribute));
}

static mn_json_number number_type(const mn_bgeo_attribute *attribute)
{
    return attribute->type == MN_STRING ? MN_JSON_I32 : (mn_json_number)attribute->type;
}

// ---- the three ways ----

/// `count` elements that lie one after the other, at the end of what is there.
static mn_status read_elements(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, int64_t count)
{
    while (count > 0) {
        int64_t some = attribute->capacity - attribute->count, got;
        if (some < GROWTH) some = GROWTH;
        if (some > count) some = count;
        MN_TRY(make_room(reader, attribute, attribute->count + some));
        MN_TRY(mn_json_numbers(reader->json, number_type(attribute), element_at(attribute, attribute->count),
                               some * attribute->size, &got));
        if (got < some * attribute->size) return fail_count(reader, attribute, "fewer");
        attribute->count += some;
        count -= some;
    }
    return MN_OK;
}

static mn_status expect_end(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute)
{
    MN_TRY(mn_json_next(reader->json));
    return reader->json->kind == MN_JSON_END ? MN_OK : fail_count(reader, attribute, "more");
}

static mn_status read_tuples(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute)
{
    char what[MN_BGEO_WHAT_SIZE];
    for (;;) {
        MN_TRY(mn_json_next(reader->json));
        if (reader->json->kind == MN_JSON_END) break;
        if (attribute->count == attribute->elements) return fail_count(reader, attribute, "more");
        if (reader->json->kind != MN_JSON_ARRAY) return fail_count(reader, attribute, "something else");
        MN_TRY(make_room(reader, attribute, attribute->count + 1));
        int64_t got;
        MN_TRY(mn_json_numbers(reader->json, number_type(attribute), element_at(attribute, attribute->count),
                               attribute->size, &got));
        if (got == attribute->size) MN_TRY(mn_json_next(reader->json));
        if (got != attribute->size || reader->json->kind != MN_JSON_END) {
            describe(attribute, what, sizeof what);
            return mn_json_fail(reader->json, "value %lld of %s should have %d numbers but has %s",
                                (long long)attribute->count, what, (int)attribute->size,
                                got < attribute->size ? "fewer" : "more");
        }
        attribute->count++;
    }
    return attribute->count == attribute->elements ? MN_OK : fail_count(reader, attribute, "fewer");
}

/// Puts `count` values of `width` components each into the tuples from element `first` on.
static void scatter(mn_bgeo_attribute *attribute, int64_t first, int64_t count, int32_t component,
                    int32_t width, const void *values, bool constant)
{
    const size_t number = mn_type_bytes(attribute->type), piece = number * (size_t)width;
    unsigned char *to = element_at(attribute, first);
    const unsigned char *from = values;
    to += number * (size_t)component;
    for (int64_t i = 0; i < count; i++) {
        memcpy(to, from, piece);
        to += element_bytes(attribute);
        if (!constant) from += piece;
    }
}

/// One array per component.
static mn_status read_arrays(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute)
{
    enum { CHUNK = 1024 };
    double values[CHUNK]; // of any type
    for (int32_t c = 0; c < attribute->size; c++) {
        MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "the values of a component"));
        int64_t done = 0, got = 0;
        while (done < attribute->elements) {
            const int64_t left = attribute->elements - done, some = left < CHUNK ? left : CHUNK;
            MN_TRY(mn_json_numbers(reader->json, number_type(attribute), values, some, &got));
            if (got < some) return fail_count(reader, attribute, "fewer");
            MN_TRY(make_room(reader, attribute, done + some));
            scatter(attribute, done, some, c, 1, values, false);
            done += some;
        }
        MN_TRY(expect_end(reader, attribute));
    }
    attribute->count = attribute->elements;
    return expect_end(reader, attribute);
}

static mn_status read_page(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, const layout *layout,
                           int64_t page, int64_t count, void *scratch)
{
    const int64_t first = attribute->count;
    if (!mn_bgeo_may_grow(reader, 0)) return fail_growth(reader, attribute);
    MN_TRY(make_room(reader, attribute, first + count));
    int32_t component = 0;
    for (int32_t s = 0; s < layout->slices; s++) {
        const int32_t width = layout->widths[s];
        const bool constant =
            layout->flag_starts[s] >= 0 && layout->flags.data[layout->flag_starts[s] + page];
        const int64_t wanted = constant ? width : width * count;
        int64_t got;
        MN_TRY(mn_json_numbers(reader->json, number_type(attribute), scratch, wanted, &got));
        if (got < wanted) return fail_count(reader, attribute, "fewer");
        scatter(attribute, first, count, component, width, scratch, constant);
        if (constant)
            reader->constant_bytes += (double)(width * count) * (double)mn_type_bytes(attribute->type);
        component += width;
    }
    attribute->count += count;
    return MN_OK;
}

static mn_status read_pages(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, const layout *layout)
{
    MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "rawpagedata"));
    if (layout->slices == 1 && !layout->has_flags) {
        MN_TRY(read_elements(reader, attribute, attribute->elements));
        return expect_end(reader, attribute);
    }
    if (layout->page_size <= 0) return mn_json_fail(reader->json, "the page size is missing");
    const size_t scratch_bytes = mn_bytes(layout->page_size, element_bytes(attribute));
    void *scratch = mn_allocate(reader->ctx, scratch_bytes);
    mn_status status = scratch ? MN_OK : MN_ERROR_MEMORY;
    for (int64_t page = 0; status == MN_OK && attribute->count < attribute->elements; page++) {
        const int64_t left = attribute->elements - attribute->count;
        status = read_page(reader, attribute, layout, page,
                           left < layout->page_size ? left : layout->page_size, scratch);
    }
    mn_release(reader->ctx, scratch, scratch_bytes);
    return status == MN_OK ? expect_end(reader, attribute) : status;
}

// ---- what comes before the values ----

static mn_status read_packing(mn_bgeo_reader *reader, layout *layout)
{
    MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "packing"));
    int64_t got, sum = 0;
    MN_TRY(mn_json_numbers(reader->json, MN_JSON_I32, layout->widths, MN_BGEO_TUPLE_MAX, &got));
    if (got == MN_BGEO_TUPLE_MAX) MN_TRY(mn_json_next(reader->json));
    bool good = reader->json->kind == MN_JSON_END && got > 0;
    for (int64_t i = 0; i < got; i++) {
        good = good && layout->widths[i] > 0 && layout->widths[i] <= MN_BGEO_TUPLE_MAX;
        sum += layout->widths[i];
    }
    if (!good || sum != layout->size) return mn_json_fail(reader->json, "the packing does not fit the size");
    layout->slices = (int32_t)got;
    return MN_OK;
}

/// The flags of one slice; none at all means that no page is constant.
static mn_status read_slice_flags(mn_bgeo_reader *reader, layout *layout, int32_t slice, int64_t pages)
{
    enum { CHUNK = 4096 };
    const int64_t start = layout->flags.count;
    int64_t got;
    do {
        const int64_t at = layout->flags.count;
        MN_TRY(mn_array_reserve(reader->ctx, &layout->flags, at + CHUNK));
        MN_TRY(mn_json_numbers(reader->json, MN_JSON_U8, layout->flags.data + at, CHUNK, &got));
        layout->flags.count = at + got;
    } while (reader->json->kind != MN_JSON_END);
    const int64_t count = layout->flags.count - start;
    if (count != 0 && count != pages)
        return mn_json_fail(reader->json, "there should be %lld page flags but there are %lld",
                            (long long)pages, (long long)count);
    layout->flag_starts[slice] = count > 0 ? start : -1;
    return MN_OK;
}

static mn_status read_flags(mn_bgeo_reader *reader, const mn_bgeo_attribute *attribute, layout *layout)
{
    if (layout->page_size <= 0) return mn_json_fail(reader->json, "the page size is missing");
    const int64_t pages = (attribute->elements + layout->page_size - 1) / layout->page_size;
    layout->flags.count = 0;
    MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "constantpageflags"));
    for (int32_t s = 0; s < layout->slices; s++) {
        MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "the page flags of a slice"));
        MN_TRY(read_slice_flags(reader, layout, s, pages));
    }
    layout->has_flags = true;
    MN_TRY(mn_json_next(reader->json));
    return reader->json->kind == MN_JSON_END ? MN_OK
                                             : mn_json_fail(reader->json, "there are too many page flags");
}

/// Narrow types are widened to what mn_geo has.
static mn_status read_storage(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, layout *layout)
{
    static const struct {
        const char *name;
        mn_type type;
    } storages[] = {
        {"fpreal32", MN_F32}, {"fpreal64", MN_F64}, {"fpreal16", MN_F32}, {"int32", MN_I32},
        {"int64", MN_I64},    {"int8", MN_I32},     {"uint8", MN_I32},    {"int16", MN_I32},
        {"uint16", MN_I32},   {"bool", MN_I32},
    };
    MN_TRY(mn_json_expect_string(reader->json, "the storage", MN_BGEO_NAME_MAX));
    for (size_t i = 0; i < sizeof storages / sizeof *storages; i++) {
        if (!mn_json_is(reader->json, storages[i].name)) continue;
        if (attribute->type != MN_STRING) attribute->type = storages[i].type;
        layout->has_storage = true;
        return MN_OK;
    }
    return mn_fail(reader->ctx, MN_ERROR_UNSUPPORTED,
                   "%s: the %s attribute '%s' is stored as '%.40s', which is not known.",
                   reader->json->source->name, mn_owner_name(attribute->owner), attribute->name,
                   reader->json->string.data);
}

/// P is f32 here, whatever the file has.
static void settle_type(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute)
{
    if (attribute->owner != MN_POINT || strcmp(attribute->name, "P") != 0) return;
    if (attribute->type == MN_F64)
        mn_log(reader->ctx, MN_LOG_WARNING, "%s: P has 64 bits; it is read with 32.",
               reader->json->source->name);
    attribute->type = MN_F32;
}

static mn_status read_data(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, layout *layout,
                           mn_status (*read)(mn_bgeo_reader *, mn_bgeo_attribute *))
{
    layout->has_data = true;
    if (layout->size < 1 || !layout->has_storage)
        return mn_json_fail(reader->json, "size and storage must come before the values");
    settle_type(reader, attribute);
    MN_TRY(choose_place(reader, attribute, layout));
    if (!read) return read_pages(reader, attribute, layout);
    MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "the values"));
    return read(reader, attribute);
}

static mn_status read_size(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, layout *layout)
{
    MN_TRY(mn_json_expect_int(reader->json, "the size of a value", &layout->size));
    if (layout->size < 1 || layout->size > MN_BGEO_TUPLE_MAX)
        return mn_fail(reader->ctx, MN_ERROR_UNSUPPORTED,
                       "%s: the %s attribute '%s' has %lld numbers per value; 1 to %d can be read.",
                       reader->json->source->name, mn_owner_name(attribute->owner), attribute->name,
                       (long long)layout->size, MN_BGEO_TUPLE_MAX);
    attribute->size = (int32_t)layout->size;
    layout->slices = 1;
    layout->widths[0] = attribute->size;
    return MN_OK;
}

static mn_status read_page_size(mn_bgeo_reader *reader, layout *layout)
{
    MN_TRY(mn_json_expect_int(reader->json, "the page size", &layout->page_size));
    if (layout->page_size >= 1 && layout->page_size <= MN_BGEO_PAGE_MAX) return MN_OK;
    return mn_json_fail(reader->json, "the page size %lld is not between 1 and %d",
                        (long long)layout->page_size, MN_BGEO_PAGE_MAX);
}

static mn_status read_key(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute, layout *layout)
{
    mn_json *json = reader->json;
    // The flags depend on what stands before them, and the values on all.
    const bool is_flags = mn_json_is(json, "constantpageflags"), is_data = mn_json_is(json, "rawpagedata");
    if (layout->has_data || (layout->has_flags && !is_data))
        return mn_json_fail(json, "'%.40s' must come before the values", json->string.data);
    if (is_flags) return read_flags(reader, attribute, layout);
    if (is_data) return read_data(reader, attribute, layout, NULL);
    if (mn_json_is(json, "size")) return read_size(reader, attribute, layout);
    if (mn_json_is(json, "storage")) return read_storage(reader, attribute, layout);
    if (mn_json_is(json, "pagesize")) return read_page_size(reader, layout);
    if (mn_json_is(json, "packing")) return read_packing(reader, layout);
    if (mn_json_is(json, "tuples")) return read_data(reader, attribute, layout, read_tuples);
    if (mn_json_is(json, "arrays")) return read_data(reader, attribute, layout, read_arrays);
    return mn_json_fail(json, "'%.40s' is not known among the values of an attribute", json->string.data);
}

mn_status mn_bgeo_read_values(mn_bgeo_reader *reader, mn_bgeo_attribute *attribute)
{
    layout layout = {0};
    for (int i = 0; i < MN_BGEO_TUPLE_MAX; i++) layout.flag_starts[i] = -1;
    MN_TRY(mn_json_expect(reader->json, MN_JSON_ARRAY, "the values of an attribute"));
    mn_status status;
    for (;;) {
        bool more;
        MN_TRY_TO(done, status, mn_json_next_key(reader->json, &more));
        if (!more) break;
        MN_TRY_TO(done, status, read_key(reader, attribute, &layout));
    }
    if (attribute->count != attribute->elements) status = fail_count(reader, attribute, "none");
done:
    mn_array_free(reader->ctx, &layout.flags);
    return status;
}
