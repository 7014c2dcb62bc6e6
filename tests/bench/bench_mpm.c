// SPDX-License-Identifier: Apache-2.0
//
// Transfers and the implicit operator on a ball of particles at 8 per cell, as a fraction of the
// fused-multiply-add peak measured in the same run, beside a naive transfer; then whole steps of drops,
// explicit and implicit, and the memory they hold. bench_mpm [particles] [threads]
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/parallel.h"
#include "base/random.h"
#include "base/simd.h"
#include "meniscus/meniscus.h"
#include "mpm/step.h"

enum { ROUNDS = 7, LANES = 12 };

// Flops of one particle as the sums require them: vector multiply-adds of four lanes, counted in core/mpm.
//   scatter   54 in the inner sums (2 for each of 27 nodes), 3 (4 + 3 * 5) around them, 9 to centre them
//   gather    3 * 3 rows of 8, 5 more for each row, 7 for each plane
//   operator  18 for the weights, 39 for the divergence, 39 for the push
static const double scatter_flops = (54 + 57 + 9) * 8, gather_flops = (72 + 45 + 21) * 8;
static const double operator_flops = (18 + 39 + 39) * 8;

typedef double vec4 __attribute__((vector_size(32)));

static volatile double sink;

// Bytes held, for the memory of a step.
static _Atomic int64_t held;

static void *count_allocate(void *user, size_t size)
{
    (void)user;
    held += (int64_t)size;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void count_release(void *user, void *bytes, size_t size)
{
    (void)user;
    if (bytes) held -= (int64_t)size;
    free(bytes);
}

MN_MULTIVERSION
static mn_status fma_chunk(void *user, mn_range range)
{
    (void)user;
    vec4 sum[LANES];
    for (int i = 0; i < LANES; i++) sum[i] = (vec4){1, 2, 3, 4} * (double)(i + 1 + range.begin);
    const vec4 a = {0.999, 0.998, 0.997, 0.996}, b = {1e-3, 2e-3, 3e-3, 4e-3};
    for (int64_t k = 0; k < 4000000; k++)
#pragma GCC unroll 12
        for (int i = 0; i < LANES; i++) sum[i] = sum[i] * a + b;
    vec4 total = {0};
    for (int i = 0; i < LANES; i++) total += sum[i];
    sink = total[0] + total[1] + total[2] + total[3];
    return MN_OK;
}

static double fma_peak(mn_context *ctx)
{
    const int64_t chunks = mn_worker_count(ctx);
    double best = 1e30;
    for (int r = 0; r < 3; r++) {
        const double begun = mn_seconds();
        mn_parallel_for(ctx, chunks, 1, fma_chunk, NULL);
        best = fmin(best, mn_seconds() - begun);
    }
    return (double)chunks * 4000000.0 * LANES * 4 * 2 / best;
}

static void drop_samples(void *user, int32_t block, int32_t first, int32_t count,
                         const mn_mpm_sample *samples)
{
    (void)block;
    mn_mpm_particle *out = user;
    for (int32_t i = 0; i < count; i++) {
        out[first + i].v = samples[i].v;
        mn_mpm_set_affine(&out[first + i], samples[i].gradient);
    }
}

// The textbook loop, particles in random order, for comparison: one thread, no tiles, no blocks.
static double naive_scatter_seconds(const mn_mpm_particle *p, int64_t count, double dx, double radius)
{
    const int n = (int)(2 * radius / dx) + 8;
    mn_mpm_node *grid = calloc((size_t)n * (size_t)n * (size_t)n, sizeof *grid);
    if (!grid) return NAN;
    const double begun = mn_seconds();
    for (int64_t i = 0; i < count; i++) {
        double w[3][3];
        int base[3];
        for (int a = 0; a < 3; a++) {
            const double x = (p[i].axis[a].x + radius) / dx + 3.5;
            base[a] = (int)x;
            const double t = x - base[a];
            w[a][0] = 0.5 * (1 - t) * (1 - t), w[a][1] = 0.5 + t * (1 - t), w[a][2] = 0.5 * t * t;
        }
        const mn_mat3 affine = mn_mpm_affine(&p[i]);
        for (int a = 0; a < 27; a++) {
            const int ix = a / 9, iy = a / 3 % 3, iz = a % 3;
            const double weight = w[0][ix] * w[1][iy] * w[2][iz] * p[i].mass;
            mn_mpm_node *node = &grid[((base[0] + ix) * n + base[1] + iy) * n + base[2] + iz];
            const mn_vec3 r = mn_v3(ix * dx, iy * dx, iz * dx);
            node->mass += weight;
            node->v = mn_axpy(node->v, weight, mn_add(p[i].v, mn_m3_apply(affine, r)));
        }
    }
    const double seconds = mn_seconds() - begun;
    sink = grid[n].mass;
    free(grid);
    return seconds;
}

// ---- whole steps ----

// An ellipsoid, cut off by the floor when there is one, of so many particles on a side of a cell.
static mn_mpm *make_drop(mn_context *ctx, int64_t wanted, int per_side, mn_mpm_def def)
{
    const double h = def.dx / per_side, radius = h * cbrt((double)wanted * 0.75 / 3.14159265358979);
    const int reach = (int)(1.2 * radius / h) + 2;
    const size_t room = (size_t)(wanted + wanted / 2 + 1000);
    mn_vec3 *x = malloc(sizeof *x * room);
    double *mass = malloc(sizeof *mass * room);
    int64_t count = 0;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach; k++) {
                const uint64_t id =
                    ((uint64_t)(i + reach) * 65536 + (uint64_t)(j + reach)) * 65536 + (uint64_t)(k + reach);
                const mn_vec3 at = mn_scale(h, mn_add(mn_v3(i, j, k), mn_random_unit3(1, id, 0)));
                const double r2 = at.x * at.x / 1.44 + (at.y * at.y + at.z * at.z) * 1.2;
                const bool below = def.wall[2] != MN_MPM_OPEN && at.y < def.domain.min.y;
                if (r2 >= radius * radius || below) continue;
                mass[count] = def.density * h * h * h;
                x[count++] = at;
            }
    mn_mpm *mpm = NULL;
    const mn_mpm_source source = {.count = count, .position = x, .mass = mass};
    if (mn_mpm_create(ctx, &def, &mpm) != MN_OK || mn_mpm_add(mpm, &source) != MN_OK)
        fprintf(stderr, "%s\n", mn_context_message(ctx)), exit(1);
    free(x), free(mass);
    return mpm;
}

// Seconds of a step, phase by phase, and of one application of the implicit operator.
static void bench_step(mn_context *ctx, const char *name, int64_t wanted, int per_side, mn_mpm_def def,
                       int steps)
{
    const int64_t others = held;
    mn_mpm *mpm = make_drop(ctx, wanted, per_side, def);
    const double dt = def.max_dt;
    for (int k = 0; k < 2; k++)
        if (mn_mpm_advance(mpm, NULL, dt) != MN_OK) fprintf(stderr, "%s\n", mn_context_message(ctx)), exit(1);
    // As in a frame: several steps in one advance.
    const double begun = mn_seconds();
    if (mn_mpm_advance(mpm, NULL, steps * dt) != MN_OK)
        fprintf(stderr, "%s\n", mn_context_message(ctx)), exit(1);
    mn_report report;
    const double all = mn_seconds() - begun;
    mn_mpm_report(mpm, &report);
    const mn_timers phases = report.seconds;
    const double taken = report.value[MN_REPORT_substeps][0], seconds = all / taken,
                 iterations = report.value[MN_REPORT_linear_iterations][0];
    printf("%-34s %9lld %8lld %10.1f %8.1f %8.0f  ", name, (long long)mn_mpm_count(mpm),
           (long long)mpm->split.splats.count, seconds * 1e3, iterations / taken,
           (double)(held - others) / (double)mn_mpm_count(mpm));
    for (int i = 0; i < phases.count; i++)
        printf(" %s %.1f", phases.name[i], phases.seconds[i] * 1e3 / taken);
    printf("\n");
    fflush(stdout);
    mn_mpm_free(mpm);
}

static double operator_seconds(mn_context *ctx, int64_t wanted, int64_t *count)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1, def.sigma = 0, def.viscosity = 0, def.density = 1, def.bulk_modulus = 1;
    def.integrator = MN_MPM_SEMI_IMPLICIT, def.max_dt = 0.1;
    mn_mpm *mpm = make_drop(ctx, wanted, 2, def);
    if (mn_mpm_advance(mpm, NULL, 0.1) != MN_OK) fprintf(stderr, "%s\n", mn_context_message(ctx)), exit(1);
    bool solved;
    mn_mpm_solve_grid(mpm, 0.1, &solved);
    double best = 1e30;
    for (int r = 0; r < ROUNDS; r++) {
        const double begun = mn_seconds();
        mn_mpm_potential_apply(mpm, mpm->implicit.direction.data, mpm->implicit.image.data);
        best = fmin(best, mn_seconds() - begun);
    }
    *count = mn_mpm_count(mpm);
    mn_mpm_free(mpm);
    return best;
}

// The drop of [marquez2021] fig. 5.11: 0.1 m on cells of 1/128 m, 27 particles in each, at 90 degrees.
static void bench_contact(mn_context *ctx)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1.0 / 128, def.sigma = 2, def.viscosity = 0.075, def.gravity = mn_v3(0, -9.81, 0);
    def.contact_angle = 90, def.cfl = 1, def.max_dt = 1e-3, def.integrator = MN_MPM_SEMI_IMPLICIT;
    def.domain = (mn_box){{-1, -0.06, -1}, {1, 1, 1}}, def.wall[2] = MN_MPM_SLIP;
    bench_step(ctx, "contact angle (001), 2000 ms", 260000, 3, def, 2);
}

static void bench_steps(mn_context *ctx)
{
    printf("\n%-34s %9s %8s %10s %8s %8s   phases, ms\n", "whole step", "particles", "splats", "ms", "linear",
           "B each");
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.viscosity = 0, def.density = 1, def.dx = 1.0 / 64, def.bulk_modulus = 416.67, def.cfl = 1;
    def.sigma = 5, def.max_dt = 1e-4;
    bench_step(ctx, "explicit platforms (000), 30 ms", 100000, 2, def, 5);
    def.integrator = MN_MPM_SEMI_IMPLICIT, def.sigma = 1, def.max_dt = 1e-3;
    bench_step(ctx, "implicit ellipsoid (000), 600 ms", 208000, 2, def, 2);
    def.sigma = 0.5, def.dx = 1.0 / 128, def.max_dt = 1e-3;
    bench_step(ctx, "implicit droplet (000), 2500 ms", 558000, 2, def, 2);
    bench_contact(ctx);
    def.integrator = MN_MPM_EXPLICIT, def.max_dt = 1e-5;
    for (int64_t n = 50000; n <= 800000; n *= 4) bench_step(ctx, "explicit, for its slope", n, 2, def, 3);
}

int main(int argc, char **argv)
{
    const int64_t wanted = argc > 1 ? atoll(argv[1]) : 1000000;
    mn_hooks hooks = {
        .allocate = count_allocate, .release = count_release, .max_workers = argc > 2 ? atoi(argv[2]) : 0};
    mn_context *ctx = mn_context_create(&hooks);
    const double dx = 1.0, radius = cbrt((double)wanted / 8 * 0.75 / 3.14159265358979);
    mn_mpm_particle *loose = mn_allocate(ctx, sizeof *loose * (size_t)(wanted + wanted / 4 + 1000));
    int64_t count = 0;
    for (uint64_t id = 0; count < wanted; id++) {
        const mn_vec3 x = mn_scale(radius, mn_sub(mn_scale(2, mn_random_unit3(1, id, 0)), mn_v3(1, 1, 1)));
        if (mn_norm(x) > radius) continue;
        loose[count] = (mn_mpm_particle){.mass = 1, .v = mn_random_direction(1, id, 9)};
        mn_mpm_set_position(&loose[count++], x);
    }
    mn_mpm_particle *p = mn_allocate(ctx, sizeof *p * (size_t)count);
    mn_mpm_material *q = mn_allocate_zero(ctx, sizeof *q * (size_t)count);
    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_blocks_create(ctx, &blocks);
    mn_point_sort_create(ctx, &sort);
    double build = 1e30, sorting = 1e30, scatter = 1e30, gather = 1e30;
    mn_mpm_node *nodes = NULL;
    for (int r = 0; r < ROUNDS; r++) {
        const double t0 = mn_seconds();
        mn_blocks_build(blocks, mn_v3(0.5, 0.5, 0.5), dx, mn_mpm_points(r ? p : loose, count), 1, 3);
        const double t1 = mn_seconds();
        mn_point_sort_run(sort, blocks, mn_mpm_points(r ? p : loose, count));
        const double t2 = mn_seconds();
        const mn_sorted_points sorted = mn_point_sort_result(sort);
        if (r == 0)
            for (int64_t i = 0; i < count; i++) p[i] = loose[sorted.order[i]], q[i].j = q[i].volume = 1;
        const mn_block_table table = mn_blocks_table(blocks);
        if (!nodes) nodes = mn_allocate(ctx, sizeof *nodes * (size_t)table.count * MN_BLOCK_CELLS);
        const mn_mpm_cells cells = {p, q, sorted.cell_start, NULL};
        const double t3 = mn_seconds();
        mn_mpm_scatter(ctx, &table, &cells, NULL, (mn_mpm_impulse){1.0, 1e-3, 1e-3}, nodes);
        const double t4 = mn_seconds();
        mn_mpm_gather(ctx, &table, p, NULL, sorted.cell_start, nodes, drop_samples, p);
        const double t5 = mn_seconds();
        build = fmin(build, t1 - t0), sorting = fmin(sorting, t2 - t1);
        scatter = fmin(scatter, t4 - t3), gather = fmin(gather, t5 - t4);
    }
    const double peak = fma_peak(ctx), n = (double)count;
    const double naive = naive_scatter_seconds(loose, count, dx, radius + 1);
    printf("%lld particles, %d threads, fma peak %.1f GFLOP/s\n", (long long)count, (int)mn_worker_count(ctx),
           peak * 1e-9);
    printf("%-24s %10s %10s %10s\n", "kernel", "ms", "M/s", "of peak");
    printf("%-24s %10.2f %10.1f\n", "blocks", build * 1e3, n / build * 1e-6);
    printf("%-24s %10.2f %10.1f\n", "sort (nearly sorted)", sorting * 1e3, n / sorting * 1e-6);
    printf("%-24s %10.2f %10.1f %9.0f%%\n", "particles to grid", scatter * 1e3, n / scatter * 1e-6,
           100 * scatter_flops * n / scatter / peak);
    printf("%-24s %10.2f %10.1f %9.0f%%\n", "grid to particles", gather * 1e3, n / gather * 1e-6,
           100 * gather_flops * n / gather / peak);
    int64_t pressed;
    const double apply = operator_seconds(ctx, count, &pressed), m = (double)pressed;
    printf("%-24s %10.2f %10.1f %9.0f%%\n", "implicit operator", apply * 1e3, m / apply * 1e-6,
           100 * operator_flops * m / apply / peak);
    printf("%-24s %10.2f %10.1f\n", "naive particles to grid", naive * 1e3, n / naive * 1e-6);
    bench_steps(ctx);
    return 0;
}
