// SPDX-License-Identifier: Apache-2.0
//
// Threads: which points follow each other, forces that are the gradient of the energy, and a stiffness that
// is symmetric and never negative.
#include "support/check.h"

#include "base/random.h"
#include "codim/thread/graph.h"

enum { MOST = 400 };

/// A cloud of thread points with spacing 1.
typedef struct cloud {
    int64_t count;
    mn_vec3 x[MOST], along[MOST];
    double volume[MOST];
    uint8_t use[MOST], pinned[MOST];
} cloud;

static void add(cloud *c, mn_vec3 x, mn_vec3 along, double radius)
{
    assert_true(c->count < MOST);
    c->x[c->count] = x, c->along[c->count] = mn_normalize(along);
    c->volume[c->count] = 3.14159265358979 * radius * radius;
    c->use[c->count] = 1, c->pinned[c->count++] = 0;
}

// From a to b in even steps of about 1.
static void add_line(cloud *c, mn_vec3 a, mn_vec3 b, double radius)
{
    const int steps = (int)round(mn_distance(a, b));
    for (int i = 0; i <= steps; i++) add(c, mn_lerp(a, b, (double)i / steps), mn_sub(b, a), radius);
}

static mn_codim_thread_graph build(mn_context *ctx, const cloud *c)
{
    mn_codim_thread_graph g;
    const mn_codim_thread_points points = {c->count, c->x, c->along, c->volume, c->use, c->pinned, NULL, 1};
    check_ok(ctx, mn_codim_thread_graph_create(ctx, &g));
    check_ok(ctx, mn_codim_thread_graph_build(&g, &points, 1));
    return g;
}

static int64_t count_of_degree(const mn_codim_thread_graph *g, int32_t degree)
{
    int64_t count = 0;
    for (int64_t n = 0; n < g->nodes.count; n++) count += g->nodes.data[n].degree == degree;
    return count;
}

// Points of a helix with uneven steps link in turn: one path, whatever the order they come in.
static void uneven_helix_is_one_path(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cloud c = {0};
    const int total = 120;
    for (int i = 0; i < total; i++) {
        const int k = i * 77 % total; // a shuffle: 77 and 120 have no common factor
        const double a = (k + 0.35 * mn_random_unit(3, (uint64_t)k, 0)) / 6;
        add(&c, mn_v3(5 * cos(a), 5 * sin(a), 2 * a), mn_v3(-5 * sin(a), 5 * cos(a), 2), 0.2);
    }
    mn_codim_thread_graph g = build(ctx, &c);
    assert_int_equal(g.links.count, total - 1);
    assert_int_equal(count_of_degree(&g, 1), 2);
    assert_int_equal(count_of_degree(&g, 2), total - 2);
    mn_codim_thread_graph_free(&g);
    mn_context_free(ctx);
}

// A thread that ends on another branches it; one that passes, or lies beside it, is another thread.
static void threads_branch_where_they_meet(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cloud c = {0};
    add_line(&c, mn_v3(-8, 0, 0), mn_v3(8, 0, 0), 0.1);
    add_line(&c, mn_v3(0, 0.55, 0), mn_v3(0, 8.55, 0), 0.1); // ends on it
    mn_codim_thread_graph g = build(ctx, &c);
    assert_int_equal(count_of_degree(&g, 3), 1);
    assert_int_equal(count_of_degree(&g, 1), 3);
    mn_codim_thread_graph_free(&g);
    c.count = 0;
    add_line(&c, mn_v3(-8, 0, 0), mn_v3(8, 0, 0), 0.1);
    add_line(&c, mn_v3(0.5, -8.5, 0.9), mn_v3(0.5, 8.5, 0.9), 0.1); // passes over it
    add_line(&c, mn_v3(-8, 0, -1), mn_v3(8, 0, -1), 0.1);           // beside it
    g = build(ctx, &c);
    assert_int_equal(count_of_degree(&g, 1), 6);
    assert_int_equal(count_of_degree(&g, 2), g.nodes.count - 6);
    mn_codim_thread_graph_free(&g);
    mn_context_free(ctx);
}

// A bent thread of uneven thickness with a branch, thinner than its links are long: nothing bends by itself.
static cloud crooked(void)
{
    cloud c = {0};
    for (int i = 0; i < 24; i++) {
        const double a = 0.15 * i, r = 0.25 + 0.05 * sin(1.3 * i);
        add(&c, mn_v3(6 * cos(a), 6 * sin(a), 0.3 * sin(2 * a)), mn_v3(-sin(a), cos(a), 0), r);
    }
    for (int i = 0; i < 6; i++)
        add(&c, mn_v3(6 * cos(1.5) * (1.09 + 0.15 * i), 6 * sin(1.5) * (1.09 + 0.15 * i), 0.1),
            mn_v3(cos(1.5), sin(1.5), 0), 0.2);
    return c;
}

static double energy_at(mn_context *ctx, mn_codim_thread_graph *g, const mn_vec3 *x)
{
    check_ok(ctx, mn_codim_thread_measure(g, x, 1, &g->trial));
    return g->trial.energy;
}

static void forces_are_the_gradient_of_the_energy(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cloud c = crooked();
    mn_codim_thread_graph g = build(ctx, &c);
    assert_true(count_of_degree(&g, 3) > 0 && count_of_degree(&g, 1) == 3);
    mn_vec3 f[MOST] = {{0}}, sum = {0}, moment = {0};
    mn_codim_thread_add_forces(&g, &g.shape, c.x, 1, f);
    double most = 0;
    for (int64_t p = 0; p < c.count; p++) most = fmax(most, mn_norm(f[p]));
    for (int64_t p = 0; p < c.count; p++) {
        sum = mn_add(sum, f[p]), moment = mn_add(moment, mn_cross(c.x[p], f[p]));
        for (int axis = 0; axis < 3; axis++) {
            const double step = 1e-6;
            double *at = axis == 0 ? &c.x[p].x : axis == 1 ? &c.x[p].y : &c.x[p].z, was = *at;
            *at = was + step;
            const double more = energy_at(ctx, &g, c.x);
            *at = was - step;
            const double less = energy_at(ctx, &g, c.x);
            *at = was;
            const double own = axis == 0 ? f[p].x : axis == 1 ? f[p].y : f[p].z;
            check_close(own, -(more - less) / (2 * step),
                        1e-7 * most); // differences of order 2, and rounding
        }
    }
    check_close(mn_norm(sum) / most, 0, 1e-13);
    check_close(mn_norm(moment) / most, 0, 1e-12);
    mn_codim_thread_graph_free(&g);
    mn_context_free(ctx);
}

static double dot(const mn_vec3 *a, const mn_vec3 *b, int64_t count)
{
    double sum = 0;
    for (int64_t i = 0; i < count; i++) sum += mn_dot(a[i], b[i]);
    return sum;
}

// Also for threads thicker than their links are long, where bending counts.
static void stiffness_is_symmetric_and_never_negative(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    for (int fat = 0; fat < 2; fat++) {
        cloud c = crooked();
        for (int64_t p = 0; fat && p < c.count; p++) c.volume[p] *= 30;
        mn_codim_thread_graph g = build(ctx, &c);
        const mn_codim_thread_operator op = {&g, 1, 0.3, 1, 1, 1};
        double diagonal[MOST] = {0};
        mn_codim_thread_add_diagonal(&op, diagonal);
        for (uint64_t trial = 0; trial < 20; trial++) {
            mn_vec3 u[MOST], w[MOST], bu[MOST] = {{0}}, bw[MOST] = {{0}}, sum = {0};
            for (int64_t p = 0; p < c.count; p++)
                u[p] = mn_random_unit3(trial, (uint64_t)p, 0), w[p] = mn_random_unit3(trial, (uint64_t)p, 1);
            mn_codim_thread_apply(&op, u, bu);
            mn_codim_thread_apply(&op, w, bw);
            const double size = sqrt(dot(bu, bu, c.count) * dot(w, w, c.count));
            check_close(dot(w, bu, c.count), dot(u, bw, c.count), 1e-13 * size);
            assert_true(dot(u, bu, c.count) > 0);
            double bound = 0; // three times the diagonal holds for chains
            for (int64_t p = 0; p < c.count; p++) {
                bound += 6 * diagonal[p] * mn_norm2(u[p]);
                sum = mn_add(sum, bu[p]);
            }
            assert_true(dot(u, bu, c.count) < bound);
            check_close(mn_norm(sum) / size, 0, 1e-12);
        }
        mn_codim_thread_graph_free(&g);
    }
    mn_context_free(ctx);
}

// A uniform straight thread pulls with pi r sigma.
static void uniform_thread_pulls_with_half_of_its_side(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    cloud c = {0};
    add_line(&c, mn_v3(0, 0, 0), mn_v3(20, 0, 0), 0.3);
    c.volume[0] *= 0.5, c.volume[20] *= 0.5;
    c.pinned[0] = c.pinned[20] = 1;
    mn_codim_thread_graph g = build(ctx, &c);
    for (int64_t i = 0; i < g.links.count; i++)
        check_close(g.shape.pieces.data[i].tension, 3.14159265358979 * 0.3, 1e-12);
    mn_codim_thread_graph_free(&g);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(uneven_helix_is_one_path),
        cmocka_unit_test(threads_branch_where_they_meet),
        cmocka_unit_test(forces_are_the_gradient_of_the_energy),
        cmocka_unit_test(stiffness_is_symmetric_and_never_negative),
        cmocka_unit_test(uniform_thread_pulls_with_half_of_its_side),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
