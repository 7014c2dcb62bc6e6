// SPDX-License-Identifier: Apache-2.0
//
// Films that meet: bubbles stay apart and keep their momentum, and pass through each other only when told to.
#include "meniscus/codim.h"
#include "sources/film_source.h"
#include "support/check.h"
#include "support/film_stage.h"

enum { BOTH = 4000 };

// How deep p is inside the bubble that holds the gas `pocket`, by its nearest point.
static double depth_in(const mn_codim_view *view, const mn_codim_point *p, int64_t pocket)
{
    double least = INFINITY, depth = 0;
    for (int64_t i = 0; i < view->count; i++) {
        const mn_vec3 d = mn_sub(view->points[i].position, p->position);
        if (view->points[i].pocket != pocket || mn_norm2(d) >= least) continue;
        least = mn_norm2(d), depth = mn_dot(d, view->points[i].normal);
    }
    return depth;
}

// Two bubbles of 8 mm, one of which flies at the other, and how deep they go into each other.
static double meet(bool contact, double *momentum)
{
    mn_context *ctx = mn_context_create(NULL);
    const double R = 0.008;
    mn_film_source_def source = mn_film_source_default_def();
    mn_geo *geo = NULL;
    static mn_vec3 x[BOTH], v[BOTH], n[BOTH];
    static double h[BOTH];
    source.kind = MN_FILM_BUBBLE, source.radius = R, source.spacing = 0.001;
    check_ok(ctx, mn_film_source_create(ctx, &source, &geo));
    const int64_t each = mn_geo_point_count(geo);
    assert_true(2 * each <= BOTH);
    for (int64_t i = 0; i < 2 * each; i++) {
        const double side = i < each ? -1 : 1;
        n[i] = mn_geo_position(geo, i % each);
        x[i] = mn_add(n[i], mn_v3(side * 1.15 * R, 0, side * 0.0004));
        v[i] = mn_v3(side < 0 ? 0.4 : 0, 0, 0);
        h[i] = 5e-5;
    }
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = 0.001, def.contact = contact, def.max_dt = 5e-4;
    mn_codim *mls = NULL;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_add(mls, &(mn_codim_source){2 * each, x, v, n, h, NULL, NULL}));
    for (int i = 0; i < 10; i++) check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.0015));
    const mn_codim_view view = mn_codim_get_view(mls);
    double deepest = 0, mass = 0, sum = 0;
    for (int64_t i = 0; i < view.count; i++) {
        const mn_codim_point *p = &view.points[i];
        mass += p->mass, sum += p->mass * p->velocity.x;
        deepest = fmax(deepest, depth_in(&view, p, 1 - p->pocket));
    }
    *momentum = sum / (0.2 * mass);
    mn_codim_free(mls);
    mn_geo_free(geo);
    mn_context_free(ctx);
    return deepest;
}

static void bubbles_rest_on_each_other(void **state)
{
    (void)state;
    double momentum;
    const double apart = meet(true, &momentum);
    check_close(momentum, 1, 1e-10);
    const double through = meet(false, &momentum);
    assert_true(apart < 0.0003 && through > 0.001); // a third of a spacing
    check_close(momentum, 1, 1e-10);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bubbles_rest_on_each_other)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
