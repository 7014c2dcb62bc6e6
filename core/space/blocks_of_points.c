// SPDX-License-Identifier: Apache-2.0
//
// Which blocks a cloud of points needs. Chunks of points list the few blocks they lie in, in parallel; the
// lists are joined, and each block then asks for the neighbours that its occupied cells reach into. Points
// that are not sorted at all may overflow a chunk's list; such a chunk is joined point by point.
#include "space/block_set.h"

#include "base/parallel.h"

#include <string.h>

enum { CHUNK_TABLE = 4 * CHUNK_BLOCKS };

typedef struct collect_job {
    mn_blocks *blocks;
    mn_points points;
} collect_job;

mn_status mn_blocks_fail_position(mn_context *ctx, mn_vec3 origin, double dx, const mn_points *points,
                                  int64_t begin, int64_t count)
{
    for (int64_t i = begin; i < begin + count; i++) {
        const mn_vec3 x = mn_points_at(points, i);
        if (!mn_is_finite3(x))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld has the position (%g, %g, %g), which is not finite.", (long long)i,
                           x.x, x.y, x.z);
        const mn_vec3 u = mn_scale(1.0 / dx, mn_sub(x, origin));
        if (!(fabs(u.x) < CELL_MAX && fabs(u.y) < CELL_MAX && fabs(u.z) < CELL_MAX))
            return mn_fail(
                ctx, MN_ERROR_INPUT,
                "Point %lld at (%g, %g, %g) lies more than %g cells of dx = %g m away; remove stray "
                "points or use a larger dx.",
                (long long)i, x.x, x.y, x.z, CELL_MAX, dx);
    }
    return MN_OK;
}

/// Marks the cell's block in a chunk's list; the new count, or OVERFLOWED.
static int32_t list_block(block_entry *list, int32_t count, int16_t *table, mn_ivec3 coord, uint64_t bit)
{
    uint32_t slot = (uint32_t)mn_hash_coord(coord) & (CHUNK_TABLE - 1);
    for (; table[slot] >= 0; slot = (slot + 1) & (CHUNK_TABLE - 1))
        if (same_coord(list[table[slot]].coord, coord)) {
            list[table[slot]].occupied |= bit;
            return count;
        }
    if (count == CHUNK_BLOCKS) return OVERFLOWED;
    table[slot] = (int16_t)count;
    list[count] = (block_entry){coord, bit};
    return count + 1;
}

MN_MULTIVERSION
static mn_status collect_blocks(void *user, mn_range range)
{
    const collect_job *job = user;
    mn_blocks *blocks = job->blocks;
    block_entry *list = blocks->chunk_entries.data + range.chunk * CHUNK_BLOCKS;
    int16_t table[CHUNK_TABLE];
    memset(table, 0xff, sizeof table);
    mn_ivec3 cells[CELL_BATCH];
    int32_t count = 0, last = -1;
    for (int64_t begin = range.begin; begin < range.end && count != OVERFLOWED; begin += CELL_BATCH) {
        const int32_t batch = (int32_t)(range.end - begin < CELL_BATCH ? range.end - begin : CELL_BATCH);
        if (!cells_of(blocks->origin, blocks->dx, &job->points, begin, batch, cells))
            return mn_blocks_fail_position(blocks->ctx, blocks->origin, blocks->dx, &job->points, begin,
                                           batch);
        for (int32_t i = 0; i < batch && count != OVERFLOWED; i++) {
            const mn_ivec3 coord = block_of_cell(cells[i]);
            const uint64_t bit = (uint64_t)1 << number_in_block(cells[i]);
            if (last >= 0 && same_coord(list[last].coord, coord)) {
                list[last].occupied |= bit; // sorted points stay in a block for a while
                continue;
            }
            const int32_t before = count;
            count = list_block(list, count, table, coord, bit);
            last = count > before ? before : -1;
        }
    }
    blocks->chunk_counts.data[range.chunk] = count;
    return MN_OK;
}

static mn_status join_points(mn_blocks *blocks, const mn_points *points, int64_t begin, int64_t end)
{
    mn_ivec3 cells[CELL_BATCH];
    for (; begin < end; begin += CELL_BATCH) {
        const int32_t batch = (int32_t)(end - begin < CELL_BATCH ? end - begin : CELL_BATCH);
        if (!cells_of(blocks->origin, blocks->dx, points, begin, batch, cells))
            return mn_blocks_fail_position(blocks->ctx, blocks->origin, blocks->dx, points, begin, batch);
        for (int32_t i = 0; i < batch; i++)
            MN_TRY(
                mn_blocks_insert(blocks, block_of_cell(cells[i]), (uint64_t)1 << number_in_block(cells[i])));
    }
    return MN_OK;
}

static mn_status join_chunks(mn_blocks *blocks, const mn_points *points)
{
    for (int64_t chunk = 0; chunk < blocks->chunk_counts.count; chunk++) {
        const int64_t begin = chunk * CHUNK_POINTS, left = points->count - begin;
        if (blocks->chunk_counts.data[chunk] == OVERFLOWED) {
            MN_TRY(join_points(blocks, points, begin, begin + (left < CHUNK_POINTS ? left : CHUNK_POINTS)));
            continue;
        }
        const block_entry *list = blocks->chunk_entries.data + chunk * CHUNK_BLOCKS;
        for (int32_t i = 0; i < blocks->chunk_counts.data[chunk]; i++)
            MN_TRY(mn_blocks_insert(blocks, list[i].coord, list[i].occupied));
    }
    return MN_OK;
}

/// Cells of a block from which `reach` cells along an axis lead into the neighbour on one side of it.
static uint64_t cells_reaching(int32_t axis, int32_t side, int32_t reach_low, int32_t reach_high)
{
    uint64_t mask = 0;
    for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
        const int32_t at = axis == 0 ? cell >> 4 : axis == 1 ? (cell >> 2) & 3 : cell & 3;
        const bool reaches = side == 0 || (side < 0 ? at < reach_low : at + reach_high > 3);
        if (reaches) mask |= (uint64_t)1 << cell;
    }
    return mask;
}

/// Adds the neighbours that hold a cell within reach of an occupied one.
static mn_status add_reached(mn_blocks *blocks, int32_t reach_low, int32_t reach_high)
{
    uint64_t masks[MN_BLOCK_NEIGHBOURS];
    for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++)
        masks[n] = cells_reaching(0, n / 9 - 1, reach_low, reach_high) &
                   cells_reaching(1, n / 3 % 3 - 1, reach_low, reach_high) &
                   cells_reaching(2, n % 3 - 1, reach_low, reach_high);
    const int64_t count = blocks->entries.count;
    for (int64_t b = 0; b < count; b++) {
        const mn_ivec3 c = blocks->entries.data[b].coord;
        const uint64_t occupied = blocks->entries.data[b].occupied;
        for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++)
            if (n != MN_BLOCK_SELF && (occupied & masks[n]))
                MN_TRY(mn_blocks_insert(blocks, mn_iv3(c.x + n / 9 - 1, c.y + n / 3 % 3 - 1, c.z + n % 3 - 1),
                                        0));
    }
    return MN_OK;
}

mn_status mn_blocks_build(mn_blocks *blocks, mn_vec3 origin, double dx, mn_points points, int32_t reach_low,
                          int32_t reach_high)
{
    mn_context *ctx = blocks->ctx;
    MN_TRY(mn_blocks_begin(blocks, origin, dx));
    if (reach_low < 0 || reach_low > 4 || reach_high < 0 || reach_high > 4)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "mn_blocks_build: reaches are %d and %d cells, 0 to 4 are possible.", (int)reach_low,
                       (int)reach_high);
    const int64_t chunks = mn_chunk_count(points.count, CHUNK_POINTS);
    MN_TRY(mn_array_resize(ctx, &blocks->chunk_counts, chunks));
    MN_TRY(mn_array_resize(ctx, &blocks->chunk_entries, chunks * CHUNK_BLOCKS));
    collect_job job = {blocks, points};
    MN_TRY(mn_parallel_for(ctx, points.count, CHUNK_POINTS, collect_blocks, &job));
    MN_TRY(join_chunks(blocks, &points));
    MN_TRY(add_reached(blocks, reach_low, reach_high));
    return mn_blocks_finish(blocks);
}
