// SPDX-License-Identifier: Apache-2.0
//
// Films, threads and drops at solids: nothing gets in, friction holds as Coulomb has it, adhesion holds until
// it is pulled too hard, and what moves pushes.
#include "meniscus/codim.h"
#include "meniscus/collider.h"
#include "support/analytic_volume.h"
#include "support/check.h"
#include "support/painted_floor.h"

enum { MOST = 4000 };
static const double S = 0.001, g = 9.81;

typedef struct stage {
    mn_context *ctx;
    mn_geo *geo;
    mn_collider *collider;
    mn_codim *mls;
    mn_codim_def def;
    int64_t count;
    mn_vec3 x[MOST], v[MOST], n[MOST];
    double h[MOST];
    uint8_t codim[MOST];
} stage;

static stage *open_stage(mn_volume surface, mn_volume velocity)
{
    stage *s = calloc(1, sizeof *s);
    s->ctx = mn_context_create(NULL);
    s->def = mn_codim_default_def();
    s->def.gravity = mn_v3(0, 0, 0), s->def.friction = 0, s->def.air_drag = 0;
    s->def.spacing = S, s->def.sigma = 0.03, s->def.gravity = mn_v3(0, -g, 0), s->def.max_dt = 1e-3;
    check_ok(s->ctx, mn_geo_create(s->ctx, &s->geo));
    check_ok(s->ctx, analytic_add(s->geo, surface));
    if (velocity.ops) check_ok(s->ctx, analytic_add(s->geo, velocity));
    mn_collider_def def = mn_collider_default_def();
    def.geo = s->geo;
    check_ok(s->ctx, mn_collider_create(s->ctx, &def, &s->collider));
    return s;
}

static void add(stage *s, uint8_t codim, mn_vec3 x, mn_vec3 n, mn_vec3 v, double h)
{
    assert_true(s->count < MOST);
    s->x[s->count] = x, s->n[s->count] = n, s->v[s->count] = v, s->h[s->count] = h,
    s->codim[s->count++] = codim;
}

static void begin(stage *s)
{
    const mn_codim_source source = {s->count, s->x, s->v, s->n, s->h, NULL, s->codim};
    check_ok(s->ctx, mn_codim_create(s->ctx, &s->def, &s->mls));
    check_ok(s->ctx, mn_codim_add(s->mls, &source));
}

static void advance(stage *s, double dt)
{
    check_ok(s->ctx, mn_codim_advance(s->mls, &(mn_codim_inputs){.collider = s->collider}, dt));
}

// How deep the deepest point is inside, and the least and most distance.
static double deepest(const stage *s, double *nearest)
{
    const mn_codim_view view = mn_codim_get_view(s->mls);
    double most = -INFINITY, least = INFINITY;
    for (int64_t i = 0; i < view.count; i++) {
        const double d = mn_collider_probe(s->collider, 0, view.points[i].position).distance;
        most = fmax(most, -d), least = fmin(least, d);
    }
    if (nearest) *nearest = least;
    return most;
}

static void close_stage(stage *s)
{
    mn_codim_free(s->mls);
    mn_collider_free(s->collider);
    mn_geo_free(s->geo);
    mn_context_free(s->ctx);
    free(s);
}

static const mn_volume still = {0};

// A sheet, a thread and drops fall onto a ball with a fist full of speed.
static void nothing_gets_in(void **state)
{
    (void)state;
    stage *s = open_stage(analytic_ball(mn_v3(0, 0, 0), 0.01, 0.001), still);
    for (int i = 0; i < 24; i++)
        for (int j = 0; j < 24; j++)
            add(s, MN_CODIM_FILM, mn_v3(S * (i - 11.5), 0.012, S * (j - 11.5)), mn_v3(0, 1, 0),
                mn_v3(0, -0.3, 0), 1e-4);
    for (int i = 0; i < 30; i++)
        add(s, MN_CODIM_THREAD, mn_v3(S * (i - 14.5), 0.016, 0.0002), mn_v3(1, 0, 0), mn_v3(0, -0.5, 0),
            6e-4);
    add(s, MN_CODIM_DROP, mn_v3(0.013, 0.004, 0), mn_v3(0, 1, 0), mn_v3(-1, 0, 0), 0.002);
    begin(s);
    const double mass = mn_codim_get_view(s->mls).points[0].mass;
    assert_true(mass > 0);
    double nearest, least = INFINITY;
    for (int i = 0; i < 20; i++) {
        advance(s, 0.001);
        assert_true(deepest(s, &nearest) < 0.05 * S); // as far as a split on a chord lies under the ball
        least = fmin(least, nearest);
    }
    assert_true(least < 0.2 * S); // and the sheet did come to lie on it
    close_stage(s);
}

static double slide(double friction, double tilt, double time)
{
    const mn_vec3 n = mn_v3(sin(tilt), cos(tilt), 0);
    stage *s = open_stage(analytic_half_space(mn_v3(0, 0, 0), n, 0.001), still);
    add(s, MN_CODIM_DROP, mn_scale(0.0005, n), mn_v3(0, 1, 0), mn_v3(0, 0, 0), 0.001);
    s->def.friction = friction;
    begin(s);
    for (int i = 0; i < 20; i++) advance(s, time / 20);
    const double speed = mn_norm(mn_codim_get_view(s->mls).points[0].velocity);
    check_close(deepest(s, NULL), -0.0005, 1e-9);
    close_stage(s);
    return speed;
}

// On a slope a drop stays below tan(angle) = mu and slides with g (sin - mu cos) above.
static void friction_is_coulombs(void **state)
{
    (void)state;
    const double tilt = 0.5;
    check_close(slide(0.56, tilt, 0.1), 0, 1e-9); // tan(0.5) = 0.546
    check_close(slide(0.53, tilt, 0.1), 0.1 * g * (sin(tilt) - 0.53 * cos(tilt)), 1e-6);
    check_close(slide(0, tilt, 0.1), 0.1 * g * sin(tilt), 1e-6);
}

// A drop on each side of a floor that is painted: the one slows down with mu g, the other keeps its speed.
static void painted_friction_and_slip_are_felt(void **state)
{
    (void)state;
    for (int k = 0; k < 2; k++) {
        stage *s = open_stage(analytic_plane(0.001), still);
        painted_floor f = k == 0 ? painted_floor_open(s->ctx, MN_PAINT_FRICTION, 0.4, -1)
                                 : painted_floor_open(s->ctx, MN_PAINT_SLIP, 0, 1);
        for (int i = 0; i < 2; i++)
            add(s, MN_CODIM_DROP, mn_v3(i == 0 ? -0.3 : 0.3, 0.0005, 0), mn_v3(0, 1, 0), mn_v3(0, 0, 0.2),
                0.001);
        begin(s);
        for (int i = 0; i < 20; i++)
            check_ok(s->ctx, mn_codim_advance(s->mls, &(mn_codim_inputs){.collider = f.collider}, 0.001));
        const mn_codim_view view = mn_codim_get_view(s->mls);
        const int rough = view.points[0].position.x < 0 ? 0 : 1;
        check_close(view.points[rough].velocity.z, k == 0 ? 0.2 - 0.4 * g * 0.02 : 0, 1e-6);
        check_close(view.points[1 - rough].velocity.z, 0.2, 1e-6);
        painted_floor_close(&f);
        close_stage(s);
    }
}

// A density that is keyed changes what there is: twice the weight, the same volume.
static void density_and_tension_live(void **state)
{
    (void)state;
    stage *s = open_stage(analytic_plane(0.001), still);
    add(s, MN_CODIM_DROP, mn_v3(0, 0.05, 0), mn_v3(0, 1, 0), mn_v3(0, 0, 0), 0.001);
    begin(s);
    const double mass = mn_codim_get_view(s->mls).points[0].mass;
    s->def.density *= 2;
    check_ok(s->ctx, mn_codim_set_def(s->mls, &s->def));
    advance(s, 0.001);
    check_close(mn_codim_get_view(s->mls).points[0].mass, 2 * mass, 1e-12 * mass);
    check_close(mn_codim_get_view(s->mls).thickness[0], 0.001, 1e-12);
    close_stage(s);
}

// A ball comes up through a sheet that hangs between its pinned sides: a dry one makes a hole, whose liquid
// stays in the film, a wet one passes without.
static void a_dry_solid_punctures(void **state)
{
    (void)state;
    enum { N = 25 };
    for (int dry = 0; dry < 2; dry++) {
        stage *s = open_stage(analytic_ball(mn_v3(0, 0, 0), 0.003, 0.001), still);
        for (int i = 0; i < N; i++)
            for (int j = 0; j < N; j++)
                add(s, MN_CODIM_FILM, mn_v3(S * (i - N / 2), 0.0034, S * (j - N / 2)), mn_v3(0, 1, 0),
                    mn_v3(0, -0.5, 0), 1e-4);
        s->def.puncture = dry, s->def.gravity = mn_v3(0, 0, 0);
        begin(s);
        double before = 0, after = 0;
        for (int64_t i = 0; i < N * N; i++) before += mn_codim_get_view(s->mls).points[i].mass;
        for (int i = 0; i < 4; i++) advance(s, 0.0005);
        const mn_codim_view view = mn_codim_get_view(s->mls);
        double nearest = INFINITY; // of the film to the ball's axis
        for (int64_t i = 0; i < view.count; i++) {
            after += view.points[i].mass;
            nearest = fmin(nearest, hypot(view.points[i].position.x, view.points[i].position.z));
        }
        check_close(after, before, 1e-12 * before);
        if (dry)
            assert_true(nearest > S);
        else
            assert_true(nearest < 0.5 * S);
        close_stage(s);
    }
}

// A drop falls until the air carries it, c pi r^2 v = m g, and drifts with the wind.
static void drops_feel_the_air(void **state)
{
    (void)state;
    const double r = 0.0005, c = 20;
    stage *s = open_stage(analytic_plane(0.001), still);
    add(s, MN_CODIM_DROP, mn_v3(0, 1, 0), mn_v3(0, 1, 0), mn_v3(0, 0, 0), 2 * r);
    s->def.air_drag = c, s->def.wind = mn_v3(0.2, 0, 0);
    begin(s);
    for (int i = 0; i < 40; i++) advance(s, 0.02); // the drag takes m/(c pi r^2) = 0.033 s
    const mn_codim_point *drop = &mn_codim_get_view(s->mls).points[0];
    check_close(drop->velocity.y, -s->def.density * 4 / 3.0 * r * g / c, 1e-6);
    check_close(drop->velocity.x, 0.2, 1e-6);
    close_stage(s);
}

// The free edge of a sheet is marked, what lies inside is not.
static void rims_are_marked(void **state)
{
    (void)state;
    enum { N = 12 };
    stage *s = open_stage(analytic_plane(0.001), still);
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++)
            add(s, MN_CODIM_FILM, mn_v3(S * i, 0.05, S * j), mn_v3(0, 1, 0), mn_v3(0, 0, 0), 1e-4);
    begin(s);
    mn_view view = {0};
    check_ok(s->ctx,
             mn_codim_solver.view((mn_solver *)s->mls, &(mn_solver_inputs){0}, MN_CODIM_OUTPUT_ALL, &view));
    int seen = 0;
    for (int32_t c = 0; c < view.column_count; c++)
        for (int64_t i = 0; strcmp(view.columns[c].name, "rim") == 0 && i < view.point_count; i++) {
            const mn_vec3 x = mn_codim_get_view(s->mls).points[i].position;
            const bool border = x.x < 0.5 * S || x.z < 0.5 * S || x.x > (N - 1.5) * S || x.z > (N - 1.5) * S;
            double rim;
            view.columns[c].value(view.columns[c].data, i, &rim);
            assert_int_equal((int)rim, border);
            seen++;
        }
    assert_int_equal(seen, N * N);
    close_stage(s);
}

static double hang(double adhesion)
{
    stage *s = open_stage(analytic_half_space(mn_v3(0, 0, 0), mn_v3(0, -1, 0), 0.001), still);
    add(s, MN_CODIM_DROP, mn_v3(0, -0.0005, 0), mn_v3(0, 1, 0), mn_v3(0, 0, 0), 0.001);
    s->def.adhesion = adhesion;
    begin(s);
    for (int i = 0; i < 10; i++) advance(s, 0.002);
    const double y = mn_codim_get_view(s->mls).points[0].position.y;
    close_stage(s);
    return y;
}

// Under a ceiling a drop of 1 mm weighs 5.1 uN; adhesion holds with pi/4 d^2 / spacing of itself.
static void adhesion_holds_until_it_is_pulled_too_hard(void **state)
{
    (void)state;
    const double weight = 1000 * g * 3.14159265358979 / 6 * 1e-9, per = 0.25 * 3.14159265358979 * 1e-6 / S;
    check_close(hang(1.01 * weight / per), -0.0005, 1e-9);
    assert_true(hang(0.9 * weight / per) < -0.00052);
    check_close(hang(0), -0.0005 - 0.5 * g * 0.02 * 0.02, 1e-5);
}

// A floor that rises by 0.2 mm to y = 0 carries a sheet with it.
static void solids_push(void **state)
{
    (void)state;
    const mn_vec3 up = mn_v3(0, 0.1, 0);
    stage *s = open_stage(analytic_plane(0.001), analytic_motion(up, mn_v3(0, 0, 0), mn_v3(0, 0, 0)));
    for (int i = 0; i < 12; i++)
        for (int j = 0; j < 12; j++)
            add(s, MN_CODIM_FILM, mn_v3(S * (i - 5.5), -0.00015, S * (j - 5.5)), mn_v3(0, 1, 0),
                mn_v3(0, 0, 0), 1e-4);
    s->def.sigma = 0;
    begin(s);
    advance(s, 0.002);
    const mn_codim_view view = mn_codim_get_view(s->mls);
    for (int64_t i = 0; i < view.count; i++) {
        check_close(view.points[i].velocity.y, 0.1, 1e-6);
        assert_true(view.points[i].position.y > 3e-5 && view.points[i].position.y < 3e-4); // a rim is thicker
    }
    close_stage(s);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(nothing_gets_in),
        cmocka_unit_test(friction_is_coulombs),
        cmocka_unit_test(painted_friction_and_slip_are_felt),
        cmocka_unit_test(density_and_tension_live),
        cmocka_unit_test(a_dry_solid_punctures),
        cmocka_unit_test(drops_feel_the_air),
        cmocka_unit_test(rims_are_marked),
        cmocka_unit_test(adhesion_holds_until_it_is_pulled_too_hard),
        cmocka_unit_test(solids_push),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
