// SPDX-License-Identifier: Apache-2.0
//
// Geometry with something of everything, for tests of what must be kept.
#ifndef MENISCUS_TESTS_UNIT_GEO_RANDOM_GEO_H
#define MENISCUS_TESTS_UNIT_GEO_RANDOM_GEO_H

#include "base/random.h"
#include "meniscus/context.h"
#include "meniscus/geo.h"
#include "support/check.h"

/// `points` points, about as many polygons, polylines and tetrahedra on them, every attribute type on every
/// owner, a group on each. MN_OK or MN_ERROR_MEMORY.
static inline mn_status random_geo_try(mn_context *ctx, uint64_t seed, int64_t points, mn_geo **out)
{
    static const char *const words[] = {"drop", "film", "", "thread", "ring"};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(done, status, mn_geo_create(ctx, &geo));
    MN_TRY_TO(done, status, mn_geo_add_points(geo, points, NULL));
    float *positions = mn_geo_write_positions(geo);
    for (int64_t i = 0; i < 3 * points; i++) positions[i] = (float)mn_random_normal(seed, (uint64_t)i, 0);
    for (int64_t i = 0; i + 6 < points; i += 2) {
        const int64_t polygon[] = {i, i + 3, i + 1, i + 5}, tet[] = {i, i + 1, i + 2, i + 3},
                      line[] = {i + 6, i};
        const int32_t length = 3 + (int32_t)(i / 2 % 2);
        MN_TRY_TO(done, status, mn_geo_add_primitives(geo, MN_POLYGON, 1, &length, 0, polygon, NULL));
        if (i % 4 == 0)
            MN_TRY_TO(done, status, mn_geo_add_primitives(geo, MN_TETRAHEDRON, 1, NULL, 4, tet, NULL));
        if (i % 6 == 0)
            MN_TRY_TO(done, status, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 2, line, NULL));
    }
    for (int owner = 0; owner < MN_OWNER_COUNT; owner++) {
        const int64_t count = mn_geo_count(geo, (mn_owner)owner);
        for (int type = 0; type < MN_TYPE_COUNT; type++) {
            char name[32];
            snprintf(name, sizeof name, "%s_%s", mn_owner_name((mn_owner)owner), mn_type_name((mn_type)type));
            mn_attribute *attribute;
            const int32_t size = 1 + type % 3;
            MN_TRY_TO(done, status,
                      mn_geo_add_attribute(geo, (mn_owner)owner, name, (mn_type)type, size, MN_HINT_NONE,
                                           &attribute));
            for (int64_t i = 0; i < count * size; i++) {
                const double r = 1e6 * mn_random_normal(seed + 1, (uint64_t)i, (uint32_t)(owner * 16 + type));
                if (type == MN_STRING) {
                    MN_TRY_TO(done, status,
                              mn_attribute_set_string(geo, attribute, i / size, (int32_t)(i % size),
                                                      words[(uint64_t)fabs(r) % 5]));
                    continue;
                }
                void *data = mn_attribute_write(geo, attribute);
                if (type == MN_F32) ((float *)data)[i] = (float)r;
                if (type == MN_F64) ((double *)data)[i] = r;
                if (type == MN_I32) ((int32_t *)data)[i] = (int32_t)r;
                if (type == MN_I64) ((int64_t *)data)[i] = (int64_t)(1e10 * r);
            }
        }
        if (owner == MN_DETAIL || count == 0) continue;
        mn_group *group;
        MN_TRY_TO(done, status, mn_geo_add_group(geo, (mn_owner)owner, "every_third", &group));
        uint8_t *members = mn_group_write(geo, group);
        for (int64_t i = 0; i < count; i += 3) members[i] = 1;
    }
    *out = geo;
    return MN_OK;
done:
    mn_geo_free(geo);
    *out = NULL;
    return status;
}

static inline mn_geo *random_geo(mn_context *ctx, uint64_t seed, int64_t points)
{
    mn_geo *geo;
    check_ok(ctx, random_geo_try(ctx, seed, points, &geo));
    return geo;
}

#endif
