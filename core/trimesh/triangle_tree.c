// SPDX-License-Identifier: Apache-2.0
//
// Questions to the tree of boxes over a triangle mesh (triangle_tree_build.c): nearest point, distance with
// sign, rays.
#include "trimesh/triangles_state.h"

#include "base/parallel.h"

#include <math.h>

enum { QUERY_GRAIN = 256 };

// ---- nearest point ----

static mn_vec3 weighted(const mn_vec3 c[3], const double w[3])
{
    return mn_add(mn_scale(w[0], c[0]), mn_add(mn_scale(w[1], c[1]), mn_scale(w[2], c[2])));
}

/// The nearest point of a triangle as weights of its corners, by the regions of its corners, edges and
/// inside.
static void region_weights(const mn_vec3 c[3], mn_vec3 x, double w[3])
{
    const mn_vec3 ab = mn_sub(c[1], c[0]), ac = mn_sub(c[2], c[0]);
    const mn_vec3 ax = mn_sub(x, c[0]), bx = mn_sub(x, c[1]), cx = mn_sub(x, c[2]);
    const double d1 = mn_dot(ab, ax), d2 = mn_dot(ac, ax), d3 = mn_dot(ab, bx), d4 = mn_dot(ac, bx),
                 d5 = mn_dot(ab, cx), d6 = mn_dot(ac, cx);
    w[0] = w[1] = w[2] = 0.0;
    if (d1 <= 0.0 && d2 <= 0.0) {
        w[0] = 1.0;
        return;
    }
    if (d3 >= 0.0 && d4 <= d3) {
        w[1] = 1.0;
        return;
    }
    if (d6 >= 0.0 && d5 <= d6) {
        w[2] = 1.0;
        return;
    }
    const double vc = d1 * d4 - d3 * d2, vb = d5 * d2 - d1 * d6, va = d3 * d6 - d5 * d4;
    if (vc <= 0.0 && d1 >= 0.0 && d3 <= 0.0) {
        w[1] = d1 / (d1 - d3);
        w[0] = 1.0 - w[1];
    } else if (vb <= 0.0 && d2 >= 0.0 && d6 <= 0.0) {
        w[2] = d2 / (d2 - d6);
        w[0] = 1.0 - w[2];
    } else if (va <= 0.0 && d4 - d3 >= 0.0 && d5 - d6 >= 0.0) {
        w[2] = (d4 - d3) / ((d4 - d3) + (d5 - d6));
        w[1] = 1.0 - w[2];
    } else {
        w[1] = vb / (va + vb + vc);
        w[2] = vc / (va + vb + vc);
        w[0] = 1.0 - w[1] - w[2];
    }
}

/// Lowers *d2 by the nearest point of one edge.
static void try_edge(const mn_vec3 c[3], int32_t k, mn_vec3 x, double *d2, double w[3])
{
    const mn_vec3 d = mn_sub(c[(k + 1) % 3], c[k]);
    const double t = mn_dot(mn_sub(x, c[k]), d) / mn_norm2(d), s = t < 0.0 ? 0.0 : t > 1.0 ? 1.0 : t;
    const double at = mn_norm2(mn_sub(mn_axpy(c[k], s, d), x));
    if (!(at < *d2)) return;
    *d2 = at;
    w[k] = 1.0 - s;
    w[(k + 1) % 3] = s;
    w[(k + 2) % 3] = 0.0;
}

/// The same for any triangle: of one that is nearly a segment, rounding may pick the wrong region, so its
/// edges are tried as well. Returns the distance squared.
static double nearest_weights(const mn_vec3 c[3], mn_vec3 x, double w[3])
{
    const mn_vec3 ab = mn_sub(c[1], c[0]), ac = mn_sub(c[2], c[0]);
    region_weights(c, x, w);
    double d2 = mn_norm2(mn_sub(weighted(c, w), x));
    if (mn_norm2(mn_cross(ab, ac)) > 1e-6 * mn_norm2(ab) * mn_norm2(ac)) return d2;
    for (int32_t k = 0; k < 3; k++) try_edge(c, k, x, &d2, w);
    return d2;
}

// How far x is outside of [min, max]. Not by fmax(), which is a call where a NaN may come.
static double beyond(double min, double max, double x)
{
    return x < min ? min - x : x > max ? x - max : 0;
}

static double box_distance2(const mn_box *box, mn_vec3 x)
{
    return mn_norm2(mn_v3(beyond(box->min.x, box->max.x, x.x), beyond(box->min.y, box->max.y, x.y),
                          beyond(box->min.z, box->max.z, x.z)));
}

typedef struct nearest_found {
    int32_t triangle; ///< -1: none yet
    double d2;
    double weights[3];
} nearest_found;

static void try_leaf(const mn_triangles *mesh, const tree_node *node, mn_vec3 x, nearest_found *best)
{
    for (int32_t i = node->first; i < node->first + node->count; i++) {
        double w[3];
        const double d2 = nearest_weights(mesh->triangles.data[i].corner, x, w);
        if (!(d2 < best->d2) && !(best->triangle < 0 && d2 <= best->d2)) continue;
        best->d2 = d2;
        best->triangle = i;
        for (int32_t k = 0; k < 3; k++) best->weights[k] = w[k];
    }
}

/// A node that is to be looked at, and how far its box is.
typedef struct tree_visit {
    int32_t node;
    double d2;
} tree_visit;

static nearest_found find_nearest(const mn_triangles *mesh, mn_vec3 x, double most)
{
    nearest_found best = {.triangle = -1, .d2 = most * most};
    tree_visit stack[TREE_DEPTH_MAX];
    int32_t depth = 0;
    if (mesh->nodes.count > 0) stack[depth++] = (tree_visit){0, box_distance2(&mesh->nodes.data[0].box, x)};
    while (depth > 0) {
        const tree_visit visit = stack[--depth];
        const tree_node *node = &mesh->nodes.data[visit.node];
        if (visit.d2 > best.d2) continue;
        if (node->right < 0) {
            try_leaf(mesh, node, x, &best);
            continue;
        }
        const tree_visit left = {visit.node + 1, box_distance2(&mesh->nodes.data[visit.node + 1].box, x)};
        const tree_visit right = {node->right, box_distance2(&mesh->nodes.data[node->right].box, x)};
        // The nearer one is looked at first, so it goes on top.
        stack[depth++] = left.d2 <= right.d2 ? right : left;
        stack[depth++] = left.d2 <= right.d2 ? left : right;
    }
    return best;
}

static mn_mesh_point point_of(const tree_triangle *t, const double w[3], double distance)
{
    mn_mesh_point p = {.element = t->element, .position = weighted(t->corner, w), .normal = t->normal};
    for (int32_t k = 0; k < 3; k++) p.vertices[k] = t->given[k], p.weights[k] = w[k];
    p.distance = distance;
    return p;
}

bool mn_triangles_closest(const mn_triangles *triangles, mn_vec3 x, double most, mn_mesh_point *nearest)
{
    if (!mn_is_finite3(x) || !(most >= 0.0)) return false;
    const nearest_found found = find_nearest(triangles, x, most);
    if (found.triangle < 0) return false;
    *nearest = point_of(&triangles->triangles.data[found.triangle], found.weights, sqrt(found.d2));
    return true;
}

// ---- sign ----

/// The pseudonormal of the corner, edge or inside that the weights lie on.
static mn_vec3 pseudonormal(const mn_triangles *mesh, const tree_triangle *t, const double w[3])
{
    for (int32_t k = 0; k < 3; k++)
        if (w[k] == 1.0) return mesh->vertex_normals.data[t->vertex[k]];
    for (int32_t k = 0; k < 3; k++)
        if (w[(k + 2) % 3] == 0.0) return t->edge_normal[k];
    return t->normal;
}

double mn_triangles_signed_distance_at(const mn_triangles *triangles, mn_vec3 x)
{
    const nearest_found found = find_nearest(triangles, x, INFINITY);
    if (found.triangle < 0) return INFINITY;
    const tree_triangle *t = &triangles->triangles.data[found.triangle];
    const mn_vec3 away = mn_sub(x, weighted(t->corner, found.weights));
    const double d = sqrt(found.d2);
    return mn_dot(away, pseudonormal(triangles, t, found.weights)) < 0.0 ? -d : d;
}

typedef struct distance_job {
    const mn_triangles *mesh;
    mn_points positions;
    double most;
    double *distances;
} distance_job;

static mn_status find_distances(void *user, mn_range range)
{
    const distance_job *job = user;
    const mn_triangles *mesh = job->mesh;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 x = mn_points_at(&job->positions, i);
        if (!mn_is_finite3(x))
            return mn_fail(mesh->ctx, MN_ERROR_INPUT,
                           "Point %lld has the position (%g, %g, %g), which is not finite.", (long long)i,
                           x.x, x.y, x.z);
        const double d = mn_triangles_signed_distance_at(mesh, x);
        job->distances[i] = fmax(-job->most, fmin(d, job->most));
    }
    return MN_OK;
}

mn_status mn_triangles_signed_distance(mn_context *ctx, const mn_triangles *triangles, mn_points positions,
                                       double most, double *distances)
{
    MN_TRY(mn_triangles_require_closed(ctx, triangles, "The mesh"));
    distance_job job = {.mesh = triangles, .positions = positions, .most = most, .distances = distances};
    return mn_parallel_for(ctx, positions.count, QUERY_GRAIN, find_distances, &job);
}
