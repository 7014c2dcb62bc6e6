// SPDX-License-Identifier: Apache-2.0
//
// film_skin: a film as one closed surface that can be rendered. The numerics are those of mn_film_skin_run().
#include "mesh/film_skin.h"
#include "meniscus/codim.h"
#include "mesh/border_lines.h"
#include "mesh/subdivide.h"
#include "nodes/columns.h"
#include "nodes/parm.h"

#include <string.h>

static const mn_parm_def parms[] = {
    MN_FLOAT("min_thickness", "Minimum Thickness", "m", 1e-4, 1e-9, 1e3, 1e-5, 1e-3, "Skin", NULL,
             "Film thinner than this is drawn this thick. The attribute thickness keeps the true one."),
    MN_FLOAT("max_thickness", "Maximum Thickness", "m", 1e3, 1e-9, 1e3, 1e-4, 0.01, "Skin", NULL,
             "Film and rims thicker than this are drawn this thick."),
    MN_INT("smooth", "Smooth Thickness", "", 2, 0, 100, 0, 10, "Skin", NULL,
           "Passes that average the thickness with that of the neighbours."),
    MN_INT("subdivide", "Subdivide", "", 1, 0, 4, 0, 3, "Skin", NULL,
           "Number of smooth subdivisions, each of a triangle into four: rims and drops get round. Use 2 for "
           "close-ups."),
    MN_TOGGLE("drops", "Drops", 1, "Skin", NULL, "Draws points outside films and threads as balls."),
};

enum { INPUT_FILM, INPUT_SKIN };

static const mn_input_def inputs_of[] = {
    [INPUT_FILM] =
        {"Film",
         "points with thickness and the polygons and polylines between them, from a film_solver or "
         "from the output Films and Threads of an mls_solver",
         true, false},
    [INPUT_SKIN] =
        {"Skin", "closed surfaces that are drawn as they are: the output Skin of an mls_solver with volumes",
         false, false},
};
static const mn_output_def outputs_of[] = {
    {"Skin", "closed polygons with N, v and thickness; region where the film has it"},
    {"Borders", "polylines where three films or more meet, with v, thickness and pscale"},
};

/// A film as the core wants it, and the memory it lies in.
typedef struct sheet_arrays {
    mn_film_sheet sheet;
    mn_vec3_array positions, velocities;
    const mn_vec3 *velocity;
    MN_ARRAY(double) thickness;
    MN_ARRAY(int32_t) triangles, links;
    MN_ARRAY(int64_t) source; ///< of each triangle: its primitive
    MN_ARRAY(uint8_t) wet;
} sheet_arrays;

static void free_sheet(mn_context *ctx, sheet_arrays *a)
{
    mn_array_free(ctx, &a->positions);
    mn_array_free(ctx, &a->velocities);
    mn_array_free(ctx, &a->thickness);
    mn_array_free(ctx, &a->triangles);
    mn_array_free(ctx, &a->links);
    mn_array_free(ctx, &a->source);
    mn_array_free(ctx, &a->wet);
}

static mn_status read_triangles(mn_context *ctx, const mn_geo *geo, sheet_arrays *a)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        const bool polygon = kinds[p] == MN_POLYGON, polyline = kinds[p] == MN_POLYLINE;
        for (int64_t v = starts[p] + 1; polygon && v + 1 < starts[p + 1]; v++) {
            const int32_t t[3] = {(int32_t)points[starts[p]], (int32_t)points[v], (int32_t)points[v + 1]};
            MN_TRY(mn_array_push(ctx, &a->source, &p));
            for (int i = 0; i < 3; i++) MN_TRY(mn_array_push(ctx, &a->triangles, &t[i]));
        }
        for (int64_t v = starts[p]; polyline && v + 1 < starts[p + 1]; v++) {
            const int32_t ends[2] = {(int32_t)points[v], (int32_t)points[v + 1]};
            for (int i = 0; i < 2; i++) MN_TRY(mn_array_push(ctx, &a->links, &ends[i]));
        }
    }
    a->sheet.link_count = a->links.count / 2;
    a->sheet.links = (const int32_t(*)[2])a->links.data;
    a->sheet.triangle_count = a->triangles.count / 3;
    a->sheet.triangles = (const int32_t(*)[3])a->triangles.data;
    return MN_OK;
}

// Points of tetrahedra: tet_surface shows them, and they are no drops.
static mn_status mark_wet(mn_context *ctx, const mn_geo *geo, sheet_arrays *a)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    MN_TRY(mn_array_resize(ctx, &a->wet, mn_geo_point_count(geo)));
    for (int64_t i = 0; i < a->wet.count; i++) a->wet.data[i] = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++)
        for (int64_t v = starts[p]; v < starts[p + 1]; v++)
            if (mn_geo_primitive_kinds(geo)[p] == MN_TETRAHEDRON) a->wet.data[points[v]] = 1;
    a->sheet.wet = a->wet.data;
    return MN_OK;
}

// Volumes of mls_solver are closed already, and have no thickness.
static mn_status refuse_volumes(const mn_cook *cook, const mn_geo *geo, const uint8_t *wet)
{
    const mn_attribute *codim = mn_geo_find_numeric(geo, MN_POINT, "codim", 1);
    for (int64_t i = 0; codim && i < mn_geo_point_count(geo); i++) {
        double value;
        mn_attribute_get(codim, i, 1, &value);
        if (value == MN_CODIM_VOLUME && !wet[i])
            return mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "connect the output Films and Threads of the mls_solver to the first input and "
                "its output Skin to the second: point %lld is inside a volume of liquid.",
                (long long)i);
    }
    return MN_OK;
}

static mn_status read_sheet(const mn_cook *cook, const mn_geo *geo, sheet_arrays *a)
{
    memset(a, 0, sizeof *a);
    const int64_t count = a->sheet.count = mn_geo_point_count(geo);
    if (count > INT32_MAX)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "the film has more than two billion points.");
    MN_TRY(mark_wet(cook->ctx, geo, a));
    MN_TRY(refuse_volumes(cook, geo, a->wet.data));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &a->positions, &a->sheet.positions));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &a->velocities, &a->velocity));
    MN_TRY(mn_array_resize(cook->ctx, &a->thickness, count));
    const mn_attribute *thickness = mn_geo_find_numeric(geo, MN_POINT, "thickness", 1);
    for (int64_t i = 0; i < count; i++) a->thickness.data[i] = 0;
    if (thickness && count > 0) mn_attribute_get(thickness, 0, count, a->thickness.data);
    a->sheet.thickness = a->thickness.data;
    return read_triangles(cook->ctx, geo, a);
}

static mn_status write_mesh(const mn_film_skin_mesh *mesh, const mn_vec3 *velocity, mn_geo *geo)
{
    float *P, *N, *v, *thickness;
    MN_TRY(mn_geo_add_points(geo, mesh->vertex_count, NULL));
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &P));
    MN_TRY(mn_column_add(geo, "N", MN_F32, 3, MN_HINT_NORMAL, &N));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    MN_TRY(mn_column_add(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &thickness));
    for (int64_t i = 0; i < mesh->vertex_count; i++) {
        const mn_film_skin_vertex *vertex = &mesh->vertices[i];
        mn_column_put3(P, i, vertex->position);
        mn_column_put3(N, i, vertex->normal);
        if (velocity)
            mn_column_put3(v, i, mn_lerp(velocity[vertex->point], velocity[vertex->other], vertex->part));
        thickness[i] = (float)vertex->thickness;
    }
    if (mesh->triangle_count == 0) return MN_OK;
    return mn_geo_add_primitives(geo, MN_POLYGON, mesh->triangle_count, NULL, 3, &mesh->triangles[0][0],
                                 NULL);
}

// Which pocket of gas each triangle faces, where the film says so; 0 is the air around, and what rims, tubes
// and drops face.
static mn_status write_regions(const mn_geo *film, const sheet_arrays *a, const mn_film_skin_mesh *mesh,
                               mn_geo *geo)
{
    const mn_attribute *regions = mn_geo_find_numeric(film, MN_PRIMITIVE, "region", 2);
    mn_attribute *attribute;
    if (!regions || mesh->triangle_count == 0) return MN_OK;
    MN_TRY(mn_geo_add_attribute(geo, MN_PRIMITIVE, "region", MN_I32, 1, MN_HINT_NONE, &attribute));
    int32_t *region = mn_attribute_write(geo, attribute);
    if (!region) return MN_ERROR_MEMORY;
    for (int64_t t = 0; t < mesh->triangle_count; t++) {
        double pair[2] = {0, 0};
        const int64_t side = mesh->sides[t];
        if (side >= 0) mn_attribute_get(regions, a->source.data[side / 2], 1, pair);
        region[t] = side < 0 ? 0 : (int32_t)pair[side % 2];
    }
    return MN_OK;
}

// Points of the borders only, each once, with half of the thickness as pscale.
static mn_status write_borders(mn_context *ctx, const sheet_arrays *a, const mn_border_lines *lines,
                               mn_geo *geo)
{
    float *P, *v, *thickness, *pscale;
    MN_ARRAY(int64_t) number = {0}, points = {0};
    MN_ARRAY(int32_t) counts = {0};
    mn_status status = MN_OK;
    int64_t found = 0;
    MN_TRY_TO(out, status, mn_array_resize(ctx, &number, a->sheet.count));
    for (int64_t i = 0; i < number.count; i++) number.data[i] = -1;
    for (int64_t i = 0; i < lines->point.count; i++) {
        int64_t *place = &number.data[lines->point.data[i]];
        if (*place < 0) *place = found++;
        MN_TRY_TO(out, status, mn_array_push(ctx, &points, place));
    }
    for (int64_t i = 0; i + 1 < lines->start.count; i++) {
        const int32_t count = (int32_t)(lines->start.data[i + 1] - lines->start.data[i]);
        MN_TRY_TO(out, status, mn_array_push(ctx, &counts, &count));
    }
    MN_TRY_TO(out, status, mn_geo_add_points(geo, found, NULL));
    MN_TRY_TO(out, status, mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &P));
    MN_TRY_TO(out, status, mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    MN_TRY_TO(out, status, mn_column_add(geo, "thickness", MN_F32, 1, MN_HINT_NONE, &thickness));
    MN_TRY_TO(out, status, mn_column_add(geo, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale));
    for (int64_t i = 0; i < number.count; i++) {
        const int64_t to = number.data[i];
        if (to < 0) continue;
        mn_column_put3(P, to, a->sheet.positions[i]);
        if (a->velocity) mn_column_put3(v, to, a->velocity[i]);
        thickness[to] = (float)a->thickness.data[i], pscale[to] = 0.5F * thickness[to];
    }
    if (counts.count > 0)
        status = mn_geo_add_primitives(geo, MN_POLYLINE, counts.count, counts.data, 0, points.data, NULL);
out:
    mn_array_free(ctx, &number);
    mn_array_free(ctx, &points);
    mn_array_free(ctx, &counts);
    return status;
}

// They are blended where triangles are divided.
static mn_status make_normals_unit(mn_geo *geo)
{
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "N", MN_F32, 3, MN_HINT_NORMAL, &attribute));
    float *N = mn_attribute_write(geo, attribute);
    if (!N) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        mn_column_put3(N, i, mn_normalize(mn_v3(N[3 * i], N[3 * i + 1], N[3 * i + 2])));
    return MN_OK;
}

// The skin of volumes is closed already: it goes in as it is, with the attributes that the film's skin has.
static mn_status append_skin(const mn_geo *skin, mn_geo *geo)
{
    mn_geo *copy;
    if (!skin || mn_geo_point_count(skin) == 0) return MN_OK;
    MN_TRY(mn_geo_copy(skin, &copy));
    mn_status status = MN_OK;
    for (int32_t i = mn_geo_attribute_count(copy, MN_POINT) - 1; status == MN_OK && i >= 0; i--) {
        const char *name = mn_attribute_name(mn_geo_attribute_at(copy, MN_POINT, i));
        if (!mn_geo_find(geo, MN_POINT, name)) status = mn_geo_remove_attribute(copy, MN_POINT, name);
    }
    if (status == MN_OK) status = mn_geo_append(geo, copy);
    mn_geo_free(copy);
    return status;
}

static mn_status cook(const mn_cook *cook, mn_geo **outputs)
{
    mn_film_skin_def def = mn_film_skin_default_def();
    def.min_thickness = mn_cook_float(cook, "min_thickness");
    def.max_thickness = fmax(def.min_thickness, mn_cook_float(cook, "max_thickness"));
    def.smooth = (int32_t)mn_cook_int(cook, "smooth");
    def.drops = mn_cook_toggle(cook, "drops");
    sheet_arrays sheet;
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_border_lines lines = {0};
    mn_geo *geo = NULL, *fine = NULL, *borders = NULL;
    const int32_t levels = (int32_t)mn_cook_int(cook, "subdivide");
    mn_status status;
    MN_TRY_TO(out, status, read_sheet(cook, mn_cook_input(cook, INPUT_FILM), &sheet));
    MN_TRY_TO(out, status, mn_film_skin_create(cook->ctx, &skin));
    MN_TRY_TO(out, status, mn_film_skin_run(skin, &def, &sheet.sheet, &mesh));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    MN_TRY_TO(out, status, write_mesh(&mesh, sheet.velocity, geo));
    MN_TRY_TO(out, status, write_regions(mn_cook_input(cook, INPUT_FILM), &sheet, &mesh, geo));
    if (levels > 0 && mesh.triangle_count > 0) {
        MN_TRY_TO(out, status, mn_geo_subdivide(geo, levels, &fine));
        mn_geo_free(geo);
        geo = fine;
        MN_TRY_TO(out, status, make_normals_unit(geo));
    }
    MN_TRY_TO(out, status, append_skin(mn_cook_input(cook, INPUT_SKIN), geo));
    MN_TRY_TO(out, status, mn_border_lines_find(cook->ctx, &sheet.sheet, &lines));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &borders));
    MN_TRY_TO(out, status, write_borders(cook->ctx, &sheet, &lines, borders));
    outputs[0] = geo, outputs[1] = borders;
    geo = borders = NULL;
out:
    mn_geo_free(geo);
    mn_geo_free(borders);
    mn_border_lines_free(cook->ctx, &lines);
    mn_film_skin_free(skin);
    free_sheet(cook->ctx, &sheet);
    return status;
}

const mn_node_type mn_film_skin_node = {
    .name = "film_skin",
    .label = "Meniscus Film Skin",
    .menu = "Meniscus/Geometry",
    .help =
        "Gives films both their sides, a round rim and filled borders, and threads their tubes: one closed surface "
        "to render.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook,
};
