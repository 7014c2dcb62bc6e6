// SPDX-License-Identifier: Apache-2.0
//
// A filled region holds the particles its volume asks for, all of them inside, the same for any threads.
#include "meniscus/collider.h"
#include "support/check.h"
#include "support/out_of_memory.h"

static const double pi = 3.14159265358979323846;

typedef struct ball {
    mn_vec3 center;
    double radius, band;
} ball;

static void ball_distance(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    const ball *b = user;
    for (int64_t i = 0; i < count; i++)
        distances[i] = fmin(b->band, fmax(-b->band, mn_distance(x[i], b->center) - b->radius));
}

static mn_region region_of(ball *b)
{
    const mn_vec3 r = {b->radius, b->radius, b->radius};
    return (mn_region){b, ball_distance, {mn_sub(b->center, r), mn_add(b->center, r)}};
}

static mn_fill_def def_of(double dx, int32_t particles)
{
    mn_fill_def def = mn_fill_default_def();
    def.dx = dx;
    def.particles_per_cell = particles;
    return def;
}

static uint64_t hash_of(const mn_vec3_array *a)
{
    uint64_t h = 14695981039346656037u;
    for (size_t i = 0; i < (size_t)a->count * sizeof *a->data; i++)
        h = (h ^ ((const unsigned char *)a->data)[i]) * 1099511628211u;
    return h;
}

/// Means of x^k, k up to 3, over the cells from 0.5 dx to 3.5 dx are exact on Gauss points.
static void gauss_points_integrate_cubics(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const double dx = 0.02, low = 0.5, high = 3.5;
    ball b = {{2 * dx, 2 * dx, 2 * dx}, 10 * dx, INFINITY};
    const mn_region region = region_of(&b);
    mn_fill_def def = def_of(dx, 27);
    def.gauss = true;
    mn_vec3_array x = {0};
    check_ok(ctx, mn_fill(ctx, &def, &region, &x));
    check_close(mn_fill_spacing(&def), 0.5 * dx, 0);
    for (int power = 0; power <= 3; power++) {
        double sum = 0;
        int64_t count = 0;
        for (int64_t i = 0; i < x.count; i++) {
            const double at[3] = {x.data[i].x / dx, x.data[i].y / dx, x.data[i].z / dx};
            if (fmin(at[0], fmin(at[1], at[2])) < low || fmax(at[0], fmax(at[1], at[2])) > high) continue;
            sum += pow(at[1], power), count++;
        }
        assert_int_equal(count, 8 * 27);
        check_close(sum / (double)count, (pow(high, power + 1) - pow(low, power + 1)) / (power + 1) / 3,
                    1e-12);
    }
    mn_array_free(ctx, &x);
    mn_context_free(ctx);
}

static void the_count_is_the_volume_over_the_spacing(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const int32_t particles[] = {1, 4, 8, 27};
    const double bands[] = {INFINITY, 0.02}; // a narrow band knows less, and gives the same
    for (int p = 0; p < 4; p++) {
        uint64_t hash = 0;
        for (int k = 0; k < 2; k++) {
            ball b = {{0.31, -0.17, 0.05}, 0.2, bands[k]};
            const mn_region region = region_of(&b);
            mn_fill_def def = def_of(0.02, particles[p]);
            mn_vec3_array x = {0};
            check_ok(ctx, mn_fill(ctx, &def, &region, &x));
            const double s = mn_fill_spacing(&def), expected = 4 * pi / 3 * pow(0.2 / s, 3);
            // A stratified count is off by the root of the number of cells that the surface cuts.
            check_close((double)x.count, expected, 3 * sqrt(4 * pi * pow(0.2 / s, 2)));
            mn_vec3 sum = {0, 0, 0};
            for (int64_t i = 0; i < x.count; i++) {
                assert_true(mn_distance(x.data[i], b.center) < 0.2);
                sum = mn_add(sum, x.data[i]);
            }
            check_close(mn_distance(mn_scale(1.0 / (double)x.count, sum), b.center), 0, 0.1 * s);
            if (k == 0) hash = hash_of(&x);
            assert_true(hash_of(&x) == hash);
            mn_array_free(ctx, &x);
        }
    }
    mn_context_free(ctx);
}

// Each particle stays in a lattice cell of its own, so none come closer than (1 - jitter) s, and an inner
// cell of the grid holds exactly 8.
static void particles_are_stratified(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    ball b = {{0, 0, 0}, 0.2, INFINITY};
    const mn_region region = region_of(&b);
    for (double jitter = 0; jitter <= 1; jitter += 0.5) {
        mn_fill_def def = def_of(0.02, 8);
        def.jitter = jitter;
        mn_vec3_array x = {0};
        check_ok(ctx, mn_fill(ctx, &def, &region, &x));
        static int cells[20][20][20], lattice[40][40][40];
        memset(cells, 0, sizeof cells);
        memset(lattice, 0, sizeof lattice);
        for (int64_t i = 0; i < x.count; i++) {
            const mn_vec3 c = mn_scale(1 / 0.02, mn_add(x.data[i], mn_v3(0.2, 0.2, 0.2)));
            cells[(int)c.x][(int)c.y][(int)c.z]++;
            lattice[(int)(2 * c.x)][(int)(2 * c.y)][(int)(2 * c.z)]++;
            const mn_vec3 f = {2 * c.x - floor(2 * c.x), 2 * c.y - floor(2 * c.y), 2 * c.z - floor(2 * c.z)};
            const double low = 0.5 - 0.5 * jitter - 1e-9, high = 0.5 + 0.5 * jitter + 1e-9;
            assert_true(f.x >= low && f.x <= high && f.y >= low && f.y <= high && f.z >= low && f.z <= high);
        }
        for (int i = 0; i < 40 * 40 * 40; i++) assert_true((&lattice[0][0][0])[i] <= 1);
        for (int i = 6; i < 14; i++)
            for (int j = 6; j < 14; j++)
                for (int k = 6; k < 14; k++) assert_int_equal(cells[i][j][k], 8);
        mn_array_free(ctx, &x);
    }
    mn_context_free(ctx);
}

static void threads_do_not_matter_and_seeds_do(void **state)
{
    (void)state;
    uint64_t hash[6];
    const int32_t workers[] = {1, 2, 3, 8, 1, 1};
    for (int k = 0; k < 6; k++) {
        const mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        ball b = {{-0.1, 0.2, 0}, 0.2, INFINITY};
        const mn_region region = region_of(&b);
        mn_fill_def def = def_of(0.01, 8);
        def.seed = k == 4 ? 1 : 0;
        if (k == 5) def.jitter = 0;
        mn_vec3_array x = {0};
        check_ok(ctx, mn_fill(ctx, &def, &region, &x));
        hash[k] = hash_of(&x);
        mn_array_free(ctx, &x);
        mn_context_free(ctx);
    }
    for (int k = 1; k < 4; k++) assert_true(hash[k] == hash[0]);
    assert_true(hash[4] != hash[0] && hash[5] != hash[0]);
}

// Two halves of a ball share no particle and together have those of the whole.
static void half_distance(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    const ball *b = user;
    for (int64_t i = 0; i < count; i++)
        distances[i] = fmax(mn_distance(x[i], b->center) - b->radius, b->band * (x[i].x - 0.0137));
}

static void parts_make_the_whole(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    ball b = {{0, 0, 0}, 0.2, INFINITY};
    mn_region region = region_of(&b);
    const mn_fill_def def = def_of(0.02, 8);
    mn_vec3_array whole = {0}, parts = {0};
    check_ok(ctx, mn_fill(ctx, &def, &region, &whole));
    region.distance = half_distance;
    for (int k = 0; k < 2; k++) {
        b.band = k == 0 ? 1 : -1;
        check_ok(ctx, mn_fill(ctx, &def, &region, &parts));
    }
    assert_int_equal(parts.count, whole.count);
    mn_array_free(ctx, &whole);
    mn_array_free(ctx, &parts);
    mn_context_free(ctx);
}

static void too_much_and_nonsense_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    ball b = {{0, 0, 0}, 0.2, INFINITY};
    mn_region region = region_of(&b);
    mn_vec3_array x = {0};
    mn_fill_def def = def_of(0, 8);
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_ARGUMENT, "dx is 0 m");
    def = def_of(0.01, 0);
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_ARGUMENT, "particles_per_cell");
    def = def_of(0.01, 8);
    def.max_particles = 1000;
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_ARGUMENT, "1000 are allowed");
    def.dx = 1e-4;
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_ARGUMENT, "far more than");
    def.dx = 1e-9;
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_ARGUMENT, "from the origin");
    def.dx = 0.01;
    region.bounds.max.x = INFINITY;
    check_fails(ctx, mn_fill(ctx, &def, &region, &x), MN_ERROR_INPUT, "no finite bounds");
    region.bounds = mn_box_empty();
    check_ok(ctx, mn_fill(ctx, &def, &region, &x));
    assert_int_equal(x.count, 0);
    mn_array_free(ctx, &x);
    mn_context_free(ctx);
}

static mn_status fill_a_ball(mn_context *ctx)
{
    ball b = {{0, 0, 0}, 0.2, INFINITY};
    const mn_region region = region_of(&b);
    const mn_fill_def def = def_of(0.02, 8);
    mn_vec3_array x = {0};
    const mn_status status = mn_fill(ctx, &def, &region, &x);
    mn_array_free(ctx, &x);
    return status;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    check_memory_may_run_out(fill_a_ball);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gauss_points_integrate_cubics),
        cmocka_unit_test(the_count_is_the_volume_over_the_spacing),
        cmocka_unit_test(particles_are_stratified),
        cmocka_unit_test(threads_do_not_matter_and_seeds_do),
        cmocka_unit_test(parts_make_the_whole),
        cmocka_unit_test(too_much_and_nonsense_are_refused),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
