// SPDX-License-Identifier: Apache-2.0
//
// tet_remesh: improves any tetrahedral mesh locally.
#include "meniscus/tetmesh.h"
#include "nodes/parm.h"
#include "tetmesh/geo.h"
#include "tetmesh/quality.h"
#include "tetmesh/remesh.h"
#include "tetmesh/resample.h"

static const mn_parm_def parms[] = {
    MN_FLOAT(
        "quality", "Quality", "", 0.35, 0, 0.99, 0, 0.7, "Remesh", NULL,
        "Tetrahedra below this volume-length ratio are repaired; the rest is not touched. A regular tetrahedron has 1."),
    MN_FLOAT("min_edge", "Minimum Edge", "m", 0, 0, 1e6, 0, 0.05, "Remesh", NULL,
             "Shorter edges are contracted; 0 for none."),
    MN_FLOAT("max_edge", "Maximum Edge", "m", 0, 0, 1e6, 0, 0.05, "Remesh", NULL,
             "Longer edges are split; 0 for none, otherwise at least 2.5 times the minimum."),
    MN_INT("max_tets", "Maximum Tetrahedra", "", 20000000, 1, 500000000, 1000, 20000000, "Remesh", NULL,
           "A maximum edge that would make more than this is an error instead of a long wait."),
    MN_TOGGLE("repair", "Repair", 1, "Remesh", NULL,
              "Turns inverted tetrahedra and leaves out flat and duplicate ones before remeshing. Off, "
              "inverted ones are untangled "
              "where they are, as after a simulation step that went too far."),
    MN_TOGGLE("fixed_surface", "Fixed Surface", 0, "Surface", NULL,
              "Leaves every face of the surface as it is."),
    MN_FLOAT("feature_angle", "Feature Angle", "deg", 72.5, 1, 179, 10, 120, "Surface",
             "{ fixed_surface == 1 }",
             "Faces that meet at more than this angle form a sharp edge, which is kept."),
    MN_FLOAT("surface_band", "Surface Band", "", 0.1, 0, 0.5, 0, 0.3, "Surface", "{ fixed_surface == 1 }",
             "How far the surface may move, as a fraction of the local edge length."),
};

static const mn_input_def inputs_of[] = {{"Tetrahedra", "tetrahedra", true, false}};
static const mn_output_def outputs_of[] = {
    {"Tetrahedra", "the improved tetrahedra with all attributes, and statistics as detail attributes"}};

static mn_status put_detail(mn_geo *geo, const char *name, double value)
{
    mn_attribute *attribute;
    MN_TRY(mn_geo_add_attribute(geo, MN_DETAIL, name, MN_F64, 1, MN_HINT_NONE, &attribute));
    return mn_attribute_set(geo, attribute, 0, 1, &value);
}

static mn_status add_statistics(mn_geo *geo, const mn_tet_mesh *mesh, const mn_tet_remesh_report *report)
{
    mn_tet_quality_report quality;
    MN_TRY(mn_tet_mesh_quality(mesh, &quality));
    MN_TRY(put_detail(geo, "worst_quality", quality.worst_quality));
    MN_TRY(put_detail(geo, "mean_quality", quality.mean_quality));
    MN_TRY(put_detail(geo, "smallest_dihedral", quality.smallest_dihedral));
    MN_TRY(put_detail(geo, "largest_dihedral", quality.largest_dihedral));
    MN_TRY(put_detail(geo, "bad_before", (double)report->bad_before));
    MN_TRY(put_detail(geo, "bad_after", (double)report->bad_after));
    for (int32_t i = 0; i < MN_TET_OP_COUNT; i++)
        MN_TRY(put_detail(geo, mn_tet_operation_name((mn_tet_operation)i), (double)report->operations[i]));
    return MN_OK;
}

/// quality as it is now, unless the input uses that name for something else.
static mn_status write_quality(mn_tet_mesh *mesh)
{
    mn_tet_field *quality = mn_tet_mesh_find_field(mesh, "quality");
    if (quality && (quality->kind != MN_TET_VALUE || quality->size != 1)) return MN_OK;
    MN_TRY(mn_tet_mesh_add_field(mesh, "quality", MN_TET_VALUE, 1, &quality));
    return mn_tet_mesh_quality_sweep(mesh, quality->data);
}

static void warn_of(const mn_cook *cook, const mn_tet_repairs *repairs, const mn_tet_remesh_report *report)
{
    if (repairs->turned + repairs->flat + repairs->duplicates > 0)
        mn_cook_warn(cook,
                     "Repaired the input: %lld inverted tetrahedra turned, %lld flat and %lld duplicate "
                     "ones left out, the first is primitive %lld.",
                     (long long)repairs->turned, (long long)repairs->flat, (long long)repairs->duplicates,
                     (long long)repairs->first);
    if (report->bad_after > 0)
        mn_cook_warn(
            cook, "%lld tetrahedra stay below the quality: %lld lie between surface vertices, %lld inside.",
            (long long)report->bad_after, (long long)report->left_on_surface, (long long)report->left_inside);
}

/// Tetrahedra no longer than max_edge fill the mesh: at best regular ones, of volume edge^3 / (6 sqrt 2).
static mn_status check_count(const mn_cook *cook, const mn_tet_mesh *mesh, double max_edge)
{
    const double most = (double)mn_cook_int(cook, "max_tets");
    const double volume = fabs(mn_tet_mesh_volume(mesh)); // inverted ones are few
    const double regular = max_edge * max_edge * max_edge / (6 * sqrt(2));
    const double count = max_edge > 0 ? volume / regular : 0;
    if (count <= most) return MN_OK;
    return mn_cook_fail(
        cook, MN_ERROR_ARGUMENT,
        "max_edge %g m would need at least %.3g tetrahedra; max_tets allows %.3g. Use max_edge above "
        "%.2g m.",
        max_edge, count, most, max_edge * cbrt(count / most));
}

static mn_status cook_tet_remesh(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    mn_tet_remesh_def def = mn_tet_remesh_default_def();
    mn_tet_remesh_report report;
    mn_tet_repairs repairs;
    mn_tet_resample_report resampled;
    const mn_tet_resample_def names = {.velocity = NULL};
    mn_tet_mesh *mesh = NULL, *before = NULL;
    mn_geo *geo = NULL;
    def.quality = mn_cook_float(cook, "quality");
    def.min_edge = mn_cook_float(cook, "min_edge");
    def.max_edge = mn_cook_float(cook, "max_edge");
    def.fixed_surface = mn_cook_toggle(cook, "fixed_surface");
    def.feature_angle = mn_cook_float(cook, "feature_angle");
    def.surface_band = mn_cook_float(cook, "surface_band");
    if (mn_geo_kind_count(input, MN_TETRAHEDRON) == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the input holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY(mn_tet_mesh_from_geo(input, mn_cook_toggle(cook, "repair"), &mesh, &repairs));
    mn_status status;
    MN_TRY_TO(done, status, check_count(cook, mesh, def.max_edge));
    MN_TRY_TO(done, status, mn_tet_mesh_copy(mesh, &before));
    MN_TRY_TO(done, status, mn_tet_remesh(mesh, &def, &report));
    if (report.inverted_after > 0) {
        status = mn_cook_fail(cook, MN_ERROR_INPUT,
                              "%lld inverted tetrahedra could not be untangled, the worst is at vertex %d.",
                              (long long)report.inverted_after, mesh->tet[report.first_left][0]);
        goto done;
    }
    // Element values from overlaps need a valid mesh to take them from.
    if (report.worst_before > 0) MN_TRY_TO(done, status, mn_tet_resample(before, mesh, &names, &resampled));
    MN_TRY_TO(done, status, write_quality(mesh));
    MN_TRY_TO(done, status, mn_tet_mesh_to_geo(mesh, input, &geo));
    MN_TRY_TO(done, status, add_statistics(geo, mesh, &report));
    warn_of(cook, &repairs, &report);
done:
    mn_tet_mesh_free(mesh);
    mn_tet_mesh_free(before);
    if (status != MN_OK)
        mn_geo_free(geo);
    else
        outputs[0] = geo;
    return status;
}

const mn_node_type mn_tet_remesh_node = {
    .name = "tet_remesh",
    .label = "Meniscus Tet Remesh",
    .menu = "Meniscus/Geometry",
    .help = "Improves a tetrahedral mesh where it is bad and leaves the rest as it is.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_tet_remesh,
};
