// SPDX-License-Identifier: Apache-2.0
//
// Volumes that become too thin for the grid go on as films, and films that become thick as volumes
// ([wang2020] section 8), with their mass and their momentum:
//
//   0 to 1  Skin with other skin so near behind it that the grid does not see the liquid between, and with
//           normals around it that are all along one axis: a sheet, not a neck. A point of film comes in the
//           middle for each spacing of it, and takes the particles that it is nearest to. That begins at 0.9
//           dx: a sheet thinner than dx may hold no centre of a cell, and its particles would become drops.
//   1 to 0  Film that is thicker than a cell and a half, as are the points around it. Each point becomes a
//           stack of particles across the film; a skin is laid around them, and where it overlaps that of a
//           volume both become one (codim/volume/topology.c).
//
// A film that begins where a volume ends is held by it (film_attach.c).
#include "codim/volume/state.h"

#include <string.h>

static const double FACES = -0.3;   // cosine between the normals of two sides
static const double APART = 0.7;    // spacings, between points of film that a sheet becomes
static const double TAKEN = 0.75;   // dx, from a particle to its point of film at most
static const double THICK = 1.5;    // dx, of film that becomes a volume
static const double NEARLY = 0.8;   // of that, around it
static const double LEAST_SLAB = 8; // cells, of film that becomes a volume at once

// ---- 0 to 1 ----

typedef struct opposite {
    const mn_codim_volume *volume;
    int32_t self, nearest; ///< skin that faces the other way, behind; -1: none
    double least;
    mn_vec3 middle; ///< between both
    int32_t beside; ///< the nearest point of film that has been placed; -1: none
    double away2;
} opposite;

static void look_behind(void *user, int32_t point, double d2)
{
    opposite *o = user;
    const mn_codim_volume *v = o->volume;
    const mn_vec3 n = v->hull.surface.normal.data[o->self];
    const double along = mn_dot(mn_sub(v->hull.x0.data[point], v->hull.x0.data[o->self]), n);
    if (mn_dot(v->hull.surface.normal.data[point], n) > FACES || along > 0) return;
    if (d2 < o->least || (d2 == o->least && point < o->nearest)) o->least = d2, o->nearest = point;
}

// `stack` holds the point of film that a point of the skin has made; -1: none.
static void look_beside(void *user, int32_t point, double unused)
{
    opposite *o = user;
    const mn_codim_volume *v = o->volume;
    const int32_t film = v->stack.data[point];
    (void)unused;
    if (film < 0) return;
    const double d2 = mn_norm2(mn_sub(v->sheets.data[film].position, o->middle));
    if (d2 < o->away2 || (d2 == o->away2 && film < o->beside)) o->away2 = d2, o->beside = film;
}

// Film points in the middle of the sheet, about a spacing apart, all facing the same way.
static mn_status place_film(mn_codim_volume *v, int64_t *next_id)
{
    const mn_neighbours *skin = v->hull.surface.neighbours;
    const double s = v->set.spacing;
    MN_TRY(mn_array_resize(v->ctx, &v->stack, v->skin.count));
    for (int64_t p = 0; p < v->skin.count; p++) v->stack.data[p] = -1;
    for (int32_t p = 0; p < (int32_t)v->skin.count; p++) {
        if (v->hull.none.data[p] != MN_CODIM_VOLUME_SHEET) continue;
        opposite o = {
            .volume = v, .self = p, .nearest = -1, .least = INFINITY, .beside = -1, .away2 = INFINITY};
        mn_neighbours_visit(skin, v->hull.x0.data[p], v->set.dx, look_behind, &o);
        if (o.nearest < 0) continue;
        o.middle = mn_lerp(v->hull.x0.data[p], v->hull.x0.data[o.nearest], 0.5);
        mn_neighbours_visit(skin, v->hull.x0.data[p], 2 * s, look_beside, &o);
        if (o.away2 < APART * APART * s * s) continue;
        mn_vec3 normal = v->hull.surface.normal.data[p];
        if (o.beside >= 0 && mn_dot(v->sheets.data[o.beside].normal, normal) < 0)
            normal = mn_scale(-1, normal);
        const mn_codim_point point = {.position = o.middle,
                                      .normal = normal,
                                      .id = (*next_id)++,
                                      .codim = MN_CODIM_FILM,
                                      .anchor = MN_CODIM_FREE,
                                      .pocket = -1};
        v->stack.data[p] = (int32_t)v->sheets.count;
        MN_TRY(mn_array_push(v->ctx, &v->sheets, &point));
    }
    return MN_OK;
}

// Particles between go to the nearest point of film, with what they have; points that get none are not.
static mn_status fill_film(mn_codim_volume *v, int64_t first)
{
    const mn_neighbours *skin = v->hull.surface.neighbours;
    mn_neighbours *film = NULL;
    int64_t kept = 0;
    mn_status status;
    v->grid.sites.count = 0;
    for (int64_t k = first; k < v->sheets.count; k++)
        MN_TRY(mn_array_push(v->ctx, &v->grid.sites, &v->sheets.data[k].position));
    MN_TRY_TO(out, status, mn_neighbours_create(v->ctx, &film));
    MN_TRY_TO(out, status,
              mn_neighbours_build(film, mn_points_of(v->grid.sites.data, v->grid.sites.count), v->set.dx));
    for (int64_t i = 0; i < v->particles.count; i++) {
        const mn_codim_particle *p = &v->particles.data[i];
        const int32_t near = mn_neighbours_nearest(film, p->position, TAKEN * v->set.dx);
        const int32_t under = near < 0 ? -1 : mn_neighbours_nearest(skin, p->position, v->set.dx);
        if (under < 0 || v->hull.none.data[under] != MN_CODIM_VOLUME_SHEET) {
            v->particles.data[kept++] = *p;
            continue;
        }
        mn_codim_point *point = &v->sheets.data[first + near];
        point->velocity = mn_axpy(point->velocity, p->mass, p->velocity);
        point->mass += p->mass;
    }
    v->particles.count = kept;
    kept = first;
    for (int64_t k = first; k < v->sheets.count; k++) {
        mn_codim_point point = v->sheets.data[k];
        if (!(point.mass > 0)) continue;
        point.velocity = mn_scale(1 / point.mass, point.velocity);
        v->sheets.data[kept++] = point;
    }
    v->sheets.count = kept;
    status = MN_OK;
out:
    mn_neighbours_free(film);
    return status;
}

mn_status mn_codim_volume_peel(mn_codim_volume *v, int64_t *next_id)
{
    const int64_t first = v->sheets.count;
    MN_TRY(place_film(v, next_id));
    if (v->sheets.count == first) return MN_OK;
    return fill_film(v, first);
}

// ---- 1 to 0 ----

static bool is_thick(const mn_codim *mls, int32_t p, double least)
{
    const mn_codim_point *point = &mls->points.data[p];
    return point->codim == MN_CODIM_FILM && point->anchor == MN_CODIM_FREE && !mls->surface.edge.data[p] &&
           mls->thickness.data[p] > least;
}

// `skip` becomes 2 for film that goes: thick, with thick film all around, or beside such a point.
static double mark_thick(mn_codim *mls, double least)
{
    double volume = 0;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++) {
        const mn_codim_film_fan *fan = &mls->surface.fans.data[p];
        bool all = is_thick(mls, p, least);
        for (int32_t i = 0; i < fan->count && all; i++) all = is_thick(mls, fan->pair[i][0], NEARLY * least);
        if (!all) continue;
        mls->skip.data[p] = 2;
        volume += mls->points.data[p].mass / mls->def.density;
    }
    return volume;
}

// A stack of particles across the film, half a cell from each other.
static mn_status stack(mn_codim *mls, const mn_codim_point *point, double thickness, double dx)
{
    mn_codim_volume *v = mls->liquid;
    const int32_t count = (int32_t)fmin(64, fmax(1, round(2 * thickness / dx)));
    if (!mn_codim_fits_cells(mls, point->mass / count))
        return mn_fail(
            mls->solver.ctx, MN_ERROR_INPUT,
            "The film is %.3g m thick with points %.3g m apart, too thick for a film of that spacing. Use a "
            "thickness below %.2g m, a larger spacing, or a volume of liquid.",
            thickness, mls->def.spacing, 32 * dx);
    for (int32_t k = 0; k < count; k++) {
        const double at = ((k + 0.5) / count - 0.5) * thickness;
        const mn_codim_particle p = {.position = mn_axpy(point->position, at, point->normal),
                                     .velocity = point->velocity,
                                     .mass = point->mass / count,
                                     .id = k == 0 ? point->id : mls->next_id++};
        MN_TRY(mn_array_push(mls->solver.ctx, &v->particles, &p));
    }
    return MN_OK;
}

// The skin of the new particles alone.
static mn_status lay_skin(mn_codim *mls, mn_codim_volume_particle_array *old)
{
    mn_codim_volume *v = mls->liquid;
    MN_TRY(mn_codim_volume_skin_of_particles(v, &mls->next_id));
    for (int64_t i = 0; i < old->count; i++)
        MN_TRY(mn_array_push(mls->solver.ctx, &v->particles, &old->data[i]));
    return MN_OK;
}

mn_status mn_codim_thick_films(mn_codim *mls)
{
    const double dx = mn_codim_cell_size(&mls->def);
    if (mls->def.rim_collision > 0) return MN_OK; // it opens by itself (rim_collision.c)
    MN_TRY(mn_codim_refresh(mls));
    double most = 0;
    for (int32_t p = 0; p < (int32_t)mls->points.count; p++)
        if (is_thick(mls, p, 0)) most = fmax(most, mls->thickness.data[p]);
    if (!(most > THICK * dx)) return MN_OK;
    if (!(mark_thick(mls, THICK * dx) > LEAST_SLAB * dx * dx * dx)) return MN_OK;
    MN_TRY(mn_codim_require_liquid(mls));
    mn_codim_volume *v = mls->liquid;
    mn_codim_volume_particle_array old = v->particles;
    v->particles = (mn_codim_volume_particle_array){0};
    mn_status status = MN_OK;
    int64_t kept = 0;
    for (int64_t p = 0; p < mls->points.count && status == MN_OK; p++) {
        if (mls->skip.data[p] == 2)
            status = stack(mls, &mls->points.data[p], mls->thickness.data[p], dx);
        else
            mls->points.data[kept++] = mls->points.data[p];
    }
    if (status == MN_OK) mls->points.count = kept;
    if (status == MN_OK) status = lay_skin(mls, &old);
    mn_array_free(mls->solver.ctx, &old);
    mls->surface_is_fresh = false;
    return status;
}
