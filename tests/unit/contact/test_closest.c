// SPDX-License-Identifier: Apache-2.0
//
// Closest points against a dense search, their derivative by differences, conservative advancement against
// small steps, and slip that no rigid motion has.
#include "base/random.h"
#include "contact/barrier.h"
#include "contact/surface.h"
#include "support/check.h"

static mn_vec3 random_vector(uint64_t seed, uint64_t i)
{
    return mn_v3(mn_random_normal(seed, i, 0), mn_random_normal(seed, i, 1), mn_random_normal(seed, i, 2));
}

static void random_pair(uint64_t seed, mn_vec3 x[4])
{
    for (uint64_t i = 0; i < 4; i++) x[i] = random_vector(seed, i);
    if (seed % 4 == 1) x[3] = mn_add(x[2], mn_axpy(mn_sub(x[1], x[0]), 1e-7, x[3])); // nearly parallel edges
    if (seed % 8 == 2) x[3] = mn_lerp(x[1], x[2], 0.3);                              // a flat triangle
    if (seed % 8 == 6) x[1] = x[0];                                                  // no edge at all
}

static double dense_distance(const mn_vec3 x[4], bool edges)
{
    double best = INFINITY;
    const int n = 120;
    for (int i = 0; i <= n; i++)
        for (int k = 0; k <= (edges ? n : n - i); k++) {
            const double s = (double)i / n, t = (double)k / n;
            const mn_vec3 a = edges ? mn_lerp(x[0], x[1], s) : x[0];
            const mn_vec3 b =
                edges ? mn_lerp(x[2], x[3], t)
                      : mn_add(mn_scale(1 - s - t, x[1]), mn_add(mn_scale(s, x[2]), mn_scale(t, x[3])));
            best = fmin(best, mn_distance(a, b));
        }
    return best;
}

static mn_closest closest(const mn_vec3 x[4], bool edges)
{
    return edges ? mn_closest_edge_edge(x) : mn_closest_point_triangle(x);
}

static void nearest_of_all(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 400; seed++)
        for (int edges = 0; edges < 2; edges++) {
            mn_vec3 x[4], sum = {0};
            random_pair(seed, x);
            const mn_closest r = closest(x, edges);
            const double dense = dense_distance(x, edges);
            assert_true(r.distance <= dense + 1e-12);
            check_close(r.distance, dense, 0.1); // the spacing of the search
            for (int k = 0; k < 4; k++) sum = mn_axpy(sum, r.c[k], x[k]);
            check_close(mn_distance(sum, mn_scale(r.distance, r.normal)), 0, 1e-6);
            check_close(r.c[0] + r.c[1] + r.c[2] + r.c[3], 0, 1e-14);
        }
}

static double distance_from(const mn_vec3 x[4], double s)
{
    const mn_vec3 p = mn_lerp(x[0], x[1], s);
    return mn_distance(p, mn_lerp(x[2], x[3], mn_segment_foot(x[2], x[3], p)));
}

/// The distance from a point of the first edge to the second is convex along the first: thirds find the
/// least.
static double distance_by_thirds(const mn_vec3 x[4])
{
    double low = 0, high = 1, best = fmin(distance_from(x, 0), distance_from(x, 1));
    for (int i = 0; i < 120; i++) {
        const double s = low + (high - low) / 3, t = high - (high - low) / 3;
        const double at_s = distance_from(x, s), at_t = distance_from(x, t);
        best = fmin(best, fmin(at_s, at_t));
        if (at_s < at_t)
            high = t;
        else
            low = s;
    }
    return best;
}

/// Two edges that cross at a height above each other, at angles from a right one to below rounding.
static void edges_at_any_angle(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t seed = 0; seed < 60; seed++)
        for (double sine = 1; sine > 1e-18; sine *= 0.3)
            for (double height = 1; height > 1e-9; height *= 0.01) {
                const mn_vec3 along = mn_normalize(random_vector(seed, 0)), start = random_vector(seed, 1);
                mn_vec3 aside, up, x[4] = {start, mn_axpy(start, 3, along)};
                mn_frame(along, &aside, &up);
                const mn_vec3 turned = mn_axpy(mn_scale(sqrt(1 - sine * sine), along), sine, aside);
                // over a point of the first edge, or beyond its end for some
                const mn_vec3 over =
                    mn_axpy(mn_axpy(start, 4 * mn_random_unit(seed, 2, 0) - 0.5, along), height, up);
                const double before = 3 * mn_random_unit(seed, 3, 0);
                x[2] = mn_axpy(over, -before, turned), x[3] = mn_axpy(x[2], 2.5, turned);
                const mn_closest r = mn_closest_edge_edge(x);
                worst = fmax(worst, fabs(r.distance - distance_by_thirds(x)));
                mn_vec3 apart = mn_scale(-r.distance, r.normal);
                for (int k = 0; k < 3; k++) apart = mn_axpy(apart, r.c[k], mn_sub(x[k], x[3]));
                worst = fmax(worst, mn_norm(apart));
            }
    check_close(worst, 0, 1e-12);
    // fuzzing found these: a common end, the other ends ten roundings apart
    const mn_vec3 end = {0.45812906028753364, -2.3230970542590663, -1.0879829474014164};
    const mn_vec3 found[4] = {{-0.9560592806416705, 1.8759619806527232, -0.1966006265268733},
                              end,
                              {-0.9560592806416727, 1.8759619806527232, -0.1966006265268733},
                              end};
    assert_true(mn_closest_edge_edge(found).distance == 0);
}

/// The nearest point of a triangle, as thin as may be, is no farther than those of its edges.
static void slivers(void **state)
{
    (void)state;
    double worst = 0;
    for (uint64_t seed = 0; seed < 2000; seed++)
        for (double width = 1; width > 1e-18; width *= 0.1) {
            mn_vec3 x[4] = {{0}, random_vector(seed, 1), random_vector(seed, 2)};
            const double along = 1.4 * mn_random_unit(seed, 3, 0) - 0.2;
            x[3] = mn_axpy(mn_lerp(x[1], x[2], along), width, random_vector(seed, 3));
            x[0] = mn_axpy(mn_lerp(x[1], x[2], 1.4 * mn_random_unit(seed, 4, 0) - 0.2),
                           pow(10, -9 * mn_random_unit(seed, 5, 0)), random_vector(seed, 6));
            const double distance = mn_closest_point_triangle(x).distance;
            for (int k = 1; k < 4; k++) {
                const mn_vec3 a = x[k], b = x[k % 3 + 1];
                const double edge = mn_distance(x[0], mn_lerp(a, b, mn_segment_foot(a, b, x[0])));
                worst = fmax(worst, distance - edge);
            }
        }
    assert_true(worst < 1e-14);
}

static void derivative_by_weights(void **state)
{
    (void)state;
    for (uint64_t seed = 3; seed < 400; seed += 4)
        for (int edges = 0; edges < 2; edges++) {
            mn_vec3 x[4];
            random_pair(seed, x);
            const mn_closest r = closest(x, edges);
            if (r.distance < 0.05) continue;
            for (int j = 0; j < 12; j++) {
                mn_vec3 up[4], down[4];
                memcpy(up, x, sizeof x), memcpy(down, x, sizeof x);
                (&up[j / 3].x)[j % 3] += 1e-6, (&down[j / 3].x)[j % 3] -= 1e-6;
                const double slope = (closest(up, edges).distance - closest(down, edges).distance) / 2e-6;
                check_close(r.c[j / 3] * (&r.normal.x)[j % 3], slope, 2e-5);
            }
        }
}

/// Nothing within the fraction of a step that it grants comes nearer than a tenth; and it is not needlessly
/// short.
static void advancement_stops_before_contact(void **state)
{
    (void)state;
    int32_t stopped = 0;
    for (uint64_t seed = 0; seed < 400; seed++)
        for (int edges = 0; edges < 2; edges++) {
            mn_vec3 x[4], dx[4];
            random_pair(seed, x);
            for (uint64_t k = 0; k < 4; k++) dx[k] = mn_scale(3, random_vector(seed, 10 + k));
            const double start = closest(x, edges).distance;
            if (!(start > 1e-6)) continue;
            const double t = edges ? mn_advance_edge_edge(x, dx, 0.1) : mn_advance_point_triangle(x, dx, 0.1);
            assert_true(t > 0 && t <= 1);
            stopped += t < 1;
            for (int k = 0; k <= 500; k++) {
                mn_vec3 y[4];
                for (int i = 0; i < 4; i++) y[i] = mn_axpy(x[i], t * k / 500, dx[i]);
                assert_true(closest(y, edges).distance > 0.05 * start);
            }
        }
    assert_true(stopped > 30);
}

static void barrier_derivatives(void **state)
{
    (void)state;
    for (double d = 0.03; d < 1.2; d += 0.05) {
        double first, second, up, down;
        mn_barrier(d, 1.1, &first, &second);
        const double slope =
            (mn_barrier(d + 1e-6, 1.1, &up, NULL) - mn_barrier(d - 1e-6, 1.1, &down, NULL)) / 2e-6;
        check_close(first, slope, 1e-7 * (1 + fabs(slope)));
        check_close(second, (up - down) / 2e-6, 1e-6 * (1 + fabs(second)));
        assert_true(first <= 0 && second >= 0);
    }
    assert_true(isinf(mn_barrier(0, 1, NULL, NULL)));
    for (double u = 0.01; u < 2; u += 0.1) {
        double over, second, unused, low, high;
        mn_friction(u, 1, &over, &second);
        const double slope =
            (mn_friction(u + 1e-6, 1, &high, &unused) - mn_friction(u - 1e-6, 1, &low, &unused)) / 2e-6;
        check_close(over * u, slope, 1e-8);
    }
}

/// C4: a rigid motion of both sides is no slip, so a force along it has neither sum nor torque.
static void rigid_motions_do_not_slip(void **state)
{
    (void)state;
    for (uint64_t seed = 0; seed < 200; seed++) {
        mn_contact_term term = {.is_edge_edge = seed % 2 == 1};
        mn_vec3 x[4];
        for (uint64_t i = 0; i < 4; i++) x[i] = random_vector(seed, i);
        term.near = closest(x, term.is_edge_edge);
        double rows[2][12];
        mn_contact_slip(&term, x, rows);
        const mn_vec3 turn = random_vector(seed, 20), shift = random_vector(seed, 21);
        for (int t = 0; t < 2; t++) {
            double slip = 0, size = 0;
            for (int j = 0; j < 12; j++) {
                const mn_vec3 motion = mn_add(shift, mn_cross(turn, x[j / 3]));
                slip += rows[t][j] * (&motion.x)[j % 3];
                size += fabs(rows[t][j]);
            }
            check_close(slip, 0, 1e-12 * (1 + size));
        }
        // sliding of one side along the other is seen whole
        mn_vec3 u, v;
        mn_frame(term.near.normal, &u, &v);
        double slip = 0;
        for (int k = 0; k < (term.is_edge_edge ? 2 : 1); k++)
            for (int axis = 0; axis < 3; axis++) slip += rows[0][3 * k + axis] * (&u.x)[axis];
        if (!term.is_edge_edge) check_close(slip, 1, 1e-12);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nearest_of_all),
        cmocka_unit_test(edges_at_any_angle),
        cmocka_unit_test(slivers),
        cmocka_unit_test(derivative_by_weights),
        cmocka_unit_test(advancement_stops_before_contact),
        cmocka_unit_test(barrier_derivatives),
        cmocka_unit_test(rigid_motions_do_not_slip),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
