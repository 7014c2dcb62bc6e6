// SPDX-License-Identifier: Apache-2.0
//
// Drops that touch become one, with the mass, the momentum and the centre of mass of all of them.
#include "support/check.h"
#include "support/film_stage.h"
#include "support/point_cast.h"
#include "support/sheet_stage.h"

#include "base/random.h"
#include "meniscus/codim.h"
#include "meniscus/stream.h"
#include "sources/jet_source.h"

static const mn_vec3 up = {0, 1, 0}, drift = {0.3, 0.1, -0.2};

typedef struct totals {
    double mass, scale; ///< scale: of the momentum
    mn_vec3 momentum, center;
} totals;

static totals totals_of(const mn_codim_view *view)
{
    totals t = {0};
    for (int64_t i = 0; i < view->count; i++) {
        const mn_codim_point *p = &view->points[i];
        t.mass += p->mass;
        t.momentum = mn_axpy(t.momentum, p->mass, p->velocity);
        t.center = mn_axpy(t.center, p->mass, p->position);
        t.scale += p->mass * mn_norm(p->velocity);
    }
    t.center = mn_scale(1 / t.mass, t.center);
    return t;
}

static mn_codim *open(mn_context *ctx, const cast *c, double max_dt)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_codim *mls = NULL;
    def.spacing = 0.001, def.max_dt = max_dt;
    const mn_codim_source source = cast_source(c);
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_add(mls, &source));
    return mls;
}

// How many drops are left; what must be kept is.
static int64_t join(const cast *c, double time)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = open(ctx, c, time);
    mn_codim_view view = mn_codim_get_view(mls);
    const totals before = totals_of(&view);
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, time));
    view = mn_codim_get_view(mls);
    const totals after = totals_of(&view);
    const mn_vec3 moved = mn_axpy(before.center, time / before.mass, before.momentum);
    check_close(after.mass / before.mass, 1, 1e-12);
    check_close(mn_distance(after.momentum, before.momentum) / before.scale, 0, 1e-10);
    check_close(mn_distance(after.center, moved) / 0.01, 0, 1e-12);
    for (int64_t i = 0; i < view.count; i++) // radius from the volume
        check_close(view.thickness[i] / (2 * cbrt(view.points[i].mass / 1000 * 0.238732414637843)), 1, 1e-12);
    const int64_t count = view.count;
    mn_codim_free(mls);
    mn_context_free(ctx);
    return count;
}

// A row in touch is one drop after one step; what is beside it stays by itself.
static void chains_join_at_once(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    for (int i = 0; i < 7; i++)
        cast_add(c, MN_CODIM_DROP, mn_v3(0.0018 * i, 0.00005 * i * i, 0), up,
                 mn_add(drift, mn_v3(0, 0.01 * (i % 3), 0)), 0.002);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.02, 0), up, drift, 0.002);
    assert_int_equal(join(c, 1e-6), 2);
    free(c);
}

// Joined drops are larger and reach the next: five small ones in one place, one just out of their reach.
static void grown_drops_go_on(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    for (int i = 0; i < 5; i++) cast_add(c, MN_CODIM_DROP, mn_v3(0.0003 * i, 0, 0), up, drift, 0.002);
    cast_add(c, MN_CODIM_DROP, mn_v3(0.0006, 0.0021, 0), up, drift, 0.002);
    assert_int_equal(join(c, 1e-6), 1);
    free(c);
}

// Small ones against a large one, from any side.
static void large_drops_take_small_ones(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0, 0), up, drift, 0.02);
    for (uint64_t i = 0; i < 100; i++)
        cast_add(c, MN_CODIM_DROP,
                 mn_scale(0.0101, mn_normalize(mn_sub(mn_random_unit3(1, i, 0), mn_v3(0.5, 0.5, 0.5)))), up,
                 drift, 0.0004);
    assert_int_equal(join(c, 1e-6), 1);
    free(c);
}

// Both go 50 spacings in a step, and one of them meets the other.
static void fast_drops_join(void **state)
{
    (void)state;
    cast *c = calloc(1, sizeof *c);
    const mn_vec3 fast = mn_v3(50, 0, 0);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0, 0), up, fast, 0.002);
    cast_add(c, MN_CODIM_DROP, mn_v3(0, 0.0025, 0), up, mn_add(fast, mn_v3(0, -1, 0)), 0.002);
    assert_int_equal(join(c, 1e-3), 1);
    free(c);
}

// Drops as a rim has shed them join as others do: no two of them overlap.
static void shed_drops_join(void **state)
{
    (void)state;
    static const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_jet_source_def jet = mn_jet_source_default_def();
    def.spacing = 0.002, def.sigma = 0.072, def.rim_thickness = 0.001;
    jet.angle = 90, jet.radius = 0.004;
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 12; i++) sheet_advance(&stage, 0.004);
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    int64_t drops = 0, overlaps = 0;
    for (int64_t i = 0; i < view.count; i++) {
        if (view.points[i].codim != MN_CODIM_DROP) continue;
        drops++;
        for (int64_t k = 0; k < i; k++)
            overlaps += view.points[k].codim == MN_CODIM_DROP &&
                        mn_distance(view.points[i].position, view.points[k].position) <
                            0.4999 * (view.thickness[i] + view.thickness[k]);
    }
    assert_true(drops > 20);
    assert_int_equal(overlaps, 0);
    sheet_close(&stage);
    mn_context_free(ctx);
}

static void same_bits_for_any_workers(void **state)
{
    (void)state;
    uint64_t hashes[3];
    for (int i = 0; i < 3; i++) {
        const mn_hooks hooks = {.max_workers = i == 0 ? 1 : i == 1 ? 2 : 8};
        mn_context *ctx = mn_context_create(&hooks);
        cast *c = calloc(1, sizeof *c);
        for (uint64_t k = 0; k < 5000; k++)
            cast_add(c, MN_CODIM_DROP, mn_scale(0.04, mn_random_unit3(2, k, 0)), up,
                     mn_scale(0.5, mn_random_unit3(2, k, 1)), 0.0004 + 0.001 * mn_random_unit(2, k, 2));
        mn_codim *mls = open(ctx, c, 1e-3);
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 0.004));
        const mn_codim_view view = mn_codim_get_view(mls);
        assert_true(view.count > 100 && view.count < 4000);
        hashes[i] = mn_hash_bytes(0, view.points, sizeof *view.points * (size_t)view.count);
        mn_codim_free(mls);
        mn_context_free(ctx);
        free(c);
    }
    assert_true(hashes[0] == hashes[1] && hashes[0] == hashes[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(chains_join_at_once),
        cmocka_unit_test(grown_drops_go_on),
        cmocka_unit_test(large_drops_take_small_ones),
        cmocka_unit_test(fast_drops_join),
        cmocka_unit_test(shed_drops_join),
        cmocka_unit_test(same_bits_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
