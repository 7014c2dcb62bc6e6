// SPDX-License-Identifier: Apache-2.0
//
// Closed polygons and points as volumes of liquid.
#include "nodes/codim_liquid.h"

#include "nodes/columns.h"
#include "nodes/materials.h"

#include <string.h>

mn_status mn_input_mesh_region(const mn_cook *cook, const mn_geo *geo, const char *what, mn_mesh_region *b)
{
    mn_triangles *mesh;
    memset(b, 0, sizeof *b);
    if (!geo) return MN_OK;
    MN_TRY(mn_triangles_create_from_geo(cook->ctx, geo, &mesh));
    if (mn_triangles_count(mesh) > 0 && mn_triangles_is_closed(mesh)) {
        mn_mesh_region_take(b, mesh);
        return MN_OK;
    }
    const bool empty = mn_triangles_count(mesh) == 0;
    if (!empty) (void)mn_triangles_require_closed(cook->ctx, mesh, what);
    mn_triangles_free(mesh);
    return empty ? MN_OK : mn_cook_fail(cook, MN_ERROR_INPUT, "%s", mn_context_message(cook->ctx));
}

/// What is added, and the memory it lies in.
typedef struct liquid_arrays {
    mn_mesh_region body;
    mn_vec3_array positions, velocities;
    MN_ARRAY(double) mass;
    mn_codim_liquid liquid;
} liquid_arrays;

static mn_status fill_mesh(const mn_cook *cook, const mn_geo *geo, double dx, double density,
                           liquid_arrays *a)
{
    mn_fill_def def = mn_fill_default_def();
    def.dx = dx;
    MN_TRY(mn_fill(cook->ctx, &def, &a->body.region, &a->positions));
    const int64_t count = a->positions.count;
    const double mass = density * a->body.volume / (double)(count > 0 ? count : 1);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    if (v) {
        MN_TRY(mn_array_resize(cook->ctx, &a->velocities, count));
        mn_mesh_paint_vec3(a->body.mesh, v, count, a->positions.data, a->velocities.data);
        a->liquid.velocity = a->velocities.data;
    }
    MN_TRY(mn_array_resize(cook->ctx, &a->mass, count));
    for (int64_t i = 0; i < count; i++) a->mass.data[i] = mass;
    a->liquid.count = count, a->liquid.position = a->positions.data;
    a->liquid.mass = a->mass.data, a->liquid.region = &a->body.region;
    return MN_OK;
}

static mn_status read_points(const mn_cook *cook, const mn_geo *geo, double density, liquid_arrays *a)
{
    const int64_t count = mn_geo_point_count(geo);
    if (!mn_geo_find_numeric(geo, MN_POINT, "mass", 1) && !mn_geo_find_numeric(geo, MN_POINT, "volume", 1))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the liquid has no polygons, and its points have no mass; connect a closed mesh, "
                            "or points from a fill.");
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &a->positions, &a->liquid.position));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &a->velocities, &a->liquid.velocity));
    MN_TRY(mn_array_resize(cook->ctx, &a->mass, count));
    for (int64_t i = 0; i < count; i++) {
        const double mass = mn_column_number(geo, "mass", i, 0);
        // What a fill leaves to the solver has its density.
        a->mass.data[i] = mass != 0 ? mass : density * mn_column_number(geo, "volume", i, 0);
    }
    mn_material_compare(cook, geo);
    a->liquid.count = count, a->liquid.mass = a->mass.data;
    return MN_OK;
}

mn_status mn_codim_liquid_add(const mn_cook *cook, const mn_geo *geo, double dx, double density,
                              mn_codim *mls)
{
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    liquid_arrays a;
    memset(&a, 0, sizeof a);
    mn_status status = mn_input_mesh_region(cook, geo, "the liquid", &a.body);
    if (status == MN_OK)
        status = a.body.mesh ? fill_mesh(cook, geo, dx, density, &a) : read_points(cook, geo, density, &a);
    if (status == MN_OK) status = mn_codim_add_liquid(mls, &a.liquid);
    mn_mesh_region_free(&a.body);
    mn_array_free(cook->ctx, &a.positions);
    mn_array_free(cook->ctx, &a.velocities);
    mn_array_free(cook->ctx, &a.mass);
    return status;
}
