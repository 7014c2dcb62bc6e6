// SPDX-License-Identifier: Apache-2.0
//
// The set of blocks: a hash table while it grows, then lexicographic order by radix sort, neighbour table and
// colours. Which blocks exist does not depend on the order they were found in, and their numbers follow from
// their coordinates alone, so every way to build the same set gives the same bits.
#include "space/block_set.h"

#include "base/parallel.h"

#include <math.h>
#include <string.h>

enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS, NEIGHBOUR_GRAIN = 256, TABLE_MIN = 64 };

mn_status mn_blocks_create(mn_context *ctx, mn_blocks **blocks)
{
    *blocks = mn_allocate_zero(ctx, sizeof **blocks);
    if (!*blocks) return MN_ERROR_MEMORY;
    (*blocks)->ctx = ctx;
    (*blocks)->dx = 1.0;
    return MN_OK;
}

void mn_blocks_free(mn_blocks *blocks)
{
    if (!blocks) return;
    mn_context *ctx = blocks->ctx;
    mn_array_free(ctx, &blocks->entries);
    mn_array_free(ctx, &blocks->swap);
    mn_array_free(ctx, &blocks->coords);
    mn_array_free(ctx, &blocks->occupied);
    mn_array_free(ctx, &blocks->neighbours);
    mn_array_free(ctx, &blocks->coloured);
    mn_array_free(ctx, &blocks->table);
    mn_array_free(ctx, &blocks->chunk_entries);
    mn_array_free(ctx, &blocks->chunk_counts);
    mn_release(ctx, blocks, sizeof *blocks);
}

// ---- the hash table ----

static mn_status reset_table(mn_blocks *blocks, int64_t size)
{
    MN_TRY(mn_array_resize(blocks->ctx, &blocks->table, size));
    memset(blocks->table.data, 0xff, mn_bytes(size, sizeof *blocks->table.data));
    for (int64_t i = 0; i < blocks->entries.count; i++)
        blocks->table.data[slot_of(blocks, blocks->entries.data[i].coord)] = (int32_t)i;
    return MN_OK;
}

mn_status mn_blocks_begin(mn_blocks *blocks, mn_vec3 origin, double dx)
{
    // Room for as many as last time keeps a steady loop from growing the table again.
    int64_t size = TABLE_MIN;
    while (size < 2 * blocks->coords.count) size *= 2;
    blocks->entries.count = blocks->coords.count = 0;
    memset(blocks->colour_start, 0, sizeof blocks->colour_start);
    if (!(dx > 0.0) || !isfinite(dx) || !isfinite(1.0 / dx))
        return mn_fail(blocks->ctx, MN_ERROR_ARGUMENT, "The grid spacing is %g m; it must be above zero.",
                       dx);
    if (!mn_is_finite3(origin))
        return mn_fail(blocks->ctx, MN_ERROR_ARGUMENT, "The grid's origin (%g, %g, %g) is not finite.",
                       origin.x, origin.y, origin.z);
    blocks->origin = origin;
    blocks->dx = dx;
    return reset_table(blocks, size);
}

mn_status mn_blocks_insert(mn_blocks *blocks, mn_ivec3 coord, uint64_t occupied)
{
    const int64_t slot = slot_of(blocks, coord);
    if (blocks->table.data[slot] >= 0) {
        blocks->entries.data[blocks->table.data[slot]].occupied |= occupied;
        return MN_OK;
    }
    if (blocks->entries.count >= MN_BLOCK_COUNT_MAX)
        return mn_fail(blocks->ctx, MN_ERROR_INPUT,
                       "The points are spread over more than %d grid blocks at dx = %g m; use a larger dx.",
                       (int)MN_BLOCK_COUNT_MAX, blocks->dx);
    const block_entry entry = {coord, occupied};
    MN_TRY(mn_array_push(blocks->ctx, &blocks->entries, &entry));
    blocks->table.data[slot] = (int32_t)(blocks->entries.count - 1);
    if (2 * blocks->entries.count > blocks->table.count) return reset_table(blocks, 2 * blocks->table.count);
    return MN_OK;
}

// ---- lexicographic order ----

static uint32_t component(mn_ivec3 c, int32_t axis)
{
    return (uint32_t)(axis == 0 ? c.x : axis == 1 ? c.y : c.z);
}

/// One pass of the radix sort: stable by `DIGIT_BITS` bits of one component above its least value.
static void sort_by_digit(const block_entry *from, block_entry *to, int64_t count, int32_t axis,
                          uint32_t least, int32_t shift)
{
    int32_t start[DIGITS] = {0};
    for (int64_t i = 0; i < count; i++)
        start[((component(from[i].coord, axis) - least) >> shift) & (DIGITS - 1)]++;
    mn_prefix_sum_i32(start, DIGITS);
    for (int64_t i = 0; i < count; i++)
        to[start[((component(from[i].coord, axis) - least) >> shift) & (DIGITS - 1)]++] = from[i];
}

/// Least significant digit first: z, then y, then x, each only as many digits as the set's extent has.
static mn_status order_entries(mn_blocks *blocks)
{
    const int64_t count = blocks->entries.count;
    MN_TRY(mn_array_resize(blocks->ctx, &blocks->swap, count));
    for (int32_t axis = 2; axis >= 0; axis--) {
        int32_t least = INT32_MAX, most = INT32_MIN;
        for (int64_t i = 0; i < count; i++) {
            const int32_t c = (int32_t)component(blocks->entries.data[i].coord, axis);
            least = c < least ? c : least;
            most = c > most ? c : most;
        }
        const uint32_t extent = count ? (uint32_t)most - (uint32_t)least : 0;
        for (int32_t shift = 0; shift < 32 && extent >> shift; shift += DIGIT_BITS) {
            sort_by_digit(blocks->entries.data, blocks->swap.data, count, axis, (uint32_t)least, shift);
            block_entry *sorted = blocks->swap.data;
            const int64_t capacity = blocks->swap.capacity;
            blocks->swap.data = blocks->entries.data, blocks->swap.capacity = blocks->entries.capacity;
            blocks->entries.data = sorted, blocks->entries.capacity = capacity;
        }
    }
    return MN_OK;
}

// ---- tables ----

static mn_status fill_neighbours(void *user, mn_range range)
{
    mn_blocks *blocks = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        const mn_ivec3 c = blocks->entries.data[b].coord;
        int32_t *row = blocks->neighbours.data[b];
        for (int32_t x = -1; x <= 1; x++)
            for (int32_t y = -1; y <= 1; y++)
                for (int32_t z = -1; z <= 1; z++)
                    *row++ = blocks->table.data[slot_of(blocks, mn_iv3(c.x + x, c.y + y, c.z + z))];
        blocks->coords.data[b] = c;
        blocks->occupied.data[b] = blocks->entries.data[b].occupied;
    }
    return MN_OK;
}

static int32_t colour_of(mn_ivec3 c)
{
    return 4 * (c.x & 1) + 2 * (c.y & 1) + (c.z & 1);
}

static void fill_colours(mn_blocks *blocks)
{
    int32_t next[MN_BLOCK_COLOURS + 1] = {0};
    for (int64_t b = 0; b < blocks->entries.count; b++) next[colour_of(blocks->entries.data[b].coord)]++;
    mn_prefix_sum_i32(next, MN_BLOCK_COLOURS + 1);
    memcpy(blocks->colour_start, next, sizeof next);
    for (int64_t b = 0; b < blocks->entries.count; b++)
        blocks->coloured.data[next[colour_of(blocks->entries.data[b].coord)]++] = (int32_t)b;
}

mn_status mn_blocks_finish(mn_blocks *blocks)
{
    mn_context *ctx = blocks->ctx;
    const int64_t count = blocks->entries.count;
    MN_TRY(order_entries(blocks));
    MN_TRY(reset_table(blocks, blocks->table.count));
    MN_TRY(mn_array_reserve(ctx, &blocks->coords, count));
    MN_TRY(mn_array_resize(ctx, &blocks->occupied, count));
    MN_TRY(mn_array_resize(ctx, &blocks->neighbours, count));
    MN_TRY(mn_array_resize(ctx, &blocks->coloured, count));
    MN_TRY(mn_parallel_for(ctx, count, NEIGHBOUR_GRAIN, fill_neighbours, blocks));
    fill_colours(blocks);
    blocks->coords.count = count; // from here on the set is whole
    return MN_OK;
}

mn_status mn_blocks_build_from_coords(mn_blocks *blocks, mn_vec3 origin, double dx, int64_t count,
                                      const mn_ivec3 *coords, int32_t rings)
{
    MN_TRY(mn_blocks_begin(blocks, origin, dx));
    for (int64_t i = 0; i < count; i++) {
        const mn_ivec3 c = coords[i];
        const int32_t low = rings - MN_BLOCK_COORD_MAX, high = MN_BLOCK_COORD_MAX - 1 - rings;
        if (c.x < low || c.y < low || c.z < low || c.x > high || c.y > high || c.z > high)
            return mn_fail(blocks->ctx, MN_ERROR_INPUT,
                           "Grid block (%d, %d, %d) lies outside the grid; move the geometry nearer to the "
                           "origin or use a larger dx.",
                           (int)c.x, (int)c.y, (int)c.z);
        MN_TRY(mn_blocks_insert(blocks, c, 0));
    }
    int64_t ring_begin = 0;
    for (int32_t ring = 0; ring < rings; ring++) {
        const int64_t ring_end = blocks->entries.count;
        for (int64_t i = ring_begin; i < ring_end; i++) {
            const mn_ivec3 c = blocks->entries.data[i].coord;
            for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++)
                MN_TRY(mn_blocks_insert(blocks, mn_iv3(c.x + n / 9 - 1, c.y + n / 3 % 3 - 1, c.z + n % 3 - 1),
                                        0));
        }
        ring_begin = ring_end;
    }
    return mn_blocks_finish(blocks);
}

mn_block_table mn_blocks_table(const mn_blocks *blocks)
{
    mn_block_table table = {.origin = blocks->origin,
                            .dx = blocks->dx,
                            .inverse_dx = 1.0 / blocks->dx,
                            .count = (int32_t)blocks->coords.count,
                            .coords = blocks->coords.data,
                            .neighbours = (const int32_t(*)[MN_BLOCK_NEIGHBOURS])blocks->neighbours.data,
                            .occupied = blocks->occupied.data,
                            .coloured = blocks->coloured.data};
    memcpy(table.colour_start, blocks->colour_start, sizeof table.colour_start);
    return table;
}

int32_t mn_blocks_find(const mn_blocks *blocks, mn_ivec3 coord)
{
    return blocks->coords.count ? blocks->table.data[slot_of(blocks, coord)] : -1;
}

int32_t mn_blocks_find_cell(const mn_blocks *blocks, mn_ivec3 cell)
{
    const int32_t block = mn_blocks_find(blocks, block_of_cell(cell));
    return block < 0 ? -1 : block * MN_BLOCK_CELLS + number_in_block(cell);
}
