// SPDX-License-Identifier: Apache-2.0
//
// Which liquid a wall lets go: that whose mean pressure pulls, whatever single particles say. How much a wall
// rubs: by what it presses on the whole, whatever single particles press and pull.
#include "support/check.h"

#include "base/random.h"
#include "mpm/walls.h"

enum { SIDE = 16, DEEP = 4 };

// A slab on a floor that it does not wet, with volume ratios that scatter by 0.01 around 1 + mean.
static mn_mpm *make_slab(mn_context *ctx, double mean)
{
    static mn_vec3 x[SIDE * SIDE * DEEP];
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.contact_angle = 180, def.gravity = mn_v3(0, 0, 0);
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = MN_MPM_SEPARATE;
    int64_t count = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < DEEP; j++)
            for (int k = 0; k < SIDE; k++)
                x[count++] = mn_scale(0.5 * def.dx, mn_v3(i + 0.5, j + 0.5, k + 0.5));
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &(mn_mpm_source){.count = count, .position = x}));
    mpm->bulk_modulus = 1e4;
    for (int64_t i = 0; i < count; i++)
        mpm->materials.data[i].j = 1 + mean + 0.02 * (mn_random_unit3(1, (uint64_t)i, 0).x - 0.5);
    return mpm;
}

static double held_share(const mn_mpm *mpm)
{
    int64_t held = 0;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) held += mpm->walls.contacts.data[c].held;
    return (double)held / (double)mpm->walls.contacts.count;
}

static void mean_pressure_decides_what_is_held(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    // A third of the particles pull, or push; the scatter of a mean over a dozen is a quarter of 0.006.
    const double means[2] = {-0.004, 0.004};
    for (int k = 0; k < 2; k++) {
        mn_mpm *mpm = make_slab(ctx, means[k]);
        check_ok(ctx, mn_mpm_find_contacts(mpm));
        assert_true(mpm->walls.contacts.count > 0);
        const double held = held_share(mpm);
        assert_true(k == 0 ? held > 0.95 : held < 0.05);
        mn_mpm_free(mpm);
    }
    mn_context_free(ctx);
}

static void friction_is_that_of_the_whole_push(void **state)
{
    (void)state;
    const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_mpm *mpm = make_slab(ctx, -0.004);
    const double dt = 1e-5, friction = 0.3, speed = 10;
    mpm->def.friction = friction;
    check_ok(ctx, mn_mpm_find_contacts(mpm));
    double pull = 0;
    for (int64_t c = 0; c < mpm->walls.contacts.count; c++) {
        mpm->walls.contacts.data[c].held = true;
        pull += fmin(mn_mpm_wall_impulse(mpm, &mpm->walls.contacts.data[c], dt), 0);
    }
    assert_true(pull < 0);
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) mpm->grid.nodes.data[i] = (mn_mpm_node){.mass = 1e-6};
    mn_mpm_node *pushed = mn_allocate_zero(ctx, sizeof *pushed * (size_t)mpm->grid.nodes.count);
    check_ok(ctx, mn_mpm_push_from_walls(mpm, pushed, dt));
    double push = 0, rubbed = 0;
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++) {
        push += fmax(pushed[i].v.y, 0);
        mpm->grid.nodes.data[i].v.x = speed;
    }
    check_ok(ctx, mn_mpm_rub_on_walls(mpm, mpm->grid.nodes.data, dt));
    for (int64_t i = 0; i < mpm->grid.nodes.count; i++)
        rubbed += 1e-6 * (speed - mpm->grid.nodes.data[i].v.x);
    check_close(rubbed, friction * push, 1e-9 * push); // rounding of speeds that change by 1e-5
    mn_release(ctx, pushed, sizeof *pushed * (size_t)mpm->grid.nodes.count);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(mean_pressure_decides_what_is_held),
                                       cmocka_unit_test(friction_is_that_of_the_whole_push)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
