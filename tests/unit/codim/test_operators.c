// SPDX-License-Identifier: Apache-2.0
//
// Operators on point clouds: exact on what the polynomials hold, oriented, the same for any number of
// workers, and sane on poor clouds.
#include "codim/operators.h"
#include "meniscus/stream.h"
#include "support/check.h"
#include "support/point_clouds.h"

static mn_codim_operators *build(mn_context *ctx, double radius, int32_t degree, const mn_codim_cloud *cloud)
{
    mn_codim_operators_def def = mn_codim_operators_default_def();
    def.radius = radius, def.degree = degree;
    mn_codim_operators *o = NULL;
    check_ok(ctx, mn_codim_operators_create(ctx, &o));
    check_ok(ctx, mn_codim_operators_build(o, &def, cloud));
    return o;
}

// On a flat cloud with edges every operator is exact on polynomials of its degree, to rounding times the
// condition of the fits (about 1e3).
static void exact_on_polynomials(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_square(15, 0.25);
    mn_codim_operators *o = build(ctx, 4.2 * c.spacing, 3, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    double s[225], l[225], div[225];
    mn_vec3 g[225], v[225];
    for (int64_t i = 0; i < c.count; i++) {
        const double x = c.x[i].x, y = c.x[i].y;
        s[i] = 1 + x - 2 * y + x * x * y - y * y * y;
        v[i] = mn_v3(x * x, x * y, 3);
    }
    check_ok(ctx, mn_codim_laplacian(o, s, l));
    check_ok(ctx, mn_codim_gradient(o, s, g));
    check_ok(ctx, mn_codim_divergence(o, v, div));
    for (int64_t i = 0; i < c.count; i++) {
        const double x = c.x[i].x, y = c.x[i].y;
        assert_int_equal(mn_codim_operators_fits(o)[i].degree, 3);
        check_close(l[i], 2 * y - 6 * y, 1e-8);
        check_close(g[i].x, 1 + 2 * x * y, 1e-10);
        check_close(g[i].y, -2 + x * x - 3 * y * y, 1e-10);
        check_close(g[i].z, 0, 1e-10);
        check_close(div[i], 3 * x, 1e-10);
    }
    mn_codim_operators_free(o);
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
    mn_codim_operators *o = build(ctx, 4.2 * c.spacing, 4, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    const mn_codim_fit *fits = mn_codim_operators_fits(o);
    for (int64_t i = 0; i < c.count; i++) {
        const mn_vec3 out = mn_scale(2, c.x[i]);
        check_close(mn_dot(fits[i].normal, out), i % 2 == 0 ? -1 : 1, 1e-3);
        // Fourth degree: an error of order (h/R)^4 of the curvature, with h = 0.33 R.
        check_close(mn_dot(fits[i].curvature, out), -4, 0.05);
        check_close(mn_norm(mn_sub(fits[i].projected, c.x[i])), 0, 1e-4);
    }
    mn_codim_operators_free(o);
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
    mn_codim_operators *o = build(ctx, 4.2 * c.spacing, 3, &(mn_codim_cloud){c.count, c.x, c.toward, codims});
    const mn_codim_fit *fits = mn_codim_operators_fits(o);
    for (int64_t i = 5; i < c.count - 5; i++) {
        check_close(mn_dot(fits[i].normal, c.toward[i]), 1, 1e-4);
        check_close(mn_norm(fits[i].curvature), 1 / 1.09, 0.01);
        check_close(mn_dot(fits[i].curvature, c.x[i]), -1 / 1.09, 0.01);
    }
    mn_codim_operators_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
}

// A thread along the edge of a sheet: each sees the other, and constants have no gradient.
static void joint_operators_keep_constants(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_square(12, 0.1);
    uint8_t codims[144];
    double ones[144], l[144];
    for (int i = 0; i < 144; i++) codims[i] = i % 12 == 0 ? 2 : 1, ones[i] = 1;
    mn_codim_operators *o = build(ctx, 4.2 * c.spacing, 2, &(mn_codim_cloud){c.count, c.x, NULL, codims});
    check_ok(ctx, mn_codim_laplacian(o, ones, l));
    const mn_codim_rows rows = mn_codim_operators_rows(o);
    for (int64_t i = 0; i < c.count; i++) {
        check_close(l[i], 0, 1e-9);
        int others = 0;
        for (int64_t e = rows.start[i]; e < rows.start[i + 1]; e++)
            others += rows.laplacian[e] != 0 && codims[rows.point[e]] != codims[i];
        if (codims[i] == 2) assert_true(others > 0);
    }
    mn_codim_operators_free(o);
    cloud_free(&c);
    mn_context_free(ctx);
}

// None, one, few, on a line, all in one place: no operators, no nonsense.
static void poor_clouds_have_lower_degrees(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[8];
    mn_codim_operators *o = build(ctx, 1, 3, &(mn_codim_cloud){0, NULL, NULL, NULL});
    mn_codim_operators_free(o);
    for (int kind = 0; kind < 4; kind++) {
        const int64_t count = kind == 0 ? 1 : kind == 1 ? 4 : 8;
        for (int64_t i = 0; i < count; i++) {
            if (kind == 1) x[i] = mn_v3((double)(i % 2) * 0.3, (double)(i / 2) * 0.3, 0); // a plane at most
            if (kind == 0 || kind == 3) x[i] = mn_v3(0.1, 0.2, 0.3);
            if (kind == 2) x[i] = mn_v3(0.1 * (double)i, 0.2 * (double)i, 0);
        }
        o = build(ctx, 1, 3, &(mn_codim_cloud){count, x, NULL, NULL});
        const mn_codim_rows rows = mn_codim_operators_rows(o);
        for (int64_t i = 0; i < count; i++) {
            const mn_codim_fit *fit = &mn_codim_operators_fits(o)[i];
            assert_int_equal(fit->degree, kind == 1 ? 1 : 0);
            assert_true(mn_is_finite3(fit->normal) && mn_is_finite3(fit->projected));
            check_close(mn_norm(fit->normal), 1, 1e-12);
        }
        for (int64_t e = 0; e < rows.start[count]; e++) {
            check_close(rows.laplacian[e], 0, 0);
            assert_true(mn_is_finite3(rows.gradient[e]));
        }
        mn_codim_operators_free(o);
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
    mn_codim_operators_def def = mn_codim_operators_default_def();
    def.radius = 4.2 * a.spacing, def.same_side = 0.1;
    mn_codim_operators *o = NULL;
    check_ok(ctx, mn_codim_operators_create(ctx, &o));
    check_ok(ctx, mn_codim_operators_build(o, &def, &(mn_codim_cloud){200, both.x, both.toward, NULL}));
    for (int i = 0; i < 200; i++) {
        check_close(mn_norm(mn_codim_operators_fits(o)[i].curvature), 0, 1e-9);
        check_close(mn_dot(mn_codim_operators_fits(o)[i].normal, both.toward[i]), 1, 1e-12);
    }
    mn_codim_operators_free(o);
    cloud_free(&a), cloud_free(&both);
    mn_context_free(ctx);
}

static uint64_t hash_with(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    point_cloud c = cloud_torus(60, 0.2);
    mn_codim_operators *o = build(ctx, 4.2 * c.spacing, 3, &(mn_codim_cloud){c.count, c.x, c.toward, NULL});
    const mn_codim_rows rows = mn_codim_operators_rows(o);
    const uint64_t hash = mn_hash_bytes(0, rows.laplacian, sizeof(double) * (size_t)rows.start[c.count]);
    mn_codim_operators_free(o);
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
    mn_codim_operators *o = NULL;
    check_ok(ctx, mn_codim_operators_create(ctx, &o));
    mn_vec3 x[2] = {{0, 0, 0}, {NAN, 0, 0}};
    const mn_codim_cloud cloud = {2, x, NULL, NULL};
    mn_codim_operators_def def = mn_codim_operators_default_def();
    check_fails(ctx, mn_codim_operators_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "radius");
    def.radius = 1, def.degree = 5;
    check_fails(ctx, mn_codim_operators_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "degree");
    def.degree = 2, def.other_weight = 2;
    check_fails(ctx, mn_codim_operators_build(o, &def, &cloud), MN_ERROR_ARGUMENT, "other_weight");
    def.other_weight = 1;
    assert_int_not_equal(mn_codim_operators_build(o, &def, &cloud), MN_OK);
    assert_true(mn_context_message(ctx)[0] != '\0');
    mn_codim_operators_free(o);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exact_on_polynomials),
        cmocka_unit_test(sphere_curvature_and_side),
        cmocka_unit_test(helix_curvature),
        cmocka_unit_test(joint_operators_keep_constants),
        cmocka_unit_test(poor_clouds_have_lower_degrees),
        cmocka_unit_test(sides_are_kept_apart),
        cmocka_unit_test(same_bits_for_any_workers),
        cmocka_unit_test(bad_input_is_a_sentence),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
