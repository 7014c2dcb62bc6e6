// SPDX-License-Identifier: Apache-2.0
//
// Whole steps of the tetrahedral solver, remeshing included, on an ellipsoid of water that swings. The
// baseline is the time that one assembled product of the matrix with a vector takes: what any method would
// need several of. One worker, so that processor time is work and nothing waits.
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "meniscus/meniscus.h"
#include "support/tet_drop.h"
#include "tet/state.h"

static double product_seconds(mn_tet_liquid *liquid)
{
    const size_t size = 4 * (size_t)liquid->system.node_count;
    double *x = malloc(size * sizeof *x), *y = malloc(size * sizeof *y);
    for (size_t i = 0; i < size; i++) x[i] = 1;
    const int rounds = 20;
    const double begin = mn_seconds();
    for (int k = 0; k < rounds; k++) mn_tet_system_apply(&liquid->system, x, y);
    const double seconds = (mn_seconds() - begin) / rounds;
    free(x), free(y);
    return seconds;
}

static double phase(const mn_report *report, const char *name)
{
    for (int i = 0; i < report->seconds.count; i++)
        if (strcmp(report->seconds.name[i], name) == 0) return report->seconds.seconds[i];
    return 0;
}

static double run(double edge, int steps, double *tets)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    const tet_drop_shape shape = {.radius = 2.5e-3, .edge = edge, .aspect = 2};
    mn_tet_mesh *mesh = tet_drop(ctx, shape);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *liquid;
    tet_drop_must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    const double size = liquid->size,
                 dt = def.capillary_step * sqrt(def.density * size * size * size / def.sigma);
    tet_drop_must(ctx, mn_tet_liquid_advance(liquid, NULL, 2 * dt));
    const double begin = mn_seconds();
    const clock_t processor_begin = clock();
    tet_drop_must(ctx, mn_tet_liquid_advance(liquid, NULL, steps * dt));
    const double seconds = mn_seconds() - begin;
    const double processor = (double)(clock() - processor_begin) / CLOCKS_PER_SEC;
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    const double taken = report.value[MN_REPORT_substeps][0], product = product_seconds(liquid);
    *tets = mn_tet_liquid_mesh(liquid)->tet_count;
    printf("| %.0f | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f ms | %.1f | %.1f | %.3f ms | %.0f |\n",
           *tets, 1e3 * processor / taken, 1e3 * seconds / taken,
           1e3 * (phase(&report, "solve") - phase(&report, "factor")) / taken,
           1e3 * phase(&report, "factor") / taken, 1e3 * phase(&report, "remesh") / taken,
           report.value[MN_REPORT_newton_iterations][0] / taken,
           report.value[MN_REPORT_linear_iterations][0] / taken, 1e3 * product, seconds / taken / product);
    fflush(stdout);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return processor / taken;
}

int main(int argc, char **argv)
{
    // About 5,000, 25,000, 50,000, 100,000 and 200,000 tetrahedra.
    static const double edges[] = {0.22, 0.128, 0.1, 0.08, 0.0645};
    static const int steps[] = {20, 10, 5, 3, 3};
    const int sizes = argc > 1 && strcmp(argv[1], "--all") == 0 ? 5 : 2;
    double tets[5] = {0}, seconds[5];
    printf("| tetrahedra | processor time a step | step | solve | factor | remesh | Newton | GMRES | product "
           "(baseline) | step over it |\n"
           "|---|---|---|---|---|---|---|---|---|---|\n");
    for (int k = 0; k < sizes; k++) seconds[k] = run(edges[k], steps[k], &tets[k]);
    for (int k = 1; k < sizes; k++)
        printf(
            "\nfrom %.0f to %.0f tetrahedra the processor time grows with their number to the power %.2f\n",
            tets[0], tets[k], log(seconds[k] / seconds[0]) / log(tets[k] / tets[0]));
    return 0;
}
