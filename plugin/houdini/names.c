// SPDX-License-Identifier: Apache-2.0
//
// Names in Houdini: of our operators, with a namespace in front and a version behind, and of what an asset
// shows.
#include <stdio.h>
#include <string.h>

#include "plugin/houdini/text_files.h"

#define FRONT "meniscus::"
#define BACK "::1.0"

void mn_houdini_operator_name(const char *name, char operator_name[MN_HOUDINI_NAME])
{
    snprintf(operator_name, MN_HOUDINI_NAME, FRONT "%s" BACK, name);
}

bool mn_houdini_type_name(const char *operator_name, char name[MN_HOUDINI_NAME])
{
    const size_t front = strlen(FRONT), back = strlen(BACK), length = strlen(operator_name);
    if (length <= front + back || length - front - back >= MN_HOUDINI_NAME) return false;
    if (strncmp(operator_name, FRONT, front) != 0) return false;
    if (strcmp(operator_name + length - back, BACK) != 0) return false;
    memcpy(name, operator_name + front, length - front - back);
    name[length - front - back] = '\0';
    return true;
}

const mn_node_type *mn_houdini_find_type(const char *name)
{
    if (strcmp(name, MN_HOUDINI_RENDER) == 0) return &mn_houdini_render_geometry;
    return mn_node_type_find(name);
}

bool mn_houdini_is_first(const mn_asset *asset, int32_t index)
{
    for (int32_t i = 0; i < index; i++)
        if (strcmp(asset->parms[i].name, asset->parms[index].name) == 0) return false;
    return true;
}

bool mn_houdini_shows(const mn_asset *asset, const char *name)
{
    for (int32_t i = 0; i < asset->parm_count; i++)
        if (strcmp(asset->parms[i].name, name) == 0) return true;
    return false;
}
