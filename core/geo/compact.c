// SPDX-License-Identifier: Apache-2.0
//
// Deleting points and primitives, with attributes and groups kept in step.
#include "geo/geo_state.h"

#include <string.h>

// Which elements stay, and where they go.
typedef struct plan {
    int64_t *from[MN_DETAIL]; ///< from[owner][new] = old
    int64_t kept[MN_DETAIL];
    int64_t *point_to; ///< point_to[old] = new, -1 when gone
} plan;

static void free_plan(const mn_geo *geo, plan *p)
{
    for (int owner = 0; owner < MN_DETAIL; owner++)
        mn_release(geo->ctx, p->from[owner], mn_bytes(geo->counts[owner], sizeof(int64_t)));
    mn_release(geo->ctx, p->point_to, mn_bytes(geo->counts[MN_POINT], sizeof(int64_t)));
}

static mn_status allocate_plan(const mn_geo *geo, plan *p)
{
    for (int owner = 0; owner < MN_DETAIL; owner++) {
        p->from[owner] = mn_allocate(geo->ctx, mn_bytes(geo->counts[owner], sizeof(int64_t)));
        if (geo->counts[owner] > 0 && !p->from[owner]) return MN_ERROR_MEMORY;
    }
    p->point_to = mn_allocate(geo->ctx, mn_bytes(geo->counts[MN_POINT], sizeof(int64_t)));
    return geo->counts[MN_POINT] > 0 && !p->point_to ? MN_ERROR_MEMORY : MN_OK;
}

static void fill_plan(const mn_geo *geo, const uint8_t *keep_points, const uint8_t *keep_primitives, plan *p)
{
    for (int64_t i = 0; i < geo->counts[MN_POINT]; i++) {
        const bool keep = !keep_points || keep_points[i];
        p->point_to[i] = keep ? p->kept[MN_POINT] : -1;
        if (keep) p->from[MN_POINT][p->kept[MN_POINT]++] = i;
    }
    const int64_t *points = mn_geo_vertex_points(geo), *starts = mn_geo_primitive_starts(geo);
    for (int64_t i = 0; i < geo->counts[MN_PRIMITIVE]; i++) {
        bool keep = !keep_primitives || keep_primitives[i];
        for (int64_t v = starts[i]; v < starts[i + 1] && keep; v++) keep = p->point_to[points[v]] >= 0;
        if (!keep) continue;
        p->from[MN_PRIMITIVE][p->kept[MN_PRIMITIVE]++] = i;
        for (int64_t v = starts[i]; v < starts[i + 1]; v++) p->from[MN_VERTEX][p->kept[MN_VERTEX]++] = v;
    }
}

// Elements only move towards the front, so a column can be packed in place once it is unshared.
static mn_status unshare_all(mn_geo *geo)
{
    for (int owner = 0; owner < MN_DETAIL; owner++)
        MN_TRY(mn_geo_reserve(geo, (mn_owner)owner, geo->counts[owner]));
    return MN_OK;
}

static void pack(mn_context *ctx, mn_column *column, const int64_t *from, int64_t kept)
{
    const size_t bytes = column->element_bytes;
    char *data = mn_column_write(ctx, column);
    for (int64_t i = 0; i < kept; i++)
        if (from[i] != i) memcpy(data + mn_bytes(i, bytes), data + mn_bytes(from[i], bytes), bytes);
}

static void pack_topology(mn_geo *geo, const plan *p)
{
    if (geo->counts[MN_PRIMITIVE] == 0) return;
    int64_t *points = mn_column_write(geo->ctx, &geo->vertex_points);
    int64_t *starts = mn_column_write(geo->ctx, &geo->primitive_starts);
    for (int64_t v = 0; v < p->kept[MN_VERTEX]; v++) points[v] = p->point_to[points[p->from[MN_VERTEX][v]]];
    int64_t at = 0, volume = 0, kept_volumes = 0;
    for (int64_t i = 0; i < p->kept[MN_PRIMITIVE]; i++) {
        const int64_t old = p->from[MN_PRIMITIVE][i], length = starts[old + 1] - starts[old];
        starts[i] = at;
        at += length;
        for (; volume < geo->volumes.count && geo->volumes.data[volume].primitive < old; volume++)
            mn_volume_release(&geo->volumes.data[volume].volume);
        if (volume < geo->volumes.count && geo->volumes.data[volume].primitive == old) {
            geo->volumes.data[kept_volumes] = geo->volumes.data[volume++];
            geo->volumes.data[kept_volumes++].primitive = i;
        }
    }
    starts[p->kept[MN_PRIMITIVE]] = at;
    for (; volume < geo->volumes.count; volume++) mn_volume_release(&geo->volumes.data[volume].volume);
    geo->volumes.count = kept_volumes;
    pack(geo->ctx, &geo->primitive_kinds, p->from[MN_PRIMITIVE], p->kept[MN_PRIMITIVE]);
}

mn_status mn_geo_compact(mn_geo *geo, const uint8_t *keep_points, const uint8_t *keep_primitives)
{
    plan p = {0};
    mn_status status = MN_OK;
    MN_TRY_TO(done, status, unshare_all(geo));
    MN_TRY_TO(done, status, allocate_plan(geo, &p));
    fill_plan(geo, keep_points, keep_primitives, &p);
    for (int owner = 0; owner < MN_DETAIL; owner++) {
        for (int64_t i = 0; i < geo->attributes[owner].count; i++)
            pack(geo->ctx, &geo->attributes[owner].data[i]->values, p.from[owner], p.kept[owner]);
        for (int64_t i = 0; i < geo->groups[owner].count; i++)
            pack(geo->ctx, &geo->groups[owner].data[i]->members, p.from[owner], p.kept[owner]);
    }
    pack_topology(geo, &p);
done:
    free_plan(geo, &p); // before the counts change, which are its sizes
    if (status == MN_OK)
        for (int owner = 0; owner < MN_DETAIL; owner++) mn_geo_set_count(geo, (mn_owner)owner, p.kept[owner]);
    return status;
}
