// SPDX-License-Identifier: Apache-2.0
//
// Where bodies are for a liquid that touches them (wall.h).
//
// Closed surfaces and sheets lie in a tree each; the nearest of both is the wall. A rigid body's motion at x
// has the barycentric coordinates of x in its four nodes as weights.
#include "elastic/wall.h"

#include "elastic/elastic_state.h"
#include "trimesh/triangles.h"

/// Surfaces of one sort.
typedef struct shell {
    mn_triangles *mesh; ///< NULL: there are none
    mn_indices corners; ///< points, three for each triangle
    mn_box bounds;
} shell;

/// The place and the frame of a rigid body's four nodes.
typedef struct rigid_frame {
    mn_vec3 origin;
    mn_mat3 inverse;
} rigid_frame;

struct mn_elastic_wall {
    mn_context *ctx;
    mn_elastic *elastic;
    shell closed, sheets;
    mn_vec3s points, nodes, velocities;
    MN_ARRAY(rigid_frame) frames; ///< of each part, of use for rigid ones
    const double *contact_angle;
    double sheet, band, max_speed;
};

/// What of the bodies is nearest to a place.
typedef struct nearest {
    mn_mesh_point at;
    double distance; ///< m, signed, from the wall
    mn_vec3 normal;  ///< out of the body; zero where it is not known
    int32_t body;
} nearest;

// ---- making it ----

static mn_status is_closed(mn_elastic *s, int32_t part, bool *closed)
{
    mn_indices corners = {0};
    mn_triangles *mesh = NULL;
    mn_status status = MN_OK;
    for (int64_t i = 0; status == MN_OK && i < s->triangle.count; i++)
        if (s->point_body.data[s->triangle.data[3 * (i / 3)]] == part)
            status = mn_array_push(s->solver.ctx, &corners, &s->triangle.data[i]);
    if (status == MN_OK)
        status = mn_triangles_create(s->solver.ctx, s->anchor.count, s->point_x.data, corners.count / 3,
                                     (const int32_t(*)[3])corners.data, &mesh);
    *closed = status == MN_OK && mn_triangles_is_closed(mesh);
    mn_triangles_free(mesh);
    mn_array_free(s->solver.ctx, &corners);
    return status;
}

static mn_status sort_triangles(mn_elastic_wall *wall)
{
    mn_elastic *s = wall->elastic;
    for (int32_t part = 0; part < s->part.count; part++) {
        const int32_t kind = s->part.data[part].kind;
        bool closed = kind == MN_ELASTIC_SOLID;
        if (kind == MN_ELASTIC_COLLIDER) continue;
        if (kind == MN_ELASTIC_RIGID) MN_TRY(is_closed(s, part, &closed));
        shell *to = closed ? &wall->closed : &wall->sheets;
        for (int64_t i = 0; i < s->triangle.count; i++)
            if (s->point_body.data[s->triangle.data[3 * (i / 3)]] == part)
                MN_TRY(mn_array_push(s->solver.ctx, &to->corners, &s->triangle.data[i]));
    }
    return MN_OK;
}

mn_status mn_elastic_wall_create(mn_elastic *s, double sheet, double band, mn_elastic_wall **out)
{
    MN_TRY(mn_elastic_prepare(s));
    mn_elastic_wall *wall = *out = mn_allocate_zero(s->solver.ctx, sizeof *wall);
    if (!wall) return MN_ERROR_MEMORY;
    wall->ctx = s->solver.ctx;
    wall->elastic = s, wall->sheet = sheet, wall->band = band;
    mn_elastic_place_points(s, s->x.data, s->point_x.data);
    mn_status status;
    MN_TRY_TO(fail, status, sort_triangles(wall));
    MN_TRY_TO(fail, status, mn_array_resize(s->solver.ctx, &wall->points, s->anchor.count));
    MN_TRY_TO(fail, status, mn_array_resize(s->solver.ctx, &wall->nodes, s->x.count));
    MN_TRY_TO(fail, status, mn_array_resize(s->solver.ctx, &wall->velocities, s->x.count));
    MN_TRY_TO(fail, status, mn_array_resize(s->solver.ctx, &wall->frames, s->part.count));
    MN_TRY_TO(fail, status, mn_elastic_wall_place(wall, s->x.data, s->v.data));
    return MN_OK;
fail:
    mn_elastic_wall_free(wall);
    *out = NULL;
    return status;
}

void mn_elastic_wall_free(mn_elastic_wall *wall)
{
    if (!wall) return;
    mn_context *ctx = wall->ctx;
    shell *shells[2] = {&wall->closed, &wall->sheets};
    for (int i = 0; i < 2; i++) {
        mn_triangles_free(shells[i]->mesh);
        mn_array_free(ctx, &shells[i]->corners);
    }
    mn_array_free(ctx, &wall->points);
    mn_array_free(ctx, &wall->nodes);
    mn_array_free(ctx, &wall->velocities);
    mn_array_free(ctx, &wall->frames);
    mn_release(ctx, wall, sizeof *wall);
}

void mn_elastic_wall_paint(mn_elastic_wall *wall, const double *contact_angle)
{
    wall->contact_angle = contact_angle;
}

// ---- placing it ----

static mn_status place_shell(mn_elastic_wall *wall, shell *to)
{
    const int64_t points = wall->points.count, count = to->corners.count / 3;
    const int32_t(*corners)[3] = (const int32_t(*)[3])to->corners.data;
    to->bounds = mn_box_empty();
    if (count == 0) return MN_OK;
    if (to->mesh)
        MN_TRY(mn_triangles_rebuild(to->mesh, points, wall->points.data, count, corners));
    else
        MN_TRY(mn_triangles_create(wall->elastic->solver.ctx, points, wall->points.data, count, corners,
                                   &to->mesh));
    to->bounds = mn_triangles_bounds(to->mesh);
    return MN_OK;
}

static void place_frame(mn_elastic_wall *wall, int64_t part)
{
    const mn_elastic_part *p = &wall->elastic->part.data[part];
    if (p->kind != MN_ELASTIC_RIGID) return;
    const mn_vec3 *x = wall->nodes.data + p->first_node;
    rigid_frame *frame = &wall->frames.data[part];
    frame->origin = x[0];
    const mn_mat3 edges = mn_m3_columns(mn_sub(x[1], x[0]), mn_sub(x[2], x[0]), mn_sub(x[3], x[0]));
    if (!mn_m3_inverse(edges, &frame->inverse)) frame->inverse = mn_m3_diagonal(0, 0, 0);
}

mn_status mn_elastic_wall_place(mn_elastic_wall *wall, const mn_vec3 *x, const mn_vec3 *u)
{
    mn_elastic *s = wall->elastic;
    const size_t bytes = mn_bytes(s->x.count, sizeof *x);
    mn_copy_bytes(wall->nodes.data, x, bytes);
    mn_copy_bytes(wall->velocities.data, u, bytes);
    mn_elastic_place_points(s, x, wall->points.data);
    wall->max_speed = 0;
    for (int64_t i = 0; i < s->x.count; i++) wall->max_speed = fmax(wall->max_speed, mn_norm(u[i]));
    for (int64_t i = 0; i < s->part.count; i++) place_frame(wall, i);
    MN_TRY(place_shell(wall, &wall->closed));
    return place_shell(wall, &wall->sheets);
}

// ---- asking it ----

static bool box_is_near(mn_box box, mn_vec3 x, double reach)
{
    return x.x >= box.min.x - reach && x.x <= box.max.x + reach && x.y >= box.min.y - reach &&
           x.y <= box.max.y + reach && x.z >= box.min.z - reach && x.z <= box.max.z + reach;
}

/// Deep inside, past the band, a body has no normal.
static bool find_closed(const mn_elastic_wall *wall, mn_vec3 x, nearest *n)
{
    const mn_triangles *mesh = wall->closed.mesh;
    if (!mesh || !box_is_near(wall->closed.bounds, x, wall->band)) return false;
    if (!mn_triangles_closest(mesh, x, wall->band, &n->at)) {
        if (!box_is_near(wall->closed.bounds, x, 0) || !(mn_triangles_signed_distance_at(mesh, x) < 0))
            return false;
        mn_triangles_closest(mesh, x, INFINITY, &n->at);
        n->distance = -wall->band, n->normal = mn_v3(0, 0, 0);
        return true;
    }
    const double inner = 1e-6, *w = n->at.weights;
    const mn_vec3 off = mn_sub(x, n->at.position);
    const double height = mn_dot(off, n->at.normal);
    const bool face = w[0] > inner && w[1] > inner && w[2] > inner;
    const double side = face ? height : mn_triangles_signed_distance_at(mesh, x);
    n->distance = side < 0 ? -n->at.distance : n->at.distance;
    n->normal = face ? n->at.normal : mn_scale(side < 0 ? -1 : 1, mn_normalize(off));
    if (mn_norm2(n->normal) == 0) n->normal = n->at.normal;
    return true;
}

static bool find_sheet(const mn_elastic_wall *wall, mn_vec3 x, nearest *n)
{
    const mn_elastic *s = wall->elastic;
    if (!wall->sheets.mesh || !box_is_near(wall->sheets.bounds, x, wall->band)) return false;
    if (!mn_triangles_closest(wall->sheets.mesh, x, wall->band, &n->at)) return false;
    const int32_t body = s->point_body.data[n->at.vertices[0]];
    n->distance = n->at.distance - fmax(0.5 * s->part.data[body].thickness, wall->sheet);
    n->normal = mn_normalize(mn_sub(x, n->at.position));
    if (mn_norm2(n->normal) == 0) n->normal = n->at.normal;
    return true;
}

static bool find_nearest(const mn_elastic_wall *wall, mn_vec3 x, nearest *n)
{
    nearest sheet;
    const bool closed = find_closed(wall, x, n);
    const bool open = find_sheet(wall, x, &sheet);
    if (open && (!closed || sheet.distance < n->distance)) *n = sheet;
    if (closed || open) n->body = wall->elastic->point_body.data[n->at.vertices[0]];
    return closed || open;
}

static void map_rigid(const mn_elastic_wall *wall, int32_t part, mn_vec3 x, mn_wall_map *map)
{
    const rigid_frame *frame = &wall->frames.data[part];
    const mn_vec3 c = mn_m3_apply(frame->inverse, mn_sub(x, frame->origin));
    const double w[4] = {1 - c.x - c.y - c.z, c.x, c.y, c.z};
    for (int k = 0; k < 4; k++) {
        map->node[k] = wall->elastic->part.data[part].first_node + k;
        map->e[k] = mn_m3_diagonal(w[k], w[k], w[k]);
    }
}

static void map_triangle(const mn_elastic_wall *wall, const mn_mesh_point *at, mn_vec3 x, mn_wall_map *map)
{
    const mn_vec3 *p = wall->points.data;
    const int32_t *v = at->vertices;
    const mn_vec3 e[2] = {mn_sub(p[v[1]], p[v[0]]), mn_sub(p[v[2]], p[v[0]])}, off = mn_sub(x, at->position);
    map->node[3] = -1;
    for (int k = 0; k < 3; k++) {
        const double w = at->weights[k];
        map->node[k] = wall->elastic->anchor.data[v[k]].node[0];
        map->e[k] = mn_m3_diagonal(w, w, w);
        for (int axis = 0; axis < 3; axis++) {
            mn_vec3 unit = {0, 0, 0};
            (&unit.x)[axis] = 1;
            const mn_vec3 turned = mn_cross(mn_triangle_rotation(e, k, unit), off);
            map->e[k].m[0][axis] += turned.x;
            map->e[k].m[1][axis] += turned.y;
            map->e[k].m[2][axis] += turned.z;
        }
    }
}

static void make_map(const mn_elastic_wall *wall, const nearest *n, mn_vec3 x, mn_wall_map *map)
{
    if (wall->elastic->part.data[n->body].kind == MN_ELASTIC_RIGID)
        map_rigid(wall, n->body, x, map);
    else
        map_triangle(wall, &n->at, x, map);
}

bool mn_elastic_wall_map(const mn_elastic_wall *wall, mn_vec3 x, mn_wall_map *map)
{
    nearest n;
    if (!find_nearest(wall, x, &n)) return false;
    make_map(wall, &n, x, map);
    return true;
}

// ---- as solids ----

static double distance_at(const void *user, mn_vec3 x)
{
    const mn_elastic_wall *wall = user;
    nearest n;
    return find_nearest(wall, x, &n) ? n.distance : wall->band - wall->sheet;
}

static mn_contact probe_at(const void *user, mn_vec3 x)
{
    const mn_elastic_wall *wall = user;
    nearest n;
    mn_wall_map map;
    if (!find_nearest(wall, x, &n)) return (mn_contact){wall->band - wall->sheet, {0, 0, 0}, {0, 0, 0}};
    make_map(wall, &n, x, &map);
    return (mn_contact){n.distance, n.normal, mn_wall_velocity(&map, wall->velocities.data)};
}

static double paint_at(const void *user, mn_paint paint, double fallback, mn_vec3 x)
{
    const mn_elastic_wall *wall = user;
    nearest n;
    if (!wall->contact_angle || paint != MN_PAINT_CONTACT_ANGLE || !find_nearest(wall, x, &n))
        return fallback;
    double value = 0;
    for (int k = 0; k < 3; k++) value += n.at.weights[k] * wall->contact_angle[n.at.vertices[k]];
    return isfinite(value) && value >= 0 ? value : fallback;
}

mn_moving_solids mn_elastic_wall_solids(const mn_elastic_wall *wall)
{
    return (mn_moving_solids){.user = wall,
                              .distance = distance_at,
                              .probe = probe_at,
                              .paint = paint_at,
                              .painted = {[MN_PAINT_CONTACT_ANGLE] = wall->contact_angle != NULL},
                              .band = wall->band - wall->sheet,
                              .max_speed = wall->max_speed,
                              .bounds = mn_box_join(wall->closed.bounds, wall->sheets.bounds)};
}
