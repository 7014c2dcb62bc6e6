// SPDX-License-Identifier: Apache-2.0
//
// film_solver: a foam that wobbles, the same one for a frame, one that bursts, one bubble at four
// thicknesses, a foam at three sizes of edges in steps of one length, and a foam of 60 bubbles for a frame.
// Processor time per vertex and step, its parts, and iterations.
#include "support/film_bubbles.h"

#include "base/random.h"
#include "meniscus/meniscus.h"

#include <time.h>

static mn_context *ctx;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static double seconds_since(clock_t begun)
{
    return (double)(clock() - begun) / CLOCKS_PER_SEC;
}

// Processor time of a step without changes of the mesh: the film as it is, and the length of step that it
// has.
static double step_alone(mn_film *film, double dt)
{
    enum { TIMES = 5 };
    double stretch;
    const clock_t begun = clock();
    for (int i = 0; i < TIMES; i++) must(mn_film_step_try(film, dt, &stretch));
    return seconds_since(begun) / TIMES;
}

static void measure(const char *what, mn_film *film, const mn_vec3 *prick, double before, double seconds)
{
    const mn_film_inputs own = {.prick_count = prick != NULL, .pricks = prick};
    const mn_solver_inputs inputs = {.own = &own};
    if (prick) must(mn_film_advance(film, &inputs, before));
    if (!prick) must(mn_film_advance(film, NULL, before));
    const clock_t begun = clock();
    must(mn_film_advance(film, NULL, seconds));
    const double cpu = seconds_since(begun);
    const mn_report r = bubbles_report(film);
    const double steps = r.value[MN_REPORT_substeps][0], n = (double)film->c.vertices.count;
    printf("%-30s %6.0f vertices %3d pockets %4.0f steps %6.1f iterations a step %6.2f us a vertex and step, "
           "%.2f of it without the mesh, %.2f s\n",
           what, n, (int)film->pockets.count - 1, steps, r.value[MN_REPORT_linear_iterations][0] / steps,
           1e6 * cpu / (n * steps), 1e6 * step_alone(film, seconds / steps) / n, cpu);
    fflush(stdout);
    mn_film_free(film);
}

static mn_film *foam(int32_t count, const mn_film_def *def)
{
    mn_vec3 x[64];
    double r[64];
    for (int32_t i = 0; i < count; i++) r[i] = 0.008 * (0.7 + 0.6 * mn_random_unit(1, (uint64_t)i, 9));
    mn_film_pack(1, count, mn_v3(0, 0, 0), 0.25, r, x);
    return bubbles_cluster(ctx, count, x, r, def);
}

int main(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    ctx = mn_context_create(&hooks);
    mn_film_def def = mn_film_default_def();
    def.size = 0.0016, def.thickness = 2e-6, def.gibbs = 0.5, def.drag = 0.2, def.burst = true;
    measure("foam that wobbles", foam(24, &def), NULL, 0.002, 0.006);
    measure("foam that wobbles, a frame", foam(24, &def), NULL, 0.002, 1.0 / 24);
    const mn_vec3 middle = {0, 0, 0};
    measure("foam that bursts", foam(24, &def), &middle, 0.002, 0.006);
    def.max_dt = 0.001;
    for (int i = 0; i < 4; i++) {
        const mn_vec3 x = {0, 0, 0};
        const double r = 0.01;
        char what[40];
        def.thickness = r * pow(10, -1 - i), def.size = 0.0008;
        snprintf(what, sizeof what, "bubble, h/R %g", def.thickness / r);
        mn_film *film = bubbles_cluster(ctx, 1, &x, &r, &def);
        for (int64_t v = 0; v < film->c.vertices.count; v++) {
            mn_complex_vertex *vertex = &film->c.vertices.data[v];
            const double c = vertex->position.y / r;
            vertex->velocity = mn_scale(0.05 * (3 * c * c - 1), mn_scale(1 / r, vertex->position));
        }
        measure(what, film, NULL, 0.001, 0.01);
    }
    for (int i = 0; i < 3; i++) {
        static const double size[3] = {0.0022, 0.0016, 0.0011};
        char what[40];
        def.size = size[i], def.thickness = 2e-6;
        snprintf(what, sizeof what, "foam, edges of %.1f mm", 1e3 * size[i]);
        measure(what, foam(24, &def), NULL, 0.02, 0.005);
    }
    def.max_dt = mn_film_default_def().max_dt;
    measure("foam of 60 bubbles, a frame", foam(60, &def), NULL, 1.0 / 24, 1.0 / 24);
    mn_context_free(ctx);
    return 0;
}
