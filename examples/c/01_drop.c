// SPDX-License-Identifier: Apache-2.0
//
// A drop of water pulled long oscillates under surface tension. Prints its height over its width, frame by
// frame.
//
//   cc 01_drop.c -lmeniscus -lm -lpthread
#include <meniscus/meniscus.h>

#include <stdio.h>
#include <stdlib.h>

// The inside of an ellipsoid with these half axes: negative inside, positive outside.
static const mn_vec3 axes = {0.0016, 0.0026, 0.0016};

static void distance(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 p = {x[i].x / axes.x, x[i].y / axes.y, x[i].z / axes.z};
        distances[i] = (mn_norm(p) - 1) * axes.x;
    }
}

// Every function that can fail gives a status; the context has the sentence.
static void check(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

int main(void)
{
    mn_context *ctx = mn_context_create(NULL);
    const double dx = 0.0004;

    // Particles, eight to a cell of the grid.
    mn_fill_def fill = mn_fill_default_def();
    fill.dx = dx;
    const mn_region region = {NULL, distance, {{-0.002, -0.003, -0.002}, {0.002, 0.003, 0.002}}};
    mn_vec3_array positions = {0};
    check(ctx, mn_fill(ctx, &fill, &region, &positions));

    // The liquid: SI units everywhere, defaults for what is not set.
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = dx, def.sigma = 0.072, def.density = 1000, def.viscosity = 0.001;
    def.gravity = mn_v3(0, 0, 0);
    mn_mpm *drop;
    check(ctx, mn_mpm_create(ctx, &def, &drop));
    check(ctx, mn_mpm_add(drop, &(mn_mpm_source){.count = positions.count, .position = positions.data}));
    mn_array_free(ctx, &positions);

    mn_mpm_point *points = malloc(sizeof *points * (size_t)mn_mpm_count(drop));
    for (int frame = 0; frame <= 8; frame++) {
        if (frame > 0) check(ctx, mn_mpm_advance(drop, NULL, 0.0015));
        check(ctx, mn_mpm_get_points(drop, points));
        mn_vec3 reach = {0, 0, 0};
        for (int64_t i = 0; i < mn_mpm_count(drop); i++) {
            const mn_vec3 p = points[i].position;
            if (p.x > reach.x) reach.x = p.x;
            if (p.y > reach.y) reach.y = p.y;
        }
        printf("%5.1f ms: height over width %.2f\n", 1.5 * frame, reach.y / reach.x);
    }
    free(points);
    mn_mpm_free(drop);
    mn_context_free(ctx);
    return 0;
}
