// SPDX-License-Identifier: Apache-2.0
//
// Particles in a band below the surface: they leave waves their period and height, a breaking dam its volume,
// and the bits are the same for any number of workers and after loading.
#include "support/check.h"
#include "support/saved_state.h"

#include "base/parallel.h"
#include "meniscus/flow.h"

static mn_flow_def tank(void)
{
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true, def.dx = 0.01, def.density = 1000, def.sigma = 0,
    def.cfl = 1;
    def.domain_size = mn_v3(0.2, 0.12, 0.01), def.domain_center = mn_v3(0.1, 0.06, 0);
    def.use_level = false, def.band = 3, def.spray_radius = 1.5;
    return def;
}

static double column(void *user, mn_vec3 x)
{
    (void)user;
    return fmax(x.x - 0.071, x.y - 0.083);
}

static double volume_of(const mn_flow *flow)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[MN_REPORT_volume][0];
}

static void bytes_of(mn_context *ctx, mn_flow *flow, saved_state *saved)
{
    mn_writer out = {ctx, saved, saved_put};
    saved->size = saved->read = 0;
    check_ok(ctx, mn_flow_save(flow, &out));
}

static void a_dam_keeps_its_volume_and_its_bits(void **state)
{
    (void)state;
    static saved_state saved[2], again;
    const mn_flow_def def = tank();
    for (int32_t k = 0; k < 2; k++) {
        const int32_t workers[2] = {1, 8};
        mn_scheduler scheduler = mn_thread_scheduler(&workers[k]);
        const mn_hooks hooks = {.scheduler = &scheduler};
        mn_context *ctx = mn_context_create(&hooks);
        mn_flow *flow = NULL, *other = NULL;
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
        check_ok(ctx, mn_flow_set_surface(flow, column, NULL));
        const double before = volume_of(flow);
        for (int32_t f = 0; f < 5; f++) check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
        check_close(volume_of(flow), before, 0.005 * before);
        if (k == 1) {
            bytes_of(ctx, flow, &again);
            mn_reader in = {ctx, &again, saved_get};
            check_ok(ctx, mn_flow_load(ctx, &def, &in, &other));
            mn_flow_free(flow);
            flow = other;
        }
        check_ok(ctx, mn_flow_advance(flow, NULL, 0.02));
        bytes_of(ctx, flow, &saved[k]);
        mn_flow_free(flow);
        mn_context_free(ctx);
    }
    assert_int_equal(saved[1].size, saved[0].size);
    assert_memory_equal(saved[1].bytes, saved[0].bytes, saved[0].size);
}

typedef struct wave {
    double k, amplitude, level;
} wave;

static double wave_distance(void *user, mn_vec3 x)
{
    const wave *w = user;
    return x.y - w->level - w->amplitude * cos(w->k * x.x);
}

static double crest(const mn_flow *flow, double x)
{
    double low = 0.01, high = 0.11;
    for (int32_t k = 0; k < 40; k++) {
        const double middle = 0.5 * (low + high);
        if (mn_flow_distance_at(flow, mn_v3(x, middle, 0)) < 0)
            low = middle;
        else
            high = middle;
    }
    return low;
}

// The time at which a standing wave of this length between walls, on 0.06 m, rises through rest, in periods;
// and its height after a period.
static double rises_at(double length, double band, double *left)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = tank();
    wave w = {2 * MN_PI / length, 0.0125 * length, 0.0613};
    mn_flow *flow = NULL;
    def.band = band, def.domain_size = mn_v3(0.12, 0.12, 0.01), def.domain_center = mn_v3(0.06, 0.06, 0);
    const double period = 2 * MN_PI / sqrt(9.81 * w.k * tanh(w.k * w.level));
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_surface(flow, wave_distance, &w));
    double last = 1, zero = 0;
    for (int32_t f = 1; f <= 40; f++) {
        check_ok(ctx, mn_flow_advance(flow, NULL, period / 40));
        const double a = (crest(flow, 0) - crest(flow, 0.5 * length)) / (2 * w.amplitude);
        if (last < 0 && a >= 0) zero = (f - 1 + last / (last - a)) / 40;
        last = a;
    }
    *left = last;
    mn_flow_free(flow);
    mn_context_free(ctx);
    return zero;
}

static void waves_keep_their_period_and_height(void **state)
{
    (void)state;
    double left[2];
    const double without = rises_at(0.24, 0, &left[0]), with = rises_at(0.24, 3, &left[1]);
    check_close(without, 0.75, 0.02);
    check_close(with, without, 0.01 * without);
    rises_at(0.12, 0, &left[0]);
    rises_at(0.12, 3, &left[1]);
    print_message("height left of 12 cells: %g without particles, %g with them\n", left[0], left[1]);
    assert_true(left[1] > 0.98 * left[0]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_dam_keeps_its_volume_and_its_bits),
        cmocka_unit_test(waves_keep_their_period_and_height),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
