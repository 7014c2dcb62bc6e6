// SPDX-License-Identifier: Apache-2.0
//
// Moves of the complex: invariants after each, mass and momentum kept, undo to the last bit.
#include "support/film_bubbles.h"
#include "support/one_context.h"

#include "base/random.h"
#include "meniscus/context.h"
#include "meniscus/film.h"

static void make_triple(mn_complex *c)
{
    const mn_vec3 x[3] = {{-0.5, 0, 0}, {0.5, 0, 0}, {0, 0.87, 0}};
    const double r[3] = {1, 1, 1};
    mn_complex_init(c, ctx);
    check_ok(ctx, mn_film_cluster(c, 3, x, r, 0.3, 1000000));
    for (int64_t v = 0; v < c->vertices.count; v++) {
        c->vertices.data[v].mass = 0.5 + mn_random_unit(3, (uint64_t)v, 0);
        c->vertices.data[v].velocity = mn_random_direction(3, (uint64_t)v, 1);
    }
}

static double mass_of(const mn_complex *c)
{
    double sum = 0;
    for (int64_t v = 0; v < c->vertices.count; v++)
        sum += c->vertices.data[v].alive ? c->vertices.data[v].mass : 0;
    return sum;
}

static mn_vec3 momentum_of(const mn_complex *c)
{
    mn_vec3 sum = {0};
    for (int64_t v = 0; v < c->vertices.count; v++)
        if (c->vertices.data[v].alive)
            sum = mn_axpy(sum, c->vertices.data[v].mass, c->vertices.data[v].velocity);
    return sum;
}

static void a_cluster_is_whole_and_labelled(void **state)
{
    (void)state;
    mn_complex c;
    make_triple(&c);
    check_ok(ctx, mn_complex_check(&c));
    bool seen[4] = {false};
    int64_t borders = 0;
    for (int64_t t = 0; t < c.triangles.count; t++) {
        for (int k = 0; k < 2; k++) seen[c.triangles.data[t].region[k]] = true;
        assert_int_not_equal(c.triangles.data[t].region[0], c.triangles.data[t].region[1]);
    }
    for (int32_t v = 0; v < (int32_t)c.vertices.count; v++)
        borders += mn_complex_class_of(&c, v) != MN_COMPLEX_INSIDE;
    assert_true(seen[0] && seen[1] && seen[2] && seen[3]);
    assert_true(borders > 10);
    mn_complex_free(&c);
}

// What a film shrank to may come to lie in another one: liquid stays, and the points of the film are
// ordinary.
static void threads_in_a_film_are_taken_up(void **state)
{
    (void)state;
    mn_complex c;
    mn_remesh_counts counts = {0};
    make_triple(&c);
    const double mass = mass_of(&c);
    const int32_t *v = c.triangles.data[0].v;
    assert_true(mn_complex_add_segment(&c, v[0], v[1]) >= 0);
    check_ok(ctx, mn_complex_check(&c));
    check_ok(ctx, mn_complex_remesh(&c, 0, 1e9, &counts));
    for (int64_t s = 0; s < c.segments.count; s++) assert_true(c.segments.data[s].v[0] < 0);
    check_close(mass_of(&c), mass, 1e-13 * mass);
    check_ok(ctx, mn_complex_check(&c));
    mn_complex_free(&c);
}

static void contradicting_regions_are_named(void **state)
{
    (void)state;
    mn_complex c;
    make_triple(&c);
    const int32_t other = (c.triangles.data[7].region[0] + 1) % 4;
    c.triangles.data[7].region[0] = other == c.triangles.data[7].region[1] ? (other + 1) % 4 : other;
    assert_int_equal(mn_complex_check(&c), MN_ERROR_INPUT);
    assert_non_null(strstr(mn_context_message(ctx), "contradict"));
    mn_complex_free(&c);
}

static void remeshing_keeps_mass_and_momentum(void **state)
{
    (void)state;
    mn_complex c;
    make_triple(&c);
    const double mass = mass_of(&c);
    const mn_vec3 momentum = momentum_of(&c);
    mn_remesh_counts counts = {0};
    for (int i = 0; i < 4; i++) { // finer, then coarser
        check_ok(ctx, mn_complex_remesh(&c, i < 2 ? 0.05 : 0.3, i < 2 ? 0.25 : 0.8, &counts));
        check_ok(ctx, mn_complex_check(&c));
        check_ok(ctx, mn_complex_compact(&c));
        check_ok(ctx, mn_complex_check(&c));
    }
    assert_true(counts.splits > 100 && counts.collapses > 100 && counts.flips > 50);
    check_close(mass_of(&c), mass, 1e-13 * mass);
    check_close(mn_distance(momentum_of(&c), momentum), 0, 1e-13 * mass);
    mn_complex_free(&c);
}

// Every vertex of a border is peeled, opened and merged as far as that goes; undone, all is as before.
static void moves_are_undone_to_the_last_bit(void **state)
{
    (void)state;
    mn_complex c;
    make_triple(&c);
    const size_t vertices = (size_t)c.vertices.count * sizeof(mn_complex_vertex);
    const size_t triangles = (size_t)c.triangles.count * sizeof(mn_complex_triangle);
    mn_complex_vertex *v0 = malloc(vertices);
    mn_complex_triangle *t0 = malloc(triangles);
    memcpy(v0, c.vertices.data, vertices);
    memcpy(t0, c.triangles.data, triangles);
    int tried = 0, done = 0;
    for (int32_t v = 0; v < (int32_t)(vertices / sizeof(mn_complex_vertex)); v++) {
        mn_sectors s;
        if (!mn_sectors_build(&c, &v, 1, &s) || s.sector_count < 3) continue;
        int32_t neighbours[2 * MN_COMPLEX_STAR_MAX];
        mn_complex_neighbours(&c, v, neighbours, 2 * MN_COMPLEX_STAR_MAX);
        for (int32_t a = -1; a < s.sector_count; a++) {
            const double mass = mass_of(&c);
            mn_resolve_list made = {1, {v}};
            mn_complex_begin(&c);
            tried++;
            const bool moved = a < 0 ? mn_complex_merge(&c, v, neighbours[0], mn_complex_position(&c, v))
                                     : mn_peel(&c, v, &s, a, 0.1, &made);
            if (moved) {
                done++;
                check_ok(ctx, mn_complex_check(&c));
                check_close(mass_of(&c), mass, 1e-13 * mass);
            }
            mn_complex_undo(&c);
            assert_memory_equal(v0, c.vertices.data, vertices);
            assert_memory_equal(t0, c.triangles.data, triangles);
        }
    }
    assert_true(tried > 50 && done > 30);
    free(v0), free(t0);
    mn_complex_free(&c);
}

// Twelve films at one point: moves of falling area make the thirteen films of the cube.
static void a_cone_in_a_cube_is_peeled(void **state)
{
    (void)state;
    const mn_film_def def = bubbles_def(0.2);
    mn_film *film = bubbles_cube(ctx, &def);
    mn_resolve_list list = {1, {8}};
    mn_sectors s;
    assert_true(mn_sectors_build(&film->c, list.vertex, 1, &s));
    assert_int_equal(s.sector_count, 6); // one region, but six openings
    mn_complex_begin(&film->c);
    assert_true(mn_resolve(&film->c, &list, 0.2));
    mn_complex_commit(&film->c);
    check_ok(ctx, mn_film_check(film));
    assert_int_equal(bubbles_disorder(film), 0);
    int32_t points = 0;
    for (int32_t v = 0; v < (int32_t)film->c.vertices.count; v++)
        points += mn_complex_class_of(&film->c, v) == MN_COMPLEX_POINT;
    assert_int_equal(points, 4); // the corners of the square in the middle
    mn_film_free(film);
}

static void a_puncture_joins_regions(void **state)
{
    (void)state;
    mn_complex c;
    make_triple(&c);
    const double mass = mass_of(&c);
    const mn_vec3 momentum = momentum_of(&c);
    for (int32_t v = 0; v < (int32_t)c.vertices.count; v++) {
        if (mn_complex_class_of(&c, v) != MN_COMPLEX_INSIDE) continue;
        int32_t joined[2 * MN_PUNCTURE_MAX], count;
        assert_true(mn_film_puncture(&c, v, joined, &count));
        assert_int_equal(count, 1);
        assert_true(joined[0] < joined[1]);
        for (int64_t t = 0; t < c.triangles.count; t++)
            for (int k = 0; k < 2; k++)
                if (c.triangles.data[t].region[k] == joined[1]) c.triangles.data[t].region[k] = joined[0];
        break;
    }
    check_ok(ctx, mn_complex_check(&c));
    check_close(mass_of(&c), mass, 1e-13 * mass);
    check_close(mn_distance(momentum_of(&c), momentum), 0, 1e-13 * mass);
    mn_complex_free(&c);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_cluster_is_whole_and_labelled),
        cmocka_unit_test(threads_in_a_film_are_taken_up),
        cmocka_unit_test(contradicting_regions_are_named),
        cmocka_unit_test(remeshing_keeps_mass_and_momentum),
        cmocka_unit_test(moves_are_undone_to_the_last_bit),
        cmocka_unit_test(a_cone_in_a_cube_is_peeled),
        cmocka_unit_test(a_puncture_joins_regions),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
