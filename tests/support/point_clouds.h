// SPDX-License-Identifier: Apache-2.0
//
// Points on surfaces and curves with known answers, even or jittered, for the tests of the film solver.
#ifndef MENISCUS_TESTS_SUPPORT_POINT_CLOUDS_H
#define MENISCUS_TESTS_SUPPORT_POINT_CLOUDS_H

#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"

#define CLOUD_PI 3.14159265358979323846

typedef struct point_cloud {
    int64_t count;
    double spacing; ///< m, mean distance of neighbours
    mn_vec3 *x;
    mn_vec3 *toward; ///< normals, or tangents of a curve
} point_cloud;

static inline point_cloud cloud_allocate(int64_t count)
{
    point_cloud c = {.count = count};
    c.x = malloc(sizeof *c.x * (size_t)count);
    c.toward = malloc(sizeof *c.toward * (size_t)count);
    return c;
}

static inline void cloud_free(point_cloud *c)
{
    free(c->x), free(c->toward);
}

/// Two random numbers in [-1, 1] times the amount.
static inline mn_vec3 cloud_jitter(int64_t i, double amount)
{
    return mn_scale(2 * amount, mn_sub(mn_random_unit3(7, (uint64_t)i, 0), mn_v3(0.5, 0.5, 0.5)));
}

/// A spiral of points that each have the same area; `jitter` in spacings.
static inline point_cloud cloud_sphere(int64_t count, double radius, double jitter)
{
    point_cloud c = cloud_allocate(count);
    c.spacing = radius * sqrt(4 * CLOUD_PI / (double)count);
    const double turn = CLOUD_PI * (3 - sqrt(5));
    for (int64_t i = 0; i < count; i++) {
        const double y = 1 - (2 * (double)i + 1) / (double)count, r = sqrt(1 - y * y), a = turn * (double)i;
        const mn_vec3 n = mn_v3(r * cos(a), y, r * sin(a));
        c.toward[i] = mn_normalize(mn_axpy(n, c.spacing / radius, cloud_jitter(i, jitter)));
        c.x[i] = mn_scale(radius, c.toward[i]);
    }
    return c;
}

/// Ring of radius 1 and tube of radius 0.4 about y, in rows of equal spacing around the ring's middle.
static inline point_cloud cloud_torus(int32_t around, double jitter)
{
    const int32_t across = (int32_t)lround(0.4 * around);
    point_cloud c = cloud_allocate((int64_t)around * across);
    c.spacing = 2 * CLOUD_PI / around;
    for (int64_t i = 0; i < c.count; i++) {
        const mn_vec3 j = cloud_jitter(i, jitter);
        const double u = 2 * CLOUD_PI * ((double)(i / across) + j.x) / around;
        const double v = 2 * CLOUD_PI * ((double)(i % across) + j.y) / across;
        c.toward[i] = mn_v3(cos(u) * cos(v), sin(v), sin(u) * cos(v));
        c.x[i] = mn_v3(cos(u) * (1 + 0.4 * cos(v)), 0.4 * sin(v), sin(u) * (1 + 0.4 * cos(v)));
    }
    return c;
}

/// The unit square in the plane z = 0, side x side points.
static inline point_cloud cloud_square(int32_t side, double jitter)
{
    point_cloud c = cloud_allocate((int64_t)side * side);
    c.spacing = 1.0 / (side - 1);
    for (int64_t i = 0; i < c.count; i++) {
        const mn_vec3 j = mn_scale(c.spacing, cloud_jitter(i, jitter));
        c.toward[i] = mn_v3(0, 0, 1);
        c.x[i] = mn_v3((double)(i / side) * c.spacing + j.x, (double)(i % side) * c.spacing + j.y, 0);
    }
    return c;
}

/// Two turns of a helix of radius 1 and pitch 2 pi 0.3 about z.
static inline point_cloud cloud_helix(int64_t count, double jitter)
{
    point_cloud c = cloud_allocate(count);
    const double step = 4 * CLOUD_PI / (double)count, stretch = sqrt(1 + 0.09);
    c.spacing = step * stretch;
    for (int64_t i = 0; i < count; i++) {
        const double t = step * ((double)i + cloud_jitter(i, jitter).x);
        c.x[i] = mn_v3(cos(t), sin(t), 0.3 * t);
        c.toward[i] = mn_scale(1 / stretch, mn_v3(-sin(t), cos(t), 0.3));
    }
    return c;
}

#endif
