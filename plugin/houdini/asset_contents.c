// SPDX-License-Identifier: Apache-2.0
//
// The network inside a digital asset as Houdini keeps it: one multipart text with a part for every piece of
// every node. A scene's nodes become nodes of our operators, wired as in the scene; promoted parameters are
// channels that read the asset's own; animated ones become keys. What the scene shows is made ready to render
// (asset_shown.c).
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/asset_parts.h"

#define BOUNDARY "HOUDINIMIMEBOUNDARY0x4D454E49-0x53435553-0x00000001-0x00000001HOUDINIMIMEBOUNDARY"
enum { MAX_WIRES = 256 };

// ---- parts ----

void mn_asset_open_part(mn_asset_contents *c, const char *node, const char *ending)
{
    mn_json_text_put(&c->out, "--" BOUNDARY "\nContent-Disposition: attachment; filename=\"");
    mn_json_text_put(&c->out, node);
    mn_json_text_put(&c->out, ending);
    mn_json_text_put(&c->out, "\"\nContent-Type: text/plain\n\n");
}

void mn_asset_put_int(mn_asset_contents *c, int64_t number)
{
    char text[32];
    snprintf(text, sizeof text, "%lld", (long long)number);
    mn_json_text_put(&c->out, text);
}

void mn_asset_put_init(mn_asset_contents *c, const char *path, const char *type)
{
    mn_asset_open_part(c, path, ".init");
    mn_json_text_put(&c->out, "type = ");
    mn_json_text_put(&c->out, type);
    mn_json_text_put(&c->out, "\nmatchesdef = 0\n\n");
}

void mn_asset_put_userdata(mn_asset_contents *c, const char *path)
{
    mn_asset_open_part(c, path, ".userdata");
    mn_json_text_put(&c->out,
                     "{\n\t\"___Version___\":{\n\t\t\"type\":\"string\",\n\t\t\"value\":\"1.0\"\n\t}\n}\n\n");
}

// ---- definitions: where a node stands and what is connected ----

/// Where a wire starts: at the node, or, for another than its first output, at a node that gives that one.
void mn_asset_source_of(const mn_asset_contents *c, int32_t node, int32_t output, char *text, size_t size)
{
    if (output == 0)
        snprintf(text, size, "%s", mn_network_node_name(c->network, node));
    else
        snprintf(text, size, "%s_output%d", mn_network_node_name(c->network, node), (int)output + 1);
}

/// Somebody reads this output.
static bool is_read(const mn_asset_contents *c, int32_t node, int32_t output)
{
    for (int32_t i = 0; i < mn_network_node_limit(c->network); i++) {
        if (!mn_network_node_type(c->network, i)) continue;
        for (int32_t k = 0; k < mn_network_input_count(c->network, i); k++) {
            int32_t source, from;
            mn_network_input(c->network, i, k, &source, &from);
            if (source == node && from == output) return true;
        }
    }
    return false;
}

static void put_wires(mn_asset_contents *c, int32_t count, const mn_asset_wire *wires)
{
    mn_json_text_put(&c->out, "inputsNamed3\n{\n");
    for (int32_t i = 0; i < count; i++) {
        mn_asset_put_int(c, wires[i].input);
        mn_json_text_put(&c->out, " \t");
        mn_json_text_put(&c->out, wires[i].source);
        mn_json_text_put(&c->out, " ");
        mn_asset_put_int(c, wires[i].output + 1);
        mn_json_text_put(&c->out, " 1 \"input");
        mn_asset_put_int(c, wires[i].input + 1);
        mn_json_text_put(&c->out, "\"\n");
    }
    mn_json_text_put(&c->out, "}\ninputs\n{\n");
    for (int32_t i = 0; i < count; i++) {
        mn_asset_put_int(c, wires[i].input);
        mn_json_text_put(&c->out, " \t");
        mn_json_text_put(&c->out, wires[i].source);
        mn_json_text_put(&c->out, " ");
        mn_asset_put_int(c, wires[i].output);
        mn_json_text_put(&c->out, " 1\n");
    }
    mn_json_text_put(&c->out, "}\n");
}

void mn_asset_put_def(mn_asset_contents *c, const char *path, int32_t row, bool shown, int32_t outputs,
                      int32_t wire_count, const mn_asset_wire *wires)
{
    mn_asset_open_part(c, path, ".def");
    mn_json_text_put(&c->out, "sopflags sopflags = \ncomment \"\"\nposition 0 ");
    mn_asset_put_int(c, -row);
    mn_json_text_put(&c->out, "\nconnectornextid ");
    mn_asset_put_int(c, outputs + 1);
    mn_json_text_put(&c->out,
                     "\nflags =  lock off model off template off footprint off xray off bypass off display ");
    mn_json_text_put(&c->out, shown ? "on render on" : "off render off");
    mn_json_text_put(&c->out,
                     " highlight off unload off savedata off compress on colordefault on exposed on\n"
                     "outputsNamed3\n{\n");
    for (int32_t i = 0; i < outputs; i++) {
        mn_asset_put_int(c, i + 1);
        mn_json_text_put(&c->out, " \"output");
        mn_asset_put_int(c, i + 1);
        mn_json_text_put(&c->out, "\"\n");
    }
    mn_json_text_put(&c->out, "}\n");
    put_wires(c, wire_count, wires);
    mn_json_text_put(&c->out,
                     "stat\n{\n  create -1\n  modify -1\n  author meniscus\n  access 0777\n}\n"
                     "color UT_Color RGB 0.8 0.8 0.8 \ndelscript \"\"\nexprlanguage hscript\nend\n\n");
}

// ---- parameters ----

/// A length that follows the scene's dx follows the asset's parameter that does the same, if there is one.
static const char *followed_by_dx(const mn_asset_contents *c, int32_t node, const mn_parm_def *def,
                                  double *factor)
{
    for (int32_t i = 0; i < c->asset->parm_count && mn_network_follows_dx(c->network, node, def->name); i++) {
        const mn_asset_parm *leader = &c->asset->parms[i];
        const mn_parm_def *row = &mn_network_node_type(c->network, leader->node)->parms[leader->parm];
        *factor = row->of_dx > 0 ? def->of_dx / row->of_dx : 1;
        if (mn_network_follows_dx(c->network, leader->node, row->name)) return leader->name;
    }
    *factor = 1;
    return NULL;
}

/// The asset's parameter that this one follows, times a factor, or NULL.
static const char *followed(const mn_asset_contents *c, int32_t node, int32_t parm, double *factor)
{
    const mn_node_type *type = mn_network_node_type(c->network, node);
    *factor = 1;
    for (int32_t i = 0; i < c->asset->parm_count; i++)
        if (c->asset->parms[i].node == node && c->asset->parms[i].parm == parm)
            return c->asset->parms[i].name;
    const char *leader = followed_by_dx(c, node, &type->parms[parm], factor);
    if (leader) return leader;
    const bool start = type->sim && strcmp(type->parms[parm].name, MN_HOUDINI_START) == 0;
    return c->shared_start && start ? MN_HOUDINI_START : NULL;
}

/// "center" and 1 give "centery": what Houdini calls a component's channel.
static void channel_name(const mn_parm_def *def, const char *name, int32_t component, char *text, size_t size)
{
    if (def->size == 1)
        snprintf(text, size, "%s", name);
    else if (def->size == 3)
        snprintf(text, size, "%s%c", name, "xyz"[component]);
    else
        snprintf(text, size, "%s%d", name, (int)component + 1);
}

/// A channel holds numbers alone: toggles as 0 or 1 and menus as the index of their item.
static void put_value(mn_asset_contents *c, const mn_parm_def *def, const mn_parm_value *value,
                      int32_t component, bool channel)
{
    if (channel)
        mn_json_text_put_number(&c->out, value->number[component]);
    else if (mn_parm_is_text(def))
        mn_json_text_put_string(&c->out, value->string ? value->string : "");
    else if (def->kind == MN_PARM_TOGGLE)
        mn_json_text_put(&c->out, value->number[0] != 0 ? "\"on\"" : "\"off\"");
    else if (def->kind == MN_PARM_MENU)
        mn_json_text_put_string(&c->out, def->items[(int32_t)value->number[0]].token);
    else
        mn_json_text_put_number(&c->out, value->number[component]);
}

static bool has_channel(const mn_asset_contents *c, int32_t node, int32_t parm, const mn_parm_def *def)
{
    const mn_key *keys;
    double factor;
    if (mn_parm_is_text(def)) return false;
    return followed(c, node, parm, &factor) || mn_network_keys(c->network, node, def->name, &keys) > 0;
}

static bool is_default(const mn_parm_def *def, const mn_parm_value *value)
{
    if (mn_parm_is_text(def))
        return strcmp(value->string ? value->string : "", def->default_string ? def->default_string : "") ==
               0;
    for (int32_t i = 0; i < def->size; i++)
        if (value->number[i] != def->defaults[i]) return false;
    return true;
}

/// Nothing where the default does: the asset then changes only when the scene does.
static void put_parm(mn_asset_contents *c, int32_t node, int32_t parm, const mn_parm_def *def)
{
    double factor;
    const char *promoted = followed(c, node, parm, &factor);
    const bool channel = has_channel(c, node, parm, def);
    mn_parm_value value;
    const mn_status status = mn_network_parm(c->network, node, def->name, c->first_frame, &value);
    if (c->out.status == MN_OK) c->out.status = status;
    if (status != MN_OK || (!promoted && !channel && is_default(def, &value))) return;
    mn_json_text_put(&c->out, def->name);
    mn_json_text_put(&c->out, channel ? "\t[ 8\tlocks=0 ]\t(\t" : "\t[ 0\tlocks=0 ]\t(\t");
    for (int32_t i = 0; i < def->size; i++) {
        if (promoted && mn_parm_is_text(def)) {
            mn_json_text_put(&c->out, "\"`chs(\\\"../");
            mn_json_text_put(&c->out, promoted);
            mn_json_text_put(&c->out, "\\\")`\"\t");
            continue;
        }
        char name[128];
        channel_name(def, def->name, i, name, sizeof name);
        if (channel) mn_json_text_put(&c->out, "[ ");
        if (channel) mn_json_text_put(&c->out, name);
        if (channel) mn_json_text_put(&c->out, "\t");
        put_value(c, def, &value, i, channel);
        mn_json_text_put(&c->out, channel ? " ] \t" : "\t");
    }
    mn_json_text_put(&c->out, ")\n");
}

/// What Houdini adds to a simulation follows the asset's. Two simulations must not share a checkpoint: theirs
/// have the node's name behind.
static void put_sim_parms(mn_asset_contents *c)
{
    int32_t count;
    const mn_parm_def *rows = mn_houdini_sim_parms(&count);
    for (int32_t i = 0; i < count; i++) {
        mn_json_text_put(&c->out, rows[i].name);
        if (!mn_parm_is_text(&rows[i])) {
            mn_json_text_put(&c->out, "\t[ 8\tlocks=0 ]\t(\t[ ");
            mn_json_text_put(&c->out, rows[i].name);
            mn_json_text_put(&c->out, "\t");
            mn_json_text_put_number(&c->out, rows[i].defaults[0]);
            mn_json_text_put(&c->out, " ] \t)\n");
            continue;
        }
        mn_json_text_put(&c->out, "\t[ 0\tlocks=0 ]\t(\t\"`");
        mn_json_text_put(&c->out, c->sims == 1 ? "chs(\\\"../" : "ifs(strlen(chs(\\\"../");
        mn_json_text_put(&c->out, rows[i].name);
        if (c->sims > 1) {
            mn_json_text_put(&c->out, "\\\")), chs(\\\"../");
            mn_json_text_put(&c->out, rows[i].name);
            mn_json_text_put(&c->out, "\\\") + \\\".\\\" + $OS, \\\"\\\")`\"\t)\n");
        } else {
            mn_json_text_put(&c->out, "\\\")`\"\t)\n");
        }
    }
}

static void put_parms(mn_asset_contents *c, int32_t node, const char *path)
{
    const mn_node_type *type = mn_network_node_type(c->network, node);
    mn_asset_open_part(c, path, ".parm");
    mn_json_text_put(&c->out, "{\nversion 0.8\n");
    for (int32_t i = 0; i < type->parm_count; i++) put_parm(c, node, i, &type->parms[i]);
    if (type->sim) put_sim_parms(c);
    mn_json_text_put(&c->out, "}\n\n");
}

// ---- channels ----

// Frame 1 is at time 0 in Houdini.
static double seconds_of(const mn_asset_contents *c, double frame)
{
    return (frame - 1.0) / mn_network_fps(c->network);
}

static void put_segment(mn_asset_contents *c, double length, double from, double to)
{
    mn_json_text_put(&c->out, "      segment { length = ");
    mn_json_text_put_number(&c->out, length);
    mn_json_text_put(&c->out, " value = ");
    mn_json_text_put_number(&c->out, from);
    mn_json_text_put(&c->out, " ");
    mn_json_text_put_number(&c->out, to);
    mn_json_text_put(&c->out, " expr = linear() }\n");
}

static void put_keys(mn_asset_contents *c, int32_t component, int32_t count, const mn_key *keys)
{
    mn_json_text_put(&c->out, "      start = ");
    mn_json_text_put_number(&c->out, seconds_of(c, keys[0].frame));
    mn_json_text_put(&c->out, "\n");
    for (int32_t i = 0; i < count; i++) {
        const mn_key *next = &keys[i + 1 < count ? i + 1 : i];
        put_segment(c, seconds_of(c, next->frame) - seconds_of(c, keys[i].frame), keys[i].value[component],
                    next->value[component]);
    }
}

void mn_asset_open_channel(mn_asset_contents *c, const char *name)
{
    mn_json_text_put(&c->out, "    channel ");
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, " {\n      lefttype = extend\n      righttype = extend\n      flags = 0\n");
}

static void put_follower(mn_asset_contents *c, const char *name, double factor)
{
    mn_json_text_put(&c->out, "      segment { length = 0 expr = ch(\\\"../");
    mn_json_text_put(&c->out, name);
    mn_json_text_put(&c->out, "\\\")");
    if (factor != 1) {
        mn_json_text_put(&c->out, "*");
        mn_json_text_put_number(&c->out, factor);
    }
    mn_json_text_put(&c->out, " }\n");
}

static void put_channel(mn_asset_contents *c, int32_t node, int32_t parm, const mn_parm_def *def,
                        int32_t component)
{
    double factor;
    const char *promoted = followed(c, node, parm, &factor);
    const mn_key *keys;
    const int32_t count = mn_network_keys(c->network, node, def->name, &keys);
    char name[128];
    channel_name(def, def->name, component, name, sizeof name);
    mn_asset_open_channel(c, name);
    if (promoted) {
        channel_name(def, promoted, component, name, sizeof name);
        put_follower(c, name, factor);
    } else {
        put_keys(c, component, count, keys);
    }
    mn_json_text_put(&c->out, "    }\n");
}

static void put_channels(mn_asset_contents *c, int32_t node, const char *path)
{
    const mn_node_type *type = mn_network_node_type(c->network, node);
    bool any = type->sim != NULL;
    for (int32_t i = 0; i < type->parm_count; i++) any = any || has_channel(c, node, i, &type->parms[i]);
    if (!any) return;
    mn_asset_open_part(c, path, ".chn");
    mn_json_text_put(&c->out, "{\n");
    for (int32_t i = 0; i < type->parm_count; i++) {
        const mn_parm_def *def = &type->parms[i];
        if (!has_channel(c, node, i, def)) continue;
        for (int32_t k = 0; k < def->size; k++) put_channel(c, node, i, def, k);
    }
    int32_t count;
    const mn_parm_def *rows = mn_houdini_sim_parms(&count);
    for (int32_t i = 0; type->sim && i < count; i++) {
        if (mn_parm_is_text(&rows[i])) continue;
        mn_asset_open_channel(c, rows[i].name);
        put_follower(c, rows[i].name, 1);
        mn_json_text_put(&c->out, "    }\n");
    }
    mn_json_text_put(&c->out, "  }\n\n");
}

// ---- nodes ----

static void put_node(mn_asset_contents *c, int32_t node, int32_t row)
{
    const mn_node_type *type = mn_network_node_type(c->network, node);
    char path[256], name[MN_HOUDINI_NAME];
    snprintf(path, sizeof path, "hdaroot/%s", mn_network_node_name(c->network, node));
    mn_houdini_operator_name(type->name, name);
    mn_asset_put_init(c, path, name);
    mn_asset_wire wires[MAX_WIRES];
    int32_t count = 0;
    for (int32_t i = 0; i < mn_network_input_count(c->network, node); i++) {
        int32_t source, output;
        mn_network_input(c->network, node, i, &source, &output);
        if (source < 0) continue;
        if (count == MAX_WIRES) {
            c->out.status = mn_fail(c->out.ctx, MN_ERROR_UNSUPPORTED,
                                    "'%s' has more than %d inputs connected, too many for an asset.",
                                    mn_network_node_name(c->network, node), (int)MAX_WIRES);
            return;
        }
        wires[count] = (mn_asset_wire){.input = i};
        mn_asset_source_of(c, source, output, wires[count].source, sizeof wires[count].source);
        if (mn_asset_is_last_merge(c,
                                   node)) // what is shown goes through a node that makes it ready to render
            mn_asset_render_name(c, source, output, wires[count].source, sizeof wires[count].source);
        count++;
    }
    mn_asset_put_def(c, path, row, false, type->output_count, count, wires);
    put_channels(c, node, path);
    put_parms(c, node, path);
    mn_asset_put_userdata(c, path);
}

/// Nodes that give the other outputs of this one, where somebody reads them: a wire from a second output is
/// not known to work for operators of plugins.
static void put_other_outputs(mn_asset_contents *c, int32_t node, int32_t row)
{
    const mn_node_type *type = mn_network_node_type(c->network, node);
    for (int32_t output = 1; output < type->output_count; output++) {
        if (!is_read(c, node, output) && !mn_asset_surface_needs(c, node, output)) continue;
        char path[MN_HOUDINI_NAME + 32], name[MN_HOUDINI_NAME];
        mn_asset_wire from = {.input = 0};
        mn_asset_source_of(c, node, 0, from.source, sizeof from.source);
        snprintf(path, sizeof path, "hdaroot/");
        mn_asset_source_of(c, node, output, path + strlen(path), sizeof path - strlen(path));
        mn_houdini_operator_name(MN_HOUDINI_OUTPUT, name);
        mn_asset_put_init(c, path, name);
        mn_asset_put_def(c, path, row, false, 1, 1, &from);
        mn_asset_open_part(c, path, ".parm");
        mn_json_text_put(&c->out, "{\nversion 0.8\n");
        mn_json_text_put(&c->out, mn_houdini_output_parm.name);
        mn_json_text_put(&c->out, "\t[ 0\tlocks=0 ]\t(\t");
        mn_asset_put_int(c, output + 1);
        mn_json_text_put(&c->out, "\t)\n}\n\n");
        mn_asset_put_userdata(c, path);
    }
}

static void put_root(mn_asset_contents *c)
{
    char name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(c->asset->name, name);
    mn_asset_open_part(c, "node_type", "");
    mn_json_text_put(&c->out, "Sop\n\n");
    mn_asset_put_init(c, "hdaroot", name);
    mn_asset_put_def(c, "hdaroot", 0, true, 0, 0, NULL);
    mn_asset_put_userdata(c, "hdaroot");
    mn_asset_open_part(c, "hdaroot", ".inp");
    mn_json_text_put(&c->out, "0\n\n");
}

/// The names of all nodes, one a line, and how many there are.
static int32_t put_names(mn_asset_contents *c, mn_json_text *out)
{
    int32_t count = 0;
    for (int32_t i = 0; i < mn_network_node_limit(c->network); i++) {
        const mn_node_type *type = mn_network_node_type(c->network, i);
        for (int32_t output = 0; type && output < type->output_count; output++) {
            char name[MN_HOUDINI_NAME + 16];
            if (output > 0 && !is_read(c, i, output) && !mn_asset_surface_needs(c, i, output)) continue;
            mn_asset_source_of(c, i, output, name, sizeof name);
            if (out) mn_json_text_put(out, name);
            if (out) mn_json_text_put(out, "\n");
            count++;
        }
    }
    return count;
}

static void put_order(mn_asset_contents *c)
{
    mn_asset_open_part(c, "hdaroot", ".order");
    mn_asset_put_int(c, put_names(c, NULL) + mn_asset_put_shown_names(c, NULL));
    mn_json_text_put(&c->out, "\n");
    put_names(c, &c->out);
    mn_asset_put_shown_names(c, &c->out);
    mn_json_text_put(&c->out, "\n");
    mn_asset_open_part(c, "hdaroot", ".net");
    mn_json_text_put(&c->out, "1\n\n--" BOUNDARY "--\n");
}

mn_status mn_houdini_asset_contents(const mn_network *network, char **text)
{
    int32_t first, last, count = 0;
    mn_network_range(network, &first, &last);
    mn_asset_contents c = {.out = {.ctx = mn_network_context(network)},
                           .network = network,
                           .asset = mn_network_asset(network),
                           .first_frame = first,
                           .sims = mn_houdini_sim_count(network)};
    mn_parm_value start;
    c.shared_start = mn_houdini_shared_start(network, &start);
    mn_json_text_put(&c.out,
                     "MIME-Version: 1.0\nContent-Type: multipart/mixed; boundary=\"" BOUNDARY "\"\n\n");
    put_root(&c);
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        if (!mn_network_node_type(network, i)) continue;
        put_node(&c, i, count++);
        put_other_outputs(&c, i, count);
    }
    mn_asset_put_shown(&c, count);
    put_order(&c);
    return mn_json_text_finish(&c.out, text);
}
