// SPDX-License-Identifier: Apache-2.0
//
// Geometry with a bit of everything that a file must carry: kinds of primitive, owners, types, tuple sizes,
// hints, strings, groups, and numbers that are hard to print.
#ifndef MENISCUS_TESTS_UNIT_IO_RANDOM_GEOMETRY_H
#define MENISCUS_TESTS_UNIT_IO_RANDOM_GEOMETRY_H

#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "support/check.h"

typedef struct random_source {
    uint64_t state;
} random_source;

static inline uint64_t random_next(random_source *r)
{
    r->state ^= r->state << 13, r->state ^= r->state >> 7, r->state ^= r->state << 17;
    return r->state;
}

static inline int64_t random_below(random_source *r, int64_t end)
{
    return (int64_t)(random_next(r) % (uint64_t)end);
}

/// Any bit pattern but NaN, whose payload text does not keep; now and then one of the odd ones.
static inline float random_float(random_source *r)
{
    static const float odd[] = {0.0f, -0.0f, 1e-45f, -3.4028235e38f, INFINITY, -INFINITY, 0.1f, 16777217.0f};
    if (random_below(r, 8) == 0) return odd[random_below(r, 8)];
    const uint32_t bits = (uint32_t)random_next(r);
    float value;
    memcpy(&value, &bits, sizeof value);
    return isnan(value) ? 1.0f : value;
}

static inline double random_double(random_source *r)
{
    static const double odd[] = {0.0, -0.0, 5e-324, -1.7976931348623157e308, 0.1, 9007199254740993.0};
    if (random_below(r, 8) == 0) return odd[random_below(r, 6)];
    const uint64_t bits = random_next(r);
    double value;
    memcpy(&value, &bits, sizeof value);
    return isnan(value) ? 1.0 : value;
}

static inline void random_values(random_source *r, mn_geo *geo, mn_attribute *attribute)
{
    static const char *const strings[] = {
        "", "drop", "a \"quoted\" \\ string", "tab\tline\nend", "wässrig", "\x01 control"};
    const int64_t count = mn_attribute_count(attribute) * mn_attribute_size(attribute);
    void *data = mn_attribute_write(geo, attribute);
    // Some attributes are the same in whole pages.
    const bool constant = random_below(r, 4) == 0;
    for (int64_t i = 0; i < count; i++) {
        const bool again = constant && i >= mn_attribute_size(attribute);
        const int64_t from = again ? i - mn_attribute_size(attribute) : i;
        switch (mn_attribute_type(attribute)) {
        case MN_F32:
            ((float *)data)[i] = again ? ((float *)data)[from] : random_float(r);
            break;
        case MN_F64:
            ((double *)data)[i] = again ? ((double *)data)[from] : random_double(r);
            break;
        case MN_I32:
            ((int32_t *)data)[i] = again ? ((int32_t *)data)[from] : (int32_t)random_next(r);
            break;
        case MN_I64:
            ((int64_t *)data)[i] = again ? ((int64_t *)data)[from] : (int64_t)random_next(r);
            break;
        default:
            if (random_below(r, 3) > 0)
                mn_attribute_set_string(geo, attribute, i / mn_attribute_size(attribute),
                                        (int32_t)(i % mn_attribute_size(attribute)),
                                        strings[random_below(r, 6)]);
        }
    }
}

static inline void random_attributes(mn_context *ctx, random_source *r, mn_geo *geo)
{
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++)
        for (int type = 0; type < MN_TYPE_COUNT; type++) {
            char name[32];
            mn_attribute *attribute;
            snprintf(name, sizeof name, "%s_%s", mn_type_name((mn_type)type), owner % 2 ? "wet" : "dry");
            check_ok(ctx, mn_geo_add_attribute(
                              geo, (mn_owner)owner, name, (mn_type)type, 1 + (int32_t)random_below(r, 5),
                              type == MN_STRING ? MN_HINT_NONE : (mn_hint)random_below(r, MN_HINT_COUNT),
                              &attribute));
            random_values(r, geo, attribute);
        }
}

static inline void random_groups(mn_context *ctx, random_source *r, mn_geo *geo)
{
    for (int owner = 0; owner < MN_DETAIL; owner++)
        for (int g = 0; g < 3; g++) {
            char name[32];
            mn_group *group;
            snprintf(name, sizeof name, "group %d", g);
            check_ok(ctx, mn_geo_add_group(geo, (mn_owner)owner, name, &group));
            uint8_t *members = mn_group_write(geo, group);
            for (int64_t i = 0; i < mn_geo_count(geo, (mn_owner)owner); i++)
                members[i] = g == 0 ? 1 : g == 1 ? random_below(r, 2) == 0 : i / 7 % 3 == 0;
        }
}

/// `points` of them, and primitives on them when there are enough; the caller frees it.
static inline mn_geo *random_geometry(mn_context *ctx, uint64_t seed, int64_t points)
{
    random_source r = {seed * 2654435761u + 88172645463325252u};
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, points, NULL));
    float *positions = mn_geo_write_positions(geo);
    for (int64_t i = 0; i < 3 * points; i++) positions[i] = random_float(&r);
    for (int part = 0; points >= 4 && part < 6; part++) {
        enum { MOST = 40 };
        int32_t counts[MOST];
        int64_t vertices[MOST * 6], total = 0;
        const mn_primitive_kind kind = (mn_primitive_kind)random_below(&r, MN_VOLUME);
        const int64_t count = random_below(&r, points < MOST ? points : MOST);
        const bool uniform = random_below(&r, 2) == 0;
        for (int64_t i = 0; i < count; i++) {
            counts[i] = kind == MN_TETRAHEDRON ? 4 : 3 + (int32_t)(uniform ? 1 : random_below(&r, 3));
            for (int32_t v = 0; v < counts[i]; v++) vertices[total++] = random_below(&r, points);
        }
        check_ok(ctx, mn_geo_add_primitives(geo, kind, count, counts, 0, vertices, NULL));
    }
    random_attributes(ctx, &r, geo);
    random_groups(ctx, &r, geo);
    return geo;
}

#endif
