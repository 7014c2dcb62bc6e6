// SPDX-License-Identifier: Apache-2.0
//
// Two rims of a strip of film that run into each other: they open into a sheet across it, or join.
#include "codim/state.h"
#include "support/out_of_memory.h"
#include "support/point_cast.h"

static const double S = 1e-3, HALF = 4e-3; // spacing, half of the strip's width
enum { ALONG = 28 };

// In the plane y = 0, thin, with rims along z of r = 0.8 mm that come at each other with `speed` each.
static cast *make_strip(double speed)
{
    cast *c = calloc(1, sizeof *c);
    for (int k = 0; k < ALONG; k++)
        for (int i = -4; i <= 4; i++) {
            const mn_vec3 x = mn_v3(i * S, 0, (k - 0.5 * ALONG + 0.25 * (i & 1)) * S);
            cast_add(c, MN_CODIM_FILM, x, mn_v3(0, 1, 0), mn_v3(-speed * x.x / HALF, 0.1, 0.2),
                     abs(i) == 4 ? 4e-3 : 2e-5);
        }
    return c;
}

static mn_status open_strip(mn_context *ctx, const cast *c, double collision, mn_codim **mls)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = S, def.dx = 8 * S, def.sigma = 0.07, def.air_drag = 0, def.rim_collision = collision;
    const mn_codim_source source = cast_source(c);
    const mn_status status = mn_codim_create(ctx, &def, mls);
    return status == MN_OK ? mn_codim_add(*mls, &source) : status;
}

typedef struct totals {
    double mass, scale, turned, film; ///< kg; of the momentum; kg of sheets across, and of any
    double across, above;             ///< J, of the motion along x and along y, but for the drift
    double width;                     ///< m, along y
    mn_vec3 momentum;
} totals;

static totals sum_of(const mn_codim *mls)
{
    const mn_codim_view view = mn_codim_get_view(mls);
    totals t = {0};
    double low = INFINITY, high = -INFINITY;
    for (int64_t i = 0; i < view.count; i++) {
        const mn_codim_point *p = &view.points[i];
        t.mass += p->mass, t.scale += p->mass * mn_norm(p->velocity);
        t.momentum = mn_axpy(t.momentum, p->mass, p->velocity);
        t.film += p->codim == MN_CODIM_FILM ? p->mass : 0;
        t.turned += p->codim == MN_CODIM_FILM && p->link == 1 && fabs(p->normal.x) > 0.8 ? p->mass : 0;
        t.across += 0.5 * p->mass * p->velocity.x * p->velocity.x;
        t.above += 0.5 * p->mass * (p->velocity.y - 0.1) * (p->velocity.y - 0.1);
        low = fmin(low, p->position.y), high = fmax(high, p->position.y);
    }
    t.width = high - low;
    return t;
}

/// What was largest on the way, and what there is at the end.
typedef struct course {
    totals before, after;
    double across, above, width, turned;
} course;

static course run(double speed, double collision, int32_t workers, double time, int steps)
{
    const mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    cast *c = make_strip(speed);
    mn_codim *mls = NULL;
    check_ok(ctx, open_strip(ctx, c, collision, &mls));
    course r = {.before = sum_of(mls)};
    for (int i = 0; i < steps; i++) {
        check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, time / steps));
        r.after = sum_of(mls);
        r.across = fmax(r.across, r.after.across), r.above = fmax(r.above, r.after.above);
        r.width = fmax(r.width, r.after.width), r.turned = fmax(r.turned, r.after.turned);
    }
    check_close(r.after.mass, r.before.mass, 1e-12 * r.before.mass);
    check_close(mn_distance(r.after.momentum, r.before.momentum), 0, 1e-10 * r.before.scale);
    mn_codim_free(mls);
    mn_context_free(ctx);
    free(c);
    return r;
}

// Nine tenths of the liquid is in the rims. All of their energy goes from x to y, but for the ends of the
// strip, which draw back meanwhile, and for what the rows give up as they become one sheet.
static void rims_open_into_a_sheet_across(void **state)
{
    (void)state;
    const course whole = run(0.6, 1, 1, 9e-3, 18), half = run(0.6, 0.5, 1, 9e-3, 18);
    assert_true(whole.turned > 0.8 * whole.before.mass);
    assert_true(whole.above > 0.75 * whole.across && whole.above < 1.02 * whole.across);
    assert_true(whole.width > 7 * S);
    check_close(half.above / whole.above, 0.5, 0.1);
}

static void rims_join_to_a_thread_without_it(void **state)
{
    (void)state;
    const course off = run(0.6, 0, 1, 9e-3, 18), weak = run(0.6, 0.05, 1, 9e-3, 18);
    assert_true(off.turned == 0 && off.after.film < 0.2 * off.before.mass);
    check_close(off.above, 0, 1e-3 * off.across);
    assert_true(weak.turned == 0); // it would open by less than a spacing
}

// A strip that rims have opened into widens to three times its width without tension, and gets new points as
// it does: the part of its energy that is left.
static double energy_left(int64_t link)
{
    mn_context *ctx = mn_context_create(NULL);
    cast *c = calloc(1, sizeof *c);
    for (int k = 0; k < ALONG; k++)
        for (int i = -4; i <= 4; i++) {
            const mn_vec3 x = mn_v3((i + 0.25 * (k & 1)) * S, 0, 0.9 * k * S);
            cast_add(c, MN_CODIM_FILM, x, mn_v3(0, 1, 0), mn_v3(x.x / HALF, 0.1, 0), 1e-4);
        }
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.spacing = S, def.sigma = 0, def.rim_collision = 1;
    const mn_codim_source source = cast_source(c);
    mn_codim *mls = NULL;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_add(mls, &source));
    for (int64_t p = 0; p < mls->points.count; p++) mls->points.data[p].link = link;
    const totals before = sum_of(mls);
    const int64_t count = mls->points.count;
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 2 * HALF));
    const totals after = sum_of(mls);
    assert_true(mls->points.count > 2 * count);
    check_close(after.mass, before.mass, 1e-12 * before.mass);
    check_close(mn_distance(after.momentum, before.momentum), 0, 1e-10 * before.scale);
    mn_codim_free(mls);
    mn_context_free(ctx);
    free(c);
    return after.across / before.across;
}

static void a_sheet_that_rims_opened_keeps_its_energy_as_it_is_split(void **state)
{
    (void)state;
    const double opened = energy_left(1), other = energy_left(0);
    assert_true(opened > 0.99 && opened < 1.001 && other < 0.98);
}

static void same_bits_for_any_number_of_threads(void **state)
{
    (void)state;
    const course one = run(0.6, 1, 1, 6e-3, 6), two = run(0.6, 1, 2, 6e-3, 6),
                 eight = run(0.6, 1, 8, 6e-3, 6);
    assert_memory_equal(&one, &two, sizeof one);
    assert_memory_equal(&one, &eight, sizeof one);
}

static mn_status life(mn_context *ctx, failing_allocator *memory)
{
    cast *c = make_strip(0.6);
    mn_codim *mls = NULL;
    check_ok(ctx, open_strip(ctx, c, 1, &mls));
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 3e-3));
    failing_begin(memory);
    const mn_status status = mn_codim_advance(mls, &(mn_codim_inputs){0}, 3e-3);
    failing_end(memory);
    mn_codim_free(mls);
    free(c);
    return status;
}

static void memory_may_run_out(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(life, 4);
}

static void nonsense_is_refused(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cast *c = make_strip(0.6);
    mn_codim *mls = NULL;
    assert_int_equal(open_strip(ctx, c, 1.5, &mls), MN_ERROR_ARGUMENT);
    assert_int_equal(open_strip(ctx, c, NAN, &mls), MN_ERROR_ARGUMENT);
    mn_context_free(ctx);
    free(c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(rims_open_into_a_sheet_across),
        cmocka_unit_test(rims_join_to_a_thread_without_it),
        cmocka_unit_test(a_sheet_that_rims_opened_keeps_its_energy_as_it_is_split),
        cmocka_unit_test(same_bits_for_any_number_of_threads),
        cmocka_unit_test(memory_may_run_out),
        cmocka_unit_test(nonsense_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
