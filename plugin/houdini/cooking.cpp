// SPDX-License-Identifier: Apache-2.0
//
// What a cook is made of.
#include "plugin/houdini/cooking.hpp"
#include "plugin/host/network/network.h"

#include "base/float_mode.h"

#include <CH/CH_Manager.h>

namespace mn_houdini
{

mn_status check_parms(mn_context *ctx, const mn_node_type &type, const char *node,
                      const std::vector<mn_parm_value> &parms)
{
    for (int32_t i = 0; i < type.parm_count; i++) {
        const mn_parm_def &def = type.parms[i];
        for (int32_t k = 0; !mn_parm_is_text(&def) && k < def.size; k++)
            MN_TRY(mn_parm_check_number(ctx, &type, node, &def, k, parms[static_cast<size_t>(i)].number[k]));
    }
    return MN_OK;
}

mn_status check_inputs(mn_context *ctx, const mn_node_type &type, const char *node,
                       const std::vector<mn_geo *> &inputs)
{
    for (int32_t i = 0; i < type.input_count; i++) {
        const bool there_is = static_cast<size_t>(i) < inputs.size() && inputs[static_cast<size_t>(i)];
        if (type.inputs[i].required && !there_is)
            return mn_fail(ctx, MN_ERROR_INPUT, "%s '%s': connect input %d (%s): %s.", type.name, node, i + 1,
                           type.inputs[i].label, type.inputs[i].expects);
    }
    return MN_OK;
}

mn_status cook_stateless(mn_cook &cook, mn_cooked **cooked)
{
    cook.services = mn_host_services();
    cook.fps = CHgetManager()->getSamplesPerSec();
    MN_TRY(mn_cooked_create(cook.ctx, cook.type->output_count, cooked));
    const mn_float_mode mode = mn_float_mode_set();
    const mn_status status = cook.type->cook(&cook, (*cooked)->outputs);
    mn_float_mode_restore(mode);
    if (status == MN_OK) return MN_OK;
    mn_cooked_release(*cooked);
    *cooked = nullptr;
    return mn_node_blame(cook.ctx, cook.type, cook.node_name, status);
}

const char *sentence_of(const mn_context *ctx, mn_status status)
{
    const char *sentence = ctx ? mn_context_message(ctx) : "Out of memory.";
    return *sentence ? sentence : mn_status_message(status);
}

} // namespace mn_houdini
