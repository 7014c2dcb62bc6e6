// SPDX-License-Identifier: Apache-2.0
//
// Tetrahedral tools on one core: filling, building, the quality sweep, repair of a sheared mesh, raising
// angles, resampling, merging. Beside each stands a simple baseline of the same run, so that a noisy machine
// still gives a comparable ratio.
#include "meniscus/meniscus.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"
#include "tetmesh/unite/merge.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

/// Seconds of the processor: everything here runs on one worker, and other programs may be running.
static double cpu_seconds(void)
{
    return (double)clock() / CLOCKS_PER_SEC;
}

static void ball_level(void *user, int64_t count, const mn_vec3 *x, double *values)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) values[i] = mn_norm(x[i]) - 0.5;
}

static mn_tet_mesh *ball(mn_context *ctx, double size, double gradation, double *fill_seconds,
                         double *build_seconds)
{
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    mn_tet_stuffing filled;
    mn_tet_mesh *mesh = NULL;
    def.level = ball_level, def.size = size, def.gradation = gradation;
    def.bounds = (mn_box){mn_v3(-0.5, -0.5, -0.5), mn_v3(0.5, 0.5, 0.5)};
    const double start = cpu_seconds();
    if (mn_tet_stuff(ctx, &def, &filled) != MN_OK) exit(1);
    const double middle = cpu_seconds();
    if (mn_tet_mesh_build(ctx, filled.positions.count, filled.positions.data, filled.tets.count,
                          (const int32_t(*)[4])filled.tets.data, &mesh) != MN_OK)
        exit(1);
    *build_seconds = cpu_seconds() - middle;
    *fill_seconds = middle - start;
    mn_tet_stuffing_free(ctx, &filled);
    return mesh;
}

/// Reading every corner of every tetrahedron: what memory alone allows.
static double read_corners(const mn_tet_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int32_t k = 0; k < 4; k++) sum += mesh->position[mesh->tet[t][k]].x;
    return sum;
}

static void bench_filling(mn_context *ctx)
{
    for (int graded = 0; graded < 2; graded++) {
        double fill = 1e9, build = 1e9, seconds[2];
        int32_t tets = 0;
        for (int i = 0; i < 3; i++) {
            mn_tet_mesh *mesh = ball(ctx, 0.025, graded, &seconds[0], &seconds[1]);
            fill = seconds[0] < fill ? seconds[0] : fill, build = seconds[1] < build ? seconds[1] : build;
            tets = mesh->tet_count;
            mn_tet_mesh_free(mesh);
        }
        printf("%-34s %9d tets %8.2f M tets/s\n", graded ? "filling, graded" : "filling, uniform", tets,
               tets / fill / 1e6);
        printf("%-34s %9d tets %8.2f M tets/s\n", "building the structure", tets, tets / build / 1e6);
    }
}

static void bench_quality(mn_context *ctx)
{
    double unused[2], best = 1e9, baseline = 1e9, sink = 0;
    mn_tet_mesh *mesh = ball(ctx, 0.025, 0, &unused[0], &unused[1]);
    double *quality = malloc(sizeof *quality * (size_t)mesh->tet_slots);
    for (int i = 0; i < 7; i++) {
        double start = cpu_seconds();
        if (mn_tet_mesh_quality_sweep(mesh, quality) != MN_OK) exit(1);
        const double sweep = cpu_seconds() - start;
        start = cpu_seconds();
        sink += read_corners(mesh);
        const double read = cpu_seconds() - start;
        best = sweep < best ? sweep : best, baseline = read < baseline ? read : baseline;
    }
    printf("%-34s %9d tets %8.2f M tets/s   %.1f x the time of reading the corners%s\n", "quality sweep",
           mesh->tet_count, mesh->tet_count / best / 1e6, best / baseline, sink == 0.12345 ? " " : "");
    free(quality);
    mn_tet_mesh_free(mesh);
}

static void bench_repair(mn_context *ctx, double size, double shear, double wanted, const char *name)
{
    double unused[2];
    mn_tet_mesh *mesh = ball(ctx, size, 0, &unused[0], &unused[1]), *before;
    mn_tet_field *mass;
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_quality_report quality;
    mn_tet_resample_report resampled;
    const mn_tet_resample_def names = {.velocity = NULL};
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        mn_tet_mesh_move_vertex(mesh, v, mn_add(mesh->position[v], mn_v3(shear * mesh->position[v].y, 0, 0)));
    if (mn_tet_mesh_add_field(mesh, "mass", MN_TET_AMOUNT, 1, &mass) != MN_OK) exit(1);
    for (int32_t t = 0; t < mesh->tet_slots; t++) mass->data[t] = 1;
    def.quality = wanted;
    const int32_t tets = mesh->tet_count;
    if (mn_tet_mesh_copy(mesh, &before) != MN_OK) exit(1);
    const double start = cpu_seconds();
    if (mn_tet_remesh(mesh, &def, &report) != MN_OK) exit(1);
    const double middle = cpu_seconds();
    if (mn_tet_resample(before, mesh, &names, &resampled) != MN_OK ||
        mn_tet_mesh_quality(mesh, &quality) != MN_OK)
        exit(1);
    const double end = cpu_seconds();
    printf("%-34s %9d tets %8.2f s, resampling %.2f s; %lld bad -> %lld, worst %.3f -> %.3f, angles %.1f .. "
           "%.1f\n",
           name, tets, middle - start, end - middle, (long long)report.bad_before,
           (long long)report.bad_after, report.worst_before, report.worst_after, quality.smallest_dihedral,
           quality.largest_dihedral);
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(before);
}

/// Two balls that overlap in the same lens, with `extra` more balls that stand apart: seconds.
static double merge_balls(mn_context *ctx, int32_t extra, bool within_parts)
{
    const double size = 0.04;
    MN_ARRAY(mn_vec3) x = {0};
    MN_ARRAY(mn_tet_indices) tets = {0};
    for (int32_t ball_number = 0; ball_number < 2 + extra; ball_number++) {
        mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
        mn_tet_stuffing filled;
        def.level = ball_level, def.size = size;
        def.bounds = (mn_box){mn_v3(-0.5, -0.5, -0.5), mn_v3(0.5, 0.5, 0.5)};
        if (mn_tet_stuff(ctx, &def, &filled) != MN_OK) exit(1);
        // The second overlaps the first; the others stand apart.
        const mn_vec3 by = ball_number < 2 ? mn_v3(0.93 * ball_number, 0.11 * ball_number, 0.07 * ball_number)
                                           : mn_v3(0, 2.0 * ball_number, 0);
        const int32_t base = (int32_t)x.count;
        for (int64_t i = 0; i < filled.positions.count; i++) {
            const mn_vec3 place = mn_add(filled.positions.data[i], by);
            if (mn_array_push(ctx, &x, &place) != MN_OK) exit(1);
        }
        for (int64_t i = 0; i < filled.tets.count; i++) {
            mn_tet_indices tet = filled.tets.data[i];
            for (int32_t k = 0; k < 4; k++) tet.v[k] += base;
            if (mn_array_push(ctx, &tets, &tet) != MN_OK) exit(1);
        }
        mn_tet_stuffing_free(ctx, &filled);
    }
    mn_tet_mesh *mesh;
    if (mn_tet_mesh_build(ctx, x.count, x.data, tets.count, (const int32_t(*)[4])tets.data, &mesh) != MN_OK)
        exit(1);
    mn_tet_merge_def def = mn_tet_merge_default_def();
    mn_tet_merge_report report;
    def.within_parts = within_parts;
    const int32_t before = mesh->tet_count;
    // As in a mesh that has been at work: growing its arrays for the first time takes longer than the merge.
    if (mn_tet_mesh_reserve(mesh, 20000, 50000) != MN_OK) exit(1);
    const double start = cpu_seconds();
    if (mn_tet_mesh_merge(mesh, &def, &report) != MN_OK) exit(1);
    const double seconds = cpu_seconds() - start;
    const double read_start = cpu_seconds();
    double sink = 0;
    for (int i = 0; i < 10; i++) sink += read_corners(mesh);
    printf("%-34s %9d tets %8.3f s, of which %lld overlap -> %lld; reading the mesh %.4f s%s\n",
           within_parts ? "merging two balls, or one with itself" : "merging two balls", before, seconds,
           (long long)report.old_tets, (long long)report.new_tets, (cpu_seconds() - read_start) / 10,
           sink == 0.12345 ? " " : "");
    mn_tet_mesh_free(mesh);
    mn_array_free(ctx, &x);
    mn_array_free(ctx, &tets);
    return seconds;
}

/// The cost of a merge follows the overlap: the same one in a mesh four times as large.
static void bench_merge(mn_context *ctx)
{
    for (int within = 0; within < 2; within++) {
        const double alone = merge_balls(ctx, 0, within), doubled = merge_balls(ctx, 2, within),
                     large = merge_balls(ctx, 6, within);
        printf("%-34s %.2f x the time in a mesh twice as large, %.2f x in one four times as large\n", "",
               doubled / alone, large / alone);
    }
}

int main(void)
{
    mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    if (!ctx) return 1;
    bench_filling(ctx);
    bench_quality(ctx);
    bench_repair(ctx, 0.04, 0.3, 0.35, "repair, sheared by 0.3");
    bench_repair(ctx, 0.04, 1, 0.35, "repair, sheared by 1");
    bench_repair(ctx, 0.032, 0, 0.68, "raising the angles of a ball");
    bench_merge(ctx);
    mn_context_free(ctx);
    return 0;
}
