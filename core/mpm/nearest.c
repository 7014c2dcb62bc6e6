// SPDX-License-Identifier: Apache-2.0
//
// The nearest particle of each piece of surface, and the pieces in the order of their owners.
//
// A particle is looked for in the 27 cells around a piece, nearest cells first; a cell whose near corner is
// farther than the best particle so far is not opened, and the owner of the piece before is a good one to
// begin with. Two particles at the same distance: the first in cell order wins. Pieces farther than one cell
// from every particle are dropped: nothing there could carry their force; so are those of mist (mist.c).
#include "mpm/solver.h"

#include "base/simd.h"
#include "meniscus/parallel.h"

#include <string.h>

enum { PATCH_GRAIN = 512 };

// The 27 offsets of cells by rising distance: centre, faces, edges, corners.
static const int8_t offsets[27][3] = {
    {0, 0, 0},   {-1, 0, 0},  {1, 0, 0},   {0, -1, 0}, {0, 1, 0},   {0, 0, -1},   {0, 0, 1},
    {-1, -1, 0}, {-1, 1, 0},  {1, -1, 0},  {1, 1, 0},  {-1, 0, -1}, {-1, 0, 1},   {1, 0, -1},
    {1, 0, 1},   {0, -1, -1}, {0, -1, 1},  {0, 1, -1}, {0, 1, 1},   {-1, -1, -1}, {-1, -1, 1},
    {-1, 1, -1}, {-1, 1, 1},  {1, -1, -1}, {1, -1, 1}, {1, 1, -1},  {1, 1, 1},
};

// How far place t in [0, 1) is from the cell at this offset.
MN_INLINE double gap(double t, int8_t offset)
{
    return offset < 0 ? t : offset > 0 ? 1 - t : 0;
}

MN_INLINE int32_t find_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2)
{
    const mn_block_table *table = &mpm->table;
    const double dx = table->dx;
    const mn_vec3 place = mn_scale(1 / dx, mn_sub(x, table->origin));
    const mn_vec3 floor_place = mn_v3(floor(place.x), floor(place.y), floor(place.z));
    const mn_vec3 t = mn_sub(place, floor_place);
    const mn_ivec3 cell = {(int32_t)floor_place.x, (int32_t)floor_place.y, (int32_t)floor_place.z};
    const int32_t at = mn_blocks_find_cell(mpm->blocks, cell);
    *distance2 = dx * dx;
    if (at < 0) return -1;
    const int32_t block = at / MN_BLOCK_CELLS;
    int32_t best = -1;
    double best2 = dx * dx; // no farther than a cell
    if (guess >= 0) {
        const double d2 = mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[guess])));
        if (d2 < best2) best2 = d2, best = guess;
    }
    for (int k = 0; k < 27; k++) {
        const int8_t *o = offsets[k];
        const double gx = gap(t.x, o[0]), gy = gap(t.y, o[1]), gz = gap(t.z, o[2]);
        if ((gx * gx + gy * gy + gz * gz) * dx * dx > best2) continue;
        const int32_t c =
            mn_block_reach(table, block, (cell.x & 3) + o[0], (cell.y & 3) + o[1], (cell.z & 3) + o[2]);
        if (c < 0) continue;
        for (int32_t i = mpm->cell_start[c]; i < mpm->cell_start[c + 1]; i++) {
            const double d2 = mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[i])));
            if (d2 < best2 || (d2 == best2 && i < best)) best2 = d2, best = i;
        }
    }
    *distance2 = best2;
    return best;
}

int32_t mn_mpm_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2)
{
    return find_nearest(mpm, x, guess, distance2);
}

MN_MULTIVERSION
static mn_status find_owners(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    int32_t guess = -1;
    for (int64_t k = range.begin; k < range.end; k++) {
        mn_mpm_patch *patch = &mpm->loose_patches[k];
        double distance2;
        patch->owner = -1;
        if (!(mn_norm2(patch->area) + mn_norm2(patch->force) > 0)) continue; // a place that was left empty
        patch->owner = guess = find_nearest(mpm, patch->x, guess, &distance2);
        if (patch->owner >= 0 && mn_mpm_is_mist(mpm, patch->owner)) patch->owner = -1;
        if (patch->owner < 0) continue;
        patch->sigma = mpm->materials.data[patch->owner].sigma;
        patch->force = mn_scale(patch->sigma, patch->force); // until here per N/m
    }
    return MN_OK;
}

mn_status mn_mpm_assign_patches(mn_mpm *mpm)
{
    mn_context *ctx = mpm->ctx;
    const int64_t loose = mpm->loose_count, particles = mpm->particles.count;
    mpm->patches.count = mpm->groups.count = 0;
    MN_TRY(mn_parallel_for(ctx, loose, PATCH_GRAIN, find_owners, mpm));
    MN_TRY(mn_array_resize(ctx, &mpm->group_of, particles));
    int32_t *count = mpm->group_of.data; // how many pieces, then which group
    if (particles > 0) memset(count, 0, mn_bytes(particles, sizeof *count));
    int32_t kept = 0, groups = 0;
    for (int64_t k = 0; k < loose; k++) {
        const int32_t owner = mpm->loose_patches[k].owner;
        if (owner < 0) continue;
        if (count[owner]++ == 0) groups++;
        kept++;
    }
    MN_TRY(mn_array_reserve(ctx, &mpm->groups, groups));
    MN_TRY(mn_array_resize(ctx, &mpm->patches, kept));
    int32_t first = 0;
    for (int32_t p = 0; p < particles; p++) {
        if (count[p] == 0) {
            count[p] = -1;
            continue;
        }
        const int32_t g = (int32_t)mpm->groups.count++;
        mpm->groups.data[g] = (mn_mpm_group){p, first, 0, first + 2 * g};
        first += count[p];
        count[p] = g;
    }
    mpm->area = mpm->surface_energy = 0;
    for (int64_t k = 0; k < loose; k++) {
        const mn_mpm_patch *patch = &mpm->loose_patches[k];
        if (patch->owner < 0) continue;
        mn_mpm_group *group = &mpm->groups.data[mpm->group_of.data[patch->owner]];
        mpm->patches.data[group->first_patch + group->patch_count++] = *patch;
        mpm->area += mn_norm(patch->area);
        mpm->surface_energy += patch->sigma * mn_norm(patch->area);
    }
    if (mpm->def.surface_particles == MN_MPM_MASSLESS) mpm->groups.count = 0;
    return MN_OK;
}
