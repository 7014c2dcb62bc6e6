// SPDX-License-Identifier: Apache-2.0
//
// Where the skin of a volume lies on a solid, and the line where it leaves it.
//
// Skin on a solid has the energy -sigma cos(theta) per area and the rest of it sigma: with both, the line
// between them is at rest when liquid and solid meet at the angle theta [young1805]. So triangles on the
// solid have no part in K, and the line's points feel
//
//   F = -sigma d(A_free)/dx + sigma cos(theta) d(A_wet)/dx
//
// of which they follow what is along the solid: they are solved for with the rest of the skin, less their
// normal direction. What lies inside of the line moves as the grid does. A point on the solid that no wet
// triangle holds is not wet: it is free to leave.
#include "base/elementary.h"
#include "codim/volume/state.h"

#include "base/parallel.h"

enum { GRAIN = 256 };
static const double WETTING = 0.1; // dx
static const double AWAY = 0.6;    // cosine between its normal and the solid's: it looks away from the solid
static const double SETTLE = 0.5;  // of the gap between wet skin and the solid, in one step
static const double RESIDUE = 0.2; // dx: how thin a layer gets by draining; it keeps its cells, see grid.c
static const double FLAT = 0.9;    // cosine, of a layer's top and the solid; a wedge of 26 degrees has it
static const double DEGREE = 0.0174532925199432958;

// ---- which points ----

static mn_status touch_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        double distance;
        mn_collider_distance(v->set.collider, v->set.before, 1, &v->hull.x0.data[p], &distance);
        v->hull.wet.data[p] = distance < WETTING * v->set.dx && !mn_codim_volume_is_held(&v->skin.data[p]);
        if (!v->hull.wet.data[p]) continue;
        const mn_contact contact = mn_collider_probe(v->set.collider, v->set.before, v->hull.x0.data[p]);
        v->hull.wet.data[p] =
            mn_dot(contact.normal, v->hull.normals.data[p]) < AWAY; // not the top of a thin layer
    }
    return MN_OK;
}

mn_status mn_codim_volume_find_wet(mn_codim_volume *v)
{
    const int64_t count = v->skin.count;
    MN_TRY(mn_array_resize(v->ctx, &v->hull.wet, count));
    MN_TRY(mn_array_resize(v->ctx, &v->hull.wall_normal, count));
    MN_TRY(mn_array_resize(v->ctx, &v->hull.outward, count));
    MN_TRY(mn_array_resize(v->ctx, &v->hull.line_pull, count));
    for (int64_t p = 0; p < count; p++) {
        v->hull.wet.data[p] = 0;
        v->hull.wall_normal.data[p] = v->hull.line_pull.data[p] = mn_v3(0, 0, 0);
    }
    return v->set.collider ? mn_parallel_for(v->ctx, count, GRAIN, touch_range, v) : MN_OK;
}

// ---- what holds at the line ----

// Twice the area vector of triangle i of a fan.
static mn_vec3 triangle(const mn_codim_volume *v, int64_t p, int32_t i)
{
    const int32_t *pair = v->hull.surface.fans.data[p].pair[i];
    const mn_vec3 *x = v->hull.x0.data;
    return mn_cross(mn_sub(x[pair[0]], x[p]), mn_sub(x[pair[1]], x[p]));
}

bool mn_codim_volume_is_wet_triangle(const mn_codim_volume *v, int64_t p, int32_t i)
{
    const int32_t *pair = v->hull.surface.fans.data[p].pair[i];
    return v->hull.wet.data[p] && v->hull.wet.data[pair[0]] && v->hull.wet.data[pair[1]];
}

// Normal of the free part, and the gradient of the wet area.
static void measure_line(mn_codim_volume *v, int64_t p, double cosine)
{
    const mn_codim_film_fan *fan = &v->hull.surface.fans.data[p];
    mn_vec3 out = {0}, pull = {0};
    for (int32_t i = 0; i < fan->count; i++) {
        const mn_vec3 area = triangle(v, p, i);
        if (!mn_codim_volume_is_wet_triangle(v, p, i)) {
            out = mn_add(out, area);
            continue;
        }
        const mn_vec3 across = mn_sub(v->hull.x0.data[fan->pair[i][1]], v->hull.x0.data[fan->pair[i][0]]);
        pull = mn_axpy(pull, 0.5, mn_cross(mn_normalize(area), across));
    }
    v->hull.line_pull.data[p] = mn_scale(cosine, pull);
    if (mn_norm2(mn_normalize(out)) > 0) v->hull.outward.data[p] = mn_normalize(out);
}

static mn_status line_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        if (!v->hull.wet.data[p]) continue;
        const mn_codim_film_fan *fan = &v->hull.surface.fans.data[p];
        const mn_contact contact = mn_collider_probe(v->set.collider, v->set.before, v->hull.x0.data[p]);
        bool free = false;
        for (int32_t i = 0; i < fan->count; i++) free = free || !mn_codim_volume_is_wet_triangle(v, p, i);
        v->hull.wall_normal.data[p] = contact.normal;
        if (!(mn_norm2(contact.normal) > 0) || !free) continue;
        const double angle = mn_collider_painted(v->set.collider, MN_PAINT_CONTACT_ANGLE,
                                                 v->set.contact_angle, v->set.before, v->hull.x0.data[p]);
        v->hull.fixed.data[p] = 0;
        measure_line(v, p, mn_cos(DEGREE * fmin(180, fmax(0, angle))));
    }
    return MN_OK;
}

// Points of the solid that no wet triangle holds; no wet triangle loses a corner by this.
static mn_status release_range(void *user, mn_range range)
{
    mn_codim_volume *v = user;
    for (int64_t p = range.begin; p < range.end; p++) {
        bool held = false;
        v->hull.none.data[p] = 0;
        for (int32_t i = 0; i < v->hull.surface.fans.data[p].count; i++)
            held = held || mn_codim_volume_is_wet_triangle(v, p, i);
        v->hull.none.data[p] = v->hull.wet.data[p] && !held;
    }
    return MN_OK;
}

mn_status mn_codim_volume_find_line(mn_codim_volume *v)
{
    for (int64_t p = 0; p < v->skin.count; p++) v->hull.outward.data[p] = v->hull.surface.normal.data[p];
    if (!v->set.collider) return MN_OK;
    MN_TRY(mn_parallel_for(v->ctx, v->skin.count, GRAIN, release_range, v));
    for (int64_t p = 0; p < v->skin.count; p++) {
        if (v->hull.none.data[p]) v->hull.wet.data[p] = 0;
        v->hull.fixed.data[p] = v->hull.wet.data[p] || mn_codim_volume_is_held(&v->skin.data[p]);
        v->hull.none.data[p] = 0;
    }
    return mn_parallel_for(v->ctx, v->skin.count, GRAIN, line_range, v);
}

// ---- how they move ----

mn_mat3 mn_codim_volume_freedom(const mn_codim_volume *v, int64_t p)
{
    const mn_vec3 n = v->hull.wall_normal.data[p];
    return mn_m3_add(mn_m3_identity(), mn_m3_scale(-1, mn_outer(n, n)));
}

// Around a sharp edge a normal by areas would lean to one side, and lose the triangles of the other.
mn_vec3 mn_codim_volume_side(const mn_codim_volume *v, int64_t p)
{
    if (!v->hull.wet.data[p] || v->hull.fixed.data[p]) return v->hull.surface.normal.data[p];
    const mn_vec3 side = mn_normalize(mn_sub(v->hull.outward.data[p], v->hull.wall_normal.data[p]));
    return mn_norm2(side) > 0 ? side : v->hull.surface.normal.data[p];
}

mn_vec3 mn_codim_volume_along_wall(const mn_codim_volume *v, int64_t p, mn_vec3 u)
{
    if (!v->hull.wet.data[p]) return u;
    const mn_vec3 n = v->hull.wall_normal.data[p];
    const mn_contact contact = mn_collider_probe(v->set.collider, v->set.before, v->hull.x0.data[p]);
    return mn_axpy(u, mn_dot(n, mn_sub(contact.velocity, u)), n);
}

mn_vec3 mn_codim_volume_keep_out(const mn_codim_volume *v, mn_vec3 x, double dt, bool wet)
{
    if (!v->set.collider) return x;
    const mn_contact contact = mn_collider_probe(v->set.collider, fmax(0, v->set.before - dt), x);
    if (contact.distance < 0) return mn_axpy(x, -contact.distance, contact.normal);
    return wet ? mn_axpy(x, -SETTLE * contact.distance, contact.normal) : x;
}

mn_vec3 mn_codim_volume_keep_layer(const mn_codim_volume *v, int64_t p, mn_vec3 x, double dt)
{
    if (!v->set.collider || v->hull.wet.data[p] || mn_codim_volume_is_held(&v->skin.data[p])) return x;
    const mn_contact contact = mn_collider_probe(v->set.collider, fmax(0, v->set.before - dt), x);
    const double least = RESIDUE * v->set.dx;
    if (!(contact.distance < least) || mn_dot(contact.normal, v->hull.normals.data[p]) < FLAT) return x;
    double before;
    mn_collider_distance(v->set.collider, v->set.before, 1, &v->hull.x0.data[p], &before);
    return mn_axpy(x, fmax(0, fmin(before, least) - contact.distance), contact.normal);
}
