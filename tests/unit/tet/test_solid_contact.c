// SPDX-License-Identifier: Apache-2.0
//
// Solids that touch each other: two blocks that meet bounce and keep both momenta, a block on a block comes
// to rest on it, and the pushes are derivatives of their energy.
#include "base/random.h"
#include "contact/surface.h"
#include "support/check.h"
#include "support/tet_lattice_brick.h"
#include "tet/state.h"

// What does not look at threads needs one: the thread sanitizer sees the others.
static const mn_hooks alone = {.max_workers = 1};

static mn_tet_material rubber(void)
{
    return (mn_tet_material){.name = "rubber",
                             .density = 1,
                             .young = 200,
                             .poisson = 0.3,
                             .heat_capacity = 1,
                             .reference_temperature = 300};
}

// Two blocks in one mesh, the second shifted by `offset` and moving by `v` against the first.
static mn_tet_liquid *make_blocks(mn_context *ctx, mn_vec3 offset, mn_vec3 v, mn_vec3 gravity,
                                  double friction, bool turned)
{
    mn_tet_mesh *one = tet_lattice_brick(ctx, 2, 2, 2, 0.5, 0.05), *both;
    const int32_t n = one->vertex_slots, m = one->tet_slots;
    mn_vec3 x[200];
    int32_t tets[400][4];
    assert_true(2 * n <= 200 && 2 * m <= 400);
    for (int32_t i = 0; i < n; i++) {
        const mn_vec3 y = one->position[i]; // the second is turned by half a turn: its nodes lie elsewhere
        const mn_vec3 turn = mn_v3(1 - y.x, y.y, 1 - y.z), c = mn_sub(y, mn_v3(0.5, 0.5, 0.5));
        const double r = sqrt(0.5); // an edge downwards, across the first one's
        const mn_vec3 edge = mn_v3(0.5 + r * (c.x - c.y), 0.5 + r * (c.x + c.y), 0.5 + c.z);
        x[i] = turned ? mn_v3(0.5 + c.x, 0.5 + r * (c.y - c.z), 0.5 + r * (c.y + c.z)) : y;
        x[n + i] = mn_add(turned ? edge : turn, offset);
    }
    for (int32_t t = 0; t < m; t++)
        for (int k = 0; k < 4; k++) tets[t][k] = one->tet[t][k], tets[m + t][k] = n + one->tet[t][k];
    check_ok(ctx, mn_tet_mesh_build(ctx, 2 * n, x, 2 * m, (const int32_t(*)[4])tets, &both));
    mn_tet_field *speed;
    check_ok(ctx, mn_tet_mesh_add_field(both, MN_TET_V, MN_TET_LINEAR, 3, &speed));
    for (int32_t i = n; i < 2 * n; i++) memcpy(speed->data + 3 * i, &v, sizeof v);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = gravity, def.friction = friction, def.stick = friction > 0, def.density = 1, def.sigma = 0,
    def.max_dt = 0.01;
    def.capillary_step = 1e9;
    if (gravity.y < 0) def.domain = (mn_box){{-9, 0, -9}, {9, 9, 9}}, def.wall[2] = true;
    mn_tet_liquid *q;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, both, &q));
    mn_tet_material material = rubber();
    if (friction > 0) material.young = 5000;    // so that the slope stays as it is
    material.viscosity = gravity.y < 0 ? 5 : 0; // so that bounces die away
    check_ok(ctx, mn_tet_liquid_set_materials(q, 1, &material));
    mn_tet_mesh_free(one);
    mn_tet_mesh_free(both);
    return q;
}

static mn_tet_liquid *two_blocks(mn_context *ctx, mn_vec3 offset, mn_vec3 v, double gravity)
{
    return make_blocks(ctx, offset, v, mn_v3(0, -gravity, 0), 0, false);
}

// The mean of x, or of v, over a body.
static mn_vec3 mean_of(const mn_tet_liquid *q, int32_t body, const mn_vec3 *field)
{
    const double *rest = mn_tet_field_numbers(q, MN_TET_REST_VOLUME);
    mn_vec3 sum = {0};
    double mass = 0;
    for (int32_t t = 0; t < q->mesh->tet_slots; t++)
        for (int k = 0; k < 4 && q->bodies.of_node.data[q->mesh->tet[t][0]] == body; k++)
            sum = mn_axpy(sum, 0.25 * rest[t], field[q->mesh->tet[t][k]]), mass += 0.25 * rest[t];
    return mn_scale(1 / mass, sum);
}

static void check_bounce(double friction)
{
    mn_context *ctx = mn_context_create(&alone);
    mn_tet_liquid *q =
        make_blocks(ctx, mn_v3(0.13, 1.1, 0.21), mn_v3(friction, -2, 0), mn_v3(0, 0, 0), friction, false);
    mn_report before, after;
    mn_tet_liquid_report(q, &before);
    assert_int_equal(q->bodies.count, 2);
    double nearest = 9, apart = 9;
    for (int i = 0; i < 20 && apart < nearest + 0.05; i++) { // until they part again
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.02));
        apart = mean_of(q, 1, q->mesh->position).y - mean_of(q, 0, q->mesh->position).y;
        nearest = fmin(nearest, apart);
    }
    mn_tet_liquid_report(q, &after);
    for (int a = 0; a < 3; a++) {
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-12);
        // BDF2 keeps it to second order only; with friction the blocks turn while they touch.
        const double turn = before.value[MN_REPORT_angular_momentum][a];
        check_close(after.value[MN_REPORT_angular_momentum][a], turn,
                    1e-3 * (friction > 0 ? 1 + fabs(turn) : 1));
    }
    assert_int_equal(q->bodies.count, 2);
    assert_true(nearest > 0.7); // squeezed, but not through each other
    const mn_vec3 *v = mn_tet_field_vectors(q, MN_TET_V);
    assert_true(mean_of(q, 1, v).y > mean_of(q, 0, v).y); // they part
    assert_true(after.value[MN_REPORT_kinetic_energy][0] + after.value[MN_REPORT_elastic_energy][0] <
                1.01 * before.value[MN_REPORT_kinetic_energy][0]);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

static void blocks_that_meet_bounce(void **state)
{
    (void)state;
    check_bounce(0);
    check_bounce(0.5);
}

static void a_block_rests_on_a_block(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(&alone);
    mn_tet_liquid *q = two_blocks(ctx, mn_v3(0.1, 1.02, 0.05), mn_v3(0, 0, 0), 1);
    for (int i = 0; i < 40; i++) check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.05));
    const double apart = mean_of(q, 1, q->mesh->position).y - mean_of(q, 0, q->mesh->position).y;
    assert_true(apart > 0.95 && apart < 1.02);
    mn_report report;
    mn_tet_liquid_report(q, &report);
    assert_true(report.value[MN_REPORT_max_speed][0] < 0.05);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// Whether an edge of one block passes through a face of the other.
static bool crosses(const mn_tet_liquid *q)
{
    const mn_tet_system *s = &q->system;
    static const uint32_t flags[2] = {0, 0};
    static const double stiffness[2] = {1, 1};
    mn_contact_pairs *contact;
    bool found;
    int32_t v[2];
    const mn_contact_surface surface = {.vertex_count = s->node_count,
                                        .triangle_count = s->face_count,
                                        .group_count = 2,
                                        .rest = q->mesh->position,
                                        .triangles = (const int32_t(*)[3])(const void *)s->face.data,
                                        .group = q->bodies.of_node.data,
                                        .flags = flags,
                                        .stiffness = stiffness};
    check_ok(q->ctx, mn_contact_create(q->ctx, &contact));
    check_ok(q->ctx, mn_contact_set_surface(contact, &surface));
    check_ok(q->ctx, mn_contact_sort(contact, q->mesh->position));
    check_ok(q->ctx, mn_contact_find_crossing(contact, q->mesh->position, &found, v));
    mn_contact_free(contact);
    return found;
}

// Two edges across each other: what has no node behind a face is held too.
static void edges_hold_edges(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_tet_liquid *q = make_blocks(ctx, mn_v3(0, 1.5, 0), mn_v3(0, -2, 0), mn_v3(0, 0, 0), 0, true);
    mn_report before, after;
    double nearest = 9;
    mn_tet_liquid_report(q, &before);
    for (int i = 0; i < 25; i++) {
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.02));
        assert_false(crosses(q));
        nearest = fmin(nearest, mean_of(q, 1, q->mesh->position).y - mean_of(q, 0, q->mesh->position).y);
    }
    mn_tet_liquid_report(q, &after);
    assert_true(nearest > 1 && nearest < 1.42); // they met
    const mn_vec3 *v = mn_tet_field_vectors(q, MN_TET_V);
    assert_true(mean_of(q, 1, v).y > mean_of(q, 0, v).y + 0.5);
    for (int a = 0; a < 3; a++)
        check_close(after.value[MN_REPORT_momentum][a], before.value[MN_REPORT_momentum][a], 1e-12);
    mn_tet_liquid_free(q);
    mn_context_free(ctx);
}

// On a block that sticks to a slope of 0.3: g (sin - mu cos), or rest.
static void friction_holds_or_slows(void **state)
{
    (void)state;
    static const double friction[] = {0.1, 0.5}, gaps[] = {1.06, 1.02}; // the barrier; what was near at first
    for (int i = 0; i < 3; i++) {
        mn_context *ctx = mn_context_create(&alone);
        const double mu = friction[i % 2], cosine = 1 / sqrt(1.09), sine = 0.3 * cosine;
        mn_tet_liquid *q = make_blocks(ctx, mn_v3(-0.1, gaps[i / 2], 0.05), mn_v3(0, 0, 0),
                                       mn_v3(sine, -cosine, 0), mu, false);
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.8));
        const double first = mean_of(q, 1, mn_tet_field_vectors(q, MN_TET_V)).x;
        check_ok(ctx, mn_tet_liquid_advance(q, NULL, 0.5));
        const double last = mean_of(q, 1, mn_tet_field_vectors(q, MN_TET_V)).x;
        if (mu < 0.3)
            // Nodes behind faces come and go as they slide, which the barrier smooths.
            check_close((last - first) / 0.5, sine - mu * cosine, (i / 2 ? 0.1 : 0.03) * sine);
        else
            assert_true(fabs(last) < 2e-3); // what friction smooths below
        mn_tet_liquid_free(q);
        mn_context_free(ctx);
    }
}

// Differences of k (g - r)^2/2, and of the push along random motions; a convex stage resists no less.
static void pushes_are_derivatives(void **state)
{
    (void)state;
    const double rest = -0.01;
    mn_context *ctx = mn_context_create(NULL);
    mn_vec3 x[4] = {{0.3, -0.1, 0.3}, {0, 0, 0}, {0, 0.1, 1}, {1, 0.05, 0}}, u[4] = {{0, 0, 0}};
    const mn_tet_pair pair = {{0, 1, 2, 3}, 3, rest};
    mn_tet_stage stage = {.pairs = &pair, .pair_count = 1, .pair_unit = 1, .u = u};
    mn_tet_system system = {.ctx = ctx, .node_count = 4, .stage = &stage};
    check_ok(ctx, mn_array_resize(ctx, &system.x, 4));
    memcpy(system.x.data, x, sizeof x);
    check_ok(ctx, mn_tet_pairs_measure(&system));
    mn_vec3 force[4], sum = {0}, moment = {0};
    memcpy(force, system.pair_pull.data, sizeof force);
    for (int k = 0; k < 4; k++) {
        sum = mn_add(sum, force[k]), moment = mn_add(moment, mn_cross(x[k], force[k]));
        for (int axis = 0; axis < 3; axis++) {
            double energy[2];
            for (int side = 0; side < 2; side++) {
                memcpy(system.x.data, x, sizeof x);
                (&system.x.data[k].x)[axis] += side ? 1e-5 : -1e-5;
                const mn_vec3 *y = system.x.data;
                const mn_vec3 n = mn_normalize(mn_cross(mn_sub(y[2], y[1]), mn_sub(y[3], y[1])));
                const double gap = mn_dot(n, mn_sub(y[0], y[1])) - rest;
                energy[side] = 1.5 * gap * gap;
            }
            check_close((&force[k].x)[axis], (energy[1] - energy[0]) / 2e-5, 1e-8);
        }
    }
    check_close(mn_norm(sum), 0, 1e-15);
    check_close(mn_norm(moment), 0, 1e-15);
    for (uint64_t way = 0; way < 10; way++) {
        double d[12], applied[12] = {0}, convex[12] = {0}, pull[2][12], whole = 0, positive = 0;
        for (int i = 0; i < 12; i++) d[i] = mn_random_normal(3, way, (uint64_t)i);
        for (int side = 0; side < 2; side++) {
            for (int i = 0; i < 12; i++)
                (&system.x.data[0].x)[i] = (&x[0].x)[i] + (side ? 1e-5 : -1e-5) * d[i];
            check_ok(ctx, mn_tet_pairs_measure(&system));
            memcpy(pull[side], system.pair_pull.data, sizeof pull[side]);
        }
        memcpy(system.x.data, x, sizeof x);
        check_ok(ctx, mn_tet_pairs_measure(&system));
        mn_tet_pairs_apply(&system, d, applied);
        stage.convex = true;
        check_ok(ctx, mn_tet_pairs_measure(&system));
        mn_tet_pairs_apply(&system, d, convex);
        stage.convex = false;
        for (int i = 0; i < 12; i++) {
            check_close(applied[i], (pull[1][i] - pull[0][i]) / 2e-5, 1e-7);
            whole += d[i] * applied[i], positive += d[i] * convex[i];
        }
        assert_true(positive >= whole - 1e-12 && positive >= 0);
    }
    mn_array_free(ctx, &system.x);
    mn_array_free(ctx, &system.pair_rows);
    mn_array_free(ctx, &system.pair_pull);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_are_derivatives),   cmocka_unit_test(blocks_that_meet_bounce),
        cmocka_unit_test(a_block_rests_on_a_block), cmocka_unit_test(edges_hold_edges),
        cmocka_unit_test(friction_holds_or_slows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
