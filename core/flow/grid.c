// SPDX-License-Identifier: Apache-2.0
//
// The sparse grid of a flow: a table over the box's blocks, and loops over those that exist.
#include "flow/grid.h"
#include "meniscus/array.h"

#include <string.h>

mn_status mn_flow_room(mn_context *ctx, void *data, int64_t *count, int64_t *capacity, size_t element_size,
                       int64_t new_count)
{
    if (new_count > *capacity) {
        const int64_t wanted = *capacity == 0 ? new_count : new_count + new_count / 16;
        void *memory;
        memcpy(&memory, data, sizeof memory);
        mn_release(ctx, memory, mn_bytes(*capacity, element_size));
        memory = mn_allocate(ctx, mn_bytes(wanted, element_size));
        memcpy(data, &memory, sizeof memory);
        *count = 0, *capacity = memory ? wanted : 0;
        if (!memory) return MN_ERROR_MEMORY;
    }
    *count = new_count;
    return MN_OK;
}

mn_status mn_flow_grid_create(mn_context *ctx, mn_vec3 box_min, double dx, const int32_t cells[3],
                              mn_flow_grid *grid)
{
    memset(grid, 0, sizeof *grid);
    grid->ctx = ctx, grid->dx = dx;
    grid->origin = mn_axpy(box_min, -dx, mn_v3(1, 1, 1));
    for (int32_t a = 0; a < 3; a++) {
        grid->cells[a] = cells[a];
        grid->sides[a] = (cells[a] + 2 + MN_BLOCK_SIDE - 1) / MN_BLOCK_SIDE;
    }
    MN_TRY(mn_array_resize(ctx, &grid->index, (int64_t)grid->sides[0] * grid->sides[1] * grid->sides[2]));
    return mn_blocks_create(ctx, &grid->blocks);
}

void mn_flow_grid_free(mn_flow_grid *grid)
{
    if (!grid->ctx) return;
    mn_blocks_free(grid->blocks);
    mn_array_free(grid->ctx, &grid->index);
    mn_array_free(grid->ctx, &grid->walk);
    mn_array_free(grid->ctx, &grid->coords);
    memset(grid, 0, sizeof *grid);
}

static int64_t index_of(const mn_flow_grid *grid, mn_ivec3 c)
{
    return ((int64_t)c.x * grid->sides[1] + c.y) * grid->sides[2] + c.z;
}

// Loops walk along x in strips that are four blocks wide along y: what a block's neighbours in the layer
// before hold is then still in the cache, where whole layers of a large box would not be.
static mn_status find_walk(mn_flow_grid *grid)
{
    enum { STRIP = 4 };
    const int32_t strips = (grid->sides[1] + STRIP - 1) / STRIP;
    MN_TRY(mn_array_resize(grid->ctx, &grid->walk, (int64_t)grid->table.count + strips + 1));
    int32_t *start = grid->walk.data + grid->table.count;
    for (int32_t k = 0; k <= strips; k++) start[k] = 0;
    for (int32_t b = 0; b < grid->table.count; b++) start[grid->table.coords[b].y / STRIP]++;
    mn_prefix_sum_i32(start, strips + 1);
    for (int32_t b = 0; b < grid->table.count; b++)
        grid->walk.data[start[grid->table.coords[b].y / STRIP]++] = b;
    return MN_OK;
}

mn_status mn_flow_grid_set(mn_flow_grid *grid, int64_t count, const mn_ivec3 *coords)
{
    MN_TRY(mn_blocks_build_from_coords(grid->blocks, grid->origin, grid->dx, count, coords, 0));
    grid->table = mn_blocks_table(grid->blocks);
    mn_fill_bytes(grid->index.data, 0xff, mn_bytes(grid->index.count, sizeof *grid->index.data)); // all -1
    for (int32_t b = 0; b < grid->table.count; b++)
        grid->index.data[index_of(grid, grid->table.coords[b])] = b;
    return find_walk(grid);
}

mn_status mn_flow_grid_fill(mn_flow_grid *grid)
{
    MN_TRY(mn_array_resize(grid->ctx, &grid->coords, grid->index.count));
    int64_t n = 0;
    for (int32_t x = 0; x < grid->sides[0]; x++)
        for (int32_t y = 0; y < grid->sides[1]; y++)
            for (int32_t z = 0; z < grid->sides[2]; z++) grid->coords.data[n++] = mn_iv3(x, y, z);
    return mn_flow_grid_set(grid, n, grid->coords.data);
}

typedef struct block_loop {
    mn_flow_block_fn *fn;
    void *user;
    const int32_t *list;
} block_loop;

static mn_status run_blocks(void *user, mn_range range)
{
    const block_loop *loop = user;
    for (int64_t k = range.begin; k < range.end; k++) loop->fn(loop->user, loop->list[k]);
    return MN_OK;
}

mn_status mn_flow_for_blocks(const mn_flow_grid *grid, mn_flow_block_fn *fn, void *user)
{
    block_loop loop = {fn, user, grid->walk.data};
    return mn_parallel_long(grid->ctx, grid->table.count, MN_FLOW_GRAIN, run_blocks, &loop);
}

mn_status mn_flow_for_coloured_blocks(const mn_flow_grid *grid, mn_flow_block_fn *fn, void *user)
{
    for (int32_t c = 0; c < MN_BLOCK_COLOURS; c++) {
        block_loop loop = {fn, user, grid->table.coloured + grid->table.colour_start[c]};
        MN_TRY(mn_parallel_long(grid->ctx, grid->table.colour_start[c + 1] - grid->table.colour_start[c],
                                MN_FLOW_GRAIN / 4, run_blocks, &loop));
    }
    return MN_OK;
}
