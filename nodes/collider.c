// SPDX-License-Identifier: Apache-2.0
//
// collider: polygons or a VDB as solvers want them, a level set named surface with its velocity vel.
//
// The velocity is the point attribute v of the mesh (shape and transform make it from their animation; files
// bring it), plus the velocity parameter. The mesh stays beside the volumes: what is painted on its points
// (contact_angle, friction, slip, temperature; or what the parameters of these names say) is read from there.
#include "levelset/wall_band.h"
#include "nodes/columns.h"
#include "nodes/group.h"
#include "nodes/inputs.h"
#include "trimesh/mesh_parts.h"

#include <string.h>

enum { KIND_SOLID, KIND_SHELL, KIND_AUTO };
enum { BLOCK_VOXELS = MN_BAND_BLOCK * MN_BAND_BLOCK * MN_BAND_BLOCK, BLOCK_LIMIT = 1 << 20 };

static const mn_menu_item kind_items[] = {
    {"solid", "Solid"}, {"shell", "Shell"}, {"auto", "Automatic"}, {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which part of the input is a collider", "Collider"),
    MN_LENGTH_OF_DX(
        1, "dx", "Voxel Size", 0, 0, 1e6, 0, 0.01, "Collider",
        "Resolution of the collider; 0 takes a hundredth of its longest side. Use about the solver's "
        "dx."),
    MN_FLOAT("band", "Band", "voxel", 4, 2, 100, 2, 10, "Collider", NULL,
             "Distance to either side of the surface within which the level set is known. Fast colliders "
             "need more."),
    MN_MENU(
        "kind", "Kind", kind_items, KIND_AUTO, "Collider", NULL,
        "Automatic: closed parts of the mesh are solid; parts that are open, or thinner than two voxels, are "
        "walls. Solid: the mesh is closed and its inside is blocked. Shell: any mesh, open or closed, as a "
        "wall of the thickness given."),
    MN_FLOAT("thickness", "Thickness", "m", 0, 0, 1e6, 0, 0.1, "Collider", "{ kind == solid }",
             "How thick walls are, half of it to either side; 0 is two voxels, and less is an error."),
    MN_VEC3("velocity", "Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -10, 10, "Motion", NULL,
            "Added to the velocity that the input carries. The geometry is not moved by it."),
    MN_FLOAT("contact_angle", "Contact Angle", "deg", -1, -1, 180, -1, 180, "Surface", NULL,
             "Contact angle of liquid on this collider, where contact_angle is not painted on its points; -1 "
             "takes the solver's."),
    MN_FLOAT("friction", "Friction", "", -1, -1, 1e6, -1, 1, "Surface", NULL,
             "Coulomb friction coefficient of this collider, where friction is not painted on its points; -1 "
             "takes the solver's."),
    MN_FLOAT(
        "slip", "Slip", "", -1, -1, 1, -1, 1, "Surface", NULL,
        "Whether liquid slips along this collider, where slip is not painted on its points: 0 sticks, 1 slips, -1 takes the solver's setting."),
    MN_FLOAT("temperature", "Temperature", "K", -1, -1, 1e5, -1, 1000, "Surface", NULL,
             "Temperature of this collider, where temperature is not painted on its points; -1 takes the "
             "solver's."),
    MN_TOGGLE("keep_mesh", "Keep Mesh", 1, "Output", NULL,
              "Leaves the polygons beside the volumes, with what is painted on them, such as contact_angle."),
};

static const mn_input_def inputs_of[] = {{"Geometry", "polygons or a level set VDB", true, false}};
static const mn_output_def outputs_of[] = {{"Collider", "level set surface, velocity vel, and the mesh"}};

/// What the cook works with.
typedef struct making {
    const mn_cook *cook;
    const mn_geo *input;
    mn_triangles *mesh;    ///< NULL when a level set came in
    mn_triangles *walls;   ///< the parts of it that are walls; NULL: all when there are any
    mn_geo *solids;        ///< the parts of it that are solid; NULL: all or none
    mn_volume solid;       ///< their level set, when there are walls beside them
    mn_volume level_set;   ///< of the input, borrowed; {0} when polygons are used
    double dx, width;      ///< m, voxel and band
    double half_thickness; ///< m, of walls; 0: there are none
    mn_vec3 velocity;      ///< added everywhere
    const mn_attribute *v; ///< of the mesh, or NULL
    mn_volume vel;         ///< of the input, borrowed
    mn_origin_array origins;
} making;

// ---- fields in a band ----

static void shell_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const making *m = user;
    for (int64_t i = 0; i < count; i++) {
        mn_mesh_point p;
        mn_triangles_closest(m->mesh, positions[i], INFINITY,
                             &p); // there are triangles: open_mesh has checked
        distances[i] = p.distance - m->half_thickness;
    }
}

static void level_set_distances(void *user, int64_t count, const mn_vec3 *positions, double *distances)
{
    const making *m = user;
    m->level_set.ops->sample(m->level_set.handle, count, positions, distances);
}

typedef mn_status band_fn(mn_context *ctx, const mn_wall_band *band, double *values);

// A volume of what `fn` finds, on the blocks near the surface.
static mn_status bake(making *m, const char *name, mn_volume_kind kind, int32_t components, band_fn *fn,
                      mn_volume *volume)
{
    const mn_services *services = m->cook->services;
    mn_context *ctx = m->cook->ctx;
    if (!services || !services->volume_from_blocks)
        return mn_cook_fail(m->cook, MN_ERROR_UNSUPPORTED, "this host has no volumes.");
    const size_t bytes = mn_bytes(m->origins.count * BLOCK_VOXELS * components, sizeof(double));
    double *values = mn_allocate(ctx, bytes);
    if (!values && bytes > 0) return MN_ERROR_MEMORY;
    const mn_wall_band band = {.origins = &m->origins,
                               .dx = m->dx,
                               .width = m->width,
                               .mesh = m->mesh,
                               .walls = m->walls ? m->walls : m->mesh,
                               .half_thickness = m->half_thickness,
                               .solid = m->solid,
                               .velocity = m->velocity,
                               .vel = m->vel,
                               .v = m->v};
    mn_status status = fn(ctx, &band, values);
    if (status == MN_OK)
        status = services->volume_from_blocks(
            services->user, ctx, name, kind, m->dx, kind == MN_VOLUME_LEVEL_SET ? m->width : 0, components,
            MN_BAND_BLOCK, m->origins.count, (const int32_t(*)[3])m->origins.data, values, volume);
    mn_release(ctx, values, bytes);
    return status;
}

// ---- parts: which are solid, which are walls ----

static mn_status keep_solids(making *m, const mn_mesh_parts *p, const int32_t *wall)
{
    mn_context *ctx = m->cook->ctx;
    const int64_t count = mn_geo_primitive_count(m->input);
    const int64_t *starts = mn_geo_primitive_starts(m->input), *points = mn_geo_vertex_points(m->input);
    uint8_t *keep = mn_allocate_zero(ctx, mn_bytes(count, 1));
    if (!keep) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) {
        if (starts[i + 1] - starts[i] < 3) continue;
        const int32_t part = p->part.data[points[starts[i]]];
        keep[i] = part >= 0 && !wall[part] && mn_geo_primitive_kinds(m->input)[i] == MN_POLYGON;
    }
    mn_status status = mn_geo_copy(m->input, &m->solids);
    if (status == MN_OK) status = mn_geo_compact(m->solids, NULL, keep);
    mn_release(ctx, keep, mn_bytes(count, 1));
    return status;
}

// Sets half_thickness when there are walls, and walls and solids when there are both.
static mn_status sort_parts(making *m)
{
    mn_context *ctx = m->cook->ctx;
    mn_mesh_parts parts = {0};
    MN_ARRAY(int32_t) wall = {0};
    int32_t walls = 0;
    mn_status status = mn_mesh_parts_find(ctx, m->input, m->mesh, &parts);
    if (status == MN_OK) status = mn_array_resize(ctx, &wall, parts.count);
    if (status == MN_OK) status = mn_mesh_parts_walls(ctx, &parts, m->dx, wall.data);
    for (int32_t i = 0; status == MN_OK && i < parts.count; i++) walls += wall.data[i];
    if (status == MN_OK && walls > 0) {
        m->half_thickness = fmax(m->dx, 0.5 * mn_cook_float(m->cook, "thickness"));
        if (walls < parts.count) {
            status = mn_mesh_parts_pick(ctx, &parts, wall.data, 1, &m->walls);
            if (status == MN_OK) status = keep_solids(m, &parts, wall.data);
        }
    }
    mn_mesh_parts_free(ctx, &parts);
    mn_array_free(ctx, &wall);
    return status;
}

static mn_status open_mesh(making *m)
{
    const mn_cook *cook = m->cook;
    MN_TRY(mn_triangles_create_from_geo(cook->ctx, m->input, &m->mesh));
    const int32_t kind = mn_cook_menu(cook, "kind");
    if (mn_triangles_count(m->mesh) == 0)
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the input holds no polygons and no level set.");
    if (kind == KIND_SOLID && !mn_triangles_is_closed(m->mesh)) {
        (void)mn_triangles_require_closed(cook->ctx, m->mesh, "the mesh");
        return mn_cook_fail(cook, MN_ERROR_INPUT, "set kind to shell or auto, or close the mesh: %s",
                            mn_context_message(cook->ctx));
    }
    const mn_box bounds = mn_triangles_bounds(m->mesh);
    const mn_vec3 e = mn_sub(bounds.max, bounds.min);
    const double longest = fmax(e.x, fmax(e.y, e.z)), thinnest = fmin(e.x, fmin(e.y, e.z));
    if (m->dx == 0) m->dx = 0.01 * longest;
    if ((kind == KIND_SOLID && thinnest < 2 * m->dx) || (kind == KIND_AUTO && longest < 4 * m->dx))
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT,
                            "make the collider thicker, or set kind to auto: it spans only %g m, and the "
                            "voxel size is %g m. Or use "
                            "dx below %.2g m for at least 8 voxels across.",
                            thinnest, m->dx, thinnest / 8);
    if (kind == KIND_AUTO) MN_TRY(sort_parts(m));
    if (kind == KIND_SHELL) {
        const double thickness = mn_cook_float(cook, "thickness");
        m->half_thickness = thickness > 0 ? 0.5 * thickness : m->dx;
        if (m->half_thickness < m->dx)
            return mn_cook_fail(
                cook, MN_ERROR_ARGUMENT,
                "a shell of %g m is thinner than two voxels of %g m; use dx below %.2g m or more thickness.",
                2 * m->half_thickness, m->dx, m->half_thickness);
    }
    const double voxels = mn_triangles_area(m->mesh) / (m->dx * m->dx) * 2 * mn_cook_float(cook, "band");
    if (voxels > (double)BLOCK_LIMIT * BLOCK_VOXELS)
        return mn_cook_fail(
            cook, MN_ERROR_ARGUMENT,
            "a voxel size of %g m would need %.3g voxels, about %.3g GB; use dx above %.2g m.", m->dx, voxels,
            8e-9 * voxels, m->dx * sqrt(voxels / ((double)BLOCK_LIMIT * BLOCK_VOXELS)));
    m->v = mn_geo_find_numeric(m->input, MN_POINT, "v", 3);
    return MN_OK;
}

// Blocks near the surface: of the mesh, or of the level set that came in.
static mn_status find_blocks(making *m, const mn_volume_info *info)
{
    mn_region region = {m, m->mesh ? shell_distances : level_set_distances, info->bounds};
    if (m->mesh) region.bounds = mn_box_grow(mn_triangles_bounds(m->mesh), m->half_thickness);
    const double width = m->mesh ? m->width : 0.99 * info->background;
    return mn_band_blocks(m->cook->ctx, &region, m->dx, width, BLOCK_LIMIT, &m->origins);
}

static mn_status make_surface(making *m, mn_volume *surface)
{
    const mn_cook *cook = m->cook;
    const double band = mn_cook_float(cook, "band");
    if (m->level_set.ops) {
        void *handle = NULL;
        MN_TRY(m->level_set.ops->rename(cook->ctx, m->level_set.handle, "surface", &handle));
        *surface = (mn_volume){m->level_set.ops, handle};
        return MN_OK;
    }
    if (!cook->services || !cook->services->mesh_to_level_set)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "this host has no volumes.");
    if (m->solids)
        MN_TRY(cook->services->mesh_to_level_set(cook->services->user, cook->ctx, m->solids, m->dx, band,
                                                 "solid", &m->solid));
    if (m->half_thickness > 0)
        return bake(m, "surface", MN_VOLUME_LEVEL_SET, 1, mn_wall_band_distances, surface);
    return cook->services->mesh_to_level_set(cook->services->user, cook->ctx, m->input, m->dx, band,
                                             "surface", surface);
}

static bool moves(const making *m)
{
    return m->v || m->vel.ops || mn_norm2(m->velocity) > 0;
}

static mn_status make_volumes(making *m, mn_volume *surface, mn_volume *velocity)
{
    m->level_set = mn_input_level_set(m->input);
    m->dx = mn_cook_float(m->cook, "dx");
    m->velocity = mn_cook_vec3(m->cook, "velocity");
    m->vel = mn_geo_find_volume(m->input, "vel");
    mn_volume_info info = mn_volume_get_info(m->level_set);
    if (m->level_set.ops)
        m->dx = info.voxel_size;
    else
        MN_TRY(open_mesh(m));
    m->width = m->dx * mn_cook_float(m->cook, "band");
    if (m->half_thickness > 0 || moves(m)) MN_TRY(find_blocks(m, &info));
    MN_TRY(make_surface(m, surface));
    return moves(m) ? bake(m, "vel", MN_VOLUME_FOG, 3, mn_wall_band_velocities, velocity) : MN_OK;
}

// ---- the cook ----

// The input without its volumes, when its mesh is kept; nothing otherwise.
static mn_status keep_mesh(const mn_cook *cook, const mn_geo *input, mn_geo **geo)
{
    if (!mn_cook_toggle(cook, "keep_mesh") || mn_geo_kind_count(input, MN_POLYGON) == 0)
        return mn_geo_create(cook->ctx, geo);
    MN_TRY(mn_geo_copy(input, geo));
    if (mn_geo_kind_count(input, MN_VOLUME) == 0) return MN_OK;
    const int64_t count = mn_geo_primitive_count(input);
    uint8_t *keep = mn_allocate(cook->ctx, mn_bytes(count, 1));
    if (!keep) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < count; i++) keep[i] = mn_geo_primitive_kinds(input)[i] != MN_VOLUME;
    const mn_status status = mn_geo_compact(*geo, NULL, keep);
    mn_release(cook->ctx, keep, mn_bytes(count, 1));
    return status;
}

// Solvers read paint from the mesh. Every collider has all of it, or after a merge the zeros of those that
// have none would count: -1 is none.
static mn_status write_paint(const mn_cook *cook, mn_geo *geo)
{
    const bool mesh = mn_geo_kind_count(geo, MN_POLYGON) > 0;
    for (int i = 0; i < MN_PAINT_COUNT; i++) {
        const char *name = mn_paint_name((mn_paint)i);
        const double value = mn_cook_float(cook, name);
        if (!mesh && value >= 0)
            return mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "%s is kept on the collider's polygons, and there are none; connect polygons and turn "
                "keep_mesh on, or set it on the solver.",
                name);
        const mn_attribute *painted = mesh ? mn_geo_find_numeric(geo, MN_POINT, name, 1) : NULL;
        if (!mesh || (painted && !(value >= 0))) continue;
        mn_attribute *column;
        MN_TRY(mn_geo_add_attribute(geo, MN_POINT, name, painted ? mn_attribute_type(painted) : MN_F32, 1,
                                    MN_HINT_NONE, &column));
        for (int64_t p = 0; p < mn_geo_point_count(geo); p++) {
            double old = -1;
            if (painted) mn_attribute_get(column, p, 1, &old);
            if (!(old >= 0)) MN_TRY(mn_attribute_set(geo, column, p, 1, &value));
        }
    }
    return MN_OK;
}

static mn_status cook_collider(const mn_cook *cook, mn_geo **outputs)
{
    making m = {.cook = cook, .input = mn_cook_input(cook, 0)};
    mn_volume surface = {0}, velocity = {0};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(out, status, make_volumes(&m, &surface, &velocity));
    MN_TRY_TO(out, status, keep_mesh(cook, m.input, &geo));
    MN_TRY_TO(out, status, write_paint(cook, geo));
    MN_TRY_TO(out, status, mn_geo_add_volume(geo, surface, -1, NULL));
    if (velocity.ops) MN_TRY_TO(out, status, mn_geo_add_volume(geo, velocity, -1, NULL));
    outputs[0] = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_volume_release(&surface);
    mn_volume_release(&velocity);
    mn_volume_release(&m.solid);
    mn_geo_free(m.solids);
    mn_triangles_free(m.walls);
    mn_triangles_free(m.mesh);
    mn_array_free(cook->ctx, &m.origins);
    return status;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_collider, outputs);
}

const mn_node_type mn_collider_node = {
    .name = "collider",
    .label = "Meniscus Collider",
    .menu = "Meniscus/Geometry",
    .help = "Turns polygons or a VDB into the level set and velocity that solvers collide with.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
