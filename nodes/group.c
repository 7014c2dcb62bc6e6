// SPDX-License-Identifier: Apache-2.0
//
// Cutting an input down to what a group field says.
#include "nodes/group.h"

#include "geo/select.h"

#include <stdio.h>

mn_status mn_cook_choose(const mn_cook *cook, mn_chosen *chosen)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    const char *pattern = mn_cook_string(cook, "group");
    *chosen = (mn_chosen){.point_count = mn_geo_point_count(input),
                          .primitive_count = mn_geo_primitive_count(input)};
    chosen->points = mn_allocate(cook->ctx, mn_bytes(chosen->point_count, 1));
    chosen->primitives = mn_allocate(cook->ctx, mn_bytes(chosen->primitive_count, 1));
    if ((!chosen->points && chosen->point_count > 0) || (!chosen->primitives && chosen->primitive_count > 0))
        return MN_ERROR_MEMORY;
    if (mn_geo_select(input, pattern ? pattern : "", chosen->points, chosen->primitives) == MN_OK)
        return MN_OK;
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", mn_context_message(cook->ctx));
    return mn_cook_fail(cook, MN_ERROR_INPUT, "%s", sentence);
}

void mn_chosen_free(mn_context *ctx, mn_chosen *chosen)
{
    mn_release(ctx, chosen->points, mn_bytes(chosen->point_count, 1));
    mn_release(ctx, chosen->primitives, mn_bytes(chosen->primitive_count, 1));
    *chosen = (mn_chosen){0};
}

mn_status mn_cook_in_group(const mn_cook *cook, mn_status (*whole)(const mn_cook *, mn_geo **),
                           mn_geo **outputs)
{
    const char *pattern = mn_cook_string(cook, "group");
    const mn_geo *input = mn_cook_input(cook, 0);
    if (!input || !pattern || !*pattern) return whole(cook, outputs);
    mn_chosen chosen = {0};
    mn_geo *part = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_cook_choose(cook, &chosen));
    MN_TRY_TO(out, status, mn_geo_copy(input, &part));
    MN_TRY_TO(out, status, mn_geo_compact(part, chosen.points, chosen.primitives));
    mn_cook of_part = *cook;
    const mn_geo *const inputs[] = {part};
    of_part.inputs = inputs;
    of_part.input_count = 1;
    of_part.input_keys = NULL;
    status = whole(&of_part, outputs);
out:
    mn_geo_free(part);
    mn_chosen_free(cook->ctx, &chosen);
    return status;
}
