// SPDX-License-Identifier: Apache-2.0
//
// cook --from DIR@48: goes on from a frame of an earlier cook with other parameters. The result is that of
// one cook whose parameters have keys, the old value at that frame and the new one at the next.
//
// Every cook leaves beside its journal what that takes:
//
//   FOLDER/.NODE.scene    the scene as it was cooked, settings and all
//   FOLDER/.NODE.origin   where that scene came from: {"source": PATH, "folder": PATH, "from": {"cook":
//   FOLDER, "frame": 48, "settings": [...]}} FOLDER/checkpoints/0048/NODE.checkpoint   with
//   --checkpoint-every
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_BRANCH_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_BRANCH_H

#include "plugin/headless/cook_frames.h"

typedef struct mn_cook_branch {
    char folder[MN_PATH_SIZE]; ///< of the cook that is gone on from; "": none
    int32_t frame;
    mn_network *source;              ///< as it was cooked there
    MN_ARRAY(const char *) settings; ///< borrowed from the command line
    bool source_unkeyed;             ///< the source is a branch of that kind itself
    bool unkeyed; ///< one of them cannot have keys, so only the state knows what it was before
} mn_cook_branch;

/// "DIR@48"; otherwise prints a sentence.
bool mn_read_branch(const mn_subcommand *command, const char *text, mn_cook_branch *branch);
/// Reads the scene that was cooked there, twice: *network is the one that goes on. `node` NULL: any.
mn_status mn_branch_open(mn_session *session, mn_cook_branch *branch, const char *node, mn_network **network);
/// "node.parm=value" from the frame after the branch on.
mn_status mn_branch_set(mn_session *session, mn_cook_branch *branch, mn_network *network,
                        const char *setting);
/// After mn_cook_begin(), unless that has resumed the branch itself: brings the source to its frame and the
/// job's simulations there.
mn_status mn_branch_start(mn_cook_job *job, mn_cook_branch *branch);
void mn_branch_close(mn_context *ctx, mn_cook_branch *branch);

/// Notes the scene and its origin for later branches.
mn_status mn_cook_note_scene(const mn_cook_job *job, const mn_cook_branch *branch, const char *scene_path);
/// FOLDER/checkpoints/0048, made when `make`.
mn_status mn_kept_folder(mn_context *ctx, const char *folder, int32_t frame, bool make,
                         char path[MN_PATH_SIZE]);

#endif
