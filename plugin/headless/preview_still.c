// SPDX-License-Identifier: Apache-2.0
//
// What stands still for good. A collider that was merged with moving drops has got a v of zero from them, and
// shows as clay rather than as liquid at rest: connected polygons of which no point moves, and which are
// larger than drops that have settled.
#include "plugin/headless/preview_color.h"

#include <string.h>

/// The first point of the piece that `point` belongs to, by union and find with halved paths.
static int64_t root_of(int64_t *parent, int64_t point)
{
    while (parent[point] != point) {
        parent[point] = parent[parent[point]];
        point = parent[point];
    }
    return point;
}

static void join_pieces(const mn_geo *geo, int64_t *parent)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        if (starts[i] == starts[i + 1]) continue;
        int64_t root = root_of(parent, points[starts[i]]);
        for (int64_t v = starts[i] + 1; v < starts[i + 1]; v++) {
            const int64_t other = root_of(parent, points[v]);
            if (other < root)
                parent[root] = other, root = other;
            else
                parent[other] = root;
        }
    }
}

mn_status mn_preview_mark_still(mn_arena *arena, const mn_geo *geo, const mn_attribute *velocity, double size,
                                const uint8_t **still)
{
    *still = NULL;
    const int64_t count = mn_geo_point_count(geo);
    if (mn_geo_primitive_count(geo) == 0 || mn_attribute_owner(velocity) != MN_POINT) return MN_OK;
    uint8_t *moves = mn_arena_array(arena, uint8_t, count + 1);
    if (!moves) return MN_ERROR_MEMORY;
    int64_t moving = 0;
    for (int64_t i = 0; i < count; i++) {
        moves[i] = mn_preview_ramp_value(velocity, i) != 0;
        moving += moves[i];
    }
    if (moving == 0 || moving == count) return MN_OK; // everything rests, or nothing does
    int64_t *parent = mn_arena_array(arena, int64_t, count);
    mn_box *box = mn_arena_array(arena, mn_box, count);
    if (!parent || !box) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) parent[i] = i, box[i] = mn_box_empty();
    join_pieces(geo, parent);
    for (int64_t i = 0; i < count; i++) {
        const int64_t root = root_of(parent, i);
        if (moves[i]) moves[root] = 1;
        box[root] = mn_box_add(box[root], mn_geo_position(geo, i));
    }
    uint8_t *marks = mn_arena_array(arena, uint8_t, count);
    if (!marks) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const int64_t root = root_of(parent, i);
        marks[i] = !moves[root] && mn_distance(box[root].min, box[root].max) > size;
    }
    *still = marks;
    return MN_OK;
}
