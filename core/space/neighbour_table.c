// SPDX-License-Identifier: Apache-2.0
//
// All neighbours of all points as one table. Where one radius serves all and fits the cell, a cell's points
// share the candidates of the 27 cells around it: those are copied side by side once, as floats in cells from
// the middle, and each point compares eight at a time. A point with a candidate so near its border that
// floats cannot tell is searched again in doubles.
//
// How long a row is comes out with the row. So chunks of queries find into slots of their own, a round
// of them at a time, and are then copied behind one another while they are still in the cache.
#include "space/neighbours_state.h"

#include <math.h>
#include <string.h>

enum { FIND_GRAIN = 512, BLOCK_GRAIN = 1, CANDIDATE_MAX = 2048 };
static const float FAR_AWAY = 1e30f; // its square is infinite, and not less than any radius'
// In cells: coordinates lie within 1.5, so each is rounded by 2^-24 at most, their differences by 2^-22; for
// d <= 1 the sum of the three squares is off by less than 2 sqrt(3) 2^-22 + 3 * 2^-24 < 2^-19.
static const float FLOAT_DOUBT = 0x1p-18f;

typedef struct find_job {
    mn_neighbours *n;
    mn_points positions; ///< not used for the built points themselves
    double radius;
    const double *radii;
    bool own;                 ///< the built points search each other
    bool by_cell;             ///< chunks are of blocks, else of queries
    int64_t grain;            ///< blocks or queries in a chunk
    int64_t count;            ///< blocks or queries in all
    int64_t first_chunk;      ///< of this round
    int64_t base[SLOT_COUNT]; ///< where a slot's rows go
} find_job;

// ---- one query at a time ----

/// Appends the near points of some runs to a slot; `self` (a sorted point, or -1) is left out. Never melted
/// into a kernel for a newer processor: with fused multiply-adds a tie could go another way.
__attribute__((noinline)) static mn_status find_in_runs(mn_neighbours *n, neighbour_slot *slot,
                                                        const point_run *runs, int32_t run_count, mn_vec3 at,
                                                        double r2, int32_t self)
{
    for (int32_t r = 0; r < run_count; r++) {
        MN_TRY(mn_array_reserve(n->ctx, &slot->found, slot->found.count + runs[r].end - runs[r].begin));
        int32_t *found = slot->found.data + slot->found.count;
        for (int32_t k = runs[r].begin; k < runs[r].end; k++) {
            const double x = n->x.data[k] - at.x, y = n->y.data[k] - at.y, z = n->z.data[k] - at.z;
            *found = n->order[k];
            found += (x * x + y * y + z * z < r2) & (k != self);
        }
        slot->found.count = found - slot->found.data;
    }
    return MN_OK;
}

static mn_status find_one(const find_job *job, neighbour_slot *slot, int64_t query, mn_vec3 at, int32_t self)
{
    mn_neighbours *n = job->n;
    const double radius = job->radii ? job->radii[query] : job->radius;
    point_run runs[RUN_MAX];
    run_walk walk = walk_begin(n, at, radius);
    for (int32_t count; (count = walk_next(&walk, runs)) > 0;)
        MN_TRY(find_in_runs(n, slot, runs, count, at, radius * radius, self));
    return MN_OK;
}

static mn_status find_queries(const find_job *job, neighbour_slot *slot, int64_t begin, int64_t end)
{
    mn_neighbours *n = job->n;
    slot->first_row = begin;
    slot->end_row = end;
    for (int64_t k = begin; k < end; k++) {
        n->start.data[k] = slot->found.count;
        if (job->own)
            MN_TRY(find_one(job, slot, n->order[k], mn_v3(n->x.data[k], n->y.data[k], n->z.data[k]),
                            (int32_t)k));
        else
            MN_TRY(find_one(job, slot, k, mn_points_at(&job->positions, k), -1));
    }
    return MN_OK;
}

// ---- cell by cell ----

/// The points of the cells around one, side by side, in cells from the middle one's centre.
typedef struct candidates {
    float x[CANDIDATE_MAX + 8], y[CANDIDATE_MAX + 8], z[CANDIDATE_MAX + 8];
    int32_t id[CANDIDATE_MAX + 8]; ///< the number they were built with
    int32_t count;
    int32_t own; ///< where the cell's own points begin
} candidates;

/// Runs of the 27 cells around one cell: along z, split where the blocks meet.
MN_INLINE int32_t runs_around(const mn_neighbours *n, int32_t block, int32_t cell, point_run *runs)
{
    const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
    int32_t count = 0;
    for (int32_t i = x - 1; i <= x + 1; i++)
        for (int32_t j = y - 1; j <= y + 1; j++)
            for (int32_t side = (z + 3) >> 2; side <= (z + 5) >> 2; side++) {
                const int32_t other =
                    n->table.neighbours[block][9 * ((i + 4) >> 2) + 3 * ((j + 4) >> 2) + side];
                if (other < 0) continue;
                const int32_t low = clamp_to(z + 3 - 4 * side, 0, 3), high = clamp_to(z + 5 - 4 * side, 0, 3);
                const int32_t *start = n->cell_start + other * MN_BLOCK_CELLS + 16 * (i & 3) + 4 * (j & 3);
                if (start[low] < start[high + 1]) runs[count++] = (point_run){start[low], start[high + 1]};
            }
    return count;
}

MN_INLINE mn_vec3 cell_centre(const mn_neighbours *n, int32_t block, int32_t cell)
{
    const mn_ivec3 c = n->table.coords[block];
    return mn_v3((4 * c.x + (cell >> 4) + 0.5) * n->table.dx, (4 * c.y + (cell >> 2 & 3) + 0.5) * n->table.dx,
                 (4 * c.z + (cell & 3) + 0.5) * n->table.dx);
}

/// to[k] = (from[k] - origin) * scale for k < 4.
MN_INLINE void copy4(float *to, const double *from, double origin, double scale)
{
    mn_double4 four;
    memcpy(&four, from, sizeof four);
    const mn_float4 result = __builtin_convertvector((four - origin) * scale, mn_float4);
    memcpy(to, &result, sizeof result);
}

/// False when there are more than fit. Eight behind the last are far away.
MN_INLINE bool gather_candidates(const mn_neighbours *n, const point_run *runs, int32_t run_count,
                                 int32_t own, mn_vec3 centre, candidates *c)
{
    const double *restrict nx = n->x.data, *restrict ny = n->y.data, *restrict nz = n->z.data;
    const int32_t *restrict order = n->order;
    const double scale = n->table.inverse_dx;
    int32_t count = 0;
    for (int32_t r = 0; r < run_count; r++) {
        const int32_t begin = runs[r].begin, length = runs[r].end - begin;
        if (count + length > CANDIDATE_MAX) return false;
        if (own >= begin && own < runs[r].end) c->own = count + own - begin;
        // Four at a time may write beyond the run; the next one comes there, or the padding.
        for (int32_t k = 0; k < length; k += 4) {
            copy4(c->x + count + k, nx + begin + k, centre.x, scale);
            copy4(c->y + count + k, ny + begin + k, centre.y, scale);
            copy4(c->z + count + k, nz + begin + k, centre.z, scale);
        }
        for (int32_t k = 0; k < length; k++) c->id[count + k] = order[begin + k];
        count += length;
    }
    for (int32_t k = 0; k < 8; k++) {
        c->x[count + k] = FAR_AWAY;
        c->y[count + k] = c->z[count + k] = 0.0f;
        c->id[count + k] = 0;
    }
    c->count = count;
    return true;
}

/// Writes the numbers of the candidates near candidate `self` to `found`, which has room for all and eight
/// more, and returns the end; NULL when one is so near the border that floats cannot tell. r2 is in cells.
MN_INLINE int32_t *find_among(candidates *c, const int32_t places[256][8], int32_t self, float r2,
                              int32_t *found)
{
    const float x = c->x[self], y = c->y[self], z = c->z[self];
    const float inside = r2 - FLOAT_DOUBT, outside = r2 + FLOAT_DOUBT;
    mn_int8 doubt = {0};
    c->x[self] = FAR_AWAY; // not its own neighbour
    for (int32_t k = 0; k < c->count; k += 8) {
        mn_float8 dx, dy, dz;
        mn_int8 id, order;
        memcpy(&dx, c->x + k, sizeof dx);
        memcpy(&dy, c->y + k, sizeof dy);
        memcpy(&dz, c->z + k, sizeof dz);
        memcpy(&id, c->id + k, sizeof id);
        dx -= x, dy -= y, dz -= z;
        const mn_float8 d2 = dx * dx + dy * dy + dz * dz;
        const mn_int8 near = d2 < inside;
        doubt |= near ^ (d2 < outside);
        const uint32_t bits = MN_MASK_BITS8(near);
        memcpy(&order, places[bits], sizeof order);
        MN_PACK8(id, order);
        memcpy(found, &id, sizeof id);
        found += __builtin_popcount(bits);
    }
    c->x[self] = x;
    return MN_MASK_BITS8(doubt) ? NULL : found;
}

/// Rows of the points [first, last) of one cell.
MN_INLINE mn_status find_cell(const find_job *job, neighbour_slot *slot, int64_t cell, int32_t first,
                              int32_t last, candidates *c)
{
    mn_neighbours *n = job->n;
    const int32_t block = (int32_t)(cell / MN_BLOCK_CELLS), place = (int32_t)(cell % MN_BLOCK_CELLS);
    const double r = job->radius * n->table.inverse_dx;
    const float r2 = (float)(r * r);
    point_run runs[RUN_MAX];
    const int32_t run_count = runs_around(n, block, place, runs);
    const bool fits = gather_candidates(n, runs, run_count, first, cell_centre(n, block, place), c);
    if (fits)
        MN_TRY(mn_array_reserve(n->ctx, &slot->found, slot->found.count + (last - first) * (c->count + 8)));
    for (int32_t k = first; k < last; k++) {
        int32_t *row = fits ? slot->found.data + slot->found.count : NULL;
        int32_t *end = fits ? find_among(c, n->places, c->own + k - first, r2, row) : NULL;
        n->start.data[k] = slot->found.count;
        if (end)
            slot->found.count += end - row;
        else
            MN_TRY(find_in_runs(n, slot, runs, run_count, mn_v3(n->x.data[k], n->y.data[k], n->z.data[k]),
                                job->radius * job->radius, k));
    }
    return MN_OK;
}

MN_MULTIVERSION
static mn_status find_cells(const find_job *job, neighbour_slot *slot, int64_t begin, int64_t end,
                            candidates *c)
{
    const int32_t *start = job->n->cell_start;
    slot->first_row = start[begin * MN_BLOCK_CELLS];
    slot->end_row = start[end * MN_BLOCK_CELLS];
    for (int64_t cell = begin * MN_BLOCK_CELLS; cell < end * MN_BLOCK_CELLS; cell++)
        if (start[cell] < start[cell + 1])
            MN_TRY(find_cell(job, slot, cell, start[cell], start[cell + 1], c));
    return MN_OK;
}

// ---- rounds ----

static mn_status find_chunks(void *user, mn_range range)
{
    const find_job *job = user;
    candidates c;
    for (int64_t i = range.begin; i < range.end; i++) {
        neighbour_slot *slot = &job->n->slots[i];
        const int64_t begin = (job->first_chunk + i) * job->grain;
        const int64_t end = job->count - begin < job->grain ? job->count : begin + job->grain;
        slot->found.count = 0;
        if (job->by_cell)
            MN_TRY(find_cells(job, slot, begin, end, &c));
        else
            MN_TRY(find_queries(job, slot, begin, end));
    }
    return MN_OK;
}

static mn_status place_chunks(void *user, mn_range range)
{
    const find_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const neighbour_slot *slot = &job->n->slots[i];
        if (slot->found.count > 0)
            memcpy(job->n->found.data + job->base[i], slot->found.data,
                   mn_bytes(slot->found.count, sizeof(int32_t)));
        for (int64_t k = slot->first_row; k < slot->end_row; k++) job->n->start.data[k] += job->base[i];
    }
    return MN_OK;
}

static mn_status run_rounds(find_job *job)
{
    mn_neighbours *n = job->n;
    const int64_t chunks = mn_chunk_count(job->count, job->grain);
    // How many chunks make a round changes nothing but how well they fit the cache.
    const int64_t most = clamp_to(4 * mn_worker_count(n->ctx), 8, SLOT_COUNT);
    n->found.count = 0;
    for (job->first_chunk = 0; job->first_chunk < chunks; job->first_chunk += most) {
        const int64_t left = chunks - job->first_chunk, round = left < most ? left : most;
        MN_TRY(mn_check_cancelled(n->ctx));
        MN_TRY(mn_parallel_for(n->ctx, round, 1, find_chunks, job));
        int64_t total = n->found.count;
        for (int64_t i = 0; i < round; i++) {
            job->base[i] = total;
            total += n->slots[i].found.count;
        }
        MN_TRY(mn_array_resize(n->ctx, &n->found, total));
        MN_TRY(mn_parallel_for(n->ctx, round, 1, place_chunks, job));
    }
    return MN_OK;
}

static mn_status check_radii(mn_context *ctx, int64_t count, double radius, const double *radii)
{
    if (!radii && !(radius > 0.0 && isfinite(radius * radius)))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The radius of the neighbour search is %g m; it must be above zero.", radius);
    for (int64_t i = 0; radii && i < count; i++)
        if (!(radii[i] > 0.0 && isfinite(radii[i] * radii[i])))
            return mn_fail(ctx, MN_ERROR_INPUT, "Point %lld searches within %g m; that must be above zero.",
                           (long long)i, radii[i]);
    return MN_OK;
}

static mn_status make_table(find_job *job, int64_t queries, mn_neighbour_table *table)
{
    mn_neighbours *n = job->n;
    *table = (mn_neighbour_table){0};
    MN_TRY(check_radii(n->ctx, queries, job->radius, job->radii));
    MN_TRY(mn_array_resize(n->ctx, &n->start, queries + 1));
    job->by_cell = job->own && !job->radii && job->radius <= n->table.dx;
    job->grain = job->by_cell ? BLOCK_GRAIN : FIND_GRAIN;
    job->count = job->by_cell ? n->table.count : queries;
    if (queries > 0) MN_TRY(run_rounds(job));
    n->start.data[queries] = queries > 0 ? n->found.count : 0;
    *table = (mn_neighbour_table){queries, job->own ? n->order : NULL, n->start.data, n->found.data};
    return MN_OK;
}

mn_status mn_neighbours_find(mn_neighbours *neighbours, double radius, const double *radii,
                             mn_neighbour_table *table)
{
    find_job job = {.n = neighbours, .radius = radius, .radii = radii, .own = true};
    return make_table(&job, neighbours->count, table);
}

static mn_status check_positions(mn_context *ctx, const mn_points *positions)
{
    for (int64_t i = 0; i < positions->count; i++) {
        const mn_vec3 x = mn_points_at(positions, i);
        if (!mn_is_finite3(x))
            return mn_fail(ctx, MN_ERROR_INPUT,
                           "Point %lld has the position (%g, %g, %g), which is not finite.", (long long)i,
                           x.x, x.y, x.z);
    }
    return MN_OK;
}

mn_status mn_neighbours_find_at(mn_neighbours *neighbours, mn_points positions, double radius,
                                const double *radii, mn_neighbour_table *table)
{
    *table = (mn_neighbour_table){0};
    MN_TRY(check_positions(neighbours->ctx, &positions));
    find_job job = {.n = neighbours, .positions = positions, .radius = radius, .radii = radii};
    return make_table(&job, positions.count, table);
}
