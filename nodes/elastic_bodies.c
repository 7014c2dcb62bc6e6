// SPDX-License-Identifier: Apache-2.0
//
// Geometry cut into bodies, and where their pinned points and colliders go (elastic_bodies.h).
#include "nodes/elastic_bodies.h"
#include "mesh/level_set_mesh.h"

#include <string.h>

/// One input while it is being cut into bodies.
typedef struct cutting {
    const mn_cook *cook;
    const mn_body_source *from;
    const mn_geo *geo;
    int32_t size; ///< corners of an element
    MN_ARRAY(int32_t) corners, piece, local, body_corners, members;
    MN_ARRAY(int64_t) primitive; ///< of each element
    int64_t reading;             ///< the primitive whose elements are being made
    MN_ARRAY(mn_vec3) x, v, rest;
    MN_ARRAY(uint8_t) pinned, border;
    MN_ARRAY(double) density, young;
} cutting;

static void free_cutting(cutting *c)
{
    mn_context *ctx = c->cook->ctx;
    mn_array_free(ctx, &c->corners);
    mn_array_free(ctx, &c->piece);
    mn_array_free(ctx, &c->local);
    mn_array_free(ctx, &c->body_corners);
    mn_array_free(ctx, &c->members);
    mn_array_free(ctx, &c->primitive);
    mn_array_free(ctx, &c->x);
    mn_array_free(ctx, &c->v);
    mn_array_free(ctx, &c->rest);
    mn_array_free(ctx, &c->pinned);
    mn_array_free(ctx, &c->border);
    mn_array_free(ctx, &c->density);
    mn_array_free(ctx, &c->young);
}

// ---- elements ----

static mn_status push_triangle(cutting *c, int64_t p, int64_t q, int64_t r)
{
    const int32_t corner[3] = {(int32_t)p, (int32_t)q, (int32_t)r};
    if (p == q || q == r || r == p) return MN_OK;
    for (int k = 0; k < 3; k++) MN_TRY(mn_array_push(c->cook->ctx, &c->corners, &corner[k]));
    return mn_array_push(c->cook->ctx, &c->primitive, &c->reading);
}

/// Quads are cut so that diagonals meet: with all of them alike, cloth would bend more easily one way than
/// the other. `local` counts the diagonals that end at a point.
static mn_status push_polygon(cutting *c, const int64_t *p, int64_t count)
{
    if (count == 4) {
        int32_t *ends = c->local.data;
        if (ends[p[1]] + ends[p[3]] > ends[p[0]] + ends[p[2]]) {
            ends[p[1]]++, ends[p[3]]++;
            MN_TRY(push_triangle(c, p[0], p[1], p[3]));
            return push_triangle(c, p[1], p[2], p[3]);
        }
        ends[p[0]]++, ends[p[2]]++;
    }
    for (int64_t k = 1; k + 1 < count; k++) MN_TRY(push_triangle(c, p[0], p[k], p[k + 1]));
    return MN_OK;
}

static mn_status read_elements(cutting *c)
{
    const mn_geo *geo = c->geo;
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    const uint8_t *kinds = mn_geo_primitive_kinds(geo);
    const int64_t count = mn_geo_point_count(geo);
    if (count > INT32_MAX / 4)
        return mn_cook_fail(c->cook, MN_ERROR_UNSUPPORTED, "an input has more than 500 million points.");
    MN_TRY(mn_array_resize(c->cook->ctx, &c->local, count));
    for (int64_t i = 0; i < count; i++) c->local.data[i] = 0;
    for (int64_t p = 0; p < mn_geo_primitive_count(geo); p++) {
        c->reading = p;
        if (c->size == 4 && kinds[p] == MN_TETRAHEDRON)
            MN_TRY(mn_array_push(c->cook->ctx, &c->primitive, &c->reading));
        if (c->size == 3 && kinds[p] == MN_POLYGON)
            MN_TRY(push_polygon(c, points + starts[p], starts[p + 1] - starts[p]));
        for (int64_t k = starts[p]; c->size == 4 && kinds[p] == MN_TETRAHEDRON && k < starts[p + 1]; k++) {
            const int32_t corner = (int32_t)points[k];
            MN_TRY(mn_array_push(c->cook->ctx, &c->corners, &corner));
        }
    }
    return MN_OK;
}

/// A tetrahedron that is turned inside out is turned back: hosts differ in which way is out.
static void turn_tetrahedra(cutting *c)
{
    for (int64_t i = 0; c->size == 4 && i < c->corners.count; i += 4) {
        int32_t *t = c->corners.data + i;
        const mn_vec3 a = mn_geo_position(c->geo, t[0]);
        const mn_vec3 e = mn_sub(mn_geo_position(c->geo, t[1]), a),
                      f = mn_sub(mn_geo_position(c->geo, t[2]), a),
                      g = mn_sub(mn_geo_position(c->geo, t[3]), a);
        if (mn_dot(mn_cross(e, f), g) >= 0) continue;
        const int32_t swap = t[0];
        t[0] = t[1], t[1] = swap;
    }
}

// ---- pieces ----

static int32_t root_of(int32_t *parent, int32_t i)
{
    while (parent[i] != i) {
        parent[i] = parent[parent[i]];
        i = parent[i];
    }
    return i;
}

/// piece[i]: the first point of the connected piece that point i is in.
static mn_status find_pieces(cutting *c)
{
    const int32_t count = (int32_t)mn_geo_point_count(c->geo);
    MN_TRY(mn_array_resize(c->cook->ctx, &c->piece, count));
    for (int32_t i = 0; i < count; i++) c->piece.data[i] = i;
    for (int64_t e = 0; e < c->corners.count; e += c->size)
        for (int k = 1; k < c->size; k++) {
            const int32_t a = root_of(c->piece.data, c->corners.data[e]),
                          b = root_of(c->piece.data, c->corners.data[e + k]);
            if (a < b)
                c->piece.data[b] = a;
            else
                c->piece.data[a] = b;
        }
    for (int32_t i = 0; i < count; i++) c->piece.data[i] = root_of(c->piece.data, i);
    return MN_OK;
}

/// Points at the rim of polygons: those with an edge that is passed once.
static mn_status find_border(cutting *c)
{
    const int64_t count = mn_geo_point_count(c->geo);
    mn_context *ctx = c->cook->ctx;
    MN_TRY(mn_array_resize(ctx, &c->border, count));
    memset(c->border.data, 0, (size_t)count);
    if (c->size != 3) return MN_OK;
    // the ends of each edge added up with signs: what is passed both ways cancels in any of a few such sums
    double *sum = mn_allocate_zero(ctx, mn_bytes(count, sizeof *sum));
    if (!sum) return MN_ERROR_MEMORY;
    for (int64_t e = 0; e < c->corners.count; e++) {
        const int32_t a = c->corners.data[e], b = c->corners.data[e % 3 == 2 ? e - 2 : e + 1];
        sum[a] += sqrt(2.0 + b), sum[b] -= sqrt(2.0 + a);
    }
    for (int64_t i = 0; i < count; i++) c->border.data[i] = fabs(sum[i]) > 1e-9 * sqrt(2.0 + (double)count);
    mn_release(ctx, sum, mn_bytes(count, sizeof *sum));
    return MN_OK;
}

static bool is_pinned(const cutting *c, const mn_group *group, int64_t point, mn_vec3 x)
{
    if (group && mn_group_data(group)[point]) return true;
    if (mn_column_number(c->geo, "pinned", point, 0) > 0.5) return true;
    if (c->from->pin == MN_PIN_BORDER) return c->border.data[point];
    if (c->from->pin != MN_PIN_BOX) return false;
    const mn_vec3 off = mn_sub(x, c->from->pin_center), size = c->from->pin_size;
    return fabs(off.x) <= 0.5 * size.x && fabs(off.y) <= 0.5 * size.y && fabs(off.z) <= 0.5 * size.z;
}

// ---- one body ----

/// The points of a piece, numbered from 0 in `local`, with what they carry.
static mn_status gather_points(cutting *c, int32_t piece)
{
    mn_context *ctx = c->cook->ctx;
    const mn_attribute *v = mn_geo_find_numeric(c->geo, MN_POINT, "v", 3);
    const mn_attribute *rest = mn_geo_find_numeric(c->geo, MN_POINT, "rest", 3);
    const mn_group *group = mn_geo_find_group(c->geo, MN_POINT, "pinned");
    c->x.count = c->v.count = c->rest.count = c->pinned.count = 0;
    const double speed = c->cook->dt > 0 ? 1 / (c->cook->dt * c->cook->fps) : 1; // on screen to simulated
    for (int64_t m = 0; m < c->members.count; m++) {
        const int32_t i = c->members.data[m];
        if (c->piece.data[i] != piece) continue;
        const mn_vec3 x = mn_geo_position(c->geo, i);
        mn_vec3 velocity = {0, 0, 0}, undeformed = x;
        if (v) mn_attribute_get(v, i, 1, &velocity.x);
        if (rest) mn_attribute_get(rest, i, 1, &undeformed.x);
        velocity = mn_scale(speed, velocity);
        const uint8_t pinned = is_pinned(c, group, i, x);
        const mn_body_origin from = {c->from->input, i};
        c->local.data[i] = (int32_t)c->x.count;
        MN_TRY(mn_array_push(ctx, &c->x, &x));
        MN_TRY(mn_array_push(ctx, &c->v, &velocity));
        MN_TRY(mn_array_push(ctx, &c->rest, &undeformed));
        MN_TRY(mn_array_push(ctx, &c->pinned, &pinned));
        MN_TRY(mn_array_push(ctx, c->from->origins, &from));
    }
    return MN_OK;
}

/// A number of an element: its primitive's, or else the mean over its corners.
static double element_number(const cutting *c, const char *name, int64_t element, double fallback)
{
    const mn_attribute *own = mn_geo_find_numeric(c->geo, MN_PRIMITIVE, name, 1);
    double value = 0;
    if (own) mn_attribute_get(own, c->primitive.data[element], 1, &value);
    // 0 where two inputs were merged and one has none, at points as well
    if (value != 0) return value;
    for (int32_t k = 0; k < c->size; k++)
        value += mn_column_number(c->geo, name, c->corners.data[element * c->size + k], fallback) / c->size;
    return value != 0 ? value : fallback;
}

/// The elements of a piece, and their materials.
static mn_status gather_elements(cutting *c, int32_t piece)
{
    mn_context *ctx = c->cook->ctx;
    c->body_corners.count = c->density.count = c->young.count = 0;
    for (int64_t e = 0; e < c->corners.count; e += c->size) {
        if (c->piece.data[c->corners.data[e]] != piece) continue;
        const double density = element_number(c, "density", e / c->size, c->from->density);
        const double young = element_number(c, "young", e / c->size, c->from->young);
        for (int k = 0; k < c->size; k++)
            MN_TRY(mn_array_push(ctx, &c->body_corners, &c->local.data[c->corners.data[e + k]]));
        MN_TRY(mn_array_push(ctx, &c->density, &density));
        MN_TRY(mn_array_push(ctx, &c->young, &young));
    }
    return MN_OK;
}

/// Closed surfaces get their normals outward, by the sign of their volume.
static void turn_outward(cutting *c)
{
    double volume = 0;
    int32_t *t = c->body_corners.data;
    for (int64_t e = 0; e < c->body_corners.count; e += 3) {
        const mn_vec3 a = mn_sub(c->x.data[t[e]], c->x.data[0]),
                      b = mn_sub(c->x.data[t[e + 1]], c->x.data[0]),
                      d = mn_sub(c->x.data[t[e + 2]], c->x.data[0]);
        volume += mn_dot(a, mn_cross(b, d));
    }
    for (int64_t e = 0; volume < 0 && e < c->body_corners.count; e += 3) {
        const int32_t swap = t[e];
        t[e] = t[e + 1], t[e + 1] = swap;
    }
}

static bool piece_is_closed(const cutting *c, int32_t piece)
{
    for (int64_t m = 0; m < c->members.count; m++) {
        const int32_t i = c->members.data[m];
        if (c->piece.data[i] == piece && c->border.data[i]) return false;
    }
    return true;
}

static mn_status add_piece(cutting *c, int32_t piece)
{
    const mn_elastic_kind kind = !c->from->by_shape          ? c->from->kind
                                 : piece_is_closed(c, piece) ? MN_ELASTIC_RIGID
                                                             : MN_ELASTIC_CLOTH;
    MN_TRY(gather_points(c, piece));
    MN_TRY(gather_elements(c, piece));
    if (kind == MN_ELASTIC_RIGID || kind == MN_ELASTIC_COLLIDER) turn_outward(c);
    const mn_elastic_body body = {.kind = kind,
                                  .point_count = (int32_t)c->x.count,
                                  .positions = c->x.data,
                                  .velocities = c->v.data,
                                  .rest = c->rest.data,
                                  .pinned = c->pinned.data,
                                  .element_count = (int32_t)(c->body_corners.count / c->size),
                                  .tetrahedra = (const int32_t(*)[4])c->body_corners.data,
                                  .triangles = (const int32_t(*)[3])c->body_corners.data,
                                  .density = c->density.data,
                                  .young = c->young.data};
    return mn_elastic_add(c->from->elastic, &body);
}

/// Points that no element uses are left out.
static mn_status cut_pieces(cutting *c)
{
    mn_context *ctx = c->cook->ctx;
    MN_TRY(read_elements(c));
    if (c->corners.count == 0) return MN_OK;
    turn_tetrahedra(c);
    MN_TRY(find_pieces(c));
    MN_TRY(find_border(c));
    const int32_t count = (int32_t)mn_geo_point_count(c->geo);
    for (int32_t i = 0; i < count; i++) c->local.data[i] = 0;
    for (int64_t i = 0; i < c->corners.count; i++) c->local.data[c->corners.data[i]] = 1;
    for (int32_t i = 0; i < count; i++)
        if (c->local.data[i]) MN_TRY(mn_array_push(ctx, &c->members, &i));
    if (c->from->kind == MN_ELASTIC_COLLIDER) { // pieces need not be told apart
        for (int32_t i = 0; i < count; i++) c->piece.data[i] = c->members.data[0];
        return add_piece(c, c->members.data[0]);
    }
    for (int64_t m = 0; m < c->members.count; m++)
        if (c->piece.data[c->members.data[m]] == c->members.data[m]) MN_TRY(add_piece(c, c->members.data[m]));
    return MN_OK;
}

mn_status mn_bodies_cut(const mn_cook *cook, const mn_geo *geo, const mn_body_source *source, bool *any)
{
    cutting c = {.cook = cook, .from = source, .geo = geo, .size = source->kind == MN_ELASTIC_SOLID ? 4 : 3};
    const mn_status status = cut_pieces(&c);
    *any = c.corners.count > 0;
    free_cutting(&c);
    return status;
}

static mn_volume level_set_of(const mn_geo *geo)
{
    const mn_volume volume = geo ? mn_geo_find_volume(geo, "surface") : (mn_volume){0};
    return volume.ops && mn_volume_get_info(volume).kind == MN_VOLUME_LEVEL_SET ? volume : (mn_volume){0};
}

mn_status mn_bodies_add_level_set(const mn_cook *cook, const mn_geo *geo, const mn_body_source *source,
                                  bool *any)
{
    const mn_volume volume = level_set_of(geo);
    mn_level_set_mesh mesh = {0};
    *any = false;
    if (!volume.ops) return MN_OK;
    mn_status status = mn_level_set_mesh_make(cook->ctx, volume, &mesh);
    const mn_body_origin from = {source->input, MN_BODY_OF_LEVEL_SET};
    for (int64_t i = 0; status == MN_OK && i < mesh.positions.count; i++)
        status = mn_array_push(cook->ctx, source->origins, &from);
    *any = mesh.corners.count > 0;
    if (status == MN_OK && *any)
        status = mn_elastic_add(source->elastic,
                                &(mn_elastic_body){.kind = MN_ELASTIC_COLLIDER,
                                                   .point_count = (int32_t)mesh.positions.count,
                                                   .positions = mesh.positions.data,
                                                   .element_count = (int32_t)(mesh.corners.count / 3),
                                                   .triangles = (const int32_t(*)[3])mesh.corners.data});
    mn_level_set_mesh_free(cook->ctx, &mesh);
    return status;
}

/// Where a point on the level set's surface goes within a frame.
static mn_status follow_level_set(const mn_cook *cook, const mn_geo *geo, mn_vec3 *x)
{
    const mn_volume volume = level_set_of(geo);
    const mn_volume vel = geo ? mn_geo_find_volume(geo, "vel") : (mn_volume){0};
    if (vel.ops && mn_volume_get_info(vel).components == 3)
        *x = mn_axpy(*x, 1 / cook->fps, mn_volume_sample_vec3(vel, *x));
    if (!volume.ops || !mn_level_set_project(volume, x))
        return mn_cook_fail(cook, MN_ERROR_INPUT,
                            "the level set of the collider moves out of its own band within a frame near "
                            "(%.4g, %.4g, %.4g); give it a vel volume or a wider band, or use polygons.",
                            x->x, x->y, x->z);
    return MN_OK;
}

mn_status mn_bodies_aim(const mn_cook *cook, mn_elastic *elastic, const mn_body_origins *origins,
                        int32_t colliders, mn_vec3_array *targets)
{
    mn_elastic_view view;
    MN_TRY(mn_elastic_get_view(elastic, &view));
    if (view.point_count != origins->count)
        return mn_cook_fail(cook, MN_ERROR_FORMAT, "the checkpoint does not fit its inputs.");
    MN_TRY(mn_array_resize(cook->ctx, targets, origins->count));
    for (int64_t i = 0; i < origins->count; i++) {
        const mn_body_origin from = origins->data[i];
        const mn_geo *geo = from.input >= 0 ? mn_cook_input(cook, from.input) : NULL;
        if (from.point == MN_BODY_OF_LEVEL_SET) {
            targets->data[i] = view.positions[i];
            MN_TRY(follow_level_set(cook, geo, &targets->data[i]));
            continue;
        }
        const bool known = geo && from.point < mn_geo_point_count(geo);
        if (from.input == colliders && !known)
            return mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "the collider had %d points or more at the start and has fewer now; colliders may "
                "move and bend but must keep their points.",
                from.point + 1);
        targets->data[i] = known ? mn_geo_position(geo, from.point) : view.positions[i];
    }
    return MN_OK;
}

mn_status mn_bodies_check_origins(const mn_cook *cook, const mn_body_origins *origins, int32_t input_count)
{
    for (int64_t i = 0; i < origins->count; i++)
        if (origins->data[i].input < -1 || origins->data[i].input >= input_count ||
            origins->data[i].point < 0)
            return mn_cook_fail(cook, MN_ERROR_FORMAT, "the checkpoint is damaged.");
    return MN_OK;
}
