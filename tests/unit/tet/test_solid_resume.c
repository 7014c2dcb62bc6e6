// SPDX-License-Identifier: Apache-2.0
//
// A simulation of solids that melt, are remeshed and break goes on with the same bits wherever it was saved:
// a twin is loaded before every frame, and both must agree after it in every number of the mesh.
// Preconditioners count too: the order in which they eliminate must not remember where nodes were some frames
// ago.
#include "support/check.h"
#include "support/stream_buffer.h"
#include "support/tet_lattice_brick.h"
#include "tet/solid_steps.h"
#include "tet/state.h"

static mn_tet_liquid *twin_of(mn_context *ctx, const mn_tet_liquid *q)
{
    buffer saved = {.ctx = ctx};
    mn_tet_liquid *twin;
    check_ok(ctx, mn_tet_liquid_save(q, &(mn_writer){ctx, &saved, buffer_write}));
    check_ok(ctx, mn_tet_liquid_load(ctx, mn_tet_liquid_get_def(q), &(mn_reader){ctx, &saved, buffer_read},
                                     &twin));
    free(saved.bytes);
    return twin;
}

static void check_same(const mn_tet_mesh *a, const mn_tet_mesh *b)
{
    assert_int_equal(a->vertex_slots, b->vertex_slots);
    assert_int_equal(a->tet_slots, b->tet_slots);
    assert_memory_equal(a->position, b->position, sizeof *a->position * (size_t)a->vertex_slots);
    assert_memory_equal(a->tet, b->tet, sizeof *a->tet * (size_t)a->tet_slots);
    assert_memory_equal(a->vertex_id, b->vertex_id, sizeof *a->vertex_id * (size_t)a->vertex_slots);
    for (int32_t f = 0; f < b->field_count; f++) {
        const mn_tet_field *x = &b->fields[f], *y = mn_tet_mesh_find_field(a, x->name);
        const int32_t slots = x->kind == MN_TET_LINEAR ? a->vertex_slots : a->tet_slots;
        assert_non_null(y);
        assert_memory_equal(x->data, y->data, sizeof(double) * (size_t)(slots * x->size));
    }
}

// A block of wax on a hot plate; `stiff` so that a step sees many of its waves.
static mn_tet_liquid *make_wax(mn_context *ctx, double young)
{
    mn_tet_mesh *mesh = tet_lattice_brick(ctx, 3, 3, 3, 0.02 / 3, 0.05);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 900, def.sigma = 0.028, def.contact_angle = 40, def.heat = true;
    def.air_temperature = 420, def.air_transfer = 400;
    def.collider_temperature = 600, def.collider_transfer = 20000;
    def.domain = (mn_box){{-1, -5e-5, -1}, {1, 1, 1}}, def.wall[2] = true;
    const mn_tet_material wax = {.name = "wax",
                                 .density = 900,
                                 .melt_density = 800,
                                 .young = young,
                                 .poisson = 0.4,
                                 .viscosity = 0.05,
                                 .sigma = 0.028,
                                 .conductivity = 60,
                                 .heat_capacity = 800,
                                 .latent_heat = 1000,
                                 .melting_point = 330,
                                 .melting_range = 6,
                                 .reference_temperature = 325};
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &q));
    check_ok(ctx, mn_tet_liquid_set_materials(q, 1, &wax));
    mn_tet_mesh_free(mesh);
    return q;
}

static void melting_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_wax(ctx, 1e5);
    int64_t remeshed = 0, mixed = 0;
    for (int frame = 0; frame < 14; frame++) {
        mn_tet_liquid *twin = twin_of(ctx, q);
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 1.0 / 96));
        check_ok(ctx, mn_tet_liquid_advance(twin, NULL, 1.0 / 96));
        check_same(q->mesh, twin->mesh);
        mn_tet_liquid_free(twin);
        remeshed += q->counts.remeshed;
        int32_t solids = 0;
        for (int32_t t = 0; t < q->mesh->tet_slots; t++) solids += mn_tet_liquid_is_solid(q, t);
        mixed += solids > 0 && solids < q->mesh->tet_slots;
    }
    assert_true(remeshed > 0 && mixed > 3);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(melting_goes_on_with_the_same_bits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
