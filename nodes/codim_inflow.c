// SPDX-License-Identifier: Apache-2.0
//
// A closed mesh as inflows. Parts that are connected have one velocity, and parts with the same velocity are
// one inflow, so that a hollow shape, whose inner wall is connected with nothing, stays hollow.
#include "nodes/codim_inflow.h"

#include "trimesh/mesh_parts.h"

#include <string.h>

static const double SAME = 1e-5; // of the larger velocity: v is single precision

/// What is worked on while an input is read.
typedef struct inflow_reading {
    mn_mesh_parts parts;
    MN_ARRAY(mn_vec3) velocity; ///< of each part
    MN_ARRAY(int32_t) points;   ///< of each part
    MN_ARRAY(int32_t) source;   ///< of each part
} inflow_reading;

static void free_reading(mn_context *ctx, inflow_reading *r)
{
    mn_mesh_parts_free(ctx, &r->parts);
    mn_array_free(ctx, &r->velocity);
    mn_array_free(ctx, &r->points);
    mn_array_free(ctx, &r->source);
}

static mn_status find_parts(const mn_cook *cook, const mn_geo *geo, const mn_triangles *mesh,
                            inflow_reading *r)
{
    const int64_t count = mn_geo_point_count(geo);
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    MN_TRY(mn_mesh_parts_find(cook->ctx, geo, mesh, &r->parts));
    const int32_t parts = r->parts.count;
    MN_TRY(mn_array_resize(cook->ctx, &r->velocity, parts));
    MN_TRY(mn_array_resize(cook->ctx, &r->points, parts));
    for (int32_t i = 0; i < parts; i++) r->velocity.data[i] = mn_v3(0, 0, 0), r->points.data[i] = 0;
    for (int64_t i = 0; i < count; i++) {
        const int32_t part = r->parts.part.data[i];
        mn_vec3 at = {0};
        if (part < 0) continue;
        if (v) mn_attribute_get(v, i, 1, &at.x);
        r->velocity.data[part] = mn_add(r->velocity.data[part], at);
        r->points.data[part]++;
    }
    for (int32_t i = 0; i < parts; i++)
        r->velocity.data[i] = mn_scale(1.0 / r->points.data[i], r->velocity.data[i]);
    return MN_OK;
}

static bool is_same(mn_vec3 a, mn_vec3 b)
{
    return mn_norm(mn_sub(a, b)) <= SAME * fmax(mn_norm(a), mn_norm(b));
}

// inflow->list.data[i].velocity is that of the parts alone so far.
static mn_status join_parts(const mn_cook *cook, inflow_reading *r, mn_codim_inflow *inflow)
{
    MN_TRY(mn_array_resize(cook->ctx, &r->source, r->velocity.count));
    for (int64_t i = 0; i < r->velocity.count; i++) {
        int64_t k = 0;
        while (k < inflow->list.count && !is_same(inflow->list.data[k].velocity, r->velocity.data[i])) k++;
        r->source.data[i] = (int32_t)k;
        const mn_codim_volume_inflow source = {.velocity = r->velocity.data[i]};
        if (k == inflow->list.count) MN_TRY(mn_array_push(cook->ctx, &inflow->list, &source));
    }
    return MN_OK;
}

static mn_status read_inflows(const mn_cook *cook, const mn_geo *geo, const mn_triangles *mesh,
                              inflow_reading *r, mn_codim_inflow *inflow)
{
    const mn_vec3 more = mn_cook_vec3(cook, "inflow_velocity");
    MN_TRY(find_parts(cook, geo, mesh, r));
    MN_TRY(join_parts(cook, r, inflow));
    MN_TRY(mn_array_resize(cook->ctx, &inflow->bodies, inflow->list.count));
    memset(inflow->bodies.data, 0, mn_bytes(inflow->bodies.count, sizeof *inflow->bodies.data));
    for (int64_t i = 0; i < inflow->list.count; i++) {
        mn_triangles *part;
        MN_TRY(mn_mesh_parts_pick(cook->ctx, &r->parts, r->source.data, (int32_t)i, &part));
        mn_mesh_region_take(&inflow->bodies.data[i], part);
        inflow->list.data[i].region = inflow->bodies.data[i].region;
        inflow->list.data[i].velocity = mn_add(inflow->list.data[i].velocity, more);
    }
    return MN_OK;
}

mn_status mn_codim_inflow_read(const mn_cook *cook, int32_t input, mn_codim_inflow *inflow)
{
    const mn_geo *geo = mn_cook_input(cook, input);
    mn_mesh_region whole;
    inflow_reading reading;
    memset(&reading, 0, sizeof reading);
    memset(inflow, 0, sizeof *inflow);
    MN_TRY(mn_input_mesh_region(cook, geo, "the inflow", &whole));
    const mn_status status = whole.mesh ? read_inflows(cook, geo, whole.mesh, &reading, inflow) : MN_OK;
    mn_mesh_region_free(&whole);
    free_reading(cook->ctx, &reading);
    return status;
}

void mn_codim_inflow_free(mn_context *ctx, mn_codim_inflow *inflow)
{
    for (int64_t i = 0; i < inflow->bodies.count; i++) mn_mesh_region_free(&inflow->bodies.data[i]);
    mn_array_free(ctx, &inflow->bodies);
    mn_array_free(ctx, &inflow->list);
}
