// SPDX-License-Identifier: Apache-2.0
//
// Halves of a cloud of sites: quickselect along the longest side, the middle of three as pivot.
#include "trimesh/halving.h"

static bool comes_before(const mn_site *a, const mn_site *b, int32_t axis)
{
    const double p = mn_component(a->at, axis), q = mn_component(b->at, axis);
    return p != q ? p < q : a->index < b->index;
}

static void swap_sites(mn_site *a, mn_site *b)
{
    const mn_site first = *a;
    *a = *b;
    *b = first;
}

static void split_in_half(mn_site *s, int64_t count, int32_t axis)
{
    int64_t low = 0, high = count - 1;
    const int64_t half = count / 2;
    while (low < high) {
        const int64_t mid = low + (high - low) / 2;
        if (comes_before(&s[mid], &s[low], axis)) swap_sites(&s[mid], &s[low]);
        if (comes_before(&s[high], &s[low], axis)) swap_sites(&s[high], &s[low]);
        if (comes_before(&s[high], &s[mid], axis)) swap_sites(&s[high], &s[mid]);
        const mn_site pivot = s[mid];
        int64_t i = low, j = high;
        while (i <= j) {
            while (comes_before(&s[i], &pivot, axis)) i++;
            while (comes_before(&pivot, &s[j], axis)) j--;
            if (i <= j) swap_sites(&s[i++], &s[j--]);
        }
        if (half <= j)
            high = j;
        else if (half >= i)
            low = i;
        else
            return;
    }
}

void mn_halve_sites(mn_site *sites, int64_t count)
{
    mn_box box = mn_box_empty();
    for (int64_t i = 0; i < count; i++) box = mn_box_with(box, sites[i].at);
    const mn_vec3 size = mn_sub(box.max, box.min);
    split_in_half(sites, count, size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2);
}
