// SPDX-License-Identifier: Apache-2.0
//
// Closes gaps of a few edges: places where no two stars agreed, and the ends of a film tube that has pinched
// off. A gap is a loop of at most MN_LOOP_MAX free edges; it is cut into triangles ear by ear, smallest
// circle first.
//
// The rim of a small piece of film is such a loop too, seen from outside: the triangles over it would face
// the other way than the film does, and are not made. A loop of pinned points only is a ring with nothing in
// it.
#include "codim/film/surface.h"

#include <string.h>

// The one point that a free edge leads to from p; -1 when there is none or more than one.
static int32_t next_on_rim(const mn_codim_film_fan *fans, int32_t p)
{
    int32_t next = -1;
    for (int32_t i = 0; i < fans[p].count; i++) {
        const int32_t a = fans[p].pair[i][0];
        if (fan_has_reverse_edge(&fans[p], a)) continue;
        if (next >= 0) return -1;
        next = a;
    }
    return next;
}

// The loop through `first`, in the order of its free edges; its length, or 0 when it is too long.
static int32_t walk(const mn_codim_film_fan *fans, int32_t first, int32_t loop[MN_LOOP_MAX])
{
    int32_t count = 0, at = first;
    while (count < MN_LOOP_MAX) {
        loop[count++] = at;
        at = next_on_rim(fans, at);
        if (at < first) return at < 0 ? 0 : -1; // another start finds this loop
        if (at == first) return count;
    }
    return 0;
}

// Twice the area vector of the loop run backward: how a cover over it would face.
static mn_vec3 facing(const mn_vec3 *x, const int32_t *loop, int32_t count)
{
    mn_vec3 sum = {0};
    for (int32_t i = 1; i + 1 < count; i++)
        sum = mn_add(sum, mn_cross(mn_sub(x[loop[i + 1]], x[loop[0]]), mn_sub(x[loop[i]], x[loop[0]])));
    return sum;
}

static bool is_gap(const mn_codim_film_points *points, const int32_t *loop, int32_t count)
{
    const mn_vec3 cover = mn_normalize(facing(points->position, loop, count));
    double agreement = 0;
    bool all_pinned = true;
    for (int32_t i = 0; i < count; i++) {
        agreement += mn_dot(cover, points->normal[loop[i]]);
        all_pinned = all_pinned && points->pinned && points->pinned[loop[i]];
    }
    return !all_pinned && agreement > -0.5 * count;
}

// Ears with the smallest circles first; corners run against the free edges.
static void cover(mn_codim_film_fan *fans, const mn_vec3 *x, int32_t *loop, int32_t count)
{
    while (count >= 3) {
        int32_t best = 0;
        double least = INFINITY;
        for (int32_t i = 0; i < count && count > 3; i++) {
            const int32_t before = loop[(i + count - 1) % count], after = loop[(i + 1) % count];
            const double radius = mn_film_source_circle(x[before], x[loop[i]], x[after]);
            if (radius < least && !fan_has_edge(&fans[before], after) && !fan_has_edge(&fans[after], before))
                least = radius, best = i;
        }
        const int32_t before = loop[(best + count - 1) % count], after = loop[(best + 1) % count];
        if (!mn_codim_film_add_triangle(fans, after, loop[best], before)) return;
        memmove(&loop[best], &loop[best + 1], sizeof *loop * (size_t)(count - best - 1));
        count--;
    }
}

mn_status mn_codim_film_close_gaps(mn_codim_film_surface *s, const mn_codim_film_points *points)
{
    for (int32_t p = 0; p < (int32_t)s->count; p++) {
        const mn_codim_film_fan *fan = &s->fans.data[p];
        if (fan->count == 0 || fan_is_closed(fan)) continue;
        int32_t loop[MN_LOOP_MAX];
        const int32_t count = walk(s->fans.data, p, loop);
        if (count >= 3 && is_gap(points, loop, count)) cover(s->fans.data, points->position, loop, count);
    }
    return MN_OK;
}
