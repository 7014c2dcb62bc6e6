// SPDX-License-Identifier: Apache-2.0
//
// A pattern is words with blanks or commas between them, taken from left to right:
//
//   name      point and primitive groups of that name; * stands for any letters, ? for one
//   7  0-9  0-9:2   elements by number, the last every second one: primitives, or points where there are none
//   !word  ^word    takes away what the word chooses; the first word like that starts from everything
//
// Points bring the primitives that have all corners among them, primitives bring their points. What is taken
// away by points takes every primitive with a corner among them, so that a group and its opposite never share
// a primitive.
#include "geo/select.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WORD_LIMIT = 256 };

typedef struct selection {
    const mn_geo *geo;
    uint8_t *points, *primitives;
} selection;

static bool matches(const char *pattern, const char *name)
{
    // The last star and where it stands for letters up to: one of them is enough to go back to.
    const char *star = NULL, *from = NULL;
    while (*name) {
        if (*pattern == '*')
            star = pattern++, from = name;
        else if (*pattern == '?' || *pattern == *name)
            pattern++, name++;
        else if (star)
            pattern = star + 1, name = ++from;
        else
            return false;
    }
    while (*pattern == '*') pattern++;
    return *pattern == 0;
}

static void take_points(selection *s, const uint8_t *members, bool add)
{
    const int64_t *starts = mn_geo_primitive_starts(s->geo), *corners = mn_geo_vertex_points(s->geo);
    for (int64_t i = 0; i < mn_geo_point_count(s->geo); i++)
        if (members[i]) s->points[i] = add;
    for (int64_t p = 0; p < mn_geo_primitive_count(s->geo); p++) {
        int64_t inside = 0;
        for (int64_t v = starts[p]; v < starts[p + 1]; v++) inside += members[corners[v]] != 0;
        if (add ? inside == starts[p + 1] - starts[p] && inside > 0 : inside > 0) s->primitives[p] = add;
    }
}

static void take_primitive(selection *s, int64_t p, bool add)
{
    const int64_t *starts = mn_geo_primitive_starts(s->geo), *corners = mn_geo_vertex_points(s->geo);
    s->primitives[p] = add;
    for (int64_t v = starts[p]; v < starts[p + 1]; v++) s->points[corners[v]] = add;
}

static void take_primitives(selection *s, const uint8_t *members, bool add)
{
    for (int64_t p = 0; p < mn_geo_primitive_count(s->geo); p++)
        if (members[p]) take_primitive(s, p, add);
}

/// "7", "0-9" or "0-9:2"; false when the word is not a number.
static bool read_numbers(const char *word, int64_t *first, int64_t *last, int64_t *step)
{
    char *end;
    if (!isdigit((unsigned char)*word)) return false;
    *first = *last = strtoll(word, &end, 10), *step = 1;
    if (*end == '-' && isdigit((unsigned char)end[1])) *last = strtoll(end + 1, &end, 10);
    if (*end == ':' && isdigit((unsigned char)end[1])) *step = strtoll(end + 1, &end, 10);
    return *end == 0 && *step > 0;
}

static void take_numbers(selection *s, int64_t first, int64_t last, int64_t step, bool add)
{
    const bool primitives = mn_geo_primitive_count(s->geo) > 0;
    const int64_t count = primitives ? mn_geo_primitive_count(s->geo) : mn_geo_point_count(s->geo);
    for (int64_t i = first; i <= last && i < count; i += step < count ? step : count) {
        if (primitives)
            take_primitive(s, i, add);
        else
            s->points[i] = add;
    }
}

/// How many groups of the name there are.
static int32_t take_groups(selection *s, const char *name, bool add)
{
    int32_t found = 0;
    for (int32_t i = 0; i < mn_geo_group_count(s->geo, MN_POINT); i++) {
        const mn_group *group = mn_geo_group_at(s->geo, MN_POINT, i);
        if (!matches(name, mn_group_name(group))) continue;
        take_points(s, mn_group_data(group), add);
        found++;
    }
    for (int32_t i = 0; i < mn_geo_group_count(s->geo, MN_PRIMITIVE); i++) {
        const mn_group *group = mn_geo_group_at(s->geo, MN_PRIMITIVE, i);
        if (!matches(name, mn_group_name(group))) continue;
        take_primitives(s, mn_group_data(group), add);
        found++;
    }
    return found;
}

static mn_status fail_unknown(const mn_geo *geo, const char *word)
{
    static const mn_owner owners[] = {MN_POINT, MN_PRIMITIVE};
    char names[512];
    size_t used = 0;
    names[0] = 0;
    for (int k = 0; k < 2; k++)
        for (int32_t i = 0; i < mn_geo_group_count(geo, owners[k]) && used < sizeof names - 1; i++) {
            const int more = snprintf(names + used, sizeof names - used, "%s%.60s", used ? ", " : "",
                                      mn_group_name(mn_geo_group_at(geo, owners[k], i)));
            used += more > 0 ? (size_t)more : 0;
        }
    if (used == 0)
        return mn_fail(
            mn_geo_context(geo), MN_ERROR_INPUT,
            "there is no group '%s': the input has no groups; leave group empty to take all of it.", word);
    return mn_fail(mn_geo_context(geo), MN_ERROR_INPUT, "there is no group '%s'; the input has %s.", word,
                   names);
}

static mn_status take_word(selection *s, const char *word, bool is_first)
{
    const bool add = *word != '!' && *word != '^';
    int64_t first, last, step;
    if (!add) word++;
    if (!add && is_first) {
        memset(s->points, 1, (size_t)mn_geo_point_count(s->geo));
        memset(s->primitives, 1, (size_t)mn_geo_primitive_count(s->geo));
    }
    if (read_numbers(word, &first, &last, &step))
        take_numbers(s, first, last, step, add);
    else if (take_groups(s, word, add) == 0)
        return fail_unknown(s->geo, word);
    return MN_OK;
}

mn_status mn_geo_select(const mn_geo *geo, const char *pattern, uint8_t *points, uint8_t *primitives)
{
    static const char BLANKS[] = " \t\n,";
    selection s = {geo, points, primitives};
    const char *at = pattern + strspn(pattern, BLANKS);
    const uint8_t all = *at == 0;
    if (mn_geo_point_count(geo) > 0) memset(points, all, (size_t)mn_geo_point_count(geo));
    if (mn_geo_primitive_count(geo) > 0) memset(primitives, all, (size_t)mn_geo_primitive_count(geo));
    for (bool is_first = true; *at; is_first = false) {
        const size_t length = strcspn(at, BLANKS);
        char word[WORD_LIMIT];
        if (length >= sizeof word)
            return mn_fail(mn_geo_context(geo), MN_ERROR_INPUT, "a name in group is longer than %d letters.",
                           WORD_LIMIT - 1);
        memcpy(word, at, length);
        word[length] = 0;
        MN_TRY(take_word(&s, word, is_first));
        at += length;
        at += strspn(at, BLANKS);
    }
    // Points that were taken away with a neighbour stay where a chosen primitive needs them.
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        if (primitives[p]) take_primitive(&s, p, true);
    return MN_OK;
}
