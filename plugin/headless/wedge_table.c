// SPDX-License-Identifier: Apache-2.0
//
// The table of all members, as JSON and as CSV: settings, state, and the last line of each report. It is made
// from plan.json and the members' files alone and can be made again at any time.
#define _POSIX_C_SOURCE 200809L
#include "plugin/headless/wedge.h"
#include "plugin/host/network/text.h"
#include "plugin/json/number_text.h"
#include "plugin/json/tree.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { TAIL = 1 << 16 }; ///< bytes of a report that hold its last frame

/// A number of one member's last report, under the number of its column.
typedef struct table_cell {
    int64_t member, column;
    double number;
} table_cell;

typedef struct wedge_table {
    const mn_wedge *wedge;
    mn_json_text json;
    mn_wedge_words parameters; ///< paths of all that is varied
    mn_wedge_words columns;    ///< "node.quantity", in the order in which they come
    MN_ARRAY(table_cell) cells;
    MN_ARRAY(mn_member_status) status;
} wedge_table;

static mn_status column_of(mn_context *ctx, mn_wedge_words *columns, const char *name, int64_t *column)
{
    for (*column = 0; *column < columns->count; ++*column)
        if (strcmp(columns->data[*column], name) == 0) return MN_OK;
    return mn_wedge_add_word(ctx, columns, name);
}

// ---- reports ----

static mn_status add_cell(wedge_table *table, int64_t member, const char *name, double number)
{
    table_cell cell = {.member = member, .number = number};
    MN_TRY(column_of(table->wedge->ctx, &table->columns, name, &cell.column));
    return mn_array_push(table->wedge->ctx, &table->cells, &cell);
}

/// Numbers of a line of the report; of vectors their components, of `seconds` its phases.
static mn_status add_cells(wedge_table *table, int64_t member, const mn_json_tree *json,
                           const mn_json_tree_value *in, const char *prefix, int depth)
{
    static const char *const axes[] = {"x", "y", "z", "w"};
    int number = 0;
    for (const mn_json_tree_value *value = mn_json_tree_first(json, in); value;
         value = mn_json_tree_next(json, value), number++) {
        char name[512];
        if (!value->key && number >= 4) break;
        snprintf(name, sizeof name, "%s.%s", prefix, value->key ? value->key : axes[number]);
        if (value->kind == MN_JSON_TREE_NUMBER)
            MN_TRY(add_cell(table, member, name, value->number));
        else if ((value->kind == MN_JSON_TREE_ARRAY || value->kind == MN_JSON_TREE_OBJECT) && depth < 2)
            MN_TRY(add_cells(table, member, json, value, name, depth + 1));
    }
    return MN_OK;
}

/// A line of the report goes into the JSON as it stands. *frame: only lines of this one; of the first that is
/// seen when it is NAN.
static mn_status add_line(wedge_table *table, int64_t member, const char *line, size_t size, double *frame,
                          bool *have, bool *more)
{
    mn_context *ctx = table->wedge->ctx;
    mn_json_tree *json = NULL;
    mn_status status = mn_json_tree_read(ctx, line, size, "report", &json);
    if (status != MN_OK)
        return status == MN_ERROR_MEMORY ? status : MN_OK; // half a line of a process that was killed
    const mn_json_tree_value *root = mn_json_tree_root(json);
    const mn_json_tree_value *node = NULL, *at = NULL;
    if (root->kind == MN_JSON_TREE_OBJECT) {
        node = mn_json_tree_find(json, root, "node");
        at = mn_json_tree_find(json, root, "frame");
    }
    const bool good = node && at && node->kind == MN_JSON_TREE_STRING && at->kind == MN_JSON_TREE_NUMBER;
    if (good && !*have) *frame = at->number;
    if (good && *frame == at->number) {
        bool first = !*have;
        mn_json_text_put_key(&table->json, &first, ", ", node->string);
        char *text = mn_allocate(ctx, size + 1);
        if (text) {
            memcpy(text, line, size);
            text[size] = 0;
            mn_json_text_put(&table->json, text);
            mn_release(ctx, text, size + 1);
        }
        status = text ? add_cells(table, member, json, root, node->string, 0) : MN_ERROR_MEMORY;
    } else if (good) {
        *more = false;
    }
    *have = *have || good;
    mn_json_tree_free(json);
    return status;
}

/// The lines of the last frame, from the end.
static mn_status add_report(wedge_table *table, int64_t member)
{
    char path[MN_PATH_SIZE], bytes[TAIL];
    MN_TRY(mn_wedge_path(table->wedge, &table->wedge->members.data[member], "report.jsonl", path));
    size_t end = mn_read_tail(path, bytes, TAIL);
    while (end > 0 && bytes[end - 1] != '\n') end--;
    double frame = 0;
    bool have = false, more = true;
    while (end > 0 && more) {
        size_t begin = end - 1;
        while (begin > 0 && bytes[begin - 1] != '\n') begin--;
        if (end - 1 > begin)
            MN_TRY(add_line(table, member, bytes + begin, end - 1 - begin, &frame, &have, &more));
        end = begin;
    }
    return MN_OK;
}

// ---- JSON ----

static mn_status add_member(wedge_table *table, int64_t number)
{
    const mn_wedge_member *member = &table->wedge->members.data[number];
    mn_json_text *out = &table->json;
    bool first = true, first_setting = true;
    mn_member_status status;
    MN_TRY(mn_member_look(table->wedge, member, &status));
    MN_TRY(mn_array_push(table->wedge->ctx, &table->status, &status));
    mn_json_text_put(out, "{");
    mn_json_text_put_member(out, &first, ", ", "name", member->name);
    mn_wedge_put_number(out, &first, ", ", "seed", member->seed);
    mn_json_text_put_key(out, &first, ", ", "parameters");
    mn_json_text_put(out, "{");
    for (int64_t i = 0; i < member->settings.count; i++) {
        const mn_wedge_setting *setting = &member->settings.data[i];
        double value;
        int64_t column;
        MN_TRY(column_of(table->wedge->ctx, &table->parameters, setting->path, &column));
        if (mn_number_from_text(setting->value, strlen(setting->value), &value))
            mn_wedge_put_number(out, &first_setting, ", ", setting->path, value);
        else
            mn_json_text_put_member(out, &first_setting, ", ", setting->path, setting->value);
    }
    mn_json_text_put(out, "}");
    mn_json_text_put_member(out, &first, ", ", "state", mn_member_state_name(status.state));
    mn_wedge_put_number(out, &first, ", ", "tries", status.tries);
    mn_wedge_put_number(out, &first, ", ", "seconds", status.seconds);
    mn_wedge_put_number(out, &first, ", ", "frames", status.frames);
    mn_json_text_put_member(out, &first, ", ", "host", status.host);
    mn_json_text_put_member(out, &first, ", ", "error", status.error);
    mn_json_text_put_key(out, &first, ", ", "report");
    mn_json_text_put(out, "{");
    MN_TRY(add_report(table, number));
    mn_json_text_put(out, "}}");
    return MN_OK;
}

static mn_status build(wedge_table *table)
{
    const mn_wedge *wedge = table->wedge;
    mn_json_text *out = &table->json;
    bool first = true;
    mn_json_text_put(out, "{\n  ");
    mn_json_text_put_key(out, &first, ",\n  ", "meniscus_wedge");
    mn_json_text_put(out, "1");
    mn_json_text_put_member(out, &first, ",\n  ", "source", wedge->source);
    mn_json_text_put_key(out, &first, ",\n  ", "frames");
    mn_json_text_put(out, "{");
    bool first_number = true;
    mn_wedge_put_number(out, &first_number, ", ", "first", wedge->first);
    mn_wedge_put_number(out, &first_number, ", ", "last", wedge->last);
    mn_wedge_put_number(out, &first_number, ", ", "step", wedge->step);
    mn_wedge_put_number(out, &first_number, ", ", "count", mn_wedge_frame_count(wedge));
    mn_json_text_put(out, "}");
    mn_wedge_put_words(out, &first, "targets", &wedge->targets);
    mn_json_text_put_key(out, &first, ",\n  ", "members");
    mn_json_text_put(out, "[");
    for (int64_t i = 0; i < wedge->members.count; i++) {
        mn_json_text_put(out, i > 0 ? ",\n    " : "\n    ");
        MN_TRY(add_member(table, i));
    }
    mn_json_text_put(out, "\n  ]");
    mn_wedge_put_words(out, &first, "parameters", &table->parameters);
    mn_json_text_put(out, "\n}\n");
    return out->status;
}

// ---- CSV ----

static void put_cell(mn_json_text *out, const char *text)
{
    if (!strpbrk(text, ",\"\r\n")) {
        mn_json_text_put(out, text);
        return;
    }
    mn_json_text_put(out, "\"");
    for (char one[2] = {0}; *text; text++) {
        one[0] = *text;
        mn_json_text_put(out, *text == '"' ? "\"\"" : one);
    }
    mn_json_text_put(out, "\"");
}

static void put_csv_number(mn_json_text *out, double number)
{
    char text[MN_NUMBER_TEXT];
    mn_number_to_text(number, text);
    mn_json_text_put(out, ",");
    mn_json_text_put(out, text);
}

static void put_csv_row(const wedge_table *table, mn_json_text *out, int64_t row, int64_t *cell)
{
    const mn_wedge_member *member = &table->wedge->members.data[row];
    const mn_member_status *status = &table->status.data[row];
    put_cell(out, member->name);
    for (int64_t i = 0; i < table->parameters.count; i++) {
        mn_json_text_put(out, ",");
        for (int64_t k = 0; k < member->settings.count; k++)
            if (strcmp(member->settings.data[k].path, table->parameters.data[i]) == 0)
                put_cell(out, member->settings.data[k].value);
    }
    mn_json_text_put(out, ",");
    mn_json_text_put(out, mn_member_state_name(status->state));
    put_csv_number(out, status->tries);
    put_csv_number(out, status->seconds);
    put_csv_number(out, status->frames);
    mn_json_text_put(out, ",");
    put_cell(out, status->error);
    const int64_t begin = *cell;
    while (*cell < table->cells.count && table->cells.data[*cell].member == row) ++*cell;
    for (int64_t i = 0; i < table->columns.count; i++) {
        int64_t at = begin;
        while (at < *cell && table->cells.data[at].column != i) at++;
        if (at < *cell)
            put_csv_number(out, table->cells.data[at].number);
        else
            mn_json_text_put(out, ",");
    }
    mn_json_text_put(out, "\n");
}

static mn_status csv_text(const wedge_table *table, char **text)
{
    mn_json_text out = {.ctx = table->wedge->ctx};
    int64_t cell = 0;
    mn_json_text_put(&out, "name");
    for (int64_t i = 0; i < table->parameters.count; i++) {
        mn_json_text_put(&out, ",");
        put_cell(&out, table->parameters.data[i]);
    }
    mn_json_text_put(&out, ",state,tries,seconds,frames,error");
    for (int64_t i = 0; i < table->columns.count; i++) {
        mn_json_text_put(&out, ",");
        put_cell(&out, table->columns.data[i]);
    }
    mn_json_text_put(&out, "\n");
    for (int64_t i = 0; i < table->wedge->members.count; i++) put_csv_row(table, &out, i, &cell);
    return mn_json_text_finish(&out, text);
}

mn_status mn_wedge_table_texts(const mn_wedge *wedge, char **json, char **csv,
                               int64_t counts[MN_MEMBER_STATES])
{
    wedge_table table = {.wedge = wedge, .json = {.ctx = wedge->ctx}};
    *csv = NULL;
    mn_status status = build(&table);
    const mn_status finished = mn_json_text_finish(&table.json, json);
    if (status == MN_OK) status = finished;
    if (status == MN_OK) status = csv_text(&table, csv);
    memset(counts, 0, sizeof *counts * MN_MEMBER_STATES);
    for (int64_t i = 0; i < table.status.count; i++) counts[table.status.data[i].state]++;
    mn_wedge_free_words(wedge->ctx, &table.parameters);
    mn_wedge_free_words(wedge->ctx, &table.columns);
    mn_array_free(wedge->ctx, &table.cells);
    mn_array_free(wedge->ctx, &table.status);
    return status;
}

static mn_status write_file(const mn_wedge *wedge, const char *name, const char *text)
{
    char path[MN_PATH_SIZE];
    MN_TRY(mn_wedge_path(wedge, NULL, name, path));
    return mn_write_text(wedge->ctx, path, text);
}

mn_status mn_wedge_write_tables(const mn_wedge *wedge, int64_t counts[MN_MEMBER_STATES])
{
    char *json, *csv;
    int lock = -1;
    mn_status status = mn_wedge_table_texts(wedge, &json, &csv, counts);
    if (status == MN_OK) status = mn_wedge_lock(wedge, ".tables", &lock);
    if (status == MN_OK) status = write_file(wedge, "wedge.json", json);
    if (status == MN_OK) status = write_file(wedge, "wedge.csv", csv);
    if (lock >= 0) close(lock);
    mn_scene_free_text(wedge->ctx, json);
    mn_scene_free_text(wedge->ctx, csv);
    return status;
}
