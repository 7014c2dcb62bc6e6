// SPDX-License-Identifier: Apache-2.0
//
// One consistent set of triangles through a cloud of points.
#include "codim/film/surface.h"
#include "meniscus/stream.h"
#include "support/check.h"
#include "support/point_clouds.h"

static void build(mn_context *ctx, mn_codim_film_surface *s, const point_cloud *c)
{
    int64_t *id = malloc(sizeof *id * (size_t)c->count);
    uint8_t *skip = calloc((size_t)c->count, 1);
    for (int64_t i = 0; i < c->count; i++) id[i] = i;
    check_ok(ctx, mn_codim_film_surface_create(ctx, s));
    check_ok(ctx, mn_codim_film_surface_build(s, &(mn_codim_film_points){c->count, c->x, c->toward, id, skip,
                                                                         NULL, c->spacing, NULL}));
    free(id), free(skip);
}

// Every directed edge belongs to one triangle at most, and every triangle is in the fans of its corners.
static void check_fans(const mn_codim_film_surface *s)
{
    for (int32_t p = 0; p < (int32_t)s->count; p++) {
        const mn_codim_film_fan *fan = &s->fans.data[p];
        for (int32_t i = 0; i < fan->count; i++) {
            const int32_t a = fan->pair[i][0], b = fan->pair[i][1];
            for (int32_t j = 0; j < i; j++) assert_true(fan->pair[j][0] != a && fan->pair[j][1] != b);
            bool found = false;
            for (int32_t j = 0; j < s->fans.data[a].count; j++)
                found = found || (s->fans.data[a].pair[j][0] == b && s->fans.data[a].pair[j][1] == p);
            assert_true(found);
        }
    }
}

// A sphere of N points has 2 N - 4 triangles (Euler) and no free edge, however even the points are.
static void sphere_is_closed(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    for (int i = 0; i < 4; i++) {
        point_cloud c = cloud_sphere(i == 3 ? 300 : 3000, 0.01, 0.15 * i);
        mn_codim_film_surface s;
        build(ctx, &s, &c);
        check_fans(&s);
        assert_int_equal(s.open_edges, 0);
        assert_int_equal(s.triangles, 2 * c.count - 4);
        // Flat triangles of size s lose about (s/R)^2/8 of the sphere's area.
        const double exact = 4 * CLOUD_PI * 1e-4;
        check_close(s.total_area, exact, 0.5 * exact * c.spacing * c.spacing * 1e4);
        mn_codim_film_surface_free(&s);
        cloud_free(&c);
    }
    mn_context_free(ctx);
}

// A square on a lattice, all diagonals tied: two triangles a cell, its rim the only free edges.
static void square_has_one_rim(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    point_cloud c = cloud_square(21, 0);
    mn_codim_film_surface s;
    build(ctx, &s, &c);
    check_fans(&s);
    assert_int_equal(s.triangles, 2 * 20 * 20);
    assert_int_equal(s.open_edges, 80);
    check_close(s.total_area, 1, 1e-12);
    for (int64_t i = 0; i < c.count; i++) check_close(s.normal.data[i].z, 1, 1e-12);
    mn_codim_film_surface_free(&s);
    cloud_free(&c);
    mn_context_free(ctx);
}

// A torus has as many triangles as twice its points; a hole larger than alpha stays, one point missing heals.
static void torus_with_holes(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    for (int kind = 0; kind < 3; kind++) {
        point_cloud c = cloud_torus(80, 0.2);
        const mn_vec3 middle = mn_v3(1.4, 0, 0);
        int64_t kept = 0;
        for (int64_t i = 0; i < c.count; i++) {
            if (mn_distance(c.x[i], middle) < (kind == 2 ? 4 : kind == 1 ? 0.8 : 0) * c.spacing) continue;
            c.x[kept] = c.x[i], c.toward[kept++] = c.toward[i];
        }
        assert_true(kind == 0 || kept < c.count);
        c.count = kept;
        mn_codim_film_surface s;
        build(ctx, &s, &c);
        check_fans(&s);
        if (kind < 2) {
            assert_int_equal(s.open_edges, 0);
            assert_int_equal(s.triangles, 2 * c.count);
        } else {
            assert_true(s.open_edges > 10 && s.open_edges < 30);
        }
        mn_codim_film_surface_free(&s);
        cloud_free(&c);
    }
    mn_context_free(ctx);
}

// Nothing, one point, two points, points on a line: no triangle.
static void poor_clouds_have_no_triangles(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    for (int64_t count = 0; count < 6; count++) {
        point_cloud c = cloud_allocate(6);
        c.count = count, c.spacing = 1;
        for (int64_t i = 0; i < count; i++) c.x[i] = mn_v3((double)i, 0, 0), c.toward[i] = mn_v3(0, 0, 1);
        mn_codim_film_surface s;
        build(ctx, &s, &c);
        assert_int_equal(s.triangles, 0);
        mn_codim_film_surface_free(&s);
        cloud_free(&c);
    }
    mn_context_free(ctx);
}

static uint64_t hash_with(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    point_cloud c = cloud_sphere(5000, 1, 0.4);
    mn_codim_film_surface s;
    build(ctx, &s, &c);
    uint64_t hash = 0;
    for (int64_t i = 0; i < c.count; i++)
        hash = mn_hash_bytes(hash, s.fans.data[i].pair, sizeof(int32_t) * 2 * (size_t)s.fans.data[i].count);
    mn_codim_film_surface_free(&s);
    cloud_free(&c);
    mn_context_free(ctx);
    return hash;
}

static void same_bits_for_any_workers(void **state)
{
    (void)state;
    const uint64_t one = hash_with(1);
    assert_true(hash_with(2) == one);
    assert_true(hash_with(8) == one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sphere_is_closed),          cmocka_unit_test(square_has_one_rim),
        cmocka_unit_test(torus_with_holes),          cmocka_unit_test(poor_clouds_have_no_triangles),
        cmocka_unit_test(same_bits_for_any_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
