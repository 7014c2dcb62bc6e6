// SPDX-License-Identifier: Apache-2.0
//
// The Houdini shim, driven through the double: every node type is an operator, dialogs say what the tables
// say, geometry comes and goes whole, simulations behave at every frame as in the other hosts, and what goes
// wrong lands on the node.
#include "double.h"

#include <algorithm>
#include <cmath>
#include <csetjmp>
#include <cstdarg>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <iomanip>
#include <sstream>

extern "C" {
#include <unistd.h>

#include <cmocka.h>
}

#include "meniscus/geo.h"
#include "plugin/host/network/network.h"
#include "plugin/host/network/parms.h"
#include "plugin/houdini/geometry.hpp"
#include "plugin/houdini/text_files.h"

namespace double_ = houdini_double;

static fpreal time_of(double frame)
{
    return CHgetTimeFromFrame(frame);
}

static std::string operator_of(const char *name)
{
    char text[MN_HOUDINI_NAME];
    mn_houdini_operator_name(name, text);
    return text;
}

/// A context and a way to look at a detail with our own eyes.
struct eyes {
    mn_context *ctx = mn_context_create(nullptr);
    std::vector<std::string> warnings;
    ~eyes() { mn_context_free(ctx); }
    mn_geo *see(const GU_Detail &detail)
    {
        mn_geo *geo = nullptr;
        const mn_status status = mn_houdini::read_detail(
            ctx, detail, [this](const std::string &text) { warnings.push_back(text); }, &geo);
        if (status != MN_OK) fail_msg("%s", mn_context_message(ctx));
        return geo;
    }
    uint64_t hash(const GU_Detail *detail)
    {
        assert_non_null(detail);
        mn_geo *geo = see(*detail);
        const uint64_t hash = mn_geo_hash(geo);
        mn_geo_free(geo);
        return hash;
    }
};

// ---- operators ----

static std::string text_of(const mn_parm_def &def)
{
    const bool unit = def.unit && def.unit[0];
    return unit ? std::string(def.label) + " (" + def.unit + ")" : def.label;
}

static void check_parm(const mn_parm_def &def, const OP_Node::parameter &parm)
{
    const PRM_Template &made = *parm.made_from;
    assert_string_equal(made.label.c_str(), text_of(def).c_str());
    assert_string_equal(made.help.c_str(), def.tooltip);
    assert_string_equal(made.disable_when.c_str(), def.disable_when ? def.disable_when : "");
    assert_string_equal(made.folder.c_str(), def.folder);
    assert_int_equal(made.size, def.size);
    if (mn_parm_is_text(&def)) {
        assert_string_equal(parm.text.c_str(), def.default_string ? def.default_string : "");
        return;
    }
    for (int32_t i = 0; i < def.size; i++)
        assert_true(parm.numbers[static_cast<size_t>(i)](0) == def.defaults[i]);
    assert_int_equal(made.menu.size(), mn_parm_item_count(&def));
    for (size_t i = 0; i < made.menu.size(); i++) {
        assert_string_equal(made.menu[i].first.c_str(), def.items[i].token);
        assert_string_equal(made.menu[i].second.c_str(), def.items[i].label);
    }
    if (def.kind != MN_PARM_FLOAT && def.kind != MN_PARM_INT) return;
    assert_true(made.range[0] == def.soft_min && made.range[1] == def.soft_max);
    assert_int_equal(made.hard[0], def.soft_min == def.hard_min);
    assert_int_equal(made.hard[1], def.soft_max == def.hard_max);
}

static void every_type_is_an_operator_with_its_table(void **)
{
    int32_t count;
    const mn_node_type *const *types = mn_node_types(&count);
    assert_int_equal(double_::operators().operators.size(), count + 2); // and those of Houdini alone
    assert_int_equal(double_::operators().hidden.size(), 2);            // file and merge, which Houdini has
    for (int32_t i = 0; i < count; i++) {
        const mn_node_type &type = *types[i];
        const auto node = double_::make(operator_of(type.name), type.name);
        assert_string_equal(node->op->label.c_str(), type.label);
        assert_string_equal(node->op->menu.c_str(), type.menu);
        assert_int_equal(node->op->outputs, type.output_count);
        assert_true(node->op->most >= static_cast<unsigned>(type.input_count));
        assert_int_equal(node->op->input_labels.size(), type.input_count);
        for (int32_t k = 0; k < type.input_count; k++)
            assert_string_equal(node->op->input_labels[static_cast<size_t>(k)].c_str(), type.inputs[k].label);
        for (int32_t k = 0; k < type.parm_count; k++)
            check_parm(type.parms[k], node->find_parm(type.parms[k].name));
        for (int32_t k = 0; k < type.input_count; k++)
            assert_int_equal(node->isRefInput(static_cast<OP_Node::input_index>(k)),
                             mn_node_looks_at(&type, k));
        assert_false(node->isRefInput(static_cast<OP_Node::input_index>(type.input_count)));
        int32_t rows;
        mn_houdini_sim_parms(&rows);
        const size_t own = type.sim ? 1 + static_cast<size_t>(rows) : 0; // the reset button and its rows
        assert_int_equal(node->parameters.size(), static_cast<size_t>(type.parm_count) + own);
    }
}

// ---- geometry ----

/// One of everything that Houdini may hand us.
static void fill(GU_Detail &detail)
{
    detail.clearAndDestroy();
    const GA_Offset p = detail.appendPointBlock(9);
    for (int i = 0; i < 9; i++)
        detail.setPos3(p + i, UT_Vector3(static_cast<float>(i % 2), static_cast<float>(i / 2 % 2),
                                         static_cast<float>(i / 4)));
    detail.destroyPointOffset(p + 8); // a hole in the offsets
    const int box[] = {0, 1, 3, 2, 4, 6, 7, 5};
    GEO_PolyCounts counts;
    counts.append(4);
    counts.append(4);
    GU_PrimPoly::buildBlock(&detail, p, 8, counts, box, true);
    const int line[] = {0, 7};
    GEO_PolyCounts two;
    two.append(2);
    GU_PrimPoly::buildBlock(&detail, p, 8, two, line, false);
    const int tet[] = {0, 1, 2, 4};
    GEO_PrimTetrahedron::buildBlock(&detail, p, 8, 1, tet);
    auto *soup = detail.add_primitive<GEO_PrimPolySoup>(GEO_PRIMPOLYSOUP);
    for (int i = 0; i < 4; i++) soup->vertices.push_back(detail.add_vertex(p + i));
    soup->polygons = {{0, 1, 2}, {2, 1, 3}};
    detail.add_primitive<GEO_Primitive>(GEO_PRIMSPHERE)->vertices.push_back(detail.add_vertex(p));

    const float v[3] = {1, 2, 3};
    GA_Attribute *velocity = detail.addFloatTuple(GA_ATTRIB_POINT, "v", 3, GA_Defaults(0));
    velocity->setTypeInfo(GA_TYPE_VECTOR);
    velocity->getAIFTuple()->setRange(velocity, GA_Range({}, p + 5, p + 6), v);
    const int64 id = 1234567890123;
    GA_Attribute *ids =
        detail.addIntTuple(GA_ATTRIB_POINT, "id", 1, GA_Defaults(0), nullptr, nullptr, GA_STORE_INT64);
    ids->getAIFTuple()->setRange(ids, GA_Range({}, p + 7, p + 7 + 1), &id);
    GA_Attribute *corner = detail.addIntTuple(GA_ATTRIB_VERTEX, "corner", 1, GA_Defaults(0));
    for (GA_Offset i = 0; i < detail.getNumVertices(); i++) {
        const auto number = static_cast<int32>(i);
        corner->getAIFTuple()->setRange(corner, GA_Range({}, i, i + 1), &number);
    }
    const double mass = 0.1;
    GA_Attribute *m =
        detail.addFloatTuple(GA_ATTRIB_DETAIL, "mass", 1, GA_Defaults(0), nullptr, nullptr, GA_STORE_REAL64);
    m->getAIFTuple()->setRange(m, GA_Range({}, 0, 0 + 1), &mass);
    GA_RWHandleS(detail.addStringTuple(GA_ATTRIB_PRIMITIVE, "shop", 1)).set(1, 0, "water");
    detail.addFloatTuple(GA_ATTRIB_POINT, "list", 1, GA_Defaults(0))->is_array = true;
    detail.createElementGroup(GA_ATTRIB_POINT, "wet")->addOffset(p + 3);
    detail.createElementGroup(GA_ATTRIB_PRIMITIVE, "skin")->addOffset(0);
}

static void a_detail_is_read_with_all_it_has(void **)
{
    eyes e;
    GU_Detail detail;
    fill(detail);
    mn_geo *geo = e.see(detail);
    assert_int_equal(mn_geo_point_count(geo), 8 + 6);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 4 + 8); // two, two of the soup, and the sphere's
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYLINE), 1);
    assert_int_equal(mn_geo_kind_count(geo, MN_TETRAHEDRON), 1);
    // Houdini's clockwise 0 1 3 2 is our 0 2 3 1, its corners with it.
    const int64_t *points = mn_geo_vertex_points(geo);
    assert_true(points[0] == 0 && points[1] == 2 && points[2] == 3 && points[3] == 1);
    const auto *corner =
        static_cast<const int32_t *>(mn_attribute_data(mn_geo_find(geo, MN_VERTEX, "corner")));
    assert_true(corner[0] == 0 && corner[1] == 3 && corner[2] == 2 && corner[3] == 1);
    const mn_attribute *v = mn_geo_find(geo, MN_POINT, "v");
    assert_int_equal(mn_attribute_hint(v), MN_HINT_VECTOR);
    assert_true(static_cast<const float *>(mn_attribute_data(v))[3 * 5 + 2] == 3);
    assert_true(static_cast<const int64_t *>(mn_attribute_data(mn_geo_find(geo, MN_POINT, "id")))[7] ==
                1234567890123);
    assert_true(static_cast<const double *>(mn_attribute_data(mn_geo_find(geo, MN_DETAIL, "mass")))[0] ==
                0.1);
    assert_string_equal(mn_attribute_string(mn_geo_find(geo, MN_PRIMITIVE, "shop"), 1, 0), "water");
    assert_int_equal(mn_group_member_count(mn_geo_find_group(geo, MN_POINT, "wet")), 1);
    assert_int_equal(mn_group_data(mn_geo_find_group(geo, MN_PRIMITIVE, "skin"))[0], 1);
    // The array attribute cannot come along, and it says so.
    assert_int_equal(e.warnings.size(), 1);
    assert_non_null(std::strstr(e.warnings[0].c_str(), "'list'"));
    mn_geo_free(geo);
}

/// A closed triangle pair at the origin, to pack.
static std::shared_ptr<GU_Detail> two_triangles()
{
    const auto made = std::make_shared<GU_Detail>();
    const GA_Offset p = made->appendPointBlock(4);
    for (int i = 0; i < 4; i++) made->setPos3(p + i, UT_Vector3(static_cast<float>(i), 0, 0));
    const int corners[] = {0, 1, 2, 0, 2, 3};
    GEO_PolyCounts counts;
    counts.append(3);
    counts.append(3);
    GU_PrimPoly::buildBlock(made.get(), p, 4, counts, corners, true);
    return made;
}

static GU_PrimPacked *pack(GU_Detail &detail, std::shared_ptr<GU_Detail> inside, float x)
{
    const GA_Offset point = detail.appendPointBlock(1);
    detail.setPos3(point, UT_Vector3(x, 0, 0));
    auto *packed = detail.add_primitive<GU_PrimPacked>(GEO_PRIMPACKED);
    packed->inside = std::move(inside);
    packed->vertices.push_back(detail.add_vertex(point));
    return packed;
}

static void other_primitives_come_as_what_they_stand_for(void **)
{
    eyes e;
    GU_Detail detail;
    pack(detail, two_triangles(), 10);
    const auto outer = std::make_shared<GU_Detail>();
    pack(*outer, two_triangles(), 100); // packed in packed
    pack(detail, outer, 1000);
    auto *dense = detail.add_primitive<GEO_PrimVolume>(GEO_PRIMVOLUME);
    dense->resolution = 2;
    dense->voxel = 0.5;
    dense->values = {0, 1, 2, 3, 4, 5, 6, 7};
    dense->vertices.push_back(detail.add_vertex(detail.appendPointBlock(1)));
    detail.add_primitive<GEO_Primitive>(GEO_PRIMAGENT)
        ->vertices.push_back(detail.add_vertex(detail.appendPointBlock(1)));
    GA_RWHandleS(detail.addStringTuple(GA_ATTRIB_PRIMITIVE, "name", 1)).set(2, 0, "density");
    GA_Attribute *mass = detail.addFloatTuple(GA_ATTRIB_POINT, "mass", 1, GA_Defaults(0));
    const float heavy = 7;
    mass->getAIFTuple()->setRange(mass, GA_Range({}, 1, 2), &heavy);
    detail.createElementGroup(GA_ATTRIB_PRIMITIVE, "pieces")->addOffset(1);

    mn_geo *geo = e.see(detail);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYGON), 4);
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 1);
    // Points that only stood for others are gone; the agent's stays, as the agent is left out.
    assert_true(mn_geo_bounds(geo).max.x == 1103);
    const mn_volume density = mn_geo_find_volume(geo, "density");
    assert_true(mn_volume_sample(density, mn_v3(0.5, 0.5, 0.5)) == 7);
    // What a packed primitive and its point carried is on all that came out of it.
    const auto *masses = static_cast<const float *>(mn_attribute_data(mn_geo_find(geo, MN_POINT, "mass")));
    int64_t heavy_points = 0;
    for (int64_t i = 0; i < mn_geo_point_count(geo); i++) heavy_points += masses[i] == 7;
    assert_int_equal(heavy_points, 6); // two triangles by their own corners
    assert_int_equal(mn_group_member_count(mn_geo_find_group(geo, MN_PRIMITIVE, "pieces")), 2);
    assert_int_equal(e.warnings.size(), 1);
    assert_non_null(std::strstr(e.warnings[0].c_str(), "Agent"));
    mn_geo_free(geo);
}

static void volumes_are_held_so_that_houdini_copies_before_it_writes(void **)
{
    eyes e;
    GU_Detail detail;
    auto density = openvdb::FloatGrid::create(0);
    density->tree().setValue(openvdb::Coord(1, 2, 3), 4.0f);
    GU_PrimVDB::buildFromGrid(detail, density, nullptr, "density");
    GU_PrimVDB::buildFromGrid(detail, openvdb::BoolGrid::create(false), nullptr, "mask");
    const auto *vdb = static_cast<const GEO_PrimVDB *>(detail.getGEOPrimitive(0));
    const long owners =
        openvdb::gridConstPtrCast<openvdb::FloatGrid>(vdb->getConstGridPtr())->constTreePtr().use_count();
    mn_geo *geo = e.see(detail);
    assert_int_equal(mn_geo_kind_count(geo, MN_VOLUME), 1);
    // The tree has one more owner, which is what Houdini looks at; the grid has not.
    const auto held = openvdb::gridConstPtrCast<openvdb::FloatGrid>(vdb->getConstGridPtr());
    assert_true(held->constTreePtr().use_count() > owners);
    // A type that we do not know is left out with a sentence, and the rest comes along.
    assert_int_equal(e.warnings.size(), 1);
    assert_non_null(std::strstr(e.warnings[0].c_str(), "VDB of bool"));
    mn_geo_free(geo);
}

static void what_is_written_reads_back_the_same(void **)
{
    eyes e;
    GU_Detail first, second;
    fill(first);
    mn_geo *geo = e.see(first);
    // And a volume, whose point is Houdini's own affair.
    openvdb::FloatGrid::Ptr grid = openvdb::FloatGrid::create(1.0f);
    grid->tree().setValue(openvdb::Coord(1, 2, 3), -0.5f);
    grid->setTransform(openvdb::math::Transform::createLinearTransform(0.25));
    GU_Detail volume;
    GU_PrimVDB::buildFromGrid(volume, grid, nullptr, "surface");
    mn_geo *other = e.see(volume);
    assert_int_equal(mn_geo_kind_count(other, MN_VOLUME), 1);
    assert_true(mn_volume_get_info(mn_geo_find_volume(other, "surface")).voxel_size == 0.25);
    assert_int_equal(mn_geo_append(geo, other), MN_OK);

    assert_int_equal(mn_houdini::write_detail(e.ctx, geo, second), MN_OK);
    assert_true(second.data_id > 0);
    mn_geo *back = e.see(second);
    assert_true(mn_geo_hash(back) == mn_geo_hash(geo));
    assert_true(mn_volume_sample(mn_geo_find_volume(back, "surface"), mn_v3(0.25, 0.5, 0.75)) == -0.5);
    // Polygons face the way Houdini's do.
    const GEO_Primitive *face = second.getGEOPrimitive(0);
    assert_true(face->getPointOffset(1) == first.getGEOPrimitive(0)->getPointOffset(1));
    mn_geo_free(geo);
    mn_geo_free(other);
    mn_geo_free(back);
}

// ---- cooking ----

struct pond {
    std::unique_ptr<SOP_Node> ball = double_::make(operator_of("shape"), "ball"),
                              fill = double_::make(operator_of("fill"), "fill"),
                              liquid = double_::make(operator_of("mpm_solver"), "liquid");
    pond()
    {
        double_::set(*ball, "radius", {0.004, 0.003, 0.003});
        double_::set(*ball, "kind", {1});
        double_::set(*fill, "dx", {0.001});
        double_::set(*liquid, "dx", {0.001});
        double_::set(*liquid, "gravity", {0, 0, 0});
        double_::set(*liquid, "time_scale", {0.02});
        double_::connect(*fill, 0, *ball);
        double_::connect(*liquid, 0, *fill);
    }
};

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

// ---- whole networks ----

using nodes_by_name = std::map<std::string, std::unique_ptr<SOP_Node>>;

/// What a scene file of Houdini's keeps of nodes: their types, parameters and wires, and nothing else.
static std::string saved(const std::vector<SOP_Node *> &nodes)
{
    std::ostringstream out;
    out << std::setprecision(17);
    for (const SOP_Node *node : nodes) {
        out << "node " << node->op->name.c_str() << ' ' << node->name.c_str() << '\n';
        for (const auto &[name, parm] : node->parameters) {
            if (parm.numbers.empty()) continue;
            out << "parm " << name << ' ' << parm.numbers.size();
            for (const auto &number : parm.numbers) out << ' ' << number(0);
            out << '\n';
        }
        for (size_t i = 0; i < node->inputs.size(); i++)
            if (node->inputs[i].source)
                out << "wire " << i << ' ' << node->inputs[i].source->name.c_str() << ' '
                    << node->inputs[i].output << '\n';
    }
    return out.str();
}

static nodes_by_name loaded(const std::string &text)
{
    nodes_by_name nodes;
    std::istringstream in(text);
    std::string word, name, source;
    SOP_Node *last = nullptr;
    while (in >> word) {
        size_t count;
        int output;
        if (word == "node") {
            in >> source >> name;
            last = (nodes[name] = double_::make(source, name)).get();
        } else if (word == "parm") {
            in >> name >> count;
            std::vector<double> values(count);
            for (double &value : values) in >> value;
            double_::set(*last, name, values);
        } else {
            in >> count >> source >> output;
            double_::connect(*last, static_cast<unsigned>(count), *nodes.at(source), output);
        }
    }
    return nodes;
}

static void a_saved_network_reloads_and_gives_the_same_bits(void **)
{
    eyes e;
    std::string text;
    uint64_t before;
    {
        pond p;
        double_::set(*p.liquid, "sigma", {0.485});
        before = e.hash(p.liquid->cook(0, time_of(3)));
        text = saved({p.ball.get(), p.fill.get(), p.liquid.get()});
    } // Houdini is closed
    nodes_by_name again = loaded(text);
    assert_true(e.hash(again.at("liquid")->cook(0, time_of(3))) == before);
    assert_string_equal(
        saved({again.at("ball").get(), again.at("fill").get(), again.at("liquid").get()}).c_str(),
        text.c_str());
}

/// A node Solver Output behind a solver, one for each output.
static SOP_Node *output_of(nodes_by_name &givers, SOP_Node &solver, int output)
{
    const std::string name = std::string(solver.name.c_str()) + "_output" + std::to_string(output + 1);
    if (!givers.count(name)) {
        givers[name] = double_::make(operator_of(MN_HOUDINI_OUTPUT), name);
        double_::set(*givers[name], "output", {output + 1.0});
        double_::connect(*givers[name], 0, solver);
    }
    return givers[name].get();
}

/// The nodes of a scene, with its parameters, keys and wires, as an asset has them inside.
static nodes_by_name nodes_of(const mn_network *network)
{
    nodes_by_name nodes;
    for (int32_t n = 0; n < mn_network_node_limit(network); n++) {
        const mn_node_type *type = mn_network_node_type(network, n);
        if (!type) continue;
        const char *name = mn_network_node_name(network, n);
        auto node = double_::make(operator_of(type->name), name);
        for (int32_t k = 0; k < type->parm_count; k++) {
            const mn_parm_def &def = type->parms[k];
            mn_parm_value value;
            const mn_key *keys;
            assert_int_equal(mn_network_parm(network, n, def.name, 1, &value), MN_OK);
            node->parameters[def.name].animated = mn_network_keys(network, n, def.name, &keys) > 0;
            if (mn_parm_is_text(&def))
                double_::set_text(*node, def.name, value.string ? value.string : "");
            else
                for (int32_t c = 0; c < def.size; c++)
                    node->parameters[def.name].numbers[static_cast<size_t>(c)] = [=](fpreal time) {
                        mn_parm_value then;
                        mn_network_parm(network, n, def.name, CHgetSampleFromTime(time), &then);
                        return then.number[c];
                    };
        }
        nodes[name] = std::move(node);
    }
    nodes_by_name givers; // of other outputs, as assets have them
    for (const auto &[name, node] : nodes) {
        const int32_t n = mn_network_find(network, name.c_str());
        for (int32_t i = 0; i < mn_network_input_count(network, n); i++) {
            int32_t source, output;
            mn_network_input(network, n, i, &source, &output);
            if (source < 0) continue;
            SOP_Node *from = nodes.at(mn_network_node_name(network, source)).get();
            if (output > 0) from = output_of(givers, *from, output);
            double_::connect(*node, static_cast<unsigned>(i), *from);
        }
    }
    nodes.merge(givers);
    return nodes;
}

/// `hosts_test_houdini_shim SCENE NODE OUTPUTS FRAME` prints the hashes of what the node gives in Houdini's
/// stead at its first outputs, for tests that compare hosts.
static int cook_scene(char **words)
{
    eyes e;
    mn_network *network;
    int code = 0;
    if (mn_scene_read(e.ctx, nullptr, words[0], &network) != MN_OK) {
        std::fprintf(stderr, "%s\n", mn_context_message(e.ctx));
        return 1;
    }
    {
        CHgetManager()->fps = mn_network_fps(network);
        const nodes_by_name nodes = nodes_of(network);
        SOP_Node &node = *nodes.at(words[1]);
        for (int output = 0; output < std::atoi(words[2]) && code == 0; output++) {
            const GU_Detail *detail = node.cook(output, time_of(std::atof(words[3])));
            if (detail)
                std::printf("%llu\n", static_cast<unsigned long long>(e.hash(detail)));
            else
                code = 1;
        }
        for (const std::string &error : node.errors) std::fprintf(stderr, "%s\n", error.c_str());
    }
    mn_network_free(network);
    return code;
}

// ---- guides ----

/// The guide of a node at a frame, by our own eyes.
static mn_geo *guides_of(eyes &e, SOP_Node &node, double frame)
{
    node.cook(0, time_of(frame));
    const GU_Detail *guide = node.cook_guide(time_of(frame));
    assert_non_null(guide);
    mn_geo *geo = e.see(*guide);
    assert_int_equal(mn_geo_kind_count(geo, MN_POLYLINE), mn_geo_primitive_count(geo));
    return geo;
}

static int64_t lines_in(const mn_geo *geo, const char *name)
{
    const mn_group *group = mn_geo_find_group(geo, MN_PRIMITIVE, name);
    return group ? mn_group_member_count(group) : 0;
}

static void the_domain_is_drawn(void **)
{
    eyes e;
    pond p;
    mn_geo *none = guides_of(e, *p.liquid, 1);
    assert_int_equal(mn_geo_primitive_count(none), 0);
    mn_geo_free(none);
    double_::set(*p.liquid, "use_domain", {1});
    double_::set(*p.liquid, "domain_center", {0, 0.5, 0});
    double_::set(*p.liquid, "domain_size", {2, 3, 4});
    mn_geo *box = guides_of(e, *p.liquid, 1);
    assert_int_equal(lines_in(box, "domain"), 12);
    const mn_box bounds = mn_geo_bounds(box);
    assert_true(bounds.min.y == -1 && bounds.max.y == 2 && bounds.max.x == 1 && bounds.max.z == 2);
    mn_geo_free(box);
    assert_null(p.ball->cook_guide(0)); // a shape has no guides
}

static void guides_can_be_switched_off(void **)
{
    pond p;
    double_::set(*p.liquid, "use_domain", {1});
    double_::set(*p.liquid, "domain_size", {0.02, 0.02, 0.02});
    p.liquid->cook(0, time_of(1));
    assert_int_equal(p.liquid->cook_guide(time_of(1))->getNumPrimitives(), 12);
    double_::set(*p.liquid, MN_HOUDINI_GUIDES, {0});
    p.liquid->cook(0, time_of(1));
    assert_int_equal(p.liquid->cook_guide(time_of(1))->getNumPrimitives(), 0);
}

static void emitters_are_drawn_with_the_way_of_one_frame(void **)
{
    eyes e;
    const auto nozzle = double_::make(operator_of("shape"), "nozzle"),
               liquid = double_::make(operator_of("mpm_solver"), "liquid");
    double_::set(*nozzle, "kind", {5}); // a flat grid, four sides
    double_::set(*nozzle, "size", {0.01, 0, 0.01});
    double_::set(*nozzle, "divisions", {2, 1, 2});
    double_::set(*liquid, "dx", {0.002});
    double_::set(*liquid, "emit", {1}); // along normals
    double_::set(*liquid, "emit_speed", {1.2});
    double_::set(*liquid, "time_scale", {0.1});
    double_::connect(*liquid, 2, *nozzle);
    mn_geo *geo = guides_of(e, *liquid, 1);
    const int64_t points = nozzle->cook(0, 0)->getNumPoints();
    assert_int_equal(points, 9);
    assert_int_equal(lines_in(geo, "emitters"), 8); // two edges on each open side
    assert_int_equal(lines_in(geo, "flow"), 2 * points);
    // 1.2 m/s for a tenth of a frame
    const mn_box bounds = mn_geo_bounds(geo);
    const double way = 1.2 * 0.1 / 24;
    assert_true(std::abs(bounds.max.y - bounds.min.y - way) < 1e-6 * way);
    assert_int_equal(liquid->errors.size(), 0);
    mn_geo_free(geo);
}

static void contact_lines_are_where_a_drop_meets_the_plate(void **)
{
    // A ball of 2 mm that is cut by the floor of the domain, at its start: the line is a circle.
    eyes e;
    pond p;
    double_::set(*p.ball, "kind", {0});
    double_::set(*p.ball, "radius", {0.002, 0.002, 0.002});
    double_::set(*p.ball, "center", {0, 0.0008, 0});
    double_::set(*p.fill, "dx", {0.00025});
    double_::set(*p.liquid, "dx", {0.00025});
    double_::set(*p.liquid, "use_domain", {1});
    double_::set(*p.liquid, "domain_center", {0, 0.005, 0});
    double_::set(*p.liquid, "domain_size", {0.02, 0.01, 0.02});
    mn_geo *geo = guides_of(e, *p.liquid, 1);
    const int64_t count = lines_in(geo, "contact_lines");
    assert_true(count > 20);
    const mn_group *group = mn_geo_find_group(geo, MN_PRIMITIVE, "contact_lines");
    const int64_t *starts = mn_geo_primitive_starts(geo), *points = mn_geo_vertex_points(geo);
    std::map<int64_t, int> ends;
    double height = NAN;
    for (int64_t i = 0; i < mn_geo_primitive_count(geo); i++) {
        for (int64_t v = starts[i]; mn_group_data(group)[i] && v < starts[i + 1]; v++) {
            const mn_vec3 x = mn_geo_position(geo, points[v]);
            // Within a cell of the floor, at one height, and within two cells of the circle that the ball
            // leaves there: one for that height, one for how far the surface stands off its particles.
            assert_true(x.y > 0 && x.y <= 0.00025);
            assert_true(std::isnan(height) || std::abs(x.y - height) < 1e-9);
            height = x.y;
            assert_true(std::abs(std::hypot(x.x, x.z) - std::sqrt(4e-6 - 0.64e-6)) < 0.0005);
            ends[points[v]]++;
        }
    }
    for (const auto &[point, pieces] : ends) assert_int_equal(pieces, 2); // it is closed
    mn_geo_free(geo);
    // Without a floor there is none.
    double_::set(*p.liquid, "boundary_y_min", {1});
    geo = guides_of(e, *p.liquid, 1);
    assert_int_equal(lines_in(geo, "contact_lines"), 0);
    mn_geo_free(geo);
}

static void contact_lines_follow_colliders(void **)
{
    eyes e;
    pond p;
    const auto plate = double_::make(operator_of("shape"), "plate"),
               solid = double_::make(operator_of("collider"), "solid");
    double_::set(*plate, "kind", {2});
    double_::set(*plate, "size", {0.02, 0.004, 0.02});
    double_::set(*plate, "center", {0, -0.004, 0}); // its top at -2 mm, the ball's lowest point at -3 mm
    double_::set(*solid, "dx", {0.0005});
    double_::connect(*solid, 0, *plate);
    double_::connect(*p.liquid, 1, *solid);
    mn_geo *geo = guides_of(e, *p.liquid, 1);
    assert_true(lines_in(geo, "contact_lines") > 8);
    const mn_box bounds = mn_geo_bounds(geo);
    assert_true(bounds.min.y > -0.003 && bounds.max.y < -0.001);
    mn_geo_free(geo);
}

static void a_guide_never_starts_a_simulation(void **)
{
    pond p;
    double_::set(*p.liquid, "use_domain", {1});
    double_::set(*p.liquid, "domain_size", {0.02, 0.02, 0.02});
    double_::interrupt_after(1);
    p.liquid->cook(0, time_of(200));
    const GU_Detail *guide = p.liquid->cook_guide(time_of(200));
    double_::interrupt_after(-1);
    assert_int_equal(p.liquid->warnings.size(), 1); // the cook's own, not again by the guide
    assert_int_equal(guide->getNumPrimitives(), 12);
    double_::set(*p.liquid, "dx", {-1}); // nor does it add to an error
    p.liquid->cook(0, 0);
    assert_int_equal(p.liquid->cook_guide(0)->getNumPrimitives(), 0);
    assert_int_equal(p.liquid->errors.size(), 1);
}

int main(int count, char **words)
{
    if (count == 5) return cook_scene(words + 1);
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_an_operator_with_its_table),
        cmocka_unit_test(a_detail_is_read_with_all_it_has),
        cmocka_unit_test(other_primitives_come_as_what_they_stand_for),
        cmocka_unit_test(volumes_are_held_so_that_houdini_copies_before_it_writes),
        cmocka_unit_test(what_is_written_reads_back_the_same),
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
        cmocka_unit_test(a_saved_network_reloads_and_gives_the_same_bits),
        cmocka_unit_test(the_domain_is_drawn),
        cmocka_unit_test(guides_can_be_switched_off),
        cmocka_unit_test(emitters_are_drawn_with_the_way_of_one_frame),
        cmocka_unit_test(contact_lines_are_where_a_drop_meets_the_plate),
        cmocka_unit_test(contact_lines_follow_colliders),
        cmocka_unit_test(a_guide_never_starts_a_simulation),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
