// SPDX-License-Identifier: Apache-2.0
//
// A hashed grid over boxes. The cell is as large as the mean box, so that each lies in a few cells. Entries
// are sorted into buckets by counting, so building is linear.
#include "mesh/box_grid.h"

#include <string.h>

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

static uint64_t bucket_of(const mn_box_grid *grid, uint64_t cell)
{
    cell = (cell ^ cell >> 31) * 0x9E3779B97F4A7C15u;
    return cell >> 32 & (uint64_t)(grid->starts.count - 2);
}

/// Counts the entries of each bucket (`fill` false, in starts[bucket + 1]), or puts them there.
static void visit_entries(mn_box_grid *grid, bool fill)
{
    for (int64_t i = 0; i < grid->boxes.count; i++) {
        const cell_range r = range_of(grid, grid->boxes.data[i]);
        for (int32_t a = r.low[0]; a <= r.high[0]; a++)
            for (int32_t b = r.low[1]; b <= r.high[1]; b++)
                for (int32_t c = r.low[2]; c <= r.high[2]; c++) {
                    const uint64_t cell = cell_key(a, b, c);
                    int32_t *at = &grid->starts.data[bucket_of(grid, cell) + 1];
                    if (fill) grid->entries.data[*at] = (mn_box_entry){cell, (int32_t)i};
                    ++*at;
                }
    }
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
    grid->question = 0;
    int64_t buckets = 16;
    while (buckets < 4 * grid->boxes.count) buckets *= 2;
    MN_TRY(mn_array_resize(grid->ctx, &grid->starts, buckets + 1));
    memset(grid->starts.data, 0, mn_bytes(grid->starts.count, sizeof *grid->starts.data));
    visit_entries(grid, false);
    int32_t entries = 0;
    for (int64_t i = 1; i <= buckets; i++) {
        const int32_t count = grid->starts.data[i];
        grid->starts.data[i] = entries;
        entries += count;
    }
    MN_TRY(mn_array_resize(grid->ctx, &grid->entries, entries));
    visit_entries(grid, true);
    MN_TRY(mn_array_resize(grid->ctx, &grid->seen, grid->boxes.count));
    for (int64_t i = 0; i < grid->boxes.count; i++) grid->seen.data[i] = 0;
    return MN_OK;
}

void mn_box_grid_free(mn_box_grid *grid)
{
    mn_array_free(grid->ctx, &grid->boxes);
    mn_array_free(grid->ctx, &grid->entries);
    mn_array_free(grid->ctx, &grid->starts);
    mn_array_free(grid->ctx, &grid->seen);
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
                const int32_t *start = &grid->starts.data[bucket_of(grid, cell)];
                for (int32_t i = start[0]; i < start[1]; i++) {
                    const int32_t item = grid->entries.data[i].item;
                    if (grid->entries.data[i].cell != cell) continue;
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
