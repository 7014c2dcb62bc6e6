// SPDX-License-Identifier: Apache-2.0
//
// Making boundaries manifold again [clausen2013] section 7.3:
//
//   face type  the tetrahedra around a vertex fall into several face-connected sets: each set gets a vertex
//              of its own
//   edge       more than two boundary faces meet in an edge: it is split, and its new vertex is of the first
//              kind
//   edge type  the boundary faces around a vertex fall into several edge-connected sets, surfaces that meet
//              in a point: the shortest path of inner faces at the vertex from one set to another is opened
//
// The path lies in the link of the vertex, from a point of one boundary loop along inner edges to a point of
// another. Only its half next to the vertex is opened, between the middles of its edges: these are new
// vertices, so that no surface far from the vertex is touched and no new pinch can come. Nothing moves. An
// edge among tetrahedra so flat that rounding would turn a part over is divided off its middle, and if there
// is no place for that either the path goes around it.
#include "tetmesh/internal.h"

#include <string.h>

// ---- face type ----

/// Adds to `set` what can be reached from `first` across faces at v and is not marked yet.
static mn_status collect_set(mn_tet_mesh *mesh, int32_t v, int32_t first, mn_tet_list *set)
{
    set->count = 0;
    mesh->mark[first] = mesh->mark_now;
    MN_TRY(mn_array_push(mesh->ctx, set, &first));
    for (int64_t i = 0; i < set->count; i++) {
        const int32_t t = set->data[i], corner = mn_tet_corner_of(mesh, t, v);
        for (int32_t k = 0; k < 4; k++) {
            const int32_t next = mesh->mate[t][k] / 4;
            if (k == corner || mesh->mate[t][k] < 0 || mesh->mark[next] == mesh->mark_now) continue;
            mesh->mark[next] = mesh->mark_now;
            MN_TRY(mn_array_push(mesh->ctx, set, &next));
        }
    }
    return MN_OK;
}

static void count_boundary_of(mn_tet_mesh *mesh, int32_t v)
{
    int32_t count = 0;
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) count += k != code % 4 && mesh->mate[code / 4][k] < 0;
    mesh->boundary_faces[v] = count;
}

static mn_status give_copy(mn_tet_mesh *mesh, int32_t v, const mn_tet_list *set, int32_t *copy)
{
    const double one = 1;
    MN_TRY(mn_tet_mesh_add_vertex(mesh, mesh->position[v], 1, &v, &one, copy));
    mesh->vertex_flags[*copy] = mesh->vertex_flags[v];
    for (int64_t i = 0; i < set->count; i++)
        mn_tet_corner_move(mesh, 4 * set->data[i] + mn_tet_corner_of(mesh, set->data[i], v), *copy);
    count_boundary_of(mesh, *copy);
    count_boundary_of(mesh, v);
    return MN_OK;
}

mn_status mn_tet_part_vertex(mn_tet_mesh *mesh, int32_t v, mn_tet_list *set, mn_tet_list *copies)
{
    // Sets go to copies until one is left, which keeps v.
    for (;;) {
        int32_t count = 0, copy;
        MN_TET_STAR(mesh, v, code) count++;
        if (count < 2) return MN_OK;
        mn_tet_mark_next(mesh);
        MN_TRY(collect_set(mesh, v, mesh->star_first[v] / 4, set));
        if (set->count == count) return MN_OK;
        MN_TRY(mn_array_reserve(mesh->ctx, copies, copies->count + 1));
        MN_TRY(give_copy(mesh, v, set, &copy));
        MN_TRY(mn_array_push(mesh->ctx, copies, &copy));
    }
}

// ---- the link of a vertex ----

/// One edge of the link: the face (v, a, b).
typedef struct link_edge {
    int32_t a, b; ///< indices into `ends`
    bool boundary;
} link_edge;

typedef struct vertex_link {
    mn_context *ctx;
    mn_tet_list ends; ///< far ends of the edges at the vertex
    MN_ARRAY(link_edge) edges;
    mn_tet_list loop;     ///< per end: the boundary loop that it is on, -1 for none
    mn_tet_list previous; ///< per end: where a walk came from, -2 for not yet
    mn_tet_list faces;    ///< per end: boundary faces at its edge
    MN_ARRAY(double) cut; ///< per end: where its edge can be divided, 0 for nowhere
} vertex_link;

static void link_free(vertex_link *link)
{
    mn_array_free(link->ctx, &link->ends);
    mn_array_free(link->ctx, &link->edges);
    mn_array_free(link->ctx, &link->loop);
    mn_array_free(link->ctx, &link->previous);
    mn_array_free(link->ctx, &link->faces);
    mn_array_free(link->ctx, &link->cut);
}

static mn_status link_end(vertex_link *link, int32_t u, int32_t *index)
{
    for (*index = 0; *index < link->ends.count; ++*index)
        if (link->ends.data[*index] == u) return MN_OK;
    return mn_array_push(link->ctx, &link->ends, &u);
}

static mn_status link_collect(vertex_link *link, const mn_tet_mesh *mesh, int32_t v)
{
    link->ends.count = link->edges.count = 0;
    MN_TET_STAR(mesh, v, code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4, mate = mesh->mate[t][k];
        if (k == code % 4 || mate > 4 * t + k) continue; // an inner face once
        link_edge edge = {-1, -1, mate < 0};
        for (int32_t i = 0; i < 3; i++) {
            const int32_t u = mesh->tet[t][mn_tet_face_corners[k][i]];
            if (u != v) MN_TRY(link_end(link, u, edge.a < 0 ? &edge.a : &edge.b));
        }
        MN_TRY(mn_array_push(link->ctx, &link->edges, &edge));
    }
    MN_TRY(mn_array_resize(link->ctx, &link->faces, link->ends.count));
    for (int64_t i = 0; i < link->ends.count; i++) link->faces.data[i] = 0;
    for (int64_t i = 0; i < link->edges.count; i++)
        if (link->edges.data[i].boundary)
            link->faces.data[link->edges.data[i].a]++, link->faces.data[link->edges.data[i].b]++;
    return MN_OK;
}

/// Where edge a-b can be divided, as a fraction of it, the middle first; 0 for nowhere.
static double place_to_divide(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    enum { PLACES = 24 };
    for (int32_t i = 0; i < PLACES; i++) {
        const int32_t off = (i + 1) / 2; // to both sides, up to 12/26
        const double fraction = 0.5 + (i % 2 ? off : -off) / (PLACES + 2.0);
        if (mn_tet_can_divide_edge(mesh, a, b, fraction)) return fraction;
    }
    return 0;
}

static mn_status link_cuts(vertex_link *link, const mn_tet_mesh *mesh, int32_t v)
{
    MN_TRY(mn_array_resize(link->ctx, &link->cut, link->ends.count));
    for (int64_t i = 0; i < link->ends.count; i++)
        link->cut.data[i] = place_to_divide(mesh, v, link->ends.data[i]);
    return MN_OK;
}

/// Numbers the boundary loops; returns how many there are.
static mn_status link_loops(vertex_link *link, int32_t *count)
{
    MN_TRY(mn_array_resize(link->ctx, &link->loop, link->ends.count));
    for (int64_t i = 0; i < link->ends.count; i++) link->loop.data[i] = -1;
    *count = 0;
    for (int64_t i = 0; i < link->edges.count; i++) {
        if (!link->edges.data[i].boundary || link->loop.data[link->edges.data[i].a] >= 0) continue;
        link->loop.data[link->edges.data[i].a] = *count;
        for (bool grown = true; grown;) {
            grown = false;
            for (int64_t j = 0; j < link->edges.count; j++) {
                int32_t *a = &link->loop.data[link->edges.data[j].a],
                        *b = &link->loop.data[link->edges.data[j].b];
                if (!link->edges.data[j].boundary || (*a == *count) == (*b == *count)) continue;
                *a = *b = *count;
                grown = true;
            }
        }
        ++*count;
    }
    return MN_OK;
}

/// The end of another loop that is nearest to loop 0 along inner edges and ends that can be divided, -1 when
/// there is none; `previous` leads back.
static mn_status link_path(vertex_link *link, int32_t *reached)
{
    MN_TRY(mn_array_resize(link->ctx, &link->previous, link->ends.count));
    for (int64_t i = 0; i < link->ends.count; i++) link->previous.data[i] = link->loop.data[i] == 0 ? -1 : -2;
    mn_tet_list front = {0};
    mn_status status = MN_OK;
    for (int32_t i = 0; i < link->ends.count; i++)
        if (link->loop.data[i] == 0 && link->cut.data[i] > 0)
            MN_TRY_TO(done, status, mn_array_push(link->ctx, &front, &i));
    *reached = -1;
    for (int64_t at = 0; at < front.count && *reached < 0; at++)
        for (int64_t j = 0; j < link->edges.count && *reached < 0; j++) {
            const link_edge *edge = &link->edges.data[j];
            const int32_t here = front.data[at], there = edge->a == here   ? edge->b
                                                         : edge->b == here ? edge->a
                                                                           : -1;
            if (there < 0 || edge->boundary || link->previous.data[there] != -2 ||
                !(link->cut.data[there] > 0))
                continue;
            link->previous.data[there] = here;
            if (link->loop.data[there] > 0) *reached = there;
            MN_TRY_TO(done, status, mn_array_push(link->ctx, &front, &there));
        }
done:
    mn_array_free(link->ctx, &front);
    return status;
}

// ---- edge and edge type ----

/// Splits the edges at v at which more than two boundary faces meet.
static mn_status split_crowded(mn_tet_mesh *mesh, vertex_link *link, int32_t v, mn_tet_list *scratch,
                               mn_tet_list *vertices, int64_t *split)
{
    MN_TRY(link_collect(link, mesh, v));
    for (int64_t i = 0; i < link->ends.count; i++) {
        int32_t middle;
        if (link->faces.data[i] <= 2) continue;
        const double fraction = place_to_divide(mesh, v, link->ends.data[i]);
        MN_TRY(mn_tet_divide_edge(mesh, v, link->ends.data[i], fraction, scratch, &middle));
        if (middle < 0) continue;
        ++*split;
        MN_TRY(mn_array_push(mesh->ctx, vertices, &middle));
        MN_TRY(mn_tet_part_vertex(mesh, middle, scratch, vertices));
    }
    return MN_OK;
}

/// Joins two of the surfaces that meet in v by a slit; *dug says whether there was something to do.
static mn_status dig_tunnel(mn_tet_mesh *mesh, vertex_link *link, int32_t v, mn_tet_list *scratch,
                            mn_tet_list *vertices, bool *dug)
{
    mn_tet_faces faces = {0};
    int32_t loops, reached, middle, last = -1;
    int64_t opened;
    mn_status status = MN_OK;
    *dug = false;
    MN_TRY(link_collect(link, mesh, v));
    MN_TRY(link_loops(link, &loops));
    if (loops < 2) return MN_OK;
    MN_TRY(link_cuts(link, mesh, v));
    MN_TRY(link_path(link, &reached));
    for (int32_t at = reached; at >= 0; at = link->previous.data[at]) {
        MN_TRY_TO(done, status,
                  mn_tet_divide_edge(mesh, v, link->ends.data[at], link->cut.data[at], scratch, &middle));
        if (middle < 0) goto done;
        const mn_tet_face face = {{v, last, middle}};
        if (last >= 0) MN_TRY_TO(done, status, mn_array_push(mesh->ctx, &faces, &face));
        last = middle;
    }
    if (faces.count == 0) goto done;
    MN_TRY_TO(done, status, mn_tet_open_faces(mesh, &faces, vertices, &opened));
    *dug = opened > 0;
done:
    mn_array_free(mesh->ctx, &faces);
    return status;
}

// ---- all of it ----

static bool is_on_boundary(const mn_tet_mesh *mesh, int32_t v)
{
    return mn_tet_vertex_alive(mesh, v) && mn_tet_vertex_on_boundary(mesh, v);
}

static mn_status part_all(mn_tet_mesh *mesh, mn_tet_list *vertices, mn_tet_list *scratch, int64_t *parted)
{
    for (int64_t i = 0; i < vertices->count; i++) {
        const int64_t before = vertices->count;
        if (!is_on_boundary(mesh, vertices->data[i])) continue;
        MN_TRY(mn_tet_part_vertex(mesh, vertices->data[i], scratch, vertices));
        *parted += vertices->count - before;
    }
    return MN_OK;
}

/// Vertices, then edges with their new middles, then what the edges held together at their ends.
static mn_status part_vertices_and_edges(mn_tet_mesh *mesh, vertex_link *link, mn_tet_list *vertices,
                                         mn_tet_list *scratch, mn_tet_manifold_report *report)
{
    const int64_t split = report->split_edges;
    MN_TRY(part_all(mesh, vertices, scratch, &report->parted_vertices));
    for (int64_t i = 0; i < vertices->count; i++)
        if (is_on_boundary(mesh, vertices->data[i]))
            MN_TRY(split_crowded(mesh, link, vertices->data[i], scratch, vertices, &report->split_edges));
    return report->split_edges > split ? part_all(mesh, vertices, scratch, &report->parted_vertices) : MN_OK;
}

mn_status mn_tet_repair_vertices(mn_tet_mesh *mesh, mn_tet_list *vertices, mn_tet_manifold_report *report)
{
    enum { ROUNDS = 16 }; // a round removes one of the loops at each pinch; more than three are rare
    vertex_link link = {.ctx = mesh->ctx};
    mn_tet_list scratch = {0};
    mn_status status = MN_OK;
    bool dug = true;
    memset(report, 0, sizeof *report);
    for (int32_t round = 0; round < ROUNDS && dug; round++) {
        MN_TRY_TO(done, status, part_vertices_and_edges(mesh, &link, vertices, &scratch, report));
        dug = false;
        for (int64_t i = 0; i < vertices->count; i++) {
            bool here = false;
            if (is_on_boundary(mesh, vertices->data[i]))
                MN_TRY_TO(done, status,
                          dig_tunnel(mesh, &link, vertices->data[i], &scratch, vertices, &here));
            report->tunnels += here;
            dug = dug || here;
        }
    }
    for (int64_t i = 0; i < vertices->count; i++) {
        int32_t loops = 0;
        if (!is_on_boundary(mesh, vertices->data[i])) continue;
        MN_TRY_TO(done, status, link_collect(&link, mesh, vertices->data[i]));
        MN_TRY_TO(done, status, link_loops(&link, &loops));
        report->left += loops > 1;
    }
done:
    link_free(&link);
    mn_array_free(mesh->ctx, &scratch);
    return status;
}

static mn_status list_boundary(const mn_tet_mesh *mesh, mn_tet_list *vertices)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (is_on_boundary(mesh, v)) MN_TRY(mn_array_push(mesh->ctx, vertices, &v));
    return MN_OK;
}

mn_status mn_tet_mesh_make_manifold(mn_tet_mesh *mesh, mn_tet_manifold_report *report)
{
    mn_tet_list vertices = {0};
    memset(report, 0, sizeof *report);
    mn_status status = list_boundary(mesh, &vertices);
    if (status == MN_OK) status = mn_tet_repair_vertices(mesh, &vertices, report);
    mn_array_free(mesh->ctx, &vertices);
    return status;
}

mn_status mn_tet_mesh_separate(mn_tet_mesh *mesh, int64_t *parted_vertices, int64_t *split_edges)
{
    mn_tet_list vertices = {0}, scratch = {0};
    vertex_link link = {.ctx = mesh->ctx};
    mn_tet_manifold_report report = {0};
    mn_status status = list_boundary(mesh, &vertices);
    if (status == MN_OK) status = part_vertices_and_edges(mesh, &link, &vertices, &scratch, &report);
    *parted_vertices = report.parted_vertices, *split_edges = report.split_edges;
    link_free(&link);
    mn_array_free(mesh->ctx, &vertices);
    mn_array_free(mesh->ctx, &scratch);
    return status;
}
