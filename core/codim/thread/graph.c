// SPDX-License-Identifier: Apache-2.0
//
// Which points of threads follow each other.
//
// Two points may be linked when they are within reach and either lie along each other's direction or touch.
// Of the pairs that may, a pair is linked when no third point that may be linked to one of them is nearer to
// both (the relative neighbourhood graph [toussaint1980]): along an even thread these are the neighbours
// in turn, where threads meet they branch, and threads that pass each other do not see one another. Equal
// distances are ordered by the points' numbers, so that no three points link in a ring.
//
// The free end of a thread hangs on the nearest point of a film ahead of it.
#include "codim/thread/graph.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 256 };
static const double ALONG = 0.6;    // least cosine between a link and the directions at its ends
static const double TOUCHING = 0.6; // spacings: as near as drops fall in
static const double AHEAD = 0.3;    // least cosine to the film that an end hangs on
static const double PI = MN_PI;

mn_status mn_codim_thread_graph_create(mn_context *ctx, mn_codim_thread_graph *graph)
{
    memset(graph, 0, sizeof *graph);
    graph->ctx = ctx;
    return mn_neighbours_create(ctx, &graph->neighbours);
}

static void free_shape(mn_context *ctx, mn_codim_thread_shape *shape)
{
    mn_array_free(ctx, &shape->pieces);
    mn_array_free(ctx, &shape->beads);
}

void mn_codim_thread_graph_free(mn_codim_thread_graph *g)
{
    if (!g->ctx) return;
    mn_neighbours_free(g->neighbours);
    mn_array_free(g->ctx, &g->nodes);
    mn_array_free(g->ctx, &g->links);
    mn_array_free(g->ctx, &g->node_of);
    free_shape(g->ctx, &g->shape);
    free_shape(g->ctx, &g->trial);
    mn_array_free(g->ctx, &g->positions);
    mn_array_free(g->ctx, &g->directions);
    mn_array_free(g->ctx, &g->edges);
    mn_array_free(g->ctx, &g->chosen);
    memset(g, 0, sizeof *g);
}

// ---- nodes ----

static mn_status list_nodes(mn_codim_thread_graph *g, const mn_codim_thread_points *points)
{
    g->nodes.count = g->links.count = 0;
    g->positions.count = g->directions.count = 0;
    MN_TRY(mn_array_resize(g->ctx, &g->node_of, points->count));
    for (int64_t p = 0; p < points->count; p++) {
        g->node_of.data[p] = -1;
        if (points->use[p] != 1) continue;
        const mn_codim_thread_node node = {.point = (int32_t)p, .volume = points->volume[p]};
        g->node_of.data[p] = (int32_t)g->nodes.count;
        MN_TRY(mn_array_push(g->ctx, &g->nodes, &node));
        MN_TRY(mn_array_push(g->ctx, &g->positions, &points->position[p]));
        MN_TRY(mn_array_push(g->ctx, &g->directions, &points->direction[p]));
    }
    return MN_OK;
}

// ---- links ----

// As thick as a thread of this volume would be over a spacing.
static double about_radius(double volume, double spacing)
{
    return sqrt(volume / (PI * spacing));
}

static bool may_link(const mn_codim_thread_graph *g, double spacing, int32_t a, int32_t b)
{
    const mn_vec3 d = mn_sub(g->positions.data[b], g->positions.data[a]);
    const double length = mn_norm(d), reach = MN_THREAD_REACH * spacing;
    if (!(length < reach)) return false;
    const double radii =
        about_radius(g->nodes.data[a].volume, spacing) + about_radius(g->nodes.data[b].volume, spacing);
    if (length < fmax(TOUCHING * spacing, fmin(radii, spacing))) return true;
    return fabs(mn_dot(d, g->directions.data[a])) > ALONG * length &&
           fabs(mn_dot(d, g->directions.data[b])) > ALONG * length;
}

static double distance2(const mn_codim_thread_graph *g, int32_t a, int32_t b)
{
    return mn_norm2(mn_sub(g->positions.data[a], g->positions.data[b]));
}

// Whether pair (a, b) comes before (c, d): by distance, then by numbers.
static bool before(const mn_codim_thread_graph *g, int32_t a, int32_t b, int32_t c, int32_t d)
{
    const double first = distance2(g, a, b), second = distance2(g, c, d);
    if (first != second) return first < second;
    const int32_t low = a < b ? a : b, high = a < b ? b : a, other_low = c < d ? c : d,
                  other_high = c < d ? d : c;
    return low != other_low ? low < other_low : high < other_high;
}

static bool none_between(const mn_codim_thread_graph *g, const mn_codim_thread_points *points,
                         const mn_neighbour_table *table, int64_t row, int32_t a, int32_t b)
{
    for (int64_t e = table->start[row]; e < table->start[row + 1]; e++) {
        const int32_t c = table->point[e];
        if (c == a || c == b || !before(g, a, c, a, b) || !before(g, b, c, a, b)) continue;
        if (may_link(g, points->spacing, a, c) || may_link(g, points->spacing, b, c)) return false;
    }
    return true;
}

typedef struct choose_job {
    mn_codim_thread_graph *graph;
    const mn_codim_thread_points *points;
    const mn_neighbour_table *table;
} choose_job;

static int32_t row_point(const mn_neighbour_table *table, int64_t row)
{
    return table->query ? table->query[row] : (int32_t)row;
}

static mn_status choose_range(void *user, mn_range range)
{
    const choose_job *job = user;
    mn_codim_thread_graph *g = job->graph;
    for (int64_t row = range.begin; row < range.end; row++) {
        const int32_t a = row_point(job->table, row);
        for (int64_t e = job->table->start[row]; e < job->table->start[row + 1]; e++) {
            const int32_t b = job->table->point[e];
            g->chosen.data[e] = b > a && may_link(g, job->points->spacing, a, b) &&
                                none_between(g, job->points, job->table, row, a, b);
        }
    }
    return MN_OK;
}

int mn_codim_thread_by_length(const void *first, const void *second)
{
    const mn_codim_thread_edge *a = first, *b = second;
    if (a->length2 != b->length2) return a->length2 < b->length2 ? -1 : 1;
    if (a->a != b->a) return a->a < b->a ? -1 : 1;
    return a->b < b->b ? -1 : a->b > b->b;
}

static mn_status add_link(mn_codim_thread_graph *g, int32_t a, int32_t b)
{
    mn_codim_thread_node *from = &g->nodes.data[a], *to = &g->nodes.data[b];
    if (from->degree == MN_THREAD_DEGREE || to->degree == MN_THREAD_DEGREE) return MN_OK;
    const mn_codim_thread_link link = {a, b};
    from->link[from->degree++] = to->link[to->degree++] = (int32_t)g->links.count;
    return mn_array_push(g->ctx, &g->links, &link);
}

static mn_status link_nodes(mn_codim_thread_graph *g, const mn_codim_thread_points *points)
{
    mn_neighbour_table table;
    const double reach = MN_THREAD_REACH * points->spacing;
    MN_TRY(mn_neighbours_build(g->neighbours, mn_points_of(g->positions.data, g->positions.count), reach));
    MN_TRY(mn_neighbours_find(g->neighbours, reach, NULL, &table));
    g->edges.count = 0;
    MN_TRY(mn_array_resize(g->ctx, &g->chosen, table.count > 0 ? table.start[table.count] : 0));
    choose_job job = {g, points, &table};
    MN_TRY(mn_parallel_for(g->ctx, table.count, GRAIN, choose_range, &job));
    for (int64_t row = 0; row < table.count; row++) {
        const int32_t a = row_point(&table, row);
        for (int64_t e = table.start[row]; e < table.start[row + 1]; e++) {
            if (!g->chosen.data[e]) continue;
            const mn_codim_thread_edge edge = {distance2(g, a, table.point[e]), a, table.point[e]};
            MN_TRY(mn_array_push(g->ctx, &g->edges, &edge));
        }
    }
    if (g->edges.count > 0)
        qsort(g->edges.data, (size_t)g->edges.count, sizeof *g->edges.data, mn_codim_thread_by_length);
    for (int64_t i = 0; i < g->edges.count; i++) MN_TRY(add_link(g, g->edges.data[i].a, g->edges.data[i].b));
    return MN_OK;
}

// ---- ends ----

typedef struct hold {
    const mn_codim_thread_points *points;
    mn_vec3 at, ahead; ///< zero: any way
    int32_t nearest;
    double least;
} hold;

static void try_hold(void *user, int32_t point, double d2)
{
    hold *h = user;
    if (h->points->use[point] != 2) return;
    const mn_vec3 d = mn_sub(h->points->position[point], h->at);
    if (mn_norm2(h->ahead) > 0 && mn_dot(d, h->ahead) < AHEAD * sqrt(d2)) return;
    if (d2 < h->least || (d2 == h->least && point < h->nearest)) h->least = d2, h->nearest = point;
}

static mn_status hang_ends(mn_codim_thread_graph *g, const mn_codim_thread_points *points)
{
    const int32_t count = (int32_t)g->nodes.count;
    for (int32_t n = 0; n < count; n++) {
        if (g->nodes.data[n].degree > 1) continue;
        const int32_t point = g->nodes.data[n].point;
        hold h = {.points = points, .at = points->position[point], .nearest = -1, .least = INFINITY};
        if (g->nodes.data[n].degree == 1) {
            const int32_t behind = mn_codim_thread_other(g, g->nodes.data[n].link[0], n);
            h.ahead = mn_normalize(mn_sub(h.at, points->position[g->nodes.data[behind].point]));
        }
        mn_neighbours_visit(points->near, h.at, MN_THREAD_REACH * points->spacing, try_hold, &h);
        if (h.nearest < 0) continue;
        int32_t film = g->node_of.data[h.nearest];
        if (film < 0) {
            const mn_codim_thread_node node = {.point = h.nearest};
            film = g->node_of.data[h.nearest] = (int32_t)g->nodes.count;
            MN_TRY(mn_array_push(g->ctx, &g->nodes, &node));
        }
        MN_TRY(add_link(g, n, film));
    }
    return MN_OK;
}

mn_status mn_codim_thread_graph_build(mn_codim_thread_graph *g, const mn_codim_thread_points *points,
                                      double sigma)
{
    MN_TRY(list_nodes(g, points));
    if (g->nodes.count > 0) {
        MN_TRY(link_nodes(g, points));
        if (points->near) MN_TRY(hang_ends(g, points));
    }
    for (int64_t n = 0; n < g->nodes.count; n++) {
        mn_codim_thread_node *node = &g->nodes.data[n];
        node->capped = node->degree == 1 && node->volume > 0 && !points->pinned[node->point];
    }
    return mn_codim_thread_measure(g, points->position, sigma, &g->shape);
}
