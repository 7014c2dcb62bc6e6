// SPDX-License-Identifier: Apache-2.0
//
// What goes and what comes when layer B ends at the surface of layer A: pieces of B inside A go; tetrahedra
// of A at the seam are divided to have the faces that B's pieces have there.
//
// How a face of A is divided depends on that face alone, so that both its sides agree: a face on the seam
// has the triangles of union_face.c, another one with one divided edge is a fan from the corner opposite
// to it, with two or three a fan from its middle. A tetrahedron with one divided edge and no divided seam
// face becomes a row along that edge; any other is filled with cones from its middle over its divided faces.
#include "base/predicates.h"
#include "tetmesh/unite/union.h"

#include <string.h>

// ---- inside and outside ----

/// Spreads the sides that the seam gave over everything that it does not part.
static mn_status spread_sides(mn_tet_union *u, mn_tet_list *walk)
{
    for (int64_t i = 0; i < walk->count; i++) {
        const int32_t t = walk->data[i];
        for (int32_t k = 0; k < 4; k++) {
            const int32_t mate = u->b->mate[t][k], next = mate / 4;
            if (mate < 0 || (u->wall.data[t] >> k & 1)) continue;
            if (u->side.data[next] == u->side.data[t]) continue;
            if (u->side.data[next] != 0) return MN_TET_DEGENERATE;
            u->side.data[next] = u->side.data[t];
            MN_TRY(mn_array_push(u->ctx, walk, &next));
        }
    }
    return MN_OK;
}

/// A place lies in one of layer A's tetrahedra.
static bool is_in_a(const mn_tet_union *u, mn_vec3 x)
{
    for (int64_t i = 0; i < u->a_core.count; i++) {
        const int32_t *v = u->mesh->tet[u->a_core.data[i]];
        bool in = true;
        for (int32_t k = 0; k < 4 && in; k++) {
            mn_vec3 p[4];
            for (int32_t j = 0; j < 4; j++) p[j] = j == k ? x : u->mesh->position[v[j]];
            in = mn_orient3d(p[0], p[1], p[2], p[3]) >= 0;
        }
        if (in) return true;
    }
    return false;
}

static mn_status find_sides(mn_tet_union *u)
{
    mn_tet_list *walk = &u->tets;
    walk->count = 0;
    for (int32_t t = 0; t < u->b->tet_slots; t++)
        if (mn_tet_alive(u->b, t) && u->side.data[t]) MN_TRY(mn_array_push(u->ctx, walk, &t));
    MN_TRY(spread_sides(u, walk));
    // What the seam does not touch lies in A as a whole or not at all.
    for (int32_t t = 0; t < u->b->tet_slots; t++) {
        if (!mn_tet_alive(u->b, t) || u->side.data[t]) continue;
        const int32_t *v = u->b->tet[t];
        const mn_vec3 *x = u->b->position;
        const mn_vec3 centre = mn_scale(0.25, mn_add(mn_add(x[v[0]], x[v[1]]), mn_add(x[v[2]], x[v[3]])));
        u->side.data[t] = is_in_a(u, centre) ? 1 : 2;
        walk->count = 0;
        MN_TRY(mn_array_push(u->ctx, walk, &t));
        MN_TRY(spread_sides(u, walk));
    }
    // What lies inside must not reach beyond the tetrahedra that were looked at.
    for (int32_t t = 0; t < u->b->tet_slots; t++) {
        if (!mn_tet_alive(u->b, t) || u->side.data[t] != 1) continue;
        const int32_t source = u->b_near.data[mn_tet_union_source(u, t)];
        for (int32_t k = 0; k < 4; k++)
            if (u->mesh->mate[source][k] >= 0 &&
                mn_tet_list_find(&u->b_near, u->mesh->mate[source][k] / 4) < 0)
                return MN_TET_DEGENERATE;
    }
    return MN_OK;
}

// ---- layer A ----

typedef struct face_middle {
    mn_tet_face key;
    int32_t reference;
} face_middle;

typedef struct divider {
    mn_tet_union *u;
    MN_ARRAY(face_middle) middles;
    mn_tet_list outline;         ///< references around a face
    mn_triangle_list triangles;  ///< of a face
    MN_ARRAY(int32_t) face_jobs; ///< per a_near and face: seam face with parts, -1 for none
} divider;

static mn_status add_middle(mn_tet_union *u, int32_t count, const int32_t *parents, int32_t *reference)
{
    mn_fresh_vertex fresh = {.parent_count = count, .b = -1, .slot = -1};
    for (int32_t i = 0; i < count; i++) {
        fresh.parents[i] = parents[i], fresh.weights[i] = 1.0 / count;
        fresh.position = mn_axpy(fresh.position, 1.0 / count, u->mesh->position[parents[i]]);
    }
    *reference = -2 - (int32_t)u->fresh.count;
    return mn_array_push(u->ctx, &u->fresh, &fresh);
}

static mn_status middle_of_face(divider *d, const int32_t v[3], int32_t *reference)
{
    const int32_t tet[4] = {v[0], v[1], v[2], -1};
    face_middle middle;
    mn_tet_face_key(tet, 3, middle.key.v);
    for (int64_t i = d->middles.count; i-- > 0;)
        if (memcmp(d->middles.data[i].key.v, middle.key.v, sizeof middle.key.v) == 0) {
            *reference = d->middles.data[i].reference;
            return MN_OK;
        }
    MN_TRY(add_middle(d->u, 3, v, &middle.reference));
    *reference = middle.reference;
    return mn_array_push(d->u->ctx, &d->middles, &middle);
}

static int32_t chain_count(const mn_tet_union *u, int32_t p, int32_t q)
{
    const int32_t edge = mn_tet_union_find_edge(u, p, q);
    return edge < 0 ? 0 : u->edges.data[edge].count;
}

/// Reference of vertex i on the way from p to q.
static int32_t chain_at(const mn_tet_union *u, int32_t p, int32_t q, int32_t i)
{
    const mn_seam_edge *edge = &u->edges.data[mn_tet_union_find_edge(u, p, q)];
    const int32_t v = u->chain.data[edge->first + (edge->a == p ? i : edge->count - 1 - i)];
    return u->b_vertex.data[v].reference;
}

/// The triangles of a face given by its corners, counter-clockwise.
static mn_status divide_face(divider *d, const int32_t v[3], int32_t job)
{
    mn_tet_union *u = d->u;
    int32_t divided = 0, opposite = 0, hub;
    if (job >= 0) return mn_tet_union_triangulate(u, &u->faces.data[job], &d->triangles);
    d->outline.count = d->triangles.count = 0;
    for (int32_t c = 0; c < 3; c++) {
        const int32_t count = chain_count(u, v[c], v[(c + 1) % 3]);
        MN_TRY(mn_array_push(u->ctx, &d->outline, &v[c]));
        if (count) divided++, opposite = v[(c + 2) % 3];
        for (int32_t i = 0; i < count; i++) {
            const int32_t reference = chain_at(u, v[c], v[(c + 1) % 3], i);
            MN_TRY(mn_array_push(u->ctx, &d->outline, &reference));
        }
    }
    hub = divided == 0 ? v[0] : opposite;
    if (divided > 1) MN_TRY(middle_of_face(d, v, &hub));
    for (int64_t i = 0; i < d->outline.count; i++) {
        const mn_triangle_indices triangle = {
            {hub, d->outline.data[i], d->outline.data[(i + 1) % d->outline.count]}};
        if (triangle.v[1] != hub && triangle.v[2] != hub)
            MN_TRY(mn_array_push(u->ctx, &d->triangles, &triangle));
    }
    return MN_OK;
}

static mn_vec3 place_of(const mn_tet_union *u, int32_t reference)
{
    return reference >= 0 ? u->mesh->position[reference] : u->fresh.data[-2 - reference].position;
}

static mn_status make_tet(mn_tet_union *u, int32_t source, int32_t a, int32_t b, int32_t c, int32_t e)
{
    const mn_fresh_tet tet = {{a, b, c, e}, source};
    if (!(mn_orient3d(place_of(u, a), place_of(u, b), place_of(u, c), place_of(u, e)) > 0))
        return MN_TET_DEGENERATE;
    return mn_array_push(u->ctx, &u->made, &tet);
}

/// A row of tetrahedra along the one divided edge.
static mn_status divide_along(mn_tet_union *u, int32_t t, int32_t edge)
{
    const int32_t i = mn_tet_edge_corners[edge][0], j = mn_tet_edge_corners[edge][1];
    const int32_t *v = u->mesh->tet[t], count = chain_count(u, v[i], v[j]);
    for (int32_t s = 0; s <= count; s++) {
        int32_t w[4];
        memcpy(w, v, sizeof w);
        if (s > 0) w[i] = chain_at(u, v[i], v[j], s - 1);
        if (s < count) w[j] = chain_at(u, v[i], v[j], s);
        MN_TRY(make_tet(u, t, w[0], w[1], w[2], w[3]));
    }
    return MN_OK;
}

static mn_status divide_a(divider *d, int32_t index)
{
    mn_tet_union *u = d->u;
    const int32_t t = u->a_near.data[index], *v = u->mesh->tet[t];
    const int32_t *jobs = &d->face_jobs.data[4 * index];
    int32_t divided = 0, edge = 0, middle;
    for (int32_t e = 0; e < 6; e++)
        if (chain_count(u, v[mn_tet_edge_corners[e][0]], v[mn_tet_edge_corners[e][1]])) divided++, edge = e;
    const bool has_job = jobs[0] >= 0 || jobs[1] >= 0 || jobs[2] >= 0 || jobs[3] >= 0;
    if (!has_job && divided == 0) return MN_OK;
    MN_TRY(mn_array_push(u->ctx, &u->old, &t));
    if (!has_job && divided == 1) return divide_along(u, t, edge);
    MN_TRY(add_middle(u, 4, v, &middle));
    for (int32_t k = 0; k < 4; k++) {
        const int32_t face[3] = {v[mn_tet_face_corners[k][0]], v[mn_tet_face_corners[k][1]],
                                 v[mn_tet_face_corners[k][2]]};
        MN_TRY(divide_face(d, face, jobs[k]));
        for (int64_t i = 0; i < d->triangles.count; i++) {
            const int32_t *w = d->triangles.data[i].v;
            MN_TRY(make_tet(u, t, middle, w[0], w[1], w[2]));
        }
    }
    return MN_OK;
}

static mn_status divide_layer_a(mn_tet_union *u)
{
    divider d = {.u = u};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(u->ctx, &d.face_jobs, 4 * u->a_near.count));
    memset(d.face_jobs.data, 0xff, mn_bytes(d.face_jobs.count, sizeof *d.face_jobs.data));
    for (int32_t i = 0; i < u->faces.count; i++)
        if (u->faces.data[i].part_count)
            d.face_jobs.data[4 * mn_tet_list_find(&u->a_near, u->faces.data[i].tet) + u->faces.data[i].face] =
                i;
    for (int32_t i = 0; i < u->a_near.count; i++) MN_TRY_TO(done, status, divide_a(&d, i));
    u->made_of_a = u->made.count;
done:
    mn_array_free(u->ctx, &d.middles);
    mn_array_free(u->ctx, &d.outline);
    mn_array_free(u->ctx, &d.triangles);
    mn_array_free(u->ctx, &d.face_jobs);
    return status;
}

// ---- layer B ----

static mn_status keep_layer_b(mn_tet_union *u)
{
    // A source that lies inside goes as a whole; one that nothing happened to stays.
    for (int32_t t = 0; t < u->b->tet_slots; t++)
        if (mn_tet_alive(u->b, t) && u->side.data[t] == 1) u->divided.data[mn_tet_union_source(u, t)] = 1;
    for (int64_t i = 0; i < u->b_near.count; i++)
        if (u->divided.data[i]) MN_TRY(mn_array_push(u->ctx, &u->old, &u->b_near.data[i]));
    for (int32_t t = 0; t < u->b->tet_slots; t++) {
        if (!mn_tet_alive(u->b, t) || u->side.data[t] != 2) continue;
        const int32_t source = mn_tet_union_source(u, t);
        if (!u->divided.data[source]) continue;
        mn_fresh_tet tet = {.source = u->b_near.data[source]};
        for (int32_t k = 0; k < 4; k++) tet.v[k] = u->b_vertex.data[u->b->tet[t][k]].reference;
        MN_TRY(mn_array_push(u->ctx, &u->made, &tet));
    }
    return MN_OK;
}

mn_status mn_tet_union_assemble(mn_tet_union *u)
{
    MN_TRY(find_sides(u));
    MN_TRY(divide_layer_a(u));
    return keep_layer_b(u);
}
