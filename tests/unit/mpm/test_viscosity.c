// SPDX-License-Identifier: Apache-2.0
//
// Viscous stress against differences of the dissipation, and what it must not resist.
#include "support/check.h"

#include "base/random.h"
#include "mpm/viscosity.h"

static mn_mat3 random_matrix(uint64_t id, uint32_t first)
{
    mn_mat3 a;
    for (int i = 0; i < 9; i++) a.m[i / 3][i % 3] = mn_random_unit(3, id, first + (uint32_t)i) - 0.5;
    return a;
}

static void stress_is_the_derivative_of_the_dissipation(void **state)
{
    (void)state;
    const double mu = 0.3, volume = 2.0, h = 1e-5;
    for (uint64_t id = 0; id < 100; id++) {
        const mn_mat3 l = random_matrix(id, 0), d = random_matrix(id, 10);
        const mn_mat3 stress = mn_viscosity_stress(mu, volume, l);
        double slope = 0;
        for (int i = 0; i < 9; i++) slope += stress.m[i / 3][i % 3] * d.m[i / 3][i % 3];
        const double up = mn_viscosity_dissipation(mu, volume, mn_m3_add(l, mn_m3_scale(h, d)));
        const double down = mn_viscosity_dissipation(mu, volume, mn_m3_add(l, mn_m3_scale(-h, d)));
        check_close(slope, (up - down) / (2 * h), 1e-9); // quadratic: rounding only
    }
}

static void shear_flow_has_the_textbook_stress_and_rotation_none(void **state)
{
    (void)state;
    mn_mat3 shear = {{{0}}};
    shear.m[0][1] = 4.0; // du/dy
    const mn_mat3 stress = mn_viscosity_stress(0.5, 1.0, shear);
    check_close(stress.m[0][1], 2.0, 1e-15);
    check_close(stress.m[1][0], 2.0, 1e-15);
    mn_mat3 rotation = {{{0}}};
    rotation.m[0][1] = -3.0, rotation.m[1][0] = 3.0;
    check_close(mn_m3_norm(mn_viscosity_stress(0.5, 1.0, rotation)), 0, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_is_the_derivative_of_the_dissipation),
        cmocka_unit_test(shear_flow_has_the_textbook_stress_and_rotation_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
