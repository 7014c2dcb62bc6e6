// SPDX-License-Identifier: Apache-2.0
//
// Sheets and threads of particles that a smoothed level set loses (see thin_parts.h).
//
//   h_p   (8 V_p)^(1/3), its size: the edge of a cell that eight of its kind fill
//   e_p   how far particle p lies outside of the zero level, from 0 (inside) to 1; and 0 where its neighbours
//         spread as those at the surface of a full liquid do, unless it lies far outside: the crest of a
//         sheet that is about to rise would else be seen late and all at once
//   G_p   a Gaussian around p: wide (s) along the directions in which the neighbours spread, thin (t) along
//         the others, by the eigenvectors of their covariance [yu2013]
//   N_p   sum over neighbours of G_p: how many share the place
//   F(x)  sum_p e_p G_p(x) / N_p, about 1 in the middle of a sheet or thread whatever its density
//   phi   smooth min of phi and  t / sqrt(2 ln 1/F0) ln(F0 / F),  whose slope across a sheet is 1
//
// [yu2013] keeps the ellipsoids' volume, so that a sheet that is stretched gets thinner until the grid
// loses it. Here nothing is drawn thinner than 2 sqrt(2 ln 1/F0) t = 1.6 nodes, or an oblique sheet would
// have holes where it passes between nodes.
#include "levelset/thin_parts.h"
#include "base/elementary.h"

#include "base/parallel.h"
#include "meniscus/array.h"
#include "space/neighbours.h"

#include <string.h>

enum { NEAR_GRAIN = 4096, PARTICLE_GRAIN = 256, BLOCK_GRAIN = 4 };
/// In sizes: where neighbours are looked for; the Gaussian along a sheet, which bridges gaps of three
/// spacings.
static const double reach = 2.2, along = 0.75;
/// Half of what is drawn at least, in nodes' distances; the value of F there.
static const double half_thickness = 0.8, level = 0.35;
/// Particles deeper than the first, in sizes, belong to the level set as it is; beyond the second they are
/// drawn in full, beyond the third whatever is around them. In a full liquid the first layer lies 0.25 deep.
static const double covered = -0.15, exposed = 0.1, outlying = 0.3;
/// What is shown of less than the first is nothing, above the second all of it. At the surface of drops of
/// five cells' radius, at rest and swinging, it is 0.01, and 0.3 at most; no thin part shows below `level`.
static const double least = 0.2, enough = 0.4;
/// In sizes: so far behind a particle at the surface of a full liquid phi is less than the second. A slab
/// has to be 2.6 thick for that; neighbours spread like a sheet's up to 1.6.
static const double back = 1.5, full = -1.1;

/// One Gaussian.
typedef struct blob {
    mn_mat3 metric; ///< exp(-1/2 |metric (x - x_p)|^2)
    double weight;  ///< e / N
} blob;

struct mn_thin_parts {
    mn_context *ctx;
    mn_neighbours *all, *thin;
    MN_ARRAY(uint8_t) is_near; ///< particles that may be exposed
    MN_ARRAY(int64_t) owner;   ///< those
    MN_ARRAY(mn_vec3) near, gradient, behind, around;
    MN_ARRAY(double) phi, exposure, far, size;
    MN_ARRAY(mn_vec3) places; ///< of the exposed particles
    MN_ARRAY(blob) blobs;     ///< theirs
    MN_ARRAY(uint8_t) marked; ///< blocks that some blob reaches
    MN_ARRAY(int32_t) blocks; ///< those
};

mn_status mn_thin_parts_create(mn_context *ctx, mn_thin_parts **out)
{
    *out = NULL;
    mn_thin_parts *parts = mn_allocate_zero(ctx, sizeof *parts);
    if (!parts) return MN_ERROR_MEMORY;
    parts->ctx = ctx;
    mn_status status;
    MN_TRY_TO(fail, status, mn_neighbours_create(ctx, &parts->all));
    MN_TRY_TO(fail, status, mn_neighbours_create(ctx, &parts->thin));
    *out = parts;
    return MN_OK;
fail:
    mn_thin_parts_free(parts);
    return status;
}

void mn_thin_parts_free(mn_thin_parts *parts)
{
    if (!parts) return;
    if (parts->all) mn_neighbours_free(parts->all);
    if (parts->thin) mn_neighbours_free(parts->thin);
    mn_array_free(parts->ctx, &parts->is_near);
    mn_array_free(parts->ctx, &parts->owner);
    mn_array_free(parts->ctx, &parts->near);
    mn_array_free(parts->ctx, &parts->gradient);
    mn_array_free(parts->ctx, &parts->behind);
    mn_array_free(parts->ctx, &parts->around);
    mn_array_free(parts->ctx, &parts->phi);
    mn_array_free(parts->ctx, &parts->exposure);
    mn_array_free(parts->ctx, &parts->far);
    mn_array_free(parts->ctx, &parts->size);
    mn_array_free(parts->ctx, &parts->places);
    mn_array_free(parts->ctx, &parts->blobs);
    mn_array_free(parts->ctx, &parts->marked);
    mn_array_free(parts->ctx, &parts->blocks);
    mn_release(parts->ctx, parts, sizeof *parts);
}

// ---- which particles ----

static double smooth_step(double low, double high, double x)
{
    const double t = fmin(fmax((x - low) / (high - low), 0), 1);
    return t * t * (3 - 2 * t);
}

typedef struct near_job {
    mn_thin_parts *parts;
    const mn_level_set *set;
    mn_points particles;
    double covered; ///< m
} near_job;

// Which particles may lie that far out, by phi at the nearest node: it rises by no more than the way there.
static mn_status find_near(void *user, mn_range range)
{
    const near_job *job = user;
    const mn_level_set_view view = mn_level_set_get(job->set);
    const mn_block_table *table = &view.blocks;
    const double largest = 1 << 30, steepest = 1.2; // in the corners of a trilinear field
    mn_ivec3 coord = {0, 0, 0};
    int32_t block = mn_blocks_find(mn_level_set_blocks(job->set), coord);
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 u =
            mn_scale(table->inverse_dx, mn_sub(mn_points_at(&job->particles, i), table->origin));
        const mn_vec3 n = mn_v3(floor(u.x + 0.5), floor(u.y + 0.5), floor(u.z + 0.5));
        job->parts->is_near.data[i] = 1;
        if (!(fabs(n.x) < largest && fabs(n.y) < largest && fabs(n.z) < largest)) continue;
        const int32_t x = (int32_t)n.x, y = (int32_t)n.y, z = (int32_t)n.z;
        if (x >> 2 != coord.x || y >> 2 != coord.y || z >> 2 != coord.z) {
            coord = (mn_ivec3){x >> 2, y >> 2, z >> 2};
            block = mn_blocks_find(mn_level_set_blocks(job->set), coord);
        }
        if (block < 0) continue;
        const double phi = view.phi[block * MN_BLOCK_CELLS + 16 * (x & 3) + 4 * (y & 3) + (z & 3)];
        job->parts->is_near.data[i] = phi + steepest * table->dx * mn_distance(u, n) > job->covered;
    }
    return MN_OK;
}

// Those, with phi and its gradient.
static mn_status sample_near(mn_thin_parts *parts, mn_level_set *set, mn_points particles, double largest)
{
    mn_context *ctx = parts->ctx;
    near_job job = {parts, set, particles, covered * largest};
    MN_TRY(mn_array_resize(ctx, &parts->is_near, particles.count));
    MN_TRY(mn_parallel_long(ctx, particles.count, NEAR_GRAIN, find_near, &job));
    parts->near.count = parts->owner.count = 0;
    for (int64_t i = 0; i < particles.count; i++) {
        if (!parts->is_near.data[i]) continue;
        const mn_vec3 x = mn_points_at(&particles, i);
        MN_TRY(mn_array_push(ctx, &parts->near, &x));
        MN_TRY(mn_array_push(ctx, &parts->owner, &i));
    }
    MN_TRY(mn_array_resize(ctx, &parts->phi, parts->near.count));
    MN_TRY(mn_array_resize(ctx, &parts->gradient, parts->near.count));
    return mn_level_set_sample(set, mn_points_of(parts->near.data, parts->near.count), parts->phi.data,
                               parts->gradient.data);
}

// Takes out those that have enough liquid behind them to be the surface of a full one.
static mn_status drop_backed(mn_thin_parts *parts, mn_level_set *set)
{
    const int64_t count = parts->places.count;
    MN_TRY(mn_array_resize(parts->ctx, &parts->phi, count));
    MN_TRY(mn_level_set_sample(set, mn_points_of(parts->behind.data, count), parts->phi.data, NULL));
    int64_t kept = 0;
    for (int64_t i = 0; i < count; i++) {
        if (!(parts->far.data[i] > 0) && parts->phi.data[i] < full * parts->size.data[i]) continue;
        parts->places.data[kept] = parts->places.data[i];
        parts->exposure.data[kept] = parts->exposure.data[i];
        parts->far.data[kept] = parts->far.data[i];
        parts->size.data[kept++] = parts->size.data[i];
    }
    parts->places.count = parts->exposure.count = parts->far.count = parts->size.count = kept;
    return MN_OK;
}

// Lists the particles that the level set does not cover.
static mn_status find_exposed(mn_thin_parts *parts, mn_level_set *set, mn_points particles,
                              const double *volumes, mn_allowed_fn *allowed, void *user)
{
    mn_context *ctx = parts->ctx;
    double largest = 0;
    for (int64_t i = 0; i < particles.count; i++) largest = fmax(largest, volumes[i]);
    MN_TRY(sample_near(parts, set, particles, mn_cbrt(8 * largest)));
    parts->places.count = parts->exposure.count = parts->far.count = parts->size.count = 0;
    parts->behind.count = 0;
    for (int64_t k = 0; k < parts->near.count; k++) {
        const int64_t i = parts->owner.data[k];
        const double size = mn_cbrt(8 * volumes[i]), slope = mn_norm(parts->gradient.data[k]);
        if (!(smooth_step(covered, exposed, parts->phi.data[k] / size) > least)) continue;
        const double depth = (parts->phi.data[k] - (allowed ? allowed(user, i) : 0)) / size;
        const double e = smooth_step(covered, exposed, depth), far = smooth_step(exposed, outlying, depth);
        if (!(e > least)) continue;
        const mn_vec3 x = parts->near.data[k];
        const mn_vec3 behind = mn_axpy(x, slope > 0 ? -back * size / slope : 0, parts->gradient.data[k]);
        MN_TRY(mn_array_push(ctx, &parts->places, &x));
        MN_TRY(mn_array_push(ctx, &parts->behind, &behind));
        MN_TRY(mn_array_push(ctx, &parts->exposure, &e));
        MN_TRY(mn_array_push(ctx, &parts->far, &far));
        MN_TRY(mn_array_push(ctx, &parts->size, &size));
    }
    return drop_backed(parts, set);
}

// ---- their Gaussians ----

typedef struct blob_job {
    mn_thin_parts *parts;
    mn_points particles;
    double thin; ///< m
} blob_job;

/// Sums over the neighbours of a place.
typedef struct spread {
    const blob_job *job;
    mn_vec3 x;
    double size; ///< m
    double weight;
    mn_vec3 mean;       ///< sum of weighted offsets
    mn_mat3 covariance; ///< and of their squares
    mn_mat3 metric;     ///< for the count
    double count;
} spread;

static void add_offset(void *user, int32_t point, double distance_squared)
{
    spread *s = user;
    const double h = reach * s->size, q = 1 - distance_squared / (h * h), w = q * q;
    const mn_vec3 d = mn_sub(mn_points_at(&s->job->particles, point), s->x);
    s->weight += w;
    s->mean = mn_axpy(s->mean, w, d);
    s->covariance = mn_m3_add(s->covariance, mn_m3_scale(w, mn_outer(d, d)));
}

static void add_count(void *user, int32_t point, double distance_squared)
{
    (void)distance_squared;
    spread *s = user;
    const mn_vec3 d = mn_sub(mn_points_at(&s->job->particles, point), s->x);
    s->count += mn_exp(-0.5 * mn_norm2(mn_m3_apply(s->metric, d)));
}

// Wide where the neighbours spread about as far as they can, thin where they do not.
// *flat is 0 where they spread in all directions.
static mn_mat3 metric_of(const spread *s, double *flat)
{
    const double size = s->size, thin = s->job->thin, wide = fmax(along * size, thin);
    const mn_vec3 mean = mn_scale(1 / s->weight, s->mean);
    const mn_mat3 covariance =
        mn_m3_add(mn_m3_scale(1 / s->weight, s->covariance), mn_m3_scale(-1, mn_outer(mean, mean)));
    mn_vec3 values;
    mn_mat3 axes;
    mn_m3_eigen_symmetric(covariance, &values, &axes);
    const double lengths[3] = {sqrt(fmax(values.x, 0)), sqrt(fmax(values.y, 0)), sqrt(fmax(values.z, 0))};
    mn_mat3 metric = {{{0}}};
    for (int i = 0; i < 3; i++) {
        // Kernel and reach give a full plane a spread of 0.4 reach: 0.8 sizes.
        const double width = thin + (wide - thin) * smooth_step(0.15, 0.5, lengths[i] / size);
        const mn_vec3 axis = mn_m3_column(axes, i);
        metric = mn_m3_add(metric, mn_m3_scale(1 / width, mn_outer(axis, axis)));
    }
    // Across two layers 0.25, three 0.41, at the surface of a full liquid 0.45.
    *flat = 1 - smooth_step(0.3, 0.42, lengths[2] / size);
    return metric;
}

static mn_status make_blobs(void *user, mn_range range)
{
    const blob_job *job = user;
    mn_thin_parts *parts = job->parts;
    for (int64_t i = range.begin; i < range.end; i++) {
        spread s = {.job = job, .x = parts->places.data[i], .size = parts->size.data[i]};
        const double h = reach * s.size;
        double flat;
        mn_neighbours_visit(parts->all, s.x, h, add_offset, &s);
        s.metric = metric_of(&s, &flat);
        double shown = fmax(flat, parts->far.data[i]) * parts->exposure.data[i];
        shown *= smooth_step(least, enough, shown);
        if (shown > 0) mn_neighbours_visit(parts->all, s.x, h, add_count, &s);
        parts->blobs.data[i] = (blob){s.metric, shown / fmax(s.count, 1)};
    }
    return MN_OK;
}

// Many of them are none.
static void drop_empty_blobs(mn_thin_parts *parts)
{
    int64_t kept = 0;
    for (int64_t i = 0; i < parts->blobs.count; i++) {
        if (!(parts->blobs.data[i].weight > 0)) continue;
        parts->places.data[kept] = parts->places.data[i];
        parts->blobs.data[kept++] = parts->blobs.data[i];
    }
    parts->places.count = parts->blobs.count = kept;
}

// ---- their field ----

// Blocks with a node or cell within `distance` of an exposed particle.
static mn_status mark_blocks(mn_thin_parts *parts, const mn_level_set *set, double distance)
{
    const mn_block_table table = mn_level_set_get(set).blocks;
    const mn_blocks *blocks = mn_level_set_blocks(set);
    MN_TRY(mn_array_resize(parts->ctx, &parts->marked, table.count));
    memset(parts->marked.data, 0, (size_t)table.count);
    for (int64_t i = 0; i < parts->places.count; i++) {
        const mn_vec3 x = mn_scale(table.inverse_dx, mn_sub(parts->places.data[i], table.origin));
        const double r = distance * table.inverse_dx;
        for (int32_t bx = (int32_t)floor((x.x - r) / 4); bx <= (int32_t)floor((x.x + r) / 4); bx++)
            for (int32_t by = (int32_t)floor((x.y - r) / 4); by <= (int32_t)floor((x.y + r) / 4); by++)
                for (int32_t bz = (int32_t)floor((x.z - r) / 4); bz <= (int32_t)floor((x.z + r) / 4); bz++) {
                    const int32_t block = mn_blocks_find(blocks, (mn_ivec3){bx, by, bz});
                    if (block >= 0) parts->marked.data[block] = 1;
                }
    }
    parts->blocks.count = 0;
    for (int32_t b = 0; b < table.count; b++)
        if (parts->marked.data[b]) MN_TRY(mn_array_push(parts->ctx, &parts->blocks, &b));
    return MN_OK;
}

// The particles that are, which is all that a Gaussian asks for.
static mn_status find_around(mn_thin_parts *parts, const mn_level_set *set, mn_points particles,
                             double distance)
{
    const mn_block_table table = mn_level_set_get(set).blocks;
    const mn_blocks *blocks = mn_level_set_blocks(set);
    MN_TRY(mark_blocks(parts, set, distance));
    parts->around.count = 0;
    for (int64_t i = 0; i < particles.count; i++) {
        const mn_vec3 x = mn_points_at(&particles, i);
        const mn_vec3 u = mn_scale(0.25 * table.inverse_dx, mn_sub(x, table.origin));
        const int32_t block =
            mn_blocks_find(blocks, (mn_ivec3){(int32_t)floor(u.x), (int32_t)floor(u.y), (int32_t)floor(u.z)});
        if (block < 0 || parts->marked.data[block]) MN_TRY(mn_array_push(parts->ctx, &parts->around, &x));
    }
    return MN_OK;
}

typedef struct field_job {
    const mn_thin_parts *parts;
    mn_level_set_view view;
    double distance, slope, blend; ///< m
} field_job;

typedef struct field_sum {
    const mn_thin_parts *parts;
    mn_vec3 x;
    double f;
} field_sum;

static void add_blob(void *user, int32_t point, double distance_squared)
{
    (void)distance_squared;
    field_sum *sum = user;
    const blob *b = &sum->parts->blobs.data[point];
    const mn_vec3 d = mn_sub(sum->x, sum->parts->places.data[point]);
    sum->f += b->weight * mn_exp(-0.5 * mn_norm2(mn_m3_apply(b->metric, d)));
}

// The lesser of the two, rounded where they are about equal.
static double smooth_min(double a, double b, double width)
{
    const double h = fmax(width - fabs(a - b), 0);
    return fmin(a, b) - h * h / (4 * width);
}

static mn_status add_field(void *user, mn_range range)
{
    const field_job *job = user;
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t block = job->parts->blocks.data[k];
        double *phi = job->view.phi + (int64_t)block * MN_BLOCK_CELLS;
        for (int32_t i = 0; i < MN_BLOCK_CELLS; i++) {
            field_sum sum = {.parts = job->parts, .x = mn_block_node_position(&job->view.blocks, block, i)};
            mn_neighbours_visit(job->parts->thin, sum.x, job->distance, add_blob, &sum);
            if (!(sum.f > 0)) continue;
            const double thin = job->slope * mn_ln(level / sum.f);
            if (thin < job->view.band) phi[i] = fmax(smooth_min(phi[i], thin, job->blend), -job->view.band);
        }
    }
    return MN_OK;
}

mn_status mn_thin_parts_add(mn_thin_parts *parts, mn_level_set *set, mn_points particles,
                            const double *volumes, mn_allowed_fn *allowed, void *user)
{
    mn_context *ctx = parts->ctx;
    const double dx = mn_level_set_get(set).blocks.dx;
    double size = 0;
    parts->blobs.count = 0;
    MN_TRY(find_exposed(parts, set, particles, volumes, allowed, user));
    if (parts->places.count == 0) return MN_OK;
    for (int64_t i = 0; i < parts->size.count; i++) size = fmax(size, parts->size.data[i]);
    const double edge = sqrt(-2 * mn_ln(level)), thin = half_thickness * dx / edge;
    MN_TRY(find_around(parts, set, particles, reach * size));
    const mn_points around = mn_points_of(parts->around.data, parts->around.count);
    MN_TRY(mn_neighbours_build(parts->all, around, reach * size));
    MN_TRY(mn_array_resize(ctx, &parts->blobs, parts->places.count));
    blob_job blobs = {parts, around, thin};
    MN_TRY(mn_parallel_long(ctx, parts->places.count, PARTICLE_GRAIN, make_blobs, &blobs));
    drop_empty_blobs(parts);
    if (parts->places.count == 0) return MN_OK;
    // Three widths away a Gaussian has a hundredth.
    const double distance = 3 * fmax(along * size, thin);
    MN_TRY(mn_neighbours_build(parts->thin, mn_points_of(parts->places.data, parts->places.count), distance));
    MN_TRY(mark_blocks(parts, set, distance));
    field_job fields = {parts, mn_level_set_get(set), distance, thin / edge, 0.5 * dx};
    return mn_parallel_long(ctx, parts->blocks.count, BLOCK_GRAIN, add_field, &fields);
}

int64_t mn_thin_parts_count(const mn_thin_parts *parts)
{
    return parts->blobs.count;
}
