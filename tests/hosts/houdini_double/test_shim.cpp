// SPDX-License-Identifier: Apache-2.0
//
// The Houdini shim, driven through the double: every node type is an operator, dialogs say what the tables
// say, geometry comes and goes whole. The other parts are in test_shim_cooking.cpp, test_shim_networks.cpp
// and test_shim_guides.cpp.
#include "test_shim.hpp"

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

int main(int count, char **words)
{
    if (count == 5) return cook_scene(words + 1);
    const CMUnitTest tests[] = {
        cmocka_unit_test(every_type_is_an_operator_with_its_table),
        cmocka_unit_test(a_detail_is_read_with_all_it_has),
        cmocka_unit_test(other_primitives_come_as_what_they_stand_for),
        cmocka_unit_test(volumes_are_held_so_that_houdini_copies_before_it_writes),
        cmocka_unit_test(what_is_written_reads_back_the_same),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr) + test_shim_cooking() + test_shim_networks() +
           test_shim_guides();
}
