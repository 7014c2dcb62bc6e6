// SPDX-License-Identifier: Apache-2.0
//
// The header of a .ply file.
#include "plugin/io/ply.h"

#include <stdio.h>
#include <string.h>

static const struct {
    const char *old_name, *new_name;
    size_t bytes;
} types[MN_PLY_TYPE_COUNT] = {
    {"char", "int8", 1}, {"uchar", "uint8", 1}, {"short", "int16", 2},   {"ushort", "uint16", 2},
    {"int", "int32", 4}, {"uint", "uint32", 4}, {"float", "float32", 4}, {"double", "float64", 8},
};

size_t mn_ply_type_bytes(mn_ply_type type)
{
    return types[type].bytes;
}

const char *mn_ply_type_name(mn_ply_type type)
{
    return types[type].old_name;
}

void mn_ply_component_name(const char *attribute, int32_t size, int32_t component,
                           char name[MN_PLY_NAME + 16])
{
    static const struct {
        const char *attribute, *components[3];
    } known[] = {{"P", {"x", "y", "z"}},
                 {"N", {"nx", "ny", "nz"}},
                 {"Cd", {"red", "green", "blue"}},
                 {"v", {"vx", "vy", "vz"}}};
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (size == 3 && strcmp(attribute, known[i].attribute) == 0) {
            snprintf(name, MN_PLY_NAME + 16, "%s", known[i].components[component]);
            return;
        }
    if (size == 1)
        snprintf(name, MN_PLY_NAME + 16, "%s", attribute);
    else
        snprintf(name, MN_PLY_NAME + 16, "%s_%d", attribute, (int)component);
}

void mn_ply_free_header(mn_context *ctx, mn_ply_header *header)
{
    for (int32_t i = 0; i < MN_PLY_ELEMENTS; i++) mn_array_free(ctx, &header->elements[i].properties);
    mn_array_free(ctx, &header->remarks);
}

static mn_status next_word(mn_text *text, const char *what, mn_word *word)
{
    if (mn_text_word(text, word)) return MN_OK;
    return mn_text_fail(text, MN_ERROR_FORMAT, "the header ends where %s should be", what);
}

static mn_status read_name(mn_text *text, const char *what, char name[MN_PLY_NAME])
{
    mn_word word;
    MN_TRY(next_word(text, what, &word));
    if (!mn_word_copy(word, name, MN_PLY_NAME))
        return mn_text_fail(text, MN_ERROR_FORMAT, "%s has more than %d characters", what, MN_PLY_NAME - 1);
    return MN_OK;
}

static mn_status read_type(mn_text *text, mn_word word, mn_ply_type *type)
{
    for (int i = 0; i < MN_PLY_TYPE_COUNT; i++)
        if (mn_word_is(word, types[i].old_name) || mn_word_is(word, types[i].new_name)) {
            *type = (mn_ply_type)i;
            return MN_OK;
        }
    return mn_text_fail(text, MN_ERROR_FORMAT, "'%.*s' is not a type that .ply has",
                        word.length < 40 ? (int)word.length : 40, word.begin);
}

static mn_status read_format(mn_text *text, mn_ply_header *header)
{
    mn_word word, version;
    MN_TRY(next_word(text, "the format", &word));
    MN_TRY(next_word(text, "the version", &version));
    if (!mn_word_is(version, "1.0"))
        return mn_text_fail(text, MN_ERROR_UNSUPPORTED, "only version 1.0 of .ply is known");
    static const char *const names[] = {"ascii", "binary_little_endian", "binary_big_endian"};
    for (int i = 0; i < 3; i++)
        if (mn_word_is(word, names[i])) {
            header->encoding = (mn_ply_encoding)i;
            return MN_OK;
        }
    return mn_text_fail(text, MN_ERROR_FORMAT,
                        "the format is none of ascii, binary_little_endian and binary_big_endian");
}

static mn_status read_element(mn_text *text, mn_ply_header *header)
{
    if (header->element_count == MN_PLY_ELEMENTS)
        return mn_text_fail(text, MN_ERROR_UNSUPPORTED, "there are more than %d elements", MN_PLY_ELEMENTS);
    mn_ply_element *element = &header->elements[header->element_count];
    mn_word word;
    MN_TRY(read_name(text, "an element's name", element->name));
    MN_TRY(next_word(text, "a count", &word));
    MN_TRY(mn_text_integer(text, word, &element->count));
    if (element->count < 0)
        return mn_text_fail(text, MN_ERROR_FORMAT, "element '%s' has a negative count", element->name);
    header->element_count++;
    return MN_OK;
}

static mn_status read_property(mn_text *text, mn_ply_header *header)
{
    if (header->element_count == 0)
        return mn_text_fail(text, MN_ERROR_FORMAT, "a property stands before any element");
    mn_ply_element *element = &header->elements[header->element_count - 1];
    if (element->properties.count == MN_PLY_PROPERTIES)
        return mn_text_fail(text, MN_ERROR_UNSUPPORTED, "there are more than %d properties",
                            MN_PLY_PROPERTIES);
    mn_ply_property property = {{0}, MN_PLY_F32, false, MN_PLY_U8};
    mn_word word;
    MN_TRY(next_word(text, "a type", &word));
    property.is_list = mn_word_is(word, "list");
    if (property.is_list) {
        MN_TRY(next_word(text, "a type", &word));
        MN_TRY(read_type(text, word, &property.count_type));
        if (property.count_type >= MN_PLY_F32)
            return mn_text_fail(text, MN_ERROR_FORMAT, "a list is counted by a real number");
        MN_TRY(next_word(text, "a type", &word));
    }
    MN_TRY(read_type(text, word, &property.type));
    MN_TRY(read_name(text, "a property's name", property.name));
    for (int64_t i = 0; i < element->properties.count; i++)
        if (strcmp(element->properties.data[i].name, property.name) == 0)
            return mn_text_fail(text, MN_ERROR_FORMAT, "element '%s' has two properties '%s'", element->name,
                                property.name);
    return mn_array_push(text->ctx, &element->properties, &property);
}

// The index of a word among the names that `name_of` gives; -1 when it is none of them.
static int index_of(mn_word word, int count, const char *(*name_of)(int))
{
    for (int i = 0; i < count; i++)
        if (mn_word_is(word, name_of(i))) return i;
    return -1;
}

static const char *owner_name(int i)
{
    return mn_owner_name((mn_owner)i);
}
static const char *type_name(int i)
{
    return mn_type_name((mn_type)i);
}
static const char *hint_name(int i)
{
    return mn_hint_name((mn_hint)i);
}

// A comment of ours; one that does not parse is a comment like any other.
static bool read_remark(mn_text *text, mn_ply_remark *remark)
{
    mn_word word, name;
    if (!mn_text_word(text, &word) || !mn_word_is(word, "meniscus") || !mn_text_word(text, &word))
        return false;
    remark->what = mn_word_is(word, "attribute") ? 'a'
                   : mn_word_is(word, "group")   ? 'g'
                   : mn_word_is(word, "detail")  ? 'd'
                                                 : 0;
    remark->owner = MN_DETAIL;
    if (!remark->what) return false;
    if (remark->what != 'd') {
        const int owner = mn_text_word(text, &word) ? index_of(word, MN_DETAIL, owner_name) : -1;
        if (owner < 0) return false;
        remark->owner = (mn_owner)owner;
    }
    if (!mn_text_word(text, &name) || !mn_word_copy(name, remark->name, MN_PLY_NAME)) return false;
    if (remark->what == 'g') return true;
    const int type = mn_text_word(text, &word) ? index_of(word, MN_STRING, type_name) : -1;
    int64_t size = 0;
    if (type < 0 || !mn_text_word(text, &word) || mn_text_integer(text, word, &size) != MN_OK || size < 1 ||
        size > 64)
        return false;
    const int hint = mn_text_word(text, &word) ? index_of(word, MN_HINT_COUNT, hint_name) : -1;
    if (hint < 0) return false;
    remark->type = (mn_type)type, remark->size = (int32_t)size, remark->hint = (mn_hint)hint;
    for (int32_t i = 0; remark->what == 'd' && i < remark->size; i++)
        if (!mn_text_word(text, &word) || mn_text_real(text, word, &remark->values[i]) != MN_OK) return false;
    return true;
}

mn_status mn_ply_read_header(mn_text *text, mn_ply_header *header)
{
    mn_word word;
    bool has_format = false;
    if (!mn_text_word(text, &word) || !mn_word_is(word, "ply"))
        return mn_text_fail(text, MN_ERROR_FORMAT, "the file does not begin with 'ply'");
    while (mn_text_next_line(text)) {
        if (!mn_text_word(text, &word)) continue;
        if (mn_word_is(word, "end_header")) {
            if (!has_format) return mn_text_fail(text, MN_ERROR_FORMAT, "the header names no format");
            // The data begins right after this line's end, which ascii readers may skip but binary ones must
            // hit.
            if (text->at < text->end && *text->at == '\r') text->at++;
            if (text->at == text->end || *text->at != '\n')
                return mn_text_fail(text, MN_ERROR_FORMAT, "the header does not end its line");
            text->at++, text->line++;
            return MN_OK;
        }
        if (mn_word_is(word, "comment")) {
            mn_ply_remark remark = {0};
            if (read_remark(text, &remark)) MN_TRY(mn_array_push(text->ctx, &header->remarks, &remark));
            mn_text_rest(text);
        } else if (mn_word_is(word, "obj_info")) {
            mn_text_rest(text);
        } else if (mn_word_is(word, "format")) {
            MN_TRY(read_format(text, header));
            has_format = true;
        } else if (mn_word_is(word, "element")) {
            MN_TRY(read_element(text, header));
        } else if (mn_word_is(word, "property")) {
            MN_TRY(read_property(text, header));
        } else {
            return mn_text_fail(text, MN_ERROR_FORMAT, "'%.*s' has no meaning in a header",
                                word.length < 40 ? (int)word.length : 40, word.begin);
        }
    }
    return mn_text_fail(text, MN_ERROR_FORMAT, "the file ends inside its header");
}
