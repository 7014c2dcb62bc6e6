// SPDX-License-Identifier: Apache-2.0
//
// The scene on the screen. Corners snap to a grid of 1/256 sample, so that what two triangles share is the
// same for both. Triangles that reach behind the camera or far outside of the picture are cut first
// [sutherland1974]; a cut is computed from the inner to the outer corner, hence alike in both triangles of an
// edge.
#include "base/parallel.h"
#include "plugin/preview/arena.h"
#include "plugin/preview/raster.h"

#include <string.h>

static const float NEAR = 0.05f;        ///< scene radii in front of the camera
static const float LEAST_RADIUS = 0.5f; ///< pixels: thinner things are drawn as wide as this
enum { GRAIN = 4096 };

// ---- projection ----

static bool inside_guard(const mn_preview_raster *r, f3 p)
{
    return p.z >= NEAR && fabsf(p.x) * r->focal <= r->guard * p.z && fabsf(p.y) * r->focal <= r->guard * p.z;
}

static mn_preview_screen_point project(const mn_preview_raster *r, f3 p)
{
    const float inverse = 1.0f / p.z;
    const float x = r->center_x + r->focal * p.x * inverse, y = r->center_y - r->focal * p.y * inverse;
    return (mn_preview_screen_point){(int32_t)lrintf(x * MN_PREVIEW_SUBSAMPLE),
                                     (int32_t)lrintf(y * MN_PREVIEW_SUBSAMPLE), inverse};
}

static mn_status project_range(void *user, mn_range range)
{
    const mn_preview_raster *r = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const f3 p = r->scene->points[i];
        r->screen[i] = inside_guard(r, p) ? project(r, p) : (mn_preview_screen_point){INT32_MIN, 0, 0};
    }
    return MN_OK;
}

/// Positive inside: the near plane, then right, left, top and bottom of the guarded region.
static float plane_distance(const mn_preview_raster *r, f3 p, int plane)
{
    const float side = r->guard / r->focal * p.z;
    switch (plane) {
    case 0:
        return p.z - NEAR;
    case 1:
        return side - p.x;
    case 2:
        return side + p.x;
    case 3:
        return side - p.y;
    default:
        return side + p.y;
    }
}

static int32_t cut(const mn_preview_raster *r, int plane, const f3 *in, int32_t count, f3 *out)
{
    int32_t made = 0;
    for (int32_t i = 0; i < count; i++) {
        const f3 a = in[i], b = in[(i + 1) % count];
        const float da = plane_distance(r, a, plane), db = plane_distance(r, b, plane);
        if (da >= 0) out[made++] = a;
        if (da >= 0 && db < 0) out[made++] = f3_lerp(a, b, da / (da - db));
        if (da < 0 && db >= 0) out[made++] = f3_lerp(b, a, db / (db - da));
    }
    return made;
}

int32_t mn_preview_screen_corners(const mn_preview_raster *r, int64_t triangle,
                                  mn_preview_screen_point corners[MN_PREVIEW_CLIPPED_MAX])
{
    const int32_t *point = r->scene->triangles[triangle].point;
    if (point[0] < 0) return 0;
    bool whole = true;
    for (int k = 0; k < 3; k++) {
        corners[k] = r->screen[point[k]];
        whole = whole && corners[k].x != INT32_MIN;
    }
    if (whole) return 3;
    f3 a[MN_PREVIEW_CLIPPED_MAX + 1], b[MN_PREVIEW_CLIPPED_MAX + 1];
    for (int k = 0; k < 3; k++) a[k] = r->scene->points[point[k]];
    int32_t count = 3;
    for (int plane = 0; plane < 5 && count > 0; plane++) {
        count = cut(r, plane, a, count, b);
        memcpy(a, b, sizeof a);
    }
    for (int32_t k = 0; k < count; k++) {
        f3 p = a[k];
        p.z = fmaxf(p.z, NEAR);
        corners[k] = project(r, p);
    }
    return count;
}

// ---- spheres and tubes ----

float mn_preview_drawn_radius(const mn_preview_raster *r, const mn_preview_sphere *sphere)
{
    if (!(sphere->radius > 0) || sphere->center.z < NEAR) return 0;
    return fmaxf(sphere->radius, LEAST_RADIUS * (float)r->samples * sphere->center.z / r->focal);
}

/// x / z of the two tangents from the camera to a circle at (x, z); false when it reaches behind the camera.
static bool tangents(float x, float z, float radius, float *low, float *high)
{
    const float square = x * x + z * z - radius * radius;
    if (square <= 0) return false;
    const float t = sqrtf(square), near_low = z * t + radius * x, near_high = z * t - radius * x;
    if (near_low <= 0 || near_high <= 0) return false;
    *low = (x * t - radius * z) / near_low;
    *high = (x * t + radius * z) / near_high;
    return true;
}

static bool cut_box(const mn_preview_raster *r, float x0, float y0, float x1, float y1, int32_t box[4])
{
    if (!(x1 >= 0 && y1 >= 0 && x0 < (float)r->width && y0 < (float)r->height)) return false;
    box[0] = (int32_t)fmaxf(floorf(x0), 0);
    box[1] = (int32_t)fmaxf(floorf(y0), 0);
    box[2] = (int32_t)fminf(ceilf(x1), (float)(r->width - 1));
    box[3] = (int32_t)fminf(ceilf(y1), (float)(r->height - 1));
    return true;
}

bool mn_preview_sphere_box(const mn_preview_raster *r, const mn_preview_sphere *sphere, float radius,
                           int32_t box[4])
{
    if (!(radius > 0)) return false;
    const f3 c = sphere->center;
    float x0, x1, y0, y1;
    if (!tangents(c.x, c.z, radius, &x0, &x1) || !tangents(c.y, c.z, radius, &y0, &y1)) {
        const int32_t all[4] = {0, 0, r->width - 1, r->height - 1};
        memcpy(box, all, sizeof all);
        return true;
    }
    return cut_box(r, r->center_x + r->focal * x0, r->center_y - r->focal * y1, r->center_x + r->focal * x1,
                   r->center_y - r->focal * y0, box);
}

bool mn_preview_screen_tube_of(const mn_preview_raster *r, int64_t tube, mn_preview_screen_tube *screen)
{
    const mn_preview_tube *t = &r->scene->tubes[tube];
    if (!(t->radius > 0)) return false;
    f3 a = t->end[0], b = t->end[1];
    if (a.z < NEAR && b.z < NEAR) return false;
    if (a.z < NEAR) a = f3_lerp(b, a, (b.z - NEAR) / (b.z - a.z));
    if (b.z < NEAR) b = f3_lerp(a, b, (a.z - NEAR) / (a.z - b.z));
    const f3 end[2] = {a, b};
    screen->radius = t->radius;
    for (int k = 0; k < 2; k++) {
        screen->inverse_z[k] = 1.0f / fmaxf(end[k].z, NEAR);
        screen->x[k] = r->center_x + r->focal * end[k].x * screen->inverse_z[k];
        screen->y[k] = r->center_y - r->focal * end[k].y * screen->inverse_z[k];
        screen->half_width[k] =
            fmaxf(t->radius * r->focal * screen->inverse_z[k], LEAST_RADIUS * (float)r->samples);
    }
    return true;
}

float mn_preview_across_tube(const mn_preview_screen_tube *tube, float x, float y, float across[2],
                             float *along)
{
    const float dx = tube->x[1] - tube->x[0], dy = tube->y[1] - tube->y[0];
    const float square = dx * dx + dy * dy;
    float t = square > 0 ? ((x - tube->x[0]) * dx + (y - tube->y[0]) * dy) / square : 0;
    t = float_clamp(t, 0, 1);
    const float width = tube->half_width[0] + t * (tube->half_width[1] - tube->half_width[0]);
    across[0] = (x - tube->x[0] - t * dx) / width;
    across[1] = (y - tube->y[0] - t * dy) / width;
    *along = t;
    return across[0] * across[0] + across[1] * across[1];
}

// ---- tiles ----

/// The samples that an element may cover: x0 y0 x1 y1; false when there are none.
static bool element_box(const mn_preview_raster *r, int64_t element, int32_t box[4])
{
    const mn_preview_scene *scene = r->scene;
    if (element < scene->triangle_count) {
        mn_preview_screen_point corner[MN_PREVIEW_CLIPPED_MAX];
        const int32_t count = mn_preview_screen_corners(r, element, corner);
        if (count == 0) return false;
        int32_t x0 = INT32_MAX, y0 = INT32_MAX, x1 = INT32_MIN, y1 = INT32_MIN;
        for (int32_t k = 0; k < count; k++) {
            x0 = corner[k].x < x0 ? corner[k].x : x0, x1 = corner[k].x > x1 ? corner[k].x : x1;
            y0 = corner[k].y < y0 ? corner[k].y : y0, y1 = corner[k].y > y1 ? corner[k].y : y1;
        }
        const float step = MN_PREVIEW_SUBSAMPLE;
        return cut_box(r, (float)x0 / step, (float)y0 / step, (float)x1 / step, (float)y1 / step, box);
    }
    element -= scene->triangle_count;
    if (element < scene->sphere_count) {
        const mn_preview_sphere *sphere = &scene->spheres[element];
        return mn_preview_sphere_box(r, sphere, mn_preview_drawn_radius(r, sphere), box);
    }
    mn_preview_screen_tube tube;
    if (!mn_preview_screen_tube_of(r, element - scene->sphere_count, &tube)) return false;
    const float w = fmaxf(tube.half_width[0], tube.half_width[1]);
    return cut_box(r, fminf(tube.x[0], tube.x[1]) - w, fminf(tube.y[0], tube.y[1]) - w,
                   fmaxf(tube.x[0], tube.x[1]) + w, fmaxf(tube.y[0], tube.y[1]) + w, box);
}

typedef struct sorting {
    const mn_preview_raster *raster;
    int64_t *counts; ///< [chunk][tile], then where each chunk's items of each tile begin
    bool fill;
} sorting;

static mn_status sort_range(void *user, mn_range range)
{
    const sorting *s = user;
    const mn_preview_raster *r = s->raster;
    int64_t *counts = s->counts + range.chunk * r->tiles_x * r->tiles_y;
    for (int64_t i = range.begin; i < range.end; i++) {
        int32_t box[4];
        if (!element_box(r, i, box)) continue;
        for (int32_t ty = box[1] / r->tile; ty <= box[3] / r->tile; ty++)
            for (int32_t tx = box[0] / r->tile; tx <= box[2] / r->tile; tx++) {
                int64_t *count = &counts[ty * r->tiles_x + tx];
                if (s->fill) r->items[*count] = (uint32_t)i;
                ++*count;
            }
    }
    return MN_OK;
}

static mn_status sort_into_tiles(mn_preview_raster *r)
{
    const mn_preview_scene *scene = r->scene;
    const int64_t elements = scene->triangle_count + scene->sphere_count + scene->tube_count;
    const int64_t tiles = (int64_t)r->tiles_x * r->tiles_y;
    // Large chunks, since each has a count per tile.
    const int64_t grain = elements / 64 > 8 * GRAIN ? elements / 64 : 8 * GRAIN;
    const int64_t chunks = mn_chunk_count(elements, grain);
    sorting s = {.raster = r};
    const size_t bytes = mn_bytes(chunks * tiles + 1, sizeof *s.counts);
    s.counts = mn_arena_allocate(scene->arena, bytes);
    r->tile_starts = mn_arena_array(scene->arena, int64_t, tiles + 1);
    if (!s.counts || !r->tile_starts) return MN_ERROR_MEMORY;
    memset(s.counts, 0, bytes);
    MN_TRY(mn_parallel_for(scene->ctx, elements, grain, sort_range, &s));
    int64_t total = 0;
    for (int64_t t = 0; t < tiles; t++) {
        r->tile_starts[t] = total;
        for (int64_t c = 0; c < chunks; c++) {
            const int64_t count = s.counts[c * tiles + t];
            s.counts[c * tiles + t] = total;
            total += count;
        }
    }
    r->tile_starts[tiles] = total;
    r->items = mn_arena_array(scene->arena, uint32_t, total + 1);
    if (!r->items) return MN_ERROR_MEMORY;
    s.fill = true;
    return mn_parallel_for(scene->ctx, elements, grain, sort_range, &s);
}

mn_status mn_preview_raster_make(const mn_preview_scene *scene, const mn_preview_def *def,
                                 const mn_preview_view *view, mn_preview_raster *r)
{
    *r = (mn_preview_raster){.scene = scene, .samples = def->samples};
    r->width = def->width * def->samples, r->height = def->height * def->samples;
    r->tile = MN_PREVIEW_TILE / def->samples * def->samples;
    r->tiles_x = (r->width - 1) / r->tile + 1, r->tiles_y = (r->height - 1) / r->tile + 1;
    r->focal = (float)(view->focal * def->samples);
    r->guard = fmaxf(16384.0f, (float)(r->width > r->height ? r->width : r->height));
    r->center_x = 0.5f * (float)r->width, r->center_y = 0.5f * (float)r->height;
    r->screen = mn_arena_array(scene->arena, mn_preview_screen_point, scene->point_count + 1);
    if (!r->screen) return MN_ERROR_MEMORY;
    MN_TRY(mn_parallel_for(scene->ctx, scene->point_count, GRAIN, project_range, r));
    return sort_into_tiles(r);
}
