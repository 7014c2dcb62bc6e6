// SPDX-License-Identifier: Apache-2.0
//
// Drops too small for the grid are closed meshes with the place, volume and velocity of their particles, and
// move as these do, however little.
#include "levelset/level_set.h"
#include "mesh/beads.h"
#include "mesh/isosurface.h"
#include "space/blocks.h"
#include "support/check.h"
#include "support/mesh_checks.h"

static const double pi = 3.14159265358979323846;

typedef struct shown {
    double volume;
    mn_vec3 center, v;
    int64_t bead_count, defects;
} shown;

// A large drop at the origin, drawn by the grid, and a drop of three particles and one of a single one.
static shown show(mn_vec3 shift)
{
    enum { COUNT = 1 + 3 + 1 };
    mn_context *ctx = mn_context_create(NULL);
    const mn_vec3 small[3] = {{10.2, 0.1, 0}, {10.6, -0.1, 0.2}, {10.3, 0.3, -0.1}};
    mn_vec3 x[COUNT] = {{0, 0, 0}}, v[COUNT] = {{0, 0, 0}};
    double radii[COUNT] = {4}, volumes[COUNT] = {4.0 / 3.0 * pi * 64};
    for (int i = 0; i < 3; i++) x[1 + i] = mn_add(small[i], shift), v[1 + i] = mn_v3(i, 0, 1);
    x[4] = mn_add(mn_v3(0, 12, 0), shift);
    for (int i = 1; i < COUNT; i++) radii[i] = 0.9, volumes[i] = 0.125;
    mn_level_set *set;
    mn_isosurface *iso;
    mn_beads *beads;
    check_ok(ctx, mn_level_set_create(ctx, &set));
    check_ok(ctx, mn_isosurface_create(ctx, &iso));
    check_ok(ctx, mn_beads_create(ctx, &beads));
    mn_union_def def = mn_union_default_def();
    def.dx = 0.5, def.radii = radii, def.radius = 0.9;
    const mn_points points = mn_points_of(x, COUNT);
    check_ok(ctx, mn_level_set_union(set, &def, points));
    check_ok(ctx, mn_level_set_redistance(set));
    check_ok(ctx, mn_level_set_find_bodies(set));
    check_ok(ctx, mn_beads_take(beads, set, points, volumes, v));
    check_ok(ctx,
             mn_isosurface_run(iso, mn_level_set_blocks(set), mn_level_set_get(set).phi, 0, MN_ISO_CUBES));
    const mn_iso_mesh large = mn_isosurface_mesh(iso);
    mn_iso_mesh mesh;
    check_ok(ctx, mn_beads_join(beads, &large, &mesh));
    shown s = {.bead_count = mn_beads_count(beads),
               .defects = mesh_defects(mesh.triangles, mesh.triangle_count, mesh.vertex_count)};
    assert_int_equal(mn_beads_of_vertex(beads, large.vertex_count - 1), -1);
    assert_int_equal(mn_beads_of_vertex(beads, mesh.vertex_count - 1), 1);
    // The bead of three, as a mesh: volume and middle from the tetrahedra under its triangles.
    const int32_t of_three = mn_norm(mn_sub(mn_beads_get(beads)[0].center, shift)) < 11 ? 0 : 1;
    for (int32_t t = large.triangle_count; t < mesh.triangle_count; t++) {
        if (mn_beads_of_vertex(beads, mesh.triangles[t][0]) != of_three) continue;
        const mn_vec3 a = mesh.positions[mesh.triangles[t][0]], b = mesh.positions[mesh.triangles[t][1]],
                      c = mesh.positions[mesh.triangles[t][2]];
        const double part = mn_dot(a, mn_cross(b, c)) / 6;
        s.volume += part;
        s.center = mn_axpy(s.center, 0.25 * part, mn_add(a, mn_add(b, c)));
    }
    s.center = mn_scale(1 / s.volume, s.center);
    s.v = mn_beads_get(beads)[of_three].v;
    mn_beads_free(beads);
    mn_isosurface_free(iso);
    mn_level_set_free(set);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
    return s;
}

static void small_drops_are_round_and_hold_their_volume(void **state)
{
    (void)state;
    const shown s = show(mn_v3(0, 0, 0));
    assert_int_equal(s.bead_count, 2);
    assert_int_equal(s.defects, 0);
    check_close(s.volume, 3 * 0.125, 1e-9);
    check_close(s.center.x, (10.2 + 10.6 + 10.3) / 3, 1e-9);
    check_close(s.v.x, 1, 1e-12);
    check_close(s.v.z, 1, 1e-12);
}

static void they_move_with_their_particles(void **state)
{
    (void)state;
    const shown before = show(mn_v3(0, 0, 0)), after = show(mn_v3(0.013, -0.021, 0.017));
    check_close(after.center.x - before.center.x, 0.013, 1e-9);
    check_close(after.center.y - before.center.y, -0.021, 1e-9);
    check_close(after.volume, before.volume, 1e-9);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(small_drops_are_round_and_hold_their_volume),
        cmocka_unit_test(they_move_with_their_particles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
