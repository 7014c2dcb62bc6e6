// SPDX-License-Identifier: Apache-2.0
//
// Parameters: checked against the table, animated, and understood as text.
#include "host_nodes.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/spelling.h"
#include "plugin/json/number_text.h"
#include "support/failing_allocator.h"

static mn_context *ctx;
static mn_network *net;
static int32_t dots, walk;

static int set_up(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    if (mn_network_create_with_types(ctx, NULL, host_types, HOST_TYPE_COUNT, &net) != MN_OK) return 1;
    if (mn_network_add_node(net, "dots", "ball", &dots) != MN_OK) return 1;
    return mn_network_add_node(net, "walker", "walk", &walk) != MN_OK;
}

static int tear_down(void **state)
{
    (void)state;
    mn_network_free(net);
    const bool clean = mn_context_bytes(ctx) == 0;
    mn_context_free(ctx);
    return clean ? 0 : 1;
}

static double number(int32_t node, const char *parm, int32_t component, double frame)
{
    mn_parm_value value;
    check_ok(ctx, mn_network_parm(net, node, parm, frame, &value));
    return value.number[component];
}

static void wrong_values_are_refused_and_change_nothing(void **state)
{
    (void)state;
    check_fails(ctx, mn_network_set_number(net, dots, "count", 0, 2.5), MN_ERROR_ARGUMENT,
                "dots 'ball': count is 2.5 but must be a whole number.");
    check_fails(ctx, mn_network_set_number(net, dots, "count", 0, 1e6), MN_ERROR_ARGUMENT,
                "must be between 0 and 100000.");
    check_fails(ctx, mn_network_set_number(net, dots, "spacing", 0, NAN), MN_ERROR_ARGUMENT,
                "not a finite number");
    check_fails(ctx, mn_network_set_number(net, dots, "center", 1, INFINITY), MN_ERROR_ARGUMENT,
                "dots 'ball': center[1] is not a finite number.");
    check_fails(ctx, mn_network_set_number(net, dots, "center", 3, 0), MN_ERROR_ARGUMENT,
                "there is no center[3]");
    check_fails(ctx, mn_network_set_number(net, dots, "count", 1, 0), MN_ERROR_ARGUMENT, "has 1 component,");
    check_fails(ctx, mn_network_set_number(net, dots, "axis", 0, 3), MN_ERROR_ARGUMENT, "numbered 0 to 2");
    check_fails(ctx, mn_network_set_number(net, dots, "note", 0, 3), MN_ERROR_ARGUMENT, "takes a string");
    check_fails(ctx, mn_network_set_number(net, dots, "cont", 0, 3), MN_ERROR_NOT_FOUND,
                "did you mean 'count'?");
    check_fails(ctx, mn_network_set_number(net, 77, "count", 0, 3), MN_ERROR_ARGUMENT, "no node number 77");
    check_fails(ctx, mn_network_set_string(net, dots, "count", "3"), MN_ERROR_ARGUMENT,
                "count takes a whole number, not the string '3'.");
    check_fails(ctx, mn_network_set_string(net, dots, "axis", "z"), MN_ERROR_ARGUMENT,
                "must be one of x_axis, y_axis, z_axis");
    check_close(number(dots, "count", 0, 1), 10, 0);
    check_close(number(dots, "center", 1, 1), 0, 0);
}

static void text_is_understood(void **state)
{
    (void)state;
    check_ok(ctx, mn_network_set_text(net, dots, "count", " 12 "));
    check_close(number(dots, "count", 0, 1), 12, 0);
    check_ok(ctx, mn_network_set_text(net, dots, "center", "1 -2.5e-1 +3"));
    check_close(number(dots, "center", 1, 1), -0.25, 0);
    check_ok(ctx, mn_network_set_text(net, dots, "center", ".5,2., 3"));
    check_close(number(dots, "center", 0, 1), 0.5, 0);
    check_close(number(dots, "center", 1, 1), 2, 0);
    check_ok(ctx, mn_network_set_text(net, dots, "axis", "z_axis"));
    check_close(number(dots, "axis", 0, 1), 2, 0);
    check_ok(ctx, mn_network_set_text(net, dots, "mirror", "true"));
    check_close(number(dots, "mirror", 0, 1), 1, 0);
    check_ok(ctx, mn_network_set_text(net, dots, "note", "1 2 3"));
    mn_parm_value value;
    check_ok(ctx, mn_network_parm(net, dots, "note", 1, &value));
    assert_string_equal(value.string, "1 2 3");

    static const char *const wrong[] = {"",        "1 2",     "1 2 3 4",  "1,,2",  "1 2 x",
                                        "inf 0 0", "nan 0 0", "0x10 0 0", "1;2;3", "1,2,3,"};
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        check_fails(ctx, mn_network_set_text(net, dots, "center", wrong[i]), MN_ERROR_ARGUMENT,
                    "dots 'ball': center takes 3 numbers, not '");
    check_fails(ctx, mn_network_set_text(net, dots, "center", "1 2 1e999"), MN_ERROR_ARGUMENT,
                "center[2] is not a finite");
    check_close(number(dots, "center", 0, 1), 0.5, 0); // not half of a wrong value
    check_fails(ctx, mn_network_set_text(net, dots, "mirror", "maybe"), MN_ERROR_ARGUMENT,
                "takes true or false");
}

static void reset_brings_the_default_back(void **state)
{
    (void)state;
    const mn_key keys[] = {{1, {1}}, {2, {2}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "spacing", 2, keys));
    check_ok(ctx, mn_network_set_string(net, dots, "note", "other"));
    check_ok(ctx, mn_network_reset_parm(net, dots, "spacing"));
    check_ok(ctx, mn_network_reset_parm(net, dots, "note"));
    const mn_key *found;
    assert_int_equal(mn_network_keys(net, dots, "spacing", &found), 0);
    check_close(number(dots, "spacing", 0, 1), 0.5, 0);
    mn_parm_value value;
    check_ok(ctx, mn_network_parm(net, dots, "note", 1, &value));
    assert_string_equal(value.string, "none");
}

static void animation_is_linear_between_keys(void **state)
{
    (void)state;
    const mn_key keys[] = {{-2, {0, 10, 1}}, {3, {5, 0, 1}}, {3.5, {6, 0, -1}}, {10, {6, 13, -1}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "center", 4, keys));
    check_close(number(dots, "center", 0, -100), 0, 0);
    check_close(number(dots, "center", 1, 100), 13, 0);
    for (int32_t i = 0; i < 4; i++)
        for (int32_t k = 0; k < 3; k++)
            check_close(number(dots, "center", k, keys[i].frame), keys[i].value[k], 0);
    // (f + 2) / 5 of the way, in a few roundings of numbers up to 10.
    for (double f = -2; f < 3; f += 0.37) {
        check_close(number(dots, "center", 0, f), f + 2, 1e-14);
        check_close(number(dots, "center", 1, f), 10 - 2 * (f + 2), 1e-14);
        check_close(number(dots, "center", 2, f), 1, 0);
    }
    check_close(number(dots, "center", 2, 3.25), 0, 1e-15);

    const mn_key counts[] = {{1, {0}}, {5, {10}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "count", 2, counts));
    check_close(number(dots, "count", 0, 2), 3, 0); // 2.5 is rounded
    check_close(number(dots, "count", 0, 2.1), 3, 0);
    const mn_key switches[] = {{1, {0}}, {5, {1}}, {8, {0}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "mirror", 3, switches));
    check_close(number(dots, "mirror", 0, 4.999), 0, 0);
    check_close(number(dots, "mirror", 0, 5), 1, 0);
    check_close(number(dots, "mirror", 0, 7.9), 1, 0);
    // A value takes the animation's place.
    check_ok(ctx, mn_network_set_number(net, dots, "count", 0, 4));
    check_close(number(dots, "count", 0, 2), 4, 0);
}

static void an_animated_value_stays_between_its_keys(void **state)
{
    (void)state;
    // Where rounding or overflow could lead outside the hard range.
    const mn_key keys[] = {{0, {0.1}}, {3, {0.1 + 1e-16}}, {7, {1.7e308}}, {9, {0}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "spacing", 4, keys));
    for (double f = -1; f < 10; f += 0.01) {
        const double value = number(dots, "spacing", 0, f);
        assert_true(isfinite(value) && value >= 0 && value <= 1.7e308);
        if (f <= 3) assert_true(value >= 0.1 && value <= 0.1 + 1e-16);
    }
    const mn_key vast[] = {{0, {-1.7e308}}, {1, {1.7e308}}};
    check_ok(ctx, mn_network_set_keys(net, walk, "speed", 2, vast));
    check_close(number(walk, "speed", 0, 0.5), 0, 0);
}

static void wrong_keys_are_refused(void **state)
{
    (void)state;
    const mn_key good = {1, {1}}, low = {2, {-1}}, lost = {NAN, {1}}, empty = {2, {NAN}};
    const mn_key equal[] = {good, good}, falling[] = {low, good};
    check_fails(ctx, mn_network_set_keys(net, dots, "spacing", 0, &good), MN_ERROR_ARGUMENT, "has 0 keys");
    check_fails(ctx, mn_network_set_keys(net, dots, "spacing", 2, equal), MN_ERROR_ARGUMENT,
                "must rise, but key 2 is at 1");
    check_fails(ctx, mn_network_set_keys(net, walk, "speed", 2, falling), MN_ERROR_ARGUMENT, "must rise");
    check_fails(ctx, mn_network_set_keys(net, dots, "spacing", 1, &low), MN_ERROR_ARGUMENT, "at least 0 m");
    check_fails(ctx, mn_network_set_keys(net, dots, "spacing", 1, &lost), MN_ERROR_ARGUMENT, "must rise");
    check_fails(ctx, mn_network_set_keys(net, dots, "spacing", 1, &empty), MN_ERROR_ARGUMENT, "not a finite");
    check_fails(ctx, mn_network_set_keys(net, dots, "note", 1, &good), MN_ERROR_ARGUMENT,
                "cannot be animated");
    check_fails(ctx, mn_network_set_keys(net, dots, "axis", 1, &good), MN_ERROR_ARGUMENT,
                "cannot be animated");
    check_fails(ctx, mn_network_set_keys(net, walk, "start_frame", 1, &good), MN_ERROR_ARGUMENT,
                "cannot be animated");
}

static void an_animated_node_cooks_again_at_another_frame(void **state)
{
    (void)state;
    const mn_key keys[] = {{1, {0, 0, 0}}, {5, {4, 0, 0}}};
    check_ok(ctx, mn_network_set_keys(net, dots, "center", 2, keys));
    const mn_geo *geo;
    check_ok(ctx, mn_network_cook(net, dots, 0, 2.5, &geo));
    check_close(mn_geo_position(geo, 0).x, 1.5, 0);
    check_ok(ctx, mn_network_cook(net, dots, 0, 2.5, &geo));
    assert_int_equal(mn_network_cook_count(net, dots), 1);
    check_ok(ctx, mn_network_cook(net, dots, 0, 3, &geo));
    assert_int_equal(mn_network_cook_count(net, dots), 2);
}

static void an_edited_key_restarts_a_simulation_and_playing_does_not(void **state)
{
    (void)state;
    mn_key keys[] = {{1, {1}}, {50, {3}}};
    const mn_geo *geo;
    check_ok(ctx, mn_network_set_keys(net, walk, "speed", 2, keys));
    for (int32_t frame = 1; frame <= 10; frame++) check_ok(ctx, mn_network_cook(net, walk, 0, frame, &geo));
    assert_int_equal(mn_network_cook_count(net, walk), 10);
    keys[1].value[0] = 4;
    check_ok(ctx, mn_network_set_keys(net, walk, "speed", 2, keys));
    check_ok(ctx, mn_network_cook(net, walk, 0, 10, &geo));
    assert_int_equal(mn_network_cook_count(net, walk), 20);
    // So does what is connected, and what that depends on.
    check_ok(ctx, mn_network_connect(net, walk, 0, dots, 0));
    check_ok(ctx, mn_network_cook(net, walk, 0, 2, &geo));
    assert_int_equal(mn_network_cook_count(net, walk), 22);
    check_ok(ctx, mn_network_set_number(net, dots, "count", 0, 2));
    check_ok(ctx, mn_network_cook(net, walk, 0, 2, &geo));
    assert_int_equal(mn_network_cook_count(net, walk), 24);
    check_ok(ctx, mn_network_reset_node(net, dots));
    check_ok(ctx, mn_network_cook(net, walk, 0, 2, &geo));
    assert_int_equal(mn_network_cook_count(net, walk), 26);
}

static mn_status see_path(const mn_cook *cook, mn_geo **outputs)
{
    assert_string_equal(mn_cook_string(cook, "path"), mn_cook_string(cook, "note"));
    return mn_geo_create(cook->ctx, &outputs[0]);
}

static void paths_start_at_the_folder(void **state)
{
    (void)state;
    mn_node_type viewer = dots_type;
    viewer.cook = see_path;
    const mn_node_type *const types[] = {&viewer};
    static const char *const cases[][3] = {
        {"/job/shot", "geo/a.bgeo", "/job/shot/geo/a.bgeo"},
        {"/job/shot/", "a.obj", "/job/shot/a.obj"},
        {"/job/shot", "/abs/a.obj", "/abs/a.obj"},
        {"", "a.obj", "a.obj"},
        {"/job/shot", "", ""},
        {"..", "a.$F4.vdb", "../a.$F4.vdb"},
    };
    mn_network *other;
    int32_t node;
    const mn_geo *geo;
    check_ok(ctx, mn_network_create_with_types(ctx, NULL, types, 1, &other));
    check_ok(ctx, mn_network_add_node(other, "dots", "d", &node));
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        check_ok(ctx, mn_network_set_string(other, node, "path", cases[i][1]));
        check_ok(ctx, mn_network_set_folder(other, cases[i][0]));
        check_ok(ctx, mn_network_set_string(other, node, "note", cases[i][2]));
        check_ok(ctx, mn_network_cook(other, node, 0, 1, &geo));
        mn_parm_value value;
        check_ok(ctx, mn_network_parm(other, node, "path", 1, &value));
        assert_string_equal(value.string, cases[i][1]);
    }
    assert_int_equal(mn_network_cook_count(other, node), sizeof cases / sizeof *cases);
    mn_network_free(other);
}

static void a_path_and_its_string_change_together_or_not_at_all(void **state)
{
    (void)state;
    mn_node_type viewer = dots_type;
    viewer.cook = see_path;
    const mn_node_type *const types[] = {&viewer};
    for (int64_t n = 0;; n++) {
        failing_allocator memory = {.fail_at = -1};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *small = mn_context_create(&hooks);
        mn_network *other;
        int32_t node;
        const mn_geo *geo;
        check_ok(small, mn_network_create_with_types(small, NULL, types, 1, &other));
        check_ok(small, mn_network_add_node(other, "dots", "d", &node));
        check_ok(small, mn_network_set_string(other, node, "path", "/old.geo"));
        memory.fail_at = memory.calls + n;
        const mn_status status = mn_network_set_string(other, node, "path", "/new.geo");
        memory.fail_at = -1;
        assert_int_equal(status, memory.failed ? MN_ERROR_MEMORY : MN_OK);
        mn_parm_value value;
        check_ok(small, mn_network_parm(other, node, "path", 1, &value));
        assert_string_equal(value.string, memory.failed ? "/old.geo" : "/new.geo");
        check_ok(small, mn_network_set_string(other, node, "note", value.string));
        check_ok(small, mn_network_cook(other, node, 0, 1, &geo));
        mn_network_free(other);
        mn_context_free(small);
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

static void parameters_are_found_by_path(void **state)
{
    (void)state;
    int32_t node, parm;
    check_ok(ctx, mn_network_find_parm(net, "walk.speed", &node, &parm));
    assert_int_equal(node, walk);
    assert_string_equal(walker_parms[parm].name, "speed");
    check_fails(ctx, mn_network_find_parm(net, "walk", &node, &parm), MN_ERROR_ARGUMENT, "node.parameter");
    check_fails(ctx, mn_network_find_parm(net, "wlak.speed", &node, &parm), MN_ERROR_NOT_FOUND,
                "did you mean 'walk'?");
    check_fails(ctx, mn_network_find_parm(net, "walk.sped", &node, &parm), MN_ERROR_NOT_FOUND,
                "did you mean 'speed'?");
}

static const char *nearest_of(const char *word)
{
    static const char *const words[] = {"radius", "center", "viscosity", "dx", "sigma", "surface_tension"};
    mn_nearest nearest = mn_nearest_to(word);
    for (size_t i = 0; i < sizeof words / sizeof *words; i++) mn_nearest_try(&nearest, words[i]);
    return nearest.best ? nearest.best : "";
}

static void the_nearest_spelling_is_found(void **state)
{
    (void)state;
    assert_string_equal(nearest_of("raduis"), "radius");
    assert_string_equal(nearest_of("Radius"), "radius");
    assert_string_equal(nearest_of("centre"), "center");
    assert_string_equal(nearest_of("viscocity"), "viscosity");
    assert_string_equal(nearest_of("dX"), "dx");
    assert_string_equal(nearest_of("dt"), "dx");
    assert_string_equal(nearest_of("sgma"), "sigma");
    assert_string_equal(nearest_of("surfacetension"), "surface_tension");
    assert_string_equal(nearest_of("temperature"), "");
    assert_string_equal(nearest_of(""), "");
    assert_string_equal(nearest_of("q"), "");
    mn_shown shown;
    assert_string_equal(mn_show(&shown, "dr\xc3\xb6p\n"), "dr\xc3\xb6p?");
}

static void numbers_are_as_short_as_they_can_be(void **state)
{
    (void)state;
    static const double values[] = {0, 1, 0.1, -2.5, 1e22, 1e-7, 1.0 / 3, 0.1 + 0.2};
    static const char *const texts[] = {
        "0", "1", "0.1", "-2.5", "1e+22", "1e-07", "0.3333333333333333", "0.30000000000000004"};
    for (size_t i = 0; i < sizeof values / sizeof *values; i++) {
        char text[MN_NUMBER_TEXT];
        double back;
        mn_number_to_text(values[i], text);
        assert_string_equal(text, texts[i]);
        assert_true(mn_number_from_text(text, strlen(text), &back));
        assert_memory_equal(&back, &values[i], sizeof back);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(wrong_values_are_refused_and_change_nothing, set_up, tear_down),
        cmocka_unit_test_setup_teardown(text_is_understood, set_up, tear_down),
        cmocka_unit_test_setup_teardown(reset_brings_the_default_back, set_up, tear_down),
        cmocka_unit_test_setup_teardown(animation_is_linear_between_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_animated_value_stays_between_its_keys, set_up, tear_down),
        cmocka_unit_test_setup_teardown(wrong_keys_are_refused, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_animated_node_cooks_again_at_another_frame, set_up, tear_down),
        cmocka_unit_test_setup_teardown(an_edited_key_restarts_a_simulation_and_playing_does_not, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(paths_start_at_the_folder, set_up, tear_down),
        cmocka_unit_test(a_path_and_its_string_change_together_or_not_at_all),
        cmocka_unit_test_setup_teardown(parameters_are_found_by_path, set_up, tear_down),
        cmocka_unit_test(the_nearest_spelling_is_found),
        cmocka_unit_test(numbers_are_as_short_as_they_can_be),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
