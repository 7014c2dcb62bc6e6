// SPDX-License-Identifier: Apache-2.0
//
// Isosurface on sparse blocks. What lies inside is 64 bits a block; an edge is cut where its two ends differ,
// so the cut edges along each of up to seven directions are 64 bits too, and the number of a vertex is the
// number of bits before its own: no hash table, no search, no order but the blocks'. Blocks count in
// parallel, a prefix sum gives each its place, and they write in parallel.
#include "mesh/isosurface.h"
#include "base/parallel.h"
#include "base/simd.h"
#include "meniscus/array.h"
#include "mesh/cell_cuts.h"
#include "space/block_masks.h"

enum { ISO_GRAIN = 16, SLOTS = 8 };
/// Vertices keep this far from the nodes, as a part of their edge.
static const double SNAP = 0.01;

typedef int32_t index3[3];
typedef int32_t index2[2];

/// The vertices that a block owns: on edges that start at its nodes, slot = direction; slot 0 inside of
/// cells.
typedef struct block_cuts {
    uint64_t mask[SLOTS];
    int32_t start[SLOTS]; ///< number of the slot's first vertex
} block_cuts;

struct mn_isosurface {
    mn_context *ctx;
    cell_cut cuts[2][256]; ///< by mn_iso_method
    MN_ARRAY(uint64_t) inside;
    MN_ARRAY(block_cuts) blocks;
    MN_ARRAY(int32_t) vertex_start;   ///< [block_count + 1]
    MN_ARRAY(int32_t) triangle_start; ///< [block_count + 1]
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(index3) triangles;
    MN_ARRAY(int32_t) triangle_cell;
    MN_ARRAY(index2) vertex_nodes;
    MN_ARRAY(double) vertex_fractions;
};

typedef struct iso_job {
    mn_isosurface *iso;
    const cell_cut *cuts;
    mn_block_table table;
    const double *phi;
    double value;
    mn_iso_method method;
} iso_job;

mn_status mn_isosurface_create(mn_context *ctx, mn_isosurface **iso)
{
    *iso = mn_allocate_zero(ctx, sizeof **iso);
    if (!*iso) return MN_ERROR_MEMORY;
    (*iso)->ctx = ctx;
    mn_cell_cuts_tetrahedra((*iso)->cuts[MN_ISO_TETRAHEDRA]);
    mn_cell_cuts_cubes((*iso)->cuts[MN_ISO_CUBES]);
    return MN_OK;
}

void mn_isosurface_free(mn_isosurface *iso)
{
    if (!iso) return;
    mn_context *ctx = iso->ctx;
    mn_array_free(ctx, &iso->inside);
    mn_array_free(ctx, &iso->blocks);
    mn_array_free(ctx, &iso->vertex_start);
    mn_array_free(ctx, &iso->triangle_start);
    mn_array_free(ctx, &iso->positions);
    mn_array_free(ctx, &iso->triangles);
    mn_array_free(ctx, &iso->triangle_cell);
    mn_array_free(ctx, &iso->vertex_nodes);
    mn_array_free(ctx, &iso->vertex_fractions);
    mn_release(ctx, iso, sizeof *iso);
}

// ---- what is inside, and what is cut ----

/// Nodes of a block that touch its neighbour n.
static uint64_t nodes_facing(int32_t n)
{
    const int32_t x = n / 9 - 1, y = n / 3 % 3 - 1, z = n % 3 - 1;
    return (x < 0   ? MASK_X(0)
            : x > 0 ? MASK_X(3)
                    : ~(uint64_t)0) &
           (y < 0   ? MASK_Y(0)
            : y > 0 ? MASK_Y(3)
                    : ~(uint64_t)0) &
           (z < 0   ? MASK_Z(0)
            : z > 0 ? MASK_Z(3)
                    : ~(uint64_t)0);
}

static mn_status find_inside(void *user, mn_range range)
{
    const iso_job *job = user;
    for (int64_t b = range.begin; b < range.end; b++) {
        const double *phi = job->phi + b * MN_BLOCK_CELLS;
        uint64_t mask = 0;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) mask |= (uint64_t)(phi[i] < job->value) << i;
        if (mask)
            for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++)
                if (job->table.neighbours[b][n] < 0) mask &= ~nodes_facing(n);
        job->iso->inside.data[b] = mask;
    }
    return MN_OK;
}

/// corner[c]: bit of each cell of a block whose corner c (bits 4 x, 2 y, 1 z) is inside.
static void corners_inside(const iso_job *job, int64_t block, uint64_t corner[8])
{
    uint64_t m[8], z[8], y[8];
    for (int32_t c = 0; c < 8; c++) {
        const int32_t n = MN_BLOCK_SELF + 9 * (c >> 2) + 3 * (c >> 1 & 1) + (c & 1);
        m[c] = mask_of(job->iso->inside.data, job->table.neighbours[block][n]);
    }
    for (int32_t c = 0; c < 8; c++) z[c] = c & 1 ? mask_above(2, m[c ^ 1], m[c]) : m[c];
    for (int32_t c = 0; c < 8; c++) y[c] = c & 2 ? mask_above(1, z[c ^ 2], z[c]) : z[c];
    for (int32_t c = 0; c < 8; c++) corner[c] = c & 4 ? mask_above(0, y[c ^ 4], y[c]) : y[c];
}

static uint64_t cells_cut(const uint64_t corner[8])
{
    uint64_t all = ~(uint64_t)0, any = 0;
    for (int32_t c = 0; c < 8; c++) all &= corner[c], any |= corner[c];
    return any & ~all;
}

static int32_t configuration_of(const uint64_t corner[8], int32_t cell)
{
    int32_t configuration = 0;
    for (int32_t c = 0; c < 8; c++) configuration |= (int32_t)(corner[c] >> cell & 1) << c;
    return configuration;
}

/// Masks and counts of each block; start of a slot counts from the block's first vertex.
MN_MULTIVERSION
static mn_status count_blocks(void *user, mn_range range)
{
    const iso_job *job = user;
    mn_isosurface *iso = job->iso;
    uint64_t corner[8];
    for (int64_t b = range.begin; b < range.end; b++) {
        block_cuts *cuts = &iso->blocks.data[b];
        corners_inside(job, b, corner);
        const uint64_t cut = cells_cut(corner);
        int32_t triangles = 0;
        cuts->mask[0] = 0;
        for (uint64_t bits = cut; bits; bits &= bits - 1) {
            const int32_t cell = __builtin_ctzll(bits);
            const cell_cut *c = &job->cuts[configuration_of(corner, cell)];
            triangles += c->count;
            if (c->inner) cuts->mask[0] |= (uint64_t)1 << cell;
        }
        for (int32_t d = 1; d < SLOTS; d++) {
            const bool used = job->method == MN_ISO_TETRAHEDRA || d == 1 || d == 2 || d == 4;
            cuts->mask[d] = used ? corner[0] ^ corner[d] : 0;
        }
        int32_t vertices = 0;
        for (int32_t d = 0; d < SLOTS; d++) {
            cuts->start[d] = vertices;
            vertices += __builtin_popcountll(cuts->mask[d]);
        }
        iso->vertex_start.data[b] = vertices;
        iso->triangle_start.data[b] = triangles;
    }
    return MN_OK;
}

static mn_status place_blocks(void *user, mn_range range)
{
    mn_isosurface *iso = ((iso_job *)user)->iso;
    for (int64_t b = range.begin; b < range.end; b++)
        for (int32_t d = 0; d < SLOTS; d++) iso->blocks.data[b].start[d] += iso->vertex_start.data[b];
    return MN_OK;
}

// ---- vertices ----

/// phi - value of a node, with the sign that the mask gives it: nodes at the end of the grid are outside.
MN_INLINE double value_at(const iso_job *job, int32_t node, bool inside)
{
    const double phi = node < 0 ? 0.0 : job->phi[node] - job->value;
    return inside ? phi : phi > 0.0 ? phi : 0.0;
}

static bool is_inside(const iso_job *job, int32_t node)
{
    return node >= 0 && (job->iso->inside.data[node / MN_BLOCK_CELLS] >> (node % MN_BLOCK_CELLS) & 1);
}

/// Where the surface cuts the edge from node a to node b.
static double fraction_on_edge(const iso_job *job, int32_t a, int32_t b)
{
    const double va = value_at(job, a, is_inside(job, a)), vb = value_at(job, b, is_inside(job, b));
    const double t = va / (va - vb);
    return !(t >= SNAP) ? SNAP : t > 1.0 - SNAP ? 1.0 - SNAP : t; // one that is not finite, too
}

static void write_vertex(const iso_job *job, int64_t block, int32_t cell, int32_t direction, int32_t vertex)
{
    mn_isosurface *iso = job->iso;
    const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
    const int32_t dx = direction >> 2, dy = direction >> 1 & 1, dz = direction & 1;
    const int32_t a = (int32_t)block * MN_BLOCK_CELLS + cell;
    const int32_t b = mn_block_reach(&job->table, (int32_t)block, x + dx, y + dy, z + dz);
    const double t = fraction_on_edge(job, a, b);
    const mn_vec3 p = mn_block_node_position(&job->table, (int32_t)block, cell);
    iso->positions.data[vertex] = mn_axpy(p, t * job->table.dx, mn_v3(dx, dy, dz));
    iso->vertex_nodes.data[vertex][0] = a;
    iso->vertex_nodes.data[vertex][1] = b;
    iso->vertex_fractions.data[vertex] = t;
}

/// The vertex inside of a cell: the mean of those that its loop joins.
static void write_inner(const iso_job *job, int64_t block, int32_t cell, const cell_cut *cut, int32_t vertex)
{
    mn_isosurface *iso = job->iso;
    const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3, b = (int32_t)block;
    mn_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < cut->inner_count; i++) {
        const int32_t c = cut->inner_of[i] >> 3, d = cut->inner_of[i] & 7;
        const mn_vec3 low = mn_v3(c >> 2, c >> 1 & 1, c & 1), along = mn_v3(d >> 2, d >> 1 & 1, d & 1);
        const int32_t from = mn_block_reach(&job->table, b, x + (c >> 2), y + (c >> 1 & 1), z + (c & 1)),
                      e = c | d;
        const int32_t to = mn_block_reach(&job->table, b, x + (e >> 2), y + (e >> 1 & 1), z + (e & 1));
        sum = mn_add(sum, mn_axpy(low, fraction_on_edge(job, from, to), along));
    }
    const mn_vec3 p = mn_block_node_position(&job->table, b, cell);
    iso->positions.data[vertex] = mn_axpy(p, job->table.dx / cut->inner_count, sum);
    iso->vertex_nodes.data[vertex][0] = b * MN_BLOCK_CELLS + cell;
    iso->vertex_nodes.data[vertex][1] = mn_block_reach(&job->table, b, x + 1, y + 1, z + 1);
    iso->vertex_fractions.data[vertex] = 0.5;
}

static mn_status write_vertices(void *user, mn_range range)
{
    const iso_job *job = user;
    uint64_t corner[8];
    for (int64_t b = range.begin; b < range.end; b++) {
        const block_cuts *cuts = &job->iso->blocks.data[b];
        for (int32_t d = 1; d < SLOTS; d++) {
            int32_t vertex = cuts->start[d];
            for (uint64_t bits = cuts->mask[d]; bits; bits &= bits - 1)
                write_vertex(job, b, __builtin_ctzll(bits), d, vertex++);
        }
        if (!cuts->mask[0]) continue;
        corners_inside(job, b, corner);
        int32_t vertex = cuts->start[0];
        for (uint64_t bits = cuts->mask[0]; bits; bits &= bits - 1) {
            const int32_t cell = __builtin_ctzll(bits);
            write_inner(job, b, cell, &job->cuts[configuration_of(corner, cell)], vertex++);
        }
    }
    return MN_OK;
}

// ---- triangles ----

MN_INLINE int32_t vertex_number(const iso_job *job, const int32_t *neighbours, int32_t cell, cut_vertex v)
{
    const int32_t c = v >> 3, d = v & 7;
    const int32_t x = (cell >> 4) + (c >> 2), y = (cell >> 2 & 3) + (c >> 1 & 1), z = (cell & 3) + (c & 1);
    const int32_t owner = neighbours[MN_BLOCK_SELF + 9 * (x >> 2) + 3 * (y >> 2) + (z >> 2)];
    const int32_t bit = 16 * (x & 3) + 4 * (y & 3) + (z & 3);
    const block_cuts *cuts = &job->iso->blocks.data[owner];
    return cuts->start[d] + __builtin_popcountll(cuts->mask[d] & (((uint64_t)1 << bit) - 1));
}

MN_MULTIVERSION
static mn_status write_triangles(void *user, mn_range range)
{
    const iso_job *job = user;
    mn_isosurface *iso = job->iso;
    uint64_t corner[8];
    for (int64_t b = range.begin; b < range.end; b++) {
        int32_t triangle = iso->triangle_start.data[b];
        if (iso->triangle_start.data[b + 1] == triangle) continue;
        corners_inside(job, b, corner);
        for (uint64_t bits = cells_cut(corner); bits; bits &= bits - 1) {
            const int32_t cell = __builtin_ctzll(bits);
            const cell_cut *cut = &job->cuts[configuration_of(corner, cell)];
            for (int32_t t = 0; t < cut->count; t++, triangle++) {
                for (int32_t k = 0; k < 3; k++)
                    iso->triangles.data[triangle][k] =
                        vertex_number(job, job->table.neighbours[b], cell, cut->triangles[t][k]);
                iso->triangle_cell.data[triangle] = (int32_t)b * MN_BLOCK_CELLS + cell;
            }
        }
    }
    return MN_OK;
}

/// Exclusive prefix sum with the total at the end; false when it passes what an int32_t holds.
static bool sum_counts(int32_t *counts, int64_t blocks)
{
    int64_t total = 0;
    for (int64_t b = 0; b <= blocks; b++) {
        const int32_t count = b < blocks ? counts[b] : 0;
        if (total > INT32_MAX) return false;
        counts[b] = (int32_t)total;
        total += count;
    }
    return true;
}

static mn_status run(mn_isosurface *iso, iso_job *job)
{
    mn_context *ctx = iso->ctx;
    const int64_t blocks = job->table.count;
    MN_TRY(mn_array_resize(ctx, &iso->inside, blocks));
    MN_TRY(mn_array_resize(ctx, &iso->blocks, blocks));
    MN_TRY(mn_array_resize(ctx, &iso->vertex_start, blocks + 1));
    MN_TRY(mn_array_resize(ctx, &iso->triangle_start, blocks + 1));
    MN_TRY(mn_parallel_long(ctx, blocks, ISO_GRAIN, find_inside, job));
    MN_TRY(mn_parallel_long(ctx, blocks, ISO_GRAIN, count_blocks, job));
    if (!sum_counts(iso->vertex_start.data, blocks) || !sum_counts(iso->triangle_start.data, blocks))
        return mn_fail(ctx, MN_ERROR_UNSUPPORTED,
                       "The surface has more than %d triangles; use a larger grid spacing.", (int)INT32_MAX);
    const int64_t vertices = iso->vertex_start.data[blocks], triangles = iso->triangle_start.data[blocks];
    MN_TRY(mn_array_resize(ctx, &iso->positions, vertices));
    MN_TRY(mn_array_resize(ctx, &iso->vertex_nodes, vertices));
    MN_TRY(mn_array_resize(ctx, &iso->vertex_fractions, vertices));
    MN_TRY(mn_array_resize(ctx, &iso->triangle_cell, triangles));
    MN_TRY(mn_array_resize(ctx, &iso->triangles, triangles));
    MN_TRY(mn_parallel_long(ctx, blocks, ISO_GRAIN, place_blocks, job));
    MN_TRY(mn_parallel_long(ctx, blocks, ISO_GRAIN, write_vertices, job));
    return mn_parallel_long(ctx, blocks, ISO_GRAIN, write_triangles, job);
}

mn_status mn_isosurface_run(mn_isosurface *iso, const mn_blocks *blocks, const double *phi, double value,
                            mn_iso_method method)
{
    iso_job job = {iso, iso->cuts[method == MN_ISO_CUBES], mn_blocks_table(blocks), phi, value, method};
    const mn_status status = run(iso, &job);
    if (status != MN_OK) iso->positions.count = iso->triangles.count = 0;
    return status;
}

mn_iso_mesh mn_isosurface_mesh(const mn_isosurface *iso)
{
    return (mn_iso_mesh){.vertex_count = (int32_t)iso->positions.count,
                         .triangle_count = (int32_t)iso->triangles.count,
                         .positions = iso->positions.data,
                         .triangles = (const int32_t(*)[3])iso->triangles.data,
                         .triangle_cell = iso->triangle_cell.data,
                         .vertex_nodes = (const int32_t(*)[2])iso->vertex_nodes.data,
                         .vertex_fractions = iso->vertex_fractions.data};
}
