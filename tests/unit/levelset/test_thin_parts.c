// SPDX-License-Identifier: Apache-2.0
//
// Sheets of one layer and threads of one row of particles, which smoothing and the shift lose, are whole
// again; a full liquid stays as it is.
#include "base/random.h"
#include "levelset/level_set.h"
#include "levelset/thin_parts.h"
#include "meniscus/collider.h"
#include "space/blocks.h"
#include "support/check.h"

typedef struct fixture {
    mn_context *ctx;
    mn_level_set *set;
    mn_thin_parts *parts;
    mn_vec3_array x;
    MN_ARRAY(double) volumes, phi;
} fixture;

static fixture open_fixture(void)
{
    fixture f = {.ctx = mn_context_create(NULL)};
    check_ok(f.ctx, mn_level_set_create(f.ctx, &f.set));
    check_ok(f.ctx, mn_thin_parts_create(f.ctx, &f.parts));
    return f;
}

static void close_fixture(fixture *f)
{
    mn_array_free(f->ctx, &f->x);
    mn_array_free(f->ctx, &f->volumes);
    mn_array_free(f->ctx, &f->phi);
    mn_thin_parts_free(f->parts);
    mn_level_set_free(f->set);
    assert_int_equal(mn_context_bytes(f->ctx), 0);
    mn_context_free(f->ctx);
}

// Particles of volume 1/8, cells of 1, nodes half as far apart: balls, smoothed and drawn in as the surface
// of a pool would be that they hang on.
static void make_level_set(fixture *f)
{
    mn_union_def def = mn_union_default_def();
    def.dx = 0.5, def.radius = 0.867, def.band = 4;
    check_ok(f->ctx, mn_array_resize(f->ctx, &f->volumes, f->x.count));
    for (int64_t i = 0; i < f->x.count; i++) f->volumes.data[i] = 0.125;
    check_ok(f->ctx, mn_level_set_union(f->set, &def, mn_points_of(f->x.data, f->x.count)));
    check_ok(f->ctx, mn_level_set_redistance(f->set));
    check_ok(f->ctx, mn_level_set_smooth(f->set, 8));
    check_ok(f->ctx, mn_level_set_shift(f->set, 0.5));
}

static int64_t count_outside(fixture *f, const mn_vec3_array *places)
{
    int64_t outside = 0;
    check_ok(f->ctx, mn_array_resize(f->ctx, &f->phi, places->count));
    check_ok(f->ctx,
             mn_level_set_sample(f->set, mn_points_of(places->data, places->count), f->phi.data, NULL));
    for (int64_t i = 0; i < places->count; i++) outside += !(f->phi.data[i] < 0);
    return outside;
}

// `spacing` apart along u and v, each off its place by up to a fifth of it; and places in between to look at,
// away from the edge.
static void add_sheet(fixture *f, mn_vec3 u, mn_vec3 v, int32_t rows, int32_t columns, double spacing,
                      mn_vec3_array *between)
{
    for (int32_t i = 0; i < rows; i++)
        for (int32_t j = 0; j < columns; j++) {
            const mn_vec3 r = mn_random_unit3(7, (uint64_t)(i * columns + j), 0);
            const double a = spacing * (i + 0.4 * (r.x - 0.5)), b = spacing * (j + 0.4 * (r.y - 0.5));
            const mn_vec3 x = mn_add(mn_scale(a, u), mn_scale(b, v));
            check_ok(f->ctx, mn_array_push(f->ctx, &f->x, &x));
            const bool edge = i < 2 || i + 2 >= rows || ((j < 2 || j + 2 >= columns) && columns > 1);
            const mn_vec3 y = mn_add(mn_scale(spacing * (i + 0.5), u),
                                     mn_scale(spacing * (j + (columns > 1 ? 0.5 : 0)), v));
            if (!edge) check_ok(f->ctx, mn_array_push(f->ctx, between, &y));
        }
}

static void a_sheet_of_one_layer_has_no_holes(void **state)
{
    (void)state;
    const mn_vec3 directions[3] = {{0, 1, 0}, {0.3, 0.9, 0.2}, {0.577, 0.577, 0.577}};
    for (int k = 0; k < 3; k++)
        for (double spacing = 0.5; spacing < 1.1; spacing *= 2) {
            fixture f = open_fixture();
            mn_vec3_array between = {0};
            mn_vec3 u, v;
            mn_frame(mn_normalize(directions[k]), &u, &v);
            add_sheet(&f, u, v, 20, 20, spacing, &between);
            make_level_set(&f);
            assert_int_equal(count_outside(&f, &between), between.count); // it is lost
            check_ok(f.ctx, mn_thin_parts_add(f.parts, f.set, mn_points_of(f.x.data, f.x.count),
                                              f.volumes.data, NULL, NULL));
            assert_int_equal(count_outside(&f, &between), 0);
            // And no thicker than two and a half nodes to either side.
            for (int64_t i = 0; i < between.count; i++)
                between.data[i] = mn_axpy(between.data[i], 1.25, mn_normalize(directions[k]));
            assert_int_equal(count_outside(&f, &between), between.count);
            mn_array_free(f.ctx, &between);
            close_fixture(&f);
        }
}

static void a_thread_of_one_row_is_whole(void **state)
{
    (void)state;
    fixture f = open_fixture();
    mn_vec3_array between = {0};
    add_sheet(&f, mn_normalize(mn_v3(0.5, 0.7, 0.1)), mn_v3(0, 0, 1), 24, 1, 0.8, &between);
    make_level_set(&f);
    check_ok(f.ctx, mn_thin_parts_add(f.parts, f.set, mn_points_of(f.x.data, f.x.count), f.volumes.data, NULL,
                                      NULL));
    assert_int_equal(count_outside(&f, &between), 0);
    mn_array_free(f.ctx, &between);
    close_fixture(&f);
}

static void add_slab(fixture *f, int32_t layers)
{
    for (int32_t i = 0; i < 20; i++)
        for (int32_t j = 0; j < layers; j++)
            for (int32_t k = 0; k < 20; k++) {
                const mn_vec3 r = mn_random_unit3(3, (uint64_t)(400 * i + 20 * j + k), 0);
                const mn_vec3 x =
                    mn_scale(0.5, mn_v3(i + 0.4 * (r.x - 0.5), j + 0.4 * (r.y - 0.5), k + 0.4 * (r.z - 0.5)));
                check_ok(f->ctx, mn_array_push(f->ctx, &f->x, &x));
            }
}

static void a_full_liquid_stays_as_it_is(void **state)
{
    (void)state;
    fixture f = open_fixture();
    add_slab(&f, 20);
    make_level_set(&f);
    const mn_level_set_view view = mn_level_set_get(f.set);
    const int64_t nodes = (int64_t)view.blocks.count * MN_BLOCK_CELLS;
    check_ok(f.ctx, mn_array_resize(f.ctx, &f.phi, nodes));
    for (int64_t i = 0; i < nodes; i++) f.phi.data[i] = view.phi[i];
    check_ok(f.ctx, mn_thin_parts_add(f.parts, f.set, mn_points_of(f.x.data, f.x.count), f.volumes.data, NULL,
                                      NULL));
    int64_t moved = 0, moved_at_edges = 0;
    for (int64_t i = 0; i < nodes; i++) {
        const mn_vec3 x = mn_block_node_position(&view.blocks, (int32_t)(i / MN_BLOCK_CELLS),
                                                 (int32_t)(i % MN_BLOCK_CELLS));
        const double at[3] = {x.x, x.y, x.z};
        int faces = 0;
        for (int a = 0; a < 3; a++) faces += at[a] < 1.5 || at[a] > 8;
        if ((f.phi.data[i] < 0) != (view.phi[i] < 0)) *(faces > 1 ? &moved_at_edges : &moved) += 1;
    }
    assert_true(moved * 5000 < nodes);
    assert_true(moved_at_edges * 200 < nodes); // which smoothing has rounded
    close_fixture(&f);
}

// A ridge two cells high and three layers thick spreads like a full liquid and lies outside all the same.
static void a_ridge_is_not_lost(void **state)
{
    (void)state;
    fixture f = open_fixture();
    mn_vec3_array crest = {0};
    add_slab(&f, 8);
    for (int32_t j = 8; j < 12; j++)
        for (int32_t i = 0; i < 20; i++)
            for (int32_t k = 8; k < 11; k++) {
                const mn_vec3 r = mn_random_unit3(5, (uint64_t)(400 * i + 20 * j + k), 0);
                const mn_vec3 x =
                    mn_scale(0.5, mn_v3(i + 0.4 * (r.x - 0.5), j + 0.4 * (r.y - 0.5), k + 0.4 * (r.z - 0.5)));
                const mn_vec3 y = mn_scale(0.5, mn_v3(i + 0.5, 11, 9));
                check_ok(f.ctx, mn_array_push(f.ctx, &f.x, &x));
                if (i > 3 && i < 16) check_ok(f.ctx, mn_array_push(f.ctx, &crest, &y));
            }
    make_level_set(&f);
    assert_int_equal(count_outside(&f, &crest), crest.count);
    check_ok(f.ctx, mn_thin_parts_add(f.parts, f.set, mn_points_of(f.x.data, f.x.count), f.volumes.data, NULL,
                                      NULL));
    assert_int_equal(count_outside(&f, &crest), 0);
    mn_array_free(f.ctx, &crest);
    close_fixture(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_sheet_of_one_layer_has_no_holes),
        cmocka_unit_test(a_thread_of_one_row_is_whole),
        cmocka_unit_test(a_full_liquid_stays_as_it_is),
        cmocka_unit_test(a_ridge_is_not_lost),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
