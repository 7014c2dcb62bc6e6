// SPDX-License-Identifier: Apache-2.0
//
// DialogScript: Houdini's text form of a parameter dialog. Folders become tabs, the soft range the slider, a
// hard limit the `!` behind a bound of it, the unit a part of the label, the tooltip the help. A hard limit
// outside the slider has no place here; the node says so when it cooks.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/houdini/text_files.h"
#include "plugin/json/text.h"

// ---- one parameter ----

typedef struct shown_parm {
    const mn_parm_def *def;
    const char *name, *label;
    const mn_parm_value *value; ///< its default, or NULL for the table's
    const mn_asset *asset;      ///< that shows it, or NULL for a node
} shown_parm;

static void put_line(mn_json_text *out, const char *indent, const char *key)
{
    mn_json_text_put(out, indent);
    mn_json_text_put(out, key);
    for (size_t i = strlen(key); i < 12; i++) mn_json_text_put(out, " ");
}

static void put_string_line(mn_json_text *out, const char *indent, const char *key, const char *string)
{
    put_line(out, indent, key);
    mn_json_text_put_string(out, string);
    mn_json_text_put(out, "\n");
}

static const char *type_of(const mn_parm_def *def)
{
    switch (def->kind) {
    case MN_PARM_FLOAT:
        return def->size == 3 ? "vector" : "float";
    case MN_PARM_INT:
        return def->size == 3 ? "intvector" : "integer";
    case MN_PARM_TOGGLE:
        return "toggle";
    case MN_PARM_MENU:
        return "ordinal";
    case MN_PARM_FILE:
        return "file";
    case MN_PARM_STRING:
        break;
    }
    return "string";
}

// Every default is text in quotes: Houdini evaluates numbers out of it.
static void put_default(mn_json_text *out, const char *indent, const shown_parm *parm)
{
    const mn_parm_def *def = parm->def;
    put_line(out, indent, "default");
    mn_json_text_put(out, "{ ");
    if (strcmp(def->name, MN_HOUDINI_SIMULATE) == 0) {
        mn_json_text_put(out, "[ \"" MN_HOUDINI_SIMULATE_DEFAULT "\" python ] ");
    } else if (mn_parm_is_text(def)) {
        const char *string = parm->value ? parm->value->string : def->default_string;
        mn_json_text_put_string(out, string ? string : "");
        mn_json_text_put(out, " ");
    } else {
        for (int32_t i = 0; i < def->size; i++) {
            mn_json_text_put(out, "\"");
            mn_json_text_put_number(out, parm->value ? parm->value->number[i] : def->defaults[i]);
            mn_json_text_put(out, "\" ");
        }
    }
    mn_json_text_put(out, "}\n");
}

// The slider of the table, made longer where an asset's own default lies off it.
static void put_range(mn_json_text *out, const char *indent, const shown_parm *parm)
{
    const mn_parm_def *def = parm->def;
    double low = def->soft_min, high = def->soft_max;
    for (int32_t i = 0; parm->value && i < def->size; i++) {
        const double value = parm->value->number[i];
        if (value < low) low = fmax(fmin(2 * value, value), def->hard_min);
        if (value > high) high = fmin(fmax(2 * value, value), def->hard_max);
    }
    put_line(out, indent, "range");
    mn_json_text_put(out, "{ ");
    mn_json_text_put_number(out, low);
    mn_json_text_put(out, low == def->hard_min ? "! " : " ");
    mn_json_text_put_number(out, high);
    mn_json_text_put(out, high == def->hard_max ? "! }\n" : " }\n");
}

static void put_menu(mn_json_text *out, const char *indent, const mn_parm_def *def)
{
    put_line(out, indent, "menu");
    mn_json_text_put(out, "{\n");
    for (int32_t i = 0; i < mn_parm_item_count(def); i++) {
        mn_json_text_put(out, indent);
        mn_json_text_put(out, "    ");
        mn_json_text_put_string(out, def->items[i].token);
        mn_json_text_put(out, " ");
        mn_json_text_put_string(out, def->items[i].label);
        mn_json_text_put(out, "\n");
    }
    mn_json_text_put(out, indent);
    mn_json_text_put(out, "}\n");
}

// "{ material != custom } { a == 0 }" names parameters; an asset may show some of them, or under other names.
static bool can_grey_out(const shown_parm *parm)
{
    if (!parm->def->disable_when) return false;
    if (!parm->asset) return true;
    for (const char *at = strchr(parm->def->disable_when, '{'); at; at = strchr(at + 1, '{')) {
        char name[64];
        if (sscanf(at, "{ %63s", name) != 1 || !mn_houdini_shows(parm->asset, name)) return false;
    }
    return true;
}

static void put_tag(mn_json_text *out, const char *indent, const char *name, const char *value)
{
    put_line(out, indent, "parmtag");
    mn_json_text_put(out, "{ \"");
    mn_json_text_put(out, name);
    mn_json_text_put(out, "\" ");
    mn_json_text_put_string(out, value);
    mn_json_text_put(out, " }\n");
}

// A group field: the arrow that picks in the viewport, and the groups of the first input in its menu. Numbers
// are primitives where there are any (core/geo/select.c), so that is what is picked.
static void put_group_tags(mn_json_text *out, const char *indent)
{
    put_tag(out, indent, "script_action",
            "import soputils\n"
            "above = kwargs['node'].inputs()\n"
            "geometry = above[0].geometry() if above and above[0] else None\n"
            "prims = geometry is not None and geometry.intrinsicValue('primitivecount') > 0\n"
            "kwargs['geometrytype'] = (hou.geometryType.Primitives if prims else hou.geometryType.Points,)\n"
            "kwargs['inputindex'] = 0\n"
            "soputils.selectGroupParm(kwargs)");
    put_tag(out, indent, "script_action_help", "Select geometry from an available viewport.");
    put_tag(out, indent, "script_action_icon", "BUTTONS_reselect");
    put_tag(out, indent, "sop_input", "0");
}

static void put_parm(mn_json_text *out, const shown_parm *parm)
{
    static const char indent[] = "            ";
    const mn_parm_def *def = parm->def;
    const bool numeric = def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT;
    char label[256], size[16];
    const bool has_unit = def->unit && def->unit[0];
    snprintf(label, sizeof label, has_unit ? "%s (%s)" : "%s", parm->label, has_unit ? def->unit : "");
    mn_json_text_put(out, "        parm {\n");
    put_string_line(out, indent, "name", parm->name);
    put_string_line(out, indent, "label", label);
    put_line(out, indent, "type");
    mn_json_text_put(out, type_of(def));
    mn_json_text_put(out, "\n");
    if (def->size > 1) {
        snprintf(size, sizeof size, "%d\n", (int)def->size);
        put_line(out, indent, "size");
        mn_json_text_put(out, size);
    }
    put_default(out, indent, parm);
    if (def->kind == MN_PARM_MENU) put_menu(out, indent, def);
    if (numeric) put_range(out, indent, parm);
    if (def->kind == MN_PARM_STRING && strcmp(def->name, "group") == 0 && !parm->asset)
        put_group_tags(out, indent);
    if (can_grey_out(parm)) put_string_line(out, indent, "disablewhen", def->disable_when);
    if (def->tooltip) put_string_line(out, indent, "help", def->tooltip);
    mn_json_text_put(out, "        }\n");
}

// ---- folders ----

static bool same_folder(const mn_parm_def *a, const mn_parm_def *b)
{
    return strcmp(a->folder ? a->folder : "", b->folder ? b->folder : "") == 0;
}

static void open_folder(mn_json_text *out, const char *label, int32_t number)
{
    char name[32];
    snprintf(name, sizeof name, "folder%d", (int)number);
    mn_json_text_put(out, "    group {\n");
    put_string_line(out, "        ", "name", name);
    put_string_line(out, "        ", "label", label && label[0] ? label : "Parameters");
}

static void close_folder(mn_json_text *out)
{
    mn_json_text_put(out, "    }\n");
}

static void put_reset(mn_json_text *out, const char *callback)
{
    static const char indent[] = "            ";
    mn_json_text_put(out, "        parm {\n");
    put_string_line(out, indent, "name", MN_HOUDINI_RESET);
    put_string_line(out, indent, "label", "Reset Simulation");
    put_line(out, indent, "type");
    mn_json_text_put(out, "button\n");
    put_line(out, indent, "default");
    mn_json_text_put(out, "{ \"0\" }\n");
    put_string_line(out, indent, "help", MN_HOUDINI_RESET_HELP);
    if (callback) {
        put_tag(out, indent, "script_callback", callback);
        put_tag(out, indent, "script_callback_language", "python");
    }
    mn_json_text_put(out, "        }\n");
}

// What the host adds to a simulation: a fresh start, how much of it stays in memory, and where its state is
// kept on disk. `callback` is what the button runs, NULL where the plugin itself is called.
static void put_simulation(mn_json_text *out, const char *callback)
{
    int32_t count;
    const mn_parm_def *rows = mn_houdini_sim_parms(&count);
    put_reset(out, callback);
    for (int32_t i = 0; i < count; i++)
        put_parm(out, &(shown_parm){&rows[i], rows[i].name, rows[i].label, NULL, NULL});
}

static bool is_first_of_folder(const mn_node_type *type, int32_t index)
{
    for (int32_t i = 0; i < index; i++)
        if (same_folder(&type->parms[i], &type->parms[index])) return false;
    return true;
}

static void put_folder(mn_json_text *out, const mn_node_type *type, int32_t first, int32_t number)
{
    const char *label = type->parms[first].folder;
    open_folder(out, label, number);
    for (int32_t i = first; i < type->parm_count; i++) {
        if (!same_folder(&type->parms[first], &type->parms[i])) continue;
        const shown_parm parm = {&type->parms[i], type->parms[i].name, type->parms[i].label, NULL, NULL};
        put_parm(out, &parm);
    }
    if (type->sim && label && strcmp(label, "Simulation") == 0) put_simulation(out, NULL);
    close_folder(out);
}

mn_status mn_houdini_dialog(mn_context *ctx, const mn_node_type *type, char **text)
{
    mn_json_text out = {.ctx = ctx};
    mn_json_text_put(&out, "{\n    name    ");
    mn_json_text_put_string(&out, type->name);
    mn_json_text_put(&out, "\n");
    int32_t folders = 0;
    for (int32_t i = 0; i < type->parm_count; i++)
        if (is_first_of_folder(type, i)) put_folder(&out, type, i, folders++);
    mn_json_text_put(&out, "}\n");
    return mn_json_text_finish(&out, text);
}

mn_status mn_houdini_output_dialog(mn_context *ctx, char **text)
{
    const mn_parm_def *def = &mn_houdini_output_parm;
    mn_json_text out = {.ctx = ctx};
    mn_json_text_put(&out, "{\n    name    ");
    mn_json_text_put_string(&out, MN_HOUDINI_OUTPUT);
    mn_json_text_put(&out, "\n");
    open_folder(&out, def->folder, 0);
    put_parm(&out, &(shown_parm){def, def->name, def->label, NULL, NULL});
    close_folder(&out);
    mn_json_text_put(&out, "}\n");
    return mn_json_text_finish(&out, text);
}

// ---- assets ----

// The controls that every solver asset has: they act on all simulations inside.
static void put_asset_simulation(mn_json_text *out, const mn_network *network)
{
    mn_json_text callback = {.ctx = out->ctx};
    const mn_node_type *solver = NULL;
    mn_parm_value start;
    mn_json_text_put(&callback,
                     "[kwargs['node'].node(name).parm('" MN_HOUDINI_RESET "').pressButton() for name in (");
    for (int32_t i = 0; i < mn_network_node_limit(network); i++) {
        const mn_node_type *type = mn_network_node_type(network, i);
        if (!type || !type->sim) continue;
        mn_json_text_put(&callback, "'");
        mn_json_text_put(&callback, mn_network_node_name(network, i));
        mn_json_text_put(&callback, "', ");
        solver = type;
    }
    mn_json_text_put(&callback, ")]");
    char *text;
    const mn_status status = mn_json_text_finish(&callback, &text);
    if (out->status == MN_OK) out->status = status;
    if (status != MN_OK) return;
    open_folder(out, "Simulation", 1);
    put_simulation(out, text);
    if (solver && mn_houdini_shared_start(network, &start)) {
        const mn_parm_def *def = &solver->parms[mn_parm_find(solver, MN_HOUDINI_START)];
        put_parm(out, &(shown_parm){def, def->name, def->label, &start, NULL});
    }
    close_folder(out);
    mn_scene_free_text(out->ctx, text);
}

// How what is shown is rendered: the rows of Render Geometry but the time scale, which follows the solver.
static void put_asset_render(mn_json_text *out, const mn_network *network, int32_t folder)
{
    const mn_node_type *type = &mn_houdini_render_geometry;
    open_folder(out, "Render", folder);
    for (int32_t i = 0; i < type->parm_count; i++) {
        const mn_parm_def *def = &type->parms[i];
        mn_parm_value value = {.string = def->default_string};
        if (strcmp(def->name, MN_HOUDINI_LOOK_TIME) == 0) continue;
        if (strcmp(def->name, MN_HOUDINI_USD_PATH) == 0) value.string = mn_network_asset(network)->name;
        if (strcmp(def->name, MN_HOUDINI_LOOK) == 0) value.number[0] = mn_houdini_asset_look(network);
        put_parm(out, &(shown_parm){def, def->name, def->label, &value, NULL});
    }
    close_folder(out);
}

mn_status mn_houdini_asset_dialog(const mn_network *network, char **text)
{
    const mn_asset *asset = mn_network_asset(network);
    mn_json_text out = {.ctx = mn_network_context(network)};
    char name[MN_HOUDINI_NAME];
    mn_houdini_operator_name(asset->name, name);
    mn_json_text_put(&out,
                     "# Made from a scene by meniscus_houdini_files; change the scene, not this file.\n{\n");
    put_string_line(&out, "    ", "name", name);
    put_string_line(&out, "    ", "script", name);
    put_string_line(&out, "    ", "label", asset->label);
    mn_json_text_put(&out, "\n    help {\n        \"\"\n    }\n\n");
    if (mn_houdini_asset_has_surface(network))
        mn_json_text_put(&out, "    outputlabel 1       \"Shown\"\n    outputlabel 2       \"Surface\"\n\n");
    if (asset->parm_count > 0) open_folder(&out, asset->label, 0);
    for (int32_t i = 0; i < asset->parm_count; i++) {
        const mn_asset_parm *promoted = &asset->parms[i];
        if (!mn_houdini_is_first(asset, i)) continue;
        const mn_parm_def *def = &mn_network_node_type(network, promoted->node)->parms[promoted->parm];
        mn_parm_value value;
        int32_t first, last;
        mn_network_range(network, &first, &last);
        const mn_status status = mn_network_parm(network, promoted->node, def->name, first, &value);
        if (out.status == MN_OK) out.status = status;
        const shown_parm parm = {def, promoted->name, promoted->label, status == MN_OK ? &value : NULL,
                                 asset};
        put_parm(&out, &parm);
    }
    if (asset->parm_count > 0) close_folder(&out);
    if (mn_houdini_sim_count(network) > 0) put_asset_simulation(&out, network);
    put_asset_render(&out, network, 2);
    mn_json_text_put(&out, "}\n");
    return mn_json_text_finish(&out, text);
}
