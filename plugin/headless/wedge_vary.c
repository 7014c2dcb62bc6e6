// SPDX-License-Identifier: Apache-2.0
//
// Members of a wedge from what is varied. Each of these is an axis, and the members are the product of all
// axes:
//
//   node.parm=0.01,0.03,0.07      a list; the components of a vector have spaces between them
//   node.parm=0.01:0.07:4         v(i) = a + (b - a) i / (n - 1), i = 0 .. n - 1
//   node.parm=log:0.01:0.07:4     v(i) = a (b / a)^(i / (n - 1))
//   a CSV table                   a row each, with node.parm over the columns and perhaps a column `name`
//   all random parameters         a sample each, --samples of them
//     node.parm=random:a:b        v(i) = a + (b - a) u, u = H(seed, "node.parm", i) in [0, 1)
//     node.parm=lograndom:a:b     v(i) = a (b / a)^u
//   node.parm=seed                the member's own seed, H(seed, name): no axis
//
// So a sample depends on its number and on nothing else that is varied, and more samples keep those that were
// there. A member's name is made from its settings in alphabetical order: the order of axes and values means
// nothing.
#include "meniscus/stream.h"
#include "plugin/headless/wedge.h"
#include "plugin/host/network/spelling.h"
#include "plugin/host/network/text.h"
#include "plugin/json/number_text.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    NAME_LENGTH = 120,
    RANGE_DIGITS = 12,
    SHORT_DIGITS = 6
}; ///< of values that are nobody's own choice, for short names
static const char NAME_LETTERS[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._=,+-";
static const char SEED[] = "seed"; ///< the value that stands for the member's seed

/// Choices, each with a few settings and perhaps a name.
typedef MN_ARRAY(mn_wedge_member) wedge_axis;

static void free_axis(mn_context *ctx, wedge_axis *axis)
{
    for (int64_t i = 0; i < axis->count; i++) mn_wedge_free_member(ctx, &axis->data[i]);
    mn_array_free(ctx, axis);
}

static mn_status add_setting(mn_context *ctx, mn_wedge_member *choice, const char *path, const char *value)
{
    char text[MN_NUMBER_TEXT];
    double number;
    while (*value == ' ') value++;
    if (!mn_number_from_text(value, strlen(value), &number))
        return mn_wedge_add_setting(ctx, choice, path, value);
    mn_number_to_text(number, text);
    return mn_wedge_add_setting(ctx, choice, path, text);
}

static mn_status add_choice(mn_context *ctx, wedge_axis *axis, const char *path, const char *value)
{
    const mn_wedge_member empty = {0};
    if (axis->count >= MN_WEDGE_MEMBERS_MAX)
        return mn_fail(ctx, MN_ERROR_SCENE, "%s has more than %d values.", path ? path : "A table",
                       MN_WEDGE_MEMBERS_MAX);
    MN_TRY(mn_array_push(ctx, axis, &empty));
    return path ? add_setting(ctx, &axis->data[axis->count - 1], path, value) : MN_OK;
}

// ---- one --vary ----

typedef struct wedge_range {
    bool random, logarithmic;
    double a, b;
    int64_t count;
} wedge_range;

static double rounded(double value, int digits)
{
    if (value == 0 || !isfinite(value)) return value;
    const double scale = pow(10, digits - 1 - (int)floor(log10(fabs(value))));
    return isfinite(scale) && scale > 0 ? round(value * scale) / scale : value;
}

static double range_value(const wedge_range *range, double part)
{
    return range->logarithmic ? range->a * pow(range->b / range->a, part)
                              : range->a + (range->b - range->a) * part;
}

/// "0.01:0.07:4" with or without a word before it. False when it is a list.
static bool read_range(const char *text, wedge_range *range)
{
    static const struct {
        const char *word;
        bool random, logarithmic;
    } kinds[] = {
        {"random:", true, false}, {"lograndom:", true, true}, {"log:", false, true}, {"", false, false}};
    double numbers[3];
    int count = 0;
    memset(range, 0, sizeof *range);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strncmp(text, kinds[i].word, strlen(kinds[i].word)) == 0) {
            range->random = kinds[i].random, range->logarithmic = kinds[i].logarithmic;
            text += strlen(kinds[i].word);
            break;
        }
    for (bool more = true; more; count++) {
        const size_t length = strcspn(text, ":");
        if (count == 3 || !mn_number_from_text(text, length, &numbers[count])) return false;
        more = text[length] == ':';
        text += length + more;
    }
    if (count != (range->random ? 2 : 3)) return false;
    range->a = numbers[0], range->b = numbers[1];
    range->count = range->random ? 0 : (int64_t)fmin(numbers[2], MN_WEDGE_MEMBERS_MAX + 1.0);
    return range->random || (numbers[2] == floor(numbers[2]) && numbers[2] >= 1);
}

static mn_status check_range(mn_context *ctx, const char *word, const wedge_range *range)
{
    mn_shown shown;
    if (!range->logarithmic || (range->a > 0 && range->b > 0)) return MN_OK;
    return mn_fail(ctx, MN_ERROR_SCENE, "--vary %s: a logarithmic range needs limits above 0.",
                   mn_show(&shown, word));
}

static mn_status list_axis(mn_context *ctx, const char *path, const char *text, wedge_axis *axis)
{
    for (const char *at = text;; at++) {
        char value[1024];
        const size_t length = strcspn(at, ",");
        if (length >= sizeof value || length == 0)
            return mn_fail(ctx, MN_ERROR_SCENE, "--vary %s: a value is %s.", path,
                           length == 0 ? "missing" : "too long");
        snprintf(value, sizeof value, "%.*s", (int)length, at);
        MN_TRY(add_choice(ctx, axis, path, value));
        at += length;
        if (!*at) return MN_OK;
    }
}

static mn_status range_axis(mn_context *ctx, const char *path, const wedge_range *range, wedge_axis *axis)
{
    for (int64_t i = 0; i < range->count; i++) {
        char text[MN_NUMBER_TEXT];
        const double part = range->count > 1 ? (double)i / (double)(range->count - 1) : 0;
        const int digits = range->logarithmic && part > 0 && part < 1 ? SHORT_DIGITS : RANGE_DIGITS;
        mn_number_to_text(rounded(range_value(range, part), digits), text);
        MN_TRY(add_choice(ctx, axis, path, text));
    }
    return MN_OK;
}

/// Adds the parameter to every sample.
static mn_status add_random(mn_context *ctx, const char *path, const wedge_range *range, int64_t seed,
                            bool whole, wedge_axis *samples)
{
    const uint64_t stream = mn_hash_string((uint64_t)seed, path);
    for (int64_t i = 0; i < samples->count; i++) {
        char text[MN_NUMBER_TEXT];
        const double part = (double)(mn_hash_u64(stream, (uint64_t)i) >> 11) * 0x1p-53;
        const double value = range_value(range, part);
        mn_number_to_text(whole ? round(value) : rounded(value, SHORT_DIGITS), text);
        MN_TRY(add_setting(ctx, &samples->data[i], path, text));
    }
    return MN_OK;
}

// ---- a CSV table ----

/// The next cell, at most `size` bytes of it; *at moves behind its comma or stops at the line's end.
static bool next_cell(const char **at, char *cell, size_t size, bool *last)
{
    const char *c = *at;
    size_t length = 0;
    const bool quoted = *c == '"';
    if (quoted) c++;
    for (; *c; c++) {
        if (quoted && *c == '"' && c[1] != '"') break;
        if (quoted && *c == '"') c++;
        if (!quoted && strchr(",\r\n", *c)) break;
        if (length + 1 >= size) return false;
        cell[length++] = *c;
    }
    cell[length] = 0;
    if (quoted && *c++ != '"') return false;
    *last = *c != ',';
    if (*c == ',') c++;
    *at = c;
    return !*last || !*c || *c == '\r' || *c == '\n';
}

static mn_status fail_csv(mn_context *ctx, const char *path, int line, const char *what)
{
    return mn_fail(ctx, MN_ERROR_SCENE, "%s:%d: %s.", path, line, what);
}

static mn_status read_csv_row(mn_context *ctx, const char *path, int line, const char **at,
                              const mn_wedge_words *columns, wedge_axis *axis)
{
    char cell[1024];
    MN_TRY(add_choice(ctx, axis, NULL, NULL));
    mn_wedge_member *row = &axis->data[axis->count - 1];
    bool last = false;
    for (int64_t i = 0; i < columns->count; i++) {
        if (last) return fail_csv(ctx, path, line, "the row has fewer cells than the first one");
        if (!next_cell(at, cell, sizeof cell, &last))
            return fail_csv(ctx, path, line, "a cell cannot be read");
        const char *column = columns->data[i];
        if (strcmp(column, "name") == 0)
            MN_TRY(mn_text_set(ctx, &row->name, cell));
        else if (*cell) // an empty one leaves the scene's value
            MN_TRY(add_setting(ctx, row, column, cell));
    }
    return last ? MN_OK : fail_csv(ctx, path, line, "the row has more cells than the first one");
}

static mn_status parse_csv(mn_context *ctx, const char *path, const char *text, mn_wedge_words *columns,
                           wedge_axis *axis)
{
    static const char MARK[] = "\xef\xbb\xbf"; // that spreadsheets put first
    const char *at = strncmp(text, MARK, 3) == 0 ? text + 3 : text;
    char cell[1024];
    for (bool last = false; !last;) {
        if (!next_cell(&at, cell, sizeof cell, &last)) return fail_csv(ctx, path, 1, "a cell cannot be read");
        MN_TRY(mn_wedge_add_word(ctx, columns, cell));
    }
    for (int line = 2;; line++) {
        while (*at == '\r') at++;
        if (*at == '\n') at++;
        if (!*at) break;
        if (*at != '\r' && *at != '\n') MN_TRY(read_csv_row(ctx, path, line, &at, columns, axis));
    }
    return axis->count > 0 ? MN_OK : fail_csv(ctx, path, 1, "the table has no rows");
}

static mn_status csv_axis(mn_context *ctx, const char *path, wedge_axis *axis)
{
    char *text;
    size_t size;
    mn_wedge_words columns = {0};
    MN_TRY(mn_read_text(ctx, path, &text, &size));
    if (!text) return mn_fail(ctx, MN_ERROR_SCENE, "There is no table %s.", path);
    const mn_status status = parse_csv(ctx, path, text, &columns, axis);
    mn_release(ctx, text, size + 1);
    mn_wedge_free_words(ctx, &columns);
    return status;
}

// ---- names ----

static int compare_settings(const void *a, const void *b)
{
    return strcmp(((const mn_wedge_setting *)a)->path, ((const mn_wedge_setting *)b)->path);
}

/// The text as a folder's name: what other letters or its length take away, a hash brings back.
static void name_from_text(const char *text, char name[NAME_LENGTH + 1])
{
    size_t length = 0;
    const size_t most = NAME_LENGTH - 9;
    bool same = strlen(text) <= NAME_LENGTH;
    for (; text[length] && (same ? length < NAME_LENGTH : length < most); length++) {
        name[length] = text[length];
        if (strchr(NAME_LETTERS, text[length])) continue;
        name[length] = '_';
        if (text[length] != ' ') same = false;
        if (length >= most) break;
    }
    name[length] = 0;
    if (same) return;
    if (length > most) length = most;
    snprintf(name + length, 10, "-%08x", (unsigned)(mn_hash_string(0, text) & 0xffffffff));
}

/// Settings in order; its name unless a table told it; its seed.
static mn_status finish_member(mn_context *ctx, mn_wedge_member *member, const char *told, int64_t seed)
{
    mn_wedge_setting *settings = member->settings.data;
    const int64_t count = member->settings.count;
    char text[4096], name[NAME_LENGTH + 1];
    size_t length = (size_t)snprintf(text, sizeof text, "%s", told ? told : "");
    if (count > 1) qsort(settings, (size_t)count, sizeof *settings, compare_settings);
    for (int64_t i = 0; i < count; i++) {
        if (i > 0 && strcmp(settings[i - 1].path, settings[i].path) == 0)
            return mn_fail(ctx, MN_ERROR_SCENE, "%s is varied twice.", settings[i].path);
        if (told || strcmp(settings[i].value, SEED) == 0 || length >= sizeof text) continue;
        length += (size_t)snprintf(text + length, sizeof text - length, "%s%s=%s", length > 0 ? "," : "",
                                   settings[i].path, settings[i].value);
    }
    if (length == 0) snprintf(text, sizeof text, "as_it_is");
    name_from_text(text, name);
    if (told && (strcmp(name, told) != 0 || *told == '.' || mn_wedge_is_taken(told)))
        return mn_fail(
            ctx, MN_ERROR_SCENE,
            "The member's name '%s' cannot be that of a folder here; use letters, digits and . _ = , + -",
            name);
    MN_TRY(mn_text_set(ctx, &member->name, name));
    member->seed = (int32_t)(mn_hash_string((uint64_t)seed, name) >> 33);
    for (int64_t i = 0; i < count; i++) {
        if (strcmp(settings[i].value, SEED) != 0) continue;
        snprintf(text, sizeof text, "%d", (int)member->seed);
        MN_TRY(mn_text_set(ctx, &settings[i].value, text));
    }
    return MN_OK;
}

// ---- the product ----

typedef struct wedge_axes {
    wedge_axis axes[64];
    int count;
} wedge_axes;

static mn_status check_setting(mn_network *network, const mn_wedge_setting *setting)
{
    mn_shown shown;
    int32_t node, parm;
    const char *value = strcmp(setting->value, SEED) == 0 ? "0" : setting->value;
    mn_context *ctx = mn_network_context(network);
    mn_status status;
    if (strcmp(setting->path, "dx") == 0) { // of the whole network
        status = mn_network_set_dx(network, strtod(value, NULL));
    } else {
        status = mn_network_find_parm(network, setting->path, &node, &parm);
        if (status == MN_OK)
            status = mn_network_set_text(network, node, strchr(setting->path, '.') + 1, value);
        if (status == MN_OK) mn_warn_of_material(network, node, strchr(setting->path, '.') + 1);
    }
    if (status == MN_OK || status == MN_ERROR_MEMORY) return status;
    char sentence[1024];
    snprintf(sentence, sizeof sentence, "%s", mn_context_message(ctx));
    return mn_fail(ctx, MN_ERROR_SCENE, "%s=%s: %s", setting->path, mn_show(&shown, setting->value),
                   sentence);
}

static bool is_whole(const mn_network *network, const char *path)
{
    int32_t node, parm;
    return mn_network_find_parm(network, path, &node, &parm) == MN_OK &&
           mn_network_node_type(network, node)->parms[parm].kind == MN_PARM_INT;
}

static mn_status next_axis(mn_context *ctx, wedge_axes *axes, wedge_axis **axis)
{
    if (axes->count == (int)(sizeof axes->axes / sizeof *axes->axes))
        return mn_fail(ctx, MN_ERROR_SCENE, "Too much is varied at once; use a table with --csv.");
    *axis = &axes->axes[axes->count++];
    return MN_OK;
}

static mn_status read_axes(mn_context *ctx, const mn_network *network, const mn_wedge_variation *variation,
                           wedge_axes *axes)
{
    wedge_axis *axis, *samples = NULL;
    if (variation->csv) {
        MN_TRY(next_axis(ctx, axes, &axis));
        MN_TRY(csv_axis(ctx, variation->csv, axis));
    }
    for (int64_t i = 0; i < variation->vary.count; i++) {
        const char *word = variation->vary.data[i], *equals = strchr(word, '=');
        char path[512];
        wedge_range range;
        mn_shown shown;
        if (!equals || (size_t)(equals - word) >= sizeof path)
            return mn_fail(ctx, MN_ERROR_SCENE, "--vary %s: write it as node.parm=values.",
                           mn_show(&shown, word));
        snprintf(path, sizeof path, "%.*s", (int)(equals - word), word);
        if (!read_range(equals + 1, &range)) {
            MN_TRY(next_axis(ctx, axes, &axis));
            MN_TRY(list_axis(ctx, path, equals + 1, axis));
            continue;
        }
        MN_TRY(check_range(ctx, word, &range));
        if (!range.random) {
            MN_TRY(next_axis(ctx, axes, &axis));
            MN_TRY(range_axis(ctx, path, &range, axis));
            continue;
        }
        if (!samples) {
            MN_TRY(next_axis(ctx, axes, &samples));
            for (int64_t k = 0; k < variation->samples; k++) MN_TRY(add_choice(ctx, samples, NULL, NULL));
        }
        MN_TRY(add_random(ctx, path, &range, variation->seed, is_whole(network, path), samples));
    }
    return MN_OK;
}

static mn_status check_axes(mn_network *network, const wedge_axes *axes, int64_t *count)
{
    *count = 1;
    for (int i = 0; i < axes->count; i++) {
        const wedge_axis *axis = &axes->axes[i];
        *count *= axis->count;
        if (*count > MN_WEDGE_MEMBERS_MAX)
            return mn_fail(mn_network_context(network), MN_ERROR_SCENE,
                           "That would be more than %d members; vary less at once.", MN_WEDGE_MEMBERS_MAX);
        for (int64_t k = 0; k < axis->count; k++)
            for (int64_t s = 0; s < axis->data[k].settings.count; s++)
                MN_TRY(check_setting(network, &axis->data[k].settings.data[s]));
    }
    return MN_OK;
}

static mn_status make_member(mn_context *ctx, const wedge_axes *axes, int64_t number, int64_t seed,
                             mn_wedge_member *member)
{
    const char *told = NULL;
    for (int i = axes->count; i-- > 0;) {
        const wedge_axis *axis = &axes->axes[i];
        const mn_wedge_member *choice = &axis->data[number % axis->count];
        number /= axis->count;
        if (choice->name && axes->count > 1)
            return mn_fail(
                ctx, MN_ERROR_SCENE,
                "The table names its members, so nothing else can be varied beside it; leave out the "
                "column name.");
        if (choice->name) told = choice->name;
        for (int64_t s = 0; s < choice->settings.count; s++)
            MN_TRY(add_setting(ctx, member, choice->settings.data[s].path, choice->settings.data[s].value));
    }
    return finish_member(ctx, member, told, seed);
}

// ---- together with those that are there ----

typedef struct member_place {
    const char *name;
    int64_t at;
} member_place;

static int compare_places(const void *a, const void *b)
{
    const member_place *x = a, *y = b;
    const int order = strcmp(x->name, y->name);
    return order != 0 ? order : (x->at > y->at) - (x->at < y->at);
}

static bool same_settings(const mn_wedge_member *a, const mn_wedge_member *b)
{
    if (a->settings.count != b->settings.count) return false;
    for (int64_t i = 0; i < a->settings.count; i++)
        if (strcmp(a->settings.data[i].path, b->settings.data[i].path) != 0 ||
            strcmp(a->settings.data[i].value, b->settings.data[i].value) != 0)
            return false;
    return true;
}

/// Of members with one name the first stays.
static mn_status drop_doubles(mn_wedge *wedge, member_place *places)
{
    mn_wedge_member *members = wedge->members.data;
    const int64_t count = wedge->members.count;
    for (int64_t i = 0; i < count; i++) places[i] = (member_place){members[i].name, i};
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t i = 1, first = 0; i < count; i++) {
        const mn_wedge_member *a = &members[places[first].at], *b = &members[places[i].at];
        if (strcmp(a->name, b->name) != 0)
            first = i;
        else if (!same_settings(a, b))
            return mn_fail(wedge->ctx, MN_ERROR_SCENE,
                           "Two members with different settings would be called '%s'. Name them otherwise.",
                           a->name);
        else
            places[i].name = NULL;
    }
    for (int64_t i = 0; i < count; i++)
        if (!places[i].name) mn_wedge_free_member(wedge->ctx, &members[places[i].at]);
    wedge->members.count = 0;
    for (int64_t i = 0; i < count; i++)
        if (members[i].name) members[wedge->members.count++] = members[i];
    return MN_OK;
}

mn_status mn_wedge_vary(mn_wedge *wedge, mn_session *session, mn_network *network,
                        const mn_wedge_variation *variation, int64_t *added)
{
    mn_context *ctx = session->ctx;
    wedge_axes axes = {0};
    const int64_t before = wedge->members.count;
    int64_t count = 0;
    mn_status status = read_axes(ctx, network, variation, &axes);
    if (status == MN_OK) status = check_axes(network, &axes, &count);
    for (int64_t i = 0; i < count && status == MN_OK; i++) {
        mn_wedge_member member = {0};
        status = make_member(ctx, &axes, i, variation->seed, &member);
        if (status == MN_OK) status = mn_array_push(ctx, &wedge->members, &member);
        if (status != MN_OK) mn_wedge_free_member(ctx, &member);
    }
    for (int i = 0; i < axes.count; i++) free_axis(ctx, &axes.axes[i]);
    MN_TRY(status);
    MN_ARRAY(member_place) places = {0};
    MN_TRY(mn_array_resize(ctx, &places, wedge->members.count));
    status = drop_doubles(wedge, places.data);
    mn_array_free(ctx, &places);
    *added = wedge->members.count - before;
    return status;
}
