// SPDX-License-Identifier: Apache-2.0
//
// Pressure stress and second derivative against differences of the energy, and the automatic bulk modulus.
#include "support/check.h"

#include "base/random.h"
#include "mpm/pressure.h"

static void stress_and_hessian_are_derivatives_of_the_energy(void **state)
{
    (void)state;
    const double bulk = 3.5, volume = 0.7, h = 1e-5;
    for (uint64_t id = 0; id < 100; id++) {
        const double j = 0.8 + 0.4 * mn_random_unit(1, id, 0);
        const double strain = 0.4 * (mn_random_unit(1, id, 1) - 0.5); // dt div v
        const double here = mn_pressure_advance(j, 1.0, strain);
        const double up = mn_pressure_energy(bulk, volume, mn_pressure_advance(j, 1.0, strain + h));
        const double middle = mn_pressure_energy(bulk, volume, here);
        const double down = mn_pressure_energy(bulk, volume, mn_pressure_advance(j, 1.0, strain - h));
        // The energy is a quadratic: differences are exact but for rounding 1e-16/h and 1e-16/h^2.
        check_close(mn_pressure_stress(bulk, volume, j, here), (up - down) / (2 * h), 1e-10);
        check_close(mn_pressure_hessian(bulk, volume, j), (up - 2 * middle + down) / (h * h), 1e-4);
    }
}

static void a_squeezed_liquid_pushes_back(void **state)
{
    (void)state;
    assert_true(mn_pressure(10, 0.9) > 0);
    assert_true(mn_pressure(10, 1.1) < 0);
    assert_true(mn_pressure(10, 1.0) == 0);
}

static void automatic_bulk_modulus_allows_the_asked_compression(void **state)
{
    (void)state;
    const mn_pressure_scales drop = {.capillary = 2 * 0.072 / 1e-3};
    const double bulk = mn_pressure_bulk_modulus(drop, 0.01);
    // At the drop's own pressure 2 sigma / R the volume has changed by one percent.
    check_close(mn_pressure(bulk, 0.99), 2 * 0.072 / 1e-3, 1e-10);
    const mn_pressure_scales tank = {.density = 1000, .gravity = 9.81, .height = 0.5};
    check_close(mn_pressure_bulk_modulus(tank, 0.01), 1000 * 9.81 * 0.5 / 0.01, 1e-6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stress_and_hessian_are_derivatives_of_the_energy),
        cmocka_unit_test(a_squeezed_liquid_pushes_back),
        cmocka_unit_test(automatic_bulk_modulus_allows_the_asked_compression),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
