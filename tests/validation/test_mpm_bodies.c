// SPDX-License-Identifier: Apache-2.0
//
// Liquid and bodies in one solve: momenta of a drop that hits what is free (C13), a sheet much lighter than
// its liquid (C14), and how deep a body floats (C16).
#include "support/coupled_stage.h"
#include "support/validation.h"

// ---- C13 ----

static void momenta(mn_mpm *mpm, mn_elastic *bodies, mn_vec3 *push, mn_vec3 *spin)
{
    mn_report a = {0}, b = {0};
    mn_mpm_report(mpm, &a);
    mn_elastic_report(bodies, &b);
    for (int k = 0; k < 3; k++) {
        (&push->x)[k] = a.value[MN_REPORT_momentum][k] + b.value[MN_REPORT_momentum][k];
        (&spin->x)[k] = a.value[MN_REPORT_angular_momentum][k] + b.value[MN_REPORT_angular_momentum][k];
    }
}

static void free_hit(mn_elastic_kind kind, double sigma, const char *name)
{
    const double radius = 4e-3, speed = 0.5;
    mn_mpm_def def = liquid_def(1e-3);
    def.sigma = sigma, def.contact_angle = 110;
    mn_elastic_def soft = mn_elastic_default_def();
    soft.gravity = def.gravity, soft.young = 1e6, soft.thickness = 2e-4;
    mn_elastic *body = make_body(&soft, kind, NULL);
    const mn_vec3 center = mn_v3(1e-3, 7e-3, 0), r = mn_v3(radius, radius, radius);
    mn_mpm *mpm =
        make_liquid(&def, (mn_box){mn_sub(center, r), mn_add(center, r)}, true, mn_v3(0, -speed, 0));
    must(mn_mpm_set_bodies(mpm, body, NULL, NULL));
    mn_vec3 push[2], spin[2];
    momenta(mpm, body, &push[0], &spin[0]);
    must(mn_mpm_advance(mpm, NULL, 0.02));
    momenta(mpm, body, &push[1], &spin[1]);
    char text[120];
    const double scale = mn_norm(push[0]);
    const char *what = sigma > 0 ? "with" : "without";
    snprintf(text, sizeof text, "drop hits a free %s, %s surface tension: linear momentum", name, what);
    validation_row_below("C13", text, mn_distance(push[0], push[1]) / scale, "of the drop's", 1e-10);
    snprintf(text, sizeof text, "drop hits a free %s, %s surface tension: angular momentum", name, what);
    validation_row_below("C13", text, mn_distance(spin[0], spin[1]) / (scale * radius), "of m v R", 1e-6);
    mn_mpm_free(mpm);
    mn_elastic_free(body);
}

// ---- C14 ----

/// A drop rests in a pinned sheet of this share of its mass: steps of one length, none taken again.
static void light_sheet(double share, int steps)
{
    const double radius = 3e-3, side = 0.012, dt = 2e-4, pi = 3.14159265358979323846;
    mn_mpm_def def = liquid_def(1e-3);
    def.gravity = mn_v3(0, -9.81, 0);
    def.max_dt = dt, def.contact_angle = 110;
    mn_elastic_def soft = mn_elastic_default_def();
    soft.gravity = def.gravity, soft.thickness = 1e-4, soft.prestress = 0.5, soft.young = 1e5;
    soft.density = share * 4 / 3.0 * pi * pow(radius, 3) * def.density / (side * side * soft.thickness);
    shape_sheet(shape, mn_v3(0, 0, 0), side, side, 8, 8);
    uint8_t pinned[400] = {0};
    for (int32_t i = 0; i < shape->points; i++)
        pinned[i] = fmax(fabs(shape->x[i].x), fabs(shape->x[i].z)) > 0.5 * side - 1e-9;
    mn_elastic *sheet = make_body(&soft, MN_ELASTIC_CLOTH, pinned);
    const mn_vec3 center = mn_v3(0, radius + 1e-3, 0), r = mn_v3(radius, radius, radius);
    mn_mpm *mpm = make_liquid(&def, (mn_box){mn_sub(center, r), mn_add(center, r)}, true, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, sheet, NULL, NULL));
    must(mn_mpm_advance(mpm, NULL, steps * dt));
    mn_report a = {0};
    mn_mpm_report(mpm, &a);
    char text[120];
    snprintf(text, sizeof text, "drop on a sheet of %g of its mass, %d steps: fastest liquid", share, steps);
    // four times sqrt(sigma/(rho R)), the speed that a drop on its way to rest has
    validation_row_below("C14", text, a.value[MN_REPORT_max_speed][0], "m/s", 0.6);
    mn_mpm_free(mpm);
    mn_elastic_free(sheet);
}

// ---- C16 ----

/// A box floats as deep as the liquid that it takes the place of weighs as much.
static void floating_box(double density)
{
    const double dx = 1e-3, half = 6e-3, deep = 8e-3, side = 6e-3;
    mn_mpm_def def = liquid_def(dx);
    def.sigma = 0, def.viscosity = 0.3, def.gravity = mn_v3(0, -9.81, 0), def.hydrostatic = true;
    def.domain = (mn_box){{-half, -deep, -half}, {half, deep, half}};
    for (int i = 0; i < 6; i++) def.wall[i] = i == 3 ? MN_MPM_OPEN : MN_MPM_SLIP;
    mn_elastic_def hard = mn_elastic_default_def();
    hard.gravity = def.gravity, hard.density = density, hard.young = 1e6;
    const double share = density / def.density, rise = share * side * side * side / (4 * half * half);
    shape_box(shape, mn_v3(0, 0.5 * side + 0.5 * dx, 0), mn_v3(side, side, side));
    mn_elastic *box = make_body(&hard, MN_ELASTIC_RIGID, NULL);
    mn_mpm *mpm = make_liquid(&def, (mn_box){{-half, -deep, -half}, {half, 0, half}}, false, mn_v3(0, 0, 0));
    must(mn_mpm_set_bodies(mpm, box, NULL, NULL));
    double mean = 0;
    for (int frame = 0; frame < 12; frame++) {
        mn_report b = {0};
        must(mn_mpm_advance(mpm, NULL, 0.05));
        mn_elastic_report(box, &b);
        if (frame >= 8) mean += 0.25 * b.value[MN_REPORT_center][1];
    }
    char text[120];
    snprintf(text, sizeof text, "box of 6 cells, density %g of the liquid's: depth in the liquid", share);
    validation_row_absolute("C16", text, (rise - (mean - 0.5 * side)) / side, share, "of its height", 0.05);
    mn_mpm_free(mpm);
    mn_elastic_free(box);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    ctx = mn_context_create(NULL);
    shape = shape_create();
    if (validation_wanted("C13", "momenta"))
        for (int k = 0; k < 2; k++) {
            shape_sheet(shape, mn_v3(0, 0, 0), 16e-3, 16e-3, 8, 8);
            free_hit(MN_ELASTIC_CLOTH, k == 0 ? 0 : 0.072, "sheet");
            shape_box(shape, mn_v3(0, 0, 0), mn_v3(6e-3, 3e-3, 8e-3));
            free_hit(MN_ELASTIC_RIGID, k == 0 ? 0 : 0.072, "box");
        }
    if (validation_wanted("C14", "light sheet")) light_sheet(0.006, validation_long() ? 1000 : 100);
    if (validation_long() && validation_wanted("C16", "floating box"))
        for (int k = 0; k < 3; k++) floating_box(k == 0 ? 300 : k == 1 ? 500 : 800);
    free(shape);
    mn_context_free(ctx);
    return validation_end();
}
