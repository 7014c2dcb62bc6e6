// SPDX-License-Identifier: Apache-2.0
//
// The solver's mesh and its life.
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

// ---- the size ----

static double mean_edge(const mn_tet_mesh *mesh)
{
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int e = 0; e < 6; e++)
            sum += mn_distance(mesh->position[mesh->tet[t][mn_tet_edge_corners[e][0]]],
                               mesh->position[mesh->tet[t][mn_tet_edge_corners[e][1]]]);
    return mesh->tet_slots > 0 ? sum / (6.0 * mesh->tet_slots) : 1;
}

mn_status mn_tet_liquid_find_size(mn_tet_liquid *liquid, const mn_tet_liquid_def *def)
{
    const double size = def->size > 0 ? def->size : mean_edge(liquid->mesh);
    const double least = def->min_size > 0 ? def->min_size : 0.5 * size;
    const double most = def->max_size > 0 ? def->max_size : 1.7 * size;
    if (def->quality > 0 && most < 2.5 * least)
        return mn_fail(liquid->ctx, MN_ERROR_ARGUMENT,
                       "Edges from %g to %g m leave no room: max_size must be at least 2.5 times min_size.",
                       least, most);
    liquid->size = size;
    return MN_OK;
}

// ---- the mesh ----

mn_status mn_tet_liquid_rebuild(const mn_tet_mesh *mesh, mn_tet_mesh **rebuilt)
{
    *rebuilt = NULL;
    mn_tet_mesh *fresh = NULL;
    mn_status status;
    MN_TRY(mn_tet_mesh_build(mesh->ctx, mesh->vertex_slots, mesh->position, mesh->tet_slots,
                             (const int32_t(*)[4])mesh->tet, &fresh));
    if (mesh->vertex_slots > 0) {
        memcpy(fresh->vertex_id, mesh->vertex_id, mn_bytes(mesh->vertex_slots, sizeof *mesh->vertex_id));
        memcpy(fresh->vertex_flags, mesh->vertex_flags,
               mn_bytes(mesh->vertex_slots, sizeof *mesh->vertex_flags));
    }
    fresh->next_vertex_id = mesh->next_vertex_id;
    for (int32_t f = 0; f < mesh->field_count; f++) {
        const mn_tet_field *from = &mesh->fields[f];
        mn_tet_field *to;
        MN_TRY_TO(fail, status, mn_tet_mesh_add_field(fresh, from->name, from->kind, from->size, &to));
        const int64_t count = from->kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        if (count) memcpy(to->data, from->data, mn_bytes(count, (size_t)from->size * sizeof(double)));
    }
    *rebuilt = fresh;
    return MN_OK;
fail:
    mn_tet_mesh_free(fresh);
    return status;
}

static mn_status find_bodies(mn_tet_liquid *liquid)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->bodies.of_node, mesh->vertex_slots));
    int32_t *root = liquid->bodies.of_node.data;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) root[i] = i;
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 1; k < 4; k++) {
            int32_t a = mesh->tet[t][0], b = mesh->tet[t][k];
            while (root[a] != a) a = root[a] = root[root[a]];
            while (root[b] != b) b = root[b] = root[root[b]];
            // The smaller number is the root, so that numbers below come in the order of their first node.
            if (a < b)
                root[b] = a;
            else
                root[a] = b;
        }
    liquid->bodies.count = 0;
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        root[i] = root[i] == i ? liquid->bodies.count++ : root[root[i]];
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->bodies.room, liquid->bodies.count));
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    for (int32_t b = 0; b < liquid->bodies.count; b++) liquid->bodies.room.data[b] = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) // the rest volumes of materials count mass
        liquid->bodies.room.data[root[mesh->tet[t][0]]] +=
            liquid->solids.used ? mn_tet_mesh_tet_volume(mesh, t) : rest[t];
    return MN_OK;
}

mn_status mn_tet_liquid_prepare(mn_tet_liquid *liquid)
{
    if (liquid->ready) return MN_OK;
    MN_TRY(find_bodies(liquid));
    MN_TRY(mn_tet_system_build(&liquid->system, liquid->mesh));
    MN_TRY(mn_tet_solids_prepare(liquid));
    liquid->ready = true;
    return MN_OK;
}

mn_status mn_tet_liquid_take_mesh(mn_tet_liquid *liquid, mn_tet_mesh *mesh)
{
    mn_tet_mesh *old = liquid->mesh;
    liquid->mesh = mesh;
    liquid->ready = false;
    mn_tet_mesh_free(old);
    return mn_tet_liquid_prepare(liquid);
}

// ---- fields ----

static mn_status add_field(mn_tet_mesh *mesh, const char *name, mn_tet_field_kind kind, int32_t size)
{
    mn_tet_field *field;
    return mn_tet_mesh_add_field(mesh, name, kind, size, &field);
}

static mn_status fill_volumes(mn_tet_mesh *mesh, const char *name)
{
    double *volume = mn_tet_mesh_find_field(mesh, name)->data;
    for (int32_t t = 0; t < mesh->tet_slots; t++) volume[t] = mn_tet_mesh_tet_volume(mesh, t);
    return MN_OK;
}

mn_status mn_tet_liquid_add_fields(mn_tet_mesh *mesh)
{
    const bool rest = mn_tet_mesh_find_field(mesh, MN_TET_REST_VOLUME) != NULL;
    const bool soft = mn_tet_mesh_find_field(mesh, MN_TET_SOFT_VOLUME) != NULL;
    MN_TRY(add_field(mesh, MN_TET_V, MN_TET_LINEAR, 3));
    MN_TRY(add_field(mesh, MN_TET_PRESSURE, MN_TET_LINEAR, 1));
    MN_TRY(add_field(mesh, MN_TET_MULTIPLIER, MN_TET_LINEAR, 1));
    MN_TRY(add_field(mesh, MN_TET_LAST_V, MN_TET_LINEAR, 3));
    MN_TRY(add_field(mesh, MN_TET_LAST_MOVE, MN_TET_LINEAR, 3));
    MN_TRY(add_field(mesh, MN_TET_REST_VOLUME, MN_TET_AMOUNT, 1));
    MN_TRY(add_field(mesh, MN_TET_SOFT_VOLUME, MN_TET_AMOUNT, 1));
    MN_TRY(add_field(mesh, MN_TET_OWED, MN_TET_AMOUNT, 1));
    if (!rest) MN_TRY(fill_volumes(mesh, MN_TET_REST_VOLUME));
    return soft ? MN_OK : fill_volumes(mesh, MN_TET_SOFT_VOLUME);
}

// What a solver can start from: compact, positive, finite, with volumes at rest near those that are there.
static mn_status check_mesh(mn_tet_liquid *liquid)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    const mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t i = 0; i < mesh->vertex_slots; i++)
        if (!mn_is_finite3(mesh->position[i]) || !mn_is_finite3(v[i]))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "Vertex %d has a position or velocity that is not finite.", i);
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        const double volume = mn_tet_mesh_tet_volume(mesh, t);
        if (!(volume > 0))
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "Tetrahedron %d is flat or inverted; repair the mesh with tet_remesh first.", t);
        // With materials it counts mass, and was checked before that.
        const bool counts_mass = mn_tet_mesh_find_field(mesh, MN_TET_METRIC) != NULL;
        if (!(rest[t] > 0.05 * volume && rest[t] < 20 * volume) && !counts_mass)
            return mn_fail(liquid->ctx, MN_ERROR_INPUT,
                           "Tetrahedron %d has the rest volume %g m^3 but fills %g m^3; remove the "
                           "attribute rest_volume or correct it.",
                           t, rest[t], volume);
    }
    return MN_OK;
}

// Copies only what the solver uses, so that foreign fields do not ride along.
static mn_status copy_input(const mn_tet_mesh *mesh, mn_tet_mesh **copy)
{
    mn_tet_mesh *work = NULL, *bare = NULL;
    mn_status status;
    *copy = NULL;
    MN_TRY_TO(done, status, mn_tet_mesh_copy(mesh, &work));
    for (int32_t v = 0; v < work->vertex_slots; v++)
        if (mn_tet_vertex_alive(work, v) && work->star_first[v] < 0) mn_tet_mesh_remove_vertex(work, v);
    MN_TRY_TO(done, status, mn_tet_mesh_compact(work, NULL, NULL));
    MN_TRY_TO(done, status,
              mn_tet_mesh_build(work->ctx, work->vertex_slots, work->position, work->tet_slots,
                                (const int32_t(*)[4])work->tet, &bare));
    static const struct {
        const char *name;
        mn_tet_field_kind kind;
        int32_t size;
    } used[] = {{MN_TET_V, MN_TET_LINEAR, 3},           {MN_TET_REST_VOLUME, MN_TET_AMOUNT, 1},
                {MN_TET_MATERIAL, MN_TET_VALUE, 1},     {MN_TET_REST, MN_TET_LINEAR, 3},
                {MN_TET_TEMPERATURE, MN_TET_LINEAR, 1}, {MN_TET_PLASTIC_STRAIN, MN_TET_VALUE, 1},
                {MN_TET_DAMAGE, MN_TET_VALUE, 1},       {MN_TET_PIN, MN_TET_LINEAR, 1},
                {MN_TET_HEAT_SOURCE, MN_TET_LINEAR, 1}};
    for (size_t i = 0; i < sizeof used / sizeof used[0]; i++) {
        const mn_tet_field *from = mn_tet_mesh_find_field(work, used[i].name);
        if (!from || from->kind != used[i].kind || from->size != used[i].size) continue;
        mn_tet_field *to;
        MN_TRY_TO(done, status, mn_tet_mesh_add_field(bare, used[i].name, used[i].kind, used[i].size, &to));
        const int64_t count = used[i].kind == MN_TET_LINEAR ? work->vertex_slots : work->tet_slots;
        if (count) memcpy(to->data, from->data, mn_bytes(count, (size_t)used[i].size * sizeof(double)));
    }
    MN_TRY_TO(done, status, mn_tet_liquid_add_fields(bare));
    *copy = bare;
    bare = NULL;
done:
    mn_tet_mesh_free(work);
    mn_tet_mesh_free(bare);
    return status;
}

// ---- life ----

mn_status mn_tet_liquid_init(mn_solver *solver)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    liquid->ctx = solver->ctx;
    liquid->left.quality = liquid->left.shortest = INFINITY;
    MN_TRY(mn_krylov_create(solver->ctx, &liquid->krylov));
    MN_TRY(mn_tet_mesh_create(solver->ctx, &liquid->mesh));
    liquid->size = 1;
    return mn_tet_liquid_add_fields(liquid->mesh);
}

mn_status mn_tet_liquid_set_mesh(mn_tet_liquid *liquid, const mn_tet_mesh *mesh)
{
    mn_tet_mesh *copy;
    if (mesh->tet_count == 0) return mn_fail(liquid->ctx, MN_ERROR_INPUT, "The mesh has no tetrahedra.");
    MN_TRY(copy_input(mesh, &copy));
    MN_TRY(mn_tet_liquid_take_mesh(liquid, copy));
    MN_TRY(check_mesh(liquid));
    return mn_tet_liquid_find_size(liquid, &liquid->def);
}

void mn_tet_liquid_release(mn_solver *solver)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    mn_context *ctx = solver->ctx;
    mn_array_free(ctx, &liquid->bodies.of_node);
    mn_array_free(ctx, &liquid->bodies.room);
    mn_array_free(ctx, &liquid->bodies.grain);
    mn_array_free(ctx, &liquid->bodies.list);
    mn_array_free(ctx, &liquid->bodies.sums);
    mn_array_free(ctx, &liquid->neck_normals);
    mn_array_free(ctx, &liquid->contacts.touch);
    mn_array_free(ctx, &liquid->cap);
    mn_array_free(ctx, &liquid->run.field);
    mn_array_free(ctx, &liquid->mouths);
    mn_array_free(ctx, &liquid->contacts.released);
    mn_array_free(ctx, &liquid->contacts.loose);
    mn_array_free(ctx, &liquid->contacts.freedom);
    mn_array_free(ctx, &liquid->contacts.tangent);
    mn_array_free(ctx, &liquid->contacts.wetted_area);
    mn_array_free(ctx, &liquid->friction.slip);
    mn_array_free(ctx, &liquid->friction.drag);
    mn_array_free(ctx, &liquid->friction.push);
    mn_array_free(ctx, &liquid->friction.solid);
    mn_array_free(ctx, &liquid->contacts.face_sigma);
    mn_array_free(ctx, &liquid->trial.reaction);
    mn_array_free(ctx, &liquid->trial.start);
    mn_array_free(ctx, &liquid->trial.drift);
    mn_array_free(ctx, &liquid->trial.u);
    mn_array_free(ctx, &liquid->trial.end);
    mn_array_free(ctx, &liquid->trial.place);
    mn_array_free(ctx, &liquid->trial.velocity);
    mn_array_free(ctx, &liquid->trial.middle);
    mn_array_free(ctx, &liquid->trial.p);
    mn_array_free(ctx, &liquid->trial.mass);
    mn_array_free(ctx, &liquid->trial.soft_volume);
    mn_array_free(ctx, &liquid->trial.node_volume);
    mn_array_free(ctx, &liquid->trial.volume_before);
    mn_array_free(ctx, &liquid->trial.residual);
    mn_array_free(ctx, &liquid->trial.side);
    mn_array_free(ctx, &liquid->trial.change);
    mn_array_free(ctx, &liquid->trial.pressure);
    mn_array_free(ctx, &liquid->sheets.fixed);
    mn_array_free(ctx, &liquid->sheets.mark);
    mn_tet_folds_free(ctx, &liquid->folds);
    mn_tet_solids_free(liquid);
    mn_tet_system_free(&liquid->system);
    mn_krylov_free(liquid->krylov);
    mn_tet_mesh_free(liquid->mesh);
    mn_tet_mesh_free(liquid->whole);
    mn_array_free(ctx, &liquid->shown.order);
    mn_array_free(ctx, &liquid->shown.place);
    mn_array_free(ctx, &liquid->shown.corners);
    mn_array_free(ctx, &liquid->shown.tets);
    mn_array_free(ctx, &liquid->shown.normals);
    mn_array_free(ctx, &liquid->shown.names);
}
