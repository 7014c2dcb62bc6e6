// SPDX-License-Identifier: Apache-2.0
//
// Solids from level sets and velocity volumes. With M the rigid motion nearest to a solid's velocity field u,
// the solid `before` seconds before the end of its frame is seen by carrying the query forward to the end:
//
//   y      = M_before(x) + before (u - u_M)(M_before(x))      what is not rigid, to first order
//   phi(x) = phi_end(y),   n(x) = R^T grad phi_end(y)
//
// Level sets are known in a narrow band only. Outside the box of active voxels the distance to that box is a
// better lower bound than the clamped value, and it lets particles far away take long steps.
#include "meniscus/collider.h"

#include "meniscus/array.h"
#include "space/moving_solids.h"
#include "space/rigid_motion.h"
#include "trimesh/triangles.h"

#include <string.h>

typedef struct solid {
    mn_volume surface, velocity; ///< velocity {0} for a still solid
    double voxel_size, band;
    mn_box bounds;
    mn_rigid_motion motion;
    double max_speed;
    bool moves;
} solid;

struct mn_collider {
    mn_context *ctx;
    MN_ARRAY(solid) solids;
    const mn_geo *geo;
    mn_triangles *mesh; ///< NULL without paint
    const mn_attribute *paint[MN_PAINT_COUNT];
    double velocity_scale;
    double voxel_size, band, max_speed;
    const mn_collider *fixed; ///< of a joined one, which has no solids of its own: what it was given
    mn_moving_solids moving;  ///< and what moves beside them; distance NULL otherwise
};

mn_collider_def mn_collider_default_def(void)
{
    return (mn_collider_def){.geo = NULL, .velocity_scale = 1.0};
}

const char *mn_paint_name(mn_paint paint)
{
    static const char *const names[MN_PAINT_COUNT] = {"contact_angle", "friction", "slip", "temperature"};
    return names[paint];
}

bool mn_collider_is_painted(const mn_collider *collider, mn_paint paint)
{
    if (collider && collider->moving.distance)
        return collider->moving.painted[paint] || mn_collider_is_painted(collider->fixed, paint);
    return collider && collider->paint[paint];
}

// ---- making one ----

static bool is_level_set(const mn_volume_info *info)
{
    return info->kind == MN_VOLUME_LEVEL_SET && info->components == 1;
}

static mn_status add_solid(mn_collider *collider, mn_volume volume, const mn_volume_info *info)
{
    if (!(info->voxel_size > 0) || !(info->background > 0) || !isfinite(info->voxel_size + info->background))
        return mn_fail(
            collider->ctx, MN_ERROR_INPUT,
            "The collider's level set '%s' has no band (voxel size %g m, background %g m); make it "
            "again with the collider node.",
            info->name, info->voxel_size, info->background);
    solid s;
    memset(&s, 0, sizeof s);
    s.surface = mn_volume_retain(volume);
    s.voxel_size = info->voxel_size;
    s.band = info->background;
    s.bounds = info->bounds;
    const mn_status status = mn_array_push(collider->ctx, &collider->solids, &s);
    if (status != MN_OK) mn_volume_release(&s.surface);
    return status;
}

// Level sets become solids; a `vel` belongs to the solid before it.
static mn_status collect_solids(mn_collider *collider, const mn_geo *geo)
{
    const bool named = mn_geo_find_volume(geo, "surface").ops != NULL;
    mn_volume early_velocity = {0};
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        if (is_level_set(&info) && (!named || strcmp(info.name, "surface") == 0)) {
            MN_TRY(add_solid(collider, volume, &info));
        } else if (info.components == 3 && strcmp(info.name, "vel") == 0) {
            if (collider->solids.count == 0) {
                early_velocity = volume;
                continue;
            }
            solid *last = &collider->solids.data[collider->solids.count - 1];
            if (!last->velocity.ops) last->velocity = mn_volume_retain(volume);
        }
    }
    if (collider->solids.count == 1 && !collider->solids.data[0].velocity.ops)
        collider->solids.data[0].velocity = mn_volume_retain(early_velocity);
    return MN_OK;
}

typedef struct samples {
    MN_ARRAY(mn_vec3) positions; ///< in the band
    MN_ARRAY(mn_vec3) velocities;
} samples;

// Samples `count` places from `begin` on and keeps those in the band.
static mn_status sample_line(mn_collider *collider, const solid *s, mn_vec3 begin, mn_vec3 step,
                             int64_t count, samples *near)
{
    enum { BATCH = 256 };
    mn_vec3 positions[BATCH];
    double distances[BATCH];
    for (int64_t first = 0; first < count; first += BATCH) {
        const int64_t n = count - first < BATCH ? count - first : BATCH;
        for (int64_t i = 0; i < n; i++) positions[i] = mn_axpy(begin, (double)(first + i), step);
        s->surface.ops->sample(s->surface.handle, n, positions, distances);
        for (int64_t i = 0; i < n; i++) {
            if (!isfinite(distances[i]))
                return mn_fail(
                    collider->ctx, MN_ERROR_INPUT,
                    "The collider's level set holds values that are not finite, near (%g, %g, %g).",
                    positions[i].x, positions[i].y, positions[i].z);
            if (fabs(distances[i]) < 0.99 * s->band)
                MN_TRY(mn_array_push(collider->ctx, &near->positions, &positions[i]));
        }
    }
    return MN_OK;
}

// `lines` x `lines` lines along one axis of the box, each of `count` samples.
static mn_status sample_lines(mn_collider *collider, const solid *s, int axis, int32_t lines, int64_t count,
                              samples *near)
{
    const mn_vec3 e = mn_sub(s->bounds.max, s->bounds.min);
    const double extent[3] = {e.x, e.y, e.z};
    const int other[2] = {(axis + 1) % 3, (axis + 2) % 3};
    for (int32_t j = 0; j < lines; j++)
        for (int32_t i = 0; i < lines; i++) {
            double begin[3], step[3] = {0, 0, 0};
            step[axis] = extent[axis] / (double)count;
            begin[axis] = 0.5 * step[axis];
            begin[other[0]] = extent[other[0]] * (i + 0.5) / lines;
            begin[other[1]] = extent[other[1]] * (j + 0.5) / lines;
            MN_TRY(sample_line(collider, s, mn_add(s->bounds.min, mn_v3(begin[0], begin[1], begin[2])),
                               mn_v3(step[0], step[1], step[2]), count, near));
        }
    return MN_OK;
}

// Places in the band: on a lattice over the box and, where the band is too thin to be met by it, on lines
// that are sampled as finely as the band.
static mn_status sample_band(mn_collider *collider, const solid *s, samples *near)
{
    enum { LATTICE = 24, LINES = 8, ENOUGH = 16, LONGEST = 1 << 20 };
    MN_TRY(sample_lines(collider, s, 0, LATTICE, LATTICE, near));
    const mn_vec3 e = mn_sub(s->bounds.max, s->bounds.min);
    const double extent[3] = {e.x, e.y, e.z};
    for (int axis = 0; axis < 3 && near->positions.count < ENOUGH; axis++)
        MN_TRY(
            sample_lines(collider, s, axis, LINES, (int64_t)fmin(LONGEST, 1 + extent[axis] / s->band), near));
    return MN_OK;
}

// Checks that the solid's fields are finite, and fits its motion.
static mn_status fit_motion(mn_collider *collider, solid *s)
{
    if (mn_box_is_empty(s->bounds)) return MN_OK;
    mn_context *ctx = collider->ctx;
    samples near = {0};
    mn_status status;
    MN_TRY_TO(out, status, sample_band(collider, s, &near));
    const int64_t count = near.positions.count;
    if (!s->velocity.ops || count == 0) goto out;
    MN_TRY_TO(out, status, mn_array_resize(ctx, &near.velocities, count));
    s->velocity.ops->sample(s->velocity.handle, count, near.positions.data, &near.velocities.data[0].x);
    for (int64_t i = 0; i < count; i++) {
        mn_vec3 *v = &near.velocities.data[i];
        *v = mn_scale(collider->velocity_scale, *v);
        if (!mn_is_finite3(*v)) {
            const mn_vec3 x = near.positions.data[i];
            status =
                mn_fail(ctx, MN_ERROR_INPUT,
                        "The collider's velocity 'vel' holds values that are not finite, near (%g, %g, %g).",
                        x.x, x.y, x.z);
            goto out;
        }
        s->max_speed = fmax(s->max_speed, mn_norm(*v));
    }
    s->moves = s->max_speed > 0;
    if (s->moves) s->motion = mn_rigid_motion_fit(count, near.positions.data, near.velocities.data);
out:
    mn_array_free(ctx, &near.positions);
    mn_array_free(ctx, &near.velocities);
    return status;
}

mn_status mn_collider_create(mn_context *ctx, const mn_collider_def *def, mn_collider **out)
{
    *out = NULL;
    mn_collider *collider = mn_allocate_zero(ctx, sizeof *collider);
    if (!collider) return MN_ERROR_MEMORY;
    collider->ctx = ctx;
    collider->geo = def->geo;
    collider->velocity_scale = def->velocity_scale;
    collider->voxel_size = INFINITY;
    mn_status status = MN_OK;
    if (def->geo) MN_TRY_TO(fail, status, collect_solids(collider, def->geo));
    if (collider->solids.count == 0) {
        status = mn_fail(ctx, MN_ERROR_INPUT,
                         "The collider input holds no level set; put a collider node "
                         "between the geometry and the solver.");
        goto fail;
    }
    for (int64_t i = 0; i < collider->solids.count; i++) {
        solid *s = &collider->solids.data[i];
        MN_TRY_TO(fail, status, fit_motion(collider, s));
        collider->voxel_size = fmin(collider->voxel_size, s->voxel_size);
        collider->band = fmax(collider->band, s->band);
        collider->max_speed = fmax(collider->max_speed, s->max_speed);
    }
    if (def->paint && mn_geo_kind_count(def->geo, MN_POLYGON) > 0) {
        MN_TRY_TO(fail, status, mn_triangles_create_from_geo(ctx, def->geo, &collider->mesh));
        for (int i = 0; i < MN_PAINT_COUNT; i++)
            collider->paint[i] = mn_geo_find_numeric(def->geo, MN_POINT, mn_paint_name((mn_paint)i), 1);
    }
    *out = collider;
    return MN_OK;
fail:
    mn_collider_free(collider);
    return status;
}

void mn_collider_free(mn_collider *collider)
{
    if (!collider) return;
    for (int64_t i = 0; i < collider->solids.count; i++) {
        mn_volume_release(&collider->solids.data[i].surface);
        mn_volume_release(&collider->solids.data[i].velocity);
    }
    mn_array_free(collider->ctx, &collider->solids);
    mn_triangles_free(collider->mesh);
    mn_release(collider->ctx, collider, sizeof *collider);
}

// ---- moving solids ----

void mn_collider_rejoin(mn_collider *joined, const mn_collider *fixed, const mn_moving_solids *moving)
{
    joined->fixed = fixed;
    joined->moving = *moving;
    joined->voxel_size = fixed ? fixed->voxel_size : INFINITY;
    joined->band = fixed ? fmin(fixed->band, moving->band) : moving->band;
    joined->max_speed = fmax(fixed ? fixed->max_speed : 0, moving->max_speed);
}

mn_status mn_collider_join(mn_context *ctx, const mn_collider *fixed, const mn_moving_solids *moving,
                           mn_collider **joined)
{
    *joined = mn_allocate_zero(ctx, sizeof **joined);
    if (!*joined) return MN_ERROR_MEMORY;
    (*joined)->ctx = ctx;
    mn_collider_rejoin(*joined, fixed, moving);
    return MN_OK;
}

bool mn_collider_is_moving(const mn_collider *joined, double before, mn_vec3 x)
{
    double given = INFINITY;
    if (!joined->moving.distance) return false;
    if (joined->fixed) mn_collider_distance(joined->fixed, before, 1, &x, &given);
    return joined->moving.distance(joined->moving.user, x) < given;
}

// ---- asking it ----

static double distance_to_box(mn_box box, mn_vec3 x)
{
    const mn_vec3 zero = {0, 0, 0};
    return mn_norm(mn_max3(zero, mn_max3(mn_sub(box.min, x), mn_sub(x, box.max))));
}

// The material velocity at a place at the end of the frame: the volume where it is known, the fit elsewhere.
static mn_vec3 velocity_at_end(const mn_collider *collider, const solid *s, mn_vec3 y, double distance)
{
    if (!s->moves) return mn_v3(0, 0, 0);
    if (!(fabs(distance) < 0.99 * s->band)) return mn_rigid_motion_velocity(&s->motion, y);
    return mn_scale(collider->velocity_scale, mn_volume_sample_vec3(s->velocity, y));
}

// Carries a query `before` seconds forward to the end of the frame.
static mn_vec3 to_end(const mn_collider *collider, const solid *s, double before, mn_vec3 x)
{
    if (!s->moves || before == 0) return x;
    const mn_vec3 y = mn_rigid_motion_forward(&s->motion, before, x);
    const mn_vec3 u = velocity_at_end(collider, s, y, mn_volume_sample(s->surface, y));
    return mn_axpy(y, before, mn_sub(u, mn_rigid_motion_velocity(&s->motion, y)));
}

static double distance_at_end(const solid *s, mn_vec3 y)
{
    const double outside = distance_to_box(s->bounds, y);
    // Past the box by more than a voxel nothing but the background can be sampled.
    if (outside > s->voxel_size) return fmax(outside, s->band);
    return mn_volume_sample(s->surface, y);
}

// The solid nearest to x, the distance to it, and where x is carried to.
static const solid *nearest_solid(const mn_collider *collider, double before, mn_vec3 x, double *distance,
                                  mn_vec3 *carried)
{
    const solid *nearest = NULL;
    *distance = INFINITY;
    *carried = x;
    for (int64_t i = 0; i < collider->solids.count; i++) {
        const solid *s = &collider->solids.data[i];
        if (mn_box_is_empty(s->bounds)) continue;
        const mn_vec3 y = to_end(collider, s, before, x);
        const double d = distance_at_end(s, y);
        if (nearest && !(d < *distance)) continue;
        nearest = s;
        *distance = d;
        *carried = y;
    }
    return nearest;
}

void mn_collider_distance(const mn_collider *collider, double before, int64_t count, const mn_vec3 *positions,
                          double *distances)
{
    mn_vec3 carried;
    if (collider->moving.distance) {
        if (collider->fixed) mn_collider_distance(collider->fixed, before, count, positions, distances);
        for (int64_t i = 0; i < count; i++) {
            const double given = collider->fixed ? distances[i] : INFINITY;
            distances[i] = fmin(given, collider->moving.distance(collider->moving.user, positions[i]));
        }
        return;
    }
    for (int64_t i = 0; i < count; i++)
        nearest_solid(collider, before, positions[i], &distances[i], &carried);
}

double mn_collider_moving_distance(const mn_collider *collider, double before, mn_vec3 position)
{
    double nearest = INFINITY;
    if (collider->moving.distance) {
        nearest = collider->moving.distance(collider->moving.user, position);
        if (collider->fixed)
            nearest = fmin(nearest, mn_collider_moving_distance(collider->fixed, before, position));
        return nearest;
    }
    for (int64_t i = 0; i < collider->solids.count; i++) {
        const solid *s = &collider->solids.data[i];
        if (s->moves && !mn_box_is_empty(s->bounds))
            nearest = fmin(nearest, distance_at_end(s, to_end(collider, s, before, position)));
    }
    return nearest;
}

mn_contact mn_collider_probe(const mn_collider *collider, double before, mn_vec3 position)
{
    mn_contact contact = {INFINITY, {0, 0, 0}, {0, 0, 0}};
    mn_vec3 y;
    if (collider->moving.distance) {
        if (mn_collider_is_moving(collider, before, position))
            return collider->moving.probe(collider->moving.user, position);
        return collider->fixed ? mn_collider_probe(collider->fixed, before, position) : contact;
    }
    const solid *s = nearest_solid(collider, before, position, &contact.distance, &y);
    if (!s) return contact;
    contact.normal = mn_normalize(mn_volume_gradient(s->surface, y));
    contact.velocity = velocity_at_end(collider, s, y, contact.distance);
    if (s->moves && before != 0) {
        // What is known at the end of the frame, turned back with the body.
        const mn_mat3 back = mn_rotation_about(mn_scale(-before, s->motion.angular));
        contact.normal = mn_m3_apply(back, contact.normal);
        const mn_vec3 spin = mn_sub(contact.velocity, s->motion.linear);
        contact.velocity = mn_add(s->motion.linear, mn_m3_apply(back, spin));
    }
    return contact;
}

mn_vec3 mn_collider_carry(const mn_collider *collider, double before, double seconds, mn_vec3 position)
{
    double distance;
    mn_vec3 y;
    if (collider->moving.distance) {
        if (mn_collider_is_moving(collider, before, position))
            return mn_axpy(position, seconds,
                           collider->moving.probe(collider->moving.user, position).velocity);
        return collider->fixed ? mn_collider_carry(collider->fixed, before, seconds, position) : position;
    }
    const solid *s = nearest_solid(collider, before, position, &distance, &y);
    if (!s || !s->moves) return position;
    const double after = before - seconds;
    const mn_vec3 u = velocity_at_end(collider, s, y, distance);
    const mn_vec3 rest = mn_sub(u, mn_rigid_motion_velocity(&s->motion, y));
    return mn_rigid_motion_back(&s->motion, after, mn_axpy(y, -after, rest));
}

static double corner_value(const mn_attribute *paint, int64_t point, double fallback)
{
    double value;
    mn_attribute_get(paint, point, 1, &value);
    return isfinite(value) && value >= 0 ? value : fallback;
}

void mn_collider_paint(const mn_collider *collider, mn_paint paint, double fallback, int64_t count,
                       const mn_vec3 *positions, double *values)
{
    if (collider->moving.distance) {
        for (int64_t i = 0; i < count; i++) {
            values[i] = fallback;
            if (mn_collider_is_moving(collider, 0, positions[i]))
                values[i] = collider->moving.paint(collider->moving.user, paint, fallback, positions[i]);
            else if (collider->fixed)
                mn_collider_paint(collider->fixed, paint, fallback, 1, &positions[i], &values[i]);
        }
        return;
    }
    const mn_attribute *painted = collider->paint[paint];
    for (int64_t i = 0; i < count; i++) {
        mn_mesh_point p;
        values[i] = fallback;
        if (!painted || !mn_triangles_closest(collider->mesh, positions[i], INFINITY, &p)) continue;
        values[i] = 0;
        for (int k = 0; k < 3; k++)
            values[i] += p.weights[k] * corner_value(painted, p.vertices[k], fallback);
    }
}

double mn_collider_painted(const mn_collider *collider, mn_paint paint, double fallback, double before,
                           mn_vec3 position)
{
    if (!mn_collider_is_painted(collider, paint)) return fallback;
    if (collider->moving.distance) { // paint lies where the moving solids are now
        if (mn_collider_is_moving(collider, before, position))
            return collider->moving.paint(collider->moving.user, paint, fallback, position);
        return mn_collider_painted(collider->fixed, paint, fallback, before, position);
    }
    const mn_vec3 end = mn_collider_carry(collider, before, before, position);
    mn_collider_paint(collider, paint, fallback, 1, &end, &fallback);
    return fallback;
}

double mn_collider_voxel_size(const mn_collider *collider)
{
    return collider->voxel_size;
}

double mn_collider_band(const mn_collider *collider)
{
    return collider->band;
}

double mn_collider_max_speed(const mn_collider *collider)
{
    return collider->max_speed;
}
