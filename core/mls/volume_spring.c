// SPDX-License-Identifier: Apache-2.0
//
// A region that is always full and that liquid leaves with a given velocity: a nozzle, a tap.
//
//   - Its particles stand on a lattice that moves with the velocity; a lattice point that enters the region
//     becomes a particle. So the region is full at all times, and what has come is velocity times section
//     times time, to one layer. Their mass makes up for lattice lines that do not fit the section.
//   - Faces inside have the velocity, so the grid sees an inflow.
//   - Its surface, but for where the liquid leaves, is skin that does not move: what hangs from it is pinned
//     to its edge, and the skin between is made by splitting as the liquid moves away.
#include "mls/volume_state.h"

enum { ALONG_SHIFTS = 8, SIDE_SHIFTS = 4 };
static const double MOST_CELLS = 1e8;
static const double CLEAR = 0.15; // dx, around the region: only the spring's own skin is there
static const double CAP = 0.3;    // dx, below the outlet: where the first skin is
static const double OUTLET = 0.5; // cosine between normal and velocity
static const double ROUND = 1.6;  // spacings

double volume_spring_distance(const mls_volume *v, mn_vec3 x)
{
    double d = INFINITY;
    if (v->set.spring) v->set.spring->distance(v->set.spring->user, 1, &x, &d);
    return d;
}

// m^3 of the lattice's cells whose middle is in the region, to `soft` metres around its surface in part, with
// the lattice moved by `shift`; -1: too many.
static double lattice_volume(const mls_volume *v, mn_vec3 shift, double soft)
{
    const double s = 0.5 * v->set.dx;
    const mn_box box = v->set.spring->bounds;
    const mn_vec3 low = mn_scale(1 / s, mn_sub(box.min, shift)),
                  high = mn_scale(1 / s, mn_sub(box.max, shift));
    double count = 0;
    if (!((high.x - low.x + 2) * (high.y - low.y + 2) * (high.z - low.z + 2) < MOST_CELLS)) return -1;
    for (double i = floor(low.x); i <= high.x; i++)
        for (double j = floor(low.y); j <= high.y; j++)
            for (double k = floor(low.z); k <= high.z; k++) {
                const double d =
                    volume_spring_distance(v, mn_axpy(shift, s, mn_v3(i + 0.5, j + 0.5, k + 0.5)));
                count += soft > 0 ? fmin(1, fmax(0, 0.5 - 0.5 * d / soft)) : d < 0;
            }
    return count * s * s * s;
}

// What a lattice that moves along the flow pours is the section of the lattice lines inside, a few percent
// off the region's for a pipe of some cells: particles weigh as much more as the region is larger, over all
// places of the lattice, than it is for those that it goes through.
static void measure_share(mls_volume *v)
{
    const double s = 0.5 * v->set.dx;
    const mn_vec3 out = mn_normalize(v->set.spring_velocity);
    double along = 0, all = 0;
    v->spring_share = 1;
    for (int32_t k = 0; k < ALONG_SHIFTS; k++)
        along += lattice_volume(v, mn_scale(s * (k + 0.5) / ALONG_SHIFTS, out), 0) / ALONG_SHIFTS;
    for (int32_t k = 0; k < SIDE_SHIFTS * SIDE_SHIFTS * SIDE_SHIFTS; k++) {
        const mn_vec3 shift = {k % SIDE_SHIFTS + 0.5, k / SIDE_SHIFTS % SIDE_SHIFTS + 0.5,
                               k / (SIDE_SHIFTS * SIDE_SHIFTS) + 0.5};
        all += lattice_volume(v, mn_scale(s / SIDE_SHIFTS, shift), 0.5 * s / SIDE_SHIFTS) /
               (SIDE_SHIFTS * SIDE_SHIFTS * SIDE_SHIFTS);
    }
    if (along > 0 && all > 0) v->spring_share = fmin(2, fmax(0.5, all / along));
}

// Lattice points in the region that were not there `way` before.
static mn_status fill(mls_volume *v, mn_vec3 way, bool all, int64_t *next_id)
{
    const double s = 0.5 * v->set.dx;
    const mn_box box = v->set.spring->bounds;
    const mn_vec3 moved = mn_scale(v->poured, mn_normalize(v->set.spring_velocity));
    const mn_vec3 low = mn_scale(1 / s, mn_sub(box.min, moved)),
                  high = mn_scale(1 / s, mn_sub(box.max, moved));
    const double cells = (high.x - low.x + 2) * (high.y - low.y + 2) * (high.z - low.z + 2);
    if (!(cells < MOST_CELLS))
        return mn_fail(v->ctx, MN_ERROR_ARGUMENT,
                       "The spring is too large for dx = %g m: it spans %.2g cells.", v->set.dx, cells / 8);
    for (double i = floor(low.x); i <= high.x; i++)
        for (double j = floor(low.y); j <= high.y; j++)
            for (double k = floor(low.z); k <= high.z; k++) {
                const mn_vec3 x = mn_axpy(moved, s, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (!(volume_spring_distance(v, x) < 0)) continue;
                if (!all && volume_spring_distance(v, mn_sub(x, way)) < 0) continue;
                const mn_mls_particle p = {.position = x,
                                           .velocity = v->set.spring_velocity,
                                           .mass = v->set.density * s * s * s * v->spring_share,
                                           .id = (*next_id)++};
                MN_TRY(mn_array_push(v->ctx, &v->particles, &p));
            }
    return MN_OK;
}

// Normals as the mean of those around: skin that meets at a sharp edge would not be one sheet.
static void round_edges(mls_volume *v, int64_t first)
{
    const mn_mls_skin_point *skin = v->skin.data + first;
    const double reach = ROUND * v->set.spacing;
    for (int64_t i = 0; i < v->template.count; i++) {
        mn_vec3 sum = {0};
        for (int64_t k = 0; k < v->template.count; k++)
            if (mn_norm2(mn_sub(skin[k].position, skin[i].position)) < reach * reach)
                sum = mn_add(sum, skin[k].normal);
        if (mn_norm2(mn_normalize(sum)) > 0) v->template.data[i].normal = mn_normalize(sum);
    }
}

// The region's own skin, sampled once in a frame; the points where liquid leaves have id -1.
static mn_status sample(mls_volume *v, int64_t *next_id)
{
    if (v->template.count > 0) return MN_OK;
    const int64_t before = v->skin.count, first_id = *next_id;
    const mn_vec3 out = mn_normalize(v->set.spring_velocity);
    MN_TRY(mn_array_resize(v->ctx, &v->sites, 0));
    for (int64_t i = 0; i < v->particles.count; i++)
        if (volume_spring_distance(v, v->particles.data[i].position) < 0)
            MN_TRY(mn_array_push(v->ctx, &v->sites, &v->particles.data[i].position));
    MN_TRY(volume_skin_of_region(v, v->set.spring, v->sites.count, v->sites.data, next_id));
    for (int64_t i = before; i < v->skin.count; i++) {
        mn_mls_skin_point point = v->skin.data[i];
        point.id = mn_dot(point.normal, out) > OUTLET ? -1 : VOLUME_SPRING_ID + (i - before);
        point.velocity = v->set.spring_velocity;
        MN_TRY(mn_array_push(v->ctx, &v->template, &point));
    }
    round_edges(v, before);
    v->skin.count = before;
    *next_id = first_id;
    return MN_OK;
}

mn_status volume_spring_open(mls_volume *v, int64_t *next_id)
{
    if (!v->set.spring || mn_box_is_empty(v->set.spring->bounds)) return MN_OK;
    const bool first = v->poured == 0;
    const mn_vec3 out = mn_normalize(v->set.spring_velocity);
    if (v->template.count == 0) measure_share(v);
    if (first) MN_TRY(fill(v, mn_v3(0, 0, 0), true, next_id));
    if (first) v->poured = 1e-9 * v->set.dx;
    MN_TRY(sample(v, next_id));
    int64_t kept = 0;
    for (int64_t p = 0; p < v->skin.count; p++) {
        const mn_mls_skin_point *point = &v->skin.data[p];
        const bool own = point->id >= VOLUME_SPRING_ID;
        if (!own && volume_spring_distance(v, point->position) > CLEAR * v->set.dx)
            v->skin.data[kept++] = *point;
    }
    v->skin.count = kept;
    for (int64_t i = 0; i < v->template.count; i++) {
        mn_mls_skin_point point = v->template.data[i];
        const bool leaves = point.id < 0;
        if (leaves && !first) continue;
        if (leaves) point.id = (*next_id)++, point.position = mn_axpy(point.position, CAP * v->set.dx, out);
        MN_TRY(mn_array_push(v->ctx, &v->skin, &point));
    }
    return MN_OK;
}

mn_status volume_spring_pour(mls_volume *v, double dt, int64_t *next_id)
{
    if (!v->set.spring || mn_box_is_empty(v->set.spring->bounds)) return MN_OK;
    const mn_vec3 way = mn_scale(dt, v->set.spring_velocity);
    v->poured += mn_norm(way);
    return fill(v, way, false, next_id);
}
