// SPDX-License-Identifier: Apache-2.0
//
// mpm_solver's inputs: points that become liquid, and polygons or points that liquid comes out of.
#include "nodes/mpm_input.h"

#include "nodes/columns.h"
#include "sources/disc.h"

#include <stdlib.h>
#include <string.h>

// One number per point, or NULL when the attribute is missing.
static mn_status read_numbers(mn_context *ctx, const mn_geo *geo, const char *name, mn_number_array *array,
                              const double **values)
{
    *values = NULL;
    const mn_attribute *column = mn_geo_find_numeric(geo, MN_POINT, name, 1);
    if (!column || mn_geo_point_count(geo) == 0) return MN_OK;
    MN_TRY(mn_array_resize(ctx, array, mn_geo_point_count(geo)));
    mn_attribute_get(column, 0, array->count, array->data);
    *values = array->data;
    return MN_OK;
}

// ---- ids ----

static int by_value(const void *a, const void *b)
{
    const int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
    return (x > y) - (x < y);
}

// Two fills merged both number their points from zero.
static mn_status ids_repeat(mn_context *ctx, const mn_id_array *id, bool *repeat)
{
    mn_id_array sorted = {0};
    *repeat = false;
    MN_TRY(mn_array_resize(ctx, &sorted, id->count));
    memcpy(sorted.data, id->data, mn_bytes(id->count, sizeof *id->data));
    qsort(sorted.data, (size_t)sorted.count, sizeof *sorted.data, by_value);
    for (int64_t i = 1; i < sorted.count; i++) *repeat = *repeat || sorted.data[i] == sorted.data[i - 1];
    mn_array_free(ctx, &sorted);
    return MN_OK;
}

static mn_status read_ids(mn_context *ctx, const mn_geo *geo, mn_mpm_liquid *a)
{
    const int64_t count = mn_geo_point_count(geo);
    const mn_attribute *column = mn_geo_find_numeric(geo, MN_POINT, "id", 1);
    if (!column) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &a->id, count));
    for (int64_t i = 0; i < count; i++) {
        double value;
        mn_attribute_get(column, i, 1, &value);
        a->id.data[i] = value >= -1 && value < 1e15 ? (int64_t)value : -1;
    }
    bool repeat;
    MN_TRY(ids_repeat(ctx, &a->id, &repeat));
    if (!repeat) a->source.id = a->id.data;
    return MN_OK;
}

// ---- liquid ----

static mn_status read_liquids(mn_context *ctx, const mn_geo *geo, mn_mpm_liquid *a)
{
    const mn_attribute *column = mn_geo_find_numeric(geo, MN_POINT, "liquid", 1);
    if (!column) return MN_OK;
    MN_TRY(mn_array_resize(ctx, &a->liquid, a->source.count));
    for (int64_t i = 0; i < a->source.count; i++) {
        double value;
        mn_attribute_get(column, i, 1, &value);
        a->liquid.data[i] = value == 0 || value == 1 ? (int32_t)value : -1;
    }
    a->source.liquid = a->liquid.data;
    return MN_OK;
}

// Points that a fill has left to the solver have its density; among points that carry a material, those
// merged in without one have zeros.
static mn_status complete(mn_context *ctx, const mn_mpm_def *def, const mn_geo *geo, mn_mpm_liquid *a)
{
    mn_mpm_source *s = &a->source;
    const mn_attribute *volume = mn_geo_find_numeric(geo, MN_POINT, "volume", 1);
    if (!volume) return MN_OK;
    if (!s->mass) {
        MN_TRY(mn_array_resize(ctx, &a->mass, s->count));
        memset(a->mass.data, 0, mn_bytes(s->count, sizeof *a->mass.data));
        s->mass = a->mass.data;
    }
    MN_TRY(mn_array_resize(ctx, &a->follows, s->count));
    s->follows = a->follows.data;
    for (int64_t i = 0; i < s->count; i++) {
        int32_t *follows = &a->follows.data[i];
        *follows = 0;
        if (s->density && a->density.data[i] == 0)
            a->density.data[i] = def->density, *follows |= MN_MPM_SOURCE_DENSITY;
        if (s->sigma && s->viscosity && a->sigma.data[i] == 0 && a->viscosity.data[i] == 0) {
            a->sigma.data[i] = def->sigma, a->viscosity.data[i] = def->viscosity;
            *follows |= MN_MPM_SOURCE_SIGMA | MN_MPM_SOURCE_VISCOSITY;
        }
        if (a->mass.data[i] != 0) continue;
        double size;
        mn_attribute_get(volume, i, 1, &size);
        a->mass.data[i] = size * (s->density ? a->density.data[i] : def->density);
    }
    return MN_OK;
}

mn_status mn_mpm_liquid_read(mn_context *ctx, const mn_mpm_def *def, const mn_geo *geo, mn_mpm_liquid *a)
{
    memset(a, 0, sizeof *a);
    a->source.count = geo ? mn_geo_point_count(geo) : 0;
    if (a->source.count == 0) return MN_OK;
    MN_TRY(mn_column_read_vec3(ctx, geo, "P", &a->positions, &a->source.position));
    MN_TRY(mn_column_read_vec3(ctx, geo, "v", &a->velocities, &a->source.velocity));
    MN_TRY(read_numbers(ctx, geo, "mass", &a->mass, &a->source.mass));
    MN_TRY(read_numbers(ctx, geo, "density", &a->density, &a->source.density));
    MN_TRY(read_numbers(ctx, geo, "sigma", &a->sigma, &a->source.sigma));
    MN_TRY(read_numbers(ctx, geo, "viscosity", &a->viscosity, &a->source.viscosity));
    MN_TRY(complete(ctx, def, geo, a));
    MN_TRY(read_liquids(ctx, geo, a));
    return read_ids(ctx, geo, a);
}

void mn_mpm_liquid_free(mn_context *ctx, mn_mpm_liquid *a)
{
    mn_array_free(ctx, &a->positions);
    mn_array_free(ctx, &a->velocities);
    mn_array_free(ctx, &a->mass);
    mn_array_free(ctx, &a->density);
    mn_array_free(ctx, &a->sigma);
    mn_array_free(ctx, &a->viscosity);
    mn_array_free(ctx, &a->follows);
    mn_array_free(ctx, &a->liquid);
    mn_array_free(ctx, &a->id);
}

mn_status mn_mpm_liquid_keep_new(mn_context *ctx, mn_mpm_liquid *a, mn_id_array *seen)
{
    mn_mpm_source *s = &a->source;
    const int64_t old = seen->count;
    int64_t kept = 0;
    if (s->count == 0) return MN_OK;
    MN_TRY(mn_array_reserve(ctx, seen, old + s->count));
    for (int64_t i = 0; i < s->count; i++) {
        const int64_t id = a->id.data[i];
        if (old > 0 && bsearch(&id, seen->data, (size_t)old, sizeof id, by_value)) continue;
        a->positions.data[kept] = a->positions.data[i];
        if (s->velocity) a->velocities.data[kept] = a->velocities.data[i];
        if (s->mass) a->mass.data[kept] = a->mass.data[i];
        if (s->density) a->density.data[kept] = a->density.data[i];
        if (s->sigma) a->sigma.data[kept] = a->sigma.data[i];
        if (s->viscosity) a->viscosity.data[kept] = a->viscosity.data[i];
        if (s->follows) a->follows.data[kept] = a->follows.data[i];
        if (s->liquid) a->liquid.data[kept] = a->liquid.data[i];
        a->id.data[kept++] = id;
        seen->data[seen->count++] = id;
    }
    s->count = kept;
    if (kept > 0) qsort(seen->data, (size_t)seen->count, sizeof *seen->data, by_value);
    return MN_OK;
}

mn_status mn_mpm_liquid_follow(const mn_cook *cook, const mn_mpm_def *def, const mn_geo *geo, mn_mpm *mpm)
{
    mn_mpm_liquid liquid;
    mn_status status = mn_mpm_liquid_read(cook->ctx, def, geo, &liquid);
    const mn_mpm_source *s = &liquid.source;
    if (status == MN_OK && s->count > 0 && !s->id)
        status = mn_cook_fail(cook, MN_ERROR_INPUT,
                              "follow_input needs to know which particle a point became, but the input has "
                              "no id attribute, or one that repeats.");
    if (status == MN_OK)
        status = mn_mpm_set_materials(mpm, s->count, s->id, s->sigma, s->viscosity, s->density);
    mn_mpm_liquid_free(cook->ctx, &liquid);
    return status;
}

// ---- emitters ----

// `values` repeated for the corners of each point's disc.
static mn_status repeat_numbers(mn_context *ctx, mn_number_array *array, int64_t count, const double **values)
{
    if (!*values) return MN_OK;
    MN_TRY(mn_array_resize(ctx, array, count * MN_DISC_POINTS));
    for (int64_t i = count * MN_DISC_POINTS - 1; i >= 0; i--)
        array->data[i] = array->data[i / MN_DISC_POINTS];
    *values = array->data;
    return MN_OK;
}

// Points without polygons become discs of radius pscale that face along v or N.
static mn_status points_to_discs(const mn_cook *cook, const mn_geo *geo, bool along_v, double radius,
                                 mn_mpm_outlet *a)
{
    mn_context *ctx = cook->ctx;
    const int64_t count = mn_geo_point_count(geo);
    const mn_vec3 *axes = along_v ? a->velocities.data : a->normals.data;
    if (along_v ? !a->emitter.velocities : a->normals.count == 0)
        return mn_cook_fail(
            cook, MN_ERROR_INPUT,
            "the emitter is made of points, which need %s to say where liquid goes; or connect "
            "polygons.",
            along_v ? "v" : "N");
    MN_TRY(mn_array_resize(ctx, &a->positions, count * MN_DISC_POINTS));
    if (a->emitter.velocities) MN_TRY(mn_array_resize(ctx, &a->velocities, count * MN_DISC_POINTS));
    axes = along_v ? a->velocities.data : a->normals.data;
    for (int64_t i = count - 1; i >= 0; i--) {
        const mn_vec3 centre = a->positions.data[i], axis = axes[i];
        const mn_vec3 v = a->emitter.velocities ? a->velocities.data[i] : mn_v3(0, 0, 0);
        mn_disc_points(centre, axis, mn_column_number(geo, "pscale", i, radius),
                       a->positions.data + i * MN_DISC_POINTS);
        for (int c = 0; a->emitter.velocities && c < MN_DISC_POINTS; c++)
            a->velocities.data[i * MN_DISC_POINTS + c] = v;
    }
    for (int64_t i = 0; i < count; i++)
        for (int c = 0; c < MN_DISC_RIM; c++) {
            int64_t corners[3];
            mn_disc_triangle(i * MN_DISC_POINTS, c, corners);
            for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(ctx, &a->triangles, &corners[k]));
        }
    MN_TRY(repeat_numbers(ctx, &a->sigma, count, &a->emitter.sigma));
    MN_TRY(repeat_numbers(ctx, &a->viscosity, count, &a->emitter.viscosity));
    MN_TRY(repeat_numbers(ctx, &a->density, count, &a->emitter.density));
    a->emitter.point_count = count * MN_DISC_POINTS;
    return MN_OK;
}

mn_status mn_mpm_outlet_read(const mn_cook *cook, const mn_geo *geo, bool along_v, mn_mpm_outlet *a)
{
    memset(a, 0, sizeof *a);
    if (!along_v) a->emitter.speed = mn_cook_float(cook, "emit_speed");
    a->emitter.flow_rate = mn_cook_float(cook, "flow_rate");
    if (geo && along_v && !mn_geo_find_numeric(geo, MN_POINT, "v", 3) && a->emitter.flow_rate == 0)
        mn_cook_warn(cook, "The emitter has no v, so nothing comes out of it; give it one, set flow_rate, or "
                           "let it emit along its normals.");
    if (!geo || mn_geo_point_count(geo) == 0) return MN_OK;
    mn_mpm_emitter *e = &a->emitter;
    const mn_vec3 *normals;
    e->point_count = mn_geo_point_count(geo);
    MN_TRY(mn_column_read_vec3(cook->ctx, geo, "P", &a->positions, &e->positions));
    if (along_v) MN_TRY(mn_column_read_vec3(cook->ctx, geo, "v", &a->velocities, &e->velocities));
    MN_TRY(read_numbers(cook->ctx, geo, "sigma", &a->sigma, &e->sigma));
    MN_TRY(read_numbers(cook->ctx, geo, "viscosity", &a->viscosity, &e->viscosity));
    MN_TRY(read_numbers(cook->ctx, geo, "density", &a->density, &e->density));
    MN_TRY(mn_input_triangles(cook->ctx, geo, &a->triangles));
    if (a->triangles.count == 0) {
        MN_TRY(mn_column_read_vec3(cook->ctx, geo, "N", &a->normals, &normals));
        MN_TRY(points_to_discs(cook, geo, along_v, mn_cook_float(cook, "dx"), a));
    }
    e->positions = a->positions.data;
    if (e->velocities) e->velocities = a->velocities.data;
    e->triangle_count = a->triangles.count / 3;
    e->triangles = (const int64_t(*)[3])a->triangles.data;
    return MN_OK;
}

void mn_mpm_outlet_free(mn_context *ctx, mn_mpm_outlet *a)
{
    mn_array_free(ctx, &a->positions);
    mn_array_free(ctx, &a->velocities);
    mn_array_free(ctx, &a->normals);
    mn_array_free(ctx, &a->density);
    mn_array_free(ctx, &a->sigma);
    mn_array_free(ctx, &a->viscosity);
    mn_array_free(ctx, &a->triangles);
}
