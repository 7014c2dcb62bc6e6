// SPDX-License-Identifier: Apache-2.0
//
// The skin of a film is closed, holds its volume and keeps its sides apart.
#include "mesh/film_skin.h"
#include "support/check.h"
#include "trimesh/triangles.h"

static void check_closed(mn_context *ctx, const mn_film_skin_mesh *mesh, double *volume)
{
    mn_vec3 *x = malloc(sizeof *x * (size_t)mesh->vertex_count);
    int32_t(*t)[3] = malloc(sizeof *t * (size_t)mesh->triangle_count);
    for (int64_t i = 0; i < mesh->vertex_count; i++) x[i] = mesh->vertices[i].position;
    for (int64_t i = 0; i < mesh->triangle_count; i++)
        for (int k = 0; k < 3; k++) t[i][k] = (int32_t)mesh->triangles[i][k];
    mn_triangles *triangles = NULL;
    check_ok(ctx, mn_triangles_create(ctx, mesh->vertex_count, x, mesh->triangle_count,
                                      (const int32_t(*)[3])t, &triangles));
    // Places that touch share positions, so edges are counted by vertices: each once in either direction.
    for (int64_t i = 0; i < 3 * mesh->triangle_count; i++) {
        const int32_t a = t[i / 3][i % 3], b = t[i / 3][(i + 1) % 3];
        int same = 0, back = 0;
        for (int64_t j = 0; j < 3 * mesh->triangle_count; j++) {
            const int32_t c = t[j / 3][j % 3], d = t[j / 3][(j + 1) % 3];
            same += a == c && b == d, back += a == d && b == c;
        }
        assert_true(same == 1 && back == 1);
    }
    *volume = mn_triangles_volume(triangles);
    mn_triangles_free(triangles);
    free(x), free(t);
}

// A square of unit edge, 2 n n triangles, with a lone point beside it.
static void square_and_drop(void **state)
{
    (void)state;
    enum { N = 8 };
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[(N + 1) * (N + 1) + 1];
    double h[(N + 1) * (N + 1) + 1];
    int32_t t[2 * N * N][3];
    for (int i = 0; i <= N; i++)
        for (int j = 0; j <= N; j++) x[i * (N + 1) + j] = mn_v3((double)i / N, (double)j / N, 0);
    x[(N + 1) * (N + 1)] = mn_v3(3, 0, 0);
    for (int i = 0; i < (N + 1) * (N + 1) + 1; i++) h[i] = 0.02;
    for (int i = 0; i < N * N; i++) {
        const int32_t a = i / N * (N + 1) + i % N;
        memcpy(t[2 * i], (int32_t[3]){a, a + N + 1, a + N + 2}, sizeof t[0]);
        memcpy(t[2 * i + 1], (int32_t[3]){a, a + N + 2, a + 1}, sizeof t[0]);
    }
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_film_skin_def def = mn_film_skin_default_def();
    def.min_thickness = 0.001, def.smooth = 0, def.drops = false;
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    const mn_film_sheet sheet = {(N + 1) * (N + 1) + 1,  x, h,    2 * N * N,
                                 (const int32_t(*)[3])t, 0, NULL, NULL};
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    double volume, with_drop;
    check_closed(ctx, &mesh, &volume);
    // The sheet and a half round rim: an octagon's half inside the circle of radius h/2.
    const double rim = 4 * 0.5 * (0.01 * 0.01) * 2 * sqrt(2);
    check_close(volume, 0.02 + rim, 0.05 * rim);
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        check_close(mn_norm(mesh.vertices[i].normal), 1, 1e-12);
        check_close(mn_distance(mesh.vertices[i].position, x[mesh.vertices[i].point]), 0.01, 1e-12);
    }
    def.drops = true;
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    check_closed(ctx, &mesh, &with_drop);
    const double ball = 4.0 / 3 * 3.14159265358979 * 1e-6;
    check_close(with_drop - volume, ball, 1e-6 * ball);
    // And it is round: the middle of no edge lies deeper than two of a hundred parts.
    for (int64_t k = 0; k < 3 * mesh.triangle_count; k++) {
        const mn_film_skin_vertex *a = &mesh.vertices[mesh.triangles[k / 3][k % 3]],
                                  *b = &mesh.vertices[mesh.triangles[k / 3][(k + 1) % 3]];
        const mn_vec3 middle = mn_scale(0.5, mn_add(a->position, b->position));
        if (a->point == (N + 1) * (N + 1)) assert_true(mn_distance(middle, x[a->point]) > 0.98 * 0.01);
    }
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

// Two triangles that share a point only, one edge with three triangles, triangles that face each other:
// closed.
// A point in a crowd: its liquid stands on a ten thousandth of an even point's area.
static void a_crowded_point_is_no_needle(void **state)
{
    (void)state;
    enum { RING = 6 };
    mn_context *ctx = mn_context_create(NULL);
    const double near = 0.01, even = 0.001, volume = even * 0.5;
    mn_vec3 x[2 * RING + 1] = {{0, 0, 0}};
    double h[2 * RING + 1];
    int32_t t[3 * RING][3];
    for (int i = 0; i < RING; i++) {
        const mn_vec3 out = {cos(2 * M_PI * i / RING), sin(2 * M_PI * i / RING), 0};
        const int32_t a = 1 + i, b = 1 + (i + 1) % RING, c = a + RING, d = b + RING;
        x[a] = mn_scale(near, out), x[c] = out;
        h[a] = h[c] = even;
        memcpy(t[i], (int32_t[3]){0, a, b}, sizeof t[0]);
        memcpy(t[RING + i], (int32_t[3]){a, c, d}, sizeof t[0]);
        memcpy(t[2 * RING + i], (int32_t[3]){a, d, b}, sizeof t[0]);
    }
    h[0] = volume / (0.5 * sqrt(3) * near * near); // a third of six triangles: five metres high
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_film_skin_def def = mn_film_skin_default_def();
    def.smooth = 0;
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    const mn_film_sheet sheet = {2 * RING + 1, x, h, 3 * RING, (const int32_t(*)[3])t, 0, NULL, NULL};
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    const double ball = cbrt(6 / M_PI * volume);
    double highest = 0, rest = 0;
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        double *most = mesh.vertices[i].point == 0 ? &highest : &rest;
        *most = fmax(*most, mesh.vertices[i].position.z);
    }
    check_close(highest, 0.75 * ball, 1e-9); // half of one and a half diameters
    check_close(rest, 0.5 * even, 1e-12);    // and what is even is drawn as it is
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

static void odd_sheets_are_closed(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_vec3 x[7] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, 1}, {1, 1, 0}};
    const double h[7] = {0.1, 0.1, 0.1, 0.1, 0.1, 0.1, 0.1};
    const int32_t touching[2][3] = {{0, 1, 2}, {0, 3, 4}}, crowded[3][3] = {{0, 1, 2}, {1, 0, 4}, {0, 1, 5}},
                  flipped[2][3] = {{0, 1, 2}, {1, 2, 6}};
    const mn_film_sheet sheets[3] = {{7, x, h, 2, touching, 0, NULL, NULL},
                                     {7, x, h, 3, crowded, 0, NULL, NULL},
                                     {7, x, h, 2, flipped, 0, NULL, NULL}};
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_film_skin_def def = mn_film_skin_default_def();
    def.drops = false;
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    for (int i = 0; i < 3; i++) {
        double volume;
        check_ok(ctx, mn_film_skin_run(skin, &def, &sheets[i], &mesh));
        check_closed(ctx, &mesh, &volume);
        assert_true(volume > 0);
    }
    const int32_t wrong[1][3] = {{0, 1, 7}};
    check_fails(ctx, mn_film_skin_run(skin, &def, &(mn_film_sheet){7, x, h, 1, wrong, 0, NULL, NULL}, &mesh),
                MN_ERROR_INPUT, "does not exist");
    check_ok(ctx, mn_film_skin_run(skin, &def, &(mn_film_sheet){0}, &mesh));
    assert_int_equal(mesh.vertex_count, 0);
    def.min_thickness = 0;
    check_fails(ctx, mn_film_skin_run(skin, &def, &sheets[0], &mesh), MN_ERROR_ARGUMENT, "min_thickness");
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

// Straight tubes have the volume of their thread and of the half balls at its ends; branches, rings, doubled
// and empty links are closed as well.
// Two points of a thread so near to each other that their liquid would be a disc of a metre.
static void a_crowded_thread_is_no_disc(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    const mn_vec3 x[2] = {{0, 0, 0}, {0.001, 0, 0}};
    const double h[2] = {1, 1};
    const int32_t links[1][2] = {{0, 1}};
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    const mn_film_skin_def def = mn_film_skin_default_def();
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    const mn_film_sheet sheet = {2, x, h, 0, NULL, 1, links, NULL};
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    const double ball = cbrt(6 / M_PI * (0.25 * M_PI * 0.001)); // 0.11 m
    double widest = 0;
    for (int64_t i = 0; i < mesh.vertex_count; i++)
        widest = fmax(widest, hypot(mesh.vertices[i].position.y, mesh.vertices[i].position.z));
    check_close(widest, 0.5 * ball, 1e-9);
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

static void threads_are_closed_tubes(void **state)
{
    (void)state;
    enum { N = 21 };
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[2 * N];
    double h[2 * N];
    int32_t links[2 * N][2];
    for (int i = 0; i < N; i++) {
        x[i] = mn_v3(0.05 * i, 0.3, 0.1);
        x[N + i] = mn_v3(3 + 0.3 * cos(0.3 * i), 0.3 * sin(0.3 * i), 0); // about once around
        h[i] = h[N + i] = 0.02;
    }
    for (int i = 0; i < N - 1; i++) links[i][0] = i, links[i][1] = i + 1;
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_film_skin_def def = mn_film_skin_default_def();
    def.min_thickness = 0.001, def.max_thickness = 0.01,
    def.drops = false; // of films: threads are as they are
    double volume;
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    mn_film_sheet sheet = {2 * N, x, h, 0, NULL, N - 1, (const int32_t(*)[2])links, NULL};
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    check_closed(ctx, &mesh, &volume);
    const double section = 0.5 * 12 * sin(3.14159265358979 / 6) * 0.0001; // of the twelve-sided tube
    check_close(volume, section * (1 + 4.0 / 3 * 0.01), 0.02 * section);
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        check_close(mn_norm(mesh.vertices[i].normal), 1, 1e-12);
        assert_true(mesh.vertices[i].part >= 0 && mesh.vertices[i].part <= 1);
    }
    // A ring, with a branch that ends in its middle, a link from a point to itself, and one that stands
    // twice.
    int32_t odd[N + 4][2];
    for (int i = 0; i < N; i++) odd[i][0] = N + i, odd[i][1] = N + (i + 1) % N;
    odd[N][0] = N + 3, odd[N][1] = 0;
    odd[N + 1][0] = odd[N + 1][1] = 5;
    odd[N + 2][0] = N + 7, odd[N + 2][1] = N + 8;
    odd[N + 3][0] = 1, odd[N + 3][1] = 0;
    sheet.links = (const int32_t(*)[2])odd, sheet.link_count = N + 4;
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    check_closed(ctx, &mesh, &volume);
    assert_true(volume > 0);
    // All in one place; and the end of a thread on a film.
    for (int i = 0; i < N; i++) x[i] = mn_v3(0, 0, 0);
    sheet.links = (const int32_t(*)[2])links, sheet.link_count = N - 1;
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    for (int64_t i = 0; i < mesh.vertex_count; i++) assert_true(mn_is_finite3(mesh.vertices[i].position));
    const mn_vec3 corners[5] = {{0, 0, 0}, {1, 0, 0}, {0, 0, -1}, {0, 0.5, 0}, {0, 1, 0}};
    const int32_t triangle[1][3] = {{0, 1, 2}}, hanging[2][2] = {{0, 3}, {3, 4}};
    check_ok(ctx, mn_film_skin_run(skin, &def, &(mn_film_sheet){5, corners, h, 1, triangle, 2, hanging, NULL},
                                   &mesh));
    check_closed(ctx, &mesh, &volume);
    links[0][1] = 2 * N;
    check_fails(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh), MN_ERROR_INPUT, "does not exist");
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

// A thread six links thick, hung on the middle of a film by a link that leads aside: it ends where it is, and
// is no wider there.
static void thick_threads_end_at_their_film(void **state)
{
    (void)state;
    enum { FILM = 7, N = 8 };
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[FILM + N] = {{0.03, 0, 0.02}};
    double h[FILM + N] = {0.01};
    int32_t links[N][2] = {{0, FILM}}, triangles[6][3];
    for (int i = 0; i < 6; i++) {
        const double angle = 3.14159265358979 / 3 * i;
        x[1 + i] = mn_add(x[0], mn_v3(0.1 * cos(angle), 0, 0.1 * sin(angle))), h[1 + i] = 0.01;
        triangles[i][0] = 0, triangles[i][1] = 1 + i, triangles[i][2] = 1 + (i + 1) % 6;
    }
    for (int i = 0; i < N; i++) x[FILM + i] = mn_v3(0, -0.05 * i, 0), h[FILM + i] = 0.3;
    for (int i = 1; i < N; i++) links[i][0] = FILM + i - 1, links[i][1] = FILM + i;
    mn_film_skin *skin = NULL;
    mn_film_skin_mesh mesh;
    mn_film_skin_def def = mn_film_skin_default_def();
    def.min_thickness = 0.001, def.smooth = 0;
    double volume;
    check_ok(ctx, mn_film_skin_create(ctx, &skin));
    const mn_film_sheet sheet = {
        FILM + N, x, h, 6, (const int32_t(*)[3])triangles, N, (const int32_t(*)[2])links, NULL};
    check_ok(ctx, mn_film_skin_run(skin, &def, &sheet, &mesh));
    check_closed(ctx, &mesh, &volume);
    for (int64_t i = 0; i < mesh.vertex_count; i++) {
        const mn_vec3 at = mesh.vertices[i].position;
        if (mesh.vertices[i].point < FILM && mesh.vertices[i].other < FILM) continue; // of the film
        assert_true(hypot(at.x, at.z) < 0.15 + 1e-9);                                 // its radius
        assert_true(at.y < 0.1);                                                      // flatter than a ball
    }
    mn_film_skin_free(skin);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(square_and_drop),
        cmocka_unit_test(odd_sheets_are_closed),
        cmocka_unit_test(a_crowded_point_is_no_needle),
        cmocka_unit_test(a_crowded_thread_is_no_disc),
        cmocka_unit_test(threads_are_closed_tubes),
        cmocka_unit_test(thick_threads_end_at_their_film),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
