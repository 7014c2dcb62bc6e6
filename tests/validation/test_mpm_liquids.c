// SPDX-License-Identifier: Apache-2.0
//
// Two liquids with a tension between them: the angles at which two drops meet (P5), and a drop of oil that
// rises through water (P6).
#include <stdlib.h>

#include "base/random.h"
#include "meniscus/meniscus.h"
#include "support/mpm_liquid.h"
#include "support/validation.h"

static const double pi = 3.14159265358979323846;

/// Two liquids with their tensions.
typedef struct pair_case {
    double sigma[2], between;
    double cells; ///< of the radius of a ball of all
} pair_case;

// Two drops, each half of a ball, with the tensions of the case: at first they meet in a plane.
static liquid make_pair(pair_case c, double R, double viscosity)
{
    static const mn_hooks hooks = {.max_workers = 1};
    liquid f = {.ctx = mn_context_create(&hooks)};
    mn_mpm_def def = mn_mpm_default_def();
    def.dx = R / c.cells, def.gravity = mn_v3(0, 0, 0), def.viscosity = viscosity;
    def.interfacial_tension = c.between;
    const double h = 0.5 * def.dx;
    const int64_t n = 2 * llround(R / h), all = n * n * n;
    mn_vec3 *x = malloc(sizeof *x * (size_t)all);
    double *sigma = malloc(sizeof *sigma * (size_t)all);
    int32_t *which = malloc(sizeof *which * (size_t)all);
    for (int64_t i = 0; i < all; i++) {
        const mn_vec3 cell = mn_v3((double)(i / n / n), (double)(i / n % n), (double)(i % n));
        const mn_vec3 jitter = mn_scale(0.5, mn_random_unit3(1, (uint64_t)i, 0));
        const mn_vec3 at =
            mn_axpy(mn_v3(-R, -R, -R), h, mn_add(cell, mn_add(jitter, mn_v3(0.25, 0.25, 0.25))));
        if (!(mn_norm(at) < R)) continue;
        which[f.count] = at.x > 0, sigma[f.count] = c.sigma[at.x > 0], x[f.count++] = at;
    }
    if (mn_mpm_create(f.ctx, &def, &f.mpm) != MN_OK) fail(&f, "create");
    const mn_mpm_source source = {.count = f.count, .position = x, .sigma = sigma, .liquid = which};
    if (mn_mpm_add(f.mpm, &source) != MN_OK) fail(&f, "add");
    free(x), free(sigma), free(which);
    f.points = malloc(sizeof *f.points * (size_t)f.count);
    return f;
}

/// A ball of which a piece of surface is part.
typedef struct ball {
    mn_vec3 centre;
    double radius;
} ball;

// The ball nearest to vertices of the surface more than `away` from the plane, on the side of `sign`, by
// least squares: |x|^2 = 2 c.x + (R^2 - |c|^2), for a centre on the axis.
static ball fit_ball(const mn_mpm_mesh *mesh, double middle, double sign, double away)
{
    double a[2][2] = {{0}}, b[2] = {0};
    for (int32_t i = 0; i < mesh->vertex_count; i++) {
        const mn_vec3 x = mesh->positions[i];
        if (!(sign * (x.x - middle) > away)) continue;
        const double row[2] = {2 * x.x, 1}, value = mn_norm2(x);
        for (int j = 0; j < 2; j++) {
            b[j] += row[j] * value;
            for (int k = 0; k < 2; k++) a[j][k] += row[j] * row[k];
        }
    }
    const double det = a[0][0] * a[1][1] - a[0][1] * a[1][0];
    const double c = (b[0] * a[1][1] - b[1] * a[0][1]) / det, rest = (a[0][0] * b[1] - a[1][0] * b[0]) / det;
    return (ball){mn_v3(c, 0, 0), sqrt(rest + c * c)};
}

// Between the outermost particles of the two.
static double middle_of(const liquid *f)
{
    double low = -INFINITY, high = INFINITY;
    for (int64_t i = 0; i < f->count; i++) {
        const double x = f->points[i].position.x;
        if (f->points[i].liquid == 0) low = fmax(low, x);
        if (f->points[i].liquid == 1) high = fmin(high, x);
    }
    return 0.5 * (low + high);
}

// Where the two surfaces against air meet they make an angle, through the air, that Neumann's triangle has:
// cos = (sigma_ab^2 - sigma_a^2 - sigma_b^2) / (2 sigma_a sigma_b).
static void neumann(const char *name, pair_case c)
{
    if (!validation_wanted("P5", name)) return;
    const double R = 1e-3, rho = 1000, mean = 0.5 * (c.sigma[0] + c.sigma[1]), away = 2.5 * R / c.cells;
    const double time = sqrt(rho * R * R * R / mean);
    liquid f = make_pair(c, R, 0.2 * sqrt(rho * mean * R));
    mn_mpm_mesh mesh;
    double angle = 0;
    enum { LOOKS = 4 };
    advance(&f, NULL, 4.5 * time);
    for (int k = 0; k < LOOKS; k++) {
        advance(&f, NULL, 0.25 * time);
        if (mn_mpm_get_surface(f.mpm, NULL, R / c.cells, &mesh) != MN_OK) fail(&f, "surface");
        const double middle = middle_of(&f);
        const ball a = fit_ball(&mesh, middle, -1, away), b = fit_ball(&mesh, middle, 1, away);
        const double d = mn_distance(a.centre, b.centre), p = a.radius, q = b.radius;
        angle += acos(fmin(fmax((d * d - p * p - q * q) / (2 * p * q), -1), 1)) * (180 / pi) / LOOKS;
    }
    const double p = c.sigma[0], q = c.sigma[1],
                 known = acos((c.between * c.between - p * p - q * q) / (2 * p * q));
    validation_row_absolute("P5", name, angle, known * (180 / pi), "deg", 5);
    let_go(&f);
}

// Longest over shortest half-axis of the second liquid, by second moments; and how high its middle is.
static double aspect(const liquid *f, double *height)
{
    mn_vec3 centre = {0, 0, 0}, values;
    mn_mat3 spread = mn_m3_diagonal(0, 0, 0), axes;
    double count = 0;
    for (int64_t i = 0; i < f->count; i++)
        if (f->points[i].liquid) centre = mn_add(centre, f->points[i].position), count++;
    centre = mn_scale(1 / count, centre);
    for (int64_t i = 0; i < f->count; i++) {
        const mn_vec3 r = mn_sub(f->points[i].position, centre);
        if (f->points[i].liquid) spread = mn_m3_add(spread, mn_outer(r, r));
    }
    mn_m3_eigen_symmetric(spread, &values, &axes);
    *height = centre.y;
    const double low = fmin(values.x, fmin(values.y, values.z)),
                 high = fmax(values.x, fmax(values.y, values.z));
    return sqrt(high / low);
}

// A drop of oil, Bo = 0.04, that begins to rise through water: a ball.
static void rising_drop(const char *name, double between, double bound)
{
    if (!validation_wanted("P6", name)) return;
    static const mn_hooks hooks = {.max_workers = 1};
    liquid f = {.ctx = mn_context_create(&hooks)};
    mn_mpm_def def = mn_mpm_default_def();
    const double R = 1.4e-3, cells = 4, dx = R / cells, h = 0.5 * dx;
    def.dx = dx, def.interfacial_tension = between, def.contact_angle = 90;
    def.domain = (mn_box){{-7 * dx, 0, -7 * dx}, {7 * dx, 20 * dx, 7 * dx}};
    for (int i = 0; i < 6; i++) def.wall[i] = i == 3 ? MN_MPM_OPEN : MN_MPM_SLIP;
    const int64_t n = 28, high = 34, all = n * n * high;
    mn_vec3 *x = malloc(sizeof *x * (size_t)all);
    double *sigma = malloc(sizeof *sigma * (size_t)all), *density = malloc(sizeof *density * (size_t)all);
    int32_t *which = malloc(sizeof *which * (size_t)all);
    for (int64_t i = 0; i < all; i++) {
        const mn_vec3 cell = mn_v3((double)(i / n / high), (double)(i / n % high), (double)(i % n));
        const mn_vec3 jitter = mn_scale(0.5, mn_random_unit3(1, (uint64_t)i, 0));
        x[i] = mn_axpy(def.domain.min, h, mn_add(cell, mn_add(jitter, mn_v3(0.25, 0.25, 0.25))));
        which[i] = mn_distance(x[i], mn_v3(0, 6 * dx, 0)) < R;
        sigma[i] = which[i] ? 0.03 : 0.072, density[i] = which[i] ? 900 : 1000;
    }
    f.count = all;
    f.points = malloc(sizeof *f.points * (size_t)f.count);
    const mn_mpm_source source = {
        .count = all, .position = x, .density = density, .sigma = sigma, .liquid = which};
    if (mn_mpm_create(f.ctx, &def, &f.mpm) != MN_OK) fail(&f, "create");
    if (mn_mpm_add(f.mpm, &source) != MN_OK) fail(&f, "add");
    free(x), free(sigma), free(density), free(which);
    double most = 1, first, height;
    advance(&f, NULL, 1e-4);
    (void)aspect(&f, &first);
    for (int k = 0; k < 12; k++) {
        advance(&f, NULL, 4e-3);
        most = fmax(most, aspect(&f, &height));
    }
    if (!(height > first)) fail(&f, "it does not rise");
    validation_row_below("P6", name, most, "", bound);
    let_go(&f);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    neumann("angle through air of liquids of 0.072 and 0.04 N/m, 0.05 N/m between, R = 4 dx",
            (pair_case){{0.072, 0.04}, 0.05, 4});
    if (validation_long()) {
        neumann("angle through air of liquids of 0.05 and 0.05 N/m, 0.06 N/m between, R = 4 dx",
                (pair_case){{0.05, 0.05}, 0.06, 4});
        neumann("angle through air of liquids of 0.05 and 0.05 N/m, 0.06 N/m between, R = 6 dx",
                (pair_case){{0.05, 0.05}, 0.06, 6});
        neumann("angle through air of liquids of 0.072 and 0.04 N/m, 0.05 N/m between, R = 6 dx",
                (pair_case){{0.072, 0.04}, 0.05, 6});
        rising_drop("oil in water, Bo 0.04, R = 4 dx, its first 48 ms: longest over shortest half-axis", 0.05,
                    1.05);
    }
    return validation_end();
}
