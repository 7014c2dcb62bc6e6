// SPDX-License-Identifier: Apache-2.0
//
// Values of parameters in a scene: 0.5, [0, 1, 0], "sphere", true, or {"keys": [[1, 0.0], [24, 1.0]]}.
#include <stdio.h>
#include <string.h>

#include "plugin/host/network/parms.h"
#include "plugin/host/scene/scene.h"

// The parameter that is being read.
typedef struct target {
    int32_t node;
    const mn_node_type *type;
    const char *node_name;
    const mn_parm_def *def;
} target;

static mn_status fail_kind(const mn_scene_reader *in, const target *to, const mn_json_tree_value *value)
{
    char expects[512], found[64];
    return mn_scene_fail(in, value, "%s '%s': %s takes %s, not %s.", to->type->name, to->node_name,
                         to->def->name, mn_parm_expects(to->def, expects, sizeof expects),
                         mn_json_tree_describe(value, found, sizeof found));
}

// Numbers one after the other from `at` on, `def->size` of them and then the end.
static mn_status read_row(const mn_scene_reader *in, const target *to, const mn_json_tree_value *whole,
                          const mn_json_tree_value *at, double numbers[4])
{
    for (int32_t i = 0; i < to->def->size; i++, at = mn_json_tree_next(in->json, at)) {
        const bool fits = at && (at->kind == MN_JSON_TREE_NUMBER ||
                                 (at->kind == MN_JSON_TREE_BOOL && to->def->kind == MN_PARM_TOGGLE));
        if (!fits) return fail_kind(in, to, at ? at : whole);
        MN_TRY(mn_scene_locate(
            in, at, mn_parm_check_number(in->ctx, to->type, to->node_name, to->def, i, at->number)));
        numbers[i] = at->number;
    }
    return at ? fail_kind(in, to, whole) : MN_OK;
}

// A number, or a list of them for a parameter with several components; one number stands for all of them.
static mn_status read_numbers(const mn_scene_reader *in, const target *to, const mn_json_tree_value *value,
                              double numbers[4])
{
    if (to->def->size > 1 && value->kind == MN_JSON_TREE_NUMBER) {
        for (int32_t i = 0; i < to->def->size; i++) numbers[i] = value->number;
        return mn_scene_locate(
            in, value, mn_parm_check_number(in->ctx, to->type, to->node_name, to->def, 0, value->number));
    }
    if (to->def->size > 1) {
        if (value->kind != MN_JSON_TREE_ARRAY || value->count != to->def->size)
            return fail_kind(in, to, value);
        return read_row(in, to, value, mn_json_tree_first(in->json, value), numbers);
    }
    const bool fits = value->kind == MN_JSON_TREE_NUMBER ||
                      (value->kind == MN_JSON_TREE_BOOL && to->def->kind == MN_PARM_TOGGLE);
    if (!fits) return fail_kind(in, to, value);
    numbers[0] = value->number;
    return mn_scene_locate(in, value,
                           mn_parm_check_number(in->ctx, to->type, to->node_name, to->def, 0, value->number));
}

// [frame, value], or [frame, x, y, z] for one of three components.
static mn_status read_key(const mn_scene_reader *in, const target *to, const mn_json_tree_value *value,
                          mn_key *key)
{
    const mn_json_tree_value *frame = mn_json_tree_first(in->json, value);
    if (value->kind != MN_JSON_TREE_ARRAY || value->count < 2 || frame->kind != MN_JSON_TREE_NUMBER)
        return mn_scene_fail(in, value, "%s '%s': a key of %s must be [frame, value].", to->type->name,
                             to->node_name, to->def->name);
    key->frame = frame->number;
    const mn_json_tree_value *first = mn_json_tree_next(in->json, frame);
    if (first->kind != MN_JSON_TREE_ARRAY && to->def->size > 1 && value->count > 2)
        return read_row(in, to, value, first, key->value);
    if (value->count > 2)
        return mn_scene_fail(in, value, "%s '%s': a key of %s must be [frame, value].", to->type->name,
                             to->node_name, to->def->name);
    return read_numbers(in, to, first, key->value);
}

static mn_status read_keys(const mn_scene_reader *in, const target *to, const mn_json_tree_value *object)
{
    static const char *const keys[] = {"keys", NULL};
    char what[256];
    snprintf(what, sizeof what, "%s '%s': %s", to->type->name, to->node_name, to->def->name);
    MN_TRY(mn_scene_check_keys(in, object, what, keys));
    const mn_json_tree_value *list = mn_json_tree_find(in->json, object, "keys");
    if (!list) return mn_scene_fail(in, object, "%s is an object without \"keys\".", what);
    strncat(what, ": \"keys\"", sizeof what - strlen(what) - 1);
    MN_TRY(mn_scene_expect(in, list, MN_JSON_TREE_ARRAY, what));
    mn_key *made = mn_allocate_zero(in->ctx, mn_bytes(list->count, sizeof *made));
    if (!made && list->count > 0) return MN_ERROR_MEMORY;
    mn_status status = MN_OK;
    int32_t count = 0;
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, list); at && status == MN_OK;
         at = mn_json_tree_next(in->json, at))
        status = read_key(in, to, at, &made[count++]);
    if (status == MN_OK)
        status =
            mn_scene_locate(in, list, mn_network_set_keys(in->network, to->node, to->def->name, count, made));
    mn_release(in->ctx, made, mn_bytes(list->count, sizeof *made));
    return status;
}

static bool can_be_animated(const mn_parm_def *def)
{
    return !mn_parm_is_text(def) && def->kind != MN_PARM_MENU;
}

static mn_status read_parm(const mn_scene_reader *in, const target *to, const mn_json_tree_value *value)
{
    if (value->kind == MN_JSON_TREE_OBJECT && can_be_animated(to->def)) return read_keys(in, to, value);
    if (!can_be_animated(to->def)) {
        if (value->kind != MN_JSON_TREE_STRING) return fail_kind(in, to, value);
        return mn_scene_locate(in, value,
                               mn_network_set_string(in->network, to->node, to->def->name, value->string));
    }
    double numbers[4] = {0};
    MN_TRY(read_numbers(in, to, value, numbers));
    for (int32_t i = 0; i < to->def->size; i++)
        MN_TRY(mn_network_set_number(in->network, to->node, to->def->name, i, numbers[i]));
    return MN_OK;
}

mn_status mn_scene_read_parms(const mn_scene_reader *in, int32_t node, const mn_json_tree_value *parms)
{
    target to = {node, mn_network_node_type(in->network, node), mn_network_node_name(in->network, node),
                 NULL};
    char what[192];
    snprintf(what, sizeof what, "\"parms\" of '%s'", to.node_name);
    MN_TRY(mn_scene_expect(in, parms, MN_JSON_TREE_OBJECT, what));
    for (const mn_json_tree_value *at = mn_json_tree_first(in->json, parms); at;
         at = mn_json_tree_next(in->json, at)) {
        const int32_t parm = mn_parm_find(to.type, at->key);
        if (parm < 0)
            return mn_scene_locate(in, at, mn_parm_fail_unknown(in->ctx, to.type, to.node_name, at->key));
        to.def = &to.type->parms[parm];
        MN_TRY(read_parm(in, &to, at));
    }
    return MN_OK;
}
