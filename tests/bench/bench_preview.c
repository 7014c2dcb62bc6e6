// SPDX-License-Identifier: Apache-2.0
//
// A picture of a million triangles, and of a million points; beside it the least that any renderer does: one
// pass over the corners that projects them, on one thread.
#include "base/parallel.h"
#include "base/random.h"
#include "meniscus/meniscus.h"
#include "plugin/host/network/network.h"
#include "plugin/preview/preview.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "bench_preview: %s\n", mn_context_message(ctx));
    exit(1);
}

/// A torus with ripples: `n` x `n` quads as two triangles each.
static mn_geo *make_torus(mn_context *ctx, int64_t n)
{
    mn_geo *geo;
    must(ctx, mn_geo_create(ctx, &geo));
    must(ctx, mn_geo_add_points(geo, n * n, NULL));
    float *p = mn_geo_write_positions(geo);
    mn_attribute *v;
    must(ctx, mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    float *velocity = mn_attribute_write(geo, v);
    int64_t *corners = malloc(sizeof *corners * (size_t)(6 * n * n)), *c = corners;
    for (int64_t i = 0; i < n; i++)
        for (int64_t j = 0; j < n; j++) {
            const double a = 6.283185307179586 * (double)i / (double)n;
            const double b = 6.283185307179586 * (double)j / (double)n;
            const double r = 0.35 + 0.02 * sin(12 * a) * cos(9 * b), ring = 1 + r * cos(b);
            float *x = p + 3 * (i * n + j);
            x[0] = (float)(ring * cos(a)), x[1] = (float)(r * sin(b)), x[2] = (float)(ring * sin(a));
            velocity[3 * (i * n + j)] = (float)(1 + sin(3 * a));
            const int64_t i1 = (i + 1) % n, j1 = (j + 1) % n;
            const int64_t quad[6] = {i * n + j, i * n + j1, i1 * n + j1, i * n + j, i1 * n + j1, i1 * n + j};
            for (int k = 0; k < 6; k++) *c++ = quad[k];
        }
    must(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 2 * n * n, NULL, 3, corners, NULL));
    free(corners);
    return geo;
}

static mn_geo *make_cloud(mn_context *ctx, int64_t count)
{
    mn_geo *geo;
    must(ctx, mn_geo_create(ctx, &geo));
    must(ctx, mn_geo_add_points(geo, count, NULL));
    float *p = mn_geo_write_positions(geo);
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 u = mn_random_unit3(1, (uint64_t)i, 0), d = mn_random_direction(2, (uint64_t)i, 0);
        const mn_vec3 x = mn_scale(cbrt(u.x), d);
        p[3 * i] = (float)x.x, p[3 * i + 1] = (float)x.y, p[3 * i + 2] = (float)x.z;
    }
    return geo;
}

/// Seconds on the wall, and of all processors together in *processor: on a machine with other work the first
/// is longer than half of the second.
static double render(mn_context *ctx, const mn_geo *geo, const char *path, double *processor)
{
    double best = INFINITY;
    *processor = INFINITY;
    const mn_preview_def def = mn_preview_default_def();
    for (int round = 0; round < 3; round++) {
        const double begun = mn_seconds();
        const clock_t begun_clock = clock();
        mn_preview_survey *survey;
        mn_preview_view view;
        mn_picture picture;
        must(ctx, mn_preview_survey_create(ctx, NULL, &survey));
        must(ctx, mn_preview_survey_add(survey, geo));
        must(ctx, mn_preview_survey_view(survey, &def, &view));
        must(ctx, mn_preview_render(ctx, mn_host_services(), &geo, 1, &def, &view, NULL, &picture));
        if (path) must(ctx, mn_picture_write_png(&picture, path, false));
        mn_picture_free(&picture);
        mn_preview_survey_free(survey);
        best = fmin(best, mn_seconds() - begun);
        *processor = fmin(*processor, (double)(clock() - begun_clock) / CLOCKS_PER_SEC);
    }
    return best;
}

/// Every corner through a camera and into a bounding box: what cannot be left out.
static double baseline(const mn_geo *geo)
{
    double best = INFINITY;
    volatile float sink = 0;
    for (int round = 0; round < 3; round++) {
        const double begun = mn_seconds();
        const float *p = mn_geo_positions(geo);
        const int64_t *point = mn_geo_vertex_points(geo);
        const int64_t corners = point ? mn_geo_vertex_count(geo) : mn_geo_point_count(geo);
        float low = 1e30f, high = -1e30f;
        for (int64_t i = 0; i < corners; i++) {
            const float *x = p + 3 * (point ? point[i] : i);
            const float s = (0.8f * x[0] - 0.6f * x[2]) / (4 + 0.6f * x[0] + 0.8f * x[2]);
            const float t = x[1] / (4 + 0.6f * x[0] + 0.8f * x[2]);
            low = fminf(low, fminf(s, t)), high = fmaxf(high, fmaxf(s, t));
        }
        sink = high - low;
        best = fmin(best, mn_seconds() - begun);
    }
    (void)sink;
    return best;
}

int main(int argc, char **argv)
{
    mn_context *ctx = mn_context_create(NULL);
    if (!ctx) return 1;
    const mn_preview_def def = mn_preview_default_def();
    printf("preview, %d x %d pixels, %d samples each, %d workers, PNG %s\n", (int)def.width, (int)def.height,
           (int)(def.samples * def.samples), (int)mn_worker_count(ctx), argc > 1 ? "included" : "left out");
    printf("%-18s %10s %12s %12s %14s\n", "scene", "seconds", "processor s", "project s", "elements/s");
    mn_geo *torus = make_torus(ctx, 708), *cloud = make_cloud(ctx, 1000000);
    double processor;
    const double mesh = render(ctx, torus, argc > 1 ? argv[1] : NULL, &processor);
    printf("%-18s %10.3f %12.3f %12.4f %14.3g\n", "1.0 M triangles", mesh, processor, baseline(torus),
           2 * 708.0 * 708.0 / mesh);
    const double points = render(ctx, cloud, argc > 2 ? argv[2] : NULL, &processor);
    printf("%-18s %10.3f %12.3f %12.4f %14.3g\n", "1.0 M points", points, processor, baseline(cloud),
           1e6 / points);
    mn_geo_free(torus);
    mn_geo_free(cloud);
    mn_context_free(ctx);
    return 0;
}
