// SPDX-License-Identifier: Apache-2.0
//
// A scene as the command line asks for it: read, with --set applied, its nodes by name and its frames.
#ifndef MENISCUS_PLUGIN_HEADLESS_SCENE_SESSION_H
#define MENISCUS_PLUGIN_HEADLESS_SCENE_SESSION_H

#include "plugin/headless/session.h"
#include "plugin/host/network/network.h"

/// An output of a node.
typedef struct mn_target {
    int32_t node, output;
} mn_target;

/// Reads the scene. Everything that is wrong with it is MN_ERROR_SCENE.
mn_status mn_open_scene(mn_session *session, const char *path, mn_network **network);
/// "node.parm=value"; failures are MN_ERROR_SCENE.
mn_status mn_apply_setting(mn_session *session, mn_network *network, const char *setting);
/// A warning when the parameter does nothing, since the node's material gives what it stands for.
void mn_warn_of_material(const mn_network *network, int32_t node, const char *parm);
/// "name", or "name:1" for its second output; NULL for the scene's own output.
mn_status mn_find_target(mn_session *session, const mn_network *network, const char *name, mn_target *target);

enum { MN_TARGET_NAME = 300 };
/// As it is in file names: the node's, with the output behind it when it is not the first.
void mn_target_name(const mn_network *network, mn_target target, char name[MN_TARGET_NAME]);

enum { MN_FRAME_MIN = -100000, MN_FRAME_MAX = 1000000 };
/// "A-B" or "A", both in [-100000, 1000000] and A <= B; otherwise prints a sentence.
bool mn_read_frames(const mn_subcommand *command, const char *text, int32_t *first, int32_t *last);
/// The same with a step, A-BxN: every N-th frame from the first.
bool mn_read_frame_steps(const mn_subcommand *command, const char *text, int32_t *first, int32_t *last,
                         int32_t *step);

#endif
