// SPDX-License-Identifier: Apache-2.0
//
// transform: moves, turns and scales everything that comes in, volumes too.
//
//   x -> translate + pivot + R S (x - pivot)
#include "geo/transform.h"
#include "nodes/group.h"
#include "nodes/motion.h"

static const mn_parm_def parms[] = {
    MN_PARM_GROUP("What is moved", "Transform"),
    MN_VEC3("translate", "Translate", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Transform", NULL,
            "Displacement, after rotation and scaling."),
    MN_VEC3("rotate", "Rotate", "deg", 0, 0, 0, -MN_FAR, MN_FAR, -180, 180, "Transform", NULL,
            "Turns about x, then y, then z, around the pivot."),
    MN_VEC3("scale", "Scale", "", 1, 1, 1, -MN_FAR, MN_FAR, 0, 10, "Transform", NULL,
            "Stretches along each axis, around the pivot. Level sets can be scaled evenly only."),
    MN_FLOAT("uniform_scale", "Uniform Scale", "", 1, -MN_FAR, MN_FAR, 0, 10, "Transform", NULL,
             "Scales all axes at once."),
    MN_VEC3("pivot", "Pivot", "m", 0, 0, 0, -MN_FAR, MN_FAR, -1, 1, "Transform", NULL,
            "The fixed point of rotation and scaling."),
    MN_PARM_MOTION_VELOCITY,
};

static const mn_input_def inputs_of[] = {{"Geometry", "anything", true, false}};
static const mn_output_def outputs_of[] = {
    {"Geometry", "the input, moved; v turned with it, and that of the motion added where it is animated"}};

static mn_mat4 matrix_of(const mn_cook *cook)
{
    const mn_vec3 pivot = mn_cook_vec3(cook, "pivot");
    const mn_vec3 s = mn_scale(mn_cook_float(cook, "uniform_scale"), mn_cook_vec3(cook, "scale"));
    const mn_mat3 linear =
        mn_m3_mul(mn_m3_rotation(mn_cook_vec3(cook, "rotate")), mn_m3_diagonal(s.x, s.y, s.z));
    const mn_vec3 translation =
        mn_sub(mn_add(mn_cook_vec3(cook, "translate"), pivot), mn_m3_apply(linear, pivot));
    return mn_m4_affine(linear, translation);
}

// The input's points alone, moved as they are half a frame earlier or later. NULL when the host cannot tell.
static mn_status moved_points(const mn_cook *cook, double frame, const uint8_t *chosen, mn_geo **moved)
{
    *moved = NULL;
    mn_parm_value values[MN_PARM_LIMIT];
    mn_cook at;
    if (!mn_cook_at(cook, frame, values, &at)) return MN_OK;
    const mn_mat4 matrix = matrix_of(&at);
    const mn_geo *input = mn_cook_input(cook, 0);
    const int64_t count = mn_geo_point_count(input);
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(fail, status, mn_geo_create(cook->ctx, &geo));
    MN_TRY_TO(fail, status, mn_geo_add_points(geo, count, NULL));
    float *p = mn_geo_write_positions(geo);
    if (count > 0 && !p) {
        status = MN_ERROR_MEMORY;
        goto fail;
    }
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 old = mn_geo_position(input, i), x = chosen[i] ? mn_m4_apply_point(matrix, old) : old;
        p[3 * i] = (float)x.x, p[3 * i + 1] = (float)x.y, p[3 * i + 2] = (float)x.z;
    }
    *moved = geo;
    return MN_OK;
fail:
    mn_geo_free(geo);
    return status;
}

static mn_status add_motion(const mn_cook *cook, const uint8_t *chosen, mn_geo *geo)
{
    mn_geo *before = NULL, *after = NULL;
    mn_status status;
    MN_TRY_TO(out, status, moved_points(cook, cook->frame - 0.5, chosen, &before));
    MN_TRY_TO(out, status, moved_points(cook, cook->frame + 0.5, chosen, &after));
    if (before && after) status = mn_node_add_motion(geo, before, after, 1.0 / cook->fps);
out:
    mn_geo_free(before);
    mn_geo_free(after);
    return status;
}

static int64_t count_finite(const mn_geo *geo)
{
    const float *positions = mn_geo_positions(geo);
    const int64_t points = mn_geo_point_count(geo);
    int64_t count = 0;
    for (int64_t i = 0; i < points; i++) {
        const float *p = positions + 3 * i;
        count += isfinite(p[0]) && isfinite(p[1]) && isfinite(p[2]);
    }
    return count;
}

static mn_status cook_transform(const mn_cook *cook, mn_geo **outputs)
{
    const mn_mat4 matrix = matrix_of(cook);
    const double determinant = mn_m3_determinant(mn_m4_linear(matrix));
    if (!isfinite(determinant) || determinant == 0)
        return mn_cook_fail(
            cook, MN_ERROR_ARGUMENT,
            "the scale flattens the geometry to nothing; set every scale to a number other than 0.");
    mn_geo *geo = NULL;
    mn_chosen chosen = {0};
    mn_status status;
    MN_TRY_TO(out, status, mn_cook_choose(cook, &chosen));
    MN_TRY_TO(out, status, mn_geo_copy(mn_cook_input(cook, 0), &geo));
    const bool whole = !*mn_cook_string(cook, "group"); // detail attributes go along then
    MN_TRY_TO(
        out, status,
        mn_geo_transform_part(geo, matrix, whole ? NULL : chosen.points, whole ? NULL : chosen.primitives));
    if (count_finite(geo) < count_finite(mn_cook_input(cook, 0))) {
        status = mn_cook_fail(cook, MN_ERROR_ARGUMENT,
                              "the geometry would lie too far out for its coordinates; use a smaller scale.");
        goto out;
    }
    if (mn_cook_toggle(cook, "motion_velocity")) MN_TRY_TO(out, status, add_motion(cook, chosen.points, geo));
    outputs[0] = geo;
    geo = NULL;
out:
    mn_geo_free(geo);
    mn_chosen_free(cook->ctx, &chosen);
    return status;
}

const mn_node_type mn_transform_node = {
    .name = "transform",
    .label = "Meniscus Transform",
    .menu = "Meniscus/Geometry",
    .help = "Moves, turns and scales geometry and volumes, and gives animated geometry its velocity.",
    MN_NODE_TABLES(inputs_of, outputs_of, parms),
    .cook = cook_transform,
};
