// SPDX-License-Identifier: Apache-2.0
//
// Particles that crowd below the surface of a drop spread out to it again, with both momenta as they were;
// and sheets too thin for the level set are left alone.
#include "support/check.h"

#include "mpm/resample.h"
#include "mpm/step.h"
#include "mpm/surface.h"
#include "mpm/walls.h"

enum { COUNT_MAX = 8000 };

typedef struct stage {
    mn_context *ctx;
    mn_mpm_def def;
    mn_mpm *mpm;
    mn_vec3 x[COUNT_MAX], v[COUNT_MAX];
    int64_t count;
} stage;

static void open_stage(stage *s)
{
    static const mn_hooks hooks = {.max_workers = 1};
    s->ctx = mn_context_create(&hooks);
    s->def = mn_mpm_default_def();
    s->def.gravity = mn_v3(0, 0, 0), s->def.dx = 1e-3;
}

static void close_stage(stage *s)
{
    mn_mpm_free(s->mpm);
    mn_context_free(s->ctx);
}

static void add_liquid(stage *s)
{
    const mn_mpm_source liquid = {.count = s->count, .position = s->x, .velocity = s->v};
    check_ok(s->ctx, mn_mpm_create(s->ctx, &s->def, &s->mpm));
    check_ok(s->ctx, mn_mpm_add(s->mpm, &liquid));
}

// A ball on the lattice of eight particles a cell.
static void lay_ball(stage *s, double radius)
{
    const double h = 0.5 * s->def.dx;
    const int most = (int)ceil(radius / h);
    s->count = 0;
    for (int i = -most; i < most; i++)
        for (int j = -most; j < most; j++)
            for (int k = -most; k < most; k++) {
                const mn_vec3 r = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
                if (mn_norm(r) < radius) s->x[s->count++] = r;
            }
}

// The surface of the state, and `next` as the state.
static void find_surface(stage *s)
{
    check_ok(s->ctx, mn_mpm_sort_again(s->mpm));
    check_ok(s->ctx, mn_mpm_find_extremes(s->mpm));
    check_ok(s->ctx, mn_mpm_sample_surface(s->mpm));
    check_ok(s->ctx, mn_mpm_find_contacts(s->mpm));
    check_ok(s->ctx, mn_mpm_split(s->mpm, 0, 0));
    check_ok(s->ctx, mn_mpm_copy_to_next(s->mpm, s->mpm->particles.count));
}

// sum e^2 of the nodes, as the last evening out saw it.
static double excess2(const mn_mpm *mpm)
{
    double sum = 0;
    for (int64_t i = 0; i < mpm->grid.volumes.count; i += 2)
        sum += mpm->grid.volumes.data[i] * mpm->grid.volumes.data[i];
    return sum;
}

typedef struct momenta {
    mn_vec3 linear, angular;
} momenta;

// APIC's: m x cross v, and m dx^2/4 of the affine velocity's turn.
static momenta measure(const mn_mpm *mpm, const mn_mpm_particle *particles)
{
    momenta sum = {0};
    for (int64_t i = 0; i < mpm->particles.count; i++) {
        const mn_mpm_particle *p = &particles[i];
        const mn_mat3 c = mn_mpm_affine(p);
        const mn_vec3 turn = mn_v3(c.m[2][1] - c.m[1][2], c.m[0][2] - c.m[2][0], c.m[1][0] - c.m[0][1]);
        sum.linear = mn_axpy(sum.linear, p->mass, p->v);
        sum.angular = mn_axpy(sum.angular, p->mass, mn_cross(mn_mpm_position(p), p->v));
        sum.angular = mn_axpy(sum.angular, p->mass * mpm->def.dx * mpm->def.dx / 4, turn);
    }
    return sum;
}

// The outer two cells of a ball are pressed together to one and a half, as they were found to be before a
// drop burst.
static void a_crowded_layer_spreads_out(void **state)
{
    (void)state;
    static stage s;
    const double radius = 6e-3, from = 4e-3, speed = 0.05;
    open_stage(&s);
    lay_ball(&s, radius);
    for (int64_t i = 0; i < s.count; i++) {
        const double r = mn_norm(s.x[i]);
        if (r > from) s.x[i] = mn_scale((from + 0.75 * (r - from)) / r, s.x[i]);
        s.v[i] = mn_add(mn_v3(speed, 0, 0), mn_cross(mn_v3(3, 5, 7), s.x[i]));
    }
    add_liquid(&s);
    double first = 0, last = 0;
    for (int round = 0; round < 40; round++) {
        find_surface(&s);
        const momenta before = measure(s.mpm, s.mpm->next.data);
        check_ok(s.ctx, mn_mpm_even_out(s.mpm, 0.25));
        const momenta after = measure(s.mpm, s.mpm->next.data);
        const double momentum = s.mpm->extremes.mass * speed;
        assert_true(mn_distance(before.linear, after.linear) <= 1e-14 * momentum);
        assert_true(mn_distance(before.angular, after.angular) <= 1e-12 * momentum * radius);
        last = excess2(s.mpm);
        if (round == 0) first = last;
        check_ok(s.ctx, mn_mpm_sort_next(s.mpm));
    }
    assert_true(last < 0.1 * first);
    close_stage(&s);
}

// One layer of particles that stands on a pool: the level set, smoothed over a cell, has lost it.
static void a_sheet_is_left_alone(void **state)
{
    (void)state;
    static stage s;
    open_stage(&s);
    const double h = 0.5 * s.def.dx;
    s.count = 0;
    for (int i = -8; i < 8; i++)
        for (int j = -6; j < 12; j++)
            for (int k = -8; k < 8; k++)
                if (j < 0 || k == 0) s.x[s.count++] = mn_scale(h, mn_v3(i + 0.5, j + 0.5, k + 0.5));
    s.def.sheets = false;
    add_liquid(&s);
    find_surface(&s);
    check_ok(s.ctx, mn_mpm_even_out(s.mpm, 0.25));
    double moved = 0;
    for (int64_t i = 0; i < s.count; i++) {
        const mn_vec3 at = mn_mpm_position(&s.mpm->particles.data[i]);
        if (at.y > 2 * s.def.dx) moved = fmax(moved, mn_distance(at, mn_mpm_position(&s.mpm->next.data[i])));
    }
    assert_true(moved == 0);
    close_stage(&s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(a_crowded_layer_spreads_out),
                                       cmocka_unit_test(a_sheet_is_left_alone)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
