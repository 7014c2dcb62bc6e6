// SPDX-License-Identifier: Apache-2.0
//
// Gas of bubbles that part and join: none is lost, and what parts has one pressure.
#include "sources/film_source.h"
#include "support/check.h"

#include "codim/state.h"

enum { MAX = 6000 };

// Bubbles of these radii in a row, far from each other.
static mn_codim *make_bubbles(mn_context *ctx, int count, const double *radii)
{
    static mn_vec3 x[MAX], n[MAX];
    static double h[MAX];
    int64_t all = 0;
    for (int b = 0; b < count; b++) {
        mn_film_source_def source = mn_film_source_default_def();
        mn_geo *geo = NULL;
        source.kind = MN_FILM_BUBBLE, source.radius = radii[b], source.spacing = 0.001;
        check_ok(ctx, mn_film_source_create(ctx, &source, &geo));
        for (int64_t i = 0; i < mn_geo_point_count(geo) && all < MAX; i++, all++) {
            n[all] = mn_geo_position(geo, i);
            x[all] = mn_add(n[all], mn_v3(0.04 * b, 0, 0));
            h[all] = 5e-5;
        }
        mn_geo_free(geo);
    }
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.air_drag = 0, def.spacing = 0.001;
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_add(mls, &(mn_codim_source){all, x, NULL, n, h, NULL, NULL}));
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-6));
    assert_int_equal(mls->pockets.count, count);
    return mls;
}

static double amount_of_all(const mn_codim *mls)
{
    double sum = 0;
    for (int64_t k = 0; k < mls->pockets.count; k++) sum += mls->pockets.data[k].amount;
    return sum;
}

// As if they had been one bubble until now: what pinching off leaves behind.
static void a_bubble_that_parts_shares_its_gas(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = make_bubbles(ctx, 3, (double[]){0.012, 0.009, 0.004});
    const double all = 1.7 * amount_of_all(mls);
    mls->pockets.count = 1, mls->pockets.data[0].amount = all;
    for (int64_t p = 0; p < mls->points.count; p++) mls->points.data[p].pocket = 0;
    check_ok(ctx, mn_codim_find_pockets(mls));
    assert_int_equal(mls->pockets.count, 3);
    check_close(amount_of_all(mls), all, 1e-12 * all);
    const double pressure = mls->pockets.data[0].pressure;
    for (int k = 1; k < 3; k++) check_close(mls->pockets.data[k].pressure, pressure, 1e-12 * pressure);
    mn_codim_free(mls);
    mn_context_free(ctx);
}

// One that is drawn flat has no volume to speak of, and takes no gas with it.
static void nothing_is_lost_in_a_bubble_without_volume(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = make_bubbles(ctx, 2, (double[]){0.012, 0.006});
    const double all = amount_of_all(mls);
    mls->pockets.count = 1, mls->pockets.data[0].amount = all;
    for (int64_t p = 0; p < mls->points.count; p++) {
        mls->points.data[p].pocket = 0;
        if (mls->x0.data[p].x > 0.02) mls->x0.data[p].z *= 1e-9;
    }
    check_ok(ctx, mn_codim_find_pockets(mls));
    check_close(amount_of_all(mls), all, 1e-12 * all);
    mn_codim_free(mls);
    mn_context_free(ctx);
}

static void bubbles_that_join_add_their_gas(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_codim *mls = make_bubbles(ctx, 1, (double[]){0.01});
    const double each = 0.4 * amount_of_all(mls);
    check_ok(ctx, mn_array_resize(ctx, &mls->pockets, 2));
    for (int k = 0; k < 2; k++) mls->pockets.data[k] = (mn_codim_pocket){.amount = (1 + k) * each};
    for (int64_t p = 0; p < mls->points.count; p++) mls->points.data[p].pocket = mls->x0.data[p].x > 0;
    check_ok(ctx, mn_codim_find_pockets(mls));
    assert_int_equal(mls->pockets.count, 1);
    check_close(amount_of_all(mls), 3 * each, 1e-12 * each);
    mn_codim_free(mls);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_bubble_that_parts_shares_its_gas),
        cmocka_unit_test(nothing_is_lost_in_a_bubble_without_volume),
        cmocka_unit_test(bubbles_that_join_add_their_gas),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
