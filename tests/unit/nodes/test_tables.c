// SPDX-License-Identifier: Apache-2.0
//
// Every node table is complete: hosts build their panels, help and schemas from nothing else.
#include "nodes/node.h"
#include "support/check.h"

static bool is_lower_snake(const char *name)
{
    if (!name || name[0] < 'a' || name[0] > 'z') return false;
    for (const char *c = name; *c; c++)
        if (!((*c >= 'a' && *c <= 'z') || (*c >= '0' && *c <= '9') || *c == '_')) return false;
    return true;
}

static bool is_sentence(const char *text)
{
    return text && text[0] && text[strlen(text) - 1] == '.';
}

static const mn_parm_def *find_parm(const mn_node_type *type, const char *name)
{
    for (int32_t i = 0; i < type->parm_count; i++)
        if (strcmp(type->parms[i].name, name) == 0) return &type->parms[i];
    return NULL;
}

// "{ name op value ... } { ... }": every name is a parameter of the node and every menu token one of its
// items.
static void check_disable_when(const mn_node_type *type, const mn_parm_def *parm)
{
    char text[512];
    assert_true(strlen(parm->disable_when) < sizeof text);
    strcpy(text, parm->disable_when);
    int place = -1;
    const mn_parm_def *subject = NULL;
    for (char *word = strtok(text, " "); word; word = strtok(NULL, " ")) {
        if (strcmp(word, "{") == 0) {
            assert_int_equal(place, -1);
            place = 0;
        } else if (strcmp(word, "}") == 0) {
            assert_true(place > 0 && place % 3 == 0);
            place = -1;
        } else {
            assert_true(place >= 0);
            if (place % 3 == 0) {
                subject = find_parm(type, word);
                assert_non_null(subject);
                assert_ptr_not_equal(subject, parm);
            } else if (place % 3 == 1) {
                assert_true(strcmp(word, "==") == 0 || strcmp(word, "!=") == 0);
            } else if (subject->kind == MN_PARM_MENU) {
                bool known = false;
                for (const mn_menu_item *item = subject->items; item->token; item++)
                    known |= strcmp(item->token, word) == 0;
                assert_true(known);
            }
            place++;
        }
    }
    assert_int_equal(place, -1);
}

static void check_parm(const mn_node_type *type, int32_t index)
{
    const mn_parm_def *p = &type->parms[index];
    assert_true(is_lower_snake(p->name));
    assert_ptr_equal(find_parm(type, p->name), p); // the only one of its name
    assert_true(p->label && p->label[0]);
    assert_true(p->folder && p->folder[0]);
    assert_non_null(p->unit);
    assert_true(is_sentence(p->tooltip));
    assert_true(p->size >= 1 && p->size <= 4);
    if (p->disable_when) check_disable_when(type, p);
    if (p->kind == MN_PARM_STRING || p->kind == MN_PARM_FILE) {
        assert_non_null(p->default_string);
        return;
    }
    // What may become a float has a range that fits one.
    assert_true(p->hard_min >= -1e30 && p->hard_max <= 1e30);
    assert_true(p->hard_min <= p->soft_min && p->soft_min < p->soft_max && p->soft_max <= p->hard_max);
    for (int32_t i = 0; i < p->size; i++)
        assert_true(p->defaults[i] >= p->hard_min && p->defaults[i] <= p->hard_max);
    if (p->kind == MN_PARM_MENU) {
        int32_t count = 0;
        for (; p->items[count].token; count++) {
            assert_true(is_lower_snake(p->items[count].token));
            assert_true(p->items[count].label && p->items[count].label[0]);
        }
        assert_true(p->hard_min == 0 && p->hard_max == count - 1);
    } else {
        assert_null(p->items);
    }
}

static void every_table_is_complete(void **state)
{
    (void)state;
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    assert_true(count > 0);
    for (int32_t t = 0; t < count; t++) {
        const mn_node_type *type = types[t];
        assert_true(is_lower_snake(type->name));
        assert_ptr_equal(mn_node_type_find(type->name), type);
        assert_true(strncmp(type->label, "Meniscus ", 9) == 0);
        assert_true(strncmp(type->menu, "Meniscus/", 9) == 0);
        assert_true(is_sentence(type->help));
        assert_true((type->cook != NULL) != (type->sim != NULL));
        assert_true(type->output_count >= 1 && type->parm_count <= MN_PARM_LIMIT);
        for (int32_t i = 0; i < type->output_count; i++)
            assert_true(type->outputs[i].label[0] && type->outputs[i].gives[0]);
        for (int32_t i = 0; i < type->input_count; i++) {
            assert_true(type->inputs[i].label[0] && type->inputs[i].expects[0]);
            assert_true(!type->inputs[i].many || i == type->input_count - 1);
        }
        for (int32_t i = 0; i < type->parm_count; i++) check_parm(type, i);
    }
    assert_null(mn_node_type_find("no_such_node"));
}

static void simulations_have_what_every_simulation_has(void **state)
{
    (void)state;
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t t = 0; t < count; t++) {
        const mn_sim_ops *sim = types[t]->sim;
        if (!sim) continue;
        assert_true(sim->create && sim->advance && sim->emit && sim->save);
        assert_true(sim->load && sim->report && sim->free);
        const char *const needed[] = {"start_frame", "time_scale", "min_substeps", "max_substeps"};
        for (int i = 0; i < 4; i++) assert_non_null(find_parm(types[t], needed[i]));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_table_is_complete),
        cmocka_unit_test(simulations_have_what_every_simulation_has),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
