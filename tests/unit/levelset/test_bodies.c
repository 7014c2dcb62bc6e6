// SPDX-License-Identifier: Apache-2.0
//
// Bodies of a level set: their volumes, areas and calibration, and what solids cut off them.
#include "level_set_stage.h"
#include "mesh/isosurface.h"
#include "support/mesh_checks.h"

/// Three balls, one with a cavity: labels, volumes and areas, each against its own formula, and against the
/// isosurface of marching tetrahedra to rounding.
static double three_balls(void *user, mn_vec3 x)
{
    (void)user;
    const double a = mn_norm(mn_sub(x, mn_v3(-2, 0, 0))) - 1.0;
    const double b = mn_norm(mn_sub(x, mn_v3(1.1, 0.2, 0.1))) - 0.8;
    const double cavity = 0.4 - mn_norm(mn_sub(x, mn_v3(1.1, 0.2, 0.1)));
    const double c = mn_norm(mn_sub(x, mn_v3(1, -2.2, 0.5))) - 0.5;
    return fmin(fmin(a, fmax(b, cavity)), c);
}

static void test_bodies(void **state)
{
    (void)state;
    fixture f = open_set(2);
    const double dx = 0.08;
    static mn_ivec3 coords[32768];
    int64_t count = 0;
    for (int32_t x = -11; x < 7; x++)
        for (int32_t y = -9; y < 5; y++)
            for (int32_t z = -5; z < 5; z++) coords[count++] = mn_iv3(x, y, z);
    check_ok(f.ctx, mn_level_set_fill(f.set, mn_v3(0, 0, 0), dx, 3.0, count, coords, three_balls, NULL));
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    check_ok(f.ctx, mn_level_set_measure(f.set));
    const mn_level_set_view v = mn_level_set_get(f.set);
    assert_int_equal(v.body_count, 3);
    // Numbered by their first node: the ball at x = -2, then whichever of the others starts at lower x.
    const double volume[3] = {4 * M_PI / 3, 4 * M_PI / 3 * (0.512 - 0.064), 4 * M_PI / 3 * 0.125};
    const double area[3] = {4 * M_PI, 4 * M_PI * (0.64 + 0.16), 4 * M_PI * 0.25};
    const mn_vec3 middle[3] = {{-2, 0, 0}, {1.1 - 0.6, 0.2, 0.1}, {1, -2.2, 0.5}};
    double volumes = 0, areas = 0;
    bool seen[3] = {false};
    for (int32_t k = 0; k < 3; k++) {
        int32_t body;
        check_ok(f.ctx, mn_level_set_bodies_of_points(f.set, mn_points_of(&middle[k], 1), &body));
        assert_true(body >= 0 && body < 3 && !seen[body]);
        seen[body] = true;
        // dx^2 / R^2 is up to 0.04 for the cavity: second order with a factor below 1 (see test_isosurface).
        check_close(v.bodies[body].volume / volume[k], 1.0, 0.02);
        check_close(v.bodies[body].area / area[k], 1.0, 0.01);
        volumes += v.bodies[body].volume;
        areas += v.bodies[body].area;
    }
    mn_isosurface *iso;
    check_ok(f.ctx, mn_isosurface_create(f.ctx, &iso));
    check_ok(f.ctx, mn_isosurface_run(iso, mn_level_set_blocks(f.set), v.phi, 0.0, MN_ISO_TETRAHEDRA));
    const mn_iso_mesh m = mn_isosurface_mesh(iso);
    // Vertices nearer than a hundredth of an edge to a node were moved: area by less than 1e-4, volume less.
    check_close(mesh_volume(m.positions, m.triangles, m.triangle_count) / volumes, 1.0, 1e-4);
    check_close(mesh_area(m.positions, m.triangles, m.triangle_count) / areas, 1.0, 1e-4);
    mn_isosurface_free(iso);
    for (int32_t k = 1; k < 3; k++) assert_true(v.bodies[k - 1].first_node < v.bodies[k].first_node);
    close_set(f);
}

/// Nodes that touch along diagonals of the tetrahedra only belong together, along others they do not.
static double diagonal_nodes(void *user, mn_vec3 x)
{
    const int32_t *offset = user;
    const bool in = (x.x == 3 && x.y == 3 && x.z == 3) ||
                    (x.x == 3 + offset[0] && x.y == 3 + offset[1] && x.z == 3 + offset[2]);
    return in ? -0.5 : 0.5;
}

static void test_bodies_meet_where_tetrahedra_do(void **state)
{
    (void)state;
    fixture f = open_set(1);
    const mn_ivec3 coord = {0, 0, 0};
    for (int32_t n = 0; n < 27; n++) {
        if (n == 13) continue;
        int32_t offset[3] = {n / 9 - 1, n / 3 % 3 - 1, n % 3 - 1};
        bool up = true, down = true;
        for (int a = 0; a < 3; a++) up = up && offset[a] >= 0, down = down && offset[a] <= 0;
        check_ok(f.ctx,
                 mn_level_set_fill(f.set, mn_v3(0, 0, 0), 1.0, 1.0, 1, &coord, diagonal_nodes, offset));
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        assert_int_equal(mn_level_set_get(f.set).body_count, up || down ? 1 : 2);
    }
    close_set(f);
}

/// Many drops, several in one block: each has its own volume after calibration.
static void test_calibrate_many_drops(void **state)
{
    (void)state;
    fixture f = open_set(2);
    enum { DROPS = 400 };
    static mn_vec3 x[DROPS];
    static int32_t body[DROPS];
    static double volume[DROPS], got[DROPS];
    for (int32_t i = 0; i < DROPS; i++) {
        const mn_vec3 u = mn_random_unit3(8, (uint64_t)i, 0);
        x[i] = mn_v3(4 * (i / 64) + u.x, 4 * (i / 8 % 8) + u.y, 4 * (i % 8) + u.z);
    }
    mn_union_def def = mn_union_default_def();
    def.dx = 1.0;
    def.radius = 0.867;
    check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(x, DROPS)));
    check_ok(f.ctx, mn_level_set_redistance(f.set));
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    check_ok(f.ctx, mn_level_set_bodies_of_points(f.set, mn_points_of(x, DROPS), body));
    mn_level_set_view v = mn_level_set_get(f.set);
    assert_true(v.body_count > 300 && v.body_count <= DROPS);
    for (int32_t i = 0; i < DROPS; i++) {
        assert_true(body[i] >= 0 && body[i] < v.body_count);
        volume[body[i]] += 0.125;
    }
    check_ok(f.ctx, mn_level_set_calibrate(f.set, volume, NULL));
    v = mn_level_set_get(f.set);
    for (int32_t b = 0; b < v.body_count; b++) got[b] = v.bodies[b].volume;
    check_ok(f.ctx, mn_level_set_measure(f.set));
    v = mn_level_set_get(f.set);
    for (int32_t b = 0; b < v.body_count; b++) {
        check_close(v.bodies[b].volume, got[b], 1e-9 * got[b]); // what calibration says is what is there
        check_close(v.bodies[b].volume, volume[b], 2e-6 * volume[b]);
    }
    close_set(f);
}

/// A ball of particles, 8 in a cell: the pipeline's area against the ball of the particles' volume. The raw
/// union is 20 % off, redistanced and calibrated 1 %, with one smoothing pass less than 0.3 %.
static void test_area_of_a_ball_of_particles(void **state)
{
    (void)state;
    fixture f = open_set(2);
    const double radius[2] = {8.0, 16.0};
    double error[2][2];
    for (int k = 0; k < 2; k++) {
        mn_vec3 *x = NULL;
        const int64_t count = add_ball(&x, 0, mn_v3(0.2, 0.4, 0.1), radius[k], 2, 11);
        const double volume = (double)count / 8, area = cbrt(36 * M_PI * volume * volume);
        mn_union_def def = mn_union_default_def();
        def.dx = 1.0;
        def.radius = 0.867;
        for (int smooth = 0; smooth < 2; smooth++) {
            check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(x, count)));
            check_ok(f.ctx, mn_level_set_redistance(f.set));
            check_ok(f.ctx, mn_level_set_smooth(f.set, smooth));
            check_ok(f.ctx, mn_level_set_find_bodies(f.set));
            assert_int_equal(mn_level_set_get(f.set).body_count, 1);
            check_ok(f.ctx, mn_level_set_calibrate(f.set, &volume, NULL));
            const mn_body body = mn_level_set_get(f.set).bodies[0];
            check_close(body.volume, volume, 2e-6 * volume);
            assert_true(body.shift > 0.4 && body.shift < 0.8);
            error[k][smooth] = body.area / area - 1.0;
        }
        free(x);
    }
    check_close(error[0][0], 0.0, 0.017); // the prototype's 1.7, 0.65, 1.3 and 0.46 %
    check_close(error[0][1], 0.0, 0.003);
    check_close(error[1][0], 0.0, 0.013);
    check_close(error[1][1], 0.0, 0.0015);
    close_set(f);
}

/// A guess makes no difference to where calibration ends.
static void test_calibrate_from_a_guess(void **state)
{
    (void)state;
    fixture f = open_set(1);
    const double volume = 3.0;
    double shift[3];
    const double guess[3] = {0.0, 0.25, -100.0};
    for (int k = 0; k < 3; k++) {
        fill_ball(f, 1.0, 0.1, distance_to_ball);
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        check_ok(f.ctx, mn_level_set_calibrate(f.set, &volume, &guess[k]));
        check_close(mn_level_set_get(f.set).bodies[0].volume, volume, 3e-6);
        shift[k] = mn_level_set_get(f.set).bodies[0].shift;
    }
    check_close(shift[1], shift[0], 1e-6);
    check_close(shift[2], shift[0], 1e-6);
    // Outward, too; and a volume that the band has no room for ends at the band's end.
    const double larger = 4.5, far_too_large = 100.0, tiny = 1e-9;
    fill_ball(f, 1.0, 0.1, distance_to_ball);
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    check_ok(f.ctx, mn_level_set_calibrate(f.set, &larger, NULL));
    check_close(mn_level_set_get(f.set).bodies[0].volume, larger, 5e-6);
    check_ok(f.ctx, mn_level_set_calibrate(f.set, &far_too_large, NULL));
    assert_true(mn_level_set_get(f.set).bodies[0].volume > 5.0);
    fill_ball(f, 1.0, 0.1, distance_to_ball);
    check_ok(f.ctx, mn_level_set_find_bodies(f.set));
    check_ok(f.ctx, mn_level_set_calibrate(f.set, &tiny, NULL));
    assert_true(mn_level_set_get(f.set).bodies[0].volume < 2.2);
    const double bad[2] = {-1.0, NAN};
    check_fails(f.ctx, mn_level_set_calibrate(f.set, &bad[0], NULL), MN_ERROR_ARGUMENT, "volume");
    check_fails(f.ctx, mn_level_set_calibrate(f.set, &bad[1], NULL), MN_ERROR_ARGUMENT, "volume");
    close_set(f);
}

// ---- solids ----

static double ball_of_radius_6(void *user, mn_vec3 x)
{
    (void)user;
    return mn_norm(mn_sub(x, mn_v3(0.3, 0.2, 0.1))) - 6;
}

static double floor_at(void *user, mn_vec3 x)
{
    return x.y - *(const double *)user;
}

static double tilted_floor(void *user, mn_vec3 x)
{
    (void)user;
    return mn_dot(mn_sub(x, mn_v3(0.3, 0.2, 0.1)), mn_normalize(mn_v3(0.3, 1, -0.2)));
}

static void fill_resting_ball(fixture f)
{
    mn_ivec3 coords[512];
    for (int32_t i = 0; i < 512; i++) coords[i] = mn_iv3(i / 64 - 4, i / 8 % 8 - 4, i % 8 - 4);
    check_ok(f.ctx, mn_level_set_fill(f.set, mn_v3(0, 0, 0), 1, 3, 512, coords, ball_of_radius_6, NULL));
}

/// A ball on a plane: volume and areas of a cap, of height h above the plane, to the method's second order,
/// 1/R^2 of their size.
static void test_solids_cut_bodies(void **state)
{
    (void)state;
    const double pi = 3.14159265358979323846, r = 6;
    fixture f = open_set(2);
    for (int32_t k = 0; k < 4; k++) {
        double height = 0.2 - 1.5 + 0.87 * k; // of the plane, not on nodes
        const double h = k == 3 ? r : r + 0.2 - height, a2 = h * (2 * r - h);
        fill_resting_ball(f);
        check_ok(f.ctx, mn_level_set_set_solid(f.set, k == 3 ? tilted_floor : floor_at, &height));
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        check_ok(f.ctx, mn_level_set_measure(f.set));
        const mn_level_set_view view = mn_level_set_get(f.set);
        assert_int_equal(view.body_count, 1);
        assert_non_null(view.solid);
        check_close(view.bodies[0].volume, pi * h * h * (3 * r - h) / 3, 0.02 * pi * h * h * (3 * r - h) / 3);
        check_close(view.bodies[0].area, 2 * pi * r * h, 0.02 * 2 * pi * r * h);
        check_close(view.bodies[0].wetted, pi * a2, 0.03 * pi * a2);
        // Calibration gives the open part the volume asked for.
        const double wanted = 1.1 * view.bodies[0].volume;
        check_ok(f.ctx, mn_level_set_calibrate(f.set, &wanted, NULL));
        check_ok(f.ctx, mn_level_set_measure(f.set));
        check_close(mn_level_set_get(f.set).bodies[0].volume, wanted, 2e-6 * wanted);
    }
    close_set(f);
}

/// A cube of balls with a floor through it, which is then cut a little below the floor: nothing above it is
/// lost, in blocks deep inside of the cube neither, wherever the floor lies between the blocks.
static void test_cutting_in_a_solid_keeps_what_is_outside(void **state)
{
    (void)state;
    fixture f = open_set(2);
    mn_vec3 x[20 * 20 * 20];
    for (int32_t i = 0; i < 8000; i++) x[i] = mn_v3(i / 400, i / 20 % 20, i % 20);
    for (int32_t k = 0; k < 8; k++) {
        double height = 15.9 - 1.2 * k; // whole blocks deep inside lie below
        mn_union_def def = mn_union_default_def();
        def.dx = 1, def.radius = 1, def.band = 3;
        check_ok(f.ctx, mn_level_set_union(f.set, &def, mn_points_of(x, 8000)));
        check_ok(f.ctx, mn_level_set_redistance(f.set));
        check_ok(f.ctx, mn_level_set_set_solid(f.set, floor_at, &height));
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        check_ok(f.ctx, mn_level_set_measure(f.set));
        const double volume = mn_level_set_get(f.set).bodies[0].volume;
        check_ok(f.ctx, mn_level_set_cut_solid(f.set, 0.75));
        check_ok(f.ctx, mn_level_set_find_bodies(f.set));
        check_ok(f.ctx, mn_level_set_measure(f.set));
        const mn_level_set_view view = mn_level_set_get(f.set);
        assert_int_equal(view.body_count, 1);
        check_close(view.bodies[0].volume, volume, 1e-3 * volume);
        for (int32_t i = 0; i < view.blocks.count * MN_BLOCK_CELLS; i++)
            if (mn_block_node_position(&view.blocks, i / MN_BLOCK_CELLS, i % MN_BLOCK_CELLS).y <
                height - 0.76)
                assert_true(view.phi[i] > 0);
    }
    close_set(f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_bodies),
        cmocka_unit_test(test_bodies_meet_where_tetrahedra_do),
        cmocka_unit_test(test_calibrate_many_drops),
        cmocka_unit_test(test_area_of_a_ball_of_particles),
        cmocka_unit_test(test_calibrate_from_a_guess),
        cmocka_unit_test(test_solids_cut_bodies),
        cmocka_unit_test(test_cutting_in_a_solid_keeps_what_is_outside),
    };
    return cmocka_run_group_tests_name("levelset/bodies", tests, NULL, NULL);
}
