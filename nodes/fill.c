// SPDX-License-Identifier: Apache-2.0
//
// fill: particles that fill a closed mesh or a level set.
#include "nodes/columns.h"
#include "nodes/group.h"
#include "nodes/inputs.h"
#include "nodes/materials.h"
#include "trimesh/mesh_region.h"
#include "trimesh/mesh_transfer.h"

#include <string.h>

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("Which part of the input is filled", "Fill"),
    MN_LENGTH_OF_DX(1, "dx", "Cell Size", 0.001, 1e-9, 1e6, 1e-4, 0.01, "Fill",
                    "Cell size of the solver that takes the particles. Use the same value there."),
    MN_TOGGLE(
        "gauss", "Gauss Points", 0, "Fill", NULL,
        "Puts 8 particles into each cell on its Gauss points, without jitter. A pool can then start exactly at "
        "rest (Start at Rest of the solver): let its walls and its level lie half a cell beside multiples of "
        "dx, as 0.5 dx and 12.5 dx do."),
    MN_INT("particles_per_cell", "Particles per Cell", "", 8, 1, 4096, 1, 64, "Fill", "{ gauss == 1 }",
           "8 suits most liquids; 27 is calmer at rest and costs three times as much."),
    MN_FLOAT("jitter", "Jitter", "", 0.5, 0, 1, 0, 1, "Fill", "{ gauss == 1 }",
             "How much of its own lattice cell a particle may use; 0 is the bare lattice."),
    MN_INT("seed", "Seed", "", 0, 0, 2147483647, 0, 100, "Fill", "{ gauss == 1 }",
           "Another number gives a different jitter."),
    MN_INT("max_particles", "Maximum Particles", "", 50000000, 1, 2000000000, 1000, 50000000, "Fill", NULL,
           "More particles than this are an error; it protects the memory."),
    MN_PARM_MATERIAL("Liquid"),
    MN_FLOAT(
        "density", "Density", "kg/m^3", 0, 0, 1e6, 0, 14000, "Liquid", MN_WITH_MATERIAL,
        "Density of the liquid; 0 leaves it to the solver. Set it here to mix liquids: water 1000, mercury 13534. The "
        "particles' masses then add up to density times volume."),
    MN_FLOAT(
        "sigma", "Surface Tension", "N/m", 0, 0, 1e6, 0, 0.5, "Liquid", MN_WITH_MATERIAL,
        "Surface tension of the liquid; 0 leaves it and the viscosity to the solver. Set both here to mix liquids: water 0.072, mineral oil 0.031."),
    MN_FLOAT("viscosity", "Viscosity", "Pa s", 0.001, 0, 1e6, 0, 1, "Liquid",
             MN_WITH_MATERIAL " { sigma == 0 }",
             "Viscosity of the liquid, used where a surface tension is set here."),
    MN_INT("liquid", "Liquid", "", 0, 0, 1, 0, 1, "Liquid", NULL,
           "Which of two liquids it is, 0 or 1, for a solver with a tension between them."),
    MN_VEC3("velocity", "Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -10, 10, "Liquid", NULL,
            "Velocity of all particles, added to the input's v or vel."),
    MN_TOGGLE(
        "transfer", "Transfer Attributes", 1, "Liquid", NULL,
        "Particles get v and every other number painted on the mesh, from the nearest point of its surface."),
};

static const mn_input_def inputs_of[] = {{"Region", "closed polygons or a level set VDB", true, false}};
static const mn_output_def outputs_of[] = {
    {"Particles",
     "points with v, pscale, volume and id; mass and density, viscosity, sigma and liquid where they are "
     "set here"}};

/// What is filled: the mesh, or the level set.
typedef struct body {
    mn_mesh_region mesh;
    mn_volume level_set;
    mn_region region; ///< of either
    double volume;    ///< m^3; negative when it is not known
} body;

static mn_status open_with_holes(const mn_cook *cook, mn_triangles *mesh, body *b)
{
    const mn_mesh_flaws flaws = mn_triangles_check(mesh);
    if (mn_mesh_region_take_open(&b->mesh, mesh)) {
        mn_cook_warn(
            cook,
            "The mesh has holes (%lld open edges); it is filled as if they were covered. Close them if "
            "liquid is where it should not be.",
            (long long)flaws.open_edges);
        b->region = b->mesh.region;
        return MN_OK;
    }
    (void)mn_triangles_require_closed(cook->ctx, mesh, "the mesh");
    return mn_cook_fail(cook, MN_ERROR_INPUT,
                        "close the mesh, or give it thickness: %s Or make a level set of it with a collider "
                        "node set to shell.",
                        mn_context_message(cook->ctx));
}

// `b` must stay where it is: the region points into it.
static mn_status open_body(const mn_cook *cook, const mn_geo *geo, body *b)
{
    mn_triangles *mesh;
    mn_status status = MN_OK;
    memset(b, 0, sizeof *b);
    b->level_set = mn_input_level_set(geo);
    b->volume = -1;
    MN_TRY(mn_triangles_create_from_geo(cook->ctx, geo, &mesh));
    if (mn_triangles_is_closed(mesh)) {
        mn_mesh_region_take(&b->mesh, mesh);
        b->region = b->mesh.region;
        b->volume = b->mesh.volume;
        return MN_OK;
    }
    if (b->level_set.ops)
        b->region = mn_level_set_region(&b->level_set);
    else if (mn_triangles_count(mesh) == 0)
        status = mn_cook_fail(cook, MN_ERROR_INPUT, "the input holds no polygons and no level set to fill.");
    else
        status = open_with_holes(cook, mesh, b);
    if (!b->mesh.mesh) mn_triangles_free(mesh);
    return status;
}

// Whether dx fits the body, before anything is made.
static mn_status check_size(const mn_cook *cook, const mn_fill_def *def, const body *b)
{
    if (mn_box_is_empty(b->region.bounds))
        return mn_cook_fail(cook, MN_ERROR_INPUT, "the level set is empty.");
    const mn_vec3 e = mn_sub(b->region.bounds.max, b->region.bounds.min);
    const double span = fmin(e.x, fmin(e.y, e.z));
    if (span < def->dx)
        return mn_cook_fail(
            cook, MN_ERROR_ARGUMENT,
            "dx is %g m but the source spans only %g m; use dx below %.2g m for at least 8 cells "
            "across.",
            def->dx, span, span / 8);
    if (span < 4 * def->dx)
        mn_cook_warn(cook, "The source is only %.1f cells across; dx below %.2g m would give 8.",
                     span / def->dx, span / 8);
    const double s = mn_fill_spacing(def), count = b->volume / (s * s * s);
    if (count > (double)def->max_particles)
        return mn_cook_fail(
            cook, MN_ERROR_ARGUMENT,
            "dx of %g m would need %.3g particles, about %.3g GB; use dx above %.2g m, or raise "
            "max_particles.",
            def->dx, count, 60e-9 * count, def->dx * cbrt(count / (double)def->max_particles));
    return MN_OK;
}

// ---- attributes ----

// What was set here, on every particle; what was not is left to the solver.
static mn_status write_material(const mn_cook *cook, double volume, mn_geo *geo)
{
    static const char *const names[] = {"density", "viscosity", "sigma"};
    const double density = mn_cook_material_float(cook, "density");
    const bool tension = mn_cook_material_float(cook, "sigma") > 0;
    const int64_t count = mn_geo_point_count(geo);
    if (density == 0 && !tension) return MN_OK;
    if (density > 0) {
        float *mass;
        MN_TRY(mn_column_add(geo, "mass", MN_F32, 1, MN_HINT_NONE, &mass));
        for (int64_t i = 0; i < count; i++) mass[i] = (float)(density * volume);
    }
    for (int k = density > 0 ? 0 : 1; k < (tension ? 3 : 1); k++) {
        const double value = mn_cook_material_float(cook, names[k]);
        float *column;
        MN_TRY(mn_column_add(geo, names[k], MN_F32, 1, MN_HINT_NONE, &column));
        for (int64_t i = 0; i < count; i++) column[i] = (float)value;
    }
    return mn_material_sign(cook, geo);
}

static mn_status write_particles(const mn_cook *cook, const mn_vec3_array *x, double volume, mn_geo *geo)
{
    const mn_vec3 velocity = mn_cook_vec3(cook, "velocity");
    float *P, *v, *pscale, *rest;
    int32_t *id;
    MN_TRY(mn_geo_add_points(geo, x->count, NULL));
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &P));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    MN_TRY(mn_column_add(geo, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale));
    MN_TRY(mn_column_add(geo, "volume", MN_F32, 1, MN_HINT_NONE, &rest));
    MN_TRY(mn_column_add(geo, "id", MN_I32, 1, MN_HINT_NONE, &id));
    // A particle is drawn as the ball of its volume.
    const double radius = cbrt(volume / mn_ball_volume(1.0));
    for (int64_t i = 0; i < x->count; i++) {
        mn_column_put3(P, i, x->data[i]);
        mn_column_put3(v, i, velocity);
        pscale[i] = (float)radius;
        rest[i] = (float)volume;
        id[i] = (int32_t)i;
    }
    const int64_t liquid = mn_cook_int(cook, "liquid");
    if (liquid != 0) {
        int32_t *which;
        MN_TRY(mn_column_add(geo, "liquid", MN_I32, 1, MN_HINT_NONE, &which));
        for (int64_t i = 0; i < x->count; i++) which[i] = (int32_t)liquid;
    }
    return write_material(cook, volume, geo);
}

static bool is_transferred(const mn_attribute *attribute)
{
    static const char *const own[] = {"P", "N", "mass", "density", "pscale", "volume", "id", "liquid"};
    for (size_t i = 0; i < sizeof own / sizeof own[0]; i++)
        if (strcmp(mn_attribute_name(attribute), own[i]) == 0) return false;
    const mn_type type = mn_attribute_type(attribute);
    return (type == MN_F32 || type == MN_F64) && mn_attribute_size(attribute) <= 16;
}

static mn_status transfer_from_volume(const mn_geo *input, const mn_vec3_array *x, mn_geo *geo)
{
    const mn_volume vel = mn_geo_find_volume(input, "vel");
    if (!vel.ops || mn_volume_get_info(vel).components != 3) return MN_OK;
    float *v;
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &v));
    for (int64_t i = 0; i < x->count; i++) {
        const mn_vec3 u = mn_volume_sample_vec3(vel, x->data[i]);
        mn_column_put3(v, i, mn_add(u, mn_v3(v[3 * i], v[3 * i + 1], v[3 * i + 2])));
    }
    return MN_OK;
}

// ---- the cook ----

static mn_status fill_body(const mn_cook *cook, const mn_geo *input, const body *b, mn_vec3_array *x,
                           mn_geo **out)
{
    mn_fill_def def = mn_fill_default_def();
    def.dx = mn_cook_float(cook, "dx");
    def.particles_per_cell = (int32_t)mn_cook_int(cook, "particles_per_cell");
    def.jitter = mn_cook_float(cook, "jitter");
    def.seed = (uint64_t)mn_cook_int(cook, "seed");
    def.gauss = mn_cook_toggle(cook, "gauss");
    def.max_particles = mn_cook_int(cook, "max_particles");
    MN_TRY(check_size(cook, &def, b));
    MN_TRY(mn_fill(cook->ctx, &def, &b->region, x));
    if (x->count == 0)
        return mn_cook_fail(cook, MN_ERROR_ARGUMENT,
                            "no particle of %g m fits into the source; make dx smaller.",
                            mn_fill_spacing(&def));
    const double s = mn_fill_spacing(&def), volume = b->volume > 0 ? b->volume / (double)x->count : s * s * s;
    MN_TRY(mn_geo_create(cook->ctx, out));
    MN_TRY(write_particles(cook, x, volume, *out));
    if (!mn_cook_toggle(cook, "transfer")) return MN_OK;
    return b->mesh.mesh
               ? mn_mesh_transfer(cook->ctx, input, b->mesh.mesh, x->count, x->data, is_transferred, *out)
               : transfer_from_volume(input, x, *out);
}

static mn_status cook_fill(const mn_cook *cook, mn_geo **outputs)
{
    const mn_geo *input = mn_cook_input(cook, 0);
    mn_vec3_array x = {0};
    mn_geo *geo = NULL;
    body b;
    mn_status status = open_body(cook, input, &b);
    if (status == MN_OK) status = fill_body(cook, input, &b, &x, &geo);
    mn_mesh_region_free(&b.mesh);
    mn_array_free(cook->ctx, &x);
    if (status == MN_OK)
        outputs[0] = geo;
    else
        mn_geo_free(geo);
    return status;
}

static mn_status cook_group(const mn_cook *cook, mn_geo **outputs)
{
    return mn_cook_in_group(cook, cook_fill, outputs);
}

const mn_node_type mn_fill_node = {
    .name = "fill",
    .label = "Meniscus Fill",
    .menu = "Meniscus/Geometry",
    .help = "Fills closed polygons or a level set with particles for a solver.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_group,
};
