// SPDX-License-Identifier: Apache-2.0
//
// The grid of a step: its blocks, the distance from the skin at cell centres, what a solid leaves open of
// each face, and the bodies of liquid.
//
//   - A cell is liquid when its centre lies inside the skin: winding number above one half, so skins that
//     overlap are one liquid and holes are closed (topology.c). Inside a solid the liquid goes on as its
//     mirror image, so that the wall ends it and not the skin that lies against the wall.
//   - A face is open where the solid's distance is positive, with that distance linear on its two triangles.
#include "codim/volume/state.h"

#include "base/parallel.h"

#include <string.h>

enum { GRAIN = 256, REACH = 2, MIRRORS = 3, LAYER_HALVINGS = 6 }; // a corner has three walls
enum { NEAR_SKIN = 2, NEAR_DOUBT = 3 };                           // cells
static const double FARTHEST = 3;                                 // dx
static const double DEEPEST = 1; // dx, in a solid: no face of a cell whose centre is deeper is open
static const double LAYER = 0.15,
                    HIGHEST_LAYER = 0.75; // dx, above a solid: the thinnest layer, and cells it lies in
static const double LAYER_PHI = 1e-3;
static const double LEAST_OPEN = 0.01; // of a face

// ---- cells ----

static mn_status place_sites(mn_codim_volume *v)
{
    MN_TRY(mn_array_resize(v->ctx, &v->grid.sites, v->particles.count + v->skin.count));
    for (int64_t i = 0; i < v->particles.count; i++) v->grid.sites.data[i] = v->particles.data[i].position;
    for (int64_t i = 0; i < v->skin.count; i++)
        v->grid.sites.data[v->particles.count + i] = v->skin.data[i].position;
    return MN_OK;
}

// Blocks around particles and skin, and the particles in the order of their cells.
static mn_status build_blocks(mn_codim_volume *v)
{
    const mn_vec3 origin = mn_v3(0, 0, 0);
    MN_TRY(place_sites(v));
    MN_TRY(mn_blocks_build(v->grid.blocks, origin, v->set.dx,
                           mn_points_of(v->grid.sites.data, v->grid.sites.count), REACH, REACH));
    v->grid.table = mn_blocks_table(v->grid.blocks);
    v->grid.cells = v->grid.table.count * MN_BLOCK_CELLS;
    MN_TRY(mn_point_sort_run(v->grid.sort, v->grid.blocks,
                             mn_points_of(v->grid.sites.data, v->particles.count)));
    v->grid.sorted = mn_point_sort_result(v->grid.sort);
    MN_TRY(mn_array_resize(v->ctx, &v->spare, v->particles.count));
    for (int64_t i = 0; i < v->particles.count; i++)
        v->spare.data[i] = v->particles.data[v->grid.sorted.order[i]];
    const mn_codim_volume_particle_array swap = v->particles;
    v->particles = v->spare, v->spare = swap;
    return MN_OK;
}

static mn_status make_room(mn_codim_volume *v)
{
    mn_context *ctx = v->ctx;
    const int64_t cells = v->grid.cells;
    MN_TRY(mn_array_resize(ctx, &v->grid.next, 6 * cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.phi, cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.layer, cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.solid, cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.unknown, cells));
    mn_codim_double_array *faces[] = {&v->grid.open, &v->grid.wall, &v->grid.speed, &v->grid.before,
                                      &v->grid.weight};
    for (size_t i = 0; i < sizeof faces / sizeof faces[0]; i++)
        MN_TRY(mn_array_resize(ctx, faces[i], 3 * cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.kind, 3 * cells));
    MN_TRY(mn_array_resize(ctx, &v->grid.known, 3 * cells));
    return mn_array_resize(ctx, &v->grid.newly, 3 * cells);
}

static mn_status link_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t block = (int32_t)(i / MN_BLOCK_CELLS), at = (int32_t)(i % MN_BLOCK_CELLS);
        const int32_t x = at >> 4, y = (at >> 2) & 3, z = at & 3;
        int32_t *next = &v->grid.next.data[6 * i];
        for (int32_t up = 0; up < 2; up++) {
            next[up] = mn_block_reach(&v->grid.table, block, x + 2 * up - 1, y, z);
            next[2 + up] = mn_block_reach(&v->grid.table, block, x, y + 2 * up - 1, z);
            next[4 + up] = mn_block_reach(&v->grid.table, block, x, y, z + 2 * up - 1);
        }
    }
    return MN_OK;
}

// Marks the cells around points.
static void mark_around(const mn_codim_volume *v, int64_t count, const mn_vec3 *x, int32_t reach,
                        uint8_t *marks)
{
    const int32_t side = 2 * reach + 1;
    memset(marks, 0, (size_t)v->grid.cells);
    for (int64_t p = 0; p < count; p++) {
        const int32_t cell = mn_codim_volume_cell_at(v, x[p]);
        if (cell < 0 || marks[cell] == 2) continue; // 2: another point has been there
        const int32_t block = cell / MN_BLOCK_CELLS, c = cell % MN_BLOCK_CELLS;
        marks[cell] = 2;
        for (int32_t k = 0; k < side * side * side; k++) {
            const int32_t other =
                mn_block_reach(&v->grid.table, block, (c >> 4) + k / (side * side) - reach,
                               ((c >> 2) & 3) + k / side % side - reach, (c & 3) + k % side - reach);
            if (other >= 0 && !marks[other]) marks[other] = 1;
        }
    }
}

// `newly` marks the cells whose distance is measured: those near the skin, and near or in a solid or inflow.
// `known` marks, for the moment, those where the skin may have holes or overlap; everywhere, when it does.
static void mark_cells(mn_codim_volume *v)
{
    mark_around(v, v->skin.count, v->hull.x0.data, NEAR_SKIN, v->grid.newly.data);
    if (v->hull.overlaps)
        memset(v->grid.known.data, 1, (size_t)v->grid.cells);
    else
        mark_around(v, v->hull.doubts.count, v->hull.doubts.data, NEAR_DOUBT, v->grid.known.data);
}

// A skin without holes and overlaps has a sign at its nearest point; otherwise the winding number decides.
static double distance_at(const mn_codim_volume *v, mn_vec3 x, bool clean)
{
    return clean ? mn_triangles_signed_distance_at(v->hull.mesh, x) : mn_codim_volume_distance(v, x);
}

// Out of the solids, as often as a corner has walls; false deep inside.
static bool mirror(const mn_codim_volume *v, mn_vec3 *x)
{
    for (int32_t k = 0; k < MIRRORS; k++) {
        const mn_contact contact = mn_collider_probe(v->set.collider, v->set.before, *x);
        if (!(contact.distance < 0)) break;
        *x = mn_axpy(*x, -2 * contact.distance, contact.normal);
        if (contact.distance < -DEEPEST * v->set.dx) return false;
    }
    return true;
}

bool mn_codim_volume_holds(const mn_codim_volume *v, mn_vec3 x)
{
    return (!v->set.collider || mirror(v, &x)) && distance_at(v, x, v->hull.clean) < 0;
}

// A layer on a solid that does not reach the cell's centre, but covers the solid below it: the part of the
// way from the solid to the centre that is liquid; 0 where there is none.
static double layer_of(const mn_codim_volume *v, mn_vec3 center)
{
    const double dx = v->set.dx;
    const mn_contact contact = mn_collider_probe(v->set.collider, v->set.before, center);
    double low = LAYER * dx, high = contact.distance;
    if (!(high > LAYER * dx && high < HIGHEST_LAYER * dx)) return 0;
    if (!(distance_at(v, mn_axpy(center, low - contact.distance, contact.normal), v->hull.clean) < 0))
        return 0;
    for (int32_t k = 0; k < LAYER_HALVINGS; k++) {
        const double middle = 0.5 * (low + high);
        if (distance_at(v, mn_axpy(center, middle - contact.distance, contact.normal), v->hull.clean) < 0)
            low = middle;
        else
            high = middle;
    }
    return low / contact.distance;
}

static mn_status measure_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    const mn_collider *solid = v->set.collider;
    for (int64_t i = range.begin; i < range.end; i++) {
        const int32_t cell = (int32_t)i;
        mn_vec3 center = mn_codim_volume_cell_center(v, cell);
        bool within = true; // of reach of an open face
        v->grid.solid.data[i] = INFINITY;
        if (solid) {
            const mn_vec3 corner =
                mn_block_node_position(&v->grid.table, cell / MN_BLOCK_CELLS, cell % MN_BLOCK_CELLS);
            mn_collider_distance(solid, v->set.before, 1, &corner, &v->grid.solid.data[i]);
            const mn_vec3 before = center;
            within = mirror(v, &center);
            if (mn_norm2(mn_sub(center, before)) > 0) v->grid.newly.data[i] = 1;
        }
        const double inflow = mn_codim_volume_inflow_distance(v, center);
        v->grid.phi.data[i] = FARTHEST * v->set.dx;
        if (v->grid.newly.data[i] && within)
            v->grid.phi.data[i] =
                fmin(v->grid.phi.data[i], distance_at(v, center, v->hull.clean || !v->grid.known.data[i]));
        const bool may = solid && within && v->grid.newly.data[i] && v->grid.phi.data[i] > 0;
        v->grid.layer.data[i] = may ? layer_of(v, center) : 0;
        if (v->grid.layer.data[i] > 0)
            v->grid.phi.data[i] = -LAYER_PHI * v->set.dx;
        else
            v->grid.layer.data[i] = 1;
        if (inflow < 0) v->grid.phi.data[i] = fmin(v->grid.phi.data[i], inflow), v->grid.newly.data[i] = 1;
    }
    return MN_OK;
}

// What was not measured is as its neighbours are: it is reached from deep cells or it is not.
static mn_status flood_inside(mn_codim_volume *v)
{
    v->stack.count = 0;
    for (int32_t cell = 0; cell < v->grid.cells; cell++)
        if (v->grid.newly.data[cell] && v->grid.phi.data[cell] < 0)
            MN_TRY(mn_array_push(v->ctx, &v->stack, &cell));
    while (v->stack.count > 0) {
        const int32_t cell = v->stack.data[--v->stack.count];
        for (int32_t side = 0; side < 6; side++) {
            const int32_t other = v->grid.next.data[6 * (int64_t)cell + side];
            if (other < 0 || v->grid.newly.data[other]) continue;
            v->grid.newly.data[other] = 1;
            v->grid.phi.data[other] = -FARTHEST * v->set.dx;
            MN_TRY(mn_array_push(v->ctx, &v->stack, &other));
        }
    }
    return MN_OK;
}

// ---- walls ----

// The part of a triangle where the linear function through its corners' values is positive.
static double positive_part(double a, double b, double c)
{
    const int positive = (a > 0) + (b > 0) + (c > 0);
    if (positive == 0 || positive == 3) return positive == 3;
    while ((a > 0) != (positive == 1)) { // until a is the one that stands alone
        const double first = a;
        a = b, b = c, c = first;
    }
    const double alone = a * a / ((a - b) * (a - c));
    return positive == 1 ? alone : 1 - alone;
}

// The solid's distance at the corner `a` and `b` cells up on two axes.
static double corner_of(const mn_codim_volume *v, int32_t cell, int32_t first, int32_t a, int32_t second,
                        int32_t b)
{
    int32_t other = cell;
    if (a) other = mn_codim_volume_beside(v, other, first, 1);
    if (b && other >= 0) other = mn_codim_volume_beside(v, other, second, 1);
    if (other >= 0) return v->grid.solid.data[other];
    const mn_vec3 low = mn_block_node_position(&v->grid.table, cell / MN_BLOCK_CELLS, cell % MN_BLOCK_CELLS);
    const mn_vec3 x = mn_add(mn_add(low, mn_codim_volume_along(first, a * v->set.dx)),
                             mn_codim_volume_along(second, b * v->set.dx));
    double distance;
    mn_collider_distance(v->set.collider, v->set.before, 1, &x, &distance);
    return distance;
}

static double open_part(const mn_codim_volume *v, int32_t cell, int32_t axis)
{
    const int32_t second = (axis + 1) % 3, third = (axis + 2) % 3;
    const double a = v->grid.solid.data[cell], b = corner_of(v, cell, second, 1, third, 0),
                 c = corner_of(v, cell, second, 0, third, 1), d = corner_of(v, cell, second, 1, third, 1);
    const double most = 1e6 * v->set.dx;
    const double part = 0.5 * (positive_part(fmin(a, most), fmin(b, most), fmin(d, most)) +
                               positive_part(fmin(a, most), fmin(d, most), fmin(c, most)));
    return part < LEAST_OPEN ? 0 : part;
}

static mn_status wall_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t f = range.begin; f < range.end; f++) {
        const int32_t cell = (int32_t)(f / 3), axis = (int32_t)(f % 3);
        v->grid.open.data[f] = 1, v->grid.wall.data[f] = 0, v->grid.kind.data[f] = FACE_AIR;
        const mn_vec3 x =
            mn_sub(mn_codim_volume_cell_center(v, cell), mn_codim_volume_along(axis, 0.5 * v->set.dx));
        if (mn_codim_volume_inflow_distance(v, x) < 0) {
            v->grid.open.data[f] = 0,
            v->grid.wall.data[f] = mn_component(mn_codim_volume_inflow_velocity(v, x), axis);
            v->grid.kind.data[f] = FACE_INFLOW;
            continue;
        }
        if (!v->set.collider) continue;
        v->grid.open.data[f] = open_part(v, cell, axis);
        if (v->grid.open.data[f] == 1) continue;
        v->grid.wall.data[f] =
            mn_component(mn_collider_probe(v->set.collider, v->set.before, x).velocity, axis);
    }
    return MN_OK;
}

// ---- bodies ----

static mn_status number_cells(mn_codim_volume *v)
{
    v->grid.liquid.count = 0;
    for (int32_t cell = 0; cell < v->grid.cells; cell++) {
        v->grid.unknown.data[cell] = -1;
        bool open = false;
        for (int32_t axis = 0; axis < 3; axis++)
            for (int32_t up = 0; up < 2; up++) {
                const int64_t f = mn_codim_volume_face(v, cell, axis, up);
                open = open || (f >= 0 && v->grid.open.data[f] > 0);
            }
        if (!(v->grid.phi.data[cell] < 0) || !open) continue;
        v->grid.unknown.data[cell] = (int32_t)v->grid.liquid.count;
        MN_TRY(mn_array_push(v->ctx, &v->grid.liquid, &cell));
    }
    return MN_OK;
}

static mn_status sort_faces(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t f = range.begin; f < range.end; f++) {
        const int32_t high = (int32_t)(f / 3), low = mn_codim_volume_beside(v, high, (int32_t)(f % 3), 0);
        const int sides = (v->grid.unknown.data[high] >= 0) + (low >= 0 && v->grid.unknown.data[low] >= 0);
        if (v->grid.kind.data[f] == FACE_INFLOW) continue;
        v->grid.kind.data[f] = v->grid.open.data[f] == 0 ? FACE_CLOSED
                               : sides == 2              ? FACE_INNER
                               : sides == 1              ? FACE_SKIN
                                                         : FACE_AIR;
    }
    return MN_OK;
}

// Floods from cell to cell through open faces, lowest cell first.
static mn_status find_bodies(mn_codim_volume *v)
{
    mn_codim_volume_index_array *stack = &v->stack;
    MN_TRY(mn_array_resize(v->ctx, &v->grid.body, v->grid.liquid.count));
    for (int64_t i = 0; i < v->grid.body.count; i++) v->grid.body.data[i] = -1;
    v->grid.bodies.count = 0;
    for (int32_t first = 0; first < (int32_t)v->grid.liquid.count; first++) {
        if (v->grid.body.data[first] >= 0) continue;
        const int32_t number = (int32_t)v->grid.bodies.count;
        mn_codim_volume_body body = {0};
        stack->count = 0;
        v->grid.body.data[first] = number;
        MN_TRY(mn_array_push(v->ctx, stack, &first));
        while (stack->count > 0) {
            const int32_t cell = v->grid.liquid.data[stack->data[--stack->count]];
            for (int32_t side = 0; side < 6; side++) {
                const int64_t f = mn_codim_volume_face(v, cell, side / 2, side % 2);
                if (f < 0) continue;
                body.crossings += v->grid.kind.data[f] == FACE_SKIN;
                body.held += v->grid.open.data[f] < 1;
                body.fed += v->grid.kind.data[f] == FACE_INFLOW;
                if (v->grid.kind.data[f] != FACE_INNER) continue;
                const int32_t other =
                    v->grid.unknown.data[mn_codim_volume_beside(v, cell, side / 2, side % 2)];
                if (v->grid.body.data[other] >= 0) continue;
                v->grid.body.data[other] = number;
                MN_TRY(mn_array_push(v->ctx, stack, &other));
            }
        }
        MN_TRY(mn_array_push(v->ctx, &v->grid.bodies, &body));
    }
    return MN_OK;
}

// A layer that does not reach the centre of its cell passes through a part of the cell's sides only. With all
// of them the surface would fall as if the cell were full, and through the solid before anything could slow
// it.
static mn_status lower_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t f = range.begin; f < range.end; f++) {
        if (v->grid.kind.data[f] != FACE_INNER) continue;
        const int32_t high = (int32_t)(f / 3), low = mn_codim_volume_beside(v, high, (int32_t)(f % 3), 0);
        v->grid.open.data[f] *= 0.5 * (v->grid.layer.data[low] + v->grid.layer.data[high]);
    }
    return MN_OK;
}

mn_status mn_codim_volume_grid_build(mn_codim_volume *v)
{
    MN_TRY(build_blocks(v));
    MN_TRY(make_room(v));
    MN_TRY(mn_parallel_for(v->ctx, v->grid.cells, 4 * GRAIN, link_range, v));
    mark_cells(v);
    MN_TRY(mn_parallel_long(v->ctx, v->grid.cells, GRAIN, measure_range, v));
    MN_TRY(flood_inside(v));
    MN_TRY(mn_parallel_long(v->ctx, 3 * (int64_t)v->grid.cells, GRAIN, wall_range, v));
    MN_TRY(number_cells(v));
    MN_TRY(mn_parallel_for(v->ctx, 3 * (int64_t)v->grid.cells, 4 * GRAIN, sort_faces, v));
    MN_TRY(find_bodies(v));
    return v->set.collider ? mn_parallel_for(v->ctx, 3 * (int64_t)v->grid.cells, 4 * GRAIN, lower_range, v)
                           : MN_OK;
}
