// SPDX-License-Identifier: Apache-2.0
//
// Parameters of a network's nodes: set, animated and evaluated at a frame.
//
//   value(f) = v_i + (v_i+1 - v_i) (f - f_i) / (f_i+1 - f_i)   for f_i <= f < f_i+1, constant outside
#define _POSIX_C_SOURCE 200809L
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "plugin/host/network/network_state.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/network/text.h"
#include "plugin/json/number_text.h"

enum { MAX_KEYS = 1000000 };

// ---- life ----

// The path as the node gets it: a relative one with the folder in front.
static mn_status join_path(mn_context *ctx, const char *folder, const char *path, char **joined)
{
    if (!*path || *path == '/' || !*folder) return mn_text_set(ctx, joined, path);
    const size_t folder_length = strlen(folder), path_size = strlen(path) + 1;
    const bool slash = folder[folder_length - 1] != '/';
    char *made = mn_allocate(ctx, folder_length + slash + path_size);
    if (!made) return MN_ERROR_MEMORY;
    memcpy(made, folder, folder_length);
    if (slash) made[folder_length] = '/';
    memcpy(made + folder_length + slash, path, path_size);
    mn_text_free(ctx, joined);
    *joined = made;
    return MN_OK;
}

mn_status mn_network_resolve_paths(mn_network_node *node, const char *folder)
{
    for (int32_t i = 0; i < node->type->parm_count; i++)
        if (node->type->parms[i].kind == MN_PARM_FILE)
            MN_TRY(join_path(node->network->ctx, folder, node->parms[i].string, &node->parms[i].path));
    return MN_OK;
}

// A string or file parameter, with its path; as it was when memory is out.
static mn_status set_words(mn_network_node *node, int32_t parm, const char *value)
{
    mn_context *ctx = node->network->ctx;
    mn_parm_state *state = &node->parms[parm];
    char *string = NULL;
    MN_TRY(mn_text_set(ctx, &string, value));
    if (node->type->parms[parm].kind == MN_PARM_FILE) {
        const mn_status status = join_path(ctx, node->network->folder, value, &state->path);
        if (status != MN_OK) {
            mn_text_free(ctx, &string);
            return status;
        }
    }
    mn_text_free(ctx, &state->string);
    state->string = string;
    return MN_OK;
}

static mn_status set_default(mn_network_node *node, int32_t parm)
{
    const mn_parm_def *def = &node->type->parms[parm];
    mn_parm_state *state = &node->parms[parm];
    if (mn_parm_is_text(def)) MN_TRY(set_words(node, parm, def->default_string ? def->default_string : ""));
    memcpy(state->number, def->defaults, sizeof state->number);
    state->keys.count = 0;
    state->is_set = false;
    return MN_OK;
}

mn_status mn_network_init_parms(mn_network_node *node)
{
    mn_context *ctx = node->network->ctx;
    const int32_t count = node->type->parm_count;
    if (count == 0) return MN_OK;
    node->parms = mn_allocate_zero(ctx, mn_bytes(count, sizeof *node->parms));
    node->values = mn_allocate_zero(ctx, mn_bytes(count, sizeof *node->values));
    if (!node->parms || !node->values) return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) MN_TRY(set_default(node, i));
    return MN_OK;
}

void mn_network_free_parms(mn_network_node *node)
{
    mn_context *ctx = node->network->ctx;
    const int32_t count = node->type->parm_count;
    for (int32_t i = 0; node->parms && i < count; i++) {
        mn_text_free(ctx, &node->parms[i].string);
        mn_text_free(ctx, &node->parms[i].path);
        mn_array_free(ctx, &node->parms[i].keys);
    }
    mn_release(ctx, node->parms, mn_bytes(count, sizeof *node->parms));
    mn_release(ctx, node->values, mn_bytes(count, sizeof *node->values));
}

// ---- evaluation ----

static double between_keys(const mn_parm_def *def, const mn_key *before, const mn_key *after,
                           int32_t component, double frame)
{
    const double a = before->value[component], b = after->value[component];
    if (def->kind == MN_PARM_TOGGLE || a == b) return a;
    // The two products cannot overflow where b - a could, and stay between a and b up to rounding.
    const double t = (frame - before->frame) / (after->frame - before->frame);
    const double value = a * (1 - t) + b * t;
    const double inside = fmin(fmax(value, fmin(a, b)), fmax(a, b));
    return def->kind == MN_PARM_INT ? floor(inside + 0.5) : inside;
}

// The last key at or before `frame`; the caller knows that there is one.
static int64_t key_before(const mn_parm_state *state, double frame)
{
    int64_t low = 0, high = state->keys.count;
    while (high - low > 1) {
        const int64_t middle = low + (high - low) / 2;
        if (state->keys.data[middle].frame <= frame)
            low = middle;
        else
            high = middle;
    }
    return low;
}

bool mn_network_is_following(const mn_network_node *node, int32_t parm)
{
    return node->network->dx > 0 && node->type->parms[parm].of_dx > 0 && !node->parms[parm].is_set;
}

void mn_network_evaluate(const mn_network_node *node, int32_t parm, double frame, mn_parm_value *value)
{
    const mn_parm_def *def = &node->type->parms[parm];
    const mn_parm_state *state = &node->parms[parm];
    memset(value, 0, sizeof *value);
    value->string = def->kind == MN_PARM_FILE ? state->path : state->string;
    if (!value->string) value->string = "";
    if (state->keys.count == 0) {
        memcpy(value->number, state->number, sizeof value->number);
        if (mn_network_is_following(node, parm)) value->number[0] = def->of_dx * node->network->dx;
        return;
    }
    const mn_key *keys = state->keys.data;
    const int64_t last = state->keys.count - 1;
    const int64_t at = frame <= keys[0].frame ? 0 : key_before(state, frame);
    const bool outside = frame <= keys[0].frame || at == last;
    for (int32_t k = 0; k < def->size; k++)
        value->number[k] =
            outside ? keys[at].value[k] : between_keys(def, &keys[at], &keys[at + 1], k, frame);
}

void mn_network_evaluate_all(mn_network_node *node, double frame)
{
    for (int32_t i = 0; i < node->type->parm_count; i++)
        mn_network_evaluate(node, i, frame, &node->values[i]);
}

bool mn_network_is_animated(const mn_network_node *node)
{
    for (int32_t i = 0; i < node->type->parm_count; i++)
        if (node->parms[i].keys.count > 0) return true;
    return false;
}

bool mn_network_is_default(const mn_network_node *node, int32_t parm)
{
    const mn_parm_def *def = &node->type->parms[parm];
    const mn_parm_state *state = &node->parms[parm];
    if (state->keys.count > 0) return false;
    if (node->network->dx > 0 && def->of_dx > 0) return !state->is_set;
    if (mn_parm_is_text(def))
        return strcmp(state->string, def->default_string ? def->default_string : "") == 0;
    for (int32_t k = 0; k < def->size; k++)
        if (state->number[k] != def->defaults[k]) return false;
    return true;
}

// ---- setting ----

typedef struct place {
    mn_network_node *node;
    int32_t parm;
    const mn_parm_def *def;
    mn_parm_state *state;
} place;

static mn_status find_place(const mn_network *network, int32_t node, const char *parm, place *found)
{
    MN_TRY(mn_network_get(network, node, &found->node));
    found->parm = mn_parm_find(found->node->type, parm);
    if (found->parm < 0)
        return mn_parm_fail_unknown(network->ctx, found->node->type, found->node->name, parm);
    found->def = &found->node->type->parms[found->parm];
    found->state = &found->node->parms[found->parm];
    return MN_OK;
}

mn_status mn_network_find_parm(const mn_network *network, const char *path, int32_t *node, int32_t *parm)
{
    char name[160];
    mn_shown shown;
    const char *dot = strchr(path, '.');
    if (!dot)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "'%s' must be written as node.parameter.",
                       mn_show(&shown, path));
    const size_t length = (size_t)(dot - path);
    snprintf(name, sizeof name, "%.*s", length < sizeof name ? (int)length : (int)sizeof name - 1, path);
    MN_TRY(mn_network_require(network, name, node));
    place found;
    MN_TRY(find_place(network, *node, dot + 1, &found));
    *parm = found.parm;
    return MN_OK;
}

mn_status mn_network_set_number(mn_network *network, int32_t node, const char *parm, int32_t component,
                                double value)
{
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    if (component < 0 || component >= at.def->size)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                       "%s '%s': %s has %d component%s, numbered from 0; "
                       "there is no %s[%d].",
                       at.node->type->name, at.node->name, at.def->name, (int)at.def->size,
                       at.def->size == 1 ? "" : "s", at.def->name, (int)component);
    MN_TRY(mn_parm_check_number(network->ctx, at.node->type, at.node->name, at.def, component, value));
    at.state->number[component] = value;
    at.state->keys.count = 0;
    at.state->is_set = true;
    network->revision++;
    return MN_OK;
}

mn_status mn_network_set_string(mn_network *network, int32_t node, const char *parm, const char *value)
{
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    if (at.def->kind == MN_PARM_MENU) {
        int32_t index;
        MN_TRY(mn_parm_check_token(network->ctx, at.node->type, at.node->name, at.def, value, &index));
        return mn_network_set_number(network, node, parm, 0, index);
    }
    char expects[128];
    mn_shown shown;
    if (!mn_parm_is_text(at.def))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s': %s takes %s, not the string '%s'.",
                       at.node->type->name, at.node->name, at.def->name,
                       mn_parm_expects(at.def, expects, sizeof expects), mn_show(&shown, value));
    network->revision++;
    return set_words(at.node, at.parm, value);
}

static bool is_word(const char *text, const char *const *words)
{
    for (; *words; words++)
        if (strcmp(text, *words) == 0) return true;
    return false;
}

// "1 2 3", "1,2,3", and the same in brackets.
static bool read_numbers(const char *text, double numbers[4], int32_t *count)
{
    char inner[256];
    const size_t length = strlen(text);
    if (length < 2 || length >= sizeof inner || !strchr("[(", text[0]) || !strchr("])", text[length - 1]))
        return mn_numbers_from_text(text, 4, numbers, count);
    memcpy(inner, text + 1, length - 2);
    inner[length - 2] = '\0';
    return mn_numbers_from_text(inner, 4, numbers, count);
}

mn_status mn_network_set_text(mn_network *network, int32_t node, const char *parm, const char *text)
{
    static const char *const yes[] = {"1", "true", "on", "yes", NULL};
    static const char *const no[] = {"0", "false", "off", "no", NULL};
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    if (mn_parm_is_text(at.def) || at.def->kind == MN_PARM_MENU)
        return mn_network_set_string(network, node, parm, text);

    double numbers[4];
    int32_t count = 0;
    bool understood = true;
    if (at.def->kind == MN_PARM_TOGGLE) {
        understood = is_word(text, yes) || is_word(text, no);
        numbers[count++] = is_word(text, yes);
    } else {
        understood = read_numbers(text, numbers, &count);
        // One number stands for all components.
        if (understood && count == 1)
            for (; count < at.def->size; count++) numbers[count] = numbers[0];
    }
    char expects[128];
    mn_shown shown;
    if (!understood || count != at.def->size)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s': %s takes %s, not '%s'.",
                       at.node->type->name, at.node->name, at.def->name,
                       mn_parm_expects(at.def, expects, sizeof expects), mn_show(&shown, text));
    for (int32_t k = 0; k < count; k++)
        MN_TRY(mn_parm_check_number(network->ctx, at.node->type, at.node->name, at.def, k, numbers[k]));
    for (int32_t k = 0; k < count; k++) MN_TRY(mn_network_set_number(network, node, parm, k, numbers[k]));
    return MN_OK;
}

mn_status mn_network_reset_parm(mn_network *network, int32_t node, const char *parm)
{
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    network->revision++;
    return set_default(at.node, at.parm);
}

static mn_status check_keys(const mn_network *network, const place *at, int32_t count, const mn_key *keys)
{
    const mn_node_type *type = at->node->type;
    if (mn_parm_is_text(at->def) || at->def->kind == MN_PARM_MENU ||
        (type->sim && strcmp(at->def->name, "start_frame") == 0))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s': %s cannot be animated.", type->name,
                       at->node->name, at->def->name);
    if (count < 1 || count > MAX_KEYS)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s': %s has %d keys but takes 1 to %d.",
                       type->name, at->node->name, at->def->name, (int)count, MAX_KEYS);
    for (int32_t i = 0; i < count; i++) {
        if (!isfinite(keys[i].frame) || (i > 0 && keys[i].frame <= keys[i - 1].frame))
            return mn_fail(network->ctx, MN_ERROR_ARGUMENT,
                           "%s '%s': the frames of the keys of %s must rise, but key %d is at %.10g.",
                           type->name, at->node->name, at->def->name, (int)i + 1, keys[i].frame);
        for (int32_t k = 0; k < at->def->size; k++)
            MN_TRY(mn_parm_check_number(network->ctx, type, at->node->name, at->def, k, keys[i].value[k]));
    }
    return MN_OK;
}

mn_status mn_network_set_keys(mn_network *network, int32_t node, const char *parm, int32_t count,
                              const mn_key *keys)
{
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    MN_TRY(check_keys(network, &at, count, keys));
    MN_TRY(mn_array_reserve(network->ctx, &at.state->keys, count));
    memcpy(at.state->keys.data, keys, mn_bytes(count, sizeof *keys));
    at.state->keys.count = count;
    at.state->is_set = true;
    network->revision++;
    return MN_OK;
}

int32_t mn_network_keys(const mn_network *network, int32_t node, const char *parm, const mn_key **keys)
{
    const mn_network_node *found = mn_network_at(network, node);
    const int32_t at = found ? mn_parm_find(found->type, parm) : -1;
    *keys = at < 0 ? NULL : found->parms[at].keys.data;
    return at < 0 ? 0 : (int32_t)found->parms[at].keys.count;
}

mn_status mn_network_parm(const mn_network *network, int32_t node, const char *parm, double frame,
                          mn_parm_value *value)
{
    place at;
    MN_TRY(find_place(network, node, parm, &at));
    mn_network_evaluate(at.node, at.parm, frame, value);
    if (at.state->string) value->string = at.state->string;
    return MN_OK;
}

const char *mn_network_file_path(const mn_network *network, int32_t node, int32_t parm)
{
    const mn_network_node *found = mn_network_at(network, node);
    if (!found || parm < 0 || parm >= found->type->parm_count) return "";
    const char *path = found->type->parms[parm].kind == MN_PARM_FILE ? found->parms[parm].path : NULL;
    return path ? path : "";
}
