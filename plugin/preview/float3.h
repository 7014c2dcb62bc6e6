// SPDX-License-Identifier: Apache-2.0
//
// Three floats by value, and the two packings that the renderer keeps per corner: unit normals as octahedral
// coordinates [cigolle2014] and colours as square roots, ten bits each.
#ifndef MENISCUS_PLUGIN_PREVIEW_FLOAT3_H
#define MENISCUS_PLUGIN_PREVIEW_FLOAT3_H

#include <math.h>
#include <stdint.h>

typedef struct f3 {
    float x, y, z;
} f3;

static inline f3 f3_add(f3 a, f3 b)
{
    return (f3){a.x + b.x, a.y + b.y, a.z + b.z};
}
static inline f3 f3_sub(f3 a, f3 b)
{
    return (f3){a.x - b.x, a.y - b.y, a.z - b.z};
}
static inline f3 f3_mul(f3 a, f3 b)
{
    return (f3){a.x * b.x, a.y * b.y, a.z * b.z};
}
static inline f3 f3_scale(float s, f3 a)
{
    return (f3){s * a.x, s * a.y, s * a.z};
}
/// a + s b
static inline f3 f3_axpy(f3 a, float s, f3 b)
{
    return (f3){a.x + s * b.x, a.y + s * b.y, a.z + s * b.z};
}
static inline f3 f3_lerp(f3 a, f3 b, float t)
{
    return f3_axpy(a, t, f3_sub(b, a));
}
static inline float f3_dot(f3 a, f3 b)
{
    return a.x * b.x + a.y * b.y + a.z * b.z;
}
static inline f3 f3_cross(f3 a, f3 b)
{
    return (f3){a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}
static inline float f3_length(f3 a)
{
    return sqrtf(f3_dot(a, a));
}
/// a / |a|, or `otherwise` for a vector too short to have a direction.
static inline f3 f3_normalize_or(f3 a, f3 otherwise)
{
    const float n = f3_length(a);
    return n > 1e-30f ? f3_scale(1.0f / n, a) : otherwise;
}
/// NaN gives `low`.
static inline float float_clamp(float x, float low, float high)
{
    return x > low ? (x < high ? x : high) : low;
}
/// 0 below `a`, 1 above `b`, a smooth cubic between.
static inline float float_smoothstep(float a, float b, float x)
{
    const float t = float_clamp((x - a) / (b - a), 0.0f, 1.0f);
    return t * t * (3.0f - 2.0f * t);
}

/// Colours in [0, 1], linear light; others are clamped.
static inline uint32_t f3_pack_color(f3 c)
{
    const uint32_t r = (uint32_t)(sqrtf(float_clamp(c.x, 0, 1)) * 1023.0f + 0.5f);
    const uint32_t g = (uint32_t)(sqrtf(float_clamp(c.y, 0, 1)) * 1023.0f + 0.5f);
    const uint32_t b = (uint32_t)(sqrtf(float_clamp(c.z, 0, 1)) * 1023.0f + 0.5f);
    return r | g << 10 | b << 20;
}
static inline f3 f3_unpack_color(uint32_t packed)
{
    const float r = (float)(packed & 1023) * (1.0f / 1023.0f);
    const float g = (float)(packed >> 10 & 1023) * (1.0f / 1023.0f);
    const float b = (float)(packed >> 20 & 1023) * (1.0f / 1023.0f);
    return (f3){r * r, g * g, b * b};
}

static inline uint32_t f3_pack_normal(f3 n)
{
    const float sum = fabsf(n.x) + fabsf(n.y) + fabsf(n.z);
    const float s = sum > 0 ? 1.0f / sum : 0.0f;
    float u = n.x * s, v = n.y * s;
    if (n.z < 0) {
        const float fold_u = (1.0f - fabsf(v)) * (u < 0 ? -1.0f : 1.0f);
        v = (1.0f - fabsf(u)) * (v < 0 ? -1.0f : 1.0f);
        u = fold_u;
    }
    const uint32_t a = (uint32_t)(int32_t)lrintf(u * 32767.0f) & 0xffffu;
    const uint32_t b = (uint32_t)(int32_t)lrintf(v * 32767.0f) & 0xffffu;
    return a | b << 16;
}
/// Of unit length.
static inline f3 f3_unpack_normal(uint32_t packed)
{
    const float u = (float)(int16_t)(uint16_t)(packed & 0xffffu) * (1.0f / 32767.0f);
    const float v = (float)(int16_t)(uint16_t)(packed >> 16) * (1.0f / 32767.0f);
    f3 n = {u, v, 1.0f - fabsf(u) - fabsf(v)};
    if (n.z < 0) {
        n.x = (1.0f - fabsf(v)) * (u < 0 ? -1.0f : 1.0f);
        n.y = (1.0f - fabsf(u)) * (v < 0 ? -1.0f : 1.0f);
    }
    return f3_scale(1.0f / f3_length(n), n);
}

#endif
