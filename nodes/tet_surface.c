// SPDX-License-Identifier: Apache-2.0
//
// tet_surface: the boundary of tetrahedra as polygons.
#include "meniscus/tetmesh.h"
#include "mesh/subdivide.h"
#include "nodes/group.h"
#include "tetmesh/geo.h"

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Whose surface is taken", "Surface"),
    MN_INT("subdivide", "Subdivide", "", 0, 0, 4, 0, 3, "Surface", NULL,
           "How many times every triangle is divided into four, smoothly; the volume stays."),
};

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
    mn_geo *skin = NULL;
    mn_status status = mn_tet_mesh_boundary_to_geo(mesh, input, &skin);
    mn_tet_mesh_free(mesh);
    if (status != MN_OK) return status;
    const int32_t levels = (int32_t)mn_cook_int(cook, "subdivide");
    if (levels == 0) {
        outputs[0] = skin;
        return MN_OK;
    }
    status = mn_geo_subdivide(skin, levels, outputs);
    mn_geo_free(skin);
    return status;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_tet_surface, outputs);
}

const mn_node_type mn_tet_surface_node = {
    .name = "tet_surface",
    .label = "Meniscus Tet Surface",
    .menu = "Meniscus/Geometry",
    .help = "Takes the surface of a tetrahedral mesh as polygons.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
