// SPDX-License-Identifier: Apache-2.0
//
// Liquid on what gives way: a layer on a stretched membrane (C7), a drop on a round one (C8), and a drop that
// bounces off a plate on a spring (C15). Forces of tension, pressure and contact lines all pass through the
// common solve, so each row is a balance that nothing in the code knows.
#include "support/coupled_stage.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

// ---- C7 ----

enum { GRID = 48 };

/// Middle of a membrane on the square |x|, |z| < half under a layer of mean depth H, all in cells of unit
/// weight:  T div(grad w / sqrt(1 + |grad w|^2)) = -(top + w),  top = H - mean(w).  Gauss and Seidel.
static double sag_of_layer(double tension, double side, double depth)
{
    static double w[GRID + 1][GRID + 1];
    const double h = side / GRID;
    memset(w, 0, sizeof w);
    for (int round = 0; round < 20000; round++) {
        double mean = 0, change = 0;
        for (int i = 1; i < GRID; i++)
            for (int j = 1; j < GRID; j++) mean += w[i][j] / (GRID * GRID);
        for (int i = 1; i < GRID; i++)
            for (int j = 1; j < GRID; j++) {
                const double east = (w[i + 1][j] - w[i - 1][j]) / (2 * h),
                             north = (w[i][j + 1] - w[i][j - 1]) / (2 * h);
                const double cross =
                    (w[i + 1][j + 1] - w[i + 1][j - 1] - w[i - 1][j + 1] + w[i - 1][j - 1]) / (4 * h * h);
                const double a = 1 + north * north, b = 1 + east * east, g = 1 + east * east + north * north;
                const double load = (depth - mean + w[i][j]) / tension * g * sqrt(g);
                const double next = (a * (w[i + 1][j] + w[i - 1][j]) + b * (w[i][j + 1] + w[i][j - 1]) -
                                     2 * east * north * cross * h * h + load * h * h) /
                                    (2 * (a + b));
                change = fmax(change, fabs(next - w[i][j]));
                w[i][j] = next;
            }
        if (change < 1e-10) break;
    }
    return w[GRID / 2][GRID / 2];
}

/// Mean tension of the sheet within `reach` of its middle, N/m.
static double tension_of(mn_elastic *sheet, double reach, double thickness)
{
    mn_elastic_view view;
    double sum = 0;
    int count = 0;
    must(mn_elastic_get_view(sheet, &view));
    for (int32_t i = 0; i < view.point_count; i++)
        if (fmax(fabs(view.rest[i].x), fabs(view.rest[i].z)) <= reach)
            sum += view.stress[i] * thickness, count++;
    return sum / count;
}

static double lowest(mn_elastic *sheet)
{
    mn_elastic_view view;
    double low = 0;
    must(mn_elastic_get_view(sheet, &view));
    for (int32_t i = 0; i < view.point_count; i++) low = fmin(low, view.positions[i].y);
    return -low;
}

static void layer(int cells, double depth, double tension)
{
    const double dx = 1e-3, half = 0.5 * cells * dx, weight = 1000 * 9.81;
    mn_mpm_def def = liquid_def(dx);
    def.sigma = 0, def.viscosity = 0.5, def.gravity = mn_v3(0, -9.81, 0), def.hydrostatic = true;
    def.domain = (mn_box){{-half, -0.01, -half}, {half, 0.02, half}};
    for (int i = 0; i < 6; i++) def.wall[i] = i == 3 ? MN_MPM_OPEN : MN_MPM_SLIP;
    mn_elastic_def soft = mn_elastic_default_def();
    soft.gravity = def.gravity, soft.thickness = 1e-4, soft.density = 500, soft.bending = 0;
    soft.prestress = tension * weight * dx * dx, soft.young = 10 * soft.prestress / soft.thickness;
    shape_sheet(shape, mn_v3(0, 0, 0), (cells + 4) * dx, (cells + 4) * dx, cells + 4, cells + 4);
    uint8_t pinned[4000] = {0};
    for (int32_t i = 0; i < shape->points; i++)
        pinned[i] = fmax(fabs(shape->x[i].x), fabs(shape->x[i].z)) > half - 1e-9;
    mn_elastic *sheet = make_body(&soft, MN_ELASTIC_CLOTH, pinned);
    const mn_box box = {{-half, 0, -half}, {half, depth * dx, half}};
    mn_mpm *mpm = make_liquid(&def, box, false, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, sheet, NULL, NULL));
    double sag = 0;
    for (int frame = 0; frame < 10; frame++) {
        must(mn_mpm_advance(mpm, NULL, 0.04));
        if (frame >= 8) sag += 0.5 * lowest(sheet);
    }
    const double measured = tension_of(sheet, 0.5 * half, soft.thickness) / (weight * dx * dx);
    char text[120];
    snprintf(text, sizeof text, "layer of %g on a square membrane of %d cells, tension %.1f: sag", depth,
             cells, measured);
    validation_row("C7", text, sag / dx, sag_of_layer(measured, cells, depth), "cells", 0.03);
    mn_mpm_free(mpm);
    mn_elastic_free(sheet);
}

// ---- C8 ----

/// A drop rests on a round membrane. Its weight F and the pressure that its surface gives it lie on the foot,
/// and the surface pulls up along the contact line:
///   w0 = F/(2 pi T) (ln(a/r) + 1/2) + sigma sin(theta) r/(2 T)
static void drop_on_membrane(double sigma, double angle, double tension)
{
    const double dx = 5e-4, radius = 3e-3, rim = 12e-3, g = 9.81;
    mn_mpm_def def = liquid_def(dx);
    def.sigma = sigma, def.viscosity = 0.2, def.gravity = mn_v3(0, -g, 0), def.contact_angle = angle;
    mn_elastic_def soft = mn_elastic_default_def();
    soft.gravity = mn_v3(0, 0, 0), soft.thickness = 1e-4, soft.density = 200, soft.bending = 0;
    soft.prestress = tension, soft.young = 10 * tension / soft.thickness;
    shape_sheet(shape, mn_v3(0, 0, 0), 2 * rim, 2 * rim, 32, 32);
    uint8_t pinned[4000] = {0};
    for (int32_t i = 0; i < shape->points; i++) { // the square pulled into a disc
        mn_vec3 *x = &shape->x[i];
        const double most = fmax(fabs(x->x), fabs(x->z)), length = sqrt(x->x * x->x + x->z * x->z);
        pinned[i] = most > rim - 1e-9;
        const double pull = length > 0 ? 1 + most / rim * (most / length - 1) : 1;
        x->x *= pull, x->z *= pull;
    }
    mn_elastic *sheet = make_body(&soft, MN_ELASTIC_CLOTH, pinned);
    const mn_vec3 center = mn_v3(0, 0.95 * radius, 0), r = mn_v3(radius, radius, radius);
    mn_mpm *mpm = make_liquid(&def, (mn_box){mn_sub(center, r), mn_add(center, r)}, true, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, sheet, NULL, NULL));
    double sag = 0, foot = 0;
    mn_mpm_point *points = malloc(sizeof *points * (size_t)mn_mpm_count(mpm));
    for (int frame = 0; frame < 12; frame++) {
        must(mn_mpm_advance(mpm, NULL, 0.02));
        if (frame < 8) continue;
        mn_elastic_view view;
        must(mn_elastic_get_view(sheet, &view));
        sag -= 0.25 * view.positions[view.point_count / 2].y;
        must(mn_mpm_get_points(mpm, points));
        // the foot: what lies within two cells over the sheet, which rises from its middle by little there
        double volume = 0;
        for (int64_t i = 0; i < mn_mpm_count(mpm); i++) {
            double nearest = INFINITY, height = 0;
            for (int32_t k = 0; k < view.point_count; k++) {
                const double off = hypot(view.positions[k].x - points[i].position.x,
                                         view.positions[k].z - points[i].position.z);
                if (off < nearest) nearest = off, height = points[i].position.y - view.positions[k].y;
            }
            if (height < dx) volume += dx * dx * dx / 8;
        }
        foot += 0.25 * sqrt(volume / (pi * dx));
    }
    const double measured = tension_of(sheet, 0.4 * rim, soft.thickness);
    mn_report report = {0};
    mn_mpm_report(mpm, &report);
    const double force = report.value[MN_REPORT_mass][0] * g;
    const double exact = force / (2 * pi * measured) * (log(rim / foot) + 0.5) +
                         sigma * sin(angle * pi / 180) * foot / (2 * measured);
    char text[120];
    snprintf(text, sizeof text, "drop on a round membrane, sigma %g, %g deg, foot %.2g mm: sag", sigma, angle,
             1e3 * foot);
    validation_row("C8", text, sag, exact, "m", 0.08);
    free(points);
    mn_mpm_free(mpm);
    mn_elastic_free(sheet);
}

// ---- C15 ----

/// Time from the first touch until the drop has left a plate of this density on a spring of this stiffness,
/// N/m. The spring's force follows the plate by a fiftieth of the drop's own time.
static double contact_time(double density, double stiffness, double cells, double weber)
{
    const double radius = 1e-3, dx = radius / cells, sigma = 0.0728, side = 6e-3, high = 1e-3;
    mn_mpm_def def = liquid_def(dx);
    def.sigma = sigma, def.viscosity = 0.001, def.contact_angle = 160;
    const double speed = sqrt(weber * sigma / (def.density * radius));
    mn_elastic_def hard = mn_elastic_default_def();
    hard.gravity = mn_v3(0, 0, 0), hard.density = density, hard.young = 1e7;
    shape_box(shape, mn_v3(0, -0.5 * high, 0), mn_v3(side, high, side));
    mn_elastic *plate = make_body(&hard, MN_ELASTIC_RIGID, NULL);
    const double mass = hard.density * side * side * high, damping = 0.2 * sqrt(stiffness * mass);
    const mn_vec3 center = mn_v3(0, radius + 0.5 * dx, 0), r = mn_v3(radius, radius, radius);
    mn_mpm *mpm =
        make_liquid(&def, (mn_box){mn_sub(center, r), mn_add(center, r)}, true, mn_v3(0, -speed, 0));
    mn_vec3 force[8] = {{0, 0, 0}};
    const mn_elastic_inputs inputs = {.forces = force};
    must(mn_mpm_set_bodies(mpm, plate, &inputs, NULL));
    mn_mpm_point *points = malloc(sizeof *points * (size_t)mn_mpm_count(mpm));
    const double unit = sqrt(def.density * radius * radius * radius / sigma), step = 0.02 * unit;
    double touched = -1, left = -1;
    for (double time = step; time < 6 * unit && left < 0; time += step) {
        mn_elastic_view view;
        must(mn_mpm_advance(mpm, NULL, step));
        must(mn_elastic_get_view(plate, &view));
        double top = 0, speed_now = 0, low = INFINITY;
        for (int k = 0; k < 8; k++) top += view.positions[k].y / 8, speed_now += view.velocities[k].y / 8;
        top += 0.5 * high;
        for (int k = 0; k < 8; k++) force[k] = mn_v3(0, -(stiffness * top + damping * speed_now) / 8, 0);
        must(mn_mpm_get_points(mpm, points));
        for (int64_t i = 0; i < mn_mpm_count(mpm); i++) low = fmin(low, points[i].position.y);
        if (touched < 0 && low < top + dx) touched = time;
        if (touched >= 0 && low > top + 1.5 * dx) left = time;
    }
    free(points);
    mn_mpm_free(mpm);
    mn_elastic_free(plate);
    return left < 0 ? INFINITY : (left - touched) / unit;
}

static void bouncing(double cells)
{
    char text[120];
    const double stiff = contact_time(30000, 2000, cells, 8), soft = contact_time(300, 4, cells, 8);
    snprintf(text, sizeof text, "drop of %g cells bounces off a stiff plate, We 8: time of contact", cells);
    validation_row("C15", text, stiff, 2.6, "sqrt(rho R^3/sigma)", 0.15);
    snprintf(text, sizeof text, "drop of %g cells on a soft spring: its time over the stiff one's", cells);
    validation_short("at We 8; what is reported of soft plates is above We 40");
    validation_row_below("C15", text, soft / stiff, "", 1);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    ctx = mn_context_create(NULL);
    shape = shape_create();
    // what C7 is compared with: a taut membrane sags by 0.07367 p L^2/T
    validation_row("C7", "reference: sag of a taut membrane under a layer of 6", sag_of_layer(1e5, 16, 6),
                   0.07367 * 6 * 16 * 16 / 1e5, "cells", 0.01);
    if (validation_long() && validation_wanted("C7", "layer")) layer(16, 6, 80);
    if (validation_long() && validation_wanted("C8", "drop of 110")) drop_on_membrane(0.072, 110, 0.5);
    if (validation_long() && validation_wanted("C8", "drop of 150")) drop_on_membrane(0.072, 150, 0.5);
    if (validation_long() && validation_wanted("C15", "bouncing")) bouncing(8);
    free(shape);
    mn_context_free(ctx);
    return validation_end();
}
