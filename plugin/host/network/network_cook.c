// SPDX-License-Identifier: Apache-2.0
//
// Cooking on demand: a node whose key has not changed gives what it has; otherwise what it needs is cooked
// first, from the top down.
#include <math.h>
#include <string.h>

#include "base/float_mode.h"
#include "meniscus/stream.h"
#include "plugin/host/network/network_state.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/network/text.h"

enum { MAX_WARNINGS = 100 };

// ---- what a node says ----

void mn_network_clear_messages(mn_network_node *node)
{
    mn_context *ctx = node->network->ctx;
    mn_text_free(ctx, &node->error);
    for (int64_t i = 0; i < node->warnings.count; i++) mn_text_free(ctx, &node->warnings.data[i]);
    node->warnings.count = 0;
}

void mn_network_note_error(mn_network_node *node)
{
    // Without memory for a copy the sentence is still in the context.
    mn_context *ctx = node->network->ctx;
    if (mn_text_set(ctx, &node->error, mn_context_message(ctx)) != MN_OK) mn_text_free(ctx, &node->error);
}

void mn_network_warn(void *user, const char *sentence)
{
    mn_network_node *node = user;
    mn_context *ctx = node->network->ctx;
    // A simulation may say the same at every frame; once is enough.
    for (int64_t i = 0; i < node->warnings.count; i++)
        if (strcmp(node->warnings.data[i], sentence) == 0) return;
    char *copy = NULL;
    if (node->warnings.count == MAX_WARNINGS || mn_text_set(ctx, &copy, sentence) != MN_OK) return;
    if (mn_array_push(ctx, &node->warnings, &copy) != MN_OK) mn_text_free(ctx, &copy);
}

const char *mn_network_node_error(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found && found->error ? found->error : "";
}

int32_t mn_network_warning_count(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found ? (int32_t)found->warnings.count : 0;
}

const char *mn_network_warning(const mn_network *network, int32_t node, int32_t index)
{
    const mn_network_node *found = mn_network_at(network, node);
    return found && index >= 0 && index < found->warnings.count ? found->warnings.data[index] : "";
}

// ---- inputs ----

void mn_network_let_go(mn_network_node *node)
{
    for (int64_t i = 0; i < node->held.count; i++) mn_cooked_release(node->held.data[i]);
    node->held.count = 0;
    node->inputs.count = 0;
    node->input_keys.count = 0;
}

static mn_status check_required(mn_network_node *node)
{
    const mn_node_type *type = node->type;
    for (int32_t i = 0; i < type->input_count; i++) {
        const mn_input_def *def = &type->inputs[i];
        bool connected = false;
        const int64_t end = def->many ? node->links.count : i + 1;
        for (int64_t k = i; k < end && k < node->links.count; k++)
            connected = connected || node->links.data[k].source >= 0;
        if (connected || !def->required) continue;
        mn_network_clear_messages(node);
        (void)mn_fail(node->network->ctx, MN_ERROR_INPUT,
                      "%s '%s': input %d (%s) is not connected; it expects %s.", type->name, node->name,
                      (int)i + 1, def->label, def->expects);
        mn_network_note_error(node);
        return MN_ERROR_INPUT;
    }
    return MN_OK;
}

mn_status mn_network_gather(mn_network_node *node, double frame)
{
    mn_context *ctx = node->network->ctx;
    const int32_t count = mn_network_input_count(node->network, node->number);
    mn_network_let_go(node);
    MN_TRY(check_required(node));
    MN_TRY(mn_array_reserve(ctx, &node->held, count));
    MN_TRY(mn_array_reserve(ctx, &node->inputs, count));
    MN_TRY(mn_array_reserve(ctx, &node->input_keys, count));
    for (int32_t i = 0; i < count; i++) {
        const mn_geo *geo = NULL;
        uint64_t key = 0;
        mn_link link;
        mn_network_input(node->network, node->number, i, &link.source, &link.output);
        mn_network_node *source = mn_network_at(node->network, link.source);
        if (source) {
            mn_cooked *cooked;
            MN_TRY(mn_network_cook_node(source, frame, &cooked));
            node->held.data[node->held.count++] = cooked;
            geo = cooked->outputs[link.output];
            key = mn_hash_u64(mn_network_key(source, frame), (uint64_t)link.output + 1);
        }
        node->input_keys.data[node->input_keys.count++] = key;
        node->inputs.data[node->inputs.count++] = geo;
    }
    return MN_OK;
}

// ---- cooking ----

void mn_network_parm_at(void *user, int32_t parm, double frame, mn_parm_value *value)
{
    mn_network_evaluate(user, parm, frame, value);
}

// The call as the node sees it, after mn_network_gather().
static mn_cook make_cook(mn_network_node *node, double frame)
{
    mn_network_evaluate_all(node, frame);
    const mn_cook cook = {
        .ctx = node->network->ctx,
        .services = node->network->services,
        .type = node->type,
        .node_name = node->name,
        .parms = node->values,
        .inputs = node->inputs.data,
        .input_count = (int32_t)node->inputs.count,
        .input_keys = node->input_keys.data,
        .frame = frame,
        .fps = node->network->fps,
        .warn = mn_network_warn,
        .warn_user = node,
        .parm_at = mn_network_parm_at,
        .parm_user = node,
    };
    return cook;
}

static mn_status run_cook(mn_network_node *node, double frame, mn_cooked *cooked)
{
    mn_context *ctx = node->network->ctx;
    const mn_cook cook = make_cook(node, frame);
    node->cook_count++;
    mn_status status = node->type->cook(&cook, cooked->outputs);
    for (int32_t i = 0; status == MN_OK && i < cooked->count; i++)
        if (!cooked->outputs[i])
            status = mn_fail(ctx, MN_ERROR_UNSUPPORTED, "output %d was not made.", (int)i + 1);
    if (status == MN_OK) return MN_OK;
    (void)mn_node_blame(ctx, node->type, node->name, status);
    mn_network_note_error(node);
    return status;
}

static mn_status cook_again(mn_network_node *node, double frame, uint64_t key)
{
    mn_context *ctx = node->network->ctx;
    MN_TRY(mn_check_cancelled(ctx));
    mn_cooked *cooked = NULL;
    mn_status status = mn_network_gather(node, frame);
    if (status == MN_OK) {
        mn_network_clear_messages(node);
        status = mn_cooked_create(ctx, node->type->output_count, &cooked);
    }
    if (status == MN_OK) status = run_cook(node, frame, cooked);
    mn_network_let_go(node);
    if (status != MN_OK) {
        mn_cooked_release(cooked);
        return status;
    }
    mn_cooked_release(node->cooked);
    node->cooked = cooked;
    node->cooked_key = key;
    return MN_OK;
}

mn_status mn_network_cook_node(mn_network_node *node, double frame, mn_cooked **cooked)
{
    *cooked = NULL;
    if (node->sim) return mn_network_cook_sim(node, frame, cooked);
    const uint64_t key = mn_network_key(node, frame);
    if (!node->cooked || node->cooked_key != key) MN_TRY(cook_again(node, frame, key));
    *cooked = mn_cooked_retain(node->cooked);
    return MN_OK;
}

mn_status mn_network_cook(mn_network *network, int32_t node, int32_t output, double frame, const mn_geo **geo)
{
    *geo = NULL;
    mn_network_node *found;
    MN_TRY(mn_network_get(network, node, &found));
    if (output < 0 || output >= found->type->output_count)
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "%s '%s' has %d output%s; there is no output %d.",
                       found->type->name, found->name, (int)found->type->output_count,
                       found->type->output_count == 1 ? "" : "s", (int)output);
    if (!isfinite(frame))
        return mn_fail(network->ctx, MN_ERROR_ARGUMENT, "The frame to cook is not a finite number.");
    mn_cooked *cooked;
    if (output < 64) found->asked |= (uint64_t)1 << output;
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = mn_network_cook_node(found, frame, &cooked);
    mn_float_mode_restore(mode);
    MN_TRY(status);
    mn_cooked_release(network->result);
    network->result = cooked;
    *geo = cooked->outputs[output];
    return MN_OK;
}

mn_status mn_network_reset_node(mn_network *network, int32_t node)
{
    mn_network_node *found;
    MN_TRY(mn_network_get(network, node, &found));
    found->epoch++;
    network->revision++;
    mn_cooked_release(found->cooked);
    found->cooked = NULL;
    if (found->sim) mn_sim_reset(found->sim);
    mn_network_clear_messages(found);
    return MN_OK;
}

int64_t mn_network_cook_count(const mn_network *network, int32_t node)
{
    const mn_network_node *found = mn_network_at(network, node);
    if (!found) return 0;
    return found->sim ? mn_sim_step_count(found->sim) : found->cook_count;
}

mn_status mn_network_doctor(mn_network *network, int32_t node, double frame, mn_doctor *doctor)
{
    mn_network_node *found;
    MN_TRY(mn_network_get(network, node, &found));
    if (!found->type->doctor) return MN_OK;
    const mn_float_mode mode = mn_float_mode_set();
    mn_status status = mn_network_gather(found, frame);
    if (status == MN_OK) {
        mn_cook cook = make_cook(found, frame);
        if (found->sim) cook.dt = mn_sim_dt(found->type, found->values, network->fps);
        status = found->type->doctor(&cook, doctor);
        if (status != MN_OK) (void)mn_node_blame(network->ctx, found->type, found->name, status);
    }
    mn_network_let_go(found);
    mn_float_mode_restore(mode);
    return status;
}
