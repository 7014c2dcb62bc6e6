// SPDX-License-Identifier: Apache-2.0
//
// Where the skin crosses the lines between cell centres, and how grid and skin see each other there: J, whose
// row for a crossing holds the weights of the skin's points around it.
//
// The weights are balanced: each row sums to one, so that a crossing moves with a skin that moves as one; and
// each column, times the faces' areas, sums to the point's area vector d(volume)/dx. So uniform pressure
// pushes each point with just what surface tension pushes back on a round drop, and the volume inside the
// skin grows by what flows through the crossings.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256, BALANCE_PASSES = 8, HALVINGS = 12 };
static const double LEAST_YIELD = 0.2; // of the weights, on points that are not fixed
static const double NEAR_SOLID = 2.5;  // dx, from a cell's lowest corner
static const double LEAST_THETA = 0.1; // where air begins without a skin
static const double SAME_SIDE = 0.1;   // least cosine between normals of one side of a sheet

typedef struct around {
    const mn_codim_volume *volume;
    mn_codim_volume_crossing *row;
    mn_vec3 normal;
} around;

static void add_point(void *user, int32_t point, double distance2)
{
    around *a = user;
    mn_codim_volume_crossing *row = a->row;
    const mn_codim_volume *v = a->volume;
    const double r2 = v->set.radius * v->set.radius;
    const mn_vec3 n = v->hull.outward.data[point];
    const double facing = row->side > 0 ? mn_component(n, row->axis) : -mn_component(n, row->axis);
    if (mn_dot(n, a->normal) < SAME_SIDE || !(facing > 0)) return;
    if (row->count == MN_CODIM_VOLUME_ROW_MAX || !(distance2 < r2)) return;
    if (v->hull.wet.data[point] && v->hull.fixed.data[point]) return; // it lies on a solid
    const double w = 1 - distance2 / r2;
    row->point[row->count] = point;
    row->weight[row->count++] = w * w * facing * fmax(v->hull.surface.area.data[point], 1e-3 * r2);
}

static void normalize(mn_codim_volume_crossing *row)
{
    double sum = 0;
    for (int32_t k = 0; k < row->count; k++) sum += row->weight[k];
    for (int32_t k = 0; k < row->count; k++) row->weight[k] /= sum;
}

static mn_status row_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
        const int32_t cell = v->grid.liquid.data[row->unknown];
        const double theta = row->mass, way = row->side > 0 ? theta : -theta;
        const mn_vec3 at =
            mn_add(mn_codim_volume_cell_center(v, cell), mn_codim_volume_along(row->axis, way * v->set.dx));
        const int32_t nearest = mn_neighbours_nearest(v->hull.surface.neighbours, at, INFINITY);
        row->count = 0;
        row->mass = v->set.density * fabs(row->side) * theta * v->set.dx;
        if (nearest < 0) continue;
        around a = {v, row, v->hull.outward.data[nearest]};
        mn_neighbours_visit(v->hull.surface.neighbours, at, v->set.radius, add_point, &a);
        if (row->count == 0) row->point[0] = nearest, row->weight[0] = 1, row->count = 1;
        normalize(row);
    }
    return MN_OK;
}

// d(volume)/dx of a point of the skin, as far as it is not on a solid.
static mn_vec3 area_vector(const mn_codim_volume *v, int64_t p)
{
    const mn_codim_film_fan *fan = &v->hull.surface.fans.data[p];
    const mn_vec3 *x = v->hull.x0.data;
    mn_vec3 sum = {0};
    for (int32_t i = 0; i < fan->count; i++)
        if (!mn_codim_volume_is_wet_triangle(v, p, i))
            sum = mn_add(sum, mn_cross(mn_sub(x[fan->pair[i][0]], x[p]), mn_sub(x[fan->pair[i][1]], x[p])));
    return mn_scale(1.0 / 6, sum);
}

// Moves the weights toward columns that sum to the points' area vectors, with rows that sum to one.
static mn_status balance_rows(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->coupling.component, 3 * v->skin.count));
    double *sum = v->coupling.component.data;
    for (int32_t pass = 0; pass < BALANCE_PASSES; pass++) {
        memset(sum, 0, mn_bytes(3 * v->skin.count, sizeof *sum));
        for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
            const mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
            for (int32_t k = 0; k < row->count; k++)
                sum[3 * (int64_t)row->point[k] + row->axis] += row->side * row->weight[k];
        }
        for (int64_t p = 0; p < v->skin.count; p++) {
            const mn_vec3 area = area_vector(v, p);
            for (int32_t axis = 0; axis < 3; axis++) {
                const double factor = mn_component(area, axis) / sum[3 * p + axis];
                sum[3 * p + axis] = fmin(4, fmax(0.25, factor)); // also what is not a number
            }
        }
        for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
            mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
            for (int32_t k = 0; k < row->count; k++)
                row->weight[k] *= sum[3 * (int64_t)row->point[k] + row->axis];
            normalize(row);
        }
    }
    return MN_OK;
}

// Which part of the way to the next centre is liquid. By the distances from the skin; near a solid these are
// those from the skin on it, and where the liquid ends is looked for on the way itself.
static double liquid_part(const mn_codim_volume *v, int32_t cell, int32_t axis, int32_t up)
{
    const int32_t other = mn_codim_volume_beside(v, cell, axis, up);
    const double in = v->grid.phi.data[cell], out = other < 0 ? v->set.dx : fmax(0, v->grid.phi.data[other]);
    double low = 0, high = 1;
    if (!(v->grid.solid.data[cell] < NEAR_SOLID * v->set.dx)) return in / (in - out);
    for (int32_t k = 0; k < HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        const mn_vec3 way = mn_codim_volume_along(axis, (up ? middle : -middle) * v->set.dx);
        if (mn_codim_volume_holds(v, mn_add(mn_codim_volume_cell_center(v, cell), way)))
            low = middle;
        else
            high = middle;
    }
    return 0.5 * (low + high);
}

static mn_status list_crossings(mn_codim_volume *v)
{
    v->coupling.crossings.count = 0;
    MN_TRY(mn_array_resize(v->ctx, &v->coupling.cell_start, v->grid.liquid.count + 1));
    for (int32_t i = 0; i < (int32_t)v->grid.liquid.count; i++) {
        const int32_t cell = v->grid.liquid.data[i];
        v->coupling.cell_start.data[i] = v->coupling.crossings.count;
        for (int32_t axis = 0; axis < 3; axis++)
            for (int32_t up = 0; up < 2; up++) {
                const int64_t f = mn_codim_volume_face(v, cell, axis, up);
                if (f < 0 || v->grid.kind.data[f] != FACE_SKIN) continue;
                const double theta = fmin(1, fmax(1e-3, liquid_part(v, cell, axis, up)));
                const double side = v->grid.open.data[f] * v->set.dx * v->set.dx;
                const mn_codim_volume_crossing crossing = {
                    .face = (int32_t)f, .unknown = i, .axis = axis, .side = up ? side : -side, .mass = theta};
                MN_TRY(mn_array_push(v->ctx, &v->coupling.crossings, &crossing));
            }
    }
    v->coupling.cell_start.data[v->grid.liquid.count] = v->coupling.crossings.count;
    return MN_OK;
}

mn_status mn_codim_volume_cross(mn_codim_volume *v)
{
    MN_TRY(list_crossings(v));
    MN_TRY(mn_parallel_for(v->ctx, v->coupling.crossings.count, GRAIN, row_range, v));
    MN_TRY(balance_rows(v));
    for (int64_t i = 0; i < v->coupling.crossings.count; i++) {
        mn_codim_volume_crossing *row = &v->coupling.crossings.data[i];
        const double full = v->set.density * fabs(row->side) * v->set.dx;
        double yields = 0;
        for (int32_t k = 0; k < row->count; k++)
            yields += v->hull.fixed.data[row->point[k]] ? 0 : row->weight[k];
        row->loose = yields < LEAST_YIELD;
        if (row->loose) row->mass = fmax(row->mass, LEAST_THETA * full);
    }
    return MN_OK;
}
