// SPDX-License-Identifier: Apache-2.0
//
// Curves of jets: that they carry the flow and the momentum of the jets, and what they say to bad input.
#include "sources/jet_source.h"
#include "support/check.h"

static const double pi = 3.14159265358979323846;

// Volume flow and momentum over density that leave through a closed polyline.
static double flow_through(const mn_geo *geo, mn_vec3 *momentum)
{
    const int64_t count = mn_geo_point_count(geo);
    double sum = 0;
    *momentum = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < count; i++) {
        mn_vec3 u[2], e;
        double h[2];
        for (int k = 0; k < 2; k++) {
            mn_attribute_get(mn_geo_find(geo, MN_POINT, "v"), (i + k) % count, 1, &u[k].x);
            mn_attribute_get(mn_geo_find(geo, MN_POINT, "thickness"), (i + k) % count, 1, &h[k]);
        }
        e = mn_sub(mn_geo_position(geo, (i + 1) % count), mn_geo_position(geo, i));
        const mn_vec3 mean = mn_lerp(u[0], u[1], 0.5);
        const double flow = 0.5 * (h[0] + h[1]) * mn_norm(mn_cross(e, mean));
        sum += flow;
        *momentum = mn_axpy(*momentum, flow, mean);
    }
    return sum;
}

// All that the jets bring leaves, to the rounding of floats; the momentum to the square of the ring's angle.
static void rings_carry_the_jets(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    static const mn_jet_kind kinds[] = {MN_JET_DISC, MN_JET_OPPOSED, MN_JET_CROSSING};
    for (int k = 0; k < 3; k++) {
        mn_jet_source_def def = mn_jet_source_default_def();
        mn_geo *geo = NULL;
        mn_vec3 momentum;
        def.kind = kinds[k];
        def.angle = 45, def.axis = mn_v3(1, -2, 0.5), def.center = mn_v3(0.01, 0.02, 0.03);
        const double jets = kinds[k] == MN_JET_DISC ? 1 : 2, one = 0.25 * pi * 9e-6 * 2;
        check_ok(ctx, mn_jet_source_create(ctx, &def, &geo));
        check_close(flow_through(geo, &momentum) / (jets * one), 1, 1e-5);
        const double along = kinds[k] == MN_JET_OPPOSED ? 0 : cos(pi / 4);
        check_close(mn_dot(momentum, mn_normalize(def.axis)) / (jets * one * def.speed), along, 2e-3);
        check_close(mn_norm(momentum) / (jets * one * def.speed), along, 2e-3);
        mn_geo_free(geo);
        def.flow = 3e-5;
        check_ok(ctx, mn_jet_source_create(ctx, &def, &geo));
        check_close(flow_through(geo, &momentum) / (jets * 3e-5), 1, 1e-5);
        mn_geo_free(geo);
    }
    mn_context_free(ctx);
}

// Curves keep what they say and get the rest from the def.
static void curves_are_completed(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *line = NULL, *geo = NULL;
    static const int64_t corners[] = {0, 1, 2};
    check_ok(ctx, mn_geo_create(ctx, &line));
    check_ok(ctx, mn_geo_add_points(line, 3, NULL));
    mn_jet_source_def def = mn_jet_source_default_def();
    def.kind = MN_JET_CURVES;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_INPUT, "connect a polyline");
    def.geo = line, def.thickness = 2e-4, def.speed = 3, def.axis = mn_v3(0, -2, 0);
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_INPUT, "connect a polyline");
    check_ok(ctx, mn_geo_add_primitives(line, MN_POLYLINE, 1, NULL, 3, corners, NULL));
    check_ok(ctx, mn_jet_source_create(ctx, &def, &geo));
    mn_vec3 v;
    double h;
    mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "v", 3), 2, 1, &v.x);
    mn_attribute_get(mn_geo_find_numeric(geo, MN_POINT, "thickness", 1), 2, 1, &h);
    check_close(v.y, -3, 1e-6);
    check_close(h, 2e-4, 1e-10);
    // What it says itself stays.
    mn_geo *again = NULL;
    def.geo = geo, def.thickness = 1, def.speed = 7;
    check_ok(ctx, mn_jet_source_create(ctx, &def, &again));
    mn_attribute_get(mn_geo_find_numeric(again, MN_POINT, "v", 3), 2, 1, &v.x);
    check_close(v.y, -3, 1e-6);
    mn_geo_free(again);
    mn_geo_free(geo);
    mn_geo_free(line);
    mn_context_free(ctx);
}

// A jet on a box leaves it where the box faces the jet, at its corners.
static void jets_strike_things(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *box = NULL, *geo = NULL;
    mn_vec3 momentum;
    check_ok(ctx, mn_geo_create(ctx, &box));
    check_ok(ctx, mn_geo_add_points(box, 8, NULL));
    float *P = mn_geo_write_positions(box);
    for (int i = 0; i < 8; i++) {
        P[3 * i] = i & 1 ? 0.013f : 0.007f, P[3 * i + 1] = i & 2 ? 0.02f : 0.01f;
        P[3 * i + 2] = i & 4 ? 0.004f : -0.004f;
    }
    mn_jet_source_def def = mn_jet_source_default_def();
    def.geo = box;
    check_ok(ctx, mn_jet_source_create(ctx, &def, &geo));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        const mn_vec3 d = mn_sub(mn_geo_position(geo, i), mn_v3(0.01, 0.02, 0));
        check_close(d.y, 0, 1e-8);
        check_close(mn_norm(d), 0.005, 1e-8);
    }
    check_close(flow_through(geo, &momentum) / (0.25 * pi * 9e-6 * 2), 1, 1e-5);
    mn_geo_free(geo);
    geo = NULL;
    P = mn_geo_write_positions(box);
    P[4] = NAN;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_INPUT, "Point 1 of the jet's target");
    mn_geo_free(box);
    mn_context_free(ctx);
}

static void bad_jets_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo = NULL;
    const mn_jet_source_def good = mn_jet_source_default_def();
    mn_jet_source_def def = good;
    def.speed = -1;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "turn the axis");
    def = good, def.diameter = NAN;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "diameter");
    def = good, def.angle = 180;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "angle");
    def = good, def.axis = mn_v3(0, 0, 0);
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "no direction");
    def = good, def.kind = MN_JET_CROSSING, def.side = def.axis;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "along their axis");
    def = good, def.center.x = INFINITY;
    check_fails(ctx, mn_jet_source_create(ctx, &def, &geo), MN_ERROR_ARGUMENT, "finite");
    def = good, def.speed = 0; // shut, and fine
    check_ok(ctx, mn_jet_source_create(ctx, &def, &geo));
    mn_geo_free(geo);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rings_carry_the_jets),
        cmocka_unit_test(curves_are_completed),
        cmocka_unit_test(jets_strike_things),
        cmocka_unit_test(bad_jets_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
