// SPDX-License-Identifier: Apache-2.0
//
// spray_solver: drops that fly, bounce, stick or die, born from a source that may move. The numerics are
// mn_spray's; this file reads parameters and attributes, calls it, and writes attributes. It is the pattern
// for every simulating node.
#include "nodes/columns.h"
#include "nodes/inputs.h"
#include "nodes/materials.h"

#include <string.h>

enum { INPUT_SOURCE, INPUT_DROPS, INPUT_COLLIDERS, INPUT_WIND };
enum { EMIT_SURFACE, EMIT_POINTS };
enum { ALONG_NORMAL, ALONG_AXIS };

// ---- the table ----

static const mn_menu_item emit_items[] = {{"surface", "Surface"}, {"points", "Points"}, {NULL, NULL}};
static const mn_menu_item along_items[] = {{"normal", "Normal"}, {"axis", "Axis"}, {NULL, NULL}};
// In the order of mn_impact.
static const mn_menu_item impact_items[] = {
    {"bounce", "Bounce"}, {"stick", "Stick"}, {"die", "Die"}, {NULL, NULL}};

#define NOT_BOUNCING "{ impact != bounce }"

static const mn_parm_def parms[] = {
    MN_FLOAT("rate", "Rate", "1/s", 1000, 0, 1e12, 0, 100000, "Emission", NULL,
             "Drops born in a second, spread evenly over time. Animate it for bursts."),
    MN_MENU("emit_from", "Emit From", emit_items, EMIT_SURFACE, "Emission", NULL,
            "Everywhere on the source's polygons, or at its points only. A source without polygons emits "
            "from its "
            "points."),
    MN_FLOAT("speed", "Speed", "m/s", 1, -1e6, 1e6, 0, 20, "Emission", NULL,
             "How fast drops leave the source, on top of the source's own motion."),
    MN_FLOAT("speed_variation", "Speed Variation", "", 0.1, 0, 1, 0, 1, "Emission", NULL,
             "Speeds are spread evenly by this share to either side: 0.1 gives 0.9 to 1.1 times the speed."),
    MN_MENU("along", "Along", along_items, ALONG_NORMAL, "Emission", NULL,
            "Drops leave along the source's normals (its N, or the polygons' own) or along one axis."),
    MN_VEC3("direction", "Direction", "", 0, 1, 0, -MN_FAR, MN_FAR, -1, 1, "Emission", NULL,
            "The axis to emit along, and the way out where the source has no normals. Its length does not "
            "matter."),
    MN_FLOAT("spread", "Spread", "deg", 10, 0, 180, 0, 90, "Emission", NULL,
             "Half angle of the cone that drops leave in: 0 is a jet, 90 a half ball, 180 every way."),
    MN_FLOAT("inherit_velocity", "Inherit Velocity", "", 1, -1000, 1000, 0, 1, "Emission", NULL,
             "Share of the source's velocity that drops start with: its v, or the motion of its points from "
             "frame to "
             "frame."),
    MN_FLOAT("radius", "Radius", "m", 0.001, 1e-9, 1000, 1e-5, 0.01, "Drops", NULL,
             "Of drops that are born. Small ones are stopped by the air, large ones fly far."),
    MN_FLOAT("radius_variation", "Radius Variation", "", 0.3, 0, 0.99, 0, 0.99, "Drops", NULL,
             "Radii are spread evenly by this share to either side."),
    MN_PARM_MATERIAL("Drops"),
    MN_FLOAT("density", "Density", "kg/m^3", 1000, 1e-6, 1e6, 100, 14000, "Drops", MN_WITH_MATERIAL,
             "Of the liquid: water 1000, mercury 13534."),
    MN_FLOAT("life", "Life", "s", 0, 0, 1e9, 0, 10, "Drops", NULL, "How long drops live; 0 is for ever."),
    MN_FLOAT("life_variation", "Life Variation", "", 0.2, 0, 1, 0, 1, "Drops", "{ life == 0 }",
             "Lives are spread evenly by this share to either side."),
    MN_VEC3("gravity", "Gravity", "m/s^2", 0, -9.81, 0, -1e9, 1e9, -20, 20, "Air", NULL,
            "What pulls the drops."),
    MN_VEC3("wind", "Wind", "m/s", 0, 0, 0, -1e6, 1e6, -20, 20, "Air", NULL,
            "Velocity of the air everywhere; the wind input adds to it."),
    MN_FLOAT("air_density", "Air Density", "kg/m^3", 1.2, 0, 1e6, 0, 2, "Air", NULL, "0 is a vacuum."),
    MN_FLOAT("air_viscosity", "Air Viscosity", "Pa s", 1.8e-5, 0, 1e6, 0, 1e-4, "Air", NULL,
             "What stops very small drops."),
    MN_FLOAT("drag", "Drag", "", 1, 0, 1e6, 0, 4, "Air", NULL,
             "Factor on the drag of a sphere; 0 lets drops fly as in a vacuum."),
    MN_MENU("impact", "Impact", impact_items, MN_IMPACT_BOUNCE, "Impact", NULL,
            "What happens to a drop that meets a collider."),
    MN_FLOAT("restitution", "Restitution", "", 0.3, 0, 1, 0, 1, "Impact", NOT_BOUNCING,
             "Speed away from the collider over speed towards it. It bounces to the square of this of its "
             "height."),
    MN_FLOAT("friction", "Friction", "", 0.2, 0, 1e6, 0, 1, "Impact", NOT_BOUNCING,
             "Coulomb's coefficient; on slopes steeper than its arc tangent drops slide."),
    MN_FLOAT("cfl", "Collider Step", "voxel", 1, 0.01, 100, 0.1, 2, "Impact", NULL,
             "At a collider a drop moves by at most this many of its voxels at once. Smaller is finer."),
    MN_TOGGLE("use_limits", "Limit Box", 0, "Limits", NULL, "Removes drops that leave a box."),
    MN_VEC3("limit_center", "Limit Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -10, 10, "Limits",
            "{ use_limits == 0 }", "Middle of the box."),
    MN_VEC3("limit_size", "Limit Size", "m", 10, 10, 10, 0, MN_FAR, 0, 20, "Limits", "{ use_limits == 0 }",
            "Edges of the box."),
    MN_INT("max_drops", "Maximum Drops", "", 50000000, 0, 2000000000, 1000, 10000000, "Limits", NULL,
           "More drops than this end the simulation with an error instead of filling the memory."),
    MN_INT("seed", "Seed", "", 0, 0, 2147483647, 0, 100, "Simulation", NULL,
           "Another number gives other drops of the same kind."),
    MN_PARM_START_FRAME,
    MN_PARM_TIME_SCALE,
    MN_PARM_MIN_SUBSTEPS,
    MN_PARM_MAX_SUBSTEPS,
};

static const mn_input_def inputs_of[] = {
    [INPUT_SOURCE] = {"Source", "points or polygons to emit from, moving or still; N and v are used", false,
                      false},
    [INPUT_DROPS] = {"Drops",
                     "points to start with, at the start frame; v, pscale, mass, age and life are used",
                     false, false},
    [INPUT_COLLIDERS] = {"Colliders", "level sets, from collider nodes", false, false},
    [INPUT_WIND] = {"Wind", "a velocity volume named vel", false, false},
};
static const mn_output_def outputs_of[] = {
    {"Drops", "points with v, id, age, life, pscale, mass, density and stuck"}};

static mn_spray_def def_of(const mn_cook *cook)
{
    mn_spray_def def = mn_spray_default_def();
    def.gravity = mn_cook_vec3(cook, "gravity");
    def.wind = mn_cook_vec3(cook, "wind");
    def.air_density = mn_cook_float(cook, "air_density");
    def.air_viscosity = mn_cook_float(cook, "air_viscosity");
    def.drag = mn_cook_float(cook, "drag");
    def.rate = mn_cook_float(cook, "rate");
    def.density = mn_cook_material_float(cook, "density");
    def.radius = mn_cook_float(cook, "radius");
    def.radius_variation = mn_cook_float(cook, "radius_variation");
    def.life = mn_cook_float(cook, "life") > 0 ? mn_cook_float(cook, "life") : -1;
    def.life_variation = mn_cook_float(cook, "life_variation");
    def.speed = mn_cook_float(cook, "speed");
    def.speed_variation = mn_cook_float(cook, "speed_variation");
    def.use_normal = mn_cook_menu(cook, "along") == ALONG_NORMAL;
    def.direction = mn_cook_vec3(cook, "direction");
    def.spread = mn_cook_float(cook, "spread");
    def.inherit = mn_cook_float(cook, "inherit_velocity");
    def.impact = (mn_impact)mn_cook_menu(cook, "impact");
    def.restitution = mn_cook_float(cook, "restitution");
    def.friction = mn_cook_float(cook, "friction");
    def.cfl = mn_cook_float(cook, "cfl");
    def.use_limits = mn_cook_toggle(cook, "use_limits");
    const mn_vec3 center = mn_cook_vec3(cook, "limit_center"), size = mn_cook_vec3(cook, "limit_size");
    def.limits = (mn_box){mn_axpy(center, -0.5, size), mn_axpy(center, 0.5, size)};
    def.min_substeps = (int32_t)mn_cook_int(cook, "min_substeps");
    def.max_substeps = (int32_t)mn_cook_int(cook, "max_substeps");
    if (def.max_substeps < def.min_substeps) def.max_substeps = def.min_substeps;
    def.max_drops = mn_cook_int(cook, "max_drops");
    def.seed = (uint64_t)mn_cook_int(cook, "seed");
    return def;
}

// ---- what comes in ----

/// A source as the core wants it, and the memory it lies in.
typedef struct source_arrays {
    mn_spray_source source;
    mn_vec3_array positions, velocities, normals;
    mn_id_array triangles; ///< three points each
} source_arrays;

static void free_source(mn_context *ctx, source_arrays *arrays)
{
    mn_array_free(ctx, &arrays->positions);
    mn_array_free(ctx, &arrays->velocities);
    mn_array_free(ctx, &arrays->normals);
    mn_array_free(ctx, &arrays->triangles);
}

static mn_status read_source(const mn_cook *cook, source_arrays *arrays)
{
    memset(arrays, 0, sizeof *arrays);
    const mn_geo *geo = mn_cook_input(cook, INPUT_SOURCE);
    if (!geo) return MN_OK;
    mn_spray_source *source = &arrays->source;
    source->point_count = mn_geo_point_count(geo);
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &arrays->positions, &source->positions));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &arrays->velocities, &source->velocities));
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "N", &arrays->normals, &source->normals));
    if (mn_cook_menu(cook, "emit_from") == EMIT_SURFACE)
        MN_TRY(mn_input_triangles(cook->ctx, geo, &arrays->triangles));
    source->triangle_count = arrays->triangles.count / 3;
    source->triangles = (const int64_t(*)[3])arrays->triangles.data;
    return MN_OK;
}

static mn_status add_initial_drops(const mn_cook *cook, const mn_spray_def *def, mn_spray *spray)
{
    const mn_geo *geo = mn_cook_input(cook, INPUT_DROPS);
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    const int64_t count = mn_geo_point_count(geo);
    mn_drop *drops = mn_allocate_zero(cook->ctx, mn_bytes(count, sizeof *drops));
    if (!drops) return MN_ERROR_MEMORY;
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    for (int64_t i = 0; i < count; i++) {
        mn_drop *drop = &drops[i];
        drop->position = mn_geo_position(geo, i);
        if (v) mn_attribute_get(v, i, 1, &drop->velocity.x);
        drop->radius = mn_column_number(geo, "pscale", i, def->radius);
        drop->mass = mn_column_number(geo, "mass", i, mn_drop_mass(drop->radius, def->density));
        drop->age = mn_column_number(geo, "age", i, 0);
        drop->life = mn_column_number(geo, "life", i, def->life);
    }
    const mn_status status = mn_spray_add(spray, count, drops);
    mn_release(cook->ctx, drops, mn_bytes(count, sizeof *drops));
    return status;
}

// ---- the callbacks ----

static mn_status create(const mn_cook *cook, void **state)
{
    if (!mn_cook_input(cook, INPUT_SOURCE) && !mn_cook_input(cook, INPUT_DROPS))
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "nothing to fly: connect points or polygons to the source, or points to the drops.");
    const mn_spray_def def = def_of(cook);
    mn_spray *spray = NULL;
    source_arrays arrays;
    mn_status status;
    MN_TRY_TO(out, status, read_source(cook, &arrays));
    MN_TRY_TO(out, status, mn_spray_create(cook->ctx, &def, &spray));
    MN_TRY_TO(out, status, add_initial_drops(cook, &def, spray));
    MN_TRY_TO(out, status, mn_spray_set_source(spray, &arrays.source));
    *state = spray;
    spray = NULL;
out:
    free_source(cook->ctx, &arrays);
    mn_spray_free(spray);
    return status;
}

static mn_status advance(const mn_cook *cook, void *state)
{
    const mn_spray_def def = def_of(cook);
    source_arrays arrays;
    mn_collider *collider = NULL;
    mn_spray_inputs inputs = {.source = &arrays.source};
    mn_status status;
    MN_TRY_TO(out, status, read_source(cook, &arrays));
    MN_TRY_TO(out, status, mn_input_colliders(cook, INPUT_COLLIDERS, &collider));
    MN_TRY_TO(out, status, mn_input_wind(cook, INPUT_WIND, &inputs.wind));
    inputs.collider = collider;
    MN_TRY_TO(out, status, mn_spray_set_def(state, &def));
    status = mn_spray_advance(state, &inputs, cook->dt);
out:
    free_source(cook->ctx, &arrays);
    mn_collider_free(collider);
    return status;
}

/// The attributes of a drop, in the order they are written.
typedef struct drop_columns {
    float *P, *v, *age, *life, *pscale, *mass, *density;
    int32_t *id, *stuck;
} drop_columns;

static mn_status add_columns(mn_geo *geo, drop_columns *c)
{
    MN_TRY(mn_column_add(geo, "P", MN_F32, 3, MN_HINT_POINT, &c->P));
    MN_TRY(mn_column_add(geo, "v", MN_F32, 3, MN_HINT_VECTOR, &c->v));
    MN_TRY(mn_column_add(geo, "id", MN_I32, 1, MN_HINT_NONE, &c->id));
    MN_TRY(mn_column_add(geo, "age", MN_F32, 1, MN_HINT_NONE, &c->age));
    MN_TRY(mn_column_add(geo, "life", MN_F32, 1, MN_HINT_NONE, &c->life));
    MN_TRY(mn_column_add(geo, "pscale", MN_F32, 1, MN_HINT_NONE, &c->pscale));
    MN_TRY(mn_column_add(geo, "mass", MN_F32, 1, MN_HINT_NONE, &c->mass));
    MN_TRY(mn_column_add(geo, "density", MN_F32, 1, MN_HINT_NONE, &c->density));
    return mn_column_add(geo, "stuck", MN_I32, 1, MN_HINT_NONE, &c->stuck);
}

static mn_status emit(const mn_cook *cook, void *state, mn_geo **outputs)
{
    int64_t count;
    const mn_drop *drops = mn_spray_drops(state, &count);
    if (count > 0 && drops[count - 1].id > INT32_MAX)
        return mn_cook_fail(cook, MN_ERROR_UNSUPPORTED,
                            "more than two billion drops were born; lower the rate.");
    mn_geo *geo = NULL;
    drop_columns c;
    mn_status status;
    MN_TRY_TO(fail, status, mn_geo_create(cook->ctx, &geo));
    MN_TRY_TO(fail, status, mn_geo_add_points(geo, count, NULL));
    MN_TRY_TO(fail, status, add_columns(geo, &c));
    for (int64_t i = 0; i < count; i++) {
        const mn_drop *d = &drops[i];
        mn_column_put3(c.P, i, d->position);
        mn_column_put3(c.v, i, d->velocity);
        c.id[i] = (int32_t)d->id;
        c.age[i] = (float)d->age;
        c.life[i] = (float)d->life;
        c.pscale[i] = (float)d->radius;
        c.mass[i] = (float)d->mass;
        c.density[i] = (float)(d->mass / mn_drop_mass(d->radius, 1.0));
        c.stuck[i] = (d->flags & MN_DROP_STUCK) != 0;
    }
    outputs[0] = geo;
    return MN_OK;
fail:
    mn_geo_free(geo);
    return status;
}

static mn_status save(const mn_cook *cook, const void *state, mn_writer *out)
{
    (void)cook;
    return mn_spray_save(state, out);
}

static mn_status load(const mn_cook *cook, mn_reader *in, void **state)
{
    const mn_spray_def def = def_of(cook);
    mn_spray *spray = NULL;
    MN_TRY(mn_spray_load(cook->ctx, &def, in, &spray));
    *state = spray;
    return MN_OK;
}

static void report(const void *state, mn_report *out)
{
    mn_spray_report(state, out);
}

static void release(mn_context *ctx, void *state)
{
    (void)ctx;
    mn_spray_free(state);
}

// ---- doctor ----

static mn_status doctor(const mn_cook *cook, mn_doctor *d)
{
    const mn_spray_def def = def_of(cook);
    const double mass = mn_drop_mass(def.radius, def.density);
    const double speed = mn_spray_terminal_speed(&def, def.radius, mass);
    if (isfinite(speed))
        d->number(d->user, "terminal speed", speed, "m/s", "of a falling drop of the mean radius");
    if (def.air_viscosity > 0 && isfinite(speed))
        d->number(d->user, "Reynolds number", 2.0 * def.radius * def.air_density * speed / def.air_viscosity,
                  "", "at that speed; drag follows Schiller and Naumann below 1000, Newton above");
    d->number(d->user, "drops per frame", def.rate * cook->dt, "", "");
    if (def.life > 0) {
        const double count = def.rate * def.life;
        d->number(d->user, "drops at most", count, "", "rate times life");
        d->number(d->user, "memory", 2.0 * sizeof(mn_drop) * count * 1e-6, "MB", "");
    } else if (def.rate > 0 && !def.use_limits && def.impact != MN_IMPACT_DIE) {
        d->sentence(d->user,
                    "Drops live for ever and nothing removes them, so every frame is slower than the last: "
                    "set life, the limit box, or let them die on impact.");
    }
    return MN_OK;
}

static const mn_sim_ops sim = {create, advance, emit, save, load, report, release};

const mn_node_type mn_spray_solver_node = {
    .name = "spray_solver",
    .label = "Meniscus Spray Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates drops that fly through the air and bounce off, stick to or die on colliders.",
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
