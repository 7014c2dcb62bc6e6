// SPDX-License-Identifier: Apache-2.0
//
// The solver's state out and in: clocks, vertices, tetrahedra, fields.
#include "tet/state.h"

#include <string.h>

static const char *const tag = "tet_liquid";
enum { VERSION = 3 };

/// In the order they are written; kind and size as in mn_tet_liquid_add_fields().
static const struct {
    const char *name;
    mn_tet_field_kind kind;
    int32_t size;
    bool positive;
    int32_t since; ///< the version that has it first; zero before
} fields[] = {
    {MN_TET_V, MN_TET_LINEAR, 3, false, 1},          {MN_TET_PRESSURE, MN_TET_LINEAR, 1, false, 1},
    {MN_TET_MULTIPLIER, MN_TET_LINEAR, 1, false, 1}, {MN_TET_LAST_V, MN_TET_LINEAR, 3, false, 1},
    {MN_TET_LAST_MOVE, MN_TET_LINEAR, 3, false, 1},  {MN_TET_REST_VOLUME, MN_TET_AMOUNT, 1, true, 1},
    {MN_TET_SOFT_VOLUME, MN_TET_AMOUNT, 1, true, 1}, {MN_TET_OWED, MN_TET_AMOUNT, 1, false, 2},
};
enum { FIELD_COUNT = sizeof fields / sizeof fields[0] };

/// Of materials, from version 3 on: each with a number before it that says whether it is there.
static const struct {
    const char *name;
    mn_tet_field_kind kind;
    int32_t size;
} material_fields[] = {
    {MN_TET_MATERIAL, MN_TET_VALUE, 1},       {MN_TET_SOLID, MN_TET_VALUE, 1},
    {MN_TET_REST, MN_TET_LINEAR, 3},          {MN_TET_METRIC, MN_TET_VALUE, 6},
    {MN_TET_PLASTIC_STRAIN, MN_TET_VALUE, 1}, {MN_TET_SOLID_MULTIPLIER, MN_TET_LINEAR, 1},
    {MN_TET_TEMPERATURE, MN_TET_LINEAR, 1},   {MN_TET_MELTED, MN_TET_LINEAR, 1},
    {MN_TET_HEAT, MN_TET_LINEAR, 1},          {MN_TET_PIN, MN_TET_LINEAR, 1},
    {MN_TET_HEAT_SOURCE, MN_TET_LINEAR, 1},
};
enum { MATERIAL_FIELD_COUNT = sizeof material_fields / sizeof material_fields[0] };

static mn_status save_materials(const mn_tet_mesh *mesh, mn_writer *out)
{
    for (int f = 0; f < MATERIAL_FIELD_COUNT; f++) {
        const mn_tet_field *field = mn_tet_mesh_find_field(mesh, material_fields[f].name);
        const int64_t count = material_fields[f].kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        MN_TRY(mn_write_i64(out, field != NULL));
        if (field) MN_TRY(mn_write_block(out, field->data, count * field->size, sizeof(double)));
    }
    return MN_OK;
}

mn_status mn_tet_liquid_save(const mn_tet_liquid *liquid, mn_writer *out)
{
    const mn_tet_mesh *mesh = liquid->mesh;
    MN_TRY(mn_write_tag(out, tag, VERSION));
    MN_TRY(mn_write_f64(out, liquid->size));
    MN_TRY(mn_write_f64(out, liquid->time));
    MN_TRY(mn_write_f64(out, liquid->last_dt));
    MN_TRY(mn_write_f64(out, liquid->left_quality));
    MN_TRY(mn_write_f64(out, liquid->left_shortest));
    MN_TRY(mn_write_f64(out, liquid->left_longest));
    MN_TRY(mn_write_i64(out, mesh->next_vertex_id));
    MN_TRY(mn_write_array_bytes(out, mesh->position, mesh->vertex_slots, sizeof *mesh->position));
    MN_TRY(mn_write_array_bytes(out, mesh->tet, mesh->tet_slots, sizeof *mesh->tet));
    MN_TRY(mn_write_block(out, mesh->vertex_id, mesh->vertex_slots, sizeof *mesh->vertex_id));
    for (int f = 0; f < FIELD_COUNT; f++) {
        const int64_t count = fields[f].kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        MN_TRY(mn_write_block(out, mn_tet_field_numbers(liquid, fields[f].name), count * fields[f].size,
                              sizeof(double)));
    }
    MN_TRY(mn_write_f64(out, liquid->solids.heat_in));
    MN_TRY(mn_write_array_bytes(out, liquid->solids.materials.data, liquid->solids.materials.count,
                                sizeof *liquid->solids.materials.data));
    return save_materials(mesh, out);
}

typedef struct saved_mesh {
    MN_ARRAY(mn_vec3) positions;
    MN_ARRAY(mn_tet_indices) tets;
    MN_ARRAY(mn_tet_material) materials;
    double heat_in;
} saved_mesh;

static bool all_finite(const double *values, int64_t count)
{
    bool finite = true;
    for (int64_t i = 0; i < count; i++) finite = finite && isfinite(values[i]);
    return finite;
}

static mn_status damaged(mn_context *ctx, const char *what)
{
    return mn_fail(ctx, MN_ERROR_FORMAT, "The saved state is damaged: %s.", what);
}

static mn_status read_fields(mn_tet_mesh *mesh, mn_reader *in, int32_t version)
{
    for (int f = 0; f < FIELD_COUNT; f++) {
        const int64_t count = fields[f].kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        mn_tet_field *field;
        MN_TRY(mn_tet_mesh_add_field(mesh, fields[f].name, fields[f].kind, fields[f].size, &field));
        if (version < fields[f].since) continue;
        MN_TRY(mn_read_block(in, field->data, count * fields[f].size, sizeof(double)));
        if (!all_finite(field->data, count * fields[f].size))
            return damaged(mesh->ctx, "a value is not a number");
        for (int64_t i = 0; fields[f].positive && i < count; i++)
            if (!(field->data[i] > 0)) return damaged(mesh->ctx, "a volume is not positive");
    }
    return MN_OK;
}

static mn_status read_materials(mn_tet_mesh *mesh, mn_reader *in, int32_t version)
{
    for (int f = 0; version >= 3 && f < MATERIAL_FIELD_COUNT; f++) {
        const int64_t count = material_fields[f].kind == MN_TET_LINEAR ? mesh->vertex_slots : mesh->tet_slots;
        int64_t there;
        mn_tet_field *field;
        MN_TRY(mn_read_i64(in, &there));
        if (!there) continue;
        MN_TRY(mn_tet_mesh_add_field(mesh, material_fields[f].name, material_fields[f].kind,
                                     material_fields[f].size, &field));
        MN_TRY(mn_read_block(in, field->data, count * field->size, sizeof(double)));
        if (!all_finite(field->data, count * field->size))
            return damaged(mesh->ctx, "a value is not a number");
    }
    return MN_OK;
}

static mn_status read_mesh(mn_context *ctx, mn_reader *in, int32_t version, saved_mesh *saved,
                           mn_tet_mesh **out)
{
    int64_t next_id;
    mn_tet_mesh *mesh = NULL;
    mn_status status;
    MN_TRY(mn_read_i64(in, &next_id));
    MN_TRY(mn_read_array(in, &saved->positions));
    MN_TRY(mn_read_array(in, &saved->tets));
    if (!all_finite(&saved->positions.data[0].x, 3 * saved->positions.count))
        return damaged(ctx, "a position is not a number");
    MN_TRY_TO(fail, status,
              mn_tet_mesh_build(ctx, saved->positions.count, saved->positions.data, saved->tets.count,
                                (const int32_t(*)[4])saved->tets.data, &mesh));
    MN_TRY_TO(fail, status, mn_read_block(in, mesh->vertex_id, mesh->vertex_slots, sizeof *mesh->vertex_id));
    mesh->next_vertex_id = next_id;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        if (mesh->vertex_id[v] < 0 || mesh->vertex_id[v] >= next_id || mesh->star_first[v] < 0)
            MN_TRY_TO(fail, status, damaged(ctx, "a vertex has no valid id or no tetrahedron"));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (!(mn_tet_mesh_tet_volume(mesh, t) > 0))
            MN_TRY_TO(fail, status, damaged(ctx, "a tetrahedron is not positive"));
    MN_TRY_TO(fail, status, read_fields(mesh, in, version));
    if (version >= 3) MN_TRY_TO(fail, status, mn_read_f64(in, &saved->heat_in));
    if (version >= 3) MN_TRY_TO(fail, status, mn_read_array(in, &saved->materials));
    MN_TRY_TO(fail, status, read_materials(mesh, in, version));
    *out = mesh;
    return MN_OK;
fail:
    mn_tet_mesh_free(mesh);
    return status;
}

mn_status mn_tet_liquid_load(mn_context *ctx, const mn_tet_liquid_def *def, mn_reader *in,
                             mn_tet_liquid **out)
{
    int32_t version;
    double size, time, last_dt, quality, shortest, longest;
    *out = NULL;
    MN_TRY(mn_read_tag(in, tag, VERSION, &version));
    MN_TRY(mn_read_f64(in, &size));
    MN_TRY(mn_read_f64(in, &time));
    MN_TRY(mn_read_f64(in, &last_dt));
    MN_TRY(mn_read_f64(in, &quality));
    MN_TRY(mn_read_f64(in, &shortest));
    MN_TRY(mn_read_f64(in, &longest));
    if (!(size > 0) || !isfinite(size) || !isfinite(time) || !(last_dt >= 0) || !isfinite(last_dt))
        return damaged(ctx, "its clocks are wrong");
    saved_mesh saved = {0};
    mn_tet_mesh *mesh = NULL;
    mn_tet_liquid *liquid = NULL;
    mn_status status = read_mesh(ctx, in, version, &saved, &mesh);
    if (status == MN_OK) status = mn_tet_liquid_create(ctx, def, mesh, &liquid);
    if (status == MN_OK) {
        status = mn_tet_liquid_take_mesh(liquid, mesh);
        mesh = NULL;
        liquid->time = time, liquid->last_dt = last_dt, liquid->solids.heat_in = saved.heat_in;
        liquid->left_quality = quality, liquid->left_shortest = shortest, liquid->left_longest = longest;
        if (!(def->size > 0)) liquid->size = size;
        if (status == MN_OK && saved.materials.count > 0)
            status =
                mn_tet_liquid_set_materials(liquid, (int32_t)saved.materials.count, saved.materials.data);
    }
    mn_tet_mesh_free(mesh);
    mn_array_free(ctx, &saved.positions);
    mn_array_free(ctx, &saved.tets);
    mn_array_free(ctx, &saved.materials);
    if (status != MN_OK) {
        mn_tet_liquid_free(liquid);
        return status;
    }
    *out = liquid;
    return MN_OK;
}
