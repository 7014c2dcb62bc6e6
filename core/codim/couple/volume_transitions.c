// SPDX-License-Identifier: Apache-2.0
//
// What passes between volumes and the rest, with its mass and its momentum:
//
//   0 to 1  and back, see volume_sheets.c;
//   0 to 3  particles that no liquid cell is near any more become drops; those within a cell of each other
//           become one;
//   3 to 0  a drop inside of a volume becomes particles of it;
//   1 to 0  a point of a film or thread inside of a volume does too: what falls into a pool is pool.
//
// The volume that a body's skin encloses follows its mass (volume_coupling.c).
#include "codim/volume/state.h"

#include "base/random.h"

#include <string.h>

static const double TOGETHER = 1.0; // dx, between particles that become one drop
static const double INSIDE = 0.3;   // dx, under the skin
static const double ON_TOP = 0.35;  // dx, over it
static const double LIES = 0.8;     // least cosine between the normals of film and skin

// ---- 0 to 3 ----

static void join(mn_codim_point *drop, const mn_codim_point *other)
{
    const double total = drop->mass + other->mass, part = other->mass / total;
    drop->position = mn_lerp(drop->position, other->position, part);
    drop->velocity = mn_lerp(drop->velocity, other->velocity, part);
    drop->mass = total;
}

// Each goes to the first drop near it. There are few: a satellite is some particles.
mn_status mn_codim_liquid_release(mn_codim *mls)
{
    mn_codim_volume *v = mls->liquid;
    const int64_t first = mls->points.count;
    for (int64_t i = 0; i < v->lost.count; i++) {
        const mn_codim_point *one = &v->lost.data[i];
        int64_t k = first;
        while (k < mls->points.count &&
               mn_distance(mls->points.data[k].position, one->position) > TOGETHER * v->set.dx)
            k++;
        if (k < mls->points.count)
            join(&mls->points.data[k], one);
        else
            MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, one));
    }
    v->lost.count = 0;
    for (int64_t i = 0; i < v->sheets.count; i++) { // they have stood still for the step
        mn_codim_point *point = &v->sheets.data[i];
        point->velocity = mn_axpy(point->velocity, v->coupling.dt, v->set.gravity);
        point->position = mn_axpy(point->position, v->coupling.dt, point->velocity);
        MN_TRY(mn_array_push(mls->solver.ctx, &mls->points, point));
    }
    v->sheets.count = 0;
    return MN_OK;
}

// ---- 3 and 1 to 0 ----

// As many particles as its mass asks for, around where it was.
static mn_status dissolve(mn_codim *mls, const mn_codim_point *point)
{
    mn_codim_volume *v = mls->liquid;
    const double dx = v->set.dx, usual = 0.125 * v->set.density * dx * dx * dx;
    const int64_t count = (int64_t)fmin(64, fmax(1, round(point->mass / usual)));
    mn_vec3 middle = {0};
    const int64_t first = v->particles.count;
    for (int64_t k = 0; k < count; k++) {
        const mn_vec3 shake =
            mn_sub(mn_random_unit3(7, (uint64_t)point->id, (uint32_t)k), mn_v3(0.5, 0.5, 0.5));
        const mn_codim_particle p = {.position = mn_axpy(point->position, count > 1 ? dx : 0, shake),
                                     .velocity = point->velocity,
                                     .mass = point->mass / (double)count,
                                     .id = k == 0 ? point->id : mls->next_id++};
        middle = mn_axpy(middle, 1 / (double)count, mn_sub(p.position, point->position));
        MN_TRY(mn_array_push(mls->solver.ctx, &v->particles, &p));
    }
    for (int64_t k = first; k < v->particles.count; k++) // the centre of mass stays, and so does the moment
        v->particles.data[k].position = mn_sub(v->particles.data[k].position, middle);
    return MN_OK;
}

// Film and threads end at the surface of volumes and are held there (film_attach.c): they become part of one
// when they are well inside, or lie on it. Seen from where they were when the grid was built.
static bool is_part(const mn_codim_volume *v, const mn_codim_point *point)
{
    const mn_vec3 at = mn_axpy(point->position, -v->coupling.dt, point->velocity);
    const int32_t cell = mn_codim_volume_cell_at(v, at);
    const int32_t skin = cell < 0 ? -1 : mn_neighbours_nearest(v->hull.surface.neighbours, at, v->set.dx);
    if (skin < 0) return cell >= 0 && v->grid.unknown.data[cell] >= 0;
    const mn_vec3 outward = v->hull.outward.data[skin];
    const double height = mn_dot(mn_sub(at, v->hull.x0.data[skin]), outward);
    const bool lies = point->codim == MN_CODIM_FILM && fabs(mn_dot(point->normal, outward)) > LIES;
    return height < -INSIDE * v->set.dx || (lies && height < ON_TOP * v->set.dx);
}

mn_status mn_codim_liquid_absorb(mn_codim *mls)
{
    const mn_codim_volume *v = mls->liquid;
    int64_t kept = 0;
    for (int64_t i = 0; i < mls->points.count; i++) {
        const mn_codim_point point = mls->points.data[i];
        const int32_t cell = mn_codim_volume_cell_at(v, point.position);
        const bool in =
            point.codim == MN_CODIM_DROP ? cell >= 0 && v->grid.unknown.data[cell] >= 0 : is_part(v, &point);
        if (point.anchor == MN_CODIM_FREE && in)
            MN_TRY(dissolve(mls, &point));
        else
            mls->points.data[kept++] = point;
    }
    mls->points.count = kept;
    return MN_OK;
}

// ---- limits ----

static bool is_beyond(const mn_codim_def *def, mn_vec3 x)
{
    const mn_vec3 d = mn_sub(x, def->limit_center), size = def->limit_size;
    if (!(size.x > 0 && size.y > 0 && size.z > 0)) return false;
    return fabs(d.x) > 0.5 * size.x || fabs(d.y) > 0.5 * size.y || fabs(d.z) > 0.5 * size.z;
}

void mn_codim_liquid_limit(mn_codim *mls)
{
    mn_codim_volume *v = mls->liquid;
    int64_t kept = 0;
    for (int64_t i = 0; i < v->particles.count; i++)
        if (!is_beyond(&mls->def, v->particles.data[i].position))
            v->particles.data[kept++] = v->particles.data[i];
    v->particles.count = kept;
    kept = 0;
    for (int64_t i = 0; i < v->skin.count; i++)
        if (!is_beyond(&mls->def, v->skin.data[i].position)) v->skin.data[kept++] = v->skin.data[i];
    v->skin.count = kept;
}
