// SPDX-License-Identifier: Apache-2.0
//
// Sheets and threads of liquid that smoothing loses, put back into its surface (thin_parts.c): for pictures,
// and for surface tension where the def asks for `sheets`.
//
// Without them a sheet thinner than a cell has no surface, so nothing draws its edge to a rim and nothing
// holds it together; where it joins thicker liquid the surface ends in an edge, which draws back: a hole
// opens in liquid that is whole.
//
// The edge of a wedge on a wall is no thin part: put back particle by particle it would be ragged. It counts
// up to a cell high, since the foot of a drop that draws back is steeper than the wedge at rest.
//
// A particle that flies alone is shown, but has no surface tension: within two cells of a drop it would be
// drawn in faster than the drop swings (subgrid_drops.c).
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "mpm/boundary.h"
#include "mpm/cell_neighbourhood.h"

enum { COMPANY = 2 };

static double allowed(void *user, int64_t particle)
{
    const mn_mpm *mpm = user;
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[particle]);
    const double distance = mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, x);
    return mn_mpm_wedge_edge(mpm, 0.5 * distance, x);
}

// Whether a particle has fewer others within a cell than one of a sheet or thread has.
static bool is_lonely(const mn_mpm *mpm, int64_t particle)
{
    const double dx = mpm->grid.table.dx;
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[particle]);
    const mn_mpm_around near = mn_mpm_look_around(mpm, x);
    int32_t others = -1; // itself
    for (int32_t n = 0; n < near.count && others < COMPANY; n++)
        for (int32_t i = near.begin[n]; i < near.end[n]; i++)
            others += mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[i]))) < dx * dx;
    return others < COMPANY;
}

static double allowed_with_tension(void *user, int64_t particle)
{
    const mn_mpm *mpm = user;
    if (is_lonely(mpm, particle)) return INFINITY;
    return mn_mpm_has_solids(&mpm->def, mpm->run.collider) ? allowed(user, particle) : 0;
}

mn_status mn_mpm_add_sheets(mn_mpm *mpm, bool shown)
{
    const mn_points points = mn_mpm_points(mpm->particles.data, mpm->particles.count);
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.thin_volume, points.count));
    for (int64_t i = 0; i < points.count; i++)
        mpm->surface.thin_volume.data[i] = mpm->materials.data[i].volume;
    mn_allowed_fn *const seen = mn_mpm_has_solids(&mpm->def, mpm->run.collider) ? allowed : NULL;
    return mn_thin_parts_add(mpm->surface.thin_parts, mpm->surface.level_set, points,
                             mpm->surface.thin_volume.data, shown ? seen : allowed_with_tension, mpm);
}
