// SPDX-License-Identifier: Apache-2.0
//
// Lines of the report: SI units; what a solver does not have, or what is not finite, is left out.
#define _DEFAULT_SOURCE
#include "plugin/headless/cook_report.h"
#include "meniscus/stream.h"
#include "plugin/headless/cook_journal.h"
#include "plugin/io/io.h"
#include "plugin/json/text.h"
#include "plugin/json/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

// ---- which lines are there ----

static uint64_t line_key(double frame, const char *node)
{
    return mn_hash_string(mn_hash_f64(0, frame), node);
}

static bool is_seen(const mn_report_file *file, uint64_t key)
{
    for (int64_t i = file->seen.count; i-- > 0;)
        if (file->seen.data[i] == key) return true;
    return false;
}

/// Notes a line of an old report; false when it is none of ours.
static mn_status note_line(mn_report_file *file, const char *line, size_t size, bool *good)
{
    mn_json_tree *json = NULL;
    *good = false;
    const mn_status status = mn_json_tree_read(file->ctx, line, size, file->path, &json);
    if (status == MN_ERROR_MEMORY) return status;
    if (status != MN_OK) return MN_OK;
    const mn_json_tree_value *root = mn_json_tree_root(json);
    const bool object = root->kind == MN_JSON_TREE_OBJECT;
    const mn_json_tree_value *frame = object ? mn_json_tree_find(json, root, "frame") : NULL;
    const mn_json_tree_value *node = object ? mn_json_tree_find(json, root, "node") : NULL;
    mn_status pushed = MN_OK;
    if (frame && node && frame->kind == MN_JSON_TREE_NUMBER && node->kind == MN_JSON_TREE_STRING) {
        const uint64_t key = line_key(frame->number, node->string);
        *good = !is_seen(file, key);
        if (*good) pushed = mn_array_push(file->ctx, &file->seen, &key);
    }
    mn_json_tree_free(json);
    return pushed;
}

/// Writes the report anew with its whole lines only: a killed process may have left half of one.
static mn_status keep_whole_lines(mn_report_file *file, const char *text, size_t size)
{
    mn_safe_file *out;
    MN_TRY(mn_safe_file_open(file->ctx, file->path, &out));
    mn_status status = MN_OK;
    const char *end = text + size;
    for (const char *at = text; at < end && status == MN_OK;) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        if (!next) break;
        bool good;
        status = note_line(file, at, (size_t)(next - at), &good);
        if (status == MN_OK && good) status = mn_safe_file_write(out, at, (size_t)(next - at) + 1);
        at = next + 1;
    }
    if (status == MN_OK) return mn_safe_file_commit(out);
    mn_safe_file_abandon(out);
    return status;
}

static bool is_regular_file(const char *path)
{
    struct stat info;
    return stat(path, &info) == 0 && S_ISREG(info.st_mode);
}

mn_status mn_report_open(mn_context *ctx, const char *path, bool resume, mn_report_file *file)
{
    memset(file, 0, sizeof *file);
    file->ctx = ctx, file->path = path, file->descriptor = -1;
    if (!path) return MN_OK;
    if (strcmp(path, "-") == 0) {
        file->descriptor = STDOUT_FILENO;
        return MN_OK;
    }
    if (resume && is_regular_file(path)) {
        char *text;
        size_t size;
        MN_TRY(mn_read_text(ctx, path, &text, &size));
        const mn_status status = text ? keep_whole_lines(file, text, size) : MN_OK;
        if (text) mn_release(ctx, text, size + 1);
        MN_TRY(status);
    }
    // Not to be held up by a pipe that nobody reads from; one that has a reader may keep us waiting later.
    const int flags = O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK | (resume ? 0 : O_TRUNC);
    file->descriptor = open(path, flags, 0666);
    if (file->descriptor >= 0 && fcntl(file->descriptor, F_SETFL, O_APPEND) == 0) return MN_OK;
    if (errno == ENXIO)
        return mn_fail(ctx, MN_ERROR_IO, "%s: nothing reads from this pipe; start its reader first.", path);
    return mn_fail(ctx, MN_ERROR_IO, "%s: the report cannot be written: %s.", path, strerror(errno));
}

// ---- a line ----

static void put_values(mn_json_text *out, bool *first, const char *key, const double *values, int32_t count)
{
    for (int32_t i = 0; i < count; i++)
        if (!isfinite(values[i])) return;
    mn_json_text_put_key(out, first, ", ", key);
    for (int32_t i = 0; i < count; i++) {
        if (count > 1) mn_json_text_put(out, i > 0 ? ", " : "[");
        mn_json_text_put_number(out, values[i]);
    }
    if (count > 1) mn_json_text_put(out, "]");
}

static void put_value(mn_json_text *out, bool *first, const char *key, double value)
{
    put_values(out, first, key, &value, 1);
}

/// Simulated seconds since the start frame: the sum of time_scale / fps over the frames in between.
static double simulated_time(const mn_network *network, int32_t node, int32_t frame)
{
    mn_parm_value value;
    const mn_key *keys;
    if (mn_network_parm(network, node, "start_frame", frame, &value) != MN_OK) return 0;
    const int32_t start = (int32_t)value.number[0];
    if (frame <= start) return 0;
    const double step = 1 / mn_network_fps(network);
    if (mn_network_keys(network, node, "time_scale", &keys) == 0) {
        if (mn_network_parm(network, node, "time_scale", frame, &value) != MN_OK)
            return (frame - start) * step;
        return (frame - start) * step * value.number[0];
    }
    double sum = 0;
    for (int32_t f = start + 1; f <= frame; f++)
        if (mn_network_parm(network, node, "time_scale", f, &value) == MN_OK) sum += value.number[0] * step;
    return sum;
}

static void put_seconds(mn_json_text *out, bool *first, const mn_timers *timers)
{
    bool first_phase = true;
    mn_json_text_put_key(out, first, ", ", "seconds");
    mn_json_text_put(out, "{");
    for (int32_t i = 0; i < timers->count; i++)
        if (strcmp(timers->name[i], "total") == 0) put_value(out, &first_phase, "total", timers->seconds[i]);
    for (int32_t i = 0; i < timers->count; i++)
        if (strcmp(timers->name[i], "total") != 0)
            put_value(out, &first_phase, timers->name[i], timers->seconds[i]);
    mn_json_text_put(out, "}");
}

static void put_limits(mn_json_text *out, bool *first, const mn_step_limits *limits)
{
    bool first_limit = true;
    if (limits->count == 0) return;
    mn_json_text_put_key(out, first, ", ", "limited_by");
    mn_json_text_put(out, "{");
    for (int32_t i = 0; i < limits->count; i++)
        put_value(out, &first_limit, limits->name[i], (double)limits->steps[i]);
    mn_json_text_put(out, "}");
}

static void put_line(mn_json_text *out, const mn_network *network, int32_t node, int32_t frame,
                     const mn_geo *geo, const mn_report *report)
{
    bool first = true;
    mn_json_text_put(out, "{");
    put_value(out, &first, "frame", frame);
    put_value(out, &first, "time", simulated_time(network, node, frame));
    mn_json_text_put_member(out, &first, ", ", "node", mn_network_node_name(network, node));
    for (int key = 0; key < MN_REPORT_COUNT; key++) {
        const mn_report_key k = (mn_report_key)key;
        if (report->set[key])
            put_values(out, &first, mn_report_key_name(k), report->value[key], mn_report_key_components(k));
        if (k != MN_REPORT_particles) continue;
        put_value(out, &first, "points", (double)mn_geo_point_count(geo));
        put_value(out, &first, "prims", (double)mn_geo_primitive_count(geo));
    }
    put_limits(out, &first, &report->limited_by);
    put_seconds(out, &first, &report->seconds);
    put_value(out, &first, "held_mb", 1e-6 * (double)mn_context_bytes(mn_network_context(network)));
    struct rusage usage;
    if (getrusage(RUSAGE_SELF, &usage) == 0)
        put_value(out, &first, "peak_rss_mb", (double)usage.ru_maxrss / 1024);
    mn_json_text_put(out, "}\n");
}

mn_status mn_report_line(const mn_network *network, int32_t node, int32_t frame, const mn_geo *geo,
                         char **text)
{
    const mn_report *report = mn_network_report(network, node);
    mn_json_text out = {.ctx = mn_network_context(network)};
    *text = NULL;
    if (!report) return MN_OK;
    put_line(&out, network, node, frame, geo, report);
    return mn_json_text_finish(&out, text);
}

mn_status mn_report_add(mn_report_file *file, const mn_network *network, int32_t node, int32_t frame,
                        const mn_geo *geo)
{
    const uint64_t key = line_key(frame, mn_network_node_name(network, node));
    if (file->descriptor < 0 || is_seen(file, key)) return MN_OK;
    char *text;
    MN_TRY(mn_report_line(network, node, frame, geo, &text));
    if (!text) return MN_OK;
    const mn_status status = mn_append_text(file->ctx, file->descriptor, file->path, text, strlen(text));
    mn_scene_free_text(file->ctx, text);
    MN_TRY(status);
    return mn_array_push(file->ctx, &file->seen, &key);
}

mn_status mn_report_sync(mn_report_file *file)
{
    // A pipe or a terminal cannot be synced and need not be.
    if (file->descriptor < 0 || fdatasync(file->descriptor) == 0 || errno == EINVAL || errno == EROFS)
        return MN_OK;
    return mn_fail(file->ctx, MN_ERROR_IO, "%s: cannot write: %s.", file->path, strerror(errno));
}

void mn_report_close(mn_report_file *file)
{
    if (!file->ctx) return;
    if (file->descriptor >= 0 && file->descriptor != STDOUT_FILENO) close(file->descriptor);
    mn_array_free(file->ctx, &file->seen);
    file->descriptor = -1;
}
