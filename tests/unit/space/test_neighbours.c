// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "space/blocks.h"
#include "space/neighbours.h"
#include "support/check.h"
#include "support/out_of_memory.h"

typedef struct fixture {
    mn_context *ctx;
    mn_neighbours *n;
} fixture;

static fixture open_search(int32_t workers)
{
    fixture f;
    mn_hooks hooks = {.max_workers = workers};
    f.ctx = mn_context_create(&hooks);
    check_ok(f.ctx, mn_neighbours_create(f.ctx, &f.n));
    return f;
}

static void close_search(fixture f)
{
    mn_neighbours_free(f.n);
    assert_int_equal(mn_context_bytes(f.ctx), 0);
    mn_context_free(f.ctx);
}

static mn_vec3 *random_points(int64_t count, uint64_t seed)
{
    mn_vec3 *x = malloc(sizeof *x * (size_t)count);
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 u = mn_random_unit3(seed, (uint64_t)i, 0);
        x[i] = mn_v3(2 * u.x - 1, 3 * u.y, 0.7 * u.z);
    }
    return x;
}

static int compare_ints(const void *a, const void *b)
{
    return *(const int32_t *)a - *(const int32_t *)b;
}

/// Row by row against all pairs: the same points, each once.
static void check_table(const mn_neighbour_table *table, const mn_vec3 *queries, int64_t query_count,
                        const mn_vec3 *x, int64_t count, double radius, const double *radii, bool own)
{
    int32_t *expected = malloc(sizeof *expected * (size_t)(count + 1)),
            *got = malloc(sizeof *got * (size_t)(count + 1));
    uint8_t *seen = calloc((size_t)query_count + 1, 1);
    assert_int_equal(table->count, query_count);
    assert_int_equal(table->start[0], 0);
    for (int64_t row = 0; row < table->count; row++) {
        const int64_t q = table->query ? table->query[row] : row;
        assert_true(q >= 0 && q < query_count && !seen[q]);
        seen[q] = 1;
        const double r = radii ? radii[q] : radius;
        int32_t n = 0;
        for (int64_t p = 0; p < count; p++) {
            if (own && p == q) continue;
            if (mn_norm2(mn_sub(x[p], queries[q])) < r * r) expected[n++] = (int32_t)p;
        }
        assert_int_equal(table->start[row + 1] - table->start[row], n);
        if (n == 0) continue;
        memcpy(got, table->point + table->start[row], sizeof *got * (size_t)n);
        qsort(got, (size_t)n, sizeof *got, compare_ints);
        assert_memory_equal(got, expected, sizeof *got * (size_t)n);
    }
    free(expected), free(got), free(seen);
}

/// Distances that differ from the radius by less than a float can tell, far from the origin too.
static void test_points_at_the_border(void **state)
{
    (void)state;
    fixture f = open_search(2);
    enum { SIDE = 9, N = 2 * SIDE * SIDE * SIDE };
    const double radius = 0.1;
    const mn_vec3 corner[2] = {{-0.4, -0.3, 0.05}, {1e4, -2e4, 3e4}};
    static mn_vec3 x[N];
    for (int k = 0; k < 2; k++) {
        for (int i = 0; i < N; i++) {
            const int at = i / 2;
            // A lattice as wide as the radius, each point with a twin that lies a little off.
            const mn_vec3 twin = mn_scale(i % 2 * 1e-9, mn_random_unit3(5, (uint64_t)i, 0));
            x[i] =
                mn_add(corner[k],
                       mn_add(twin, mn_scale(radius, mn_v3(at % SIDE, at / SIDE % SIDE, at / SIDE / SIDE))));
        }
        mn_neighbour_table table;
        check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, N), radius));
        check_ok(f.ctx, mn_neighbours_find(f.n, radius, NULL, &table));
        check_table(&table, x, N, x, N, radius, NULL, true);
    }
    close_search(f);
}

static void test_all_pairs_of_one_radius(void **state)
{
    (void)state;
    fixture f = open_search(2);
    enum { N = 3000 };
    mn_vec3 *x = random_points(N, 1);
    for (int i = 0; i < 40; i++) x[i] = mn_v3(0.1, 0.2, 0.3); // many in one place
    mn_neighbour_table table;
    // As wide as the cell, narrower, wider; cells with more candidates than fit side by side.
    const double cell[4] = {0.2, 0.2, 0.05, 3.0}, radius[4] = {0.2, 0.13, 0.2, 0.4};
    for (int k = 0; k < 4; k++) {
        check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, N), cell[k]));
        check_ok(f.ctx, mn_neighbours_find(f.n, radius[k], NULL, &table));
        check_table(&table, x, N, x, N, radius[k], NULL, true);
    }
    free(x);
    close_search(f);
}

static void test_own_radius_for_each(void **state)
{
    (void)state;
    fixture f = open_search(2);
    enum { N = 2000, Q = 300 };
    mn_vec3 *x = random_points(N, 2), *q = random_points(Q, 3);
    double r[N];
    for (int i = 0; i < N; i++) r[i] = 0.01 * pow(100.0, mn_random_unit(4, (uint64_t)i, 0));
    mn_neighbour_table table;
    check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, N), 0.1));
    check_ok(f.ctx, mn_neighbours_find(f.n, 0.0, r, &table));
    check_table(&table, x, N, x, N, 0.0, r, true);
    check_ok(f.ctx, mn_neighbours_find_at(f.n, mn_points_of(q, Q), 0.0, r, &table));
    check_table(&table, q, Q, x, N, 0.0, r, false);
    q[5] = mn_v3(1e9, -1e12, 1e15); // far away from everything, still a position
    check_ok(f.ctx, mn_neighbours_find_at(f.n, mn_points_of(q, Q), 0.15, NULL, &table));
    check_table(&table, q, Q, x, N, 0.15, NULL, false);
    free(x), free(q);
    close_search(f);
}

static void count_visits(void *user, int32_t point, double d2)
{
    (void)point, (void)d2;
    ++*(int64_t *)user;
}

static void test_nearest(void **state)
{
    (void)state;
    fixture f = open_search(1);
    enum { N = 1500, Q = 400 };
    mn_vec3 *x = random_points(N, 5), *q = random_points(Q, 6);
    x[N - 1] = x[700]; // a tie
    q[0] = x[700];
    q[1] = mn_v3(50, -80, 3);
    q[2] = mn_v3(1e7, 0, 0);
    check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, N), 0.04));
    for (int i = 0; i < Q; i++) {
        int32_t best = -1;
        for (int32_t p = 0; p < N; p++)
            if (best < 0 || mn_norm2(mn_sub(x[p], q[i])) < mn_norm2(mn_sub(x[best], q[i]))) best = p;
        const double d = mn_distance(x[best], q[i]);
        assert_int_equal(mn_neighbours_nearest(f.n, q[i], INFINITY), best);
        assert_int_equal(mn_neighbours_nearest(f.n, q[i], 1.001 * d + 1e-12), best);
        if (d > 0.0) assert_int_equal(mn_neighbours_nearest(f.n, q[i], 0.999 * d), -1);
    }
    int64_t visits = 0;
    mn_neighbours_visit(f.n, mn_v3(0, 0, 0), 1e30, count_visits, &visits);
    assert_int_equal(visits, N);
    free(x), free(q);
    close_search(f);
}

static uint64_t table_hash(int32_t workers, const mn_vec3 *x, int64_t count, const double *radii)
{
    fixture f = open_search(workers);
    mn_neighbour_table t;
    check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, count), 0.08));
    check_ok(f.ctx, mn_neighbours_find(f.n, 0.08, radii, &t));
    uint64_t h = 1;
    for (int64_t i = 0; i <= t.count; i++) h = (h ^ (uint64_t)t.start[i]) * 0x100000001b3u;
    for (int64_t i = 0; i < t.start[t.count]; i++) h = (h ^ (uint64_t)t.point[i]) * 0x100000001b3u;
    close_search(f);
    return h;
}

static void test_any_number_of_workers(void **state)
{
    (void)state;
    enum { N = 40000 };
    mn_vec3 *x = random_points(N, 8);
    double *r = malloc(sizeof *r * N);
    for (int i = 0; i < N; i++) r[i] = 0.02 + 0.1 * mn_random_unit(9, (uint64_t)i, 0);
    for (int k = 0; k < 2; k++) {
        const double *radii = k ? r : NULL;
        const uint64_t one = table_hash(1, x, N, radii);
        assert_true(one == table_hash(2, x, N, radii));
        assert_true(one == table_hash(3, x, N, radii));
        assert_true(one == table_hash(8, x, N, radii));
    }
    free(x), free(r);
}

static void test_bad_input(void **state)
{
    (void)state;
    fixture f = open_search(1);
    mn_vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {NAN, 0, 0}};
    double r[2] = {1.0, -1.0};
    mn_neighbour_table t;
    check_fails(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, 3), 0.5), MN_ERROR_INPUT, "Point 2 has");
    check_fails(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, 2), 0.0), MN_ERROR_ARGUMENT, "cell size");
    // Nothing was built: nothing is found.
    check_ok(f.ctx, mn_neighbours_find(f.n, 1.0, NULL, &t));
    assert_int_equal(t.count, 0);
    assert_int_equal(mn_neighbours_nearest(f.n, mn_v3(0, 0, 0), INFINITY), -1);
    check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(NULL, 0), 0.5));
    check_ok(f.ctx, mn_neighbours_find_at(f.n, mn_points_of(x, 2), 1.0, NULL, &t));
    assert_int_equal(t.count, 2);
    assert_int_equal(t.start[2], 0);
    check_ok(f.ctx, mn_neighbours_build(f.n, mn_points_of(x, 2), 0.5));
    check_fails(f.ctx, mn_neighbours_find(f.n, 0.0, NULL, &t), MN_ERROR_ARGUMENT, "radius");
    check_fails(f.ctx, mn_neighbours_find(f.n, NAN, NULL, &t), MN_ERROR_ARGUMENT, "radius");
    check_fails(f.ctx, mn_neighbours_find(f.n, 0.0, r, &t), MN_ERROR_INPUT, "Point 1 searches");
    check_fails(f.ctx, mn_neighbours_find_at(f.n, mn_points_of(x, 3), 1.0, NULL, &t), MN_ERROR_INPUT,
                "not finite");
    assert_int_equal(mn_neighbours_nearest(f.n, x[2], INFINITY), -1);
    close_search(f);
}

static mn_status find_twice(mn_context *ctx)
{
    mn_vec3 *x = random_points(500, 1);
    mn_neighbours *s = NULL;
    mn_neighbour_table t;
    mn_status status = mn_neighbours_create(ctx, &s);
    if (status == MN_OK) status = mn_neighbours_build(s, mn_points_of(x, 500), 0.2);
    if (status == MN_OK) status = mn_neighbours_find(s, 0.2, NULL, &t);
    if (status == MN_OK) status = mn_neighbours_find(s, 0.5, NULL, &t);
    mn_neighbours_free(s);
    free(x);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(find_twice);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_points_at_the_border),  cmocka_unit_test(test_all_pairs_of_one_radius),
        cmocka_unit_test(test_own_radius_for_each),   cmocka_unit_test(test_nearest),
        cmocka_unit_test(test_any_number_of_workers), cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("space/neighbours", tests, NULL, NULL);
}
