// SPDX-License-Identifier: Apache-2.0
//
// The triangulation that a seam face gets: corners, vertices on its edges and in its inside, with the faces
// of mesh B that lie on it among its triangles. A constrained triangulation in the plane: vertices are put in
// one by one, then each edge of B that is missing is brought in by turning the edges that cross it
// [sloan1993].
//
// The plane is the face without the coordinate along which its normal is longest, so places stay exact and
// every question is an exact orientation.
#include "base/predicates.h"
#include "tetmesh/unite/union.h"

typedef struct face_plane {
    mn_context *ctx;
    mn_tet_list references; ///< of the nodes
    MN_ARRAY(double) xy;    ///< two for each node
    mn_triangle_list triangles;
    mn_tet_list held;  ///< pairs of nodes: edges of the parts
    mn_tet_list queue; ///< pairs of nodes: edges that cross the one being brought in
} face_plane;

static double turn(const face_plane *f, int32_t a, int32_t b, int32_t c)
{
    return mn_orient2d(&f->xy.data[2 * a], &f->xy.data[2 * b], &f->xy.data[2 * c]);
}

static mn_status add_node(face_plane *f, int32_t reference, mn_vec3 x, int32_t axis, bool flip, int32_t *node)
{
    const double all[3] = {x.x, x.y, x.z};
    const double first = all[(axis + 1) % 3], second = all[(axis + 2) % 3];
    *node = (int32_t)f->references.count;
    MN_TRY(mn_array_push(f->ctx, &f->references, &reference));
    MN_TRY(mn_array_push(f->ctx, &f->xy, flip ? &second : &first));
    return mn_array_push(f->ctx, &f->xy, flip ? &first : &second);
}

/// The triangle with the directed edge a -> b, and the corner opposite to it; -1 for none.
static int32_t find_edge(const face_plane *f, int32_t a, int32_t b, int32_t *tip)
{
    for (int32_t i = 0; i < f->triangles.count; i++)
        for (int32_t c = 0; c < 3; c++)
            if (f->triangles.data[i].v[c] == a && f->triangles.data[i].v[(c + 1) % 3] == b) {
                *tip = f->triangles.data[i].v[(c + 2) % 3];
                return i;
            }
    return -1;
}

static mn_status put(face_plane *f, int32_t at, int32_t a, int32_t b, int32_t c)
{
    const mn_triangle_indices triangle = {{a, b, c}};
    if (!(turn(f, a, b, c) > 0)) return MN_TET_DEGENERATE;
    if (at < 0) return mn_array_push(f->ctx, &f->triangles, &triangle);
    f->triangles.data[at] = triangle;
    return MN_OK;
}

/// A node on the outline, between a and b.
static mn_status split_outline(face_plane *f, int32_t a, int32_t b, int32_t node)
{
    int32_t tip = -1;
    const int32_t at = find_edge(f, a, b, &tip);
    if (at < 0) return MN_TET_DEGENERATE;
    MN_TRY(put(f, at, a, node, tip));
    return put(f, -1, node, b, tip);
}

/// A node on the inner edge between two triangles.
static mn_status split_edge(face_plane *f, int32_t a, int32_t b, int32_t node)
{
    int32_t tip = -1, other = -1;
    const int32_t left = find_edge(f, a, b, &tip), right = find_edge(f, b, a, &other);
    if (left < 0 || right < 0) return MN_TET_DEGENERATE;
    MN_TRY(put(f, left, a, node, tip));
    MN_TRY(put(f, -1, node, b, tip));
    MN_TRY(put(f, right, b, node, other));
    return put(f, -1, node, a, other);
}

static mn_status split_inside(face_plane *f, int32_t node)
{
    for (int32_t i = 0; i < f->triangles.count; i++) {
        const mn_triangle_indices t = f->triangles.data[i];
        double least = INFINITY;
        int32_t at = 0;
        for (int32_t c = 0; c < 3; c++) {
            const double side = turn(f, t.v[c], t.v[(c + 1) % 3], node);
            if (side < least) least = side, at = c;
        }
        if (least < 0) continue;
        if (least == 0) return split_edge(f, t.v[at], t.v[(at + 1) % 3], node);
        MN_TRY(put(f, i, t.v[0], t.v[1], node));
        MN_TRY(put(f, -1, t.v[1], t.v[2], node));
        return put(f, -1, t.v[2], t.v[0], node);
    }
    return MN_TET_DEGENERATE;
}

static bool cross(const face_plane *f, int32_t a, int32_t b, int32_t p, int32_t q)
{
    if (p == a || p == b || q == a || q == b) return false;
    const double pa = turn(f, a, b, p), qa = turn(f, a, b, q);
    return pa * qa < 0 && turn(f, p, q, a) * turn(f, p, q, b) < 0;
}

static bool is_held(const face_plane *f, int32_t p, int32_t q)
{
    for (int64_t i = 0; i + 1 < f->held.count; i += 2)
        if ((f->held.data[i] == p && f->held.data[i + 1] == q) ||
            (f->held.data[i] == q && f->held.data[i + 1] == p))
            return true;
    return false;
}

static mn_status push_pair(face_plane *f, mn_tet_list *pairs, int32_t p, int32_t q)
{
    MN_TRY(mn_array_push(f->ctx, pairs, &p));
    return mn_array_push(f->ctx, pairs, &q);
}

/// Turns edges until a-b is one.
static mn_status bring_in(face_plane *f, int32_t a, int32_t b)
{
    int32_t tip = -1, other = -1;
    if (find_edge(f, a, b, &tip) >= 0 || find_edge(f, b, a, &tip) >= 0) return MN_OK;
    f->queue.count = 0;
    for (int64_t i = 0; i < f->triangles.count; i++)
        for (int32_t c = 0; c < 3; c++) {
            const int32_t p = f->triangles.data[i].v[c], q = f->triangles.data[i].v[(c + 1) % 3];
            if (p < q && cross(f, a, b, p, q)) MN_TRY(push_pair(f, &f->queue, p, q));
        }
    const int64_t most = 200 + 40 * f->queue.count;
    for (int64_t at = 0; at + 1 < f->queue.count; at += 2) {
        const int32_t p = f->queue.data[at], q = f->queue.data[at + 1];
        if (at > 2 * most) return MN_TET_DEGENERATE;
        const int32_t left = find_edge(f, p, q, &tip), right = find_edge(f, q, p, &other);
        if (left < 0 || right < 0) return MN_TET_DEGENERATE;
        // Only a strictly convex quadrilateral has its other diagonal inside.
        if (!(turn(f, tip, p, other) > 0 && turn(f, other, q, tip) > 0)) {
            MN_TRY(push_pair(f, &f->queue, p, q));
            continue;
        }
        MN_TRY(put(f, left, tip, p, other));
        MN_TRY(put(f, right, other, q, tip));
        if (cross(f, a, b, tip, other)) MN_TRY(push_pair(f, &f->queue, tip, other));
    }
    return find_edge(f, a, b, &tip) >= 0 || find_edge(f, b, a, &tip) >= 0 ? MN_OK : MN_TET_DEGENERATE;
}

/// Makes the triangulation Delaunay where no edge is held: of the nodes in a row along a cut, no three make a
/// triangle as long as there is another. Turning by the exact circle test comes to an end.
static mn_status relax(face_plane *f)
{
    bool turned = true;
    for (int32_t walk = 0; walk < 100 && turned; walk++) {
        turned = false;
        for (int32_t i = 0; i < f->triangles.count; i++)
            for (int32_t c = 0; c < 3; c++) {
                const mn_triangle_indices t = f->triangles.data[i];
                const int32_t p = t.v[c], q = t.v[(c + 1) % 3], tip = t.v[(c + 2) % 3];
                int32_t other = -1;
                const int32_t right = find_edge(f, q, p, &other);
                if (right < 0 || is_held(f, p, q)) continue;
                if (!(mn_incircle(&f->xy.data[2 * p], &f->xy.data[2 * q], &f->xy.data[2 * tip],
                                  &f->xy.data[2 * other]) > 0))
                    continue;
                if (!(turn(f, tip, p, other) > 0 && turn(f, other, q, tip) > 0)) continue;
                MN_TRY(put(f, i, tip, p, other));
                MN_TRY(put(f, right, other, q, tip));
                turned = true;
            }
    }
    return MN_OK;
}

static int32_t node_of(const face_plane *f, int32_t reference)
{
    for (int32_t i = 0; i < f->references.count; i++)
        if (f->references.data[i] == reference) return i;
    return -1;
}

static mn_status fill_plane(const mn_tet_union *u, const mn_seam_face *face, face_plane *f)
{
    const mn_vec3 *x = u->mesh->position;
    const mn_vec3 n = mn_cross(mn_sub(x[face->v[1]], x[face->v[0]]), mn_sub(x[face->v[2]], x[face->v[0]]));
    const int32_t axis =
        fabs(n.x) > fabs(n.y) ? (fabs(n.x) > fabs(n.z) ? 0 : 2) : (fabs(n.y) > fabs(n.z) ? 1 : 2);
    const bool flip = mn_component(n, axis) < 0;
    int32_t node;
    for (int32_t c = 0; c < 3; c++) MN_TRY(add_node(f, face->v[c], x[face->v[c]], axis, flip, &node));
    MN_TRY(put(f, -1, 0, 1, 2));
    for (int32_t c = 0; c < 3; c++) {
        const mn_seam_edge *edge = &u->edges.data[face->edge[c]];
        int32_t last = c;
        for (int32_t i = 0; i < edge->count; i++) {
            const int32_t v = u->chain.data[edge->first + (edge->a == face->v[c] ? i : edge->count - 1 - i)];
            MN_TRY(add_node(f, u->b_vertex.data[v].reference, u->b->position[v], axis, flip, &node));
            MN_TRY(split_outline(f, last, (c + 1) % 3, node));
            last = node;
        }
    }
    for (int32_t i = 0; i < face->inner_count; i++) {
        const int32_t v = u->inner.data[face->first_inner + i];
        MN_TRY(add_node(f, u->b_vertex.data[v].reference, u->b->position[v], axis, flip, &node));
        MN_TRY(split_inside(f, node));
    }
    return MN_OK;
}

static mn_status bring_in_parts(const mn_tet_union *u, const mn_seam_face *face, face_plane *f)
{
    int32_t tip = -1;
    for (int32_t walk = 0; walk < 2; walk++)
        for (int32_t i = 0; i < face->part_count; i++) {
            int32_t v[3];
            for (int32_t c = 0; c < 3; c++) {
                const int32_t vertex = u->parts.data[face->first_part + i].v[c];
                v[c] = node_of(f, u->b_vertex.data[vertex].reference);
                if (v[c] < 0) return MN_TET_DEGENERATE;
            }
            for (int32_t c = 0; walk == 0 && c < 3; c++) {
                MN_TRY(bring_in(f, v[c], v[(c + 1) % 3]));
                MN_TRY(push_pair(f, &f->held, v[c], v[(c + 1) % 3]));
            }
            // With all edges there, the part must be a triangle.
            if (walk == 1 && (find_edge(f, v[0], v[1], &tip) < 0 || tip != v[2])) return MN_TET_DEGENERATE;
        }
    return MN_OK;
}

mn_status mn_tet_union_triangulate(mn_tet_union *u, const mn_seam_face *face, mn_triangle_list *triangles)
{
    face_plane f = {.ctx = u->ctx};
    mn_status status;
    triangles->count = 0;
    MN_TRY_TO(done, status, fill_plane(u, face, &f));
    MN_TRY_TO(done, status, bring_in_parts(u, face, &f));
    MN_TRY_TO(done, status, relax(&f));
    for (int64_t i = 0; i < f.triangles.count; i++) {
        mn_triangle_indices triangle;
        for (int32_t c = 0; c < 3; c++) triangle.v[c] = f.references.data[f.triangles.data[i].v[c]];
        MN_TRY_TO(done, status, mn_array_push(u->ctx, triangles, &triangle));
    }
done:
    mn_array_free(u->ctx, &f.references);
    mn_array_free(u->ctx, &f.xy);
    mn_array_free(u->ctx, &f.triangles);
    mn_array_free(u->ctx, &f.held);
    mn_array_free(u->ctx, &f.queue);
    return status;
}
