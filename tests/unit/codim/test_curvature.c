// SPDX-License-Identifier: Apache-2.0
//
// What moving least squares show of films: the mean curvature of a bubble, and normals that are its radii.
#include "codim/state.h"
#include "support/check.h"
#include "support/film_stage.h"

typedef struct found {
    double curvature; ///< largest error times the radius
    double normal;    ///< largest distance of a normal from the radius
} found;

static found measure(double radius, double spacing)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = radius, source.spacing = spacing;
    mn_codim_def def = mn_codim_default_def();
    def.spacing = spacing, def.output_curvature = true;
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    mn_view view = {0};
    mn_geo *geo;
    found worst = {0};
    check_ok(ctx, mn_codim_solver.view((mn_solver *)stage.mls, &(mn_solver_inputs){0}, 0, &view));
    check_ok(ctx, mn_geo_from_view(ctx, &view, &geo));
    const mn_attribute *curvature = mn_geo_find_numeric(geo, MN_POINT, "curvature", 1);
    assert_non_null(curvature);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        double bent;
        mn_vec3 n;
        mn_attribute_get(curvature, i, 1, &bent);
        mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "N", 3), i, 1, &n.x);
        worst.curvature = fmax(worst.curvature, fabs(bent * radius - 1));
        worst.normal = fmax(worst.normal, mn_distance(n, mn_normalize(mn_geo_position(geo, i))));
    }
    mn_geo_free(geo);
    film_close(&stage);
    mn_context_free(ctx);
    return worst;
}

// A sphere is its osculating paraboloid up to the fourth order, d^4/(8 R^3): over 4.2 spacings the fit of
// degree 3 is off by about (d/R)^2/4 in the curvature, and the error falls with the square of the spacing.
static void bubbles_curve_by_their_radius(void **state)
{
    (void)state;
    const double radius = 0.02;
    const found coarse = measure(radius, 0.002), fine = measure(radius, 0.001);
    const double reach = 4.2 * 0.001 / radius;
    assert_true(fine.curvature < 0.25 * reach * reach);
    assert_true(log2(coarse.curvature / fine.curvature) > 1.8);
    assert_true(fine.normal < 0.25 * reach * reach * reach);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bubbles_curve_by_their_radius)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
