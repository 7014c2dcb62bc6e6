// SPDX-License-Identifier: Apache-2.0
//
// Curvature of point clouds by moving least squares: the order of the Laplacian of the position (F2) on
// surfaces and curves. Points and radius are those of the cases; nothing is set but what a user sets.
#include "codim/cloud_fit.h"
#include "support/point_clouds.h"
#include "support/validation.h"

static void must(mn_context *ctx, mn_status status, const char *what)
{
    if (status == MN_OK) return;
    fprintf(stderr, "%s: %s\n", what, mn_context_message(ctx));
    exit(1);
}

static mn_context *make_context(void)
{
    static const mn_hooks hooks = {.max_workers = 1};
    return mn_context_create(&hooks);
}

typedef enum shape { SPHERE, TORUS, SADDLE, HELIX } shape;

static point_cloud cloud_of(shape shape, int32_t level, double jitter)
{
    const int32_t n = 1 << level;
    switch (shape) {
    case SPHERE:
        return cloud_sphere(1000 * n * n, 1, jitter);
    case TORUS:
        return cloud_torus(60 * n, jitter);
    case SADDLE: {
        point_cloud cloud = cloud_square(60 * n + 1, jitter);
        for (int64_t i = 0; i < cloud.count; i++)
            cloud.x[i].z = 0.5 * (cloud.x[i].x * cloud.x[i].x - cloud.x[i].y * cloud.x[i].y);
        return cloud;
    }
    default:
        return cloud_helix(100 * n, jitter);
    }
}

// The Laplacian of the position at a point of the shape: 2 H n, or kappa n of a curve.
static mn_vec3 exact(shape shape, mn_vec3 x)
{
    if (shape == SPHERE) return mn_scale(-2, x);
    if (shape == TORUS) { // radii 1 and a: curvatures 1/a, and cos v/(1 + a cos v) around the axis
        const double a = 0.4, ring = sqrt(x.x * x.x + x.z * x.z), cos_v = (ring - 1) / a, sin_v = x.y / a;
        const mn_vec3 out = mn_v3(cos_v * x.x / ring, sin_v, cos_v * x.z / ring);
        return mn_scale(-(1 / a + cos_v / ring), out);
    }
    if (shape == SADDLE) { // z = (x^2 - y^2)/2
        const double g = 1 + x.x * x.x + x.y * x.y;
        const mn_vec3 up = mn_v3(-x.x, x.y, 1);
        return mn_scale(((1 + x.y * x.y) - (1 + x.x * x.x)) / (g * g), up);
    }
    return mn_scale(-1 / 1.09, mn_v3(x.x, x.y, 0)); // unit helix of pitch 0.3
}

// Root mean square error over the points with the fit's radius to the edge of the square on all sides, or
// over all.
static double error_of(shape shape, int32_t level, double jitter, bool edges, double *h)
{
    mn_context *ctx = make_context();
    point_cloud cloud = cloud_of(shape, level, jitter);
    mn_codim_cloud_fit_def def = mn_codim_cloud_fit_default_def();
    def.radius = *h = 4.2 * cloud.spacing;
    mn_codim_cloud_fit *fit;
    must(ctx, mn_codim_cloud_fit_create(ctx, &fit), "create");
    uint8_t *codims = malloc((size_t)cloud.count);
    memset(codims, shape == HELIX ? 2 : 1, (size_t)cloud.count);
    must(ctx,
         mn_codim_cloud_fit_build(fit, &def, &(mn_codim_cloud){cloud.count, cloud.x, cloud.toward, codims}),
         "build");
    const mn_codim_fit *found = mn_codim_cloud_fit_found(fit);
    double sum = 0;
    int64_t counted = 0;
    for (int64_t i = 0; i < cloud.count; i++) {
        const mn_vec3 x = cloud.x[i]; // the square is [0, 1]^2
        if (!edges && fmin(fmin(x.x, x.y), fmin(1 - x.x, 1 - x.y)) < *h) continue;
        sum += mn_norm2(mn_sub(found[i].curvature, exact(shape, x)));
        counted++;
    }
    free(codims);
    const double error = sqrt(sum / (double)counted);
    mn_codim_cloud_fit_free(fit);
    cloud_free(&cloud);
    mn_context_free(ctx);
    return error;
}

static void order(shape shape, double jitter, bool edges, double bound, const char *name)
{
    double h[2];
    const double coarse = error_of(shape, 2, jitter, edges, &h[0]),
                 fine = error_of(shape, 3, jitter, edges, &h[1]);
    validation_row_above("F2", name, log(coarse / fine) / log(h[0] / h[1]), "order", bound);
}

int main(int argc, char **argv)
{
    validation_begin(argc, argv);
    // Bounds on even points stand 1 % under the order asked for: the slope between two finite spacings.
    order(SPHERE, 0, true, 1.98, "curvature of the sphere, even points");
    order(TORUS, 0, true, 1.98, "of the torus, even rows");
    order(SADDLE, 0, false, 1.98, "of a saddle, inner points, even rows");
    order(HELIX, 0, true, 1.98, "of the helix, ends counted, even points");
    order(SPHERE, 0.25, true, 1, "of the sphere, jittered by a quarter spacing");
    order(TORUS, 0.25, true, 1, "of the torus, jittered");
    validation_short("at the edge of a sheet the fit is one-sided, and curvature there is of first order");
    order(SADDLE, 0, true, 1.98, "of a saddle, edges counted, even rows");
    order(SADDLE, 0.25, true, 1, "of a saddle, edges counted, jittered");
    order(HELIX, 0.25, true, 1, "of the helix, ends counted, jittered");
    return validation_end();
}
