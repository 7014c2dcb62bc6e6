// SPDX-License-Identifier: Apache-2.0
//
// Node tables as JSON: everything that is in them, one node after the other. A range without a limit on one
// side has null there.
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/json/text.h"

static const char *kind_name(mn_parm_kind kind)
{
    static const char *const names[] = {"float", "int", "toggle", "menu", "string", "file"};
    return (unsigned)kind < sizeof names / sizeof *names ? names[kind] : "";
}

static void put_bool(mn_json_text *out, bool *first, const char *key, bool value)
{
    mn_json_text_put_key(out, first, ", ", key);
    mn_json_text_put(out, value ? "true" : "false");
}

static void put_range(mn_json_text *out, bool *first, const char *key, double least, double most)
{
    mn_json_text_put_key(out, first, ", ", key);
    mn_json_text_put(out, "[");
    mn_json_text_put_number(out, least);
    mn_json_text_put(out, ", ");
    mn_json_text_put_number(out, most);
    mn_json_text_put(out, "]");
}

// ---- parameters ----

static void put_default(mn_json_text *out, bool *first, const mn_parm_def *def)
{
    mn_json_text_put_key(out, first, ", ", "default");
    if (mn_parm_is_text(def)) {
        mn_json_text_put_string(out, def->default_string ? def->default_string : "");
    } else if (def->kind == MN_PARM_TOGGLE) {
        mn_json_text_put(out, def->defaults[0] != 0 ? "true" : "false");
    } else if (def->kind == MN_PARM_MENU) {
        const int32_t index = (int32_t)def->defaults[0];
        mn_json_text_put_string(out, index < mn_parm_item_count(def) ? def->items[index].token : "");
    } else if (def->size == 1) {
        mn_json_text_put_number(out, def->defaults[0]);
    } else {
        for (int32_t i = 0; i < def->size; i++) {
            mn_json_text_put(out, i > 0 ? ", " : "[");
            mn_json_text_put_number(out, def->defaults[i]);
        }
        mn_json_text_put(out, "]");
    }
}

static void put_items(mn_json_text *out, bool *first, const mn_parm_def *def)
{
    mn_json_text_put_key(out, first, ", ", "items");
    mn_json_text_put(out, "[");
    for (int32_t i = 0; i < mn_parm_item_count(def); i++) {
        bool first_member = true;
        mn_json_text_put(out, i > 0 ? ", {" : "{");
        mn_json_text_put_member(out, &first_member, ", ", "token", def->items[i].token);
        mn_json_text_put_member(out, &first_member, ", ", "label", def->items[i].label);
        mn_json_text_put(out, "}");
    }
    mn_json_text_put(out, "]");
}

static void put_parm(mn_json_text *out, const mn_parm_def *def)
{
    bool first = true;
    mn_json_text_put(out, "{");
    mn_json_text_put_member(out, &first, ", ", "name", def->name);
    mn_json_text_put_member(out, &first, ", ", "label", def->label);
    mn_json_text_put_member(out, &first, ", ", "type", kind_name(def->kind));
    if (def->of_dx > 0) {
        mn_json_text_put_key(out, &first, ", ", "of_dx");
        mn_json_text_put_number(out, def->of_dx);
    }
    mn_json_text_put_key(out, &first, ", ", "size");
    mn_json_text_put_number(out, def->size);
    put_default(out, &first, def);
    if (def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT) {
        put_range(out, &first, "range", def->hard_min, def->hard_max);
        put_range(out, &first, "soft_range", def->soft_min, def->soft_max);
    }
    mn_json_text_put_member(out, &first, ", ", "unit", def->unit ? def->unit : "");
    if (def->kind == MN_PARM_MENU) put_items(out, &first, def);
    mn_json_text_put_member(out, &first, ", ", "folder", def->folder ? def->folder : "");
    if (def->disable_when) mn_json_text_put_member(out, &first, ", ", "disable_when", def->disable_when);
    mn_json_text_put_member(out, &first, ", ", "tooltip", def->tooltip ? def->tooltip : "");
    mn_json_text_put(out, "}");
}

// ---- node types ----

static void put_inputs(mn_json_text *out, const mn_node_type *type)
{
    for (int32_t i = 0; i < type->input_count; i++) {
        bool first = true;
        mn_json_text_put(out, i > 0 ? ", {" : "{");
        mn_json_text_put_member(out, &first, ", ", "label", type->inputs[i].label);
        mn_json_text_put_member(out, &first, ", ", "expects", type->inputs[i].expects);
        put_bool(out, &first, "required", type->inputs[i].required);
        put_bool(out, &first, "many", type->inputs[i].many);
        put_bool(out, &first, "reference", mn_node_looks_at(type, i));
        mn_json_text_put(out, "}");
    }
}

static void put_outputs(mn_json_text *out, const mn_node_type *type)
{
    for (int32_t i = 0; i < type->output_count; i++) {
        bool first = true;
        mn_json_text_put(out, i > 0 ? ", {" : "{");
        mn_json_text_put_member(out, &first, ", ", "label", type->outputs[i].label);
        mn_json_text_put_member(out, &first, ", ", "gives", type->outputs[i].gives);
        mn_json_text_put(out, "}");
    }
}

static void put_type(mn_json_text *out, const mn_node_type *type)
{
    static const char separator[] = ",\n      ";
    bool first = true;
    mn_json_text_put(out, "    {");
    mn_json_text_put_member(out, &first, ", ", "name", type->name);
    mn_json_text_put_member(out, &first, ", ", "label", type->label);
    mn_json_text_put_member(out, &first, ", ", "menu", type->menu);
    mn_json_text_put_member(out, &first, ", ", "kind", type->sim ? "sim" : "cook");
    mn_json_text_put_member(out, &first, separator, "help", type->help);
    mn_json_text_put_key(out, &first, separator, "inputs");
    mn_json_text_put(out, "[");
    put_inputs(out, type);
    mn_json_text_put(out, "]");
    mn_json_text_put_key(out, &first, separator, "outputs");
    mn_json_text_put(out, "[");
    put_outputs(out, type);
    mn_json_text_put(out, "]");
    mn_json_text_put_key(out, &first, separator, "parms");
    mn_json_text_put(out, "[");
    for (int32_t i = 0; i < type->parm_count; i++) {
        mn_json_text_put(out, i > 0 ? ",\n        " : "\n        ");
        put_parm(out, &type->parms[i]);
    }
    mn_json_text_put(out, "]}");
}

mn_status mn_node_types_json(mn_context *ctx, const char *only, char **text)
{
    *text = NULL;
    int32_t count;
    const mn_node_type *one;
    const mn_node_type *const *types = mn_node_types(&count);
    if (only) {
        MN_TRY(mn_node_type_require(ctx, only, &one));
        types = &one;
        count = 1;
    }
    return mn_node_table_json(ctx, types, count, text);
}

mn_status mn_node_table_json(mn_context *ctx, const mn_node_type *const *types, int32_t count, char **text)
{
    mn_json_text out = {.ctx = ctx};
    mn_json_text_put(&out, "{\"nodes\": [");
    for (int32_t i = 0; i < count; i++) {
        mn_json_text_put(&out, i > 0 ? ",\n" : "\n");
        put_type(&out, types[i]);
    }
    mn_json_text_put(&out, count > 0 ? "\n]}\n" : "]}\n");
    return mn_json_text_finish(&out, text);
}
