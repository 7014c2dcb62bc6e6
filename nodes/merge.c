// SPDX-License-Identifier: Apache-2.0
//
// merge: everything that comes in, in one geometry.
#include "nodes/parm.h"

static const mn_input_def inputs_of[] = {{"Geometry", "anything; any number of connections", true, true}};
static const mn_output_def outputs_of[] = {
    {"Geometry", "points, primitives and volumes of all inputs in order; zeros where an input had no value"}};

static mn_status cook_merge(const mn_cook *cook, mn_geo **outputs)
{
    mn_geo *geo = NULL;
    mn_status status = MN_OK;
    for (int32_t i = 0; i < cook->input_count; i++) {
        const mn_geo *input = mn_cook_input(cook, i);
        if (!input) continue;
        if (!geo)
            MN_TRY_TO(fail, status, mn_geo_copy(input, &geo));
        else
            MN_TRY_TO(fail, status, mn_geo_append(geo, input));
    }
    if (!geo) MN_TRY_TO(fail, status, mn_geo_create(cook->ctx, &geo));
    outputs[0] = geo;
    return MN_OK;
fail:
    mn_geo_free(geo);
    return status;
}

const mn_node_type mn_merge_node = {
    .name = "merge",
    .label = "Meniscus Merge",
    .menu = "Meniscus/Geometry",
    .help = "Puts any number of geometries together.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .cook = cook_merge,
};
