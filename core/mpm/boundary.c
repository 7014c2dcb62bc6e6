// SPDX-License-Identifier: Apache-2.0
//
// Walls of the domain, and solids.
#include "mpm/boundary.h"

#include "space/sides.h"

mn_vec3 mn_mpm_bound_velocity(mn_mpm_wall kind, double friction, mn_vec3 n, mn_vec3 v)
{
    const double normal = mn_dot(v, n);
    const mn_vec3 tangent = mn_axpy(v, -normal, n);
    switch (kind) {
    case MN_MPM_SLIP:
        return tangent;
    case MN_MPM_STICK:
        return mn_v3(0, 0, 0);
    case MN_MPM_SEPARATE: {
        if (normal >= 0) return v;
        const double speed = mn_norm(tangent);
        // Coulomb: the impulse along the wall is at most friction times the one into it.
        const double left = speed + friction * normal;
        return left > 0 ? mn_scale(left / speed, tangent) : mn_v3(0, 0, 0);
    }
    case MN_MPM_OPEN:
    case MN_MPM_SINK:
    case MN_MPM_WALL_COUNT:
        break;
    }
    return v;
}

static bool bounds(mn_mpm_wall kind)
{
    return kind == MN_MPM_SLIP || kind == MN_MPM_STICK || kind == MN_MPM_SEPARATE;
}

// ---- what is painted, and what each side has ----

mn_mpm_law mn_mpm_find_law(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x,
                           int32_t side)
{
    if (side >= 0)
        return (mn_mpm_law){def->wall[side],
                            mn_side_value(def->friction_min, def->friction_max, side, def->friction)};
    mn_mpm_law law = {def->collider,
                      mn_collider_painted(collider, MN_PAINT_FRICTION, def->friction, before, x)};
    if (!mn_collider_is_painted(collider, MN_PAINT_SLIP)) return law;
    const double otherwise = law.kind == MN_MPM_STICK ? 0 : 1;
    const bool slips = mn_collider_painted(collider, MN_PAINT_SLIP, otherwise, before, x) >= 0.5;
    if (!slips) law.kind = MN_MPM_STICK;
    if (slips && law.kind == MN_MPM_STICK) law.kind = MN_MPM_SLIP;
    return law;
}

// ---- nodes ----

// A node within rounding of the plane lies on it.
static const double plane_tolerance = 1e-6;

// The walls of the domain that a node lies at or behind, at most one on each axis.
static int32_t find_walls(const mn_mpm_def *def, mn_vec3 node, mn_mpm_touch *touches)
{
    const double x[3] = {node.x, node.y, node.z}, slack = plane_tolerance * def->dx;
    const double low[3] = {def->domain.min.x, def->domain.min.y, def->domain.min.z};
    const double high[3] = {def->domain.max.x, def->domain.max.y, def->domain.max.z};
    int32_t count = 0;
    for (int a = 0; a < 3; a++)
        for (int side = 0; side < 2; side++) {
            const mn_mpm_wall kind = def->wall[2 * a + side];
            if (!bounds(kind)) continue;
            if (side == 0 ? x[a] > low[a] + slack : x[a] < high[a] - slack) continue;
            double n[3] = {0, 0, 0};
            n[a] = side == 0 ? 1 : -1;
            const mn_mpm_law law = mn_mpm_find_law(def, NULL, 0, node, 2 * a + side);
            touches[count++] =
                (mn_mpm_touch){law.kind, mn_v3(n[0], n[1], n[2]), mn_v3(0, 0, 0), law.friction, false};
            break;
        }
    return count;
}

mn_vec3 mn_mpm_apply_walls(const mn_mpm_def *def, mn_vec3 node, mn_vec3 v)
{
    mn_mpm_touch walls[3];
    const int32_t count = find_walls(def, node, walls);
    for (int32_t k = 0; k < count; k++)
        v = mn_mpm_bound_velocity(walls[k].kind, walls[k].friction, walls[k].normal, v);
    return v;
}

bool mn_mpm_block_meets_wall(const mn_mpm_def *def, const mn_block_table *table, int32_t block)
{
    const mn_vec3 first = mn_mpm_node_position(table, block, 0);
    const mn_vec3 last = mn_mpm_node_position(table, block, MN_BLOCK_CELLS - 1);
    const double slack = plane_tolerance * def->dx;
    return (bounds(def->wall[0]) && first.x <= def->domain.min.x + slack) ||
           (bounds(def->wall[1]) && last.x >= def->domain.max.x - slack) ||
           (bounds(def->wall[2]) && first.y <= def->domain.min.y + slack) ||
           (bounds(def->wall[3]) && last.y >= def->domain.max.y - slack) ||
           (bounds(def->wall[4]) && first.z <= def->domain.min.z + slack) ||
           (bounds(def->wall[5]) && last.z >= def->domain.max.z - slack);
}

static bool find_solid(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 node,
                       mn_mpm_touch *touch)
{
    double distance; // most nodes lie outside, and alone it costs a seventh of all that a probe finds
    mn_collider_distance(collider, before, 1, &node, &distance);
    if (!(distance <= 0)) return false;
    const mn_contact contact = mn_collider_probe(collider, before, node);
    // Deep inside there is no way out to be seen: move with the solid.
    const bool lost = mn_norm2(contact.normal) == 0;
    const mn_mpm_law law = mn_mpm_find_law(def, collider, before, node, -1);
    *touch =
        (mn_mpm_touch){lost ? MN_MPM_STICK : law.kind, contact.normal, contact.velocity, law.friction, true};
    return true;
}

mn_vec3 mn_mpm_apply_collider(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 node,
                              mn_vec3 v)
{
    mn_mpm_touch solid;
    if (!find_solid(def, collider, before, node, &solid)) return v;
    const mn_vec3 relative = mn_sub(v, solid.velocity);
    return mn_add(solid.velocity, mn_mpm_bound_velocity(solid.kind, solid.friction, solid.normal, relative));
}

int32_t mn_mpm_find_touches(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 node,
                            mn_mpm_touch touches[MN_MPM_TOUCH_MAX])
{
    int32_t count = 0;
    if (collider && find_solid(def, collider, before, node, touches)) count = 1;
    return count + find_walls(def, node, touches + count);
}

bool mn_mpm_block_meets_collider(const mn_collider *collider, double before, const mn_block_table *table,
                                 int32_t block)
{
    const mn_vec3 first = mn_mpm_node_position(table, block, 0);
    const mn_vec3 last = mn_mpm_node_position(table, block, MN_BLOCK_CELLS - 1);
    const mn_vec3 middle = mn_lerp(first, last, 0.5);
    double distance;
    mn_collider_distance(collider, before, 1, &middle, &distance);
    return distance <= mn_distance(first, middle) + 1e-6 * table->dx;
}

// ---- seen from a place ----

bool mn_mpm_has_solids(const mn_mpm_def *def, const mn_collider *collider)
{
    bool any = collider != NULL;
    for (int i = 0; i < 6; i++) any = any || bounds(def->wall[i]);
    return any;
}

// The distance to side i of the domain, and its normal.
static double side_distance(const mn_mpm_def *def, int i, mn_vec3 x, mn_vec3 *normal)
{
    const double at[3] = {x.x, x.y, x.z};
    const double low[3] = {def->domain.min.x, def->domain.min.y, def->domain.min.z};
    const double high[3] = {def->domain.max.x, def->domain.max.y, def->domain.max.z};
    double n[3] = {0, 0, 0};
    n[i / 2] = i % 2 == 0 ? 1 : -1;
    *normal = mn_v3(n[0], n[1], n[2]);
    return i % 2 == 0 ? at[i / 2] - low[i / 2] : high[i / 2] - at[i / 2];
}

int32_t mn_mpm_solids_near(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x,
                           double reach, mn_mpm_solid solids[MN_MPM_SOLIDS_MAX])
{
    int32_t count = 0;
    for (int i = 0; i < 6; i++) {
        mn_mpm_solid s = {.kind = def->wall[i], .side = i};
        if (!bounds(s.kind)) continue;
        s.distance = side_distance(def, i, x, &s.normal);
        if (s.distance < reach) solids[count++] = s;
    }
    double distance = INFINITY;
    if (collider) mn_collider_distance(collider, before, 1, &x, &distance);
    if (!(distance < reach)) return count;
    const mn_contact contact = mn_collider_probe(collider, before, x);
    const bool known = mn_norm2(contact.normal) > 0 && contact.distance < 0.99 * mn_collider_band(collider);
    if (known && contact.distance < reach)
        solids[count++] =
            (mn_mpm_solid){contact.distance, contact.normal, contact.velocity, def->collider, -1};
    return count;
}

int32_t mn_mpm_nearest_side(const mn_mpm_def *def, mn_vec3 x, double *distance)
{
    int32_t nearest = -1;
    *distance = INFINITY;
    for (int i = 0; i < 6; i++) {
        mn_vec3 normal;
        const double to = bounds(def->wall[i]) ? side_distance(def, i, x, &normal) : INFINITY;
        if (to < *distance) *distance = to, nearest = i;
    }
    return nearest;
}

double mn_mpm_solid_distance(const mn_mpm_def *def, const mn_collider *collider, double before, mn_vec3 x)
{
    double least;
    (void)mn_mpm_nearest_side(def, x, &least);
    if (collider) {
        double distance;
        mn_collider_distance(collider, before, 1, &x, &distance);
        least = fmin(least, distance);
    }
    return least;
}
