// SPDX-License-Identifier: Apache-2.0
//
// How much liquid there is at a place: the share of its surroundings that particles take up, and their mean
// volume ratio.
//
//   c(x) = sum_p V_p h(x - x_p) / dx^3,   h(r) = product of (1 - |r_a|/dx) where positive
//
// It is 1 inside a liquid, one half at its surface, 0 away from it. Emitters and sources ask before they put
// more there.
#include "base/elementary.h"
#include "mpm/surface.h"

static double hat(double r)
{
    return fmax(0, 1 - fabs(r));
}

/// Volume in a cell that only liquid in liquid has. Particles of a lattice of another spacing s come in cells
/// by ceil(dx / s) along each axis at most, which is more than the cell's volume when s is not a part of dx.
static double crowded_volume(const mn_mpm *mpm)
{
    double sum = 0;
    for (int64_t i = 0; i < mpm->particles.count; i++) sum += mpm->materials.data[i].volume;
    const double dx = mpm->def.dx, s = mn_cbrt(sum / (double)mpm->particles.count);
    const double most = s * ceil(dx / s * (1 - 1e-6));
    return fmax(1.75 * mn_pow(dx, 3), 1.05 * mn_pow(most, 3));
}

mn_mpm_packing mn_mpm_get_packing(const mn_mpm *mpm)
{
    mn_mpm_packing packing = {0};
    if (!mpm->grid.sorted || mpm->particles.count == 0) return packing;
    const double crowd = crowded_volume(mpm);
    for (int32_t c = 0; c < mpm->grid.table.count * MN_BLOCK_CELLS; c++) {
        const double count = mpm->grid.cell_start[c + 1] - mpm->grid.cell_start[c];
        double volume = 0;
        for (int32_t i = mpm->grid.cell_start[c]; i < mpm->grid.cell_start[c + 1]; i++)
            volume += mpm->materials.data[i].volume;
        packing.per_cell += count * count;
        if (volume > crowd) packing.crowded += count;
    }
    packing.per_cell /= (double)mpm->particles.count;
    packing.crowded /= (double)mpm->particles.count;
    return packing;
}

double mn_mpm_hat(mn_vec3 r, double dx)
{
    return hat(r.x / dx) * hat(r.y / dx) * hat(r.z / dx);
}

mn_mpm_fullness mn_mpm_fullness_at(const mn_mpm *mpm, mn_vec3 x, int64_t own_piece)
{
    const double dx = mpm->grid.table.dx, cell_volume = dx * dx * dx;
    const mn_vec3 place = mn_scale(mpm->grid.table.inverse_dx, mn_sub(x, mpm->grid.table.origin));
    mn_mpm_fullness full = {.j = 1, .nearest = -1, .distance = INFINITY};
    // Beyond the grid's numbers there is nothing; sorting will say so.
    if (!(fabs(place.x) < 1e9 && fabs(place.y) < 1e9 && fabs(place.z) < 1e9)) return full;
    const mn_ivec3 cell = {(int32_t)floor(place.x), (int32_t)floor(place.y), (int32_t)floor(place.z)};
    double weight = 0, sum = 0;
    for (int32_t k = 0; k < 27; k++) {
        const mn_ivec3 c = {cell.x + k / 9 - 1, cell.y + k / 3 % 3 - 1, cell.z + k % 3 - 1};
        const int32_t at = mn_blocks_find_cell(mpm->grid.blocks, c);
        if (at < 0) continue;
        for (int32_t i = mpm->grid.cell_start[at]; i < mpm->grid.cell_start[at + 1]; i++) {
            const mn_mpm_material *q = &mpm->materials.data[i];
            const mn_vec3 r = mn_sub(mn_mpm_position(&mpm->particles.data[i]), x);
            const double share = mn_mpm_hat(r, dx) * q->volume / cell_volume, distance = mn_norm(r);
            weight += share, sum += share * q->j;
            const int32_t site = mn_mpm_site_of(q);
            if (site > 0 && mpm->sites.data[site - 1].piece == own_piece) continue;
            full.fraction += share;
            if (site > 0 || !(distance < full.distance)) continue;
            full.nearest = i, full.distance = distance;
        }
    }
    if (weight > 0) full.j = sum / weight;
    return full;
}
