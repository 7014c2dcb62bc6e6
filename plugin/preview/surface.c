// SPDX-License-Identifier: Apache-2.0
//
// Surfaces to draw: polygons cut into triangles, the skin of tetrahedra, and the level sets of volumes.
#include "plugin/io/tet_skin.h"
#include "plugin/preview/arena.h"
#include "plugin/preview/scene.h"

#include <stdlib.h>
#include <string.h>

// ---- polygons ----

/// Newell's normal: the sum of the projected areas, right for any simple polygon, flat or not.
static f3 polygon_normal(const f3 *corner, int32_t count)
{
    f3 n = {0, 0, 0};
    for (int32_t i = 0; i < count; i++)
        n = f3_add(n, f3_cross(f3_sub(corner[i], corner[0]), f3_sub(corner[(i + 1) % count], corner[0])));
    return n;
}

/// Twice the area of the triangle as seen along `normal`; negative when it turns the other way.
static float turn(f3 a, f3 b, f3 c, f3 normal)
{
    return f3_dot(f3_cross(f3_sub(b, a), f3_sub(c, a)), normal);
}

static bool is_convex(const f3 *corner, int32_t count, f3 normal)
{
    for (int32_t i = 0; i < count; i++)
        if (turn(corner[i], corner[(i + 1) % count], corner[(i + 2) % count], normal) < 0) return false;
    return true;
}

static void cut_fan(int32_t count, int32_t first, int32_t (*triangles)[3])
{
    for (int32_t i = 0; i < count - 2; i++) {
        triangles[i][0] = first;
        triangles[i][1] = (first + i + 1) % count;
        triangles[i][2] = (first + i + 2) % count;
    }
}

static bool is_ear(const f3 *corner, const int32_t *ring, int32_t left, int32_t k, f3 normal)
{
    const int32_t before = ring[(k + left - 1) % left], at = ring[k], after = ring[(k + 1) % left];
    const f3 a = corner[before], b = corner[at], c = corner[after];
    if (turn(a, b, c, normal) <= 0) return false;
    for (int32_t i = 0; i < left; i++) {
        if (ring[i] == before || ring[i] == at || ring[i] == after) continue;
        const f3 p = corner[ring[i]];
        if (turn(a, b, p, normal) >= 0 && turn(b, c, p, normal) >= 0 && turn(c, a, p, normal) >= 0)
            return false;
    }
    return true;
}

enum { EAR_CLIPPING_MAX = 512 }; ///< larger ones are drawn as a fan, since clipping takes cubic time

static void clip_ears(const f3 *corner, int32_t count, f3 normal, int32_t (*triangles)[3])
{
    int32_t ring[EAR_CLIPPING_MAX], left = count, made = 0;
    for (int32_t i = 0; i < count; i++) ring[i] = i;
    while (left > 2) {
        int32_t ear = 0;
        for (int32_t k = 0; k < left; k++)
            if (is_ear(corner, ring, left, k, normal)) {
                ear = k;
                break;
            }
        // A polygon that crosses itself may have no ear: any corner will do then.
        triangles[made][0] = ring[(ear + left - 1) % left];
        triangles[made][1] = ring[ear];
        triangles[made][2] = ring[(ear + 1) % left];
        made++;
        memmove(ring + ear, ring + ear + 1, sizeof *ring * (size_t)(left - ear - 1));
        left--;
    }
}

void mn_preview_triangulate(const f3 *corners, int32_t count, int32_t (*triangles)[3])
{
    if (count == 3) {
        cut_fan(3, 0, triangles);
        return;
    }
    const f3 normal = polygon_normal(corners, count);
    if (count > EAR_CLIPPING_MAX || is_convex(corners, count, normal)) {
        int32_t first = 0;
        if (count == 4) { // the shorter diagonal, so that a bent quad looks the same from either corner
            const f3 d = f3_sub(corners[2], corners[0]), e = f3_sub(corners[3], corners[1]);
            first = f3_dot(e, e) < f3_dot(d, d);
        }
        cut_fan(count, first, triangles);
    } else {
        clip_ears(corners, count, normal, triangles);
    }
}

// ---- tetrahedra ----

mn_status mn_preview_tet_skin(mn_context *ctx, mn_arena *arena, const mn_geo *geo, const int64_t (**faces)[3],
                              int64_t *face_count)
{
    mn_tet_skin skin;
    *faces = NULL, *face_count = 0;
    MN_TRY(mn_tet_skin_make(ctx, geo, &skin));
    int64_t(*kept)[3] = skin.count > 0 ? mn_arena_allocate(arena, mn_bytes(skin.count, sizeof *kept)) : NULL;
    const bool made = kept || skin.count == 0;
    if (kept) memcpy(kept, skin.faces, mn_bytes(skin.count, sizeof *kept));
    if (made) *faces = (const int64_t(*)[3])kept, *face_count = skin.count;
    mn_tet_skin_free(ctx, &skin);
    return made ? MN_OK : MN_ERROR_MEMORY;
}

// ---- volumes ----

/// The value at which a fog looks solid: a third of the largest on a lattice over its box.
static double fog_level(mn_volume volume, mn_box box)
{
    enum { SIDE = 24 };
    double largest = 0;
    for (int i = 0; i < SIDE * SIDE * SIDE; i++) {
        const mn_vec3 t = mn_v3(i % SIDE + 0.5, i / SIDE % SIDE + 0.5, i / SIDE / SIDE + 0.5);
        const mn_vec3 x = mn_add(box.min, mn_scale(1.0 / SIDE, mn_mul(t, mn_sub(box.max, box.min))));
        largest = fmax(largest, mn_volume_sample(volume, x));
    }
    return largest / 3;
}

mn_status mn_preview_mesh_volumes(mn_context *ctx, const mn_services *services, const mn_geo *const *geos,
                                  int32_t geo_count, mn_geo **meshes, int32_t *count, mn_preview_notes *notes)
{
    *count = 0;
    for (int32_t g = 0; g < geo_count; g++)
        for (int64_t i = 0; i < mn_geo_primitive_count(geos[g]); i++) {
            const mn_volume volume = mn_geo_volume(geos[g], i);
            if (!volume.ops) continue;
            const mn_volume_info info = mn_volume_get_info(volume);
            double level = 0;
            if (info.kind == MN_VOLUME_FOG && info.components == 1) level = fog_level(volume, info.bounds);
            const bool empty = info.kind == MN_VOLUME_FOG && !(level > 0);
            if (info.components != 1 || empty || mn_box_is_empty(info.bounds) ||
                !services->level_set_to_mesh) {
                notes->hidden_volumes++;
                continue;
            }
            MN_TRY(services->level_set_to_mesh(services->user, ctx, volume, level, 0, &meshes[*count]));
            ++*count;
        }
    return MN_OK;
}
