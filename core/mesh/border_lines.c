// SPDX-License-Identifier: Apache-2.0
//
// Where three films or more meet: edges with as many triangles, strung together into lines that end where
// other than two of them meet. What is left after that are closed lines.
#include "mesh/border_lines.h"

#include <stdlib.h>

typedef struct border_edge {
    int32_t low, high;
} border_edge;

/// Border edges, and those at each point.
typedef struct border_graph {
    MN_ARRAY(border_edge) all, edges;
    MN_ARRAY(int64_t) start; ///< [points + 1]
    MN_ARRAY(int64_t) at;    ///< edges by point
    MN_ARRAY(uint8_t) used;  ///< by edge
} border_graph;

void mn_border_lines_free(mn_context *ctx, mn_border_lines *lines)
{
    mn_array_free(ctx, &lines->start);
    mn_array_free(ctx, &lines->point);
}

static int by_ends(const void *first, const void *second)
{
    const border_edge *a = first, *b = second;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    return (a->high > b->high) - (a->high < b->high);
}

static mn_status find_edges(mn_context *ctx, const mn_film_sheet *sheet, border_graph *g)
{
    MN_TRY(mn_array_resize(ctx, &g->all, 3 * sheet->triangle_count));
    for (int64_t i = 0; i < g->all.count; i++) {
        const int32_t a = sheet->triangles[i / 3][i % 3], b = sheet->triangles[i / 3][(i + 1) % 3];
        g->all.data[i] = (border_edge){a < b ? a : b, a < b ? b : a};
    }
    if (g->all.count > 1) qsort(g->all.data, (size_t)g->all.count, sizeof *g->all.data, by_ends);
    for (int64_t i = 0, end; i < g->all.count; i = end) {
        for (end = i + 1; end < g->all.count && by_ends(&g->all.data[i], &g->all.data[end]) == 0;) end++;
        if (end - i >= 3 && g->all.data[i].low != g->all.data[i].high)
            MN_TRY(mn_array_push(ctx, &g->edges, &g->all.data[i]));
    }
    return MN_OK;
}

static mn_status list_by_point(mn_context *ctx, int64_t count, border_graph *g)
{
    MN_TRY(mn_array_resize(ctx, &g->start, count + 1));
    MN_TRY(mn_array_resize(ctx, &g->at, 2 * g->edges.count));
    MN_TRY(mn_array_resize(ctx, &g->used, g->edges.count));
    for (int64_t v = 0; v <= count; v++) g->start.data[v] = 0;
    for (int64_t e = 0; e < g->edges.count; e++) {
        g->used.data[e] = 0;
        g->start.data[g->edges.data[e].low + 1]++, g->start.data[g->edges.data[e].high + 1]++;
    }
    for (int64_t v = 0; v < count; v++) g->start.data[v + 1] += g->start.data[v];
    for (int64_t e = g->edges.count - 1; e >= 0; e--) { // from the back: each start ends where it belongs
        g->at.data[--g->start.data[g->edges.data[e].low + 1]] = e;
        g->at.data[--g->start.data[g->edges.data[e].high + 1]] = e;
    }
    for (int64_t v = 0; v < count; v++) g->start.data[v] = g->start.data[v + 1];
    g->start.data[count] = 2 * g->edges.count;
    return MN_OK;
}

static mn_status follow(mn_context *ctx, border_graph *g, int32_t from, int64_t edge, mn_border_lines *lines)
{
    MN_TRY(mn_array_push(ctx, &lines->start, &lines->point.count));
    MN_TRY(mn_array_push(ctx, &lines->point, &from));
    int32_t at = from;
    while (edge >= 0) {
        g->used.data[edge] = 1;
        at = g->edges.data[edge].low == at ? g->edges.data[edge].high : g->edges.data[edge].low;
        MN_TRY(mn_array_push(ctx, &lines->point, &at));
        edge = -1;
        if (g->start.data[at + 1] - g->start.data[at] != 2) break;
        for (int64_t i = g->start.data[at]; i < g->start.data[at + 1]; i++)
            if (!g->used.data[g->at.data[i]]) edge = g->at.data[i];
    }
    return MN_OK;
}

mn_status mn_border_lines_find(mn_context *ctx, const mn_film_sheet *sheet, mn_border_lines *lines)
{
    border_graph g = {0};
    mn_status status = MN_OK;
    lines->start.count = lines->point.count = 0;
    MN_TRY_TO(out, status, find_edges(ctx, sheet, &g));
    MN_TRY_TO(out, status, list_by_point(ctx, sheet->count, &g));
    for (int round = 0; round < 2; round++) // first those that end somewhere, then those that do not
        for (int32_t v = 0; v < (int32_t)sheet->count; v++)
            for (int64_t i = g.start.data[v]; i < g.start.data[v + 1]; i++)
                if (!g.used.data[g.at.data[i]] && (round == 1 || g.start.data[v + 1] - g.start.data[v] != 2))
                    MN_TRY_TO(out, status, follow(ctx, &g, v, g.at.data[i], lines));
    MN_TRY_TO(out, status, mn_array_push(ctx, &lines->start, &lines->point.count));
out:
    mn_array_free(ctx, &g.all);
    mn_array_free(ctx, &g.edges);
    mn_array_free(ctx, &g.start);
    mn_array_free(ctx, &g.at);
    mn_array_free(ctx, &g.used);
    return status;
}
