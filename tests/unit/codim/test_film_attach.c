// SPDX-License-Identifier: Apache-2.0
//
// Films and threads that end at a volume are one system with it: what pulls at the one pulls at the other in
// the same step, for steps of any length.
#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "support/failing_allocator.h"
#include "support/liquid_region.h"
#include "support/point_cast.h"

static const double DX = 1e-3, S = 0.5e-3, R = 4e-3, SIGMA = 0.07;
static mn_context *ctx;

// At rest; film in the plane y = 0, threads along x.
static void add(cast *c, mn_vec3 x, double thickness, bool pinned, uint8_t codim)
{
    cast_add(c, codim, x, codim == MN_CODIM_THREAD ? mn_v3(1, 0, 0) : mn_v3(0, 1, 0), mn_v3(0, 0, 0),
             thickness);
    c->pinned[c->count - 1] = pinned;
}

static mn_codim_def water(double max_dt)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.dx = DX, def.spacing = S, def.sigma = SIGMA, def.max_dt = max_dt, def.gas = false;
    return def;
}

static void ball_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) d[i] = mn_norm(x[i]) - R;
}

static mn_status try_ball(mn_context *own, const mn_codim_def *def, const cast *c, mn_codim **mls)
{
    const mn_region region = {NULL, ball_distance, {mn_v3(-R, -R, -R), mn_v3(R, R, R)}};
    const mn_codim_source film = cast_source(c);
    const mn_status status = open_region(own, def, &region, 0, false, mls);
    return status == MN_OK ? mn_codim_add(*mls, &film) : status;
}

static mn_codim *open_ball(mn_context *own, const mn_codim_def *def, const cast *c)
{
    mn_codim *mls;
    check_ok(own, try_ball(own, def, c, &mls));
    return mls;
}

// A strip of film, 6 mm wide and 9 mm long, that starts at the surface of the ball.
static cast *make_strip(double thickness)
{
    cast *c = calloc(1, sizeof *c);
    for (int k = -6; k <= 6; k++)
        for (int i = 0; i < 22; i++) {
            const mn_vec3 at = mn_scale(S, mn_v3(0.866 * i, 0, k + 0.5 * (i & 1)));
            if (at.z > 6.1 * S) continue;
            const double start = sqrt(R * R - at.z * at.z);
            add(c, mn_add(at, mn_v3(start - 0.1 * DX, 0, 0)), thickness, false, MN_CODIM_FILM);
        }
    return c;
}

typedef struct totals {
    double mass[2];
    mn_vec3 momentum[2], angular[2], center; ///< of films, of volumes; centre of the volume
    double fastest;
} totals;

static totals sum_of(const mn_codim *mls)
{
    const mn_codim_view view = mn_codim_get_view(mls);
    totals t = {0};
    for (int64_t i = 0; i < view.count + view.particle_count; i++) {
        const int side = i >= view.count;
        const mn_codim_particle *particle = &view.particles[i - view.count];
        const double mass = side ? particle->mass : view.points[i].mass;
        const mn_vec3 x = side ? particle->position : view.points[i].position;
        const mn_vec3 v = side ? particle->velocity : view.points[i].velocity;
        t.mass[side] += mass, t.momentum[side] = mn_axpy(t.momentum[side], mass, v);
        t.angular[side] = mn_axpy(t.angular[side], mass, mn_cross(x, v));
        if (side) t.center = mn_axpy(t.center, mass, x);
        t.fastest = fmax(t.fastest, mn_norm(v));
    }
    t.center = mn_scale(1 / t.mass[1], t.center);
    return t;
}

// The film pulls with 2 sigma for each metre that it holds on to, but for what its own edge takes to follow;
// what the one has, the other has lost.
static void a_film_pulls_its_drop(void **state)
{
    (void)state;
    static const double thickness[] = {0.05e-3, 0.4e-3, 1.2e-3}; // a hundredth of the ball's mass to a fifth
    for (int i = 0; i < 3; i++) {
        const mn_codim_def def = water(1e-4);
        cast *c = make_strip(thickness[i]);
        mn_codim *mls = open_ball(ctx, &def, c);
        const double time = 4e-4, most = 2 * SIGMA * 6.5e-3 * time;
        for (int k = 0; k < 4; k++) check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-4));
        const totals t = sum_of(mls);
        check_close(mn_norm(mn_add(t.momentum[0], t.momentum[1])), 0, 1e-12 * most);
        // The strip's sides draw back from 6.5 mm at the edge's speed meanwhile.
        assert_true(t.momentum[1].x > 0.85 * most && t.momentum[1].x < 1.15 * most);
        check_close(t.momentum[1].y, 0, 0.02 * most);
        check_close(t.momentum[1].z, 0, 0.05 * most);
        mn_codim_free(mls);
        free(c);
    }
}

// A thread pulls along itself with pi r sigma, and turns the ball when that does not go through its middle.
static void a_thread_pulls_its_drop(void **state)
{
    (void)state;
    const double radius = 0.3e-3, time = 1e-3, should = 3.14159265 * radius * SIGMA * time;
    const mn_codim_def def = water(1e-4);
    for (int slanted = 0; slanted < 2; slanted++) {
        const mn_vec3 along = mn_normalize(mn_v3(1, 0, slanted));
        cast *c = calloc(1, sizeof *c);
        for (int i = 0; i < 24; i++) {
            add(c, mn_axpy(mn_v3(R - 0.1 * DX, 0, 0), S * i, along), 2 * radius, false, MN_CODIM_THREAD);
            c->n[i] = along;
        }
        mn_codim *mls = open_ball(ctx, &def, c);
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, time));
        const totals t = sum_of(mls);
        check_close(mn_norm(mn_add(t.momentum[0], t.momentum[1])), 0, 1e-12 * should);
        check_close(mn_norm(mn_axpy(t.momentum[1], -should, along)), 0, 0.1 * should);
        const mn_vec3 turn = mn_cross(mn_v3(R - 0.1 * DX, 0, 0), mn_scale(should, along));
        check_close(t.angular[1].y, turn.y, 0.1 * R * should);
        check_close(mn_norm(mn_add(t.angular[0], t.angular[1])), 0, 1e-3 * R * should);
        mn_codim_free(mls);
        free(c);
    }
}

// A ring, the film on it and a ball in the middle.
static cast *make_ring(double thickness)
{
    cast *c = calloc(1, sizeof *c);
    for (int k = 0; k < 10; k++) {
        const double r = R - 0.1 * DX + 0.866 * S * k;
        const int around = (int)(2 * 3.14159265 * r / S);
        for (int i = 0; i < around; i++) {
            const double t = 2 * 3.14159265358979 * (i + 0.5 * (k & 1)) / around;
            add(c, mn_v3(r * cos(t), 0, r * sin(t)), thickness, k == 9, MN_CODIM_FILM);
        }
    }
    return c;
}

// In steps of ten times what the film alone could take explicitly: 2 / sqrt(largest eigenvalue), about
// sqrt(rho h / (2 sigma)) s / 2. A film whose edge the volume held only after the film's own step would run
// away from it by ten spacings in each of them.
static void thin_film_takes_long_steps(void **state)
{
    (void)state;
    const double thickness = 2e-6, dt = 10 * 0.5 * S * sqrt(1000 * thickness / (2 * SIGMA));
    const mn_codim_def def = water(dt);
    cast *c = make_ring(thickness);
    mn_codim *mls = open_ball(ctx, &def, c);
    const totals before = sum_of(mls);
    for (int k = 0; k < 2; k++) {
        mn_report report = {0};
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 5 * dt));
        mn_codim_report(mls, &report);
        check_close(report.value[MN_REPORT_substeps][0], 5, 0);
        check_close(report.value[MN_REPORT_rollbacks][0], 0, 0);
    }
    const totals after = sum_of(mls);
    check_close(after.mass[0], before.mass[0], 1e-12 * before.mass[0]); // none of it has gone over
    check_close(mn_norm(mn_sub(after.center, before.center)), 0, 0.01 * DX);
    assert_true(after.fastest <
                sqrt(2 * SIGMA / (1000 * 0.5 * DX))); // the speed of an edge half a cell thick
    mn_codim_free(mls);
    free(c);
}

static void same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    static const int workers[] = {1, 2, 8};
    const mn_codim_def def = water(1e-4);
    cast *c = make_strip(0.2e-3);
    totals first = {0};
    for (int i = 0; i < 3; i++) {
        const mn_hooks hooks = {.max_workers = workers[i]};
        mn_context *own = mn_context_create(&hooks);
        mn_codim *mls = open_ball(own, &def, c);
        check_ok(own, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-4));
        const totals t = sum_of(mls);
        if (i == 0) first = t;
        assert_memory_equal(&t, &first, sizeof t);
        mn_codim_free(mls);
        mn_context_free(own);
    }
    free(c);
}

static void memory_may_run_out(void **state)
{
    (void)state;
    const mn_codim_def def = water(1e-4);
    cast *c = make_strip(0.2e-3);
    for (int64_t n = 1;; n += 1 + n / 8) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        hooks.max_workers = 1;
        mn_context *own = mn_context_create(&hooks);
        if (own) {
            mn_codim *mls = NULL;
            mn_status status = try_ball(own, &def, c, &mls);
            if (status == MN_OK) status = mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-4);
            assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
            mn_codim_free(mls);
            mn_context_free(own);
        }
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_pulls_its_drop),      cmocka_unit_test(a_thread_pulls_its_drop),
        cmocka_unit_test(thin_film_takes_long_steps), cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(memory_may_run_out),
    };
    static const mn_hooks hooks = {.max_workers = 1};
    ctx = mn_context_create(&hooks);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
