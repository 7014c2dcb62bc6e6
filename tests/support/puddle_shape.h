// SPDX-License-Identifier: Apache-2.0
//
// The shape of a drop that rests on a plane under gravity and meets it at 90 degrees, for validation.
#ifndef MENISCUS_TESTS_SUPPORT_PUDDLE_SHAPE_H
#define MENISCUS_TESTS_SUPPORT_PUDDLE_SHAPE_H

#include <math.h>

/// In capillary lengths, volume in their cube.
typedef struct puddle_shape {
    double height, volume, radius;
} puddle_shape;

/// By the Young-Laplace equation d psi/ds = 2 b + z - sin(psi)/r from its top, where the curvature is b.
static inline puddle_shape puddle_of_curvature(double b)
{
    const double ds = 1e-3, right = 1.5707963267948966;
    double r = 0, z = 0, psi = 0, volume = 0;
    while (psi < right) {
        const double k = r > 0 ? 2 * b + z - sin(psi) / r : b, middle = psi + 0.5 * ds * k;
        const double rm = r + 0.5 * ds * cos(psi), zm = z + 0.5 * ds * sin(psi);
        psi += ds * (2 * b + zm - sin(middle) / rm);
        volume += 2 * right * rm * rm * ds * sin(middle);
        r += ds * cos(middle), z += ds * sin(middle);
    }
    return (puddle_shape){z, volume, r};
}

static inline puddle_shape puddle_of_volume(double volume)
{
    double low = 1e-3, high = 0.5;
    puddle_shape shape = {0};
    for (int i = 0; i < 40; i++) {
        const double b = sqrt(low * high);
        shape = puddle_of_curvature(b);
        *(shape.volume > volume ? &low : &high) = b;
    }
    return shape;
}

#endif
