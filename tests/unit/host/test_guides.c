// SPDX-License-Identifier: Apache-2.0
//
// Guides of every solver: what liquid comes out of, which way, and what it rests on.
#include "support/check.h"
#include "support/failing_allocator.h"

#include "mesh/shape.h"
#include "plugin/host/network/guides.h"
#include "plugin/host/network/parms.h"

enum { INPUTS = 8 };

typedef struct stage {
    mn_guide_source source;
    mn_parm_value parms[MN_PARM_LIMIT];
    const mn_geo *inputs[INPUTS];
} stage;

static void set_stage(stage *s, const char *type)
{
    memset(s, 0, sizeof *s);
    s->source.type = mn_node_type_find(type);
    s->source.parms = s->parms;
    s->source.inputs = s->inputs;
    s->source.input_count = s->source.type->input_count;
    s->source.fps = 24;
    for (int32_t i = 0; i < s->source.type->parm_count; i++) {
        const mn_parm_def *def = &s->source.type->parms[i];
        memcpy(s->parms[i].number, def->defaults, sizeof def->defaults);
        s->parms[i].string = def->default_string;
    }
}

static mn_parm_value *parm(stage *s, const char *name)
{
    const int32_t at = mn_parm_find(s->source.type, name);
    assert_true(at >= 0);
    return &s->parms[at];
}

static void connect(stage *s, const char *label, const mn_geo *geo)
{
    for (int32_t i = 0; i < s->source.type->input_count; i++)
        if (strcmp(s->source.type->inputs[i].label, label) == 0) {
            s->inputs[i] = geo;
            return;
        }
    fail_msg("%s has no input %s", s->source.type->name, label);
}

static int64_t lines_in(const mn_geo *geo, const char *name)
{
    const mn_group *group = mn_geo_find_group(geo, MN_PRIMITIVE, name);
    return group ? mn_group_member_count(group) : 0;
}

static mn_geo *square_of(mn_context *ctx)
{
    mn_shape_def def = mn_shape_default_def();
    def.kind = MN_SHAPE_GRID;
    def.size = mn_v3(1, 0, 1);
    def.divisions[0] = def.divisions[2] = 1;
    mn_geo *geo;
    check_ok(ctx, mn_shape_create(ctx, &def, &geo));
    return geo;
}

/// A velocity on every point.
static void give_velocity(mn_geo *geo, mn_vec3 v)
{
    mn_attribute *column;
    check_ok(mn_geo_context(geo),
             mn_geo_add_attribute(geo, MN_POINT, "v", MN_F32, 3, MN_HINT_VECTOR, &column));
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++)
        check_ok(mn_geo_context(geo), mn_attribute_set(geo, column, i, 1, &v.x));
}

/// Every solver shows its emitter and arrows that are as long as the way of a frame: 24 m/s go a metre.
static void test_emitters_of_every_solver(void **state)
{
    (void)state;
    static const struct {
        const char *type, *input;
    } cases[] = {{"mpm_solver", "Emitters"},
                 {"tet_solver", "Emitters"},
                 {"mls_solver", "Jets"},
                 {"mls_solver", "Inflow"},
                 {"spray_solver", "Source"}};
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *square = square_of(ctx), *guides;
    give_velocity(square, mn_v3(0, 0, 24));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        stage s;
        set_stage(&s, cases[i].type);
        connect(&s, cases[i].input, square);
        if (i == 4) parm(&s, "speed")->number[0] = 0;
        check_ok(ctx, mn_guides_create(ctx, &s.source, &guides));
        assert_int_equal(lines_in(guides, "emitters"), 4);
        assert_int_equal(lines_in(guides, "flow"), 2 * 4);
        assert_int_equal(lines_in(guides, "contact_lines"), 0);
        check_close(mn_geo_bounds(guides).max.z, 1.5, 1e-6);
        check_close(mn_geo_bounds(guides).min.z, -0.5, 1e-6);
        mn_geo_free(guides);
    }
    mn_geo_free(square);
    assert_int_equal(mn_context_bytes(ctx), 0);
    mn_context_free(ctx);
}

static void test_directions_by_parameters(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *square = square_of(ctx), *guides;
    stage s;
    set_stage(&s, "spray_solver");
    connect(&s, "Source", square);
    parm(&s, "speed")->number[0] = 48;
    check_ok(ctx, mn_guides_create(ctx, &s.source, &guides)); // along the normals
    check_close(mn_geo_bounds(guides).max.y, 2, 1e-6);
    mn_geo_free(guides);
    parm(&s, "along")->number[0] = 1; // along an axis, of any length
    memcpy(parm(&s, "direction")->number, (double[3]){-7, 0, 0}, sizeof(double[3]));
    check_ok(ctx, mn_guides_create(ctx, &s.source, &guides));
    check_close(mn_geo_bounds(guides).min.x, -2.5, 1e-6);
    mn_geo_free(guides);

    set_stage(&s, "mls_solver");
    connect(&s, "Inflow", square);
    memcpy(parm(&s, "inflow_velocity")->number, (double[3]){0, -12, 0}, sizeof(double[3]));
    parm(&s, "time_scale")->number[0] = 0.5;
    check_ok(ctx, mn_guides_create(ctx, &s.source, &guides));
    check_close(mn_geo_bounds(guides).min.y, -0.25, 1e-6);
    mn_geo_free(guides);

    set_stage(&s, "tet_solver"); // what has no v of its own flows with the parameter's
    connect(&s, "Emitters", square);
    memcpy(parm(&s, "inflow_velocity")->number, (double[3]){0, -12, 0}, sizeof(double[3]));
    check_ok(ctx, mn_guides_create(ctx, &s.source, &guides));
    check_close(mn_geo_bounds(guides).min.y, -0.5, 1e-6);
    mn_geo_free(guides);
    mn_geo_free(square);
    mn_context_free(ctx);
}

/// Points are discs of radius pscale across their way.
static void test_points_are_rings(void **state)
{
    (void)state;
    mn_context *ctx = mn_context_create(NULL);
    mn_geo *geo, *guides;
    mn_attribute *pscale;
    const double radius = 0.25;
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, mn_geo_add_points(geo, 1, NULL));
    check_ok(ctx, mn_geo_add_attribute(geo, MN_POINT, "pscale", MN_F32, 1, MN_HINT_NONE, &pscale));
    check_ok(ctx, mn_attribute_set(geo, pscale, 0, 1, &radius));
    give_velocity(geo, mn_v3(0, 24, 0));
    stage s;
    set_stage(&s, "mpm_solver");
    connect(&s, "Emitters", geo);
    check_ok(ctx, mn_guides_create(ctx, &s.source, &guides));
    assert_int_equal(lines_in(guides, "emitters"), 1);
    check_close(mn_geo_bounds(guides).max.x, 0.25, 1e-6);
    check_close(mn_geo_bounds(guides).max.y, 1, 1e-6);
    mn_geo_free(guides);
    mn_geo_free(geo);
    mn_context_free(ctx);
}

static mn_status draw_everything(mn_context *ctx)
{
    mn_shape_def def = mn_shape_default_def();
    mn_geo *ball = NULL, *guides = NULL;
    mn_status status = mn_shape_create(ctx, &def, &ball);
    stage s;
    set_stage(&s, "mpm_solver");
    connect(&s, "Emitters", ball);
    parm(&s, "emit")->number[0] = 1;
    parm(&s, "use_domain")->number[0] = 1;
    memcpy(parm(&s, "domain_center")->number, (double[3]){0, 0.5, 0}, sizeof(double[3]));
    const mn_geo *const outputs[2] = {ball, ball};
    s.source.outputs = outputs;
    if (status == MN_OK) status = mn_guides_create(ctx, &s.source, &guides);
    if (status == MN_OK) {
        assert_int_equal(lines_in(guides, "domain"), 12);
        assert_true(lines_in(guides, "flow") >= 64);
        assert_true(lines_in(guides, "contact_lines") > 10); // the ball is half in the floor
    }
    mn_geo_free(guides);
    mn_geo_free(ball);
    return status;
}

static void test_running_out_of_memory(void **state)
{
    (void)state;
    // The lines themselves take hundreds of small steps: every seventh is enough to reach each of their
    // kinds.
    for (int64_t n = 0;; n += n < 50 ? 1 : 7) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *ctx = mn_context_create(&hooks);
        const mn_status status = ctx ? draw_everything(ctx) : MN_ERROR_MEMORY;
        if (ctx) mn_context_free(ctx);
        assert_int_equal(memory.held, 0);
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        if (!memory.failed) break;
    }
}

static void test_which_types_have_guides(void **state)
{
    (void)state;
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++)
        if (types[i]->sim) assert_true(mn_guides_exist(types[i]));
    assert_false(mn_guides_exist(mn_node_type_find("shape")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_emitters_of_every_solver), cmocka_unit_test(test_directions_by_parameters),
        cmocka_unit_test(test_points_are_rings),         cmocka_unit_test(test_running_out_of_memory),
        cmocka_unit_test(test_which_types_have_guides),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
