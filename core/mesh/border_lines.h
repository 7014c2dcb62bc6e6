// SPDX-License-Identifier: Apache-2.0
//
// Borders of films as lines (border_lines.c).
#ifndef MENISCUS_MESH_BORDER_LINES_H
#define MENISCUS_MESH_BORDER_LINES_H

#include "meniscus/array.h"
#include "mesh/film_skin.h"

typedef struct mn_border_lines {
    MN_ARRAY(int64_t) start; ///< [lines + 1], of each line in `point`
    MN_ARRAY(int32_t) point; ///< of the sheet, in order; a closed line ends with its first point
} mn_border_lines;

void mn_border_lines_free(mn_context *ctx, mn_border_lines *lines);
/// The borders of the sheet, where three films or more meet, from point to point.
mn_status mn_border_lines_find(mn_context *ctx, const mn_film_sheet *sheet, mn_border_lines *lines);

#endif
