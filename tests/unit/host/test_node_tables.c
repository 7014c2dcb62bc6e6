// SPDX-License-Identifier: Apache-2.0
//
// Every node table is complete, the check notices what is missing, and the JSON and the schema hold all of
// it.
#include "host_nodes.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/json/tree.h"
#include "support/one_context.h"

static void every_table_is_complete(void **state)
{
    (void)state;
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++) {
        check_ok(ctx, mn_node_type_check(ctx, types[i]));
        for (int32_t k = 0; k < i; k++) assert_string_not_equal(types[i]->name, types[k]->name);
        assert_ptr_equal(mn_node_type_find(types[i]->name), types[i]);
    }
    for (int32_t i = 0; i < HOST_TYPE_COUNT; i++) check_ok(ctx, mn_node_type_check(ctx, host_types[i]));
}

// A copy of a good table with one thing spoilt must be refused with these words.
static void spoilt(const mn_node_type *type, const char *part)
{
    check_fails(ctx, mn_node_type_check(ctx, type), MN_ERROR_ARGUMENT, part);
}

static void what_is_missing_in_a_type_is_noticed(void **state)
{
    (void)state;
    mn_node_type type = shift_type;
    mn_input_def input = shift_inputs[0];
    mn_output_def output = one_output[0];
    type.inputs = &input, type.outputs = &output;
    check_ok(ctx, mn_node_type_check(ctx, &type));
#define SPOIL(field, value, part)                                                                            \
    do {                                                                                                     \
        const __typeof__(field) kept = (field);                                                              \
        (field) = (value);                                                                                   \
        spoilt(&type, (part));                                                                               \
        (field) = kept;                                                                                      \
    } while (0)
    SPOIL(type.name, "Shift", "lower_snake");
    SPOIL(type.name, "shift_", "lower_snake");
    SPOIL(type.name, "", "lower_snake");
    SPOIL(type.label, "", "no label");
    SPOIL(type.menu, NULL, "no menu");
    SPOIL(type.help, "moves points", "not a sentence");
    SPOIL(type.help, "Moves\npoints.", "more than one line");
    SPOIL(type.cook, NULL, "cook or sim");
    SPOIL(type.sim, &walker_ops, "cook or sim");
    SPOIL(type.output_count, 0, "no output");
    SPOIL(input.expects, "", "expects");
    SPOIL(output.gives, NULL, "gives");
    mn_sim_ops ops = walker_ops;
    type = walker_type;
    type.sim = &ops;
    SPOIL(ops.save, NULL, "all its callbacks");
    SPOIL(type.parm_count, 1, "start_frame, time_scale");
}

static void what_is_missing_in_a_parameter_is_noticed(void **state)
{
    (void)state;
    mn_node_type type = dots_type;
    mn_parm_def parms[MN_COUNT_OF(dots_parms)];
    memcpy(parms, dots_parms, sizeof parms);
    type.parms = parms;
    check_ok(ctx, mn_node_type_check(ctx, &type));
    SPOIL(parms[0].name, "Count", "lower_snake");
    SPOIL(parms[0].name, "spacing", "stands twice");
    SPOIL(parms[0].label, NULL, "no label");
    SPOIL(parms[0].unit, NULL, "unit is NULL");
    SPOIL(parms[0].folder, "", "no folder");
    SPOIL(parms[1].folder, "Another", "between the rows");
    SPOIL(parms[0].tooltip, "how many", "tooltip");
    SPOIL(parms[0].size, 0, "size is wrong");
    SPOIL(parms[3].size, 2, "size is wrong");
    SPOIL(parms[0].hard_max, -1, "hard range is empty");
    SPOIL(parms[0].soft_max, INFINITY, "soft range is not");
    SPOIL(parms[0].soft_min, -5, "leaves the hard range");
    SPOIL(parms[0].defaults[0], 0.5, "whole number");
    SPOIL(parms[1].defaults[2], NAN, "not a finite");
    SPOIL(parms[2].defaults[0], -1, "at least 0");
    SPOIL(parms[3].defaults[0], 3, "numbered 0 to 2");
    SPOIL(parms[3].items, NULL, "two items");
    SPOIL(parms[2].items, dots_axes, "only menus");
    SPOIL(parms[4].defaults[0], 2, "0 or 1");
    SPOIL(parms[5].default_string, NULL, "default string");
    const mn_menu_item twice[] = {{"a", "A"}, {"a", "B"}, {NULL, NULL}},
                       unnamed[] = {{"a", "A"}, {"b", ""}, {NULL, NULL}};
    SPOIL(parms[3].items, twice, "same token");
    SPOIL(parms[3].items, unnamed, "no label");
}

static void the_json_holds_the_tables(void **state)
{
    (void)state;
    char *text;
    check_ok(ctx, mn_node_table_json(ctx, host_types, HOST_TYPE_COUNT, &text));
    mn_json_tree *json;
    check_ok(ctx, mn_json_tree_read(ctx, text, strlen(text), "nodes", &json));
    const mn_json_tree_value *nodes = mn_json_tree_find(json, mn_json_tree_root(json), "nodes");
    assert_int_equal(nodes->count, HOST_TYPE_COUNT);
    const mn_json_tree_value *node = mn_json_tree_first(json, nodes);
    for (int32_t i = 0; i < HOST_TYPE_COUNT; i++, node = mn_json_tree_next(json, node)) {
        const mn_node_type *type = host_types[i];
        assert_string_equal(mn_json_tree_find(json, node, "name")->string, type->name);
        assert_string_equal(mn_json_tree_find(json, node, "kind")->string, type->sim ? "sim" : "cook");
        assert_int_equal(mn_json_tree_find(json, node, "inputs")->count, type->input_count);
        assert_int_equal(mn_json_tree_find(json, node, "outputs")->count, type->output_count);
        const mn_json_tree_value *parms = mn_json_tree_find(json, node, "parms");
        assert_int_equal(parms->count, type->parm_count);
        const mn_json_tree_value *parm = mn_json_tree_first(json, parms);
        for (int32_t k = 0; k < type->parm_count; k++, parm = mn_json_tree_next(json, parm)) {
            const mn_parm_def *def = &type->parms[k];
            assert_string_equal(mn_json_tree_find(json, parm, "name")->string, def->name);
            assert_string_equal(mn_json_tree_find(json, parm, "tooltip")->string, def->tooltip);
            assert_string_equal(mn_json_tree_find(json, parm, "unit")->string, def->unit);
            const mn_json_tree_value *standard = mn_json_tree_find(json, parm, "default");
            if (def->kind == MN_PARM_FLOAT && def->size == 1)
                check_close(standard->number, def->defaults[0], 0);
            if (def->size > 1) assert_int_equal(standard->count, def->size);
            const mn_json_tree_value *range = mn_json_tree_find(json, parm, "range");
            assert_true((range != NULL) == (def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT));
            if (range && !isfinite(def->hard_min))
                assert_int_equal(mn_json_tree_first(json, range)->kind, MN_JSON_TREE_NULL);
            if (def->kind == MN_PARM_MENU)
                assert_int_equal(mn_json_tree_find(json, parm, "items")->count, mn_parm_item_count(def));
        }
    }
    mn_json_tree_free(json);
    mn_scene_free_text(ctx, text);
    check_fails(ctx, mn_node_types_json(ctx, "no_such_type_at_all", &text), MN_ERROR_NOT_FOUND,
                "no node type");
    check_ok(ctx, mn_node_types_json(ctx, NULL, &text));
    mn_scene_free_text(ctx, text);
}

static const mn_json_tree_value *descend(const mn_json_tree *json, const mn_json_tree_value *at,
                                         const char *const *keys)
{
    for (; at && *keys; keys++) at = mn_json_tree_find(json, at, *keys);
    return at;
}

static void the_schema_knows_every_parameter(void **state)
{
    (void)state;
    static const char *const to_cases[] = {"properties", "nodes", "items", "allOf", NULL};
    static const char *const to_name[] = {"if", "properties", "type", "const", NULL};
    static const char *const to_parms[] = {"then", "properties", "parms", "properties", NULL};
    char *text;
    mn_json_tree *json;
    check_ok(ctx, mn_scene_schema_json(ctx, host_types, HOST_TYPE_COUNT, &text));
    check_ok(ctx, mn_json_tree_read(ctx, text, strlen(text), "schema", &json));
    const mn_json_tree_value *cases = descend(json, mn_json_tree_root(json), to_cases);
    assert_int_equal(cases->count, HOST_TYPE_COUNT);
    const mn_json_tree_value *one = mn_json_tree_first(json, cases);
    for (int32_t i = 0; i < HOST_TYPE_COUNT; i++, one = mn_json_tree_next(json, one)) {
        assert_string_equal(descend(json, one, to_name)->string, host_types[i]->name);
        const mn_json_tree_value *parms = descend(json, one, to_parms);
        assert_int_equal(parms->count, host_types[i]->parm_count);
        for (int32_t k = 0; k < host_types[i]->parm_count; k++) {
            const mn_parm_def *def = &host_types[i]->parms[k];
            const mn_json_tree_value *parm = mn_json_tree_find(json, parms, def->name);
            assert_non_null(strstr(mn_json_tree_find(json, parm, "description")->string, def->tooltip));
            const mn_json_tree_value *choices = mn_json_tree_find(json, parm, "anyOf");
            const bool number = def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT;
            const bool animated =
                (number || def->kind == MN_PARM_TOGGLE) && strcmp(def->name, "start_frame") != 0;
            assert_int_equal(choices->count, animated ? 2 : 1);
            const mn_json_tree_value *value = mn_json_tree_first(json, choices);
            if (number && def->size == 1 && isfinite(def->hard_min))
                check_close(mn_json_tree_find(json, value, "minimum")->number, def->hard_min, 0);
            if (def->kind == MN_PARM_MENU)
                assert_int_equal(mn_json_tree_find(json, value, "enum")->count, mn_parm_item_count(def));
        }
    }
    mn_json_tree_free(json);
    mn_scene_free_text(ctx, text);
    check_ok(ctx, mn_scene_schema_json(ctx, NULL, 0, &text));
    mn_scene_free_text(ctx, text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_table_is_complete, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_missing_in_a_type_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(what_is_missing_in_a_parameter_is_noticed, setup, teardown),
        cmocka_unit_test_setup_teardown(the_json_holds_the_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(the_schema_knows_every_parameter, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
