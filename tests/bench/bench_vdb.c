// SPDX-License-Identifier: Apache-2.0
//
// Volumes: trilinear samples of a level set next to the same on a dense array, in one call and one by one;
// and the level set of a sphere of 100,000 triangles next to measuring each voxel of the band against each
// triangle's corners, which is run on a few voxels and extrapolated.
#include "base/parallel.h"
#include "base/random.h"
#include "meniscus/meniscus.h"
#include "plugin/vdb/vdb.h"

#include <stdio.h>
#include <stdlib.h>

enum { ROWS = 160, COLUMNS = 2 * ROWS, SAMPLES = 1 << 20, SIDE = 128 };
static const double voxel_size = 2.2 / SIDE;

static void check(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

/// A unit sphere of quads, two of whose rows are thin triangles at the poles.
static mn_geo *sphere(mn_context *ctx)
{
    mn_geo *geo;
    check(ctx, mn_geo_create(ctx, &geo));
    check(ctx, mn_geo_add_points(geo, (ROWS + 1) * COLUMNS, NULL));
    float *p = mn_geo_write_positions(geo);
    int64_t *corners = malloc(sizeof *corners * ROWS * COLUMNS * 4);
    const double pi = 3.14159265358979323846;
    for (int row = 0, n = 0; row <= ROWS; row++)
        for (int column = 0; column < COLUMNS; column++, n++) {
            const double theta = pi * row / ROWS, phi = 2 * pi * column / COLUMNS;
            p[3 * n] = (float)(sin(theta) * cos(phi));
            p[3 * n + 1] = (float)cos(theta);
            p[3 * n + 2] = (float)(-sin(theta) * sin(phi));
        }
    for (int64_t row = 0, n = 0; row < ROWS; row++)
        for (int64_t column = 0; column < COLUMNS; column++, n++) {
            const int64_t next = (column + 1) % COLUMNS;
            corners[4 * n] = row * COLUMNS + column;
            corners[4 * n + 1] = (row + 1) * COLUMNS + column;
            corners[4 * n + 2] = (row + 1) * COLUMNS + next;
            corners[4 * n + 3] = row * COLUMNS + next;
        }
    check(ctx, mn_geo_add_primitives(geo, MN_POLYGON, ROWS * COLUMNS, NULL, 4, corners, NULL));
    free(corners);
    return geo;
}

static void bench_conversion(mn_context *ctx, mn_volume *volume)
{
    mn_geo *geo = sphere(ctx);
    double start = mn_seconds();
    check(ctx, mn_vdb_from_mesh(ctx, geo, voxel_size, 3, "surface", volume));
    const double ours = mn_seconds() - start;
    const mn_volume_info info = mn_volume_get_info(*volume);

    enum { PROBES = 200 };
    const float *p = mn_geo_positions(geo);
    double sum = 0;
    start = mn_seconds();
    for (uint64_t i = 0; i < PROBES; i++) {
        const mn_vec3 x = mn_random_direction(1, i, 0);
        double nearest = INFINITY;
        for (int64_t k = 0; k < mn_geo_vertex_count(geo); k++) {
            const int64_t point = mn_geo_vertex_points(geo)[k];
            const double dx = x.x - (double)p[3 * point], dy = x.y - (double)p[3 * point + 1],
                         dz = x.z - (double)p[3 * point + 2];
            nearest = fmin(nearest, dx * dx + dy * dy + dz * dz);
        }
        sum += nearest;
    }
    const double naive = (mn_seconds() - start) / PROBES * (double)info.active_voxels;
    printf("mesh to level set, %d triangles, %lld voxels, %d workers\n", 2 * ROWS * COLUMNS,
           (long long)info.active_voxels, (int)mn_worker_count(ctx));
    printf("  %-34s %9.3f s  %8.2f Mvoxel/s\n", "ours (OpenVDB)", ours,
           (double)info.active_voxels / ours * 1e-6);
    printf("  %-34s %9.3f s  %8.0f times slower (%g)\n", "each voxel against each corner", naive,
           naive / ours, sum);
    mn_geo_free(geo);
}

static double dense_sample(const float *values, mn_vec3 x)
{
    const int i = (int)x.x, j = (int)x.y, k = (int)x.z;
    const double u = x.x - i, v = x.y - j, w = x.z - k;
    const float *c = values + i + SIDE * (j + SIDE * k);
    const double a = (double)c[0] + u * (double)(c[1] - c[0]),
                 b = (double)c[SIDE] + u * (double)(c[SIDE + 1] - c[SIDE]);
    const float *d = c + SIDE * SIDE;
    const double e = (double)d[0] + u * (double)(d[1] - d[0]),
                 f = (double)d[SIDE] + u * (double)(d[SIDE + 1] - d[SIDE]);
    const double lower = a + v * (b - a), upper = e + v * (f - e);
    return lower + w * (upper - lower);
}

static void report(const char *what, double seconds, double baseline)
{
    printf("  %-34s %9.1f Msample/s  %6.2f of dense\n", what, SAMPLES / seconds * 1e-6, baseline / seconds);
}

static void bench_sampling(mn_volume volume)
{
    mn_vec3 *positions = malloc(sizeof *positions * SAMPLES);
    double *values = malloc(sizeof *values * SAMPLES), sum = 0;
    float *dense = malloc(sizeof *dense * SIDE * SIDE * SIDE);
    for (int64_t i = 0; i < (int64_t)SIDE * SIDE * SIDE; i++) dense[i] = (float)i;
    for (uint64_t i = 0; i < SAMPLES; i++)
        positions[i] = mn_scale(0.96 + 0.08 * mn_random_unit(2, i, 3), mn_random_direction(2, i, 0));
    double start = mn_seconds();
    for (int64_t i = 0; i < SAMPLES; i++)
        sum += dense_sample(dense, mn_scale(1 / voxel_size, mn_add(positions[i], mn_v3(1.08, 1.08, 1.08))));
    const double baseline = mn_seconds() - start;
    start = mn_seconds();
    volume.ops->sample(volume.handle, SAMPLES, positions, values);
    const double together = mn_seconds() - start;
    start = mn_seconds();
    for (int64_t i = 0; i < SAMPLES; i++) sum += mn_volume_sample(volume, positions[i]);
    const double alone = mn_seconds() - start;
    printf("trilinear samples at random positions in the band, one thread (%g)\n", sum);
    report("dense array, no tree", baseline, baseline);
    report("all in one call", together, baseline);
    report("one call each", alone, baseline);
    free(positions);
    free(values);
    free(dense);
}

int main(void)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_volume volume;
    bench_conversion(ctx, &volume);
    bench_sampling(volume);
    mn_volume_release(&volume);
    mn_context_free(ctx);
    return 0;
}
