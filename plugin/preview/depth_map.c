// SPDX-License-Identifier: Apache-2.0
//
// The scene as each light sees it. Triangles smaller than a texel mark the texels of their corners, which
// makes a map of a million of them a matter of milliseconds; larger ones are filled. A sphere or tube
// thinner than a texel is drawn with the probability of its coverage, so that a mist casts a thin shadow.
#include "base/parallel.h"
#include "plugin/preview/arena.h"
#include "plugin/preview/lights.h"

#include <string.h>

/// Corners of small triangles, component by component so that loops over them vectorise.
typedef struct small_corners {
    float *x, *y, *z;
    int64_t count;
} small_corners;

typedef struct map_job {
    const mn_preview_scene *scene;
    mn_preview_lights *lights;
    float *extent; ///< of each triangle: its longest edge; negative when it is left out
    small_corners corners;
    float small; ///< triangles below this extent are drawn by their corners, in the sky's maps
} map_job;

typedef struct texel_point {
    float x, y, depth;
} texel_point;

static texel_point to_texels(const mn_preview_map *l, f3 p)
{
    return (texel_point){l->scale * f3_dot(l->u, p) + l->offset_u, l->scale * f3_dot(l->v, p) + l->offset_v,
                         f3_dot(l->direction, p)};
}

/// The texel must lie inside the empty border.
static void mark(const mn_preview_map *l, int32_t x, int32_t y, float depth)
{
    float *texel = &l->depth[(int64_t)y * l->side + x];
    if (depth > *texel) *texel = depth;
}

static void mark_at(const mn_preview_map *l, texel_point p)
{
    const float end = (float)(l->side - 1);
    if (p.x >= 1 && p.y >= 1 && p.x < end && p.y < end) mark(l, (int32_t)p.x, (int32_t)p.y, p.depth);
}

/// Texels whose centres lie in [low, high], cut to what is inside the empty border.
static void texel_range(float low, float high, int32_t side, int32_t *first, int32_t *last)
{
    const float end = (float)(side - 1);
    *first = (int32_t)ceilf(float_clamp(low - 0.5f, 1, end));
    *last = (int32_t)floorf(float_clamp(high - 0.5f, 0, end - 1));
}

static void fill_triangle(const mn_preview_map *l, const f3 corner[3])
{
    texel_point a = to_texels(l, corner[0]), b = to_texels(l, corner[1]), c = to_texels(l, corner[2]);
    const float area = (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
    mark_at(l,
            (texel_point){(a.x + b.x + c.x) / 3, (a.y + b.y + c.y) / 3, (a.depth + b.depth + c.depth) / 3});
    if (fabsf(area) < 1e-12f) return;
    const float inverse = 1.0f / area;
    const float low_depth = fminf(a.depth, fminf(b.depth, c.depth));
    const float high_depth = fmaxf(a.depth, fmaxf(b.depth, c.depth));
    int32_t x0, x1, y0, y1;
    texel_range(fminf(a.x, fminf(b.x, c.x)), fmaxf(a.x, fmaxf(b.x, c.x)), l->side, &x0, &x1);
    texel_range(fminf(a.y, fminf(b.y, c.y)), fmaxf(a.y, fmaxf(b.y, c.y)), l->side, &y0, &y1);
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            const float px = (float)x + 0.5f, py = (float)y + 0.5f;
            const float s = ((px - a.x) * (c.y - a.y) - (py - a.y) * (c.x - a.x)) * inverse;
            const float t = ((b.x - a.x) * (py - a.y) - (b.y - a.y) * (px - a.x)) * inverse;
            if (s < 0 || t < 0 || s + t > 1) continue;
            const float depth = a.depth + s * (b.depth - a.depth) + t * (c.depth - a.depth);
            mark(l, x, y, float_clamp(depth, low_depth, high_depth));
        }
}

static void draw_corners(const small_corners *corners, const mn_preview_map *l)
{
    enum { BATCH = 512 };
    float x[BATCH], y[BATCH], depth[BATCH];
    for (int64_t begin = 0; begin < corners->count; begin += BATCH) {
        const int64_t left = corners->count - begin;
        const int count = left < BATCH ? (int)left : BATCH;
        const float *px = corners->x + begin, *py = corners->y + begin, *pz = corners->z + begin;
        for (int i = 0; i < count; i++) {
            x[i] = l->scale * (l->u.x * px[i] + l->u.y * py[i] + l->u.z * pz[i]) + l->offset_u;
            y[i] = l->scale * (l->v.x * px[i] + l->v.y * py[i] + l->v.z * pz[i]) + l->offset_v;
            depth[i] = l->direction.x * px[i] + l->direction.y * py[i] + l->direction.z * pz[i];
        }
        for (int i = 0; i < count; i++) mark_at(l, (texel_point){x[i], y[i], depth[i]});
    }
}

static void draw_triangles(const map_job *job, const mn_preview_map *l)
{
    const mn_preview_scene *scene = job->scene;
    const bool sky = l != &job->lights->key;
    if (sky) draw_corners(&job->corners, l);
    for (int64_t i = 0; i < scene->triangle_count; i++) {
        if (job->extent[i] < (sky ? job->small : 0)) continue;
        const int32_t *point = scene->triangles[i].point;
        const f3 corner[3] = {scene->points[point[0]], scene->points[point[1]], scene->points[point[2]]};
        fill_triangle(l, corner);
    }
}

/// A fixed number in [0, 1) for each element (a multiplicative hash).
static float element_chance(int64_t index)
{
    const uint32_t hash = (uint32_t)index * 2654435769u;
    return (float)(hash >> 8) * (1.0f / 16777216.0f);
}

static void draw_sphere(const mn_preview_map *l, f3 center, float radius, float chance)
{
    const texel_point c = to_texels(l, center);
    const float r = radius * l->scale;
    if (r < 0.8f) {
        if (chance < r * r * 3.1416f) mark_at(l, (texel_point){c.x, c.y, c.depth + 0.5f * radius});
        return;
    }
    int32_t x0, x1, y0, y1;
    texel_range(c.x - r, c.x + r, l->side, &x0, &x1);
    texel_range(c.y - r, c.y + r, l->side, &y0, &y1);
    for (int32_t y = y0; y <= y1; y++)
        for (int32_t x = x0; x <= x1; x++) {
            if (c.depth + radius <= l->depth[(int64_t)y * l->side + x]) continue;
            const float dx = ((float)x + 0.5f - c.x) / r, dy = ((float)y + 0.5f - c.y) / r;
            const float square = dx * dx + dy * dy;
            if (square < 1) mark(l, x, y, c.depth + radius * sqrtf(1 - square));
        }
}

/// A tube is drawn as a row of spheres, a texel or a radius apart.
static void draw_tube(const mn_preview_map *l, const mn_preview_tube *tube, int64_t index)
{
    const texel_point a = to_texels(l, tube->end[0]), b = to_texels(l, tube->end[1]);
    const float r = tube->radius * l->scale, length = hypotf(b.x - a.x, b.y - a.y);
    const float step = fmaxf(0.7f, 0.35f * r);
    const int32_t steps = (int32_t)fminf(length / step, 8192.0f) + 1;
    for (int32_t k = 0; k <= steps; k++) {
        const f3 p = f3_lerp(tube->end[0], tube->end[1], (float)k / (float)steps);
        // Along a thin tube only the width decides the coverage of a texel.
        const float chance = element_chance(index * 8192 + k);
        if (r < 0.5f) {
            if (chance < 2 * r) mark_at(l, to_texels(l, p));
        } else {
            draw_sphere(l, p, tube->radius, 0);
        }
    }
}

static mn_status map_range(void *user, mn_range range)
{
    const map_job *job = user;
    for (int64_t k = range.begin; k < range.end; k++) {
        // The largest first, so that the others fill the time of the remaining workers.
        const mn_preview_map *l = k == 0 ? &job->lights->key : &job->lights->sky[k - 1];
        const int64_t texels = (int64_t)l->side * l->side;
        for (int64_t i = 0; i < texels; i++) l->depth[i] = -1e30f;
        draw_triangles(job, l);
        for (int64_t i = 0; i < job->scene->sphere_count; i++) {
            const mn_preview_sphere *s = &job->scene->spheres[i];
            if (s->radius > 0) draw_sphere(l, s->center, s->radius, element_chance(i));
        }
        for (int64_t i = 0; i < job->scene->tube_count; i++)
            if (job->scene->tubes[i].radius > 0) draw_tube(l, &job->scene->tubes[i], i);
    }
    return MN_OK;
}

static mn_status extent_range(void *user, mn_range range)
{
    const map_job *job = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t *point = job->scene->triangles[i].point;
        job->extent[i] = -1;
        if (point[0] < 0) continue;
        float square = 0;
        for (int k = 0; k < 3; k++) {
            const f3 d = f3_sub(job->scene->points[point[k]], job->scene->points[point[(k + 1) % 3]]);
            square = fmaxf(square, f3_dot(d, d));
        }
        job->extent[i] = sqrtf(square);
    }
    return MN_OK;
}

static mn_status list_small_corners(map_job *job)
{
    const mn_preview_scene *scene = job->scene;
    mn_arena *arena = scene->arena;
    const int64_t points = scene->point_count;
    uint8_t *small = mn_arena_array(arena, uint8_t, points + 1);
    small_corners *corners = &job->corners;
    corners->x = mn_arena_array(arena, float, points + 1);
    corners->y = mn_arena_array(arena, float, points + 1);
    corners->z = mn_arena_array(arena, float, points + 1);
    if (!small || !corners->x || !corners->y || !corners->z) return MN_ERROR_MEMORY;
    memset(small, 0, (size_t)points);
    for (int64_t i = 0; i < scene->triangle_count; i++)
        if (job->extent[i] >= 0 && job->extent[i] < job->small)
            for (int k = 0; k < 3; k++) small[scene->triangles[i].point[k]] = 1;
    for (int64_t i = 0; i < points; i++) {
        if (!small[i]) continue;
        const f3 p = scene->points[i];
        corners->x[corners->count] = p.x, corners->y[corners->count] = p.y, corners->z[corners->count] = p.z;
        corners->count++;
    }
    return MN_OK;
}

mn_status mn_preview_draw_depth_maps(const mn_preview_scene *scene, mn_preview_lights *lights)
{
    map_job job = {.scene = scene, .lights = lights, .small = 0.9f / lights->sky[0].scale};
    job.extent = mn_arena_array(scene->arena, float, scene->triangle_count + 1);
    if (!job.extent) return MN_ERROR_MEMORY;
    for (int k = 0; k <= MN_PREVIEW_SKY_COUNT; k++) {
        mn_preview_map *m = k == 0 ? &lights->key : &lights->sky[k - 1];
        m->depth = mn_arena_array(scene->arena, float, (int64_t)m->side * m->side);
        if (!m->depth) return MN_ERROR_MEMORY;
    }
    MN_TRY(mn_parallel_for(scene->ctx, scene->triangle_count, 4096, extent_range, &job));
    MN_TRY(list_small_corners(&job));
    return mn_parallel_for(scene->ctx, MN_PREVIEW_SKY_COUNT + 1, 1, map_range, &job);
}
