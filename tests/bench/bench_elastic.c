// SPDX-License-Identifier: Apache-2.0
//
// elastic_solver: a soft block and a soft slab of 10,000 tetrahedra on a floor, a heap of soft balls, and
// cloth on a ball; with `long`, a frame of 100 soft blocks of 1,050 tetrahedra each that land on each other.
// Processor seconds per step, and the share of looking for collisions.
#include "meniscus/elastic.h"
#include "meniscus/meniscus.h"
#include "support/elastic_shapes.h"

#include <stdio.h>
#include <time.h>

static mn_context *ctx;
static elastic_shape *shape;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static void add(mn_elastic *s, mn_elastic_kind kind)
{
    const mn_elastic_body body = shape_body(shape, kind);
    must(mn_elastic_add(s, &body));
}

static double phase(const mn_report *r, const char *name)
{
    for (int32_t i = 0; i < r->seconds.count; i++)
        if (strcmp(r->seconds.name[i], name) == 0) return r->seconds.seconds[i];
    return 0;
}

static void measure(const char *what, mn_elastic *s, double settle, double seconds)
{
    mn_report r;
    if (settle > 0) must(mn_elastic_advance(s, NULL, settle));
    const clock_t begun = clock();
    must(mn_elastic_advance(s, NULL, seconds));
    const double cpu = (double)(clock() - begun) / CLOCKS_PER_SEC;
    mn_elastic_report(s, &r);
    const double steps = r.value[MN_REPORT_substeps][0], newton = r.value[MN_REPORT_newton_iterations][0];
    const double detection = phase(&r, "candidates") + phase(&r, "steps"), contact = phase(&r, "contact");
    double all = detection + contact + phase(&r, "elements") + phase(&r, "assemble") + phase(&r, "solve") +
                 phase(&r, "analyse");
    printf("%-34s %4.0f steps %5.1f iterations a step %7.0f contacts %8.3f s a step, detection %.0f %%\n",
           what, steps, newton / steps, r.value[MN_REPORT_contacts][0], cpu / steps, 100 * detection / all);
    fflush(stdout);
    mn_elastic_free(s);
}

/// A hundred soft blocks in four layers, a little turned, over a floor. Measures the frame in which they
/// land.
static void hundred_blocks(void)
{
    mn_elastic *s;
    mn_elastic_def def = mn_elastic_default_def();
    def.damping = 0.005;
    must(mn_elastic_create(ctx, &def, &s));
    for (int k = 0; k < 100; k++) {
        const mn_vec3 at =
            mn_v3(0.072 * (k % 5) + 0.01 * (k / 25), 0.04 + 0.072 * (k / 25), 0.072 * (k / 5 % 5));
        shape_block(shape, at, mn_v3(0.04, 0.04, 0.04), 5, 7, 5);
        shape_turn(shape, mn_m3_rotation(mn_v3(3.0 * (k % 7), 11.0 * k, 2.0 * (k % 5))), at);
        shape_move(shape, at, mn_v3(0, -0.5, 0), mn_v3(0, 0, 0));
        add(s, MN_ELASTIC_SOLID);
    }
    shape_box(shape, mn_v3(0.15, -0.01, 0.15), mn_v3(2, 0.02, 2));
    add(s, MN_ELASTIC_COLLIDER);
    measure("100 blocks of 1,050 tetrahedra", s, 2.0 / 24, 1.0 / 24);
}

int main(int argc, char **argv)
{
    ctx = mn_context_create(NULL);
    shape = shape_create();
    if (argc > 1 && strcmp(argv[1], "long") == 0) {
        hundred_blocks();
        free(shape);
        mn_context_free(ctx);
        return 0;
    }
    mn_elastic *s;
    mn_elastic_def def = mn_elastic_default_def();
    def.damping = 0.005, def.max_dt = 0.005;
    must(mn_elastic_create(ctx, &def, &s));
    shape_block(shape, mn_v3(0, 0.051, 0), mn_v3(0.1, 0.1, 0.1), 12, 12, 12);
    add(s, MN_ELASTIC_SOLID);
    shape_box(shape, mn_v3(0, -0.01, 0), mn_v3(1, 0.02, 1));
    add(s, MN_ELASTIC_COLLIDER);
    measure("block of 10,368 tetrahedra", s, 0.04, 0.02);

    must(mn_elastic_create(ctx, &def, &s));
    shape_block(shape, mn_v3(0, 0.021, 0), mn_v3(0.22, 0.04, 0.22), 22, 4, 22);
    add(s, MN_ELASTIC_SOLID);
    shape_box(shape, mn_v3(0, -0.01, 0), mn_v3(1, 0.02, 1));
    add(s, MN_ELASTIC_COLLIDER);
    measure("slab of 11,616 tetrahedra", s, 0.04, 0.02);

    must(mn_elastic_create(ctx, &def, &s));
    for (int k = 0; k < 12; k++) {
        shape_ball(shape, mn_v3(0.06 * (k % 2), 0.03 + 0.055 * (k / 4), 0.06 * (k / 2 % 2)), 0.025, 5);
        add(s, MN_ELASTIC_SOLID);
    }
    shape_box(shape, mn_v3(0, -0.01, 0), mn_v3(1, 0.02, 1));
    add(s, MN_ELASTIC_COLLIDER);
    measure("heap of 12 balls of 750 tetrahedra", s, 0.04, 0.02);

    def.thickness = 3e-4, def.young = 1e6;
    must(mn_elastic_create(ctx, &def, &s));
    shape_sheet(shape, mn_v3(0, 0.06, 0), 0.3, 0.3, 60, 60);
    add(s, MN_ELASTIC_CLOTH);
    shape_ball(shape, mn_v3(0, 0, 0), 0.05, 6);
    add(s, MN_ELASTIC_SOLID);
    measure("cloth of 7,200 triangles on a ball", s, 0, 0.02);
    free(shape);
    mn_context_free(ctx);
    return 0;
}
