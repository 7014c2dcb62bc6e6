// SPDX-License-Identifier: Apache-2.0
//
// The transfers against plain sums over all pairs of particle and node, what they conserve, and that the
// number of threads does not change a bit.
#include "support/check.h"

#include "base/random.h"
#include "mpm/pressure.h"
#include "mpm/transfer.h"
#include "mpm/viscosity.h"

enum { PARTICLES = 600, SPLATS = 150 };

typedef struct scene {
    mn_context *ctx;
    double dx;
    mn_vec3 origin; ///< of the nodes
    mn_blocks *blocks;
    mn_point_sort *sort, *splat_sort;
    mn_block_table table;
    mn_mpm_particle *particles, *splats;
    mn_mpm_material *materials;
    int32_t *group_of;
    mn_mpm_push *pushes;
    mn_mpm_node *nodes;
    mn_mpm_sample *samples;
} scene;

static mn_vec3 random_vec(uint64_t id, uint32_t draw, double size)
{
    return mn_scale(2 * size, mn_sub(mn_random_unit3(5, id, draw), mn_v3(0.5, 0.5, 0.5)));
}

static mn_mpm_particle random_particle(uint64_t id, double radius)
{
    mn_mpm_particle p = {.mass = 0.5 + mn_random_unit(5, id, 0), .v = random_vec(id, 1, 1.0)};
    mn_mpm_set_position(&p, random_vec(id, 2, radius));
    for (uint32_t a = 0; a < 3; a++) p.axis[a].slope = random_vec(id, 3 + a, 1.0);
    return p;
}

static scene make_scene(int32_t workers)
{
    mn_hooks hooks = {.max_workers = workers};
    scene s = {.ctx = mn_context_create(&hooks), .dx = 0.3, .origin = {0.11, -0.07, 0.05}};
    mn_mpm_particle *unsorted = mn_allocate(s.ctx, sizeof *unsorted * (PARTICLES + SPLATS));
    s.particles = mn_allocate(s.ctx, sizeof *s.particles * PARTICLES);
    s.materials = mn_allocate(s.ctx, sizeof *s.materials * PARTICLES);
    s.splats = mn_allocate(s.ctx, sizeof *s.splats * SPLATS);
    s.pushes = mn_allocate_zero(s.ctx, sizeof *s.pushes * SPLATS);
    for (uint64_t i = 0; i < SPLATS; i++)
        for (uint32_t a = 0; a < 3; a++) s.pushes[i].axis[a].column = random_vec(i, 50 + a, 0.1);
    s.samples = mn_allocate(s.ctx, sizeof *s.samples * PARTICLES);
    s.group_of = mn_allocate(s.ctx, sizeof *s.group_of * PARTICLES);
    for (uint64_t i = 0; i < PARTICLES + SPLATS; i++) unsorted[i] = random_particle(i, 1.5);
    memcpy(s.splats, unsorted + PARTICLES, sizeof *s.splats * SPLATS);
    const double half = 0.5 * s.dx;
    const mn_vec3 cell_origin = mn_add(s.origin, mn_v3(half, half, half));
    check_ok(s.ctx, mn_blocks_create(s.ctx, &s.blocks));
    check_ok(s.ctx, mn_point_sort_create(s.ctx, &s.sort));
    check_ok(s.ctx, mn_point_sort_create(s.ctx, &s.splat_sort));
    check_ok(s.ctx,
             mn_blocks_build(s.blocks, cell_origin, s.dx, mn_mpm_points(unsorted, PARTICLES + SPLATS), 0, 2));
    s.table = mn_blocks_table(s.blocks);
    check_ok(s.ctx, mn_point_sort_run(s.sort, s.blocks, mn_mpm_points(unsorted, PARTICLES)));
    check_ok(s.ctx, mn_point_sort_run(s.splat_sort, s.blocks, mn_mpm_points(s.splats, SPLATS)));
    const mn_sorted_points sorted = mn_point_sort_result(s.sort);
    for (int32_t i = 0; i < PARTICLES; i++) {
        const uint64_t id = (uint64_t)sorted.order[i];
        s.particles[i] = unsorted[id];
        s.materials[i] = (mn_mpm_material){.j = 0.9 + 0.2 * mn_random_unit(6, id, 0),
                                           .volume = 0.1 + mn_random_unit(6, id, 1),
                                           .viscosity = (float)mn_random_unit(6, id, 2),
                                           .id = (int64_t)id};
        s.group_of[i] = id % 3 == 0 ? (int32_t)id : -1; // a third is left to others
    }
    s.nodes = mn_allocate(s.ctx, sizeof *s.nodes * (size_t)s.table.count * MN_BLOCK_CELLS);
    mn_release(s.ctx, unsorted, sizeof *unsorted * (PARTICLES + SPLATS));
    return s;
}

static void free_scene(scene *s)
{
    mn_release(s->ctx, s->nodes, sizeof *s->nodes * (size_t)s->table.count * MN_BLOCK_CELLS);
    mn_release(s->ctx, s->group_of, sizeof *s->group_of * PARTICLES);
    mn_release(s->ctx, s->samples, sizeof *s->samples * PARTICLES);
    mn_release(s->ctx, s->pushes, sizeof *s->pushes * SPLATS);
    mn_release(s->ctx, s->splats, sizeof *s->splats * SPLATS);
    mn_release(s->ctx, s->materials, sizeof *s->materials * PARTICLES);
    mn_release(s->ctx, s->particles, sizeof *s->particles * PARTICLES);
    mn_point_sort_free(s->splat_sort);
    mn_point_sort_free(s->sort);
    mn_blocks_free(s->blocks);
    mn_context_free(s->ctx);
}

static void scatter(scene *s, double bulk, double dt)
{
    const mn_sorted_points sorted = mn_point_sort_result(s->sort);
    const mn_sorted_points splat_sorted = mn_point_sort_result(s->splat_sort);
    const mn_mpm_cells cells = {s->particles, s->materials, sorted.cell_start, s->group_of};
    const mn_mpm_splats splats = {s->splats, s->pushes, splat_sorted.order, splat_sorted.cell_start};
    check_ok(s->ctx,
             mn_mpm_scatter(s->ctx, &s->table, &cells, &splats, (mn_mpm_impulse){bulk, dt, dt}, s->nodes));
}

static void take_samples(void *user, int32_t block, int32_t first, int32_t count,
                         const mn_mpm_sample *samples)
{
    (void)block;
    memcpy(((scene *)user)->samples + first, samples, sizeof *samples * (size_t)count);
}

static void gather(scene *s)
{
    const mn_sorted_points sorted = mn_point_sort_result(s->sort);
    check_ok(s->ctx, mn_mpm_gather(s->ctx, &s->table, s->particles, NULL, sorted.cell_start, s->nodes,
                                   take_samples, s));
}

// The quadratic B-spline straight from its definition.
static double spline(double r)
{
    r = fabs(r);
    return r < 0.5 ? 0.75 - r * r : r < 1.5 ? 0.5 * (1.5 - r) * (1.5 - r) : 0.0;
}

static double spline_slope(double r)
{
    const double sign = r < 0 ? -1 : 1;
    r = fabs(r);
    return r < 0.5 ? -2 * sign * r : r < 1.5 ? sign * (r - 1.5) : 0.0;
}

static mn_vec3 node_position(const scene *s, int32_t block, int32_t cell)
{
    const mn_ivec3 c = mn_block_cell(&s->table, block, cell);
    return mn_add(s->origin, mn_scale(s->dx, mn_v3(c.x, c.y, c.z)));
}

static double weight(const scene *s, mn_vec3 node, mn_vec3 x)
{
    const mn_vec3 r = mn_scale(1 / s->dx, mn_sub(node, x));
    return spline(r.x) * spline(r.y) * spline(r.z);
}

// The derivative of the weight with the particle's position.
static mn_vec3 weight_gradient(const scene *s, mn_vec3 node, mn_vec3 x)
{
    const mn_vec3 r = mn_scale(1 / s->dx, mn_sub(node, x));
    return mn_scale(-1 / s->dx, mn_v3(spline_slope(r.x) * spline(r.y) * spline(r.z),
                                      spline(r.x) * spline_slope(r.y) * spline(r.z),
                                      spline(r.x) * spline(r.y) * spline_slope(r.z)));
}

// One term of the scatter, from the formula in scatter.c.
static void add_term(const scene *s, mn_vec3 node, mn_vec3 x, double mass, mn_vec3 momentum, mn_mat3 affine,
                     mn_mat3 push, mn_mpm_node *sum)
{
    const double w = weight(s, node, x);
    sum->v = mn_add(sum->v, mn_m3_apply(push, weight_gradient(s, node, x)));
    sum->mass += w * mass;
    sum->v = mn_axpy(sum->v, w, mn_add(momentum, mn_m3_apply(affine, mn_sub(node, x))));
}

static void scatter_is_the_plain_sum(void **state)
{
    (void)state;
    scene s = make_scene(1);
    const double bulk = 3.0, dt = 0.02;
    scatter(&s, bulk, dt);
    const double d = 4 / (s.dx * s.dx);
    for (int32_t block = 0; block < s.table.count; block++)
        for (int32_t cell = 0; cell < MN_BLOCK_CELLS; cell++) {
            const mn_vec3 node = node_position(&s, block, cell);
            mn_mpm_node sum = {0};
            for (int32_t i = 0; i < PARTICLES; i++) {
                const mn_mpm_particle *p = &s.particles[i];
                const mn_mpm_material *q = &s.materials[i];
                const double m = p->mass;
                if (s.group_of[i] >= 0) continue;
                const mn_mat3 a = mn_mpm_affine(p);
                const double k = dt * mn_pressure(bulk, q->j) * q->j * q->volume;
                const mn_mat3 tau = mn_viscosity_stress(q->viscosity, q->volume * q->j, a);
                const mn_mat3 b = mn_m3_add(mn_m3_scale(m, a), mn_m3_scale(-dt * d, tau));
                add_term(&s, node, mn_mpm_position(p), m, mn_scale(m, p->v), b, mn_m3_diagonal(k, k, k),
                         &sum);
            }
            for (int32_t i = 0; i < SPLATS; i++) {
                const mn_mpm_particle *p = &s.splats[i];
                const mn_mat3 push = mn_m3_columns(s.pushes[i].axis[0].column, s.pushes[i].axis[1].column,
                                                   s.pushes[i].axis[2].column);
                add_term(&s, node, mn_mpm_position(p), p->mass, p->v, mn_mpm_affine(p), push, &sum);
            }
            const mn_mpm_node found = s.nodes[block * MN_BLOCK_CELLS + cell];
            // A hundred terms of order one at most, stresses of order ten.
            check_close(found.mass, sum.mass, 1e-12);
            check_close(found.v.x, sum.v.x, 1e-11);
            check_close(found.v.y, sum.v.y, 1e-11);
            check_close(found.v.z, sum.v.z, 1e-11);
        }
    free_scene(&s);
}

static void gather_is_the_plain_sum(void **state)
{
    (void)state;
    scene s = make_scene(1);
    const int32_t node_count = s.table.count * MN_BLOCK_CELLS;
    for (int32_t i = 0; i < node_count; i++)
        s.nodes[i] = (mn_mpm_node){1.0, random_vec((uint64_t)i, 30, 1.0)};
    gather(&s);
    for (int32_t i = 0; i < PARTICLES; i++) {
        const mn_vec3 x = mn_mpm_position(&s.particles[i]);
        mn_vec3 v = {0};
        mn_mat3 gradient = {{{0}}};
        double divergence = 0;
        for (int32_t k = 0; k < node_count; k++) {
            const mn_vec3 node = node_position(&s, k / MN_BLOCK_CELLS, k % MN_BLOCK_CELLS);
            const double w = weight(&s, node, x);
            v = mn_axpy(v, w, s.nodes[k].v);
            divergence += mn_dot(s.nodes[k].v, weight_gradient(&s, node, x));
            gradient = mn_m3_add(gradient,
                                 mn_m3_scale(w * 4 / (s.dx * s.dx), mn_outer(s.nodes[k].v, mn_sub(node, x))));
        }
        check_close(mn_distance(s.samples[i].v, v), 0, 1e-13);
        check_close(s.samples[i].divergence, divergence, 1e-12);
        check_close(mn_m3_norm(mn_m3_add(s.samples[i].gradient, mn_m3_scale(-1, gradient))), 0, 1e-12);
    }
    free_scene(&s);
}

static void linear_velocity_is_reproduced(void **state)
{
    (void)state;
    scene s = make_scene(1);
    mn_mat3 g;
    for (uint32_t i = 0; i < 9; i++) g.m[i / 3][i % 3] = mn_random_unit(8, 1, i) - 0.5;
    for (int32_t k = 0; k < s.table.count * MN_BLOCK_CELLS; k++)
        s.nodes[k].v = mn_m3_apply(g, node_position(&s, k / MN_BLOCK_CELLS, k % MN_BLOCK_CELLS));
    gather(&s);
    for (int32_t i = 0; i < PARTICLES; i++) {
        check_close(mn_distance(s.samples[i].v, mn_m3_apply(g, mn_mpm_position(&s.particles[i]))), 0, 1e-13);
        check_close(mn_m3_norm(mn_m3_add(s.samples[i].gradient, mn_m3_scale(-1, g))), 0, 1e-12);
        check_close(s.samples[i].divergence, mn_m3_trace(g), 1e-12);
    }
    free_scene(&s);
}

// Mass, momentum and angular momentum of the grid are those of the particles; pressure and viscosity change
// none of them.
static void scatter_conserves_mass_and_momenta(void **state)
{
    (void)state;
    scene s = make_scene(1);
    memset(s.group_of, 0xff, sizeof *s.group_of * PARTICLES); // -1: none
    memset(s.splats, 0, sizeof *s.splats * SPLATS);
    memset(s.pushes, 0, sizeof *s.pushes * SPLATS);
    scatter(&s, 50.0, 0.1);
    double mass = 0, scale = 0;
    mn_vec3 linear = {0}, angular = {0};
    for (int32_t i = 0; i < PARTICLES; i++) {
        const mn_mpm_particle *p = &s.particles[i];
        const mn_mat3 a = mn_mpm_affine(p);
        mass += p->mass;
        linear = mn_axpy(linear, p->mass, p->v);
        // Of the affine motion about the particle: m dx^2/4 (A - A^T), as a vector.
        const mn_vec3 spin = mn_v3(a.m[2][1] - a.m[1][2], a.m[0][2] - a.m[2][0], a.m[1][0] - a.m[0][1]);
        angular = mn_axpy(angular, p->mass, mn_cross(mn_mpm_position(p), p->v));
        angular = mn_axpy(angular, p->mass * s.dx * s.dx / 4, spin);
        scale += p->mass * 4.0;
    }
    for (int32_t k = 0; k < s.table.count * MN_BLOCK_CELLS; k++) {
        const mn_vec3 x = node_position(&s, k / MN_BLOCK_CELLS, k % MN_BLOCK_CELLS);
        mass -= s.nodes[k].mass;
        linear = mn_sub(linear, s.nodes[k].v);
        angular = mn_sub(angular, mn_cross(x, s.nodes[k].v));
    }
    check_close(mass, 0, 1e-13 * scale);
    check_close(mn_norm(linear), 0, 1e-12 * scale);
    check_close(mn_norm(angular), 0, 1e-12 * scale);
    free_scene(&s);
}

static void any_number_of_threads_gives_the_same_bits(void **state)
{
    (void)state;
    scene one = make_scene(1);
    scatter(&one, 2.0, 0.01);
    gather(&one);
    for (int32_t workers = 2; workers <= 8; workers += 3) {
        scene many = make_scene(workers);
        scatter(&many, 2.0, 0.01);
        gather(&many);
        assert_memory_equal(one.nodes, many.nodes,
                            sizeof *one.nodes * (size_t)one.table.count * MN_BLOCK_CELLS);
        assert_memory_equal(one.samples, many.samples, sizeof *one.samples * PARTICLES);
        free_scene(&many);
    }
    free_scene(&one);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(scatter_is_the_plain_sum),
        cmocka_unit_test(gather_is_the_plain_sum),
        cmocka_unit_test(linear_velocity_is_reproduced),
        cmocka_unit_test(scatter_conserves_mass_and_momenta),
        cmocka_unit_test(any_number_of_threads_gives_the_same_bits),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
