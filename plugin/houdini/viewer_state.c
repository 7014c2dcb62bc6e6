// SPDX-License-Identifier: Apache-2.0
//
// Handles in the viewport: a viewer state in Python for each node type with a middle and a size. It has the
// operator's name, by which Houdini finds the state of a node.
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/text_files.h"
#include "plugin/json/text.h"

static const struct {
    const char *name, *center,
        *size; ///< the handle and the parameters that it moves and scales; size or NULL
} handles[] = {
    {"shape", "center", "size"},
    {"domain", "domain_center", "domain_size"},
    {"limits", "limit_center", "limit_size"},
    {"pin", "body_pin_center", "body_pin_size"},
};

static bool is_vector(const mn_node_type *type, const char *name)
{
    const int32_t parm = mn_parm_find(type, name);
    return parm >= 0 && type->parms[parm].kind == MN_PARM_FLOAT && type->parms[parm].size == 3;
}

bool mn_houdini_has_handles(const mn_node_type *type)
{
    for (size_t i = 0; i < MN_COUNT_OF(handles); i++)
        if (is_vector(type, handles[i].center)) return true;
    return false;
}

static void put_bindings(mn_json_text *out, const char *parm, char part)
{
    for (int axis = 0; axis < 3; axis++) {
        char text[160];
        snprintf(text, sizeof text, "(\"%s%c\", \"%c%c\"), ", parm, "xyz"[axis], part, "xyz"[axis]);
        mn_json_text_put(out, text);
    }
}

mn_status mn_houdini_state(mn_context *ctx, const mn_node_type *type, char **text)
{
    mn_json_text out = {.ctx = ctx};
    char name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(type->name, name);
    mn_json_text_put(&out, "# SPDX-License-Identifier: Apache-2.0\n\"\"\"Handles of ");
    mn_json_text_put(&out, type->label);
    mn_json_text_put(&out,
                     ". Made from the node's table by meniscus_houdini_files.\"\"\"\nimport hou\n\n\n"
                     "class State(object):\n    def __init__(self, state_name, scene_viewer):\n"
                     "        self.state_name = state_name\n        self.scene_viewer = scene_viewer\n\n\n"
                     "def createViewerStateTemplate():\n    template = hou.ViewerStateTemplate(\"");
    mn_json_text_put(&out, name);
    mn_json_text_put(&out, "\", \"");
    mn_json_text_put(&out, type->label);
    mn_json_text_put(&out, "\", hou.sopNodeTypeCategory())\n    template.bindFactory(State)\n"
                           "    template.bindIcon(\"meniscus_");
    mn_json_text_put(&out, type->name);
    mn_json_text_put(&out, "\")\n");
    for (size_t i = 0; i < MN_COUNT_OF(handles); i++) {
        if (!is_vector(type, handles[i].center)) continue;
        mn_json_text_put(&out, "    template.bindHandleStatic(\"xform\", \"");
        mn_json_text_put(&out, handles[i].name);
        mn_json_text_put(&out, "\", [");
        put_bindings(&out, handles[i].center, 't');
        if (is_vector(type, handles[i].size)) put_bindings(&out, handles[i].size, 's');
        mn_json_text_put(&out, "])\n");
    }
    mn_json_text_put(&out, "    return template\n");
    return mn_json_text_finish(&out, text);
}
