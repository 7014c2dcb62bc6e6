// SPDX-License-Identifier: Apache-2.0
//
// elastic_solver: soft solids, cloth and rigid bodies that push each other, pinned points and colliders. The
// numerics and the parameters are mn_elastic_solver's; this file cuts the inputs into bodies, one for each
// connected piece, and tells pinned points and colliders where to go.
#include "meniscus/elastic.h"
#include "nodes/columns.h"
#include "nodes/inputs.h"
#include "nodes/solver_node.h"

#include <string.h>

enum { INPUT_SOLIDS, INPUT_CLOTH, INPUT_RIGID, INPUT_COLLIDERS, INPUT_COUNT };
enum { PIN_PAINTED, PIN_BORDER, PIN_BOX };

static const mn_role roles[INPUT_COUNT] = {MN_ROLE_OWN, MN_ROLE_OWN, MN_ROLE_OWN, MN_ROLE_OWN};
static const mn_input_def inputs_of[INPUT_COUNT] = {
    [INPUT_SOLIDS] = {"Solids",
                      "tetrahedra, from tetrahedralize; v, rest, density, young and pinned are used", false,
                      false},
    [INPUT_CLOTH] = {"Cloth", "polygons, open or closed; v, rest, density, young and pinned are used", false,
                     false},
    [INPUT_RIGID] = {"Rigid Bodies", "closed polygons, each piece a body; v and density are used", false,
                     false},
    [INPUT_COLLIDERS] = {"Colliders", "polygons that move by themselves; a collider node must keep its mesh",
                         false, false},
};
static const mn_output_def outputs_of[] = {
    {"Bodies",
     "tetrahedra of solids, triangles of the others; points with v, rest, stress, contact_force, body "
     "and id"},
    {"Surface", "triangles of all bodies, with the same attributes"},
};

/// Where each of the solver's points comes from.
typedef struct origin {
    int32_t input, point;
} origin;

typedef struct own_memory {
    MN_ARRAY(origin) origins;
    mn_vec3_array targets;
    mn_elastic_inputs inputs;
} own_memory;

/// One input while it is being cut into bodies.
typedef struct cutting {
    const mn_cook *cook;
    mn_elastic *elastic;
    own_memory *own;
    const mn_geo *geo;
    int32_t input, size; ///< corners of an element
    MN_ARRAY(int32_t) corners, piece, local, body_corners, members;
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
    return MN_OK;
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
    if (c->size != 3 || mn_cook_menu(c->cook, "pin") != PIN_BORDER) return MN_OK;
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
    if (mn_column_number(c->geo, "pinned", point, 0) > 0.5 || c->border.data[point]) return true;
    if (mn_cook_menu(c->cook, "pin") != PIN_BOX) return false;
    const mn_vec3 off = mn_sub(x, mn_cook_vec3(c->cook, "pin_center")),
                  size = mn_cook_vec3(c->cook, "pin_size");
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
        const origin from = {c->input, i};
        c->local.data[i] = (int32_t)c->x.count;
        MN_TRY(mn_array_push(ctx, &c->x, &x));
        MN_TRY(mn_array_push(ctx, &c->v, &velocity));
        MN_TRY(mn_array_push(ctx, &c->rest, &undeformed));
        MN_TRY(mn_array_push(ctx, &c->pinned, &pinned));
        MN_TRY(mn_array_push(ctx, &c->own->origins, &from));
    }
    return MN_OK;
}

/// The elements of a piece, and their materials as means over their corners.
static mn_status gather_elements(cutting *c, int32_t piece, const mn_elastic_def *def)
{
    mn_context *ctx = c->cook->ctx;
    c->body_corners.count = c->density.count = c->young.count = 0;
    for (int64_t e = 0; e < c->corners.count; e += c->size) {
        if (c->piece.data[c->corners.data[e]] != piece) continue;
        double density = 0, young = 0;
        for (int k = 0; k < c->size; k++) {
            const int32_t point = c->corners.data[e + k];
            MN_TRY(mn_array_push(ctx, &c->body_corners, &c->local.data[point]));
            density += mn_column_number(c->geo, "density", point, def->density) / c->size;
            young += mn_column_number(c->geo, "young", point, def->young) / c->size;
        }
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

static mn_status add_piece(cutting *c, int32_t piece, mn_elastic_kind kind, const mn_elastic_def *def)
{
    MN_TRY(gather_points(c, piece));
    MN_TRY(gather_elements(c, piece, def));
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
    return mn_elastic_add(c->elastic, &body);
}

/// Elements of a geometry as bodies. Points that no element uses are left out.
static mn_status cut_input(cutting *c, const mn_elastic_def *def)
{
    static const mn_elastic_kind kinds[INPUT_COUNT] = {MN_ELASTIC_SOLID, MN_ELASTIC_CLOTH, MN_ELASTIC_RIGID,
                                                       MN_ELASTIC_COLLIDER};
    static const char *const wants[INPUT_COUNT] = {
        "the solids input holds no tetrahedra; make them with tetrahedralize first.",
        "the cloth input holds no polygons.", "the rigid bodies input holds no polygons.",
        "the colliders input holds no polygons; turn keep_mesh on in the collider node."};
    mn_context *ctx = c->cook->ctx;
    MN_TRY(read_elements(c));
    if (c->corners.count == 0) return mn_cook_fail(c->cook, MN_ERROR_INPUT, "%s", wants[c->input]);
    turn_tetrahedra(c);
    MN_TRY(find_pieces(c));
    MN_TRY(find_border(c));
    const int32_t count = (int32_t)mn_geo_point_count(c->geo);
    for (int32_t i = 0; i < count; i++) c->local.data[i] = 0;
    for (int64_t i = 0; i < c->corners.count; i++) c->local.data[c->corners.data[i]] = 1;
    for (int32_t i = 0; i < count; i++)
        if (c->local.data[i]) MN_TRY(mn_array_push(ctx, &c->members, &i));
    if (c->input == INPUT_COLLIDERS) { // pieces need not be told apart
        for (int32_t i = 0; i < count; i++) c->piece.data[i] = c->members.data[0];
        return add_piece(c, c->members.data[0], kinds[c->input], def);
    }
    for (int64_t m = 0; m < c->members.count; m++)
        if (c->piece.data[c->members.data[m]] == c->members.data[m])
            MN_TRY(add_piece(c, c->members.data[m], kinds[c->input], def));
    return MN_OK;
}

// ---- hooks ----

static mn_status start(const mn_cook *cook, mn_solver *solver, void *own)
{
    mn_elastic_def def;
    MN_TRY(mn_solver_node_def(cook, &def));
    for (int32_t input = 0; input < INPUT_COUNT; input++) {
        const mn_geo *geo = mn_cook_input(cook, input);
        if (!geo || mn_geo_point_count(geo) == 0) continue;
        cutting c = {.cook = cook,
                     .elastic = (mn_elastic *)solver,
                     .own = own,
                     .geo = geo,
                     .input = input,
                     .size = input == INPUT_SOLIDS ? 4 : 3};
        const mn_status status = cut_input(&c, &def);
        free_cutting(&c);
        MN_TRY(status);
    }
    return mn_elastic_check_apart((mn_elastic *)solver);
}

/// Pinned points and colliders go where the inputs have them at this frame.
static mn_status feed(const mn_cook *cook, mn_solver *solver, void *memory, mn_feeding feeding,
                      mn_solver_inputs *inputs)
{
    own_memory *own = memory;
    mn_elastic_view view;
    if (feeding != MN_FEED_ADVANCE) return MN_OK;
    MN_TRY(mn_elastic_get_view((mn_elastic *)solver, &view));
    if (view.point_count != own->origins.count)
        return mn_cook_fail(cook, MN_ERROR_FORMAT, "the checkpoint does not fit its inputs.");
    MN_TRY(mn_array_resize(cook->ctx, &own->targets, own->origins.count));
    for (int64_t i = 0; i < own->origins.count; i++) {
        const origin from = own->origins.data[i];
        const mn_geo *geo = mn_cook_input(cook, from.input);
        const bool known = geo && from.point < mn_geo_point_count(geo);
        if (from.input == INPUT_COLLIDERS && !known)
            return mn_cook_fail(
                cook, MN_ERROR_INPUT,
                "the collider had %d points or more at the start and has fewer now; colliders may "
                "move and bend but must keep their points.",
                from.point + 1);
        own->targets.data[i] = known ? mn_geo_position(geo, from.point) : view.positions[i];
    }
    own->inputs.targets = own->targets.data;
    inputs->own = &own->inputs;
    return MN_OK;
}

static mn_status save_own(const void *memory, mn_writer *out)
{
    return mn_write_array(out, &((const own_memory *)memory)->origins);
}

static mn_status load_own(const mn_cook *cook, void *memory, mn_reader *in)
{
    own_memory *own = memory;
    MN_TRY(mn_read_array(in, &own->origins));
    for (int64_t i = 0; i < own->origins.count; i++)
        if (own->origins.data[i].input < 0 || own->origins.data[i].input >= INPUT_COUNT ||
            own->origins.data[i].point < 0)
            return mn_cook_fail(cook, MN_ERROR_FORMAT, "the checkpoint is damaged.");
    return MN_OK;
}

static void free_own(mn_context *ctx, void *memory)
{
    own_memory *own = memory;
    mn_array_free(ctx, &own->origins);
    mn_array_free(ctx, &own->targets);
}

static const mn_solver_node solver = {
    .solver = &mn_elastic_solver,
    .roles = roles,
    .needs =
        "nothing to move: connect tetrahedra to the solids, or polygons to the cloth or the rigid bodies.",
    .start = start,
    .feed = feed,
    .own_size = sizeof(own_memory),
    .save_own = save_own,
    .load_own = load_own,
    .free_own = free_own,
};

const mn_node_type mn_elastic_solver_node = {
    .name = "elastic_solver",
    .label = "Meniscus Elastic Solver",
    .menu = "Meniscus/Solvers",
    .help = "Simulates soft solids, cloth and rigid bodies that push each other and never pass through each "
            "other.",
    .inputs = inputs_of,
    .input_count = INPUT_COUNT,
    .outputs = outputs_of,
    .output_count = MN_COUNT_OF(outputs_of),
    .parms = mn_elastic_fields,
    .parm_count = MN_ELASTIC_FIELD_COUNT,
    .time_dependent = true,
    .sim = &mn_solver_ops,
    .solver = &solver,
};
