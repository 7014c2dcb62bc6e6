// SPDX-License-Identifier: Apache-2.0
//
// Colour of a sample: albedo times what arrives, plus a mirror's picture of the studio by Fresnel's share
//
//   F = F_0 + (1 - F_0) (1 - n.v)^5                                                    [schlick1994]
//
// The light at a point changes little within a pixel, so samples of a pixel that lie close together with
// nearly the same normal share it. The ground shows as the background times the share of light that is left
// to it, and fades out with distance: a studio without a horizon.
#include "plugin/preview/shade.h"

static const float MIRROR = 0.04f;       ///< F_0 of water and most plastics
static const float ALIKE_COSINE = 0.95f; ///< normals of samples that share their light
static const float GROUND_NEAR = 1.3f;   ///< scene radii from its middle where the ground starts to fade out

/// What a sample sees.
typedef struct sight {
    bool ground;
    f3 position, normal, color;
    float gloss; ///< 1, less for things as small as a pixel, whose highlights would sparkle
} sight;

typedef struct lit_place {
    f3 position, normal;
    mn_preview_light_sample light;
} lit_place;

// ---- what a sample sees ----

static void see_triangle(const mn_preview_scene *scene, int64_t index, sight *s)
{
    const int32_t *point = scene->triangles[index].point;
    const mn_preview_corners *corner = &scene->corners[index];
    const f3 a = scene->points[point[0]];
    const f3 e = f3_sub(scene->points[point[1]], a), f = f3_sub(scene->points[point[2]], a);
    const f3 normal = f3_cross(e, f), p = f3_sub(s->position, a);
    const float square = f3_dot(normal, normal), inverse = square > 0 ? 1.0f / square : 0.0f;
    // Barycentric coordinates, cut to the triangle: thin ones are drawn a little beyond their edges.
    float b = float_clamp(f3_dot(f3_cross(p, f), normal) * inverse, 0, 1);
    float c = float_clamp(f3_dot(f3_cross(e, p), normal) * inverse, 0, 1);
    if (b + c > 1) {
        const float sum = b + c;
        b /= sum, c /= sum;
    }
    const float weight[3] = {1 - b - c, b, c};
    f3 n = {0, 0, 0}, color = {0, 0, 0};
    for (int k = 0; k < 3; k++) {
        n = f3_axpy(n, weight[k], f3_unpack_normal(corner->normal[k]));
        color = f3_axpy(color, weight[k], f3_unpack_color(corner->color[k]));
    }
    s->normal = f3_normalize_or(n, f3_normalize_or(normal, (f3){0, 0, -1}));
    s->color = color;
    s->gloss = 1;
}

static void see_sphere(const mn_preview_raster *r, const mn_preview_sphere *sphere, sight *s)
{
    s->normal = f3_normalize_or(f3_sub(s->position, sphere->center), (f3){0, 0, -1});
    s->color = f3_unpack_color(sphere->color);
    const float pixels = sphere->radius * r->focal / (sphere->center.z * (float)r->samples);
    s->gloss = float_smoothstep(0.5f, 3.0f, pixels);
}

static void see_tube(const mn_preview_raster *r, int64_t index, int32_t x, int32_t y, sight *s)
{
    const mn_preview_tube *tube = &r->scene->tubes[index];
    mn_preview_screen_tube screen;
    s->normal = (f3){0, 0, -1};
    s->color = f3_unpack_color(tube->color[0]);
    s->gloss = 0;
    if (!mn_preview_screen_tube_of(r, index, &screen)) return;
    float across[2], along;
    const float square = mn_preview_across_tube(&screen, (float)x + 0.5f, (float)y + 0.5f, across, &along);
    s->normal = (f3){across[0], -across[1], -sqrtf(fmaxf(1 - square, 0))};
    s->color = f3_lerp(s->color, f3_unpack_color(tube->color[1]), along);
    s->gloss = float_smoothstep(0.5f, 3.0f, screen.half_width[0] / (float)r->samples);
}

/// False when there is nothing but background.
static bool see(const mn_preview_shading *shading, const mn_preview_tile *tile, int32_t x, int32_t y,
                sight *s)
{
    const mn_preview_raster *r = shading->raster;
    const mn_preview_scene *scene = r->scene;
    const int32_t at = y * MN_PREVIEW_TILE + x;
    const f3 ray = mn_preview_ray(r, tile->x + x, tile->y + y);
    float inverse_z = tile->inverse_z[at];
    s->ground = false;
    if (shading->lights->has_ground) {
        // dot(up, ray z) = ground
        const float ground = f3_dot(shading->lights->up, ray) / shading->lights->ground;
        if (ground > inverse_z) inverse_z = ground, s->ground = true;
    }
    if (!(inverse_z > 0)) return false;
    s->position = f3_scale(1.0f / inverse_z, ray);
    if (s->ground) {
        s->normal = shading->lights->up;
        return true;
    }
    const int64_t element = tile->element[at];
    const int64_t sphere = element - scene->triangle_count, tube = sphere - scene->sphere_count;
    if (sphere < 0)
        see_triangle(scene, element, s);
    else if (tube < 0)
        see_sphere(r, &scene->spheres[sphere], s);
    else
        see_tube(r, tube, tile->x + x, tile->y + y, s);
    if (f3_dot(s->normal, ray) > 0) s->normal = f3_scale(-1, s->normal);
    return true;
}

// ---- its colour ----

static f3 background(const mn_preview_raster *r, int32_t x, int32_t y)
{
    const float u = ((float)x + 0.5f) / (float)r->width - 0.5f,
                v = ((float)y + 0.5f) / (float)r->height - 0.5f;
    const float edge = float_smoothstep(0.15f, 0.85f, sqrtf(u * u * 1.2f + (v - 0.12f) * (v - 0.12f)));
    return f3_lerp((f3){0.775f, 0.765f, 0.750f}, (f3){0.470f, 0.475f, 0.485f}, edge);
}

/// Linear up to three quarters, then bending towards 1.
static float shoulder(float x)
{
    return x < 0.75f ? x : 1.0f - 0.25f * expf((0.75f - x) / 0.25f);
}

static f3 surface_color(const mn_preview_lights *lights, const sight *s, const mn_preview_light_sample *light)
{
    const f3 view = f3_normalize_or(f3_scale(-1, s->position), (f3){0, 0, -1});
    const float facing = fmaxf(f3_dot(s->normal, view), 0.0f);
    const float away = 1 - facing, square = away * away;
    const float fresnel = (MIRROR + (1 - MIRROR) * square * square * away) * s->gloss;
    const f3 mirrored = f3_axpy(f3_scale(-1, view), 2 * facing, s->normal);
    const f3 studio = mn_preview_environment(lights, mirrored, light->key);
    const f3 diffuse = f3_scale(1 - fresnel, f3_mul(s->color, light->irradiance));
    const f3 c = f3_axpy(diffuse, fresnel * (0.25f + 0.75f * light->sky), studio);
    return (f3){shoulder(c.x), shoulder(c.y), shoulder(c.z)};
}

/// The share of the open ground's light that is left here.
static f3 ground_share(const mn_preview_lights *lights, f3 position)
{
    const float distance = f3_length(f3_sub(position, lights->ground_center));
    const float fade = float_smoothstep(MN_PREVIEW_GROUND_FAR, GROUND_NEAR, distance);
    if (fade <= 0) return (f3){1, 1, 1};
    const f3 open = lights->open, e = mn_preview_ground_light(lights, position);
    const f3 share = {fminf(e.x / open.x, 1), fminf(e.y / open.y, 1), fminf(e.z / open.z, 1)};
    return f3_lerp((f3){1, 1, 1}, share, fade);
}

/// The light at what the sample sees, from a place of this pixel that is alike when there is one.
static const mn_preview_light_sample *light_of(const mn_preview_shading *shading, const sight *s,
                                               lit_place *places, int32_t *count)
{
    const float pixel = 2.5f * s->position.z * (float)shading->raster->samples / shading->raster->focal;
    for (int32_t k = 0; k < *count; k++) {
        const f3 apart = f3_sub(places[k].position, s->position);
        if (f3_dot(places[k].normal, s->normal) > ALIKE_COSINE && f3_dot(apart, apart) < pixel * pixel)
            return &places[k].light;
    }
    lit_place *place = &places[(*count)++];
    *place =
        (lit_place){s->position, s->normal, mn_preview_light_at(shading->lights, s->position, s->normal)};
    return &place->light;
}

static float srgb(float x)
{
    x = float_clamp(x, 0, 1);
    return x <= 0.0031308f ? 12.92f * x : 1.055f * powf(x, 1 / 2.4f) - 0.055f;
}

/// What the sample adds to its pixel: colour, and coverage in *alpha.
static f3 shade_sample(const mn_preview_shading *shading, const mn_preview_tile *tile, int32_t x, int32_t y,
                       lit_place *places, int32_t *place_count, float *alpha)
{
    sight s;
    *alpha = 1;
    const bool seen = see(shading, tile, x, y, &s);
    if (seen && !s.ground)
        return surface_color(shading->lights, &s, light_of(shading, &s, places, place_count));
    const f3 share = seen ? ground_share(shading->lights, s.position) : (f3){1, 1, 1};
    if (!shading->transparent) return f3_mul(share, background(shading->raster, tile->x + x, tile->y + y));
    *alpha = 1 - (share.x + share.y + share.z) / 3; // a black veil
    return (f3){0, 0, 0};
}

/// Samples of one triangle or of the empty ground within a pixel look alike; those of a small sphere do not.
static bool same_sight(const mn_preview_shading *shading, const mn_preview_tile *tile, int32_t at,
                       int32_t before)
{
    return before >= 0 && tile->element[at] == tile->element[before] &&
           (tile->element[at] == MN_PREVIEW_NOTHING ||
            (int64_t)tile->element[at] < shading->raster->scene->triangle_count);
}

static void shade_pixel(const mn_preview_shading *shading, const mn_preview_tile *tile, int32_t x, int32_t y,
                        uint8_t *rgba)
{
    enum { PLACES = 64 }; // a pixel has at most 8 x 8 samples
    lit_place places[PLACES];
    int32_t place_count = 0, before = -1;
    const int32_t samples = shading->raster->samples;
    f3 sum = {0, 0, 0}, color = {0, 0, 0};
    float alpha = 0, covered = 0;
    for (int32_t j = 0; j < samples; j++)
        for (int32_t i = 0; i < samples; i++) {
            const int32_t sx = x * samples + i, sy = y * samples + j, at = sy * MN_PREVIEW_TILE + sx;
            if (!same_sight(shading, tile, at, before))
                color = shade_sample(shading, tile, sx, sy, places, &place_count, &covered);
            before = at;
            sum = f3_add(sum, color);
            alpha += covered;
        }
    const float area = (float)(samples * samples), weight = shading->transparent ? alpha : area;
    const float scale = weight > 0 ? 1.0f / weight : 0.0f;
    const float rgb[3] = {sum.x * scale, sum.y * scale, sum.z * scale};
    for (int k = 0; k < 3; k++) rgba[k] = (uint8_t)(srgb(rgb[k]) * 255.0f + 0.5f);
    rgba[3] = shading->transparent ? (uint8_t)(alpha / area * 255.0f + 0.5f) : 255;
}

void mn_preview_shade_tile(const mn_preview_shading *shading, const mn_preview_tile *tile,
                           mn_picture *picture)
{
    const int32_t samples = shading->raster->samples;
    const int32_t first_x = tile->x / samples, first_y = tile->y / samples;
    for (int32_t y = 0; y < tile->height / samples; y++)
        for (int32_t x = 0; x < tile->width / samples; x++) {
            const int64_t pixel = (int64_t)(first_y + y) * picture->width + first_x + x;
            shade_pixel(shading, tile, x, y, picture->rgba + 4 * pixel);
        }
}
