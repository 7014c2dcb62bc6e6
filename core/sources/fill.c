// SPDX-License-Identifier: Apache-2.0
//
// Filling a region with a jittered lattice. The lattice is cut into tiles of 8^3 cells. Cubes of tiles are
// halved until the distance at a cube's centre says that it lies inside or outside as a whole,
//
//   |phi(center)| > half diagonal,
//
// and so are the cells of a tile that the surface cuts, down to single particles. So the work follows the
// surface, and a small region in a large box costs nothing. Tiles are visited in parallel: a first pass marks
// the particles of each tile in a mask of 512 bits, a second writes them where the counts of the tiles before
// say. Gauss points are a lattice too: those of the cell from n + 1/2 to n + 3/2 are at n + 1 -+ 1/(2 sqrt
// 3), one in each of the lattice cells 2n + 1 and 2n + 2 of size 1/2.
#include "base/elementary.h"
#include "meniscus/collider.h"

#include "base/parallel.h"
#include "base/random.h"

#include <string.h>

enum { TILE = 8, TILE_CELLS = TILE * TILE * TILE };

typedef struct tile {
    int32_t origin[3]; ///< of its first cell
    bool inside;       ///< as a whole; otherwise it is cut by the surface
    uint64_t mask[TILE];
} tile;

typedef struct filling {
    mn_context *ctx;
    const mn_fill_def *def;
    const mn_region *region;
    double spacing;
    MN_ARRAY(tile) tiles;
    MN_ARRAY(int64_t) starts; ///< where each tile's particles begin
    mn_vec3 *positions;
} filling;

mn_fill_def mn_fill_default_def(void)
{
    return (mn_fill_def){.particles_per_cell = 8, .jitter = 0.5, .max_particles = 200 * 1000 * (int64_t)1000};
}

double mn_fill_spacing(const mn_fill_def *def)
{
    return def->gauss ? 0.5 * def->dx : def->dx / mn_cbrt(def->particles_per_cell);
}

// Of the lattice cell that begins here, in cells.
static double gauss_place(int32_t cell)
{
    const double from_middle = 1 / sqrt(3) - 0.5;
    return cell + 0.5 + (cell % 2 == 0 ? from_middle : -from_middle);
}

// The particle of a lattice cell; its random numbers belong to the cell's place.
static mn_vec3 particle_at(const filling *f, const int32_t cell[3])
{
    if (f->def->gauss)
        return mn_scale(f->spacing, mn_v3(gauss_place(cell[0]), gauss_place(cell[1]), gauss_place(cell[2])));
    const uint64_t mask = (1u << 21) - 1;
    const uint64_t id = ((uint64_t)(uint32_t)cell[0] & mask) | ((uint64_t)(uint32_t)cell[1] & mask) << 21 |
                        ((uint64_t)(uint32_t)cell[2] & mask) << 42;
    const mn_vec3 u = mn_random_unit3(f->def->seed, id, 0);
    const double j = f->def->jitter;
    return mn_scale(f->spacing, mn_v3(cell[0] + 0.5 + j * (u.x - 0.5), cell[1] + 0.5 + j * (u.y - 0.5),
                                      cell[2] + 0.5 + j * (u.z - 0.5)));
}

// -1 inside, 1 outside, 0 cut by the surface: the cube of `size` cells at `origin`.
static int side_of_cube(const filling *f, const int32_t origin[3], int32_t size)
{
    const double half = 0.5 * size;
    const mn_vec3 center = mn_scale(f->spacing, mn_v3(origin[0] + half, origin[1] + half, origin[2] + half));
    double distance;
    f->region->distance(f->region->user, 1, &center, &distance);
    const double reach = sqrt(3) * half * f->spacing;
    return distance > reach ? 1 : distance < -reach ? -1 : 0;
}

// ---- which tiles ----

static mn_status find_tiles(filling *f, const int32_t origin[3], int32_t size, const int32_t low[3],
                            const int32_t high[3])
{
    for (int k = 0; k < 3; k++)
        if (origin[k] > high[k] || origin[k] + size <= low[k]) return MN_OK;
    const int side = side_of_cube(f, origin, size);
    if (side > 0) return MN_OK;
    if (size == TILE) {
        tile t = {{origin[0], origin[1], origin[2]}, side < 0, {0}};
        if ((double)(f->tiles.count + 1) * TILE_CELLS > 64.0 * (double)f->def->max_particles + 1e6)
            return mn_fail(
                f->ctx, MN_ERROR_ARGUMENT,
                "dx of %g m with %d particles per cell gives far more than the %lld particles that are "
                "allowed; make dx larger.",
                f->def->dx, (int)f->def->particles_per_cell, (long long)f->def->max_particles);
        return mn_array_push(f->ctx, &f->tiles, &t);
    }
    for (int child = 0; child < 8; child++) {
        const int32_t half = size / 2;
        const int32_t corner[3] = {origin[0] + (child & 1 ? half : 0), origin[1] + (child & 2 ? half : 0),
                                   origin[2] + (child & 4 ? half : 0)};
        MN_TRY(find_tiles(f, corner, half, low, high));
    }
    return MN_OK;
}

static mn_status find_all_tiles(filling *f)
{
    const mn_box box = f->region->bounds;
    const double lows[3] = {box.min.x, box.min.y, box.min.z}, highs[3] = {box.max.x, box.max.y, box.max.z};
    int32_t low[3], high[3], origin[3], size = TILE;
    for (int k = 0; k < 3; k++) {
        const double a = floor(lows[k] / f->spacing), b = floor(highs[k] / f->spacing);
        // The random numbers of cells repeat after 2^21 of them.
        if (!(a > -1048576 && b < 1048576))
            return mn_fail(
                f->ctx, MN_ERROR_ARGUMENT,
                "The region lies %g m from the origin, more than a million particles of %g m away; move "
                "it nearer or make dx larger.",
                fmax(fabs(lows[k]), fabs(highs[k])), f->spacing);
        low[k] = (int32_t)a, high[k] = (int32_t)b;
        origin[k] = (int32_t)floor(a / TILE) * TILE;
    }
    for (int k = 0; k < 3; k++)
        while (origin[k] + size <= high[k]) size *= 2;
    return find_tiles(f, origin, size, low, high);
}

// ---- which particles ----

static void mark(tile *t, const int32_t at[3], int32_t size)
{
    const int32_t x = at[0] - t->origin[0], y = at[1] - t->origin[1], z = at[2] - t->origin[2];
    for (int32_t k = z; k < z + size; k++)
        for (int32_t j = y; j < y + size; j++) t->mask[k] |= ((UINT64_C(1) << size) - 1) << (j * TILE + x);
}

static void mark_inside(const filling *f, tile *t, const int32_t at[3], int32_t size)
{
    if (size == 1) {
        const mn_vec3 x = particle_at(f, at);
        double distance;
        f->region->distance(f->region->user, 1, &x, &distance);
        if (distance < 0) mark(t, at, 1);
        return;
    }
    const int side = side_of_cube(f, at, size);
    if (side > 0) return;
    if (side < 0) {
        mark(t, at, size);
        return;
    }
    for (int child = 0; child < 8; child++) {
        const int32_t half = size / 2;
        const int32_t corner[3] = {at[0] + (child & 1 ? half : 0), at[1] + (child & 2 ? half : 0),
                                   at[2] + (child & 4 ? half : 0)};
        mark_inside(f, t, corner, half);
    }
}

static int64_t count_of(const tile *t)
{
    int64_t count = 0;
    for (int k = 0; k < TILE; k++) count += __builtin_popcountll(t->mask[k]);
    return count;
}

static mn_status mark_range(void *user, mn_range range)
{
    filling *f = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        tile *t = &f->tiles.data[i];
        if (t->inside)
            memset(t->mask, 0xff, sizeof t->mask);
        else
            mark_inside(f, t, t->origin, TILE);
        f->starts.data[i] = count_of(t);
    }
    return MN_OK;
}

static mn_status write_range(void *user, mn_range range)
{
    const filling *f = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const tile *t = &f->tiles.data[i];
        mn_vec3 *out = f->positions + f->starts.data[i];
        for (int32_t k = 0; k < TILE; k++)
            for (int32_t bit = 0; bit < TILE * TILE; bit++)
                if (t->mask[k] >> bit & 1) {
                    const int32_t cell[3] = {t->origin[0] + bit % TILE, t->origin[1] + bit / TILE,
                                             t->origin[2] + k};
                    *out++ = particle_at(f, cell);
                }
    }
    return MN_OK;
}

// ---- all of it ----

static mn_status check(mn_context *ctx, const mn_fill_def *def, const mn_region *region)
{
    if (!(def->dx > 0) || !isfinite(def->dx))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "dx is %g m; it must be above 0.", def->dx);
    if (def->particles_per_cell < 1)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "particles_per_cell is %d; it must be at least 1.",
                       (int)def->particles_per_cell);
    if (!(def->jitter >= 0 && def->jitter <= 1))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "jitter is %g; it must be from 0 to 1.", def->jitter);
    if (!mn_is_finite3(region->bounds.min) || !mn_is_finite3(region->bounds.max))
        return mn_fail(ctx, MN_ERROR_INPUT, "The region to fill has no finite bounds.");
    return MN_OK;
}

static mn_status fill(filling *f, mn_vec3_array *positions)
{
    MN_TRY(find_all_tiles(f));
    MN_TRY(mn_array_resize(f->ctx, &f->starts, f->tiles.count));
    MN_TRY(mn_parallel_long(f->ctx, f->tiles.count, 8, mark_range, f));
    const int64_t total = mn_prefix_sum_i64(f->starts.data, f->tiles.count), first = positions->count;
    if (total > f->def->max_particles)
        return mn_fail(
            f->ctx, MN_ERROR_ARGUMENT,
            "dx of %g m with %d particles per cell gives %lld particles; %lld are allowed. Make dx "
            "larger.",
            f->def->dx, (int)f->def->particles_per_cell, (long long)total, (long long)f->def->max_particles);
    MN_TRY(mn_array_resize(f->ctx, positions, first + total));
    f->positions = positions->data + first;
    return mn_parallel_long(f->ctx, f->tiles.count, 64, write_range, f);
}

mn_status mn_fill(mn_context *ctx, const mn_fill_def *def, const mn_region *region, mn_vec3_array *positions)
{
    if (mn_box_is_empty(region->bounds)) return MN_OK;
    MN_TRY(check(ctx, def, region));
    filling f = {.ctx = ctx, .def = def, .region = region, .spacing = mn_fill_spacing(def)};
    const mn_status status = fill(&f, positions);
    mn_array_free(ctx, &f.tiles);
    mn_array_free(ctx, &f.starts);
    return status;
}
