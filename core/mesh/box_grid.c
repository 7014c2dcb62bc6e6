// SPDX-License-Identifier: Apache-2.0
//
// A hashed grid over boxes. The cell is as large as the mean box, so that each lies in a few cells.
#include "box_grid.h"

#include <stdlib.h>

typedef struct cell_range {
    int32_t low[3], high[3];
} cell_range;

static int32_t cell_at(const mn_box_grid *grid, double x, double origin)
{
    return (int32_t)floor(fmin(fmax((x - origin) / grid->cell, -1000000), 1000000));
}

static cell_range range_of(const mn_box_grid *grid, mn_box box)
{
    const mn_vec3 o = grid->origin;
    return (cell_range){
        {cell_at(grid, box.min.x, o.x), cell_at(grid, box.min.y, o.y), cell_at(grid, box.min.z, o.z)},
        {cell_at(grid, box.max.x, o.x), cell_at(grid, box.max.y, o.y), cell_at(grid, box.max.z, o.z)}};
}

static uint64_t cell_key(int32_t x, int32_t y, int32_t z)
{
    return (uint64_t)(uint32_t)(x + 1048576) << 42 | (uint64_t)(uint32_t)(y + 1048576) << 21 |
           (uint32_t)(z + 1048576);
}

static int compare_entries(const void *a, const void *b)
{
    const mn_box_entry *x = a, *y = b;
    if (x->cell != y->cell) return x->cell < y->cell ? -1 : 1;
    return x->item < y->item ? -1 : x->item > y->item;
}

mn_status mn_box_grid_build(mn_box_grid *grid)
{
    double sum = 0, most = 0;
    mn_box all = mn_box_empty();
    for (int64_t i = 0; i < grid->boxes.count; i++) {
        const mn_vec3 e = mn_sub(grid->boxes.data[i].max, grid->boxes.data[i].min);
        const double extent = fmax(e.x, fmax(e.y, e.z));
        sum += extent, most = fmax(most, extent);
        all = mn_box_join(all, grid->boxes.data[i]);
    }
    grid->cell = grid->boxes.count ? fmax(sum / (double)grid->boxes.count, most / 16) : 1;
    if (!(grid->cell > 0)) grid->cell = 1;
    grid->origin = all.min;
    grid->entries.count = 0;
    grid->question = 0;
    for (int64_t i = 0; i < grid->boxes.count; i++) {
        const cell_range r = range_of(grid, grid->boxes.data[i]);
        for (int32_t a = r.low[0]; a <= r.high[0]; a++)
            for (int32_t b = r.low[1]; b <= r.high[1]; b++)
                for (int32_t c = r.low[2]; c <= r.high[2]; c++) {
                    const mn_box_entry entry = {cell_key(a, b, c), (int32_t)i};
                    MN_TRY(mn_array_push(grid->ctx, &grid->entries, &entry));
                }
    }
    if (grid->entries.count)
        qsort(grid->entries.data, (size_t)grid->entries.count, sizeof *grid->entries.data, compare_entries);
    MN_TRY(mn_array_resize(grid->ctx, &grid->seen, grid->boxes.count));
    for (int64_t i = 0; i < grid->boxes.count; i++) grid->seen.data[i] = 0;
    return MN_OK;
}

void mn_box_grid_free(mn_box_grid *grid)
{
    mn_array_free(grid->ctx, &grid->boxes);
    mn_array_free(grid->ctx, &grid->entries);
    mn_array_free(grid->ctx, &grid->seen);
}

static int64_t first_in_cell(const mn_box_grid *grid, uint64_t cell)
{
    int64_t low = 0, high = grid->entries.count;
    while (low < high) {
        const int64_t middle = (low + high) / 2;
        if (grid->entries.data[middle].cell < cell)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

mn_status mn_box_grid_find(mn_box_grid *grid, mn_box box, mn_tet_list *found)
{
    found->count = 0;
    if (grid->boxes.count == 0) return MN_OK;
    grid->question++;
    const cell_range r = range_of(grid, box);
    for (int32_t a = r.low[0]; a <= r.high[0]; a++)
        for (int32_t b = r.low[1]; b <= r.high[1]; b++)
            for (int32_t c = r.low[2]; c <= r.high[2]; c++) {
                const uint64_t cell = cell_key(a, b, c);
                for (int64_t i = first_in_cell(grid, cell);
                     i < grid->entries.count && grid->entries.data[i].cell == cell; i++) {
                    const int32_t item = grid->entries.data[i].item;
                    if (grid->seen.data[item] == grid->question) continue;
                    grid->seen.data[item] = grid->question;
                    if (!mn_boxes_apart(box, grid->boxes.data[item]))
                        MN_TRY(mn_array_push(grid->ctx, found, &item));
                }
            }
    return MN_OK;
}

mn_box mn_tet_box(const mn_tet_mesh *mesh, int32_t t)
{
    mn_box box = mn_box_empty();
    for (int32_t k = 0; k < 4; k++) box = mn_box_add(box, mesh->position[mesh->tet[t][k]]);
    return box;
}
