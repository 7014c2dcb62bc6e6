// SPDX-License-Identifier: Apache-2.0
//
// What more than one node looks for in an input.
#include "nodes/inputs.h"

#include <string.h>

mn_volume mn_input_level_set(const mn_geo *geo)
{
    mn_volume volume = mn_geo_find_volume(geo, "surface");
    if (!volume.ops) volume = mn_geo_find_volume(geo, NULL);
    const mn_volume_info info = mn_volume_get_info(volume);
    const bool usable = volume.ops && info.kind == MN_VOLUME_LEVEL_SET && info.components == 1;
    return usable ? volume : (mn_volume){0};
}

mn_status mn_input_collider_of(const mn_cook *cook, const mn_geo *geo, mn_collider **collider)
{
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    for (int i = 0; i < MN_PAINT_COUNT; i++)
        def.paint = def.paint || mn_geo_find_numeric(geo, MN_POINT, mn_paint_name((mn_paint)i), 1);
    def.velocity_scale = cook->dt > 0 ? 1.0 / (cook->fps * cook->dt) : 0;
    return mn_collider_create(cook->ctx, &def, collider);
}

mn_status mn_input_colliders(const mn_cook *cook, int32_t input, mn_collider **collider)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    *collider = NULL;
    return geo ? mn_input_collider_of(cook, geo, collider) : MN_OK;
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

mn_status mn_input_vector_volume(const mn_cook *cook, const mn_geo *geo, const char *name, const char *what,
                                 mn_volume *volume)
{
    *volume = mn_geo_find_volume(geo, name);
    if (!volume->ops || mn_volume_get_info(*volume).components != 3)
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "the %s input holds no vector volume named %s; connect a velocity VDB, or use the %s parameter.",
            what, name, what);
    return MN_OK;
}

mn_status mn_input_wind(const mn_cook *cook, int32_t input, mn_volume *wind)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    *wind = (mn_volume){0};
    return geo ? mn_input_vector_volume(cook, geo, "vel", "wind", wind) : MN_OK;
}

static bool is_painted(const mn_geo *geo, const char *name)
{
    const mn_attribute *paint = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; paint && p < mn_geo_primitive_count(geo); p++)
        for (int64_t v = starts[p]; kinds[p] != MN_VOLUME && v < starts[p + 1]; v++) { // volumes have none
            double value;
            mn_attribute_get(paint, points[v], 1, &value);
            if (value >= 0) return true;
        }
    return false;
}

void mn_input_warn_paint(const mn_cook *cook, const mn_geo *colliders, uint32_t read, const char *by)
{
    for (int i = 0; colliders && i < MN_PAINT_COUNT; i++)
        if (!(read >> i & 1) && is_painted(colliders, mn_paint_name((mn_paint)i)))
            mn_cook_warn(
                cook, "The colliders have their own %s, which %s cannot follow: the solver's value is used.",
                mn_paint_name((mn_paint)i), by);
}

mn_status mn_input_fields(const mn_cook *cook, const mn_geo *geo, mn_fields *fields)
{
    mn_volume *const to[] = {&fields->force, &fields->wind, &fields->sigma, &fields->viscosity,
                             &fields->heat};
    static const char *const names[] = {"force", "vel", "sigma", "viscosity", "heat"};
    static const int32_t components[] = {3, 3, 1, 1, 1};
    enum { KINDS = 5 };
    bool any = false;
    *fields = (mn_fields){0};
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        if (!volume.ops) continue;
        const mn_volume_info info = mn_volume_get_info(volume);
        int k = 0;
        while (k < KINDS && (strcmp(info.name, names[k]) != 0 || info.components != components[k])) k++;
        if (k < KINDS && !to[k]->ops) {
            *to[k] = volume, any = true;
            continue;
        }
        mn_cook_warn(cook,
                     "Volume '%s' with %d components acts on nothing; fields are force and vel (vectors), "
                     "sigma, viscosity and heat (numbers), one of each.",
                     info.name, (int)info.components);
    }
    if (any) return MN_OK;
    return mn_cook_fail(cook, MN_ERROR_INPUT,
                        "the fields input holds no volume named force, vel, sigma, viscosity or heat; "
                        "connect a field node, or rename the volume.");
}
