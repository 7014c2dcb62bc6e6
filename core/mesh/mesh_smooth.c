// SPDX-License-Identifier: Apache-2.0
//
// Smoothing without shrinking [taubin1995]: with m the mean of a vertex's neighbours,
//
//   x <- x + lambda (m - x),    x <- x + mu (m - x),    mu < -lambda < 0,
//
// which damps what changes from vertex to vertex and leaves what is smooth. What volume is left to lose is
// given back by moving every vertex dV / A along its normal. Each vertex gathers from its own list of
// neighbours.
#include "mesh/mesh_smooth.h"
#include "base/parallel.h"
#include "meniscus/array.h"

enum { SMOOTH_GRAIN = 4096 };
static const double LAMBDA = 0.5, MU = -0.53;

typedef struct smooth_job {
    const int32_t *start, *neighbour; ///< of each vertex; a neighbour across two triangles is there twice
    const mn_vec3 *from;
    mn_vec3 *to;
    double step;
} smooth_job;

static mn_status move_vertices(void *user, mn_range range)
{
    const smooth_job *job = user;
    for (int64_t v = range.begin; v < range.end; v++) {
        const int32_t begin = job->start[v], end = job->start[v + 1];
        mn_vec3 sum = {0, 0, 0};
        for (int32_t k = begin; k < end; k++) sum = mn_add(sum, job->from[job->neighbour[k]]);
        job->to[v] =
            begin < end ? mn_lerp(job->from[v], mn_scale(1.0 / (end - begin), sum), job->step) : job->from[v];
    }
    return MN_OK;
}

static double volume_of(const mn_vec3 *x, int32_t count, const int32_t (*t)[3], double *area)
{
    double volume = 0.0;
    *area = 0.0;
    for (int32_t i = 0; i < count; i++) {
        const mn_vec3 o = x[t[0][0]], a = mn_sub(x[t[i][0]], o), b = mn_sub(x[t[i][1]], o),
                      c = mn_sub(x[t[i][2]], o);
        volume += mn_dot(a, mn_cross(b, c)) / 6.0;
        *area += 0.5 * mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
    }
    return volume;
}

/// Moves every vertex along its area-weighted normal so that the volume is `wanted`, to first order.
static void restore_volume(mn_vec3 *x, int32_t vertices, int32_t count, const int32_t (*t)[3], double wanted,
                           mn_vec3 *normals)
{
    double area;
    const double volume = volume_of(x, count, t, &area);
    if (!(area > 0.0)) return;
    for (int32_t v = 0; v < vertices; v++) normals[v] = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < count; i++) {
        const mn_vec3 n = mn_cross(mn_sub(x[t[i][1]], x[t[i][0]]), mn_sub(x[t[i][2]], x[t[i][0]]));
        for (int32_t k = 0; k < 3; k++) normals[t[i][k]] = mn_add(normals[t[i][k]], n);
    }
    for (int32_t v = 0; v < vertices; v++)
        x[v] = mn_axpy(x[v], (wanted - volume) / area, mn_normalize(normals[v]));
}

/// Neighbours of each vertex: both other corners of each of its triangles.
static void list_neighbours(int32_t vertices, int32_t count, const int32_t (*t)[3], int32_t *start,
                            int32_t *neighbour)
{
    for (int32_t v = 0; v <= vertices; v++) start[v] = 0;
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) start[t[i][k]] += 2;
    mn_prefix_sum_i32(start, vertices + 1);
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++) {
            neighbour[start[t[i][k]]++] = t[i][(k + 1) % 3];
            neighbour[start[t[i][k]]++] = t[i][(k + 2) % 3];
        }
    // Each start stands at the next one's place now.
    for (int32_t v = vertices; v > 0; v--) start[v] = start[v - 1];
    start[0] = 0;
}

static mn_status check_mesh(mn_context *ctx, int32_t vertices, const mn_vec3 *x, int32_t count,
                            const int32_t (*t)[3])
{
    if (vertices < 0 || count < 0 || count > INT32_MAX / 6)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "A mesh of %d vertices and %d triangles cannot be smoothed.",
                       (int)vertices, (int)count);
    for (int32_t v = 0; v < vertices; v++)
        if (!mn_is_finite3(x[v]))
            return mn_fail(ctx, MN_ERROR_INPUT, "Point %d of the mesh is not finite.", (int)v);
    for (int32_t i = 0; i < count; i++)
        for (int32_t k = 0; k < 3; k++)
            if (t[i][k] < 0 || t[i][k] >= vertices)
                return mn_fail(ctx, MN_ERROR_INPUT, "Triangle %d uses vertex %d of %d.", (int)i, (int)t[i][k],
                               (int)vertices);
    return MN_OK;
}

mn_status mn_mesh_smooth(mn_context *ctx, int32_t vertex_count, mn_vec3 *positions, int32_t triangle_count,
                         const int32_t (*triangles)[3], int32_t passes)
{
    MN_TRY(check_mesh(ctx, vertex_count, positions, triangle_count, triangles));
    if (passes <= 0 || triangle_count == 0) return MN_OK;
    MN_ARRAY(mn_vec3) other = {0};
    MN_ARRAY(int32_t) start = {0};
    MN_ARRAY(int32_t) neighbour = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &other, vertex_count));
    MN_TRY_TO(done, status, mn_array_resize(ctx, &start, vertex_count + 1));
    MN_TRY_TO(done, status, mn_array_resize(ctx, &neighbour, 6 * (int64_t)triangle_count));
    list_neighbours(vertex_count, triangle_count, triangles, start.data, neighbour.data);
    double area;
    const double volume = volume_of(positions, triangle_count, triangles, &area);
    for (int32_t pass = 0; pass < passes; pass++) {
        smooth_job in = {start.data, neighbour.data, positions, other.data, LAMBDA};
        smooth_job out = {start.data, neighbour.data, other.data, positions, MU};
        MN_TRY_TO(done, status, mn_parallel_for(ctx, vertex_count, SMOOTH_GRAIN, move_vertices, &in));
        MN_TRY_TO(done, status, mn_parallel_for(ctx, vertex_count, SMOOTH_GRAIN, move_vertices, &out));
    }
    restore_volume(positions, vertex_count, triangle_count, triangles, volume, other.data);
done:
    mn_array_free(ctx, &other);
    mn_array_free(ctx, &start);
    mn_array_free(ctx, &neighbour);
    return status;
}
