// SPDX-License-Identifier: Apache-2.0
//
// Connected pieces of phi < 0: nodes joined by the edges of the tetrahedra that a cell is cut into (offsets
// (1,0,0) .. (1,1,1) and their opposites), so that bodies are what marching tetrahedra separate.
//
// A block's nodes are 64 bits: its pieces grow by whole-mask shifts, in parallel. Pieces of neighbouring
// blocks are then joined by union-find, serially, since there are hardly more pieces than blocks. Labels
// spread from the bodies outward through the band, so that a body may be shifted by its own amount.
#include "levelset/level_set_state.h"

#include "space/block_set.h"

#include <string.h>

enum { PIECE_MAX = 32, LABEL_GRAIN = 64 };

// ---- pieces of a block ----

/// The mask moved by one node up along each axis with a bit of `offset` (4 x, 2 y, 1 z); what leaves is lost.
static uint64_t moved_up(uint64_t mask, int32_t offset)
{
    if (offset & 4) mask = mask << 16;
    if (offset & 2) mask = mask << 4 & ~MASK_Y(0);
    if (offset & 1) mask = mask << 1 & ~MASK_Z(0);
    return mask;
}
static uint64_t moved_down(uint64_t mask, int32_t offset)
{
    if (offset & 4) mask = mask >> 16;
    if (offset & 2) mask = mask >> 4 & ~MASK_Y(3);
    if (offset & 1) mask = mask >> 1 & ~MASK_Z(3);
    return mask;
}

/// The piece of `inside` that holds its lowest node.
static uint64_t lowest_piece(uint64_t inside)
{
    uint64_t piece = inside & (~inside + 1), before = 0;
    while (piece != before) {
        before = piece;
        for (int32_t offset = 1; offset < 8; offset++)
            piece |= (moved_up(before, offset) | moved_down(before, offset)) & inside;
    }
    return piece;
}

static int32_t find_pieces(uint64_t inside, uint64_t pieces[PIECE_MAX])
{
    if (inside == ~(uint64_t)0) {
        pieces[0] = inside;
        return 1;
    }
    int32_t count = 0;
    while (inside) {
        pieces[count] = lowest_piece(inside);
        inside &= ~pieces[count++];
    }
    return count;
}

static mn_status count_pieces(void *user, mn_range range)
{
    mn_level_set *set = user;
    uint64_t pieces[PIECE_MAX];
    for (int64_t b = range.begin; b < range.end; b++)
        set->piece_start.data[b] = find_pieces(set->inside.data[b], pieces);
    return MN_OK;
}

static mn_status list_pieces(void *user, mn_range range)
{
    mn_level_set *set = user;
    for (int64_t b = range.begin; b < range.end; b++)
        find_pieces(set->inside.data[b], set->pieces.data + set->piece_start.data[b]);
    return MN_OK;
}

// ---- bodies from pieces ----

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// Nodes of the neighbour at `side` (bits as above) that edges lead to from `piece`.
static uint64_t reached_in_neighbour(uint64_t piece, int32_t side)
{
    // Along the axes of `side` the last layer becomes the first; along the others a node stays or moves one
    // up.
    if (side & 4) piece = piece >> 48;
    if (side & 2) piece = piece >> 12 & MASK_Y(0);
    if (side & 1) piece = piece >> 3 & MASK_Z(0);
    uint64_t reached = 0;
    for (int32_t offset = 0; offset < 8; offset++)
        if (!(offset & side)) reached |= moved_up(piece, offset);
    return reached;
}

static void join_neighbours(mn_level_set *set)
{
    int32_t *parent = set->piece_body.data;
    for (int32_t b = 0; b < set->table.count; b++)
        for (int32_t side = 1; side < 8; side++) {
            const int32_t n = MN_BLOCK_SELF + 9 * (side >> 2) + 3 * (side >> 1 & 1) + (side & 1);
            const int32_t other = set->table.neighbours[b][n];
            if (other < 0) continue;
            for (int32_t p = set->piece_start.data[b]; p < set->piece_start.data[b + 1]; p++) {
                const uint64_t reached = reached_in_neighbour(set->pieces.data[p], side);
                for (int32_t q = set->piece_start.data[other]; q < set->piece_start.data[other + 1]; q++) {
                    if (!(reached & set->pieces.data[q])) continue;
                    const int32_t i = root_of(parent, p), j = root_of(parent, q);
                    parent[i > j ? i : j] = i > j ? j : i; // the lower number stays, whatever the order
                }
            }
        }
}

/// Numbers the roots in the order of their first nodes; piece_body becomes the body of each piece.
static mn_status number_bodies(mn_level_set *set)
{
    set->bodies.count = 0;
    int32_t *body = set->piece_body.data;
    int32_t block = 0;
    for (int32_t p = 0; p < (int32_t)set->pieces.count; p++) {
        while (p >= set->piece_start.data[block + 1]) block++;
        if (body[p] == p) {
            const mn_body found = {.first_node =
                                       block * MN_BLOCK_CELLS + __builtin_ctzll(set->pieces.data[p])};
            MN_TRY(mn_array_push(set->ctx, &set->bodies, &found));
            body[p] = (int32_t)set->bodies.count - 1;
        } else {
            body[p] = body[body[p]]; // a parent has a lower number, so it holds its body already
        }
    }
    return MN_OK;
}

static mn_status label_nodes(void *user, mn_range range)
{
    mn_level_set *set = user;
    const int32_t outside = set->bodies.count == 1 ? 0 : -1;
    for (int64_t b = range.begin; b < range.end; b++) {
        int32_t *label = set->node_body.data + b * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) label[i] = outside;
        for (int32_t p = set->piece_start.data[b]; p < set->piece_start.data[b + 1]; p++)
            for (uint64_t bits = set->pieces.data[p]; bits; bits &= bits - 1)
                label[__builtin_ctzll(bits)] = set->piece_body.data[p];
    }
    return MN_OK;
}

// ---- labels outside ----

typedef struct spread_job {
    mn_level_set *set;
    const int32_t *from;
    int32_t *to;
} spread_job;

/// Labels at the nodes of a block and one ring around it, as in a tile.
typedef struct label_tile {
    int32_t at[6][6][6];
} label_tile;

/// Loads the tile; the block's nodes (bit per node) that have no label but stand beside one that has.
static uint64_t load_labels(const mn_level_set *set, const int32_t *from, int32_t block, label_tile *t)
{
    uint32_t near[6][6]; // bit per node along z: it has a label, or one of the two beside it
    uint64_t unlabelled = 0, beside = 0;
    for (int32_t x = -1; x <= 4; x++)
        for (int32_t y = -1; y <= 4; y++) {
            int32_t *to = t->at[x + 1][y + 1];
            const int32_t low = mn_block_reach(&set->table, block, x, y, -1),
                          mid = mn_block_reach(&set->table, block, x, y, 0),
                          high = mn_block_reach(&set->table, block, x, y, 4);
            to[0] = low < 0 ? -1 : from[low];
            for (int32_t z = 0; z < 4; z++) to[z + 1] = mid < 0 ? -1 : from[mid + z];
            to[5] = high < 0 ? -1 : from[high];
            uint32_t has = 0;
            for (int32_t z = 0; z < 6; z++) has |= (uint32_t)(to[z] >= 0) << z;
            near[x + 1][y + 1] = has | has << 1 | has >> 1;
            if (x >= 0 && x < 4 && y >= 0 && y < 4)
                unlabelled |= (uint64_t)(~has >> 1 & 15) << (16 * x + 4 * y);
        }
    for (int32_t x = 0; x < 4; x++)
        for (int32_t y = 0; y < 4; y++) {
            uint32_t any = 0;
            for (int32_t n = 0; n < 9; n++) any |= near[x + n / 3][y + n % 3];
            beside |= (uint64_t)(any >> 1 & 15) << (16 * x + 4 * y);
        }
    return unlabelled & beside;
}

/// The label deepest in its body among those that have one, of each node and its neighbours along z, then y,
/// then x: together the label of the deepest of 27, the first of equals.
typedef struct deepest_tile {
    double phi[6][6][6];
    int32_t label[6][6][6];
} deepest_tile;

/// One node takes what the next two along an axis have, if it is deeper.
MN_INLINE void take_deeper(deepest_tile *t, int32_t x, int32_t y, int32_t z, int32_t axis)
{
    double *phi = &t->phi[x][y][z];
    int32_t *label = &t->label[x][y][z];
    const int32_t stride = axis == 0 ? 36 : axis == 1 ? 6 : 1;
    for (int32_t k = 1; k <= 2; k++) {
        const bool deeper = phi[k * stride] < *phi;
        *phi = deeper ? phi[k * stride] : *phi;
        *label = deeper ? label[k * stride] : *label;
    }
}

/// Node (x, y, z) of the block finds its label at [x][y][z].
MN_INLINE void find_deepest(const label_tile *labels, const tile *phi, deepest_tile *t)
{
    const int32_t *label = &labels->at[0][0][0];
    const double *value = &phi->at[0][0][0];
    for (int32_t i = 0; i < 216; i++) {
        (&t->label[0][0][0])[i] = label[i];
        (&t->phi[0][0][0])[i] = label[i] < 0 ? INFINITY : value[i];
    }
    for (int32_t x = 0; x < 6; x++)
        for (int32_t y = 0; y < 6; y++)
            for (int32_t z = 0; z < 4; z++) take_deeper(t, x, y, z, 2);
    for (int32_t x = 0; x < 6; x++)
        for (int32_t y = 0; y < 4; y++)
            for (int32_t z = 0; z < 4; z++) take_deeper(t, x, y, z, 1);
    for (int32_t x = 0; x < 4; x++)
        for (int32_t y = 0; y < 4; y++)
            for (int32_t z = 0; z < 4; z++) take_deeper(t, x, y, z, 0);
}

MN_MULTIVERSION
static mn_status spread_labels(void *user, mn_range range)
{
    const spread_job *job = user;
    const mn_level_set *set = job->set;
    label_tile labels;
    tile phi;
    deepest_tile deepest;
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t b = set->active.data[a];
        const int64_t first = (int64_t)b * MN_BLOCK_CELLS;
        memcpy(job->to + first, job->from + first, sizeof(int32_t) * MN_BLOCK_CELLS);
        uint64_t bits = load_labels(set, job->from, b, &labels);
        if (!bits) continue;
        tile_load(&set->table, b, set->phi.data, INFINITY, &phi);
        find_deepest(&labels, &phi, &deepest);
        for (; bits; bits &= bits - 1) {
            const int32_t i = __builtin_ctzll(bits);
            job->to[first + i] = deepest.label[i >> 4][i >> 2 & 3][i & 3];
        }
    }
    return MN_OK;
}

static mn_status label_outside(mn_level_set *set)
{
    if (set->bodies.count <= 1) return MN_OK;
    MN_TRY(mn_array_resize(set->ctx, &set->spread, set->node_body.count));
    memcpy(set->spread.data, set->node_body.data, mn_bytes(set->node_body.count, sizeof(int32_t)));
    const int32_t rounds =
        2 * (int32_t)ceil(0.5 * set->band * set->table.inverse_dx); // even: ends where it began
    for (int32_t round = 0; round < rounds; round++) {
        int32_t *const here = set->node_body.data, *const there = set->spread.data;
        spread_job job = {set, round % 2 ? there : here, round % 2 ? here : there};
        MN_TRY(mn_parallel_for(set->ctx, set->active.count, LABEL_GRAIN, spread_labels, &job));
    }
    return MN_OK;
}

/// The one body whose label stands in a block, -1 when none does, MANY_BODIES when several do.
static mn_status find_block_bodies(void *user, mn_range range)
{
    mn_level_set *set = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        const int32_t *label = set->node_body.data + b * MN_BLOCK_CELLS;
        int32_t body = -1;
        for (int32_t i = 0; i < MN_BLOCK_CELLS && body != MANY_BODIES; i++)
            if (label[i] >= 0 && label[i] != body) body = body < 0 ? label[i] : MANY_BODIES;
        set->block_body.data[b] = body;
    }
    return MN_OK;
}

mn_status mn_level_set_find_bodies(mn_level_set *set)
{
    mn_context *ctx = set->ctx;
    set->labelled = false;
    set->bodies.count = 0;
    const int64_t blocks = set->table.count;
    MN_TRY(mn_level_set_find_inside(set));
    MN_TRY(mn_array_resize(ctx, &set->piece_start, blocks + 1));
    MN_TRY(mn_array_resize(ctx, &set->node_body, blocks * MN_BLOCK_CELLS));
    MN_TRY(mn_parallel_for(ctx, blocks, LABEL_GRAIN, count_pieces, set));
    set->piece_start.data[blocks] = 0;
    const int32_t pieces = mn_prefix_sum_i32(set->piece_start.data, blocks + 1);
    MN_TRY(mn_array_resize(ctx, &set->pieces, pieces));
    MN_TRY(mn_array_resize(ctx, &set->piece_body, pieces));
    MN_TRY(mn_parallel_for(ctx, blocks, LABEL_GRAIN, list_pieces, set));
    for (int32_t p = 0; p < pieces; p++) set->piece_body.data[p] = p;
    join_neighbours(set);
    MN_TRY(number_bodies(set));
    MN_TRY(mn_parallel_for(ctx, blocks, LABEL_GRAIN, label_nodes, set));
    MN_TRY(label_outside(set));
    MN_TRY(mn_array_resize(ctx, &set->block_body, blocks));
    MN_TRY(mn_parallel_for(ctx, blocks, LABEL_GRAIN, find_block_bodies, set));
    set->labelled = true;
    return MN_OK;
}

// ---- whose point ----

typedef struct point_job {
    const mn_level_set *set;
    mn_points points;
    int32_t *body;
} point_job;

/// The label of the nearest corner of the point's cell that is inside, or else of one that has a label.
static int32_t body_at(const mn_level_set *set, mn_ivec3 cell, mn_vec3 f)
{
    const int32_t block = mn_blocks_find(set->blocks, block_of_cell(cell));
    if (block < 0) return -1;
    double least = INFINITY;
    int32_t label = -1;
    for (int32_t corner = 0; corner < 8; corner++) {
        const mn_ivec3 o = {corner >> 2, corner >> 1 & 1, corner & 1};
        const int32_t at =
            mn_block_reach(&set->table, block, (cell.x & 3) + o.x, (cell.y & 3) + o.y, (cell.z & 3) + o.z);
        if (at < 0 || set->node_body.data[at] < 0) continue;
        const double far = set->phi.data[at] < 0.0 ? 0.0 : 8.0; // inside comes first, however near the others
        const double d2 = far + mn_norm2(mn_v3(f.x - o.x, f.y - o.y, f.z - o.z));
        if (d2 < least) least = d2, label = set->node_body.data[at];
    }
    return label;
}

static mn_status find_bodies_of_points(void *user, mn_range range)
{
    const point_job *job = user;
    const mn_level_set *set = job->set;
    for (int64_t p = range.begin; p < range.end; p++) {
        mn_ivec3 cell;
        if (!cells_of(set->table.origin, set->table.dx, &job->points, p, 1, &cell))
            return mn_blocks_fail_position(set->ctx, set->table.origin, set->table.dx, &job->points, p, 1);
        const mn_vec3 u =
            mn_scale(set->table.inverse_dx, mn_sub(mn_points_at(&job->points, p), set->table.origin));
        job->body[p] = body_at(set, cell, mn_v3(u.x - cell.x, u.y - cell.y, u.z - cell.z));
    }
    return MN_OK;
}

mn_status mn_level_set_bodies_of_points(mn_level_set *set, mn_points points, int32_t *body)
{
    if (!set->labelled)
        return mn_fail(set->ctx, MN_ERROR_ARGUMENT, "The level set's bodies have not been found yet.");
    point_job job = {set, points, body};
    return mn_parallel_for(set->ctx, points.count, 4096, find_bodies_of_points, &job);
}
