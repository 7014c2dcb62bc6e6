// SPDX-License-Identifier: Apache-2.0
//
// Closest points by a tree of boxes over the triangles; the sign by the angle-weighted pseudonormal of the
// feature (face, edge or corner) that the closest point lies on [baerentzen2005]:
//
//   inside  <=>  (x - closest) . n < 0
//   n of a face: its normal; of an edge: the sum of its two faces' normals;
//   of a corner: the sum of its faces' normals, each times its angle there.
//
// This sign is exact for closed surfaces without self-intersection. All of it is divided by the sign of the
// enclosed volume, so that surfaces that face in work too.
#include "meniscus/mesh_distance.h"

#include "meniscus/array.h"

#include <stdlib.h>
#include <string.h>

enum { LEAF = 4, STACK = 192 };

typedef struct triangle {
    int64_t points[3];  ///< of the geo
    int64_t corners[3]; ///< points with those at one place made one
    mn_vec3 a, b, c;
    mn_vec3 normal;         ///< unit
    mn_vec3 edge_normal[3]; ///< of edges ab, bc, ca; not normalised
} triangle;

typedef struct tree_node {
    mn_box box;
    int32_t first, count; ///< triangles of a leaf; count 0: children are `first` and `first` + 1
} tree_node;

struct mn_mesh_distance {
    mn_context *ctx;
    MN_ARRAY(triangle) triangles;
    MN_ARRAY(tree_node) nodes;
    MN_ARRAY(mn_vec3) corner_normals;
    mn_mesh_facts facts;
    double turn; ///< 1, or -1 when the polygons face in
};

// ---- triangles ----

// For every point the first point at its place, found by sorting.
typedef struct placed {
    float x[3];
    int64_t point;
} placed;

static int compare_places(const void *pa, const void *pb)
{
    const placed *a = pa, *b = pb;
    for (int i = 0; i < 3; i++)
        if (a->x[i] != b->x[i]) return a->x[i] < b->x[i] ? -1 : 1;
    return a->point < b->point ? -1 : a->point > b->point;
}

static mn_status join_points(mn_context *ctx, const mn_geo *geo, int64_t *first_at)
{
    const int64_t count = mn_geo_point_count(geo);
    const float *p = mn_geo_positions(geo);
    placed *places = mn_allocate(ctx, mn_bytes(count, sizeof *places));
    if (!places) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        places[i].point = i;
        for (int k = 0; k < 3; k++) places[i].x[k] = p[3 * i + k] + 0.0f; // -0 is 0
    }
    qsort(places, (size_t)count, sizeof *places, compare_places);
    for (int64_t i = 0; i < count; i++) {
        const bool same = i > 0 && memcmp(places[i].x, places[i - 1].x, sizeof places[i].x) == 0;
        first_at[places[i].point] = same ? first_at[places[i - 1].point] : places[i].point;
    }
    mn_release(ctx, places, mn_bytes(count, sizeof *places));
    return MN_OK;
}

static mn_status add_triangle(mn_mesh_distance *mesh, const mn_geo *geo, const int64_t *first_at,
                              const int64_t p[3])
{
    triangle t;
    memset(&t, 0, sizeof t);
    for (int k = 0; k < 3; k++) t.points[k] = p[k], t.corners[k] = first_at[p[k]];
    t.a = mn_geo_position(geo, p[0]), t.b = mn_geo_position(geo, p[1]), t.c = mn_geo_position(geo, p[2]);
    const mn_vec3 cross = mn_cross(mn_sub(t.b, t.a), mn_sub(t.c, t.a));
    t.normal = mn_normalize(cross);
    if (t.corners[0] == t.corners[1] || t.corners[1] == t.corners[2] || t.corners[2] == t.corners[0])
        return MN_OK;
    mesh->facts.area += 0.5 * mn_norm(cross);
    mesh->facts.volume += mn_dot(t.a, mn_cross(t.b, t.c)) / 6.0;
    mesh->facts.bounds = mn_box_add(mn_box_add(mn_box_add(mesh->facts.bounds, t.a), t.b), t.c);
    return mn_array_push(mesh->ctx, &mesh->triangles, &t);
}

static mn_status add_triangles(mn_mesh_distance *mesh, const mn_geo *geo, const int64_t *first_at)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        if (kinds[p] != MN_POLYGON) continue;
        for (int64_t v = starts[p]; v < starts[p + 1]; v++)
            if (!mn_is_finite3(mn_geo_position(geo, points[v])))
                return mn_fail(mesh->ctx, MN_ERROR_INPUT, "Point %lld has a position that is not a number.",
                               (long long)points[v]);
        for (int64_t v = starts[p] + 1; v + 1 < starts[p + 1]; v++)
            MN_TRY(add_triangle(mesh, geo, first_at,
                                (const int64_t[]){points[starts[p]], points[v], points[v + 1]}));
    }
    if (mesh->triangles.count > INT32_MAX / 2)
        return mn_fail(mesh->ctx, MN_ERROR_UNSUPPORTED, "The mesh has more than a billion triangles.");
    mesh->facts.triangles = mesh->triangles.count;
    return MN_OK;
}

// ---- edges and normals ----

typedef struct edge {
    int64_t low, high;
    int32_t triangle;
    int8_t side, direction;
} edge;

static int compare_edges(const void *pa, const void *pb)
{
    const edge *a = pa, *b = pb;
    if (a->low != b->low) return a->low < b->low ? -1 : 1;
    if (a->high != b->high) return a->high < b->high ? -1 : 1;
    if (a->triangle != b->triangle) return a->triangle < b->triangle ? -1 : 1;
    return a->side - b->side;
}

// The edges [first, last) lie between the same two corners.
static void join_edges(mn_mesh_distance *mesh, const edge *edges, int64_t first, int64_t last)
{
    mn_vec3 sum = {0, 0, 0};
    int direction = 0;
    for (int64_t i = first; i < last; i++) {
        sum = mn_add(sum, mesh->triangles.data[edges[i].triangle].normal);
        direction += edges[i].direction;
    }
    for (int64_t i = first; i < last; i++)
        mesh->triangles.data[edges[i].triangle].edge_normal[edges[i].side] = sum;
    if (last - first == 1)
        mesh->facts.open_edges++;
    else if (last - first != 2 || direction != 0)
        mesh->facts.crowded_edges++;
}

static mn_status find_edges(mn_mesh_distance *mesh)
{
    const int64_t count = 3 * mesh->triangles.count;
    edge *edges = mn_allocate(mesh->ctx, mn_bytes(count, sizeof *edges));
    if (!edges && count > 0) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        const triangle *t = &mesh->triangles.data[i / 3];
        const int64_t u = t->corners[i % 3], v = t->corners[(i + 1) % 3];
        edges[i] = (edge){u < v ? u : v, u < v ? v : u, (int32_t)(i / 3), (int8_t)(i % 3), u < v ? 1 : -1};
    }
    if (count > 0) qsort(edges, (size_t)count, sizeof *edges, compare_edges);
    for (int64_t first = 0, last; first < count; first = last) {
        for (last = first + 1;
             last < count && edges[last].low == edges[first].low && edges[last].high == edges[first].high;)
            last++;
        join_edges(mesh, edges, first, last);
    }
    mn_release(mesh->ctx, edges, mn_bytes(count, sizeof *edges));
    mesh->facts.closed = count > 0 && mesh->facts.open_edges == 0 && mesh->facts.crowded_edges == 0;
    mesh->turn = mesh->facts.volume < 0 ? -1.0 : 1.0;
    return MN_OK;
}

static double angle_between(mn_vec3 u, mn_vec3 v)
{
    return atan2(mn_norm(mn_cross(u, v)), mn_dot(u, v));
}

static mn_status find_corner_normals(mn_mesh_distance *mesh, int64_t point_count)
{
    MN_TRY(mn_array_resize(mesh->ctx, &mesh->corner_normals, point_count));
    for (int64_t i = 0; i < point_count; i++) mesh->corner_normals.data[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < mesh->triangles.count; i++) {
        const triangle *t = &mesh->triangles.data[i];
        const mn_vec3 x[3] = {t->a, t->b, t->c};
        for (int k = 0; k < 3; k++) {
            const double angle = angle_between(mn_sub(x[(k + 1) % 3], x[k]), mn_sub(x[(k + 2) % 3], x[k]));
            mn_vec3 *n = &mesh->corner_normals.data[t->corners[k]];
            *n = mn_axpy(*n, angle, t->normal);
        }
    }
    return MN_OK;
}

// ---- the tree ----

static double along(mn_vec3 v, int axis)
{
    return axis == 0 ? v.x : axis == 1 ? v.y : v.z;
}

static mn_vec3 middle_of(const triangle *t)
{
    return mn_scale(1.0 / 3.0, mn_add(t->a, mn_add(t->b, t->c)));
}

// Moves triangles whose middle is below the plane to the front; takes half of them when that is lopsided, so
// that no path in the tree is longer than log(2^31) / log(8/7) = 161.
static int32_t split_triangles(triangle *t, int32_t count)
{
    mn_box middles = mn_box_empty();
    for (int32_t i = 0; i < count; i++) middles = mn_box_add(middles, middle_of(&t[i]));
    const mn_vec3 e = mn_sub(middles.max, middles.min);
    const int axis = e.x >= e.y && e.x >= e.z ? 0 : e.y >= e.z ? 1 : 2;
    const double plane = 0.5 * (along(middles.min, axis) + along(middles.max, axis));
    int32_t front = 0;
    for (int32_t i = 0; i < count; i++)
        if (along(middle_of(&t[i]), axis) < plane) {
            const triangle moved = t[front];
            t[front++] = t[i];
            t[i] = moved;
        }
    return front < count / 8 + 1 || front > count - count / 8 - 1 ? count / 2 : front;
}

static mn_status build_tree(mn_mesh_distance *mesh)
{
    if (mesh->triangles.count == 0) return MN_OK;
    tree_node root = {.first = 0, .count = (int32_t)mesh->triangles.count};
    MN_TRY(mn_array_push(mesh->ctx, &mesh->nodes, &root));
    // Nodes are made in order, so every node is looked at once, after its parent.
    for (int64_t n = 0; n < mesh->nodes.count; n++) {
        tree_node *node = &mesh->nodes.data[n];
        node->box = mn_box_empty();
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            const triangle *t = &mesh->triangles.data[i];
            node->box = mn_box_add(mn_box_add(mn_box_add(node->box, t->a), t->b), t->c);
        }
        if (node->count <= LEAF) continue;
        const int32_t front = split_triangles(&mesh->triangles.data[node->first], node->count);
        const tree_node low = {.first = node->first, .count = front},
                        high = {.first = node->first + front, .count = node->count - front};
        node->first = (int32_t)mesh->nodes.count, node->count = 0;
        MN_TRY(mn_array_push(mesh->ctx, &mesh->nodes, &low));
        MN_TRY(mn_array_push(mesh->ctx, &mesh->nodes, &high));
    }
    return MN_OK;
}

// ---- life ----

mn_status mn_mesh_distance_create(mn_context *ctx, const mn_geo *geo, mn_mesh_distance **out)
{
    *out = NULL;
    mn_mesh_distance *mesh = mn_allocate_zero(ctx, sizeof *mesh);
    if (!mesh) return MN_ERROR_MEMORY;
    mesh->ctx = ctx;
    mesh->facts.bounds = mn_box_empty();
    const int64_t count = mn_geo_point_count(geo);
    int64_t *first_at = mn_allocate(ctx, mn_bytes(count, sizeof *first_at));
    mn_status status = first_at || count == 0 ? MN_OK : MN_ERROR_MEMORY;
    if (status == MN_OK && count > 0) status = join_points(ctx, geo, first_at);
    if (status == MN_OK) status = add_triangles(mesh, geo, first_at);
    if (status == MN_OK) status = find_edges(mesh);
    if (status == MN_OK) status = find_corner_normals(mesh, count);
    if (status == MN_OK) status = build_tree(mesh);
    mn_release(ctx, first_at, mn_bytes(count, sizeof *first_at));
    if (status != MN_OK) {
        mn_mesh_distance_free(mesh);
        return status;
    }
    *out = mesh;
    return MN_OK;
}

void mn_mesh_distance_free(mn_mesh_distance *mesh)
{
    if (!mesh) return;
    mn_array_free(mesh->ctx, &mesh->triangles);
    mn_array_free(mesh->ctx, &mesh->nodes);
    mn_array_free(mesh->ctx, &mesh->corner_normals);
    mn_release(mesh->ctx, mesh, sizeof *mesh);
}

mn_mesh_facts mn_mesh_distance_facts(const mn_mesh_distance *mesh)
{
    return mesh->facts;
}

// ---- closest points ----

// Weights of the corners at the point of the triangle that is closest to x [ericson2004]; a weight of exactly
// 0 or 1 tells edges and corners.
static void closest_weights(const triangle *t, mn_vec3 x, double w[3])
{
    const mn_vec3 ab = mn_sub(t->b, t->a), ac = mn_sub(t->c, t->a), ap = mn_sub(x, t->a);
    const double d1 = mn_dot(ab, ap), d2 = mn_dot(ac, ap);
    w[0] = 1, w[1] = w[2] = 0;
    if (d1 <= 0 && d2 <= 0) return;
    const mn_vec3 bp = mn_sub(x, t->b);
    const double d3 = mn_dot(ab, bp), d4 = mn_dot(ac, bp);
    w[0] = 0, w[1] = 1;
    if (d3 >= 0 && d4 <= d3) return;
    const double vc = d1 * d4 - d3 * d2;
    if (vc <= 0 && d1 >= 0 && d3 <= 0) {
        w[1] = d1 - d3 > 0 ? d1 / (d1 - d3) : 0, w[0] = 1 - w[1];
        return;
    }
    const mn_vec3 cp = mn_sub(x, t->c);
    const double d5 = mn_dot(ab, cp), d6 = mn_dot(ac, cp);
    w[1] = 0, w[2] = 1;
    if (d6 >= 0 && d5 <= d6) return;
    const double vb = d5 * d2 - d1 * d6;
    if (vb <= 0 && d2 >= 0 && d6 <= 0) {
        w[2] = d2 - d6 > 0 ? d2 / (d2 - d6) : 0, w[0] = 1 - w[2];
        return;
    }
    const double va = d3 * d6 - d5 * d4;
    if (va <= 0 && d4 - d3 >= 0 && d5 - d6 >= 0) {
        const double s = d4 - d3 + d5 - d6;
        w[2] = s > 0 ? (d4 - d3) / s : 0, w[1] = 1 - w[2], w[0] = 0;
        return;
    }
    const double s = 1.0 / (va + vb + vc);
    w[1] = vb * s, w[2] = vc * s, w[0] = 1 - w[1] - w[2];
}

static mn_vec3 weighted(const triangle *t, const double w[3])
{
    return mn_add(mn_scale(w[0], t->a), mn_add(mn_scale(w[1], t->b), mn_scale(w[2], t->c)));
}

static double box_distance2(mn_box box, mn_vec3 x)
{
    const mn_vec3 zero = {0, 0, 0};
    return mn_norm2(mn_max3(zero, mn_max3(mn_sub(box.min, x), mn_sub(x, box.max))));
}

// The closest triangle, -1 without any; of equals the first in the tree.
static int32_t closest_triangle(const mn_mesh_distance *mesh, mn_vec3 x, double best_weights[3],
                                double *distance2)
{
    int32_t stack[STACK], top = 0, best = -1;
    *distance2 = INFINITY;
    if (mesh->nodes.count > 0) stack[top++] = 0;
    while (top > 0) {
        const tree_node *node = &mesh->nodes.data[stack[--top]];
        if (box_distance2(node->box, x) >= *distance2) continue;
        if (node->count == 0) {
            // The nearer child is looked at first.
            const int32_t a = node->first, b = node->first + 1;
            const bool a_first =
                box_distance2(mesh->nodes.data[a].box, x) <= box_distance2(mesh->nodes.data[b].box, x);
            stack[top++] = a_first ? b : a;
            stack[top++] = a_first ? a : b;
            continue;
        }
        for (int32_t i = node->first; i < node->first + node->count; i++) {
            double w[3];
            closest_weights(&mesh->triangles.data[i], x, w);
            const double d2 = mn_norm2(mn_sub(x, weighted(&mesh->triangles.data[i], w)));
            if (d2 >= *distance2) continue;
            *distance2 = d2;
            best = i;
            memcpy(best_weights, w, sizeof w);
        }
    }
    return best;
}

mn_closest_point mn_mesh_closest(const mn_mesh_distance *mesh, mn_vec3 position)
{
    mn_closest_point closest = {.position = position, .distance = INFINITY};
    double distance2;
    const int32_t i = closest_triangle(mesh, position, closest.weights, &distance2);
    if (i < 0) return closest;
    const triangle *t = &mesh->triangles.data[i];
    closest.position = weighted(t, closest.weights);
    closest.distance = sqrt(distance2);
    memcpy(closest.points, t->points, sizeof closest.points);
    return closest;
}

double mn_mesh_signed_distance(const mn_mesh_distance *mesh, mn_vec3 position)
{
    double w[3] = {0}, distance2;
    const int32_t i = closest_triangle(mesh, position, w, &distance2);
    if (i < 0) return INFINITY;
    const triangle *t = &mesh->triangles.data[i];
    mn_vec3 n = t->normal;
    for (int k = 0; k < 3; k++) {
        if (w[k] == 1) n = mesh->corner_normals.data[t->corners[k]];
        // Edge k lies opposite corner k + 2.
        else if (w[(k + 2) % 3] == 0 && w[k] != 0 && w[(k + 1) % 3] != 0)
            n = t->edge_normal[k];
    }
    const double side = mesh->turn * mn_dot(mn_sub(position, weighted(t, w)), n);
    return side < 0 ? -sqrt(distance2) : sqrt(distance2);
}
