// SPDX-License-Identifier: Apache-2.0
//
// tetrahedralize: fills closed polygons or a level set with tetrahedra.
#include "meniscus/tetmesh.h"
#include "mesh/polygon_checks.h"
#include "nodes/group.h"
#include "tetmesh/cut/cut.h"
#include "tetmesh/fill/stuffing.h"
#include "tetmesh/geo.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "trimesh/mesh_region.h"
#include "trimesh/mesh_transfer.h"

#include <string.h>

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which part of the input is filled", "Mesh"),
    MN_FLOAT("size", "Size", "m", 0.002, 1e-9, 1e6, 0.0005, 0.05, "Mesh", NULL,
             "Edge of the tetrahedra at the surface. At least four should fit across the thinnest part."),
    MN_FLOAT("gradation", "Gradation", "m/m", 0, 0, 2, 0, 1, "Mesh", NULL,
             "How fast tetrahedra grow with the distance from the surface; 0 keeps one size everywhere."),
    MN_FLOAT("curvature_refine", "Curvature Refine", "", 0, 0, 2, 0, 1, "Mesh", NULL,
             "Makes elements smaller where the surface is curved: down to this fraction of the radius of "
             "curvature, and to an eighth of the size; 0 keeps one size at the surface."),
    MN_TOGGLE("features", "Keep Features", 1, "Mesh", NULL,
              "Moves vertices onto sharp edges and corners, which filling alone cuts off, as far as the "
              "angles allow."),
    MN_FLOAT("quality", "Quality", "", 0.35, 0, 0.99, 0, 0.7, "Mesh", NULL,
             "Tetrahedra below this volume-length ratio are improved afterwards; 0 leaves them as the "
             "filling made them, with "
             "angles between 10.7 and 164.8 degrees."),
    MN_INT("max_tets", "Maximum Tetrahedra", "", 20000000, 1, 500000000, 1000, 20000000, "Mesh", NULL,
           "A size that would make more than this is an error instead of a long wait."),
};

static const mn_input_def inputs_of[] = {{"Surface", "closed polygons or a level set VDB", true, false}};
static const mn_output_def outputs_of[] = {
    {"Tetrahedra", "tetrahedra with rest and the v and Cd of polygons (point), rest_volume and quality "
                   "(primitive) and statistics as detail attributes"}};

/// What is filled: a level set, or the exact distance to polygons.
typedef struct solid {
    mn_volume volume;
    mn_mesh_region mesh;
} solid;

static void solid_free(solid *s)
{
    mn_volume_release(&s->volume);
    mn_mesh_region_free(&s->mesh);
}

/// Refuses what has no inside; *clean says whether the distance has a sign everywhere.
static mn_status check_polygons(const mn_cook *cook, const mn_geo *input, solid *s, bool *clean)
{
    int64_t open = 0, point = -1, crossings = 0, crossing[2];
    for (int64_t i = 0; i < mn_geo_point_count(input); i++)
        if (!mn_is_finite3(mn_geo_position(input, i)))
            return mn_cook_fail(cook, MN_ERROR_INPUT,
                                "point %lld has a position that is not finite; remove it.", (long long)i);
    MN_TRY(mn_polygons_open_edges(input, &open, &point));
    if (open > 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the surface has %lld open edges, one at point %lld, so it has no inside; "
                            "close the holes or turn the polygons that face the wrong way.",
                            (long long)open, (long long)point);
    MN_TRY(mn_polygons_crossing(input, &crossings, crossing));
    if (crossings > 0)
        mn_cook_warn(cook,
                     "%lld pairs of polygons pass through each other, the first are %lld and %lld; what "
                     "lies inside any of them is filled.",
                     (long long)crossings, (long long)crossing[0], (long long)crossing[1]);
    mn_triangles *triangles;
    MN_TRY(mn_triangles_create_from_geo(cook->ctx, input, &triangles));
    *clean = crossings == 0 && mn_triangles_is_closed(triangles);
    mn_mesh_region_take(&s->mesh, triangles);
    return MN_OK;
}

static void fill_region(const mn_region *region, mn_tet_stuffing_def *def)
{
    def->level = region->distance, def->user = region->user, def->bounds = region->bounds;
}

/// Fills in how the def asks for distances: the level set of the input, the polygons themselves, or a level
/// set made from polygons that are crossed or doubled.
static mn_status find_solid(const mn_cook *cook, const mn_geo *input, mn_tet_stuffing_def *def, solid *s)
{
    mn_volume found = mn_geo_find_volume(input, "surface");
    if (!found.ops) found = mn_geo_find_volume(input, NULL);
    if (found.ops && mn_volume_get_info(found).kind == MN_VOLUME_LEVEL_SET) {
        s->volume = mn_volume_retain(found);
    } else {
        bool clean = false;
        if (mn_geo_kind_count(input, MN_POLYGON) == 0)
            return mn_cook_fail(cook, MN_ERROR_INPUT,
                                "the input holds neither polygons nor a level set; connect a closed surface "
                                "or a level set VDB.");
        MN_TRY(check_polygons(cook, input, s, &clean));
        if (clean) {
            fill_region(&s->mesh.region, def);
            return MN_OK;
        }
        if (!cook->services || !cook->services->mesh_to_level_set)
            return mn_cook_fail(
                cook, MN_ERROR_UNSUPPORTED,
                "this host cannot make level sets from polygons; connect a level set VDB instead.");
        // Half the size resolves the surface; a wide band lets graded tetrahedra grow.
        MN_TRY(cook->services->mesh_to_level_set(cook->services->user, cook->ctx, input,
                                                 def->size / (def->curvature_refine > 0 ? 8 : 2),
                                                 def->gradation > 0 ? 20 : 4, "surface", &s->volume));
    }
    const mn_region region = mn_level_set_region(&s->volume);
    fill_region(&region, def);
    if (mn_box_is_empty(region.bounds))
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the level set '%s' is empty.",
                            mn_volume_get_info(s->volume).name);
    return MN_OK;
}

/// Twelve tetrahedra to a cube of the lattice, where all are of one size: what cannot fit is refused before
/// the lattice is made.
static mn_status check_count(const mn_cook *cook, const mn_tet_stuffing_def *def, const solid *s)
{
    if (def->gradation > 0 || def->curvature_refine > 0 || !s->mesh.mesh) return MN_OK;
    const double count = 12 * s->mesh.volume / (def->size * def->size * def->size),
                 most = (double)def->max_tets;
    if (count <= 1.1 * most) return MN_OK;
    return mn_cook_fail(
        cook, MN_ERROR_ARGUMENT,
        "a size of %g m makes about %.3g tetrahedra; max_tets allows %.3g. Use a size above %.2g m.",
        def->size, count, most, def->size * cbrt(count / most));
}

static mn_status add_attributes(mn_tet_mesh *mesh)
{
    mn_tet_field *rest, *volume, *quality;
    MN_TRY(mn_tet_mesh_add_field(mesh, "rest", MN_TET_LINEAR, 3, &rest));
    MN_TRY(mn_tet_mesh_add_field(mesh, "rest_volume", MN_TET_AMOUNT, 1, &volume));
    MN_TRY(mn_tet_mesh_add_field(mesh, "quality", MN_TET_VALUE, 1, &quality));
    rest = mn_tet_mesh_find_field(mesh, "rest");
    volume = mn_tet_mesh_find_field(mesh, "rest_volume");
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        memcpy(&rest->data[3 * (int64_t)v], &mesh->position[v], sizeof(mn_vec3));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        if (mn_tet_alive(mesh, t)) volume->data[t] = mn_tet_mesh_tet_volume(mesh, t);
    return mn_tet_mesh_quality_sweep(mesh, quality->data);
}

static mn_status add_statistics(mn_geo *geo, const mn_tet_mesh *mesh, const mn_tet_stuffing *filled)
{
    mn_tet_quality_report report;
    MN_TRY(mn_tet_mesh_quality(mesh, &report));
    const char *const names[] = {"worst_quality", "mean_quality",  "smallest_dihedral", "largest_dihedral",
                                 "volume",        "lost_features", "lost_gaps"};
    const double values[] = {report.worst_quality,     report.mean_quality, report.smallest_dihedral,
                             report.largest_dihedral,  report.volume,       (double)filled->lost_features,
                             (double)filled->lost_gaps};
    for (int32_t i = 0; i < MN_COUNT_OF(names); i++) {
        mn_attribute *attribute;
        MN_TRY(mn_geo_add_attribute(geo, MN_DETAIL, names[i], MN_F64, 1, MN_HINT_NONE, &attribute));
        MN_TRY(mn_attribute_set(geo, attribute, 0, 1, &values[i]));
    }
    return MN_OK;
}

// What solvers of tetrahedra start from, and what only marks the surface is not.
static bool is_carried(const mn_attribute *attribute)
{
    const char *name = mn_attribute_name(attribute);
    return (strcmp(name, "v") == 0 || strcmp(name, "Cd") == 0) && mn_attribute_size(attribute) == 3;
}

static mn_status carry(const mn_cook *cook, const mn_geo *input, const solid *s, mn_geo *geo)
{
    const int64_t count = mn_geo_point_count(geo);
    MN_ARRAY(mn_vec3) x = {0};
    if (!s->mesh.mesh) return MN_OK;
    mn_status status = mn_array_resize(cook->ctx, &x, count);
    for (int64_t i = 0; i < count && status == MN_OK; i++) x.data[i] = mn_geo_position(geo, i);
    if (status == MN_OK)
        status = mn_mesh_transfer(cook->ctx, input, s->mesh.mesh, count, x.data, is_carried, geo);
    mn_array_free(cook->ctx, &x);
    return status;
}

static mn_status make_mesh(const mn_cook *cook, const mn_tet_stuffing_def *def, mn_tet_stuffing *filled,
                           mn_tet_mesh **mesh)
{
    MN_TRY(mn_tet_stuff(cook->ctx, def, filled));
    if (filled->tets.count == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "nothing of the surface is thick enough for a size of %g m; use a smaller size.",
                            def->size);
    if (filled->lost_features + filled->lost_gaps > 0)
        mn_cook_warn(
            cook,
            "the size of %g m is too large in %lld places where material is thin and may be torn or lost, "
            "and in %lld where a gap is thin and may be closed, the first near (%g, %g, %g); use a smaller "
            "size.",
            def->size, (long long)filled->lost_features, (long long)filled->lost_gaps, filled->first_lost.x,
            filled->first_lost.y, filled->first_lost.z);
    MN_TRY(mn_tet_mesh_build(cook->ctx, filled->positions.count, filled->positions.data, filled->tets.count,
                             (const int32_t(*)[4])filled->tets.data, mesh));
    mn_tet_remesh_def remesh = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_fit_report fitted;
    mn_tet_manifold_report manifold;
    if (mn_cook_toggle(cook, "features")) MN_TRY(mn_tet_mesh_fit(*mesh, def, 0.15, &fitted));
    MN_TRY(mn_tet_mesh_make_manifold(*mesh, &manifold));
    remesh.quality = mn_cook_float(cook, "quality");
    if (remesh.quality > 0) MN_TRY(mn_tet_remesh(*mesh, &remesh, &report));
    return add_attributes(*mesh);
}

static mn_status cook_tetrahedralize(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    mn_tet_stuffing_def def = mn_tet_stuffing_default_def();
    solid shape = {0};
    mn_tet_stuffing filled = {0};
    mn_tet_mesh *mesh = NULL;
    mn_geo *geo = NULL;
    def.size = mn_cook_float(cook, "size");
    def.gradation = mn_cook_float(cook, "gradation");
    def.curvature_refine = mn_cook_float(cook, "curvature_refine");
    def.max_tets = mn_cook_int(cook, "max_tets");
    mn_status status = find_solid(cook, input, &def, &shape);
    if (status == MN_OK) status = check_count(cook, &def, &shape);
    if (status == MN_OK) status = make_mesh(cook, &def, &filled, &mesh);
    if (status == MN_OK) status = mn_tet_mesh_to_geo(mesh, NULL, &geo);
    if (status == MN_OK) status = carry(cook, input, &shape, geo);
    if (status == MN_OK) status = add_statistics(geo, mesh, &filled);
    mn_tet_mesh_free(mesh);
    mn_tet_stuffing_free(cook->ctx, &filled);
    solid_free(&shape);
    if (status != MN_OK) {
        mn_geo_free(geo);
        return status;
    }
    outputs[0] = geo;
    return MN_OK;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_tetrahedralize, outputs);
}

const mn_node_type mn_tetrahedralize_node = {
    .name = "tetrahedralize",
    .label = "Meniscus Tetrahedralize",
    .menu = "Meniscus/Geometry",
    .help = "Fills a closed surface or a level set with tetrahedra of guaranteed angles.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
