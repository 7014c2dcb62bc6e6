// SPDX-License-Identifier: Apache-2.0
//
// What solids and heat cost: a ball of about 10,000 tetrahedra as liquid, and with one half of it solid, from
// jelly to ice. The baseline is the step of the liquid. One worker, so that processor time is
// work.
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "meniscus/meniscus.h"
#include "support/tet_drop.h"
#include "tet/state.h"

static double phase(const mn_report *report, const char *name)
{
    for (int i = 0; i < report->seconds.count; i++)
        if (strcmp(report->seconds.name[i], name) == 0) return report->seconds.seconds[i];
    return 0;
}

// Young's modulus of the half that is solid; 0: all is liquid. Processor time a step.
static double run(double young, double baseline)
{
    mn_context *ctx = mn_context_create(&(mn_hooks){.max_workers = 1});
    mn_tet_mesh *mesh = tet_drop(ctx, (tet_drop_shape){.radius = 5e-3, .edge = 0.172, .aspect = 1.2});
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    mn_tet_field *material;
    def.gravity = mn_v3(0, 0, 0), def.heat = young > 0, def.air_temperature = 350, def.air_transfer = 100;
    tet_drop_must(ctx, mn_tet_mesh_add_field(mesh, MN_TET_MATERIAL, MN_TET_VALUE, 1, &material));
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        double x = 0;
        for (int k = 0; k < 4; k++) x += mesh->position[mesh->tet[t][k]].x;
        material->data[t] = x > 0;
    }
    mn_tet_liquid *liquid;
    tet_drop_must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_tet_material materials[2] = {mn_tet_default_material(), mn_tet_default_material()};
    materials[0].young = young, materials[0].poisson = 0.4, materials[1].young = 0;
    for (int m = 0; m < 2; m++) materials[m].density = def.density, materials[m].sigma = def.sigma;
    if (young > 0) tet_drop_must(ctx, mn_tet_liquid_set_materials(liquid, 2, materials));
    const double size = liquid->size,
                 dt = def.capillary_step * sqrt(def.density * size * size * size / def.sigma);
    tet_drop_must(ctx, mn_tet_liquid_advance(liquid, NULL, 2 * dt));
    const clock_t begin = clock();
    tet_drop_must(ctx, mn_tet_liquid_advance(liquid, NULL, 8 * dt));
    const double processor = (double)(clock() - begin) / CLOCKS_PER_SEC;
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    const double taken = report.value[MN_REPORT_substeps][0], step = processor / taken;
    printf("| %g Pa | %d | %.1f ms | %.2f | %.1f %% | %.1f | %.1f |\n", young, liquid->mesh->tet_count,
           1e3 * step, baseline > 0 ? step / baseline : 1,
           100 * phase(&report, "heat") / (phase(&report, "heat") + phase(&report, "solve")),
           report.value[MN_REPORT_newton_iterations][0] / taken,
           report.value[MN_REPORT_linear_iterations][0] / taken);
    fflush(stdout);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
    return step;
}

int main(void)
{
    static const double young[] = {1e3, 1e5, 1e7, 1e9};
    printf(
        "| Young's modulus of one half | tetrahedra | processor time a step | over the liquid's | heat, of "
        "solve and heat | Newton | GMRES |\n|---|---|---|---|---|---|---|\n");
    const double baseline = run(0, 0);
    for (int i = 0; i < 4; i++) run(young[i], baseline);
    return 0;
}
