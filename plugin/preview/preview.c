// SPDX-License-Identifier: Apache-2.0
//
// A picture from geometry: surfaces of volumes, the scene in camera space, what the lights see, what the
// camera sees, then tile by tile its colours.
#include "plugin/preview/preview.h"
#include "base/parallel.h"
#include "plugin/preview/arena.h"
#include "plugin/preview/shade.h"

#include <string.h>

typedef struct tile_job {
    const mn_preview_shading *shading;
    mn_picture *picture;
} tile_job;

static mn_status check_def(mn_context *ctx, const mn_preview_def *def)
{
    if (def->width < 16 || def->width > 8192 || def->height < 16 || def->height > 8192)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "A picture of %d x %d pixels is not possible; each side may be 16 to 8192.",
                       (int)def->width, (int)def->height);
    if (def->samples < 1 || def->samples > 8)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%d samples per pixel side are not possible; use 1 to 8.",
                       (int)def->samples);
    if (!isfinite(def->azimuth) || !isfinite(def->elevation) || !(def->field_of_view >= 1) ||
        !(def->field_of_view <= 120) || !(def->zoom >= 0.01) || !(def->zoom <= 100))
        return mn_fail(
            ctx, MN_ERROR_ARGUMENT,
            "The camera is not possible: azimuth and elevation must be finite, the field of view 1 "
            "to 120 degrees, and the zoom 0.01 to 100.");
    return MN_OK;
}

static mn_status tile_range(void *user, mn_range range)
{
    const tile_job *job = user;
    const mn_preview_raster *raster = job->shading->raster;
    mn_preview_tile tile;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_preview_tile_draw(raster, (int32_t)(i % raster->tiles_x), (int32_t)(i / raster->tiles_x), &tile);
        mn_preview_shade_tile(job->shading, &tile, job->picture);
    }
    return MN_OK;
}

static mn_status draw(mn_preview_scene *scene, const mn_geo *const *geos, int32_t count,
                      const mn_preview_def *def, const mn_preview_view *view, mn_preview_notes *notes,
                      mn_picture *picture)
{
    MN_TRY(mn_preview_scene_make(scene, geos, count, def, view, notes));
    mn_preview_lights *lights = mn_arena_array(scene->arena, mn_preview_lights, 1);
    if (!lights) return MN_ERROR_MEMORY;
    MN_TRY(mn_preview_lights_make(scene, view, lights));
    mn_preview_raster raster;
    MN_TRY(mn_preview_raster_make(scene, def, view, &raster));
    MN_TRY(mn_picture_create(scene->ctx, def->width, def->height, picture));
    const mn_preview_shading shading = {&raster, lights, view, def->transparent};
    tile_job job = {&shading, picture};
    return mn_parallel_for(scene->ctx, (int64_t)raster.tiles_x * raster.tiles_y, 1, tile_range, &job);
}

mn_status mn_preview_render(mn_context *ctx, const mn_services *services, const mn_geo *const *geos,
                            int32_t count, const mn_preview_def *def, const mn_preview_view *view,
                            mn_preview_notes *notes, mn_picture *picture)
{
    mn_preview_notes own_notes = {0, 0};
    if (!notes) notes = &own_notes;
    memset(notes, 0, sizeof *notes);
    memset(picture, 0, sizeof *picture);
    MN_TRY(check_def(ctx, def));
    int64_t volumes = 0;
    for (int32_t i = 0; i < count; i++) volumes += mn_geo_kind_count(geos[i], MN_VOLUME);
    const int64_t all = count + volumes;
    // The geometry as it is, and behind it the surfaces of its volumes, which are ours to free.
    mn_geo **list = mn_allocate_zero(ctx, mn_bytes(all, sizeof *list));
    if (!list && all > 0) return MN_ERROR_MEMORY;
    memcpy(list, geos, mn_bytes(count, sizeof *list));
    mn_preview_scene scene = {.ctx = ctx};
    int32_t meshes = 0;
    mn_status status = MN_OK;
    MN_TRY_TO(end, status, mn_arena_create(ctx, "preview", &scene.arena));
    MN_TRY_TO(end, status, mn_preview_mesh_volumes(ctx, services, geos, count, list + count, &meshes, notes));
    MN_TRY_TO(end, status,
              draw(&scene, (const mn_geo *const *)list, count + meshes, def, view, notes, picture));
end:
    if (status != MN_OK) mn_picture_free(picture);
    for (int32_t i = 0; i < meshes; i++) mn_geo_free(list[count + i]);
    mn_arena_free(scene.arena);
    mn_release(ctx, list, mn_bytes(all, sizeof *list));
    return status;
}
