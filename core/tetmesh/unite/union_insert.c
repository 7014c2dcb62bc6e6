// SPDX-License-Identifier: Apache-2.0
//
// Cutting the surface of layer A into the tetrahedra of layer B, in three steps, each of which ends:
//
//   vertices  each seam vertex inside B divides the tetrahedron that contains it
//   edges     each face of B that a seam edge pierces is divided there. Dividing a face makes no new face
//             that the edge pierces, since all of them end in the new vertex, which is on the edge; and the
//             new vertices of one edge are joined by edges of B
//   faces     each edge of B that pierces a seam face is divided there. All new edges end in the new vertex,
//             which is on the face, so none of them pierces it
//
// Then no edge of B passes through a seam face, so the face is a union of faces of B. Later divisions refine
// that union and do not undo it: the number of seam edges and faces still to do falls with each, which is why
// the merge ends, without the contractions that [clausen2013] needs for its packing argument. That no edge
// passes through any more is checked at each face.
//
// Every question is an exact orientation of places as they are. New places are rounded, so the pieces of B
// are checked to be positive; a vertex made on a seam edge or face is known to be there by its label,
// whatever the rounded place says. A zero of a predicate, or a piece that is not positive, is a degenerate
// place: the attempt ends, and the next one moves the vertices of both layers by less than anything that
// matters.
#include "base/predicates.h"
#include "tetmesh/unite/union.h"

#include <stdlib.h>
#include <string.h>

// ---- mesh B ----

static mn_status add_piece(mn_tet_union *u, int32_t source, int32_t t)
{
    const mn_union_piece piece = {t, u->piece_first.data[source], u->b->stamp[t]};
    u->piece_first.data[source] = (int32_t)u->pieces.count;
    return mn_array_push(u->ctx, &u->pieces, &piece);
}

int32_t mn_tet_union_source(const mn_tet_union *u, int32_t t)
{
    return (int32_t)u->b->fields[0].data[t];
}

static mn_status build_b(mn_tet_union *u)
{
    MN_ARRAY(mn_vec3) x = {0};
    MN_ARRAY(mn_tet_indices) tets = {0};
    mn_status status = MN_OK;
    for (int64_t i = 0; i < u->b_near.count; i++)
        for (int32_t k = 0; k < 4; k++)
            MN_TRY_TO(done, status, mn_array_push(u->ctx, &u->b_global, &u->mesh->tet[u->b_near.data[i]][k]));
    mn_tet_list_sort_unique(&u->b_global);
    for (int64_t i = 0; i < u->b_global.count; i++) {
        const mn_vec3 place = u->mesh->position[u->b_global.data[i]];
        const mn_union_vertex vertex = {u->b_global.data[i], MN_SEAM_NOWHERE, -1};
        MN_TRY_TO(done, status, mn_array_push(u->ctx, &x, &place));
        MN_TRY_TO(done, status, mn_array_push(u->ctx, &u->b_vertex, &vertex));
    }
    for (int64_t i = 0; i < u->b_near.count; i++) {
        mn_tet_indices tet;
        for (int32_t k = 0; k < 4; k++)
            tet.v[k] = mn_tet_list_find(&u->b_global, u->mesh->tet[u->b_near.data[i]][k]);
        MN_TRY_TO(done, status, mn_array_push(u->ctx, &tets, &tet));
    }
    MN_TRY_TO(done, status,
              mn_tet_mesh_build(u->ctx, x.count, x.data, tets.count, (const int32_t(*)[4])tets.data, &u->b));
    MN_TRY_TO(done, status, mn_tet_mesh_add_field(u->b, "source", MN_TET_VALUE, 1, NULL));
    MN_TRY_TO(done, status, mn_array_resize(u->ctx, &u->piece_first, u->b_near.count));
    MN_TRY_TO(done, status, mn_array_resize(u->ctx, &u->divided, u->b_near.count));
    u->b_grid.ctx = u->ctx;
    for (int32_t i = 0; i < u->b_near.count; i++) {
        const mn_box box = mn_tet_box(u->b, i);
        const int32_t *v = u->b->tet[i];
        const mn_vec3 *p = u->b->position;
        if (!(mn_orient3d(p[v[0]], p[v[1]], p[v[2]], p[v[3]]) > 0)) {
            status = MN_TET_DEGENERATE;
            goto done;
        }
        u->piece_first.data[i] = -1, u->divided.data[i] = 0;
        u->b->fields[0].data[i] = i;
        MN_TRY_TO(done, status, add_piece(u, i, i));
        MN_TRY_TO(done, status, mn_array_push(u->ctx, &u->b_grid.boxes, &box));
    }
    status = mn_box_grid_build(&u->b_grid);
done:
    mn_array_free(u->ctx, &x);
    mn_array_free(u->ctx, &tets);
    return status;
}

mn_status mn_tet_union_pieces_near(mn_tet_union *u, mn_box box)
{
    MN_TRY(mn_box_grid_find(&u->b_grid, box, &u->near));
    u->tets.count = 0;
    for (int64_t i = 0; i < u->near.count; i++)
        for (int32_t p = u->piece_first.data[u->near.data[i]]; p >= 0; p = u->pieces.data[p].next) {
            const mn_union_piece *piece = &u->pieces.data[p];
            if (!mn_tet_alive(u->b, piece->tet) || u->b->stamp[piece->tet] != piece->stamp) continue;
            if (!mn_boxes_apart(box, mn_tet_box(u->b, piece->tet)))
                MN_TRY(mn_array_push(u->ctx, &u->tets, &piece->tet));
        }
    return MN_OK;
}

/// Exchanges one piece for others, all of which must be positive.
static mn_status exchange(mn_tet_union *u, int32_t t, int32_t count, const int32_t (*tets)[4])
{
    const mn_vec3 *x = u->b->position;
    const int32_t source = mn_tet_union_source(u, t);
    int32_t created[4];
    for (int32_t i = 0; i < count; i++)
        if (!(mn_orient3d(x[tets[i][0]], x[tets[i][1]], x[tets[i][2]], x[tets[i][3]]) > 0))
            return MN_TET_DEGENERATE;
    MN_TRY(mn_tet_mesh_replace(u->b, 1, &t, count, tets, created));
    u->divided.data[source] = 1;
    for (int32_t i = 0; i < count; i++) MN_TRY(add_piece(u, source, created[i]));
    return MN_OK;
}

static mn_status add_vertex(mn_tet_union *u, mn_vec3 place, mn_union_vertex label, int32_t *v)
{
    MN_TRY(mn_tet_mesh_add_vertex(u->b, place, 0, NULL, NULL, v));
    return mn_array_push(u->ctx, &u->b_vertex, &label); // slots of b are never given back
}

bool mn_tet_union_is_overgrown(const mn_tet_union *u)
{
    return u->fresh.count >= u->most_fresh;
}

/// A new vertex of the mesh, blended from vertices of layer A.
static mn_status add_fresh(mn_tet_union *u, mn_vec3 place, int32_t count, const int32_t *parents,
                           const double *weights, int32_t b, int32_t *reference)
{
    if (mn_tet_union_is_overgrown(u)) return MN_TET_DEGENERATE;
    mn_fresh_vertex fresh = {.position = place, .parent_count = count, .b = b, .slot = -1};
    memcpy(fresh.parents, parents, (size_t)count * sizeof *parents);
    memcpy(fresh.weights, weights, (size_t)count * sizeof *weights);
    *reference = -2 - (int32_t)u->fresh.count;
    return mn_array_push(u->ctx, &u->fresh, &fresh);
}

// ---- the seam ----

static int compare_edges(const void *a, const void *b)
{
    const mn_seam_edge *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

static mn_status collect_seam(mn_tet_union *u)
{
    const mn_tet_mesh *mesh = u->mesh;
    for (int64_t i = 0; i < u->a_near.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = u->a_near.data[i];
            if (mesh->mate[t][k] >= 0) continue;
            mn_seam_face face = {.tet = t, .face = k};
            for (int32_t c = 0; c < 3; c++) {
                face.v[c] = mesh->tet[t][mn_tet_face_corners[k][c]];
                MN_TRY(mn_array_push(u->ctx, &u->vertices, &face.v[c]));
            }
            for (int32_t c = 0; c < 3; c++) {
                const int32_t p = face.v[c], q = face.v[(c + 1) % 3];
                const mn_seam_edge edge = {p < q ? p : q, p < q ? q : p, 0, 0};
                MN_TRY(mn_array_push(u->ctx, &u->edges, &edge));
            }
            MN_TRY(mn_array_push(u->ctx, &u->faces, &face));
        }
    mn_tet_list_sort_unique(&u->vertices);
    if (u->edges.count) qsort(u->edges.data, (size_t)u->edges.count, sizeof *u->edges.data, compare_edges);
    int64_t kept = 0;
    for (int64_t i = 0; i < u->edges.count; i++)
        if (kept == 0 || compare_edges(&u->edges.data[kept - 1], &u->edges.data[i]) != 0)
            u->edges.data[kept++] = u->edges.data[i];
    u->edges.count = kept;
    for (int64_t i = 0; i < u->faces.count; i++)
        for (int32_t c = 0; c < 3; c++)
            u->faces.data[i].edge[c] =
                mn_tet_union_find_edge(u, u->faces.data[i].v[c], u->faces.data[i].v[(c + 1) % 3]);
    return MN_OK;
}

int32_t mn_tet_union_find_edge(const mn_tet_union *u, int32_t p, int32_t q)
{
    const mn_seam_edge key = {p < q ? p : q, p < q ? q : p, 0, 0};
    const mn_seam_edge *found =
        u->edges.count ? bsearch(&key, u->edges.data, (size_t)u->edges.count, sizeof key, compare_edges)
                       : NULL;
    return found ? (int32_t)(found - u->edges.data) : -1;
}

// ---- vertices ----

mn_status mn_tet_union_locate(mn_tet_union *u, mn_vec3 x, int32_t *found)
{
    *found = -1;
    MN_TRY(mn_tet_union_pieces_near(u, (mn_box){x, x}));
    for (int64_t i = 0; i < u->tets.count; i++) {
        const int32_t t = u->tets.data[i];
        double least = INFINITY;
        for (int32_t k = 0; k < 4 && least >= 0; k++) {
            mn_vec3 p[4];
            for (int32_t j = 0; j < 4; j++) p[j] = j == k ? x : u->b->position[u->b->tet[t][j]];
            least = fmin(least, mn_orient3d(p[0], p[1], p[2], p[3]));
        }
        if (least == 0) return MN_TET_DEGENERATE;
        if (least > 0) {
            *found = t;
            return MN_OK;
        }
    }
    return MN_OK;
}

static mn_status insert_vertices(mn_tet_union *u)
{
    for (int64_t i = 0; i < u->vertices.count; i++) {
        const int32_t v = u->vertices.data[i];
        const mn_vec3 x = u->mesh->position[v];
        int32_t t, fresh, tets[4][4];
        MN_TRY(mn_tet_union_locate(u, x, &t));
        if (t < 0) continue;
        const mn_inside_vertex inside = {v, u->b_near.data[mn_tet_union_source(u, t)]};
        MN_TRY(mn_array_push(u->ctx, &u->inside, &inside));
        MN_TRY(add_vertex(u, x, (mn_union_vertex){v, MN_SEAM_VERTEX, v}, &fresh));
        for (int32_t k = 0; k < 4; k++) {
            memcpy(tets[k], u->b->tet[t], sizeof tets[k]);
            tets[k][k] = fresh;
        }
        MN_TRY(exchange(u, t, 4, (const int32_t(*)[4])tets));
    }
    return MN_OK;
}

// ---- edges ----

/// Where segment p-q passes through triangle (a, b, c): 1 through its inside, 0 not at all, -1 degenerate.
static int32_t pierces(mn_vec3 p, mn_vec3 q, mn_vec3 a, mn_vec3 b, mn_vec3 c, double *fraction)
{
    const double ab = mn_orient3d(p, q, a, b), bc = mn_orient3d(p, q, b, c), ca = mn_orient3d(p, q, c, a);
    if (fmin(ab, fmin(bc, ca)) < 0 && fmax(ab, fmax(bc, ca)) > 0) return 0;
    const double at_p = mn_orient3d(a, b, c, p), at_q = mn_orient3d(a, b, c, q);
    if ((at_p > 0 && at_q > 0) || (at_p < 0 && at_q < 0)) return 0;
    if (ab == 0 || bc == 0 || ca == 0 || at_p == 0 || at_q == 0) return -1;
    *fraction = at_p / (at_p - at_q);
    return 1;
}

typedef struct pierced_face {
    int32_t v[3];
    double fraction;
} pierced_face;

static int compare_pierced(const void *a, const void *b)
{
    const pierced_face *x = a, *y = b;
    return x->fraction < y->fraction ? -1 : x->fraction > y->fraction;
}

typedef MN_ARRAY(pierced_face) pierced_faces;

static mn_status find_pierced(mn_tet_union *u, const mn_seam_edge *edge, pierced_faces *found)
{
    const mn_vec3 p = u->mesh->position[edge->a], q = u->mesh->position[edge->b];
    found->count = 0;
    MN_TRY(mn_tet_union_pieces_near(u, mn_box_add(mn_box_add(mn_box_empty(), p), q)));
    for (int64_t i = 0; i < u->tets.count; i++)
        for (int32_t k = 0; k < 4; k++) {
            const int32_t t = u->tets.data[i], mate = u->b->mate[t][k];
            if (mate >= 0 && mate < 4 * t + k) continue;
            pierced_face face = {.fraction = 0};
            mn_vec3 x[3];
            bool ends = false;
            for (int32_t c = 0; c < 3; c++) {
                face.v[c] = u->b->tet[t][mn_tet_face_corners[k][c]];
                x[c] = u->b->position[face.v[c]];
                const mn_union_vertex *label = &u->b_vertex.data[face.v[c]];
                ends = ends || (label->place == MN_SEAM_VERTEX &&
                                (label->index == edge->a || label->index == edge->b));
            }
            if (ends) continue;
            const int32_t verdict = pierces(p, q, x[0], x[1], x[2], &face.fraction);
            if (verdict < 0) return MN_TET_DEGENERATE;
            if (verdict > 0) MN_TRY(mn_array_push(u->ctx, found, &face));
        }
    if (found->count) qsort(found->data, (size_t)found->count, sizeof *found->data, compare_pierced);
    return MN_OK;
}

static mn_status divide_pierced(mn_tet_union *u, int32_t index, const pierced_face *face)
{
    const mn_seam_edge *edge = &u->edges.data[index];
    const int32_t t = mn_tet_mesh_find_face(u->b, face->v[0], face->v[1], face->v[2]);
    const double weights[2] = {1 - face->fraction, face->fraction};
    int32_t k = 0, fresh, reference;
    if (t < 0) return MN_TET_DEGENERATE;
    while (u->b->tet[t][k] == face->v[0] || u->b->tet[t][k] == face->v[1] || u->b->tet[t][k] == face->v[2])
        k++;
    const int32_t sides[2] = {4 * t + k, u->b->mate[t][k]}, parents[2] = {edge->a, edge->b};
    const mn_vec3 place = mn_lerp(u->mesh->position[edge->a], u->mesh->position[edge->b], face->fraction);
    MN_TRY(add_fresh(u, place, 2, parents, weights, u->b_near.data[mn_tet_union_source(u, t)], &reference));
    MN_TRY(add_vertex(u, place, (mn_union_vertex){reference, MN_SEAM_EDGE, index}, &fresh));
    MN_TRY(mn_array_push(u->ctx, &u->chain, &fresh));
    for (int32_t s = 0; s < 2 && sides[s] >= 0; s++) {
        int32_t thirds[3][4];
        for (int32_t i = 0; i < 3; i++) {
            memcpy(thirds[i], u->b->tet[sides[s] / 4], sizeof thirds[i]);
            thirds[i][mn_tet_face_corners[sides[s] % 4][i]] = fresh;
        }
        MN_TRY(exchange(u, sides[s] / 4, 3, (const int32_t(*)[4])thirds));
    }
    return MN_OK;
}

static mn_status insert_edges(mn_tet_union *u)
{
    pierced_faces found = {0};
    mn_status status = MN_OK;
    for (int32_t i = 0; i < u->edges.count && status == MN_OK; i++) {
        status = find_pierced(u, &u->edges.data[i], &found);
        if (status != MN_OK) break;
        u->edges.data[i].first = (int32_t)u->chain.count;
        u->edges.data[i].count = (int32_t)found.count;
        for (int64_t j = 0; j < found.count && status == MN_OK; j++)
            status = divide_pierced(u, i, &found.data[j]);
    }
    mn_array_free(u->ctx, &found);
    return status;
}

// ---- faces ----

bool mn_tet_union_is_on(const mn_tet_union *u, int32_t v, int32_t face)
{
    const mn_union_vertex *label = &u->b_vertex.data[v];
    const mn_seam_face *f = &u->faces.data[face];
    switch (label->place) {
    case MN_SEAM_VERTEX:
        return label->index == f->v[0] || label->index == f->v[1] || label->index == f->v[2];
    case MN_SEAM_EDGE:
        return label->index == f->edge[0] || label->index == f->edge[1] || label->index == f->edge[2];
    case MN_SEAM_FACE:
        return label->index == face;
    default:
        return false;
    }
}

typedef struct piercing_edge {
    int32_t a, b; ///< a < b
    double fraction;
} piercing_edge;
typedef MN_ARRAY(piercing_edge) piercing_edges;

static int compare_piercing(const void *a, const void *b)
{
    const piercing_edge *x = a, *y = b;
    if (x->a != y->a) return x->a < y->a ? -1 : 1;
    return x->b < y->b ? -1 : x->b > y->b;
}

mn_box mn_seam_face_box(const mn_tet_union *u, const mn_seam_face *face)
{
    mn_box box = mn_box_empty();
    for (int32_t c = 0; c < 3; c++) box = mn_box_add(box, u->mesh->position[face->v[c]]);
    return box;
}

/// The edges of b that pass through the face, once each.
static mn_status find_piercing(mn_tet_union *u, int32_t index, piercing_edges *found)
{
    const mn_seam_face *face = &u->faces.data[index];
    const mn_vec3 *x = u->mesh->position;
    found->count = 0;
    MN_TRY(mn_tet_union_pieces_near(u, mn_seam_face_box(u, face)));
    for (int64_t i = 0; i < u->tets.count; i++)
        for (int32_t e = 0; e < 6; e++) {
            const int32_t *tet = u->b->tet[u->tets.data[i]];
            const int32_t p = tet[mn_tet_edge_corners[e][0]], q = tet[mn_tet_edge_corners[e][1]];
            piercing_edge edge = {p < q ? p : q, p < q ? q : p, 0};
            if (mn_tet_union_is_on(u, p, index) || mn_tet_union_is_on(u, q, index)) continue;
            const int32_t verdict = pierces(u->b->position[edge.a], u->b->position[edge.b], x[face->v[0]],
                                            x[face->v[1]], x[face->v[2]], &edge.fraction);
            if (verdict < 0) return MN_TET_DEGENERATE;
            if (verdict > 0) MN_TRY(mn_array_push(u->ctx, found, &edge));
        }
    if (found->count) qsort(found->data, (size_t)found->count, sizeof *found->data, compare_piercing);
    int64_t kept = 0;
    for (int64_t i = 0; i < found->count; i++)
        if (kept == 0 || compare_piercing(&found->data[kept - 1], &found->data[i]) != 0)
            found->data[kept++] = found->data[i];
    found->count = kept;
    return MN_OK;
}

/// Barycentric coordinates of a place on a triangle.
static void weights_on(const mn_vec3 corner[3], mn_vec3 x, double weights[3])
{
    const mn_vec3 normal = mn_cross(mn_sub(corner[1], corner[0]), mn_sub(corner[2], corner[0]));
    const double all = mn_norm2(normal);
    for (int32_t c = 0; c < 3; c++) {
        const mn_vec3 part = mn_cross(mn_sub(corner[(c + 1) % 3], x), mn_sub(corner[(c + 2) % 3], x));
        weights[c] = all > 0 ? mn_dot(part, normal) / all : 1.0 / 3;
    }
}

static mn_status divide_piercing(mn_tet_union *u, int32_t index, const piercing_edge *edge)
{
    const mn_seam_face *face = &u->faces.data[index];
    const mn_vec3 corner[3] = {u->mesh->position[face->v[0]], u->mesh->position[face->v[1]],
                               u->mesh->position[face->v[2]]};
    const mn_vec3 place = mn_lerp(u->b->position[edge->a], u->b->position[edge->b], edge->fraction);
    double weights[3];
    int32_t fresh, reference;
    mn_tet_list *around = &u->near;
    around->count = 0;
    MN_TET_STAR(u->b, edge->a, code)
    {
        const int32_t t = code / 4;
        if (mn_tet_corner_of(u->b, t, edge->b) >= 0) MN_TRY(mn_array_push(u->ctx, around, &t));
    }
    if (around->count == 0) return MN_TET_DEGENERATE;
    weights_on(corner, place, weights);
    MN_TRY(add_fresh(u, place, 3, face->v, weights, u->b_near.data[mn_tet_union_source(u, around->data[0])],
                     &reference));
    MN_TRY(add_vertex(u, place, (mn_union_vertex){reference, MN_SEAM_FACE, index}, &fresh));
    MN_TRY(mn_array_push(u->ctx, &u->inner, &fresh));
    for (int64_t i = 0; i < around->count; i++) {
        int32_t halves[2][4];
        memcpy(halves[0], u->b->tet[around->data[i]], sizeof halves[0]);
        memcpy(halves[1], halves[0], sizeof halves[0]);
        halves[0][mn_tet_corner_of(u->b, around->data[i], edge->a)] = fresh;
        halves[1][mn_tet_corner_of(u->b, around->data[i], edge->b)] = fresh;
        MN_TRY(exchange(u, around->data[i], 2, (const int32_t(*)[4])halves));
    }
    return MN_OK;
}

static mn_status insert_face(mn_tet_union *u, int32_t index, piercing_edges *found)
{
    MN_TRY(find_piercing(u, index, found));
    u->faces.data[index].first_inner = (int32_t)u->inner.count;
    u->faces.data[index].inner_count = (int32_t)found->count;
    if (found->count == 0) return MN_OK;
    for (int64_t i = 0; i < found->count; i++) MN_TRY(divide_piercing(u, index, &found->data[i]));
    // The invariant on which the end of the merge rests.
    MN_TRY(find_piercing(u, index, found));
    return found->count == 0 ? MN_OK : MN_TET_DEGENERATE;
}

static mn_status insert_faces(mn_tet_union *u)
{
    piercing_edges found = {0};
    mn_status status = MN_OK;
    for (int32_t i = 0; i < u->faces.count && status == MN_OK; i++) status = insert_face(u, i, &found);
    mn_array_free(u->ctx, &found);
    return status;
}

mn_status mn_tet_union_insert(mn_tet_union *u)
{
    MN_TRY(build_b(u));
    MN_TRY(collect_seam(u));
    MN_TRY(insert_vertices(u));
    MN_TRY(insert_edges(u));
    MN_TRY(insert_faces(u));
    return mn_tet_union_find_parts(u);
}
