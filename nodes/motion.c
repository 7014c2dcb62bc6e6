// SPDX-License-Identifier: Apache-2.0
//
// v += (P_after - P_before) / seconds, the central difference over one frame. A point that has not moved yet
// takes the difference of the half that is to come: what is thrown at its first key leaves with all of its
// speed, not with half of it.
#include "nodes/motion.h"

// m, in the frame around now
static mn_vec3 step_of(const mn_geo *geo, const mn_geo *before, const mn_geo *after, int64_t i)
{
    const mn_vec3 now = mn_geo_position(geo, i), last = mn_geo_position(before, i),
                  next = mn_geo_position(after, i);
    const bool begins = now.x == last.x && now.y == last.y && now.z == last.z;
    return begins ? mn_scale(2, mn_sub(next, now)) : mn_sub(next, last);
}

static bool moves(const mn_geo *before, const mn_geo *after)
{
    const float *a = mn_geo_positions(before), *b = mn_geo_positions(after);
    for (int64_t i = 0; i < 3 * mn_geo_point_count(after); i++)
        if (a[i] != b[i]) return true;
    return false;
}

mn_status mn_node_add_motion(mn_geo *geo, const mn_geo *before, const mn_geo *after, double seconds)
{
    const int64_t count = mn_geo_point_count(geo);
    if (count == 0 || mn_geo_point_count(before) != count || mn_geo_point_count(after) != count ||
        !(seconds > 0) || !moves(before, after))
        return MN_OK;
    const mn_attribute *old = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    mn_attribute *v;
    if (old && mn_attribute_type(old) != MN_F32) {
        MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "v", mn_attribute_type(old), 3, MN_HINT_VECTOR, &v));
    } else {
        MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    }
    for (int64_t i = 0; i < count; i++) {
        mn_vec3 velocity;
        mn_attribute_get(v, i, 1, &velocity.x);
        velocity = mn_axpy(velocity, 1.0 / seconds, step_of(geo, before, after, i));
        MN_TRY(mn_attribute_set(geo, v, i, 1, &velocity.x));
    }
    return MN_OK;
}
