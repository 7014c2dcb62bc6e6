// SPDX-License-Identifier: Apache-2.0
//
// Parameters against their table.
#include "plugin/host/network/parms.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

#include "meniscus/stream.h"
#include "plugin/host/network/spelling.h"

int32_t mn_parm_find(const mn_node_type *type, const char *name)
{
    for (int32_t i = 0; i < type->parm_count; i++)
        if (strcmp(type->parms[i].name, name) == 0) return i;
    return -1;
}

int32_t mn_parm_item_count(const mn_parm_def *def)
{
    int32_t count = 0;
    if (def->kind == MN_PARM_MENU && def->items)
        while (def->items[count].token) count++;
    return count;
}

double mn_parm_number(const mn_node_type *type, const mn_parm_value *values, const char *name,
                      double otherwise)
{
    const int32_t parm = mn_parm_find(type, name);
    return parm < 0 ? otherwise : values[parm].number[0];
}

uint64_t mn_parm_hash(uint64_t hash, const mn_node_type *type, const mn_parm_value *values)
{
    for (int32_t i = 0; i < type->parm_count; i++) {
        const mn_parm_def *def = &type->parms[i];
        hash = mn_hash_string(hash, def->name);
        if (mn_parm_is_text(def)) {
            hash = mn_hash_string(hash, values[i].string ? values[i].string : "");
        } else {
            for (int32_t k = 0; k < def->size; k++) hash = mn_hash_f64(hash, values[i].number[k]);
        }
    }
    return hash;
}

// "radius", or "radius[1]" when there are several components.
static const char *component_name(const mn_parm_def *def, int32_t component, char *buffer, size_t size)
{
    if (def->size == 1) return def->name;
    snprintf(buffer, size, "%s[%d]", def->name, (int)component);
    return buffer;
}

// "between 0 and 1 m", "at least 0 m", "at most 1 m", by the hard range.
static const char *allowed_range(const mn_parm_def *def, char *buffer, size_t size)
{
    const char *unit = def->unit ? def->unit : "", *space = *unit ? " " : "";
    if (isfinite(def->hard_min) && isfinite(def->hard_max))
        snprintf(buffer, size, "between %.10g and %.10g%s%s", def->hard_min, def->hard_max, space, unit);
    else if (isfinite(def->hard_min))
        snprintf(buffer, size, "at least %.10g%s%s", def->hard_min, space, unit);
    else if (isfinite(def->hard_max))
        snprintf(buffer, size, "at most %.10g%s%s", def->hard_max, space, unit);
    else
        snprintf(buffer, size, "a finite number");
    return buffer;
}

// Doubles hold every whole number up to here.
static const double LARGEST_WHOLE = 9007199254740992.0;

mn_status mn_parm_check_number(mn_context *ctx, const mn_node_type *type, const char *node_name,
                               const mn_parm_def *def, int32_t component, double value)
{
    char name[96], range[128];
    const char *shown = component_name(def, component, name, sizeof name);
    const bool whole = value == floor(value) && fabs(value) <= LARGEST_WHOLE;
    if (!isfinite(value))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is not a finite number.", type->name, node_name,
                       shown);
    if (mn_parm_is_text(def))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s takes a string, not a number.", type->name,
                       node_name, shown);
    switch (def->kind) {
    case MN_PARM_TOGGLE:
        if (value == 0 || value == 1) return MN_OK;
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is %.10g but must be 0 or 1.", type->name,
                       node_name, shown, value);
    case MN_PARM_MENU:
        if (whole && value >= 0 && value < mn_parm_item_count(def)) return MN_OK;
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is %.10g but its items are numbered 0 to %d.",
                       type->name, node_name, shown, value, (int)mn_parm_item_count(def) - 1);
    case MN_PARM_INT:
        if (whole) break;
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is %.10g but must be a whole number.", type->name,
                       node_name, shown, value);
    default:
        break;
    }
    if (value >= def->hard_min && value <= def->hard_max) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is %.10g but must be %s.", type->name, node_name,
                   shown, value, allowed_range(def, range, sizeof range));
}

mn_status mn_parm_check_token(mn_context *ctx, const mn_node_type *type, const char *node_name,
                              const mn_parm_def *def, const char *token, int32_t *index)
{
    mn_nearest nearest = mn_nearest_to(token);
    for (int32_t i = 0; i < mn_parm_item_count(def); i++) {
        if (strcmp(def->items[i].token, token) == 0) {
            *index = i;
            return MN_OK;
        }
        mn_nearest_try(&nearest, def->items[i].token);
    }
    char expects[512];
    mn_shown shown, hint;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "%s '%s': %s is '%s' but must be %s%s", type->name, node_name,
                   def->name, mn_show(&shown, token), mn_parm_expects(def, expects, sizeof expects),
                   mn_nearest_hint(&nearest, &hint));
}

mn_status mn_parm_fail_unknown(mn_context *ctx, const mn_node_type *type, const char *node_name,
                               const char *name)
{
    mn_nearest nearest = mn_nearest_to(name);
    for (int32_t i = 0; i < type->parm_count; i++) mn_nearest_try(&nearest, type->parms[i].name);
    mn_shown shown, hint;
    return mn_fail(ctx, MN_ERROR_NOT_FOUND, "%s '%s' has no parameter '%s'%s", type->name, node_name,
                   mn_show(&shown, name), mn_nearest_hint(&nearest, &hint));
}

const char *mn_parm_expects(const mn_parm_def *def, char *buffer, size_t size)
{
    const char *number = def->kind == MN_PARM_INT ? "whole number" : "number";
    switch (def->kind) {
    case MN_PARM_TOGGLE:
        return "true or false";
    case MN_PARM_STRING:
        return "a string";
    case MN_PARM_FILE:
        return "a path";
    case MN_PARM_MENU: {
        size_t used = (size_t)snprintf(buffer, size, "one of");
        for (int32_t i = 0; i < mn_parm_item_count(def) && used < size; i++)
            used +=
                (size_t)snprintf(buffer + used, size - used, "%s %s", i > 0 ? "," : "", def->items[i].token);
        return buffer;
    }
    default:
        if (def->size == 1)
            snprintf(buffer, size, "a %s", number);
        else
            snprintf(buffer, size, "%d %ss", (int)def->size, number);
        return buffer;
    }
}

mn_status mn_node_blame(mn_context *ctx, const mn_node_type *type, const char *node_name, mn_status status)
{
    char prefix[192];
    mn_shown shown;
    const int length = snprintf(prefix, sizeof prefix, "%s '%s'", type->name, mn_show(&shown, node_name));
    const char *message = mn_context_message(ctx);
    if (length > 0 && strncmp(message, prefix, (size_t)length) == 0) return status;
    if (!*message) message = mn_status_message(status);
    return mn_fail(ctx, status, "%s: %s", prefix, message);
}
