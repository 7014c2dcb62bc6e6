// SPDX-License-Identifier: Apache-2.0
//
// Drops on a plane, with the tetrahedral solver: contact angles (V8) and the height of puddles (V9). Half a
// ball is left to itself at Oh 0.3; the surface that it comes to rest with is fitted by a sphere. At 180
// degrees it jumps off and is a ball.
#include "meniscus/meniscus.h"
#include "support/puddle_shape.h"
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
    def.gravity = mn_v3(0, 0, 0);
    def.density = 998, def.sigma = 0.0728, def.contact_angle = angle, def.max_substeps = 1000000;
    def.viscosity = 0.3 * sqrt(def.density * def.sigma * radius);
    def.domain = (mn_box){{-1, 0, -1}, {1, 1, 1}};
    def.wall[2] = true;
    mn_tet_mesh *mesh = tet_half_ball(ctx, n, radius);
    mn_tet_liquid *liquid;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    must(ctx, mn_tet_liquid_advance(liquid, NULL, times * sqrt(def.density * pow(radius, 3) / def.sigma)));
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

// ---- V9 ----

// Mean height of the free surface within a capillary length of the axis.
static double middle_height(const mn_tet_mesh *mesh, mn_box walls, double within)
{
    double sum = 0, count = 0;
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        const mn_vec3 x = mesh->position[i];
        const double wall = fmin(fmin(x.x, x.z), walls.max.z - x.z);
        if (!mn_tet_vertex_on_boundary(mesh, i) || x.x > within || x.z > within) continue;
        if (x.y < within || wall < 0.02 * within) continue;
        sum += x.y, count++;
    }
    return sum / count;
}

// A quarter of a puddle between walls that are mirrors at 90 degrees. A straight one has the height 2 l_c
// sin(theta/2); a round one of 60 l_c^3 is 6 % higher by the curvature of its rim.
static void puddle(bool straight, double cells, double seconds)
{
    static const mn_hooks hooks = {.max_workers = 1};
    mn_context *ctx = mn_context_create(&hooks);
    mn_tet_liquid_def def = mn_tet_liquid_default_def();
    def.gravity = mn_v3(0, 0, 0);
    def.density = 998, def.sigma = 0.0728, def.gravity = mn_v3(0, -9.81, 0), def.viscosity = 0.05;
    const double capillary = sqrt(def.sigma / (def.density * 9.81));
    const double width = straight ? 1.5 : 3.7, length = straight ? 6 : 3.7, height = 1.37;
    const int32_t nx = (int32_t)(length * cells + 0.5), ny = (int32_t)(height * cells + 0.5),
                  nz = (int32_t)(width * cells + 0.5);
    mn_tet_mesh *mesh = tet_brick(ctx, nx, ny, nz);
    for (int32_t i = 0; i < mesh->vertex_slots; i++) {
        mn_vec3 p = mn_add(mesh->position[i], mn_v3(0.5, 0.5, 0.5));
        const double square = fmax(p.x, p.z), disc = hypot(p.x, p.z);
        if (!straight && disc > 0) {
            const double bend = 1 + square * (square / disc - 1);
            p.x *= bend, p.z *= bend;
        }
        mn_tet_mesh_move_vertex(mesh, i, mn_scale(capillary, mn_v3(length * p.x, height * p.y, width * p.z)));
    }
    def.domain = (mn_box){{0, 0, 0}, {1, 1, straight ? width * capillary : 1}};
    def.wall[0] = def.wall[2] = def.wall[4] = true;
    def.wall[5] = straight;
    def.size = capillary / cells;
    mn_tet_liquid *liquid;
    must(ctx, mn_tet_liquid_create(ctx, &def, mesh, &liquid));
    must(ctx, mn_tet_liquid_advance(liquid, NULL, seconds));
    const double volume = 4 * mn_tet_mesh_volume(mesh) / (capillary * capillary * capillary);
    char text[96];
    snprintf(text, sizeof text, "90 deg, %s puddle, %d tetrahedra, after %g s: height",
             straight ? "straight" : "round", mn_tet_liquid_mesh(liquid)->tet_count, seconds);
    validation_row("V9", text, middle_height(mn_tet_liquid_mesh(liquid), def.domain, capillary),
                   (straight ? sqrt(2) : puddle_of_volume(volume).height) * capillary, "m", 0.05);
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
        puddle(true, 3, 0.3);
        puddle(false, 3, 0.3);
    }
    return validation_end();
}
