// SPDX-License-Identifier: Apache-2.0
//
// Formats by the ending of a path.
#include "plugin/io/io.h"

#include <string.h>
#include <strings.h>

// Longer endings first, so that .bgeo.sc is not taken for something else.
static const struct {
    const char *ending;
    mn_format format;
} endings[] = {
    {"bgeo.sc", MN_FORMAT_BGEO_SC}, {"bgeo.gz", MN_FORMAT_BGEO_GZ}, {"bgeo", MN_FORMAT_BGEO},
    {"geo", MN_FORMAT_GEO},         {"obj", MN_FORMAT_OBJ},         {"ply", MN_FORMAT_PLY},
    {"vdb", MN_FORMAT_VDB},         {"usda", MN_FORMAT_USD},        {"glb", MN_FORMAT_GLB},
    {"stl", MN_FORMAT_STL},
};

const char *mn_format_ending(mn_format format)
{
    if (format == MN_FORMAT_PLY_ASCII) format = MN_FORMAT_PLY;
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++)
        if (endings[i].format == format) return endings[i].ending;
    return "";
}

bool mn_format_is_read(mn_format format)
{
    return format != MN_FORMAT_USD && format != MN_FORMAT_GLB;
}

bool mn_format_from_path(const char *path, mn_format *format)
{
    const size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        const size_t n = strlen(endings[i].ending);
        if (length < n || strcasecmp(path + length - n, endings[i].ending) != 0) continue;
        if (length > n && path[length - n - 1] != '.') continue;
        *format = endings[i].format;
        return true;
    }
    return false;
}

bool mn_format_from_name(const char *name, mn_format *format)
{
    if (strcmp(name, "usd") == 0) name = "usda"; // the layers are text
    return mn_format_from_path(name, format) && strcmp(name, mn_format_ending(*format)) == 0;
}
