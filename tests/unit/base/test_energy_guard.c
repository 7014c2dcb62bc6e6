// SPDX-License-Identifier: Apache-2.0
//
// Every solver notices energy that comes from nowhere: left alone it advances without a word, and after a
// kick that no input gave the next advance is refused, or, by flow_solver, the energy is taken out again with
// a warning. The same kick under an input that drives it is not.
#include "support/check.h"

#include "codim/state.h"
#include "elastic/elastic_state.h"
#include "flow/flow_state.h"
#include "mpm/state.h"
#include "spray/state.h"
#include "support/analytic_volume.h"
#include "support/elastic_shapes.h"
#include "support/film_bubbles.h"
#include "support/film_stage.h"
#include "support/tet_shapes.h"
#include "tet/state.h"

static const double frame_time = 0.002;
static const mn_vec3 kick = {0, 3, 0}; // m/s: far more than these small things have

typedef struct told {
    int warnings;
} told;

static void note(void *user, mn_log_level level, const char *sentence)
{
    if (level == MN_LOG_WARNING && strstr(sentence, "energy")) ((told *)user)->warnings++;
}

static mn_context *listening(told *t)
{
    *t = (told){0};
    return mn_context_create(&(mn_hooks){.user = t, .log = note});
}

static void check_refused(mn_context *ctx, const told *t, mn_status status)
{
    assert_int_equal(t->warnings, 0);
    assert_int_equal(status, MN_ERROR_DIVERGED);
    assert_non_null(strstr(mn_context_message(ctx), "energy has grown"));
}

static void films(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    const mn_vec3 center = {0};
    const double radius = 1;
    const mn_film_def def = bubbles_def(0.5);
    mn_film *film = bubbles_cluster(ctx, 1, &center, &radius, &def);
    for (int i = 0; i < 3; i++) check_ok(ctx, mn_film_advance(film, NULL, 0.02));
    for (int64_t v = 0; v < film->c.vertices.count; v++)
        film->c.vertices.data[v].velocity = mn_add(film->c.vertices.data[v].velocity, kick);
    check_refused(ctx, &t, mn_film_advance(film, NULL, 0.02));
    mn_film_free(film);
    mn_context_free(ctx);
}

static void tetrahedra(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    mn_tet_mesh *mesh = tet_ball(ctx, 3);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_tet_liquid *liquid;
    check_ok(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    mn_tet_mesh_free(mesh);
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_tet_liquid_advance(liquid, NULL, frame_time));
    mn_vec3 *v = mn_tet_field_vectors(liquid, MN_TET_V);
    for (int32_t i = 0; i < liquid->mesh->vertex_slots; i++) v[i] = mn_add(v[i], kick);
    check_refused(ctx, &t, mn_tet_liquid_advance(liquid, NULL, frame_time));
    mn_tet_liquid_free(liquid);
    mn_context_free(ctx);
}

// As from the node, which hands in an emitter without points when nothing is connected.
static mn_mpm *swimming(mn_context *ctx, const mn_solver_inputs *inputs)
{
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = 0.001;
    def.gravity = mn_v3(0, 0, 0);
    mn_vec3 x[512];
    for (int i = 0; i < 512; i++)
        x[i] = mn_scale(0.5 * def.dx, mn_v3(i / 64 + 0.5, i / 8 % 8 + 0.5, i % 8 + 0.5));
    mn_mpm *mpm;
    check_ok(ctx, mn_mpm_create(ctx, &def, &mpm));
    check_ok(ctx, mn_mpm_add(mpm, &(mn_mpm_source){.count = 512, .position = x}));
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_mpm_advance(mpm, inputs, frame_time));
    for (int64_t i = 0; i < mpm->particles.count; i++)
        mpm->particles.data[i].v = mn_add(mpm->particles.data[i].v, kick);
    return mpm;
}

static void particles(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    const mn_mpm_emitter none = {0};
    const mn_solver_inputs inputs = {.own = &none};
    mn_mpm *mpm = swimming(ctx, &inputs);
    check_refused(ctx, &t, mn_mpm_advance(mpm, &inputs, frame_time));
    mn_mpm_free(mpm);
    mn_context_free(ctx);
}

// A solid at rest does no work, so what stands on it is watched; one that moves may.
static void particles_on_solids(void **state)
{
    (void)state;
    for (int moves = 0; moves < 2; moves++) {
        told t;
        mn_context *ctx = listening(&t);
        mn_geo *geo;
        mn_collider *floor;
        check_ok(ctx, mn_geo_create(ctx, &geo));
        check_ok(ctx, analytic_add(geo, analytic_plane(0.01)));
        const mn_vec3 along = mn_v3(moves ? 0.01 : 0, 0, 0), zero = {0};
        check_ok(ctx, analytic_add(geo, analytic_motion(along, zero, zero)));
        check_ok(ctx, mn_collider_create(ctx, &(mn_collider_def){.geo = geo, .velocity_scale = 1}, &floor));
        const mn_mpm_emitter none = {0};
        const mn_solver_inputs inputs = {.own = &none, .collider = floor};
        mn_mpm *mpm = swimming(ctx, &inputs);
        if (moves)
            check_ok(ctx, mn_mpm_advance(mpm, &inputs, frame_time));
        else
            check_refused(ctx, &t, mn_mpm_advance(mpm, &inputs, frame_time));
        mn_mpm_free(mpm);
        mn_collider_free(floor);
        mn_geo_free(geo);
        mn_context_free(ctx);
    }
}

static void elastic_bodies(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    elastic_shape *shape = shape_create();
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    mn_elastic *s;
    check_ok(ctx, mn_elastic_create(ctx, &def, &s));
    shape_block(shape, mn_v3(0, 0, 0), mn_v3(0.1, 0.1, 0.1), 2, 2, 2);
    mn_elastic_body body = shape_body(shape, MN_ELASTIC_SOLID);
    check_ok(ctx, mn_elastic_add(s, &body));
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_elastic_advance(s, NULL, frame_time));
    for (int64_t i = 0; i < s->v.count; i++) s->v.data[i] = mn_add(s->v.data[i], kick);
    check_refused(ctx, &t, mn_elastic_advance(s, NULL, frame_time));
    // Forces do work.
    mn_vec3 *forces = calloc((size_t)shape->points, sizeof *forces);
    for (int32_t i = 0; i < shape->points; i++) forces[i] = mn_v3(0, 10, 0);
    for (int i = 0; i < 3; i++)
        check_ok(ctx, mn_elastic_advance(s, &(mn_elastic_inputs){.forces = forces}, frame_time));
    free(forces), free(shape);
    mn_elastic_free(s);
    mn_context_free(ctx);
}

static void soap_of_points(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    mn_film_source_def source = mn_film_source_default_def();
    source.kind = MN_FILM_BUBBLE, source.radius = 0.01, source.spacing = 0.003;
    mn_codim_def def = mn_codim_default_def();
    def.spacing = 0.003, def.gravity = mn_v3(0, 0, 0), def.air_drag = 0;
    film_stage stage = film_open(ctx, &def, &source, NULL, NULL);
    for (int i = 0; i < 2; i++) film_advance(&stage, frame_time);
    for (int64_t i = 0; i < stage.mls->points.count; i++) // it is thin
        stage.mls->v0.data[i] = stage.mls->points.data[i].velocity =
            mn_axpy(stage.mls->points.data[i].velocity, 10, kick);
    check_refused(ctx, &t, mn_codim_advance(stage.mls, &(mn_codim_inputs){0}, frame_time));
    film_close(&stage);
    mn_context_free(ctx);
}

static mn_vec3 slowly(void *user, mn_vec3 x)
{
    const double *speed = user;
    return mn_v3(*speed * sin(30 * x.y), 0, 0);
}

static double kinetic_energy(const mn_flow *flow)
{
    mn_report report = {0};
    mn_flow_report(flow, &report);
    return report.value[MN_REPORT_kinetic_energy][0];
}

static void flows(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    for (int liquid = 0; liquid < 2; liquid++) {
        mn_flow_def def = mn_flow_default_def();
        def.fluid = liquid ? MN_FLOW_LIQUID : MN_FLOW_SMOKE;
        def.dx = 0.02, def.domain_size = mn_v3(0.16, 0.16, 0.16), def.domain_center = mn_v3(0, 0.08, 0);
        def.level = 0.08, def.buoyancy = def.heat_buoyancy = 0;
        mn_flow *flow;
        double speed = 0.01;
        check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
        check_ok(ctx, mn_flow_set_velocity(flow, slowly, &speed));
        for (int i = 0; i < 3; i++) check_ok(ctx, mn_flow_advance(flow, NULL, frame_time));
        speed = 3;
        assert_int_equal(t.warnings, liquid); // of the smoke's kick
        check_ok(ctx, mn_flow_set_velocity(flow, slowly, &speed));
        const double kicked = kinetic_energy(flow);
        check_ok(ctx, mn_flow_advance(flow, NULL, frame_time));
        assert_int_equal(t.warnings, liquid + 1);
        // What is left of the kick is what the surface, which it carried for a step, can give back.
        assert_true(kicked > 0 && kinetic_energy(flow) < 0.02 * kicked);
        mn_flow_free(flow);
    }
    mn_context_free(ctx);
}

// The step of surface tension beyond its limit makes ripples grow, as the parameter says; what they gain is
// taken out again, and nothing that is shown explodes.
static void ripples_beyond_their_step(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_flow_def def = mn_flow_default_def();
    def.fluid = MN_FLOW_LIQUID, def.flat = true;
    def.dx = 0.0005, def.domain_size = mn_v3(0.016, 0.008, 0.001), def.domain_center = mn_v3(0, 0.004, 0);
    def.level = 0.004, def.gravity = mn_v3(0, 0, 0), def.surface_tension_limit = 10, def.cfl = 1000;
    mn_flow *flow;
    double speed = 0.02;
    check_ok(ctx, mn_flow_create(ctx, &def, NULL, &flow));
    check_ok(ctx, mn_flow_set_velocity(flow, slowly, &speed));
    for (int i = 0; i < 60; i++) {
        check_ok(ctx, mn_flow_advance(flow, NULL, 0.005));
        mn_report report = {0};
        mn_flow_report(flow, &report);
        // No more than a few times the speed of the shortest ripples.
        assert_true(report.value[MN_REPORT_max_speed][0] < 5 * sqrt(0.072 / (1000 * 0.0005)));
    }
    mn_flow_free(flow);
    mn_context_free(ctx);
}

static void sprays(void **state)
{
    (void)state;
    told t;
    mn_context *ctx = listening(&t);
    mn_spray_def def = mn_spray_default_def();
    def.life = 0;
    mn_spray *spray;
    check_ok(ctx, mn_spray_create(ctx, &def, &spray));
    mn_vec3 place[4] = {{0, 0, 0}, {1, 0, 0}, {0, 1, 0}, {0, 0, 1}};
    const mn_emitter emitter = {.point_count = 4, .positions = place};
    check_ok(ctx, mn_spray_advance(spray, &(mn_solver_inputs){.emitter = &emitter}, 0.1));
    assert_true(spray->drops.count > 0);
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_spray_advance(spray, NULL, 0.02));
    for (int64_t i = 0; i < spray->drops.count; i++)
        spray->drops.data[i].velocity = mn_scale(10, spray->drops.data[i].velocity);
    check_refused(ctx, &t, mn_spray_advance(spray, NULL, frame_time));
    mn_spray_free(spray);
    mn_context_free(ctx);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(films),
        cmocka_unit_test(tetrahedra),
        cmocka_unit_test(elastic_bodies),
        cmocka_unit_test(soap_of_points),
        cmocka_unit_test(flows),
        cmocka_unit_test(ripples_beyond_their_step),
        cmocka_unit_test(sprays),
        cmocka_unit_test(particles),
        cmocka_unit_test(particles_on_solids),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
