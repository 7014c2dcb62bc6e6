// SPDX-License-Identifier: Apache-2.0
//
// What stands still for good. A collider that was merged with moving drops has got a v of zero from them, and
// shows as clay rather than as liquid at rest: connected polygons of which no point moves, and which are
// larger than drops that have settled. In a sequence they must also stand where they stood in the first frame
// in which something moved: puddles grow. That shows them too in frames in which nothing moves.
#include "plugin/preview/arena.h"
#include "plugin/preview/color.h"

#include <string.h>

/// Scene radii: smaller things that rest are drops that have settled.
static const double STILL_SIZE = 0.4;

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

/// The connected pieces of a geo.
typedef struct pieces {
    int64_t *parent; ///< by point, towards the first of its piece
    uint8_t *moves;  ///< by point; at a first one: some point of its piece does
    mn_box *box;     ///< at a first one: of its piece
    int64_t moving;  ///< points
} pieces;

/// parent stays NULL where the geo has no polygons, everything moves or, unless `at_rest` is asked for,
/// nothing.
static mn_status find_pieces(mn_arena *arena, const mn_geo *geo, const mn_attribute *velocity, bool at_rest,
                             pieces *p)
{
    memset(p, 0, sizeof *p);
    const int64_t count = mn_geo_point_count(geo);
    if (mn_geo_primitive_count(geo) == 0 || mn_attribute_owner(velocity) != MN_POINT) return MN_OK;
    p->moves = mn_arena_array(arena, uint8_t, count + 1);
    if (!p->moves) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        p->moves[i] = mn_preview_ramp_value(velocity, i) != 0;
        p->moving += p->moves[i];
    }
    if (p->moving == count || (p->moving == 0 && !at_rest)) return MN_OK;
    p->box = mn_arena_array(arena, mn_box, count);
    p->parent = mn_arena_array(arena, int64_t, count);
    if (!p->parent || !p->box) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) p->parent[i] = i, p->box[i] = mn_box_empty();
    join_pieces(geo, p->parent);
    for (int64_t i = 0; i < count; i++) {
        const int64_t root = root_of(p->parent, i);
        if (p->moves[i]) p->moves[root] = 1;
        p->box[root] = mn_box_add(p->box[root], mn_geo_position(geo, i));
    }
    return MN_OK;
}

static bool is_known(const mn_preview_view *view, mn_box box)
{
    const double same = 1e-4 * mn_distance(box.min, box.max);
    for (int64_t i = 0; i < view->still_count; i++)
        if (mn_distance(box.min, view->still[i].min) <= same &&
            mn_distance(box.max, view->still[i].max) <= same)
            return true;
    return false;
}

mn_status mn_preview_mark_still(mn_arena *arena, const mn_geo *geo, const mn_attribute *velocity,
                                const mn_preview_view *view, const uint8_t **still)
{
    *still = NULL;
    pieces p;
    MN_TRY(find_pieces(arena, geo, velocity, view->still_count > 0, &p));
    if (!p.parent) return MN_OK;
    const int64_t count = mn_geo_point_count(geo);
    uint8_t *marks = mn_arena_array(arena, uint8_t, count);
    if (!marks) return MN_ERROR_MEMORY;
    const double size = STILL_SIZE / view->scale;
    const bool alone = view->surveyed == 1 && p.moving > 0;
    for (int64_t i = 0; i < count; i++) {
        const int64_t root = root_of(p.parent, i);
        const mn_box box = p.box[root];
        marks[i] = !p.moves[root] && mn_distance(box.min, box.max) > size && (alone || is_known(view, box));
    }
    *still = marks;
    return MN_OK;
}

mn_status mn_preview_list_still(mn_context *ctx, const mn_geo *geo, const mn_attribute *velocity,
                                mn_box boxes[MN_PREVIEW_STILL_MAX], int32_t *count)
{
    mn_arena *arena;
    pieces p;
    *count = 0;
    MN_TRY(mn_arena_create(ctx, "pieces", &arena));
    const mn_status status = find_pieces(arena, geo, velocity, false, &p);
    for (int64_t i = 0; status == MN_OK && p.parent && i < mn_geo_point_count(geo); i++) {
        if (p.parent[i] != i || p.moves[i]) continue;
        // The largest come first.
        int32_t at = *count < MN_PREVIEW_STILL_MAX ? (*count)++ : MN_PREVIEW_STILL_MAX;
        const double size = mn_distance(p.box[i].min, p.box[i].max);
        for (; at > 0 && mn_distance(boxes[at - 1].min, boxes[at - 1].max) < size; at--)
            if (at < MN_PREVIEW_STILL_MAX) boxes[at] = boxes[at - 1];
        if (at < MN_PREVIEW_STILL_MAX) boxes[at] = p.box[i];
    }
    mn_arena_free(arena);
    return status;
}
