// SPDX-License-Identifier: Apache-2.0
//
// Elastic bodies in contact: friction on an incline (M4), momenta of a collision (M5), its energy and
// restitution (C1), free flight after it (C2), heaps without an intersection (C3), a membrane under pressure
// (C6), and the same collisions and incline with the other methods (I1 to I3: [marquez2021] figures 4.13 to
// 4.17).
#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/elastic_shapes.h"
#include "support/validation.h"

static mn_context *ctx;
static elastic_shape *shape;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static mn_elastic *create(const mn_elastic_def *def)
{
    mn_elastic *s;
    must(mn_elastic_create(ctx, def, &s));
    return s;
}

static void add(mn_elastic *s, mn_elastic_kind kind)
{
    const mn_elastic_body body = shape_body(shape, kind);
    must(mn_elastic_add(s, &body));
}

static mn_vec3 reported(const mn_elastic *s, mn_report_key key)
{
    mn_report r = {0};
    mn_elastic_report(s, &r);
    return mn_v3(r.value[key][0], r.value[key][1], r.value[key][2]);
}

// ---- M4 ----

static const double incline_angle = 30 / 57.29577951308232, earth = 9.81;

/// A block at 0.05 m/s on a plane with gravity 30 degrees from its normal.
static mn_elastic *put_on_incline(double friction, mn_elastic_method method)
{
    const double angle = incline_angle;
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(earth * sin(angle), -earth * cos(angle), 0);
    def.young = 1e6, def.friction = friction, def.max_dt = 0.005, def.damping = 0.002;
    def.method = method;
    mn_elastic *s = create(&def);
    shape_block(shape, mn_v3(0, 0.02 + 2.5e-4, 0), mn_v3(0.08, 0.04, 0.08), 2, 1, 2);
    shape_move(shape, mn_v3(0, 0, 0), mn_v3(0.05, 0, 0), mn_v3(0, 0, 0));
    add(s, MN_ELASTIC_SOLID);
    shape_sheet(shape, mn_v3(0.4, 0, 0), 2, 1, 5, 3);
    add(s, MN_ELASTIC_COLLIDER);
    return s;
}

/// *last: its speed 3 s later, when asked for.
static double acceleration_on_incline(double friction, mn_elastic_method method, double *last)
{
    mn_elastic *s = put_on_incline(friction, method);
    must(mn_elastic_advance(s, NULL, 0.3)); // settles onto the plane
    const double mass = reported(s, MN_REPORT_mass).x, before = reported(s, MN_REPORT_momentum).x / mass;
    must(mn_elastic_advance(s, NULL, 0.5));
    const double after = reported(s, MN_REPORT_momentum).x / mass;
    if (last) {
        must(mn_elastic_advance(s, NULL, 3));
        *last = fabs(reported(s, MN_REPORT_momentum).x / mass);
    }
    mn_elastic_free(s);
    return (after - before) / 0.5;
}

static void incline(const char *row, double friction, mn_elastic_method method, const char *how)
{
    const double exact = earth * (sin(incline_angle) - friction * cos(incline_angle));
    double last = 0;
    const double found = acceleration_on_incline(friction, method, exact < 0 ? &last : NULL);
    char text[96];
    snprintf(text, sizeof text, "block on an incline of 30 deg, friction %g, %s: acceleration", friction,
             how);
    validation_row_absolute(row, text, found, exact, "m/s^2", 0.002);
    if (exact >= 0) return;
    snprintf(text, sizeof text, "friction %g, %s: speed when it has stopped", friction, how);
    validation_row_below(row, text, last, "m/s", 1e-4);
}

// ---- M5, C1, C2 ----

typedef struct collision {
    double momentum, spin, energy, restitution, drift;
} collision;

/// Momenta of both balls, of equal masses.
static void ball_momenta(mn_elastic *s, const double *mass, mn_vec3 p[2])
{
    mn_elastic_view view;
    must(mn_elastic_get_view(s, &view));
    p[0] = p[1] = mn_v3(0, 0, 0);
    for (int32_t i = 0; i < view.point_count; i++)
        p[view.body[i]] = mn_axpy(p[view.body[i]], mass[i % (view.point_count / 2)], view.velocities[i]);
}

/// Two balls of radius 5 cm, each at 0.25 m/s, offset by 0.3 R.
static collision collide(mn_elastic_method method, mn_elastic_integrator integrator, double friction,
                         double turn, double dt, int n)
{
    const double radius = 0.05, speed = 0.25;
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.young = 1e5, def.friction = friction, def.max_dt = dt;
    def.method = method, def.integrator = integrator;
    def.max_substeps = 10000000, def.contact_distance = radius / 50;
    mn_elastic *s = create(&def);
    double *mass = calloc(SHAPE_POINTS, sizeof *mass), total = 0;
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1 : -1;
        const mn_vec3 at = mn_v3(sign * 1.02 * radius, sign * 0.15 * radius, 0);
        shape_ball(shape, at, radius, n);
        shape_move(shape, at, mn_v3(-sign * speed, 0, 0), mn_v3(0, 0, turn));
        add(s, MN_ELASTIC_SOLID);
    }
    for (int32_t t = 0; t < shape->elements; t++) {
        const mn_vec3 *x = shape->x, a = x[shape->tet[t][0]];
        const mn_vec3 e = mn_sub(x[shape->tet[t][1]], a), f = mn_sub(x[shape->tet[t][2]], a),
                      g = mn_sub(x[shape->tet[t][3]], a);
        for (int k = 0; k < 4; k++) mass[shape->tet[t][k]] += 1000 * mn_dot(mn_cross(e, f), g) / 24;
    }
    for (int32_t i = 0; i < shape->points; i++) total += mass[i];
    collision r = {0};
    const mn_vec3 push = reported(s, MN_REPORT_momentum), spin = reported(s, MN_REPORT_angular_momentum);
    const double energy = reported(s, MN_REPORT_kinetic_energy).x;
    const mn_vec3 line = mn_normalize(mn_v3(sqrt(4 - 0.09), 0.3, 0));
    mn_vec3 p[2], q[2], settled = {0, 0, 0};
    ball_momenta(s, mass, p);
    for (int step = 0; step < 60; step++) {
        mn_elastic_numbers numbers;
        must(mn_elastic_advance(s, NULL, 0.002));
        must(mn_elastic_get_numbers(s, &numbers));
        const double now =
            reported(s, MN_REPORT_kinetic_energy).x + numbers.elastic_energy + numbers.contact_energy;
        r.energy = fmax(r.energy, now / energy - 1);
        r.momentum = fmax(r.momentum, mn_distance(reported(s, MN_REPORT_momentum), push) / (total * speed));
        r.spin = fmax(r.spin,
                      mn_distance(reported(s, MN_REPORT_angular_momentum), spin) / (total * speed * radius));
        if (step == 47) { // long after
            ball_momenta(s, mass, q);
            settled = mn_sub(q[1], q[0]);
        }
    }
    ball_momenta(s, mass, q);
    r.restitution = -mn_dot(mn_sub(q[1], q[0]), line) / mn_dot(mn_sub(p[1], p[0]), line);
    r.drift = mn_distance(mn_sub(q[1], q[0]), settled) / (total * 2 * speed);
    free(mass);
    mn_elastic_free(s);
    return r;
}

static void collisions(int n)
{
    char text[96];
    const collision free_balls = collide(MN_ELASTIC_BARRIER, MN_ELASTIC_BDF2, 0, 0, 0.002, n);
    snprintf(text, sizeof text, "two balls of %d tetrahedra, 2 ms: ", 6 * n * n * n);
    const size_t end = strlen(text);
    snprintf(text + end, sizeof text - end, "linear momentum");
    validation_row_below("M5", text, free_balls.momentum, "M v", 1e-10);
    snprintf(text + end, sizeof text - end, "angular momentum");
    validation_row_below("M5", text, free_balls.spin, "M v R", 1e-10);
    snprintf(text + end, sizeof text - end, "energy above its start");
    validation_row_below("C1", text, free_balls.energy, "", 1e-6);
    const collision exact = collide(MN_ELASTIC_BARRIER, MN_ELASTIC_EXPLICIT, 0, 0, 0.002, n);
    snprintf(text + end, sizeof text - end, "restitution over that of explicit steps");
    validation_row_above("C1", text, free_balls.restitution / exact.restitution, "", 0.95);
    snprintf(text + end, sizeof text - end, "relative velocity after the contact");
    validation_row_below("C2", text, free_balls.drift, "of 2 v", 1e-5);
    validation_row_below("M5", "the same, explicit steps: linear momentum", exact.momentum, "M v", 1e-10);
    validation_row_below("M5", "the same, explicit steps: angular momentum", exact.spin, "M v R", 1e-10);
    const collision rough = collide(MN_ELASTIC_BARRIER, MN_ELASTIC_BDF2, 0.5, 20, 0.002, n);
    validation_row_below("M5", "friction 0.5, 20 rad/s each: linear momentum", rough.momentum, "M v", 1e-10);
    validation_row_below("M5", "friction 0.5, 20 rad/s each: angular momentum", rough.spin, "M v R", 1e-10);
}

// ---- I1, I2 ----

/// The same collision by impulses, explicit and with backward Euler.
static void impulses(int n)
{
    char text[96];
    for (int k = 0; k < 2; k++) {
        const char *row = k == 0 ? "I1" : "I2";
        const mn_elastic_integrator how = k == 0 ? MN_ELASTIC_EXPLICIT : MN_ELASTIC_BACKWARD_EULER;
        const collision rough = collide(MN_ELASTIC_IMPULSES, how, 0.5, 20, 0.002, n);
        const collision smooth = collide(MN_ELASTIC_IMPULSES, how, 0, 0, 0.002, n);
        snprintf(text, sizeof text, "impulses, %s: ", k == 0 ? "explicit" : "backward Euler");
        const size_t end = strlen(text);
        snprintf(text + end, sizeof text - end, "linear momentum, friction 0.5, 20 rad/s");
        validation_row_below(row, text, rough.momentum, "M v", 1e-10);
        snprintf(text + end, sizeof text - end, "angular momentum, friction 0.5, 20 rad/s");
        validation_row_below(row, text, rough.spin, "M v R", 1e-10);
        snprintf(text + end, sizeof text - end, "energy above its start");
        validation_row_below(row, text, smooth.energy, "", 1e-6);
        snprintf(text + end, sizeof text - end, "restitution");
        validation_row_above(row, text, smooth.restitution, "", 0.78); // of two discs
    }
}

// ---- what scripts/contact_figures.py draws ----

/// Two soft boxes meet off centre: kinetic energy over its start.
static void draw_collision(FILE *file, int which, mn_elastic_method method, mn_elastic_integrator integrator)
{
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.young = 1e5, def.friction = 0, def.max_dt = 0.002, def.contact_distance = 1e-3;
    def.method = method, def.integrator = integrator, def.max_substeps = 10000000;
    mn_elastic *s = create(&def);
    for (int side = 0; side < 2; side++) {
        const double sign = side ? 1 : -1;
        shape_block(shape, mn_v3(sign * 0.052, sign * 0.012, sign * 0.006), mn_v3(0.1, 0.1, 0.1), 4, 4, 4);
        shape_move(shape, mn_v3(0, 0, 0), mn_v3(-sign * 0.25, 0, 0), mn_v3(0, 0, 0));
        add(s, MN_ELASTIC_SOLID);
    }
    const double start = reported(s, MN_REPORT_kinetic_energy).x;
    for (int step = 0; step <= 60; step++) {
        if (step > 0) must(mn_elastic_advance(s, NULL, 0.002));
        fprintf(file, "energy %d %.6g %.6g\n", which, 0.002 * step,
                reported(s, MN_REPORT_kinetic_energy).x / start);
    }
    mn_elastic_free(s);
}

static void draw_incline(FILE *file, int which, double friction)
{
    mn_elastic *s = put_on_incline(friction, MN_ELASTIC_BARRIER);
    const double mass = reported(s, MN_REPORT_mass).x;
    for (int step = 0; step <= 100; step++) {
        if (step > 0) must(mn_elastic_advance(s, NULL, 0.025));
        fprintf(file, "incline %d %.6g %.6g\n", which, 0.025 * step,
                reported(s, MN_REPORT_momentum).x / mass);
    }
    mn_elastic_free(s);
}

static void figures(const char *path)
{
    static const mn_elastic_integrator integrators[] = {MN_ELASTIC_BDF2, MN_ELASTIC_BACKWARD_EULER,
                                                        MN_ELASTIC_EXPLICIT, MN_ELASTIC_BACKWARD_EULER,
                                                        MN_ELASTIC_EXPLICIT};
    FILE *file = fopen(path, "w");
    if (!file) return;
    for (int k = 0; k < 5; k++)
        draw_collision(file, k, k < 3 ? MN_ELASTIC_BARRIER : MN_ELASTIC_IMPULSES, integrators[k]);
    for (int k = 0; k < 2; k++) draw_incline(file, k, k == 0 ? 0.57 : 0.58);
    fclose(file);
}

// ---- C3 ----

/// Solids, rigid boxes and cloth thrown onto each other at up to 4 contact distances a step. Returns whether
/// anything ever passes through anything, or whether it does not end.
static bool heap_fails(uint64_t seed)
{
    mn_elastic_def def = mn_elastic_default_def();
    def.young = 3e4, def.friction = 0.4, def.max_dt = 0.01, def.thickness = 5e-4,
    def.gravity = mn_v3(0, -30, 0);
    def.damping = 0.005;
    mn_elastic *s = create(&def);
    for (uint64_t k = 0; k < 8; k++) {
        const mn_vec3 at = mn_v3(0.02 * mn_random_normal(seed, k, 0), 0.06 + 0.09 * (double)k,
                                 0.02 * mn_random_normal(seed, k, 1));
        const mn_vec3 turn = mn_v3(360 * mn_random_unit(seed, k, 2), 360 * mn_random_unit(seed, k, 3), 0);
        const int kind = (int)((seed + k) % 4);
        if (kind == 0) shape_block(shape, at, mn_v3(0.05, 0.03, 0.04), 2, 1, 2);
        if (kind == 1) shape_ball(shape, at, 0.025, 2);
        if (kind == 2) shape_box(shape, at, mn_v3(0.04, 0.02, 0.05));
        if (kind == 3) shape_sheet(shape, at, 0.07, 0.07, 5, 5);
        shape_turn(shape, mn_m3_rotation(turn), at);
        shape_move(shape, at, mn_v3(0, -0.8, 0), mn_v3(0, 5 * mn_random_normal(seed, k, 4), 0));
        add(s, kind == 2 ? MN_ELASTIC_RIGID : kind == 3 ? MN_ELASTIC_CLOTH : MN_ELASTIC_SOLID);
    }
    shape_sheet(shape, mn_v3(0, 0, 0), 1, 1, 2, 2);
    add(s, MN_ELASTIC_COLLIDER);
    bool crossed = false;
    for (int frame = 0; frame < 12 && !crossed; frame++) {
        crossed = mn_elastic_advance(s, NULL, 0.02) != MN_OK || mn_elastic_check_apart(s) != MN_OK;
        if (crossed) fprintf(stderr, "heap %d: %s\n", (int)seed, mn_context_message(ctx));
    }
    mn_elastic_free(s);
    return crossed;
}

static void heaps(int count)
{
    int crossed = 0;
    char text[96];
    for (int i = 0; i < count; i++) crossed += heap_fails((uint64_t)i + 1);
    snprintf(text, sizeof text, "%d random heaps of 8 bodies: heaps with an intersection or without an end",
             count);
    validation_row_below("C3", text, crossed, "", 0);
}

// ---- C6 ----

/// A square of membrane with tension T, pinned around, under pressure: w = 0.07367 p L^2/T in the middle.
static void membrane(int n)
{
    const double side = 0.1, tension = 5, pressure = 2;
    mn_elastic_def def = mn_elastic_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.young = 1e5, def.thickness = 2e-4, def.prestress = tension, def.bending = 0;
    def.integrator = MN_ELASTIC_BACKWARD_EULER, def.max_dt = 0.2;
    mn_elastic *s = create(&def);
    shape_sheet(shape, mn_v3(0, 0, 0), side, side, n, n);
    mn_vec3 *force = calloc((size_t)shape->points, sizeof *force);
    for (int32_t i = 0; i < shape->points; i++) {
        const mn_vec3 x = shape->x[i];
        const bool rim = fabs(fabs(x.x) - side / 2) < 1e-9 || fabs(fabs(x.z) - side / 2) < 1e-9;
        shape->pinned[i] = rim;
        force[i].y = rim ? 0 : pressure * side * side / (n * n);
    }
    add(s, MN_ELASTIC_CLOTH);
    const mn_elastic_inputs inputs = {.forces = force};
    must(mn_elastic_advance(s, &inputs, 10));
    mn_elastic_view view;
    must(mn_elastic_get_view(s, &view));
    char text[96];
    snprintf(text, sizeof text, "square membrane, %d triangles, p L/T 0.04: sag of the middle", 2 * n * n);
    validation_row("C6", text, view.positions[view.point_count / 2].y,
                   0.07367 * pressure * side * side / tension, "m", 0.02);
    free(force);
    mn_elastic_free(s);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    ctx = mn_context_create(NULL);
    shape = shape_create();
    if (getenv("CONTACT_FIGURES")) {
        figures(getenv("CONTACT_FIGURES"));
        return 0;
    }
    if (validation_wanted("M4", "incline")) {
        incline("M4", 0.57, MN_ELASTIC_BARRIER, "BDF2");
        incline("M4", 0.58, MN_ELASTIC_BARRIER, "BDF2");
    }
    if (validation_wanted("M5", "collisions")) collisions(4);
    if (validation_wanted("C6", "membrane")) membrane(16);
    if (validation_wanted("C3", "heaps")) heaps(validation_long() ? 100 : 1);
    if (validation_long() && validation_wanted("M5", "fine collisions")) collisions(8);
    if (validation_long() && validation_wanted("I1", "impulses")) {
        impulses(4);
        incline("I3", 0.57, MN_ELASTIC_IMPULSES, "impulses");
        incline("I3", 0.58, MN_ELASTIC_IMPULSES, "impulses");
    }
    free(shape);
    mn_context_free(ctx);
    return validation_end();
}
