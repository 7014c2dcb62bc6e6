// SPDX-License-Identifier: Apache-2.0
//
// Discs of emitters: flat, of a circle's area, facing along their axis.
#include "sources/disc.h"
#include "support/check.h"

static void discs_have_the_area_of_a_circle(void **state)
{
    (void)state;
    const mn_vec3 centre = {1, -2, 3}, axes[] = {{0, 0, 2}, {1, 0, 0}, {-0.3, 0.5, 0.1}};
    for (int a = 0; a < 3; a++) {
        mn_vec3 x[MN_DISC_POINTS], area = {0, 0, 0};
        mn_disc_points(centre, axes[a], 0.5, x);
        for (int32_t k = 0; k < MN_DISC_RIM; k++) {
            int64_t c[3];
            mn_disc_triangle(100, k, c);
            for (int i = 0; i < 3; i++) assert_in_range(c[i], 100, 100 + MN_DISC_POINTS - 1);
            area =
                mn_axpy(area, 0.5,
                        mn_cross(mn_sub(x[c[1] - 100], x[c[0] - 100]), mn_sub(x[c[2] - 100], x[c[0] - 100])));
        }
        const mn_vec3 expected = mn_scale(MN_PI * 0.25, mn_normalize(axes[a]));
        check_close(mn_distance(area, expected), 0, 1e-14);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(discs_have_the_area_of_a_circle)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
