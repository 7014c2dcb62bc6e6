// SPDX-License-Identifier: Apache-2.0
//
// Numbers as text and back. strtod and printf follow the locale of the program around us (Blender and Houdini
// run in the user's), so the decimal point is exchanged on the way.
#include "plugin/host/number_text.h"

#include <locale.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Longer numbers than this are noise: a double needs 17 digits.

static const char *decimal_point(void)
{
    const char *point = localeconv()->decimal_point;
    return point && *point ? point : ".";
}

void mn_number_to_text(double value, char text[MN_NUMBER_TEXT])
{
    for (int digits = 15; digits <= 17; digits++) {
        snprintf(text, MN_NUMBER_TEXT, "%.*g", digits, value);
        if (strtod(text, NULL) == value) break;
    }
    const char *point = decimal_point();
    char *at = strstr(text, point);
    if (!at || strcmp(point, ".") == 0) return;
    *at = '.';
    memmove(at + 1, at + strlen(point), strlen(at + strlen(point)) + 1);
}

static const char *skip_digits(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') at++;
    return at;
}

// -? (0 | [1-9][0-9]*) (. [0-9]+)? ([eE] [+-]? [0-9]+)?
static bool is_json_number(const char *at, const char *end)
{
    if (at < end && *at == '-') at++;
    const char *whole = at;
    at = skip_digits(at, end);
    if (at == whole || (*whole == '0' && at - whole > 1)) return false;
    if (at < end && *at == '.') {
        const char *fraction = ++at;
        at = skip_digits(at, end);
        if (at == fraction) return false;
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        if (at < end && (*at == '+' || *at == '-')) at++;
        const char *exponent = at;
        at = skip_digits(at, end);
        if (at == exponent) return false;
    }
    return at == end;
}

// strtod of exactly these bytes; false when it does not want them all.
static bool convert(const char *text, size_t size, double *value)
{
    const char *point = decimal_point();
    const size_t point_length = strlen(point);
    char copy[MN_NUMBER_LONGEST + 32];
    if (size > MN_NUMBER_LONGEST || point_length > 16) return false;
    const char *dot = memchr(text, '.', size);
    const size_t before = dot ? (size_t)(dot - text) : size;
    memcpy(copy, text, before);
    size_t length = before;
    if (dot) {
        memcpy(copy + length, point, point_length);
        length += point_length;
        memcpy(copy + length, dot + 1, size - before - 1);
        length += size - before - 1;
    }
    copy[length] = '\0';
    char *end;
    *value = strtod(copy, &end);
    return length > 0 && end == copy + length;
}

bool mn_number_from_text(const char *text, size_t size, double *value)
{
    return is_json_number(text, text + size) && convert(text, size, value);
}

bool mn_numbers_from_text(const char *text, int32_t capacity, double *numbers, int32_t *count)
{
    static const char spaces[] = " \t", separators[] = ", \t";
    for (*count = 0; *count < capacity; ++*count) {
        text += strspn(text, spaces);
        // Kinder than JSON: "+1", ".5" and "1." are numbers too; "0x10", "inf" and "nan" are not.
        const size_t size = strcspn(text, separators);
        if (strspn(text, "0123456789+-.eE") < size || !convert(text, size, &numbers[*count])) return false;
        text += size;
        text += strspn(text, spaces);
        if (*text == ',')
            text++;
        else if (!*text)
            break;
    }
    return ++*count <= capacity;
}
