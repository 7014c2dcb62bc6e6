// SPDX-License-Identifier: Apache-2.0
//
// Paths of sequences: $F stands for the frame and $F4 for the frame with at least four digits; ${F} and ${F4}
// are the same where letters or digits follow.
#include "nodes/node.h"

#include <math.h>
#include <stdio.h>

// The length of a frame variable at the start of `text`, with its digits; 0 when there is none.
static size_t frame_variable(const char *text, int *digits)
{
    if (text[0] != '$') return 0;
    const bool braced = text[1] == '{';
    size_t at = braced ? 2 : 1;
    if (text[at] != 'F') return 0;
    at++;
    *digits = 1;
    if (text[at] >= '1' && text[at] <= '9') *digits = text[at++] - '0';
    if (braced && text[at] != '}') return 0;
    return braced ? at + 1 : at;
}

bool mn_path_is_sequence(const char *path)
{
    int digits;
    for (const char *at = path; *at; at++)
        if (frame_variable(at, &digits) > 0) return true;
    return false;
}

bool mn_path_at_frame(const char *path, double frame, char out[MN_PATH_LIMIT])
{
    const long long whole = (long long)floor(frame + 0.5);
    size_t length = 0;
    while (*path) {
        int digits, written = 1;
        const size_t variable = frame_variable(path, &digits);
        if (variable > 0)
            written = snprintf(out + length, MN_PATH_LIMIT - length, "%0*lld", digits, whole);
        else
            out[length] = *path;
        path += variable > 0 ? variable : 1;
        length += (size_t)written;
        if (length >= MN_PATH_LIMIT) return false;
    }
    out[length] = '\0';
    return true;
}
