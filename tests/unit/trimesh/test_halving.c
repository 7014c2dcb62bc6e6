// SPDX-License-Identifier: Apache-2.0
#include "support/check.h"

#include "base/random.h"
#include "trimesh/halving.h"

enum { COUNT = 501 };

// All of the front half lie no higher along the longest side than all of the back half; nothing is lost; and
// of sites at the same height the ones with the lower index come first, whatever order they came in.
static void halves_are_apart_along_the_longest_side(void **state)
{
    (void)state;
    static mn_site sites[COUNT], again[COUNT];
    for (int32_t i = 0; i < COUNT; i++) {
        const mn_vec3 u = mn_random_unit3(7, (uint64_t)i, 0);
        sites[i] = (mn_site){mn_v3(u.x, floor(30 * u.y), 2 * u.z), i}; // y in steps: many are level
        again[COUNT - 1 - i] = sites[i];
    }
    mn_halve_sites(sites, COUNT);
    mn_halve_sites(again, COUNT);
    uint8_t seen[COUNT] = {0}, front[2][COUNT] = {{0}};
    const mn_site *last = &sites[0], *first = &sites[COUNT / 2];
    for (int32_t i = 0; i < COUNT; i++) {
        const mn_site *s = &sites[i];
        assert_int_equal(seen[s->index]++, 0);
        if (i < COUNT / 2) {
            front[0][s->index] = front[1][again[i].index] = 1;
            if (s->at.y > last->at.y || (s->at.y == last->at.y && s->index > last->index)) last = s;
        } else if (s->at.y < first->at.y || (s->at.y == first->at.y && s->index < first->index)) {
            first = s;
        }
    }
    assert_true(last->at.y < first->at.y || (last->at.y == first->at.y && last->index < first->index));
    assert_memory_equal(front[0], front[1], sizeof front[0]);
}

static void one_or_none_stays_as_it_is(void **state)
{
    (void)state;
    mn_site one = {mn_v3(1, 2, 3), 4};
    mn_halve_sites(&one, 1);
    mn_halve_sites(&one, 0);
    assert_int_equal(one.index, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(halves_are_apart_along_the_longest_side),
        cmocka_unit_test(one_or_none_stays_as_it_is),
    };
    return cmocka_run_group_tests_name("space/halving", tests, NULL, NULL);
}
