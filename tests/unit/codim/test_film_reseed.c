// SPDX-License-Identifier: Apache-2.0
//
// Points that are added to a film lie on it.
#include "codim/state.h"
#include "support/check.h"
#include "support/film_stage.h"

static const double RADIUS = 0.02;

// Points of the bubble, pushed along it by a fraction of the spacing: as uneven as films become.
static mn_vec3 uneven(mn_vec3 x)
{
    const double a = 1e-4;
    const mn_vec3 d = mn_v3(sin(5e4 * x.y), sin(7e4 * x.z), sin(6e4 * x.x));
    return mn_scale(RADIUS, mn_normalize(mn_axpy(x, a, d)));
}

// What reseed.c takes where there is no patch: the middle of the cubic through the ends and their normals.
static mn_vec3 cubic(const mn_codim_point *p, const mn_codim_point *q)
{
    const mn_vec3 e = mn_sub(q->position, p->position);
    const mn_vec3 bulge =
        mn_sub(mn_scale(mn_dot(q->normal, e), q->normal), mn_scale(mn_dot(p->normal, e), p->normal));
    return mn_axpy(mn_lerp(p->position, q->position, 0.5), 0.125, bulge);
}

static mn_codim_def still(double spacing)
{
    mn_codim_def def = mn_codim_default_def();
    def.spacing = spacing, def.sigma = 0, def.gas = false, def.air_drag = 0;
    def.gravity = mn_v3(0, 0, 0);
    return def;
}

typedef struct errors {
    double projected, cubic; ///< root mean square of the distance from the sphere, in radii
} errors;

static errors between(double spacing)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = RADIUS, source.spacing = spacing;
    const mn_codim_def def = still(spacing);
    film_stage stage = film_open(ctx, &def, &source, uneven, NULL);
    film_advance(&stage, 1e-6); // for the surface
    mn_codim *mls = stage.mls;
    check_ok(ctx, mn_array_resize(ctx, &mls->x0, mls->points.count));
    for (int64_t p = 0; p < mls->points.count; p++) mls->x0.data[p] = mls->points.data[p].position;
    check_ok(ctx, mn_codim_film_matrix_build(ctx, &mls->surface, mls->x0.data, NULL, &mls->matrix));
    errors sum = {0};
    int64_t count = 0;
    assert_int_equal(mls->points.count, mls->surface.count);
    for (int32_t p = 0; p < mls->points.count; p++)
        for (int64_t e = mls->matrix.start.data[p]; e < mls->matrix.start.data[p + 1]; e++) {
            const int32_t q = mls->matrix.column.data[e];
            mn_vec3 x;
            if (q < p) continue;
            assert_true(mn_codim_project_between(mls, p, q, 0.5, &x));
            const double a = mn_norm(x) / RADIUS - 1;
            const double b = mn_norm(cubic(&mls->points.data[p], &mls->points.data[q])) / RADIUS - 1;
            sum.projected += a * a, sum.cubic += b * b;
            count++;
        }
    film_close(&stage);
    mn_context_free(ctx);
    assert_true(count > 1000);
    return (errors){sqrt(sum.projected / (double)count), sqrt(sum.cubic / (double)count)};
}

// The fit of degree 3 is off by the fourth order of spacing over radius (1.8e-6 of the radius with 20 points
// a radius). The cubic has the normals of the triangles in it, which are of the second (5.1e-5).
static void points_between_others_lie_on_the_film(void **state)
{
    (void)state;
    const errors coarse = between(0.002), fine = between(0.001);
    assert_true(fine.projected < 0.1 * fine.cubic);
    assert_true(log2(coarse.projected / fine.projected) > 3.5);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(points_between_others_lie_on_the_film),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
