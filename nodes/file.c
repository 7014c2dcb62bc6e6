// SPDX-License-Identifier: Apache-2.0
//
// file: geometry from disk, one file or one per frame.
//
// In the path $F stands for the frame (nodes/frame_path.c).
#include "nodes/parm.h"

enum { MISSING_ERROR = 0, MISSING_EMPTY = 1 };

static const mn_menu_item missing_items[] = {
    {"error", "Report Error"}, {"empty", "Give No Geometry"}, {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_FILE("path", "Path", "", "File", NULL,
            "A .geo, .bgeo, .bgeo.gz, .bgeo.sc, .obj, .ply, .stl or .vdb file. $F4 stands for the frame with "
            "four digits: water.$F4.bgeo.sc. Relative paths start at the scene's folder."),
    MN_MENU("missing", "Missing File", missing_items, MISSING_ERROR, "File", NULL,
            "What to do at frames whose file does not exist: fail, or continue without geometry."),
};

static const mn_output_def outputs_of[] = {{"Geometry", "what the file holds"}};

static bool is_sequence(const mn_cook *cook)
{
    return mn_path_is_sequence(mn_cook_string(cook, "path"));
}

static mn_status cook_file(const mn_cook *cook, mn_geo **outputs)
{
    const char *path = mn_cook_string(cook, "path");
    char expanded[MN_PATH_LIMIT];
    if (path[0] == '\0') return mn_cook_fail(cook, MN_ERROR_ARGUMENT, "no file is chosen; set path.");
    if (!mn_path_at_frame(path, cook->frame, expanded))
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT, "the path is longer than %d characters.",
                            MN_PATH_LIMIT - 1);
    if (!cook->services || !cook->services->read_geometry)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "this host reads no files.");
    const mn_status status =
        cook->services->read_geometry(cook->services->user, cook->ctx, expanded, &outputs[0]);
    if (status != MN_ERROR_NOT_FOUND) return status;
    if (mn_cook_menu(cook, "missing") == MISSING_EMPTY) {
        mn_context_clear_message(cook->ctx);
        return mn_geo_create(cook->ctx, &outputs[0]);
    }
    return mn_cook_fail(cook, status, "there is no file %s; check path%s.", expanded,
                        is_sequence(cook) ? " and the frame range, or set missing to empty" : "");
}

const mn_node_type mn_file_node = {
    .name = "file",
    .label = "Meniscus File",
    .menu = "Meniscus/Geometry",
    .help = "Reads a geometry file, or a sequence with one file per frame.",
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .is_time_dependent = is_sequence,
    .cook = cook_file,
};
