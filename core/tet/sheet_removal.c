// SPDX-License-Identifier: Apache-2.0
//
// Takes tetrahedra out of a liquid. What a set of them held goes to the liquid around, rest volume in
// proportion and momentum by a constant, both exact to rounding,
//
//   rest_t <- (1 + g) rest_t,   v_i <- v_i + (P - g Q)/m       g = (rest volume that goes)/(that of the
//   rings)
//
// with P the momentum that goes, Q that of the rings of tetrahedra around and m the mass of their nodes. A
// set with nothing around stays. The surface is made manifold again.
#include "tet/neck.h"

enum { RINGS = 3 };

enum { STAYS, GOES, GONE, SHARES };

// The tetrahedra of a set that is connected, which `first` is one of.
static mn_status gather_set(const mn_tet_mesh *mesh, uint8_t *mark, int32_t first, mn_tet_list *set)
{
    set->count = 0;
    mark[first] = GONE;
    MN_TRY(mn_array_push(mesh->ctx, set, &first));
    for (int64_t i = 0; i < set->count; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t mate = mesh->mate[set->data[i]][k], next = mate / 4;
            if (mate < 0 || mark[next] != GOES) continue;
            mark[next] = GONE;
            MN_TRY(mn_array_push(mesh->ctx, set, &next));
        }
    return MN_OK;
}

// The rings of tetrahedra that stay, around a set.
static mn_status gather_around(const mn_tet_mesh *mesh, uint8_t *mark, const mn_tet_list *set,
                               mn_tet_list *around)
{
    around->count = 0;
    int64_t begin = 0, end = set->count;
    for (int ring = 0; ring < RINGS; ring++) {
        const mn_tet_list *from = ring == 0 ? set : around;
        for (int64_t i = begin; i < end; i++)
            for (int k = 0; k < 4; k++) MN_TET_STAR(mesh, mesh->tet[from->data[i]][k], code)
                {
                    const int32_t t = code / 4;
                    if (mark[t] != STAYS) continue;
                    mark[t] = SHARES;
                    MN_TRY(mn_array_push(mesh->ctx, around, &t));
                }
        begin = ring == 0 ? 0 : end, end = around->count;
    }
    for (int64_t i = 0; i < around->count; i++) mark[around->data[i]] = STAYS;
    return MN_OK;
}

static mn_vec3 momentum_of(const mn_tet_mesh *mesh, const mn_tet_list *tets, double *held)
{
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    const mn_vec3 *v = (const mn_vec3 *)(const void *)mn_tet_mesh_find_field(mesh, MN_TET_V)->data;
    mn_vec3 sum = {0};
    *held = 0;
    for (int64_t i = 0; i < tets->count; i++) {
        const int32_t t = tets->data[i];
        *held += rest[t];
        for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25 * rest[t], v[mesh->tet[t][k]]);
    }
    return sum;
}

static mn_status list_vertices(const mn_tet_mesh *mesh, const mn_tet_list *tets, mn_tet_list *vertices)
{
    vertices->count = 0;
    for (int64_t i = 0; i < tets->count; i++)
        for (int k = 0; k < 4; k++) MN_TRY(mn_array_push(mesh->ctx, vertices, &mesh->tet[tets->data[i]][k]));
    mn_tet_list_sort_unique(vertices);
    return MN_OK;
}

// Heat that rides on `set` goes to `around` by its rest volumes, which sum to `shared`.
static void hand_over_heat(mn_tet_mesh *mesh, const mn_tet_list *set, const mn_tet_list *around,
                           double shared)
{
    const double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data;
    const mn_tet_field *heat = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT);
    double held = 0;
    if (!heat) return;
    for (int64_t i = 0; i < set->count; i++) held += heat->data[set->data[i]];
    for (int64_t i = 0; i < around->count; i++)
        heat->data[around->data[i]] += held * rest[around->data[i]] / shared;
}

// rest of `around` grows by one factor, and its vertices gain one velocity, so that nothing is lost.
static mn_status hand_over(mn_tet_mesh *mesh, const mn_tet_list *set, const mn_tet_list *around,
                           mn_tet_list *vertices)
{
    double *rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data, held, shared, weight = 0;
    mn_vec3 *v = (mn_vec3 *)(void *)mn_tet_mesh_find_field(mesh, MN_TET_V)->data;
    const mn_vec3 lost = momentum_of(mesh, set, &held), theirs = momentum_of(mesh, around, &shared);
    const double gain = held / shared;
    hand_over_heat(mesh, set, around, shared);
    for (int64_t i = 0; i < set->count; i++) rest[set->data[i]] = 0;
    for (int64_t i = 0; i < around->count; i++) rest[around->data[i]] *= 1 + gain;
    MN_TRY(list_vertices(mesh, around, vertices));
    for (int64_t i = 0; i < vertices->count; i++)
        MN_TET_STAR(mesh, vertices->data[i], code) weight += 0.25 * rest[code / 4];
    const mn_vec3 shift = mn_scale(1 / weight, mn_axpy(lost, -gain, theirs));
    for (int64_t i = 0; i < vertices->count; i++) v[vertices->data[i]] = mn_add(v[vertices->data[i]], shift);
    return MN_OK;
}

mn_status mn_tet_liquid_shed(mn_tet_liquid *liquid, mn_tet_mesh *mesh, const mn_tet_list *going, bool *shed)
{
    MN_ARRAY(uint8_t) mark = {0};
    mn_tet_list set = {0}, around = {0}, vertices = {0};
    mn_tet_manifold_report report;
    mn_status status;
    *shed = false;
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &mark, mesh->tet_slots));
    for (int32_t t = 0; t < mesh->tet_slots; t++) mark.data[t] = STAYS;
    for (int64_t i = 0; i < going->count; i++) mark.data[going->data[i]] = GOES;
    for (int64_t i = 0; i < going->count; i++) {
        if (mark.data[going->data[i]] != GOES) continue;
        MN_TRY_TO(done, status, gather_set(mesh, mark.data, going->data[i], &set));
        MN_TRY_TO(done, status, gather_around(mesh, mark.data, &set, &around));
        if (around.count == 0) continue;
        MN_TRY_TO(done, status, hand_over(mesh, &set, &around, &vertices));
        for (int64_t k = 0; k < set.count; k++)
            MN_TRY_TO(done, status, mn_tet_mesh_replace(mesh, 1, &set.data[k], 0, NULL, NULL));
        *shed = true;
        liquid->counts.opened++;
    }
    if (*shed) status = mn_tet_mesh_make_manifold(mesh, &report);
done:
    mn_array_free(liquid->ctx, &mark);
    mn_array_free(liquid->ctx, &set);
    mn_array_free(liquid->ctx, &around);
    mn_array_free(liquid->ctx, &vertices);
    return status;
}
