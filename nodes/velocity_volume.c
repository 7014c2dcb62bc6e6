// SPDX-License-Identifier: Apache-2.0
//
// velocity_volume: the velocity of particles or tetrahedra as a volume named vel.
#include "nodes/bake.h"
#include "nodes/columns.h"
#include "nodes/group.h"
#include "sources/velocity_grid.h"

enum { VOXEL_LIMIT = 1 << 26 };

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Whose velocity is taken", "Volume"),
    MN_FLOAT(
        "dx", "Voxel Size", "m", 0, 0, 1e6, 0, 0.01, "Volume", NULL,
        "Edge of a voxel; 0 takes three times the mean pscale of the points, or a 64th of the longest side. "
        "Use about the solver's dx."),
    MN_INT("extend", "Extend", "voxel", 2, 0, 64, 0, 8, "Volume", NULL,
           "How far the volume reaches beyond the liquid, so that points at its surface are carried too."),
};

static const mn_input_def inputs_of[] = {
    {"Liquid", "points with v from mpm_solver or mls_solver, or tetrahedra with v from tet_solver", true,
     false}};
static const mn_output_def outputs_of[] = {{"Velocity", "a volume named vel, in m/s"}};

static double voxel_size(const mn_cook *cook, const mn_geo *geo, mn_box box)
{
    const double given = mn_cook_float(cook, "dx");
    const int64_t count = mn_geo_point_count(geo);
    const mn_vec3 e = mn_sub(box.max, box.min);
    double sum = 0;
    if (given > 0) return given;
    for (int64_t i = 0; i < count; i++) sum += mn_column_number(geo, "pscale", i, 0);
    return sum > 0 ? 3 * sum / (double)count : fmax(e.x, fmax(e.y, e.z)) / 64;
}

static void add_tetrahedra(const mn_geo *geo, const mn_vec3 *v, mn_velocity_grid *grid)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        mn_vec3 x[4], u[4];
        if (kinds[p] != MN_TETRAHEDRON) continue;
        for (int k = 0; k < 4; k++) {
            const int64_t point = points[starts[p] + k];
            x[k] = mn_geo_position(geo, point), u[k] = v[point];
        }
        mn_velocity_grid_add_tetrahedron(grid, x, u);
    }
}

static mn_status fill_grid(const mn_cook *cook, const mn_geo *geo, const mn_vec3 *v, mn_velocity_grid *grid)
{
    const int32_t extend = (int32_t)mn_cook_int(cook, "extend");
    const mn_box box = mn_geo_bounds(geo);
    MN_TRY(mn_velocity_grid_open(grid, cook->ctx, box, voxel_size(cook, geo, box), extend + 1, VOXEL_LIMIT));
    if (mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0)
        add_tetrahedra(geo, v, grid);
    else
        for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
            mn_velocity_grid_add_point(grid, mn_geo_position(geo, i), v[i],
                                       mn_column_number(geo, "mass", i, 1));
    return mn_velocity_grid_finish(grid, extend);
}

static void value_at(void *user, mn_vec3 x, double *values)
{
    const mn_vec3 v = mn_velocity_grid_at(user, x);
    values[0] = v.x, values[1] = v.y, values[2] = v.z;
}

static mn_status cook_volume(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    mn_velocity_grid grid = {.ctx = cook->ctx, .dx = 1};
    mn_vec3_array velocities = {0};
    const mn_vec3 *v = NULL;
    mn_origin_array origins = {0};
    mn_volume volume = {0};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(out, status, mn_column_read_vec3(cook->ctx, input, "v", &velocities, &v));
    if (mn_geo_point_count(input) > 0 && !v) {
        status = mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "the input has no point attribute v; connect the particles or tetrahedra of a solver.");
        goto out;
    }
    if (mn_geo_point_count(input) > 0) {
        MN_TRY_TO(out, status, fill_grid(cook, input, v, &grid));
        const mn_box box = {
            mn_scale(grid.dx, mn_v3((double)grid.low[0], (double)grid.low[1], (double)grid.low[2])),
            mn_scale(grid.dx,
                     mn_v3((double)(grid.low[0] + grid.count[0]), (double)(grid.low[1] + grid.count[1]),
                           (double)(grid.low[2] + grid.count[2])))};
        MN_TRY_TO(out, status, mn_bake_blocks(cook, box, grid.dx, &origins));
    }
    MN_TRY_TO(out, status, mn_bake(cook, "vel", 3, grid.dx, &origins, value_at, &grid, &volume));
    MN_TRY_TO(out, status, mn_geo_create(cook->ctx, &geo));
    MN_TRY_TO(out, status, mn_geo_add_volume(geo, volume, -1, NULL));
    outputs[0] = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_volume_release(&volume);
    mn_velocity_grid_close(&grid);
    mn_array_free(cook->ctx, &velocities);
    mn_array_free(cook->ctx, &origins);
    return status;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_volume, outputs);
}

const mn_node_type mn_velocity_volume_node = {
    .name = "velocity_volume",
    .label = "Meniscus Velocity Volume",
    .menu = "Meniscus/Geometry",
    .help = "Turns the velocity of particles or tetrahedra into a volume that carries points and smoke.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
