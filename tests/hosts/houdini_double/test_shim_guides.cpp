// SPDX-License-Identifier: Apache-2.0
//
// Guides in the viewport: domains, emitters, contact lines.
#include "test_shim.hpp"

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

int test_shim_guides()
{
    const CMUnitTest tests[] = {
        cmocka_unit_test(the_domain_is_drawn),
        cmocka_unit_test(guides_can_be_switched_off),
        cmocka_unit_test(emitters_are_drawn_with_the_way_of_one_frame),
        cmocka_unit_test(contact_lines_are_where_a_drop_meets_the_plate),
        cmocka_unit_test(contact_lines_follow_colliders),
        cmocka_unit_test(a_guide_never_starts_a_simulation),
    };
    return cmocka_run_group_tests(tests, nullptr, nullptr);
}
