// SPDX-License-Identifier: Apache-2.0
//
// A bar of tetrahedra along x that heat flows into at x = 0, for tests of heat.
#ifndef MENISCUS_TESTS_SUPPORT_HEAT_BAR_H
#define MENISCUS_TESTS_SUPPORT_HEAT_BAR_H

#include "heat/heat.h"
#include "support/tet_lattice_brick.h"
#include "tet/system.h"

typedef struct heat_bar {
    mn_context *ctx;
    mn_tet_mesh *mesh;
    mn_tet_system system;
    mn_heat *heat;
    mn_heat_substance substance;
    double *mass, *transfer, *outside, *energy, *temperature, *melted;
    mn_heat_mesh view;
} heat_bar;

static inline void heat_bar_must(const heat_bar *bar, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(bar->ctx));
    abort();
}

/// Length 1, `cells` cubes along it, 2 x 2 across, density 1, at temperature `start`.
static inline heat_bar heat_bar_make(mn_context *ctx, int32_t cells, mn_heat_substance substance,
                                     double start)
{
    heat_bar bar = {.ctx = ctx, .substance = substance};
    bar.mesh = tet_lattice_brick(ctx, cells, 2, 2, 1.0 / cells, 0.1);
    heat_bar_must(&bar, mn_tet_system_build(&bar.system, bar.mesh));
    heat_bar_must(&bar, mn_heat_create(ctx, &bar.heat));
    const size_t n = (size_t)bar.mesh->vertex_slots;
    bar.mass = calloc((size_t)bar.mesh->tet_slots, sizeof(double));
    bar.transfer = calloc((size_t)bar.system.face_count, sizeof(double));
    bar.outside = calloc((size_t)bar.system.face_count, sizeof(double));
    bar.energy = calloc(n, sizeof(double)), bar.temperature = calloc(n, sizeof(double));
    bar.melted = calloc(n, sizeof(double));
    for (int32_t t = 0; t < bar.mesh->tet_slots; t++) bar.mass[t] = mn_tet_mesh_tet_volume(bar.mesh, t);
    for (size_t i = 0; i < n; i++) bar.temperature[i] = start;
    return bar;
}

/// Borrows from `bar`, which must stay where it is.
static inline void heat_bar_start(heat_bar *bar)
{
    const mn_tet_system *s = &bar->system;
    bar->view = (mn_heat_mesh){.node_count = s->node_count,
                               .tet_count = s->tet_count,
                               .face_count = s->face_count,
                               .x = bar->mesh->position,
                               .tet = s->tet,
                               .corner_start = s->corner_start.data,
                               .corner = s->corner.data,
                               .row_start = s->row_start.data,
                               .column = s->column.data,
                               .tet_slot = s->tet_slot.data,
                               .face = s->face.data,
                               .face_start = s->face_start.data,
                               .face_corner = s->face_corner.data,
                               .mass = bar->mass,
                               .substance_count = 1,
                               .substances = &bar->substance,
                               .transfer = bar->transfer,
                               .outside = bar->outside};
    heat_bar_must(bar, mn_heat_energies(bar->heat, &bar->view, bar->temperature, NULL, bar->energy));
}

/// Faces in the plane x = `where` get this heat transfer to this temperature.
static inline void heat_bar_heat(heat_bar *bar, double where, double transfer, double temperature)
{
    for (int32_t f = 0; f < bar->system.face_count; f++) {
        bool in = true;
        for (int k = 0; k < 3; k++)
            in = in && fabs(bar->mesh->position[bar->system.face.data[3 * f + k]].x - where) < 1e-9;
        if (in) bar->transfer[f] = transfer, bar->outside[f] = temperature;
    }
}

static inline double heat_bar_energy(const heat_bar *bar)
{
    double sum = 0;
    for (int32_t i = 0; i < bar->view.node_count; i++) sum += bar->energy[i];
    return sum;
}

/// How much of the bar's length has melted.
static inline double heat_bar_front(heat_bar *bar)
{
    double sum = 0, all = 0;
    double *melted = malloc(sizeof(double) * (size_t)bar->view.tet_count);
    heat_bar_must(bar, mn_heat_state(bar->heat, &bar->view, bar->energy, NULL, NULL, melted));
    for (int32_t t = 0; t < bar->view.tet_count; t++) sum += bar->mass[t] * melted[t], all += bar->mass[t];
    free(melted);
    return sum / all;
}

/// The mean temperature of the nodes in the plane x = `where`.
static inline double heat_bar_temperature(heat_bar *bar, double where)
{
    double sum = 0;
    int32_t count = 0;
    heat_bar_must(bar, mn_heat_state(bar->heat, &bar->view, bar->energy, bar->temperature, NULL, NULL));
    for (int32_t i = 0; i < bar->view.node_count; i++)
        if (fabs(bar->mesh->position[i].x - where) < 1e-9) sum += bar->temperature[i], count++;
    return sum / count;
}

static inline void heat_bar_free(heat_bar *bar)
{
    mn_heat_free(bar->heat);
    mn_tet_system_free(&bar->system);
    mn_tet_mesh_free(bar->mesh);
    free(bar->mass), free(bar->transfer), free(bar->outside);
    free(bar->energy), free(bar->temperature), free(bar->melted);
}

#endif
