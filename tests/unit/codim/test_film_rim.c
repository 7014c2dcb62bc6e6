// SPDX-License-Identifier: Apache-2.0
//
// Free edges: tension that the artist sets, sheets with corners, drops that leave a thick rim.
#include "meniscus/codim.h"
#include "sources/film_source.h"
#include "sources/jet_source.h"
#include "support/check.h"
#include "support/film_stage.h"
#include "support/sheet_stage.h"

static const double pi = 3.14159265358979323846;

static mn_context *make_context(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

// How far the rim of a hole has run after a while, with this factor.
static double run(double factor)
{
    mn_context *ctx = make_context();
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_film_source_def source = mn_film_source_default_def();
    def.spacing = source.spacing = 0.001, def.rim_factor = factor;
    source.hole = 0.006;
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    const double before = film_report(&stage).value[MN_REPORT_area][0];
    film_advance(&stage, 0.002);
    const double lost = before - film_report(&stage).value[MN_REPORT_area][0];
    film_close(&stage);
    mn_context_free(ctx);
    return sqrt(0.006 * 0.006 + lost / pi) - 0.006;
}

// The rim runs at sqrt(2 f sigma / (rho h)): twice the tension, sqrt(2) times as far; none, and it stays.
static void rims_pull_as_they_are_told(void **state)
{
    (void)state;
    const double one = run(1);
    check_close(run(2) / one, sqrt(2), 0.08); // some 5 spacings: each is collected at once
    check_close(run(0) / one, 0, 0.02);
}

// Moments of the rim's radius around the axis over the angle: how strongly it has n corners.
static double corners(const sheet_stage *s, int n)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
    double a = 0, b = 0, total = 0;
    for (int64_t t = 0; t < view.triangle_count; t++) {
        mn_vec3 x[3];
        for (int i = 0; i < 3; i++) x[i] = view.points[view.triangles[t][i]].position;
        const double area = mn_norm(mn_cross(mn_sub(x[1], x[0]), mn_sub(x[2], x[0])));
        const double angle = atan2(x[0].z + x[1].z + x[2].z, x[0].x + x[1].x + x[2].x);
        a += area * cos(n * angle), b += area * sin(n * angle), total += area;
    }
    return sqrt(a * a + b * b) / total;
}

// A sheet with four sides has its area over the angle go around four times, by 1/cos^2: a Fourier part of
// 0.12 in a square, and hardly any other.
static void sheets_get_sides(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_jet_source_def jet = mn_jet_source_default_def();
    def.spacing = 0.002, def.sigma = 0.072, def.polygon_sides = 4, def.polygon_strength = 1;
    jet.angle = 90, jet.radius = 0.004;
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 16; i++) sheet_advance(&stage, 0.004);
    assert_true(corners(&stage, 4) > 0.06);
    assert_true(corners(&stage, 3) < 0.04 && corners(&stage, 5) < 0.04);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// Drops leave, and the mass is what has come in; shedding_keeps_momentum has the momentum.
static void thick_rims_shed_drops(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_jet_source_def jet = mn_jet_source_default_def();
    def.spacing = 0.002, def.sigma = 0.072, def.rim_thickness = 0.001;
    jet.angle = 90, jet.radius = 0.004;
    sheet_stage stage;
    sheet_open(&stage, ctx, &def, &jet);
    for (int i = 0; i < 8; i++) sheet_advance(&stage, 0.004);
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    int64_t drops = 0;
    for (int64_t i = 0; i < view.count; i++) drops += view.points[i].codim == MN_CODIM_DROP;
    assert_true(drops > 20);
    const double mass = 1000 * 0.25 * pi * 9e-6 * 2 * 0.032; // its flow is a float
    check_close(sheet_report(&stage).value[MN_REPORT_mass][0] / mass, 1, 1e-5);
    sheet_close(&stage);
    mn_context_free(ctx);
}

// A film on nothing whose rim sheds: mass and momentum stay.
static void shedding_keeps_momentum(void **state)
{
    (void)state;
    mn_context *ctx = make_context();
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    mn_film_source_def source = mn_film_source_default_def();
    def.spacing = source.spacing = 0.001, def.rim_thickness = 2e-4;
    source.pin = false, source.radius = 0.012, source.velocity = mn_v3(0.1, 0.2, -0.3);
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    const mn_report before = film_report(&stage);
    film_advance(&stage, 0.003);
    const mn_report after = film_report(&stage);
    const mn_codim_view view = mn_codim_get_view(stage.mls);
    int64_t drops = 0;
    for (int64_t i = 0; i < view.count; i++) drops += view.points[i].codim == MN_CODIM_DROP;
    assert_true(drops > 0);
    const double mass = before.value[MN_REPORT_mass][0], speed = after.value[MN_REPORT_max_speed][0];
    check_close(after.value[MN_REPORT_mass][0] / mass, 1, 1e-13);
    for (int i = 0; i < 3; i++)
        check_close((after.value[MN_REPORT_momentum][i] - before.value[MN_REPORT_momentum][i]) /
                        (mass * speed),
                    0, 1e-12);
    film_close(&stage);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rims_pull_as_they_are_told),
        cmocka_unit_test(sheets_get_sides),
        cmocka_unit_test(thick_rims_shed_drops),
        cmocka_unit_test(shedding_keeps_momentum),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
