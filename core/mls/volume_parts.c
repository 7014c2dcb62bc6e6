// SPDX-License-Identifier: Apache-2.0
//
// Parts of a cloud of sites, each near together: halves along the longest side of their box, and halves of
// those. What the parts are depends on the sites alone, so that work done part by part gives the same bits on
// any number of workers.
#include "mls/volume_state.h"

typedef struct halving {
    const mn_vec3 *at;
    int32_t *list, *part;
} halving;

static bool comes_before(const halving *h, int32_t a, int32_t b, int32_t axis)
{
    const double p = volume_part(h->at[a], axis), q = volume_part(h->at[b], axis);
    return p != q ? p < q : a < b;
}

static void swap_sites(int32_t *a, int32_t *b)
{
    const int32_t first = *a;
    *a = *b, *b = first;
}

// Brings the `half` least of a list to its front: quickselect, the middle of three as pivot.
static void select_least(const halving *h, int32_t *list, int64_t count, int64_t half, int32_t axis)
{
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (comes_before(h, list[middle], list[low], axis)) swap_sites(&list[middle], &list[low]);
        if (comes_before(h, list[high], list[low], axis)) swap_sites(&list[high], &list[low]);
        if (comes_before(h, list[high], list[middle], axis)) swap_sites(&list[high], &list[middle]);
        const int32_t pivot = list[middle];
        int64_t i = low, j = high;
        while (i <= j) {
            while (comes_before(h, list[i], pivot, axis)) i++;
            while (comes_before(h, pivot, list[j], axis)) j--;
            if (i <= j) swap_sites(&list[i++], &list[j--]);
        }
        if (half <= j)
            high = j;
        else if (half >= i)
            low = i;
        else
            return;
    }
}

static void halve(const halving *h, int64_t first, int64_t count, int32_t times, int32_t number)
{
    int32_t *list = h->list + first;
    mn_box box = mn_box_empty();
    if (times == 0) {
        for (int64_t i = 0; i < count; i++) h->part[list[i]] = number;
        return;
    }
    for (int64_t i = 0; i < count; i++) box = mn_box_add(box, h->at[list[i]]);
    const mn_vec3 size = mn_sub(box.max, box.min);
    const int32_t axis = size.x >= size.y && size.x >= size.z ? 0 : size.y >= size.z ? 1 : 2;
    select_least(h, list, count, count / 2, axis);
    halve(h, first, count / 2, times - 1, 2 * number);
    halve(h, first + count / 2, count - count / 2, times - 1, 2 * number + 1);
}

void volume_parts_find(int64_t count, const mn_vec3 *at, int32_t times, int32_t *list, int32_t *part)
{
    const halving h = {at, list, part};
    for (int64_t i = 0; i < count; i++) list[i] = (int32_t)i;
    halve(&h, 0, count, times, 0);
}
