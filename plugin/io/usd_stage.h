// SPDX-License-Identifier: Apache-2.0
//
// From layers of single frames (usd.h) to one that a stage can refer to.
#ifndef MENISCUS_PLUGIN_IO_USD_STAGE_H
#define MENISCUS_PLUGIN_IO_USD_STAGE_H

#include "plugin/io/io.h"

/// Writes NODE.topology.usda into the folder: every prim and attribute that one of the frames' layers
/// NODE.0001.usda has, without values. It is what a stage refers to, and the manifest of its value clips.
MN_API mn_status mn_usd_topology_write(mn_context *ctx, const char *folder, const char *node,
                                       const int32_t *frames, int64_t count);

#endif
