// SPDX-License-Identifier: Apache-2.0
//
// Cooking a range of frames into files, so that it can be stopped at any moment and gone on with.
#ifndef MENISCUS_PLUGIN_HEADLESS_COOK_FRAMES_H
#define MENISCUS_PLUGIN_HEADLESS_COOK_FRAMES_H

#include "plugin/headless/cook_journal.h"
#include "plugin/headless/cook_report.h"
#include "plugin/headless/scene_session.h"
#include "plugin/io/io.h"

typedef struct mn_cook_target {
    mn_target target;
    char name[MN_TARGET_NAME]; ///< in file names: the node's, with the output behind it when it is not the
                               ///< first
    mn_journal journal;
    mn_scene_files files;      ///< that it or a node above it reads
    bool simulates;            ///< it or a node above it does
    int32_t start;             ///< the first frame that its simulations pass
    MN_ARRAY(uint64_t) stamps; ///< of the files from `start` to each frame after it (cook_stamps.c)
} mn_cook_target;

typedef struct mn_cook_job {
    mn_session *session;
    mn_network *network;
    MN_ARRAY(mn_cook_target) targets;
    MN_ARRAY(int32_t) sims; ///< simulating nodes that the targets need, those that others need first
    const char *folder;
    mn_format format;
    int32_t first, last, step; ///< written are first, first + step, ... up to last
    int32_t keep_every;        ///< states of every so many frames are kept for branches; 0: none
    bool resume, quiet, preview;
    bool share;   ///< others cook frames into the folder at the same time
    int64_t busy; ///< frames that somebody else has in work
    mn_file_stamps file_stamps;
    mn_report_file report;
    MN_ARRAY(uint64_t) warned; ///< hashes of the warnings that have been printed
    double checkpoint_seconds; ///< that the last checkpoint took
    double checkpoint_time;    ///< when it was done
    int32_t checkpoint_frame;
    int32_t simulated; ///< the frame that the simulations hold
} mn_cook_job;

/// DIR/NODE.0001.EXT
mn_status mn_cook_frame_path(const mn_cook_job *job, const mn_cook_target *target, int32_t frame,
                             char path[MN_PATH_SIZE]);

/// Makes the folder, the journals and the report, and loads the checkpoints when resuming. What cannot be
/// written, or would overwrite what the cook reads, shows here, before hours of work.
mn_status mn_cook_begin(mn_cook_job *job, uint64_t scene_key, const char *scene_path,
                        const char *report_path);
/// With `share`, others wait until this: what belongs to the folder and not to a frame has been written.
void mn_cook_let_others_in(mn_cook_job *job);
/// Cooks what is missing. Stopped or failed, it leaves a checkpoint.
mn_status mn_cook_frames(mn_cook_job *job);
void mn_cook_end(mn_cook_job *job);

#endif
