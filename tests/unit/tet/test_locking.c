// SPDX-License-Identifier: Apache-2.0
//
// Division of what locks: a film of one element on a floor that it sticks to has all its nodes on the
// surface, and volumes that keep them where they are. With the division it flows, and the mesh is the same
// afterwards.
#include "meniscus/tet.h"
#include "support/one_context.h"
#include "support/tet_shapes.h"
#include "support/tet_solids.h"

static const double length = 4e-3, height = 1e-3;

/// A film of 6 x 1 x 4 cubes with a bump across.
static mn_tet_mesh *film(void)
{
    mn_tet_mesh *mesh = tet_brick(ctx, 6, 1, 4);
    for (int32_t v = 0; v < mesh->vertex_slots; v++) {
        const mn_vec3 p = mesh->position[v];
        const double top = height * (1 + 0.4 * cos(2 * 3.141592653589793 * p.x));
        mn_tet_mesh_move_vertex(mesh, v, mn_v3(length * p.x, top * (p.y + 0.5), length * 4 / 6 * p.z));
    }
    return mesh;
}

static mn_tet_liquid *liquid_of(bool unlock)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *liquid;
    mn_tet_mesh *mesh = film();
    def.viscosity = 0.05, def.quality = 0, def.stick = true, def.unlock = unlock;
    def.gravity = mn_v3(0, -9.81, 0);
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}}, def.wall[2] = true;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static double highest(const mn_tet_mesh *mesh)
{
    double y = 0;
    for (int32_t v = 0; v < mesh->vertex_slots; v++) y = fmax(y, mesh->position[v].y);
    return y;
}

/// Surface tension draws the film together to a cap. What sticks to the floor holds each tetrahedron's volume
/// in its place, so that its top stays where it was, within a twentieth.
static void a_film_of_one_element_flows_only_when_divided(void **state)
{
    (void)state;
    double top[2];
    for (int unlock = 0; unlock < 2; unlock++) {
        mn_tet_liquid *liquid = liquid_of(unlock);
        const mn_tet_mesh *mesh = mn_tet_liquid_mesh(liquid);
        const double first = highest(mesh), rest = tet_sum_up(mesh).rest;
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.02));
        mesh = mn_tet_liquid_mesh(liquid);
        top[unlock] = highest(mesh) / first - 1;
        check_close(tet_sum_up(mesh).rest, rest, 1e-12 * rest);
        mn_tet_liquid_free(liquid);
    }
    assert_true(fabs(top[0]) < 0.05);
    assert_true(top[1] > 0.1);
}

/// The same tetrahedra of the same vertices, whatever happened in between.
static void the_undo_is_exact(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = film();
    mn_tet_liquid *liquid = liquid_of(true);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 2e-3));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(liquid);
    assert_int_equal(now->tet_count, mesh->tet_count);
    assert_int_equal(now->vertex_count, mesh->vertex_count);
    assert_memory_equal(now->tet, mesh->tet, (size_t)mesh->tet_count * sizeof *mesh->tet);
    assert_memory_equal(now->mate, mesh->mate, (size_t)mesh->tet_count * sizeof *mesh->mate);
    assert_memory_equal(now->vertex_id, mesh->vertex_id,
                        (size_t)mesh->vertex_count * sizeof *mesh->vertex_id);
    assert_null(mn_tet_mesh_find_field(now, "source"));
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
}

/// Without solids a step keeps linear momentum, divided or not.
static void momentum_stays(void **state)
{
    (void)state;
    mn_tet_mesh *mesh = film();
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *liquid;
    mn_report before, after;
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) v->data[3 * i] = 0.1 * sin(i), v->data[3 * i + 1] = 0.2;
    def.viscosity = 0.05, def.quality = 0, def.unlock = true;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_tet_liquid_report(liquid, &before);
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 1e-3));
    mn_tet_liquid_report(liquid, &after);
    const double scale = 0.2 * before.value[MN_REPORT_mass][0];
    for (int k = 0; k < 3; k++)
        check_close(after.value[MN_REPORT_momentum][k], before.value[MN_REPORT_momentum][k], 1e-11 * scale);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_film_of_one_element_flows_only_when_divided),
        cmocka_unit_test(the_undo_is_exact),
        cmocka_unit_test(momentum_stays),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}
