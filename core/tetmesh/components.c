// SPDX-License-Identifier: Apache-2.0
//
// A mesh of several components as meshes of their own.
#include "tetmesh/components.h"

#include <string.h>

/// For each vertex the lowest vertex that it is connected to.
static void find_roots(const mn_tet_mesh *mesh, int32_t *root)
{
    for (int32_t i = 0; i < mesh->vertex_slots; i++) root[i] = i;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 1; k < 4 && mn_tet_alive(mesh, t); k++) {
            int32_t a = mesh->tet[t][0], b = mesh->tet[t][k];
            while (root[a] != a) a = root[a] = root[root[a]];
            while (root[b] != b) b = root[b] = root[root[b]];
            if (a < b)
                root[b] = a;
            else
                root[a] = b;
        }
    for (int32_t i = 0; i < mesh->vertex_slots; i++) root[i] = root[root[i]];
}

static mn_status copy_fields(const mn_tet_mesh *mesh, const int32_t *from, mn_tet_mesh *part)
{
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *field = &mesh->fields[f];
        const size_t size = (size_t)field->size * sizeof(double);
        mn_tet_field *to;
        if (field->kind != MN_TET_LINEAR) continue;
        MN_TRY(mn_tet_mesh_add_field(part, field->name, field->kind, field->size, &to));
        for (int32_t i = 0; i < part->vertex_slots; i++)
            memcpy(to->data + (int64_t)i * field->size, field->data + (int64_t)from[i] * field->size, size);
    }
    return MN_OK;
}

/// Vertices and tetrahedra of one component, numbered anew.
typedef struct picked {
    MN_ARRAY(int32_t) root, place, from;
    MN_ARRAY(mn_vec3) x;
    MN_ARRAY(mn_tet_indices) tets;
} picked;

static mn_status pick(const mn_tet_mesh *mesh, int32_t root, picked *p, mn_tet_mesh **part)
{
    p->x.count = p->from.count = p->tets.count = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_tet_indices tet;
        if (!mn_tet_alive(mesh, t) || p->root.data[mesh->tet[t][0]] != root) continue;
        for (int k = 0; k < 4; k++) {
            const int32_t v = mesh->tet[t][k];
            if (p->place.data[v] < 0) {
                p->place.data[v] = (int32_t)p->x.count;
                MN_TRY(mn_array_push(mesh->ctx, &p->x, &mesh->position[v]));
                MN_TRY(mn_array_push(mesh->ctx, &p->from, &v));
            }
            tet.v[k] = p->place.data[v];
        }
        MN_TRY(mn_array_push(mesh->ctx, &p->tets, &tet));
    }
    MN_TRY(mn_tet_mesh_build(mesh->ctx, (int32_t)p->x.count, p->x.data, (int32_t)p->tets.count,
                             (const int32_t(*)[4])p->tets.data, part));
    return copy_fields(mesh, p->from.data, *part);
}

mn_status mn_tet_mesh_components(const mn_tet_mesh *mesh, mn_tet_mesh_array *components)
{
    picked p = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(mesh->ctx, &p.root, mesh->vertex_slots));
    MN_TRY_TO(done, status, mn_array_resize(mesh->ctx, &p.place, mesh->vertex_slots));
    find_roots(mesh, p.root.data);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) p.place.data[i] = -1;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        mn_tet_mesh *part = NULL;
        if (!mn_tet_alive(mesh, t) || p.place.data[mesh->tet[t][0]] >= 0) continue;
        status = pick(mesh, p.root.data[mesh->tet[t][0]], &p, &part);
        if (status == MN_OK) status = mn_array_push(mesh->ctx, components, &part);
        if (status == MN_OK) continue;
        mn_tet_mesh_free(part);
        goto done;
    }
done:
    mn_array_free(mesh->ctx, &p.root);
    mn_array_free(mesh->ctx, &p.place);
    mn_array_free(mesh->ctx, &p.from);
    mn_array_free(mesh->ctx, &p.x);
    mn_array_free(mesh->ctx, &p.tets);
    return status;
}

mn_vec3 mn_tet_mesh_mean_vec3(const mn_tet_mesh *mesh, const char *name)
{
    const mn_tet_field *v = mn_tet_mesh_find_field(mesh, name);
    mn_vec3 mean = {0};
    if (!v || v->size != 3 || v->kind != MN_TET_LINEAR) return mean;
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        mean = mn_axpy(mean, 1.0 / mesh->vertex_slots,
                       mn_v3(v->data[3 * i], v->data[3 * i + 1], v->data[3 * i + 2]));
    return mean;
}
