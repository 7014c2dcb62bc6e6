// SPDX-License-Identifier: Apache-2.0
//
// Guides from a node's table, parameters, inputs and outputs. The lines themselves are the core's: outlines
// and level lines of meshes.
#include "plugin/host/network/guides.h"

#include "meniscus/array.h"
#include "mesh/mesh_lines.h"
#include "plugin/host/network/parms.h"
#include "plugin/host/sim/sim.h"

#include <string.h>

enum { ARROWS_MAX = 64, RING = 24 };
static const double CREASE = 30; ///< degrees

static const float BLUE[3] = {0.25f, 0.5f, 0.9f}, GREEN[3] = {0.2f, 0.75f, 0.3f},
                   LIME[3] = {0.6f, 0.9f, 0.2f}, ORANGE[3] = {1.0f, 0.5f, 0.1f};

// ---- parameters ----

static bool has_parm(const mn_node_type *type, const char *name)
{
    return mn_parm_find(type, name) >= 0;
}

static double number(const mn_guide_source *s, const char *name, double otherwise)
{
    return mn_parm_number(s->type, s->parms, name, otherwise);
}

static mn_vec3 vector(const mn_guide_source *s, const char *name)
{
    const int32_t at = mn_parm_find(s->type, name);
    const double *v = at >= 0 ? s->parms[at].number : NULL;
    return v ? mn_v3(v[0], v[1], v[2]) : mn_v3(0, 0, 0);
}

/// The token of a menu; "" when the type has no such parameter.
static const char *token(const mn_guide_source *s, const char *name)
{
    const int32_t at = mn_parm_find(s->type, name);
    if (at < 0 || s->type->parms[at].kind != MN_PARM_MENU) return "";
    return s->type->parms[at].items[(int32_t)s->parms[at].number[0]].token;
}

// ---- putting lines together ----

/// Moves `lines` into `guides` under a name and a colour; frees them in any case.
static mn_status take(mn_geo *guides, mn_geo *lines, const char *group, const float color[3])
{
    const int64_t count = mn_geo_primitive_count(lines);
    mn_group *made;
    mn_attribute *cd;
    mn_status status = mn_geo_add_group(lines, MN_PRIMITIVE, group, &made);
    uint8_t *members = status == MN_OK ? mn_group_write(lines, made) : NULL;
    for (int64_t i = 0; members && i < count; i++) members[i] = 1;
    if (status == MN_OK)
        status = mn_geo_add_attribute(lines, MN_PRIMITIVE, "Cd", MN_F32, 3, MN_HINT_COLOR, &cd);
    float *colors = status == MN_OK ? mn_attribute_write(lines, cd) : NULL;
    for (int64_t i = 0; colors && i < 3 * count; i++) colors[i] = color[i % 3];
    if (status == MN_OK && count > 0 && (!members || !colors)) status = MN_ERROR_MEMORY;
    if (status == MN_OK && count > 0) status = mn_geo_append(guides, lines);
    mn_geo_free(lines);
    return status;
}

static mn_status add_polyline(mn_geo *lines, int32_t count, const mn_vec3 *x, bool closed)
{
    int64_t first, points[RING + 1];
    MN_TRY(mn_geo_add_points(lines, count, &first));
    float *p = mn_geo_write_positions(lines);
    if (!p) return MN_ERROR_MEMORY;
    for (int32_t i = 0; i < count; i++) {
        float *to = p + 3 * (first + i);
        to[0] = (float)x[i].x, to[1] = (float)x[i].y, to[2] = (float)x[i].z;
        points[i] = first + i;
    }
    points[count] = first;
    return mn_geo_add_primitives(lines, MN_POLYLINE, 1, NULL, closed ? count + 1 : count, points, NULL);
}

// ---- the domain ----

static bool domain_of(const mn_guide_source *s, const char *use, const char *center, const char *size,
                      mn_box *box)
{
    if (!has_parm(s->type, center) || !has_parm(s->type, size) || number(s, use, 1) == 0) return false;
    const mn_vec3 c = vector(s, center), e = vector(s, size);
    *box = (mn_box){mn_axpy(c, -0.5, e), mn_axpy(c, 0.5, e)};
    return mn_is_finite3(box->min) && mn_is_finite3(box->max);
}

static mn_vec3 corner_of(mn_box box, int i)
{
    return mn_v3(i & 1 ? box.max.x : box.min.x, i & 2 ? box.max.y : box.min.y, i & 4 ? box.max.z : box.min.z);
}

static mn_status add_box(mn_context *ctx, mn_geo *guides, mn_box box)
{
    mn_geo *lines;
    mn_status status = MN_OK;
    MN_TRY(mn_geo_create(ctx, &lines));
    for (int i = 0; i < 8; i++)
        for (int k = 0; status == MN_OK && k < 3; k++) {
            const mn_vec3 ends[2] = {corner_of(box, i), corner_of(box, i | 1 << k)};
            if (!(i >> k & 1)) status = add_polyline(lines, 2, ends, false);
        }
    if (status == MN_OK) return take(guides, lines, "domain", BLUE);
    mn_geo_free(lines);
    return status;
}

static mn_status add_domain(mn_context *ctx, const mn_guide_source *s, mn_geo *guides)
{
    mn_box box;
    if (domain_of(s, "use_domain", "domain_center", "domain_size", &box)) MN_TRY(add_box(ctx, guides, box));
    if (domain_of(s, "use_limits", "limit_center", "limit_size", &box)) MN_TRY(add_box(ctx, guides, box));
    return MN_OK;
}

// ---- emitters ----

/// Where and how fast liquid leaves each point of an emitter.
typedef struct flow {
    mn_vec3 *velocity, *normal;
    int64_t count;
} flow;

/// Of the polygons around each point, by area; points without any keep their N.
static void normals_of(const mn_geo *geo, mn_vec3 *normal)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    const mn_attribute *given = mn_geo_find_numeric(geo, MN_POINT, "N", 3);
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) {
        normal[i] = mn_v3(0, 0, 0);
        if (given) mn_attribute_get(given, i, 1, &normal[i].x);
    }
    for (int64_t f = 0; !given && f < mn_geo_primitive_count(geo); f++)
        for (int64_t v = starts[f] + 1; kinds[f] == MN_POLYGON && v + 1 < starts[f + 1]; v++) {
            const int64_t c[3] = {points[starts[f]], points[v], points[v + 1]};
            const mn_vec3 o = mn_geo_position(geo, c[0]);
            const mn_vec3 n =
                mn_cross(mn_sub(mn_geo_position(geo, c[1]), o), mn_sub(mn_geo_position(geo, c[2]), o));
            for (int k = 0; k < 3; k++) normal[c[k]] = mn_add(normal[c[k]], n);
        }
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) normal[i] = mn_normalize(normal[i]);
}

/// As the node's table says.
static void velocities_of(const mn_guide_source *s, const mn_emitter_guide *emitter, const mn_geo *geo,
                          flow *f)
{
    const mn_attribute *v = mn_geo_find_numeric(geo, MN_POINT, "v", 3);
    const mn_cook cook = {.type = s->type,
                          .parms = s->parms,
                          .inputs = s->inputs,
                          .input_count = s->input_count,
                          .fps = s->fps};
    for (int64_t i = 0; i < f->count; i++) {
        mn_vec3 carried = {0, 0, 0};
        if (v) mn_attribute_get(v, i, 1, &carried.x);
        f->velocity[i] = emitter->velocity ? emitter->velocity(&cook, carried, f->normal[i]) : carried;
    }
}

static mn_vec3 across(mn_vec3 n)
{
    return mn_normalize(mn_cross(n, fabs(n.x) < 0.7 ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0)));
}

static mn_status add_arrow(mn_geo *lines, mn_vec3 from, mn_vec3 way)
{
    const double length = mn_norm(way);
    if (!(length > 0) || !mn_is_finite3(way) || !mn_is_finite3(from)) return MN_OK;
    const mn_vec3 n = mn_scale(1 / length, way), e = across(n), tip = mn_add(from, way);
    const mn_vec3 neck = mn_axpy(tip, -0.2 * length, n);
    const mn_vec3 shaft[2] = {from, tip};
    const mn_vec3 head[3] = {mn_axpy(neck, 0.08 * length, e), tip, mn_axpy(neck, -0.08 * length, e)};
    MN_TRY(add_polyline(lines, 2, shaft, false));
    return add_polyline(lines, 3, head, false);
}

/// Points without polygons give liquid as discs of radius pscale that face the way it goes.
static mn_status add_rings(mn_geo *lines, const mn_geo *geo, const flow *f)
{
    const mn_attribute *pscale = mn_geo_find_numeric(geo, MN_POINT, "pscale", 1);
    const int64_t stride = 1 + (f->count - 1) / ARROWS_MAX;
    for (int64_t i = 0; pscale && i < f->count; i += stride) {
        const mn_vec3 way = mn_norm2(f->velocity[i]) > 0 ? f->velocity[i] : f->normal[i];
        if (!(mn_norm2(way) > 0)) continue;
        const mn_vec3 n = mn_normalize(way), e0 = across(n), e1 = mn_cross(n, e0);
        double radius;
        mn_attribute_get(pscale, i, 1, &radius);
        mn_vec3 x[RING];
        for (int k = 0; k < RING; k++) {
            const double turn = 2 * MN_PI * k / RING;
            x[k] = mn_axpy(mn_axpy(mn_geo_position(geo, i), radius * cos(turn), e0), radius * sin(turn), e1);
        }
        MN_TRY(add_polyline(lines, RING, x, true));
    }
    return MN_OK;
}

static mn_status add_arrows(mn_context *ctx, const mn_geo *geo, const flow *f, double seconds, mn_geo *guides)
{
    mn_geo *lines;
    mn_status status = MN_OK;
    const int64_t stride = 1 + (f->count - 1) / ARROWS_MAX;
    MN_TRY(mn_geo_create(ctx, &lines));
    for (int64_t i = 0; status == MN_OK && i < f->count; i += stride)
        status = add_arrow(lines, mn_geo_position(geo, i), mn_scale(seconds, f->velocity[i]));
    if (status == MN_OK) return take(guides, lines, "flow", LIME);
    mn_geo_free(lines);
    return status;
}

static mn_status add_emitter(mn_context *ctx, const mn_guide_source *s, const mn_emitter_guide *emitter,
                             mn_geo *guides)
{
    const mn_geo *geo = s->inputs[emitter->input];
    MN_ARRAY(mn_vec3) vectors = {0};
    mn_geo *lines = NULL;
    mn_status status;
    const int64_t count = mn_geo_point_count(geo);
    MN_TRY_TO(done, status, mn_array_resize(ctx, &vectors, 2 * count));
    flow f = {vectors.data, vectors.data + count, count};
    normals_of(geo, f.normal);
    velocities_of(s, emitter, geo, &f);
    MN_TRY_TO(done, status, mn_mesh_outline(geo, CREASE, &lines));
    if (mn_geo_primitive_count(geo) == 0) MN_TRY_TO(done, status, add_rings(lines, geo, &f));
    status = take(guides, lines, "emitters", GREEN);
    lines = NULL;
    if (status == MN_OK) status = add_arrows(ctx, geo, &f, mn_sim_dt(s->type, s->parms, s->fps), guides);
done:
    mn_geo_free(lines);
    mn_array_free(ctx, &vectors);
    return status;
}

static mn_status add_emitters(mn_context *ctx, const mn_guide_source *s, mn_geo *guides)
{
    const mn_guide_table *table = s->type->guides;
    for (int32_t i = 0; table && i < table->emitter_count; i++) {
        const int32_t input = table->emitters[i].input;
        const mn_geo *geo = input < s->input_count ? s->inputs[input] : NULL;
        if (geo && mn_geo_point_count(geo) > 0) MN_TRY(add_emitter(ctx, s, &table->emitters[i], guides));
    }
    return MN_OK;
}

// ---- contact lines ----

/// The solids that liquid can rest on: level sets, and sides of a box.
typedef struct solids {
    const mn_geo *colliders; ///< may be NULL
    mn_box box;
    bool wall[6];
    double reach; ///< up to where all distances are true
    bool any;
} solids;

static solids solids_of(const mn_guide_source *s)
{
    static const char *const sides[6] = {"boundary_x_min", "boundary_x_max", "boundary_y_min",
                                         "boundary_y_max", "boundary_z_min", "boundary_z_max"};
    const int32_t input = s->type->guides->collider_input;
    solids found = {.colliders = input < s->input_count ? s->inputs[input] : NULL, .reach = INFINITY};
    const mn_geo *geo = found.colliders;
    for (int64_t i = 0; geo && i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        const mn_volume_info info = mn_volume_get_info(volume);
        if (!volume.ops || info.kind != MN_VOLUME_LEVEL_SET || info.components != 1) continue;
        found.any = true;
        found.reach = fmin(found.reach, 0.9 * fabs(info.background));
    }
    if (!domain_of(s, "use_domain", "domain_center", "domain_size", &found.box)) return found;
    for (int i = 0; i < 6; i++) {
        const char *side = token(s, sides[i]);
        if (strcmp(side, "same") == 0) side = token(s, "boundary");
        found.wall[i] = *side && strcmp(side, "open") != 0 && strcmp(side, "sink") != 0;
        found.any = found.any || found.wall[i];
    }
    return found;
}

static double distance_to(const solids *found, mn_vec3 x)
{
    const mn_geo *geo = found->colliders;
    const double sides[6] = {x.x - found->box.min.x, found->box.max.x - x.x, x.y - found->box.min.y,
                             found->box.max.y - x.y, x.z - found->box.min.z, found->box.max.z - x.z};
    double least = INFINITY;
    for (int i = 0; i < 6; i++)
        if (found->wall[i]) least = fmin(least, sides[i]);
    for (int64_t i = 0; geo && i < mn_geo_primitive_count(geo); i++) {
        const mn_volume volume = mn_geo_volume(geo, i);
        const mn_volume_info info = mn_volume_get_info(volume);
        if (volume.ops && info.kind == MN_VOLUME_LEVEL_SET && info.components == 1)
            least = fmin(least, mn_volume_sample(volume, x));
    }
    return least;
}

/// The mean edge of the polygons: how far from a solid a surface is that rests on it, give or take.
static double mean_edge(const mn_geo *geo)
{
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    double sum = 0;
    int64_t count = 0;
    for (int64_t f = 0; f < mn_geo_primitive_count(geo); f++)
        for (int64_t v = starts[f]; kinds[f] == MN_POLYGON && v + 1 < starts[f + 1]; v++, count++)
            sum += mn_distance(mn_geo_position(geo, points[v]), mn_geo_position(geo, points[v + 1]));
    return count > 0 ? sum / (double)count : 0;
}

static mn_status add_contact_lines(mn_context *ctx, const mn_guide_source *s, mn_geo *guides)
{
    const mn_guide_table *table = s->type->guides;
    const mn_geo *surface =
        table && table->contact_lines && s->outputs ? s->outputs[table->surface_output] : NULL;
    if (!surface || mn_geo_kind_count(surface, MN_POLYGON) == 0) return MN_OK;
    const solids found = solids_of(s);
    if (!found.any) return MN_OK;
    MN_ARRAY(double) distance = {0};
    mn_geo *lines = NULL;
    mn_status status;
    MN_TRY_TO(done, status, mn_array_resize(ctx, &distance, mn_geo_point_count(surface)));
    for (int64_t i = 0; i < distance.count; i++)
        distance.data[i] = distance_to(&found, mn_geo_position(surface, i));
    MN_TRY_TO(done, status,
              mn_mesh_level_line(surface, distance.data, fmin(mean_edge(surface), found.reach), &lines));
    status = take(guides, lines, "contact_lines", ORANGE);
    lines = NULL;
done:
    mn_geo_free(lines);
    mn_array_free(ctx, &distance);
    return status;
}

// ---- all of them ----

bool mn_guides_exist(const mn_node_type *type)
{
    return type->sim || has_parm(type, "domain_size") || has_parm(type, "limit_size");
}

mn_status mn_guides_create(mn_context *ctx, const mn_guide_source *source, mn_geo **guides)
{
    *guides = NULL;
    mn_geo *made;
    MN_TRY(mn_geo_create(ctx, &made));
    mn_status status = add_domain(ctx, source, made);
    if (status == MN_OK) status = add_emitters(ctx, source, made);
    if (status == MN_OK) status = add_contact_lines(ctx, source, made);
    if (status == MN_OK)
        *guides = made;
    else
        mn_geo_free(made);
    return status;
}
