// SPDX-License-Identifier: Apache-2.0
//
// cook --cache DIR: simulations whose frames have been cooked into DIR are read from there.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_CACHE_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_CACHE_H

#include "plugin/headless/scene_session.h"

/// Every output of a simulating node that DIR holds at `frame` comes from a file node with its frames
/// instead. MN_ERROR_SCENE when there is none.
mn_status mn_network_read_cache(mn_network *network, const char *folder, int32_t frame);

#endif
