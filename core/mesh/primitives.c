// SPDX-License-Identifier: Apache-2.0
//
// Simple shapes as polygons. Spheres are icosahedra whose faces are cut into n^2 triangles and pushed out to
// the sphere: 10 n^2 + 2 points, 20 n^2 triangles, edges that differ in length by less than a third. The
// others are sheets of quads (a grid of (u, v) that closes in one or both directions) sewn together by shared
// points.
#include "base/elementary.h"
#include "mesh/shape.h"

#include "meniscus/array.h"

static const double pi = MN_PI;

typedef struct builder {
    mn_context *ctx;
    MN_ARRAY(mn_vec3) points;
    MN_ARRAY(int32_t) counts;   ///< vertices of each polygon
    MN_ARRAY(int64_t) vertices; ///< points of the polygons
} builder;

mn_shape_def mn_shape_default_def(void)
{
    return (mn_shape_def){.kind = MN_SHAPE_SPHERE, .radius = {0.01, 0.005, 0.01}, .size = {0.02, 0.02, 0.02}};
}

// ---- building ----

static mn_status add_point(builder *b, mn_vec3 x)
{
    return mn_array_push(b->ctx, &b->points, &x);
}

static mn_status add_polygon(builder *b, int32_t count, const int64_t *points)
{
    MN_TRY(mn_array_push(b->ctx, &b->counts, &count));
    for (int32_t i = 0; i < count; i++) MN_TRY(mn_array_push(b->ctx, &b->vertices, &points[i]));
    return MN_OK;
}

static mn_status add_triangle(builder *b, int64_t i, int64_t j, int64_t k)
{
    return add_polygon(b, 3, (const int64_t[]){i, j, k});
}

// ---- spheres ----

// The icosahedron with two corners on the y axis; faces counter-clockwise from outside.
static mn_vec3 icosahedron_corner(int32_t i)
{
    if (i == 0) return mn_v3(0, 1, 0);
    if (i == 11) return mn_v3(0, -1, 0);
    const bool upper = i < 6;
    const double angle = 2.0 * pi / 5.0 * (upper ? i - 1 : i - 6 + 0.5),
                 y = upper ? 1 / sqrt(5) : -1 / sqrt(5);
    return mn_v3(2 / sqrt(5) * mn_cos(angle), y, 2 / sqrt(5) * mn_sin(angle));
}

static const int8_t icosahedron_faces[20][3] = {{0, 2, 1},  {0, 3, 2},  {0, 4, 3},  {0, 5, 4},   {0, 1, 5},
                                                {1, 2, 6},  {2, 7, 6},  {2, 3, 7},  {3, 8, 7},   {3, 4, 8},
                                                {4, 9, 8},  {4, 5, 9},  {5, 10, 9}, {5, 1, 10},  {1, 6, 10},
                                                {6, 7, 11}, {7, 8, 11}, {8, 9, 11}, {9, 10, 11}, {10, 6, 11}};

// Points of a subdivided face are shared with its neighbours: corners first, then the insides of the 30
// edges, then the insides of the faces.
typedef struct icosphere {
    builder *b;
    int32_t n;
    int32_t edge_of[12][12]; ///< number of the edge between two corners, from the lower to the higher; -1
} icosphere;

static int64_t edge_point(const icosphere *s, int32_t from, int32_t to, int32_t step)
{
    if (step == 0) return from;
    if (step == s->n) return to;
    const bool forward = from < to;
    const int64_t edge = forward ? s->edge_of[from][to] : s->edge_of[to][from];
    return 12 + edge * (s->n - 1) + (forward ? step : s->n - step) - 1;
}

// The point i steps from corner 0 towards corner 1 and j towards corner 2 of a face.
static int64_t face_point(const icosphere *s, int32_t face, int32_t i, int32_t j)
{
    const int8_t *c = icosahedron_faces[face];
    const int32_t n = s->n;
    if (j == 0) return edge_point(s, c[0], c[1], i);
    if (i == 0) return edge_point(s, c[0], c[2], j);
    if (i + j == n) return edge_point(s, c[1], c[2], j);
    const int64_t per_face = (int64_t)(n - 1) * (n - 2) / 2;
    // Rows of j = 1, 2, ... have n - 1 - j points each.
    const int64_t row = (int64_t)(j - 1) * (n - 1) - (int64_t)j * (j - 1) / 2;
    return 12 + 30 * (int64_t)(n - 1) + face * per_face + row + (i - 1);
}

static void set_icosphere_points(const icosphere *s)
{
    const int32_t n = s->n;
    for (int32_t face = 0; face < 20; face++) {
        const mn_vec3 a = icosahedron_corner(icosahedron_faces[face][0]);
        const mn_vec3 u = mn_sub(icosahedron_corner(icosahedron_faces[face][1]), a);
        const mn_vec3 v = mn_sub(icosahedron_corner(icosahedron_faces[face][2]), a);
        for (int32_t j = 0; j <= n; j++)
            for (int32_t i = 0; i + j <= n; i++)
                s->b->points.data[face_point(s, face, i, j)] =
                    mn_normalize(mn_axpy(mn_axpy(a, (double)i / n, u), (double)j / n, v));
    }
}

static mn_status build_sphere(builder *b, mn_vec3 radius, int32_t around)
{
    icosphere s = {.b = b, .n = around < 5 ? 1 : (around + 2) / 5};
    int32_t edges = 0;
    for (int32_t i = 0; i < 12; i++)
        for (int32_t j = 0; j < 12; j++) s.edge_of[i][j] = -1;
    for (int32_t face = 0; face < 20; face++)
        for (int32_t k = 0; k < 3; k++) {
            const int8_t p = icosahedron_faces[face][k], q = icosahedron_faces[face][(k + 1) % 3];
            if (p < q) s.edge_of[p][q] = edges++;
        }
    const int32_t n = s.n;
    MN_TRY(mn_array_resize(b->ctx, &b->points, 10 * (int64_t)n * n + 2));
    set_icosphere_points(&s);
    for (int64_t i = 0; i < b->points.count; i++) b->points.data[i] = mn_mul(radius, b->points.data[i]);
    for (int32_t face = 0; face < 20; face++)
        for (int32_t j = 0; j < n; j++)
            for (int32_t i = 0; i + j < n; i++) {
                const int64_t p = face_point(&s, face, i, j), q = face_point(&s, face, i + 1, j),
                              r = face_point(&s, face, i, j + 1);
                MN_TRY(add_triangle(b, p, q, r));
                if (i + j + 2 <= n) MN_TRY(add_triangle(b, q, face_point(&s, face, i + 1, j + 1), r));
            }
    return MN_OK;
}

// ---- sheets ----

// Quads of a grid of nu x nv cells whose points start at `first`, u fastest; `wrap_u`, `wrap_v` join the
// ends. The side from which (u, v) turn counter-clockwise is out.
static mn_status add_sheet(builder *b, int64_t first, int32_t nu, int32_t nv, bool wrap_u, bool wrap_v)
{
    const int64_t row = wrap_u ? nu : nu + 1;
    for (int32_t v = 0; v < nv; v++)
        for (int32_t u = 0; u < nu; u++) {
            const int64_t u1 = wrap_u ? (u + 1) % nu : u + 1, v1 = wrap_v ? (v + 1) % nv : v + 1;
            const int64_t quad[4] = {first + v * row + u, first + v * row + u1, first + v1 * row + u1,
                                     first + v1 * row + u};
            MN_TRY(add_polygon(b, 4, quad));
        }
    return MN_OK;
}

static mn_vec3 on_circle(int32_t i, int32_t n, double rx, double rz, double y)
{
    const double angle = 2.0 * pi * i / n;
    return mn_v3(rx * mn_cos(angle), y,
                 -rz * mn_sin(angle)); // with y up, counter-clockwise as seen from above
}

static mn_status build_grid(builder *b, mn_vec3 size, int32_t nx, int32_t nz)
{
    // u along z, v along x: u x v = z x x = y.
    for (int32_t i = 0; i <= nx; i++)
        for (int32_t k = 0; k <= nz; k++)
            MN_TRY(add_point(b, mn_v3(size.x * ((double)i / nx - 0.5), 0, size.z * ((double)k / nz - 0.5))));
    return add_sheet(b, 0, nz, nx, false, false);
}

// The surface of a lattice of n[0] x n[1] x n[2] cells; its points in order, those inside left out.
typedef struct lattice {
    int32_t n[3];
    int64_t *number; ///< of each lattice point on the surface
} lattice;

static int64_t lattice_index(const lattice *l, const int32_t p[3])
{
    return ((int64_t)p[2] * (l->n[1] + 1) + p[1]) * (l->n[0] + 1) + p[0];
}

// One side: axis fixed at its low or high end, quads over the two others.
static mn_status add_box_side(builder *b, const lattice *l, int axis, bool high)
{
    const int u = (axis + 1) % 3, v = (axis + 2) % 3;
    for (int32_t j = 0; j < l->n[v]; j++)
        for (int32_t i = 0; i < l->n[u]; i++) {
            int64_t quad[4];
            for (int k = 0; k < 4; k++) {
                // u, v turn counter-clockwise around +axis; the low side turns the other way.
                const int turn = high ? k : 3 - k;
                int32_t p[3];
                p[axis] = high ? l->n[axis] : 0;
                p[u] = i + (turn == 1 || turn == 2);
                p[v] = j + (turn >= 2);
                quad[k] = l->number[lattice_index(l, p)];
            }
            MN_TRY(add_polygon(b, 4, quad));
        }
    return MN_OK;
}

static mn_status build_box(builder *b, mn_vec3 size, const int32_t n[3])
{
    lattice l = {{n[0], n[1], n[2]}, NULL};
    const int64_t count = (int64_t)(n[0] + 1) * (n[1] + 1) * (n[2] + 1);
    l.number = mn_allocate(b->ctx, mn_bytes(count, sizeof *l.number));
    mn_status status = l.number ? MN_OK : MN_ERROR_MEMORY;
    int32_t p[3];
    for (p[2] = 0; p[2] <= n[2] && status == MN_OK; p[2]++)
        for (p[1] = 0; p[1] <= n[1] && status == MN_OK; p[1]++)
            for (p[0] = 0; p[0] <= n[0] && status == MN_OK; p[0]++) {
                bool outer = false;
                for (int k = 0; k < 3; k++) outer |= p[k] == 0 || p[k] == n[k];
                if (!outer) continue;
                l.number[lattice_index(&l, p)] = b->points.count;
                const mn_vec3 t = {(double)p[0] / n[0] - 0.5, (double)p[1] / n[1] - 0.5,
                                   (double)p[2] / n[2] - 0.5};
                status = add_point(b, mn_mul(size, t));
            }
    for (int side = 0; side < 6 && status == MN_OK; side++)
        status = add_box_side(b, &l, side / 2, side % 2 == 1);
    mn_release(b->ctx, l.number, mn_bytes(count, sizeof *l.number));
    return status;
}

static mn_status build_tube(builder *b, mn_vec3 radius, double height, int32_t around, int32_t along,
                            int32_t across)
{
    // One sheet from the bottom's centre over its rim and up to the rim at the top and its centre; the two
    // centres are single points.
    const int32_t rings = 2 * across + along - 1;
    for (int32_t ring = 0; ring < rings; ring++) {
        double r = 1, y = 0.5;
        if (ring < across)
            r = (double)(ring + 1) / across, y = -0.5;
        else if (ring < across + along)
            y = (double)(ring - across + 1) / along - 0.5;
        else
            r = (double)(rings - ring) / across;
        for (int32_t i = 0; i < around; i++)
            MN_TRY(add_point(b, on_circle(i, around, r * radius.x, r * radius.z, y * height)));
    }
    const int64_t bottom = b->points.count, top = bottom + 1, last = (int64_t)(rings - 1) * around;
    MN_TRY(add_point(b, mn_v3(0, -0.5 * height, 0)));
    MN_TRY(add_point(b, mn_v3(0, 0.5 * height, 0)));
    for (int32_t i = 0; i < around; i++) MN_TRY(add_triangle(b, bottom, (i + 1) % around, i));
    MN_TRY(add_sheet(b, 0, around, rings - 1, true, false));
    for (int32_t i = 0; i < around; i++) MN_TRY(add_triangle(b, top, last + i, last + (i + 1) % around));
    return MN_OK;
}

static mn_status build_torus(builder *b, mn_vec3 radius, int32_t around, int32_t tube)
{
    for (int32_t j = 0; j < tube; j++) {
        const double angle = 2.0 * pi * j / tube, r = radius.x + radius.y * mn_cos(angle);
        for (int32_t i = 0; i < around; i++)
            MN_TRY(add_point(b, on_circle(i, around, r, r, radius.y * mn_sin(angle))));
    }
    return add_sheet(b, 0, around, tube, true, true);
}

// The section of a pipe is a rectangle, walked counter-clockwise from its lower outer corner.
static mn_status build_pipe(builder *b, mn_vec3 radius, double height, int32_t around, int32_t along,
                            int32_t across)
{
    const int32_t section = 2 * (along + across);
    for (int32_t j = 0; j < section; j++) {
        double t, r, y;
        if (j < along)
            t = (double)j / along, r = radius.x, y = t - 0.5;
        else if (j < along + across)
            t = (double)(j - along) / across, r = radius.x + t * (radius.y - radius.x), y = 0.5;
        else if (j < 2 * along + across)
            t = (double)(j - along - across) / along, r = radius.y, y = 0.5 - t;
        else
            t = (double)(j - 2 * along - across) / across, r = radius.y + t * (radius.x - radius.y), y = -0.5;
        for (int32_t i = 0; i < around; i++) MN_TRY(add_point(b, on_circle(i, around, r, r, y * height)));
    }
    return add_sheet(b, 0, around, section, true, true);
}

static mn_status build_disc_with_hole(builder *b, mn_vec3 radius, int32_t around, int32_t across)
{
    for (int32_t j = 0; j <= across; j++) {
        const double r = radius.x + (double)j / across * (radius.y - radius.x);
        for (int32_t i = 0; i < around; i++) MN_TRY(add_point(b, on_circle(i, around, r, r, 0)));
    }
    return add_sheet(b, 0, around, across, true, false);
}

// ---- the def ----

typedef struct shape_rule {
    const char *name;
    bool radius[3], size[3]; ///< which components are used
    int32_t divisions[3];    ///< taken for 0
    int32_t least[3];        ///< fewer make no shape
} shape_rule;

static const shape_rule rules[MN_SHAPE_KIND_COUNT] = {
    [MN_SHAPE_SPHERE] = {"sphere", {true}, {false}, {100, 1, 1}, {1, 1, 1}},
    [MN_SHAPE_ELLIPSOID] = {"ellipsoid", {true, true, true}, {false}, {100, 1, 1}, {1, 1, 1}},
    [MN_SHAPE_BOX] = {"box", {false}, {true, true, true}, {1, 1, 1}, {1, 1, 1}},
    [MN_SHAPE_TUBE] = {"tube", {true, false, true}, {false, true}, {64, 16, 8}, {3, 1, 1}},
    [MN_SHAPE_TORUS] = {"torus", {true, true}, {false}, {64, 32, 1}, {3, 3, 1}},
    [MN_SHAPE_GRID] = {"grid", {false}, {true, false, true}, {10, 1, 10}, {1, 1, 1}},
    [MN_SHAPE_RING] = {"ring", {true, true}, {false}, {64, 8, 8}, {3, 1, 1}},
};

static mn_status check_lengths(mn_context *ctx, const char *shape, const char *name, const bool used[3],
                               mn_vec3 lengths)
{
    const double value[3] = {lengths.x, lengths.y, lengths.z};
    for (int i = 0; i < 3; i++)
        if (used[i] && !(value[i] > 0 && isfinite(value[i])))
            return mn_fail(ctx, MN_ERROR_ARGUMENT, "The %s has %s %c of %g m; it must be above 0.", shape,
                           name, "xyz"[i], value[i]);
    return MN_OK;
}

static mn_status check(mn_context *ctx, const mn_shape_def *def, int32_t n[3])
{
    if ((unsigned)def->kind >= MN_SHAPE_KIND_COUNT)
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "There is no shape of kind %d.", (int)def->kind);
    const shape_rule *rule = &rules[def->kind];
    MN_TRY(check_lengths(ctx, rule->name, "radius", rule->radius, def->radius));
    MN_TRY(check_lengths(ctx, rule->name, "size", rule->size, def->size));
    if (!mn_is_finite3(def->center) || !mn_is_finite3(def->rotate))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The %s's center or rotate is not finite.", rule->name);
    if ((def->kind == MN_SHAPE_TORUS || def->kind == MN_SHAPE_RING) && !(def->radius.y < def->radius.x))
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "The %s has radius x of %g m and radius y of %g m; y, its %s, must be smaller.",
                       rule->name, def->radius.x, def->radius.y,
                       def->kind == MN_SHAPE_RING ? "hole" : "tube");
    if (def->kind == MN_SHAPE_RING && !(def->size.y >= 0 && isfinite(def->size.y)))
        return mn_fail(ctx, MN_ERROR_ARGUMENT, "The ring has size y of %g m; it must be 0 or above.",
                       def->size.y);
    double polygons = 4;
    for (int i = 0; i < 3; i++) {
        n[i] = def->divisions[i] > 0 ? def->divisions[i] : rule->divisions[i];
        if (n[i] < rule->least[i]) n[i] = rule->least[i];
    }
    polygons *=
        fmax(fmax((double)n[0] * n[0], (double)n[0] * n[1]), fmax((double)n[0] * n[2], (double)n[1] * n[2]));
    // A box numbers its whole lattice.
    if (def->kind == MN_SHAPE_BOX) polygons = fmax(polygons, (double)n[0] * n[1] * n[2]);
    if (polygons > 0x1p28)
        return mn_fail(ctx, MN_ERROR_ARGUMENT,
                       "Divisions of %d, %d, %d make more polygons than are sensible.", (int)n[0], (int)n[1],
                       (int)n[2]);
    return MN_OK;
}

static mn_status build(builder *b, const mn_shape_def *def, const int32_t n[3])
{
    const mn_vec3 r = def->radius;
    switch (def->kind) {
    case MN_SHAPE_ELLIPSOID:
        return build_sphere(b, r, n[0]);
    case MN_SHAPE_BOX:
        return build_box(b, def->size, n);
    case MN_SHAPE_TUBE:
        return build_tube(b, r, def->size.y, n[0], n[1], n[2]);
    case MN_SHAPE_TORUS:
        return build_torus(b, r, n[0], n[1]);
    case MN_SHAPE_GRID:
        return build_grid(b, def->size, n[0], n[2]);
    case MN_SHAPE_RING:
        return def->size.y > 0 ? build_pipe(b, r, def->size.y, n[0], n[1], n[2])
                               : build_disc_with_hole(b, r, n[0], n[2]);
    default:
        return build_sphere(b, mn_v3(r.x, r.x, r.x), n[0]);
    }
}

static mn_status to_geo(const builder *b, const mn_shape_def *def, mn_geo *geo)
{
    MN_TRY(mn_geo_add_points(geo, b->points.count, NULL));
    float *p = mn_geo_write_positions(geo);
    if (!p) return MN_ERROR_MEMORY;
    const mn_mat3 rotation = mn_m3_rotation(def->rotate);
    for (int64_t i = 0; i < b->points.count; i++) {
        const mn_vec3 x = mn_add(def->center, mn_m3_apply(rotation, b->points.data[i]));
        p[3 * i] = (float)x.x, p[3 * i + 1] = (float)x.y, p[3 * i + 2] = (float)x.z;
    }
    return mn_geo_add_primitives(geo, MN_POLYGON, b->counts.count, b->counts.data, 0, b->vertices.data, NULL);
}

mn_status mn_shape_create(mn_context *ctx, const mn_shape_def *def, mn_geo **out)
{
    *out = NULL;
    int32_t n[3];
    MN_TRY(check(ctx, def, n));
    builder b = {.ctx = ctx};
    mn_geo *geo = NULL;
    mn_status status;
    MN_TRY_TO(done, status, build(&b, def, n));
    MN_TRY_TO(done, status, mn_geo_create(ctx, &geo));
    MN_TRY_TO(done, status, to_geo(&b, def, geo));
    *out = geo;
    geo = NULL;
done:
    mn_geo_free(geo);
    mn_array_free(ctx, &b.points);
    mn_array_free(ctx, &b.counts);
    mn_array_free(ctx, &b.vertices);
    return status;
}
