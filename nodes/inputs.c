// SPDX-License-Identifier: Apache-2.0
//
// What more than one node looks for in an input.
#include "nodes/inputs.h"

mn_volume mn_input_level_set(const mn_geo *geo)
{
    mn_volume volume = mn_geo_find_volume(geo, "surface");
    if (!volume.ops) volume = mn_geo_find_volume(geo, NULL);
    const mn_volume_info info = mn_volume_get_info(volume);
    const bool usable = volume.ops && info.kind == MN_VOLUME_LEVEL_SET && info.components == 1;
    return usable ? volume : (mn_volume){0};
}

mn_status mn_input_colliders(const mn_cook *cook, int32_t input, mn_collider **collider)
{
    *collider = NULL;
    mn_collider_def def = mn_collider_default_def();
    def.geo = mn_cook_input(cook, input);
    if (!def.geo) return MN_OK;
    def.paint = mn_geo_find_numeric(def.geo, MN_POINT, "contact_angle", 1) != NULL;
    def.velocity_scale = cook->dt > 0 ? 1.0 / (cook->fps * cook->dt) : 0;
    return mn_collider_create(cook->ctx, &def, collider);
}

mn_status mn_input_triangles(mn_context *ctx, const mn_geo *geo, mn_id_array *triangles)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        for (int64_t v = starts[p] + 1; kinds[p] == MN_POLYGON && v + 1 < starts[p + 1]; v++) {
            const int64_t corners[3] = {points[starts[p]], points[v], points[v + 1]};
            for (int i = 0; i < 3; i++) MN_TRY(mn_array_push(ctx, triangles, &corners[i]));
        }
    return MN_OK;
}

mn_status mn_input_wind(const mn_cook *cook, int32_t input, mn_volume *wind)
{
    *wind = (mn_volume){0};
    const mn_geo *geo = mn_cook_input(cook, input);
    if (!geo) return MN_OK;
    *wind = mn_geo_find_volume(geo, "vel");
    if (!wind->ops || mn_volume_get_info(*wind).components != 3)
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "the wind input holds no vector volume named vel; connect a velocity VDB, or use the wind "
            "parameter.");
    return MN_OK;
}
