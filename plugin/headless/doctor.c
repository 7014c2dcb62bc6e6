// SPDX-License-Identifier: Apache-2.0
//
// meniscus doctor SCENE: which files it reads and writes, what each node has to say about its parameters and
// inputs at the first frame, and what the whole will need.
#define _POSIX_C_SOURCE 200809L
#include "base/parallel.h"
#include "plugin/headless/command.h"
#include "plugin/headless/doctor_probe.h"
#include "plugin/headless/scene_files.h"
#include "plugin/headless/scene_session.h"
#include "plugin/json/text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum {
    OPTION_FRAMES,
    OPTION_NODE,
    OPTION_SET,
    OPTION_PROBE,
    OPTION_FOLDER,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_JSON
};
static const mn_option options[] = {
    [OPTION_FRAMES] = {"--frames", "-f", "A-B", "for these frames instead of the scene's"},
    [OPTION_NODE] = {"--node", NULL, "NAME", "for this node instead of the scene's output"},
    [OPTION_SET] = {"--set", NULL, "NODE.PARM=VALUE", "with another value; may be given many times"},
    [OPTION_PROBE] =
        {"--probe", NULL, "SECONDS",
         "cook the beginning for so long and tell how long the whole will take, default 3; 0: no"},
    [OPTION_FOLDER] = {"--folder", NULL, "DIR", "relative paths in the scene begin here, not at the scene"},
    [OPTION_THREADS] = MN_OPTION_THREADS,
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
    [OPTION_JSON] = {"--json", NULL, NULL, "the same as one JSON object"},
};

typedef struct doctor_job {
    mn_session *session;
    mn_network *network;
    mn_target target;
    int32_t first, last;
    double probe; ///< s; 0: none
} doctor_job;

typedef struct visit {
    int lines; ///< that the node has said
} visit;

static void print_number(void *user, const char *name, double value, const char *unit, const char *remark)
{
    visit *v = user;
    v->lines++;
    printf("    %-28s %12.4g %-8s %s\n", name, value, unit ? unit : "", remark ? remark : "");
}

static void print_sentence(void *user, const char *sentence)
{
    visit *v = user;
    v->lines++;
    printf("    %s\n", sentence);
}

static mn_status visit_node(mn_network *network, int32_t node, int32_t frame)
{
    visit v = {0};
    mn_doctor doctor = {&v, print_number, print_sentence};
    printf("\n  %s (%s)\n", mn_network_node_name(network, node), mn_network_node_type(network, node)->name);
    MN_TRY(mn_network_doctor(network, node, frame, &doctor));
    for (int32_t i = 0; i < mn_network_warning_count(network, node); i++)
        print_sentence(&v, mn_network_warning(network, node, i));
    if (v.lines == 0) printf("    nothing to remark\n");
    return MN_OK;
}

static void print_disk(double bytes, int32_t frames)
{
    char one[32], all[32], room[32];
    mn_format_bytes(bytes, one);
    mn_format_bytes(bytes * frames, all);
    printf("    %-28s %s a frame, %s in all, before compression", "disk", one, all);
    struct statvfs disk;
    if (statvfs(".", &disk) == 0) {
        const double left = (double)disk.f_bavail * (double)disk.f_frsize;
        mn_format_bytes(left, room);
        printf("; %s free here%s", room, left < bytes * frames ? ": may not be enough" : "");
    }
    printf("\n");
}

static double peak_memory(const mn_session *session)
{
    struct rusage usage;
    const double peak = getrusage(RUSAGE_SELF, &usage) == 0 ? (double)usage.ru_maxrss * 1024 : 0;
    return fmax(peak, (double)mn_context_peak_bytes(session->ctx));
}

static void print_memory(const mn_session *session, int32_t frames)
{
    char used[32], machine[32];
    mn_format_bytes(peak_memory(session), used);
    mn_format_bytes((double)sysconf(_SC_PHYS_PAGES) * (double)sysconf(_SC_PAGE_SIZE), machine);
    if (frames > 0)
        printf("    %-28s %s for %d frames; this machine has %s\n", "memory", used, (int)frames + 1, machine);
    else
        printf("    %-28s %s at the first frame; this machine has %s\n", "memory", used, machine);
}

static void print_time(const mn_probe *probe, double seconds)
{
    char low[32], high[32];
    mn_format_duration(probe->low, low);
    mn_format_duration(probe->high, high);
    printf("    %-28s ", "time");
    if (probe->frame_seconds <= 0)
        printf("not known: the second frame takes longer than %.3g s; let it try longer with --probe",
               seconds);
    else if (probe->high > 1.2 * probe->low)
        printf("%.3g s a frame and growing, between %s and %s in all", probe->frame_seconds, low, high);
    else
        printf("%.3g s a frame, about %s in all", probe->frame_seconds, low);
    if (probe->frames > 0)
        printf(", by %d frame%s\n", (int)probe->frames, probe->frames == 1 ? "" : "s");
    else if (probe->frame_seconds > 0)
        printf(", by %.0f %% of one frame\n", 100 * probe->fraction);
    else
        printf("\n");
    if (*probe->sentence) printf("    frame %d fails: %s\n", (int)probe->failed_frame, probe->sentence);
}

// ---- the same as JSON ----

typedef struct json_visit {
    mn_json_text *out;
    bool first_number, first_sentence;
    mn_json_text sentences;
} json_visit;

static void json_number(void *user, const char *name, double value, const char *unit, const char *remark)
{
    json_visit *v = user;
    bool first = true;
    if (!isfinite(value)) return;
    mn_json_text_put(v->out, v->first_number ? "{" : ", {");
    v->first_number = false;
    mn_json_text_put_member(v->out, &first, ", ", "name", name);
    mn_json_text_put_key(v->out, &first, ", ", "value");
    mn_json_text_put_number(v->out, value);
    mn_json_text_put_member(v->out, &first, ", ", "unit", unit ? unit : "");
    mn_json_text_put_member(v->out, &first, ", ", "remark", remark ? remark : "");
    mn_json_text_put(v->out, "}");
}

static void json_sentence(void *user, const char *sentence)
{
    json_visit *v = user;
    mn_json_text_put(&v->sentences, v->first_sentence ? "" : ", ");
    v->first_sentence = false;
    mn_json_text_put_string(&v->sentences, sentence);
}

static mn_status json_node(mn_network *network, int32_t node, int32_t frame, mn_json_text *out, bool *first)
{
    json_visit v = {out, true, true, {.ctx = out->ctx}};
    mn_doctor doctor = {&v, json_number, json_sentence};
    bool first_member = true;
    char *sentences;
    mn_json_text_put(out, *first ? "{" : ", {");
    *first = false;
    mn_json_text_put_member(out, &first_member, ", ", "node", mn_network_node_name(network, node));
    mn_json_text_put_member(out, &first_member, ", ", "type", mn_network_node_type(network, node)->name);
    mn_json_text_put_key(out, &first_member, ", ", "numbers");
    mn_json_text_put(out, "[");
    const mn_status status = mn_network_doctor(network, node, frame, &doctor);
    for (int32_t i = 0; i < mn_network_warning_count(network, node); i++)
        json_sentence(&v, mn_network_warning(network, node, i));
    MN_TRY(mn_json_text_finish(&v.sentences, &sentences));
    mn_json_text_put(out, "]");
    mn_json_text_put_key(out, &first_member, ", ", "sentences");
    mn_json_text_put(out, "[");
    mn_json_text_put(out, sentences);
    mn_json_text_put(out, "]}");
    mn_scene_free_text(out->ctx, sentences);
    return status;
}

static void json_value(mn_json_text *out, bool *first, const char *key, double value)
{
    mn_json_text_put_key(out, first, ", ", key);
    mn_json_text_put_number(out, value);
}

static void json_probe(const mn_probe *probe, mn_json_text *out, bool *first)
{
    bool first_member = true;
    mn_json_text_put_key(out, first, ", ", "probe");
    mn_json_text_put(out, "{");
    json_value(out, &first_member, "frames", probe->frames);
    json_value(out, &first_member, "fraction", probe->fraction);
    json_value(out, &first_member, "seconds_per_frame", probe->frame_seconds);
    json_value(out, &first_member, "seconds_low", probe->low);
    json_value(out, &first_member, "seconds_high", probe->high);
    mn_json_text_put_member(out, &first_member, ", ", "error", probe->sentence);
    mn_json_text_put(out, "}");
}

static mn_status examine_as_json(const doctor_job *job)
{
    mn_session *session = job->session;
    mn_network *network = job->network;
    const mn_target target = job->target;
    mn_json_text out = {.ctx = session->ctx};
    bool first_member = true, first_node = true;
    mn_probe probe = {0};
    const double begun = mn_seconds();
    const mn_geo *geo;
    MN_TRY(mn_network_cook(network, target.node, target.output, job->first, &geo));
    const double seconds = mn_seconds() - begun, bytes = (double)mn_geo_bytes(geo);
    const double points = (double)mn_geo_point_count(geo), primitives = (double)mn_geo_primitive_count(geo);
    mn_json_text_put(&out, "{");
    mn_json_text_put_member(&out, &first_member, ", ", "title", mn_network_title(network));
    json_value(&out, &first_member, "first_frame", job->first);
    json_value(&out, &first_member, "last_frame", job->last);
    json_value(&out, &first_member, "fps", mn_network_fps(network));
    json_value(&out, &first_member, "threads", mn_worker_count(session->ctx));
    mn_json_text_put_key(&out, &first_member, ", ", "nodes");
    mn_json_text_put(&out, "[");
    mn_status status = MN_OK;
    for (int32_t node = 0; node < mn_network_node_limit(network) && status == MN_OK; node++)
        if (mn_network_node_type(network, node) && mn_network_depends(network, target.node, node))
            status = json_node(network, node, job->first, &out, &first_node);
    if (status == MN_OK && job->probe > 0)
        status = mn_probe_time(session, network, target, job->first, job->last, seconds, job->probe, &probe);
    mn_json_text_put(&out, "]");
    mn_json_text_put_member(&out, &first_member, ", ", "output", mn_network_node_name(network, target.node));
    json_value(&out, &first_member, "points", points);
    json_value(&out, &first_member, "primitives", primitives);
    json_value(&out, &first_member, "seconds", seconds);
    json_value(&out, &first_member, "memory", (double)mn_context_peak_bytes(session->ctx));
    json_value(&out, &first_member, "resident", peak_memory(session));
    json_value(&out, &first_member, "bytes_per_frame", fmax(bytes, probe.bytes));
    if (job->probe > 0) json_probe(&probe, &out, &first_member);
    mn_json_text_put(&out, "}\n");
    char *text;
    MN_TRY(mn_json_text_finish(&out, &text));
    if (status == MN_OK) fputs(text, stdout);
    mn_scene_free_text(session->ctx, text);
    return status;
}

// ---- files: shown before any of them is read ----

/// Whether the file lies in the scene's folder or below it.
static bool is_inside(const char *folder, const char *path)
{
    char home[MN_PATH_SIZE], place[MN_PATH_SIZE];
    if (!mn_canonical_path(*folder ? folder : ".", home) || !mn_canonical_path(path, place)) return false;
    const size_t length = strcmp(home, "/") == 0 ? 0 : strlen(home);
    return strncmp(home, place, length) == 0 && place[length] == '/';
}

static void print_file(const mn_network *network, const mn_scene_file *file, int32_t first)
{
    char path[MN_PATH_LIMIT];
    if (!mn_path_at_frame(file->path, first, path)) snprintf(path, sizeof path, "%.200s...", file->path);
    printf("    %-28s %s%s%s%s\n", mn_network_node_name(network, file->node), path,
           mn_path_is_sequence(file->path) ? " and on" : "",
           access(path, R_OK) == 0 ? "" : ": missing or not readable",
           is_inside(mn_network_folder(network), path) ? "" : ": outside the scene's folder");
}

static mn_status print_files(mn_session *session, mn_network *network, mn_target target, int32_t first,
                             int32_t last)
{
    mn_scene_files files = {0};
    mn_status status = MN_OK;
    for (int32_t node = 0; node < mn_network_node_limit(network) && status == MN_OK; node++)
        if (mn_network_node_type(network, node)) status = mn_scene_files_add_of(network, node, &files);
    printf("\n  reads%s\n", files.count == 0 ? ": no files" : "");
    for (int64_t i = 0; i < files.count; i++) print_file(network, &files.data[i], first);
    const char *name = mn_network_node_name(network, target.node);
    printf("\n  writes, into the folder that cook is given with -o\n");
    printf("    %s.%04d to %s.%04d, .%s.cook\n", name, (int)first, name, (int)last, name);
    for (int32_t node = 0; node < mn_network_node_limit(network); node++) {
        const mn_node_type *type = mn_network_node_type(network, node);
        if (type && type->sim && mn_network_depends(network, target.node, node))
            printf("    %s.checkpoint\n", mn_network_node_name(network, node));
    }
    mn_array_free(session->ctx, &files);
    fflush(stdout);
    return status;
}

static mn_status examine(const doctor_job *job)
{
    mn_session *session = job->session;
    mn_network *network = job->network;
    const mn_target target = job->target;
    const char *title = mn_network_title(network);
    mn_probe probe = {0};
    if (*title) printf("%s\n", title);
    printf("  frames %d to %d at %g a second, %d threads\n", (int)job->first, (int)job->last,
           mn_network_fps(network), (int)mn_worker_count(session->ctx));
    MN_TRY(print_files(session, network, target, job->first, job->last));
    const double begun = mn_seconds();
    const mn_geo *geo;
    MN_TRY(mn_network_cook(network, target.node, target.output, job->first, &geo));
    const double seconds = mn_seconds() - begun, bytes = (double)mn_geo_bytes(geo);
    const int64_t points = mn_geo_point_count(geo), primitives = mn_geo_primitive_count(geo);
    for (int32_t node = 0; node < mn_network_node_limit(network); node++)
        if (mn_network_node_type(network, node) && mn_network_depends(network, target.node, node))
            MN_TRY(visit_node(network, node, job->first));
    printf("\n  output: %s\n", mn_network_node_name(network, target.node));
    printf("    %-28s %lld points, %lld primitives, cooked in %.3g s\n", "first frame", (long long)points,
           (long long)primitives, seconds);
    fflush(stdout);
    const bool probes = job->probe > 0 && job->last > job->first;
    if (probes)
        MN_TRY(mn_probe_time(session, network, target, job->first, job->last, seconds, job->probe, &probe));
    if (probes) print_time(&probe, job->probe);
    print_memory(session, probe.frames);
    print_disk(fmax(bytes, probe.bytes), job->last - job->first + 1);
    return MN_OK;
}

typedef struct doctor_arguments {
    const char *scene, *node, *frames, *folder;
    mn_session_def def;
    bool json;
} doctor_arguments;

static int read_arguments(mn_arguments *arguments, doctor_arguments *a, doctor_job *job)
{
    const char *value;
    for (int32_t option; (option = mn_arguments_next(arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return MN_EXIT_CANCELLED;
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_FRAMES) a->frames = value;
        if (option == OPTION_NODE) a->node = value;
        if (option == OPTION_FOLDER) a->folder = value;
        if (option == OPTION_JSON) a->json = true;
        if (option == OPTION_PROBE &&
            !mn_read_number(&mn_doctor_command, "--probe", value, 0, 1e6, &job->probe))
            return MN_EXIT_USAGE;
        if (option == OPTION_THREADS && !mn_read_threads(&mn_doctor_command, value, &a->def))
            return MN_EXIT_USAGE;
        if (option == OPTION_MEMORY && !mn_read_memory(&mn_doctor_command, value, &a->def))
            return MN_EXIT_USAGE;
        if (option != MN_ARGUMENT_WORD) continue;
        if (a->scene)
            return mn_usage_error(&mn_doctor_command, "it takes one scene; got '%s' and '%s'.", a->scene,
                                  value);
        a->scene = value;
    }
    if (!a->scene) return mn_usage_error(&mn_doctor_command, "which scene?");
    if (a->frames && !mn_read_frames(&mn_doctor_command, a->frames, &job->first, &job->last))
        return MN_EXIT_USAGE;
    return MN_EXIT_DONE;
}

static mn_status prepare(mn_arguments *arguments, const doctor_arguments *a, doctor_job *job)
{
    const char *value;
    MN_TRY(mn_open_scene(job->session, a->scene, &job->network));
    if (a->folder) MN_TRY(mn_network_set_folder(job->network, a->folder));
    arguments->at = 0, arguments->words_only = false;
    for (int32_t option; (option = mn_arguments_next(arguments, &value)) != MN_ARGUMENT_END;)
        if (option == OPTION_SET) MN_TRY(mn_apply_setting(job->session, job->network, value));
    MN_TRY(mn_find_target(job->session, job->network, a->node, &job->target));
    if (!a->frames) mn_network_range(job->network, &job->first, &job->last);
    return MN_OK;
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_doctor_command, .argc = argc, .argv = argv};
    doctor_arguments a = {0};
    mn_session session;
    doctor_job job = {.session = &session, .probe = 3};
    const int wrong = read_arguments(&arguments, &a, &job);
    if (wrong == MN_EXIT_CANCELLED) return mn_finish_output(&mn_doctor_command);
    if (wrong != MN_EXIT_DONE) return wrong;
    mn_catch_signals();
    if (!mn_session_open(&session, &mn_doctor_command, &a.def)) return MN_EXIT_FAILED;
    mn_status status = prepare(&arguments, &a, &job);
    if (status == MN_OK) status = (a.json ? examine_as_json : examine)(&job);
    const int code = mn_session_fail(&session, status);
    mn_network_free(job.network);
    mn_session_close(&session);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_doctor_command) : code;
}

const mn_subcommand mn_doctor_command = {
    "doctor",
    "SCENE [--json]",
    "dimensionless numbers, resolution, limits, files, time, memory and disk",
    options,
    MN_COUNT_OF_OPTIONS(options),
    run};
