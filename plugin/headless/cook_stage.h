// SPDX-License-Identifier: Apache-2.0
//
// The stage over the frames of a cook with --format usd.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_STAGE_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_STAGE_H

#include "plugin/headless/cook_frames.h"

/// Writes DIR/NODE.topology.usda for each target and DIR/scene.usda over all frames that the journals hold.
/// Targets without a frame are left out.
mn_status mn_cook_write_stage(mn_cook_job *job);

#endif
