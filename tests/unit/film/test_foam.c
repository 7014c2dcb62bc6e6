// SPDX-License-Identifier: Apache-2.0
//
// Foams that burst: through punctures, cascades of T1 and pockets that vanish the mesh stays whole, liquid
// and gas are accounted for, and neither a stop in the middle nor the number of workers shows.
#include "support/film_bubbles.h"
#include "support/one_context.h"
#include "support/stream_buffer.h"

#include "base/random.h"
#include "meniscus/context.h"
#include "meniscus/film.h"
#include "meniscus/report.h"
#include "meniscus/solver.h"
#include "meniscus/stream.h"

enum { BUBBLES = 10 };

static mn_film *foam(mn_context *with, const mn_film_def *def, uint64_t seed)
{
    mn_vec3 x[BUBBLES];
    double r[BUBBLES];
    for (int i = 0; i < BUBBLES; i++) r[i] = 1 + 0.3 * (2 * mn_random_unit(seed, (uint64_t)i, 9) - 1);
    mn_film_pack(seed, BUBBLES, mn_v3(0, 0, 0), 0.25, r, x);
    return bubbles_cluster(with, BUBBLES, x, r, def);
}

static mn_film_def foam_def(void)
{
    mn_film_def def = bubbles_def(0.34);
    def.burst = true;
    def.gibbs = 0.5, def.damping = 0.2, def.max_dt = 0.05;
    return def;
}

// One film after another is pricked: a vertex at random.
static void prick(mn_context *with, mn_film *film, int frame)
{
    const int64_t n = film->c.vertices.count;
    const mn_vec3 x =
        n > 0 ? film->c.vertices.data[(int64_t)(mn_random_unit(4, (uint64_t)frame, 0) * (double)n)].position
              : mn_v3(0, 0, 0);
    const mn_film_inputs own = {.prick_count = frame % 3 == 0, .pricks = &x};
    const mn_solver_inputs inputs = {.own = &own};
    check_ok(with, mn_film_advance(film, &inputs, 0.1));
}

static double gas_of(const mn_film *film)
{
    double gas = 0;
    for (int64_t b = 1; b < film->pockets.count; b++) gas += film->pockets.data[b].amount;
    return gas;
}

static void a_foam_bursts_to_the_end(void **state)
{
    (void)state;
    mn_film_def def = foam_def();
    def.min_thickness = 0.3;
    for (uint64_t seed = 1; seed <= 2; seed++) {
        mn_film *film = foam(ctx, &def, seed);
        const mn_report before = bubbles_report(film);
        const double mass = before.value[MN_REPORT_mass][0];
        for (int frame = 0; frame < 60; frame++) {
            prick(ctx, film, frame);
            check_ok(ctx, mn_film_check(film));
            const mn_report now = bubbles_report(film);
            check_close(now.value[MN_REPORT_mass][0], mass, 1e-12 * mass);
            check_close(gas_of(film) + film->ledger.gas_out, film->ledger.gas_in,
                        1e-12 * film->ledger.gas_in);
            // Nothing holds it: its momentum stays zero.
            check_close(mn_norm(bubbles_vector(&now, MN_REPORT_momentum)), 0, 1e-10 * mass);
        }
        assert_true(film->ledger.bursts > 5);
        assert_true(film->ledger.t1 > 0);
        assert_true(film->pockets.count < BUBBLES);
        mn_film_free(film);
    }
}

static void a_foam_without_bursts_rearranges(void **state)
{
    (void)state;
    mn_film_def def = foam_def();
    def.burst = false;
    mn_film *film = foam(ctx, &def, 3);
    assert_true(bubbles_settle(film).settled);
    const int64_t pockets = film->pockets.count;
    const double gas = gas_of(film);
    // Half of it is pulled past the other half.
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        film->c.vertices.data[v].velocity.x = film->c.vertices.data[v].position.y > 0 ? 0.8 : -0.8;
    const int64_t t1 = film->ledger.t1;
    for (int frame = 0; frame < 30; frame++) {
        check_ok(ctx, mn_film_advance(film, NULL, 0.1));
        check_ok(ctx, mn_film_check(film));
    }
    assert_int_equal(film->pockets.count, pockets);
    check_close(gas_of(film), gas, 1e-12 * gas);
    assert_true(film->ledger.t1 > t1);
    mn_film_free(film);
}

static void stopped_in_a_cascade_it_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    const mn_film_def def = foam_def();
    mn_film *film = foam(ctx, &def, 1), *copy;
    for (int frame = 0; frame < 8; frame++) prick(ctx, film, frame);
    assert_true(film->ledger.t1 + film->ledger.forced > 0);
    buffer saved = {.ctx = ctx};
    mn_writer out = {ctx, &saved, buffer_write};
    check_ok(ctx, mn_film_save(film, &out));
    mn_reader in = {ctx, &saved, buffer_read};
    check_ok(ctx, mn_film_load(ctx, &def, &in, &copy));
    const int64_t before = film->ledger.t1;
    for (int frame = 8; frame < 16; frame++) {
        prick(ctx, film, frame);
        prick(ctx, copy, frame);
    }
    assert_true(film->ledger.t1 > before); // it was in the middle
    assert_memory_equal(&film->ledger, &copy->ledger, sizeof film->ledger);
    assert_int_equal(film->c.vertices.count, copy->c.vertices.count);
    for (int64_t v = 0; v < film->c.vertices.count; v++) {
        assert_memory_equal(&film->c.vertices.data[v].position, &copy->c.vertices.data[v].position,
                            sizeof(mn_vec3));
        assert_memory_equal(&film->c.vertices.data[v].velocity, &copy->c.vertices.data[v].velocity,
                            sizeof(mn_vec3));
    }
    mn_film_free(copy);
    mn_film_free(film);
    free(saved.bytes);
}

static double digest_after(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *other = mn_context_create(&hooks);
    mn_film_def def = foam_def();
    mn_film *film = foam(other, &def, 2);
    for (int frame = 0; frame < 8; frame++) prick(other, film, frame);
    const double digest = bubbles_digest(film);
    mn_film_free(film);
    mn_context_free(other);
    return digest;
}

static void any_number_of_workers_gives_the_same_bits(void **state)
{
    (void)state;
    const double one = digest_after(1);
    assert_true(one == digest_after(2));
    assert_true(one == digest_after(8));
}

// A sheet painted to burst below a thickness that it has bursts there and nowhere else.
static void a_painted_spot_bursts(void **state)
{
    (void)state;
    enum { SIDE = 13 };
    mn_film_def def = bubbles_def(1);
    def.burst = true, def.max_dt = 0.01;
    mn_film *film;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    mn_vec3 x[SIDE * SIDE];
    double least[SIDE * SIDE];
    uint8_t pinned[SIDE * SIDE];
    int32_t t[2 * (SIDE - 1) * (SIDE - 1)][3], n = 0;
    for (int32_t i = 0; i < SIDE * SIDE; i++) {
        const int32_t a = i % SIDE, b = i / SIDE;
        x[i] = mn_v3(a, 0, b);
        pinned[i] = a == 0 || b == 0 || a == SIDE - 1 || b == SIDE - 1;
        least[i] = abs(a - 4) <= 1 && abs(b - 4) <= 1 ? 2 : 0; // the film is 1 thick
        if (a == SIDE - 1 || b == SIDE - 1) continue;
        const int32_t quad[2][3] = {{i, i + SIDE, i + 1}, {i + 1, i + SIDE, i + SIDE + 1}};
        memcpy(t[n++], quad[0], sizeof quad[0]), memcpy(t[n++], quad[1], sizeof quad[1]);
    }
    const mn_film_source source = {.point_count = SIDE * SIDE,
                                   .positions = x,
                                   .min_thickness = least,
                                   .pinned = pinned,
                                   .triangle_count = n,
                                   .triangles = (const int32_t(*)[3])t};
    check_ok(ctx, mn_film_add(film, &source));
    check_ok(ctx, mn_film_advance(film, NULL, 0.01));
    assert_true(film->ledger.bursts >= 1);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        if (mn_complex_on_rim(&film->c, (int32_t)v))
            assert_true(mn_distance(film->c.vertices.data[v].position, mn_v3(4, 0, 4)) < 3);
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_foam_bursts_to_the_end),
        cmocka_unit_test(a_foam_without_bursts_rearranges),
        cmocka_unit_test(stopped_in_a_cascade_it_goes_on_with_the_same_bits),
        cmocka_unit_test(any_number_of_workers_gives_the_same_bits),
        cmocka_unit_test(a_painted_spot_bursts),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
