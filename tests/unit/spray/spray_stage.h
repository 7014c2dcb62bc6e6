// SPDX-License-Identifier: Apache-2.0
//
// A nozzle that moves round over a plane, and a shower out of it.
#ifndef MENISCUS_TESTS_UNIT_SPRAY_SPRAY_STAGE_H
#define MENISCUS_TESTS_UNIT_SPRAY_SPRAY_STAGE_H

#include "meniscus/collider.h"
#include "meniscus/spray.h"
#include "support/analytic_volume.h"
#include "support/check.h"

static const double frame_time = 1.0 / 24;

static const int64_t nozzle_triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};

typedef struct nozzle {
    mn_vec3 positions[4];
    mn_emitter source;
} nozzle;

static const mn_emitter *nozzle_at(nozzle *n, double frame)
{
    const double a = 0.3 * frame, s = 0.01;
    const mn_vec3 center = {0.5 * cos(a), 0.3, 0.5 * sin(a)};
    const mn_vec3 corners[4] = {{-s, 0, -s}, {-s, 0, s}, {s, 0, s}, {s, 0, -s}};
    for (int i = 0; i < 4; i++) n->positions[i] = mn_add(center, corners[i]);
    n->source = (mn_emitter){.point_count = 4, .positions = n->positions};
    n->source.triangle_count = 2;
    n->source.triangles = nozzle_triangles;
    return &n->source;
}

static inline mn_spray_def shower(void)
{
    mn_spray_def def = mn_spray_default_def();
    def.rate = 5000;
    def.speed = 3;
    def.speed_variation = 0.2;
    def.radius_variation = 0.5;
    def.life = 0.5;
    def.life_variation = 0.5;
    def.spread = 20;
    def.seed = 11;
    return def;
}

static inline mn_collider *floor_collider(mn_context *ctx, mn_geo **geo)
{
    check_ok(ctx, mn_geo_create(ctx, geo));
    check_ok(ctx, analytic_add(*geo, analytic_plane(0.01)));
    mn_collider_def def = mn_collider_default_def();
    def.geo = *geo;
    mn_collider *collider;
    check_ok(ctx, mn_collider_create(ctx, &def, &collider));
    return collider;
}

static inline uint64_t hash_of(const mn_spray *spray)
{
    int64_t count;
    const unsigned char *bytes = (const unsigned char *)mn_spray_drops(spray, &count);
    uint64_t h = 14695981039346656037u;
    for (int64_t i = 0; i < count * (int64_t)sizeof(mn_drop); i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

static inline mn_spray *run(mn_context *ctx, const mn_collider *collider, int from, int to, mn_spray *spray)
{
    nozzle n;
    if (!spray) {
        const mn_spray_def def = shower();
        check_ok(ctx, mn_spray_create(ctx, &def, &spray));
        check_ok(ctx, mn_spray_set_source(spray, nozzle_at(&n, from)));
    }
    for (int frame = from + 1; frame <= to; frame++) {
        const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame), .collider = collider};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    }
    return spray;
}

#endif
