// SPDX-License-Identifier: Apache-2.0
//
// meniscus watch DIR: a running cook or wedge at a glance, from its files alone, so that it works over ssh
// and on a disk that machines share.
//
//   time left = frames left * mean seconds per frame / members that run
//
// Clocks of machines are not compared: how long nothing has happened is counted here.
#define _DEFAULT_SOURCE
#include "meniscus/report.h"
#include "plugin/headless/command.h"
#include "plugin/headless/wedge.h"
#include "plugin/json/tree.h"

#include <dirent.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <time.h>
#include <unistd.h>

enum { OPTION_ONCE, OPTION_INTERVAL };
static const mn_option options[] = {
    [OPTION_ONCE] = {"--once", NULL, NULL, "print it once and end; so does output that is not a terminal"},
    [OPTION_INTERVAL] = {"--interval", NULL, "SECONDS", "between two looks, default 1"},
};

enum { BAR = 24, TAIL = 1 << 14 };

/// What is seen of one cook: a member, or the folder itself.
typedef struct watched {
    char name[160];
    const char *state; ///< "" for a cook, whose process nobody knows
    int32_t frames, total;
    double seconds;   ///< of the last frame
    double memory;    ///< MB at most
    char remark[512]; ///< the last warning, or why it failed
} watched;

typedef struct watch_screen {
    int rows, columns, used;
    bool terminal;
} watch_screen;

// ---- the files of one cook ----

/// The last whole line of a report.
static void read_report(mn_context *ctx, const char *path, watched *one)
{
    char bytes[TAIL];
    size_t end = mn_read_tail(path, bytes, sizeof bytes);
    while (end > 0 && bytes[end - 1] != '\n') end--;
    if (end == 0) return;
    size_t begin = --end;
    while (begin > 0 && bytes[begin - 1] != '\n') begin--;
    mn_json_tree *json = NULL;
    if (mn_json_tree_read(ctx, bytes + begin, end - begin, path, &json) != MN_OK) return;
    const mn_json_tree_value *root = mn_json_tree_root(json);
    if (root->kind == MN_JSON_TREE_OBJECT) {
        const mn_json_tree_value *memory = mn_json_tree_find(json, root, "peak_rss_mb");
        const mn_json_tree_value *seconds = mn_json_tree_find(json, root, "seconds");
        const bool object = seconds && seconds->kind == MN_JSON_TREE_OBJECT;
        const mn_json_tree_value *total = object ? mn_json_tree_find(json, seconds, "total") : NULL;
        if (memory && memory->kind == MN_JSON_TREE_NUMBER) one->memory = memory->number;
        if (total && total->kind == MN_JSON_TREE_NUMBER) one->seconds = total->number;
    }
    mn_json_tree_free(json);
}

/// The last warning of a log.
static void read_warning(const char *path, watched *one)
{
    char bytes[TAIL + 1];
    bytes[mn_read_tail(path, bytes, TAIL)] = 0;
    const char *last = NULL;
    for (const char *at = bytes; (at = strstr(at, "warning: ")); at++) last = at;
    if (!last || *one->remark) return;
    snprintf(one->remark, sizeof one->remark, "%.*s", (int)strcspn(last, "\n"), last);
}

static mn_status see_member(const mn_wedge *wedge, const mn_wedge_member *member, watched *one, double *spent)
{
    mn_member_status status;
    char path[MN_PATH_SIZE];
    memset(one, 0, sizeof *one);
    MN_TRY(mn_member_look(wedge, member, &status));
    snprintf(one->name, sizeof one->name, "%s", member->name);
    one->state = mn_member_state_name(status.state);
    one->frames = status.frames, one->total = mn_wedge_frame_count(wedge);
    *spent = status.seconds;
    snprintf(one->remark, sizeof one->remark, "%.500s", status.error);
    if (status.state != MN_MEMBER_RUNNING) return MN_OK;
    MN_TRY(mn_wedge_path(wedge, member, "report.jsonl", path));
    read_report(wedge->ctx, path, one);
    MN_TRY(mn_wedge_path(wedge, member, "log.txt", path));
    read_warning(path, one);
    return MN_OK;
}

// ---- drawing ----

static watch_screen open_screen(bool once)
{
    struct winsize size = {0};
    watch_screen screen = {.rows = 1 << 20, .columns = 200};
    screen.terminal = !once && isatty(STDOUT_FILENO);
    if (screen.terminal && ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_row > 3 &&
        size.ws_col > 20)
        screen.rows = size.ws_row - 1, screen.columns = size.ws_col - 1;
    if (screen.terminal) printf("\033[H");
    return screen;
}

static void put_line(watch_screen *screen, char *line)
{
    for (char *at = line; *at; at++) // a file may hold a terminal's escape codes
        if ((*at > 0 && *at < 32) || *at == 127) *at = ' ';
    if (screen->used++ >= screen->rows) return;
    printf("%.*s%s\n", screen->columns, line, screen->terminal ? "\033[K" : "");
}

static void close_screen(const watch_screen *screen)
{
    if (screen->terminal) printf("\033[J");
    fflush(stdout);
}

static void draw_bar(char bar[BAR + 1], double part)
{
    for (int i = 0; i < BAR; i++) bar[i] = i < part * BAR ? '#' : '.';
    bar[BAR] = 0;
}

static void put_watched(watch_screen *screen, const watched *one, double mean)
{
    char bar[BAR + 1], left[32], line[1024], numbers[128] = "";
    const double seconds = one->seconds > 0 ? one->seconds : mean;
    draw_bar(bar, one->total > 0 ? (double)one->frames / one->total : 0);
    mn_format_duration(seconds * (one->total - one->frames), left);
    if (one->memory > 0)
        snprintf(numbers, sizeof numbers, "  %.2g s a frame, %s left, %.0f MB", one->seconds, left,
                 one->memory);
    snprintf(line, sizeof line, "[%s] %4d/%-4d %-9s %s%s%s%s", bar, (int)one->frames, (int)one->total,
             one->state, one->name, numbers, *one->remark ? "  " : "", one->remark);
    put_line(screen, line);
}

// ---- a wedge ----

/// *going: somebody cooks, or will.
static mn_status show_wedge(const mn_wedge *wedge, bool once, bool *going)
{
    int64_t counts[MN_MEMBER_STATES] = {0}, done = 0;
    double spent = 0;
    char line[1024], left[32], bar[BAR + 1];
    MN_ARRAY(watched) all = {0};
    mn_status status = mn_array_resize(wedge->ctx, &all, wedge->members.count);
    for (int64_t i = 0; i < wedge->members.count && status == MN_OK; i++) {
        double seconds;
        status = see_member(wedge, &wedge->members.data[i], &all.data[i], &seconds);
        if (status != MN_OK) break;
        done += all.data[i].frames, spent += seconds;
        for (int k = 0; k < MN_MEMBER_STATES; k++)
            counts[k] += all.data[i].state == mn_member_state_name((mn_member_state)k);
    }
    if (status != MN_OK) {
        mn_array_free(wedge->ctx, &all);
        return status;
    }
    const int64_t running = counts[MN_MEMBER_RUNNING],
                  frames = wedge->members.count * mn_wedge_frame_count(wedge);
    // Seconds are noted when a member ends, so frames of those that run do not count for the mean.
    int64_t ended = 0;
    for (int64_t i = 0; i < all.count; i++)
        ended += strcmp(all.data[i].state, "running") != 0 ? all.data[i].frames : 0;
    const double mean = ended > 0 ? spent / (double)ended : 0;
    watch_screen screen = open_screen(once);
    draw_bar(bar, frames > 0 ? (double)done / (double)frames : 0);
    mn_format_duration(mean * (double)(frames - done) / (double)(running > 0 ? running : 1), left);
    int length = snprintf(line, sizeof line, "[%s] %s, %lld members:", bar, wedge->folder,
                          (long long)wedge->members.count);
    for (int k = 0; k < MN_MEMBER_STATES && length < (int)sizeof line; k++)
        if (counts[k] > 0)
            length += snprintf(line + length, sizeof line - (size_t)length, " %lld %s", (long long)counts[k],
                               mn_member_state_name((mn_member_state)k));
    if (mean > 0 && done < frames && running > 0 && length < (int)sizeof line)
        snprintf(line + length, sizeof line - (size_t)length, ", about %s left", left);
    put_line(&screen, line);
    static const char *const order[] = {"running", "failed", "stopped", "cancelled"};
    for (int k = 0; k < 4; k++)
        for (int64_t i = 0; i < all.count; i++)
            if (strcmp(all.data[i].state, order[k]) == 0) put_watched(&screen, &all.data[i], mean);
    close_screen(&screen);
    *going = running > 0 || counts[MN_MEMBER_WAITING] > 0;
    mn_array_free(wedge->ctx, &all);
    return MN_OK;
}

// ---- a cook ----

/// Frames that the scene beside the journal is of.
static int32_t read_range(mn_session *session, const char *path, int32_t *first, int32_t *last)
{
    mn_network *network = NULL;
    *first = 1, *last = 1;
    if (mn_scene_read(session->ctx, NULL, path, &network) == MN_OK) mn_network_range(network, first, last);
    mn_network_free(network);
    return *last - *first + 1;
}

static mn_status show_cook(mn_session *session, const char *folder, bool once, bool *going, int64_t *frames)
{
    static const char ENDING[] = ".cook";
    DIR *all = opendir(folder);
    if (!all) return mn_fail(session->ctx, MN_ERROR_NOT_FOUND, "%s: there is no such folder.", folder);
    watch_screen screen = open_screen(once);
    int found = 0, whole = 0;
    *frames = 0;
    for (const struct dirent *entry; (entry = readdir(all));) {
        watched one = {.state = ""};
        char path[MN_PATH_SIZE];
        int32_t first, last;
        const size_t length = strlen(entry->d_name), ending = sizeof ENDING - 1;
        if (*entry->d_name != '.' || length < ending + 2 ||
            strcmp(entry->d_name + length - ending, ENDING) != 0)
            continue;
        snprintf(one.name, sizeof one.name, "%.*s", (int)(length - ending - 1), entry->d_name + 1);
        snprintf(path, sizeof path, "%s/.%s.scene", folder, one.name);
        one.total = read_range(session, path, &first, &last);
        snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
        if (mn_journal_count(session->ctx, path, first, last, 1, &one.frames) != MN_OK) continue;
        snprintf(path, sizeof path, "%s/report.jsonl", folder);
        read_report(session->ctx, path, &one);
        snprintf(path, sizeof path, "%s/log.txt", folder);
        read_warning(path, &one);
        put_watched(&screen, &one, 0);
        found++, whole += one.frames >= one.total, *frames += one.frames;
    }
    closedir(all);
    close_screen(&screen);
    *going = whole < found;
    if (found > 0) return MN_OK;
    return mn_fail(session->ctx, MN_ERROR_NOT_FOUND, "%s holds neither a wedge nor a cook.", folder);
}

// ---- again and again ----

static mn_status look(mn_session *session, const char *folder, bool once, bool *going, int64_t *frames)
{
    mn_wedge wedge;
    mn_status status = mn_wedge_read_plan(session->ctx, folder, &wedge);
    if (status == MN_OK)
        status = show_wedge(&wedge, once, going);
    else if (status == MN_ERROR_NOT_FOUND)
        status = show_cook(session, folder, once, going, frames);
    mn_wedge_free(&wedge);
    return status;
}

static mn_status watch(mn_session *session, const char *folder, bool once, double interval)
{
    bool going = true, seen = false;
    double changed = mn_seconds();
    int64_t frames = 0, before = -1;
    if (!once) printf("\033[H\033[2J");
    while (going && !mn_stop_requested()) {
        const mn_status status = look(session, folder, once, &going, &frames);
        if (status != MN_OK && (!seen || once)) return status;
        // A disk that was there comes back.
        if (status != MN_OK) printf("%s\033[K\n", mn_context_message(session->ctx));
        seen = true;
        if (once) return MN_OK;
        if (frames != before) before = frames, changed = mn_seconds();
        const double idle = mn_seconds() - changed;
        if (frames > 0 && idle > 30) printf("no new frame for %.0f s\033[K\n", idle);
        fflush(stdout);
        const struct timespec pause = {(time_t)interval, (long)(1e9 * (interval - (double)(time_t)interval))};
        if (going) nanosleep(&pause, NULL);
    }
    return MN_OK;
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_watch_command, .argc = argc, .argv = argv};
    const char *value, *folder = NULL;
    double interval = 1;
    bool once = !isatty(STDOUT_FILENO);
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_watch_command);
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_ONCE) once = true;
        if (option == OPTION_INTERVAL &&
            !mn_read_number(&mn_watch_command, "--interval", value, 0.05, 3600, &interval))
            return MN_EXIT_USAGE;
        if (option == MN_ARGUMENT_WORD && folder)
            return mn_usage_error(&mn_watch_command, "it takes one folder.");
        if (option == MN_ARGUMENT_WORD) folder = value;
    }
    if (!folder) return mn_usage_error(&mn_watch_command, "which folder?");
    mn_session session;
    const mn_session_def def = {0};
    if (!mn_session_open(&session, &mn_watch_command, &def)) return MN_EXIT_FAILED;
    mn_catch_signals();
    const int code = mn_session_fail(&session, watch(&session, folder, once, interval));
    mn_session_close(&session);
    return code == MN_EXIT_DONE ? mn_finish_output(&mn_watch_command) : code;
}

const mn_subcommand mn_watch_command = {"watch",
                                        "DIR",
                                        "a running cook or wedge at a glance, from its files",
                                        options,
                                        MN_COUNT_OF_OPTIONS(options),
                                        run};
