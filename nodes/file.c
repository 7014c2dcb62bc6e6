// SPDX-License-Identifier: Apache-2.0
//
// file: geometry from disk, one file or one per frame.
//
// In the path $F stands for the frame and $F4 for the frame with at least four digits; ${F} and ${F4} are the
// same where letters or digits follow.
#include "nodes/parm.h"

#include <stdio.h>
#include <string.h>

enum { PATH_LIMIT = 4096, MISSING_ERROR = 0, MISSING_EMPTY = 1 };

static const mn_menu_item missing_items[] = {
    {"error", "Report Error"}, {"empty", "Give No Geometry"}, {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_FILE("path", "Path", "", "File", NULL,
            "A .geo, .bgeo, .bgeo.gz, .bgeo.sc, .obj, .ply or .vdb file. $F4 stands for the frame with four "
            "digits: water.$F4.bgeo.sc. Relative paths start at the scene's folder."),
    MN_MENU("missing", "Missing File", missing_items, MISSING_ERROR, "File", NULL,
            "What to do at frames whose file does not exist: say so, or go on without geometry."),
};

static const mn_output_def outputs_of[] = {{"Geometry", "what the file holds"}};

// The length of a frame variable at the start of `text`, with its digits; 0 when there is none.
static size_t frame_variable(const char *text, int *digits)
{
    if (text[0] != '$') return 0;
    const bool braced = text[1] == '{';
    size_t at = braced ? 2 : 1;
    if (text[at] != 'F') return 0;
    at++;
    *digits = 1;
    if (text[at] >= '1' && text[at] <= '9') *digits = text[at++] - '0';
    if (braced && text[at] != '}') return 0;
    return braced ? at + 1 : at;
}

static bool is_sequence(const mn_cook *cook)
{
    int digits;
    for (const char *at = mn_cook_string(cook, "path"); *at; at++)
        if (frame_variable(at, &digits) > 0) return true;
    return false;
}

// The path at this frame. False when it does not fit.
static bool expand(const char *path, int64_t frame, char out[PATH_LIMIT])
{
    size_t length = 0;
    while (*path) {
        int digits, written = 1;
        const size_t variable = frame_variable(path, &digits);
        if (variable > 0)
            written = snprintf(out + length, PATH_LIMIT - length, "%0*lld", digits, (long long)frame);
        else
            out[length] = *path;
        path += variable > 0 ? variable : 1;
        length += (size_t)written;
        if (length >= PATH_LIMIT) return false;
    }
    out[length] = '\0';
    return true;
}

static mn_status cook_file(const mn_cook *cook, mn_geo **outputs)
{
    const char *path = mn_cook_string(cook, "path");
    char expanded[PATH_LIMIT];
    if (path[0] == '\0') return mn_cook_fail(cook, MN_ERROR_ARGUMENT, "no file is chosen; set path.");
    if (!expand(path, (int64_t)floor(cook->frame + 0.5), expanded))
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT, "the path is longer than %d characters.",
                            PATH_LIMIT - 1);
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
