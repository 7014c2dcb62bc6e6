// SPDX-License-Identifier: Apache-2.0
//
// Where points are a moment later.
#ifndef MENISCUS_CORE_GEO_DRIFT_H
#define MENISCUS_CORE_GEO_DRIFT_H

#include "meniscus/geo.h"

#ifdef __cplusplus
extern "C" {
#endif

/// Moves points by `seconds` times their `v`; nothing without one.
mn_status mn_geo_drift(mn_geo *geo, double seconds);

#ifdef __cplusplus
}
#endif
#endif
