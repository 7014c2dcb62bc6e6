// SPDX-License-Identifier: Apache-2.0
//
// Reads .ply, ascii and binary of both byte orders: vertices, faces and edges, any scalar property as an
// attribute (see ply.h for names). Counts are checked against the bytes that are there before memory is taken
// for them.
#include "plugin/io/ply.h"

#include <stdio.h>
#include <string.h>

// Where a property goes.
typedef struct slot {
    mn_attribute *attribute; ///< NULL: a position, a corner list, an edge's end or a group
    mn_group *group;
    int32_t component; ///< of the attribute, of the position, or which end of the edge
    double scale;      ///< 1/255 for colours in bytes
    enum { TO_ATTRIBUTE, TO_GROUP, TO_POSITION, TO_CORNERS, TO_END } to;
} slot;

typedef struct ply {
    mn_text text;
    mn_ply_header header;
    mn_geo *geo;
    MN_ARRAY(slot) slots; ///< of the element at work
    MN_ARRAY(int64_t) corners;
} ply;

// ---- values ----

static mn_status read_binary(ply *p, mn_ply_type type, double *value)
{
    unsigned char bytes[8];
    const size_t size = mn_ply_type_bytes(type);
    if ((size_t)(p->text.end - p->text.at) < size)
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: the file ends inside its data; it is truncated.",
                       p->text.name);
    for (size_t i = 0; i < size; i++)
        bytes[i] = (unsigned char)p->text.at[p->header.encoding == MN_PLY_BIG ? size - 1 - i : i];
    p->text.at += size;
    union {
        int8_t i8;
        uint8_t u8;
        int16_t i16;
        uint16_t u16;
        int32_t i32;
        uint32_t u32;
        float f32;
        double f64;
    } u;
    memcpy(&u, bytes, size);
    const double values[] = {type == MN_PLY_I8 ? u.i8 : 0,           type == MN_PLY_U8 ? u.u8 : 0,
                             type == MN_PLY_I16 ? u.i16 : 0,         type == MN_PLY_U16 ? u.u16 : 0,
                             type == MN_PLY_I32 ? u.i32 : 0,         type == MN_PLY_U32 ? u.u32 : 0,
                             type == MN_PLY_F32 ? (double)u.f32 : 0, type == MN_PLY_F64 ? u.f64 : 0};
    *value = values[type];
    return MN_OK;
}

static mn_status read_value(ply *p, mn_ply_type type, double *value)
{
    if (p->header.encoding != MN_PLY_ASCII) return read_binary(p, type, value);
    mn_word word;
    while (!mn_text_word(&p->text, &word))
        if (!mn_text_next_line(&p->text))
            return mn_text_fail(&p->text, MN_ERROR_FORMAT, "the file ends inside its data; it is truncated");
    return mn_text_real(&p->text, word, value);
}

// The count must be one that the bytes left can hold: a value takes its size, or two characters as text.
static mn_status check_count(ply *p, const mn_ply_element *element)
{
    const size_t left = (size_t)(p->text.end - p->text.at);
    size_t least = 0;
    for (int64_t i = 0; i < element->properties.count; i++) {
        const mn_ply_property *property = &element->properties.data[i];
        least += p->header.encoding == MN_PLY_ASCII
                     ? 2
                     : mn_ply_type_bytes(property->is_list ? property->count_type : property->type);
    }
    if (least == 0 && element->count > 0)
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: element '%s' has no properties.", p->text.name,
                       element->name);
    if (least > 0 && (uint64_t)element->count > (left + 1) / least)
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT,
                       "%s: %lld of '%s' are announced, but the file is too short for them.", p->text.name,
                       (long long)element->count, element->name);
    return MN_OK;
}

// ---- where properties go ----

static mn_type type_of(mn_ply_type type)
{
    return type == MN_PLY_F32 ? MN_F32 : type == MN_PLY_F64 ? MN_F64 : type == MN_PLY_U32 ? MN_I64 : MN_I32;
}

static mn_hint hint_of(const char *name, int32_t size)
{
    if (size != 3) return MN_HINT_NONE;
    if (strcmp(name, "N") == 0) return MN_HINT_NORMAL;
    if (strcmp(name, "Cd") == 0) return MN_HINT_COLOR;
    return strcmp(name, "v") == 0 ? MN_HINT_VECTOR : MN_HINT_NONE;
}

static mn_status set_attribute(ply *p, mn_owner owner, const mn_ply_property *properties, slot *slots,
                               const char *name, mn_type type, int32_t size, mn_hint hint)
{
    mn_attribute *attribute;
    // Colours in whole numbers are fractions of the largest.
    double scale = 1;
    const bool colour = strcmp(name, "Cd") == 0 || strcmp(name, "Alpha") == 0;
    if (colour && type == MN_I32 && properties[0].type == MN_PLY_U8) scale = 1.0 / 255, type = MN_F32;
    if (colour && type == MN_I32 && properties[0].type == MN_PLY_U16) scale = 1.0 / 65535, type = MN_F32;
    MN_TRY(mn_geo_add_attribute(p->geo, owner, name, type, size, hint, &attribute));
    for (int32_t i = 0; i < size; i++)
        slots[i] = (slot){.attribute = attribute, .component = i, .scale = scale, .to = TO_ATTRIBUTE};
    return MN_OK;
}

// How many properties from here on are the components of one attribute, and what it is called.
static int32_t find_tuple(const mn_ply_property *properties, int64_t count, char name[MN_PLY_NAME])
{
    static const char *const known[] = {"N", "Cd", "v"};
    char part[MN_PLY_NAME + 16];
    for (size_t k = 0; k < sizeof known / sizeof *known; k++) {
        int32_t i = 0;
        for (; i < 3 && i < count; i++) {
            mn_ply_component_name(known[k], 3, i, part);
            if (strcmp(part, properties[i].name) != 0 || properties[i].type != properties[0].type) break;
        }
        if (i == 3) {
            snprintf(name, MN_PLY_NAME, "%s", known[k]);
            return 3;
        }
    }
    snprintf(name, MN_PLY_NAME, "%s", properties[0].name);
    if (strcmp(name, "alpha") == 0) snprintf(name, MN_PLY_NAME, "Alpha");
    const size_t length = strlen(name);
    if (length < 3 || strcmp(name + length - 2, "_0") != 0) return 1;
    name[length - 2] = '\0';
    int32_t size = 0;
    for (; size < 64 && size < count; size++) {
        snprintf(part, sizeof part, "%s_%d", name, (int)size);
        if (strcmp(part, properties[size].name) != 0 || properties[size].type != properties[0].type) break;
    }
    if (size < 2) snprintf(name, MN_PLY_NAME, "%s", properties[0].name);
    return size < 2 ? 1 : size;
}

// The remark that describes the properties from here on, if the file has one: its components carry the very
// names.
static const mn_ply_remark *find_remark(const ply *p, mn_owner owner, const mn_ply_property *properties,
                                        int64_t count)
{
    char part[MN_PLY_NAME + 16];
    for (int64_t r = 0; r < p->header.remarks.count; r++) {
        const mn_ply_remark *remark = &p->header.remarks.data[r];
        if (remark->owner != owner || remark->what == 'd') continue;
        if (remark->what == 'g') {
            snprintf(part, sizeof part, "group_%s", remark->name);
            if (strcmp(part, properties[0].name) == 0) return remark;
            continue;
        }
        int32_t i = 0;
        for (; i < remark->size && i < count; i++) {
            mn_ply_component_name(remark->name, remark->size, i, part);
            if (strcmp(part, properties[i].name) != 0) break;
        }
        if (i == remark->size) return remark;
    }
    return NULL;
}

// Properties that are the element's own, not attributes of it: true when this one was.
static mn_status place_own(ply *p, const mn_ply_element *element, int64_t i, bool *placed)
{
    const mn_ply_property *property = &element->properties.data[i];
    slot *s = &p->slots.data[i];
    *placed = true;
    if (property->is_list) {
        if (strcmp(element->name, "face") == 0 &&
            (strcmp(property->name, "vertex_indices") == 0 || strcmp(property->name, "vertex_index") == 0)) {
            *s = (slot){.to = TO_CORNERS};
            return MN_OK;
        }
        return mn_fail(p->text.ctx, MN_ERROR_UNSUPPORTED, "%s: the list '%s' of element '%s' cannot be read.",
                       p->text.name, property->name, element->name);
    }
    static const char *const axes[] = {"x", "y", "z"}, *const ends[] = {"vertex1", "vertex2"};
    for (int k = 0; k < 3 && strcmp(element->name, "vertex") == 0; k++)
        if (strcmp(property->name, axes[k]) == 0) {
            *s = (slot){.to = TO_POSITION, .component = k};
            if (property->type == MN_PLY_F64 && k == 0)
                mn_log(p->text.ctx, MN_LOG_WARNING, "%s: positions are kept in single precision.",
                       p->text.name);
            return MN_OK;
        }
    for (int k = 0; k < 2 && strcmp(element->name, "edge") == 0; k++)
        if (strcmp(property->name, ends[k]) == 0) {
            *s = (slot){.to = TO_END, .component = k};
            return MN_OK;
        }
    *placed = false;
    return MN_OK;
}

static mn_status place_properties(ply *p, const mn_ply_element *element, mn_owner owner)
{
    const mn_ply_property *properties = element->properties.data;
    const int64_t count = element->properties.count;
    MN_TRY(mn_array_resize(p->text.ctx, &p->slots, count));
    for (int64_t i = 0; i < count;) {
        bool placed;
        MN_TRY(place_own(p, element, i, &placed));
        if (placed) {
            i++;
            continue;
        }
        int64_t scalars = 1; // a tuple ends before the next list
        while (i + scalars < count && !properties[i + scalars].is_list) scalars++;
        const mn_ply_remark *remark = find_remark(p, owner, properties + i, scalars);
        if (remark && remark->what == 'g') {
            p->slots.data[i] = (slot){.to = TO_GROUP};
            MN_TRY(mn_geo_add_group(p->geo, owner, remark->name, &p->slots.data[i].group));
            i++;
        } else if (remark) {
            MN_TRY(set_attribute(p, owner, properties + i, p->slots.data + i, remark->name, remark->type,
                                 remark->size, remark->hint));
            i += remark->size;
        } else {
            char name[MN_PLY_NAME];
            const int32_t size = find_tuple(properties + i, scalars, name);
            MN_TRY(set_attribute(p, owner, properties + i, p->slots.data + i, name,
                                 type_of(properties[i].type), size, hint_of(name, size)));
            i += size;
        }
    }
    return MN_OK;
}

// ---- elements ----

static mn_status store(ply *p, const slot *s, int64_t row, double value)
{
    if (s->to == TO_POSITION) {
        mn_geo_write_positions(p->geo)[3 * row + s->component] = (float)value;
        return MN_OK;
    }
    if (s->to == TO_GROUP) {
        mn_group_write(p->geo, s->group)[row] = value != 0;
        return MN_OK;
    }
    void *data = mn_attribute_write(p->geo, s->attribute);
    const int64_t at = row * mn_attribute_size(s->attribute) + s->component;
    value *= s->scale;
    const mn_type type = mn_attribute_type(s->attribute);
    if (type == MN_F32)
        ((float *)data)[at] = (float)value;
    else if (type == MN_F64)
        ((double *)data)[at] = value;
    else if (!(value >= -9007199254740992.0 && value <= 9007199254740992.0) ||
             (type == MN_I32 && (value < INT32_MIN || value > INT32_MAX)))
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: %g is not a value that attribute '%s' can take.",
                       p->text.name, value, mn_attribute_name(s->attribute));
    else if (type == MN_I32)
        ((int32_t *)data)[at] = (int32_t)value;
    else
        ((int64_t *)data)[at] = (int64_t)value;
    return MN_OK;
}

static mn_status read_vertices(ply *p, const mn_ply_element *element)
{
    MN_TRY(mn_geo_add_points(p->geo, element->count, NULL));
    MN_TRY(place_properties(p, element, MN_POINT));
    for (int64_t row = 0; row < element->count; row++)
        for (int64_t i = 0; i < element->properties.count; i++) {
            double value;
            MN_TRY(read_value(p, element->properties.data[i].type, &value));
            MN_TRY(store(p, &p->slots.data[i], row, value));
        }
    return MN_OK;
}

static mn_status check_corner(ply *p, double value, int64_t *point)
{
    if (!(value >= 0 && value < (double)mn_geo_point_count(p->geo)))
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: vertex %g is referred to, but there are only %lld.",
                       p->text.name, value, (long long)mn_geo_point_count(p->geo));
    *point = (int64_t)value;
    return MN_OK;
}

static mn_status read_corners(ply *p, const mn_ply_property *property)
{
    double count;
    MN_TRY(read_value(p, property->count_type, &count));
    if (!(count >= 3 && count <= 1e9))
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: a face cannot have %g corners.", p->text.name,
                       count);
    p->corners.count = 0;
    for (int64_t k = 0; k < (int64_t)count; k++) {
        double value;
        int64_t point;
        MN_TRY(read_value(p, property->type, &value));
        MN_TRY(check_corner(p, value, &point));
        MN_TRY(mn_array_push(p->text.ctx, &p->corners, &point));
    }
    return MN_OK;
}

// Faces or edges: a primitive a row, then its attributes.
static mn_status read_primitives(ply *p, const mn_ply_element *element, mn_primitive_kind kind)
{
    bool complete = false;
    MN_TRY(place_properties(p, element, MN_PRIMITIVE));
    int32_t ends = 0;
    for (int64_t i = 0; i < p->slots.count; i++) {
        complete = complete || p->slots.data[i].to == TO_CORNERS;
        ends += p->slots.data[i].to == TO_END;
    }
    if (!complete && ends < 2)
        return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: element '%s' does not say which vertices it joins.",
                       p->text.name, element->name);
    double *values = mn_allocate(p->text.ctx, mn_bytes(element->properties.count, sizeof *values));
    if (!values) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    for (int64_t row = 0; row < element->count && status == MN_OK; row++) {
        int64_t first;
        MN_TRY_TO(done, status, mn_array_resize(p->text.ctx, &p->corners, 2));
        for (int64_t i = 0; i < element->properties.count; i++) {
            const mn_ply_property *property = &element->properties.data[i];
            if (p->slots.data[i].to == TO_CORNERS) {
                MN_TRY_TO(done, status, read_corners(p, property));
                continue;
            }
            MN_TRY_TO(done, status, read_value(p, property->type, &values[i]));
            if (p->slots.data[i].to == TO_END)
                MN_TRY_TO(done, status,
                          check_corner(p, values[i], &p->corners.data[p->slots.data[i].component]));
        }
        const int32_t corners = (int32_t)p->corners.count;
        MN_TRY_TO(done, status, mn_geo_add_primitives(p->geo, kind, 1, &corners, 0, p->corners.data, &first));
        for (int64_t i = 0; i < element->properties.count; i++)
            if (p->slots.data[i].to == TO_ATTRIBUTE || p->slots.data[i].to == TO_GROUP)
                MN_TRY_TO(done, status, store(p, &p->slots.data[i], first, values[i]));
    }
done:
    mn_release(p->text.ctx, values, mn_bytes(element->properties.count, sizeof *values));
    return status;
}

static mn_status read_element(ply *p, const mn_ply_element *element)
{
    MN_TRY(check_count(p, element));
    if (strcmp(element->name, "vertex") == 0) {
        if (mn_geo_point_count(p->geo) > 0)
            return mn_fail(p->text.ctx, MN_ERROR_FORMAT, "%s: there are two elements 'vertex'.",
                           p->text.name);
        for (int64_t i = 0; i < element->properties.count; i++)
            if (element->properties.data[i].is_list)
                return mn_fail(p->text.ctx, MN_ERROR_UNSUPPORTED,
                               "%s: the list '%s' of element 'vertex' cannot be read.", p->text.name,
                               element->properties.data[i].name);
        return read_vertices(p, element);
    }
    if (strcmp(element->name, "face") == 0) return read_primitives(p, element, MN_POLYGON);
    if (strcmp(element->name, "edge") == 0) return read_primitives(p, element, MN_POLYLINE);
    if (element->count == 0) return MN_OK;
    return mn_fail(p->text.ctx, MN_ERROR_UNSUPPORTED,
                   "%s: the element '%s' cannot be read; only vertex, face and edge can.", p->text.name,
                   element->name);
}

static mn_status read_all(ply *p)
{
    MN_TRY(mn_ply_read_header(&p->text, &p->header));
    for (int32_t i = 0; i < p->header.element_count; i++) MN_TRY(read_element(p, &p->header.elements[i]));
    for (int64_t r = 0; r < p->header.remarks.count; r++) {
        const mn_ply_remark *remark = &p->header.remarks.data[r];
        mn_attribute *attribute;
        if (remark->what != 'd') continue;
        MN_TRY(mn_geo_add_attribute(p->geo, MN_DETAIL, remark->name, remark->type, remark->size, remark->hint,
                                    &attribute));
        MN_TRY(mn_attribute_set(p->geo, attribute, 0, 1, remark->values));
    }
    return MN_OK;
}

mn_status mn_ply_read_memory(mn_context *ctx, const void *bytes, size_t size, const char *name, mn_geo **geo)
{
    *geo = NULL;
    mn_plain_locale locale;
    MN_TRY(mn_plain_locale_begin(ctx, &locale));
    ply *p = mn_allocate_zero(ctx, sizeof *p);
    mn_status status = p ? MN_OK : MN_ERROR_MEMORY;
    if (p) {
        p->text =
            (mn_text){.ctx = ctx, .name = name, .at = bytes, .end = (const char *)bytes + size, .line = 1};
        status = mn_geo_create(ctx, &p->geo);
        if (status == MN_OK) status = read_all(p);
        if (status == MN_OK)
            *geo = p->geo;
        else
            mn_geo_free(p->geo);
        mn_ply_free_header(ctx, &p->header);
        mn_array_free(ctx, &p->slots);
        mn_array_free(ctx, &p->corners);
        mn_release(ctx, p, sizeof *p);
    }
    mn_plain_locale_end(&locale);
    return status;
}
