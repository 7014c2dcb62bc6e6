// SPDX-License-Identifier: Apache-2.0
//
// Emitters: the rate and the density of what they give, for any number of frames, threads and pieces, and
// what they refuse.
#include "support/check.h"
#include "support/failing_allocator.h"

#include "meniscus/stream.h"
#include "mpm/surface.h"
#include "support/stream_buffer.h"

enum { RIM = 24 };
static const double radius = 2.5e-3, pi = 3.14159265358979323846;

/// A disc that faces down, of RIM triangles around a centre.
typedef struct disc {
    mn_vec3 points[RIM + 1], velocities[RIM + 1];
    int64_t triangles[RIM][3];
    mn_mpm_emitter emitter;
} disc;

static void make_disc(disc *d, mn_vec3 centre)
{
    memset(d, 0, sizeof *d);
    d->points[RIM] = centre;
    for (int64_t i = 0; i < RIM; i++) {
        const double a = 2 * pi * (double)i / RIM;
        d->points[i] = mn_add(centre, mn_v3(radius * cos(a), 0, radius * sin(a)));
        const int64_t corners[3] = {RIM, i, (i + 1) % RIM};
        memcpy(d->triangles[i], corners, sizeof corners);
    }
    d->emitter = (mn_mpm_emitter){.point_count = RIM + 1,
                                  .triangle_count = RIM,
                                  .positions = d->points,
                                  .triangles = (const int64_t(*)[3])d->triangles};
}

static double disc_area(void)
{
    return 0.5 * RIM * radius * radius * sin(2 * pi / RIM);
}

static mn_mpm *make_solver(mn_context *ctx)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.dx = 1e-3, def.sigma = 0;
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    return mpm;
}

static mn_context *context_with(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    return mn_context_create(&hooks);
}

// `frames` advances of `seconds` in all, the disc still.
static void run(mn_mpm *mpm, const disc *d, int frames, double seconds)
{
    for (int f = 0; f < frames; f++) {
        check_ok(mpm->solver.ctx, mn_mpm_set_emitter(mpm, &d->emitter, seconds / frames));
        check_ok(mpm->solver.ctx, mn_mpm_advance(mpm, NULL, seconds / frames));
    }
}

static double volume_of(const mn_mpm *mpm)
{
    double sum = 0;
    for (int64_t i = 0; i < mpm->materials.count; i++) sum += mpm->materials.data[i].volume;
    return sum;
}

static double densest_place(const mn_mpm *mpm)
{
    double most = 0;
    for (int64_t i = 0; i < mpm->particles.count; i++)
        most = fmax(most, mn_mpm_fullness_at(mpm, mn_mpm_position(&mpm->particles.data[i]), -1).fraction);
    return most;
}

static void the_rate_is_velocity_times_area_for_any_frames(void **state)
{
    (void)state;
    const double speed = 0.2, seconds = 0.03, nozzle = 3e-3;
    disc d;
    make_disc(&d, mn_v3(0.1e-3, 0, 0.2e-3));
    for (int way = 0; way < 3; way++) {
        mn_context *ctx = context_with(1);
        mn_mpm *mpm = make_solver(ctx);
        d.emitter.velocities = NULL, d.emitter.speed = 0, d.emitter.flow_rate = 0;
        if (way == 0) d.emitter.speed = speed;
        if (way == 1) d.emitter.flow_rate = speed * disc_area();
        for (int i = 0; i <= RIM; i++) d.velocities[i] = mn_v3(0, -speed, 0);
        if (way == 2) d.emitter.velocities = d.velocities;
        run(mpm, &d, way == 0 ? 1 : 5 * way, seconds);
        check_close(mn_mpm_emitter_rate(mpm), speed * disc_area(), 1e-12 * speed);
        // What has flowed and the nozzle's content, within one layer of the lattice.
        const double expected = disc_area() * (speed * seconds + nozzle);
        check_close(volume_of(mpm), expected, disc_area() * 0.6e-3);
        // A millimetre of jet two millimetres below the disc holds its volume, as does one four below.
        for (int section = 0; section < 2; section++) {
            int64_t inside = 0;
            for (int64_t i = 0; i < mpm->particles.count; i++) {
                const double y = mpm->particles.data[i].axis[1].x + (section == 0 ? 2e-3 : 4e-3);
                inside += y < 0 && y >= -1e-3;
                check_close(mpm->particles.data[i].v.y, -speed, 0.02 * speed);
            }
            check_close((double)inside * 1e-9 / 8, disc_area() * 1e-3, 0.06 * disc_area() * 1e-3);
        }
        assert_true(densest_place(mpm) < 1.35); // jitter of half a lattice cell allows for that
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

static uint64_t hash_of(const mn_mpm *mpm)
{
    uint64_t h =
        mn_hash_bytes(1, mpm->particles.data, sizeof(mn_mpm_particle) * (size_t)mpm->particles.count);
    for (int64_t i = 0; i < mpm->materials.count; i++)
        h = mn_hash_u64(h, (uint64_t)mpm->materials.data[i].id);
    return h;
}

static void threads_and_a_save_in_the_middle_change_nothing(void **state)
{
    (void)state;
    uint64_t hash[3];
    for (int k = 0; k < 3; k++) {
        disc d;
        make_disc(&d, mn_v3(0, 0, 0));
        d.emitter.speed = 0.3;
        mn_context *ctx = context_with(k == 0 ? 1 : 3);
        mn_mpm *mpm = make_solver(ctx);
        for (int f = 0; f < 4; f++) {
            if (k == 2 && f == 2) {
                buffer b = {.ctx = ctx};
                mn_writer out = {ctx, &b, buffer_write};
                mn_reader in = {ctx, &b, buffer_read};
                const mn_mpm_def def = mpm->def;
                check_ok(ctx, mn_mpm_save(mpm, &out));
                mn_mpm_free(mpm);
                check_ok(ctx, mn_mpm_load(ctx, &def, &in, &mpm));
                free(b.bytes);
            }
            for (int i = 0; i <= RIM; i++) d.points[i].x += 0.3e-3;
            run(mpm, &d, 1, 3e-3);
        }
        hash[k] = hash_of(mpm);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
    assert_true(hash[0] == hash[1]);
    assert_true(hash[0] == hash[2]);
}

static void two_emitters_in_one_place_are_one(void **state)
{
    (void)state;
    mn_vec3 points[2 * (RIM + 1)];
    int64_t triangles[2 * RIM][3];
    disc d;
    make_disc(&d, mn_v3(0, 0, 0));
    for (int k = 0; k < 2; k++) {
        memcpy(points + k * (RIM + 1), d.points, sizeof d.points);
        for (int t = 0; t < RIM; t++)
            for (int c = 0; c < 3; c++) triangles[k * RIM + t][c] = d.triangles[t][c] + k * (RIM + 1);
    }
    mn_context *ctx = context_with(1);
    mn_mpm *one = make_solver(ctx), *two = make_solver(ctx);
    d.emitter.speed = 0.2;
    run(one, &d, 1, 0.01);
    d.emitter.point_count *= 2, d.emitter.triangle_count *= 2;
    d.emitter.positions = points, d.emitter.triangles = (const int64_t(*)[3])triangles;
    run(two, &d, 1, 0.01);
    assert_int_equal(mn_mpm_count(one), mn_mpm_count(two));
    mn_mpm_free(one);
    mn_mpm_free(two);
    mn_context_free(ctx);
}

// A block of lattice particles around the origin.
static void add_pool(mn_mpm *mpm, double half_width)
{
    enum { MAX = 8000 };
    static mn_vec3 x[MAX];
    const double h = 0.5 * mpm->def.dx;
    const int reach = (int)(half_width / h);
    int64_t count = 0;
    for (int i = -reach; i < reach; i++)
        for (int j = -reach; j < reach; j++)
            for (int k = -reach; k < reach && count < MAX; k++)
                x[count++] = mn_v3((i + 0.5) * h, (j + 0.5) * h, (k + 0.5) * h);
    const mn_mpm_source source = {.count = count, .position = x};
    check_ok(mpm->solver.ctx, mn_mpm_add(mpm, &source));
}

static void emission_into_liquid_does_not_double_its_density(void **state)
{
    (void)state;
    mn_context *ctx = context_with(1);
    mn_mpm *mpm = make_solver(ctx);
    add_pool(mpm, 5e-3);
    disc d;
    make_disc(&d, mn_v3(0, 1e-3, 0));
    d.emitter.speed = 0.2;
    const int64_t before = mn_mpm_count(mpm);
    check_ok(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0));
    assert_int_equal(mn_mpm_count(mpm), before); // the nozzle is full already
    run(mpm, &d, 1, 0.01);
    assert_true(densest_place(mpm) < 1.5);
    // But the nozzle flows: what is just below the disc has the emitter's speed.
    double mean = 0, count = 0;
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        const mn_mpm_particle *p = &mpm->particles.data[i];
        if (fabs(p->axis[1].x - 0.5e-3) > 0.5e-3 || hypot(p->axis[0].x, p->axis[2].x) > 1e-3) continue;
        mean += p->v.y, count++;
    }
    check_close(mean / count, -0.2, 0.05);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void a_closed_emitter_holds_what_it_has(void **state)
{
    (void)state;
    mn_context *ctx = context_with(1);
    mn_mpm *mpm = make_solver(ctx);
    disc d;
    make_disc(&d, mn_v3(0, 0, 0));
    run(mpm, &d, 1, 0.01); // nothing flows: nothing comes
    assert_int_equal(mn_mpm_count(mpm), 0);
    d.emitter.speed = 0.2;
    run(mpm, &d, 1, 1e-4);
    const int64_t full = mn_mpm_count(mpm);
    check_close((double)full * 1e-9 / 8, disc_area() * 3e-3, 0.2 * disc_area() * 3e-3);
    d.emitter.speed = 0;
    mpm->def.gravity = mn_v3(0, -9.81, 0);
    run(mpm, &d, 3, 0.02);
    assert_int_equal(mn_mpm_count(mpm), full);
    // Without gravity's fall of 2 mm: all but the layer that had left is where it was.
    int64_t above = 0;
    for (int64_t i = 0; i < full; i++) above += mpm->particles.data[i].axis[1].x > -0.3e-3;
    assert_true(above > full * 4 / 5);
    // Without the emitter it falls.
    check_ok(ctx, mn_mpm_set_emitter(mpm, NULL, 0.02));
    check_ok(ctx, mn_mpm_advance(mpm, NULL, 0.05));
    for (int64_t i = 0; i < full; i++) assert_true(mpm->particles.data[i].v.y < -0.4);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void bad_emitters_are_refused_by_name(void **state)
{
    (void)state;
    mn_context *ctx = context_with(1);
    mn_mpm *mpm = make_solver(ctx);
    disc d;
    make_disc(&d, mn_v3(0, 0, 0));
    d.emitter.speed = NAN;
    check_fails(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0), MN_ERROR_ARGUMENT, "speed");
    d.emitter.speed = 1, d.points[3].y = INFINITY;
    check_fails(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0), MN_ERROR_INPUT, "Point 3");
    make_disc(&d, mn_v3(0, 0, 0)), d.triangles[2][1] = 99;
    check_fails(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0), MN_ERROR_INPUT, "Triangle 2");
    make_disc(&d, mn_v3(0, 0, 0));
    double density[RIM + 1] = {0};
    d.emitter.density = density;
    check_fails(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0), MN_ERROR_INPUT, "density");
    make_disc(&d, mn_v3(0, 0, 0));
    for (int i = 0; i < RIM; i++) d.points[i] = mn_scale(1e6, d.points[i]);
    check_fails(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0), MN_ERROR_INPUT, "smaller emitter");
    // A disc squeezed to a point emits nothing, and says nothing.
    make_disc(&d, mn_v3(0, 0, 0)), d.emitter.speed = 1;
    for (int i = 0; i < RIM; i++) d.points[i] = d.points[RIM];
    check_ok(ctx, mn_mpm_set_emitter(mpm, &d.emitter, 0));
    assert_int_equal(mn_mpm_count(mpm), 0);
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

static void out_of_memory_is_reported_and_the_emitter_works_again(void **state)
{
    (void)state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        const mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        if (!ctx) continue;
        mn_mpm_def def = mn_mpm_default_def();
        def.gravity = mn_v3(0, 0, 0);
        def.sigma = 0;
        mn_mpm *mpm = NULL;
        disc d;
        make_disc(&d, mn_v3(0, 0, 0));
        d.emitter.speed = 0.2;
        mn_status status = mn_mpm_create(ctx, &def, &mpm);
        if (status == MN_OK) status = mn_mpm_set_emitter(mpm, &d.emitter, 1e-3);
        if (status == MN_OK) status = mn_mpm_advance(mpm, NULL, 1e-3);
        assert_true(status == MN_OK || status == MN_ERROR_MEMORY);
        assert_true(status != MN_OK || !memory.failed);
        if (mpm) {
            run(mpm, &d, 1, 4e-3);
            check_close(volume_of(mpm), disc_area() * (3e-3 + 0.2 * 4e-3), disc_area() * 1.6e-3);
        }
        mn_mpm_free(mpm);
        mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

/// Eight particles to each of the 64 cells of a closed box leave no room; an open side leaves all of it.
static void a_full_domain_takes_no_more(void **state)
{
    (void)state;
    enum { SIDE = 8 };
    for (int open = 0; open < 2; open++) {
        mn_context *ctx = context_with(1);
        mn_mpm_def def = mn_mpm_default_def();
        def.dx = 1e-3, def.sigma = 0;
        def.domain = (mn_box){mn_v3(0, 0, 0), mn_v3(4e-3, 4e-3, 4e-3)};
        for (int i = 0; i < 6; i++) def.wall[i] = MN_MPM_SLIP;
        if (open) def.wall[3] = MN_MPM_OPEN;
        mn_mpm *mpm;
        check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
        mn_vec3 x[SIDE * SIDE * SIDE];
        for (int i = 0; i < SIDE * SIDE * SIDE; i++)
            x[i] = mn_scale(0.5e-3, mn_v3(i % SIDE + 0.5, i / SIDE % SIDE + 0.5, i / (SIDE * SIDE) + 0.5));
        const mn_mpm_source source = {.count = SIDE * SIDE * SIDE, .position = x};
        check_ok(ctx, mn_mpm_add(mpm, &source));
        disc d;
        make_disc(&d, mn_v3(2e-3, open ? 9e-3 : 2e-3, 2e-3));
        d.emitter.speed = 0.5;
        run(mpm, &d, 3, 3e-3);
        assert_int_equal(mn_mpm_is_full(mpm), !open);
        assert_int_equal(mpm->particles.count > SIDE * SIDE * SIDE, open);
        mn_mpm_free(mpm);
        mn_context_free(ctx);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_rate_is_velocity_times_area_for_any_frames),
        cmocka_unit_test(threads_and_a_save_in_the_middle_change_nothing),
        cmocka_unit_test(two_emitters_in_one_place_are_one),
        cmocka_unit_test(emission_into_liquid_does_not_double_its_density),
        cmocka_unit_test(a_closed_emitter_holds_what_it_has),
        cmocka_unit_test(a_full_domain_takes_no_more),
        cmocka_unit_test(bad_emitters_are_refused_by_name),
        cmocka_unit_test(out_of_memory_is_reported_and_the_emitter_works_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
