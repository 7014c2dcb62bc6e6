// SPDX-License-Identifier: Apache-2.0
//
// Bodies that hold on to each other: points that are tied to the nearest point of another body.
//
//   E = k/2 |x_a - x_b - apart|^2      k: ten times Young's modulus times the size of the softer and smaller
//   one
#include "elastic/elastic_state.h"

#include <stdlib.h>

/// A point and its place along the axis that they are sorted by.
typedef struct sorted_point {
    double at;
    int32_t point;
} sorted_point;

static int compare_points(const void *a, const void *b)
{
    const sorted_point *p = a, *q = b;
    if (p->at != q->at) return p->at < q->at ? -1 : 1;
    return p->point < q->point ? -1 : p->point > q->point;
}

/// The nearest point of a body before that of the one at `i`, -1: none within the distance.
static int32_t nearest_before(const mn_elastic *s, const sorted_point *sorted, int64_t count, int64_t i,
                              double distance)
{
    const int32_t point = sorted[i].point, body = s->point_body.data[point];
    const mn_vec3 x = s->point_x.data[point];
    double least = distance * distance;
    int32_t best = -1;
    for (int side = -1; side < 2; side += 2)
        for (int64_t k = i + side; k >= 0 && k < count && fabs(sorted[k].at - sorted[i].at) <= distance;
             k += side) {
            const int32_t other = sorted[k].point;
            const double to = mn_norm2(mn_sub(s->point_x.data[other], x));
            if (s->point_body.data[other] >= body || to > least || (to == least && best >= 0 && other > best))
                continue;
            least = to, best = other;
        }
    return best;
}

mn_status mn_elastic_attach_near(mn_elastic *s, double distance, int64_t *attached)
{
    const int64_t count = s->anchor.count;
    MN_ARRAY(sorted_point) sorted = {0};
    mn_status status = MN_OK;
    *attached = 0;
    if (!(distance > 0) || !isfinite(distance)) return MN_OK;
    MN_TRY(mn_elastic_prepare(s));
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    MN_TRY(mn_array_resize(s->solver.ctx, &sorted, count));
    for (int64_t i = 0; i < count; i++) sorted.data[i] = (sorted_point){s->point_x.data[i].x, (int32_t)i};
    if (count > 0) qsort(sorted.data, (size_t)count, sizeof *sorted.data, compare_points);
    for (int64_t i = 0; i < count && status == MN_OK; i++) {
        const int32_t other = nearest_before(s, sorted.data, count, i, distance);
        if (other < 0) continue;
        status = mn_elastic_attach(s, other, sorted.data[i].point);
        ++*attached;
    }
    mn_array_free(s->solver.ctx, &sorted);
    return status;
}
