// SPDX-License-Identifier: Apache-2.0
//
// How much light arrives at a point.
//
//   E = L_key w(x) max(0, n.d) + sum over the sky of L_k V_k(x) max(0, n.d_k) + bounce of the ground
//
// V_k comes from the depth map of that part of the sky, bilinearly; what stands close by hides all of it,
// what stands farther away less, since its shadows from so few directions would show one by one. The key
// light has a size: blockers found around the point tell how far away they are, hence how wide the penumbra
// is, and w is the visible share of a disc of that width [fernando2005]. Discs are sampled along Vogel's
// spiral, which has no directions to band in.
#include "plugin/preview/lights.h"
#include "base/parallel.h"
#include "plugin/preview/arena.h"

enum { KEY_SIDE = 1536, SKY_SIDE = 192 };

static const float MAP_RADIUS = 1.06f;   ///< of the scene's radius
static const float KEY_TANGENT = 0.10f;  ///< of the key light's half angle, as seen from the scene
static const float KEY_REACH = 1.2f;     ///< blockers beyond this distance cast the widest penumbra
static const float KEY_STRENGTH = 0.95f; ///< what a surface facing the key light receives
static const float SKY_STRENGTH = 0.62f; ///< what an open horizontal surface receives from the sky
static const float GROUND_ALBEDO = 0.62f;
static const float BOUNCE_HEIGHT = 0.30f; ///< above the ground, where half of its bounce arrives
static const float GOLDEN_ANGLE = 2.39996323f;

// ---- the rig ----

static void frame_map(mn_preview_map *m, f3 direction, const mn_preview_view *view, int32_t side)
{
    mn_vec3 u, v;
    mn_frame(mn_v3((double)direction.x, (double)direction.y, (double)direction.z), &u, &v);
    const f3 center = {(float)view->center.x, (float)view->center.y, (float)view->center.z};
    m->direction = direction;
    m->u = (f3){(float)u.x, (float)u.y, (float)u.z};
    m->v = (f3){(float)v.x, (float)v.y, (float)v.z};
    m->side = side;
    m->scale = (float)side / (2 * MAP_RADIUS);
    m->offset_u = 0.5f * (float)side - m->scale * f3_dot(m->u, center);
    m->offset_v = 0.5f * (float)side - m->scale * f3_dot(m->v, center);
}

/// A direction by its angles around the rig: right of the camera's side, above the ground.
static f3 rig_direction(const mn_preview_lights *rig, float azimuth, float elevation)
{
    const float level = cosf(elevation);
    const f3 across =
        f3_add(f3_scale(level * sinf(azimuth), rig->right), f3_scale(level * cosf(azimuth), rig->front));
    return f3_axpy(across, sinf(elevation), rig->up);
}

static void put_axis(mn_preview_sky_axes *axes, int k, f3 axis)
{
    axes->x[k] = axis.x, axes->y[k] = axis.y, axes->z[k] = axis.z;
}

static void place_sky(mn_preview_lights *rig, const mn_preview_view *view)
{
    float received = 0;
    for (int k = 0; k < MN_PREVIEW_SKY_COUNT; k++) {
        // Even over the hemisphere but for its lowest part.
        const float height = 0.12f + 0.86f * ((float)k + 0.5f) / MN_PREVIEW_SKY_COUNT;
        frame_map(&rig->sky[k], rig_direction(rig, GOLDEN_ANGLE * (float)k, asinf(height)), view, SKY_SIDE);
        put_axis(&rig->direction, k, rig->sky[k].direction);
        put_axis(&rig->u, k, rig->sky[k].u);
        put_axis(&rig->v, k, rig->sky[k].v);
        rig->offset_u[k] = rig->sky[k].offset_u, rig->offset_v[k] = rig->sky[k].offset_v;
        rig->sky_weight[k] = 0.7f + 0.6f * height; // brighter overhead
        received += rig->sky_weight[k] * height;
    }
    for (int k = 0; k < MN_PREVIEW_SKY_COUNT; k++) rig->sky_weight[k] /= received;
    rig->sky_radiance = f3_scale(SKY_STRENGTH, (f3){0.94f, 0.99f, 1.08f});
}

/// n points on a disc of radius 1, their distance from its centre growing as the given power.
static void spiral(float (*points)[2], int n, float power)
{
    for (int k = 0; k < n; k++) {
        const float radius = powf(((float)k + 0.5f) / (float)n, power), angle = GOLDEN_ANGLE * (float)k;
        points[k][0] = radius * cosf(angle), points[k][1] = radius * sinf(angle);
    }
}

// ---- visibility ----

static inline float between(float a, float b, float c, float d, float s, float t)
{
    const float low = a + s * (b - a), high = c + s * (d - c);
    return low + t * (high - low);
}

/// The share of four texels that lie no higher than `depth`, weighted bilinearly.
static inline float compare(const float *row, int32_t side, float s, float t, float depth)
{
    const float *next = row + side;
    return between(row[0] <= depth ? 1.0f : 0.0f, row[1] <= depth ? 1.0f : 0.0f,
                   next[0] <= depth ? 1.0f : 0.0f, next[1] <= depth ? 1.0f : 0.0f, s, t);
}

/// The visible share of a light at the texel (x, y) of its map.
static inline float visible(const mn_preview_map *m, float x, float y, float depth)
{
    const float last = (float)m->side - 1.5f;
    x = float_clamp(x - 0.5f, 0, last), y = float_clamp(y - 0.5f, 0, last);
    const int32_t i = (int32_t)x, j = (int32_t)y;
    return compare(m->depth + (int64_t)j * m->side + i, m->side, x - (float)i, y - (float)j, depth);
}

static float nearest_depth(const mn_preview_map *m, float x, float y)
{
    const float last = (float)m->side - 1;
    const int32_t i = (int32_t)float_clamp(x, 0, last), j = (int32_t)float_clamp(y, 0, last);
    return m->depth[(int64_t)j * m->side + i];
}

static float key_visible(const mn_preview_lights *rig, f3 position, f3 normal)
{
    const mn_preview_map *m = &rig->key;
    const float texel = 1 / m->scale, widest = KEY_TANGENT * KEY_REACH * m->scale;
    const f3 p = f3_axpy(position, 1.5f * texel, normal);
    const float px = m->scale * f3_dot(m->u, p) + m->offset_u, py = m->scale * f3_dot(m->v, p) + m->offset_v;
    const float depth = f3_dot(m->direction, p) + texel, end = (float)m->side + widest;
    if (!(px > -widest && py > -widest && px < end && py < end)) return 1;
    // The surface's own depth changes across the disc: per texel, as long as it faces the light at all.
    const float facing = fmaxf(f3_dot(normal, m->direction), 0.2f);
    const float slope_x = -f3_dot(normal, m->u) / facing * texel,
                slope_y = -f3_dot(normal, m->v) / facing * texel;
    float distance = 0;
    int blockers = 0;
    for (int k = 0; k < MN_PREVIEW_SEARCH_TAPS; k++) {
        const float x = rig->search[k][0] * widest, y = rig->search[k][1] * widest;
        const float blocker = nearest_depth(m, px + x, py + y);
        if (blocker <= depth + slope_x * x + slope_y * y) continue;
        // A blocker shades this point only if it stands within the light's cone.
        const float cone = KEY_TANGENT * (blocker - depth) * m->scale + 1.5f;
        if (x * x + y * y > cone * cone) continue;
        distance += blocker - depth;
        blockers++;
    }
    if (blockers == 0) return visible(m, px, py, depth);
    const float width = float_clamp(KEY_TANGENT * distance / (float)blockers * m->scale, 1.5f, widest);
    float sum = 0;
    for (int k = 0; k < MN_PREVIEW_PENUMBRA_TAPS; k++) {
        const float x = rig->penumbra[k][0] * width, y = rig->penumbra[k][1] * width;
        sum += visible(m, px + x, py + y, depth + slope_x * x + slope_y * y);
    }
    return sum / MN_PREVIEW_PENUMBRA_TAPS;
}

/// What the sky sends: the sum of weights times cosines over all of it, and over what is visible.
static void sky_light(const mn_preview_lights *rig, f3 position, f3 normal, float *open, float *seen)
{
    enum { N = MN_PREVIEW_SKY_COUNT };
    const int32_t side = rig->sky[0].side;
    const float scale = rig->sky[0].scale, texel = 1 / scale, last = (float)side - 1.5f;
    const f3 p = f3_axpy(position, 1.5f * texel, normal);
    float s[N], t[N], depth[N], share[N];
    int32_t place[N];
    // Where the point falls in each map, and between which texels.
    for (int k = 0; k < N; k++) {
        const float x =
            scale * (rig->u.x[k] * p.x + rig->u.y[k] * p.y + rig->u.z[k] * p.z) + rig->offset_u[k];
        const float y =
            scale * (rig->v.x[k] * p.x + rig->v.y[k] * p.y + rig->v.z[k] * p.z) + rig->offset_v[k];
        const float cx = float_clamp(x - 0.5f, 0, last), cy = float_clamp(y - 0.5f, 0, last);
        const int32_t i = (int32_t)cx, j = (int32_t)cy;
        s[k] = cx - (float)i, t[k] = cy - (float)j;
        place[k] = j * side + i;
        depth[k] = rig->direction.x[k] * p.x + rig->direction.y[k] * p.y + rig->direction.z[k] * p.z + texel;
        const float cosine =
            rig->direction.x[k] * normal.x + rig->direction.y[k] * normal.y + rig->direction.z[k] * normal.z;
        share[k] = cosine > 0 ? cosine * rig->sky_weight[k] : 0;
    }
    float all = 0, rest = 0;
    for (int k = 0; k < N; k++) {
        all += share[k];
        if (share[k] > 0)
            rest += share[k] * compare(rig->sky[k].depth + place[k], side, s[k], t[k], depth[k]);
    }
    *open = all, *seen = rest;
}

mn_preview_light_sample mn_preview_light_at(const mn_preview_lights *rig, f3 position, f3 normal)
{
    mn_preview_light_sample sample = {{0, 0, 0}, 0, 1};
    float open, seen;
    sky_light(rig, position, normal, &open, &seen);
    sample.irradiance = f3_scale(seen, rig->sky_radiance);
    if (open > 0) sample.sky = seen / open;
    const float facing = f3_dot(normal, rig->key.direction);
    if (facing > -0.1f) sample.key = key_visible(rig, position, normal);
    if (facing > 0) sample.irradiance = f3_axpy(sample.irradiance, facing * sample.key, rig->key_radiance);
    // The ground lights surfaces that look down, less where they stand close to it in their own shadow.
    const float down = 0.5f - 0.5f * f3_dot(normal, rig->up);
    const float height = fmaxf(f3_dot(rig->up, position) - rig->ground, 0.0f);
    const float reach = rig->has_ground ? height / (height + BOUNCE_HEIGHT) : 0.7f;
    sample.irradiance = f3_axpy(sample.irradiance, GROUND_ALBEDO * down * reach, rig->open);
    return sample;
}

// ---- the ground ----

static mn_status ground_rows(void *user, mn_range range)
{
    mn_preview_lights *rig = user;
    const float step = 2 * MN_PREVIEW_GROUND_FAR / (MN_PREVIEW_GROUND_SIDE - 1);
    for (int64_t j = range.begin; j < range.end; j++)
        for (int64_t i = 0; i < MN_PREVIEW_GROUND_SIDE; i++) {
            const f3 row = f3_axpy(rig->ground_center, (float)j * step - MN_PREVIEW_GROUND_FAR, rig->front);
            const f3 p = f3_axpy(row, (float)i * step - MN_PREVIEW_GROUND_FAR, rig->right);
            float open;
            sky_light(rig, p, rig->up, &open, &rig->ground_sky[j * MN_PREVIEW_GROUND_SIDE + i]);
        }
    return MN_OK;
}

f3 mn_preview_ground_light(const mn_preview_lights *rig, f3 position)
{
    const float nodes = (MN_PREVIEW_GROUND_SIDE - 1) / (2 * MN_PREVIEW_GROUND_FAR);
    const float last = MN_PREVIEW_GROUND_SIDE - 1.001f;
    const f3 d = f3_sub(position, rig->ground_center);
    const float x = float_clamp((f3_dot(d, rig->right) + MN_PREVIEW_GROUND_FAR) * nodes, 0, last);
    const float y = float_clamp((f3_dot(d, rig->front) + MN_PREVIEW_GROUND_FAR) * nodes, 0, last);
    const int32_t i = (int32_t)x, j = (int32_t)y;
    const float s = x - (float)i, t = y - (float)j;
    const float *row = rig->ground_sky + j * MN_PREVIEW_GROUND_SIDE + i, *next = row + MN_PREVIEW_GROUND_SIDE;
    const float low = row[0] + s * (row[1] - row[0]), high = next[0] + s * (next[1] - next[0]);
    const float key = f3_dot(rig->up, rig->key.direction) * key_visible(rig, position, rig->up);
    return f3_add(f3_scale(low + t * (high - low), rig->sky_radiance), f3_scale(key, rig->key_radiance));
}

// ---- reflections ----

f3 mn_preview_environment(const mn_preview_lights *rig, f3 direction, float key_share)
{
    const float height = f3_dot(direction, rig->up);
    const f3 above = f3_lerp((f3){0.80f, 0.83f, 0.88f}, (f3){0.42f, 0.47f, 0.55f}, float_clamp(height, 0, 1));
    const f3 below = {0.50f, 0.49f, 0.47f};
    f3 light = f3_lerp(below, above, float_smoothstep(-0.08f, 0.08f, height));
    // The key light's soft box, and a tall strip behind the scene.
    const float key = float_smoothstep(0.935f, 0.975f, f3_dot(direction, rig->key.direction));
    light = f3_axpy(light, 9.0f * key * key_share, (f3){1.04f, 1.0f, 0.94f});
    const f3 level = f3_normalize_or(f3_axpy(direction, -height, rig->up), rig->right);
    const float strip = float_smoothstep(0.93f, 0.98f, f3_dot(level, rig->rim)) *
                        float_smoothstep(0.0f, 0.15f, height) * float_smoothstep(0.95f, 0.75f, height);
    return f3_axpy(light, 2.2f * strip, (f3){0.92f, 0.97f, 1.06f});
}

mn_status mn_preview_lights_make(const mn_preview_scene *scene, const mn_preview_view *view,
                                 mn_preview_lights *rig)
{
    rig->up = (f3){(float)view->up.x, (float)view->up.y, (float)view->up.z};
    rig->right = (f3){1, 0, 0};
    // Towards the camera along the ground: what is left of -z once its part along `up` is taken away.
    rig->front = f3_normalize_or(f3_axpy((f3){0, 0, -1}, rig->up.z, rig->up), (f3){0, 1, 0});
    rig->ground = (float)view->ground;
    rig->has_ground = view->has_ground;
    rig->rim = rig_direction(rig, 2.2f, 0.0f);
    frame_map(&rig->key, rig_direction(rig, -0.72f, 0.90f), view, KEY_SIDE);
    rig->key_radiance = f3_scale(KEY_STRENGTH, (f3){1.04f, 1.0f, 0.94f});
    place_sky(rig, view);
    rig->open = f3_axpy(rig->sky_radiance, f3_dot(rig->up, rig->key.direction), rig->key_radiance);
    spiral(rig->search, MN_PREVIEW_SEARCH_TAPS, 1.0f); // denser inside, to find what stands close by
    spiral(rig->penumbra, MN_PREVIEW_PENUMBRA_TAPS, 0.5f);
    MN_TRY(mn_preview_draw_depth_maps(scene, rig));
    if (!rig->has_ground) return MN_OK;
    const f3 center = {(float)view->center.x, (float)view->center.y, (float)view->center.z};
    rig->ground_center = f3_axpy(center, rig->ground - f3_dot(rig->up, center), rig->up);
    rig->ground_sky = mn_arena_array(scene->arena, float, MN_PREVIEW_GROUND_SIDE *MN_PREVIEW_GROUND_SIDE);
    if (!rig->ground_sky) return MN_ERROR_MEMORY;
    return mn_parallel_for(scene->ctx, MN_PREVIEW_GROUND_SIDE, 8, ground_rows, rig);
}
