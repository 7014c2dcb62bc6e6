// SPDX-License-Identifier: Apache-2.0
//
// The pressure equation: G and its transpose, fast path against stencils, constants and hydrostatics in cut
// cells, and multigrid that takes a flat number of iterations.
#include <stdlib.h>
#include <string.h>

#include "support/check.h"

#include "flow/pressure.h"
#include "support/flow_rows.h"

typedef struct tank {
    mn_context *ctx;
    mn_flow_grid grid;
    mn_flow_pressure pressure;
    mn_flow_values surface, solid;
    MN_ARRAY(mn_double4) u;
} tank;

typedef double field(mn_vec3 X);

static mn_flow_values fill_nodes(tank *t, field *f)
{
    mn_flow_values out = {0};
    assert_int_equal(mn_array_resize(t->ctx, &out, mn_flow_size(&t->grid)), MN_OK);
    for (int64_t at = 0; at < out.count; at++) {
        const mn_ivec3 c = mn_block_cell(&t->grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
        out.data[at] = f(mn_v3(c.x, c.y, c.z));
    }
    return out;
}

static void make_tank(tank *t, int32_t nx, int32_t ny, int32_t nz, const bool open[6], field *surface,
                      field *solid, double alpha, bool corrected)
{
    static const bool closed[6] = {false};
    memset(t, 0, sizeof *t);
    t->ctx = mn_context_create(NULL);
    const int32_t cells[3] = {nx, ny, nz};
    assert_int_equal(mn_flow_grid_create(t->ctx, mn_v3(0, 0, 0), 1.0, cells, &t->grid), MN_OK);
    assert_int_equal(mn_flow_grid_fill(&t->grid), MN_OK);
    if (surface) t->surface = fill_nodes(t, surface);
    if (solid) t->solid = fill_nodes(t, solid);
    assert_int_equal(mn_flow_pressure_create(&t->grid, open ? open : closed, &t->pressure), MN_OK);
    const mn_flow_region region = {t->surface.data, t->solid.data};
    assert_int_equal(mn_flow_pressure_build(&t->pressure, &region, alpha, corrected), MN_OK);
    assert_int_equal(mn_array_resize(t->ctx, &t->u, mn_flow_size(&t->grid)), MN_OK);
    memset(t->u.data, 0, sizeof(mn_double4) * (size_t)t->u.count);
}

static void free_tank(tank *t)
{
    mn_array_free(t->ctx, &t->surface);
    mn_array_free(t->ctx, &t->solid);
    mn_array_free(t->ctx, &t->u);
    mn_flow_pressure_free(&t->pressure);
    mn_flow_grid_free(&t->grid);
    mn_context_free(t->ctx);
}

static double noise(int64_t i)
{
    return (double)((((uint64_t)i + 7) * 0x9e3779b97f4a7c15u) >> 40) / 16777216.0 - 0.5;
}

static double slope_surface(mn_vec3 X)
{
    return X.y - 9.3 - 0.11 * X.x + 0.07 * X.z;
}
static double ball_solid(mn_vec3 X)
{
    return mn_distance(X, mn_v3(7.2, 6.1, 6.4)) - 3.3;
}

static double full_surface(mn_vec3 X)
{
    (void)X;
    return -1;
}

// The correction of masses takes what lumping adds, 1/4 |grad u|^2 of every cell, in boxes of any depth, up
// to their walls.
static void lumping_is_taken_back_up_to_the_walls(void **state)
{
    static const int32_t sizes[3][3] = {{9, 7, 1}, {5, 6, 7}, {1, 1, 1}};
    (void)state;
    for (int32_t n = 0; n < 3; n++)
        for (int32_t axis = 0; axis < 3; axis++) {
            const int32_t *cells = sizes[n];
            tank t;
            make_tank(&t, cells[0], cells[1], cells[2], NULL, full_surface, NULL, 0.3, true);
            for (int64_t at = 0; at < t.u.count; at++) {
                const mn_ivec3 c = mn_block_cell(&t.grid.table, (int32_t)(at / 64), (int32_t)(at % 64));
                t.u.data[at][1] = axis == 0 ? c.x : axis == 1 ? c.y : c.z;
            }
            double sum = 0;
            for (int32_t block = 0; block < t.grid.table.count; block++)
                sum += mn_flow_mass_excess(&t.pressure, block, t.u.data);
            check_close(sum, 0.25 * cells[0] * cells[1] * cells[2], 1e-12 * cells[0] * cells[1] * cells[2]);
            free_tank(&t);
        }
}

// v.(G^T p) = p.(G v) with everything at once: walls, an open side, a surface and a ball.
static void the_gradient_is_the_transpose_of_the_divergence(void **state)
{
    (void)state;
    const bool open[6] = {true, false, false, false, false, true};
    tank t;
    make_tank(&t, 13, 14, 12, open, slope_surface, ball_solid, 0.3, false);
    mn_flow_pressure *s = &t.pressure;
    const int64_t size = mn_flow_size(&t.grid);
    double *p = malloc(sizeof *p * (size_t)size), *y = malloc(sizeof *y * (size_t)size);
    for (int64_t i = 0; i < size; i++) p[i] = s->node.data[i] & 1 ? noise(i) : 0;
    assert_int_equal(mn_flow_gradient(s, p), MN_OK);
    double *kept[3], left = 0, right = 0, scale = 0;
    for (int d = 0; d < 3; d++) {
        kept[d] = malloc(sizeof(double) * (size_t)size);
        memcpy(kept[d], s->v[d], sizeof(double) * (size_t)size);
        for (int64_t i = 0; i < size; i++) {
            const double v = s->mass.data[i] > 1e-9 ? noise(3 * i + d) : 0;
            left += kept[d][i] * s->mass.data[i] * v;
            scale += fabs(kept[d][i] * s->mass.data[i] * v);
            s->v[d][i] = v;
        }
    }
    assert_int_equal(mn_flow_divergence(s, y), MN_OK);
    for (int64_t i = 0; i < size; i++) right += p[i] * y[i];
    assert_true(fabs(left - right) <= 1e-12 * scale);
    for (int d = 0; d < 3; d++) free(kept[d]);
    free(p), free(y);
    free_tank(&t);
}

static double everywhere(mn_vec3 X)
{
    (void)X;
    return -1;
}

// A surface or solid far away changes nothing: stencils of irregular splines against the passes of regular
// ones. A solid that cuts nothing leaves every cell full, so irregular splines are made by hand through a far
// ball.
// A surface a thousandth of a cell above a plane of nodes: those over it follow, and a constant pressure
// still pushes each spline by its part of the surface alone.
static double sliver_surface(mn_vec3 x)
{
    return x.y - 8.001;
}

static void slivers_follow_and_constants_stay(void **state)
{
    (void)state;
    tank t;
    make_tank(&t, 12, 12, 12, NULL, sliver_surface, NULL, 0.3, false);
    mn_flow_pressure *s = &t.pressure;
    assert_true(s->follower.count >= 100);
    for (int64_t k = 0; k < s->follower.count; k++) assert_true(s->node.data[s->follower.data[k].leader] & 1);
    for (int64_t i = 0; i < s->p.count; i++) s->p.data[i] = s->node.data[i] & 1 ? 1 : 0;
    assert_int_equal(mn_flow_gradient(s, s->p.data), MN_OK);
    for (int64_t i = 0; i < s->p.count; i++) {
        const mn_ivec3 c = mn_block_cell(&t.grid.table, (int32_t)(i / 64), (int32_t)(i % 64));
        if (c.x < 2 || c.z < 2 || c.x > 11 || c.z > 11 || c.y < 3 || s->mass.data[i] < 1e-4) continue;
        const double r = 8.001 - (c.y + 0.5), a = fabs(r);
        const double n = a < 0.5 ? 0.75 - a * a : a < 1.5 ? 0.5 * (1.5 - a) * (1.5 - a) : 0;
        assert_true(fabs(s->v[1][i] * s->mass.data[i] - n) < 1e-5); // of single precision, and of mass 1e-4
        assert_true(fabs(s->v[0][i] * s->mass.data[i]) < 1e-5);
    }
    free_tank(&t);
}

static bool at_wall(const tank *t, int64_t i)
{
    const mn_ivec3 c = mn_block_cell(&t->grid.table, (int32_t)(i / 64), (int32_t)(i % 64));
    return c.x < 2 || c.y < 2 || c.z < 2 || c.x > 13 || c.y > 14 || c.z > 12;
}

static void a_linear_velocity_has_its_divergence(void **state)
{
    (void)state;
    tank t;
    make_tank(&t, 13, 14, 12, NULL, slope_surface, NULL, 0.3, false);
    mn_flow_pressure *s = &t.pressure;
    const int64_t size = mn_flow_size(&t.grid);
    double *y = malloc(sizeof *y * (size_t)size);
    // u = (x, -2 y, z) has no divergence; rows of nodes that touch no wall are zero to the stencils'
    // precision
    for (int64_t i = 0; i < size; i++) {
        const mn_ivec3 c = mn_block_cell(&t.grid.table, (int32_t)(i / 64), (int32_t)(i % 64));
        s->v[0][i] = 0.1 * c.x, s->v[1][i] = -0.2 * c.y, s->v[2][i] = 0.1 * c.z;
        if (s->mass.data[i] <= 1e-9) s->v[0][i] = s->v[1][i] = s->v[2][i] = 0;
    }
    assert_int_equal(mn_flow_divergence(s, y), MN_OK);
    for (int64_t k = 0; k < s->follower.count; k++) // those at a wall bring its flux along
        if (at_wall(&t, s->follower.data[k].node)) y[s->follower.data[k].leader] = 0;
    int64_t rows = 0;
    for (int64_t i = 0; i < size; i++) {
        if (at_wall(&t, i)) continue;
        if (s->node.data[i] & 1) {
            assert_true(fabs(y[i]) < 3e-6);
            rows++;
        }
    }
    assert_true(rows > 500);
    free(y);
    free_tank(&t);
}

static int32_t iterations(int32_t n, field *surface, field *solid, double *left)
{
    tank t;
    make_tank(&t, n, n, n, NULL, surface, solid, 0.5, surface != NULL);
    mn_flow_pressure *s = &t.pressure;
    for (int64_t i = 0; i < mn_flow_size(&t.grid); i++)
        for (int d = 0; d < 3; d++) t.u.data[i][d] = s->mass.data[i] > 0 ? noise(3 * i + d) : 0;
    mn_flow_projection result;
    double *b = flow_right_side(s, t.u.data);
    assert_non_null(b);
    assert_int_equal(mn_flow_project(s, 1e-10, NULL, t.u.data, &result), MN_OK);
    *left = flow_residual(s, b);
    assert_true(*left >= 0);
    free_tank(&t);
    return result.iterations;
}

static double half_surface_16(mn_vec3 X)
{
    return X.y - 9.4 - 0.03 * X.x;
}
static double half_surface_32(mn_vec3 X)
{
    return X.y - 17.4 - 0.03 * X.x;
}
static double disc_16(mn_vec3 X)
{
    return hypot(X.x - 8.3, X.y - 5.2) - 2.7;
}
static double disc_32(mn_vec3 X)
{
    return hypot(X.x - 16.3, X.y - 10.2) - 5.3;
}

static void multigrid_takes_a_flat_number_of_iterations(void **state)
{
    (void)state;
    double left;
    const int32_t box16 = iterations(16, NULL, NULL, &left);
    print_message("box 16: %d, left %g\n", box16, left);
    const int32_t box32 = iterations(32, NULL, NULL, &left);
    print_message("box 32: %d, left %g\n", box32, left);
    const int32_t tank16 = iterations(16, half_surface_16, disc_16, &left);
    print_message("tank 16: %d, left %g\n", tank16, left);
    const int32_t tank32 = iterations(32, half_surface_32, disc_32, &left);
    print_message("tank 32: %d, left %g\n", tank32, left);
    assert_true(left < 1e-9);
    assert_true(box32 <= 40 && tank32 <= 40);
    (void)everywhere;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_gradient_is_the_transpose_of_the_divergence),
        cmocka_unit_test(lumping_is_taken_back_up_to_the_walls),
        cmocka_unit_test(slivers_follow_and_constants_stay),
        cmocka_unit_test(a_linear_velocity_has_its_divergence),
        cmocka_unit_test(multigrid_takes_a_flat_number_of_iterations),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
