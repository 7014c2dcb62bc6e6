// SPDX-License-Identifier: Apache-2.0
//
// The skin of a volume: the triangles through its points, and the points that come and go. Points have no
// mass here: a split or a merge moves nothing but the skin itself, and a new point lies on the cubic through
// the ends of its edge, so the enclosed volume keeps its second order.
#include "codim/volume/state.h"

#include <stdlib.h>
#include <string.h>

static const double SPLIT = 1.4, MERGE = 0.5; // spacings

static mn_status spread(mn_codim_volume *v)
{
    mn_context *ctx = v->ctx;
    const int64_t count = v->skin.count;
    mn_codim_vec3_array *vectors[] = {&v->hull.x0, &v->hull.x1, &v->hull.normals, &v->hull.u0,
                                      &v->hull.change};
    for (size_t i = 0; i < sizeof vectors / sizeof vectors[0]; i++)
        MN_TRY(mn_array_resize(ctx, vectors[i], count));
    MN_TRY(mn_array_resize(ctx, &v->hull.ids, count));
    MN_TRY(mn_array_resize(ctx, &v->hull.none, count));
    MN_TRY(mn_array_resize(ctx, &v->hull.fixed, count));
    for (int64_t i = 0; i < count; i++) {
        v->hull.x0.data[i] = v->skin.data[i].position;
        v->hull.normals.data[i] = v->skin.data[i].normal;
        v->hull.ids.data[i] = v->skin.data[i].id;
        v->hull.none.data[i] = 0;
        v->hull.fixed.data[i] = mn_codim_volume_is_held(&v->skin.data[i]);
    }
    return mn_codim_volume_find_wet(v);
}

static mn_status list_triangles(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->hull.corners, 3 * v->hull.surface.triangles));
    int64_t at = 0;
    for (int32_t p = 0; p < (int32_t)v->skin.count; p++) {
        const mn_codim_film_fan *fan = &v->hull.surface.fans.data[p];
        for (int32_t i = 0; i < fan->count; i++) {
            if (fan->pair[i][0] < p || fan->pair[i][1] < p) continue;
            v->hull.corners.data[at++] = p;
            v->hull.corners.data[at++] = fan->pair[i][0];
            v->hull.corners.data[at++] = fan->pair[i][1];
        }
    }
    return MN_OK;
}

mn_status mn_codim_volume_skin_build(mn_codim_volume *v)
{
    MN_TRY(spread(v));
    const mn_codim_film_points points = {
        v->skin.count,     v->hull.x0.data,   v->hull.normals.data, v->hull.ids.data,
        v->hull.none.data, v->hull.none.data, v->set.spacing,       NULL};
    MN_TRY(mn_codim_film_surface_build(&v->hull.surface, &points));
    MN_TRY(mn_codim_volume_find_line(v));
    MN_TRY(mn_codim_film_matrix_build(v->ctx, &v->hull.surface, v->hull.x0.data, v->hull.wet.data,
                                      &v->hull.matrix));
    MN_TRY(list_triangles(v));
    const int32_t(*triangles)[3] = (const int32_t(*)[3])v->hull.corners.data;
    if (v->hull.mesh)
        return mn_triangles_rebuild(v->hull.mesh, v->skin.count, v->hull.x0.data, v->hull.corners.count / 3,
                                    triangles);
    return mn_triangles_create(v->ctx, v->skin.count, v->hull.x0.data, v->hull.corners.count / 3, triangles,
                               &v->hull.mesh);
}

// ---- points come and go ----

static int by_length(const void *first, const void *second)
{
    const mn_codim_edge *a = first, *b = second;
    if (a->length2 != b->length2) return a->length2 < b->length2 ? -1 : 1;
    if (a->p != b->p) return a->p < b->p ? -1 : 1;
    return a->q < b->q ? -1 : a->q > b->q;
}

typedef MN_ARRAY(mn_codim_edge) edge_array;

static mn_status list_edges(const mn_codim_volume *v, double below, double above, edge_array *edges)
{
    edges->count = 0;
    const mn_codim_film_matrix *m = &v->hull.matrix;
    for (int32_t p = 0; p < (int32_t)m->start.count - 1; p++)
        for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
            const int32_t q = m->column.data[e];
            if (q < p) continue;
            const double d2 = mn_norm2(mn_sub(v->skin.data[p].position, v->skin.data[q].position));
            if (d2 >= below * below && d2 <= above * above) continue;
            const mn_codim_edge edge = {d2, p, q};
            MN_TRY(mn_array_push(v->ctx, edges, &edge));
        }
    if (edges->count > 0) qsort(edges->data, (size_t)edges->count, sizeof *edges->data, by_length);
    return MN_OK;
}

// The middle of the cubic that leaves the one along the skin and comes to the other along it; on a solid, of
// the straight line.
static mn_codim_skin_point middle(const mn_codim_volume *v, int32_t from, int32_t to)
{
    const mn_codim_skin_point *p = &v->skin.data[from], *q = &v->skin.data[to];
    mn_codim_skin_point born = *p;
    const mn_vec3 e = mn_sub(q->position, p->position), m = v->hull.outward.data[from],
                  n = v->hull.outward.data[to];
    const mn_vec3 bulge = mn_sub(mn_scale(mn_dot(n, e), n), mn_scale(mn_dot(m, e), m));
    const bool wet = v->hull.wet.data[from] && v->hull.wet.data[to];
    born.position = mn_axpy(mn_lerp(p->position, q->position, 0.5), wet ? 0 : 0.125, bulge);
    born.velocity = mn_lerp(p->velocity, q->velocity, 0.5);
    const mn_vec3 side = mn_normalize(mn_add(p->normal, q->normal));
    if (mn_norm2(side) > 0) born.normal = side;
    return born;
}

// Of two points that become one, the one with the stronger hold stays as it is: a inflow's, then one of the
// line where the skin leaves a solid, then one on the solid.
static int hold(const mn_codim_volume *v, int32_t p)
{
    if (mn_codim_volume_is_held(&v->skin.data[p])) return 3;
    return v->hull.wet.data[p] ? (v->hull.fixed.data[p] ? 1 : 2) : 0;
}

// Closed pieces that hold less than a cell, of liquid or of air, are nothing that the grid could see.
static mn_status drop_specks(mn_codim_volume *v)
{
    const mn_codim_film_matrix *m = &v->hull.matrix;
    const double least = v->set.dx * v->set.dx * v->set.dx;
    mn_codim_volume_index_array *piece = &v->stack;
    for (int64_t p = 0; p < v->skin.count; p++) v->hull.none.data[p] = 0;
    for (int32_t first = 0; first < (int32_t)v->skin.count; first++) {
        if (v->hull.none.data[first]) continue;
        double volume = 0;
        bool closed = true;
        piece->count = 0;
        MN_TRY(mn_array_push(v->ctx, piece, &first));
        v->hull.none.data[first] = 1;
        for (int64_t i = 0; i < piece->count; i++) {
            const int32_t p = piece->data[i];
            const mn_codim_film_fan *fan = &v->hull.surface.fans.data[p];
            closed = closed && !v->hull.surface.edge.data[p];
            for (int32_t k = 0; k < fan->count; k++) {
                const mn_vec3 a = mn_sub(v->hull.x0.data[p], v->hull.x0.data[first]);
                const mn_vec3 b = mn_sub(v->hull.x0.data[fan->pair[k][0]], v->hull.x0.data[first]);
                volume +=
                    mn_dot(a, mn_cross(b, mn_sub(v->hull.x0.data[fan->pair[k][1]], v->hull.x0.data[first]))) /
                    18;
            }
            for (int64_t e = m->start.data[p]; e < m->start.data[p + 1]; e++) {
                const int32_t q = m->column.data[e];
                if (v->hull.none.data[q]) continue;
                v->hull.none.data[q] = 1;
                MN_TRY(mn_array_push(v->ctx, piece, &q));
            }
        }
        for (int64_t i = 0; i < piece->count && closed && fabs(volume) < least; i++)
            v->skin.data[piece->data[i]].id = -1;
    }
    return MN_OK;
}

// `none` marks what has changed already; a dead point has id -1.
static mn_status change_edges(mn_codim_volume *v, edge_array *edges, int64_t *next_id)
{
    MN_TRY(list_edges(v, MERGE * v->set.spacing, INFINITY, edges));
    for (int64_t i = 0; i < edges->count; i++) {
        const int32_t p = edges->data[i].p, q = edges->data[i].q;
        if (v->hull.none.data[p] || v->hull.none.data[q]) continue;
        if (mn_codim_volume_is_held(&v->skin.data[p]) && mn_codim_volume_is_held(&v->skin.data[q])) continue;
        v->hull.none.data[p] = v->hull.none.data[q] = 1;
        const int64_t id = v->skin.data[p].id;
        if (hold(v, p) == hold(v, q)) v->skin.data[p] = middle(v, p, q);
        v->skin.data[p].id = id;
        v->skin.data[hold(v, q) > hold(v, p) ? p : q].id = -1;
    }
    MN_TRY(list_edges(v, 0, SPLIT * v->set.spacing, edges));
    for (int64_t i = edges->count - 1; i >= 0; i--) { // longest first
        const int32_t p = edges->data[i].p, q = edges->data[i].q;
        if (v->hull.none.data[p] || v->hull.none.data[q]) continue;
        if (mn_codim_volume_is_held(&v->skin.data[p]) && mn_codim_volume_is_held(&v->skin.data[q])) continue;
        v->hull.none.data[p] = v->hull.none.data[q] = 1;
        mn_codim_skin_point born = middle(v, p, q);
        born.id = (*next_id)++;
        MN_TRY(mn_array_push(v->ctx, &v->skin, &born));
    }
    return MN_OK;
}

mn_status mn_codim_volume_skin_reseed(mn_codim_volume *v, int64_t *next_id)
{
    edge_array edges = {0};
    MN_TRY(drop_specks(v));
    for (int64_t p = 0; p < v->skin.count; p++) v->hull.none.data[p] = v->skin.data[p].id < 0;
    const mn_status status = change_edges(v, &edges, next_id);
    mn_array_free(v->ctx, &edges);
    MN_TRY(status);
    int64_t kept = 0;
    for (int64_t p = 0; p < v->skin.count; p++)
        if (v->skin.data[p].id >= 0) v->skin.data[kept++] = v->skin.data[p];
    v->skin.count = kept;
    return MN_OK;
}
