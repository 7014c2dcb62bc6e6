// SPDX-License-Identifier: Apache-2.0
//
// A solid that a level set ends at: its distance at the nodes, and how much of each block is open.
//
// phi goes on into the solid (the caller has seen to that); what counts is the part of phi < 0 with positive
// distance. Blocks whose middle is farther from the solid than any of their cells' nodes can be are not
// looked at node by node.
#include "levelset/level_set_state.h"

#include "levelset/linear_cut.h"

enum { SOLID_GRAIN = 8 };

// How far nodes of blocks that are not looked at are from the solid at least, in cells: as far as a liquid
// feels its walls, and a cell more, since a cell's other nodes may lie in the next block.
static const double far = 4.0;

typedef struct solid_job {
    mn_level_set *set;
    mn_field_fn *distance;
    void *user;
} solid_job;

static mn_status find_distances(void *user, mn_range range)
{
    const solid_job *job = user;
    mn_level_set *set = job->set;
    const double reach = (1.5 * 1.7321 + far) * set->table.dx; // half a block's diagonal, and as far
    for (int64_t b = range.begin; b < range.end; b++) {
        const mn_vec3 first = mn_block_node_position(&set->table, (int32_t)b, 0);
        const mn_vec3 last = mn_block_node_position(&set->table, (int32_t)b, MN_BLOCK_CELLS - 1);
        set->cut.data[b] = job->distance(job->user, mn_lerp(first, last, 0.5)) <= reach;
        if (!set->cut.data[b]) continue;
        double *solid = set->solid.data + b * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) {
            const double d = job->distance(job->user, mn_block_node_position(&set->table, (int32_t)b, i));
            // A node on the solid's surface would make cuts without volume: it lies just inside.
            solid[i] = fabs(d) < 1e-9 * set->table.dx ? -1e-9 * set->table.dx : d;
        }
    }
    return MN_OK;
}

void mn_level_set_load_solid(const mn_level_set *set, int32_t block, double solid[5][5][5])
{
    for (int32_t x = 0; x < 5; x++)
        for (int32_t y = 0; y < 5; y++)
            for (int32_t z = 0; z < 5; z++) {
                const int32_t at = mn_block_reach(&set->table, block, x, y, z);
                // A block that was not looked at is open, and far: nearer, it would be a wall beside the
                // cells next to it.
                solid[x][y][z] = at < 0 || !set->cut.data[at / MN_BLOCK_CELLS]
                                     ? far
                                     : set->solid.data[at] * set->table.inverse_dx;
            }
}

/// Adds the open part of a cell with these distances at its corners, and the solid's area in it.
static void add_open_part(const double solid[8], double *open, double *wetted)
{
    for (int32_t t = 0; t < 6; t++) {
        mn_cut_vertex v[4], parts[3][4];
        mn_cut_polygon wall;
        mn_vec3 middle;
        mn_cut_tet_of_cell(t, solid, solid, v);
        const int32_t count = mn_cut_open_parts(v, parts);
        for (int32_t p = 0; p < count; p++) *open += mn_cut_volume6(parts[p]) / 6;
        if (mn_cut_tet(v, &wall)) *wetted += mn_norm(mn_cut_area(&wall, &middle));
    }
}

static mn_status find_open(void *user, mn_range range)
{
    const solid_job *job = user;
    mn_level_set *set = job->set;
    double solid[5][5][5], corners[8];
    for (int64_t b = range.begin; b < range.end; b++) {
        set->open.data[b] = MN_BLOCK_CELLS, set->deep_wetted.data[b] = 0;
        if (!set->cut.data[b] || !set->deep.data[b]) continue; // only deep blocks are counted as a whole
        mn_level_set_load_solid(set, (int32_t)b, solid);
        double open = 0, wetted = 0;
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
            for (int32_t c = 0; c < 8; c++) corners[c] = solid[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
            add_open_part(corners, &open, &wetted);
        }
        set->open.data[b] = open, set->deep_wetted.data[b] = wetted;
    }
    return MN_OK;
}

mn_status mn_level_set_set_solid(mn_level_set *set, mn_field_fn *distance, void *user)
{
    mn_context *ctx = set->ctx;
    const int64_t blocks = set->table.count;
    set->has_solid = false;
    if (!distance) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &set->solid, blocks * MN_BLOCK_CELLS));
    MN_TRY(mn_array_resize(ctx, &set->cut, blocks));
    MN_TRY(mn_array_resize(ctx, &set->open, blocks));
    MN_TRY(mn_array_resize(ctx, &set->deep_wetted, blocks));
    solid_job job = {set, distance, user};
    MN_TRY(mn_parallel_for(ctx, blocks, SOLID_GRAIN, find_distances, &job));
    MN_TRY(mn_parallel_for(ctx, blocks, SOLID_GRAIN, find_open, &job));
    set->has_solid = true;
    return MN_OK;
}

mn_status mn_level_set_cut_solid(mn_level_set *set, double depth)
{
    if (!set->has_solid) return MN_OK;
    for (int64_t b = 0; b < set->table.count; b++) {
        if (!set->cut.data[b]) continue;
        double *phi = set->phi.data + b * MN_BLOCK_CELLS;
        const double *solid = set->solid.data + b * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) {
            const double cut = -solid[i] - depth;
            if (!(cut > phi[i])) continue;
            phi[i] = cut;
            set->deep.data[b] = 0;
        }
    }
    set->labelled = false;
    return mn_level_set_list_active(set);
}
