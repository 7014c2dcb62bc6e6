// SPDX-License-Identifier: Apache-2.0
//
// shape: a simple closed or flat shape as polygons.
#include "mesh/shape.h"
#include "nodes/motion.h"
#include "nodes/parm.h"

// In the order of mn_shape_kind.
static const mn_menu_item kinds[] = {
    {"sphere", "Sphere"}, {"ellipsoid", "Ellipsoid"}, {"box", "Box"},   {"tube", "Tube"},
    {"torus", "Torus"},   {"grid", "Grid"},           {"ring", "Ring"}, {NULL, NULL}};

static const mn_parm_def parms[] = {
    MN_MENU(
        "kind", "Kind", kinds, MN_SHAPE_SPHERE, "Shape", NULL,
        "The shape to make. All are closed and can be filled, except the grid and a ring without height."),
    MN_VEC3("center", "Center", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Shape", NULL,
            "Where the middle of the shape is."),
    MN_VEC3(
        "radius", "Radius", "m", 0.01, 0.005, 0.01, 0, MN_FAR, 0, 0.1, "Shape",
        "{ kind == box } { kind == grid }",
        "Sphere: the first. Ellipsoid: the half axes. Tube: x and z of its section. Torus: the ring, then "
        "the tube. Ring: outside, then the hole."),
    MN_VEC3(
        "size", "Size", "m", 0.02, 0.02, 0.02, 0, MN_FAR, 0, 0.1, "Shape",
        "{ kind == sphere } { kind == ellipsoid } { kind == torus }",
        "Box: its edges. Grid: x and z. Tube and ring: y is the height; a ring of height 0 is a flat disc "
        "with a hole."),
    MN_VEC3("rotate", "Rotate", "deg", 0, 0, 0, -MN_FAR, MN_FAR, -180, 180, "Shape", NULL,
            "Turns about x, then y, then z, around the center. Without rotation the axis is y."),
    MN_INT3(
        "divisions", "Divisions", "", 0, 0, 0, 0, 16384, 0, 200, "Shape", NULL,
        "How finely the surface is cut; 0 chooses for the kind. Round shapes: around, then along the height "
        "or around the tube, then across caps and walls. Box and grid: along x, y, z."),
    MN_VEC3("velocity", "Velocity", "m/s", 0, 0, 0, -1e6, 1e6, -5, 5, "Motion", NULL,
            "Velocity of all points, as v, added to that of the motion: liquid filled into the shape starts "
            "with it, and liquid that flows in arrives with it."),
    MN_PARM_MOTION_VELOCITY,
    MN_FLOAT(
        "density", "Density", "kg/m^3", 0, 0, 1e9, 0, 14000, "Material", NULL,
        "Density of a body or a liquid of this shape, as the attribute density; 0 leaves it to the solver. Cork 200, glass 2500, steel 7850."),
};

static const mn_output_def outputs_of[] = {
    {"Polygons",
     "polygons that face out; v where the shape is animated or has a velocity, density where it is set"}};

static mn_shape_def def_of(const mn_cook *cook)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = (mn_shape_kind)mn_cook_menu(cook, "kind");
    def.center = mn_cook_vec3(cook, "center");
    def.radius = mn_cook_vec3(cook, "radius");
    def.size = mn_cook_vec3(cook, "size");
    def.rotate = mn_cook_vec3(cook, "rotate");
    const mn_vec3 divisions = mn_cook_vec3(cook, "divisions");
    def.divisions[0] = (int32_t)divisions.x;
    def.divisions[1] = (int32_t)divisions.y;
    def.divisions[2] = (int32_t)divisions.z;
    return def;
}

// The shape half a frame earlier and later, for its velocity.
static mn_status add_motion(const mn_cook *cook, mn_geo *geo)
{
    mn_parm_value values[MN_PARM_LIMIT];
    mn_cook at;
    mn_geo *side[2] = {NULL, NULL};
    mn_status status = MN_OK;
    for (int i = 0; i < 2; i++) {
        if (!mn_cook_at(cook, cook->frame + (i == 0 ? -0.5 : 0.5), values, &at)) goto out;
        const mn_shape_def def = def_of(&at);
        MN_TRY_TO(out, status, mn_shape_create(cook->ctx, &def, &side[i]));
    }
    status = mn_node_add_motion(geo, side[0], side[1], 1.0 / cook->fps);
out:
    mn_geo_free(side[0]);
    mn_geo_free(side[1]);
    return status;
}

// The same for all points.
static mn_status add_constant(mn_geo *geo, const char *name, int32_t size, mn_hint hint, const double *value)
{
    mn_attribute *a;
    MN_TRY(mn_geo_add_attribute(geo, MN_POINT, name, MN_F32, size, hint, &a));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) MN_TRY(mn_attribute_set(geo, a, i, 1, value));
    return MN_OK;
}

static mn_status add_attributes(const mn_cook *cook, mn_geo *geo)
{
    const mn_vec3 velocity = mn_cook_vec3(cook, "velocity");
    const double density = mn_cook_float(cook, "density");
    if (mn_norm2(velocity) > 0) MN_TRY(add_constant(geo, "v", 3, MN_HINT_VECTOR, &velocity.x));
    if (density > 0) MN_TRY(add_constant(geo, "density", 1, MN_HINT_NONE, &density));
    return MN_OK;
}

// A sphere with three radii that someone has set is probably meant to be an ellipsoid.
static void warn_of_unused_radii(const mn_cook *cook, const mn_shape_def *def)
{
    const mn_vec3 r = def->radius, usual = mn_shape_default_def().radius;
    const bool round = r.y == r.x && r.z == r.x, untouched = r.y == usual.y && r.z == usual.z;
    if (def->kind == MN_SHAPE_SPHERE && !round && !untouched)
        mn_cook_warn(cook, "A sphere takes the first radius, %g m, only; choose ellipsoid for all three.",
                     r.x);
}

static mn_status cook_shape(const mn_cook *cook, mn_geo **outputs)
{
    const mn_shape_def def = def_of(cook);
    warn_of_unused_radii(cook, &def);
    mn_geo *geo = NULL;
    MN_TRY(mn_shape_create(cook->ctx, &def, &geo));
    mn_status status = add_attributes(cook, geo);
    if (status == MN_OK && mn_cook_toggle(cook, "motion_velocity")) status = add_motion(cook, geo);
    if (status == MN_OK)
        outputs[0] = geo;
    else
        mn_geo_free(geo);
    return status;
}

const mn_node_type mn_shape_node = {
    .name = "shape",
    .label = "Meniscus Shape",
    .menu = "Meniscus/Geometry",
    .help = "Makes a sphere, ellipsoid, box, tube, torus, grid or ring to fill, emit from or collide with.",
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = parms,
    .parm_count = MN_COUNT_OF(parms),
    .cook = cook_shape,
};
