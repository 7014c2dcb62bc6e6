// SPDX-License-Identifier: Apache-2.0
//
// Locking [clausen2013] section 5.2. Where all corners of a tetrahedron lie on the surface, and more so on
// solids, volume constraints can leave its nodes nowhere to go. Before the solve such places are divided:
//
//   edges that join surface vertices through the liquid, in their middle
//   tetrahedra that still have four corners on the surface, in their centre of gravity
//
// The new nodes move freely. After the solve the mesh is what it was, with its nodes moved: it was kept, so
// the undo is exact. Divided tetrahedra that are connected by faces are a region, whose border the division
// does not touch: it has the same volume before and after the undo. Inside, volume has gone from one
// tetrahedron to another, and volumes at rest follow:
//
//   rest_t = V_t sum(rest)/sum(V),  sums over the region; soft volumes alike
//
// so that the rest volume of every region stays to rounding. The momentum that the undo takes from a region
// is given back to those of its nodes that touch nothing.
#include "tet/locking.h"

#include "tetmesh/internal.h"

#include <stdlib.h>
#include <string.h>

// ---- division ----

typedef MN_ARRAY(uint64_t) key_array;

static bool on_surface(const mn_tet_mesh *mesh, int32_t v)
{
    return mn_tet_vertex_on_boundary(mesh, v);
}

/// The edge belongs to a boundary face.
static bool is_surface_edge(const mn_tet_mesh *mesh, int32_t a, int32_t b)
{
    MN_TET_STAR(mesh, a, code)
    {
        const int32_t t = code / 4, k = mn_tet_corner_of(mesh, t, b);
        for (int32_t face = 0; k >= 0 && face < 4; face++)
            if (face != code % 4 && face != k && mesh->mate[t][face] < 0) return true;
    }
    return false;
}

static int compare_keys(const void *a, const void *b)
{
    const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
    return x < y ? -1 : x > y;
}

static mn_status list_edges(const mn_tet_mesh *mesh, key_array *edges)
{
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int e = 0; e < 6; e++) {
            const int32_t p = mesh->tet[t][mn_tet_edge_corners[e][0]],
                          q = mesh->tet[t][mn_tet_edge_corners[e][1]];
            if (!on_surface(mesh, p) || !on_surface(mesh, q) || is_surface_edge(mesh, p, q)) continue;
            const uint64_t key = (uint64_t)(uint32_t)(p < q ? p : q) << 32 | (uint32_t)(p < q ? q : p);
            MN_TRY(mn_array_push(mesh->ctx, edges, &key));
        }
    if (edges->count) qsort(edges->data, (size_t)edges->count, sizeof *edges->data, compare_keys);
    int64_t kept = 0;
    for (int64_t i = 0; i < edges->count; i++)
        if (kept == 0 || edges->data[kept - 1] != edges->data[i]) edges->data[kept++] = edges->data[i];
    edges->count = kept;
    return MN_OK;
}

static mn_status divide_tet(mn_tet_mesh *mesh, int32_t t)
{
    const double quarter[4] = {0.25, 0.25, 0.25, 0.25};
    int32_t parents[4], four[4][4], vertex;
    mn_vec3 middle = {0};
    memcpy(parents, mesh->tet[t], sizeof parents);
    for (int k = 0; k < 4; k++) middle = mn_axpy(middle, 0.25, mesh->position[parents[k]]);
    MN_TRY(mn_tet_mesh_add_vertex(mesh, middle, 4, parents, quarter, &vertex));
    for (int k = 0; k < 4; k++) {
        memcpy(four[k], parents, sizeof parents);
        four[k][k] = vertex;
    }
    return mn_tet_mesh_replace(mesh, 1, &t, 4, (const int32_t(*)[4])four, NULL);
}

/// Divides what locks in `work`; *count says how many edges and tetrahedra.
static mn_status divide(mn_tet_mesh *work, int64_t *count)
{
    key_array edges = {0};
    mn_tet_list around = {0};
    mn_status status;
    *count = 0;
    MN_TRY_TO(done, status, list_edges(work, &edges));
    for (int64_t i = 0; i < edges.count; i++) {
        int32_t vertex;
        MN_TRY_TO(done, status,
                  mn_tet_divide_edge(work, (int32_t)(edges.data[i] >> 32), (int32_t)(uint32_t)edges.data[i],
                                     0.5, &around, &vertex));
        *count += vertex >= 0;
    }
    for (int32_t t = 0, last = work->tet_slots; t < last; t++) {
        const int32_t *v = work->tet[t];
        if (!mn_tet_alive(work, t) || !on_surface(work, v[0]) || !on_surface(work, v[1]) ||
            !on_surface(work, v[2]) || !on_surface(work, v[3]))
            continue;
        MN_TRY_TO(done, status, divide_tet(work, t));
        ++*count;
    }
done:
    mn_array_free(work->ctx, &edges);
    mn_array_free(work->ctx, &around);
    return status;
}

mn_status mn_tet_liquid_divide(mn_tet_liquid *liquid)
{
    mn_tet_mesh *work = NULL, *fresh = NULL;
    mn_tet_field *source;
    int64_t count = 0;
    mn_status status;
    if (!liquid->def.unlock) return MN_OK;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(liquid->mesh, &work));
    // Each piece knows the tetrahedron that it is a part of; pieces of two never mix.
    MN_TRY_TO(done, status, mn_tet_mesh_add_field(work, "source", MN_TET_VALUE, 1, &source));
    for (int32_t t = 0; t < work->tet_slots; t++) source->data[t] = t;
    MN_TRY_TO(done, status, divide(work, &count));
    if (count == 0) goto done;
    MN_TRY_TO(done, status, mn_tet_mesh_compact(work, NULL, NULL));
    MN_TRY_TO(done, status, mn_tet_liquid_rebuild(work, &fresh));
    liquid->whole = liquid->mesh;
    liquid->mesh = fresh;
    liquid->ready = false;
    liquid->system.analyzed = liquid->system.factored = false;
    status = mn_tet_liquid_prepare(liquid);
    if (status != MN_OK) mn_tet_liquid_forget_division(liquid);
done:
    mn_tet_mesh_free(work);
    return status;
}

void mn_tet_liquid_forget_division(mn_tet_liquid *liquid)
{
    if (!liquid->whole) return;
    mn_tet_mesh_free(liquid->mesh);
    liquid->mesh = liquid->whole;
    liquid->whole = NULL;
    liquid->ready = false;
}

// ---- undo ----

static const char *const carried[3] = {MN_TET_V, MN_TET_LAST_V, MN_TET_LAST_MOVE};

/// What a region holds.
typedef struct region {
    double rest, soft, volume;
    double free_mass; ///< of the nodes that take what is missing
    mn_vec3 missing;  ///< momentum, or its like
} region;

static void copy_nodes(const mn_tet_mesh *from, mn_tet_mesh *to)
{
    for (int32_t i = 0; i < to->vertex_slots; i++) mn_tet_mesh_move_vertex(to, i, from->position[i]);
    for (int32_t f = 0; f < to->field_count; f++) {
        mn_tet_field *field = &to->fields[f];
        if (field->kind == MN_TET_LINEAR)
            memcpy(field->data, mn_tet_mesh_find_field(from, field->name)->data,
                   mn_bytes(to->vertex_slots, (size_t)field->size * sizeof(double)));
    }
}

static mn_vec3 momentum_of(const mn_tet_mesh *mesh, const char *velocity, int32_t t)
{
    const mn_vec3 *v = (const mn_vec3 *)(const void *)mn_tet_mesh_find_field(mesh, velocity)->data;
    const double rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME)->data[t];
    mn_vec3 sum = {0};
    for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25 * rest, v[mesh->tet[t][k]]);
    return sum;
}

/// Which tetrahedra of the whole mesh were divided, and the regions that they make: root[t], -1 for none.
static mn_status find_regions(const mn_tet_mesh *sub, const mn_tet_mesh *whole, mn_tet_list *root)
{
    const double *source = mn_tet_mesh_find_field(sub, "source")->data;
    mn_tet_list pieces = {0};
    MN_TRY(mn_array_resize(whole->ctx, root, whole->tet_slots));
    MN_TRY(mn_array_resize(whole->ctx, &pieces, whole->tet_slots));
    for (int32_t t = 0; t < whole->tet_slots; t++) pieces.data[t] = 0, root->data[t] = t;
    for (int32_t t = 0; t < sub->tet_slots; t++) pieces.data[(int32_t)lrint(source[t])]++;
    for (int32_t t = 0; t < whole->tet_slots; t++)
        for (int k = 0; k < 4 && pieces.data[t] > 1; k++) {
            const int32_t mate = whole->mate[t][k];
            if (mate >= 0 && pieces.data[mate / 4] > 1) mn_tet_unite(root->data, t, mate / 4);
        }
    for (int32_t t = 0; t < whole->tet_slots; t++)
        if (pieces.data[t] > 1) root->data[t] = mn_tet_root_of(root->data, t);
    for (int32_t t = 0; t < whole->tet_slots; t++)
        if (pieces.data[t] <= 1) root->data[t] = -1;
    mn_array_free(whole->ctx, &pieces);
    return MN_OK;
}

/// Volumes at rest follow what went from one tetrahedron to another.
static void share_volumes(const mn_tet_mesh *sub, mn_tet_mesh *whole, const int32_t *root, region *regions)
{
    const double *source = mn_tet_mesh_find_field(sub, "source")->data,
                 *sub_rest = mn_tet_mesh_find_field(sub, MN_TET_REST_VOLUME)->data,
                 *sub_soft = mn_tet_mesh_find_field(sub, MN_TET_SOFT_VOLUME)->data;
    double *rest = mn_tet_mesh_find_field(whole, MN_TET_REST_VOLUME)->data,
           *soft = mn_tet_mesh_find_field(whole, MN_TET_SOFT_VOLUME)->data;
    for (int32_t t = 0; t < sub->tet_slots; t++) {
        const int32_t from = (int32_t)lrint(source[t]);
        if (root[from] < 0) {
            soft[from] = sub_soft[t];
            continue;
        }
        region *r = &regions[root[from]];
        r->rest += sub_rest[t], r->soft += sub_soft[t];
    }
    for (int32_t t = 0; t < whole->tet_slots; t++)
        if (root[t] >= 0) regions[root[t]].volume += mn_tet_mesh_tet_volume(whole, t);
    for (int32_t t = 0; t < whole->tet_slots; t++) {
        if (root[t] < 0) continue;
        const region *r = &regions[root[t]];
        const double part = mn_tet_mesh_tet_volume(whole, t) / r->volume;
        rest[t] = part * r->rest, soft[t] = part * r->soft;
    }
}

/// The region that each node takes from: its nodes that touch nothing, -1 for the others.
static void find_owners(const mn_tet_liquid *liquid, const mn_tet_mesh *whole, const int32_t *root,
                        region *regions, int32_t *owner)
{
    const double *rest = mn_tet_mesh_find_field(whole, MN_TET_REST_VOLUME)->data;
    const bool solids = mn_tet_liquid_has_solids(liquid);
    for (int32_t i = 0; i < whole->vertex_slots; i++) owner[i] = -1;
    for (int32_t t = 0; t < whole->tet_slots; t++)
        for (int k = 0; k < 4 && root[t] >= 0; k++) {
            const int32_t i = whole->tet[t][k];
            if (owner[i] < 0 && !(solids && liquid->contacts.touch.data[i])) owner[i] = root[t];
        }
    for (int32_t t = 0; t < whole->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            const int32_t r = owner[whole->tet[t][k]];
            if (r >= 0) regions[r].free_mass += 0.25 * rest[t];
        }
}

/// What a region lacks of its momentum goes to its nodes; `velocity` is that now, or one that the next step
/// starts from.
static void share_momentum(const mn_tet_mesh *sub, mn_tet_mesh *whole, const char *velocity,
                           const int32_t *root, const int32_t *owner, region *regions)
{
    const double *source = mn_tet_mesh_find_field(sub, "source")->data;
    mn_vec3 *v = (mn_vec3 *)(void *)mn_tet_mesh_find_field(whole, velocity)->data;
    for (int32_t t = 0; t < whole->tet_slots; t++) regions[t].missing = mn_v3(0, 0, 0);
    for (int32_t t = 0; t < sub->tet_slots; t++) {
        const int32_t r = root[(int32_t)lrint(source[t])];
        if (r >= 0) regions[r].missing = mn_add(regions[r].missing, momentum_of(sub, velocity, t));
    }
    for (int32_t t = 0; t < whole->tet_slots; t++)
        if (root[t] >= 0)
            regions[root[t]].missing = mn_sub(regions[root[t]].missing, momentum_of(whole, velocity, t));
    for (int32_t i = 0; i < whole->vertex_slots; i++)
        if (owner[i] >= 0) v[i] = mn_axpy(v[i], 1 / regions[owner[i]].free_mass, regions[owner[i]].missing);
}

mn_status mn_tet_liquid_rejoin(mn_tet_liquid *liquid)
{
    mn_tet_mesh *sub = liquid->mesh, *whole = liquid->whole;
    mn_tet_list root = {0}, owner = {0};
    MN_ARRAY(region) regions = {0};
    mn_status status;
    if (!whole) return MN_OK;
    MN_TRY_TO(done, status, find_regions(sub, whole, &root));
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &regions, whole->tet_slots));
    MN_TRY_TO(done, status, mn_array_resize(liquid->ctx, &owner, whole->vertex_slots));
    memset(regions.data, 0, mn_bytes(regions.count, sizeof *regions.data));
    copy_nodes(sub, whole);
    share_volumes(sub, whole, root.data, regions.data);
    find_owners(liquid, whole, root.data, regions.data, owner.data);
    for (int f = 0; f < 3; f++) share_momentum(sub, whole, carried[f], root.data, owner.data, regions.data);
    liquid->system.analyzed = liquid->system.factored = false;
    mn_tet_liquid_forget_division(liquid);
    MN_TRY_TO(done, status, mn_tet_liquid_prepare(liquid));
    if (mn_tet_liquid_has_solids(liquid)) {
        MN_TRY_TO(done, status, mn_tet_liquid_find_contacts(liquid));
        MN_TRY_TO(done, status, mn_tet_liquid_find_wetted(liquid));
    }
done:
    mn_array_free(liquid->ctx, &root);
    mn_array_free(liquid->ctx, &owner);
    mn_array_free(liquid->ctx, &regions);
    return status;
}

bool mn_tet_liquid_may_rejoin(const mn_tet_liquid *liquid, const mn_vec3 *place)
{
    if (!liquid->whole) return true;
    for (int32_t t = 0; t < liquid->whole->tet_slots; t++) {
        const int32_t *v = liquid->whole->tet[t];
        if (!(mn_tet_volume(place[v[0]], place[v[1]], place[v[2]], place[v[3]]) > 0)) return false;
    }
    return true;
}
