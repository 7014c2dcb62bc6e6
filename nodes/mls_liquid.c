// SPDX-License-Identifier: Apache-2.0
//
// Closed polygons and points as volumes of liquid.
#include "nodes/mls_liquid.h"

#include "nodes/columns.h"
#include "nodes/materials.h"

#include <string.h>

static void mesh_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const mn_mls_body *b = user;
    for (int64_t i = 0; i < count; i++)
        distances[i] = b->facing * mn_triangles_signed_distance_at(b->mesh, positions[i]);
}

void mn_mls_body_take(mn_mls_body *b, mn_triangles *mesh)
{
    b->mesh = mesh;
    b->facing = mn_triangles_volume(mesh) < 0 ? -1 : 1;
    b->region = (mn_region){b, mesh_distances, mn_triangles_bounds(mesh)};
}

mn_status mn_mls_body_open(const mn_cook *cook, const mn_geo *geo, const char *what, mn_mls_body *b)
{
    memset(b, 0, sizeof *b);
    if (!geo) return MN_OK;
    MN_TRY(mn_triangles_create_from_geo(cook->ctx, geo, &b->mesh));
    if (mn_triangles_count(b->mesh) == 0) {
        mn_mls_body_close(b);
        return MN_OK;
    }
    if (!mn_triangles_is_closed(b->mesh)) {
        (void)mn_triangles_require_closed(cook->ctx, b->mesh, what);
        mn_mls_body_close(b);
        return mn_cook_fail(cook, MN_ERROR_INPUT, "%s", mn_context_message(cook->ctx));
    }
    mn_mls_body_take(b, b->mesh);
    return MN_OK;
}

void mn_mls_body_close(mn_mls_body *b)
{
    mn_triangles_free(b->mesh);
    b->mesh = NULL;
}

/// What is added, and the memory it lies in.
typedef struct liquid_arrays {
    mn_mls_body body;
    mn_vec3_array positions, velocities;
    MN_ARRAY(double) mass;
    mn_mls_liquid liquid;
} liquid_arrays;

// Velocities are those of the nearest corner of the mesh's surface, as a blend of its triangle.
static mn_status paint_velocities(const mn_cook *cook, const mn_geo *geo, liquid_arrays *a)
{
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    MN_TRY(mn_array_resize(cook->ctx, &a->velocities, a->positions.count));
    for (int64_t i = 0; i < a->positions.count; i++) {
        mn_mesh_point near;
        mn_vec3 sum = {0}, corner;
        a->velocities.data[i] = sum;
        if (!v || !mn_triangles_closest(a->body.mesh, a->positions.data[i], INFINITY, &near)) continue;
        for (int k = 0; k < 3; k++) {
            mn_attribute_get(v, near.vertices[k], 1, &corner.x);
            sum = mn_axpy(sum, near.weights[k], corner);
        }
        a->velocities.data[i] = sum;
    }
    a->liquid.velocity = a->velocities.data;
    return MN_OK;
}

static mn_status fill_mesh(const mn_cook *cook, const mn_geo *geo, double dx, double density,
                           liquid_arrays *a)
{
    mn_fill_def def = mn_fill_default_def();
    def.dx = dx;
    MN_TRY(mn_fill(cook->ctx, &def, &a->body.region, &a->positions));
    MN_TRY(paint_velocities(cook, geo, a));
    const int64_t count = a->positions.count;
    const double mass = density * fabs(mn_triangles_volume(a->body.mesh)) / (double)(count > 0 ? count : 1);
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

mn_status mn_mls_liquid_add(const mn_cook *cook, const mn_geo *geo, double dx, double density, mn_mls *mls)
{
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    liquid_arrays a;
    memset(&a, 0, sizeof a);
    mn_status status = mn_mls_body_open(cook, geo, "the liquid", &a.body);
    if (status == MN_OK)
        status = a.body.mesh ? fill_mesh(cook, geo, dx, density, &a) : read_points(cook, geo, density, &a);
    if (status == MN_OK) status = mn_mls_add_liquid(mls, &a.liquid);
    mn_mls_body_close(&a.body);
    mn_array_free(cook->ctx, &a.positions);
    mn_array_free(cook->ctx, &a.velocities);
    mn_array_free(cook->ctx, &a.mass);
    return status;
}
