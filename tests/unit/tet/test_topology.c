// SPDX-License-Identifier: Apache-2.0
//
// Liquid that comes apart and together: necks split, folds merge, crumbs are swept up; rest volume and
// momentum stay to rounding, and threads and a save in the middle do not change a bit.
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/tet_shapes.h"

#include "tet/neck.h"

static const double pi = 3.14159265358979323846;

static mn_context *context_of(int32_t workers)
{
    const mn_hooks hooks = {.max_workers = workers};
    return mn_context_create(&hooks);
}

// In units of the thread's radius, density and sigma.
static mn_tet_liquid_def plain(double size)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = def.sigma = 1, def.viscosity = 0.05, def.size = size;
    return def;
}

// A thread of radius 1 with a waist in the middle that is being pulled apart, and drifts.
static mn_tet_liquid *make_waist(mn_context *ctx, const mn_tet_liquid_def *def, double waist)
{
    const double length = 8;
    mn_tet_mesh *mesh = tet_brick(ctx, 16, 4, 4);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        const double square = fmax(fabs(p.y), fabs(p.z)), disc = hypot(p.y, p.z), x = length * p.x;
        const double radius = 1 - (1 - waist) * exp(-x * x);
        const double radial = 2 * radius * (disc > 0 ? 1 + 2 * square * (square / disc - 1) : 1);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(x, radial * p.y, radial * p.z));
        v->data[3 * i] = 0.4 * x + 0.2, v->data[3 * i + 1] = 0.1, v->data[3 * i + 2] = -0.05;
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static double rest_volume(const mn_tet_liquid *liquid)
{
    const double *rest = mn_tet_field_numbers(liquid, MN_TET_REST_VOLUME);
    double sum = 0;
    for (int32_t t = 0; t < liquid->mesh->tet_slots; t++) sum += rest[t];
    return sum;
}

// ---- sections and necks ----

static void a_section_measures_a_thread(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    const mn_tet_liquid_def def = plain(0.5);
    mn_tet_liquid *liquid = make_waist(ctx, &def, 0.5);
    mn_tet_patch patch;
    mn_tet_section section;
    double *pressure = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER);
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) pressure[i] = 0.25;
    check_ok(ctx, mn_tet_patch_begin(&patch, liquid));
    check_ok(ctx, mn_tet_patch_gather(&patch, 0, 100));
    assert_int_equal((int)patch.tets.count, liquid->mesh->tet_count);
    check_ok(ctx, mn_tet_patch_cut(&patch, mn_v3(1e-3, 0, 0), mn_v3(1, 0, 0), &section));
    assert_true(section.closed && !section.wetted);
    // A regular polygon of 16 corners, or a little more than its inscribed circle's.
    check_close(section.area, 16 * 0.5 * 0.25 * sin(pi / 8), 0.01 * section.area);
    check_close(section.perimeter, 16 * sin(pi / 16), 0.02 * section.perimeter);
    check_close(section.rate, 0.4, 1e-12);
    // The rim is near the waist, so the surface pulls nearly straight along the axis there.
    check_close(section.force, section.perimeter + section.area * (2 * 0.05 * 0.4 - 0.25),
                0.03 * section.force);
    check_close(mn_norm(section.center), 0, 2e-3);
    // A plane that leaves the patch does not close.
    check_ok(ctx, mn_tet_patch_gather(&patch, 0, 0.8));
    check_ok(ctx, mn_tet_patch_cut(&patch, liquid->mesh->position[liquid->mesh->tet[0][0]],
                                   mn_normalize(mn_v3(1, 0.3, 0.2)), &section));
    assert_false(section.closed && section.area > 3);
    mn_tet_patch_free(&patch);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void finds_the_waist_and_nothing_else(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    mn_tet_liquid_def def = plain(0.5);
    const double waists[] = {0.1, 0.3, 0.1, 0.1};
    for (int i = 0; i < 4; i++) {
        def.split_threshold = i == 2 ? 0 : 4;
        mn_tet_liquid *liquid = make_waist(ctx, &def, waists[i]);
        mn_tet_necks necks = {0};
        mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
        double *pressure = mn_tet_field_numbers(liquid, MN_TET_MULTIPLIER);
        for (int32_t k = 0; k < liquid->mesh->vertex_slots; k++) {
            pressure[k] = 1 / waists[i]; // as a still thread has it
            if (i == 3) v[k] = mn_scale(-1, v[k]);
        }
        check_ok(ctx, mn_tet_liquid_find_necks(liquid, &necks));
        // Thin enough, too thick, switched off, getting shorter.
        assert_int_equal((int)necks.count, i == 0 ? 1 : 0);
        if (i == 0) {
            check_close(fabs(necks.data[0].normal.x), 1, 0.02);
            check_close(mn_norm(necks.data[0].point), 0, 0.3);
        }
        mn_array_free(ctx, &necks);
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

static void a_neck_splits_and_keeps_what_it_holds(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    const mn_tet_liquid_def def = plain(0.5);
    mn_tet_liquid *liquid = make_waist(ctx, &def, 0.2);
    mn_report before, after;
    mn_tet_liquid_report(liquid, &before);
    const double rest = rest_volume(liquid);
    int64_t splits = 0;
    for (int frame = 0; frame < 5; frame++) {
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.2));
        splits += liquid->counts.splits;
    }
    mn_tet_liquid_report(liquid, &after);
    assert_true(splits >= 1);
    assert_true(liquid->bodies.count >= 2);
    check_close(rest_volume(liquid), rest, 1e-13 * rest);
    check_close(after.value[MN_REPORT_volume][0], rest, 1e-7 * rest);
    for (int k = 0; k < 3; k++)
        check_close(after.value[MN_REPORT_momentum][k], before.value[MN_REPORT_momentum][k], 1e-11 * rest);
    check_ok(ctx, mn_tet_mesh_check((mn_tet_mesh *)(uintptr_t)mn_tet_liquid_mesh(liquid)));
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// ---- folds ----

// A bar bent to most of a ring whose ends move towards each other.
static mn_tet_liquid *make_ring(mn_context *ctx, const mn_tet_liquid_def *def)
{
    const double radius = 2.2, open = 0.35; // radians that are missing
    mn_tet_mesh *mesh = tet_brick(ctx, 24, 3, 3);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 p = mesh->position[i];
        const double angle = (2 * pi - open) * p.x, r = radius - 1.5 * p.y;
        // One end is turned a little, so that no vertex meets a vertex.
        mn_tet_mesh_move_vertex(mesh, i,
                                mn_v3(r * sin(angle), -r * cos(angle), 1.5 * p.z + 0.07 * p.x * (1 + p.y)));
        v->data[3 * i] = 1.5 * p.x * cos(angle) * 2, v->data[3 * i + 1] = 1.5 * p.x * sin(angle) * 2;
    }
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

static void a_liquid_that_folds_merges_with_itself(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    mn_tet_liquid_def def = plain(0.5);
    def.sigma = 0.05;
    mn_tet_liquid *liquid = make_ring(ctx, &def);
    mn_tet_topology topology;
    const double rest = rest_volume(liquid);
    check_ok(ctx, mn_tet_mesh_topology(liquid->mesh, &topology));
    assert_int_equal((int)topology.euler, 1);
    int64_t merges = 0;
    for (int frame = 0; frame < 10 && merges == 0; frame++) {
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.05));
        merges += liquid->counts.merges;
    }
    assert_true(merges >= 1);
    check_ok(ctx, mn_tet_mesh_topology(liquid->mesh, &topology));
    assert_int_equal((int)topology.euler, 0); // a ring now
    assert_int_equal((int)topology.parts, 1);
    check_close(rest_volume(liquid), rest, 1e-13 * rest);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// ---- crumbs ----

// Heat that rides on tetrahedra, J, some of it on each.
static double ride_heat(mn_context *ctx, mn_tet_mesh *mesh)
{
    mn_tet_field *heat;
    double sum = 0;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, MN_TET_HEAT_AMOUNT, MN_TET_AMOUNT, 1, &heat));
    for (int32_t t = 0; t < mesh->tet_slots; t++) sum += heat->data[t] = 1 + t % 7;
    return sum;
}

static double riding_heat(const mn_tet_mesh *mesh)
{
    const double *heat = mn_tet_mesh_find_field(mesh, MN_TET_HEAT_AMOUNT)->data;
    double sum = 0;
    for (int32_t t = 0; t < mesh->tet_slots; t++) sum += mn_tet_alive(mesh, t) ? heat[t] : 0;
    return sum;
}

static void what_is_shed_leaves_mass_and_heat(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    const mn_tet_liquid_def def = plain(0.5);
    mn_tet_liquid *liquid = make_waist(ctx, &def, 0.5);
    mn_tet_list going = {0};
    bool shed;
    double mass, left;
    mn_tet_momentum(liquid->mesh, "v", &mass);
    for (int32_t t = 0; t < 6; t++) check_ok(ctx, mn_array_push(ctx, &going, &t));
    const double heat = ride_heat(ctx, liquid->mesh);
    check_ok(ctx, mn_tet_liquid_shed(liquid, liquid->mesh, &going, &shed));
    assert_true(shed);
    mn_tet_momentum(liquid->mesh, "v", &left);
    check_close(left, mass, 1e-13 * mass);
    check_close(riding_heat(liquid->mesh), heat, 1e-13 * heat);
    mn_array_free(ctx, &going);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void crumbs_go_to_what_is_nearest(void **state)
{
    (void)state;
    mn_context *ctx = context_of(1);
    const mn_tet_liquid_def def = plain(0.5);
    mn_tet_mesh *block = tet_block(ctx, 3), *mesh;
    const int32_t n = block->vertex_slots, m = block->tet_slots;
    mn_vec3 *x = malloc((size_t)(n + 4) * sizeof *x);
    int32_t(*tets)[4] = malloc((size_t)(m + 1) * sizeof *tets);
    for (int32_t i = 0; i < n; i++) x[i] = mn_scale(2, block->position[i]);
    for (int32_t k = 0; k < 4; k++)
        x[n + k] = mn_v3(2 + (k == 1) * 0.2, (k == 2) * 0.2, (k == 3) * 0.2), tets[m][k] = n + k;
    memcpy(tets, block->tet, (size_t)m * sizeof *tets);
    check_ok(ctx, mn_tet_mesh_build(ctx, n + 4, x, m + 1, (const int32_t(*)[4])tets, &mesh));
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = n; i < n + 4; i++) v->data[3 * i + 1] = 3;
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    double mass, left;
    bool swept;
    const mn_vec3 before = mn_tet_momentum(liquid->mesh, "v", &mass);
    const double heat = ride_heat(ctx, liquid->mesh);
    check_ok(ctx, mn_tet_liquid_sweep_crumbs(liquid, liquid->mesh, &swept));
    assert_true(swept);
    assert_int_equal(liquid->mesh->tet_count, m);
    const mn_vec3 after = mn_tet_momentum(liquid->mesh, "v", &left);
    check_close(left, mass, 1e-15 * mass);
    check_close(mn_distance(after, before), 0, 1e-15);
    check_close(riding_heat(liquid->mesh), heat, 1e-13 * heat);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh), mn_tet_mesh_free(block);
    free(x), free(tets);
    mn_context_free(ctx);
}

// ---- the same bits ----

typedef struct bytes {
    MN_ARRAY(uint8_t) data;
    int64_t at;
    mn_context *ctx;
} bytes;

static mn_status write_bytes(void *user, const void *from, size_t size)
{
    bytes *b = user;
    const int64_t at = b->data.count;
    MN_TRY(mn_array_resize(b->ctx, &b->data, at + (int64_t)size));
    memcpy(b->data.data + at, from, size);
    return MN_OK;
}

static mn_status read_bytes(void *user, void *to, size_t size)
{
    bytes *b = user;
    if (b->at + (int64_t)size > b->data.count) return MN_ERROR_FORMAT;
    memcpy(to, b->data.data + b->at, size);
    b->at += (int64_t)size;
    return MN_OK;
}

static void save(mn_tet_liquid *liquid, bytes *b)
{
    mn_writer out = {liquid->ctx, b, write_bytes};
    b->ctx = liquid->ctx;
    check_ok(liquid->ctx, mn_tet_liquid_save(liquid, &out));
}

// Pulls a waist apart with `workers`, saving and loading after `stop` of the frames; the state at the end.
static void run(int32_t workers, int stop, bytes *end)
{
    mn_context *ctx = context_of(workers);
    const mn_tet_liquid_def def = plain(0.5);
    mn_tet_liquid *liquid = make_waist(ctx, &def, 0.15);
    bytes middle = {0};
    int64_t splits = 0;
    for (int frame = 0; frame < 3; frame++) { // it splits in the second
        if (frame == stop) {
            save(liquid, &middle);
            mn_tet_liquid_free(liquid);
            mn_reader in = {ctx, &middle, read_bytes};
            check_ok(ctx, mn_tet_liquid_load(ctx, &def, &in, &liquid));
        }
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.01));
        splits += liquid->counts.splits;
    }
    assert_true(splits >= 1);
    bytes state = {0};
    save(liquid, &state);
    end->data.count = state.data.count;
    end->data.data = malloc((size_t)state.data.count);
    memcpy(end->data.data, state.data.data, (size_t)state.data.count);
    mn_array_free(ctx, &middle.data);
    mn_array_free(ctx, &state.data);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void splits_do_not_depend_on_threads_or_stops(void **state)
{
    (void)state;
    bytes first = {0};
    run(1, -1, &first);
    for (int i = 0; i < 2; i++) {
        bytes other = {0};
        run(i == 0 ? 2 : 8, i == 0 ? 2 : -1, &other);
        assert_int_equal((int)other.data.count, (int)first.data.count);
        assert_memory_equal(other.data.data, first.data.data, (size_t)first.data.count);
        free(other.data.data);
    }
    free(first.data.data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_section_measures_a_thread),
        cmocka_unit_test(finds_the_waist_and_nothing_else),
        cmocka_unit_test(a_neck_splits_and_keeps_what_it_holds),
        cmocka_unit_test(a_liquid_that_folds_merges_with_itself),
        cmocka_unit_test(what_is_shed_leaves_mass_and_heat),
        cmocka_unit_test(crumbs_go_to_what_is_nearest),
        cmocka_unit_test(splits_do_not_depend_on_threads_or_stops),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
