// SPDX-License-Identifier: Apache-2.0
//
// flow_solver: a plume of smoke and a sloshing tank. Processor time per cell and step, cycles of the
// pressure, the parts of a step, and memory per cell.
//
//   bench_flow [CELLS]    along an edge of the smoke's box, 64 unless told; the tank has the same, half full
#include "meniscus/flow.h"
#include "meniscus/meniscus.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

static size_t used, most;

static void *counted(void *user, size_t size)
{
    (void)user;
    used += size;
    most = used > most ? used : most;
    return aligned_alloc(64, (size + 63) / 64 * 64);
}

static void returned(void *user, void *memory, size_t size)
{
    (void)user;
    used -= size;
    free(memory);
}

static mn_context *ctx;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static void warm(void *user, mn_vec3 x, double *density, double *temperature, mn_vec3 *color)
{
    (void)user;
    *density = mn_distance(x, mn_v3(0.5, 0.3, 0.5)) < 0.2 ? 1 : 0;
    *temperature = 0;
    *color = mn_v3(1, 1, 1);
}

static double tilted(void *user, mn_vec3 x)
{
    (void)user;
    return x.y - 0.5 - 0.1 * (x.x - 0.5);
}

static void measure(const char *what, mn_flow *flow, double cells, double settle, double seconds)
{
    mn_report r = {0};
    must(mn_flow_advance(flow, NULL, settle));
    const clock_t begun = clock();
    must(mn_flow_advance(flow, NULL, seconds));
    const double cpu = (double)(clock() - begun) / CLOCKS_PER_SEC;
    mn_flow_report(flow, &r);
    const double steps = r.value[MN_REPORT_substeps][0];
    printf(
        "%-28s %8.0f cells %4.0f steps %5.1f cycles a step %7.2f us per cell and step %6.0f bytes per cell\n",
        what, cells, steps, r.value[MN_REPORT_linear_iterations][0] / steps, 1e6 * cpu / (steps * cells),
        (double)most / cells);
    double all = 0;
    for (int32_t i = 0; i < r.seconds.count; i++) all += r.seconds.seconds[i];
    for (int32_t i = 0; i < r.seconds.count; i++)
        printf("    %-12s %4.0f %%\n", r.seconds.name[i], 100 * r.seconds.seconds[i] / all);
    mn_flow_free(flow);
}

int main(int argc, char **argv)
{
    const int n = argc > 1 ? atoi(argv[1]) : 64;
    const mn_hooks hooks = {.allocate = counted, .release = returned, .max_workers = 1};
    ctx = mn_context_create(&hooks);
    mn_flow_def def = mn_flow_default_def();
    mn_flow *flow;
    def.dx = 1.0 / n, def.domain_center = mn_v3(0.5, 0.5, 0.5), def.cfl = 3;
    must(mn_flow_create(ctx, &def, NULL, &flow));
    must(mn_flow_set_smoke(flow, warm, NULL));
    measure("smoke", flow, (double)n * n * n, 0.2, 3.0 / n);
    most = used;
    def.fluid = MN_FLOW_LIQUID, def.cfl = 1, def.use_level = false;
    must(mn_flow_create(ctx, &def, NULL, &flow));
    must(mn_flow_set_surface(flow, tilted, NULL));
    most = used;
    measure("liquid", flow, 0.5 * n * n * n, 0.02, 0.05);
    mn_context_free(ctx);
    return 0;
}
