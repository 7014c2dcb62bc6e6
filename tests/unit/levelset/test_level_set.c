// SPDX-License-Identifier: Apache-2.0
#include "level_set_stage.h"
#include "space/blocks.h"
#include "support/out_of_memory.h"

// ---- union ----

static double brute_phi(mn_vec3 at, const mn_vec3 *x, const double *r, int64_t count)
{
    double least = INFINITY;
    for (int64_t p = 0; p < count; p++) least = fmin(least, mn_distance(at, x[p]) - r[p]);
    return least;
}

/// Against all pairs: the sign everywhere, also where no block exists, and the value at every node that has a
/// neighbour on the other side.
static void check_union(fixture f, const mn_union_def *def, const mn_vec3 *x, const double *r, int64_t count)
{
    mn_union_def used = *def;
    used.radii = r;
    check_ok(f.ctx, mn_level_set_union(f.set, &used, mn_points_of(x, count)));
    const mn_level_set_view view = mn_level_set_get(f.set);
    const mn_blocks *blocks = mn_level_set_blocks(f.set);
    mn_box box = mn_box_empty();
    double most = 0.0;
    for (int64_t p = 0; p < count; p++) box = mn_box_add(box, x[p]), most = fmax(most, r[p]);
    box = mn_box_grow(box, most + def->dx);
    const mn_vec3 o = def->origin;
    const double dx = def->dx;
    int64_t exact = 0;
    for (int32_t i = (int32_t)floor((box.min.x - o.x) / dx); i <= (box.max.x - o.x) / dx; i++)
        for (int32_t j = (int32_t)floor((box.min.y - o.y) / dx); j <= (box.max.y - o.y) / dx; j++)
            for (int32_t k = (int32_t)floor((box.min.z - o.z) / dx); k <= (box.max.z - o.z) / dx; k++) {
                const double phi = brute_phi(mn_v3(o.x + dx * i, o.y + dx * j, o.z + dx * k), x, r, count);
                const int32_t at = mn_blocks_find_cell(blocks, mn_iv3(i, j, k));
                if (fabs(phi) > 1e-12 * most) assert_int_equal(at >= 0 && view.phi[at] < 0.0, phi < 0.0);
                if (at < 0) continue;
                bool beside = false;
                for (int32_t n = 0; n < 27 && !beside; n++) {
                    const int32_t m = mn_block_reach(&view.blocks, at / 64, (at / 16 & 3) + n / 9 - 1,
                                                     (at / 4 & 3) + n / 3 % 3 - 1, (at & 3) + n % 3 - 1);
                    beside = (m >= 0 && view.phi[m] < 0.0) != (view.phi[at] < 0.0);
                }
                if (beside) {
                    check_close(view.phi[at], fmin(phi, view.band), 1e-12 * (most + dx));
                    exact++;
                } else {
                    check_close(fabs(view.phi[at]), view.band, 1e-12 * most);
                }
            }
    assert_true(exact > 50);
}

static void test_union_of_equal_spheres(void **state)
{
    (void)state;
    fixture f = open_set(2);
    mn_vec3 *x = NULL;
    int64_t count = add_ball(&x, 0, mn_v3(0.3, 0.1, -2), 3.0, 2, 1);
    count = add_ball(&x, count, mn_v3(6, 0, 0), 1.5, 1, 2);
    double *r = malloc(sizeof *r * (size_t)count);
    // Radii from less than a cell to many cells: cells of the search from dx up to 4 dx.
    const double radius[4] = {0.3, 0.45, 0.867, 1.4}, spacing[4] = {0.5, 0.5, 1.0, 0.2};
    for (int k = 0; k < 4; k++) {
        for (int64_t i = 0; i < count; i++) r[i] = radius[k];
        mn_union_def def = mn_union_default_def();
        def.origin = mn_v3(0.1, 0.2, 0.3);
        def.dx = spacing[k];
        def.band = k == 0 ? 1.0 : 3.0;
        check_union(f, &def, x, r, k == 3 ? 40 : count);
    }
    free(x), free(r);
    close_set(f);
}

/// Radii over three orders of magnitude.
static void test_union_of_unequal_spheres(void **state)
{
    (void)state;
    fixture f = open_set(2);
    mn_vec3 x[120];
    double r[120];
    for (uint64_t i = 0; i < 120; i++) {
        x[i] = mn_scale(6.0, mn_random_unit3(3, i, 0));
        r[i] = i == 7 ? 2.5 : 0.004 * pow(200.0, mn_random_unit(4, i, 0));
    }
    mn_union_def def = mn_union_default_def();
    def.dx = 0.15;
    check_union(f, &def, x, r, 120);
    check_union(f, &def, x + 8, r + 8, 60);
    close_set(f);
}

// ---- distance ----

/// The ball's own zero level, but neither distance nor gradient are right.
static double distorted_ball(void *user, mn_vec3 x)
{
    return (mn_norm(x) - *(double *)user) * (1.6 + sin(5 * x.x) + 0.4 * cos(7 * x.y + x.z));
}

/// The largest error of phi against the ball's distance where |phi| < band - dx, in dx.
static double distance_error(fixture f, double radius, double *near)
{
    const mn_level_set_view v = mn_level_set_get(f.set);
    double worst = 0.0;
    *near = 0.0;
    for (int32_t i = 0; i < v.blocks.count * 64; i++) {
        const double exact = mn_norm(mn_block_node_position(&v.blocks, i / 64, i % 64)) - radius;
        if (fabs(exact) > v.band - v.blocks.dx) continue;
        worst = fmax(worst, fabs(v.phi[i] - exact) / v.blocks.dx);
        if (fabs(exact) < 0.5 * v.blocks.dx) *near = fmax(*near, fabs(v.phi[i] - exact) / v.blocks.dx);
    }
    return worst;
}

/// Redistancing a distance changes it by the scheme's error only, next to the surface with the square of the
/// spacing (that is, linearly in units of it), and a distorted field becomes a distance.
static void test_redistance(void **state)
{
    (void)state;
    fixture f = open_set(2);
    const double radius = 1.0;
    double worst[2], near[2];
    for (int level = 0; level < 2; level++) {
        fill_ball(f, radius, 0.1 / (1 << level), distance_to_ball);
        check_ok(f.ctx, mn_level_set_redistance(f.set));
        worst[level] = distance_error(f, radius, &near[level]);
    }
    // Godunov's scheme of first order loses a few percent of a cell per cell from the surface.
    assert_true(worst[0] < 0.2 && worst[1] < 0.2);
    assert_true(near[0] < 0.05 && near[1] < 0.6 * near[0]);
    fill_ball(f, radius, 0.05, distorted_ball);
    assert_true(distance_error(f, radius, &near[0]) > 0.8);
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    assert_true(distance_error(f, radius, &near[0]) < 0.35);
    assert_true(near[0] < 0.12);
    close_set(f);
}

static double plane_field(void *user, mn_vec3 x)
{
    return mn_dot(*(mn_vec3 *)user, x) * 3.0; // steeper than a distance
}

/// A plane along the grid comes out exactly, away from where the grid ends and the body with it.
static void test_redistance_of_a_plane(void **state)
{
    (void)state;
    fixture f = open_set(1);
    mn_ivec3 coords[27];
    for (int32_t i = 0; i < 27; i++) coords[i] = mn_iv3(i / 9 - 1, i / 3 % 3 - 1, i % 3 - 1);
    mn_vec3 normal = mn_v3(0, 1, 0);
    check_ok(f.ctx, mn_level_set_fill(f.set, mn_v3(0, 0.3, 0), 1.0, 4.0, 27, coords, plane_field, &normal));
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    const mn_level_set_view v = mn_level_set_get(f.set);
    for (int32_t i = 0; i < v.blocks.count * 64; i++) {
        const mn_vec3 x = mn_block_node_position(&v.blocks, i / 64, i % 64);
        if (fabs(x.x) < 1.5 && fabs(x.z) < 1.5 && fabs(x.y) < 2.9) check_close(v.phi[i], x.y, 1e-12);
    }
    close_set(f);
}

/// Averages: of a linear field the field itself, of a checkerboard nothing; a lone drop of one node stays.
static void test_smooth(void **state)
{
    (void)state;
    fixture f = open_set(1);
    mn_ivec3 coord = {0, 0, 0};
    mn_vec3 normal = mn_v3(0.1, 0.2, -0.1);
    check_ok(f.ctx, mn_level_set_fill(f.set, mn_v3(0, 0, 0), 1.0, 4.0, 1, &coord, plane_field, &normal));
    check_ok(f.ctx, mn_level_set_smooth(f.set, 1));
    mn_level_set_view v = mn_level_set_get(f.set);
    const int32_t own = mn_blocks_find(mn_level_set_blocks(f.set), coord);
    for (int32_t i = own * 64; i < own * 64 + 64; i++)
        check_close(v.phi[i], 3 * mn_dot(normal, mn_block_node_position(&v.blocks, own, i % 64)), 1e-12);
    for (int32_t i = 0; i < v.blocks.count * 64; i++) {
        const mn_ivec3 c = mn_block_cell(&v.blocks, i / 64, i % 64);
        v.phi[i] = (c.x + c.y + c.z) & 1 ? 1.0 : 0.5;
    }
    check_ok(f.ctx, mn_level_set_smooth(f.set, 1));
    v = mn_level_set_get(f.set);
    for (int32_t i = own * 64; i < own * 64 + 64; i++) check_close(v.phi[i], 0.75, 1e-12);

    mn_union_def def = mn_union_default_def();
    def.dx = 1.0;
    def.radius = 0.867;
    const mn_vec3 x = {0.5, 0.5, 0.5};
    check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(&x, 1)));
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    check_ok(f.ctx, mn_level_set_smooth(f.set, 3));
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    assert_true(mn_level_set_get(f.set).body_count > 0);
    check_fails(f.ctx, mn_level_set_smooth(f.set, -1), MN_ERROR_ARGUMENT, "passes");
    close_set(f);
}

// ---- values ----

static void test_shift_and_sample(void **state)
{
    (void)state;
    fixture f = open_set(1);
    fill_ball(f, 1.0, 0.1, distance_to_ball);
    check_ok(f.ctx, mn_level_set_shift(f.set, 0.05));
    const mn_vec3 x[3] = {{1.03, 0.02, -0.1}, {0.6, -0.6, 0.5}, {50, 0, 0}};
    double phi[3];
    mn_vec3 gradient[3];
    check_ok(f.ctx, mn_level_set_sample(f.set, mn_points_of(x, 3), phi, gradient));
    for (int k = 0; k < 2; k++) {
        check_close(phi[k], mn_norm(x[k]) - 0.95, 0.004); // dx^2 / 4 R
        assert_true(mn_distance(gradient[k], mn_normalize(x[k])) < 0.08);
    }
    check_close(phi[2], mn_level_set_get(f.set).band, 1e-15);
    const mn_vec3 nan = {NAN, 0, 0};
    check_fails(f.ctx, mn_level_set_sample(f.set, mn_points_of(&nan, 1), phi, NULL), MN_ERROR_INPUT,
                "not finite");
    check_fails(f.ctx, mn_level_set_shift(f.set, INFINITY), MN_ERROR_ARGUMENT, "shift");
    close_set(f);
}

// ---- manners ----

static uint64_t pipeline_hash(int32_t workers, const mn_vec3 *x, const double *r, int64_t count)
{
    fixture f = open_set(workers);
    mn_union_def def = mn_union_default_def();
    def.dx = 0.7;
    def.radii = r;
    check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(x, count)));
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    check_ok(f.ctx, mn_level_set_smooth(f.set, 2));
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    double volume[64];
    for (int k = 0; k < 64; k++) volume[k] = 20 + k;
    assert_true(mn_level_set_get(f.set).body_count < 64);
    check_ok(f.ctx, mn_level_set_calibrate(f.set, volume, NULL));
    const mn_level_set_view v = mn_level_set_get(f.set);
    uint64_t h = 1;
    const uint8_t *bytes = (const uint8_t *)v.phi;
    for (size_t i = 0; i < sizeof(double) * 64 * (size_t)v.blocks.count; i++)
        h = (h ^ bytes[i]) * 0x100000001b3u;
    close_set(f);
    return h;
}

static void test_any_number_of_workers(void **state)
{
    (void)state;
    mn_vec3 *x = NULL;
    int64_t count = add_ball(&x, 0, mn_v3(0, 0, 0), 5.0, 2, 1);
    count = add_ball(&x, count, mn_v3(9, 1, 0), 3.0, 2, 2);
    double *r = malloc(sizeof *r * (size_t)count);
    for (int64_t i = 0; i < count; i++) r[i] = 0.6 + 0.9 * mn_random_unit(9, (uint64_t)i, 0);
    const uint64_t one = pipeline_hash(1, x, r, count);
    assert_true(one == pipeline_hash(2, x, r, count));
    assert_true(one == pipeline_hash(3, x, r, count));
    assert_true(one == pipeline_hash(8, x, r, count));
    free(x), free(r);
}

static void test_steady_loop_does_not_allocate(void **state)
{
    (void)state;
    fixture f = open_set(2);
    mn_vec3 *x = NULL;
    const int64_t count = add_ball(&x, 0, mn_v3(0, 0, 0), 6.0, 2, 1);
    const double volume = (double)count / 8;
    mn_union_def def = mn_union_default_def();
    def.dx = 1.0;
    def.radius = 0.867;
    int64_t calls = 0;
    for (int step = 0; step < 5; step++) {
        check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(x, count - 10 * step)));
        check_ok(f.ctx, mn_level_set_redistance(f.set));
        check_ok(f.ctx, mn_level_set_smooth(f.set, 1));
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        check_ok(f.ctx, mn_level_set_calibrate(f.set, &volume, NULL));
        if (step == 1) calls = mn_context_allocation_count(f.ctx);
    }
    assert_int_equal(mn_context_allocation_count(f.ctx), calls);
    free(x);
    close_set(f);
}

static void test_bad_input(void **state)
{
    (void)state;
    fixture f = open_set(1);
    mn_union_def def = mn_union_default_def();
    mn_vec3 x[3] = {{0, 0, 0}, {1, 0, 0}, {2, 0, 0}};
    double r[3] = {1, 1, 1};
    const mn_points points = mn_points_of(x, 3);
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_ARGUMENT, "spacing");
    def.dx = 0.5;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_ARGUMENT, "radius");
    def.radius = 1e9;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_ARGUMENT, "too large");
    def.radii = r;
    r[1] = 0.0;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_INPUT, "Point 1 has the radius");
    r[1] = NAN;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_INPUT, "Point 1 has the radius");
    r[1] = 1.0, x[2].z = NAN;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_INPUT, "Point 2 has the position");
    x[2].z = 0.0, def.band = 9.0;
    check_fails(f.ctx, mn_level_set_union(f.set, &def, points), MN_ERROR_ARGUMENT, "band");
    def.band = 3.0;
    assert_int_equal(mn_level_set_get(f.set).blocks.count, 0);
    const double one = 1.0;
    check_fails(f.ctx, mn_level_set_calibrate(f.set, &one, NULL), MN_ERROR_ARGUMENT, "not been found");
    check_fails(f.ctx, mn_level_set_measure(f.set), MN_ERROR_ARGUMENT, "not been found");
    int32_t body;
    check_fails(f.ctx, mn_level_set_bodies_of_points(f.set, points, &body), MN_ERROR_ARGUMENT,
                "not been found");
    // No points: an empty set that every stage takes.
    def.radii = NULL, def.radius = 1.0;
    check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(NULL, 0)));
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    check_ok(f.ctx, mn_level_set_smooth(f.set, 1));
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    check_ok(f.ctx, mn_level_set_calibrate(f.set, NULL, NULL));
    assert_int_equal(mn_level_set_get(f.set).body_count, 0);
    close_set(f);
}

static mn_status make_a_level_set(mn_context *ctx)
{
    mn_vec3 x[60];
    double r[60];
    for (uint64_t i = 0; i < 60; i++) {
        x[i] = mn_scale(4, mn_random_unit3(1, i, 0));
        r[i] = i % 7 == 0 ? 1.5 : 0.4;
    }
    mn_level_set *set = NULL;
    mn_union_def def = mn_union_default_def();
    def.dx = 0.5;
    def.radii = r;
    const double volumes[60] = {30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30, 30};
    mn_status status = mn_level_set_create(ctx, &set);
    if (status == MN_OK) status = mn_level_set_union(set, &def, mn_points_of(x, 60));
    if (status == MN_OK) status = mn_level_set_redistance(set);
    if (status == MN_OK) status = mn_level_set_smooth(set, 1);
    if (status == MN_OK) status = mn_level_set_find_bodies(set);
    if (status == MN_OK) status = mn_level_set_calibrate(set, volumes, NULL);
    mn_level_set_free(set);
    return status;
}

static void test_out_of_memory(void **state)
{
    (void)state;
    check_memory_may_run_out(make_a_level_set);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_union_of_equal_spheres),
        cmocka_unit_test(test_union_of_unequal_spheres),
        cmocka_unit_test(test_redistance),
        cmocka_unit_test(test_redistance_of_a_plane),
        cmocka_unit_test(test_smooth),
        cmocka_unit_test(test_shift_and_sample),
        cmocka_unit_test(test_any_number_of_workers),
        cmocka_unit_test(test_steady_loop_does_not_allocate),
        cmocka_unit_test(test_bad_input),
        cmocka_unit_test(test_out_of_memory),
    };
    return cmocka_run_group_tests_name("levelset/level_set", tests, NULL, NULL);
}
