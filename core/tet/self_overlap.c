// SPDX-License-Identifier: Apache-2.0
//
// Whether liquid lies in one place twice. Where two stretches of liquid come to overlap, their surfaces pass
// through each other: so two tetrahedra behind faces that look at each other, without a common vertex, have
// volume in common. Those that move apart are left to do so: the ends of a neck that has just been cut. A
// body that lies inside another altogether has passed unseen; the box of one inside that of another is asked
// to be looked at.
#include "tet/neck.h"

#include "mesh/box_grid.h"
#include "tetmesh/resample.h"

typedef mn_tet_folds surface;

static mn_status list_faces(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, surface *s)
{
    s->grid.ctx = liquid->ctx;
    s->tets.count = s->normals.count = s->grid.boxes.count = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; mn_tet_alive(mesh, t) && k < 4; k++) {
            if (mesh->mate[t][k] >= 0) continue;
            const int32_t *c = mn_tet_face_corners[k], *v = mesh->tet[t];
            const mn_vec3 *x = mesh->position, a = x[v[c[0]]];
            const mn_vec3 normal = mn_normalize(mn_cross(mn_sub(x[v[c[1]]], a), mn_sub(x[v[c[2]]], a)));
            const mn_box box = mn_tet_box(mesh, t);
            MN_TRY(mn_array_push(liquid->ctx, &s->tets, &t));
            MN_TRY(mn_array_push(liquid->ctx, &s->normals, &normal));
            MN_TRY(mn_array_push(liquid->ctx, &s->grid.boxes, &box));
        }
    return MN_OK;
}

static bool share_vertex(const mn_tet_mesh *mesh, int32_t s, int32_t t)
{
    for (int k = 0; k < 4; k++)
        if (mn_tet_corner_of(mesh, t, mesh->tet[s][k]) >= 0) return true;
    return false;
}

static mn_vec3 velocity_of(const mn_tet_mesh *mesh, int32_t t)
{
    const mn_vec3 *v = (const mn_vec3 *)(const void *)mn_tet_mesh_find_field(mesh, MN_TET_V)->data;
    mn_vec3 sum = {0};
    for (int k = 0; k < 4; k++) sum = mn_axpy(sum, 0.25, v[mesh->tet[t][k]]);
    return sum;
}

// Whether faces i and j look at each other, and what lies behind them overlaps: a little when they come
// nearer, else by much.
static bool meet(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, const surface *s, int64_t i, int64_t j)
{
    const double least = 1e-4 * liquid->size * liquid->size * liquid->size; // less makes seams of slivers
    const int32_t a = s->tets.data[i], b = s->tets.data[j];
    const mn_vec3 n = s->normals.data[i], m = s->normals.data[j];
    mn_vec3 x[4], y[4];
    if (mn_dot(n, m) > 0 || share_vertex(mesh, a, b)) return false;
    // Liquid unites with anything, solids with nothing.
    const mn_tet_field *solid = mn_tet_mesh_find_field(mesh, MN_TET_SOLID);
    if (solid && solid->data[a] > 0.5 && solid->data[b] > 0.5) return false;
    const bool nearing = mn_dot(mn_sub(velocity_of(mesh, a), velocity_of(mesh, b)), mn_sub(n, m)) > 0;
    for (int k = 0; k < 4; k++)
        x[k] = mesh->position[mesh->tet[a][k]], y[k] = mesh->position[mesh->tet[b][k]];
    return mn_tet_overlap(x, y) > (nearing ? least : 200 * least);
}

// The thinner one of every pair that meets, or with `thinner` NULL whether there is any.
static mn_status search(const mn_tet_liquid *liquid, const mn_tet_mesh *mesh, surface *s,
                        mn_tet_list *thinner, bool *overlaps)
{
    mn_status status = mn_box_grid_build(&s->grid);
    for (int64_t i = 0; i < s->tets.count && status == MN_OK && (thinner || !*overlaps); i++) {
        status = mn_box_grid_find(&s->grid, s->grid.boxes.data[i], &s->found);
        for (int64_t j = 0; j < s->found.count && status == MN_OK && (thinner || !*overlaps); j++) {
            const int32_t other = s->found.data[j];
            if (other <= i || !meet(liquid, mesh, s, i, other)) continue;
            const int32_t a = s->tets.data[i], b = s->tets.data[other];
            *overlaps = true;
            if (thinner)
                status = mn_array_push(liquid->ctx, thinner,
                                       mn_tet_height(mesh, a) < mn_tet_height(mesh, b) ? &a : &b);
        }
    }
    return status;
}

static bool inside(mn_box a, mn_box b)
{
    return a.min.x > b.min.x && a.min.y > b.min.y && a.min.z > b.min.z && a.max.x < b.max.x &&
           a.max.y < b.max.y && a.max.z < b.max.z;
}

// Whether the box of a body lies inside that of another.
static mn_status bodies_nest(const mn_tet_liquid *liquid, bool *nest)
{
    const size_t bytes = mn_bytes(liquid->bodies.count, sizeof(mn_box));
    if (liquid->bodies.count < 2) return MN_OK;
    mn_box *boxes = mn_allocate(liquid->ctx, bytes);
    if (!boxes) return MN_ERROR_MEMORY;
    for (int32_t b = 0; b < liquid->bodies.count; b++) boxes[b] = mn_box_empty();
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) {
        mn_box *box = &boxes[liquid->bodies.of_node.data[i]];
        const mn_vec3 x = liquid->mesh->position[i];
        *box = mn_box_join(*box, (mn_box){x, x});
    }
    for (int32_t a = 0; a < liquid->bodies.count; a++)
        for (int32_t b = 0; b < liquid->bodies.count && !*nest; b++)
            *nest = a != b && inside(boxes[a], boxes[b]);
    mn_release(liquid->ctx, boxes, bytes);
    return MN_OK;
}

void mn_tet_folds_free(mn_context *ctx, mn_tet_folds *folds)
{
    mn_array_free(ctx, &folds->tets);
    mn_array_free(ctx, &folds->normals);
    mn_array_free(ctx, &folds->found);
    if (folds->grid.ctx) mn_box_grid_free(&folds->grid);
}

mn_status mn_tet_liquid_overlaps(mn_tet_liquid *liquid, bool *overlaps)
{
    surface *s = &liquid->folds;
    *overlaps = false;
    mn_status status = bodies_nest(liquid, overlaps);
    if (status == MN_OK && !*overlaps) status = list_faces(liquid, liquid->mesh, s);
    if (status == MN_OK && !*overlaps) status = search(liquid, liquid->mesh, s, NULL, overlaps);
    return status;
}

mn_status mn_tet_liquid_list_folds(mn_tet_liquid *liquid, const mn_tet_mesh *mesh, mn_tet_list *thinner)
{
    surface *s = &liquid->folds;
    bool overlaps = false;
    mn_status status = list_faces(liquid, mesh, s);
    if (status == MN_OK) status = search(liquid, mesh, s, thinner, &overlaps);
    if (status == MN_OK) mn_tet_list_sort_unique(thinner);
    return status;
}
