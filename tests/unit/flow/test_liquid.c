// SPDX-License-Identifier: Apache-2.0
//
// Liquids: a dam that breaks keeps its volume and gives the same bits for any number of workers and after
// loading, drops that fall in bring their volume, and input that makes no sense is a sentence or a sane
// result.
#include "support/check.h"
#include "support/saved_state.h"

#include "base/parallel.h"
#include "meniscus/flow.h"

static mn_flow_def small_tank(void)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = 0.01, def.density = 1000, def.sigma = 0.072,
    def.cfl = 1, def.use_level = false;
    def.domain_size = mn_v3(0.2, 0.12, 0.01), def.domain_center = mn_v3(0.1, 0.06, 0);
    return def;
}

static double column(void *user, mn_vec3 x)
{
    (void)user;
    return fmax(x.x - 0.071, x.y - 0.083);
}

static double reported(const mn_flow *flow, mn_report_key key)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[key][0];
}

static mn_flow *dam(mn_context *ctx, int32_t frames)
{
    const mn_flow_def def = small_tank();
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, column, NULL));
    for (int32_t f = 0; f < frames; f++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    return flow;
}

static void a_broken_dam_keeps_its_volume(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow *flow = dam(ctx, 0);
    const double before = reported(flow, MN_REPORT_volume);
    check_close(before, 0.071 * 0.083 * 0.01,
                0.02 * before); // corners of the column are rounded by the splines
    for (int32_t f = 0; f < 6; f++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    check_close(reported(flow, MN_REPORT_volume), before, 0.005 * before);
    assert_true(mn_flow_distance_at(flow, mn_v3(0.13, 0.004, 0)) < 0); // it has run out along the floor
    assert_true(mn_flow_distance_at(flow, mn_v3(0.01, 0.08, 0)) > 0);  // and fallen
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void bytes_of(mn_context *ctx, mn_flow *flow, saved_state *saved)
{
    mn_writer out = {ctx, saved, saved_put};
    saved->size = saved->read = 0;
    check_ok(ctx, mn_flow_save(flow, &out));
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    static saved_state saved[2];
    for (int32_t k = 0; k < 2; k++) {
        const int32_t workers[2] = {1, 8};
        mn_scheduler scheduler = mn_thread_scheduler(&workers[k]);
        const mn_hooks hooks = {.scheduler = &scheduler};
        mn_context *ctx = mn_context_create(&hooks);
        mn_flow *flow = dam(ctx, 1);
        bytes_of(ctx, flow, &saved[k]);
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
    assert_int_equal(saved[1].size, saved[0].size);
    assert_memory_equal(saved[1].bytes, saved[0].bytes, saved[0].size);
}

static void a_loaded_liquid_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_flow_def def = small_tank();
    static saved_state middle, end, again;
    mn_flow *flow = dam(ctx, 2), *other = NULL;
    bytes_of(ctx, flow, &middle);
    mn_reader in = {ctx, &middle, saved_get};
    check_ok(ctx, mn_flow_load(ctx, &def, &in, &other));
    check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    check_ok(ctx, mn_flow_advance(other, NULL, 0.02));
    bytes_of(ctx, flow, &end);
    bytes_of(ctx, other, &again);
    assert_int_equal(end.size, again.size);
    assert_memory_equal(end.bytes, again.bytes, end.size);
    mn_flow_free(flow);
    mn_flow_free(other);
    mn_context_free(ctx);
}

typedef struct countdown {
    int64_t left, asked;
} countdown;

static bool stop_at_zero(void *user)
{
    countdown *c = user;
    c->asked++;
    return c->left >= 0 && c->left-- == 0;
}

// Cancelled at whichever question, a step leaves the state as it was: advanced again, it gives the same
// bytes.
static void a_cancelled_step_never_was(void **state)
{
    (void)state;
    static saved_state whole, again;
    countdown count = {-1, 0};
    const mn_hooks hooks = {.max_workers = 1, .user = &count, .cancelled = stop_at_zero};
    mn_context *ctx = mn_context_create(&hooks);
    for (int32_t smoke = 0; smoke < 2; smoke++) {
        mn_flow_def def = small_tank();
        def.fluid = smoke ? MN_FLOW_SMOKE : MN_FLOW_LIQUID, def.viscosity = 0.01, def.use_level = true;
        def.level = 0.04, def.buoyancy = 0;
        mn_flow *flow = NULL, *other = NULL;
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &other));
        if (!smoke) check_ok(ctx, mn_flow_set_surface(flow, column, NULL));
        if (!smoke) check_ok(ctx, mn_flow_set_surface(other, column, NULL));
        count.asked = 0;
        check_ok(ctx, mn_flow_advance(flow, NULL, 0.001));
        const int64_t questions = count.asked;
        assert_true(questions > 20);
        mn_status status = MN_ERROR_CANCELLED;
        int32_t cancels = 0;
        for (int64_t n = 1; status == MN_ERROR_CANCELLED; n += questions / 17, cancels++) {
            count.left = n < questions ? n : -1; // matrices of smoke are built once: it asks less often then
            status = mn_flow_advance(other, NULL, 0.001);
        }
        check_ok(ctx, status);
        assert_true(cancels > 8);
        bytes_of(ctx, flow, &whole);
        bytes_of(ctx, other, &again);
        assert_int_equal(whole.size, again.size);
        assert_memory_equal(whole.bytes, again.bytes, whole.size);
        mn_flow_free(flow);
        mn_flow_free(other);
    }
    mn_context_free(ctx);
}

// A drop that falls in adds its volume to the pond; it is spread over the cells near the place, in one step
// or two.
static void a_drop_brings_its_volume(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = small_tank();
    def.flat = false, def.domain_size = mn_v3(0.16, 0.12, 0.16), def.domain_center = mn_v3(0.08, 0.06, 0.08);
    def.use_level = true, def.level = 0.063;
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    const double before = reported(flow, MN_REPORT_volume), radius = 0.01;
    const mn_flow_drop drop = {{0.083, 0.05, 0.077}, {0, -1, 0}, radius, 0, 0};
    const mn_flow_inputs rain = {.drop_count = 1, .drops = &drop};
    const mn_solver_inputs inputs = {.own = &rain};
    check_ok(ctx, mn_flow_advance(flow, &inputs, 0.02));
    check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    const double gained = reported(flow, MN_REPORT_volume) - before,
                 brought = 4.0 / 3 * 3.14159265 * pow(radius, 3);
    check_close(gained, brought, 0.1 * brought);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

// The ripple map has the height that the surface was given, to what splines of the quasi-inverse leave of a
// wave of 20 cells.
static double wavy(void *user, mn_vec3 x)
{
    (void)user;
    return x.y - 0.06 - 0.005 * cos(3.14159265 * x.x / 0.1);
}

static void ripples_are_the_height_of_the_water(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = small_tank();
    def.flat = false, def.domain_size.z = 0.05, def.level = 0.06, def.use_level = true;
    mn_flow *flow = NULL;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, wavy, NULL));
    mn_view view = {0};
    mn_geo *geo = NULL;
    check_ok(ctx, mn_flow_solver.view((mn_solver *)flow, NULL, 1, &view));
    check_ok(ctx, mn_geo_from_view(ctx, &view, &geo));
    assert_int_equal(mn_geo_point_count(geo), 20 * 5);
    assert_int_equal(mn_geo_primitive_count(geo), 19 * 4);
    const mn_attribute *height = mn_geo_find_numeric(geo, MN_POINT, "height", 1),
                       *normal = mn_geo_find_numeric(geo, MN_POINT, "N", 3);
    for (int64_t i = 0; i < 100; i++) {
        const mn_vec3 x = mn_geo_position(geo, i);
        double h, n[3];
        mn_attribute_get(height, i, 1, &h);
        mn_attribute_get(normal, i, 1, n);
        check_close(x.y, 0.06, 1e-7);
        check_close(h, 0.005 * cos(3.14159265 * x.x / 0.1), 5e-5);
        check_close(n[0] / n[1], 0.005 * 3.14159265 / 0.1 * sin(3.14159265 * x.x / 0.1), 0.01);
    }
    mn_geo_free(geo);
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void odd_input_is_a_sane_result(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = small_tank();
    mn_flow *flow = NULL;
    def.use_level = true, def.level = -3; // below the floor: no liquid at all
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
    mn_flow_free(flow);
    def = small_tank(), def.fluid = MN_FLOW_SMOKE;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_fails(ctx, mn_flow_set_surface(flow, column, NULL), MN_ERROR_ARGUMENT, "liquid");
    mn_flow_free(flow);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_broken_dam_keeps_its_volume),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(a_loaded_liquid_goes_on_with_the_same_bits),
        cmocka_unit_test(a_cancelled_step_never_was),
        cmocka_unit_test(a_drop_brings_its_volume),
        cmocka_unit_test(ripples_are_the_height_of_the_water),
        cmocka_unit_test(odd_input_is_a_sane_result),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
