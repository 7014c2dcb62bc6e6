// SPDX-License-Identifier: Apache-2.0
//
// Regions that are always full and that liquid leaves with a given velocity each: nozzles, a tap.
//
//   - An inflow's particles stand on a lattice that moves with the velocity; a lattice point that enters the
//     region becomes a particle. So the region is full at all times, and what has come is velocity times
//     section times time, to one layer. Their mass makes up for lattice lines that do not fit the section.
//   - Faces inside have the velocity, so the grid sees an inflow.
//   - Its surface, but for where the liquid leaves, is skin that does not move: what hangs from it is pinned
//     to its edge, and the skin between is made by splitting as the liquid moves away.
#include "codim/volume/state.h"

enum { ALONG_SHIFTS = 8, SIDE_SHIFTS = 4 };
static const double MOST_CELLS = 1e8;
static const double CLEAR = 0.15; // dx, around the region: only the inflow's own skin is there
static const double CAP = 0.3;    // dx, below the outlet: where the first skin is
static const double OUTLET = 0.5; // cosine between normal and velocity
static const double ROUND = 1.6;  // spacings

static double distance_to(const mn_region *region, mn_vec3 x)
{
    double d;
    region->distance(region->user, 1, &x, &d);
    return d;
}

// The nearest inflow, the first of those that are equally near, and how far it is; NULL without any.
static const mn_codim_volume_inflow *nearest_inflow(const mn_codim_volume *v, mn_vec3 x, double *distance)
{
    const mn_codim_volume_inflow *nearest = NULL;
    *distance = INFINITY;
    for (int64_t i = 0; i < v->set.inflow_count; i++) {
        const double d = distance_to(&v->set.inflows[i].region, x);
        if (d < *distance) *distance = d, nearest = &v->set.inflows[i];
    }
    return nearest;
}

double mn_codim_volume_inflow_distance(const mn_codim_volume *v, mn_vec3 x)
{
    double distance;
    (void)nearest_inflow(v, x, &distance);
    return distance;
}

mn_vec3 mn_codim_volume_inflow_velocity(const mn_codim_volume *v, mn_vec3 x)
{
    double distance;
    const mn_codim_volume_inflow *inflow = nearest_inflow(v, x, &distance);
    return inflow ? inflow->velocity : mn_v3(0, 0, 0);
}

// m^3 of the lattice's cells whose middle is in the region, to `soft` metres around its surface in part, with
// the lattice moved by `shift`; -1: too many.
static double lattice_volume(const mn_codim_volume *v, const mn_region *region, mn_vec3 shift, double soft)
{
    const double s = 0.5 * v->set.dx;
    const mn_box box = region->bounds;
    const mn_vec3 low = mn_scale(1 / s, mn_sub(box.min, shift)),
                  high = mn_scale(1 / s, mn_sub(box.max, shift));
    double count = 0;
    if (!((high.x - low.x + 2) * (high.y - low.y + 2) * (high.z - low.z + 2) < MOST_CELLS)) return -1;
    for (double i = floor(low.x); i <= high.x; i++)
        for (double j = floor(low.y); j <= high.y; j++)
            for (double k = floor(low.z); k <= high.z; k++) {
                const double d = distance_to(region, mn_axpy(shift, s, mn_v3(i + 0.5, j + 0.5, k + 0.5)));
                count += soft > 0 ? fmin(1, fmax(0, 0.5 - 0.5 * d / soft)) : d < 0;
            }
    return count * s * s * s;
}

// What a lattice that moves along the flow pours is the section of the lattice lines inside, a few percent
// off the region's for a pipe of some cells: particles weigh as much more as the region is larger, over all
// places of the lattice, than it is for those that it goes through.
static mn_status measure_share(const mn_codim_volume *v, const mn_codim_volume_inflow *inflow, double *share)
{
    const double s = 0.5 * v->set.dx;
    const mn_region *region = &inflow->region;
    const mn_vec3 out = mn_normalize(inflow->velocity);
    double along = 0, all = 0;
    for (int32_t k = 0; k < ALONG_SHIFTS; k++)
        along += lattice_volume(v, region, mn_scale(s * (k + 0.5) / ALONG_SHIFTS, out), 0) / ALONG_SHIFTS;
    for (int32_t k = 0; k < SIDE_SHIFTS * SIDE_SHIFTS * SIDE_SHIFTS; k++) {
        MN_TRY(mn_check_cancelled(v->ctx));
        const mn_vec3 shift = {k % SIDE_SHIFTS + 0.5, k / SIDE_SHIFTS % SIDE_SHIFTS + 0.5,
                               k / (SIDE_SHIFTS * SIDE_SHIFTS) + 0.5};
        all += lattice_volume(v, region, mn_scale(s / SIDE_SHIFTS, shift), 0.5 * s / SIDE_SHIFTS) /
               (SIDE_SHIFTS * SIDE_SHIFTS * SIDE_SHIFTS);
    }
    *share = along > 0 && all > 0 ? fmin(2, fmax(0.5, all / along)) : 1;
    return MN_OK;
}

// Lattice points in the region that were not there `way` before.
static mn_status fill(mn_codim_volume *v, int64_t inflow, mn_vec3 way, bool all, int64_t *next_id)
{
    const double s = 0.5 * v->set.dx;
    const mn_region *region = &v->set.inflows[inflow].region;
    const mn_vec3 velocity = v->set.inflows[inflow].velocity;
    const mn_box box = region->bounds;
    const mn_vec3 moved = mn_scale(v->poured.data[inflow], mn_normalize(velocity));
    const mn_vec3 low = mn_scale(1 / s, mn_sub(box.min, moved)),
                  high = mn_scale(1 / s, mn_sub(box.max, moved));
    const double cells = (high.x - low.x + 2) * (high.y - low.y + 2) * (high.z - low.z + 2);
    if (!(cells < MOST_CELLS))
        return mn_fail(v->ctx, MN_ERROR_ARGUMENT,
                       "The inflow is too large for dx = %g m: it spans %.2g cells.", v->set.dx, cells / 8);
    for (double i = floor(low.x); i <= high.x; i++)
        for (double j = floor(low.y); j <= high.y; j++)
            for (double k = floor(low.z); k <= high.z; k++) {
                const mn_vec3 x = mn_axpy(moved, s, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (!(distance_to(region, x) < 0)) continue;
                if (!all && distance_to(region, mn_sub(x, way)) < 0) continue;
                const mn_codim_particle p = {.position = x,
                                             .velocity = velocity,
                                             .mass = v->set.density * s * s * s *
                                                     v->pouring.fraction.data[inflow],
                                             .id = (*next_id)++};
                MN_TRY(mn_array_push(v->ctx, &v->particles, &p));
            }
    return MN_OK;
}

// The mean of the normals around: skin that meets at a sharp edge would not be one sheet.
static mn_vec3 round_normal(const mn_codim_volume *v, int64_t first, int64_t i)
{
    const mn_codim_skin_point *skin = v->skin.data;
    const double reach = ROUND * v->set.spacing;
    mn_vec3 sum = {0};
    for (int64_t k = first; k < v->skin.count; k++)
        if (mn_norm2(mn_sub(skin[k].position, skin[i].position)) < reach * reach)
            sum = mn_add(sum, skin[k].normal);
    return mn_norm2(mn_normalize(sum)) > 0 ? mn_normalize(sum) : skin[i].normal;
}

// A region's own skin. Where liquid leaves there is none, but a new inflow gets the skin of its first liquid.
static mn_status sample(mn_codim_volume *v, const mn_codim_volume_inflow *inflow, bool is_new,
                        int64_t *held_id, int64_t *next_id)
{
    const int64_t before = v->skin.count, first = v->pouring.template.count;
    const mn_vec3 out = mn_normalize(inflow->velocity);
    MN_TRY(mn_array_resize(v->ctx, &v->grid.sites, 0));
    for (int64_t i = 0; i < v->particles.count; i++)
        if (distance_to(&inflow->region, v->particles.data[i].position) < 0)
            MN_TRY(mn_array_push(v->ctx, &v->grid.sites, &v->particles.data[i].position));
    int64_t any_id = *next_id;
    MN_TRY(
        mn_codim_volume_skin_of_region(v, &inflow->region, v->grid.sites.count, v->grid.sites.data, &any_id));
    for (int64_t i = before; i < v->skin.count; i++) {
        mn_codim_skin_point point = v->skin.data[i];
        const bool leaves = mn_dot(point.normal, out) > OUTLET;
        if (leaves && !is_new) continue;
        point.normal = round_normal(v, before, i);
        point.velocity = inflow->velocity;
        point.id = leaves ? (*next_id)++ : (*held_id)++;
        if (leaves) point.position = mn_axpy(point.position, CAP * v->set.dx, out);
        MN_TRY(mn_array_push(v->ctx, &v->pouring.template, &point));
    }
    v->skin.count = before;
    int64_t held = first;
    for (int64_t i = first; i < v->pouring.template.count; i++) {
        const mn_codim_skin_point point = v->pouring.template.data[i];
        if (mn_codim_volume_is_held(&point))
            v->pouring.template.data[held++] = point;
        else
            MN_TRY(mn_array_push(v->ctx, &v->skin, &point));
    }
    v->pouring.template.count = held;
    return MN_OK;
}

static mn_status fill_first(mn_codim_volume *v, int64_t inflow, int64_t *next_id)
{
    const int64_t before = v->particles.count;
    MN_TRY(fill(v, inflow, mn_v3(0, 0, 0), true, next_id));
    if (v->particles.count == before)
        return mn_fail(
            v->ctx, MN_ERROR_ARGUMENT,
            "An inflow is smaller than a cell: dx is %g m. Use a dx of at most a fifth of its width.",
            v->set.dx);
    v->poured.data[inflow] = 1e-9 * v->set.dx;
    return MN_OK;
}

// Once in a frame, for inflows may have moved, and when one is new: how they lie in their lattices, their own
// skin, and a new one's first liquid.
static mn_status survey(mn_codim_volume *v, int64_t *next_id)
{
    int64_t held_id = MN_CODIM_VOLUME_INFLOW_ID;
    v->pouring.template.count = 0;
    for (int64_t i = 0; i < v->set.inflow_count; i++) {
        const mn_codim_volume_inflow *inflow = &v->set.inflows[i];
        const bool is_new = v->poured.data[i] == 0;
        if (mn_box_is_empty(inflow->region.bounds)) continue;
        MN_TRY(measure_share(v, inflow, &v->pouring.fraction.data[i]));
        if (is_new) MN_TRY(fill_first(v, i, next_id));
        MN_TRY(sample(v, inflow, is_new, &held_id, next_id));
    }
    return MN_OK;
}

mn_status mn_codim_volume_inflow_open(mn_codim_volume *v, int64_t *next_id)
{
    if (v->set.inflow_count == 0) return MN_OK;
    bool stale = v->pouring.template.count == 0;
    MN_TRY(mn_array_resize(v->ctx, &v->pouring.fraction, v->set.inflow_count));
    while (v->poured.count < v->set.inflow_count) MN_TRY(mn_array_push(v->ctx, &v->poured, &(double){0}));
    for (int64_t i = 0; i < v->set.inflow_count; i++) stale = stale || v->poured.data[i] == 0;
    if (stale) MN_TRY(survey(v, next_id));
    int64_t kept = 0;
    for (int64_t p = 0; p < v->skin.count; p++) {
        const mn_codim_skin_point point = v->skin.data[p];
        if (p % 1024 == 0) MN_TRY(mn_check_cancelled(v->ctx));
        if (!mn_codim_volume_is_held(&point) &&
            mn_codim_volume_inflow_distance(v, point.position) > CLEAR * v->set.dx)
            v->skin.data[kept++] = point;
    }
    v->skin.count = kept;
    for (int64_t i = 0; i < v->pouring.template.count; i++)
        MN_TRY(mn_array_push(v->ctx, &v->skin, &v->pouring.template.data[i]));
    return MN_OK;
}

mn_status mn_codim_volume_inflow_pour(mn_codim_volume *v, double dt, int64_t *next_id)
{
    for (int64_t i = 0; i < v->set.inflow_count; i++) {
        if (mn_box_is_empty(v->set.inflows[i].region.bounds)) continue;
        const mn_vec3 way = mn_scale(dt, v->set.inflows[i].velocity);
        v->poured.data[i] += mn_norm(way);
        MN_TRY(fill(v, i, way, false, next_id));
    }
    return MN_OK;
}
