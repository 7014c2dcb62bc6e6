// SPDX-License-Identifier: Apache-2.0
//
// What the input files of a target held, as one number per frame for the journal: by it a later --resume
// knows whether what is there fits what it would cook now.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_STAMPS_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_STAMPS_H

#include "plugin/headless/cook_frames.h"

/// Of all files that the target's simulations read up to `frame`; 0 when it reads none.
mn_status mn_cook_running_stamp(mn_cook_job *job, mn_cook_target *target, int32_t frame, uint64_t *stamp);
/// Of all files on which the target's frame depends.
mn_status mn_cook_stamp(mn_cook_job *job, mn_cook_target *target, int32_t frame, uint64_t *stamp);
/// MN_ERROR_SCENE when a file is not what it was when a line of the target's journal was written.
mn_status mn_cook_check_stamps(mn_cook_job *job, mn_cook_target *target);

#endif
