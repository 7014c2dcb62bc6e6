// SPDX-License-Identifier: Apache-2.0
//
// meniscus report DIR: one page about a cook or a wedge, from the files in its folder alone.
#define _DEFAULT_SOURCE
#include "plugin/headless/command.h"
#include "plugin/headless/cook_journal.h"
#include "plugin/headless/report_page.h"
#include "plugin/json/tree.h"
#include "plugin/preview/sequence.h"

#include <libgen.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

enum {
    OPTION_OUTPUT,
    OPTION_TITLE,
    OPTION_NO_PICTURES,
    OPTION_THREADS,
    OPTION_MEMORY,
    OPTION_SCHEDULER,
    OPTION_QUIET
};
static const mn_option options[] = {
    [OPTION_OUTPUT] = {"--output", "-o", "HTML", "the page, default DIR/report.html"},
    [OPTION_TITLE] = {"--title", NULL, "TEXT", "over the page, default the folder's name"},
    [OPTION_NO_PICTURES] = {"--no-pictures", NULL, NULL,
                            "draw none where a cook has left none (cook --preview)"},
    [OPTION_THREADS] = MN_OPTION_THREADS,
    [OPTION_MEMORY] = MN_OPTION_MEMORY,
    [OPTION_SCHEDULER] = MN_OPTION_SCHEDULER,
    [OPTION_QUIET] = {"--quiet", "-q", NULL, "no progress"},
};

/// How much goes in for each cook: less where there are many.
typedef struct budget {
    int64_t pictures, views, triangles, lines;
} budget;

static const budget of_a_cook = {MN_PAGE_PICTURES, MN_PAGE_VIEWS, MN_PAGE_TRIANGLES, MN_PAGE_LINES};
enum { PICTURE_BYTES = 96 << 20, MEMBERS_WITH_PICTURES = 300, MEMBERS_WITH_VIEWS = 24, DRAWN_FRAMES = 48 };

typedef struct report {
    mn_session *session;
    mn_page page;
    const char *folder, *title;
    bool draw, quiet, wedge;
} report;

static mn_status join(mn_context *ctx, const char *folder, const char *name, char path[MN_PATH_SIZE])
{
    if (snprintf(path, MN_PATH_SIZE, "%s/%s", folder, name) < MN_PATH_SIZE) return MN_OK;
    return mn_fail(ctx, MN_ERROR_ARGUMENT, "A path is longer than %d bytes; use a shorter folder.",
                   MN_PATH_SIZE);
}

/// The place of the k-th of `most` things spread over `count`, first and last among them.
static int64_t spread(int64_t k, int64_t count, int64_t most)
{
    if (count <= most) return k;
    return most < 2 ? count - 1 : (k * (count - 1) + (most - 1) / 2) / (most - 1);
}

static int64_t least(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

// ---- the lines of reports ----

/// A line that is whole and ours: an object with a frame and, of reports, a node.
static bool is_line(mn_context *ctx, const char *line, size_t size, const char *key, double *frame)
{
    mn_json_tree *json = NULL;
    if (mn_json_tree_read(ctx, line, size, "report", &json) != MN_OK) return false;
    const mn_json_tree_value *root = mn_json_tree_root(json);
    bool good = false;
    if (root->kind == MN_JSON_TREE_OBJECT) {
        const mn_json_tree_value *at = mn_json_tree_find(json, root, "frame");
        good = mn_json_tree_find(json, root, key) && at && at->kind == MN_JSON_TREE_NUMBER;
        *frame = good ? at->number : 0;
    }
    mn_json_tree_free(json);
    return good;
}

static mn_status put_raw(mn_page *page, const char *line, size_t size)
{
    char *copy = mn_allocate(page->session->ctx, size + 1);
    if (!copy) return MN_ERROR_MEMORY;
    memcpy(copy, line, size);
    copy[size] = 0;
    mn_json_text_put(&page->text, copy);
    mn_release(page->session->ctx, copy, size + 1);
    return mn_page_flush(page);
}

/// Lines of a .jsonl file that have `key`, every so many frames where there are too many.
static mn_status put_lines(mn_page *page, const char *path, const char *key, int64_t most, bool *first)
{
    mn_context *ctx = page->session->ctx;
    struct stat info;
    char *text;
    size_t size;
    if (stat(path, &info) != 0 || !S_ISREG(info.st_mode)) return MN_OK;
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    int64_t count = 0;
    for (const char *at = text; text && (at = memchr(at, '\n', (size_t)(text + size - at))); at++) count++;
    const int64_t stride = count / most + 1;
    mn_status status = MN_OK;
    for (const char *at = text, *end; text && status == MN_OK; at = end + 1) {
        end = memchr(at, '\n', (size_t)(text + size - at));
        if (!end) break; // half a line, or none
        double frame;
        const size_t length = (size_t)(end - at);
        if (!is_line(ctx, at, length, key, &frame) || (int64_t)frame % stride != 0) continue;
        mn_json_text_put(&page->text, *first ? "\n" : ",\n");
        *first = false;
        status = put_raw(page, at, length);
    }
    if (text) mn_release(ctx, text, size + 1);
    return status;
}

// ---- one cook ----

static int64_t count_of(const mn_folder_node *node, bool pictures)
{
    int64_t count = 0;
    for (int64_t i = 0; i < node->frames.count; i++)
        count += pictures ? *node->frames.data[i].picture != 0 : *node->frames.data[i].geometry != 0;
    return count;
}

static const mn_folder_frame *frame_at(const mn_folder_node *node, bool pictures, int64_t place)
{
    for (int64_t i = 0; i < node->frames.count; i++) {
        const mn_folder_frame *frame = &node->frames.data[i];
        if ((pictures ? *frame->picture : *frame->geometry) && place-- == 0) return frame;
    }
    return NULL;
}

static mn_status put_pictures(mn_page *page, const char *folder, const mn_folder_node *node, int64_t most)
{
    const int64_t count = count_of(node, true), shown = least(count, most);
    bool first = true;
    for (int64_t k = 0; k < shown && page->picture_limit > 0; k++) {
        const mn_folder_frame *frame = frame_at(node, true, spread(k, count, most));
        char path[MN_PATH_SIZE];
        MN_TRY(join(page->session->ctx, folder, frame->picture, path));
        mn_json_text_put(&page->text, first ? "{\"frame\": " : ",\n{\"frame\": ");
        first = false;
        mn_json_text_put_number(&page->text, frame->frame);
        mn_json_text_put(&page->text, ", \"png\": ");
        MN_TRY(mn_page_file(page, path));
        mn_json_text_put(&page->text, "}");
    }
    return MN_OK;
}

static mn_status put_views(const report *r, mn_page *page, const char *folder, const mn_folder_node *node,
                           const budget *b)
{
    const int64_t count = count_of(node, false), shown = least(count, b->views);
    for (int64_t k = 0; k < shown; k++) {
        const mn_folder_frame *frame = frame_at(node, false, spread(k, count, b->views));
        char path[MN_PATH_SIZE];
        MN_TRY(join(page->session->ctx, folder, frame->geometry, path));
        if (k > 0) mn_json_text_put(&page->text, ",\n");
        MN_TRY(mn_page_view(page, path, frame->frame, b->triangles));
        MN_TRY(mn_check_cancelled(r->session->ctx));
    }
    return MN_OK;
}

static mn_status put_node(const report *r, mn_page *page, const char *folder, const mn_folder_node *node,
                          const budget *b)
{
    bool first = true;
    mn_json_text_put(&page->text, "{");
    mn_json_text_put_member(&page->text, &first, ", ", "name", node->name);
    mn_json_text_put(&page->text, ", \"frames\": [");
    for (int64_t i = 0; i < node->frames.count; i++) {
        if (i > 0) mn_json_text_put(&page->text, ", ");
        mn_json_text_put_number(&page->text, node->frames.data[i].frame);
    }
    mn_json_text_put(&page->text, "],\n\"pictures\": [");
    MN_TRY(put_pictures(page, folder, node, b->pictures));
    mn_json_text_put(&page->text, "],\n\"views\": [");
    MN_TRY(put_views(r, page, folder, node, b));
    mn_json_text_put(&page->text, "]}");
    return MN_OK;
}

/// Pictures of a cook without any, small, beside its frames.
static mn_status draw_pictures(const report *r, const char *folder, const mn_folder_node *node, int64_t most)
{
    const int64_t count = count_of(node, false), drawn = least(count, most);
    if (!r->draw || drawn == 0 || count_of(node, true) > 0) return MN_OK;
    mn_preview_sequence sequence = {.session = r->session, .def = mn_preview_default_def()};
    sequence.def.width = 480, sequence.def.height = 270;
    char path[MN_PATH_SIZE], name[MN_FOLDER_NAME + 16];
    mn_status status = MN_OK;
    for (int64_t k = 0; k < drawn && status == MN_OK; k++) {
        const mn_folder_frame *frame = frame_at(node, false, spread(k, count, most));
        status = join(r->session->ctx, folder, frame->geometry, path);
        if (status == MN_OK) status = mn_preview_sequence_add(&sequence, path, true, frame->frame);
    }
    snprintf(name, sizeof name, "%s.$F4.png", node->name);
    if (status == MN_OK) status = join(r->session->ctx, folder, name, path);
    if (status == MN_OK) {
        mn_progress_bar_begin(&r->session->bar, r->quiet, (double)drawn);
        status = mn_preview_sequence_draw(&sequence, path, NULL);
    }
    mn_preview_sequence_free(&sequence);
    if (status == MN_ERROR_CANCELLED || status == MN_ERROR_MEMORY) return status;
    if (status != MN_OK) // a frame that cannot be drawn does not spoil the page
        mn_session_say(r->session, "no pictures of %s: %s", node->name, mn_context_message(r->session->ctx));
    return MN_OK;
}

static mn_status put_folder(const report *r, mn_page *page, const char *path, const mn_folder *folder,
                            const budget *b)
{
    char file[MN_PATH_SIZE];
    bool first = true, first_note = true;
    mn_json_text_put(&page->text, "\"lines\": [");
    for (int64_t i = 0; i < folder->reports.count; i++) {
        MN_TRY(join(r->session->ctx, path, folder->reports.data[i].name, file));
        MN_TRY(put_lines(page, file, "node", b->lines, &first));
    }
    mn_json_text_put(&page->text, "],\n\"notes\": [");
    MN_TRY(join(r->session->ctx, path, "notes.jsonl", file));
    MN_TRY(put_lines(page, file, "text", b->lines, &first_note));
    mn_json_text_put(&page->text, "],\n\"nodes\": [");
    for (int64_t i = 0; i < folder->nodes.count; i++) {
        if (i > 0) mn_json_text_put(&page->text, ",\n");
        MN_TRY(put_node(r, page, path, &folder->nodes.data[i], b));
    }
    mn_json_text_put(&page->text, "]");
    return mn_page_flush(page);
}

/// Reads a cook's folder, draws what is missing, and puts it all in.
static mn_status put_cook(const report *r, mn_page *page, const char *path, const budget *b, bool *empty)
{
    mn_folder folder;
    mn_status status = mn_folder_read(r->session->ctx, path, &folder);
    for (int64_t i = 0; i < folder.nodes.count && status == MN_OK; i++)
        status = draw_pictures(r, path, &folder.nodes.data[i], least(b->pictures, DRAWN_FRAMES));
    mn_folder_free(&folder);
    MN_TRY(status);
    status = mn_folder_read(r->session->ctx, path, &folder);
    *empty = folder.nodes.count == 0 && folder.reports.count == 0;
    if (status == MN_OK) status = put_folder(r, page, path, &folder, b);
    mn_folder_free(&folder);
    return status;
}

static mn_status put_one_cook(const report *r, mn_page *page)
{
    bool empty;
    mn_json_text_put(&page->text, "{\"name\": \"\", ");
    MN_TRY(put_cook(r, page, r->folder, &of_a_cook, &empty));
    if (empty)
        return mn_fail(
            r->session->ctx, MN_ERROR_NOT_FOUND,
            "%s holds no frames, no report and no wedge; cook into it with 'meniscus cook SCENE -o %s --report "
            "%s/report.jsonl'.",
            r->folder, r->folder, r->folder);
    mn_json_text_put(&page->text, "}");
    return MN_OK;
}

// ---- a wedge ----

/// A value of the tree as text again.
static void put_value(mn_json_text *out, const mn_json_tree *json, const mn_json_tree_value *value)
{
    const bool object = value->kind == MN_JSON_TREE_OBJECT;
    bool first = true;
    switch (value->kind) {
    case MN_JSON_TREE_STRING:
        mn_json_text_put_string(out, value->string);
        break;
    case MN_JSON_TREE_NUMBER:
        mn_json_text_put_number(out, value->number);
        break;
    case MN_JSON_TREE_BOOL:
        mn_json_text_put(out, value->number != 0 ? "true" : "false");
        break;
    case MN_JSON_TREE_NULL:
        mn_json_text_put(out, "null");
        break;
    default:
        mn_json_text_put(out, object ? "{" : "[");
        for (const mn_json_tree_value *one = mn_json_tree_first(json, value); one;
             one = mn_json_tree_next(json, one)) {
            if (object)
                mn_json_text_put_key(out, &first, ", ", one->key);
            else if (!first)
                mn_json_text_put(out, ", ");
            first = false;
            put_value(out, json, one);
        }
        mn_json_text_put(out, object ? "}" : "]");
        break;
    }
}

/// What the table says of a member, but for its last report, whose lines are in its folder.
static void put_member(mn_json_text *out, const mn_json_tree *json, const mn_json_tree_value *member)
{
    bool first = true;
    mn_json_text_put(out, "{");
    for (const mn_json_tree_value *one = mn_json_tree_first(json, member); one;
         one = mn_json_tree_next(json, one)) {
        if (strcmp(one->key, "report") == 0) continue;
        mn_json_text_put_key(out, &first, ", ", one->key);
        put_value(out, json, one);
    }
    mn_json_text_put(out, "}");
}

static budget budget_of_a_member(int64_t members)
{
    budget b = {.pictures = members > MEMBERS_WITH_PICTURES ? 0 : 1 + 96 / members,
                .lines = 1 + 60000 / members};
    b.views = members > MEMBERS_WITH_VIEWS ? 0 : 1;
    b.triangles = MN_PAGE_TRIANGLES / 3;
    return b;
}

static mn_status put_members(const report *r, mn_page *page, const mn_json_tree *json, const char *path)
{
    const mn_json_tree_value *root = mn_json_tree_root(json);
    const mn_json_tree_value *members =
        root->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, root, "members") : NULL;
    if (!members || members->kind != MN_JSON_TREE_ARRAY || members->count == 0)
        return mn_fail(r->session->ctx, MN_ERROR_FORMAT, "%s: there are no members in this table.", path);
    const budget b = budget_of_a_member(members->count);
    bool first = true;
    for (const mn_json_tree_value *one = mn_json_tree_first(json, members); one;
         one = mn_json_tree_next(json, one)) {
        const mn_json_tree_value *name =
            one->kind == MN_JSON_TREE_OBJECT ? mn_json_tree_find(json, one, "name") : NULL;
        if (!name || name->kind != MN_JSON_TREE_STRING || !*name->string || strchr(name->string, '/'))
            return mn_fail(r->session->ctx, MN_ERROR_FORMAT, "%s, line %d: a member needs a name.", path,
                           (int)one->line);
        char folder[MN_PATH_SIZE];
        struct stat info;
        bool first_key = true, empty;
        MN_TRY(join(r->session->ctx, r->folder, name->string, folder));
        mn_json_text_put(&page->text, first ? "\n{" : ",\n{");
        first = false;
        mn_json_text_put_member(&page->text, &first_key, ", ", "name", name->string);
        mn_json_text_put(&page->text, ", \"member\": ");
        put_member(&page->text, json, one);
        mn_json_text_put(&page->text, ", ");
        if (stat(folder, &info) == 0 && S_ISDIR(info.st_mode))
            MN_TRY(put_cook(r, page, folder, &b, &empty));
        else // it has not begun
            mn_json_text_put(&page->text, "\"lines\": [], \"notes\": [], \"nodes\": []");
        mn_json_text_put(&page->text, "}");
        MN_TRY(mn_check_cancelled(r->session->ctx));
    }
    return MN_OK;
}

static mn_status put_wedge(const report *r, mn_page *page)
{
    mn_context *ctx = r->session->ctx;
    char path[MN_PATH_SIZE], *text;
    size_t size;
    mn_json_tree *json = NULL;
    MN_TRY(join(ctx, r->folder, "wedge.json", path));
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    if (!text) return mn_fail(ctx, MN_ERROR_NOT_FOUND, "%s: there is no such file.", path);
    mn_status status = mn_json_tree_read(ctx, text, size, path, &json);
    if (status == MN_OK) status = put_members(r, page, json, path);
    if (json) mn_json_tree_free(json);
    mn_release(ctx, text, size + 1);
    return status;
}

// ---- the page ----

static mn_status put_data(const report *r, mn_page *page)
{
    char made[64], folder[MN_PATH_SIZE];
    const time_t now = time(NULL);
    struct tm parts;
    bool first = true;
    if (!gmtime_r(&now, &parts) || strftime(made, sizeof made, "%Y-%m-%d %H:%M UTC", &parts) == 0)
        made[0] = 0;
    if (!mn_canonical_path(r->folder, folder)) snprintf(folder, sizeof folder, "%s", r->folder);
    mn_json_text_put(&page->text, "{");
    mn_json_text_put_member(&page->text, &first, ", ", "title", r->title ? r->title : basename(folder));
    mn_json_text_put_member(&page->text, &first, ", ", "folder", r->folder);
    mn_json_text_put_member(&page->text, &first, ", ", "kind", r->wedge ? "wedge" : "cook");
    mn_json_text_put_member(&page->text, &first, ", ", "made", made);
    mn_json_text_put_member(&page->text, &first, ", ", "version", MN_VERSION);
    mn_json_text_put(&page->text, ",\n\"cooks\": [");
    MN_TRY(r->wedge ? put_wedge(r, page) : put_one_cook(r, page));
    mn_json_text_put(&page->text, "]}");
    return mn_page_flush(page);
}

static mn_status write_page(report *r, const char *path)
{
    mn_page page = {.session = r->session, .text = {.ctx = r->session->ctx}, .picture_limit = PICTURE_BYTES};
    mn_folder found;
    mn_status status = mn_folder_read(r->session->ctx, r->folder, &found); // before a page is begun
    r->wedge = found.is_wedge;
    mn_folder_free(&found);
    MN_TRY(status);
    MN_TRY(mn_safe_file_open(r->session->ctx, path, &page.file));
    status = mn_safe_file_write(page.file, mn_page_before, mn_page_before_size);
    if (status == MN_OK) status = put_data(r, &page);
    if (status == MN_OK) status = mn_safe_file_write(page.file, mn_page_after, mn_page_after_size);
    mn_array_free(r->session->ctx, &page.text.bytes);
    mn_progress_bar_clear(&r->session->bar);
    if (status != MN_OK) {
        mn_safe_file_abandon(page.file);
        return status;
    }
    MN_TRY(mn_safe_file_commit(page.file));
    if (!r->quiet) mn_session_say(r->session, "%s; open it in a browser.", path);
    return MN_OK;
}

static int run(int argc, char **argv)
{
    mn_arguments arguments = {.command = &mn_report_command, .argc = argc, .argv = argv};
    const char *value, *output = NULL;
    report r = {.draw = true};
    mn_session_def def = {0};
    for (int32_t option; (option = mn_arguments_next(&arguments, &value)) != MN_ARGUMENT_END;) {
        if (option == MN_ARGUMENT_HELP) return mn_finish_output(&mn_report_command);
        if (option == MN_ARGUMENT_BAD) return MN_EXIT_USAGE;
        if (option == OPTION_OUTPUT) output = value;
        if (option == OPTION_TITLE) r.title = value;
        if (option == OPTION_NO_PICTURES) r.draw = false;
        if (option == OPTION_QUIET) r.quiet = true;
        if (option == OPTION_MEMORY && !mn_read_memory(&mn_report_command, value, &def)) return MN_EXIT_USAGE;
        if (option == OPTION_THREADS && !mn_read_threads(&mn_report_command, value, &def))
            return MN_EXIT_USAGE;
        if (option == OPTION_SCHEDULER && !mn_read_scheduler(&mn_report_command, value, &def))
            return MN_EXIT_USAGE;
        if (option == MN_ARGUMENT_WORD && r.folder)
            return mn_usage_error(&mn_report_command, "it takes one folder; got '%s' and '%s'.", r.folder,
                                  value);
        if (option == MN_ARGUMENT_WORD) r.folder = value;
    }
    if (!r.folder) return mn_usage_error(&mn_report_command, "which folder?");
    mn_catch_signals();
    mn_session session;
    char path[MN_PATH_SIZE];
    if (!mn_session_open(&session, &mn_report_command, &def)) return MN_EXIT_FAILED;
    r.session = &session;
    mn_status status = output ? MN_OK : join(session.ctx, r.folder, "report.html", path);
    if (status == MN_OK) status = write_page(&r, output ? output : path);
    const int code = mn_session_fail(&session, status);
    mn_session_close(&session);
    return code;
}

const mn_subcommand mn_report_command = {"report",
                                         "DIR [-o HTML]",
                                         "one page about a cook or a wedge, for a browser",
                                         options,
                                         MN_COUNT_OF_OPTIONS(options),
                                         run};
