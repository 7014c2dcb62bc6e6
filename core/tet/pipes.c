// SPDX-License-Identifier: Apache-2.0
//
// Liquid that comes out of pipes, and liquid that leaves.
//
//   inflow   layers of prisms behind the caps of mouths (tetmesh/mouth.c). Faces of the liquid in a cap are
//            not surface: they have no tension and their nodes move with v. A mouth that has
//            lost its cap, or has not had one yet, is given the slug itself.
//   outflow  tetrahedra with all four corners in a drain go
//
// What comes and what goes is booked as the rest volume of its tetrahedra, to rounding.
#include "tet/pipes.h"

#include "tet/solid_steps.h"
#include "tetmesh/cut/cut.h"

#include <string.h>

// ---- the mouth ----

bool mn_tet_liquid_has_mouth(const mn_tet_liquid *liquid)
{
    for (int32_t k = 0; k < liquid->run.open; k++)
        if (liquid->mouths.data[k].area > 0) return true;
    return false;
}

int32_t mn_tet_liquid_cap_of(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, int32_t node)
{
    if (liquid->run.open == 0 || !mn_tet_vertex_on_boundary(mesh, node)) return 0;
    for (int32_t k = 0; k < liquid->run.open; k++)
        if (mn_tet_mouth_caps(&liquid->mouths.data[k], liquid->size, mesh->position[node])) return k + 1;
    return 0;
}

void mn_tet_liquid_mark_cap(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, uint8_t *marks,
                            uint8_t mark)
{
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        marks[i] &= (uint8_t)~mark;
        if (mn_tet_liquid_cap_of(liquid, mesh, i)) marks[i] |= mark;
    }
}

double mn_tet_liquid_next_layer(const mn_tet_liquid *liquid)
{
    return mn_tet_mouths_next_layer(liquid->mouths.data, liquid->run.open, liquid->size);
}

void mn_tet_liquid_move_caps(mn_tet_liquid *liquid, double seconds)
{
    mn_tet_mouths_move(liquid->mouths.data, liquid->run.open, seconds);
}

// ---- what comes ----

static void fill_vectors(const mn_tet_mesh *mesh, const char *name, int32_t first, mn_vec3 value)
{
    mn_vec3 *field = (mn_vec3 *)(void *)mn_tet_mesh_find_field(mesh, name)->data;
    for (int32_t i = first; i < mesh->vertex_slots; i++) field[i] = value;
}

/// New tetrahedra rest in the volume that they have.
static void book_new(const mn_tet_mesh *mesh, int32_t first, double *volume)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data,
           *soft = mn_tet_mesh_find_field(mesh, MN_TET_SOFT_VOLUME)->data;
    for (int32_t t = first; t < mesh->tet_slots; t++)
        *volume += rest[t] = soft[t] = mn_tet_mesh_tet_volume(mesh, t);
}

/// Adds the slug to a mesh without gaps.
static mn_status add_slug(const mn_tet_mesh *slug, mn_vec3 velocity, mn_tet_mesh *mesh, double *volume)
{
    const int32_t first = mesh->vertex_slots, first_tet = mesh->tet_slots;
    mn_tet_tets tets = {0};
    mn_tet_ints place = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(mesh->ctx, &place, slug->vertex_slots));
    for (int32_t i = 0; i < slug->vertex_slots; i++)
        if (mn_tet_vertex_alive(slug, i) && slug->star_first[i] >= 0)
            MN_TRY_TO(done, status,
                      mn_tet_mesh_add_vertex(mesh, slug->position[i], 0, NULL, NULL, &place.data[i]));
    for (int32_t t = 0; t < slug->tet_slots; t++) {
        mn_tet_indices tet;
        if (!mn_tet_alive(slug, t)) continue;
        for (int k = 0; k < 4; k++) tet.v[k] = place.data[slug->tet[t][k]];
        MN_TRY_TO(done, status, mn_array_push(mesh->ctx, &tets, &tet));
    }
    MN_TRY_TO(done, status,
              mn_tet_mesh_replace(mesh, 0, NULL, (int32_t)tets.count, (const int32_t(*)[4])tets.data, NULL));
    fill_vectors(mesh, MN_TET_V, first, velocity);
    fill_vectors(mesh, MN_TET_LAST_V, first, velocity);
    book_new(mesh, first_tet, volume);
done:
    mn_array_free(mesh->ctx, &tets);
    mn_array_free(mesh->ctx, &place);
    return status;
}

static mn_status take_over(mn_tet_liquid *liquid, mn_tet_mesh *work)
{
    mn_tet_mesh *fresh;
    MN_TRY(mn_tet_liquid_rebuild(work, &fresh));
    liquid->last_dt = 0; // velocity or pressure jumps, so the next step starts anew
    liquid->system.analyzed = liquid->system.factored = false;
    MN_TRY(mn_tet_solids_take_mesh(liquid, fresh));
    if (!mn_tet_liquid_has_solids(liquid)) return MN_OK;
    MN_TRY(mn_tet_liquid_find_contacts(liquid));
    return mn_tet_liquid_find_wetted(liquid);
}

/// Three tetrahedra between face v and the one behind it.
static mn_status add_prism(mn_tet_mesh *mesh, const int32_t v[3], const int32_t *behind, mn_tet_tets *tets)
{
    const int32_t b[3] = {behind[v[0]], behind[v[1]], behind[v[2]]};
    mn_vec3 front_x[3], behind_x[3];
    mn_tet_indices three[3];
    int32_t made[3][4];
    for (int k = 0; k < 3; k++) front_x[k] = mesh->position[v[k]], behind_x[k] = mesh->position[b[k]];
    mn_tet_prism(v, b, front_x, behind_x, made);
    memcpy(three, made, sizeof made);
    for (int i = 0; i < 3; i++) MN_TRY(mn_array_push(mesh->ctx, tets, &three[i]));
    return MN_OK;
}

/// A vertex in the mouth for each on the cap, which has moved by a whole layer.
static mn_status add_behind(const mn_tet_liquid *liquid, const mn_tet_mouth *m, mn_tet_mesh *mesh,
                            mn_tet_ints *behind)
{
    const int32_t count = mesh->vertex_slots;
    MN_TRY(mn_array_resize(mesh->ctx, behind, count));
    for (int32_t i = 0; i < count; i++) {
        behind->data[i] = -1;
        if (!mn_tet_vertex_on_boundary(mesh, i) || !mn_tet_mouth_caps(m, liquid->size, mesh->position[i]))
            continue;
        const mn_vec3 x = mesh->position[i];
        const double one = 1;
        MN_TRY(mn_tet_mesh_add_vertex(mesh, mn_axpy(x, m->begin - mn_tet_mouth_along(m, x), m->along), 1, &i,
                                      &one, &behind->data[i]));
    }
    return MN_OK;
}

/// Puts a layer behind the cap; *volume stays 0 when there is none.
static mn_status add_layer(const mn_tet_liquid *liquid, const mn_tet_mouth *m, mn_tet_mesh *mesh,
                           double *volume)
{
    const int32_t first_tet = mesh->tet_slots;
    mn_tet_ints behind = {0};
    mn_tet_tets tets = {0};
    mn_tet_mouth full = *m;
    mn_status status;
    full.moved = liquid->size;
    MN_TRY_TO(done, status, add_behind(liquid, &full, mesh, &behind));
    for (int32_t t = 0; t < first_tet; t++)
        for (int k = 0; k < 4; k++) {
            int32_t v[3];
            for (int c = 0; c < 3; c++) v[c] = mesh->tet[t][mn_tet_face_corners[k][c]];
            if (mesh->mate[t][k] < 0 && behind.data[v[0]] >= 0 && behind.data[v[1]] >= 0 &&
                behind.data[v[2]] >= 0)
                MN_TRY_TO(done, status, add_prism(mesh, v, behind.data, &tets));
        }
    if (tets.count > 0)
        MN_TRY_TO(
            done, status,
            mn_tet_mesh_replace(mesh, 0, NULL, (int32_t)tets.count, (const int32_t(*)[4])tets.data, NULL));
    book_new(mesh, first_tet, volume);
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(mesh, v) && mesh->star_first[v] < 0) mn_tet_mesh_remove_vertex(mesh, v);
    status = mn_tet_mesh_compact(mesh, NULL, NULL);
done:
    mn_array_free(mesh->ctx, &behind);
    mn_array_free(mesh->ctx, &tets);
    return status;
}

static mn_status emit_from(mn_tet_liquid *liquid, const mn_tet_mesh *slug, const mn_tet_mouth *m)
{
    mn_tet_mesh *work = NULL;
    double volume = 0;
    mn_status status;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(liquid->mesh, &work));
    MN_TRY_TO(done, status, add_layer(liquid, m, work, &volume));
    if (volume == 0) MN_TRY_TO(done, status, add_slug(slug, m->velocity, work, &volume));
    MN_TRY_TO(done, status, take_over(liquid, work));
    liquid->counts.added += volume;
done:
    mn_tet_mesh_free(work);
    return status;
}

mn_status mn_tet_liquid_emit(mn_tet_liquid *liquid)
{
    const mn_tet_pipe *pipe = &liquid->run.pipe;
    for (int32_t k = 0; k < liquid->run.open; k++, pipe = pipe->next) {
        mn_tet_mouth *m = &liquid->mouths.data[k];
        if (!mn_tet_mouth_is_due(m, liquid->size)) continue;
        MN_TRY(emit_from(liquid, pipe->slug, m));
        m->moved = 0;
    }
    return MN_OK;
}

// ---- what goes ----

/// Takes out what lies in the drain, and leaves a mesh without gaps whose boundary is manifold.
static mn_status take_out(mn_tet_mesh *mesh, const double *distance, double *volume)
{
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    mn_tet_ints gone = {0};
    mn_tet_manifold_report report;
    mn_status status = MN_OK;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const int32_t *v = mesh->tet[t];
        if (!(distance[v[0]] < 0 && distance[v[1]] < 0 && distance[v[2]] < 0 && distance[v[3]] < 0)) continue;
        *volume += rest[t];
        MN_TRY_TO(done, status, mn_array_push(mesh->ctx, &gone, &t));
    }
    if (gone.count == 0) goto done;
    MN_TRY_TO(done, status, mn_tet_mesh_replace(mesh, (int32_t)gone.count, gone.data, 0, NULL, NULL));
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mn_tet_vertex_alive(mesh, v) && mesh->star_first[v] < 0) mn_tet_mesh_remove_vertex(mesh, v);
    MN_TRY_TO(done, status, mn_tet_mesh_make_manifold(mesh, &report));
    status = mn_tet_mesh_compact(mesh, NULL, NULL);
done:
    mn_array_free(mesh->ctx, &gone);
    return status;
}

/// What leaves takes its heat along.
static mn_status take_over_drained(mn_tet_liquid *liquid, mn_tet_mesh *work)
{
    const bool heat = liquid->solids.used && liquid->def.heat;
    const double before = heat ? mn_tet_solids_thermal_energy(liquid) : 0;
    MN_TRY(take_over(liquid, work));
    if (heat) liquid->solids.heat_in += mn_tet_solids_thermal_energy(liquid) - before;
    return MN_OK;
}

mn_status mn_tet_liquid_drain(mn_tet_liquid *liquid)
{
    const int32_t n = liquid->mesh->vertex_slots;
    mn_tet_mesh *work = NULL;
    mn_tet_numbers distance = {0};
    double volume = 0;
    bool reached = false;
    mn_status status = MN_OK;
    if (!liquid->run.drain || n == 0) return MN_OK;
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &distance, n));
    mn_collider_distance(liquid->run.drain, liquid->run.frame_left, n, liquid->mesh->position, distance.data);
    for (int32_t i = 0; i < n && !reached; i++) reached = distance.data[i] < 0;
    if (!reached) goto done;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(liquid->mesh, &work));
    MN_TRY_TO(done, status, mn_tet_solids_deposit_heat(liquid, work));
    MN_TRY_TO(done, status, take_out(work, distance.data, &volume));
    if (volume > 0) MN_TRY_TO(done, status, take_over_drained(liquid, work));
    liquid->counts.removed += volume;
done:
    mn_array_free(liquid->ctx, &distance);
    mn_tet_mesh_free(work);
    return status;
}

// ---- what the caller sees ----

mn_status mn_tet_liquid_open_pipe(mn_tet_liquid *liquid, const mn_tet_pipe *pipe)
{
    bool changed;
    liquid->run.pipe = (mn_tet_pipe){0}, liquid->run.open = 0;
    MN_TRY(mn_tet_mouths_open(liquid->ctx, liquid->size, pipe, &liquid->mouths, &changed));
    if (liquid->mouths.count == 0) return MN_OK;
    if (liquid->solids.used)
        return mn_fail(liquid->ctx, MN_ERROR_ARGUMENT,
                       "A solver with materials takes no emitters yet; remove the materials or the emitter.");
    liquid->run.pipe = *pipe;
    // Steps that look back would move a cap by a mean of both velocities, away from where it is taken to be.
    if (changed) liquid->last_dt = 0;
    liquid->run.open = (int32_t)liquid->mouths.count;
    return MN_OK;
}

void mn_tet_liquid_get_piped(const mn_tet_liquid *liquid, double *added, double *removed)
{
    *added = liquid->counts.added, *removed = liquid->counts.removed;
}
