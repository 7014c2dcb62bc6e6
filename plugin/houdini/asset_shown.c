// SPDX-License-Identifier: Apache-2.0
//
// What an asset gives. Its first output is what the scene shows, each piece of it under a path and with a
// material of its own; the second is the surface of what was simulated, alone.
//
//   liquid -> liquid_render --
//   plate  -> plate_render  --> scene (merge) -> asset_output
//             liquid_render -----------------> surface_output
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/asset_parts.h"

#define OUTPUT_NODE "asset_output"
#define SURFACE_NODE "surface_output"
#define SURFACE_MERGE "surface_merge"
enum { MAX_SHOWN = 64 };

typedef struct shown {
    int32_t node, output;
    int32_t solver; ///< the simulation that it comes from, -1 for none
} shown;

// ---- which they are ----

bool mn_asset_is_last_merge(const mn_asset_contents *c, int32_t node)
{
    return node == mn_network_output(c->network) &&
           strcmp(mn_network_node_type(c->network, node)->name, "merge") == 0;
}

/// The nearest simulation at or above a node.
static int32_t solver_of(const mn_asset_contents *c, int32_t node)
{
    if (mn_network_node_type(c->network, node)->sim) return node;
    for (int32_t i = 0; i < mn_network_input_count(c->network, node); i++) {
        int32_t source, output;
        mn_network_input(c->network, node, i, &source, &output);
        const int32_t found = source >= 0 ? solver_of(c, source) : -1;
        if (found >= 0) return found;
    }
    return -1;
}

static void add_shown(const mn_asset_contents *c, int32_t node, int32_t output, shown *all, int32_t *count)
{
    for (int32_t i = 0; i < *count; i++)
        if (all[i].node == node && all[i].output == output) return;
    if (*count < MAX_SHOWN) all[(*count)++] = (shown){node, output, solver_of(c, node)};
}

static int32_t find_shown(const mn_asset_contents *c, shown all[MAX_SHOWN])
{
    const int32_t last = mn_network_output(c->network);
    int32_t count = 0;
    if (!mn_asset_is_last_merge(c, last)) add_shown(c, last, 0, all, &count);
    for (int32_t i = 0; mn_asset_is_last_merge(c, last) && i < mn_network_input_count(c->network, last);
         i++) {
        int32_t source, output;
        mn_network_input(c->network, last, i, &source, &output);
        if (source >= 0) add_shown(c, source, output, all, &count);
    }
    return count;
}

void mn_asset_render_name(const mn_asset_contents *c, int32_t node, int32_t output, char *text, size_t size)
{
    char source[MN_HOUDINI_NAME + 16];
    mn_asset_source_of(c, node, output, source, sizeof source);
    snprintf(text, size, "%s_render", source);
}

/// A solver that is shown by its first output may have a surface among the others.
static int32_t surface_of(const mn_asset_contents *c, const shown *one)
{
    const mn_node_type *type = mn_network_node_type(c->network, one->node);
    for (int32_t i = 1; type->sim && one->output == 0 && i < type->output_count; i++)
        if (strcmp(type->outputs[i].label, "Surface") == 0) return i;
    return 0;
}

bool mn_asset_surface_needs(const mn_asset_contents *c, int32_t node, int32_t output)
{
    shown all[MAX_SHOWN];
    const int32_t count = find_shown(c, all);
    for (int32_t i = 0; i < count; i++)
        if (all[i].node == node && output > 0 && surface_of(c, &all[i]) == output) return true;
    return false;
}

/// Where the second output takes its pieces from.
static int32_t surface_wires(const mn_asset_contents *c, mn_asset_wire wires[MAX_SHOWN])
{
    shown all[MAX_SHOWN];
    const int32_t count = find_shown(c, all);
    int32_t found = 0;
    for (int32_t i = 0; i < count; i++) {
        const int32_t surface = surface_of(c, &all[i]);
        mn_asset_wire *wire = &wires[found];
        if (all[i].solver < 0) continue;
        *wire = (mn_asset_wire){.input = found++};
        if (surface > 0)
            mn_asset_source_of(c, all[i].node, surface, wire->source, sizeof wire->source);
        else
            mn_asset_render_name(c, all[i].node, all[i].output, wire->source, sizeof wire->source);
    }
    return found;
}

// ---- the nodes ----

/// NAME of the asset's, as text in backquotes.
static void put_chs(mn_asset_contents *c, const char *name)
{
    mn_json_text_put(&c->out, "`chs(\\\"../");
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, "\\\")`");
}

static void put_text_row(mn_asset_contents *c, const char *name, const char *behind)
{
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, "\t[ 0\tlocks=0 ]\t(\t\"");
    put_chs(c, name);
    mn_json_text_put(&c->out, behind);
    mn_json_text_put(&c->out, "\"\t)\n");
}

static void put_channel_row(mn_asset_contents *c, const char *name, double value)
{
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, "\t[ 8\tlocks=0 ]\t(\t[ ");
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, "\t");
    mn_json_text_put_number(&c->out, value);
    mn_json_text_put(&c->out, " ] \t)\n");
}

static void put_follower(mn_asset_contents *c, const char *name, const char *node, const char *parm)
{
    mn_asset_open_channel(c, name);
    mn_json_text_put(&c->out, "      segment { length = 0 expr = ch(\\\"../");
    if (node) mn_json_text_put(&c->out, node);
    if (node) mn_json_text_put(&c->out, "/");
    mn_json_text_put(&c->out, parm);
    mn_json_text_put(&c->out, "\\\") }\n    }\n");
}

/// The velocity on screen follows the solver's time scale.
static bool follows_time(const mn_asset_contents *c, const shown *one, double *scale)
{
    mn_parm_value value;
    if (one->solver < 0) return false;
    if (mn_parm_find(mn_network_node_type(c->network, one->solver), MN_HOUDINI_LOOK_TIME) < 0) return false;
    if (mn_network_parm(c->network, one->solver, MN_HOUDINI_LOOK_TIME, c->first_frame, &value) != MN_OK)
        return false;
    *scale = value.number[0];
    return true;
}

static void put_render(mn_asset_contents *c, const shown *one, bool alone, int32_t row)
{
    char path[MN_HOUDINI_NAME + 48] = "hdaroot/", name[MN_HOUDINI_NAME], behind[MN_HOUDINI_NAME + 16] = "";
    mn_asset_wire from = {.input = 0};
    double scale = 1;
    mn_asset_source_of(c, one->node, one->output, from.source, sizeof from.source);
    mn_asset_render_name(c, one->node, one->output, path + strlen(path), sizeof path - strlen(path));
    if (!alone) snprintf(behind, sizeof behind, "/%s", mn_network_node_name(c->network, one->node));
    mn_houdini_operator_name(MN_HOUDINI_RENDER, name);
    mn_asset_put_init(c, path, name);
    mn_asset_put_def(c, path, row, false, 1, 1, &from);
    const bool timed = follows_time(c, one, &scale);
    if (one->solver >= 0) {
        mn_asset_open_part(c, path, ".chn");
        mn_json_text_put(&c->out, "{\n");
        put_follower(c, MN_HOUDINI_LOOK, NULL, MN_HOUDINI_LOOK);
        if (timed)
            put_follower(c, MN_HOUDINI_LOOK_TIME, mn_network_node_name(c->network, one->solver),
                         MN_HOUDINI_LOOK_TIME);
        mn_json_text_put(&c->out, "  }\n\n");
    }
    mn_asset_open_part(c, path, ".parm");
    mn_json_text_put(&c->out, "{\nversion 0.8\n");
    put_text_row(c, MN_HOUDINI_USD_PATH, behind);
    if (one->solver >= 0)
        put_channel_row(c, MN_HOUDINI_LOOK, mn_houdini_asset_look(c->network));
    else
        mn_json_text_put(&c->out, MN_HOUDINI_LOOK "\t[ 0\tlocks=0 ]\t(\t\"none\"\t)\n");
    put_text_row(c, MN_HOUDINI_LOOK_PATH, "");
    if (timed) put_channel_row(c, MN_HOUDINI_LOOK_TIME, scale);
    mn_json_text_put(&c->out, "}\n\n");
    mn_asset_put_userdata(c, path);
}

static void put_output(mn_asset_contents *c, const char *path, int32_t index, int32_t row,
                       const mn_asset_wire *from)
{
    mn_asset_put_init(c, path, "output");
    mn_asset_put_def(c, path, row, index == 0, 0, 1, from);
    mn_asset_open_part(c, path, ".parm");
    mn_json_text_put(&c->out, "{\nversion 0.8\noutputidx\t[ 0\tlocks=0 ]\t(\t");
    mn_asset_put_int(c, index);
    mn_json_text_put(&c->out, "\t)\n}\n\n");
    mn_asset_put_userdata(c, path);
}

void mn_asset_put_shown(mn_asset_contents *c, int32_t row)
{
    shown all[MAX_SHOWN];
    mn_asset_wire wires[MAX_SHOWN], from = {.input = 0};
    const int32_t last = mn_network_output(c->network), count = find_shown(c, all);
    const bool merged = mn_asset_is_last_merge(c, last);
    for (int32_t i = 0; i < count; i++) put_render(c, &all[i], !merged, row);
    if (merged)
        mn_asset_source_of(c, last, 0, from.source, sizeof from.source);
    else
        mn_asset_render_name(c, last, 0, from.source, sizeof from.source);
    put_output(c, "hdaroot/" OUTPUT_NODE, 0, row + 1, &from);
    const int32_t pieces = surface_wires(c, wires);
    if (pieces == 0) return;
    if (pieces > 1) {
        char name[MN_HOUDINI_NAME];
        mn_houdini_operator_name("merge", name);
        mn_asset_put_init(c, "hdaroot/" SURFACE_MERGE, name);
        mn_asset_put_def(c, "hdaroot/" SURFACE_MERGE, row + 1, false, 1, pieces, wires);
        mn_asset_put_userdata(c, "hdaroot/" SURFACE_MERGE);
        wires[0] = (mn_asset_wire){.input = 0, .source = SURFACE_MERGE};
    }
    put_output(c, "hdaroot/" SURFACE_NODE, 1, row + 2, &wires[0]);
}

int32_t mn_asset_put_shown_names(mn_asset_contents *c, mn_json_text *out)
{
    shown all[MAX_SHOWN];
    mn_asset_wire wires[MAX_SHOWN];
    const int32_t count = find_shown(c, all), pieces = surface_wires(c, wires);
    for (int32_t i = 0; out && i < count; i++) {
        char name[MN_HOUDINI_NAME + 32];
        mn_asset_render_name(c, all[i].node, all[i].output, name, sizeof name);
        mn_json_text_put(out, name);
        mn_json_text_put(out, "\n");
    }
    if (out) mn_json_text_put(out, OUTPUT_NODE "\n");
    if (out && pieces > 1) mn_json_text_put(out, SURFACE_MERGE "\n");
    if (out && pieces > 0) mn_json_text_put(out, SURFACE_NODE "\n");
    return count + 1 + (pieces > 1) + (pieces > 0);
}

// ---- what the dialog says of it ----

bool mn_houdini_asset_has_surface(const mn_network *network)
{
    const mn_asset_contents c = {.network = network};
    mn_asset_wire wires[MAX_SHOWN];
    return surface_wires(&c, wires) > 0;
}

static bool has_node(const mn_network *network, const char *type_name)
{
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        if (type && strcmp(type->name, type_name) == 0) return true;
    }
    return false;
}

static bool has_liquid(const mn_network *network, const char *token)
{
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        mn_parm_value value;
        const int32_t parm = type ? mn_parm_find(type, "material") : -1;
        if (parm < 0 || type->parms[parm].kind != MN_PARM_MENU) continue;
        if (mn_network_parm(network, i, "material", 1, &value) != MN_OK) continue;
        if (strcmp(type->parms[parm].items[(int32_t)value.number[0]].token, token) == 0) return true;
    }
    return false;
}

/// Nothing but mercury and other molten metals is as dense.
static bool is_metal(const mn_network *network)
{
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        mn_parm_value value;
        if (!type || mn_parm_find(type, "density") < 0) continue;
        if (mn_network_parm(network, i, "density", 1, &value) == MN_OK && value.number[0] > 5000) return true;
    }
    return has_liquid(network, "mercury");
}

int32_t mn_houdini_asset_look(const mn_network *network)
{
    const char *token = "water";
    if (is_metal(network))
        token = "mercury";
    else if (has_liquid(network, "milk"))
        token = "milk";
    else if (has_node(network, "tet_material"))
        token = "none";
    else if ((has_node(network, "film_source") || has_node(network, "film_solver")) &&
             !has_node(network, "jet_source"))
        token = "soap_film";
    const mn_node_type *type = &mn_houdini_render_geometry;
    const mn_menu_item *items = type->parms[mn_parm_find(type, MN_HOUDINI_LOOK)].items;
    int32_t index = 0;
    while (strcmp(items[index].token, token) != 0) index++;
    return index;
}
