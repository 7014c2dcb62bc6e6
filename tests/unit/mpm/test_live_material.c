// SPDX-License-Identifier: Apache-2.0
//
// Materials that live: parameters that change act on the liquid that there is, values that particles brought
// stay theirs, and both survive a save.
#include "support/check.h"
#include "support/stream_buffer.h"

#include "mpm/state.h"

enum { COUNT = 64 };
static const double dx = 1e-3;

static mn_mpm *make(mn_context *ctx, const mn_mpm_def *def, const double *sigma)
{
    mn_mpm *mpm;
    mn_vec3 x[COUNT], v[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = mn_scale(0.5 * dx, mn_v3(i / 16, i / 4 % 4, i % 4));
        v[i] = mn_v3(0.1, 0.2, -0.3);
    }
    check_ok(ctx, mn_mpm_create(ctx, def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &(mn_mpm_source){COUNT, .position = x, .velocity = v, .sigma = sigma}));
    return mpm;
}

static void parameters_act_on_liquid_that_is_there(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = mn_mpm_default_def();
    mn_mpm_point points[COUNT];
    mn_mpm *mpm = make(ctx, &def, NULL);
    def.sigma = 0.02, def.viscosity = 0.5, def.density = 1300;
    check_ok(ctx, mn_mpm_set_def(mpm, &def));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0));
    check_ok(ctx, mn_mpm_get_points(mpm, points));
    for (int i = 0; i < COUNT; i++) {
        check_close(points[i].sigma, 0.02, 0);
        check_close(points[i].viscosity, 0.5, 0);
        check_close(points[i].mass, 1300 * dx * dx * dx / 8, 1e-12); // the volume stays
        check_close(points[i].j, 1, 0);
        check_close(mn_distance(points[i].velocity, mn_v3(0.1, 0.2, -0.3)), 0, 0);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void values_of_their_own_stay(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = mn_mpm_default_def();
    double sigma[COUNT];
    mn_mpm_point points[COUNT];
    for (int i = 0; i < COUNT; i++) sigma[i] = 0.01 + 0.001 * i;
    mn_mpm *mpm = make(ctx, &def, sigma), *loaded;
    buffer bytes = {.ctx = ctx};
    mn_writer out = {ctx, &bytes, buffer_write};
    check_ok(ctx, mn_mpm_save(mpm, &out));
    def.sigma = 0.5, def.viscosity = 0.25;
    mn_reader in = {ctx, &bytes, buffer_read};
    check_ok(ctx, mn_mpm_load(ctx, &def, &in, &loaded));
    mn_mpm *each[] = {mpm, loaded};
    for (int k = 0; k < 2; k++) {
        check_ok(ctx, mn_mpm_set_def(each[k], &def));
        check_ok(ctx, mn_mpm_advance(each[k], NULL, 0));
        check_ok(ctx, mn_mpm_get_points(each[k], points));
        for (int i = 0; i < COUNT; i++) {
            check_close(points[i].sigma, sigma[i], 0);
            check_close(points[i].viscosity, 0.25, 0);
        }
        mn_mpm_free(each[k]);
    }
    free(bytes.bytes);
    mn_context_free(ctx);
}

static void ids_find_their_particles(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_mpm_def def = mn_mpm_default_def();
    mn_mpm_point points[COUNT];
    mn_mpm *mpm = make(ctx, &def, NULL);
    const int64_t id[3] = {7, 1000, 3};
    const double sigma[3] = {0.1, 0.2, 0.3}, density[3] = {500, 600, 700}, wrong[3] = {1, 1, -1};
    assert_int_equal(mn_mpm_set_materials(mpm, 3, id, wrong, NULL, NULL), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "Point 2 has sigma -1"));
    check_ok(ctx, mn_mpm_set_materials(mpm, 3, id, sigma, NULL, density));
    def.sigma = 0.5; // of all others
    check_ok(ctx, mn_mpm_set_def(mpm, &def));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0));
    check_ok(ctx, mn_mpm_get_points(mpm, points));
    for (int i = 0; i < COUNT; i++) {
        check_close(points[i].sigma, i == 7 ? 0.1 : i == 3 ? 0.3 : 0.5, 0);
        check_close(points[i].density, i == 7 ? 500 : i == 3 ? 700 : 1000, 1e-9);
    }
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// What comes out of an emitter without attributes follows too, and what it brings as sigma stays.
static void emitted_liquid_follows(void **state)
{
    (void)state;
    for (int own = 0; own < 2; own++) {
        mn_context *ctx = mn_context_create(NULL);
        mn_mpm_def def = mn_mpm_default_def();
        const mn_vec3 x[3] = {{0, 0, 0}, {6 * dx, 0, 0}, {0, 0, -6 * dx}};
        const double sigma[3] = {0.03, 0.03, 0.03};
        const int64_t triangle[1][3] = {{0, 1, 2}};
        const mn_mpm_emitter emitter = {.point_count = 3,
                                        .triangle_count = 1,
                                        .positions = x,
                                        .triangles = triangle,
                                        .speed = 0.5,
                                        .sigma = own ? sigma : NULL};
        mn_mpm *mpm;
        check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
        check_ok(ctx, mn_mpm_set_emitter(mpm, &emitter, 0));
        assert_true(mn_mpm_count(mpm) > 0 && mn_mpm_count(mpm) < 4096);
        def.sigma = 0.01;
        check_ok(ctx, mn_mpm_set_def(mpm, &def));
        check_ok(ctx, mn_mpm_advance(mpm, NULL, 0));
        for (int64_t i = 0; i < mpm->materials.count; i++) {
            check_close(mpm->materials.data[i].sigma, own ? 0.03 : 0.01, 1e-15);
            assert_true(mn_mpm_site_of(&mpm->materials.data[i]) > 0);
        }
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parameters_act_on_liquid_that_is_there),
        cmocka_unit_test(values_of_their_own_stay),
        cmocka_unit_test(ids_find_their_particles),
        cmocka_unit_test(emitted_liquid_follows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
