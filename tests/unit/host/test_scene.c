// SPDX-License-Identifier: Apache-2.0
//
// Scenes: what they say about mistakes, that writing and reading gives the same network, hostile texts.
#include <locale.h>
#include <unistd.h>

#include "host_nodes.h"
#include "plugin/host/network/network.h"
#include "support/one_context.h"
#include "support/out_of_memory.h"

static mn_status read_text(mn_context *in, const char *text, size_t size, mn_network **network)
{
    MN_TRY(mn_network_create_with_types(in, NULL, host_types, HOST_TYPE_COUNT, network));
    const mn_status status = mn_scene_read_into(*network, text, size, "scene");
    if (status != MN_OK) mn_network_free(*network), *network = NULL;
    return status;
}

static mn_network *read_good(const char *text)
{
    mn_network *network = NULL;
    check_ok(ctx, read_text(ctx, text, strlen(text), &network));
    return network;
}

static const char GOOD[] =
    "\xef\xbb\xbf{\n"
    "  \"meniscus\": 1, \"title\": \"Two \\\"dr\\u00f6ps\\\" \\ud83d\\udca7\",\n"
    "  \"fps\": 25, \"frames\": [-3, 48],\n"
    "  \"nodes\": [\n"
    "    {\"name\": \"all\", \"type\": \"join\", \"inputs\": [\"half:1\", null, \"walk\", \"half\"]},\n"
    "    {\"name\": \"some\", \"type\": \"dots\", \"parms\": {\"count\": 7, \"center\": [0.1, -2e-3, 3],\n"
    "      \"axis\": \"y_axis\", \"mirror\": true, \"note\": \"a/b\\tc\", \"path\": \"geo/a.bgeo.sc\"}},\n"
    "    {\"name\": \"half\", \"type\": \"halves\", \"inputs\": [\"some\"]},\n"
    "    {\"name\": \"walk\", \"type\": \"walker\", \"inputs\": [\"some\"],\n"
    "     \"parms\": {\"speed\": {\"keys\": [[1, 0.0], [24.5, 1.0]]}, \"start_frame\": 2}},\n"
    "    {\"name\": \"move\", \"type\": \"shift\", \"inputs\": [\"walk\"],\n"
    "     \"parms\": {\"by\": {\"keys\": [[1, 0, 1, 2], [2, [3, 4, 5]]]}}}\n"
    "  ],\n"
    "  \"output\": \"all\",\n"
    "  \"camera\": {\"position\": [0.1, 0.2, 0.3], \"target\": [0, 0.05, 0], \"fov\": 40},\n"
    "  \"render\": {\"studio\": \"table\", \"size\": [640, 480], \"samples\": 32, \"shutter\": 0.25, "
    "\"aperture\": 0.02,\n"
    "             \"stills\": [3, 9], \"looks\": {\"all\": \"mercury\"}},\n"
    "  \"asset\": {\"name\": \"my_asset\", \"label\": \"My Asset\",\n"
    "            \"parms\": [{\"parm\": \"some.count\", \"name\": \"many\", \"label\": \"How Many\"},\n"
    "                      {\"parm\": \"walk.speed\"}]}\n"
    "}\n";

static void everything_is_read(void **state)
{
    (void)state;
    mn_network *net = read_good(GOOD);
    assert_string_equal(mn_network_title(net), "Two \"dr\xc3\xb6ps\" \xf0\x9f\x92\xa7");
    check_close(mn_network_fps(net), 25, 0);
    int32_t first, last, source, output;
    mn_network_range(net, &first, &last);
    assert_int_equal(first, -3);
    assert_int_equal(last, 48);
    const int32_t all = mn_network_find(net, "all"), some = mn_network_find(net, "some");
    const int32_t move = mn_network_find(net, "move");
    assert_int_equal(mn_network_output(net), all);
    assert_int_equal(mn_network_input_count(net, all), 4);
    mn_network_input(net, all, 0, &source, &output);
    assert_int_equal(source, mn_network_find(net, "half"));
    assert_int_equal(output, 1);
    mn_network_input(net, all, 1, &source, &output);
    assert_int_equal(source, -1);
    mn_parm_value value;
    check_ok(ctx, mn_network_parm(net, some, "center", 1, &value));
    check_close(value.number[1], -2e-3, 0);
    check_ok(ctx, mn_network_parm(net, some, "axis", 1, &value));
    check_close(value.number[0], 1, 0);
    check_ok(ctx, mn_network_parm(net, some, "note", 1, &value));
    assert_string_equal(value.string, "a/b\tc");
    const mn_key *keys;
    assert_int_equal(mn_network_keys(net, move, "by", &keys), 2);
    check_close(keys[0].value[2], 2, 0);
    check_close(keys[1].value[0], 3, 0);
    assert_non_null(mn_network_camera(net));
    check_close(mn_network_camera(net)->position.z, 0.3, 0);
    check_close(mn_network_camera(net)->target.y, 0.05, 0);
    check_close(mn_network_camera(net)->fov, 40, 0);
    const mn_render *render = mn_network_render(net);
    assert_non_null(render);
    assert_string_equal(render->studio, "table");
    assert_int_equal(render->size[1], 480);
    check_close(render->shutter, 0.25, 0);
    assert_int_equal(render->still_count, 2);
    assert_int_equal(render->stills[1], 9);
    assert_string_equal(render->looks[0].look, "mercury");
    const mn_asset *asset = mn_network_asset(net);
    assert_non_null(asset);
    assert_string_equal(asset->label, "My Asset");
    assert_int_equal(asset->parm_count, 2);
    assert_string_equal(asset->parms[0].name, "many");
    assert_string_equal(asset->parms[1].label, "Speed");
    const mn_geo *geo;
    check_ok(ctx, mn_network_cook(net, all, 0, 3, &geo));
    assert_int_equal(mn_geo_point_count(geo), 8);
    // A node that goes takes its promoted parameters along.
    check_ok(ctx, mn_network_remove_node(net, some));
    assert_int_equal(mn_network_asset(net)->parm_count, 1);
    assert_string_equal(mn_network_asset(net)->parms[0].name, "speed");
    mn_network_free(net);
}

static void writing_and_reading_gives_the_same(void **state)
{
    (void)state;
    mn_network *net = read_good(GOOD);
    char *once, *twice;
    check_ok(ctx, mn_scene_write_text(net, &once));
    assert_null(strstr(once, "spacing")); // a default is left out
    mn_network *again = read_good(once);
    check_ok(ctx, mn_scene_write_text(again, &twice));
    assert_string_equal(once, twice);
    const mn_geo *a, *b;
    check_ok(ctx, mn_network_cook(net, mn_network_output(net), 0, 9, &a));
    check_ok(ctx, mn_network_cook(again, mn_network_output(again), 0, 9, &b));
    assert_true(mn_geo_hash(a) == mn_geo_hash(b));
    mn_scene_free_text(ctx, once);
    mn_scene_free_text(ctx, twice);
    mn_network_free(net);
    mn_network_free(again);
}

static void numbers_come_back_to_the_last_bit(void **state)
{
    (void)state;
    const double hard[] = {0.1,  1.0 / 3, 5e-324, 1.7976931348623157e308, 123456789.123456789,
                           -0.0, 1e22,    7e-7};
    mn_network *net;
    check_ok(ctx, mn_network_create_with_types(ctx, NULL, host_types, HOST_TYPE_COUNT, &net));
    int32_t node;
    check_ok(ctx, mn_network_add_node(net, "shift", "s", &node));
    for (size_t i = 0; i < sizeof hard / sizeof *hard; i++) {
        char *text;
        check_ok(ctx, mn_network_set_number(net, node, "by", 0, hard[i]));
        check_ok(ctx, mn_network_set_number(net, node, "by", 1, 1));
        check_ok(ctx, mn_scene_write_text(net, &text));
        mn_network *again = read_good(text);
        mn_parm_value value;
        check_ok(ctx, mn_network_parm(again, 0, "by", 1, &value));
        assert_memory_equal(&value.number[0], &hard[i], sizeof(double));
        mn_scene_free_text(ctx, text);
        mn_network_free(again);
    }
    mn_network_free(net);
}

static void a_decimal_comma_outside_changes_nothing(void **state)
{
    (void)state;
    if (!setlocale(LC_NUMERIC, "de_DE.UTF-8") && !setlocale(LC_NUMERIC, "fr_FR.UTF-8")) {
        print_message("no locale with a decimal comma is installed\n");
        skip();
    }
    mn_network *net = read_good(GOOD);
    char *text;
    check_ok(ctx, mn_scene_write_text(net, &text));
    assert_non_null(strstr(text, "[0.1, -0.002, 3]"));
    mn_scene_free_text(ctx, text);
    mn_network_free(net);
    setlocale(LC_NUMERIC, "C");
}

typedef struct bad {
    const char *text;
    const char *expected; ///< with its line
} bad;

#define SCENE(nodes) "{\"meniscus\": 1,\n\"nodes\": [" nodes "]}"
#define DOTS(parms) SCENE("\n{\"name\": \"ball\", \"type\": \"dots\",\n\"parms\": {\n" parms "}}")
#define WALK(parms) SCENE("\n{\"name\": \"w\", \"type\": \"walker\",\n\"parms\": {\n" parms "}}")

static const bad bad_scenes[] = {
    {"", "scene:1: expected a value but the text ends."},
    {"\n\n  ", "scene:3: expected a value but the text ends."},
    {"[]", "scene:1: a scene must be an object in { }, not a list of 0."},
    {"{}", "scene:1: a scene begins with {\"meniscus\": 1"},
    {"{\"meniscus\": 2}", "scene:1: the scene is of version 2; this build reads version 1."},
    {"{\"meniscus\": \"1\"}", "scene:1: \"meniscus\" must be a number, not a string."},
    {"{\"meniscus\": 1}", "scene:1: the scene needs \"nodes\"."},
    {"{\"meniscus\": 1,\n \"nodez\": []}", "scene:2: a scene has no key \"nodez\"; did you mean 'nodes'?"},
    {"{\"meniscus\": 1, \"nodes\": {}}", "\"nodes\" must be a list in [ ], not an object."},
    {"{\"meniscus\": 1, \"nodes\": []} x", "scene:1: expected nothing after the end but found 'x'."},
    {"{\"meniscus\": 1,\n\"fps\": 24,\n\"fps\": 25, \"nodes\": []}",
     "scene:3: the key 'fps' appears twice; the first is in line 2."},
    {"{\"meniscus\": 1,\n\"fps\": 0, \"nodes\": []}", "scene:2: fps is 0 but must be between"},
    {"{\"meniscus\": 1,\n\"fps\": true, \"nodes\": []}",
     "scene:2: \"fps\" must be a number, not true or false."},
    {"{\"meniscus\": 1,\n\"frames\": [1], \"nodes\": []}",
     "scene:2: \"frames\" must be [first, last], not a list of 1."},
    {"{\"meniscus\": 1,\n\"frames\": [1, 2.5], \"nodes\": []}",
     "scene:2: the last of \"frames\" must be a whole number, not 2.5."},
    {"{\"meniscus\": 1,\n\"frames\": [9, 2], \"nodes\": []}", "scene:2: The frames 9 to 2 must rise"},
    {"{\"meniscus\": 1,\n\"title\": 7, \"nodes\": []}", "scene:2: \"title\" must be a string, not a number."},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"output\": \"x\"}", "scene:2: There is no node named 'x'."},
    {SCENE("\n7"), "scene:3: a node must be an object in { }, not a number."},
    {SCENE("\n{\"type\": \"dots\"}"), "scene:3: a node needs a \"name\"."},
    {SCENE("\n{\"name\": \"a\"}"), "scene:3: a node needs a \"type\"."},
    {SCENE("\n{\"name\": \"a\", \"typ\": \"dots\"}"),
     "scene:3: a node has no key \"typ\"; did you mean 'type'?"},
    {SCENE("\n{\"name\": \"a\",\n\"type\": \"dot\"}"),
     "scene:4: There is no node type 'dot'; did you mean 'dots'?"},
    {SCENE("\n{\"name\": \"a b\", \"type\": \"dots\"}"), "scene:3: 'a b' cannot be a node's name"},
    {SCENE("{\"name\": \"a\", \"type\": \"dots\"},\n{\"name\": \"a\", \"type\": \"dots\"}"),
     "scene:3: There are two nodes named 'a'; names must differ."},
    // parameters
    {DOTS("\"cuont\": 1"), "scene:5: dots 'ball' has no parameter 'cuont'; did you mean 'count'?"},
    {DOTS("\"count\": \"1\""), "scene:5: dots 'ball': count takes a whole number, not a string."},
    {DOTS("\"count\": 1.5"), "scene:5: dots 'ball': count is 1.5 but must be a whole number."},
    {DOTS("\"count\": -1"), "scene:5: dots 'ball': count is -1 but must be between 0 and 100000."},
    {DOTS("\"spacing\": -0.5"), "scene:5: dots 'ball': spacing is -0.5 but must be at least 0 m."},
    {DOTS("\"spacing\": true"), "scene:5: dots 'ball': spacing takes a number, not true or false."},
    {DOTS("\"center\": true"), "scene:5: dots 'ball': center takes 3 numbers, not true or false."},
    {DOTS("\"center\": [1,\n2]"), "scene:5: dots 'ball': center takes 3 numbers, not a list of 2."},
    {DOTS("\"center\": [1, 2, 3, 4]"), "scene:5: dots 'ball': center takes 3 numbers, not a list of 4."},
    {DOTS("\"center\": [1, 2,\n \"3\"]"), "scene:6: dots 'ball': center takes 3 numbers, not a string."},
    {DOTS("\"axis\": \"yaxis\""), "scene:5: dots 'ball': axis is 'yaxis' but must be one of x_axis, y_axis, "
                                  "z_axis; did you mean 'y_axis'?"},
    {DOTS("\"axis\": 1"), "scene:5: dots 'ball': axis takes one of x_axis, y_axis, z_axis, not a number."},
    {DOTS("\"axis\": {\"keys\": [[1, 0]]}"), "axis takes one of x_axis, y_axis, z_axis, not an object."},
    {DOTS("\"mirror\": 2"), "scene:5: dots 'ball': mirror is 2 but must be 0 or 1."},
    {DOTS("\"mirror\": \"yes\""), "scene:5: dots 'ball': mirror takes true or false, not a string."},
    {DOTS("\"note\": 1"), "scene:5: dots 'ball': note takes a string, not a number."},
    {DOTS("\"path\": null"), "scene:5: dots 'ball': path takes a path, not null."},
    {DOTS("\"spacing\": 1e999"), "scene:5: a number is too large."},
    {DOTS("\"spacing\": NaN"), "scene:5: expected a value but found 'N'."},
    {DOTS("\"spacing\": 01"), "scene:5: '01' is not a number as JSON has it."},
    // animation
    {WALK("\"speed\": {\"kyes\": []}"),
     "scene:5: walker 'w': speed has no key \"kyes\"; did you mean 'keys'?"},
    {WALK("\"speed\": {}"), "scene:5: walker 'w': speed is an object without \"keys\"."},
    {WALK("\"speed\": {\"keys\": 1}"),
     "scene:5: walker 'w': speed: \"keys\" must be a list in [ ], not a number."},
    {WALK("\"speed\": {\"keys\": []}"), "scene:5: walker 'w': speed has 0 keys but takes 1 to"},
    {WALK("\"speed\": {\"keys\": [\n[1]]}"), "scene:6: walker 'w': a key of speed must be [frame, value]."},
    {WALK("\"speed\": {\"keys\": [\n[1, 2, 3]]}"),
     "scene:6: walker 'w': a key of speed must be [frame, value]."},
    {WALK("\"speed\": {\"keys\": [\n[1, 0],\n[2, \"a\"]]}"),
     "scene:7: walker 'w': speed takes a number, not a string."},
    {WALK("\"speed\": {\"keys\": [[2, 0], [2, 1]]}"),
     "the frames of the keys of speed must rise, but key 2 is at 2."},
    {WALK("\"time_scale\": {\"keys\": [[1, 0],\n[2, -1]]}"),
     "scene:6: walker 'w': time_scale is -1 but must be between"},
    {WALK("\"start_frame\": {\"keys\": [[1, 0]]}"), "scene:5: walker 'w': start_frame cannot be animated."},
    // connections
    {SCENE("{\"name\": \"d\", \"type\": \"dots\"},\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": "
           "[\"e\"]}"),
     "scene:4: There is no node named 'e'; there are d, s."},
    {SCENE("{\"name\": \"drop\", \"type\": \"dots\"},\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": "
           "[\"dorp\"]}"),
     "scene:4: There is no node named 'dorp'; did you mean 'drop'?"},
    {SCENE("\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": \"s\"}"),
     "scene:4: \"inputs\" of 's' must be a list in [ ], not a string."},
    {SCENE("\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": [3]}"),
     "scene:4: an input of 's' must be a string, not a number."},
    {SCENE("\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": [\"s\"]}"),
     "scene:4: shift 's' gets its own output back through its inputs; a network cannot have loops."},
    {SCENE("\n{\"name\": \"s\", \"type\": \"shift\",\n\"inputs\": [null, null]}"),
     "scene:4: shift 's' has 1 input; there is no input 2."},
    {SCENE("{\"name\": \"d\", \"type\": \"dots\"},\n{\"name\": \"s\", \"type\": \"shift\", \"inputs\": "
           "[\"d:1\"]}"),
     "scene:3: dots 'd' has 1 output; there is no output 1."},
    {SCENE("{\"name\": \"d\", \"type\": \"dots\"},\n{\"name\": \"s\", \"type\": \"shift\", \"inputs\": "
           "[\"d:x\"]}"),
     "scene:3: the input 'd:x' must be a node's name, or name:1 for its second output."},
    {SCENE("{\"name\": \"d\", \"type\": \"dots\"},\n{\"name\": \"a\", \"type\": \"join\", \"inputs\": "
           "[\"d\", \"c\"]},\n"
           "{\"name\": \"b\", \"type\": \"join\", \"inputs\": [\"a\"]},\n"
           "{\"name\": \"c\", \"type\": \"join\", \"inputs\": [\"b\"]}, {\"name\": \"e\", \"type\": "
           "\"join\", \"inputs\": [\"c\"]}"),
     "a network cannot have loops."},
    // camera
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": []}", "scene:2: \"camera\" must be an object in { }"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": {\"position\": [0, 0, 1]}}",
     "scene:2: \"camera\" needs a \"target\""},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": {\"position\": [0, 1], \"target\": [0, 0, 0]}}",
     "must be three numbers, not a list of 2."},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": {\"position\": [0, 0, 0], \"target\": [0, 0, 0]}}",
     "scene:2: The camera's position and target are the same"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": {\"position\": [0, 0, 1], \"target\": [0, 0, 0], "
     "\"fov\": 180}}",
     "1 to 170 degrees"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"camera\": {\"postion\": [0, 0, 1]}}", "did you mean 'position'?"},
    // render
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"studio\": \"tabel\"}}", "did you mean 'table'?"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"size\": [960]}}", "must be [width, height]"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"size\": [1, 2, 3]}}", "has 3 numbers; 2 is the most"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"shutter\": 2}}",
     "scene:2: The \"shutter\" of \"render\" is 2; it must be 0 to 1."},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"stills\": [1.5]}}", "must be a whole number"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"looks\": {\"dish\": \"glass\"}}}", "scene:2: "},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"render\": {\"still\": []}}", "did you mean 'stills'?"},
    // asset
    {"{\"meniscus\": 1, \"nodes\": [],\n\"asset\": {}}", "scene:2: \"asset\" needs a \"name\"."},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"asset\": {\"name\": \"a b\"}}",
     "scene:2: 'a b' cannot be the name of an asset"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"asset\": {\"name\": \"a\", \"lable\": \"\"}}",
     "scene:2: \"asset\" has no key \"lable\"; did you mean 'label'?"},
    {"{\"meniscus\": 1, \"nodes\": [{\"name\": \"d\", \"type\": \"dots\"}],\n\"asset\": {\"name\": \"a\", "
     "\"parms\": [\n{\"parm\": \"d.cnt\"}]}}",
     "scene:3: dots 'd' has no parameter 'cnt'; did you mean 'count'?"},
    {"{\"meniscus\": 1, \"nodes\": [],\n\"asset\": {\"name\": \"a\", \"parms\": [{\"parm\": \"count\"}]}}",
     "scene:2: 'count' must be written as node.parameter."},
    {"{\"meniscus\": 1, \"nodes\": [{\"name\": \"d\", \"type\": \"dots\"}],\n\"asset\": {\"name\": \"a\", "
     "\"parms\": "
     "[{\"parm\": \"d.count\"}, {\"parm\": \"d.axis\", \"name\": \"count\"}]}}",
     "scene:2: The asset's parameter 'count' drives parameters of different types"},
    // text
    {"{\"meniscus\": 1, \"title\": \"a\nb\"}", "scene:1: a string has no \" at its end."},
    {"{\"meniscus\": 1, \"title\": \"a\tb\"}", "scene:1: a string holds a control character"},
    {"{\"meniscus\": 1, \"title\": \"\\x\"}",
     "scene:1: expected one of \" \\ / b f n r t u after a backslash"},
    {"{\"meniscus\": 1, \"title\": \"\\u00g0\"}",
     "scene:1: expected four hexadecimal digits after \\u but found 'g'."},
    {"{\"meniscus\": 1, \"title\": \"\\u0000\"}", "scene:1: a string holds the character zero."},
    {"{\"meniscus\": 1, \"title\": \"\\ud800x\"}", "scene:1: a string holds half of a surrogate pair."},
    {"{\"meniscus\": 1, \"title\": \"\\udc00\"}", "scene:1: a string holds half of a surrogate pair."},
    {"{\"meniscus\": 1, \"title\": \"\xc0\xaf\"}", "scene:1: a string is not valid UTF-8."},
    {"{\"meniscus\": 1, \"title\": \"\xed\xa0\x80\"}", "scene:1: a string is not valid UTF-8."},
    {"{\"meniscus\": 1, \"title\": \"\xe2\x82", "scene:1: a string is not valid UTF-8."},
    {"{\"meniscus\": 1 \"title\": \"\"}", "scene:1: expected ',' or '}' but found '\"'."},
    {"{\"meniscus\": 1, \"frames\": [1 2]}", "scene:1: expected ',' or ']' but found '2'."},
    {"{\"meniscus\": 1,}", "scene:1: expected a key in \"quotes\" but found '}'."},
    {"{\"meniscus\" 1}", "scene:1: expected ':' after a key but found '1'."},
    {"{\"meniscus\": tru}", "scene:1: expected a value but found 't'."},
    {"{\"meniscus\": 1.}", "scene:1: '1.' is not a number as JSON has it."},
};

static void every_mistake_has_its_sentence_and_line(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof bad_scenes / sizeof *bad_scenes; i++) {
        mn_network *net;
        const mn_status status = read_text(ctx, bad_scenes[i].text, strlen(bad_scenes[i].text), &net);
        if (status != MN_ERROR_SCENE || !strstr(mn_context_message(ctx), bad_scenes[i].expected))
            print_error("for %s\n", bad_scenes[i].text);
        check_fails(ctx, status, MN_ERROR_SCENE, bad_scenes[i].expected);
        assert_null(net);
    }
}

static void every_cut_is_refused(void **state)
{
    (void)state;
    const size_t size = strlen(GOOD);
    for (size_t n = 0; n < size - 2; n++) {
        // Exactly this large, so that the address sanitizer sees a read past its end.
        char *cut = malloc(n ? n : 1);
        memcpy(cut, GOOD, n);
        mn_network *net;
        assert_int_equal(read_text(ctx, cut, n, &net), MN_ERROR_SCENE);
        free(cut);
    }
}

static void refuse(const char *text, size_t size, const char *part)
{
    mn_network *net;
    check_fails(ctx, read_text(ctx, text, size, &net), MN_ERROR_SCENE, part);
}

static void hostile_texts_are_refused(void **state)
{
    (void)state;
    enum { MANY = 1000000 };
    char *text = malloc(3 * MANY);
    memset(text, '[', MANY);
    refuse(text, MANY, "nested more than 32 levels");
    for (int i = 0; i < MANY / 5; i++) memcpy(text + 5 * i, "{\"a\":", 5);
    refuse(text, MANY, "nested more than 32 levels");
    // A name of a megabyte, as key, type and name, ends in a short sentence.
    static const char *const around[][2] = {
        {"{\"meniscus\": 1, \"", "\": 1}"},
        {"{\"meniscus\": 1, \"nodes\": [{\"name\": \"a\", \"type\": \"", "\"}]}"},
        {"{\"meniscus\": 1, \"nodes\": [{\"type\": \"dots\", \"name\": \"", "\"}]}"},
        {"{\"meniscus\": 1, \"nodes\": [{\"type\": \"dots\", \"name\": \"d\", \"parms\": {\"", "\": 1}}]}"},
        {"{\"meniscus\": 1, \"nodes\": [{\"type\": \"dots\", \"name\": \"d\", \"parms\": {\"axis\": \"",
         "\"}}]}"},
        {"{\"meniscus\": 1, \"nodes\": [{\"type\": \"join\", \"name\": \"d\", \"inputs\": [\"", "\"]}]}"},
        {"{\"meniscus\": 1, \"nodes\": [], \"asset\": {\"name\": \"", "\"}}"},
    };
    for (size_t i = 0; i < sizeof around / sizeof *around; i++) {
        const size_t before = strlen(around[i][0]), after = strlen(around[i][1]);
        memcpy(text, around[i][0], before);
        memset(text + before, 'x', MANY);
        memcpy(text + before + MANY, around[i][1], after);
        refuse(text, before + MANY + after, "xxx...");
        assert_true(strlen(mn_context_message(ctx)) < 300);
    }
    memset(text, '9', MANY);
    refuse(text, MANY, "a number has more than 400 characters");
    size_t used = (size_t)sprintf(text, "{\"meniscus\": 1");
    for (int i = 0; i < 300; i++) used += (size_t)sprintf(text + used, ", \"k%d\": 1", i);
    refuse(text, used, "more than 256 keys");
    free(text);
}

static void large_networks_have_bounds(void **state)
{
    (void)state;
    char *text = malloc(4 << 20);
    size_t used = (size_t)sprintf(text, "{\"meniscus\": 1, \"nodes\": [");
    for (int i = 0; i < 600; i++)
        used += (size_t)sprintf(
            text + used, "{\"name\": \"n%d\", \"type\": \"join\", \"inputs\": [\"n%d\"]},\n", i, i + 1);
    used += (size_t)sprintf(text + used, "{\"name\": \"n600\", \"type\": \"dots\"}]}");
    refuse(text, used, "chain of more than 500 nodes");
    used = (size_t)sprintf(text, "{\"meniscus\": 1, \"nodes\": [");
    for (int i = 0; i < 20000; i++)
        used += (size_t)sprintf(text + used, "{\"name\": \"n%d\", \"type\": \"join\"},\n", i);
    refuse(text, used - 2, "',' or ']'");
    used = (size_t)sprintf(text + used - 2, "]}") + used - 2;
    refuse(text, used, "cannot have more than 10000 nodes");
    free(text);
}

static mn_status read_and_write(mn_context *small)
{
    mn_network *net;
    char *text;
    MN_TRY(read_text(small, GOOD, strlen(GOOD), &net));
    const mn_status status = mn_scene_write_text(net, &text);
    mn_scene_free_text(small, text);
    mn_network_free(net);
    return status;
}

static void every_shortage_of_memory_is_survived(void **state)
{
    (void)state;
    check_memory_may_run_out(read_and_write);
}

static void files_are_read_and_written(void **state)
{
    (void)state;
    char folder[] = "/tmp/meniscus_scene_XXXXXX", path[128];
    assert_non_null(mkdtemp(folder));
    snprintf(path, sizeof path, "%s/empty.json", folder);
    mn_network *net;
    check_ok(ctx, mn_network_create(ctx, NULL, &net));
    check_ok(ctx, mn_network_set_title(net, "nothing in it"));
    check_ok(ctx, mn_scene_write(net, path));
    mn_network_free(net);
    check_ok(ctx, mn_scene_read(ctx, NULL, path, &net));
    assert_string_equal(mn_network_title(net), "nothing in it");
    assert_string_equal(mn_network_folder(net), folder);
    check_fails(ctx, mn_scene_write(net, "/nonexistent/a/b.json"), MN_ERROR_IO, "/nonexistent/a/b.json");
    mn_network_free(net);
    check_fails(ctx, mn_scene_read(ctx, NULL, "/nonexistent.json", &net), MN_ERROR_IO, "cannot be opened");
    assert_null(net);
    check_fails(ctx, mn_scene_read(ctx, NULL, folder, &net), MN_ERROR_IO, "cannot be read");
    unlink(path);
    rmdir(folder);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(everything_is_read, setup, teardown),
        cmocka_unit_test_setup_teardown(writing_and_reading_gives_the_same, setup, teardown),
        cmocka_unit_test_setup_teardown(numbers_come_back_to_the_last_bit, setup, teardown),
        cmocka_unit_test_setup_teardown(a_decimal_comma_outside_changes_nothing, setup, teardown),
        cmocka_unit_test_setup_teardown(every_mistake_has_its_sentence_and_line, setup, teardown),
        cmocka_unit_test_setup_teardown(every_cut_is_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(hostile_texts_are_refused, setup, teardown),
        cmocka_unit_test_setup_teardown(large_networks_have_bounds, setup, teardown),
        cmocka_unit_test(every_shortage_of_memory_is_survived),
        cmocka_unit_test_setup_teardown(files_are_read_and_written, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
