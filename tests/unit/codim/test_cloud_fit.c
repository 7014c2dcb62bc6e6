// SPDX-License-Identifier: Apache-2.0
//
// Fits of point clouds: exact on what the polynomials hold, oriented, the same for any number of workers, and
// sane on poor clouds.
#include "codim/cloud_fit.h"
#include "meniscus/stream.h"
#include "support/check.h"
#include "support/point_clouds.h"

static mn_codim_cloud_fit *build(mn_context *ctx, double radius, int32_t degree, const mn_codim_cloud *cloud)
{
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    def.radius = radius, def.degree = degree;
    mn_codim_cloud_fit *o = NULL;
    check_ok(ctx, mn_codim_cloud_fit_create(ctx, &o));
    check_ok(ctx, mn_codim_cloud_fit_build(o, &def, cloud));
    return o;
}

// A cloud that is a graph of degree 2, edges included, with the cloud's own frame turned away from its axes:
// the fit holds the graph but for what the turned frame makes of degree 4, so a cylinder of parabolic section
// z = c x^2 / 2 has the curvature c / (1 + c^2 x^2)^1.5 at x to the square of slope times reach.
static void parabolas_curve_as_they_should(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_square(25, 0.2);
    const double bend = 0.3;
    for (int64_t i = 0; i < c.count; i++) c.x[i].z = 0.5 * bend * c.x[i].x * c.x[i].x;
    mn_codim_cloud_fit *o = build(ctx, 4.2 * c.spacing, 4, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    for (int64_t i = 0; i < c.count; i++) {
        const mn_codim_fit *fit = &mn_codim_cloud_fit_found(o)[i];
        const double slope = bend * c.x[i].x, g = 1 + slope * slope;
        assert_int_equal(fit->degree, 4);
        check_close(mn_dot(fit->curvature, fit->normal) * (fit->normal.z > 0 ? 1 : -1), bend / (g * sqrt(g)),
                    2e-3 * bend);
        check_close(fabs(fit->normal.z), 1 / sqrt(g), 1e-5);
    }
    mn_codim_cloud_fit_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
}

// A sphere curves by 2/R toward its middle, and normals face the side they were told to.
static void sphere_curvature_and_side(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_sphere(2000, 0.5, 0.2);
    for (int64_t i = 0; i < c.count; i += 2) c.toward[i] = mn_scale(-1, c.toward[i]);
    mn_codim_cloud_fit *o = build(ctx, 4.2 * c.spacing, 4, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    const mn_codim_fit *fits = mn_codim_cloud_fit_found(o);
    for (int64_t i = 0; i < c.count; i++) {
        const mn_vec3 out = mn_scale(2, c.x[i]);
        check_close(mn_dot(fits[i].normal, out), i % 2 == 0 ? -1 : 1, 1e-3);
        // Fourth degree: an error of order (h/R)^4 of the curvature, with h = 0.33 R.
        check_close(mn_dot(fits[i].curvature, out), -4, 0.05);
    }
    mn_codim_cloud_fit_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
}

static void helix_curvature(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_helix(200, 0.1);
    uint8_t codims[200];
    memset(codims, 2, sizeof codims);
    mn_codim_cloud_fit *o = build(ctx, 4.2 * c.spacing, 3, &(mn_codim_cloud){c.count, c.x, c.toward, codims});
    const mn_codim_fit *fits = mn_codim_cloud_fit_found(o);
    for (int64_t i = 5; i < c.count - 5; i++) {
        check_close(mn_dot(fits[i].normal, c.toward[i]), 1, 1e-4);
        check_close(mn_norm(fits[i].curvature), 1 / 1.09, 0.01);
        check_close(mn_dot(fits[i].curvature, c.x[i]), -1 / 1.09, 0.01);
    }
    mn_codim_cloud_fit_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
}

// None, one, few, on a line, all in one place: no fit, no nonsense.
static void poor_clouds_have_lower_degrees(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[8];
    mn_codim_cloud_fit *o = build(ctx, 1, 3, &(mn_codim_cloud){0, NULL, NULL, NULL});
    mn_codim_cloud_fit_free(o);
    for (int kind = 0; kind < 4; kind++) {
        const int64_t count = kind == 0 ? 1 : kind == 1 ? 4 : 8;
        for (int64_t i = 0; i < count; i++) {
            if (kind == 1) x[i] = mn_v3((double)(i % 2) * 0.3, (double)(i / 2) * 0.3, 0); // a plane at most
            if (kind == 0 || kind == 3) x[i] = mn_v3(0.1, 0.2, 0.3);
            if (kind == 2) x[i] = mn_v3(0.1 * (double)i, 0.2 * (double)i, 0);
        }
        o = build(ctx, 1, 3, &(mn_codim_cloud){count, x, NULL, NULL});
        for (int64_t i = 0; i < count; i++) {
            const mn_codim_fit *fit = &mn_codim_cloud_fit_found(o)[i];
            assert_int_equal(fit->degree, kind == 1 ? 1 : 0);
            assert_true(mn_is_finite3(fit->normal) && mn_norm(fit->curvature) == 0);
            check_close(mn_norm(fit->normal), 1, 1e-12);
        }
        mn_codim_cloud_fit_free(o);
    }
    mn_context_free(ctx);
}

// Two close sheets that face away from each other do not see each other.
static void sides_are_kept_apart(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud a = cloud_square(10, 0), both = cloud_allocate(200);
    for (int i = 0; i < 200; i++) {
        both.x[i] = mn_add(a.x[i % 100], mn_v3(0, 0, i < 100 ? 0 : 0.3 * a.spacing));
        both.toward[i] = mn_v3(0, 0, i < 100 ? -1 : 1);
    }
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    def.radius = 4.2 * a.spacing, def.same_side = 0.1;
    mn_codim_cloud_fit *o = NULL;
    check_ok(ctx, mn_codim_cloud_fit_create(ctx, &o));
    check_ok(ctx, mn_codim_cloud_fit_build(o, &def, &(mn_codim_cloud){200, both.x, both.toward, NULL}));
    for (int i = 0; i < 200; i++) {
        check_close(mn_norm(mn_codim_cloud_fit_found(o)[i].curvature), 0, 1e-9);
        check_close(mn_dot(mn_codim_cloud_fit_found(o)[i].normal, both.toward[i]), 1, 1e-12);
    }
    mn_codim_cloud_fit_free(o);
    cloud_free(&a), cloud_free(&both);
    mn_context_free(ctx);
}

static uint64_t hash_with(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    point_cloud c = cloud_torus(60, 0.2);
    mn_codim_cloud_fit *o = build(ctx, 4.2 * c.spacing, 3, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    const uint64_t hash =
        mn_hash_bytes(0, mn_codim_cloud_fit_found(o), sizeof(mn_codim_fit) * (size_t)c.count);
    mn_codim_cloud_fit_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
    return hash;
}

static void same_bits_for_any_workers(void **state)
{
    (void)state;
    const uint64_t one = hash_with(1);
    assert_true(hash_with(2) == one);
    assert_true(hash_with(8) == one);
}

static void bad_input_is_a_sentence(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_codim_cloud_fit *o = NULL;
    check_ok(ctx, mn_codim_cloud_fit_create(ctx, &o));
    mn_vec3 x[2] = {{0, 0, 0}, {NAN, 0, 0}};
    const mn_codim_cloud cloud = {2, x, NULL, NULL};
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    check_fails(ctx, mn_codim_cloud_fit_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "radius");
    def.radius = 1, def.degree = 5;
    check_fails(ctx, mn_codim_cloud_fit_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "degree");
    def.degree = 2, def.other_weight = 2;
    check_fails(ctx, mn_codim_cloud_fit_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "other_weight");
    def.other_weight = 1;
    assert_int_not_equal(mn_codim_cloud_fit_build(o, &def, &cloud), MN_OK);
    assert_true(mn_context_message(ctx)[0] != '\0');
    mn_codim_cloud_fit_free(o);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parabolas_curve_as_they_should),
        cmocka_unit_test(sphere_curvature_and_side),
        cmocka_unit_test(helix_curvature),
        cmocka_unit_test(poor_clouds_have_lower_degrees),
        cmocka_unit_test(sides_are_kept_apart),
        cmocka_unit_test(same_bits_for_any_workers),
        cmocka_unit_test(bad_input_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
