// SPDX-License-Identifier: Apache-2.0
//
// Volumes that come into a complex and come together there: jets out of pipes and bodies that meet keep the
// books of mass and momentum to rounding, and resume to the same bits.
#include "film/film_state.h"
#include "meniscus/tet.h"
#include "support/one_context.h"
#include "support/stream_buffer.h"
#include "support/tet_shapes.h"

static const double width = 2e-3; // m, of bodies

static mn_tet_mesh *body_at(mn_tet_mesh *mesh, mn_vec3 centre)
{
    for (int32_t v = 0; v < mesh->vertex_slots; v++)
        mn_tet_mesh_move_vertex(mesh, v, mn_axpy(centre, width, mesh->position[v]));
    return mesh;
}

static mn_film *film_of(double sigma)
{
    mn_film_def def = mn_film_default_def();
    mn_film *film;
    def.size = width / 3, def.sigma = sigma, def.viscosity = 0.01, def.density = 1000, def.max_dt = 2e-4;
    check_ok(ctx, mn_film_create(ctx, &def, &film));
    return film;
}

static void add_body(mn_film *film, const mn_tet_mesh *mesh, mn_vec3 velocity)
{
    MN_ARRAY(mn_vec3) v = {0};
    for (int32_t i = 0; i < mesh->vertex_slots; i++) check_ok(ctx, mn_array_push(ctx, &v, &velocity));
    const mn_film_source source = {.point_count = mesh->vertex_slots,
                                   .positions = mesh->position,
                                   .velocities = v.data,
                                   .tet_count = mesh->tet_slots,
                                   .tets = (const int32_t(*)[4])mesh->tet};
    check_ok(ctx, mn_film_add(film, &source));
    mn_array_free(ctx, &v);
}

static double mass_of(const mn_film *film, mn_vec3 *momentum)
{
    mn_report report = {0};
    mn_film_report(film, &report);
    const double *p = report.value[MN_REPORT_momentum];
    *momentum = mn_v3(p[0], p[1], p[2]);
    return report.value[MN_REPORT_mass][0];
}

/// Two jets without tension fly on as they came: all that is there came in, with the momentum that it came
/// with, at the rate of the pipes.
static void test_jets_keep_the_books(void **state)
{
    (void)state;
    mn_tet_mesh *slugs[2] = {body_at(tet_block(ctx, 3), mn_v3(0, 0, 0)),
                             body_at(tet_block(ctx, 3), mn_v3(0.02, 0, 0))};
    const double speed = 0.5, layer = 1.2 * width / 3;
    const mn_tet_pipe second = {.slug = slugs[1], .velocity = {0, 0, -speed}};
    const mn_tet_pipe first = {.slug = slugs[0], .velocity = {0, -speed, 0}, .next = &second};
    const mn_film_inputs own = {.pipes = &first};
    const mn_solver_inputs inputs = {.own = &own};
    mn_film *film = film_of(0);
    mn_vec3 momentum;
    for (int frame = 1; frame <= 4; frame++) {
        check_ok(ctx, mn_film_advance(film, &inputs, 2e-3));
        const mn_film_ledger ledger = mn_film_get_ledger(film);
        const double mass = mass_of(film, &momentum);
        check_close(mass, ledger.liquid_in, 1e-12 * mass);
        check_close(mn_distance(momentum, ledger.momentum_in), 0, 1e-10 * mass * speed);
        const double due = 2000 * width * width * (width + speed * 2e-3 * frame); // kg
        assert_true(mass <= due * (1 + 1e-9) && mass > due - 2000 * width * width * layer);
        check_ok(ctx, mn_film_check(film));
    }
    mn_film_free(film);
    for (int k = 0; k < 2; k++) mn_tet_mesh_free(slugs[k]);
}

/// A jet that is saved between layers and loaded continues with the same bits.
static void test_a_jet_resumes(void **state)
{
    (void)state;
    mn_tet_mesh *slug = body_at(tet_block(ctx, 2), mn_v3(0, 0, 0));
    const mn_tet_pipe pipe = {.slug = slug, .velocity = {0, -0.5, 0}};
    const mn_film_inputs own = {.pipes = &pipe};
    const mn_solver_inputs inputs = {.own = &own};
    mn_film *film = film_of(0.07), *copy;
    const mn_film_def def = film->def;
    check_ok(ctx, mn_film_advance(film, &inputs, 2.3e-3));
    buffer bytes = {.ctx = ctx};
    mn_writer out = {ctx, &bytes, buffer_write};
    check_ok(ctx, mn_film_save(film, &out));
    mn_reader in = {ctx, &bytes, buffer_read};
    check_ok(ctx, mn_film_load(ctx, &def, &in, &copy));
    check_ok(ctx, mn_film_advance(film, &inputs, 2e-3));
    check_ok(ctx, mn_film_advance(copy, &inputs, 2e-3));
    assert_true(film->c.vertices.count > 0 && film->c.vertices.count == copy->c.vertices.count);
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        assert_memory_equal(&film->c.vertices.data[v].position, &copy->c.vertices.data[v].position,
                            sizeof(mn_vec3));
    free(bytes.bytes);
    mn_film_free(film);
    mn_film_free(copy);
    mn_tet_mesh_free(slug);
}

/// Two balls that fly into each other are one body then, with the mass and the momentum of both.
static void test_bodies_that_meet_unite(void **state)
{
    (void)state;
    mn_tet_mesh *ball = body_at(tet_ball(ctx, 4), mn_v3(0, 0, 0));
    mn_tet_mesh *other = body_at(tet_ball(ctx, 4), mn_v3(1.05 * width, 0.1 * width, 0.05 * width));
    mn_film *film = film_of(0.07);
    add_body(film, ball, mn_v3(0.5, 0, 0));
    add_body(film, other, mn_v3(-0.3, 0, 0.1));
    mn_vec3 before, after;
    const double mass = mass_of(film, &before);
    check_ok(ctx, mn_film_advance(film, NULL, 2e-3));
    assert_true(mn_film_get_ledger(film).united >= 1);
    check_close(mass_of(film, &after), mass, 1e-12 * mass);
    check_close(mn_distance(after, before), 0, 1e-10 * mass * 0.5);
    check_ok(ctx, mn_film_check(film));
    mn_film_free(film);
    mn_tet_mesh_free(ball);
    mn_tet_mesh_free(other);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_jets_keep_the_books),
        cmocka_unit_test(test_a_jet_resumes),
        cmocka_unit_test(test_bodies_that_meet_unite),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
