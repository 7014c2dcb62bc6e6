// SPDX-License-Identifier: Apache-2.0
//
// Drops on a plane, with the tetrahedral solver: contact angles (V8). Half a ball is left to itself at Oh
// 0.3; the surface that it comes to rest with is fitted by a sphere. At 180 degrees it jumps off and is a
// ball.
#include "meniscus/meniscus.h"
#include "support/tet_cap.h"
#include "support/validation.h"

static void must(mn_context *ctx, mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s\n", mn_context_message(ctx));
    exit(1);
}

static void contact_angle(double angle, int32_t n, double times)
{
    static const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    const double radius = 1e-3;
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.density = 998, def.sigma = 0.0728, def.contact_angle = angle, def.max_substeps = 1000000;
    def.viscosity = 0.3 * sqrt(def.density * def.sigma * radius);
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = true;
    mn_tet_mesh *mesh = tet_half_ball(ctx, n, radius);
    mn_tet_liquid *liquid;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    must(ctx, mn_tet_liquid_advance(liquid, times * sqrt(def.density * pow(radius, 3) / def.sigma)));
    const mn_tet_mesh *now = mn_tet_liquid_mesh(liquid);
    const fitted_sphere fit = fit_sphere(now, 0.05 * radius);
    char text[96];
    snprintf(text, sizeof text, "%g degrees, %d tetrahedra, after %g t_c: angle of the fitted cap", angle,
             now->tet_count, times);
    validation_row_absolute("V8", text, fit.angle, angle, "degrees", 3);
    // pi R^3/3 (2 + cos)(1 - cos)^2 is the volume of a cap.
    const double c = cos(angle / 57.29577951308232);
    snprintf(text, sizeof text, "%g degrees: its radius", angle);
    validation_row("V8", text, fit.radius / radius, cbrt(4 / ((2 + c) * (1 - c) * (1 - c))), "R0", 0.03);
    mn_tet_liquid_free(liquid);
    mn_tet_mesh_free(mesh);
    mn_context_free(ctx);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    contact_angle(90, 4, 6);
    if (validation_long()) {
        contact_angle(45, 8, 9);
        contact_angle(90, 8, 9);
        contact_angle(135, 8, 9);
        contact_angle(180, 8, 9);
    }
    return validation_end();
}
