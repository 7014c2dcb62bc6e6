// SPDX-License-Identifier: Apache-2.0
//
// A spray is saved and resumes with the same bits, allocates nothing once it is warm, and keeps its state
// when a step fails, is cancelled or has no memory.
#include "spray_stage.h"
#include "support/failing_allocator.h"

// ---- saving ----

typedef struct tape {
    unsigned char *bytes;
    size_t size, at;
    mn_context *ctx;
} tape;

static mn_status tape_write(void *user, const void *bytes, size_t size)
{
    tape *t = user;
    t->bytes = realloc(t->bytes, t->size + size);
    memcpy(t->bytes + t->size, bytes, size);
    t->size += size;
    return MN_OK;
}

static mn_status tape_read(void *user, void *bytes, size_t size)
{
    tape *t = user;
    if (t->size - t->at < size) return mn_fail(t->ctx, MN_ERROR_FORMAT, "the tape ends");
    memcpy(bytes, t->bytes + t->at, size);
    t->at += size;
    return MN_OK;
}

static void a_saved_spray_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    mn_collider *collider = floor_collider(ctx, &geo);
    mn_spray *whole = run(ctx, collider, 0, 20, NULL);
    const mn_spray_def def = shower();
    for (int stop = 0; stop <= 20; stop++) {
        mn_spray *first = run(ctx, collider, 0, stop, NULL), *second = NULL;
        tape t = {.ctx = ctx};
        mn_writer out = {ctx, &t, tape_write};
        check_ok(ctx, mn_spray_save(first, &out));
        mn_spray_free(first);
        mn_reader in = {ctx, &t, tape_read};
        check_ok(ctx, mn_spray_load(ctx, &def, &in, &second));
        assert_int_equal(t.at, t.size);
        second = run(ctx, collider, stop, 20, second);
        assert_true(hash_of(second) == hash_of(whole));
        mn_spray_free(second);
        free(t.bytes);
    }
    mn_spray_free(whole);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void a_damaged_stream_is_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    mn_collider *collider = floor_collider(ctx, &geo);
    mn_spray *spray = run(ctx, collider, 0, 3, NULL), *loaded = NULL;
    const mn_spray_def def = shower();
    tape t = {.ctx = ctx};
    mn_writer out = {ctx, &t, tape_write};
    check_ok(ctx, mn_spray_save(spray, &out));
    const size_t size = t.size;
    for (size_t cut = 0; cut < size; cut += cut < 200 ? 1 : 997) {
        t.at = 0, t.size = cut;
        mn_reader in = {ctx, &t, tape_read};
        assert_int_equal(mn_spray_load(ctx, &def, &in, &loaded), MN_ERROR_FORMAT);
        assert_null(loaded);
    }
    t.size = size;
    for (size_t i = 0; i < 160; i++) {
        // Any byte of the head and the counts turned over: a status, or a spray, never a crash.
        t.at = 0;
        t.bytes[i] ^= 0x80;
        mn_reader in = {ctx, &t, tape_read};
        if (mn_spray_load(ctx, &def, &in, &loaded) == MN_OK) mn_spray_free(loaded);
        t.bytes[i] ^= 0x80;
    }
    free(t.bytes);
    mn_spray_free(spray);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

// ---- failures ----

static void nan_motion(const analytic_volume *v, mn_vec3 x, double *out)
{
    // Finite where the collider looks when it is made, not a number where the drop will be.
    out[0] = out[2] = 0;
    out[1] = x.x > v->r ? NAN : 1;
}

static void a_bad_step_leaves_the_state_as_it_was(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    const mn_volume motion = analytic_make("vel", 3, 0.01, 0);
    ((analytic_volume *)motion.handle)->value = nan_motion;
    ((analytic_volume *)motion.handle)->r = 9.9;
    check_ok(ctx, analytic_add(geo, analytic_plane(0.5)));
    check_ok(ctx, analytic_add(geo, motion));
    mn_collider_def collider_def = mn_collider_default_def();
    collider_def.geo = geo;
    mn_collider *collider;
    check_ok(ctx, mn_collider_create(ctx, &collider_def, &collider));

    mn_spray_def def = shower();
    def.max_substeps = 16;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    const mn_drop drops[2] = {
        {.position = {0, 3, 0}, .velocity = {1, 0, 0}, .radius = 1e-3, .mass = 1e-6, .life = -1},
        {.position = {9.95, 0.05, 0}, .velocity = {0, -9, 0}, .radius = 1e-3, .mass = 1e-6, .life = -1}};
    check_ok(ctx, mn_spray_add(spray, 2, drops));
    nozzle n;
    const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, 1), .collider = collider};
    const uint64_t before = hash_of(spray);
    check_fails(ctx, mn_spray_advance(spray, &inputs, frame_time), MN_ERROR_DIVERGED,
                "even in steps of 0.0013 s");
    assert_true(hash_of(spray) == before);
    mn_report report = {0};
    mn_spray_report(spray, &report);
    check_close(report.value[MN_REPORT_particles][0], 2, 0);
    mn_spray_free(spray);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static bool stop_now(void *user)
{
    return --*(int *)user < 0;
}

static void cancel_leaves_the_state_at_the_last_good_step(void **state)
{
    (void)state;
    int polls = 12;
    const mn_hooks hooks = {.user = &polls, .cancelled = stop_now};
    mn_context *ctx = mn_context_create(&hooks);
    mn_spray_def def = shower();
    def.min_substeps = 10;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    nozzle n;
    const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, 1)};
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    assert_int_equal(mn_spray_advance(spray, &inputs, frame_time), MN_ERROR_CANCELLED);
    mn_report report;
    mn_spray_report(spray, &report);
    check_close(report.value[MN_REPORT_substeps][0], 2, 0);
    // The rest of the frame gives the births of a run never stopped.
    polls = 1000;
    check_ok(ctx, mn_spray_advance(spray, &inputs, 0.8 * frame_time));
    mn_spray *other;
    check_ok(ctx, mn_spray_create(ctx, &def, &other));
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_spray_advance(other, &inputs, frame_time));
    int64_t count, other_count;
    const mn_drop *drops = mn_spray_drops(spray, &count), *others = mn_spray_drops(other, &other_count);
    assert_int_equal(count, other_count);
    for (int64_t i = 0; i < count; i++) {
        assert_int_equal(drops[i].id, others[i].id);
        check_close(drops[i].age, others[i].age, 1e-12);
    }
    mn_spray_free(spray);
    mn_spray_free(other);
    mn_context_free(ctx);
}

static void a_warm_spray_allocates_nothing(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo;
    mn_collider *collider = floor_collider(ctx, &geo);
    mn_spray *spray = run(ctx, collider, 0, 48, NULL);
    const int64_t calls = mn_context_allocation_count(ctx);
    spray = run(ctx, collider, 48, 60, spray);
    assert_int_equal(mn_context_allocation_count(ctx), calls);
    mn_spray_free(spray);
    mn_collider_free(collider);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static void no_memory_is_a_status_and_the_state_stands(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        if (!ctx) {
            assert_int_equal(memory.held, 0);
            continue;
        }
        const mn_spray_def def = shower();
        mn_spray *spray = NULL;
        mn_status status = mn_spray_create(ctx, &def, &spray);
        nozzle z;
        for (int frame = 1; frame <= 4 && status == MN_OK; frame++) {
            const mn_solver_inputs inputs = {.emitter = nozzle_at(&z, frame)};
            const uint64_t before = hash_of(spray);
            status = mn_spray_advance(spray, &inputs, frame_time);
            if (status == MN_OK) continue;
            mn_report report;
            mn_spray_report(spray, &report);
            // Without a step nothing has changed.
            if (report.value[MN_REPORT_substeps][0] == 0) assert_true(hash_of(spray) == before);
        }
        assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
        mn_spray_free(spray);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

static void bad_values_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray *spray = NULL;
    mn_spray_def def = shower();
    def.radius = 0;
    check_fails(ctx, mn_spray_create(ctx, &def, &spray), MN_ERROR_ARGUMENT, "radius is 0");
    def = shower();
    def.restitution = 1.5;
    check_fails(ctx, mn_spray_create(ctx, &def, &spray), MN_ERROR_ARGUMENT, "restitution");
    def = shower();
    def.gravity.y = NAN;
    check_fails(ctx, mn_spray_create(ctx, &def, &spray), MN_ERROR_ARGUMENT, "gravity");
    def = shower();
    def.max_drops = 100;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    nozzle n;
    mn_solver_inputs inputs = {.emitter = nozzle_at(&n, 1)};
    check_fails(ctx, mn_spray_advance(spray, &inputs, frame_time), MN_ERROR_ARGUMENT, "max_drops allows 100");
    check_fails(ctx, mn_spray_advance(spray, &inputs, NAN), MN_ERROR_ARGUMENT, "time to advance");
    check_fails(ctx, mn_spray_advance(spray, &inputs, 1e300), MN_ERROR_ARGUMENT, "max_drops");
    n.positions[2].y = NAN;
    check_fails(ctx, mn_spray_advance(spray, &inputs, 0.001), MN_ERROR_INPUT, "Point 2 of the source");
    for (int i = 0; i < 4; i++) n.positions[i] = mn_v3(1, 1, 1);
    check_fails(ctx, mn_spray_advance(spray, &inputs, 0.001), MN_ERROR_INPUT, "no area");
    mn_drop drop = {.radius = 1e-3, .mass = 0};
    check_fails(ctx, mn_spray_add(spray, 1, &drop), MN_ERROR_INPUT, "mass 0 kg");
    drop.mass = 1, drop.position.x = INFINITY;
    check_fails(ctx, mn_spray_add(spray, 1, &drop), MN_ERROR_INPUT, "not finite");
    // An empty source and a million seconds are nothing special.
    n.source.point_count = 0, n.source.triangle_count = 0;
    check_ok(ctx, mn_spray_advance(spray, &inputs, 1e6));
    int64_t count;
    mn_spray_drops(spray, &count);
    assert_int_equal(count, 0);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

static void drops_outside_the_limits_and_past_their_life_go(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = shower();
    def.use_limits = true;
    def.limits = (mn_box){{-1, -1, -1}, {1, 1, 1}};
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_drop drops[3];
    for (int i = 0; i < 3; i++) drops[i] = (mn_drop){.radius = 1e-3, .mass = 1e-6, .life = -1};
    drops[0].velocity = mn_v3(100, 0, 0);
    drops[1].life = 0.02;
    check_ok(ctx, mn_spray_add(spray, 3, drops));
    const mn_solver_inputs none = {0};
    check_ok(ctx, mn_spray_advance(spray, &none, frame_time));
    int64_t count;
    const mn_drop *left = mn_spray_drops(spray, &count);
    assert_int_equal(count, 1);
    assert_int_equal(left[0].id, 2);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_saved_spray_goes_on_with_the_same_bits),
        cmocka_unit_test(a_damaged_stream_is_refused),
        cmocka_unit_test(a_bad_step_leaves_the_state_as_it_was),
        cmocka_unit_test(cancel_leaves_the_state_at_the_last_good_step),
        cmocka_unit_test(a_warm_spray_allocates_nothing),
        cmocka_unit_test(no_memory_is_a_status_and_the_state_stands),
        cmocka_unit_test(bad_values_are_refused),
        cmocka_unit_test(drops_outside_the_limits_and_past_their_life_go),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
