// SPDX-License-Identifier: Apache-2.0
//
// Particles outside of the surface that they make are drawn back to it.
//
//   x <- x - a max(phi(x) - 2 m, 0) grad phi,   m = mean of max(phi, 0) over the neighbours,
//   C <- C + W,   dx^2/4 curl(W x) + delta x cross v = 0
//
// The surface encloses just the particles' volume and is smoothed over a cell, so a particle that has come to
// lie outside of it leaves no bump to be pulled at, and drifts: after ten capillary times at R = 12 dx some
// lay a cell outside, and moved at 0.06 of sqrt(sigma/(rho R)). The velocity stays, so linear momentum does;
// the affine velocity takes up the angular momentum that the shift would add.
//
// All particles of cells that the surface passes, or that are less than half full, are looked at: one that
// owns no sample of the surface is held by it even less.
//
// Where the neighbours lie outside as well it is the surface that is wrong, not the particle: smoothing loses
// sheets that are thinner than a cell, and drew the crest of a crown down as it rose.
//
// Where liquid meets a wall at less than 90 degrees it ends in a wedge, and smoothing takes off its edge: it
// is the surface that is wrong there, not the particles, and drawing them back crowded the liquid of a drop
// at 30 degrees onto its plate. Beside a wall a particle may therefore lie outside by as much as the edge of
// a wedge does, about dx cos(theta).
#include "base/elementary.h"
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/cell_neighbourhood.h"

enum { RIM_GRAIN = 1024, HALF_FULL = 4 };

double mn_mpm_wedge_edge(const mn_mpm *mpm, double distance, mn_vec3 x)
{
    const double dx = mpm->def.dx, near = fmin(2 * (1 - distance / dx), 1);
    return near > 0 ? fmax(near * dx * mn_cos(mn_mpm_contact_angle(mpm, x)), 0) : 0;
}

// How far outside of the surface a particle may lie.
static double allowed(const mn_mpm *mpm, int32_t particle)
{
    double most = 0;
    for (int64_t c = mn_mpm_first_contact(mpm, particle); mn_mpm_is_contact(mpm, c, particle); c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        most = fmax(most, mn_mpm_wedge_edge(mpm, contact->distance, contact->foot));
    }
    return most;
}

typedef struct settle_job {
    mn_mpm *mpm;
    double amount;
} settle_job;

// The mean of how far the neighbours of a particle, within a cell, lie outside.
static double outside_around(const mn_mpm *mpm, int32_t particle)
{
    const double dx = mpm->grid.table.dx;
    const mn_vec3 x = mn_mpm_position(&mpm->particles.data[particle]);
    const mn_mpm_around near = mn_mpm_look_around(mpm, x);
    double sum = 0, weight = 0;
    for (int32_t n = 0; n < near.count; n++)
        for (int32_t i = near.begin[n]; i < near.end[n]; i++) {
            const double r = 1 - mn_norm2(mn_sub(x, mn_mpm_position(&mpm->particles.data[i]))) / (dx * dx);
            if (!(r > 0) || i == particle) continue;
            sum += r * r * mpm->settling.outside.data[i];
            weight += r * r;
        }
    return weight > 0 ? sum / weight : 0;
}

static mn_status settle(void *user, mn_range range)
{
    const settle_job *job = user;
    mn_mpm *mpm = job->mpm;
    for (int64_t g = range.begin; g < range.end; g++) {
        const double phi = mpm->settling.phi.data[g];
        const mn_vec3 gradient = mpm->settling.gradient.data[g];
        const double slope = mn_norm(gradient);
        if (!(phi > 0) || phi > mpm->def.dx || !(slope > 0)) continue;
        const int32_t owner = mpm->settling.owner.data[g];
        const double own = phi - allowed(mpm, owner);
        const double outside = own > 0 ? fmin(own, phi - 2 * outside_around(mpm, owner)) : 0;
        if (!(outside > 0)) continue;
        mn_mpm_shift(mpm, owner, mn_scale(-job->amount * outside / slope, gradient));
    }
    return MN_OK;
}

// Who may lie outside of the surface.
static mn_status find_rim(mn_mpm *mpm)
{
    const int32_t *splats = mn_point_sort_result(mpm->split.sort).cell_start;
    mpm->settling.rim.count = mpm->settling.owner.count = 0;
    for (int64_t cell = 0; cell < (int64_t)mpm->grid.table.count * MN_BLOCK_CELLS; cell++) {
        const int32_t *start = &mpm->grid.cell_start[cell];
        if (start[1] == start[0] || (splats[cell + 1] == splats[cell] && start[1] - start[0] > HALF_FULL))
            continue;
        for (int32_t i = start[0]; i < start[1]; i++) {
            const mn_vec3 x = mn_mpm_position(&mpm->particles.data[i]);
            if (mn_mpm_is_mist(mpm, i)) continue;
            MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->settling.rim, &x));
            MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->settling.owner, &i));
        }
    }
    return MN_OK;
}

mn_status mn_mpm_settle_surface(mn_mpm *mpm, double amount)
{
    mn_context *ctx = mpm->solver.ctx;
    if (mpm->split.groups.count == 0) return MN_OK;
    MN_TRY(find_rim(mpm));
    const int64_t count = mpm->settling.rim.count;
    MN_TRY(mn_array_resize(ctx, &mpm->settling.gradient, count));
    MN_TRY(mn_array_resize(ctx, &mpm->settling.phi, count));
    MN_TRY(mn_level_set_sample(mpm->surface.level_set, mn_points_of(mpm->settling.rim.data, count),
                               mpm->settling.phi.data, mpm->settling.gradient.data));
    MN_TRY(mn_array_resize(ctx, &mpm->settling.outside, mpm->particles.count));
    for (int64_t i = 0; i < mpm->particles.count; i++) mpm->settling.outside.data[i] = 0;
    for (int64_t g = 0; g < count; g++)
        mpm->settling.outside.data[mpm->settling.owner.data[g]] =
            fmin(fmax(mpm->settling.phi.data[g], 0), mpm->def.dx);
    settle_job job = {mpm, amount};
    return mn_parallel_for(ctx, count, RIM_GRAIN, settle, &job);
}
