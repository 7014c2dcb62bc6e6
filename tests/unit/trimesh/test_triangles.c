// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "space/blocks.h"
#include "support/check.h"
#include "support/out_of_memory.h"
#include "trimesh/triangles.h"

typedef struct mesh {
    mn_vec3 x[4000];
    int32_t t[8000][3];
    int32_t vertices, triangles;
} mesh;

/// A sphere of longitude and latitude, its poles shared, normals outward.
static void make_sphere(mesh *m, mn_vec3 center, double radius, int32_t n)
{
    m->vertices = m->triangles = 0;
    m->x[m->vertices++] = mn_axpy(center, radius, mn_v3(0, 0, 1));
    for (int32_t i = 1; i < n; i++)
        for (int32_t j = 0; j < 2 * n; j++) {
            const double a = M_PI * i / n, b = M_PI * j / n;
            m->x[m->vertices++] = mn_axpy(center, radius, mn_v3(sin(a) * cos(b), sin(a) * sin(b), cos(a)));
        }
    m->x[m->vertices++] = mn_axpy(center, radius, mn_v3(0, 0, -1));
    for (int32_t i = 0; i < n; i++)
        for (int32_t j = 0; j < 2 * n; j++) {
            const int32_t k = (j + 1) % (2 * n), up = 1 + (i - 1) * 2 * n, down = 1 + i * 2 * n;
            const int32_t a = i == 0 ? 0 : up + j, b = i == n - 1 ? m->vertices - 1 : down + j;
            const int32_t c = i == n - 1 ? m->vertices - 1 : down + k, d = i == 0 ? 0 : up + k;
            if (b != c) memcpy(m->t[m->triangles++], (int32_t[3]){a, b, c}, 12);
            if (a != d) memcpy(m->t[m->triangles++], (int32_t[3]){a, c, d}, 12);
        }
}

static void make_cube(mesh *m)
{
    static const int32_t quads[6][4] = {{0, 1, 3, 2}, {4, 6, 7, 5}, {0, 4, 5, 1},
                                        {2, 3, 7, 6}, {0, 2, 6, 4}, {1, 5, 7, 3}};
    m->vertices = 8, m->triangles = 0;
    for (int32_t i = 0; i < 8; i++) m->x[i] = mn_v3(i >> 2 ? 1 : -1, i >> 1 & 1 ? 1 : -1, i & 1 ? 1 : -1);
    for (int32_t q = 0; q < 6; q++) {
        memcpy(m->t[m->triangles++], (int32_t[3]){quads[q][0], quads[q][1], quads[q][2]}, 12);
        memcpy(m->t[m->triangles++], (int32_t[3]){quads[q][0], quads[q][2], quads[q][3]}, 12);
    }
}

static mn_triangles *create(mn_context *ctx, const mesh *m)
{
    mn_triangles *result;
    check_ok(ctx, mn_triangles_create(ctx, m->vertices, m->x, m->triangles, m->t, &result));
    return result;
}

static double segment_distance(mn_vec3 a, mn_vec3 b, mn_vec3 x)
{
    const mn_vec3 d = mn_sub(b, a);
    const double n = mn_norm2(d), t = n > 0 ? fmax(0, fmin(1, mn_dot(mn_sub(x, a), d) / n)) : 0;
    return mn_distance(x, mn_axpy(a, t, d));
}

/// The slow twin: the foot in the plane when it lies inside, else the nearest of three segments.
static double triangle_distance(const mn_vec3 *p, const int32_t t[3], mn_vec3 x)
{
    const mn_vec3 a = p[t[0]], b = p[t[1]], c = p[t[2]];
    const mn_vec3 n = mn_cross(mn_sub(b, a), mn_sub(c, a));
    if (mn_norm2(n) > 0) {
        const mn_vec3 f = mn_axpy(x, -mn_dot(mn_sub(x, a), n) / mn_norm2(n), n);
        if (mn_dot(mn_cross(mn_sub(b, a), mn_sub(f, a)), n) >= 0 &&
            mn_dot(mn_cross(mn_sub(c, b), mn_sub(f, b)), n) >= 0 &&
            mn_dot(mn_cross(mn_sub(a, c), mn_sub(f, c)), n) >= 0)
            return mn_distance(x, f);
    }
    return fmin(segment_distance(a, b, x), fmin(segment_distance(b, c, x), segment_distance(c, a, x)));
}

/// Random triangles, some of them segments: nearest distance, and a position that is where the weights say.
static void test_closest_against_all(void **state)
{
    (void)state;
    static mesh m;
    mn_context *ctx = mn_context_create(NULL);
    m.vertices = 900, m.triangles = 600;
    for (int32_t i = 0; i < m.vertices; i++) m.x[i] = mn_random_unit3(1, (uint64_t)i, 0);
    for (int32_t i = 0; i < m.triangles; i++)
        for (int32_t k = 0; k < 3; k++)
            m.t[i][k] = (int32_t)(mn_random_unit(2, (uint64_t)(3 * i + k), 0) * m.vertices);
    for (int32_t i = 0; i < 30; i++) m.x[m.t[i][2]] = mn_lerp(m.x[m.t[i][0]], m.x[m.t[i][1]], 0.5);
    mn_triangles *tri = create(ctx, &m);
    for (uint64_t q = 0; q < 500; q++) {
        const mn_vec3 x = mn_axpy(mn_v3(-1, -1, -1), 3.0, mn_random_unit3(3, q, 0));
        double least = INFINITY;
        for (int32_t i = 0; i < m.triangles; i++) least = fmin(least, triangle_distance(m.x, m.t[i], x));
        mn_mesh_point p;
        assert_true(mn_triangles_closest(tri, x, INFINITY, &p));
        check_close(p.distance, least, 1e-12);
        check_close(mn_distance(x, p.position), p.distance, 1e-12);
        mn_vec3 at = mn_v3(0, 0, 0);
        for (int k = 0; k < 3; k++) {
            assert_int_equal(p.vertices[k], m.t[p.element][k]);
            assert_true(p.weights[k] >= -1e-12);
            at = mn_axpy(at, p.weights[k], m.x[p.vertices[k]]);
        }
        check_close(mn_distance(at, p.position), 0.0, 1e-12);
        assert_true(!mn_triangles_closest(tri, x, 0.99 * least, &p));
        assert_true(mn_triangles_closest(tri, x, 1.01 * least, &p));
    }
    mn_triangles_free(tri);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

/// The cube: signs by pseudonormals right at corners and edges, where face normals alone mislead.
static void test_signed_distance(void **state)
{
    (void)state;
    static mesh m;
    mn_context *ctx = mn_context_create(NULL);
    make_cube(&m);
    mn_triangles *tri = create(ctx, &m);
    assert_true(mn_triangles_is_closed(tri));
    check_close(mn_triangles_volume(tri), 8.0, 1e-14);
    check_close(mn_triangles_area(tri), 24.0, 1e-14);
    enum { Q = 4000 };
    static mn_vec3 x[Q];
    static double phi[Q];
    for (uint64_t q = 0; q < Q; q++) x[q] = mn_axpy(mn_v3(-2, -2, -2), 4.0, mn_random_unit3(4, q, 0));
    check_ok(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(x, Q), INFINITY, phi));
    for (int q = 0; q < Q; q++) {
        const mn_vec3 a = mn_v3(fabs(x[q].x) - 1, fabs(x[q].y) - 1, fabs(x[q].z) - 1);
        const double most = fmax(a.x, fmax(a.y, a.z));
        const double exact = most < 0 ? most : mn_norm(mn_max3(a, mn_v3(0, 0, 0)));
        check_close(phi[q], exact, 1e-13);
        assert_int_equal(mn_triangles_winding(tri, x[q]) > 0.5, exact < 0.0);
    }
    check_ok(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(x, Q), 0.25, phi));
    for (int q = 0; q < Q; q++) assert_true(fabs(phi[q]) <= 0.25);
    const mn_vec3 nan = {0, NAN, 0};
    check_fails(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(&nan, 1), 1.0, phi), MN_ERROR_INPUT,
                "not finite");
    mn_triangles_free(tri);
    mn_context_free(ctx);
}

/// A finer sphere is a rounder one: distances converge with the square of the edges.
static void test_sphere_converges(void **state)
{
    (void)state;
    static mesh m;
    mn_context *ctx = mn_context_create(NULL);
    double worst[2] = {0};
    for (int level = 0; level < 2; level++) {
        const int32_t n = 15 << level;
        make_sphere(&m, mn_v3(0.1, 0.2, 0.3), 1.0, n);
        mn_triangles *tri = create(ctx, &m);
        assert_true(mn_triangles_is_closed(tri));
        for (uint64_t q = 0; q < 1000; q++) {
            const mn_vec3 x = mn_axpy(mn_v3(-2, -2, -2), 4.0, mn_random_unit3(5, q, 0));
            double phi;
            check_ok(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(&x, 1), INFINITY, &phi));
            worst[level] = fmax(worst[level], fabs(phi - (mn_distance(x, mn_v3(0.1, 0.2, 0.3)) - 1.0)));
        }
        // The sag of a chord pi / n long is its square / 8; of a triangle's middle up to twice that.
        assert_true(worst[level] < M_PI * M_PI / (4.0 * n * n));
        mn_triangles_free(tri);
    }
    assert_true(worst[1] < worst[0] / 3);
    mn_context_free(ctx);
}

static double exact_winding(const mesh *m, mn_vec3 x)
{
    double sum = 0;
    for (int32_t i = 0; i < m->triangles; i++) {
        const mn_vec3 a = mn_sub(m->x[m->t[i][0]], x), b = mn_sub(m->x[m->t[i][1]], x),
                      c = mn_sub(m->x[m->t[i][2]], x);
        const double la = mn_norm(a), lb = mn_norm(b), lc = mn_norm(c);
        sum += 2 * atan2(mn_dot(a, mn_cross(b, c)),
                         la * lb * lc + mn_dot(a, b) * lc + mn_dot(b, c) * la + mn_dot(c, a) * lb);
    }
    return sum / (4 * M_PI);
}

/// The tree's winding number against the sum over all triangles, for closed and open meshes and a soup.
static void test_winding_number(void **state)
{
    (void)state;
    static mesh m;
    mn_context *ctx = mn_context_create(NULL);
    for (int kind = 0; kind < 3; kind++) {
        make_sphere(&m, mn_v3(0, 0, 0), 1.0, 20);
        if (kind == 1) m.triangles -= 60; // without its southern cap
        if (kind == 2)
            for (int32_t i = 0; i < m.triangles; i++)
                for (int k = 0; k < 3; k++)
                    m.t[i][k] = (int32_t)(mn_random_unit(6, (uint64_t)(3 * i + k), 0) * m.vertices);
        mn_triangles *tri = create(ctx, &m);
        assert_int_equal(mn_triangles_is_closed(tri), kind == 0);
        for (uint64_t q = 0; q < 400; q++) {
            const mn_vec3 x = mn_axpy(mn_v3(-2, -2, -2), 4.0, mn_random_unit3(7, q, 0));
            // A soup's triangles cross the whole ball: more of them are far from their group's middle.
            check_close(mn_triangles_winding(tri, x), exact_winding(&m, x), kind == 2 ? 0.5 : 0.02);
        }
        mn_triangles_free(tri);
    }
    mn_context_free(ctx);
}

/// What is wrong is counted, and said; a sign is not guessed.
static void test_flaws_are_named(void **state)
{
    (void)state;
    static mesh m;
    mn_context *ctx = mn_context_create(NULL);
    double phi;
    const mn_vec3 x = {0, 0, 0};
    mn_triangles *tri;

    make_cube(&m);
    m.triangles--; // a hole of three edges
    tri = create(ctx, &m);
    assert_int_equal(mn_triangles_check(tri).open_edges, 3);
    assert_int_equal(mn_triangles_check(tri).crowded_edges, 0);
    check_fails(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(&x, 1), 1.0, &phi), MN_ERROR_INPUT,
                "3 open edges");
    check_fails(ctx, mn_triangles_require_closed(ctx, tri, "collider 'cup'"), MN_ERROR_INPUT,
                "collider 'cup' is not closed");
    mn_triangles_free(tri);

    make_cube(&m);
    const int32_t turned = m.t[4][1];
    m.t[4][1] = m.t[4][2], m.t[4][2] = turned;
    tri = create(ctx, &m);
    assert_int_equal(mn_triangles_check(tri).flipped_edges, 3);
    assert_int_equal(mn_triangles_check(tri).open_edges, 0);
    mn_triangles_free(tri);

    make_cube(&m);
    m.x[m.vertices++] = mn_v3(5, 5, 5);
    memcpy(m.t[m.triangles++], (int32_t[3]){0, 1, 8}, 12);
    tri = create(ctx, &m);
    assert_int_equal(mn_triangles_check(tri).crowded_edges, 1);
    assert_int_equal(mn_triangles_check(tri).open_edges, 2);
    mn_triangles_free(tri);

    // Every triangle with vertices of its own, and slivers without area: still the closed cube.
    make_cube(&m);
    for (int32_t i = 0; i < m.triangles; i++)
        for (int k = 0; k < 3; k++) m.x[100 + 3 * i + k] = m.x[m.t[i][k]];
    for (int32_t i = 0; i < m.triangles; i++)
        for (int k = 0; k < 3; k++) m.t[i][k] = 100 + 3 * i + k;
    m.vertices = 100 + 3 * m.triangles;
    for (int32_t i = 8; i < 100; i++) m.x[i] = mn_v3(0, 0, 0);
    m.x[99] = mn_v3(-0.0, 0, 0);
    memcpy(m.t[m.triangles++], (int32_t[3]){98, 99, 100}, 12);
    tri = create(ctx, &m);
    assert_true(mn_triangles_is_closed(tri));
    assert_int_equal(mn_triangles_check(tri).dropped, 1);
    mn_triangles_free(tri);

    m.t[3][1] = 5000;
    check_fails(ctx, mn_triangles_create(ctx, m.vertices, m.x, m.triangles, m.t, &tri), MN_ERROR_INPUT,
                "Triangle 3 uses");
    assert_null(tri);
    m.t[3][1] = 1, m.x[7].y = INFINITY;
    check_fails(ctx, mn_triangles_create(ctx, m.vertices, m.x, m.triangles, m.t, &tri), MN_ERROR_INPUT,
                "Point 7");
    check_ok(ctx, mn_triangles_create(ctx, 0, NULL, 0, NULL, &tri));
    mn_mesh_point p;
    assert_true(!mn_triangles_closest(tri, x, INFINITY, &p));
    assert_true(mn_box_is_empty(mn_triangles_bounds(tri)));
    check_close(mn_triangles_winding(tri, x), 0.0, 0.0);
    check_fails(ctx, mn_triangles_require_closed(ctx, tri, "The mesh"), MN_ERROR_INPUT, "no polygons");
    mn_triangles_free(tri);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

/// Polygons of a geo, quadrilaterals too; polylines are left out.
static void test_from_geo(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 8, NULL));
    float *p = mn_geo_write_positions(geo);
    for (int i = 0; i < 8; i++) {
        p[3 * i] = i >> 2 ? 1.0f : -1.0f;
        p[3 * i + 1] = i >> 1 & 1 ? 1.0f : -1.0f;
        p[3 * i + 2] = i & 1 ? 1.0f : -1.0f;
    }
    const int64_t line[2] = {0, 7};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYLINE, 1, NULL, 2, line, NULL));
    const int64_t quads[24] = {0, 1, 3, 2, 4, 6, 7, 5, 0, 4, 5, 1, 2, 3, 7, 6, 0, 2, 6, 4, 1, 5, 7, 3};
    check_ok(ctx, mn_geo_add_primitives(geo, MN_POLYGON, 6, NULL, 4, quads, NULL));
    mn_triangles *tri;
    check_ok(ctx, mn_triangles_create_from_geo(ctx, geo, &tri));
    assert_int_equal(mn_triangles_count(tri), 12);
    assert_true(mn_triangles_is_closed(tri));
    check_close(mn_triangles_volume(tri), 8.0, 1e-12);
    mn_mesh_point q;
    assert_true(mn_triangles_closest(tri, mn_v3(3, 0.1, 0.2), INFINITY, &q));
    assert_int_equal(q.element, 2); // the second polygon, after the polyline
    check_close(q.normal.x, 1.0, 1e-15);
    mn_triangles_free(tri);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void test_any_number_of_workers(void **state)
{
    (void)state;
    static mesh m;
    static mn_vec3 x[3000];
    static double phi[2][3000];
    make_sphere(&m, mn_v3(0, 0, 0), 1.0, 24);
    for (uint64_t q = 0; q < 3000; q++) x[q] = mn_axpy(mn_v3(-2, -2, -2), 4.0, mn_random_unit3(4, q, 0));
    const int32_t workers[4] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        mn_triangles *tri = create(ctx, &m);
        check_ok(ctx, mn_triangles_signed_distance(ctx, tri, mn_points_of(x, 3000), INFINITY, phi[k > 0]));
        if (k > 0) assert_memory_equal(phi[0], phi[1], sizeof phi[0]);
        mn_triangles_free(tri);
        mn_context_free(ctx);
    }
}

// Two cubes beside each other, whose quads do not share their corners by number, and a point of no triangle.
static void test_parts_hang_together(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    static mesh cube, m;
    make_cube(&cube);
    m.vertices = m.triangles = 0;
    for (int32_t c = 0; c < 2; c++)
        for (int32_t t = 0; t < cube.triangles; t++) {
            for (int32_t k = 0; k < 3; k++) {
                m.x[m.vertices] = mn_add(cube.x[cube.t[t][k]], mn_v3(3.0 * c, 0, 0));
                m.t[m.triangles][k] = m.vertices++;
            }
            m.triangles++;
        }
    m.x[m.vertices++] = mn_v3(9, 9, 9);
    mn_triangles *tri = create(ctx, &m);
    int32_t parts[100], count;
    check_ok(ctx, mn_triangles_parts(ctx, tri, m.vertices, parts, &count));
    assert_int_equal(count, 2);
    for (int32_t i = 0; i < m.vertices; i++)
        assert_int_equal(parts[i], i == m.vertices - 1 ? -1 : m.x[i].x > 1.5);
    mn_triangles_free(tri);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

// A mesh that was another one answers as one made anew, bit for bit; with subtrees of their own in the first.
static void test_rebuilt_as_created(void **state)
{
    (void)state;
    static mesh large, small;
    mn_context *ctx = mn_context_create(NULL);
    make_sphere(&large, mn_v3(0, 0, 0), 1.0, 40);
    make_sphere(&small, mn_v3(0.3, 0, 0), 0.7, 12);
    const mesh *order[] = {&small, &large, &small};
    mn_triangles *tri = create(ctx, &large);
    for (int k = 0; k < 3; k++) {
        mn_triangles *anew = create(ctx, order[k]);
        check_ok(ctx, mn_triangles_rebuild(tri, order[k]->vertices, order[k]->x, order[k]->triangles,
                                           order[k]->t));
        assert_true(mn_triangles_is_closed(tri));
        assert_int_equal(mn_triangles_count(tri), mn_triangles_count(anew));
        for (uint64_t q = 0; q < 200; q++) {
            const mn_vec3 x = mn_axpy(mn_v3(-2, -2, -2), 4.0, mn_random_unit3(4, q, 0));
            assert_true(mn_triangles_signed_distance_at(tri, x) == mn_triangles_signed_distance_at(anew, x));
            assert_true(mn_triangles_winding(tri, x) == mn_triangles_winding(anew, x));
        }
        mn_triangles_free(anew);
    }
    const int32_t wrong[1][3] = {{0, 1, 5000}};
    check_fails(ctx, mn_triangles_rebuild(tri, small.vertices, small.x, 1, wrong), MN_ERROR_INPUT,
                "Triangle 0 uses");
    assert_int_equal(mn_triangles_count(tri), 0);
    mn_triangles_free(tri);
    mn_context_free(ctx);
}

static mn_status build_a_sphere(mn_context *ctx)
{
    static mesh m;
    mn_triangles *tri = NULL;
    make_sphere(&m, mn_v3(0, 0, 0), 1.0, 6);
    const mn_status status = mn_triangles_create(ctx, m.vertices, m.x, m.triangles, m.t, &tri);
    mn_triangles_free(tri);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(build_a_sphere);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_closest_against_all),   cmocka_unit_test(test_signed_distance),
        cmocka_unit_test(test_sphere_converges),      cmocka_unit_test(test_winding_number),
        cmocka_unit_test(test_flaws_are_named),       cmocka_unit_test(test_from_geo),
        cmocka_unit_test(test_any_number_of_workers), cmocka_unit_test(test_parts_hang_together),
        cmocka_unit_test(test_rebuilt_as_created),    cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("space/triangles", tests, NULL, NULL);
}
