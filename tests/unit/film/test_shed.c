// SPDX-License-Identifier: Apache-2.0
//
// Volumes that a mesh cannot hold: too small ones become drops, flat tetrahedra that hold steps up go, and
// bodies all of whose faces are new are remeshed; mass and momentum are kept to rounding.
#include "film/film_state.h"
#include "meniscus/tetmesh.h"
#include "support/one_context.h"
#include "support/tet_shapes.h"

static const double size = 1e-3; // m, of edges

static mn_film *film_of(void)
{
    mn_film_def def = mn_film_default_def();
    mn_film *film;
    def.size = size, def.sigma = 0.07, def.max_dt = 1e-4, def.gravity = mn_v3(0, 0, 0);
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    return film;
}

// Scaled, moved, with a velocity that varies from vertex to vertex.
static void add_body(mn_film *film, mn_tet_mesh *mesh, double width, mn_vec3 centre)
{
    MN_ARRAY(mn_vec3) v = {0};
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 velocity = {0.1 + 0.01 * i, -0.2, 0.02 * (i % 3)};
        mn_tet_mesh_move_vertex(mesh, i, mn_axpy(centre, width, mesh->position[i]));
        check_ok(ctx, mn_array_push(ctx, &v, &velocity));
    }
    const mn_film_source source = {.point_count = mesh->vertex_slots,
                                   .positions = mesh->position,
                                   .velocities = v.data,
                                   .tet_count = mesh->tet_slots,
                                   .tets = (const int32_t(*)[4])mesh->tet};
    check_ok(ctx, mn_film_add(film, &source));
    mn_array_free(ctx, &v);
    mn_tet_mesh_free(mesh);
}

typedef struct books {
    double mass;
    mn_vec3 momentum, centre;
} books;

static books books_of(const mn_film *film)
{
    mn_report report = {0};
    mn_film_report(film, &report);
    const double *p = report.value[MN_REPORT_momentum], *x = report.value[MN_REPORT_center];
    return (books){report.value[MN_REPORT_mass][0], {p[0], p[1], p[2]}, {x[0], x[1], x[2]}};
}

static void check_books(const mn_film *film, books before)
{
    const books now = books_of(film);
    check_close(now.mass, before.mass, 1e-14 * before.mass);
    check_close(mn_distance(now.momentum, before.momentum), 0, 1e-14 * mn_norm(before.momentum));
    check_ok(ctx, mn_complex_check(&film->c));
}

static bool shed(mn_film *film, double dt)
{
    bool changed = false;
    check_ok(ctx, mn_film_shed(film, dt, &changed));
    check_ok(ctx, mn_complex_compact(&film->c));
    return changed;
}

/// A crumb becomes one drop at its centre of mass; a body beside it stays.
static void test_a_crumb_becomes_a_drop(void **state)
{
    (void)state;
    mn_film *film = film_of();
    add_body(film, tet_block(ctx, 2), 2 * size, mn_v3(0, 0, 0));
    const int64_t tets = film->c.tets.count;
    add_body(film, tet_block(ctx, 1), 0.4 * size, mn_v3(8 * size, 0, 0));
    const books before = books_of(film);
    assert_true(shed(film, 1e-4));
    check_books(film, before);
    check_close(mn_distance(books_of(film).centre, before.centre), 0, 1e-14 * size);
    assert_true(film->c.tets.count == tets && mn_film_get_ledger(film).shed == 1);
    int32_t drops = 0;
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        drops += film->c.vertices.data[v].first < 0 && film->c.vertices.data[v].first_tet < 0;
    assert_int_equal(drops, 1);
    assert_false(shed(film, 1e-4));
    mn_film_free(film);
}

/// Where a film hangs on a crumb, the film has its liquid.
static void test_a_film_takes_its_crumb(void **state)
{
    (void)state;
    mn_film *film = film_of();
    add_body(film, tet_block(ctx, 1), 0.4 * size, mn_v3(0, 0, 0));
    mn_complex *c = &film->c;
    const mn_complex_vertex far = {.position = {2 * size, 0, 0}, .mass = 1e-9, .wire = {-1, -1}};
    mn_complex_begin(c);
    const int32_t a = c->triangles.data[0].v[0], b = c->triangles.data[0].v[1];
    assert_true(mn_complex_add_triangle(c, a, b, mn_complex_add_vertex(c, &far), 0, 0) >= 0);
    mn_complex_commit(c);
    const books before = books_of(film);
    assert_true(shed(film, 1e-4));
    check_books(film, before);
    assert_true(c->tets.count == 0 && c->triangles.count == 1 && c->vertices.count == 3);
    mn_film_free(film);
}

/// A flat tetrahedron on the surface goes where steps have become far too short, and only there.
static void test_a_flat_tetrahedron_goes(void **state)
{
    (void)state;
    mn_film *film = film_of();
    add_body(film, tet_block(ctx, 3), 3 * size, mn_v3(0, 0, 0));
    mn_complex *c = &film->c;
    const int64_t tets = c->tets.count;
    // A vertex inside is pressed almost into a face of the surface.
    int32_t t = -1, apex = -1;
    for (int32_t i = 0; i < (int32_t)tets && t < 0; i++)
        for (int k = 0; k < 4; k++) {
            const int32_t *v = c->tets.data[i].v, *f = mn_tet_face_corners[k];
            if (c->vertices.data[v[k]].first < 0 && mn_complex_find(c, v[f[0]], v[f[1]], v[f[2]], -1) >= 0)
                t = i, apex = v[k];
        }
    assert_true(t >= 0);
    mn_vec3 middle = {0};
    for (int k = 0; k < 4; k++)
        if (c->tets.data[t].v[k] != apex)
            middle = mn_axpy(middle, 1.0 / 3, mn_complex_position(c, c->tets.data[t].v[k]));
    c->vertices.data[apex].position = mn_lerp(middle, mn_complex_position(c, apex), 0.01);
    const books before = books_of(film);
    assert_true(!shed(film, 1e-4) && c->tets.count == tets);
    assert_true(shed(film, 1e-9));
    assert_true(c->tets.count < tets && mn_film_get_ledger(film).shed == tets - c->tets.count);
    check_books(film, before);
    mn_film_free(film);
}

/// A body of which no face stays as it was is remeshed like any other: its new faces face what those before
/// them did. It was left as it is before, in silence, until no step could move it.
static void test_new_faces_know_what_they_face(void **state)
{
    (void)state;
    mn_film *film = film_of();
    add_body(film, tet_block(ctx, 1), 3 * size, mn_v3(0, 0, 0));
    bool changed = false;
    const books before = books_of(film);
    check_ok(ctx, mn_film_bulk_remesh(film, &changed));
    assert_true(changed);
    check_ok(ctx, mn_complex_compact(&film->c)); // reports are of films without gaps, as advances leave them
    const books now = books_of(film);
    check_close(now.mass, before.mass, 1e-13 * before.mass);
    check_close(mn_distance(now.momentum, before.momentum), 0, 1e-13 * mn_norm(before.momentum));
    check_ok(ctx, mn_complex_check(&film->c));
    for (int32_t t = 0; t < (int32_t)film->c.triangles.count; t++) {
        const mn_complex_triangle *face = &film->c.triangles.data[t];
        for (int k = 0; k < 3 && face->v[0] >= 0; k++)
            assert_true(mn_distance(mn_complex_position(&film->c, face->v[k]),
                                    mn_complex_position(&film->c, face->v[(k + 1) % 3])) < 2 * size);
    }
    mn_film_free(film);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_crumb_becomes_a_drop),
        cmocka_unit_test(test_a_film_takes_its_crumb),
        cmocka_unit_test(test_a_flat_tetrahedron_goes),
        cmocka_unit_test(test_new_faces_know_what_they_face),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
