// SPDX-License-Identifier: Apache-2.0
//
// The solver as a whole: what it refuses, what it conserves, that threads and a save in the middle do not
// change a bit, that damaged states are refused, and that it survives running out of memory.
#include "support/check.h"
#include "support/out_of_memory.h"
#include "support/tet_shapes.h"

#include "tet/state.h"

static mn_context *calm_context(void)
{
    const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

static mn_tet_liquid_def water(void)
{
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 998, def.sigma = 0.0728, def.viscosity = 1e-3;
    return def;
}

// A ball of 1 mm, stretched along x, that drifts and spins.
static mn_tet_mesh *make_mesh(mn_context *ctx, int32_t n, double stretch, mn_vec3 velocity, mn_vec3 spin)
{
    mn_tet_mesh *mesh = tet_ball(ctx, n);
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mn_scale(2e-3, mesh->position[i]);
        mn_tet_mesh_move_vertex(mesh, i, mn_v3(stretch * x.x, x.y / sqrt(stretch), x.z / sqrt(stretch)));
        const mn_vec3 w = mn_add(velocity, mn_cross(spin, mesh->position[i]));
        memcpy(v->data + 3 * i, &w, sizeof w);
    }
    return mesh;
}

static mn_tet_liquid *make_drop(mn_context *ctx, const mn_tet_liquid_def *def, int32_t n, double stretch,
                                mn_vec3 velocity, mn_vec3 spin)
{
    mn_tet_mesh *mesh = make_mesh(ctx, n, stretch, velocity, spin);
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    return liquid;
}

// ---- conservation ----

static void conserves_mass_volume_and_momentum(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_tet_liquid_def def = water();
    mn_tet_liquid *liquid = make_drop(ctx, &def, 4, 1.3, mn_v3(0.1, 0.05, 0), mn_v3(20, 30, 100));
    mn_report before, after;
    mn_tet_liquid_report(liquid, &before);
    const double mass = before.value[MN_REPORT_mass][0], speed = sqrt(def.sigma / (def.density * 1e-3));
    for (int frame = 0; frame < 3; frame++) {
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 5e-4));
        mn_tet_liquid_report(liquid, &after);
        check_close(after.value[MN_REPORT_mass][0], mass, 1e-13 * mass);
        check_close(after.value[MN_REPORT_volume][0], before.value[MN_REPORT_volume][0],
                    1e-8 * before.value[MN_REPORT_volume][0]); // the solver's tolerance
        for (int k = 0; k < 3; k++)
            check_close(after.value[MN_REPORT_momentum][k], before.value[MN_REPORT_momentum][k],
                        1e-12 * mass * speed);
    }
    assert_true(after.value[MN_REPORT_substeps][0] >= 2);
    check_ok(ctx, mn_tet_mesh_check((mn_tet_mesh *)(uintptr_t)mn_tet_liquid_mesh(liquid)));
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void falls_as_it_should(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_tet_liquid_def def = water();
    def.gravity = mn_v3(0, -9.81, 0);
    mn_tet_liquid *liquid = make_drop(ctx, &def, 3, 1, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    mn_report report;
    mn_tet_liquid_report(liquid, &report);
    const double start = report.value[MN_REPORT_center][1], t = 2e-3;
    check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, t));
    mn_tet_liquid_report(liquid, &report);
    check_close(report.value[MN_REPORT_momentum][1] / report.value[MN_REPORT_mass][0], -9.81 * t, 1e-12);
    // A scheme of second order is exact for a constant force; what remains is remeshing and rounding.
    check_close(report.value[MN_REPORT_center][1] - start, -0.5 * 9.81 * t * t, 1e-8);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

static void energy_never_grows_by_itself(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    for (int integrator = 0; integrator < 2; integrator++) {
        mn_tet_liquid_def def = water();
        def.integrator = integrator == 0 ? MN_TET_BDF2 : MN_TET_SDIRK2;
        def.capillary_step = 2; // far beyond what an explicit scheme survives
        mn_tet_liquid *liquid = make_drop(ctx, &def, 3, 1.5, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
        mn_report report;
        mn_tet_liquid_report(liquid, &report);
        const double energy = report.value[MN_REPORT_surface_energy][0];
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 0.02));
        mn_tet_liquid_report(liquid, &report);
        assert_true(report.value[MN_REPORT_surface_energy][0] + report.value[MN_REPORT_kinetic_energy][0] <
                    energy);
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

// A large mesh has S solved by iteration; both ways lead to the same flow.
static void factored_and_iterated_agree(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_tet_liquid_def def = water();
    def.quality = 0;
    mn_tet_liquid *direct = make_drop(ctx, &def, 5, 1.3, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    mn_tet_liquid *iterated = make_drop(ctx, &def, 5, 1.3, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    iterated->system.direct_most = 1;
    check_ok(ctx, mn_tet_liquid_advance(direct, NULL, 5e-4));
    check_ok(ctx, mn_tet_liquid_advance(iterated, NULL, 5e-4));
    assert_int_equal(iterated->mesh->vertex_slots, direct->mesh->vertex_slots);
    // Both end at the tolerance of the corrections.
    for (int32_t i = 0; i < direct->mesh->vertex_slots; i++)
        check_close(mn_distance(iterated->mesh->position[i], direct->mesh->position[i]), 0, 1e-9);
    assert_true(iterated->counts.linear < 2 * direct->counts.linear);
    assert_true(mn_multigrid_levels(iterated->system.multigrid) > 1);
    mn_tet_liquid_free(direct);
    mn_tet_liquid_free(iterated);
    mn_context_free(ctx);
}

// Two balls of 1 mm that fly at each other along x.
static mn_tet_liquid *make_pair(mn_context *ctx, const mn_tet_liquid_def *def)
{
    mn_tet_mesh *ball = tet_ball(ctx, 4), *mesh;
    const int32_t n = ball->vertex_slots, m = ball->tet_slots;
    mn_vec3 *x = malloc(2 * (size_t)n * sizeof *x);
    int32_t(*tets)[4] = malloc(2 * (size_t)m * sizeof *tets);
    for (int32_t i = 0; i < n; i++) {
        const mn_vec3 p = mn_scale(2e-3, ball->position[i]);
        x[i] = mn_v3(p.x - 1.05e-3, p.y, p.z), x[n + i] = mn_v3(p.z + 1.05e-3, p.x, p.y + 3e-4);
    }
    for (int32_t t = 0; t < m; t++)
        for (int k = 0; k < 4; k++) tets[t][k] = ball->tet[t][k], tets[m + t][k] = n + ball->tet[t][k];
    check_ok(ctx, mn_tet_mesh_build(ctx, 2 * n, x, 2 * m, (const int32_t(*)[4])tets, &mesh));
    mn_tet_field *v;
    check_ok(ctx, mn_tet_mesh_add_field(mesh, "v", MN_TET_LINEAR, 3, &v));
    for (int32_t i = 0; i < 2 * n; i++) v->data[3 * i] = i < n ? 0.2 : -0.1;
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, def, mesh, &liquid));
    mn_tet_mesh_free(ball), mn_tet_mesh_free(mesh);
    free(x), free(tets);
    return liquid;
}

static void drops_that_meet_become_one(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_tet_liquid_def def = water();
    def.viscosity = 0.02, def.max_dt = 5e-5;
    for (int merge = 0; merge < 2; merge++) {
        def.merge = merge == 1;
        mn_tet_liquid *liquid = make_pair(ctx, &def);
        mn_report before, after;
        mn_tet_liquid_report(liquid, &before);
        assert_int_equal(liquid->bodies.count, 2);
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 6e-4));
        mn_tet_liquid_report(liquid, &after);
        assert_int_equal(liquid->bodies.count, merge ? 1 : 2);
        const double mass = before.value[MN_REPORT_mass][0];
        check_close(after.value[MN_REPORT_mass][0], mass, 1e-12 * mass);
        check_close(after.value[MN_REPORT_momentum][0], before.value[MN_REPORT_momentum][0],
                    1e-11 * mass * 0.1);
        // What was covered twice is full twice; it grows to its own volume over the next steps.
        check_close(after.value[MN_REPORT_volume][0] / before.value[MN_REPORT_volume][0], 1, 0.02);
        check_ok(ctx, mn_tet_mesh_check(liquid->mesh));
        mn_tet_liquid_free(liquid);
    }
    mn_context_free(ctx);
}

// ---- same bits ----

typedef struct memory_stream {
    char *bytes;
    size_t size, capacity, at;
    mn_context *ctx;
} memory_stream;

static mn_status write_memory(void *user, const void *bytes, size_t size)
{
    memory_stream *m = user;
    if (m->size + size > m->capacity) m->bytes = realloc(m->bytes, m->capacity = 2 * (m->size + size));
    memcpy(m->bytes + m->size, bytes, size);
    m->size += size;
    return MN_OK;
}

static mn_status read_memory(void *user, void *bytes, size_t size)
{
    memory_stream *m = user;
    if (m->at + size > m->size) return mn_fail(m->ctx, MN_ERROR_FORMAT, "The stream has ended.");
    memcpy(bytes, m->bytes + m->at, size);
    m->at += size;
    return MN_OK;
}

static memory_stream save(mn_context *ctx, const mn_tet_liquid *liquid)
{
    memory_stream m = {.ctx = ctx};
    mn_writer out = {ctx, &m, write_memory};
    check_ok(ctx, mn_tet_liquid_save(liquid, &out));
    return m;
}

static void threads_and_resuming_do_not_change_a_bit(void **state)
{
    (void)state;
    memory_stream expected = {0};
    for (int run = 0; run < 3; run++) {
        const mn_hooks hooks = {.max_workers = run == 1 ? 3 : 1};
        mn_context *ctx = mn_context_create(&hooks);
        const mn_tet_liquid_def def = water();
        mn_tet_liquid *liquid = make_drop(ctx, &def, 4, 1.6, mn_v3(0.1, 0, 0), mn_v3(0, 0, 300));
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 4e-4));
        if (run == 2) {
            memory_stream middle = save(ctx, liquid);
            mn_reader in = {ctx, &middle, read_memory};
            mn_tet_liquid_free(liquid);
            check_ok(ctx, mn_tet_liquid_load(ctx, &def, &in, &liquid));
            free(middle.bytes);
        }
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 4e-4));
        memory_stream now = save(ctx, liquid);
        if (run == 0) {
            expected = now;
        } else {
            assert_int_equal(now.size, expected.size);
            assert_memory_equal(now.bytes, expected.bytes, now.size);
            free(now.bytes);
        }
        mn_tet_liquid_free(liquid);
        mn_context_free(ctx);
    }
    free(expected.bytes);
}

static void damaged_states_are_refused(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_tet_liquid_def def = water();
    mn_tet_liquid *liquid = make_drop(ctx, &def, 2, 1, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    memory_stream whole = save(ctx, liquid);
    mn_tet_liquid_free(liquid);
    // Cut short anywhere, it is refused; with any byte changed, it is refused or gives a solver that can be
    // freed.
    for (size_t size = 0; size < whole.size; size += 97) {
        memory_stream part = {.bytes = whole.bytes, .size = size, .ctx = ctx};
        mn_reader in = {ctx, &part, read_memory};
        assert_int_not_equal(mn_tet_liquid_load(ctx, &def, &in, &liquid), MN_OK);
        assert_null(liquid);
    }
    for (size_t at = 0; at < whole.size; at += 31) {
        memory_stream changed = {.bytes = whole.bytes, .size = whole.size, .ctx = ctx};
        mn_reader in = {ctx, &changed, read_memory};
        whole.bytes[at] ^= 0x5a;
        if (mn_tet_liquid_load(ctx, &def, &in, &liquid) == MN_OK) mn_tet_liquid_free(liquid);
        whole.bytes[at] ^= 0x5a;
    }
    free(whole.bytes);
    mn_context_free(ctx);
}

// ---- bad input ----

static void says_what_is_wrong(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    mn_tet_mesh *mesh = make_mesh(ctx, 2, 1, mn_v3(0, 0, 0), mn_v3(0, 0, 0)), *empty;
    mn_tet_liquid *liquid;
    mn_tet_liquid_def def = water();
    def.density = 0;
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_ARGUMENT, "density");
    def = water(), def.sigma = NAN;
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_ARGUMENT, "sigma");
    def = water(), def.gravity.y = INFINITY;
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_ARGUMENT, "gravity");
    def = water(), def.min_size = 1e-3, def.max_size = 2e-3;
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_ARGUMENT, "2.5 times");
    def = water();
    check_ok(ctx, mn_tet_mesh_create(ctx, &empty));
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, empty, &liquid), MN_ERROR_INPUT, "no tetrahedra");
    mn_tet_mesh_free(empty);
    const mn_vec3 place = mesh->position[mesh->tet[0][0]];
    mn_tet_mesh_move_vertex(mesh, mesh->tet[0][0], mn_v3(NAN, 0, 0));
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_INPUT, "not finite");
    mn_tet_mesh_move_vertex(mesh, mesh->tet[0][0], mesh->position[mesh->tet[0][1]]);
    check_fails(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid), MN_ERROR_INPUT, "flat");
    mn_tet_mesh_move_vertex(mesh, mesh->tet[0][0], place);
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    check_fails(ctx, mn_tet_liquid_advance(liquid, NULL, -1), MN_ERROR_ARGUMENT, "zero or more");
    check_fails(ctx, mn_tet_liquid_advance(liquid, NULL, 1e6), MN_ERROR_DIVERGED, "max_substeps");
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

static mn_status live_and_go_on(mn_context *ctx, failing_allocator *memory)
{
    mn_tet_mesh *mesh = make_mesh(ctx, 2, 1.8, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    const mn_tet_liquid_def def = water();
    mn_tet_liquid *liquid;
    failing_begin(memory);
    mn_status status = mn_tet_liquid_create(ctx, &def, mesh, &liquid);
    if (status == MN_OK) {
        status = mn_tet_liquid_advance(liquid, NULL, 1e-4);
        // What is left can go on.
        if (status != MN_OK) check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 5e-5));
    }
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    return status;
}

static void runs_out_of_memory_without_harm(void **state)
{
    (void)state;
    check_memory_may_run_out_inside(live_and_go_on, 16);
}

// A new mesh takes what it takes.
static void a_warm_step_does_not_allocate(void **state)
{
    (void)state;
    mn_context *ctx = calm_context();
    const mn_tet_liquid_def def = water();
    mn_tet_liquid *liquid = make_drop(ctx, &def, 4, 1.15, mn_v3(0, 0, 0), mn_v3(0, 0, 0));
    int32_t quiet = 0;
    for (int frame = 0; frame < 12; frame++) {
        const int64_t calls = mn_context_allocation_count(ctx);
        check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, 1.2e-4));
        if (frame == 0 || liquid->counts.remeshed > 0) continue;
        quiet++;
        assert_int_equal(mn_context_allocation_count(ctx) - calls, 0);
    }
    assert_true(quiet >= 4);
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(conserves_mass_volume_and_momentum),
        cmocka_unit_test(a_warm_step_does_not_allocate),
        cmocka_unit_test(falls_as_it_should),
        cmocka_unit_test(energy_never_grows_by_itself),
        cmocka_unit_test(factored_and_iterated_agree),
        cmocka_unit_test(drops_that_meet_become_one),
        cmocka_unit_test(threads_and_resuming_do_not_change_a_bit),
        cmocka_unit_test(damaged_states_are_refused),
        cmocka_unit_test(says_what_is_wrong),
        cmocka_unit_test(runs_out_of_memory_without_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
