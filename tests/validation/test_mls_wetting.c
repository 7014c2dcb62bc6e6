// SPDX-License-Identifier: Apache-2.0
//
// A small drop of the MLS solver's volumes on a plane, without gravity, until it rests: the angle at which
// the ball through its free skin meets the plane (V8), measured from what the solver shows.
#include "support/analytic_volume.h"
#include "support/liquid_region.h"
#include "support/validation.h"

#include "meniscus/meniscus.h"

#include <stdlib.h>

static const double pi = 3.14159265358979323846;
static const double R0 = 0.002, DENSITY = 1000, SIGMA = 0.07;

static mn_context *ctx;

static void must(mn_status status)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s\n", mn_status_name(status), mn_context_message(ctx));
    exit(1);
}

typedef struct cap {
    double radius, height; ///< m, of the ball, and of its centre above the plane
} cap;

static void cap_distance(void *user, int64_t count, const mn_vec3 *x, double *d)
{
    const cap *c = user;
    for (int64_t i = 0; i < count; i++)
        d[i] = fmax(mn_distance(x[i], mn_v3(0, c->height, 0)) - c->radius, -x[i].y);
}

// The cap with the volume of a ball of R0 that meets the plane at the angle.
static cap cap_of(double degrees)
{
    const double c = cos(degrees * pi / 180), r = R0 * cbrt(4 / ((1 - c) * (1 - c) * (2 + c)));
    return (cap){r, -r * c};
}

static mn_codim *open_cap(const cap *start, double cells, double angle)
{
    mn_codim_def def = mn_codim_default_def();
    def.gravity = mn_v3(0, 0, 0), def.friction = 0, def.air_drag = 0;
    const double time = sqrt(DENSITY * R0 * R0 * R0 / SIGMA);
    def.dx = R0 / cells, def.spacing = 0.5 * def.dx, def.density = DENSITY, def.sigma = SIGMA;
    def.viscosity = 0.1 * sqrt(DENSITY * SIGMA * R0), def.max_dt = 0.04 * time, def.contact_angle = angle;
    const double r = 1.1 * start->radius;
    const mn_region region = {(void *)start, cap_distance, {{-r, -def.dx, -r}, {r, start->height + r, r}}};
    mn_codim *mls;
    must(open_region(ctx, &def, &region, 4.0 / 3 * pi * R0 * R0 * R0, false, &mls));
    return mls;
}

// Least squares of |x|^2 = 2 c.x + k over the skin that is above `low`: four unknowns, two of them decoupled
// by symmetry in all but rounding, so c.x and c.z come from the mean.
static cap fit(const mn_codim_view *view, double low)
{
    mn_vec3 mean = {0};
    double n = 0, sy = 0, syy = 0, sq = 0, sqy = 0;
    for (int64_t i = 0; i < view->skin_count; i++)
        if (view->skin[i].position.y > low) mean = mn_add(mean, view->skin[i].position), n++;
    mean = mn_scale(1 / n, mean);
    for (int64_t i = 0; i < view->skin_count; i++) {
        const mn_vec3 x = mn_sub(view->skin[i].position, mn_v3(mean.x, 0, mean.z));
        if (!(x.y > low)) continue;
        const double q = mn_norm2(x);
        sy += x.y, syy += x.y * x.y, sq += q, sqy += q * x.y;
    }
    const double height = (sqy - sq * sy / n) / (2 * (syy - sy * sy / n));
    return (cap){sqrt(fmax(0, (sq - 2 * height * sy) / n + height * height)), height};
}

// Degrees, of a drop that starts as a cap of another angle.
static double resting_angle(double from, double to, double cells, double times, double *radius)
{
    const cap start = cap_of(from);
    mn_codim *mls = open_cap(&start, cells, to);
    const double time = sqrt(DENSITY * R0 * R0 * R0 / SIGMA);
    mn_geo *geo;
    mn_collider *plane;
    must(mn_geo_create(ctx, &geo));
    must(analytic_add(geo, analytic_plane(R0)));
    mn_collider_def def = mn_collider_default_def();
    def.geo = geo;
    must(mn_collider_create(ctx, &def, &plane));
    const mn_codim_inputs inputs = {.collider = plane};
    for (int i = 0; i < (int)(times / 0.2); i++) must(mn_codim_advance(mls, &inputs, 0.2 * time));
    const mn_codim_view view = mn_codim_get_view(mls);
    const cap end = fit(&view, 0.5 * R0 / cells);
    mn_codim_free(mls);
    mn_collider_free(plane);
    mn_geo_free(geo);
    *radius = end.radius / R0;
    return acos(fmax(-1, fmin(1, -end.height / end.radius))) * 180 / pi;
}

int main(int argc, char **argv)
{
    static const mn_hooks hooks = {.max_workers = 1};
    static const struct {
        double from, to, radius;
    } cases[] = {{90, 60, 1.85664}, {120, 90, 1.25992}, {90, 120, 1.05827}};
    const double cells = 4, times = 5.4;
    validation_begin(argc, argv);
    ctx = mn_context_create(&hooks);
    for (size_t i = 0; i < (validation_long() ? sizeof cases / sizeof cases[0] : 1); i++) {
        char name[96];
        double radius;
        const double angle = resting_angle(cases[i].from, cases[i].to, cells, times, &radius);
        snprintf(name, sizeof name, "mls, %g deg from a cap of %g, R0 = %g dx", cases[i].to, cases[i].from,
                 cells);
        validation_row_absolute("V8", name, angle, cases[i].to, "deg", 6);
        snprintf(name, sizeof name, "mls, %g deg: radius of the ball", cases[i].to);
        validation_row("V8", name, radius, cases[i].radius, "R0", 0.05);
    }
    mn_context_free(ctx);
    return validation_end();
}
