// SPDX-License-Identifier: Apache-2.0
//
// Two passes over the files: one to place the camera, one to draw. A single picture is read once.
#include "plugin/preview/sequence.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/text.h"
#include "plugin/io/io.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { PATH_SIZE = 4096, GAP = 6 };

// ---- files and their frames ----

mn_status mn_preview_sequence_add(mn_preview_sequence *s, const char *path, bool numbered, int64_t frame)
{
    mn_preview_file file = {NULL, numbered, frame};
    MN_TRY(mn_text_set(s->session->ctx, &file.path, path));
    const mn_status status = mn_array_push(s->session->ctx, &s->files, &file);
    if (status != MN_OK) mn_text_free(s->session->ctx, &file.path);
    return status;
}

bool mn_frame_of_path(const char *path, int64_t *frame)
{
    mn_format format;
    if (!mn_format_from_path(path, &format)) return false;
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    const char *end = path + strlen(path) - strlen(mn_format_ending(format)) - 1, *at = end;
    while (at > name && isdigit((unsigned char)at[-1])) at--;
    if (at == end || end - at > 15) return false;
    // A minus sign counts when a dot stands before it, as in drop.-005.bgeo.
    const bool negative = at - 1 > name && at[-1] == '-' && at[-2] == '.';
    *frame = strtoll(at, NULL, 10) * (negative ? -1 : 1);
    return true;
}

static int compare_frames(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

mn_status mn_preview_sequence_count(mn_preview_sequence *s, int64_t *count)
{
    s->frames.count = 0;
    for (int64_t i = 0; i < s->files.count; i++)
        if (s->files.data[i].numbered)
            MN_TRY(mn_array_push(s->session->ctx, &s->frames, &s->files.data[i].frame));
    if (s->frames.count > 1) qsort(s->frames.data, (size_t)s->frames.count, sizeof(int64_t), compare_frames);
    int64_t kept = 0;
    for (int64_t i = 0; i < s->frames.count; i++)
        if (i == 0 || s->frames.data[i] != s->frames.data[i - 1]) s->frames.data[kept++] = s->frames.data[i];
    s->frames.count = kept;
    *count = kept > 0 ? kept : 1;
    return MN_OK;
}

void mn_preview_sequence_free(mn_preview_sequence *s)
{
    for (int64_t i = 0; i < s->files.count; i++) mn_text_free(s->session->ctx, &s->files.data[i].path);
    mn_array_free(s->session->ctx, &s->files);
    mn_array_free(s->session->ctx, &s->frames);
}

// ---- one picture ----

/// The geometry of one picture.
typedef struct shot {
    MN_ARRAY(mn_geo *) geos;
} shot;

static void free_shot(mn_preview_sequence *s, shot *shot)
{
    for (int64_t i = 0; i < shot->geos.count; i++) mn_geo_free(shot->geos.data[i]);
    mn_array_free(s->session->ctx, &shot->geos);
}

static mn_status read_shot(mn_preview_sequence *s, int64_t index, shot *shot)
{
    memset(shot, 0, sizeof *shot);
    for (int64_t i = 0; i < s->files.count; i++) {
        const mn_preview_file *file = &s->files.data[i];
        if (file->numbered && file->frame != s->frames.data[index]) continue;
        mn_geo *geo = NULL;
        MN_TRY(mn_check_cancelled(s->session->ctx));
        MN_TRY(mn_io_read(s->session->ctx, file->path, &geo));
        const mn_status status = mn_array_push(s->session->ctx, &shot->geos, &geo);
        if (status != MN_OK) mn_geo_free(geo);
        MN_TRY(status);
    }
    return MN_OK;
}

static mn_status survey_shot(mn_preview_survey *survey, const shot *shot)
{
    for (int64_t i = 0; i < shot->geos.count; i++) MN_TRY(mn_preview_survey_add(survey, shot->geos.data[i]));
    return MN_OK;
}

static mn_status render_shot(mn_preview_sequence *s, const mn_preview_survey *survey, const shot *shot,
                             const mn_preview_def *def, bool remark, mn_picture *picture)
{
    mn_preview_view view;
    mn_preview_notes notes;
    MN_TRY(mn_preview_survey_view(survey, def, &view));
    MN_TRY(mn_preview_render(s->session->ctx, mn_host_services(), (const mn_geo *const *)shot->geos.data,
                             (int32_t)shot->geos.count, def, &view, &notes, picture));
    if (remark && notes.bad_points > 0)
        mn_session_say(s->session, "%lld points have no finite position and were left out.",
                       (long long)notes.bad_points);
    if (remark && notes.hidden_volumes > 0)
        mn_session_say(s->session, "%lld volumes have no surface to show and were left out.",
                       (long long)notes.hidden_volumes);
    return MN_OK;
}

// ---- names ----

/// `pattern` with $F, or $F and a digit for its width, replaced by the frame.
static mn_status expand_frame(mn_context *ctx, const char *pattern, int64_t frame, char path[PATH_SIZE])
{
    size_t used = 0;
    for (const char *at = pattern; *at && used < PATH_SIZE - 1;) {
        if (at[0] == '$' && at[1] == 'F') {
            const bool padded = isdigit((unsigned char)at[2]) != 0;
            const int width = padded ? at[2] - '0' : 1;
            used += (size_t)snprintf(path + used, PATH_SIZE - used, "%0*lld", width, (long long)frame);
            at += padded ? 3 : 2;
        } else {
            path[used++] = *at++;
        }
    }
    if (used >= PATH_SIZE - 1) return mn_fail(ctx, MN_ERROR_ARGUMENT, "The picture's path is too long.");
    path[used] = 0;
    return MN_OK;
}

// ---- all pictures ----

typedef struct sheet_plan {
    int64_t tiles, columns, rows;
    mn_preview_def def; ///< of one tile
    mn_picture sheet;
} sheet_plan;

static mn_status plan_sheet(mn_preview_sequence *s, int64_t count, sheet_plan *plan)
{
    plan->tiles = count < MN_PREVIEW_SHEET_MAX ? count : MN_PREVIEW_SHEET_MAX;
    plan->columns = s->columns > 0 ? s->columns : (int64_t)ceil(sqrt((double)plan->tiles));
    if (plan->columns > plan->tiles) plan->columns = plan->tiles;
    plan->rows = (plan->tiles + plan->columns - 1) / plan->columns;
    plan->def = s->def;
    plan->def.width = s->def.width / 2 > 16 ? s->def.width / 2 : 16;
    plan->def.height = s->def.height / 2 > 16 ? s->def.height / 2 : 16;
    MN_TRY(mn_picture_create(s->session->ctx, (int32_t)(plan->columns * (plan->def.width + GAP) - GAP),
                             (int32_t)(plan->rows * (plan->def.height + GAP) - GAP), &plan->sheet));
    if (!s->def.transparent)
        memset(plan->sheet.rgba, 255, (size_t)4 * (size_t)plan->sheet.width * (size_t)plan->sheet.height);
    return MN_OK;
}

/// The place of picture `index` on a sheet that takes `tiles` of `count`, evenly; -1 when it has none.
static int64_t tile_of(int64_t index, int64_t count, int64_t tiles)
{
    if (tiles == count) return index;
    const int64_t tile = (index * (tiles - 1) + (count - 1) / 2) / (count - 1);
    return (tile * (count - 1) + (tiles - 1) / 2) / (tiles - 1) == index ? tile : -1;
}

static mn_status put_tile(mn_preview_sequence *s, const mn_preview_survey *survey, const shot *shot,
                          sheet_plan *plan, int64_t tile, int64_t frame, bool numbered)
{
    mn_picture picture;
    MN_TRY(render_shot(s, survey, shot, &plan->def, false, &picture));
    const int32_t scale = plan->def.height > 200 ? 2 : 1;
    if (numbered) mn_picture_draw_number(&picture, frame, 5 * scale, picture.height - 12 * scale, scale);
    mn_picture_paste(&plan->sheet, &picture, (int32_t)(tile % plan->columns * (plan->def.width + GAP)),
                     (int32_t)(tile / plan->columns * (plan->def.height + GAP)));
    mn_picture_free(&picture);
    return MN_OK;
}

static mn_status put_picture(mn_preview_sequence *s, const mn_preview_survey *survey, const shot *shot,
                             const char *pattern, int64_t frame)
{
    char path[PATH_SIZE];
    mn_picture picture;
    MN_TRY(expand_frame(s->session->ctx, pattern, frame, path));
    MN_TRY(render_shot(s, survey, shot, &s->def, true, &picture));
    const mn_status status = mn_picture_write_png(&picture, path, s->def.transparent);
    mn_picture_free(&picture);
    return status;
}

static mn_status draw_shot(mn_preview_sequence *s, const mn_preview_survey *survey, const shot *shot,
                           int64_t index, int64_t count, const char *pictures, sheet_plan *plan)
{
    const bool numbered = s->frames.count > 0;
    const int64_t frame = numbered ? s->frames.data[index] : 0;
    const int64_t tile = plan ? tile_of(index, count, plan->tiles) : -1;
    if (pictures) MN_TRY(put_picture(s, survey, shot, pictures, frame));
    if (tile >= 0) MN_TRY(put_tile(s, survey, shot, plan, tile, frame, numbered));
    char line[64];
    snprintf(line, sizeof line, "picture %lld of %lld", (long long)index + 1, (long long)count);
    mn_progress_bar_step(&s->session->bar, line);
    return MN_OK;
}

mn_status mn_preview_sequence_draw(mn_preview_sequence *s, const char *pictures, const char *sheet)
{
    int64_t count;
    MN_TRY(mn_preview_sequence_count(s, &count));
    mn_preview_survey *survey = NULL;
    sheet_plan plan = {0};
    shot shot = {0};
    mn_status status = MN_OK;
    MN_TRY_TO(end, status, mn_preview_survey_create(s->session->ctx, s->def.color, &survey));
    if (sheet) MN_TRY_TO(end, status, plan_sheet(s, count, &plan));
    for (int64_t i = 0; i < count; i++) {
        free_shot(s, &shot);
        MN_TRY_TO(end, status, read_shot(s, i, &shot));
        MN_TRY_TO(end, status, survey_shot(survey, &shot));
    }
    for (int64_t i = 0; i < count; i++) {
        if (count > 1) {
            const bool drawn = pictures || tile_of(i, count, plan.tiles) >= 0;
            free_shot(s, &shot);
            if (!drawn) continue;
            MN_TRY_TO(end, status, read_shot(s, i, &shot));
        }
        MN_TRY_TO(end, status, draw_shot(s, survey, &shot, i, count, pictures, sheet ? &plan : NULL));
    }
    if (sheet) MN_TRY_TO(end, status, mn_picture_write_png(&plan.sheet, sheet, s->def.transparent));
end:
    free_shot(s, &shot);
    mn_picture_free(&plan.sheet);
    mn_preview_survey_free(survey);
    return status;
}
