// SPDX-License-Identifier: Apache-2.0
//
// No cook writes over what it reads, and no two of its outputs go to one file.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_OUTPUTS_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_OUTPUTS_H

#include "plugin/headless/cook_frames.h"

/// MN_ERROR_SCENE with a sentence when two targets have one name, when a frame, journal, checkpoint or
/// picture would replace the scene or a file that it reads, or when the report would replace any of these.
/// Asked once the folder is there, before anything is written. `report` may be NULL.
mn_status mn_cook_check_outputs(const mn_cook_job *job, const char *scene, const char *report);

#endif
