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
