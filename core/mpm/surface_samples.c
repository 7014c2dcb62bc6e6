// SPDX-License-Identifier: Apache-2.0
//
// Samples of the liquid's surface.
//
//   phi    union of balls of radius 0.867 dx around the particles, made a distance, smoothed, and shifted
//   body by
//          body so that it encloses the volume of the body's particles
//   sample one for each tetrahedron that the zero level cuts: centroid and area of the cut
//
// [hyde2020] 5.1 shifts the raw union by a constant and draws random points on it. A raw union has holes
// between the particles as soon as it is shifted inward, and a constant shift puts the surface, and with it
// every radius of curvature, in the wrong place: hence distance first, and a shift that is measured. Fixed
// samples are two to six times calmer than random ones of the same number. The cells are cut into six
// tetrahedra along their diagonal, so that phi is linear in each and the cut is flat.
#include "mpm/solver.h"

#include "meniscus/parallel.h"

enum { BLOCK_GRAIN = 16, CUTS_MAX = 6, PARTICLE_GRAIN = 4096 };

// Each ball reaches a node wherever it lies: just above sqrt(3)/2 [marquez2021].
static const double ball_radius = 0.867;
static const double band = 3.0;

typedef struct cut {
    mn_vec3 x, area;
} cut;

// Corner c of a cell is (c >> 2, c >> 1 & 1, c & 1); tetrahedron t is 0, path[t][0], path[t][1], 7.
static const int32_t path[6][2] = {{4, 6}, {4, 5}, {2, 6}, {2, 3}, {1, 5}, {1, 3}};

static mn_vec3 corner(int32_t c)
{
    return mn_v3(c >> 2, c >> 1 & 1, c & 1);
}

// Where phi is zero between corners a (below) and b (not below).
static mn_vec3 crossing(const double phi[8], int32_t a, int32_t b)
{
    return mn_lerp(corner(a), corner(b), phi[a] / (phi[a] - phi[b]));
}

static cut triangle(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
    return (cut){mn_scale(1.0 / 3.0, mn_add(a, mn_add(b, c))),
                 mn_scale(0.5, mn_cross(mn_sub(b, a), mn_sub(c, a)))};
}

// The cut through one tetrahedron, in cells; false when there is none. Its area points from below to above
// zero.
static bool cut_tet(const double phi[8], const int32_t v[4], cut *out)
{
    int32_t in[4], above[4], ins = 0, outs = 0;
    for (int32_t i = 0; i < 4; i++) {
        if (phi[v[i]] < 0)
            in[ins++] = v[i];
        else
            above[outs++] = v[i];
    }
    if (ins == 0 || outs == 0) return false;
    if (ins == 2) {
        const mn_vec3 a = crossing(phi, in[0], above[0]), b = crossing(phi, in[0], above[1]);
        const mn_vec3 c = crossing(phi, in[1], above[1]), d = crossing(phi, in[1], above[0]);
        const cut first = triangle(a, b, c), second = triangle(a, c, d);
        const double s = mn_norm(first.area), t = mn_norm(second.area);
        out->area = mn_add(first.area, second.area);
        out->x = s + t > 0 ? mn_lerp(first.x, second.x, t / (s + t)) : first.x;
    } else if (ins == 1) {
        *out = triangle(crossing(phi, in[0], above[0]), crossing(phi, in[0], above[1]),
                        crossing(phi, in[0], above[2]));
    } else {
        *out = triangle(crossing(phi, in[0], above[0]), crossing(phi, in[1], above[0]),
                        crossing(phi, in[2], above[0]));
    }
    if (mn_dot(out->area, mn_sub(corner(above[0]), corner(in[0]))) < 0) out->area = mn_scale(-1, out->area);
    return mn_norm2(out->area) > 0;
}

// ---- over the level set's cells ----

typedef struct sample_job {
    mn_mpm *mpm;
    mn_level_set_view view;
    bool write; ///< or count only
} sample_job;

static int32_t sample_cell(const double phi[8], cut cuts[CUTS_MAX])
{
    int32_t count = 0;
    for (int32_t t = 0; t < 6; t++) {
        const int32_t v[4] = {0, path[t][0], path[t][1], 7};
        if (cut_tet(phi, v, &cuts[count])) count++;
    }
    return count;
}

// phi at the nodes of a block's cells; false when all have one sign.
static bool load_phi(const mn_level_set_view *view, int32_t block, double phi[5][5][5])
{
    bool below = false, above = false;
    for (int32_t x = 0; x < 5; x++)
        for (int32_t y = 0; y < 5; y++) {
            const int32_t low = mn_block_reach(&view->blocks, block, x, y, 0);
            const int32_t high = mn_block_reach(&view->blocks, block, x, y, 4);
            for (int32_t z = 0; z < 5; z++) {
                const int32_t at = z == 4 ? high : low < 0 ? -1 : low + z;
                const double value = at < 0 ? view->band : view->phi[at];
                phi[x][y][z] = value;
                below = below || value < 0, above = above || value >= 0;
            }
        }
    return below && above;
}

static mn_status sample_blocks(void *user, mn_range range)
{
    const sample_job *job = user;
    mn_mpm *mpm = job->mpm;
    const mn_block_table *table = &job->view.blocks;
    const double dx = table->dx;
    double phi[5][5][5], corners[8];
    cut cuts[CUTS_MAX];
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t block = job->view.active[a];
        int32_t *slot = &mpm->sample_start.data[a];
        if (!job->write) *slot = 0;
        if (!load_phi(&job->view, block, phi)) continue;
        mn_mpm_patch *to = job->write ? &mpm->loose_patches.data[*slot] : NULL;
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
            int32_t below = 0;
            for (int32_t c = 0; c < 8; c++) {
                corners[c] = phi[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
                below += corners[c] < 0;
            }
            if (below == 0 || below == 8) continue;
            const int32_t count = sample_cell(corners, cuts);
            if (!to) {
                *slot += count;
                continue;
            }
            const mn_vec3 first = mn_block_node_position(table, block, cell);
            for (int32_t i = 0; i < count; i++)
                *to++ = (mn_mpm_patch){.x = mn_axpy(first, dx, cuts[i].x),
                                       .area = mn_scale(dx * dx, cuts[i].area)};
        }
    }
    return MN_OK;
}

// ---- the level set ----

// The rest volume of each body's particles; one body, the usual case, has them all.
static mn_status sum_body_volumes(mn_mpm *mpm, int32_t bodies)
{
    const int64_t count = mpm->particles.count;
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->body_of, bodies > 1 ? count : 0));
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->body_volume, bodies));
    MN_TRY(mn_array_resize(mpm->ctx, &mpm->body_guess, bodies));
    for (int32_t b = 0; b < bodies; b++) mpm->body_volume.data[b] = 0, mpm->body_guess.data[b] = mpm->shift;
    if (bodies == 1) {
        mpm->body_volume.data[0] = mpm->extremes.volume;
        return MN_OK;
    }
    MN_TRY(mn_level_set_bodies_of_points(mpm->surface, mn_mpm_points(mpm->particles.data, count),
                                         mpm->body_of.data));
    for (int64_t i = 0; i < count; i++) {
        const int32_t b = mpm->body_of.data[i];
        if (b >= 0) mpm->body_volume.data[b] += mpm->materials.data[i].volume;
    }
    // A body that smoothing has cut off from all particles keeps the smallest volume there is.
    const double least = 1e-3 * pow(mpm->def.dx, 3);
    for (int32_t b = 0; b < bodies; b++) mpm->body_volume.data[b] = fmax(mpm->body_volume.data[b], least);
    return MN_OK;
}

// The next step starts its search from the shift of the largest body.
static void remember_shift(mn_mpm *mpm)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface);
    double largest = 0;
    for (int32_t b = 0; b < view.body_count; b++)
        if (view.bodies[b].volume > largest) {
            largest = view.bodies[b].volume;
            mpm->shift = view.bodies[b].shift;
        }
}

// Particles that have just come get the pressure at which their body is in balance with its surface on the
// whole, mean p = 2/3 sigma A / V by the virial theorem; otherwise a new drop would ring like a bell.
static void press_fresh_particles(mn_mpm *mpm)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface);
    if (!mpm->fresh || !(mpm->bulk_modulus > 0) || view.body_count == 0) return;
    for (int64_t i = 0; i < mpm->materials.count; i++) {
        mn_mpm_material *q = &mpm->materials.data[i];
        const int32_t b = view.body_count == 1 ? 0 : mpm->body_of.data[i];
        if (q->age > 0 || b < 0) continue;
        const double pressure = 2.0 / 3.0 * q->sigma * view.bodies[b].area / mpm->body_volume.data[b];
        q->j = 1.0 - fmin(pressure / mpm->bulk_modulus, 0.1);
    }
    mpm->fresh = false;
}

mn_status mn_mpm_find_surface(mn_mpm *mpm, double dx, int32_t smoothing)
{
    mn_union_def def = mn_union_default_def();
    def.dx = dx;
    def.band = fmin(band * mpm->def.dx / dx, 4.0);
    def.radius = ball_radius * mpm->def.dx;
    const mn_points points = mn_mpm_points(mpm->particles.data, mpm->particles.count);
    MN_TRY(mn_level_set_union(mpm->surface, &def, points));
    MN_TRY(mn_level_set_redistance(mpm->surface));
    MN_TRY(mn_level_set_smooth(mpm->surface, smoothing));
    MN_TRY(mn_level_set_find_bodies(mpm->surface));
    const int32_t bodies = mn_level_set_get(mpm->surface).body_count;
    if (bodies == 0) return MN_OK;
    MN_TRY(sum_body_volumes(mpm, bodies));
    return mn_level_set_calibrate(mpm->surface, mpm->body_volume.data, mpm->body_guess.data);
}

mn_status mn_mpm_sample_surface(mn_mpm *mpm)
{
    mn_context *ctx = mpm->ctx;
    mpm->loose_patches.count = 0;
    if (mpm->extremes.max_sigma > 0) {
        MN_TRY(mn_mpm_find_surface(mpm, mpm->def.dx, mpm->def.smoothing));
        remember_shift(mpm);
        press_fresh_particles(mpm);
        mn_mpm_settle_mist(mpm);
        sample_job job = {mpm, mn_level_set_get(mpm->surface), false};
        const int32_t blocks = job.view.active_count;
        MN_TRY(mn_array_resize(ctx, &mpm->sample_start, blocks));
        MN_TRY(mn_parallel_for(ctx, blocks, BLOCK_GRAIN, sample_blocks, &job));
        const int32_t total = mn_prefix_sum_i32(mpm->sample_start.data, blocks);
        MN_TRY(mn_array_resize(ctx, &mpm->loose_patches, total));
        job.write = true;
        MN_TRY(mn_parallel_for(ctx, blocks, BLOCK_GRAIN, sample_blocks, &job));
    }
    return mn_mpm_assign_patches(mpm);
}
