// SPDX-License-Identifier: Apache-2.0
//
// One step of a liquid with a free surface.
#include "flow/flow_state.h"

static mn_status no_liquid(mn_flow *flow)
{
    return mn_fail(flow->ctx, MN_ERROR_UNSUPPORTED,
                   "Liquids with a free surface are not ready; choose smoke.");
}

mn_status mn_flow_liquid_begin(mn_flow *flow)
{
    return no_liquid(flow);
}

mn_status mn_flow_liquid_step(mn_flow *flow, double dt)
{
    (void)dt;
    return no_liquid(flow);
}

mn_status mn_flow_set_surface(mn_flow *flow, mn_flow_distance_fn *fn, void *user)
{
    (void)fn, (void)user;
    return no_liquid(flow);
}
