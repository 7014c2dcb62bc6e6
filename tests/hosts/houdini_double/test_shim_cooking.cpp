// SPDX-License-Identifier: Apache-2.0
//
// Cooking through the shim: simulations behave at every frame as in the other hosts, and what goes wrong
// lands on the node.
#include "test_shim.hpp"

/// The same network in the headless host.
static uint64_t headless(int output, double frame)
{
    static const char scene[] =
        "{\"meniscus\": 1, \"nodes\": ["
        "{\"name\": \"ball\", \"type\": \"shape\", \"parms\": {\"kind\": \"ellipsoid\", "
        "\"radius\": [0.004, 0.003, 0.003]}},"
        "{\"name\": \"fill\", \"type\": \"fill\", \"inputs\": [\"ball\"], \"parms\": {\"dx\": 0.001}},"
        "{\"name\": \"liquid\", \"type\": \"mpm_solver\", \"inputs\": [\"fill\"], \"parms\": "
        "{\"dx\": 0.001, \"gravity\": [0, 0, 0], \"time_scale\": 0.02}}]}";
    mn_context *ctx = mn_context_create(nullptr);
    mn_network *network;
    const mn_geo *geo;
    assert_int_equal(mn_scene_read_memory(ctx, nullptr, scene, sizeof scene - 1, "scene", &network), MN_OK);
    assert_int_equal(mn_network_cook(network, mn_network_find(network, "liquid"), output, frame, &geo),
                     MN_OK);
    const uint64_t hash = mn_geo_hash(geo);
    mn_network_free(network);
    mn_context_free(ctx);
    return hash;
}

static void frames_are_those_of_the_other_hosts_in_any_order(void **)
{
    eyes e;
    pond p;
    const uint64_t at3 = e.hash(p.liquid->cook(0, time_of(3)));
    assert_true(p.liquid->node_flags.time_dependent);
    assert_true(at3 == headless(0, 3));
    assert_true(e.hash(p.liquid->cook(1, time_of(3))) == headless(1, 3)); // the surface
    const uint64_t at1 = e.hash(p.liquid->cook(0, time_of(1)));
    assert_true(at1 == headless(0, 1));
    assert_true(e.hash(p.liquid->cook(0, time_of(3))) == at3);
    assert_true(e.hash(p.liquid->cook(0, time_of(-5))) == at1); // before the start: the initial state
    double_::press(*p.liquid, MN_HOUDINI_RESET);
    assert_true(p.liquid->dirty);
    assert_true(e.hash(p.liquid->cook(0, time_of(3))) == at3);
}

/// Time times rate is not a whole number for many frames; each must be itself all the same.
static void frames_are_whole_at_every_rate(void **)
{
    for (const double fps : {25.0, 29.97, 30.0, 60.0, 23.976}) {
        CHgetManager()->fps = fps;
        eyes e;
        const auto transform = double_::make(operator_of("transform"), "move");
        const auto ball = double_::make(operator_of("shape"), "ball");
        double_::connect(*transform, 0, *ball);
        const auto spray = double_::make(operator_of("spray_solver"), "spray");
        double_::set(*spray, "rate", {100});
        double_::set(*spray, "start_frame", {100});
        double_::connect(*spray, 0, *ball);
        uint64_t last = 0;
        for (int frame = 100; frame < 130; frame++) {
            const uint64_t now = e.hash(spray->cook(0, (frame - 1) * (1 / fps)));
            assert_true(now != last); // more drops in each: none shows the frame before
            last = now;
        }
    }
    CHgetManager()->fps = 24;
}

static void a_change_above_or_here_starts_again(void **)
{
    eyes e;
    pond p;
    const uint64_t before = e.hash(p.liquid->cook(0, time_of(2)));
    double_::set(*p.liquid, "sigma", {0.5});
    const uint64_t other = e.hash(p.liquid->cook(0, time_of(2)));
    assert_true(other != before);
    double_::set(*p.liquid, "sigma", {0.072});
    double_::set(*p.ball, "radius", {0.003, 0.003, 0.003});
    assert_true(e.hash(p.liquid->cook(0, time_of(2))) != before);
    double_::set(*p.ball, "radius", {0.004, 0.003, 0.003});
    assert_true(e.hash(p.liquid->cook(0, time_of(2))) == before);
}

static void another_output_comes_through_a_node_of_its_own(void **)
{
    eyes e;
    pond p;
    const auto surface = double_::make(operator_of(MN_HOUDINI_OUTPUT), "surface");
    assert_null(surface->cook(0, 0));
    assert_non_null(std::strstr(surface->errors.at(0).c_str(), "Connect input 1 to a Meniscus solver"));
    double_::connect(*surface, 0, *p.liquid);
    assert_true(e.hash(surface->cook(0, time_of(3))) == headless(1, 3));
    assert_true(surface->node_flags.time_dependent);
    assert_true(e.hash(surface->cook(0, time_of(1))) == headless(1, 1));
    double_::set(*surface, "output", {1});
    assert_true(e.hash(surface->cook(0, time_of(3))) == headless(0, 3));
    const int32_t count = mn_node_type_find("mpm_solver")->output_count;
    double_::set(*surface, "output", {count + 1.0});
    assert_null(surface->cook(0, time_of(3)));
    assert_non_null(std::strstr(surface->errors.at(0).c_str(), "is not one of them"));
}

static void the_information_window_tells_of_the_frame(void **)
{
    pond p;
    p.liquid->cook(0, time_of(2));
    assert_true(!UTgetInterrupt()->long_text.empty());
    UT_InfoTree tree;
    p.liquid->fillInfoTreeNodeSpecific(tree, {});
    assert_int_equal(tree.branches.size(), 1);
    const auto &said = tree.branches[0]->properties;
    assert_true(said.count("substeps") && said.count("volume") && said.count("total"));
    assert_true(std::atof(said.at("substeps").c_str()) >= 1);
}

static void a_new_session_resumes_from_the_checkpoint(void **)
{
    eyes e;
    char folder[] = "/tmp/meniscus_checkpoint_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const std::string path = std::string(folder) + "/liquid.checkpoint";
    {
        pond p;
        double_::set_text(*p.liquid, MN_HOUDINI_CHECKPOINT, path);
        double_::set(*p.liquid, MN_HOUDINI_CHECKPOINT_EVERY, {4});
        for (int frame = 1; frame <= 6; frame++) p.liquid->cook(0, time_of(frame));
        assert_int_equal(p.liquid->warnings.size(), 0);
    }
    {
        pond p; // Houdini was started again: frame 5 is the first that is simulated
        double_::set_text(*p.liquid, MN_HOUDINI_CHECKPOINT, path);
        assert_true(e.hash(p.liquid->cook(0, time_of(6))) == headless(0, 6));
        assert_int_equal(p.ball->cook_count, 1);
        assert_int_equal(p.liquid->warnings.size(), 0);
    }
    {
        pond p; // another liquid: said, and simulated from its own start
        double_::set(*p.liquid, "sigma", {0.02});
        double_::set_text(*p.liquid, MN_HOUDINI_CHECKPOINT, path);
        assert_non_null(p.liquid->cook(0, time_of(2)));
        assert_int_equal(p.liquid->warnings.size(), 1);
    }
    {
        pond p; // a place that cannot be written to does not end the simulation
        double_::set_text(*p.liquid, MN_HOUDINI_CHECKPOINT, std::string(folder) + "/nowhere/x");
        double_::set(*p.liquid, MN_HOUDINI_CHECKPOINT_EVERY, {1});
        assert_true(e.hash(p.liquid->cook(0, time_of(2))) == headless(0, 2));
        assert_int_equal(p.liquid->warnings.size(), 1);
    }
    std::remove(path.c_str());
    rmdir(folder);
}

/// A simulation that begins with the state another had at frame 5, with settings of its own from there on.
static void a_simulation_starts_from_a_frame_of_another(void **)
{
    eyes e;
    char folder[] = "/tmp/meniscus_initial_XXXXXX";
    assert_non_null(mkdtemp(folder));
    const std::string path = std::string(folder) + "/liquid.state";
    {
        pond p;
        double_::set_text(*p.liquid, MN_HOUDINI_CHECKPOINT, path);
        double_::set(*p.liquid, MN_HOUDINI_CHECKPOINT_EVERY, {1});
        for (int frame = 1; frame <= 5; frame++) p.liquid->cook(0, time_of(frame));
    }
    pond p;
    double_::set(*p.liquid, "start_frame", {101});
    double_::set_text(*p.liquid, MN_HOUDINI_INITIAL, path);
    assert_true(e.hash(p.liquid->cook(0, time_of(101))) == headless(0, 5));
    assert_true(e.hash(p.liquid->cook(0, time_of(103))) == headless(0, 7));
    assert_true(e.hash(p.liquid->cook(0, time_of(50))) == headless(0, 5)); // before the start, the start
    double_::set(*p.liquid, "sigma", {0.02});
    assert_true(e.hash(p.liquid->cook(0, time_of(103))) != headless(0, 7));
    double_::set_text(*p.liquid, MN_HOUDINI_INITIAL, ""); // its own start again
    double_::set(*p.liquid, "sigma", {p.liquid->find_parm("sigma").numbers[0](0)});
    const uint64_t own = e.hash(p.liquid->cook(0, time_of(103)));
    double_::set_text(*p.liquid, MN_HOUDINI_INITIAL, path);
    assert_true(e.hash(p.liquid->cook(0, time_of(103))) != own);
    double_::set_text(*p.liquid, MN_HOUDINI_INITIAL, path + ".missing");
    p.liquid->cook(0, time_of(101));
    assert_non_null(std::strstr(p.liquid->errors.at(0).c_str(), "there is no initial state"));
    FILE *file = std::fopen(path.c_str(), "r+b");
    std::fseek(file, 300, SEEK_SET);
    std::fputc('x', file);
    std::fputc('y', file);
    std::fclose(file);
    double_::set_text(*p.liquid, MN_HOUDINI_INITIAL, path);
    p.liquid->cook(0, time_of(101));
    assert_non_null(std::strstr(p.liquid->errors.at(0).c_str(), "damaged. Choose another initial state"));
    std::remove(path.c_str());
    rmdir(folder);
}

/// What an artist picks in the viewport is what the node takes; the button asks for what numbers mean to us.
static void a_group_field_picks_and_limits(void **)
{
    eyes e;
    pond p;
    const PRM_Template &field = *p.fill->find_parm("group").made_from;
    assert_string_equal(field.tags.at("sop_input").c_str(), "0");
    assert_non_null(std::strstr(field.tags.at("script_action").c_str(), "soputils.selectGroupParm(kwargs)"));
    const auto move = double_::make(operator_of("transform"), "move");
    double_::connect(*move, 0, *p.ball);
    double_::set(*move, "translate", {0, 1, 0});
    double_::set_text(*move, "group", "0-1");
    mn_geo *geo = e.see(*move->cook(0, time_of(1)));
    int64_t moved = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) moved += mn_geo_position(geo, i).y > 0.5;
    assert_true(moved >= 3 && moved <= 6 && moved < mn_geo_point_count(geo)); // corners of two polygons
    mn_geo_free(geo);
    double_::set_text(*move, "group", "nothing");
    move->cook(0, time_of(1));
    assert_non_null(std::strstr(move->errors.at(0).c_str(), "there is no group 'nothing'"));
}

/// Playing: what is above a simulation and follows time cooks once a frame, though the guide and the second
/// output ask too, and never at the start frame again. After an edit the start is looked at once.
static void playing_cooks_what_is_above_once_a_frame(void **)
{
    pond p;
    const auto wall = double_::make(operator_of("shape"), "wall"),
               solid = double_::make(operator_of("collider"), "solid");
    double_::set(*wall, "kind", {2});
    double_::set(*wall, "size", {0.02, 0.004, 0.02});
    double_::set(*wall, "center", {0, -0.006, 0});
    double_::animate(*wall, "center", [](fpreal time) { return 0.001 * time; });
    double_::set(*solid, "dx", {0.001});
    double_::connect(*solid, 0, *wall);
    double_::connect(*p.liquid, 1, *solid);
    for (int frame = 1; frame <= 6; frame++) {
        assert_non_null(p.liquid->cook(0, time_of(frame)));
        assert_non_null(p.liquid->cook(1, time_of(frame)));
        assert_non_null(p.liquid->cook_guide(time_of(frame)));
    }
    assert_int_equal(wall->cook_count, 6);
    assert_int_equal(p.ball->cook_count, 1);
    p.liquid->cook(0, time_of(3)); // a jump: the start and this frame
    p.liquid->cook(0, time_of(4)); // playing cached frames
    p.liquid->cook(0, time_of(5));
    assert_int_equal(wall->cook_count, 8);
    const int64 before = p.ball->cook_count;
    double_::set(*p.ball, "radius", {0.003, 0.003, 0.003});
    eyes e;
    const uint64_t smaller = e.hash(p.liquid->cook(0, time_of(6)));
    assert_int_equal(p.ball->cook_count, before + 1);
    double_::set(*p.ball, "radius", {0.004, 0.003, 0.003});
    assert_true(e.hash(p.liquid->cook(0, time_of(6))) != smaller);
}

static void attributes_move_in_blocks(void **)
{
    eyes e;
    const GA_Size count = 300000;
    GU_Detail detail;
    const GA_Offset first = detail.appendPointBlock(count);
    detail.addFloatTuple(GA_ATTRIB_POINT, "v", 3, GA_Defaults(0));
    detail.addIntTuple(GA_ATTRIB_POINT, "id", 1, GA_Defaults(0), nullptr, nullptr, GA_STORE_INT64);
    for (const GA_Offset hole : {first + 1000, first + 2000}) detail.destroyPointOffset(hole);
    GA_AIFTuple::calls = 0;
    mn_geo *geo = e.see(detail);
    assert_int_equal(mn_geo_point_count(geo), count - 2);
    assert_int_equal(GA_AIFTuple::calls, 9); // three attributes of three blocks
    GU_Detail back;
    GA_AIFTuple::calls = 0;
    assert_int_equal(mn_houdini::write_detail(e.ctx, geo, back), MN_OK);
    assert_int_equal(GA_AIFTuple::calls, 3);
    mn_geo_free(geo);
}

/// In compiled blocks nodes without memory cook as verbs, to the same bits and with the same sentences.
static void nodes_without_memory_are_verbs(void **)
{
    eyes e;
    pond p;
    std::vector<std::string> errors;
    const auto compiled = double_::cook_compiled(*p.fill, time_of(3), errors);
    assert_int_equal(errors.size(), 0);
    assert_int_equal(p.fill->cook_count + p.ball->cook_count, 0);
    assert_true(e.hash(compiled.get()) == e.hash(p.fill->cook(0, time_of(3))));
    assert_null(p.liquid->cookVerb()); // a simulation has memory
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    for (int32_t i = 0; i < count; i++)
        assert_int_equal(SOP_NodeVerb::lookupVerb(operator_of(types[i]->name)) != nullptr, !types[i]->sim);
    double_::set(*p.fill, "dx", {-1});
    double_::cook_compiled(*p.fill, time_of(1), errors);
    assert_int_equal(errors.size(), 1);
    assert_non_null(std::strstr(errors[0].c_str(), "dx"));
    errors.clear();
    const auto lonely = double_::make(operator_of("surface"), "lonely");
    double_::cook_compiled(*lonely, 0, errors);
    assert_non_null(std::strstr(errors.at(0).c_str(), "connect input 1"));
}

static void a_playbar_without_simulation_shows_what_is_there(void **)
{
    eyes e;
    pond p;
    const uint64_t at1 = e.hash(p.liquid->cook(0, time_of(1))), at2 = e.hash(p.liquid->cook(0, time_of(2)));
    double_::enable_simulation(false);
    assert_true(e.hash(p.liquid->cook(0, time_of(1))) == at1); // it was made
    assert_int_equal(p.liquid->warnings.size(), 0);
    p.liquid->cook(0, time_of(5));
    assert_int_equal(p.liquid->errors.size(), 0);
    assert_non_null(std::strstr(p.liquid->warnings.at(0).c_str(), "off on the playbar"));
    double_::set(*p.ball, "radius", {0.003, 0.003, 0.003}); // an edit makes nothing either
    p.liquid->cook(0, time_of(2));
    assert_int_equal(p.liquid->warnings.size(), 1);
    const auto surface = double_::make(operator_of(MN_HOUDINI_OUTPUT), "surface");
    double_::connect(*surface, 0, *p.liquid);
    surface->cook(0, time_of(2));
    assert_int_equal(surface->errors.size(), 0);
    assert_int_equal(surface->warnings.size(), 1);
    double_::set(*p.ball, "radius", {0.004, 0.003, 0.003});
    double_::enable_simulation(true);
    assert_true(e.hash(p.liquid->cook(0, time_of(2))) == at2);
    double_::enable_simulation(false);
    double_::set(*p.liquid, MN_HOUDINI_SIMULATE, {1}); // set on the node, the playbar does not count
    assert_true(e.hash(p.liquid->cook(0, time_of(3))) == headless(0, 3));
    double_::enable_simulation(true);
}

static void between_frames_points_go_on_by_their_velocity(void **)
{
    eyes e;
    pond p;
    mn_geo *whole = e.see(*p.liquid->cook(0, time_of(3))), *half = e.see(*p.liquid->cook(0, time_of(3.5)));
    const auto *v = static_cast<const float *>(mn_attribute_data(mn_geo_find(whole, MN_POINT, "v")));
    const double dt = 0.5 * 0.02 / 24; // half a frame at a time scale of 0.02
    double furthest = 0;
    for (int64_t i = 0; i < 3 * mn_geo_point_count(whole); i++) {
        const double moved = mn_geo_positions(half)[i] - (mn_geo_positions(whole)[i] + dt * v[i]);
        assert_true(std::abs(moved) < 1e-9); // rounding of a float at 4 mm
        furthest = std::max(furthest, std::abs(dt * v[i]));
    }
    assert_true(furthest > 1e-7);
    double_::set(*p.liquid, MN_HOUDINI_SUBFRAMES, {0});
    assert_true(e.hash(p.liquid->cook(0, time_of(3.5))) == mn_geo_hash(whole));
    double_::set(*p.liquid, MN_HOUDINI_SUBFRAMES, {1});
    assert_true(e.hash(p.liquid->cook(0, time_of(0.5))) == headless(0, 1)); // before the start nothing moves
    assert_true(e.hash(p.liquid->cook(0, time_of(3))) == mn_geo_hash(whole));
    mn_geo_free(whole);
    mn_geo_free(half);
}

/// From one frame to the next with the same particles: what they keep is not written again.
static void playing_writes_only_what_is_another(void **)
{
    eyes e;
    pond p;
    const GU_Detail *detail = p.liquid->cook(0, time_of(2));
    const auto id_of = [&](const char *name) {
        return detail->findAttribute(GA_ATTRIB_POINT, name)->getDataId();
    };
    const int64 topology = detail->topology_id, ids = id_of("id"), positions = id_of("P");
    GA_AIFTuple::calls = 0;
    assert_true(p.liquid->cook(0, time_of(3)) == detail);
    const int64 written = GA_AIFTuple::calls;
    assert_true(e.hash(detail) == headless(0, 3));
    assert_true(detail->topology_id == topology && id_of("id") == ids && id_of("P") > positions);
    int64 attributes = 0;
    for (auto it = detail->getAttributeDict(GA_ATTRIB_POINT).begin(GA_SCOPE_PUBLIC); !it.atEnd(); ++it)
        attributes++;
    assert_true(written > 0 && written < attributes);
    double_::press(*p.liquid, MN_HOUDINI_RESET); // made again, to the same bits: nothing is written
    GA_AIFTuple::calls = 0;
    p.liquid->cook(0, time_of(3));
    assert_int_equal(GA_AIFTuple::calls, 0);
    double_::set(*p.ball, "radius", {0.003, 0.003, 0.003}); // other particles: all of them
    p.liquid->cook(0, time_of(3));
    assert_true(detail->topology_id > topology && id_of("id") > ids);
}

/// What a mesh carries behind Render Geometry.
static void render_geometry_is_ready_for_solaris(void **)
{
    eyes e;
    const auto ball = double_::make(operator_of("shape"), "ball"),
               ready = double_::make(operator_of(MN_HOUDINI_RENDER), "ready");
    double_::animate(*ball, "center", [](fpreal time) { return time; });
    double_::connect(*ready, 0, *ball);
    double_::set_text(*ready, MN_HOUDINI_USD_PATH, "/shot/drop/");
    double_::set(*ready, MN_HOUDINI_LOOK, {4});
    double_::set(*ready, MN_HOUDINI_LOOK_TIME, {0.25});
    mn_geo *geo = e.see(*ready->cook(0, time_of(5)));
    const auto text = [&](const char *name) {
        return std::string(mn_attribute_string(mn_geo_find(geo, MN_PRIMITIVE, name), 3, 0));
    };
    assert_true(text("path") == "/shot/drop/surface" && text("name") == "surface");
    assert_true(text("usdmaterialpath") == "/meniscus/materials/soap_film");
    assert_true(text("shop_materialpath") == text("usdmaterialpath"));
    const auto *v = static_cast<const float *>(mn_attribute_data(mn_geo_find(geo, MN_POINT, "v")));
    assert_true(std::abs(v[0] - 0.25f) < 1e-4f);
    const mn_attribute *normals = mn_geo_find(geo, MN_POINT, "N");
    assert_int_equal(mn_attribute_hint(normals), MN_HINT_NORMAL);
    const auto *n = static_cast<const float *>(mn_attribute_data(normals));
    const double center = 4.0 / 24;                         // a second is 24 frames, at a metre a second
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) { // out of the ball, at every point
        const mn_vec3 x = mn_geo_position(geo, i), out = mn_normalize(mn_v3(x.x - center, x.y, x.z));
        assert_true(std::abs(n[3 * i] * n[3 * i] + n[3 * i + 1] * n[3 * i + 1] + n[3 * i + 2] * n[3 * i + 2] -
                             1) < 1e-5);
        assert_true(out.x * n[3 * i] + out.y * n[3 * i + 1] + out.z * n[3 * i + 2] > 0.95);
    }
    mn_geo_free(geo);
    double_::set(*ready, MN_HOUDINI_LOOK, {0});
    geo = e.see(*ready->cook(0, time_of(1)));
    assert_null(mn_geo_find(geo, MN_PRIMITIVE, "usdmaterialpath"));
    mn_geo_free(geo);
}

static void cancel_keeps_what_is_done(void **)
{
    eyes e;
    pond p;
    const uint64_t at2 = e.hash(p.liquid->cook(0, time_of(2)));
    double_::interrupt_after(3);
    p.liquid->cook(0, time_of(40));
    double_::interrupt_after(-1);
    assert_int_equal(p.liquid->errors.size(), 0);
    assert_int_equal(p.liquid->warnings.size(), 1);
    assert_non_null(std::strstr(p.liquid->warnings[0].c_str(), "Cancelled"));
    assert_true(e.hash(p.liquid->cook(0, time_of(2))) == at2);
    assert_true(e.hash(p.liquid->cook(0, time_of(3))) == headless(0, 3));
}

static void what_goes_wrong_lands_on_the_node(void **)
{
    const auto lonely = double_::make(operator_of("surface"), "lonely");
    assert_null(lonely->cook(0, 0));
    assert_int_equal(lonely->errors.size(), 1);
    assert_non_null(std::strstr(lonely->errors[0].c_str(), "connect input 1"));
    pond p;
    double_::set(*p.liquid, "dx", {-1});
    assert_null(p.liquid->cook(0, 0));
    assert_non_null(std::strstr(p.liquid->errors.at(0).c_str(), "dx"));
    double_::set(*p.liquid, "dx", {0.001});
    double_::set(*p.fill, "dx", {-1}); // an input that fails
    assert_null(p.liquid->cook(0, 0));
    assert_non_null(std::strstr(p.liquid->errors.at(0).c_str(), "could not be cooked"));
    const auto file = double_::make(operator_of("file"), "file");
    double_::set_text(*file, "path", "nowhere.bgeo");
    assert_null(file->cook(0, 0));
    assert_non_null(std::strstr(file->errors.at(0).c_str(), "nowhere.bgeo"));
}

static void nodes_without_memory_follow_their_parameters(void **)
{
    eyes e;
    const auto shape = double_::make(operator_of("shape"), "shape");
    const uint64_t still = e.hash(shape->cook(0, time_of(1)));
    assert_false(shape->node_flags.time_dependent);
    double_::animate(*shape, "center", [](fpreal time) { return time; });
    assert_true(e.hash(shape->cook(0, time_of(25))) != still);
    mn_geo *moved = e.see(*shape->cook(0, time_of(25)));
    const mn_attribute *v = mn_geo_find(moved, MN_POINT, "v");
    assert_non_null(v); // its velocity, from the parameter half a frame before and after
    assert_true(std::abs(static_cast<const float *>(mn_attribute_data(v))[0] - 1.0f) < 1e-4f);
    mn_geo_free(moved);
}

int test_shim_cooking()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(frames_are_those_of_the_other_hosts_in_any_order),
        cmocka_unit_test(frames_are_whole_at_every_rate),
        cmocka_unit_test(a_change_above_or_here_starts_again),
        cmocka_unit_test(another_output_comes_through_a_node_of_its_own),
        cmocka_unit_test(the_information_window_tells_of_the_frame),
        cmocka_unit_test(a_new_session_resumes_from_the_checkpoint),
        cmocka_unit_test(a_simulation_starts_from_a_frame_of_another),
        cmocka_unit_test(a_group_field_picks_and_limits),
        cmocka_unit_test(playing_cooks_what_is_above_once_a_frame),
        cmocka_unit_test(attributes_move_in_blocks),
        cmocka_unit_test(nodes_without_memory_are_verbs),
        cmocka_unit_test(a_playbar_without_simulation_shows_what_is_there),
        cmocka_unit_test(between_frames_points_go_on_by_their_velocity),
        cmocka_unit_test(playing_writes_only_what_is_another),
        cmocka_unit_test(render_geometry_is_ready_for_solaris),
        cmocka_unit_test(cancel_keeps_what_is_done),
        cmocka_unit_test(what_goes_wrong_lands_on_the_node),
        cmocka_unit_test(nodes_without_memory_follow_their_parameters),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
