// SPDX-License-Identifier: Apache-2.0
//
// What is said of a box before it runs: the memory is what the allocator gives out in the first step.
#include "support/check.h"

#include "meniscus/flow.h"

/// Memory that one step of a full box took, of what was said.
static double taken_of_said(mn_flow_def def)
{
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_numbers numbers;
    mn_flow *flow = NULL;
    mn_flow_diagnose(&def, 1.0 / 24, &numbers);
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_advance(flow, NULL, 1e-4));
    const double taken = (double)mn_context_peak_bytes(ctx);
    mn_flow_free(flow);
    mn_context_free(ctx);
    return taken / numbers.bytes;
}

static void memory_is_what_a_step_takes(void **state)
{
    (void)state;
    mn_flow_def def = mn_flow_default_def();
    def.dx = 1.0 / 32, def.domain_center = mn_v3(0.5, 0.5, 0.5);
    const double smoke = taken_of_said(def);
    print_message("smoke: %g\n", smoke);
    assert_true(smoke > 0.8 && smoke < 1.1);
    def.fluid = MN_FLOW_LIQUID, def.use_level = true, def.level = 0.8;
    const double liquid = taken_of_said(def);
    print_message("liquid: %g\n", liquid);
    assert_true(liquid > 0.8 && liquid < 1.1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(memory_is_what_a_step_takes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
