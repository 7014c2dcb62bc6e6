// SPDX-License-Identifier: Apache-2.0
#include "base/random.h"
#include "space/blocks.h"
#include "support/check.h"
#include "support/failing_allocator.h"

enum { POINTS = 20000 };

typedef struct cloud {
    mn_context *ctx;
    mn_blocks *blocks;
    mn_point_sort *sort;
    mn_vec3 *x;
    int64_t count;
} cloud;

static void random_cloud(mn_vec3 *x, int64_t count, double size)
{
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 u = mn_random_unit3(7, (uint64_t)i, 0);
        x[i] = mn_v3((u.x - 0.5) * size, (u.y - 0.5) * size, (u.z - 0.5) * size * 0.2);
    }
}

static int setup(void **state)
{
    cloud *c = calloc(1, sizeof *c);
    c->ctx = mn_context_create(NULL);
    check_ok(c->ctx, mn_blocks_create(c->ctx, &c->blocks));
    check_ok(c->ctx, mn_point_sort_create(c->ctx, &c->sort));
    c->x = malloc(POINTS * sizeof *c->x);
    c->count = POINTS;
    random_cloud(c->x, c->count, 2.0);
    *state = c;
    return 0;
}

static int teardown(void **state)
{
    cloud *c = *state;
    mn_blocks_free(c->blocks);
    mn_point_sort_free(c->sort);
    assert_int_equal(mn_context_bytes(c->ctx), 0);
    mn_context_free(c->ctx);
    free(c->x);
    free(c);
    return 0;
}

static mn_ivec3 cell_at(mn_vec3 origin, double dx, mn_vec3 x)
{
    const mn_vec3 u = mn_scale(1.0 / dx, mn_sub(x, origin));
    return mn_iv3((int32_t)floor(u.x), (int32_t)floor(u.y), (int32_t)floor(u.z));
}

/// The set holds exactly the blocks of the cells within reach of a point's cell: none is missing, and each is
/// there for a reason.
static void test_reach_is_exact(void **state)
{
    cloud *c = *state;
    const mn_vec3 origin = mn_v3(0.013, -0.02, 0.5);
    const double dx = 0.03;
    c->count = 700; // sparse enough that a block may have one point only
    const int32_t reaches[4][2] = {{0, 0}, {0, 2}, {1, 2}, {4, 3}};
    for (int r = 0; r < 4; r++) {
        const int32_t low = reaches[r][0], high = reaches[r][1];
        check_ok(c->ctx, mn_blocks_build(c->blocks, origin, dx, mn_points_of(c->x, c->count), low, high));
        const mn_block_table table = mn_blocks_table(c->blocks);
        uint8_t *needed = calloc((size_t)table.count, 1);
        for (int64_t i = 0; i < c->count; i++) {
            const mn_ivec3 cell = cell_at(origin, dx, c->x[i]);
            for (int32_t x = -low; x <= high; x++)
                for (int32_t y = -low; y <= high; y++)
                    for (int32_t z = -low; z <= high; z++) {
                        const int32_t at =
                            mn_blocks_find_cell(c->blocks, mn_iv3(cell.x + x, cell.y + y, cell.z + z));
                        assert_true(at >= 0);
                        needed[at / 64] = 1;
                        const mn_ivec3 back = mn_block_cell(&table, at / 64, at % 64);
                        assert_true(back.x == cell.x + x && back.y == cell.y + y && back.z == cell.z + z);
                    }
            const int32_t own = mn_blocks_find_cell(c->blocks, cell);
            assert_true(table.occupied[own / 64] >> (own % 64) & 1);
        }
        for (int32_t b = 0; b < table.count; b++) assert_true(needed[b]);
        free(needed);
    }
}

static int before(mn_ivec3 a, mn_ivec3 b)
{
    return a.x != b.x ? a.x < b.x : a.y != b.y ? a.y < b.y : a.z < b.z;
}

static void check_tables(const mn_blocks *blocks)
{
    const mn_block_table table = mn_blocks_table(blocks);
    for (int32_t b = 0; b < table.count; b++) {
        const mn_ivec3 c = table.coords[b];
        if (b > 0) assert_true(before(table.coords[b - 1], c));
        for (int32_t n = 0; n < MN_BLOCK_NEIGHBOURS; n++) {
            const mn_ivec3 at = mn_iv3(c.x + n / 9 - 1, c.y + n / 3 % 3 - 1, c.z + n % 3 - 1);
            assert_int_equal(table.neighbours[b][n], mn_blocks_find(blocks, at));
        }
        assert_int_equal(table.neighbours[b][MN_BLOCK_SELF], b);
        for (int32_t k = -4; k < 8; k++)
            assert_int_equal(mn_block_reach(&table, b, k, 3, 3 - k),
                             mn_blocks_find_cell(blocks, mn_iv3(4 * c.x + k, 4 * c.y + 3, 4 * c.z + 3 - k)));
    }
    int32_t listed = 0;
    for (int32_t colour = 0; colour < MN_BLOCK_COLOURS; colour++)
        for (int32_t i = table.colour_start[colour]; i < table.colour_start[colour + 1]; i++, listed++) {
            if (i == table.colour_start[colour]) continue;
            const mn_ivec3 p = table.coords[table.coloured[i - 1]], q = table.coords[table.coloured[i]];
            assert_true(table.coloured[i - 1] < table.coloured[i]);
            assert_true(((p.x - q.x) | (p.y - q.y) | (p.z - q.z)) % 2 == 0);
        }
    assert_int_equal(listed, table.count);
}

static void test_tables(void **state)
{
    cloud *c = *state;
    check_ok(c->ctx, mn_blocks_build(c->blocks, mn_v3(0, 0, 0), 0.05, mn_points_of(c->x, c->count), 0, 2));
    check_tables(c->blocks);
    const mn_ivec3 far[] = {{-(1 << 26), 5, 0}, {(1 << 26), 1 << 20, -9}, {5, 5, 5}, {5, 5, 5}, {6, 5, 5}};
    check_ok(c->ctx, mn_blocks_build_from_coords(c->blocks, mn_v3(0, 0, 0), 0.05, 5, far, 1));
    assert_int_equal(mn_blocks_table(c->blocks).count, 27 + 27 + 36);
    check_tables(c->blocks);
    check_ok(c->ctx, mn_blocks_build_from_coords(c->blocks, mn_v3(0, 0, 0), 0.05, 1, far, 2));
    assert_int_equal(mn_blocks_table(c->blocks).count, 125);
    check_tables(c->blocks);
}

/// Points come cell by cell, every one once, and in their old order inside a cell.
static void check_sorted(const cloud *c)
{
    const mn_block_table table = mn_blocks_table(c->blocks);
    const mn_sorted_points sorted = mn_point_sort_result(c->sort);
    assert_int_equal(sorted.point_count, c->count);
    assert_int_equal(sorted.cell_start[0], 0);
    assert_int_equal(sorted.cell_start[table.count * 64], c->count);
    for (int32_t cell = 0; cell < table.count * 64; cell++)
        for (int32_t k = sorted.cell_start[cell]; k < sorted.cell_start[cell + 1]; k++) {
            const mn_ivec3 at = cell_at(table.origin, table.dx, c->x[sorted.order[k]]);
            assert_int_equal(mn_blocks_find_cell(c->blocks, at), cell);
            if (k > sorted.cell_start[cell]) assert_true(sorted.order[k - 1] < sorted.order[k]);
        }
}

static void test_sort(void **state)
{
    cloud *c = *state;
    check_ok(c->ctx, mn_blocks_build(c->blocks, mn_v3(0, 0, 0), 0.05, mn_points_of(c->x, c->count), 0, 2));
    check_ok(c->ctx, mn_point_sort_run(c->sort, c->blocks, mn_points_of(c->x, c->count)));
    check_sorted(c);
    // Every point in a block of its own overflows the chunks' lists.
    check_ok(c->ctx, mn_blocks_build(c->blocks, mn_v3(0, 0, 0), 1e-3, mn_points_of(c->x, c->count), 0, 0));
    check_ok(c->ctx, mn_point_sort_run(c->sort, c->blocks, mn_points_of(c->x, c->count)));
    check_sorted(c);
}

/// One structure of 16 doubles per point, and three separate arrays, give what an array of vectors gives.
static void test_layouts(void **state)
{
    cloud *c = *state;
    double *record = malloc(sizeof(double) * 16 * POINTS);
    for (int64_t i = 0; i < c->count; i++) memcpy(record + 16 * i + 5, &c->x[i], sizeof(mn_vec3));
    const mn_points strided = {c->count, record + 5, record + 6, record + 7, 16};
    check_ok(c->ctx, mn_blocks_build(c->blocks, mn_v3(0, 0, 0), 0.05, strided, 0, 2));
    check_ok(c->ctx, mn_point_sort_run(c->sort, c->blocks, strided));
    check_sorted(c);
    free(record);
}

static uint64_t hash_bytes(uint64_t h, const void *bytes, size_t size)
{
    for (size_t i = 0; i < size; i++) h = (h ^ ((const uint8_t *)bytes)[i]) * 0x100000001b3u;
    return h;
}

static uint64_t build_hash(int32_t workers, const mn_vec3 *x, int64_t count)
{
    mn_hooks hooks = {.max_workers = workers};
    mn_context *ctx = mn_context_create(&hooks);
    mn_blocks *blocks;
    mn_point_sort *sort;
    check_ok(ctx, mn_blocks_create(ctx, &blocks));
    check_ok(ctx, mn_point_sort_create(ctx, &sort));
    check_ok(ctx, mn_blocks_build(blocks, mn_v3(0, 0, 0), 0.04, mn_points_of(x, count), 0, 2));
    check_ok(ctx, mn_point_sort_run(sort, blocks, mn_points_of(x, count)));
    const mn_block_table t = mn_blocks_table(blocks);
    const mn_sorted_points s = mn_point_sort_result(sort);
    uint64_t h = hash_bytes(1, t.coords, sizeof *t.coords * (size_t)t.count);
    h = hash_bytes(h, t.neighbours, sizeof *t.neighbours * (size_t)t.count);
    h = hash_bytes(h, t.coloured, sizeof *t.coloured * (size_t)t.count);
    h = hash_bytes(h, s.order, sizeof *s.order * (size_t)count);
    h = hash_bytes(h, s.cell_start, sizeof *s.cell_start * (size_t)(t.count * 64 + 1));
    mn_blocks_free(blocks);
    mn_point_sort_free(sort);
    mn_context_free(ctx);
    return h;
}

static void test_any_number_of_workers(void **state)
{
    cloud *c = *state;
    const uint64_t one = build_hash(1, c->x, c->count);
    assert_true(one == build_hash(2, c->x, c->count));
    assert_true(one == build_hash(3, c->x, c->count));
    assert_true(one == build_hash(8, c->x, c->count));
}

/// Once warm, building and sorting again does not allocate, as long as the cloud does not grow.
static void test_steady_loop_does_not_allocate(void **state)
{
    cloud *c = *state;
    int64_t calls = 0;
    for (int32_t step = 0; step < 6; step++) {
        check_ok(c->ctx, mn_blocks_build(c->blocks, mn_v3(0.001 * step, 0, 0), 0.05,
                                         mn_points_of(c->x, c->count - 100 * step), 0, 2));
        check_ok(c->ctx, mn_point_sort_run(c->sort, c->blocks, mn_points_of(c->x, c->count - 100 * step)));
        if (step == 2) calls = mn_context_allocation_count(c->ctx);
    }
    assert_int_equal(mn_context_allocation_count(c->ctx), calls);
}

static void test_bad_input(void **state)
{
    cloud *c = *state;
    const mn_vec3 o = mn_v3(0, 0, 0);
    mn_points points = mn_points_of(c->x, c->count);
    c->x[17].y = NAN;
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, 0.05, points, 0, 2), MN_ERROR_INPUT, "Point 17 has");
    assert_int_equal(mn_blocks_table(c->blocks).count, 0);
    assert_int_equal(mn_blocks_find(c->blocks, mn_iv3(0, 0, 0)), -1);
    c->x[17].y = 1e30;
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, 0.05, points, 0, 2), MN_ERROR_INPUT, "Point 17 at");
    c->x[17].y = 0.0;
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, 0.0, points, 0, 2), MN_ERROR_ARGUMENT, "spacing");
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, -1.0, points, 0, 2), MN_ERROR_ARGUMENT, "spacing");
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, NAN, points, 0, 2), MN_ERROR_ARGUMENT, "spacing");
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, 1e-310, points, 0, 2), MN_ERROR_ARGUMENT, "spacing");
    check_fails(c->ctx, mn_blocks_build(c->blocks, mn_v3(INFINITY, 0, 0), 1.0, points, 0, 2),
                MN_ERROR_ARGUMENT, "origin");
    check_fails(c->ctx, mn_blocks_build(c->blocks, o, 0.05, points, 0, 5), MN_ERROR_ARGUMENT, "reaches");
    const mn_ivec3 outside = {INT32_MAX, 0, 0};
    check_fails(c->ctx, mn_blocks_build_from_coords(c->blocks, o, 1.0, 1, &outside, 1), MN_ERROR_INPUT,
                "outside the grid");
    // Points of another cloud than the blocks were built for.
    check_ok(c->ctx, mn_blocks_build(c->blocks, o, 0.05, mn_points_of(c->x, 1), 0, 0));
    check_fails(c->ctx, mn_point_sort_run(c->sort, c->blocks, points), MN_ERROR_ARGUMENT, "outside");
    // Nothing at all is fine.
    check_ok(c->ctx, mn_blocks_build(c->blocks, o, 0.05, mn_points_of(NULL, 0), 1, 2));
    check_ok(c->ctx, mn_point_sort_run(c->sort, c->blocks, mn_points_of(NULL, 0)));
    assert_int_equal(mn_point_sort_result(c->sort).point_count, 0);
    assert_int_equal(mn_blocks_table(c->blocks).count, 0);
}

static void test_out_of_memory(void **state)
{
    cloud *c = *state;
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        mn_blocks *blocks = NULL;
        mn_point_sort *sort = NULL;
        mn_status status = MN_ERROR_MEMORY;
        if (ctx) {
            status = mn_blocks_create(ctx, &blocks);
            if (status == MN_OK) status = mn_point_sort_create(ctx, &sort);
            if (status == MN_OK)
                status = mn_blocks_build(blocks, mn_v3(0, 0, 0), 0.05, mn_points_of(c->x, 3000), 0, 2);
            if (status == MN_OK) status = mn_point_sort_run(sort, blocks, mn_points_of(c->x, 3000));
            mn_blocks_free(blocks);
            mn_point_sort_free(sort);
            mn_context_free(ctx);
        }
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_reach_is_exact, setup, teardown),
        cmocka_unit_test_setup_teardown(test_tables, setup, teardown),
        cmocka_unit_test_setup_teardown(test_sort, setup, teardown),
        cmocka_unit_test_setup_teardown(test_layouts, setup, teardown),
        cmocka_unit_test_setup_teardown(test_any_number_of_workers, setup, teardown),
        cmocka_unit_test_setup_teardown(test_steady_loop_does_not_allocate, setup, teardown),
        cmocka_unit_test_setup_teardown(test_bad_input, setup, teardown),
        cmocka_unit_test_setup_teardown(test_out_of_memory, setup, teardown),
    };
    return cmocka_run_group_tests_name("space/blocks", tests, NULL, NULL);
}
