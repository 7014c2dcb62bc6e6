// SPDX-License-Identifier: Apache-2.0
//
// The spray as a whole: births, conservation, the same bits whatever the threads and wherever it is saved, no
// malloc once it is warm, and a state that stands when a step fails.
#include "base/parallel.h"
#include "base/random.h"
#include "meniscus/collider.h"
#include "meniscus/spray.h"
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/failing_allocator.h"

static const double frame_time = 1.0 / 24;

// ---- a nozzle that moves round over a plane ----

static const int64_t nozzle_triangles[2][3] = {{0, 1, 2}, {0, 2, 3}};

typedef struct nozzle {
    mn_vec3 positions[4];
    mn_emitter source;
} nozzle;

static const mn_emitter *nozzle_at(nozzle *n, double frame)
{
    const double a = 0.3 * frame, s = 0.01;
    const mn_vec3 center = {0.5 * cos(a), 0.3, 0.5 * sin(a)};
    const mn_vec3 corners[4] = {{-s, 0, -s}, {-s, 0, s}, {s, 0, s}, {s, 0, -s}};
    for (int i = 0; i < 4; i++) n->positions[i] = mn_add(center, corners[i]);
    n->source = (mn_emitter){.point_count = 4, .positions = n->positions};
    n->source.triangle_count = 2;
    n->source.triangles = nozzle_triangles;
    return &n->source;
}

static mn_spray_def shower(void)
{
    mn_spray_def def = mn_spray_default_def();
    def.rate = 5000;
    def.speed = 3;
    def.speed_variation = 0.2;
    def.radius_variation = 0.5;
    def.life = 0.5;
    def.life_variation = 0.5;
    def.spread = 20;
    def.seed = 11;
    return def;
}

static mn_collider *floor_collider(mn_context *ctx, mn_geo **geo)
{
    check_ok(ctx, mn_geo_create(ctx, geo));
    check_ok(ctx, analytic_add(*geo, analytic_plane(0.01)));
    mn_collider_def def = mn_collider_default_def();
    def.geo = *geo;
    mn_collider *collider;
    check_ok(ctx, mn_collider_create(ctx, &def, &collider));
    return collider;
}

static uint64_t hash_of(const mn_spray *spray)
{
    int64_t count;
    const unsigned char *bytes = (const unsigned char *)mn_spray_drops(spray, &count);
    uint64_t h = 14695981039346656037u;
    for (int64_t i = 0; i < count * (int64_t)sizeof(mn_drop); i++) h = (h ^ bytes[i]) * 1099511628211u;
    return h;
}

static mn_spray *run(mn_context *ctx, const mn_collider *collider, int from, int to, mn_spray *spray)
{
    nozzle n;
    if (!spray) {
        const mn_spray_def def = shower();
        check_ok(ctx, mn_spray_create(ctx, &def, &spray));
        check_ok(ctx, mn_spray_set_source(spray, nozzle_at(&n, from)));
    }
    for (int frame = from + 1; frame <= to; frame++) {
        const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame), .collider = collider};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    }
    return spray;
}

// ---- births ----

static void births_follow_the_rate(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = shower();
    def.life = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    nozzle n;
    for (int frame = 1; frame <= 48; frame++) {
        // The rate rises from frame to frame; births keep to its integral, to one drop.
        def.rate = 100.0 * frame;
        check_ok(ctx, mn_spray_set_def(spray, &def));
        const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame)};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
        int64_t count;
        const mn_drop *drops = mn_spray_drops(spray, &count);
        check_close((double)count, 100.0 * frame * (frame + 1) / 2 * frame_time, 1.0);
        for (int64_t i = 0; i < count; i++) {
            assert_int_equal(drops[i].id, i);
            assert_true(drops[i].age >= 0 && (i == 0 || drops[i].age <= drops[i - 1].age));
        }
    }
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// A point that runs along x at 24 m/s and drops beads at rest: they lie on its path, evenly but for the
// jitter of a birth, not in heaps at the frames.
static void a_fast_source_leaves_a_trail_without_gaps(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.rate = 2400;
    def.speed = 0;
    def.inherit_velocity = 0;
    def.gravity = mn_v3(0, 0, 0);
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_vec3 x = {0, 0, 0};
    const mn_emitter source = {.point_count = 1, .positions = &x};
    check_ok(ctx, mn_spray_set_source(spray, &source));
    for (int frame = 1; frame <= 4; frame++) {
        x.x = frame;
        const mn_solver_inputs inputs = {.emitter = &source};
        check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    }
    int64_t count;
    const mn_drop *drops = mn_spray_drops(spray, &count);
    check_close((double)count, 400, 1);
    for (int64_t i = 0; i < count; i++) {
        check_close(drops[i].position.x, ((double)i + 0.5) / 100, 0.5 / 100 + 1e-12);
        check_close(drops[i].position.x, 4 - 24 * drops[i].age, 1e-12);
        assert_true(mn_norm(drops[i].velocity) == 0);
    }
    mn_spray_free(spray);
    mn_context_free(ctx);
}

static void drops_inherit_the_motion_of_their_source(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.speed = 2, def.speed_variation = 0, def.spread = 0;
    def.inherit_velocity = 0.5;
    def.drag = 0;
    def.gravity = mn_v3(0, 0, 0);
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_vec3 x = {0, 0, 0};
    const mn_vec3 v = {0, 0, 3};
    mn_emitter source = {.point_count = 1, .positions = &x};
    check_ok(ctx, mn_spray_set_source(spray, &source));
    x.x = 1; // 24 m/s
    const mn_solver_inputs inputs = {.emitter = &source};
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    int64_t count, before;
    const mn_drop *drops = mn_spray_drops(spray, &before);
    for (int64_t i = 0; i < before; i++)
        check_close(mn_distance(drops[i].velocity, mn_v3(12, 2, 0)), 0, 1e-12);
    // A velocity of its own goes before the motion.
    source.velocities = &v;
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    drops = mn_spray_drops(spray, &count);
    assert_true(count > before);
    for (int64_t i = before; i < count; i++)
        check_close(mn_distance(drops[i].velocity, mn_v3(0, 2, 1.5)), 0, 1e-12);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// Shares of births on two triangles go by area; directions fill the cone and no more, radii their range.
static void births_are_spread_as_asked(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = shower();
    def.rate = 24 * 40000;
    def.life = 0;
    def.drag = 0;
    def.gravity = mn_v3(0, 0, 0);
    def.speed_variation = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    // Both face y; the second has three times the area.
    const mn_vec3 x[6] = {{0, 0, 0}, {0, 0, 1}, {1, 0, 0}, {10, 0, 0}, {10, 0, 3}, {11, 0, 0}};
    const int64_t triangles[2][3] = {{0, 1, 2}, {3, 4, 5}};
    const mn_emitter source = {.point_count = 6, .positions = x, .triangle_count = 2, .triangles = triangles};
    const mn_solver_inputs inputs = {.emitter = &source};
    check_ok(ctx, mn_spray_advance(spray, &inputs, frame_time));
    int64_t count, second = 0;
    const mn_drop *drops = mn_spray_drops(spray, &count);
    double cosine = 0, radius = 0;
    const double edge = cos(20 * 3.14159265358979323846 / 180);
    for (int64_t i = 0; i < count; i++) {
        const double c = drops[i].velocity.y / mn_norm(drops[i].velocity);
        assert_true(c >= edge - 1e-12);
        assert_true(drops[i].radius >= 0.5e-3 && drops[i].radius <= 1.5e-3);
        check_close(drops[i].mass, 1000 * 4.0 / 3 * 3.14159265358979323846 * pow(drops[i].radius, 3), 1e-18);
        cosine += c, radius += drops[i].radius;
        second += drops[i].position.x > 5;
    }
    // Four standard deviations of a mean of 40000.
    const double n = (double)count, four = 4 / sqrt(n);
    check_close((double)second / n, 0.75, four * sqrt(0.75 * 0.25));
    check_close(cosine / n, 0.5 * (1 + edge), four * (1 - edge) / sqrt(12));
    check_close(radius / n, 1e-3, four * 1e-3 / sqrt(12));
    mn_spray_free(spray);
    mn_context_free(ctx);
}

// ---- the whole ----

// In vacuum momentum grows by m g t and the centre falls by the parabola; with drag the same in free fall is
// slower.
static void momentum_and_energy_are_those_of_the_forces(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray_def def = mn_spray_default_def();
    def.drag = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_drop drops[1000];
    memset(drops, 0, sizeof drops);
    for (int i = 0; i < 1000; i++) {
        drops[i].position = mn_random_unit3(1, (uint64_t)i, 0);
        drops[i].velocity = mn_random_direction(1, (uint64_t)i, 1);
        drops[i].radius = 1e-3;
        drops[i].mass = 1e-6 * (1 + i % 7);
        drops[i].life = -1;
    }
    check_ok(ctx, mn_spray_add(spray, 1000, drops));
    mn_report first = {0}, last = {0};
    mn_spray_report(spray, &first);
    const mn_solver_inputs none = {0};
    for (int frame = 0; frame < 24; frame++) check_ok(ctx, mn_spray_advance(spray, &none, frame_time));
    mn_spray_report(spray, &last);
    const double mass = first.value[MN_REPORT_mass][0];
    check_close(last.value[MN_REPORT_mass][0], mass, 0);
    for (int k = 0; k < 3; k++) {
        const double force = k == 1 ? -9.81 * mass : 0;
        check_close(last.value[MN_REPORT_momentum][k], first.value[MN_REPORT_momentum][k] + force, 1e-13);
        const double fall = k == 1 ? -0.5 * 9.81 : 0;
        check_close(last.value[MN_REPORT_center][k],
                    first.value[MN_REPORT_center][k] + first.value[MN_REPORT_momentum][k] / mass + fall,
                    1e-12);
    }
    const double drop_height = first.value[MN_REPORT_center][1] - last.value[MN_REPORT_center][1];
    check_close(last.value[MN_REPORT_kinetic_energy][0] - first.value[MN_REPORT_kinetic_energy][0],
                mass * 9.81 * drop_height, 1e-12);
    mn_spray_free(spray);
    mn_context_free(ctx);
}

static void threads_do_not_change_a_bit(void **state)
{
    (void)state;
    uint64_t hash[6];
    const int32_t workers[6] = {1, 2, 3, 8, 2, 5};
    for (int i = 0; i < 6; i++) {
        const mn_scheduler threads = mn_thread_scheduler(&workers[i]);
        mn_hooks hooks = {.max_workers = workers[i], .scheduler = i < 4 ? NULL : &threads};
        mn_context *ctx = mn_context_create(&hooks);
        mn_geo *geo;
        mn_collider *collider = floor_collider(ctx, &geo);
        mn_spray *spray = run(ctx, collider, 0, 24, NULL);
        hash[i] = hash_of(spray);
        int64_t count;
        mn_spray_drops(spray, &count);
        assert_true(count > 1500);
        assert_true(hash[i] == hash[0]);
        mn_spray_free(spray);
        mn_collider_free(collider);
        mn_geo_free(geo);
        mn_context_free(ctx);
    }
}

static void more_substeps_give_the_same_births(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_spray *spray[2];
    for (int k = 0; k < 2; k++) {
        mn_spray_def def = shower();
        def.min_substeps = k == 0 ? 1 : 7;
        def.drag = 0;
        check_ok(ctx, mn_spray_create(ctx, &def, &spray[k]));
        nozzle n;
        check_ok(ctx, mn_spray_set_source(spray[k], nozzle_at(&n, 0)));
        for (int frame = 1; frame <= 8; frame++) {
            const mn_solver_inputs inputs = {.emitter = nozzle_at(&n, frame)};
            check_ok(ctx, mn_spray_advance(spray[k], &inputs, frame_time));
        }
    }
    int64_t a_count, b_count;
    const mn_drop *a = mn_spray_drops(spray[0], &a_count), *b = mn_spray_drops(spray[1], &b_count);
    assert_int_equal(a_count, b_count);
    for (int64_t i = 0; i < a_count; i++) {
        assert_int_equal(a[i].id, b[i].id);
        check_close(mn_distance(a[i].position, b[i].position), 0, 1e-12);
    }
    mn_spray_free(spray[0]);
    mn_spray_free(spray[1]);
    mn_context_free(ctx);
}

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
        cmocka_unit_test(births_follow_the_rate),
        cmocka_unit_test(a_fast_source_leaves_a_trail_without_gaps),
        cmocka_unit_test(drops_inherit_the_motion_of_their_source),
        cmocka_unit_test(births_are_spread_as_asked),
        cmocka_unit_test(momentum_and_energy_are_those_of_the_forces),
        cmocka_unit_test(threads_do_not_change_a_bit),
        cmocka_unit_test(more_substeps_give_the_same_births),
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
