// SPDX-License-Identifier: Apache-2.0
//
// How far points may go before pairs have to be looked for again. A point's motion is that of its body in the
// mean, which is the mean of all bodies and a rest, and a rest of its own: only the rests bring surfaces
// together, so bodies that fall side by side have no pairs to watch.
#include "elastic/elastic_state.h"

static const double ahead = 1.5; ///< times the motion that is expected

/// Mean motion of each body's points from `from` to `to`, and of all points after the last.
static void mean_motions(mn_elastic *s, const mn_vec3 *from, const mn_vec3 *to)
{
    const int64_t parts = s->part.count;
    mn_vec3 *mean = s->part_motion.data;
    for (int64_t i = 0; i <= parts; i++) mean[i] = mn_v3(0, 0, 0);
    for (int64_t i = 0; i < s->anchor.count; i++) {
        const mn_vec3 motion = mn_sub(to[i], from[i]);
        mn_vec3 *own = &mean[s->point_body.data[i]];
        *own = mn_add(*own, motion), mean[parts] = mn_add(mean[parts], motion);
    }
    for (int64_t i = 0; i < parts; i++) mean[i] = mn_scale(1.0 / s->part.data[i].point_count, mean[i]);
    if (s->anchor.count > 0) mean[parts] = mn_scale(1.0 / (double)s->anchor.count, mean[parts]);
}

static double own_motion(const mn_elastic *s, int64_t point, mn_vec3 from, mn_vec3 to)
{
    return mn_norm(mn_sub(mn_sub(to, from), s->part_motion.data[s->point_body.data[point]]));
}

static double part_motion(const mn_elastic *s, int64_t part)
{
    return mn_distance(s->part_motion.data[part], s->part_motion.data[s->part.count]);
}

mn_status mn_elastic_find_candidates(mn_elastic *s, const mn_vec3 *from, const mn_vec3 *to)
{
    mean_motions(s, from, to);
    for (int64_t i = 0; i < s->part.count; i++)
        s->part_reach.data[i] = ahead * part_motion(s, i) + s->distance;
    for (int64_t i = 0; i < s->anchor.count; i++) {
        s->reach.data[i] = ahead * own_motion(s, i, from[i], to[i]) + s->distance;
        s->step_point.data[i] = from[i];
    }
    mn_timer_begin(&s->solver.timers, "candidates");
    const mn_status status = mn_contact_find_candidates(s->contact, s->step_point.data, s->reach.data,
                                                        s->part_reach.data, s->distance);
    mn_timer_end(&s->solver.timers, "candidates");
    return status;
}

bool mn_elastic_within_reach(mn_elastic *s, const mn_vec3 *x)
{
    mean_motions(s, s->step_point.data, x);
    for (int64_t i = 0; i < s->part.count; i++)
        if (!(part_motion(s, i) <= s->part_reach.data[i])) return false;
    for (int64_t i = 0; i < s->anchor.count; i++)
        if (!(own_motion(s, i, s->step_point.data[i], x[i]) <= s->reach.data[i])) return false;
    return true;
}
