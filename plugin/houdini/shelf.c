// SPDX-License-Identifier: Apache-2.0
//
// A shelf with a tool for every node type and every asset.
#include <stdio.h>

#include "plugin/houdini/text_files.h"
#include "plugin/json/text.h"

static void put_escaped(mn_json_text *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        const char plain[2] = {*c, '\0'};
        mn_json_text_put(out, *c == '&' ? "&amp;" : *c == '<' ? "&lt;" : *c == '"' ? "&quot;" : plain);
    }
}

static void put_tool(mn_json_text *out, const char *name, const char *label, const char *help)
{
    char operator_name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(name, operator_name);
    mn_json_text_put(out, "  <tool name=\"meniscus_");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\" label=\"");
    put_escaped(out, label);
    mn_json_text_put(out, "\" icon=\"meniscus_");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\">\n    <helpText>");
    put_escaped(out, help);
    // No menu context: the operators have entries of their own in Tab.
    mn_json_text_put(out, "</helpText>\n"
                          "    <script scriptType=\"python\"><![CDATA[import soptoolutils\n\n"
                          "soptoolutils.genericTool(kwargs, '");
    mn_json_text_put(out, operator_name);
    mn_json_text_put(out, "')]]></script>\n  </tool>\n");
}

static void put_member(mn_json_text *out, const char *name)
{
    mn_json_text_put(out, "    <memberTool name=\"meniscus_");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\"/>\n");
}

mn_status mn_houdini_shelf(mn_context *ctx, const mn_network *const *assets, int32_t count, char **text)
{
    int32_t type_count;
    const mn_node_type *const *types = mn_node_types(&type_count);
    mn_json_text out = {.ctx = ctx};
    mn_json_text_put(&out, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<shelfDocument>\n"
                           "  <toolshelf name=\"meniscus\" label=\"Meniscus\">\n");
    for (int32_t i = 0; i < count; i++) put_member(&out, mn_network_asset(assets[i])->name);
    for (int32_t i = 0; i < type_count; i++) put_member(&out, types[i]->name);
    mn_json_text_put(&out, "  </toolshelf>\n\n");
    for (int32_t i = 0; i < count; i++) {
        const mn_asset *asset = mn_network_asset(assets[i]);
        put_tool(&out, asset->name, asset->label, mn_network_title(assets[i]));
    }
    for (int32_t i = 0; i < type_count; i++) put_tool(&out, types[i]->name, types[i]->label, types[i]->help);
    mn_json_text_put(&out, "</shelfDocument>\n");
    return mn_json_text_finish(&out, text);
}
