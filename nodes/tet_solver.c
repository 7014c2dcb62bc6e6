// SPDX-License-Identifier: Apache-2.0
//
// tet_solver: liquids with surface tension, and solids, on tetrahedra that move with them. The numerics are
// mn_tet_liquid's; this file reads parameters and geometry, calls it, and writes geometry.
#include "meniscus/tet.h"
#include "meniscus/tetmesh.h"
#include "nodes/columns.h"
#include "nodes/domain.h"
#include "nodes/inputs.h"
#include "nodes/materials.h"
#include "nodes/tet_columns.h"
#include "tetmesh/geo.h"

#include <string.h>

enum { INPUT_LIQUID, INPUT_COLLIDERS, INPUT_EMITTERS, INPUT_SINKS };
enum { SIDE_SOLID, SIDE_OPEN };
enum { OUTPUT_TETRAHEDRA, OUTPUT_SURFACE };

// ---- the table ----

// In the order of mn_tet_integrator.
static const mn_menu_item integrator_items[] = {{"bdf2", "BDF2 (Damps Small Waves)"},
                                                {"sdirk2", "SDIRK2 (Damps Them Less)"},
                                                {"symmetric", "Symmetric (Keeps Energy)"},
                                                {NULL, NULL}};

static const mn_menu_item solid_items[] = {{"slip", "Slip"}, {"stick", "Stick"}, {NULL, NULL}};
static const mn_menu_item side_items[] = {{"solid", "Solid"}, {"open", "Open"}, {NULL, NULL}};

#define SIDE(name, label)                                                                                    \
    MN_MENU(name, label, side_items, SIDE_SOLID, "Solids", "{ use_domain == 0 }",                            \
            "Whether this side of the domain is there.")

static const mn_parm_def parms[] = {
    MN_PARM_MATERIAL("Liquid"),
    MN_FLOAT("sigma", "Surface Tension", "N/m", 0.072, 0, 1e9, 0, 1, "Liquid", MN_WITH_MATERIAL,
             "Water in air 0.072, mercury 0.485."),
    MN_FLOAT("density", "Density", "kg/m^3", 1000, 1e-9, 1e12, 100, 14000, "Liquid", MN_WITH_MATERIAL,
             "Water 1000, mercury 13534."),
    MN_FLOAT("viscosity", "Viscosity", "Pa s", 0.001, 0, 1e9, 0, 1, "Liquid", MN_WITH_MATERIAL,
             "Water 0.001, oil 0.1, honey 5."),
    MN_VEC3("gravity", "Gravity", "m/s^2", 0, -9.81, 0, -1e9, 1e9, -20, 20, "Liquid", NULL,
            "What pulls the liquid."),
    MN_FLOAT(
        "flow_rate", "Flow Rate", "m^3/s", 0, 0, 1e9, 0, 1e-3, "Emitters", NULL,
        "Volume that the emitter gives in a second, along its v; 0 takes what the speed of v and the area "
        "of its end give. A litre a second is 0.001."),
    MN_VEC3("inflow_velocity", "Inflow Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -1, 1, "Emitters", NULL,
            "Velocity of the liquid in the emitter, across its flat end, when its points have no v; with a "
            "flow rate "
            "only its direction counts."),
    MN_FLOAT("size", "Size", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
             "Edge of the tetrahedra that remeshing keeps to; 0 takes the mean of the input. Half of it "
             "costs about "
             "12 times as much."),
    MN_FLOAT("min_size", "Minimum Edge", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
             "Shorter edges are contracted; 0 for half the size."),
    MN_FLOAT("max_size", "Maximum Edge", "m", 0, 0, 1e6, 0, 0.05, "Mesh", NULL,
             "Longer edges are split; 0 for 1.7 times the size. At least 2.5 times the minimum."),
    MN_FLOAT("quality", "Quality", "", 0.25, 0, 0.5, 0, 0.5, "Mesh", NULL,
             "Tetrahedra below this volume-length ratio are repaired after a step; 0 never remeshes."),
    MN_TOGGLE("merge", "Merge", 1, "Mesh", NULL,
              "Liquid that comes to overlap becomes one: drops that meet, and a body that folds onto itself. "
              "Off, it passes through itself."),
    MN_FLOAT("split_threshold", "Split Threshold", "", 4, 0, 1e6, 0, 8, "Mesh", NULL,
             "A neck comes apart when the stress that it carries is this many times surface tension over "
             "size: at a radius of about size over this. Larger lets threads get thinner, which takes more "
             "steps; 0 never splits."),
    MN_MENU(
        "integrator", "Integrator", integrator_items, MN_TET_SYMMETRIC, "Solver", NULL,
        "All are of second order in time. Symmetric keeps the energy of what flies freely, down to the "
        "smallest waves, and takes steps of BDF2 while liquid touches solids or is very viscous. BDF2 is the "
        "fastest and calms small waves; SDIRK2 lies between."),
    MN_FLOAT("max_dt", "Maximum Time Step", "s", 1, 1e-12, 1e6, 1e-5, 0.1, "Solver", NULL,
             "No step is longer than this."),
    MN_FLOAT(
        "capillary_step", "Capillary Step", "", 0.25, 1e-4, 1e4, 0.05, 2, "Solver", NULL,
        "Length of a step in times sqrt(density size^3/sigma), in which a wave of one edge turns over. The "
        "solver is stable beyond 1; what is faster than a step is damped."),
    MN_TOGGLE(
        "unlock", "Divide What Locks", 0, "Solver", NULL,
        "Divides tetrahedra between surface points for the time of a step. A film of one tetrahedron that "
        "sticks to a solid flows only with it; each step costs more."),
    MN_FLOAT("contact_angle", "Contact Angle", "deg", 90, 0, 180, 0, 180, "Solids", NULL,
             "Angle at which the surface of resting liquid meets solids, measured in the liquid: small wets, "
             "large "
             "rolls off. It is not imposed but follows from the energy of wetted faces."),
    MN_MENU("boundary", "Solids", solid_items, 0, "Solids", NULL,
            "Liquid slips along solids, or sticks to what it touches."),
    MN_FLOAT(
        "friction", "Friction", "", 0, 0, 1e6, 0, 1, "Solids", "{ boundary == stick }",
        "Coulomb's coefficient: wetted liquid is held until what pulls it along the solid exceeds this times "
        "what presses it on."),
    MN_FLOAT(
        "drag", "Drag", "Pa s/m", 0, 0, 1e12, 0, 1000, "Solids", "{ boundary == stick }",
        "Force per wetted area and speed of liquid that slips: viscosity over the length that it slips."),
    MN_TOGGLE("use_domain", "Domain", 0, "Solids", NULL, "Encloses the liquid in a box."),
    MN_VEC3("domain_center", "Domain Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Solids",
            "{ use_domain == 0 }", "Middle of the box."),
    MN_VEC3("domain_size", "Domain Size", "m", 1, 1, 1, 0, MN_FAR, 0, 2, "Solids", "{ use_domain == 0 }",
            "Edges of the box."),
    SIDE("boundary_x_min", "Left Side"),
    SIDE("boundary_x_max", "Right Side"),
    SIDE("boundary_y_min", "Floor"),
    SIDE("boundary_y_max", "Ceiling"),
    SIDE("boundary_z_min", "Back Side"),
    SIDE("boundary_z_max", "Front Side"),
    MN_TOGGLE(
        "heat", "Heat", 0, "Heat", NULL,
        "Follows temperatures, melting and freezing of tetrahedra that have materials from tet_material."),
    MN_FLOAT("air_temperature", "Air Temperature", "K", 293.15, 0, 1e5, 200, 1000, "Heat", "{ heat == 0 }",
             "Of the air around; 20 degrees Celsius are 293.15 K."),
    MN_FLOAT("air_transfer", "Air Transfer", "W/(m^2 K)", 10, 0, 1e9, 0, 500, "Heat", "{ heat == 0 }",
             "Heat that passes between the surface and the air: still air 5 to 25, a fan 100, flowing water "
             "1000."),
    MN_TOGGLE("radiation", "Radiation", 0, "Heat", "{ heat == 0 }",
              "Also exchanges heat by radiation, with the emissivity of each material."),
    MN_FLOAT("collider_temperature", "Collider Temperature", "K", 293.15, 0, 1e5, 200, 1000, "Heat",
             "{ heat == 0 }", "Of colliders and sides of the domain."),
    MN_FLOAT("collider_transfer", "Collider Transfer", "W/(m^2 K)", 100, 0, 1e9, 0, 10000, "Heat",
             "{ heat == 0 }",
             "Heat that passes where something touches them; a good contact has 1000 and more."),
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
};

static const mn_input_def inputs_of[] = {
    [INPUT_LIQUID] =
        {"Liquid",
         "tetrahedra, from tetrahedralize or tet_material; v, rest_volume, rest, temperature, pin and "
         "heat_source are used",
         false, false},
    [INPUT_COLLIDERS] = {"Colliders", "level sets, from collider nodes, moving or still", false, false},
    [INPUT_EMITTERS] =
        {"Emitters",
         "tetrahedra that fill the mouth of a pipe, with a flat end across their v, which liquid "
         "comes out of",
         false, false},
    [INPUT_SINKS] = {"Sinks", "level sets, from collider nodes, that liquid vanishes in", false, false},
};
static const mn_output_def outputs_of[] = {
    [OUTPUT_TETRAHEDRA] = {"Tetrahedra",
                           "tetrahedra with rest_volume; points with v, pressure and id. With materials also "
                           "material, solid, stress, plastic_strain and temperature"},
    [OUTPUT_SURFACE] = {"Surface",
                        "triangles that face out; points with v, N, pressure and id. With materials also "
                        "solid and temperature, and material, solid, stress and plastic_strain of "
                        "each triangle"},
};

static mn_tet_liquid_def def_of(const mn_cook *cook)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.sigma = mn_cook_material_float(cook, "sigma");
    def.density = mn_cook_material_float(cook, "density");
    def.viscosity = mn_cook_material_float(cook, "viscosity");
    def.gravity = mn_cook_vec3(cook, "gravity");
    def.size = mn_cook_float(cook, "size");
    def.min_size = mn_cook_float(cook, "min_size");
    def.max_size = mn_cook_float(cook, "max_size");
    def.quality = mn_cook_float(cook, "quality");
    def.merge = mn_cook_toggle(cook, "merge");
    def.split_threshold = mn_cook_float(cook, "split_threshold");
    def.integrator = (mn_tet_integrator)mn_cook_menu(cook, "integrator");
    def.unlock = mn_cook_toggle(cook, "unlock");
    def.max_dt = mn_cook_float(cook, "max_dt");
    def.capillary_step = mn_cook_float(cook, "capillary_step");
    def.min_substeps = mn_cook_int(cook, "min_substeps");
    def.max_substeps = mn_cook_int(cook, "max_substeps");
    if (def.max_substeps < def.min_substeps) def.max_substeps = def.min_substeps;
    def.contact_angle = mn_cook_float(cook, "contact_angle");
    def.friction = mn_cook_float(cook, "friction");
    def.drag = mn_cook_float(cook, "drag");
    def.stick = mn_cook_menu(cook, "boundary") == 1;
    def.heat = mn_cook_toggle(cook, "heat");
    def.air_temperature = mn_cook_float(cook, "air_temperature");
    def.air_transfer = mn_cook_float(cook, "air_transfer");
    def.radiation = mn_cook_toggle(cook, "radiation");
    def.collider_temperature = mn_cook_float(cook, "collider_temperature");
    def.collider_transfer = mn_cook_float(cook, "collider_transfer");
    if (!mn_cook_toggle(cook, "use_domain")) return def;
    def.domain = mn_domain_box(cook);
    for (int i = 0; i < 6; i++) def.wall[i] = mn_domain_side(cook, i) == SIDE_SOLID;
    return def;
}

// ---- the callbacks ----

static void release(mn_context *ctx, void *state)
{
    (void)ctx;
    mn_tet_liquid_free(state);
}

static void warn_of_repairs(const mn_cook *cook, const mn_tet_repairs *repairs)
{
    if (repairs->turned + repairs->flat + repairs->duplicates == 0) return;
    mn_cook_warn(cook,
                 "Repaired the input: %lld inverted tetrahedra turned, %lld flat and %lld duplicate ones "
                 "left out, the "
                 "first is primitive %lld.",
                 (long long)repairs->turned, (long long)repairs->flat, (long long)repairs->duplicates,
                 (long long)repairs->first);
}

static bool has_tetrahedra(const mn_geo *geo)
{
    return geo && mn_geo_kind_count(geo, MN_TETRAHEDRON) > 0;
}

/// What the simulation starts from: the liquid or, without one, what is in the mouth of the pipe.
static const mn_geo *first_liquid(const mn_cook *cook)
{
    const mn_geo *liquid = mn_cook_input(cook, INPUT_LIQUID), *emitter = mn_cook_input(cook, INPUT_EMITTERS);
    return has_tetrahedra(liquid) ? liquid : has_tetrahedra(emitter) ? emitter : NULL;
}

static mn_status create(const mn_cook *cook, void **out)
{
    const mn_tet_liquid_def def = def_of(cook);
    const mn_geo *geo = first_liquid(cook);
    mn_tet_mesh *mesh;
    mn_tet_repairs repairs;
    mn_tet_liquid *liquid = NULL;
    if (!geo)
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the input holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY(mn_tet_mesh_from_geo(geo, true, &mesh, &repairs));
    warn_of_repairs(cook, &repairs);
    mn_tet_materials materials;
    mn_status status = mn_tet_read_materials(geo, &def, mesh, &materials);
    if (status == MN_OK) status = mn_tet_liquid_create(cook->ctx, &def, mesh, &liquid);
    mn_tet_mesh_free(mesh);
    if (status == MN_OK && materials.count > 0)
        status = mn_tet_liquid_set_materials(liquid, materials.count, materials.list);
    if (status != MN_OK) {
        mn_tet_liquid_free(liquid);
        return status;
    }
    if (def.heat && materials.count == 0)
        mn_cook_warn(cook,
                     "Heat is on, but the tetrahedra have no material; put a tet_material node before.");
    *out = liquid;
    return MN_OK;
}

/// The mouth of the pipe and the velocity in it, the mean of the points' v or else the parameter; NULL
/// without an emitter.
static mn_status read_slug(const mn_cook *cook, mn_tet_mesh **slug, mn_vec3 *velocity)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_EMITTERS);
    mn_tet_repairs repairs;
    *slug = NULL;
    *velocity = mn_v3(0, 0, 0);
    if (!geo) return MN_OK;
    if (!has_tetrahedra(geo))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the emitter holds no tetrahedra; make them with tetrahedralize first.");
    MN_TRY(mn_tet_mesh_from_geo(geo, true, slug, &repairs));
    const mn_tet_field *v = mn_tet_mesh_find_field(*slug, "v");
    for (int32_t i = 0; v && v->size == 3 && v->kind == MN_TET_LINEAR && i < (*slug)->vertex_slots; i++)
        *velocity = mn_axpy(*velocity, 1.0 / (*slug)->vertex_slots,
                            mn_v3(v->data[3 * i], v->data[3 * i + 1], v->data[3 * i + 2]));
    if (mn_norm(*velocity) == 0) *velocity = mn_cook_vec3(cook, "inflow_velocity");
    if (mn_norm(*velocity) == 0)
        mn_cook_warn(
            cook, "The emitter has no v, so nothing comes out of it; give it one across its flat end, or set "
                  "inflow_velocity.");
    return MN_OK;
}

static void warn_of_rescues(const mn_cook *cook, const mn_tet_liquid *liquid)
{
    mn_tet_rescues rescues;
    mn_tet_liquid_get_rescues(liquid, &rescues);
    if (rescues.coasted > 0)
        mn_cook_warn(
            cook,
            "%lld steps of this frame could not be solved, and the liquid went on by inertia alone; use a "
            "smaller size where it is thin, or a lower max_dt.",
            (long long)rescues.coasted);
}

static mn_status advance(const mn_cook *cook, void *state)
{
    const mn_tet_liquid_def def = def_of(cook);
    mn_collider *collider = NULL, *sink = NULL;
    mn_tet_mesh *slug = NULL;
    mn_tet_pipe pipe = {.flow_rate = mn_cook_float(cook, "flow_rate")};
    const mn_tet_pipe none = {0};
    mn_status status;
    MN_TRY_TO(done, status, mn_tet_liquid_set_def(state, &def));
    MN_TRY_TO(done, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    MN_TRY_TO(done, status, mn_input_colliders(cook, INPUT_SINKS, &sink));
    MN_TRY_TO(done, status, read_slug(cook, &slug, &pipe.velocity));
    pipe.slug = slug, pipe.drain = sink;
    MN_TRY_TO(done, status, mn_tet_liquid_set_pipe(state, &pipe));
    mn_tet_liquid_set_collider(state, collider);
    MN_TRY_TO(done, status, mn_tet_liquid_advance(state, cook->dt));
    warn_of_rescues(cook, state);
done:
    mn_tet_liquid_set_collider(state, NULL);
    if (status == MN_OK) status = mn_tet_liquid_set_pipe(state, &none);
    mn_tet_mesh_free(slug);
    mn_collider_free(sink);
    mn_collider_free(collider);
    return status;
}

// ---- what goes out ----

/// The vertices that an output shows: point of each, -1 for none.
typedef struct shown {
    MN_ARRAY(int64_t) point;
    int64_t count;
} shown;

static mn_status number_points(const mn_cook *cook, const mn_tet_mesh *mesh, bool boundary, shown *s)
{
    MN_TRY(mn_array_resize(cook->ctx, &s->point, mesh->vertex_slots));
    s->count = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        s->point.data[v] = !boundary || mn_tet_vertex_on_boundary(mesh, v) ? s->count++ : -1;
    return MN_OK;
}

static mn_status write_points(const mn_cook *cook, const mn_tet_mesh *mesh, const shown *s, mn_geo *geo)
{
    float *position, *velocity, *pressure;
    int32_t *id;
    MN_TRY(mn_geo_add_points(geo, s->count, NULL));
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &position));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &velocity));
    MN_TRY(mn_column_add(geo, "pressure", MN_F32, 1, MN_HINT_NONE, &pressure));
    MN_TRY(mn_column_add(geo, "id", MN_I32, 1, MN_HINT_NONE, &id));
    const double *v = mn_tet_mesh_find_field(mesh, "v")->data,
                 *p = mn_tet_mesh_find_field(mesh, "pressure")->data;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const int64_t at = s->point.data[i];
        if (at < 0) continue;
        if (mesh->vertex_id[i] > INT32_MAX)
            return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED, "ids above two billion cannot be written.");
        mn_column_put3(position, at, mesh->position[i]);
        mn_column_put3(velocity, at, mn_v3(v[3 * i], v[3 * i + 1], v[3 * i + 2]));
        pressure[at] = (float)p[i];
        id[at] = (int32_t)mesh->vertex_id[i];
    }
    return MN_OK;
}

static mn_status write_tetrahedra(const mn_cook *cook, const mn_tet_mesh *mesh, shown *s, mn_geo *geo)
{
    mn_attribute *attribute;
    MN_ARRAY(int64_t) corners = {0};
    mn_status status;
    MN_TRY(number_points(cook, mesh, false, s));
    MN_TRY(write_points(cook, mesh, s, geo));
    MN_TRY_TO(done, status, mn_array_resize(cook->ctx, &corners, 4 * (int64_t)mesh->tet_slots));
    for (int64_t i = 0; i < corners.count; i++) corners.data[i] = s->point.data[mesh->tet[i / 4][i % 4]];
    MN_TRY_TO(done, status,
              mn_geo_add_primitives(geo, MN_TETRAHEDRON, mesh->tet_slots, NULL, 4, corners.data, NULL));
    MN_TRY_TO(done, status,
              mn_geo_add_attribute(geo, MN_PRIMITIVE, "rest_volume", MN_F64, 1, MN_HINT_NONE, &attribute));
    status = mn_attribute_set(geo, attribute, 0, mesh->tet_slots,
                              mn_tet_mesh_find_field(mesh, "rest_volume")->data);
done:
    mn_array_free(cook->ctx, &corners);
    return status;
}

// Adds the area-weighted normal of each face to its corners; normalised at the end.
static void write_normals(const mn_geo *geo, const int64_t *corners, int64_t triangles, float *normals)
{
    const int64_t points = mn_geo_point_count(geo);
    memset(normals, 0, 3 * (size_t)points * sizeof *normals);
    for (int64_t f = 0; f < triangles; f++) {
        const int64_t *c = corners + 3 * f;
        const mn_vec3 a = mn_geo_position(geo, c[0]), b = mn_geo_position(geo, c[1]),
                      d = mn_geo_position(geo, c[2]);
        const mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(d, a));
        // In units of the face, so that floats hold it at any scale.
        const mn_vec3 part = mn_scale(1 / sqrt(mn_norm2(mn_sub(b, a)) * mn_norm2(mn_sub(d, a)) + 1e-300), n);
        for (int k = 0; k < 3; k++) {
            float *normal = normals + 3 * c[k];
            normal[0] += (float)part.x, normal[1] += (float)part.y, normal[2] += (float)part.z;
        }
    }
    for (int64_t i = 0; i < points; i++) {
        float *n = normals + 3 * i;
        mn_column_put3(normals, i, mn_normalize(mn_v3(n[0], n[1], n[2])));
    }
}

static mn_status write_surface(const mn_cook *cook, const mn_tet_mesh *mesh, shown *s, mn_geo *geo)
{
    MN_ARRAY(int64_t) corners = {0};
    float *normals;
    mn_status status = MN_OK;
    MN_TRY(number_points(cook, mesh, true, s));
    MN_TRY(write_points(cook, mesh, s, geo));
    MN_TRY(mn_column_add(geo, "N", MN_F32, 3, MN_HINT_NORMAL, &normals));
    for (int32_t t = 0; t < mesh->tet_slots; t++)
        for (int k = 0; k < 4; k++) {
            if (mesh->mate[t][k] >= 0) continue;
            for (int i = 0; i < 3; i++) {
                const int64_t point = s->point.data[mesh->tet[t][mn_tet_face_corners[k][i]]];
                MN_TRY_TO(done, status, mn_array_push(cook->ctx, &corners, &point));
            }
        }
    MN_TRY_TO(done, status,
              mn_geo_add_primitives(geo, MN_POLYGON, corners.count / 3, NULL, 3, corners.data, NULL));
    write_normals(geo, corners.data, corners.count / 3, normals);
done:
    mn_array_free(cook->ctx, &corners);
    return status;
}

static mn_status emit(const mn_cook *cook, void *state, int32_t output, mn_geo **out)
{
    const mn_tet_mesh *mesh = mn_tet_liquid_mesh(state);
    shown s = {0};
    MN_TRY(mn_geo_create(cook->ctx, out));
    const bool surface = output == OUTPUT_SURFACE;
    mn_status status = surface ? write_surface(cook, mesh, &s, *out) : write_tetrahedra(cook, mesh, &s, *out);
    if (status == MN_OK) status = mn_tet_write_materials(state, s.point.data, surface, *out);
    mn_array_free(cook->ctx, &s.point);
    if (status != MN_OK) mn_geo_free(*out), *out = NULL;
    return status;
}

static mn_status save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    MN_TRY(mn_write_tag(out, "tet_solver", 1));
    return mn_tet_liquid_save(state, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **out)
{
    const mn_tet_liquid_def def = def_of(cook);
    int32_t version;
    mn_tet_liquid *liquid;
    MN_TRY(mn_read_tag(in, "tet_solver", 1, &version));
    MN_TRY(mn_tet_liquid_load(cook->ctx, &def, in, &liquid));
    *out = liquid;
    return MN_OK;
}

static void report(const void *state, mn_report *out)
{
    mn_tet_liquid_get_report(state, out);
}

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    if (!first_liquid(cook)) {
        d->sentence(d->user, "The liquid input has no tetrahedra at the first frame.");
        return MN_OK;
    }
    void *state = NULL;
    MN_TRY(create(cook, &state));
    mn_tet_liquid_numbers n;
    mn_tet_liquid_diagnose(state, cook->dt, &n);
    release(cook->ctx, state);
    d->number(d->user, "edges across a ball of the liquid", n.edges_across, "",
              n.edges_across < 6 ? "use a smaller size: at least 6" : "");
    d->number(d->user, "capillary time", n.capillary_time, "s", "in which the drop swings");
    d->number(d->user, "Ohnesorge number", n.ohnesorge, "",
              n.ohnesorge > 1 ? "viscosity wins" : "it will swing");
    d->number(d->user, "Bond number", n.bond, "", n.bond > 1 ? "gravity flattens it" : "it stays round");
    d->number(d->user, "Weber number", n.weber, "", "of its speed at the start");
    d->number(d->user, "time step", n.step, "s", "");
    d->number(d->user, "steps per frame", n.steps, "", "");
    d->number(d->user, "memory", n.bytes * 1e-6, "MB", "");
    return MN_OK;
}

static const mn_sim_ops sim = {create, advance, emit, save, load, report, release};

const mn_node_type mn_tet_solver_node = {
    .name = "tet_solver",
    .label = "Meniscus Tet Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates liquids with surface tension on tetrahedra that move along: sharp surfaces, exact "
            "volume, hardly "
            "any numerical damping.",
    .inputs = inputs_of,
    .input_count = MN_COUNT_OF(inputs_of),
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .time_dependent = true,
    .sim = &sim,
    .doctor = doctor,
};
