// SPDX-License-Identifier: Apache-2.0
//
// Volumes as a user of the solver sees them: how they start, flow, are saved, and what is refused.
#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/failing_allocator.h"
#include "support/liquid_region.h"
#include "support/stream_buffer.h"

static mn_context *ctx;
static const double R = 0.01;

static void ball_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const mn_vec3 *center = user;
    for (int64_t i = 0; i < count; i++) d[i] = mn_distance(x[i], *center) - R;
}

static mn_codim_def water(double dx)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    def.dx = dx, def.spacing = 0.5 * dx, def.sigma = 0.07, def.max_dt = 2e-3;
    return def;
}

// A ball of radius R around `center`, with its region or as bare particles.
static mn_status open_ball(mn_context *own, const mn_codim_def *def, mn_vec3 center, bool bare,
                           mn_codim **mls)
{
    const mn_region region = {
        &center, ball_distance, {mn_sub(center, mn_v3(R, R, R)), mn_add(center, mn_v3(R, R, R))}};
    return open_region(own, def, &region, 0, bare, mls);
}

static void corners_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const mn_box *box = user;
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 a = mn_sub(box->min, x[i]), b = mn_sub(x[i], box->max);
        d[i] = fmax(fmax(fmax(a.x, b.x), fmax(a.y, b.y)), fmax(a.z, b.z));
    }
}

static mn_status open_box(const mn_codim_def *def, const mn_box *box, double volume, mn_codim **mls)
{
    const mn_vec3 more = mn_v3(def->dx, def->dx, def->dx);
    const mn_region region = {
        (void *)box, corners_distance, {mn_sub(box->min, more), mn_add(box->max, more)}};
    return open_region(ctx, def, &region, volume, false, mls);
}

static double mass_of(const mn_codim *mls)
{
    mn_report report = {0};
    mn_codim_report(mls, &report);
    return report.value[MN_REPORT_mass][0];
}

static double skin_volume(const mn_codim_view *view)
{
    double volume = 0;
    for (int64_t t = 0; t < view->skin_triangle_count; t++) {
        const int32_t *c = view->skin_triangles[t];
        volume += mn_dot(view->skin[c[0]].position,
                         mn_cross(view->skin[c[1]].position, view->skin[c[2]].position)) /
                  6;
    }
    return volume;
}

static void skins_enclose_the_liquid(void **state)
{
    (void)state;
    const mn_codim_def def = water(R / 5);
    for (int bare = 0; bare < 2; bare++) {
        mn_codim *mls;
        check_ok(ctx, open_ball(ctx, &def, mn_v3(0.001, 0.002, 0), bare, &mls));
        const mn_codim_view view = mn_codim_get_view(mls);
        // Inscribed triangles, (s/R)^2; particles' union is as good as the volume it is shifted to.
        check_close(skin_volume(&view), 4.18879 * R * R * R, 0.02 * 4.18879 * R * R * R);
        assert_int_equal(view.skin_triangle_count, 2 * view.skin_count - 4);
        mn_codim_free(mls);
    }
}

static void a_drop_stays_above_the_floor(void **state)
{
    (void)state;
    mn_codim_def def = water(R / 4);
    def.gravity = mn_v3(0, -9.81, 0);
    mn_codim *mls;
    mn_geo *geo;
    mn_collider *collider;
    check_ok(ctx, analytic_open_floor(ctx, 0.02, &geo, &collider));
    check_ok(ctx, open_ball(ctx, &def, mn_v3(0, 1.1 * R, 0), false, &mls));
    const double mass = mass_of(mls);
    const mn_codim_inputs inputs = {.collider = collider};
    for (int i = 0; i < 4; i++) check_ok(ctx, mn_codim_advance(mls, &inputs, 0.01));
    const mn_codim_view view = mn_codim_get_view(mls);
    check_close(mass_of(mls), mass, 1e-13 * mass);
    for (int64_t i = 0; i < view.particle_count; i++)
        assert_true(view.particles[i].position.y > -0.1 * def.dx);
    for (int64_t i = 0; i < view.skin_count; i++) assert_true(view.skin[i].position.y > -0.1 * def.dx);
    double low = INFINITY;
    for (int64_t i = 0; i < view.skin_count; i++) low = fmin(low, view.skin[i].position.y);
    assert_true(low < 0.5 * def.dx); // it did arrive
    mn_codim_free(mls);
    mn_collider_free(collider);
    mn_geo_free(geo);
}

static void half_ball_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    (void)user;
    for (int64_t i = 0; i < count; i++) d[i] = fmax(mn_norm(x[i]) - R, -x[i].y);
}

// The mean radius of what a half ball has wetted of the floor, a quarter of a capillary time after it was let
// go.
static double wetted_radius(double contact_angle)
{
    mn_codim_def def = water(R / 3);
    def.contact_angle = contact_angle, def.viscosity = 0.05;
    const mn_region region = {NULL, half_ball_distance, {mn_v3(-R, -R, -R), mn_v3(R, R, R)}};
    mn_codim *mls;
    mn_geo *geo;
    mn_collider *floor;
    mn_collider_def floor_def = mn_collider_default_def();
    check_ok(ctx, open_region(ctx, &def, &region, 0, false, &mls));
    check_ok(ctx, mn_geo_create(ctx, &geo));
    check_ok(ctx, analytic_add(geo, analytic_plane(0.02)));
    floor_def.geo = geo;
    check_ok(ctx, mn_collider_create(ctx, &floor_def, &floor));
    const double time = sqrt(def.density * R * R * R / def.sigma);
    check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){.collider = floor}, 0.2 * time));
    const mn_codim_view view = mn_codim_get_view(mls);
    double area = 0;
    for (int64_t t = 0; t < view.skin_triangle_count; t++) {
        const mn_vec3 a = view.skin[view.skin_triangles[t][0]].position,
                      b = view.skin[view.skin_triangles[t][1]].position,
                      c = view.skin[view.skin_triangles[t][2]].position;
        if (fmax(a.y, fmax(b.y, c.y)) < 0.1 * def.dx)
            area += 0.5 * mn_norm(mn_cross(mn_sub(b, a), mn_sub(c, a)));
    }
    mn_codim_free(mls);
    mn_collider_free(floor);
    mn_geo_free(geo);
    return sqrt(area / 3.14159265358979);
}

// Young's law: a half ball rests at 90 degrees, spreads at less and draws back at more.
static void volumes_meet_solids_at_their_contact_angle(void **state)
{
    (void)state;
    const double rests = wetted_radius(90);
    check_close(rests, R, 0.2 * R); // the skin starts with an edge that is rounded by a spacing, R/6
    assert_true(wetted_radius(60) > rests + 0.03 * R);
    assert_true(wetted_radius(120) < rests - 0.03 * R);
}

// Still water in a tank whose walls cut the cells: pressure carries it, at the wall's cells too.
static void still_water_in_a_tank_stays_still(void **state)
{
    (void)state;
    mn_codim_def def = water(2e-3);
    def.gravity = mn_v3(0, -9.81, 0), def.sigma = 0;
    const mn_vec3 low = {-5.3e-3, -4.1e-3, -4.7e-3}, high = {5.3e-3, 2.3e-3, 4.7e-3};
    const struct {
        mn_vec3 point, normal;
    } walls[5] = {
        {low, {1, 0, 0}}, {low, {0, 1, 0}}, {low, {0, 0, 1}}, {high, {-1, 0, 0}}, {high, {0, 0, -1}}};
    const mn_box box = {low, high};
    mn_codim *mls;
    mn_geo *geo;
    mn_collider *tank;
    mn_collider_def tank_def = mn_collider_default_def();
    check_ok(ctx, mn_geo_create(ctx, &geo));
    for (int i = 0; i < 5; i++)
        check_ok(ctx, analytic_add(geo, analytic_half_space(walls[i].point, walls[i].normal, 4e-3)));
    tank_def.geo = geo;
    check_ok(ctx, mn_collider_create(ctx, &tank_def, &tank));
    check_ok(ctx, open_box(&def, &box, 1e-6, &mls));
    mn_codim_view view = mn_codim_get_view(mls);
    const double volume = skin_volume(&view); // the skin rounds the edges
    mn_codim_free(mls);
    check_ok(ctx, open_box(&def, &box, volume, &mls));
    const mn_codim_inputs inputs = {.collider = tank};
    double top = 0, fastest = 0, deepest = 0;
    for (int i = 0; i < 10; i++) check_ok(ctx, mn_codim_advance(mls, &inputs, 2e-3));
    view = mn_codim_get_view(mls);
    for (int64_t i = 0; i < view.skin_count; i++) top = fmax(top, view.skin[i].position.y);
    for (int64_t i = 0; i < view.particle_count; i++) {
        const mn_codim_particle *p = &view.particles[i];
        fastest = fmax(fastest, mn_norm(p->velocity));
        deepest = fmax(deepest, fabs(p->pressure - def.density * 9.81 * (high.y - p->position.y)));
    }
    // Skin starts with edges that are rounded by a spacing, and fills them: millimetres per second. Without
    // the walls it would fall at 0.2 m/s by now.
    assert_true(fastest < 0.02);
    assert_true(fabs(top - high.y) < 0.1 * def.dx);
    assert_true(deepest <
                0.5 * def.density * 9.81 * def.dx); // pressures are those of cells, half of one apart
    mn_codim_free(mls);
    mn_collider_free(tank);
    mn_geo_free(geo);
}

// A copy through a stream goes on with the same bits.
static void check_goes_on_when_loaded(mn_codim *mls, const mn_codim_def *def, const mn_codim_inputs *inputs,
                                      double seconds)
{
    mn_codim *again;
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_codim_save(mls, &out));
    mn_reader in = {ctx, &b, buffer_read};
    check_ok(ctx, mn_codim_load(ctx, def, &in, &again));
    check_ok(ctx, mn_codim_advance(mls, inputs, seconds));
    check_ok(ctx, mn_codim_advance(again, inputs, seconds));
    const mn_codim_view a = mn_codim_get_view(mls), c = mn_codim_get_view(again);
    assert_int_equal(a.particle_count, c.particle_count);
    assert_int_equal(a.skin_count, c.skin_count);
    assert_memory_equal(a.particles, c.particles, (size_t)a.particle_count * sizeof *a.particles);
    assert_memory_equal(a.skin, c.skin, (size_t)a.skin_count * sizeof *a.skin);
    mn_codim_free(again);
    free(b.bytes);
}

static void what_is_loaded_goes_on_with_the_same_bits(void **state)
{
    (void)state;
    const mn_codim_def def = water(R / 3);
    const mn_codim_inputs none = {0};
    mn_codim *mls;
    check_ok(ctx, open_ball(ctx, &def, mn_v3(0, 0, 0), false, &mls));
    check_ok(ctx, mn_codim_advance(mls, &none, 4e-3));
    check_goes_on_when_loaded(mls, &def, &none, 4e-3);
    mn_codim_free(mls);
}

static void a_state_of_an_older_build_is_refused(void **state)
{
    (void)state;
    const mn_codim_def def = water(R / 3);
    mn_codim *mls;
    buffer b = {.ctx = ctx};
    mn_writer out = {ctx, &b, buffer_write};
    check_ok(ctx, mn_write_tag(&out, "codim", 3));
    mn_reader in = {ctx, &b, buffer_read};
    check_fails(ctx, mn_codim_load(ctx, &def, &in, &mls), MN_ERROR_UNSUPPORTED,
                "version 3; this build reads");
    free(b.bytes);
}

static void box_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const mn_vec3 *half = user;
    for (int64_t i = 0; i < count; i++)
        d[i] = fmax(fabs(x[i].x) - half->x, fmax(fabs(x[i].y) - half->y, fabs(x[i].z) - half->z));
}

static void pipe_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const double r = *(const double *)user;
    for (int64_t i = 0; i < count; i++) d[i] = fmax(hypot(x[i].x, x[i].z) - r, fabs(x[i].y) - 3e-3);
}

// A pipe whose section is not made of lattice cells: between two times half a layer off, five layers come.
static void a_round_spring_pours_its_section(void **state)
{
    (void)state;
    mn_codim_def def = water(2e-3);
    double r = 5.2e-3;
    const mn_region region = {&r, pipe_distance, {mn_v3(-r, -3e-3, -r), mn_v3(r, 3e-3, r)}};
    const mn_codim_volume_inflow inflow = {region, mn_v3(0, -0.5, 0)};
    const mn_codim_inputs inputs = {.inflow_count = 1, .inflows = &inflow};
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_advance(mls, &inputs, 3e-3));
    const double before = mass_of(mls);
    check_ok(ctx, mn_codim_advance(mls, &inputs, 10e-3));
    const double section = 3.14159265 * r * r, poured = mass_of(mls) - before;
    // Five layers; the circle is sampled at a quarter of a lattice cell.
    check_close(poured, def.density * section * 5e-3, 0.01 * def.density * section * 5e-3);
    mn_codim_free(mls);
}

static void a_spring_pours_speed_times_section_times_time(void **state)
{
    (void)state;
    mn_codim_def def = water(2e-3);
    mn_vec3 half = {5e-3, 3e-3, 5e-3};
    const mn_region region = {&half, box_distance, {mn_scale(-1, half), half}};
    const mn_codim_volume_inflow inflow = {region, mn_v3(0, -0.5, 0)};
    const mn_codim_inputs inputs = {.inflow_count = 1, .inflows = &inflow};
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    for (int i = 0; i < 3; i++) check_ok(ctx, mn_codim_advance(mls, &inputs, 0.002));
    const double area = 4 * half.x * half.z, layer = def.density * area * def.dx / 2;
    check_close(mass_of(mls), def.density * area * (2 * half.y + 0.5 * 0.006), layer);
    double low = 0;
    const mn_codim_view view = mn_codim_get_view(mls);
    for (int64_t i = 0; i < view.skin_count; i++) low = fmin(low, view.skin[i].position.y);
    check_close(low, -half.y - 0.5 * 0.006, def.dx); // the front has moved with it
    assert_int_equal(view.count, 0);                 // and nothing was lost
    mn_codim_free(mls);
}

static void box_away_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    for (int64_t i = 0; i < count; i++) {
        const mn_vec3 at = mn_sub(x[i], mn_v3(0.03, 0, 0));
        box_distance(user, 1, &at, &d[i]);
    }
}

// Each with its own velocity, the second from the second advance on, and the same after a save.
static void two_springs_pour_their_own_ways(void **state)
{
    (void)state;
    mn_codim_def def = water(2e-3);
    def.gravity = mn_v3(0, 0, 0);
    mn_vec3 half = {5e-3, 3e-3, 5e-3};
    const mn_vec3 away = {0.03, 0, 0};
    const mn_codim_volume_inflow inflows[2] = {
        {{&half, box_distance, {mn_scale(-1, half), half}}, mn_v3(0, -0.5, 0)},
        {{&half, box_away_distance, {mn_sub(away, half), mn_add(away, half)}}, mn_v3(0, 0.25, 0)}};
    const mn_codim_inputs one = {.inflow_count = 1, .inflows = inflows},
                          two = {.inflow_count = 2, .inflows = inflows};
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_ok(ctx, mn_codim_advance(mls, &one, 0.002));
    const double before = mass_of(mls);
    check_ok(ctx, mn_codim_advance(mls, &two, 0.004));
    const double area = 4 * half.x * half.z, layer = def.density * area * def.dx / 2;
    check_close(mass_of(mls) - before, def.density * area * (2 * half.y + (0.5 + 0.25) * 0.004), 2 * layer);
    double low = 0, high = 0;
    mn_codim_view view = mn_codim_get_view(mls);
    for (int64_t i = 0; i < view.skin_count; i++) {
        const mn_vec3 x = view.skin[i].position;
        if (x.x < 0.015) low = fmin(low, x.y);
        if (x.x > 0.015) high = fmax(high, x.y);
    }
    check_close(low, -half.y - 0.5 * 0.006, def.dx);
    check_close(high, half.y + 0.25 * 0.004, def.dx);
    for (int64_t i = 0; i < view.skin_count; i++) // what a inflow holds has a number of its own
        for (int64_t k = i + 1; k < view.skin_count; k++)
            assert_int_not_equal(view.skin[i].id, view.skin[k].id);
    check_goes_on_when_loaded(mls, &def, &two, 0.002);
    mn_codim_free(mls);
}

static void a_spring_that_fits_no_cell_is_a_sentence(void **state)
{
    (void)state;
    mn_codim_def def = water(2e-3);
    mn_vec3 half = {2e-4, 2e-4, 2e-4};
    const mn_codim_volume_inflow inflow = {{&half, box_distance, {mn_scale(-1, half), half}},
                                           mn_v3(0, -0.5, 0)};
    const mn_codim_inputs inputs = {.inflow_count = 1, .inflows = &inflow};
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_fails(ctx, mn_codim_advance(mls, &inputs, 0.002), MN_ERROR_ARGUMENT, "smaller than a cell");
    mn_codim_free(mls);
    def.spacing = 2 * def.dx;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    check_fails(ctx, mn_codim_advance(mls, &inputs, 0.002), MN_ERROR_ARGUMENT, "spacing is");
    mn_codim_free(mls);
}

static mn_vec3 momentum_of(const mn_codim *mls)
{
    mn_report report = {0};
    mn_codim_report(mls, &report);
    const double *p = report.value[MN_REPORT_momentum];
    return mn_v3(p[0], p[1], p[2]);
}

// Row F10: what passes between drops, films and volumes keeps its mass and momentum.
static void drops_and_films_that_fall_in_become_liquid(void **state)
{
    (void)state;
    const mn_codim_def def = water(R / 3);
    mn_codim *mls;
    check_ok(ctx, open_ball(ctx, &def, mn_v3(0, 0, 0), false, &mls));
    // A drop on its way into the ball, and a patch of film inside of it.
    enum { PATCH = 5, COUNT = PATCH * PATCH + 1 };
    mn_vec3 x[COUNT], v[COUNT], n[COUNT];
    double thickness[COUNT];
    uint8_t codim[COUNT];
    for (int i = 0; i < COUNT; i++) {
        x[i] = mn_scale(def.spacing, mn_v3(i % PATCH - 2, 0, i / PATCH - 2));
        v[i] = mn_v3(0, 0.01, 0), n[i] = mn_v3(0, 1, 0);
        thickness[i] = 1e-4, codim[i] = MN_CODIM_FILM;
    }
    x[COUNT - 1] = mn_v3(0, 1.3 * R, 0), v[COUNT - 1] = mn_v3(0.1, -1, 0);
    thickness[COUNT - 1] = 2e-3, codim[COUNT - 1] = MN_CODIM_DROP;
    check_ok(ctx, mn_codim_add(mls, &(mn_codim_source){COUNT, x, v, n, thickness, NULL, codim}));
    const double mass = mass_of(mls);
    const mn_vec3 before = momentum_of(mls);
    for (int i = 0; i < 3; i++) check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 2e-3));
    assert_int_equal(mn_codim_get_view(mls).count, 0);
    check_close(mass_of(mls), mass, 1e-12 * mass);
    check_close(mn_norm(mn_sub(momentum_of(mls), before)), 0, 1e-10 * mass * 0.1);
    mn_codim_free(mls);
}

static void what_the_grid_cannot_hold_flies_on_as_drops(void **state)
{
    (void)state;
    mn_codim_def def = water(R / 3);
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    // Four particles that fill no cell, far from each other by pairs.
    const double far = 4 * def.dx, near = 0.3 * def.dx, m = 1e-2 * def.density * pow(def.dx, 3);
    const mn_vec3 x[4] = {{0, 0, 0}, {near, 0, 0}, {far, 0, 0}, {far, near, 0}};
    const mn_vec3 v[4] = {{0.1, 0, 0}, {0.1, 0, 0}, {0, 0.2, 0}, {0, 0, 0.3}};
    const double mass[4] = {m, m, m, m};
    check_ok(ctx, mn_codim_add_liquid(mls, &(mn_codim_liquid){4, x, v, mass, NULL}));
    const mn_vec3 before = momentum_of(mls);
    for (int i = 0; i < 2; i++) check_ok(ctx, mn_codim_advance(mls, &(mn_codim_inputs){0}, 1e-4));
    assert_int_equal(mn_codim_get_view(mls).particle_count, 0);
    assert_int_equal(mn_codim_get_view(mls).count, 2);
    check_close(mass_of(mls), 4 * m, 1e-14 * m);
    check_close(mn_norm(mn_sub(momentum_of(mls), before)), 0, 1e-13 * m);
    mn_codim_free(mls);
}

static void bad_liquid_is_refused_with_a_sentence(void **state)
{
    (void)state;
    const mn_codim_def def = water(R / 3);
    mn_codim *mls;
    check_ok(ctx, mn_codim_create(ctx, &def, &mls));
    mn_vec3 x[2] = {{0, 0, 0}, {NAN, 0, 0}};
    double mass[2] = {1e-6, 1e-6};
    mn_codim_liquid liquid = {0, x, NULL, mass, NULL};
    check_fails(ctx, mn_codim_add_liquid(mls, &liquid), MN_ERROR_INPUT, "empty");
    liquid.count = 2;
    check_fails(ctx, mn_codim_add_liquid(mls, &liquid), MN_ERROR_INPUT, "not finite");
    x[1] = mn_v3(0.001, 0, 0), mass[1] = 0;
    check_fails(ctx, mn_codim_add_liquid(mls, &liquid), MN_ERROR_INPUT, "mass");
    mn_codim_free(mls);
}

static void running_out_of_memory_leaves_nothing_behind(void **state)
{
    (void)state;
    mn_codim_def def = water(R / 2);
    for (int64_t n = 0, step = 1;; n += step, step = 1 + n / 5) {
        failing_allocator memory = {.fail_at = n};
        mn_hooks hooks = failing_hooks(&memory);
        mn_context *own = mn_context_create(&hooks);
        if (own) {
            mn_codim *mls = NULL;
            mn_status status = open_ball(own, &def, mn_v3(0, 0, 0), n % 2, &mls);
            if (status == MN_OK) status = mn_codim_advance(mls, &(mn_codim_inputs){0}, 2e-3);
            assert_true(status == (memory.failed ? MN_ERROR_MEMORY : MN_OK));
            mn_codim_free(mls);
            mn_context_free(own);
        }
        assert_int_equal(memory.held, 0);
        if (!memory.failed) break;
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(skins_enclose_the_liquid),
        cmocka_unit_test(a_drop_stays_above_the_floor),
        cmocka_unit_test(volumes_meet_solids_at_their_contact_angle),
        cmocka_unit_test(still_water_in_a_tank_stays_still),
        cmocka_unit_test(what_is_loaded_goes_on_with_the_same_bits),
        cmocka_unit_test(a_spring_pours_speed_times_section_times_time),
        cmocka_unit_test(a_round_spring_pours_its_section),
        cmocka_unit_test(two_springs_pour_their_own_ways),
        cmocka_unit_test(a_state_of_an_older_build_is_refused),
        cmocka_unit_test(a_spring_that_fits_no_cell_is_a_sentence),
        cmocka_unit_test(drops_and_films_that_fall_in_become_liquid),
        cmocka_unit_test(what_the_grid_cannot_hold_flies_on_as_drops),
        cmocka_unit_test(bad_liquid_is_refused_with_a_sentence),
        cmocka_unit_test(running_out_of_memory_leaves_nothing_behind),
    };
    ctx = mn_context_create(NULL);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    mn_context_free(ctx);
    return failed;
}
