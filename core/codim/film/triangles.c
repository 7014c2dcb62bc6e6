// SPDX-License-Identifier: Apache-2.0
//
// One set of triangles from the stars of all points.
//
// A triangle that is in the stars of all its three corners is taken. The rest, a percent or less, are taken
// in the order of (most votes, smallest circle, lowest corners) where they fit: each directed edge belongs to
// one triangle at most, so no edge gets a third triangle and the two at an edge lie on opposite sides. Taking
// every triangle with most votes instead leaves crowded edges, and a film with those destroys itself.
#include "codim/film/surface.h"

#include "base/parallel.h"

#include <stdlib.h>
#include <string.h>

enum { GRAIN = 512 };

mn_status mn_codim_film_surface_create(mn_context *ctx, mn_codim_film_surface *surface)
{
    memset(surface, 0, sizeof *surface);
    surface->ctx = ctx;
    return mn_neighbours_create(ctx, &surface->neighbours);
}

void mn_codim_film_surface_free(mn_codim_film_surface *s)
{
    if (!s->ctx) return;
    mn_neighbours_free(s->neighbours);
    mn_array_free(s->ctx, &s->sites);
    mn_array_free(s->ctx, &s->stars);
    mn_array_free(s->ctx, &s->crowded);
    mn_array_free(s->ctx, &s->fans);
    mn_array_free(s->ctx, &s->candidates);
    mn_array_free(s->ctx, &s->normal);
    mn_array_free(s->ctx, &s->area);
    mn_array_free(s->ctx, &s->edge);
    memset(s, 0, sizeof *s);
}

double mn_film_source_circle(mn_vec3 a, mn_vec3 b, mn_vec3 c)
{
    const mn_vec3 u = mn_sub(b, a), v = mn_sub(c, a);
    const double twice = mn_norm(mn_cross(u, v)), sides = mn_norm(u) * mn_norm(v) * mn_distance(b, c);
    return twice > 1e-300 ? sides / (2 * twice) : INFINITY;
}

bool mn_codim_film_add_triangle(mn_codim_film_fan *fans, int32_t a, int32_t b, int32_t c)
{
    const int32_t corner[3] = {a, b, c};
    for (int i = 0; i < 3; i++) {
        const mn_codim_film_fan *fan = &fans[corner[i]];
        const int32_t next = corner[(i + 1) % 3];
        if (fan->count == MN_FAN_MAX || fan_has_edge(fan, next) || fan_is_closed(fan)) return false;
    }
    for (int i = 0; i < 3; i++) {
        mn_codim_film_fan *fan = &fans[corner[i]];
        fan->pair[fan->count][0] = corner[(i + 1) % 3];
        fan->pair[fan->count++][1] = corner[(i + 2) % 3];
    }
    return true;
}

// ---- votes ----

static bool likes(const mn_codim_film_fan *star, int32_t a, int32_t b)
{
    for (int32_t i = 0; i < star->count; i++)
        if (star->pair[i][0] == a && star->pair[i][1] == b) return true;
    return false;
}

static mn_status take_unanimous(void *user, mn_range range)
{
    mn_codim_film_surface *s = user;
    const mn_codim_film_fan *stars = s->stars.data;
    for (int64_t p = range.begin; p < range.end; p++) {
        mn_codim_film_fan *fan = &s->fans.data[p];
        fan->count = 0;
        for (int32_t i = 0; i < stars[p].count; i++) {
            const int32_t a = stars[p].pair[i][0], b = stars[p].pair[i][1];
            if (!likes(&stars[a], b, (int32_t)p) || !likes(&stars[b], (int32_t)p, a)) continue;
            fan->pair[fan->count][0] = a, fan->pair[fan->count++][1] = b;
        }
    }
    return MN_OK;
}

// Each contested triangle once: by the lowest of the corners that like it.
static mn_status list_contested(mn_codim_film_surface *s)
{
    const mn_codim_film_fan *stars = s->stars.data;
    s->candidates.count = 0;
    for (int64_t p = 0; p < s->count; p++) {
        if (s->fans.data[p].count == stars[p].count) continue;
        for (int32_t i = 0; i < stars[p].count; i++) {
            const int32_t self = (int32_t)p, a = stars[p].pair[i][0], b = stars[p].pair[i][1];
            const bool by_a = likes(&stars[a], b, self), by_b = likes(&stars[b], self, a);
            if ((by_a && by_b) || (by_a && a < self) || (by_b && b < self)) continue;
            mn_codim_film_candidate c = {{self, a, b}, 1 + by_a + by_b, 0};
            while (c.corner[0] > c.corner[1] || c.corner[0] > c.corner[2]) {
                const int32_t first = c.corner[0];
                c.corner[0] = c.corner[1], c.corner[1] = c.corner[2], c.corner[2] = first;
            }
            c.radius = mn_film_source_circle(s->sites.data[c.corner[0]].at, s->sites.data[c.corner[1]].at,
                                             s->sites.data[c.corner[2]].at);
            MN_TRY(mn_array_push(s->ctx, &s->candidates, &c));
        }
    }
    return MN_OK;
}

static int by_merit(const void *first, const void *second)
{
    const mn_codim_film_candidate *a = first, *b = second;
    if (a->votes != b->votes) return a->votes > b->votes ? -1 : 1;
    if (a->radius != b->radius) return a->radius < b->radius ? -1 : 1;
    for (int i = 0; i < 3; i++)
        if (a->corner[i] != b->corner[i]) return a->corner[i] < b->corner[i] ? -1 : 1;
    return 0;
}

static void take_contested(mn_codim_film_surface *s)
{
    s->contested = s->candidates.count;
    if (s->candidates.count == 0) return;
    qsort(s->candidates.data, (size_t)s->candidates.count, sizeof *s->candidates.data, by_merit);
    for (int64_t i = 0; i < s->candidates.count; i++) {
        const int32_t *c = s->candidates.data[i].corner;
        mn_codim_film_add_triangle(s->fans.data, c[0], c[1], c[2]);
    }
}

// ---- what follows from them ----

typedef struct measure_job {
    mn_codim_film_surface *surface;
    const mn_codim_film_points *points;
} measure_job;

enum { SUM_CORNERS, SUM_OPEN, SUM_AREA, SUM_COUNT };

static void measure(void *user, mn_range range, double *sums)
{
    const measure_job *job = user;
    mn_codim_film_surface *s = job->surface;
    const mn_vec3 *x = job->points->position;
    for (int64_t p = range.begin; p < range.end; p++) {
        const mn_codim_film_fan *fan = &s->fans.data[p];
        mn_vec3 twice = {0};
        double area = 0;
        int32_t open = 0;
        for (int32_t i = 0; i < fan->count; i++) {
            const mn_vec3 n = mn_cross(mn_sub(x[fan->pair[i][0]], x[p]), mn_sub(x[fan->pair[i][1]], x[p]));
            twice = mn_add(twice, n);
            area += 0.5 * mn_norm(n);
            open += !fan_has_reverse_edge(fan, fan->pair[i][0]);
        }
        const mn_vec3 n = mn_normalize(twice);
        s->normal.data[p] = mn_norm2(n) > 0 ? n : job->points->normal[p];
        s->area.data[p] = area / 3;
        s->edge.data[p] = !fan_is_closed(fan);
        sums[SUM_CORNERS] += fan->count, sums[SUM_OPEN] += open, sums[SUM_AREA] += area / 3;
    }
}

mn_status mn_codim_film_surface_build(mn_codim_film_surface *s, const mn_codim_film_points *points)
{
    if (points->count > INT32_MAX)
        return mn_fail(s->ctx, MN_ERROR_UNSUPPORTED, "A film of more than two billion points is too large.");
    s->count = 0;
    MN_TRY(mn_array_resize(s->ctx, &s->fans, points->count));
    MN_TRY(mn_array_resize(s->ctx, &s->normal, points->count));
    MN_TRY(mn_array_resize(s->ctx, &s->area, points->count));
    MN_TRY(mn_array_resize(s->ctx, &s->edge, points->count));
    MN_TRY(mn_codim_film_stars_find(s, points));
    s->count = points->count;
    MN_TRY(mn_parallel_for(s->ctx, s->count, GRAIN, take_unanimous, s));
    MN_TRY(list_contested(s));
    take_contested(s);
    MN_TRY(mn_codim_film_close_gaps(s, points));
    measure_job job = {s, points};
    double sums[SUM_COUNT];
    MN_TRY(mn_parallel_sum(s->ctx, s->count, GRAIN, measure, &job, SUM_COUNT, sums));
    s->triangles = llround(sums[SUM_CORNERS] / 3);
    s->open_edges = llround(sums[SUM_OPEN]);
    s->total_area = sums[SUM_AREA];
    return MN_OK;
}
