// SPDX-License-Identifier: Apache-2.0
//
// Where points are a moment later: x + t v, by the point attribute `v`.
#include "geo/drift.h"

mn_status mn_geo_drift(mn_geo *geo, double seconds)
{
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    const int64_t count = mn_geo_point_count(geo);
    if (!v || count == 0 || seconds == 0) return MN_OK;
    float *positions = mn_geo_write_positions(geo);
    if (!positions) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        double velocity[3];
        mn_attribute_get(v, i, 1, velocity);
        for (int k = 0; k < 3; k++)
            positions[3 * i + k] = (float)((double)positions[3 * i + k] + seconds * velocity[k]);
    }
    return MN_OK;
}
