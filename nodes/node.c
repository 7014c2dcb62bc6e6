// SPDX-License-Identifier: Apache-2.0
//
// Access to a cook's parameters and inputs by name.
#include "nodes/node.h"

#include "base/field_groups.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

static const mn_parm_value *value_of(const mn_cook *cook, const char *name)
{
    static const mn_parm_value none = {{0}, ""};
    for (int32_t i = 0; i < cook->type->parm_count; i++)
        if (strcmp(cook->type->parms[i].name, name) == 0) return &cook->parms[i];
    mn_cook_warn(cook, "The node reads a parameter '%s', which it does not have; please report this.", name);
    return &none;
}

double mn_cook_float(const mn_cook *cook, const char *name)
{
    return value_of(cook, name)->number[0];
}

int64_t mn_cook_int(const mn_cook *cook, const char *name)
{
    return (int64_t)value_of(cook, name)->number[0];
}

bool mn_cook_toggle(const mn_cook *cook, const char *name)
{
    return value_of(cook, name)->number[0] != 0;
}

mn_vec3 mn_cook_vec3(const mn_cook *cook, const char *name)
{
    const double *number = value_of(cook, name)->number;
    return mn_v3(number[0], number[1], number[2]);
}

int32_t mn_cook_menu(const mn_cook *cook, const char *name)
{
    return (int32_t)value_of(cook, name)->number[0];
}

const char *mn_cook_string(const mn_cook *cook, const char *name)
{
    const char *string = value_of(cook, name)->string;
    return string ? string : "";
}

static int32_t material_of(const mn_cook *cook)
{
    for (int32_t i = 0; i < cook->type->parm_count; i++)
        if (cook->type->parms[i].items == mn_material_items) return (int32_t)cook->parms[i].number[0];
    return 0;
}

void mn_cook_fill_def(const mn_cook *cook, void *def)
{
    const int32_t material = material_of(cook);
    for (int32_t i = 0; i < cook->type->parm_count; i++) {
        const mn_field *field = &cook->type->parms[i];
        if (field->storage == MN_STORE_NONE) continue;
        double value[4];
        memcpy(value, cook->parms[i].number, sizeof value);
        value[0] = mn_material_value(material, field->property, value[0]);
        mn_field_set(field, def, value);
    }
}

const mn_geo *mn_cook_input(const mn_cook *cook, int32_t index)
{
    return index >= 0 && index < cook->input_count ? cook->inputs[index] : NULL;
}

uint64_t mn_cook_input_key(const mn_cook *cook, int32_t index)
{
    return cook->input_keys && index >= 0 && index < cook->input_count ? cook->input_keys[index] : 0;
}

bool mn_cook_at(const mn_cook *cook, double frame, mn_parm_value parms[MN_PARM_LIMIT], mn_cook *at)
{
    if (!cook->parm_at || cook->type->parm_count > MN_PARM_LIMIT) return false;
    for (int32_t i = 0; i < cook->type->parm_count; i++) cook->parm_at(cook->parm_user, i, frame, &parms[i]);
    *at = *cook;
    at->parms = parms;
    at->frame = frame;
    return true;
}

mn_status mn_cook_fail(const mn_cook *cook, mn_status status, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    return mn_fail(cook->ctx, status, "%s '%s': %s", cook->type->name, cook->node_name, sentence);
}

void mn_cook_warn(const mn_cook *cook, const char *format, ...)
{
    char sentence[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(sentence, sizeof sentence, format, arguments);
    va_end(arguments);
    cook->warn(cook->warn_user, sentence);
}
