// SPDX-License-Identifier: Apache-2.0
//
// Neighbour search on sorted points: build, single searches, nearest point, averages. Tables of all
// neighbours are made in neighbour_table.c.
#include "space/neighbours_state.h"

#include <math.h>

enum { COPY_GRAIN = 16384 };

static void fill_places(int32_t places[256][8])
{
    for (int32_t mask = 0; mask < 256; mask++)
        for (int32_t bit = 0, count = 0; bit < 8; bit++)
            if (mask >> bit & 1) places[mask][count++] = bit;
}

mn_status mn_neighbours_create(mn_context *ctx, mn_neighbours **neighbours)
{
    mn_neighbours *n = *neighbours = mn_allocate_zero(ctx, sizeof *n);
    if (!n) return MN_ERROR_MEMORY;
    n->ctx = ctx;
    fill_places(n->places);
    mn_status status = mn_blocks_create(ctx, &n->blocks);
    if (status == MN_OK) status = mn_point_sort_create(ctx, &n->sort);
    if (status != MN_OK) {
        mn_neighbours_free(n);
        *neighbours = NULL;
        return status;
    }
    n->table = mn_blocks_table(n->blocks);
    return MN_OK;
}

void mn_neighbours_free(mn_neighbours *neighbours)
{
    if (!neighbours) return;
    mn_context *ctx = neighbours->ctx;
    mn_blocks_free(neighbours->blocks);
    mn_point_sort_free(neighbours->sort);
    mn_array_free(ctx, &neighbours->x);
    mn_array_free(ctx, &neighbours->y);
    mn_array_free(ctx, &neighbours->z);
    mn_array_free(ctx, &neighbours->start);
    mn_array_free(ctx, &neighbours->found);
    for (int32_t i = 0; i < SLOT_COUNT; i++) mn_array_free(ctx, &neighbours->slots[i].found);
    mn_release(ctx, neighbours, sizeof *neighbours);
}

typedef struct copy_job {
    mn_neighbours *n;
    mn_points points;
} copy_job;

static mn_status copy_sorted(void *user, mn_range range)
{
    const copy_job *job = user;
    mn_neighbours *n = job->n;
    for (int64_t k = range.begin; k < range.end; k++) {
        const int64_t from = (int64_t)n->order[k] * job->points.stride;
        n->x.data[k] = job->points.x[from];
        n->y.data[k] = job->points.y[from];
        n->z.data[k] = job->points.z[from];
    }
    return MN_OK;
}

static void find_bounds(mn_neighbours *n)
{
    n->low = mn_iv3(INT32_MAX, INT32_MAX, INT32_MAX);
    n->high = mn_iv3(INT32_MIN, INT32_MIN, INT32_MIN);
    for (int32_t b = 0; b < n->table.count; b++) {
        const mn_ivec3 c = n->table.coords[b];
        n->low = mn_iv3(c.x < n->low.x ? c.x : n->low.x, c.y < n->low.y ? c.y : n->low.y,
                        c.z < n->low.z ? c.z : n->low.z);
        n->high = mn_iv3(c.x > n->high.x ? c.x : n->high.x, c.y > n->high.y ? c.y : n->high.y,
                         c.z > n->high.z ? c.z : n->high.z);
    }
    if (n->table.count == 0) n->low = n->high = mn_iv3(0, 0, 0);
}

mn_status mn_neighbours_build(mn_neighbours *neighbours, mn_points points, double cell_size)
{
    mn_neighbours *n = neighbours;
    mn_context *ctx = n->ctx;
    n->count = 0;
    if (!(cell_size > 0.0) || !isfinite(cell_size) || !isfinite(1.0 / cell_size))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The cell size of the neighbour search is %g m; it must be above zero.", cell_size);
    MN_TRY(mn_blocks_build(n->blocks, mn_v3(0, 0, 0), cell_size, points, 0, 0));
    MN_TRY(mn_point_sort_run(n->sort, n->blocks, points));
    n->table = mn_blocks_table(n->blocks);
    const mn_sorted_points sorted = mn_point_sort_result(n->sort);
    n->order = sorted.order;
    n->cell_start = sorted.cell_start;
    MN_TRY(mn_array_resize(ctx, &n->x, points.count + RUN_PAD));
    MN_TRY(mn_array_resize(ctx, &n->y, points.count + RUN_PAD));
    MN_TRY(mn_array_resize(ctx, &n->z, points.count + RUN_PAD));
    for (int64_t k = points.count; k < points.count + RUN_PAD; k++)
        n->x.data[k] = n->y.data[k] = n->z.data[k] = 0.0;
    copy_job job = {n, points};
    MN_TRY(mn_parallel_for(ctx, points.count, COPY_GRAIN, copy_sorted, &job));
    find_bounds(n);
    n->count = (int32_t)points.count;
    return MN_OK;
}

// ---- one search ----

void mn_neighbours_visit(const mn_neighbours *neighbours, mn_vec3 position, double radius,
                         mn_neighbour_fn *visit, void *user)
{
    const mn_neighbours *n = neighbours;
    if (!mn_is_finite3(position) || !(radius > 0.0)) return;
    point_run runs[RUN_MAX];
    run_walk walk = walk_begin(n, position, radius);
    for (int32_t count; (count = walk_next(&walk, runs)) > 0;)
        for (int32_t r = 0; r < count; r++)
            for (int32_t k = runs[r].begin; k < runs[r].end; k++) {
                const mn_vec3 d = mn_sub(mn_v3(n->x.data[k], n->y.data[k], n->z.data[k]), position);
                const double d2 = mn_norm2(d);
                if (d2 < radius * radius) visit(user, n->order[k], d2);
            }
}

typedef struct nearest_point {
    int32_t point;
    double d2;
} nearest_point;

static void keep_nearest(void *user, int32_t point, double d2)
{
    nearest_point *nearest = user;
    if (d2 > nearest->d2 || (d2 == nearest->d2 && point >= nearest->point)) return;
    nearest->d2 = d2;
    nearest->point = point;
}

/// Far enough to see every block from here.
static double reach_of_all(const mn_neighbours *n, mn_vec3 position)
{
    const double side = 4.0 * n->table.dx;
    const mn_vec3 low = mn_v3(side * n->low.x, side * n->low.y, side * n->low.z);
    const mn_vec3 high = mn_v3(side * (n->high.x + 1), side * (n->high.y + 1), side * (n->high.z + 1));
    return mn_distance(position, low) + mn_distance(position, high) + side;
}

int32_t mn_neighbours_nearest(const mn_neighbours *neighbours, mn_vec3 position, double radius)
{
    const mn_neighbours *n = neighbours;
    if (n->count == 0 || !mn_is_finite3(position) || !(radius >= 0.0)) return -1;
    const double all = reach_of_all(n, position), most = radius < all ? nextafter(radius, INFINITY) : all;
    // What lies within a sphere that was searched whole is the nearest there is; if nothing does, search
    // twice as far.
    for (double r = n->table.dx;; r *= 2.0) {
        nearest_point nearest = {-1, INFINITY};
        mn_neighbours_visit(n, position, r < most ? r : most, keep_nearest, &nearest);
        if (nearest.point >= 0 || r >= most) return nearest.point;
    }
}
