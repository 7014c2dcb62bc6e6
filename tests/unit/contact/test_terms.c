// SPDX-License-Identifier: Apache-2.0
//
// Pairs of two surfaces: candidates against all pairs, the energy's gradient by differences, its momenta, no
// bumps on a flat floor, and steps and crossings.
#include "base/random.h"
#include "contact/barrier.h"
#include "contact/surface.h"
#include "support/one_context.h"

enum { N = 6, VERTICES = 2 * (N + 1) * (N + 1), TRIANGLES = 4 * N * N };

typedef struct scene {
    mn_vec3 x[VERTICES];
    int32_t triangles[TRIANGLES][3], group[VERTICES];
    uint32_t flags[2];
    double stiffness[2];
    mn_contact_pairs *contact;
} scene;

/// Two square sheets with N cells of size 1 a side, the second `gap` above the first and turned; rough by
/// `rough`.
static void make_scene(scene *s, double gap, double turn, double rough)
{
    memset(s, 0, sizeof *s);
    for (int sheet = 0, v = 0, t = 0; sheet < 2; sheet++) {
        const int first = v;
        for (int i = 0; i <= N; i++)
            for (int k = 0; k <= N; k++, v++) {
                const double a = sheet * turn, p = i - N / 2.0 + 0.21 * sheet, q = k - N / 2.0 + 0.33 * sheet;
                s->x[v] =
                    mn_v3(cos(a) * p - sin(a) * q, sheet * gap + rough * mn_random_normal(7, (uint64_t)v, 0),
                          sin(a) * p + cos(a) * q);
                s->group[v] = sheet;
            }
        for (int i = 0; i < N; i++)
            for (int k = 0; k < N; k++) {
                const int32_t a = first + i * (N + 1) + k, b = a + N + 1;
                const int32_t two[2][3] = {{a, a + 1, b + 1}, {a, b + 1, b}};
                memcpy(s->triangles[t], two, sizeof two);
                t += 2;
            }
    }
    s->flags[0] = s->flags[1] = MN_CONTACT_SELF | MN_CONTACT_SHEET;
    s->stiffness[0] = 2, s->stiffness[1] = 3;
    const mn_contact_surface surface = {
        VERTICES, TRIANGLES, 2, s->x, (const int32_t(*)[3])s->triangles, s->group, s->flags, s->stiffness};
    check_ok(ctx, mn_contact_create(ctx, &s->contact));
    check_ok(ctx, mn_contact_set_surface(s->contact, &surface));
}

static void find(scene *s, double distance, double reach)
{
    double reaches[VERTICES];
    for (int i = 0; i < VERTICES; i++) reaches[i] = reach;
    const double groups[2] = {0, 0};
    check_ok(ctx, mn_contact_find_candidates(s->contact, s->x, reaches, groups, distance));
}

/// The energy and, when asked for, its gradient.
static double energy_of(scene *s, double distance, mn_vec3 *gradient)
{
    mn_contact_terms terms = {0};
    double energy = 0;
    check_ok(ctx, mn_contact_collect(s->contact, s->x, distance, &terms));
    for (int64_t i = 0; i < terms.count; i++) {
        const mn_contact_term *t = &terms.data[i];
        double first;
        const double b = t->weight * mn_barrier(t->near.distance, distance, &first, NULL);
        energy += t->mollifier * b;
        for (int k = 0; gradient && k < 4; k++) {
            mn_vec3 *g = &gradient[t->v[k]];
            *g = mn_axpy(*g, t->mollifier * t->weight * first * t->near.c[k], t->near.normal);
            *g = mn_axpy(*g, b, t->turn[k]);
        }
    }
    mn_array_free(ctx, &terms);
    return energy;
}

static void gradient_and_momenta(void **state)
{
    (void)state;
    for (int turned = 0; turned < 3; turned++) {
        scene s;
        make_scene(&s, 0.25, turned * 0.35, 0.04);
        find(&s, 0.4, 0.1);
        mn_vec3 g[VERTICES] = {{0, 0, 0}}, force = {0}, torque = {0};
        const double energy = energy_of(&s, 0.4, g);
        double size = 0;
        assert_true(energy > 0);
        for (int i = 0; i < VERTICES; i++) {
            force = mn_add(force, g[i]), torque = mn_add(torque, mn_cross(s.x[i], g[i]));
            size += mn_norm(g[i]);
        }
        check_close(mn_norm(force), 0, 1e-12 * size);
        check_close(mn_norm(torque), 0, 1e-11 * size);
        for (int i = 0; i < VERTICES; i += 5)
            for (int axis = 0; axis < 3; axis++) {
                double *x = &(&s.x[i].x)[axis], at = *x;
                *x = at + 1e-6;
                const double up = energy_of(&s, 0.4, NULL);
                *x = at - 1e-6;
                const double down = energy_of(&s, 0.4, NULL);
                *x = at;
                check_close((&g[i].x)[axis], (up - down) / 2e-6, 2e-5 * (1 + mn_norm(g[i])));
            }
        mn_contact_free(s.contact);
    }
}

/// A point that slides over the inner edges and corners of a flat sheet keeps its energy.
static void flat_surfaces_have_no_bumps(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, 5, 0, 0);
    const double height = 0.1, expected = mn_barrier(height, 0.2, NULL, NULL);
    mn_contact_terms terms = {0};
    const int32_t p = VERTICES / 2; // of the other sheet, a corner brought down
    for (int k = 0; k < 200; k++) {
        s.x[p] = mn_v3(-1.7 + 0.017 * k, height, -1.3 + 0.013 * k);
        find(&s, 0.2, 0);
        check_ok(ctx, mn_contact_weigh_edges(s.contact, s.x, 0.2, false));
        check_ok(ctx, mn_contact_collect(s.contact, s.x, 0.2, &terms));
        double energy = 0, area = 0;
        for (int64_t i = 0; i < terms.count; i++)
            if (terms.data[i].v[0] == p && !terms.data[i].is_edge_edge)
                energy += terms.data[i].weight * mn_barrier(terms.data[i].near.distance, 0.2, NULL, NULL);
        area = 2 * mn_contact_vertex_areas(s.contact)[p];
        check_close(energy / area, expected, 1e-12);
    }
    mn_array_free(ctx, &terms);
    mn_contact_free(s.contact);
}

static void candidates_miss_none(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, 0.5, 0.4, 0.2);
    find(&s, 0.3, 0.2);
    const int64_t wide = mn_contact_candidate_count(s.contact);
    const double all = energy_of(&s, 0.3, NULL);
    find(&s, 0.3, 10);
    assert_true(mn_contact_candidate_count(s.contact) > 5 * wide);
    check_close(energy_of(&s, 0.3, NULL), all, 1e-14 * all);
    mn_contact_free(s.contact);
}

static void steps_and_crossings(void **state)
{
    (void)state;
    scene s;
    make_scene(&s, 0.5, 0.4, 0.02);
    mn_vec3 dx[VERTICES];
    int32_t v[2];
    bool found;
    double fraction, gap;
    for (int i = 0; i < VERTICES; i++) dx[i] = mn_v3(0.1, s.group[i] ? -3 : 0, 0);
    find(&s, 0.1, 4);
    check_ok(ctx, mn_contact_find_crossing(s.contact, s.x, &found, v));
    assert_false(found);
    check_ok(ctx, mn_contact_longest_step(s.contact, s.x, dx, &fraction, &gap));
    assert_true(gap > 0.3 && gap < 0.5);
    assert_true(fraction > 0.1 && fraction < 0.5 / 3);
    for (int i = 0; i < VERTICES; i++) s.x[i] = mn_axpy(s.x[i], fraction, dx[i]);
    check_ok(ctx, mn_contact_find_crossing(s.contact, s.x, &found, v));
    assert_false(found);
    for (int i = 0; i < VERTICES; i++) s.x[i] = mn_axpy(s.x[i], 0.05, dx[i]);
    check_ok(ctx, mn_contact_find_crossing(s.contact, s.x, &found, v));
    assert_true(found && s.group[v[0]] != s.group[v[1]]);
    mn_contact_free(s.contact);
}

/// Two triangles in one plane touch where a corner or an edge of one is on the other, and only there.
static void surfaces_in_one_plane(void **state)
{
    (void)state;
    static const int32_t triangles[2][3] = {{0, 1, 2}, {3, 4, 5}}, group[6] = {0, 0, 0, 1, 1, 1};
    static const uint32_t flags[2] = {MN_CONTACT_SHEET, MN_CONTACT_SHEET};
    static const double stiffness[2] = {1, 1}, shifts[4] = {0.25, 0.999, 1.001, 2};
    for (int k = 0; k < 4; k++) {
        mn_vec3 x[6] = {{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {0, 0, 0}, {1, 0, 0}, {0, 0, 1}};
        for (int i = 3; i < 6; i++) x[i].x += shifts[k], x[i].z -= 0.0625;
        const mn_contact_surface surface = {6, 2, 2, x, triangles, group, flags, stiffness};
        mn_contact_pairs *contact;
        bool found;
        int32_t v[2];
        check_ok(ctx, mn_contact_create(ctx, &contact));
        check_ok(ctx, mn_contact_set_surface(contact, &surface));
        check_ok(ctx, mn_contact_sort(contact, x));
        check_ok(ctx, mn_contact_find_crossing(contact, x, &found, v));
        assert_int_equal(found, shifts[k] < 1);
        mn_contact_free(contact);
    }
}

/// -d'' by differences of d' = c n lies nowhere above the rows above zero, and is all of them where the foot
/// moves within both elements.
static void bends_are_above_the_second_derivative(void **state)
{
    (void)state;
    const double h = 1e-5;
    for (uint64_t n = 0; n < 400; n++) {
        mn_vec3 x[4], rows[4][4];
        double value[4];
        for (int k = 0; k < 12; k++) (&x[0].x)[k] = mn_random_normal(11, n, (uint64_t)k);
        mn_contact_term t = {.is_edge_edge = n % 2 == 1};
        t.near = t.is_edge_edge ? mn_closest_edge_edge(x) : mn_closest_point_triangle(x);
        if (t.near.distance < 0.05) continue;
        const int count = mn_contact_bends(&t, x, rows, value);
        for (uint64_t w = 0; w < 20; w++) {
            mn_vec3 way[4], y[2][4];
            double bend = 0, above = 0, all = 0;
            for (int k = 0; k < 12; k++) (&way[0].x)[k] = mn_random_normal(13, 20 * n + w, (uint64_t)k);
            for (int side = 0; side < 2; side++) {
                for (int k = 0; k < 4; k++) y[side][k] = mn_axpy(x[k], side ? h : -h, way[k]);
                const mn_closest near =
                    t.is_edge_edge ? mn_closest_edge_edge(y[side]) : mn_closest_point_triangle(y[side]);
                for (int k = 0; k < 4; k++)
                    bend -= (side ? 1 : -1) * near.c[k] * mn_dot(near.normal, way[k]) / (2 * h);
            }
            for (int k = 0; k < count; k++) {
                double along = 0;
                for (int i = 0; i < 4; i++) along += mn_dot(rows[k][i], way[i]);
                above += fmax(value[k], 0) * along * along, all += value[k] * along * along;
            }
            if (count == 4) assert_true(fabs(bend - all) <= 1e-3 * (1 + fabs(above)));
            assert_true(bend <= above + 1e-3 * (1 + fabs(above)));
        }
    }
}

/// Two edges of one surface whose triangles share a corner meet where it folds, flat and hollow as they are:
/// no point comes near anything there, so they must push (heap 74 of row C3 stood still without it).
static void edges_of_a_fold_push(void **state)
{
    (void)state;
    const mn_vec3 x[7] = {{0, 0, 0},    {1, 0, -1},   {1, 0, 1},  {4, 0, 0},
                          {2, 0.01, 0}, {1, 1, -0.5}, {1, 1, 0.5}}; // c a b f d g e
    const int32_t triangles[4][3] = {{0, 2, 1}, {1, 2, 3}, {0, 4, 5}, {4, 0, 6}};
    const int32_t group[7] = {0};
    const uint32_t flags[1] = {MN_CONTACT_SELF};
    const double stiffness[1] = {1}, distance = 0.1;
    const double reach[7] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1}, group_reach[1] = {0};
    const mn_contact_surface surface = {7, 4, 1, x, triangles, group, flags, stiffness};
    mn_contact_pairs *contact;
    mn_contact_terms terms = {0};
    check_ok(ctx, mn_contact_create(ctx, &contact));
    check_ok(ctx, mn_contact_set_surface(contact, &surface));
    check_ok(ctx, mn_contact_find_candidates(contact, x, reach, group_reach, distance));
    check_ok(ctx, mn_contact_weigh_edges(contact, x, distance, false));
    check_ok(ctx, mn_contact_collect(contact, x, distance, &terms));
    bool found = false;
    for (int64_t i = 0; i < terms.count; i++) {
        const mn_contact_term *t = &terms.data[i];
        int32_t ends = 0;
        for (int k = 0; k < 4; k++) ends += t->v[k] == 0 || t->v[k] == 1 || t->v[k] == 2 || t->v[k] == 4;
        if (!t->is_edge_edge || ends != 4) continue;
        found = true;
        check_close(t->near.distance, 0.005, 1e-4);
        assert_true(t->weight > 0.1);
    }
    assert_true(found);
    mn_array_free(ctx, &terms);
    mn_contact_free(contact);
}

/// A point over hundreds of triangles that are much smaller than the distance is pushed away as by one.
static void crowds_of_small_triangles_push(void **state)
{
    (void)state;
    enum { SIDE = 24, POINTS = (SIDE + 1) * (SIDE + 1) + 3 };
    static mn_vec3 x[POINTS];
    static int32_t triangles[2 * SIDE * SIDE + 1][3], group[POINTS];
    static double reach[POINTS];
    int32_t count = 0;
    for (int i = 0; i <= SIDE; i++)
        for (int j = 0; j <= SIDE; j++) x[count++] = mn_v3(0.01 * (i - SIDE / 2), 0, 0.01 * (j - SIDE / 2));
    int32_t elements = 0;
    for (int i = 0; i < SIDE; i++)
        for (int j = 0; j < SIDE; j++) {
            const int32_t a = (SIDE + 1) * i + j, b = a + 1, c = a + SIDE + 1, d = c + 1;
            memcpy(triangles[elements++], (int32_t[3]){a, b, d}, sizeof *triangles);
            memcpy(triangles[elements++], (int32_t[3]){a, d, c}, sizeof *triangles);
        }
    const int32_t p = count; // the corner of a triangle that stands on the point
    x[count++] = mn_v3(0.003, 0.05, 0.004), x[count++] = mn_v3(1, 2, 0), x[count++] = mn_v3(-1, 2, 0);
    memcpy(triangles[elements++], (int32_t[3]){p, p + 1, p + 2}, sizeof *triangles);
    for (int32_t i = 0; i < count; i++) group[i] = i >= p, reach[i] = 0;
    const uint32_t flags[2] = {MN_CONTACT_FIXED, 0};
    const double stiffness[2] = {1, 1}, group_reach[2] = {0, 0}, distance = 0.15;
    const mn_contact_surface surface = {count, elements, 2,        x, (const int32_t(*)[3])triangles,
                                        group, flags,    stiffness};
    mn_contact_pairs *contact;
    mn_contact_terms terms = {0};
    check_ok(ctx, mn_contact_create(ctx, &contact));
    check_ok(ctx, mn_contact_set_surface(contact, &surface));
    check_ok(ctx, mn_contact_find_candidates(contact, x, reach, group_reach, distance));
    check_ok(ctx, mn_contact_collect(contact, x, distance, &terms));
    int32_t found = 0;
    for (int64_t i = 0; i < terms.count; i++) {
        const mn_contact_term *t = &terms.data[i];
        if (t->is_edge_edge || t->v[0] != p) continue;
        found++;
        check_close(t->near.distance, 0.05, 1e-12);
        check_close(t->weight, mn_contact_vertex_areas(contact)[p], 1e-12);
    }
    assert_int_equal(found, 1);
    mn_array_free(ctx, &terms);
    mn_contact_free(contact);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_and_momenta),  cmocka_unit_test(flat_surfaces_have_no_bumps),
        cmocka_unit_test(edges_of_a_fold_push),  cmocka_unit_test(crowds_of_small_triangles_push),
        cmocka_unit_test(candidates_miss_none),  cmocka_unit_test(steps_and_crossings),
        cmocka_unit_test(surfaces_in_one_plane), cmocka_unit_test(bends_are_above_the_second_derivative),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
