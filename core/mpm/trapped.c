// SPDX-License-Identifier: Apache-2.0
//
// Particles inside walls and solids at the start of an advance: sources that overlap a collider, or a
// collider that has jumped onto the liquid. Where the way out is known, they are put on the surface; those
// that lie deeper than that are taken out, for they could never move again.
#include "mpm/step.h"
#include "mpm/walls.h"

#include "mpm/boundary.h"

#include <string.h>

typedef enum fate { STAYS, MOVED, LOST } fate;

// In a corner, or between overlapping solids, the way out of one may lead into another: a few rounds.
static fate find_way_out(const mn_mpm *mpm, mn_vec3 *x)
{
    enum { ROUNDS = 4 };
    const double dx = mpm->def.dx, slack = 1e-6 * dx;
    fate f = STAYS;
    for (int round = 0; round < ROUNDS; round++) {
        if (mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, *x) >= -slack) return f;
        mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
        const int32_t count =
            mn_mpm_solids_near(&mpm->def, mpm->run.collider, mpm->run.frame_begin, *x, 0, solids);
        if (count == 0) return LOST;
        for (int32_t i = 0; i < count; i++) {
            const double reach = solids[i].side < 0 ? mn_collider_band(mpm->run.collider) : dx;
            if (solids[i].distance <= -fmax(reach, dx)) return LOST;
            *x = mn_axpy(*x, -solids[i].distance, solids[i].normal);
        }
        f = MOVED;
    }
    return mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, *x) >= -0.1 * dx ? f
                                                                                                      : LOST;
}

mn_status mn_mpm_free_trapped(mn_mpm *mpm)
{
    if (!mn_mpm_has_solids(&mpm->def, mpm->run.collider)) return MN_OK;
    const int64_t count = mpm->particles.count;
    const double half = 2 * mpm->def.dx;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next, count));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->next_materials, count));
    int64_t kept = 0, moved = 0;
    for (int32_t b = 0; b < mpm->grid.table.count; b++) {
        const int32_t *start = mpm->grid.cell_start + (int64_t)b * MN_BLOCK_CELLS;
        if (start[MN_BLOCK_CELLS] == start[0]) continue;
        const mn_vec3 middle =
            mn_add(mn_block_node_position(&mpm->grid.table, b, 0), mn_v3(half, half, half));
        const bool near = mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, middle) <=
                          1.7321 * half;
        for (int32_t i = start[0]; i < start[MN_BLOCK_CELLS]; i++) {
            mn_mpm_particle p = mpm->particles.data[i];
            mn_vec3 x = mn_mpm_position(&p);
            const fate f = near ? find_way_out(mpm, &x) : STAYS;
            if (f == LOST) continue;
            if (f == MOVED) mn_mpm_set_position(&p, x), moved++;
            mpm->next.data[kept] = p;
            mpm->next_materials.data[kept++] = mpm->materials.data[i];
        }
    }
    if (moved == 0 && kept == count) return MN_OK;
    mpm->next.count = mpm->next_materials.count = kept;
    if (kept < count)
        mn_log(
            mpm->solver.ctx, MN_LOG_WARNING,
            "%lld particles lay deep inside a collider or behind a wall and were taken out; move the source "
            "or the collider apart.",
            (long long)(count - kept));
    return mn_mpm_sort_next(mpm);
}
