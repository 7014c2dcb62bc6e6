// SPDX-License-Identifier: Apache-2.0
//
// Parts of a cloud of sites, each near together: halves along the longest side of their box, and halves of
// those. What the parts are depends on the sites alone, so that work done part by part gives the same bits on
// any number of workers.
#include "linear/partition.h"

static void halve(mn_site *sites, int64_t count, int32_t times, int32_t number, int32_t *part)
{
    if (times == 0) {
        for (int64_t i = 0; i < count; i++) part[sites[i].index] = number;
        return;
    }
    const int64_t half = count / 2;
    mn_halve_sites(sites, count);
    halve(sites, half, times - 1, 2 * number, part);
    halve(sites + half, count - half, times - 1, 2 * number + 1, part);
}

void mn_partition_find(int64_t count, const mn_vec3 *at, int32_t times, mn_site *scratch, int32_t *part)
{
    for (int64_t i = 0; i < count; i++) scratch[i] = (mn_site){at[i], (int32_t)i};
    halve(scratch, count, times, 0, part);
}
