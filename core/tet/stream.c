// SPDX-License-Identifier: Apache-2.0
//
// The solver's state out and in: clocks and materials as members, then the mesh with its fields by name.
#include "tet/state.h"

const mn_saved mn_tet_liquid_saved[MN_TET_SAVED_COUNT] = {
    MN_SAVED_F64(mn_tet_liquid, solver.time, 4),
    MN_SAVED_F64(mn_tet_liquid, size, 4),
    MN_SAVED_F64(mn_tet_liquid, last_dt, 4),
    MN_SAVED_F64(mn_tet_liquid, solids.heat_in, 4),
    MN_SAVED_ARRAY(mn_tet_liquid, solids.materials, 4),
    MN_SAVED_ARRAY(mn_tet_liquid, mouths, 5),
};

/// In the order they are written; kind and size as in mn_tet_liquid_add_fields() and solid.c.
typedef struct saved_field {
    const char *name;
    mn_tet_field_kind kind;
    int32_t size;
    bool needed, positive;
    int32_t since; ///< the version that has it first
} saved_field;

static const saved_field fields[] = {
    {MN_TET_V, MN_TET_LINEAR, 3, true, false, 4},
    {MN_TET_PRESSURE, MN_TET_LINEAR, 1, true, false, 4},
    {MN_TET_MULTIPLIER, MN_TET_LINEAR, 1, true, false, 4},
    {MN_TET_LAST_V, MN_TET_LINEAR, 3, true, false, 4},
    {MN_TET_LAST_MOVE, MN_TET_LINEAR, 3, true, false, 4},
    {MN_TET_REST_VOLUME, MN_TET_AMOUNT, 1, true, true, 4},
    {MN_TET_SOFT_VOLUME, MN_TET_AMOUNT, 1, true, true, 4},
    {MN_TET_OWED, MN_TET_AMOUNT, 1, true, false, 4},
    {MN_TET_MATERIAL, MN_TET_VALUE, 1, false, false, 4},
    {MN_TET_SOLID, MN_TET_VALUE, 1, false, false, 4},
    {MN_TET_REST, MN_TET_LINEAR, 3, false, false, 4},
    {MN_TET_METRIC, MN_TET_VALUE, 6, false, false, 4},
    {MN_TET_PLASTIC_STRAIN, MN_TET_VALUE, 1, false, false, 4},
    {MN_TET_SOLID_MULTIPLIER, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_TEMPERATURE, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_MELTED, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_HEAT, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_PIN, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_HEAT_SOURCE, MN_TET_LINEAR, 1, false, false, 4},
    {MN_TET_LEFT, MN_TET_VALUE, 1, false, false, 6},
    {MN_TET_DAMAGE, MN_TET_VALUE, 1, false, false, 7},
    {MN_TET_TORN, MN_TET_LINEAR, 1, false, false, 8},
};

static int64_t numbers_of(const mn_tet_mesh *mesh, const saved_field *f)
{
    return (int64_t)f->size * (f->kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots);
}

// ---- out ----

mn_status mn_tet_liquid_save_mesh(const mn_solver *solver, mn_writer *out)
{
    const mn_tet_liquid *liquid = (const mn_tet_liquid *)solver;
    const mn_tet_mesh *mesh = liquid->mesh;
    MN_TRY(mn_write_tag(out, "mesh", 4));
    MN_TRY(mn_write_f64(out, liquid->left.quality));
    MN_TRY(mn_write_f64(out, liquid->left.shortest));
    MN_TRY(mn_write_f64(out, liquid->left.longest));
    MN_TRY(mn_write_i64(out, mesh->next_vertex_id));
    MN_TRY(mn_write_array_bytes(out, mesh->position, mesh->vertex_slots, sizeof *mesh->position));
    MN_TRY(mn_write_array_bytes(out, mesh->tet, mesh->tet_slots, sizeof *mesh->tet));
    MN_TRY(mn_write_block(out, mesh->vertex_id, mesh->vertex_slots, sizeof *mesh->vertex_id));
    for (int32_t i = 0; i < MN_COUNT_OF(fields); i++) {
        const mn_tet_field *field = mn_tet_mesh_find_field(mesh, fields[i].name);
        MN_TRY(mn_write_tag(out, fields[i].name, fields[i].since));
        MN_TRY(mn_write_i64(out, field != NULL));
        if (field) MN_TRY(mn_write_block(out, field->data, numbers_of(mesh, &fields[i]), sizeof(double)));
    }
    return MN_OK;
}

// ---- in ----

static mn_status damaged(mn_context *ctx, const char *what)
{
    return mn_fail(ctx, MN_ERROR_FORMAT, "The saved state is damaged: %s.", what);
}

static bool all_finite(const double *values, int64_t count)
{
    bool finite = true;
    for (int64_t i = 0; i < count; i++) finite = finite && isfinite(values[i]);
    return finite;
}

static mn_status read_field(mn_tet_mesh *mesh, mn_reader *in, const saved_field *f)
{
    const int64_t count = numbers_of(mesh, f);
    int32_t since;
    int64_t there;
    mn_tet_field *field;
    MN_TRY(mn_read_tag(in, f->name, f->since, &since));
    MN_TRY(mn_read_i64(in, &there));
    if (!there) return f->needed ? damaged(mesh->ctx, "a field is missing") : MN_OK;
    MN_TRY(mn_tet_mesh_add_field(mesh, f->name, f->kind, f->size, &field));
    MN_TRY(mn_read_block(in, field->data, count, sizeof(double)));
    if (!all_finite(field->data, count)) return damaged(mesh->ctx, "a value is not a number");
    for (int64_t i = 0; f->positive && i < count; i++)
        if (!(field->data[i] > 0)) return damaged(mesh->ctx, "a volume is not positive");
    return MN_OK;
}

// Ids and volumes that a mesh of the solver has.
static mn_status check_mesh(const mn_tet_mesh *mesh)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mesh->vertex_id[v] < 0 || mesh->vertex_id[v] >= mesh->next_vertex_id || mesh->star_first[v] < 0)
            return damaged(mesh->ctx, "a vertex has no valid id or no tetrahedron");
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (!(mn_tet_mesh_tet_volume(mesh, t) > 0))
            return damaged(mesh->ctx, "a tetrahedron is not positive");
    return MN_OK;
}

typedef struct saved_mesh {
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(mn_tet_indices) tets;
    mn_tet_mesh *mesh;
} saved_mesh;

static mn_status read_mesh(mn_context *ctx, mn_reader *in, int32_t version, saved_mesh *saved)
{
    int64_t next_id;
    MN_TRY(mn_read_i64(in, &next_id));
    MN_TRY(mn_read_array(in, &saved->positions));
    MN_TRY(mn_read_array(in, &saved->tets));
    if (saved->positions.count > 0 && !all_finite(&saved->positions.data[0].x, 3 * saved->positions.count))
        return damaged(ctx, "a position is not a number");
    MN_TRY(mn_tet_mesh_build(ctx, saved->positions.count, saved->positions.data, saved->tets.count,
                             (const int32_t(*)[4])saved->tets.data, &saved->mesh));
    mn_tet_mesh *mesh = saved->mesh;
    MN_TRY(mn_read_block(in, mesh->vertex_id, mesh->vertex_slots, sizeof *mesh->vertex_id));
    mesh->next_vertex_id = next_id;
    MN_TRY(check_mesh(mesh));
    for (int32_t i = 0; i < MN_COUNT_OF(fields); i++)
        if (fields[i].since <= version) MN_TRY(read_field(mesh, in, &fields[i]));
    return MN_OK;
}

mn_status mn_tet_liquid_load_mesh(mn_solver *solver, mn_reader *in, int32_t version)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    int32_t tag_version;
    MN_TRY(mn_read_tag(in, "mesh", version, &tag_version));
    MN_TRY(mn_read_f64(in, &liquid->left.quality));
    MN_TRY(mn_read_f64(in, &liquid->left.shortest));
    MN_TRY(mn_read_f64(in, &liquid->left.longest));
    saved_mesh saved = {0};
    mn_status status = read_mesh(solver->ctx, in, version, &saved);
    if (status == MN_OK) {
        status = mn_tet_liquid_take_mesh(liquid, saved.mesh);
        saved.mesh = NULL;
    }
    mn_tet_mesh_free(saved.mesh);
    mn_array_free(solver->ctx, &saved.positions);
    mn_array_free(solver->ctx, &saved.tets);
    return status;
}

mn_status mn_tet_liquid_loaded(mn_solver *solver)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    const double size = liquid->size;
    if (!(size > 0) || !(liquid->last_dt >= 0)) return damaged(solver->ctx, "its clocks are wrong");
    for (int64_t k = 0; k < liquid->mouths.count; k++)
        if (!(liquid->mouths.data[k].moved >= 0)) return damaged(solver->ctx, "a pipe is nowhere");
    MN_TRY(mn_tet_liquid_find_size(liquid, &liquid->def));
    if (!(liquid->def.size > 0)) liquid->size = size; // that of the first mesh
    mn_tet_material_array materials = liquid->solids.materials;
    if (materials.count == 0) return MN_OK;
    liquid->solids.materials = (mn_tet_material_array){0};
    const mn_status status = mn_tet_liquid_set_materials(liquid, (int32_t)materials.count, materials.data);
    mn_array_free(solver->ctx, &materials);
    return status;
}
