// SPDX-License-Identifier: Apache-2.0
//
// Films to start with: that their thickness varies as far and as smoothly as it was asked to, and what they
// say to bad input.
#include "support/one_context.h"

#include "sources/film_source.h"

static const double THICKNESS = 1e-6, PATCH = 0.01;

static mn_film_source_def noisy_disc(double noise, uint64_t seed)
{
    mn_film_source_def def = mn_film_source_default_def();
    def.radius = 0.05, def.thickness = THICKNESS, def.noise = noise, def.noise_size = PATCH, def.seed = seed;
    return def;
}

// Thickness of every point; the caller frees the film.
static const float *make(const mn_film_source_def *def, mn_geo **geo, int64_t *count)
{
    check_ok(ctx, mn_film_source_create(ctx, def, geo));
    *count = mn_geo_point_count(*geo);
    return mn_attribute_data(mn_geo_find_numeric(*geo, MN_POINT, "thickness", 1));
}

// Where patches meet, thickness goes over from one to the other by a cubic: no faster than 3/2 of their
// difference, at most 2 noise, over each axis of the lattice; and the same again for the patches of half the
// size, which count half.
static void thickness_varies_smoothly(void **state)
{
    (void)state;
    const double noise = 0.3, steepest = noise * (2 + 2) / 3 * 3 * sqrt(2) / PATCH;
    const mn_film_source_def def = noisy_disc(noise, 1);
    mn_geo *geo = NULL;
    int64_t count;
    const float *h = make(&def, &geo, &count);
    double low = INFINITY, high = 0;
    for (int64_t i = 0; i < count; i++) {
        low = fmin(low, h[i] / THICKNESS), high = fmax(high, h[i] / THICKNESS);
        for (int64_t k = i + 1; k < count && k < i + 20; k++) {
            const double apart = mn_distance(mn_geo_position(geo, i), mn_geo_position(geo, k));
            assert_true(fabs(h[i] - h[k]) / THICKNESS <= steepest * apart + 1e-6);
        }
    }
    assert_true(low >= 1 - noise && high <= 1 + noise);
    assert_true(low < 1 - 0.5 * noise && high > 1 + 0.5 * noise); // of 78 patches some are far off
    mn_geo_free(geo);
}

static void noise_goes_by_its_seed(void **state)
{
    (void)state;
    const mn_film_source_def defs[4] = {noisy_disc(0.3, 1), noisy_disc(0.3, 1), noisy_disc(0.3, 2),
                                        noisy_disc(0, 1)};
    mn_geo *geo[4];
    const float *h[4];
    int64_t count;
    for (int k = 0; k < 4; k++) h[k] = make(&defs[k], &geo[k], &count);
    int64_t differ = 0;
    for (int64_t i = 0; i < count; i++) {
        assert_true(h[0][i] == h[1][i]);
        assert_true(h[3][i] == (float)THICKNESS);
        differ += h[0][i] != h[2][i];
    }
    assert_true(differ > count / 2);
    for (int k = 0; k < 4; k++) mn_geo_free(geo[k]);
}

static void bad_noise_is_refused(void **state)
{
    (void)state;
    mn_geo *geo = NULL;
    mn_film_source_def def = noisy_disc(1, 0);
    check_fails(ctx, mn_film_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "noise");
    def = noisy_disc(0.1, 0), def.noise_size = 0;
    check_fails(ctx, mn_film_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "noise_size");
    def.noise_size = 5e-324; // patches that no number can name are none
    check_ok(ctx, mn_film_source_create(ctx, &def, &geo));
    mn_geo_free(geo);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(thickness_varies_smoothly),
        cmocka_unit_test(noise_goes_by_its_seed),
        cmocka_unit_test(bad_noise_is_refused),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
