// SPDX-License-Identifier: Apache-2.0
//
// The JSON Schema (draft 2020-12) of scenes, from the node tables: an editor that reads it completes names
// and shows units, ranges and tooltips while a scene is written. It knows no connections; mn_scene_read()
// does.
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/json/text.h"

static const char HEAD[] =
    "{\n"
    "  \"$schema\": \"https://json-schema.org/draft/2020-12/schema\",\n"
    "  \"title\": \"Meniscus scene\",\n"
    "  \"type\": \"object\",\n"
    "  \"required\": [\"meniscus\", \"nodes\"],\n"
    "  \"additionalProperties\": false,\n"
    "  \"$defs\": {\n"
    "    \"name\": {\"type\": \"string\", \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]*$\", \"maxLength\": 128}\n"
    "  },\n"
    "  \"properties\": {\n"
    "    \"meniscus\": {\"const\": 1},\n"
    "    \"title\": {\"type\": \"string\"},\n"
    "    \"fps\": {\"type\": \"number\", \"minimum\": 0.001, \"maximum\": 100000, \"default\": 24},\n"
    "    \"frames\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}, \"minItems\": 2, "
    "\"maxItems\": 2},\n"
    "    \"dx\": {\"type\": \"number\", \"minimum\": 0, \"maximum\": 1000000, \"description\": "
    "\"Grid spacing in metres that nodes follow unless their own is set\"},\n"
    "    \"output\": {\"$ref\": \"#/$defs/name\"},\n"
    "    \"camera\": {\"type\": \"object\", \"required\": [\"position\", \"target\"],\n"
    "      \"additionalProperties\": false, \"properties\": {\n"
    "        \"position\": {\"type\": \"array\", \"items\": {\"type\": \"number\"}, \"minItems\": 3, "
    "\"maxItems\": 3},\n"
    "        \"target\": {\"type\": \"array\", \"items\": {\"type\": \"number\"}, \"minItems\": 3, "
    "\"maxItems\": 3},\n"
    "        \"fov\": {\"type\": \"number\", \"minimum\": 1, \"maximum\": 170, \"default\": 32}}},\n"
    "    \"render\": {\"type\": \"object\", \"additionalProperties\": false, \"properties\": {\n"
    "        \"studio\": {\"enum\": [\"bright\", \"table\", \"dark\"]},\n"
    "        \"size\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}, \"minItems\": 2, "
    "\"maxItems\": 2},\n"
    "        \"samples\": {\"type\": \"integer\", \"minimum\": 1},\n"
    "        \"shutter\": {\"type\": \"number\", \"minimum\": 0, \"maximum\": 1},\n"
    "        \"aperture\": {\"type\": \"number\", \"minimum\": 0},\n"
    "        \"stills\": {\"type\": \"array\", \"items\": {\"type\": \"integer\"}, \"maxItems\": 8},\n"
    "        \"looks\": {\"type\": \"object\", \"additionalProperties\": {\"type\": \"string\"}}}},\n"
    "    \"asset\": {\"type\": \"object\", \"required\": [\"name\"], \"additionalProperties\": false,\n"
    "      \"properties\": {\"name\": {\"$ref\": \"#/$defs/name\"}, \"label\": {\"type\": \"string\"},\n"
    "        \"parms\": {\"type\": \"array\", \"items\": {\"type\": \"object\", \"required\": [\"parm\"],\n"
    "          \"additionalProperties\": false, \"properties\": {\n"
    "            \"parm\": {\"type\": \"string\", \"pattern\": "
    "\"^[A-Za-z_][A-Za-z0-9_]*\\\\.[a-z0-9_]+$\"},\n"
    "            \"name\": {\"$ref\": \"#/$defs/name\"}, \"label\": {\"type\": \"string\"}}}}}},\n"
    "    \"nodes\": {\"type\": \"array\", \"items\": {\"type\": \"object\",\n"
    "      \"required\": [\"name\", \"type\"], \"additionalProperties\": false,\n"
    "      \"properties\": {\n"
    "        \"name\": {\"$ref\": \"#/$defs/name\"},\n"
    "        \"inputs\": {\"type\": \"array\", \"items\": {\"type\": [\"string\", \"null\"],\n"
    "          \"pattern\": \"^[A-Za-z_][A-Za-z0-9_]*(:[0-9]+)?$\"}},\n"
    "        \"parms\": {\"type\": \"object\"},\n"
    "        \"type\": {\"enum\": [";

// ---- parameters ----

static void put_limit(mn_json_text *out, const char *key, double limit)
{
    bool first = false;
    if (!isfinite(limit)) return;
    mn_json_text_put_key(out, &first, ", ", key);
    mn_json_text_put_number(out, limit);
}

// The schema of one value as it stands without animation.
static void put_value(mn_json_text *out, const mn_parm_def *def)
{
    char size[64];
    switch (def->kind) {
    case MN_PARM_TOGGLE:
        mn_json_text_put(out, "{\"enum\": [true, false, 0, 1]}");
        return;
    case MN_PARM_MENU:
        mn_json_text_put(out, "{\"enum\": [");
        for (int32_t i = 0; i < mn_parm_item_count(def); i++) {
            if (i > 0) mn_json_text_put(out, ", ");
            mn_json_text_put_string(out, def->items[i].token);
        }
        mn_json_text_put(out, "]}");
        return;
    case MN_PARM_STRING:
    case MN_PARM_FILE:
        mn_json_text_put(out, "{\"type\": \"string\"}");
        return;
    default:
        break;
    }
    if (def->size > 1) mn_json_text_put(out, "{\"type\": \"array\", \"items\": ");
    mn_json_text_put(out, def->kind == MN_PARM_INT ? "{\"type\": \"integer\"" : "{\"type\": \"number\"");
    put_limit(out, "minimum", def->hard_min);
    put_limit(out, "maximum", def->hard_max);
    mn_json_text_put(out, "}");
    snprintf(size, sizeof size, ", \"minItems\": %d, \"maxItems\": %d}", (int)def->size, (int)def->size);
    if (def->size > 1) mn_json_text_put(out, size);
}

static bool can_be_animated(const mn_node_type *type, const mn_parm_def *def)
{
    if (mn_parm_is_text(def) || def->kind == MN_PARM_MENU) return false;
    return !(type->sim && strcmp(def->name, "start_frame") == 0);
}

static void put_description(mn_json_text *out, const mn_parm_def *def)
{
    char text[1024];
    const bool unit = def->unit && *def->unit;
    snprintf(text, sizeof text, "%s%s%s%s%s", def->label, unit ? ", in " : "", unit ? def->unit : "", ": ",
             def->tooltip);
    bool first = true;
    mn_json_text_put_member(out, &first, ", ", "description", text);
}

static void put_parm(mn_json_text *out, const mn_node_type *type, const mn_parm_def *def)
{
    mn_json_text_put(out, "{");
    put_description(out, def);
    mn_json_text_put(out, ", \"anyOf\": [");
    put_value(out, def);
    if (can_be_animated(type, def)) {
        mn_json_text_put(out, ", {\"type\": \"object\", \"required\": [\"keys\"], \"additionalProperties\": "
                              "false, \"properties\": {\"keys\": {\"type\": \"array\", \"minItems\": 1, "
                              "\"items\": {\"type\": \"array\", \"prefixItems\": [{\"type\": \"number\"}], "
                              "\"minItems\": 2}}}}");
    }
    mn_json_text_put(out, "]}");
}

// ---- node types ----

static void put_type(mn_json_text *out, const mn_node_type *type)
{
    bool first = true;
    mn_json_text_put(out, "\n        {\"if\": {\"properties\": {\"type\": {\"const\": ");
    mn_json_text_put_string(out, type->name);
    mn_json_text_put(out, "}}}, \"then\": {");
    mn_json_text_put_member(out, &first, ", ", "description", type->help);
    mn_json_text_put(out,
                     ", \"properties\": {\"parms\": {\"additionalProperties\": false, \"properties\": {");
    first = true;
    for (int32_t i = 0; i < type->parm_count; i++) {
        if (first) mn_json_text_put(out, "\n          ");
        mn_json_text_put_key(out, &first, ",\n          ", type->parms[i].name);
        put_parm(out, type, &type->parms[i]);
    }
    mn_json_text_put(out, "}}}}}");
}

mn_status mn_scene_schema_json(mn_context *ctx, const mn_node_type *const *types, int32_t count, char **text)
{
    mn_json_text out = {.ctx = ctx};
    if (!types) types = mn_node_types(&count);
    mn_json_text_put(&out, HEAD);
    for (int32_t i = 0; i < count; i++) {
        if (i > 0) mn_json_text_put(&out, ", ");
        mn_json_text_put_string(&out, types[i]->name);
    }
    mn_json_text_put(&out, "]}},\n      \"allOf\": [");
    for (int32_t i = 0; i < count; i++) {
        if (i > 0) mn_json_text_put(&out, ",");
        put_type(&out, types[i]);
    }
    mn_json_text_put(&out, count > 0 ? "\n      ]}}\n  }\n}\n" : "{}]}}\n  }\n}\n");
    return mn_json_text_finish(&out, text);
}
