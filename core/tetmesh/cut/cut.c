// SPDX-License-Identifier: Apache-2.0
//
// A crack along a plane [clausen2013] section 7.1. With d the distance from the plane:
//
//   enter     from the seed across faces into every tetrahedron that the plane touches
//   snap      a vertex nearer to the plane than a fraction of a crossed edge counts as on it (d := 0, no
//             move), so no new edge or altitude is much shorter than the old ones
//   divide    each edge of theirs with d < 0 < d at its other end, at d = 0
//   open      the faces between tetrahedra with d >= 0 and tetrahedra with d <= 0
//
// or, along faces, those between tetrahedra with centres on both sides, where no more elements may be made.
//
// Dividing a crossed edge makes a vertex with d = 0, and all new edges end in it, so none of them is crossed:
// the edges found at the start are all there are to divide. An edge whose parts would not be positive
// (rounding in a flat element) has its nearer end snapped instead, so a cut never fails. The paper goes
// element by element and lets residual stress lead; here the front goes where may_enter lets it.
#include "tetmesh/cut/cut.h"

#include "tetmesh/internal.h"

#include <string.h>

enum { UNKNOWN = 2 };

typedef struct crossed_edge {
    int32_t a, b;
} crossed_edge;

typedef struct cutter {
    mn_tet_mesh *mesh;
    const mn_tet_cut_def *def;
    mn_vec3 normal;
    MN_ARRAY(int8_t) sign; ///< per vertex slot: -1, 0, 1 or UNKNOWN
    mn_tet_list entered, scratch, touched;
    mn_tet_list zeros; ///< vertices on the plane
    MN_ARRAY(crossed_edge) edges;
    mn_tet_faces faces;
} cutter;

mn_tet_cut_def mn_tet_cut_default_def(void)
{
    return (mn_tet_cut_def){.normal = {0, 1, 0}, .seed = -1, .reach = INFINITY, .snap = 0.2};
}

static double distance_of(const cutter *c, int32_t v)
{
    return mn_dot(c->normal, mn_sub(c->mesh->position[v], c->def->point));
}

static int8_t sign_of(cutter *c, int32_t v)
{
    if (c->sign.data[v] == UNKNOWN) {
        const double d = distance_of(c, v);
        c->sign.data[v] = (int8_t)((d > 0) - (d < 0));
    }
    return c->sign.data[v];
}

// ---- where the crack goes ----

static bool touches_plane(cutter *c, int32_t t)
{
    int32_t lowest = 1, highest = -1;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t sign = sign_of(c, c->mesh->tet[t][k]);
        lowest = sign < lowest ? sign : lowest, highest = sign > highest ? sign : highest;
    }
    return lowest <= 0 && highest >= 0;
}

static mn_vec3 centre_of(const cutter *c, int32_t t)
{
    const int32_t *v = c->mesh->tet[t];
    const mn_vec3 *x = c->mesh->position;
    return mn_scale(0.25, mn_add(mn_add(x[v[0]], x[v[1]]), mn_add(x[v[2]], x[v[3]])));
}

static bool lets_in(const cutter *c, int32_t t)
{
    return mn_distance(centre_of(c, t), c->def->point) <= c->def->reach &&
           (!c->def->may_enter || c->def->may_enter(c->def->user, c->mesh, t));
}

static mn_status enter(cutter *c, int64_t *front)
{
    mn_tet_mesh *mesh = c->mesh;
    const uint32_t mark = mn_tet_mark_next(mesh);
    for (int32_t t = 0; c->def->seed < 0 && t < mesh->tet_slots; t++) {
        if (!mn_tet_alive(mesh, t) || !touches_plane(c, t)) continue;
        mesh->mark[t] = mark;
        if (lets_in(c, t))
            MN_TRY(mn_array_push(mesh->ctx, &c->entered, &t));
        else
            ++*front;
    }
    if (c->def->seed >= 0) {
        mesh->mark[c->def->seed] = mark;
        MN_TRY(mn_array_push(mesh->ctx, &c->entered, &c->def->seed));
    }
    for (int64_t i = 0; i < c->entered.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[c->entered.data[i]][k], next = mate / 4;
            if (mate < 0 || mesh->mark[next] == mark || !touches_plane(c, next)) continue;
            mesh->mark[next] = mark;
            if (lets_in(c, next))
                MN_TRY(mn_array_push(mesh->ctx, &c->entered, &next));
            else
                ++*front;
        }
    return MN_OK;
}

// ---- on the plane ----

static mn_status put_on_plane(cutter *c, int32_t v)
{
    MN_TRY(mn_array_push(c->mesh->ctx, &c->zeros, &v));
    c->sign.data[v] = 0;
    return MN_OK;
}

/// Collects the crossed edges once each and snaps ends that are near.
static mn_status find_edges(cutter *c)
{
    const mn_tet_mesh *mesh = c->mesh;
    for (int64_t i = 0; i < c->entered.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t v = mesh->tet[c->entered.data[i]][k];
            if (c->sign.data[v] == 0) MN_TRY(put_on_plane(c, v));
        }
    for (int64_t i = 0; i < c->entered.count; i++)
        for (int32_t e = 0; e < 6; e++) {
            const int32_t *tet = mesh->tet[c->entered.data[i]];
            const crossed_edge edge = {tet[mn_tet_edge_corners[e][0]], tet[mn_tet_edge_corners[e][1]]};
            const double d = distance_of(c, edge.a), f = distance_of(c, edge.b);
            if (!(d * f < 0)) continue;
            const double fraction = d / (d - f);
            if (fraction < c->def->snap && c->sign.data[edge.a] != 0) MN_TRY(put_on_plane(c, edge.a));
            if (fraction > 1 - c->def->snap && c->sign.data[edge.b] != 0) MN_TRY(put_on_plane(c, edge.b));
            MN_TRY(mn_array_push(mesh->ctx, &c->edges, &edge));
        }
    return MN_OK;
}

static mn_status divide_edges(cutter *c, int64_t *divided)
{
    mn_tet_mesh *mesh = c->mesh;
    for (int64_t i = 0; i < c->edges.count; i++) {
        const crossed_edge edge = c->edges.data[i];
        int32_t middle;
        // Snapped, or divided already from another tetrahedron.
        if (c->sign.data[edge.a] * c->sign.data[edge.b] >= 0 ||
            mn_tet_mesh_find_edge(mesh, edge.a, edge.b) < 0)
            continue;
        const double d = distance_of(c, edge.a), f = distance_of(c, edge.b);
        MN_TRY(mn_tet_divide_edge(mesh, edge.a, edge.b, d / (d - f), &c->scratch, &middle));
        if (middle < 0) {
            MN_TRY(put_on_plane(c, fabs(d) < fabs(f) ? edge.a : edge.b));
            continue;
        }
        while (c->sign.count <= middle) {
            const int8_t unknown = UNKNOWN;
            MN_TRY(mn_array_push(mesh->ctx, &c->sign, &unknown));
        }
        MN_TRY(put_on_plane(c, middle));
        ++*divided;
    }
    return MN_OK;
}

/// The side of a tetrahedron: -1, 1, or 0 when the plane still passes through it.
static int32_t side_of(cutter *c, int32_t t)
{
    bool below = false, above = false;
    double sum = 0;
    for (int32_t k = 0; k < 4; k++) {
        const int32_t v = c->mesh->tet[t][k], sign = sign_of(c, v);
        below = below || sign < 0, above = above || sign > 0;
        sum += distance_of(c, v);
    }
    if (below && above) return 0;
    return below ? -1 : above ? 1 : sum < 0 ? -1 : 1;
}

static mn_status find_faces(cutter *c)
{
    const mn_tet_mesh *mesh = c->mesh;
    for (int64_t i = 0; i < c->zeros.count; i++) MN_TET_STAR(mesh, c->zeros.data[i], code)
    for (int32_t k = 0; k < 4; k++) {
        const int32_t t = code / 4, mate = mesh->mate[t][k];
        mn_tet_face face;
        if (k == code % 4 || mate < 4 * t + k) continue; // each pair once, boundary faces never
        mn_tet_face_key(mesh->tet[t], k, face.v);
        // Once among its three vertices, and only with all three on the plane.
        if (face.v[0] != c->zeros.data[i] || c->sign.data[face.v[1]] != 0 || c->sign.data[face.v[2]] != 0)
            continue;
        if (side_of(c, t) * side_of(c, mate / 4) < 0) MN_TRY(mn_array_push(mesh->ctx, &c->faces, &face));
    }
    return MN_OK;
}

// The faces between those that the crack may enter whose centres lie on both sides.
static mn_status find_faces_between(cutter *c)
{
    const mn_tet_mesh *mesh = c->mesh;
    for (int64_t i = 0; i < c->entered.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = c->entered.data[i], mate = mesh->mate[t][k], next = mate / 4;
            const double here = mn_dot(c->normal, mn_sub(centre_of(c, t), c->def->point));
            mn_tet_face face;
            if (mate < 0 || !lets_in(c, next)) continue;
            const double there = mn_dot(c->normal, mn_sub(centre_of(c, next), c->def->point));
            if ((here < 0) == (there < 0)) continue;
            mn_tet_face_key(mesh->tet[t], k, face.v);
            MN_TRY(mn_array_push(mesh->ctx, &c->faces, &face));
        }
    return MN_OK;
}

// ---- all of it ----

static mn_status check_def(const mn_tet_mesh *mesh, const mn_tet_cut_def *def)
{
    if (!(mn_norm(def->normal) > 0) || !mn_is_finite3(def->normal) || !mn_is_finite3(def->point))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                       "the plane of a cut needs a finite position and a normal");
    if (!(def->reach > 0) || !(def->snap >= 0 && def->snap <= 0.45))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT,
                       "a cut has reach %g and snap %g; reach must be above 0 and snap in [0, 0.45]",
                       def->reach, def->snap);
    if (def->seed >= 0 && !mn_tet_alive(mesh, def->seed))
        return mn_fail(mesh->ctx, MN_ERROR_ARGUMENT, "a cut starts in tetrahedron %d, which is not there",
                       def->seed);
    return MN_OK;
}

static mn_status cut(cutter *c, mn_tet_cut_report *report)
{
    mn_tet_mesh *mesh = c->mesh;
    MN_TRY(mn_array_resize(mesh->ctx, &c->sign, mesh->vertex_slots));
    memset(c->sign.data, UNKNOWN, (size_t)c->sign.count);
    MN_TRY(enter(c, &report->front));
    report->entered = c->entered.count;
    if (c->def->along_faces) {
        MN_TRY(find_faces_between(c));
    } else {
        MN_TRY(find_edges(c));
        MN_TRY(divide_edges(c, &report->split_edges));
        MN_TRY(find_faces(c));
    }
    MN_TRY(mn_tet_open_faces(mesh, &c->faces, &c->touched, &report->split_faces));
    // Repair would divide elements, and dust with them; what is parted at each vertex is enough to go on.
    return c->def->along_faces ? MN_OK : mn_tet_repair_vertices(mesh, &c->touched, &report->manifold);
}

mn_status mn_tet_mesh_cut(mn_tet_mesh *mesh, const mn_tet_cut_def *def, mn_tet_cut_report *report)
{
    memset(report, 0, sizeof *report);
    MN_TRY(check_def(mesh, def));
    if (mesh->vertex_slots == 0) return MN_OK;
    cutter c = {.mesh = mesh, .def = def, .normal = mn_normalize(def->normal)};
    const mn_status status = cut(&c, report);
    mn_array_free(mesh->ctx, &c.sign);
    mn_array_free(mesh->ctx, &c.entered);
    mn_array_free(mesh->ctx, &c.scratch);
    mn_array_free(mesh->ctx, &c.touched);
    mn_array_free(mesh->ctx, &c.zeros);
    mn_array_free(mesh->ctx, &c.edges);
    mn_array_free(mesh->ctx, &c.faces);
    return status;
}
