// SPDX-License-Identifier: Apache-2.0
//
// Liquids that meet walls and solids: the contact angle.
//
// The surface. The particles near a wall are mirrored in it before the level set is found, so that the wall
// cuts a surface that goes on, and neither the radius of the balls nor smoothing round it off. What lies
// inside the solid is then cut away exactly, cell by cell (level_set_solid.c).
//
// The forces. With sigma on the free surface and -sigma cos(theta) on the wetted one [marquez2021] 5.8.3, the
// energy changes with the motion along the wall only at the contact line, for the wetted area grows only
// there: the wall pulls the line outwards with sigma cos(theta) per length. The free surface itself pulls it
// with sigma ( -cos(alpha) m + sin(alpha) N ), m the direction along the wall out of the liquid, N into the
// liquid, alpha the angle as it is; the part along N is carried by the wall.
//
// The surface that we have is smoothed, and since it is mirrored it meets the wall at 90 degrees: it turns
// from alpha to there within a cell or two, and its forces lie there, not at the line. The wall's are spread
// alike, or the two would shear the edge of the liquid and pull a foot out of it. Up to 90 degrees:
//
//   sigma cos(theta) k(d) n dA     on the free surface, n its normal, d its distance from the wall
//   -sigma |n_t| N                 per length on the line, n_t the normal's part along the wall
//
// with k a kernel on [0, h] of integral one. n_t dA is the line's length times the height that the piece of
// surface spans, so the pull along the wall adds up to sigma cos(theta) whatever the surface's shape. It is
// the derivative of -sigma cos(theta) int k dV, a wall that draws liquid near it: across the surface there
// is only a jump of pressure, and at rest cos(psi) = cos(theta) int_0^d k, psi the slope at d. A pull in one
// direction, as it is beyond 90 degrees, shears the surface of a wedge, which turns over: particles at its
// tip rose from the plate, and a drop at 30 degrees that had been laid down at rest threw them off within
// four capillary times. A smoothed wedge has cot(psi) = g cot(theta), g the integral of the smoothing's
// normal curve of variance s^2; the two shapes have one variance when k has s^2 sin^1.2(theta), within 2 %.
// (1 2 1)/4 has dx^2/2 for each pass, k h^2/7. Where k is much narrower a film runs ahead of the edge.
//
// Beyond 90 degrees:
//
//   sigma k(d) ( cos(theta) n_t + (e - sin(theta)) |n_t| N ) dA   on the free surface
//   -sigma min(|n_t|, e) N                                       per length on the line
//
// with e the |n_t| of a smoothed wedge at its line, so that nothing is held at 180 degrees.
//
// Either way the pull along N adds up to -sigma sin(theta): what the wall carries. k is integrated exactly
// over each piece: around a closed line the pulls then cancel, where with k in the middle of the pieces a
// drop at 30 degrees began to slide at 0.15 m/s^2.
#include "base/elementary.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

#include "base/parallel.h"
#include "mpm/boundary.h"
#include "space/sides.h"

enum { BLOCK_GRAIN = 16, IMAGES_MAX = 16 };

// How deep images must fill the solid: past the band of smoothing and shifting, cells.
static const double image_depth = 2.2;
static const double pi = MN_PI;

// ---- images ----

typedef struct image_job {
    mn_mpm *mpm;
    int64_t first;  ///< place of the first image
    int32_t images; ///< of all blocks
    bool write;
} image_job;

static mn_vec3 mirror(mn_vec3 x, const mn_mpm_solid *s)
{
    return mn_axpy(x, -2 * s->distance, s->normal);
}

// Images of x in all walls near it, and in a corner the images of images; those of a collider must lie inside
// of it, or a thin one would show on its far side.
static int32_t find_images(const mn_mpm *mpm, const mn_collider *collider, mn_vec3 x,
                           mn_vec3 images[IMAGES_MAX])
{
    const double reach = image_depth * mpm->def.dx;
    mn_mpm_solid solids[MN_MPM_SOLIDS_MAX];
    const int32_t walls = mn_mpm_solids_near(&mpm->def, collider, mpm->run.frame_begin, x, reach, solids);
    int32_t count = 0;
    for (int32_t w = 0; w < walls; w++) {
        const mn_mpm_solid *s = &solids[w];
        if (!(s->distance > 0)) continue;
        const int32_t before = count;
        for (int32_t i = -1; i < before && count < IMAGES_MAX; i++) {
            const mn_vec3 image = mirror(i < 0 ? x : images[i], s);
            double inside = -1;
            if (s->side < 0) mn_collider_distance(collider, mpm->run.frame_begin, 1, &image, &inside);
            if (inside < 0) images[count++] = image;
        }
    }
    return count;
}

// What some particle of a block may lie near to: walls, and the collider or NULL. Particles of a pool that
// only the floor is near to must not ask the collider's volume one by one: that took most of a step.
static bool find_near(const mn_mpm *mpm, int32_t block, const mn_collider **collider)
{
    const double half = 2 * mpm->def.dx; // its cells, not only its nodes
    const double reach = 1.7321 * half + image_depth * mpm->def.dx;
    const mn_vec3 middle =
        mn_add(mn_block_node_position(&mpm->grid.table, block, 0), mn_v3(half, half, half));
    double distance = INFINITY;
    if (mpm->run.collider)
        mn_collider_distance(mpm->run.collider, mpm->run.frame_begin, 1, &middle, &distance);
    *collider = distance <= reach ? mpm->run.collider : NULL;
    return *collider || mn_mpm_solid_distance(&mpm->def, NULL, mpm->run.frame_begin, middle) <= reach;
}

// Counts the images of each block or, where they are to be written and there are any, writes them.
static mn_status mirror_blocks(void *user, mn_range range)
{
    const image_job *job = user;
    mn_mpm *mpm = job->mpm;
    mn_vec3 images[IMAGES_MAX];
    for (int64_t b = range.begin; b < range.end; b++) {
        const int32_t *start = mpm->grid.cell_start + b * MN_BLOCK_CELLS;
        int32_t *slot = &mpm->walls.start.data[b];
        int32_t at = job->write ? *slot : 0;
        const mn_collider *collider;
        const int32_t end = job->write && b + 1 < mpm->grid.table.count ? slot[1] : job->images;
        if (job->write && at == end) continue;
        const bool near = start[MN_BLOCK_CELLS] > start[0] && find_near(mpm, (int32_t)b, &collider);
        for (int32_t i = start[0]; near && i < start[MN_BLOCK_CELLS]; i++) {
            if (!mn_mpm_in_layer(mpm, i)) continue;
            const int32_t count =
                find_images(mpm, collider, mn_mpm_position(&mpm->particles.data[i]), images);
            for (int32_t k = 0; job->write && k < count; k++)
                mpm->surface.mirrored[job->first + at + k] = images[k];
            at += count;
        }
        if (!job->write) *slot = at;
    }
    return MN_OK;
}

mn_status mn_mpm_mirror(mn_mpm *mpm, mn_points *points)
{
    mn_context *ctx = mpm->solver.ctx;
    const bool solids = mn_mpm_has_solids(&mpm->def, mpm->run.collider);
    *points = mn_mpm_points(mpm->particles.data, mpm->particles.count);
    if (!solids && mpm->surface.layer == MN_MPM_ALL) return MN_OK;
    image_job job = {.mpm = mpm};
    if (solids) {
        MN_TRY(mn_array_resize(ctx, &mpm->walls.start, mpm->grid.table.count));
        MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, mirror_blocks, &job));
        job.images = mn_prefix_sum_i32(mpm->walls.start.data, mpm->grid.table.count);
    }
    if (job.images == 0 && mpm->surface.layer == MN_MPM_ALL) return MN_OK;
    MN_TRY(mn_mpm_layer_points(mpm, job.images, &job.first));
    job.write = true;
    if (job.images > 0) MN_TRY(mn_parallel_for(ctx, mpm->grid.table.count, BLOCK_GRAIN, mirror_blocks, &job));
    *points = mn_points_of(mpm->surface.mirrored, job.first + job.images);
    return MN_OK;
}

static double solid_distance(void *user, mn_vec3 x)
{
    const mn_mpm *mpm = user;
    return mn_mpm_solid_distance(&mpm->def, mpm->run.collider, mpm->run.frame_begin, x);
}

mn_status mn_mpm_set_surface_solid(mn_mpm *mpm)
{
    if (!mn_mpm_has_solids(&mpm->def, mpm->run.collider)) return MN_OK;
    return mn_level_set_set_solid(mpm->surface.level_set, solid_distance, mpm);
}

// ---- the contact line ----

double mn_mpm_contact_angle(const mn_mpm *mpm, mn_vec3 x)
{
    const mn_mpm_def *def = &mpm->def;
    double to_side, to_solid = INFINITY;
    const int32_t side = mn_mpm_nearest_side(def, x, &to_side);
    if (mpm->run.collider) mn_collider_distance(mpm->run.collider, mpm->run.frame_begin, 1, &x, &to_solid);
    // Paint belongs to the collider, not to a wall that is nearer.
    const double degrees =
        mpm->run.collider && to_solid <= to_side
            ? mn_collider_painted(mpm->run.collider, MN_PAINT_CONTACT_ANGLE, def->contact_angle,
                                  mpm->run.frame_begin, x)
            : mn_side_value(def->contact_angle_min, def->contact_angle_max, side, def->contact_angle);
    return fmin(fmax(degrees, 0), 180) * (pi / 180);
}

double mn_mpm_edge_sine(const mn_mpm *mpm, double angle)
{
    // g = E |d + s z|, z normal: what smoothing makes of |d|; its slope over the first cell.
    const double s = sqrt(0.5 * fmax(mpm->def.smoothing, 0.5));
    const double g0 = s * sqrt(2 / pi), g1 = mn_erf(1 / (s * sqrt(2))) + g0 * mn_exp(-0.5 / (s * s));
    return mn_sin(angle) / fmax(mn_hypot(mn_sin(angle), (g1 - g0) * mn_cos(angle)), 1e-9);
}

mn_vec3 mn_mpm_line_force(const mn_mpm *mpm, mn_vec3 x, mn_vec3 free, mn_vec3 wall, double length)
{
    const mn_vec3 along = mn_axpy(free, -mn_dot(free, wall), wall);
    const double angle = mn_mpm_contact_angle(mpm, x), steep = mn_norm(along);
    return mn_scale(-length * (angle < 0.5 * pi ? steep : fmin(steep, mn_mpm_edge_sine(mpm, angle))), wall);
}

// Mean of (1 - u^2)^2 over a triangle in which u is linear: that of u^m is 2/((m+1)(m+2)) times the sum of
// all products of m of the values at its corners.
static double mean_bell(double a, double b, double c)
{
    double of_two = 1, all = 1, power = 1, mean = 1;
    for (int32_t m = 1; m <= 4; m++) {
        power *= c;
        of_two = b * of_two + power;
        all = a * all + of_two;
        if (m == 2) mean -= 2 * all / 6;
        if (m == 4) mean += all / 15;
    }
    return mean;
}

// The same of the part with u < 1, zero beyond: at a corner that is alone on its side a smaller triangle is
// cut off.
static double bell_of_triangle(const double depth[3], double per_width)
{
    double u[3] = {depth[0] * per_width, depth[1] * per_width, depth[2] * per_width};
    for (int32_t k = 0; k < 3; k++)
        if (u[k % 2] > u[k % 2 + 1]) {
            const double low = u[k % 2 + 1];
            u[k % 2 + 1] = u[k % 2], u[k % 2] = low;
        }
    if (u[0] >= 1) return 0;
    if (u[2] <= 1) return mean_bell(u[0], u[1], u[2]);
    if (u[1] >= 1) return (1 - u[0]) * (1 - u[0]) / ((u[1] - u[0]) * (u[2] - u[0])) * mean_bell(u[0], 1, 1);
    return mean_bell(u[0], u[1], u[2]) -
           (u[2] - 1) * (u[2] - 1) / ((u[2] - u[0]) * (u[2] - u[1])) * mean_bell(1, 1, u[2]);
}

// The variance of k, of that of the smoothing.
static double narrowed(double angle)
{
    const double least = 0.4; // at 28 degrees; at 0.25 a film ran ahead of the edge
    if (angle < 0.5 * pi) return fmax(mn_pow(mn_sin(angle), 1.2), least);
    // Under an obtuse angle the balls around the particles fill a part of the notch and draw the turn towards
    // the wall. Measured: without this, 135 degrees come out 5 degrees high at R = 8 dx.
    return 1 - 0.65 * mn_pow(mn_sin(2 * angle), 2);
}

mn_vec3 mn_mpm_wetting_force(const mn_mpm *mpm, mn_vec3 x, mn_vec3 area, mn_vec3 wall,
                             const mn_mpm_depth *depth)
{
    const double angle = mn_mpm_contact_angle(mpm, x);
    const double width = sqrt(7 * 0.5 * fmax(mpm->def.smoothing, 0.5) * narrowed(angle));
    double mean = 0;
    for (int32_t i = 0; i < depth->count; i++)
        mean += depth->share[i] * bell_of_triangle(depth->corner[i], 1 / width);
    if (!(mean > 0)) return mn_v3(0, 0, 0);
    const double kernel = 1.875 / (width * mpm->def.dx) * mean;
    if (angle < 0.5 * pi) return mn_scale(kernel * mn_cos(angle), area);
    const mn_vec3 along = mn_axpy(area, -mn_dot(area, wall), wall);
    const double carried = mn_mpm_edge_sine(mpm, angle) - mn_sin(angle);
    const mn_vec3 pull = mn_axpy(mn_scale(mn_cos(angle), along), carried * mn_norm(along), wall);
    return mn_scale(kernel, pull);
}

// ---- energy ----

double mn_mpm_wetting_energy(const mn_mpm *mpm)
{
    const mn_level_set_view view = mn_level_set_get(mpm->surface.level_set);
    double wetted = 0, touched = 0, energy = 0;
    if (mpm->surface.patches.count == 0) return 0;
    for (int32_t b = 0; b < view.body_count; b++) wetted += view.bodies[b].wetted;
    // Contacts know where on the wall they are, the surface how much of it is wet.
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        const mn_mpm_contact *contact = &mpm->walls.contacts.data[c];
        const mn_mpm_material *q = &mpm->materials.data[contact->particle];
        const double area = q->volume * contact->weight;
        touched += area;
        energy -= area * q->sigma * mn_cos(mn_mpm_contact_angle(mpm, contact->foot));
    }
    return touched > 0 ? energy * wetted / touched : 0;
}
