// SPDX-License-Identifier: Apache-2.0
//
// Smooth normals that keep creases: the normal of a corner is
//
//   n = sum A_f n_f   over the faces f around its point with n_f . n_own > cos(crease angle)
//
// A_f n_f being half the cross product of two edges. Isosurfaces are bumpy at the scale of their voxels,
// since they cut curved fields by straight lines; highlights show that. So each face first takes the mean of
// its corners' normals, and these are then computed once more.
#include "base/parallel.h"
#include "plugin/preview/arena.h"
#include "plugin/preview/scene.h"

#include <string.h>

static const float CREASE_COSINE = 0.707f; ///< 45 degrees: an eight-sided tube still looks round
enum {
    VALENCE_MAX = 64, ///< more faces around one point are shaded flat, to stay linear
    RELAX_PASSES = 1,
};

typedef struct smoothing {
    const mn_preview_scene *scene;
    int64_t begin, end;             ///< the triangles
    int64_t first_point, end_point; ///< that they use
    f3 *face_area;                  ///< A_f n_f times two, by triangle - begin
    int32_t *starts;                ///< by point - first_point: where its faces begin in `faces`
    int32_t *faces;                 ///< triangle - begin
} smoothing;

static mn_status area_range(void *user, mn_range range)
{
    const smoothing *s = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t *point = s->scene->triangles[s->begin + i].point;
        if (point[0] < 0) continue;
        const f3 a = s->scene->points[point[0]], b = s->scene->points[point[1]],
                 c = s->scene->points[point[2]];
        s->face_area[i] = f3_cross(f3_sub(b, a), f3_sub(c, a));
    }
    return MN_OK;
}

static f3 corner_normal(const smoothing *s, int32_t point, f3 own_area)
{
    const f3 own = f3_normalize_or(own_area, (f3){0, 0, 0});
    const int32_t first = s->starts[point - s->first_point], last = s->starts[point - s->first_point + 1];
    if (last - first > VALENCE_MAX) return own;
    f3 sum = {0, 0, 0};
    for (int32_t k = first; k < last; k++) {
        const f3 area = s->face_area[s->faces[k]];
        const float along = f3_dot(area, own);
        // along > cos |area|, without the root
        if (along > 0 && along * along >= CREASE_COSINE * CREASE_COSINE * f3_dot(area, area))
            sum = f3_add(sum, area);
    }
    return f3_normalize_or(sum, own);
}

static mn_status normal_range(void *user, mn_range range)
{
    const smoothing *s = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t *point = s->scene->triangles[s->begin + i].point;
        if (point[0] < 0) continue;
        for (int k = 0; k < 3; k++)
            s->scene->corners[s->begin + i].normal[k] =
                f3_pack_normal(corner_normal(s, point[k], s->face_area[i]));
    }
    return MN_OK;
}

/// Each face turns to the mean of its corners' normals; its area stays.
static mn_status relax_range(void *user, mn_range range)
{
    const smoothing *s = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        if (s->scene->triangles[s->begin + i].point[0] < 0) continue;
        const uint32_t *normal = s->scene->corners[s->begin + i].normal;
        const f3 area = s->face_area[i];
        const f3 sum = f3_add(f3_unpack_normal(normal[0]),
                              f3_add(f3_unpack_normal(normal[1]), f3_unpack_normal(normal[2])));
        s->face_area[i] = f3_scale(sqrtf(f3_dot(area, area)), f3_normalize_or(sum, (f3){0, 0, 0}));
    }
    return MN_OK;
}

/// Faces by point, as one array and the places where each point's begin.
static void list_faces(smoothing *s)
{
    const int64_t point_count = s->end_point - s->first_point;
    memset(s->starts, 0, mn_bytes(point_count + 2, sizeof *s->starts));
    // Counted two places on, so that after the prefix sum filling moves each start to its own place.
    for (int64_t t = s->begin; t < s->end; t++)
        if (s->scene->triangles[t].point[0] >= 0)
            for (int k = 0; k < 3; k++) s->starts[s->scene->triangles[t].point[k] - s->first_point + 2]++;
    for (int64_t p = 2; p < point_count + 2; p++) s->starts[p] += s->starts[p - 1];
    for (int64_t t = s->begin; t < s->end; t++)
        if (s->scene->triangles[t].point[0] >= 0)
            for (int k = 0; k < 3; k++)
                s->faces[s->starts[s->scene->triangles[t].point[k] - s->first_point + 1]++] =
                    (int32_t)(t - s->begin);
}

mn_status mn_preview_smooth_normals(mn_preview_scene *scene, int64_t begin, int64_t end, int64_t first_point,
                                    int64_t end_point)
{
    const int64_t count = end - begin;
    if (count <= 0) return MN_OK;
    if (count > INT32_MAX / 3)
        return mn_fail(scene->ctx, MN_ERROR_UNSUPPORTED,
                       "The preview draws at most %d triangles of one piece of geometry; this has %lld.",
                       INT32_MAX / 3, (long long)count);
    smoothing s = {.scene = scene, .begin = begin, .end = end};
    s.first_point = first_point, s.end_point = end_point;
    s.face_area = mn_arena_array(scene->arena, f3, count);
    s.starts = mn_arena_array(scene->arena, int32_t, end_point - first_point + 2);
    s.faces = mn_arena_array(scene->arena, int32_t, 3 * count);
    if (!s.face_area || !s.starts || !s.faces) return MN_ERROR_MEMORY;
    list_faces(&s);
    MN_TRY(mn_parallel_for(scene->ctx, count, 4096, area_range, &s));
    for (int32_t pass = 0; pass < RELAX_PASSES; pass++) {
        MN_TRY(mn_parallel_for(scene->ctx, count, 4096, normal_range, &s));
        MN_TRY(mn_parallel_for(scene->ctx, count, 4096, relax_range, &s));
    }
    return mn_parallel_for(scene->ctx, count, 4096, normal_range, &s);
}
