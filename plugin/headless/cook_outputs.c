// SPDX-License-Identifier: Apache-2.0
//
// Everything that a cook writes but its report lies in its folder, so a path is compared by its folder first
// and by its name then.
#include "plugin/headless/cook_outputs.h"
#include "plugin/headless/cook_notes.h"
#include "plugin/host/network/spelling.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/// "NAME.0012.EXT" with a frame of the job.
static bool is_frame_of(const mn_cook_job *job, const char *name, const char *target, const char *ending)
{
    const size_t length = strlen(target);
    if (strncmp(name, target, length) != 0 || name[length] != '.') return false;
    char *end, made[MN_PATH_SIZE];
    const long frame = strtol(name + length + 1, &end, 10);
    if (*end != '.' || frame < job->first || frame > job->last) return false;
    const int size = snprintf(made, sizeof made, "%s.%04d.%s", target, (int)frame, ending);
    return size < MN_PATH_SIZE && strcmp(made, name) == 0;
}

static bool is_output_of(const mn_cook_job *job, const mn_cook_target *target, const char *name)
{
    char made[MN_PATH_SIZE];
    if (is_frame_of(job, name, target->name, mn_format_ending(job->format))) return true;
    static const char *const endings[] = {"cook", "scene", "origin"};
    for (int i = 0; i < 3; i++) {
        snprintf(made, sizeof made, ".%s.%s", target->name, endings[i]);
        if (strcmp(made, name) == 0) return true;
    }
    if (strcmp(MN_COOK_NOTES, name) == 0) return true;
    if (job->format == MN_FORMAT_USD) {
        snprintf(made, sizeof made, "%s.topology.usda", target->name);
        if (strcmp(made, name) == 0 || strcmp("scene.usda", name) == 0) return true;
        if (is_frame_of(job, name, target->name, "vdb")) return true;
    }
    if (!job->preview) return false;
    snprintf(made, sizeof made, "%s.png", target->name);
    return strcmp(made, name) == 0 || is_frame_of(job, name, target->name, "png");
}

/// Whether this cook writes a file of that canonical path.
static bool is_written(const mn_cook_job *job, const char *folder, const char *path)
{
    const char *slash = strrchr(path, '/');
    if (!slash) return false;
    const size_t length = slash == path ? 1 : (size_t)(slash - path);
    if (strlen(folder) != length || strncmp(folder, path, length) != 0) return false;
    for (int64_t i = 0; i < job->targets.count; i++)
        if (is_output_of(job, &job->targets.data[i], slash + 1)) return true;
    for (int64_t i = 0; i < job->sims.count; i++) {
        char name[MN_PATH_SIZE];
        snprintf(name, sizeof name, "%s.checkpoint", mn_network_node_name(job->network, job->sims.data[i]));
        if (strcmp(name, slash + 1) == 0) return true;
    }
    return false;
}

/// What the outputs are held against.
typedef struct comparison {
    const mn_cook_job *job;
    char folder[MN_PATH_SIZE], report[MN_PATH_SIZE];
    const char *report_shown; ///< NULL: no report, or one that is not a file
} comparison;

static mn_status compare_input(const comparison *c, const char *path, const char *what)
{
    char canonical[MN_PATH_SIZE];
    mn_shown shown;
    mn_context *ctx = c->job->session->ctx;
    if (!mn_canonical_path(path, canonical)) return MN_OK;
    if (c->report_shown && strcmp(canonical, c->report) == 0)
        return mn_fail(ctx, MN_ERROR_SCENE,
                       "The report would overwrite %s, which is %s. Choose another file with --report.",
                       mn_show(&shown, path), what);
    if (is_written(c->job, c->folder, canonical))
        return mn_fail(ctx, MN_ERROR_SCENE,
                       "This cook would overwrite %s, which is %s. Choose another folder with -o.",
                       mn_show(&shown, path), what);
    return MN_OK;
}

static mn_status compare_file(const comparison *c, const mn_scene_file *file, int32_t first, int32_t last)
{
    char what[300];
    snprintf(what, sizeof what, "read by '%.200s'", mn_network_node_name(c->job->network, file->node));
    if (!mn_path_is_sequence(file->path)) return compare_input(c, file->path, what);
    for (int32_t frame = first; frame <= last; frame++) {
        char path[MN_PATH_LIMIT];
        if (mn_path_at_frame(file->path, frame, path)) MN_TRY(compare_input(c, path, what));
        MN_TRY(mn_check_cancelled(c->job->session->ctx));
    }
    return MN_OK;
}

static mn_status check_names(const mn_cook_job *job)
{
    for (int64_t i = 0; i < job->targets.count; i++)
        for (int64_t k = 0; k < i; k++) {
            const mn_cook_target *a = &job->targets.data[k], *b = &job->targets.data[i];
            if (strcmp(a->name, b->name) != 0) continue;
            return mn_fail(
                job->session->ctx, MN_ERROR_SCENE,
                "Output %d of '%s' and output %d of '%s' would both be written as %s. Cook them into "
                "different folders, or rename a node.",
                (int)a->target.output, mn_network_node_name(job->network, a->target.node),
                (int)b->target.output, mn_network_node_name(job->network, b->target.node), a->name);
        }
    return MN_OK;
}

mn_status mn_cook_check_outputs(const mn_cook_job *job, const char *scene, const char *report)
{
    comparison c = {.job = job};
    mn_shown shown;
    MN_TRY(check_names(job));
    if (!mn_canonical_path(job->folder, c.folder)) return MN_OK; // making the folder has its own sentence
    if (report && strcmp(report, "-") != 0 && mn_canonical_path(report, c.report)) c.report_shown = report;
    if (c.report_shown && is_written(job, c.folder, c.report))
        return mn_fail(job->session->ctx, MN_ERROR_SCENE,
                       "%s: this cook writes a file of that name itself. Choose another file with --report.",
                       mn_show(&shown, report));
    if (scene) MN_TRY(compare_input(&c, scene, "the scene"));
    for (int64_t i = 0; i < job->targets.count; i++) {
        const mn_cook_target *target = &job->targets.data[i];
        const int32_t first = target->simulates && target->start < job->first ? target->start : job->first;
        for (int64_t k = 0; k < target->files.count; k++)
            MN_TRY(compare_file(&c, &target->files.data[k], first, job->last));
    }
    return MN_OK;
}
