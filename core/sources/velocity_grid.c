// SPDX-License-Identifier: Apache-2.0
//
// The velocity of a liquid on a grid, as velocity_grid.h says.
#include "sources/velocity_grid.h"

#include <string.h>

static int64_t index_of(const mn_velocity_grid *g, const int64_t cell[3])
{
    int64_t at = 0;
    for (int a = 2; a >= 0; a--) {
        const int64_t c = cell[a] - g->low[a];
        if (c < 0 || c >= g->count[a]) return -1;
        at = at * g->count[a] + c;
    }
    return at;
}

mn_status mn_velocity_grid_open(mn_velocity_grid *g, mn_context *ctx, mn_box box, double dx, int32_t margin,
                                int64_t limit)
{
    const double low[3] = {box.min.x, box.min.y, box.min.z}, high[3] = {box.max.x, box.max.y, box.max.z};
    double voxels = 1;
    memset(g, 0, sizeof *g);
    g->ctx = ctx, g->dx = dx;
    for (int a = 0; a < 3; a++) {
        const double from = floor(low[a] / dx) - margin, size = ceil(high[a] / dx) + margin - from;
        voxels *= size;
        if (!(voxels <= (double)limit) || !(fabs(from) < 1e9))
            return mn_fail(ctx, MN_ERROR_ARGUMENT,
                           "a voxel size of %g m would need more than %lld voxels; use a larger dx.", dx,
                           (long long)limit);
        g->low[a] = (int64_t)from, g->count[a] = (int64_t)size;
    }
    MN_TRY(mn_array_resize(ctx, &g->velocity, (int64_t)voxels));
    MN_TRY(mn_array_resize(ctx, &g->weight, (int64_t)voxels));
    if (voxels > 0) {
        memset(g->velocity.data, 0, mn_bytes(g->velocity.count, sizeof *g->velocity.data));
        memset(g->weight.data, 0, mn_bytes(g->weight.count, sizeof *g->weight.data));
    }
    return MN_OK;
}

void mn_velocity_grid_close(mn_velocity_grid *g)
{
    mn_array_free(g->ctx, &g->velocity);
    mn_array_free(g->ctx, &g->weight);
}

static void add(mn_velocity_grid *g, const int64_t cell[3], double weight, mn_vec3 v)
{
    const int64_t at = index_of(g, cell);
    if (at < 0 || !(weight > 0)) return;
    g->velocity.data[at] = mn_axpy(g->velocity.data[at], weight, v);
    g->weight.data[at] += weight;
}

void mn_velocity_grid_add_point(mn_velocity_grid *g, mn_vec3 x, mn_vec3 v, double mass)
{
    const double place[3] = {x.x / g->dx - 0.5, x.y / g->dx - 0.5, x.z / g->dx - 0.5};
    double t[3];
    int64_t low[3];
    for (int a = 0; a < 3; a++) low[a] = (int64_t)floor(place[a]), t[a] = place[a] - floor(place[a]);
    for (int k = 0; k < 8; k++) {
        const int64_t cell[3] = {low[0] + (k & 1), low[1] + (k >> 1 & 1), low[2] + (k >> 2)};
        const double w = (k & 1 ? t[0] : 1 - t[0]) * (k & 2 ? t[1] : 1 - t[1]) * (k & 4 ? t[2] : 1 - t[2]);
        add(g, cell, mass * w, v);
    }
}

void mn_velocity_grid_add_tetrahedron(mn_velocity_grid *g, const mn_vec3 x[4], const mn_vec3 v[4])
{
    const mn_mat3 edges = mn_m3_columns(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]), mn_sub(x[3], x[0]));
    mn_mat3 inverse;
    mn_box box = mn_box_empty();
    if (!mn_m3_inverse(edges, &inverse)) return;
    for (int k = 0; k < 4; k++) box = mn_box_add(box, x[k]);
    const int64_t low[3] = {(int64_t)floor(box.min.x / g->dx), (int64_t)floor(box.min.y / g->dx),
                            (int64_t)floor(box.min.z / g->dx)};
    const int64_t high[3] = {(int64_t)ceil(box.max.x / g->dx), (int64_t)ceil(box.max.y / g->dx),
                             (int64_t)ceil(box.max.z / g->dx)};
    int64_t c[3];
    for (c[2] = low[2]; c[2] < high[2]; c[2]++)
        for (c[1] = low[1]; c[1] < high[1]; c[1]++)
            for (c[0] = low[0]; c[0] < high[0]; c[0]++) {
                const mn_vec3 at =
                    mn_scale(g->dx, mn_v3((double)c[0] + 0.5, (double)c[1] + 0.5, (double)c[2] + 0.5));
                const mn_vec3 w = mn_m3_apply(inverse, mn_sub(at, x[0]));
                const double first = 1 - w.x - w.y - w.z, least = -1e-9;
                if (w.x < least || w.y < least || w.z < least || first < least) continue;
                const mn_vec3 sum = mn_axpy(mn_axpy(mn_scale(first, v[0]), w.x, v[1]), w.y, v[2]);
                add(g, c, 1, mn_axpy(sum, w.z, v[3]));
            }
}

// One layer: unknown voxels get the mean of the neighbours that were known before it.
static mn_status extend(mn_velocity_grid *g)
{
    MN_ARRAY(int64_t) fresh = {0};
    mn_status status = MN_OK;
    int64_t c[3];
    for (c[2] = g->low[2]; c[2] < g->low[2] + g->count[2]; c[2]++)
        for (c[1] = g->low[1]; c[1] < g->low[1] + g->count[1]; c[1]++)
            for (c[0] = g->low[0]; c[0] < g->low[0] + g->count[0]; c[0]++) {
                const int64_t at = index_of(g, c);
                double known = 0;
                mn_vec3 sum = {0};
                if (g->weight.data[at] > 0) continue;
                for (int k = 0; k < 6; k++) {
                    int64_t beside[3] = {c[0], c[1], c[2]};
                    beside[k / 2] += k % 2 == 0 ? 1 : -1;
                    const int64_t next = index_of(g, beside);
                    if (next < 0 || !(g->weight.data[next] > 0)) continue;
                    sum = mn_add(sum, g->velocity.data[next]), known++;
                }
                if (known == 0) continue;
                g->velocity.data[at] = mn_scale(1 / known, sum);
                MN_TRY_TO(done, status, mn_array_push(g->ctx, &fresh, &at));
            }
done:
    for (int64_t i = 0; i < fresh.count; i++) g->weight.data[fresh.data[i]] = 1;
    mn_array_free(g->ctx, &fresh);
    return status;
}

mn_status mn_velocity_grid_finish(mn_velocity_grid *g, int32_t layers)
{
    for (int64_t i = 0; i < g->weight.count; i++)
        if (g->weight.data[i] > 0) g->velocity.data[i] = mn_scale(1 / g->weight.data[i], g->velocity.data[i]);
    for (int32_t k = 0; k < layers; k++) MN_TRY(extend(g));
    return MN_OK;
}

mn_vec3 mn_velocity_grid_at(const mn_velocity_grid *g, mn_vec3 x)
{
    const int64_t cell[3] = {(int64_t)floor(x.x / g->dx), (int64_t)floor(x.y / g->dx),
                             (int64_t)floor(x.z / g->dx)};
    const int64_t at = index_of(g, cell);
    return at >= 0 && g->weight.data[at] > 0 ? g->velocity.data[at] : mn_v3(0, 0, 0);
}
