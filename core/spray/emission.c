// SPDX-License-Identifier: Apache-2.0
//
// Births from the points or the triangles of a source. Every random number is a function of the seed and the
// drop's id (or number), so neither threads nor substeps change a drop. Positions are interpolated between
// the source of the frame before and the one of this frame to the moment of birth: a source that moves fast
// leaves a trail without gaps.
//
//   place      triangle by area, then uniform on it: (1 - s, s (1 - b), s b) with s = sqrt(a)
//   direction  uniform on the spherical cap of the cone: cos uniform in [cos(spread), 1]
#include "spray/emission.h"
#include "base/elementary.h"

#include "base/random.h"

static const double pi = MN_PI;

/// Which numbers of a drop's stream serve what.
enum { DRAW_MOMENT, DRAW_PLACE, DRAW_KIND, DRAW_CONE };

double mn_birth_phase(uint64_t seed, int64_t number)
{
    return (double)number + mn_random_unit(seed, (uint64_t)number, DRAW_MOMENT);
}

int64_t mn_birth_number(uint64_t seed, double phase)
{
    const int64_t number = (int64_t)floor(phase);
    return mn_birth_phase(seed, number) < phase ? number + 1 : number;
}

// A place on the source: up to three points with their weights.
typedef struct place {
    int64_t point[3];
    double weight[3];
    int32_t count;
} place;

static int64_t triangle_at(const mn_emission *e, double u)
{
    const int64_t count = e->source->triangle_count;
    const double area = u * e->cumulative_area[count - 1];
    int64_t low = 0, high = count - 1;
    while (low < high) {
        const int64_t middle = low + (high - low) / 2;
        if (e->cumulative_area[middle] > area)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

static place place_of(const mn_emission *e, int64_t id)
{
    const mn_vec3 u = mn_random_unit3(e->def->seed, (uint64_t)id, DRAW_PLACE);
    if (e->source->triangle_count == 0) {
        const int64_t last = e->source->point_count - 1, at = (int64_t)(u.x * (double)(last + 1));
        return (place){{at < last ? at : last}, {1.0}, 1};
    }
    const int64_t *corners = e->source->triangles[triangle_at(e, u.x)];
    const double s = sqrt(u.y);
    return (place){{corners[0], corners[1], corners[2]}, {1.0 - s, s * (1.0 - u.z), s * u.z}, 3};
}

static mn_vec3 weighted(const place *at, const mn_vec3 *values)
{
    mn_vec3 sum = {0, 0, 0};
    for (int32_t i = 0; i < at->count; i++) sum = mn_axpy(sum, at->weight[i], values[at->point[i]]);
    return sum;
}

static mn_vec3 direction_of(const mn_emission *e, const place *at)
{
    const mn_vec3 *p = e->source->positions;
    mn_vec3 n = mn_v3(0, 0, 0);
    if (e->def->along == MN_SPRAY_ALONG_NORMAL && e->source->normals)
        n = mn_normalize(weighted(at, e->source->normals));
    else if (e->def->along == MN_SPRAY_ALONG_NORMAL && at->count == 3)
        n = mn_normalize(
            mn_cross(mn_sub(p[at->point[1]], p[at->point[0]]), mn_sub(p[at->point[2]], p[at->point[0]])));
    return mn_norm2(n) > 0 ? n : mn_normalize(e->def->direction);
}

static mn_vec3 turn_into_cone(const mn_emission *e, int64_t id, mn_vec3 axis)
{
    if (mn_norm2(axis) == 0 || e->def->spread == 0) return axis;
    const mn_vec3 u = mn_random_unit3(e->def->seed, (uint64_t)id, DRAW_CONE);
    const double cosine = 1.0 - u.x * (1.0 - mn_cos(e->def->spread * pi / 180.0));
    const double sine = sqrt(fmax(0.0, 1.0 - cosine * cosine));
    mn_vec3 a, b;
    mn_frame(axis, &a, &b);
    const double angle = 2.0 * pi * u.y;
    return mn_add(mn_scale(cosine, axis),
                  mn_add(mn_scale(sine * mn_cos(angle), a), mn_scale(sine * mn_sin(angle), b)));
}

static double varied(double value, double variation, double u)
{
    return value * (1.0 + variation * (2.0 * u - 1.0));
}

mn_drop mn_emission_birth(const mn_emission *e, int64_t id, double fraction)
{
    const mn_spray_def *def = e->def;
    const place at = place_of(e, id);
    const mn_vec3 end = weighted(&at, e->source->positions);
    const mn_vec3 begin = e->previous ? weighted(&at, e->previous) : end;
    mn_vec3 motion = mn_v3(0, 0, 0);
    if (e->source->velocities)
        motion = weighted(&at, e->source->velocities);
    else if (e->previous && e->dt > 0)
        motion = mn_scale(1.0 / e->dt, mn_sub(end, begin));

    const mn_vec3 u = mn_random_unit3(def->seed, (uint64_t)id, DRAW_KIND);
    const mn_vec3 direction = turn_into_cone(e, id, direction_of(e, &at));
    mn_drop drop = {.id = id};
    drop.position =
        e->previous ? mn_lerp(begin, end, fraction) : mn_axpy(end, -(1.0 - fraction) * e->dt, motion);
    drop.velocity = mn_add(mn_scale(varied(def->speed, def->speed_variation, u.x), direction),
                           mn_scale(def->inherit_velocity, motion));
    drop.radius = varied(def->radius, def->radius_variation, u.y);
    drop.mass = mn_drop_mass(drop.radius, def->density);
    drop.life = def->life == 0 ? -1.0 : varied(def->life, def->life_variation, u.z);
    return drop;
}
