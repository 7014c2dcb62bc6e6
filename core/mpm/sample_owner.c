// SPDX-License-Identifier: Apache-2.0
//
// The nearest particle of each piece of surface, and the pieces in the order of their owners.
//
// A particle is looked for in the cell of a piece and the seven next to the octant that it lies in, and in
// all 27 around when none is nearer than the others may have; a cell that is farther than the best particle
// so far is not opened, and the owner of the piece before is a good one to begin with. Two particles at the
// same distance: the first in cell order wins. Pieces farther than one cell from every particle are dropped:
// nothing there could carry their force; so are those of mist (subgrid_drops.c).
//
// How a wall pulls at a dropped piece is not: its nearest particle within two cells takes that, at its own
// place. The tension of a piece adds up to nothing by itself, but the pulls of a wall do so only around the
// whole contact line. In the notch under a drop at 150 degrees a tenth of them was lost, now here, now there,
// and the drop wandered over its plate by a cell in 13 capillary times. (The pieces of the line itself are
// pulled across the wall only; they stay out.)
#include "mpm/surface.h"

#include "base/parallel.h"
#include "base/simd.h"

#include <string.h>

enum { PATCH_GRAIN = 512 };

/// A search: from where, and what has been found.
typedef struct search {
    const mn_mpm *mpm;
    mn_vec3 x, t; ///< m; in its cell, 0 to 1
    mn_ivec3 cell;
    int32_t block, best;
    double best2;
} search;

// How far place t in [0, 1) is from the cell at this offset.
MN_INLINE double gap(double t, int32_t offset)
{
    return offset < 0 ? t : offset > 0 ? 1 - t : 0;
}

MN_INLINE void look_into(search *s, int32_t x, int32_t y, int32_t z)
{
    const mn_mpm *mpm = s->mpm;
    const double dx = mpm->grid.table.dx, gx = gap(s->t.x, x), gy = gap(s->t.y, y), gz = gap(s->t.z, z);
    if ((gx * gx + gy * gy + gz * gz) * dx * dx > s->best2) return;
    const int32_t c = mn_block_reach(&mpm->grid.table, s->block, (s->cell.x & 3) + x, (s->cell.y & 3) + y,
                                     (s->cell.z & 3) + z);
    if (c < 0) return;
    for (int32_t i = mpm->grid.cell_start[c]; i < mpm->grid.cell_start[c + 1]; i++) {
        const double d2 = mn_norm2(mn_sub(s->x, mn_mpm_position(&mpm->particles.data[i])));
        if (d2 < s->best2 || (d2 == s->best2 && i < s->best)) s->best2 = d2, s->best = i;
    }
}

MN_INLINE int32_t find_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2)
{
    const mn_block_table *table = &mpm->grid.table;
    const double dx = table->dx;
    const mn_vec3 place = mn_scale(1 / dx, mn_sub(x, table->origin));
    const mn_vec3 floor_place = mn_v3(floor(place.x), floor(place.y), floor(place.z));
    const mn_vec3 t = mn_sub(place, floor_place);
    const mn_ivec3 cell = {(int32_t)floor_place.x, (int32_t)floor_place.y, (int32_t)floor_place.z};
    const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, cell);
    *distance2 = dx * dx; // no farther than a cell
    if (at < 0) return -1;
    search s = {mpm, x, t, cell, at / MN_BLOCK_CELLS, -1, dx * dx};
    if (guess >= 0) {
        const double d2 = mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[guess])));
        if (d2 < s.best2) s.best2 = d2, s.best = guess;
    }
    const int32_t sx = t.x < 0.5 ? -1 : 1, sy = t.y < 0.5 ? -1 : 1, sz = t.z < 0.5 ? -1 : 1;
    look_into(&s, 0, 0, 0);
    for (int32_t k = 1; k < 8; k++) look_into(&s, (k & 1) * sx, (k >> 1 & 1) * sy, (k >> 2) * sz);
    const double far = dx * fmin(gap(t.x, -sx), fmin(gap(t.y, -sy), gap(t.z, -sz)));
    if (s.best2 >= far * far)
        for (int32_t k = 0; k < 27; k++) look_into(&s, k / 9 - 1, k / 3 % 3 - 1, k % 3 - 1);
    *distance2 = s.best2;
    return s.best;
}

int32_t mn_mpm_nearest(const mn_mpm *mpm, mn_vec3 x, int32_t guess, double *distance2)
{
    return find_nearest(mpm, x, guess, distance2);
}

// The nearest particle within two cells, for pieces that have none within one.
static int32_t find_beyond(const mn_mpm *mpm, mn_vec3 x)
{
    const double dx = mpm->grid.table.dx;
    const mn_vec3 place = mn_scale(1 / dx, mn_sub(x, mpm->grid.table.origin));
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    double best2 = 4 * dx * dx;
    int32_t best = -1;
    for (int32_t k = 0; k < 125; k++) {
        const mn_ivec3 next = {cell.x + k / 25 - 2, cell.y + k / 5 % 5 - 2, cell.z + k % 5 - 2};
        const int32_t c = mn_blocks_find_cell(mpm->grid.blocks, next);
        for (int32_t i = c < 0 ? 0 : mpm->grid.cell_start[c]; c >= 0 && i < mpm->grid.cell_start[c + 1];
             i++) {
            const double d2 = mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[i])));
            if (d2 < best2) best2 = d2, best = i;
        }
    }
    return best;
}

MN_MULTIVERSION
static mn_status find_owners(void *user, mn_range range)
{
    mn_mpm *mpm = user;
    int32_t guess = -1;
    for (int64_t k = range.begin; k < range.end; k++) {
        mn_mpm_patch *patch = &mpm->surface.loose_patches[k];
        double distance2;
        patch->owner = -1;
        if (!(mn_norm2(patch->area) + mn_norm2(patch->force) > 0)) continue; // a place that was left empty
        patch->owner = guess = find_nearest(mpm, patch->x, guess, &distance2);
        if (patch->owner < 0 && mn_norm2(patch->area) > 0 && mn_norm2(patch->force) > 0) {
            patch->owner = find_beyond(mpm, patch->x);
            patch->area = mn_v3(0, 0, 0);
            if (patch->owner >= 0) patch->x = mn_mpm_position(&mpm->particles.data[patch->owner]);
        }
        if (patch->owner < 0 && patch->layer == MN_MPM_ALL) patch->sigma = mpm->extremes.max_sigma;
        if (patch->owner >= 0 && mn_mpm_is_mist(mpm, patch->owner)) patch->owner = -1;
        if (patch->owner < 0) continue;
        patch->sigma = mn_mpm_tension(mpm, patch->layer, patch->owner);
        patch->force = mn_scale(patch->sigma, patch->force); // until here per N/m
    }
    return MN_OK;
}

mn_status mn_mpm_assign_patches(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    const int64_t loose = mpm->surface.loose_count, particles = mpm->particles.count;
    mpm->surface.patches.count = mpm->split.groups.count = 0;
    MN_TRY(mn_parallel_for(ctx, loose, PATCH_GRAIN, find_owners, mpm));
    MN_TRY(mn_array_resize(ctx, &mpm->split.group_of, particles));
    int32_t *count = mpm->split.group_of.data; // how many pieces, then which group
    if (particles > 0) memset(count, 0, mn_bytes(particles, sizeof *count));
    int32_t kept = 0, groups = 0;
    for (int64_t k = 0; k < loose; k++) {
        const int32_t owner = mpm->surface.loose_patches[k].owner;
        if (owner < 0) continue;
        if (count[owner]++ == 0) groups++;
        kept++;
    }
    MN_TRY(mn_array_reserve(ctx, &mpm->split.groups, groups));
    MN_TRY(mn_array_resize(ctx, &mpm->surface.patches, kept));
    int32_t first = 0;
    for (int32_t p = 0; p < particles; p++) {
        if (count[p] == 0) {
            count[p] = -1;
            continue;
        }
        const int32_t g = (int32_t)mpm->split.groups.count++;
        mpm->split.groups.data[g] = (mn_mpm_group){p, first, 0, first + 2 * g};
        first += count[p];
        count[p] = g;
    }
    mpm->area = mpm->surface_energy = 0;
    for (int64_t k = 0; k < loose; k++) {
        const mn_mpm_patch *patch = &mpm->surface.loose_patches[k];
        // What no particle is near to pulls at nothing yet, but has its energy: overlapping liquid that
        // spreads to its surface does not gain it.
        mpm->surface_energy += patch->sigma * mn_norm(patch->area);
        if (patch->owner < 0) continue;
        mn_mpm_group *group = &mpm->split.groups.data[mpm->split.group_of.data[patch->owner]];
        mpm->surface.patches.data[group->first_patch + group->patch_count++] = *patch;
        mpm->area += mn_norm(patch->area);
    }
    if (mpm->def.surface_particles == MN_MPM_MASSLESS) mpm->split.groups.count = 0;
    return MN_OK;
}
