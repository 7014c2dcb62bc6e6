// SPDX-License-Identifier: Apache-2.0
//
// surface: particles to polygons, to a level set VDB, or to both.
#include "levelset/level_set.h"
#include "mesh/isosurface.h"
#include "mesh/skin.h"
#include "nodes/columns.h"
#include "nodes/group.h"

#include <string.h>

enum { OUTPUT_POLYGONS, OUTPUT_VDB, OUTPUT_BOTH };
enum { COLUMN_LIMIT = 64 }; ///< attributes carried over

static const mn_menu_item output_items[] = {
    {"polygons", "Polygons"}, {"vdb", "VDB"}, {"both", "Polygons and VDB"}, {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which particles are surfaced", "Surface"),
    MN_LENGTH_OF_DX(0.5, "dx", "Voxel Size", 0.0005, 1e-9, 1e6, 1e-4, 0.01, "Surface",
                    "How fine the surface is. Half of the solver's cell size shows all that it has."),
    MN_FLOAT("radius_scale", "Radius Scale", "", 2.5, 0.01, 100, 0.5, 4, "Surface", NULL,
             "Radius of the spheres that the surface is made from, relative to the particles. Larger "
             "closes gaps between particles and joins drops that nearly touch; 1 keeps the drops of a "
             "spray apart."),
    MN_FLOAT("radius", "Radius", "m", 0.0005, 1e-9, 1e6, 1e-4, 0.01, "Surface", NULL,
             "Radius of particles that have no pscale."),
    MN_INT("smooth", "Smooth", "", 1, 0, 100, 0, 10, "Surface", NULL,
           "Smoothing passes; each removes bumps of about one voxel."),
    MN_TOGGLE("keep_volume", "Keep Volume", 1, "Surface", NULL,
              "Gives every connected body exactly the volume of its particles, so that drops do not look too "
              "large."),
    MN_MENU("output", "Output", output_items, OUTPUT_POLYGONS, "Output", NULL,
            "Polygons, a level set named surface with its velocity vel, or both."),
    MN_FLOAT("adaptivity", "Adaptivity", "", 0, 0, 1, 0, 1, "Output", "{ output == vdb }",
             "0 gives polygons of one size; more merges them where the surface is flat."),
    MN_TOGGLE("transfer", "Transfer Attributes", 1, "Output", NULL,
              "The polygons get every numeric attribute of the particles, blended. They always get v."),
};

static const mn_input_def inputs_of[] = {
    {"Particles", "points; pscale, v, volume, mass and density are used", true, false}};
static const mn_output_def outputs_of[] = {{"Surface", "polygons with v, or volumes named surface and vel"}};

/// The particles as arrays, and their surface.
typedef struct surfacing {
    const mn_cook *cook;
    const mn_geo *input;
    mn_skin_def def;
    int64_t count;
    mn_vec3_array positions;
    MN_ARRAY(double) radii, reach, volumes;
    bool has_volumes;
    mn_skin *skin;
    mn_blend *blend;
} surfacing;

static void close_surfacing(surfacing *s)
{
    mn_context *ctx = s->cook->ctx;
    mn_blend_free(s->blend);
    mn_skin_free(s->skin);
    mn_array_free(ctx, &s->positions);
    mn_array_free(ctx, &s->radii);
    mn_array_free(ctx, &s->reach);
    mn_array_free(ctx, &s->volumes);
}

// ---- what comes in ----

static mn_status read_particles(surfacing *s)
{
    const mn_cook *cook = s->cook;
    const mn_geo *geo = s->input;
    const mn_vec3 *unused;
    const double radius = mn_cook_float(cook, "radius");
    const bool weighed =
        mn_geo_find_numeric(geo, MN_POINT, "mass", 1) && mn_geo_find_numeric(geo, MN_POINT, "density", 1);
    s->count = mn_geo_point_count(geo);
    s->has_volumes = weighed || mn_geo_find_numeric(geo, MN_POINT, "volume", 1);
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &s->positions, &unused));
    MN_TRY(mn_array_resize(cook->ctx, &s->radii, s->count));
    MN_TRY(mn_array_resize(cook->ctx, &s->reach, s->count));
    MN_TRY(mn_array_resize(cook->ctx, &s->volumes, s->count));
    for (int64_t i = 0; i < s->count; i++) {
        const double r = mn_column_number(geo, "pscale", i, radius);
        double volume =
            weighed ? mn_column_number(geo, "mass", i, 0) / mn_column_number(geo, "density", i, 1) : 0;
        volume = mn_column_number(geo, "volume", i, volume);
        if (!(r > 0) || !isfinite(r) || !mn_is_finite3(s->positions.data[i]))
            return mn_cook_fail(cook, MN_ERROR_INPUT,
                                "point %lld has a position that is not finite or a pscale of %g m.",
                                (long long)i, r);
        if (s->has_volumes && !(volume > 0 && isfinite(volume)))
            return mn_cook_fail(cook, MN_ERROR_INPUT,
                                "point %lld has a volume of %g m^3; check its mass and density.",
                                (long long)i, volume);
        s->radii.data[i] = r;
        s->volumes.data[i] = volume;
        // A vertex lies about a sphere's radius from the particles that make it.
        s->reach.data[i] = 1.25 * fmax(s->def.radius_scale, 1.0) * r + 3.0 * s->def.dx;
    }
    return MN_OK;
}

// How many voxels the level set would have at most: those of the spheres, or of the box.
static mn_status check_size(const surfacing *s)
{
    const double dx = s->def.dx, limit = 0x1p30;
    double spheres = 0;
    mn_box box = mn_box_empty();
    for (int64_t i = 0; i < s->count; i++) {
        const double r = s->def.radius_scale * s->radii.data[i] + 4 * dx;
        spheres += pow(2 * r / dx, 3);
        box = mn_box_join(box, mn_box_grow(mn_box_add(mn_box_empty(), s->positions.data[i]), r));
    }
    const mn_vec3 e = mn_sub(box.max, box.min);
    const double voxels = fmin(spheres, e.x * e.y * e.z / (dx * dx * dx));
    if (s->count > 0 && voxels > limit)
        return mn_cook_fail(s->cook, MN_ERROR_ARGUMENT,
                            "dx of %g m may need %.3g voxels, about %.3g GB; use dx above %.2g m.", dx,
                            voxels, 24e-9 * voxels, dx * cbrt(voxels / limit));
    return MN_OK;
}

// ---- attributes ----

static bool is_transferred(const surfacing *s, const mn_attribute *attribute)
{
    static const char *const own[] = {"P", "N", "mass", "pscale", "volume", "id"};
    const char *name = mn_attribute_name(attribute);
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(name, own[i]) == 0) return false;
    if (strcmp(name, "v") == 0)
        return mn_attribute_size(attribute) == 3 && mn_attribute_type(attribute) != MN_STRING;
    const mn_type type = mn_attribute_type(attribute);
    return mn_cook_toggle(s->cook, "transfer") && (type == MN_F32 || type == MN_F64);
}

/// Attributes side by side, so that one search for neighbours serves them all.
typedef struct columns {
    const mn_attribute *from[COLUMN_LIMIT];
    int32_t count;
    int32_t width; ///< numbers per point
} columns;

static void add_column(columns *c, const mn_attribute *attribute)
{
    if (c->count == COLUMN_LIMIT) return;
    c->from[c->count++] = attribute;
    c->width += mn_attribute_size(attribute);
}

// The columns of the particles at other places: results has `width` numbers per place.
static mn_status blend_columns(const surfacing *s, const columns *c, int64_t count, const mn_vec3 *targets,
                               double *results)
{
    mn_context *ctx = s->cook->ctx;
    double *values = mn_allocate(ctx, mn_bytes(s->count * c->width, sizeof *values));
    if (!values) return MN_ERROR_MEMORY;
    for (int64_t i = 0; i < s->count; i++) {
        double *row = values + i * c->width;
        for (int32_t k = 0; k < c->count; row += mn_attribute_size(c->from[k++]))
            mn_attribute_get(c->from[k], i, 1, row);
    }
    const mn_status status = mn_blend_values(s->blend, c->width, values, count, targets, results);
    mn_release(ctx, values, mn_bytes(s->count * c->width, sizeof *values));
    return status;
}

// Puts one column of the results into an attribute of its name.
static mn_status write_column(const columns *c, int32_t column, int32_t offset, const double *results,
                              mn_geo *geo)
{
    const mn_attribute *from = c->from[column];
    const bool is_velocity = strcmp(mn_attribute_name(from), "v") == 0;
    mn_attribute *to;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, mn_attribute_name(from), MN_F32, mn_attribute_size(from),
                                is_velocity ? MN_HINT_VECTOR : mn_attribute_hint(from), &to));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        MN_TRY(mn_attribute_set(geo, to, i, 1, results + i * c->width + offset));
    return MN_OK;
}

// v always; the others when they are wanted.
static mn_status add_attributes(const surfacing *s, mn_geo *geo)
{
    mn_context *ctx = s->cook->ctx;
    const int64_t count = mn_geo_point_count(geo);
    columns c = {.count = 0};
    mn_vec3_array targets = {0};
    const mn_vec3 *positions;
    mn_attribute *v;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int32_t i = 0; i < mn_geo_attribute_count(s->input, MN_POINT); i++)
        if (is_transferred(s, mn_geo_attribute_at(s->input, MN_POINT, i)))
            add_column(&c, mn_geo_attribute_at(s->input, MN_POINT, i));
    if (count == 0 || c.count == 0) return MN_OK;
    double *results = mn_allocate(ctx, mn_bytes(count * c.width, sizeof *results));
    if (!results) return MN_ERROR_MEMORY;
    mn_status status = mn_column_read_vec3(ctx, geo, "P", &targets, &positions);
    if (status == MN_OK) status = blend_columns(s, &c, count, targets.data, results);
    for (int32_t k = 0, offset = 0; status == MN_OK && k < c.count; offset += mn_attribute_size(c.from[k++]))
        status = write_column(&c, k, offset, results, geo);
    mn_array_free(ctx, &targets);
    mn_release(ctx, results, mn_bytes(count * c.width, sizeof *results));
    return status;
}

// ---- volumes ----

// `components` numbers per node of the level set as a volume: a block's nodes go from z fastest to x fastest.
static mn_status make_volume(const surfacing *s, const char *name, mn_volume_kind kind, int32_t components,
                             const double *nodes, mn_volume *volume)
{
    const mn_services *services = s->cook->services;
    if (!services || !services->volume_from_blocks)
        return mn_cook_fail(s->cook, MN_ERROR_UNSUPPORTED,
                            "this host has no volumes; set output to polygons.");
    const mn_level_set_view view = mn_level_set_get(mn_skin_level_set(s->skin));
    mn_context *ctx = s->cook->ctx;
    const int64_t blocks = view.blocks.count, total = blocks * MN_BLOCK_CELLS * components;
    int32_t(*origins)[3] = mn_allocate(ctx, mn_bytes(blocks, sizeof *origins));
    double *values = mn_allocate(ctx, mn_bytes(total, sizeof *values));
    mn_status status = (origins && values) || blocks == 0 ? MN_OK : MN_ERROR_MEMORY;
    for (int64_t b = 0; status == MN_OK && b < blocks; b++) {
        const mn_ivec3 c = view.blocks.coords[b];
        origins[b][0] = 4 * c.x, origins[b][1] = 4 * c.y, origins[b][2] = 4 * c.z;
        for (int32_t n = 0; n < MN_BLOCK_CELLS; n++) {
            const int32_t x = n & 3, y = n >> 2 & 3, z = n >> 4;
            const double *from = nodes + (b * MN_BLOCK_CELLS + 16 * x + 4 * y + z) * components;
            memcpy(values + (b * MN_BLOCK_CELLS + n) * components, from, sizeof(double) * (size_t)components);
        }
    }
    if (status == MN_OK)
        status = services->volume_from_blocks(
            services->user, ctx, name, kind, s->def.dx, kind == MN_VOLUME_LEVEL_SET ? view.band : 0,
            components, MN_BLOCK_SIDE, blocks, (const int32_t(*)[3])origins, values, volume);
    mn_release(ctx, origins, mn_bytes(blocks, sizeof *origins));
    mn_release(ctx, values, mn_bytes(total, sizeof *values));
    return status;
}

// The velocity of the particles at the nodes of the level set.
static mn_status make_velocity(const surfacing *s, mn_volume *volume)
{
    const mn_attribute *v = mn_geo_find_numeric(s->input, MN_POINT, "v", 3);
    const mn_level_set_view view = mn_level_set_get(mn_skin_level_set(s->skin));
    mn_context *ctx = s->cook->ctx;
    const int64_t nodes = (int64_t)view.blocks.count * MN_BLOCK_CELLS;
    mn_vec3 *targets = mn_allocate(ctx, mn_bytes(nodes, sizeof *targets));
    double *results = mn_allocate_zero(ctx, mn_bytes(3 * nodes, sizeof *results));
    mn_status status = (targets && results) || nodes == 0 ? MN_OK : MN_ERROR_MEMORY;
    for (int64_t i = 0; status == MN_OK && i < nodes; i++)
        targets[i] = mn_block_node_position(&view.blocks, (int32_t)(i / MN_BLOCK_CELLS),
                                            (int32_t)(i % MN_BLOCK_CELLS));
    columns c = {.count = 0};
    if (v) add_column(&c, v);
    if (status == MN_OK && v && nodes > 0) status = blend_columns(s, &c, nodes, targets, results);
    if (status == MN_OK) status = make_volume(s, "vel", MN_VOLUME_FOG, 3, results, volume);
    mn_release(ctx, targets, mn_bytes(nodes, sizeof *targets));
    mn_release(ctx, results, mn_bytes(3 * nodes, sizeof *results));
    return status;
}

// ---- what goes out ----

static mn_status add_polygons(const surfacing *s, mn_geo *geo)
{
    mn_iso_mesh mesh;
    MN_TRY(mn_skin_mesh(s->skin, &mesh));
    if (mesh.triangle_count == 0) return MN_OK;
    MN_TRY(mn_geo_add_points(geo, mesh.vertex_count, NULL));
    float *P = mn_geo_write_positions(geo);
    const int64_t count = 3 * (int64_t)mesh.triangle_count;
    int64_t *corners = mn_allocate(s->cook->ctx, mn_bytes(count, sizeof *corners));
    if (!P || !corners) {
        mn_release(s->cook->ctx, corners, mn_bytes(count, sizeof *corners));
        return MN_ERROR_MEMORY;
    }
    for (int64_t i = 0; i < mesh.vertex_count; i++) mn_column_put3(P, i, mesh.positions[i]);
    for (int64_t i = 0; i < count; i++) corners[i] = mesh.triangles[i / 3][i % 3];
    const mn_status status =
        mn_geo_add_primitives(geo, MN_POLYGON, mesh.triangle_count, NULL, 3, corners, NULL);
    mn_release(s->cook->ctx, corners, mn_bytes(count, sizeof *corners));
    return status;
}

static mn_status add_adaptive_polygons(const surfacing *s, double adaptivity, mn_geo **geo)
{
    const mn_services *services = s->cook->services;
    mn_volume volume = {0};
    MN_TRY(make_volume(s, "surface", MN_VOLUME_LEVEL_SET, 1, mn_level_set_get(mn_skin_level_set(s->skin)).phi,
                       &volume));
    mn_geo_free(*geo);
    *geo = NULL;
    const mn_status status =
        services->level_set_to_mesh
            ? services->level_set_to_mesh(services->user, s->cook->ctx, volume, 0, adaptivity, geo)
            : mn_cook_fail(s->cook, MN_ERROR_UNSUPPORTED,
                           "this host has no adaptive polygons; set adaptivity to 0.");
    mn_volume_release(&volume);
    return status;
}

static mn_status add_volumes(const surfacing *s, mn_geo *geo)
{
    mn_volume surface = {0}, velocity = {0};
    mn_status status = make_volume(s, "surface", MN_VOLUME_LEVEL_SET, 1,
                                   mn_level_set_get(mn_skin_level_set(s->skin)).phi, &surface);
    if (status == MN_OK) status = make_velocity(s, &velocity);
    if (status == MN_OK) status = mn_geo_add_volume(geo, surface, -1, NULL);
    if (status == MN_OK) status = mn_geo_add_volume(geo, velocity, -1, NULL);
    mn_volume_release(&surface);
    mn_volume_release(&velocity);
    return status;
}

static mn_status write_output(const surfacing *s, mn_geo **geo)
{
    const int32_t output = mn_cook_menu(s->cook, "output");
    const double adaptivity = mn_cook_float(s->cook, "adaptivity");
    MN_TRY(mn_geo_create(s->cook->ctx, geo));
    if (output != OUTPUT_VDB && s->count > 0) {
        MN_TRY(adaptivity > 0 ? add_adaptive_polygons(s, adaptivity, geo) : add_polygons(s, *geo));
        MN_TRY(add_attributes(s, *geo));
    } else if (output != OUTPUT_VDB) {
        mn_attribute *v;
        MN_TRY(mn_geo_add_attribute(*geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    }
    return output == OUTPUT_POLYGONS || s->count == 0 ? MN_OK : add_volumes(s, *geo);
}

static void warn_of_small_bodies(const surfacing *s)
{
    const mn_skin_facts facts = mn_skin_get_facts(s->skin);
    if (s->def.keep_volume && facts.small_bodies > 0)
        mn_cook_warn(s->cook,
                     "%lld of %lld drops are less than two voxels across and look angular; a smaller dx "
                     "shows them round.",
                     (long long)facts.small_bodies, (long long)facts.bodies);
}

static mn_status cook_surface(const mn_cook *cook, mn_geo **outputs)
{
    surfacing s = {.cook = cook, .input = mn_cook_input(cook, 0), .def = mn_skin_default_def()};
    s.def.dx = mn_cook_float(cook, "dx");
    s.def.radius_scale = mn_cook_float(cook, "radius_scale");
    s.def.smooth = (int32_t)mn_cook_int(cook, "smooth");
    s.def.keep_volume = mn_cook_toggle(cook, "keep_volume");
    // Only polygons can show them; a volume holds what its voxels can.
    s.def.beads = mn_cook_menu(cook, "output") == OUTPUT_POLYGONS && !(mn_cook_float(cook, "adaptivity") > 0);
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(out, status, read_particles(&s));
    MN_TRY_TO(out, status, check_size(&s));
    MN_TRY_TO(out, status, mn_skin_create(cook->ctx, &s.skin));
    MN_TRY_TO(out, status,
              mn_skin_run(s.skin, &s.def, s.count, s.positions.data, s.radii.data,
                          s.has_volumes ? s.volumes.data : NULL));
    MN_TRY_TO(out, status, mn_blend_create(cook->ctx, s.count, s.positions.data, s.reach.data, &s.blend));
    warn_of_small_bodies(&s);
    MN_TRY_TO(out, status, write_output(&s, &geo));
    outputs[0] = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    close_surfacing(&s);
    return status;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_surface, outputs);
}

const mn_node_type mn_surface_node = {
    .name = "surface",
    .label = "Meniscus Surface",
    .menu = "Meniscus/Geometry",
    .help = "Makes a smooth, watertight surface around particles that holds just their volume.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
