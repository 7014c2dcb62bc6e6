// SPDX-License-Identifier: Apache-2.0
//
// The skin of particles is watertight and holds their volume; blended values are exact for constants and
// follow linear fields.
#include "base/random.h"
#include "meniscus/collider.h"
#include "mesh/isosurface.h"
#include "mesh/skin.h"
#include "support/check.h"
#include "support/out_of_memory.h"

static const double pi = 3.14159265358979323846;

static void ball_distance(void *user, int64_t count, const mn_vec3 *x, double *distances)
{
    const double radius = *(const double *)user;
    for (int64_t i = 0; i < count; i++) distances[i] = mn_norm(x[i]) - radius;
}

// Particles of a ball, `cells` of dx = 1 across its radius; radii and volumes as the fill node gives them.
static void fill_ball(mn_context *ctx, double cells, mn_vec3_array *x, double *radius, double *volume)
{
    mn_fill_def def = mn_fill_default_def();
    def.dx = 1;
    const mn_region region = {
        &cells, ball_distance, {mn_v3(-cells, -cells, -cells), mn_v3(cells, cells, cells)}};
    check_ok(ctx, mn_fill(ctx, &def, &region, x));
    *volume = 4 * pi / 3 * cells * cells * cells / (double)x->count;
    *radius = cbrt(3 * *volume / (4 * pi));
}

static double mesh_volume(const mn_iso_mesh *mesh, double *area)
{
    double volume = 0;
    *area = 0;
    for (int32_t t = 0; t < mesh->triangle_count; t++) {
        const mn_vec3 a = mesh->positions[mesh->triangles[t][0]], b = mesh->positions[mesh->triangles[t][1]],
                      c = mesh->positions[mesh->triangles[t][2]];
        volume += mn_dot(a, mn_cross(b, c)) / 6;
        *area += 0.5 * mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
    }
    return volume;
}

static double *repeated(double value, int64_t count)
{
    double *values = malloc(sizeof(double) * (size_t)(count + 1));
    for (int64_t i = 0; i < count; i++) values[i] = value;
    return values;
}

static void a_ball_of_particles_is_a_ball(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_skin *skin;
    check_ok(ctx, mn_skin_create(ctx, &skin));
    mn_vec3_array x = {0};
    double radius, volume;
    fill_ball(ctx, 8, &x, &radius, &volume);
    double *radii = repeated(radius, x.count), *volumes = repeated(volume, x.count);
    for (double dx = 1; dx > 0.2; dx *= 0.5) {
        mn_skin_def def = mn_skin_default_def();
        def.dx = dx;
        check_ok(ctx, mn_skin_run(skin, &def, x.count, x.data, radii, volumes));
        const mn_skin_facts facts = mn_skin_get_facts(skin);
        assert_int_equal(facts.bodies, 1);
        assert_int_equal(facts.small_bodies, 0);
        const double wanted = 4 * pi / 3 * 512;
        check_close(facts.wanted_volume, wanted, 1e-9 * wanted);
        check_close(facts.volume, wanted, 3e-6 * wanted);
        mn_iso_mesh mesh;
        check_ok(ctx, mn_skin_mesh(skin, &mesh));
        double area;
        // Cubes and the tetrahedra that measure cut curved cells differently, by (dx / R)^2.
        check_close(mesh_volume(&mesh, &area), wanted, 0.01 * wanted);
        check_close(area, 4 * pi * 64, 0.02 * 4 * pi * 64);
        for (int32_t i = 0; i < mesh.vertex_count; i++) check_close(mn_norm(mesh.positions[i]), 8, 0.35);
    }
    free(radii);
    free(volumes);
    mn_array_free(ctx, &x);
    mn_skin_free(skin);
    mn_context_free(ctx);
}

// Drops apart from each other, of different sizes: each keeps its own volume; those too small for the grid
// are counted.
static void drops_do_not_look_too_large(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_skin *skin;
    check_ok(ctx, mn_skin_create(ctx, &skin));
    mn_vec3 x[27];
    double radii[27], wanted = 0;
    for (int i = 0; i < 27; i++) {
        x[i] = mn_scale(12, mn_v3(i % 3, i / 3 % 3, i / 9));
        radii[i] = 1.0 + 0.05 * i;
        wanted += 4 * pi / 3 * pow(radii[i], 3);
    }
    mn_skin_def def = mn_skin_default_def();
    def.dx = 0.5;
    check_ok(ctx, mn_skin_run(skin, &def, 27, x, radii, NULL));
    mn_skin_facts facts = mn_skin_get_facts(skin);
    assert_int_equal(facts.bodies, 27);
    assert_int_equal(facts.small_bodies, 0);
    check_close(facts.volume, wanted, 3e-6 * wanted);
    radii[5] = 0.1;
    check_ok(ctx, mn_skin_run(skin, &def, 27, x, radii, NULL));
    facts = mn_skin_get_facts(skin);
    assert_int_equal(facts.bodies, 27);
    assert_int_equal(facts.small_bodies, 1);
    // Without the shift the scaled spheres are what is shown.
    def.keep_volume = false;
    def.smooth = 0;
    radii[5] = 1.25;
    check_ok(ctx, mn_skin_run(skin, &def, 27, x, radii, NULL));
    facts = mn_skin_get_facts(skin);
    check_close(facts.volume, facts.wanted_volume * pow(2.5, 3), 0.03 * facts.volume);
    mn_skin_free(skin);
    mn_context_free(ctx);
}

static void blends_follow_the_particles(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3_array x = {0};
    double radius, volume;
    fill_ball(ctx, 8, &x, &radius, &volume);
    double *reach = malloc(sizeof(double) * (size_t)x.count),
           *values = malloc(sizeof(double) * 2 * (size_t)x.count);
    for (int64_t i = 0; i < x.count; i++) {
        // Reaches that differ by a factor of eight share the work among four classes.
        reach[i] = 1.2 * (1 << (i % 4));
        values[2 * i] = 7;
        values[2 * i + 1] = 3 * x.data[i].x - 2 * x.data[i].y + 1;
    }
    mn_blend *blend;
    check_ok(ctx, mn_blend_create(ctx, x.count, x.data, reach, &blend));
    enum { TARGETS = 500 };
    mn_vec3 targets[TARGETS];
    double results[2 * TARGETS], slow[2];
    for (int t = 0; t < TARGETS; t++)
        targets[t] = mn_scale(18, mn_sub(mn_random_unit3(2, (uint64_t)t, 0), mn_v3(0.5, 0.5, 0.5)));
    check_ok(ctx, mn_blend_values(blend, 2, values, TARGETS, targets, results));
    for (int t = 0; t < TARGETS; t++) {
        double sum = 0;
        slow[0] = slow[1] = 0;
        for (int64_t i = 0; i < x.count; i++) {
            const double q = 1 - mn_norm2(mn_sub(targets[t], x.data[i])) / (reach[i] * reach[i]);
            if (q <= 0) continue;
            sum += q * q * q;
            for (int m = 0; m < 2; m++) slow[m] += q * q * q * values[2 * i + m];
        }
        for (int m = 0; m < 2; m++) check_close(results[2 * t + m], sum > 0 ? slow[m] / sum : 0, 1e-11);
    }
    // Far away nobody reaches.
    targets[0] = mn_v3(1e6, 0, 0), targets[1] = mn_v3(1e300, 0, 0);
    check_ok(ctx, mn_blend_values(blend, 2, values, 2, targets, results));
    assert_true(results[0] == 0 && results[2] == 0);
    mn_blend_free(blend);
    reach[3] = NAN;
    check_fails(ctx, mn_blend_create(ctx, x.count, x.data, reach, &blend), MN_ERROR_INPUT, "Particle 3");
    assert_null(blend);
    free(reach);
    free(values);
    mn_array_free(ctx, &x);
    mn_context_free(ctx);
}

static void threads_do_not_matter(void **state)
{
    (void)state;
    double first[4] = {0};
    const int32_t workers[] = {1, 2, 3, 8};
    for (int k = 0; k < 4; k++) {
        const mn_hooks hooks = {.max_workers = workers[k]};
        mn_context *ctx = mn_context_create(&hooks);
        mn_skin *skin;
        mn_vec3_array x = {0};
        double radius, volume, sum[4] = {0}, area;
        check_ok(ctx, mn_skin_create(ctx, &skin));
        fill_ball(ctx, 8, &x, &radius, &volume);
        double *radii = repeated(radius, x.count);
        mn_skin_def def = mn_skin_default_def();
        def.dx = 0.5;
        check_ok(ctx, mn_skin_run(skin, &def, x.count, x.data, radii, NULL));
        mn_iso_mesh mesh;
        check_ok(ctx, mn_skin_mesh(skin, &mesh));
        mn_blend *blend;
        check_ok(ctx, mn_blend_create(ctx, x.count, x.data, radii, &blend));
        double *results = malloc(sizeof(double) * 3 * (size_t)mesh.vertex_count);
        check_ok(ctx, mn_blend_values(blend, 3, &x.data[0].x, mesh.vertex_count, mesh.positions, results));
        for (int32_t i = 0; i < 3 * mesh.vertex_count; i++) sum[i % 3] += (i + 1) * results[i];
        sum[3] = mesh_volume(&mesh, &area);
        if (k == 0) memcpy(first, sum, sizeof sum);
        assert_memory_equal(first, sum, sizeof sum);
        free(results);
        free(radii);
        mn_blend_free(blend);
        mn_array_free(ctx, &x);
        mn_skin_free(skin);
        mn_context_free(ctx);
    }
}

static void bad_values_are_refused_and_nothing_is_fine(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_skin *skin;
    check_ok(ctx, mn_skin_create(ctx, &skin));
    mn_skin_def def = mn_skin_default_def();
    mn_vec3 x = {0, 0, 0};
    double radius = 1;
    check_fails(ctx, mn_skin_run(skin, &def, 1, &x, &radius, NULL), MN_ERROR_ARGUMENT, "dx is 0 m");
    def.dx = 0.5;
    radius = 0;
    check_fails(ctx, mn_skin_run(skin, &def, 1, &x, &radius, NULL), MN_ERROR_INPUT, "radius of 0 m");
    radius = 1, x.y = NAN;
    assert_true(mn_skin_run(skin, &def, 1, &x, &radius, NULL) != MN_OK);
    check_ok(ctx, mn_skin_run(skin, &def, 0, NULL, NULL, NULL));
    mn_iso_mesh mesh;
    check_ok(ctx, mn_skin_mesh(skin, &mesh));
    assert_int_equal(mesh.triangle_count, 0);
    mn_skin_free(skin);
    mn_context_free(ctx);
}

static mn_status skin_two_balls(mn_context *ctx)
{
    const mn_vec3 x[2] = {{0, 0, 0}, {5, 0, 0}};
    const double radii[2] = {1, 0.3};
    double results[2];
    mn_skin *skin = NULL;
    mn_blend *blend = NULL;
    mn_iso_mesh mesh;
    mn_skin_def def = mn_skin_default_def();
    def.dx = 0.5;
    mn_status status = mn_skin_create(ctx, &skin);
    if (status == MN_OK) status = mn_skin_run(skin, &def, 2, x, radii, NULL);
    if (status == MN_OK) status = mn_skin_mesh(skin, &mesh);
    if (status == MN_OK) status = mn_blend_create(ctx, 2, x, radii, &blend);
    if (status == MN_OK) status = mn_blend_values(blend, 1, radii, 2, x, results);
    mn_blend_free(blend);
    mn_skin_free(skin);
    return status;
}

static void no_memory_is_a_status(void **state)
{
    (void)state;
    check_memory_may_run_out(skin_two_balls);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_ball_of_particles_is_a_ball),
        cmocka_unit_test(drops_do_not_look_too_large),
        cmocka_unit_test(blends_follow_the_particles),
        cmocka_unit_test(threads_do_not_matter),
        cmocka_unit_test(bad_values_are_refused_and_nothing_is_fine),
        cmocka_unit_test(no_memory_is_a_status),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
