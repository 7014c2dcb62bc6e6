// SPDX-License-Identifier: Apache-2.0
//
// Speed of core/space and core/mesh, each next to a simple baseline in the same run: sorting, neighbours, and
// the surface of 200,000 particles. Best of several; the machine's multiply-add rate comes first, so that
// numbers from a busy or another machine can be compared.
#include "base/random.h"
#include "levelset/level_set.h"
#include "meniscus/meniscus.h"
#include "mesh/isosurface.h"
#include "space/neighbours.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { REPEATS = 9 };

static double best(double now, double before)
{
    return now < before ? now : before;
}

/// Of the whole process: what a busy machine does not change much.
static double processor_seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double multiply_add_rate(void)
{
    typedef double vec __attribute__((vector_size(32)));
    double fastest = 1e300;
    volatile double sink;
    for (int r = 0; r < REPEATS; r++) {
        vec a[8];
        for (int i = 0; i < 8; i++) a[i] = (vec){i, 1, 2, 3};
        const vec m = {0.999, 0.999, 0.999, 0.999}, b = {1e-3, 1e-3, 1e-3, 1e-3};
        const double start = mn_seconds();
        for (int k = 0; k < 1000000; k++)
            for (int i = 0; i < 8; i++) a[i] = a[i] * m + b;
        fastest = best(mn_seconds() - start, fastest);
        for (int i = 0; i < 8; i++) sink = a[i][0];
    }
    (void)sink;
    return 64e6 / fastest * 1e-9;
}

/// A ball, 8 points in a unit cell, in the order of cells.
static mn_vec3 *make_ball(double radius, int64_t *count)
{
    const int32_t n = (int32_t)ceil(radius + 1) * 2;
    mn_vec3 *x = malloc(sizeof *x * 8 * (size_t)n * (size_t)n * (size_t)n);
    uint64_t id = 0;
    *count = 0;
    for (int32_t i = -n; i < n; i++)
        for (int32_t j = -n; j < n; j++)
            for (int32_t k = -n; k < n; k++) {
                const mn_vec3 u = mn_random_unit3(1, id++, 0);
                const mn_vec3 p = mn_scale(0.5, mn_v3(i + u.x, j + u.y, k + u.z));
                if (mn_norm(p) < radius) x[(*count)++] = p;
            }
    return x;
}

// ---- baselines ----

/// Neighbours by linked lists in a dense grid, one candidate after the other: what one would write first.
static int64_t linked_list_neighbours(const mn_vec3 *x, int64_t count, double radius)
{
    const int32_t n = (int32_t)(1.0 / radius) + 1;
    int32_t *head = malloc(sizeof *head * (size_t)n * (size_t)n * (size_t)n),
            *next = malloc(sizeof *next * (size_t)count);
    for (int64_t c = 0; c < (int64_t)n * n * n; c++) head[c] = -1;
    for (int64_t i = 0; i < count; i++) {
        const int64_t c =
            ((int64_t)(x[i].x / radius) * n + (int64_t)(x[i].y / radius)) * n + (int64_t)(x[i].z / radius);
        next[i] = head[c];
        head[c] = (int32_t)i;
    }
    int64_t found = 0, room = 40 * count;
    int32_t *list = malloc(sizeof *list * (size_t)room);
    for (int64_t i = 0; i < count; i++) {
        const int32_t a = (int32_t)(x[i].x / radius), b = (int32_t)(x[i].y / radius),
                      c = (int32_t)(x[i].z / radius);
        for (int32_t p = a > 0 ? a - 1 : 0; p <= a + 1 && p < n; p++)
            for (int32_t q = b > 0 ? b - 1 : 0; q <= b + 1 && q < n; q++)
                for (int32_t s = c > 0 ? c - 1 : 0; s <= c + 1 && s < n; s++)
                    for (int32_t j = head[((int64_t)p * n + q) * n + s]; j >= 0; j = next[j])
                        if (j != i && mn_norm2(mn_sub(x[j], x[i])) < radius * radius && found < room)
                            list[found++] = j;
    }
    free(head), free(next), free(list);
    return found;
}

/// Union of spheres on a dense grid: every particle lowers every node within its radius and a cell.
static double dense_union(const mn_vec3 *x, int64_t count, double half, double dx, double radius)
{
    const int32_t n = (int32_t)(2 * half / dx) + 1;
    double *phi = malloc(sizeof *phi * (size_t)n * (size_t)n * (size_t)n);
    const double start = mn_seconds();
    for (int64_t i = 0; i < (int64_t)n * n * n; i++) phi[i] = 2 * dx;
    for (int64_t p = 0; p < count; p++) {
        const double reach = (radius + dx) / dx;
        const double u[3] = {(x[p].x + half) / dx, (x[p].y + half) / dx, (x[p].z + half) / dx};
        for (int32_t i = (int32_t)ceil(u[0] - reach); i <= u[0] + reach; i++)
            for (int32_t j = (int32_t)ceil(u[1] - reach); j <= u[1] + reach; j++)
                for (int32_t k = (int32_t)ceil(u[2] - reach); k <= u[2] + reach; k++) {
                    double *at = phi + ((int64_t)i * n + j) * n + k;
                    const double d = dx * mn_norm(mn_v3(i - u[0], j - u[1], k - u[2])) - radius;
                    if (d < *at) *at = d;
                }
    }
    const double seconds = mn_seconds() - start;
    free(phi);
    return seconds;
}

// ---- what is measured ----

static void bench_neighbours(int32_t workers)
{
    enum { N = 1000000 };
    mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    mn_neighbours *n;
    mn_neighbour_table table = {0};
    if (mn_neighbours_create(ctx, &n) != MN_OK) exit(1);
    mn_vec3 *x = malloc(sizeof *x * N);
    for (int i = 0; i < N; i++) x[i] = mn_random_unit3(1, (uint64_t)i, 0);
    const double radius = cbrt(30.0 * 3.0 / (4.0 * M_PI * N));
    double build = 1e300, find = 1e300, simple = 1e300, processor = 1e300;
    for (int r = 0; r < REPEATS; r++) {
        const double a = mn_seconds(), used = processor_seconds();
        if (mn_neighbours_build(n, mn_points_of(x, N), radius) != MN_OK) exit(1);
        const double b = mn_seconds();
        if (mn_neighbours_find(n, radius, NULL, &table) != MN_OK) exit(1);
        build = best(b - a, build);
        find = best(mn_seconds() - b, find);
        processor = best(processor_seconds() - used, processor);
    }
    printf("neighbours, %d workers: 1,000,000 random points, %.1f each, build %.1f ms, find %.1f ms: %.2f M "
           "points/s, %.2f per processor second\n",
           (int)workers, (double)table.start[N] / N, build * 1e3, find * 1e3, N / (build + find) * 1e-6,
           N / processor * 1e-6);
    if (workers == 1) {
        const double a = mn_seconds();
        const int64_t found = linked_list_neighbours(x, N, radius);
        simple = mn_seconds() - a;
        printf("  linked lists: %.2f M points/s (%lld found); ours is %.1f times as fast\n",
               N / simple * 1e-6, (long long)found, simple / (build + find));
    }
    free(x);
    mn_neighbours_free(n);
    mn_context_free(ctx);
}

static void bench_surface(int32_t workers, double dx, const mn_vec3 *x, int64_t count)
{
    mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    mn_level_set *set;
    mn_isosurface *iso;
    if (mn_level_set_create(ctx, &set) != MN_OK || mn_isosurface_create(ctx, &iso) != MN_OK) exit(1);
    mn_union_def def = mn_union_default_def();
    def.dx = dx;
    def.radius = 0.867;
    double t[7] = {1e300, 1e300, 1e300, 1e300, 1e300, 1e300, 1e300}, guess = 0.6;
    int32_t triangles = 0;
    for (int r = 0; r < REPEATS; r++) {
        double now[7];
        mn_status status = MN_OK;
        now[0] = mn_seconds();
        status |= mn_level_set_union(set, &def, mn_points_of(x, count));
        now[1] = mn_seconds();
        status |= mn_level_set_redistance(set);
        now[2] = mn_seconds();
        status |= mn_level_set_smooth(set, 1);
        now[3] = mn_seconds();
        status |= mn_level_set_find_bodies(set);
        now[4] = mn_seconds();
        const double volume = (double)count / 8;
        if (mn_level_set_get(set).body_count == 1) status |= mn_level_set_calibrate(set, &volume, &guess);
        now[5] = mn_seconds();
        status |= mn_isosurface_run(iso, mn_level_set_blocks(set), mn_level_set_get(set).phi, 0.0,
                                    MN_ISO_TETRAHEDRA);
        now[6] = mn_seconds();
        if (status != MN_OK) exit(1);
        for (int k = 0; k < 6; k++) t[k] = best(now[k + 1] - now[k], t[k]);
        t[6] = best(now[6] - now[0], t[6]);
        triangles = mn_isosurface_mesh(iso).triangle_count;
    }
    printf("surface of %lld particles at dx = %g, %d workers, ms: union %.1f, redistance %.1f, smooth %.1f, "
           "bodies %.1f, "
           "calibrate %.1f, isosurface %.1f (%d triangles); best of whole runs %.1f; union and isosurface "
           "%.1f\n",
           (long long)count, dx, (int)workers, t[0] * 1e3, t[1] * 1e3, t[2] * 1e3, t[3] * 1e3, t[4] * 1e3,
           t[5] * 1e3, (int)triangles, t[6] * 1e3, (t[0] + t[5]) * 1e3);
    mn_isosurface_free(iso);
    mn_level_set_free(set);
    mn_context_free(ctx);
}

int main(void)
{
    setvbuf(stdout, NULL, _IOLBF, 0);
    printf("multiply-add rate of one core, as this program is compiled: %.1f GFLOP/s\n", multiply_add_rate());
    bench_neighbours(1);
    bench_neighbours(2);
    int64_t count;
    mn_vec3 *x = make_ball(18.14, &count);
    printf("dense union of spheres, one thread: %.1f ms at dx = 0.5\n",
           dense_union(x, count, 22.0, 0.5, 0.867) * 1e3);
    for (int32_t workers = 1; workers <= 2; workers++) {
        bench_surface(workers, 1.0, x, count);
        bench_surface(workers, 0.5, x, count);
    }
    free(x);
    return 0;
}
