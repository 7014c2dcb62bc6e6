// SPDX-License-Identifier: Apache-2.0
//
// A frame that is read on a thread of its own while the host does something else: the file, moved into the
// host's axes and units, and laid out as shown_mesh.h has it. The thread never calls into Python.
#ifndef MENISCUS_PLUGIN_PYTHON_FRAME_READ_H
#define MENISCUS_PLUGIN_PYTHON_FRAME_READ_H

#include "plugin/python/library.h"
#include "plugin/python/shown_mesh.h"

typedef struct mn_frame_read mn_frame_read;

/// Starts at once. NULL when there is no memory or no thread.
MN_API mn_frame_read *mn_frame_read_start(const char *path, mn_mat4 matrix);
/// Waits until it is read, and ends it. The session, whose context has the sentence of a failure, and what
/// was made with it are the caller's; geometry and mesh are NULL after a failure.
MN_API mn_status mn_frame_read_take(mn_frame_read *read, mn_plugin_session **session, mn_geo **geo,
                                    mn_shown_mesh **mesh);
/// For one that nobody wants any more: stops it where it is.
MN_API void mn_frame_read_free(mn_frame_read *read);

#endif
