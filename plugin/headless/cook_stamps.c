// SPDX-License-Identifier: Apache-2.0
//
//   still   S(f) = files(f)                            without a simulation a frame depends on its own files
//   moving  R(f) = H(R(f - 1), files(f)), R(s-1) = 0   a simulation that starts at s has read all since then
//           S(f) = R(f), or H(R(s), files(f)) before the start
#include "plugin/headless/cook_stamps.h"
#include "meniscus/stream.h"

static mn_status files_at(mn_cook_job *job, const mn_cook_target *target, int32_t frame, uint64_t *stamp)
{
    return mn_scene_files_stamp(&target->files, frame, &job->file_stamps, stamp);
}

mn_status mn_cook_running_stamp(mn_cook_job *job, mn_cook_target *target, int32_t frame, uint64_t *stamp)
{
    *stamp = 0;
    if (target->files.count == 0) return MN_OK;
    const int64_t last = frame > target->start ? (int64_t)frame - target->start : 0;
    while (target->stamps.count <= last) {
        const int64_t at = target->stamps.count;
        uint64_t files, before = at > 0 ? target->stamps.data[at - 1] : 0;
        MN_TRY(files_at(job, target, (int32_t)(target->start + at), &files));
        before = mn_hash_u64(before, files);
        MN_TRY(mn_array_push(job->session->ctx, &target->stamps, &before));
    }
    *stamp = target->stamps.data[last];
    return MN_OK;
}

mn_status mn_cook_stamp(mn_cook_job *job, mn_cook_target *target, int32_t frame, uint64_t *stamp)
{
    if (!target->simulates) return files_at(job, target, frame, stamp);
    MN_TRY(mn_cook_running_stamp(job, target, frame, stamp));
    if (frame >= target->start || target->files.count == 0) return MN_OK;
    uint64_t files;
    MN_TRY(files_at(job, target, frame, &files));
    *stamp = mn_hash_u64(*stamp, files);
    return MN_OK;
}

mn_status mn_cook_check_stamps(mn_cook_job *job, mn_cook_target *target)
{
    for (int64_t i = 0; i < target->journal.lines.count; i++) {
        const mn_journal_line *line = &target->journal.lines.data[i];
        uint64_t stamp;
        MN_TRY(line->checkpoint ? mn_cook_running_stamp(job, target, line->frame, &stamp)
                                : mn_cook_stamp(job, target, line->frame, &stamp));
        if (stamp == line->stamp) continue;
        if (target->files.count == 0)
            return mn_fail(job->session->ctx, MN_ERROR_SCENE,
                           "%s is damaged. Cook without --resume to start again, or into another folder.",
                           target->journal.path);
        const mn_scene_file *file = &target->files.data[0];
        return mn_fail(
            job->session->ctx, MN_ERROR_SCENE,
            "A file that '%s' reads (%s%s) has changed since frame %d of '%s' was cooked. Cook without "
            "--resume to start again, or into another folder.",
            mn_network_node_name(job->network, file->node), file->path,
            target->files.count > 1 ? " or another" : "", (int)line->frame, target->name);
    }
    return MN_OK;
}
