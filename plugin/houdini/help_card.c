// SPDX-License-Identifier: Apache-2.0
//
// Help cards in Houdini's wiki markup, from the tables alone.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/text_files.h"
#include "plugin/json/text.h"

static void put_head(mn_json_text *out, const char *name, const char *label, const char *line)
{
    mn_json_text_put(out, "#type: node\n#context: sop\n#internal: meniscus::");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\n#version: 1.0\n#namespace: meniscus\n#icon: meniscus_");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\n\n= ");
    mn_json_text_put(out, label);
    mn_json_text_put(out, " =\n\n\"\"\"");
    mn_json_text_put(out, line);
    mn_json_text_put(out, "\"\"\"\n");
}

// "At least 0, at most 1." behind the tooltip, where there is a limit.
static void put_limits(mn_json_text *out, const mn_parm_def *def)
{
    if (def->kind != MN_PARM_FLOAT && def->kind != MN_PARM_INT) return;
    const bool low = isfinite(def->hard_min), high = isfinite(def->hard_max);
    if (low) {
        mn_json_text_put(out, " At least ");
        mn_json_text_put_number(out, def->hard_min);
    }
    if (high) {
        mn_json_text_put(out, low ? ", at most " : " At most ");
        mn_json_text_put_number(out, def->hard_max);
    }
    if (low || high) mn_json_text_put(out, ".");
}

static void put_parm(mn_json_text *out, const mn_parm_def *def, const char *name, const char *label)
{
    mn_json_text_put(out, "\n");
    mn_json_text_put(out, label);
    mn_json_text_put(out, ":\n    #id: ");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\n\n    ");
    mn_json_text_put(out, def->tooltip ? def->tooltip : "");
    if (def->unit && def->unit[0]) {
        mn_json_text_put(out, " In ");
        mn_json_text_put(out, def->unit);
        mn_json_text_put(out, ".");
    }
    put_limits(out, def);
    mn_json_text_put(out, "\n");
    for (int32_t i = 0; i < mn_parm_item_count(def); i++) {
        mn_json_text_put(out, "\n    * ");
        mn_json_text_put(out, def->items[i].label);
        mn_json_text_put(out, "\n");
    }
}

static void put_inputs(mn_json_text *out, const mn_node_type *type)
{
    if (type->input_count == 0) return;
    mn_json_text_put(out, "\n@inputs\n");
    for (int32_t i = 0; i < type->input_count; i++) {
        mn_json_text_put(out, "\n");
        mn_json_text_put(out, type->inputs[i].label);
        mn_json_text_put(out, ":\n    ");
        mn_json_text_put(out, type->inputs[i].expects);
        mn_json_text_put(out, type->inputs[i].required ? ".\n" : ", if any.\n");
    }
}

static void put_outputs(mn_json_text *out, const mn_node_type *type)
{
    mn_json_text_put(out, "\n@outputs\n");
    for (int32_t i = 0; i < type->output_count; i++) {
        mn_json_text_put(out, "\n");
        mn_json_text_put(out, type->outputs[i].label);
        mn_json_text_put(out, ":\n    ");
        mn_json_text_put(out, type->outputs[i].gives);
        mn_json_text_put(out, ".\n");
    }
}

// What Houdini adds to a simulation, as in its dialog.
static void put_simulation(mn_json_text *out)
{
    int32_t count;
    const mn_parm_def *rows = mn_houdini_sim_parms(&count);
    mn_json_text_put(out,
                     "\nReset Simulation:\n    #id: " MN_HOUDINI_RESET "\n\n    " MN_HOUDINI_RESET_HELP "\n");
    for (int32_t i = 0; i < count; i++) put_parm(out, &rows[i], rows[i].name, rows[i].label);
}

mn_status mn_houdini_output_help(mn_context *ctx, char **text)
{
    mn_json_text out = {.ctx = ctx};
    put_head(&out, MN_HOUDINI_OUTPUT, MN_HOUDINI_OUTPUT_LABEL,
             "Gives another output of the solver it is connected to, such as its surface.");
    mn_json_text_put(&out, "\n@inputs\n\n" MN_HOUDINI_OUTPUT_INPUT
                           ":\n    a Meniscus solver, connected without a node in between.\n\n@parameters\n");
    put_parm(&out, &mn_houdini_output_parm, mn_houdini_output_parm.name, mn_houdini_output_parm.label);
    return mn_json_text_finish(&out, text);
}

mn_status mn_houdini_help(mn_context *ctx, const mn_node_type *type, char **text)
{
    mn_json_text out = {.ctx = ctx};
    put_head(&out, type->name, type->label, type->help);
    put_inputs(&out, type);
    mn_json_text_put(&out, "\n@parameters\n");
    const char *folder = "";
    for (int32_t i = 0; i < type->parm_count; i++) {
        const mn_parm_def *def = &type->parms[i];
        if (def->folder && strcmp(def->folder, folder) != 0) {
            mn_json_text_put(&out, "\n== ");
            mn_json_text_put(&out, folder = def->folder);
            mn_json_text_put(&out, " ==\n");
        }
        put_parm(&out, def, def->name, def->label);
    }
    if (type->sim) put_simulation(&out);
    put_outputs(&out, type);
    return mn_json_text_finish(&out, text);
}

// What is inside, for those who open it.
static void put_network(mn_json_text *out, const mn_network *network)
{
    mn_json_text_put(out, "\nA whole set-up in one node. Allow editing of its contents to see and change the "
                          "network inside:\n");
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        if (!type) continue;
        mn_json_text_put(out, "\n* `");
        mn_json_text_put(out, mn_network_node_name(network, i));
        mn_json_text_put(out, "`: ");
        mn_json_text_put(out, type->label);
        mn_json_text_put(out, "\n");
    }
}

mn_status mn_houdini_asset_help(const mn_network *network, char **text)
{
    const mn_asset *asset = mn_network_asset(network);
    mn_json_text out = {.ctx = mn_network_context(network)};
    put_head(&out, asset->name, asset->label, mn_network_title(network));
    put_network(&out, network);
    mn_json_text_put(&out, "\n@parameters\n");
    for (int32_t i = 0; i < asset->parm_count; i++) {
        const mn_asset_parm *promoted = &asset->parms[i];
        if (!mn_houdini_is_first(asset, i)) continue;
        put_parm(&out, &mn_network_node_type(network, promoted->node)->parms[promoted->parm], promoted->name,
                 promoted->label);
    }
    if (mn_houdini_sim_count(network) > 0) {
        mn_parm_value start;
        put_simulation(&out);
        if (mn_houdini_shared_start(network, &start))
            mn_json_text_put(&out, "\nStart Frame:\n    #id: " MN_HOUDINI_START
                                   "\n\n    The frame at which every simulation inside begins.\n");
    }
    for (int32_t i = 0; i < mn_houdini_render_geometry.parm_count; i++) {
        const mn_parm_def *def = &mn_houdini_render_geometry.parms[i];
        if (strcmp(def->name, MN_HOUDINI_LOOK_TIME) != 0) put_parm(&out, def, def->name, def->label);
    }
    return mn_json_text_finish(&out, text);
}
