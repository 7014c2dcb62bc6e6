// SPDX-License-Identifier: Apache-2.0
//
// Networks: nodes, connections, and that only what is asked for and changed is cooked.
#include "host_nodes.h"
#include "plugin/host/network/network.h"
#include "support/out_of_memory.h"

static mn_context *ctx;
static mn_network *net;

static int set_up(void **state)
{
    (void)state;
    ctx = mn_context_create(NULL);
    return mn_network_create_with_types(ctx, NULL, host_types, HOST_TYPE_COUNT, &net) != MN_OK;
}

static int tear_down(void **state)
{
    (void)state;
    mn_network_free(net);
    const bool clean = mn_context_bytes(ctx) == 0;
    mn_context_free(ctx);
    return clean ? 0 : 1;
}

static int32_t add(const char *type, const char *name)
{
    int32_t node = -1;
    check_ok(ctx, mn_network_add_node(net, type, name, &node));
    return node;
}

static void connect(int32_t node, int32_t input, int32_t source)
{
    check_ok(ctx, mn_network_connect(net, node, input, source, 0));
}

static const mn_geo *cook(int32_t node, double frame)
{
    const mn_geo *geo = NULL;
    check_ok(ctx, mn_network_cook(net, node, 0, frame, &geo));
    assert_non_null(geo);
    return geo;
}

static void names_and_numbers_stay(void **state)
{
    (void)state;
    const int32_t a = add("dots", "a"), b = add("shift", "b"), c = add("shift", "c");
    connect(b, 0, a);
    connect(c, 0, b);
    check_ok(ctx, mn_network_set_output(net, b));
    check_ok(ctx, mn_network_remove_node(net, b));
    assert_int_equal(mn_network_find(net, "b"), -1);
    assert_int_equal(mn_network_find(net, "c"), c);
    assert_null(mn_network_node_type(net, b));
    assert_int_equal(mn_network_output(net), -1);
    int32_t source, output;
    mn_network_input(net, c, 0, &source, &output);
    assert_int_equal(source, -1);
    const int32_t d = add("dots", "b");
    assert_true(d > c);
    assert_int_equal(mn_network_node_limit(net), d + 1);
    check_fails(ctx, mn_network_remove_node(net, b), MN_ERROR_ARGUMENT, "no node number 1");
}

static void mistakes_are_named(void **state)
{
    (void)state;
    const int32_t a = add("dots", "ball"), b = add("shift", "move"), j = add("join", "all");
    check_fails(ctx, mn_network_add_node(net, "dotz", "x", NULL), MN_ERROR_NOT_FOUND, "did you mean 'dots'?");
    check_fails(ctx, mn_network_add_node(net, "q", "x", NULL), MN_ERROR_NOT_FOUND, "no node type 'q'.");
    check_fails(ctx, mn_network_add_node(net, "dots", "ball", NULL), MN_ERROR_ARGUMENT, "two nodes named");
    check_fails(ctx, mn_network_add_node(net, "dots", "1st", NULL), MN_ERROR_ARGUMENT, "'1st' cannot be");
    check_fails(ctx, mn_network_add_node(net, "dots", "a\033[2J", NULL), MN_ERROR_ARGUMENT, "'a?[2J' cannot");
    check_fails(ctx, mn_network_connect(net, b, 1, a, 0), MN_ERROR_ARGUMENT,
                "has 1 input; there is no input 2");
    check_fails(ctx, mn_network_connect(net, b, 0, a, 1), MN_ERROR_ARGUMENT, "there is no output 1");
    check_fails(ctx, mn_network_connect(net, j, 0, 99, 0), MN_ERROR_ARGUMENT, "no node number 99");
    check_fails(ctx, mn_network_connect(net, b, 0, b, 0), MN_ERROR_ARGUMENT, "cannot have loops");
    int32_t node;
    check_fails(ctx, mn_network_require(net, "bal", &node), MN_ERROR_NOT_FOUND, "did you mean 'ball'?");
    check_fails(ctx, mn_network_set_fps(net, 0), MN_ERROR_ARGUMENT, "fps is 0");
    check_fails(ctx, mn_network_set_fps(net, NAN), MN_ERROR_ARGUMENT, "fps is");
    check_fails(ctx, mn_network_set_range(net, 5, 4), MN_ERROR_ARGUMENT, "5 to 4");
    const mn_geo *geo;
    check_fails(ctx, mn_network_cook(net, b, 0, 1, &geo), MN_ERROR_INPUT,
                "shift 'move': input 1 (Points) is not connected; it expects points to move.");
    assert_string_equal(mn_network_node_error(net, b), mn_context_message(ctx));
    check_fails(ctx, mn_network_cook(net, a, 1, 1, &geo), MN_ERROR_ARGUMENT, "no output 1");
    check_fails(ctx, mn_network_cook(net, a, 0, INFINITY, &geo), MN_ERROR_ARGUMENT, "not a finite");
}

static void loops_are_refused_and_leave_no_trace(void **state)
{
    (void)state;
    const int32_t a = add("join", "a"), b = add("join", "b"), c = add("join", "c"), d = add("dots", "d");
    connect(a, 0, d);
    connect(b, 0, a);
    connect(c, 0, b);
    check_fails(ctx, mn_network_connect(net, a, 1, c, 0), MN_ERROR_ARGUMENT, "cannot have loops");
    assert_int_equal(mn_network_input_count(net, a), 1);
    assert_int_equal(mn_geo_point_count(cook(c, 1)), 10);
    assert_true(mn_network_depends(net, c, d));
    assert_false(mn_network_depends(net, d, c));
}

static int32_t make_chain(const char *type, int32_t length)
{
    int32_t last = add("dots", "first");
    char name[16];
    for (int i = 1; i < length; i++) {
        snprintf(name, sizeof name, "n%d", i);
        const int32_t next = add(type, name);
        connect(next, 0, last);
        last = next;
    }
    return last;
}

static void chains_have_a_limit(void **state)
{
    (void)state;
    const int32_t last = make_chain("shift", 500);
    assert_int_equal(mn_geo_point_count(cook(last, 1)), 10);
    const int32_t more = add("shift", "more");
    check_fails(ctx, mn_network_connect(net, more, 0, last, 0), MN_ERROR_ARGUMENT, "more than 500 nodes");
}

static void the_longest_chain_of_simulations_fits_the_stack(void **state)
{
    (void)state;
    const int32_t last = make_chain("walker", 500);
    cook(last, 3);
    assert_int_equal(mn_network_cook_count(net, last), 3);
    assert_int_equal(mn_network_cook_count(net, 1), 3);
}

static void only_what_is_asked_for_is_cooked(void **state)
{
    (void)state;
    const int32_t a = add("dots", "a"), b = add("shift", "b"), c = add("shift", "c");
    connect(b, 0, a);
    connect(c, 0, b);
    cook(b, 1);
    assert_int_equal(mn_network_cook_count(net, a), 1);
    assert_int_equal(mn_network_cook_count(net, b), 1);
    assert_int_equal(mn_network_cook_count(net, c), 0);
    for (int frame = 1; frame < 10; frame++) cook(c, frame);
    assert_int_equal(mn_network_cook_count(net, a), 1);
    assert_int_equal(mn_network_cook_count(net, c), 1);
}

static void only_what_changed_is_cooked_again(void **state)
{
    (void)state;
    const int32_t a = add("dots", "a"), b = add("dots", "b"), s = add("shift", "s"), j = add("join", "j");
    connect(s, 0, a);
    connect(j, 0, s);
    connect(j, 1, b);
    cook(j, 1);
    check_ok(ctx, mn_network_set_number(net, b, "count", 0, 3));
    assert_int_equal(mn_geo_point_count(cook(j, 1)), 13);
    assert_int_equal(mn_network_cook_count(net, a), 1);
    assert_int_equal(mn_network_cook_count(net, s), 1);
    assert_int_equal(mn_network_cook_count(net, b), 2);
    assert_int_equal(mn_network_cook_count(net, j), 2);
    // The same value again is no change.
    check_ok(ctx, mn_network_set_number(net, b, "count", 0, 3));
    cook(j, 1);
    assert_int_equal(mn_network_cook_count(net, j), 2);
    // Another connection is.
    connect(j, 1, -1);
    assert_int_equal(mn_geo_point_count(cook(j, 1)), 10);
    assert_int_equal(mn_network_cook_count(net, j), 3);
    assert_int_equal(mn_network_cook_count(net, b), 2);
    // And so is a reset, for everything below.
    check_ok(ctx, mn_network_reset_node(net, a));
    cook(j, 1);
    assert_int_equal(mn_network_cook_count(net, a), 2);
    assert_int_equal(mn_network_cook_count(net, s), 2);
    assert_int_equal(mn_network_cook_count(net, j), 4);
}

static void time_reaches_what_depends_on_it(void **state)
{
    (void)state;
    const int32_t a = add("dots", "a"), t = add("clock", "t"), s = add("shift", "s"), j = add("join", "j");
    connect(s, 0, t);
    connect(j, 0, a);
    connect(j, 1, s);
    cook(j, 1);
    const mn_geo *geo = cook(j, 2.5);
    check_close(mn_geo_position(geo, 10).x, 2.5, 0);
    assert_int_equal(mn_network_cook_count(net, a), 1);
    assert_int_equal(mn_network_cook_count(net, t), 2);
    assert_int_equal(mn_network_cook_count(net, j), 2);
    cook(j, 2.5);
    assert_int_equal(mn_network_cook_count(net, j), 2);
}

static void one_source_may_reach_a_node_twice(void **state)
{
    (void)state;
    const int32_t t = add("clock", "t"), h = add("halves", "h"), d = add("dots", "d"), j = add("join", "j");
    connect(h, 0, d);
    connect(j, 0, t);
    check_ok(ctx, mn_network_connect(net, j, 1, h, 1));
    check_ok(ctx, mn_network_connect(net, j, 2, h, 0));
    connect(j, 4, t);
    check_ok(ctx, mn_network_set_number(net, d, "count", 0, 7));
    const mn_geo *geo = cook(j, 3);
    assert_int_equal(mn_geo_point_count(geo), 9);
    check_close(mn_geo_position(geo, 1).x, 1, 0);
    check_close(mn_geo_position(geo, 4).x, 0, 0);
    assert_int_equal(mn_network_cook_count(net, t), 1);
    assert_int_equal(mn_network_input_count(net, j), 5);
}

static void failures_stay_on_their_node(void **state)
{
    (void)state;
    const int32_t f = add("faulty", "f"), s = add("shift", "s");
    connect(s, 0, f);
    check_ok(ctx, mn_network_set_text(net, f, "fail", "true"));
    check_ok(ctx, mn_network_set_text(net, f, "warn", "on"));
    const mn_geo *geo;
    check_fails(ctx, mn_network_cook(net, s, 0, 1, &geo), MN_ERROR_INPUT, "faulty 'f': It was told to fail.");
    assert_null(geo);
    assert_string_equal(mn_network_node_error(net, f), "faulty 'f': It was told to fail.");
    assert_string_equal(mn_network_node_error(net, s), "");
    assert_int_equal(mn_network_warning_count(net, f), 1);
    assert_string_equal(mn_network_warning(net, f, 0), "frame 1 looks odd.");
    check_ok(ctx, mn_network_set_text(net, f, "fail", "false"));
    check_ok(ctx, mn_network_set_text(net, f, "silent", "yes"));
    check_fails(ctx, mn_network_cook(net, s, 0, 1, &geo), MN_ERROR_UNSUPPORTED, "output 1 was not made");
    check_ok(ctx, mn_network_set_text(net, f, "silent", "no"));
    check_ok(ctx, mn_network_set_text(net, f, "warn", "off"));
    cook(s, 1);
    assert_string_equal(mn_network_node_error(net, f), "");
    assert_int_equal(mn_network_warning_count(net, f), 0);
}

static void count_number(void *user, const char *name, double value, const char *unit, const char *remark)
{
    (void)name, (void)unit, (void)remark;
    *(double *)user += value;
}

static void doctor_gets_the_node(void **state)
{
    (void)state;
    const int32_t a = add("dots", "a"), s = add("shift", "s");
    double sum = 0;
    mn_doctor doctor = {&sum, count_number, NULL};
    check_ok(ctx, mn_network_doctor(net, a, 1, &doctor));
    check_ok(ctx, mn_network_doctor(net, s, 1, &doctor));
    check_close(sum, 10, 0);
}

static mn_status build_and_cook(mn_context *small)
{
    mn_network *made;
    MN_TRY(mn_network_create_with_types(small, NULL, host_types, HOST_TYPE_COUNT, &made));
    int32_t dots = -1, shift = -1, walk = -1;
    const mn_key keys[2] = {{1, {1}}, {9, {2}}};
    const mn_asset_parm promoted = {0, 0, NULL, "Many"};
    const mn_asset asset = {"thing", NULL, 1, &promoted};
    const mn_geo *geo;
    mn_status status = mn_network_add_node(made, "dots", "dots", &dots);
    if (status == MN_OK) status = mn_network_add_node(made, "shift", "shift", &shift);
    if (status == MN_OK) status = mn_network_add_node(made, "walker", "walk", &walk);
    if (status == MN_OK) status = mn_network_connect(made, shift, 0, dots, 0);
    if (status == MN_OK) status = mn_network_connect(made, walk, 0, shift, 0);
    if (status == MN_OK) status = mn_network_set_folder(made, "somewhere");
    if (status == MN_OK) status = mn_network_set_string(made, dots, "path", "file.geo");
    if (status == MN_OK) status = mn_network_set_keys(made, walk, "speed", 2, keys);
    if (status == MN_OK) status = mn_network_set_asset(made, &asset);
    if (status == MN_OK) status = mn_network_cook(made, walk, 0, 3, &geo);
    if (status == MN_OK) status = mn_network_cook(made, walk, 0, 2, &geo);
    mn_network_set_cache_limit(made, 0);
    if (status == MN_OK) status = mn_network_cook(made, walk, 0, 1, &geo);
    mn_network_free(made);
    return status;
}

static void every_shortage_of_memory_is_survived(void **state)
{
    (void)state;
    check_memory_may_run_out(build_and_cook);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(names_and_numbers_stay, set_up, tear_down),
        cmocka_unit_test_setup_teardown(mistakes_are_named, set_up, tear_down),
        cmocka_unit_test_setup_teardown(loops_are_refused_and_leave_no_trace, set_up, tear_down),
        cmocka_unit_test_setup_teardown(chains_have_a_limit, set_up, tear_down),
        cmocka_unit_test_setup_teardown(the_longest_chain_of_simulations_fits_the_stack, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_is_asked_for_is_cooked, set_up, tear_down),
        cmocka_unit_test_setup_teardown(only_what_changed_is_cooked_again, set_up, tear_down),
        cmocka_unit_test_setup_teardown(time_reaches_what_depends_on_it, set_up, tear_down),
        cmocka_unit_test_setup_teardown(one_source_may_reach_a_node_twice, set_up, tear_down),
        cmocka_unit_test_setup_teardown(failures_stay_on_their_node, set_up, tear_down),
        cmocka_unit_test_setup_teardown(doctor_gets_the_node, set_up, tear_down),
        cmocka_unit_test(every_shortage_of_memory_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
