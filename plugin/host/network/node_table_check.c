// SPDX-License-Identifier: Apache-2.0
//
// Is a node's table complete? Everything that a host shows must be there and fit together, since no host will
// ask a second time.
#include <ctype.h>
#include <math.h>
#include <string.h>

#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"

enum { LONGEST_TYPE_NAME = 63 };

static bool is_empty(const char *text)
{
    return !text || !*text;
}

// Lower case letters, digits and single _ between them, a letter first.
static bool is_lower_snake(const char *name)
{
    if (is_empty(name) || !islower((unsigned char)name[0])) return false;
    for (const char *at = name; *at; at++) {
        if (!islower((unsigned char)*at) && !isdigit((unsigned char)*at) && *at != '_') return false;
        if (*at == '_' && (at[1] == '_' || at[1] == '\0')) return false;
    }
    return true;
}

// One or more sentences: a capital or a digit first, a full stop at the end.
static bool is_sentence(const char *text)
{
    if (is_empty(text)) return false;
    return !islower((unsigned char)text[0]) && text[strlen(text) - 1] == '.';
}

static mn_status lacks(mn_context *ctx, const mn_node_type *type, const mn_parm_def *def, const char *what)
{
    const char *name = is_empty(type->name) ? "(no name)" : type->name;
    if (!def) return mn_fail(ctx, MN_ERROR_ARGUMENT, "node type %s: %s.", name, what);
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "node type %s, parameter %s: %s.", name,
                   is_empty(def->name) ? "(no name)" : def->name, what);
}

// ---- parameters ----

static mn_status check_menu(mn_context *ctx, const mn_node_type *type, const mn_parm_def *def)
{
    const int32_t count = mn_parm_item_count(def);
    if (count < 2) return lacks(ctx, type, def, "a menu needs at least two items");
    for (int32_t i = 0; i < count; i++) {
        if (!is_lower_snake(def->items[i].token)) return lacks(ctx, type, def, "a token is not lower_snake");
        if (is_empty(def->items[i].label)) return lacks(ctx, type, def, "an item has no label");
        for (int32_t k = 0; k < i; k++)
            if (strcmp(def->items[i].token, def->items[k].token) == 0)
                return lacks(ctx, type, def, "two items have the same token");
    }
    return MN_OK;
}

static mn_status check_ranges(mn_context *ctx, const mn_node_type *type, const mn_parm_def *def)
{
    if (!(def->hard_min < def->hard_max)) return lacks(ctx, type, def, "the hard range is empty");
    if (!isfinite(def->soft_min) || !isfinite(def->soft_max) || !(def->soft_min < def->soft_max))
        return lacks(ctx, type, def, "the soft range is not a range");
    if (def->soft_min < def->hard_min || def->soft_max > def->hard_max)
        return lacks(ctx, type, def, "the soft range leaves the hard range");
    return MN_OK;
}

static mn_status check_default(mn_context *ctx, const mn_node_type *type, const mn_parm_def *def)
{
    if (mn_parm_is_text(def))
        return def->default_string ? MN_OK : lacks(ctx, type, def, "the default string is NULL; use \"\"");
    for (int32_t i = 0; i < def->size; i++)
        MN_TRY(mn_parm_check_number(ctx, type, "(default)", def, i, def->defaults[i]));
    return MN_OK;
}

// Rows of one folder stand together, or hosts would show it twice.
static bool folder_stands_before(const mn_node_type *type, int32_t index)
{
    const char *folder = type->parms[index].folder;
    if (index == 0 || strcmp(type->parms[index - 1].folder, folder) == 0) return false;
    for (int32_t i = 0; i < index; i++)
        if (strcmp(type->parms[i].folder, folder) == 0) return true;
    return false;
}

static mn_status check_parm(mn_context *ctx, const mn_node_type *type, int32_t index)
{
    const mn_parm_def *def = &type->parms[index];
    const bool number = def->kind == MN_PARM_FLOAT || def->kind == MN_PARM_INT;
    if (!is_lower_snake(def->name)) return lacks(ctx, type, def, "the name is not lower_snake");
    for (int32_t i = 0; i < index; i++)
        if (strcmp(type->parms[i].name, def->name) == 0)
            return lacks(ctx, type, def, "the name stands twice");
    if (is_empty(def->label)) return lacks(ctx, type, def, "there is no label");
    if (def->size < 1 || def->size > 4 || (!number && def->size != 1))
        return lacks(ctx, type, def, "the size is wrong for its kind");
    if (!def->unit) return lacks(ctx, type, def, "the unit is NULL; use \"\" for a pure number");
    if (is_empty(def->folder)) return lacks(ctx, type, def, "there is no folder");
    if (folder_stands_before(type, index))
        return lacks(ctx, type, def, "other folders stand between the rows of its folder");
    if (!is_sentence(def->tooltip)) return lacks(ctx, type, def, "the tooltip is not a sentence");
    if (def->kind == MN_PARM_MENU) MN_TRY(check_menu(ctx, type, def));
    if (def->kind != MN_PARM_MENU && def->items) return lacks(ctx, type, def, "only menus have items");
    if (number) MN_TRY(check_ranges(ctx, type, def));
    return check_default(ctx, type, def);
}

// ---- the type ----

static mn_status check_ports(mn_context *ctx, const mn_node_type *type)
{
    for (int32_t i = 0; i < type->input_count; i++) {
        const mn_input_def *input = &type->inputs[i];
        if (is_empty(input->label) || is_empty(input->expects))
            return lacks(ctx, type, NULL, "an input has no label, or does not say what it expects");
        if (input->many && i + 1 < type->input_count)
            return lacks(ctx, type, NULL, "only the last input may take many");
    }
    if (type->output_count < 1) return lacks(ctx, type, NULL, "there is no output");
    for (int32_t i = 0; i < type->output_count; i++)
        if (is_empty(type->outputs[i].label) || is_empty(type->outputs[i].gives))
            return lacks(ctx, type, NULL, "an output has no label, or does not say what it gives");
    return MN_OK;
}

static mn_status check_sim(mn_context *ctx, const mn_node_type *type)
{
    const mn_sim_ops *ops = type->sim;
    if (!ops->create || !ops->advance || !ops->emit || !ops->save || !ops->load || !ops->report || !ops->free)
        return lacks(ctx, type, NULL, "a simulation needs all its callbacks");
    static const char *const needed[] = {"start_frame", "time_scale", "min_substeps", "max_substeps"};
    for (size_t i = 0; i < sizeof needed / sizeof *needed; i++)
        if (mn_parm_find(type, needed[i]) < 0)
            return lacks(ctx, type, NULL,
                         "a simulation needs start_frame, time_scale, min_substeps and max_substeps");
    return MN_OK;
}

mn_status mn_node_type_check(mn_context *ctx, const mn_node_type *type)
{
    if (!is_lower_snake(type->name) || strlen(type->name) > LONGEST_TYPE_NAME)
        return lacks(ctx, type, NULL, "the name is not lower_snake, or longer than 63 characters");
    if (is_empty(type->label)) return lacks(ctx, type, NULL, "there is no label");
    if (is_empty(type->menu)) return lacks(ctx, type, NULL, "there is no menu");
    if (!is_sentence(type->help)) return lacks(ctx, type, NULL, "the help is not a sentence");
    if (strchr(type->help, '\n')) return lacks(ctx, type, NULL, "the help is more than one line");
    if ((type->cook != NULL) == (type->sim != NULL))
        return lacks(ctx, type, NULL, "it must have cook or sim, not both");
    if (type->parm_count > MN_PARM_LIMIT) return lacks(ctx, type, NULL, "the table has too many parameters");
    MN_TRY(check_ports(ctx, type));
    if (type->sim) MN_TRY(check_sim(ctx, type));
    for (int32_t i = 0; i < type->parm_count; i++) MN_TRY(check_parm(ctx, type, i));
    return MN_OK;
}
