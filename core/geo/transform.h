// SPDX-License-Identifier: Apache-2.0
//
// A part of a geometry moved by x -> A x + b.
#ifndef MENISCUS_GEO_TRANSFORM_H
#define MENISCUS_GEO_TRANSFORM_H

#include "meniscus/geo.h"

/// mn_geo_transform() of the points and primitives whose byte is not 0; both NULL: of everything.
mn_status mn_geo_transform_part(mn_geo *geo, mn_mat4 transform, const uint8_t *points,
                                const uint8_t *primitives);

#endif
