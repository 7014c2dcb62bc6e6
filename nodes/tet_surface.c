// SPDX-License-Identifier: Apache-2.0
//
// tet_surface: the boundary of tetrahedra as polygons.
#include "nodes/parm.h"

static const mn_input_def inputs_of[] = {{"Tetrahedra", "tetrahedra", true, false}};
static const mn_output_def outputs_of[] = {
    {"Polygons", "triangles that face out, with the tetrahedra's point and primitive attributes"}};

static mn_status cook_tet_surface(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    mn_tet_repairs repairs;
    mn_tet_mesh *mesh = NULL;
    if (mn_geo_kind_count(input, MN_TETRAHEDRON) == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the input holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY(mn_tet_mesh_from_geo(input, true, &mesh, &repairs));
    const mn_status status = mn_tet_mesh_boundary_to_geo(mesh, input, outputs);
    mn_tet_mesh_free(mesh);
    return status;
}

const mn_node_type mn_tet_surface_node = {
    .name = "tet_surface",
    .label = "Meniscus Tet Surface",
    .menu = "Meniscus/Geometry",
    .help = "Takes the surface of a tetrahedral mesh as polygons.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .cook = cook_tet_surface,
};
