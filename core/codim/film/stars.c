// SPDX-License-Identifier: Apache-2.0
//
// The triangles that a point would like: those of its Voronoi cell among the neighbours, laid into its
// tangent plane.
//
// The plane's normal is the axis of least spread of the near neighbours, on the side of the normal that the
// point had before. A neighbour keeps its distance and its direction (so a cylinder is unrolled, not
// flattened). Neighbours that face another way, or stand off the plane by more than 45 degrees, belong to
// another sheet. The cell is cut out of a square by bisectors, nearest neighbour first, until no farther one
// can reach it; a corner of the cell is the middle of the circle through the point and two neighbours.
#include "codim/film/surface.h"

#include "base/parallel.h"
#include "base/random.h"

enum { GRAIN = 256, NEAR_MAX = 192, CELL_MAX = 64 };

static const double NEAR_REACH = 2.2; // spacings: enough for a cell in the middle of an even film
static const double SAME_SIDE = 0.1;  // least cosine between normals of one sheet
static const double STEEPEST = 1.0;   // height over distance along the plane
static const double ABOVE = 0.25;     // least slope of what may be another sheet
static const double JITTER = 2e-3;    // spacings

/// A neighbour in the plane.
typedef struct planar {
    double x, y, distance2;
    int32_t point;
} planar;

typedef struct cell {
    int32_t count;
    double x[CELL_MAX], y[CELL_MAX];
    int32_t beyond[CELL_MAX]; ///< whose side it is from corner i to the next; -1: the square's
} cell;

typedef struct star_job {
    mn_codim_film_surface *surface;
    const mn_codim_film_points *points;
    const mn_neighbour_table *table;
} star_job;

static cell square(double half)
{
    return (cell){4, {-half, half, half, -half}, {-half, -half, half, half}, {-1, -1, -1, -1}};
}

// Keeps what is nearer to the origin than to (q.x, q.y).
static void cut(cell *c, const planar *q)
{
    const double half = 0.5 * (q->x * q->x + q->y * q->y);
    double side[CELL_MAX];
    bool any = false;
    for (int32_t i = 0; i < c->count; i++) {
        side[i] = c->x[i] * q->x + c->y[i] * q->y - half;
        any = any || side[i] > 0;
    }
    if (!any || c->count > CELL_MAX - 2) return;
    cell out;
    out.count = 0;
    for (int32_t i = 0; i < c->count; i++) {
        const int32_t j = i + 1 < c->count ? i + 1 : 0;
        const bool in = side[i] <= 0, next_in = side[j] <= 0;
        if (in) {
            out.x[out.count] = c->x[i], out.y[out.count] = c->y[i];
            out.beyond[out.count++] = c->beyond[i];
        }
        if (in == next_in) continue;
        const double t = side[i] / (side[i] - side[j]);
        out.x[out.count] = c->x[i] + t * (c->x[j] - c->x[i]);
        out.y[out.count] = c->y[i] + t * (c->y[j] - c->y[i]);
        out.beyond[out.count++] = in ? q->point : c->beyond[i];
    }
    *c = out;
}

static double farthest2(const cell *c)
{
    double most = 0;
    for (int32_t i = 0; i < c->count; i++) most = fmax(most, c->x[i] * c->x[i] + c->y[i] * c->y[i]);
    return most;
}

static void sort_near(planar *q, int32_t count)
{
    for (int32_t i = 1; i < count; i++) {
        const planar moving = q[i];
        int32_t j = i;
        for (; j > 0 && (q[j - 1].distance2 > moving.distance2 ||
                         (q[j - 1].distance2 == moving.distance2 && q[j - 1].point > moving.point));
             j--)
            q[j] = q[j - 1];
        q[j] = moving;
    }
}

// Neighbours of the same sheet with distances in (from, to], as vectors.
typedef struct found {
    int32_t count;
    int32_t point[NEAR_MAX];
    mn_vec3 vector[NEAR_MAX];
} found;

static void find(const star_job *job, int64_t row, int32_t self, double from, double to, found *f)
{
    const mn_codim_film_site *sites = job->surface->sites.data;
    const mn_codim_film_site *own = &sites[self];
    const double close = MN_FILM_CROWD * job->points->spacing;
    f->count = 0;
    for (int64_t e = job->table->start[row]; e < job->table->start[row + 1]; e++) {
        const int32_t other = job->table->point[e];
        const mn_vec3 d = mn_sub(sites[other].at, own->at);
        const double r2 = mn_norm2(d);
        if (!(r2 > from * from && r2 <= to * to) || sites[other].sheet != own->sheet) continue;
        if (r2 < close * close && mn_dot(d, own->normal) * mn_dot(d, own->normal) > ABOVE * ABOVE * r2)
            job->surface->crowded.data[self] = 1;
        if (f->count == NEAR_MAX) continue;
        if (mn_dot(sites[other].normal, own->normal) < SAME_SIDE) continue;
        f->point[f->count] = other;
        f->vector[f->count++] = d;
    }
}

// The axis of least spread, if the neighbours do spread over a plane; else the normal from before.
static mn_vec3 normal_of(const found *f, mn_vec3 before, double spacing)
{
    mn_vec3 mean = {0};
    double total = 1;
    mn_mat3 c = {{{0}}};
    for (int32_t i = 0; i < f->count; i++) {
        const double w = fmax(0, 1 - mn_norm(f->vector[i]) / (1.1 * NEAR_REACH * spacing));
        mean = mn_axpy(mean, w, f->vector[i]);
        c = mn_m3_add(c, mn_m3_scale(w, mn_outer(f->vector[i], f->vector[i])));
        total += w;
    }
    c = mn_m3_add(c, mn_m3_scale(-1 / total, mn_outer(mean, mean)));
    mn_vec3 values;
    mn_mat3 axes;
    mn_m3_eigen_symmetric(c, &values, &axes);
    if (!(values.z < 0.3 * values.y)) return before;
    const mn_vec3 n = mn_m3_column(axes, 2);
    const double facing = mn_dot(n, before);
    if (fabs(facing) < 0.2) return before; // on its side: the sign would be a guess
    return facing < 0 ? mn_scale(-1, n) : n;
}

// Into the plane with normal n: the same direction and distance.
static int32_t lay(const found *f, mn_vec3 u, mn_vec3 v, mn_vec3 n, planar *q)
{
    int32_t count = 0;
    for (int32_t i = 0; i < f->count; i++) {
        const double x = mn_dot(f->vector[i], u), y = mn_dot(f->vector[i], v), z = mn_dot(f->vector[i], n);
        const double flat2 = x * x + y * y;
        if (!(z * z <= STEEPEST * STEEPEST * flat2) || !(flat2 > 0)) continue;
        const double stretch = sqrt(1 + z * z / flat2);
        q[count++] = (planar){stretch * x, stretch * y, flat2 + z * z, f->point[i]};
    }
    sort_near(q, count);
    return count;
}

// Cuts until the rest is too far to reach the cell; true when nothing beyond `reach` can.
static bool cut_all(cell *c, const planar *q, int32_t count, double reach)
{
    double most = farthest2(c);
    for (int32_t i = 0; i < count && q[i].distance2 <= 4 * most; i++) {
        cut(c, &q[i]);
        most = farthest2(c);
    }
    return reach * reach >= 4 * most;
}

static bool is_driven(const mn_codim_film_points *points, int32_t p)
{
    return points->pinned && points->pinned[p] == MN_FILM_DRIVEN;
}

static void take(const cell *c, double alpha, const mn_codim_film_points *points, int32_t self,
                 mn_codim_film_fan *star)
{
    const bool driven = is_driven(points, self);
    star->count = 0;
    for (int32_t i = 0; i < c->count && star->count < MN_FAN_MAX; i++) {
        const int32_t a = c->beyond[i > 0 ? i - 1 : c->count - 1], b = c->beyond[i];
        if (a < 0 || b < 0 || a == b) continue;
        if (driven && is_driven(points, a) && is_driven(points, b)) continue;
        if (c->x[i] * c->x[i] + c->y[i] * c->y[i] > alpha * alpha) continue;
        star->pair[star->count][0] = a, star->pair[star->count++][1] = b;
    }
}

static mn_status find_stars(void *user, mn_range range)
{
    const star_job *job = user;
    mn_codim_film_surface *s = job->surface;
    const double spacing = job->points->spacing, alpha = MN_FILM_ALPHA * spacing;
    found f;
    planar q[NEAR_MAX];
    for (int64_t k = range.begin; k < range.end; k++) {
        const int32_t self = job->table->query ? job->table->query[k] : (int32_t)k;
        mn_codim_film_fan *star = &s->stars.data[self];
        star->count = 0;
        s->crowded.data[self] = 0;
        if (!s->sites.data[self].sheet) continue;
        find(job, k, self, 0, NEAR_REACH * spacing, &f);
        const mn_vec3 n = normal_of(&f, s->sites.data[self].normal, spacing);
        mn_vec3 u, v;
        mn_frame(n, &u, &v);
        cell c = square(alpha);
        int32_t count = lay(&f, u, v, n, q);
        if (!cut_all(&c, q, count, NEAR_REACH * spacing)) {
            find(job, k, self, NEAR_REACH * spacing, MN_FILM_REACH * spacing, &f);
            count = lay(&f, u, v, n, q);
            cut_all(&c, q, count, MN_FILM_REACH * spacing);
        }
        take(&c, alpha, job->points, self, star);
    }
    return MN_OK;
}

static mn_status place_sites(void *user, mn_range range)
{
    const star_job *job = user;
    const mn_codim_film_points *p = job->points;
    for (int64_t i = range.begin; i < range.end; i++) {
        const mn_vec3 shake = mn_sub(mn_random_unit3(11, (uint64_t)p->id[i], 0), mn_v3(0.5, 0.5, 0.5));
        job->surface->sites.data[i] =
            (mn_codim_film_site){mn_axpy(p->position[i], JITTER * p->spacing, shake), p->normal[i],
                                 p->skip[i] ? 0 : 1 + (p->sheet ? p->sheet[i] : 0)};
    }
    return MN_OK;
}

mn_status mn_codim_film_stars_find(mn_codim_film_surface *s, const mn_codim_film_points *points)
{
    const double reach = MN_FILM_REACH * points->spacing;
    star_job job = {.surface = s, .points = points};
    mn_neighbour_table table;
    MN_TRY(mn_array_resize(s->ctx, &s->sites, points->count));
    MN_TRY(mn_array_resize(s->ctx, &s->stars, points->count));
    MN_TRY(mn_array_resize(s->ctx, &s->crowded, points->count));
    MN_TRY(mn_parallel_for(s->ctx, points->count, GRAIN, place_sites, &job));
    MN_TRY(mn_neighbours_build(s->neighbours, mn_points_of(points->position, points->count), reach));
    MN_TRY(mn_neighbours_find(s->neighbours, reach, NULL, &table));
    job.table = &table;
    return mn_parallel_for(s->ctx, points->count, GRAIN, find_stars, &job);
}
