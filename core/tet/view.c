// SPDX-License-Identifier: Apache-2.0
//
// What the solver shows: its tetrahedra, or the triangles of its surface with normals. A normal is the sum of
// those of the faces around a point, each with the sine of its angle:
//
//   N_i  ~  sum over faces (a, b, c) at i of  (b - a) x (c - a) / (|b - a| |c - a|)
#include "tet/solid_steps.h"
#include "tet/state.h"

#include <string.h>

// ---- which vertices and primitives ----

// Whether an output shows face k of tetrahedron t: those of the surface, and of a solid also those that lie
// in liquid, so that ice under water can be seen.
static bool shows(const mn_tet_liquid *liquid, int32_t output, int32_t t, int k)
{
    const int32_t mate = liquid->mesh->mate[t][k];
    const bool solid = mn_tet_liquid_is_solid(liquid, t);
    if (output == MN_TET_OUTPUT_SOLID_SURFACE)
        return solid && (mate < 0 || !mn_tet_liquid_is_solid(liquid, mate / 4));
    return mate < 0 && !(output == MN_TET_OUTPUT_LIQUID_SURFACE && solid);
}

// Whether a face at vertex v is shown.
static bool shows_vertex(const mn_tet_liquid *liquid, int32_t output, int32_t v)
{
    MN_TET_STAR(liquid->mesh, v, code)
    for (int k = 0; k < 4; k++)
        if (k != code % 4 && shows(liquid, output, code / 4, k)) return true;
    return false;
}

static mn_status number_points(mn_tet_liquid *liquid, int32_t output)
{
    const bool boundary = output != MN_TET_OUTPUT_TETRAHEDRA;
    const mn_tet_mesh *mesh = liquid->mesh;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->shown.place, mesh->vertex_slots));
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->shown.order, mesh->vertex_slots));
    int32_t count = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        liquid->shown.place.data[v] = -1;
        if (boundary && !shows_vertex(liquid, output, v)) continue;
        liquid->shown.order.data[count] = v;
        liquid->shown.place.data[v] = count++;
    }
    liquid->shown.order.count = count;
    return MN_OK;
}

static mn_status push_primitive(mn_tet_liquid *liquid, int32_t t, const int32_t *corners, int count)
{
    for (int k = 0; k < count; k++)
        MN_TRY(mn_array_push(liquid->ctx, &liquid->shown.corners, &liquid->shown.place.data[corners[k]]));
    return mn_array_push(liquid->ctx, &liquid->shown.tets, &t);
}

static mn_status list_primitives(mn_tet_liquid *liquid, int32_t output)
{
    const bool boundary = output != MN_TET_OUTPUT_TETRAHEDRA;
    const mn_tet_mesh *mesh = liquid->mesh;
    liquid->shown.corners.count = liquid->shown.tets.count = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) {
        if (!boundary) MN_TRY(push_primitive(liquid, t, mesh->tet[t], 4));
        for (int k = 0; boundary && k < 4; k++) {
            if (!shows(liquid, output, t, k)) continue;
            int32_t corners[3];
            for (int i = 0; i < 3; i++) corners[i] = mesh->tet[t][mn_tet_face_corners[k][i]];
            MN_TRY(push_primitive(liquid, t, corners, 3));
        }
    }
    return MN_OK;
}

// ---- normals ----

/// Where a point is shown: attributes have single precision, and normals are those of what is shown.
static mn_vec3 shown_position(const mn_tet_liquid *liquid, int32_t point)
{
    const mn_vec3 x = liquid->mesh->position[liquid->shown.order.data[point]];
    return mn_v3((float)x.x, (float)x.y, (float)x.z);
}

static mn_status find_normals(mn_tet_liquid *liquid)
{
    const int64_t values = 3 * (int64_t)liquid->mesh->vertex_slots;
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->shown.normals, values));
    float *normals = liquid->shown.normals.data;
    if (values > 0) memset(normals, 0, mn_bytes(values, sizeof *normals));
    for (int64_t f = 0; f < liquid->shown.tets.count; f++) {
        const int32_t *c = liquid->shown.corners.data + 3 * f;
        const mn_vec3 a = shown_position(liquid, c[0]), b = shown_position(liquid, c[1]),
                      d = shown_position(liquid, c[2]);
        const mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(d, a));
        // In units of the face, so that floats hold it at any scale.
        const mn_vec3 part = mn_scale(1 / sqrt(mn_norm2(mn_sub(b, a)) * mn_norm2(mn_sub(d, a)) + 1e-300), n);
        for (int k = 0; k < 3; k++) {
            float *normal = normals + 3 * (int64_t)liquid->shown.order.data[c[k]];
            normal[0] += (float)part.x, normal[1] += (float)part.y, normal[2] += (float)part.z;
        }
    }
    return MN_OK;
}

static void normal_value(const void *data, int64_t row, double *value)
{
    const float *n = ((const mn_tet_liquid *)data)->shown.normals.data + 3 * row;
    const mn_vec3 unit = mn_normalize(mn_v3(n[0], n[1], n[2]));
    value[0] = unit.x, value[1] = unit.y, value[2] = unit.z;
}

// ---- materials ----

/// What points show of tetrahedra: the mean of those around them by volume, so that shading blends.
typedef double (*of_tet)(const mn_tet_liquid *liquid, int32_t t);
static double mean_around(const mn_tet_liquid *liquid, int64_t row, of_tet value)
{
    double sum = 0, volumes = 0;
    MN_TET_STAR(liquid->mesh, (int32_t)row, code)
    {
        const double volume = mn_tet_mesh_tet_volume(liquid->mesh, code / 4);
        sum += volume * value(liquid, code / 4), volumes += volume;
    }
    return volumes > 0 ? sum / volumes : 0;
}

static double solid_of(const mn_tet_liquid *liquid, int32_t t)
{
    return mn_tet_field_numbers(liquid, MN_TET_SOLID)[t];
}
static double strain_of(const mn_tet_liquid *liquid, int32_t t)
{
    return mn_tet_field_numbers(liquid, MN_TET_PLASTIC_STRAIN)[t];
}
static double damage_of(const mn_tet_liquid *liquid, int32_t t)
{
    return mn_tet_field_numbers(liquid, MN_TET_DAMAGE)[t];
}

static void point_solid_value(const void *data, int64_t row, double *value)
{
    *value = mean_around(data, row, solid_of);
}
static void point_strain_value(const void *data, int64_t row, double *value)
{
    *value = mean_around(data, row, strain_of);
}
static void point_damage_value(const void *data, int64_t row, double *value)
{
    *value = mean_around(data, row, damage_of);
}
static void point_stress_value(const void *data, int64_t row, double *value)
{
    *value = mean_around(data, row, mn_tet_liquid_stress);
}

static double tet_value(const mn_tet_liquid *liquid, const char *name, int64_t row)
{
    return mn_tet_field_numbers(liquid, name)[liquid->shown.tets.data[row]];
}

static void solid_value(const void *data, int64_t row, double *value)
{
    *value = tet_value(data, MN_TET_SOLID, row);
}

static void strain_value(const void *data, int64_t row, double *value)
{
    *value = tet_value(data, MN_TET_PLASTIC_STRAIN, row);
}

static void damage_value(const void *data, int64_t row, double *value)
{
    *value = tet_value(data, MN_TET_DAMAGE, row);
}

static void stress_value(const void *data, int64_t row, double *value)
{
    const mn_tet_liquid *liquid = data;
    *value = mn_tet_liquid_stress(liquid, liquid->shown.tets.data[row]);
}

static void material_value(const void *data, int64_t row, double *value)
{
    *value = tet_value(data, MN_TET_MATERIAL, row);
}

static mn_status list_names(mn_tet_liquid *liquid)
{
    MN_TRY(mn_array_resize(liquid->ctx, &liquid->shown.names, liquid->solids.materials.count));
    for (int64_t i = 0; i < liquid->shown.names.count; i++)
        liquid->shown.names.data[i] = liquid->solids.materials.data[i].name;
    return MN_OK;
}

static mn_status show_materials(mn_tet_liquid *liquid, mn_view *view)
{
    MN_TRY(list_names(liquid));
    view->texts = liquid->shown.names.data;
    mn_view_column(view, (mn_column_view){.name = "temperature",
                                          .type = MN_F32,
                                          .size = 1,
                                          .storage = MN_STORE_F64,
                                          .data = mn_tet_field_numbers(liquid, MN_TET_TEMPERATURE),
                                          .stride = sizeof(double)});
    const mn_column_view points[] = {
        {.name = "solid", .type = MN_F32, .size = 1, .data = liquid, .value = point_solid_value},
        {.name = "stress", .type = MN_F32, .size = 1, .data = liquid, .value = point_stress_value},
        {.name = "plastic_strain", .type = MN_F32, .size = 1, .data = liquid, .value = point_strain_value},
        {.name = "damage", .type = MN_F32, .size = 1, .data = liquid, .value = point_damage_value},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(points); i++) mn_view_column(view, points[i]);
    const mn_column_view columns[] = {
        {.name = "solid", .type = MN_F32, .size = 1, .data = liquid, .value = solid_value},
        {.name = "stress", .type = MN_F32, .size = 1, .data = liquid, .value = stress_value},
        {.name = "plastic_strain", .type = MN_F32, .size = 1, .data = liquid, .value = strain_value},
        {.name = "damage", .type = MN_F32, .size = 1, .data = liquid, .value = damage_value},
        {.name = "material", .type = MN_STRING, .size = 1, .data = liquid, .value = material_value},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(columns); i++) mn_view_primitive_column(view, columns[i]);
    return MN_OK;
}

// ---- the outputs ----

mn_status mn_tet_liquid_view(mn_solver *solver, const mn_solver_inputs *inputs, int32_t output, mn_view *view)
{
    mn_tet_liquid *liquid = (mn_tet_liquid *)solver;
    const bool surface = output != MN_TET_OUTPUT_TETRAHEDRA;
    (void)inputs;
    MN_TRY(number_points(liquid, output));
    MN_TRY(list_primitives(liquid, output));
    if (surface) MN_TRY(find_normals(liquid));
    view->point_count = liquid->shown.order.count;
    view->order = liquid->shown.order.data;
    mn_view_primitives(view, surface ? MN_POLYGON : MN_TETRAHEDRON, surface ? 3 : 4, liquid->shown.tets.count,
                       liquid->shown.corners.data);
    const mn_tet_mesh *mesh = liquid->mesh;
    const mn_column_view columns[] = {
        {"P", MN_F32, 3, MN_HINT_POINT, MN_STORE_F64, mesh->position, sizeof(mn_vec3), NULL},
        {"v", MN_F32, 3, MN_HINT_VECTOR, MN_STORE_F64, mn_tet_field_numbers(liquid, MN_TET_V),
         sizeof(mn_vec3), NULL},
        {"pressure", MN_F32, 1, MN_HINT_NONE, MN_STORE_F64, mn_tet_field_numbers(liquid, MN_TET_PRESSURE),
         sizeof(double), NULL},
        {"id", MN_I32, 1, MN_HINT_NONE, MN_STORE_I64, mesh->vertex_id, sizeof *mesh->vertex_id, NULL},
        {"N", MN_F32, 3, MN_HINT_NORMAL, MN_STORE_NONE, liquid, 0, normal_value},
    };
    for (int32_t i = 0; i < MN_COUNT_OF(columns) - !surface; i++) mn_view_column(view, columns[i]);
    if (!surface)
        mn_view_primitive_column(view,
                                 (mn_column_view){.name = "rest_volume",
                                                  .type = MN_F64,
                                                  .size = 1,
                                                  .storage = MN_STORE_F64,
                                                  .data = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME),
                                                  .stride = sizeof(double)});
    return liquid->solids.materials.count > 0 ? show_materials(liquid, view) : MN_OK;
}
