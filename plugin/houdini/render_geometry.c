// SPDX-License-Identifier: Apache-2.0
//
// render_geometry, a node of Houdini alone: geometry as renderers and Solaris want it. A stable `path` and
// `name` on every primitive, a material to bind, smooth normals, and velocity in metres per second on screen.
//
//   path            PATH/surface, PATH/threads, PATH/tetrahedra, PATH/NAME of a volume
//   name            the last part of it
//   usdmaterialpath, shop_materialpath     of the material library that the package brings, or one's own
//   v               times the simulated seconds in a second on screen
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "geo/point_normals.h"
#include "nodes/parm.h"
#include "plugin/houdini/text_files.h"

#define LIBRARY "/meniscus/materials/"
enum { PATH_MAX_BYTES = 1024 };

static const mn_input_def inputs_of[] = {
    {"Geometry", "what is to be rendered: a surface, films, threads, points or volumes", true, false}};
static const mn_output_def outputs_of[] = {
    {"Geometry", "the same with path, name, material, N, and v as it is seen"}};

static const mn_menu_item materials[] = {
    {"none", "None"},           {"water", "Water"},  {"mercury", "Mercury"}, {"milk", "Milk"},
    {"soap_film", "Soap Film"}, {"own", "Own Path"}, {NULL, NULL},
};

static const mn_parm_def parms_of[] = {
    {.name = MN_HOUDINI_USD_PATH,
     .label = "USD Path",
     .kind = MN_PARM_STRING,
     .size = 1,
     .default_string = "liquid",
     .folder = "Render",
     .tooltip =
         "Where the geometry stands in a USD stage; below the import's prefix unless it begins with /."},
    {.name = MN_HOUDINI_LOOK,
     .label = "Render Material",
     .kind = MN_PARM_MENU,
     .size = 1,
     .defaults = {1},
     .items = materials,
     .folder = "Render",
     .tooltip = "The material that is bound, one of the Meniscus Material Library or a path of your own."},
    {.name = MN_HOUDINI_LOOK_PATH,
     .label = "Material Path",
     .kind = MN_PARM_STRING,
     .size = 1,
     .default_string = "",
     .folder = "Render",
     .disable_when = "{ " MN_HOUDINI_LOOK " != own }",
     .tooltip = "A material in the USD stage or in a material network."},
    {.name = MN_HOUDINI_LOOK_TIME,
     .label = "Time Scale",
     .kind = MN_PARM_FLOAT,
     .size = 1,
     .defaults = {1},
     .hard_min = 0,
     .hard_max = INFINITY,
     .soft_min = 0,
     .soft_max = 1,
     .unit = "",
     .folder = "Render",
     .tooltip =
         "Simulated seconds in a second on screen, as on the solver: motion blur is as long as the way "
         "that is seen."},
};

static const char *part_of(const mn_geo *geo, int64_t primitive)
{
    switch ((mn_primitive_kind)mn_geo_primitive_kinds(geo)[primitive]) {
    case MN_POLYLINE:
        return "threads";
    case MN_TETRAHEDRON:
        return "tetrahedra";
    case MN_VOLUME: {
        const char *name = mn_volume_get_info(mn_geo_volume(geo, primitive)).name;
        return name && name[0] ? name : "volume";
    }
    default:
        return "surface";
    }
}

static mn_status add_strings(mn_geo *geo, const char *name, mn_attribute **made)
{
    const mn_attribute *there = mn_geo_find(geo, MN_PRIMITIVE, name);
    if (there) MN_TRY(mn_geo_remove_attribute(geo, MN_PRIMITIVE, name));
    return mn_geo_add_attribute(geo, MN_PRIMITIVE, name, MN_STRING, 1, MN_HINT_NONE, made);
}

/// ROOT/part, or the part alone.
static mn_status intern_path(mn_geo *geo, mn_attribute *paths, const char *root, const char *part,
                             int32_t *index)
{
    char path[PATH_MAX_BYTES];
    size_t length = strlen(root);
    while (length > 1 && root[length - 1] == '/') length--;
    snprintf(path, sizeof path, "%.*s%s%s", (int)length, root, length > 0 ? "/" : "", part);
    return mn_attribute_intern(geo, paths, path, index);
}

static mn_status add_paths(mn_geo *geo, const char *root)
{
    mn_attribute *paths, *names;
    MN_TRY(add_strings(geo, "path", &paths));
    MN_TRY(add_strings(geo, "name", &names));
    const int64_t count = mn_geo_primitive_count(geo);
    if (count == 0) return MN_OK;
    const char *last = "";
    int32_t path = -1, name = -1;
    for (int64_t i = 0; i < count; i++) {
        const char *part = part_of(geo, i);
        if (strcmp(part, last) != 0) {
            MN_TRY(intern_path(geo, paths, root, part, &path));
            MN_TRY(mn_attribute_intern(geo, names, part, &name));
        }
        last = part;
        int32_t *path_of = mn_attribute_write(geo, paths), *name_of = mn_attribute_write(geo, names);
        if (!path_of || !name_of) return MN_ERROR_MEMORY;
        path_of[i] = path;
        name_of[i] = name;
    }
    return MN_OK;
}

/// Solaris reads the one, materials of /obj and /mat the other.
static mn_status add_material(mn_geo *geo, const char *path)
{
    static const char *const names[] = {"usdmaterialpath", "shop_materialpath"};
    const int64_t count = mn_geo_primitive_count(geo);
    for (size_t k = 0; path[0] && count > 0 && k < MN_COUNT_OF(names); k++) {
        mn_attribute *made;
        int32_t index;
        MN_TRY(add_strings(geo, names[k], &made));
        MN_TRY(mn_attribute_intern(geo, made, path, &index));
        int32_t *values = mn_attribute_write(geo, made);
        if (!values) return MN_ERROR_MEMORY;
        for (int64_t i = 0; i < count; i++) values[i] = index;
    }
    return MN_OK;
}

static mn_status scale_velocity(mn_geo *geo, double scale)
{
    const mn_attribute *there = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    mn_attribute *v;
    if (!there || scale == 1) return MN_OK;
    MN_TRY(
        mn_geo_add_attribute(geo, MN_POINT, "v", mn_attribute_type(there), 3, mn_attribute_hint(there), &v));
    for (int64_t i = 0; i < mn_attribute_count(v); i++) {
        double value[3];
        mn_attribute_get(v, i, 1, value);
        for (int k = 0; k < 3; k++) value[k] *= scale;
        MN_TRY(mn_attribute_set(geo, v, i, 1, value));
    }
    return MN_OK;
}

static mn_status make_ready(const mn_cook *cook, mn_geo *geo)
{
    const int32_t look = mn_cook_menu(cook, MN_HOUDINI_LOOK);
    char material[PATH_MAX_BYTES] = "";
    if (strcmp(materials[look].token, "own") == 0)
        snprintf(material, sizeof material, "%s", mn_cook_string(cook, MN_HOUDINI_LOOK_PATH));
    else if (look > 0)
        snprintf(material, sizeof material, LIBRARY "%s", materials[look].token);
    MN_TRY(add_paths(geo, mn_cook_string(cook, MN_HOUDINI_USD_PATH)));
    MN_TRY(add_material(geo, material));
    MN_TRY(scale_velocity(geo, mn_cook_float(cook, MN_HOUDINI_LOOK_TIME)));
    return mn_geo_add_point_normals(geo);
}

static mn_status cook_render_geometry(const mn_cook *cook, mn_geo **outputs)
{
    mn_geo *geo;
    MN_TRY(mn_geo_copy(mn_cook_input(cook, 0), &geo));
    const mn_status status = make_ready(cook, geo);
    if (status == MN_OK)
        outputs[0] = geo;
    else
        mn_geo_free(geo);
    return status;
}

const mn_node_type mn_houdini_render_geometry = {
    .name = MN_HOUDINI_RENDER,
    .label = "Meniscus Render Geometry",
    .menu = "Meniscus/Geometry",
    .help =
        "Makes geometry ready for Solaris and renderers: paths, a material, normals, and velocity as it is seen.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms_of,
    .parm_count = MN_COUNT_OF(parms_of),
    .cook = cook_render_geometry,
};
