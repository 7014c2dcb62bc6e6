// SPDX-License-Identifier: Apache-2.0
//
// Samples of the liquid's surface.
//
//   phi    union of balls of radius 0.867 dx around the particles, made a distance, smoothed, and shifted
//          body by body so that it encloses the volume of the body's particles
//   sample one for each tetrahedron that the zero level cuts: centroid and area of the cut, outside of
//          solids, where the cut is large one for each of its triangles about the centroid; and one for each
//          piece of the line where it meets a solid (wetting.c)
//
// [hyde2020] 5.1 shifts the raw union by a constant and draws random points on it. A raw union has holes
// between the particles as soon as it is shifted inward, and a constant shift puts the surface, and with it
// every radius of curvature, in the wrong place: hence distance first, and a shift that is measured. Fixed
// samples are two to six times calmer than random ones of the same number. The cells are cut into six
// tetrahedra along their diagonal, so that phi is linear in each and the cut is flat. The force of a sample
// takes the grid's splines at one point. So the nodes of phi lie at the splines' knots, which no cut crosses
// then, and large cuts are divided: otherwise what pressure cannot balance at the nodes of a ball at rest is
// twice as much, the same from step to step, and drives currents 1.6 times as fast, the fastest 2.4 times
// (R = 10 dx).
#include "base/elementary.h"
#include "mpm/resample.h"
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "base/simd.h"
#include "levelset/linear_cut.h"

enum { BLOCK_GRAIN = 16, CUTS_MAX = 24 };

// Each ball reaches a node wherever it lies: just above sqrt(3)/2 [marquez2021].
static const double ball_radius = 0.867;
static const double band = 3.0;
// Cuts of more than this are divided, in dx^2; below there is little left to gain.
static const double large_cut = 0.2;

/// A piece of the free surface or, with a length, of the line where it meets a solid; in cells.
typedef struct cut {
    mn_vec3 x, area;    ///< of a line: the free surface's unit normal
    mn_vec3 wall;       ///< the solid's unit normal into the liquid, zero when none is near
    mn_mpm_depth depth; ///< how far it is from the solid
    double length;
} cut;

// ---- over the level set's cells ----

typedef struct sample_job {
    mn_mpm *mpm;
    mn_level_set_view view;
    bool write; ///< or count only: at most as many, what is over stays empty
} sample_job;

// The piece of contact line that clipping has left on a cut.
static bool find_line(const mn_cut_polygon *polygon, const cut *surface, cut *line)
{
    *line = *surface;
    line->length = mn_distance(polygon->edge_a, polygon->edge_b);
    line->x = mn_lerp(polygon->edge_a, polygon->edge_b, 0.5);
    line->area = mn_normalize(surface->area);
    return line->length > 0;
}

// The solid as seen from a cut.
static void find_wall(const mn_cut_vertex v[4], const mn_cut_polygon *polygon, cut *c)
{
    if (!mn_cut_gradient(v, true, &c->wall)) return;
    c->wall = mn_normalize(c->wall);
    double total = 0;
    c->depth.count = polygon->count - 2;
    for (int32_t i = 0; i < c->depth.count; i++) {
        const mn_cut_vertex *a = &polygon->v[0], *b = &polygon->v[i + 1], *d = &polygon->v[i + 2];
        c->depth.corner[i][0] = a->g, c->depth.corner[i][1] = b->g, c->depth.corner[i][2] = d->g;
        c->depth.share[i] = mn_norm(mn_cross(mn_sub(b->x, a->x), mn_sub(d->x, a->x)));
        total += c->depth.share[i];
    }
    for (int32_t i = 0; i < c->depth.count; i++) c->depth.share[i] /= total;
}

// From the lowest to the highest corner of a tetrahedron: the cut's normal is along the gradient, so its sign
// is that of its product with this.
MN_INLINE mn_vec3 rise(const mn_cut_vertex v[4])
{
    int32_t low = 0, high = 0;
    for (int32_t i = 1; i < 4; i++) {
        if (v[i].f < v[low].f) low = i;
        if (v[i].f > v[high].f) high = i;
    }
    return mn_sub(v[high].x, v[low].x);
}

// A flat piece in its triangles about the centroid, in its own place and after it; how many they are.
MN_INLINE int32_t divide(const mn_cut_polygon *polygon, cut *pieces)
{
    const cut whole = pieces[0];
    const double per_area = 1 / mn_norm(whole.area);
    int32_t count = 0;
    for (int32_t i = 0; i < polygon->count; i++) {
        const mn_vec3 a = polygon->v[i].x, b = polygon->v[(i + 1) % polygon->count].x;
        const double area = 0.5 * mn_norm(mn_cross(mn_sub(a, whole.x), mn_sub(b, whole.x)));
        if (!(area > 0)) continue;
        pieces[count] = whole;
        pieces[count].area = mn_scale(area * per_area, whole.area);
        pieces[count++].x = mn_scale(1.0 / 3, mn_add(whole.x, mn_add(a, b)));
    }
    return count;
}

// The cuts through the six tetrahedra of a cell, at most four for each. `solid` NULL: there is none.
MN_INLINE int32_t sample_cell(const double phi[8], const double *solid, cut cuts[CUTS_MAX])
{
    static const double open[8] = {1, 1, 1, 1, 1, 1, 1, 1};
    int32_t count = 0;
    for (int32_t t = 0; t < 6; t++) {
        mn_cut_vertex v[4];
        mn_cut_polygon polygon;
        mn_cut_tet_of_cell(t, phi, solid ? solid : open, v);
        if (!mn_cut_tet(v, &polygon) || !mn_cut_clip(&polygon)) continue;
        cut *c = &cuts[count];
        *c = (cut){.length = 0};
        c->area = mn_cut_area(&polygon, &c->x);
        if (!(mn_norm2(c->area) > 0)) continue;
        if (mn_dot(c->area, rise(v)) < 0) c->area = mn_scale(-1, c->area);
        if (!solid) {
            count += mn_norm2(c->area) > large_cut * large_cut ? divide(&polygon, c) : 1;
            continue;
        }
        find_wall(v, &polygon, c);
        count++;
        if (polygon.clipped && find_line(&polygon, c, &cuts[count])) count++;
    }
    return count;
}

// How many of the six tetrahedra (tet_cut.h) the zero level may cut, by the corners with phi < 0: those on
// the way from corner 0 to corner 7 along three edges that have some of both kinds.
static int32_t count_cuts(uint32_t below)
{
    static const uint8_t corners[6] = {1 << 0 | 1 << 7 | 1 << 1 | 1 << 3, 1 << 0 | 1 << 7 | 1 << 1 | 1 << 5,
                                       1 << 0 | 1 << 7 | 1 << 2 | 1 << 3, 1 << 0 | 1 << 7 | 1 << 2 | 1 << 6,
                                       1 << 0 | 1 << 7 | 1 << 4 | 1 << 5, 1 << 0 | 1 << 7 | 1 << 4 | 1 << 6};
    int32_t count = 0;
    for (int32_t t = 0; t < 6; t++) count += (below & corners[t]) != 0 && (below & corners[t]) != corners[t];
    return count;
}

// A piece of free surface or contact line in metres; its owner and tension are found later.
MN_INLINE mn_mpm_patch patch_of(const mn_mpm *mpm, const cut *c, mn_vec3 first, double dx)
{
    mn_mpm_patch patch = {.x = mn_axpy(first, dx, c->x), .layer = mpm->surface.layer};
    if (c->length > 0) {
        patch.force = mn_mpm_line_force(mpm, patch.x, c->area, c->wall, dx * c->length);
        return patch;
    }
    patch.area = mn_scale(dx * dx, c->area);
    if (mn_norm2(c->wall) > 0)
        patch.force = mn_mpm_wetting_force(mpm, patch.x, patch.area, c->wall, &c->depth);
    return patch;
}

// The body that the liquid in a cell belongs to, NULL: none.
static const mn_body *body_in(const mn_level_set_view *view, int32_t block, int32_t cell)
{
    for (int32_t c = 0; c < 8; c++) {
        const int32_t at = mn_block_reach(&view->blocks, block, (cell >> 4) + (c >> 2),
                                          (cell >> 2 & 3) + (c >> 1 & 1), (cell & 3) + (c & 1));
        if (at < 0 || !(view->phi[at] < 0)) continue;
        const int32_t body = view->node_body[at];
        return body < 0 ? NULL : &view->bodies[body];
    }
    return NULL;
}

// Whether it touches a solid.
static bool is_wet(const mn_body *body)
{
    return body && body->wetted > 0;
}

// phi at the nodes of a block's cells; false when all have one sign.
MN_INLINE bool load_phi(const mn_level_set_view *view, int32_t block, double phi[5][5][5])
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

MN_MULTIVERSION
static mn_status sample_blocks(void *user, mn_range range)
{
    const sample_job *job = user;
    mn_mpm *mpm = job->mpm;
    const mn_block_table *table = &job->view.blocks;
    const double dx = table->dx;
    double phi[5][5][5], solid[5][5][5], corners[8], solid_corners[8];
    cut cuts[CUTS_MAX];
    for (int64_t a = range.begin; a < range.end; a++) {
        const int32_t block = job->view.active[a];
        int32_t *slot = &mpm->surface.sample_start.data[a];
        if (!job->write) *slot = 0;
        if (!load_phi(&job->view, block, phi)) continue;
        const bool is_cut = job->view.cut && job->view.cut[block];
        if (is_cut && job->write) mn_level_set_load_solid(mpm->surface.level_set, block, solid);
        mn_mpm_patch *to = job->write ? &mpm->surface.loose_patches[*slot] : NULL;
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const int32_t x = cell >> 4, y = cell >> 2 & 3, z = cell & 3;
            uint32_t below = 0;
            for (int32_t c = 0; c < 8; c++) {
                corners[c] = phi[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
                below |= (uint32_t)(corners[c] < 0) << c;
            }
            if (below == 0 || below == 255) continue;
            const int32_t room = (is_cut ? 2 : 4) * count_cuts(below);
            if (!to) {
                *slot += room;
                continue;
            }
            for (int32_t c = 0; is_cut && c < 8; c++)
                solid_corners[c] = solid[x + (c >> 2)][y + (c >> 1 & 1)][z + (c & 1)];
            int32_t count = sample_cell(corners, is_cut ? solid_corners : NULL, cuts);
            const mn_vec3 first = mn_block_node_position(table, block, cell);
            const bool layered = mpm->surface.layer != MN_MPM_ALL;
            const mn_body *body = is_cut || layered ? body_in(&job->view, block, cell) : NULL;
            const bool wet = is_cut && is_wet(body);
            // Of a liquid, what has strayed into the other, too little for the grid to see a shape in.
            if (layered && !(body && body->volume > mn_mpm_mist_volume(mpm))) count = 0;
            for (int32_t i = 0; i < count; i++) {
                if (!wet) cuts[i].wall = mn_v3(0, 0, 0);
                to[i] = patch_of(mpm, &cuts[i], first, dx);
            }
            for (int32_t i = count; i < room; i++) to[i] = (mn_mpm_patch){.owner = -1};
            to += room;
        }
    }
    return MN_OK;
}

// ---- the level set ----

// The rest volume of each body's particles; one body, the usual case, has them all.
static mn_status sum_body_volumes(mn_mpm *mpm, int32_t bodies)
{
    const int64_t count = mpm->particles.count;
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.body_of, bodies > 1 ? count : 0));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.body_volume, bodies));
    MN_TRY(mn_array_resize(mpm->solver.ctx, &mpm->surface.body_guess, bodies));
    for (int32_t b = 0; b < bodies; b++)
        mpm->surface.body_volume.data[b] = 0, mpm->surface.body_guess.data[b] = mpm->shift;
    if (bodies == 1) {
        const bool all = mpm->surface.layer == MN_MPM_ALL;
        mpm->surface.body_volume.data[0] =
            all ? mpm->extremes.volume : mpm->liquids.volume[mpm->surface.layer];
        return MN_OK;
    }
    MN_TRY(mn_level_set_bodies_of_points(mpm->surface.level_set, mn_mpm_points(mpm->particles.data, count),
                                         mpm->surface.body_of.data));
    for (int64_t i = 0; i < count; i++) {
        const int32_t b = mpm->surface.body_of.data[i];
        if (b >= 0 && mn_mpm_in_layer(mpm, i))
            mpm->surface.body_volume.data[b] += mpm->materials.data[i].volume;
    }
    // A body that smoothing has cut off from all particles keeps the smallest volume there is.
    const double least = 1e-3 * mn_pow(mpm->def.dx, 3);
    for (int32_t b = 0; b < bodies; b++)
        mpm->surface.body_volume.data[b] = fmax(mpm->surface.body_volume.data[b], least);
    return MN_OK;
}

// The next step starts its search from the shift of the largest body.
static void remember_shift(mn_mpm *mpm)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    double largest = 0;
    for (int32_t b = 0; b < view.body_count; b++)
        if (view.bodies[b].volume > largest) {
            largest = view.bodies[b].volume;
            mpm->shift = view.bodies[b].shift;
        }
}

// Particles that have just come get the pressure at which their body is in balance with its surface on the
// whole, mean p = 2/3 sigma (A - cos(theta) A_wetted) / V by the virial theorem; otherwise a new drop would
// ring like a bell. Of two liquids, each surface adds its own.
static void press_fresh_particles(mn_mpm *mpm)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    if (!mpm->fresh || !(mpm->bulk_modulus > 0) || view.body_count == 0) return;
    const double cosine = mn_cos(mpm->def.contact_angle * (MN_PI / 180));
    for (int64_t i = 0; i < mpm->materials.count; i++) {
        mn_mpm_material *q = &mpm->materials.data[i];
        const int32_t b = view.body_count == 1 ? 0 : mpm->surface.body_of.data[i];
        if (q->age > 0 || b < 0 || !mn_mpm_in_layer(mpm, i)) continue;
        const mn_body *body = &view.bodies[b];
        const double area = body->area - cosine * body->wetted;
        const double sigma = mn_mpm_tension(mpm, mpm->surface.layer, (int32_t)i);
        const double pressure = 2.0 / 3.0 * sigma * fmax(area, 0) / mpm->surface.body_volume.data[b];
        q->j = (mpm->liquids.two ? q->j : 1.0) - fmin(pressure / mpm->bulk_modulus, 0.1);
    }
    if (mpm->surface.layer == MN_MPM_ALL) mpm->fresh = false;
}

mn_status mn_mpm_unite_balls(mn_mpm *mpm, double dx)
{
    mn_union_def def = mn_union_default_def();
    const double half = 0.5 * mpm->def.dx;
    def.dx = dx;
    def.origin =
        mn_add(mpm->grid_origin, mn_v3(half, half, half)); // nodes at the knots of the grid's splines
    def.band = fmin(band * mpm->def.dx / dx, 4.0);
    def.radius = ball_radius * mpm->def.dx;
    mn_points points;
    MN_TRY(mn_mpm_mirror(mpm, &points));
    MN_TRY(mn_level_set_union(mpm->surface.level_set, &def, points));
    return mn_level_set_redistance(mpm->surface.level_set);
}

mn_status mn_mpm_calibrate_surface(mn_mpm *mpm)
{
    const int32_t bodies = mn_level_set_get(mpm->surface.level_set).body_count;
    if (bodies == 0) return MN_OK;
    MN_TRY(sum_body_volumes(mpm, bodies));
    return mn_level_set_calibrate(mpm->surface.level_set, mpm->surface.body_volume.data,
                                  mpm->surface.body_guess.data);
}

mn_status mn_mpm_find_surface(mn_mpm *mpm, double dx, int32_t smoothing)
{
    const bool sheets = mpm->def.sheets && mpm->surface.layer == MN_MPM_ALL;
    MN_TRY(mn_mpm_unite_balls(mpm, dx));
    // A sheet that smoothing tears is one body with what it hangs on.
    if (sheets) MN_TRY(mn_level_set_find_bodies(mpm->surface.level_set));
    MN_TRY(mn_level_set_smooth(mpm->surface.level_set, smoothing));
    MN_TRY(mn_mpm_set_surface_solid(mpm));
    if (!sheets) MN_TRY(mn_level_set_find_bodies(mpm->surface.level_set));
    MN_TRY(mn_mpm_calibrate_surface(mpm));
    if (mpm->surface.layer == MN_MPM_ALL) remember_shift(mpm);
    if (!sheets) return MN_OK;
    MN_TRY(mn_mpm_add_sheets(mpm, false));
    // What has come off is a body of its own, of mist if it is small, also where balls had joined it.
    if (mn_thin_parts_count(mpm->surface.thin_parts) == 0) return MN_OK;
    MN_TRY(mn_level_set_find_bodies(mpm->surface.level_set));
    MN_TRY(mn_level_set_measure(mpm->surface.level_set));
    return sum_body_volumes(mpm, mn_level_set_get(mpm->surface.level_set).body_count);
}

// The pieces of the surface of a layer, loose.
static mn_status sample_layer(mn_mpm *mpm, bool shown)
{
    mn_context *ctx = mpm->solver.ctx;
    MN_TRY(mn_mpm_find_surface(mpm, mpm->def.dx, mpm->def.smoothing));
    if (!shown) press_fresh_particles(mpm);
    if (!shown && mpm->surface.layer == MN_MPM_ALL) MN_TRY(mn_mpm_settle_mist(mpm));
    sample_job job = {mpm, mn_level_set_get(mpm->surface.level_set), false};
    const int32_t blocks = job.view.active_count;
    MN_TRY(mn_array_resize(ctx, &mpm->surface.sample_start, blocks));
    MN_TRY(mn_parallel_for(ctx, blocks, BLOCK_GRAIN, sample_blocks, &job));
    const int32_t total = mn_prefix_sum_i32(mpm->surface.sample_start.data, blocks);
    void *memory;
    MN_TRY(mn_mpm_borrow(mpm, total, sizeof *mpm->surface.loose_patches, &memory));
    mpm->surface.loose_patches = memory, mpm->surface.loose_count = total;
    job.write = true;
    return mn_parallel_for(ctx, blocks, BLOCK_GRAIN, sample_blocks, &job);
}

// Keeps the pieces of a layer, which the next one's take the memory of.
static mn_status keep_layer(mn_mpm *mpm)
{
    for (int64_t i = 0; i < mpm->surface.loose_count; i++)
        if (mn_norm2(mpm->surface.loose_patches[i].area) + mn_norm2(mpm->surface.loose_patches[i].force) > 0)
            MN_TRY(mn_array_push(mpm->solver.ctx, &mpm->surface.layered, &mpm->surface.loose_patches[i]));
    return MN_OK;
}

// The surfaces of two liquids, and that of all last: it stays in mpm->surface.level_set.
static mn_status sample_layers(mn_mpm *mpm, bool shown)
{
    mpm->surface.layered.count = 0;
    mn_status status = MN_OK;
    for (mpm->surface.layer = 0; mpm->surface.layer < 2 && status == MN_OK; mpm->surface.layer++) {
        status = sample_layer(mpm, shown);
        if (status == MN_OK) status = keep_layer(mpm);
    }
    mpm->surface.layer = MN_MPM_ALL;
    MN_TRY(status);
    MN_TRY(sample_layer(mpm, shown));
    MN_TRY(keep_layer(mpm));
    mpm->surface.loose_patches = mpm->surface.layered.data,
    mpm->surface.loose_count = mpm->surface.layered.count;
    return MN_OK;
}

static mn_status sample(mn_mpm *mpm, bool shown)
{
    mpm->surface.loose_count = 0, mpm->surface.mist.count = 0;
    if (mpm->extremes.max_sigma > 0 || mpm->def.air_density > 0)
        MN_TRY(mpm->liquids.two ? sample_layers(mpm, shown) : sample_layer(mpm, shown));
    return mn_mpm_assign_patches(mpm);
}

mn_status mn_mpm_sample_surface(mn_mpm *mpm)
{
    return sample(mpm, false);
}

// ---- to be shown ----

static mn_status collect_samples(mn_mpm *mpm)
{
    mn_context *ctx = mpm->solver.ctx;
    mpm->shown.samples.count = 0;
    for (int64_t i = 0; i < mpm->surface.patches.count; i++) {
        const mn_mpm_patch *patch = &mpm->surface.patches.data[i];
        const double area = mn_norm(patch->area);
        if (!(area > 0)) continue; // a contact line's
        const mn_mpm_shown_sample s = {patch->x,
                                       mn_scale(1 / area, patch->area),
                                       mpm->particles.data[patch->owner].v,
                                       area,
                                       patch->sigma,
                                       patch->layer,
                                       false};
        MN_TRY(mn_array_push(ctx, &mpm->shown.samples, &s));
    }
    for (int64_t g = 0; g < mpm->split.groups.count; g++) {
        const mn_mpm_group *group = &mpm->split.groups.data[g];
        const mn_mpm_shown_sample s = {.x = mn_mpm_balance_point(mpm, group),
                                       .v = mpm->particles.data[group->owner].v,
                                       .layer = MN_MPM_ALL,
                                       .balance = true};
        MN_TRY(mn_array_push(ctx, &mpm->shown.samples, &s));
    }
    return MN_OK;
}

mn_status mn_mpm_show_samples(mn_mpm *mpm, const mn_collider *collider)
{
    const double shift = mpm->shift, area = mpm->area, energy = mpm->surface_energy;
    mpm->shown.samples.count = 0;
    if (mpm->particles.count == 0) return MN_OK;
    mpm->run.collider = collider;
    mn_status status = mn_mpm_sort_again(mpm);
    if (status == MN_OK) status = mn_mpm_find_extremes(mpm);
    if (status == MN_OK) status = sample(mpm, true);
    if (status == MN_OK) status = collect_samples(mpm);
    mpm->run.collider = NULL;
    mpm->shift = shift, mpm->area = area, mpm->surface_energy = energy;
    return status;
}
