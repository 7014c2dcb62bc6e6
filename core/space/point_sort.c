// SPDX-License-Identifier: Apache-2.0
//
// Points sorted by block and cell: a stable counting sort in two levels. Chunks of points count how many of
// theirs fall into each block; prefix sums over (block, chunk) give every chunk its own place in every block,
// so chunks scatter in parallel; then each block sorts its few hundred points by their 64 cells. A stable
// sort has one result only, so it cannot depend on who computed what.
#include "space/block_set.h"

#include "base/parallel.h"

#include <string.h>

enum { SORT_CHUNKS = 16, SORT_GRAIN_MIN = 4096, BLOCK_GRAIN = 8 };

struct mn_point_sort {
    mn_context *ctx;
    MN_ARRAY(int32_t) keys;        ///< of each point: block * 64 + cell
    MN_ARRAY(int32_t) chunk_start; ///< [chunk][block] where the chunk's next point of the block goes
    MN_ARRAY(int32_t) by_block;    ///< points in the order of their blocks
    MN_ARRAY(uint8_t) cell;        ///< of these, in their block
    MN_ARRAY(int32_t) order;
    MN_ARRAY(int32_t) cell_start;
    int32_t point_count;
};

typedef struct sort_job {
    mn_point_sort *sort;
    const mn_blocks *blocks;
    mn_points points;
    int32_t block_count;
} sort_job;

mn_status mn_point_sort_create(mn_context *ctx, mn_point_sort **sort)
{
    *sort = mn_allocate_zero(ctx, sizeof **sort);
    if (!*sort) return MN_ERROR_MEMORY;
    (*sort)->ctx = ctx;
    return MN_OK;
}

void mn_point_sort_free(mn_point_sort *sort)
{
    if (!sort) return;
    mn_context *ctx = sort->ctx;
    mn_array_free(ctx, &sort->keys);
    mn_array_free(ctx, &sort->chunk_start);
    mn_array_free(ctx, &sort->by_block);
    mn_array_free(ctx, &sort->cell);
    mn_array_free(ctx, &sort->order);
    mn_array_free(ctx, &sort->cell_start);
    mn_release(ctx, sort, sizeof *sort);
}

/// Keys of a chunk's points, and how many of them each block gets.
MN_MULTIVERSION
static mn_status find_keys(void *user, mn_range range)
{
    const sort_job *job = user;
    const mn_blocks *blocks = job->blocks;
    int32_t *counts = job->sort->chunk_start.data + range.chunk * job->block_count;
    memset(counts, 0, mn_bytes(job->block_count, sizeof *counts));
    mn_ivec3 cells[CELL_BATCH], last = {0, 0, 0};
    int32_t block = -1;
    for (int64_t begin = range.begin; begin < range.end; begin += CELL_BATCH) {
        const int32_t batch = (int32_t)(range.end - begin < CELL_BATCH ? range.end - begin : CELL_BATCH);
        if (!cells_of(blocks->origin, blocks->dx, &job->points, begin, batch, cells))
            return mn_blocks_fail_position(blocks->ctx, blocks->origin, blocks->dx, &job->points, begin,
                                           batch);
        for (int32_t i = 0; i < batch; i++) {
            const mn_ivec3 coord = block_of_cell(cells[i]);
            if (block < 0 || !same_coord(coord, last)) {
                block = blocks->coords.count ? blocks->table.data[slot_of(blocks, coord)] : -1;
                last = coord;
                if (block < 0)
                    return mn_fail(blocks->ctx, MN_ERROR_ARGUMENT,
                                   "Point %lld lies outside the grid's blocks.", (long long)(begin + i));
            }
            counts[block]++;
            job->sort->keys.data[begin + i] = block * MN_BLOCK_CELLS + number_in_block(cells[i]);
        }
    }
    return MN_OK;
}

/// Counts become places: block by block, and inside a block chunk by chunk.
static void place_chunks(mn_point_sort *sort, int32_t block_count, int64_t chunks)
{
    int32_t sum = 0;
    for (int32_t b = 0; b < block_count; b++) {
        sort->cell_start.data[(int64_t)b * MN_BLOCK_CELLS] = sum;
        for (int64_t c = 0; c < chunks; c++) {
            int32_t *start = &sort->chunk_start.data[c * block_count + b];
            const int32_t count = *start;
            *start = sum;
            sum += count;
        }
    }
    sort->cell_start.data[(int64_t)block_count * MN_BLOCK_CELLS] = sum;
}

static mn_status scatter_to_blocks(void *user, mn_range range)
{
    const sort_job *job = user;
    int32_t *next = job->sort->chunk_start.data + range.chunk * job->block_count;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t key = job->sort->keys.data[i], place = next[key >> 6]++;
        job->sort->by_block.data[place] = (int32_t)i;
        job->sort->cell.data[place] = (uint8_t)(key & 63);
    }
    return MN_OK;
}

static mn_status sort_in_blocks(void *user, mn_range range)
{
    mn_point_sort *sort = ((sort_job *)user)->sort;
    for (int64_t b = range.begin; b < range.end; b++) {
        int32_t *start = sort->cell_start.data + b * MN_BLOCK_CELLS;
        const int32_t begin = start[0], end = start[MN_BLOCK_CELLS];
        int32_t next[MN_BLOCK_CELLS] = {0};
        for (int32_t k = begin; k < end; k++) next[sort->cell.data[k]]++;
        int32_t sum = begin;
        for (int32_t c = 0; c < MN_BLOCK_CELLS; c++) {
            const int32_t count = next[c];
            next[c] = sum;
            // The first is written already, and a neighbour on another thread may be reading it.
            if (c > 0) start[c] = sum;
            sum += count;
        }
        for (int32_t k = begin; k < end; k++)
            sort->order.data[next[sort->cell.data[k]]++] = sort->by_block.data[k];
    }
    return MN_OK;
}

mn_status mn_point_sort_run(mn_point_sort *sort, const mn_blocks *blocks, mn_points points)
{
    mn_context *ctx = sort->ctx;
    sort->point_count = 0;
    if (points.count > INT32_MAX)
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED, "%lld points are more than one grid can sort (%d).",
                       (long long)points.count, (int)INT32_MAX);
    const int64_t block_count = blocks->coords.count;
    int64_t grain = (points.count + SORT_CHUNKS - 1) / SORT_CHUNKS;
    if (grain < SORT_GRAIN_MIN) grain = SORT_GRAIN_MIN;
    const int64_t chunks = mn_chunk_count(points.count, grain);
    MN_TRY(mn_array_resize(ctx, &sort->keys, points.count));
    MN_TRY(mn_array_resize(ctx, &sort->by_block, points.count));
    MN_TRY(mn_array_resize(ctx, &sort->cell, points.count));
    MN_TRY(mn_array_resize(ctx, &sort->order, points.count));
    MN_TRY(mn_array_resize(ctx, &sort->chunk_start, chunks * block_count));
    MN_TRY(mn_array_resize(ctx, &sort->cell_start, block_count * MN_BLOCK_CELLS + 1));
    sort_job job = {sort, blocks, points, (int32_t)block_count};
    MN_TRY(mn_parallel_for(ctx, points.count, grain, find_keys, &job));
    place_chunks(sort, (int32_t)block_count, chunks);
    MN_TRY(mn_parallel_for(ctx, points.count, grain, scatter_to_blocks, &job));
    MN_TRY(mn_parallel_for(ctx, block_count, BLOCK_GRAIN, sort_in_blocks, &job));
    sort->point_count = (int32_t)points.count;
    return MN_OK;
}

mn_sorted_points mn_point_sort_result(const mn_point_sort *sort)
{
    return (mn_sorted_points){sort->point_count, sort->order.data, sort->cell_start.data};
}
