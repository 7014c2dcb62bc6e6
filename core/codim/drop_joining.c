// SPDX-License-Identifier: Apache-2.0
//
// Drops that touch become one. Two balls touch where |x_p - x_q| < r_p + r_q; all that are connected by such
// pairs become the heaviest of them, with
//
//   m = sum m_p      m v = sum m_p v_p      m x = sum m_p x_p      r = (3 m / (4 pi rho))^(1/3)
//
// so mass, momentum and centre of mass are what they were. A drop that has grown may touch others: rounds go
// on until no two touch. Each pair is looked for by the larger of the two, within twice its radius: balls
// that do not overlap are not many there, whatever their sizes, and the cost grows with their number.
//
// In nature fast grazing drops may pass through each other and part again; here all that touch join.
#include "codim/state.h"

static bool is_free_drop(const mn_codim_point *point)
{
    return point->codim == MN_CODIM_DROP && !mn_codim_is_dead(point) && !mn_codim_is_held(point);
}

// *mean: m, of their radii.
static mn_status list_drops(mn_codim *mls, double *mean)
{
    mn_codim_drops *d = &mls->drops;
    d->point.count = d->position.count = d->reach.count = 0;
    double sum = 0;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++) {
        const mn_codim_point *point = &mls->points.data[p];
        if (!is_free_drop(point)) continue;
        const double radius = mn_codim_ball_radius(point->mass / mls->def.density), reach = 2 * radius;
        MN_TRY(mn_array_push(mls->solver.ctx, &d->point, &p));
        MN_TRY(mn_array_push(mls->solver.ctx, &d->position, &point->position));
        MN_TRY(mn_array_push(mls->solver.ctx, &d->reach, &reach));
        sum += radius;
    }
    *mean = sum / (double)d->point.count;
    return MN_OK;
}

// Who is connected: the first of each group is its root.
static mn_status group_drops(mn_codim *mls, double mean, bool *any)
{
    mn_codim_drops *d = &mls->drops;
    const int64_t count = d->point.count;
    mn_neighbour_table table;
    MN_TRY(mn_neighbours_build(d->near, mn_points_of(d->position.data, count), 2 * mean));
    MN_TRY(mn_neighbours_find(d->near, 0, d->reach.data, &table));
    MN_TRY(mn_array_resize(mls->solver.ctx, &d->parent, count));
    for (int32_t i = 0; i < (int32_t)count; i++) d->parent.data[i] = i;
    for (int64_t row = 0; row < table.count; row++) {
        const int32_t i = table.query ? table.query[row] : (int32_t)row;
        for (int64_t e = table.start[row]; e < table.start[row + 1]; e++) {
            const int32_t k = table.point[e];
            const double touch = 0.5 * (d->reach.data[i] + d->reach.data[k]);
            if (!(mn_norm2(mn_sub(d->position.data[i], d->position.data[k])) < touch * touch)) continue;
            const int32_t a = mn_codim_find_root(d->parent.data, i),
                          b = mn_codim_find_root(d->parent.data, k);
            d->parent.data[a < b ? b : a] = a < b ? a : b;
            *any = true;
        }
    }
    return MN_OK;
}

// The sums stand at the root, which comes before the others, until the heaviest gets them.
static mn_status join_groups(mn_codim *mls)
{
    mn_codim_drops *d = &mls->drops;
    const int32_t count = (int32_t)d->point.count;
    MN_TRY(mn_array_resize(mls->solver.ctx, &d->sum, count));
    for (int32_t i = 0; i < count; i++) {
        const mn_codim_point *point = &mls->points.data[d->point.data[i]];
        const int32_t root = mn_codim_find_root(d->parent.data, i);
        mn_codim_drop_sum *sum = &d->sum.data[root];
        if (root == i) *sum = (mn_codim_drop_sum){.heaviest = i};
        sum->mass += point->mass;
        sum->momentum = mn_axpy(sum->momentum, point->mass, point->velocity);
        sum->moment = mn_axpy(sum->moment, point->mass, point->position);
        if (point->mass > mls->points.data[d->point.data[sum->heaviest]].mass) sum->heaviest = i;
        sum->members++;
    }
    for (int32_t i = 0; i < count; i++) {
        const mn_codim_drop_sum *sum = &d->sum.data[mn_codim_find_root(d->parent.data, i)];
        mn_codim_point *point = &mls->points.data[d->point.data[i]];
        if (sum->members == 1) continue;
        point->mass = 0;
        if (sum->heaviest != i) continue;
        point->mass = sum->mass;
        point->velocity = mn_scale(1 / sum->mass, sum->momentum);
        point->position = mn_scale(1 / sum->mass, sum->moment);
    }
    return MN_OK;
}

mn_status mn_codim_join_drops(mn_codim *mls)
{
    for (bool any = true; any;) {
        double mean;
        any = false;
        MN_TRY(list_drops(mls, &mean));
        if (mls->drops.point.count < 2) return MN_OK;
        MN_TRY(group_drops(mls, mean, &any));
        if (any) MN_TRY(join_groups(mls));
    }
    return MN_OK;
}

void mn_codim_drops_free(mn_codim *mls)
{
    mn_codim_drops *d = &mls->drops;
    mn_array_free(mls->solver.ctx, &d->point);
    mn_array_free(mls->solver.ctx, &d->parent);
    mn_array_free(mls->solver.ctx, &d->position);
    mn_array_free(mls->solver.ctx, &d->reach);
    mn_array_free(mls->solver.ctx, &d->sum);
    mn_neighbours_free(d->near);
}
