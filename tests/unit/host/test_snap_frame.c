// SPDX-License-Identifier: Apache-2.0
//
// Frames of hosts that count in seconds: at every common rate and either way of computing the time, each
// whole frame of a long range is itself, and what lies between frames stays where it is.
#include "plugin/host/sim/sim.h"
#include "support/check.h"

static void whole_frames_of_every_rate_come_through(void **state)
{
    (void)state;
    const double rates[] = {12, 15, 23.976, 24000.0 / 1001, 24, 25, 29.97, 30000.0 / 1001,
                            30, 48, 50,     59.94,          60, 120};
    int64_t floored_wrong = 0;
    for (size_t r = 0; r < sizeof rates / sizeof rates[0]; r++) {
        const double fps = rates[r], seconds = 1 / fps;
        for (int32_t frame = -1000; frame <= 100000; frame++) {
            const double divided = (frame - 1) / fps * fps + 1, multiplied = (frame - 1) * seconds * fps + 1;
            assert_true(mn_sim_snap_frame(divided) == frame);
            assert_true(mn_sim_snap_frame(multiplied) == frame);
            floored_wrong += floor(divided) != frame || floor(multiplied) != frame;
        }
    }
    assert_true(floored_wrong > 1000); // without it the test would see nothing
}

static void frames_between_stay(void **state)
{
    (void)state;
    for (double part = 0.001; part < 1; part += 0.037) assert_true(mn_sim_snap_frame(12 + part) == 12 + part);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(whole_frames_of_every_rate_come_through),
        cmocka_unit_test(frames_between_stay),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
